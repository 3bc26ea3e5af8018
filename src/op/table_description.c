/* TableDescription: how CreateTable, DescribeTable, UpdateTable and DeleteTable show a table. Members and their order: reference api.md
   section 3; what is shown when: DescribeTable's answers in public suites. */
#include "op/table_request_internal.h"

#include <time.h>

enum { DAY_SECONDS = 86400 };

static void add_text(struct buf *out, const char *name, str text)
{
    json_write_name(out, name);
    json_write_string(out, text);
}

static void add_whole(struct buf *out, const char *name, int64_t whole)
{
    json_write_name(out, name);
    buf_printf(out, "%lld", (long long)whole);
}

static void add_time(struct buf *out, const char *name, int64_t wall_us)
{
    if (wall_us == 0)
        return;
    json_write_name(out, name);
    wire_write_time(out, wall_us);
}

static void add_key(struct buf *out, str name, const char *kind)
{
    json_write_comma(out);
    buf_add_byte(out, '{');
    add_text(out, "AttributeName", name);
    add_text(out, "KeyType", str_of_text(kind));
    buf_add_byte(out, '}');
}

static void add_table_keys(struct buf *out, const struct table *table)
{
    json_write_name(out, "KeySchema");
    buf_add_byte(out, '[');
    add_key(out, table->keys.partition.name, "HASH");
    if (table->keys.sort.name.len)
        add_key(out, table->keys.sort.name, "RANGE");
    buf_add_byte(out, ']');
}

static void add_index_keys(struct buf *out, const struct table_index *index)
{
    json_write_name(out, "KeySchema");
    buf_add_byte(out, '[');
    for (size_t i = 0; i < index->partition_count; i++)
        add_key(out, index->partition[i].name, "HASH");
    for (size_t i = 0; i < index->sort_count; i++)
        add_key(out, index->sort[i].name, "RANGE");
    buf_add_byte(out, ']');
}

static void add_definitions(struct buf *out, const struct table *table)
{
    json_write_name(out, "AttributeDefinitions");
    buf_add_byte(out, '[');
    for (size_t i = 0; i < table->definition_count; i++) {
        enum value_type type = table->definitions[i].type;
        json_write_comma(out);
        buf_add_byte(out, '{');
        add_text(out, "AttributeName", table->definitions[i].name);
        add_text(out, "AttributeType", type == VALUE_S ? STR("S") : type == VALUE_N ? STR("N") : STR("B"));
        buf_add_byte(out, '}');
    }
    buf_add_byte(out, ']');
}

static void add_units(struct buf *out, const struct table_throughput *throughput, int64_t now_us)
{
    int64_t today = now_us / 1000000 / DAY_SECONDS;
    int64_t decreases = throughput->decrease_day == today ? throughput->decreases_today : 0;
    json_write_name(out, "ProvisionedThroughput");
    buf_add_byte(out, '{');
    add_time(out, "LastIncreaseDateTime", throughput->last_increase_us);
    add_time(out, "LastDecreaseDateTime", throughput->last_decrease_us);
    add_whole(out, "NumberOfDecreasesToday", throughput->is_changing ? throughput->shown_decreases : decreases);
    add_whole(out, "ReadCapacityUnits", throughput->is_changing ? throughput->shown_read_units : throughput->read_units);
    add_whole(out, "WriteCapacityUnits", throughput->is_changing ? throughput->shown_write_units : throughput->write_units);
    buf_add_byte(out, '}');
}

static void add_on_demand(struct buf *out, const struct table_throughput *throughput)
{
    if (throughput->max_read_units == 0 && throughput->max_write_units == 0)
        return;
    json_write_name(out, "OnDemandThroughput");
    buf_add_byte(out, '{');
    add_whole(out, "MaxReadRequestUnits", throughput->max_read_units ? throughput->max_read_units : -1);
    add_whole(out, "MaxWriteRequestUnits", throughput->max_write_units ? throughput->max_write_units : -1);
    buf_add_byte(out, '}');
}

static void add_warm(struct buf *out, const struct table_throughput *throughput, enum table_billing billing, enum table_status status)
{
    if (status == TABLE_CREATING || status == TABLE_DELETING)
        return;
    json_write_name(out, "WarmThroughput");
    buf_add_byte(out, '{');
    add_whole(out, "ReadUnitsPerSecond", warm_read_units(throughput, billing));
    add_whole(out, "WriteUnitsPerSecond", warm_write_units(throughput, billing));
    add_text(out, "Status", table_status_name(status));
    buf_add_byte(out, '}');
}

