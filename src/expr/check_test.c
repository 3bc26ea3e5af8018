/* The messages of everything that is wrong with an expression by itself, and which of several comes first. */
#include "expr/expr_fixture_internal.h"

/* Reserved words of each length and letter; the whole list is counted in reserved_test.c. */
#define VALUES_ALL                                                                                                                       \
    "{\":s\":{\"S\":\"a\"},\":n\":{\"N\":\"1\"},\":b\":{\"B\":\"YQ==\"},\":t\":{\"BOOL\":true},\":z\":{\"NULL\":true},"                  \
    "\":ss\":{\"SS\":[\"a\"]},\":ns\":{\"NS\":[\"1\"]},\":bs\":{\"BS\":[\"YQ==\"]},\":m\":{\"M\":{}},\":l\":{\"L\":[]}}"

struct check_case {
    enum expr_kind kind;
    const char *text;
    const char *names;
    const char *values;
    const char *message; /* behind "Invalid ...Expression: " */
};

#define RESERVED "Attribute name is a reserved keyword; reserved keyword: "
#define UNDEFINED_NAME "An expression attribute name used in the document path is not defined; attribute name: "
#define UNDEFINED_VALUE "An expression attribute value used in expression is not defined; attribute value: "
#define FUNCTION "Invalid function name; function: "
#define MISUSED "The function is not allowed to be used this way in an expression; function: "
#define COUNT(name, count) "Incorrect number of operands for operator or function; operator or function: " name ", number of operands: " count
#define TYPE(name, type) "Incorrect operand type for operator or function; operator or function: " name ", operand type: " type
#define ACTION_TYPE(name, type) "Incorrect operand type for operator or function; operator: " name ", operand type: " type ", typeSet: ALLOWED_FOR_" name "_OPERAND"
#define PATH(name) "Operator or function requires a document path; operator or function: " name
#define SAME(name, path) "The first operand must be distinct from the remaining operands for this operator or function; operator: " name ", first operand: " path
#define SECTION(name) "The \"" name "\" section can only be used once in an update expression;"
#define OVERLAP(one, two) "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: " one ", path two: " two
#define CONFLICT(one, two) "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: " one ", path two: " two
#define NAME_A "{\"#a\":\"a\"}"

