/* A call from its request to its answer: the order of checks, checksums, CORS, health, and bodies packed both ways. */
#include "api/api_internal.h"

#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define TARGET "X-Amz-Target: DynamoDB_20120810.DescribeEndpoints"
#define JSON "Content-Type: application/x-amz-json-1.0"
#define ENDPOINTS "{\"Endpoints\":[{\"Address\":\"db:1\",\"CachePeriodInMinutes\":1440}]}"
#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

struct fixture {
    struct world *world;
    struct api *api;
    struct directory *directory;
    struct call call;
    struct api_answer answer;
};

static struct directory *make_directory(void)
{
    char path[] = "/tmp/stator-keys-XXXXXX", problem[256];
    int descriptor = mkstemp(path);
    static const char text[] = "{\"keys\":[{\"accessKeyId\":\"AKID\",\"secretAccessKey\":\"secret\",\"account\":\"111122223333\"}]}";
    assert_true(write(descriptor, text, sizeof text - 1) == sizeof text - 1);
    close(descriptor);
    struct directory *directory = directory_open_file(path, problem, sizeof problem);
    unlink(path);
    return directory;
}

static int set_up_auth(void **state, enum api_auth auth)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->world = world_real_new();
    f->directory = make_directory();
    struct api_options options = {.service = {.world = f->world}, .auth = auth, .directory = f->directory};
    f->api = api_new(&options);
    call_open(&f->call, f->world, NULL);
    *state = f;
    return f->directory ? 0 : -1;
}

static int set_up(void **state)
{
    return set_up_auth(state, API_AUTH_ANY);
}

static int set_up_required(void **state)
{
    return set_up_auth(state, API_AUTH_REQUIRED);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    call_close(&f->call);
    api_free(f->api);
    directory_close(f->directory);
    world_free(f->world);
    free(f);
    return 0;
}

static const char *header_of(const struct api_answer *answer, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < answer->header_count; i++) {
        if (strcasecmp(answer->headers[i].name, name) == 0) {
            assert_null(found); /* no header stands there twice */
            found = answer->headers[i].value;
        }
    }
    return found;
}

