/* Tokens, grammar, and syntax errors to the letter. */
#include "expr/expr_fixture_internal.h"
#include "expr/expr_internal.h"
#include "expr/grammar.h"

/* --- scanner --- */

static void scans_exactly(void **state)
{
    (void)state;
    static const char text[] = " aNd Set#1 :_a a1_[10].b<>=<=<>>=_\xc3\xa9!01";
    static const uint8_t kinds[] = {TOKEN_AND,         TOKEN_SET,        TOKEN_NAME_PLACEHOLDER, TOKEN_VALUE,     TOKEN_NAME,      TOKEN_OPEN_INDEX,
                                    TOKEN_INDEX,       TOKEN_CLOSE_INDEX, TOKEN_DOT,             TOKEN_NAME,      TOKEN_NOT_EQUAL, TOKEN_EQUAL,
                                    TOKEN_LESS_EQUAL,  TOKEN_NOT_EQUAL,  TOKEN_GREATER_EQUAL,    TOKEN_STRAY,     TOKEN_STRAY,     TOKEN_STRAY,
                                    TOKEN_INDEX,       TOKEN_INDEX,      0};
    size_t length = sizeof text - 1;
    char *copy = malloc(length + 1);
    memcpy(copy, text, length + 1);
    struct expr_token *tokens = malloc((length + 1) * sizeof tokens[0]);
    uint32_t count = expr_scan(copy, length, tokens);
    assert_int_equal(count, sizeof kinds - 1);
    for (size_t i = 0; i < sizeof kinds; i++)
        assert_int_equal(tokens[i].kind, kinds[i]);
    assert_int_equal(tokens[count].start, length);
    free(tokens);
    free(copy);
}

static void scans_no_further_than_the_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"", " ", "a", "AN", "<", ">", "#", ":", "\xc3", "\xf0\x9f", "1", "a\tb\r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t length = strlen(texts[i]);
        char *copy = malloc(length + 1);
        memcpy(copy, texts[i], length + 1);
        struct expr_token *tokens = malloc((length + 1) * sizeof tokens[0]);
        uint32_t count = expr_scan(copy, length, tokens);
        assert_int_equal(tokens[count].kind, 0);
        free(tokens);
        free(copy);
    }
}

/* --- syntax errors --- */

struct syntax_case {
    enum expr_kind kind;
    const char *text;
    const char *token;
    const char *near;
};

