/* Signatures: requests that botocore signed, signing and verifying in a circle, and every refusal with its text and its rank. */
#include "auth/auth.h"

#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define NOW_US 1796068800000000 /* 2026-11-30T20:00:00Z */
#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define CREDENTIAL "Credential=AKIDEXAMPLE/20261130/eu-west-2/dynamodb/aws4_request"

struct fixture {
    struct world *world;
    struct auth_cache *cache;
    struct call call;
    struct auth_key key;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->world = world_real_new();
    f->cache = auth_cache_new(f->world);
    call_open(&f->call, f->world, NULL);
    f->key = (struct auth_key){.access_key = STR("AKIDEXAMPLE"), .secret = STR(SECRET), .account = STR("111122223333")};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    call_close(&f->call);
    auth_cache_free(f->cache);
    world_free(f->world);
    free(f);
    return 0;
}

static const struct auth_key *find(void *context, str access_key)
{
    struct fixture *f = context;
    return str_equal(access_key, f->key.access_key) ? &f->key : NULL;
}

/* A request out of "Name: value" lines. */
static struct auth_request request_of(struct fixture *f, const char *method, const char *path, const char *query, const char *body, const char *const *lines)
{
    struct auth_header *headers = ARENA_NEW_ARRAY(&f->call.arena, struct auth_header, 32);
    size_t count = 0;
    for (; lines[count]; count++) {
        str value = str_of_text(lines[count]);
        str name = str_cut(&value, ':');
        headers[count] = (struct auth_header){name, str_trim(value)};
    }
    return (struct auth_request){str_of_text(method), str_of_text(path), str_of_text(query), headers, count, str_of_text(body)};
}

