/* Tests of index entries: golden row keys, which items an index holds, what it keeps of them, order and prefixes. */
#include "model/index.h"
#include "model/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct key_schema table_keys = {{{"user", 4}, VALUE_S}, {{"order", 5}, VALUE_S}};
static const struct key_schema table_without_sort = {{{"user", 4}, VALUE_S}, {{NULL, 0}, VALUE_S}};
static const str included[] = {{"total", 5}, {"when", 4}};

static const struct index_schema local = {
    .table = &table_keys,
    .is_local = true,
    .local_place = 2,
    .partition = {{{"user", 4}, VALUE_S}},
    .partition_count = 1,
    .sort = {{{"raw", 3}, VALUE_B}},
    .sort_count = 1,
};

static const struct index_schema by_state = {
    .table = &table_keys,
    .partition = {{{"state", 5}, VALUE_S}},
    .partition_count = 1,
    .sort = {{{"when", 4}, VALUE_S}},
    .sort_count = 1,
    .non_key_attributes = included,
    .non_key_attribute_count = 2,
};

static const struct index_schema by_many = {
    .table = &table_keys,
    .partition = {{{"land", 4}, VALUE_S}, {{"raw", 3}, VALUE_B}},
    .partition_count = 2,
    .sort = {{{"total", 5}, VALUE_N}, {{"state", 5}, VALUE_S}},
    .sort_count = 2,
    .projects_all = true,
};

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

static str with(struct arena *arena, str item, str name, str v)
{
    size_t count;
    struct attribute *old = item_attributes(arena, item, &count);
    struct attribute *attributes = ARENA_NEW_ARRAY(arena, struct attribute, count + 1);
    struct buf out;
    buf_open(&out, arena, 0);
    for (size_t i = 0; i < count; i++)
        attributes[i] = old[i];
    attributes[count] = (struct attribute){name, v};
    item_write(&out, attributes, count + 1);
    return buf_str(&out);
}

static str without(struct arena *arena, str item, str name)
{
    size_t count, kept = 0;
    struct attribute *attributes = item_attributes(arena, item, &count);
    struct buf out;
    buf_open(&out, arena, 0);
    for (size_t i = 0; i < count; i++)
        if (!str_equal(attributes[i].name, name))
            attributes[kept++] = attributes[i];
    item_write(&out, attributes, kept);
    return buf_str(&out);
}

static str an_order(struct arena *arena)
{
    struct attribute attributes[] = {
        {STR("user"), scalar(arena, VALUE_S, STR("user#1"))}, {STR("order"), scalar(arena, VALUE_S, STR("order 7"))},
        {STR("state"), scalar(arena, VALUE_S, STR("open"))},  {STR("when"), scalar(arena, VALUE_S, STR("2026"))},
        {STR("raw"), scalar(arena, VALUE_B, STR("\x00\x01"))}, {STR("total"), number(arena, "0")},
        {STR("land"), scalar(arena, VALUE_S, STR("de"))},      {STR("note"), scalar(arena, VALUE_S, STR("gift"))},
    };
    struct buf out;
    buf_open(&out, arena, 0);
    item_write(&out, attributes, sizeof attributes / sizeof *attributes);
    return buf_str(&out);
}

static str row_key(struct arena *arena, const struct index_schema *schema, str item)
{
    struct buf out;
    buf_open(&out, arena, 0);
    index_row_key(schema, item, &out);
    return buf_str(&out);
}

static str project(struct arena *arena, const struct index_schema *schema, str item)
{
    struct buf out;
    buf_open(&out, arena, 0);
    index_project(schema, item, arena, &out);
    return buf_str(&out);
}

/* From an XXH64 and an escaping written a second time. These bytes are part of the data format. */
static void row_keys_are_golden(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    str item = an_order(&arena);
    assert_true(str_equal(row_key(&arena, &local, item), STR("kC\x80\x97\x9c\xc0\x86\xf1\xc1\xd7\xf6\x92" "user#1\x01\x01\x01\x02\x01\x03\x01\x01" "order 7")));
    assert_true(str_equal(row_key(&arena, &by_state, item), STR("i\x81\xcc\xdd\x9c\xda\xca\xbb\xa4\x98\xa4" "open\x01\x01" "2026\x01\x01user#1\x01\x01order 7")));
    item = with(&arena, item, STR("raw"), scalar(&arena, VALUE_B, STR("\x01")));
    item = with(&arena, item, STR("state"), scalar(&arena, VALUE_S, STR("x")));
    assert_true(str_equal(row_key(&arena, &by_many, item),
                          STR("i\x80\xc5\xbc\xea\xe4\x84\xf8\xb4\xf0\xbd" "de\x01\x01\x01\x03\x01\x01\x80\x01\x01x\x01\x01user#1\x01\x01order 7")));
    struct index_schema keys_only = by_state;
    keys_only.table = &table_without_sort;
    keys_only.sort_count = 0;
    item = an_order(&arena);
    assert_true(str_equal(row_key(&arena, &keys_only, item), STR("i\x81\xcc\xdd\x9c\xda\xca\xbb\xa4\x98\xa4" "open\x01\x01user#1\x01\x01")));
    arena_close(&arena);
}

