/* Tests of the catalog: its life on every engine, crashes at every change, races, and the golden record of each format version. */
#include "table/table_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { DAY_US_TEST = 1000000 };

#define ACCOUNT STR("000000000000")
#define REGION STR("us-east-1")

struct fixture {
    struct world *world;
    struct store *store;
    struct table_catalog *catalog;
    int64_t status_us;
};

static void catalog_reopen(struct fixture *fixture)
{
    char problem[256] = "";
    struct table_catalog_options options = {.store = fixture->store, .world = fixture->world, .status_us = fixture->status_us};
    fixture->catalog = table_catalog_open(&options, problem, sizeof problem);
    assert_string_equal(problem, "");
    assert_non_null(fixture->catalog);
}

static void fixture_open(struct fixture *fixture, enum store_manners manners, int64_t status_us)
{
    *fixture = (struct fixture){.status_us = status_us};
    fixture->world = world_real_new();
    struct store_mem_options options = {.manners = manners};
    fixture->store = store_mem_new(fixture->world, &options);
    catalog_reopen(fixture);
}

static void fixture_close(struct fixture *fixture)
{
    table_catalog_close(fixture->catalog);
    store_close(fixture->store);
    world_free(fixture->world);
}

static struct table *draft_of(const char *name)
{
    struct table *draft = table_draft_new(NULL);
    draft_set_identity(draft, ACCOUNT, REGION, str_of_text(name));
    draft->keys.partition = (struct key_attribute){arena_copy(&draft->arena, STR("pk")), VALUE_S};
    struct key_attribute *definition = ARENA_NEW(&draft->arena, struct key_attribute);
    *definition = draft->keys.partition;
    draft->definitions = definition;
    draft->definition_count = 1;
    return draft;
}

static enum fault create(struct fixture *fixture, const char *name, struct uuid *id)
{
    struct call call;
    call_open(&call, fixture->world, NULL);
    const struct table *made;
    enum fault fault = table_create(&call, fixture->catalog, draft_of(name), &made);
    if (fault == FAULT_NONE) {
        assert_int_equal(made->status, TABLE_CREATING);
        assert_int_equal(made->range_count, 1);
        if (id)
            *id = made->ranges[0].id;
        table_release(made);
    }
    call_close(&call);
    return fault;
}

static enum fault find(struct fixture *fixture, const char *name, bool any, const struct table **table, char *message)
{
    struct call call;
    call_open(&call, fixture->world, NULL);
    enum fault fault = any ? table_acquire_any(&call, fixture->catalog, ACCOUNT, REGION, str_of_text(name), table)
                           : table_acquire(&call, fixture->catalog, ACCOUNT, REGION, str_of_text(name), table);
    if (message)
        snprintf(message, 256, "%.*s", STR_ARG(call.message));
    call_close(&call);
    return fault;
}

static bool exists(struct fixture *fixture, const char *name)
{
    const struct table *table;
    if (find(fixture, name, true, &table, NULL) != FAULT_NONE)
        return false;
    table_release(table);
    return true;
}

static enum fault drop(struct fixture *fixture, const char *name)
{
    const struct table *table;
    if (find(fixture, name, true, &table, NULL) != FAULT_NONE)
        return FAULT_RESOURCE_NOT_FOUND;
    struct call call;
    call_open(&call, fixture->world, NULL);
    enum fault fault = table_delete(&call, fixture->catalog, table);
    call_close(&call);
    table_release(table);
    return fault;
}

