/* Tests of reading attribute values from a request: what is taken, and the texts and the order of what is refused. */
#include "model/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ONE "1 validation error detected: "
#define INVALID "One or more parameter values were invalid: "
#define EMPTY_VALUE "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
#define TWO_TYPES "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
#define NOT_NUMERIC "The parameter cannot be converted to a numeric value"
#define OVERFLOW "Number overflow. Attempting to store a number with magnitude larger than supported range"
#define UNDERFLOW "Number underflow. Attempting to store a number with magnitude smaller than supported range"

/* Reads an item, or a value when `as_value`, and says the fault; "" when there is none. */
static const char *read_text(struct call *call, enum wording wording, const char *text, bool as_value)
{
    struct json json;
    struct buf out;
    arena_close(&call->arena);
    memset(call, 0, sizeof *call);
    call->wording = wording;
    arena_open(&call->arena, NULL);
    if (!json_parse(&call->arena, str_of_text(text), &json))
        fail_msg("no JSON: %s", text);
    buf_open(&out, &call->arena, 0);
    buf_add_byte(&out, '!');
    enum fault fault = as_value ? value_read(call, &json, 0, &out) : item_read(call, &json, 0, &out);
    assert_int_equal(fault, call->fault);
    if (fault != FAULT_NONE) {
        assert_int_equal(out.len, 1);
        return arena_copy_text(&call->arena, call->message);
    }
    assert_true(as_value ? value_is_valid(str_of(out.data + 1, out.len - 1)) : item_is_valid(str_of(out.data + 1, out.len - 1)));
    assert_int_equal(out.data[0], '!');
    return "";
}

static void assert_value_fault(struct call *call, const char *text, const char *current, const char *classic)
{
    char expected[600];
    const char *got = read_text(call, WORDING_CLASSIC, text, true);
    if (strcmp(got, classic) != 0)
        fail_msg("classic, %s: %s", text, got);
    got = read_text(call, WORDING_CURRENT_BARE, text, true);
    if (strcmp(got, current) != 0)
        fail_msg("bare, %s: %s", text, got);
    snprintf(expected, sizeof expected, "%s%s", current[0] ? ONE : "", current);
    got = read_text(call, WORDING_CURRENT, text, true);
    if (strcmp(got, expected) != 0)
        fail_msg("current, %s: %s", text, got);
    /* The same inside a list in a map in an item. */
    snprintf(expected, sizeof expected, "{\"a\":{\"M\":{\"x\":{\"L\":[{\"S\":\"\"},%s]}}}}", text);
    got = read_text(call, WORDING_CLASSIC, expected, false);
    if (strcmp(got, classic) != 0)
        fail_msg("nested, %s: %s", text, got);
}

static void values_are_taken(void **state)
{
    (void)state;
    struct call call = {0};
    static const char *const good[] = {
        "{\"S\":\"\"}", "{\"S\":\"a\\u0000b\"}", "{\"N\":\"0\"}", "{\"N\":\".123\"}", "{\"N\":\"-17.4E37\"}", "{\"B\":\"\"}", "{\"B\":\"AA==\"}", "{\"B\":\"\\/w==\"}",
        "{\"BOOL\":true}", "{\"BOOL\":false}", "{\"BOOL\":\"Yes\"}", "{\"BOOL\":\"0\"}", "{\"NULL\":true}", "{\"NULL\":\"true\"}", "{\"SS\":[\"\"]}", "{\"SS\":[\"a\",\"b\"]}",
        "{\"NS\":[\"1\",\"2\",\"1.5\"]}", "{\"BS\":[\"\",\"AA==\"]}", "{\"L\":[]}", "{\"M\":{}}", "{\"L\":[{\"L\":[{\"M\":{\"a\":{\"N\":\"1\"}}}]}]}",
        "{\"S\":\"a\",\"N\":null}", "{\"S\":\"a\",\"X\":{\"y\":[1]}}", "{\"S\":\"a\",\"S\":\"b\"}", "{\"\\u0053\":\"a\"}",
    };
    for (size_t at = 0; at < sizeof good / sizeof *good; at++)
        assert_value_fault(&call, good[at], "", "");
    arena_close(&call.arena);
}

