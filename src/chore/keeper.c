/* The keeper: follows the catalog. It starts and stops change logs, lets movers know the ranges and indexes that they serve, runs backfills, and makes
   an index ACTIVE when it is whole. All that it has come to is in the catalog and in the marks of index ranges, so a restart goes on from there. */
#include "chore/chore_internal.h"

#include <assert.h>
#include <stdlib.h>

enum { COPY_PAGES_A_PASS = 64, AWAIT_US = 100000 };

/* One look at everything, and what it leaves to do. */
struct pass {
    struct chore *chore;
    struct call call;
    bool is_unfinished;   /* go on at once */
    bool has_failed;      /* go on after a pause */
    bool awaits_mover;    /* who wakes the keeper; look again soon in any case */
    int64_t look_again_us; /* wall time of the next thing to do; 0: none */
};

static void look_again(struct pass *pass, int64_t wall_us)
{
    if (pass->look_again_us == 0 || wall_us < pass->look_again_us)
        pass->look_again_us = wall_us;
}

/* --- Changing the catalog --- */

enum table_step {
    STEP_GIVE_RANGES, /* an index of a data directory from before indexes had any is made anew */
    STEP_KEEP_FIRST,  /* the log of a new table runs */
    STEP_COPY,        /* the log runs for a planned index */
    STEP_KEEP,        /* the index is whole */
    STEP_END_LOG      /* the log has been stopped */
};

static bool is_living_global(const struct table_index *index)
{
    return !index->is_local && index->status != TABLE_DELETING;
}

static bool has_living_global(const struct table *table)
{
    for (size_t i = 0; i < table->index_count; i++)
        if (is_living_global(&table->indexes[i]))
            return true;
    return false;
}

static void index_step(struct chore *chore, struct table *draft, struct table_index *index, enum table_step step, struct uuid id)
{
    if (!is_living_global(index))
        return;
    if (step == STEP_GIVE_RANGES && index->range_count == 0) {
        table_draft_add_index_range(chore->world, draft, index);
        draft->logs_for_indexes = true;
        index->stage = INDEX_PLANNED;
        index->status = TABLE_CREATING;
        index->is_backfilling = true;
    } else if (step == STEP_KEEP_FIRST && index->stage == INDEX_PLANNED) {
        index->stage = INDEX_KEPT;
    } else if (step == STEP_COPY && index->stage == INDEX_PLANNED) {
        index->stage = INDEX_COPYING;
    } else if (step == STEP_KEEP && uuid_equal(index->id, id)) {
        index->stage = INDEX_KEPT;
        index->status = TABLE_ACTIVE;
        index->is_backfilling = false;
    }
}

/* Does the step with the table as it is now, when it is still the same that was seen. `index`: of STEP_KEEP. */
static enum fault change_table(struct chore *chore, struct call *call, const struct table *seen, enum table_step step, struct uuid index) MUST_USE;
static enum fault change_table(struct chore *chore, struct call *call, const struct table *seen, enum table_step step, struct uuid index)
{
    const struct table *table, *made;
    TRY(table_acquire_any(call, chore->catalog, seen->account, seen->region, seen->name, &table));
    enum fault fault = FAULT_NONE;
    if (uuid_equal(table->id, seen->id) && table->status != TABLE_DELETING) {
        struct table *draft = table_draft_new(table);
        struct table_index *indexes = ARENA_NEW_ARRAY(&draft->arena, struct table_index, draft->index_count);
        for (size_t i = 0; i < draft->index_count; i++) {
            indexes[i] = draft->indexes[i];
            index_step(chore, draft, &indexes[i], step, index);
        }
        draft->indexes = indexes;
        if (step == STEP_END_LOG)
            draft->logs_for_indexes = has_living_global(draft);
        fault = table_replace(call, chore->catalog, draft, &made);
        if (fault == FAULT_NONE)
            table_release(made);
    }
    table_release(table);
    return fault;
}

/* The table changed, or another was quicker: what is left to do shows in the next look. */
static void take_step(struct pass *pass, const struct table *seen, enum table_step step, struct uuid index)
{
    struct call *call = &pass->call;
    enum fault fault = change_table(pass->chore, call, seen, step, index);
    call_clear_fault(call);
    if (fault == FAULT_NONE || fault == FAULT_RESOURCE_IN_USE || fault == FAULT_RESOURCE_NOT_FOUND)
        pass->is_unfinished = true;
    else
        pass->has_failed = true;
}

/* --- Logs --- */

