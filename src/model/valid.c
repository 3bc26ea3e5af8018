/* The full check of bytes that came from outside: what passes is exactly what the writers write. */
#include "model/model_internal.h"
#include "model/number.h"
#include "model/value.h"

bool varint_take_strict(str *rest, uint64_t *value)
{
    str before = *rest;
    if (!varint_take(rest, value))
        return false;
    if (before.len - rest->len == varint_size(*value))
        return true;
    *rest = before;
    return false;
}

static bool counted_take_strict(str *rest, str *taken)
{
    uint64_t bytes;
    return varint_take_strict(rest, &bytes) && bytes <= rest->len && str_take(rest, (size_t)bytes, taken);
}

static bool scalar_is_valid(enum value_type type, str payload)
{
    return type == VALUE_S || type == VALUE_SS ? utf8_is_valid(payload)
        : type == VALUE_N || type == VALUE_NS  ? number_is_valid(payload)
                                               : true;
}

static bool set_body_is_valid(enum value_type type, str body)
{
    uint64_t count;
    str before = STR_NONE, element;
    if (!varint_take_strict(&body, &count) || count == 0)
        return false;
    for (uint64_t at = 0; at < count; at++) {
        if (!counted_take_strict(&body, &element) || !scalar_is_valid(type, element))
            return false;
        if (at > 0 && str_compare(before, element) >= 0)
            return false;
        before = element;
    }
    return body.len == 0;
}

static bool take_valid(str *rest, unsigned levels);

static bool list_body_is_valid(str body, unsigned levels)
{
    uint64_t count;
    if (levels == 0 || !varint_take_strict(&body, &count))
        return false;
    for (; count > 0; count--)
        if (!take_valid(&body, levels - 1))
            return false;
    return body.len == 0;
}

static bool item_body_is_valid(str body, unsigned levels)
{
    uint64_t count;
    str before = STR_NONE, name;
    if (levels == 0 || !varint_take_strict(&body, &count))
        return false;
    for (uint64_t at = 0; at < count; at++) {
        if (!counted_take_strict(&body, &name) || name.len == 0 || name.len > ATTRIBUTE_NAME_MAX || !utf8_is_valid(name))
            return false;
        if (at > 0 && str_compare(before, name) >= 0)
            return false;
        if (!take_valid(&body, levels - 1))
            return false;
        before = name;
    }
    return body.len == 0;
}

/* Takes one valid value off the front; lists and maps may lie in it `levels` deep. */
static bool take_valid(str *rest, unsigned levels)
{
    str payload;
    if (rest->len == 0)
        return false;
    enum value_type type = value_type(*rest);
    *rest = str_from(*rest, 1);
    switch (type) {
    case VALUE_TRUE:
    case VALUE_FALSE:
    case VALUE_NULL:
        return true;
    case VALUE_S:
    case VALUE_N:
    case VALUE_B:
        return counted_take_strict(rest, &payload) && scalar_is_valid(type, payload);
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return counted_take_strict(rest, &payload) && set_body_is_valid(type, payload);
    case VALUE_L:
        return counted_take_strict(rest, &payload) && list_body_is_valid(payload, levels);
    case VALUE_M:
        return counted_take_strict(rest, &payload) && item_body_is_valid(payload, levels);
    }
    return false;
}

bool value_is_valid(str v)
{
    return take_valid(&v, VALUE_DEPTH_MAX) && v.len == 0;
}

bool item_is_valid(str item)
{
    return item_body_is_valid(item, VALUE_DEPTH_MAX + 1);
}
