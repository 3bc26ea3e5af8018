/* Tests of values and items as bytes: writing, walking, looking up, sizes, depth, order, untrusted bytes, JSON. */
#include "model/number.h"
#include "model/stored.h"
#include "model/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The item bytes of this JSON, in the call's arena. */
static str item_of(struct call *call, const char *text)
{
    struct json json;
    struct buf out;
    assert_true(json_parse(&call->arena, str_of_text(text), &json));
    buf_open(&out, &call->arena, 0);
    if (item_read(call, &json, 0, &out) != FAULT_NONE)
        fail_msg("%s: %.*s", text, STR_ARG(call->message));
    assert_true(item_is_valid(buf_str(&out)));
    return buf_str(&out);
}

static struct call *call_new(void)
{
    static struct call call;
    memset(&call, 0, sizeof call);
    arena_open(&call.arena, NULL);
    return &call;
}

static void bytes_are_as_documented(void **state)
{
    (void)state;
    struct call *call = call_new();
    str item = item_of(call, "{\"s\":{\"S\":\"hi\"},\"n\":{\"N\":\"1.5\"},\"b\":{\"B\":\"AAE=\"},\"t\":{\"BOOL\":true},\"f\":{\"BOOL\":false},\"z\":{\"NULL\":true},"
                             "\"ss\":{\"SS\":[\"b\",\"a\"]},\"ns\":{\"NS\":[\"1\",\"-1\"]},\"bs\":{\"BS\":[\"AA==\"]},\"l\":{\"L\":[{\"S\":\"x\"},{\"L\":[]}]},\"m\":{\"M\":{\"k\":{\"S\":\"\"}}}}");
    str expected = STR("\x0b"
                       "\x01" "b\x03\x02\x00\x01"
                       "\x02" "bs\x09\x03\x01\x01\x00"
                       "\x01" "f\x05"
                       "\x01" "l\x0a\x07\x02\x01\x01x\x0a\x01\x00"
                       "\x01" "m\x0b\x05\x01\x01k\x01\x00"
                       "\x01" "n\x02\x03\xc1\x02\x33"
                       "\x02" "ns\x08\x08\x02\x03\x3e\xfd\xff\x02\xc1\x02"
                       "\x01" "s\x01\x02hi"
                       "\x02" "ss\x07\x05\x02\x01" "a\x01" "b"
                       "\x01" "t\x04"
                       "\x01" "z\x06");
    assert_int_equal(item.len, expected.len);
    assert_memory_equal(item.data, expected.data, item.len);
    arena_close(&call->arena);
}

static void items_are_walked_and_looked_up(void **state)
{
    (void)state;
    struct call *call = call_new();
    str item = item_of(call, "{\"c\":{\"L\":[{\"N\":\"1\"},{\"S\":\"two\"}]},\"a\":{\"SS\":[\"y\",\"x\",\"z\"]},\"b\":{\"M\":{\"k\":{\"S\":\"v\"}}}}");
    struct value_walk walk;
    str name, found, element;
    item_walk_open(&walk, item);
    assert_int_equal(walk.left, 3);
    static const char *const names[] = {"a", "b", "c"};
    for (size_t at = 0; at < 3; at++) {
        assert_true(value_walk_attribute(&walk, &name, &found));
        assert_true(str_equal(name, str_of_text(names[at])));
        assert_true(value_equal(found, item_get(item, name)));
    }
    assert_false(value_walk_attribute(&walk, &name, &found));
    assert_int_equal(walk.rest.len, 0);
    assert_int_equal(item_get(item, STR("aa")).len, 0);
    assert_int_equal(item_get(item, STR("")).len, 0);
    assert_int_equal(item_get(item, STR("zz")).len, 0);
    str set = item_get(item, STR("a")), map = item_get(item, STR("b")), list = item_get(item, STR("c"));
    assert_true(set_has(set, STR("y")));
    assert_false(set_has(set, STR("w")));
    assert_false(set_has(set, STR("zz")));
    assert_false(set_has(list, STR("y")));
    assert_true(value_walk_open(&walk, set));
    static const char *const elements[] = {"x", "y", "z"};
    for (size_t at = 0; at < 3; at++) {
        assert_true(value_walk_element(&walk, &element));
        assert_true(str_equal(element, str_of_text(elements[at])));
    }
    assert_false(value_walk_element(&walk, &element));
    assert_true(str_equal(value_scalar(map_get(map, STR("k"))), STR("v")));
    assert_int_equal(map_get(map, STR("l")).len, 0);
    assert_int_equal(map_get(list, STR("k")).len, 0);
    assert_int_equal(map_get(STR_NONE, STR("k")).len, 0);
    assert_true(str_equal(value_scalar(list_get(list, 1)), STR("two")));
    assert_int_equal(list_get(list, 2).len, 0);
    assert_int_equal(list_get(map, 0).len, 0);
    assert_int_equal(value_count(set), 3);
    assert_int_equal(value_count(map), 1);
    assert_int_equal(value_count(list), 2);
    assert_true(str_equal(value_type_name(set), STR("SS")));
    assert_true(value_is_set(set));
    assert_false(value_is_set(list));
    arena_close(&call->arena);
}

