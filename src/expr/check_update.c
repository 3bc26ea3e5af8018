/* What is wrong with an update's tree by itself, in DynamoDB's order. */
#include "expr/check_internal.h"
#include "expr/grammar.h"

static void find_repeated_section(struct expr_findings *findings)
{
    uint16_t token = findings->parse->repeated_section;
    if (token == 0)
        return;
    uint8_t kind = findings->parse->tokens[token].kind;
    const char *name = kind == TOKEN_SET ? "SET" : kind == TOKEN_REMOVE ? "REMOVE" : kind == TOKEN_ADD ? "ADD" : "DELETE";
    expr_find(findings, CATEGORY_SECTION, token, "The \"%s\" section can only be used once in an update expression;", name);
}

static const char *long_type_name(str v)
{
    switch (value_type(v)) {
    case VALUE_S:
        return "STRING";
    case VALUE_N:
        return "NUMBER";
    case VALUE_B:
        return "BINARY";
    case VALUE_TRUE:
    case VALUE_FALSE:
        return "BOOLEAN";
    case VALUE_NULL:
        return "NULL";
    case VALUE_L:
        return "LIST";
    default:
        return "MAP";
    }
}

/* ADD takes numbers and sets, DELETE sets. The tail about the set of types is newer than the reference: AWS and DynamoDB Local show it. */
static void find_in_action(struct expr_findings *findings, uint16_t node)
{
    const struct expr_parse *parse = findings->parse;
    const struct expr_node *action = expr_node_at(parse, node);
    const struct expr_node *operand = expr_node_at(parse, action->last);
    if (parse->tokens[operand->token].entry == EXPR_NO_ENTRY)
        return;
    str v = expr_node_value(parse, operand);
    if (value_is_set(v) || (action->kind == NODE_ADD && value_type(v) == VALUE_N))
        return;
    const char *name = action->kind == NODE_ADD ? "ADD" : "DELETE";
    expr_find(findings, CATEGORY_ACTION_TYPE, node,
              "Incorrect operand type for operator or function; operator: %s, operand type: %s, typeSet: ALLOWED_FOR_%s_OPERAND", name, long_type_name(v), name);
}

static void find_in_sum(struct expr_findings *findings, uint16_t node)
{
    const struct expr_parse *parse = findings->parse;
    const struct expr_node *sum = expr_node_at(parse, node);
    for (uint16_t child = sum->first; child != 0; child = expr_node_at(parse, child)->next) {
        str type = expr_static_type(parse, child);
        if (type.len > 0 && !str_equal(type, STR("N")))
            expr_find_type(findings, node, expr_token_text(parse, sum->token), type);
    }
}

static void find_in_node(struct expr_findings *findings, uint16_t node)
{
    switch ((enum expr_node_kind)expr_node_at(findings->parse, node)->kind) {
    case NODE_CALL:
        expr_find_in_call(findings, node, CATEGORY_TYPE);
        break;
    case NODE_SUM:
        find_in_sum(findings, node);
        break;
    case NODE_ADD:
    case NODE_DELETE:
        find_in_action(findings, node);
        break;
    default:
        expr_find_undefined(findings, node);
        break;
    }
}

enum fault expr_check_update(struct expr_parse *parse)
{
    static const enum expr_category before_paths[] = {CATEGORY_RESERVED,  CATEGORY_FUNCTION_NAME, CATEGORY_FUNCTION_PLACE, CATEGORY_OPERATORS,
                                                      CATEGORY_SECTION, CATEGORY_NAME,          CATEGORY_VALUE};
    static const enum expr_category behind_paths[] = {CATEGORY_ACTION_TYPE, CATEGORY_DISTINCT, CATEGORY_TYPE};
    struct expr_findings findings = {.parse = parse};
    expr_find_in_tree(&findings);
    find_repeated_section(&findings);
    for (uint32_t i = 1; i < parse->node_count; i++)
        find_in_node(&findings, (uint16_t)i);
    TRY(expr_findings_report(&findings, before_paths, sizeof before_paths / sizeof before_paths[0]));
    TRY(expr_paths_check(parse));
    return expr_findings_report(&findings, behind_paths, sizeof behind_paths / sizeof behind_paths[0]);
}
