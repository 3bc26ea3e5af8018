/* The store suite: every engine, in every manner, keeps the contract of store.h. */
#include "store/store_fixture_internal.h"

#include <stdatomic.h>

static int engine_setup(void **state, enum engine engine)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    fixture_open(fixture, engine);
    *state = fixture;
    return 0;
}

static int setup_mem(void **state)
{
    return engine_setup(state, ENGINE_MEM);
}

static int setup_rados(void **state)
{
    return engine_setup(state, ENGINE_MEM_RADOS);
}

static int setup_rocks(void **state)
{
    return engine_setup(state, ENGINE_ROCKS);
}

static int teardown(void **state)
{
    fixture_close(*state);
    free(*state);
    return 0;
}

static void test_put_get_delete(void **state)
{
    struct fixture *f = *state;
    assert_text(f, f->range, "seat", NULL);
    put_text(f->range, "seat", "free");
    assert_text(f, f->range, "seat", "free");
    put_text(f->range, "seat", "taken by somebody");
    assert_text(f, f->range, "seat", "taken by somebody");
    assert_text(f, f->range, "sea", NULL);
    assert_text(f, f->range, "seats", NULL);
    erase(f->range, "seat");
    assert_text(f, f->range, "seat", NULL);
    erase(f->range, "seat");
    assert_text(f, f->range, "seat", NULL);
}

static void test_every_byte(void **state)
{
    struct fixture *f = *state;
    char all[255], value[256];
    for (unsigned byte = 1; byte < 256; byte++) {
        all[byte - 1] = (char)byte;
        put(f->range, str_of(&all[byte - 1], 1), str_of(&all[byte - 1], 1));
    }
    for (unsigned byte = 0; byte < 256; byte++)
        value[byte] = (char)byte;
    put(f->range, str_of(all, sizeof all), str_of(value, sizeof value));
    assert_value(f, f->range, str_of(all, sizeof all), str_of(value, sizeof value));
    struct store_page page;
    struct store_scan scan = {.rows_max = 1000, .bytes_max = 1 << 20};
    assert_int_equal(store_scan(f->range, &scan, &f->arena, &page), STORE_OK);
    assert_int_equal(page.count, 256);
    assert_false(page.has_more);
    for (size_t at = 1; at < page.count; at++)
        assert_true(str_compare(page.rows[at - 1].key, page.rows[at].key) < 0);
    assert_int_equal((uint8_t)page.rows[255].key.data[0], 255);
}

static void test_largest(void **state)
{
    struct fixture *f = *state;
    char *key = malloc(STORE_KEY_MAX), *value = malloc(STORE_VALUE_MAX);
    memset(key, 0xff, STORE_KEY_MAX);
    memset(value, 0, STORE_VALUE_MAX);
    value[STORE_VALUE_MAX - 1] = 7;
    put(f->range, str_of(key, STORE_KEY_MAX), str_of(value, STORE_VALUE_MAX));
    put(f->range, str_of(key, STORE_KEY_MAX - 1), STR("shorter"));
    assert_value(f, f->range, str_of(key, STORE_KEY_MAX), str_of(value, STORE_VALUE_MAX));
    struct store_scan scan = {.rows_max = 10, .bytes_max = 1, .reverse = f->store->can_reverse};
    struct store_page page;
    assert_int_equal(store_scan(f->range, &scan, &f->arena, &page), STORE_OK);
    assert_int_equal(page.count, 1);
    assert_true(page.has_more);
    assert_int_equal(page.rows[0].key.len, scan.reverse ? STORE_KEY_MAX : STORE_KEY_MAX - 1);
    free(key);
    free(value);
}

static void test_multi_get(void **state)
{
    struct fixture *f = *state;
    put_text(f->range, "b", "2");
    put_text(f->range, "a", "1");
    put_text(f->range, "d", "4");
    str keys[] = {STR("d"), STR("missing"), STR("a"), STR("b"), STR("a"), STR("dd")};
    const char *wanted[] = {"4", NULL, "1", "2", "1", NULL};
    str values[6];
    assert_int_equal(store_multi_get(f->range, keys, 6, &f->arena, values), STORE_OK);
    for (size_t at = 0; at < 6; at++) {
        assert_int_equal(values[at].data != NULL, wanted[at] != NULL);
        assert_true(str_equal(values[at], str_of_text(wanted[at])));
    }
    assert_int_equal(store_multi_get(f->range, keys, 0, &f->arena, values), STORE_OK);
}

