/* One run: a seed's plan carried out in a simulated world, life by life, and judged. */
#include "torture/torture_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIES_MAX = 200, LIFE_US_MAX = 30000 };

static const int64_t WALL_START_US = 1700000000000000;

void run_find(struct run *run, const char *format, ...)
{
    if (run->finding[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->finding, sizeof run->finding, format, arguments);
    va_end(arguments);
}

void plan_draw(struct plan *plan, uint64_t seed)
{
    static const size_t cache_sizes[] = {0, 10000, 30000, 4 << 20};
    static const uint32_t rates[] = {0, 0, 20, 100, 500}; /* in 10,000 */
    static const uint32_t large_percents[] = {0, 0, 0, 0, 0, 0, 0, 0, 30, 90};
    uint64_t chance = seed ^ 0x746f7274757265u;
    *plan = (struct plan){.seed = seed};
    plan->manners = chance_below(&chance, 3) ? STORE_MANNERS_RADOS : STORE_MANNERS_PLAIN;
    plan->faults.lost_reply = rates[chance_below(&chance, 5)] * 4;
    plan->faults.fail = rates[chance_below(&chance, 5)] / 2;
    plan->faults.read_fail = rates[chance_below(&chance, 5)];
    plan->faults.slow = rates[chance_below(&chance, 5)] * 4;
    plan->clock_step_percent = chance_below(&chance, 2) ? 20 : 0;
    plan->clients = 1 + chance_below(&chance, CLIENTS_MAX);
    plan->ranges = 1 + chance_below(&chance, RANGES_MAX);
    plan->keys = plan->ranges * (1 + chance_below(&chance, KEYS_MAX / RANGES_MAX));
    plan->lives = 1 + chance_below(&chance, LIVES_MAX);
    plan->calls_a_life = 5 + chance_below(&chance, 35);
    plan->cache_bytes = cache_sizes[chance_below(&chance, 4)];
    plan->has_log = chance_below(&chance, 4) > 0;
    plan->images = chance_below(&chance, 4);
    plan->large_percent = large_percents[chance_below(&chance, 10)];
    plan->crash_percent = chance_below(&chance, 3) * 50;
    plan->has_indexes = chance_below(&chance, 2);
}

/* --- The beginning of a life: what is there --- */

/* Opens the range however often it takes: with faults an opening, too, may fail. */
static bool acquire_at_last(struct run *run, struct call *call, uint32_t range_number, struct part_range **range)
{
    for (int try = 0; try < TRIES_MAX; try++) {
        call_clear_fault(call);
        if (part_range_acquire(call, run->part, run->ids[range_number], range) == FAULT_NONE)
            return true;
        world_sleep_us(run->world, 1000);
    }
    run_find(run, "range %u cannot be opened", range_number);
    return false;
}

static void read_key(struct run *run, struct call *call, struct part_range *range, uint32_t key, struct state *out)
{
    struct edit edit;
    struct stored stored;
    bool found = false;
    torture_key(&call->arena, key, &edit);
    for (int try = 0; try < TRIES_MAX; try++) {
        call_clear_fault(call);
        if (part_get(call, range, edit.row_key, &found, &stored) == FAULT_NONE) {
            state_of_item(found, &stored, out);
            return;
        }
    }
    run_find(run, "key %u cannot be read", key);
}

static void look_around(struct run *run)
{
    struct history *history = &run->history;
    for (uint32_t range_number = 0; range_number < run->plan->ranges; range_number++) {
        struct call call;
        struct part_range *range;
        call_open(&call, run->world, NULL);
        if (acquire_at_last(run, &call, range_number, &range)) {
            struct count_sample sample = {.life = run->life, .range = range_number, .invoked = ++run->time};
            part_range_count(range, &sample.counts);
            history_add_sample(history, &sample);
            history->start_stamp[run->life][range_number] = sample.counts.last_stamp;
            for (uint32_t key = range_number; key < run->plan->keys; key += run->plan->ranges)
                read_key(run, &call, range, key, &history->start[run->life][key]);
            if (run->plan->has_indexes)
                indexes_check(run, &call, range, range_number);
            part_range_release(range);
        }
        call_close(&call);
    }
}

/* The first life begins without faults, so the reader starts for certain. */
static void start_log(struct run *run)
{
    for (uint32_t range_number = 0; range_number < run->plan->ranges; range_number++) {
        struct call call;
        struct part_range *range;
        call_open(&call, run->world, NULL);
        run->history.log_start[range_number] = UINT64_MAX;
        if (run->plan->has_log && acquire_at_last(run, &call, range_number, &range)) {
            if (part_log_start(&call, range, STR("reader"), run->plan->images) != FAULT_NONE)
                run_find(run, "range %u: the log cannot be started", range_number);
            run->history.log_start[range_number] = 0;
            part_range_release(range);
        }
        call_close(&call);
    }
}

/* --- Lives --- */

static void part_begin(struct run *run)
{
    struct part_options options = {.store = run->store, .world = run->world, .cache_bytes = run->plan->cache_bytes};
    run->part = part_open(&options);
    run->is_ending = run->is_crashing = run->is_scratch_dropping = false;
    run->scratch = world_uuid(run->world);
}

static void free_limbo(struct run *run)
{
    while (run->limbo) {
        struct torture_call *call = run->limbo;
        run->limbo = call->next;
        call_close(&call->call);
        free(call);
    }
}

static void set_flag(struct run *run, bool *flag)
{
    world_lock(run->world, &run->lock);
    *flag = true;
    world_wake_all(run->world, &run->changed);
    world_unlock(run->world, &run->lock);
}

static void drop_scratch(void *argument)
{
    struct run *run = argument;
    world_sleep_us(run->world, 2000);
    run->is_scratch_dropping = true;
    for (int try = 0; try < TRIES_MAX && !run->is_crashing; try++) {
        if (part_range_drop(run->part, run->scratch))
            return;
        world_sleep_us(run->world, 1000);
    }
}

static void live(struct run *run, uint64_t *chance, bool crashes)
{
    struct client clients[CLIENTS_MAX];
    struct world_thread *threads[CLIENTS_MAX], *reader = NULL, *dropper = NULL;
    for (uint32_t i = 0; i < run->plan->clients; i++) {
        clients[i] = (struct client){.run = run, .number = i, .chance = chance_next(chance)};
        threads[i] = world_thread_start(run->world, "client", client_run, &clients[i]);
    }
    if (run->plan->has_log)
        reader = world_thread_start(run->world, "reader", reader_run, run);
    if (chance_below(chance, 2))
        dropper = world_thread_start(run->world, "dropper", drop_scratch, run);
    if (crashes) {
        world_sleep_us(run->world, chance_below(chance, LIFE_US_MAX));
        run->is_ending = true;
        set_flag(run, &run->is_crashing);
    }
    for (uint32_t i = 0; i < run->plan->clients; i++)
        world_thread_join(run->world, threads[i]);
    set_flag(run, &run->is_ending);
    if (reader)
        world_thread_join(run->world, reader);
    if (dropper)
        world_thread_join(run->world, dropper);
}

static void part_end(struct run *run, bool crashes)
{
    if (!crashes) {
        part_close(run->part);
        return;
    }
    part_halt(run->part);
    store_mem_crash(run->store);
    part_abandon(run->part);
    free_limbo(run);
}

/* --- The end: everything is read once more, and the store itself is looked at --- */

static uint64_t rows_of(struct run *run, struct uuid id, const char *from, const char *to)
{
    struct store_range *range;
    struct arena arena;
    struct store_page page = {0};
    struct store_scan scan = {.lower = str_of_text(from), .upper = str_of_text(to), .rows_max = STORE_PAGE_ROWS_MAX, .bytes_max = SIZE_MAX / 2};
    arena_open(&arena, NULL);
    if (store_range_open(run->store, id, &range) == STORE_OK) {
        if (store_scan(range, &scan, &arena, &page) != STORE_OK)
            run_find(run, "the store cannot be read at the end");
        store_range_close(range);
    }
    arena_close(&arena);
    return page.count;
}

static void stop_log(struct run *run, uint32_t range_number)
{
    struct call call;
    struct part_range *range;
    call_open(&call, run->world, NULL);
    if (acquire_at_last(run, &call, range_number, &range)) {
        if (part_log_stop(&call, range, STR("other")) != FAULT_NONE || part_log_stop(&call, range, STR("reader")) != FAULT_NONE)
            run_find(run, "range %u: the log cannot be stopped", range_number);
        part_range_release(range);
    }
    call_close(&call);
}

static void last_look(struct run *run)
{
    store_mem_set_faults(run->store, &(struct store_mem_faults){0});
    part_begin(run);
    look_around(run);
    if (run->plan->has_log)
        reader_drain(run);
    for (uint32_t range = 0; range < run->plan->ranges; range++)
        stop_log(run, range);
    part_close(run->part);
    uint64_t truth[RANGES_MAX] = {0};
    for (uint32_t key = 0; key < run->plan->keys; key++)
        truth[range_of_key(&run->history, key)] += run->history.start[run->life][key].has_item;
    for (uint32_t range = 0; range < run->plan->ranges; range++) {
        if (rows_of(run, run->ids[range], "i", "j") != truth[range])
            run_find(run, "range %u: the store has other rows than its keys", range);
        if (rows_of(run, run->ids[range], "l", "m") != 0)
            run_find(run, "range %u: the log was not trimmed when its last consumer went", range);
    }
}

static void judge(struct run *run, struct run_result *result)
{
    struct arena arena;
    str finding;
    arena_open(&arena, NULL);
    if (!history_check(&run->history, &arena, &finding))
        run_find(run, "%.*s", STR_ARG(finding));
    arena_close(&arena);
    for (size_t i = 0; i < run->history.event_count; i++)
        result->changes += run->history.events[i].is_change;
    result->fingerprint = world_sim_fingerprint(run->world) ^ run->results;
    result->calls = run->calls;
    result->is_clean = run->finding[0] == 0;
    snprintf(result->finding, sizeof result->finding, "%s", run->finding);
}

void run_plan(const struct plan *plan, bool trace, struct run_result *result)
{
    struct world_sim_options world = {.seed = plan->seed, .wall_start_us = WALL_START_US, .clock_step_percent = plan->clock_step_percent};
    struct store_mem_options store = {.manners = plan->manners};
    struct run run = {.plan = plan, .trace = trace, .world = world_sim_new(&world)};
    uint64_t chance = plan->seed;
    *result = (struct run_result){0};
    run.store = store_mem_new(run.world, &store);
    world_mutex_open(run.world, &run.lock);
    world_cond_open(run.world, &run.changed);
    history_open(&run.history);
    run.history.key_count = plan->keys;
    run.history.range_count = plan->ranges;
    run.history.images = plan->images;
    for (uint32_t range = 0; range < plan->ranges; range++)
        run.ids[range] = world_uuid(run.world);
    for (run.life = 0; run.life < plan->lives; run.life++) {
        bool crashes = chance_below(&chance, 100) < plan->crash_percent;
        part_begin(&run);
        if (run.life == 0)
            start_log(&run);
        store_mem_set_faults(run.store, &plan->faults);
        look_around(&run);
        live(&run, &chance, crashes);
        part_end(&run, crashes);
        result->crashes += crashes;
        result->lives++;
    }
    run.history.life_count = plan->lives;
    last_look(&run);
    judge(&run, result);
    history_close(&run.history);
    world_cond_close(run.world, &run.changed);
    world_mutex_close(run.world, &run.lock);
    store_close(run.store);
    world_free(run.world);
}
