/* The movers: carry the change log of tables into their global indexes, in order for each source range, in bounded steps. What a step did counts once
   it is durable; then the log may be trimmed. A step that fails is done again after a pause: entries that were applied come a second time, harmlessly. */
#include "chore/chore_internal.h"

#include <assert.h>
#include <stdlib.h>

/* --- Batches --- */

static void batch_is_durable(struct durable_wait *wait)
{
    struct batch *batch = wait->owner;
    struct chore *chore = batch->chore;
    world_lock(chore->world, &chore->lock);
    batch->is_durable = true;
    world_wake_all(chore->world, &chore->changed);
    world_unlock(chore->world, &chore->lock);
}

struct batch *batch_new(struct chore *chore)
{
    struct batch *batch = chore_allocate(sizeof *batch);
    batch->chore = chore;
    call_open(&batch->call, chore->world, NULL);
    durable_wait_open(&batch->call.durable, batch_is_durable, batch);
    return batch;
}

void batch_free(struct batch *batch)
{
    call_close(&batch->call);
    free(batch);
}

enum fault batch_wait(struct batch *batch)
{
    struct chore *chore = batch->chore;
    durable_wait_release(&batch->call.durable, FAULT_NONE);
    world_lock(chore->world, &chore->lock);
    while (!batch->is_durable && !chore->is_halting)
        world_wait(chore->world, &chore->changed, &chore->lock, -1);
    bool is_durable = batch->is_durable;
    if (!is_durable) {
        batch->next = chore->limbo;
        chore->limbo = batch;
    }
    world_unlock(chore->world, &chore->lock);
    return is_durable ? (enum fault)atomic_load(&batch->call.durable.fault) : FAULT_UNAVAILABLE;
}

enum fault lane_apply(struct chore *chore, struct batch *batch, const struct lane *lane, struct uuid source, const struct part_index_mark *mark,
                      const struct part_index_entry *entries, size_t count)
{
    struct part_range *range;
    TRY(part_range_acquire(&batch->call, chore->part, lane->range, &range));
    enum fault fault = part_index_apply(&batch->call, range, source, mark, entries, count);
    part_range_release(range);
    return fault;
}

/* --- Getting to know a lane --- */

static enum fault lane_know(struct chore *chore, struct call *call, struct part_range *range, const struct source *source, struct lane *lane) MUST_USE;
static enum fault lane_know(struct chore *chore, struct call *call, struct part_range *range, const struct source *source, struct lane *lane)
{
    struct part_range *index_range;
    struct part_index_mark mark;
    uint64_t position;
    bool found;
    /* The keeper starts the log before it makes the source known, and stops it after. */
    if (!part_log_position(range, LOG_CONSUMER, &position))
        return fail(call, FAULT_INTERNAL, "Internal server error");
    TRY(part_range_acquire(call, chore->part, lane->range, &index_range));
    enum fault fault = part_index_mark_read(call, index_range, source->id, &found, &mark);
    part_range_release(index_range);
    TRY(fault);
    bool backfills = lane->index->stage == INDEX_COPYING;
    /* What the log no longer has was of no consequence to this index, or it is in. */
    lane->cursor = found && mark.position > position ? mark.position : position;
    lane->is_copying = found ? mark.is_copying : backfills;
    if (found && mark.is_copying) {
        PROBE("chore: a copy goes on where it was");
        lane_set_copied(lane, mark.copied_to);
        lane->cursor = mark.position;
    }
    if (backfills && !lane->is_copying) {
        struct part_range_counts counts;
        part_range_count(range, &counts);
        lane->goal = counts.last_stamp;
    }
    lane->is_known = true;
    return FAULT_NONE;
}

/* --- A step --- */

/* The lane's index range does not take changes now. The log keeps them. */
static void lane_rest(struct chore *chore, struct lane *lane)
{
    PROBE("chore: an index rests and its table's others go on");
    metric_add(&chore->failures, 1);
    if (lane->rest_until_us == 0)
        log_event(chore->log, LOG_WARN, "index mover waits", "changes cannot be carried into the global index %.*s of table %.*s now; it is tried again, and meanwhile "
                                                             "the table's change log grows", STR_ARG(lane->index->name), STR_ARG(lane->table->name));
    lane->is_resting = true;
    lane->rest_until_us = world_mono_us(chore->world) + REST_US;
}

