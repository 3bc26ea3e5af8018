/* Conditions, run on item bytes in place. A program was made by this process or passed expr_program_is_valid: so what it holds is
   taken as it comes, and nests no deeper than EXPR_PROGRAM_DEPTH_MAX. */
#include "expr/expr_internal.h"
#include "model/number.h"

#include <assert.h>

static uint8_t take_byte(str *rest)
{
    assert(rest->len > 0);
    uint8_t byte = (uint8_t)rest->data[0];
    *rest = str_from(*rest, 1);
    return byte;
}

static uint64_t take_number(str *rest)
{
    uint64_t number = 0;
    bool found = varint_take(rest, &number);
    assert(found);
    return number;
}

static str take_path(str *rest)
{
    str path = STR_NONE;
    bool found = expr_take_path(rest, &path);
    assert(found);
    return path;
}

/* UTF-16 code units, as Java counts: four bytes of UTF-8 are two of them. */
static size_t text_length(str text)
{
    size_t units = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = (uint8_t)text.data[i];
        units += (byte & 0xc0) != 0x80;
        units += byte >= 0xf0;
    }
    return units;
}

/* size(): missing where the value has none. */
static void size_of(str v, struct expr_operand *out)
{
    if (v.len == 0)
        return;
    uint64_t size = 0;
    switch (value_type(v)) {
    case VALUE_S:
        size = text_length(value_scalar(v));
        break;
    case VALUE_B:
        size = value_scalar(v).len;
        break;
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
    case VALUE_L:
    case VALUE_M:
        size = value_count(v);
        break;
    default:
        return;
    }
    struct number number;
    number_from_i64((int64_t)size, &number);
    assert((size_t)number.len + 2 <= sizeof out->made);
    out->made[0] = VALUE_N;
    out->made[1] = number.len;
    memcpy(out->made + 2, number.bytes, number.len);
    out->value = str_of(out->made, (size_t)number.len + 2);
}

void expr_operand_evaluate(str *rest, str item, struct expr_operand *out)
{
    out->value = STR_NONE;
    assert(rest->len > 0);
    uint8_t opcode = (uint8_t)rest->data[0];
    if (opcode < OP_PATH) {
        bool found = value_take(rest, &out->value);
        assert(found);
        return;
    }
    *rest = str_from(*rest, 1);
    if (opcode == OP_PATH) {
        out->value = expr_path_resolve(take_path(rest), item);
        return;
    }
    assert(opcode == OP_SIZE);
    struct expr_operand inner;
    expr_operand_evaluate(rest, item, &inner);
    size_of(inner.value, out);
}

/* -1, 0, 1, or 2 where there is no order. */
static int order_of(str a, str b)
{
    if (a.len == 0 || b.len == 0 || value_type(a) != value_type(b) || value_type(a) > VALUE_B)
        return 2;
    int order = value_compare(a, b);
    return (order > 0) - (order < 0);
}

static bool comparison_holds(uint8_t opcode, str a, str b)
{
    if (opcode == OP_EQUAL)
        return a.len > 0 && b.len > 0 && value_equal(a, b);
    if (opcode == OP_NOT_EQUAL)
        return a.len == 0 || b.len == 0 || !value_equal(a, b);
    int order = order_of(a, b);
    switch (opcode) {
    case OP_LESS:
        return order == -1;
    case OP_LESS_EQUAL:
        return order == -1 || order == 0;
    case OP_GREATER:
        return order == 1;
    default:
        return order == 0 || order == 1;
    }
}

static bool contains(str whole, str part)
{
    if (whole.len == 0 || part.len == 0)
        return false;
    enum value_type type = value_type(whole);
    enum value_type wanted = value_type(part);
    if (type == VALUE_S || type == VALUE_B) {
        str hay = value_scalar(whole);
        if (wanted != type)
            return false;
        str needle = value_scalar(part);
        return needle.len == 0 || (needle.len <= hay.len && memmem(hay.data, hay.len, needle.data, needle.len) != NULL);
    }
    if (value_is_set(whole))
        return wanted == VALUE_S + (type - VALUE_SS) && set_has(whole, value_scalar(part));
    struct value_walk walk;
    str element;
    if (type != VALUE_L || !value_walk_open(&walk, whole))
        return false;
    while (value_walk_value(&walk, &element)) {
        if (value_equal(element, part))
            return true;
    }
    return false;
}

