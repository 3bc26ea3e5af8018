/* Floors: servers that send a GetItem's answer without doing its work. What a real server costs above them is its own. */
#include "bench/bench_internal.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { THREADS_MAX = 64, EVENTS = 64, REQUEST_BYTES_MAX = 8192, BACKLOG = 1024 };

#define REQUEST_ID "0123456789ABCDEFGHIJKLMNOPVV4KQNSO5AEMVJF66Q9ASUAAJG"

static unsigned thread_count(const struct bench_options *options)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = options->threads ? options->threads : (unsigned)(processors > 0 ? processors : 1);
    return threads < THREADS_MAX ? threads : THREADS_MAX;
}

/* Several may listen on one port: each thread of the bare loop has a socket of its own. */
static int listen_on(uint16_t *port)
{
    int on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, bytes) != 0 || listen(listener, BACKLOG) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &bytes) != 0)
        return -1;
    *port = ntohs(address.sin_port);
    return listener;
}

static void announce(const struct bench_options *options, uint16_t port)
{
    printf("floor (%s) at http://127.0.0.1:%u\n", options->raw ? "raw" : "mhd", port);
    fflush(stdout);
    FILE *file = options->port_file ? fopen(options->port_file, "w") : NULL;
    if (file) {
        fprintf(file, "%u\n", port);
        fclose(file);
    }
}

static void wait_for_signal(void)
{
    sigset_t signals;
    int number;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigwait(&signals, &number);
}

/* --- by the library --- */

static enum MHD_Result answer(void *response, struct MHD_Connection *connection, const char *url, const char *method, const char *version, const char *data,
    size_t *data_bytes, void **context)
{
    (void)url;
    (void)method;
    (void)version;
    (void)data;
    static int seen;
    if (!*context) {
        *context = &seen;
        return MHD_YES;
    }
    if (*data_bytes > 0) {
        *data_bytes = 0;
        return MHD_YES;
    }
    return MHD_queue_response(connection, MHD_HTTP_OK, response);
}

static int floor_by_library(const struct bench_options *options, str body)
{
    uint16_t port = options->port;
    int listener = listen_on(&port);
    if (listener < 0)
        return bench_complain(BENCH_FAILED, "cannot listen on port %u: %s", port, strerror(errno));
    struct MHD_Response *response = MHD_create_response_from_buffer(body.len, (void *)(uintptr_t)body.data, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(response, "Server", "Server");
    MHD_add_response_header(response, "x-amzn-RequestId", REQUEST_ID);
    MHD_add_response_header(response, "x-amz-crc32", "1234567890");
    MHD_add_response_header(response, "Content-Type", "application/x-amz-json-1.0");
    unsigned threads = thread_count(options);
    struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, answer, response, MHD_OPTION_LISTEN_SOCKET, listener,
                                                 threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, threads, MHD_OPTION_END);
    if (!daemon)
        return bench_complain(BENCH_FAILED, "cannot start the HTTP library");
    announce(options, port);
    wait_for_signal();
    MHD_stop_daemon(daemon);
    MHD_destroy_response(response);
    return BENCH_DONE;
}

/* --- by a bare loop --- */

struct bare_loop {
    pthread_t thread;
    int listener;
    str answer; /* head and body */
};

struct bare_link {
    int socket;
    size_t bytes;
    char request[REQUEST_BYTES_MAX];
};

/* The bytes of the first whole request, or 0. */
static size_t request_complete(const struct bare_link *link)
{
    const char *end = memmem(link->request, link->bytes, "\r\n\r\n", 4);
    if (!end)
        return 0;
    const char *length = memmem(link->request, (size_t)(end - link->request), "Content-Length: ", 16);
    size_t bytes = (size_t)(end - link->request) + 4 + (length ? strtoul(length + 16, NULL, 10) : 0);
    return link->bytes >= bytes ? bytes : 0;
}

static bool serve_link(const struct bare_loop *loop, struct bare_link *link)
{
    ssize_t got = recv(link->socket, link->request + link->bytes, sizeof link->request - link->bytes, 0);
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    link->bytes += (size_t)got;
    for (size_t bytes; (bytes = request_complete(link)) > 0;) {
        memmove(link->request, link->request + bytes, link->bytes - bytes);
        link->bytes -= bytes;
        if (send(link->socket, loop->answer.data, loop->answer.len, MSG_NOSIGNAL) != (ssize_t)loop->answer.len)
            return false;
    }
    return link->bytes < sizeof link->request;
}

static void accept_link(int poll, int listener)
{
    int accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted < 0)
        return;
    struct bare_link *link = malloc(sizeof *link);
    assert(link);
    link->socket = accepted;
    link->bytes = 0;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = link};
    epoll_ctl(poll, EPOLL_CTL_ADD, accepted, &event);
}

static void *bare_loop_run(void *argument)
{
    struct bare_loop *loop = argument;
    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(poll, EPOLL_CTL_ADD, loop->listener, &event);
    for (;;) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(poll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            struct bare_link *link = events[i].data.ptr;
            if (!link) {
                accept_link(poll, loop->listener);
            } else if (!serve_link(loop, link)) {
                close(link->socket);
                free(link);
            }
        }
    }
    return NULL;
}

static int floor_by_bare_loop(const struct bench_options *options, str body, struct arena *arena)
{
    static struct bare_loop loops[THREADS_MAX];
    uint16_t port = options->port;
    unsigned threads = thread_count(options);
    str whole = arena_printf(arena,
                             "HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 20:00:00 GMT\r\nServer: Server\r\nx-amzn-RequestId: " REQUEST_ID "\r\nx-amz-crc32: 1234567890\r\n"
                             "Content-Type: application/x-amz-json-1.0\r\nContent-Length: %zu\r\n\r\n%.*s", body.len, STR_ARG(body));
    for (unsigned i = 0; i < threads; i++) {
        loops[i] = (struct bare_loop){.listener = listen_on(&port), .answer = whole};
        if (loops[i].listener < 0 || pthread_create(&loops[i].thread, NULL, bare_loop_run, &loops[i]) != 0)
            return bench_complain(BENCH_FAILED, "cannot listen on port %u: %s", port, strerror(errno));
    }
    announce(options, port);
    wait_for_signal();
    return BENCH_DONE;
}

int bench_floor(const struct bench_options *options)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    struct arena arena;
    arena_open(&arena, NULL);
    str body = bench_answer_body(&arena, options->item_bytes);
    /* The bare loop's threads never end: they go with the process, and so does what they use. */
    if (options->raw)
        return floor_by_bare_loop(options, body, &arena);
    int status = floor_by_library(options, body);
    arena_close(&arena);
    return status;
}