static enum fault start_logs(struct chore *chore, struct call *call, const struct table *table) MUST_USE;
static enum fault start_logs(struct chore *chore, struct call *call, const struct table *table)
{
    for (size_t i = 0; i < table->range_count; i++) {
        struct part_range *range;
        uint64_t position;
        TRY(part_range_acquire(call, chore->part, table->ranges[i].id, &range));
        enum fault fault = FAULT_NONE;
        if (!part_log_position(range, LOG_CONSUMER, &position))
            fault = part_log_start(call, range, LOG_CONSUMER, LOG_OLD_IMAGE | LOG_NEW_IMAGE);
        part_range_release(range);
        TRY(fault);
    }
    return FAULT_NONE;
}

static enum fault stop_logs(struct chore *chore, struct call *call, const struct table *table) MUST_USE;
static enum fault stop_logs(struct chore *chore, struct call *call, const struct table *table)
{
    for (size_t i = 0; i < table->range_count; i++) {
        struct part_range *range;
        TRY(part_range_acquire(call, chore->part, table->ranges[i].id, &range));
        enum fault fault = part_log_stop(call, range, LOG_CONSUMER);
        part_range_release(range);
        TRY(fault);
    }
    return FAULT_NONE;
}

enum fault chore_prepare_indexes(struct call *call, struct chore *chore, const struct table *table)
{
    TRY(start_logs(chore, call, table));
    enum fault fault = change_table(chore, call, table, STEP_KEEP_FIRST, (struct uuid){{0}});
    chore_wake(chore);
    return fault;
}

/* False when the logs could not be started or stopped, now or for ever. */
static bool run_logs(struct pass *pass, const struct table *table, bool is_start)
{
    enum fault fault = is_start ? start_logs(pass->chore, &pass->call, table) : stop_logs(pass->chore, &pass->call, table);
    call_clear_fault(&pass->call);
    if (fault == FAULT_RESOURCE_NOT_FOUND)
        pass->is_unfinished = true;
    else if (fault != FAULT_NONE)
        pass->has_failed = true;
    return fault == FAULT_NONE;
}

/* --- Sources and their lanes --- */

static bool wants_lane(const struct table_index *index)
{
    return is_living_global(index) && index->stage != INDEX_PLANNED;
}

static size_t count_lanes(const struct table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->index_count; i++)
        count += wants_lane(&table->indexes[i]) ? table->indexes[i].range_count : 0;
    return count;
}

/* The keeper alone changes which lanes a source has, and their tables. */
static bool lanes_are_of(const struct source *source, const struct table *table)
{
    if (source->lane_count != count_lanes(table))
        return false;
    for (size_t i = 0; i < source->lane_count; i++)
        if (source->lanes[i].table != table)
            return false;
    return true;
}

/* The lane of the same index range as it was, on the table as it is. */
static void lane_take_over(struct lane *lane, struct lane *old)
{
    lane->is_known = old->is_known;
    lane->is_gone = old->is_gone;
    lane->is_copying = old->is_copying;
    lane->is_resting = old->is_resting;
    lane->rest_until_us = old->rest_until_us;
    lane->is_due = old->is_due;
    lane->cursor = old->cursor;
    lane->goal = old->goal;
    lane->copied_to = old->copied_to;
    lane->copied_to_bytes = old->copied_to_bytes;
    old->copied_to = NULL;
}

/* The source is held. What a restart or an index that is gone left in the log is looked at, too. */
static void renew_lanes(struct chore *chore, struct source *source, const struct table *table)
{
    size_t count = count_lanes(table), at = 0;
    struct lane *lanes = chore_allocate(count * sizeof *lanes + 1);
    for (size_t i = 0; i < table->index_count; i++) {
        const struct table_index *index = &table->indexes[i];
        for (size_t range = 0; wants_lane(index) && range < index->range_count; range++) {
            struct lane *lane = &lanes[at++];
            table_hold(table);
            lane_open(lane, table, index, range);
            for (size_t old = 0; old < source->lane_count; old++)
                if (uuid_equal(source->lanes[old].range, lane->range))
                    lane_take_over(lane, &source->lanes[old]);
        }
    }
    assert(at == count);
    for (size_t i = 0; i < source->lane_count; i++)
        lane_close(&source->lanes[i]);
    free(source->lanes);
    source->lanes = lanes;
    source->lane_count = count;
    source->trim_due_us = world_mono_us(chore->world) + TRIM_DELAY_US;
}

