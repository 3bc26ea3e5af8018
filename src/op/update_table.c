/* UpdateTable: a draft of the table takes the changes, in DynamoDB's order of checks, and replaces it. */
#include "op/table_request_internal.h"

#include "op/index_update_internal.h"

#include <time.h>

enum { HOUR_SECONDS = 3600, DAY_SECONDS = 86400 };

static bool has(const struct table_request *request, const char *name)
{
    return request_member(request, 0, name) != JSON_ABSENT;
}

/* What can be refused without knowing the table. */
static enum fault check_request(struct table_request *request)
{
    static const char *const changes[] = {"ProvisionedThroughput", "BillingMode", "StreamSpecification", "SSESpecification", "TableClass",
        "DeletionProtectionEnabled", "OnDemandThroughput", "WarmThroughput", "ReplicaUpdates", "GlobalTableWitnessUpdates", "MultiRegionConsistency",
        "VectorIndexUpdates", "GlobalTableSettingsReplicationMode", "DisassociationProtectionEnabled"};
    struct call *call = request->call;
    uint32_t updates = request_member(request, 0, "GlobalSecondaryIndexUpdates");
    bool changes_something = updates != JSON_ABSENT && request->json->tokens[updates].count > 0;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        changes_something |= has(request, changes[i]);
    if (!changes_something)
        return fail(call, FAULT_VALIDATION,
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is "
            "required");
    TRY(request_refuse_unsupported(request));
    str mode = wire_text(request->json, request_member(request, 0, "BillingMode"));
    if (str_equal(mode, STR("PROVISIONED")) && !has(request, "ProvisionedThroughput"))
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
    int64_t read_units, write_units;
    TRY(request_units(request, request_member(request, 0, "ProvisionedThroughput"), &read_units, &write_units));
    return index_updates_check(request, updates);
}

