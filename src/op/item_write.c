/* One change of one item, as PutItem, UpdateItem and DeleteItem ask for it: run, charged, answered. */
#include "op/item_internal.h"

/* The item that ReturnValues asks for; empty when there is nothing to show. */
static str returned_attributes(struct call *call, const struct item_write *write, const struct edit_outcome *outcome)
{
    str before = outcome->had_item ? outcome->before.item : STR_NONE;
    str after = outcome->has_item ? outcome->after.item : STR_NONE;
    str image = write->returns == RETURNS_UPDATED_OLD ? before : after;
    switch (write->returns) {
    case RETURNS_NONE:
        return STR_NONE;
    case RETURNS_ALL_OLD:
        return before;
    case RETURNS_ALL_NEW:
        return after;
    case RETURNS_UPDATED_OLD:
    case RETURNS_UPDATED_NEW:
        if (image.len == 0 || write->edit.action.len == 0)
            return STR_NONE;
        struct buf touched;
        buf_open(&touched, &call->arena, 0);
        expr_update_touched(write->edit.action, image, &touched);
        struct value_walk walk;
        item_walk_open(&walk, buf_str(&touched));
        return walk.left ? buf_str(&touched) : STR_NONE;
    }
    __builtin_unreachable();
}

static void answer_write(struct call *call, const struct table *table, const struct item_write *write, const struct edit_outcome *outcome, struct buf *answer)
{
    buf_add_byte(answer, '{');
    str attributes = returned_attributes(call, write, outcome);
    if (attributes.len) {
        json_write_name(answer, "Attributes");
        item_write_json(answer, attributes);
    }
    if (write->detail != CAPACITY_NONE) {
        struct item_charge charge;
        item_charge_open(call, table, &charge);
        item_charge_write(call, &charge, outcome);
        json_write_name(answer, "ConsumedCapacity");
        item_charge_answer(call, &charge, write->detail, write->table_name, answer);
    }
    if (write->wants_metrics && item_collections_exist(table)) {
        json_write_name(answer, "ItemCollectionMetrics");
        item_collection_answer(table, write->edit.key_item, outcome->collection_bytes, answer);
    }
    buf_add_byte(answer, '}');
}

enum fault item_write_run(struct op_context *context, struct call *call, const struct table *table, struct item_write *write, struct buf *answer)
{
    struct part_range *range;
    TRY(part_range_acquire(call, context->service->part, table_range_of(table, write->edit.row_key), &range));
    struct edit_outcome outcome;
    item_local_indexes(call, table, &write->edit);
    enum fault fault = part_edit(call, range, &write->edit, &outcome);
    if (fault == FAULT_NONE)
        answer_write(call, table, write, &outcome, answer);
    else if (fault == FAULT_CONDITIONAL_CHECK_FAILED && write->shows_failed_item && outcome.had_item)
        call->failed_item = outcome.before.item;
    part_range_release(range);
    return fault;
}
