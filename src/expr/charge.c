/* What UpdateItem's size gate charges a statement (public suite Parity, itemSizeBySurface: measured to the byte on AWS in 2026). */
#include "expr/expr_internal.h"
#include "model/number.h"

#include <assert.h>

enum {
    COST_OF_UPDATE = 3,
    COST_OF_WRITE = 19, /* SET, ADD */
    COST_OF_CLEAR = 1,  /* REMOVE, DELETE */
    COST_OF_TARGET_STEP = 4,
    COST_OF_PATH = 1,
    COST_OF_PATH_STEP = 14,
    COST_OF_PLUS = 34,
    COST_OF_MINUS = 37,
    COST_OF_LIST_APPEND = 37,
    COST_OF_IF_NOT_EXISTS = 39,
};

/* A name's bytes, or an index's digits. */
static size_t element_size(const struct expr_element *element)
{
    if (element->name.data)
        return element->name.len;
    size_t digits = 1;
    for (uint32_t index = element->index; index >= 10; index /= 10)
        digits++;
    return digits;
}

static size_t path_size(str path, size_t first_step, size_t later_step)
{
    struct expr_path_reader reader = expr_path_reader_open(path);
    struct expr_element element;
    size_t bytes = 0;
    for (size_t step = first_step; expr_path_reader_next(&reader, &element); step = later_step)
        bytes += step + element_size(&element);
    return bytes;
}

static size_t operand_path_size(str *rest)
{
    str path = STR_NONE;
    bool found = expr_take_path(rest, &path);
    assert(found);
    return COST_OF_PATH + path_size(path, COST_OF_PATH_STEP, COST_OF_PATH_STEP);
}

/* A value costs its size at every use; what a path reads and what comes of an operation are free. */
static size_t operand_size(str *rest)
{
    uint8_t opcode = (uint8_t)rest->data[0];
    if (opcode < OP_PATH) {
        str v = STR_NONE;
        bool found = value_take(rest, &v);
        assert(found);
        return value_size(v);
    }
    *rest = str_from(*rest, 1);
    switch (opcode) {
    case OP_PATH:
        return operand_path_size(rest);
    case OP_IF_NOT_EXISTS: {
        size_t path = operand_path_size(rest);
        return COST_OF_IF_NOT_EXISTS + path + operand_size(rest);
    }
    default: {
        size_t cost = opcode == OP_PLUS ? COST_OF_PLUS : opcode == OP_MINUS ? COST_OF_MINUS : COST_OF_LIST_APPEND;
        cost += operand_size(rest);
        return cost + operand_size(rest);
    }
    }
}

/* Only the members that the set lacks count. */
static size_t added_size(str v, str old)
{
    if (!value_is_set(v) || old.len == 0 || value_type(old) != value_type(v))
        return value_size(v);
    struct value_walk walk;
    str element;
    size_t bytes = 0;
    if (!value_walk_open(&walk, v))
        return 0;
    while (value_walk_element(&walk, &element)) {
        if (!set_has(old, element))
            bytes += value_type(v) == VALUE_NS ? number_size(element) : element.len;
    }
    return bytes;
}

size_t expr_update_charge(str update, str item)
{
    size_t bytes = COST_OF_UPDATE;
    if (update.len == 0)
        return bytes;
    struct expr_update_parts parts = expr_update_open(update);
    while (parts.actions.len > 0) {
        uint8_t opcode = (uint8_t)parts.actions.data[0];
        parts.actions = str_from(parts.actions, 1);
        str path = STR_NONE;
        str v = STR_NONE;
        bool found = expr_take_path(&parts.actions, &path);
        assert(found);
        bytes += path_size(path, 0, COST_OF_TARGET_STEP);
        if (opcode == OP_SET) {
            bytes += COST_OF_WRITE + operand_size(&parts.actions);
            continue;
        }
        if (opcode != OP_REMOVE) {
            found = value_take(&parts.actions, &v);
            assert(found);
        }
        bool adds = opcode == OP_ADD || opcode == OP_ADD_LEGACY;
        bytes += adds ? COST_OF_WRITE + added_size(v, expr_path_resolve(path, item)) : COST_OF_CLEAR;
    }
    return bytes;
}
