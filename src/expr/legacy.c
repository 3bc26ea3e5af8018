/* Expected, AttributeUpdates, KeyConditions and filters: the parameters from before expressions, compiled to the same programs (reference section 9). */
#include "expr/expr_internal.h"

#include <assert.h>

#define INVALID "One or more parameter values were invalid: "

enum operands { NO_OPERANDS, ONE_OPERAND, TWO_OPERANDS, SOME_OPERANDS };

struct comparison {
    const char *name;
    uint8_t opcode;
    enum operands operands;
    const char *types; /* of operands, with a blank on both sides */
};

static const struct comparison comparisons[] = {
    {"EQ", OP_EQUAL, ONE_OPERAND, NULL},
    {"NE", OP_NOT_EQUAL, ONE_OPERAND, NULL},
    {"LE", OP_LESS_EQUAL, ONE_OPERAND, " S N B "},
    {"LT", OP_LESS, ONE_OPERAND, " S N B "},
    {"GE", OP_GREATER_EQUAL, ONE_OPERAND, " S N B "},
    {"GT", OP_GREATER, ONE_OPERAND, " S N B "},
    {"CONTAINS", OP_CONTAINS, ONE_OPERAND, " S N B "},
    {"NOT_CONTAINS", OP_NOT_CONTAINS, ONE_OPERAND, " S N B "},
    {"BEGINS_WITH", OP_BEGINS_WITH, ONE_OPERAND, " S B "},
    {"IN", OP_IN, SOME_OPERANDS, " S N B "},
    {"BETWEEN", OP_BETWEEN, TWO_OPERANDS, " S N B "},
    {"NULL", OP_NOT_EXISTS, NO_OPERANDS, NULL},
    {"NOT_NULL", OP_EXISTS, NO_OPERANDS, NULL},
};

struct legacy {
    struct call *call;
    const struct json *json;
    str attribute;
    struct buf *out;
};

static enum fault check_attribute(const struct legacy *legacy) MUST_USE;
static enum fault check_attribute(const struct legacy *legacy)
{
    if (legacy->attribute.len == 0)
        return fail_reworded(legacy->call, "Empty attribute name");
    if (legacy->attribute.len > ATTRIBUTE_NAME_MAX)
        return fail_reworded(legacy->call, "Attribute name is too large, must be less than 65536 bytes");
    return FAULT_NONE;
}

static enum fault read_legacy_value(const struct legacy *legacy, uint32_t token, str *v) MUST_USE;
static enum fault read_legacy_value(const struct legacy *legacy, uint32_t token, str *v)
{
    struct buf bytes;
    buf_open(&bytes, &legacy->call->arena, json_raw(legacy->json, token).len);
    TRY(value_read(legacy->call, legacy->json, token, &bytes));
    *v = buf_str(&bytes);
    if (value_depth(*v) > ITEM_DEPTH_MAX - 1)
        return fail_reworded(legacy->call,
                             "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit");
    return FAULT_NONE;
}

static void write_name(const struct legacy *legacy)
{
    buf_add_varint(legacy->out, 1);
    expr_write_element(legacy->out, &(struct expr_element){.name = legacy->attribute});
}

static void write_name_operand(const struct legacy *legacy)
{
    buf_add_byte(legacy->out, OP_PATH);
    write_name(legacy);
}

static bool operands_fit(enum operands operands, size_t count)
{
    switch (operands) {
    case NO_OPERANDS:
        return count == 0;
    case ONE_OPERAND:
        return count == 1;
    case TWO_OPERANDS:
        return count == 2;
    case SOME_OPERANDS:
        return count > 0;
    }
    return false;
}

static bool same_type(str a, str b)
{
    return str_equal(value_type_name(a), value_type_name(b));
}

