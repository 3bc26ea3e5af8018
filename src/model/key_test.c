/* Tests of keys: golden hashes and row keys, order, round trips, untrusted bytes, the checks and their texts. */
#include "model/key.h"
#include "model/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define INVALID "One or more parameter values were invalid: "
#define MISMATCH "The provided key element does not match the schema"
#define EMPTY_KEY "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "

static const struct key_schema s_only = {{{"pk", 2}, VALUE_S}, {{NULL, 0}, VALUE_S}};
static const struct key_schema s_and_b = {{{"pk", 2}, VALUE_S}, {{"sk", 2}, VALUE_B}};
static const struct key_schema n_and_n = {{{"pk", 2}, VALUE_N}, {{"sk", 2}, VALUE_N}};
static const struct key_schema b_and_s = {{{"pk", 2}, VALUE_B}, {{"a", 1}, VALUE_S}};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static str scalar(struct arena *arena, enum value_type type, str payload)
{
    struct buf buf;
    buf_open(&buf, arena, 0);
    value_write_scalar(&buf, type, payload);
    return buf_str(&buf);
}

static str number(struct arena *arena, const char *text)
{
    struct number ordered;
    assert_int_equal(number_parse(str_of_text(text), &ordered), NUMBER_OK);
    return scalar(arena, VALUE_N, number_str(&ordered));
}

static str row_key(struct arena *arena, const struct key_schema *schema, str partition, str sort)
{
    struct buf out;
    buf_open(&out, arena, 0);
    key_encode(schema, ROW_ITEM, partition, sort, &out);
    return buf_str(&out);
}

/* From an XXH64 written a second time, after its specification. These values are part of the data format. */
static void hashes_are_golden(void **state)
{
    (void)state;
    char many[PARTITION_KEY_MAX];
    memset(many, 'x', sizeof many);
    assert_true(key_hash(VALUE_S, STR("")) == 0x7f127111dbe9863u);
    assert_true(key_hash(VALUE_S, STR("a")) == 0x7142566ca9a6c7f6u);
    assert_true(key_hash(VALUE_B, STR("a")) == 0xd9cc98a1f69020d1u);
    assert_true(key_hash(VALUE_S, STR("user#1")) == 0x173900371835fb12u);
    assert_true(key_hash(VALUE_N, STR("\x80")) == 0xdd11223aa6ae8668u);
    assert_true(key_hash(VALUE_N, STR("\xc2\x0b")) == 0x9a5e1d30ae92a7ecu);
    assert_true(key_hash(VALUE_B, STR("\x00\x01\x02\xff")) == 0xfa1680c1b3d9bcbcu);
    assert_true(key_hash(VALUE_S, str_of(many, 31)) == 0x2d6b3ddd2329dc35u);
    assert_true(key_hash(VALUE_S, str_of(many, sizeof many)) == 0xe16294358109e10du);
}

static void row_keys_are_golden(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    assert_true(str_equal(row_key(&arena, &s_only, scalar(&arena, VALUE_S, STR("user#1")), STR_NONE),
                          STR("i\x80\x97\x9c\xc0\x86\xf1\xc1\xd7\xf6\x92" "user#1\x01\x01")));
    assert_true(str_equal(row_key(&arena, &s_and_b, scalar(&arena, VALUE_S, STR("a")), scalar(&arena, VALUE_B, STR("\x00\x01\x02\xff"))),
                          STR("i\x80\xf1\xa1\x95\xcd\xca\xcd\x9b\x8f\xf6" "a\x01\x01\x01\x02\x01\x03\x02\xff")));
    assert_true(str_equal(row_key(&arena, &n_and_n, number(&arena, "0"), number(&arena, "-1e125")),
                          STR("i\x81\xdd\x88\xc8\xc7\xaa\xb5\xba\x8c\xe8\x80\x01\x01\x01\x02\xf4\xff")));
    assert_true(str_equal(row_key(&arena, &b_and_s, scalar(&arena, VALUE_B, STR("\x00\x01\x02\xff")), scalar(&arena, VALUE_S, STR("s"))),
                          STR("i\x81\xfa\x8b\xa0\x98\x9b\x9e\xe6\xf9\xbc\x01\x02\x01\x03\x02\xff\x01\x01s")));
    struct buf out;
    buf_open(&out, &arena, 0);
    key_encode(&s_only, ROW_LOCAL_INDEX, scalar(&arena, VALUE_S, STR("a")), STR_NONE, &out);
    assert_int_equal(out.data[0], 'k');
    arena_close(&arena);
}

