/* Global indexes made, changed and deleted by UpdateTable. Texts: reference indexes-streams-ttl.md section 1. */
#include "op/index_update_internal.h"

enum action_kind { ACTION_NONE, ACTION_UPDATE, ACTION_CREATE, ACTION_DELETE };

/* One entry's action: its object, and which of the three it is. */
struct index_action {
    uint32_t object;
    enum action_kind kind;
    size_t count; /* how many of the three are there */
    str name;
};

static struct index_action action_of(const struct table_request *request, uint32_t entry)
{
    static const char *const names[] = {[ACTION_UPDATE] = "Update", [ACTION_CREATE] = "Create", [ACTION_DELETE] = "Delete"};
    struct index_action action = {.object = JSON_ABSENT};
    for (enum action_kind kind = ACTION_UPDATE; kind <= ACTION_DELETE; kind++) {
        uint32_t object = request_member(request, entry, names[kind]);
        if (object == JSON_ABSENT)
            continue;
        action.count++;
        if (action.object == JSON_ABSENT) {
            action.object = object;
            action.kind = kind;
        }
    }
    action.name = wire_text(request->json, request_member(request, action.object, "IndexName"));
    return action;
}

static bool name_was_before(const struct table_request *request, uint32_t list, uint32_t entry, str name)
{
    for (uint32_t i = json_first(request->json, list); i < entry; i = json_next(request->json, i))
        if (str_equal(action_of(request, i).name, name))
            return true;
    return false;
}

enum fault index_updates_check(struct table_request *request, uint32_t list)
{
    struct call *call = request->call;
    const struct json *json = request->json;
    if (list == JSON_ABSENT)
        return FAULT_NONE;
    enum { ENTRIES_MAX = 100 };
    if (json->tokens[list].count > ENTRIES_MAX)
        return fail(call, FAULT_LIMIT_EXCEEDED, "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table");
    for (uint32_t i = json_first(json, list); i < json_end(json, list); i = json_next(json, i)) {
        struct index_action action = action_of(request, i);
        if (action.count == 0)
            return fail(call, FAULT_VALIDATION,
                INVALID_PARAMETER "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null");
        if (action.count > 1)
            return fail(call, FAULT_VALIDATION,
                INVALID_PARAMETER "Only one of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete may be "
                                  "specified");
        if (name_was_before(request, list, i, action.name))
            return fail(call, FAULT_VALIDATION,
                INVALID_PARAMETER "Only one global secondary index update per index is allowed simultaneously. Index: %.*s", STR_ARG(action.name));
    }
    return FAULT_NONE;
}

enum fault index_updates_give_units(struct table_request *request, const struct table_index *indexes)
{
    struct call *call = request->call;
    const struct json *json = request->json;
    uint32_t list = request_member(request, 0, "GlobalSecondaryIndexUpdates");
    struct buf missing;
    buf_open(&missing, &call->arena, 64);
    for (size_t i = 0; i < request->draft->index_count; i++) {
        if (indexes[i].is_local)
            continue;
        bool found = false;
        for (uint32_t at = list == JSON_ABSENT ? 0 : json_first(json, list); list != JSON_ABSENT && at < json_end(json, list); at = json_next(json, at)) {
            struct index_action action = action_of(request, at);
            bool frees = action.kind == ACTION_DELETE || request_member(request, action.object, "ProvisionedThroughput") != JSON_ABSENT;
            found |= str_equal(action.name, indexes[i].name) && frees;
        }
        if (!found)
            buf_printf(&missing, "%s%.*s", missing.len ? "," : "", STR_ARG(indexes[i].name));
    }
    if (missing.len)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "ProvisionedThroughput must be specified for index: %.*s", STR_ARG(buf_str(&missing)));
    return FAULT_NONE;
}