static void one_partition_attribute_hashes_as_a_table_does(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    struct key_schema as_table = {by_state.partition[0], by_state.sort[0]};
    str open = scalar(&arena, VALUE_S, STR("open"));
    struct buf from_index, from_table;
    buf_open(&from_index, &arena, 0);
    buf_open(&from_table, &arena, 0);
    index_row_prefix(&by_state, &open, NULL, 0, &from_index);
    key_encode_partition(&as_table, ROW_ITEM, open, &from_table);
    assert_true(str_equal(buf_str(&from_index), buf_str(&from_table)));
    arena_close(&arena);
}

static void a_hash_bounds_entries(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    static const struct index_schema *const schemas[] = {&local, &by_state};
    static const char *const spaces[] = {"kC", "i"};
    for (int i = 0; i < 2; i++) {
        str item = an_order(&arena), key = row_key(&arena, schemas[i], item);
        uint64_t hash = key_hash(VALUE_S, value_scalar(item_get(item, schemas[i]->partition[0].name)));
        struct buf at, above;
        buf_open(&at, &arena, 0);
        buf_open(&above, &arena, 0);
        index_row_hash(schemas[i], hash, &at);
        index_row_hash(schemas[i], hash + 1, &above);
        assert_true(str_begins(buf_str(&at), str_of_text(spaces[i])) && str_begins(key, buf_str(&at)));
        assert_true(str_compare(key, buf_str(&above)) < 0);
    }
    arena_close(&arena);
}

static void only_items_with_proper_keys_are_held(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    str item = an_order(&arena);
    char *long_text = arena_alloc_text(&arena, PARTITION_KEY_MAX + 1);
    memset(long_text, 'x', PARTITION_KEY_MAX + 1);
    assert_true(index_holds(&local, item) && index_holds(&by_state, item) && index_holds(&by_many, item));
    assert_false(index_holds(&local, without(&arena, item, STR("raw"))));
    assert_false(index_holds(&by_state, without(&arena, item, STR("state"))));
    assert_false(index_holds(&by_state, without(&arena, item, STR("when"))));
    assert_false(index_holds(&by_many, without(&arena, item, STR("state"))));
    assert_true(index_holds(&by_many, without(&arena, item, STR("when"))));
    assert_false(index_holds(&local, with(&arena, item, STR("raw"), scalar(&arena, VALUE_S, STR("a")))));
    assert_false(index_holds(&local, with(&arena, item, STR("raw"), scalar(&arena, VALUE_B, STR("")))));
    assert_false(index_holds(&by_many, with(&arena, item, STR("total"), scalar(&arena, VALUE_S, STR("1")))));
    assert_true(index_holds(&by_state, with(&arena, item, STR("state"), scalar(&arena, VALUE_S, str_of(long_text, PARTITION_KEY_MAX)))));
    assert_false(index_holds(&by_state, with(&arena, item, STR("state"), scalar(&arena, VALUE_S, str_of(long_text, PARTITION_KEY_MAX + 1)))));
    assert_true(index_holds(&by_state, with(&arena, item, STR("when"), scalar(&arena, VALUE_S, str_of(long_text, SORT_KEY_MAX)))));
    assert_false(index_holds(&by_state, with(&arena, item, STR("when"), scalar(&arena, VALUE_S, str_of(long_text, SORT_KEY_MAX + 1)))));
    arena_close(&arena);
}

static void an_index_keeps_its_keys_the_tables_and_what_it_projects(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    str item = an_order(&arena), kept = project(&arena, &by_state, item);
    assert_true(item_is_valid(kept));
    struct value_walk walk;
    item_walk_open(&walk, kept);
    assert_int_equal(walk.left, 5); /* state, when, user, order, total; `when` is a key and included, too */
    str name, v;
    while (value_walk_attribute(&walk, &name, &v)) {
        assert_true(index_projects(&by_state, name));
        assert_true(value_equal(v, item_get(item, name)));
    }
    assert_false(index_projects(&by_state, STR("note")));
    assert_false(index_projects(&by_state, STR("raw")));
    assert_true(index_projects(&by_many, STR("note")));
    assert_true(str_equal(project(&arena, &by_many, item), item));
    kept = project(&arena, &local, item);
    item_walk_open(&walk, kept);
    assert_int_equal(walk.left, 3); /* user, order, raw */
    /* What is not there is not kept. */
    kept = project(&arena, &by_state, without(&arena, item, STR("total")));
    assert_int_equal(item_get(kept, STR("total")).len, 0);
    /* The row key is the same of the item and of what is kept of it. */
    assert_true(str_equal(row_key(&arena, &by_state, kept), row_key(&arena, &by_state, item)));
    arena_close(&arena);
}

