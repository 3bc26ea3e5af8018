/* Tests of both worlds: the same programs run in each; the simulated one replays, finds a missing lock and a deadlock. */
#include "world/world.h"

#include "base/call.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 50, WALL_START = 1700000000 };

static struct world *sim_new(uint64_t seed)
{
    struct world_sim_options options = {.seed = seed, .wall_start_us = (int64_t)WALL_START * 1000000, .clock_step_percent = 10};
    return world_sim_new(&options);
}

/* A bounded queue that threads put to and take from, and a counter. */
struct shop {
    struct world *world;
    struct world_mutex lock;
    struct world_cond not_empty, not_full;
    int queue[4];
    int held;
    long sum_in, sum_out;
    bool omit_lock;
    int counter;
};

static void put_all(void *argument)
{
    struct shop *shop = argument;
    for (int i = 1; i <= ROUNDS; i++) {
        world_lock(shop->world, &shop->lock);
        while (shop->held == 4)
            world_wait(shop->world, &shop->not_full, &shop->lock, -1);
        shop->queue[shop->held++] = i;
        shop->sum_in += i;
        world_wake_one(shop->world, &shop->not_empty);
        world_unlock(shop->world, &shop->lock);
        if (i % 16 == 0)
            world_sleep_us(shop->world, 100);
    }
}

static void take_all(void *argument)
{
    struct shop *shop = argument;
    for (int i = 1; i <= ROUNDS; i++) {
        world_lock(shop->world, &shop->lock);
        while (shop->held == 0)
            world_wait(shop->world, &shop->not_empty, &shop->lock, i % 2 ? -1 : 50);
        shop->sum_out += shop->queue[--shop->held];
        world_wake_one(shop->world, &shop->not_full);
        world_unlock(shop->world, &shop->lock);
    }
}

static void run_shop(struct world *world)
{
    struct shop shop = {.world = world};
    world_mutex_open(world, &shop.lock);
    world_cond_open(world, &shop.not_empty);
    world_cond_open(world, &shop.not_full);
    struct world_thread *threads[2 * THREADS];
    for (int i = 0; i < THREADS; i++) {
        threads[2 * i] = world_thread_start(world, "put", put_all, &shop);
        threads[2 * i + 1] = world_thread_start(world, "take", take_all, &shop);
    }
    for (int i = 0; i < 2 * THREADS; i++)
        world_thread_join(world, threads[i]);
    assert_int_equal(shop.sum_in, THREADS * ROUNDS * (ROUNDS + 1) / 2);
    assert_int_equal(shop.sum_out, shop.sum_in);
    assert_int_equal(shop.held, 0);
    world_cond_close(world, &shop.not_empty);
    world_cond_close(world, &shop.not_full);
    world_mutex_close(world, &shop.lock);
}

static void the_real_world_runs_threads(void **state)
{
    (void)state;
    struct world *world = world_real_new();
    run_shop(world);
    world_free(world);
}

static void the_same_seed_makes_the_same_choices(void **state)
{
    (void)state;
    uint64_t prints[200];
    for (uint64_t seed = 0; seed < 200; seed++) {
        for (int run = 0; run < 2; run++) {
            struct world *world = sim_new(seed);
            run_shop(world);
            uint64_t print = world_sim_fingerprint(world);
            if (run == 0)
                prints[seed] = print;
            else
                assert_true(print == prints[seed]);
            world_free(world);
        }
    }
    for (int a = 0; a < 200; a++)
        for (int b = 0; b < a; b++)
            assert_true(prints[a] != prints[b]);
}

static void count(void *argument)
{
    struct shop *shop = argument;
    for (int i = 0; i < 10; i++) {
        if (!shop->omit_lock)
            world_lock(shop->world, &shop->lock);
        int before = shop->counter;
        world_turn(shop->world);
        shop->counter = before + 1;
        if (!shop->omit_lock)
            world_unlock(shop->world, &shop->lock);
    }
}

static int run_counters(uint64_t seed, bool omit_lock)
{
    struct world *world = sim_new(seed);
    struct shop shop = {.world = world, .omit_lock = omit_lock};
    world_mutex_open(world, &shop.lock);
    struct world_thread *threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = world_thread_start(world, "count", count, &shop);
    for (int i = 0; i < THREADS; i++)
        world_thread_join(world, threads[i]);
    world_mutex_close(world, &shop.lock);
    world_free(world);
    return shop.counter;
}

static void a_missing_lock_is_found(void **state)
{
    (void)state;
    int found = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        assert_int_equal(run_counters(seed, false), THREADS * 10);
        found += run_counters(seed, true) != THREADS * 10;
    }
    assert_true(found > 150);
}