static const struct syntax_case broken[] = {
    {EXPR_UPDATE, "INVALID SYNTAX HERE", "INVALID", "INVALID SYNTAX"},
    {EXPR_UPDATE, "SET _123 = :v", "_", "SET _123"},
    {EXPR_UPDATE, "ADD hits : incr", ":", "hits : incr"},
    {EXPR_UPDATE, "SET a = :v,", "<EOF>", ","},
    {EXPR_UPDATE, "SET path = VALUE 1", "1", "VALUE 1"},
    {EXPR_UPDATE, "SET a = :v, # = :v", "#", ", # ="},
    {EXPR_UPDATE, "SET", "<EOF>", "SET"},
    {EXPR_UPDATE, "whatever", "whatever", "whatever"},
    {EXPR_UPDATE, "set a", "<EOF>", "a"},
    {EXPR_UPDATE, "set a=set", "set", "=set"},
    {EXPR_UPDATE, "remove a = b", "=", "a = b"},
    {EXPR_UPDATE, "add a = b", "=", "a = b"},
    {EXPR_UPDATE, "delete a b", "b", "a b"},
    {EXPR_UPDATE, "add a if_not_exist(b)", "if_not_exist", "a if_not_exist("},
    {EXPR_UPDATE, "set a b", "b", "a b"},
    {EXPR_UPDATE, "set :a = b", ":a", "set :a ="},
    {EXPR_UPDATE, "set a = b / c", "/", "b / c"},
    {EXPR_UPDATE, "set a = b * c", "*", "b * c"},
    {EXPR_UPDATE, "set a[1] = \"eight\"", "\"", "= \"eight"},
    {EXPR_UPDATE, "set a[1] = 1", "1", "= 1"},
    {EXPR_UPDATE, "set (a = (b + c))", "(", "set (a"},
    {EXPR_UPDATE, "set a = (b.c).d + e", ".", ").d"},
    {EXPR_UPDATE, "set a = (b.c)[0] + e", "[", ")[0"},
    {EXPR_UPDATE, "set a = b + c + d", "+", "c + d"},
    {EXPR_UPDATE, "set a = f(b + c)", "+", "b + c"},
    {EXPR_UPDATE, "SET a = :v, SET b = :v", "SET", ", SET b"},
    {EXPR_UPDATE, "SET a[:i] = :v", ":i", "[:i]"},
    {EXPR_UPDATE, "SET a[#i] = :v", "#i", "[#i]"},
    {EXPR_UPDATE, "ADD a #v", "#v", "a #v"},
    {EXPR_UPDATE, "SET and = :v", "and", "SET and ="},
    {EXPR_UPDATE, "SET hi-there = :v", "-", "hi-there"},
    {EXPR_UPDATE, "   ", "<EOF>", "   "},
    {EXPR_PROJECTION, "!!! INVALID !!!", "!", "!!"},
    {EXPR_PROJECTION, "!!!", "!", "!!"},
    {EXPR_PROJECTION, "a b", "b", "a b"},
    {EXPR_PROJECTION, "  a b", "b", "a b"},
    {EXPR_PROJECTION, "a,", "<EOF>", ","},
    {EXPR_PROJECTION, ",a", ",", ",a"},
    {EXPR_PROJECTION, "a,,b", ",", ",,b"},
    {EXPR_PROJECTION, "a.0", "0", ".0"},
    {EXPR_CONDITION, "foo", "<EOF>", "foo"},
    {EXPR_CONDITION, "attribute_not_exists(", "<EOF>", "("},
    {EXPR_CONDITION, "a = = b", "=", "= = b"},
    {EXPR_CONDITION, "a AND :v", "AND", "a AND :v"},
    {EXPR_CONDITION, "NOT a", "<EOF>", "a"},
    {EXPR_CONDITION, "a = :v OR NOT :v", "<EOF>", ":v"},
    {EXPR_CONDITION, "a IN ()", ")", "()"},
    {EXPR_CONDITION, "a = :v + :w", "+", ":v + :w"},
    {EXPR_KEY_CONDITION, "id = :hashId a", "a", ":hashId a"},
    {EXPR_KEY_CONDITION, "pk = ", "<EOF>", "= "},
    {EXPR_FILTER, "1abc = :v", "1", "1abc"},
    {EXPR_FILTER, "  1abc = :v", "1", "  1abc"},
    {EXPR_FILTER, "a-b = :v", "-", "a-b"},
    {EXPR_FILTER, "_a = :v", "_", "_a"},
    {EXPR_FILTER, "a\xc3\xa9 = :v", "\xc3\xa9", "a\xc3\xa9 ="},
    {EXPR_FILTER, "n == :v", "=", "== :v"},
    {EXPR_FILTER, "n = :v AND", "<EOF>", "AND"},
    {EXPR_FILTER, "n = :v AND  ", "<EOF>", "AND  "},
    {EXPR_FILTER, "n = :v)", ")", ":v)"},
    {EXPR_FILTER, "(n = :v", "<EOF>", ":v"},
    {EXPR_FILTER, "(n)", "<EOF>", ")"},
    {EXPR_FILTER, "n != :v", "!", "n !="},
    {EXPR_FILTER, "n => :v", ">", "=> :v"},
    {EXPR_FILTER, "n\f= :v", "\f", "n\f="},
    {EXPR_FILTER, "n\xc2\xa0= :v", "\xc2\xa0", "n\xc2\xa0="},
    {EXPR_FILTER, "n = :v = ((n = :v))", "=", ":v = ("},
    {EXPR_FILTER, "things are not gonna be ok", "are", "things are not"},
    {EXPR_FILTER, "a > 4", "4", "> 4"},
    {EXPR_FILTER, "attribute_exists(Pictures-RearView)", "-", "Pictures-RearView"},
    {EXPR_FILTER, "attribute_exists(\"Pictures.RearView\")", "\"", "(\"Pictures"},
    {EXPR_FILTER, "attribute_exists(Pictures..RearView)", ".", "..RearView"},
    {EXPR_FILTER, "attribute_exists(Pi#ctures.RearView)", "#ctures", "Pi#ctures."},
    {EXPR_FILTER, "attribute_exists(asdf[a])", "a", "[a]"},
    {EXPR_FILTER, "a in b, c", "b", "in b,"},
    {EXPR_FILTER, "a > between", "between", "> between"},
    {EXPR_FILTER, "a in (b,c,)", ")", ",)"},
    {EXPR_FILTER, "(a)between(b.(c.d))and(c)", "(", ".(c"},
    {EXPR_FILTER, "(a)between(b.c.d)and((c)", "<EOF>", ")"},
    {EXPR_FILTER, "#$.b > a", "#", "#$"},
    {EXPR_FILTER, "a > :things.stuff", ".", ":things.stuff"},
    {EXPR_FILTER, "b[:a] > a", ":a", "[:a]"},
    {EXPR_FILTER, "l[01] = :v", "1", "01]"},
    {EXPR_FILTER, "(a)between(b.c[4.5].#d)and(:a)", ".", "4.5"},
    {EXPR_FILTER, "size(a).b > a", ".", ").b"},
    {EXPR_FILTER, "(size(a)).b > a", ".", ").b"},
    {EXPR_FILTER, "size(a)[0] > a", "[", ")[0"},
    {EXPR_FILTER, "(size(a))[0] > a", "[", ")[0"},
    {EXPR_FILTER, "a.:a < b", ":a", ".:a <"},
};

