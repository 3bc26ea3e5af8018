/* For this folder's tests: a server in the test's own process over an API that the test plays, and a client that sends bytes as they are.
   Every test program has its own copy; what one does not use is no fault. */
#ifndef STATOR_HTTP_FIXTURE_INTERNAL_H
#define STATOR_HTTP_FIXTURE_INTERNAL_H

#include "http/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#undef fail

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-function"

/* --- the API that is played --- */

struct api {
    struct world *world;
    atomic_uint calls;
    struct durable_wait *kept; /* of /never */
    atomic_uint releases_running; /* threads of release_later, which end behind the front's back */
};

struct delay {
    struct api *api;
    struct durable_wait *wait;
    int64_t us;
    enum fault fault;
};

static void *release_later(void *argument)
{
    struct delay *delay = argument;
    struct api *api = delay->api;
    if (delay->us > 0)
        world_sleep_us(api->world, delay->us);
    durable_wait_release(delay->wait, delay->fault);
    free(delay);
    atomic_fetch_sub(&api->releases_running, 1);
    return NULL;
}

/* Before the world ends. */
static void releases_end(struct api *api)
{
    while (atomic_load(&api->releases_running) > 0)
        world_sleep_us(api->world, 1000);
}

static void hold(struct api *api, struct call *call, int64_t us, enum fault fault)
{
    struct delay *delay = malloc(sizeof *delay);
    *delay = (struct delay){api, &call->durable, us, fault};
    durable_wait_hold(&call->durable);
    atomic_fetch_add(&api->releases_running, 1);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    assert_int_equal(pthread_create(&thread, &attributes, release_later, delay), 0);
    pthread_attr_destroy(&attributes);
}

str api_header_find(const struct auth_request *request, str name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (str_equal_folded(request->headers[i].name, name))
            return request->headers[i].value;
    return STR_NONE;
}

bool api_is_long(const struct auth_request *request)
{
    return str_begins(request->path, STR("/long"));
}

/* Answers with method, path, query and the body's length and sum, so that a test sees what arrived. */
void api_call(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    unsigned sum = 0;
    for (size_t at = 0; at < request->body.len; at++)
        sum = sum * 31 + (unsigned char)request->body.data[at];
    atomic_fetch_add(&api->calls, 1);
    *answer = (struct api_answer){.status = 200};
    answer->body = arena_printf(&call->arena, "%.*s %.*s ?%.*s %zu %u", STR_ARG(request->method), STR_ARG(request->path), STR_ARG(request->query), request->body.len, sum);
    answer->headers[answer->header_count++] = (struct api_header){"X-Test", "yes"};
    if (str_begins(request->path, STR("/wait")))
        hold(api, call, (int64_t)strtoul(arena_copy_text(&call->arena, str_from(request->path, 5)), NULL, 10), FAULT_NONE);
    if (str_begins(request->path, STR("/long"))) {
        world_sleep_us(api->world, (int64_t)strtoul(arena_copy_text(&call->arena, str_from(request->path, 5)), NULL, 10));
        /* The request is whole to the end. */
        assert_true(str_equal(api_header_find(request, STR("Host")), STR("x")));
        if (request->body.len % 2)
            hold(api, call, 100, FAULT_NONE);
    }
    if (str_begins(request->path, STR("/large"))) {
        memset(arena_alloc_text(&call->arena, 20 << 20), 'y', 20 << 20); /* what went into it */
        char *large = arena_alloc_text(&call->arena, 4 << 20);
        memset(large, 'x', 4 << 20);
        answer->body = str_of(large, 4 << 20);
    }
    if (str_equal(request->path, STR("/fail")))
        hold(api, call, 1000, FAULT_INTERNAL);
    if (str_equal(request->path, STR("/never"))) {
        durable_wait_hold(&call->durable);
        api->kept = &call->durable;
    }
}

void api_answer_failed(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    (void)api;
    (void)call;
    (void)request;
    *answer = (struct api_answer){.status = 500, .body = STR("not durable")};
}

void api_answer_unavailable(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    (void)api;
    (void)call;
    (void)request;
    *answer = (struct api_answer){.status = 503, .body = STR("no memory")};
}

void api_answer_leaves(struct api *api, const struct api_answer *answer)
{
    (void)api;
    (void)answer;
}

/* --- the server --- */

struct fixture {
    struct world *world;
    struct api api;
    struct metrics metrics;
    struct memory_budget memory;
    struct http_options options;
    struct http *http;
};

