/* Whole numbers as bytes: big-endian words, and varints of 7 bits a byte, low end first. */
#ifndef STATOR_BASE_BYTES_H
#define STATOR_BASE_BYTES_H

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

enum { VARINT_BYTES_MAX = 10 };

static inline void bytes_put_u32(void *at, uint32_t value)
{
    uint32_t big = __builtin_bswap32(value);
    memcpy(at, &big, 4);
}

static inline void bytes_put_u64(void *at, uint64_t value)
{
    uint64_t big = __builtin_bswap64(value);
    memcpy(at, &big, 8);
}

static inline uint32_t bytes_get_u32(const void *at)
{
    uint32_t big;
    memcpy(&big, at, 4);
    return __builtin_bswap32(big);
}

static inline uint64_t bytes_get_u64(const void *at)
{
    uint64_t big;
    memcpy(&big, at, 8);
    return __builtin_bswap64(big);
}

static inline size_t varint_size(uint64_t value)
{
    size_t bytes = 1;
    while (value >= 0x80) {
        value >>= 7;
        bytes++;
    }
    return bytes;
}

/* Writes at most VARINT_BYTES_MAX bytes, returns how many. */
static inline size_t varint_put(uint8_t *at, uint64_t value)
{
    size_t bytes = 0;
    while (value >= 0x80) {
        at[bytes++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    at[bytes++] = (uint8_t)value;
    return bytes;
}

/* Takes a varint from the front of *rest. False, and *rest untouched, when it is cut short or over 64 bits. */
static inline bool varint_take(str *rest, uint64_t *value)
{
    uint64_t sum = 0;
    /* Nearly all are of one byte. */
    if (rest->len > 0 && (uint8_t)rest->data[0] < 0x80) {
        *value = (uint8_t)rest->data[0];
        *rest = str_of(rest->data + 1, rest->len - 1);
        return true;
    }
    for (size_t at = 0; at < rest->len && at < VARINT_BYTES_MAX; at++) {
        uint8_t byte = (uint8_t)rest->data[at];
        if (at == VARINT_BYTES_MAX - 1 && byte > 1)
            return false;
        sum |= (uint64_t)(byte & 0x7f) << (7 * at);
        if (byte < 0x80) {
            *value = sum;
            *rest = str_from(*rest, at + 1);
            return true;
        }
    }
    return false;
}

/* Takes `bytes` bytes from the front of *rest; false, and *rest untouched, when there are fewer. */
static inline bool str_take(str *rest, size_t bytes, str *taken)
{
    if (bytes > rest->len)
        return false;
    *taken = str_of(rest->data, bytes);
    *rest = str_from(*rest, bytes);
    return true;
}

static inline void buf_add_varint(struct buf *buf, uint64_t value)
{
    buf->len += varint_put((uint8_t *)buf_reserve(buf, VARINT_BYTES_MAX), value);
}

static inline void buf_add_u32(struct buf *buf, uint32_t value)
{
    bytes_put_u32(buf_reserve(buf, 4), value);
    buf->len += 4;
}

static inline void buf_add_u64(struct buf *buf, uint64_t value)
{
    bytes_put_u64(buf_reserve(buf, 8), value);
    buf->len += 8;
}

/* A length as varint, then the bytes. */
static inline void buf_add_counted(struct buf *buf, str s)
{
    buf_add_varint(buf, s.len);
    buf_add_str(buf, s);
}

static inline bool str_take_counted(str *rest, str *taken)
{
    str before = *rest;
    uint64_t bytes;
    if (varint_take(rest, &bytes) && bytes <= rest->len && str_take(rest, (size_t)bytes, taken))
        return true;
    *rest = before;
    return false;
}

/* 128 random or derived bits that name a table, an index or a range for ever (invariant I12). */
struct uuid {
    uint8_t bytes[16];
};

static inline bool uuid_equal(struct uuid a, struct uuid b)
{
    return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

enum { UUID_TEXT_BYTES = 36 };

/* 8-4-4-4-12 lower-case hex digits, not terminated. */
void uuid_format(struct uuid id, char text[UUID_TEXT_BYTES]);

#endif