static void check_life(struct fixture *fixture)
{
    char message[256];
    const struct table *table;
    struct uuid first, second, condemned;
    assert_int_equal(find(fixture, "abc", false, &table, message), FAULT_RESOURCE_NOT_FOUND);
    assert_string_equal(message, "Requested resource not found");
    assert_int_equal(find(fixture, "abc", true, &table, message), FAULT_RESOURCE_NOT_FOUND);
    assert_string_equal(message, "Requested resource not found: Table: abc not found");
    assert_int_equal(create(fixture, "abc", &first), FAULT_NONE);
    assert_int_equal(create(fixture, "abc", NULL), FAULT_RESOURCE_IN_USE);
    assert_int_equal(find(fixture, "abc", false, &table, NULL), FAULT_NONE);
    assert_int_equal(table->status, TABLE_ACTIVE);
    assert_true(str_equal(table->arn, STR("arn:aws:dynamodb:us-east-1:000000000000:table/abc")));
    assert_true(uuid_equal(table->ranges[0].id, first));
    table_release(table);

    catalog_reopen((table_catalog_close(fixture->catalog), fixture));
    assert_int_equal(find(fixture, "arn:aws:dynamodb:us-east-1:000000000000:table/abc", false, &table, NULL), FAULT_NONE);
    assert_true(uuid_equal(table->ranges[0].id, first));
    assert_false(table_condemned_next(fixture->catalog, &condemned));

    /* A snapshot outlives its table; the name is free at once, and the rows' range is condemned over a restart. */
    assert_int_equal(drop(fixture, "abc"), FAULT_NONE);
    assert_true(str_equal(table->name, STR("abc")));
    table_release(table);
    assert_false(exists(fixture, "abc"));
    assert_int_equal(create(fixture, "abc", &second), FAULT_NONE);
    assert_false(uuid_equal(first, second));
    catalog_reopen((table_catalog_close(fixture->catalog), fixture));
    assert_true(table_condemned_next(fixture->catalog, &condemned));
    assert_true(uuid_equal(condemned, first));
    assert_true(table_condemned_next(fixture->catalog, &condemned));
    struct call call;
    call_open(&call, fixture->world, NULL);
    assert_int_equal(table_condemned_done(&call, fixture->catalog, first), FAULT_NONE);
    call_close(&call);
    assert_false(table_condemned_next(fixture->catalog, &condemned));
    catalog_reopen((table_catalog_close(fixture->catalog), fixture));
    assert_false(table_condemned_next(fixture->catalog, &condemned));
    assert_true(exists(fixture, "abc"));
}

static void test_life(void **state)
{
    (void)state;
    for (int manners = STORE_MANNERS_PLAIN; manners <= STORE_MANNERS_RADOS; manners++) {
        struct fixture fixture;
        fixture_open(&fixture, (enum store_manners)manners, 0);
        check_life(&fixture);
        fixture_close(&fixture);
    }
}

static void test_life_on_rocks(void **state)
{
    (void)state;
    char path[] = "/tmp/stator-table-test-XXXXXX", problem[256] = "";
    assert_non_null(mkdtemp(path));
    struct fixture fixture = {.world = world_real_new()};
    struct store_rocks_options options = {.path = path, .cache_bytes = 4 << 20};
    fixture.store = store_rocks_open(fixture.world, &options, problem, sizeof problem);
    assert_string_equal(problem, "");
    catalog_reopen(&fixture);
    check_life(&fixture);
    table_catalog_close(fixture.catalog);
    store_close(fixture.store);
    /* And from another process's point of view: the database opened again. */
    fixture.store = store_rocks_open(fixture.world, &options, problem, sizeof problem);
    assert_string_equal(problem, "");
    catalog_reopen(&fixture);
    assert_true(exists(&fixture, "abc"));
    fixture_close(&fixture);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", path);
    assert_int_equal(system(command), 0);
}

