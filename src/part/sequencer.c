/* The sequencer of a range: decides each edit on the newest pending value, gives it its stamp, forms groups, hands them to the
   store one at a time, and releases what waits for them. */
#include "part/part_internal.h"

#include <assert.h>

enum {
    GROUP_BYTES = 8 << 20,     /* a group that holds or writes more takes no more edits; */
    EDIT_WRITES_MAX = 10 << 20 /* one edit writes less: an item, its two images in the log, and its entries in five local indexes */
};

_Static_assert(GROUP_BYTES + EDIT_WRITES_MAX < STORE_GROUP_BYTES_MAX, "a full group and one edit more fit the store");
_Static_assert((3 + LOCAL_INDEXES_MAX) * STORE_VALUE_MAX + (3 + 2 * LOCAL_INDEXES_MAX) * STORE_KEY_MAX < EDIT_WRITES_MAX, "no edit writes more");

enum fault range_fail(struct call *call)
{
    return fail(call, FAULT_INTERNAL, "Internal server error");
}

/* --- Groups --- */

static void group_seal(struct part_range *range, struct part_group *group)
{
    range->counts.group_number++;
    group->counts = range->counts;
    struct buf value;
    buf_open(&value, &group->arena, 64);
    counts_write(&group->counts, &value);
    group_add_write(group, META_KEY_COUNTS, buf_str(&value));
}

struct part_group *sequencer_forming(struct part_range *range)
{
    struct part_group *last = range->last;
    if (last && last->arena.held_bytes < GROUP_BYTES && last->write_bytes < GROUP_BYTES)
        return last;
    struct part_group *group = group_new(range);
    if (last) {
        PROBE("part: a group is full while another is in flight");
        group_seal(range, last);
        last->next = group;
    } else {
        range->first = group;
    }
    range->last = group;
    return group;
}

static void group_done(struct store_group *store_group, enum store_result result);

struct part_group *sequencer_next(struct part_range *range)
{
    struct part_group *group = range->first;
    if (range->in_flight || !group || range->is_halted || !range_is_open(range))
        return NULL;
    range->first = group->next;
    if (!range->first) {
        range->last = NULL;
        group_seal(range, group);
    }
    group->next = NULL;
    range->in_flight = group;
    epoch_write(&range->epoch, group->epoch);
    group->guard = (struct store_guard){META_KEY_EPOCH, str_of(group->epoch, EPOCH_BYTES)};
    group->store = (struct store_group){.guards = &group->guard, .guard_count = 1, .writes = group->writes, .write_count = group->write_count,
                                        .done = group_done, .owner = group};
    group->sent_us = world_mono_us(range->world);
    return group;
}

void sequencer_send(struct part_group *group)
{
    if (group)
        store_apply(group->range->store, &group->store);
}

uint64_t sequencer_stamp(struct part_range *range)
{
    int64_t now_us = world_wall_us(range->world);
    uint64_t stamp = range->counts.visible.last_stamp + 1;
    if (now_us > 0 && (uint64_t)now_us > stamp)
        stamp = (uint64_t)now_us;
    else
        PROBE("part: a stamp runs ahead of the clock");
    range->counts.visible.last_stamp = stamp;
    return stamp;
}

/* --- Outcomes --- */

static void release_waits(struct part_group *group, enum fault fault)
{
    for (size_t i = 0; i < group->wait_count; i++)
        durable_wait_release(group->waits[i], fault);
}

/* Kept for the next group while the range is busy; one of thousands that are not keeps little. */
static void group_recycle(struct part_range *range, struct part_group *group)
{
    enum { BUSY_BYTES_MAX = 512 << 10, IDLE_BYTES_MAX = 8 << 10 };
    bool is_busy = range->in_flight || range->first;
    size_t bytes_max = is_busy ? BUSY_BYTES_MAX : IDLE_BYTES_MAX;
    if (!is_busy)
        arena_reset(&group->arena);
    if (range->spare && range->spare->arena.held_bytes > bytes_max) {
        group_free(range->spare);
        range->spare = NULL;
    }
    if (range->spare || group->arena.held_bytes > bytes_max)
        group_free(group);
    else
        range->spare = group;
}