static void keys_differ_when_an_index_attribute_does(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    str item = an_order(&arena);
    assert_false(index_key_differs(&by_state, item, with(&arena, item, STR("note"), number(&arena, "1"))));
    assert_true(index_key_differs(&by_state, item, with(&arena, item, STR("state"), scalar(&arena, VALUE_S, STR("shut")))));
    assert_true(index_key_differs(&by_state, item, with(&arena, item, STR("when"), scalar(&arena, VALUE_S, STR("2027")))));
    assert_false(index_key_differs(&by_many, item, with(&arena, item, STR("total"), number(&arena, "0.0"))));
    arena_close(&arena);
}

/* Short bytes of few values, so that prefixes, equal starts and bytes 0, 1 and 2 are common. */
static str random_value(uint64_t *seed, struct arena *arena, enum value_type type)
{
    if (type == VALUE_N)
        return number(arena, (const char *[]){"0", "-1", "1e9", "0.5", "-2e30"}[next_random(seed) % 5]);
    size_t length = 1 + next_random(seed) % 3;
    char *bytes = arena_alloc_text(arena, length);
    for (size_t at = 0; at < length; at++)
        bytes[at] = (char)(next_random(seed) % 3);
    return scalar(arena, type, str_of(bytes, length));
}

static int compare_by_parts(const struct index_schema *schema, str a, str b)
{
    int order = 0;
    for (size_t part = 0; order == 0 && part < schema->sort_count; part++)
        order = value_compare(item_get(a, schema->sort[part].name), item_get(b, schema->sort[part].name));
    if (order == 0 && !schema->is_local)
        order = value_compare(item_get(a, schema->table->partition.name), item_get(b, schema->table->partition.name));
    return order ? order : value_compare(item_get(a, schema->table->sort.name), item_get(b, schema->table->sort.name));
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

/* Inside one partition of the index: by sort attributes, then by the table's key; and all that share leading values share their prefix, and no others. */
static void entries_order_as_the_index_orders(void **state)
{
    (void)state;
    static const struct index_schema *const schemas[] = {&local, &by_state, &by_many};
    uint64_t seed = 7;
    for (int round = 0; round < 20000; round++) {
        struct arena arena;
        arena_open(&arena, NULL);
        const struct index_schema *schema = schemas[round % 3];
        str items[2];
        for (int i = 0; i < 2; i++) {
            items[i] = an_order(&arena);
            for (size_t part = 0; part < schema->sort_count; part++)
                items[i] = with(&arena, items[i], schema->sort[part].name, random_value(&seed, &arena, schema->sort[part].type));
            items[i] = with(&arena, items[i], STR("order"), random_value(&seed, &arena, VALUE_S));
            if (!schema->is_local)
                items[i] = with(&arena, items[i], STR("user"), random_value(&seed, &arena, VALUE_S));
        }
        str keys[2] = {row_key(&arena, schema, items[0]), row_key(&arena, schema, items[1])};
        assert_int_equal(sign(str_compare(keys[0], keys[1])), sign(compare_by_parts(schema, items[0], items[1])));
        assert_int_equal(str_find(keys[0], '\0'), keys[0].len);
        str partition[INDEX_PARTS_MAX], sort[INDEX_PARTS_MAX];
        for (size_t part = 0; part < schema->partition_count; part++)
            partition[part] = item_get(items[0], schema->partition[part].name);
        bool is_same = true;
        for (size_t count = 0; count <= schema->sort_count; count++) {
            struct buf prefix;
            buf_open(&prefix, &arena, 0);
            if (count > 0) {
                sort[count - 1] = item_get(items[0], schema->sort[count - 1].name);
                is_same = is_same && value_equal(sort[count - 1], item_get(items[1], schema->sort[count - 1].name));
            }
            index_row_prefix(schema, partition, sort, count, &prefix);
            assert_true(str_begins(keys[0], buf_str(&prefix)));
            assert_int_equal(str_begins(keys[1], buf_str(&prefix)), is_same);
        }
        arena_close(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_keys_are_golden),
        cmocka_unit_test(one_partition_attribute_hashes_as_a_table_does),
        cmocka_unit_test(a_hash_bounds_entries),
        cmocka_unit_test(only_items_with_proper_keys_are_held),
        cmocka_unit_test(an_index_keeps_its_keys_the_tables_and_what_it_projects),
        cmocka_unit_test(keys_differ_when_an_index_attribute_does),
        cmocka_unit_test(entries_order_as_the_index_orders),
    };
    return cmocka_run_group_tests_name("index", tests, NULL, NULL);
}
