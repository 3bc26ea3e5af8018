/* The oracles: a sequential model of the items, checked against what clients were told.
 *
 * Within a life (from one opening of the store to the next) the changes of a key, in the order of their stamps, form a chain:
 * each was decided on the one before it. Position 0 is what the life began with, position i is after the i-th change. When the
 * life is over the range says up to which stamp its changes are durable; that cuts the chain. A history is right when
 *   - every acknowledged change is before the cut, and the next life begins with what the cut leaves,
 *   - every answer that showed an item, or its absence, showed a position before the cut,
 *   - what was answered before something else was asked for stands before it (linearizability),
 *   - the change log holds exactly the changes before the cuts, in the order of their stamps,
 *   - counters, at any moment, are those of the changes up to the stamp that they name. */
#include "torture/torture_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

void history_open(struct history *history)
{
    *history = (struct history){0};
}

void history_close(struct history *history)
{
    free(history->events);
    free(history->samples);
    free(history->log);
}

static void *array_room(void *array, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity ? *capacity * 2 : 256;
    array = realloc(array, *capacity * element_bytes);
    assert(array);
    return array;
}

size_t history_add(struct history *history, const struct event *event)
{
    history->events = array_room(history->events, history->event_count, &history->event_capacity, sizeof *event);
    history->events[history->event_count] = *event;
    return history->event_count++;
}

void history_add_sample(struct history *history, const struct count_sample *sample)
{
    history->samples = array_room(history->samples, history->sample_count, &history->sample_capacity, sizeof *sample);
    history->samples[history->sample_count++] = *sample;
}

void history_add_log(struct history *history, const struct log_entry *entry)
{
    history->log = array_room(history->log, history->log_count, &history->log_capacity, sizeof *entry);
    history->log[history->log_count++] = *entry;
}

/* --- Chains --- */

/* The changes of one key in one life, and what was seen of them. */
struct chain {
    const struct history *history;
    uint32_t life, key;
    const struct event **changes; /* by stamp; position i + 1 */
    size_t length;
    size_t durable;               /* changes before the cut */
    const struct event **all;     /* changes and observations, by the time they were invoked */
    size_t all_count;
    size_t *positions;            /* of `all` */
};

static bool states_equal(const struct state *a, const struct state *b)
{
    if (!a->has_item || !b->has_item)
        return a->has_item == b->has_item;
    return a->stamp == b->stamp && a->number == b->number && a->mark == b->mark && a->size == b->size;
}

static const struct state *chain_state(const struct chain *chain, size_t position)
{
    return position == 0 ? &chain->history->start[chain->life][chain->key] : &chain->changes[position - 1]->after;
}

__attribute__((format(printf, 4, 5))) static bool found(const struct chain *chain, struct arena *arena, str *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    str text = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    *finding = arena_printf(arena, "key %u, life %u: %.*s", chain->key, chain->life, STR_ARG(text));
    return false;
}

static int by_stamp(const void *left, const void *right)
{
    const struct event *a = *(const struct event *const *)left, *b = *(const struct event *const *)right;
    if (a->life != b->life)
        return a->life < b->life ? -1 : 1;
    return (a->after.stamp > b->after.stamp) - (a->after.stamp < b->after.stamp);
}

static int by_invocation(const void *left, const void *right)
{
    const struct event *a = *(const struct event *const *)left, *b = *(const struct event *const *)right;
    return (a->invoked > b->invoked) - (a->invoked < b->invoked);
}

static void chain_open(struct chain *chain, const struct history *history, struct arena *arena, uint32_t life, uint32_t key)
{
    *chain = (struct chain){.history = history, .life = life, .key = key};
    chain->changes = arena_alloc(arena, (history->event_count + 1) * sizeof *chain->changes);
    chain->all = arena_alloc(arena, (history->event_count + 1) * sizeof *chain->all);
    for (size_t i = 0; i < history->event_count; i++) {
        const struct event *event = &history->events[i];
        if (event->life != life || event->key != key || event->is_void)
            continue;
        chain->all[chain->all_count++] = event;
        if (event->is_change)
            chain->changes[chain->length++] = event;
    }
    chain->positions = ARENA_NEW_ARRAY(arena, size_t, chain->all_count + 1);
    qsort(chain->changes, chain->length, sizeof *chain->changes, by_stamp);
    qsort(chain->all, chain->all_count, sizeof *chain->all, by_invocation);
    uint64_t cut = history->start_stamp[life + 1][range_of_key(history, key)];
    while (chain->durable < chain->length && chain->changes[chain->durable]->after.stamp <= cut)
        chain->durable++;
}

