/* Tests of writing JSON: strings, base64, numbers, commas. */
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_written(struct buf *buf, str expected)
{
    assert_int_equal(buf->len, expected.len);
    assert_memory_equal(buf->data, expected.data, expected.len);
    buf->len = 0;
}

static void strings_get_only_the_escapes_they_need(void **state)
{
    (void)state;
    struct buf out;
    buf_open(&out, NULL, 0);
    json_write_string(&out, STR_NONE);
    assert_written(&out, STR("\"\""));
    json_write_string(&out, STR("a/b \x7f \xc3\xa9 \xf0\x9f\x98\x80"));
    assert_written(&out, STR("\"a/b \x7f \xc3\xa9 \xf0\x9f\x98\x80\""));
    json_write_string(&out, STR("\"\\\b\f\n\r\t\0\x1f\x01"));
    assert_written(&out, STR("\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\\u0001\""));
    buf_free(&out);
}

/* Every place of a special byte in runs of every length about the 16 that are looked at together. */
static void strings_come_back(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    for (size_t length = 0; length < 40; length++) {
        for (size_t special = 0; special <= length; special++) {
            for (int byte = 0; byte < 0x80; byte += special < length && length < 35 ? 1 : 0x80) {
                char *text = malloc(length > 0 ? length : 1);
                assert_non_null(text);
                memset(text, 'x', length);
                if (special < length)
                    text[special] = (char)byte;
                struct buf out;
                struct json json;
                arena_reset(&arena);
                buf_open(&out, &arena, 0);
                json_write_string(&out, str_of(text, length));
                assert_true(json_parse(&arena, buf_str(&out), &json));
                assert_true(str_equal(json_string(&json, 0), str_of(text, length)));
                free(text);
            }
        }
    }
    arena_close(&arena);
}

static void base64_goes_both_ways(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"},
        {"\xff\xfe\xfd", "//79"}, {"\xfb\xef\xbe", "++++"},
    };
    struct buf out;
    buf_open(&out, NULL, 0);
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        json_write_base64(&out, str_of_text(cases[at][0]));
        str written = str_of(out.data + 1, out.len - 2);
        assert_int_equal(out.data[0], '"');
        assert_int_equal(out.data[out.len - 1], '"');
        assert_true(str_equal(written, str_of_text(cases[at][1])));
        out.len = 0;
        assert_true(base64_is_valid(str_of_text(cases[at][1])));
        assert_true(base64_decode(str_of_text(cases[at][1]), &out));
        assert_written(&out, str_of_text(cases[at][0]));
    }
    unsigned char bytes[256];
    for (size_t length = 0; length <= sizeof bytes; length++) {
        for (size_t at = 0; at < length; at++)
            bytes[at] = (unsigned char)(at * 7 + length);
        struct buf text;
        buf_open(&text, NULL, 0);
        json_write_base64(&text, str_of(bytes, length));
        assert_true(base64_decode(str_of(text.data + 1, text.len - 2), &out));
        assert_written(&out, str_of(bytes, length));
        buf_free(&text);
    }
    buf_free(&out);
}

static void base64_is_strict(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "Z", "Zg", "Zg=", "Zm8", "Zm9vY", "=", "==", "===", "====", "Z===", "Zg=g", "Z=g=", "=Zg=", "Zg==Zg==", "Zm8=Zm9v",
        "Zh==", "Zm9=", "Z/==", "Zm/=",  /* bits that padding leaves over */
        "Zm9v\n", "Zm 9", "Zm-v", "Zm_v", "Zm9v====", "Zg==\xff\xff\xff\xff", "\xff\xff\xff\xff", "Zm9v\xc3\xa9==",
    };
    for (size_t at = 0; at < sizeof bad / sizeof *bad; at++) {
        size_t length = strlen(bad[at]);
        char *text = malloc(length);
        assert_non_null(text);
        memcpy(text, bad[at], length);
        struct buf out;
        buf_open(&out, NULL, 0);
        buf_add_byte(&out, 'x');
        if (base64_decode(str_of(text, length), &out) || base64_is_valid(str_of(text, length)))
            fail_msg("taken: %s", bad[at]);
        assert_int_equal(out.len, 1);
        buf_free(&out);
        free(text);
    }
    struct buf out;
    buf_open(&out, NULL, 0);
    assert_false(base64_decode(STR("Zm9\0"), &out));
    assert_false(base64_is_valid(STR("\0\0\0\0")));
    buf_free(&out);
}

static void doubles_are_short(void **state)
{
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        {0, "0"}, {-0.0, "0"}, {5, "5"}, {0.5, "0.5"}, {12.25, "12.25"}, {-1.5, "-1.5"}, {100, "100"}, {1e15, "1000000000000000"},
        {1363729002.358, "1363729002.358"}, {1764504000.123456, "1764504000.123456"}, {0.1, "0.1"}, {1.0 / 3, "0.333333333"}, {1e-12, "0"},
        {-1e-12, "0"}, {4294967296.0, "4294967296"}, {2.5000000001, "2.5"},
    };
    struct buf out;
    buf_open(&out, NULL, 0);
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        json_write_double(&out, cases[at].number);
        assert_written(&out, str_of_text(cases[at].text));
    }
    buf_free(&out);
}

static void names_get_commas(void **state)
{
    (void)state;
    struct buf out;
    buf_open(&out, NULL, 0);
    json_write_comma(&out);
    buf_add_byte(&out, '{');
    json_write_name(&out, "a");
    buf_add_byte(&out, '[');
    json_write_comma(&out);
    buf_add_byte(&out, '1');
    json_write_comma(&out);
    buf_add_byte(&out, '2');
    buf_add_byte(&out, ']');
    json_write_name(&out, "b");
    buf_add_byte(&out, '{');
    buf_add_byte(&out, '}');
    json_write_name(&out, "c");
    json_write_string(&out, STR("["));
    json_write_name(&out, "d");
    BUF_ADD_LITERAL(&out, "null}");
    assert_written(&out, STR("{\"a\":[1,2],\"b\":{},\"c\":\"[\",\"d\":null}"));
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_get_only_the_escapes_they_need),
        cmocka_unit_test(strings_come_back),
        cmocka_unit_test(base64_goes_both_ways),
        cmocka_unit_test(base64_is_strict),
        cmocka_unit_test(doubles_are_short),
        cmocka_unit_test(names_get_commas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