static enum fault verify(struct fixture *f, const struct auth_request *request)
{
    struct auth_claim claim;
    const struct auth_key *key = NULL;
    call_clear_fault(&f->call);
    enum fault fault = auth_verify(&f->call, request, NOW_US, find, f, f->cache, &claim, &key);
    if (fault == FAULT_NONE) {
        assert_ptr_equal(key, &f->key);
        assert_true(str_equal(claim.region, STR("eu-west-2")));
    }
    return fault;
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void expect_fault(struct fixture *f, const struct auth_request *request, enum fault fault, const char *message)
{
    assert_int_equal(verify(f, request), fault);
    assert_int_equal(f->call.message.len, strlen(message));
    assert_memory_equal(f->call.message.data, message, strlen(message));
}

static void botocore_signed(void **state)
{
    struct fixture *f = *state;
    for (int twice = 0; twice < 2; twice++) { /* derived, then from the cache */
        struct auth_request plain = request_of(f, "POST", "/", "", "{}",
            LINES("Host: localhost:8000", "Content-Type: application/x-amz-json-1.0", "X-Amz-Target: DynamoDB_20120810.ListTables",
                  "X-Amz-Date: 20261130T200000Z",
                  "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL ", SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
                  "Signature=93f5212dbbbe7bb84dc8bd1b71ee32d699aeb1a18d1c28bd2156228fcc2ce77b"));
        assert_int_equal(verify(f, &plain), FAULT_NONE);
        struct auth_request odd_path = request_of(f, "POST", "/a%20b//c/../d/", "z=1&a=%2F&b", "",
            LINES("Content-Type: application/x-amz-json-1.0", "Host: localhost:8000", "X-Amz-Date: 20261130T200000Z",
                  "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL ",SignedHeaders=content-type;host;x-amz-date,"
                  "Signature=cb9e7856e58d13cb3ac5462834c290b54826544c8c8476018fef924433e68039"));
        assert_int_equal(verify(f, &odd_path), FAULT_NONE);
    }
}

static void botocore_signed_with_a_token(void **state)
{
    struct fixture *f = *state;
    f->key.session_token = STR("SESSION/TOKEN==");
    struct auth_request request = request_of(f, "POST", "/", "", "{\"TableName\":\"t\",\"Key\":{\"p\":{\"S\":\"\xc3\xa9\"}}}",
        LINES("Host: localhost:8000", "Content-Type: application/x-amz-json-1.0", "X-Amz-Target: DynamoDB_20120810.GetItem", "Meerkat:   Hello    world  ",
              "X-Amz-Date: 20261130T200000Z", "X-Amz-Security-Token: SESSION/TOKEN==",
              "Authorization: AWS4-HMAC-SHA256 " CREDENTIAL ", SignedHeaders=content-type;host;meerkat;x-amz-date;x-amz-security-token;x-amz-target, "
              "Signature=2ffdfd48fdb96f016c14f8d3a94c480d9d78a41942880d8b89f76e59bc2987a5"));
    assert_int_equal(verify(f, &request), FAULT_NONE);
    f->key.expires_us = NOW_US + 1;
    assert_int_equal(verify(f, &request), FAULT_NONE);
    f->key.expires_us = NOW_US;
    expect_fault(f, &request, FAULT_EXPIRED_TOKEN, "The security token included in the request is expired");
    f->key.session_token = STR("SESSION/TOKEN=-");
    expect_fault(f, &request, FAULT_UNRECOGNIZED_CLIENT, "The security token included in the request is invalid");
    f->key.session_token = STR_NONE;
    expect_fault(f, &request, FAULT_UNRECOGNIZED_CLIENT, "The security token included in the request is invalid");
}

static void botocore_signed_in_the_query(void **state)
{
    struct fixture *f = *state;
    const char *query = "Action=x&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20261130%2Feu-west-2%2Fdynamodb%2Faws4_request&"
                        "X-Amz-Date=20261130T200000Z&X-Amz-Expires=300&X-Amz-SignedHeaders=host%3Bx-amz-target&"
                        "X-Amz-Signature=aeffe0527f803a4e3979ce50a2770c837ce053576837aa5fd13d8ac743ed2932";
    struct auth_request request = request_of(f, "POST", "/", query, "", LINES("Host: localhost:8000", "X-Amz-Target: DynamoDB_20120810.ListTables"));
    assert_int_equal(verify(f, &request), FAULT_NONE);
    request.body = STR("{}");
    assert_int_equal(verify(f, &request), FAULT_INVALID_SIGNATURE);
}

/* What proxies may do to headers leaves the signature as it is; what they may not do does not. */
static void headers_are_canonical(void **state)
{
    struct fixture *f = *state;
    struct auth_header headers[] = {{STR("Host"), STR("db")}, {STR("X-Amz-Date"), STR("20261130T200000Z")}, {STR("Meerkat"), STR("a b")},
                                    {STR("Accept"), STR("x")}, {STR("Authorization"), STR_NONE}};
    struct auth_request request = {STR("POST"), STR("/"), STR_NONE, headers, 4, STR("{}")};
    struct buf out;
    buf_open(&out, &f->call.arena, 0);
    auth_sign(&f->call, &request, &f->key, STR("eu-west-2"), STR("20261130T200000Z"), NULL, &out);
    headers[4].value = buf_str(&out);
    request.header_count = 5;
    assert_int_equal(verify(f, &request), FAULT_NONE);
    headers[2] = (struct auth_header){STR("mEERKAT"), STR("  a \t  b ")};
    headers[0].name = STR("HOST");
    assert_int_equal(verify(f, &request), FAULT_NONE);
    struct auth_header kept = headers[1];
    headers[1] = headers[3];
    headers[3] = kept;
    assert_int_equal(verify(f, &request), FAULT_NONE);
    headers[2].value = STR("a c");
    assert_int_equal(verify(f, &request), FAULT_INVALID_SIGNATURE);
    headers[2].value = STR("a b");
    request.method = STR("PUT");
    assert_int_equal(verify(f, &request), FAULT_INVALID_SIGNATURE);
}

/* A value may come in several headers of one name. */
static void headers_of_one_name_are_joined(void **state)
{
    struct fixture *f = *state;
    struct auth_header headers[] = {{STR("Host"), STR("db")}, {STR("X-Amz-Date"), STR("20261130T200000Z")}, {STR("M"), STR("1,2")},
                                    {STR("M"), STR("2")}, {STR("Authorization"), STR_NONE}};
    struct auth_request request = {STR("POST"), STR("/"), STR_NONE, headers, 3, STR("{}")};
    struct buf out;
    buf_open(&out, &f->call.arena, 0);
    auth_sign(&f->call, &request, &f->key, STR("eu-west-2"), STR("20261130T200000Z"), f->cache, &out);
    headers[4].value = buf_str(&out);
    headers[2].value = STR("1");
    request.header_count = 5;
    assert_int_equal(verify(f, &request), FAULT_NONE);
}

static void claims_are_read_leniently(void **state)
{
    struct fixture *f = *state;
    struct auth_claim claim;
    struct auth_request request = request_of(f, "POST", "/", "", "", LINES("Authorization: AWS4-HMAC-SHA256 Credential=k/d/eu-north-1/dynamodb/aws4_request, x"));
    auth_claim_read(&f->call, &request, &claim);
    assert_true(str_equal(claim.region, STR("eu-north-1")) && str_equal(claim.access_key, STR("k")));
    request = request_of(f, "POST", "/", "X-Amz-Credential=k%2Fd%2Feu-north-1", "", LINES("Host: x"));
    auth_claim_read(&f->call, &request, &claim);
    assert_true(str_equal(claim.region, STR("eu-north-1")) && claim.service.len == 0);
    request = request_of(f, "POST", "/", "", "", LINES("Host: x"));
    auth_claim_read(&f->call, &request, &claim);
    assert_int_equal(claim.region.len, 0);
}

static void refused_without_parts(void **state)
{
    struct fixture *f = *state;
    static const char missing[] = "Request is missing Authentication Token";
    struct auth_request request = request_of(f, "POST", "/", "", "", LINES("Host: x"));
    expect_fault(f, &request, FAULT_MISSING_AUTHENTICATION_TOKEN, missing);
    request = request_of(f, "POST", "/", "", "", LINES("Authorization: AWS4"));
    expect_fault(f, &request, FAULT_MISSING_AUTHENTICATION_TOKEN, missing);
    request = request_of(f, "POST", "/", "X-Amz-Algorith", "", LINES("Authorization: X"));
    expect_fault(f, &request, FAULT_MISSING_AUTHENTICATION_TOKEN, missing);
    request = request_of(f, "POST", "/", "X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-SignedHeaders=c&X-Amz-Date=d", "", LINES("Host: x"));
    expect_fault(f, &request, FAULT_MISSING_AUTHENTICATION_TOKEN, missing);
    request = request_of(f, "POST", "/", "X-Amz-Algorithm", "", LINES("Authorization: X"));
    expect_fault(f, &request, FAULT_INVALID_SIGNATURE, "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.");
    request = request_of(f, "POST", "/", "", "", LINES("Authorization: AWS4-"));
    expect_fault(f, &request, FAULT_INCOMPLETE_SIGNATURE,
                 "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. Authorization header requires "
                 "'SignedHeaders' parameter. Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-");
    request = request_of(f, "POST", "/", "", "", LINES("Authorization: AWS4- Signature=b, Credential=a", "Date: a"));
    expect_fault(f, &request, FAULT_INCOMPLETE_SIGNATURE,
                 "Authorization header requires 'SignedHeaders' parameter. Authorization=AWS4- Signature=b, Credential=a");
    request = request_of(f, "POST", "/", "", "", LINES("Authorization: AWS4- Signature=b,Credential,SignedHeaders"));
    expect_fault(f, &request, FAULT_INCOMPLETE_SIGNATURE,
                 "'Credential' not a valid key=value pair (missing equal-sign) in Authorization header: 'AWS4- Signature=b,Credential,SignedHeaders'.");
    request = request_of(f, "POST", "/", "X-Amz-Algorithm", "", LINES("Host: x"));
    expect_fault(f, &request, FAULT_INCOMPLETE_SIGNATURE,
                 "AWS query-string parameters must include 'X-Amz-Algorithm'. AWS query-string parameters must include 'X-Amz-Credential'. AWS query-string "
                 "parameters must include 'X-Amz-Signature'. AWS query-string parameters must include 'X-Amz-SignedHeaders'. AWS query-string parameters must "
                 "include 'X-Amz-Date'. Re-examine the query-string parameters.");
    request = request_of(f, "POST", "/", "X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d", "", LINES("Host: x"));
    expect_fault(f, &request, FAULT_INCOMPLETE_SIGNATURE, "AWS query-string parameters must include 'X-Amz-SignedHeaders'. Re-examine the query-string parameters.");
}

/* One thing after the other is put right, and the next refusal comes. */
static void refused_in_order(void **state)
{
    struct fixture *f = *state;
    struct auth_request request = request_of(f, "POST", "/", "", "", LINES("Host: x", "X-Amz-Date: 201", "Authorization: AWS4-X Credential=a, SignedHeaders=, Signature=s"));
    struct auth_header *headers = (struct auth_header *)request.headers;
    expect_fault(f, &request, FAULT_INCOMPLETE_SIGNATURE, "Date must be in ISO-8601 'basic format'. Got '201'. See http://en.wikipedia.org/wiki/ISO_8601");
    headers[1].value = STR("20261130T194459Z");
    expect_fault(f, &request, FAULT_INVALID_SIGNATURE, "Signature expired: 20261130T194459Z is now earlier than 20261130T194500Z (20261130T200000Z - 15 min.)");
    headers[1].value = STR("20261130T201501Z");
    expect_fault(f, &request, FAULT_INVALID_SIGNATURE,
                 "Signature not yet current: 20261130T201501Z is still later than 20261130T201500Z (20261130T200000Z + 15 min.)");
    headers[1].value = STR("Mon, 30 Nov 2026 20:15:00 GMT");
    expect_fault(f, &request, FAULT_INVALID_SIGNATURE, "'Host' must be a 'SignedHeader' in the AWS Authorization.");
    headers[2].value = STR("AWS4-X Credential=a, SignedHeaders=x-amz-date;HOST, Signature=s");
    expect_fault(f, &request, FAULT_INCOMPLETE_SIGNATURE, "Unsupported AWS 'algorithm': 'AWS4-X' (only AWS4-HMAC-SHA256 for now). ");
    headers[2].value = STR("AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=s");
    expect_fault(f, &request, FAULT_INCOMPLETE_SIGNATURE,
                 "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got 'a'");
    headers[2].value = STR("AWS4-HMAC-SHA256 Credential=a/b/C/d/e, SignedHeaders=host, Signature=s");
    expect_fault(f, &request, FAULT_INVALID_SIGNATURE,
                 "Credential should be scoped to a valid region, not 'C'. Credential should be scoped to correct service: 'dynamodb'. Credential should be scoped "
                 "with a valid terminator: 'aws4_request', not 'e'. Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: 'b' "
                 "!= '20261130', from '20261130T201500Z'.");
    headers[2].value = STR("AWS4-HMAC-SHA256 Credential=a/20261130/c/dynamodb/aws4_request, SignedHeaders=host, Signature=s");
    expect_fault(f, &request, FAULT_UNRECOGNIZED_CLIENT, "The security token included in the request is invalid.");
    headers[2].value = STR("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/c/dynamodb/aws4_request/, SignedHeaders=host, Signature=s");
    expect_fault(f, &request, FAULT_INVALID_SIGNATURE,
                 "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the "
                 "service documentation for details.\n\nThe Canonical String for this request should have been\n'POST\n/\n\nhost:x\n\nhost\n"
                 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'\n\nThe String-to-Sign should have been\n'AWS4-HMAC-SHA256\n20261130T201500Z\n"
                 "20261130/c/dynamodb/aws4_request\nce46b0628e724df0cd77ac0f36f23a1bcee17a31b43afe4eb90ef16bf11e17bf'\n");
}

static void dates_are_real(void **state)
{
    struct fixture *f = *state;
    static const char *const dates[] = {"20261131T200000Z", "20260229T200000Z", "20261130T240000Z", "20261130t200000Z", "20261130T200000Zx", "2026-11-30T20:00:00Z",
                                        "Mon, 31 Nov 2026 20:00:00 GMT", "99999999T999999Z", "Mon, 30 Nov 2026 20:00:00 UTC"};
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) {
        struct auth_request request =
            request_of(f, "POST", "/", "", "", LINES("Host: x", "Authorization: AWS4-X Credential=a, SignedHeaders=, Signature=s"));
        struct auth_header headers[3] = {request.headers[0], request.headers[1], {STR("Date"), str_of_text(dates[i])}};
        request.headers = headers;
        request.header_count = 3;
        assert_int_equal(verify(f, &request), FAULT_INCOMPLETE_SIGNATURE);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(botocore_signed),       CASE(botocore_signed_with_a_token),   CASE(botocore_signed_in_the_query), CASE(headers_are_canonical),
        CASE(headers_of_one_name_are_joined), CASE(claims_are_read_leniently), CASE(refused_without_parts), CASE(refused_in_order),
        CASE(dates_are_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
