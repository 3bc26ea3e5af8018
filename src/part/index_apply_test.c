/* Tests of index ranges: entries and mark together, exact counts, and nothing twice. */
#include "part/fixture_internal.h"

static const struct uuid source_one = {{1}}, source_two = {{2}};

static struct part_index_entry entry(struct call *call, const char *key, int64_t number, uint64_t stamp, bool is_delete)
{
    struct edit edit = fixture_edit(call, EDIT_PUT, key, number, 0);
    struct part_index_entry out = {.row_key = edit.row_key, .is_delete = is_delete};
    if (!is_delete)
        out.stored = (struct stored){.stamp = stamp, .size = (uint32_t)item_size(edit.action), .item = edit.action};
    return out;
}

static enum fault apply(struct fixture *f, struct uuid source, struct part_index_mark mark, struct client *client, const struct part_index_entry *entries,
                        size_t count)
{
    enum fault fault = part_index_apply(&client->call, f->range, source, &mark, entries, count);
    enum fault durable = client_await(client);
    return fault != FAULT_NONE ? fault : durable;
}

/* One entry, in a call of its own. */
static enum fault apply_one(struct fixture *f, struct uuid source, struct part_index_mark mark, const char *key, int64_t number, bool is_delete)
{
    struct client client;
    client_open(&client, f->world);
    struct part_index_entry one = entry(&client.call, key, number, mark.position, is_delete);
    enum fault fault = apply(f, source, mark, &client, &one, 1);
    client_close(&client);
    return fault;
}

static void expect_counts(struct fixture *f, uint64_t items, uint64_t bytes)
{
    struct part_range_counts counts;
    part_range_count(f->range, &counts);
    assert_int_equal(counts.items, items);
    assert_int_equal(counts.bytes, bytes);
}

static void expect_mark(struct fixture *f, struct uuid source, bool found, uint64_t position, bool is_copying, const char *copied_to)
{
    struct call call;
    struct part_index_mark mark;
    bool is_found;
    call_open(&call, f->world, NULL);
    assert_int_equal(part_index_mark_read(&call, f->range, source, &is_found, &mark), FAULT_NONE);
    assert_int_equal(is_found, found);
    assert_int_equal(mark.position, position);
    assert_int_equal(mark.is_copying, is_copying);
    assert_true(str_equal(mark.copied_to, str_of_text(copied_to)));
    call_close(&call);
}

static void entries_and_mark_are_one_group(void **state)
{
    (void)state;
    for (int manners = STORE_MANNERS_PLAIN; manners <= STORE_MANNERS_RADOS; manners++) {
        struct fixture f;
        struct client client;
        fixture_open(&f, 1, (enum store_manners)manners);
        expect_mark(&f, source_one, false, 0, false, "");
        client_open(&client, f.world);
        struct part_index_entry many[] = {
            entry(&client.call, "a", 1, 5, false), entry(&client.call, "b", 2, 6, false), entry(&client.call, "a", 0, 0, true),
            entry(&client.call, "c", 3, 7, false), entry(&client.call, "c", 4, 8, false), entry(&client.call, "d", 0, 0, true),
        };
        assert_int_equal(apply(&f, source_one, (struct part_index_mark){.position = 8}, &client, many, 6), FAULT_NONE);
        client_close(&client);
        assert_int_equal(fixture_get(&f, "a"), -1);
        assert_int_equal(fixture_get(&f, "b"), 2);
        assert_int_equal(fixture_get(&f, "c"), 4);
        expect_counts(&f, 2, 2 * 6);
        expect_mark(&f, source_one, true, 8, false, "");
        expect_mark(&f, source_two, false, 0, false, "");
        fixture_part_close(&f);
        fixture_part_open(&f);
        expect_counts(&f, 2, 2 * 6);
        expect_mark(&f, source_one, true, 8, false, "");
        assert_int_equal(apply_one(&f, source_one, (struct part_index_mark){.position = 9}, "b", 0, true), FAULT_NONE);
        expect_counts(&f, 1, 6);
        fixture_close(&f);
    }
}