static void types_are_counted(void **state)
{
    (void)state;
    struct call call = {0};
    static const char *const empty[] = {"{}", "{\"X\":\"a\"}", "{\"s\":\"a\"}", "{\"S\":null}", "null", "{\"\":\"\"}", "{\"SSS\":[]}", "{\"\\u0000S\":[]}", "{\"null\":true}"};
    for (size_t at = 0; at < sizeof empty / sizeof *empty; at++)
        assert_value_fault(&call, empty[at], EMPTY_VALUE, EMPTY_VALUE);
    assert_value_fault(&call, "{\"S\":\"a\",\"N\":\"1\"}", TWO_TYPES, TWO_TYPES);
    assert_value_fault(&call, "{\"L\":[],\"M\":{}}", TWO_TYPES, TWO_TYPES);
    assert_value_fault(&call, "{\"BOOL\":true,\"NULL\":true}", TWO_TYPES, TWO_TYPES);
    /* The number of types is looked at before what they hold. */
    assert_value_fault(&call, "{\"N\":\"dog\",\"S\":\"a\"}", TWO_TYPES, TWO_TYPES);
    arena_close(&call.arena);
}

/* Public suite Parity, valueLayers: the two layers' answers to the same numbers. */
static void numbers_are_refused_in_each_layers_words(void **state)
{
    (void)state;
    struct call call = {0};
    static const char *const cases[][3] = {
        {"abc", NOT_NUMERIC ": abc", NOT_NUMERIC ": abc"},
        {"", NOT_NUMERIC ": ", NOT_NUMERIC},
        {" 1", NOT_NUMERIC ":  1", NOT_NUMERIC ":  1"},
        {"1e126", OVERFLOW, OVERFLOW},
        {"1e2147483647", OVERFLOW, UNDERFLOW},
        {"1e99999999999", OVERFLOW, NOT_NUMERIC ": 1e99999999999"},
        {"1e-131", UNDERFLOW, UNDERFLOW},
        {"1234567890123456789012345678901234567890", "Attempting to store more than 38 significant digits in a Number",
         "Attempting to store more than 38 significant digits in a Number"},
    };
    char text[200];
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        snprintf(text, sizeof text, "{\"N\":\"%s\"}", cases[at][0]);
        assert_value_fault(&call, text, cases[at][1], cases[at][2]);
        snprintf(text, sizeof text, "{\"NS\":[\"1\",\"%s\",\"1\"]}", cases[at][0]);
        assert_value_fault(&call, text, cases[at][1], cases[at][2]);
    }
    arena_close(&call.arena);
}

static void sets_and_nulls_are_refused(void **state)
{
    (void)state;
    struct call call = {0};
    static const char *const cases[][3] = {
        {"{\"NULL\":false}", INVALID "Null attribute value types must have the value of true", INVALID "Null attribute value types must have the value of true"},
        {"{\"NULL\":\"no\"}", INVALID "Null attribute value types must have the value of true", INVALID "Null attribute value types must have the value of true"},
        {"{\"SS\":[]}", INVALID "An string set  may not be empty", INVALID "An string set  may not be empty"},
        {"{\"NS\":[]}", INVALID "An number set  may not be empty", INVALID "An number set  may not be empty"},
        {"{\"BS\":[]}", INVALID "Binary sets should not be empty", INVALID "Binary sets should not be empty"},
        {"{\"SS\":[\"b\",\"a\",\"b\"]}", INVALID "Input collection [\"a\", \"b\", \"b\"] contains duplicates.", INVALID "Input collection [b, a, b] contains duplicates."},
        {"{\"SS\":[\"a\",\"a\"]}", INVALID "Input collection [\"a\", \"a\"] contains duplicates.", INVALID "Input collection [a, a] contains duplicates."},
        {"{\"SS\":[\"\",\"\"]}", INVALID "Input collection [\"\", \"\"] contains duplicates.", INVALID "Input collection [, ] contains duplicates."},
        {"{\"SS\":[\"d\",\"c\",\"d\",\"b\",\"c\",\"a\"]}", INVALID "Input collection [\"c\", \"d\", \"d\", \"b\", \"c\", \"a\"] contains duplicates.",
         INVALID "Input collection [d, c, d, b, c, a] contains duplicates."},
        {"{\"BS\":[\"/w==\",\"AA==\",\"AA==\"]}", INVALID "Input collection [\"AA==\",\"/w==\",\"AA==\"]of type BS contains duplicates.",
         INVALID "Input collection [/w==, AA==, AA==]of type BS contains duplicates."},
        {"{\"BS\":[\"Yg==\",\"Yg==\"]}", INVALID "Input collection [\"Yg==\",\"Yg==\"]of type BS contains duplicates.",
         INVALID "Input collection [Yg==, Yg==]of type BS contains duplicates."},
        {"{\"NS\":[\"1000\",\"1\",\"1e3\"]}", INVALID "Input collection contains duplicates.", "Input collection contains duplicates"},
        {"{\"NS\":[\"0\",\"-0.0\"]}", INVALID "Input collection contains duplicates.", "Input collection contains duplicates"},
    };
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++)
        assert_value_fault(&call, cases[at][0], cases[at][1], cases[at][2]);
    arena_close(&call.arena);
}