static enum fault check_operands(const struct legacy *legacy, const struct comparison *comparison, const str *operands, size_t count) MUST_USE;
static enum fault check_operands(const struct legacy *legacy, const struct comparison *comparison, const str *operands, size_t count)
{
    if (!operands_fit(comparison->operands, count))
        return fail_reworded(legacy->call, INVALID "Invalid number of argument(s) for the %s ComparisonOperator", comparison->name);
    for (size_t i = 1; i < count; i++) {
        if (!same_type(operands[0], operands[i]))
            return fail_reworded(legacy->call, INVALID "AttributeValues inside AttributeValueList must be of same type");
    }
    for (size_t i = 0; comparison->types && i < count; i++) {
        str type = value_type_name(operands[i]);
        char wanted[8] = " ";
        memcpy(wanted + 1, type.data, type.len);
        wanted[type.len + 1] = ' ';
        if (!strstr(comparison->types, wanted))
            return fail_reworded(legacy->call, INVALID "ComparisonOperator %s is not valid for %.*s AttributeValue type", comparison->name, STR_ARG(type));
    }
    if (comparison->opcode == OP_BETWEEN && value_compare(operands[0], operands[1]) > 0)
        return fail_reworded(legacy->call, "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound");
    return FAULT_NONE;
}

static void write_comparison(const struct legacy *legacy, uint8_t opcode, const str *operands, size_t count)
{
    buf_add_byte(legacy->out, opcode);
    if (opcode == OP_EXISTS || opcode == OP_NOT_EXISTS) {
        write_name(legacy);
        return;
    }
    struct buf body;
    buf_open(&body, &legacy->call->arena, 0);
    struct legacy inner = *legacy;
    inner.out = &body;
    write_name_operand(&inner);
    for (size_t i = 0; i < count; i++)
        buf_add_str(&body, operands[i]);
    if (opcode == OP_IN)
        buf_add_varint(legacy->out, body.len);
    buf_add_str(legacy->out, buf_str(&body));
}

static const struct comparison *comparison_named(str name)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        if (str_equal(name, str_of_text(comparisons[i].name)))
            return &comparisons[i];
    }
    return NULL;
}

/* {ComparisonOperator, AttributeValueList or Value} */
static enum fault compile_comparison(const struct legacy *legacy, const struct comparison *comparison, uint32_t list, uint32_t value) MUST_USE;
static enum fault compile_comparison(const struct legacy *legacy, const struct comparison *comparison, uint32_t list, uint32_t value)
{
    size_t count = value != JSON_ABSENT;
    if (list != JSON_ABSENT)
        count = legacy->json->tokens[list].count;
    str *operands = ARENA_NEW_ARRAY(&legacy->call->arena, str, count);
    size_t read = 0;
    if (list == JSON_ABSENT) {
        if (count > 0)
            TRY(read_legacy_value(legacy, value, &operands[read++]));
    } else {
        for (uint32_t i = json_first(legacy->json, list); i < json_end(legacy->json, list); i = json_next(legacy->json, i))
            TRY(read_legacy_value(legacy, i, &operands[read++]));
    }
    TRY(check_operands(legacy, comparison, operands, read));
    write_comparison(legacy, comparison->opcode, operands, read);
    return FAULT_NONE;
}

/* {Value, Exists} */
static enum fault compile_expectation(const struct legacy *legacy, uint32_t exists, uint32_t value) MUST_USE;
static enum fault compile_expectation(const struct legacy *legacy, uint32_t exists, uint32_t value)
{
    bool must_exist = exists == JSON_ABSENT || json_type(legacy->json, exists) == JSON_TRUE;
    if (must_exist && value == JSON_ABSENT)
        return fail_reworded(legacy->call, INVALID "Value must be provided when Exists is %s for Attribute: %.*s", exists == JSON_ABSENT ? "null" : "true",
                             STR_ARG(legacy->attribute));
    if (!must_exist && value != JSON_ABSENT)
        return fail_reworded(legacy->call, INVALID "Value cannot be used when Exists is false for Attribute: %.*s", STR_ARG(legacy->attribute));
    str v = STR_NONE;
    if (must_exist)
        TRY(read_legacy_value(legacy, value, &v));
    write_comparison(legacy, must_exist ? OP_EQUAL : OP_NOT_EXISTS, &v, must_exist);
    return FAULT_NONE;
}

