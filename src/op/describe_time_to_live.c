/* DescribeTimeToLive: no table of this server expires items yet. */
#include "op/op_internal.h"

enum fault op_describe_time_to_live(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    const struct table *table;
    TRY(op_table_acquire_any(context, call, request, &table));
    table_release(table);
    BUF_ADD_LITERAL(answer, "{\"TimeToLiveDescription\":{\"TimeToLiveStatus\":\"DISABLED\"}}");
    return FAULT_NONE;
}