static void test_status(void **state)
{
    (void)state;
    struct world_sim_options sim = {.seed = 7, .wall_start_us = 1000000};
    struct fixture fixture = {.world = world_sim_new(&sim), .status_us = DAY_US_TEST};
    struct store_mem_options options = {0};
    fixture.store = store_mem_new(fixture.world, &options);
    catalog_reopen(&fixture);
    const struct table *table, *made;
    assert_int_equal(create(&fixture, "abc", NULL), FAULT_NONE);
    /* Until its time is over the data plane does not see it. */
    assert_int_equal(find(&fixture, "abc", false, &table, NULL), FAULT_RESOURCE_NOT_FOUND);
    assert_int_equal(find(&fixture, "abc", true, &table, NULL), FAULT_NONE);
    assert_int_equal(table->status, TABLE_CREATING);
    table_release(table);
    world_sleep_us(fixture.world, DAY_US_TEST);
    assert_int_equal(find(&fixture, "abc", false, &table, NULL), FAULT_NONE);
    assert_int_equal(table->status, TABLE_ACTIVE);

    /* An index that is to go, and units that change, are settled when UPDATING is over, also over a restart. */
    struct call call;
    call_open(&call, fixture.world, NULL);
    struct table *draft = table_draft_new(table);
    table_release(table);
    struct table_index *indexes = ARENA_NEW_ARRAY(&draft->arena, struct table_index, 2);
    for (int i = 0; i < 2; i++) {
        indexes[i].name = arena_copy(&draft->arena, i ? STR("new") : STR("old"));
        indexes[i].partition[0] = draft->keys.partition;
        indexes[i].partition_count = 1;
        indexes[i].status = i ? TABLE_CREATING : TABLE_DELETING;
        indexes[i].is_backfilling = i;
    }
    draft->indexes = indexes;
    draft->index_count = 2;
    draft->status = TABLE_UPDATING;
    draft->throughput.is_changing = true;
    draft->throughput.shown_read_units = 5;
    assert_int_equal(table_replace(&call, fixture.catalog, draft, &made), FAULT_NONE);
    assert_int_equal(made->index_count, 2);
    table_release(made);
    call_close(&call);
    for (int round = 0; round < 2; round++) {
        catalog_reopen((table_catalog_close(fixture.catalog), &fixture));
        assert_int_equal(find(&fixture, "abc", false, &table, NULL), FAULT_NONE);
        assert_int_equal(table->status, round ? TABLE_ACTIVE : TABLE_UPDATING);
        assert_int_equal(table->index_count, round ? 1 : 2);
        assert_int_equal(table->throughput.is_changing, !round);
        const struct table_index *index = table_index_find(table, STR("new"));
        assert_int_equal(index->status, round ? TABLE_ACTIVE : TABLE_CREATING);
        assert_int_equal(index->is_backfilling, !round);
        table_release(table);
        world_sleep_us(fixture.world, DAY_US_TEST);
    }

    /* DELETING keeps the name, and then lets it go, from the store too. */
    assert_int_equal(drop(&fixture, "abc"), FAULT_NONE);
    assert_int_equal(find(&fixture, "abc", false, &table, NULL), FAULT_RESOURCE_NOT_FOUND);
    assert_int_equal(find(&fixture, "abc", true, &table, NULL), FAULT_NONE);
    assert_int_equal(table->status, TABLE_DELETING);
    table_release(table);
    assert_int_equal(create(&fixture, "abc", NULL), FAULT_RESOURCE_IN_USE);
    world_sleep_us(fixture.world, DAY_US_TEST);
    assert_false(exists(&fixture, "abc"));
    assert_int_equal(create(&fixture, "other", NULL), FAULT_NONE);
    catalog_reopen((table_catalog_close(fixture.catalog), &fixture));
    assert_false(exists(&fixture, "abc"));
    assert_true(exists(&fixture, "other"));
    assert_int_equal(create(&fixture, "abc", NULL), FAULT_NONE);
    fixture_close(&fixture);
}

/* A description that no value of the store could hold is refused, and the catalog goes on. */
static void test_descriptions_are_bounded(void **state)
{
    (void)state;
    struct fixture fixture;
    struct call call;
    const struct table *made;
    fixture_open(&fixture, STORE_MANNERS_PLAIN, 0);
    call_open(&call, fixture.world, NULL);
    struct table *draft = draft_of("abc");
    char *huge = arena_alloc_text(&draft->arena, STORE_VALUE_MAX);
    memset(huge, 'k', STORE_VALUE_MAX);
    draft->sse_enabled = true;
    draft->sse_key_arn = str_of(huge, STORE_VALUE_MAX);
    assert_int_equal(table_create(&call, fixture.catalog, draft, &made), FAULT_LIMIT_EXCEEDED);
    call_close(&call);
    assert_false(exists(&fixture, "abc"));
    assert_int_equal(create(&fixture, "abc", NULL), FAULT_NONE);
    fixture_close(&fixture);
}

