/* Reading the requests of item operations: values, how to answer, expressions. */
#include "op/item_internal.h"

#include <stdlib.h>

void item_wording_of_reads(struct call *call)
{
    if (call->wording == WORDING_CURRENT)
        call->wording = WORDING_CURRENT_BARE;
}

void item_wording_of_batch_writes(struct call *call)
{
    call->wording = WORDING_CLASSIC;
}

enum fault item_read_values(struct call *call, const struct json *request, uint32_t map, str *item)
{
    struct buf bytes;
    buf_open(&bytes, &call->arena, 0);
    TRY(item_read(call, request, map, &bytes));
    *item = buf_str(&bytes);
    if (item_depth(*item) > ITEM_DEPTH_MAX)
        return fail_reworded(call, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit");
    return FAULT_NONE;
}

static enum item_returns returns_of(str text)
{
    static const struct {
        const char *text;
        enum item_returns returns;
    } known[] = {
        {"ALL_OLD", RETURNS_ALL_OLD},
        {"UPDATED_OLD", RETURNS_UPDATED_OLD},
        {"ALL_NEW", RETURNS_ALL_NEW},
        {"UPDATED_NEW", RETURNS_UPDATED_NEW},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (str_equal(text, str_of_text(known[i].text)))
            return known[i].returns;
    }
    return RETURNS_NONE;
}

const char *const *item_present_members(struct call *call, const struct json *request, uint32_t object, const char *const *all)
{
    size_t count = 0;
    while (all[count])
        count++;
    const char **present = ARENA_NEW_ARRAY(&call->arena, const char *, count + 1);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (json_member(request, object, str_of_text(all[i])) != JSON_ABSENT)
            present[found++] = all[i];
    }
    return present;
}

struct expr_request item_expression_members(const struct json *request, uint32_t object)
{
    struct expr_request members = {
        .json = request,
        .names = json_member(request, object, STR("ExpressionAttributeNames")),
        .values = json_member(request, object, STR("ExpressionAttributeValues")),
    };
    for (size_t kind = 0; kind < EXPR_KINDS; kind++)
        members.text[kind] = JSON_ABSENT;
    return members;
}

static const char *const legacy_of_updates[] = {"AttributeUpdates", "Expected", NULL};
static const char *const legacy_of_others[] = {"Expected", NULL};

enum fault item_write_open(struct call *call, struct item_write *write, enum edit_kind kind, const struct json *request)
{
    *write = (struct item_write){
        .edit.kind = kind,
        .returns = returns_of(wire_text(request, json_member(request, 0, STR("ReturnValues")))),
        .detail = wire_capacity_detail(request, json_member(request, 0, STR("ReturnConsumedCapacity"))),
        .wants_metrics = str_equal(wire_text(request, json_member(request, 0, STR("ReturnItemCollectionMetrics"))), STR("SIZE")),
        .shows_failed_item = str_equal(wire_text(request, json_member(request, 0, STR("ReturnValuesOnConditionCheckFailure"))), STR("ALL_OLD")),
        .table_name = wire_text(request, json_member(request, 0, STR("TableName"))),
        .expressions = item_expression_members(request, 0),
    };
    struct expr_request *expressions = &write->expressions;
    expressions->legacy = item_present_members(call, request, 0, kind == EDIT_UPDATE ? legacy_of_updates : legacy_of_others);
    expressions->takes[EXPR_CONDITION] = true;
    expressions->text[EXPR_CONDITION] = json_member(request, 0, STR("ConditionExpression"));
    if (kind == EDIT_UPDATE) {
        expressions->takes[EXPR_UPDATE] = true;
        expressions->text[EXPR_UPDATE] = json_member(request, 0, STR("UpdateExpression"));
    }
    return expr_request_check(call, expressions);
}