static void version_is_durable(struct part_range *range, struct version *version)
{
    struct pending *pending = version->pending;
    assert(pending->oldest == version);
    ++*range_row_changes(range, pending->hash);
    /* Whoever looks at the pending row next needs the lock, so the cache may run ahead of it. Entries of indexes are only ever scanned. */
    if (range->part->cache && pending->key[0] != ROW_LOCAL_INDEX)
        cache_put(range->part->cache, range->number, str_of(pending->key, pending->key_bytes), version->stored);
    if (!version->newer) {
        pending_remove(&range->pending, pending);
        return;
    }
    PROBE("part: a row is changed again while a change of it is in flight");
    pending->durable = version->stored.data ? arena_copy(&version->newer->group->arena, version->stored) : STR_NONE;
    pending->oldest = version->newer;
}

/* With the lock, which it gives up in between: nothing pending is acknowledged or readable any more (I11). */
static void range_stop(struct part_range *range, struct part_group *group, enum store_result result)
{
    atomic_store_explicit(&range->state, RANGE_STOPPED, memory_order_release);
    struct part_group *failed = group;
    failed->next = range->first;
    range->first = range->last = range->in_flight = NULL;
    range->is_halted = true;
    pending_clear(&range->pending);
    world_wake_all(range->world, &range->changed);
    world_unlock(range->world, &range->lock);
    char id[UUID_TEXT_BYTES];
    uuid_format(range->id, id);
    metric_add(&range->part->stops, 1);
    log_event(range->part->options.log, LOG_ERROR, "range stopped", "%.*s: %s; its table answers 500 until the server is started again",
              UUID_TEXT_BYTES, id, result == STORE_REFUSED ? "another process has taken it over" : "a write failed");
    while (failed) {
        struct part_group *next = failed->next;
        release_waits(failed, FAULT_INTERNAL);
        group_free(failed);
        failed = next;
    }
    world_lock(range->world, &range->lock);
}

static void tell_listener(struct part_range *range, size_t record_count)
{
    struct part *part = range->part;
    if (record_count == 0)
        return;
    world_lock(part->world, &part->listener_lock);
    if (part->listener)
        part->listener(part->listener_owner, range->id, record_count);
    world_unlock(part->world, &part->listener_lock);
}

void sequencer_resolve(struct part_group *group, enum store_result result)
{
    struct part_range *range = group->range;
    struct world *world = range->world;
    world_lock(world, &range->lock);
    assert(range->in_flight == group);
    range->working++;
    if (result == STORE_OK) {
        for (struct version *version = group->versions; version; version = version->next)
            version_is_durable(range, version);
        range->durable = group->counts;
        range->in_flight = NULL;
        struct part_group *next = sequencer_next(range);
        metric_observe_us(&range->part->group_time, world_mono_us(world) - group->sent_us);
        world_unlock(world, &range->lock);
        metric_add(&range->part->groups, 1);
        sequencer_send(next);
        tell_listener(range, group->record_count);
        release_waits(group, FAULT_NONE);
        world_lock(world, &range->lock);
        group_recycle(range, group);
    } else {
        PROBE("part: a range stops");
        range_stop(range, group, result);
    }
    range->working--;
    world_wake_all(world, &range->changed);
    world_unlock(world, &range->lock);
}

static void group_done(struct store_group *store_group, enum store_result result)
{
    struct part_group *group = store_group->owner;
    if (result != STORE_UNKNOWN) {
        sequencer_resolve(group, result);
        return;
    }
    PROBE("part: the outcome of a group is unknown");
    struct part_range *range = group->range;
    world_lock(range->world, &range->lock);
    range->is_unresolved = true;
    resolver_wake(range);
    world_unlock(range->world, &range->lock);
}

struct finish_wait {
    struct durable_wait wait;
    struct part_range *range;
    bool finished;
};