/* Short bytes of few values, so that prefixes, equal starts and bytes 0, 1 and 2 are common. */
static str random_bytes(uint64_t *seed, struct arena *arena)
{
    size_t length = 1 + next_random(seed) % 4;
    char *bytes = arena_alloc_text(arena, length);
    for (size_t at = 0; at < length; at++)
        bytes[at] = (char)((next_random(seed) & 3) ? next_random(seed) % 4 : next_random(seed) % 256);
    return str_of(bytes, length);
}

static void order_is_hash_then_key_then_sort_key(void **state)
{
    (void)state;
    static const struct key_schema b_and_b = {{{"pk", 2}, VALUE_B}, {{"sk", 2}, VALUE_B}};
    struct arena arena;
    uint64_t seed = 77;
    unsigned same_partition = 0;
    arena_open(&arena, NULL);
    for (int pair = 0; pair < 30000; pair++) {
        arena_reset(&arena);
        str partitions[2], sorts[2], keys[2];
        for (int at = 0; at < 2; at++) {
            partitions[at] = at == 1 && (next_random(&seed) & 1) ? partitions[0] : random_bytes(&seed, &arena);
            sorts[at] = random_bytes(&seed, &arena);
            keys[at] = row_key(&arena, &b_and_b, scalar(&arena, VALUE_B, partitions[at]), scalar(&arena, VALUE_B, sorts[at]));
            assert_null(memchr(keys[at].data, 0, keys[at].len));
            str partition, sort;
            assert_true(key_decode(&b_and_b, keys[at], &arena, &partition, &sort));
            assert_true(str_equal(value_scalar(partition), partitions[at]));
            assert_true(str_equal(value_scalar(sort), sorts[at]));
        }
        uint64_t hashes[2] = {key_hash(VALUE_B, partitions[0]), key_hash(VALUE_B, partitions[1])};
        int expected = (hashes[0] > hashes[1]) - (hashes[0] < hashes[1]);
        if (expected == 0)
            expected = str_compare(partitions[0], partitions[1]);
        same_partition += expected == 0;
        if (expected == 0)
            expected = str_compare(sorts[0], sorts[1]);
        int order = str_compare(keys[0], keys[1]);
        assert_int_equal((order > 0) - (order < 0), (expected > 0) - (expected < 0));
    }
    assert_true(same_partition > 5000);
    arena_close(&arena);
}

/* Equal hashes do not come up; what follows the hash is compared here as if they had. */
static void a_key_that_begins_with_another_follows_all_its_rows(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    static const str partitions[] = {{"\x00", 1}, {"\x00\x00", 2}, {"\x00\x01", 2}, {"\x01", 1}, {"\x01\x01", 2}, {"\x01\xff", 2}, {"\x02", 1}, {"a", 1}, {"a\x00", 2}, {"a\x01", 2}, {"ab", 2}};
    static const str sorts[] = {{"\x00", 1}, {"\x00\x00", 2}, {"\x01", 1}, {"\x01\x01", 2}, {"\x01\x02", 2}, {"\x02", 1}, {"\xff", 1}, {"\xff\xff", 2}};
    static const struct key_schema b_and_b = {{{"pk", 2}, VALUE_B}, {{"sk", 2}, VALUE_B}};
    str before = STR_NONE;
    for (size_t partition = 0; partition < sizeof partitions / sizeof *partitions; partition++) {
        for (size_t sort = 0; sort < sizeof sorts / sizeof *sorts; sort++) {
            str key = row_key(&arena, &b_and_b, scalar(&arena, VALUE_B, partitions[partition]), scalar(&arena, VALUE_B, sorts[sort]));
            str behind_hash = str_from(key, 1 + KEY_HASH_BYTES);
            assert_true(str_compare(before, behind_hash) < 0);
            before = behind_hash;
        }
    }
    arena_close(&arena);
}

/* Bounds: a partition's prefix has its rows and no others between itself and itself with the last byte raised; a hash's bound parts hashes below it
   from the others. */
