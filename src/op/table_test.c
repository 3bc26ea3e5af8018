/* Tests of the table operations in process: checks in their order, what DescribeTable shows, states by time, tags. */
#include "op/op_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SECOND_US = 1000000 };

struct fixture {
    struct world *world;
    struct store *store;
    struct op_service service;
    struct op_context context;
    struct call call;
    struct json json;
    struct buf answer;
};

static void fixture_open(struct fixture *fixture, int64_t status_us)
{
    *fixture = (struct fixture){0};
    struct world_sim_options sim = {.seed = 3, .wall_start_us = 1700000000123456};
    fixture->world = world_sim_new(&sim);
    struct store_mem_options mem = {0};
    fixture->store = store_mem_new(fixture->world, &mem);
    struct part_options part = {.store = fixture->store, .world = fixture->world, .cache_bytes = 1 << 20};
    char problem[256] = "";
    struct table_catalog_options catalog = {.store = fixture->store, .world = fixture->world, .status_us = status_us};
    fixture->service = (struct op_service){.world = fixture->world, .part = part_open(&part), .catalog = table_catalog_open(&catalog, problem, sizeof problem)};
    assert_string_equal(problem, "");
    fixture->service.chore = chore_start(fixture->world, fixture->service.catalog, fixture->service.part, NULL);
    fixture->context = (struct op_context){&fixture->service, STR("000000000000"), STR("us-east-1"), STR("localhost:8000")};
    call_open(&fixture->call, fixture->world, NULL);
}

static void fixture_close(struct fixture *fixture)
{
    call_close(&fixture->call);
    chore_stop(fixture->service.chore);
    part_close(fixture->service.part);
    table_catalog_close(fixture->service.catalog);
    store_close(fixture->store);
    world_free(fixture->world);
}

static enum fault run(struct fixture *fixture, const char *operation, const char *request)
{
    call_close(&fixture->call);
    call_open(&fixture->call, fixture->world, NULL);
    struct call *call = &fixture->call;
    struct json json;
    assert_true(json_parse(&call->arena, str_of_text(request), &json));
    enum fault fault = wire_check(call, wire_input_shape(str_of_text(operation)), &json);
    buf_open(&fixture->answer, &call->arena, 0);
    if (fault == FAULT_NONE)
        fault = op_find(str_of_text(operation), NULL)->run(&fixture->context, call, &json, &fixture->answer);
    assert_int_equal(fault, call->fault);
    if (fault == FAULT_NONE && fixture->answer.len)
        assert_true(json_parse(&call->arena, buf_str(&fixture->answer), &fixture->json));
    return fault;
}

static void expect_good(struct fixture *fixture, const char *operation, const char *request)
{
    if (run(fixture, operation, request) != FAULT_NONE)
        print_error("%s %s\n %.*s\n", operation, request, STR_ARG(fixture->call.message));
    assert_int_equal(fixture->call.fault, FAULT_NONE);
}

static void expect_fault(struct fixture *fixture, const char *operation, const char *request, enum fault fault, const char *message)
{
    enum fault got = run(fixture, operation, request);
    char text[2048];
    snprintf(text, sizeof text, "%.*s", STR_ARG(fixture->call.message));
    if (got != fault || strcmp(text, message) != 0)
        print_error("%s %s\n got  %d %s\n want %d %s\n", operation, request, got, text, fault, message);
    assert_int_equal(got, fault);
    assert_string_equal(text, message);
}

/* The text of the answer's part at a path of member names and places. */
static const char *at(struct fixture *fixture, const char *path)
{
    static char text[8192];
    uint32_t token = 0;
    str rest = str_of_text(path);
    while (rest.len && token != JSON_ABSENT) {
        str part = str_cut(&rest, '.');
        if (json_type(&fixture->json, token) == JSON_ARRAY) {
            uint32_t element = json_first(&fixture->json, token);
            for (int i = atoi(part.data); i > 0; i--)
                element = json_next(&fixture->json, element);
            token = element < json_end(&fixture->json, token) ? element : JSON_ABSENT;
        } else {
            token = json_member(&fixture->json, token, part);
        }
    }
    if (token == JSON_ABSENT)
        return "(absent)";
    snprintf(text, sizeof text, "%.*s", STR_ARG(json_raw(&fixture->json, token)));
    return text;
}

#define EXPECT_AT(path, wanted) assert_string_equal(at(&fixture, path), wanted)
#define INVALID "One or more parameter values were invalid: "
#define PK "\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}]"
#define UNITS(r, w) "{\"ReadCapacityUnits\":" #r ",\"WriteCapacityUnits\":" #w "}"
#define ON_DEMAND ",\"BillingMode\":\"PAY_PER_REQUEST\""

static void test_provisioned_description(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, 0);
    expect_good(&fixture, "CreateTable", "{\"TableName\":\"abc\"," PK ",\"ProvisionedThroughput\":" UNITS(5, 6) "}");
    EXPECT_AT("TableDescription.TableStatus", "CREATING");
    char id[64];
    snprintf(id, sizeof id, "%s", at(&fixture, "TableDescription.TableId"));
    assert_int_equal(strlen(id), 36);
    expect_good(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}");
    char wanted[2048];
    snprintf(wanted, sizeof wanted,
        "{\"Table\":{\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],\"TableName\":\"abc\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":"
        "\"HASH\"}],\"TableStatus\":\"ACTIVE\",\"CreationDateTime\":%s,\"ProvisionedThroughput\":{\"NumberOfDecreasesToday\":0,\"ReadCapacityUnits\":5,"
        "\"WriteCapacityUnits\":6},\"TableSizeBytes\":0,\"ItemCount\":0,\"TableArn\":\"arn:aws:dynamodb:us-east-1:000000000000:table/abc\",\"TableId\":\"%s\","
        "\"DeletionProtectionEnabled\":false,\"WarmThroughput\":{\"ReadUnitsPerSecond\":5,\"WriteUnitsPerSecond\":6,\"Status\":\"ACTIVE\"}}}",
        "1700000000.123", id);
    char got[2048];
    snprintf(got, sizeof got, "%.*s", STR_ARG(buf_str(&fixture.answer)));
    assert_string_equal(got, wanted);
    fixture_close(&fixture);
}

