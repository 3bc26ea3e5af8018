/* The list of operations. An operation joins it when its file is in the tree: one line, in the order of the API's own list. */
#include "op/op_internal.h"

static const struct op operations[] = {
    {"GetItem", op_get_item, false, false},
    {"PutItem", op_put_item, false, false},
    {"UpdateItem", op_update_item, false, false},
    {"DeleteItem", op_delete_item, false, false},
    {"Query", op_query, false, true},
    {"Scan", op_scan, false, true},
    {"BatchGetItem", op_batch_get_item, false, true},
    {"BatchWriteItem", op_batch_write_item, false, true},
    {"CreateTable", op_create_table, false, true},
    {"DescribeTable", op_describe_table, false, false},
    {"ListTables", op_list_tables, false, false},
    {"UpdateTable", op_update_table, false, true},
    {"DeleteTable", op_delete_table, false, true},
    {"TagResource", op_tag_resource, true, true},
    {"UntagResource", op_untag_resource, true, true},
    {"ListTagsOfResource", op_list_tags_of_resource, false, false},
    {"DescribeLimits", op_describe_limits, false, false},
    {"DescribeEndpoints", op_describe_endpoints, false, false},
    {"DescribeTimeToLive", op_describe_time_to_live, false, false},
    {"DescribeContinuousBackups", op_describe_continuous_backups, false, false},
};

enum { OPERATION_COUNT = sizeof operations / sizeof operations[0] };

const struct op *op_find(str name, size_t *index)
{
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        if (str_equal(str_of_text(operations[i].name), name)) {
            if (index)
                *index = i;
            return &operations[i];
        }
    }
    return NULL;
}

const struct op *op_all(size_t *count)
{
    *count = OPERATION_COUNT;
    return operations;
}

enum fault op_table_acquire(struct op_context *context, struct call *call, const struct json *request, const struct table **out)
{
    str name = wire_text(request, json_member(request, 0, STR("TableName")));
    return table_acquire(call, context->service->catalog, context->account, context->region, name, out);
}

enum fault op_table_acquire_any(struct op_context *context, struct call *call, const struct json *request, const struct table **out)
{
    str name = wire_text(request, json_member(request, 0, STR("TableName")));
    return table_acquire_any(call, context->service->catalog, context->account, context->region, name, out);
}
