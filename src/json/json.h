/* JSON text to a flat list of tokens, and text back: no tree, no copies of what has no escapes. */
#ifndef STATOR_JSON_JSON_H
#define STATOR_JSON_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

enum {
    JSON_DEPTH_MAX = 512,          /* arrays and objects inside each other */
    JSON_TEXT_MAX = 64 << 20       /* bytes */
};

/* A token. An object is followed by its members, each a JSON_STRING token (the name) and the value's tokens; an array by
   its elements' tokens. Tokens are named by their index. */
struct json_token {
    uint32_t start;   /* first byte of the text; of a string: behind its quote */
    uint32_t length;  /* bytes of the text; of a string: without quotes, escapes still in it */
    uint32_t next;    /* index of the first token behind this one and all that is in it */
    uint32_t count : 24; /* members of an object, elements of an array; at most 2^24 - 1 */
    uint32_t type : 4;
    uint32_t has_escape : 1;   /* string */
    uint32_t has_fraction : 1; /* number: it has a point or an exponent */
    uint32_t : 2;
};

struct json {
    str text;
    const struct json_token *tokens;
    uint32_t token_count;
    bool has_no_room;    /* json_parse gave up because the arena's budget is used up; the text may be JSON */
    struct arena *arena; /* where unescaped strings go */
};

#define JSON_ABSENT UINT32_MAX /* "no such token"; an enum cannot hold it in ISO C */

/* Reads the whole text (one value, blanks around it) into tokens in the arena. False when it is not JSON as RFC 8259
   has it: bad UTF-8 (also surrogates alone, in bytes or as escapes), a byte order mark, control characters in strings,
   numbers with leading zeros, trailing text, too deep, too long; or when there is no room for so many tokens (has_no_room): a text of a few bytes a
   token takes eight times its length. A duplicate member name is kept; json_member gives the last. */
bool json_parse(struct arena *arena, str text, struct json *json);

static inline enum json_type json_type(const struct json *json, uint32_t token)
{
    return (enum json_type)json->tokens[token].type;
}

/* The value's text as it stands: of a string without its quotes, of all else whole. */
static inline str json_raw(const struct json *json, uint32_t token)
{
    return str_of(json->text.data + json->tokens[token].start, json->tokens[token].length);
}

/* A copy in the arena, without the escapes. */
str json_string_unescape(const struct json *json, uint32_t token);

/* The string's bytes, unescaped (UTF-8). The token must be a JSON_STRING. */
static inline str json_string(const struct json *json, uint32_t token)
{
    return json->tokens[token].has_escape ? json_string_unescape(json, token) : json_raw(json, token);
}

/* The last member's value of that name, or JSON_ABSENT; also JSON_ABSENT when `object` is no object, is JSON_ABSENT, or the member is null. */
uint32_t json_member(const struct json *json, uint32_t object, str name);

/* Walking: for an object, the first name's token; for an array, the first element's. `for (i = json_first(j, t); i < json_end(j, t); i = json_next(j, i))`
   visits an array's elements; for an object, name = i, value = i + 1, then i = json_next(json, i + 1). */
static inline uint32_t json_first(const struct json *json, uint32_t token)
{
    (void)json;
    return token + 1;
}

static inline uint32_t json_end(const struct json *json, uint32_t token)
{
    return json->tokens[token].next;
}

static inline uint32_t json_next(const struct json *json, uint32_t token)
{
    return json->tokens[token].next;
}

/* A quoted string with the escapes that JSON demands and no others. The bytes must be UTF-8. */
void json_write_string(struct buf *out, str bytes);

/* Padded base64 in quotes. */
void json_write_base64(struct buf *out, str bytes);

/* Standard alphabet, padded, canonical: the bytes appended to `out`, or false and nothing appended. */
bool base64_decode(str text, struct buf *out);

/* Whether base64_decode would take it. */
bool base64_is_valid(str text);

/* Whether the bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
bool utf8_is_valid(str text);

/* A whole or decimal number without trailing zeros: 5, 0.5, 12.25. For units and times. */
void json_write_double(struct buf *out, double number);

/* Writing members: a comma where one is needed (the last byte written is no '{' or '['), then "name":. `name` needs no escapes. */
void json_write_name(struct buf *out, const char *name);
void json_write_comma(struct buf *out);

#endif
