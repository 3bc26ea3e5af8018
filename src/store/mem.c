/* The mem engine: each range is a tree in memory. With plain manners `done` is called inside apply; what Ceph RADOS does
   differently is in mem_rados.c. */
#include "store/mem_internal.h"

#include "base/probe.h"

#include <assert.h>
#include <stdlib.h>

bool mem_chance(struct mem_store *store, uint32_t in_10000)
{
    return in_10000 > 0 && world_random_below(store->base.world, 10000) < in_10000;
}

static struct mem_store *mem_of(struct store *store)
{
    return (struct mem_store *)store;
}

static struct mem_range *range_of(struct store_range *range)
{
    return (struct mem_range *)range;
}

static struct mem_store *store_of(const struct mem_range *range)
{
    return (struct mem_store *)range->base.store;
}

/* --- the table of ranges --- */

static struct mem_range **table_place(struct mem_store *store, struct uuid id)
{
    struct mem_range **place = &store->table[bytes_get_u64(id.bytes + 8) % store->table_places];
    while (*place != NULL && !uuid_equal((*place)->base.id, id))
        place = &(*place)->chain;
    return place;
}

static void table_grow(struct mem_store *store)
{
    struct mem_range **old = store->table;
    size_t old_places = store->table_places;
    store->table_places = old_places ? old_places * 2 : MEM_TABLE_FIRST;
    store->table = store_alloc_zeroed(store->table_places * sizeof *store->table);
    for (size_t at = 0; at < old_places; at++) {
        while (old[at] != NULL) {
            struct mem_range *range = old[at];
            old[at] = range->chain;
            range->chain = NULL;
            *table_place(store, range->base.id) = range;
        }
    }
    free(old);
}

static void range_free(struct mem_range *range)
{
    struct world *world = range->base.store->world;
    if (range->surfacing != NULL)
        mem_late_free(range->surfacing);
    tree_close(&range->tree);
    world_cond_close(world, &range->drained);
    world_mutex_close(world, &range->lock);
    free(range);
}

/* After a failure or a lost reply: what the write left behind shows now. */
static void range_recover(struct mem_range *range)
{
    range->has_failed = false;
    range->is_unsure = false;
    if (range->surfacing != NULL) {
        PROBE("mem: a failed group shows after reopening");
        (void)mem_group_write(range, &range->surfacing->group);
        mem_late_free(range->surfacing);
        range->surfacing = NULL;
    }
}

static enum store_result mem_range_open(struct store *base, struct uuid id, struct store_range **out)
{
    struct mem_store *store = mem_of(base);
    world_lock(base->world, &store->lock);
    struct mem_range **place = table_place(store, id);
    struct mem_range *range = *place;
    if (range == NULL) {
        range = store_alloc_zeroed(sizeof *range);
        range->base.store = base;
        range->base.id = id;
        world_mutex_open(base->world, &range->lock);
        world_cond_open(base->world, &range->drained);
        tree_open(&range->tree);
        *place = range;
        if (++store->range_count > store->table_places)
            table_grow(store);
    }
    assert(!range->is_open);
    range_recover(range);
    range->is_open = true;
    world_unlock(base->world, &store->lock);
    *out = &range->base;
    return STORE_OK;
}

static void mem_range_close(struct store_range *base)
{
    struct mem_range *range = range_of(base);
    struct world *world = base->store->world;
    /* The last `done` may have been called a moment ago by a thread that has yet to leave apply. */
    world_lock(world, &range->lock);
    while (range->is_draining)
        world_wait(world, &range->drained, &range->lock, -1);
    assert(range->first == NULL);
    range->is_open = false;
    world_unlock(world, &range->lock);
}

static enum store_result mem_range_drop(struct store *base, struct uuid id)
{
    struct mem_store *store = mem_of(base);
    world_lock(base->world, &store->lock);
    struct mem_range **place = table_place(store, id);
    struct mem_range *range = *place;
    if (range != NULL) {
        assert(!range->is_open);
        *place = range->chain;
        store->range_count--;
        mem_rados_forget(store, range);
    }
    world_unlock(base->world, &store->lock);
    if (range != NULL)
        range_free(range);
    return STORE_OK;
}

/* --- reading --- */

static bool read_begin(struct mem_range *range)
{
    struct mem_store *store = store_of(range);
    bool fails = mem_chance(store, store->options.faults.read_fail);
    world_lock(store->base.world, &range->lock);
    assert(range->is_open);
    if (!fails && !range->has_failed)
        return true;
    world_unlock(store->base.world, &range->lock);
    return false;
}

