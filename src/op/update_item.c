/* UpdateItem: changes attributes of an item, and makes the item when it is missing. */
#include "op/item_internal.h"

static enum fault update(struct op_context *context, struct call *call, const struct table *table, struct item_write *write, struct buf *answer)
{
    struct buf row_key;
    buf_open(&row_key, &call->arena, 0);
    TRY(key_of_map(call, &table->keys, write->edit.key_item, &row_key));
    item_index_keys(call, table, &write->edit);
    TRY(item_check_update_paths(call, table, &write->edit));
    write->edit.row_key = buf_str(&row_key);
    return item_write_run(context, call, table, write, answer);
}

enum fault op_update_item(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    struct item_write write;
    TRY(item_write_open(call, &write, EDIT_UPDATE, request));
    TRY(item_read_values(call, request, json_member(request, 0, STR("Key")), &write.edit.key_item));
    TRY(item_write_read_expressions(call, request, &write));
    const struct table *table;
    TRY(op_table_acquire(context, call, request, &table));
    enum fault fault = update(context, call, table, &write, answer);
    table_release(table);
    return fault;
}
