/* The members of a request together: which may stand beside which, placeholder maps, the order of everything, both wordings. */
#include "expr/expr_fixture_internal.h"

static const char *const members[EXPR_KINDS] = {"UpdateExpression", "ConditionExpression", "KeyConditionExpression", "FilterExpression", "ProjectionExpression"};

struct operation {
    enum wording wording;
    const char *takes;                /* letters of U C K F P */
    const char *const *legacy;        /* NULL-terminated: those that are in the request count */
};

static const char *const legacy_of_update[] = {"AttributeUpdates", "Expected", NULL};
static const char *const legacy_of_put[] = {"Expected", NULL};
static const char *const legacy_of_query[] = {"AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions", NULL};

static const struct operation update_now = {WORDING_CURRENT, "UC", legacy_of_update};
static const struct operation update_classic = {WORDING_CLASSIC, "UC", legacy_of_update};
static const struct operation put_now = {WORDING_CURRENT, "C", legacy_of_put};
static const struct operation put_classic = {WORDING_CLASSIC, "C", legacy_of_put};
static const struct operation query_now = {WORDING_CURRENT_BARE, "PFK", legacy_of_query};
static const struct operation query_classic = {WORDING_CLASSIC, "PFK", legacy_of_query};
static const struct operation scan = {WORDING_CLASSIC, "PF", legacy_of_query};
static const struct operation get = {WORDING_CURRENT_BARE, "P", NULL};

#define P "1 validation error detected: "
#define NAMES "\"ExpressionAttributeNames\":"
#define VALUES "\"ExpressionAttributeValues\":"
#define INVALID_VALUE "ExpressionAttributeValues contains invalid value: "
#define MIXED "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
#define ONLY_NAMES "ExpressionAttributeNames can only be specified when using expressions"
#define ONLY_VALUES "ExpressionAttributeValues can only be specified when using expressions"
#define NESTED "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"

