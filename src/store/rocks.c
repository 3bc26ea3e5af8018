/* The rocks engine. All groups of all ranges go through one committer: it takes what waits, judges the guards, and makes one
   write of it that is synced before any `done` is called. RocksDB's batches across ranges serve the shared sync only; nobody
   above may rely on them (invariant I2). RocksDB's flush and compaction threads are its own: the one place where threads and
   time do not come from `world`. */
#include "store/rocks_internal.h"

#include "base/probe.h"

#include <assert.h>
#include <stdlib.h>

enum {
    BATCH_GROUPS_MAX = 1024,
    BATCH_BYTES_MAX = 4 << 20,   /* a batch ends behind the group that passes this */
    BATCH_KEPT_BYTES = 8 << 20,  /* a batch that grew larger is given back */
    KNOWN_VALUE_MAX = 1024
};

struct rocks_key {
    size_t bytes;
    char data[ROCKS_PREFIX_BYTES + STORE_KEY_MAX];
};

static void key_make(struct rocks_key *out, struct uuid id, str key)
{
    assert(key.len <= STORE_KEY_MAX);
    memcpy(out->data, id.bytes, ROCKS_PREFIX_BYTES);
    if (key.len > 0)
        memcpy(out->data + ROCKS_PREFIX_BYTES, key.data, key.len);
    out->bytes = ROCKS_PREFIX_BYTES + key.len;
}

/* The first bytes above every key of the range. False for the very last id: nothing is above it. */
static bool key_make_end(struct rocks_key *out, struct uuid id)
{
    key_make(out, id, STR_NONE);
    for (size_t at = ROCKS_PREFIX_BYTES; at-- > 0;) {
        out->data[at] = (char)((uint8_t)out->data[at] + 1);
        if (out->data[at] != 0)
            return true;
    }
    return false;
}

static struct rocks *rocks_of(struct store *store)
{
    return (struct rocks *)store;
}

static struct rocks_range *range_of(struct store_range *range)
{
    return (struct rocks_range *)range;
}

/* Takes RocksDB's error text; true when there was one. */
static bool is_error(struct rocks *rocks, const char *event, char *error)
{
    if (error == NULL)
        return false;
    log_event(rocks->log, LOG_ERROR, event, "%s", error);
    rocksdb_free(error);
    return true;
}

static bool has_failed(struct rocks *rocks)
{
    return atomic_load_explicit(&rocks->has_failed, memory_order_acquire);
}

static void store_fail(struct rocks *rocks)
{
    if (!atomic_exchange(&rocks->has_failed, true)) {
        metric_set(&rocks->failed, 1);
        log_event(rocks->log, LOG_ERROR, "storage stopped", "a write to disk failed; nothing more is written or read until stator is started again");
    }
}

/* --- ranges --- */

static enum store_result rocks_range_open(struct store *base, struct uuid id, struct store_range **out)
{
    struct rocks *rocks = rocks_of(base);
    if (has_failed(rocks))
        return STORE_FAILED;
    struct rocks_range *range = store_alloc_zeroed(sizeof *range);
    range->base.store = base;
    range->base.id = id;
    *out = &range->base;
    return STORE_OK;
}

static void known_forget(struct rocks_known *known)
{
    free(known->key);
    free(known->value);
    *known = (struct rocks_known){0};
}

static void rocks_range_close(struct store_range *base)
{
    struct rocks_range *range = range_of(base);
    known_forget(&range->known);
    free(range);
}

static bool range_has_rows(struct rocks *rocks, const struct rocks_key *start, const struct rocks_key *end, bool *has_rows)
{
    char *error = NULL;
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_iterate_upper_bound(options, end->data, end->bytes);
    rocksdb_iterator_t *rows = rocksdb_create_iterator(rocks->db, options);
    rocksdb_iter_seek(rows, start->data, start->bytes);
    *has_rows = rocksdb_iter_valid(rows) != 0;
    rocksdb_iter_get_error(rows, &error);
    rocksdb_iter_destroy(rows);
    rocksdb_readoptions_destroy(options);
    return !is_error(rocks, "storage read failed", error);
}

