/* Writing JSON: strings, base64, numbers, commas. */
#include "json/json.h"
#include "json/json_internal.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void write_escape(struct buf *out, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    char *to = buf_reserve(out, 6);
    to[0] = '\\';
    char brief = byte == '"' || byte == '\\' ? (char)byte
        : byte == '\n' ? 'n'
        : byte == '\r' ? 'r'
        : byte == '\t' ? 't'
        : byte == '\b' ? 'b'
        : byte == '\f' ? 'f'
                       : 0;
    if (brief) {
        to[1] = brief;
        out->len += 2;
        return;
    }
    memcpy(to + 1, "u00", 3);
    to[4] = hex[byte >> 4];
    to[5] = hex[byte & 15];
    out->len += 6;
}

/* From the first byte that needs an escape on, up to the closing quote. */
static __attribute__((noinline)) void write_rest(struct buf *out, const char *at, const char *end)
{
    while (at < end) {
        const char *stop = text_skip_plain(at, end, false);
        buf_add(out, at, (size_t)(stop - at));
        if (stop == end)
            break;
        write_escape(out, (unsigned char)*stop);
        at = stop + 1;
    }
    buf_add_byte(out, '"');
}

/* Whether a byte of the word might need a look: exact for plain ASCII, and any byte of a UTF-8 sequence counts. */
static inline bool word_has_stop(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t quotes = word ^ (ones * '"'), slashes = word ^ (ones * '\\');
    return (((word - ones * 0x20) | (quotes - ones) | (slashes - ones) | word) & tops) != 0;
}

/* Copies up to 16 plain bytes as two words that may overlap; false, and nothing of meaning written, when one may need a look. Names and most
   values are so short that finding the next 16 bytes costs more than they do. */
static inline bool copy_short_plain(char *to, str bytes)
{
    const char *from = bytes.data;
    size_t len = bytes.len;
    if (len >= 8) {
        uint64_t first, last;
        memcpy(&first, from, 8);
        memcpy(&last, from + len - 8, 8);
        memcpy(to, &first, 8);
        memcpy(to + len - 8, &last, 8);
        return !word_has_stop(first) && !word_has_stop(last);
    }
    if (len >= 4) {
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + len - 4, 4);
        memcpy(to, &first, 4);
        memcpy(to + len - 4, &last, 4);
        return !word_has_stop((uint64_t)last << 32 | first);
    }
    if (len == 0)
        return true;
    uint8_t first = (uint8_t)from[0], middle = (uint8_t)from[len / 2], last = (uint8_t)from[len - 1];
    to[0] = (char)first;
    to[len / 2] = (char)middle;
    to[len - 1] = (char)last;
    return !word_has_stop(0x2020202020000000u | (uint64_t)last << 16 | (uint64_t)middle << 8 | first);
}

void json_write_string(struct buf *out, str bytes)
{
    char *to = buf_reserve(out, bytes.len + 2);
    *to = '"';
    if (bytes.len <= 16 && copy_short_plain(to + 1, bytes)) {
        to[1 + bytes.len] = '"';
        out->len += bytes.len + 2;
        return;
    }
    const char *end = bytes.data + bytes.len;
    const char *stop = text_skip_plain(bytes.data, end, false);
    size_t plain = (size_t)(stop - bytes.data);
    if (plain > 0)
        memcpy(to + 1, bytes.data, plain);
    out->len += 1 + plain;
    if (stop == end) {
        to[1 + plain] = '"';
        out->len++;
        return;
    }
    write_rest(out, stop, end);
}

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void json_write_base64(struct buf *out, str bytes)
{
    const unsigned char *from = (const unsigned char *)bytes.data;
    size_t left = bytes.len;
    char *start = buf_reserve(out, (bytes.len + 2) / 3 * 4 + 2);
    char *to = start;
    *to++ = '"';
    for (; left >= 3; left -= 3, from += 3) {
        unsigned three = (unsigned)from[0] << 16 | (unsigned)from[1] << 8 | from[2];
        *to++ = base64_digits[three >> 18];
        *to++ = base64_digits[three >> 12 & 63];
        *to++ = base64_digits[three >> 6 & 63];
        *to++ = base64_digits[three & 63];
    }
    if (left > 0) {
        unsigned rest = (unsigned)from[0] << 16 | (left == 2 ? (unsigned)from[1] << 8 : 0);
        *to++ = base64_digits[rest >> 18];
        *to++ = base64_digits[rest >> 12 & 63];
        *to++ = left == 2 ? base64_digits[rest >> 6 & 63] : '=';
        *to++ = '=';
    }
    *to++ = '"';
    out->len += (size_t)(to - start);
}

