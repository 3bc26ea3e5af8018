/* DescribeLimits: DynamoDB's default quotas (reference indexes-streams-ttl.md section 12). */
#include "op/op_internal.h"

enum { ACCOUNT_UNITS_MAX = 80000, TABLE_UNITS_MAX = 40000 };

enum fault op_describe_limits(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    (void)context;
    (void)call;
    (void)request;
    buf_printf(answer,
        "{\"AccountMaxReadCapacityUnits\":%d,\"AccountMaxWriteCapacityUnits\":%d,\"TableMaxReadCapacityUnits\":%d,\"TableMaxWriteCapacityUnits\":%d}",
        ACCOUNT_UNITS_MAX, ACCOUNT_UNITS_MAX, TABLE_UNITS_MAX, TABLE_UNITS_MAX);
    return FAULT_NONE;
}
