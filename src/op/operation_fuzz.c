/* Fuzzes whole operations. The first byte names the operation and the wording, the rest is the request's JSON. It runs on a service with
   one table that has both kinds of indexes and one item; whatever comes, an answer or an error must be proper JSON. */
#include "op/op.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char table_request[] =
    "{\"TableName\":\"abc\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"},{\"AttributeName\":\"sk\","
    "\"AttributeType\":\"N\"},{\"AttributeName\":\"x\",\"AttributeType\":\"B\"}],\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"sk\","
    "\"KeyType\":\"RANGE\"}],\"LocalSecondaryIndexes\":[{\"IndexName\":\"lsi\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"x\","
    "\"KeyType\":\"RANGE\"}],\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}],\"GlobalSecondaryIndexes\":[{\"IndexName\":\"gsi\",\"KeySchema\":[{\"AttributeName\":\"x\","
    "\"KeyType\":\"HASH\"}],\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}]}";
static const char item_request[] =
    "{\"TableName\":\"abc\",\"Item\":{\"pk\":{\"S\":\"k\"},\"sk\":{\"N\":\"1\"},\"x\":{\"B\":\"YQ==\"},\"n\":{\"N\":\"5\"},\"l\":{\"L\":[{\"S\":\"a\"},{\"M\":{\"b\":{\"SS\":"
    "[\"c\"]}}}]},\"s\":{\"NS\":[\"1\",\"2\"]}}}";

static void check_json(struct call *call, str text)
{
    struct json json;
    bool parsed = json_parse(&call->arena, text, &json);
    assert(parsed);
}

static enum fault run(struct op_service *service, const struct op *op, enum wording wording, str body)
{
    struct op_context context = {service, STR("000000000000"), STR("us-east-1"), STR("localhost")};
    struct call call;
    struct json json;
    struct buf answer;
    call_open(&call, service->world, NULL);
    call.wording = wording;
    buf_open(&answer, &call.arena, 0);
    if (json_parse(&call.arena, body, &json)) {
        enum fault fault = wire_check(&call, wire_input_shape(str_of_text(op->name)), &json);
        if (fault == FAULT_NONE)
            fault = op->run(&context, &call, &json, &answer);
        while (durable_wait_is_pending(&call.durable))
            world_sleep_us(service->world, 1);
        assert(fault == call.fault);
        if (fault != FAULT_NONE) {
            struct buf told;
            buf_open(&told, &call.arena, 0);
            wire_write_fault(&call, &told);
            check_json(&call, buf_str(&told));
            assert(fault != FAULT_INTERNAL);
        } else if (!op->answers_empty) {
            check_json(&call, buf_str(&answer));
        } else {
            assert(answer.len == 0);
        }
    }
    enum fault fault = call.fault;
    call_close(&call);
    return fault;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct op_service service = {.world = world_real_new()};
    struct store_mem_options mem = {0};
    struct store *store = store_mem_new(service.world, &mem);
    struct part_options part = {.store = store, .world = service.world, .cache_bytes = 1 << 16};
    struct table_catalog_options catalog = {.store = store, .world = service.world};
    char problem[256];
    service.part = part_open(&part);
    service.catalog = table_catalog_open(&catalog, problem, sizeof problem);
    assert(service.catalog);
    enum fault made = run(&service, op_find(STR("CreateTable"), NULL), WORDING_CURRENT, str_of_text(table_request));
    enum fault put = run(&service, op_find(STR("PutItem"), NULL), WORDING_CURRENT, str_of_text(item_request));
    assert(made == FAULT_NONE && put == FAULT_NONE);
    /* A copy of exactly this size, so that sanitizers see a read behind it. */
    char *copy = malloc(size);
    assert(copy);
    memcpy(copy, data + 1, size - 1);
    size_t count;
    const struct op *all = op_all(&count);
    run(&service, &all[(data[0] >> 1) % count], data[0] & 1 ? WORDING_CLASSIC : WORDING_CURRENT, str_of(copy, size - 1));
    free(copy);
    part_close(service.part);
    table_catalog_close(service.catalog);
    store_close(store);
    world_free(service.world);
    return 0;
}
