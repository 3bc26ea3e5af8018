/* Tests of ranges at work: deciding, reading, stopping, recovering, counting, dropping. */
#include "part/fixture_internal.h"

static void a_put_is_read_counted_and_deleted(void **state)
{
    (void)state;
    for (int manners = STORE_MANNERS_PLAIN; manners <= STORE_MANNERS_RADOS; manners++) {
        struct fixture f;
        struct part_range_counts counts;
        fixture_open(&f, 1, (enum store_manners)manners);
        assert_int_equal(fixture_get(&f, "a"), -1);
        uint64_t first = fixture_change(&f, EDIT_PUT, "a", 5, 10);
        assert_true(first >= 1700000000000000 - 1000000);
        assert_int_equal(fixture_get(&f, "a"), 5);
        uint64_t second = fixture_change(&f, EDIT_PUT, "a", 6, 0);
        assert_true(second > first);
        assert_true(fixture_change(&f, EDIT_PUT, "b", 7, 0) > second);
        part_range_count(f.range, &counts);
        assert_int_equal(counts.items, 2);
        assert_int_equal(counts.bytes, 2 * (2 + 1 + 1 + 2));
        assert_int_equal(counts.highest_deleted_stamp, 0);
        uint64_t deleted = fixture_change(&f, EDIT_DELETE, "a", 0, 0);
        assert_true(deleted > second);
        assert_int_equal(fixture_get(&f, "a"), -1);
        part_range_count(f.range, &counts);
        assert_int_equal(counts.items, 1);
        assert_true(counts.highest_deleted_stamp == deleted && counts.last_stamp == deleted);
        fixture_close(&f);
    }
}

/* What waits for the disk counts: else a slow one would let changes pile up behind the memory total's back. */
static void changes_under_way_count_in_the_memory_total(void **state)
{
    (void)state;
    struct memory_budget memory = {0};
    struct world_sim_options sim = {.seed = 1, .wall_start_us = 1700000000000000};
    struct store_mem_options mem = {.manners = STORE_MANNERS_RADOS};
    struct fixture f = {.world = world_sim_new(&sim), .id = {{1, 2, 3}}};
    struct client clients[8];
    struct edit_outcome outcome;
    f.store = store_mem_new(f.world, &mem);
    f.part = part_open(&(struct part_options){.store = f.store, .world = f.world, .memory = &memory});
    client_open(&clients[0], f.world);
    assert_int_equal(part_range_acquire(&clients[0].call, f.part, f.id, &f.range), FAULT_NONE);
    client_close(&clients[0]);
    for (int i = 0; i < 8; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%d", i);
        client_open(&clients[i], f.world);
        struct edit edit = fixture_edit(&clients[i].call, EDIT_PUT, key, i, 300000);
        assert_int_equal(part_edit(&clients[i].call, f.range, &edit, &outcome), FAULT_NONE);
    }
    assert_true(memory.used_bytes > 7 * 300000);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(client_await(&clients[i]), FAULT_NONE);
        client_close(&clients[i]);
    }
    /* And a range at rest keeps next to nothing. */
    world_sleep_us(f.world, 1000000);
    assert_true(memory.used_bytes <= 8 << 10);
    fixture_part_close(&f);
    assert_int_equal(memory.used_bytes, 0);
    store_close(f.store);
    world_free(f.world);
}

static void an_equal_write_and_a_missing_delete_change_nothing(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, 1, STORE_MANNERS_PLAIN);
    uint64_t stamp = fixture_change(&f, EDIT_PUT, "a", 5, 0);
    assert_true(fixture_change(&f, EDIT_PUT, "a", 5, 0) == stamp);
    assert_true(fixture_change(&f, EDIT_DELETE, "x", 0, 0) == 0);
    struct part_range_counts counts;
    part_range_count(f.range, &counts);
    assert_true(counts.last_stamp == stamp);
    fixture_close(&f);
}

