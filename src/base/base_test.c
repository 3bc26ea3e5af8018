/* Tests of str, arena, buf, bytes and probe. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/probe.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void str_finds_and_cuts(void **state)
{
    (void)state;
    str rest = STR("a,bc,");
    assert_true(str_equal(str_cut(&rest, ','), STR("a")));
    assert_true(str_equal(str_cut(&rest, ','), STR("bc")));
    assert_int_equal(rest.len, 0);
    assert_int_equal(str_cut(&rest, ',').len, 0);
    rest = STR("whole");
    assert_true(str_equal(str_cut(&rest, ','), STR("whole")));
    assert_int_equal(rest.len, 0);
    assert_int_equal(str_find(STR("abc"), 'c'), 2);
    assert_int_equal(str_find(STR("abc"), 'x'), 3);
    assert_int_equal(str_find(STR_NONE, 'x'), 0);
    assert_int_equal(str_find(STR("a\xff"), '\xff'), 1);
}

static void str_trims_and_folds(void **state)
{
    (void)state;
    assert_true(str_equal(str_trim(STR(" \t a b\r\n")), STR("a b")));
    assert_int_equal(str_trim(STR(" \n ")).len, 0);
    assert_int_equal(str_trim(STR_NONE).len, 0);
    assert_true(str_equal_folded(STR("Content-Length"), STR("content-LENGTH")));
    assert_false(str_equal_folded(STR("[a"), STR("{a")));
    assert_false(str_equal_folded(STR("ab"), STR("a")));
}

static void arena_grows_and_tells_the_budget(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit_bytes = 1 << 20};
    struct arena arena;
    arena_open(&arena, &budget);
    assert_int_equal(budget.used_bytes, 0);
    for (size_t i = 1; i < 3000; i++) {
        unsigned char *data = arena_alloc(&arena, i);
        assert_int_equal((uintptr_t)data % 16, 0);
        memset(data, (int)(i & 0xff), i);
    }
    assert_int_equal(budget.used_bytes, arena.held_bytes);
    assert_true(arena.held_bytes > 3000 * 1500);
    arena_reset(&arena);
    assert_int_equal(arena.held_bytes, 4096);
    assert_int_equal(budget.used_bytes, 4096);
    char *first = arena_alloc_text(&arena, 100);
    memset(first, 'x', 100);
    arena_close(&arena);
    assert_int_equal(budget.used_bytes, 0);
    assert_int_equal(arena.held_bytes, 0);
}

static void arena_takes_large_pieces_back(void **state)
{
    (void)state;
    struct memory_budget budget = {0};
    struct arena arena;
    arena_open(&arena, &budget);
    /* The first of all, the newest and one between others; small ones and what was no piece stay. */
    for (int round = 0; round < 2; round++) {
        char *first = arena_alloc(&arena, 1 << 20), *small = arena_alloc(&arena, 100), *second = arena_alloc(&arena, 1 << 20);
        char *middling = arena_alloc(&arena, 100000), *third = arena_alloc(&arena, 1 << 20);
        memset(small, 's', 100);
        memset(middling, 'm', 100000);
        size_t before = arena.held_bytes;
        arena_give_back(&arena, small);
        arena_give_back(&arena, middling);
        arena_give_back(&arena, second + 16);
        assert_int_equal(arena.held_bytes, before);
        arena_give_back(&arena, second);
        arena_give_back(&arena, round ? third : first);
        arena_give_back(&arena, round ? first : third);
        assert_true(arena.held_bytes <= before - (3 << 20));
        assert_int_equal(budget.used_bytes, arena.held_bytes);
        assert_int_equal(small[99], 's');
        assert_int_equal(middling[99999], 'm');
        memset(arena_alloc(&arena, 5000), 1, 5000);
    }
    char *only;
    arena_close(&arena);
    arena_open(&arena, &budget);
    only = arena_alloc(&arena, 1 << 20);
    arena_give_back(&arena, only);
    assert_int_equal(arena.held_bytes, 0);
    memset(arena_alloc(&arena, 10), 1, 10);
    arena_close(&arena);
    assert_int_equal(budget.used_bytes, 0);
}

static void arena_keeps_one_piece(void **state)
{
    (void)state;
    struct memory_budget budget = {0};
    struct arena arena;
    arena_open(&arena, &budget);
    char *small = arena_alloc(&arena, 100), *large = arena_alloc(&arena, 1 << 20);
    memset(arena_alloc(&arena, 1 << 20), 1, 1 << 20);
    memset(small, 's', 100);
    memset(large, 'l', 1 << 20);
    arena_keep(&arena, large + 1000);
    assert_int_equal(large[(1 << 20) - 1], 'l');
    assert_true(arena.held_bytes > 1 << 20 && arena.held_bytes < (1 << 20) + 1000);
    memset(arena_alloc(&arena, 100), 1, 100);
    assert_int_equal(large[0], 'l');
    assert_int_equal(budget.used_bytes, arena.held_bytes);
    arena_keep(&arena, "text");
    assert_int_equal(arena.held_bytes, 0);
    memset(arena_alloc(&arena, 100), 1, 100);
    arena_close(&arena);
    assert_int_equal(budget.used_bytes, 0);
}

static void arena_keeps_its_chunk_when_a_large_piece_comes(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    char *before = arena_alloc_text(&arena, 10);
    memset(arena_alloc(&arena, 1 << 20), 1, 1 << 20);
    char *after = arena_alloc_text(&arena, 10);
    assert_true(after > before && after < before + 4096);
    assert_true(arena.held_bytes < (1 << 20) + 5000);
    arena_reset(&arena);
    assert_int_equal(arena.held_bytes, 4096);
    arena_close(&arena);
    memset(arena_alloc(&arena, 1 << 20), 1, 1 << 20);
    arena_reset(&arena);
    assert_int_equal(arena.held_bytes, 0);
    assert_non_null(arena_alloc(&arena, 0));
    arena_close(&arena);
}