/* Runs a request; checks what every answer has. */
static void ask(struct fixture *f, const char *method, const char *path, str body, const char *const *lines)
{
    struct auth_header headers[24];
    size_t count = 0;
    for (; lines[count]; count++) {
        str value = str_of_text(lines[count]);
        str name = str_cut(&value, ':');
        headers[count] = (struct auth_header){name, str_trim(value)};
    }
    struct auth_request request = {.method = str_of_text(method), .path = str_of_text(path), .headers = headers, .header_count = count, .body = body};
    call_close(&f->call);
    call_open(&f->call, f->world, NULL);
    api_call(f->api, &f->call, &request, &f->answer);
    const char *id = header_of(&f->answer, "x-amzn-RequestId");
    assert_non_null(id);
    assert_int_equal(strspn(id, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"), API_REQUEST_ID_BYTES);
    assert_int_equal(strlen(id), API_REQUEST_ID_BYTES);
    assert_string_equal(header_of(&f->answer, "Server"), "Server");
}

static void expect(struct fixture *f, int status, const char *body, const char *crc, const char *type)
{
    assert_int_equal(f->answer.status, status);
    if (f->answer.body.len != strlen(body) || (*body && memcmp(f->answer.body.data, body, strlen(body)) != 0))
        print_error("%.*s\n", STR_ARG(f->answer.body));
    assert_int_equal(f->answer.body.len, strlen(body));
    assert_memory_equal(f->answer.body.data ? f->answer.body.data : "", body, strlen(body));
    if (crc)
        assert_string_equal(header_of(&f->answer, "x-amz-crc32"), crc);
    if (type)
        assert_string_equal(header_of(&f->answer, "Content-Type"), type);
    else
        assert_null(header_of(&f->answer, "Content-Type"));
}

static bool answer_holds(const struct fixture *f, const char *text)
{
    return memmem(f->answer.body.data, f->answer.body.len, text, strlen(text)) != NULL;
}

static const char not_found[] = "<UnknownOperationException/>\n";

static void foreign_requests_are_not_found(void **state)
{
    struct fixture *f = *state;
    const struct {
        const char *method, *path, *type, *body;
    } cases[] = {
        {"OPTIONS", "/", "Accept: x", ""},
        {"PUT", "/", "Accept: x", ""},
        {"DELETE", "/", "Accept: x", ""},
        {"HEAD", "/", "Accept: x", ""},
        {"POST", "/", "Accept: x", "hi"},
        {"POST", "/", "Content-Type: whatever", "hi"},
        {"POST", "/", "Content-Type: application/x-amz-json-1.1", "hi"},
        {"POST", "/", "Content-Type: application/jsonasdf", "hi"},
        {"POST", "/garbage", JSON, "{}"},
        {"GET", "/garbage", "Accept: x", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ask(f, cases[i].method, cases[i].path, str_of_text(cases[i].body), LINES(cases[i].type));
        expect(f, 404, not_found, "3552371480", NULL);
    }
}

static void health_is_answered(void **state)
{
    struct fixture *f = *state;
    ask(f, "GET", "/", STR_NONE, LINES("Host: dynamodb.us-east-1.amazonaws.com"));
    expect(f, 200, "healthy: dynamodb.us-east-1.amazonaws.com ", "3128867991", NULL);
    ask(f, "GET", "/ping", STR_NONE, LINES("Accept: x"));
    expect(f, 200, "healthy: dynamodb.us-east-1.amazonaws.com ", "3128867991", NULL);
    ask(f, "GET", "/", STR_NONE, LINES("Host: localhost:8000"));
    expect(f, 200, "healthy: localhost:8000 ", NULL, NULL);
    ask(f, "GET", "/health", STR_NONE, LINES("Host: x"));
    assert_int_equal(f->answer.status, 200);
    ask(f, "GET", "/metrics", STR_NONE, LINES("Host: x"));
    assert_int_equal(f->answer.status, 200);
}

static void origins_are_allowed(void **state)
{
    struct fixture *f = *state;
    ask(f, "OPTIONS", "/", STR_NONE, LINES("Origin: whatever", "Access-Control-Request-Headers: a, b, c", "access-control-request-method: d"));
    expect(f, 200, "", NULL, NULL);
    assert_string_equal(header_of(&f->answer, "access-control-allow-origin"), "*");
    assert_string_equal(header_of(&f->answer, "access-control-allow-headers"), "a, b, c");
    assert_string_equal(header_of(&f->answer, "access-control-allow-methods"), "d");
    assert_string_equal(header_of(&f->answer, "access-control-max-age"), "172800");
    const char *methods[] = {"POST", "GET", "PUT"};
    for (size_t i = 0; i < 3; i++) {
        ask(f, methods[i], "/", STR_NONE, LINES("Origin: x", "Access-Control-Request-Headers: a", "Access-Control-Request-Method: b"));
        assert_string_equal(header_of(&f->answer, "access-control-allow-origin"), "*");
        assert_non_null(header_of(&f->answer, "access-control-expose-headers"));
        assert_null(header_of(&f->answer, "access-control-allow-headers"));
        assert_null(header_of(&f->answer, "access-control-max-age"));
        ask(f, methods[i], "/", STR_NONE, LINES("Host: x", "Access-Control-Request-Headers: a"));
        assert_null(header_of(&f->answer, "access-control-allow-origin"));
    }
}

static void checks_come_in_order(void **state)
{
    struct fixture *f = *state;
    static const char serialization[] = "{\"__type\":\"com.amazon.coral.service#SerializationException\"}";
    static const char unknown[] = "{\"__type\":\"com.amazon.coral.service#UnknownOperationException\"}";
    ask(f, "POST", "/", STR("hi"), LINES("Content-Type:   application/json  ;   asfd"));
    expect(f, 400, serialization, "3948637019", "application/json");
    ask(f, "POST", "/", STR("hi"), LINES("Content-Type: application/x-amz-json-1.0;blah", TARGET));
    expect(f, 400, serialization, "3948637019", "application/x-amz-json-1.0");
    ask(f, "POST", "/", STR_NONE, LINES("Host: x"));
    expect(f, 400, unknown, "1368724161", "application/json");
    ask(f, "POST", "/", STR("{}"), LINES(JSON));
    expect(f, 400, unknown, "1368724161", "application/x-amz-json-1.0");
    const char *targets[] = {"X-Amz-Target: whatever", "X-Amz-Target: DynamoDB_20120810.ListTable", "X-Amz-Target: DynamoDB_20120810.DescribeEndpoints.",
                             "X-Amz-Target: DynamoDBStreams_20120810.DescribeEndpoints", "X-Amz-Target: DynamoDB_20120810."};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        ask(f, "POST", "/", STR_NONE, LINES(targets[i]));
        expect(f, 400, unknown, "1368724161", "application/json");
    }
    ask(f, "POST", "/", STR_NONE, LINES(TARGET, JSON));
    expect(f, 400, serialization, NULL, "application/x-amz-json-1.0");
    ask(f, "POST", "/", STR("[]"), LINES(TARGET, JSON));
    expect(f, 400, serialization, NULL, "application/x-amz-json-1.0");
    ask(f, "POST", "/", STR("{}"), LINES(TARGET, JSON, "Host: db:1"));
    expect(f, 200, ENDPOINTS, NULL, "application/x-amz-json-1.0");
    ask(f, "POST", "/", STR("{}"), LINES(TARGET, "Content-Type: application/json", "Host: db:1"));
    expect(f, 200, ENDPOINTS, NULL, "application/json");
}

static void signatures_are_required(void **state)
{
    struct fixture *f = *state;
    ask(f, "POST", "/", STR_NONE, LINES(TARGET));
    expect(f, 400, "{\"__type\":\"com.amazon.coral.service#MissingAuthenticationTokenException\",\"message\":\"Request is missing Authentication Token\"}",
           "2088342776", "application/json");
    ask(f, "POST", "/", STR_NONE, LINES(TARGET, "Authorization: AWS4-"));
    expect(f, 400,
           "{\"__type\":\"com.amazon.coral.service#IncompleteSignatureException\",\"message\":\"Authorization header requires 'Credential' parameter. "
           "Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence "
           "of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-\"}",
           "1828866742", "application/json");
    /* The operation is looked for before, the body's kind after. */
    ask(f, "POST", "/", STR("[]"), LINES("X-Amz-Target: DynamoDB_20120810.X", JSON));
    expect(f, 400, "{\"__type\":\"com.amazon.coral.service#UnknownOperationException\"}", NULL, "application/x-amz-json-1.0");
    ask(f, "POST", "/", STR("[]"), LINES(TARGET, JSON));
    assert_true(answer_holds(f, "MissingAuthenticationToken"));
}

/* Signs as a client would, over the body as sent. */
static void ask_signed(struct fixture *f, const char *path, str body, const char *encoding)
{
    static const struct auth_key key = {.access_key = {"AKID", 4}, .secret = {"secret", 6}};
    char stamp[32], authorization[512], date[64], content_encoding[64];
    time_t now = (time_t)(world_wall_us(f->world) / 1000000);
    struct tm parts;
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &parts));
    snprintf(date, sizeof date, "X-Amz-Date: %s", stamp);
    snprintf(content_encoding, sizeof content_encoding, "Content-Encoding: %s", encoding);
    struct auth_header headers[] = {{STR("Host"), STR("db:1")}, {STR("X-Amz-Date"), str_of_text(stamp)}};
    struct auth_request request = {STR("POST"), str_of_text(path), STR_NONE, headers, 2, body};
    struct buf out;
    buf_open(&out, &f->call.arena, 0);
    auth_sign(&f->call, &request, &key, STR("eu-west-1"), str_of_text(stamp), NULL, &out);
    snprintf(authorization, sizeof authorization, "Authorization: %.*s", STR_ARG(buf_str(&out)));
    ask(f, "POST", path, body, LINES(TARGET, JSON, "Host: db:1", date, content_encoding, authorization));
}