/* Rows k000, k002, ... k198. */
static void put_even_rows(struct store_range *range)
{
    struct store_write writes[100];
    char keys[100][8];
    for (unsigned at = 0; at < 100; at++) {
        snprintf(keys[at], sizeof keys[at], "k%03u", at * 2);
        writes[at] = (struct store_write){str_of(keys[at], 4), str_of(keys[at], 4)};
    }
    assert_int_equal(write_group(range, NULL, 0, writes, 100), STORE_OK);
}

static void assert_page(struct fixture *f, const struct store_scan *scan, unsigned first, unsigned count, bool has_more)
{
    struct store_page page;
    assert_int_equal(store_scan(f->range, scan, &f->arena, &page), STORE_OK);
    assert_int_equal(page.count, count);
    assert_int_equal(page.has_more, has_more);
    for (unsigned at = 0; at < count; at++) {
        char key[16];
        snprintf(key, sizeof key, "k%03u", scan->reverse ? first - 2 * at : first + 2 * at);
        assert_true(str_equal(page.rows[at].key, str_of_text(key)));
        assert_true(str_equal(page.rows[at].value, str_of_text(key)));
    }
}

static void test_scan_bounds(void **state)
{
    struct fixture *f = *state;
    put_even_rows(f->range);
    enum { MANY = 1000, MUCH = 1 << 20 };
    assert_page(f, &(struct store_scan){.rows_max = MANY, .bytes_max = MUCH}, 0, 100, false);
    assert_page(f, &(struct store_scan){.rows_max = MANY, .bytes_max = MUCH, .is_bulk = true}, 0, 100, false);
    assert_page(f, &(struct store_scan){.rows_max = MANY, .bytes_max = MUCH, .lower = STR("k100")}, 100, 50, false);
    assert_page(f, &(struct store_scan){.rows_max = MANY, .bytes_max = MUCH, .lower = STR("k101")}, 102, 49, false);
    assert_page(f, &(struct store_scan){.rows_max = MANY, .bytes_max = MUCH, .upper = STR("k100")}, 0, 50, false);
    assert_page(f, &(struct store_scan){.rows_max = MANY, .bytes_max = MUCH, .upper = STR("k101")}, 0, 51, false);
    assert_page(f, &(struct store_scan){.rows_max = MANY, .bytes_max = MUCH, .lower = STR("k010"), .upper = STR("k020")}, 10, 5, false);
    assert_page(f, &(struct store_scan){.rows_max = MANY, .bytes_max = MUCH, .lower = STR("k011"), .upper = STR("k012")}, 0, 0, false);
    assert_page(f, &(struct store_scan){.rows_max = MANY, .bytes_max = MUCH, .lower = STR("k020"), .upper = STR("k010")}, 0, 0, false);
    assert_page(f, &(struct store_scan){.rows_max = MANY, .bytes_max = MUCH, .lower = STR("l")}, 0, 0, false);
    assert_page(f, &(struct store_scan){.rows_max = MANY, .bytes_max = MUCH, .upper = STR("j")}, 0, 0, false);
}

static void test_scan_limits(void **state)
{
    struct fixture *f = *state;
    put_even_rows(f->range);
    assert_page(f, &(struct store_scan){.rows_max = 100, .bytes_max = 1 << 20}, 0, 100, false);
    assert_page(f, &(struct store_scan){.rows_max = 99, .bytes_max = 1 << 20}, 0, 99, true);
    assert_page(f, &(struct store_scan){.rows_max = 1, .bytes_max = 1 << 20, .lower = STR("k198")}, 198, 1, false);
    assert_page(f, &(struct store_scan){.rows_max = 1, .bytes_max = 0}, 0, 1, true);
    assert_page(f, &(struct store_scan){.rows_max = 50, .bytes_max = 80}, 0, 10, true); /* eight bytes a row */
    assert_page(f, &(struct store_scan){.rows_max = 50, .bytes_max = 87}, 0, 10, true);
    assert_page(f, &(struct store_scan){.rows_max = 50, .bytes_max = 88}, 0, 11, true);
    assert_page(f, &(struct store_scan){.rows_max = 50, .bytes_max = 80, .lower = STR("k180")}, 180, 10, false);
    assert_page(f, &(struct store_scan){.rows_max = 5, .bytes_max = 1 << 20, .upper = STR("k010")}, 0, 5, false);
    assert_page(f, &(struct store_scan){.rows_max = 5, .bytes_max = 1 << 20, .upper = STR("k011")}, 0, 5, true);
}

