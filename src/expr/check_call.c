/* Checks of function calls and of single operands, shared by conditions and updates. */
#include "expr/check_internal.h"

void expr_find_type(struct expr_findings *findings, uint16_t node, str name, str type)
{
    expr_find(findings, CATEGORY_TYPE, node, "Incorrect operand type for operator or function; operator or function: %.*s, operand type: %.*s",
              STR_ARG(name), STR_ARG(type));
}

void expr_find_same(struct expr_findings *findings, uint16_t node, str name)
{
    const struct expr_parse *parse = findings->parse;
    uint16_t first = expr_node_at(parse, node)->first;
    if (expr_node_at(parse, first)->kind != NODE_PATH)
        return;
    for (uint16_t other = expr_node_at(parse, first)->next; other != 0; other = expr_node_at(parse, other)->next) {
        if (expr_node_at(parse, other)->kind != NODE_PATH || !expr_path_equal(parse, first, other))
            continue;
        expr_find(findings, CATEGORY_DISTINCT, node,
                  "The first operand must be distinct from the remaining operands for this operator or function; operator: %.*s, first operand: %.*s",
                  STR_ARG(name), STR_ARG(expr_path_show(parse, first)));
        return;
    }
}

static void find_missing_path(struct expr_findings *findings, uint16_t node, str name)
{
    if (expr_node_at(findings->parse, expr_node_at(findings->parse, node)->first)->kind != NODE_PATH)
        expr_find(findings, CATEGORY_TYPE, node, "Operator or function requires a document path; operator or function: %.*s", STR_ARG(name));
}

/* Operands whose type is known and is none of `allowed`. */
static void find_types(struct expr_findings *findings, uint16_t node, str name, const char *const *allowed)
{
    const struct expr_parse *parse = findings->parse;
    for (uint16_t child = expr_node_at(parse, node)->first; child != 0; child = expr_node_at(parse, child)->next) {
        str type = expr_static_type(parse, child);
        bool is_allowed = type.len == 0;
        for (size_t i = 0; !is_allowed && allowed[i]; i++)
            is_allowed = str_equal(type, str_of_text(allowed[i]));
        if (!is_allowed)
            expr_find_type(findings, node, name, type);
    }
}

static void find_in_attribute_type(struct expr_findings *findings, uint16_t node, str name)
{
    static const char *const known[] = {"B", "NULL", "SS", "BOOL", "L", "BS", "N", "NS", "S", "M"};
    const struct expr_parse *parse = findings->parse;
    uint16_t second = expr_node_at(parse, expr_node_at(parse, node)->first)->next;
    str type = expr_static_type(parse, second);
    if (type.len == 0) {
        /* An undefined value is a finding of its own, and comes first. */
        if (expr_node_at(parse, second)->kind == NODE_PATH)
            expr_find_type(findings, node, name, STR("{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"));
        return;
    }
    if (!str_equal(type, STR("S"))) {
        expr_find_type(findings, node, name, type);
        return;
    }
    str wanted = value_scalar(expr_node_value(parse, expr_node_at(parse, second)));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (str_equal(wanted, str_of_text(known[i])))
            return;
    }
    expr_find(findings, CATEGORY_TYPE, node, "Invalid attribute type name found; type: %.*s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}", STR_ARG(wanted));
}

static unsigned operands_of(enum expr_function function)
{
    switch (function) {
    case FUNCTION_ATTRIBUTE_EXISTS:
    case FUNCTION_ATTRIBUTE_NOT_EXISTS:
    case FUNCTION_SIZE:
        return 1;
    default:
        return 2;
    }
}

static void find_in_operands(struct expr_findings *findings, uint16_t node, str name, enum expr_function function)
{
    static const char *const texts[] = {"S", "B", NULL};
    static const char *const sized[] = {"S", "B", "SS", "NS", "BS", "L", "M", NULL};
    static const char *const lists[] = {"L", NULL};
    if (function != FUNCTION_LIST_APPEND)
        expr_find_same(findings, node, name);
    switch (function) {
    case FUNCTION_ATTRIBUTE_EXISTS:
    case FUNCTION_ATTRIBUTE_NOT_EXISTS:
    case FUNCTION_IF_NOT_EXISTS:
        find_missing_path(findings, node, name);
        break;
    case FUNCTION_ATTRIBUTE_TYPE:
        find_in_attribute_type(findings, node, name);
        break;
    case FUNCTION_BEGINS_WITH:
        find_types(findings, node, name, texts);
        break;
    case FUNCTION_SIZE:
        find_types(findings, node, name, sized);
        break;
    case FUNCTION_LIST_APPEND:
        find_types(findings, node, name, lists);
        break;
    case FUNCTION_CONTAINS:
    case FUNCTION_UNKNOWN:
        break;
    }
}

void expr_find_in_call(struct expr_findings *findings, uint16_t node, enum expr_category count_category)
{
    const struct expr_node *call = expr_node_at(findings->parse, node);
    str name = expr_token_text(findings->parse, call->token);
    if (call->count != operands_of(call->function))
        expr_find(findings, count_category, node,
                  "Incorrect number of operands for operator or function; operator or function: %.*s, number of operands: %u", STR_ARG(name), call->count);
    else
        find_in_operands(findings, node, name, call->function);
}