static const struct check_case conditions[] = {
    /* functions unknown or out of place */
    {EXPR_FILTER, "a=a and whatever((:things)) > a", NULL, NULL, FUNCTION "whatever"},
    {EXPR_FILTER, "attRIbute_exIsts((views), #a)", NULL, NULL, FUNCTION "attRIbute_exIsts"},
    {EXPR_CONDITION, "foo(bar(a))", NULL, NULL, FUNCTION "foo"},
    {EXPR_FILTER, "a=a and attribute_exists((views), (#a)) > b", NULL, NULL, MISUSED "attribute_exists"},
    {EXPR_FILTER, "attribute_not_exists(things) > b", NULL, NULL, MISUSED "attribute_not_exists"},
    {EXPR_FILTER, "attribute_type(things, :a) > b", NULL, NULL, MISUSED "attribute_type"},
    {EXPR_FILTER, "begins_with(things, a) > b", NULL, NULL, MISUSED "begins_with"},
    {EXPR_FILTER, "contains(:things, c) > b", NULL, NULL, MISUSED "contains"},
    {EXPR_FILTER, "size(contains(a, b)) > a", NULL, NULL, MISUSED "contains"},
    {EXPR_FILTER, "size(things)", NULL, NULL, MISUSED "size"},
    {EXPR_FILTER, "NOT (size(things))", NULL, NULL, MISUSED "size"},
    {EXPR_FILTER, "a between b and attribute_exists(things)", NULL, NULL, MISUSED "attribute_exists"},
    {EXPR_FILTER, "a in (b, attribute_exists(things))", NULL, NULL, MISUSED "attribute_exists"},
    {EXPR_CONDITION, "if_not_exists(a, b) = c", NULL, NULL, "The function is not allowed in a condition expression; function: if_not_exists"},
    {EXPR_CONDITION, "list_append(a, b) = c", NULL, NULL, "The function is not allowed in a condition expression; function: list_append"},
    /* reserved words */
    {EXPR_FILTER, "attribute_exists(views, #a)", NULL, NULL, RESERVED "views"},
    {EXPR_FILTER, ":a < abOrT", NULL, NULL, RESERVED "abOrT"},
    {EXPR_CONDITION, "a.b.status = :v", NULL, NULL, RESERVED "status"},
    {EXPR_CONDITION, "Status = #x", NULL, NULL, RESERVED "Status"},
    {EXPR_CONDITION, "foo(a) AND status = :v", NULL, NULL, FUNCTION "foo"},
    {EXPR_CONDITION, "a[2147483648] = :v", NULL, NULL, "List index is not within the allowable range; index: [2147483648]"},
    {EXPR_CONDITION, "a[99999999999999] = :v", NULL, NULL, "List index is not within the allowable range; index: [99999999999999]"},
    /* undefined placeholders */
    {EXPR_FILTER, "attribute_exists(#Pictures.RearView, :a) and a=a", NULL, NULL, UNDEFINED_NAME "#Pictures"},
    {EXPR_FILTER, "begins_with(Pictures.#RearView)", NULL, NULL, UNDEFINED_NAME "#RearView"},
    {EXPR_FILTER, "(#P between :lo and :hi) and (#PC in (:cat1, :cat2))", NULL, NULL, UNDEFINED_NAME "#P"},
    {EXPR_FILTER, "#4g > a", NULL, NULL, UNDEFINED_NAME "#4g"},
    {EXPR_FILTER, "#_ > a", NULL, NULL, UNDEFINED_NAME "#_"},
    {EXPR_FILTER, "(a)between(b.c[45].#d)and(:a)", NULL, NULL, UNDEFINED_NAME "#d"},
    {EXPR_FILTER, "begins_with(:hello, #a, #b)", NULL, NULL, UNDEFINED_VALUE ":hello"},
    {EXPR_FILTER, ":a < :b", NULL, NULL, UNDEFINED_VALUE ":a"},
    {EXPR_FILTER, ":_ > a", NULL, NULL, UNDEFINED_VALUE ":_"},
    {EXPR_FILTER, "a = :m AND contains(s, s)", NULL, NULL, UNDEFINED_VALUE ":m"},
    {EXPR_FILTER, "contains(s, s) AND n = :m", NULL, NULL, SAME("contains", "[s]")},
    /* numbers of operands */
    {EXPR_FILTER, "attribute_exists(things, a) and a=a", NULL, NULL, COUNT("attribute_exists", "2")},
    {EXPR_FILTER, "attribute_not_exists(things, b)", NULL, NULL, COUNT("attribute_not_exists", "2")},
    {EXPR_FILTER, "attribute_type(things)", NULL, NULL, COUNT("attribute_type", "1")},
    {EXPR_FILTER, "begins_with(things)", NULL, NULL, COUNT("begins_with", "1")},
    {EXPR_FILTER, "begins_with(things, size(a), b)", NULL, NULL, COUNT("begins_with", "3")},
    {EXPR_FILTER, "contains(things)", NULL, NULL, COUNT("contains", "1")},
    {EXPR_FILTER, "size(things, a) > b", NULL, NULL, COUNT("size", "2")},
    /* the same operand twice */
    {EXPR_FILTER, "a = a AND #a = b AND :views > a", NAME_A, NULL, SAME("=", "[a]")},
    {EXPR_FILTER, "#a <> a", NAME_A, NULL, SAME("<>", "[a]")},
    {EXPR_FILTER, "a > #a", NAME_A, NULL, SAME(">", "[a]")},
    {EXPR_FILTER, "((a=a) OR (a=a))", NULL, NULL, SAME("=", "[a]")},
    {EXPR_FILTER, "contains(ab.bc[1].a, ab.bc[1].#a)", NAME_A, NULL, SAME("contains", "[ab, bc, [1], a]")},
    {EXPR_FILTER, "attribute_type(ab.bc[1].#a, ab.bc[1].a)", NAME_A, NULL, SAME("attribute_type", "[ab, bc, [1], a]")},
    {EXPR_FILTER, "begins_with(ab.bc[1].a, ab.bc[1].#a)", NAME_A, NULL, SAME("begins_with", "[ab, bc, [1], a]")},
    {EXPR_CONDITION, "contains(#a, #a)", "{\"#a\":\"data\"}", NULL, SAME("contains", "[data]")},
    {EXPR_CONDITION, "a IN (b, a)", NULL, NULL, SAME("IN", "[a]")},
    {EXPR_CONDITION, "a BETWEEN a AND b", NULL, NULL, SAME("BETWEEN", "[a]")},
    /* types */
    {EXPR_FILTER, "attribute_type(a, size(a)) and a=b", NULL, NULL, TYPE("attribute_type", "N")},
    {EXPR_FILTER, "attribute_type(a, b)", NULL, NULL, TYPE("attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")},
    {EXPR_FILTER, "begins_with(a, size(a)) and a=b", NULL, NULL, TYPE("begins_with", "N")},
    {EXPR_FILTER, "size(size(a)) > b", NULL, NULL, TYPE("size", "N")},
    {EXPR_FILTER, "attribute_not_exists(size(:a))", NULL, "{\":a\":{\"N\":\"1\"}}", TYPE("size", "N")},
    {EXPR_FILTER, "attribute_not_exists(size(:a))", NULL, "{\":a\":{\"S\":\"1\"}}", PATH("attribute_not_exists")},
    {EXPR_FILTER, "attribute_exists(:a) and a=a", NULL, "{\":a\":{\"S\":\"1\"}}", PATH("attribute_exists")},
    {EXPR_FILTER, "attribute_type(a, :a)", NULL, "{\":a\":{\"S\":\"DOG\"}}",
     "Invalid attribute type name found; type: DOG, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
    {EXPR_CONDITION, "a BETWEEN :a AND :b", NULL, "{\":a\":{\"S\":\"a\"},\":b\":{\"N\":\"1\"}}",
     "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {S:a}, upper bound operand: "
     "AttributeValue: {N:1}"},
    {EXPR_CONDITION, "a BETWEEN (:a) AND :b", NULL, "{\":a\":{\"N\":\"9.90E1\"},\":b\":{\"N\":\"10\"}}",
     "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:9.90E1}, upper bound "
     "operand: AttributeValue: {N:10}"},
    {EXPR_CONDITION, "a BETWEEN :a AND :b", NULL, "{\":a\":{\"B\":\"/w==\"},\":b\":{\"B\":\"YQ==\"}}",
     "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: "
     "{B:java.nio.HeapByteBuffer[pos=0 lim=1 cap=1]}, upper bound operand: AttributeValue: {B:java.nio.HeapByteBuffer[pos=0 lim=1 cap=1]}"},
    {EXPR_CONDITION, "a BETWEEN :a AND :b", NULL, "{\":a\":{\"N\":\"1.0\"},\":b\":{\"N\":\"1\"}}", ""},
    {EXPR_CONDITION, "a BETWEEN :a AND :b", NULL, "{\":a\":{\"L\":[]},\":b\":{\"N\":\"1\"}}", TYPE("BETWEEN", "L")},
};

static const struct check_case updates[] = {
    {EXPR_UPDATE, " set #c = :c set abOrt = true ", NULL, NULL, RESERVED "abOrt"},
    {EXPR_UPDATE, " remove Absolute ", NULL, NULL, RESERVED "Absolute"},
    {EXPR_UPDATE, "set #c = if_not_exist(:c) set c = d", NULL, NULL, FUNCTION "if_not_exist"},
    {EXPR_UPDATE, "SET a = f123_hi(b,c,d)", NULL, NULL, FUNCTION "f123_hi"},
    {EXPR_UPDATE, "SET a = LIST_APPEND(b, c)", NULL, NULL, FUNCTION "LIST_APPEND"},
    {EXPR_UPDATE, "SET a = size(b)", NULL, NULL, "The function is not allowed in an update expression; function: size"},
    {EXPR_UPDATE, "SET a = list_append(list_append(b, c), d)", NULL, NULL, MISUSED "list_append"},
    {EXPR_UPDATE, "set a = #c set c = :d", NULL, NULL, SECTION("SET")},
    {EXPR_UPDATE, "remove #d set a = b remove e", NULL, NULL, SECTION("REMOVE")},
    {EXPR_UPDATE, "add #d :e set a = b add e :f", NULL, NULL, SECTION("ADD")},
    {EXPR_UPDATE, "delete #d :e set a = b delete #e :f", NULL, NULL, SECTION("DELETE")},
    {EXPR_UPDATE, "set a = b set c = d remove e remove f", NULL, NULL, SECTION("SET")},
    {EXPR_UPDATE, "SET #c = if_not_exists(:c)", NULL, NULL, UNDEFINED_NAME "#c"},
    {EXPR_UPDATE, "SET a = :x, #c = b", NULL, NULL, UNDEFINED_NAME "#c"},
    {EXPR_UPDATE, "SET #a = if_not_exists(:c)", NAME_A, NULL, UNDEFINED_VALUE ":c"},
    {EXPR_UPDATE, "set d[1] = a, d.b = a, c[1].a = a, #c = if_not_exists(a)", "{\"#c\":\"c\"}", NULL, OVERLAP("[c, [1], a]", "[c]")},
    {EXPR_UPDATE, "set #c[3].#d = a, #c[3] = a", "{\"#c\":\"c\",\"#d\":\"[3]\"}", NULL, OVERLAP("[c, [3], [3]]", "[c, [3]]")},
    {EXPR_UPDATE, "SET a = b REMOVE a", NULL, NULL, OVERLAP("[a]", "[a]")},
    {EXPR_UPDATE, "SET a.b.c.d.e = x, a.b = y", NULL, NULL, OVERLAP("[a, b, c, d, e]", "[a, b]")},
    {EXPR_UPDATE, "SET a[1] = x, a[1][1] = y", NULL, NULL, OVERLAP("[a, [1]]", "[a, [1], [1]]")},
    {EXPR_UPDATE, "SET a = x, b = y, c = z, a.q = x", NULL, NULL, OVERLAP("[a]", "[a, q]")},
    {EXPR_UPDATE, "SET a.b = x, a[1] = y, z = x, z.q = y", NULL, NULL, OVERLAP("[z]", "[z, q]")},
    {EXPR_UPDATE, "set #c[3].#d = a, #c.#d[3] = if_not_exists(a)", "{\"#c\":\"c\",\"#d\":\"[3]\"}", NULL, CONFLICT("[c, [3], [3]]", "[c, [3], [3]]")},
    {EXPR_UPDATE, "remove a.#c set a[1] = #d", "{\"#c\":\"c\",\"#d\":\"d\"}", NULL, CONFLICT("[a, c]", "[a, [1]]")},
    {EXPR_UPDATE, "SET a.b.c = x, a.b[2] = y", NULL, NULL, CONFLICT("[a, b, c]", "[a, b, [2]]")},
    {EXPR_UPDATE, "set b = list_append(:a, a), c = if_not_exists(a) add a.b :a", NULL, "{\":a\":{\"S\":\"a\"}}", ACTION_TYPE("ADD", "STRING")},
    {EXPR_UPDATE, "delete a.b :a", NULL, "{\":a\":{\"S\":\"a\"}}", ACTION_TYPE("DELETE", "STRING")},
    {EXPR_UPDATE, "add a.b :a", NULL, "{\":a\":{\"NULL\":true}}", ACTION_TYPE("ADD", "NULL")},
    {EXPR_UPDATE, "add a.b :a", NULL, "{\":a\":{\"BOOL\":false}}", ACTION_TYPE("ADD", "BOOLEAN")},
    {EXPR_UPDATE, "delete a.b :a", NULL, "{\":a\":{\"B\":\"YQ==\"}}", ACTION_TYPE("DELETE", "BINARY")},
    {EXPR_UPDATE, "add a.b :a", NULL, "{\":a\":{\"M\":{\"a\":{\"L\":[]}}}}", ACTION_TYPE("ADD", "MAP")},
    {EXPR_UPDATE, "add a.b :a", NULL, "{\":a\":{\"L\":[]}}", ACTION_TYPE("ADD", "LIST")},
    {EXPR_UPDATE, "delete a.b :a", NULL, "{\":a\":{\"N\":\"1\"}}", ACTION_TYPE("DELETE", "NUMBER")},
    {EXPR_UPDATE, "set a = if_not_exists(c)", NULL, NULL, COUNT("if_not_exists", "1")},
    {EXPR_UPDATE, "set a = list_append(c)", NULL, NULL, COUNT("list_append", "1")},
    {EXPR_UPDATE, "set a = if_not_exists(:a, c)", NULL, "{\":a\":{\"S\":\"a\"}}", PATH("if_not_exists")},
    {EXPR_UPDATE, "set a = if_not_exists(if_not_exists(a, b), c)", NULL, NULL, PATH("if_not_exists")},
    {EXPR_UPDATE, "set a = list_append(:a, a)", NULL, "{\":a\":{\"S\":\"a\"}}", TYPE("list_append", "S")},
    {EXPR_UPDATE, "set a = list_append(a, :a)", NULL, "{\":a\":{\"BOOL\":true}}", TYPE("list_append", "BOOL")},
    {EXPR_UPDATE, "set a = a + :a", NULL, "{\":a\":{\"NULL\":true}}", TYPE("+", "NULL")},
    {EXPR_UPDATE, "set a = (:a - b)", NULL, "{\":a\":{\"SS\":[\"a\"]}}", TYPE("-", "SS")},
};

static const struct check_case projections[] = {
    {EXPR_PROJECTION, "a, data", NULL, NULL, RESERVED "data"},
    {EXPR_PROJECTION, "#a, data", NULL, NULL, RESERVED "data"},
    {EXPR_PROJECTION, "a[99999999999999]", NULL, NULL, "List index is not within the allowable range; index: [99999999999999]"},
    {EXPR_PROJECTION, "a, a, #b", NULL, NULL, UNDEFINED_NAME "#b"},
    {EXPR_PROJECTION, "a.b[0],a.b[0]", NULL, NULL, OVERLAP("[a, b, [0]]", "[a, b, [0]]")},
    {EXPR_PROJECTION, "a, a.b[2].c", NULL, NULL, OVERLAP("[a]", "[a, b, [2], c]")},
    {EXPR_PROJECTION, "a.b, a[1]", NULL, NULL, CONFLICT("[a, b]", "[a, [1]]")},
    {EXPR_PROJECTION, "a[1], a.b", NULL, NULL, CONFLICT("[a, [1]]", "[a, b]")},
    {EXPR_PROJECTION, "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a", NULL, NULL, ""},
    {EXPR_PROJECTION, "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a", NULL, NULL,
     "The document path has too many nesting levels; nesting levels: 33"},
};

static const char *name_of(enum expr_kind kind)
{
    static const char *const names[] = {"UpdateExpression", "ConditionExpression", "KeyConditionExpression", "FilterExpression", "ProjectionExpression"};
    return names[kind];
}

static void check_all(const struct check_case *cases, size_t count)
{
    static const struct {
        enum wording wording;
        const char *prefix;
    } wordings[] = {{WORDING_CURRENT, "1 validation error detected: "}, {WORDING_CURRENT_BARE, ""}, {WORDING_CLASSIC, ""}};
    for (size_t i = 0; i < count; i++) {
        for (size_t w = 0; w < sizeof wordings / sizeof wordings[0]; w++) {
            struct fixture fixture;
            fixture_open(&fixture, wordings[w].wording);
            char expected[1024] = "";
            if (cases[i].message[0] != '\0')
                snprintf(expected, sizeof expected, "%sInvalid %s: %s", wordings[w].prefix, name_of(cases[i].kind), cases[i].message);
            const char *got = fixture_refusal(&fixture, cases[i].kind, cases[i].text, cases[i].names, cases[i].values);
            if (strcmp(got, expected) != 0)
                fail_msg("%s\n  gave: %s\n  not:  %s", cases[i].text, got, expected);
            fixture_close(&fixture);
        }
    }
}

static void refuses_conditions(void **state)
{
    (void)state;
    check_all(conditions, sizeof conditions / sizeof conditions[0]);
}

static void refuses_updates(void **state)
{
    (void)state;
    check_all(updates, sizeof updates / sizeof updates[0]);
}

static void refuses_projections(void **state)
{
    (void)state;
    check_all(projections, sizeof projections / sizeof projections[0]);
}

/* Every type of value in every place that cares. */
static void refuses_types_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *placeholder;
        const char *type;
    } types[] = {{":s", "S"}, {":n", "N"}, {":b", "B"}, {":t", "BOOL"}, {":z", "NULL"}, {":ss", "SS"}, {":ns", "NS"}, {":bs", "BS"}, {":m", "M"}, {":l", "L"}};
    static const struct {
        const char *format;
        const char *operator;
        const char *allowed; /* with a blank on both sides */
        enum expr_kind kind;
    } places[] = {
        {"begins_with(a, %s)", "begins_with", " S B ", EXPR_CONDITION},
        {"begins_with(%s, a)", "begins_with", " S B ", EXPR_CONDITION},
        {"size(%s) > a", "size", " S B SS NS BS L M ", EXPR_CONDITION},
        {"a < %s", "<", " S N B ", EXPR_CONDITION},
        {"%s <= a", "<=", " S N B ", EXPR_CONDITION},
        {"a > %s", ">", " S N B ", EXPR_CONDITION},
        {"%s >= a", ">=", " S N B ", EXPR_CONDITION},
        {"a between %s and b", "BETWEEN", " S N B ", EXPR_CONDITION},
        {"%s between a and b", "BETWEEN", " S N B ", EXPR_CONDITION},
        {"a = %s", "=", " S N B BOOL NULL SS NS BS L M ", EXPR_CONDITION},
        {"a in (%s)", "IN", " S N B BOOL NULL SS NS BS L M ", EXPR_CONDITION},
        {"contains(a, %s)", "contains", " S N B BOOL NULL SS NS BS L M ", EXPR_CONDITION},
        {"set a = list_append(%s, a)", "list_append", " L ", EXPR_UPDATE},
        {"set a = a + %s", "+", " N ", EXPR_UPDATE},
        {"set a = %s - a", "-", " N ", EXPR_UPDATE},
        {"set a = if_not_exists(a, %s)", "if_not_exists", " S N B BOOL NULL SS NS BS L M ", EXPR_UPDATE},
    };
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
            struct fixture fixture;
            fixture_open(&fixture, WORDING_CLASSIC);
            char text[128];
            char wanted[16];
            char expected[256] = "Value provided in ExpressionAttributeValues unused in expressions: keys: {";
            snprintf(text, sizeof text, places[p].format, types[t].placeholder);
            snprintf(wanted, sizeof wanted, " %s ", types[t].type);
            if (!strstr(places[p].allowed, wanted))
                snprintf(expected, sizeof expected, "Invalid %s: " TYPE("%s", "%s"), name_of(places[p].kind), places[p].operator, types[t].type);
            const char *got = fixture_refusal(&fixture, places[p].kind, text, NULL, VALUES_ALL);
            if (strncmp(got, expected, strlen(expected)) != 0)
                fail_msg("%s\n  gave: %s\n  not:  %s", text, got, expected);
            fixture_close(&fixture);
        }
    }
}

