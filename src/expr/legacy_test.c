/* Expected and AttributeUpdates. */
#include "expr/expr_fixture_internal.h"

#define N(n) "{\"N\":\"" n "\"}"
#define S(s) "{\"S\":\"" s "\"}"
#define INVALID "One or more parameter values were invalid: "

static const char item_text[] = "{\"a\":" N("2") ",\"s\":" S("hello") ",\"b\":{\"B\":\"aGkgdGhlcmU=\"},\"ns\":{\"NS\":[\"2\",\"4\"]},\"l\":{\"L\":[" N("2") "," N("4")
                                "]},\"z\":{\"NULL\":true}}";

#define OPERATOR(name, list) "{\"ComparisonOperator\":\"" name "\",\"AttributeValueList\":[" list "]}"

static const struct {
    const char *expected;
    const char *conditional;
    const char *result; /* "true", "false", or a message */
} cases[] = {
    {"{\"a\":" OPERATOR("EQ", N("2.0")) "}", NULL, "true"},
    {"{\"a\":" OPERATOR("EQ", S("2")) "}", NULL, "false"},
    {"{\"ns\":" OPERATOR("EQ", "{\"NS\":[\"4\",\"2\"]}") "}", NULL, "true"},
    {"{\"a\":" OPERATOR("NE", N("3")) "}", NULL, "true"},
    {"{\"q\":" OPERATOR("NE", N("3")) "}", NULL, "true"},
    {"{\"a\":" OPERATOR("NE", N("2")) "}", NULL, "false"},
    {"{\"a\":" OPERATOR("LE", N("2")) "}", NULL, "true"},
    {"{\"a\":" OPERATOR("LT", N("2")) "}", NULL, "false"},
    {"{\"a\":" OPERATOR("GE", N("2")) "}", NULL, "true"},
    {"{\"a\":" OPERATOR("GT", S("1")) "}", NULL, "false"},
    {"{\"l\":" OPERATOR("LE", N("3")) "}", NULL, "false"},
    {"{\"z\":" OPERATOR("NOT_NULL", "") "}", NULL, "true"},
    {"{\"q\":" OPERATOR("NOT_NULL", "") "}", NULL, "false"},
    {"{\"q\":{\"ComparisonOperator\":\"NULL\"}}", NULL, "true"},
    {"{\"z\":{\"ComparisonOperator\":\"NULL\"}}", NULL, "false"},
    {"{\"s\":" OPERATOR("CONTAINS", S("ell")) "}", NULL, "true"},
    {"{\"ns\":" OPERATOR("CONTAINS", N("4")) "}", NULL, "true"},
    {"{\"l\":" OPERATOR("CONTAINS", N("4")) "}", NULL, "true"},
    {"{\"q\":" OPERATOR("CONTAINS", N("4")) "}", NULL, "false"},
    {"{\"s\":" OPERATOR("NOT_CONTAINS", S("dog")) "}", NULL, "true"},
    {"{\"s\":" OPERATOR("NOT_CONTAINS", N("1")) "}", NULL, "true"},
    {"{\"s\":" OPERATOR("NOT_CONTAINS", S("ell")) "}", NULL, "false"},
    {"{\"q\":" OPERATOR("NOT_CONTAINS", S("ell")) "}", NULL, "false"},
    {"{\"s\":" OPERATOR("BEGINS_WITH", S("he")) "}", NULL, "true"},
    {"{\"a\":" OPERATOR("BEGINS_WITH", S("2")) "}", NULL, "false"},
    {"{\"a\":" OPERATOR("IN", N("1") "," N("2")) "}", NULL, "true"},
    {"{\"a\":" OPERATOR("IN", N("1") "," N("3")) "}", NULL, "false"},
    {"{\"a\":" OPERATOR("BETWEEN", N("1") "," N("2")) "}", NULL, "true"},
    {"{\"q\":" OPERATOR("BETWEEN", N("1") "," N("2")) "}", NULL, "false"},
    {"{\"a\":{\"ComparisonOperator\":\"EQ\",\"Value\":" N("2") "}}", NULL, "true"},
    {"{\"a\":{\"Value\":" N("2") "}}", NULL, "true"},
    {"{\"a\":{\"Value\":" N("2") ",\"Exists\":true}}", NULL, "true"},
    {"{\"q\":{\"Value\":" N("2") "}}", NULL, "false"},
    {"{\"a\":{\"Exists\":false}}", NULL, "false"},
    {"{\"q\":{\"Exists\":false}}", NULL, "true"},
    {"{\"a\":{\"Value\":" N("2") "},\"s\":{\"Value\":" S("x") "}}", NULL, "false"},
    {"{\"a\":{\"Value\":" N("2") "},\"s\":{\"Value\":" S("x") "}}", "AND", "false"},
    {"{\"a\":{\"Value\":" N("2") "},\"s\":{\"Value\":" S("x") "}}", "OR", "true"},
    {"{}", NULL, "true"},
    {"{\"a\":{}}", NULL, INVALID "Value must be provided when Exists is null for Attribute: a"},
    {"{\"a\":{\"Exists\":true}}", NULL, INVALID "Value must be provided when Exists is true for Attribute: a"},
    {"{\"a\":{\"Exists\":false,\"Value\":" N("1") "}}", NULL, INVALID "Value cannot be used when Exists is false for Attribute: a"},
    {"{\"a\":{\"Value\":" N("1") ",\"AttributeValueList\":[]}}", NULL, INVALID "Value and AttributeValueList cannot be used together for Attribute: a"},
    {"{\"a\":{\"AttributeValueList\":[]}}", NULL, INVALID "AttributeValueList can only be used with a ComparisonOperator for Attribute: a"},
    {"{\"a\":{\"ComparisonOperator\":\"EQ\",\"Exists\":true}}", NULL, INVALID "Exists and ComparisonOperator cannot be used together for Attribute: a"},
    {"{\"a\":{\"ComparisonOperator\":\"EQ\"}}", NULL, INVALID "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a"},
    {"{\"a\":" OPERATOR("EQ", N("1") "," N("2")) "}", NULL, INVALID "Invalid number of argument(s) for the EQ ComparisonOperator"},
    {"{\"a\":" OPERATOR("NULL", N("1")) "}", NULL, INVALID "Invalid number of argument(s) for the NULL ComparisonOperator"},
    {"{\"a\":" OPERATOR("IN", "") "}", NULL, INVALID "Invalid number of argument(s) for the IN ComparisonOperator"},
    {"{\"a\":{\"ComparisonOperator\":\"BETWEEN\",\"Value\":" N("1") "}}", NULL, INVALID "Invalid number of argument(s) for the BETWEEN ComparisonOperator"},
    {"{\"a\":" OPERATOR("IN", N("1") "," S("2")) "}", NULL, INVALID "AttributeValues inside AttributeValueList must be of same type"},
    {"{\"a\":" OPERATOR("LT", "{\"SS\":[\"1\"]}") "}", NULL, INVALID "ComparisonOperator LT is not valid for SS AttributeValue type"},
    {"{\"a\":" OPERATOR("BEGINS_WITH", N("1")) "}", NULL, INVALID "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"},
    {"{\"a\":" OPERATOR("CONTAINS", "{\"L\":[]}") "}", NULL, INVALID "ComparisonOperator CONTAINS is not valid for L AttributeValue type"},
    {"{\"a\":" OPERATOR("BETWEEN", "{\"BOOL\":true},{\"BOOL\":false}") "}", NULL, INVALID "ComparisonOperator BETWEEN is not valid for BOOL AttributeValue type"},
    {"{\"a\":" OPERATOR("BETWEEN", N("2") "," N("1")) "}", NULL,
     "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"},
    {"{\"\":{\"Exists\":false}}", NULL, "Empty attribute name"},
    {"{}", "OR", "ConditionalOperator cannot be used without Filter or Expected"},
    {"null", "AND", "ConditionalOperator cannot be used without Filter or Expected"},
    {"{\"a\":{\"Exists\":false}}", "AND", "ConditionalOperator can only be used when Filter or Expected has two or more elements"},
};

