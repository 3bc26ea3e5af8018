/* Conditions run on items. */
#include "expr/expr_fixture_internal.h"

static const char item_text[] =
    "{\"pk\":{\"S\":\"k\"},\"n\":{\"N\":\"5\"},\"two\":{\"N\":\"2\"},\"s\":{\"S\":\"h\xc3\xa9llo\"},\"e\":{\"S\":\"\xf0\x9f\x98\x80\"},\"em\":{\"S\":\"\"},"
    "\"b\":{\"B\":\"aGkgdGhlcmU=\"},\"hi\":{\"B\":\"/wA=\"},\"t\":{\"BOOL\":true},\"f\":{\"BOOL\":false},\"z\":{\"NULL\":true},"
    "\"ss\":{\"SS\":[\"dog\",\"cat\"]},\"ns\":{\"NS\":[\"1\",\"2.50\"]},\"bs\":{\"BS\":[\"AAE=\"]},"
    "\"l\":{\"L\":[{\"N\":\"1\"},{\"S\":\"x\"},{\"L\":[{\"N\":\"3\"},{\"N\":\"4\"}]},{\"NS\":[\"2\",\"1\"]}]},"
    "\"m\":{\"M\":{\"a\":{\"N\":\"1\"},\"inr\":{\"M\":{\"x\":{\"S\":\"y\"},\"l\":{\"L\":[{\"N\":\"7\"}]}}}}}}";

#define V(json) "{\":v\":" json "}"

struct condition_case {
    const char *text;
    const char *values;
    bool holds;
};

