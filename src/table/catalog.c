/* The catalog in memory: a hash map of snapshots, filled from the store when it is opened. */
#include "table/catalog_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { BUCKETS_FIRST = 64, PAGE_ROWS = 512, PAGE_BYTES = 4 << 20, READ_TRIES = 8 };

static const struct uuid catalog_range_id = {{'s', 't', 'a', 't', 'o', 'r', 0x80, 'c', 'a', 't', 'a', 'l', 'o', 'g', 0x80, 1}};

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory) {
        fprintf(stderr, "stator: out of memory\n");
        abort();
    }
    return memory;
}

/* --- The map --- */

uint64_t catalog_hash(str account, str region, str name)
{
    uint64_t seed = XXH3_64bits(account.data, account.len);
    seed = XXH3_64bits_withSeed(region.data, region.len, seed);
    return XXH3_64bits_withSeed(name.data, name.len, seed);
}

struct catalog_entry *catalog_find(struct table_catalog *catalog, uint64_t hash, str account, str region, str name)
{
    struct catalog_entry *entry = catalog->buckets[hash & (catalog->bucket_count - 1)];
    for (; entry; entry = entry->next) {
        const struct table *table = entry->table;
        if (entry->hash == hash && str_equal(table->name, name) && str_equal(table->region, region) && str_equal(table->account, account))
            return entry;
    }
    return NULL;
}

static void grow(struct table_catalog *catalog)
{
    size_t count = catalog->bucket_count * 2;
    struct catalog_entry **buckets = allocate(count * sizeof(struct catalog_entry *));
    for (size_t i = 0; i < catalog->bucket_count; i++) {
        for (struct catalog_entry *entry = catalog->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            entry->next = buckets[entry->hash & (count - 1)];
            buckets[entry->hash & (count - 1)] = entry;
        }
    }
    free(catalog->buckets);
    catalog->buckets = buckets;
    catalog->bucket_count = count;
}

void catalog_put(struct table_catalog *catalog, const struct table *table)
{
    uint64_t hash = catalog_hash(table->account, table->region, table->name);
    struct catalog_entry *entry = catalog_find(catalog, hash, table->account, table->region, table->name);
    if (entry) {
        table_release(entry->table);
        entry->table = table;
        return;
    }
    if (catalog->entry_count == catalog->bucket_count)
        grow(catalog);
    entry = allocate(sizeof *entry);
    struct catalog_entry **bucket = &catalog->buckets[hash & (catalog->bucket_count - 1)];
    *entry = (struct catalog_entry){.next = *bucket, .hash = hash, .table = table};
    *bucket = entry;
    catalog->entry_count++;
}

const struct table *catalog_take_out(struct table_catalog *catalog, const struct table *table)
{
    uint64_t hash = catalog_hash(table->account, table->region, table->name);
    struct catalog_entry **link = &catalog->buckets[hash & (catalog->bucket_count - 1)];
    for (; *link; link = &(*link)->next) {
        struct catalog_entry *entry = *link;
        if (entry->hash != hash || !uuid_equal(entry->table->id, table->id))
            continue;
        const struct table *taken = entry->table;
        *link = entry->next;
        free(entry);
        catalog->entry_count--;
        return taken;
    }
    return NULL;
}

void catalog_condemn(struct table_catalog *catalog, struct uuid range)
{
    if (catalog->condemned_count == catalog->condemned_capacity) {
        size_t capacity = catalog->condemned_capacity ? catalog->condemned_capacity * 2 : 16;
        struct uuid *condemned = allocate(capacity * sizeof *condemned);
        if (catalog->condemned_count)
            memcpy(condemned, catalog->condemned, catalog->condemned_count * sizeof *condemned);
        free(catalog->condemned);
        catalog->condemned = condemned;
        catalog->condemned_capacity = capacity;
    }
    catalog->condemned[catalog->condemned_count++] = range;
}

/* --- Keys --- */

static void add_escaped(struct buf *out, str bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        uint8_t byte = (uint8_t)bytes.data[i];
        if (byte <= 1) {
            buf_add_byte(out, 1);
            byte = (uint8_t)(byte + 2);
        }
        buf_add_byte(out, byte);
    }
}

void catalog_table_key(struct buf *out, str account, str region, str name)
{
    buf_add_byte(out, 't');
    add_escaped(out, account);
    buf_add_byte(out, '/');
    add_escaped(out, region);
    buf_add_byte(out, '/');
    add_escaped(out, name);
}

void catalog_condemned_key(struct buf *out, struct uuid range)
{
    char text[UUID_TEXT_BYTES];
    uuid_format(range, text);
    buf_add_byte(out, 'x');
    buf_add(out, text, sizeof text);
}

/* --- Opening --- */

