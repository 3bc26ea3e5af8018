/* What a request's headers say of where it ends, read strictly: a front and a proxy before it that read them differently can be made to
   see different requests. */
#include "http/http_internal.h"

/* Letters, digits and !#$%&'*+-.^_`|~ : a bit for each byte below 128. */
static const uint64_t token_bytes[2] = {0x03ff6cfa00000000U, 0x57ffffffc7fffffeU};

static bool is_token(str name)
{
    bool sound = name.len > 0;
    for (size_t at = 0; at < name.len; at++) {
        unsigned char byte = (unsigned char)name.data[at];
        sound &= byte < 128 && (token_bytes[byte >> 6 & 1] >> (byte & 63) & 1);
    }
    return sound;
}

static bool is_value_byte(unsigned char byte)
{
    return (byte >= 0x20 || byte == '\t') && byte != 0x7f;
}

/* Control characters have no place in a value; what is above ASCII is left to who reads it. Eight bytes at a time, because every byte of
   every request comes by: the high bit of a byte shows in the sum when the byte is below 0x20 or is 0x7f. */
static bool is_field_value(str value)
{
    const uint64_t ones = 0x0101010101010101U, high = ones << 7;
    bool sound = true;
    size_t at = 0;
    for (; at + 8 <= value.len; at += 8) {
        uint64_t word;
        memcpy(&word, value.data + at, 8);
        uint64_t low = (word - ones * 0x20) & ~word, deleted = word ^ ones * 0x7f;
        if ((low | ((deleted - ones) & ~deleted)) & high)
            for (size_t byte = 0; byte < 8; byte++)
                sound &= is_value_byte((unsigned char)value.data[at + byte]);
    }
    for (; at < value.len; at++)
        sound &= is_value_byte((unsigned char)value.data[at]);
    return sound;
}

static bool is_named(const struct auth_header *header, str name)
{
    return header->name.len == name.len && str_equal_folded(header->name, name);
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
        if (!is_token(headers[i].name))
            return "a header's name is no token";
        if (!is_field_value(headers[i].value))
            return "a header's value holds control characters";
        if (is_named(&headers[i], STR("Content-Length"))) {
            lengths++;
            if (!read_length(headers[i].value, content_length))
                return "Content-Length is no number";
        } else if (is_named(&headers[i], STR("Transfer-Encoding"))) {
            codings++;
            if (!str_equal_folded(headers[i].value, STR("chunked")))
                return "Transfer-Encoding is not chunked";
        } else if (is_named(&headers[i], STR("Host"))) {
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
