/* A thousand racing conditional writes on one key: each is decided on the one before it. In both worlds. */
#include "part/fixture_internal.h"

enum { WRITERS = 10, WRITES = 100 };

struct racer {
    struct fixture *f;
    int won, lost, faults;
};

/* Each raises the number it saw by one, on condition that nobody was there before. */
static void race(void *argument)
{
    struct racer *racer = argument;
    for (int i = 0; i < WRITES; i++) {
        struct client client;
        struct edit_outcome outcome;
        client_open(&client, racer->f->world);
        int64_t seen = fixture_get(racer->f, "seat");
        struct edit edit = fixture_edit(&client.call, EDIT_PUT, "seat", seen + 1, 0);
        char values[64];
        snprintf(values, sizeof values, "{\":seen\":{\"N\":\"%d\"}}", (int)seen);
        edit.condition = fixture_program(&client.call, EXPR_CONDITION, "n = :seen", values);
        enum fault fault = fixture_run(racer->f, &edit, &client, &outcome);
        racer->won += fault == FAULT_NONE;
        racer->lost += fault == FAULT_CONDITIONAL_CHECK_FAILED;
        racer->faults += fault != FAULT_NONE && fault != FAULT_CONDITIONAL_CHECK_FAILED;
        client_close(&client);
    }
}

/* Each adds one, whatever is there: nothing may be lost. */
static void add(void *argument)
{
    struct racer *racer = argument;
    for (int i = 0; i < WRITES; i++) {
        struct client client;
        struct edit_outcome outcome;
        client_open(&client, racer->f->world);
        struct edit edit = fixture_edit(&client.call, EDIT_UPDATE, "seat", 0, 0);
        edit.action = fixture_program(&client.call, EXPR_UPDATE, "ADD n :one", "{\":one\":{\"N\":\"1\"}}");
        racer->faults += fixture_run(racer->f, &edit, &client, &outcome) != FAULT_NONE;
        client_close(&client);
    }
}

static int64_t run_all(struct fixture *f, void (*run)(void *), struct racer racers[WRITERS])
{
    struct world_thread *threads[WRITERS];
    assert_true(fixture_change(f, EDIT_PUT, "seat", 0, 0) > 0);
    for (int i = 0; i < WRITERS; i++) {
        racers[i] = (struct racer){.f = f};
        threads[i] = world_thread_start(f->world, "racer", run, &racers[i]);
    }
    for (int i = 0; i < WRITERS; i++)
        world_thread_join(f->world, threads[i]);
    return fixture_get(f, "seat");
}

static void check_race(struct fixture *f)
{
    struct racer racers[WRITERS];
    int won = 0, lost = 0;
    int64_t last = run_all(f, race, racers);
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(racers[i].faults, 0);
        won += racers[i].won;
        lost += racers[i].lost;
    }
    assert_int_equal(won + lost, WRITERS * WRITES);
    assert_int_equal(last, won);
    assert_true(won > 0);
}

static void real_fixture_open(struct fixture *f)
{
    struct store_mem_options options = {.manners = STORE_MANNERS_RADOS};
    *f = (struct fixture){.world = world_real_new(), .id = {{1, 2, 3}}};
    f->store = store_mem_new(f->world, &options);
    fixture_part_open(f);
}

static void one_winner_a_round_in_the_real_world(void **state)
{
    (void)state;
    struct fixture f;
    real_fixture_open(&f);
    check_race(&f);
    fixture_close(&f);
}

static void one_winner_a_round_in_the_simulated_world(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct fixture f;
        fixture_open(&f, seed, seed % 2 ? STORE_MANNERS_RADOS : STORE_MANNERS_PLAIN);
        check_race(&f);
        fixture_close(&f);
    }
}

static void a_thousand_additions_are_a_thousand(void **state)
{
    (void)state;
    struct racer racers[WRITERS];
    struct fixture f;
    real_fixture_open(&f);
    int64_t start_us = world_mono_us(f.world);
    assert_int_equal(run_all(&f, add, racers), WRITERS * WRITES);
    int64_t took_us = world_mono_us(f.world) - start_us;
    print_message("%d updates of one item in %d ms\n", WRITERS * WRITES, (int)(took_us / 1000));
    fixture_close(&f);
}

struct worker {
    struct fixture *f;
    int number;
    atomic_int *faults;
    atomic_bool *is_over;
};

static void work(void *argument)
{
    struct worker *worker = argument;
    for (int i = 0; i < 150; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", (worker->number + i) % 5);
        if (i % 3 == 0)
            atomic_fetch_add(worker->faults, fixture_get(worker->f, key) == -2);
        else
            atomic_fetch_add(worker->faults, fixture_change(worker->f, EDIT_PUT, key, worker->number * 1000 + i, (size_t)i) == 0);
    }
}

static void follow_log(void *argument)
{
    struct worker *worker = argument;
    uint64_t position = 0;
    while (!atomic_load(worker->is_over)) {
        struct call call;
        struct part_log_record *records;
        struct part_range_counts counts;
        size_t count;
        call_open(&call, worker->f->world, NULL);
        atomic_fetch_add(worker->faults, part_log_read(&call, worker->f->range, position, 10, &records, &count) != FAULT_NONE);
        for (size_t i = 0; i < count; i++) {
            atomic_fetch_add(worker->faults, records[i].stamp <= position);
            position = records[i].stamp;
        }
        atomic_fetch_add(worker->faults, part_log_advance(&call, worker->f->range, STR("log"), position) != FAULT_NONE);
        part_range_count(worker->f->range, &counts);
        atomic_fetch_add(worker->faults, counts.items > 5);
        call_close(&call);
    }
}

/* For the thread sanitizer: everything at once, with lost replies, on real threads. */
static void all_at_once_in_the_real_world(void **state)
{
    (void)state;
    for (int manners = STORE_MANNERS_PLAIN; manners <= STORE_MANNERS_RADOS; manners++) {
        enum { WORKERS = 4 };
        atomic_int faults = 0;
        atomic_bool is_over = false;
        struct worker workers[WORKERS + 1];
        struct world_thread *threads[WORKERS + 1];
        struct call call;
        struct store_mem_options options = {.manners = (enum store_manners)manners};
        struct fixture f = {.world = world_real_new(), .id = {{1, 2, 3}}};
        f.store = store_mem_new(f.world, &options);
        fixture_part_open(&f);
        call_open(&call, f.world, NULL);
        assert_int_equal(part_log_start(&call, f.range, STR("log"), LOG_NEW_IMAGE), FAULT_NONE);
        call_close(&call);
        store_mem_set_faults(f.store, &(struct store_mem_faults){.lost_reply = 200});
        for (int i = 0; i <= WORKERS; i++) {
            workers[i] = (struct worker){&f, i, &faults, &is_over};
            threads[i] = world_thread_start(f.world, "worker", i < WORKERS ? work : follow_log, &workers[i]);
        }
        for (int i = 0; i < WORKERS; i++)
            world_thread_join(f.world, threads[i]);
        atomic_store(&is_over, true);
        world_thread_join(f.world, threads[WORKERS]);
        assert_int_equal(faults, 0);
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_winner_a_round_in_the_real_world),
        cmocka_unit_test(one_winner_a_round_in_the_simulated_world),
        cmocka_unit_test(a_thousand_additions_are_a_thousand),
        cmocka_unit_test(all_at_once_in_the_real_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