static void compiles_expected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, i % 2 ? WORDING_CURRENT : WORDING_CLASSIC);
        struct buf request;
        buf_open(&request, &fixture.call.arena, 0);
        buf_printf(&request, "{\"e\":%s,\"o\":%s%s%s}%c", cases[i].expected, cases[i].conditional ? "\"" : "", cases[i].conditional ? cases[i].conditional : "null",
                   cases[i].conditional ? "\"" : "", 0);
        const struct json *json = fixture_json(&fixture, request.data);
        str item = fixture_item(&fixture, item_text);
        str program;
        const char *got;
        if (expr_legacy_condition(&fixture.call, json, json_member(json, 0, STR("e")), json_member(json, 0, STR("o")), &program) == FAULT_NONE) {
            assert_true(expr_program_is_valid(program, EXPR_CONDITION));
            got = expr_holds(program, item) ? "true" : "false";
        } else {
            got = arena_copy_text(&fixture.call.arena, fixture.call.message);
            if (i % 2) {
                assert_memory_equal(got, "1 validation error detected: ", 29);
                got += 29;
            }
        }
        if (strcmp(got, cases[i].result) != 0)
            fail_msg("%s\n  gave: %s\n  not:  %s", cases[i].expected, got, cases[i].result);
        free((void *)item.data);
        fixture_close(&fixture);
    }
}