static void reads_see_what_is_durable_and_edits_what_is_pending(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct fixture f;
        struct client clients[3];
        struct edit_outcome outcome;
        fixture_open(&f, seed, STORE_MANNERS_RADOS);
        assert_true(fixture_change(&f, EDIT_PUT, "a", 1, 0) > 0);
        for (int i = 0; i < 3; i++) {
            client_open(&clients[i], f.world);
            struct edit edit = fixture_edit(&clients[i].call, EDIT_PUT, "a", 2 + i, 0);
            assert_int_equal(part_edit(&clients[i].call, f.range, &edit, &outcome), FAULT_NONE);
            assert_true(outcome.had_item);
            assert_int_equal(fixture_number(outcome.before.item), 1 + i);
            int64_t seen = fixture_get(&f, "a");
            assert_true(seen >= 1 && seen <= 2 + i);
            if (seen == 2 + i)
                assert_false(durable_wait_is_pending(&clients[i].call.durable));
        }
        for (int i = 0; i < 3; i++) {
            assert_int_equal(client_await(&clients[i]), FAULT_NONE);
            assert_true(fixture_get(&f, "a") >= 2 + i);
            client_close(&clients[i]);
        }
        fixture_close(&f);
    }
}

static void a_failed_group_stops_the_range(void **state)
{
    (void)state;
    for (int manners = STORE_MANNERS_PLAIN; manners <= STORE_MANNERS_RADOS; manners++) {
        struct fixture f;
        struct part_range *again;
        fixture_open(&f, 2, (enum store_manners)manners);
        assert_true(fixture_change(&f, EDIT_PUT, "a", 1, 0) > 0);
        store_mem_set_faults(f.store, &(struct store_mem_faults){.fail = 10000});
        struct client first, second;
        struct edit_outcome outcome;
        client_open(&first, f.world);
        client_open(&second, f.world);
        struct edit edit = fixture_edit(&first.call, EDIT_PUT, "a", 2, 0);
        enum fault first_fault = part_edit(&first.call, f.range, &edit, &outcome);
        enum fault second_fault = part_edit(&second.call, f.range, &edit, &outcome);
        assert_true(first_fault == FAULT_INTERNAL || client_await(&first) == FAULT_INTERNAL);
        assert_true(second_fault == FAULT_INTERNAL || client_await(&second) == FAULT_INTERNAL);
        store_mem_set_faults(f.store, &(struct store_mem_faults){0});
        assert_int_equal(fixture_get(&f, "a"), -2);
        assert_int_equal(fixture_change(&f, EDIT_PUT, "b", 1, 0), 0);
        struct call call;
        call_open(&call, f.world, NULL);
        assert_int_equal(part_range_acquire(&call, f.part, f.id, &again), FAULT_INTERNAL);
        call_close(&call);
        client_close(&first);
        client_close(&second);
        fixture_part_close(&f);
        fixture_part_open(&f);
        int64_t found = fixture_get(&f, "a");
        assert_true(found == 1 || found == 2);
        assert_true(fixture_change(&f, EDIT_PUT, "b", 1, 0) > 0);
        fixture_close(&f);
    }
}

static void a_failed_read_is_a_500_and_no_more(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, 2, STORE_MANNERS_PLAIN);
    store_mem_set_faults(f.store, &(struct store_mem_faults){.read_fail = 10000});
    assert_int_equal(fixture_get(&f, "a"), -2);
    assert_int_equal(fixture_change(&f, EDIT_PUT, "a", 1, 0), 0);
    store_mem_set_faults(f.store, &(struct store_mem_faults){0});
    assert_int_equal(fixture_get(&f, "a"), -1);
    assert_true(fixture_change(&f, EDIT_PUT, "a", 1, 0) > 0);
    fixture_close(&f);
}

struct writer {
    struct fixture *f;
    int first;
    int faults;
};

static void write_twenty(void *argument)
{
    struct writer *writer = argument;
    for (int i = 0; i < 20; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", (writer->first + i) % 7);
        writer->faults += fixture_change(writer->f, i % 5 == 4 ? EDIT_DELETE : EDIT_PUT, key, writer->first * 1000 + i, 0) == 0 && i % 5 != 4;
    }
}

