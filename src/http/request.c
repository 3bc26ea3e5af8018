/* A request's way through the front: headers checked, body taken in, answered at once or when what it tells of is durable; a long one by a worker.

   The library calls http_request_moves several times for a request, always on the connection's own thread. What other threads
   may do is make the answer while the connection is suspended (worker.c), end the durable wait (on_durable) and abandon it
   (http_requests_abandon): see enum http_wait. */
#include "http/http_internal.h"

#include <assert.h>
#include <stdlib.h>

enum { ARENA_FIRST_BYTES = 14 << 10, BODY_OWN_FIRST_BYTES = 64 << 10, ARENA_KEPT_BYTES = 1 << 20, PARSE_FACTOR = 2 };

static struct http_request *request_acquire(struct http *http)
{
    world_lock(http->options.world, &http->mutex);
    struct http_request *request = http->spare;
    if (request) {
        http->spare = request->next;
        http->spare_count--;
    }
    world_unlock(http->options.world, &http->mutex);
    struct arena arena;
    if (request) {
        arena = request->call.arena;
    } else {
        request = malloc(sizeof *request);
        assert(request);
        /* The first chunk stays with the request: one that most requests fit in. */
        arena_open(&arena, http->options.memory);
        arena_alloc(&arena, ARENA_FIRST_BYTES);
        arena_reset(&arena);
    }
    memset(request, 0, offsetof(struct http_request, headers_inline));
    memset(&request->target, 0, sizeof *request - offsetof(struct http_request, target));
    /* Without a world: its time is that of the whole request, which is yet to come. */
    call_open(&request->call, NULL, http->options.memory);
    request->call.world = http->options.world;
    request->call.arena = arena;
    request->http = http;
    atomic_init(&request->parties, 1);
    return request;
}

static void charge(struct http_request *request, size_t bytes)
{
    if (request->http->options.memory)
        memory_budget_add(request->http->options.memory, bytes);
    request->body_charged_bytes += bytes;
}

static void uncharge(struct http_request *request, size_t bytes)
{
    assert(request->body_charged_bytes >= bytes);
    if (request->http->options.memory)
        memory_budget_remove(request->http->options.memory, bytes);
    request->body_charged_bytes -= bytes;
}

/* Charges only what the total still has room for: taken first and looked at then, so that no two requests get the same room. */
static bool try_charge(struct http_request *request, size_t bytes)
{
    charge(request, bytes);
    if (!request->http->options.memory || memory_budget_has(request->http->options.memory, 0))
        return true;
    uncharge(request, bytes);
    return false;
}

static void body_free(struct http_request *request)
{
    if (request->body_is_own)
        free(request->body.data);
    request->body = (struct buf){0};
    request->body_is_own = false;
    uncharge(request, request->body_charged_bytes);
}

static void request_release(struct http_request *request)
{
    if (atomic_fetch_sub_explicit(&request->parties, 1, memory_order_acq_rel) > 1)
        return;
    struct http *http = request->http;
    body_free(request);
    arena_reset(&request->call.arena);
    world_lock(http->options.world, &http->mutex);
    bool keep = http->spare_count < HTTP_SPARE_REQUESTS_MAX;
    if (keep) {
        request->next = http->spare;
        http->spare = request;
        http->spare_count++;
    }
    world_unlock(http->options.world, &http->mutex);
    if (!keep) {
        call_close(&request->call);
        free(request);
    }
}

void http_requests_free_spare(struct http *http)
{
    while (http->spare) {
        struct http_request *request = http->spare;
        http->spare = request->next;
        call_close(&request->call);
        free(request);
    }
}

void *http_request_begins(void *cls, const char *target, struct MHD_Connection *connection)
{
    struct http *http = cls;
    struct http_request *request = request_acquire(http);
    request->connection = connection;
    request->started_us = world_mono_us(http->options.world);
    /* The library decodes the target in place behind our back. */
    request->target = arena_copy(&request->call.arena, str_of_text(target));
    return request;
}

static void waiting_insert(struct http *http, struct http_request *request)
{
    request->next = http->waiting;
    request->before = &http->waiting;
    if (request->next)
        request->next->before = &request->next;
    http->waiting = request;
}

static void waiting_remove(struct http_request *request)
{
    struct http *http = request->http;
    world_lock(http->options.world, &http->mutex);
    *request->before = request->next;
    if (request->next)
        request->next->before = request->before;
    world_unlock(http->options.world, &http->mutex);
    request->phase = PHASE_SENDING;
}

