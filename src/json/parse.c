/* JSON text to tokens, in one pass and without recursion: an open container's `next` names the container around it. */
#include "json/json.h"
#include "json/json_internal.h"

#include <assert.h>

enum { COUNT_MAX = 0xffffff, NO_PARENT = UINT32_MAX };

struct parser {
    const char *start;
    const char *at;
    const char *end;
    struct json_token *tokens;
    uint32_t count;
    uint32_t capacity;
    uint32_t parent; /* the innermost open container */
    uint32_t depth;
    struct arena *arena;
};

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

static void grow(struct parser *parser)
{
    uint32_t capacity = parser->capacity * 2;
    struct json_token *tokens = arena_alloc(parser->arena, capacity * sizeof *tokens);
    memcpy(tokens, parser->tokens, parser->count * sizeof *tokens);
    parser->tokens = tokens;
    parser->capacity = capacity;
}

static struct json_token *push(struct parser *parser, enum json_type type, const char *start, size_t length)
{
    if (parser->count == parser->capacity)
        grow(parser);
    struct json_token *token = &parser->tokens[parser->count++];
    *token = (struct json_token){
        .start = (uint32_t)(start - parser->start),
        .length = (uint32_t)length,
        .next = parser->count,
        .type = type & 0xf,
    };
    return token;
}

const char *utf8_skip(const char *at, const char *end)
{
    const unsigned char *bytes = (const unsigned char *)at;
    size_t left = (size_t)(end - at);
    unsigned lead = bytes[0];
    if (lead < 0xc2 || lead > 0xf4)
        return NULL;
    size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (left < length)
        return NULL;
    /* The second byte's range shuts out overlong forms, surrogates and what is above U+10FFFF. */
    unsigned lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < lowest || bytes[1] > highest)
        return NULL;
    for (size_t next = 2; next < length; next++)
        if ((bytes[next] & 0xc0) != 0x80)
            return NULL;
    return at + length;
}

bool utf8_is_valid(str text)
{
    const char *at = text.data;
    const char *end = at + text.len;
    while (at < end) {
        if (end - at >= 8) {
            uint64_t word;
            memcpy(&word, at, 8);
            if ((word & 0x8080808080808080u) == 0) {
                at += 8;
                continue;
            }
        }
        if ((unsigned char)*at < 0x80)
            at++;
        else if (!(at = utf8_skip(at, end)))
            return false;
    }
    return true;
}

int hex4_value(const char *at)
{
    int value = 0;
    for (int digit = 0; digit < 4; digit++) {
        unsigned char byte = (unsigned char)at[digit];
        int nibble = byte >= '0' && byte <= '9' ? byte - '0' : (byte | 0x20) >= 'a' && (byte | 0x20) <= 'f' ? (byte | 0x20) - 'a' + 10 : -1;
        if (nibble < 0)
            return -1;
        value = value * 16 + nibble;
    }
    return value;
}

/* Behind the escape at `at` (a backslash), or NULL. A high surrogate takes the low one that must follow with it. */
static const char *skip_escape(const char *at, const char *end)
{
    if (end - at < 2)
        return NULL;
    switch (at[1]) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
        return at + 2;
    case 'u':
        break;
    default:
        return NULL;
    }
    int value = end - at < 6 ? -1 : hex4_value(at + 2);
    if (value < 0 || (value >= 0xdc00 && value <= 0xdfff))
        return NULL;
    if (value < 0xd800 || value > 0xdfff)
        return at + 6;
    if (end - at < 12 || at[6] != '\\' || at[7] != 'u')
        return NULL;
    int low = hex4_value(at + 8);
    return low >= 0xdc00 && low <= 0xdfff ? at + 12 : NULL;
}

