/* Fuzzes reading and verifying signatures: the input is a request, its first line method, path and query, then headers, an empty line, the body. */
#include "auth/auth.h"

#include "world/world.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADERS_MAX = 24 };

static const struct auth_key key = {{"AKID", 4}, {"secret", 6}, {NULL, 0}, 0, {"000000000000", 12}};

static const struct auth_key *find(void *context, str access_key)
{
    (void)context;
    return str_equal(access_key, key.access_key) ? &key : NULL;
}

/* Every piece in memory of its own and exactly as large, so that sanitizers see a read behind it. */
static str piece(str s, void **owned, size_t *count)
{
    char *copy = malloc(s.len ? s.len : 1);
    assert(copy);
    memcpy(copy, s.len ? s.data : "", s.len);
    owned[(*count)++] = copy;
    return str_of(copy, s.len);
}

/* The front lets only tokens through as names; these three are the fuzzer's own. */
static bool is_signable(str name)
{
    for (size_t at = 0; at < name.len; at++)
        if (!((name.data[at] >= 'a' && name.data[at] <= 'z') || (name.data[at] >= 'A' && name.data[at] <= 'Z') || name.data[at] == '-'))
            return false;
    return name.len > 0 && !str_equal_folded(name, STR("authorization")) && !str_equal_folded(name, STR("x-amz-date")) &&
           !str_equal_folded(name, STR("x-amz-security-token"));
}

/* What a client signs must verify, and must not when its body is another. */
static void check_circle(struct call *call, struct auth_request *request, struct auth_header *headers)
{
    size_t count = 0;
    for (size_t i = 0; i < request->header_count; i++)
        if (is_signable(headers[i].name))
            headers[count++] = headers[i];
    headers[count++] = (struct auth_header){STR("Host"), STR("localhost")};
    headers[count++] = (struct auth_header){STR("X-Amz-Date"), STR("20261130T200000Z")};
    request->header_count = count;
    request->query = STR_NONE;
    struct buf out;
    buf_open(&out, &call->arena, 0);
    auth_sign(call, request, &key, STR("us-east-1"), STR("20261130T200000Z"), NULL, &out);
    headers[count] = (struct auth_header){STR("Authorization"), buf_str(&out)};
    request->header_count = count + 1;
    struct auth_claim claim;
    const struct auth_key *found;
    call_clear_fault(call);
    enum fault fault = auth_verify(call, request, 1796068800000000, find, NULL, NULL, &claim, &found);
    assert(fault == FAULT_NONE && found == &key);
    request->body = arena_printf(&call->arena, "%.*s.", STR_ARG(request->body));
    fault = auth_verify(call, request, 1796068800000000, find, NULL, NULL, &claim, &found);
    assert(fault == FAULT_INVALID_SIGNATURE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct call call;
    call_open(&call, NULL, NULL);
    void *owned[2 * HEADERS_MAX + 4];
    size_t owned_count = 0, count = 0;
    struct auth_header headers[HEADERS_MAX + 4];
    str rest = str_of(data, size);
    str line = str_cut(&rest, '\n');
    struct auth_request request = {.headers = headers};
    request.method = piece(str_cut(&line, ' '), owned, &owned_count);
    request.path = piece(str_cut(&line, '?'), owned, &owned_count);
    request.query = piece(line, owned, &owned_count);
    while (rest.len > 0 && count < HEADERS_MAX) {
        str value = str_cut(&rest, '\n');
        if (value.len == 0)
            break;
        str name = str_cut(&value, ':');
        headers[count].name = piece(name, owned, &owned_count);
        headers[count++].value = piece(value, owned, &owned_count);
    }
    request.header_count = count;
    request.body = piece(rest, owned, &owned_count);
    struct auth_claim claim;
    const struct auth_key *found;
    auth_claim_read(&call, &request, &claim);
    enum fault fault = auth_verify(&call, &request, 1796068800000000, find, NULL, NULL, &claim, &found);
    assert((fault == FAULT_NONE) == (call.fault == FAULT_NONE));
    check_circle(&call, &request, headers);
    call_close(&call);
    while (owned_count > 0)
        free(owned[--owned_count]);
    return 0;
}
