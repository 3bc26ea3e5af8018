/* Arenas: chunks that double from 4 to 256 KiB; what is large gets a chunk of its own, and does not end the current one. */
#include "base/arena.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* Under AddressSanitizer every allocation is followed by a gap that may not be touched, so that overruns inside an arena show. */
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_GUARDS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_GUARDS 1
#endif
#endif
#ifdef ARENA_GUARDS
#include <sanitizer/asan_interface.h>
enum { GAP_BYTES = 8 };
#else
enum { GAP_BYTES = 0 };
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

enum { CHUNK_BYTES_FIRST = 4096, CHUNK_BYTES_MAX = 256 << 10, OWN_CHUNK_BYTES = 64 << 10, BOUNDARY = 16 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t bytes; /* with this header */
};

_Static_assert(sizeof(struct arena_chunk) % BOUNDARY == 0, "data behind the header starts at the boundary");

static void no_memory(size_t bytes)
{
    fprintf(stderr, "stator: the machine has no memory for %zu more bytes\n", bytes);
    abort();
}

void arena_open(struct arena *arena, struct memory_budget *budget)
{
    *arena = (struct arena){.budget = budget};
}

static void chunk_free(struct arena *arena, struct arena_chunk *chunk)
{
    arena->held_bytes -= chunk->bytes;
    if (arena->budget)
        memory_budget_remove(arena->budget, chunk->bytes);
    ASAN_UNPOISON_MEMORY_REGION(chunk, chunk->bytes);
    free(chunk);
}

void arena_close(struct arena *arena)
{
    while (arena->chunks) {
        struct arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        chunk_free(arena, chunk);
    }
    arena->next = arena->end = NULL;
}

static void use_chunk(struct arena *arena, struct arena_chunk *chunk)
{
    arena->next = (char *)(chunk + 1);
    arena->end = (char *)chunk + chunk->bytes;
    ASAN_POISON_MEMORY_REGION(arena->next, (size_t)(arena->end - arena->next));
}

void arena_reset(struct arena *arena)
{
    struct arena_chunk *kept = NULL;
    for (struct arena_chunk *chunk = arena->chunks; chunk; chunk = chunk->next)
        if (chunk->bytes <= CHUNK_BYTES_MAX)
            kept = chunk;
    while (arena->chunks) {
        struct arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        if (chunk != kept)
            chunk_free(arena, chunk);
    }
    arena->chunks = kept;
    arena->next = arena->end = NULL;
    if (kept) {
        kept->next = NULL;
        use_chunk(arena, kept);
    }
}

void arena_keep(struct arena *arena, const void *data)
{
    struct arena_chunk *kept = NULL;
    while (arena->chunks) {
        struct arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        if ((const char *)data > (const char *)chunk && (const char *)data < (const char *)chunk + chunk->bytes)
            kept = chunk;
        else
            chunk_free(arena, chunk);
    }
    arena->chunks = kept;
    arena->next = arena->end = NULL;
    if (kept)
        kept->next = NULL;
}

static struct arena_chunk *chunk_new(struct arena *arena, size_t bytes)
{
    struct arena_chunk *chunk = malloc(bytes);
    if (!chunk)
        no_memory(bytes);
    chunk->bytes = bytes;
    arena->held_bytes += bytes;
    if (arena->budget)
        memory_budget_add(arena->budget, bytes);
    return chunk;
}

static void *alloc_own_chunk(struct arena *arena, size_t bytes)
{
    struct arena_chunk *chunk = chunk_new(arena, sizeof(struct arena_chunk) + bytes + GAP_BYTES);
    struct arena_chunk **at = arena->chunks ? &arena->chunks->next : &arena->chunks;
    chunk->next = *at;
    *at = chunk;
    if (at == &arena->chunks)
        arena->next = arena->end = (char *)chunk + chunk->bytes;
    char *data = (char *)(chunk + 1);
    ASAN_POISON_MEMORY_REGION(data + bytes, GAP_BYTES);
    return data;
}

