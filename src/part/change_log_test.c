/* Tests of the change log: what is logged, in which order, for whom, and when it is trimmed. */
#include "part/fixture_internal.h"

static enum fault start(struct fixture *f, str consumer, unsigned images)
{
    struct call call;
    call_open(&call, f->world, NULL);
    enum fault fault = part_log_start(&call, f->range, consumer, images);
    call_close(&call);
    return fault;
}

static enum fault advance(struct fixture *f, str consumer, uint64_t position)
{
    struct call call;
    call_open(&call, f->world, NULL);
    enum fault fault = part_log_advance(&call, f->range, consumer, position);
    call_close(&call);
    return fault;
}

static size_t rows_in_log(struct fixture *f)
{
    struct arena arena;
    struct store_page page;
    struct store_scan scan = {.lower = STR("l"), .upper = STR("m"), .rows_max = 1000, .bytes_max = 64 << 20};
    arena_open(&arena, NULL);
    assert_int_equal(store_scan(f->range->store, &scan, &arena, &page), STORE_OK);
    arena_close(&arena);
    return page.count;
}

static void records_tell_every_change_in_order(void **state)
{
    (void)state;
    for (int manners = STORE_MANNERS_PLAIN; manners <= STORE_MANNERS_RADOS; manners++) {
        struct fixture f;
        struct call call;
        struct part_log_record *records;
        size_t count;
        uint64_t stamps[4];
        fixture_open(&f, 1, (enum store_manners)manners);
        assert_true(fixture_change(&f, EDIT_PUT, "a", 1, 0) > 0);
        assert_int_equal(rows_in_log(&f), 0);
        assert_int_equal(start(&f, STR("stream"), LOG_OLD_IMAGE | LOG_NEW_IMAGE), FAULT_NONE);
        stamps[0] = fixture_change(&f, EDIT_PUT, "a", 2, 0);
        stamps[1] = fixture_change(&f, EDIT_PUT, "b", 3, 0);
        assert_true(fixture_change(&f, EDIT_PUT, "b", 3, 0) == stamps[1]);
        stamps[2] = fixture_change(&f, EDIT_DELETE, "a", 0, 0);
        stamps[3] = fixture_change(&f, EDIT_PUT, "b", 4, 400000);
        call_open(&call, f.world, NULL);
        assert_int_equal(part_log_read(&call, f.range, 0, 100, &records, &count), FAULT_NONE);
        assert_int_equal(count, 4);
        for (size_t i = 0; i < 4; i++)
            assert_true(records[i].stamp == stamps[i]);
        assert_true(records[0].had_item && records[0].has_item);
        assert_int_equal(fixture_number(records[0].before), 1);
        assert_int_equal(fixture_number(records[0].after), 2);
        assert_true(!records[1].had_item && records[1].before.len == 0);
        assert_true(records[2].had_item && !records[2].has_item && records[2].after.len == 0);
        assert_int_equal(item_size(records[3].after), 2 + 1 + 1 + 2 + 3 + 400000);
        assert_true(str_equal(value_scalar(item_get(records[3].key_item, STR("pk"))), STR("b")));
        assert_int_equal(part_log_read(&call, f.range, stamps[1], 1, &records, &count), FAULT_NONE);
        assert_int_equal(count, 1);
        assert_true(records[0].stamp == stamps[2]);
        assert_int_equal(part_log_read(&call, f.range, stamps[3], 1, &records, &count), FAULT_NONE);
        assert_int_equal(count, 0);
        call_close(&call);
        fixture_close(&f);
    }
}

static void the_log_is_trimmed_behind_the_slowest(void **state)
{
    (void)state;
    struct fixture f;
    uint64_t stamps[10];
    fixture_open(&f, 1, STORE_MANNERS_RADOS);
    assert_int_equal(start(&f, STR("stream"), LOG_NEW_IMAGE), FAULT_NONE);
    assert_int_equal(start(&f, STR("index"), LOG_KEYS), FAULT_NONE);
    for (int i = 0; i < 10; i++)
        stamps[i] = fixture_change(&f, EDIT_PUT, "a", i, 0);
    assert_int_equal(advance(&f, STR("stream"), stamps[6]), FAULT_NONE);
    assert_int_equal(rows_in_log(&f), 10);
    assert_int_equal(advance(&f, STR("index"), stamps[3]), FAULT_NONE);
    assert_int_equal(rows_in_log(&f), 6);
    assert_int_equal(advance(&f, STR("nobody"), stamps[3]), FAULT_INTERNAL);
    fixture_part_close(&f);
    fixture_part_open(&f);
    assert_int_equal(f.range->consumers.count, 2);
    assert_int_equal(start(&f, STR("index"), LOG_OLD_IMAGE), FAULT_NONE);
    assert_true(f.range->consumers.of[1].position == stamps[3]);
    assert_int_equal(advance(&f, STR("index"), stamps[9]), FAULT_NONE);
    assert_int_equal(rows_in_log(&f), 3);
    struct call call;
    call_open(&call, f.world, NULL);
    assert_int_equal(part_log_stop(&call, f.range, STR("stream")), FAULT_NONE);
    assert_int_equal(rows_in_log(&f), 0);
    assert_true(fixture_change(&f, EDIT_PUT, "a", 77, 0) > 0);
    assert_int_equal(rows_in_log(&f), 1);
    assert_int_equal(part_log_stop(&call, f.range, STR("index")), FAULT_NONE);
    assert_int_equal(rows_in_log(&f), 0);
    assert_true(fixture_change(&f, EDIT_PUT, "a", 78, 0) > 0);
    assert_int_equal(rows_in_log(&f), 0);
    call_close(&call);
    fixture_close(&f);
}

static void long_logs_are_trimmed_in_pages(void **state)
{
    (void)state;
    struct fixture f;
    uint64_t last = 0;
    fixture_open(&f, 1, STORE_MANNERS_PLAIN);
    assert_int_equal(start(&f, STR("stream"), LOG_NEW_IMAGE), FAULT_NONE);
    for (int i = 0; i < 900; i++)
        last = fixture_change(&f, EDIT_PUT, "a", i, i % 300 == 0 ? 400000 : 0);
    struct call call;
    struct part_log_record *records;
    size_t count;
    call_open(&call, f.world, NULL);
    /* Large images come in pages of their own, small ones together. */
    uint64_t after = 0;
    size_t read = 0, reads = 0;
    do {
        assert_int_equal(part_log_read(&call, f.range, after, 2000, &records, &count), FAULT_NONE);
        after = count > 0 ? records[count - 1].stamp : after;
        read += count;
        reads++;
    } while (count > 0);
    assert_int_equal(read, 900);
    assert_true(reads > 2 && reads < 10);
    call_close(&call);
    assert_int_equal(advance(&f, STR("stream"), last - 1), FAULT_NONE);
    assert_int_equal(rows_in_log(&f), 1);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_tell_every_change_in_order),
        cmocka_unit_test(the_log_is_trimmed_behind_the_slowest),
        cmocka_unit_test(long_logs_are_trimmed_in_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
