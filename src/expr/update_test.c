/* Updates applied to items: results, faults, touched parts, charges. */
#include "expr/expr_fixture_internal.h"

struct update_case {
    const char *before;
    const char *text;
    const char *values;
    const char *after; /* or the message of the fault */
};

#define V(json) "{\":v\":" json "}"
#define W(v, w) "{\":v\":" v ",\":w\":" w "}"
#define N(n) "{\"N\":\"" n "\"}"
#define S(s) "{\"S\":\"" s "\"}"
#define BAD_PATH "The document path provided in the update expression is invalid for update"
#define BAD_TYPE "An operand in the update expression has an incorrect data type"
#define MISSING "The provided expression refers to an attribute that does not exist in the item"
#define OVERFLOWS "Number overflow. Attempting to store a number with magnitude larger than supported range"
#define UNDERFLOWS "Number underflow. Attempting to store a number with magnitude smaller than supported range"

static const struct update_case cases[] = {
    /* SET */
    {"{\"p\":" S("k") "}", "SET b = :v, a = :v", V(N("1")), "{\"a\":" N("1") ",\"b\":" N("1") ",\"p\":" S("k") "}"},
    {"{\"a\":" N("1") "}", "SET a = :v", V(S("x")), "{\"a\":" S("x") "}"},
    {"{\"a\":" S("x") ",\"b\":" S("y") "}", "SET a = b, b = a", NULL, "{\"a\":" S("y") ",\"b\":" S("x") "}"},
    {"{\"a\":" S("x") "}", "REMOVE a SET b = a", NULL, "{\"b\":" S("x") "}"},
    {"{\"a\":" N("7") "}", "SET b = :v - a, c = a + a, a = a + :v", V(N("0.5")), "{\"a\":" N("7.5") ",\"b\":" N("-6.5") ",\"c\":" N("14") "}"},
    {"{\"a\":" N("7") "}", "SET b = if_not_exists(a, :v), c = if_not_exists(x, :v), d = if_not_exists(x, if_not_exists(y, :v)) + a", V(N("1")),
     "{\"a\":" N("7") ",\"b\":" N("7") ",\"c\":" N("1") ",\"d\":" N("8") "}"},
    {"{\"a\":" N("7") "}", "SET a = if_not_exists(a, nil)", NULL, "{\"a\":" N("7") "}"},
    {"{\"l\":{\"L\":[]}}", "SET l = if_not_exists(l, list_append(nil, nix))", NULL, "{\"l\":{\"L\":[]}}"},
    {"{\"l\":{\"L\":[" N("1") "]}}", "SET l = list_append(l, :v), h = list_append(:v, l), m = list_append(if_not_exists(x, :v), l)", V("{\"L\":[" S("n") "]}"),
     "{\"h\":{\"L\":[" S("n") "," N("1") "]},\"l\":{\"L\":[" N("1") "," S("n") "]},\"m\":{\"L\":[" S("n") "," N("1") "]}}"},
    {"{\"n\":" N("1") "}", "SET n = :v + :w", W(N("0.1"), N("0.2")), "{\"n\":" N("0.3") "}"},
    {"{\"n\":" N("1") "}", "SET n = :v - :v", V(N("1.5")), "{\"n\":" N("0") "}"},
    /* SET into documents */
    {"{\"a\":{\"M\":{\"b\":" N("3") ",\"c\":" N("4") "}},\"d\":" N("5") "}", "SET a.c = :v, a.aa = :v", V(N("7")),
     "{\"a\":{\"M\":{\"aa\":" N("7") ",\"b\":" N("3") ",\"c\":" N("7") "}},\"d\":" N("5") "}"},
    {"{\"a\":{\"L\":[" S("1") "," S("2") "," S("3") "]}}", "SET a[1] = :v", V(S("x")), "{\"a\":{\"L\":[" S("1") "," S("x") "," S("3") "]}}"},
    {"{\"a\":{\"L\":[" S("1") "]}}", "SET a[7] = :v", V(S("x")), "{\"a\":{\"L\":[" S("1") "," S("x") "]}}"},
    {"{\"a\":{\"L\":[]}}", "SET a[0] = :v", V(S("x")), "{\"a\":{\"L\":[" S("x") "]}}"},
    {"{\"a\":{\"L\":[" S("1") "]}}", "SET a[84] = :v, a[37] = :w, a[17] = b, a[50] = a[0]", W(S("84"), S("37")), MISSING},
    {"{\"a\":{\"L\":[" S("1") "]}}", "SET a[84] = :v, a[37] = :w, a[50] = a[0]", W(S("84"), S("37")),
     "{\"a\":{\"L\":[" S("1") "," S("37") "," S("1") "," S("84") "]}}"},
    {"{\"a\":{\"M\":{\"b\":" N("3") ",\"c\":{\"L\":[" S("hi") ",{\"M\":{\"x\":{\"M\":{\"y\":{\"L\":[" N("3") "," N("5") "]}}}}}]}}}}",
     "SET a.c[1].x.y[1] = :v, a.z = a.c[1].x.y[0]", V(N("9")),
     "{\"a\":{\"M\":{\"b\":" N("3") ",\"c\":{\"L\":[" S("hi") ",{\"M\":{\"x\":{\"M\":{\"y\":{\"L\":[" N("3") "," N("9") "]}}}}}]},\"z\":" N("3") "}}}"},
    {"{\"a\":{\"M\":{\"x\":" N("3") ",\"y\":" N("4") ",\"c\":{\"M\":{\"y\":" N("3") "}}}},\"b\":{\"M\":{\"x\":" N("1") ",\"y\":" N("2") "}}}",
     "SET a.b = :v, a.c.d = :w, b.x = :v REMOVE a.x, b.y", W(N("10"), S("dog")),
     "{\"a\":{\"M\":{\"b\":" N("10") ",\"c\":{\"M\":{\"d\":" S("dog") ",\"y\":" N("3") "}},\"y\":" N("4") "}},\"b\":{\"M\":{\"x\":" N("10") "}}}"},
    /* REMOVE */
    {"{\"a\":" N("1") ",\"b\":" N("2") "}", "REMOVE a, none1", NULL, "{\"b\":" N("2") "}"},
    {"{\"a\":{\"M\":{\"b\":" N("1") "}}}", "REMOVE a.b", NULL, "{\"a\":{\"M\":{}}}"},
    {"{\"a\":{\"M\":{\"b\":" N("1") "}}}", "REMOVE a.c", NULL, "{\"a\":{\"M\":{\"b\":" N("1") "}}}"},
    {"{\"a\":{\"L\":[" N("1") "]}}", "REMOVE a[0]", NULL, "{\"a\":{\"L\":[]}}"},
    {"{\"a\":{\"L\":[" N("1") "]}}", "REMOVE a[17]", NULL, "{\"a\":{\"L\":[" N("1") "]}}"},
    {"{\"a\":{\"L\":[" N("2") "," N("3") "," N("4") "," N("5") "," N("6") "]}}", "REMOVE a[1] SET a[3] = :v", V(N("17")),
     "{\"a\":{\"L\":[" N("2") "," N("4") "," N("17") "," N("6") "]}}"},
    {"{\"a\":{\"L\":[" N("2") "," N("3") "," N("4") "]}}", "REMOVE a[0], a[2]", NULL, "{\"a\":{\"L\":[" N("3") "]}}"},
    /* ADD */
    {"{\"a\":" N("3") "}", "ADD a :v, b :v", V(N("4")), "{\"a\":" N("7") ",\"b\":" N("4") "}"},
    {"{\"a\":{\"SS\":[\"dog\",\"cat\"]}}", "ADD a :v, c :v", V("{\"SS\":[\"cow\",\"cat\"]}"),
     "{\"a\":{\"SS\":[\"cat\",\"cow\",\"dog\"]},\"c\":{\"SS\":[\"cat\",\"cow\"]}}"},
    {"{\"a\":{\"NS\":[\"10\",\"9\"]}}", "ADD a :v", V("{\"NS\":[\"9.0\",\"-1\"]}"), "{\"a\":{\"NS\":[\"-1\",\"9\",\"10\"]}}"},
    {"{\"a\":{\"M\":{\"n\":" N("1") "}},\"l\":{\"L\":[]}}", "ADD a.n :v, a.x :v, l[8] :v, l[3] :w", W(N("1"), N("2")),
     "{\"a\":{\"M\":{\"n\":" N("2") ",\"x\":" N("1") "}},\"l\":{\"L\":[" N("2") "," N("1") "]}}"},
    /* DELETE */
    {"{\"a\":{\"SS\":[\"dog\",\"cat\",\"cow\"]}}", "DELETE a :v", V("{\"SS\":[\"cat\",\"pig\"]}"), "{\"a\":{\"SS\":[\"cow\",\"dog\"]}}"},
    {"{\"a\":{\"SS\":[\"dog\"]},\"b\":" N("1") "}", "DELETE a :v", V("{\"SS\":[\"dog\"]}"), "{\"b\":" N("1") "}"},
    {"{\"b\":" N("1") "}", "DELETE a :v", V("{\"SS\":[\"dog\"]}"), "{\"b\":" N("1") "}"},
    {"{\"m\":{\"M\":{\"l\":{\"L\":[{\"BS\":[\"AA==\"]}]}}}}", "DELETE m.l[0] :v, m.l[1] :v, m.x :v", V("{\"BS\":[\"AA==\"]}"), "{\"m\":{\"M\":{\"l\":{\"L\":[]}}}}"},
    /* all of them */
    {"{\"a\":" N("5") ",\"b\":" N("1") ",\"c\":{\"SS\":[\"a\",\"b\"]}}", "REMOVE b DELETE c :v ADD d :w SET f = a", W("{\"SS\":[\"a\"]}", N("5")),
     "{\"a\":" N("5") ",\"c\":{\"SS\":[\"b\"]},\"d\":" N("5") ",\"f\":" N("5") "}"},
    /* paths that lead nowhere */
    {"{\"a\":" S("x") "}", "SET a.c = :v", V(N("7")), BAD_PATH},
    {"{\"a\":" S("x") "}", "SET c.c = :v", V(N("7")), BAD_PATH},
    {"{\"b\":{\"L\":[]}}", "SET b.c = :v", V(N("7")), BAD_PATH},
    {"{\"b\":{\"M\":{}}}", "SET b[0] = :v", V(N("7")), BAD_PATH},
    {"{\"b\":{\"L\":[{\"M\":{}}]}}", "SET b[1].c = :v", V(N("7")), BAD_PATH},
    {"{\"a\":" S("x") "}", "REMOVE a.c", NULL, BAD_PATH},
    {"{\"a\":" S("x") "}", "REMOVE a[0]", NULL, BAD_PATH},
    {"{\"a\":" S("x") "}", "REMOVE c.c", NULL, BAD_PATH},
    {"{\"a\":" S("x") "}", "ADD a.c :v", V(N("7")), BAD_PATH},
    {"{\"a\":" S("x") "}", "DELETE c[1] :v", V("{\"NS\":[\"1\"]}"), BAD_PATH},
    /* what the item lacks, or has of another type */
    {"{\"a\":" S("x") "}", "SET b = c", NULL, MISSING},
    {"{\"a\":" S("x") "}", "SET b = c + :v", V(N("1")), MISSING},
    {"{\"a\":" S("x") "}", "SET b = list_append(c, :v)", V("{\"L\":[]}"), MISSING},
    {"{\"a\":" S("x") "}", "SET b = a + :v", V(N("1")), BAD_TYPE},
    {"{\"a\":" S("x") "}", "SET b = :v - a", V(N("1")), BAD_TYPE},
    {"{\"a\":" S("x") "}", "SET b = list_append(:v, a)", V("{\"L\":[]}"), BAD_TYPE},
    {"{\"a\":" S("x") "}", "ADD a :v", V(N("1")), BAD_TYPE},
    {"{\"a\":{\"NS\":[\"1\"]}}", "ADD a :v", V(N("1")), BAD_TYPE},
    {"{\"a\":{\"NS\":[\"1\"]}}", "ADD a :v", V("{\"SS\":[\"1\"]}"), BAD_TYPE},
    {"{\"a\":{\"L\":[]}}", "ADD a :v", V("{\"SS\":[\"1\"]}"), BAD_TYPE},
    {"{\"a\":{\"NS\":[\"1\"]}}", "DELETE a :v", V("{\"SS\":[\"1\"]}"), BAD_TYPE},
    {"{\"s\":" S("x") "}", "SET a = zz, b = s + :v", V(N("1")), BAD_TYPE},
    {"{\"s\":" S("x") "}", "SET s.b = zz", NULL, BAD_PATH},
    /* numbers out of range */
    {"{\"a\":" N("9.9E125") "}", "SET a = a + :v", V(N("1E125")), OVERFLOWS},
    {"{\"a\":" N("9.9E125") "}", "ADD a :v", V(N("1E125")), OVERFLOWS},
    {"{\"a\":" N("2E-130") "}", "SET a = a - :v", V(N("1.5E-130")), UNDERFLOWS},
    {"{\"a\":" N("1E50") "}", "SET a = a + :v", V(N("1")), OVERFLOWS},
};

