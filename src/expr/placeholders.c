/* ExpressionAttributeNames and ExpressionAttributeValues: read, checked, looked up (reference section 6, "Placeholders maps"). */
#include "expr/expr_internal.h"

#include <stdlib.h>

#define NAMES "ExpressionAttributeNames"
#define VALUES "ExpressionAttributeValues"

enum { WALKED_MAX = 8 }; /* entries up to which a walk beats a search */

uint32_t expr_placeholders_find(const struct expr_placeholders *map, str key)
{
    if (!map->sorted) {
        for (uint32_t i = map->count; i > 0; i--) {
            if (str_equal(map->entries[i - 1].key, key))
                return i - 1;
        }
        return EXPR_NO_ENTRY;
    }
    uint32_t from = 0;
    uint32_t to = map->count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (str_compare(map->entries[map->sorted[middle]].key, key) <= 0)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0 || !str_equal(map->entries[map->sorted[from - 1]].key, key))
        return EXPR_NO_ENTRY;
    return map->sorted[from - 1];
}

static int compare_places(const void *a, const void *b, void *context)
{
    const struct expr_placeholder *entries = context;
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    int order = str_compare(entries[left].key, entries[right].key);
    return order != 0 ? order : (left > right) - (left < right);
}

/* Orders the entries for finding them, and marks those that a later one of the same key replaces. */
static void index_map(struct call *call, struct expr_placeholders *map)
{
    if (map->count > WALKED_MAX) {
        map->sorted = arena_alloc(&call->arena, map->count * sizeof map->sorted[0]);
        for (uint32_t i = 0; i < map->count; i++)
            map->sorted[i] = i;
        qsort_r(map->sorted, map->count, sizeof map->sorted[0], compare_places, map->entries);
        for (uint32_t i = 1; i < map->count; i++)
            map->entries[map->sorted[i - 1]].is_replaced = str_equal(map->entries[map->sorted[i - 1]].key, map->entries[map->sorted[i]].key);
        return;
    }
    for (uint32_t i = 0; i < map->count; i++)
        map->entries[i].is_replaced = expr_placeholders_find(map, map->entries[i].key) != i;
}

static bool key_is_valid(str key, char mark)
{
    if (key.len < 2 || key.data[0] != mark)
        return false;
    for (size_t i = 1; i < key.len; i++) {
        char c = key.data[i];
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'))
            return false;
    }
    return true;
}

static enum fault check_key(struct call *call, const char *map_name, char mark, str key) MUST_USE;
static enum fault check_key(struct call *call, const char *map_name, char mark, str key)
{
    if (key.len > EXPR_PLACEHOLDER_BYTES_MAX)
        return fail_reworded(call, "%s contains invalid key: The expression attribute map contains a key that is too long; size of key: %zu", map_name, key.len);
    if (!key_is_valid(key, mark))
        return fail_reworded(call, "%s contains invalid key: Syntax error; key: \"%.*s\"", map_name, STR_ARG(key));
    return FAULT_NONE;
}

/* The members of the map, their keys checked: `wire` has checked that it is an object. */
static enum fault read_keys(struct call *call, const struct json *json, uint32_t object, const char *map_name, char mark, struct expr_placeholders *map) MUST_USE;
static enum fault read_keys(struct call *call, const struct json *json, uint32_t object, const char *map_name, char mark, struct expr_placeholders *map)
{
    if (json_type(json, object) != JSON_OBJECT)
        return fail(call, FAULT_SERIALIZATION, "Unexpected field type");
    if (json->tokens[object].count == 0)
        return fail_reworded(call, "%s must not be empty", map_name);
    map->entries = ARENA_NEW_ARRAY(&call->arena, struct expr_placeholder, json->tokens[object].count);
    for (uint32_t i = json_first(json, object); i < json_end(json, object); i = json_next(json, i + 1)) {
        str key = json_string(json, i);
        TRY(check_key(call, map_name, mark, key));
        map->entries[map->count++] = (struct expr_placeholder){.key = key, .token = i + 1};
    }
    index_map(call, map);
    return FAULT_NONE;
}

static enum fault read_names(struct call *call, const struct json *json, uint32_t object, struct expr_placeholders *names, size_t *bytes) MUST_USE;
static enum fault read_names(struct call *call, const struct json *json, uint32_t object, struct expr_placeholders *names, size_t *bytes)
{
    TRY(read_keys(call, json, object, NAMES, '#', names));
    for (uint32_t i = 0; i < names->count; i++) {
        struct expr_placeholder *entry = &names->entries[i];
        if (entry->is_replaced)
            continue;
        if (json_type(json, entry->token) != JSON_STRING)
            return fail(call, FAULT_SERIALIZATION, "Unexpected field type");
        entry->value = json_string(json, entry->token);
        if (entry->value.len == 0)
            return fail_reworded(call, NAMES " contains invalid value: Empty attribute name for key %.*s", STR_ARG(entry->key));
        if (entry->value.len > ATTRIBUTE_NAME_MAX)
            return fail_reworded(call, NAMES " contains invalid value: Attribute name is too large, must be less than 65536 bytes for key %.*s", STR_ARG(entry->key));
        *bytes += entry->value.len;
    }
    return FAULT_NONE;
}

