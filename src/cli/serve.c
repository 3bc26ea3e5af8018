/* `stator serve`: opens the layers from below, serves until a signal, closes them from above. */
#include "cli/cli_internal.h"

#include "base/metrics.h"
#include "chore/chore.h"
#include "directory/directory.h"
#include "http/http.h"
#include "part/part.h"
#include "store/store.h"
#include "table/table.h"
#include "world/world.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* One running service. What is NULL is not open. */
struct service {
    struct cli_serve_options options;
    struct world *world;
    struct log log;
    struct metrics metrics;
    struct memory_budget memory;
    struct store *store;
    struct table_catalog *catalog;
    struct part *part;
    struct chore *chore;
    struct directory *directory;
    struct api *api;
    struct http *http;
};

static int64_t wall_us(void *world)
{
    return world_wall_us(world);
}

static struct store *open_store(struct service *service, char *problem)
{
    const struct cli_serve_options *options = &service->options;
    if (options->memory)
        return store_mem_new(service->world, &(struct store_mem_options){.manners = STORE_MANNERS_PLAIN});
    struct store_rocks_options rocks = {
        .path = options->data, .cache_bytes = options->cache_bytes - options->item_cache_bytes, .log = &service->log, .metrics = &service->metrics};
    return store_rocks_open(service->world, &rocks, problem, CLI_PROBLEM_BYTES);
}

static bool open_engine(struct service *service, char *problem)
{
    const struct cli_serve_options *options = &service->options;
    service->store = open_store(service, problem);
    if (!service->store)
        return false;
    struct table_catalog_options catalog = {
        .store = service->store, .world = service->world, .log = &service->log, .status_us = (int64_t)options->status_ms * 1000};
    service->catalog = table_catalog_open(&catalog, problem, CLI_PROBLEM_BYTES);
    if (!service->catalog)
        return false;
    struct part_options part = {.store = service->store,
                                .world = service->world,
                                .log = &service->log,
                                .metrics = &service->metrics,
                                .cache_bytes = options->memory ? 0 : options->item_cache_bytes,
                                .memory = &service->memory};
    service->part = part_open(&part);
    service->chore = chore_start(service->world, service->catalog, service->part, &service->log);
    chore_register_metrics(service->chore, &service->metrics);
    return true;
}

static bool open_front(struct service *service, char *problem)
{
    const struct cli_serve_options *options = &service->options;
    service->memory.limit_bytes = options->memory_limit_bytes - options->cache_bytes;
    struct api_options api = {.service = {.world = service->world,
                                          .catalog = service->catalog,
                                          .part = service->part,
                                          .chore = service->chore,
                                          .log = &service->log,
                                          .metrics = &service->metrics},
                              .auth = options->auth,
                              .directory = service->directory,
                              .wording = options->wording,
                              .memory = &service->memory};
    service->api = api_new(&api);
    struct http_options http = {.api = service->api,
                                .world = service->world,
                                .log = &service->log,
                                .metrics = &service->metrics,
                                .memory = &service->memory,
                                .listen = options->listen,
                                .port = options->port,
                                .threads = options->threads,
                                .connections_max = options->connections,
                                .idle_seconds = options->idle_seconds,
                                .tls_certificate_path = options->tls_certificate,
                                .tls_key_path = options->tls_key};
    service->http = http_start(&http, problem, CLI_PROBLEM_BYTES);
    return service->http != NULL;
}

static void close_all(struct service *service)
{
    if (service->http)
        http_stop(service->http, (int)service->options.stop_seconds * 1000);
    if (service->chore)
        chore_stop(service->chore);
    api_free(service->api);
    if (service->part)
        part_close(service->part);
    if (service->catalog)
        table_catalog_close(service->catalog);
    if (service->store)
        store_close(service->store);
    if (service->directory)
        directory_close(service->directory);
    world_free(service->world);
}

/* As many descriptors as connections may want, and the engine's files: as far as the system lets us. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Large blocks go back to the system when they are freed; left alone, the allocator learns to keep them, and --memory-limit would not say how
   much memory is held. */
