/* Changes of the catalog: one group each, all or nothing, durable before the map shows them. */
#include "table/catalog_internal.h"

#include <assert.h>
#include <stdlib.h>

enum { APPLY_TRIES = 20, CHANGE_WRITES_MAX = 64 };

/* The rows that one change writes; the revision comes on top. */
struct change {
    struct store_write *writes;
    size_t count, capacity;
    struct arena *arena;
};

static void change_add(struct change *change, str key, str value)
{
    if (change->count + 1 >= change->capacity) {
        size_t capacity = change->capacity ? change->capacity * 2 : CHANGE_WRITES_MAX;
        struct store_write *writes = ARENA_NEW_ARRAY(change->arena, struct store_write, capacity);
        if (change->count)
            memcpy(writes, change->writes, change->count * sizeof *writes);
        change->writes = writes;
        change->capacity = capacity;
    }
    change->writes[change->count++] = (struct store_write){key, value};
}

static void change_put_table(struct change *change, const struct table *table)
{
    struct buf key, value;
    buf_open(&key, change->arena, 64);
    buf_open(&value, change->arena, 1024);
    catalog_table_key(&key, table->account, table->region, table->name);
    record_write(change->arena, table, &value);
    change_add(change, buf_str(&key), buf_str(&value));
}

static void change_delete_table(struct change *change, const struct table *table)
{
    struct buf key;
    buf_open(&key, change->arena, 64);
    catalog_table_key(&key, table->account, table->region, table->name);
    change_add(change, buf_str(&key), STR_NONE);
}

static void change_put_condemned(struct change *change, struct uuid range)
{
    struct buf key, value;
    buf_open(&key, change->arena, 64);
    buf_open(&value, change->arena, 32);
    catalog_condemned_key(&key, range);
    buf_add_byte(&value, CATALOG_FORMAT_VERSION);
    buf_add(&value, range.bytes, sizeof range.bytes);
    change_add(change, buf_str(&key), buf_str(&value));
}

/* Tables whose DELETING is over leave the store with the next change, whatever that is. */
static void change_add_gone(struct table_catalog *catalog, struct change *change, int64_t now_us, str kept_name)
{
    world_lock(catalog->world, &catalog->lock);
    for (size_t i = 0; i < catalog->bucket_count; i++) {
        for (struct catalog_entry *entry = catalog->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            const struct table *table = entry->table;
            if (!table_is_gone(table, now_us) || str_equal(table->name, kept_name))
                continue;
            change_delete_table(change, table);
            table_release(catalog_take_out(catalog, table));
        }
    }
    world_unlock(catalog->world, &catalog->lock);
}

/* The stored revision is the one that the group was to write: a reply was lost, not the group. */
static bool revision_is_stored(struct table_catalog *catalog, str revision, struct arena *arena)
{
    for (int try = 0; try < APPLY_TRIES; try++) {
        str stored;
        enum store_result result = store_get(catalog->range, STR("r"), arena, &stored);
        if (result != STORE_FAILED)
            return result == STORE_OK && str_equal(stored, revision);
    }
    return false;
}

/* After an outcome that is not known the store takes no more groups until the range is opened again. */
static bool range_reopen(struct table_catalog *catalog)
{
    struct uuid id = catalog->range->id;
    store_range_close(catalog->range);
    catalog->range = NULL;
    return store_range_open(catalog->store, id, &catalog->range) == STORE_OK;
}

/* Applies the group until its outcome is known. Its guard keeps it from being written twice, or late. */
static enum store_result group_apply(struct table_catalog *catalog, const struct change *change, str revision)
{
    struct store_guard guard = {STR("r"), str_of(catalog->revision, catalog->revision_bytes)};
    for (int try = 0; try < APPLY_TRIES; try++) {
        struct store_group group = {.guards = &guard, .guard_count = 1, .writes = change->writes, .write_count = change->count};
        enum store_result result = store_apply_wait(catalog->range, &group);
        if (result == STORE_UNKNOWN) {
            if (!range_reopen(catalog))
                return STORE_FAILED;
            continue;
        }
        return result == STORE_REFUSED && revision_is_stored(catalog, revision, change->arena) ? STORE_OK : result;
    }
    return STORE_FAILED;
}

