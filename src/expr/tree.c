/* Expression text to a tree: the nodes that the grammar asks for, and the errors of size and syntax. */
#include "expr/expr_internal.h"
#include "expr/grammar.h"

#include <assert.h>

const char *expr_kind_name(enum expr_kind kind)
{
    static const char *const names[EXPR_KINDS] = {
        [EXPR_UPDATE] = "UpdateExpression",
        [EXPR_CONDITION] = "ConditionExpression",
        [EXPR_KEY_CONDITION] = "KeyConditionExpression",
        [EXPR_FILTER] = "FilterExpression",
        [EXPR_PROJECTION] = "ProjectionExpression",
    };
    return names[kind];
}

uint16_t expr_node_new(struct expr_parse *parse, enum expr_node_kind kind, uint16_t token)
{
    uint16_t node = (uint16_t)parse->node_count++;
    parse->nodes[node] = (struct expr_node){.kind = (uint8_t)kind, .token = token};
    return node;
}

static void adopt(struct expr_parse *parse, uint16_t parent, uint16_t child)
{
    struct expr_node *node = expr_node_at(parse, parent);
    if (node->first == 0)
        node->first = child;
    else
        expr_node_at(parse, node->last)->next = child;
    node->last = child;
    node->count++;
}

static void adopt_list(struct expr_parse *parse, uint16_t parent, uint16_t list)
{
    uint16_t next;
    for (uint16_t child = list; child != 0; child = next) {
        next = expr_node_at(parse, child)->next;
        adopt(parse, parent, child);
    }
}

uint16_t expr_node_operator(struct expr_parse *parse, enum expr_node_kind kind, uint16_t token, unsigned count, uint16_t a, uint16_t b, uint16_t c)
{
    uint16_t node = expr_node_new(parse, kind, token);
    const uint16_t children[] = {a, b, c};
    for (unsigned i = 0; i < count; i++)
        adopt(parse, node, children[i]);
    return node;
}

/* a AND b AND c is one node, so that a long chain nests no deeper than a short one. */
uint16_t expr_node_join(struct expr_parse *parse, enum expr_node_kind kind, uint16_t token, uint16_t left, uint16_t right)
{
    const struct expr_node *before = expr_node_at(parse, left);
    parse->joins++;
    if (before->kind != kind || before->is_parenthesised)
        return expr_node_operator(parse, kind, token, 2, left, right, 0);
    adopt(parse, left, right);
    return left;
}

uint16_t expr_node_in(struct expr_parse *parse, uint16_t token, uint16_t operand, uint16_t list)
{
    uint16_t node = expr_node_new(parse, NODE_IN, token);
    adopt(parse, node, operand);
    adopt_list(parse, node, list);
    return node;
}

static enum expr_function function_named(str name)
{
    static const struct {
        const char *name;
        enum expr_function function;
    } known[] = {
        {"attribute_exists", FUNCTION_ATTRIBUTE_EXISTS},
        {"attribute_not_exists", FUNCTION_ATTRIBUTE_NOT_EXISTS},
        {"attribute_type", FUNCTION_ATTRIBUTE_TYPE},
        {"begins_with", FUNCTION_BEGINS_WITH},
        {"contains", FUNCTION_CONTAINS},
        {"size", FUNCTION_SIZE},
        {"if_not_exists", FUNCTION_IF_NOT_EXISTS},
        {"list_append", FUNCTION_LIST_APPEND},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (str_equal(name, str_of_text(known[i].name)))
            return known[i].function;
    }
    return FUNCTION_UNKNOWN;
}

uint16_t expr_node_call(struct expr_parse *parse, uint16_t token, uint16_t arguments)
{
    uint16_t node = expr_node_new(parse, NODE_CALL, token);
    expr_node_at(parse, node)->function = (uint8_t)function_named(expr_token_text(parse, token));
    adopt_list(parse, node, arguments);
    return node;
}

uint16_t expr_node_path(struct expr_parse *parse, uint16_t token)
{
    uint16_t node = expr_node_new(parse, NODE_PATH, token);
    expr_node_extend(parse, node, token);
    return node;
}