static const struct condition_case cases[] = {
    /* = and <> */
    {"n = :v", V("{\"N\":\"5.0e0\"}"), true},
    {"n = :v", V("{\"S\":\"5\"}"), false},
    {"n <> :v", V("{\"S\":\"5\"}"), true},
    {"n <> :v", V("{\"N\":\"5\"}"), false},
    {"nil = :v", V("{\"N\":\"5\"}"), false},
    {"nil <> :v", V("{\"N\":\"5\"}"), true},
    {"nil = nix", NULL, false},
    {"nil <> nix", NULL, true},
    {"t = :v", V("{\"BOOL\":true}"), true},
    {"f = :v", V("{\"BOOL\":true}"), false},
    {"z = :v", V("{\"NULL\":true}"), true},
    {"ss = :v", V("{\"SS\":[\"cat\",\"dog\"]}"), true},
    {"ns = :v", V("{\"NS\":[\"2.5\",\"1\"]}"), true},
    {"ss <> :v", V("{\"SS\":[\"cat\",\"horse\"]}"), true},
    {"l = :v", V("{\"L\":[{\"N\":\"1.0\"},{\"S\":\"x\"},{\"L\":[{\"N\":\"3\"},{\"N\":\"4\"}]},{\"NS\":[\"1\",\"2\"]}]}"), true},
    {"m.inr.x = :v", V("{\"S\":\"y\"}"), true},
    {"m.inr = :v", V("{\"M\":{\"l\":{\"L\":[{\"N\":\"7\"}]},\"x\":{\"S\":\"y\"}}}"), true},
    {"em = :v", V("{\"S\":\"\"}"), true},
    {":v = :v", V("{\"S\":\"\"}"), true},
    /* order */
    {"n < :v", V("{\"N\":\"6\"}"), true},
    {"n < :v", V("{\"N\":\"5\"}"), false},
    {"n <= :v", V("{\"N\":\"5\"}"), true},
    {"n > :v", V("{\"N\":\"-6\"}"), true},
    {"n >= :v", V("{\"N\":\"5.1\"}"), false},
    {"n < :v", V("{\"S\":\"9\"}"), false},
    {"n >= :v", V("{\"S\":\"0\"}"), false},
    {"nil < :v", V("{\"N\":\"6\"}"), false},
    {":v < nil", V("{\"N\":\"6\"}"), false},
    {"nil < nix", NULL, false},
    {"l < n", NULL, false},
    {"l <= ss", NULL, false},
    {"s > :v", V("{\"S\":\"h\"}"), true},
    {"e > :v", V("{\"S\":\"\xef\xbd\xa1\"}"), true},
    {"hi > :v", V("{\"B\":\"AAAA\"}"), true},
    {":v > two", V("{\"N\":\"2.1\"}"), true},
    {"n BETWEEN two AND :v", V("{\"N\":\"5\"}"), true},
    {"n BETWEEN :v AND two", V("{\"N\":\"3\"}"), false},
    {"n BETWEEN two AND :v", V("{\"S\":\"dog\"}"), false},
    {"n BETWEEN l AND ss", NULL, false},
    {":v BETWEEN two AND n", V("{\"N\":\"3\"}"), true},
    {"nil BETWEEN two AND n", NULL, false},
    /* IN */
    {"n IN (two, s, :v)", V("{\"N\":\"5\"}"), true},
    {"n IN (two, s, :v)", V("{\"N\":\"6\"}"), false},
    {"n IN (n2, :v, two) AND two = :v", V("{\"N\":\"2\"}"), false},
    {"n IN (:v) OR two IN (:v, n) AND n IN (:v)", V("{\"N\":\"5\"}"), true},
    {"nil IN (nix, :v)", V("{\"N\":\"5\"}"), false},
    {"m IN (m2, :v, s)", V("{\"S\":\"x\"}"), false},
    /* functions */
    {"attribute_exists(z)", NULL, true},
    {"attribute_exists(nil)", NULL, false},
    {"attribute_exists(m.inr.l[0])", NULL, true},
    {"attribute_exists(m.inr.l[1])", NULL, false},
    {"attribute_exists(s[0])", NULL, false},
    {"attribute_exists(l.a)", NULL, false},
    {"attribute_exists(m[0])", NULL, false},
    {"attribute_not_exists(nil)", NULL, true},
    {"attribute_not_exists(n)", NULL, false},
    {"attribute_not_exists(n.m)", NULL, true},
    {"attribute_type(t, :v)", V("{\"S\":\"BOOL\"}"), true},
    {"attribute_type(f, :v)", V("{\"S\":\"BOOL\"}"), true},
    {"attribute_type(z, :v)", V("{\"S\":\"NULL\"}"), true},
    {"attribute_type(l[3], :v)", V("{\"S\":\"NS\"}"), true},
    {"attribute_type(l[3], :v)", V("{\"S\":\"L\"}"), false},
    {"attribute_type(nil, :v)", V("{\"S\":\"S\"}"), false},
    {"attribute_type(:v, :v)", V("{\"S\":\"S\"}"), true},
    {"begins_with(s, :v)", V("{\"S\":\"h\xc3\xa9\"}"), true},
    {"begins_with(s, :v)", V("{\"S\":\"\"}"), true},
    {"begins_with(s, :v)", V("{\"S\":\"x\"}"), false},
    {"begins_with(:v, em)", V("{\"S\":\"x\"}"), true},
    {"begins_with(b, :v)", V("{\"B\":\"aGk=\"}"), true},
    {"begins_with(s, b)", NULL, false},
    {"begins_with(n, :v)", V("{\"S\":\"5\"}"), false},
    {"contains(s, :v)", V("{\"S\":\"ll\"}"), true},
    {"contains(s, :v)", V("{\"S\":\"lll\"}"), false},
    {"contains(s, :v)", V("{\"S\":\"\"}"), true},
    {"contains(s, :v)", V("{\"N\":\"1\"}"), false},
    {"contains(b, :v)", V("{\"B\":\"aGVyZQ==\"}"), true},
    {"contains(ss, :v)", V("{\"S\":\"cat\"}"), true},
    {"contains(ss, :v)", V("{\"S\":\"ca\"}"), false},
    {"contains(ss, :v)", V("{\"SS\":[\"cat\"]}"), false},
    {"contains(ss, :v)", V("{\"B\":\"Y2F0\"}"), false},
    {"contains(ns, :v)", V("{\"N\":\"2.5\"}"), true},
    {"contains(bs, :v)", V("{\"B\":\"AAE=\"}"), true},
    {"contains(l, :v)", V("{\"N\":\"1.0\"}"), true},
    {"contains(l, :v)", V("{\"L\":[{\"N\":\"3\"},{\"N\":\"4\"}]}"), true},
    {"contains(l, :v)", V("{\"NS\":[\"1\",\"2\"]}"), true},
    {"contains(l, :v)", V("{\"N\":\"3\"}"), false},
    {"contains(m, :v)", V("{\"S\":\"a\"}"), false},
    {"contains(nil, :v)", V("{\"S\":\"a\"}"), false},
    {"contains(:v, s)", V("{\"S\":\"oh h\xc3\xa9llo\"}"), true},
    {"size(s) = :v", V("{\"N\":\"5\"}"), true},
    {"size(e) = :v", V("{\"N\":\"2\"}"), true},
    {"size(em) = :v", V("{\"N\":\"0\"}"), true},
    {"size(b) = :v", V("{\"N\":\"8\"}"), true},
    {"size(ss) = size(ns)", NULL, true},
    {"size(l) = :v", V("{\"N\":\"4\"}"), true},
    {"size(m) = two", NULL, true},
    {"size(n) = :v", V("{\"N\":\"1\"}"), false},
    {"size(n) <> :v", V("{\"N\":\"1\"}"), true},
    {"size(t) >= :v", V("{\"N\":\"0\"}"), false},
    {"size(nil) >= :v", V("{\"N\":\"0\"}"), false},
    {"size(:v) < n", V("{\"S\":\"abcd\"}"), true},
    {"size(s) <> :v", V("{\"S\":\"dog\"}"), true},
    {"size(s) > :v", V("{\"S\":\"dog\"}"), false},
    {"size(l) BETWEEN two AND n", NULL, true},
    {"size(l) IN (n, :v)", V("{\"N\":\"4\"}"), true},
    /* logic */
    {"NOT n = :v", V("{\"N\":\"5\"}"), false},
    {"NOT NOT n = :v", V("{\"N\":\"5\"}"), true},
    {"NOT n = :v AND n = :v", V("{\"N\":\"5\"}"), false},
    {"n = :v OR n = :v AND nil = :v", V("{\"N\":\"5\"}"), true},
    {"(n = :v OR n = :v) AND nil = :v", V("{\"N\":\"5\"}"), false},
    {"nil = :v AND n = :v OR two < :v", V("{\"N\":\"5\"}"), true},
    {"n = :v AND two < :v AND attribute_exists(s) AND NOT (nil = :v OR nix = :v)", V("{\"N\":\"5\"}"), true},
    {"n BETWEEN two AND :v AND two BETWEEN two2 AND :v", V("{\"N\":\"5\"}"), false},
    {"n BETWEEN two AND :v AND attribute_exists(two)", V("{\"N\":\"5\"}"), true},
};