/* Lanes that have rested go on. */
static void wake_lanes(struct chore *chore, struct source *source)
{
    for (size_t i = 0; i < source->lane_count; i++)
        if (source->lanes[i].is_resting && source->lanes[i].rest_until_us <= world_mono_us(chore->world))
            source->lanes[i].is_resting = false;
}

static void note_resting(struct source *source)
{
    source->rested_us = 0;
    for (size_t i = 0; i < source->lane_count; i++) {
        const struct lane *lane = &source->lanes[i];
        if (lane->is_resting && !lane->is_gone && (source->rested_us == 0 || lane->rest_until_us < source->rested_us))
            source->rested_us = lane->rest_until_us;
    }
}

static bool lane_moves(const struct lane *lane)
{
    return lane->is_known && !lane->is_gone && !lane->is_copying && !lane->is_resting;
}

/* The lowest cursor above `above` of the lanes that move; UINT64_MAX: none. */
static uint64_t lowest_cursor(const struct source *source, uint64_t above, bool or_equal)
{
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < source->lane_count; i++) {
        const struct lane *lane = &source->lanes[i];
        if (lane_moves(lane) && (lane->cursor > above || (or_equal && lane->cursor == above)) && lane->cursor < lowest)
            lowest = lane->cursor;
    }
    return lowest;
}

/* Takes those of the lanes that stand at `from` through the records. */
static enum fault apply_records(struct chore *chore, struct batch *batch, struct source *source, uint64_t from, const struct part_log_record *records,
                                size_t count) MUST_USE;
static enum fault apply_records(struct chore *chore, struct batch *batch, struct source *source, uint64_t from, const struct part_log_record *records,
                                size_t count)
{
    struct part_index_mark mark = {.position = records[count - 1].stamp};
    for (size_t i = 0; i < source->lane_count; i++) {
        struct lane *lane = &source->lanes[i];
        if (!lane_moves(lane) || lane->cursor != from)
            continue;
        if (chore_is_stopping(chore))
            return FAULT_UNAVAILABLE;
        struct part_index_entry *entries;
        size_t entry_count;
        lane_entries_of_records(&batch->call, lane, records, count, &entries, &entry_count);
        if (entry_count == 0)
            continue;
        enum fault fault = lane_apply(chore, batch, lane, source->id, &mark, entries, entry_count);
        if (fault == FAULT_RESOURCE_NOT_FOUND) {
            PROBE("chore: an index is dropped while changes are on their way to it");
            call_clear_fault(&batch->call);
            lane->is_gone = true;
        } else if (fault != FAULT_NONE) {
            call_clear_fault(&batch->call);
            lane_rest(chore, lane);
        }
    }
    return FAULT_NONE;
}

/* Changes up to `to` are durable in the lanes at `from`. */
static void advance_lanes(struct chore *chore, struct source *source, uint64_t from, uint64_t to)
{
    bool is_due = false;
    for (size_t i = 0; i < source->lane_count; i++) {
        struct lane *lane = &source->lanes[i];
        if (!lane_moves(lane) || lane->cursor != from)
            continue;
        lane->cursor = to;
        lane->rest_until_us = 0;
        if (lane->index->stage == INDEX_COPYING && !lane->is_due && to >= lane->goal)
            is_due = lane->is_due = true;
    }
    if (!is_due)
        return;
    world_lock(chore->world, &chore->lock);
    chore->has_tables = true;
    world_wake_one(chore->world, &chore->keeper_wake);
    world_unlock(chore->world, &chore->lock);
}

static void note_moved(struct chore *chore, struct source *source, uint64_t oldest_stamp, size_t count, bool is_last)
{
    int64_t lag_us = world_wall_us(chore->world) - (int64_t)oldest_stamp;
    metric_add(&chore->moved, (int64_t)count);
    source->untrimmed += count;
    if (source->trim_due_us == 0)
        source->trim_due_us = world_mono_us(chore->world) + TRIM_DELAY_US;
    if (!is_last)
        return;
    metric_observe_us(&chore->lag, lag_us > 0 ? lag_us : 0);
    world_lock(chore->world, &chore->lock);
    size_t moved = count < source->waiting ? count : source->waiting;
    source->waiting -= moved;
    world_unlock(chore->world, &chore->lock);
    metric_add(&chore->waiting, -(int64_t)moved);
}

