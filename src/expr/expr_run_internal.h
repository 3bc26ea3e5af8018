/* Runs a program in every way there is on a few items: what the fuzzers and the test of mutated programs do with one that is valid. */
#ifndef STATOR_EXPR_EXPR_RUN_INTERNAL_H
#define STATOR_EXPR_EXPR_RUN_INTERNAL_H

#include "expr/expr.h"

#include <assert.h>
#include <stdlib.h>

static inline enum fault run_visit(void *context, const struct expr_path *path)
{
    size_t *bytes = context;
    *bytes += path->attribute.len;
    return FAULT_NONE;
}

/* An exact copy, so that sanitizers see every read behind it. */
static inline str run_copy(str bytes)
{
    char *data = malloc(bytes.len > 0 ? bytes.len : 1);
    assert(data);
    if (bytes.len > 0)
        memcpy(data, bytes.data, bytes.len);
    return str_of(data, bytes.len);
}

static inline void run_update(struct call *call, str program, str item)
{
    struct buf after, touched;
    buf_open(&after, NULL, 0);
    buf_open(&touched, NULL, 0);
    expr_update_creates(program);
    assert(expr_update_charge(program, item) >= 3);
    call_clear_fault(call);
    if (expr_update_apply(call, program, item, &after) == FAULT_NONE) {
        assert(item_is_valid(buf_str(&after)));
        expr_update_touched(program, buf_str(&after), &touched);
        assert(item_is_valid(buf_str(&touched)));
    } else {
        assert(call->fault == FAULT_VALIDATION && call->message.len > 0);
    }
    touched.len = 0;
    expr_update_touched(program, item, &touched);
    assert(item_is_valid(buf_str(&touched)));
    buf_free(&after);
    buf_free(&touched);
}

static inline void run_projection(str program, str item)
{
    struct buf kept, again;
    buf_open(&kept, NULL, 0);
    buf_open(&again, NULL, 0);
    expr_project(program, item, &kept);
    assert(item_is_valid(buf_str(&kept)) && kept.len <= item.len + 2);
    buf_free(&kept);
    buf_free(&again);
}

static inline void run_key_condition(str program)
{
    struct expr_key_conditions walk = expr_key_conditions_open(program);
    struct expr_key_condition one;
    size_t count = 0;
    while (expr_key_conditions_next(&walk, &one)) {
        assert(one.attribute.len > 0 && one.values[0].len > 0);
        count++;
    }
    assert(count > 0 && walk.rest.len == 0);
}

/* `program` must have passed expr_program_is_valid. */
static inline void run_program(struct call *call, enum expr_kind kind, str program, const str *items, size_t item_count)
{
    size_t bytes = 0;
    enum fault fault = expr_paths_each(program, run_visit, &bytes);
    assert(fault == FAULT_NONE);
    if (program.len == 0)
        return;
    for (size_t i = 0; i < item_count; i++) {
        if (kind == EXPR_UPDATE)
            run_update(call, program, items[i]);
        else if (kind == EXPR_PROJECTION)
            run_projection(program, items[i]);
        else
            expr_holds(program, items[i]);
    }
    if (kind == EXPR_KEY_CONDITION)
        run_key_condition(program);
}

/* Items with every type and some depth, from JSON; each in memory of its own. Free with run_items_free. */
enum { RUN_ITEMS = 3 };

static inline void run_items(struct call *call, str items[RUN_ITEMS])
{
    static const char *const texts[RUN_ITEMS] = {
        "{}",
        "{\"a\":{\"M\":{\"b\":{\"L\":[{\"N\":\"1\"},{\"M\":{\"c\":{\"S\":\"x\"}}},{\"L\":[]}]},\"c\":{\"N\":\"-1.5\"}}},\"b\":{\"N\":\"5\"},\"c\":{\"S\":\"text\"},"
        "\"d\":{\"SS\":[\"x\",\"y\"]},\"e\":{\"NS\":[\"1\",\"2\"]},\"f\":{\"BS\":[\"AA==\",\"AQ==\"]},\"g\":{\"B\":\"AAE=\"},\"h\":{\"BOOL\":true},"
        "\"i\":{\"NULL\":true},\"l\":{\"L\":[{\"N\":\"1\"},{\"S\":\"x\"},{\"NS\":[\"1\"]}]},\"pk\":{\"S\":\"k\"}}",
        "{\"a\":{\"L\":[{\"L\":[{\"L\":[{\"N\":\"9.9E125\"}]}]}]},\"b\":{\"N\":\"1E-130\"},\"c\":{\"M\":{}},\"l\":{\"L\":[]},\"pk\":{\"N\":\"0\"}}",
    };
    for (size_t i = 0; i < RUN_ITEMS; i++) {
        struct json json;
        struct buf bytes;
        bool parsed = json_parse(&call->arena, str_of_text(texts[i]), &json);
        assert(parsed);
        buf_open(&bytes, &call->arena, 0);
        enum fault fault = item_read(call, &json, 0, &bytes);
        assert(fault == FAULT_NONE);
        items[i] = run_copy(buf_str(&bytes));
    }
}

static inline void run_items_free(str items[RUN_ITEMS])
{
    for (size_t i = 0; i < RUN_ITEMS; i++)
        free((void *)items[i].data);
}

#endif
