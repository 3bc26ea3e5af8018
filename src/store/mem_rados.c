/* The mem engine with Ceph RADOS's manners: one group of a range at a time, completion late and from a thread of the store, lost
   replies whose group may still be written a moment later. */
#include "store/mem_internal.h"

#include "base/probe.h"

#include <assert.h>

enum {
    TURN_US_MAX = 300,      /* how long a group's turn lasts, at most */
    SLOW_US_MAX = 50000,
    LATER_US_MAX = 20000    /* how long after a lost reply a group may still be written */
};

static int64_t draw_us(struct world *world, int64_t most_us)
{
    return (int64_t)world_random_below(world, (uint64_t)most_us);
}

/* The range's first group begins its turn. Under the store's lock. */
static void turn_begin(struct mem_store *store, struct mem_range *range)
{
    struct world *world = store->base.world;
    const struct store_mem_faults *faults = &store->options.faults;
    range->due_us = world_mono_us(world) + draw_us(world, mem_chance(store, faults->slow) ? SLOW_US_MAX : TURN_US_MAX);
    range->next_active = NULL;
    struct mem_range **place = &store->active;
    while (*place != NULL)
        place = &(*place)->next_active;
    *place = range;
    if (range->has_failed || range->is_unsure) {
        range->fate = MEM_FATE_FAIL;
    } else if (mem_chance(store, faults->fail)) {
        PROBE("mem: a rados group fails");
        range->fate = MEM_FATE_FAIL;
        world_lock(world, &range->lock); /* readers look at it under this one */
        range->has_failed = true;
        world_unlock(world, &range->lock);
        if (world_random_below(world, 2) == 0)
            range->surfacing = mem_late_new(range, range->first, 0);
    } else if (mem_chance(store, faults->lost_reply)) {
        static const enum mem_fate fates[] = {MEM_FATE_LOST, MEM_FATE_LOST_LATER, MEM_FATE_LOST_NEVER, MEM_FATE_LOST_NEVER};
        range->fate = fates[world_random_below(world, 4)];
    } else {
        range->fate = world_random_below(world, 2) == 0 ? MEM_FATE_EARLY : MEM_FATE_LATE;
    }
    if (range->fate == MEM_FATE_EARLY)
        range->early_result = mem_group_write(range, range->first);
}

static enum store_result turn_result(struct mem_store *store, struct mem_range *range)
{
    struct world *world = store->base.world;
    switch (range->fate) {
    case MEM_FATE_EARLY:
        return range->early_result;
    case MEM_FATE_LATE:
        return mem_group_write(range, range->first);
    case MEM_FATE_LOST:
        PROBE("mem: a lost reply, written");
        (void)mem_group_write(range, range->first);
        break;
    case MEM_FATE_LOST_LATER:
        PROBE("mem: a lost reply, written later");
        struct mem_late *late = mem_late_new(range, range->first, world_mono_us(world) + draw_us(world, LATER_US_MAX));
        late->next = store->late;
        store->late = late;
        break;
    case MEM_FATE_LOST_NEVER:
        PROBE("mem: a lost reply, never written");
        break;
    case MEM_FATE_FAIL:
        return STORE_FAILED;
    }
    range->is_unsure = true;
    return STORE_UNKNOWN;
}

/* Ends the turn of `*place`, begins the next one of its range, and calls `done` without the lock. */
static void turn_end(struct mem_store *store, struct mem_range **place)
{
    struct world *world = store->base.world;
    struct mem_range *range = *place;
    struct store_group *group = range->first;
    enum store_result result = turn_result(store, range);
    *place = range->next_active;
    range->first = group->next;
    if (range->first != NULL)
        turn_begin(store, range);
    store->delivering = range;
    world_unlock(world, &store->lock);
    group->done(group, result);
    world_lock(world, &store->lock);
    store->delivering = NULL;
    world_wake_all(world, &store->quiet);
}

static void late_write_due(struct mem_store *store, int64_t now_us, int64_t *next_us)
{
    struct mem_late **place = &store->late;
    while (*place != NULL) {
        struct mem_late *late = *place;
        if (late->due_us <= now_us) {
            *place = late->next;
            if (mem_group_write(late->range, &late->group) == STORE_REFUSED)
                PROBE("mem: a guard refuses a group written late");
            mem_late_free(late);
            continue;
        }
        if (*next_us < 0 || late->due_us < *next_us)
            *next_us = late->due_us;
        place = &late->next;
    }
}

