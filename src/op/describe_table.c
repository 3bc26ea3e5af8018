/* DescribeTable. */
#include "op/table_request_internal.h"

enum fault op_describe_table(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    const struct table *table;
    struct table_totals totals;
    TRY(op_table_acquire_any(context, call, request, &table));
    enum fault fault = table_count(context, call, table, &totals);
    if (fault == FAULT_NONE) {
        BUF_ADD_LITERAL(answer, "{\"Table\":");
        table_describe(answer, call, table, table->status, &totals, false);
        buf_add_byte(answer, '}');
    }
    table_release(table);
    return fault;
}