void http_request_ends(void *cls, struct MHD_Connection *connection, void **context, enum MHD_RequestTerminationCode how)
{
    (void)how;
    struct http *http = cls;
    struct http_request *request = *context;
    if (!request)
        return;
    *context = NULL;
    struct http_peer *peer = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (peer)
        atomic_store_explicit(&peer->waiting_since_us, world_mono_us(http->options.world), memory_order_relaxed);
    bool was_counted = request->is_counted;
    /* The library may end a connection as soon as it is resumed, without asking us. */
    if (request->phase == PHASE_WAITING)
        waiting_remove(request);
    request_release(request);
    if (was_counted)
        atomic_fetch_sub_explicit(&http->requests_active, 1, memory_order_release);
}

/* --- answers --- */

static enum MHD_Result send_answer(struct http_request *request)
{
    struct http *http = request->http;
    struct api_answer *answer = &request->answer;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer->body.len, (void *)(uintptr_t)answer->body.data, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    bool sound = true;
    for (size_t i = 0; i < answer->header_count; i++)
        sound = sound && MHD_add_response_header(response, answer->headers[i].name, answer->headers[i].value) == MHD_YES;
    if (atomic_load_explicit(&http->is_stopping, memory_order_relaxed))
        sound = sound && MHD_add_response_header(response, "Connection", "close") == MHD_YES;
    request->phase = PHASE_SENDING;
    enum MHD_Result result = sound ? MHD_queue_response(request->connection, (unsigned)answer->status, response) : MHD_NO;
    MHD_destroy_response(response);
    api_answer_leaves(http->options.api, answer);
    /* A client may take its time: meanwhile the body is held, not all that went into it. */
    if (request->call.arena.held_bytes > ARENA_KEPT_BYTES)
        arena_keep(&request->call.arena, answer->body.data);
    return result;
}

