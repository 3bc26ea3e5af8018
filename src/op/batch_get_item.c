/* BatchGetItem: up to 100 items of several tables, as many as fit an answer; the keys of the rest are handed back. */
#include "op/item_internal.h"

enum { SLICE_KEYS = 25 }; /* read at a time, so that little is read in vain once the answer is full */

/* One table of RequestItems. */
struct batch {
    str name;
    uint32_t object;        /* its KeysAndAttributes */
    uint32_t *key_tokens;
    str *key_items;
    str *row_keys;
    size_t count;
    size_t done;            /* keys answered, from the front; the rest are unprocessed */
    str projection;
    enum read_consistency consistency;
    struct item_charge charge;
    const struct table *table;
};

/* All tables of a request. */
struct batches {
    struct batch *all;
    size_t count;
    uint64_t bytes_left; /* of the answer */
};

static enum fault read_keys(struct call *call, const struct json *request, struct batch *batch, size_t *total)
{
    uint32_t keys = json_member(request, batch->object, STR("Keys"));
    size_t count = request->tokens[keys].count;
    batch->key_tokens = ARENA_NEW_ARRAY(&call->arena, uint32_t, count);
    batch->key_items = ARENA_NEW_ARRAY(&call->arena, str, count);
    batch->row_keys = ARENA_NEW_ARRAY(&call->arena, str, count);
    for (uint32_t i = json_first(request, keys); i < json_end(request, keys); i = json_next(request, i)) {
        str key_item;
        TRY(item_read_values(call, request, i, &key_item));
        for (size_t other = 0; other < batch->count; other++) {
            if (str_equal(batch->key_items[other], key_item))
                return fail(call, FAULT_VALIDATION, "Provided list of item keys contains duplicates");
        }
        if (++*total > BATCH_GET_KEYS_MAX)
            return fail(call, FAULT_VALIDATION, "Too many items requested for the BatchGetItem call");
        batch->key_tokens[batch->count] = i;
        batch->key_items[batch->count++] = key_item;
    }
    return FAULT_NONE;
}

/* A request may not project by expression in one table and by AttributesToGet in another. */
static enum fault check_projection_kinds(struct call *call, const struct json *request, const struct batches *batches)
{
    bool by_expression = false, by_names = false;
    for (size_t i = 0; i < batches->count; i++) {
        by_expression |= json_member(request, batches->all[i].object, STR("ProjectionExpression")) != JSON_ABSENT;
        by_names |= json_member(request, batches->all[i].object, STR("AttributesToGet")) != JSON_ABSENT;
    }
    if (by_expression && by_names)
        return fail(call, FAULT_VALIDATION, "Can not use both expression and non-expression parameters in the same request: "
                                            "Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}");
    return FAULT_NONE;
}

static enum fault read_request(struct call *call, const struct json *request, struct batches *batches)
{
    uint32_t items = json_member(request, 0, STR("RequestItems"));
    batches->all = ARENA_NEW_ARRAY(&call->arena, struct batch, request->tokens[items].count);
    for (uint32_t name = json_first(request, items); name < json_end(request, items); name = json_next(request, name + 1)) {
        struct batch *batch = &batches->all[batches->count++];
        batch->name = json_string(request, name);
        batch->object = name + 1;
        batch->consistency = wire_flag(request, json_member(request, batch->object, STR("ConsistentRead")), false) ? READ_STRONG : READ_EVENTUAL;
    }
    TRY(check_projection_kinds(call, request, batches));
    size_t total = 0;
    for (size_t i = 0; i < batches->count; i++) {
        TRY(item_read_projection(call, request, batches->all[i].object, &batches->all[i].projection));
        TRY(read_keys(call, request, &batches->all[i], &total));
    }
    return FAULT_NONE;
}

/* Checks keys and projection against the table. */
static enum fault resolve(struct call *call, struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct buf row_key;
        buf_open(&row_key, &call->arena, 0);
        TRY(key_of_map(call, &batch->table->keys, batch->key_items[i], &row_key));
        batch->row_keys[i] = buf_str(&row_key);
    }
    item_charge_open(call, batch->table, &batch->charge);
    return item_check_key_paths(call, batch->table, batch->projection);
}

/* Reads `count` keys from `first` on, range by range. */
static enum fault read_slice(struct op_context *context, struct call *call, const struct batch *batch, size_t first, size_t count, bool *found, struct stored *stored)
{
    bool read[SLICE_KEYS] = {false};
    for (size_t at = 0; at < count; at++) {
        if (read[at])
            continue;
        struct uuid id = table_range_of(batch->table, batch->row_keys[first + at]);
        str row_keys[SLICE_KEYS];
        size_t places[SLICE_KEYS], members = 0;
        for (size_t i = at; i < count; i++) {
            if (!read[i] && uuid_equal(id, table_range_of(batch->table, batch->row_keys[first + i]))) {
                read[i] = true;
                places[members] = i;
                row_keys[members++] = batch->row_keys[first + i];
            }
        }
        bool range_found[SLICE_KEYS];
        struct stored range_stored[SLICE_KEYS];
        struct part_range *range;
        TRY(part_range_acquire(call, context->service->part, id, &range));
        enum fault fault = part_multi_get(call, range, row_keys, members, range_found, range_stored);
        part_range_release(range);
        TRY(fault);
        for (size_t i = 0; i < members; i++) {
            found[places[i]] = range_found[i];
            stored[places[i]] = range_stored[i];
        }
    }
    return FAULT_NONE;
}