static str pack(struct arena *arena, str body, bool gzip)
{
    return api_deflate(arena, body, gzip ? ENCODING_GZIP : ENCODING_DEFLATE);
}

static void signed_requests_pass(void **state)
{
    struct fixture *f = *state;
    ask_signed(f, "/", STR("{}"), "identity");
    expect(f, 200, ENDPOINTS, NULL, "application/x-amz-json-1.0");
    ask_signed(f, "/garbage", STR("{}"), "identity");
    assert_true(answer_holds(f, "UnknownOperation"));
    struct arena arena;
    arena_open(&arena, NULL);
    ask_signed(f, "/", pack(&arena, STR("{}"), true), "gzip");
    expect(f, 200, ENDPOINTS, NULL, "application/x-amz-json-1.0");
    arena_close(&arena);
}

static void long_answers_are_packed(void **state)
{
    struct fixture *f = *state;
    /* A refused signature shows the canonical request, so a long signed header makes a long answer. */
    char filler[5000], authorization[512], date[64];
    memset(filler, 'x', sizeof filler);
    memcpy(filler, "Filler: ", 8);
    filler[sizeof filler - 1] = 0;
    char stamp[32];
    time_t now = (time_t)(world_wall_us(f->world) / 1000000);
    struct tm parts;
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &parts));
    snprintf(date, sizeof date, "X-Amz-Date: %s", stamp);
    snprintf(authorization, sizeof authorization,
             "Authorization: AWS4-HMAC-SHA256 Credential=AKID/%.8s/x/dynamodb/aws4_request,SignedHeaders=host;filler,Signature=0", stamp);
    const struct {
        const char *accept, *encoding;
    } cases[] = {{"Accept-Encoding: gzip", "gzip"}, {"Accept-Encoding: deflate", "deflate"}, {"Accept-Encoding: identity", NULL}};
    uLong plain_crc = 0;
    for (int i = 2; i >= 0; i--) {
        ask(f, "POST", "/", STR("{}"), LINES(TARGET, JSON, "Host: db", date, authorization, filler, cases[i].accept));
        assert_int_equal(f->answer.status, 400);
        const char *encoding = header_of(&f->answer, "Content-Encoding");
        if (!cases[i].encoding) {
            assert_null(encoding);
            assert_true(f->answer.body.len > 5000);
            plain_crc = crc32(0, (const Bytef *)f->answer.body.data, (uInt)f->answer.body.len);
            continue;
        }
        assert_string_equal(encoding, cases[i].encoding);
        assert_true(f->answer.body.len < 1000);
        str plain;
        bool has_no_room;
        assert_true(api_inflate(&f->call.arena, f->answer.body, i == 0 ? ENCODING_GZIP : ENCODING_DEFLATE, 1 << 20, &plain, &has_no_room));
        assert_int_equal(crc32(0, (const Bytef *)plain.data, (uInt)plain.len), plain_crc);
        assert_int_equal(strtoul(header_of(&f->answer, "x-amz-crc32"), NULL, 10), plain_crc);
    }
}