static void applies_to_an_item(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, WORDING_CURRENT);
        str item = fixture_item(&fixture, cases[i].before);
        str program;
        if (fixture_read(&fixture, EXPR_UPDATE, cases[i].text, NULL, cases[i].values, &program) != FAULT_NONE)
            fail_msg("%s: %.*s", cases[i].text, STR_ARG(fixture.call.message));
        struct buf after;
        buf_open(&after, &fixture.call.arena, 0);
        BUF_ADD_LITERAL(&after, "kept");
        enum fault fault = expr_update_apply(&fixture.call, program, item, &after);
        const char *expected = cases[i].after;
        const char *got;
        if (fault == FAULT_NONE) {
            str result = str_from(buf_str(&after), 4);
            assert_true(item_is_valid(result));
            got = fixture_show(&fixture, result);
        } else {
            assert_int_equal(fault, FAULT_VALIDATION);
            got = arena_copy_text(&fixture.call.arena, fixture.call.message);
        }
        if (strcmp(got, expected) != 0)
            fail_msg("%s\n  gave: %s\n  not:  %s", cases[i].text, got, expected);
        free((void *)item.data);
        fixture_close(&fixture);
    }
}

static str read_update(struct fixture *fixture, const char *text, const char *values)
{
    str program;
    if (fixture_read(fixture, EXPR_UPDATE, text, NULL, values, &program) != FAULT_NONE)
        fail_msg("%s: %.*s", text, STR_ARG(fixture->call.message));
    return program;
}