static void start(struct fixture *f)
{
    char problem[256] = "";
    f->http = http_start(&f->options, problem, sizeof problem);
    if (!f->http)
        print_error("%s\n", problem);
    assert_non_null(f->http);
}

static struct fixture *fixture_new(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->world = world_real_new();
    f->api.world = f->world;
    metrics_open(&f->metrics);
    f->memory.limit_bytes = 64 << 20;
    f->options = (struct http_options){
        .api = &f->api, .world = f->world, .metrics = &f->metrics, .memory = &f->memory, .listen = "127.0.0.1", .threads = 2, .idle_seconds = 10};
    return f;
}

static int set_up(void **state)
{
    struct fixture *f = fixture_new();
    start(f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    http_stop(f->http, 2000);
    releases_end(&f->api);
    assert_int_equal(atomic_load(&f->memory.used_bytes), 0);
    world_free(f->world);
    free(f);
    return 0;
}

/* --- the client --- */

struct client {
    int socket;
    char buffer[65536];
    size_t length;
};

static void dial(struct fixture *f, struct client *client)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(http_port(f->http)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    client->length = 0;
    client->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval patience = {.tv_sec = 10};
    setsockopt(client->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(client->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(client->socket, (struct sockaddr *)&address, sizeof address), 0);
}

static void hang_up(struct client *client)
{
    close(client->socket);
}

/* False when the server no longer takes bytes. */
static bool send_bytes(struct client *client, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        ssize_t sent = send(client->socket, at, bytes, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

static bool send_text(struct client *client, const char *text)
{
    return send_bytes(client, text, strlen(text));
}

struct response {
    int status;
    char head[4096];
    char body[256];   /* its beginning */
    size_t body_bytes;
};

/* More bytes into the buffer; false at the end of the stream. */
static bool more(struct client *client)
{
    assert_true(client->length < sizeof client->buffer);
    ssize_t got = recv(client->socket, client->buffer + client->length, sizeof client->buffer - client->length, 0);
    if (got > 0)
        client->length += (size_t)got;
    return got > 0;
}

static void drop(struct client *client, size_t bytes)
{
    memmove(client->buffer, client->buffer + bytes, client->length - bytes);
    client->length -= bytes;
}

static void read_chunked(struct client *client, struct response *response)
{
    while (!memmem(client->buffer, client->length, "0\r\n\r\n", 5))
        assert_true(more(client));
    response->body_bytes = 0;
    drop(client, client->length);
}

static void read_sized(struct client *client, struct response *response, size_t bytes)
{
    response->body_bytes = bytes;
    size_t kept = 0;
    while (bytes > 0) {
        if (client->length == 0)
            assert_true(more(client));
        size_t part = client->length < bytes ? client->length : bytes;
        size_t keep = part < sizeof response->body - 1 - kept ? part : sizeof response->body - 1 - kept;
        memcpy(response->body + kept, client->buffer, keep);
        kept += keep;
        drop(client, part);
        bytes -= part;
    }
    response->body[kept] = 0;
}

/* Reads one answer; false when the connection ends before one begins. */
static bool read_response(struct client *client, struct response *response)
{
    char *end;
    *response = (struct response){0};
    while (!(end = memmem(client->buffer, client->length, "\r\n\r\n", 4)))
        if (!more(client))
            return false;
    size_t head = (size_t)(end - client->buffer) + 4;
    assert_true(head < sizeof response->head);
    memcpy(response->head, client->buffer, head);
    response->head[head] = 0;
    drop(client, head);
    assert_int_equal(sscanf(response->head, "HTTP/1.1 %d ", &response->status), 1);
    if (response->status == 100)
        return true;
    const char *length = strcasestr(response->head, "\r\nContent-Length: ");
    if (length)
        read_sized(client, response, strtoul(length + 18, NULL, 10));
    else
        read_chunked(client, response);
    return true;
}

/* Whether the server ends the connection, whatever it still has to say. */
static bool is_closed(struct client *client)
{
    do
        client->length = 0;
    while (more(client));
    return errno != EAGAIN;
}

static void expect_body(struct client *client, const char *body)
{
    struct response response;
    assert_true(read_response(client, &response));
    assert_int_equal(response.status, 200);
    assert_string_equal(response.body, body);
}

/* A request that shows that the server still serves. */
static void expect_service(struct fixture *f)
{
    struct client client;
    dial(f, &client);
    assert_true(send_text(&client, "POST /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"));
    expect_body(&client, "POST /ok ? 2 3105");
    hang_up(&client);
}

#endif
