/* Tests of reading JSON: what is JSON and what is not, tokens, strings, members. */
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Parses a copy that is exactly as large as the text, so that sanitizers see a read behind it. */
static bool parses(struct arena *arena, str text, struct json *json)
{
    char *copy = malloc(text.len > 0 ? text.len : 1);
    assert_non_null(copy);
    if (text.len > 0)
        memcpy(copy, text.data, text.len);
    bool good = json_parse(arena, str_of(copy, text.len), json);
    free(copy);
    return good;
}

static bool is_json(str text)
{
    struct arena arena;
    struct json json;
    arena_open(&arena, NULL);
    bool good = parses(&arena, text, &json);
    arena_close(&arena);
    return good;
}

static void json_takes(void **state)
{
    (void)state;
    static const char *const good[] = {
        "{}", "[]", "null", "true", "false", "0", "-0", "1", "-12", "0.5", "1e5", "1E+5", "1.25e-300", "\"\"", "\"a\"", " \t\r\n{ } ",
        "[1,2,3]", "[ 1 , 2 , 3 ]", "[[],[[]],{}]", "{\"a\":1}", "{ \"a\" : 1 , \"b\" : [ ] }", "{\"a\":{\"b\":{}}}", "{\"a\":1,\"a\":2}",
        "\"\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0041 \\u0000 \\ud83d\\ude00\"", "\"\x7f\"", "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\"",
        "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"", "\"\xed\x9f\xbf\xee\x80\x80\"", "{\"\":0}", "[true,false,null]", "\"0123456789abcde\"",
        "\"0123456789abcdef\"", "\"0123456789abcdef0\"", "\"0123456789abcdef\xc3\xa9\"",
    };
    for (size_t at = 0; at < sizeof good / sizeof *good; at++)
        if (!is_json(str_of_text(good[at])))
            fail_msg("refused: %s", good[at]);
}

static void json_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", " ", "{", "}", "[", "]", "{]", "[}", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1 2]", "[1,,2]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
        "{\"a\":1 \"b\":2}", "{a:1}", "{1:1}", "{\"a\" 1}", "{\"a\":1", "{\"a\"", "{\"a\":", "{\"a", "nul", "nulll", "null null", "True", "tru",
        "01", "-", "-01", "+1", ".5", "5.", "1.e5", "1e", "1e+", "1.5.5", "0x10", "NaN", "Infinity", "-Infinity", "1a", "00", "'a'", "\"", "\"a",
        "\"\\\"", "\"\\", "\"\\x\"", "\"\\u\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\u123", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\ud800\"",
        "\"\\ud800x\"", "\"\\ud800\\n\"", "\"\\ud83d\\u0041\"", "\"\\ud83d\\ude0\"", "\"\\ude00\\ud83d\"", "\"\x1f\"", "\"\n\"", "\"a\tb\"",
        "\xef\xbb\xbf{}", "\"\x80\"", "\"\xbf\"", "\"\xc0\x80\"", "\"\xc1\xbf\"", "\"\xc2\"", "\"\xc2\"\"", "\"\xe0\x80\x80\"", "\"\xe0\x9f\xbf\"",
        "\"\xed\xa0\x80\"", "\"\xed\xbf\xbf\"", "\"\xf0\x80\x80\x80\"", "\"\xf0\x8f\xbf\xbf\"", "\"\xf4\x90\x80\x80\"", "\"\xf5\x80\x80\x80\"",
        "\"\xff\"", "\"\xe2\x82\"", "\"\xe2\x82", "\"\xf0\x9f\x98\"", "\"\xe2(\xa1\"", "\"0123456789abcdef\xff\"", "{}x", "{} {}", "[]]", "/**/{}",
        "{\"a\":1}//", "\"a\"b", "[1\f]", "\v[]", "[\"a\":1]", "{\"a\":1,2}", "{\"a\",\"b\"}", "{[]:1}", "{null:1}",
    };
    for (size_t at = 0; at < sizeof bad / sizeof *bad; at++)
        if (is_json(str_of_text(bad[at])))
            fail_msg("taken: %s", bad[at]);
    assert_false(is_json(STR("\"a\0b\"")));
    assert_false(is_json(STR("{}\0")));
    assert_false(is_json(STR("[1,\0]")));
    /* Every cut of a text that uses everything is no JSON. */
    str whole = STR("{\"a\":[1.5e+3,true,null,\"\\u00e9\\ud83d\\ude00\xc3\xa9 long enough to take sixteen bytes at once\"],\"b\":{\"c\":false}}");
    assert_true(is_json(whole));
    for (size_t length = 0; length < whole.len; length++)
        assert_false(is_json(str_of(whole.data, length)));
}

static bool nested(unsigned depth, bool objects)
{
    char *text = malloc((size_t)depth * 8 + 8);
    assert_non_null(text);
    size_t length = 0;
    for (unsigned at = 0; at < depth; at++) {
        memcpy(text + length, objects ? "{\"a\":" : "[", objects ? 5 : 1);
        length += objects ? 5 : 1;
    }
    text[length++] = '1';
    memset(text + length, objects ? '}' : ']', depth);
    bool good = is_json(str_of(text, length + depth));
    free(text);
    return good;
}

