/* DescribeContinuousBackups: no table of this server has point-in-time recovery yet. */
#include "op/op_internal.h"

enum fault op_describe_continuous_backups(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    const struct table *table;
    str name = wire_text(request, json_member(request, 0, STR("TableName")));
    if (table_acquire_any(call, context->service->catalog, context->account, context->region, name, &table) != FAULT_NONE) {
        if (call->fault != FAULT_RESOURCE_NOT_FOUND)
            return call->fault;
        call_clear_fault(call);
        return fail(call, FAULT_TABLE_NOT_FOUND, "Table not found: %.*s", STR_ARG(name));
    }
    table_release(table);
    BUF_ADD_LITERAL(answer, "{\"ContinuousBackupsDescription\":{\"ContinuousBackupsStatus\":\"ENABLED\",\"PointInTimeRecoveryDescription\":"
                            "{\"PointInTimeRecoveryStatus\":\"DISABLED\"}}}");
    return FAULT_NONE;
}
