/* Random calls on every engine, each compared with mem in plain manners: the oracle. */
#include "store/store_fixture_internal.h"

#include <stdatomic.h>

enum { RANGES = 3, STEPS = 4000, WRITES_MAX = 8, GUARDS_MAX = 3, IN_FLIGHT = 16 };

struct draw {
    uint64_t state;
};

static unsigned draw_below(struct draw *draw, unsigned bound)
{
    draw->state ^= draw->state << 13;
    draw->state ^= draw->state >> 7;
    draw->state ^= draw->state << 17;
    return (unsigned)((draw->state >> 20) % bound);
}

/* Keys of few letters, the lowest and highest bytes among them, so that many are prefixes of others and most exist. */
static str draw_key(struct draw *draw, struct arena *arena)
{
    static const char letters[] = "\x01\x02" "ab\xfe\xff";
    size_t bytes = 1 + draw_below(draw, 4);
    char *key = arena_alloc_text(arena, bytes);
    for (size_t at = 0; at < bytes; at++)
        key[at] = letters[draw_below(draw, sizeof letters - 1)];
    return str_of(key, bytes);
}

static str draw_value(struct draw *draw, struct arena *arena)
{
    size_t bytes = 1 + draw_below(draw, draw_below(draw, 20) == 0 ? 3000 : 4);
    char *value = arena_alloc_text(arena, bytes);
    for (size_t at = 0; at < bytes; at++)
        value[at] = (char)draw_below(draw, bytes < 5 ? 2 : 256);
    return str_of(value, bytes);
}

struct pair {
    struct fixture tested, oracle;
    struct store_range *ranges[2][RANGES];
    struct arena arena;
    struct draw draw;
};

static void assert_same_rows(struct pair *pair, unsigned at, const struct store_scan *scan)
{
    struct store_page pages[2];
    struct store_scan wanted = *scan;
    assert_int_equal(store_scan(pair->ranges[0][at], &wanted, &pair->arena, &pages[0]), STORE_OK);
    assert_int_equal(store_scan(pair->ranges[1][at], &wanted, &pair->arena, &pages[1]), STORE_OK);
    if (!(pair->tested.engine == ENGINE_MEM_RADOS && scan->rows_max > STORE_PAGE_ROWS_MAX && pages[0].count == STORE_PAGE_ROWS_MAX)) {
        assert_int_equal(pages[0].count, pages[1].count);
        assert_int_equal(pages[0].has_more, pages[1].has_more);
    }
    for (size_t row = 0; row < pages[0].count; row++) {
        assert_true(str_equal(pages[0].rows[row].key, pages[1].rows[row].key));
        assert_true(str_equal(pages[0].rows[row].value, pages[1].rows[row].value));
    }
}

static void step_read(struct pair *pair)
{
    unsigned at = draw_below(&pair->draw, RANGES);
    str keys[5], values[2][5];
    size_t count = draw_below(&pair->draw, 6);
    for (size_t key = 0; key < count; key++)
        keys[key] = draw_key(&pair->draw, &pair->arena);
    for (unsigned side = 0; side < 2; side++)
        assert_int_equal(store_multi_get(pair->ranges[side][at], keys, count, &pair->arena, values[side]), STORE_OK);
    for (size_t key = 0; key < count; key++) {
        str value = STR_NONE;
        enum store_result result = store_get(pair->ranges[0][at], keys[key], &pair->arena, &value);
        assert_int_equal(result, values[1][key].data != NULL ? STORE_OK : STORE_ABSENT);
        assert_true(str_equal(value, values[1][key]));
        assert_true(str_equal(values[0][key], values[1][key]));
        assert_int_equal(values[0][key].data != NULL, values[1][key].data != NULL);
    }
}

static void step_scan(struct pair *pair)
{
    struct draw *draw = &pair->draw;
    struct store_scan scan = {
        .lower = draw_below(draw, 3) ? draw_key(draw, &pair->arena) : STR_NONE,
        .upper = draw_below(draw, 3) ? draw_key(draw, &pair->arena) : STR_NONE,
        .reverse = pair->tested.store->can_reverse && draw_below(draw, 2) == 0,
        .rows_max = 1 + draw_below(draw, draw_below(draw, 2) ? 20 : 3000),
        .bytes_max = draw_below(draw, draw_below(draw, 2) ? 100 : 100000),
        .is_bulk = draw_below(draw, 2) == 0,
    };
    assert_same_rows(pair, draw_below(draw, RANGES), &scan);
}

struct flying {
    struct store_group groups[2];
    enum store_result results[2];
    struct store_guard guards[GUARDS_MAX];
    struct store_write writes[WRITES_MAX];
    atomic_uint *done;
};