static void type_names_are_dynamodbs(void **state)
{
    (void)state;
    static const char *const names[] = {"S", "N", "B", "BOOL", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"};
    for (unsigned type = VALUE_S; type <= VALUE_M; type++) {
        char byte = (char)type;
        assert_true(str_equal(value_type_name(str_of(&byte, 1)), str_of_text(names[type - 1])));
    }
}

static void equality_is_of_values(void **state)
{
    (void)state;
    struct call *call = call_new();
    static const char *const equal[][2] = {
        {"{\"a\":{\"N\":\"1000\"}}", "{\"a\":{\"N\":\"+1e3\"}}"},
        {"{\"a\":{\"NS\":[\"1\",\"2\",\"3\"]}}", "{\"a\":{\"NS\":[\"3\",\"1.0\",\"2\"]}}"},
        {"{\"a\":{\"M\":{\"x\":{\"S\":\"1\"},\"y\":{\"S\":\"2\"}}}}", "{\"a\":{\"M\":{\"y\":{\"S\":\"2\"},\"x\":{\"S\":\"1\"}}}}"},
        {"{\"a\":{\"S\":\"1\"},\"b\":{\"S\":\"2\"}}", "{\"b\":{\"S\":\"2\"},\"a\":{\"S\":\"1\"}}"},
        {"{\"a\":{\"BOOL\":true}}", "{\"a\":{\"BOOL\":\"yes\"}}"},
    };
    for (size_t at = 0; at < sizeof equal / sizeof *equal; at++)
        assert_true(str_equal(item_of(call, equal[at][0]), item_of(call, equal[at][1])));
    static const char *const different[][2] = {
        {"{\"a\":{\"N\":\"1\"}}", "{\"a\":{\"S\":\"1\"}}"},
        {"{\"a\":{\"BOOL\":true}}", "{\"a\":{\"BOOL\":false}}"},
        {"{\"a\":{\"L\":[{\"S\":\"1\"},{\"S\":\"2\"}]}}", "{\"a\":{\"L\":[{\"S\":\"2\"},{\"S\":\"1\"}]}}"},
    };
    for (size_t at = 0; at < sizeof different / sizeof *different; at++)
        assert_false(str_equal(item_of(call, different[at][0]), item_of(call, different[at][1])));
    arena_close(&call->arena);
}

static void order_is_dynamodbs(void **state)
{
    (void)state;
    struct call *call = call_new();
    static const char *const rising[][2] = {
        {"{\"a\":{\"S\":\"\"}}", "{\"a\":{\"S\":\"a\"}}"},
        {"{\"a\":{\"S\":\"a\"}}", "{\"a\":{\"S\":\"aa\"}}"},
        {"{\"a\":{\"S\":\"B\"}}", "{\"a\":{\"S\":\"a\"}}"},
        {"{\"a\":{\"S\":\"z\"}}", "{\"a\":{\"S\":\"\\u00e9\"}}"},
        {"{\"a\":{\"S\":\"\\uffff\"}}", "{\"a\":{\"S\":\"\\ud83d\\ude00\"}}"}, /* unlike UTF-16 */
        {"{\"a\":{\"B\":\"fw==\"}}", "{\"a\":{\"B\":\"gA==\"}}"},              /* 7f, 80 */
        {"{\"a\":{\"B\":\"AQ==\"}}", "{\"a\":{\"B\":\"AQA=\"}}"},
        {"{\"a\":{\"N\":\"9\"}}", "{\"a\":{\"N\":\"10\"}}"},
        {"{\"a\":{\"N\":\"-10\"}}", "{\"a\":{\"N\":\"-9\"}}"},
    };
    for (size_t at = 0; at < sizeof rising / sizeof *rising; at++) {
        str low = item_get(item_of(call, rising[at][0]), STR("a")), high = item_get(item_of(call, rising[at][1]), STR("a"));
        assert_true(value_compare(low, high) < 0);
        assert_true(value_compare(high, low) > 0);
        assert_int_equal(value_compare(low, low), 0);
    }
    arena_close(&call->arena);
}

static void sizes_are_dynamodbs(void **state)
{
    (void)state;
    struct call *call = call_new();
    static const struct {
        const char *text;
        size_t bytes;
    } cases[] = {
        {"{}", 0},
        {"{\"ab\":{\"S\":\"xyz\"}}", 5},
        {"{\"a\":{\"S\":\"\\u00e9\"}}", 3},
        {"{\"\\u00e9\":{\"S\":\"\"}}", 2},
        {"{\"a\":{\"N\":\"3.14159\"}}", 6},
        {"{\"a\":{\"B\":\"Zm9vYg==\"}}", 5},
        {"{\"a\":{\"BOOL\":true}}", 2},
        {"{\"a\":{\"BOOL\":false}}", 2},
        {"{\"a\":{\"NULL\":true}}", 2},
        {"{\"a\":{\"SS\":[\"ab\",\"c\",\"\"]}}", 4},
        {"{\"a\":{\"NS\":[\"1\",\"-42\",\"0\"]}}", 7},
        {"{\"a\":{\"BS\":[\"AA==\",\"AAE=\"]}}", 4},
        {"{\"a\":{\"L\":[]}}", 4},
        {"{\"a\":{\"M\":{}}}", 4},
        {"{\"a\":{\"L\":[{\"S\":\"ab\"},{\"N\":\"1\"}]}}", 1 + 3 + 3 + 3},
        {"{\"a\":{\"M\":{\"k\":{\"S\":\"ab\"},\"kk\":{\"BOOL\":true}}}}", 1 + 3 + (1 + 1 + 2) + (1 + 2 + 1)},
        {"{\"a\":{\"M\":{\"k\":{\"L\":[{\"M\":{}}]}}}}", 1 + 3 + (1 + 1 + (3 + (1 + 3)))},
        {"{\"a\":{\"S\":\"x\"},\"b\":{\"S\":\"y\"}}", 4},
    };
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++)
        if (item_size(item_of(call, cases[at].text)) != cases[at].bytes)
            fail_msg("%s: %zu bytes", cases[at].text, item_size(item_of(call, cases[at].text)));
    arena_close(&call->arena);
}