static void bounds_part_rows(void **state)
{
    (void)state;
    static const char *const bytes[] = {"a", "a\x01", "a\xff", "\x01", "\x01\x01", "\xff\xff", "ab"};
    enum { COUNT = sizeof bytes / sizeof bytes[0] };
    struct arena arena;
    arena_open(&arena, NULL);
    for (size_t p = 0; p < COUNT; p++) {
        struct buf prefix, raised, hash;
        str partition = scalar(&arena, VALUE_B, str_of_text(bytes[p]));
        buf_open(&prefix, &arena, 0);
        buf_open(&raised, &arena, 0);
        key_encode_partition(&b_and_s, ROW_ITEM, partition, &prefix);
        buf_add_str(&raised, buf_str(&prefix));
        raised.data[raised.len - 1]++;
        for (size_t q = 0; q < COUNT; q++) {
            str other = scalar(&arena, VALUE_B, str_of_text(bytes[q]));
            str key = row_key(&arena, &b_and_s, other, scalar(&arena, VALUE_S, STR("\x01z")));
            bool is_between = str_compare(key, buf_str(&prefix)) >= 0 && str_compare(key, buf_str(&raised)) < 0;
            assert_int_equal(is_between, p == q);
            uint64_t own = key_hash(VALUE_B, str_of_text(bytes[q])), bound = key_hash(VALUE_B, str_of_text(bytes[p]));
            buf_open(&hash, &arena, 0);
            key_encode_hash(ROW_ITEM, bound, &hash);
            assert_int_equal(str_compare(key, buf_str(&hash)) >= 0, own >= bound);
        }
    }
    arena_close(&arena);
}

static void number_keys_sort_by_value(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    static const char *const rising[] = {"-1e125", "-100", "-1.5", "-1", "-0.001", "0", "1e-130", "0.5", "1", "1.5", "10", "256", "1e125"};
    str before = STR_NONE;
    for (size_t at = 0; at < sizeof rising / sizeof *rising; at++) {
        str key = row_key(&arena, &n_and_n, number(&arena, "7"), number(&arena, rising[at]));
        assert_true(str_compare(before, key) < 0);
        assert_null(memchr(key.data, 0, key.len));
        before = key;
        str partition, sort;
        assert_true(key_decode(&n_and_n, key, &arena, &partition, &sort));
        assert_true(value_equal(sort, number(&arena, rising[at])));
    }
    assert_true(str_equal(row_key(&arena, &n_and_n, number(&arena, "1e3"), number(&arena, "+1")), row_key(&arena, &n_and_n, number(&arena, "1000.0"), number(&arena, "1"))));
    arena_close(&arena);
}

static void bytes_that_are_no_key_are_refused(void **state)
{
    (void)state;
    struct arena arena, kept;
    str partition, sort;
    uint64_t seed = 9;
    arena_open(&arena, NULL);
    arena_open(&kept, NULL);
    str key = row_key(&kept, &s_and_b, scalar(&kept, VALUE_S, STR("a\x01z")), scalar(&kept, VALUE_B, STR("\x00q")));
    /* Cut before the sort key, nothing is a key; behind it an empty sort key stands, and half an escape does not. */
    size_t head = 1 + KEY_HASH_BYTES + 4 + 2;
    for (size_t length = 0; length < key.len; length++) {
        char *cut = malloc(length > 0 ? length : 1);
        assert_non_null(cut);
        memcpy(cut, key.data, length);
        assert_int_equal(key_decode(&s_and_b, str_of(cut, length), &arena, &partition, &sort), length == head || length == head + 2);
        free(cut);
    }
    assert_false(key_decode(&s_only, key, &arena, &partition, &sort));
    assert_false(key_decode(&n_and_n, key, &arena, &partition, &sort));
    unsigned taken = 0;
    for (int trial = 0; trial < 20000; trial++) {
        char *copy = malloc(key.len);
        assert_non_null(copy);
        memcpy(copy, key.data, key.len);
        copy[next_random(&seed) % key.len] = (char)((next_random(&seed) & 1) ? next_random(&seed) % 4 : next_random(&seed) % 256);
        arena_reset(&arena);
        if (key_decode(&s_and_b, str_of(copy, key.len), &arena, &partition, &sort)) {
            taken++;
            struct buf out;
            buf_open(&out, &arena, 0);
            key_encode(&s_and_b, (enum row_space)copy[0], partition, sort, &out);
            assert_true(str_equal(buf_str(&out), str_of(copy, key.len)));
        }
        free(copy);
    }
    assert_true(taken > 100);
    arena_close(&arena);
    arena_close(&kept);
}