static void flying_done(struct store_group *group, enum store_result result)
{
    struct flying *flying = group->owner;
    flying->results[group - flying->groups] = result;
    atomic_fetch_add(flying->done, 1);
}

/* Groups of several ranges that wait together; about half their guards hold, some only because of a group before them. */
static void step_write(struct pair *pair)
{
    struct draw *draw = &pair->draw;
    struct flying flying[IN_FLIGHT];
    unsigned count = 1 + draw_below(draw, IN_FLIGHT), at[IN_FLIGHT];
    atomic_uint done = 0;
    for (unsigned number = 0; number < count; number++) {
        struct flying *one = &flying[number];
        *one = (struct flying){.done = &done};
        size_t guards = draw_below(draw, 2) ? draw_below(draw, GUARDS_MAX + 1) : 0, writes = draw_below(draw, WRITES_MAX + 1);
        at[number] = draw_below(draw, RANGES);
        for (size_t guard = 0; guard < guards; guard++) {
            str value = STR_NONE;
            one->guards[guard].key = draw_key(draw, &pair->arena);
            if (draw_below(draw, 8) > 0) /* the oracle is a step ahead only by what this loop has written to it */
                store_get(pair->ranges[1][at[number]], one->guards[guard].key, &pair->arena, &value);
            one->guards[guard].value = value;
        }
        for (size_t write = 0; write < writes; write++)
            one->writes[write] = (struct store_write){draw_key(draw, &pair->arena), draw_below(draw, 3) ? draw_value(draw, &pair->arena) : STR_NONE};
        for (unsigned side = 0; side < 2; side++)
            one->groups[side] = (struct store_group){one->guards, guards, one->writes, writes, flying_done, one, NULL, NULL};
        store_apply(pair->ranges[1][at[number]], &one->groups[1]);
    }
    for (unsigned number = 0; number < count; number++)
        store_apply(pair->ranges[0][at[number]], &flying[number].groups[0]);
    while (atomic_load(&done) < 2 * count)
        world_sleep_us(pair->tested.world, 20);
    for (unsigned number = 0; number < count; number++)
        assert_int_equal(flying[number].results[0], flying[number].results[1]);
}

static void pair_ranges_open(struct pair *pair)
{
    for (unsigned at = 0; at < RANGES; at++) {
        pair->ranges[0][at] = fixture_range(&pair->tested, fixture_id(255 + at));
        pair->ranges[1][at] = fixture_range(&pair->oracle, fixture_id(255 + at));
    }
}

static void pair_ranges_close(struct pair *pair)
{
    for (unsigned at = 0; at < RANGES; at++) {
        store_range_close(pair->ranges[0][at]);
        store_range_close(pair->ranges[1][at]);
    }
}

static void step_restart(struct pair *pair)
{
    pair_ranges_close(pair);
    if (draw_below(&pair->draw, 2) == 0) {
        struct uuid id = fixture_id(255 + draw_below(&pair->draw, RANGES));
        assert_int_equal(store_range_drop(pair->tested.store, id), STORE_OK);
        assert_int_equal(store_range_drop(pair->oracle.store, id), STORE_OK);
    }
    if (draw_below(&pair->draw, 2) == 0)
        fixture_reopen(&pair->tested);
    pair_ranges_open(pair);
}

static void run(enum engine engine, uint64_t seed, unsigned steps)
{
    struct pair *pair = malloc(sizeof *pair);
    fixture_open(&pair->tested, engine);
    fixture_open(&pair->oracle, ENGINE_MEM);
    arena_open(&pair->arena, NULL);
    pair->draw.state = seed * 0x9E3779B97F4A7C15u;
    pair_ranges_open(pair);
    for (unsigned step = 0; step < steps; step++) {
        unsigned kind = draw_below(&pair->draw, 100);
        if (kind < 45)
            step_write(pair);
        else if (kind < 70)
            step_read(pair);
        else if (kind < 99 || step % 4 != 0)
            step_scan(pair);
        else
            step_restart(pair);
        arena_reset(&pair->arena);
    }
    for (unsigned at = 0; at < RANGES; at++)
        assert_same_rows(pair, at, &(struct store_scan){.rows_max = 1000, .bytes_max = 10 << 20});
    pair_ranges_close(pair);
    arena_close(&pair->arena);
    fixture_close(&pair->tested);
    fixture_close(&pair->oracle);
    free(pair);
}

static void test_mem(void **state)
{
    (void)state;
    run(ENGINE_MEM, 1, STEPS);
}

static void test_rados(void **state)
{
    (void)state;
    run(ENGINE_MEM_RADOS, 2, STEPS / 8);
}

static void test_rocks(void **state)
{
    (void)state;
    run(ENGINE_ROCKS, 3, STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mem),
        cmocka_unit_test(test_rados),
        cmocka_unit_test(test_rocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