static void tame_allocator(void)
{
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

static bool write_port_file(const char *path, uint16_t port, char *problem)
{
    char beside[4096];
    snprintf(beside, sizeof beside, "%s.new", path);
    FILE *file = fopen(beside, "w");
    bool written = file && fprintf(file, "%u\n", port) > 0;
    written = file && fclose(file) == 0 && written;
    /* Renamed, so that who waits for the file never reads half of it. */
    if (written && rename(beside, path) == 0)
        return true;
    snprintf(problem, CLI_PROBLEM_BYTES, "cannot write --port-file %s: %s", path, strerror(errno));
    return false;
}

static void greet(const struct service *service)
{
    const struct cli_serve_options *options = &service->options;
    char url[128];
    bool any = strcmp(options->listen, "0.0.0.0") == 0 || strcmp(options->listen, "::") == 0;
    bool is_six = strchr(options->listen, ':') && !any;
    snprintf(url, sizeof url, "%s://%s%s%s:%u", options->tls_key ? "https" : "http", is_six ? "[" : "", any ? "127.0.0.1" : options->listen, is_six ? "]" : "",
             http_port(service->http));
    if (options->log == LOG_JSON) {
        log_event((struct log *)&service->log, LOG_INFO, "server started", "%s", url);
        return;
    }
    printf("Stator %s serves DynamoDB's API at %s, tables %s%s\n", STATOR_VERSION, url, options->memory ? "in memory" : "in ", options->memory ? "" : options->data);
    printf("Try: AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=%s aws dynamodb list-tables --region us-east-1 --endpoint-url %s\n",
           options->auth == API_AUTH_ANY ? "any" : "...", options->auth == API_AUTH_ANY ? "any" : "...", url);
    fflush(stdout);
}

static void warn_when_open(struct service *service)
{
    const char *listen = service->options.listen;
    bool is_local = strncmp(listen, "127.", 4) == 0 || strcmp(listen, "::1") == 0;
    if (!is_local && service->options.auth == API_AUTH_ANY)
        log_event(&service->log, LOG_WARN, "open to the network", "whoever reaches %s may read and write every table; --auth required asks for signatures", listen);
}

static int serve(struct service *service, const sigset_t *signals, char *problem)
{
    const struct cli_serve_options *options = &service->options;
    if (options->keys && !(service->directory = directory_open_file(options->keys, problem, CLI_PROBLEM_BYTES)))
        return CLI_FAILED;
    if (!open_engine(service, problem) || !open_front(service, problem))
        return CLI_FAILED;
    greet(service);
    warn_when_open(service);
    /* Last, because who waits for the file takes it for the word that all is ready. */
    if (options->port_file && !write_port_file(options->port_file, http_port(service->http), problem))
        return CLI_FAILED;
    int signal_number = 0;
    sigwait(signals, &signal_number);
    log_event(&service->log, LOG_INFO, "server stops", "on %s; again to stop at once", signal_number == SIGINT ? "SIGINT" : "SIGTERM");
    /* From now on a signal ends the program without ceremony. */
    pthread_sigmask(SIG_UNBLOCK, signals, NULL);
    return CLI_DONE;
}

int cli_serve(int argc, char **argv)
{
    struct service service = {0};
    char problem[CLI_PROBLEM_BYTES] = "";
    int status = cli_serve_options_read(argc, argv, &service.options, problem, sizeof problem);
    if (status != CLI_DONE) {
        cli_serve_options_close(&service.options);
        return cli_complain(status, "serve", "%s", problem);
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    /* Before any thread starts, so that all inherit it and only sigwait sees them. */
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();
    tame_allocator();
    service.world = world_real_new();
    log_open_descriptor(&service.log, STDERR_FILENO, service.options.log_level, service.options.log);
    service.log.now_us = wall_us;
    service.log.clock = service.world;
    metrics_open(&service.metrics);
    status = serve(&service, &signals, problem);
    close_all(&service);
    cli_serve_options_close(&service.options);
    return status == CLI_DONE ? CLI_DONE : cli_complain(status, "serve", "%s", problem);
}
