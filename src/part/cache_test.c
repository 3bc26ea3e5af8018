/* Tests of the item cache: what comes back, what gives way, what a range's end removes. */
#include "part/fixture_internal.h"

static str key_of(char text[16], int number)
{
    snprintf(text, 16, "key-%d", number);
    return str_of_text(text);
}

static void rows_come_back_and_are_replaced(void **state)
{
    (void)state;
    struct world *world = world_real_new();
    struct cache *cache = cache_new(world, 1 << 20, NULL);
    struct arena arena;
    str value;
    arena_open(&arena, NULL);
    assert_false(cache_get(cache, 1, STR("a"), &arena, &value));
    cache_put(cache, 1, STR("a"), STR("one"));
    cache_put(cache, 1, STR("gone"), STR_NONE);
    assert_true(cache_get(cache, 1, STR("a"), &arena, &value));
    assert_true(str_equal(value, STR("one")));
    assert_true(cache_get(cache, 1, STR("gone"), &arena, &value));
    assert_null(value.data);
    assert_false(cache_get(cache, 2, STR("a"), &arena, &value));
    cache_put(cache, 1, STR("a"), STR("two"));
    assert_true(cache_get(cache, 1, STR("a"), &arena, &value) && str_equal(value, STR("two")));
    cache_put(cache, 1, STR("a"), str_of(arena_alloc_zeroed(&arena, 100000), 100000));
    assert_false(cache_get(cache, 1, STR("a"), &arena, &value));
    arena_close(&arena);
    cache_free(cache);
    world_free(world);
}

static void bytes_are_bounded_and_the_used_stay(void **state)
{
    (void)state;
    enum { ROWS = 5000, BYTES = 200000 };
    struct world *world = world_real_new();
    struct metrics metrics;
    metrics_open(&metrics);
    struct cache *cache = cache_new(world, BYTES, &metrics);
    struct arena arena;
    char text[16], row[100] = {0};
    str value;
    arena_open(&arena, NULL);
    cache_put(cache, 1, STR("used"), STR("much"));
    for (int i = 0; i < ROWS; i++) {
        cache_put(cache, 1, key_of(text, i), str_of(row, sizeof row));
        assert_true(cache_get(cache, 1, STR("used"), &arena, &value));
    }
    int kept = 0;
    for (int i = 0; i < ROWS; i++)
        kept += cache_get(cache, 1, key_of(text, i), &arena, &value);
    assert_in_range(kept, 500, BYTES / 100);
    const struct metric *bytes = metrics.first->next->next;
    assert_string_equal(bytes->name, "stator_cache_bytes");
    assert_in_range(bytes->value, BYTES / 2, BYTES);
    cache_forget_range(cache, 2);
    assert_true(cache_get(cache, 1, STR("used"), &arena, &value));
    cache_forget_range(cache, 1);
    assert_int_equal(bytes->value, 0);
    arena_close(&arena);
    cache_free(cache);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_and_are_replaced),
        cmocka_unit_test(bytes_are_bounded_and_the_used_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