static void test_replace_sees_changes(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, STORE_MANNERS_PLAIN, 0);
    assert_int_equal(create(&fixture, "abc", NULL), FAULT_NONE);
    struct call call;
    call_open(&call, fixture.world, NULL);
    const struct table *table, *made;
    assert_int_equal(find(&fixture, "abc", true, &table, NULL), FAULT_NONE);
    struct table *one = table_draft_new(table), *two = table_draft_new(table);
    one->deletion_protected = true;
    assert_int_equal(table_replace(&call, fixture.catalog, one, &made), FAULT_NONE);
    table_release(made);
    assert_int_equal(table_replace(&call, fixture.catalog, two, &made), FAULT_RESOURCE_IN_USE);
    call_clear_fault(&call);
    assert_int_equal(table_delete(&call, fixture.catalog, table), FAULT_RESOURCE_IN_USE);
    table_release(table);
    assert_int_equal(find(&fixture, "abc", true, &table, NULL), FAULT_NONE);
    assert_true(table->deletion_protected);
    struct table *late = table_draft_new(table);
    table_release(table);
    assert_int_equal(drop(&fixture, "abc"), FAULT_NONE);
    assert_int_equal(create(&fixture, "abc", NULL), FAULT_NONE);
    call_clear_fault(&call);
    assert_int_equal(table_replace(&call, fixture.catalog, late, &made), FAULT_RESOURCE_IN_USE);
    call_close(&call);
    fixture_close(&fixture);
}

static void test_list(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, STORE_MANNERS_PLAIN, 0);
    for (int i = 149; i >= 0; i--) {
        char name[32];
        snprintf(name, sizeof name, "table%03d", i);
        assert_int_equal(create(&fixture, name, NULL), FAULT_NONE);
    }
    struct call call;
    call_open(&call, fixture.world, NULL);
    struct table *foreign = draft_of("table-of-another");
    draft_set_identity(foreign, STR("111111111111"), REGION, STR("table-of-another"));
    const struct table *made;
    assert_int_equal(table_create(&call, fixture.catalog, foreign, &made), FAULT_NONE);
    table_release(made);
    str *names, last = STR_NONE;
    size_t count, total = 0;
    bool has_more = true;
    for (int page = 0; has_more; page++) {
        table_list(&call, fixture.catalog, ACCOUNT, REGION, last, 50, &names, &count, &has_more);
        assert_int_equal(count, 50);
        assert_int_equal(has_more, page < 2);
        for (size_t i = 0; i < count; i++) {
            assert_true(str_compare(last, names[i]) < 0);
            last = names[i];
        }
        total += count;
    }
    assert_int_equal(total, 150);
    table_list(&call, fixture.catalog, STR("111111111111"), STR("eu-west-1"), STR_NONE, 100, &names, &count, &has_more);
    assert_int_equal(count, 0);
    assert_false(has_more);
    call_close(&call);
    fixture_close(&fixture);
}