/* The value's fault as the older layer words it: told which key it is of (public suite Parity, valueLayers). */
static enum fault refuse_value(struct call *call, enum fault fault, str key)
{
    if (fault != FAULT_VALIDATION || call->wording != WORDING_CLASSIC)
        return fault;
    str inner = call->message;
    call_clear_fault(call);
    return fail(call, FAULT_VALIDATION, VALUES " contains invalid value: %.*s for key %.*s", STR_ARG(inner), STR_ARG(key));
}

static enum fault read_value(struct call *call, const struct json *json, struct expr_placeholder *entry) MUST_USE;
static enum fault read_value(struct call *call, const struct json *json, struct expr_placeholder *entry)
{
    struct buf bytes;
    buf_open(&bytes, &call->arena, json_raw(json, entry->token).len);
    TRY(value_read(call, json, entry->token, &bytes));
    entry->value = buf_str(&bytes);
    if (value_depth(entry->value) > ITEM_DEPTH_MAX - 1)
        return fail_reworded(call, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit");
    return FAULT_NONE;
}

static enum fault read_values(struct call *call, const struct json *json, uint32_t object, struct expr_placeholders *values, size_t *bytes) MUST_USE;
static enum fault read_values(struct call *call, const struct json *json, uint32_t object, struct expr_placeholders *values, size_t *bytes)
{
    TRY(read_keys(call, json, object, VALUES, ':', values));
    for (uint32_t i = 0; i < values->count; i++) {
        struct expr_placeholder *entry = &values->entries[i];
        if (entry->is_replaced)
            continue;
        enum fault fault = read_value(call, json, entry);
        if (fault != FAULT_NONE)
            return refuse_value(call, fault, entry->key);
        *bytes += value_size(entry->value);
    }
    return FAULT_NONE;
}

enum fault expr_placeholders_read(struct call *call, const struct expr_request *request, struct expr_placeholders *names, struct expr_placeholders *values)
{
    size_t bytes = 0;
    *names = *values = (struct expr_placeholders){0};
    if (request->names != JSON_ABSENT)
        TRY(read_names(call, request->json, request->names, names, &bytes));
    if (request->values != JSON_ABSENT)
        TRY(read_values(call, request->json, request->values, values, &bytes));
    /* The limit is documented, its message is not: these words are ours. */
    if (bytes > EXPR_PLACEHOLDERS_BYTES_MAX)
        return fail_reworded(call, "The total size of " NAMES " and " VALUES " has exceeded the maximum allowed size; size: %zu", bytes);
    return FAULT_NONE;
}

/* DynamoDB lists the keys in the order of a Java HashSet that was made from the whole map. */
struct unused_key {
    uint32_t slot;
    uint32_t place;
};

static uint32_t java_slot(str key, uint32_t mask)
{
    uint32_t hash = 0;
    for (size_t i = 0; i < key.len; i++)
        hash = hash * 31 + (uint8_t)key.data[i];
    return (hash ^ (hash >> 16)) & mask;
}

static int compare_unused(const void *a, const void *b)
{
    const struct unused_key *left = a;
    const struct unused_key *right = b;
    if (left->slot != right->slot)
        return left->slot < right->slot ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

static enum fault refuse_unused(struct call *call, const char *map_name, const struct expr_placeholders *map)
{
    uint32_t slots = 16;
    while (slots < map->count * 4 / 3 + 1)
        slots *= 2;
    struct unused_key *unused = ARENA_NEW_ARRAY(&call->arena, struct unused_key, map->count);
    size_t count = 0;
    for (uint32_t i = 0; i < map->count; i++) {
        if (!map->entries[i].is_used && !map->entries[i].is_replaced)
            unused[count++] = (struct unused_key){java_slot(map->entries[i].key, slots - 1), i};
    }
    qsort(unused, count, sizeof unused[0], compare_unused);
    struct buf keys;
    buf_open(&keys, &call->arena, 0);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            BUF_ADD_LITERAL(&keys, ", ");
        buf_add_str(&keys, map->entries[unused[i].place].key);
    }
    return fail_reworded(call, "Value provided in %s unused in expressions: keys: {%.*s}", map_name, STR_ARG(buf_str(&keys)));
}

enum fault expr_placeholders_check_used(struct call *call, const char *map_name, const struct expr_placeholders *map)
{
    for (uint32_t i = 0; i < map->count; i++) {
        if (!map->entries[i].is_used && !map->entries[i].is_replaced)
            return refuse_unused(call, map_name, map);
    }
    return FAULT_NONE;
}