static void depth_counts_lists_and_maps(void **state)
{
    (void)state;
    struct call *call = call_new();
    assert_int_equal(item_depth(item_of(call, "{}")), 1);
    assert_int_equal(item_depth(item_of(call, "{\"a\":{\"S\":\"x\"},\"s\":{\"SS\":[\"a\"]}}")), 1);
    assert_int_equal(item_depth(item_of(call, "{\"a\":{\"L\":[]}}")), 2);
    assert_int_equal(item_depth(item_of(call, "{\"a\":{\"M\":{\"x\":{\"L\":[{\"S\":\"1\"},{\"M\":{}}]}}},\"b\":{\"L\":[]}}")), 4);
    assert_int_equal(value_depth(item_get(item_of(call, "{\"a\":{\"S\":\"x\"}}"), STR("a"))), 0);
    assert_int_equal(value_depth(item_get(item_of(call, "{\"a\":{\"L\":[{\"M\":{}}]}}"), STR("a"))), 2);
    /* 31 maps around a leaf are the deepest that DynamoDB stores. */
    for (unsigned maps = 30; maps <= 200; maps += maps < 33 ? 1 : 50) {
        struct buf text;
        buf_open(&text, &call->arena, 0);
        BUF_ADD_LITERAL(&text, "{\"d\":");
        for (unsigned at = 0; at < maps; at++)
            BUF_ADD_LITERAL(&text, "{\"M\":{\"n\":");
        BUF_ADD_LITERAL(&text, "{\"S\":\"leaf\"}");
        for (unsigned at = 0; at < maps; at++)
            BUF_ADD_LITERAL(&text, "}}");
        buf_add_byte(&text, '}');
        buf_add_byte(&text, 0);
        str item = item_of(call, text.data);
        assert_int_equal(item_depth(item), maps + 1);
        assert_int_equal(item_depth(item) <= ITEM_DEPTH_MAX, maps <= 31);
        struct buf back;
        buf_open(&back, &call->arena, 0);
        item_write_json(&back, item);
        assert_true(str_equal(buf_str(&back), str_of(text.data, text.len - 1)));
        assert_true(item_size(item) > maps * 5);
    }
    arena_close(&call->arena);
}

