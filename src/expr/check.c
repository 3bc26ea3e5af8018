/* What is wrong with a tree by itself, in DynamoDB's order: conditions and projections, and what all kinds share. */
#include "expr/check_internal.h"
#include "expr/grammar.h"

#include <assert.h>

void expr_find(struct expr_findings *findings, enum expr_category category, uint32_t at, const char *format, ...)
{
    if (findings->first[category].found && findings->first[category].at <= at)
        return;
    va_list arguments;
    va_start(arguments, format);
    findings->first[category].message = arena_vprintf(&findings->parse->call->arena, format, arguments);
    va_end(arguments);
    findings->first[category].at = at;
    findings->first[category].found = true;
    findings->found = true;
}

enum fault expr_findings_report(const struct expr_findings *findings, const enum expr_category *order, size_t count)
{
    for (size_t i = 0; findings->found && i < count; i++) {
        if (findings->first[order[i]].found)
            return fail_reworded(findings->parse->call, "Invalid %s: %.*s", expr_kind_name(findings->parse->kind),
                                 STR_ARG(findings->first[order[i]].message));
    }
    return FAULT_NONE;
}

static void find_in_path(struct expr_findings *findings, const struct expr_node *node)
{
    const struct expr_parse *parse = findings->parse;
    for (uint16_t token = node->token; token < node->end; token++) {
        uint8_t kind = parse->tokens[token].kind;
        str text = expr_token_text(parse, token);
        if (kind == TOKEN_NAME && expr_word_is_reserved(text))
            expr_find(findings, CATEGORY_RESERVED, token, "Attribute name is a reserved keyword; reserved keyword: %.*s", STR_ARG(text));
        if (kind == TOKEN_INDEX && (text.len > 10 || (text.len == 10 && str_compare(text, STR("2147483647")) > 0)))
            expr_find(findings, CATEGORY_RESERVED, token, "List index is not within the allowable range; index: [%.*s]", STR_ARG(text));
    }
}

static bool function_is_of_updates(enum expr_function function)
{
    return function == FUNCTION_IF_NOT_EXISTS || function == FUNCTION_LIST_APPEND;
}

/* list_append may not be an operand of list_append (public suite of Scylla, test_update_expression_function_nesting). */
static void find_nested_appends(struct expr_findings *findings, const struct expr_node *node)
{
    for (uint16_t child = node->first; child != 0; child = expr_node_at(findings->parse, child)->next) {
        const struct expr_node *operand = expr_node_at(findings->parse, child);
        if (operand->kind == NODE_CALL && operand->function == FUNCTION_LIST_APPEND)
            expr_find(findings, CATEGORY_FUNCTION_PLACE, operand->token,
                      "The function is not allowed to be used this way in an expression; function: list_append");
    }
}

static void find_in_function(struct expr_findings *findings, const struct expr_node *node)
{
    str name = expr_token_text(findings->parse, node->token);
    bool is_update = findings->parse->kind == EXPR_UPDATE;
    if (node->function == FUNCTION_UNKNOWN)
        expr_find(findings, CATEGORY_FUNCTION_NAME, node->token, "Invalid function name; function: %.*s", STR_ARG(name));
    else if (is_update != function_is_of_updates(node->function))
        expr_find(findings, CATEGORY_FUNCTION_PLACE, node->token, "The function is not allowed in %s expression; function: %.*s",
                  is_update ? "an update" : "a condition", STR_ARG(name));
    else if (!is_update && node->is_condition == (node->function == FUNCTION_SIZE))
        expr_find(findings, CATEGORY_FUNCTION_PLACE, node->token,
                  "The function is not allowed to be used this way in an expression; function: %.*s", STR_ARG(name));
    else if (node->function == FUNCTION_LIST_APPEND)
        find_nested_appends(findings, node);
}

void expr_find_in_tree(struct expr_findings *findings)
{
    const struct expr_parse *parse = findings->parse;
    uint32_t operators = parse->joins;
    for (uint32_t i = 1; i < parse->node_count; i++) {
        const struct expr_node *node = &parse->nodes[i];
        switch ((enum expr_node_kind)node->kind) {
        case NODE_PATH:
            find_in_path(findings, node);
            break;
        case NODE_CALL:
            find_in_function(findings, node);
            operators++;
            break;
        case NODE_COMPARE:
        case NODE_BETWEEN:
        case NODE_IN:
        case NODE_NOT:
        case NODE_SUM:
            operators++;
            break;
        default:
            break;
        }
    }
    /* Always 301, whatever the count: AWS stops counting there. */
    if (operators > EXPR_OPERATORS_MAX)
        expr_find(findings, CATEGORY_OPERATORS, 0, "The expression contains too many operators; operator count: %d", EXPR_OPERATORS_MAX + 1);
}

