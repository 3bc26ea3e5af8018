/* Index entries: whether an index holds an item, what it keeps of it, and under which row key. */
#include "model/index.h"
#include "model/model_internal.h"

#include <assert.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A value that can stand in a key: there, of the attribute's type, within a key's limits. */
static bool is_key_value(const struct key_attribute *attribute, str v, size_t bytes_max)
{
    if (v.len == 0 || value_type(v) != attribute->type)
        return false;
    size_t bytes = value_scalar(v).len;
    return attribute->type == VALUE_N || (bytes > 0 && bytes <= bytes_max);
}

bool index_holds(const struct index_schema *schema, str item)
{
    for (size_t part = 0; part < schema->partition_count; part++) {
        if (!is_key_value(&schema->partition[part], item_get(item, schema->partition[part].name), PARTITION_KEY_MAX))
            return false;
    }
    for (size_t part = 0; part < schema->sort_count; part++) {
        if (!is_key_value(&schema->sort[part], item_get(item, schema->sort[part].name), SORT_KEY_MAX))
            return false;
    }
    return true;
}

bool index_projects(const struct index_schema *schema, str attribute)
{
    const struct key_schema *table = schema->table;
    if (schema->projects_all || str_equal(attribute, table->partition.name) || (table->sort.name.len > 0 && str_equal(attribute, table->sort.name)))
        return true;
    for (size_t part = 0; part < schema->partition_count; part++) {
        if (str_equal(attribute, schema->partition[part].name))
            return true;
    }
    for (size_t part = 0; part < schema->sort_count; part++) {
        if (str_equal(attribute, schema->sort[part].name))
            return true;
    }
    for (size_t i = 0; i < schema->non_key_attribute_count; i++) {
        if (str_equal(attribute, schema->non_key_attributes[i]))
            return true;
    }
    return false;
}

void index_project(const struct index_schema *schema, str item, struct arena *scratch, struct buf *out)
{
    if (schema->projects_all) {
        buf_add_str(out, item);
        return;
    }
    struct value_walk walk;
    str name, v;
    item_walk_open(&walk, item);
    str *kept = arena_alloc(scratch, (size_t)walk.left * sizeof *kept); /* attributes as they stand in the item, which is in order */
    size_t count = 0;
    const char *start = walk.rest.data;
    while (value_walk_attribute(&walk, &name, &v)) {
        const char *end = v.data + v.len;
        if (index_projects(schema, name))
            kept[count++] = str_of(start, (size_t)(end - start));
        start = end;
    }
    buf_add_varint(out, count);
    for (size_t i = 0; i < count; i++)
        buf_add_str(out, kept[i]);
}

/* --- Row keys --- */

static uint64_t hash_of_parts(const struct index_schema *schema, const str *values)
{
    if (schema->partition_count == 1)
        return key_hash(schema->partition[0].type, value_scalar(values[0]));
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    for (size_t part = 0; part < schema->partition_count; part++) {
        str bytes = value_scalar(values[part]);
        char head[5] = {key_type_letter(schema->partition[part].type)};
        bytes_put_u32(head + 1, (uint32_t)bytes.len);
        XXH64_update(&state, head, sizeof head);
        if (bytes.len > 0)
            XXH64_update(&state, bytes.data, bytes.len);
    }
    return XXH64_digest(&state);
}

void index_row_hash(const struct index_schema *schema, uint64_t hash, struct buf *out)
{
    if (schema->is_local) {
        buf_add_byte(out, ROW_LOCAL_INDEX);
        buf_add_byte(out, (uint8_t)('A' + schema->local_place));
    } else {
        buf_add_byte(out, ROW_ITEM);
    }
    key_put_hash(out, hash);
}

void index_row_prefix(const struct index_schema *schema, const str *partition_values, const str *sort_values, size_t sort_count, struct buf *out)
{
    assert(sort_count <= schema->sort_count);
    index_row_hash(schema, hash_of_parts(schema, partition_values), out);
    for (size_t part = 0; part < schema->partition_count; part++) {
        assert(value_type(partition_values[part]) == schema->partition[part].type);
        key_escape_closed(out, value_scalar(partition_values[part]));
    }
    for (size_t part = 0; part < sort_count; part++) {
        assert(value_type(sort_values[part]) == schema->sort[part].type);
        key_escape_closed(out, value_scalar(sort_values[part]));
    }
}

static str key_value(str item, const struct key_attribute *attribute)
{
    str v = item_get(item, attribute->name);
    assert(v.len > 0 && value_type(v) == attribute->type);
    return v;
}

void index_row_key(const struct index_schema *schema, str item, struct buf *out)
{
    const struct key_schema *table = schema->table;
    str partition[INDEX_PARTS_MAX], sort[INDEX_PARTS_MAX];
    for (size_t part = 0; part < schema->partition_count; part++)
        partition[part] = key_value(item, &schema->partition[part]);
    for (size_t part = 0; part < schema->sort_count; part++)
        sort[part] = key_value(item, &schema->sort[part]);
    index_row_prefix(schema, partition, sort, schema->sort_count, out);
    if (!schema->is_local)
        key_escape_closed(out, value_scalar(key_value(item, &table->partition)));
    if (table->sort.name.len > 0)
        key_escape(out, value_scalar(key_value(item, &table->sort)));
}

bool index_key_differs(const struct index_schema *schema, str before, str after)
{
    for (size_t part = 0; part < schema->partition_count; part++) {
        if (!value_equal(item_get(before, schema->partition[part].name), item_get(after, schema->partition[part].name)))
            return true;
    }
    for (size_t part = 0; part < schema->sort_count; part++) {
        if (!value_equal(item_get(before, schema->sort[part].name), item_get(after, schema->sort[part].name)))
            return true;
    }
    return false;
}
