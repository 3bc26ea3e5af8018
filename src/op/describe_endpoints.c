/* DescribeEndpoints: this very endpoint, for clients that look for one. */
#include "op/op_internal.h"

enum { CACHE_MINUTES = 1440 };

enum fault op_describe_endpoints(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    (void)call;
    (void)request;
    BUF_ADD_LITERAL(answer, "{\"Endpoints\":[{\"Address\":");
    json_write_string(answer, context->host);
    buf_printf(answer, ",\"CachePeriodInMinutes\":%d}]}", CACHE_MINUTES);
    return FAULT_NONE;
}