static void lost_replies_are_resolved(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct fixture f;
        struct writer writers[4];
        struct world_thread *threads[4];
        int64_t before[7];
        fixture_open(&f, seed, STORE_MANNERS_RADOS);
        store_mem_set_faults(f.store, &(struct store_mem_faults){.lost_reply = 2500});
        for (int i = 0; i < 4; i++) {
            writers[i] = (struct writer){.f = &f, .first = i * 3};
            threads[i] = world_thread_start(f.world, "writer", write_twenty, &writers[i]);
        }
        for (int i = 0; i < 4; i++)
            world_thread_join(f.world, threads[i]);
        for (int i = 0; i < 4; i++)
            assert_int_equal(writers[i].faults, 0);
        struct part_range_counts counts;
        part_range_count(f.range, &counts);
        uint64_t items = 0;
        char key[16];
        for (int i = 0; i < 7; i++) {
            snprintf(key, sizeof key, "k%d", i);
            before[i] = fixture_get(&f, key);
            items += before[i] >= 0;
        }
        assert_int_equal(counts.items, items);
        store_mem_set_faults(f.store, &(struct store_mem_faults){0});
        fixture_part_close(&f);
        fixture_part_open(&f);
        for (int i = 0; i < 7; i++) {
            snprintf(key, sizeof key, "k%d", i);
            assert_int_equal(fixture_get(&f, key), before[i]);
        }
        fixture_close(&f);
    }
}

static void stamps_and_counts_survive_reopening(void **state)
{
    (void)state;
    struct fixture f;
    struct part_range_counts before, after;
    fixture_open(&f, 3, STORE_MANNERS_PLAIN);
    assert_true(fixture_change(&f, EDIT_PUT, "a", 1, 100) > 0);
    f.range->counts.visible.last_stamp = (uint64_t)1 << 60; /* the clock was far ahead */
    uint64_t ahead = fixture_change(&f, EDIT_PUT, "b", 1, 0);
    assert_true(ahead == ((uint64_t)1 << 60) + 1);
    part_range_count(f.range, &before);
    fixture_part_close(&f);
    fixture_part_open(&f);
    part_range_count(f.range, &after);
    assert_memory_equal(&before, &after, sizeof before);
    assert_true(fixture_change(&f, EDIT_PUT, "a", 2, 0) == ahead + 1);
    fixture_close(&f);
}

static void another_owner_stops_the_range(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, 4, STORE_MANNERS_PLAIN);
    struct epoch other = {.counter = 99, .owner = {{7}}};
    uint8_t bytes[EPOCH_BYTES];
    epoch_write(&other, bytes);
    struct store_write write = {META_KEY_EPOCH, str_of(bytes, EPOCH_BYTES)};
    struct store_group group = {.writes = &write, .write_count = 1};
    assert_int_equal(store_apply_wait(f.range->store, &group), STORE_OK);
    assert_int_equal(fixture_change(&f, EDIT_PUT, "a", 1, 0), 0);
    assert_int_equal(fixture_get(&f, "a"), -2);
    fixture_part_close(&f);
    fixture_part_open(&f);
    assert_int_equal(f.range->epoch.counter, 100);
    assert_int_equal(fixture_get(&f, "a"), -1);
    fixture_close(&f);
}

static void a_newer_format_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    struct part_range *range;
    fixture_open(&f, 4, STORE_MANNERS_PLAIN);
    struct store_write write = {META_KEY_EPOCH, STR("\x09 of the future")};
    struct store_group group = {.writes = &write, .write_count = 1};
    assert_int_equal(store_apply_wait(f.range->store, &group), STORE_OK);
    fixture_part_close(&f);
    struct part_options options = {.store = f.store, .world = f.world};
    f.part = part_open(&options);
    struct call call;
    call_open(&call, f.world, NULL);
    assert_int_equal(part_range_acquire(&call, f.part, f.id, &range), FAULT_INTERNAL);
    assert_int_equal(part_range_acquire(&call, f.part, f.id, &range), FAULT_INTERNAL);
    assert_null(range);
    call_close(&call);
    part_close(f.part);
    store_close(f.store);
    world_free(f.world);
}

