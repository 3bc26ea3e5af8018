/* The canonical request and the string to sign: what both sides must build from a request to the byte. */
#include "auth/auth_internal.h"

#include <nettle/sha2.h>

static void hash_text(str data, char text[AUTH_HASH_TEXT_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    struct sha256_ctx context;
    uint8_t hash[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    sha256_update(&context, data.len, (const uint8_t *)(data.data ? data.data : ""));
    sha256_digest(&context, sizeof hash, hash);
    for (size_t at = 0; at < sizeof hash; at++) {
        text[2 * at] = digits[hash[at] >> 4];
        text[2 * at + 1] = digits[hash[at] & 15];
    }
}

static bool is_unreserved(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' ||
           byte == '~';
}

static void add_escaped(struct buf *out, char byte)
{
    static const char digits[] = "0123456789ABCDEF";
    if (is_unreserved(byte)) {
        buf_add_byte(out, (uint8_t)byte);
        return;
    }
    char escaped[] = {'%', digits[(unsigned char)byte >> 4], digits[byte & 15]};
    buf_add(out, escaped, sizeof escaped);
}

/* The path without empty and dot segments, escaped once more as it stands. */
static void add_path(struct buf *out, str path)
{
    size_t start = out->len;
    str rest = path;
    bool ends_open = path.len == 0 || path.data[path.len - 1] == '/';
    while (rest.len > 0) {
        str segment = str_cut(&rest, '/');
        if (segment.len == 0 || str_equal(segment, STR(".")))
            continue;
        if (str_equal(segment, STR(".."))) {
            while (out->len > start && out->data[--out->len] != '/') {
            }
            continue;
        }
        buf_add_byte(out, '/');
        for (size_t at = 0; at < segment.len; at++)
            add_escaped(out, segment.data[at]);
    }
    if (out->len == start || ends_open)
        buf_add_byte(out, '/');
}

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte = (char)(byte | 0x20);
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Escapes undone and done again in the one way that counts. */
static str escape_anew(struct call *call, str text)
{
    struct buf out;
    buf_open(&out, &call->arena, text.len + 16);
    for (size_t at = 0; at < text.len; at++) {
        int high = text.data[at] == '%' && at + 2 < text.len ? hex_digit(text.data[at + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.data[at + 2]) : -1;
        add_escaped(&out, low >= 0 ? (char)(high * 16 + low) : text.data[at]);
        at += low >= 0 ? 2 : 0;
    }
    return buf_str(&out);
}

struct pair {
    str name, value;
};

static int pair_compare(const struct pair *a, const struct pair *b)
{
    int order = str_compare(a->name, b->name);
    return order != 0 ? order : str_compare(a->value, b->value);
}

/* By halves: a client may send as many as its request line holds. */
static void pairs_sort(struct pair *pairs, struct pair *scratch, size_t count)
{
    if (count < 2)
        return;
    size_t half = count / 2;
    pairs_sort(pairs, scratch, half);
    pairs_sort(pairs + half, scratch, count - half);
    memcpy(scratch, pairs, half * sizeof *pairs);
    for (size_t left = 0, right = half, to = 0; left < half; to++) {
        bool take_right = right < count && pair_compare(&pairs[right], &scratch[left]) < 0;
        pairs[to] = take_right ? pairs[right] : scratch[left];
        right += take_right;
        left += !take_right;
    }
}

static void add_query(struct call *call, struct buf *out, str query, bool is_query)
{
    if (query.len == 0)
        return;
    size_t most = 1, count = 0;
    for (size_t at = 0; at < query.len; at++)
        most += query.data[at] == '&';
    struct pair *pairs = ARENA_NEW_ARRAY(&call->arena, struct pair, most);
    struct pair *scratch = ARENA_NEW_ARRAY(&call->arena, struct pair, most);
    while (query.len > 0) {
        str value = str_cut(&query, '&');
        str name = str_cut(&value, '=');
        if (name.len == 0 && value.len == 0)
            continue;
        struct pair pair = {escape_anew(call, name), escape_anew(call, value)};
        if (!is_query || !str_equal(pair.name, STR("X-Amz-Signature")))
            pairs[count++] = pair;
    }
    pairs_sort(pairs, scratch, count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_byte(out, '&');
        buf_add_str(out, pairs[i].name);
        buf_add_byte(out, '=');
        buf_add_str(out, pairs[i].value);
    }
}

static bool is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Whether a byte is a blank or a control character, eight at a time: most values have none. */
static bool has_blank(str value)
{
    const uint64_t ones = 0x0101010101010101U, high = ones << 7;
    uint64_t found = 0;
    size_t at = 0;
    for (; at + 8 <= value.len; at += 8) {
        uint64_t word;
        memcpy(&word, value.data + at, 8);
        found |= (word - ones * 0x21) & ~word & high;
    }
    for (; at < value.len; at++)
        found |= (unsigned char)value.data[at] < 0x21;
    return found != 0;
}

/* Blanks at the ends go, runs of them inside become one. */
static void add_value(struct buf *out, str value)
{
    if (!has_blank(value)) {
        buf_add_str(out, value);
        return;
    }
    char *to = buf_reserve(out, value.len);
    size_t length = 0;
    bool gap = false;
    for (size_t at = 0; at < value.len; at++) {
        if (is_blank(value.data[at])) {
            gap = length > 0;
            continue;
        }
        if (gap)
            to[length++] = ' ';
        gap = false;
        to[length++] = value.data[at];
    }
    out->len += length;
}

static void add_lower(struct buf *out, str name)
{
    char *to = buf_reserve(out, name.len);
    for (size_t at = 0; at < name.len; at++)
        to[at] = name.data[at] >= 'A' && name.data[at] <= 'Z' ? (char)(name.data[at] | 0x20) : name.data[at];
    out->len += name.len;
}

/* Several headers of one name count as one, their values joined by commas. */
static void add_header(struct buf *out, const struct auth_request *request, str name)
{
    add_lower(out, name);
    buf_add_byte(out, ':');
    bool first = true;
    for (size_t i = 0; i < request->header_count; i++) {
        if (request->headers[i].name.len != name.len || !str_equal_folded(request->headers[i].name, name))
            continue;
        if (!first)
            buf_add_byte(out, ',');
        add_value(out, request->headers[i].value);
        first = false;
    }
    buf_add_byte(out, '\n');
}

str auth_canonical(struct call *call, const struct auth_request *request, str signed_headers, bool is_query)
{
    struct buf out;
    buf_open(&out, &call->arena, 1024);
    buf_add_str(&out, request->method);
    buf_add_byte(&out, '\n');
    add_path(&out, request->path);
    buf_add_byte(&out, '\n');
    add_query(call, &out, request->query, is_query);
    buf_add_byte(&out, '\n');
    for (str rest = signed_headers; rest.len > 0;)
        add_header(&out, request, str_cut(&rest, ';'));
    buf_add_byte(&out, '\n');
    add_lower(&out, signed_headers);
    buf_add_byte(&out, '\n');
    hash_text(request->body, buf_reserve(&out, AUTH_HASH_TEXT_BYTES));
    out.len += AUTH_HASH_TEXT_BYTES;
    return buf_str(&out);
}

str auth_string_to_sign(struct call *call, str timestamp, str date, str region, str canonical)
{
    struct buf out;
    buf_open(&out, &call->arena, 256);
    BUF_ADD_LITERAL(&out, AUTH_ALGORITHM "\n");
    buf_add_str(&out, timestamp);
    buf_add_byte(&out, '\n');
    buf_add_str(&out, date);
    buf_add_byte(&out, '/');
    buf_add_str(&out, region);
    BUF_ADD_LITERAL(&out, "/dynamodb/aws4_request\n");
    hash_text(canonical, buf_reserve(&out, AUTH_HASH_TEXT_BYTES));
    out.len += AUTH_HASH_TEXT_BYTES;
    return buf_str(&out);
}
