/* What item operations consume, and how they say so. Reference capacity.md sections 1, 3 and 4. */
#include "op/item_internal.h"

void item_charge_open(struct call *call, const struct table *table, struct item_charge *charge)
{
    *charge = (struct item_charge){
        .table = table,
        .index_half_units = ARENA_NEW_ARRAY(&call->arena, uint64_t, table->index_count + 1),
    };
}

void item_charge_read(struct item_charge *charge, uint64_t size_bytes, enum read_consistency consistency)
{
    charge->table_half_units += admit_read_units(size_bytes, consistency);
}

/* What the index holds of an item; empty when it holds nothing of it. */
struct index_view {
    str item;
    uint64_t size;
};

static struct index_view index_view_of(struct call *call, const struct index_schema *schema, bool exists, const struct stored *stored)
{
    if (!exists || !index_holds(schema, stored->item))
        return (struct index_view){0};
    if (schema->projects_all)
        return (struct index_view){stored->item, stored->size};
    struct buf view;
    buf_open(&view, &call->arena, 0);
    index_project(schema, stored->item, &call->arena, &view);
    return (struct index_view){buf_str(&view), item_size(buf_str(&view))};
}

static uint64_t index_units(struct call *call, const struct table *table, const struct table_index *index, const struct edit_outcome *outcome)
{
    struct index_schema schema;
    table_index_schema(table, index, &schema);
    struct index_view before = index_view_of(call, &schema, outcome->had_item, &outcome->before);
    struct index_view after = index_view_of(call, &schema, outcome->has_item, &outcome->after);
    bool key_changed = before.item.len && after.item.len && index_key_differs(&schema, before.item, after.item);
    return admit_index_write_units(before.size, after.size, str_equal(before.item, after.item), key_changed);
}

void item_charge_write(struct call *call, struct item_charge *charge, const struct edit_outcome *outcome)
{
    charge->table_half_units += admit_write_units(outcome->had_item ? outcome->before.size : 0, outcome->has_item ? outcome->after.size : 0);
    for (size_t i = 0; i < charge->table->index_count; i++)
        charge->index_half_units[i] += index_units(call, charge->table, &charge->table->indexes[i], outcome);
}

/* The charged arms of one kind of index, in the arena. */
static const struct wire_index_units *charged_arms(struct call *call, const struct item_charge *charge, bool local, size_t *count)
{
    struct wire_index_units *arms = ARENA_NEW_ARRAY(&call->arena, struct wire_index_units, charge->table->index_count + 1);
    *count = 0;
    for (size_t i = 0; i < charge->table->index_count; i++) {
        if (charge->table->indexes[i].is_local == local && charge->index_half_units[i])
            arms[(*count)++] = (struct wire_index_units){charge->table->indexes[i].name, charge->index_half_units[i]};
    }
    return arms;
}

void item_charge_answer(struct call *call, const struct item_charge *charge, enum wire_capacity_detail detail, str table_name, struct buf *answer)
{
    struct wire_consumed consumed = {.table = table_name, .table_half_units = charge->table_half_units};
    consumed.local = charged_arms(call, charge, true, &consumed.local_count);
    consumed.global = charged_arms(call, charge, false, &consumed.global_count);
    wire_write_consumed(answer, detail, &consumed);
}

bool item_collections_exist(const struct table *table)
{
    return table->index_count && table->indexes[0].is_local;
}

void item_collection_answer(const struct table *table, str key_item, uint64_t collection_bytes, struct buf *answer)
{
    enum { GIGABYTE = 1 << 30 };
    uint64_t lower = collection_bytes / GIGABYTE;
    BUF_ADD_LITERAL(answer, "{\"ItemCollectionKey\":{");
    json_write_string(answer, table->keys.partition.name);
    buf_add_byte(answer, ':');
    value_write_json(answer, item_get(key_item, table->keys.partition.name));
    buf_printf(answer, "},\"SizeEstimateRangeGB\":[%llu,%llu]}", (unsigned long long)lower, (unsigned long long)lower + 1);
}
