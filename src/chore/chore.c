/* The background worker. One thread, for work that nobody waits for: today it drops the rows of deleted tables. */
#include "chore/chore.h"

#include <stdio.h>
#include <stdlib.h>

enum { RETRY_US = 1000000 };

struct chore {
    struct world *world;
    struct table_catalog *catalog;
    struct part *part;
    struct log *log;
    struct world_thread *thread;
    struct world_mutex lock;
    struct world_cond wake;
    bool has_work;   /* under lock */
    bool is_stopping;
};

/* Drops one condemned range. False when it did not work: try again later. */
static bool drop_one(struct chore *chore, struct uuid range)
{
    char name[UUID_TEXT_BYTES];
    uuid_format(range, name);
    if (!part_range_drop(chore->part, range)) {
        log_event(chore->log, LOG_WARN, "range not dropped", "rows of a deleted table stay for now: range %.*s", UUID_TEXT_BYTES, name);
        return false;
    }
    struct call call;
    call_open(&call, chore->world, NULL);
    enum fault fault = table_condemned_done(&call, chore->catalog, range);
    call_close(&call);
    if (fault != FAULT_NONE)
        return false;
    log_event(chore->log, LOG_DEBUG, "range dropped", "range %.*s of a deleted table", UUID_TEXT_BYTES, name);
    return true;
}

static bool is_stopping(struct chore *chore)
{
    world_lock(chore->world, &chore->lock);
    bool stopping = chore->is_stopping;
    world_unlock(chore->world, &chore->lock);
    return stopping;
}

/* Drops what is condemned, until there is nothing left or something fails. True when all is done. */
static bool drop_all(struct chore *chore)
{
    struct uuid range;
    while (!is_stopping(chore) && table_condemned_next(chore->catalog, &range))
        if (!drop_one(chore, range))
            return false;
    return true;
}

static void run(void *argument)
{
    struct chore *chore = argument;
    bool is_done = false;
    for (;;) {
        world_lock(chore->world, &chore->lock);
        if (is_done)
            while (!chore->has_work && !chore->is_stopping)
                world_wait(chore->world, &chore->wake, &chore->lock, -1);
        bool stopping = chore->is_stopping;
        chore->has_work = false;
        world_unlock(chore->world, &chore->lock);
        if (stopping)
            return;
        is_done = drop_all(chore);
        if (is_done)
            continue;
        world_lock(chore->world, &chore->lock);
        if (!chore->is_stopping)
            world_wait(chore->world, &chore->wake, &chore->lock, RETRY_US);
        world_unlock(chore->world, &chore->lock);
    }
}

struct chore *chore_start(struct world *world, struct table_catalog *catalog, struct part *part, struct log *log)
{
    struct chore *chore = calloc(1, sizeof *chore);
    if (!chore) {
        fprintf(stderr, "stator: out of memory\n");
        abort();
    }
    chore->world = world;
    chore->catalog = catalog;
    chore->part = part;
    chore->log = log;
    world_mutex_open(world, &chore->lock);
    world_cond_open(world, &chore->wake);
    chore->thread = world_thread_start(world, "chore", run, chore);
    return chore;
}

void chore_wake(struct chore *chore)
{
    world_lock(chore->world, &chore->lock);
    chore->has_work = true;
    world_wake_one(chore->world, &chore->wake);
    world_unlock(chore->world, &chore->lock);
}

void chore_stop(struct chore *chore)
{
    if (!chore)
        return;
    world_lock(chore->world, &chore->lock);
    chore->is_stopping = true;
    world_wake_all(chore->world, &chore->wake);
    world_unlock(chore->world, &chore->lock);
    world_thread_join(chore->world, chore->thread);
    world_cond_close(chore->world, &chore->wake);
    world_mutex_close(chore->world, &chore->lock);
    free(chore);
}
