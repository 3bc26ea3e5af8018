/* Key conditions: what Query may ask of keys, as far as it can be told without the table, and the conditions taken out of a program. */
#include "expr/check_internal.h"
#include "expr/grammar.h"

enum { CONDITIONS_MAX = EXPR_OPERATORS_MAX + 1 };

struct key_check {
    struct expr_parse *parse;
    uint16_t paths[CONDITIONS_MAX]; /* of the conditions so far */
    size_t count;
};

static enum fault refuse_operator(const struct key_check *check, str name)
{
    return fail_reworded(check->parse->call, "Invalid operator used in KeyConditionExpression: %.*s", STR_ARG(name));
}

static enum fault check_operator(const struct key_check *check, const struct expr_node *node) MUST_USE;
static enum fault check_operator(const struct key_check *check, const struct expr_node *node)
{
    switch ((enum expr_node_kind)node->kind) {
    case NODE_OR:
        return refuse_operator(check, STR("OR"));
    case NODE_NOT:
        return refuse_operator(check, STR("NOT"));
    case NODE_IN:
        return refuse_operator(check, STR("IN"));
    case NODE_COMPARE:
        if (check->parse->tokens[node->token].kind == TOKEN_NOT_EQUAL)
            return refuse_operator(check, STR("<>"));
        return FAULT_NONE;
    case NODE_CALL:
        if (node->function != FUNCTION_BEGINS_WITH)
            return refuse_operator(check, expr_token_text(check->parse, node->token));
        return FAULT_NONE;
    default:
        return FAULT_NONE;
    }
}

static enum fault find_key(const struct key_check *check, const struct expr_node *node, uint16_t *path) MUST_USE;
static enum fault find_key(const struct key_check *check, const struct expr_node *node, uint16_t *path)
{
    const struct expr_parse *parse = check->parse;
    *path = 0;
    for (uint16_t child = node->first; child != 0; child = expr_node_at(parse, child)->next) {
        const struct expr_node *operand = expr_node_at(parse, child);
        if (operand->kind == NODE_CALL)
            return fail_reworded(parse->call, "KeyConditionExpressions cannot contain nested operations");
        if (operand->kind != NODE_PATH)
            continue;
        if (*path != 0)
            return fail_reworded(parse->call, "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition");
        if (operand->count > 1)
            return fail_reworded(parse->call, "KeyConditionExpressions cannot have conditions on nested attributes");
        *path = child;
    }
    return FAULT_NONE;
}

static enum fault check_one(struct key_check *check, const struct expr_node *node) MUST_USE;
static enum fault check_one(struct key_check *check, const struct expr_node *node)
{
    const struct expr_parse *parse = check->parse;
    TRY(check_operator(check, node));
    bool key_leads = node->kind == NODE_BETWEEN || node->kind == NODE_CALL;
    if (key_leads && expr_node_at(parse, node->first)->kind != NODE_PATH)
        return fail_reworded(parse->call, "Invalid condition in KeyConditionExpression: %.*s operator must have the key attribute as its first operand",
                             STR_ARG(node->kind == NODE_CALL ? STR("begins_with") : STR("BETWEEN")));
    uint16_t path;
    TRY(find_key(check, node, &path));
    if (path == 0)
        return fail_reworded(parse->call, "Invalid condition in KeyConditionExpression: No key attribute specified");
    for (size_t i = 0; i < check->count; i++) {
        /* With the prefix since 2026 (public suite Parity, queryKeyConditionOperands). */
        if (expr_path_equal(parse, check->paths[i], path))
            return fail_reworded(parse->call, "%sKeyConditionExpressions must only contain one condition per key",
                                 parse->call->wording == WORDING_CLASSIC ? "" : "Invalid KeyConditionExpression: ");
    }
    check->paths[check->count++] = path;
    return FAULT_NONE;
}

/* Only ANDs may nest, and a chain of them is one node but for parentheses, of which at most one is around each operator. */
static enum fault check_node(struct key_check *check, uint16_t node) MUST_USE;
static enum fault check_node(struct key_check *check, uint16_t node)
{
    const struct expr_node *condition = expr_node_at(check->parse, node);
    if (condition->kind != NODE_AND)
        return check_one(check, condition);
    for (uint16_t child = condition->first; child != 0; child = expr_node_at(check->parse, child)->next)
        TRY(check_node(check, child));
    return FAULT_NONE;
}

enum fault expr_check_key_condition(struct expr_parse *parse)
{
    struct key_check *check = ARENA_NEW(&parse->call->arena, struct key_check);
    check->parse = parse;
    return check_node(check, parse->root);
}

static bool take_operand(str *rest, str *path, str *v)
{
    if (rest->len > 0 && (uint8_t)rest->data[0] == OP_PATH) {
        *rest = str_from(*rest, 1);
        return expr_take_path(rest, path);
    }
    return value_take(rest, v);
}

static enum expr_key_comparison operator_of(uint8_t opcode, bool is_mirrored)
{
    switch (opcode) {
    case OP_LESS:
        return is_mirrored ? EXPR_KEY_GREATER : EXPR_KEY_LESS;
    case OP_LESS_EQUAL:
        return is_mirrored ? EXPR_KEY_GREATER_EQUAL : EXPR_KEY_LESS_EQUAL;
    case OP_GREATER:
        return is_mirrored ? EXPR_KEY_LESS : EXPR_KEY_GREATER;
    case OP_GREATER_EQUAL:
        return is_mirrored ? EXPR_KEY_LESS_EQUAL : EXPR_KEY_GREATER_EQUAL;
    case OP_BETWEEN:
        return EXPR_KEY_BETWEEN;
    case OP_BEGINS_WITH:
        return EXPR_KEY_BEGINS_WITH;
    case OP_NOT_EQUAL:
        return EXPR_KEY_OTHER;
    default:
        return EXPR_KEY_EQUAL;
    }
}

bool expr_key_conditions_next(struct expr_key_conditions *walk, struct expr_key_condition *out)
{
    uint64_t number;
    while (walk->rest.len > 0 && (uint8_t)walk->rest.data[0] == OP_AND) {
        walk->rest = str_from(walk->rest, 1);
        if (!varint_take(&walk->rest, &number) || !varint_take(&walk->rest, &number))
            return false;
    }
    if (walk->rest.len == 0)
        return false;
    uint8_t opcode = (uint8_t)walk->rest.data[0];
    walk->rest = str_from(walk->rest, 1);
    *out = (struct expr_key_condition){0};
    str path = STR_NONE;
    bool is_mirrored = false;
    unsigned operands = opcode == OP_BETWEEN ? 3 : 2;
    unsigned values = 0;
    for (unsigned i = 0; i < operands; i++) {
        str v = STR_NONE;
        if (!take_operand(&walk->rest, &path, &v))
            return false;
        if (v.len > 0) {
            is_mirrored = is_mirrored || i == 0;
            if (values < 2)
                out->values[values++] = v;
        }
    }
    struct expr_path_reader reader = expr_path_reader_open(path);
    struct expr_element element;
    if (!expr_path_reader_next(&reader, &element))
        return false;
    out->attribute = element.name;
    out->comparison = operator_of(opcode, is_mirrored);
    return true;
}

struct expr_key_conditions expr_key_conditions_open(str program)
{
    return (struct expr_key_conditions){.rest = expr_program_body(program, EXPR_KEY_CONDITION)};
}
