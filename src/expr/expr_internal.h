/* Inside expr: tokens, the tree that the grammar builds, the placeholder maps, and the bytes of programs. */
#ifndef STATOR_EXPR_EXPR_INTERNAL_H
#define STATOR_EXPR_EXPR_INTERNAL_H

#include "expr/expr.h"

enum {
    EXPR_TEXT_MAX = 4096,         /* bytes of an expression's text */
    EXPR_OPERATORS_MAX = 300,     /* and function calls */
    EXPR_IN_MAX = 100,            /* operands in the parentheses of IN */
    EXPR_PATH_ELEMENTS_MAX = 32,
    EXPR_PLACEHOLDER_BYTES_MAX = 255,
    EXPR_PLACEHOLDERS_BYTES_MAX = 2 << 20, /* all names and values of a request */
    EXPR_INDEX_MAX = INT32_MAX,
    EXPR_NO_ENTRY = INT32_MAX,
};

/* --- tokens (scan.re) --- */

struct expr_token {
    uint8_t kind;   /* TOKEN_..., 0 at the end of the text */
    uint16_t start; /* first byte in the text, and the byte behind the last */
    uint16_t end;
    uint32_t entry; /* placeholder: its place in the map of names or values, once looked up */
};

/* `text` has a NUL behind its last byte. Fills `tokens` (length + 1 of them at least), the last of kind 0, and returns how many
   there are before that one. */
uint32_t expr_scan(const char *text, size_t length, struct expr_token *tokens);

/* --- placeholder maps (placeholders.c) --- */

struct expr_placeholder {
    str key;   /* with its # or : */
    str value; /* the attribute name, or the value's bytes */
    uint32_t token; /* in the request's JSON */
    bool is_used;
    bool is_replaced; /* JSON may have a key twice: the last counts */
};

struct expr_placeholders {
    struct expr_placeholder *entries;
    uint32_t count;
    uint32_t *sorted; /* places in `entries` by key, once there are many; NULL: a walk is faster. No hash table: its keys would be the client's */
};

/* Both maps with all of their checks; either may be absent. */
enum fault expr_placeholders_read(struct call *call, const struct expr_request *request, struct expr_placeholders *names, struct expr_placeholders *values) MUST_USE;

/* The place of the key, or EXPR_NO_ENTRY. */
uint32_t expr_placeholders_find(const struct expr_placeholders *map, str key);

/* Refuses a map with entries that no expression has used. */
enum fault expr_placeholders_check_used(struct call *call, const char *map_name, const struct expr_placeholders *map) MUST_USE;

/* --- the tree (tree.c, grammar.y) --- */

enum expr_node_kind {
    NODE_NONE,
    NODE_PATH,    /* tokens from `token` to before `end` */
    NODE_VALUE,   /* a :placeholder */
    NODE_CALL,    /* function */
    NODE_COMPARE, /* `token` is the comparator */
    NODE_BETWEEN,
    NODE_IN,
    NODE_AND,     /* any number of children */
    NODE_OR,
    NODE_NOT,
    NODE_SUM,     /* `token` is + or - */
    NODE_SET,     /* actions: a path, and a value but for REMOVE */
    NODE_REMOVE,
    NODE_ADD,
    NODE_DELETE
};

enum expr_function {
    FUNCTION_UNKNOWN,
    FUNCTION_ATTRIBUTE_EXISTS,
    FUNCTION_ATTRIBUTE_NOT_EXISTS,
    FUNCTION_ATTRIBUTE_TYPE,
    FUNCTION_BEGINS_WITH,
    FUNCTION_CONTAINS,
    FUNCTION_SIZE,
    FUNCTION_IF_NOT_EXISTS,
    FUNCTION_LIST_APPEND
};

/* Nodes are named by their place in an array. A primitive condition (a comparison, BETWEEN, IN or a call) lies behind all that it
   consists of and before all of the next one: so the checks walk the array instead of the tree, and no nesting of the
   client's makes them recurse. */
struct expr_node {
    uint8_t kind;
    uint8_t function;
    bool is_condition;     /* a call that stands as a condition */
    bool is_parenthesised;
    uint16_t token;
    uint16_t end;
    uint16_t first; /* child, 0: none */
    uint16_t last;
    uint16_t next;  /* sibling */
    uint16_t count; /* children */
    uint16_t tail;  /* of a list that has no parent yet: its end, in its first node */
};

struct expr_trie_path;