static void add_projection(struct buf *out, const struct table_index *index)
{
    static const char *const types[] = {[PROJECTION_ALL] = "ALL", [PROJECTION_KEYS_ONLY] = "KEYS_ONLY", [PROJECTION_INCLUDE] = "INCLUDE"};
    json_write_name(out, "Projection");
    buf_add_byte(out, '{');
    add_text(out, "ProjectionType", str_of_text(types[index->projection]));
    if (index->non_key_attribute_count) {
        json_write_name(out, "NonKeyAttributes");
        buf_add_byte(out, '[');
        for (size_t i = 0; i < index->non_key_attribute_count; i++) {
            json_write_comma(out);
            json_write_string(out, index->non_key_attributes[i]);
        }
        buf_add_byte(out, ']');
    }
    buf_add_byte(out, '}');
}

/* Backfilling is false while the index gets its resources, then true. */
static void add_index_status(struct buf *out, const struct table_index *index)
{
    add_text(out, "IndexStatus", table_status_name(index->status));
    if (index->status == TABLE_CREATING && index->is_backfilling) {
        json_write_name(out, "Backfilling");
        buf_add_str(out, index->stage == INDEX_COPYING ? STR("true") : STR("false"));
    }
}

static void add_index(struct buf *out, const struct call *call, const struct table *table, const struct table_index *index, const struct table_totals *totals)
{
    json_write_comma(out);
    buf_add_byte(out, '{');
    add_text(out, "IndexName", index->name);
    add_index_keys(out, index);
    add_projection(out, index);
    if (!index->is_local) {
        add_index_status(out, index);
        add_units(out, &index->throughput, call->now_us);
    }
    add_whole(out, "IndexSizeBytes", (int64_t)totals->indexes[index - table->indexes].bytes);
    add_whole(out, "ItemCount", (int64_t)totals->indexes[index - table->indexes].items);
    json_write_name(out, "IndexArn");
    buf_printf(out, "\"%.*s/index/%.*s\"", STR_ARG(table->arn), STR_ARG(index->name));
    if (!index->is_local) {
        add_on_demand(out, &index->throughput);
        add_warm(out, &index->throughput, table->billing, index->status);
    }
    buf_add_byte(out, '}');
}

static void add_indexes(struct buf *out, const struct call *call, const struct table *table, const struct table_totals *totals, const char *name, bool local)
{
    size_t count = 0;
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].is_local != local)
            continue;
        if (count++ == 0) {
            json_write_name(out, name);
            buf_add_byte(out, '[');
        }
        add_index(out, call, table, &table->indexes[i], totals);
    }
    if (count)
        buf_add_byte(out, ']');
}

static void add_billing(struct buf *out, const struct table *table)
{
    if (!table->billing_was_set)
        return;
    /* The time of a change shows once the change is over. */
    bool is_over = table->status == TABLE_ACTIVE || table->billing_on_demand_us < table->status_since_us;
    json_write_name(out, "BillingModeSummary");
    buf_add_byte(out, '{');
    add_text(out, "BillingMode", table->billing == BILLING_PAY_PER_REQUEST ? STR("PAY_PER_REQUEST") : STR("PROVISIONED"));
    if (is_over)
        add_time(out, "LastUpdateToPayPerRequestDateTime", table->billing_on_demand_us);
    buf_add_byte(out, '}');
}