static void bounds_the_operands_of_in(void **state)
{
    (void)state;
    for (int count = 99; count <= 101; count++) {
        struct fixture fixture;
        struct buf text;
        fixture_open(&fixture, WORDING_CLASSIC);
        buf_open(&text, &fixture.call.arena, 0);
        BUF_ADD_LITERAL(&text, "a IN (b");
        for (int i = 1; i < count; i++)
            BUF_ADD_LITERAL(&text, ",b");
        BUF_ADD_LITERAL(&text, ")\0");
        assert_string_equal(fixture_refusal(&fixture, EXPR_CONDITION, text.data, NULL, NULL),
                            count <= 100 ? "" : "Invalid ConditionExpression: The IN operator is provided with too many operands; number of operands: 101");
        fixture_close(&fixture);
    }
}

static void knows_the_reserved_words(void **state)
{
    (void)state;
    static const char *const reserved[] = {"ABORT", "zone", "Status", "LOCALTIMESTAMP", "size", "AS", "set", "TTL", "uuid", "Name"};
    static const char *const free_words[] = {"", "a", "ABORTS", "ABOR", "ZON", "ZONES", "pk", "sk", "LOCALTIMESTAMPS", "averyveryverylongname", "AB\xff", "_", "{"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        assert_true(expr_word_is_reserved(str_of_text(reserved[i])));
    for (size_t i = 0; i < sizeof free_words / sizeof free_words[0]; i++)
        assert_false(expr_word_is_reserved(str_of_text(free_words[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_conditions),      cmocka_unit_test(refuses_updates),           cmocka_unit_test(refuses_projections),
        cmocka_unit_test(refuses_types_by_name), cmocka_unit_test(bounds_the_operands_of_in), cmocka_unit_test(knows_the_reserved_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