static void *alloc_in_new_chunk(struct arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        no_memory(bytes);
    if (bytes >= OWN_CHUNK_BYTES)
        return alloc_own_chunk(arena, bytes);
    size_t chunk_bytes = CHUNK_BYTES_FIRST;
    if (arena->chunks)
        chunk_bytes = arena->chunks->bytes < CHUNK_BYTES_MAX / 2 ? arena->chunks->bytes * 2 : CHUNK_BYTES_MAX;
    while (chunk_bytes < sizeof(struct arena_chunk) + bytes + GAP_BYTES)
        chunk_bytes *= 2;
    struct arena_chunk *chunk = chunk_new(arena, chunk_bytes);
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    use_chunk(arena, chunk);
    char *data = arena->next;
    arena->next += bytes + GAP_BYTES;
    ASAN_UNPOISON_MEMORY_REGION(data, bytes);
    return data;
}

static void *alloc_at(struct arena *arena, size_t bytes, size_t boundary)
{
    size_t skip = (size_t)(-(uintptr_t)arena->next & (boundary - 1));
    size_t room = (size_t)(arena->end - arena->next);
    if (!arena->next || bytes > SIZE_MAX / 2 || room < skip + bytes + GAP_BYTES)
        return alloc_in_new_chunk(arena, bytes);
    char *data = arena->next + skip;
    arena->next = data + bytes + GAP_BYTES;
    ASAN_UNPOISON_MEMORY_REGION(data, bytes);
    return data;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    return alloc_at(arena, bytes, BOUNDARY);
}

void arena_give_back(struct arena *arena, const void *data)
{
    for (struct arena_chunk **at = &arena->chunks; *at; at = &(*at)->next) {
        struct arena_chunk *chunk = *at;
        if ((const char *)(chunk + 1) != data || chunk->bytes <= CHUNK_BYTES_MAX)
            continue;
        if (at == &arena->chunks)
            arena->next = arena->end = NULL;
        *at = chunk->next;
        chunk_free(arena, chunk);
        return;
    }
}

void *arena_alloc_zeroed(struct arena *arena, size_t bytes)
{
    return memset(arena_alloc(arena, bytes), 0, bytes);
}

char *arena_alloc_text(struct arena *arena, size_t bytes)
{
    return alloc_at(arena, bytes, GAP_BYTES ? GAP_BYTES : 1);
}

str arena_copy(struct arena *arena, str s)
{
    char *data = arena_alloc_text(arena, s.len);
    if (s.len > 0)
        memcpy(data, s.data, s.len);
    return str_of(data, s.len);
}

char *arena_copy_text(struct arena *arena, str s)
{
    char *data = arena_alloc_text(arena, s.len + 1);
    if (s.len > 0)
        memcpy(data, s.data, s.len);
    data[s.len] = '\0';
    return data;
}

str arena_vprintf(struct arena *arena, const char *format, va_list arguments)
{
    char small[256];
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(small, sizeof small, format, arguments);
    assert(length >= 0);
    char *data = arena_alloc_text(arena, (size_t)length + 1);
    if ((size_t)length < sizeof small)
        memcpy(data, small, (size_t)length + 1);
    else
        vsnprintf(data, (size_t)length + 1, format, again);
    va_end(again);
    return str_of(data, (size_t)length);
}

str arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    str text = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

bool memory_budget_has(const struct memory_budget *budget, size_t bytes)
{
    size_t used = atomic_load_explicit(&budget->used_bytes, memory_order_relaxed);
    return budget->limit_bytes == 0 || (used <= budget->limit_bytes && bytes <= budget->limit_bytes - used);
}

void memory_budget_add(struct memory_budget *budget, size_t bytes)
{
    atomic_fetch_add_explicit(&budget->used_bytes, bytes, memory_order_relaxed);
}

void memory_budget_remove(struct memory_budget *budget, size_t bytes)
{
    size_t before = atomic_fetch_sub_explicit(&budget->used_bytes, bytes, memory_order_relaxed);
    assert(before >= bytes);
}