static void finish_is_done(struct durable_wait *wait)
{
    struct finish_wait *finish = wait->owner;
    struct part_range *range = finish->range;
    world_lock(range->world, &range->lock);
    finish->finished = true;
    world_wake_all(range->world, &range->changed);
    world_unlock(range->world, &range->lock);
}

enum fault sequencer_finish(struct call *call, struct part_range *range)
{
    struct finish_wait finish = {.range = range};
    durable_wait_open(&finish.wait, finish_is_done, &finish);
    group_add_wait(sequencer_forming(range), &finish.wait);
    struct part_group *next = sequencer_next(range);
    world_unlock(range->world, &range->lock);
    sequencer_send(next);
    durable_wait_release(&finish.wait, FAULT_NONE);
    world_lock(range->world, &range->lock);
    while (!finish.finished)
        world_wait(range->world, &range->changed, &range->lock, -1);
    world_unlock(range->world, &range->lock);
    return atomic_load(&finish.wait.fault) == FAULT_NONE ? FAULT_NONE : range_fail(call);
}

/* --- Edits --- */

static str copy_row(struct call *call, str row)
{
    return row.data ? arena_copy(&call->arena, row) : STR_NONE;
}

/* A row's newest value, for an edit to be decided on. */
struct newest {
    str key;
    uint64_t hash;
    struct pending *pending; /* NULL: nothing of it is pending */
    str row;                 /* in the call's arena; a missing row has no data */
    uint32_t changes;        /* of its hash, when a visit to the store for it began */
    enum { NEWEST_UNKNOWN, NEWEST_WANTED, NEWEST_READ } state;
};

static void newest_open(struct newest *newest, str key)
{
    *newest = (struct newest){.key = key, .hash = pending_hash(key)};
}

/* With the lock: whether the newest value is known now. What was known before the lock was let go may not be so any more. */
static bool newest_is_known(struct call *call, struct part_range *range, struct newest *newest)
{
    struct cache *cache = range->part->cache;
    newest->pending = pending_find(&range->pending, newest->hash, newest->key);
    if (newest->pending) {
        newest->row = copy_row(call, newest->pending->newest->stored);
        return true;
    }
    if (newest->state == NEWEST_READ && newest->changes == *range_row_changes(range, newest->hash))
        return true;
    if (newest->state == NEWEST_READ)
        PROBE("part: a row changes while an edit reads it");
    newest->state = NEWEST_UNKNOWN;
    if (cache && cache_get(cache, range->number, newest->key, &call->arena, &newest->row))
        return true;
    newest->state = NEWEST_WANTED;
    newest->changes = *range_row_changes(range, newest->hash);
    return false;
}

/* Without the lock, inside a visit to the store. */
static bool newest_read(struct call *call, struct part_range *range, struct newest *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].state != NEWEST_WANTED)
            continue;
        rows[i].row = STR_NONE;
        enum store_result result = store_get(range->store, rows[i].key, &call->arena, &rows[i].row);
        if (result == STORE_FAILED)
            return false;
        if (result == STORE_ABSENT)
            rows[i].row = STR_NONE;
        rows[i].state = NEWEST_READ;
    }
    return true;
}

/* The newest values of the rows, all at one moment. Returns with the lock when it returns FAULT_NONE. */
static enum fault newest_rows(struct call *call, struct part_range *range, struct newest *rows, size_t count)
{
    world_lock(range->world, &range->lock);
    while (range_is_open(range)) {
        bool all_known = true;
        for (size_t i = 0; i < count; i++)
            all_known &= newest_is_known(call, range, &rows[i]);
        if (all_known)
            return FAULT_NONE;
        if (!range_read_begin(range))
            break;
        world_unlock(range->world, &range->lock);
        bool is_read = newest_read(call, range, rows, count);
        world_lock(range->world, &range->lock);
        range_read_end(range);
        if (!is_read)
            break;
    }
    world_unlock(range->world, &range->lock);
    return range_fail(call);
}

