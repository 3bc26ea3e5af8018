/* Tests of the torture runs themselves: the oracles refuse made-up wrong histories, seeds replay, and seeds that once found
   something stay clean. */
#include "torture/torture.h"
#include "torture/torture_internal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>
#undef fail /* cmocka has one, too */

/* --- Made-up histories of one key --- */

static struct state item(uint64_t stamp)
{
    return (struct state){.has_item = true, .stamp = stamp, .number = 1, .mark = stamp, .size = 10};
}

static const struct state none;

static struct state deleted(uint64_t stamp)
{
    return (struct state){.stamp = stamp};
}

/* One life that ends with `last` durable. */
static void begin(struct history *history, struct state last, uint64_t last_stamp)
{
    history_open(history);
    history->key_count = history->range_count = history->life_count = 1;
    history->log_start[0] = UINT64_MAX;
    history->start[1][0] = last;
    history->start_stamp[1][0] = last_stamp;
}

static void change(struct history *history, uint64_t invoked, uint64_t answered, struct state before, struct state after)
{
    struct event event = {.is_change = true, .invoked = invoked, .answered = answered, .before = before, .after = after};
    history_add(history, &event);
}

static void look(struct history *history, uint64_t invoked, uint64_t answered, struct state seen)
{
    struct event event = {.invoked = invoked, .answered = answered, .before = seen};
    history_add(history, &event);
}

static void expect(struct history *history, const char *part_of_finding)
{
    struct arena arena;
    str finding = STR("");
    arena_open(&arena, NULL);
    bool is_right = history_check(history, &arena, &finding);
    char *text = arena_copy_text(&arena, finding);
    if (is_right != !part_of_finding || (part_of_finding && !strstr(text, part_of_finding)))
        print_error("the oracle says: %s\n", is_right ? "all is well" : text);
    assert_int_equal(is_right, part_of_finding == NULL);
    if (part_of_finding)
        assert_non_null(strstr(text, part_of_finding));
    arena_close(&arena);
    history_close(history);
}

static void right_histories_pass(void **state)
{
    (void)state;
    struct history h;
    begin(&h, item(20), 20);
    change(&h, 1, 5, none, item(10));
    change(&h, 2, 9, item(10), item(20));
    look(&h, 3, 4, none);       /* overlaps both */
    look(&h, 6, 7, item(10));
    look(&h, 10, 11, item(20));
    change(&h, 12, NEVER_ANSWERED, item(20), item(30)); /* unknown, and lost */
    expect(&h, NULL);
    begin(&h, none, 20);
    change(&h, 1, 2, none, item(10));
    change(&h, 3, 4, item(10), deleted(20));
    look(&h, 5, 6, none);
    expect(&h, NULL);
    begin(&h, item(30), 30);
    change(&h, 1, NEVER_ANSWERED, none, item(30)); /* unknown, and there */
    expect(&h, NULL);
}

static void wrong_histories_are_found(void **state)
{
    (void)state;
    struct history h;
    begin(&h, none, 0);
    change(&h, 1, 2, none, item(10));
    expect(&h, "was acknowledged and is lost");
    begin(&h, item(20), 20);
    change(&h, 1, 2, none, item(10));
    change(&h, 3, 4, none, item(20));
    expect(&h, "not on the newest");
    begin(&h, item(20), 20);
    change(&h, 1, 2, none, item(10));
    change(&h, 3, 4, item(10), item(20));
    look(&h, 5, 6, item(10));
    expect(&h, "was answered before");
    begin(&h, item(20), 20);
    change(&h, 1, 2, none, item(10));
    change(&h, 3, 9, item(10), item(20));
    look(&h, 4, 5, item(20));
    look(&h, 6, 7, item(10));
    expect(&h, "was answered before");
    begin(&h, item(10), 10);
    change(&h, 1, 2, none, item(10));
    change(&h, 3, NEVER_ANSWERED, item(10), item(20));
    look(&h, 4, 5, item(20));
    expect(&h, "was not durable");
    begin(&h, item(10), 10);
    change(&h, 1, 2, none, item(10));
    look(&h, 3, 4, none);
    expect(&h, "nobody wrote or which was overwritten");
    begin(&h, item(10), 10);
    look(&h, 1, 2, item(10));
    change(&h, 3, 4, none, item(10));
    expect(&h, "before it was written");
    begin(&h, item(20), 20);
    change(&h, 5, 6, none, item(10));
    change(&h, 1, 2, item(10), item(20));
    expect(&h, "was answered before");
    begin(&h, item(10), 20);
    change(&h, 1, 2, none, item(10));
    change(&h, 3, NEVER_ANSWERED, item(10), item(20));
    expect(&h, "the next life begins");
    begin(&h, item(10), 10);
    h.start_stamp[0][0] = 10;
    change(&h, 1, 2, none, item(10));
    expect(&h, "is not above");
}