static void shows_the_token_and_its_neighbours(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, WORDING_CURRENT_BARE);
        const char *got = fixture_refusal(&fixture, broken[i].kind, broken[i].text, NULL, NULL);
        char expected[256];
        snprintf(expected, sizeof expected, "Invalid %s: Syntax error; token: \"%s\", near: \"%s\"", expr_kind_name(broken[i].kind), broken[i].token,
                 broken[i].near);
        if (strcmp(got, expected) != 0)
            fail_msg("%s\n  gave: %s\n  not:  %s", broken[i].text, got, expected);
        fixture_close(&fixture);
    }
}

static void takes_what_is_allowed(void **state)
{
    (void)state;
    static const struct {
        enum expr_kind kind;
        const char *text;
    } good[] = {
        {EXPR_CONDITION, "a=b"},
        {EXPR_CONDITION, "\t a \r\n =\n b "},
        {EXPR_CONDITION, "(a) = (b)"},
        {EXPR_CONDITION, "(a = b)"},
        {EXPR_CONDITION, "((a = b) and c = d)"},
        {EXPR_CONDITION, "NOT NOT a=b"},
        {EXPR_CONDITION, "not (not a=b)"},
        {EXPR_CONDITION, "(attribute_exists(a))"},
        {EXPR_CONDITION, "(attribute_exists(a)) AND NOT (contains(a, b) OR (begins_with(a, b)))"},
        {EXPR_CONDITION, "(size(a)) = size(b)"},
        {EXPR_CONDITION, "(size((a))) > (size(b))"},
        {EXPR_CONDITION, "a between b and c and d between e and f"},
        {EXPR_CONDITION, "(a)between(b.c.d)and(c)"},
        {EXPR_CONDITION, "(a)in((b),c)"},
        {EXPR_CONDITION, "attribute_exists (a . b [ 1 ] . c)"},
        {EXPR_CONDITION, "a[0][1].b <= c.d[2147483647]"},
        {EXPR_UPDATE, "set a = (b + c)"},
        {EXPR_UPDATE, "set b.c=((c[1])+(b.a)),b.a = a,c[1] = a, c[4] = b.a - b.b, c[2] = b.c"},
        {EXPR_UPDATE, "SET a = if_not_exists(a, if_not_exists(b, c)) + if_not_exists(d, e) REMOVE f[1], g"},
        {EXPR_UPDATE, "remove a set b = list_append(b, if_not_exists(a, c))"},
        {EXPR_PROJECTION, "a, b.c , d[0] ,e[1][2].f"},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, WORDING_CURRENT);
        const char *got = fixture_refusal(&fixture, good[i].kind, good[i].text, NULL, NULL);
        if (got[0] != '\0')
            fail_msg("%s: %s", good[i].text, got);
        fixture_close(&fixture);
    }
}

/* --- size and depth --- */

static const char *refusal_of_nest(struct fixture *fixture, const char *before, const char *open, const char *core, const char *close, size_t depth)
{
    struct buf text;
    buf_open(&text, &fixture->call.arena, 0);
    buf_add_str(&text, str_of_text(before));
    for (size_t i = 0; i < depth; i++)
        buf_add_str(&text, str_of_text(open));
    buf_add_str(&text, str_of_text(core));
    for (size_t i = 0; i < depth; i++)
        buf_add_str(&text, str_of_text(close));
    buf_add_byte(&text, '\0');
    return fixture_refusal(fixture, EXPR_CONDITION, text.data, NULL, NULL);
}

#define CONDITION_PREFIX "1 validation error detected: Invalid ConditionExpression: "