static void test_scan_reverse(void **state)
{
    struct fixture *f = *state;
    if (!f->store->can_reverse)
        return;
    put_even_rows(f->range);
    enum { MANY = 1000, MUCH = 1 << 20 };
    assert_page(f, &(struct store_scan){.reverse = true, .rows_max = MANY, .bytes_max = MUCH}, 198, 100, false);
    assert_page(f, &(struct store_scan){.reverse = true, .rows_max = MANY, .bytes_max = MUCH, .upper = STR("k100")}, 98, 50, false);
    assert_page(f, &(struct store_scan){.reverse = true, .rows_max = MANY, .bytes_max = MUCH, .upper = STR("k101")}, 100, 51, false);
    assert_page(f, &(struct store_scan){.reverse = true, .rows_max = MANY, .bytes_max = MUCH, .lower = STR("k100")}, 198, 50, false);
    assert_page(f, &(struct store_scan){.reverse = true, .rows_max = MANY, .bytes_max = MUCH, .lower = STR("k101")}, 198, 49, false);
    assert_page(f, &(struct store_scan){.reverse = true, .rows_max = 3, .bytes_max = MUCH, .lower = STR("k010"), .upper = STR("k020")}, 18, 3, true);
    assert_page(f, &(struct store_scan){.reverse = true, .rows_max = 5, .bytes_max = MUCH, .lower = STR("k010"), .upper = STR("k020")}, 18, 5, false);
    assert_page(f, &(struct store_scan){.reverse = true, .rows_max = 50, .bytes_max = 17}, 198, 2, true);
    assert_page(f, &(struct store_scan){.reverse = true, .rows_max = 50, .bytes_max = MUCH, .upper = STR("a")}, 0, 0, false);
}

static void test_group(void **state)
{
    struct fixture *f = *state;
    put_text(f->range, "gone", "x");
    struct store_write writes[] = {
        {STR("a"), STR("1")}, {STR("gone"), STR_NONE}, {STR("a"), STR("2")}, {STR("b"), STR("3")}, {STR("b"), STR_NONE}, {STR("c"), STR_NONE}, {STR("c"), STR("4")},
    };
    assert_int_equal(write_group(f->range, NULL, 0, writes, 7), STORE_OK);
    assert_text(f, f->range, "a", "2");
    assert_text(f, f->range, "gone", NULL);
    assert_text(f, f->range, "b", NULL);
    assert_text(f, f->range, "c", "4");
    assert_int_equal(write_group(f->range, NULL, 0, NULL, 0), STORE_OK);
}

static void test_guards(void **state)
{
    struct fixture *f = *state;
    struct store_write write = {STR("k"), STR("new")};
    struct store_guard absent = {STR("k"), STR_NONE}, old = {STR("k"), STR("old")}, oldest = {STR("k"), STR("ol")}, other = {STR("other"), STR_NONE};
    assert_int_equal(write_group(f->range, &old, 1, &write, 1), STORE_REFUSED);
    assert_text(f, f->range, "k", NULL);
    assert_int_equal(write_group(f->range, &absent, 1, &(struct store_write){STR("k"), STR("old")}, 1), STORE_OK);
    assert_int_equal(write_group(f->range, &absent, 1, &write, 1), STORE_REFUSED);
    assert_int_equal(write_group(f->range, &oldest, 1, &write, 1), STORE_REFUSED);
    assert_text(f, f->range, "k", "old");
    struct store_guard both[] = {old, other};
    assert_int_equal(write_group(f->range, both, 2, &write, 1), STORE_OK);
    assert_text(f, f->range, "k", "new");
    put_text(f->range, "other", "there");
    struct store_guard one_wrong[] = {{STR("k"), STR("new")}, other};
    struct store_write two[] = {{STR("k"), STR("never")}, {STR("k2"), STR("never")}};
    assert_int_equal(write_group(f->range, one_wrong, 2, two, 2), STORE_REFUSED);
    assert_text(f, f->range, "k", "new");
    assert_text(f, f->range, "k2", NULL);
    /* A group of guards only, and one that deletes what it guards. */
    assert_int_equal(write_group(f->range, one_wrong, 1, NULL, 0), STORE_OK);
    assert_int_equal(write_group(f->range, one_wrong, 1, &(struct store_write){STR("k"), STR_NONE}, 1), STORE_OK);
    assert_int_equal(write_group(f->range, &absent, 1, &write, 1), STORE_OK);
}

