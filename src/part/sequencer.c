/* The sequencer of a range: decides each edit on the newest pending value, gives it its stamp, forms groups, hands them to the
   store one at a time, and releases what waits for them. */
#include "part/part_internal.h"

#include <assert.h>

enum { GROUP_BYTES = 8 << 20 /* a group that holds more takes no more edits; one edit adds at most about 3 MiB */ };

_Static_assert(GROUP_BYTES * 2 < STORE_GROUP_BYTES_MAX, "a full group and one edit more fit the store");

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
    if (last && last->arena.held_bytes < GROUP_BYTES)
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

static void group_recycle(struct part_range *range, struct part_group *group)
{
    enum { SPARE_BYTES_MAX = 512 << 10 };
    if (range->spare || group->arena.held_bytes > SPARE_BYTES_MAX)
        group_free(group);
    else
        range->spare = group;
}

static void version_is_durable(struct part_range *range, struct version *version)
{
    struct pending *pending = version->pending;
    assert(pending->oldest == version);
    ++*range_row_changes(range, pending->hash);
    /* Whoever looks at the pending row next needs the lock, so the cache may run ahead of it. */
    if (range->part->cache)
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

/* The newest value of the row, copied; a missing row has no data. Returns with the lock when it returns FAULT_NONE. */
static enum fault newest_row(struct call *call, struct part_range *range, uint64_t hash, str key, struct pending **pending, str *row)
{
    struct cache *cache = range->part->cache;
    world_lock(range->world, &range->lock);
    while (range_is_open(range)) {
        *pending = pending_find(&range->pending, hash, key);
        if (*pending) {
            *row = copy_row(call, (*pending)->newest->stored);
            return FAULT_NONE;
        }
        if (cache && cache_get(cache, range->number, key, &call->arena, row))
            return FAULT_NONE;
        if (!range_read_begin(range))
            break;
        uint32_t changes = *range_row_changes(range, hash);
        world_unlock(range->world, &range->lock);
        *row = STR_NONE;
        enum store_result result = store_get(range->store, key, &call->arena, row);
        world_lock(range->world, &range->lock);
        range_read_end(range);
        if (result == STORE_FAILED)
            break;
        if (result == STORE_ABSENT)
            *row = STR_NONE;
        *pending = pending_find(&range->pending, hash, key);
        if (!*pending && changes == *range_row_changes(range, hash) && range_is_open(range))
            return FAULT_NONE;
        PROBE("part: a row changes while an edit reads it");
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

/* Makes the change pending, in the forming group. `durable` is the row that the store has when nothing of it is pending. */
static void add_change(struct part_range *range, struct part_group *group, uint64_t hash, const struct edit *edit, const struct edit_outcome *outcome,
                       struct pending *pending, str durable)
{
    str row = STR_NONE;
    if (outcome->has_item) {
        struct buf out;
        buf_open(&out, &group->arena, STORED_HEADER_BYTES + outcome->after.item.len);
        stored_write(&out, &outcome->after);
        row = buf_str(&out);
    }
    if (pending && pending->newest->group == group) {
        PROBE("part: two changes of a row share a group");
        pending->newest->stored = row;
        group->writes[pending->newest->write].value = row;
        return;
    }
    struct version *version = ARENA_NEW(&group->arena, struct version);
    if (pending) {
        pending->newest->newer = version;
    } else {
        pending = pending_add(&range->pending, hash, edit->row_key);
        pending->durable = durable.data ? arena_copy(&group->arena, durable) : STR_NONE;
        pending->oldest = version;
    }
    pending->newest = version;
    *version = (struct version){.next = group->versions, .pending = pending, .group = group, .stored = row};
    group->versions = version;
    version->write = group_add_write(group, str_of(pending->key, pending->key_bytes), row);
}

static bool outcome_is_change(const struct edit_outcome *outcome)
{
    return outcome->had_item != outcome->has_item || (outcome->has_item && !str_equal(outcome->before.item, outcome->after.item));
}

/* With the lock: the change gets its stamp and its place in the forming group. */
static struct part_group *make_change(struct call *call, struct part_range *range, uint64_t hash, const struct edit *edit, struct edit_outcome *outcome,
                                      struct pending *pending, str row)
{
    struct part_group *group = sequencer_forming(range);
    outcome->after.stamp = sequencer_stamp(range);
    count_change(&range->counts, outcome);
    add_change(range, group, hash, edit, outcome, pending, row);
    log_add(range, group, edit, outcome);
    group_add_wait(group, &call->durable);
    return sequencer_next(range);
}

enum fault part_edit(struct call *call, struct part_range *range, const struct edit *edit, struct edit_outcome *outcome)
{
    struct pending *pending = NULL;
    struct stored before = {0};
    str row;
    uint64_t hash = pending_hash(edit->row_key);
    *outcome = (struct edit_outcome){0};
    assert(edit->row_key.len > 0 && edit->row_key.data[0] == ROW_ITEM);
    TRY(newest_row(call, range, hash, edit->row_key, &pending, &row));
    enum fault fault;
    struct part_group *next = NULL;
    if (row.data && !stored_read(row, &before)) {
        fault = range_fail(call);
    } else {
        fault = edit_apply(call, edit, row.data != NULL, &before, outcome);
        if (fault == FAULT_NONE && outcome_is_change(outcome)) {
            next = make_change(call, range, hash, edit, outcome, pending, row);
        } else if (pending) {
            PROBE("part: an answer without a change waits for a pending one");
            group_add_wait(pending->newest->group, &call->durable);
        }
        if (fault == FAULT_NONE && outcome->after.stamp == 0)
            outcome->after.stamp = outcome->before.stamp;
    }
    world_unlock(range->world, &range->lock);
    metric_add(&range->part->edits, 1);
    sequencer_send(next);
    return fault;
}
