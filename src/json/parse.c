/* JSON text to tokens, in one pass and without recursion: an open container's `next` names the container around it. */
#include "json/json.h"
#include "json/json_internal.h"

#include <assert.h>

enum { COUNT_MAX = 0xffffff, SMALL_BYTES = 1 << 16, LARGE_BYTES = 1 << 20, SPARE_TOKENS = 2 /* a member's name and the value or container behind it */ };

struct parser {
    const char *start;
    const char *end;
    struct json_token *tokens;
    uint32_t count;
    uint32_t capacity;
    bool has_no_room;
    struct arena *arena;
};

static inline const char *skip_blanks(const char *at, const char *end)
{
    /* Requests are compact: one comparison says so. */
    while (at < end && (unsigned char)*at <= ' ' && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* False when the budget has no room for more. Memory that nobody has written to yet costs nothing, so it is taken first and looked at then. */
static __attribute__((noinline)) bool grow(struct parser *parser)
{
    uint32_t capacity = parser->capacity * 2;
    size_t bytes = capacity * sizeof(struct json_token);
    struct json_token *tokens = arena_alloc(parser->arena, bytes);
    if (bytes > LARGE_BYTES && parser->arena->budget && !memory_budget_has(parser->arena->budget, 0)) {
        arena_give_back(parser->arena, tokens);
        parser->has_no_room = true;
        return false;
    }
    memcpy(tokens, parser->tokens, parser->count * sizeof *tokens);
    arena_give_back(parser->arena, parser->tokens);
    parser->tokens = tokens;
    parser->capacity = capacity;
    return true;
}

/* Needs room for the token. `escape` and `fraction` are the token's flags. */
static inline void push(struct parser *parser, enum json_type type, const char *start, const char *behind, bool escape, bool fraction)
{
    struct json_token *token = &parser->tokens[parser->count++];
    *token = (struct json_token){
        .start = (uint32_t)(start - parser->start),
        .length = (uint32_t)(behind - start),
        .next = parser->count,
        .type = type & 0xf,
        .has_escape = escape,
        .has_fraction = fraction,
    };
}

static inline bool byte_stops(unsigned char byte, bool stop_at_high)
{
    return byte < 0x20 || byte == '"' || byte == '\\' || (stop_at_high && byte >= 0x80);
}

/* Whether one of eight bytes may stop; of bytes of 0x80 and above it always says so. */
static inline bool word_may_stop(const char *at)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t word;
    memcpy(&word, at, 8);
    uint64_t quotes = word ^ (ones * '"'), slashes = word ^ (ones * '\\');
    return (((word - ones * 0x20) | (quotes - ones) | (slashes - ones) | word) & tops) != 0;
}

const char *text_skip_plain_tail(const char *at, const char *end, bool stop_at_high)
{
    while (end - at >= 8 && !word_may_stop(at))
        at += 8;
    while (at < end && !byte_stops((unsigned char)*at, stop_at_high))
        at++;
    return at;
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

/* Goes on from the first byte that is not plain: to the closing quote, or NULL. */
static __attribute__((noinline)) const char *rest_of_string(const char *at, const char *end, bool *has_escape)
{
    while (at && at < end && *at != '"') {
        if (*at == '\\') {
            *has_escape = true;
            at = skip_escape(at, end);
        } else {
            at = (unsigned char)*at >= 0x80 ? utf8_skip(at, end) : NULL;
        }
        if (at)
            at = text_skip_plain(at, end, true);
    }
    return at == end ? NULL : at;
}

/* Reads a string whose opening quote is at `at`; behind its closing quote, or NULL. */
static inline const char *read_string(struct parser *parser, const char *at)
{
    bool has_escape = false;
    const char *start = at + 1;
    at = text_skip_plain(start, parser->end, true);
    if (at == parser->end || *at != '"')
        at = rest_of_string(at, parser->end, &has_escape);
    if (!at)
        return NULL;
    push(parser, JSON_STRING, start, at, has_escape, false);
    return at + 1;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static const char *read_number(struct parser *parser, const char *start)
{
    const char *at = start + (*start == '-');
    const char *end = parser->end;
    const char *digits = at;
    bool has_fraction = false;
    at = skip_digits(at, end);
    if (at == digits || (*digits == '0' && at - digits > 1))
        return NULL;
    if (at < end && *at == '.') {
        has_fraction = true;
        digits = at + 1;
        at = skip_digits(digits, end);
        if (at == digits)
            return NULL;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        has_fraction = true;
        digits = at + 1;
        if (digits < end && (*digits == '+' || *digits == '-'))
            digits++;
        at = skip_digits(digits, end);
        if (at == digits)
            return NULL;
    }
    push(parser, JSON_NUMBER, start, at, false, has_fraction);
    return at;
}

static const char *read_word(struct parser *parser, const char *at, enum json_type type, str word)
{
    if (!str_begins(str_of(at, (size_t)(parser->end - at)), word))
        return NULL;
    push(parser, type, at, at + word.len, false, false);
    return at + word.len;
}

/* Reads a value that is no container. */
static inline const char *read_scalar(struct parser *parser, const char *at)
{
    switch (*at) {
    case '"':
        return read_string(parser, at);
    case 't':
        return read_word(parser, at, JSON_TRUE, STR("true"));
    case 'f':
        return read_word(parser, at, JSON_FALSE, STR("false"));
    case 'n':
        return read_word(parser, at, JSON_NULL, STR("null"));
    default:
        return read_number(parser, at);
    }
}

/* A member's name and its colon, up to the value. */
static inline const char *read_name(struct parser *parser, const char *at)
{
    if (at == parser->end || *at != '"' || !(at = read_string(parser, at)))
        return NULL;
    at = skip_blanks(at, parser->end);
    return at < parser->end && *at == ':' ? skip_blanks(at + 1, parser->end) : NULL;
}

/* Reads one value and returns what is behind it, or NULL. `count` counts the entries of the innermost open container; those of
   the containers around it wait in their tokens. */
static const char *read_value(struct parser *parser, const char *at)
{
    const char *end = parser->end;
    uint32_t parent = JSON_ABSENT, depth = 0, count = 0;
    char closing = 0;
    while (at && at < end) {
        if (*at == '{' || *at == '[') {
            bool object = *at == '{';
            if (depth++ == JSON_DEPTH_MAX)
                return NULL;
            if (parent != JSON_ABSENT)
                parser->tokens[parent].count = count & COUNT_MAX;
            push(parser, object ? JSON_OBJECT : JSON_ARRAY, at, at, false, false);
            parser->tokens[parser->count - 1].next = parent;
            parent = parser->count - 1;
            count = 0;
            closing = object ? '}' : ']';
            at = skip_blanks(at + 1, end);
        } else if (!(at = read_scalar(parser, at)) || parent == JSON_ABSENT) {
            return at;
        } else {
            at = skip_blanks(at, end);
        }
        while (at < end && *at == closing) {
            struct json_token *token = &parser->tokens[parent];
            at++;
            token->length = (uint32_t)(at - parser->start) - token->start;
            token->count = count & COUNT_MAX;
            parent = token->next;
            token->next = parser->count;
            if (--depth == 0)
                return at;
            count = parser->tokens[parent].count;
            closing = parser->tokens[parent].type == JSON_OBJECT ? '}' : ']';
            at = skip_blanks(at, end);
        }
        if (at == end || (count > 0 && *at++ != ',') || count++ == COUNT_MAX)
            return NULL;
        if (parser->capacity - parser->count < SPARE_TOKENS && !grow(parser))
            return NULL;
        at = skip_blanks(at, end);
        if (closing == '}')
            at = read_name(parser, at);
    }
    return NULL;
}

bool json_parse(struct arena *arena, str text, struct json *json)
{
    *json = (struct json){.text = text, .arena = arena};
    if (text.len == 0 || text.len > JSON_TEXT_MAX)
        return false;
    struct parser parser = {
        .start = text.data,
        .end = text.data + text.len,
        /* Small texts mostly fit at once; a large one should not hold memory that it may not need. */
        .capacity = (uint32_t)(text.len / (text.len < SMALL_BYTES ? 8 : 32) + 16),
        .arena = arena,
    };
    parser.tokens = arena_alloc(arena, parser.capacity * sizeof *parser.tokens);
    const char *behind = read_value(&parser, skip_blanks(text.data, parser.end));
    json->has_no_room = parser.has_no_room;
    if (!behind || skip_blanks(behind, parser.end) != parser.end)
        return false;
    json->tokens = parser.tokens;
    json->token_count = parser.count;
    return true;
}