static bool check_links(const struct chain *chain, struct arena *arena, str *finding)
{
    const struct history *history = chain->history;
    uint64_t last = history->start_stamp[chain->life][range_of_key(history, chain->key)];
    for (size_t i = 0; i < chain->length; i++) {
        const struct event *change = chain->changes[i];
        if (change->after.stamp <= last)
            return found(chain, arena, finding, "stamp %" PRIu64 " is not above %" PRIu64, change->after.stamp, last);
        if (!states_equal(&change->before, chain_state(chain, i)))
            return found(chain, arena, finding, "change %" PRIu64 " (mark %" PRIu64 ") was decided on mark %" PRIu64 ", not on the newest, %" PRIu64,
                change->after.stamp, change->after.mark, change->before.mark, chain_state(chain, i)->mark);
        if (i >= chain->durable && change->answered < NEVER_ANSWERED)
            return found(chain, arena, finding, "change %" PRIu64 " (mark %" PRIu64 ") was acknowledged and is lost", change->after.stamp, change->after.mark);
        last = change->after.stamp;
    }
    if (!states_equal(chain_state(chain, chain->durable), &history->start[chain->life + 1][chain->key]))
        return found(chain, arena, finding, "the next life begins with mark %" PRIu64 ", not with %" PRIu64 " as its durable changes say",
            history->start[chain->life + 1][chain->key].mark, chain_state(chain, chain->durable)->mark);
    return true;
}

/* The position that an event made or saw, at or above `least`; SIZE_MAX when there is none. */
static size_t position_of(const struct chain *chain, const struct event *event, size_t least)
{
    const struct state *seen = event->is_change ? &event->after : &event->before;
    for (size_t i = event->is_change ? 1 : 0; i <= chain->length; i++) {
        if (event->is_change ? chain->changes[i - 1] == event : states_equal(chain_state(chain, i), seen) && (seen->has_item || i >= least))
            return i;
    }
    return SIZE_MAX;
}

static bool check_order(const struct chain *chain, struct arena *arena, str *finding)
{
    for (size_t i = 0; i < chain->all_count; i++) {
        const struct event *event = chain->all[i];
        size_t least = 0;
        uint64_t least_mark = 0;
        for (size_t j = 0; j < chain->all_count; j++) {
            if (chain->all[j]->answered < event->invoked && chain->positions[j] >= least) {
                least = chain->positions[j];
                least_mark = chain_state(chain, least)->mark;
            }
        }
        size_t position = position_of(chain, event, least);
        const struct state *seen = event->is_change ? &event->after : &event->before;
        if (position == SIZE_MAX)
            return found(chain, arena, finding, "client %u saw %s, mark %" PRIu64 ", which nobody wrote or which was overwritten before (time %" PRIu64 ")",
                event->client, seen->has_item ? "an item" : "no item", seen->mark, event->invoked);
        if (position < least + event->is_change)
            return found(chain, arena, finding, "client %u at time %" PRIu64 " %s mark %" PRIu64 " although mark %" PRIu64 " was answered before", event->client,
                event->invoked, event->is_change ? "wrote" : "saw", seen->mark, least_mark);
        if (!event->is_change && position > chain->durable)
            return found(chain, arena, finding, "client %u at time %" PRIu64 " was shown mark %" PRIu64 ", which was not durable", event->client, event->invoked,
                seen->mark);
        if (!event->is_change && position > 0 && chain->changes[position - 1]->invoked > event->answered)
            return found(chain, arena, finding, "client %u was shown mark %" PRIu64 " before it was written", event->client, seen->mark);
        chain->positions[i] = position;
    }
    return true;
}

/* --- What spans keys --- */

/* The changes of a range that are durable, in order. */
static const struct event **durable_changes(const struct history *history, struct arena *arena, uint32_t range, size_t *count)
{
    const struct event **changes = arena_alloc(arena, (history->event_count + 1) * sizeof *changes);
    *count = 0;
    for (size_t i = 0; i < history->event_count; i++) {
        const struct event *event = &history->events[i];
        if (event->is_change && range_of_key(history, event->key) == range && event->after.stamp <= history->start_stamp[event->life + 1][range])
            changes[(*count)++] = event;
    }
    qsort(changes, *count, sizeof *changes, by_stamp);
    return changes;
}