static void test_on_demand_and_delete_description(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, 0);
    expect_good(&fixture, "CreateTable", "{\"TableName\":\"abc\"," PK ON_DEMAND "}");
    EXPECT_AT("TableDescription.BillingModeSummary", "{\"BillingMode\":\"PAY_PER_REQUEST\"}");
    EXPECT_AT("TableDescription.WarmThroughput", "(absent)");
    expect_good(&fixture, "DescribeTable", "{\"TableName\":\"arn:aws:dynamodb:us-east-1:000000000000:table/abc\"}");
    char created[32];
    snprintf(created, sizeof created, "%s", at(&fixture, "Table.CreationDateTime"));
    EXPECT_AT("Table.BillingModeSummary.LastUpdateToPayPerRequestDateTime", created);
    EXPECT_AT("Table.ProvisionedThroughput", "{\"NumberOfDecreasesToday\":0,\"ReadCapacityUnits\":0,\"WriteCapacityUnits\":0}");
    EXPECT_AT("Table.WarmThroughput", "{\"ReadUnitsPerSecond\":12000,\"WriteUnitsPerSecond\":4000,\"Status\":\"ACTIVE\"}");
    expect_good(&fixture, "DeleteTable", "{\"TableName\":\"abc\"}");
    EXPECT_AT("TableDescription.TableStatus", "DELETING");
    EXPECT_AT("TableDescription.BillingModeSummary.LastUpdateToPayPerRequestDateTime", created);
    EXPECT_AT("TableDescription.ItemCount", "0");
    EXPECT_AT("TableDescription.CreationDateTime", "(absent)");
    EXPECT_AT("TableDescription.KeySchema", "(absent)");
    EXPECT_AT("TableDescription.AttributeDefinitions", "(absent)");
    expect_fault(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}", FAULT_RESOURCE_NOT_FOUND, "Requested resource not found: Table: abc not found");
    expect_fault(&fixture, "DeleteTable", "{\"TableName\":\"abc\"}", FAULT_RESOURCE_NOT_FOUND, "Requested resource not found: Table: abc not found");
    fixture_close(&fixture);
}

/* A description has to fit one value of the catalog, whatever a client sends. */
static void test_key_ids_are_bounded(void **state)
{
    (void)state;
    enum { ID_BYTES = 2049, HUGE_BYTES = 2 << 20 };
    struct fixture fixture;
    fixture_open(&fixture, 0);
    char *id = malloc(HUGE_BYTES + 1), *request = malloc(HUGE_BYTES + 512);
    static const size_t lengths[] = {ID_BYTES - 1, ID_BYTES, HUGE_BYTES};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        memset(id, 'k', lengths[i]);
        id[lengths[i]] = 0;
        snprintf(request, HUGE_BYTES + 512, "{\"TableName\":\"abc%zu\"," PK ON_DEMAND ",\"SSESpecification\":{\"Enabled\":true,\"KMSMasterKeyId\":\"%s\"}}", i, id);
        if (lengths[i] < ID_BYTES)
            expect_good(&fixture, "CreateTable", request);
        else
            expect_fault(&fixture, "CreateTable", request, FAULT_VALIDATION, INVALID "KMSMasterKeyId is longer than the maximum of 2048 bytes");
        snprintf(request, HUGE_BYTES + 512, "{\"TableName\":\"abc0\",\"SSESpecification\":{\"Enabled\":true,\"KMSMasterKeyId\":\"%s\"}}", id);
        if (lengths[i] >= ID_BYTES)
            expect_fault(&fixture, "UpdateTable", request, FAULT_VALIDATION, INVALID "KMSMasterKeyId is longer than the maximum of 2048 bytes");
    }
    free(id);
    free(request);
    fixture_close(&fixture);
}

/* As many definitions as a body holds: the first that stands twice is told, and not after minutes. */
static void test_endless_definitions(void **state)
{
    (void)state;
    enum { COUNT = 200000, EACH = 64 };
    struct fixture fixture;
    fixture_open(&fixture, 0);
    char *request = malloc((size_t)COUNT * EACH + 512), *at = request;
    at += sprintf(at, "{\"TableName\":\"abc\"" ON_DEMAND ",\"KeySchema\":[{\"AttributeName\":\"a0\",\"KeyType\":\"HASH\"}],\"AttributeDefinitions\":[");
    char *last = at;
    for (int i = 0; i < COUNT; i++) {
        last = at;
        at += sprintf(at, "%s{\"AttributeName\":\"a%d\",\"AttributeType\":\"S\"}", i ? "," : "", i);
    }
    strcpy(at, "]}");
    expect_fault(&fixture, "CreateTable", request, FAULT_VALIDATION,
        INVALID "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions");
    sprintf(last, ",{\"AttributeName\":\"a77\",\"AttributeType\":\"N\"},{\"AttributeName\":\"a7\",\"AttributeType\":\"S\"}]}");
    expect_fault(&fixture, "CreateTable", request, FAULT_VALIDATION, INVALID "Duplicate AttributeName in AttributeDefinitions: a77");
    free(request);
    fixture_close(&fixture);
}

/* As many indexes as a body holds are refused for their number, not compared in pairs. */
static void test_endless_indexes(void **state)
{
    (void)state;
    enum { COUNT = 100000, EACH = 128 };
    struct fixture fixture;
    fixture_open(&fixture, 0);
    char *request = malloc((size_t)COUNT * EACH + 512), *at = request;
    at += sprintf(at, "{\"TableName\":\"abc\"," PK ON_DEMAND ",\"GlobalSecondaryIndexes\":[");
    for (int i = 0; i < COUNT; i++)
        at += sprintf(at, "%s{\"IndexName\":\"index%d\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],\"Projection\":{\"ProjectionType\":\"ALL\"}}",
            i ? "," : "", i);
    strcpy(at, "]}");
    expect_fault(&fixture, "CreateTable", request, FAULT_VALIDATION, INVALID "GlobalSecondaryIndex count exceeds the per-table limit of 20");
    free(request);
    fixture_close(&fixture);
}

