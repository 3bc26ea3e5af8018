/* A call's memory: handed out from chunks, given back all at once. */
#ifndef STATOR_BASE_ARENA_H
#define STATOR_BASE_ARENA_H

#include "base/str.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>

struct arena_chunk;

/* A total that many arenas share: what is in flight, in bytes. A service has one (invariant I7). */
struct memory_budget {
    atomic_size_t used_bytes;
    size_t limit_bytes; /* 0: no limit */
};

struct arena {
    struct arena_chunk *chunks;   /* newest first */
    char *next;                   /* first free byte of the newest chunk */
    char *end;
    size_t held_bytes;            /* of all chunks */
    struct memory_budget *budget; /* told of every chunk, or NULL */
};

/* Places an arena that holds nothing yet. `budget` may be NULL; it is told what the arena holds, and never refuses:
   who admits work asks memory_budget_has() first. */
void arena_open(struct arena *arena, struct memory_budget *budget);

/* Gives back every chunk. The arena may be opened again. */
void arena_close(struct arena *arena);

/* Makes all that was handed out invalid, but keeps the first chunk for the next use. */
void arena_reset(struct arena *arena);

/* Gives back all but what lies in one chunk with `data`, which stays valid; all when `data` is of no chunk. */
void arena_keep(struct arena *arena, const void *data);

/* `bytes` bytes at a 16-byte boundary, not cleared. Never NULL: a machine without memory ends the program with one line. */
void *arena_alloc(struct arena *arena, size_t bytes);
void *arena_alloc_zeroed(struct arena *arena, size_t bytes);

/* Takes back memory of arena_alloc that outgrew itself, if it is so large (over 256 KiB) that it has a chunk of its own; else does nothing. */
void arena_give_back(struct arena *arena, const void *data);

/* Bytes for text, at any boundary. */
char *arena_alloc_text(struct arena *arena, size_t bytes);

#define ARENA_NEW(arena, type) ((type *)arena_alloc_zeroed((arena), sizeof(type)))
#define ARENA_NEW_ARRAY(arena, type, count) ((type *)arena_alloc_zeroed((arena), sizeof(type) * (count)))

str arena_copy(struct arena *arena, str s);

/* A terminated copy. */
char *arena_copy_text(struct arena *arena, str s);

__attribute__((format(printf, 2, 3))) str arena_printf(struct arena *arena, const char *format, ...);
__attribute__((format(printf, 2, 0))) str arena_vprintf(struct arena *arena, const char *format, va_list arguments);

/* Whether `bytes` more would still fit. */
bool memory_budget_has(const struct memory_budget *budget, size_t bytes);
void memory_budget_add(struct memory_budget *budget, size_t bytes);
void memory_budget_remove(struct memory_budget *budget, size_t bytes);

#endif