static void depth_is_bounded(void **state)
{
    (void)state;
    assert_true(nested(JSON_DEPTH_MAX, false));
    assert_true(nested(JSON_DEPTH_MAX, true));
    assert_false(nested(JSON_DEPTH_MAX + 1, false));
    assert_false(nested(JSON_DEPTH_MAX + 1, true));
    char *open = malloc(1000000);
    assert_non_null(open);
    memset(open, '[', 1000000);
    assert_false(is_json(str_of(open, 1000000)));
    free(open);
}

static void tokens_lie_flat(void **state)
{
    (void)state;
    struct arena arena;
    struct json json;
    arena_open(&arena, NULL);
    str text = STR(" {\"a\": [1, -2.5e3, {}], \"b\\n\" :null,\"c\":\"x\"} ");
    assert_true(json_parse(&arena, text, &json));
    static const struct {
        enum json_type type;
        uint32_t next, count;
        const char *raw;
    } expected[] = {
        {JSON_OBJECT, 10, 3, "{\"a\": [1, -2.5e3, {}], \"b\\n\" :null,\"c\":\"x\"}"},
        {JSON_STRING, 2, 0, "a"},
        {JSON_ARRAY, 6, 3, "[1, -2.5e3, {}]"},
        {JSON_NUMBER, 4, 0, "1"},
        {JSON_NUMBER, 5, 0, "-2.5e3"},
        {JSON_OBJECT, 6, 0, "{}"},
        {JSON_STRING, 7, 0, "b\\n"},
        {JSON_NULL, 8, 0, "null"},
        {JSON_STRING, 9, 0, "c"},
        {JSON_STRING, 10, 0, "x"},
    };
    assert_int_equal(json.token_count, sizeof expected / sizeof *expected);
    for (uint32_t at = 0; at < json.token_count; at++) {
        assert_int_equal(json_type(&json, at), expected[at].type);
        assert_int_equal(json.tokens[at].next, expected[at].next);
        assert_int_equal(json.tokens[at].count, expected[at].count);
        assert_true(str_equal(json_raw(&json, at), str_of_text(expected[at].raw)));
        assert_int_equal(json.tokens[at].has_escape, at == 6);
        assert_int_equal(json.tokens[at].has_fraction, at == 4);
    }
    uint32_t elements = 0;
    for (uint32_t at = json_first(&json, 2); at < json_end(&json, 2); at = json_next(&json, at))
        elements++;
    assert_int_equal(elements, 3);
    arena_close(&arena);
}

static void strings_lose_their_escapes(void **state)
{
    (void)state;
    struct arena arena;
    struct json json;
    arena_open(&arena, NULL);
    static const struct {
        str text;
        str expected;
    } cases[] = {
        {{"\"plain\"", 7}, {"plain", 5}},
        {{"\"\"", 2}, {"", 0}},
        {{"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", 18}, {"\"\\/\b\f\n\r\t", 8}},
        {{"\"a\\u0000b\"", 10}, {"a\0b", 3}},
        {{"\"\\u0041\\u00e9\\u20AC\"", 20}, {"A\xc3\xa9\xe2\x82\xac", 6}},
        {{"\"\\ud83d\\ude00!\"", 15}, {"\xf0\x9f\x98\x80!", 5}},
        {{"\"\\uD800\\uDC00\\uDBFF\\uDFFF\"", 26}, {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8}},
        {{"\"\\u07ff\\u0800\\uffff\"", 20}, {"\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf", 8}},
        {{"\"caf\\u00e9 \xc3\xa9\"", 14}, {"caf\xc3\xa9 \xc3\xa9", 8}},
    };
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        assert_true(json_parse(&arena, cases[at].text, &json));
        assert_true(str_equal(json_string(&json, 0), cases[at].expected));
    }
    arena_close(&arena);
}

static void members_are_found(void **state)
{
    (void)state;
    struct arena arena;
    struct json json;
    arena_open(&arena, NULL);
    assert_true(json_parse(&arena, STR("{\"a\":1,\"b\":{\"a\":2},\"n\":null,\"a\":3,\"\\u0063\":4,\"d\":5,\"d\":null}"), &json));
    assert_true(str_equal(json_raw(&json, json_member(&json, 0, STR("a"))), STR("3")));
    uint32_t inner = json_member(&json, 0, STR("b"));
    assert_true(str_equal(json_raw(&json, json_member(&json, inner, STR("a"))), STR("2")));
    assert_true(str_equal(json_raw(&json, json_member(&json, 0, STR("c"))), STR("4")));
    assert_int_equal(json_member(&json, 0, STR("n")), JSON_ABSENT);
    assert_int_equal(json_member(&json, 0, STR("d")), JSON_ABSENT);
    assert_int_equal(json_member(&json, 0, STR("z")), JSON_ABSENT);
    assert_int_equal(json_member(&json, JSON_ABSENT, STR("a")), JSON_ABSENT);
    assert_int_equal(json_member(&json, 2, STR("a")), JSON_ABSENT);
    arena_close(&arena);
}