/* "Wednesday, July 25, 2018 9:48:14 PM UTC" */
static str long_time(struct call *call, int64_t wall_us)
{
    char day[64], clock[32];
    time_t seconds = (time_t)(wall_us / 1000000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(day, sizeof day, "%A, %B %d, %Y", &utc);
    strftime(clock, sizeof clock, "%M:%S %p", &utc);
    int hour = utc.tm_hour % 12 ? utc.tm_hour % 12 : 12;
    return arena_printf(&call->arena, "%s %d:%s UTC", day, hour, clock);
}

enum fault throughput_change(struct call *call, struct table_throughput *throughput, int64_t read_units, int64_t write_units)
{
    int64_t today = call->now_us / 1000000 / DAY_SECONDS;
    if (throughput->decrease_day != today) {
        throughput->decrease_day = today;
        throughput->decreases_today = 0;
    }
    throughput->is_changing = true;
    throughput->shown_read_units = throughput->read_units;
    throughput->shown_write_units = throughput->write_units;
    throughput->shown_decreases = throughput->decreases_today;
    bool falls = read_units < throughput->read_units || write_units < throughput->write_units;
    bool rises = read_units > throughput->read_units || write_units > throughput->write_units;
    int64_t next_us = throughput->last_decrease_us + (int64_t)HOUR_SECONDS * 1000000;
    if (falls && throughput->decreases_today >= DECREASES_FREE_A_DAY && call->now_us < next_us)
        return fail(call, FAULT_LIMIT_EXCEEDED,
            "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day. After the first %d decreases, each subsequent decrease "
            "in the same UTC day can be performed at most once every %d seconds. Number of decreases today: %lld. Last decrease at %.*s. Next decrease can be made "
            "at %.*s",
            DECREASES_FREE_A_DAY, HOUR_SECONDS, (long long)throughput->decreases_today, STR_ARG(long_time(call, throughput->last_decrease_us)),
            STR_ARG(long_time(call, next_us)));
    if (falls) {
        throughput->decreases_today++;
        throughput->last_decrease_us = call->now_us;
    }
    if (rises)
        throughput->last_increase_us = call->now_us;
    throughput->read_units = read_units;
    throughput->write_units = write_units;
    return FAULT_NONE;
}

enum fault throughput_is_same(struct call *call, const struct table_throughput *throughput, int64_t read_units, int64_t write_units)
{
    return fail(call, FAULT_VALIDATION,
        "The provisioned throughput for the table will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the table: "
        "%lld. Requested ReadCapacityUnits: %lld. Current WriteCapacityUnits provisioned for the table: %lld. Requested WriteCapacityUnits: %lld. Refer to the Amazon "
        "DynamoDB Developer Guide for current limits and how to request higher limits.",
        (long long)throughput->read_units, (long long)read_units, (long long)throughput->write_units, (long long)write_units);
}

static void go_on_demand(struct table_request *request, struct table_index *indexes)
{
    struct table *draft = request->draft;
    draft->billing = BILLING_PAY_PER_REQUEST;
    draft->billing_was_set = true;
    draft->billing_on_demand_us = request->call->now_us;
    draft->throughput.read_units = draft->throughput.write_units = 0;
    for (size_t i = 0; i < draft->index_count; i++) {
        if (indexes[i].is_local)
            continue;
        indexes[i].throughput.read_units = indexes[i].throughput.write_units = 0;
        indexes[i].status = TABLE_UPDATING;
    }
}

/* BillingMode and ProvisionedThroughput, which only make sense together. */
static enum fault change_billing(struct table_request *request, struct table_index *indexes)
{
    struct call *call = request->call;
    struct table *draft = request->draft;
    uint32_t object = request_member(request, 0, "ProvisionedThroughput");
    str mode = wire_text(request->json, request_member(request, 0, "BillingMode"));
    enum table_billing wanted = mode.len == 0 ? draft->billing : str_equal(mode, STR("PROVISIONED")) ? BILLING_PROVISIONED : BILLING_PAY_PER_REQUEST;
    if (wanted == BILLING_PAY_PER_REQUEST && object != JSON_ABSENT)
        return fail(call, FAULT_VALIDATION,
            INVALID_PARAMETER "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
    if (wanted == BILLING_PAY_PER_REQUEST) {
        if (draft->billing == BILLING_PROVISIONED)
            go_on_demand(request, indexes);
        return FAULT_NONE;
    }
    if (object == JSON_ABSENT)
        return FAULT_NONE;
    int64_t read_units, write_units;
    TRY(request_units(request, object, &read_units, &write_units));
    if (draft->billing == BILLING_PROVISIONED) {
        if (read_units == draft->throughput.read_units && write_units == draft->throughput.write_units)
            return throughput_is_same(call, &draft->throughput, read_units, write_units);
        return throughput_change(call, &draft->throughput, read_units, write_units);
    }
    TRY(index_updates_give_units(request, indexes));
    draft->billing = BILLING_PROVISIONED;
    draft->throughput.read_units = read_units;
    draft->throughput.write_units = write_units;
    draft->throughput.max_read_units = draft->throughput.max_write_units = 0;
    return FAULT_NONE;
}

/* Every change of a setting is over at once but for deletion protection, which is none of the table's own state. */
static bool makes_busy(const struct table_request *request)
{
    static const char *const members[] = {"ProvisionedThroughput", "BillingMode", "GlobalSecondaryIndexUpdates", "StreamSpecification", "SSESpecification",
        "TableClass", "OnDemandThroughput", "WarmThroughput"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (has(request, members[i]))
            return true;
    return false;
}

static enum fault apply(struct table_request *request)
{
    struct table *draft = request->draft;
    /* Room for one index more than there are. */
    struct table_index *indexes = ARENA_NEW_ARRAY(&draft->arena, struct table_index, draft->index_count + 1);
    if (draft->index_count)
        memcpy(indexes, draft->indexes, draft->index_count * sizeof *indexes);
    draft->indexes = indexes;
    TRY(request_definitions(request));
    TRY(change_billing(request, indexes));
    TRY(index_updates_apply(request, indexes));
    TRY(request_stream(request, true));
    TRY(request_sse(request));
    request_class(request, true);
    TRY(request_on_demand(request, request_member(request, 0, "OnDemandThroughput"), STR_NONE, true, &draft->throughput));
    TRY(request_warm(request, request_member(request, 0, "WarmThroughput"), STR_NONE, &draft->throughput));
    if (makes_busy(request))
        draft->status = TABLE_UPDATING;
    return FAULT_NONE;
}

static enum fault update_found(struct op_context *context, struct call *call, const struct json *json, const struct table *table, struct buf *answer)
{
    TRY(table_is_ready(call, table));
    struct table_request request = {.context = context, .call = call, .json = json, .draft = table_draft_new(table)};
    enum fault fault = apply(&request);
    if (fault != FAULT_NONE) {
        table_draft_free(request.draft);
        return fault;
    }
    const struct table *made;
    TRY(table_replace(call, context->service->catalog, request.draft, &made));
    if (context->service->chore && (made->logs_for_indexes || table->logs_for_indexes))
        chore_wake(context->service->chore);
    struct table_totals totals;
    fault = table_count(context, call, made, &totals);
    if (fault == FAULT_NONE) {
        BUF_ADD_LITERAL(answer, "{\"TableDescription\":");
        table_describe(answer, call, made, made->status, &totals, false);
        buf_add_byte(answer, '}');
    }
    table_release(made);
    return fault;
}

enum fault op_update_table(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    struct table_request reading = {.context = context, .call = call, .json = request};
    TRY(check_request(&reading));
    const struct table *table;
    TRY(op_table_acquire_any(context, call, request, &table));
    enum fault fault = update_found(context, call, request, table, answer);
    table_release(table);
    return fault;
}
