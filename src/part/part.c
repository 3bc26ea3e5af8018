/* The ranges of one service: opened when first wanted, held while in use, dropped for ever. */
#include "part/part_internal.h"

#include <assert.h>
#include <stdlib.h>

enum { SLOTS_FIRST = 64, DROPPED_MAX = 4096 };

static struct part_range **slot_of(const struct part *part, struct uuid id)
{
    return &part->slots[bytes_get_u64(id.bytes + 8) & (part->slot_count - 1)];
}

static struct part_range **find(const struct part *part, struct uuid id)
{
    struct part_range **at = slot_of(part, id);
    while (*at && !uuid_equal((*at)->id, id))
        at = &(*at)->chain;
    return at;
}

static void grow(struct part *part)
{
    struct part_range **old = part->slots;
    size_t old_count = part->slot_count;
    part->slot_count = old_count ? old_count * 2 : SLOTS_FIRST;
    part->slots = calloc(part->slot_count, sizeof(struct part_range *));
    assert(part->slots);
    for (size_t i = 0; i < old_count; i++) {
        while (old[i]) {
            struct part_range *range = old[i];
            old[i] = range->chain;
            struct part_range **slot = slot_of(part, range->id);
            range->chain = *slot;
            *slot = range;
        }
    }
    free(old);
}

static void insert(struct part *part, struct part_range *range)
{
    if (part->count >= part->slot_count)
        grow(part);
    struct part_range **slot = slot_of(part, range->id);
    range->chain = *slot;
    *slot = range;
    part->count++;
}

static void take_out(struct part *part, struct part_range *range)
{
    struct part_range **at = slot_of(part, range->id);
    while (*at != range)
        at = &(*at)->chain;
    *at = range->chain;
    part->count--;
}

struct part *part_open(const struct part_options *options)
{
    struct part *part = calloc(1, sizeof *part);
    assert(part);
    part->options = *options;
    part->world = options->world;
    world_mutex_open(part->world, &part->lock);
    world_cond_open(part->world, &part->changed);
    world_mutex_open(part->world, &part->listener_lock);
    part->dropped = calloc(DROPPED_MAX, sizeof *part->dropped);
    assert(part->dropped);
    grow(part);
    if (options->cache_bytes > 0)
        part->cache = cache_new(part->world, options->cache_bytes, options->metrics);
    if (options->metrics) {
        metrics_register(options->metrics, &part->edits, METRIC_COUNTER, "stator_edits_total", "Edits decided.", "");
        metrics_register(options->metrics, &part->groups, METRIC_COUNTER, "stator_groups_total", "Groups of changes made durable.", "");
        metrics_register(options->metrics, &part->group_time, METRIC_HISTOGRAM, "stator_group_seconds", "Time from handing a group to the store until it is durable.", "");
        metrics_register(options->metrics, &part->stops, METRIC_COUNTER, "stator_ranges_stopped_total", "Ranges stopped by a failed write.", "");
    }
    return part;
}

static void part_free(struct part *part)
{
    if (part->cache)
        cache_free(part->cache);
    world_cond_close(part->world, &part->changed);
    world_mutex_close(part->world, &part->lock);
    world_mutex_close(part->world, &part->listener_lock);
    free(part->slots);
    free(part->dropped);
    free(part);
}

void part_listen(struct part *part, part_logged logged, void *owner)
{
    world_lock(part->world, &part->listener_lock);
    part->listener = logged;
    part->listener_owner = owner;
    world_unlock(part->world, &part->listener_lock);
}

static struct part_range *any_range(const struct part *part)
{
    for (size_t i = 0; i < part->slot_count; i++)
        if (part->slots[i])
            return part->slots[i];
    return NULL;
}

void part_close(struct part *part)
{
    struct part_range *range;
    while ((range = any_range(part)) != NULL) {
        assert(range->references == 0);
        range_close(range);
        take_out(part, range);
        range_free(range);
    }
    part_free(part);
}