/* Reads a string whose quote is at `at`, and pushes it. */
static bool read_string(struct parser *parser)
{
    const char *start = parser->at + 1;
    const char *at = start;
    bool has_escape = false;
    for (;;) {
        at = text_skip_plain(at, parser->end, true);
        if (at == parser->end)
            return false;
        if (*at == '"')
            break;
        if (*at == '\\') {
            has_escape = true;
            at = skip_escape(at, parser->end);
        } else {
            at = (unsigned char)*at >= 0x80 ? utf8_skip(at, parser->end) : NULL;
        }
        if (!at)
            return false;
    }
    push(parser, JSON_STRING, start, (size_t)(at - start))->has_escape = has_escape;
    parser->at = at + 1;
    return true;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static bool read_number(struct parser *parser)
{
    const char *at = parser->at + (*parser->at == '-');
    const char *end = parser->end;
    const char *digits = at;
    bool has_fraction = false;
    at = skip_digits(at, end);
    if (at == digits || (*digits == '0' && at - digits > 1))
        return false;
    if (at < end && *at == '.') {
        has_fraction = true;
        digits = at + 1;
        at = skip_digits(digits, end);
        if (at == digits)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        has_fraction = true;
        digits = at + 1;
        if (digits < end && (*digits == '+' || *digits == '-'))
            digits++;
        at = skip_digits(digits, end);
        if (at == digits)
            return false;
    }
    push(parser, JSON_NUMBER, parser->at, (size_t)(at - parser->at))->has_fraction = has_fraction;
    parser->at = at;
    return true;
}

static bool read_word(struct parser *parser, enum json_type type, str word)
{
    if (!str_begins(str_of(parser->at, (size_t)(parser->end - parser->at)), word))
        return false;
    push(parser, type, parser->at, word.len);
    parser->at += word.len;
    return true;
}

static bool open_container(struct parser *parser, enum json_type type)
{
    if (parser->depth == JSON_DEPTH_MAX)
        return false;
    struct json_token *token = push(parser, type, parser->at++, 0);
    token->next = parser->parent;
    parser->parent = parser->count - 1;
    parser->depth++;
    return true;
}

static void close_container(struct parser *parser)
{
    struct json_token *token = &parser->tokens[parser->parent];
    parser->at++;
    token->length = (uint32_t)(parser->at - parser->start) - token->start;
    parser->parent = token->next;
    token->next = parser->count;
    parser->depth--;
}

/* Reads a value that is not a container, or opens one. */
static bool read_value(struct parser *parser)
{
    switch (*parser->at) {
    case '"':
        return read_string(parser);
    case '{':
        return open_container(parser, JSON_OBJECT);
    case '[':
        return open_container(parser, JSON_ARRAY);
    case 't':
        return read_word(parser, JSON_TRUE, STR("true"));
    case 'f':
        return read_word(parser, JSON_FALSE, STR("false"));
    case 'n':
        return read_word(parser, JSON_NULL, STR("null"));
    default:
        return read_number(parser);
    }
}

/* A member's name and its colon, up to the value. */
static bool read_name(struct parser *parser)
{
    if (parser->at == parser->end || *parser->at != '"' || !read_string(parser))
        return false;
    parser->at = skip_blanks(parser->at, parser->end);
    if (parser->at == parser->end || *parser->at != ':')
        return false;
    parser->at = skip_blanks(parser->at + 1, parser->end);
    return true;
}

/* Counts one more member or element of the open container and reads it. */
static bool read_entry(struct parser *parser)
{
    struct json_token *container = &parser->tokens[parser->parent];
    if (container->count == COUNT_MAX)
        return false;
    container->count++;
    if (container->type == JSON_OBJECT && !read_name(parser))
        return false;
    return parser->at < parser->end && read_value(parser);
}

static bool parse(struct parser *parser)
{
    parser->at = skip_blanks(parser->at, parser->end);
    if (parser->at == parser->end || !read_value(parser))
        return false;
    bool opened = parser->depth > 0;
    while (parser->depth > 0) {
        uint8_t type = parser->tokens[parser->parent].type;
        parser->at = skip_blanks(parser->at, parser->end);
        if (parser->at == parser->end)
            return false;
        if (*parser->at == (type == JSON_OBJECT ? '}' : ']')) {
            close_container(parser);
            opened = false;
            continue;
        }
        if (!opened) {
            if (*parser->at != ',')
                return false;
            parser->at = skip_blanks(parser->at + 1, parser->end);
        }
        uint32_t depth = parser->depth;
        if (!read_entry(parser))
            return false;
        opened = parser->depth > depth;
    }
    return skip_blanks(parser->at, parser->end) == parser->end;
}

bool json_parse(struct arena *arena, str text, struct json *json)
{
    *json = (struct json){.text = text, .arena = arena};
    if (text.len == 0 || text.len > JSON_TEXT_MAX)
        return false;
    struct parser parser = {
        .start = text.data,
        .at = text.data,
        .end = text.data + text.len,
        .capacity = (uint32_t)(text.len / 16 + 16),
        .parent = NO_PARENT,
        .arena = arena,
    };
    parser.tokens = arena_alloc(arena, parser.capacity * sizeof *parser.tokens);
    if (!parse(&parser))
        return false;
    json->tokens = parser.tokens;
    json->token_count = parser.count;
    return true;
}