static enum fault compile_expected(const struct legacy *legacy, uint32_t object) MUST_USE;
static enum fault compile_expected(const struct legacy *legacy, uint32_t object)
{
    const struct json *json = legacy->json;
    uint32_t list = json_member(json, object, STR("AttributeValueList"));
    uint32_t value = json_member(json, object, STR("Value"));
    uint32_t exists = json_member(json, object, STR("Exists"));
    uint32_t name = json_member(json, object, STR("ComparisonOperator"));
    if (list != JSON_ABSENT && value != JSON_ABSENT)
        return fail_reworded(legacy->call, INVALID "Value and AttributeValueList cannot be used together for Attribute: %.*s", STR_ARG(legacy->attribute));
    if (name == JSON_ABSENT && list != JSON_ABSENT)
        return fail_reworded(legacy->call, INVALID "AttributeValueList can only be used with a ComparisonOperator for Attribute: %.*s", STR_ARG(legacy->attribute));
    if (name == JSON_ABSENT)
        return compile_expectation(legacy, exists, value);
    if (exists != JSON_ABSENT)
        return fail_reworded(legacy->call, INVALID "Exists and ComparisonOperator cannot be used together for Attribute: %.*s", STR_ARG(legacy->attribute));
    const struct comparison *comparison = comparison_named(json_string(json, name));
    assert(comparison);
    if (comparison->operands != NO_OPERANDS && list == JSON_ABSENT && value == JSON_ABSENT)
        return fail_reworded(legacy->call, INVALID "Value or AttributeValueList must be used with ComparisonOperator: %s for Attribute: %.*s", comparison->name,
                             STR_ARG(legacy->attribute));
    return compile_comparison(legacy, comparison, list, value);
}

/* {ComparisonOperator, AttributeValueList}: a Condition of QueryFilter, ScanFilter or KeyConditions. */
static const struct comparison *comparison_of(const struct legacy *legacy, uint32_t object, uint32_t *list)
{
    *list = json_member(legacy->json, object, STR("AttributeValueList"));
    const struct comparison *comparison = comparison_named(json_string(legacy->json, json_member(legacy->json, object, STR("ComparisonOperator"))));
    assert(comparison);
    return comparison;
}

static enum fault compile_condition(const struct legacy *legacy, uint32_t object) MUST_USE;
static enum fault compile_condition(const struct legacy *legacy, uint32_t object)
{
    uint32_t list;
    const struct comparison *comparison = comparison_of(legacy, object, &list);
    return compile_comparison(legacy, comparison, list, JSON_ABSENT);
}

/* A program of the map's conditions, joined. */
static enum fault compile_map(struct call *call, const struct json *json, uint32_t map, enum expr_kind kind, uint8_t join,
                              enum fault (*compile)(const struct legacy *, uint32_t), str *program) MUST_USE;
static enum fault compile_map(struct call *call, const struct json *json, uint32_t map, enum expr_kind kind, uint8_t join,
                              enum fault (*compile)(const struct legacy *, uint32_t), str *program)
{
    struct buf body;
    struct buf bytes;
    buf_open(&body, &call->arena, 0);
    buf_add_varint(&body, json->tokens[map].count);
    for (uint32_t i = json_first(json, map); i < json_end(json, map); i = json_next(json, i + 1)) {
        struct legacy legacy = {.call = call, .json = json, .attribute = json_string(json, i), .out = &body};
        TRY(check_attribute(&legacy));
        TRY(compile(&legacy, i + 1));
    }
    buf_open(&bytes, &call->arena, body.len + 16);
    expr_program_open(&bytes, kind);
    buf_add_byte(&bytes, join);
    buf_add_counted(&bytes, buf_str(&body));
    *program = buf_str(&bytes);
    return FAULT_NONE;
}

static enum fault compile_joined(struct call *call, const struct json *json, uint32_t map, uint32_t conditional_operator, enum expr_kind kind,
                                 enum fault (*compile)(const struct legacy *, uint32_t), str *program) MUST_USE;