static void test_arns(void **state)
{
    (void)state;
    struct table_arn arn;
    assert_true(table_arn_read(STR("arn:aws:dynamodb:us-east-1:000000000000:table/abc/index/i"), &arn));
    assert_true(str_equal(arn.name, STR("abc")) && str_equal(arn.rest, STR("/index/i")) && str_equal(arn.region, REGION) && str_equal(arn.account, ACCOUNT));
    static const char *bad[] = {"", "arn", "arn:aws:s3:us-east-1:000000000000:table/abc", "arn:aws:dynamodb:us-east-1:000000000000:table/ab",
        "arn:aws:dynamodb:us-east-1:000000000000:abc", "arn:aws:dynamodb::000000000000:table/abc", "arn:aws:dynamodb:us-east-1:x:table/abc", "a:b:c:d:e:f/g"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(table_arn_read(str_of_text(bad[i]), &arn));
    struct fixture fixture;
    fixture_open(&fixture, STORE_MANNERS_PLAIN, 0);
    const struct table *table;
    char message[256];
    assert_int_equal(find(&fixture, "arn:nonsense", false, &table, message), FAULT_VALIDATION);
    assert_string_equal(message, "Invalid TableArn: Invalid ResourceArn provided as input arn:nonsense");
    assert_int_equal(find(&fixture, "arn:aws:dynamodb:us-east-1:999999999999:table/abc", false, &table, message), FAULT_ACCESS_DENIED);
    assert_int_equal(find(&fixture, "arn:aws:dynamodb:us-east-2:000000000000:table/abc", false, &table, message), FAULT_VALIDATION);
    fixture_close(&fixture);
}

static void test_range_of(void **state)
{
    (void)state;
    struct table *table = draft_of("abc");
    struct table_range ranges[3] = {{{{1}}, 0}, {{{2}}, 1ull << 63}, {{{3}}, UINT64_MAX}};
    table->ranges = ranges;
    table->range_count = 3;
    struct arena arena;
    arena_open(&arena, NULL);
    for (int i = 0; i < 1000; i++) {
        char text[16];
        int length = snprintf(text, sizeof text, "key%d", i);
        struct buf row_key, value;
        buf_open(&row_key, &arena, 0);
        buf_open(&value, &arena, 0);
        value_write_scalar(&value, VALUE_S, str_of(text, (size_t)length));
        key_encode(&table->keys, ROW_ITEM, buf_str(&value), STR_NONE, &row_key);
        uint64_t hash = key_hash(VALUE_S, str_of(text, (size_t)length));
        assert_int_equal(table_range_of(table, buf_str(&row_key)).bytes[0], hash >= 1ull << 63 ? 2 : 1);
        /* A local index's entry is where its item is. */
        str entry = arena_printf(&arena, "%cA%.*s", ROW_LOCAL_INDEX, (int)row_key.len - 1, row_key.data + 1);
        assert_true(uuid_equal(table_range_of(table, entry), table_range_of(table, buf_str(&row_key))));
    }
    arena_close(&arena);
    table_draft_free(table);
}

/* A store whose replies get lost, as on a cluster: each change is applied once or fails, never half or twice. */
static void test_lost_replies(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world_sim_options sim = {.seed = seed, .wall_start_us = 1000000};
        struct fixture fixture = {.world = world_sim_new(&sim)};
        struct store_mem_options options = {.manners = STORE_MANNERS_RADOS, .faults = {.lost_reply = 3000, .read_fail = 500}};
        fixture.store = store_mem_new(fixture.world, &options);
        catalog_reopen(&fixture);
        for (int i = 0; i < 12; i++) {
            char name[24];
            snprintf(name, sizeof name, "table%d", i);
            assert_int_equal(create(&fixture, name, NULL), FAULT_NONE);
            if (i % 2)
                assert_int_equal(drop(&fixture, name), FAULT_NONE);
        }
        table_catalog_close(fixture.catalog);
        catalog_reopen(&fixture);
        for (int i = 0; i < 12; i++) {
            char name[24];
            snprintf(name, sizeof name, "table%d", i);
            assert_int_equal(exists(&fixture, name), i % 2 == 0);
        }
        fixture_close(&fixture);
    }
}

/* A crash at any moment: what was acknowledged is there, a table is there whole or not at all, and no range is forgotten. */
static void test_crash(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world_sim_options sim = {.seed = seed, .wall_start_us = 1000000};
        struct fixture fixture = {.world = world_sim_new(&sim)};
        struct store_mem_options options = {.manners = STORE_MANNERS_PLAIN, .faults = {.fail = 1500}};
        fixture.store = store_mem_new(fixture.world, &options);
        catalog_reopen(&fixture);
        bool is_there[8] = {0}, is_known[8];
        memset(is_known, 1, sizeof is_known);
        for (int step = 0; step < 40; step++) {
            int i = (int)world_random_below(fixture.world, 8);
            char name[24];
            snprintf(name, sizeof name, "table%d", i);
            enum fault fault = is_there[i] ? drop(&fixture, name) : create(&fixture, name, NULL);
            if (fault == FAULT_INTERNAL) {
                is_known[i] = false;
                break;
            }
            assert_int_equal(fault, FAULT_NONE);
            is_there[i] = !is_there[i];
        }
        table_catalog_close(fixture.catalog);
        store_mem_crash(fixture.store);
        catalog_reopen(&fixture);
        for (int i = 0; i < 8; i++) {
            char name[24];
            snprintf(name, sizeof name, "table%d", i);
            if (is_known[i])
                assert_int_equal(exists(&fixture, name), is_there[i]);
        }
        fixture_close(&fixture);
    }
}