static void test_create_faults(void **state)
{
    (void)state;
    static const struct {
        const char *request, *message;
    } cases[] = {
        {PK, INVALID "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"},
        {PK ON_DEMAND ",\"ProvisionedThroughput\":" UNITS(1, 1),
            INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"},
        {PK ",\"ProvisionedThroughput\":" UNITS(1000000000001, 1000000000001), "Given value 1000000000001 for ReadCapacityUnits is out of bounds"},
        {PK ",\"ProvisionedThroughput\":" UNITS(1, 1000000000001), "Given value 1000000000001 for WriteCapacityUnits is out of bounds"},
        {"\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},"
         "{\"AttributeName\":\"pk\",\"KeyType\":\"RANGE\"}]" ON_DEMAND,
            "Invalid KeySchema: Some index key attribute have no definition"},
        {"\"AttributeDefinitions\":[{\"AttributeName\":\"b\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}]" ON_DEMAND,
            INVALID "Some index key attributes are not defined in AttributeDefinitions. Keys: [a], AttributeDefinitions: [b]"},
#define AB "\"AttributeDefinitions\":[{\"AttributeName\":\"a\",\"AttributeType\":\"S\"},{\"AttributeName\":\"b\",\"AttributeType\":\"N\"}]"
#define KEYS(a, at, b, bt) ",\"KeySchema\":[{\"AttributeName\":\"" a "\",\"KeyType\":\"" at "\"},{\"AttributeName\":\"" b "\",\"KeyType\":\"" bt "\"}]"
        {AB KEYS("a", "HASH", "a", "HASH") ON_DEMAND, "Both the Hash Key and the Range Key element in the KeySchema have the same name"},
        {AB KEYS("a", "RANGE", "b", "RANGE") ON_DEMAND, "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
        {AB KEYS("a", "HASH", "b", "HASH") ON_DEMAND, "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"},
        {AB ",\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}]" ON_DEMAND,
            INVALID "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions"},
        {"\"AttributeDefinitions\":[{\"AttributeName\":\"a\",\"AttributeType\":\"S\"},{\"AttributeName\":\"a\",\"AttributeType\":\"N\"}],"
         "\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}]" ON_DEMAND,
            INVALID "Duplicate AttributeName in AttributeDefinitions: a"},
#define TABLE_AB AB KEYS("a", "HASH", "b", "RANGE") ON_DEMAND
#define TABLE_A AB ",\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}]" ON_DEMAND
#define INDEX(name, keys, projection) "{\"IndexName\":\"" name "\",\"KeySchema\":[" keys "],\"Projection\":" projection "}"
#define H(a) "{\"AttributeName\":\"" a "\",\"KeyType\":\"HASH\"}"
#define R(a) "{\"AttributeName\":\"" a "\",\"KeyType\":\"RANGE\"}"
#define LOCAL(indexes) ",\"LocalSecondaryIndexes\":[" indexes "]"
#define GLOBAL(indexes) ",\"GlobalSecondaryIndexes\":[" indexes "]"
#define ALL "{\"ProjectionType\":\"ALL\"}"
        {TABLE_AB LOCAL(""), INVALID "List of LocalSecondaryIndexes is empty"},
        {TABLE_AB GLOBAL(""), INVALID "List of GlobalSecondaryIndexes is empty"},
        {TABLE_A LOCAL(INDEX("abc", R("c"), "{}")),
            INVALID "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"},
        {TABLE_AB LOCAL(INDEX("abc", H("a"), ALL)), INVALID "Index KeySchema does not have a range key for index: abc"},
        {TABLE_AB LOCAL(INDEX("abc", H("a") "," R("c"), ALL)),
            INVALID "Some index key attributes are not defined in AttributeDefinitions. Keys: [a, c], AttributeDefinitions: [a, b]"},
        {TABLE_AB LOCAL(INDEX("abc", H("b") "," R("a"), ALL)),
            INVALID "Index KeySchema does not have the same leading hash key as table KeySchema for index: abc. index hash key: b, table hash key: a"},
        {TABLE_AB LOCAL(INDEX("abc", H("a") "," R("b"), "{}")), INVALID "Unknown ProjectionType: null"},
        {TABLE_AB LOCAL(INDEX("abc", H("a") "," R("b"), "{\"ProjectionType\":\"ALL\",\"NonKeyAttributes\":[\"x\"]}")),
            INVALID "ProjectionType is ALL, but NonKeyAttributes is specified"},
        {TABLE_AB GLOBAL(INDEX("abc", H("a"), "{\"ProjectionType\":\"INCLUDE\"}")), INVALID "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"},
        {TABLE_AB GLOBAL(INDEX("abc", H("a"), "{\"ProjectionType\":\"INCLUDE\",\"NonKeyAttributes\":[\"x\",\"x\"]}")),
            INVALID "Duplicate value in attribute name: x"},
        {TABLE_AB LOCAL(INDEX("abc", H("a") "," R("b"), ALL)) GLOBAL(INDEX("abc", H("a"), ALL)), INVALID "Duplicate index name: abc"},
        {TABLE_AB GLOBAL("{\"IndexName\":\"abc\",\"KeySchema\":[" H("a") "],\"Projection\":" ALL ",\"ProvisionedThroughput\":" UNITS(1, 1) "}"),
            INVALID "ProvisionedThroughput should not be specified for index: abc when BillingMode is PAY_PER_REQUEST"},
        {TABLE_AB GLOBAL(INDEX("abc", R("a"), ALL)), "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
        {TABLE_AB GLOBAL(INDEX("abc", H("a") "," R("a"), ALL)), "Both the Hash Key and the Range Key element in the KeySchema have the same name"},
        {PK ON_DEMAND ",\"StreamSpecification\":{\"StreamEnabled\":false,\"StreamViewType\":\"NEW_IMAGE\"}",
            INVALID "Table is being created with a stream disabled, UpdateViewType should not be specified"},
        {PK ",\"ProvisionedThroughput\":" UNITS(1, 1) ",\"OnDemandThroughput\":{\"MaxReadRequestUnits\":1}",
            INVALID "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED."},
        {PK ON_DEMAND ",\"OnDemandThroughput\":{\"MaxReadRequestUnits\":0}",
            INVALID "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"},
        {PK ON_DEMAND ",\"WarmThroughput\":{\"ReadUnitsPerSecond\":11999}",
            INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput, decreasing WarmThroughput is not supported"},
        {PK ON_DEMAND ",\"Tags\":[{\"Key\":\"a\",\"Value\":\"#!\"}]", INVALID "Tag value contains invalid characters: #!"},
        {PK ON_DEMAND ",\"ResourcePolicy\":\"[\"", INVALID "Invalid policy document: it is not a JSON object"},
        {PK ON_DEMAND ",\"VectorIndexes\":[]", INVALID "VectorIndexes is not supported by this server"},
    };
    struct fixture fixture;
    fixture_open(&fixture, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char request[2048];
        snprintf(request, sizeof request, "{\"TableName\":\"abc\",%s}", cases[i].request);
        expect_fault(&fixture, "CreateTable", request, FAULT_VALIDATION, cases[i].message);
    }
    expect_good(&fixture, "ListTables", "{}");
    EXPECT_AT("TableNames", "[]");
    expect_good(&fixture, "CreateTable", "{\"TableName\":\"abc\"," PK ON_DEMAND "}");
    expect_fault(&fixture, "CreateTable", "{\"TableName\":\"abc\"," PK ON_DEMAND "}", FAULT_RESOURCE_IN_USE, "Table already exists: abc");
    fixture_close(&fixture);
}

static void test_multiple_keys(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, 0);
#define DEFS(more) "\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}" more "],\"KeySchema\":[" H("pk") "]" ON_DEMAND
#define DEF(a) ",{\"AttributeName\":\"" a "\",\"AttributeType\":\"N\"}"
    expect_good(&fixture, "CreateTable",
        "{\"TableName\":\"abc\"," DEFS(DEF("a") DEF("b") DEF("c") DEF("d") DEF("e") DEF("f") DEF("g") DEF("h"))
        GLOBAL(INDEX("gsi", H("a") "," H("b") "," H("c") "," H("d") "," R("e") "," R("f") "," R("g") "," R("h"), ALL)) "}");
    expect_good(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}");
    EXPECT_AT("Table.GlobalSecondaryIndexes.0.IndexStatus", "ACTIVE");
    EXPECT_AT("Table.GlobalSecondaryIndexes.0.KeySchema.3.AttributeName", "d");
    EXPECT_AT("Table.GlobalSecondaryIndexes.0.KeySchema.7.KeyType", "RANGE");
    EXPECT_AT("Table.GlobalSecondaryIndexes.0.IndexArn", "arn:aws:dynamodb:us-east-1:000000000000:table/abc/index/gsi");
    EXPECT_AT("Table.GlobalSecondaryIndexes.0.Backfilling", "(absent)");
    expect_fault(&fixture, "CreateTable",
        "{\"TableName\":\"abd\"," DEFS(DEF("a") DEF("b") DEF("c") DEF("d") DEF("e")) GLOBAL(INDEX("gsi", H("a") "," H("b") "," H("c") "," H("d") "," H("e"), ALL)) "}",
        FAULT_VALIDATION, "Invalid KeySchema: The number of HASH key elements exceeds the limit of 4");
    expect_fault(&fixture, "CreateTable", "{\"TableName\":\"abd\"," DEFS(DEF("a") DEF("b") DEF("c")) GLOBAL(INDEX("gsi", H("a") "," R("b") "," H("c"), ALL)) "}",
        FAULT_VALIDATION, "Invalid KeySchema: All HASH key elements must precede all RANGE key elements");
    expect_fault(&fixture, "CreateTable", "{\"TableName\":\"abd\"," DEFS(DEF("a") DEF("b")) GLOBAL(INDEX("gsi", H("a") "," H("b") "," R("a"), ALL)) "}",
        FAULT_VALIDATION, "Invalid KeySchema: Some elements of the KeySchema have the same name");
    expect_fault(&fixture, "CreateTable", "{\"TableName\":\"abd\"," DEFS(DEF("a") DEF("b")) GLOBAL(INDEX("gsi", H("a"), ALL)) "}", FAULT_VALIDATION,
        INVALID "Some AttributeDefinitions are not used. AttributeDefinitions: [pk, a, b], keys used: [pk, a]");
    fixture_close(&fixture);
}

static void test_settings_are_shown(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, 0);
    expect_good(&fixture, "CreateTable",
        "{\"TableName\":\"abc\"," PK ON_DEMAND ",\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"NEW_AND_OLD_IMAGES\"},"
        "\"SSESpecification\":{\"Enabled\":true,\"KMSMasterKeyId\":\"alias/mine\"},\"TableClass\":\"STANDARD_INFREQUENT_ACCESS\",\"DeletionProtectionEnabled\":true,"
        "\"OnDemandThroughput\":{\"MaxReadRequestUnits\":7},\"WarmThroughput\":{\"WriteUnitsPerSecond\":5000},\"Tags\":[{\"Key\":\"k\",\"Value\":\"\"}],"
        "\"ResourcePolicy\":\"{}\"}");
    expect_good(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}");
    EXPECT_AT("Table.StreamSpecification", "{\"StreamEnabled\":true,\"StreamViewType\":\"NEW_AND_OLD_IMAGES\"}");
    EXPECT_AT("Table.LatestStreamLabel", "2023-11-14T22:13:20.123");
    EXPECT_AT("Table.LatestStreamArn", "arn:aws:dynamodb:us-east-1:000000000000:table/abc/stream/2023-11-14T22:13:20.123");
    EXPECT_AT("Table.SSEDescription", "{\"Status\":\"ENABLED\",\"SSEType\":\"KMS\",\"KMSMasterKeyArn\":\"arn:aws:kms:us-east-1:000000000000:alias/mine\"}");
    EXPECT_AT("Table.TableClassSummary", "{\"TableClass\":\"STANDARD_INFREQUENT_ACCESS\"}");
    EXPECT_AT("Table.DeletionProtectionEnabled", "true");
    EXPECT_AT("Table.OnDemandThroughput", "{\"MaxReadRequestUnits\":7,\"MaxWriteRequestUnits\":-1}");
    EXPECT_AT("Table.WarmThroughput", "{\"ReadUnitsPerSecond\":12000,\"WriteUnitsPerSecond\":5000,\"Status\":\"ACTIVE\"}");
    expect_fault(&fixture, "DeleteTable", "{\"TableName\":\"abc\"}", FAULT_VALIDATION,
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.");
    expect_good(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"DeletionProtectionEnabled\":false,\"OnDemandThroughput\":{\"MaxReadRequestUnits\":-1,\"MaxWriteRequestUnits\":9},"
                                         "\"TableClass\":\"STANDARD\",\"StreamSpecification\":{\"StreamEnabled\":false},\"SSESpecification\":{\"Enabled\":false}}");
    EXPECT_AT("TableDescription.TableStatus", "UPDATING");
    expect_good(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}");
    EXPECT_AT("Table.TableStatus", "ACTIVE");
    EXPECT_AT("Table.OnDemandThroughput", "{\"MaxReadRequestUnits\":-1,\"MaxWriteRequestUnits\":9}");
    EXPECT_AT("Table.TableClassSummary.TableClass", "STANDARD");
    EXPECT_AT("Table.TableClassSummary.LastUpdateDateTime", "1700000000.123");
    EXPECT_AT("Table.StreamSpecification", "(absent)");
    EXPECT_AT("Table.LatestStreamLabel", "2023-11-14T22:13:20.123");
    EXPECT_AT("Table.SSEDescription", "(absent)");
    expect_fault(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"WarmThroughput\":{\"WriteUnitsPerSecond\":4999}}", FAULT_VALIDATION,
        INVALID "Requested WriteUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput, decreasing WarmThroughput is not supported");
    expect_good(&fixture, "DeleteTable", "{\"TableName\":\"abc\"}");
    fixture_close(&fixture);
}

static void test_update_throughput(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, SECOND_US);
    expect_good(&fixture, "CreateTable", "{\"TableName\":\"abc\"," PK ",\"ProvisionedThroughput\":" UNITS(5, 5) "}");
    expect_fault(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"ProvisionedThroughput\":" UNITS(1, 1) "}", FAULT_RESOURCE_IN_USE,
        "Attempt to change a resource which is still in use: Table is being created: abc");
    expect_fault(&fixture, "DeleteTable", "{\"TableName\":\"abc\"}", FAULT_RESOURCE_IN_USE,
        "Attempt to change a resource which is still in use: Table is being created: abc");
    world_sleep_us(fixture.world, SECOND_US);
    expect_fault(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"GlobalSecondaryIndexUpdates\":[]}", FAULT_VALIDATION,
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required");
    expect_fault(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"BillingMode\":\"PROVISIONED\"}", FAULT_VALIDATION,
        INVALID "ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
    expect_fault(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"BillingMode\":\"PAY_PER_REQUEST\",\"ProvisionedThroughput\":" UNITS(5, 5) "}", FAULT_VALIDATION,
        INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
    expect_fault(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"ProvisionedThroughput\":" UNITS(5, 5) "}", FAULT_VALIDATION,
        "The provisioned throughput for the table will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the table: 5. "
        "Requested ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the table: 5. Requested WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer "
        "Guide for current limits and how to request higher limits.");
    expect_fault(&fixture, "UpdateTable", "{\"TableName\":\"nobody\",\"ProvisionedThroughput\":" UNITS(5, 5) "}", FAULT_RESOURCE_NOT_FOUND,
        "Requested resource not found: Table: nobody not found");
    /* The old units show until the change is over. */
    expect_good(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"ProvisionedThroughput\":" UNITS(20, 15) "}");
    EXPECT_AT("TableDescription.TableStatus", "UPDATING");
    EXPECT_AT("TableDescription.ProvisionedThroughput.ReadCapacityUnits", "5");
    expect_fault(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"ProvisionedThroughput\":" UNITS(30, 15) "}", FAULT_RESOURCE_IN_USE,
        "Attempt to change a resource which is still in use: Table is being updated: abc");
    world_sleep_us(fixture.world, SECOND_US);
    expect_good(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}");
    EXPECT_AT("Table.ProvisionedThroughput.ReadCapacityUnits", "20");
    EXPECT_AT("Table.ProvisionedThroughput.LastDecreaseDateTime", "(absent)");
    assert_string_not_equal(at(&fixture, "Table.ProvisionedThroughput.LastIncreaseDateTime"), "(absent)");
    for (int i = 0; i < 4; i++) {
        char request[256];
        snprintf(request, sizeof request, "{\"TableName\":\"abc\",\"ProvisionedThroughput\":{\"ReadCapacityUnits\":%d,\"WriteCapacityUnits\":15}}", 19 - i);
        expect_good(&fixture, "UpdateTable", request);
        world_sleep_us(fixture.world, SECOND_US);
        expect_good(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}");
        char wanted[8];
        snprintf(wanted, sizeof wanted, "%d", i + 1);
        EXPECT_AT("Table.ProvisionedThroughput.NumberOfDecreasesToday", wanted);
    }
    assert_int_equal(run(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"ProvisionedThroughput\":" UNITS(3, 15) "}"), FAULT_LIMIT_EXCEEDED);
    assert_true(str_begins(fixture.call.message, STR("Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day.")));
    assert_non_null(memmem(fixture.call.message.data, fixture.call.message.len, "Last decrease at Tuesday, November 14, 2023 10:13:", 50));
    expect_good(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"ProvisionedThroughput\":" UNITS(40, 15) "}");
    world_sleep_us(fixture.world, (int64_t)3600 * SECOND_US);
    expect_good(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"ProvisionedThroughput\":" UNITS(3, 15) "}");
    fixture_close(&fixture);
}

static void test_billing_modes(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, 0);
    expect_good(&fixture, "CreateTable", "{\"TableName\":\"abc\"," PK ",\"ProvisionedThroughput\":" UNITS(5, 5) ","
                                         "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"gsi\",\"KeySchema\":[" H("pk") "],\"Projection\":" ALL ",\"ProvisionedThroughput\":" UNITS(2, 3) "}]}");
    expect_good(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"BillingMode\":\"PAY_PER_REQUEST\"}");
    EXPECT_AT("TableDescription.BillingModeSummary", "{\"BillingMode\":\"PAY_PER_REQUEST\"}");
    EXPECT_AT("TableDescription.GlobalSecondaryIndexes.0.IndexStatus", "UPDATING");
    expect_good(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"BillingMode\":\"PAY_PER_REQUEST\"}");
    expect_good(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}");
    EXPECT_AT("Table.GlobalSecondaryIndexes.0.ProvisionedThroughput.ReadCapacityUnits", "0");
    expect_fault(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"ProvisionedThroughput\":" UNITS(5, 5) "}", FAULT_VALIDATION,
        INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
    expect_fault(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"BillingMode\":\"PROVISIONED\",\"ProvisionedThroughput\":" UNITS(5, 5) "}", FAULT_VALIDATION,
        INVALID "ProvisionedThroughput must be specified for index: gsi");
    expect_good(&fixture, "UpdateTable", "{\"TableName\":\"abc\",\"BillingMode\":\"PROVISIONED\",\"ProvisionedThroughput\":" UNITS(5, 5) ","
                                         "\"GlobalSecondaryIndexUpdates\":[{\"Update\":{\"IndexName\":\"gsi\",\"ProvisionedThroughput\":" UNITS(1, 1) "}}]}");
    expect_good(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}");
    EXPECT_AT("Table.BillingModeSummary.BillingMode", "PROVISIONED");
    EXPECT_AT("Table.ProvisionedThroughput.ReadCapacityUnits", "5");
    EXPECT_AT("Table.GlobalSecondaryIndexes.0.ProvisionedThroughput.WriteCapacityUnits", "1");
    fixture_close(&fixture);
}

#define UPDATES(entries) "{\"TableName\":\"abc\",\"GlobalSecondaryIndexUpdates\":[" entries "]}"
#define UPDATES_WITH(definition, entries) "{\"TableName\":\"abc\",\"AttributeDefinitions\":[" definition "],\"GlobalSecondaryIndexUpdates\":[" entries "]}"
#define CREATE(name, key) "{\"Create\":{\"IndexName\":\"" name "\",\"KeySchema\":[" H(key) "],\"Projection\":" ALL "}}"
#define DELETE(name) "{\"Delete\":{\"IndexName\":\"" name "\"}}"
#define DEFINE(a, type) "{\"AttributeName\":\"" a "\",\"AttributeType\":\"" type "\"}"

static void test_update_indexes(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, SECOND_US);
    expect_good(&fixture, "CreateTable", "{\"TableName\":\"abc\"," PK ON_DEMAND "}");
    world_sleep_us(fixture.world, SECOND_US);
    expect_fault(&fixture, "UpdateTable", UPDATES("{}"), FAULT_VALIDATION,
        INVALID "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null");
    expect_fault(&fixture, "UpdateTable", UPDATES(DELETE("abc") "," DELETE("abc")), FAULT_VALIDATION,
        INVALID "Only one global secondary index update per index is allowed simultaneously. Index: abc");
    expect_fault(&fixture, "UpdateTable", UPDATES(DELETE("one") "," DELETE("two")), FAULT_LIMIT_EXCEEDED,
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table");
    expect_fault(&fixture, "UpdateTable", UPDATES(CREATE("gsi", "x")), FAULT_VALIDATION,
        INVALID "Some index key attributes are not defined in AttributeDefinitions. Keys: [x], AttributeDefinitions: []");
    expect_fault(&fixture, "UpdateTable", UPDATES(DELETE("gsi")), FAULT_RESOURCE_NOT_FOUND, "Requested resource not found: Table: abc Index: gsi not found");
    expect_fault(&fixture, "UpdateTable", UPDATES("{\"Update\":{\"IndexName\":\"gsi\",\"ProvisionedThroughput\":" UNITS(1, 1) "}}"), FAULT_VALIDATION,
        "This operation cannot be performed with given input values. Please contact DynamoDB service team for more info: Action Blocked: IndexUpdate");
    /* Resources first, then backfilling, then ACTIVE. A definition that nothing uses is dropped in silence. */
    expect_good(&fixture, "UpdateTable", UPDATES_WITH(DEFINE("x", "S") "," DEFINE("unused", "S"), CREATE("gsi", "x")));
    EXPECT_AT("TableDescription.TableStatus", "UPDATING");
    EXPECT_AT("TableDescription.GlobalSecondaryIndexes.0.IndexStatus", "CREATING");
    EXPECT_AT("TableDescription.GlobalSecondaryIndexes.0.Backfilling", "false");
    EXPECT_AT("TableDescription.AttributeDefinitions.2", "(absent)");
    world_sleep_us(fixture.world, SECOND_US / 2 + 1000);
    expect_good(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}");
    EXPECT_AT("Table.GlobalSecondaryIndexes.0.Backfilling", "true");
    world_sleep_us(fixture.world, SECOND_US / 2);
    expect_good(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}");
    EXPECT_AT("Table.TableStatus", "ACTIVE");
    EXPECT_AT("Table.GlobalSecondaryIndexes.0.IndexStatus", "ACTIVE");
    EXPECT_AT("Table.GlobalSecondaryIndexes.0.Backfilling", "(absent)");
    expect_fault(&fixture, "UpdateTable", UPDATES_WITH(DEFINE("x", "S"), CREATE("gsi", "x")), FAULT_VALIDATION, INVALID "Index already exists: gsi");
    expect_fault(&fixture, "UpdateTable", UPDATES_WITH(DEFINE("x", "N"), CREATE("gsi2", "x")), FAULT_VALIDATION,
        INVALID "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. Existing schema: Schema:[SchemaElement: "
                "key{x:S:HASH}] New schema: Schema:[SchemaElement: key{x:N:HASH}]");
    expect_good(&fixture, "UpdateTable", UPDATES(DELETE("gsi")));
    EXPECT_AT("TableDescription.GlobalSecondaryIndexes.0.IndexStatus", "DELETING");
    world_sleep_us(fixture.world, SECOND_US);
    expect_good(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}");
    EXPECT_AT("Table.GlobalSecondaryIndexes", "(absent)");
    EXPECT_AT("Table.AttributeDefinitions.1", "(absent)");
    fixture_close(&fixture);
}

static void test_list_tables(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, 0);
    const char *names[] = {"ccc", "aaa", "bbb"};
    for (int i = 0; i < 3; i++) {
        char request[256];
        snprintf(request, sizeof request, "{\"TableName\":\"%s\"," PK ON_DEMAND "}", names[i]);
        expect_good(&fixture, "CreateTable", request);
    }
    expect_good(&fixture, "ListTables", "{}");
    EXPECT_AT("TableNames", "[\"aaa\",\"bbb\",\"ccc\"]");
    EXPECT_AT("LastEvaluatedTableName", "(absent)");
    expect_good(&fixture, "ListTables", "{\"Limit\":2}");
    EXPECT_AT("LastEvaluatedTableName", "bbb");
    expect_good(&fixture, "ListTables", "{\"Limit\":1,\"ExclusiveStartTableName\":\"bbb\"}");
    EXPECT_AT("TableNames", "[\"ccc\"]");
    EXPECT_AT("LastEvaluatedTableName", "(absent)");
    expect_good(&fixture, "ListTables", "{\"ExclusiveStartTableName\":\"bba\"}");
    EXPECT_AT("TableNames", "[\"bbb\",\"ccc\"]");
    fixture_close(&fixture);
}

#define ARN "arn:aws:dynamodb:us-east-1:000000000000:table/abc"

static void test_tags(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, 0);
    expect_good(&fixture, "CreateTable", "{\"TableName\":\"abc\"," PK ON_DEMAND ",\"Tags\":[{\"Key\":\"a\",\"Value\":\"1\"}]}");
    expect_good(&fixture, "TagResource", "{\"ResourceArn\":\"" ARN "\",\"Tags\":[{\"Key\":\"b\",\"Value\":\"\"},{\"Key\":\"a\",\"Value\":\"2\"}]}");
    assert_int_equal(fixture.answer.len, 0);
    expect_good(&fixture, "ListTagsOfResource", "{\"ResourceArn\":\"" ARN "\"}");
    EXPECT_AT("Tags", "[{\"Key\":\"a\",\"Value\":\"2\"},{\"Key\":\"b\",\"Value\":\"\"}]");
    expect_good(&fixture, "UntagResource", "{\"ResourceArn\":\"" ARN "\",\"TagKeys\":[\"a\",\"absent\"]}");
    expect_good(&fixture, "ListTagsOfResource", "{\"ResourceArn\":\"" ARN "\"}");
    EXPECT_AT("Tags", "[{\"Key\":\"b\",\"Value\":\"\"}]");
    expect_fault(&fixture, "TagResource", "{}", FAULT_VALIDATION, "Invalid TableArn");
    expect_fault(&fixture, "TagResource", "{\"ResourceArn\":\"x\"}", FAULT_VALIDATION, "ARNs must start with 'arn:': x");
    expect_fault(&fixture, "TagResource", "{\"ResourceArn\":\"" ARN "\"}", FAULT_VALIDATION,
        "1 validation error detected: Value null at 'tags' failed to satisfy constraint: Member must not be null");
    expect_fault(&fixture, "TagResource", "{\"ResourceArn\":\"" ARN "\",\"Tags\":[]}", FAULT_VALIDATION, "Atleast one Tag needs to be provided as Input.");
    expect_fault(&fixture, "UntagResource", "{\"ResourceArn\":\"" ARN "\",\"TagKeys\":[]}", FAULT_VALIDATION, "Atleast one Tag Key needs to be provided as Input.");
    expect_fault(&fixture, "ListTagsOfResource", "{\"ResourceArn\":\"" ARN "/index/i\"}", FAULT_VALIDATION,
        "Invalid TableArn: Invalid ResourceArn provided as input " ARN "/index/i");
    expect_fault(&fixture, "TagResource", "{\"ResourceArn\":\"" ARN "x\",\"Tags\":[{\"Key\":\"b\",\"Value\":\"\"}]}", FAULT_RESOURCE_NOT_FOUND,
        "Requested resource not found: ResourcArn: " ARN "x not found");
    assert_int_equal(run(&fixture, "ListTagsOfResource", "{\"ResourceArn\":\"" ARN "x\"}"), FAULT_ACCESS_DENIED);
    char request[8192];
    int length = snprintf(request, sizeof request, "{\"ResourceArn\":\"" ARN "\",\"Tags\":[");
    for (int i = 0; i < 50; i++)
        length += snprintf(request + length, sizeof request - (size_t)length, "%s{\"Key\":\"k%d\",\"Value\":\"v\"}", i ? "," : "", i);
    snprintf(request + length, sizeof request - (size_t)length, "]}");
    expect_fault(&fixture, "TagResource", request, FAULT_VALIDATION, INVALID "Too many tags: tag limit is 50");
    expect_good(&fixture, "ListTagsOfResource", "{\"ResourceArn\":\"" ARN "\"}");
    EXPECT_AT("Tags.1", "(absent)");
    fixture_close(&fixture);
}

static void test_counts_and_fresh_rows(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, 0);
    for (int round = 0; round < 3; round++) {
        expect_good(&fixture, "CreateTable", "{\"TableName\":\"abc\"," PK ON_DEMAND "}");
        expect_good(&fixture, "GetItem", "{\"TableName\":\"abc\",\"Key\":{\"pk\":{\"S\":\"1\"}}}");
        EXPECT_AT("Item", "(absent)");
        expect_good(&fixture, "PutItem", "{\"TableName\":\"abc\",\"Item\":{\"pk\":{\"S\":\"1\"},\"n\":{\"S\":\"xyz\"}}}");
        expect_good(&fixture, "DescribeTable", "{\"TableName\":\"abc\"}");
        EXPECT_AT("Table.ItemCount", "1");
        EXPECT_AT("Table.TableSizeBytes", "7");
        expect_good(&fixture, "DeleteTable", "{\"TableName\":\"abc\"}");
        EXPECT_AT("TableDescription.ItemCount", "1");
    }
    /* The worker drops the old rows and takes them off its list. */
    struct uuid range;
    for (int i = 0; i < 100 && table_condemned_next(fixture.service.catalog, &range); i++)
        world_sleep_us(fixture.world, SECOND_US / 10);
    assert_false(table_condemned_next(fixture.service.catalog, &range));
    fixture_close(&fixture);
}

/* Callers that tag one table at the same time: every tag is there in the end, and table changes only meet the documented fault. */
struct tagger {
    struct fixture *fixture;
    int number;
};

static enum fault run_apart(struct fixture *fixture, const char *operation, const char *request)
{
    struct call call;
    struct json json;
    struct buf answer;
    call_open(&call, fixture->world, NULL);
    buf_open(&answer, &call.arena, 0);
    assert_true(json_parse(&call.arena, str_of_text(request), &json));
    enum fault fault = op_find(str_of_text(operation), NULL)->run(&fixture->context, &call, &json, &answer);
    call_close(&call);
    return fault;
}

static void tag_many(void *argument)
{
    struct tagger *tagger = argument;
    for (int i = 0; i < 10; i++) {
        char request[256];
        snprintf(request, sizeof request, "{\"ResourceArn\":\"" ARN "\",\"Tags\":[{\"Key\":\"k%d.%d\",\"Value\":\"v\"}]}", tagger->number, i);
        assert_int_equal(run_apart(tagger->fixture, "TagResource", request), FAULT_NONE);
        snprintf(request, sizeof request, "{\"TableName\":\"abc\",\"DeletionProtectionEnabled\":%s}", i % 2 ? "true" : "false");
        enum fault fault = run_apart(tagger->fixture, "UpdateTable", request);
        assert_true(fault == FAULT_NONE || fault == FAULT_RESOURCE_IN_USE);
    }
}

static void test_tags_of_many(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, 0);
    expect_good(&fixture, "CreateTable", "{\"TableName\":\"abc\"," PK ON_DEMAND "}");
    struct tagger taggers[4];
    struct world_thread *threads[4];
    for (int i = 0; i < 4; i++) {
        taggers[i] = (struct tagger){&fixture, i};
        threads[i] = world_thread_start(fixture.world, "tagger", tag_many, &taggers[i]);
    }
    for (int i = 0; i < 4; i++)
        world_thread_join(fixture.world, threads[i]);
    expect_good(&fixture, "ListTagsOfResource", "{\"ResourceArn\":\"" ARN "\"}");
    assert_string_not_equal(at(&fixture, "Tags.39"), "(absent)");
    EXPECT_AT("Tags.40", "(absent)");
    fixture_close(&fixture);
}

static void test_small_operations(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, 0);
    expect_good(&fixture, "CreateTable", "{\"TableName\":\"abc\"," PK ON_DEMAND "}");
    expect_good(&fixture, "DescribeLimits", "{}");
    EXPECT_AT("TableMaxReadCapacityUnits", "40000");
    expect_good(&fixture, "DescribeEndpoints", "{}");
    EXPECT_AT("Endpoints.0.Address", "localhost:8000");
    expect_good(&fixture, "DescribeTimeToLive", "{\"TableName\":\"abc\"}");
    EXPECT_AT("TimeToLiveDescription.TimeToLiveStatus", "DISABLED");
    expect_good(&fixture, "DescribeContinuousBackups", "{\"TableName\":\"abc\"}");
    EXPECT_AT("ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus", "DISABLED");
    expect_fault(&fixture, "DescribeContinuousBackups", "{\"TableName\":\"nobody\"}", FAULT_TABLE_NOT_FOUND, "Table not found: nobody");
    size_t count, index;
    const struct op *all = op_all(&count);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(op_find(str_of_text(all[i].name), &index), &all[i]);
        assert_int_equal(index, i);
        assert_non_null(wire_input_shape(str_of_text(all[i].name)));
    }
    assert_null(op_find(STR("Nonsense"), NULL));
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_provisioned_description),
        cmocka_unit_test(test_on_demand_and_delete_description),
        cmocka_unit_test(test_key_ids_are_bounded),
        cmocka_unit_test(test_endless_definitions),
        cmocka_unit_test(test_endless_indexes),
        cmocka_unit_test(test_create_faults),
        cmocka_unit_test(test_multiple_keys),
        cmocka_unit_test(test_settings_are_shown),
        cmocka_unit_test(test_update_throughput),
        cmocka_unit_test(test_billing_modes),
        cmocka_unit_test(test_update_indexes),
        cmocka_unit_test(test_list_tables),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_counts_and_fresh_rows),
        cmocka_unit_test(test_tags_of_many),
        cmocka_unit_test(test_small_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