static void add_stream(struct buf *out, const struct table *table)
{
    static const char *const views[] = {[STREAM_VIEW_NONE] = "", [STREAM_VIEW_KEYS_ONLY] = "KEYS_ONLY", [STREAM_VIEW_NEW_IMAGE] = "NEW_IMAGE",
        [STREAM_VIEW_OLD_IMAGE] = "OLD_IMAGE", [STREAM_VIEW_NEW_AND_OLD_IMAGES] = "NEW_AND_OLD_IMAGES"};
    if (table->stream_enabled) {
        json_write_name(out, "StreamSpecification");
        BUF_ADD_LITERAL(out, "{\"StreamEnabled\":true");
        add_text(out, "StreamViewType", str_of_text(views[table->stream_view]));
        buf_add_byte(out, '}');
    }
    if (table->stream_created_us == 0)
        return;
    char label[40];
    time_t seconds = (time_t)(table->stream_created_us / 1000000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t length = strftime(label, sizeof label, "%Y-%m-%dT%H:%M:%S", &utc);
    int milliseconds = (int)(table->stream_created_us / 1000 % 1000);
    json_write_name(out, "LatestStreamLabel");
    buf_printf(out, "\"%.*s.%03d\"", (int)length, label, milliseconds);
    json_write_name(out, "LatestStreamArn");
    buf_printf(out, "\"%.*s/stream/%.*s.%03d\"", STR_ARG(table->arn), (int)length, label, milliseconds);
}

static void add_sse(struct buf *out, const struct table *table)
{
    if (!table->sse_enabled)
        return;
    json_write_name(out, "SSEDescription");
    BUF_ADD_LITERAL(out, "{\"Status\":\"ENABLED\",\"SSEType\":\"KMS\"");
    add_text(out, "KMSMasterKeyArn", table->sse_key_arn);
    buf_add_byte(out, '}');
}

static void add_class(struct buf *out, const struct table *table)
{
    if (!table->class_was_set)
        return;
    json_write_name(out, "TableClassSummary");
    buf_add_byte(out, '{');
    add_text(out, "TableClass", table->is_infrequent_access ? STR("STANDARD_INFREQUENT_ACCESS") : STR("STANDARD"));
    add_time(out, "LastUpdateDateTime", table->class_updated_us);
    buf_add_byte(out, '}');
}

void table_describe(struct buf *out, struct call *call, const struct table *table, enum table_status shown, const struct table_totals *totals, bool is_brief)
{
    buf_add_byte(out, '{');
    if (!is_brief)
        add_definitions(out, table);
    add_text(out, "TableName", table->name);
    if (!is_brief)
        add_table_keys(out, table);
    add_text(out, "TableStatus", table_status_name(shown));
    if (!is_brief)
        add_time(out, "CreationDateTime", table->created_us);
    add_units(out, &table->throughput, call->now_us);
    add_whole(out, "TableSizeBytes", (int64_t)totals->bytes);
    add_whole(out, "ItemCount", (int64_t)totals->items);
    add_text(out, "TableArn", table->arn);
    json_write_name(out, "TableId");
    wire_write_uuid(out, table->id);
    add_billing(out, table);
    if (!is_brief) {
        add_indexes(out, call, table, totals, "LocalSecondaryIndexes", true);
        add_indexes(out, call, table, totals, "GlobalSecondaryIndexes", false);
    }
    add_stream(out, table);
    add_sse(out, table);
    add_class(out, table);
    json_write_name(out, "DeletionProtectionEnabled");
    buf_add_str(out, table->deletion_protected ? STR("true") : STR("false"));
    add_on_demand(out, &table->throughput);
    add_warm(out, &table->throughput, table->billing, shown);
    buf_add_byte(out, '}');
}

static enum fault count_ranges(struct op_context *context, struct call *call, const struct table_range *ranges, size_t range_count, uint64_t *items,
    uint64_t *bytes) MUST_USE;
static enum fault count_ranges(struct op_context *context, struct call *call, const struct table_range *ranges, size_t range_count, uint64_t *items,
    uint64_t *bytes)
{
    for (size_t i = 0; i < range_count; i++) {
        struct part_range *range;
        struct part_range_counts counts;
        enum fault fault = part_range_acquire(call, context->service->part, ranges[i].id, &range);
        if (fault == FAULT_RESOURCE_NOT_FOUND) {
            /* The table or index was deleted since it was found: what is described is the past, and empty. */
            call_clear_fault(call);
            continue;
        }
        TRY(fault);
        part_range_count(range, &counts);
        part_range_release(range);
        *items += counts.items;
        *bytes += counts.bytes;
    }
    return FAULT_NONE;
}

enum fault table_count(struct op_context *context, struct call *call, const struct table *table, struct table_totals *totals)
{
    *totals = (struct table_totals){0};
    TRY(count_ranges(context, call, table->ranges, table->range_count, &totals->items, &totals->bytes));
    for (size_t i = 0; i < table->index_count; i++) {
        const struct table_index *index = &table->indexes[i];
        TRY(count_ranges(context, call, index->ranges, index->range_count, &totals->indexes[i].items, &totals->indexes[i].bytes));
    }
    return FAULT_NONE;
}

enum fault table_is_ready(struct call *call, const struct table *table)
{
    static const char *const doings[] = {[TABLE_CREATING] = "created", [TABLE_UPDATING] = "updated", [TABLE_DELETING] = "deleted"};
    if (table->status == TABLE_ACTIVE)
        return FAULT_NONE;
    return fail(call, FAULT_RESOURCE_IN_USE, "Attempt to change a resource which is still in use: Table is being %s: %.*s", doings[table->status],
        STR_ARG(table->name));
}