static const struct {
    const struct operation *operation;
    const char *request;
    const char *message;
} cases[] = {
    /* mixture */
    {&update_now, "{\"UpdateExpression\":\"\",\"ConditionExpression\":\"\",\"AttributeUpdates\":{},\"Expected\":{}," NAMES "{}," VALUES "{}}",
     P MIXED "{AttributeUpdates, Expected} Expression parameters: {UpdateExpression, ConditionExpression}"},
    {&update_classic, "{\"UpdateExpression\":\"SET a = :v\",\"AttributeUpdates\":{}}", MIXED "{AttributeUpdates} Expression parameters: {UpdateExpression}"},
    {&put_now, "{\"ConditionExpression\":\"\",\"Expected\":{}}", P MIXED "{Expected} Expression parameters: {ConditionExpression}"},
    {&query_now,
     "{\"AttributesToGet\":[],\"QueryFilter\":{},\"ConditionalOperator\":\"OR\",\"KeyConditions\":{},\"ProjectionExpression\":\"\",\"FilterExpression\":\"\","
     "\"KeyConditionExpression\":\"\"}",
     MIXED "{AttributesToGet, QueryFilter, ConditionalOperator, KeyConditions} Expression parameters: {ProjectionExpression, FilterExpression, "
           "KeyConditionExpression}"},
    {&put_now, "{\"Expected\":{}}", ""},
    /* maps without an expression */
    {&put_now, "{" NAMES "{\"#a\":\"a\"}," VALUES "{\":a\":{\"S\":\"\"}}}", P ONLY_NAMES},
    {&put_now, "{" NAMES "{}," VALUES "{},\"Expected\":{}}", P ONLY_NAMES},
    {&put_classic, "{" NAMES "{}}", ONLY_NAMES},
    {&get, "{" NAMES "{\"#a\":\"a\"}}", ONLY_NAMES},
    {&put_now, "{" VALUES "{}}", P ONLY_VALUES},
    {&put_classic, "{" VALUES "{}}", ONLY_VALUES ": ConditionExpression is null"},
    {&update_now, "{" VALUES "{}}", P ONLY_VALUES},
    {&update_classic, "{" VALUES "{}}", ONLY_VALUES ": UpdateExpression and ConditionExpression are null"},
    {&query_now, "{" VALUES "{},\"ProjectionExpression\":\"a\"}", ONLY_VALUES},
    {&query_classic, "{" VALUES "{}}", ONLY_VALUES ": FilterExpression and KeyConditionExpression are null"},
    {&scan, "{" VALUES "{},\"ProjectionExpression\":\"a\"}", ONLY_VALUES ": FilterExpression is null"},
    /* the maps themselves */
    {&update_now, "{\"UpdateExpression\":\"\"," NAMES "{}," VALUES "{}}", P "ExpressionAttributeNames must not be empty"},
    {&update_classic, "{\"UpdateExpression\":\"\"," VALUES "{}}", "ExpressionAttributeValues must not be empty"},
    {&put_now, "{\"ConditionExpression\":\"\"," NAMES "{\"a\":\"a\"}," VALUES "{}}", P "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\""},
    {&put_now, "{\"ConditionExpression\":\"\"," NAMES "{\"#\":\"a\"}}", P "ExpressionAttributeNames contains invalid key: Syntax error; key: \"#\""},
    {&put_now, "{\"ConditionExpression\":\"\"," NAMES "{\"#a-b\":\"a\"}}", P "ExpressionAttributeNames contains invalid key: Syntax error; key: \"#a-b\""},
    {&put_now, "{\"ConditionExpression\":\"\"," NAMES "{\":a\":\"a\"}}", P "ExpressionAttributeNames contains invalid key: Syntax error; key: \":a\""},
    {&put_now, "{\"ConditionExpression\":\"\"," NAMES "{\"#a\":\"\"}}", P "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"},
    {&update_now, "{\"ConditionExpression\":\"\"," VALUES "{\":b\":{},\"b\":{\"S\":\"a\"}}}",
     P "ExpressionAttributeValues contains invalid key: Syntax error; key: \"b\""},
    /* values: wrapped by the older layer only */
    {&put_now, "{\"ConditionExpression\":\"\"," VALUES "{\":b\":{\"N\":\"abc\"}}}", P "The parameter cannot be converted to a numeric value: abc"},
    {&query_now, "{\"FilterExpression\":\"\"," VALUES "{\":b\":{\"N\":\"1e126\"}}}",
     "Number overflow. Attempting to store a number with magnitude larger than supported range"},
    {&put_classic, "{\"ConditionExpression\":\"\"," VALUES "{\":b\":{\"N\":\"abc\"}}}",
     INVALID_VALUE "The parameter cannot be converted to a numeric value: abc for key :b"},
    {&scan, "{\"FilterExpression\":\"\"," VALUES "{\":b\":{\"N\":\"\"}}}", INVALID_VALUE "The parameter cannot be converted to a numeric value for key :b"},
    {&update_classic, "{\"UpdateExpression\":\"\"," VALUES "{\":b\":{}}}",
     INVALID_VALUE "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes for key :b"},
    {&update_classic, "{\"UpdateExpression\":\"\"," VALUES "{\":b\":{\"S\":\"a\",\"N\":\"1\"}}}",
     INVALID_VALUE "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes for key :b"},
    {&update_classic, "{\"UpdateExpression\":\"\"," VALUES "{\":b\":{\"NULL\":false}}}",
     INVALID_VALUE "One or more parameter values were invalid: Null attribute value types must have the value of true for key :b"},
    {&update_now, "{\"UpdateExpression\":\"\"," VALUES "{\":b\":{\"SS\":[]}}}", P "One or more parameter values were invalid: An string set  may not be empty"},
    /* order: update, condition, key condition, filter, projection; then names, then values that are not used */
    {&update_now, "{\"UpdateExpression\":\"\",\"ConditionExpression\":\"\"}", P "Invalid UpdateExpression: The expression can not be empty;"},
    {&update_now, "{\"UpdateExpression\":\"SET b = c\",\"ConditionExpression\":\"\"}", P "Invalid ConditionExpression: The expression can not be empty;"},
    {&update_now, "{\"UpdateExpression\":\"SET b = :w\",\"ConditionExpression\":\"a = :v\"," VALUES "{\":w\":{\"S\":\"x\"}}}",
     P "Invalid ConditionExpression: An expression attribute value used in expression is not defined; attribute value: :v"},
    {&query_now, "{\"KeyConditionExpression\":\"\",\"FilterExpression\":\"\",\"ProjectionExpression\":\"\"}",
     "Invalid KeyConditionExpression: The expression can not be empty;"},
    {&query_now, "{\"KeyConditionExpression\":\"a = :v\",\"FilterExpression\":\"\",\"ProjectionExpression\":\"\"," VALUES "{\":v\":{\"S\":\"x\"}}}",
     "Invalid FilterExpression: The expression can not be empty;"},
    {&query_now, "{\"FilterExpression\":\"a > b\",\"ProjectionExpression\":\"\"}", "Invalid ProjectionExpression: The expression can not be empty;"},
    {&update_now, "{\"UpdateExpression\":\"remove a\",\"ConditionExpression\":\"a = :b\"," NAMES "{\"#a\":\"a\",\"#b\":\"b\"}," VALUES
                  "{\":a\":{\"S\":\"a\"},\":b\":{\"S\":\"a\"},\":c\":{\"S\":\"a\"}}}",
     P "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, #b}"},
    {&update_classic, "{\"UpdateExpression\":\"remove #a\",\"ConditionExpression\":\"#b = :b\"," NAMES "{\"#a\":\"a\",\"#b\":\"b\"}," VALUES
                      "{\":c\":{\"S\":\"a\"},\":b\":{\"S\":\"a\"},\":a\":{\"S\":\"a\"}}}",
     "Value provided in ExpressionAttributeValues unused in expressions: keys: {:a, :c}"},
    {&update_now, "{\"UpdateExpression\":\"remove a\"," VALUES "{\":aa\":{\"S\":\"a\"},\":c\":{\"S\":\"a\"}}}",
     P "Value provided in ExpressionAttributeValues unused in expressions: keys: {:c, :aa}"},
    {&query_now, "{\"KeyConditionExpression\":\"#k = :v\",\"ProjectionExpression\":\"#p\"," NAMES "{\"#k\":\"p\",\"#p\":\"a\"}," VALUES "{\":v\":{\"S\":\"x\"}}}", ""},
    /* more than a walk's worth of placeholders */
    {&put_now,
     "{\"ConditionExpression\":\"a IN (:0,:1,:2,:3,:4,:5,:6,:7,:8,:9)\"," VALUES
     "{\":0\":{\"N\":\"0\"},\":1\":{\"N\":\"0\"},\":2\":{\"N\":\"0\"},\":3\":{\"N\":\"0\"},\":4\":{\"N\":\"0\"},\":5\":{\"N\":\"0\"},\":6\":{\"N\":\"0\"},"
     "\":7\":{\"N\":\"0\"},\":8\":{\"N\":\"0\"},\":9\":{\"N\":\"0\"},\":nine\":{\"N\":\"0\"}}}",
     P "Value provided in ExpressionAttributeValues unused in expressions: keys: {:nine}"},
};

