/* Tests of global indexes as operations see them: made online over items that fit and items that do not, one at a time, counted, deleted. */
#include "op/op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#undef fail /* cmocka has one, too */

struct fixture {
    struct world *world;
    struct store *store;
    struct op_service service;
    struct op_context context;
    struct call call;
    struct json json;
    struct buf answer;
};

static void chore_begin(struct fixture *f)
{
    f->service.chore = chore_start(f->world, f->service.catalog, f->service.part, NULL);
}

static void fixture_open(struct fixture *f)
{
    *f = (struct fixture){0};
    struct world_sim_options sim = {.seed = 3, .wall_start_us = 1700000000123456};
    struct store_mem_options mem = {0};
    char problem[256] = "";
    f->world = world_sim_new(&sim);
    f->store = store_mem_new(f->world, &mem);
    struct part_options part = {.store = f->store, .world = f->world};
    struct table_catalog_options catalog = {.store = f->store, .world = f->world};
    f->service = (struct op_service){.world = f->world, .part = part_open(&part), .catalog = table_catalog_open(&catalog, problem, sizeof problem)};
    assert_string_equal(problem, "");
    f->context = (struct op_context){&f->service, STR("000000000000"), STR("us-east-1"), STR("localhost:8000")};
    call_open(&f->call, f->world, NULL);
}

static void fixture_close(struct fixture *f)
{
    call_close(&f->call);
    chore_stop(f->service.chore);
    part_close(f->service.part);
    table_catalog_close(f->service.catalog);
    store_close(f->store);
    world_free(f->world);
}

static enum fault run(struct fixture *f, const char *operation, const char *request)
{
    call_close(&f->call);
    call_open(&f->call, f->world, NULL);
    struct call *call = &f->call;
    struct json json;
    assert_true(json_parse(&call->arena, str_of_text(request), &json));
    enum fault fault = wire_check(call, wire_input_shape(str_of_text(operation)), &json);
    buf_open(&f->answer, &call->arena, 0);
    if (fault == FAULT_NONE)
        fault = op_find(str_of_text(operation), NULL)->run(&f->context, call, &json, &f->answer);
    while (durable_wait_is_pending(&call->durable))
        world_sleep_us(f->world, 100);
    if (fault == FAULT_NONE)
        assert_true(json_parse(&call->arena, buf_str(&f->answer), &f->json));
    return fault;
}

static void expect_good(struct fixture *f, const char *operation, const char *request)
{
    if (run(f, operation, request) != FAULT_NONE)
        print_error("%s %s\n %.*s\n", operation, request, STR_ARG(f->call.message));
    assert_int_equal(f->call.fault, FAULT_NONE);
}

static void expect_fault(struct fixture *f, const char *operation, const char *request, enum fault fault, const char *message)
{
    char text[1024];
    assert_int_equal(run(f, operation, request), fault);
    snprintf(text, sizeof text, "%.*s", STR_ARG(f->call.message));
    assert_string_equal(text, message);
}

/* What DescribeTable says of the table's first global index, or of the table. */
static void expect_described(struct fixture *f, bool is_index, const char *member, const char *wanted)
{
    char text[256] = "(absent)";
    expect_good(f, "DescribeTable", "{\"TableName\":\"tab\"}");
    uint32_t at = json_member(&f->json, 0, STR("Table"));
    if (is_index) {
        uint32_t list = json_member(&f->json, at, STR("GlobalSecondaryIndexes"));
        at = list == JSON_ABSENT ? JSON_ABSENT : json_first(&f->json, list);
    }
    uint32_t token = at == JSON_ABSENT ? JSON_ABSENT : json_member(&f->json, at, str_of_text(member));
    if (token != JSON_ABSENT)
        snprintf(text, sizeof text, "%.*s", STR_ARG(json_raw(&f->json, token)));
    assert_string_equal(text, wanted);
}

#define PK "{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}"
#define TABLE "\"TableName\":\"tab\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],\"BillingMode\":\"PAY_PER_REQUEST\""
#define INDEX(name) "{\"IndexName\":\"" name "\",\"KeySchema\":[{\"AttributeName\":\"n\",\"KeyType\":\"HASH\"}],\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}"
#define N "{\"AttributeName\":\"n\",\"AttributeType\":\"N\"}"
#define CREATE(name) "{\"TableName\":\"tab\",\"AttributeDefinitions\":[" N "],\"GlobalSecondaryIndexUpdates\":[{\"Create\":" INDEX(name) "}]}"
#define DELETE(name) "{\"TableName\":\"tab\",\"GlobalSecondaryIndexUpdates\":[{\"Delete\":{\"IndexName\":\"" name "\"}}]}"
#define PUT(key, more) "{\"TableName\":\"tab\",\"Item\":{\"pk\":{\"S\":\"" key "\"}" more "}}"

static void settle(struct fixture *f)
{
    assert_true(chore_settle(f->service.chore, 60000000));
}

