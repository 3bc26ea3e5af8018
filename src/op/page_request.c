/* Reading the requests of Query and Scan, as far as that needs no table. */
#include "op/page_internal.h"

static uint32_t member(const struct page_request *request, const char *name)
{
    return json_member(request->json, 0, str_of_text(name));
}

static bool has(const struct page_request *request, const char *name)
{
    return member(request, name) != JSON_ABSENT;
}

static enum page_select select_of(str text)
{
    static const struct {
        const char *text;
        enum page_select select;
    } known[] = {
        {"ALL_ATTRIBUTES", SELECT_ALL_ATTRIBUTES},
        {"ALL_PROJECTED_ATTRIBUTES", SELECT_ALL_PROJECTED},
        {"SPECIFIC_ATTRIBUTES", SELECT_SPECIFIC},
        {"COUNT", SELECT_COUNT},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (str_equal(text, str_of_text(known[i].text)))
            return known[i].select;
    }
    return SELECT_DEFAULT;
}

/* Query had the prefix before all else was reworded, so that classic servers have it too (public suite Parity). */
static enum fault refuse_select_without_projection(struct call *call, const struct page_request *request)
{
    return fail(call, FAULT_VALIDATION, "%sMust specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
                request->is_query || request->is_current ? "1 validation error detected: " : "");
}