static void json_types_are_refused_all_the_same(void **state)
{
    (void)state;
    struct call call = {0};
    static const char *const cases[] = {
        "1", "\"a\"", "[]", "true", "{\"S\":1}", "{\"S\":true}", "{\"S\":[]}", "{\"S\":{}}", "{\"N\":1}", "{\"B\":1}", "{\"BOOL\":1}", "{\"BOOL\":[]}", "{\"NULL\":{}}",
        "{\"SS\":\"a\"}", "{\"SS\":{}}", "{\"SS\":[1]}", "{\"SS\":[null]}", "{\"NS\":[1]}", "{\"BS\":[{}]}", "{\"L\":{}}", "{\"L\":\"a\"}", "{\"L\":[1]}", "{\"M\":[]}", "{\"M\":\"a\"}",
        "{\"M\":{\"a\":1}}",
    };
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        const char *got = read_text(&call, WORDING_CURRENT, cases[at], true);
        assert_int_equal(call.fault, FAULT_SERIALIZATION);
        assert_string_equal(got, "Unexpected value type in payload");
    }
    assert_string_equal(read_text(&call, WORDING_CURRENT, "{\"BOOL\":\"maybe\"}", true), "Unexpected token received from parser");
    assert_string_equal(read_text(&call, WORDING_CURRENT, "{\"B\":\"fakebase64\"}", true), "Base64 encoded length is expected a multiple of 4 bytes but found: 10");
    assert_string_equal(read_text(&call, WORDING_CURRENT, "{\"B\":\"YWF=\"}", true), "Invalid last non-pad Base64 character dectected");
    assert_string_equal(read_text(&call, WORDING_CURRENT, "{\"BS\":[\"AA==\",\"=A==\"]}", true), "Invalid last non-pad Base64 character dectected");
    assert_int_equal(call.fault, FAULT_SERIALIZATION);
    arena_close(&call.arena);
}

static void names_are_checked_at_every_depth(void **state)
{
    (void)state;
    struct call call = {0};
    assert_string_equal(read_text(&call, WORDING_CURRENT, "{\"\":{\"S\":\"a\"}}", false), ONE "Empty attribute name");
    assert_string_equal(read_text(&call, WORDING_CLASSIC, "{\"a\":{\"M\":{\"\":{\"S\":\"a\"}}}}", false), "Empty attribute name");
    /* Names come before what they name. */
    assert_string_equal(read_text(&call, WORDING_CLASSIC, "{\"a\":{\"N\":\"dog\"},\"\":{\"S\":\"a\"}}", false), "Empty attribute name");
    for (size_t length = ATTRIBUTE_NAME_MAX; length <= ATTRIBUTE_NAME_MAX + 1; length++) {
        for (int nested = 0; nested < 2; nested++) {
            char *text = malloc(length + 100);
            assert_non_null(text);
            size_t at = (size_t)sprintf(text, "%s{\"", nested ? "{\"a\":{\"M\":" : "");
            memset(text + at, 'n', length);
            sprintf(text + at + length, "\":{\"S\":\"\"}}%s", nested ? "}}" : "");
            assert_string_equal(read_text(&call, WORDING_CURRENT, text, false),
                                length > ATTRIBUTE_NAME_MAX ? ONE "Attribute name is too large, must be less than 65536 bytes" : "");
            free(text);
        }
    }
    arena_close(&call.arena);
}

static void the_requests_first_fault_is_told(void **state)
{
    (void)state;
    struct call call = {0};
    assert_string_equal(read_text(&call, WORDING_CLASSIC, "{\"z\":{\"N\":\"dog\"},\"a\":{\"SS\":[]}}", false), NOT_NUMERIC ": dog");
    assert_string_equal(read_text(&call, WORDING_CLASSIC, "{\"m\":{\"M\":{\"z\":{\"N\":\"dog\"},\"a\":{\"N\":\"cat\"}}},\"a\":{\"SS\":[]}}", false), NOT_NUMERIC ": dog");
    assert_string_equal(read_text(&call, WORDING_CLASSIC, "{\"z\":{\"S\":\"fine\"},\"b\":{\"SS\":[]},\"a\":{\"N\":\"dog\"}}", false), INVALID "An string set  may not be empty");
    /* Faults at every level of a deep value: each is read twice at most, not twice for each level. */
    struct buf text;
    buf_open(&text, NULL, 0);
    for (int at = 0; at < 200; at++)
        BUF_ADD_LITERAL(&text, "{\"M\":{\"z\":{\"S\":\"\"},\"a\":");
    BUF_ADD_LITERAL(&text, "{\"N\":\"dog\"}");
    for (int at = 0; at < 200; at++)
        BUF_ADD_LITERAL(&text, "}}");
    buf_add_byte(&text, 0);
    assert_string_equal(read_text(&call, WORDING_CLASSIC, text.data, true), NOT_NUMERIC ": dog");
    buf_free(&text);
    arena_close(&call.arena);
}