enum { CHAIN = 400 };

/* Groups that are all handed over before any is done. */
struct chain {
    struct store_group groups[CHAIN];
    struct store_guard guards[CHAIN][2];
    struct store_write writes[CHAIN][2];
    char numbers[CHAIN + 1][8];
    enum store_result results[CHAIN];
    atomic_uint done;
    bool is_in_order;
};

static void chain_done(struct store_group *group, enum store_result result)
{
    struct chain *chain = group->owner;
    unsigned at = (unsigned)(group - chain->groups);
    if (at != atomic_load(&chain->done))
        chain->is_in_order = false;
    chain->results[at] = result;
    atomic_fetch_add(&chain->done, 1);
}

static void chain_wait(struct fixture *f, struct chain *chain)
{
    while (atomic_load(&chain->done) < CHAIN)
        world_sleep_us(f->world, 200);
    assert_true(chain->is_in_order);
}

static struct chain *chain_new(void)
{
    struct chain *chain = calloc(1, sizeof *chain);
    chain->is_in_order = true;
    for (unsigned at = 0; at <= CHAIN; at++)
        snprintf(chain->numbers[at], sizeof chain->numbers[at], "%u", at);
    for (unsigned at = 0; at < CHAIN; at++)
        chain->groups[at] = (struct store_group){.guards = chain->guards[at], .writes = chain->writes[at], .done = chain_done, .owner = chain};
    return chain;
}

/* Each group's guard is what the group before it writes; every fifth group's guard is wrong, which the next one must see. */
static void test_guards_in_flight(void **state)
{
    struct fixture *f = *state;
    for (unsigned guards = 1; guards <= 2; guards++) {
        struct chain *chain = chain_new();
        unsigned written = 0;
        erase(f->range, "counter");
        for (unsigned at = 0; at < CHAIN; at++) {
            bool is_wrong = at % 5 == 4;
            str before = written == 0 ? STR_NONE : str_of_text(chain->numbers[written]);
            chain->guards[at][0] = (struct store_guard){STR("counter"), is_wrong ? STR("wrong") : before};
            chain->guards[at][1] = (struct store_guard){STR("copy"), guards == 2 && written > 0 ? before : STR_NONE};
            chain->groups[at].guard_count = guards;
            if (!is_wrong)
                written++;
            str after = is_wrong ? STR("never") : str_of_text(chain->numbers[written]);
            chain->writes[at][0] = (struct store_write){STR("counter"), after};
            chain->writes[at][1] = (struct store_write){STR("copy"), after};
            chain->groups[at].write_count = guards;
        }
        for (unsigned at = 0; at < CHAIN; at++)
            store_apply(f->range, &chain->groups[at]);
        chain_wait(f, chain);
        for (unsigned at = 0; at < CHAIN; at++)
            assert_int_equal(chain->results[at], at % 5 == 4 ? STORE_REFUSED : STORE_OK);
        assert_text(f, f->range, "counter", chain->numbers[written]);
        free(chain);
    }
}

static void test_order(void **state)
{
    struct fixture *f = *state;
    struct store_range *other = fixture_range(f, fixture_id(2));
    struct chain *first = chain_new(), *second = chain_new();
    for (unsigned at = 0; at < CHAIN; at++) {
        first->writes[at][0] = (struct store_write){STR("last"), str_of_text(first->numbers[at])};
        first->groups[at].write_count = 1;
        second->writes[at][0] = (struct store_write){STR("last"), str_of_text(first->numbers[CHAIN - at])};
        second->groups[at].write_count = 1;
        store_apply(f->range, &first->groups[at]);
        store_apply(other, &second->groups[at]);
    }
    chain_wait(f, first);
    chain_wait(f, second);
    assert_text(f, f->range, "last", "399");
    assert_text(f, other, "last", "1");
    free(first);
    free(second);
    store_range_close(other);
}

