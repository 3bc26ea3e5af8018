/* What the tests of this folder share: a part on a mem store in a simulated world, and calls that wait for their durability. */
#ifndef STATOR_PART_FIXTURE_INTERNAL_H
#define STATOR_PART_FIXTURE_INTERNAL_H

#include "model/number.h"
#include "part/part_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#undef fail /* cmocka has one, too */

struct fixture {
    struct world *world;
    struct store *store;
    struct part *part;
    struct part_range *range;
    struct uuid id;
};

static const struct key_schema fixture_schema = {.partition = {{"pk", 2}, VALUE_S}};

static inline void fixture_part_open(struct fixture *f)
{
    struct part_options options = {.store = f->store, .world = f->world, .cache_bytes = 1 << 20};
    f->part = part_open(&options);
    struct call call;
    call_open(&call, f->world, NULL);
    assert_int_equal(part_range_acquire(&call, f->part, f->id, &f->range), FAULT_NONE);
    call_close(&call);
}

static inline void fixture_part_close(struct fixture *f)
{
    part_range_release(f->range);
    part_close(f->part);
}

static inline void fixture_open(struct fixture *f, uint64_t seed, enum store_manners manners)
{
    struct world_sim_options world = {.seed = seed, .wall_start_us = 1700000000000000, .clock_step_percent = 5};
    struct store_mem_options store = {.manners = manners};
    *f = (struct fixture){.world = world_sim_new(&world), .id = {{1, 2, 3}}};
    f->store = store_mem_new(f->world, &store);
    fixture_part_open(f);
}

static inline void fixture_close(struct fixture *f)
{
    fixture_part_close(f);
    store_close(f->store);
    world_free(f->world);
}

/* --- Calls --- */

struct client {
    struct call call;
    struct world *world;
    struct world_mutex lock;
    struct world_cond changed;
    bool is_durable;
};

static inline void client_is_durable(struct durable_wait *wait)
{
    struct client *client = wait->owner;
    world_lock(client->world, &client->lock);
    client->is_durable = true;
    world_wake_all(client->world, &client->changed);
    world_unlock(client->world, &client->lock);
}

static inline void client_open(struct client *client, struct world *world)
{
    *client = (struct client){.world = world};
    call_open(&client->call, world, NULL);
    durable_wait_open(&client->call.durable, client_is_durable, client);
    world_mutex_open(world, &client->lock);
    world_cond_open(world, &client->changed);
}

/* Waits until the answer may leave; returns what the durability came to. */
static inline enum fault client_await(struct client *client)
{
    durable_wait_release(&client->call.durable, FAULT_NONE);
    world_lock(client->world, &client->lock);
    while (!client->is_durable)
        world_wait(client->world, &client->changed, &client->lock, -1);
    world_unlock(client->world, &client->lock);
    return (enum fault)atomic_load(&client->call.durable.fault);
}

static inline void client_close(struct client *client)
{
    world_cond_close(client->world, &client->changed);
    world_mutex_close(client->world, &client->lock);
    call_close(&client->call);
}

/* --- Items and edits, in the arena --- */

/* {"pk": "key", "n": number, "pad": that many bytes (0: no such attribute)} */
static inline str fixture_item(struct arena *arena, const char *key, int64_t number, size_t pad_bytes)
{
    struct buf pk, n, pad, item;
    struct number ordered;
    buf_open(&pk, arena, 0);
    buf_open(&n, arena, 0);
    buf_open(&pad, arena, 0);
    buf_open(&item, arena, 0);
    number_from_i64(number, &ordered);
    value_write_scalar(&pk, VALUE_S, str_of_text(key));
    value_write_scalar(&n, VALUE_N, number_str(&ordered));
    char *padding = arena_alloc_text(arena, pad_bytes);
    memset(padding, 'p', pad_bytes);
    value_write_scalar(&pad, VALUE_S, str_of(padding, pad_bytes));
    struct attribute attributes[] = {{STR("n"), buf_str(&n)}, {STR("pk"), buf_str(&pk)}, {STR("pad"), buf_str(&pad)}};
    item_write(&item, attributes, pad_bytes > 0 ? 3 : 2);
    return buf_str(&item);
}

static inline int64_t fixture_number(str item)
{
    int64_t number = -1;
    str n = item_get(item, STR("n"));
    assert_true(n.len > 0 && number_to_i64(value_scalar(n), &number));
    return number;
}

static inline struct edit fixture_edit(struct call *call, enum edit_kind kind, const char *key, int64_t number, size_t pad_bytes)
{
    struct edit edit = {.kind = kind};
    str item = fixture_item(&call->arena, key, number, pad_bytes);
    struct buf row_key, key_item;
    buf_open(&row_key, &call->arena, 0);
    buf_open(&key_item, &call->arena, 0);
    assert_int_equal(key_of_item(call, &fixture_schema, item, false, &row_key), FAULT_NONE);
    key_item_of(&fixture_schema, item, &key_item);
    edit.row_key = buf_str(&row_key);
    edit.key_item = buf_str(&key_item);
    if (kind == EDIT_PUT)
        edit.action = item;
    return edit;
}

/* A program from a request that holds nothing else; `values` is the text of ExpressionAttributeValues, or NULL. */
static inline str fixture_program(struct call *call, enum expr_kind kind, const char *text, const char *values)
{
    str body = arena_printf(&call->arena, "{\"E\":\"%s\",\"V\":%s}", text, values ? values : "null");
    struct json json;
    call_clear_fault(call);
    assert_true(json_parse(&call->arena, body, &json));
    struct expr_request request = {.json = &json, .names = JSON_ABSENT, .values = json_member(&json, 0, STR("V"))};
    for (int i = 0; i < EXPR_KINDS; i++)
        request.text[i] = JSON_ABSENT;
    request.text[kind] = json_member(&json, 0, STR("E"));
    request.takes[kind] = true;
    struct expr_programs programs;
    assert_int_equal(expr_request_read(call, &request, &programs), FAULT_NONE);
    return programs.of[kind];
}

/* --- One step each --- */

static inline enum fault fixture_run(struct fixture *f, const struct edit *edit, struct client *client, struct edit_outcome *outcome)
{
    enum fault fault = part_edit(&client->call, f->range, edit, outcome);
    enum fault durable = client_await(client);
    return fault != FAULT_NONE ? fault : durable;
}

/* Puts (or deletes) and waits; returns the stamp, or 0 after a fault. */
static inline uint64_t fixture_change(struct fixture *f, enum edit_kind kind, const char *key, int64_t number, size_t pad_bytes)
{
    struct client client;
    struct edit_outcome outcome;
    client_open(&client, f->world);
    struct edit edit = fixture_edit(&client.call, kind, key, number, pad_bytes);
    enum fault fault = fixture_run(f, &edit, &client, &outcome);
    client_close(&client);
    return fault == FAULT_NONE ? outcome.after.stamp : 0;
}

/* The durable item's number, -1 when there is none, -2 after a fault. */
static inline int64_t fixture_get(struct fixture *f, const char *key)
{
    struct call call;
    call_open(&call, f->world, NULL);
    struct edit edit = fixture_edit(&call, EDIT_CHECK, key, 0, 0);
    bool found;
    struct stored stored;
    enum fault fault = part_get(&call, f->range, edit.row_key, &found, &stored);
    int64_t number = fault != FAULT_NONE ? -2 : found ? fixture_number(stored.item) : -1;
    call_close(&call);
    return number;
}

#endif