static void writers_sort(void **state)
{
    (void)state;
    enum { MANY = 500 };
    struct call *call = call_new();
    char names[MANY][8];
    struct buf value, out, again;
    buf_open(&value, &call->arena, 0);
    uint64_t seed = 3;
    for (size_t count = 0; count <= MANY; count += count < 40 ? 1 : 115) {
        struct attribute attributes[2 * MANY];
        size_t all = 0;
        for (size_t at = 0; at < count; at++) {
            snprintf(names[at], sizeof names[at], "n%03u", (unsigned)(at * 7919 % 1000));
            value_write_scalar(&value, VALUE_S, str_of_text("old"));
            str old = str_of(value.data + value.len - 5, 5);
            value_write_scalar(&value, VALUE_S, str_of_text(names[at]));
            str new = str_of(value.data + value.len - 6, 6);
            if (next_random(&seed) & 1)
                attributes[all++] = (struct attribute){str_of_text(names[at]), old};
            attributes[all++] = (struct attribute){str_of_text(names[at]), new};
        }
        /* Shuffled, but an old value stays before the new one of its name. */
        for (size_t at = all; at > 1; at--) {
            size_t other = next_random(&seed) % at;
            struct attribute swap = attributes[other];
            attributes[other] = attributes[at - 1];
            attributes[at - 1] = swap;
        }
        for (size_t at = 0; at < all; at++)
            for (size_t later = at + 1; later < all; later++)
                if (str_equal(attributes[at].name, attributes[later].name) && attributes[later].value.len == 5) {
                    struct attribute swap = attributes[at];
                    attributes[at] = attributes[later];
                    attributes[later] = swap;
                }
        buf_open(&out, NULL, 0);
        item_write(&out, attributes, all);
        assert_true(item_is_valid(buf_str(&out)));
        size_t kept;
        struct attribute *back = item_attributes(&call->arena, buf_str(&out), &kept);
        assert_int_equal(kept, count);
        for (size_t at = 0; at < kept; at++)
            assert_true(str_equal(value_scalar(back[at].value), back[at].name));
        buf_open(&again, NULL, 0);
        item_write(&again, back, kept);
        assert_true(str_equal(buf_str(&out), buf_str(&again)));
        again.len = 0;
        value_write_map(&again, back, kept);
        assert_true(value_is_valid(buf_str(&again)));
        assert_int_equal(value_count(buf_str(&again)), count);
        buf_free(&out);
        buf_free(&again);
        value.len = 0;
    }
    arena_close(&call->arena);
}