static void again_done(struct store_group *group, enum store_result result)
{
    struct chain *chain = group->owner;
    chain_done(group, result);
    unsigned next = (unsigned)(group - chain->groups) + 1;
    if (next < CHAIN)
        store_apply(group->range, &chain->groups[next]);
}

static void test_apply_in_done(void **state)
{
    struct fixture *f = *state;
    struct chain *chain = chain_new();
    for (unsigned at = 0; at < CHAIN; at++) {
        chain->writes[at][0] = (struct store_write){STR("last"), str_of_text(chain->numbers[at])};
        chain->groups[at].write_count = 1;
        chain->groups[at].done = again_done;
    }
    store_apply(f->range, &chain->groups[0]);
    chain_wait(f, chain);
    assert_text(f, f->range, "last", "399");
    free(chain);
}

static void test_ranges_apart(void **state)
{
    struct fixture *f = *state;
    struct uuid highest, carry = fixture_id(0);
    memset(highest.bytes, 0xff, sizeof highest.bytes);
    carry.bytes[11] = 0xff;
    memset(carry.bytes + 12, 0xff, 4);
    struct uuid ids[] = {fixture_id(0), fixture_id(2), fixture_id(255), fixture_id(256), carry, highest};
    enum { COUNT = sizeof ids / sizeof ids[0] };
    struct store_range *ranges[COUNT];
    struct store_page page;
    char top[32];
    memset(top, 0xff, sizeof top);
    for (unsigned at = 0; at < COUNT; at++) {
        ranges[at] = fixture_range(f, ids[at]);
        put(ranges[at], STR("\x01"), str_of(ids[at].bytes, 16));
        put(ranges[at], str_of(top, sizeof top), str_of(ids[at].bytes, 16));
    }
    for (unsigned at = 0; at < COUNT; at++) {
        for (int reverse = 0; reverse <= (f->store->can_reverse ? 1 : 0); reverse++) {
            struct store_scan scan = {.rows_max = 10, .bytes_max = 1000, .reverse = reverse != 0};
            assert_int_equal(store_scan(ranges[at], &scan, &f->arena, &page), STORE_OK);
            assert_int_equal(page.count, 2);
            assert_false(page.has_more);
            assert_memory_equal(page.rows[0].value.data, ids[at].bytes, 16);
            assert_memory_equal(page.rows[1].value.data, ids[at].bytes, 16);
        }
    }
    /* Dropping one leaves its neighbours; dropping it again, or what never was, is no error. */
    store_range_close(ranges[2]);
    assert_int_equal(store_range_drop(f->store, ids[2]), STORE_OK);
    assert_int_equal(store_range_drop(f->store, ids[2]), STORE_OK);
    assert_int_equal(store_range_drop(f->store, fixture_id(77)), STORE_OK);
    store_range_close(ranges[5]);
    assert_int_equal(store_range_drop(f->store, ids[5]), STORE_OK);
    ranges[2] = fixture_range(f, ids[2]);
    ranges[5] = fixture_range(f, ids[5]);
    for (unsigned at = 0; at < COUNT; at++) {
        struct store_scan scan = {.rows_max = 10, .bytes_max = 1000};
        assert_int_equal(store_scan(ranges[at], &scan, &f->arena, &page), STORE_OK);
        assert_int_equal(page.count, at == 2 || at == 5 ? 0 : 2);
        assert_value(f, ranges[at], STR("\x01"), at == 2 || at == 5 ? STR_NONE : str_of(ids[at].bytes, 16));
    }
    put(ranges[2], STR("\x01"), STR("new"));
    assert_value(f, ranges[2], STR("\x01"), STR("new"));
    for (unsigned at = 0; at < COUNT; at++)
        store_range_close(ranges[at]);
}

