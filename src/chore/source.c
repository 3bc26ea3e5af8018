/* The ranges of tables that feed global indexes: found by their id, and in the queue of those with work. */
#include "chore/chore_internal.h"

#include <assert.h>
#include <stdlib.h>

enum { SLOTS_FIRST = 64 };

static struct source **slot_of(const struct chore *chore, struct uuid id)
{
    return &chore->slots[bytes_get_u64(id.bytes + 8) & (chore->slot_count - 1)];
}

static void grow(struct chore *chore)
{
    struct source **old = chore->slots;
    size_t old_count = chore->slot_count;
    chore->slot_count = old_count ? old_count * 2 : SLOTS_FIRST;
    chore->slots = chore_allocate(chore->slot_count * sizeof(struct source *));
    for (size_t i = 0; i < old_count; i++) {
        while (old[i]) {
            struct source *source = old[i];
            old[i] = source->chain;
            struct source **slot = slot_of(chore, source->id);
            source->chain = *slot;
            *slot = source;
        }
    }
    free(old);
}

struct source *source_find(struct chore *chore, struct uuid id)
{
    struct source *source = chore->slot_count ? *slot_of(chore, id) : NULL;
    while (source && !uuid_equal(source->id, id))
        source = source->chain;
    return source;
}

struct source *source_add(struct chore *chore, struct uuid id, struct uuid table)
{
    if (chore->source_count >= chore->slot_count)
        grow(chore);
    struct source *source = chore_allocate(sizeof *source);
    struct source **slot = slot_of(chore, id);
    *source = (struct source){.chain = *slot, .id = id, .table = table, .pause_us = PAUSE_FIRST_US};
    *slot = source;
    chore->source_count++;
    return source;
}

/* --- Lists --- */

static struct source_list *list_of(struct chore *chore, const struct source *source)
{
    return source->state == SOURCE_READY ? &chore->ready : source->state == SOURCE_DELAYED ? &chore->delayed : NULL;
}

static void take_out(struct chore *chore, struct source *source)
{
    struct source_list *list = list_of(chore, source);
    if (!list)
        return;
    *(source->previous ? &source->previous->next : &list->first) = source->next;
    *(source->next ? &source->next->previous : &list->last) = source->previous;
    source->next = source->previous = NULL;
    source->state = SOURCE_IDLE;
}

static void put(struct chore *chore, struct source *source, enum source_state state)
{
    source->state = state;
    struct source_list *list = list_of(chore, source);
    if (!list)
        return;
    source->previous = list->last;
    source->next = NULL;
    *(list->last ? &list->last->next : &list->first) = source;
    list->last = source;
}

void source_queue(struct chore *chore, struct source *source)
{
    if (source->state == SOURCE_HELD || (source->state == SOURCE_DELAYED && source->is_failing)) {
        source->is_dirty = true;
        return;
    }
    if (source->state == SOURCE_READY)
        return;
    take_out(chore, source);
    put(chore, source, SOURCE_READY);
    world_wake_one(chore->world, &chore->mover_wake);
}

bool source_hold(struct chore *chore, struct source *source)
{
    while (source->state == SOURCE_HELD && !chore->is_stopping)
        world_wait(chore->world, &chore->changed, &chore->lock, -1);
    if (chore->is_stopping)
        return false;
    take_out(chore, source);
    source->state = SOURCE_HELD;
    return true;
}

void source_release(struct chore *chore, struct source *source, enum source_state next, int64_t due_us)
{
    assert(source->state == SOURCE_HELD && next != SOURCE_HELD);
    if (source->is_dirty && !(next == SOURCE_DELAYED && source->is_failing)) {
        source->is_dirty = false;
        next = SOURCE_READY;
    }
    source->due_us = due_us;
    put(chore, source, next);
    if (next != SOURCE_IDLE)
        world_wake_one(chore->world, &chore->mover_wake);
    world_wake_all(chore->world, &chore->changed);
}

struct source *source_take(struct chore *chore, int64_t *look_again_us)
{
    int64_t now_us = world_mono_us(chore->world);
    *look_again_us = -1;
    for (struct source *source = chore->delayed.first, *next; source; source = next) {
        next = source->next;
        if (source->due_us <= now_us) {
            take_out(chore, source);
            put(chore, source, SOURCE_READY);
        } else if (*look_again_us < 0 || source->due_us < *look_again_us) {
            *look_again_us = source->due_us;
        }
    }
    struct source *source = chore->ready.first;
    if (!source)
        return NULL;
    take_out(chore, source);
    source->state = SOURCE_HELD;
    source->is_dirty = false;
    return source;
}

static void source_free(struct source *source)
{
    for (size_t i = 0; i < source->lane_count; i++)
        lane_close(&source->lanes[i]);
    free(source->lanes);
    free(source);
}

void source_remove(struct chore *chore, struct source *source)
{
    struct source **at = slot_of(chore, source->id);
    while (*at != source)
        at = &(*at)->chain;
    *at = source->chain;
    chore->source_count--;
    metric_add(&chore->waiting, -(int64_t)source->waiting);
    source_free(source);
    world_wake_all(chore->world, &chore->changed);
}

void source_free_all(struct chore *chore)
{
    for (size_t i = 0; i < chore->slot_count; i++) {
        while (chore->slots[i]) {
            struct source *source = chore->slots[i];
            chore->slots[i] = source->chain;
            source_free(source);
        }
    }
    free(chore->slots);
}
