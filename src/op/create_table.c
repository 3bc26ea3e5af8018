/* CreateTable: the request becomes a draft, the draft becomes durable. */
#include "op/table_request_internal.h"

enum { POLICY_BYTES_MAX = 20480 };

/* TableName may be an ARN of this account and region. */
static enum fault read_name(struct table_request *request)
{
    struct call *call = request->call;
    struct table *draft = request->draft;
    str name = wire_text(request->json, request_member(request, 0, "TableName"));
    if (str_begins(name, STR("arn:"))) {
        struct table_arn arn;
        bool is_ours = table_arn_read(name, &arn) && arn.rest.len == 0 && str_equal(arn.account, request->context->account) &&
            str_equal(arn.region, request->context->region);
        if (!is_ours)
            return fail(call, FAULT_VALIDATION, "Invalid TableArn: Invalid ResourceArn provided as input %.*s", STR_ARG(name));
        name = arn.name;
    }
    draft->account = request->context->account;
    draft->region = request->context->region;
    draft->name = arena_copy(&draft->arena, name);
    return FAULT_NONE;
}

static enum fault read_billing(struct table_request *request)
{
    struct call *call = request->call;
    struct table *draft = request->draft;
    uint32_t throughput = request_member(request, 0, "ProvisionedThroughput");
    str mode = wire_text(request->json, request_member(request, 0, "BillingMode"));
    if (str_equal(mode, STR("PAY_PER_REQUEST"))) {
        if (throughput != JSON_ABSENT)
            return fail(call, FAULT_VALIDATION,
                INVALID_PARAMETER "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
        draft->billing = BILLING_PAY_PER_REQUEST;
        draft->billing_was_set = true;
        draft->billing_on_demand_us = call->now_us;
        return FAULT_NONE;
    }
    if (throughput == JSON_ABSENT)
        return fail(call, FAULT_VALIDATION,
            INVALID_PARAMETER "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED");
    return request_units(request, throughput, &draft->throughput.read_units, &draft->throughput.write_units);
}

static enum fault read_index_throughput(struct table_request *request, uint32_t object, struct table_index *index)
{
    uint32_t throughput = request_member(request, object, "ProvisionedThroughput");
    if (request->draft->billing == BILLING_PAY_PER_REQUEST) {
        if (throughput != JSON_ABSENT)
            return fail(request->call, FAULT_VALIDATION,
                INVALID_PARAMETER "ProvisionedThroughput should not be specified for index: %.*s when BillingMode is PAY_PER_REQUEST", STR_ARG(index->name));
    } else if (throughput == JSON_ABSENT) {
        return fail(request->call, FAULT_VALIDATION, INVALID_PARAMETER "ProvisionedThroughput must be specified for index: %.*s", STR_ARG(index->name));
    } else {
        TRY(request_units(request, throughput, &index->throughput.read_units, &index->throughput.write_units));
    }
    TRY(request_on_demand(request, request_member(request, object, "OnDemandThroughput"), index->name, false, &index->throughput));
    return request_warm(request, request_member(request, object, "WarmThroughput"), index->name, &index->throughput);
}

static enum fault read_indexes(struct table_request *request, uint32_t list, bool is_local, struct table_index *indexes, size_t *count)
{
    struct call *call = request->call;
    const struct json *json = request->json;
    if (list == JSON_ABSENT)
        return FAULT_NONE;
    if (json->tokens[list].count == 0)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "List of %sSecondaryIndexes is empty", is_local ? "Local" : "Global");
    if (is_local && request->draft->keys.sort.name.len == 0)
        return fail(call, FAULT_VALIDATION,
            INVALID_PARAMETER "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex");
    /* Each name is compared with those before it, so an endless list is read no further than it takes to refuse it for its length. */
    enum { INDEXES_READ_MAX = 100 };
    for (uint32_t i = json_first(json, list); i < json_end(json, list) && *count < INDEXES_READ_MAX; i = json_next(json, i)) {
        struct table_index *index = &indexes[*count];
        TRY(request_index(request, i, is_local, index));
        /* Until its log runs. */
        index->stage = !is_local && request->context->service->chore ? INDEX_PLANNED : INDEX_KEPT;
        if (!is_local)
            TRY(read_index_throughput(request, i, index));
        TRY(request_index_name_is_free(call, indexes, *count, index->name));
        (*count)++;
    }
    return request_index_counts(call, indexes, *count);
}