#define MISMATCH "Type mismatch for attribute to update"
#define ACTION(name, value) "{\"Action\":\"" name "\",\"Value\":" value "}"

static const struct {
    const char *updates;
    const char *after; /* of item_text's attributes, only "a" and "u" are shown; or a message */
} updates[] = {
    {"{\"u\":{\"Value\":" N("1") "}}", "{\"a\":" N("2") ",\"u\":" N("1") "}"},
    {"{\"a\":" ACTION("PUT", S("x")) ",\"u\":{\"Action\":\"DELETE\"}}", "{\"a\":" S("x") "}"},
    {"{\"a\":{\"Action\":\"DELETE\"}}", "{}"},
    {"{\"a\":" ACTION("ADD", N("-3.5")) ",\"u\":" ACTION("ADD", N("2")) "}", "{\"a\":" N("-1.5") ",\"u\":" N("2") "}"},
    {"{\"u\":" ACTION("ADD", "{\"L\":[" N("1") "]}") ",\"a\":{\"Value\":" S("y") "}}", "{\"a\":" S("y") ",\"u\":{\"L\":[" N("1") "]}}"},
    {"{\"u\":" ACTION("DELETE", "{\"SS\":[\"x\"]}") "}", "{\"a\":" N("2") "}"},
    {"{\"a\":" ACTION("PUT", N("1")) ",\"a\":" ACTION("PUT", N("3")) ",\"u\":" ACTION("PUT", N("4")) "}", "{\"a\":" N("3") ",\"u\":" N("4") "}"},
    {"{\"a\":" ACTION("ADD", "{\"NS\":[\"1\"]}") "}", MISMATCH},
    {"{\"l\":" ACTION("ADD", "{\"NS\":[\"1\"]}") "}", MISMATCH},
    {"{\"ns\":" ACTION("ADD", "{\"SS\":[\"1\"]}") "}", MISMATCH},
    {"{\"a\":" ACTION("DELETE", "{\"NS\":[\"1\"]}") "}", MISMATCH},
    {"{\"ns\":" ACTION("DELETE", "{\"SS\":[\"1\"]}") "}", MISMATCH},
    {"{\"a\":{\"Action\":\"PUT\"}}", INVALID "Only DELETE action is allowed when no attribute value is specified"},
    {"{\"a\":{}}", INVALID "Only DELETE action is allowed when no attribute value is specified"},
    {"{\"a\":" ACTION("DELETE", S("x")) "}", INVALID "DELETE action with value is not supported for the type S"},
    {"{\"a\":" ACTION("DELETE", "{\"L\":[]}") "}", INVALID "DELETE action with value is not supported for the type L"},
    {"{\"a\":" ACTION("ADD", "{\"BOOL\":true}") "}", INVALID "ADD action is not supported for the type BOOL"},
    {"{\"a\":" ACTION("ADD", "{\"M\":{}}") "}", INVALID "ADD action is not supported for the type M"},
    {"{\"\":" ACTION("PUT", S("x")) "}", "Empty attribute name"},
};