static void read_end(struct mem_range *range)
{
    world_unlock(range->base.store->world, &range->lock);
}

static enum store_result mem_get(struct store_range *base, str key, struct arena *arena, str *value)
{
    struct mem_range *range = range_of(base);
    str stored;
    if (!read_begin(range))
        return STORE_FAILED;
    bool found = tree_get(&range->tree, key, &stored);
    if (found)
        *value = arena_copy(arena, stored);
    read_end(range);
    return found ? STORE_OK : STORE_ABSENT;
}

static enum store_result mem_multi_get(struct store_range *base, const str *keys, size_t count, struct arena *arena, str *values)
{
    struct mem_range *range = range_of(base);
    if (!read_begin(range))
        return STORE_FAILED;
    for (size_t at = 0; at < count; at++) {
        str stored;
        values[at] = tree_get(&range->tree, keys[at], &stored) ? arena_copy(arena, stored) : STR_NONE;
    }
    read_end(range);
    return STORE_OK;
}

static void scan_forward(const struct tree *tree, struct page_builder *builder)
{
    str key, value, upper = builder->scan->upper;
    for (struct tree_cursor cursor = tree_seek(tree, builder->scan->lower); cursor.leaf != NULL; tree_next(&cursor)) {
        tree_row(&cursor, &key, &value);
        if (upper.len > 0 && str_compare(key, upper) >= 0)
            return;
        if (!page_builder_add(builder, key, value))
            return;
    }
}

static void scan_backward(const struct tree *tree, struct page_builder *builder)
{
    str key, value;
    for (struct tree_cursor cursor = tree_seek_below(tree, builder->scan->upper); cursor.leaf != NULL; tree_previous(&cursor)) {
        tree_row(&cursor, &key, &value);
        if (str_compare(key, builder->scan->lower) < 0)
            return;
        if (!page_builder_add(builder, key, value))
            return;
    }
}

static enum store_result mem_scan(struct store_range *base, const struct store_scan *scan, struct arena *arena, struct store_page *page)
{
    struct mem_range *range = range_of(base);
    struct store_scan wanted = *scan;
    struct page_builder builder;
    store_scan_check(base->store, scan);
    if (store_of(range)->options.manners == STORE_MANNERS_RADOS && wanted.rows_max > STORE_PAGE_ROWS_MAX)
        wanted.rows_max = STORE_PAGE_ROWS_MAX;
    page_builder_open(&builder, &wanted, arena, page);
    if (!read_begin(range))
        return STORE_FAILED;
    if (scan->reverse)
        scan_backward(&range->tree, &builder);
    else
        scan_forward(&range->tree, &builder);
    read_end(range);
    return STORE_OK;
}

/* --- writing --- */

static bool guards_hold(const struct tree *tree, const struct store_group *group)
{
    for (size_t at = 0; at < group->guard_count; at++) {
        str stored = STR_NONE;
        if (!tree_get(tree, group->guards[at].key, &stored))
            stored = STR_NONE;
        if (!str_equal(stored, group->guards[at].value))
            return false;
    }
    return true;
}

static enum store_result group_write_locked(struct mem_range *range, const struct store_group *group)
{
    if (!guards_hold(&range->tree, group))
        return STORE_REFUSED;
    for (size_t at = 0; at < group->write_count; at++) {
        const struct store_write *write = &group->writes[at];
        if (write->value.data != NULL)
            tree_put(&range->tree, write->key, write->value);
        else
            (void)tree_delete(&range->tree, write->key);
    }
    return STORE_OK;
}

enum store_result mem_group_write(struct mem_range *range, const struct store_group *group)
{
    struct world *world = range->base.store->world;
    world_lock(world, &range->lock);
    enum store_result result = group_write_locked(range, group);
    world_unlock(world, &range->lock);
    return result;
}

struct mem_late *mem_late_new(struct mem_range *range, const struct store_group *group, int64_t due_us)
{
    struct mem_late *late = store_alloc_zeroed(sizeof *late);
    late->range = range;
    late->due_us = due_us;
    arena_open(&late->arena, NULL);
    struct store_guard *guards = ARENA_NEW_ARRAY(&late->arena, struct store_guard, group->guard_count + 1);
    struct store_write *writes = ARENA_NEW_ARRAY(&late->arena, struct store_write, group->write_count + 1);
    for (size_t at = 0; at < group->guard_count; at++) {
        guards[at].key = arena_copy(&late->arena, group->guards[at].key);
        guards[at].value = arena_copy(&late->arena, group->guards[at].value);
    }
    for (size_t at = 0; at < group->write_count; at++) {
        writes[at].key = arena_copy(&late->arena, group->writes[at].key);
        writes[at].value = group->writes[at].value.data ? arena_copy(&late->arena, group->writes[at].value) : STR_NONE;
    }
    late->group = (struct store_group){.guards = guards, .guard_count = group->guard_count, .writes = writes, .write_count = group->write_count};
    return late;
}

