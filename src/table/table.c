/* Questions about one table's snapshot, and ARNs. */
#include "table/table_internal.h"

#include <assert.h>
#include <stdlib.h>

bool table_waits_for_index(const struct table *table)
{
    for (size_t i = 0; table->status == TABLE_CREATING && i < table->index_count; i++)
        if (table->indexes[i].stage != INDEX_KEPT)
            return true;
    return false;
}

enum table_status table_status_at(const struct table *table, int64_t now_us)
{
    return now_us >= table_settles_at(table) ? TABLE_ACTIVE : table->status;
}

str table_status_name(enum table_status status)
{
    switch (status) {
    case TABLE_CREATING:
        return STR("CREATING");
    case TABLE_ACTIVE:
        return STR("ACTIVE");
    case TABLE_UPDATING:
        return STR("UPDATING");
    case TABLE_DELETING:
        return STR("DELETING");
    }
    return STR("ACTIVE");
}

/* The hash that a row key carries: ten bytes of seven bits behind the row space, and behind the place of a local index (model/key.h, model/index.h). */
static uint64_t row_key_hash(str row_key)
{
    size_t start = row_key.data[0] == ROW_LOCAL_INDEX ? 2 : 1;
    assert(row_key.len >= start + KEY_HASH_BYTES);
    uint64_t hash = 0;
    for (size_t i = start; i < start + KEY_HASH_BYTES; i++)
        hash = hash << 7 | ((uint8_t)row_key.data[i] & 0x7f);
    return hash;
}

struct uuid table_range_of(const struct table *table, str row_key)
{
    assert(table->range_count > 0);
    if (table->range_count == 1)
        return table->ranges[0].id;
    uint64_t hash = row_key_hash(row_key);
    size_t low = 0, high = table->range_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (table->ranges[middle].hash_from <= hash)
            low = middle;
        else
            high = middle;
    }
    return table->ranges[low].id;
}

const struct table_index *table_index_find(const struct table *table, str index_name)
{
    for (size_t i = 0; i < table->index_count; i++)
        if (str_equal(table->indexes[i].name, index_name))
            return &table->indexes[i];
    return NULL;
}

_Static_assert((int)INDEX_KEY_PARTS_MAX == (int)INDEX_PARTS_MAX, "an index has the same keys in the catalog and in storage");

void table_index_schema(const struct table *table, const struct table_index *index, struct index_schema *out)
{
    *out = (struct index_schema){
        .table = &table->keys,
        .is_local = index->is_local,
        .local_place = index->is_local ? (uint8_t)(index - table->indexes) : 0, /* local indexes come first */
        .partition_count = index->partition_count,
        .sort_count = index->sort_count,
        .projects_all = index->projection == PROJECTION_ALL,
        .non_key_attributes = index->non_key_attributes,
        .non_key_attribute_count = index->projection == PROJECTION_INCLUDE ? index->non_key_attribute_count : 0,
    };
    memcpy(out->partition, index->partition, index->partition_count * sizeof *out->partition);
    memcpy(out->sort, index->sort, index->sort_count * sizeof *out->sort);
}

bool table_arn_read(str text, struct table_arn *out)
{
    str rest = text;
    if (!str_equal(str_cut(&rest, ':'), STR("arn")) || !str_begins(str_cut(&rest, ':'), STR("aws")) || !str_equal(str_cut(&rest, ':'), STR("dynamodb")))
        return false;
    out->region = str_cut(&rest, ':');
    out->account = str_cut(&rest, ':');
    if (!str_begins(rest, STR("table/")))
        return false;
    rest = str_from(rest, strlen("table/"));
    size_t end = str_find(rest, '/');
    out->name = str_of(rest.data, end);
    out->rest = str_from(rest, end);
    if (out->region.len == 0 || out->account.len == 0 || out->name.len < 3 || out->name.len > 255)
        return false;
    for (size_t i = 0; i < out->account.len; i++)
        if (out->account.data[i] < '0' || out->account.data[i] > '9')
            return false;
    return true;
}

void table_hold(const struct table *table)
{
    atomic_fetch_add_explicit(&((struct table *)(uintptr_t)table)->references, 1, memory_order_relaxed);
}

void table_release(const struct table *table)
{
    if (!table)
        return;
    /* Snapshots are const for all who hold them; only the count changes, and the last one to leave ends it. */
    struct table *own = (struct table *)(uintptr_t)table;
    if (atomic_fetch_sub_explicit(&own->references, 1, memory_order_acq_rel) == 1)
        table_draft_free(own);
}