/* What is wrong with a row, or NULL. */
static const char *load_row(struct table_catalog *catalog, const struct store_row *row)
{
    static const char newer[] = "it was written by a newer version of stator; start that version, or give another data directory";
    static const char unreadable[] = "it is damaged; restore the data directory from a backup";
    uint8_t version = (uint8_t)row->value.data[0];
    switch (row->key.data[0]) {
    case 'r':
        if (version > CATALOG_FORMAT_VERSION)
            return newer;
        if (version != CATALOG_FORMAT_VERSION || row->value.len != REVISION_BYTES || row->key.len != 1)
            return unreadable;
        memcpy(catalog->revision, row->value.data, REVISION_BYTES);
        catalog->revision_bytes = REVISION_BYTES;
        return NULL;
    case 't': {
        struct table *table;
        enum record_status status = record_read(row->value, &table);
        if (status != RECORD_GOOD)
            return status == RECORD_NEWER ? newer : unreadable;
        catalog_put(catalog, table);
        return NULL;
    }
    case 'x': {
        struct uuid range;
        if (version > CATALOG_FORMAT_VERSION)
            return newer;
        if (version != CATALOG_FORMAT_VERSION || row->value.len != 1 + sizeof range.bytes)
            return unreadable;
        memcpy(range.bytes, row->value.data + 1, sizeof range.bytes);
        catalog_condemn(catalog, range);
        return NULL;
    }
    default:
        return newer;
    }
}

static bool load(struct table_catalog *catalog, char *problem, size_t problem_bytes)
{
    struct arena arena;
    arena_open(&arena, NULL);
    struct store_scan scan = {.rows_max = PAGE_ROWS, .bytes_max = PAGE_BYTES};
    struct store_page page = {.has_more = true};
    char last[STORE_KEY_MAX + 1];
    const char *wrong = NULL;
    while (page.has_more && !wrong) {
        enum store_result result = STORE_FAILED;
        for (int try = 0; try < READ_TRIES && result != STORE_OK; try++)
            result = store_scan(catalog->range, &scan, &arena, &page);
        if (result != STORE_OK) {
            wrong = "the store cannot read it; see the log, check the disk";
            break;
        }
        for (size_t i = 0; i < page.count && !wrong; i++)
            wrong = load_row(catalog, &page.rows[i]);
        if (page.count == 0)
            break;
        /* Behind the last key: the least key above it. No key holds 00, so 01 it is. */
        str key = page.rows[page.count - 1].key;
        memcpy(last, key.data, key.len);
        last[key.len] = 1;
        scan.lower = str_of(last, key.len + 1);
        arena_reset(&arena);
    }
    arena_close(&arena);
    if (wrong)
        snprintf(problem, problem_bytes, "cannot open the catalog of tables: %s", wrong);
    return !wrong;
}

struct table_catalog *table_catalog_open(const struct table_catalog_options *options, char *problem, size_t problem_bytes)
{
    struct table_catalog *catalog = allocate(sizeof *catalog);
    catalog->store = options->store;
    catalog->world = options->world;
    catalog->log = options->log;
    catalog->status_us = options->status_us;
    catalog->bucket_count = BUCKETS_FIRST;
    catalog->buckets = allocate(BUCKETS_FIRST * sizeof(struct catalog_entry *));
    world_mutex_open(catalog->world, &catalog->change_lock);
    world_mutex_open(catalog->world, &catalog->lock);
    if (store_range_open(catalog->store, catalog_range_id, &catalog->range) != STORE_OK) {
        catalog->range = NULL;
        snprintf(problem, problem_bytes, "cannot open the catalog of tables: the store cannot read it; see the log, check the disk");
        table_catalog_close(catalog);
        return NULL;
    }
    if (!load(catalog, problem, problem_bytes)) {
        table_catalog_close(catalog);
        return NULL;
    }
    return catalog;
}

void table_catalog_close(struct table_catalog *catalog)
{
    if (!catalog)
        return;
    for (size_t i = 0; i < catalog->bucket_count; i++) {
        for (struct catalog_entry *entry = catalog->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            table_release(entry->table);
            free(entry);
        }
    }
    if (catalog->range)
        store_range_close(catalog->range);
    world_mutex_close(catalog->world, &catalog->lock);
    world_mutex_close(catalog->world, &catalog->change_lock);
    free(catalog->buckets);
    free(catalog->condemned);
    free(catalog);
}

/* --- Finding --- */

bool table_is_gone(const struct table *table, int64_t now_us)
{
    return table->status == TABLE_DELETING && now_us >= table->status_until_us;
}

/* What the name stands for: itself, or the name in an ARN of this account and region. */
static enum fault name_resolve(struct call *call, str account, str region, str *name)
{
    if (!str_begins(*name, STR("arn:")))
        return FAULT_NONE;
    struct table_arn arn;
    if (!table_arn_read(*name, &arn) || arn.rest.len)
        return fail(call, FAULT_VALIDATION, "Invalid TableArn: Invalid ResourceArn provided as input %.*s", STR_ARG(*name));
    if (!str_equal(arn.account, account))
        return fail(call, FAULT_ACCESS_DENIED, "User: arn:aws:iam::%.*s:root is not authorized to access this resource", STR_ARG(account));
    if (!str_equal(arn.region, region))
        return fail(call, FAULT_VALIDATION, "Invalid TableArn: The region of ResourceArn %.*s is not %.*s", STR_ARG(*name), STR_ARG(region));
    *name = arn.name;
    return FAULT_NONE;
}

