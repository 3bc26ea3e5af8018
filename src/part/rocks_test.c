/* The engine on RocksDB: real threads write, the database is opened again, everything acknowledged is there and counted. */
#include "part/fixture_internal.h"

#include <ftw.h>
#include <unistd.h>

enum { WRITERS = 4, WRITES = 200, KEYS = 23 };

static char folder[64];

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static void store_open(struct fixture *f)
{
    char problem[256] = "";
    struct store_rocks_options options = {.path = folder, .cache_bytes = 8 << 20};
    f->store = store_rocks_open(f->world, &options, problem, sizeof problem);
    if (!f->store)
        print_error("%s\n", problem);
    assert_non_null(f->store);
    fixture_part_open(f);
}

static void store_reopen(struct fixture *f)
{
    fixture_part_close(f);
    store_close(f->store);
    store_open(f);
}

struct writer {
    struct fixture *f;
    int number;
    int faults;
};

static void write_all(void *argument)
{
    struct writer *writer = argument;
    for (int i = 0; i < WRITES; i++) {
        struct client client;
        struct edit_outcome outcome;
        char key[16];
        snprintf(key, sizeof key, "k%d", (writer->number * 7 + i) % KEYS);
        client_open(&client, writer->f->world);
        struct edit edit = fixture_edit(&client.call, EDIT_UPDATE, key, 0, 0);
        edit.action = fixture_program(&client.call, EXPR_UPDATE, "ADD n :one", "{\":one\":{\"N\":\"1\"}}");
        writer->faults += fixture_run(writer->f, &edit, &client, &outcome) != FAULT_NONE;
        client_close(&client);
    }
}

static int64_t sum(struct fixture *f)
{
    int64_t total = 0;
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        total += fixture_get(f, key);
    }
    return total;
}

static void what_was_acknowledged_is_there_after_reopening(void **state)
{
    (void)state;
    struct fixture f = {.world = world_real_new(), .id = {{4, 5, 6}}};
    struct part_range_counts before, after;
    snprintf(folder, sizeof folder, "/tmp/stator-part-XXXXXX");
    assert_non_null(mkdtemp(folder));
    store_open(&f);
    for (int round = 1; round <= 2; round++) {
        struct writer writers[WRITERS];
        struct world_thread *threads[WRITERS];
        struct call call;
        call_open(&call, f.world, NULL);
        assert_int_equal(part_log_start(&call, f.range, STR("stream"), LOG_NEW_IMAGE), FAULT_NONE);
        for (int i = 0; i < WRITERS; i++) {
            writers[i] = (struct writer){.f = &f, .number = i};
            threads[i] = world_thread_start(f.world, "writer", write_all, &writers[i]);
        }
        for (int i = 0; i < WRITERS; i++) {
            world_thread_join(f.world, threads[i]);
            assert_int_equal(writers[i].faults, 0);
        }
        assert_int_equal(sum(&f), round * WRITERS * WRITES);
        part_range_count(f.range, &before);
        store_reopen(&f);
        part_range_count(f.range, &after);
        assert_memory_equal(&before, &after, sizeof before);
        assert_int_equal(after.items, KEYS);
        assert_int_equal(sum(&f), round * WRITERS * WRITES);
        struct part_log_record *records;
        size_t count;
        assert_int_equal(part_log_read(&call, f.range, 0, 4 * WRITERS * WRITES, &records, &count), FAULT_NONE);
        assert_int_equal(count, round * WRITERS * WRITES);
        for (size_t i = 1; i < count; i++)
            assert_true(records[i].stamp > records[i - 1].stamp);
        call_close(&call);
    }
    part_range_release(f.range);
    assert_true(part_range_drop(f.part, f.id));
    part_close(f.part);
    store_close(f.store);
    store_open(&f);
    assert_int_equal(sum(&f), -KEYS);
    fixture_part_close(&f);
    store_close(f.store);
    world_free(f.world);
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_acknowledged_is_there_after_reopening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
