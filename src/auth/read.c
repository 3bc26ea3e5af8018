/* What a request says of who signed it: in its Authorization header, or in its query. */
#include "auth/auth_internal.h"

str auth_header_find(const struct auth_request *request, str name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (request->headers[i].name.len == name.len && str_equal_folded(request->headers[i].name, name))
            return request->headers[i].value;
    return STR_NONE;
}

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte = (char)(byte | 0x20);
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Percent escapes undone; what is no escape stays as it is. */
static str unescape(struct call *call, str text)
{
    if (str_find(text, '%') == text.len)
        return text;
    char *plain = arena_alloc_text(&call->arena, text.len);
    size_t length = 0;
    for (size_t at = 0; at < text.len; at++) {
        int high = text.data[at] == '%' && at + 2 < text.len ? hex_digit(text.data[at + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.data[at + 2]) : -1;
        plain[length++] = low >= 0 ? (char)(high * 16 + low) : text.data[at];
        at += low >= 0 ? 2 : 0;
    }
    return str_of(plain, length);
}

static void read_query(struct call *call, str query, struct auth_parts *parts)
{
    while (query.len > 0) {
        str value = str_cut(&query, '&');
        str name = unescape(call, str_cut(&value, '='));
        if (!str_begins(name, STR("X-Amz-")))
            continue;
        str *part = NULL;
        if (str_equal(name, STR("X-Amz-Algorithm"))) {
            parts->has_query = true;
            part = &parts->algorithm;
        } else if (str_equal(name, STR("X-Amz-Credential"))) {
            part = &parts->credential;
        } else if (str_equal(name, STR("X-Amz-Signature"))) {
            part = &parts->signature;
        } else if (str_equal(name, STR("X-Amz-SignedHeaders"))) {
            part = &parts->signed_headers;
        } else if (str_equal(name, STR("X-Amz-Date"))) {
            part = &parts->date;
        } else if (str_equal(name, STR("X-Amz-Security-Token"))) {
            part = &parts->session_token;
        } else if (str_equal(name, STR("X-Amz-Expires"))) {
            part = &parts->expires;
        }
        if (part)
            *part = unescape(call, value);
    }
    parts->has_signed_headers = parts->signed_headers.len > 0;
}

/* Takes what is before the first comma or blank, and that byte. */
static str cut_part(str *rest)
{
    size_t comma = str_find(*rest, ',');
    size_t end = str_find(str_of(rest->data, comma), ' ');
    str part = str_of(rest->data, end);
    *rest = str_from(*rest, end + 1);
    return part;
}

/* "AWS4-HMAC-SHA256 Credential=..., SignedHeaders=..., Signature=...": parts are set apart by commas, blanks or both. */
static void read_header(const struct auth_request *request, struct auth_parts *parts)
{
    str rest = parts->authorization;
    *parts = (struct auth_parts){.has_header = true, .has_query = parts->has_query, .authorization = rest};
    parts->algorithm = cut_part(&rest);
    while (rest.len > 0) {
        str part = cut_part(&rest);
        if (part.len == 0)
            continue;
        if (str_find(part, '=') == part.len) {
            parts->no_pair = parts->no_pair.len ? parts->no_pair : part;
            continue;
        }
        str value = part;
        str name = str_cut(&value, '=');
        if (str_equal(name, STR("Credential"))) {
            parts->credential = value;
        } else if (str_equal(name, STR("Signature"))) {
            parts->signature = value;
        } else if (str_equal(name, STR("SignedHeaders"))) {
            parts->signed_headers = value;
            parts->has_signed_headers = true;
        }
    }
    str date = str_trim(auth_header_find(request, STR("X-Amz-Date")));
    parts->date = date.len > 0 ? date : str_trim(auth_header_find(request, STR("Date")));
    parts->session_token = str_trim(auth_header_find(request, STR("X-Amz-Security-Token")));
}

void auth_parts_read(struct call *call, const struct auth_request *request, struct auth_parts *parts)
{
    *parts = (struct auth_parts){0};
    if (request->query.len > 0)
        read_query(call, request->query, parts);
    parts->authorization = str_trim(auth_header_find(request, STR("Authorization")));
    if (parts->authorization.len > 0)
        read_header(request, parts);
}

bool auth_credential_split(str credential, struct auth_claim *claim)
{
    while (credential.len > 0 && credential.data[credential.len - 1] == '/')
        credential.len--;
    str *elements[] = {&claim->access_key, &claim->date, &claim->region, &claim->service, &claim->terminator};
    enum { ELEMENTS = sizeof elements / sizeof elements[0] };
    size_t count = 0;
    while (credential.len > 0) {
        str element = str_cut(&credential, '/');
        if (count < ELEMENTS)
            *elements[count] = element;
        count++;
    }
    return count == ELEMENTS;
}

void auth_claim_read(struct call *call, const struct auth_request *request, struct auth_claim *claim)
{
    struct auth_parts parts;
    auth_parts_read(call, request, &parts);
    *claim = (struct auth_claim){.is_query = parts.has_query && !parts.has_header,
                                 .signed_headers = parts.signed_headers,
                                 .signature = parts.signature,
                                 .timestamp = parts.date,
                                 .session_token = parts.session_token};
    auth_credential_split(parts.credential, claim);
}
