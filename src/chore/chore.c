/* Background workers: started and stopped together. The dropper, here, drops the rows of deleted tables and indexes. */
#include "chore/chore_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { RETRY_US = 1000000 };

void *chore_allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory) {
        fprintf(stderr, "stator: out of memory\n");
        abort();
    }
    return memory;
}

bool chore_is_stopping(struct chore *chore)
{
    world_lock(chore->world, &chore->lock);
    bool stopping = chore->is_stopping;
    world_unlock(chore->world, &chore->lock);
    return stopping;
}

/* --- Dropping --- */

/* Drops one condemned range. False when it did not work: try again later. */
static bool drop_one(struct chore *chore, struct uuid range)
{
    char name[UUID_TEXT_BYTES];
    uuid_format(range, name);
    if (!part_range_drop(chore->part, range)) {
        log_event(chore->log, LOG_WARN, "range not dropped", "rows of a deleted table or index stay for now: range %.*s", UUID_TEXT_BYTES, name);
        return false;
    }
    struct call call;
    call_open(&call, chore->world, NULL);
    enum fault fault = table_condemned_done(&call, chore->catalog, range);
    call_close(&call);
    if (fault != FAULT_NONE)
        return false;
    log_event(chore->log, LOG_DEBUG, "range dropped", "range %.*s of a deleted table or index", UUID_TEXT_BYTES, name);
    return true;
}

/* Drops what is condemned, until there is nothing left or something fails. True when all is done. */
static bool drop_all(struct chore *chore)
{
    struct uuid range;
    while (!chore_is_stopping(chore) && table_condemned_next(chore->catalog, &range))
        if (!drop_one(chore, range))
            return false;
    return true;
}

static void dropper_run(void *argument)
{
    struct chore *chore = argument;
    world_lock(chore->world, &chore->lock);
    while (!chore->is_stopping) {
        chore->has_drops = false;
        world_unlock(chore->world, &chore->lock);
        bool is_done = drop_all(chore);
        world_lock(chore->world, &chore->lock);
        if (!is_done && !chore->is_stopping)
            world_wait(chore->world, &chore->drop_wake, &chore->lock, RETRY_US);
        while (is_done && !chore->has_drops && !chore->is_stopping)
            world_wait(chore->world, &chore->drop_wake, &chore->lock, -1);
    }
    world_unlock(chore->world, &chore->lock);
}

/* --- Starting and stopping --- */

struct chore *chore_start(struct world *world, struct table_catalog *catalog, struct part *part, struct log *log)
{
    struct chore *chore = chore_allocate(sizeof *chore);
    chore->world = world;
    chore->catalog = catalog;
    chore->part = part;
    chore->log = log;
    chore->step_records = STEP_RECORDS;
    chore->copy_rows = COPY_ROWS;
    world_mutex_open(world, &chore->lock);
    world_cond_open(world, &chore->drop_wake);
    world_cond_open(world, &chore->keeper_wake);
    world_cond_open(world, &chore->mover_wake);
    world_cond_open(world, &chore->changed);
    part_listen(part, mover_listen, chore);
    chore->dropper = world_thread_start(world, "chore-drop", dropper_run, chore);
    chore->keeper = world_thread_start(world, "chore-keep", keeper_run, chore);
    for (int i = 0; i < MOVERS; i++)
        chore->movers[i] = world_thread_start(world, "chore-move", mover_run, chore);
    return chore;
}

void chore_register_metrics(struct chore *chore, struct metrics *metrics)
{
    metrics_register(metrics, &chore->waiting, METRIC_GAUGE, "stator_index_records_waiting", "Changes logged and not carried into all global indexes yet.", "");
    metrics_register(metrics, &chore->lag, METRIC_HISTOGRAM, "stator_index_lag_seconds", "Time from a change until it is durable in the global indexes.", "");
    metrics_register(metrics, &chore->moved, METRIC_COUNTER, "stator_index_records_moved_total", "Changes carried into global indexes.", "");
    metrics_register(metrics, &chore->failures, METRIC_COUNTER, "stator_index_failures_total", "Steps of index movers that failed and are tried again.", "");
}

void chore_wake(struct chore *chore)
{
    world_lock(chore->world, &chore->lock);
    chore->has_drops = chore->has_tables = true;
    world_wake_all(chore->world, &chore->drop_wake);
    world_wake_all(chore->world, &chore->keeper_wake);
    world_unlock(chore->world, &chore->lock);
}

/* With the lock. */
static bool is_settled(const struct chore *chore)
{
    if (!chore->keeper_is_idle || chore->has_tables)
        return false;
    for (size_t i = 0; i < chore->slot_count; i++)
        for (const struct source *source = chore->slots[i]; source; source = source->chain)
            if (source->is_dirty || source->is_failing || source->is_resting || source->state == SOURCE_READY || source->state == SOURCE_HELD)
                return false;
    return true;
}

bool chore_settle(struct chore *chore, int64_t timeout_us)
{
    int64_t until_us = world_mono_us(chore->world) + timeout_us;
    world_lock(chore->world, &chore->lock);
    while (!is_settled(chore)) {
        int64_t left_us = until_us - world_mono_us(chore->world);
        if (left_us <= 0)
            break;
        world_wait(chore->world, &chore->changed, &chore->lock, left_us);
    }
    bool settled = is_settled(chore);
    world_unlock(chore->world, &chore->lock);
    return settled;
}

static void end_workers(struct chore *chore, bool is_halting)
{
    world_lock(chore->world, &chore->lock);
    chore->is_stopping = true;
    chore->is_halting = is_halting;
    world_wake_all(chore->world, &chore->drop_wake);
    world_wake_all(chore->world, &chore->keeper_wake);
    world_wake_all(chore->world, &chore->mover_wake);
    world_wake_all(chore->world, &chore->changed);
    world_unlock(chore->world, &chore->lock);
    world_thread_join(chore->world, chore->dropper);
    world_thread_join(chore->world, chore->keeper);
    for (int i = 0; i < MOVERS; i++)
        world_thread_join(chore->world, chore->movers[i]);
    part_listen(chore->part, NULL, NULL);
}

static void chore_free(struct chore *chore)
{
    while (chore->limbo) {
        struct batch *batch = chore->limbo;
        chore->limbo = batch->next;
        batch_free(batch);
    }
    source_free_all(chore);
    world_cond_close(chore->world, &chore->drop_wake);
    world_cond_close(chore->world, &chore->keeper_wake);
    world_cond_close(chore->world, &chore->mover_wake);
    world_cond_close(chore->world, &chore->changed);
    world_mutex_close(chore->world, &chore->lock);
    free(chore);
}

void chore_stop(struct chore *chore)
{
    if (!chore)
        return;
    end_workers(chore, false);
    chore_free(chore);
}

void chore_halt(struct chore *chore)
{
    end_workers(chore, true);
}

void chore_abandon(struct chore *chore)
{
    chore_free(chore);
}