/* The keys' types must be what the table has them as already. */
static enum fault check_types_kept(struct table_request *request)
{
    const struct table *draft = request->draft;
    static const char letters[] = {[VALUE_S] = 'S', [VALUE_N] = 'N', [VALUE_B] = 'B'};
    for (size_t i = 0; i < request->definition_count; i++) {
        const struct key_attribute *wanted = &request->definitions[i];
        for (size_t j = 0; j < draft->definition_count; j++) {
            const struct key_attribute *present = &draft->definitions[j];
            if (str_equal(present->name, wanted->name) && present->type != wanted->type)
                return fail(request->call, FAULT_VALIDATION,
                    INVALID_PARAMETER "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. Existing schema: "
                                      "Schema:[SchemaElement: key{%.*s:%c:HASH}] New schema: Schema:[SchemaElement: key{%.*s:%c:HASH}]",
                    STR_ARG(present->name), letters[present->type], STR_ARG(wanted->name), letters[wanted->type]);
        }
    }
    return FAULT_NONE;
}

static bool is_key_of(const struct table_index *index, str attribute)
{
    for (size_t i = 0; i < index->partition_count; i++)
        if (str_equal(index->partition[i].name, attribute))
            return true;
    for (size_t i = 0; i < index->sort_count; i++)
        if (str_equal(index->sort[i].name, attribute))
            return true;
    return false;
}

/* The table's definitions and those that the new index brings; others of the request are ignored. */
static void merge_definitions(struct table_request *request, const struct table_index *index)
{
    struct table *draft = request->draft;
    struct key_attribute *merged = ARENA_NEW_ARRAY(&draft->arena, struct key_attribute, draft->definition_count + request->definition_count);
    size_t count = draft->definition_count;
    if (count)
        memcpy(merged, draft->definitions, count * sizeof *merged);
    for (size_t i = 0; i < request->definition_count; i++) {
        bool present = false;
        for (size_t j = 0; j < count; j++)
            present |= str_equal(merged[j].name, request->definitions[i].name);
        if (!present && is_key_of(index, request->definitions[i].name))
            merged[count++] = request->definitions[i];
    }
    draft->definitions = merged;
    draft->definition_count = count;
}

static struct table_index *find_global(struct table_request *request, struct table_index *indexes, str name)
{
    for (size_t i = 0; i < request->draft->index_count; i++)
        if (!indexes[i].is_local && str_equal(indexes[i].name, name))
            return &indexes[i];
    return NULL;
}

static enum fault read_settings(struct table_request *request, uint32_t object, struct table_index *index)
{
    TRY(request_on_demand(request, request_member(request, object, "OnDemandThroughput"), index->name, true, &index->throughput));
    return request_warm(request, request_member(request, object, "WarmThroughput"), index->name, &index->throughput);
}

static enum fault create_index(struct table_request *request, struct table_index *indexes, const struct index_action *action)
{
    struct call *call = request->call;
    struct table *draft = request->draft;
    for (size_t i = 0; i < draft->index_count; i++)
        if (str_equal(indexes[i].name, action->name))
            return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Index already exists: %.*s", STR_ARG(action->name));
    struct table_index *index = &indexes[draft->index_count];
    TRY(request_index(request, action->object, false, index));
    TRY(check_types_kept(request));
    uint32_t units = request_member(request, action->object, "ProvisionedThroughput");
    if (draft->billing == BILLING_PAY_PER_REQUEST && units != JSON_ABSENT)
        return fail(call, FAULT_VALIDATION,
            INVALID_PARAMETER "ProvisionedThroughput should not be specified for index: %.*s when BillingMode is PAY_PER_REQUEST", STR_ARG(index->name));
    if (draft->billing == BILLING_PROVISIONED && units == JSON_ABSENT)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "ProvisionedThroughput must be specified for index: %.*s", STR_ARG(index->name));
    TRY(request_units(request, units, &index->throughput.read_units, &index->throughput.write_units));
    TRY(read_settings(request, action->object, index));
    index->id = world_uuid(call->world);
    index->status = TABLE_CREATING;
    index->is_backfilling = true;
    index->stage = INDEX_PLANNED;
    table_draft_add_index_range(call->world, draft, index);
    draft->logs_for_indexes = true;
    draft->index_count++;
    merge_definitions(request, index);
    return request_index_counts(call, indexes, draft->index_count);
}

