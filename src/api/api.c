/* The order in which a request is checked, and how its answer is put together (reference wire.md sections 1 to 3). */
#include "api/api_internal.h"

#include "json/json.h"
#include "wire/wire.h"
#include "world/world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum { COMPRESS_ABOVE = 4096, LONG_ABOVE = 64 << 10, CRC_DIGITS = 12, REGION_BYTES_MAX = 64 };

#define UNKNOWN_OPERATION_BODY "<UnknownOperationException/>\n"
#define NO_MEMORY_TEXT "The service has no memory left for this request; try again later."
#define DEFAULT_REGION "us-east-1"
#define DEFAULT_ACCOUNT "000000000000"

struct api *api_new(const struct api_options *options)
{
    struct api *api = calloc(1, sizeof *api);
    assert(api);
    api->options = *options;
    api->auth_cache = auth_cache_new(options->service.world);
    world_random(options->service.world, api->id_seeds, sizeof api->id_seeds);
    atomic_init(&api->id_count, 0);
    api_meters_open(api);
    return api;
}

void api_free(struct api *api)
{
    if (!api)
        return;
    auth_cache_free(api->auth_cache);
    api_meters_close(api);
    free(api);
}

str api_header_find(const struct auth_request *request, str name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (request->headers[i].name.len == name.len && str_equal_folded(request->headers[i].name, name))
            return request->headers[i].value;
    return STR_NONE;
}

static void add_header(struct api_answer *answer, const char *name, const char *value)
{
    assert(answer->header_count < API_HEADERS_MAX);
    answer->headers[answer->header_count++] = (struct api_header){name, value};
}

/* A bijection that scatters its argument (the finalizer of MurmurHash3). */
static uint64_t scatter(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdU;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53U;
    return x ^ (x >> 33);
}

/* Request ids must differ, not be secret: a counter, scattered from a random start. AWS's end in the same 26 characters. */
static const char *make_request_id(struct api *api, struct call *call)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
    static const char ending[] = "VV4KQNSO5AEMVJF66Q9ASUAAJG";
    uint64_t count = atomic_fetch_add_explicit(&api->id_count, 1, memory_order_relaxed);
    uint64_t high = scatter(api->id_seeds[0] + count);
    uint64_t low = scatter(api->id_seeds[1] ^ high);
    char *id = arena_alloc_text(&call->arena, API_REQUEST_ID_BYTES + 1);
    enum { OWN_CHARACTERS = API_REQUEST_ID_BYTES - (sizeof ending - 1), CHARACTERS_A_WORD = OWN_CHARACTERS / 2 };
    for (size_t at = 0; at < CHARACTERS_A_WORD; at++) {
        id[at] = digits[high & 31];
        id[at + CHARACTERS_A_WORD] = digits[low & 31];
        high = high >> 5 | high << 59;
        low = low >> 5 | low << 59;
    }
    memcpy(id + OWN_CHARACTERS, ending, sizeof ending);
    return id;
}

static void answer_open(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    *answer = (struct api_answer){.status = 200, .operation = api->meter_count - 1, .started_us = world_mono_us(api->options.service.world)};
    add_header(answer, "Server", "Server");
    add_header(answer, "x-amzn-RequestId", make_request_id(api, call));
    if (api_header_find(request, STR("Origin")).len > 0) {
        add_header(answer, "access-control-allow-origin", "*");
        add_header(answer, "access-control-expose-headers", "x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,Date");
    }
}

/* The body and the checksum that clients compare it with: of the body before it is packed. */
static void answer_close(struct call *call, struct api_answer *answer, int status, str body, const char *content_type)
{
    answer->status = status;
    answer->body = body;
    char *digits = arena_alloc_text(&call->arena, CRC_DIGITS);
    snprintf(digits, CRC_DIGITS, "%lu", crc32_z(0, (const Bytef *)(body.data ? body.data : ""), body.len));
    add_header(answer, "x-amz-crc32", digits);
    if (content_type)
        add_header(answer, "Content-Type", content_type);
}