/* Sixteen kilobytes that unpack to sixteen megabytes take what they need and no more, or end with the memory total. */
static void packed_requests_stay_in_their_budget(void **state)
{
    (void)state;
    enum { BYTES = API_BODY_MAX };
    struct arena source, arena;
    struct memory_budget budget = {.limit_bytes = 64 << 20};
    str plain;
    bool has_no_room;
    arena_open(&source, NULL);
    arena_open(&arena, &budget);
    char *large = arena_alloc_text(&source, BYTES);
    memset(large, '1', BYTES);
    str packed = pack(&source, str_of(large, BYTES), true);
    assert_true(packed.len < 32 << 10);
    assert_true(api_inflate(&arena, packed, ENCODING_GZIP, BYTES, &plain, &has_no_room));
    assert_true(plain.len == BYTES && memcmp(plain.data, large, BYTES) == 0);
    assert_true(arena.held_bytes < BYTES + (2 << 20));
    arena_close(&arena);
    budget.limit_bytes = 6 << 20;
    assert_false(api_inflate(&arena, packed, ENCODING_GZIP, BYTES, &plain, &has_no_room));
    assert_true(has_no_room);
    assert_true(arena.held_bytes <= budget.limit_bytes);
    arena_close(&arena);
    arena_close(&source);
}