static void an_index_is_made_online(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    expect_good(&f, "CreateTable", "{" TABLE ",\"AttributeDefinitions\":[" PK "]}");
    expect_good(&f, "PutItem", PUT("fits", ",\"n\":{\"N\":\"1\"},\"x\":{\"S\":\"not projected\"}"));
    expect_good(&f, "PutItem", PUT("of another type", ",\"n\":{\"S\":\"1\"}"));
    expect_good(&f, "PutItem", PUT("sparse", ""));
    /* Nobody makes it yet. */
    expect_good(&f, "UpdateTable", CREATE("one"));
    expect_described(&f, false, "TableStatus", "ACTIVE");
    expect_described(&f, true, "IndexStatus", "CREATING");
    expect_described(&f, true, "Backfilling", "false");
    expect_fault(&f, "PutItem", PUT("late", ",\"n\":{\"S\":\"1\"}"), FAULT_VALIDATION,
        "One or more parameter values were invalid: Type mismatch for Index Key n Expected: N Actual: S IndexName: one");
    expect_good(&f, "PutItem", PUT("meanwhile", ",\"n\":{\"N\":\"2\"}"));
    expect_fault(&f, "UpdateTable", CREATE("two"), FAULT_LIMIT_EXCEEDED,
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table");
    expect_fault(&f, "DeleteTable", "{\"TableName\":\"tab\"}", FAULT_RESOURCE_IN_USE,
        "Attempt to change a resource which is still in use: Table is being updated: tab");
    chore_begin(&f);
    settle(&f);
    expect_described(&f, true, "IndexStatus", "ACTIVE");
    expect_described(&f, true, "Backfilling", "(absent)");
    expect_described(&f, true, "ItemCount", "2");
    /* pk, its value, n, its number: of "fits" and of "meanwhile". */
    expect_described(&f, true, "IndexSizeBytes", "23");
    expect_good(&f, "PutItem", PUT("sparse", ",\"n\":{\"N\":\"3\"}"));
    expect_good(&f, "DeleteItem", "{\"TableName\":\"tab\",\"Key\":{\"pk\":{\"S\":\"meanwhile\"}}}");
    expect_good(&f, "PutItem", PUT("of another type", ",\"n\":{\"N\":\"4\"}"));
    settle(&f);
    expect_described(&f, true, "ItemCount", "3");
    expect_good(&f, "DeleteTable", "{\"TableName\":\"tab\"}");
    fixture_close(&f);
}

static void an_index_is_deleted_while_it_is_made(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    expect_good(&f, "CreateTable", "{" TABLE ",\"AttributeDefinitions\":[" PK "]}");
    expect_good(&f, "PutItem", PUT("fits", ",\"n\":{\"N\":\"1\"}"));
    expect_good(&f, "UpdateTable", CREATE("one"));
    expect_good(&f, "UpdateTable", DELETE("one"));
    expect_described(&f, true, "IndexStatus", "(absent)");
    expect_good(&f, "UpdateTable", CREATE("one"));
    chore_begin(&f);
    settle(&f);
    expect_described(&f, true, "IndexStatus", "ACTIVE");
    expect_described(&f, true, "ItemCount", "1");
    expect_good(&f, "UpdateTable", DELETE("one"));
    settle(&f);
    expect_described(&f, true, "IndexStatus", "(absent)");
    fixture_close(&f);
}

/* A server of before indexes had ranges made this table's: it is made whole now. */
static void an_index_without_a_range_is_made_whole(void **state)
{
    (void)state;
    struct fixture f;
    const struct table *table, *made;
    fixture_open(&f);
    expect_good(&f, "CreateTable", "{" TABLE ",\"AttributeDefinitions\":[" PK "," N "],\"GlobalSecondaryIndexes\":[" INDEX("one") "]}");
    assert_int_equal(table_acquire_any(&f.call, f.service.catalog, STR("000000000000"), STR("us-east-1"), STR("tab"), &table), FAULT_NONE);
    struct table *draft = table_draft_new(table);
    struct table_index *index = ARENA_NEW(&draft->arena, struct table_index);
    *index = draft->indexes[0];
    index->range_count = 0;
    draft->indexes = index;
    draft->logs_for_indexes = false;
    table_release(table);
    assert_int_equal(table_replace(&f.call, f.service.catalog, draft, &made), FAULT_NONE);
    table_release(made);
    expect_good(&f, "PutItem", PUT("a", ",\"n\":{\"N\":\"1\"}"));
    chore_begin(&f);
    settle(&f);
    expect_described(&f, true, "IndexStatus", "ACTIVE");
    expect_described(&f, true, "ItemCount", "1");
    fixture_close(&f);
}

/* The process dies between a table's making and the start of its log: the table is CREATING until the next one has started it. */
static void a_new_table_waits_for_its_log(void **state)
{
    (void)state;
    struct fixture f;
    const struct table *made, *table;
    fixture_open(&f);
    struct table *draft = table_draft_new(NULL);
    struct table_index *index = ARENA_NEW(&draft->arena, struct table_index);
    *index = (struct table_index){.name = STR("one"), .partition_count = 1, .partition = {{{"n", 1}, VALUE_N}}, .stage = INDEX_PLANNED};
    draft->account = STR("000000000000");
    draft->region = STR("us-east-1");
    draft->name = STR("tab");
    draft->keys.partition = (struct key_attribute){STR("pk"), VALUE_S};
    draft->indexes = index;
    draft->index_count = 1;
    assert_int_equal(table_create(&f.call, f.service.catalog, draft, &made), FAULT_NONE);
    table_release(made);
    world_sleep_us(f.world, 1000000);
    f.call.now_us = world_wall_us(f.world);
    assert_int_equal(table_acquire(&f.call, f.service.catalog, STR("000000000000"), STR("us-east-1"), STR("tab"), &table), FAULT_RESOURCE_NOT_FOUND);
    chore_begin(&f);
    settle(&f);
    expect_described(&f, false, "TableStatus", "ACTIVE");
    expect_described(&f, true, "IndexStatus", "ACTIVE");
    expect_good(&f, "PutItem", PUT("a", ",\"n\":{\"N\":\"1\"}"));
    settle(&f);
    expect_described(&f, true, "ItemCount", "1");
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_made_online),
        cmocka_unit_test(an_index_is_deleted_while_it_is_made),
        cmocka_unit_test(an_index_without_a_range_is_made_whole),
        cmocka_unit_test(a_new_table_waits_for_its_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
