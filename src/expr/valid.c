/* The full check of a program that came from outside this process: afterwards the runners may take it as it comes. */
#include "expr/expr_internal.h"

#include <assert.h>
#include <stdlib.h>

static bool name_is_valid(str name)
{
    return name.len > 0 && name.len <= ATTRIBUTE_NAME_MAX && utf8_is_valid(name);
}

/* A path as the grammar makes it. `elements_max`: 1 for keys. */
static bool take_valid_path(str *rest, uint64_t elements_max)
{
    str path;
    if (!expr_take_path(rest, &path))
        return false;
    struct expr_path_reader reader = expr_path_reader_open(path);
    if (reader.left == 0 || reader.left > elements_max)
        return false;
    struct expr_element element;
    bool is_first = true;
    while (expr_path_reader_next(&reader, &element)) {
        if (element.name.data ? !name_is_valid(element.name) : is_first)
            return false;
        is_first = false;
    }
    return true;
}

static bool take_valid_value(str *rest, str *v)
{
    return value_take(rest, v) && value_is_valid(*v) && value_depth(*v) <= ITEM_DEPTH_MAX - 1;
}

static bool take_condition_operand(str *rest, unsigned depth)
{
    str v;
    if (rest->len == 0 || depth == 0)
        return false;
    uint8_t opcode = (uint8_t)rest->data[0];
    if (opcode < OP_PATH)
        return take_valid_value(rest, &v);
    *rest = str_from(*rest, 1);
    if (opcode == OP_PATH)
        return take_valid_path(rest, EXPR_PATH_ELEMENTS_MAX);
    return opcode == OP_SIZE && take_condition_operand(rest, depth - 1);
}

static bool take_operands(str *rest, unsigned count, unsigned depth)
{
    for (unsigned i = 0; i < count; i++) {
        if (!take_condition_operand(rest, depth))
            return false;
    }
    return true;
}

static bool take_condition(str *rest, unsigned depth);

static bool take_chain(str *rest, unsigned depth)
{
    str body;
    uint64_t count;
    if (!str_take_counted(rest, &body) || !varint_take(&body, &count) || count == 0)
        return false;
    for (; count > 0; count--) {
        if (!take_condition(&body, depth))
            return false;
    }
    return body.len == 0;
}

static bool take_in(str *rest, unsigned depth)
{
    str body;
    if (!str_take_counted(rest, &body) || !take_condition_operand(&body, depth) || body.len == 0)
        return false;
    while (body.len > 0) {
        if (!take_condition_operand(&body, depth))
            return false;
    }
    return true;
}

static bool take_condition(str *rest, unsigned depth)
{
    uint64_t mask;
    if (rest->len == 0 || depth == 0)
        return false;
    uint8_t opcode = (uint8_t)rest->data[0];
    *rest = str_from(*rest, 1);
    switch (opcode) {
    case OP_AND:
    case OP_OR:
        return take_chain(rest, depth - 1);
    case OP_NOT:
        return take_condition(rest, depth - 1);
    case OP_EQUAL:
    case OP_NOT_EQUAL:
    case OP_LESS:
    case OP_LESS_EQUAL:
    case OP_GREATER:
    case OP_GREATER_EQUAL:
    case OP_BEGINS_WITH:
    case OP_CONTAINS:
    case OP_NOT_CONTAINS:
        return take_operands(rest, 2, depth - 1);
    case OP_BETWEEN:
        return take_operands(rest, 3, depth - 1);
    case OP_IN:
        return take_in(rest, depth - 1);
    case OP_EXISTS:
    case OP_NOT_EXISTS:
        return take_valid_path(rest, EXPR_PATH_ELEMENTS_MAX);
    case OP_TYPE:
        return varint_take(rest, &mask) && mask < 1u << (VALUE_M + 1) && take_condition_operand(rest, depth - 1);
    default:
        return false;
    }
}

