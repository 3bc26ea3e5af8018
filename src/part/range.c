/* A range's life: opening and fencing, the replacing of its handle, closing. */
#include "part/part_internal.h"

#include <assert.h>
#include <stdlib.h>

enum { FENCE_TRIES = 12, FENCE_PAUSE_US = 1000 };

static void log_range(struct part_range *range, const char *event, const char *what)
{
    char id[UUID_TEXT_BYTES];
    uuid_format(range->id, id);
    log_event(range->part->options.log, LOG_ERROR, event, "%.*s: %s", UUID_TEXT_BYTES, id, what);
}

struct part_range *range_new(struct part *part, struct uuid id)
{
    struct part_range *range = calloc(1, sizeof *range);
    assert(range);
    range->part = part;
    range->world = part->world;
    range->id = id;
    range->number = ++part->ranges_opened;
    atomic_init(&range->state, RANGE_OPENING);
    world_mutex_open(part->world, &range->lock);
    world_cond_open(part->world, &range->changed);
    return range;
}

void range_free(struct part_range *range)
{
    pending_close(&range->pending);
    while (range->first) {
        struct part_group *group = range->first;
        range->first = group->next;
        group_free(group);
    }
    if (range->in_flight)
        group_free(range->in_flight);
    if (range->spare)
        group_free(range->spare);
    world_cond_close(range->world, &range->changed);
    world_mutex_close(range->world, &range->lock);
    free(range);
}

bool range_read_begin(struct part_range *range)
{
    while (range->is_reopening && range_is_open(range)) {
        PROBE("part: a read waits for the store's new handle");
        world_wait(range->world, &range->changed, &range->lock, -1);
    }
    range->readers += range_is_open(range);
    return range_is_open(range);
}

void range_read_end(struct part_range *range)
{
    if (--range->readers == 0 && range->is_reopening)
        world_wake_all(range->world, &range->changed);
}

bool range_reopen(struct part_range *range)
{
    struct world *world = range->world;
    world_lock(world, &range->lock);
    assert(!range->is_reopening);
    range->is_reopening = true;
    while (range->readers > 0)
        world_wait(world, &range->changed, &range->lock, -1);
    world_unlock(world, &range->lock);
    store_range_close(range->store);
    struct store_range *opened = NULL;
    bool is_open = store_range_open(range->part->options.store, range->id, &opened) == STORE_OK;
    world_lock(world, &range->lock);
    range->store = opened;
    if (is_open)
        range->is_reopening = false; /* else there is nothing to read from, and the range is about to stop */
    world_wake_all(world, &range->changed);
    world_unlock(world, &range->lock);
    return is_open;
}

/* A read that is tried again: a failed one says nothing about the range. */
static enum store_result read_meta(struct part_range *range, str key, struct arena *arena, str *value)
{
    enum store_result result = STORE_FAILED;
    for (int try = 0; try < FENCE_TRIES && result == STORE_FAILED; try++) {
        if (try > 0) {
            PROBE("part: a meta row is read again after a failure");
            world_sleep_us(range->world, FENCE_PAUSE_US);
        }
        *value = STR_NONE;
        result = store_get(range->store, key, arena, value);
    }
    return result;
}

/* One try: STORE_OK (the range is ours), STORE_REFUSED and STORE_UNKNOWN (try again), STORE_FAILED (give up). */
static enum store_result fence_once(struct part_range *range, bool is_ours, struct arena *arena)
{
    str before;
    struct epoch found = {0};
    enum store_result result = read_meta(range, META_KEY_EPOCH, arena, &before);
    if (result == STORE_FAILED)
        return STORE_FAILED;
    if (result == STORE_ABSENT)
        before = STR_NONE;
    else if (!epoch_read(before, &found)) {
        log_range(range, "range not opened", "its data was written by a newer program, or is damaged");
        return STORE_FAILED;
    }
    if (is_ours && !uuid_equal(found.owner, range->epoch.owner)) {
        log_range(range, "range lost", "another process has taken it over");
        return STORE_FAILED;
    }
    struct epoch epoch = {.counter = found.counter + 1, .owner = range->epoch.owner};
    uint8_t bytes[EPOCH_BYTES];
    epoch_write(&epoch, bytes);
    struct store_guard guard = {META_KEY_EPOCH, before};
    struct store_write write = {META_KEY_EPOCH, str_of(bytes, EPOCH_BYTES)};
    struct store_group group = {.guards = &guard, .guard_count = 1, .writes = &write, .write_count = 1};
    result = store_apply_wait(range->store, &group);
    if (result == STORE_OK)
        range->epoch = epoch;
    return result;
}

bool range_fence(struct part_range *range, bool is_ours)
{
    for (int try = 0; try < FENCE_TRIES; try++) {
        struct arena arena;
        arena_open(&arena, NULL);
        enum store_result result = fence_once(range, is_ours, &arena);
        arena_close(&arena);
        if (result == STORE_OK)
            return true;
        if (result == STORE_FAILED)
            return false;
        if (result == STORE_REFUSED) {
            PROBE("part: the epoch moved while it was being raised");
            continue;
        }
        PROBE("part: the reply to an epoch's write is lost");
        if (!range_reopen(range))
            return false;
        world_sleep_us(range->world, FENCE_PAUSE_US << try);
    }
    return false;
}

bool range_read_counts(struct part_range *range, struct counts *out)
{
    struct arena arena;
    arena_open(&arena, NULL);
    str value;
    *out = (struct counts){0};
    enum store_result result = read_meta(range, META_KEY_COUNTS, &arena, &value);
    bool is_read = result == STORE_ABSENT || (result == STORE_OK && counts_read(value, out));
    arena_close(&arena);
    return is_read;
}

static bool read_consumers(struct part_range *range)
{
    struct arena arena;
    arena_open(&arena, NULL);
    str value;
    range->consumers = (struct consumers){0};
    enum store_result result = read_meta(range, META_KEY_CONSUMERS, &arena, &value);
    bool is_read = result == STORE_ABSENT || (result == STORE_OK && consumers_read(value, &range->consumers));
    arena_close(&arena);
    return is_read;
}

bool range_open(struct part_range *range)
{
    range->epoch.owner = world_uuid(range->world);
    if (store_range_open(range->part->options.store, range->id, &range->store) != STORE_OK) {
        log_range(range, "range not opened", "the store cannot open it");
        return false;
    }
    if (range_fence(range, false) && range_read_counts(range, &range->counts) && read_consumers(range)) {
        range->durable = range->counts;
        return true;
    }
    log_range(range, "range not opened", "its first rows cannot be read or written");
    if (range->store)
        store_range_close(range->store);
    range->store = NULL;
    return false;
}

void range_close(struct part_range *range)
{
    struct world *world = range->world;
    world_lock(world, &range->lock);
    while (range->in_flight || range->first || range->working > 0 || range->readers > 0)
        world_wait(world, &range->changed, &range->lock, -1);
    range->is_closing = true;
    world_wake_all(world, &range->changed);
    world_unlock(world, &range->lock);
    if (range->resolver)
        world_thread_join(world, range->resolver);
    range->resolver = NULL;
    if (range->store)
        store_range_close(range->store);
    range->store = NULL;
    if (range->part->cache)
        cache_forget_range(range->part->cache, range->number);
}