static void sets_are_sorted_and_have_no_duplicates(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    struct buf out;
    buf_open(&out, NULL, 0);
    char texts[MANY][8];
    str elements[MANY];
    for (size_t count = 1; count <= MANY; count += count < 50 ? 1 : 317) {
        for (size_t at = 0; at < count; at++) {
            snprintf(texts[at], sizeof texts[at], "%u", (unsigned)(at * 7919 % 1009));
            elements[at] = str_of_text(texts[at]);
        }
        out.len = 0;
        assert_true(value_write_set(&out, VALUE_SS, elements, count));
        assert_true(value_is_valid(buf_str(&out)));
        assert_int_equal(value_count(buf_str(&out)), count);
        for (size_t at = 0; at < count; at++)
            assert_true(set_has(buf_str(&out), str_of_text(texts[at])));
        if (count < 2)
            continue;
        memmove(texts[count - 1], texts[count / 2 - 1], sizeof *texts);
        for (size_t at = 0; at < count; at++)
            elements[at] = str_of_text(texts[at]);
        out.len = 0;
        assert_false(value_write_set(&out, VALUE_SS, elements, count));
        assert_int_equal(out.len, 0);
        assert_true(str_equal(elements[count - 1], elements[count / 2 - 1]));
    }
    buf_free(&out);
    str list[2] = {STR("\x04"), STR("\x01\x01x")};
    buf_open(&out, NULL, 0);
    value_write_list(&out, list, 2);
    assert_true(str_equal(buf_str(&out), STR("\x0a\x05\x02\x04\x01\x01x")));
    buf_free(&out);
}

/* Whatever is done with these bytes, nothing outside them is read. */
static void use_item(str item)
{
    struct value_walk walk, inner;
    str name, found, element;
    item_walk_open(&walk, item);
    while (value_walk_attribute(&walk, &name, &found)) {
        value_count(found);
        if (value_walk_open(&inner, found)) {
            if (value_is_set(found))
                while (value_walk_element(&inner, &element))
                    continue;
            else if (value_type(found) == VALUE_L)
                while (value_walk_value(&inner, &element))
                    continue;
        }
        map_get(found, STR("k"));
        list_get(found, 3);
        set_has(found, STR("x"));
    }
    item_get(item, STR("m"));
}

static void mutated_bytes_do_no_harm(void **state)
{
    (void)state;
    struct call *call = call_new();
    static const char *const texts[] = {
        "{}",
        "{\"a\":{\"S\":\"\\u00e9\"},\"n\":{\"N\":\"-12.5\"},\"b\":{\"B\":\"AAE=\"},\"z\":{\"NULL\":true}}",
        "{\"ss\":{\"SS\":[\"b\",\"a\"]},\"ns\":{\"NS\":[\"1\",\"-1\"]},\"bs\":{\"BS\":[\"AA==\"]},\"t\":{\"BOOL\":true}}",
        "{\"l\":{\"L\":[{\"S\":\"x\"},{\"L\":[{\"N\":\"0\"}]}]},\"m\":{\"M\":{\"k\":{\"S\":\"\"},\"q\":{\"M\":{\"r\":{\"SS\":[\"x\"]}}}}}}",
    };
    uint64_t seed = 11;
    unsigned valid = 0, invalid = 0;
    for (size_t text = 0; text < sizeof texts / sizeof *texts; text++) {
        str item = item_of(call, texts[text]);
        for (size_t length = 0; length < item.len; length++) {
            char *cut = malloc(length > 0 ? length : 1);
            assert_non_null(cut);
            memcpy(cut, item.data, length);
            assert_false(item_is_valid(str_of(cut, length)));
            use_item(str_of(cut, length));
            free(cut);
        }
        for (unsigned trial = 0; trial < 20000; trial++) {
            char *copy = malloc(item.len);
            assert_non_null(copy);
            memcpy(copy, item.data, item.len);
            for (unsigned changes = 1 + (unsigned)(next_random(&seed) % 3); changes > 0; changes--)
                copy[next_random(&seed) % item.len] = (char)((next_random(&seed) & 1) ? next_random(&seed) % 16 : next_random(&seed) % 256);
            bool good = item_is_valid(str_of(copy, item.len));
            use_item(str_of(copy, item.len));
            if (good) {
                valid++;
                struct buf out;
                struct json json;
                buf_open(&out, &call->arena, 0);
                item_write_json(&out, str_of(copy, item.len));
                assert_true(json_parse(&call->arena, buf_str(&out), &json));
                out.len = 0;
                buf_open(&out, &call->arena, 0);
                assert_int_equal(item_read(call, &json, 0, &out), FAULT_NONE);
                assert_true(str_equal(buf_str(&out), str_of(copy, item.len)));
            } else {
                invalid++;
            }
            free(copy);
        }
    }
    assert_true(valid > 1000);
    assert_true(invalid > 1000);
    arena_close(&call->arena);
}

