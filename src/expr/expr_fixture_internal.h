/* What the tests of expr share: a call, a request made of texts, items written as JSON. */
#ifndef STATOR_EXPR_EXPR_FIXTURE_INTERNAL_H
#define STATOR_EXPR_EXPR_FIXTURE_INTERNAL_H

#include "expr/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define UNUSED_FUNCTION __attribute__((unused))

struct fixture {
    struct call call;
};

UNUSED_FUNCTION static void fixture_open(struct fixture *fixture, enum wording wording)
{
    call_open(&fixture->call, NULL, NULL);
    fixture->call.wording = wording;
}

UNUSED_FUNCTION static void fixture_close(struct fixture *fixture)
{
    call_close(&fixture->call);
}

/* The JSON text, parsed; it must be JSON. The struct is in the call's arena. */
UNUSED_FUNCTION static const struct json *fixture_json(struct fixture *fixture, const char *text)
{
    struct json *json = ARENA_NEW(&fixture->call.arena, struct json);
    bool parsed = json_parse(&fixture->call.arena, arena_copy(&fixture->call.arena, str_of_text(text)), json);
    if (!parsed)
        fail_msg("not JSON: %s", text);
    return json;
}

/* An item from a map of AttributeValues, in memory of its own that is exactly as large. Free it with free((void *)item.data). */
UNUSED_FUNCTION static str fixture_item(struct fixture *fixture, const char *text)
{
    struct buf bytes;
    const struct json *json = fixture_json(fixture, text);
    buf_open(&bytes, &fixture->call.arena, 0);
    if (item_read(&fixture->call, json, 0, &bytes) != FAULT_NONE)
        fail_msg("no item: %s: %.*s", text, STR_ARG(fixture->call.message));
    char *data = malloc(bytes.len);
    memcpy(data, bytes.data, bytes.len);
    return str_of(data, bytes.len);
}

UNUSED_FUNCTION static const char *fixture_show(struct fixture *fixture, str item)
{
    struct buf text;
    buf_open(&text, &fixture->call.arena, 0);
    item_write_json(&text, item);
    return arena_copy_text(&fixture->call.arena, buf_str(&text));
}

/* Reads one expression with the maps (JSON objects or NULL). */
UNUSED_FUNCTION static enum fault fixture_read(struct fixture *fixture, enum expr_kind kind, const char *text, const char *names, const char *values, str *program)
{
    struct buf request;
    buf_open(&request, &fixture->call.arena, 0);
    BUF_ADD_LITERAL(&request, "{\"x\":");
    json_write_string(&request, str_of_text(text));
    if (names)
        buf_printf(&request, ",\"n\":%s", names);
    if (values)
        buf_printf(&request, ",\"v\":%s", values);
    buf_printf(&request, "}%c", '\0');
    const struct json *json = fixture_json(fixture, request.data);
    struct expr_request members = {
        .json = json,
        .names = json_member(json, 0, STR("n")),
        .values = json_member(json, 0, STR("v")),
    };
    for (size_t i = 0; i < EXPR_KINDS; i++)
        members.text[i] = JSON_ABSENT;
    members.text[kind] = json_member(json, 0, STR("x"));
    members.takes[kind] = true;
    struct expr_programs programs;
    enum fault fault = expr_request_read(&fixture->call, &members, &programs);
    *program = STR_NONE;
    if (fault == FAULT_NONE) {
        *program = programs.of[kind];
        if (!expr_program_is_valid(*program, kind))
            fail_msg("its own program is not valid: %s", text);
    }
    return fault;
}

/* The message that the expression is refused with, or "" when it is taken. */
UNUSED_FUNCTION static const char *fixture_refusal(struct fixture *fixture, enum expr_kind kind, const char *text, const char *names, const char *values)
{
    str program;
    call_clear_fault(&fixture->call);
    if (fixture_read(fixture, kind, text, names, values, &program) == FAULT_NONE)
        return "";
    return arena_copy_text(&fixture->call.arena, fixture->call.message);
}

#endif