static void knows_which_updates_create(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, WORDING_CURRENT);
    assert_true(expr_update_creates(STR_NONE));
    assert_true(expr_update_creates(read_update(&fixture, "SET a = :v", V(N("1")))));
    assert_true(expr_update_creates(read_update(&fixture, "REMOVE a ADD b :v", V(N("1")))));
    assert_true(expr_update_creates(read_update(&fixture, "DELETE a :v SET b = if_not_exists(c, :v)", V("{\"SS\":[\"a\"]}"))));
    assert_false(expr_update_creates(read_update(&fixture, "REMOVE a, b.c[1]", NULL)));
    assert_false(expr_update_creates(read_update(&fixture, "REMOVE a DELETE b :v, c :v", V("{\"SS\":[\"a\"]}"))));
    fixture_close(&fixture);
}

/* Public suite of Scylla, test_update_item_returnvalues_nested: the item goes through these updates one after the other. */
static void shows_what_was_touched(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *values;
        const char *old;
        const char *new;
    } steps[] = {
        {"SET a.b = :v", V(S("hi")), "{\"a\":{\"M\":{\"b\":" S("dog") "}}}", "{\"a\":{\"M\":{\"b\":" S("hi") "}}}"},
        {"SET a.c[1] = :v", V(N("7")), "{\"a\":{\"M\":{\"c\":{\"L\":[" N("2") "]}}}}", "{\"a\":{\"M\":{\"c\":{\"L\":[" N("7") "]}}}}"},
        {"SET a.c[1] = :v, a.b = :w", W(N("8"), S("yo")), "{\"a\":{\"M\":{\"b\":" S("hi") ",\"c\":{\"L\":[" N("7") "]}}}}",
         "{\"a\":{\"M\":{\"b\":" S("yo") ",\"c\":{\"L\":[" N("8") "]}}}}"},
        {"REMOVE a.c[1], a.c[3]", NULL, "{\"a\":{\"M\":{\"c\":{\"L\":[" N("8") "]}}}}", "{\"a\":{\"M\":{\"c\":{\"L\":[" N("3") "]}}}}"},
        {"SET a.x = :v", V(N("8")), "{}", "{\"a\":{\"M\":{\"x\":" N("8") "}}}"},
        {"SET a.c[100] = :v", V(N("70")), "{}", "{}"},
        {"SET d = d, e = :v REMOVE x", V(S("new")), "{\"d\":" S("cat") "}", "{\"d\":" S("cat") ",\"e\":" S("new") "}"},
    };
    struct fixture fixture;
    fixture_open(&fixture, WORDING_CURRENT);
    str item = fixture_item(&fixture, "{\"p\":" S("k") ",\"a\":{\"M\":{\"b\":" S("dog") ",\"c\":{\"L\":[" N("1") "," N("2") "," N("3") "]}}},\"d\":" S("cat") "}");
    str now = item;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        str program = read_update(&fixture, steps[i].text, steps[i].values);
        struct buf after, old, new;
        buf_open(&after, &fixture.call.arena, 0);
        buf_open(&old, &fixture.call.arena, 0);
        buf_open(&new, &fixture.call.arena, 0);
        assert_int_equal(expr_update_apply(&fixture.call, program, now, &after), FAULT_NONE);
        expr_update_touched(program, now, &old);
        expr_update_touched(program, buf_str(&after), &new);
        assert_true(item_is_valid(buf_str(&old)) && item_is_valid(buf_str(&new)));
        assert_string_equal(fixture_show(&fixture, buf_str(&old)), steps[i].old);
        assert_string_equal(fixture_show(&fixture, buf_str(&new)), steps[i].new);
        now = buf_str(&after);
    }
    struct buf nothing;
    buf_open(&nothing, &fixture.call.arena, 0);
    expr_update_touched(STR_NONE, item, &nothing);
    assert_string_equal(fixture_show(&fixture, buf_str(&nothing)), "{}");
    free((void *)item.data);
    fixture_close(&fixture);
}

