/* Starting and stopping the front, and watching over its connections. */
#include "http/http_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_DEFAULT = 4096, IDLE_SECONDS_DEFAULT = 60, SWEEP_US = 1000000, STOP_STEP_US = 1000, STOP_CONNECTIONS_US = 2000000 };

/* --- connections --- */

static void peer_opens(struct http *http, struct MHD_Connection *connection, void **context)
{
    struct http_peer *peer = calloc(1, sizeof *peer);
    assert(peer);
    peer->socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    atomic_init(&peer->waiting_since_us, world_mono_us(http->options.world));
    world_lock(http->options.world, &http->mutex);
    peer->next = http->peers;
    peer->before = &http->peers;
    if (peer->next)
        peer->next->before = &peer->next;
    http->peers = peer;
    world_unlock(http->options.world, &http->mutex);
    if (http->options.memory)
        memory_budget_add(http->options.memory, HTTP_CONNECTION_MEMORY_BYTES);
    metric_add(&http->connections, 1);
    if (http->certificate)
        http_tls_watch(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session, peer);
    *context = peer;
}

static void peer_closes(struct http *http, void **context)
{
    struct http_peer *peer = *context;
    *context = NULL;
    if (!peer)
        return;
    world_lock(http->options.world, &http->mutex);
    *peer->before = peer->next;
    if (peer->next)
        peer->next->before = peer->before;
    world_unlock(http->options.world, &http->mutex);
    if (http->options.memory)
        memory_budget_remove(http->options.memory, HTTP_CONNECTION_MEMORY_BYTES);
    metric_add(&http->connections, -1);
    free(peer);
}

static void peer_changes(void *cls, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        peer_opens(cls, connection, context);
    else
        peer_closes(cls, context);
}

/* The library's own time-out starts anew with every byte; so who sends headers byte by byte would keep a connection for ever. */
static void sweep(struct http *http)
{
    int64_t oldest = world_mono_us(http->options.world) - (int64_t)http->options.idle_seconds * 2 * 1000000;
    for (struct http_peer *peer = http->peers; peer; peer = peer->next) {
        int64_t since = atomic_load_explicit(&peer->waiting_since_us, memory_order_relaxed);
        if (since == 0 || since > oldest)
            continue;
        shutdown(peer->socket, SHUT_RDWR);
        atomic_store_explicit(&peer->waiting_since_us, 0, memory_order_relaxed);
        metric_add(&http->closed_slow, 1);
    }
}

static void sweeper_run(void *cls)
{
    struct http *http = cls;
    struct world *world = http->options.world;
    world_lock(world, &http->mutex);
    while (!atomic_load_explicit(&http->is_stopping, memory_order_relaxed)) {
        world_wait(world, &http->sweeper_wake, &http->mutex, SWEEP_US);
        sweep(http);
    }
    world_unlock(world, &http->mutex);
}

/* --- start --- */

static void register_metrics(struct http *http)
{
    struct metrics *metrics = http->options.metrics;
    if (!metrics)
        return;
    metrics_register(metrics, &http->connections, METRIC_GAUGE, "stator_connections", "Open connections.", "");
    metrics_register(metrics, &http->waiting_for_worker, METRIC_GAUGE, "stator_long_requests_waiting", "Long requests that no worker has begun.", "");
    metrics_register(metrics, &http->refused_framing, METRIC_COUNTER, "stator_refused_framing_total", "Requests refused because they could be read in two ways.",
                     "");
    metrics_register(metrics, &http->refused_memory, METRIC_COUNTER, "stator_refused_memory_total", "Requests refused because the memory total was used up.", "");
    metrics_register(metrics, &http->closed_slow, METRIC_COUNTER, "stator_closed_slow_total", "Connections closed because a request took too long to arrive.", "");
}

/* The library can be told to accept no more (MHD_quiesce_daemon), but that races with its own threads and may end the program. */
static enum MHD_Result may_connect(void *cls, const struct sockaddr *address, socklen_t address_bytes)
{
    (void)address;
    (void)address_bytes;
    struct http *http = cls;
    return atomic_load_explicit(&http->is_stopping, memory_order_relaxed) ? MHD_NO : MHD_YES;
}

static struct MHD_Daemon *start_daemon(struct http *http, unsigned threads)
{
    const struct http_options *options = &http->options;
    struct MHD_OptionItem items[16];
    size_t count = 0;
    items[count++] = (struct MHD_OptionItem){MHD_OPTION_LISTEN_SOCKET, http->listen_socket, NULL};
    items[count++] = (struct MHD_OptionItem){MHD_OPTION_CONNECTION_MEMORY_LIMIT, HTTP_CONNECTION_MEMORY_BYTES, NULL};
    items[count++] = (struct MHD_OptionItem){MHD_OPTION_CONNECTION_LIMIT, (intptr_t)options->connections_max, NULL};
    items[count++] = (struct MHD_OptionItem){MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)options->idle_seconds, NULL};
    items[count++] = (struct MHD_OptionItem){MHD_OPTION_STRICT_FOR_CLIENT, 0, NULL};
    if (threads > 1)
        items[count++] = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)threads, NULL};
    if (http->certificate) {
        items[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, http->certificate};
        items[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, http->key};
        static char priorities[] = "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1";
        items[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, priorities};
    }
    items[count++] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | (http->certificate ? MHD_USE_TLS : 0U);
    return MHD_start_daemon(flags, 0, may_connect, http, http_request_moves, http, MHD_OPTION_URI_LOG_CALLBACK, http_request_begins, http,
                            MHD_OPTION_NOTIFY_COMPLETED, http_request_ends, http, MHD_OPTION_NOTIFY_CONNECTION, peer_changes, http, MHD_OPTION_ARRAY, items,
                            MHD_OPTION_END);
}

