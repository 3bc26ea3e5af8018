/* ExpressionAttributeNames and ExpressionAttributeValues: read, checked, looked up (reference section 6, "Placeholders maps"). */
#include "expr/expr_internal.h"

#include <stdlib.h>

#define NAMES "ExpressionAttributeNames"
#define VALUES "ExpressionAttributeValues"

enum { WALKED_MAX = 8 }; /* entries up to which a walk beats a hash table */

static uint32_t hash_of(str key)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < key.len; i++)
        hash = (hash ^ (uint8_t)key.data[i]) * 16777619u;
    return hash;
}

uint32_t expr_placeholders_find(const struct expr_placeholders *map, str key)
{
    if (!map->slots) {
        for (uint32_t i = 0; i < map->count; i++) {
            if (str_equal(map->entries[i].key, key))
                return i;
        }
        return EXPR_NO_ENTRY;
    }
    for (uint32_t slot = hash_of(key) & map->slot_mask;; slot = (slot + 1) & map->slot_mask) {
        uint32_t place = map->slots[slot];
        if (place == EXPR_NO_ENTRY || str_equal(map->entries[place].key, key))
            return place;
    }
}

static void open_map(struct call *call, struct expr_placeholders *map, uint32_t entries)
{
    *map = (struct expr_placeholders){.entries = ARENA_NEW_ARRAY(&call->arena, struct expr_placeholder, entries)};
    if (entries <= WALKED_MAX)
        return;
    uint32_t slots = 16;
    while (slots < entries * 2)
        slots *= 2;
    map->slot_mask = slots - 1;
    map->slots = arena_alloc(&call->arena, slots * sizeof map->slots[0]);
    for (uint32_t i = 0; i < slots; i++)
        map->slots[i] = EXPR_NO_ENTRY;
}

/* The entry of the key, new unless the JSON has it twice: the later one counts then. */
static struct expr_placeholder *map_entry(struct expr_placeholders *map, str key)
{
    uint32_t place = expr_placeholders_find(map, key);
    if (place != EXPR_NO_ENTRY)
        return &map->entries[place];
    place = map->count++;
    map->entries[place].key = key;
    if (map->slots) {
        uint32_t slot = hash_of(key) & map->slot_mask;
        while (map->slots[slot] != EXPR_NO_ENTRY)
            slot = (slot + 1) & map->slot_mask;
        map->slots[slot] = place;
    }
    return &map->entries[place];
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
    open_map(call, map, json->tokens[object].count);
    for (uint32_t i = json_first(json, object); i < json_end(json, object); i = json_next(json, i + 1)) {
        str key = json_string(json, i);
        TRY(check_key(call, map_name, mark, key));
        map_entry(map, key)->token = i + 1;
    }
    return FAULT_NONE;
}

static enum fault read_names(struct call *call, const struct json *json, uint32_t object, struct expr_placeholders *names, size_t *bytes) MUST_USE;
static enum fault read_names(struct call *call, const struct json *json, uint32_t object, struct expr_placeholders *names, size_t *bytes)
{
    TRY(read_keys(call, json, object, NAMES, '#', names));
    for (uint32_t i = 0; i < names->count; i++) {
        struct expr_placeholder *entry = &names->entries[i];
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
        if (!map->entries[i].is_used)
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
        if (!map->entries[i].is_used)
            return refuse_unused(call, map_name, map);
    }
    return FAULT_NONE;
}
