/* Tests of the mem engine's tree against a sorted array, with every invariant checked as rows come and go. */
#include "store/tree_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { KEYS = 3000 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Key `number` in exactly its own bytes, so that a sanitizer sees an overrun. Many share their first 16 bytes and more. */
static str key_make(unsigned number)
{
    char text[64];
    static const char *const starts[] = {"", "a", "shared-by-very-many-keys/", "shared-by-very-many-keys/and-then-some-more/"};
    int len = snprintf(text, sizeof text, "%s%0*u", starts[number % 4], (int)(number % 3), number);
    char *data = malloc((size_t)len);
    memcpy(data, text, (size_t)len);
    return str_of(data, (size_t)len);
}

static void assert_tree_equals(const struct tree *tree, const str *keys, const uint64_t *values, unsigned count)
{
    struct tree_cursor cursor = tree_seek(tree, STR_NONE);
    unsigned rows = 0;
    str last = STR_NONE;
    for (; cursor.leaf != NULL; tree_next(&cursor)) {
        str key, value;
        tree_row(&cursor, &key, &value);
        assert_true(str_compare(last, key) < 0);
        last = key;
        rows++;
    }
    unsigned wanted = 0;
    for (unsigned at = 0; at < count; at++) {
        str value;
        bool found = tree_get(tree, keys[at], &value);
        assert_int_equal(found, values[at] != 0);
        if (found) {
            wanted++;
            assert_int_equal(value.len, 1 + values[at] % 9);
            for (size_t byte = 0; byte < value.len; byte++)
                assert_int_equal((uint8_t)value.data[byte], (uint8_t)values[at]);
        }
    }
    assert_int_equal(rows, wanted);
    assert_int_equal(tree_check(tree), wanted);
}

static void put_value(struct tree *tree, str key, uint64_t value)
{
    char bytes[9];
    memset(bytes, (int)(uint8_t)value, sizeof bytes);
    tree_put(tree, key, str_of(bytes, 1 + value % 9));
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t random = seed * 0x9E3779B97F4A7C15u;
        struct tree tree;
        str keys[KEYS];
        uint64_t values[KEYS] = {0};
        tree_open(&tree);
        for (unsigned at = 0; at < KEYS; at++)
            keys[at] = key_make(at);
        for (unsigned step = 0; step < 40000; step++) {
            unsigned at = (unsigned)(next_random(&random) % KEYS);
            /* Waves of growth and of decay, so that leaves fill up and fall empty. */
            bool grows = next_random(&random) % 100 < ((step / 8000) % 2 == 0 ? 80u : 15u);
            if (grows) {
                values[at] = 1 + next_random(&random) % 200;
                put_value(&tree, keys[at], values[at]);
            } else {
                assert_int_equal(tree_delete(&tree, keys[at]), values[at] != 0);
                values[at] = 0;
            }
            if (step % 4000 == 0)
                assert_tree_equals(&tree, keys, values, KEYS);
        }
        assert_tree_equals(&tree, keys, values, KEYS);
        for (unsigned at = 0; at < KEYS; at++) {
            tree_delete(&tree, keys[at]);
            free((void *)(uintptr_t)keys[at].data);
        }
        assert_int_equal(tree_check(&tree), 0);
        assert_null(tree.root);
        assert_int_equal(tree.bytes, 0);
    }
}

static void test_in_order(void **state)
{
    (void)state;
    for (int downwards = 0; downwards < 2; downwards++) {
        struct tree tree;
        tree_open(&tree);
        for (unsigned at = 0; at < 20000; at++) {
            char key[16];
            snprintf(key, sizeof key, "%08u", downwards ? 20000 - at : at);
            tree_put(&tree, str_of_text(key), STR("v"));
        }
        assert_int_equal(tree_check(&tree), 20000);
        for (unsigned at = 0; at < 20000; at++) {
            char key[16];
            snprintf(key, sizeof key, "%08u", at + (downwards ? 1 : 0));
            assert_true(tree_delete(&tree, str_of_text(key)));
            if (at % 1000 == 0)
                assert_int_equal(tree_check(&tree), 19999 - at);
        }
        assert_null(tree.root);
        tree_close(&tree);
    }
}

static void test_seek(void **state)
{
    (void)state;
    struct tree tree;
    str key, value;
    tree_open(&tree);
    assert_null(tree_seek(&tree, STR("a")).leaf);
    assert_null(tree_seek_below(&tree, STR_NONE).leaf);
    for (unsigned at = 0; at < 1000; at++) {
        char text[16];
        snprintf(text, sizeof text, "%04u", at * 2);
        tree_put(&tree, str_of_text(text), STR("v"));
    }
    for (unsigned at = 0; at < 2000; at++) {
        char text[16], above[16], below[16];
        snprintf(text, sizeof text, "%04u", at);
        snprintf(above, sizeof above, "%04u", (at + 1) / 2 * 2);
        snprintf(below, sizeof below, "%04u", (at - 1) / 2 * 2);
        struct tree_cursor cursor = tree_seek(&tree, str_of_text(text));
        if (at == 1999) {
            assert_null(cursor.leaf);
        } else {
            tree_row(&cursor, &key, &value);
            assert_true(str_equal(key, str_of_text(above)));
        }
        cursor = tree_seek_below(&tree, str_of_text(text));
        if (at == 0) {
            assert_null(cursor.leaf);
        } else {
            tree_row(&cursor, &key, &value);
            assert_true(str_equal(key, str_of_text(below)));
        }
    }
    unsigned rows = 0;
    for (struct tree_cursor cursor = tree_seek_below(&tree, STR_NONE); cursor.leaf != NULL; tree_previous(&cursor))
        rows++;
    assert_int_equal(rows, 1000);
    tree_close(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_seek),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