/* One attribute and for the rest values: what expr_key_conditions_next takes apart. */
static bool take_key_operands(str *rest, unsigned count, bool key_leads)
{
    unsigned paths = 0;
    str v;
    for (unsigned i = 0; i < count; i++) {
        if (rest->len == 0)
            return false;
        if ((uint8_t)rest->data[0] != OP_PATH) {
            if ((key_leads && i == 0) || !take_valid_value(rest, &v))
                return false;
            continue;
        }
        *rest = str_from(*rest, 1);
        paths++;
        if (!take_valid_path(rest, 1))
            return false;
    }
    return paths == 1;
}

static bool take_key_condition(str *rest, unsigned depth)
{
    str body;
    uint64_t count;
    if (rest->len == 0 || depth == 0)
        return false;
    uint8_t opcode = (uint8_t)rest->data[0];
    *rest = str_from(*rest, 1);
    switch (opcode) {
    case OP_AND:
        if (!str_take_counted(rest, &body) || !varint_take(&body, &count) || count == 0)
            return false;
        for (; count > 0; count--) {
            if (!take_key_condition(&body, depth - 1))
                return false;
        }
        return body.len == 0;
    case OP_EQUAL:
    case OP_LESS:
    case OP_LESS_EQUAL:
    case OP_GREATER:
    case OP_GREATER_EQUAL:
        return take_key_operands(rest, 2, false);
    case OP_BEGINS_WITH:
        return take_key_operands(rest, 2, true);
    case OP_BETWEEN:
        return take_key_operands(rest, 3, true);
    default:
        return false;
    }
}

/* --- tries and updates --- */

/* A trie is walked with the paths of the actions at hand, in memory of their number: so that a program of n actions takes n steps. */
struct trie_check {
    str *paths;        /* by action; emptied when its leaf has been met. NULL for a projection */
    uint64_t count;
    uint64_t leaves;
    struct expr_element elements[EXPR_PATH_ELEMENTS_MAX];
};

static bool same_element(const struct expr_element *a, const struct expr_element *b)
{
    if (!a->name.data || !b->name.data)
        return !a->name.data && !b->name.data && a->index == b->index;
    return str_equal(a->name, b->name);
}

/* Whether the path that led to the leaf is that of the leaf's action, which has not been met before. */
static bool leaf_is_valid(struct trie_check *check, unsigned depth, uint64_t action)
{
    check->leaves++;
    if (!check->paths)
        return true;
    if (action >= check->count || check->paths[action].len == 0)
        return false;
    struct expr_path_reader reader = expr_path_reader_open(check->paths[action]);
    check->paths[action] = STR_NONE;
    struct expr_element element;
    if (reader.left != depth)
        return false;
    for (unsigned i = 0; expr_path_reader_next(&reader, &element); i++) {
        if (!same_element(&element, &check->elements[i]))
            return false;
    }
    return true;
}

/* Names in order, or indexes in order: never both, because one thing is a map or a list. */
static bool follows(const struct expr_element *last, const struct expr_element *element)
{
    if (!last->name.data != !element->name.data)
        return false;
    return element->name.data ? str_compare(last->name, element->name) < 0 : last->index < element->index;
}

static bool trie_is_valid(struct trie_check *check, str trie, unsigned depth)
{
    struct expr_trie_walk walk = expr_trie_open(trie);
    struct expr_trie_entry entry;
    if (trie.len == 0 || depth == EXPR_PATH_ELEMENTS_MAX || (walk.left == 0 && depth > 0))
        return false;
    for (bool is_first = true; walk.left > 0; is_first = false) {
        if (!expr_trie_next(&walk, &entry))
            return false;
        if (entry.element.name.data ? !name_is_valid(entry.element.name) : depth == 0 || entry.element.index > EXPR_INDEX_MAX)
            return false;
        if (!is_first && !follows(&check->elements[depth], &entry.element))
            return false;
        check->elements[depth] = entry.element;
        if (entry.has_children ? !trie_is_valid(check, entry.children, depth + 1) : !leaf_is_valid(check, depth + 1, entry.action))
            return false;
    }
    return walk.rest.len == 0;
}