static void arena_copies_and_prints(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    assert_true(str_equal(arena_copy(&arena, STR("a\0b")), STR("a\0b")));
    assert_string_equal(arena_copy_text(&arena, STR_NONE), "");
    assert_true(str_equal(arena_printf(&arena, "%d-%s", 5, "x"), STR("5-x")));
    str wide = arena_printf(&arena, "%*d", 1000, 7);
    assert_int_equal(wide.len, 1000);
    assert_int_equal(wide.data[999], '7');
    assert_int_equal(wide.data[998], ' ');
    int *zeroed = ARENA_NEW_ARRAY(&arena, int, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(zeroed[i], 0);
    arena_close(&arena);
}

static void budget_says_what_fits(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit_bytes = 100};
    assert_true(memory_budget_has(&budget, 100));
    assert_false(memory_budget_has(&budget, 101));
    memory_budget_add(&budget, 150);
    assert_false(memory_budget_has(&budget, 0));
    assert_false(memory_budget_has(&budget, SIZE_MAX));
    memory_budget_remove(&budget, 60);
    assert_true(memory_budget_has(&budget, 10));
    struct memory_budget unlimited = {.used_bytes = 5};
    assert_true(memory_budget_has(&unlimited, SIZE_MAX));
}

static void fill(struct buf *buf)
{
    for (int i = 0; i < 100000; i++)
        buf_add_byte(buf, (uint8_t)i);
    buf_add_str(buf, STR("end"));
    BUF_ADD_LITERAL(buf, "!");
    buf_printf(buf, "%s %d", "of", 5);
    assert_int_equal(buf->len, 100000 + 8);
    for (int i = 0; i < 100000; i++)
        assert_int_equal((uint8_t)buf->data[i], (uint8_t)i);
    assert_memory_equal(buf->data + 100000, "end!of 5", 8);
}

static void buf_grows_with_and_without_an_arena(void **state)
{
    (void)state;
    struct buf buf;
    buf_open(&buf, NULL, 0);
    buf_add(&buf, NULL, 0);
    fill(&buf);
    buf_free(&buf);
    struct arena arena;
    arena_open(&arena, NULL);
    buf_open(&buf, &arena, 10);
    fill(&buf);
    buf_open(&buf, &arena, 0);
    for (int i = 0; i < 3000; i++) { /* pieces of others lie between */
        buf_add_u32(&buf, (uint32_t)i);
        if (i % 100 == 0)
            memset(arena_alloc_text(&arena, 3), 'z', 3);
    }
    for (int i = 0; i < 3000; i++)
        assert_int_equal(bytes_get_u32(buf.data + 4 * i), i);
    buf_open(&buf, &arena, 0);
    buf_printf(&buf, "%*d", 200, 1);
    assert_int_equal(buf.len, 200);
    arena_close(&arena);
}

static void varints_round_trip_and_refuse(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        size_t size = varint_size(values[i]);
        uint8_t *exact = malloc(size);
        assert_int_equal(varint_put(exact, values[i]), size);
        str rest = str_of(exact, size);
        uint64_t back;
        assert_true(varint_take(&rest, &back));
        assert_true(back == values[i]);
        assert_int_equal(rest.len, 0);
        rest = str_of(exact, size - 1);
        assert_false(varint_take(&rest, &back));
        assert_int_equal(rest.len, size - 1);
        free(exact);
    }
    str over = STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
    uint64_t back;
    assert_false(varint_take(&over, &back));
    str counted = STR("\x03" "ab"), taken;
    assert_false(str_take_counted(&counted, &taken));
    assert_int_equal(counted.len, 3);
    counted = STR("\x02" "abc");
    assert_true(str_take_counted(&counted, &taken));
    assert_true(str_equal(taken, STR("ab")) && str_equal(counted, STR("c")));
}

static void uuids_are_written_as_text(void **state)
{
    (void)state;
    struct uuid id = {{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10}};
    char text[UUID_TEXT_BYTES];
    uuid_format(id, text);
    assert_memory_equal(text, "01234567-89ab-cdef-fedc-ba9876543210", UUID_TEXT_BYTES);
}

static void count_hits(const struct probe *probe, void *context)
{
    if (strcmp(probe->name, "base test, third time") == 0)
        *(unsigned *)context += probe->hits;
}

static void probes_count(void **state)
{
    (void)state;
    unsigned hits = 0;
    probes_each(count_hits, &hits);
    assert_int_equal(hits, 0);
    for (int i = 0; i < 5; i++)
        if (i >= 3)
            PROBE("base test, third time");
    probes_each(count_hits, &hits);
    assert_int_equal(hits, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(str_finds_and_cuts),
        cmocka_unit_test(str_trims_and_folds),
        cmocka_unit_test(arena_grows_and_tells_the_budget),
        cmocka_unit_test(arena_takes_large_pieces_back),
        cmocka_unit_test(arena_keeps_one_piece),
        cmocka_unit_test(arena_keeps_its_chunk_when_a_large_piece_comes),
        cmocka_unit_test(arena_copies_and_prints),
        cmocka_unit_test(budget_says_what_fits),
        cmocka_unit_test(buf_grows_with_and_without_an_arena),
        cmocka_unit_test(varints_round_trip_and_refuse),
        cmocka_unit_test(uuids_are_written_as_text),
        cmocka_unit_test(probes_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