static void pack_body(struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    if (answer->body.len <= COMPRESS_ABOVE)
        return;
    enum api_encoding encoding = api_encoding_choose(api_header_find(request, STR("Accept-Encoding")));
    if (encoding == ENCODING_NONE)
        return;
    answer->body = api_deflate(&call->arena, answer->body, encoding);
    add_header(answer, "Content-Encoding", encoding == ENCODING_GZIP ? "gzip" : "deflate");
}

static void answer_preflight(struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    str headers = api_header_find(request, STR("Access-Control-Request-Headers"));
    str methods = api_header_find(request, STR("Access-Control-Request-Method"));
    if (headers.len > 0)
        add_header(answer, "access-control-allow-headers", arena_copy_text(&call->arena, headers));
    if (methods.len > 0)
        add_header(answer, "access-control-allow-methods", arena_copy_text(&call->arena, methods));
    add_header(answer, "access-control-max-age", "172800");
    answer->status = 200;
}

/* Health as DynamoDB answers it on / and /ping: with the endpoint's own name, which is what the client asked for (Scylla's test_health.py, newer
   than reference wire.md section 2, row 4, whose captured text has AWS's name for it). /health and /metrics are for operators. */
static void answer_get(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    if (str_equal(request->path, STR("/")) || str_equal(request->path, STR("/ping"))) {
        str host = api_header_find(request, STR("Host"));
        host = host.len > 0 ? host : STR("dynamodb." DEFAULT_REGION ".amazonaws.com");
        answer_close(call, answer, 200, arena_printf(&call->arena, "healthy: %.*s ", STR_ARG(host)), NULL);
    } else if (str_equal(request->path, STR("/health"))) {
        answer_close(call, answer, 200, STR("{\"status\":\"ok\",\"version\":\"" STATOR_VERSION "\"}\n"), "application/json");
    } else if (str_equal(request->path, STR("/metrics"))) {
        struct buf out;
        buf_open(&out, &call->arena, 16384);
        api_metrics_write(api, &out);
        answer_close(call, answer, 200, buf_str(&out), "text/plain; version=0.0.4; charset=utf-8");
    } else {
        answer_close(call, answer, 404, STR(UNKNOWN_OPERATION_BODY), NULL);
    }
}

/* The operation that X-Amz-Target names, or NULL. Those of DynamoDB Streams have a prefix of their own. */
static const struct op *find_operation(const struct auth_request *request, size_t *index)
{
    str target = api_header_find(request, STR("X-Amz-Target"));
    str service = str_cut(&target, '.');
    return str_equal(service, STR("DynamoDB_20120810")) ? op_find(target, index) : NULL;
}

/* A region becomes part of table names and ARNs, so it must look like one. */
static bool region_is_sound(str region)
{
    for (size_t at = 0; at < region.len; at++) {
        char byte = region.data[at];
        bool sound = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '-';
        if (!sound)
            return false;
    }
    return region.len > 0 && region.len <= REGION_BYTES_MAX;
}

/* Row 8: who asks. */
static enum fault authenticate(struct api *api, struct call *call, const struct auth_request *request, struct op_context *context)
{
    struct auth_claim claim;
    context->account = STR(DEFAULT_ACCOUNT);
    if (api->options.auth == API_AUTH_ANY) {
        auth_claim_read(call, request, &claim);
        context->region = region_is_sound(claim.region) ? claim.region : STR(DEFAULT_REGION);
        return FAULT_NONE;
    }
    const struct auth_key *key;
    TRY(auth_verify(call, request, call->now_us, directory_find_key, api->options.directory, api->auth_cache, &claim, &key));
    context->region = claim.region;
    context->account = key->account;
    return FAULT_NONE;
}

