/* The load client: one thread, many keep-alive connections, one request outstanding on each. */
#include "bench/bench_internal.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_BYTES_MAX = 4 << 20, EVENTS = 64 };

struct link {
    int socket;
    char *answer;         /* of the outstanding request, as far as it has come */
    size_t answer_bytes;
    int64_t sent_us;
};

struct load {
    const struct bench_options *options;
    struct world *world;
    struct bench_writer writer;
    struct sockaddr_in address;
    char host[64];
    struct link *links;
    int poll;
    struct bench_result result;
    uint64_t next_key;    /* while filling: in order */
    uint64_t chance;      /* else: drawn */
    uint64_t started, wanted;
    int64_t until_us;
    bool filling;
};

static bool read_url(struct load *load)
{
    char address[48];
    unsigned port;
    int end = 0;
    if (sscanf(load->options->url, "http://%47[0-9.]:%u%n", address, &port, &end) != 2 || (load->options->url[end] && strcmp(load->options->url + end, "/") != 0) ||
        port > 65535)
        return false;
    load->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    snprintf(load->host, sizeof load->host, "%s:%u", address, port);
    return inet_pton(AF_INET, address, &load->address.sin_addr) == 1;
}

static bool connect_link(struct load *load, struct link *link)
{
    int on = 1;
    link->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (link->socket < 0 || connect(link->socket, (struct sockaddr *)&load->address, sizeof load->address) != 0)
        return false;
    setsockopt(link->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    link->answer = malloc(ANSWER_BYTES_MAX + 1);
    assert(link->answer);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = link};
    return epoll_ctl(load->poll, EPOLL_CTL_ADD, link->socket, &event) == 0;
}

static bool send_all(struct link *link, str message)
{
    while (message.len > 0) {
        ssize_t sent = send(link->socket, message.data, message.len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        message = str_from(message, (size_t)sent);
    }
    return true;
}

/* The bytes of the whole answer, 0 while it is not all there. */
static size_t answer_complete(const struct link *link)
{
    const char *end = memmem(link->answer, link->answer_bytes, "\r\n\r\n", 4);
    if (!end)
        return 0;
    const char *length = memmem(link->answer, (size_t)(end - link->answer), "Content-Length: ", 16);
    size_t bytes = (size_t)(end - link->answer) + 4 + (length ? strtoul(length + 16, NULL, 10) : 0);
    return link->answer_bytes >= bytes ? bytes : 0;
}

static uint64_t draw(struct load *load)
{
    load->chance ^= load->chance << 13;
    load->chance ^= load->chance >> 7;
    load->chance ^= load->chance << 17;
    return load->chance;
}

static bool send_next(struct load *load, struct link *link, int64_t now_us)
{
    bool done = load->wanted ? load->started >= load->wanted : now_us >= load->until_us;
    if (done)
        return true;
    uint64_t key = load->filling ? load->next_key++ : draw(load) % load->options->keys;
    load->started++;
    link->sent_us = now_us;
    link->answer_bytes = 0;
    return send_all(link, bench_operation(&load->writer, load->filling ? BENCH_PUT : load->options->op, key));
}

static void count_answer(struct load *load, struct link *link, int64_t now_us)
{
    struct bench_result *result = &load->result;
    int64_t us = now_us - link->sent_us;
    result->requests++;
    result->latencies[us < BENCH_LATENCY_US_MAX ? us : BENCH_LATENCY_US_MAX - 1]++;
    if (memcmp(link->answer, "HTTP/1.1 200", 12) == 0)
        return;
    if (result->errors++ == 0)
        snprintf(result->first_error, sizeof result->first_error, "%.*s", (int)(link->answer_bytes < 500 ? link->answer_bytes : 500), link->answer);
}

/* Takes what has come on a connection; false when it broke. */
static bool receive(struct load *load, struct link *link)
{
    ssize_t got = recv(link->socket, link->answer + link->answer_bytes, ANSWER_BYTES_MAX - link->answer_bytes, 0);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    link->answer_bytes += (size_t)got;
    if (!answer_complete(link))
        return link->answer_bytes < ANSWER_BYTES_MAX;
    int64_t now_us = world_mono_us(load->world);
    count_answer(load, link, now_us);
    return send_next(load, link, now_us);
}

/* Sends until `wanted` requests (0: until the time is over), and waits for their answers. */
static bool run(struct load *load, uint64_t wanted, double seconds, bool filling)
{
    int64_t start_us = world_mono_us(load->world);
    memset(load->result.latencies, 0, sizeof *load->result.latencies * BENCH_LATENCY_US_MAX);
    load->result.requests = load->result.errors = 0;
    load->started = load->next_key = 0;
    load->wanted = wanted;
    load->until_us = start_us + (int64_t)(seconds * 1e6);
    load->filling = filling;
    for (unsigned i = 0; i < load->options->connections; i++)
        if (!send_next(load, &load->links[i], world_mono_us(load->world)))
            return false;
    while (load->result.requests < load->started) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(load->poll, events, EVENTS, 30000);
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        for (int i = 0; i < count; i++)
            if (!receive(load, events[i].data.ptr))
                return false;
    }
    load->result.seconds = (double)(world_mono_us(load->world) - start_us) / 1e6;
    return true;
}

