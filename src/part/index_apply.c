/* Index ranges: entries that follow from another range's changes, put and deleted together with how far the range has come with that source. */
#include "part/part_internal.h"

#include <assert.h>

enum { MARK_VERSION = 1, MARK_COPYING = 1 };

static str mark_key(struct arena *arena, struct uuid source)
{
    char text[UUID_TEXT_BYTES];
    struct buf key;
    buf_open(&key, arena, 2 + UUID_TEXT_BYTES);
    uuid_format(source, text);
    buf_add_byte(&key, ROW_META);
    buf_add_byte(&key, 's');
    buf_add(&key, text, sizeof text);
    return buf_str(&key);
}

static str mark_write(struct arena *arena, const struct part_index_mark *mark)
{
    struct buf value;
    buf_open(&value, arena, 16 + mark->copied_to.len);
    buf_add_byte(&value, MARK_VERSION);
    buf_add_byte(&value, mark->is_copying ? MARK_COPYING : 0);
    buf_add_varint(&value, mark->position);
    buf_add_counted(&value, mark->copied_to);
    return buf_str(&value);
}

static bool mark_read(str bytes, struct part_index_mark *mark)
{
    str head;
    if (!str_take(&bytes, 2, &head) || head.data[0] != MARK_VERSION || (uint8_t)head.data[1] > MARK_COPYING)
        return false;
    mark->is_copying = head.data[1] & MARK_COPYING;
    return varint_take(&bytes, &mark->position) && str_take_counted(&bytes, &mark->copied_to) && bytes.len == 0;
}

/* Whether a range at `now` has no use for what `next` brings: it was brought before, and this is a repetition after a crash. */
static bool mark_covers(const struct part_index_mark *now, const struct part_index_mark *next)
{
    if (now->is_copying != next->is_copying)
        return next->is_copying;
    return next->is_copying ? str_compare(now->copied_to, next->copied_to) >= 0 : now->position >= next->position;
}

/* A row and its newest value; no data: there is none. */
struct row {
    str key;
    uint64_t hash;
    str newest;
};

/* Fills in the newest values. Nobody else changes these rows meanwhile, so what the store has of a row without pending changes is its newest value, and
   stays so. Returns with the lock when it returns FAULT_NONE. */
static enum fault newest_rows(struct call *call, struct part_range *range, struct row *rows, size_t count) MUST_USE;
static enum fault newest_rows(struct call *call, struct part_range *range, struct row *rows, size_t count)
{
    struct cache *cache = range->part->cache;
    str *keys = ARENA_NEW_ARRAY(&call->arena, str, count), *values = ARENA_NEW_ARRAY(&call->arena, str, count);
    size_t *places = ARENA_NEW_ARRAY(&call->arena, size_t, count), missing = 0;
    world_lock(range->world, &range->lock);
    for (size_t i = 0; i < count; i++) {
        struct row *row = &rows[i];
        row->hash = pending_hash(row->key);
        const struct pending *pending = pending_find(&range->pending, row->hash, row->key);
        if (pending) {
            str stored = pending->newest->stored;
            row->newest = stored.data ? arena_copy(&call->arena, stored) : STR_NONE;
        } else if (!cache || !cache_get(cache, range->number, row->key, &call->arena, &row->newest)) {
            keys[missing] = row->key;
            places[missing++] = i;
        }
    }
    bool is_open = range_is_open(range);
    if (is_open && missing > 0 && range_read_begin(range)) {
        world_unlock(range->world, &range->lock);
        enum store_result result = store_multi_get(range->store, keys, missing, &call->arena, values);
        world_lock(range->world, &range->lock);
        range_read_end(range);
        for (size_t i = 0; i < missing; i++)
            rows[places[i]].newest = values[i];
        is_open = result == STORE_OK;
    }
    if (is_open && range_is_open(range))
        return FAULT_NONE;
    world_unlock(range->world, &range->lock);
    return range_fail(call);
}