static bool check_sample(const struct count_sample *sample, const struct event **changes, size_t count, struct arena *arena, str *finding)
{
    struct part_range_counts truth = {.last_stamp = sample->counts.last_stamp};
    for (size_t i = 0; i < count && changes[i]->after.stamp <= sample->counts.last_stamp; i++) {
        const struct event *change = changes[i];
        truth.items += (uint64_t)change->after.has_item - (uint64_t)change->before.has_item;
        truth.bytes += (uint64_t)change->after.size - change->before.size;
        if (!change->after.has_item)
            truth.highest_deleted_stamp = change->after.stamp;
    }
    for (size_t i = 0; i < count; i++) {
        if (changes[i]->answered < sample->invoked && changes[i]->after.stamp > sample->counts.last_stamp) {
            *finding = arena_printf(arena, "range %u, life %u: counters are at stamp %" PRIu64 " although change %" PRIu64 " was acknowledged before", sample->range,
                sample->life, sample->counts.last_stamp, changes[i]->after.stamp);
            return false;
        }
    }
    if (memcmp(&truth, &sample->counts, sizeof truth) == 0)
        return true;
    *finding = arena_printf(arena,
        "range %u, life %u: counters at stamp %" PRIu64 " are %" PRIu64 " items, %" PRIu64 " bytes, highest deleted %" PRIu64 "; in truth %" PRIu64 ", %" PRIu64 ", %" PRIu64,
        sample->range, sample->life, sample->counts.last_stamp, sample->counts.items, sample->counts.bytes, sample->counts.highest_deleted_stamp, truth.items,
        truth.bytes, truth.highest_deleted_stamp);
    return false;
}

static bool image_is_right(const struct log_entry *entry, bool is_wanted, const struct state *image, const struct state *truth)
{
    (void)entry;
    if (!is_wanted || !truth->has_item)
        return true;
    return image->has_item && image->mark == truth->mark && image->number == truth->number && image->size == truth->size;
}

static bool check_log(const struct history *history, uint32_t range, const struct event **changes, size_t count, struct arena *arena, str *finding)
{
    size_t next = 0;
    while (next < count && changes[next]->after.stamp <= history->log_start[range])
        next++;
    for (size_t i = 0; i < history->log_count; i++) {
        const struct log_entry *entry = &history->log[i];
        if (entry->range != range)
            continue;
        const struct event *change = next < count ? changes[next] : NULL;
        if (!change || change->after.stamp != entry->stamp || change->key != entry->key) {
            *finding = arena_printf(arena, "range %u: the log has stamp %" PRIu64 " of key %u where change %" PRIu64 " of key %u comes next", range, entry->stamp,
                entry->key, change ? change->after.stamp : 0, change ? change->key : 0);
            return false;
        }
        if (entry->had_item != change->before.has_item || entry->has_item != change->after.has_item ||
            !image_is_right(entry, history->images & LOG_OLD_IMAGE, &entry->before, &change->before) ||
            !image_is_right(entry, history->images & LOG_NEW_IMAGE, &entry->after, &change->after)) {
            *finding = arena_printf(arena, "range %u: the log's record %" PRIu64 " shows other images than the change had", range, entry->stamp);
            return false;
        }
        next++;
    }
    if (next < count) {
        *finding = arena_printf(arena, "range %u: the log misses change %" PRIu64 " of key %u", range, changes[next]->after.stamp, changes[next]->key);
        return false;
    }
    return true;
}

static bool check_range(const struct history *history, uint32_t range, struct arena *arena, str *finding)
{
    size_t count;
    const struct event **changes = durable_changes(history, arena, range, &count);
    for (size_t i = 1; i < count; i++) {
        if (changes[i]->after.stamp <= changes[i - 1]->after.stamp) {
            *finding = arena_printf(arena, "range %u: stamp %" PRIu64 " follows %" PRIu64, range, changes[i]->after.stamp, changes[i - 1]->after.stamp);
            return false;
        }
    }
    for (size_t i = 0; i < history->sample_count; i++)
        if (history->samples[i].range == range && !check_sample(&history->samples[i], changes, count, arena, finding))
            return false;
    return history->log_start[range] == UINT64_MAX || check_log(history, range, changes, count, arena, finding);
}

bool history_check(const struct history *history, struct arena *arena, str *finding)
{
    for (uint32_t life = 0; life < history->life_count; life++) {
        for (uint32_t key = 0; key < history->key_count; key++) {
            struct chain chain;
            chain_open(&chain, history, arena, life, key);
            if (!check_links(&chain, arena, finding) || !check_order(&chain, arena, finding))
                return false;
        }
    }
    for (uint32_t range = 0; range < history->range_count; range++)
        if (!check_range(history, range, arena, finding))
            return false;
    return true;
}
