/* Projections run on items. */
#include "expr/expr_fixture_internal.h"

#define N(n) "{\"N\":\"" n "\"}"
#define S(s) "{\"S\":\"" s "\"}"

static const char item_text[] = "{\"p\":" S("k") ",\"a\":{\"M\":{\"b\":{\"L\":[" N("2") "," N("4") ",{\"M\":{\"x\":" S("hi") ",\"y\":" S("yo") "}}]},\"c\":" N("5")
                                "}},\"b\":" S("hello") ",\"a.b\":" S("dot") ",\"e\":{\"M\":{}},\"f\":{\"L\":[]}}";

/* Public suite of Scylla, test_projection_expression_path and others. */
static const struct {
    const char *text;
    const char *names;
    const char *kept;
} cases[] = {
    {"a", NULL, "{\"a\":{\"M\":{\"b\":{\"L\":[" N("2") "," N("4") ",{\"M\":{\"x\":" S("hi") ",\"y\":" S("yo") "}}]},\"c\":" N("5") "}}}"},
    {"b, p", NULL, "{\"b\":" S("hello") ",\"p\":" S("k") "}"},
    {"a.b", NULL, "{\"a\":{\"M\":{\"b\":{\"L\":[" N("2") "," N("4") ",{\"M\":{\"x\":" S("hi") ",\"y\":" S("yo") "}}]}}}}"},
    {"a.b[0]", NULL, "{\"a\":{\"M\":{\"b\":{\"L\":[" N("2") "]}}}}"},
    {"a.b[2].y", NULL, "{\"a\":{\"M\":{\"b\":{\"L\":[{\"M\":{\"y\":" S("yo") "}}]}}}}"},
    {"x", NULL, "{}"},
    {"a.b[3]", NULL, "{}"},
    {"a.x", NULL, "{}"},
    {"a.x.y", NULL, "{}"},
    {"a.b[3].x", NULL, "{}"},
    {"a.b.x", NULL, "{}"},
    {"a[0]", NULL, "{}"},
    {"a.b[0].x", NULL, "{}"},
    {"a.b[0][0]", NULL, "{}"},
    {"e.x, f[0], b.c, p[0]", NULL, "{}"},
    {"e, f", NULL, "{\"e\":{\"M\":{}},\"f\":{\"L\":[]}}"},
    {"a.b[1],a.b[0]", NULL, "{\"a\":{\"M\":{\"b\":{\"L\":[" N("2") "," N("4") "]}}}}"},
    {"a.b[2].x,a.b[0]", NULL, "{\"a\":{\"M\":{\"b\":{\"L\":[" N("2") ",{\"M\":{\"x\":" S("hi") "}}]}}}}"},
    {"a.b[0],a.c", NULL, "{\"a\":{\"M\":{\"b\":{\"L\":[" N("2") "]},\"c\":" N("5") "}}}"},
    {"a.x, a.b[0], x, a.b[3].x", NULL, "{\"a\":{\"M\":{\"b\":{\"L\":[" N("2") "]}}}}"},
    {"#n", "{\"#n\":\"a.b\"}", "{\"a.b\":" S("dot") "}"},
    {"#n.#m", "{\"#n\":\"a\",\"#m\":\"c\"}", "{\"a\":{\"M\":{\"c\":" N("5") "}}}"},
};

static void keeps_what_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, WORDING_CURRENT);
        str item = fixture_item(&fixture, item_text);
        str program;
        if (fixture_read(&fixture, EXPR_PROJECTION, cases[i].text, cases[i].names, NULL, &program) != FAULT_NONE)
            fail_msg("%s: %.*s", cases[i].text, STR_ARG(fixture.call.message));
        struct buf kept;
        buf_open(&kept, &fixture.call.arena, 0);
        expr_project(program, item, &kept);
        assert_true(item_is_valid(buf_str(&kept)));
        const char *got = fixture_show(&fixture, buf_str(&kept));
        if (strcmp(got, cases[i].kept) != 0)
            fail_msg("%s\n  gave: %s\n  not:  %s", cases[i].text, got, cases[i].kept);
        free((void *)item.data);
        fixture_close(&fixture);
    }
}