static void invalid_bytes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *why;
        str item;
    } cases[] = {
        {"nothing", {"", 0}},
        {"a count and no attribute", {"\x01", 1}},
        {"bytes behind", {"\x00x", 2}},
        {"a varint longer than needed", {"\x80\x00", 2}},
        {"names out of order", {"\x02\x01" "b\x04\x01" "a\x04", 7}},
        {"a name twice", {"\x02\x01" "a\x04\x01" "a\x04", 7}},
        {"an empty name", {"\x01\x00\x04", 3}},
        {"a name not UTF-8", {"\x01\x01\xff\x04", 4}},
        {"type 0", {"\x01\x01" "a\x00", 4}},
        {"type 12", {"\x01\x01" "a\x0c", 4}},
        {"a string not UTF-8", {"\x01\x01" "a\x01\x01\xff", 6}},
        {"a string too short", {"\x01\x01" "a\x01\x02x", 6}},
        {"a number that is none", {"\x01\x01" "a\x02\x01\x81", 6}},
        {"a number without length", {"\x01\x01" "a\x02", 4}},
        {"an empty set", {"\x01\x01" "a\x07\x01\x00", 6}},
        {"a set out of order", {"\x01\x01" "a\x07\x05\x02\x01" "b\x01" "a", 10}},
        {"a set with a duplicate", {"\x01\x01" "a\x07\x05\x02\x01" "a\x01" "a", 10}},
        {"a set with bytes behind", {"\x01\x01" "a\x07\x04\x01\x01" "ax", 9}},
        {"a list with bytes behind", {"\x01\x01" "a\x0a\x02\x00\x04", 7}},
        {"a map with bytes behind", {"\x01\x01" "a\x0b\x02\x00\x04", 7}},
        {"a count of 2^63", {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10}},
    };
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++)
        if (item_is_valid(cases[at].item))
            fail_msg("taken: %s", cases[at].why);
    assert_true(item_is_valid(STR("\x00")));
    assert_false(value_is_valid(STR_NONE));
    assert_true(value_is_valid(STR("\x04")));
    assert_false(value_is_valid(STR("\x04\x04")));
}

/* Lists in lists, a hundred thousand deep: refused, and without a stack to match. */
static void depth_of_untrusted_bytes_is_bounded(void **state)
{
    (void)state;
    for (unsigned depth = JSON_DEPTH_MAX / 2; depth <= 100000; depth = depth == JSON_DEPTH_MAX / 2 ? depth + 1 : depth * 10) {
        /* Built from the inside out, from the buffer's end backwards. */
        size_t length = 3;
        char *bytes = malloc((size_t)depth * 8 + 8);
        assert_non_null(bytes);
        char *end = bytes + (size_t)depth * 8 + 8;
        memcpy(end - 3, "\x0a\x01\x00", 3);
        for (unsigned at = 1; at < depth; at++) {
            uint8_t head[12] = {VALUE_L};
            size_t head_bytes = 1 + varint_put(head + 1, length + 1);
            head[head_bytes++] = 1;
            length += head_bytes;
            memcpy(end - length, head, head_bytes);
        }
        assert_int_equal(value_is_valid(str_of(end - length, length)), depth <= JSON_DEPTH_MAX / 2);
        free(bytes);
    }
}