static void nothing_is_applied_twice(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, 1, STORE_MANNERS_RADOS);
    assert_int_equal(apply_one(&f, source_one, (struct part_index_mark){.position = 9}, "a", 1, false), FAULT_NONE);
    assert_int_equal(apply_one(&f, source_one, (struct part_index_mark){.position = 9}, "a", 2, false), FAULT_NONE);
    assert_int_equal(apply_one(&f, source_one, (struct part_index_mark){.position = 8}, "a", 0, true), FAULT_NONE);
    assert_int_equal(fixture_get(&f, "a"), 1);
    expect_mark(&f, source_one, true, 9, false, "");
    /* Another source's place in its log says nothing about this one's. */
    assert_int_equal(apply_one(&f, source_two, (struct part_index_mark){.position = 3}, "b", 7, false), FAULT_NONE);
    assert_int_equal(fixture_get(&f, "b"), 7);
    fixture_close(&f);
}

static void a_copy_goes_before_the_log(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, 1, STORE_MANNERS_PLAIN);
    assert_int_equal(apply_one(&f, source_one, (struct part_index_mark){.position = 9, .is_copying = true, .copied_to = STR("ic")}, "c", 1, false), FAULT_NONE);
    expect_mark(&f, source_one, true, 9, true, "ic");
    assert_int_equal(apply_one(&f, source_one, (struct part_index_mark){.position = 9, .is_copying = true, .copied_to = STR("ib")}, "c", 2, false), FAULT_NONE);
    assert_int_equal(fixture_get(&f, "c"), 1);
    assert_int_equal(apply_one(&f, source_one, (struct part_index_mark){.position = 9}, "d", 1, false), FAULT_NONE);
    expect_mark(&f, source_one, true, 9, false, "");
    assert_int_equal(apply_one(&f, source_one, (struct part_index_mark){.position = 9, .is_copying = true, .copied_to = STR("ie")}, "e", 1, false), FAULT_NONE);
    assert_int_equal(fixture_get(&f, "e"), -1);
    expect_counts(&f, 2, 2 * 6);
    fixture_close(&f);
}

struct heard {
    struct uuid range;
    size_t records, calls;
};

static void hear(void *owner, struct uuid range, size_t count)
{
    struct heard *heard = owner;
    heard->range = range;
    heard->records += count;
    heard->calls++;
}

static void listeners_hear_of_logged_changes(void **state)
{
    (void)state;
    struct fixture f;
    struct call call;
    struct heard heard = {0};
    uint64_t position = 77;
    fixture_open(&f, 1, STORE_MANNERS_RADOS);
    call_open(&call, f.world, NULL);
    part_listen(f.part, hear, &heard);
    assert_true(fixture_change(&f, EDIT_PUT, "a", 1, 0) > 0);
    assert_false(part_log_position(f.range, STR("gsi"), &position));
    assert_int_equal(part_log_start(&call, f.range, STR("gsi"), LOG_NEW_IMAGE), FAULT_NONE);
    assert_int_equal(heard.calls, 0);
    assert_true(part_log_position(f.range, STR("gsi"), &position));
    assert_true(position > 77);
    assert_true(fixture_change(&f, EDIT_PUT, "a", 2, 0) > 0);
    assert_int_equal(heard.records, 1);
    assert_true(uuid_equal(heard.range, f.id));
    assert_true(fixture_change(&f, EDIT_PUT, "a", 2, 0) > 0);
    assert_int_equal(heard.records, 1);
    /* Edits of an index are no changes. */
    assert_int_equal(apply_one(&f, source_one, (struct part_index_mark){.position = 9}, "b", 1, false), FAULT_NONE);
    assert_int_equal(heard.records, 1);
    part_listen(f.part, NULL, NULL);
    assert_true(fixture_change(&f, EDIT_PUT, "a", 3, 0) > 0);
    assert_int_equal(heard.records, 1);
    call_close(&call);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_and_mark_are_one_group),
        cmocka_unit_test(nothing_is_applied_twice),
        cmocka_unit_test(a_copy_goes_before_the_log),
        cmocka_unit_test(listeners_hear_of_logged_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