static void decides_on_an_item(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, WORDING_CURRENT);
        str item = fixture_item(&fixture, item_text);
        str program;
        if (fixture_read(&fixture, EXPR_CONDITION, cases[i].text, NULL, cases[i].values, &program) != FAULT_NONE)
            fail_msg("%s: %.*s", cases[i].text, STR_ARG(fixture.call.message));
        if (expr_holds(program, item) != cases[i].holds)
            fail_msg("%s: %s", cases[i].text, cases[i].values ? cases[i].values : "");
        free((void *)item.data);
        fixture_close(&fixture);
    }
}

static void decides_without_an_item(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, WORDING_CURRENT);
    str program;
    str empty = fixture_item(&fixture, "{}");
    assert_int_equal(fixture_read(&fixture, EXPR_CONDITION, "attribute_not_exists(pk)", NULL, NULL, &program), FAULT_NONE);
    assert_true(expr_holds(program, empty));
    assert_true(expr_holds(program, STR_NONE));
    assert_int_equal(fixture_read(&fixture, EXPR_CONDITION, "attribute_exists(pk) OR pk = :v", NULL, V("{\"S\":\"\"}"), &program), FAULT_NONE);
    assert_false(expr_holds(program, empty));
    assert_true(expr_holds(STR_NONE, empty));
    free((void *)empty.data);
    fixture_close(&fixture);
}

/* A key condition is run like any nix, and taken apart. */
static void takes_key_conditions_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum expr_key_comparison first;
        enum expr_key_comparison second;
    } shapes[] = {
        {"pk = :p AND sk > :a", EXPR_KEY_EQUAL, EXPR_KEY_GREATER},
        {":p = pk AND (:a > sk)", EXPR_KEY_EQUAL, EXPR_KEY_LESS},
        {"(pk = :p) AND :a <= sk", EXPR_KEY_EQUAL, EXPR_KEY_GREATER_EQUAL},
        {"(pk = :p AND (sk <= :a))", EXPR_KEY_EQUAL, EXPR_KEY_LESS_EQUAL},
        {"pk = :p AND begins_with(sk, :a)", EXPR_KEY_EQUAL, EXPR_KEY_BEGINS_WITH},
        {"pk = :p AND sk BETWEEN :a AND :b", EXPR_KEY_EQUAL, EXPR_KEY_BETWEEN},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, WORDING_CURRENT);
        str program;
        bool has_b = shapes[i].second == EXPR_KEY_BETWEEN;
        enum fault fault = fixture_read(&fixture, EXPR_KEY_CONDITION, shapes[i].text, NULL,
                                        has_b ? "{\":p\":{\"S\":\"P\"},\":a\":{\"S\":\"A\"},\":b\":{\"S\":\"B\"}}" : "{\":p\":{\"S\":\"P\"},\":a\":{\"S\":\"A\"}}",
                                        &program);
        assert_int_equal(fault, FAULT_NONE);
        struct expr_key_conditions walk = expr_key_conditions_open(program);
        struct expr_key_condition one;
        assert_true(expr_key_conditions_next(&walk, &one));
        assert_true(str_equal(one.attribute, STR("pk")));
        assert_int_equal(one.comparison, shapes[i].first);
        assert_true(str_equal(value_scalar(one.values[0]), STR("P")));
        assert_true(expr_key_conditions_next(&walk, &one));
        assert_true(str_equal(one.attribute, STR("sk")));
        assert_int_equal(one.comparison, shapes[i].second);
        assert_true(str_equal(value_scalar(one.values[0]), STR("A")));
        assert_true(has_b ? str_equal(value_scalar(one.values[1]), STR("B")) : one.values[1].len == 0);
        assert_false(expr_key_conditions_next(&walk, &one));
        fixture_close(&fixture);
    }
}