static void compiles_attribute_updates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof updates / sizeof updates[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, WORDING_CLASSIC);
        const struct json *json = fixture_json(&fixture, updates[i].updates);
        str item = fixture_item(&fixture, item_text);
        str program;
        struct buf after, names, shown;
        buf_open(&after, &fixture.call.arena, 0);
        buf_open(&names, &fixture.call.arena, 0);
        buf_open(&shown, &fixture.call.arena, 0);
        enum fault fault = expr_legacy_update(&fixture.call, json, 0, &program);
        if (fault == FAULT_NONE) {
            assert_true(expr_program_is_valid(program, EXPR_UPDATE));
            fault = expr_update_apply(&fixture.call, program, item, &after);
        }
        const char *got;
        if (fault == FAULT_NONE) {
            assert_true(item_is_valid(buf_str(&after)));
            expr_projection_of_names((const str[]){STR("a"), STR("u")}, 2, &names);
            expr_project(buf_str(&names), buf_str(&after), &shown);
            got = fixture_show(&fixture, buf_str(&shown));
        } else {
            got = arena_copy_text(&fixture.call.arena, fixture.call.message);
        }
        if (strcmp(got, updates[i].after) != 0)
            fail_msg("%s\n  gave: %s\n  not:  %s", updates[i].updates, got, updates[i].after);
        free((void *)item.data);
        fixture_close(&fixture);
    }
}

static void appends_lists_and_joins_sets(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, WORDING_CLASSIC);
    const struct json *json = fixture_json(&fixture, "{\"l\":" ACTION("ADD", "{\"L\":[" S("n") "]}") ",\"ns\":" ACTION("DELETE", "{\"NS\":[\"4.0\",\"5\"]}") "}");
    str item = fixture_item(&fixture, "{\"l\":{\"L\":[" N("2") "]},\"ns\":{\"NS\":[\"2\",\"4\"]}}");
    str program;
    struct buf after;
    buf_open(&after, &fixture.call.arena, 0);
    assert_int_equal(expr_legacy_update(&fixture.call, json, 0, &program), FAULT_NONE);
    assert_int_equal(expr_update_apply(&fixture.call, program, item, &after), FAULT_NONE);
    assert_string_equal(fixture_show(&fixture, buf_str(&after)), "{\"l\":{\"L\":[" N("2") "," S("n") "]},\"ns\":{\"NS\":[\"2\"]}}");
    free((void *)item.data);
    fixture_close(&fixture);
}

static void nothing_is_an_empty_program(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, WORDING_CLASSIC);
    const struct json *json = fixture_json(&fixture, "{}");
    str program;
    assert_int_equal(expr_legacy_update(&fixture.call, json, 0, &program), FAULT_NONE);
    assert_int_equal(program.len, 0);
    assert_true(expr_update_creates(program));
    json = fixture_json(&fixture, "{\"a\":{\"Action\":\"DELETE\"},\"b\":" ACTION("DELETE", "{\"SS\":[\"1\"]}") "}");
    assert_int_equal(expr_legacy_update(&fixture.call, json, 0, &program), FAULT_NONE);
    assert_false(expr_update_creates(program));
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiles_expected),
        cmocka_unit_test(compiles_attribute_updates),
        cmocka_unit_test(appends_lists_and_joins_sets),
        cmocka_unit_test(nothing_is_an_empty_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