/* Public suite Parity, itemSizeBySurface: each figure behind the 3 of the update. */
static void charges_each_clause(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *values;
        size_t bytes;
    } charges[] = {
        {"SET b = :v", V(S("12345")), 19 + 1 + 5},
        {"SET b = :v, cc = :v", V(S("12345")), 2 * (19 + 5) + 3},
        {"SET b = :v REMOVE r", V(S("12345")), 19 + 6 + 2},
        {"SET c = abcdefghij", NULL, 19 + 1 + 15 + 10},
        {"SET c = m.z", NULL, 19 + 1 + 1 + 15 + 15},
        {"SET c = l[10]", NULL, 19 + 1 + 1 + 15 + 16},
        {"SET d.leaf = :v", V(S("12345")), 19 + 1 + 4 + 4 + 5},
        {"SET d[0] = :v", V(S("12345")), 19 + 1 + 4 + 1 + 5},
        {"SET l = list_append(l, :v)", V("{\"L\":[" S("1234567890") "]}"), 19 + 1 + 37 + 16 + 14},
        {"SET n = n + :v", V(N("1")), 19 + 1 + 34 + 16 + 2},
        {"SET n = n - :v", V(N("1")), 19 + 1 + 37 + 16 + 2},
        {"SET c = if_not_exists(c, :v), d = if_not_exists(d, :v)", V(S("v")), 2 * (19 + 1 + 39 + 16 + 1)},
        {"ADD abcdefghij :v", V(N("1")), 19 + 10 + 2},
        {"ADD ss :v", V("{\"SS\":[\"old\",\"12345\"]}"), 19 + 2 + 5},
        {"ADD xx :v", V("{\"SS\":[\"old\",\"12345\"]}"), 19 + 2 + 8},
        {"REMOVE abcdefghij", NULL, 11},
        {"REMOVE m.yyyyyyyyyy", NULL, 1 + 1 + 14},
        {"REMOVE l[10]", NULL, 1 + 1 + 4 + 2},
        {"DELETE abcdefghij :v", V("{\"SS\":[\"q\"]}"), 11},
    };
    struct fixture fixture;
    fixture_open(&fixture, WORDING_CURRENT);
    str item = fixture_item(&fixture, "{\"ss\":{\"SS\":[\"old\"]}}");
    for (size_t i = 0; i < sizeof charges / sizeof charges[0]; i++)
        assert_int_equal(expr_update_charge(read_update(&fixture, charges[i].text, charges[i].values), item), 3 + charges[i].bytes);
    assert_int_equal(expr_update_charge(STR_NONE, item), 3);
    free((void *)item.data);
    fixture_close(&fixture);
}

