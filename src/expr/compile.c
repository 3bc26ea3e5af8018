/* A checked tree to a program. */
#include "expr/expr_internal.h"
#include "expr/grammar.h"

#include <assert.h>

static void compile_path(const struct expr_parse *parse, uint16_t node, struct buf *out)
{
    struct expr_path_walk walk = expr_path_walk_open(parse, node);
    struct expr_element element;
    buf_add_varint(out, expr_node_at(parse, node)->count);
    while (expr_path_walk_next(&walk, &element))
        expr_write_element(out, &element);
}

/* Recursion is as deep as functions and sums nest: at most EXPR_OPERATORS_MAX. */
static void compile_operand(const struct expr_parse *parse, uint16_t node, struct buf *out)
{
    const struct expr_node *operand = expr_node_at(parse, node);
    switch ((enum expr_node_kind)operand->kind) {
    case NODE_VALUE:
        buf_add_str(out, expr_node_value(parse, operand));
        return;
    case NODE_PATH:
        buf_add_byte(out, OP_PATH);
        compile_path(parse, node, out);
        return;
    case NODE_SUM:
        buf_add_byte(out, parse->tokens[operand->token].kind == TOKEN_PLUS ? OP_PLUS : OP_MINUS);
        break;
    case NODE_CALL:
        if (operand->function == FUNCTION_IF_NOT_EXISTS) {
            buf_add_byte(out, OP_IF_NOT_EXISTS);
            compile_path(parse, operand->first, out);
            compile_operand(parse, operand->last, out);
            return;
        }
        buf_add_byte(out, operand->function == FUNCTION_SIZE ? OP_SIZE : OP_LIST_APPEND);
        break;
    default:
        assert(false && "an operand");
        return;
    }
    for (uint16_t child = operand->first; child != 0; child = expr_node_at(parse, child)->next)
        compile_operand(parse, child, out);
}

/* A body with its length before it. What is written between the two calls is moved once, by the length's bytes. */
static void close_body(struct buf *out, size_t start)
{
    size_t bytes = out->len - start;
    size_t head = varint_size(bytes);
    buf_reserve(out, head);
    memmove(out->data + start + head, out->data + start, bytes);
    varint_put((uint8_t *)out->data + start, bytes);
    out->len += head;
}

static uint32_t mask_of_type(str name)
{
    static const struct {
        const char *name;
        uint32_t mask;
    } types[] = {
        {"S", 1u << VALUE_S},   {"N", 1u << VALUE_N},   {"B", 1u << VALUE_B},   {"BOOL", 1u << VALUE_TRUE | 1u << VALUE_FALSE},
        {"SS", 1u << VALUE_SS}, {"NS", 1u << VALUE_NS}, {"BS", 1u << VALUE_BS}, {"NULL", 1u << VALUE_NULL},
        {"L", 1u << VALUE_L},   {"M", 1u << VALUE_M},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (str_equal(name, str_of_text(types[i].name)))
            return types[i].mask;
    }
    assert(false && "a type that was checked");
    return 0;
}

static void compile_call(const struct expr_parse *parse, const struct expr_node *call, struct buf *out)
{
    switch ((enum expr_function)call->function) {
    case FUNCTION_ATTRIBUTE_EXISTS:
    case FUNCTION_ATTRIBUTE_NOT_EXISTS:
        buf_add_byte(out, call->function == FUNCTION_ATTRIBUTE_EXISTS ? OP_EXISTS : OP_NOT_EXISTS);
        compile_path(parse, call->first, out);
        break;
    case FUNCTION_ATTRIBUTE_TYPE:
        buf_add_byte(out, OP_TYPE);
        buf_add_varint(out, mask_of_type(value_scalar(expr_node_value(parse, expr_node_at(parse, call->last)))));
        compile_operand(parse, call->first, out);
        break;
    case FUNCTION_BEGINS_WITH:
    case FUNCTION_CONTAINS:
        buf_add_byte(out, call->function == FUNCTION_BEGINS_WITH ? OP_BEGINS_WITH : OP_CONTAINS);
        compile_operand(parse, call->first, out);
        compile_operand(parse, call->last, out);
        break;
    default:
        assert(false && "a function that can be a condition");
    }
}

static void compile_comparison(const struct expr_parse *parse, const struct expr_node *node, struct buf *out)
{
    static const uint8_t opcodes[] = {
        [TOKEN_EQUAL] = OP_EQUAL,           [TOKEN_NOT_EQUAL] = OP_NOT_EQUAL, [TOKEN_LESS] = OP_LESS,
        [TOKEN_LESS_EQUAL] = OP_LESS_EQUAL, [TOKEN_GREATER] = OP_GREATER,     [TOKEN_GREATER_EQUAL] = OP_GREATER_EQUAL,
    };
    buf_add_byte(out, node->kind == NODE_BETWEEN ? OP_BETWEEN : opcodes[parse->tokens[node->token].kind]);
    for (uint16_t child = node->first; child != 0; child = expr_node_at(parse, child)->next)
        compile_operand(parse, child, out);
}

static void compile_in(const struct expr_parse *parse, const struct expr_node *node, struct buf *out)
{
    buf_add_byte(out, OP_IN);
    size_t start = out->len;
    compile_operand(parse, node->first, out);
    for (uint16_t child = expr_node_at(parse, node->first)->next; child != 0; child = expr_node_at(parse, child)->next)
        compile_operand(parse, child, out);
    close_body(out, start);
}

static void compile_condition(const struct expr_parse *parse, uint16_t node, struct buf *out)
{
    const struct expr_node *condition = expr_node_at(parse, node);
    switch ((enum expr_node_kind)condition->kind) {
    case NODE_AND:
    case NODE_OR: {
        buf_add_byte(out, condition->kind == NODE_AND ? OP_AND : OP_OR);
        size_t start = out->len;
        buf_add_varint(out, condition->count);
        for (uint16_t child = condition->first; child != 0; child = expr_node_at(parse, child)->next)
            compile_condition(parse, child, out);
        close_body(out, start);
        break;
    }
    case NODE_NOT:
        buf_add_byte(out, OP_NOT);
        compile_condition(parse, condition->first, out);
        break;
    case NODE_IN:
        compile_in(parse, condition, out);
        break;
    case NODE_CALL:
        compile_call(parse, condition, out);
        break;
    default:
        compile_comparison(parse, condition, out);
        break;
    }
}

static void compile_update(const struct expr_parse *parse, struct buf *out)
{
    size_t start = out->len;
    expr_trie_write(out, parse->paths, parse->path_count);
    close_body(out, start);
    buf_add_varint(out, parse->action_count);
    for (uint16_t node = parse->root; node != 0; node = expr_node_at(parse, node)->next) {
        const struct expr_node *action = expr_node_at(parse, node);
        buf_add_byte(out, (uint8_t)(OP_SET + (action->kind - NODE_SET)));
        compile_path(parse, action->first, out);
        if (action->kind != NODE_REMOVE)
            compile_operand(parse, action->last, out);
    }
}

void expr_compile(const struct expr_parse *parse, struct buf *out)
{
    expr_program_open(out, parse->kind);
    if (parse->kind == EXPR_UPDATE)
        compile_update(parse, out);
    else if (parse->kind == EXPR_PROJECTION)
        expr_trie_write(out, parse->paths, parse->path_count);
    else
        compile_condition(parse, parse->root, out);
}
