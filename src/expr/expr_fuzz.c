/* Expression texts: refused with a message, or compiled to a program that is valid and runs. The first byte chooses the kind and the
   wording, the rest is the text; the placeholders #a #b :n :s :l :ss :t are defined. */
#include "expr/expr_run_internal.h"

#include <stdint.h>

static const char maps[] = "\"n\":{\"#a\":\"a\",\"#b\":\"[1]\"},"
                           "\"v\":{\":n\":{\"N\":\"1\"},\":s\":{\"S\":\"x\"},\":l\":{\"L\":[{\"N\":\"1\"}]},\":ss\":{\"SS\":[\"x\"]},\":t\":{\"S\":\"BOOL\"}}}";

/* Uses every placeholder in a second expression, so that none is left over. */
static const char uses_all[] = "#a = :n AND #b = :s AND c IN (:l, :ss, :t)";

static void read_and_run(struct call *call, enum expr_kind kind, str text)
{
    struct buf request;
    struct json json;
    buf_open(&request, &call->arena, text.len + 512);
    BUF_ADD_LITERAL(&request, "{\"x\":");
    json_write_string(&request, text);
    buf_printf(&request, ",\"u\":\"%s\",%s", uses_all, maps);
    bool parsed = json_parse(&call->arena, buf_str(&request), &json);
    assert(parsed);
    struct expr_request members = {.json = &json, .names = json_member(&json, 0, STR("n")), .values = json_member(&json, 0, STR("v"))};
    for (size_t i = 0; i < EXPR_KINDS; i++)
        members.text[i] = JSON_ABSENT;
    members.text[kind] = json_member(&json, 0, STR("x"));
    members.text[kind == EXPR_FILTER ? EXPR_CONDITION : EXPR_FILTER] = json_member(&json, 0, STR("u"));
    struct expr_programs programs;
    if (expr_request_read(call, &members, &programs) != FAULT_NONE) {
        assert(call->fault == FAULT_VALIDATION && call->message.len > 0);
        return;
    }
    str items[RUN_ITEMS];
    assert(expr_program_is_valid(programs.of[kind], kind));
    str program = run_copy(programs.of[kind]);
    run_items(call, items);
    run_program(call, kind, program, items, RUN_ITEMS);
    run_items_free(items);
    free((void *)program.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    str text = str_of(data + 1, size - 1);
    if (!utf8_is_valid(text))
        return 0;
    struct call call;
    call_open(&call, NULL, NULL);
    call.wording = (enum wording)(data[0] / EXPR_KINDS % 3);
    read_and_run(&call, (enum expr_kind)(data[0] % EXPR_KINDS), text);
    call_close(&call);
    return 0;
}