/* Rows 6 to 12, once the request is known to be meant for the API: appends the answer's JSON to `out`. */
static enum fault operate(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer, struct buf *out)
{
    str body = request->body;
    enum api_encoding encoding = api_encoding_of(api_header_find(request, STR("Content-Encoding")));
    bool has_no_room = false;
    if (encoding == ENCODING_UNKNOWN || (encoding != ENCODING_NONE && !api_inflate(&call->arena, body, encoding, API_BODY_MAX, &body, &has_no_room)))
        return has_no_room ? fail(call, FAULT_UNAVAILABLE, NO_MEMORY_TEXT) : fail(call, FAULT_INTERNAL, "Internal server error");
    struct json json;
    if (body.len > 0 && !json_parse(&call->arena, body, &json))
        return json.has_no_room ? fail(call, FAULT_UNAVAILABLE, NO_MEMORY_TEXT) : fail(call, FAULT_SERIALIZATION, "%s", "");
    const struct op *op = find_operation(request, &answer->operation);
    if (!op)
        return fail(call, FAULT_UNKNOWN_OPERATION, "%s", "");
    struct op_context context = {.service = &api->options.service, .host = api_header_find(request, STR("Host"))};
    TRY(authenticate(api, call, request, &context));
    if (!str_equal(request->path, STR("/")))
        return fail(call, FAULT_UNKNOWN_OPERATION, "%s", "");
    if (body.len == 0 || json_type(&json, 0) != JSON_OBJECT)
        return fail(call, FAULT_SERIALIZATION, "%s", "");
    TRY(wire_check(call, wire_input_shape(str_of_text(op->name)), &json));
    return op->run(&context, call, &json, out);
}

static void answer_fault(struct call *call, struct api_answer *answer, const char *content_type)
{
    struct buf out;
    buf_open(&out, &call->arena, call->message.len + 128);
    wire_write_fault(call, &out);
    answer_close(call, answer, fault_http_status(call->fault), buf_str(&out), content_type);
}

/* The type that the answer carries back, or NULL when the request's is foreign. */
static const char *content_type_of(const struct auth_request *request)
{
    str rest = api_header_find(request, STR("Content-Type"));
    str type = str_trim(str_cut(&rest, ';'));
    if (str_equal(type, STR("application/x-amz-json-1.0")))
        return "application/x-amz-json-1.0";
    return request->body.len == 0 || str_equal(type, STR("application/json")) ? "application/json" : NULL;
}

bool api_is_long(const struct auth_request *request)
{
    if (request->body.len > LONG_ABOVE || api_header_find(request, STR("Content-Encoding")).len > 0)
        return true;
    const struct op *op = find_operation(request, NULL);
    return op && op->is_long;
}

void api_call(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    call->wording = api->options.wording;
    answer_open(api, call, request, answer);
    if (str_equal(request->method, STR("OPTIONS")) && api_header_find(request, STR("Origin")).len > 0) {
        answer_preflight(call, request, answer);
        return;
    }
    if (str_equal(request->method, STR("GET"))) {
        answer_get(api, call, request, answer);
        return;
    }
    const char *content_type = content_type_of(request);
    /* AWS has one path; another one is a wrong signature there, which nobody can see when signatures are not verified. */
    bool foreign_path = api->options.auth == API_AUTH_ANY && !str_equal(request->path, STR("/"));
    if (!str_equal(request->method, STR("POST")) || !content_type || foreign_path) {
        answer_close(call, answer, 404, STR(UNKNOWN_OPERATION_BODY), NULL);
        return;
    }
    struct buf out;
    buf_open(&out, &call->arena, 1024);
    enum fault fault = operate(api, call, request, answer, &out);
    if (fault != FAULT_NONE) {
        assert(call->fault == fault);
        answer_fault(call, answer, content_type);
    } else {
        answer_close(call, answer, 200, buf_str(&out), content_type);
    }
    pack_body(call, request, answer);
}

static void replace_answer(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer, enum fault fault,
    const char *message)
{
    struct api_answer before = *answer;
    answer_open(api, call, request, answer);
    answer->operation = before.operation;
    answer->started_us = before.started_us;
    call_clear_fault(call);
    fault = fail(call, fault, "%s", message);
    const char *content_type = content_type_of(request);
    answer_fault(call, answer, content_type ? content_type : "application/json");
}

void api_answer_failed(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    replace_answer(api, call, request, answer, FAULT_INTERNAL, "Internal server error");
}

void api_answer_unavailable(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    *answer = (struct api_answer){.operation = api->meter_count - 1, .started_us = world_mono_us(api->options.service.world)};
    replace_answer(api, call, request, answer, FAULT_UNAVAILABLE, NO_MEMORY_TEXT);
}