static void keeps_whole_attributes(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, WORDING_CURRENT);
    str item = fixture_item(&fixture, item_text);
    const str names[] = {STR("p"), STR("nil"), STR("b"), STR("a.b"), STR("p"), STR("")};
    struct buf program, kept;
    buf_open(&program, &fixture.call.arena, 0);
    buf_open(&kept, &fixture.call.arena, 0);
    expr_projection_of_names(names, sizeof names / sizeof names[0], &program);
    assert_true(expr_program_is_valid(buf_str(&program), EXPR_PROJECTION));
    expr_project(buf_str(&program), item, &kept);
    assert_string_equal(fixture_show(&fixture, buf_str(&kept)), "{\"a.b\":" S("dot") ",\"b\":" S("hello") ",\"p\":" S("k") "}");
    struct buf nothing, all;
    buf_open(&nothing, &fixture.call.arena, 0);
    buf_open(&all, &fixture.call.arena, 0);
    struct buf empty;
    buf_open(&empty, &fixture.call.arena, 0);
    expr_projection_of_names(names, 0, &empty);
    assert_true(expr_program_is_valid(buf_str(&empty), EXPR_PROJECTION));
    expr_project(buf_str(&empty), item, &nothing);
    assert_string_equal(fixture_show(&fixture, buf_str(&nothing)), "{}");
    expr_project(STR_NONE, item, &all);
    assert_true(str_equal(buf_str(&all), item));
    free((void *)item.data);
    fixture_close(&fixture);
}

/* --- paths of programs --- */

struct collected {
    char text[256];
    size_t stop_at;
};

static enum fault collect(void *context, const struct expr_path *path)
{
    struct collected *collected = context;
    size_t length = strlen(collected->text);
    snprintf(collected->text + length, sizeof collected->text - length, "%.*s%s%s ", STR_ARG(path->attribute), path->is_nested ? "+" : "",
             path->is_written ? "!" : "");
    return --collected->stop_at == 0 ? FAULT_VALIDATION : FAULT_NONE;
}

static void visits_paths(void **state)
{
    (void)state;
    static const struct {
        enum expr_kind kind;
        const char *text;
        const char *values;
        const char *paths;
    } programs[] = {
        {EXPR_CONDITION, "b.c = a AND NOT (size(c[1]) IN (d, :v) OR attribute_exists(e)) AND attribute_type(f.g, :t) AND h BETWEEN i AND j",
         "{\":v\":" S("zz") ",\":t\":" S("S") "}", "b+ a c+ d e f+ h i j "},
        {EXPR_UPDATE, "SET b.c = if_not_exists(a, d[1]) + :v, e = list_append(f, g) REMOVE h[0] ADD i :v DELETE j :w",
         "{\":v\":" N("1") ",\":w\":{\"NS\":[\"1\"]}}", "b+! a d+ e! f g h+! i! j! "},
        {EXPR_PROJECTION, "c, b.x, b.y, a[0]", NULL, "a+ b+ c "},
    };
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, WORDING_CURRENT);
        str program;
        if (fixture_read(&fixture, programs[i].kind, programs[i].text, NULL, programs[i].values, &program) != FAULT_NONE)
            fail_msg("%s: %.*s", programs[i].text, STR_ARG(fixture.call.message));
        struct collected all = {0};
        assert_int_equal(expr_paths_each(program, collect, &all), FAULT_NONE);
        assert_string_equal(all.text, programs[i].paths);
        struct collected first = {.stop_at = 1};
        assert_int_equal(expr_paths_each(program, collect, &first), FAULT_VALIDATION);
        assert_true(strlen(first.text) <= 4);
        fixture_close(&fixture);
    }
    struct collected none = {0};
    assert_int_equal(expr_paths_each(STR_NONE, collect, &none), FAULT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_is_named),
        cmocka_unit_test(keeps_whole_attributes),
        cmocka_unit_test(visits_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