static void list_sources(struct pass *pass, const struct table *table)
{
    struct chore *chore = pass->chore;
    if (count_lanes(table) == 0)
        return;
    for (size_t i = 0; i < table->range_count; i++) {
        world_lock(chore->world, &chore->lock);
        struct source *source = source_find(chore, table->ranges[i].id);
        if (!source)
            source = source_add(chore, table->ranges[i].id, table->id);
        source->is_listed = true;
        bool is_held = !lanes_are_of(source, table) && source_hold(chore, source);
        world_unlock(chore->world, &chore->lock);
        if (!is_held)
            continue;
        renew_lanes(chore, source, table);
        world_lock(chore->world, &chore->lock);
        source_release(chore, source, SOURCE_READY, 0);
        world_unlock(chore->world, &chore->lock);
    }
}

/* Before the table's logs are stopped: whoever was at work on them has ended. */
static void remove_sources(struct chore *chore, const struct table *table)
{
    world_lock(chore->world, &chore->lock);
    for (size_t i = 0; i < table->range_count; i++) {
        struct source *source = source_find(chore, table->ranges[i].id);
        if (source && source_hold(chore, source))
            source_remove(chore, source);
    }
    world_unlock(chore->world, &chore->lock);
}

/* All sources, in the call's arena. Only the keeper adds and removes them. */
static struct source **all_sources(struct pass *pass, size_t *count)
{
    struct chore *chore = pass->chore;
    world_lock(chore->world, &chore->lock);
    struct source **all = ARENA_NEW_ARRAY(&pass->call.arena, struct source *, chore->source_count + 1);
    *count = 0;
    for (size_t i = 0; i < chore->slot_count; i++)
        for (struct source *source = chore->slots[i]; source; source = source->chain)
            all[(*count)++] = source;
    world_unlock(chore->world, &chore->lock);
    return all;
}

static void remove_unlisted(struct pass *pass)
{
    struct chore *chore = pass->chore;
    size_t count;
    struct source **all = all_sources(pass, &count);
    world_lock(chore->world, &chore->lock);
    for (size_t i = 0; i < count; i++) {
        bool was_listed = all[i]->is_listed;
        all[i]->is_listed = false;
        if (!was_listed && source_hold(chore, all[i]))
            source_remove(chore, all[i]);
    }
    world_unlock(chore->world, &chore->lock);
}

/* --- Backfills --- */

/* The source's lanes that are being copied: they stay the keeper's when the source is let go. In the call's arena. */
static struct lane **copying_lanes(struct pass *pass, struct source *source, size_t *count)
{
    struct chore *chore = pass->chore;
    struct lane **lanes = ARENA_NEW_ARRAY(&pass->call.arena, struct lane *, source->lane_count + 1);
    bool has_any = false;
    *count = 0;
    for (size_t i = 0; i < source->lane_count; i++)
        has_any |= source->lanes[i].index->stage == INDEX_COPYING;
    if (!has_any)
        return lanes;
    world_lock(chore->world, &chore->lock);
    if (source_hold(chore, source)) {
        for (size_t i = 0; i < source->lane_count; i++)
            if (source->lanes[i].is_known && source->lanes[i].is_copying && !source->lanes[i].is_gone)
                lanes[(*count)++] = &source->lanes[i];
        source_release(chore, source, SOURCE_READY, 0);
    }
    world_unlock(chore->world, &chore->lock);
    return lanes;
}

static bool has_news(struct chore *chore)
{
    world_lock(chore->world, &chore->lock);
    bool has = chore->has_tables || chore->is_stopping;
    world_unlock(chore->world, &chore->lock);
    return has;
}

static void copy_some(struct pass *pass)
{
    size_t source_count;
    struct source **all = all_sources(pass, &source_count);
    for (size_t i = 0; i < source_count; i++) {
        size_t count;
        struct lane **lanes = copying_lanes(pass, all[i], &count);
        for (size_t at = 0; at < count; at++) {
            pass->is_unfinished = true;
            bool is_good = true;
            for (int page = 0; page < COPY_PAGES_A_PASS && lanes[at]->is_copying && is_good && !has_news(pass->chore); page++)
                is_good = backfill_step(pass->chore, all[i], lanes[at]);
            if (!is_good)
                pass->has_failed = true;
        }
    }
}

