/* DeleteTable: the table is gone for all who come after; its rows are dropped in the background. */
#include "op/table_request_internal.h"

/* While an index is being made its table stays (reference indexes-streams-ttl.md section 2). */
static enum fault check_indexes_ready(struct call *call, const struct table *table) MUST_USE;
static enum fault check_indexes_ready(struct call *call, const struct table *table)
{
    for (size_t i = 0; i < table->index_count; i++)
        if (table->indexes[i].status == TABLE_CREATING)
            return fail(call, FAULT_RESOURCE_IN_USE, "Attempt to change a resource which is still in use: Table is being updated: %.*s", STR_ARG(table->name));
    return FAULT_NONE;
}

static enum fault delete_found(struct op_context *context, struct call *call, const struct table *table, struct table_totals *totals) MUST_USE;
static enum fault delete_found(struct op_context *context, struct call *call, const struct table *table, struct table_totals *totals)
{
    TRY(table_is_ready(call, table));
    TRY(check_indexes_ready(call, table));
    if (table->deletion_protected)
        return fail(call, FAULT_VALIDATION, "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.");
    TRY(table_count(context, call, table, totals));
    TRY(table_delete(call, context->service->catalog, table));
    if (context->service->chore)
        chore_wake(context->service->chore);
    return FAULT_NONE;
}

enum fault op_delete_table(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    const struct table *table;
    struct table_totals totals;
    TRY(op_table_acquire_any(context, call, request, &table));
    enum fault fault = delete_found(context, call, table, &totals);
    if (fault == FAULT_NONE) {
        BUF_ADD_LITERAL(answer, "{\"TableDescription\":");
        table_describe(answer, call, table, TABLE_DELETING, &totals, true);
        buf_add_byte(answer, '}');
    }
    table_release(table);
    return fault;
}