static enum fault compile_joined(struct call *call, const struct json *json, uint32_t map, uint32_t conditional_operator, enum expr_kind kind,
                                 enum fault (*compile)(const struct legacy *, uint32_t), str *program)
{
    *program = STR_NONE;
    size_t count = map == JSON_ABSENT ? 0 : json->tokens[map].count;
    if (conditional_operator != JSON_ABSENT && count == 0)
        return fail_reworded(call, "ConditionalOperator cannot be used without Filter or Expected");
    if (conditional_operator != JSON_ABSENT && count == 1)
        return fail_reworded(call, "ConditionalOperator can only be used when Filter or Expected has two or more elements");
    if (count == 0)
        return FAULT_NONE;
    bool is_or = conditional_operator != JSON_ABSENT && str_equal(json_string(json, conditional_operator), STR("OR"));
    return compile_map(call, json, map, kind, is_or ? OP_OR : OP_AND, compile, program);
}

enum fault expr_legacy_condition(struct call *call, const struct json *json, uint32_t expected, uint32_t conditional_operator, str *condition)
{
    return compile_joined(call, json, expected, conditional_operator, EXPR_CONDITION, compile_expected, condition);
}

enum fault expr_legacy_filter(struct call *call, const struct json *json, uint32_t filter, uint32_t conditional_operator, str *program)
{
    return compile_joined(call, json, filter, conditional_operator, EXPR_FILTER, compile_condition, program);
}

/* What is no question to keys is told apart only once the table is known: it is kept as one that no key condition has. */
static enum fault compile_key_condition(const struct legacy *legacy, uint32_t object) MUST_USE;
static enum fault compile_key_condition(const struct legacy *legacy, uint32_t object)
{
    uint32_t list;
    const struct comparison *comparison = comparison_of(legacy, object, &list);
    uint8_t opcode = comparison->opcode;
    if ((opcode >= OP_EQUAL && opcode <= OP_BETWEEN && opcode != OP_NOT_EQUAL) || opcode == OP_BEGINS_WITH)
        return compile_comparison(legacy, comparison, list, JSON_ABSENT);
    struct buf unused;
    struct legacy checked = *legacy;
    buf_open(&unused, &legacy->call->arena, 0);
    checked.out = &unused;
    TRY(compile_comparison(&checked, comparison, list, JSON_ABSENT));
    static const char null[] = {VALUE_NULL};
    str operand = str_of(null, sizeof null);
    write_comparison(legacy, OP_NOT_EQUAL, &operand, 1);
    return FAULT_NONE;
}

enum fault expr_legacy_key_conditions(struct call *call, const struct json *json, uint32_t conditions, str *program)
{
    *program = STR_NONE;
    if (json->tokens[conditions].count == 0)
        return FAULT_NONE;
    return compile_map(call, json, conditions, EXPR_KEY_CONDITION, OP_AND, compile_key_condition, program);
}

/* --- AttributeUpdates --- */

static enum fault compile_attribute_update(const struct legacy *legacy, uint32_t object) MUST_USE;
static enum fault compile_attribute_update(const struct legacy *legacy, uint32_t object)
{
    uint32_t value = json_member(legacy->json, object, STR("Value"));
    uint32_t action = json_member(legacy->json, object, STR("Action"));
    str name = action == JSON_ABSENT ? STR("PUT") : json_string(legacy->json, action);
    bool deletes = str_equal(name, STR("DELETE"));
    bool adds = str_equal(name, STR("ADD"));
    str v = STR_NONE;
    if (value != JSON_ABSENT)
        TRY(read_legacy_value(legacy, value, &v));
    else if (!deletes)
        return fail_reworded(legacy->call, INVALID "Only DELETE action is allowed when no attribute value is specified");
    if (deletes && v.len > 0 && !value_is_set(v))
        return fail_reworded(legacy->call, INVALID "DELETE action with value is not supported for the type %.*s", STR_ARG(value_type_name(v)));
    if (adds && !value_is_set(v) && value_type(v) != VALUE_N && value_type(v) != VALUE_L)
        return fail_reworded(legacy->call, INVALID "ADD action is not supported for the type %.*s", STR_ARG(value_type_name(v)));
    buf_add_byte(legacy->out, adds ? OP_ADD_LEGACY : !deletes ? OP_SET : v.len > 0 ? OP_DELETE_LEGACY : OP_REMOVE);
    write_name(legacy);
    buf_add_str(legacy->out, v);
    return FAULT_NONE;
}