enum fault item_write_check_returns(struct call *call, const struct json *request, const struct item_write *write)
{
    if (write->returns == RETURNS_NONE || write->returns == RETURNS_ALL_OLD)
        return FAULT_NONE;
    if (wire_is_read_as_older(request))
        return fail(call, FAULT_VALIDATION, "ReturnValues can only be ALL_OLD or NONE");
    return fail_reworded(call, "ReturnValues can only be ALL_OLD or NONE");
}

enum fault item_write_read_expressions(struct call *call, const struct json *request, struct item_write *write)
{
    struct expr_programs programs;
    TRY(expr_request_read(call, &write->expressions, &programs));
    write->edit.condition = programs.of[EXPR_CONDITION];
    if (write->edit.kind == EDIT_UPDATE) {
        write->edit.action = programs.of[EXPR_UPDATE];
        write->edit.measures_statement = programs.of[EXPR_UPDATE].len > 0;
    }
    return item_write_read_legacy(call, request, write);
}

/* A name of AttributesToGet and where it stands. */
struct wanted_name {
    str name;
    size_t place;
};

static int compare_wanted(const void *a, const void *b)
{
    const struct wanted_name *left = a, *right = b;
    int order = str_compare(left->name, right->name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* The first name in the list that was there before; empty when there is none. The list is as long as a body allows: sorted, not compared in pairs. */
static str repeated_name(struct call *call, const str *names, size_t count)
{
    struct wanted_name *sorted = ARENA_NEW_ARRAY(&call->arena, struct wanted_name, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct wanted_name){names[i], i};
    qsort(sorted, count, sizeof *sorted, compare_wanted);
    const struct wanted_name *first = NULL;
    for (size_t i = 1; i < count; i++) {
        if (str_equal(sorted[i - 1].name, sorted[i].name) && (!first || sorted[i].place < first->place))
            first = &sorted[i];
    }
    return first ? first->name : STR_NONE;
}

enum fault item_read_attributes_to_get(struct call *call, const struct json *request, uint32_t list, str *projection)
{
    str *names = ARENA_NEW_ARRAY(&call->arena, str, request->tokens[list].count);
    size_t count = 0;
    for (uint32_t i = json_first(request, list); i < json_end(request, list); i = json_next(request, i)) {
        names[count] = json_string(request, i);
        if (names[count].len == 0)
            return fail_reworded(call, "Empty attribute name");
        if (names[count].len > ATTRIBUTE_NAME_MAX)
            return fail_reworded(call, "Attribute name is too large, must be less than 65536 bytes");
        count++;
    }
    str repeated = repeated_name(call, names, count);
    if (repeated.len)
        return fail_reworded(call, "One or more parameter values were invalid: Duplicate value in attribute name: %.*s", STR_ARG(repeated));
    struct buf program;
    buf_open(&program, &call->arena, 0);
    expr_projection_of_names(names, count, &program);
    *projection = buf_str(&program);
    return FAULT_NONE;
}

static struct expr_request projection_members(struct call *call, const struct json *request, uint32_t object)
{
    static const char *const legacy[] = {"AttributesToGet", NULL};
    struct expr_request members = item_expression_members(request, object);
    members.values = JSON_ABSENT;
    members.legacy = item_present_members(call, request, object, legacy);
    members.takes[EXPR_PROJECTION] = true;
    members.text[EXPR_PROJECTION] = json_member(request, object, STR("ProjectionExpression"));
    return members;
}

enum fault item_check_projection(struct call *call, const struct json *request, uint32_t object)
{
    struct expr_request members = projection_members(call, request, object);
    return expr_request_check(call, &members);
}

enum fault item_read_projection(struct call *call, const struct json *request, uint32_t object, str *projection)
{
    struct expr_request members = projection_members(call, request, object);
    struct expr_programs programs;
    TRY(expr_request_read(call, &members, &programs));
    *projection = programs.of[EXPR_PROJECTION];
    uint32_t attributes = json_member(request, object, STR("AttributesToGet"));
    return attributes == JSON_ABSENT ? FAULT_NONE : item_read_attributes_to_get(call, request, attributes, projection);
}
