/* Reading tokens: strings without their escapes, members by name. */
#include "json/json.h"
#include "json/json_internal.h"

#include <assert.h>

static char *put_utf8(char *to, unsigned point)
{
    if (point < 0x80) {
        *to++ = (char)point;
    } else if (point < 0x800) {
        *to++ = (char)(0xc0 | point >> 6);
        *to++ = (char)(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        *to++ = (char)(0xe0 | point >> 12);
        *to++ = (char)(0x80 | (point >> 6 & 0x3f));
        *to++ = (char)(0x80 | (point & 0x3f));
    } else {
        *to++ = (char)(0xf0 | point >> 18);
        *to++ = (char)(0x80 | (point >> 12 & 0x3f));
        *to++ = (char)(0x80 | (point >> 6 & 0x3f));
        *to++ = (char)(0x80 | (point & 0x3f));
    }
    return to;
}

/* Copies one escape's character; the parser has checked it. */
static const char *unescape_one(const char *at, char **to)
{
    static const char short_names[] = "bfnrt", short_bytes[] = "\b\f\n\r\t";
    if (at[1] != 'u') {
        const char *name = strchr(short_names, at[1]);
        *(*to)++ = name ? short_bytes[name - short_names] : at[1];
        return at + 2;
    }
    unsigned point = (unsigned)hex4_value(at + 2);
    at += 6;
    if (point >= 0xd800 && point <= 0xdbff) {
        point = 0x10000 + ((point - 0xd800) << 10) + ((unsigned)hex4_value(at + 2) - 0xdc00);
        at += 6;
    }
    *to = put_utf8(*to, point);
    return at;
}

str json_string_unescape(const struct json *json, uint32_t token)
{
    str raw = json_raw(json, token);
    assert(json_type(json, token) == JSON_STRING);
    /* No escape is shorter than what it stands for. */
    char *text = arena_alloc_text(json->arena, raw.len);
    char *to = text;
    const char *at = raw.data;
    const char *end = at + raw.len;
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((slash ? slash : end) - at);
        memcpy(to, at, plain);
        to += plain;
        at += plain;
        if (slash)
            at = unescape_one(at, &to);
    }
    return str_of(text, (size_t)(to - text));
}

uint32_t json_member(const struct json *json, uint32_t object, str name)
{
    uint32_t found = JSON_ABSENT;
    if (object == JSON_ABSENT || json_type(json, object) != JSON_OBJECT)
        return JSON_ABSENT;
    for (uint32_t at = json_first(json, object); at < json_end(json, object); at = json_next(json, at + 1)) {
        const struct json_token *token = &json->tokens[at];
        if (!token->has_escape && token->length != name.len)
            continue;
        if (str_equal(json_string(json, at), name))
            found = at + 1;
    }
    return found != JSON_ABSENT && json_type(json, found) == JSON_NULL ? JSON_ABSENT : found;
}
