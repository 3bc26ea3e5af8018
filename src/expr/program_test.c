/* Programs as bytes: what is not one is refused, and what is taken can be run. */
#include "expr/expr_fixture_internal.h"
#include "expr/expr_run_internal.h"
#include "expr/expr_internal.h"

#define V "{\":n\":{\"N\":\"1\"},\":s\":{\"S\":\"x\"},\":l\":{\"L\":[{\"N\":\"1\"}]},\":ss\":{\"SS\":[\"x\"]},\":t\":{\"S\":\"BOOL\"}}"

static const struct {
    enum expr_kind kind;
    const char *text;
    const char *values;
} sources[] = {
    {EXPR_CONDITION, "a = :n", "{\":n\":{\"N\":\"1\"}}"},
    {EXPR_FILTER, "attribute_exists(a.b[1].c) AND NOT (size(d) IN (b, :n) OR attribute_type(h, :t)) AND b BETWEEN c AND :n",
     "{\":n\":{\"N\":\"1\"},\":t\":{\"S\":\"BOOL\"}}"},
    {EXPR_CONDITION, "begins_with(c, :s) OR contains(l, :s) OR a <> b OR a < b OR a <= b OR a > b OR a >= b OR attribute_not_exists(x)", "{\":s\":{\"S\":\"x\"}}"},
    {EXPR_KEY_CONDITION, "pk = :s AND b BETWEEN :n AND :m", "{\":s\":{\"S\":\"x\"},\":n\":{\"N\":\"1\"},\":m\":{\"N\":\"2\"}}"},
    {EXPR_KEY_CONDITION, ":s = pk AND begins_with(c, :s)", "{\":s\":{\"S\":\"x\"}}"},
    {EXPR_UPDATE, "SET a.b[1].c = if_not_exists(x, :n) + b, a.b[7] = list_append(l, :l) REMOVE a.c, i ADD b :n, d :ss DELETE e :ns",
     "{\":n\":{\"N\":\"1\"},\":l\":{\"L\":[{\"N\":\"1\"}]},\":ss\":{\"SS\":[\"z\"]},\":ns\":{\"NS\":[\"1\",\"2\"]}}"},
    {EXPR_UPDATE, "SET c = :l - b", "{\":l\":{\"N\":\"1\"}}"},
    {EXPR_PROJECTION, "a.b[0], a.b[1].c, c, l[2], l[0], x.y.z", NULL},
};
enum { SOURCES = sizeof sources / sizeof sources[0] };

static void takes_no_piece_of_a_program(void **state)
{
    (void)state;
    for (size_t i = 0; i < SOURCES; i++) {
        struct fixture fixture;
        fixture_open(&fixture, WORDING_CURRENT);
        str program;
        if (fixture_read(&fixture, sources[i].kind, sources[i].text, NULL, sources[i].values, &program) != FAULT_NONE)
            fail_msg("%s: %.*s", sources[i].text, STR_ARG(fixture.call.message));
        for (size_t kind = 0; kind < EXPR_KINDS; kind++)
            assert_int_equal(expr_program_is_valid(program, (enum expr_kind)kind), kind == sources[i].kind);
        for (size_t length = 1; length < program.len; length++) {
            str piece = run_copy(str_of(program.data, length));
            assert_false(expr_program_is_valid(piece, sources[i].kind));
            free((void *)piece.data);
        }
        char *longer = malloc(program.len + 1);
        memcpy(longer, program.data, program.len);
        longer[program.len] = 0;
        assert_false(expr_program_is_valid(str_of(longer, program.len + 1), sources[i].kind));
        longer[0] = EXPR_PROGRAM_VERSION + 1;
        assert_false(expr_program_is_valid(str_of(longer, program.len), sources[i].kind));
        free(longer);
        fixture_close(&fixture);
    }
}