static bool take_update_operand(str *rest, unsigned depth)
{
    str v;
    if (rest->len == 0 || depth == 0)
        return false;
    uint8_t opcode = (uint8_t)rest->data[0];
    if (opcode < OP_PATH)
        return take_valid_value(rest, &v);
    *rest = str_from(*rest, 1);
    switch (opcode) {
    case OP_PATH:
        return take_valid_path(rest, EXPR_PATH_ELEMENTS_MAX);
    case OP_IF_NOT_EXISTS:
        return take_valid_path(rest, EXPR_PATH_ELEMENTS_MAX) && take_update_operand(rest, depth - 1);
    case OP_LIST_APPEND:
    case OP_PLUS:
    case OP_MINUS:
        return take_update_operand(rest, depth - 1) && take_update_operand(rest, depth - 1);
    default:
        return false;
    }
}

static bool take_action(str *rest, str *path)
{
    if (rest->len == 0)
        return false;
    uint8_t opcode = (uint8_t)rest->data[0];
    *rest = str_from(*rest, 1);
    str before = *rest;
    if (!take_valid_path(rest, EXPR_PATH_ELEMENTS_MAX))
        return false;
    *path = str_of(before.data, before.len - rest->len);
    if (opcode == OP_REMOVE)
        return true;
    if (opcode == OP_SET)
        return take_update_operand(rest, EXPR_PROGRAM_DEPTH_MAX);
    str v;
    if (!take_valid_value(rest, &v))
        return false;
    switch (opcode) {
    case OP_ADD:
        return value_is_set(v) || value_type(v) == VALUE_N;
    case OP_ADD_LEGACY:
        return value_is_set(v) || value_type(v) == VALUE_N || value_type(v) == VALUE_L;
    case OP_DELETE:
    case OP_DELETE_LEGACY:
        return value_is_set(v);
    default:
        return false;
    }
}

static bool take_actions(str *rest, str *paths, uint64_t count)
{
    for (uint64_t number = 0; number < count; number++) {
        if (!take_action(rest, &paths[number]))
            return false;
    }
    return rest->len == 0;
}

static bool update_is_valid(str body)
{
    enum { FEW = 16 };
    str trie;
    struct trie_check check = {0};
    str few[FEW];
    /* An action is three bytes at least: no small program makes us take much memory. */
    if (!str_take_counted(&body, &trie) || !varint_take(&body, &check.count) || check.count > body.len / 3)
        return false;
    check.paths = check.count <= FEW ? few : malloc((size_t)check.count * sizeof check.paths[0]);
    assert(check.paths);
    bool valid = take_actions(&body, check.paths, check.count) && trie_is_valid(&check, trie, 0) && check.leaves == check.count;
    if (check.paths != few)
        free(check.paths);
    return valid;
}

static bool projection_is_valid(str body)
{
    struct trie_check check = {0};
    return trie_is_valid(&check, body, 0);
}

bool expr_program_is_valid(str program, enum expr_kind kind)
{
    if (program.len == 0)
        return true;
    if (program.len <= EXPR_PROGRAM_HEADER_BYTES || (uint8_t)program.data[0] != EXPR_PROGRAM_VERSION || (uint8_t)program.data[1] != kind)
        return false;
    str body = str_from(program, EXPR_PROGRAM_HEADER_BYTES);
    switch (kind) {
    case EXPR_UPDATE:
        return update_is_valid(body);
    case EXPR_PROJECTION:
        return projection_is_valid(body);
    case EXPR_KEY_CONDITION:
        return take_key_condition(&body, EXPR_PROGRAM_DEPTH_MAX) && body.len == 0;
    case EXPR_CONDITION:
    case EXPR_FILTER:
        return take_condition(&body, EXPR_PROGRAM_DEPTH_MAX) && body.len == 0;
    case EXPR_KINDS:
        break;
    }
    return false;
}