static void answer_item(struct call *call, const struct batch *batch, str item, struct buf *answer)
{
    if (batch->projection.len) {
        struct buf projected;
        buf_open(&projected, &call->arena, 0);
        expr_project(batch->projection, item, &projected);
        item = buf_str(&projected);
    }
    json_write_comma(answer);
    item_write_json(answer, item);
}

/* The table's items, until all are there or the answer is full. */
static enum fault answer_items(struct op_context *context, struct call *call, struct batches *batches, struct batch *batch, struct buf *answer)
{
    bool found[SLICE_KEYS];
    struct stored stored[SLICE_KEYS];
    while (batch->done < batch->count && batches->bytes_left) {
        size_t first = batch->done;
        size_t count = batch->count - first < SLICE_KEYS ? batch->count - first : SLICE_KEYS;
        TRY(read_slice(context, call, batch, first, count, found, stored));
        for (size_t i = 0; i < count; i++) {
            uint64_t size = found[i] ? stored[i].size : 0;
            if (size > batches->bytes_left) {
                batches->bytes_left = 0;
                break;
            }
            batches->bytes_left -= size;
            batch->done++;
            item_charge_read(&batch->charge, size, batch->consistency);
            if (found[i])
                answer_item(call, batch, stored[i].item, answer);
        }
    }
    return FAULT_NONE;
}

/* A member of the table's request, as it was sent. */
static void copy_member(const struct json *request, const struct batch *batch, const char *name, struct buf *answer)
{
    uint32_t token = json_member(request, batch->object, str_of_text(name));
    if (token == JSON_ABSENT)
        return;
    bool is_text = json_type(request, token) == JSON_STRING;
    json_write_name(answer, name);
    if (is_text)
        buf_add_byte(answer, '"');
    buf_add_str(answer, json_raw(request, token));
    if (is_text)
        buf_add_byte(answer, '"');
}

static void answer_unprocessed(const struct json *request, const struct batches *batches, struct buf *answer)
{
    static const char *const copied[] = {"AttributesToGet", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames"};
    json_write_name(answer, "UnprocessedKeys");
    buf_add_byte(answer, '{');
    for (size_t i = 0; i < batches->count; i++) {
        const struct batch *batch = &batches->all[i];
        if (batch->done == batch->count)
            continue;
        json_write_comma(answer);
        json_write_string(answer, batch->name);
        BUF_ADD_LITERAL(answer, ":{\"Keys\":[");
        for (size_t key = batch->done; key < batch->count; key++) {
            json_write_comma(answer);
            buf_add_str(answer, json_raw(request, batch->key_tokens[key]));
        }
        buf_add_byte(answer, ']');
        for (size_t member = 0; member < sizeof copied / sizeof copied[0]; member++)
            copy_member(request, batch, copied[member], answer);
        buf_add_byte(answer, '}');
    }
    buf_add_byte(answer, '}');
}

static void answer_charges(struct call *call, const struct json *request, const struct batches *batches, struct buf *answer)
{
    enum wire_capacity_detail detail = wire_capacity_detail(request, json_member(request, 0, STR("ReturnConsumedCapacity")));
    if (detail == CAPACITY_NONE)
        return;
    json_write_name(answer, "ConsumedCapacity");
    buf_add_byte(answer, '[');
    for (size_t i = 0; i < batches->count; i++) {
        json_write_comma(answer);
        item_charge_answer(call, &batches->all[i].charge, detail, batches->all[i].name, answer);
    }
    buf_add_byte(answer, ']');
}

/* The tables that it acquires are the caller's to release. */
static enum fault run(struct op_context *context, struct call *call, const struct json *request, struct batches *batches, struct buf *answer)
{
    for (size_t i = 0; i < batches->count; i++)
        TRY(table_acquire(call, context->service->catalog, context->account, context->region, batches->all[i].name, &batches->all[i].table));
    for (size_t i = 0; i < batches->count; i++)
        TRY(resolve(call, &batches->all[i]));
    BUF_ADD_LITERAL(answer, "{\"Responses\":{");
    for (size_t i = 0; i < batches->count; i++) {
        json_write_comma(answer);
        json_write_string(answer, batches->all[i].name);
        BUF_ADD_LITERAL(answer, ":[");
        TRY(answer_items(context, call, batches, &batches->all[i], answer));
        buf_add_byte(answer, ']');
    }
    buf_add_byte(answer, '}');
    answer_unprocessed(request, batches, answer);
    answer_charges(call, request, batches, answer);
    buf_add_byte(answer, '}');
    return FAULT_NONE;
}

enum fault op_batch_get_item(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    struct batches batches = {.bytes_left = BATCH_GET_BYTES_MAX};
    item_wording_of_reads(call);
    TRY(read_request(call, request, &batches));
    enum fault fault = run(context, call, request, &batches, answer);
    for (size_t i = 0; i < batches.count; i++) {
        if (batches.all[i].table)
            table_release(batches.all[i].table);
    }
    return fault;
}