static void wrong_counters_are_found(void **state)
{
    (void)state;
    struct history h;
    struct count_sample sample = {.invoked = 3, .counts = {.items = 1, .bytes = 10, .last_stamp = 10}};
    begin(&h, item(10), 10);
    change(&h, 1, 2, none, item(10));
    history_add_sample(&h, &sample);
    expect(&h, NULL);
    begin(&h, item(10), 10);
    change(&h, 1, 2, none, item(10));
    sample.counts.bytes = 11;
    history_add_sample(&h, &sample);
    expect(&h, "counters at stamp");
    begin(&h, item(10), 10);
    change(&h, 1, 2, none, item(10));
    sample.counts = (struct part_range_counts){0};
    history_add_sample(&h, &sample);
    expect(&h, "was acknowledged before");
}

static void wrong_logs_are_found(void **state)
{
    (void)state;
    struct history h;
    struct log_entry entries[] = {{.stamp = 10, .has_item = true}, {.stamp = 20, .had_item = true, .has_item = true}};
    for (int way = 0; way < 4; way++) {
        static const char *const findings[] = {NULL, "misses change", "comes next", "other images"};
        begin(&h, item(20), 20);
        change(&h, 1, 2, none, item(10));
        change(&h, 3, 4, item(10), item(20));
        h.log_start[0] = 0;
        h.images = LOG_NEW_IMAGE;
        entries[0].after = item(10);
        entries[1].after = item(way == 3 ? 19 : 20);
        history_add_log(&h, &entries[way == 2 ? 1 : 0]);
        if (way != 1)
            history_add_log(&h, &entries[way == 2 ? 0 : 1]);
        expect(&h, findings[way]);
    }
}

/* --- Runs --- */

static void run(uint64_t seed, struct run_result *result)
{
    struct plan plan;
    plan_draw(&plan, seed);
    run_plan(&plan, false, result);
    if (!result->is_clean)
        print_error("seed %lu: %s\n", (unsigned long)seed, result->finding);
    assert_true(result->is_clean);
}

static void seeds_are_clean_and_replay(void **state)
{
    (void)state;
    uint64_t calls = 0;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct run_result first, second;
        run(seed, &first);
        run(seed, &second);
        assert_true(first.fingerprint == second.fingerprint);
        calls += first.calls;
    }
    assert_true(calls > 500);
}

/* Each finds the planted bug of that name (tools/planted). */
static void seeds_that_found_something_stay_clean(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed;
        const char *name;
    } seeds[] = {
        {8758, "halted part starts a thread"},
        {568, "counters of a queued group are taken too late"},
        {114, "read does not look again after the store"},
        {21, "old row kept in the cache"},
        {11, "drop does not wait for calls"},
        {10, "index entries are not pending"},
        {8, "lost reply: the old epoch stays good"},
        {7, "index entry that was there is forgotten while it is pending"},
        {4, "old index entry stays; sizes of collections"},
    };
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        struct run_result result;
        run(seeds[i].seed, &result);
    }
}

static void the_command_knows_its_options(void **state)
{
    (void)state;
    char *wrong[] = {"torture", "--seeds", "many"}, *unknown[] = {"torture", "--what"}, *few[] = {"torture", "--seeds", "4", "--jobs", "2"};
    int out = dup(1), err = dup(2), nowhere = open("/dev/null", O_WRONLY);
    fflush(stdout);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    int wrong_status = torture_main(3, wrong), unknown_status = torture_main(2, unknown), few_status = torture_main(5, few);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    close(nowhere);
    close(out);
    close(err);
    assert_int_equal(wrong_status, 2);
    assert_int_equal(unknown_status, 2);
    assert_int_equal(few_status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_histories_pass),
        cmocka_unit_test(wrong_histories_are_found),
        cmocka_unit_test(wrong_counters_are_found),
        cmocka_unit_test(wrong_logs_are_found),
        cmocka_unit_test(seeds_are_clean_and_replay),
        cmocka_unit_test(seeds_that_found_something_stay_clean),
        cmocka_unit_test(the_command_knows_its_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