/* Moves the lanes at `from` a step on, not beyond the next lane's cursor, where they join that one. *moved: whether there was anything to move. */
static enum fault move_lanes(struct chore *chore, struct part_range *range, struct source *source, uint64_t from, bool is_last, bool *moved) MUST_USE;
static enum fault move_lanes(struct chore *chore, struct part_range *range, struct source *source, uint64_t from, bool is_last, bool *moved)
{
    struct batch *batch = batch_new(chore);
    struct part_log_record *records;
    struct part_range_counts counts;
    size_t count;
    uint64_t next = lowest_cursor(source, from, false);
    part_range_count(range, &counts);
    enum fault fault = part_log_read(&batch->call, range, from, chore->step_records, &records, &count);
    if (fault == FAULT_NONE) {
        uint64_t end = count > 0 ? records[count - 1].stamp : counts.last_stamp > from ? counts.last_stamp : from;
        while (count > 0 && records[count - 1].stamp > next)
            count--;
        uint64_t to = end < next ? end : next, oldest = count > 0 ? records[0].stamp : 0;
        if (count > 0)
            fault = apply_records(chore, batch, source, from, records, count);
        enum fault durable = batch_wait(batch);
        if (durable == FAULT_UNAVAILABLE)
            return durable;
        fault = fault != FAULT_NONE ? fault : durable;
        *moved = *moved || to > from;
        if (fault == FAULT_NONE) {
            advance_lanes(chore, source, from, to);
            if (count > 0)
                note_moved(chore, source, oldest, count, is_last);
        }
    }
    batch_free(batch);
    return fault;
}

/* The log goes up to where all lanes have come. */
static enum fault trim_log(struct chore *chore, struct part_range *range, struct source *source) MUST_USE;
static enum fault trim_log(struct chore *chore, struct part_range *range, struct source *source)
{
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < source->lane_count; i++) {
        const struct lane *lane = &source->lanes[i];
        if (!lane->is_known && !lane->is_gone)
            return FAULT_NONE;
        if (!lane->is_gone && lane->cursor < lowest)
            lowest = lane->cursor;
    }
    source->untrimmed = 0;
    source->trim_due_us = 0;
    if (lowest == UINT64_MAX || (lowest <= source->trimmed_to && part_log_is_trimmed(range)))
        return FAULT_NONE;
    struct call call;
    call_open(&call, chore->world, NULL);
    enum fault fault = part_log_advance(&call, range, LOG_CONSUMER, lowest);
    call_close(&call);
    if (fault == FAULT_NONE) {
        source->trimmed_to = lowest;
        source->trim_due_us = part_log_is_trimmed(range) ? 0 : world_mono_us(chore->world);
    }
    return fault;
}

static enum fault know_lanes(struct chore *chore, struct part_range *range, struct source *source) MUST_USE;
static enum fault know_lanes(struct chore *chore, struct part_range *range, struct source *source)
{
    for (size_t i = 0; i < source->lane_count; i++) {
        struct lane *lane = &source->lanes[i];
        if (lane->is_known || lane->is_gone || lane->is_resting)
            continue;
        struct call call;
        call_open(&call, chore->world, NULL);
        enum fault fault = lane_know(chore, &call, range, source, lane);
        call_close(&call);
        if (fault == FAULT_RESOURCE_NOT_FOUND)
            lane->is_gone = true;
        else if (fault != FAULT_NONE)
            lane_rest(chore, lane);
        if (!lane->is_copying)
            continue;
        world_lock(chore->world, &chore->lock);
        chore->has_tables = true;
        world_wake_one(chore->world, &chore->keeper_wake);
        world_unlock(chore->world, &chore->lock);
    }
    return FAULT_NONE;
}

