/* The bytes of programs: paths and headers, and what a caller may ask of a program without running it. */
#include "expr/expr_internal.h"

#include <assert.h>

void expr_program_open(struct buf *out, enum expr_kind kind)
{
    buf_add_byte(out, EXPR_PROGRAM_VERSION);
    buf_add_byte(out, (uint8_t)kind);
}

str expr_program_body(str program, enum expr_kind kind)
{
    assert(program.len > EXPR_PROGRAM_HEADER_BYTES && (uint8_t)program.data[0] == EXPR_PROGRAM_VERSION && (uint8_t)program.data[1] == kind);
    return str_from(program, EXPR_PROGRAM_HEADER_BYTES);
}

void expr_write_element(struct buf *out, const struct expr_element *element)
{
    if (element->name.data) {
        buf_add_varint(out, element->name.len << 1);
        buf_add_str(out, element->name);
    } else {
        buf_add_varint(out, (uint64_t)element->index << 1 | 1);
    }
}

static bool take_element(str *rest, struct expr_element *element)
{
    uint64_t head;
    if (!varint_take(rest, &head))
        return false;
    *element = (struct expr_element){0};
    if (head & 1) {
        element->index = (uint32_t)(head >> 1);
        return head >> 1 <= EXPR_INDEX_MAX;
    }
    return str_take(rest, (size_t)(head >> 1), &element->name);
}

bool expr_take_path(str *rest, str *path)
{
    str before = *rest;
    uint64_t count;
    struct expr_element element;
    if (!varint_take(rest, &count))
        return false;
    for (; count > 0; count--) {
        if (!take_element(rest, &element))
            return false;
    }
    *path = str_of(before.data, before.len - rest->len);
    return true;
}

struct expr_path_reader expr_path_reader_open(str path)
{
    struct expr_path_reader reader = {.rest = path};
    if (!varint_take(&reader.rest, &reader.left))
        reader.left = 0;
    return reader;
}

bool expr_path_reader_next(struct expr_path_reader *reader, struct expr_element *element)
{
    if (reader->left == 0 || !take_element(&reader->rest, element))
        return false;
    reader->left--;
    return true;
}

str expr_path_resolve(str path, str item)
{
    struct expr_path_reader reader = expr_path_reader_open(path);
    struct expr_element element;
    if (!expr_path_reader_next(&reader, &element))
        return STR_NONE;
    str found = item_get(item, element.name);
    while (found.len > 0 && expr_path_reader_next(&reader, &element))
        found = element.name.data ? map_get(found, element.name) : list_get(found, element.index);
    return found;
}

struct expr_update_parts expr_update_open(str update)
{
    struct expr_update_parts parts = {.actions = expr_program_body(update, EXPR_UPDATE)};
    bool whole = str_take_counted(&parts.actions, &parts.trie) && varint_take(&parts.actions, &parts.action_count);
    assert(whole);
    return parts;
}

bool expr_update_creates(str update)
{
    if (update.len == 0)
        return true;
    struct expr_update_parts parts = expr_update_open(update);
    if (parts.action_count == 0)
        return true;
    str path;
    str operand;
    while (parts.actions.len > 0) {
        uint8_t opcode = (uint8_t)parts.actions.data[0];
        if (opcode == OP_SET || opcode == OP_ADD || opcode == OP_ADD_LEGACY)
            return true;
        parts.actions = str_from(parts.actions, 1);
        if (!expr_take_path(&parts.actions, &path) || (opcode != OP_REMOVE && !value_take(&parts.actions, &operand)))
            break;
    }
    return false;
}

/* The type of what an action brings, whose operand `rest` begins with; 0 when only an item can say. */
static uint8_t written_type(uint8_t opcode, str rest)
{
    if (opcode < OP_SET || opcode == OP_REMOVE || rest.len == 0)
        return 0;
    uint8_t operand = (uint8_t)rest.data[0];
    if (operand == OP_PLUS || operand == OP_MINUS)
        return VALUE_N;
    if (operand == OP_LIST_APPEND)
        return VALUE_L;
    return operand < OP_PATH ? operand : 0;
}

static enum fault visit_path(str path, uint8_t opcode, str rest, enum fault (*visit)(void *context, const struct expr_path *path), void *context)
{
    struct expr_path_reader reader = expr_path_reader_open(path);
    bool is_nested = reader.left > 1;
    struct expr_element element;
    if (!expr_path_reader_next(&reader, &element))
        return FAULT_NONE;
    return visit(context, &(struct expr_path){
                              .attribute = element.name,
                              .is_nested = is_nested,
                              .is_written = opcode >= OP_SET,
                              .written_type = written_type(opcode, rest),
                          });
}

static enum fault visit_trie(str trie, enum fault (*visit)(void *context, const struct expr_path *path), void *context)
{
    struct expr_trie_walk walk = expr_trie_open(trie);
    struct expr_trie_entry entry;
    while (expr_trie_next(&walk, &entry))
        TRY(visit(context, &(struct expr_path){.attribute = entry.element.name, .is_nested = entry.has_children}));
    return FAULT_NONE;
}

/* Opcodes stand before their operands, so a walk from front to back meets every path in the text's order. */
static enum fault visit_code(str rest, enum fault (*visit)(void *context, const struct expr_path *path), void *context)
{
    uint64_t number;
    str taken;
    while (rest.len > 0) {
        uint8_t opcode = (uint8_t)rest.data[0];
        if (opcode < OP_PATH) {
            if (!value_take(&rest, &taken))
                break;
            continue;
        }
        rest = str_from(rest, 1);
        switch (opcode) {
        case OP_PATH:
        case OP_IF_NOT_EXISTS:
        case OP_EXISTS:
        case OP_NOT_EXISTS:
        case OP_SET:
        case OP_REMOVE:
        case OP_ADD:
        case OP_DELETE:
        case OP_ADD_LEGACY:
        case OP_DELETE_LEGACY:
            if (!expr_take_path(&rest, &taken))
                return FAULT_NONE;
            TRY(visit_path(taken, opcode, rest, visit, context));
            break;
        case OP_AND:
        case OP_OR:
            if (!varint_take(&rest, &number) || !varint_take(&rest, &number))
                return FAULT_NONE;
            break;
        case OP_IN:
        case OP_TYPE:
            if (!varint_take(&rest, &number))
                return FAULT_NONE;
            break;
        default:
            break;
        }
    }
    return FAULT_NONE;
}

enum fault expr_paths_each(str program, enum fault (*visit)(void *context, const struct expr_path *path), void *context)
{
    if (program.len == 0)
        return FAULT_NONE;
    enum expr_kind kind = (enum expr_kind)program.data[1];
    if (kind == EXPR_PROJECTION)
        return visit_trie(expr_program_body(program, kind), visit, context);
    if (kind == EXPR_UPDATE)
        return visit_code(expr_update_open(program).actions, visit, context);
    return visit_code(expr_program_body(program, kind), visit, context);
}
