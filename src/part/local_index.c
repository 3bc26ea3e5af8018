/* Local indexes: which rows of theirs a change of an item changes, and by how much its item collection grows. Pure: what the sequencer writes, what a test
   expects and what a torture run checks all come from here.
   A change that leaves an entry's key and projection alone leaves its row alone, as DynamoDB charges nothing for it. So an entry's stamp is that of a change
   at or after the one that made the entry, and never above the item's. */
#include "part/part_internal.h"

#include <assert.h>

/* An index's entry for an item; no data: it holds none. */
struct entry {
    str key;
    struct stored stored;
};

static struct entry entry_of(struct arena *arena, const struct index_schema *schema, bool has_item, const struct stored *stored)
{
    struct entry entry = {0};
    if (!has_item || !index_holds(schema, stored->item))
        return entry;
    struct buf key, kept;
    buf_open(&key, arena, 64);
    index_row_key(schema, stored->item, &key);
    entry.key = buf_str(&key);
    entry.stored = *stored;
    if (schema->projects_all)
        return entry;
    buf_open(&kept, arena, 64);
    index_project(schema, stored->item, arena, &kept);
    entry.stored.item = buf_str(&kept);
    entry.stored.size = (uint32_t)item_size(entry.stored.item);
    return entry;
}

static void add_row(struct local_changes *changes, str key, const struct stored *before, const struct stored *after)
{
    changes->rows[changes->count++] = (struct local_change){.key = key, .before = before ? *before : (struct stored){0}, .after = after ? *after : (struct stored){0}};
}

void local_index_changes(struct arena *arena, const struct edit *edit, const struct edit_outcome *outcome, struct local_changes *out)
{
    assert(edit->local_index_count <= LOCAL_INDEXES_MAX);
    *out = (struct local_changes){.bytes_before = outcome->had_item ? outcome->before.size : 0, .bytes_after = outcome->has_item ? outcome->after.size : 0};
    for (size_t i = 0; i < edit->local_index_count; i++) {
        const struct index_schema *schema = &edit->local_indexes[i];
        struct entry before = entry_of(arena, schema, outcome->had_item, &outcome->before), after = entry_of(arena, schema, outcome->has_item, &outcome->after);
        out->bytes_before += before.stored.size;
        out->bytes_after += after.stored.size;
        bool is_moved = before.key.data && after.key.data && !str_equal(before.key, after.key);
        if (before.key.data && after.key.data && !is_moved) {
            if (!str_equal(before.stored.item, after.stored.item))
                add_row(out, after.key, &before.stored, &after.stored);
            else
                PROBE("part: a change leaves an index entry alone");
            continue;
        }
        if (is_moved)
            PROBE("part: an index entry moves");
        if (before.key.data)
            add_row(out, before.key, &before.stored, NULL);
        if (after.key.data)
            add_row(out, after.key, NULL, &after.stored);
    }
}

str local_collection_key(struct arena *arena, const struct edit *edit)
{
    const struct key_schema *table = edit->local_indexes[0].table;
    struct buf key;
    buf_open(&key, arena, 64);
    key_encode_partition(table, ROW_COLLECTION, item_get(edit->key_item, table->partition.name), &key);
    return buf_str(&key);
}

/* --- Encoding --- */

enum { FLAG_PROJECTS_ALL = 1 };

static void add_attribute(struct buf *out, const struct key_attribute *attribute)
{
    buf_add_counted(out, attribute->name);
    buf_add_byte(out, (uint8_t)attribute->type);
}

void local_indexes_encode(const struct edit *edit, struct buf *out)
{
    buf_add_varint(out, edit->local_index_count);
    add_attribute(out, &edit->local_indexes[0].table->partition);
    add_attribute(out, &edit->local_indexes[0].table->sort);
    for (size_t i = 0; i < edit->local_index_count; i++) {
        const struct index_schema *schema = &edit->local_indexes[i];
        assert(schema->is_local && schema->sort_count == 1);
        buf_add_byte(out, schema->local_place);
        add_attribute(out, &schema->sort[0]);
        buf_add_byte(out, schema->projects_all ? FLAG_PROJECTS_ALL : 0);
        buf_add_varint(out, schema->non_key_attribute_count);
        for (size_t name = 0; name < schema->non_key_attribute_count; name++)
            buf_add_counted(out, schema->non_key_attributes[name]);
    }
}