/* Every group of lanes that stand together a step on. */
static enum fault source_step(struct chore *chore, struct source *source, bool *moved) MUST_USE;
static enum fault source_step(struct chore *chore, struct source *source, bool *moved)
{
    struct part_range *range;
    struct call call;
    *moved = false;
    call_open(&call, chore->world, NULL);
    enum fault fault = part_range_acquire(&call, chore->part, source->id, &range);
    call_close(&call);
    /* The table is being deleted: the keeper will take the source away. */
    if (fault == FAULT_RESOURCE_NOT_FOUND)
        return FAULT_NONE;
    TRY(fault);
    wake_lanes(chore, source);
    fault = know_lanes(chore, range, source);
    uint64_t from = lowest_cursor(source, 0, true), highest = 0;
    for (size_t i = 0; i < source->lane_count; i++)
        if (lane_moves(&source->lanes[i]) && source->lanes[i].cursor > highest)
            highest = source->lanes[i].cursor;
    while (fault == FAULT_NONE && from != UINT64_MAX && from <= highest) {
        uint64_t next = lowest_cursor(source, from, false);
        bool is_last = next == UINT64_MAX;
        if (!is_last)
            PROBE("chore: indexes of a table stand at different places of its log");
        fault = move_lanes(chore, range, source, from, is_last, moved);
        from = next;
    }
    if (fault == FAULT_NONE && (source->untrimmed >= TRIM_RECORDS || (source->trim_due_us > 0 && world_mono_us(chore->world) >= source->trim_due_us)))
        fault = trim_log(chore, range, source);
    part_range_release(range);
    note_resting(source);
    return fault;
}

/* --- Threads --- */

/* With the lock. What is known of waiting records is set right when there are none. */
static void source_is_done(struct chore *chore, struct source *source, enum fault fault, bool moved)
{
    source->is_failing = fault != FAULT_NONE;
    if (fault != FAULT_NONE) {
        PROBE("chore: a step of a mover fails");
        metric_add(&chore->failures, 1);
        int64_t due_us = world_mono_us(chore->world) + source->pause_us;
        source->pause_us = source->pause_us * 2 < PAUSE_LAST_US ? source->pause_us * 2 : PAUSE_LAST_US;
        source_release(chore, source, SOURCE_DELAYED, due_us);
        return;
    }
    source->pause_us = PAUSE_FIRST_US;
    source->is_resting = source->rested_us > 0;
    if (!moved && !source->is_dirty && !source->is_resting) {
        metric_add(&chore->waiting, -(int64_t)source->waiting);
        source->waiting = 0;
    }
    int64_t due_us = source->trim_due_us;
    if (source->rested_us > 0 && (due_us == 0 || source->rested_us < due_us))
        due_us = source->rested_us;
    source_release(chore, source, moved ? SOURCE_READY : due_us > 0 ? SOURCE_DELAYED : SOURCE_IDLE, due_us);
}

void mover_run(void *argument)
{
    struct chore *chore = argument;
    world_lock(chore->world, &chore->lock);
    while (!chore->is_stopping) {
        int64_t look_again_us;
        struct source *source = source_take(chore, &look_again_us);
        if (!source) {
            int64_t now_us = world_mono_us(chore->world);
            world_wait(chore->world, &chore->mover_wake, &chore->lock, look_again_us < 0 ? -1 : look_again_us > now_us ? look_again_us - now_us : 0);
            continue;
        }
        bool moved, is_new_failure = !source->is_failing;
        world_unlock(chore->world, &chore->lock);
        enum fault fault = source_step(chore, source, &moved);
        if (fault != FAULT_NONE && is_new_failure && !chore_is_stopping(chore))
            log_event(chore->log, LOG_WARN, "index mover waits", "changes of a table cannot be carried into its global indexes now; it is tried again, and "
                                                                 "meanwhile the table's change log grows");
        world_lock(chore->world, &chore->lock);
        source_is_done(chore, source, fault, moved);
    }
    world_unlock(chore->world, &chore->lock);
}

void mover_listen(void *argument, struct uuid range, size_t count)
{
    struct chore *chore = argument;
    world_lock(chore->world, &chore->lock);
    struct source *source = source_find(chore, range);
    if (source) {
        source->waiting += count;
        metric_add(&chore->waiting, (int64_t)count);
        source_queue(chore, source);
    }
    world_unlock(chore->world, &chore->lock);
}