/* What the key of this JSON item is refused with; "" when it is taken. */
static const char *key_fault(struct call *call, const struct key_schema *schema, const char *text, bool of_map, bool schema_mismatch)
{
    struct json json;
    struct buf item, out;
    arena_close(&call->arena);
    memset(call, 0, sizeof *call);
    arena_open(&call->arena, NULL);
    assert_true(json_parse(&call->arena, str_of_text(text), &json));
    buf_open(&item, &call->arena, 0);
    assert_int_equal(item_read(call, &json, 0, &item), FAULT_NONE);
    buf_open(&out, &call->arena, 0);
    enum fault fault = of_map ? key_of_map(call, schema, buf_str(&item), &out) : key_of_item(call, schema, buf_str(&item), schema_mismatch, &out);
    if (fault == FAULT_NONE) {
        str partition, sort;
        assert_true(key_decode(schema, buf_str(&out), &call->arena, &partition, &sort));
        assert_true(value_equal(partition, item_get(buf_str(&item), schema->partition.name)));
        assert_true(schema->sort.name.len == 0 || value_equal(sort, item_get(buf_str(&item), schema->sort.name)));
        return "";
    }
    assert_int_equal(fault, FAULT_VALIDATION);
    assert_int_equal(out.len, 0);
    return arena_copy_text(&call->arena, call->message);
}

static void keys_of_items_are_checked(void **state)
{
    (void)state;
    struct call call = {0};
    static const struct {
        const struct key_schema *schema;
        const char *item;
        const char *put;
        const char *batch;
    } cases[] = {
        {&s_only, "{\"pk\":{\"S\":\"a\"},\"x\":{\"N\":\"1\"}}", "", ""},
        {&s_and_b, "{\"pk\":{\"S\":\"a\"},\"sk\":{\"B\":\"AA==\"},\"aa\":{\"L\":[]}}", "", ""},
        {&n_and_n, "{\"pk\":{\"N\":\"0\"},\"sk\":{\"N\":\"-0\"}}", "", ""},
        {&s_only, "{\"other\":{\"S\":\"x\"}}", INVALID "Missing the key pk in the item", MISMATCH},
        {&s_and_b, "{\"pk\":{\"S\":\"x\"}}", INVALID "Missing the key sk in the item", MISMATCH},
        {&s_only, "{\"pk\":{\"N\":\"5\"}}", INVALID "Type mismatch for key pk expected: S actual: N", MISMATCH},
        {&s_only, "{\"pk\":{\"L\":[{\"S\":\"x\"}]}}", INVALID "Type mismatch for key pk expected: S actual: L", MISMATCH},
        {&s_only, "{\"pk\":{\"BOOL\":true}}", INVALID "Type mismatch for key pk expected: S actual: BOOL", MISMATCH},
        {&s_and_b, "{\"pk\":{\"S\":\"x\"},\"sk\":{\"S\":\"x\"}}", INVALID "Type mismatch for key sk expected: B actual: S", MISMATCH},
        {&n_and_n, "{\"pk\":{\"NULL\":true},\"sk\":{\"N\":\"1\"}}", INVALID "Type mismatch for key pk expected: N actual: NULL", MISMATCH},
        {&s_only, "{\"pk\":{\"S\":\"\"}}", EMPTY_KEY "string value. Key: pk", EMPTY_KEY "string value. Key: pk"},
        {&s_and_b, "{\"pk\":{\"S\":\"a\"},\"sk\":{\"B\":\"\"}}", EMPTY_KEY "binary value. Key: sk", EMPTY_KEY "binary value. Key: sk"},
    };
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        assert_string_equal(key_fault(&call, cases[at].schema, cases[at].item, false, false), cases[at].put);
        assert_string_equal(key_fault(&call, cases[at].schema, cases[at].item, false, true), cases[at].batch);
    }
    arena_close(&call.arena);
}

