/* Parts of answers: consumed capacity, faults, times. */
#include "wire/wire.h"

#include "model/value.h"

static void write_units(struct buf *out, uint64_t half_units)
{
    BUF_ADD_LITERAL(out, "\"CapacityUnits\":");
    json_write_double(out, (double)half_units / 2.0);
}

static void write_arms(struct buf *out, const char *name, const struct wire_index_units *arms, size_t count)
{
    if (count == 0)
        return;
    json_write_name(out, name);
    buf_add_byte(out, '{');
    for (size_t i = 0; i < count; i++) {
        json_write_comma(out);
        json_write_string(out, arms[i].index);
        BUF_ADD_LITERAL(out, ":{");
        write_units(out, arms[i].half_units);
        buf_add_byte(out, '}');
    }
    buf_add_byte(out, '}');
}

static uint64_t arms_total(const struct wire_index_units *arms, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += arms[i].half_units;
    return total;
}

void wire_write_consumed(struct buf *out, enum wire_capacity_detail detail, const struct wire_consumed *consumed)
{
    if (detail == CAPACITY_NONE)
        return;
    BUF_ADD_LITERAL(out, "{\"TableName\":");
    json_write_string(out, consumed->table);
    buf_add_byte(out, ',');
    write_units(out, consumed->table_half_units + arms_total(consumed->local, consumed->local_count) + arms_total(consumed->global, consumed->global_count));
    if (detail == CAPACITY_INDEXES) {
        BUF_ADD_LITERAL(out, ",\"Table\":{");
        write_units(out, consumed->table_half_units);
        buf_add_byte(out, '}');
        write_arms(out, "LocalSecondaryIndexes", consumed->local, consumed->local_count);
        write_arms(out, "GlobalSecondaryIndexes", consumed->global, consumed->global_count);
    }
    buf_add_byte(out, '}');
}

void wire_write_fault(const struct call *call, struct buf *out)
{
    BUF_ADD_LITERAL(out, "{\"__type\":\"");
    buf_add_str(out, fault_namespace(call->fault));
    buf_add_str(out, fault_name(call->fault));
    buf_add_byte(out, '"');
    if (call->message.len) {
        json_write_name(out, fault_message_is_capital(call->fault) ? "Message" : "message");
        json_write_string(out, call->message);
    }
    if (call->fault == FAULT_CONDITIONAL_CHECK_FAILED && call->failed_item.len) {
        json_write_name(out, "Item");
        item_write_json(out, call->failed_item);
    }
    buf_add_byte(out, '}');
}

void wire_write_time(struct buf *out, int64_t wall_us)
{
    int64_t milliseconds = wall_us / 1000;
    buf_printf(out, "%lld.%03d", (long long)(milliseconds / 1000), (int)(milliseconds % 1000));
}

void wire_write_uuid(struct buf *out, struct uuid id)
{
    char text[UUID_TEXT_BYTES];
    uuid_format(id, text);
    buf_add_byte(out, '"');
    buf_add(out, text, sizeof text);
    buf_add_byte(out, '"');
}