/* Durable as soon as the range's tombstone is; files that hold nothing else go at once, the rest with later compactions. */
static enum store_result rocks_range_drop(struct store *base, struct uuid id)
{
    struct rocks *rocks = rocks_of(base);
    struct rocks_key start, end;
    char *error = NULL;
    bool has_rows;
    if (has_failed(rocks))
        return STORE_FAILED;
    key_make(&start, id, STR_NONE);
    if (!key_make_end(&end, id)) {
        key_make(&end, id, STR_NONE);
        memset(end.data + ROCKS_PREFIX_BYTES, 0xff, STORE_KEY_MAX);
        memset(end.data, 0xff, ROCKS_PREFIX_BYTES);
        end.bytes = sizeof end.data; /* the largest key there is; it goes by itself below */
    }
    if (!range_has_rows(rocks, &start, &end, &has_rows))
        return STORE_FAILED;
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    if (has_rows)
        rocksdb_writebatch_delete_range(batch, start.data, start.bytes, end.data, end.bytes);
    if (end.bytes == sizeof end.data)
        rocksdb_writebatch_delete(batch, end.data, end.bytes);
    if (rocksdb_writebatch_count(batch) > 0)
        rocksdb_write(rocks->db, rocks->synced, batch, &error);
    rocksdb_writebatch_destroy(batch);
    if (is_error(rocks, "storage write failed", error)) {
        store_fail(rocks);
        return STORE_FAILED;
    }
    if (has_rows) {
        char *delete_error = NULL, *compact_error = NULL;
        rocksdb_delete_file_in_range_cf(rocks->db, rocks->family, start.data, start.bytes, end.data, end.bytes, &delete_error);
        (void)is_error(rocks, "storage could not delete files of a dropped range", delete_error);
        rocksdb_suggest_compact_range_cf(rocks->db, rocks->family, start.data, start.bytes, end.data, end.bytes, &compact_error);
        (void)is_error(rocks, "storage could not compact a dropped range", compact_error);
    }
    return STORE_OK;
}

/* --- reading --- */

static enum store_result rocks_get(struct store_range *base, str key, struct arena *arena, str *value)
{
    struct rocks *rocks = rocks_of(base->store);
    struct rocks_key full;
    char *error = NULL;
    if (has_failed(rocks))
        return STORE_FAILED;
    key_make(&full, base->id, key);
    rocksdb_pinnableslice_t *found = rocksdb_get_pinned(rocks->db, rocks->read, full.data, full.bytes, &error);
    if (is_error(rocks, "storage read failed", error))
        return STORE_FAILED;
    if (found == NULL)
        return STORE_ABSENT;
    size_t bytes;
    const char *data = rocksdb_pinnableslice_value(found, &bytes);
    *value = arena_copy(arena, str_of(data, bytes));
    rocksdb_pinnableslice_destroy(found);
    return STORE_OK;
}

static enum store_result rocks_multi_get(struct store_range *base, const str *keys, size_t count, struct arena *arena, str *values)
{
    struct rocks *rocks = rocks_of(base->store);
    enum store_result result = STORE_OK;
    if (has_failed(rocks))
        return STORE_FAILED;
    if (count == 0)
        return STORE_OK;
    const char **full = arena_alloc(arena, count * sizeof *full);
    size_t *lengths = arena_alloc(arena, count * sizeof *lengths);
    rocksdb_pinnableslice_t **found = ARENA_NEW_ARRAY(arena, rocksdb_pinnableslice_t *, count);
    char **errors = ARENA_NEW_ARRAY(arena, char *, count);
    for (size_t at = 0; at < count; at++) {
        lengths[at] = ROCKS_PREFIX_BYTES + keys[at].len;
        char *whole = arena_alloc_text(arena, lengths[at]);
        memcpy(whole, base->id.bytes, ROCKS_PREFIX_BYTES);
        memcpy(whole + ROCKS_PREFIX_BYTES, keys[at].data, keys[at].len);
        full[at] = whole;
    }
    rocksdb_batched_multi_get_cf(rocks->db, rocks->read, rocks->family, count, full, lengths, found, errors, false);
    for (size_t at = 0; at < count; at++) {
        values[at] = STR_NONE;
        if (is_error(rocks, "storage read failed", errors[at]))
            result = STORE_FAILED;
        if (found[at] == NULL)
            continue;
        size_t bytes;
        const char *data = rocksdb_pinnableslice_value(found[at], &bytes);
        values[at] = arena_copy(arena, str_of(data, bytes));
        rocksdb_pinnableslice_destroy(found[at]);
    }
    return result;
}

