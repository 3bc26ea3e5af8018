/* Verification: one check after the other in AWS's order, each with its own text (reference wire.md section 5). */
#include "auth/auth_internal.h"

#include <nettle/memops.h>

enum { WINDOW_US = 15 * 60 * 1000000, REGION_BYTES_MAX = 64 };

/* Which parts are missing, all of them in one text. */
static enum fault check_header_parts(struct call *call, const struct auth_parts *parts)
{
    if (parts->no_pair.len > 0)
        return fail(call, FAULT_INCOMPLETE_SIGNATURE, "'%.*s' not a valid key=value pair (missing equal-sign) in Authorization header: '%.*s'.",
                    STR_ARG(parts->no_pair), STR_ARG(parts->authorization));
    struct buf missing;
    buf_open(&missing, &call->arena, 256);
    if (parts->credential.len == 0)
        BUF_ADD_LITERAL(&missing, "Authorization header requires 'Credential' parameter. ");
    if (parts->signature.len == 0)
        BUF_ADD_LITERAL(&missing, "Authorization header requires 'Signature' parameter. ");
    if (!parts->has_signed_headers)
        BUF_ADD_LITERAL(&missing, "Authorization header requires 'SignedHeaders' parameter. ");
    if (parts->date.len == 0)
        BUF_ADD_LITERAL(&missing, "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ");
    if (missing.len == 0)
        return FAULT_NONE;
    return fail(call, FAULT_INCOMPLETE_SIGNATURE, "%.*sAuthorization=%.*s", STR_ARG(buf_str(&missing)), STR_ARG(parts->authorization));
}

static enum fault check_query_parts(struct call *call, const struct auth_parts *parts)
{
    const struct {
        const char *name;
        str value;
    } wanted[] = {{"Algorithm", parts->algorithm},
                  {"Credential", parts->credential},
                  {"Signature", parts->signature},
                  {"SignedHeaders", parts->signed_headers},
                  {"Date", parts->date}};
    struct buf missing;
    buf_open(&missing, &call->arena, 384);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (wanted[i].value.len == 0)
            buf_printf(&missing, "AWS query-string parameters must include 'X-Amz-%s'. ", wanted[i].name);
    if (missing.len == 0)
        return FAULT_NONE;
    return fail(call, FAULT_INCOMPLETE_SIGNATURE, "%.*sRe-examine the query-string parameters.", STR_ARG(buf_str(&missing)));
}

static enum fault check_presence(struct call *call, const struct auth_parts *parts)
{
    if (parts->has_header && parts->has_query)
        return fail(call, FAULT_INVALID_SIGNATURE, "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.");
    if ((!parts->has_header && !parts->has_query) || (parts->has_header && !str_begins(parts->authorization, STR("AWS4-"))))
        return fail(call, FAULT_MISSING_AUTHENTICATION_TOKEN, "Request is missing Authentication Token");
    return parts->has_header ? check_header_parts(call, parts) : check_query_parts(call, parts);
}

/* How long the signature holds: 15 minutes, or less when a query says so. */
static int64_t window_us(const struct auth_parts *parts, bool is_query)
{
    int64_t seconds = 0;
    if (!is_query || parts->expires.len == 0 || parts->expires.len > 6)
        return WINDOW_US;
    for (size_t at = 0; at < parts->expires.len; at++) {
        if (parts->expires.data[at] < '0' || parts->expires.data[at] > '9')
            return WINDOW_US;
        seconds = seconds * 10 + (parts->expires.data[at] - '0');
    }
    return seconds * 1000000 < WINDOW_US ? seconds * 1000000 : WINDOW_US;
}

/* Sets the claim's timestamp in the form that was signed. */
static enum fault check_date(struct call *call, const struct auth_parts *parts, int64_t now_us, struct auth_claim *claim)
{
    int64_t time_us;
    char *timestamp = arena_alloc_text(&call->arena, AUTH_TIMESTAMP_BYTES);
    if (!auth_time_read(parts->date, &time_us, timestamp))
        return fail(call, FAULT_INCOMPLETE_SIGNATURE, "Date must be in ISO-8601 'basic format'. Got '%.*s'. See http://en.wikipedia.org/wiki/ISO_8601",
                    STR_ARG(parts->date));
    claim->timestamp = str_of(timestamp, AUTH_TIMESTAMP_BYTES);
    int64_t window = window_us(parts, claim->is_query);
    if (time_us >= now_us - window && time_us <= now_us + WINDOW_US)
        return FAULT_NONE;
    char now[AUTH_TIMESTAMP_BYTES], edge[AUTH_TIMESTAMP_BYTES];
    auth_time_write(now_us, now);
    if (time_us < now_us - window) {
        auth_time_write(now_us - window, edge);
        return fail(call, FAULT_INVALID_SIGNATURE, "Signature expired: %.16s is now earlier than %.16s (%.16s - 15 min.)", timestamp, edge, now);
    }
    auth_time_write(now_us + WINDOW_US, edge);
    return fail(call, FAULT_INVALID_SIGNATURE, "Signature not yet current: %.16s is still later than %.16s (%.16s + 15 min.)", timestamp, edge, now);
}