/* Every byte of every program, changed to every value: refused, or run without harm. */
static void runs_whatever_it_takes(void **state)
{
    (void)state;
    struct fixture fixture;
    str items[RUN_ITEMS];
    size_t taken = 0;
    size_t refused = 0;
    fixture_open(&fixture, WORDING_CURRENT);
    run_items(&fixture.call, items);
    for (size_t i = 0; i < SOURCES; i++) {
        struct fixture source;
        fixture_open(&source, WORDING_CURRENT);
        str program;
        assert_int_equal(fixture_read(&source, sources[i].kind, sources[i].text, NULL, sources[i].values, &program), FAULT_NONE);
        str copy = run_copy(program);
        for (size_t at = 0; at < copy.len; at++) {
            char *byte = (char *)copy.data + at;
            char before = *byte;
            for (int change = 1; change < 256; change++) {
                *byte = (char)(before ^ change);
                bool valid = expr_program_is_valid(copy, sources[i].kind);
                taken += valid;
                refused += !valid;
                if (valid)
                    run_program(&fixture.call, sources[i].kind, copy, items, RUN_ITEMS);
            }
            *byte = before;
            arena_reset(&fixture.call.arena);
        }
        free((void *)copy.data);
        fixture_close(&source);
    }
    run_items_free(items);
    fixture_close(&fixture);
    assert_true(taken > 1000 && refused > taken);
}

/* Programs that are well formed but do not hold together. */
static void refuses_what_does_not_hold_together(void **state)
{
    (void)state;
    static const struct {
        enum expr_kind kind;
        bool valid;
        str bytes;
    } programs[] = {
        {EXPR_PROJECTION, true, STR("\x01\x04\x02\x04" "a\0\x04" "b\0")},
        {EXPR_PROJECTION, false, STR("\x01\x04\x02\x04" "a\0\x04" "a\0")},        /* a name twice */
        {EXPR_PROJECTION, false, STR("\x01\x04\x02\x04" "b\0\x04" "a\0")},        /* names out of order */
        {EXPR_PROJECTION, false, STR("\x01\x04\x01\x02\0")},                        /* an index of the item */
        {EXPR_PROJECTION, false, STR("\x01\x04\x01\x05" "a\x06\x02\x04" "b\0\x02\0")}, /* a map that is a list */
        {EXPR_PROJECTION, false, STR("\x01\x04\x01\x05" "a\x01\0")},                /* children, but none */
        {EXPR_PROJECTION, false, STR("\x01\x04\x01\0\0")},                          /* an empty name */
        {EXPR_UPDATE, true, STR("\x01\0\x08\x01\x05" "a\x04\x01\x04" "b\0\x01\x61\x02\x02" "a\x02" "b")}, /* REMOVE a.b */
        {EXPR_UPDATE, false, STR("\x01\0\x08\x01\x05" "a\x04\x01\x04" "b\0\x01\x61\x01\x02" "a")},        /* the action stops short of the trie */
        {EXPR_UPDATE, false, STR("\x01\0\x04\x01\x04" "a\0\x01\x61\x02\x02" "a\x02" "b")},                 /* and the other way round */
        {EXPR_UPDATE, false, STR("\x01\0\x04\x01\x04" "a\0\x01\x61\x01\x02" "b")},                         /* another path */
        {EXPR_UPDATE, false, STR("\x01\0\x04\x01\x04" "a\0\x02\x61\x01\x02" "a\x61\x01\x02" "b")},         /* an action without a leaf */
        {EXPR_UPDATE, false, STR("\x01\0\x04\x01\x04" "a\x01\x01\x61\x01\x02" "a")},                       /* a leaf without an action */
        {EXPR_UPDATE, true, STR("\x01\0\x04\x01\x04" "a\0\x01\x62\x01\x02" "a\x02\x02\xc1\x02")},          /* ADD a 1 */
        {EXPR_UPDATE, false, STR("\x01\0\x04\x01\x04" "a\0\x01\x62\x01\x02" "a\x01\x01x")},               /* ADD of a string */
        {EXPR_UPDATE, false, STR("\x01\0\x04\x01\x04" "a\0\x01\x63\x01\x02" "a\x02\x02\xc1\x02")},         /* DELETE of a number */
        {EXPR_UPDATE, false, STR("\x01\0\x04\x01\x04" "a\0\x01\x60\x01\x02" "a\x21\x20\x01\x02" "b")},     /* SET to a size() */
    };
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        str copy = run_copy(programs[i].bytes);
        if (expr_program_is_valid(copy, programs[i].kind) != programs[i].valid)
            fail_msg("program %zu", i);
        free((void *)copy.data);
    }
}