/* Every defined attribute must be a key of something. */
static enum fault check_definitions_used(struct table_request *request)
{
    struct call *call = request->call;
    struct key_attribute *used = ARENA_NEW_ARRAY(&call->arena, struct key_attribute, request->definition_count + 1);
    size_t used_count = 0;
    for (size_t i = 0; i < request->definition_count; i++)
        if (table_has_key_attribute(request->draft, request->definitions[i].name))
            used[used_count++] = request->definitions[i];
    if (used_count == request->definition_count)
        return FAULT_NONE;
    return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Some AttributeDefinitions are not used. AttributeDefinitions: %.*s, keys used: %.*s",
        STR_ARG(names_text(call, request->definitions, request->definition_count)), STR_ARG(names_text(call, used, used_count)));
}

static enum fault read_keys_and_indexes(struct table_request *request)
{
    struct call *call = request->call;
    struct table *draft = request->draft;
    const struct json *json = request->json;
    TRY(request_definitions(request));
    TRY(request_table_keys(request));
    uint32_t locals = request_member(request, 0, "LocalSecondaryIndexes"), globals = request_member(request, 0, "GlobalSecondaryIndexes");
    size_t key_count = draft->keys.sort.name.len ? 2 : 1;
    if (locals == JSON_ABSENT && globals == JSON_ABSENT && key_count != request->definition_count)
        return fail(call, FAULT_VALIDATION,
            INVALID_PARAMETER "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions");
    size_t most = (locals == JSON_ABSENT ? 0u : json->tokens[locals].count) + (globals == JSON_ABSENT ? 0u : json->tokens[globals].count);
    struct table_index *indexes = ARENA_NEW_ARRAY(&draft->arena, struct table_index, most + 1);
    draft->indexes = indexes;
    TRY(read_indexes(request, locals, true, indexes, &draft->index_count));
    TRY(read_indexes(request, globals, false, indexes, &draft->index_count));
    TRY(check_definitions_used(request));
    draft->definitions = request->definitions;
    draft->definition_count = request->definition_count;
    return FAULT_NONE;
}

static enum fault read_policy(struct table_request *request)
{
    struct call *call = request->call;
    str policy = request_text(request, 0, "ResourcePolicy");
    if (policy.len == 0)
        return FAULT_NONE;
    struct json document;
    if (!json_parse(&call->arena, policy, &document) || json_type(&document, 0) != JSON_OBJECT)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Invalid policy document: it is not a JSON object");
    if (policy.len > POLICY_BYTES_MAX)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "The resource policy is larger than the maximum allowed size of %d bytes", POLICY_BYTES_MAX);
    request->draft->resource_policy = policy;
    return FAULT_NONE;
}

static enum fault read_tags(struct table_request *request)
{
    struct table *draft = request->draft;
    uint32_t list = request_member(request, 0, "Tags");
    if (list == JSON_ABSENT)
        return FAULT_NONE;
    struct table_tag *tags = ARENA_NEW_ARRAY(&draft->arena, struct table_tag, TABLE_TAGS_MAX);
    draft->tags = tags;
    return request_tags(request->call, request->json, list, &draft->arena, tags, &draft->tag_count);
}

static enum fault read_request(struct table_request *request)
{
    struct table *draft = request->draft;
    TRY(read_name(request));
    TRY(request_refuse_unsupported(request));
    TRY(read_billing(request));
    TRY(read_keys_and_indexes(request));
    TRY(request_stream(request, false));
    TRY(request_sse(request));
    request_class(request, false);
    TRY(request_on_demand(request, request_member(request, 0, "OnDemandThroughput"), STR_NONE, false, &draft->throughput));
    TRY(request_warm(request, request_member(request, 0, "WarmThroughput"), STR_NONE, &draft->throughput));
    TRY(read_policy(request));
    return read_tags(request);
}

enum fault op_create_table(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    struct table_request reading = {.context = context, .call = call, .json = request, .draft = table_draft_new(NULL)};
    enum fault fault = read_request(&reading);
    if (fault != FAULT_NONE) {
        table_draft_free(reading.draft);
        return fault;
    }
    const struct table *table;
    TRY(table_create(call, context->service->catalog, reading.draft, &table));
    /* When it does not work now, the table stays CREATING until it does. */
    if (table->logs_for_indexes && context->service->chore && chore_prepare_indexes(call, context->service->chore, table) != FAULT_NONE)
        call_clear_fault(call);
    BUF_ADD_LITERAL(answer, "{\"TableDescription\":");
    table_describe(answer, call, table, TABLE_CREATING, &(struct table_totals){0}, false);
    buf_add_byte(answer, '}');
    table_release(table);
    return FAULT_NONE;
}