static enum store_result rocks_scan(struct store_range *base, const struct store_scan *scan, struct arena *arena, struct store_page *page)
{
    struct rocks *rocks = rocks_of(base->store);
    struct rocks_key lower, upper;
    struct page_builder builder;
    char *error = NULL;
    store_scan_check(base->store, scan);
    page_builder_open(&builder, scan, arena, page);
    if (has_failed(rocks))
        return STORE_FAILED;
    key_make(&lower, base->id, scan->lower);
    bool has_upper = true;
    if (scan->upper.len > 0)
        key_make(&upper, base->id, scan->upper);
    else
        has_upper = key_make_end(&upper, base->id);
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_iterate_lower_bound(options, lower.data, lower.bytes);
    if (has_upper)
        rocksdb_readoptions_set_iterate_upper_bound(options, upper.data, upper.bytes);
    rocksdb_readoptions_set_fill_cache(options, !scan->is_bulk);
    rocksdb_readoptions_set_background_purge_on_iterator_cleanup(options, 1);
    rocksdb_iterator_t *rows = rocksdb_create_iterator(rocks->db, options);
    if (scan->reverse)
        rocksdb_iter_seek_to_last(rows); /* below the upper bound */
    else
        rocksdb_iter_seek(rows, lower.data, lower.bytes);
    while (rocksdb_iter_valid(rows)) {
        size_t key_bytes, value_bytes;
        const char *key = rocksdb_iter_key(rows, &key_bytes);
        const char *value = rocksdb_iter_value(rows, &value_bytes);
        if (!page_builder_add(&builder, str_of(key + ROCKS_PREFIX_BYTES, key_bytes - ROCKS_PREFIX_BYTES), str_of(value, value_bytes)))
            break;
        if (scan->reverse)
            rocksdb_iter_prev(rows);
        else
            rocksdb_iter_next(rows);
    }
    rocksdb_iter_get_error(rows, &error);
    rocksdb_iter_destroy(rows);
    rocksdb_readoptions_destroy(options);
    return is_error(rocks, "storage read failed", error) ? STORE_FAILED : STORE_OK;
}

/* --- the committer --- */

enum judgement {
    JUDGED_HOLDS,
    JUDGED_REFUSED,
    JUDGED_LATER, /* cannot be told before the batch so far is written */
    JUDGED_FAILED
};

static void known_set(struct rocks_known *known, str key, str value)
{
    known_forget(known);
    if (value.len > KNOWN_VALUE_MAX)
        return;
    known->key = store_alloc(key.len);
    memcpy(known->key, key.data, key.len);
    known->key_bytes = key.len;
    if (value.len > 0) {
        known->value = store_alloc(value.len);
        memcpy(known->value, value.data, value.len);
        known->value_bytes = value.len;
    }
}

static bool known_is(const struct rocks_known *known, str key)
{
    return known->key_bytes > 0 && str_equal(str_of(known->key, known->key_bytes), key);
}

static enum judgement guard_judge(struct rocks *rocks, struct rocks_range *range, const struct store_guard *guard)
{
    if (known_is(&range->known, guard->key))
        return str_equal(str_of(range->known.value, range->known.value_bytes), guard->value) ? JUDGED_HOLDS : JUDGED_REFUSED;
    if (range->batch_number == rocks->batch_number)
        return JUDGED_LATER;
    struct rocks_key full;
    char *error = NULL;
    key_make(&full, range->base.id, guard->key);
    rocksdb_pinnableslice_t *found = rocksdb_get_pinned(rocks->db, rocks->read, full.data, full.bytes, &error);
    if (is_error(rocks, "storage read failed", error))
        return JUDGED_FAILED;
    str stored = STR_NONE;
    if (found != NULL)
        stored.data = rocksdb_pinnableslice_value(found, &stored.len);
    bool holds = str_equal(stored, guard->value);
    known_set(&range->known, guard->key, stored);
    if (found != NULL)
        rocksdb_pinnableslice_destroy(found);
    return holds ? JUDGED_HOLDS : JUDGED_REFUSED;
}

