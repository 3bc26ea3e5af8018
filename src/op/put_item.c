/* PutItem: makes or replaces an item. */
#include "op/item_internal.h"

static enum fault put(struct op_context *context, struct call *call, const struct table *table, struct item_write *write, struct buf *answer)
{
    struct buf row_key, key_item;
    buf_open(&row_key, &call->arena, 0);
    TRY(key_of_item(call, &table->keys, write->edit.action, false, &row_key));
    buf_open(&key_item, &call->arena, 0);
    key_item_of(&table->keys, write->edit.action, &key_item);
    write->edit.row_key = buf_str(&row_key);
    write->edit.key_item = buf_str(&key_item);
    item_index_keys(call, table, &write->edit);
    return item_write_run(context, call, table, write, answer);
}

enum fault op_put_item(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    struct item_write write;
    TRY(item_write_open(call, &write, EDIT_PUT, request));
    TRY(item_read_values(call, request, json_member(request, 0, STR("Item")), &write.edit.action));
    TRY(item_write_check_returns(call, request, &write));
    if (item_size(write.edit.action) > ITEM_BYTES_MAX)
        return fail(call, FAULT_VALIDATION, "Item size has exceeded the maximum allowed size");
    TRY(item_write_read_expressions(call, request, &write));
    const struct table *table;
    TRY(op_table_acquire(context, call, request, &table));
    enum fault fault = put(context, call, table, &write, answer);
    table_release(table);
    return fault;
}