static void test_failed_store_stops_changes(void **state)
{
    (void)state;
    struct fixture fixture = {.world = world_real_new()};
    struct store_mem_options options = {.faults = {.fail = 10000}};
    fixture.store = store_mem_new(fixture.world, &options);
    catalog_reopen(&fixture);
    assert_int_equal(create(&fixture, "abc", NULL), FAULT_INTERNAL);
    assert_false(exists(&fixture, "abc"));
    assert_int_equal(create(&fixture, "abd", NULL), FAULT_INTERNAL);
    fixture_close(&fixture);
}

static struct table *full_table(void)
{
    struct table *table = draft_of("golden.table");
    struct arena *arena = &table->arena;
    for (uint8_t i = 0; i < 16; i++)
        table->id.bytes[i] = i;
    table->keys.sort = (struct key_attribute){arena_copy(arena, STR("sk")), VALUE_N};
    struct table_index *indexes = ARENA_NEW_ARRAY(arena, struct table_index, 2);
    indexes[0] = (struct table_index){.name = arena_copy(arena, STR("local")), .is_local = true, .partition = {table->keys.partition}, .partition_count = 1,
        .sort = {{arena_copy(arena, STR("other")), VALUE_B}}, .sort_count = 1, .projection = PROJECTION_KEYS_ONLY, .status = TABLE_ACTIVE};
    str *names = ARENA_NEW_ARRAY(arena, str, 2);
    names[0] = arena_copy(arena, STR("b"));
    names[1] = arena_copy(arena, STR("a"));
    indexes[1] = (struct table_index){.name = arena_copy(arena, STR("global")), .partition = {table->keys.sort, table->keys.partition}, .partition_count = 2,
        .projection = PROJECTION_INCLUDE, .non_key_attributes = names, .non_key_attribute_count = 2, .status = TABLE_CREATING, .is_backfilling = true,
        .throughput = {.read_units = 1, .write_units = 2, .max_read_units = 3, .max_write_units = 4, .warm_read_units = 5, .warm_write_units = 6}};
    table->indexes = indexes;
    table->index_count = 2;
    table->billing = BILLING_PAY_PER_REQUEST;
    table->billing_on_demand_us = 1700000000000001;
    table->billing_was_set = true;
    table->throughput = (struct table_throughput){.decreases_today = 3, .decrease_day = 20000, .last_increase_us = 11, .last_decrease_us = 12,
        .is_changing = true, .shown_read_units = 7, .shown_write_units = 8, .shown_decreases = 2};
    table->stream_view = STREAM_VIEW_NEW_AND_OLD_IMAGES;
    table->stream_created_us = 1700000000000002;
    table->stream_enabled = table->deletion_protected = table->is_infrequent_access = table->class_was_set = table->sse_enabled = true;
    table->class_updated_us = 13;
    table->sse_key_arn = arena_copy(arena, STR("arn:aws:kms:us-east-1:000000000000:key/k"));
    table->resource_policy = arena_copy(arena, STR("{}"));
    struct table_tag *tag = ARENA_NEW(arena, struct table_tag);
    *tag = (struct table_tag){arena_copy(arena, STR("team")), STR_NONE};
    table->tags = tag;
    table->tag_count = 1;
    struct table_range *ranges = ARENA_NEW_ARRAY(arena, struct table_range, 2);
    ranges[0].id.bytes[0] = 0xaa;
    ranges[1].id.bytes[0] = 0xbb;
    ranges[1].hash_from = 0xfedcba9876543210;
    table->ranges = ranges;
    table->range_count = 2;
    table->created_us = 1700000000000000;
    table->status = TABLE_UPDATING;
    table->status_until_us = 1700000001000000;
    table->status_since_us = 1700000000500000;
    table->change_number = 42;
    return table;
}