static enum judgement group_judge(struct rocks *rocks, const struct store_group *group)
{
    for (size_t at = 0; at < group->guard_count; at++) {
        enum judgement judgement = guard_judge(rocks, range_of(group->range), &group->guards[at]);
        if (judgement != JUDGED_HOLDS)
            return judgement;
    }
    return JUDGED_HOLDS;
}

static size_t batch_add(struct rocks *rocks, const struct store_group *group)
{
    struct rocks_range *range = range_of(group->range);
    struct rocks_key full;
    size_t bytes = 0;
    for (size_t at = 0; at < group->write_count; at++) {
        const struct store_write *write = &group->writes[at];
        key_make(&full, range->base.id, write->key);
        if (write->value.data != NULL)
            rocksdb_writebatch_put(rocks->batch, full.data, full.bytes, write->value.data, write->value.len);
        else
            rocksdb_writebatch_delete(rocks->batch, full.data, full.bytes);
        if (known_is(&range->known, write->key))
            known_set(&range->known, write->key, write->value);
        bytes += full.bytes + write->value.len;
    }
    if (group->write_count > 0)
        range->batch_number = rocks->batch_number;
    return bytes;
}

/* Writes and syncs the batch; true when it is durable. */
static bool batch_write(struct rocks *rocks)
{
    struct world *world = rocks->base.world;
    char *error = NULL;
    int64_t start_us = world_mono_us(world);
    rocksdb_write(rocks->db, rocks->synced, rocks->batch, &error);
    metric_observe_us(&rocks->sync_us, world_mono_us(world) - start_us);
    metric_add(&rocks->syncs, 1);
    if (!is_error(rocks, "storage write failed", error))
        return true;
    store_fail(rocks);
    return false;
}

/* Makes one write of the groups at the front of the list and reports them. Returns the rest. */
static struct store_group *batch_commit(struct rocks *rocks, struct store_group *first)
{
    enum store_result results[BATCH_GROUPS_MAX];
    size_t count = 0, bytes = 0;
    bool fails = has_failed(rocks), is_full = false;
    rocks->batch_number++;
    rocksdb_writebatch_clear(rocks->batch);
    for (struct store_group *group = first; group != NULL && count < BATCH_GROUPS_MAX && bytes < BATCH_BYTES_MAX && !is_full; group = group->next) {
        enum judgement judgement = fails ? JUDGED_FAILED : group_judge(rocks, group);
        if (judgement == JUDGED_LATER) {
            PROBE("rocks: a guard waits for the batch before it");
            is_full = true;
            continue;
        }
        if (judgement == JUDGED_FAILED)
            fails = true;
        if (judgement == JUDGED_HOLDS)
            bytes += batch_add(rocks, group);
        results[count++] = judgement == JUDGED_REFUSED ? STORE_REFUSED : STORE_OK;
    }
    if (fails)
        store_fail(rocks);
    else if (rocksdb_writebatch_count(rocks->batch) > 0)
        fails = !batch_write(rocks);
    metric_add(&rocks->groups, (int64_t)count);
    for (size_t at = 0; at < count; at++) {
        /* A refusal, too, rests on what the batch wrote before it. */
        enum store_result result = fails ? STORE_FAILED : results[at];
        struct store_group *next = first->next;
        if (result == STORE_REFUSED)
            metric_add(&rocks->refused, 1);
        first->done(first, result);
        first = next;
    }
    if (bytes > BATCH_KEPT_BYTES) {
        rocksdb_writebatch_destroy(rocks->batch);
        rocks->batch = rocksdb_writebatch_create();
    }
    return first;
}