static void count_change(struct counts *counts, const struct edit_outcome *outcome)
{
    struct part_range_counts *visible = &counts->visible;
    visible->items += (uint64_t)outcome->has_item - (uint64_t)outcome->had_item;
    visible->bytes += (uint64_t)(outcome->has_item ? outcome->after.size : 0) - (outcome->had_item ? outcome->before.size : 0);
    if (!outcome->has_item)
        visible->highest_deleted_stamp = visible->last_stamp;
}

static str stored_row(struct part_group *group, const struct stored *stored)
{
    struct buf out;
    buf_open(&out, &group->arena, STORED_HEADER_BYTES + stored->item.len);
    stored_write(&out, stored);
    return buf_str(&out);
}

void sequencer_put(struct part_range *range, struct part_group *group, uint64_t hash, str key, struct pending *pending, str row, str durable)
{
    if (pending && pending->newest->group == group) {
        PROBE("part: two changes of a row share a group");
        pending->newest->stored = row;
        group_replace_write(group, pending->newest->write, row);
        return;
    }
    struct version *version = ARENA_NEW(&group->arena, struct version);
    if (pending) {
        pending->newest->newer = version;
    } else {
        pending = pending_add(&range->pending, hash, key);
        pending->durable = durable;
        pending->oldest = version;
    }
    pending->newest = version;
    *version = (struct version){.next = group->versions, .pending = pending, .group = group, .stored = row};
    group->versions = version;
    version->write = group_add_write(group, str_of(pending->key, pending->key_bytes), row);
}

/* The item's own row, given back as it is written and as it is durable. */
static void add_item_version(struct part_range *range, struct part_group *group, const struct newest *item, const struct edit_outcome *outcome, str *row,
                             str *durable)
{
    *row = outcome->has_item ? stored_row(group, &outcome->after) : STR_NONE;
    *durable = !item->pending && item->row.data ? arena_copy(&group->arena, item->row) : STR_NONE;
    sequencer_put(range, group, item->hash, item->key, item->pending, *row, *durable);
}

/* The rows of local indexes that change with the item, and the size of its collection. A row of which nothing is pending is as the newest value of the item
   has it: no pending change of the item touched it. */
static void add_local_versions(struct part_range *range, struct part_group *group, const struct edit_outcome *outcome, const struct local_changes *changes,
                               str item_row, str item_durable)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct local_change *change = &changes->rows[i];
        uint64_t hash = pending_hash(change->key);
        struct pending *pending = pending_find(&range->pending, hash, change->key);
        struct stored after = change->after;
        after.stamp = outcome->after.stamp;
        str row = STR_NONE, durable = STR_NONE;
        if (after.item.data)
            row = after.item.data == outcome->after.item.data ? item_row : stored_row(group, &after);
        if (!pending && change->before.item.data)
            durable = item_durable.data && change->before.item.data == outcome->before.item.data ? item_durable : stored_row(group, &change->before);
        sequencer_put(range, group, hash, change->key, pending, row, durable);
    }
}

static void add_collection_version(struct part_range *range, struct part_group *group, const struct newest *collection, uint64_t bytes)
{
    struct buf row;
    buf_open(&row, &group->arena, 16);
    if (bytes > 0)
        collection_write(bytes, &row);
    str durable = !collection->pending && collection->row.data ? arena_copy(&group->arena, collection->row) : STR_NONE;
    sequencer_put(range, group, collection->hash, collection->key, collection->pending, bytes > 0 ? buf_str(&row) : STR_NONE, durable);
}

static bool outcome_is_change(const struct edit_outcome *outcome)
{
    return outcome->had_item != outcome->has_item || (outcome->has_item && !str_equal(outcome->before.item, outcome->after.item));
}

/* An edit under way: its rows' newest values, and what it changes beside the item's row. */
struct deciding {
    const struct edit *edit;
    struct edit_outcome *outcome;
    struct newest rows[2];       /* the item's; the size's of its collection, with local indexes */
    size_t row_count;
    struct local_changes *local; /* NULL: no local indexes, or no change */
};