/* An attribute's action, compiled. */
struct legacy_action {
    struct expr_element element;
    str code;
    bool is_replaced; /* by a later one of the same name: JSON may say a name twice, and then the last counts */
};

static enum fault compile_actions(struct call *call, const struct json *json, uint32_t object, struct legacy_action *actions) MUST_USE;
static enum fault compile_actions(struct call *call, const struct json *json, uint32_t object, struct legacy_action *actions)
{
    for (uint32_t i = json_first(json, object); i < json_end(json, object); i = json_next(json, i + 1)) {
        struct buf code;
        buf_open(&code, &call->arena, 0);
        struct legacy legacy = {.call = call, .json = json, .attribute = json_string(json, i), .out = &code};
        TRY(check_attribute(&legacy));
        TRY(compile_attribute_update(&legacy, i + 1));
        *actions++ = (struct legacy_action){.element.name = legacy.attribute, .code = buf_str(&code)};
    }
    return FAULT_NONE;
}

/* Sorts the paths and leaves one of each name; returns how many there are. */
static size_t sort_actions(struct legacy_action *actions, struct expr_trie_path *paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        paths[i] = (struct expr_trie_path){.elements = &actions[i].element, .count = 1, .number = (uint32_t)i};
    expr_trie_paths_sort(paths, count);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_last = i + 1 == count || !str_equal(paths[i].elements[0].name, paths[i + 1].elements[0].name);
        actions[paths[i].number].is_replaced = !is_last;
        if (is_last)
            paths[kept++] = paths[i];
    }
    return kept;
}

enum fault expr_legacy_update(struct call *call, const struct json *json, uint32_t attribute_updates, str *update)
{
    *update = STR_NONE;
    size_t count = attribute_updates == JSON_ABSENT ? 0 : json->tokens[attribute_updates].count;
    if (count == 0)
        return FAULT_NONE;
    struct legacy_action *actions = ARENA_NEW_ARRAY(&call->arena, struct legacy_action, count);
    struct expr_trie_path *paths = ARENA_NEW_ARRAY(&call->arena, struct expr_trie_path, count);
    uint32_t *numbers = ARENA_NEW_ARRAY(&call->arena, uint32_t, count);
    TRY(compile_actions(call, json, attribute_updates, actions));
    size_t kept = sort_actions(actions, paths, count);
    uint32_t number = 0;
    for (size_t i = 0; i < count; i++)
        numbers[i] = actions[i].is_replaced ? number : number++;
    for (size_t i = 0; i < kept; i++)
        paths[i].number = numbers[paths[i].number];
    struct buf trie;
    buf_open(&trie, &call->arena, 0);
    expr_trie_write(&trie, paths, kept);
    struct buf program;
    buf_open(&program, &call->arena, trie.len + 64);
    expr_program_open(&program, EXPR_UPDATE);
    buf_add_counted(&program, buf_str(&trie));
    buf_add_varint(&program, number);
    for (size_t i = 0; i < count; i++) {
        if (!actions[i].is_replaced)
            buf_add_str(&program, actions[i].code);
    }
    *update = buf_str(&program);
    return FAULT_NONE;
}

void expr_projection_of_names(const str *names, size_t count, struct buf *out)
{
    struct arena arena;
    arena_open(&arena, NULL);
    struct expr_element *elements = ARENA_NEW_ARRAY(&arena, struct expr_element, count);
    struct expr_trie_path *paths = ARENA_NEW_ARRAY(&arena, struct expr_trie_path, count);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (names[i].len == 0) /* no attribute has this name */
            continue;
        elements[kept] = (struct expr_element){.name = names[i]};
        paths[kept] = (struct expr_trie_path){.elements = &elements[kept], .count = 1};
        kept++;
    }
    expr_trie_paths_sort(paths, kept);
    expr_program_open(out, EXPR_PROJECTION);
    expr_trie_write(out, paths, kept);
    arena_close(&arena);
}