static void clock_jumps_when_all_sleep(void **state)
{
    (void)state;
    struct world *world = sim_new(1);
    int64_t start_us = world_mono_us(world);
    world_sleep_us(world, (int64_t)3600 * 1000000);
    int64_t slept_us = world_mono_us(world) - start_us;
    assert_true(slept_us >= (int64_t)3600 * 1000000 && slept_us < (int64_t)3601 * 1000000);
    world_free(world);
}

static void wall_clock_steps_but_mono_never_falls(void **state)
{
    (void)state;
    struct world_sim_options options = {.seed = 5, .wall_start_us = (int64_t)WALL_START * 1000000, .clock_step_percent = 50};
    struct world *world = world_sim_new(&options);
    assert_true(world_wall_us(world) == (int64_t)WALL_START * 1000000);
    bool fell = false;
    int64_t mono_us = world_mono_us(world), wall_us = world_wall_us(world);
    for (int i = 0; i < 100; i++) {
        world_sleep_us(world, 1000);
        assert_true(world_mono_us(world) > mono_us);
        fell |= world_wall_us(world) < wall_us;
        mono_us = world_mono_us(world);
        wall_us = world_wall_us(world);
    }
    assert_true(fell);
    world_free(world);
}

static void a_wait_times_out(void **state)
{
    (void)state;
    struct world *worlds[] = {world_real_new(), sim_new(1), sim_new(2)};
    for (int i = 0; i < 3; i++) {
        struct world *world = worlds[i];
        struct world_mutex lock;
        struct world_cond cond;
        world_mutex_open(world, &lock);
        world_cond_open(world, &cond);
        world_lock(world, &lock);
        int64_t start_us = world_mono_us(world);
        while (world_wait(world, &cond, &lock, 2000))
            ;
        assert_true(world_mono_us(world) - start_us >= 2000);
        assert_false(world_wait(world, &cond, &lock, 0) && world_wait(world, &cond, &lock, 0) && world_wait(world, &cond, &lock, 0));
        world_unlock(world, &lock);
        world_cond_close(world, &cond);
        world_mutex_close(world, &lock);
        world_free(world);
    }
}

static void wait_for_ever(void *argument)
{
    struct shop *shop = argument;
    world_lock(shop->world, &shop->lock);
    for (;;)
        world_wait(shop->world, &shop->not_full, &shop->lock, -1);
}

static void a_deadlock_ends_the_program(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        int quiet = freopen("/dev/null", "w", stderr) ? 0 : 1;
        signal(SIGABRT, SIG_DFL);
        alarm(20);
        struct shop shop = {.world = sim_new(3)};
        world_mutex_open(shop.world, &shop.lock);
        world_cond_open(shop.world, &shop.not_full);
        world_thread_join(shop.world, world_thread_start(shop.world, "waits", wait_for_ever, &shop));
        _exit(quiet);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void chance_is_fair_and_seeded(void **state)
{
    (void)state;
    struct world *real = world_real_new();
    struct world *sim = sim_new(9);
    struct world *again = sim_new(9);
    struct uuid a = world_uuid(real), b = world_uuid(real);
    assert_false(uuid_equal(a, b));
    assert_int_equal(a.bytes[6] >> 4, 4);
    assert_int_equal(a.bytes[8] >> 6, 2);
    assert_true(uuid_equal(world_uuid(sim), world_uuid(again)));
    int counts[3] = {0};
    for (int i = 0; i < 30000; i++)
        counts[world_random_below(sim, 3)]++;
    for (int i = 0; i < 3; i++)
        assert_in_range(counts[i], 9000, 11000);
    assert_int_equal(world_random_below(real, 1), 0);
    uint8_t *exact = malloc(1000);
    memset(exact, 0, 1000);
    world_random(real, exact, 1000);
    int zeros = 0;
    for (int i = 0; i < 1000; i++)
        zeros += exact[i] == 0;
    assert_true(zeros < 50);
    free(exact);
    world_free(sim);
    world_free(again);
    world_free(real);
}

static void a_call_starts_at_the_worlds_time(void **state)
{
    (void)state;
    struct world *world = sim_new(1);
    struct memory_budget budget = {0};
    struct call call;
    call_open(&call, world, &budget);
    assert_true(call.now_us == (int64_t)WALL_START * 1000000);
    memset(arena_alloc(&call.arena, 10), 0, 10);
    assert_true(budget.used_bytes > 0);
    call_close(&call);
    assert_int_equal(budget.used_bytes, 0);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_real_world_runs_threads),
        cmocka_unit_test(the_same_seed_makes_the_same_choices),
        cmocka_unit_test(a_missing_lock_is_found),
        cmocka_unit_test(clock_jumps_when_all_sleep),
        cmocka_unit_test(wall_clock_steps_but_mono_never_falls),
        cmocka_unit_test(a_wait_times_out),
        cmocka_unit_test(a_deadlock_ends_the_program),
        cmocka_unit_test(chance_is_fair_and_seeded),
        cmocka_unit_test(a_call_starts_at_the_worlds_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
