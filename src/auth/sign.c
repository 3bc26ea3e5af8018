/* Signing, as clients do it. */
#include "auth/auth_internal.h"

#include <assert.h>

enum { SIGNED_HEADERS_MAX = 32 };

/* What proxies may change or drop is better not signed. */
static bool is_left_out(str name)
{
    static const char *const names[] = {"authorization", "user-agent", "connection", "expect", "accept-encoding", "content-length", "transfer-encoding"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (str_equal_folded(name, str_of_text(names[i])))
            return true;
    return false;
}

static str lower(struct call *call, str name)
{
    char *text = arena_alloc_text(&call->arena, name.len);
    for (size_t at = 0; at < name.len; at++)
        text[at] = name.data[at] >= 'A' && name.data[at] <= 'Z' ? (char)(name.data[at] | 0x20) : name.data[at];
    return str_of(text, name.len);
}

/* "host;x-amz-date": in order, each name once. */
static str signed_headers_of(struct call *call, const struct auth_request *request)
{
    str names[SIGNED_HEADERS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < request->header_count; i++) {
        if (is_left_out(request->headers[i].name))
            continue;
        str name = lower(call, request->headers[i].name);
        size_t at = 0;
        while (at < count && str_compare(names[at], name) < 0)
            at++;
        if (at < count && str_equal(names[at], name))
            continue;
        assert(count < SIGNED_HEADERS_MAX);
        memmove(&names[at + 1], &names[at], (count - at) * sizeof names[0]);
        names[at] = name;
        count++;
    }
    struct buf out;
    buf_open(&out, &call->arena, 256);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_byte(&out, ';');
        buf_add_str(&out, names[i]);
    }
    return buf_str(&out);
}

void auth_sign(struct call *call, const struct auth_request *request, const struct auth_key *key, str region, str timestamp, struct auth_cache *cache,
    struct buf *out)
{
    assert(timestamp.len == AUTH_TIMESTAMP_BYTES);
    str date = str_of(timestamp.data, AUTH_DATE_BYTES);
    str signed_headers = signed_headers_of(call, request);
    str text = auth_string_to_sign(call, timestamp, date, region, auth_canonical(call, request, signed_headers, false));
    char signature[AUTH_HASH_TEXT_BYTES];
    auth_signature(cache, key->secret, date, region, text, signature);
    buf_printf(out, AUTH_ALGORITHM " Credential=%.*s/%.*s/%.*s/dynamodb/aws4_request, SignedHeaders=%.*s, Signature=", STR_ARG(key->access_key), STR_ARG(date),
               STR_ARG(region), STR_ARG(signed_headers));
    buf_add(out, signature, sizeof signature);
}