static void committer_run(void *argument)
{
    struct rocks *rocks = argument;
    struct world *world = rocks->base.world;
    world_lock(world, &rocks->lock);
    for (;;) {
        while (rocks->first == NULL && !rocks->is_closing)
            world_wait(world, &rocks->work, &rocks->lock, -1);
        struct store_group *group = rocks->first;
        if (group == NULL)
            break;
        rocks->first = rocks->last = NULL;
        world_unlock(world, &rocks->lock);
        while (group != NULL)
            group = batch_commit(rocks, group);
        world_lock(world, &rocks->lock);
    }
    world_unlock(world, &rocks->lock);
}

static void rocks_apply(struct store_range *base, struct store_group *group)
{
    struct rocks *rocks = rocks_of(base->store);
    struct world *world = base->store->world;
    store_group_check(group);
    group->next = NULL;
    world_lock(world, &rocks->lock);
    if (rocks->first == NULL) {
        rocks->first = group;
        world_wake_one(world, &rocks->work);
    } else {
        rocks->last->next = group;
    }
    rocks->last = group;
    world_unlock(world, &rocks->lock);
}

/* --- the store --- */

static void rocks_close(struct store *base)
{
    struct rocks *rocks = rocks_of(base);
    world_lock(base->world, &rocks->lock);
    rocks->is_closing = true;
    world_wake_one(base->world, &rocks->work);
    world_unlock(base->world, &rocks->lock);
    world_thread_join(base->world, rocks->committer);
    if (!has_failed(rocks)) {
        /* So that the next start has no log to replay. */
        char *error = NULL;
        rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
        rocksdb_flush(rocks->db, options, &error);
        rocksdb_flushoptions_destroy(options);
        (void)is_error(rocks, "storage could not flush while stopping; the next start replays the log instead", error);
    }
    rocksdb_writebatch_destroy(rocks->batch);
    rocks_place_close(rocks);
    world_cond_close(base->world, &rocks->work);
    world_mutex_close(base->world, &rocks->lock);
    free(rocks);
}

static const struct store_ops rocks_ops = {
    .range_open = rocks_range_open,
    .range_close = rocks_range_close,
    .get = rocks_get,
    .multi_get = rocks_multi_get,
    .scan = rocks_scan,
    .apply = rocks_apply,
    .range_drop = rocks_range_drop,
    .close = rocks_close,
};

static void register_metrics(struct rocks *rocks, struct metrics *metrics)
{
    metrics_register(metrics, &rocks->groups, METRIC_COUNTER, "stator_store_groups_total", "Groups of writes taken by the storage engine", "");
    metrics_register(metrics, &rocks->refused, METRIC_COUNTER, "stator_store_groups_refused_total", "Groups whose guard did not hold", "");
    metrics_register(metrics, &rocks->syncs, METRIC_COUNTER, "stator_store_syncs_total", "Synced writes, each for the groups that waited", "");
    metrics_register(metrics, &rocks->sync_us, METRIC_HISTOGRAM, "stator_store_sync_seconds", "How long a synced write took", "");
    metrics_register(metrics, &rocks->failed, METRIC_GAUGE, "stator_store_failed", "1 after a failed write: restart needed", "");
}

struct store *store_rocks_open(struct world *world, const struct store_rocks_options *options, char *problem, size_t problem_bytes)
{
    struct rocks *rocks = store_alloc_zeroed(sizeof *rocks);
    rocks->base = (struct store){.ops = &rocks_ops, .world = world, .can_reverse = true};
    rocks->log = options->log;
    if (!rocks_place_open(rocks, options, problem, problem_bytes)) {
        free(rocks);
        return NULL;
    }
    if (options->metrics != NULL)
        register_metrics(rocks, options->metrics);
    world_mutex_open(world, &rocks->lock);
    world_cond_open(world, &rocks->work);
    rocks->batch = rocksdb_writebatch_create();
    rocks->committer = world_thread_start(world, "store-commit", committer_run, rocks);
    return &rocks->base;
}