static str golden_read(struct arena *arena, const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    struct buf out;
    buf_open(&out, arena, 0);
    unsigned byte;
    while (fscanf(file, "%2x", &byte) == 1)
        buf_add_byte(&out, (uint8_t)byte);
    fclose(file);
    return buf_str(&out);
}

/* Bytes that version 1 wrote are read for ever, and mean what they meant. */
static void test_golden(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    struct table *full = full_table(), *read = NULL;
    struct buf written;
    buf_open(&written, &arena, 0);
    record_write(&arena, full, &written);
    str golden = golden_read(&arena, "test/golden/catalog-table-1.hex");
    if (!str_equal(golden, buf_str(&written)))
        for (size_t i = 0; i < written.len; i++)
            printf("%02x%s", (uint8_t)written.data[i], i % 32 == 31 ? "\n" : "");
    assert_int_equal(record_read(golden, &read), RECORD_GOOD);
    struct buf again;
    buf_open(&again, &arena, 0);
    record_write(&arena, read, &again);
    assert_true(str_equal(buf_str(&again), golden));
    assert_true(str_equal(buf_str(&written), golden));
    assert_true(read->ranges[1].hash_from == 0xfedcba9876543210);
    assert_int_equal(read->indexes[1].partition_count, 2);
    assert_int_equal(read->indexes[1].partition[0].type, VALUE_N);
    assert_true(str_equal(read->indexes[1].non_key_attributes[0], STR("b")));
    assert_int_equal(read->throughput.shown_write_units, 8);
    assert_true(str_equal(read->arn, STR("arn:aws:dynamodb:us-east-1:000000000000:table/golden.table")));
    table_draft_free(read);
    /* Every shorter record is refused; so is every record of a version to come. */
    for (size_t length = 0; length < golden.len; length++) {
        char *exact = malloc(length ? length : 1);
        memcpy(exact, golden.data, length);
        assert_int_equal(record_read(str_of(exact, length), &read), RECORD_BAD);
        free(exact);
    }
    char *newer = arena_alloc(&arena, golden.len);
    memcpy(newer, golden.data, golden.len);
    newer[0] = TABLE_RECORD_VERSION + 1;
    assert_int_equal(record_read(str_of(newer, golden.len), &read), RECORD_NEWER);
    table_draft_free(full);
    arena_close(&arena);
}

static void test_newer_catalog_is_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, STORE_MANNERS_PLAIN, 0);
    assert_int_equal(create(&fixture, "abc", NULL), FAULT_NONE);
    table_catalog_close(fixture.catalog);
    static const struct uuid id = {{'s', 't', 'a', 't', 'o', 'r', 0x80, 'c', 'a', 't', 'a', 'l', 'o', 'g', 0x80, 1}};
    const char *keys[] = {"r", "t000000000000/us-east-1/abd", "z"};
    for (size_t i = 0; i < 3; i++) {
        struct store_range *range;
        assert_int_equal(store_range_open(fixture.store, id, &range), STORE_OK);
        struct store_write write = {str_of_text(keys[i]), STR("\x02...")};
        struct store_group group = {.writes = &write, .write_count = 1};
        struct arena arena;
        arena_open(&arena, NULL);
        str old = STR_NONE;
        store_get(range, write.key, &arena, &old);
        assert_int_equal(store_apply_wait(range, &group), STORE_OK);
        store_range_close(range);
        char problem[256] = "";
        struct table_catalog_options options = {.store = fixture.store, .world = fixture.world};
        assert_null(table_catalog_open(&options, problem, sizeof problem));
        assert_non_null(strstr(problem, "newer version"));
        assert_int_equal(store_range_open(fixture.store, id, &range), STORE_OK);
        write.value = old;
        group = (struct store_group){.writes = &write, .write_count = 1};
        assert_int_equal(store_apply_wait(range, &group), STORE_OK);
        store_range_close(range);
        arena_close(&arena);
    }
    catalog_reopen(&fixture);
    assert_true(exists(&fixture, "abc"));
    fixture_close(&fixture);
}

/* Threads that create, drop, change and read one table: only the documented faults come back, and nobody sees a snapshot change. */
struct racer {
    struct fixture *fixture;
    int kind;
};