struct expr_parse {
    struct call *call;
    const struct json *json; /* of the request: for values as the client wrote them */
    enum expr_kind kind;
    str text;
    struct expr_token *tokens;
    uint32_t token_count;
    struct expr_node *nodes; /* from 1 */
    uint32_t node_count;     /* with the unused node 0 */
    uint16_t root;           /* condition: the whole; projection: the first path; update: the first action */
    uint16_t last_action;
    uint16_t action_count;
    uint16_t joins;          /* AND and OR in the text: chains are one node */
    uint16_t repeated_section; /* token of the first section keyword that came twice, 0: none */
    uint8_t sections_seen;
    bool is_broken;    /* a token that cannot stand there */
    bool is_redundant; /* a parenthesis directly inside another */
    struct expr_placeholders *names;
    struct expr_placeholders *values;
    struct expr_trie_path *paths; /* update, projection: in the order of the trie */
    uint32_t path_count;
};

static inline struct expr_node *expr_node_at(const struct expr_parse *parse, uint16_t node)
{
    return &parse->nodes[node];
}

uint16_t expr_node_new(struct expr_parse *parse, enum expr_node_kind kind, uint16_t token);
uint16_t expr_node_operator(struct expr_parse *parse, enum expr_node_kind kind, uint16_t token, unsigned count, uint16_t a, uint16_t b, uint16_t c);
uint16_t expr_node_join(struct expr_parse *parse, enum expr_node_kind kind, uint16_t token, uint16_t left, uint16_t right);
uint16_t expr_node_in(struct expr_parse *parse, uint16_t token, uint16_t operand, uint16_t list);
uint16_t expr_node_call(struct expr_parse *parse, uint16_t token, uint16_t arguments);
uint16_t expr_node_path(struct expr_parse *parse, uint16_t token);
void expr_node_extend(struct expr_parse *parse, uint16_t path, uint16_t token);
void expr_node_append(struct expr_parse *parse, uint16_t list, uint16_t node);
uint16_t expr_node_parenthesise(struct expr_parse *parse, uint16_t node);
void expr_node_action(struct expr_parse *parse, enum expr_node_kind kind, uint16_t path, uint16_t value);
void expr_section_end(struct expr_parse *parse, uint16_t token);

/* Generated from grammar.y. `begin` is TOKEN_BEGIN_... Returns the place of the token that cannot stand where it does, when parse->is_broken. */
uint32_t expr_grammar_run(struct expr_parse *parse, uint8_t begin);

/* Text to tree, with the errors of size and syntax. */
enum fault expr_parse_text(struct expr_parse *parse) MUST_USE;

static inline str expr_token_text(const struct expr_parse *parse, uint16_t token)
{
    return str_of(parse->text.data + parse->tokens[token].start, (size_t)(parse->tokens[token].end - parse->tokens[token].start));
}

/* "ConditionExpression" */
const char *expr_kind_name(enum expr_kind kind);

/* --- checks (check.c, check_update.c, paths.c) --- */

/* Everything that is wrong with a tree by itself, in DynamoDB's order. Marks the placeholders it meets as used. */
enum fault expr_check(struct expr_parse *parse) MUST_USE;

/* An element of a path: a name or an index. */
struct expr_element {
    str name;       /* data NULL: an index */
    uint32_t index;
};

struct expr_path_walk {
    const struct expr_parse *parse;
    uint16_t token;
    uint16_t end;
};

static inline struct expr_path_walk expr_path_walk_open(const struct expr_parse *parse, uint16_t path)
{
    return (struct expr_path_walk){parse, expr_node_at(parse, path)->token, expr_node_at(parse, path)->end};
}
bool expr_path_walk_next(struct expr_path_walk *walk, struct expr_element *element);

/* "[a, [0], b]", in the arena. */
str expr_path_show(const struct expr_parse *parse, uint16_t path);
bool expr_path_equal(const struct expr_parse *parse, uint16_t a, uint16_t b);

/* A written or projected path: its elements, and the number of the action that it belongs to. */
struct expr_trie_path {
    const struct expr_element *elements;
    uint32_t count;
    uint32_t number; /* in the text's order, from 0 */
};

/* Sorts the paths of an update or projection as a trie has them (see "programs" below) into parse->paths, and refuses two of
   which one begins the other, or which take one thing for a map and for a list. */
enum fault expr_paths_check(struct expr_parse *parse) MUST_USE;

void expr_trie_paths_sort(struct expr_trie_path *paths, size_t count);

/* The bytes of the value placeholder, which is known to be defined. */
static inline str expr_node_value(const struct expr_parse *parse, const struct expr_node *node)
{
    return parse->values->entries[parse->tokens[node->token].entry].value;
}