/* With the lock: the change gets its stamp and its place in the forming group. */
static struct part_group *make_change(struct call *call, struct part_range *range, const struct deciding *deciding)
{
    struct part_group *group = sequencer_forming(range);
    struct edit_outcome *outcome = deciding->outcome;
    str row, durable;
    outcome->after.stamp = sequencer_stamp(range);
    count_change(&range->counts, outcome);
    add_item_version(range, group, &deciding->rows[0], outcome, &row, &durable);
    if (deciding->local) {
        add_local_versions(range, group, outcome, deciding->local, row, durable);
        add_collection_version(range, group, &deciding->rows[1], outcome->collection_bytes);
    }
    log_add(range, group, deciding->edit, outcome);
    group_add_wait(group, &call->durable);
    return sequencer_next(range);
}

/* What changes in local indexes; refused when it makes the collection grow beyond its limit. */
static enum fault decide_local(struct call *call, struct part_range *range, struct deciding *deciding)
{
    static const uint64_t COLLECTION_BYTES_MAX = (uint64_t)10 << 30;
    struct edit_outcome *outcome = deciding->outcome;
    uint64_t bytes = 0, bytes_max = range->part->options.collection_bytes_max;
    if (deciding->row_count < 2)
        return FAULT_NONE;
    if (deciding->rows[1].row.data && !collection_read(deciding->rows[1].row, &bytes))
        return range_fail(call);
    outcome->collection_bytes = bytes;
    if (!outcome_is_change(outcome))
        return FAULT_NONE;
    deciding->local = ARENA_NEW(&call->arena, struct local_changes);
    local_index_changes(&call->arena, deciding->edit, outcome, deciding->local);
    if (bytes < deciding->local->bytes_before)
        return range_fail(call);
    outcome->collection_bytes = bytes - deciding->local->bytes_before + deciding->local->bytes_after;
    if (outcome->collection_bytes > bytes && outcome->collection_bytes > (bytes_max ? bytes_max : COLLECTION_BYTES_MAX))
        return fail(call, FAULT_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED, "Collection size exceeded.");
    return FAULT_NONE;
}

static enum fault decide(struct call *call, struct part_range *range, struct deciding *deciding)
{
    const struct newest *item = &deciding->rows[0];
    struct stored before = {0};
    if (item->row.data && !stored_read(item->row, &before))
        return range_fail(call);
    TRY(edit_apply(call, deciding->edit, item->row.data != NULL, &before, deciding->outcome));
    return decide_local(call, range, deciding);
}

enum fault part_edit(struct call *call, struct part_range *range, const struct edit *edit, struct edit_outcome *outcome)
{
    struct deciding deciding = {.edit = edit, .outcome = outcome, .row_count = 1};
    struct part_group *next = NULL;
    *outcome = (struct edit_outcome){0};
    assert(edit->row_key.len > 0 && edit->row_key.data[0] == ROW_ITEM);
    newest_open(&deciding.rows[0], edit->row_key);
    if (edit->local_index_count > 0)
        newest_open(&deciding.rows[deciding.row_count++], local_collection_key(&call->arena, edit));
    TRY(newest_rows(call, range, deciding.rows, deciding.row_count));
    enum fault fault = decide(call, range, &deciding);
    if (fault == FAULT_NONE && outcome_is_change(outcome)) {
        next = make_change(call, range, &deciding);
    } else {
        for (size_t i = 0; i < deciding.row_count; i++) {
            if (!deciding.rows[i].pending)
                continue;
            PROBE("part: an answer without a change waits for a pending one");
            group_add_wait(deciding.rows[i].pending->newest->group, &call->durable);
        }
    }
    if (fault == FAULT_NONE && outcome->after.stamp == 0)
        outcome->after.stamp = outcome->before.stamp;
    world_unlock(range->world, &range->lock);
    metric_add(&range->part->edits, 1);
    sequencer_send(next);
    return fault;
}
