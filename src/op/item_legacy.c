/* Conditions and updates in the parameters from before expressions: AttributeUpdates, Expected, ConditionalOperator. */
#include "op/item_internal.h"

enum fault item_write_read_legacy(struct call *call, const struct json *request, struct item_write *write)
{
    uint32_t updates = json_member(request, 0, STR("AttributeUpdates"));
    uint32_t expected = json_member(request, 0, STR("Expected"));
    uint32_t conditional_operator = json_member(request, 0, STR("ConditionalOperator"));
    if (write->edit.kind == EDIT_UPDATE && updates != JSON_ABSENT)
        TRY(expr_legacy_update(call, request, updates, &write->edit.action));
    if (expected == JSON_ABSENT && conditional_operator == JSON_ABSENT)
        return FAULT_NONE;
    return expr_legacy_condition(call, request, expected, conditional_operator, &write->edit.condition);
}
