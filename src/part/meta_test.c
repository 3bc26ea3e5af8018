/* Golden bytes of what a range stores beside its items: they are part of the data format, and a newer program must read them. */
#include "part/fixture_internal.h"

static void the_meta_rows_have_their_bytes(void **state)
{
    (void)state;
    uint8_t bytes[EPOCH_BYTES];
    struct epoch epoch = {.counter = 258, .owner = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}}}, epoch_back;
    epoch_write(&epoch, bytes);
    assert_memory_equal(bytes, "\x01\0\0\0\0\0\0\x01\x02\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10", EPOCH_BYTES);
    assert_true(epoch_read(str_of(bytes, EPOCH_BYTES), &epoch_back));
    assert_memory_equal(&epoch, &epoch_back, sizeof epoch);
    assert_false(epoch_read(str_of(bytes, EPOCH_BYTES - 1), &epoch_back));
    bytes[0]++;
    assert_false(epoch_read(str_of(bytes, EPOCH_BYTES), &epoch_back));

    struct arena arena;
    struct buf out;
    struct counts counts = {5, {.items = 3, .bytes = 300, .last_stamp = 1700000000000000, .highest_deleted_stamp = 7}}, counts_back;
    arena_open(&arena, NULL);
    buf_open(&out, &arena, 0);
    counts_write(&counts, &out);
    assert_int_equal(out.len, 14);
    assert_memory_equal(out.data, "\x01\x05\x03\xac\x02\x80\x80\xf9\xc0\xc1\xc4\x82\x03\x07", 14);
    assert_true(counts_read(buf_str(&out), &counts_back));
    assert_memory_equal(&counts, &counts_back, sizeof counts);
    for (size_t cut = 0; cut < out.len; cut++)
        assert_false(counts_read(str_of(out.data, cut), &counts_back));

    struct consumers consumers = {.of = {{.name = "stream", .name_bytes = 6, .images = LOG_OLD_IMAGE | LOG_NEW_IMAGE, .position = 9}}, .count = 1, .trimmed_to = 4};
    struct consumers consumers_back = {0};
    buf_open(&out, &arena, 0);
    consumers_write(&consumers, &out);
    assert_int_equal(out.len, 12);
    assert_memory_equal(out.data, "\x01\x04\x01\x06stream\x03\x09", 12);
    assert_true(consumers_read(buf_str(&out), &consumers_back));
    assert_memory_equal(&consumers, &consumers_back, sizeof consumers);
    for (size_t cut = 0; cut < out.len; cut++)
        assert_false(consumers_read(str_of(out.data, cut), &consumers_back));
    arena_close(&arena);
}

static void a_log_record_has_its_bytes(void **state)
{
    (void)state;
    struct fixture f;
    struct call call;
    fixture_open(&f, 1, STORE_MANNERS_PLAIN);
    call_open(&call, f.world, NULL);
    assert_int_equal(part_log_start(&call, f.range, STR("stream"), LOG_KEYS), FAULT_NONE);
    f.range->counts.visible.last_stamp = ((uint64_t)1 << 62) + 128;
    assert_true(fixture_change(&f, EDIT_PUT, "a", 1, 0) == ((uint64_t)1 << 62) + 129);
    struct store_page page;
    struct store_scan scan = {.lower = STR("l"), .upper = STR("m"), .rows_max = 10, .bytes_max = 1 << 20};
    assert_int_equal(store_scan(f.range->store, &scan, &call.arena, &page), STORE_OK);
    assert_int_equal(page.count, 1);
    assert_int_equal(page.rows[0].key.len, 12);
    assert_memory_equal(page.rows[0].key.data, "l\x80\xc0\x80\x80\x80\x80\x80\x80\x81\x81" "a", 12);
    struct edit edit = fixture_edit(&call, EDIT_PUT, "a", 1, 0);
    struct buf expected;
    buf_open(&expected, &call.arena, 0);
    BUF_ADD_LITERAL(&expected, "\x01\x02"); /* version; there is an item now */
    buf_add_counted(&expected, edit.row_key);
    buf_add_counted(&expected, STR("\x01\x02pk\x01\x01" "a"));
    BUF_ADD_LITERAL(&expected, "\0\0");
    assert_true(str_equal(page.rows[0].value, buf_str(&expected)));
    call_close(&call);
    fixture_close(&f);
}

static void an_edit_has_its_bytes(void **state)
{
    (void)state;
    struct call call;
    struct buf out;
    struct edit_index_key key = {STR("n"), VALUE_N, STR("by-n"), PARTITION_KEY_MAX};
    struct edit edit = {.kind = EDIT_DELETE, .row_key = STR("ikey"), .key_item = STR("\x01\x02pk\x01\x01" "a"), .index_keys = &key, .index_key_count = 1,
                        .measures_statement = true};
    call_open(&call, NULL, NULL);
    buf_open(&out, &call.arena, 0);
    edit_encode(&edit, &out);
    static const char golden[] = "\x01\x03\x01\x04ikey\x07\x01\x02pk\x01\x01" "a\0\0\x01\x01n\x02\x04" "by-n\x80\x10";
    assert_int_equal(out.len, sizeof golden - 1);
    assert_memory_equal(out.data, golden, out.len);
    call_close(&call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_meta_rows_have_their_bytes),
        cmocka_unit_test(a_log_record_has_its_bytes),
        cmocka_unit_test(an_edit_has_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