static enum fault check_select(struct call *call, const struct page_request *request) MUST_USE;
static enum fault check_select(struct call *call, const struct page_request *request)
{
    bool by_expression = has(request, "ProjectionExpression");
    bool is_projected = by_expression || has(request, "AttributesToGet");
    if (request->select == SELECT_SPECIFIC && !is_projected)
        return refuse_select_without_projection(call, request);
    if (is_projected && request->select != SELECT_DEFAULT && request->select != SELECT_SPECIFIC)
        return fail(call, FAULT_VALIDATION, "Cannot specify the %s when choosing to get %.*s", by_expression ? "ProjectionExpression" : "AttributesToGet",
                    STR_ARG(wire_text(request->json, member(request, "Select"))));
    if (request->select == SELECT_ALL_PROJECTED && request->index_name.len == 0)
        return fail(call, FAULT_VALIDATION, "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
    return FAULT_NONE;
}

/* The expression members. KeyConditions go together with other expressions, but not with the one that replaces them. */
static struct expr_request expressions_of(struct call *call, const struct page_request *request)
{
    static const char *const of_scan[] = {"AttributesToGet", "ScanFilter", "ConditionalOperator", NULL};
    static const char *const of_query[] = {"AttributesToGet", "QueryFilter", "ConditionalOperator", NULL};
    static const char *const of_both_keys[] = {"AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions", NULL};
    struct expr_request members = item_expression_members(request->json, 0);
    const char *const *legacy = !request->is_query ? of_scan : has(request, "KeyConditionExpression") ? of_both_keys : of_query;
    members.legacy = item_present_members(call, request->json, 0, legacy);
    members.takes[EXPR_FILTER] = members.takes[EXPR_PROJECTION] = true;
    members.text[EXPR_FILTER] = member(request, "FilterExpression");
    members.text[EXPR_PROJECTION] = member(request, "ProjectionExpression");
    if (request->is_query) {
        members.takes[EXPR_KEY_CONDITION] = true;
        members.text[EXPR_KEY_CONDITION] = member(request, "KeyConditionExpression");
    }
    return members;
}

static enum fault read_legacy_filter(struct call *call, struct page_request *request) MUST_USE;
static enum fault read_legacy_filter(struct call *call, struct page_request *request)
{
    uint32_t filter = member(request, request->is_query ? "QueryFilter" : "ScanFilter");
    uint32_t conditional_operator = member(request, "ConditionalOperator");
    if (filter == JSON_ABSENT && conditional_operator == JSON_ABSENT)
        return FAULT_NONE;
    request->filter_is_legacy = true;
    return expr_legacy_filter(call, request->json, filter, conditional_operator, &request->filter);
}

/* Whether DynamoDB tells what is wrong with the value without saying that it is of a start key: numbers and sets with elements. */
static bool is_told_bare(const struct json *json, uint32_t value)
{
    if (json_type(json, value) != JSON_OBJECT || json->tokens[value].count != 1)
        return false;
    str type = json_string(json, json_first(json, value));
    uint32_t inner = json_first(json, value) + 1;
    bool is_string_set = str_equal(type, STR("SS")) || str_equal(type, STR("BS"));
    return str_equal(type, STR("N")) || str_equal(type, STR("NS")) || (is_string_set && json->tokens[inner].count > 0);
}

static enum fault read_start_key(struct call *call, struct page_request *request) MUST_USE;
static enum fault read_start_key(struct call *call, struct page_request *request)
{
    const struct json *json = request->json;
    uint32_t map = member(request, "ExclusiveStartKey");
    request->has_start_key = map != JSON_ABSENT;
    if (!request->has_start_key)
        return FAULT_NONE;
    for (uint32_t name = json_first(json, map); name < json_end(json, map); name = json_next(json, name + 1)) {
        struct buf unused;
        buf_open(&unused, &call->arena, 0);
        if (json_type(json, name + 1) == JSON_NULL)
            continue;
        enum fault fault = value_read(call, json, name + 1, &unused);
        if (fault == FAULT_VALIDATION && !is_told_bare(json, name + 1)) {
            str inner = call->message;
            call_clear_fault(call);
            return fail(call, FAULT_VALIDATION, "The provided starting key is invalid: %.*s", STR_ARG(inner));
        }
        TRY(fault);
    }
    struct buf item;
    buf_open(&item, &call->arena, 0);
    TRY(item_read(call, json, map, &item));
    request->start_key = buf_str(&item);
    return FAULT_NONE;
}

/* Segment and TotalSegments of a Scan; their own limits were checked before. */
static enum fault check_segments(struct call *call, const struct page_request *request) MUST_USE;
static enum fault check_segments(struct call *call, const struct page_request *request)
{
    bool has_segment = has(request, "Segment"), has_total = has(request, "TotalSegments");
    if (has_segment && !has_total)
        return fail(call, FAULT_VALIDATION,
                    "The TotalSegments parameter is required but was not present in the request when Segment parameter is present");
    if (has_total && !has_segment)
        return fail(call, FAULT_VALIDATION,
                    "The Segment parameter is required but was not present in the request when parameter TotalSegments is present");
    if (!has_segment)
        return FAULT_NONE;
    int64_t segment = wire_whole(request->json, member(request, "Segment"), 0);
    int64_t total = wire_whole(request->json, member(request, "TotalSegments"), 1);
    if (segment < total)
        return FAULT_NONE;
    static const char text[] = "The Segment parameter is zero-based and must be less than parameter TotalSegments";
    if (request->is_current)
        return fail(call, FAULT_VALIDATION, "%s", text);
    return fail(call, FAULT_VALIDATION, "%s: Segment: %lld is not less than TotalSegments: %lld", text, (long long)segment, (long long)total);
}

static enum fault read_key_conditions(struct call *call, struct page_request *request) MUST_USE;
static enum fault read_key_conditions(struct call *call, struct page_request *request)
{
    uint32_t conditions = member(request, "KeyConditions");
    if (conditions != JSON_ABSENT)
        TRY(expr_legacy_key_conditions(call, request->json, conditions, &request->key_condition));
    if (request->key_condition.len == 0)
        return fail(call, FAULT_VALIDATION, "Conditions can be of length 1 or 2 only");
    return FAULT_NONE;
}

static void open_request(struct call *call, const struct json *json, bool is_query, struct page_request *request)
{
    *request = (struct page_request){.json = json, .is_query = is_query, .is_current = call->wording == WORDING_CURRENT};
    if (is_query)
        item_wording_of_reads(call);
    else
        call->wording = WORDING_CLASSIC; /* Scan kept its words, but for those that look at is_current */
    request->table_name = wire_text(json, member(request, "TableName"));
    request->index_name = wire_text(json, member(request, "IndexName"));
    request->select = select_of(wire_text(json, member(request, "Select")));
    request->is_strong = wire_flag(json, member(request, "ConsistentRead"), false);
    request->detail = wire_capacity_detail(json, member(request, "ReturnConsumedCapacity"));
    request->limit = has(request, "Limit") ? (uint64_t)wire_whole(json, member(request, "Limit"), 1) : UINT64_MAX;
}

enum fault page_request_read(struct call *call, const struct json *json, bool is_query, struct page_request *request)
{
    open_request(call, json, is_query, request);
    TRY(check_select(call, request));
    struct expr_request expressions = expressions_of(call, request);
    TRY(expr_request_check(call, &expressions));
    uint32_t attributes = member(request, "AttributesToGet");
    if (is_query)
        TRY(read_legacy_filter(call, request));
    if (attributes != JSON_ABSENT)
        TRY(item_read_attributes_to_get(call, json, attributes, &request->projection));
    if (!is_query)
        TRY(read_legacy_filter(call, request));
    TRY(read_start_key(call, request));
    if (!is_query)
        TRY(check_segments(call, request));
    else if (!has(request, "KeyConditions") && !has(request, "KeyConditionExpression"))
        return fail(call, FAULT_VALIDATION, "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
    struct expr_programs programs;
    TRY(expr_request_read(call, &expressions, &programs));
    request->key_condition = programs.of[EXPR_KEY_CONDITION];
    if (!request->filter_is_legacy)
        request->filter = programs.of[EXPR_FILTER];
    if (attributes == JSON_ABSENT)
        request->projection = programs.of[EXPR_PROJECTION];
    return is_query ? read_key_conditions(call, request) : FAULT_NONE;
}