/* Makes the change durable. Under change_lock. */
static enum fault change_apply(struct call *call, struct table_catalog *catalog, struct change *change)
{
    if (catalog->has_failed)
        return fail(call, FAULT_INTERNAL, "Internal server error");
    uint8_t next[REVISION_BYTES];
    uint64_t number = catalog->revision_bytes ? bytes_get_u64(catalog->revision + 1) : 0;
    struct uuid mark = world_uuid(catalog->world);
    next[0] = CATALOG_FORMAT_VERSION;
    bytes_put_u64(next + 1, number + 1);
    memcpy(next + 9, mark.bytes, sizeof mark.bytes);
    change_add(change, STR("r"), str_of(next, sizeof next));
    /* Whatever a request could put into a description: it must not get further than here. */
    for (size_t i = 0; i < change->count; i++)
        if (change->writes[i].value.len > STORE_VALUE_MAX)
            return fail(call, FAULT_LIMIT_EXCEEDED, "Subscriber limit exceeded: The description of a table may have %d bytes", STORE_VALUE_MAX);
    if (group_apply(catalog, change, str_of(next, sizeof next)) != STORE_OK) {
        catalog->has_failed = true;
        log_event(catalog->log, LOG_ERROR, "catalog stopped", "a change of the catalog of tables could not be made durable; restart when the store is well again");
        return fail(call, FAULT_INTERNAL, "Internal server error");
    }
    memcpy(catalog->revision, next, sizeof next);
    catalog->revision_bytes = sizeof next;
    return FAULT_NONE;
}

static uint64_t next_change_number(const struct table_catalog *catalog)
{
    return (catalog->revision_bytes ? bytes_get_u64(catalog->revision + 1) : 0) + 1;
}

/* The map takes the draft over; the caller gets a hold of it too. */
static void publish(struct table_catalog *catalog, struct table *draft, const struct table **made)
{
    atomic_store_explicit(&draft->references, 2, memory_order_relaxed);
    world_lock(catalog->world, &catalog->lock);
    catalog_put(catalog, draft);
    world_unlock(catalog->world, &catalog->lock);
    *made = draft;
}

/* The table of the draft's name, unless it is gone, or NULL; held, since whoever acquires it when its status passes puts another snapshot in its place. */
static const struct table *present(struct call *call, struct table_catalog *catalog, const struct table *like)
{
    uint64_t hash = catalog_hash(like->account, like->region, like->name);
    world_lock(catalog->world, &catalog->lock);
    const struct catalog_entry *entry = catalog_find(catalog, hash, like->account, like->region, like->name);
    const struct table *table = entry && !table_is_gone(entry->table, call->now_us) ? entry->table : NULL;
    if (table)
        atomic_fetch_add_explicit(&((struct table *)(uintptr_t)table)->references, 1, memory_order_relaxed);
    world_unlock(catalog->world, &catalog->lock);
    return table;
}

static size_t count_of(struct call *call, struct table_catalog *catalog, str account, str region)
{
    size_t count = 0;
    world_lock(catalog->world, &catalog->lock);
    if (catalog->entry_count >= CATALOG_TABLES_MAX) {
        for (size_t i = 0; i < catalog->bucket_count; i++)
            for (const struct catalog_entry *entry = catalog->buckets[i]; entry; entry = entry->next)
                count += !table_is_gone(entry->table, call->now_us) && str_equal(entry->table->account, account) && str_equal(entry->table->region, region);
    }
    world_unlock(catalog->world, &catalog->lock);
    return count;
}

static void draft_make_ids(struct world *world, struct table *draft)
{
    draft->id = world_uuid(world);
    struct table_index *indexes = ARENA_NEW_ARRAY(&draft->arena, struct table_index, draft->index_count);
    for (size_t i = 0; i < draft->index_count; i++) {
        indexes[i] = draft->indexes[i];
        indexes[i].id = world_uuid(world);
        if (!indexes[i].is_local) {
            table_draft_add_index_range(world, draft, &indexes[i]);
            draft->logs_for_indexes = true;
        }
    }
    draft->indexes = indexes;
    struct table_range *range = ARENA_NEW(&draft->arena, struct table_range);
    range->id = world_uuid(world);
    draft->ranges = range;
    draft->range_count = 1;
}

