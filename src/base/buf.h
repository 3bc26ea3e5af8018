/* A growing run of bytes: what encoders and the response writer write into. */
#ifndef STATOR_BASE_BUF_H
#define STATOR_BASE_BUF_H

#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>

struct buf {
    char *data;
    size_t len;          /* bytes written */
    size_t capacity;
    struct arena *arena; /* where it grows; old pieces stay with the arena until it is closed. NULL: malloc, see buf_free */
};

/* Places an empty buffer; `expected_bytes` (may be 0) is a first size. */
void buf_open(struct buf *buf, struct arena *arena, size_t expected_bytes);

/* For a buffer without an arena only. */
void buf_free(struct buf *buf);

/* The slow part of buf_reserve. */
void buf_grow(struct buf *buf, size_t bytes);

/* Makes room for `bytes` more and returns where they go; the caller then adds to len what it wrote. */
static inline char *buf_reserve(struct buf *buf, size_t bytes)
{
    if (buf->capacity - buf->len < bytes || !buf->data)
        buf_grow(buf, bytes);
    return buf->data + buf->len;
}

static inline void buf_add(struct buf *buf, const void *data, size_t bytes)
{
    if (bytes == 0)
        return;
    memcpy(buf_reserve(buf, bytes), data, bytes);
    buf->len += bytes;
}

static inline void buf_add_byte(struct buf *buf, uint8_t byte)
{
    if (buf->len == buf->capacity)
        buf_reserve(buf, 1);
    buf->data[buf->len++] = (char)byte;
}

static inline void buf_add_str(struct buf *buf, str s)
{
    buf_add(buf, s.data, s.len);
}

#define BUF_ADD_LITERAL(buf, literal) buf_add((buf), "" literal, sizeof(literal) - 1)

__attribute__((format(printf, 2, 3))) void buf_printf(struct buf *buf, const char *format, ...);

static inline str buf_str(const struct buf *buf)
{
    return str_of(buf->data, buf->len);
}

#endif