static void packed_requests(void **state)
{
    struct fixture *f = *state;
    struct arena arena;
    arena_open(&arena, NULL);
    str half = pack(&arena, STR("{  "), true), rest = pack(&arena, STR("  }"), true);
    str two = arena_printf(&arena, "%s", "");
    struct buf joined;
    buf_open(&joined, &arena, 0);
    buf_add_str(&joined, half);
    buf_add_str(&joined, rest);
    two = buf_str(&joined);
    str whole = pack(&arena, STR("{}"), true), deflated = pack(&arena, STR("{}"), false);
    struct buf junk;
    buf_open(&junk, &arena, 0);
    buf_add_str(&junk, whole);
    BUF_ADD_LITERAL(&junk, "junk");
    char *large = arena_alloc_text(&arena, API_BODY_MAX + 1);
    memset(large, ' ', API_BODY_MAX + 1);
    memcpy(large, "{}", 2);
    const struct {
        const char *encoding;
        str body;
        int status;
    } cases[] = {
        {"gzip", whole, 200},
        {"GZIP", two, 200},
        {"deflate", deflated, 200},
        {"identity", STR("{}"), 200},
        {"gzip", pack(&arena, str_of(large, API_BODY_MAX), true), 200},
        {"gzip", pack(&arena, str_of(large, API_BODY_MAX + 1), true), 500},
        {"gzip", buf_str(&junk), 500},
        {"gzip", str_of(whole.data, whole.len - 1), 500},
        {"gzip", STR("{}"), 500},
        {"gzip", STR_NONE, 500},
        {"deflate", STR_NONE, 500},
        {"deflate", STR("{}"), 500},
        {"deflate", whole, 500},
        {"garbage", STR("{}"), 500},
        {"gzip", pack(&arena, STR("{"), true), 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char encoding[64];
        snprintf(encoding, sizeof encoding, "Content-Encoding: %s", cases[i].encoding);
        ask(f, "POST", "/", cases[i].body, LINES(TARGET, JSON, "Host: db:1", encoding));
        if (f->answer.status != cases[i].status)
            print_error("case %zu: %d %.*s\n", i, f->answer.status, STR_ARG(f->answer.body));
        assert_int_equal(f->answer.status, cases[i].status);
        if (cases[i].status == 500)
            assert_true(answer_holds(f, "InternalServerError"));
    }
    arena_close(&arena);
}

/* What AWS chose for each of these, as Scylla's tests have it. */
static void encodings_are_chosen(void **state)
{
    (void)state;
    const struct {
        const char *accept;
        char chosen;
    } cases[] = {
        {"", '-'}, {"identity", '-'}, {"br", '-'}, {"zstd", '-'}, {"x-gzip", '-'}, {"gzip", 'g'}, {"deflate", 'd'}, {"gzip, deflate", 'g'},
        {"br, identity, deflate, gzip", 'd'}, {"GZIP, identity", 'g'}, {"dog, gzip ,, cat", 'g'}, {"gzip;q=0.8, deflate;q=0.5", 'g'},
        {"br, gzip;q=0, deflate; q = 0.5 , identity;q=0", 'd'}, {"*", 'g'}, {"*, deflate;q=0.5", 'g'}, {"*, deflate", 'd'}, {"*, identity", 'g'},
        {"*, gzip;q=0.5", 'd'}, {"gzip ;q=0", '-'}, {"identity;q=0", '-'}, {"*;q=0", '-'}, {"*;q=0.5,identity", 'g'}, {"gzip;q=0.5,identity;q=0.8", 'g'},
        {"br;q=0.8,identity;q=0.5,*;q=0", '-'}, {"\"gzip\"", '-'}, {"gzip br", '-'}, {"gzip:q=1", '-'}, {"deflate;q=0.5, gzip;q=31", 'g'},
        {"gzip;q=31,deflate;q=51", 'g'}, {"deflate;q=0.5, gzip;q=0.2", 'd'}, {"deflate;q=0.5, gzip;q=1;q=0.2", 'g'}, {"deflate;q=0.5,gzip;q=0.", 'd'},
        {"deflate;q=0.5,gzip;q=0.x", 'g'}, {"deflate;q=0.5,gzip;q=0. x", 'g'}, {"deflate;q=-0.5,gzip;q=0.2", 'g'}, {"gzip;q= 0;q=1", '-'},
        {"gzip;q =0;q=1", 'g'}, {"gzip; q=0;q=1", '-'}, {"gzip;nq=0;q=1", '-'}, {"gzip;q=0, gzip;q=1, gzip;q=0", 'g'}, {"br,identity;q=0.5,gzip;q=0.0001", 'g'},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = strlen(cases[i].accept);
        char *exact = malloc(length ? length : 1);
        memcpy(exact, cases[i].accept, length);
        enum api_encoding chosen = api_encoding_choose(str_of(exact, length));
        free(exact);
        char letter = chosen == ENCODING_GZIP ? 'g' : chosen == ENCODING_DEFLATE ? 'd' : '-';
        if (letter != cases[i].chosen)
            print_error("%s: %c\n", cases[i].accept, letter);
        assert_int_equal(letter, cases[i].chosen);
    }
}

static void failed_answers_are_replaced(void **state)
{
    struct fixture *f = *state;
    struct auth_request request = {.method = STR("POST"), .path = STR("/")};
    api_answer_failed(f->api, &f->call, &request, &f->answer);
    expect(f, 500, "{\"__type\":\"com.amazonaws.dynamodb.v20120810#InternalServerError\",\"message\":\"Internal server error\"}", NULL, "application/json");
    api_answer_unavailable(f->api, &f->call, &request, &f->answer);
    assert_int_equal(f->answer.status, 503);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(foreign_requests_are_not_found),
        CASE(health_is_answered),
        CASE(origins_are_allowed),
        CASE(checks_come_in_order),
        cmocka_unit_test_setup_teardown(signatures_are_required, set_up_required, tear_down),
        cmocka_unit_test_setup_teardown(signed_requests_pass, set_up_required, tear_down),
        cmocka_unit_test_setup_teardown(long_answers_are_packed, set_up_required, tear_down),
        CASE(packed_requests_stay_in_their_budget),
        CASE(packed_requests),
        cmocka_unit_test(encodings_are_chosen),
        CASE(failed_answers_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
