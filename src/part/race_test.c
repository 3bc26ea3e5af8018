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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_winner_a_round_in_the_real_world),
        cmocka_unit_test(one_winner_a_round_in_the_simulated_world),
        cmocka_unit_test(a_thousand_additions_are_a_thousand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