_Static_assert(VALUE_N - VALUE_S == VALUE_NS - VALUE_SS && VALUE_B - VALUE_S == VALUE_BS - VALUE_SS, "a set's type tells its elements' type");

static bool begins_with(str whole, str start)
{
    if (whole.len == 0 || start.len == 0 || value_type(whole) != value_type(start))
        return false;
    if (value_type(whole) != VALUE_S && value_type(whole) != VALUE_B)
        return false;
    return str_begins(value_scalar(whole), value_scalar(start));
}

static bool between_holds(str *rest, str item)
{
    struct expr_operand v, low, high;
    expr_operand_evaluate(rest, item, &v);
    expr_operand_evaluate(rest, item, &low);
    expr_operand_evaluate(rest, item, &high);
    return comparison_holds(OP_GREATER_EQUAL, v.value, low.value) && comparison_holds(OP_LESS_EQUAL, v.value, high.value);
}

static bool in_holds(str *rest, str item)
{
    str body = STR_NONE;
    bool found = str_take_counted(rest, &body);
    assert(found);
    struct expr_operand v, other;
    expr_operand_evaluate(&body, item, &v);
    while (v.value.len > 0 && body.len > 0) {
        expr_operand_evaluate(&body, item, &other);
        if (other.value.len > 0 && value_equal(v.value, other.value))
            return true;
    }
    return false;
}

static bool condition_holds(str *rest, str item);

/* AND looks for the first that does not hold, OR for the first that does. */
static bool chain_holds(str *rest, str item, bool is_and)
{
    str body = STR_NONE;
    bool found = str_take_counted(rest, &body);
    assert(found);
    for (uint64_t left = take_number(&body); left > 0; left--) {
        if (condition_holds(&body, item) != is_and)
            return !is_and;
    }
    return is_and;
}

static bool type_holds(str *rest, str item)
{
    uint64_t mask = take_number(rest);
    struct expr_operand v;
    expr_operand_evaluate(rest, item, &v);
    return v.value.len > 0 && (mask >> value_type(v.value) & 1);
}

static bool pair_holds(uint8_t opcode, str *rest, str item)
{
    struct expr_operand a, b;
    expr_operand_evaluate(rest, item, &a);
    expr_operand_evaluate(rest, item, &b);
    switch (opcode) {
    case OP_BEGINS_WITH:
        return begins_with(a.value, b.value);
    case OP_CONTAINS:
        return contains(a.value, b.value);
    case OP_NOT_CONTAINS:
        return a.value.len > 0 && !contains(a.value, b.value);
    default:
        return comparison_holds(opcode, a.value, b.value);
    }
}

static bool condition_holds(str *rest, str item)
{
    uint8_t opcode = take_byte(rest);
    switch (opcode) {
    case OP_AND:
    case OP_OR:
        return chain_holds(rest, item, opcode == OP_AND);
    case OP_NOT:
        return !condition_holds(rest, item);
    case OP_BETWEEN:
        return between_holds(rest, item);
    case OP_IN:
        return in_holds(rest, item);
    case OP_EXISTS:
        return expr_path_resolve(take_path(rest), item).len > 0;
    case OP_NOT_EXISTS:
        return expr_path_resolve(take_path(rest), item).len == 0;
    case OP_TYPE:
        return type_holds(rest, item);
    default:
        return pair_holds(opcode, rest, item);
    }
}

bool expr_holds(str condition, str item)
{
    if (condition.len == 0)
        return true;
    assert(condition.len > EXPR_PROGRAM_HEADER_BYTES && (uint8_t)condition.data[0] == EXPR_PROGRAM_VERSION);
    str rest = str_from(condition, EXPR_PROGRAM_HEADER_BYTES);
    return condition_holds(&rest, item);
}