static void find_undefined_names(struct expr_findings *findings, const struct expr_node *node)
{
    struct expr_parse *parse = findings->parse;
    for (uint16_t at = node->token; at < node->end; at++) {
        struct expr_token *token = &parse->tokens[at];
        if (token->kind != TOKEN_NAME_PLACEHOLDER)
            continue;
        str key = expr_token_text(parse, at);
        token->entry = expr_placeholders_find(parse->names, key);
        if (token->entry != EXPR_NO_ENTRY)
            parse->names->entries[token->entry].is_used = true;
        else
            expr_find(findings, CATEGORY_NAME, at,
                      "An expression attribute name used in the document path is not defined; attribute name: %.*s", STR_ARG(key));
    }
    if (node->count > EXPR_PATH_ELEMENTS_MAX)
        expr_find(findings, CATEGORY_NAME, node->token, "The document path has too many nesting levels; nesting levels: %u", node->count);
}

static void find_undefined_value(struct expr_findings *findings, const struct expr_node *node)
{
    struct expr_parse *parse = findings->parse;
    struct expr_token *token = &parse->tokens[node->token];
    str key = expr_token_text(parse, node->token);
    token->entry = expr_placeholders_find(parse->values, key);
    if (token->entry != EXPR_NO_ENTRY)
        parse->values->entries[token->entry].is_used = true;
    else
        expr_find(findings, CATEGORY_VALUE, node->token,
                  "An expression attribute value used in expression is not defined; attribute value: %.*s", STR_ARG(key));
}

void expr_find_undefined(struct expr_findings *findings, uint16_t node)
{
    const struct expr_node *leaf = expr_node_at(findings->parse, node);
    if (leaf->kind == NODE_PATH)
        find_undefined_names(findings, leaf);
    else if (leaf->kind == NODE_VALUE)
        find_undefined_value(findings, leaf);
}

str expr_static_type(const struct expr_parse *parse, uint16_t node)
{
    const struct expr_node *operand = expr_node_at(parse, node);
    if (operand->kind == NODE_CALL && operand->function == FUNCTION_SIZE)
        return STR("N");
    if (operand->kind == NODE_VALUE && parse->tokens[operand->token].entry != EXPR_NO_ENTRY)
        return value_type_name(expr_node_value(parse, operand));
    return STR_NONE;
}

static bool type_is_ordered(str type)
{
    return type.len == 1 && (type.data[0] == 'S' || type.data[0] == 'N' || type.data[0] == 'B');
}

/* Every operand's type, where it is known, must be S, N or B. */
static void find_unordered_types(struct expr_findings *findings, uint16_t node, str name)
{
    const struct expr_parse *parse = findings->parse;
    for (uint16_t child = expr_node_at(parse, node)->first; child != 0; child = expr_node_at(parse, child)->next) {
        str type = expr_static_type(parse, child);
        if (type.len > 0 && !type_is_ordered(type))
            expr_find_type(findings, node, name, type);
    }
}

/* A bound as Java shows an AttributeValue; a number as the client wrote it. */
static str show_bound(const struct expr_parse *parse, const struct expr_node *node, str v)
{
    struct arena *arena = &parse->call->arena;
    if (value_type(v) == VALUE_B) {
        size_t bytes = value_scalar(v).len;
        return arena_printf(arena, "AttributeValue: {B:java.nio.HeapByteBuffer[pos=0 lim=%zu cap=%zu]}", bytes, bytes);
    }
    str text = value_scalar(v);
    if (value_type(v) == VALUE_N) {
        uint32_t sent = json_member(parse->json, parse->values->entries[parse->tokens[node->token].entry].token, STR("N"));
        assert(sent != JSON_ABSENT);
        text = json_string(parse->json, sent);
    }
    return arena_printf(arena, "AttributeValue: {%.*s:%.*s}", STR_ARG(value_type_name(v)), STR_ARG(text));
}

static void find_in_bounds(struct expr_findings *findings, uint16_t between)
{
    const struct expr_parse *parse = findings->parse;
    uint16_t lower = expr_node_at(parse, expr_node_at(parse, between)->first)->next;
    const struct expr_node *low = expr_node_at(parse, lower);
    const struct expr_node *high = expr_node_at(parse, low->next);
    str low_type = low->kind == NODE_VALUE ? expr_static_type(parse, lower) : STR_NONE;
    str high_type = high->kind == NODE_VALUE ? expr_static_type(parse, low->next) : STR_NONE;
    if (!type_is_ordered(low_type) || !type_is_ordered(high_type))
        return;
    str a = expr_node_value(parse, low);
    str b = expr_node_value(parse, high);
    bool differ = value_type(a) != value_type(b);
    if (differ || value_compare(a, b) > 0)
        expr_find(findings, CATEGORY_TYPE, between, "The BETWEEN operator requires %s; lower bound operand: %.*s, upper bound operand: %.*s",
                  differ ? "same data type for lower and upper bounds" : "upper bound to be greater than or equal to lower bound",
                  STR_ARG(show_bound(parse, low, a)), STR_ARG(show_bound(parse, high, b)));
}