static void race(void *argument)
{
    struct racer *racer = argument;
    struct fixture *fixture = racer->fixture;
    for (int i = 0; i < 200; i++) {
        if (racer->kind == 0) {
            enum fault fault = create(fixture, "abc", NULL);
            assert_true(fault == FAULT_NONE || fault == FAULT_RESOURCE_IN_USE);
        } else if (racer->kind == 1) {
            enum fault fault = drop(fixture, "abc");
            assert_true(fault == FAULT_NONE || fault == FAULT_RESOURCE_NOT_FOUND || fault == FAULT_RESOURCE_IN_USE);
        } else {
            const struct table *table;
            if (find(fixture, "abc", false, &table, NULL) == FAULT_NONE) {
                assert_int_equal(table->range_count, 1);
                assert_true(str_equal(table->name, STR("abc")));
                table_release(table);
            }
        }
        world_turn(fixture->world);
    }
}

static void test_race(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, STORE_MANNERS_PLAIN, 0);
    struct racer racers[4] = {{&fixture, 0}, {&fixture, 1}, {&fixture, 2}, {&fixture, 2}};
    struct world_thread *threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = world_thread_start(fixture.world, "racer", race, &racers[i]);
    for (int i = 0; i < 4; i++)
        world_thread_join(fixture.world, threads[i]);
    fixture_close(&fixture);
}

static void change_again(struct fixture *fixture)
{
    struct call call;
    const struct table *table, *made;
    call_open(&call, fixture->world, NULL);
    if (table_acquire_any(&call, fixture->catalog, ACCOUNT, REGION, STR("abc"), &table) == FAULT_NONE) {
        struct table *draft = table_draft_new(table);
        table_release(table);
        draft->status = TABLE_UPDATING;
        enum fault fault = table_replace(&call, fixture->catalog, draft, &made);
        assert_true(fault == FAULT_NONE || fault == FAULT_RESOURCE_IN_USE);
        if (fault == FAULT_NONE)
            table_release(made);
    }
    call_close(&call);
}

static void change_over_and_over(void *argument)
{
    struct fixture *fixture = argument;
    for (int i = 0; i < 400; i++) {
        change_again(fixture);
        world_sleep_us(fixture->world, (int64_t)world_random_below(fixture->world, 30));
    }
}

static void look_over_and_over(void *argument)
{
    struct fixture *fixture = argument;
    for (int i = 0; i < 1500; i++) {
        const struct table *table;
        if (find(fixture, "abc", true, &table, NULL) == FAULT_NONE)
            table_release(table);
        world_sleep_us(fixture->world, (int64_t)world_random_below(fixture->world, 10));
    }
}

/* Whoever looks at a table when its status passes puts another snapshot in its place, also while a change looks at the one before. */
static void test_statuses_pass_beside_changes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct world_sim_options sim = {.seed = seed, .wall_start_us = 1700000000000000};
        struct store_mem_options mem = {.manners = STORE_MANNERS_PLAIN};
        struct fixture fixture = {.world = world_sim_new(&sim), .status_us = 10};
        struct world_thread *threads[4];
        fixture.store = store_mem_new(fixture.world, &mem);
        catalog_reopen(&fixture);
        assert_int_equal(create(&fixture, "abc", NULL), FAULT_NONE);
        for (int i = 0; i < 4; i++)
            threads[i] = world_thread_start(fixture.world, "racer", i < 2 ? change_over_and_over : look_over_and_over, &fixture);
        for (int i = 0; i < 4; i++)
            world_thread_join(fixture.world, threads[i]);
        fixture_close(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_life_on_rocks),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_descriptions_are_bounded),
        cmocka_unit_test(test_replace_sees_changes),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_arns),
        cmocka_unit_test(test_range_of),
        cmocka_unit_test(test_lost_replies),
        cmocka_unit_test(test_crash),
        cmocka_unit_test(test_failed_store_stops_changes),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_newer_catalog_is_refused),
        cmocka_unit_test(test_race),
        cmocka_unit_test(test_statuses_pass_beside_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