static void many_tokens_grow(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    struct arena arena;
    struct json json;
    arena_open(&arena, NULL);
    char *text = malloc(2 * MANY + 1);
    assert_non_null(text);
    text[0] = '[';
    for (size_t at = 0; at < MANY; at++) {
        text[2 * at + 1] = '1';
        text[2 * at + 2] = ',';
    }
    text[2 * MANY] = ']';
    assert_true(json_parse(&arena, str_of(text, 2 * MANY + 1), &json));
    assert_int_equal(json.token_count, MANY + 1);
    assert_int_equal(json.tokens[0].count, MANY);
    assert_int_equal(json.tokens[0].next, MANY + 1);
    free(text);
    arena_close(&arena);
}

/* More entries than a token can count, and more bytes than its places can name. */
static void text_is_bounded(void **state)
{
    (void)state;
    enum { ENTRIES = 0x1000000 };
    struct arena arena;
    struct json json;
    arena_open(&arena, NULL);
    char *text = malloc(2 * (size_t)ENTRIES + 1);
    assert_non_null(text);
    memset(text, ',', 2 * (size_t)ENTRIES + 1);
    text[0] = '[';
    for (size_t at = 0; at < ENTRIES; at++)
        text[2 * at + 1] = '1';
    text[2 * (size_t)ENTRIES] = ']';
    assert_false(json_parse(&arena, str_of(text, 2 * (size_t)ENTRIES + 1), &json));
    text[2 * (size_t)ENTRIES - 2] = ']';
    assert_true(json_parse(&arena, str_of(text, 2 * (size_t)ENTRIES - 1), &json));
    assert_int_equal(json.tokens[0].count, 0xffffff);
    free(text);
    arena_close(&arena);
    assert_false(json_parse(&arena, str_of("", (size_t)JSON_TEXT_MAX + 1), &json));
}

/* Sixteen megabytes of the shortest tokens: what is outgrown is given back, and a budget ends it before the memory is used. */
static void many_tokens_stay_in_their_budget(void **state)
{
    (void)state;
    enum { BYTES = 16 << 20 };
    char *text = malloc(BYTES);
    struct json json;
    struct memory_budget budget = {.limit_bytes = 256 << 20};
    struct arena arena;
    memset(text, ',', BYTES);
    text[0] = '[';
    for (size_t at = 1; at < BYTES - 1; at += 2)
        text[at] = '1';
    text[BYTES - 2] = ' ';
    text[BYTES - 3] = '1';
    text[BYTES - 4] = ',';
    text[BYTES - 1] = ']';
    arena_open(&arena, &budget);
    assert_true(json_parse(&arena, str_of(text, BYTES), &json));
    assert_false(json.has_no_room);
    assert_true(arena.held_bytes < (size_t)json.token_count * sizeof(struct json_token) * 2 + (1 << 20));
    arena_close(&arena);
    budget.limit_bytes = 64 << 20;
    assert_false(json_parse(&arena, str_of(text, BYTES), &json));
    assert_true(json.has_no_room);
    assert_true(arena.held_bytes <= budget.limit_bytes);
    arena_close(&arena);
    assert_int_equal(budget.used_bytes, 0);
    free(text);
}

static void utf8_is_checked(void **state)
{
    (void)state;
    assert_true(utf8_is_valid(STR_NONE));
    assert_true(utf8_is_valid(STR("plain text, longer than eight bytes")));
    assert_true(utf8_is_valid(STR("\0\x7f\xc2\x80\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf")));
    assert_false(utf8_is_valid(STR("0123456\xff")));
    assert_false(utf8_is_valid(STR("01234567\xc3")));
    assert_false(utf8_is_valid(STR("\xed\xa0\x80")));
    assert_false(utf8_is_valid(STR("\xc0\xaf")));
    /* All of two bytes: valid when ASCII, or a lead of C2 to DF with a continuation. */
    for (unsigned pair = 0; pair < 0x10000; pair++) {
        unsigned char bytes[2] = {(unsigned char)(pair >> 8), (unsigned char)pair};
        bool expected = (bytes[0] < 0x80 && bytes[1] < 0x80) || (bytes[0] >= 0xc2 && bytes[0] <= 0xdf && bytes[1] >= 0x80 && bytes[1] <= 0xbf);
        assert_int_equal(utf8_is_valid(str_of(bytes, 2)), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_takes),
        cmocka_unit_test(json_refuses),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(tokens_lie_flat),
        cmocka_unit_test(strings_lose_their_escapes),
        cmocka_unit_test(members_are_found),
        cmocka_unit_test(many_tokens_grow),
        cmocka_unit_test(text_is_bounded),
        cmocka_unit_test(many_tokens_stay_in_their_budget),
        cmocka_unit_test(utf8_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