/* Digit + 1; 0 is no digit. */
static const uint8_t base64_values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,  ['I'] = 9,  ['J'] = 10, ['K'] = 11,
    ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22,
    ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33,
    ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44,
    ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55,
    ['3'] = 56, ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};

/* Decodes `quads` times four digits without padding; NULL when one is no digit. */
static uint8_t *decode_quads(const unsigned char *from, size_t quads, uint8_t *to)
{
    for (; quads > 0; quads--, from += 4) {
        unsigned a = base64_values[from[0]], b = base64_values[from[1]], c = base64_values[from[2]], d = base64_values[from[3]];
        if (a == 0 || b == 0 || c == 0 || d == 0)
            return NULL;
        unsigned three = (a - 1) << 18 | (b - 1) << 12 | (c - 1) << 6 | (d - 1);
        *to++ = (uint8_t)(three >> 16);
        *to++ = (uint8_t)(three >> 8);
        *to++ = (uint8_t)three;
    }
    return to;
}

/* The last four characters when they end in padding: the bits that padding leaves over must be 0. */
static uint8_t *decode_padded(const unsigned char *from, uint8_t *to)
{
    unsigned a = base64_values[from[0]], b = base64_values[from[1]], c = base64_values[from[2]];
    if (a == 0 || b == 0)
        return NULL;
    *to++ = (uint8_t)((a - 1) << 2 | (b - 1) >> 4);
    if (from[2] == '=')
        return ((b - 1) & 15) == 0 ? to : NULL;
    if (c == 0 || ((c - 1) & 3) != 0)
        return NULL;
    *to++ = (uint8_t)((b - 1) << 4 | (c - 1) >> 2);
    return to;
}

bool base64_decode(str text, struct buf *out)
{
    const unsigned char *from = (const unsigned char *)text.data;
    if (text.len % 4 != 0)
        return false;
    if (text.len == 0)
        return true;
    bool padded = from[text.len - 1] == '=';
    size_t quads = text.len / 4 - padded;
    uint8_t *start = (uint8_t *)buf_reserve(out, text.len / 4 * 3);
    uint8_t *to = decode_quads(from, quads, start);
    if (to && padded)
        to = decode_padded(from + quads * 4, to);
    if (!to)
        return false;
    out->len += (size_t)(to - start);
    return true;
}

bool base64_is_valid(str text)
{
    const unsigned char *from = (const unsigned char *)text.data;
    if (text.len % 4 != 0)
        return false;
    if (text.len == 0)
        return true;
    bool padded = from[text.len - 1] == '=';
    size_t plain = text.len - (padded ? 4 : 0);
    uint8_t scratch[3];
    for (size_t at = 0; at < plain; at++)
        if (base64_values[from[at]] == 0)
            return false;
    return !padded || decode_padded(from + plain, scratch);
}

void json_write_double(struct buf *out, double number)
{
    /* Units and times need no more than nanoseconds; the shortest form that reads back as the same number. */
    enum { DECIMALS_MAX = 9 };
    char text[400];
    int length = 0;
    assert(isfinite(number));
    for (int decimals = 0; decimals <= DECIMALS_MAX; decimals++) {
        length = snprintf(text, sizeof text, "%.*f", decimals, number);
        if (strtod(text, NULL) == number)
            break;
    }
    if (memchr(text, '.', (size_t)length))
        while (text[length - 1] == '0' || text[length - 1] == '.')
            if (text[--length] == '.')
                break;
    if (length == 2 && memcmp(text, "-0", 2) == 0)
        BUF_ADD_LITERAL(out, "0");
    else
        buf_add(out, text, (size_t)length);
}

void json_write_comma(struct buf *out)
{
    char last = out->len > 0 ? out->data[out->len - 1] : '{';
    if (last != '{' && last != '[')
        buf_add_byte(out, ',');
}

void json_write_name(struct buf *out, const char *name)
{
    json_write_comma(out);
    size_t length = strlen(name);
    char *to = buf_reserve(out, length + 3);
    *to++ = '"';
    memcpy(to, name, length);
    memcpy(to + length, "\":", 2);
    out->len += length + 3;
}