enum fault part_index_mark_read(struct call *call, struct part_range *range, struct uuid source, bool *found, struct part_index_mark *mark)
{
    struct row row = {.key = mark_key(&call->arena, source)};
    *mark = (struct part_index_mark){0};
    TRY(newest_rows(call, range, &row, 1));
    world_unlock(range->world, &range->lock);
    *found = row.newest.len > 0;
    return !*found || mark_read(row.newest, mark) ? FAULT_NONE : range_fail(call);
}

static bool same_row(str left, str right)
{
    return (left.data != NULL) == (right.data != NULL) && str_equal(left, right);
}

static void put_row(struct part_range *range, struct part_group *group, const struct row *row, str value)
{
    struct pending *pending = pending_find(&range->pending, row->hash, row->key);
    str durable = !pending && row->newest.data ? arena_copy(&group->arena, row->newest) : STR_NONE;
    sequencer_put(range, group, row->hash, row->key, pending, value, durable);
}

/* With the lock. False: what is stored is no entry. */
static bool apply_entry(struct part_range *range, struct part_group *group, const struct part_index_entry *entry, const struct row *row)
{
    const struct pending *pending = pending_find(&range->pending, row->hash, row->key);
    str newest = pending ? pending->newest->stored : row->newest, value = STR_NONE;
    struct stored before = {0};
    if (newest.data && !stored_read(newest, &before))
        return false;
    if (!entry->is_delete) {
        struct buf out;
        buf_open(&out, &group->arena, STORED_HEADER_BYTES + entry->stored.item.len);
        stored_write(&out, &entry->stored);
        value = buf_str(&out);
    }
    if (same_row(newest, value))
        return true;
    struct part_range_counts *visible = &range->counts.visible;
    visible->items += (uint64_t)!entry->is_delete - (uint64_t)(newest.data != NULL);
    visible->bytes += (uint64_t)(entry->is_delete ? 0 : entry->stored.size) - before.size;
    put_row(range, group, row, value);
    return true;
}

/* With the lock. */
static enum fault apply_rows(struct call *call, struct part_range *range, const struct part_index_mark *mark, const struct part_index_entry *entries,
                             const struct row *rows, size_t count) MUST_USE;
static enum fault apply_rows(struct call *call, struct part_range *range, const struct part_index_mark *mark, const struct part_index_entry *entries,
                             const struct row *rows, size_t count)
{
    struct part_index_mark now;
    if (rows[0].newest.data && !mark_read(rows[0].newest, &now))
        return range_fail(call);
    if (rows[0].newest.data && mark_covers(&now, mark)) {
        PROBE("index range: entries come a second time");
        struct pending *pending = pending_find(&range->pending, rows[0].hash, rows[0].key);
        if (pending)
            group_add_wait(pending->newest->group, &call->durable);
        return FAULT_NONE;
    }
    struct part_group *group = sequencer_forming(range);
    bool is_good = true;
    for (size_t i = 0; i < count && is_good; i++)
        is_good = apply_entry(range, group, &entries[i], &rows[i + 1]);
    /* Without its mark a damaged row's neighbours come again, which is harmless. */
    if (is_good)
        put_row(range, group, &rows[0], mark_write(&group->arena, mark));
    group_add_wait(group, &call->durable);
    return is_good ? FAULT_NONE : range_fail(call);
}

enum fault part_index_apply(struct call *call, struct part_range *range, struct uuid source, const struct part_index_mark *mark,
                            const struct part_index_entry *entries, size_t count)
{
    struct row *rows = ARENA_NEW_ARRAY(&call->arena, struct row, count + 1);
    rows[0].key = mark_key(&call->arena, source);
    for (size_t i = 0; i < count; i++) {
        assert(entries[i].row_key.len > 0 && entries[i].row_key.data[0] == ROW_ITEM);
        rows[i + 1].key = entries[i].row_key;
    }
    TRY(newest_rows(call, range, rows, count + 1));
    enum fault fault = apply_rows(call, range, mark, entries, rows, count);
    struct part_group *next = sequencer_next(range);
    world_unlock(range->world, &range->lock);
    sequencer_send(next);
    return fault;
}