static void bounds_size_and_nesting(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, WORDING_CURRENT);
    assert_string_equal(refusal_of_nest(&fixture, "attribute_exists(", "x", ")", "", 4078), "");
    assert_string_equal(refusal_of_nest(&fixture, "a<b", " ", "", "", 4093), "");
    assert_string_equal(refusal_of_nest(&fixture, "a<b", " ", "", "", 4094),
                        CONDITION_PREFIX "Expression size has exceeded the maximum allowed size; expression size: 4097");
    assert_string_equal(refusal_of_nest(&fixture, "", "(", "", "", 4096), CONDITION_PREFIX "Syntax error; token: \"<EOF>\", near: \"(\"");
    assert_string_equal(refusal_of_nest(&fixture, "a < ", "f(", "", ")", 1355), CONDITION_PREFIX "Syntax error; token: \")\", near: \"())\"");
    assert_string_equal(refusal_of_nest(&fixture, "", "", "", "", 0), CONDITION_PREFIX "The expression can not be empty;");
    fixture_close(&fixture);
}

static void bounds_operators(void **state)
{
    (void)state;
    static const char too_many[] = CONDITION_PREFIX "The expression contains too many operators; operator count: 301";
    struct fixture fixture;
    fixture_open(&fixture, WORDING_CURRENT);
    /* Parentheses do not count; 149 times two operators and one more are 299. */
    assert_string_equal(refusal_of_nest(&fixture, "a<b ", "or (a<b ", "", ")", 149), "");
    assert_string_equal(refusal_of_nest(&fixture, "not a<b ", "or (a<b ", "", ")", 149), "");
    assert_string_equal(refusal_of_nest(&fixture, "not not a<b ", "or (a<b ", "", ")", 149), too_many);
    assert_string_equal(refusal_of_nest(&fixture, "a<b ", "or (a<b ", "", ")", 454), too_many);
    assert_string_equal(refusal_of_nest(&fixture, "a<b ", "or a<b ", "", "", 500), too_many);
    assert_string_equal(refusal_of_nest(&fixture, "", "not ", "a<b", "", 1000), too_many);
    assert_string_equal(refusal_of_nest(&fixture, "", "not ", "a<b", "", 299), "");
    assert_string_equal(refusal_of_nest(&fixture, "a < ", "size(", "b", ")", 680), too_many);
    assert_string_equal(refusal_of_nest(&fixture, "a < ", "f(", "b", ")", 1355), CONDITION_PREFIX "Invalid function name; function: f");
    assert_string_equal(refusal_of_nest(&fixture, "", "(", "a<b", ")", 2046), CONDITION_PREFIX "The expression has redundant parentheses;");
    fixture_close(&fixture);
}

static void refuses_redundant_parentheses(void **state)
{
    (void)state;
    static const struct {
        enum expr_kind kind;
        const char *text;
    } redundant[] = {
        {EXPR_CONDITION, "((a = b))"},
        {EXPR_CONDITION, "((attribute_not_exists(pk)))"},
        {EXPR_CONDITION, "a = b AND (c = b OR ((d = b)))"},
        {EXPR_CONDITION, "((a = b)) ="},
        {EXPR_FILTER, "a=a and a > ((views))"},
        {EXPR_FILTER, "(a)between(((b.c)).d)and(c)"},
        {EXPR_FILTER, "a > whatever((:things), ((a)))"},
        {EXPR_FILTER, "a=a AND ((a=a AND a=a)) AND a=a"},
        {EXPR_FILTER, "a=a OR ((a=a OR a=a)) OR a=a"},
        {EXPR_FILTER, "a=a AND ((a=a AND (a=a AND a=a)))"},
        {EXPR_FILTER, "a=a OR ((a=a OR (a=a OR a=a)))"},
        {EXPR_KEY_CONDITION, "((pk = :p))"},
        {EXPR_UPDATE, "SET a = ((b))"},
    };
    for (size_t i = 0; i < sizeof redundant / sizeof redundant[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture, WORDING_CLASSIC);
        const char *got = fixture_refusal(&fixture, redundant[i].kind, redundant[i].text, NULL, NULL);
        char expected[128];
        snprintf(expected, sizeof expected, "Invalid %s: The expression has redundant parentheses;", expr_kind_name(redundant[i].kind));
        if (strcmp(got, expected) != 0)
            fail_msg("%s: %s", redundant[i].text, got);
        fixture_close(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_exactly),
        cmocka_unit_test(scans_no_further_than_the_text),
        cmocka_unit_test(shows_the_token_and_its_neighbours),
        cmocka_unit_test(takes_what_is_allowed),
        cmocka_unit_test(bounds_size_and_nesting),
        cmocka_unit_test(bounds_operators),
        cmocka_unit_test(refuses_redundant_parentheses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