/* A passing status is over: the map gets a snapshot that says so. Nothing is written: a restart comes to the same by the record's time. */
static void settle(struct catalog_entry *entry, int64_t now_us)
{
    struct table *settled = table_draft_new(entry->table);
    draft_settle(settled, now_us);
    table_release(entry->table);
    entry->table = settled;
}

static const struct table *acquire(struct call *call, struct table_catalog *catalog, str account, str region, str name)
{
    uint64_t hash = catalog_hash(account, region, name);
    const struct table *table = NULL;
    world_lock(catalog->world, &catalog->lock);
    struct catalog_entry *entry = catalog_find(catalog, hash, account, region, name);
    if (entry && !table_is_gone(entry->table, call->now_us)) {
        if (call->now_us >= table_settles_at(entry->table))
            settle(entry, call->now_us);
        table = entry->table;
        atomic_fetch_add_explicit(&((struct table *)(uintptr_t)table)->references, 1, memory_order_relaxed);
    }
    world_unlock(catalog->world, &catalog->lock);
    return table;
}

enum fault table_acquire(struct call *call, struct table_catalog *catalog, str account, str region, str name, const struct table **out)
{
    TRY(name_resolve(call, account, region, &name));
    const struct table *table = acquire(call, catalog, account, region, name);
    if (table && (table->status == TABLE_CREATING || table->status == TABLE_DELETING)) {
        table_release(table);
        table = NULL;
    }
    if (!table)
        return fail(call, FAULT_RESOURCE_NOT_FOUND, "Requested resource not found");
    *out = table;
    return FAULT_NONE;
}

enum fault table_acquire_any(struct call *call, struct table_catalog *catalog, str account, str region, str name, const struct table **out)
{
    TRY(name_resolve(call, account, region, &name));
    *out = acquire(call, catalog, account, region, name);
    if (!*out)
        return fail(call, FAULT_RESOURCE_NOT_FOUND, "Requested resource not found: Table: %.*s not found", STR_ARG(name));
    return FAULT_NONE;
}

static int compare_names(const void *a, const void *b)
{
    return str_compare(*(const str *)a, *(const str *)b);
}

void table_list(struct call *call, struct table_catalog *catalog, str account, str region, str after, size_t limit, str **names, size_t *count, bool *has_more)
{
    world_lock(catalog->world, &catalog->lock);
    str *found = ARENA_NEW_ARRAY(&call->arena, str, catalog->entry_count + 1);
    size_t found_count = 0;
    for (size_t i = 0; i < catalog->bucket_count; i++) {
        for (const struct catalog_entry *entry = catalog->buckets[i]; entry; entry = entry->next) {
            const struct table *table = entry->table;
            if (table_is_gone(table, call->now_us) || !str_equal(table->account, account) || !str_equal(table->region, region))
                continue;
            if (after.len == 0 || str_compare(table->name, after) > 0)
                found[found_count++] = arena_copy(&call->arena, table->name);
        }
    }
    world_unlock(catalog->world, &catalog->lock);
    qsort(found, found_count, sizeof *found, compare_names);
    *names = found;
    *count = found_count < limit ? found_count : limit;
    *has_more = found_count > limit;
}

static bool is_indexed(const struct table *table)
{
    bool found = table->logs_for_indexes;
    for (size_t i = 0; i < table->index_count && !found; i++)
        found = !table->indexes[i].is_local;
    return found && table->status != TABLE_DELETING;
}

void table_list_indexed(struct call *call, struct table_catalog *catalog, const struct table ***tables, size_t *count)
{
    world_lock(catalog->world, &catalog->lock);
    const struct table **found = ARENA_NEW_ARRAY(&call->arena, const struct table *, catalog->entry_count + 1);
    *count = 0;
    for (size_t i = 0; i < catalog->bucket_count; i++) {
        for (struct catalog_entry *entry = catalog->buckets[i]; entry; entry = entry->next) {
            if (!is_indexed(entry->table))
                continue;
            if (call->now_us >= table_settles_at(entry->table))
                settle(entry, call->now_us);
            found[(*count)++] = entry->table;
            atomic_fetch_add_explicit(&((struct table *)(uintptr_t)entry->table)->references, 1, memory_order_relaxed);
        }
    }
    world_unlock(catalog->world, &catalog->lock);
    *tables = found;
}

bool table_condemned_next(struct table_catalog *catalog, struct uuid *range)
{
    world_lock(catalog->world, &catalog->lock);
    bool found = catalog->condemned_count > 0;
    if (found) {
        catalog->condemned_next %= catalog->condemned_count;
        *range = catalog->condemned[catalog->condemned_next++];
    }
    world_unlock(catalog->world, &catalog->lock);
    return found;
}