static void json_form_is_compact(void **state)
{
    (void)state;
    struct call *call = call_new();
    str item = item_of(call, "{ \"z\":{\"NULL\":true}, \"q\\\"\":{\"S\":\"a\\u0001\\\"\\/\\u00e9\"},\"n\":{\"N\":\"-1E-3\"},\"b\":{\"B\":\"AAE=\"},\"t\":{\"BOOL\":\"TRUE\"},"
                             "\"f\":{\"BOOL\":\"no\"},\"ss\":{\"SS\":[\"b\",\"a\"]},\"ns\":{\"NS\":[\"1\",\"-1\"]},\"bs\":{\"BS\":[\"/w==\",\"\"]},\"l\":{\"L\":[{\"S\":\"x\"},{\"L\":[]}]},\"m\":{\"M\":{\"k\":{\"M\":{}},\"j\":{\"S\":\"\"}}}}");
    struct buf out;
    buf_open(&out, &call->arena, 0);
    item_write_json(&out, item);
    assert_true(str_equal(buf_str(&out),
                          STR("{\"b\":{\"B\":\"AAE=\"},\"bs\":{\"BS\":[\"\",\"/w==\"]},\"f\":{\"BOOL\":false},\"l\":{\"L\":[{\"S\":\"x\"},{\"L\":[]}]},\"m\":{\"M\":{\"j\":{\"S\":\"\"},\"k\":{\"M\":{}}}},"
                              "\"n\":{\"N\":\"-0.001\"},\"ns\":{\"NS\":[\"-1\",\"1\"]},\"q\\\"\":{\"S\":\"a\\u0001\\\"/\xc3\xa9\"},\"ss\":{\"SS\":[\"a\",\"b\"]},\"t\":{\"BOOL\":true},\"z\":{\"NULL\":true}}")));
    arena_close(&call->arena);
}

static void stored_form_comes_back(void **state)
{
    (void)state;
    struct buf out;
    struct stored in = {.stamp = 0x0102030405060708u, .size = 0x0a0b0c0d, .item = STR("item")}, back;
    buf_open(&out, NULL, 0);
    stored_write(&out, &in);
    assert_true(str_equal(buf_str(&out), STR("\x01\x01\x02\x03\x04\x05\x06\x07\x08\x0a\x0b\x0c\x0d" "item")));
    assert_true(stored_read(buf_str(&out), &back));
    assert_true(back.stamp == in.stamp && back.size == in.size && str_equal(back.item, in.item));
    for (size_t length = 0; length < STORED_HEADER_BYTES; length++)
        assert_false(stored_read(str_of(out.data, length), &back));
    out.data[0] = STORED_VERSION + 1;
    assert_false(stored_read(buf_str(&out), &back));
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_as_documented),
        cmocka_unit_test(items_are_walked_and_looked_up),
        cmocka_unit_test(type_names_are_dynamodbs),
        cmocka_unit_test(equality_is_of_values),
        cmocka_unit_test(order_is_dynamodbs),
        cmocka_unit_test(sizes_are_dynamodbs),
        cmocka_unit_test(depth_counts_lists_and_maps),
        cmocka_unit_test(writers_sort),
        cmocka_unit_test(sets_are_sorted_and_have_no_duplicates),
        cmocka_unit_test(mutated_bytes_do_no_harm),
        cmocka_unit_test(invalid_bytes_are_refused),
        cmocka_unit_test(depth_of_untrusted_bytes_is_bounded),
        cmocka_unit_test(json_form_is_compact),
        cmocka_unit_test(stored_form_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