static void bounds_depth(void **state)
{
    (void)state;
    struct buf program;
    for (size_t depth = EXPR_PROGRAM_DEPTH_MAX - 2; depth <= EXPR_PROGRAM_DEPTH_MAX; depth++) {
        buf_open(&program, NULL, 0);
        expr_program_open(&program, EXPR_CONDITION);
        for (size_t i = 0; i < depth; i++)
            buf_add_byte(&program, OP_NOT);
        BUF_ADD_LITERAL(&program, "\x4b\x01\x02" "a"); /* attribute_exists(a) */
        assert_int_equal(program.data[EXPR_PROGRAM_HEADER_BYTES + depth], OP_EXISTS);
        assert_int_equal(expr_program_is_valid(buf_str(&program), EXPR_CONDITION), depth < EXPR_PROGRAM_DEPTH_MAX);
        buf_free(&program);
    }
    buf_open(&program, NULL, 0);
    expr_program_open(&program, EXPR_CONDITION);
    for (size_t i = 0; i < 1u << 20; i++)
        buf_add_byte(&program, OP_NOT);
    assert_false(expr_program_is_valid(buf_str(&program), EXPR_CONDITION));
    buf_free(&program);
}

/* The bytes are kept in edits and transaction records: a change here needs a new EXPR_PROGRAM_VERSION. */
static void has_these_bytes(void **state)
{
    (void)state;
    static const struct {
        enum expr_kind kind;
        const char *text;
        const char *values;
        const char *hex;
    } golden[] = {
        {EXPR_CONDITION, "attribute_not_exists(pk) AND #s = :v", "{\":v\":{\"S\":\"x\"}}", "0101400f024c0104706b4320010473740101" "78"},
        {EXPR_UPDATE, "SET #s = :v, n[2].x = n + :o REMOVE r", "{\":v\":{\"S\":\"x\"},\":o\":{\"N\":\"1\"}}",
         "0100" "1203056e07010b04010478010472020873740003" "60010473740101" "78" "6003026e050278" "242001026e0202c102" "61010272"},
        {EXPR_PROJECTION, "b, #s[10].y", NULL, "0104020462000973740701" "2b0401047901"},
    };
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, WORDING_CURRENT);
        str program;
        if (fixture_read(&fixture, golden[i].kind, golden[i].text, "{\"#s\":\"st\"}", golden[i].values, &program) != FAULT_NONE)
            fail_msg("%s: %.*s", golden[i].text, STR_ARG(fixture.call.message));
        struct buf hex;
        buf_open(&hex, &fixture.call.arena, 0);
        for (size_t at = 0; at < program.len; at++)
            buf_printf(&hex, "%02x", (unsigned char)program.data[at]);
        buf_add_byte(&hex, '\0');
        if (strcmp(hex.data, golden[i].hex) != 0)
            fail_msg("%s\n  gave: %s\n  not:  %s", golden[i].text, hex.data, golden[i].hex);
        fixture_close(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_no_piece_of_a_program),
        cmocka_unit_test(runs_whatever_it_takes),
        cmocka_unit_test(refuses_what_does_not_hold_together),
        cmocka_unit_test(bounds_depth),
        cmocka_unit_test(has_these_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
