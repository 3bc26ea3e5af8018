/* Lanes: one index range as one range of its table feeds it, and what changes make of its entries. */
#include "chore/chore_internal.h"

#include <assert.h>
#include <stdlib.h>

void lane_open(struct lane *lane, const struct table *table, const struct table_index *index, size_t range)
{
    *lane = (struct lane){.range = index->ranges[range].id, .table = table, .index = index, .hash_from = index->ranges[range].hash_from, .hash_to = UINT64_MAX};
    if (range + 1 < index->range_count)
        lane->hash_to = index->ranges[range + 1].hash_from - 1;
    table_index_schema(table, index, &lane->schema);
}

void lane_close(struct lane *lane)
{
    table_release(lane->table);
    free(lane->copied_to);
}

void lane_set_copied(struct lane *lane, str key)
{
    free(lane->copied_to);
    lane->copied_to = chore_allocate(key.len + 1);
    memcpy(lane->copied_to, key.data, key.len);
    lane->copied_to_bytes = key.len;
}

/* The hash that a row key carries (model/key.h). */
static uint64_t row_hash(str row_key)
{
    assert(row_key.len > KEY_HASH_BYTES);
    uint64_t hash = 0;
    for (size_t i = 1; i <= KEY_HASH_BYTES; i++)
        hash = hash << 7 | ((uint8_t)row_key.data[i] & 0x7f);
    return hash;
}

/* What the index has of an item. */
struct view {
    bool is_held;
    str row_key, item;
};

static struct view view_of(struct call *call, const struct lane *lane, str item)
{
    struct view view = {0};
    if (item.len == 0 || !index_holds(&lane->schema, item))
        return view;
    struct buf key, kept;
    buf_open(&key, &call->arena, 64);
    index_row_key(&lane->schema, item, &key);
    uint64_t hash = row_hash(buf_str(&key));
    if (hash < lane->hash_from || hash > lane->hash_to)
        return view;
    view = (struct view){true, buf_str(&key), item};
    if (!lane->schema.projects_all) {
        buf_open(&kept, &call->arena, 64);
        index_project(&lane->schema, item, &call->arena, &kept);
        view.item = buf_str(&kept);
    }
    return view;
}

static struct part_index_entry entry_put(const struct view *view, uint64_t stamp)
{
    return (struct part_index_entry){.row_key = view->row_key, .stored = {.stamp = stamp, .size = (uint32_t)item_size(view->item), .item = view->item}};
}

void lane_entries_of_records(struct call *call, const struct lane *lane, const struct part_log_record *records, size_t count,
                             struct part_index_entry **entries, size_t *entry_count)
{
    *entries = ARENA_NEW_ARRAY(&call->arena, struct part_index_entry, 2 * count);
    *entry_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct part_log_record *record = &records[i];
        struct view before = view_of(call, lane, record->had_item ? record->before : STR_NONE);
        struct view after = view_of(call, lane, record->has_item ? record->after : STR_NONE);
        bool key_moves = before.is_held && !(after.is_held && str_equal(before.row_key, after.row_key));
        if (key_moves)
            (*entries)[(*entry_count)++] = (struct part_index_entry){.row_key = before.row_key, .is_delete = true};
        /* What the index does not keep may change without it: no write. */
        if (after.is_held && (key_moves || !before.is_held || !str_equal(before.item, after.item)))
            (*entries)[(*entry_count)++] = entry_put(&after, record->stamp);
    }
}

void lane_entries_of_rows(struct call *call, const struct lane *lane, const struct part_row *rows, size_t count, struct part_index_entry **entries,
                          size_t *entry_count)
{
    *entries = ARENA_NEW_ARRAY(&call->arena, struct part_index_entry, count);
    *entry_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct view view = view_of(call, lane, rows[i].stored.item);
        if (view.is_held)
            (*entries)[(*entry_count)++] = entry_put(&view, rows[i].stored.stamp);
    }
}
