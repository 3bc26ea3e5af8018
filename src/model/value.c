/* Values and items read in place: walking, looking up, comparing, counting. */
#include "model/value.h"
#include "model/model_internal.h"
#include "model/number.h"

#include <assert.h>

str value_type_name(str v)
{
    switch (value_type(v)) {
    case VALUE_S:
        return STR("S");
    case VALUE_N:
        return STR("N");
    case VALUE_B:
        return STR("B");
    case VALUE_TRUE:
    case VALUE_FALSE:
        return STR("BOOL");
    case VALUE_NULL:
        return STR("NULL");
    case VALUE_SS:
        return STR("SS");
    case VALUE_NS:
        return STR("NS");
    case VALUE_BS:
        return STR("BS");
    case VALUE_L:
        return STR("L");
    case VALUE_M:
        return STR("M");
    }
    return STR("");
}

/* What is behind the type byte and the length. A number's length byte is a varint too. */
static inline bool payload_take(str v, str *payload)
{
    str rest = str_of(v.data + 1, v.len - 1);
    return str_take_counted(&rest, payload);
}

static inline bool is_bare(enum value_type type)
{
    return type >= VALUE_TRUE && type <= VALUE_NULL;
}

static inline bool take(str *rest, str *out)
{
    str payload;
    if (rest->len == 0)
        return false;
    enum value_type type = value_type(*rest);
    str after = str_of(rest->data + 1, rest->len - 1);
    if (type < VALUE_S || type > VALUE_M || (!is_bare(type) && !str_take_counted(&after, &payload)))
        return false;
    *out = str_of(rest->data, rest->len - after.len);
    *rest = after;
    return true;
}

str value_scalar(str v)
{
    str payload = STR_NONE;
    assert(v.len > 0 && value_type(v) <= VALUE_B);
    bool whole = payload_take(v, &payload);
    assert(whole);
    return payload;
}

bool value_take(str *rest, str *out)
{
    return take(rest, out);
}

int value_compare(str a, str b)
{
    assert(value_type(a) == value_type(b));
    return str_compare(value_scalar(a), value_scalar(b));
}

bool value_walk_open(struct value_walk *walk, str set_list_or_map)
{
    *walk = (struct value_walk){0};
    if (set_list_or_map.len == 0 || value_type(set_list_or_map) < VALUE_SS || !payload_take(set_list_or_map, &walk->rest))
        return false;
    return varint_take(&walk->rest, &walk->left);
}

void item_walk_open(struct value_walk *walk, str item)
{
    *walk = (struct value_walk){.rest = item};
    if (!varint_take(&walk->rest, &walk->left))
        walk->left = 0;
}

bool value_walk_element(struct value_walk *walk, str *element)
{
    if (walk->left == 0 || !str_take_counted(&walk->rest, element))
        return false;
    walk->left--;
    return true;
}

bool value_walk_value(struct value_walk *walk, str *element)
{
    if (walk->left == 0 || !take(&walk->rest, element))
        return false;
    walk->left--;
    return true;
}

bool value_walk_attribute(struct value_walk *walk, str *name, str *found)
{
    if (walk->left == 0 || !str_take_counted(&walk->rest, name) || !take(&walk->rest, found))
        return false;
    walk->left--;
    return true;
}

uint64_t value_count(str v)
{
    struct value_walk walk;
    return value_walk_open(&walk, v) ? walk.left : 0;
}

static str walk_find(struct value_walk *walk, str name)
{
    str rest = walk->rest, found_name, found;
    for (uint64_t left = walk->left; left > 0; left--) {
        if (!str_take_counted(&rest, &found_name) || !take(&rest, &found))
            break;
        int order = str_compare(found_name, name);
        if (order == 0)
            return found;
        if (order > 0)
            break;
    }
    return STR_NONE;
}

str item_get(str item, str name)
{
    struct value_walk walk;
    item_walk_open(&walk, item);
    return walk_find(&walk, name);
}

str map_get(str map, str name)
{
    struct value_walk walk;
    if (map.len == 0 || value_type(map) != VALUE_M || !value_walk_open(&walk, map))
        return STR_NONE;
    return walk_find(&walk, name);
}

str list_get(str list, uint64_t index)
{
    struct value_walk walk;
    str element;
    if (list.len == 0 || value_type(list) != VALUE_L || !value_walk_open(&walk, list) || index >= walk.left)
        return STR_NONE;
    for (uint64_t at = 0; value_walk_value(&walk, &element); at++)
        if (at == index)
            return element;
    return STR_NONE;
}

bool set_has(str set, str wanted)
{
    struct value_walk walk;
    str element;
    if (set.len == 0 || !value_is_set(set) || !value_walk_open(&walk, set))
        return false;
    while (value_walk_element(&walk, &element)) {
        int order = str_compare(element, wanted);
        if (order >= 0)
            return order == 0;
    }
    return false;
}

/* Names and values. */
static size_t walk_size(struct value_walk *walk, size_t bytes_each)
{
    size_t bytes = 0;
    str name;
    str found;
    while (value_walk_attribute(walk, &name, &found))
        bytes += bytes_each + name.len + value_size(found);
    return bytes;
}

static size_t set_size(str set)
{
    struct value_walk walk;
    str element;
    size_t bytes = 0;
    if (value_walk_open(&walk, set))
        while (value_walk_element(&walk, &element))
            bytes += value_type(set) == VALUE_NS ? number_size(element) : element.len;
    return bytes;
}

/* Lists and maps: 3 bytes, and 1 for each entry. */
static size_t document_size(str document)
{
    struct value_walk walk;
    str element;
    size_t bytes = 3;
    if (!value_walk_open(&walk, document))
        return bytes;
    if (value_type(document) == VALUE_M)
        return bytes + walk_size(&walk, 1);
    while (value_walk_value(&walk, &element))
        bytes += 1 + value_size(element);
    return bytes;
}

size_t value_size(str v)
{
    switch (value_type(v)) {
    case VALUE_S:
    case VALUE_B:
        return value_scalar(v).len;
    case VALUE_N:
        return number_size(value_scalar(v));
    case VALUE_TRUE:
    case VALUE_FALSE:
    case VALUE_NULL:
        return 1;
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return set_size(v);
    case VALUE_L:
    case VALUE_M:
        return document_size(v);
    }
    return 0;
}

size_t item_size(str item)
{
    struct value_walk walk;
    item_walk_open(&walk, item);
    return walk_size(&walk, 0);
}

static unsigned walk_depth(struct value_walk *walk, bool named)
{
    unsigned deepest = 0;
    str name;
    str element;
    while (named ? value_walk_attribute(walk, &name, &element) : value_walk_value(walk, &element)) {
        if (value_type(element) < VALUE_L)
            continue;
        unsigned depth = value_depth(element);
        if (depth > deepest)
            deepest = depth;
    }
    return deepest + 1;
}

unsigned value_depth(str v)
{
    struct value_walk walk;
    if (value_type(v) < VALUE_L || !value_walk_open(&walk, v))
        return 0;
    return walk_depth(&walk, value_type(v) == VALUE_M);
}

unsigned item_depth(str item)
{
    struct value_walk walk;
    item_walk_open(&walk, item);
    return walk_depth(&walk, true);
}