void expr_node_extend(struct expr_parse *parse, uint16_t path, uint16_t token)
{
    struct expr_node *node = expr_node_at(parse, path);
    node->end = (uint16_t)(token + 1);
    node->count++;
}

void expr_node_append(struct expr_parse *parse, uint16_t list, uint16_t node)
{
    struct expr_node *first = expr_node_at(parse, list);
    expr_node_at(parse, first->tail != 0 ? first->tail : list)->next = node;
    first->tail = node;
}

uint16_t expr_node_parenthesise(struct expr_parse *parse, uint16_t node)
{
    struct expr_node *inner = expr_node_at(parse, node);
    if (inner->is_parenthesised)
        parse->is_redundant = true;
    inner->is_parenthesised = true;
    return node;
}

void expr_node_action(struct expr_parse *parse, enum expr_node_kind kind, uint16_t path, uint16_t value)
{
    uint16_t node = expr_node_new(parse, kind, expr_node_at(parse, path)->token);
    adopt(parse, node, path);
    if (value != 0)
        adopt(parse, node, value);
    if (parse->last_action == 0)
        parse->root = node;
    else
        expr_node_at(parse, parse->last_action)->next = node;
    parse->last_action = node;
    parse->action_count++;
}

void expr_section_end(struct expr_parse *parse, uint16_t token)
{
    uint8_t kind = parse->tokens[token].kind;
    uint8_t bit = kind == TOKEN_SET ? 1 : kind == TOKEN_REMOVE ? 2 : kind == TOKEN_ADD ? 4 : 8;
    if ((parse->sections_seen & bit) && parse->repeated_section == 0)
        parse->repeated_section = token;
    parse->sections_seen |= bit;
}

/* The token with its neighbours, as they stand in the text (reference section 6). */
static enum fault refuse_token(const struct expr_parse *parse, uint32_t at)
{
    const struct expr_token *token = &parse->tokens[at];
    size_t from = at > 0 ? parse->tokens[at - 1].start : 0;
    size_t to = at < parse->token_count ? parse->tokens[at + 1].end : token->end;
    str text = at < parse->token_count ? expr_token_text(parse, (uint16_t)at) : STR("<EOF>");
    return fail_reworded(parse->call, "Invalid %s: Syntax error; token: \"%.*s\", near: \"%.*s\"", expr_kind_name(parse->kind), STR_ARG(text),
                         STR_ARG(str_of(parse->text.data + from, to - from)));
}

enum fault expr_parse_text(struct expr_parse *parse)
{
    const char *name = expr_kind_name(parse->kind);
    if (parse->text.len == 0)
        return fail_reworded(parse->call, "Invalid %s: The expression can not be empty;", name);
    if (parse->text.len > EXPR_TEXT_MAX)
        return fail_reworded(parse->call, "Invalid %s: Expression size has exceeded the maximum allowed size; expression size: %zu", name, parse->text.len);
    struct arena *arena = &parse->call->arena;
    parse->text.data = arena_copy_text(arena, parse->text);
    parse->tokens = arena_alloc(arena, (parse->text.len + 1) * sizeof parse->tokens[0]);
    parse->token_count = expr_scan(parse->text.data, parse->text.len, parse->tokens);
    /* Each node has a token of its own: a path its first name, an action the keyword or comma before it. */
    parse->nodes = arena_alloc(arena, (parse->token_count + 1) * sizeof parse->nodes[0]);
    parse->nodes[0] = (struct expr_node){0};
    parse->node_count = 1;
    uint8_t begin = parse->kind == EXPR_UPDATE ? TOKEN_BEGIN_UPDATE : parse->kind == EXPR_PROJECTION ? TOKEN_BEGIN_PROJECTION : TOKEN_BEGIN_CONDITION;
    uint32_t at = expr_grammar_run(parse, begin);
    /* Seen before the token that broke it, so said before that: public suite dynalite, FilterExpression `((b.c)).d`. */
    if (parse->is_redundant)
        return fail_reworded(parse->call, "Invalid %s: The expression has redundant parentheses;", name);
    if (parse->is_broken)
        return refuse_token(parse, at);
    return FAULT_NONE;
}