/* Whether every source has brought the index up to what its log held when its copy ended. */
static bool index_is_whole(struct pass *pass, const struct table *table, const struct table_index *index)
{
    struct chore *chore = pass->chore;
    bool is_whole = true;
    for (size_t i = 0; i < table->range_count && is_whole; i++) {
        world_lock(chore->world, &chore->lock);
        struct source *source = source_find(chore, table->ranges[i].id);
        is_whole = source && source_hold(chore, source);
        if (is_whole) {
            for (size_t at = 0; at < source->lane_count; at++) {
                const struct lane *lane = &source->lanes[at];
                if (uuid_equal(lane->index->id, index->id))
                    is_whole &= lane->is_known && !lane->is_gone && !lane->is_copying && lane->cursor >= lane->goal;
            }
            source_release(chore, source, SOURCE_READY, 0);
        }
        world_unlock(chore->world, &chore->lock);
    }
    return is_whole;
}

/* --- Tables --- */

/* Backfilling is shown as false for the first half of the time that a change of a table takes at least. */
static int64_t copy_begins_us(const struct table *table)
{
    return table->status == TABLE_UPDATING ? table->status_since_us + (table->status_until_us - table->status_since_us) / 2 : 0;
}

/* Brings an index on when it is not kept yet. */
static void look_at_index(struct pass *pass, const struct table *table, const struct table_index *index)
{
    int64_t begins_us = copy_begins_us(table), ends_us = table->status == TABLE_UPDATING ? table->status_until_us : 0;
    if (!is_living_global(index))
        return;
    if (index->range_count == 0) {
        take_step(pass, table, STEP_GIVE_RANGES, index->id);
    } else if (index->stage == INDEX_PLANNED && begins_us > pass->call.now_us) {
        look_again(pass, begins_us);
    } else if (index->stage == INDEX_PLANNED) {
        if (run_logs(pass, table, true))
            take_step(pass, table, table->status == TABLE_CREATING ? STEP_KEEP_FIRST : STEP_COPY, index->id);
    } else if (index->stage == INDEX_COPYING && index_is_whole(pass, table, index)) {
        if (ends_us > pass->call.now_us)
            look_again(pass, ends_us);
        else
            take_step(pass, table, STEP_KEEP, index->id);
    } else if (index->stage == INDEX_COPYING) {
        pass->awaits_mover = true;
    }
}

static void look_at_table(struct pass *pass, const struct table *table)
{
    if (!has_living_global(table)) {
        remove_sources(pass->chore, table);
        if (table->logs_for_indexes && run_logs(pass, table, false))
            take_step(pass, table, STEP_END_LOG, table->id);
        return;
    }
    list_sources(pass, table);
    for (size_t i = 0; i < table->index_count && !chore_is_stopping(pass->chore); i++)
        look_at_index(pass, table, &table->indexes[i]);
}

static void look(struct pass *pass)
{
    const struct table **tables;
    size_t count;
    table_list_indexed(&pass->call, pass->chore->catalog, &tables, &count);
    for (size_t i = 0; i < count; i++) {
        if (!chore_is_stopping(pass->chore))
            look_at_table(pass, tables[i]);
        table_release(tables[i]);
    }
    if (chore_is_stopping(pass->chore))
        return;
    remove_unlisted(pass);
    copy_some(pass);
}

void keeper_run(void *argument)
{
    struct chore *chore = argument;
    int64_t pause_us = PAUSE_FIRST_US;
    world_lock(chore->world, &chore->lock);
    while (!chore->is_stopping) {
        chore->has_tables = false;
        chore->keeper_is_idle = false;
        world_unlock(chore->world, &chore->lock);
        struct pass pass = {.chore = chore};
        call_open(&pass.call, chore->world, NULL);
        look(&pass);
        call_close(&pass.call);
        world_lock(chore->world, &chore->lock);
        if (pass.is_unfinished && !pass.has_failed) {
            pause_us = PAUSE_FIRST_US;
            continue;
        }
        int64_t timeout_us = pass.has_failed ? pause_us : pass.awaits_mover ? AWAIT_US : -1;
        pause_us = !pass.has_failed ? PAUSE_FIRST_US : pause_us * 2 < PAUSE_LAST_US ? pause_us * 2 : PAUSE_LAST_US;
        if (pass.look_again_us > 0) {
            int64_t left_us = pass.look_again_us - world_wall_us(chore->world);
            left_us = left_us < 0 ? 0 : left_us;
            timeout_us = timeout_us < 0 || left_us < timeout_us ? left_us : timeout_us;
        }
        chore->keeper_is_idle = timeout_us < 0;
        world_wake_all(chore->world, &chore->changed);
        bool is_waiting = true;
        while (is_waiting && !chore->has_tables && !chore->is_stopping)
            is_waiting = world_wait(chore->world, &chore->keeper_wake, &chore->lock, timeout_us);
    }
    world_unlock(chore->world, &chore->lock);
}