/* The type that an operand has whatever the item: a placeholder's, N for size(), or an empty str. */
str expr_static_type(const struct expr_parse *parse, uint16_t node);

/* --- programs (program.c, compile.c, trie.c) ---

   program     := version byte, kind byte, body
   condition   := see the opcodes
   update      := varint trie length, trie, varint action count, actions in the text's order
   action      := opcode, path, operand (but for REMOVE)
   projection  := trie
   path        := varint element count, elements; the first is a name
   element     := varint (name length << 1), name   |   varint (index << 1 | 1)
   trie        := varint entry count, entries in order: names by bytes, then indexes
   entry       := varint (name length << 2 | 0 | children) name   |   varint (index << 2 | 2 | children)
                  then with children: varint length, trie; without: varint number of the action that the path belongs to

   A value stands as its own bytes, so its type byte is an operand's opcode too. */

enum { EXPR_PROGRAM_VERSION = 1, EXPR_PROGRAM_HEADER_BYTES = 2 };

/* No program of ours nests deeper: 300 operators and calls, and their operands. */
enum { EXPR_PROGRAM_DEPTH_MAX = EXPR_OPERATORS_MAX + 8 };

enum expr_opcode {
    /* operands; below: value types */
    OP_PATH = 0x20,
    OP_SIZE,          /* operand */
    OP_IF_NOT_EXISTS, /* path, operand */
    OP_LIST_APPEND,   /* operand, operand */
    OP_PLUS,
    OP_MINUS,
    /* conditions */
    OP_AND = 0x40, /* varint body length; body: varint count, conditions */
    OP_OR,
    OP_NOT,
    OP_EQUAL, /* two operands, as all up to GREATER_EQUAL */
    OP_NOT_EQUAL,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_BETWEEN, /* three operands */
    OP_IN,      /* varint body length; body: the operand and those it may equal */
    OP_EXISTS,  /* path */
    OP_NOT_EXISTS,
    OP_TYPE, /* varint mask of 1 << value type, operand */
    OP_BEGINS_WITH,
    OP_CONTAINS,
    OP_NOT_CONTAINS, /* only from legacy parameters: false, not true, for a missing attribute */
    /* actions */
    OP_SET = 0x60,
    OP_REMOVE,
    OP_ADD,
    OP_DELETE,
    OP_ADD_LEGACY, /* AttributeUpdates: lists too, and another error */
    OP_DELETE_LEGACY
};

_Static_assert(OP_REMOVE - OP_SET == NODE_REMOVE - NODE_SET && OP_DELETE - OP_SET == NODE_DELETE - NODE_SET, "actions in one order");

/* The tree as a program, appended to `out`. */
void expr_compile(const struct expr_parse *parse, struct buf *out);

void expr_program_open(struct buf *out, enum expr_kind kind);

/* The body of a program of that kind. The version is this program's own or was checked by expr_program_is_valid. */
str expr_program_body(str program, enum expr_kind kind);

void expr_write_element(struct buf *out, const struct expr_element *element);

/* Takes a path from the front: its elements are left in *path, count first. */
bool expr_take_path(str *rest, str *path);

struct expr_path_reader {
    str rest;
    uint64_t left;
};
struct expr_path_reader expr_path_reader_open(str path);
bool expr_path_reader_next(struct expr_path_reader *reader, struct expr_element *element);

/* What the path leads to in the item, or an empty str. */
str expr_path_resolve(str path, str item);

struct expr_trie_entry {
    struct expr_element element;
    bool has_children;
    str children;    /* a trie */
    uint64_t action; /* without children */
};
struct expr_trie_walk {
    str rest;
    uint64_t left;
};
struct expr_trie_walk expr_trie_open(str trie);
bool expr_trie_next(struct expr_trie_walk *walk, struct expr_trie_entry *entry);

/* A trie of sorted paths of which none begins another, appended to `out`. */
void expr_trie_write(struct buf *out, const struct expr_trie_path *paths, size_t count);

struct expr_update_parts {
    str trie;
    uint64_t action_count;
    str actions;
};
struct expr_update_parts expr_update_open(str update);

/* The item's parts that the trie names. */
void expr_trie_project(str trie, str item, struct buf *out);

/* An operand of a condition, evaluated. */
struct expr_operand {
    str value;        /* empty: missing */
    uint8_t made[24]; /* where a size() lies */
};
void expr_operand_evaluate(str *rest, str item, struct expr_operand *out);

#endif