void http_release(struct http *http)
{
    if (atomic_fetch_sub_explicit(&http->users, 1, memory_order_acq_rel) > 1)
        return;
    if (http->listen_socket >= 0)
        close(http->listen_socket);
    http_requests_free_spare(http);
    world_cond_close(http->options.world, &http->sweeper_wake);
    world_cond_close(http->options.world, &http->work_wake);
    world_mutex_close(http->options.world, &http->mutex);
    free(http->certificate);
    free(http->key);
    free(http);
}

static bool open_parts(struct http *http, char *problem, size_t problem_bytes)
{
    const struct http_options *options = &http->options;
    if (options->tls_certificate_path &&
        !http_tls_read(options->tls_certificate_path, options->tls_key_path, &http->certificate, &http->key, problem, problem_bytes))
        return false;
    http->listen_socket = http_listen(options->listen, options->port, &http->port, problem, problem_bytes);
    if (http->listen_socket < 0)
        return false;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = options->threads ? options->threads : (unsigned)(processors > 0 ? processors : 1);
    if (threads > options->connections_max)
        threads = options->connections_max;
    http_workers_start(http, threads);
    http->daemon = start_daemon(http, threads);
    if (http->daemon)
        http->listen_socket = -1; /* the library closes it */
    else
        snprintf(problem, problem_bytes, "cannot start %u threads to serve %u connections: %s", threads, options->connections_max, strerror(errno));
    return http->daemon != NULL;
}

struct http *http_start(const struct http_options *options, char *problem, size_t problem_bytes)
{
    struct http *http = calloc(1, sizeof *http);
    assert(http);
    http->options = *options;
    http->listen_socket = -1;
    if (http->options.connections_max == 0)
        http->options.connections_max = CONNECTIONS_DEFAULT;
    if (http->options.idle_seconds == 0)
        http->options.idle_seconds = IDLE_SECONDS_DEFAULT;
    atomic_init(&http->is_stopping, false);
    atomic_init(&http->requests_active, 0);
    atomic_init(&http->users, 1);
    atomic_init(&http->resuming, 0);
    world_mutex_open(options->world, &http->mutex);
    world_cond_open(options->world, &http->sweeper_wake);
    world_cond_open(options->world, &http->work_wake);
    http->work_last = &http->work;
    register_metrics(http);
    if (!open_parts(http, problem, problem_bytes)) {
        http_workers_stop(http);
        http_release(http);
        return NULL;
    }
    http->sweeper = world_thread_start(options->world, "http-sweeper", sweeper_run, http);
    return http;
}

uint16_t http_port(const struct http *http)
{
    return http->port;
}

/* --- stop --- */

/* Ends all connections while the library still runs: asked to stop over a request that it is just refusing, it would follow a null pointer. */
static void end_connections(struct http *http)
{
    struct world *world = http->options.world;
    int64_t deadline_us = world_mono_us(world) + STOP_CONNECTIONS_US;
    for (bool some = true; some && world_mono_us(world) < deadline_us;) {
        world_lock(world, &http->mutex);
        for (struct http_peer *peer = http->peers; peer; peer = peer->next)
            shutdown(peer->socket, SHUT_RDWR);
        some = http->peers != NULL;
        world_unlock(world, &http->mutex);
        if (some)
            world_sleep_us(world, STOP_STEP_US);
    }
}

void http_stop(struct http *http, int grace_ms)
{
    struct world *world = http->options.world;
    world_lock(world, &http->mutex);
    atomic_store(&http->is_stopping, true);
    world_wake_all(world, &http->sweeper_wake);
    world_unlock(world, &http->mutex);
    world_thread_join(world, http->sweeper);
    int64_t deadline_us = world_mono_us(world) + (int64_t)grace_ms * 1000;
    while (atomic_load_explicit(&http->requests_active, memory_order_acquire) > 0 && world_mono_us(world) < deadline_us)
        world_sleep_us(world, STOP_STEP_US);
    /* What a worker has begun reads the request's headers, which end with the connection. */
    http_workers_stop(http);
    /* The library may not be stopped while a connection is suspended. */
    http_requests_abandon(http);
    http_work_drop(http);
    end_connections(http);
    MHD_stop_daemon(http->daemon);
    if (http->abandoned_count > 0)
        log_event(http->options.log, LOG_WARN, "requests abandoned", "%u requests were still without an answer when the server stopped",
                  http->abandoned_count);
    http_release(http);
}