void part_halt(struct part *part)
{
    for (size_t i = 0; i < part->slot_count; i++) {
        for (struct part_range *range = part->slots[i]; range; range = range->chain) {
            world_lock(part->world, &range->lock);
            range->is_halted = range->is_closing = true;
            world_wake_all(part->world, &range->changed);
            world_unlock(part->world, &range->lock);
            if (range->resolver)
                world_thread_join(part->world, range->resolver);
            range->resolver = NULL;
        }
    }
}

void part_abandon(struct part *part)
{
    struct part_range *range;
    while ((range = any_range(part)) != NULL) {
        take_out(part, range);
        range_free(range);
    }
    part_free(part);
}

/* --- Acquiring --- */

static bool was_dropped(const struct part *part, struct uuid id)
{
    size_t count = part->dropped_count < DROPPED_MAX ? part->dropped_count : DROPPED_MAX;
    for (size_t i = 0; i < count; i++)
        if (uuid_equal(part->dropped[i], id))
            return true;
    return false;
}

/* Under the part's lock; frees what could not be opened when its last holder leaves. */
static void let_go(struct part *part, struct part_range *range)
{
    assert(range->references > 0);
    if (--range->references > 0)
        return;
    world_wake_all(part->world, &part->changed);
    if (atomic_load(&range->state) == RANGE_UNOPENED)
        range_free(range);
}

static void open_new(struct part *part, struct part_range *range)
{
    insert(part, range);
    world_unlock(part->world, &part->lock);
    bool is_open = range_open(range);
    world_lock(part->world, &part->lock);
    if (!is_open) {
        PROBE("part: a range cannot be opened");
        take_out(part, range);
    }
    atomic_store_explicit(&range->state, is_open ? RANGE_OPEN : RANGE_UNOPENED, memory_order_release);
    world_wake_all(part->world, &part->changed);
}

enum fault part_range_acquire(struct call *call, struct part *part, struct uuid id, struct part_range **out)
{
    world_lock(part->world, &part->lock);
    struct part_range *range = *find(part, id);
    bool is_dropped = range ? range->is_dropping : was_dropped(part, id);
    if (is_dropped) {
        world_unlock(part->world, &part->lock);
        return fail(call, FAULT_RESOURCE_NOT_FOUND, "Requested resource not found");
    }
    if (range) {
        range->references++;
        while (atomic_load(&range->state) == RANGE_OPENING) {
            PROBE("part: a call waits while another opens the range");
            world_wait(part->world, &part->changed, &part->lock, -1);
        }
    } else {
        range = range_new(part, id);
        range->references = 1;
        open_new(part, range);
    }
    bool is_open = range_is_open(range);
    if (!is_open)
        let_go(part, range);
    world_unlock(part->world, &part->lock);
    *out = is_open ? range : NULL;
    return is_open ? FAULT_NONE : range_fail(call);
}

void part_range_release(struct part_range *range)
{
    struct part *part = range->part;
    world_lock(part->world, &part->lock);
    let_go(part, range);
    world_unlock(part->world, &part->lock);
}

bool part_range_drop(struct part *part, struct uuid id)
{
    world_lock(part->world, &part->lock);
    if (!was_dropped(part, id))
        part->dropped[part->dropped_count++ % DROPPED_MAX] = id;
    struct part_range *range = *find(part, id);
    if (range) {
        range->is_dropping = true;
        while (range->references > 0) {
            PROBE("part: a drop waits for calls under way");
            world_wait(part->world, &part->changed, &part->lock, -1);
            if (*find(part, id) != range) { /* it could not be opened, and is gone */
                range = NULL;
                break;
            }
        }
    }
    if (range)
        take_out(part, range);
    world_unlock(part->world, &part->lock);
    if (range) {
        range_close(range);
        range_free(range);
    }
    return store_range_drop(part->options.store, id) == STORE_OK;
}