static void find_in_comparison(struct expr_findings *findings, uint16_t node)
{
    const struct expr_node *comparison = expr_node_at(findings->parse, node);
    str name = expr_token_text(findings->parse, comparison->token);
    uint8_t comparator = findings->parse->tokens[comparison->token].kind;
    expr_find_same(findings, node, name);
    if (comparator != TOKEN_EQUAL && comparator != TOKEN_NOT_EQUAL)
        find_unordered_types(findings, node, name);
}

static void find_in_primitive(struct expr_findings *findings, uint16_t node)
{
    const struct expr_node *primitive = expr_node_at(findings->parse, node);
    switch ((enum expr_node_kind)primitive->kind) {
    case NODE_CALL:
        expr_find_in_call(findings, node, CATEGORY_OPERAND_COUNT);
        break;
    case NODE_COMPARE:
        find_in_comparison(findings, node);
        break;
    case NODE_BETWEEN:
        expr_find_same(findings, node, STR("BETWEEN"));
        find_unordered_types(findings, node, STR("BETWEEN"));
        find_in_bounds(findings, node);
        break;
    case NODE_IN:
        if (primitive->count - 1 > EXPR_IN_MAX)
            expr_find(findings, CATEGORY_OPERAND_COUNT, node, "The IN operator is provided with too many operands; number of operands: %u", primitive->count - 1u);
        expr_find_same(findings, node, STR("IN"));
        break;
    default:
        expr_find_undefined(findings, node);
        break;
    }
}

/* One primitive condition after the other, each with all of its categories, in the text's order. */
static enum fault check_primitives(struct expr_findings *findings) MUST_USE;
static enum fault check_primitives(struct expr_findings *findings)
{
    /* Undefined names and values are one category here: whichever stands first. */
    static const enum expr_category order[] = {CATEGORY_OPERAND_COUNT, CATEGORY_DISTINCT, CATEGORY_TYPE};
    static const enum expr_category undefined[][2] = {{CATEGORY_NAME, CATEGORY_VALUE}, {CATEGORY_VALUE, CATEGORY_NAME}};
    for (uint32_t i = 1; i < findings->parse->node_count; i++) {
        const struct expr_node *node = &findings->parse->nodes[i];
        find_in_primitive(findings, (uint16_t)i);
        bool ends = node->kind == NODE_COMPARE || node->kind == NODE_BETWEEN || node->kind == NODE_IN || node->is_condition;
        if (!ends || !findings->found)
            continue;
        bool value_first = findings->first[CATEGORY_VALUE].found && findings->first[CATEGORY_VALUE].at < findings->first[CATEGORY_NAME].at;
        TRY(expr_findings_report(findings, undefined[value_first], 2));
        return expr_findings_report(findings, order, sizeof order / sizeof order[0]);
    }
    return FAULT_NONE;
}

static enum fault check_condition(struct expr_parse *parse) MUST_USE;
static enum fault check_condition(struct expr_parse *parse)
{
    static const enum expr_category order[] = {CATEGORY_FUNCTION_NAME, CATEGORY_FUNCTION_PLACE, CATEGORY_RESERVED, CATEGORY_OPERATORS};
    struct expr_findings findings = {.parse = parse};
    expr_find_in_tree(&findings);
    TRY(expr_findings_report(&findings, order, sizeof order / sizeof order[0]));
    return check_primitives(&findings);
}

static enum fault check_projection(struct expr_parse *parse) MUST_USE;
static enum fault check_projection(struct expr_parse *parse)
{
    static const enum expr_category order[] = {CATEGORY_RESERVED, CATEGORY_NAME};
    struct expr_findings findings = {.parse = parse};
    expr_find_in_tree(&findings);
    for (uint32_t i = 1; i < parse->node_count; i++)
        expr_find_undefined(&findings, (uint16_t)i);
    TRY(expr_findings_report(&findings, order, sizeof order / sizeof order[0]));
    return expr_paths_check(parse);
}

enum fault expr_check(struct expr_parse *parse)
{
    switch (parse->kind) {
    case EXPR_UPDATE:
        return expr_check_update(parse);
    case EXPR_PROJECTION:
        return check_projection(parse);
    case EXPR_KEY_CONDITION:
        TRY(check_condition(parse));
        return expr_check_key_condition(parse);
    default:
        return check_condition(parse);
    }
}