static bool is_signed(str signed_headers, str name)
{
    while (signed_headers.len > 0)
        if (str_equal_folded(str_cut(&signed_headers, ';'), name))
            return true;
    return false;
}

static bool region_is_valid(str region)
{
    for (size_t at = 0; at < region.len; at++) {
        char byte = region.data[at];
        if (!((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-'))
            return false;
    }
    return region.len > 0 && region.len <= REGION_BYTES_MAX;
}

static enum fault check_scope(struct call *call, const struct auth_claim *claim)
{
    str day = str_of(claim->timestamp.data, AUTH_DATE_BYTES);
    struct buf wrong;
    buf_open(&wrong, &call->arena, 384);
    if (!region_is_valid(claim->region))
        buf_printf(&wrong, "Credential should be scoped to a valid region, not '%.*s'. ", STR_ARG(claim->region));
    if (!str_equal(claim->service, STR("dynamodb")))
        BUF_ADD_LITERAL(&wrong, "Credential should be scoped to correct service: 'dynamodb'. ");
    if (!str_equal(claim->terminator, STR("aws4_request")))
        buf_printf(&wrong, "Credential should be scoped with a valid terminator: 'aws4_request', not '%.*s'. ", STR_ARG(claim->terminator));
    if (!str_equal(claim->date, day))
        buf_printf(&wrong, "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '%.*s' != '%.*s', from '%.*s'.",
                   STR_ARG(claim->date), STR_ARG(day), STR_ARG(claim->timestamp));
    if (wrong.len == 0)
        return FAULT_NONE;
    return fail(call, FAULT_INVALID_SIGNATURE, "%.*s", STR_ARG(buf_str(&wrong)));
}

static enum fault check_signature(struct call *call, const struct auth_request *request, const struct auth_claim *claim, str secret, struct auth_cache *cache)
{
    str canonical = auth_canonical(call, request, claim->signed_headers, claim->is_query);
    str text = auth_string_to_sign(call, claim->timestamp, claim->date, claim->region, canonical);
    char signature[AUTH_HASH_TEXT_BYTES];
    auth_signature(cache, secret, claim->date, claim->region, text, signature);
    if (claim->signature.len == sizeof signature && memeql_sec(claim->signature.data, signature, sizeof signature))
        return FAULT_NONE;
    return fail(call, FAULT_INVALID_SIGNATURE,
                "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. "
                "Consult the service documentation for details.\n\nThe Canonical String for this request should have been\n'%.*s'\n\n"
                "The String-to-Sign should have been\n'%.*s'\n",
                STR_ARG(canonical), STR_ARG(text));
}

static enum fault check_session(struct call *call, const struct auth_key *key, str token, int64_t now_us)
{
    bool equal = token.len == key->session_token.len && (token.len == 0 || memeql_sec(token.data, key->session_token.data, token.len));
    if (!equal)
        return fail(call, FAULT_UNRECOGNIZED_CLIENT, "The security token included in the request is invalid");
    if (key->expires_us != 0 && now_us >= key->expires_us)
        return fail(call, FAULT_EXPIRED_TOKEN, "The security token included in the request is expired");
    return FAULT_NONE;
}

enum fault auth_verify(struct call *call, const struct auth_request *request, int64_t now_us, auth_key_find find, void *context, struct auth_cache *cache,
    struct auth_claim *claim, const struct auth_key **key)
{
    struct auth_parts parts;
    auth_parts_read(call, request, &parts);
    TRY(check_presence(call, &parts));
    *claim = (struct auth_claim){.is_query = !parts.has_header,
                                 .signed_headers = parts.signed_headers,
                                 .signature = parts.signature,
                                 .session_token = parts.session_token};
    TRY(check_date(call, &parts, now_us, claim));
    if (!is_signed(parts.signed_headers, STR("host")))
        return fail(call, FAULT_INVALID_SIGNATURE, "'Host' must be a 'SignedHeader' in the AWS Authorization.");
    if (!str_equal(parts.algorithm, STR(AUTH_ALGORITHM)))
        return fail(call, FAULT_INCOMPLETE_SIGNATURE, "Unsupported AWS 'algorithm': '%.*s' (only AWS4-HMAC-SHA256 for now). ", STR_ARG(parts.algorithm));
    if (!auth_credential_split(parts.credential, claim))
        return fail(call, FAULT_INCOMPLETE_SIGNATURE,
                    "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '%.*s'", STR_ARG(parts.credential));
    TRY(check_scope(call, claim));
    *key = find(context, claim->access_key);
    if (!*key)
        return fail(call, FAULT_UNRECOGNIZED_CLIENT, "The security token included in the request is invalid.");
    TRY(check_signature(call, request, claim, (*key)->secret, cache));
    return check_session(call, *key, claim->session_token, now_us);
}