/* 4 KB of text that copies a large attribute hundreds of times is refused before it is done. */
static void bounds_what_an_update_makes(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, WORDING_CURRENT);
    struct buf large;
    buf_open(&large, &fixture.call.arena, 0);
    BUF_ADD_LITERAL(&large, "{\"l\":{\"L\":[{\"S\":\"");
    for (size_t i = 0; i < 300000; i++)
        buf_add_byte(&large, 'x');
    BUF_ADD_LITERAL(&large, "\"}]}}\0");
    str item = fixture_item(&fixture, large.data);
    struct buf text;
    buf_open(&text, &fixture.call.arena, 0);
    BUF_ADD_LITERAL(&text, "SET ");
    for (int i = 0; i < 150; i++)
        buf_printf(&text, "%sa%d = list_append(l, l)", i > 0 ? "," : "", i);
    buf_add_byte(&text, '\0');
    str program = read_update(&fixture, text.data, NULL);
    struct buf after;
    buf_open(&after, &fixture.call.arena, 0);
    size_t held = fixture.call.arena.held_bytes;
    assert_int_equal(expr_update_apply(&fixture.call, program, item, &after), FAULT_VALIDATION);
    assert_true(str_equal(fixture.call.message, STR("Item size to update has exceeded the maximum allowed size")));
    assert_true(fixture.call.arena.held_bytes - held < 32u << 20);
    free((void *)item.data);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applies_to_an_item),    cmocka_unit_test(knows_which_updates_create),   cmocka_unit_test(shows_what_was_touched),
        cmocka_unit_test(charges_each_clause), cmocka_unit_test(bounds_what_an_update_makes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