static enum fault read_request(struct fixture *fixture, const struct operation *operation, const char *text, struct expr_programs *programs)
{
    static const char letters[EXPR_KINDS + 1] = "UCKFP";
    const struct json *json = fixture_json(fixture, text);
    struct expr_request request = {
        .json = json,
        .names = json_member(json, 0, STR("ExpressionAttributeNames")),
        .values = json_member(json, 0, STR("ExpressionAttributeValues")),
    };
    for (size_t i = 0; i < EXPR_KINDS; i++) {
        request.takes[i] = strchr(operation->takes, letters[i]) != NULL;
        request.text[i] = json_member(json, 0, str_of_text(members[i]));
    }
    const char *legacy[8] = {0};
    size_t count = 0;
    for (size_t i = 0; operation->legacy && operation->legacy[i]; i++) {
        if (json_member(json, 0, str_of_text(operation->legacy[i])) != JSON_ABSENT)
            legacy[count++] = operation->legacy[i];
    }
    request.legacy = count > 0 ? legacy : NULL;
    return expr_request_read(&fixture->call, &request, programs);
}

static void reads_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        struct expr_programs programs;
        fixture_open(&fixture, cases[i].operation->wording);
        enum fault fault = read_request(&fixture, cases[i].operation, cases[i].request, &programs);
        const char *got = fault == FAULT_NONE ? "" : arena_copy_text(&fixture.call.arena, fixture.call.message);
        if (strcmp(got, cases[i].message) != 0)
            fail_msg("%s\n  gave: %s\n  not:  %s", cases[i].request, got, cases[i].message);
        fixture_close(&fixture);
    }
}

static void bounds_the_maps(void **state)
{
    (void)state;
    struct fixture fixture;
    struct expr_programs programs;
    fixture_open(&fixture, WORDING_CLASSIC);
    for (size_t length = 255; length <= 256; length++) {
        struct buf key, request;
        buf_open(&key, &fixture.call.arena, 0);
        buf_add_byte(&key, '#');
        while (key.len < length)
            buf_add_byte(&key, 'k');
        buf_open(&request, &fixture.call.arena, 0);
        buf_printf(&request, "{\"ConditionExpression\":\"attribute_exists(%.*s)\"," NAMES "{\"%.*s\":\"a\"}}%c", STR_ARG(buf_str(&key)), STR_ARG(buf_str(&key)), 0);
        enum fault fault = read_request(&fixture, &put_classic, request.data, &programs);
        assert_int_equal(fault, length == 255 ? FAULT_NONE : FAULT_VALIDATION);
    }
    assert_true(str_equal(fixture.call.message, STR("ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; "
                                                    "size of key: 256")));
    for (size_t bytes = 2 << 20; bytes <= (2 << 20) + 1; bytes++) {
        struct buf request;
        call_clear_fault(&fixture.call);
        buf_open(&request, &fixture.call.arena, bytes + 128);
        buf_printf(&request, "{\"ConditionExpression\":\"a = :v\"," VALUES "{\":v\":{\"S\":\"");
        memset(buf_reserve(&request, bytes), 'x', bytes);
        request.len += bytes;
        buf_printf(&request, "\"}}}%c", 0);
        assert_int_equal(read_request(&fixture, &put_classic, request.data, &programs), bytes == 2 << 20 ? FAULT_NONE : FAULT_VALIDATION);
    }
    fixture_close(&fixture);
}

