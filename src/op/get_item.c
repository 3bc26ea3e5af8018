/* GetItem: reads one item, or the parts of it that a projection names. */
#include "op/item_internal.h"

static enum fault read_item(struct op_context *context, struct call *call, const struct table *table, str key_item, bool *found, struct stored *stored)
{
    struct buf row_key;
    buf_open(&row_key, &call->arena, 0);
    TRY(key_of_map(call, &table->keys, key_item, &row_key));
    struct part_range *range;
    TRY(part_range_acquire(call, context->service->part, table_range_of(table, buf_str(&row_key)), &range));
    enum fault fault = part_get(call, range, buf_str(&row_key), found, stored);
    part_range_release(range);
    return fault;
}

static void answer_item(struct call *call, str item, str projection, struct buf *answer)
{
    if (projection.len) {
        struct buf projected;
        buf_open(&projected, &call->arena, 0);
        expr_project(projection, item, &projected);
        item = buf_str(&projected);
    }
    json_write_name(answer, "Item");
    item_write_json(answer, item);
}

static enum fault get(struct op_context *context, struct call *call, const struct json *request, const struct table *table, str key_item, str projection, struct buf *answer)
{
    bool found;
    struct stored stored;
    TRY(item_check_key_paths(call, table, projection));
    TRY(read_item(context, call, table, key_item, &found, &stored));
    buf_add_byte(answer, '{');
    if (found)
        answer_item(call, stored.item, projection, answer);
    enum wire_capacity_detail detail = wire_capacity_detail(request, json_member(request, 0, STR("ReturnConsumedCapacity")));
    if (detail != CAPACITY_NONE) {
        bool strong = wire_flag(request, json_member(request, 0, STR("ConsistentRead")), false);
        struct item_charge charge;
        item_charge_open(call, table, &charge);
        item_charge_read(&charge, found ? stored.size : 0, strong ? READ_STRONG : READ_EVENTUAL);
        json_write_name(answer, "ConsumedCapacity");
        item_charge_answer(call, &charge, detail, wire_text(request, json_member(request, 0, STR("TableName"))), answer);
    }
    buf_add_byte(answer, '}');
    return FAULT_NONE;
}

enum fault op_get_item(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    str key_item, projection;
    item_wording_of_reads(call);
    TRY(item_check_projection(call, request, 0));
    TRY(item_read_values(call, request, json_member(request, 0, STR("Key")), &key_item));
    TRY(item_read_projection(call, request, 0, &projection));
    const struct table *table;
    TRY(op_table_acquire(context, call, request, &table));
    enum fault fault = get(context, call, request, table, key_item, projection, answer);
    table_release(table);
    return fault;
}