static void a_dropped_range_is_gone(void **state)
{
    (void)state;
    struct fixture f;
    struct part_range *range;
    struct call call;
    fixture_open(&f, 5, STORE_MANNERS_PLAIN);
    assert_true(fixture_change(&f, EDIT_PUT, "a", 1, 0) > 0);
    part_range_release(f.range);
    assert_true(part_range_drop(f.part, f.id));
    assert_true(part_range_drop(f.part, f.id));
    call_open(&call, f.world, NULL);
    assert_int_equal(part_range_acquire(&call, f.part, f.id, &range), FAULT_RESOURCE_NOT_FOUND);
    call_close(&call);
    part_close(f.part);
    fixture_part_open(&f);
    assert_int_equal(fixture_get(&f, "a"), -1);
    fixture_close(&f);
}

static void many_rows_are_read_at_once(void **state)
{
    (void)state;
    struct fixture f;
    struct call call;
    str keys[30];
    bool found[30];
    struct stored rows[30];
    fixture_open(&f, 6, STORE_MANNERS_RADOS);
    for (int i = 0; i < 30; i += 2) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        assert_true(fixture_change(&f, EDIT_PUT, key, i, 0) > 0);
    }
    for (int reopened = 0; reopened < 2; reopened++) {
        call_open(&call, f.world, NULL);
        for (int i = 0; i < 30; i++) {
            char key[16];
            snprintf(key, sizeof key, "k%d", i);
            keys[i] = fixture_edit(&call, EDIT_CHECK, key, 0, 0).row_key;
        }
        assert_int_equal(part_multi_get(&call, f.range, keys, 30, found, rows), FAULT_NONE);
        for (int i = 0; i < 30; i++) {
            assert_int_equal(found[i], i % 2 == 0);
            if (found[i])
                assert_int_equal(fixture_number(rows[i].item), i);
        }
        call_close(&call);
        fixture_part_close(&f);
        fixture_part_open(&f);
    }
    fixture_close(&f);
}

static void large_groups_are_cut(void **state)
{
    (void)state;
    struct fixture f;
    struct client clients[60];
    struct edit_outcome outcome;
    fixture_open(&f, 7, STORE_MANNERS_RADOS);
    for (int i = 0; i < 60; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i % 30);
        client_open(&clients[i], f.world);
        struct edit edit = fixture_edit(&clients[i].call, EDIT_PUT, key, i, 400000);
        assert_int_equal(part_edit(&clients[i].call, f.range, &edit, &outcome), FAULT_NONE);
    }
    for (int i = 0; i < 60; i++) {
        assert_int_equal(client_await(&clients[i]), FAULT_NONE);
        client_close(&clients[i]);
    }
    assert_int_equal(fixture_get(&f, "k3"), 33);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_put_is_read_counted_and_deleted),
        cmocka_unit_test(changes_under_way_count_in_the_memory_total),
        cmocka_unit_test(an_equal_write_and_a_missing_delete_change_nothing),
        cmocka_unit_test(reads_see_what_is_durable_and_edits_what_is_pending),
        cmocka_unit_test(a_failed_group_stops_the_range),
        cmocka_unit_test(a_failed_read_is_a_500_and_no_more),
        cmocka_unit_test(lost_replies_are_resolved),
        cmocka_unit_test(stamps_and_counts_survive_reopening),
        cmocka_unit_test(another_owner_stops_the_range),
        cmocka_unit_test(a_newer_format_is_refused),
        cmocka_unit_test(a_dropped_range_is_gone),
        cmocka_unit_test(many_rows_are_read_at_once),
        cmocka_unit_test(large_groups_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