static bool take_byte(str *rest, uint8_t *byte)
{
    str taken;
    if (!str_take(rest, 1, &taken))
        return false;
    *byte = (uint8_t)taken.data[0];
    return true;
}

static bool take_attribute(str *rest, struct key_attribute *out)
{
    uint8_t type;
    if (!str_take_counted(rest, &out->name) || !take_byte(rest, &type))
        return false;
    out->type = (enum value_type)type;
    return out->name.len > 0 && out->name.len <= KEY_NAME_MAX && type >= VALUE_S && type <= VALUE_B;
}

static bool take_schema(struct arena *arena, str *rest, struct index_schema *out)
{
    uint8_t flags;
    uint64_t count;
    if (!take_byte(rest, &out->local_place) || !take_attribute(rest, &out->sort[0]) || !take_byte(rest, &flags) || flags > FLAG_PROJECTS_ALL ||
        !varint_take(rest, &count) || count > rest->len / 2)
        return false;
    str *names = ARENA_NEW_ARRAY(arena, str, (size_t)count);
    for (size_t i = 0; i < count; i++) {
        if (!str_take_counted(rest, &names[i]) || names[i].len == 0)
            return false;
    }
    out->is_local = true;
    out->partition[0] = out->table->partition;
    out->partition_count = out->sort_count = 1;
    out->projects_all = flags == FLAG_PROJECTS_ALL;
    out->non_key_attributes = names;
    out->non_key_attribute_count = (size_t)count;
    return out->local_place < LOCAL_INDEXES_MAX;
}

bool local_indexes_decode(struct arena *arena, str *rest, struct edit *out)
{
    uint64_t count;
    if (!varint_take(rest, &count) || count == 0 || count > LOCAL_INDEXES_MAX)
        return false;
    struct key_schema *table = ARENA_NEW(arena, struct key_schema);
    struct index_schema *schemas = ARENA_NEW_ARRAY(arena, struct index_schema, (size_t)count);
    if (!take_attribute(rest, &table->partition) || !take_attribute(rest, &table->sort))
        return false;
    for (size_t i = 0; i < count; i++) {
        schemas[i].table = table;
        if (!take_schema(arena, rest, &schemas[i]) || (i > 0 && schemas[i].local_place <= schemas[i - 1].local_place))
            return false;
    }
    out->local_indexes = schemas;
    out->local_index_count = (size_t)count;
    return true;
}

static bool is_key_value(const struct key_attribute *attribute, str v, size_t bytes_max)
{
    return v.len > 0 && value_type(v) == attribute->type && (attribute->type == VALUE_N || value_scalar(v).len <= bytes_max);
}

static enum fault refuse_written_key(void *context, const struct expr_path *path)
{
    const struct key_schema *table = context;
    bool is_key = str_equal(path->attribute, table->partition.name) || str_equal(path->attribute, table->sort.name);
    return path->is_written && is_key ? FAULT_VALIDATION : FAULT_NONE;
}

bool local_indexes_fit(struct arena *arena, const struct edit *edit)
{
    if (edit->local_index_count == 0)
        return true;
    struct key_schema table = *edit->local_indexes[0].table;
    str partition = item_get(edit->key_item, table.partition.name), sort = item_get(edit->key_item, table.sort.name);
    if (!is_key_value(&table.partition, partition, PARTITION_KEY_MAX) || !is_key_value(&table.sort, sort, SORT_KEY_MAX))
        return false;
    struct buf row_key;
    buf_open(&row_key, arena, edit->row_key.len);
    key_encode(&table, ROW_ITEM, partition, sort, &row_key);
    if (!str_equal(buf_str(&row_key), edit->row_key))
        return false;
    if (edit->kind == EDIT_PUT)
        return value_equal(item_get(edit->action, table.partition.name), partition) && value_equal(item_get(edit->action, table.sort.name), sort);
    return edit->action.len == 0 || expr_paths_each(edit->action, refuse_written_key, &table) == FAULT_NONE;
}
