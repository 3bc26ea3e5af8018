/* What a request's headers say of where it ends, read strictly: a front and a proxy before it that read them differently can be made to
   see different requests. */
#include "http/http_internal.h"

static bool is_token(str name)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t at = 0; at < name.len; at++) {
        char byte = name.data[at];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
        if (!letter && (byte == 0 || !strchr(others, byte)))
            return false;
    }
    return name.len > 0;
}

/* Control characters have no place in a value; what is above ASCII is left to who reads it. */
static bool is_field_value(str value)
{
    for (size_t at = 0; at < value.len; at++) {
        unsigned char byte = (unsigned char)value.data[at];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
            return false;
    }
    return true;
}

static bool read_length(str digits, uint64_t *length)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < digits.len; at++) {
        if (digits.data[at] < '0' || digits.data[at] > '9' || sum > (UINT64_MAX - 9) / 10)
            return false;
        sum = sum * 10 + (uint64_t)(digits.data[at] - '0');
    }
    *length = sum;
    return digits.len > 0;
}

const char *http_framing_fault(const struct auth_header *headers, size_t count, str method, str target, str version, uint64_t *content_length)
{
    size_t lengths = 0, codings = 0, hosts = 0;
    *content_length = 0;
    if (!is_token(method))
        return "the method is no token";
    if (!is_field_value(target) || str_find(target, ' ') < target.len)
        return "the target holds blanks or control characters";
    for (size_t i = 0; i < count; i++) {
        str name = headers[i].name;
        if (!is_token(name))
            return "a header's name is no token";
        if (!is_field_value(headers[i].value))
            return "a header's value holds control characters";
        if (str_equal_folded(name, STR("Content-Length"))) {
            lengths++;
            if (!read_length(headers[i].value, content_length))
                return "Content-Length is no number";
        } else if (str_equal_folded(name, STR("Transfer-Encoding"))) {
            codings++;
            if (!str_equal_folded(headers[i].value, STR("chunked")))
                return "Transfer-Encoding is not chunked";
        } else if (str_equal_folded(name, STR("Host"))) {
            hosts++;
        }
    }
    if (lengths > 1)
        return "Content-Length stands there twice";
    if (codings > 1)
        return "Transfer-Encoding stands there twice";
    if (lengths > 0 && codings > 0)
        return "Content-Length and Transfer-Encoding exclude each other";
    if (hosts > 1)
        return "Host stands there twice";
    if (hosts == 0 && !str_equal(version, STR("HTTP/1.0")))
        return "Host is missing";
    if (codings > 0 && str_equal(version, STR("HTTP/1.0")))
        return "HTTP/1.0 has no Transfer-Encoding";
    if (codings > 0)
        *content_length = UINT64_MAX;
    return NULL;
}

void http_split_target(str target, str *path, str *query)
{
    /* A proxy's form names the server first. */
    size_t scheme = str_begins(target, STR("http://")) ? 7 : str_begins(target, STR("https://")) ? 8 : 0;
    if (scheme > 0) {
        str rest = str_from(target, scheme);
        size_t end = 0;
        while (end < rest.len && rest.data[end] != '/' && rest.data[end] != '?')
            end++;
        target = str_from(rest, end);
    }
    *query = target;
    *path = str_cut(query, '?');
    if (path->len == 0)
        *path = STR("/");
}
