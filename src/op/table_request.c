/* Keys and indexes in CreateTable and UpdateTable requests. */
#include "op/table_request_internal.h"

#include <stdlib.h>

uint32_t request_member(const struct table_request *request, uint32_t object, const char *name)
{
    return json_member(request->json, object, str_of_text(name));
}

str request_text(const struct table_request *request, uint32_t object, const char *name)
{
    return arena_copy(&request->draft->arena, wire_text(request->json, request_member(request, object, name)));
}

str names_text(struct call *call, const struct key_attribute *keys, size_t count)
{
    struct buf text;
    buf_open(&text, &call->arena, 64);
    buf_add_byte(&text, '[');
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%.*s", i ? ", " : "", STR_ARG(keys[i].name));
    buf_add_byte(&text, ']');
    return buf_str(&text);
}

static enum value_type key_type_of(str text)
{
    return str_equal(text, STR("S")) ? VALUE_S : str_equal(text, STR("N")) ? VALUE_N : VALUE_B;
}

static const struct key_attribute *find_definition(const struct table_request *request, str name)
{
    for (size_t i = 0; i < request->definition_count; i++)
        if (str_equal(request->definitions[i].name, name))
            return &request->definitions[i];
    return NULL;
}

/* An attribute definition's name and where it stands. */
struct defined_name {
    str name;
    size_t place;
};