static void keys_of_maps_are_checked(void **state)
{
    (void)state;
    struct call call = {0};
    static const struct {
        const struct key_schema *schema;
        const char *key;
        const char *fault;
    } cases[] = {
        {&s_only, "{\"pk\":{\"S\":\"a\"}}", ""},
        {&s_and_b, "{\"sk\":{\"B\":\"AA==\"},\"pk\":{\"S\":\"a\"}}", ""},
        {&s_only, "{}", MISMATCH},
        {&s_only, "{\"qk\":{\"S\":\"a\"}}", MISMATCH},
        {&s_only, "{\"pk\":{\"S\":\"a\"},\"x\":{\"S\":\"a\"}}", MISMATCH},
        {&s_only, "{\"pk\":{\"N\":\"1\"}}", MISMATCH},
        {&s_and_b, "{\"pk\":{\"S\":\"a\"}}", MISMATCH},
        {&s_and_b, "{\"pk\":{\"S\":\"a\"},\"x\":{\"B\":\"AA==\"}}", MISMATCH},
        {&s_and_b, "{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"AA==\"}}", MISMATCH},
        {&s_only, "{\"pk\":{\"S\":\"\"}}", EMPTY_KEY "string value. Key: pk"},
        {&b_and_s, "{\"pk\":{\"B\":\"\"},\"a\":{\"S\":\"\"}}", EMPTY_KEY "binary value. Key: pk"},
        {&b_and_s, "{\"pk\":{\"B\":\"AA==\"},\"a\":{\"S\":\"\"}}", EMPTY_KEY "string value. Key: a"},
    };
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++)
        assert_string_equal(key_fault(&call, cases[at].schema, cases[at].key, true, false), cases[at].fault);
    arena_close(&call.arena);
}

static void key_lengths_are_bounded(void **state)
{
    (void)state;
    static const struct key_schema s_and_s = {{{"pk", 2}, VALUE_S}, {{"sk", 2}, VALUE_S}};
    struct call call = {0};
    char text[6000], partition[PARTITION_KEY_MAX + 2], sort[SORT_KEY_MAX + 2];
    memset(partition, 'p', sizeof partition);
    memset(sort, 's', sizeof sort);
    for (int over = 0; over < 4; over++) {
        partition[PARTITION_KEY_MAX + (over & 1)] = '\0';
        sort[SORT_KEY_MAX + (over >> 1)] = '\0';
        snprintf(text, sizeof text, "{\"pk\":{\"S\":\"%s\"},\"sk\":{\"S\":\"%s\"}}", partition, sort);
        const char *expected = (over & 1) ? INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes"
            : over ? INVALID "Aggregated size of all range keys has exceeded the size limit of 1024 bytes" : "";
        assert_string_equal(key_fault(&call, &s_and_s, text, false, false), expected);
        assert_string_equal(key_fault(&call, &s_and_s, text, true, false), expected);
        memset(partition, 'p', sizeof partition);
        memset(sort, 's', sizeof sort);
    }
    arena_close(&call.arena);
}

static void an_items_key_is_an_item(void **state)
{
    (void)state;
    struct call call = {0};
    struct json json;
    struct buf item, out;
    arena_open(&call.arena, NULL);
    assert_true(json_parse(&call.arena, STR("{\"pk\":{\"B\":\"AA==\"},\"x\":{\"L\":[]},\"a\":{\"S\":\"sort\"}}"), &json));
    buf_open(&item, &call.arena, 0);
    assert_int_equal(item_read(&call, &json, 0, &item), FAULT_NONE);
    buf_open(&out, &call.arena, 0);
    key_item_of(&b_and_s, buf_str(&item), &out);
    assert_true(item_is_valid(buf_str(&out)));
    struct buf text;
    buf_open(&text, &call.arena, 0);
    item_write_json(&text, buf_str(&out));
    assert_true(str_equal(buf_str(&text), STR("{\"a\":{\"S\":\"sort\"},\"pk\":{\"B\":\"AA==\"}}")));
    arena_close(&call.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_golden),
        cmocka_unit_test(row_keys_are_golden),
        cmocka_unit_test(order_is_hash_then_key_then_sort_key),
        cmocka_unit_test(a_key_that_begins_with_another_follows_all_its_rows),
        cmocka_unit_test(bounds_part_rows),
        cmocka_unit_test(number_keys_sort_by_value),
        cmocka_unit_test(bytes_that_are_no_key_are_refused),
        cmocka_unit_test(keys_of_items_are_checked),
        cmocka_unit_test(keys_of_maps_are_checked),
        cmocka_unit_test(key_lengths_are_bounded),
        cmocka_unit_test(an_items_key_is_an_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