static void rados_run(void *argument)
{
    struct mem_store *store = argument;
    struct world *world = store->base.world;
    world_lock(world, &store->lock);
    while (!store->is_closing || store->active != NULL) {
        int64_t now_us = world_mono_us(world), next_us = -1;
        struct mem_range **due = NULL;
        late_write_due(store, now_us, &next_us);
        for (struct mem_range **place = &store->active; *place != NULL; place = &(*place)->next_active) {
            if ((*place)->due_us <= now_us && (due == NULL || (*place)->due_us < (*due)->due_us))
                due = place;
            if (next_us < 0 || (*place)->due_us < next_us)
                next_us = (*place)->due_us;
        }
        if (due != NULL && !store->is_crashing)
            turn_end(store, due);
        else
            world_wait(world, &store->work, &store->lock, next_us < 0 ? -1 : next_us > now_us ? next_us - now_us : 1);
    }
    world_unlock(world, &store->lock);
}

void mem_rados_start(struct mem_store *store)
{
    struct world *world = store->base.world;
    world_cond_open(world, &store->work);
    world_cond_open(world, &store->quiet);
    store->thread = world_thread_start(world, "store-rados", rados_run, store);
}

static void late_forget_all(struct mem_store *store)
{
    while (store->late != NULL) {
        struct mem_late *late = store->late;
        store->late = late->next;
        mem_late_free(late);
    }
}

void mem_rados_stop(struct mem_store *store)
{
    struct world *world = store->base.world;
    world_lock(world, &store->lock);
    store->is_closing = true;
    world_wake_all(world, &store->work);
    world_unlock(world, &store->lock);
    world_thread_join(world, store->thread);
    late_forget_all(store);
    world_cond_close(world, &store->work);
    world_cond_close(world, &store->quiet);
}

void mem_rados_apply(struct mem_range *range, struct store_group *group)
{
    struct mem_store *store = (struct mem_store *)range->base.store;
    struct world *world = store->base.world;
    world_lock(world, &store->lock);
    assert(range->is_open);
    if (range->first != NULL) {
        range->last->next = group;
        range->last = group;
    } else {
        range->first = range->last = group;
        turn_begin(store, range);
        world_wake_one(world, &store->work);
    }
    world_unlock(world, &store->lock);
}

void mem_rados_forget(struct mem_store *store, struct mem_range *range)
{
    if (store->thread == NULL)
        return;
    while (store->delivering == range)
        world_wait(store->base.world, &store->quiet, &store->lock, -1);
    assert(range->first == NULL);
    struct mem_late **place = &store->late;
    while (*place != NULL) {
        struct mem_late *late = *place;
        if (late->range == range) {
            *place = late->next;
            mem_late_free(late);
        } else {
            place = &late->next;
        }
    }
}

/* Some of the groups that wait, the oldest first, are written; the first of them may have been already. */
static void queue_crash(struct mem_range *range)
{
    struct world *world = range->base.store->world;
    bool is_stopped = range->has_failed || range->is_unsure;
    size_t waiting = 0;
    for (struct store_group *group = range->first; group != NULL; group = group->next)
        waiting++;
    uint64_t written = world_random_below(world, waiting + 1);
    if (written == 0 && range->fate == MEM_FATE_EARLY)
        written = 1;
    struct store_group *group = range->first;
    for (uint64_t at = 0; at < written && !is_stopped; at++, group = group->next) {
        if (at > 0 || range->fate != MEM_FATE_EARLY)
            (void)mem_group_write(range, group);
    }
    range->first = NULL;
}

void mem_rados_crash(struct mem_store *store)
{
    struct world *world = store->base.world;
    if (store->thread == NULL)
        return;
    store->is_crashing = true;
    while (store->delivering != NULL)
        world_wait(world, &store->quiet, &store->lock, -1);
    while (store->active != NULL) {
        PROBE("mem: a crash cuts a queue");
        queue_crash(store->active);
        store->active = store->active->next_active;
    }
    while (store->late != NULL) {
        struct mem_late *late = store->late;
        store->late = late->next;
        if (world_random_below(world, 2) == 0)
            (void)mem_group_write(late->range, &late->group);
        mem_late_free(late);
    }
    store->is_crashing = false;
}