/* A value of 31 levels is the deepest (public suite Parity, nestingDepth). */
static void bounds_the_depth_of_values(void **state)
{
    (void)state;
    static const struct operation *const operations[] = {&update_now, &update_classic};
    static const char *const messages[] = {P NESTED, INVALID_VALUE NESTED " for key :d"};
    for (size_t i = 0; i < 2; i++) {
        for (size_t depth = 31; depth <= 32; depth++) {
            struct fixture fixture;
            struct expr_programs programs;
            struct buf request;
            fixture_open(&fixture, operations[i]->wording);
            buf_open(&request, &fixture.call.arena, 0);
            BUF_ADD_LITERAL(&request, "{\"UpdateExpression\":\"SET a = :d\"," VALUES "{\":d\":");
            for (size_t level = 0; level < depth; level++)
                buf_add_str(&request, level % 2 ? STR("{\"L\":[") : STR("{\"M\":{\"n\":"));
            BUF_ADD_LITERAL(&request, "{\"S\":\"\"}");
            for (size_t level = depth; level > 0; level--)
                buf_add_str(&request, level % 2 ? STR("}}") : STR("]}"));
            BUF_ADD_LITERAL(&request, "}}\0");
            enum fault fault = read_request(&fixture, operations[i], request.data, &programs);
            assert_string_equal(fault == FAULT_NONE ? "" : arena_copy_text(&fixture.call.arena, fixture.call.message), depth == 31 ? "" : messages[i]);
            fixture_close(&fixture);
        }
    }
}

/* JSON may say a key twice: the last counts, with few keys and with many. */
static void takes_the_last_of_a_key(void **state)
{
    (void)state;
    for (int more = 0; more <= 20; more += 20) {
        struct fixture fixture;
        struct expr_programs programs;
        struct buf request;
        fixture_open(&fixture, WORDING_CURRENT);
        buf_open(&request, &fixture.call.arena, 0);
        buf_printf(&request, "{\"ConditionExpression\":\"#a = :v AND c IN (:v");
        for (int i = 0; i < more; i++)
            buf_printf(&request, ",:k%d", i);
        buf_printf(&request, ")\"," NAMES "{\"#a\":\"x\",\"#a\":\"y\"}," VALUES "{\":v\":{\"N\":\"bad\"}");
        for (int i = more; i > 0; i--)
            buf_printf(&request, ",\":k%d\":{\"N\":\"%d\"}", i - 1, i);
        buf_printf(&request, ",\":v\":{\"S\":\"last\"}}}%c", 0);
        assert_int_equal(read_request(&fixture, &put_now, request.data, &programs), FAULT_NONE);
        str item = fixture_item(&fixture, "{\"y\":{\"S\":\"last\"},\"c\":{\"S\":\"last\"}}");
        assert_true(expr_holds(programs.of[EXPR_CONDITION], item));
        free((void *)item.data);
        fixture_close(&fixture);
    }
}

/* Each kind's program is the request's own, with the placeholders resolved. */
static void gives_each_kind_its_program(void **state)
{
    (void)state;
    struct fixture fixture;
    struct expr_programs programs;
    fixture_open(&fixture, WORDING_CURRENT);
    enum fault fault = read_request(&fixture, &update_now,
                                    "{\"UpdateExpression\":\"SET #n = :v\",\"ConditionExpression\":\"#n <> :v\"," NAMES "{\"#n\":\"status\"}," VALUES
                                    "{\":v\":{\"S\":\"done\"}}}",
                                    &programs);
    assert_int_equal(fault, FAULT_NONE);
    assert_int_equal(programs.of[EXPR_FILTER].len + programs.of[EXPR_KEY_CONDITION].len + programs.of[EXPR_PROJECTION].len, 0);
    str item = fixture_item(&fixture, "{\"status\":{\"S\":\"open\"}}");
    assert_true(expr_holds(programs.of[EXPR_CONDITION], item));
    struct buf after;
    buf_open(&after, &fixture.call.arena, 0);
    assert_int_equal(expr_update_apply(&fixture.call, programs.of[EXPR_UPDATE], item, &after), FAULT_NONE);
    assert_string_equal(fixture_show(&fixture, buf_str(&after)), "{\"status\":{\"S\":\"done\"}}");
    assert_false(expr_holds(programs.of[EXPR_CONDITION], buf_str(&after)));
    free((void *)item.data);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_requests),
        cmocka_unit_test(bounds_the_maps),
        cmocka_unit_test(bounds_the_depth_of_values),
        cmocka_unit_test(takes_the_last_of_a_key),
        cmocka_unit_test(gives_each_kind_its_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