static void the_last_of_a_name_counts(void **state)
{
    (void)state;
    struct call call = {0};
    struct json json;
    struct buf out;
    arena_open(&call.arena, NULL);
    assert_true(json_parse(&call.arena, STR("{\"b\":{\"S\":\"1\"},\"a\":{\"S\":\"first\"},\"c\":{\"S\":\"2\"},\"a\":{\"S\":\"last\"}}"), &json));
    buf_open(&out, &call.arena, 0);
    assert_int_equal(item_read(&call, &json, 0, &out), FAULT_NONE);
    assert_true(item_is_valid(buf_str(&out)));
    assert_true(str_equal(value_scalar(item_get(buf_str(&out), STR("a"))), STR("last")));
    assert_true(str_equal(value_scalar(item_get(buf_str(&out), STR("c"))), STR("2")));
    arena_close(&call.arena);
}

/* Bodies whose length takes more or fewer bytes than was kept free for it. */
/* Millions of elements fit a request, but no item: they are refused before a hundred bytes are spent on each. */
static void endless_sets_and_maps_are_refused_unread(void **state)
{
    (void)state;
    enum { COUNT = ITEM_BYTES_MAX + 1 };
    static const struct {
        const char *before, *element, *after;
    } kinds[] = {{"{\"NS\":[", "\"1\"", "]}"}, {"{\"SS\":[", "\"\"", "]}"}, {"{\"M\":{", "\"a\":{\"NULL\":true}", "}}"}};
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        struct call call = {0};
        struct json json;
        struct buf text, out;
        buf_open(&text, NULL, 0);
        buf_add_str(&text, str_of_text(kinds[kind].before));
        for (size_t at = 0; at < COUNT; at++) {
            if (at > 0)
                buf_add_byte(&text, ',');
            buf_add_str(&text, str_of_text(kinds[kind].element));
        }
        buf_add_str(&text, str_of_text(kinds[kind].after));
        arena_open(&call.arena, NULL);
        assert_true(json_parse(&call.arena, buf_str(&text), &json));
        size_t before = call.arena.held_bytes;
        buf_open(&out, &call.arena, 0);
        assert_int_equal(value_read(&call, &json, 0, &out), FAULT_VALIDATION);
        assert_true(str_equal(call.message, STR("Item size has exceeded the maximum allowed size")));
        assert_true(call.arena.held_bytes - before < 2 * text.len + 10000);
        arena_close(&call.arena);
        buf_free(&text);
    }
}

static void lengths_are_put_in_front(void **state)
{
    (void)state;
    struct call call = {0};
    for (size_t length = 0; length < 40000; length = length < 600 ? length + 1 : length * 2) {
        for (int escaped = 0; escaped < 2; escaped++) {
            char *text = malloc(length * 6 + 100);
            assert_non_null(text);
            size_t at = (size_t)sprintf(text, "{\"l\":{\"L\":[{\"M\":{\"a\":{\"S\":\"");
            for (size_t byte = 0; byte < length; byte++)
                at += (size_t)sprintf(text + at, escaped ? "\\u0061" : "a");
            sprintf(text + at, "\"}}}]}}");
            struct json json;
            struct buf out;
            arena_open(&call.arena, NULL);
            assert_true(json_parse(&call.arena, str_of_text(text), &json));
            buf_open(&out, &call.arena, 0);
            assert_int_equal(item_read(&call, &json, 0, &out), FAULT_NONE);
            assert_true(item_is_valid(buf_str(&out)));
            str leaf = map_get(list_get(item_get(buf_str(&out), STR("l")), 0), STR("a"));
            assert_int_equal(value_scalar(leaf).len, length);
            arena_close(&call.arena);
            free(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_taken),
        cmocka_unit_test(types_are_counted),
        cmocka_unit_test(numbers_are_refused_in_each_layers_words),
        cmocka_unit_test(sets_and_nulls_are_refused),
        cmocka_unit_test(json_types_are_refused_all_the_same),
        cmocka_unit_test(names_are_checked_at_every_depth),
        cmocka_unit_test(the_requests_first_fault_is_told),
        cmocka_unit_test(the_last_of_a_name_counts),
        cmocka_unit_test(endless_sets_and_maps_are_refused_unread),
        cmocka_unit_test(lengths_are_put_in_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