static void test_reopen(void **state)
{
    struct fixture *f = *state;
    put_even_rows(f->range);
    erase(f->range, "k000");
    put_text(f->range, "k002", "again");
    struct store_range *other = fixture_range(f, fixture_id(9));
    put_text(other, "x", "dropped");
    store_range_close(other);
    assert_int_equal(store_range_drop(f->store, fixture_id(9)), STORE_OK);
    for (int round = 0; round < 3; round++) {
        fixture_reopen(f);
        assert_text(f, f->range, "k000", NULL);
        assert_text(f, f->range, "k002", "again");
        assert_text(f, f->range, "k198", "k198");
        other = fixture_range(f, fixture_id(9));
        assert_text(f, other, "x", NULL);
        store_range_close(other);
        assert_int_equal(write_group(f->range, &(struct store_guard){STR("k198"), STR("k198")}, 1, NULL, 0), STORE_OK);
    }
}

enum { THREADS = 4, ROUNDS = 60 };

struct adder {
    struct fixture *f;
    unsigned number;
};

/* Adds one to a counter that all threads share, by guard and retry, and writes and reads a row of its own. */
static void adder_run(void *argument)
{
    struct adder *adder = argument;
    struct arena arena;
    char own[16], text[16];
    arena_open(&arena, NULL);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        enum store_result result;
        do {
            str value = STR_NONE;
            arena_reset(&arena);
            store_get(adder->f->range, STR("sum"), &arena, &value);
            snprintf(text, sizeof text, "%u", (value.len ? (unsigned)atoi(arena_copy_text(&arena, value)) : 0) + 1);
            struct store_guard guard = {STR("sum"), value};
            struct store_write write = {STR("sum"), str_of_text(text)};
            result = write_group(adder->f->range, &guard, 1, &write, 1);
        } while (result == STORE_REFUSED);
        assert_int_equal(result, STORE_OK);
        snprintf(own, sizeof own, "own%u", adder->number);
        snprintf(text, sizeof text, "%u", round);
        put_text(adder->f->range, own, text);
        str value;
        assert_int_equal(store_get(adder->f->range, str_of_text(own), &arena, &value), STORE_OK);
        assert_true(str_equal(value, str_of_text(text)));
        struct store_page page;
        struct store_scan scan = {.rows_max = 100, .bytes_max = 10000};
        assert_int_equal(store_scan(adder->f->range, &scan, &arena, &page), STORE_OK);
        assert_in_range(page.count, 2, THREADS + 1);
    }
    arena_close(&arena);
}

static void test_threads(void **state)
{
    struct fixture *f = *state;
    struct adder adders[THREADS];
    struct world_thread *threads[THREADS];
    char sum[16];
    for (unsigned at = 0; at < THREADS; at++) {
        adders[at] = (struct adder){f, at};
        threads[at] = world_thread_start(f->world, "adder", adder_run, &adders[at]);
    }
    for (unsigned at = 0; at < THREADS; at++)
        world_thread_join(f->world, threads[at]);
    snprintf(sum, sizeof sum, "%u", THREADS * ROUNDS);
    assert_text(f, f->range, "sum", sum);
}

#define ON(test, setup) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define SUITE(setup)                                                                                                            \
    {                                                                                                                           \
        ON(test_put_get_delete, setup), ON(test_every_byte, setup), ON(test_largest, setup), ON(test_multi_get, setup),          \
            ON(test_scan_bounds, setup), ON(test_scan_limits, setup), ON(test_scan_reverse, setup), ON(test_group, setup),       \
            ON(test_guards, setup), ON(test_guards_in_flight, setup), ON(test_order, setup), ON(test_apply_in_done, setup),      \
            ON(test_ranges_apart, setup), ON(test_reopen, setup), ON(test_threads, setup),                                       \
    }

int main(void)
{
    const struct CMUnitTest mem[] = SUITE(setup_mem);
    const struct CMUnitTest rados[] = SUITE(setup_rados);
    const struct CMUnitTest rocks[] = SUITE(setup_rocks);
    int failed = cmocka_run_group_tests_name("mem", mem, NULL, NULL);
    failed += cmocka_run_group_tests_name("mem, rados manners", rados, NULL, NULL);
    failed += cmocka_run_group_tests_name("rocks", rocks, NULL, NULL);
    return failed;
}
