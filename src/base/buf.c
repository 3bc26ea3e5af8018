/* Growing buffers: double when full, and grow where they lie when they are the arena's newest piece. */
#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_BYTES = 64 };

void buf_open(struct buf *buf, struct arena *arena, size_t expected_bytes)
{
    *buf = (struct buf){.arena = arena};
    if (expected_bytes > 0)
        buf_reserve(buf, expected_bytes);
}

void buf_free(struct buf *buf)
{
    assert(!buf->arena);
    free(buf->data);
    *buf = (struct buf){0};
}

static bool grow_in_place(struct buf *buf, size_t capacity)
{
    struct arena *arena = buf->arena;
    size_t more = capacity - buf->capacity;
    if (!buf->data || buf->data + buf->capacity != arena->next || (size_t)(arena->end - arena->next) < more)
        return false;
    arena->next += more;
    buf->capacity = capacity;
    return true;
}

static void grow(struct buf *buf, size_t needed)
{
    size_t capacity = buf->capacity < FIRST_BYTES ? FIRST_BYTES : buf->capacity;
    while (capacity < needed)
        capacity = capacity > SIZE_MAX / 4 ? needed : capacity * 2;
    if (buf->arena) {
        if (grow_in_place(buf, capacity))
            return;
        char *data = arena_alloc_text(buf->arena, capacity);
        if (buf->len > 0)
            memcpy(data, buf->data, buf->len);
        buf->data = data;
    } else {
        char *data = realloc(buf->data, capacity);
        if (!data) {
            fprintf(stderr, "stator: the machine has no memory for a buffer of %zu bytes\n", capacity);
            abort();
        }
        buf->data = data;
    }
    buf->capacity = capacity;
}

void buf_grow(struct buf *buf, size_t bytes)
{
    assert(bytes <= SIZE_MAX / 2 - buf->len);
    grow(buf, buf->len + bytes);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t room = buf->capacity - buf->len;
    int length = vsnprintf(buf->data ? buf->data + buf->len : NULL, room, format, arguments);
    assert(length >= 0);
    if ((size_t)length >= room) {
        buf_reserve(buf, (size_t)length + 1);
        vsnprintf(buf->data + buf->len, (size_t)length + 1, format, again);
    }
    buf->len += (size_t)length;
    va_end(again);
    va_end(arguments);
}