static enum fault create_locked(struct call *call, struct table_catalog *catalog, struct table *draft, const struct table **made)
{
    const struct table *other = present(call, catalog, draft);
    table_release(other);
    if (other)
        return fail(call, FAULT_RESOURCE_IN_USE, "Table already exists: %.*s", STR_ARG(draft->name));
    if (count_of(call, catalog, draft->account, draft->region) >= CATALOG_TABLES_MAX)
        return fail(call, FAULT_LIMIT_EXCEEDED, "Subscriber limit exceeded: There is a limit of %d tables per subscriber", CATALOG_TABLES_MAX);
    draft_make_ids(catalog->world, draft);
    draft->change_number = next_change_number(catalog);
    draft->created_us = call->now_us;
    draft->status = TABLE_CREATING;
    draft->status_since_us = call->now_us;
    draft->status_until_us = call->now_us + catalog->status_us;
    struct change change = {.arena = &call->arena};
    change_put_table(&change, draft);
    change_add_gone(catalog, &change, call->now_us, draft->name);
    TRY(change_apply(call, catalog, &change));
    publish(catalog, draft, made);
    return FAULT_NONE;
}

enum fault table_create(struct call *call, struct table_catalog *catalog, struct table *draft, const struct table **made)
{
    if (draft->account.len > IDENTITY_PART_MAX || draft->region.len > IDENTITY_PART_MAX) {
        table_draft_free(draft);
        return fail(call, FAULT_VALIDATION, "The region or account of the credentials is too long");
    }
    draft_set_identity(draft, draft->account, draft->region, draft->name);
    world_lock(catalog->world, &catalog->change_lock);
    enum fault fault = create_locked(call, catalog, draft, made);
    world_unlock(catalog->world, &catalog->change_lock);
    if (fault != FAULT_NONE)
        table_draft_free(draft);
    return fault;
}

static enum fault check_unchanged(struct call *call, struct table_catalog *catalog, const struct table *seen)
{
    const struct table *now = present(call, catalog, seen);
    bool is_unchanged = now && uuid_equal(now->id, seen->id) && now->change_number == seen->change_number;
    table_release(now);
    if (is_unchanged)
        return FAULT_NONE;
    return fail(call, FAULT_RESOURCE_IN_USE, "Attempt to change a resource which is still in use: Table is being %s: %.*s",
        now ? "updated" : "deleted", STR_ARG(seen->name));
}

static bool has_index_range(const struct table *table, struct uuid range)
{
    for (size_t i = 0; i < table->index_count; i++)
        for (size_t at = 0; at < table->indexes[i].range_count; at++)
            if (uuid_equal(table->indexes[i].ranges[at].id, range))
                return true;
    return false;
}

/* The index ranges that `table` has and `next` (NULL: nothing) has not; in the arena. */
static struct uuid *lost_index_ranges(struct arena *arena, const struct table *table, const struct table *next, size_t *count)
{
    size_t most = 0;
    for (size_t i = 0; i < table->index_count; i++)
        most += table->indexes[i].range_count;
    struct uuid *lost = ARENA_NEW_ARRAY(arena, struct uuid, most);
    *count = 0;
    for (size_t i = 0; i < table->index_count; i++)
        for (size_t at = 0; at < table->indexes[i].range_count; at++)
            if (!next || !has_index_range(next, table->indexes[i].ranges[at].id))
                lost[(*count)++] = table->indexes[i].ranges[at].id;
    return lost;
}

static void condemn_all(struct table_catalog *catalog, const struct uuid *ranges, size_t count)
{
    world_lock(catalog->world, &catalog->lock);
    for (size_t i = 0; i < count; i++)
        catalog_condemn(catalog, ranges[i]);
    world_unlock(catalog->world, &catalog->lock);
}

static enum fault replace_locked(struct call *call, struct table_catalog *catalog, struct table *draft, const struct table **made)
{
    TRY(check_unchanged(call, catalog, draft));
    const struct table *replaced = present(call, catalog, draft);
    enum table_status before = table_status_at(replaced, call->now_us);
    size_t lost_count;
    const struct uuid *lost = lost_index_ranges(&call->arena, replaced, draft, &lost_count);
    table_release(replaced);
    draft->change_number = next_change_number(catalog);
    if (draft->status == TABLE_UPDATING && before != TABLE_UPDATING) {
        draft->status_since_us = call->now_us;
        draft->status_until_us = call->now_us + catalog->status_us;
    }
    struct change change = {.arena = &call->arena};
    change_put_table(&change, draft);
    for (size_t i = 0; i < lost_count; i++)
        change_put_condemned(&change, lost[i]);
    change_add_gone(catalog, &change, call->now_us, draft->name);
    TRY(change_apply(call, catalog, &change));
    condemn_all(catalog, lost, lost_count);
    publish(catalog, draft, made);
    return FAULT_NONE;
}

