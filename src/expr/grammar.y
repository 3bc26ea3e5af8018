/* The grammar of condition, update and projection expressions (reference expressions.md section 2). A key condition and a
   filter are conditions by syntax.

   What a parenthesis holds is known only behind it: `(f(a))` may go on as an operand or stand as a condition. So a call, in any
   number of parentheses, is a symbol of its own, and becomes a condition only where no further `)` follows it. */
%name expr_lemon_
%token_prefix TOKEN_
%token_type {uint16_t}
%default_type {uint16_t}
%extra_argument {struct expr_parse *parse}
/* Each token puts at most one entry on the stack, and a text has no more than EXPR_TEXT_MAX tokens. */
%stack_size 4104

%include {
#define NDEBUG /* lemon's tracing has a global variable */
#define expr_lemon__ENGINEALWAYSONSTACK
#include "expr/expr_internal.h"
#include "expr/grammar.h"
}

%syntax_error {
    (void)yymajor;
    (void)yyminor;
    parse->is_broken = true;
}

%stack_overflow {
    parse->is_broken = true;
}

%nonassoc CALL_IS_CONDITION.
%nonassoc CLOSE.
%token STRAY.

start ::= BEGIN_CONDITION condition(A). { parse->root = A; }
start ::= BEGIN_UPDATE sections.
start ::= BEGIN_PROJECTION projection(A). { parse->root = A; }

condition(A) ::= conjunction(A).
condition(A) ::= condition(B) OR(T) conjunction(C). { A = expr_node_join(parse, NODE_OR, T, B, C); }
conjunction(A) ::= negation(A).
conjunction(A) ::= conjunction(B) AND(T) negation(C). { A = expr_node_join(parse, NODE_AND, T, B, C); }
negation(A) ::= primitive(A).
negation(A) ::= NOT(T) negation(B). { A = expr_node_operator(parse, NODE_NOT, T, 1, B, 0, 0); }

primitive(A) ::= operand(B) comparator(T) operand(C). { A = expr_node_operator(parse, NODE_COMPARE, T, 2, B, C, 0); }
primitive(A) ::= operand(B) BETWEEN(T) operand(C) AND operand(D). { A = expr_node_operator(parse, NODE_BETWEEN, T, 3, B, C, D); }
primitive(A) ::= operand(B) IN(T) OPEN operands(C) CLOSE. { A = expr_node_in(parse, T, B, C); }
primitive(A) ::= call(A). [CALL_IS_CONDITION] { expr_node_at(parse, A)->is_condition = true; }
primitive(A) ::= OPEN condition(B) CLOSE. { A = expr_node_parenthesise(parse, B); }

comparator(A) ::= EQUAL(A).
comparator(A) ::= NOT_EQUAL(A).
comparator(A) ::= LESS(A).
comparator(A) ::= LESS_EQUAL(A).
comparator(A) ::= GREATER(A).
comparator(A) ::= GREATER_EQUAL(A).

operand(A) ::= plain(A).
operand(A) ::= call(A).
plain(A) ::= path(A).
plain(A) ::= value(A).
plain(A) ::= OPEN plain(B) CLOSE. { A = expr_node_parenthesise(parse, B); }
value(A) ::= VALUE(T). { A = expr_node_new(parse, NODE_VALUE, T); }
call(A) ::= NAME(T) OPEN operands(B) CLOSE. { A = expr_node_call(parse, T, B); }
call(A) ::= OPEN call(B) CLOSE. { A = expr_node_parenthesise(parse, B); }

/* Lists of nodes are the first one, linked by `next`. */
operands(A) ::= operand(A).
operands(A) ::= operands(A) COMMA operand(B). { expr_node_append(parse, A, B); }

path(A) ::= NAME(T). { A = expr_node_path(parse, T); }
path(A) ::= NAME_PLACEHOLDER(T). { A = expr_node_path(parse, T); }
path(A) ::= path(A) DOT NAME(T). { expr_node_extend(parse, A, T); }
path(A) ::= path(A) DOT NAME_PLACEHOLDER(T). { expr_node_extend(parse, A, T); }
path(A) ::= path(A) OPEN_INDEX INDEX(T) CLOSE_INDEX. { expr_node_extend(parse, A, T); }

sections ::= section.
sections ::= sections section.
section ::= SET(T) assignments. { expr_section_end(parse, T); }
section ::= REMOVE(T) removals. { expr_section_end(parse, T); }
section ::= ADD(T) additions. { expr_section_end(parse, T); }
section ::= DELETE(T) deletions. { expr_section_end(parse, T); }

assignments ::= assignment.
assignments ::= assignments COMMA assignment.
assignment ::= path(A) EQUAL new_value(B). { expr_node_action(parse, NODE_SET, A, B); }
new_value(A) ::= operand(A).
new_value(A) ::= sum(A).
sum(A) ::= operand(B) PLUS(T) operand(C). { A = expr_node_operator(parse, NODE_SUM, T, 2, B, C, 0); }
sum(A) ::= operand(B) MINUS(T) operand(C). { A = expr_node_operator(parse, NODE_SUM, T, 2, B, C, 0); }
sum(A) ::= OPEN sum(B) CLOSE. { A = expr_node_parenthesise(parse, B); }

removals ::= removal.
removals ::= removals COMMA removal.
removal ::= path(A). { expr_node_action(parse, NODE_REMOVE, A, 0); }

additions ::= addition.
additions ::= additions COMMA addition.
addition ::= path(A) value(B). { expr_node_action(parse, NODE_ADD, A, B); }

deletions ::= deletion.
deletions ::= deletions COMMA deletion.
deletion ::= path(A) value(B). { expr_node_action(parse, NODE_DELETE, A, B); }

projection(A) ::= path(A).
projection(A) ::= projection(A) COMMA path(B). { expr_node_append(parse, A, B); }

%code {
/* Feeds the tokens; returns the place of the one that cannot stand where it does, or the count and one when all is well. */
uint32_t expr_grammar_run(struct expr_parse *parse, uint8_t begin)
{
    yyParser parser;
    expr_lemon_Init(&parser);
    expr_lemon_(&parser, begin, 0, parse);
    uint32_t at = 0;
    for (; at <= parse->token_count; at++) {
        expr_lemon_(&parser, parse->tokens[at].kind, (uint16_t)at, parse);
        if (parse->is_broken)
            break;
    }
    return at;
}
}
