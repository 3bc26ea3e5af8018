/* BatchWriteItem: up to 25 puts and deletes in several tables, each a change of its own: checked together, made one by one. */
#include "op/item_internal.h"

/* One table of RequestItems. */
struct batch {
    str name;
    struct edit *edits; /* puts and deletes, in the request's order */
    size_t count;
    const struct table *table;
    struct item_charge charge;
    uint64_t *collection_bytes; /* behind each edit: of its item collection */
};

/* All tables of a request. */
struct batches {
    struct batch *all;
    size_t count;
};

static enum fault read_put(struct call *call, const struct json *request, uint32_t put, struct edit *edit)
{
    edit->kind = EDIT_PUT;
    TRY(item_read_values(call, request, json_member(request, put, STR("Item")), &edit->action));
    if (item_size(edit->action) > ITEM_BYTES_MAX)
        return fail(call, FAULT_VALIDATION, "Item size has exceeded the maximum allowed size");
    return FAULT_NONE;
}

static enum fault read_edit(struct call *call, const struct json *request, uint32_t object, struct edit *edit)
{
    uint32_t put = json_member(request, object, STR("PutRequest"));
    uint32_t delete = json_member(request, object, STR("DeleteRequest"));
    if (put != JSON_ABSENT && delete != JSON_ABSENT)
        return fail(call, FAULT_VALIDATION, "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes");
    if (put == JSON_ABSENT && delete == JSON_ABSENT)
        return fail(call, FAULT_VALIDATION, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
    if (put != JSON_ABSENT)
        return read_put(call, request, put, edit);
    edit->kind = EDIT_DELETE;
    return item_read_values(call, request, json_member(request, delete, STR("Key")), &edit->key_item);
}

static enum fault read_request(struct call *call, const struct json *request, struct batches *batches)
{
    uint32_t items = json_member(request, 0, STR("RequestItems"));
    size_t total = 0;
    batches->all = ARENA_NEW_ARRAY(&call->arena, struct batch, request->tokens[items].count);
    for (uint32_t name = json_first(request, items); name < json_end(request, items); name = json_next(request, name + 1)) {
        batches->all[batches->count++].name = json_string(request, name);
        total += request->tokens[name + 1].count;
    }
    if (total > BATCH_WRITE_REQUESTS_MAX)
        return fail(call, FAULT_VALIDATION, "Too many items requested for the BatchWriteItem call");
    struct batch *batch = batches->all;
    for (uint32_t name = json_first(request, items); name < json_end(request, items); name = json_next(request, name + 1), batch++) {
        uint32_t list = name + 1;
        batch->edits = ARENA_NEW_ARRAY(&call->arena, struct edit, request->tokens[list].count);
        for (uint32_t i = json_first(request, list); i < json_end(request, list); i = json_next(request, i))
            TRY(read_edit(call, request, i, &batch->edits[batch->count++]));
    }
    return FAULT_NONE;
}

static enum fault resolve_edit(struct call *call, const struct table *table, struct edit *edit)
{
    struct buf row_key;
    buf_open(&row_key, &call->arena, 0);
    if (edit->kind == EDIT_DELETE) {
        TRY(key_of_map(call, &table->keys, edit->key_item, &row_key));
    } else {
        TRY(key_of_item(call, &table->keys, edit->action, true, &row_key));
        struct buf key_item;
        buf_open(&key_item, &call->arena, 0);
        key_item_of(&table->keys, edit->action, &key_item);
        edit->key_item = buf_str(&key_item);
    }
    edit->row_key = buf_str(&row_key);
    item_index_keys(call, table, edit);
    item_local_indexes(call, table, edit);
    return FAULT_NONE;
}

/* Checks every key, and what an index would refuse, before anything is written. */
static enum fault resolve(struct call *call, struct batch *batch)
{
    item_charge_open(call, batch->table, &batch->charge);
    batch->collection_bytes = ARENA_NEW_ARRAY(&call->arena, uint64_t, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        struct edit *edit = &batch->edits[i];
        TRY(resolve_edit(call, batch->table, edit));
        for (size_t other = 0; other < i; other++) {
            if (str_equal(batch->edits[other].row_key, edit->row_key))
                return fail(call, FAULT_VALIDATION, "Provided list of item keys contains duplicates");
        }
        struct edit_outcome outcome;
        TRY(edit_apply(call, edit, false, NULL, &outcome));
    }
    return FAULT_NONE;
}

static enum fault write_edit(struct op_context *context, struct call *call, struct batch *batch, size_t at)
{
    const struct edit *edit = &batch->edits[at];
    struct part_range *range;
    struct edit_outcome outcome;
    TRY(part_range_acquire(call, context->service->part, table_range_of(batch->table, edit->row_key), &range));
    enum fault fault = part_edit(call, range, edit, &outcome);
    part_range_release(range);
    TRY(fault);
    item_charge_write(call, &batch->charge, &outcome);
    batch->collection_bytes[at] = outcome.collection_bytes;
    return FAULT_NONE;
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

static bool same_collection(const struct batch *batch, size_t left, size_t right)
{
    str name = batch->table->keys.partition.name;
    return value_equal(item_get(batch->edits[left].key_item, name), item_get(batch->edits[right].key_item, name));
}

/* Each collection of the table that the batch touched, once, as the last of its edits left it. */
static void answer_collections_of(const struct batch *batch, struct buf *answer)
{
    for (size_t at = 0; at < batch->count; at++) {
        uint64_t bytes = batch->collection_bytes[at];
        bool came_before = false;
        for (size_t other = 0; other < at; other++)
            came_before |= same_collection(batch, other, at);
        for (size_t other = at + 1; other < batch->count; other++)
            bytes = same_collection(batch, other, at) ? batch->collection_bytes[other] : bytes;
        if (came_before)
            continue;
        json_write_comma(answer);
        item_collection_answer(batch->table, batch->edits[at].key_item, bytes, answer);
    }
}

static void answer_collections(const struct json *request, const struct batches *batches, struct buf *answer)
{
    if (!str_equal(wire_text(request, json_member(request, 0, STR("ReturnItemCollectionMetrics"))), STR("SIZE")))
        return;
    json_write_name(answer, "ItemCollectionMetrics");
    buf_add_byte(answer, '{');
    for (size_t i = 0; i < batches->count; i++) {
        const struct batch *batch = &batches->all[i];
        if (!item_collections_exist(batch->table))
            continue;
        json_write_comma(answer);
        json_write_string(answer, batch->name);
        BUF_ADD_LITERAL(answer, ":[");
        answer_collections_of(batch, answer);
        buf_add_byte(answer, ']');
    }
    buf_add_byte(answer, '}');
}

/* The tables that it acquires are the caller's to release. */
static enum fault run(struct op_context *context, struct call *call, const struct json *request, struct batches *batches, struct buf *answer)
{
    for (size_t i = 0; i < batches->count; i++)
        TRY(table_acquire(call, context->service->catalog, context->account, context->region, batches->all[i].name, &batches->all[i].table));
    for (size_t i = 0; i < batches->count; i++)
        TRY(resolve(call, &batches->all[i]));
    for (size_t i = 0; i < batches->count; i++) {
        for (size_t at = 0; at < batches->all[i].count; at++)
            TRY(write_edit(context, call, &batches->all[i], at));
    }
    BUF_ADD_LITERAL(answer, "{\"UnprocessedItems\":{}");
    answer_collections(request, batches, answer);
    answer_charges(call, request, batches, answer);
    buf_add_byte(answer, '}');
    return FAULT_NONE;
}

enum fault op_batch_write_item(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    struct batches batches = {0};
    item_wording_of_batch_writes(call);
    TRY(read_request(call, request, &batches));
    enum fault fault = run(context, call, request, &batches, answer);
    for (size_t i = 0; i < batches.count; i++) {
        if (batches.all[i].table)
            table_release(batches.all[i].table);
    }
    return fault;
}