static void refuses_key_conditions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } bad[] = {
        {"a > b and size(b) > c or a > c", "Invalid operator used in KeyConditionExpression: OR"},
        {"a in (b, size(c), d)", "Invalid operator used in KeyConditionExpression: IN"},
        {"attribute_exists(a)", "Invalid operator used in KeyConditionExpression: attribute_exists"},
        {"attribute_not_exists(a)", "Invalid operator used in KeyConditionExpression: attribute_not_exists"},
        {"contains(a.d, b)", "Invalid operator used in KeyConditionExpression: contains"},
        {"not a > b", "Invalid operator used in KeyConditionExpression: NOT"},
        {"a <> b", "Invalid operator used in KeyConditionExpression: <>"},
        {"attribute_type(a, :s)", "Invalid operator used in KeyConditionExpression: attribute_type"},
        {":a between size(b) and size(a) and b > :b",
         "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its first operand"},
        {"begins_with(:a, b) and a > :b", "Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its first operand"},
        {"size(b) > a AND a.b > b AND b > c", "KeyConditionExpressions cannot contain nested operations"},
        {"a > size(b.d)", "KeyConditionExpressions cannot contain nested operations"},
        {"a between size(b) and size(a)", "KeyConditionExpressions cannot contain nested operations"},
        {"b > a.b", "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
        {"b between c[1] and d", "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
        {"a between b and size(a)", "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
        {"begins_with(a, b)", "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
        {"b.d > a AND c.d > e.f", "KeyConditionExpressions cannot have conditions on nested attributes"},
        {"b[0] > a", "KeyConditionExpressions cannot have conditions on nested attributes"},
        {":b > :a AND a < :b", "Invalid condition in KeyConditionExpression: No key attribute specified"},
        {"b > :a AND b < :a and c = :a and d = :b", "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"},
        {"(a > :a and b > :a) and (b > :a and c > :b)", "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"},
        {"pk = :missing AND begins_with(sk, :n)",
         "Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; attribute value: :missing"},
        {"begins_with(sk, :n) AND pk = :missing",
         "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"},
        {"pk = :a AND begins_with(sk, :n) AND sk > :s",
         "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, WORDING_CURRENT_BARE);
        static const char all[] = "{\":a\":{\"S\":\"1\"},\":b\":{\"S\":\"1\"},\":n\":{\"N\":\"1\"},\":s\":{\"S\":\"S\"}}";
        const char *got = fixture_refusal(&fixture, EXPR_KEY_CONDITION, bad[i].text, NULL, strstr(bad[i].text, ":") ? all : NULL);
        /* A key condition's own checks come before unused values. */
        if (strcmp(got, bad[i].message) != 0)
            fail_msg("%s\n  gave: %s\n  not:  %s", bad[i].text, got, bad[i].message);
        fixture_close(&fixture);
    }
    struct fixture fixture;
    fixture_open(&fixture, WORDING_CLASSIC);
    assert_string_equal(fixture_refusal(&fixture, EXPR_KEY_CONDITION, "a > :a and a < :a", NULL, "{\":a\":{\"S\":\"1\"}}"),
                        "KeyConditionExpressions must only contain one condition per key");
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decides_on_an_item),
        cmocka_unit_test(decides_without_an_item),
        cmocka_unit_test(takes_key_conditions_apart),
        cmocka_unit_test(refuses_key_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
