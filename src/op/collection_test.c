/* Item collections as the API shows them: a limit that every kind of write meets, and what ItemCollectionMetrics say. */
#include "op/page_fixture_internal.h"

enum { LIMIT = 900, PAD_BYTES = 300 };

static void limited_open(struct fixture *f, uint64_t bytes_max)
{
    fixture_open(f, 1, STORE_MANNERS_RADOS);
    part_close(f->service.part);
    struct part_options options = {.store = f->store, .world = f->world, .cache_bytes = 1 << 20, .collection_bytes_max = bytes_max};
    f->service.part = part_open(&options);
    fixture_start(f);
    run_text(f, "CreateTable",
        "{\"TableName\":\"threads\",\"BillingMode\":\"PAY_PER_REQUEST\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"sk\","
        "\"KeyType\":\"RANGE\"}],\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"},{\"AttributeName\":\"sk\",\"AttributeType\":\"S\"},"
        "{\"AttributeName\":\"at\",\"AttributeType\":\"S\"}],\"LocalSecondaryIndexes\":[{\"IndexName\":\"by-at\",\"KeySchema\":[{\"AttributeName\":\"pk\","
        "\"KeyType\":\"HASH\"},{\"AttributeName\":\"at\",\"KeyType\":\"RANGE\"}],\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}]}");
}

/* {"pk": pk, "sk": sk, "at": "t", "pad": that many bytes} */
static str item_text(char *to, size_t bytes, const char *pk, const char *sk, int pad_bytes)
{
    int length = snprintf(to, bytes, "{\"pk\":{\"S\":\"%s\"},\"sk\":{\"S\":\"%s\"},\"at\":{\"S\":\"t\"},\"pad\":{\"S\":\"%0*d\"}}", pk, sk, pad_bytes, 0);
    return str_of(to, (size_t)length);
}

static enum fault put(struct fixture *f, const char *pk, const char *sk, int pad_bytes)
{
    char item[1000], request[1200];
    item_text(item, sizeof item, pk, sk, pad_bytes);
    snprintf(request, sizeof request, "{\"TableName\":\"threads\",\"Item\":%s}", item);
    return fixture_try(f, "PutItem", str_of_text(request));
}

static void expect_too_large(struct fixture *f, enum fault fault)
{
    assert_int_equal(fault, FAULT_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED);
    assert_true(str_equal(f->call.message, STR("Collection size exceeded.")));
}

static void every_write_meets_the_limit(void **state)
{
    (void)state;
    struct fixture f;
    char item[1000], request[2400];
    limited_open(&f, LIMIT);
    assert_int_equal(put(&f, "p", "a", PAD_BYTES), FAULT_NONE);
    assert_int_equal(put(&f, "p", "b", PAD_BYTES), FAULT_NONE);
    expect_too_large(&f, put(&f, "p", "c", PAD_BYTES));
    assert_int_equal(put(&f, "q", "c", PAD_BYTES), FAULT_NONE);
    snprintf(request, sizeof request,
        "{\"TableName\":\"threads\",\"Key\":{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"a\"}},\"UpdateExpression\":\"SET more = :m\",\"ExpressionAttributeValues\":"
        "{\":m\":{\"S\":\"%0*d\"}}}", PAD_BYTES + 100, 0);
    expect_too_large(&f, fixture_try(&f, "UpdateItem", str_of_text(request)));
    item_text(item, sizeof item, "p", "d", PAD_BYTES);
    snprintf(request, sizeof request, "{\"RequestItems\":{\"threads\":[{\"PutRequest\":{\"Item\":%s}}]}}", item);
    expect_too_large(&f, fixture_try(&f, "BatchWriteItem", str_of_text(request)));
    /* Nothing of what was refused is there, and what shrinks or goes may. */
    run_text(&f, "Query", "{\"TableName\":\"threads\",\"IndexName\":\"by-at\",\"ConsistentRead\":true,\"Select\":\"COUNT\",\"KeyConditionExpression\":\"pk = :p\","
                          "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"p\"}}}");
    assert_true(str_begins(buf_str(&f.answer), STR("{\"Count\":2,")));
    assert_int_equal(put(&f, "p", "a", 10), FAULT_NONE);
    run_text(&f, "DeleteItem", "{\"TableName\":\"threads\",\"Key\":{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"b\"}}}");
    assert_int_equal(put(&f, "p", "c", PAD_BYTES), FAULT_NONE);
    fixture_close(&f);
}

static void metrics_name_each_collection_once(void **state)
{
    (void)state;
    struct fixture f;
    char first[1000], second[1000], third[1000], request[3200];
    limited_open(&f, 0);
    item_text(first, sizeof first, "p", "a", 10);
    item_text(second, sizeof second, "q", "a", 10);
    item_text(third, sizeof third, "p", "b", 10);
    snprintf(request, sizeof request,
        "{\"RequestItems\":{\"threads\":[{\"PutRequest\":{\"Item\":%s}},{\"PutRequest\":{\"Item\":%s}},{\"PutRequest\":{\"Item\":%s}}]},"
        "\"ReturnItemCollectionMetrics\":\"SIZE\"}", first, second, third);
    run_text(&f, "BatchWriteItem", request);
    assert_true(str_equal(buf_str(&f.answer), STR("{\"UnprocessedItems\":{},\"ItemCollectionMetrics\":{\"threads\":[{\"ItemCollectionKey\":{\"pk\":{\"S\":\"p\"}},"
                                                  "\"SizeEstimateRangeGB\":[0,1]},{\"ItemCollectionKey\":{\"pk\":{\"S\":\"q\"}},\"SizeEstimateRangeGB\":[0,1]}]}}")));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_write_meets_the_limit),
        cmocka_unit_test(metrics_name_each_collection_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
