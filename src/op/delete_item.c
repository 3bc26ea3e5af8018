/* DeleteItem: removes an item; a missing one is no error. */
#include "op/item_internal.h"

static enum fault delete(struct op_context *context, struct call *call, const struct table *table, struct item_write *write, struct buf *answer)
{
    struct buf row_key;
    buf_open(&row_key, &call->arena, 0);
    TRY(key_of_map(call, &table->keys, write->edit.key_item, &row_key));
    write->edit.row_key = buf_str(&row_key);
    return item_write_run(context, call, table, write, answer);
}

enum fault op_delete_item(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    struct item_write write;
    TRY(item_write_open(call, &write, EDIT_DELETE, request));
    TRY(item_read_values(call, request, json_member(request, 0, STR("Key")), &write.edit.key_item));
    TRY(item_write_check_returns(call, request, &write));
    TRY(item_write_read_expressions(call, request, &write));
    const struct table *table;
    TRY(op_table_acquire(context, call, request, &table));
    enum fault fault = delete(context, call, table, &write, answer);
    table_release(table);
    return fault;
}
