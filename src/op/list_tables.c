/* ListTables: the names of an account and region, a page at a time. */
#include "op/op_internal.h"

enum { NAMES_MAX = 100 };

enum fault op_list_tables(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    int64_t limit = wire_whole(request, json_member(request, 0, STR("Limit")), NAMES_MAX);
    str after = wire_text(request, json_member(request, 0, STR("ExclusiveStartTableName")));
    str *names;
    size_t count;
    bool has_more;
    table_list(call, context->service->catalog, context->account, context->region, after, (size_t)limit, &names, &count, &has_more);
    BUF_ADD_LITERAL(answer, "{\"TableNames\":[");
    for (size_t i = 0; i < count; i++) {
        json_write_comma(answer);
        json_write_string(answer, names[i]);
    }
    buf_add_byte(answer, ']');
    if (has_more) {
        json_write_name(answer, "LastEvaluatedTableName");
        json_write_string(answer, names[count - 1]);
    }
    buf_add_byte(answer, '}');
    return FAULT_NONE;
}
