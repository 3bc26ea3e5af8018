/* What became of a group whose reply was lost: fence off a late write of it, look, and send it again when it was not written.
   A thread of the range's own does it, because a store's callback must not block. */
#include "part/part_internal.h"

#include <assert.h>

/* STORE_OK: it was written. STORE_ABSENT: it was not, and never will be. Else: not to be found out, or the range is lost. */
static enum store_result find_out(struct part_range *range, uint64_t group_number)
{
    struct counts found;
    /* The new epoch decides: what was written under the old one is there by now, or is refused from now on. */
    if (!range_reopen(range) || !range_fence(range, true) || !range_read_counts(range, &found))
        return STORE_FAILED;
    if (found.group_number == group_number)
        return STORE_OK;
    return found.group_number + 1 == group_number ? STORE_ABSENT : STORE_FAILED;
}

static void resolve(struct part_range *range, struct part_group *group)
{
    enum store_result outcome = find_out(range, group->counts.group_number);
    if (outcome != STORE_ABSENT) {
        if (outcome == STORE_OK)
            PROBE("part: a group of unknown outcome was written");
        else
            PROBE("part: a group's outcome cannot be found out");
        sequencer_resolve(group, outcome);
        return;
    }
    PROBE("part: a group of unknown outcome is sent again");
    world_lock(range->world, &range->lock);
    bool is_halted = range->is_halted;
    epoch_write(&range->epoch, group->epoch);
    world_unlock(range->world, &range->lock);
    if (!is_halted)
        sequencer_send(group);
}

static void resolver_run(void *argument)
{
    struct part_range *range = argument;
    struct world *world = range->world;
    world_lock(world, &range->lock);
    while (!range->is_closing) {
        if (!range->is_unresolved || range->is_halted) {
            world_wait(world, &range->changed, &range->lock, -1);
            continue;
        }
        range->is_unresolved = false;
        struct part_group *group = range->in_flight;
        world_unlock(world, &range->lock);
        resolve(range, group);
        world_lock(world, &range->lock);
    }
    world_unlock(world, &range->lock);
}

void resolver_wake(struct part_range *range)
{
    if (range->is_halted)
        return; /* a crash is next: nobody would join the thread */
    if (!range->resolver)
        range->resolver = world_thread_start(range->world, "part-resolve", resolver_run, range);
    else
        world_wake_all(range->world, &range->changed);
}