void mem_late_free(struct mem_late *late)
{
    arena_close(&late->arena);
    free(late);
}

/* One group in plain manners. Called with the range's lock, which it may give up while it is slow. */
static enum store_result group_apply_plain(struct mem_range *range, struct store_group *group)
{
    struct mem_store *store = store_of(range);
    const struct store_mem_faults *faults = &store->options.faults;
    struct world *world = store->base.world;
    if (mem_chance(store, faults->slow)) {
        world_unlock(world, &range->lock);
        world_sleep_us(world, (int64_t)world_random_below(world, 50000));
        world_lock(world, &range->lock);
    }
    if (!range->has_failed && mem_chance(store, faults->fail)) {
        PROBE("mem: a group fails");
        range->has_failed = true;
        if (world_random_below(world, 2) == 0)
            range->surfacing = mem_late_new(range, group, 0);
    }
    return range->has_failed ? STORE_FAILED : group_write_locked(range, group);
}

/* A `done` that calls apply, and a thread that comes while another is here, only queue: so `done` is called in order and
   the stack stays flat. */
static void mem_apply_plain(struct mem_range *range, struct store_group *group)
{
    struct world *world = range->base.store->world;
    world_lock(world, &range->lock);
    assert(range->is_open);
    if (range->first != NULL)
        range->last->next = group;
    else
        range->first = group;
    range->last = group;
    if (range->is_draining) {
        world_unlock(world, &range->lock);
        return;
    }
    range->is_draining = true;
    while (range->first != NULL) {
        struct store_group *next = range->first;
        enum store_result result = group_apply_plain(range, next);
        range->first = next->next;
        world_unlock(world, &range->lock);
        next->done(next, result);
        world_lock(world, &range->lock);
    }
    range->is_draining = false;
    world_wake_all(world, &range->drained);
    world_unlock(world, &range->lock);
}

static void mem_apply(struct store_range *base, struct store_group *group)
{
    struct mem_range *range = range_of(base);
    store_group_check(group);
    group->next = NULL;
    if (store_of(range)->options.manners == STORE_MANNERS_RADOS)
        mem_rados_apply(range, group);
    else
        mem_apply_plain(range, group);
}

/* --- the store --- */

static void mem_close(struct store *base)
{
    struct mem_store *store = mem_of(base);
    if (store->thread != NULL)
        mem_rados_stop(store);
    for (size_t at = 0; at < store->table_places; at++) {
        while (store->table[at] != NULL) {
            struct mem_range *range = store->table[at];
            assert(!range->is_open);
            store->table[at] = range->chain;
            range_free(range);
        }
    }
    free(store->table);
    world_mutex_close(base->world, &store->lock);
    free(store);
}

static const struct store_ops mem_ops = {
    .range_open = mem_range_open,
    .range_close = mem_range_close,
    .get = mem_get,
    .multi_get = mem_multi_get,
    .scan = mem_scan,
    .apply = mem_apply,
    .range_drop = mem_range_drop,
    .close = mem_close,
};

struct store *store_mem_new(struct world *world, const struct store_mem_options *options)
{
    struct mem_store *store = store_alloc_zeroed(sizeof *store);
    store->base.ops = &mem_ops;
    store->base.world = world;
    store->base.can_reverse = options->manners != STORE_MANNERS_RADOS;
    store->options = *options;
    world_mutex_open(world, &store->lock);
    table_grow(store);
    if (options->manners == STORE_MANNERS_RADOS)
        mem_rados_start(store);
    return &store->base;
}

void store_mem_set_faults(struct store *base, const struct store_mem_faults *faults)
{
    struct mem_store *store = mem_of(base);
    world_lock(base->world, &store->lock);
    store->options.faults = *faults;
    world_unlock(base->world, &store->lock);
}

void store_mem_crash(struct store *base)
{
    struct mem_store *store = mem_of(base);
    assert(base->ops == &mem_ops);
    world_lock(base->world, &store->lock);
    store->options.faults = (struct store_mem_faults){0};
    mem_rados_crash(store);
    for (size_t at = 0; at < store->table_places; at++) {
        for (struct mem_range *range = store->table[at]; range != NULL; range = range->chain) {
            assert(!range->is_draining);
            range_recover(range);
            range->is_open = false;
        }
    }
    world_unlock(base->world, &store->lock);
}
