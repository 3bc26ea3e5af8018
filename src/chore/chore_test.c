/* Tests of the worker: what a deleted table leaves is dropped, also when a crash came between, and a name made again sees no old rows. */
#include "chore/chore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct fixture {
    struct world *world;
    struct store *store;
    struct part *part;
    struct table_catalog *catalog;
};

static void service_open(struct fixture *fixture)
{
    char problem[256] = "";
    struct part_options part = {.store = fixture->store, .world = fixture->world, .cache_bytes = 1 << 16};
    struct table_catalog_options catalog = {.store = fixture->store, .world = fixture->world};
    fixture->part = part_open(&part);
    fixture->catalog = table_catalog_open(&catalog, problem, sizeof problem);
    assert_string_equal(problem, "");
}

static void service_close(struct fixture *fixture)
{
    part_close(fixture->part);
    table_catalog_close(fixture->catalog);
}

static void fixture_open(struct fixture *fixture, uint64_t seed, enum store_manners manners)
{
    struct world_sim_options sim = {.seed = seed, .wall_start_us = 1700000000000000};
    struct store_mem_options mem = {.manners = manners};
    fixture->world = world_sim_new(&sim);
    fixture->store = store_mem_new(fixture->world, &mem);
    service_open(fixture);
}

static void fixture_close(struct fixture *fixture)
{
    service_close(fixture);
    store_close(fixture->store);
    world_free(fixture->world);
}

static void wait_durable(struct fixture *fixture, struct call *call)
{
    while (durable_wait_is_pending(&call->durable))
        world_sleep_us(fixture->world, 100);
}

/* A table of one row; returns its range. */
static struct uuid table_with_row(struct fixture *fixture, str name)
{
    struct call call;
    const struct table *made;
    struct table *draft = table_draft_new(NULL);
    call_open(&call, fixture->world, NULL);
    draft->account = STR("000000000000");
    draft->region = STR("us-east-1");
    draft->name = name;
    draft->keys.partition = (struct key_attribute){STR("pk"), VALUE_S};
    assert_int_equal(table_create(&call, fixture->catalog, draft, &made), FAULT_NONE);
    struct uuid id = made->ranges[0].id;
    struct buf value, item, row_key;
    buf_open(&value, &call.arena, 0);
    buf_open(&item, &call.arena, 0);
    buf_open(&row_key, &call.arena, 0);
    value_write_scalar(&value, VALUE_S, STR("k"));
    struct attribute attribute = {STR("pk"), buf_str(&value)};
    item_write(&item, &attribute, 1);
    assert_int_equal(key_of_item(&call, &made->keys, buf_str(&item), false, &row_key), FAULT_NONE);
    struct part_range *range;
    struct edit edit = {.kind = EDIT_PUT, .row_key = buf_str(&row_key), .key_item = buf_str(&item), .action = buf_str(&item)};
    struct edit_outcome outcome;
    assert_int_equal(part_range_acquire(&call, fixture->part, id, &range), FAULT_NONE);
    assert_int_equal(part_edit(&call, range, &edit, &outcome), FAULT_NONE);
    wait_durable(fixture, &call);
    part_range_release(range);
    table_release(made);
    call_close(&call);
    return id;
}

static void table_remove(struct fixture *fixture, str name)
{
    struct call call;
    const struct table *table;
    call_open(&call, fixture->world, NULL);
    assert_int_equal(table_acquire_any(&call, fixture->catalog, STR("000000000000"), STR("us-east-1"), name, &table), FAULT_NONE);
    assert_int_equal(table_delete(&call, fixture->catalog, table), FAULT_NONE);
    table_release(table);
    call_close(&call);
}

static size_t rows_of(struct fixture *fixture, struct uuid id)
{
    struct store_range *range;
    struct arena arena;
    struct store_page page;
    struct store_scan scan = {.rows_max = 100, .bytes_max = 1 << 20};
    arena_open(&arena, NULL);
    assert_int_equal(store_range_open(fixture->store, id, &range), STORE_OK);
    assert_int_equal(store_scan(range, &scan, &arena, &page), STORE_OK);
    size_t count = page.count;
    store_range_close(range);
    arena_close(&arena);
    return count;
}

static bool wait_clean(struct fixture *fixture)
{
    struct uuid range;
    for (int i = 0; i < 1000; i++) {
        if (!table_condemned_next(fixture->catalog, &range))
            return true;
        world_sleep_us(fixture->world, 10000);
    }
    return false;
}

static void test_drops_when_woken(void **state)
{
    (void)state;
    for (int manners = STORE_MANNERS_PLAIN; manners <= STORE_MANNERS_RADOS; manners++) {
        struct fixture fixture;
        fixture_open(&fixture, 1, (enum store_manners)manners);
        struct chore *chore = chore_start(fixture.world, fixture.catalog, fixture.part, NULL);
        struct uuid old = table_with_row(&fixture, STR("abc"));
        table_remove(&fixture, STR("abc"));
        chore_wake(chore);
        struct uuid new = table_with_row(&fixture, STR("abc"));
        assert_false(uuid_equal(old, new));
        assert_true(wait_clean(&fixture));
        chore_stop(chore);
        service_close(&fixture);
        assert_int_equal(rows_of(&fixture, old), 0);
        assert_true(rows_of(&fixture, new) > 0);
        service_open(&fixture);
        fixture_close(&fixture);
    }
}

/* Deleted, and the process dies before the worker came to it: the next one does it. */
static void test_resumes_after_a_crash(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct fixture fixture;
        fixture_open(&fixture, seed, STORE_MANNERS_RADOS);
        struct uuid old = table_with_row(&fixture, STR("abc"));
        table_remove(&fixture, STR("abc"));
        service_close(&fixture);
        store_mem_crash(fixture.store);
        assert_true(rows_of(&fixture, old) > 0);
        service_open(&fixture);
        struct chore *chore = chore_start(fixture.world, fixture.catalog, fixture.part, NULL);
        assert_true(wait_clean(&fixture));
        chore_stop(chore);
        service_close(&fixture);
        assert_int_equal(rows_of(&fixture, old), 0);
        service_open(&fixture);
        assert_true(wait_clean(&fixture));
        fixture_close(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drops_when_woken),
        cmocka_unit_test(test_resumes_after_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