enum fault table_replace(struct call *call, struct table_catalog *catalog, struct table *draft, const struct table **made)
{
    world_lock(catalog->world, &catalog->change_lock);
    enum fault fault = replace_locked(call, catalog, draft, made);
    world_unlock(catalog->world, &catalog->change_lock);
    if (fault != FAULT_NONE)
        table_draft_free(draft);
    return fault;
}

/* What stays of a deleted table while its status lasts: its description, without ranges. */
static struct table *tombstone_new(struct call *call, struct table_catalog *catalog, const struct table *table)
{
    struct table *stone = table_draft_new(table);
    stone->logs_for_indexes = false;
    stone->ranges = NULL;
    stone->range_count = 0;
    struct table_index *indexes = ARENA_NEW_ARRAY(&stone->arena, struct table_index, stone->index_count);
    for (size_t i = 0; i < stone->index_count; i++) {
        indexes[i] = stone->indexes[i];
        indexes[i].range_count = 0;
    }
    stone->indexes = indexes;
    stone->status = TABLE_DELETING;
    stone->status_since_us = call->now_us;
    stone->status_until_us = call->now_us + catalog->status_us;
    stone->change_number = next_change_number(catalog);
    return stone;
}

static enum fault delete_locked(struct call *call, struct table_catalog *catalog, const struct table *table)
{
    TRY(check_unchanged(call, catalog, table));
    struct change change = {.arena = &call->arena};
    struct table *stone = catalog->status_us > 0 ? tombstone_new(call, catalog, table) : NULL;
    if (stone)
        change_put_table(&change, stone);
    else
        change_delete_table(&change, table);
    for (size_t i = 0; i < table->range_count; i++)
        change_put_condemned(&change, table->ranges[i].id);
    size_t lost_count;
    const struct uuid *lost = lost_index_ranges(&call->arena, table, NULL, &lost_count);
    for (size_t i = 0; i < lost_count; i++)
        change_put_condemned(&change, lost[i]);
    change_add_gone(catalog, &change, call->now_us, table->name);
    enum fault fault = change_apply(call, catalog, &change);
    if (fault != FAULT_NONE) {
        table_draft_free(stone);
        return fault;
    }
    condemn_all(catalog, lost, lost_count);
    world_lock(catalog->world, &catalog->lock);
    for (size_t i = 0; i < table->range_count; i++)
        catalog_condemn(catalog, table->ranges[i].id);
    if (stone)
        catalog_put(catalog, stone);
    else
        table_release(catalog_take_out(catalog, table));
    world_unlock(catalog->world, &catalog->lock);
    return FAULT_NONE;
}

enum fault table_delete(struct call *call, struct table_catalog *catalog, const struct table *table)
{
    world_lock(catalog->world, &catalog->change_lock);
    enum fault fault = delete_locked(call, catalog, table);
    world_unlock(catalog->world, &catalog->change_lock);
    return fault;
}

enum fault table_condemned_done(struct call *call, struct table_catalog *catalog, struct uuid range)
{
    world_lock(catalog->world, &catalog->change_lock);
    struct change change = {.arena = &call->arena};
    struct buf key;
    buf_open(&key, &call->arena, 64);
    catalog_condemned_key(&key, range);
    change_add(&change, buf_str(&key), STR_NONE);
    enum fault fault = change_apply(call, catalog, &change);
    if (fault == FAULT_NONE) {
        world_lock(catalog->world, &catalog->lock);
        for (size_t i = 0; i < catalog->condemned_count; i++) {
            if (uuid_equal(catalog->condemned[i], range)) {
                catalog->condemned[i] = catalog->condemned[--catalog->condemned_count];
                break;
            }
        }
        world_unlock(catalog->world, &catalog->lock);
    }
    world_unlock(catalog->world, &catalog->change_lock);
    return fault;
}