/* An answer that closes the connection: to a request that could not be read, or may not be. */
static enum MHD_Result send_refusal(struct http_request *request, int status, const char *reason)
{
    str body = reason ? arena_printf(&request->call.arena, "Bad Request: %s\n", reason) : STR_NONE;
    struct MHD_Response *response = MHD_create_response_from_buffer(body.len, (void *)(uintptr_t)body.data, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Server", "Server");
    MHD_add_response_header(response, "Connection", "close");
    if (reason)
        MHD_add_response_header(response, "Content-Type", "text/plain");
    else
        MHD_add_response_header(response, "Transfer-Encoding", "chunked");
    request->phase = PHASE_SENDING;
    enum MHD_Result result = MHD_queue_response(request->connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_unavailable(struct http_request *request)
{
    struct http *http = request->http;
    metric_add(&http->refused_memory, 1);
    body_free(request);
    api_answer_unavailable(http->options.api, &request->call, &request->request, &request->answer);
    struct api_answer *answer = &request->answer;
    answer->headers[answer->header_count++] = (struct api_header){"Connection", "close"};
    return send_answer(request);
}

static enum MHD_Result send_refusal_or_unavailable(struct http_request *request)
{
    return request->refusal == MHD_HTTP_SERVICE_UNAVAILABLE ? send_unavailable(request) : send_refusal(request, request->refusal, NULL);
}

/* --- headers --- */

struct collector {
    struct auth_header *headers;
    size_t count;
    const char *expected; /* where the next name must begin if lines end as they should */
    bool contiguous;
};

static enum MHD_Result collect_header(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_bytes, const char *value, size_t value_bytes)
{
    (void)kind;
    struct collector *collector = cls;
    collector->contiguous = collector->contiguous && name == collector->expected;
    if (!value) {
        value = "";
        value_bytes = 0;
    }
    collector->expected = value + value_bytes + 2;
    collector->headers[collector->count++] = (struct auth_header){str_of(name, name_bytes), str_trim(str_of(value, value_bytes))};
    return MHD_YES;
}

/* Takes the headers over. The library lets bare line feeds, folded lines and NUL bytes pass, which others read as something else; but it
   leaves the headers where they came in, so a line that ended in anything but CR LF shows as a gap. */
static const char *read_headers(struct http_request *request, const char *method, const char *version)
{
    struct MHD_Connection *connection = request->connection;
    int count = MHD_get_connection_values_n(connection, MHD_HEADER_KIND, NULL, NULL);
    struct collector collector = {.headers = request->headers_inline, .expected = version + strlen(version) + 2, .contiguous = true};
    if (count > HTTP_HEADERS_INLINE)
        collector.headers = ARENA_NEW_ARRAY(&request->call.arena, struct auth_header, (size_t)count);
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, collect_header, &collector);
    size_t header_bytes = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
    request->request.method = str_of_text(method);
    request->request.headers = collector.headers;
    request->request.header_count = collector.count;
    http_split_target(request->target, &request->request.path, &request->request.query);
    if (header_bytes > HTTP_HEADER_BYTES_MAX)
        return "the headers exceed 16 KB";
    if (!collector.contiguous || collector.expected + 2 != method + header_bytes)
        return "a header line does not end in CR LF, is folded, or holds a NUL byte";
    return NULL;
}

/* The body will not be wanted: it is thrown away as it comes, because a client that still sends would not read the answer; unless it
   waits for a go-ahead, or means to send too much even for that. */
static enum MHD_Result refuse_body(struct http_request *request, int status, uint64_t length)
{
    request->refusal = status;
    bool client_waits = str_equal_folded(api_header_find(&request->request, STR("Expect")), STR("100-continue"));
    if (client_waits || (length != UINT64_MAX && length > HTTP_DRAIN_BYTES_MAX))
        return send_refusal_or_unavailable(request);
    request->phase = PHASE_DRAIN;
    return MHD_YES;
}

static enum MHD_Result headers_complete(struct http_request *request, const char *method, const char *version)
{
    struct http *http = request->http;
    struct http_peer *peer = MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (peer)
        atomic_store_explicit(&peer->waiting_since_us, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&http->requests_active, 1, memory_order_relaxed);
    request->is_counted = true;
    uint64_t length;
    const char *fault = read_headers(request, method, version);
    if (!fault)
        fault = http_framing_fault(request->request.headers, request->request.header_count, request->request.method, request->target,
                                   str_of_text(version), &length);
    if (fault) {
        metric_add(&http->refused_framing, 1);
        return send_refusal(request, MHD_HTTP_BAD_REQUEST, fault);
    }
    if (length != UINT64_MAX && length > API_BODY_MAX)
        return refuse_body(request, MHD_HTTP_CONTENT_TOO_LARGE, length);
    if (http->options.memory && !memory_budget_has(http->options.memory, length == UINT64_MAX ? 0 : (size_t)length))
        return refuse_body(request, MHD_HTTP_SERVICE_UNAVAILABLE, length);
    request->phase = PHASE_BODY;
    request->body_is_own = length > HTTP_BODY_INLINE_BYTES;
    if (!request->body_is_own && length > 0)
        buf_open(&request->body, &request->call.arena, (size_t)length);
    return MHD_YES;
}

/* --- body --- */

/* Memory of a large body is asked for as the body comes, so that a length alone costs nobody anything. False: there is none. */
static bool body_grow(struct http_request *request, size_t bytes)
{
    struct buf *body = &request->body;
    if (body->capacity - body->len >= bytes)
        return true;
    size_t capacity = body->capacity ? body->capacity * 2 : BODY_OWN_FIRST_BYTES;
    while (capacity < body->len + bytes)
        capacity *= 2;
    if (!try_charge(request, capacity - body->capacity))
        return false;
    body->data = realloc(body->data, capacity);
    assert(body->data);
    body->capacity = capacity;
    return true;
}

static bool is_too_slow(struct http_request *request)
{
    struct http *http = request->http;
    int64_t allowed_us =
        (int64_t)http->options.idle_seconds * 1000000 + (int64_t)(request->body_received_bytes * 1000000 / HTTP_BODY_BYTES_A_SECOND_MIN);
    return world_mono_us(http->options.world) - request->started_us > allowed_us;
}

static enum MHD_Result body_arrives(struct http_request *request, const char *data, size_t bytes)
{
    request->body_received_bytes += bytes;
    if (is_too_slow(request)) {
        metric_add(&request->http->closed_slow, 1);
        return MHD_NO;
    }
    if (request->phase == PHASE_DRAIN)
        return request->body_received_bytes <= HTTP_DRAIN_BYTES_MAX ? MHD_YES : MHD_NO;
    int refusal = 0;
    if (request->body_received_bytes > API_BODY_MAX)
        refusal = MHD_HTTP_CONTENT_TOO_LARGE;
    else if (request->body_is_own && !body_grow(request, bytes))
        refusal = MHD_HTTP_SERVICE_UNAVAILABLE;
    if (refusal) {
        body_free(request);
        request->refusal = refusal;
        request->phase = PHASE_DRAIN;
        return MHD_YES;
    }
    buf_add(&request->body, data, bytes);
    return MHD_YES;
}

/* --- the call --- */

/* By the thread that made the last write durable, which has others to tell: so without a lock. */
static void on_durable(struct durable_wait *wait)
{
    struct http_request *request = wait->owner;
    struct http *http = request->http;
    atomic_fetch_add(&http->resuming, 1);
    int state = WAIT_PENDING;
    if (atomic_compare_exchange_strong(&request->wait, &state, WAIT_DURABLE))
        MHD_resume_connection(request->connection);
    request_release(request);
    atomic_fetch_sub(&http->resuming, 1);
    if (state == WAIT_ABANDONED)
        http_release(http);
}

void http_requests_abandon(struct http *http)
{
    struct world *world = http->options.world;
    world_lock(world, &http->mutex);
    http->is_abandoning = true;
    for (struct http_request *request = http->waiting; request; request = request->next) {
        int state = WAIT_PENDING;
        atomic_fetch_add(&http->users, 1);
        if (atomic_compare_exchange_strong(&request->wait, &state, WAIT_ABANDONED)) {
            http->abandoned_count++;
            MHD_resume_connection(request->connection);
        } else {
            atomic_fetch_sub(&http->users, 1);
        }
    }
    world_unlock(world, &http->mutex);
    while (atomic_load(&http->resuming) > 0)
        world_sleep_us(world, 100);
}

/* Puts the connection aside until the answer may leave. Suspended before the call's own hold is released, which a worker does when it has made the
   answer, and else we: from then on on_durable may come at any time. */
static enum MHD_Result put_aside(struct http_request *request, bool for_worker)
{
    struct http *http = request->http;
    atomic_fetch_add_explicit(&request->parties, 1, memory_order_relaxed);
    world_lock(http->options.world, &http->mutex);
    bool abandoned = http->is_abandoning || (for_worker && http->work_ends);
    atomic_init(&request->wait, abandoned ? WAIT_ABANDONED : WAIT_PENDING);
    if (abandoned) {
        atomic_fetch_add(&http->users, 1);
        http->abandoned_count++;
    } else {
        request->phase = PHASE_WAITING;
        MHD_suspend_connection(request->connection);
        waiting_insert(http, request);
        if (for_worker)
            http_work_add(request);
    }
    world_unlock(http->options.world, &http->mutex);
    if (!for_worker || abandoned)
        durable_wait_release(&request->call.durable, FAULT_NONE);
    return abandoned ? MHD_NO : MHD_YES;
}

static enum MHD_Result send_result(struct http_request *request)
{
    if (atomic_load_explicit(&request->call.durable.fault, memory_order_acquire) != FAULT_NONE)
        api_answer_failed(request->http->options.api, &request->call, &request->request, &request->answer);
    body_free(request);
    return send_answer(request);
}

static enum MHD_Result resumed(struct http_request *request)
{
    waiting_remove(request);
    int state = atomic_load(&request->wait);
    assert(state != WAIT_PENDING);
    return state == WAIT_ABANDONED ? MHD_NO : send_result(request);
}

void http_request_operate(struct http_request *request)
{
    api_call(request->http->options.api, &request->call, &request->request, &request->answer);
    uncharge(request, request->reading_bytes);
    request->reading_bytes = 0;
}

static enum MHD_Result body_complete(struct http_request *request)
{
    struct http *http = request->http;
    request->reading_bytes = request->body_is_own ? request->body.len * PARSE_FACTOR : 0;
    if (!try_charge(request, request->reading_bytes))
        return send_unavailable(request);
    request->request.body = buf_str(&request->body);
    request->call.now_us = world_wall_us(http->options.world);
    durable_wait_open(&request->call.durable, on_durable, request);
    if (api_is_long(&request->request))
        return put_aside(request, true);
    http_request_operate(request);
    if (durable_wait_is_pending(&request->call.durable))
        return put_aside(request, false);
    return send_result(request);
}

enum MHD_Result http_request_moves(void *cls, struct MHD_Connection *connection, const char *target, const char *method, const char *version,
    const char *data, size_t *data_bytes, void **context)
{
    (void)cls;
    (void)connection;
    (void)target;
    struct http_request *request = *context;
    if (*data_bytes > 0) {
        size_t bytes = *data_bytes;
        *data_bytes = 0;
        return body_arrives(request, data, bytes);
    }
    switch (request->phase) {
    case PHASE_HEADERS:
        return headers_complete(request, method, version);
    case PHASE_BODY:
        return body_complete(request);
    case PHASE_DRAIN:
        return send_refusal_or_unavailable(request);
    case PHASE_WAITING:
        return resumed(request);
    case PHASE_SENDING:
        break;
    }
    return MHD_YES;
}