#define BLOCKED "This operation cannot be performed with given input values. Please contact DynamoDB service team for more info: Action Blocked: IndexUpdate"

static enum fault update_index(struct table_request *request, struct table_index *indexes, const struct index_action *action)
{
    struct call *call = request->call;
    struct table_index *index = find_global(request, indexes, action->name);
    if (!index)
        return fail(call, FAULT_VALIDATION, BLOCKED);
    uint32_t units = request_member(request, action->object, "ProvisionedThroughput");
    if (units != JSON_ABSENT) {
        if (request->draft->billing == BILLING_PAY_PER_REQUEST)
            return fail(call, FAULT_VALIDATION,
                INVALID_PARAMETER "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
        int64_t read_units, write_units;
        if (request_units(request, units, &read_units, &write_units) != FAULT_NONE) {
            call_clear_fault(call);
            return fail(call, FAULT_VALIDATION, BLOCKED);
        }
        if (read_units == index->throughput.read_units && write_units == index->throughput.write_units)
            return throughput_is_same(call, &index->throughput, read_units, write_units);
        if (index->throughput.read_units == 0) {
            /* The table leaves on-demand mode: nothing was provisioned that could fall. */
            index->throughput.read_units = read_units;
            index->throughput.write_units = write_units;
            index->throughput.max_read_units = index->throughput.max_write_units = 0;
        } else {
            TRY(throughput_change(call, &index->throughput, read_units, write_units));
        }
    }
    TRY(read_settings(request, action->object, index));
    index->status = TABLE_UPDATING;
    return FAULT_NONE;
}

static enum fault delete_index(struct table_request *request, struct table_index *indexes, const struct index_action *action)
{
    struct table_index *index = find_global(request, indexes, action->name);
    if (!index)
        return fail(request->call, FAULT_RESOURCE_NOT_FOUND, "Requested resource not found: Table: %.*s Index: %.*s not found", STR_ARG(request->draft->name),
            STR_ARG(action->name));
    index->status = TABLE_DELETING;
    index->stage = INDEX_KEPT;
    index->range_count = 0;
    return FAULT_NONE;
}

/* Whether an index of the table is being made, which a request of these updates does not end by deleting it. */
static bool is_busy_online(const struct table_request *request, uint32_t list)
{
    const struct json *json = request->json;
    for (size_t i = 0; i < request->draft->index_count; i++) {
        const struct table_index *index = &request->draft->indexes[i];
        bool ends = false;
        for (uint32_t at = json_first(json, list); at < json_end(json, list); at = json_next(json, at)) {
            struct index_action action = action_of(request, at);
            ends |= action.kind == ACTION_DELETE && str_equal(action.name, index->name);
        }
        if (index->stage != INDEX_KEPT && !ends)
            return true;
    }
    return false;
}

enum fault index_updates_apply(struct table_request *request, struct table_index *indexes)
{
    const struct json *json = request->json;
    uint32_t list = request_member(request, 0, "GlobalSecondaryIndexUpdates");
    if (list == JSON_ABSENT)
        return FAULT_NONE;
    size_t online = 0;
    for (uint32_t i = json_first(json, list); i < json_end(json, list); i = json_next(json, i))
        online += action_of(request, i).kind != ACTION_UPDATE;
    if (online > 1 || (online == 1 && is_busy_online(request, list)))
        return fail(request->call, FAULT_LIMIT_EXCEEDED, "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table");
    for (uint32_t i = json_first(json, list); i < json_end(json, list); i = json_next(json, i)) {
        struct index_action action = action_of(request, i);
        if (action.kind == ACTION_UPDATE)
            TRY(update_index(request, indexes, &action));
        else if (action.kind == ACTION_CREATE)
            TRY(create_index(request, indexes, &action));
        else
            TRY(delete_index(request, indexes, &action));
    }
    return FAULT_NONE;
}