static int compare_defined(const void *a, const void *b)
{
    const struct defined_name *left = a, *right = b;
    int order = str_compare(left->name, right->name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* The list is as long as a body allows: sorted, not compared in pairs. */
static enum fault check_defined_once(struct table_request *request) MUST_USE;
static enum fault check_defined_once(struct table_request *request)
{
    size_t count = request->definition_count;
    struct defined_name *sorted = ARENA_NEW_ARRAY(&request->call->arena, struct defined_name, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct defined_name){request->definitions[i].name, i};
    qsort(sorted, count, sizeof *sorted, compare_defined);
    const struct defined_name *first = NULL;
    for (size_t i = 1; i < count; i++)
        if (str_equal(sorted[i - 1].name, sorted[i].name) && (!first || sorted[i].place < first->place))
            first = &sorted[i];
    return !first ? FAULT_NONE : fail(request->call, FAULT_VALIDATION, INVALID_PARAMETER "Duplicate AttributeName in AttributeDefinitions: %.*s", STR_ARG(first->name));
}

enum fault request_definitions(struct table_request *request)
{
    uint32_t list = request_member(request, 0, "AttributeDefinitions");
    if (list == JSON_ABSENT)
        return FAULT_NONE;
    size_t count = request->json->tokens[list].count;
    struct key_attribute *definitions = ARENA_NEW_ARRAY(&request->draft->arena, struct key_attribute, count + 1);
    request->definitions = definitions;
    for (uint32_t i = json_first(request->json, list); i < json_end(request->json, list); i = json_next(request->json, i)) {
        str name = request_text(request, i, "AttributeName");
        definitions[request->definition_count++] =
            (struct key_attribute){name, key_type_of(wire_text(request->json, request_member(request, i, "AttributeType")))};
    }
    return check_defined_once(request);
}

/* A KeySchema as it stands in the request. */
struct key_elements {
    struct key_attribute *keys;
    bool *is_hash;
    size_t count;
};

static struct key_elements read_elements(struct table_request *request, uint32_t list)
{
    struct arena *arena = &request->draft->arena;
    size_t count = list == JSON_ABSENT ? 0 : request->json->tokens[list].count;
    struct key_elements elements = {ARENA_NEW_ARRAY(arena, struct key_attribute, count + 1), ARENA_NEW_ARRAY(arena, bool, count + 1), 0};
    if (list == JSON_ABSENT)
        return elements;
    for (uint32_t i = json_first(request->json, list); i < json_end(request->json, list); i = json_next(request->json, i)) {
        elements.keys[elements.count].name = request_text(request, i, "AttributeName");
        elements.is_hash[elements.count++] = str_equal(wire_text(request->json, request_member(request, i, "KeyType")), STR("HASH"));
    }
    return elements;
}

static enum fault check_defined(struct table_request *request, struct key_elements *elements)
{
    bool all = true;
    for (size_t i = 0; i < elements->count; i++) {
        const struct key_attribute *definition = find_definition(request, elements->keys[i].name);
        all &= definition != NULL;
        if (definition)
            elements->keys[i].type = definition->type;
    }
    if (all)
        return FAULT_NONE;
    return fail(request->call, FAULT_VALIDATION,
        INVALID_PARAMETER "Some index key attributes are not defined in AttributeDefinitions. Keys: %.*s, AttributeDefinitions: %.*s",
        STR_ARG(names_text(request->call, elements->keys, elements->count)),
        STR_ARG(names_text(request->call, request->definitions, request->definition_count)));
}

/* One partition key and at most one sort key: tables and local indexes. */
static enum fault check_simple(struct call *call, const struct key_elements *elements)
{
    if (elements->count > 1 && str_equal(elements->keys[0].name, elements->keys[1].name))
        return fail(call, FAULT_VALIDATION, "Both the Hash Key and the Range Key element in the KeySchema have the same name");
    if (!elements->is_hash[0])
        return fail(call, FAULT_VALIDATION, "Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
    if (elements->count > 1 && elements->is_hash[1])
        return fail(call, FAULT_VALIDATION, "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
    return FAULT_NONE;
}

/* Up to four of each, partition keys first: global indexes since November 2025. AWS's texts are known by pattern only. */
static enum fault check_multiple(struct call *call, const struct key_elements *elements)
{
    enum { COMPARED_MAX = 1000 }; /* of a longer list only the beginning: it is refused for its length below */
    for (size_t i = 0; i < elements->count && i < COMPARED_MAX; i++)
        for (size_t j = 0; j < i; j++)
            if (str_equal(elements->keys[i].name, elements->keys[j].name))
                return fail(call, FAULT_VALIDATION, "%s",
                    elements->count == 2 ? "Both the Hash Key and the Range Key element in the KeySchema have the same name"
                                         : "Invalid KeySchema: Some elements of the KeySchema have the same name");
    if (!elements->is_hash[0])
        return fail(call, FAULT_VALIDATION, "Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
    size_t hashes = 0;
    for (size_t i = 0; i < elements->count; i++) {
        if (elements->is_hash[i] && hashes != i)
            return fail(call, FAULT_VALIDATION, "Invalid KeySchema: All HASH key elements must precede all RANGE key elements");
        hashes += elements->is_hash[i];
    }
    if (hashes > INDEX_KEY_PARTS_MAX)
        return fail(call, FAULT_VALIDATION, "Invalid KeySchema: The number of HASH key elements exceeds the limit of %d", INDEX_KEY_PARTS_MAX);
    if (elements->count - hashes > INDEX_KEY_PARTS_MAX)
        return fail(call, FAULT_VALIDATION, "Invalid KeySchema: The number of RANGE key elements exceeds the limit of %d", INDEX_KEY_PARTS_MAX);
    return FAULT_NONE;
}

enum fault request_table_keys(struct table_request *request)
{
    struct key_elements elements = read_elements(request, request_member(request, 0, "KeySchema"));
    if (elements.count > request->definition_count)
        return fail(request->call, FAULT_VALIDATION, "Invalid KeySchema: Some index key attribute have no definition");
    TRY(check_defined(request, &elements));
    TRY(check_simple(request->call, &elements));
    request->draft->keys.partition = elements.keys[0];
    if (elements.count > 1)
        request->draft->keys.sort = elements.keys[1];
    return FAULT_NONE;
}

static enum fault check_local_keys(struct table_request *request, const struct key_elements *elements, str index_name)
{
    struct call *call = request->call;
    str table_hash = request->draft->keys.partition.name;
    if (elements->count != 2)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Index KeySchema does not have a range key for index: %.*s", STR_ARG(index_name));
    if (!str_equal(elements->keys[0].name, table_hash))
        return fail(call, FAULT_VALIDATION,
            INVALID_PARAMETER "Index KeySchema does not have the same leading hash key as table KeySchema for index: %.*s. index hash key: %.*s, table hash key: %.*s",
            STR_ARG(index_name), STR_ARG(elements->keys[0].name), STR_ARG(table_hash));
    return FAULT_NONE;
}

static enum fault read_projection(struct table_request *request, uint32_t projection, struct table_index *index)
{
    struct call *call = request->call;
    str type = wire_text(request->json, request_member(request, projection, "ProjectionType"));
    uint32_t names = request_member(request, projection, "NonKeyAttributes");
    if (type.len == 0)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Unknown ProjectionType: null");
    index->projection = str_equal(type, STR("ALL")) ? PROJECTION_ALL : str_equal(type, STR("KEYS_ONLY")) ? PROJECTION_KEYS_ONLY : PROJECTION_INCLUDE;
    if (index->projection != PROJECTION_INCLUDE) {
        if (names != JSON_ABSENT)
            return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "ProjectionType is %.*s, but NonKeyAttributes is specified", STR_ARG(type));
        return FAULT_NONE;
    }
    if (names == JSON_ABSENT)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
    str *list = ARENA_NEW_ARRAY(&request->draft->arena, str, request->json->tokens[names].count + 1u);
    size_t count = 0;
    for (uint32_t i = json_first(request->json, names); i < json_end(request->json, names); i = json_next(request->json, i)) {
        list[count] = arena_copy(&request->draft->arena, json_string(request->json, i));
        for (size_t other = 0; other < count; other++)
            if (str_equal(list[other], list[count]))
                return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Duplicate value in attribute name: %.*s", STR_ARG(list[count]));
        count++;
    }
    index->non_key_attributes = list;
    index->non_key_attribute_count = count;
    return FAULT_NONE;
}

enum fault request_index(struct table_request *request, uint32_t object, bool is_local, struct table_index *index)
{
    *index = (struct table_index){.name = request_text(request, object, "IndexName"), .is_local = is_local, .status = is_local ? TABLE_ACTIVE : TABLE_CREATING};
    struct key_elements elements = read_elements(request, request_member(request, object, "KeySchema"));
    TRY(check_defined(request, &elements));
    TRY(is_local ? check_simple(request->call, &elements) : check_multiple(request->call, &elements));
    if (is_local)
        TRY(check_local_keys(request, &elements, index->name));
    TRY(read_projection(request, request_member(request, object, "Projection"), index));
    for (size_t i = 0; i < elements.count; i++) {
        if (elements.is_hash[i])
            index->partition[index->partition_count++] = elements.keys[i];
        else
            index->sort[index->sort_count++] = elements.keys[i];
    }
    return FAULT_NONE;
}

enum fault request_index_name_is_free(struct call *call, const struct table_index *indexes, size_t count, str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(indexes[i].name, name))
            return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Duplicate index name: %.*s", STR_ARG(name));
    return FAULT_NONE;
}

enum fault request_index_counts(struct call *call, const struct table_index *indexes, size_t count)
{
    size_t locals = 0, globals = 0, names = 0;
    for (size_t i = 0; i < count; i++) {
        if (indexes[i].is_local)
            locals++;
        else
            globals++;
        names += indexes[i].non_key_attribute_count;
    }
    if (locals > TABLE_LOCAL_INDEXES_MAX)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Number of LocalSecondaryIndexes exceeds per-table limit of %d", TABLE_LOCAL_INDEXES_MAX);
    if (globals > TABLE_GLOBAL_INDEXES_MAX)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "GlobalSecondaryIndex count exceeds the per-table limit of %d", TABLE_GLOBAL_INDEXES_MAX);
    if (names > NON_KEY_ATTRIBUTES_MAX)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Number of NonKeyAttributes over all indexes exceeds the per-table limit of %d", NON_KEY_ATTRIBUTES_MAX);
    return FAULT_NONE;
}
