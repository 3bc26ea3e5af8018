/* A service in process on a simulated world, for tests of Query and Scan: requests in JSON, answers parsed. */
#ifndef STATOR_OP_PAGE_FIXTURE_INTERNAL_H
#define STATOR_OP_PAGE_FIXTURE_INTERNAL_H

#include "op/op_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#undef fail /* cmocka has one, too */

struct fixture {
    struct world *world;
    struct store *store;
    struct op_service service;
    struct op_context context;
    struct memory_budget budget; /* of the call */
    struct call call;
    struct json json;
    struct buf answer;
};

/* Without its workers: fixture_start. */
static inline void fixture_open(struct fixture *f, uint64_t seed, enum store_manners manners)
{
    *f = (struct fixture){0};
    struct world_sim_options sim = {.seed = seed, .wall_start_us = 1700000000123456};
    f->world = world_sim_new(&sim);
    f->store = store_mem_new(f->world, &(struct store_mem_options){.manners = manners});
    struct part_options part = {.store = f->store, .world = f->world, .cache_bytes = 1 << 20};
    char problem[256] = "";
    struct table_catalog_options catalog = {.store = f->store, .world = f->world};
    f->service = (struct op_service){.world = f->world, .part = part_open(&part), .catalog = table_catalog_open(&catalog, problem, sizeof problem)};
    f->context = (struct op_context){&f->service, STR("000000000000"), STR("us-east-1"), STR("localhost:8000")};
    call_open(&f->call, f->world, NULL);
}

static inline void fixture_start(struct fixture *f)
{
    f->service.chore = chore_start(f->world, f->service.catalog, f->service.part, NULL);
}

static inline void fixture_close(struct fixture *f)
{
    call_close(&f->call);
    chore_stop(f->service.chore);
    part_close(f->service.part);
    table_catalog_close(f->service.catalog);
    store_close(f->store);
    world_free(f->world);
}

/* A write's durability is waited for by reading until the store is quiet: the simulated world lets the others run while this thread sleeps. */
static inline enum fault fixture_try(struct fixture *f, const char *operation, str request)
{
    call_close(&f->call);
    call_open(&f->call, f->world, &f->budget);
    struct call *call = &f->call;
    struct json json;
    assert_true(json_parse(&call->arena, request, &json));
    enum fault fault = wire_check(call, wire_input_shape(str_of_text(operation)), &json);
    buf_open(&f->answer, &call->arena, 0);
    durable_wait_open(&call->durable, NULL, NULL);
    if (fault == FAULT_NONE)
        fault = op_find(str_of_text(operation), NULL)->run(&f->context, call, &json, &f->answer);
    while (durable_wait_is_pending(&call->durable))
        world_sleep_us(f->world, 1000);
    if (fault == FAULT_NONE)
        assert_true(json_parse(&call->arena, buf_str(&f->answer), &f->json));
    return fault;
}

static inline void run(struct fixture *f, const char *operation, str request)
{
    enum fault fault = fixture_try(f, operation, request);
    if (fault != FAULT_NONE)
        print_error("%s %.*s\n %.*s\n", operation, STR_ARG(request), STR_ARG(f->call.message));
    assert_int_equal(fault, FAULT_NONE);
}

static inline void run_text(struct fixture *f, const char *operation, const char *request)
{
    run(f, operation, str_of_text(request));
}

/* Cuts all hashes into `count` ranges, the first with the id that is there already, at places drawn from the world. */
static inline struct table_range *cut_ranges(struct fixture *f, struct arena *arena, struct uuid first, size_t count)
{
    struct table_range *ranges = ARENA_NEW_ARRAY(arena, struct table_range, count);
    for (size_t i = 0; i < count; i++) {
        ranges[i].id = i == 0 ? first : world_uuid(f->world);
        ranges[i].hash_from = i == 0 ? 0 : ranges[i - 1].hash_from + 1 + world_random_below(f->world, UINT64_MAX / count);
    }
    return ranges;
}

#endif
