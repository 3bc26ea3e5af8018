/* Reading: the durable row, from the cache or the store, or, while a change of it is pending, as it was before. Never waits for a write. */
#include "part/part_internal.h"

#include <assert.h>

static enum fault row_is_read(struct call *call, str row, bool *found, struct stored *out)
{
    *found = row.len > 0;
    *out = (struct stored){0};
    return !*found || stored_read(row, out) ? FAULT_NONE : range_fail(call);
}

/* With the lock. */
static bool pending_row(struct call *call, struct part_range *range, uint64_t hash, str key, str *row)
{
    struct pending *pending = pending_find(&range->pending, hash, key);
    if (!pending)
        return false;
    PROBE("part: a row is read while a change of it is pending");
    *row = pending->durable.data ? arena_copy(&call->arena, pending->durable) : STR_NONE;
    return true;
}

/* With the lock, after a visit to the store. What the store gave may belong to a group that is not durable yet, or may be
   older than what is durable by now: the first is corrected, the second answered but not kept. */
static void settle_row(struct call *call, struct part_range *range, uint64_t hash, uint32_t changes, str key, str *row)
{
    if (pending_row(call, range, hash, key, row))
        return;
    if (changes != *range_row_changes(range, hash))
        PROBE("part: a row changes while it is read");
    else if (range->part->cache)
        cache_put(range->part->cache, range->number, key, *row);
}

enum fault part_get(struct call *call, struct part_range *range, str row_key, bool *found, struct stored *out)
{
    bool is_found;
    return part_multi_get(call, range, &row_key, 1, found ? found : &is_found, out);
}

/* Reads the rows whose places are in `missing`. */
static enum fault read_missing(struct call *call, struct part_range *range, const str *row_keys, const size_t *missing, size_t count, str *rows)
{
    struct world *world = range->world;
    uint64_t *hashes = arena_alloc(&call->arena, count * sizeof *hashes);
    uint32_t *changes = arena_alloc(&call->arena, count * sizeof *changes);
    size_t *wanted = arena_alloc(&call->arena, count * sizeof *wanted);
    str *keys = arena_alloc(&call->arena, count * sizeof *keys), *values = arena_alloc(&call->arena, count * sizeof *values);
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        hashes[i] = pending_hash(row_keys[missing[i]]);
    world_lock(world, &range->lock);
    for (size_t i = 0; i < count; i++) {
        if (pending_row(call, range, hashes[i], row_keys[missing[i]], &rows[missing[i]]))
            continue;
        changes[left] = *range_row_changes(range, hashes[i]);
        hashes[left] = hashes[i];
        keys[left] = row_keys[missing[i]];
        wanted[left++] = missing[i];
    }
    enum store_result result = STORE_OK;
    if (left > 0 && range_read_begin(range)) {
        world_unlock(world, &range->lock);
        if (left == 1) {
            values[0] = STR_NONE;
            result = store_get(range->store, keys[0], &call->arena, &values[0]);
            if (result == STORE_ABSENT)
                values[0] = STR_NONE;
        } else {
            result = store_multi_get(range->store, keys, left, &call->arena, values);
        }
        world_lock(world, &range->lock);
        range_read_end(range);
        for (size_t i = 0; i < left && result != STORE_FAILED && range_is_open(range); i++) {
            settle_row(call, range, hashes[i], changes[i], keys[i], &values[i]);
            rows[wanted[i]] = values[i];
        }
    }
    bool is_open = range_is_open(range);
    world_unlock(world, &range->lock);
    return is_open && result != STORE_FAILED ? FAULT_NONE : range_fail(call);
}

enum fault part_multi_get(struct call *call, struct part_range *range, const str *row_keys, size_t count, bool *found, struct stored *out)
{
    struct cache *cache = range->part->cache;
    if (!range_is_open(range))
        return range_fail(call);
    str one_row;
    size_t one_missing;
    str *rows = count == 1 ? &one_row : arena_alloc(&call->arena, count * sizeof *rows);
    size_t *missing = count == 1 ? &one_missing : arena_alloc(&call->arena, count * sizeof *missing);
    size_t missing_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!cache || !cache_get(cache, range->number, row_keys[i], &call->arena, &rows[i]))
            missing[missing_count++] = i;
    if (missing_count > 0)
        TRY(read_missing(call, range, row_keys, missing, missing_count, rows));
    for (size_t i = 0; i < count; i++)
        TRY(row_is_read(call, rows[i], &found[i], &out[i]));
    return FAULT_NONE;
}

void part_range_count(struct part_range *range, struct part_range_counts *out)
{
    world_lock(range->world, &range->lock);
    *out = range->durable.visible;
    world_unlock(range->world, &range->lock);
}