static bool make_table(struct load *load)
{
    struct link *link = &load->links[0];
    link->answer_bytes = 0;
    if (!send_all(link, bench_create_table(&load->writer)))
        return false;
    while (!answer_complete(link)) {
        ssize_t got = recv(link->socket, link->answer + link->answer_bytes, ANSWER_BYTES_MAX - link->answer_bytes, 0);
        if (got <= 0)
            return false;
        link->answer_bytes += (size_t)got;
        link->answer[link->answer_bytes] = 0;
    }
    return memcmp(link->answer, "HTTP/1.1 200", 12) == 0 || memmem(link->answer, link->answer_bytes, "ResourceInUseException", 22);
}

static void print_result(const struct load *load)
{
    const struct bench_result *result = &load->result;
    double rate = (double)result->requests / result->seconds;
    if (load->options->json) {
        printf("{\"requests\":%llu,\"errors\":%llu,\"seconds\":%.6f,\"per_second\":%.1f,\"p50_us\":%llu,\"p99_us\":%llu}\n", (unsigned long long)result->requests,
               (unsigned long long)result->errors, result->seconds, rate, (unsigned long long)bench_percentile(result, 0.5),
               (unsigned long long)bench_percentile(result, 0.99));
        return;
    }
    printf("%llu requests in %.2f s: %.0f a second; p50 %llu us, p99 %llu us; %llu errors\n", (unsigned long long)result->requests, result->seconds, rate,
           (unsigned long long)bench_percentile(result, 0.5), (unsigned long long)bench_percentile(result, 0.99), (unsigned long long)result->errors);
}

static int measure(struct load *load)
{
    if (load->options->fill && !make_table(load))
        return bench_complain(BENCH_FAILED, "cannot make the table: %.1000s", load->links[0].answer);
    if (load->options->fill && load->options->op != BENCH_PUT && (!run(load, load->options->keys, 0, true) || load->result.errors > 0))
        return bench_complain(BENCH_FAILED, "cannot fill the table: %s", load->result.first_error);
    if (!run(load, load->options->requests, load->options->seconds, false))
        return bench_complain(BENCH_FAILED, "a connection broke after %llu requests", (unsigned long long)load->result.requests);
    print_result(load);
    if (load->result.errors > 0)
        return bench_complain(BENCH_FAILED, "the first error: %s", load->result.first_error);
    return BENCH_DONE;
}

int bench_load(const struct bench_options *options)
{
    struct load load = {.options = options, .world = world_real_new(), .chance = 0x9e3779b97f4a7c15U};
    if (!read_url(&load)) {
        world_free(load.world);
        return bench_complain(BENCH_MISUSED, "--url looks like http://127.0.0.1:8000");
    }
    bench_writer_open(&load.writer, load.world, options, load.host);
    load.poll = epoll_create1(EPOLL_CLOEXEC);
    load.links = calloc(options->connections, sizeof *load.links);
    load.result.latencies = calloc(BENCH_LATENCY_US_MAX, sizeof *load.result.latencies);
    assert(load.poll >= 0 && load.links && load.result.latencies);
    bool connected = true;
    for (unsigned i = 0; i < options->connections; i++)
        connected = connected && connect_link(&load, &load.links[i]);
    int status = connected ? measure(&load) : bench_complain(BENCH_FAILED, "cannot connect to %s: %s", load.host, strerror(errno));
    for (unsigned i = 0; i < options->connections; i++) {
        if (load.links[i].socket > 0)
            close(load.links[i].socket);
        free(load.links[i].answer);
    }
    close(load.poll);
    free(load.links);
    free(load.result.latencies);
    bench_writer_close(&load.writer);
    world_free(load.world);
    return status;
}
