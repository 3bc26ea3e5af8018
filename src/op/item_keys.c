/* Key attributes of a table and its indexes: what changes must keep, and which paths may not lead into them. */
#include "op/item_internal.h"

static bool is_table_key(const struct table *table, str attribute)
{
    return str_equal(attribute, table->keys.partition.name) || (table->keys.sort.name.len && str_equal(attribute, table->keys.sort.name));
}

static void add_index_key(const struct table *table, const struct table_index *index, const struct key_attribute *key, size_t bytes_max, struct edit *edit,
    struct edit_index_key *keys)
{
    if (is_table_key(table, key->name))
        return;
    keys[edit->index_key_count++] = (struct edit_index_key){
        .attribute = key->name,
        .type = key->type,
        .index = index->name,
        .bytes_max = bytes_max,
    };
}

void item_index_keys(struct call *call, const struct table *table, struct edit *edit)
{
    edit->index_key_count = 0;
    if (table->index_count == 0)
        return;
    struct edit_index_key *keys = ARENA_NEW_ARRAY(&call->arena, struct edit_index_key, table->index_count * 2 * INDEX_KEY_PARTS_MAX);
    /* Global indexes first: DynamoDB names those when both kinds refuse. */
    for (int local = 0; local <= 1; local++) {
        for (size_t i = 0; i < table->index_count; i++) {
            const struct table_index *index = &table->indexes[i];
            if (index->is_local != (local == 1))
                continue;
            for (size_t part = 0; part < index->partition_count; part++)
                add_index_key(table, index, &index->partition[part], PARTITION_KEY_MAX, edit, keys);
            for (size_t part = 0; part < index->sort_count; part++)
                add_index_key(table, index, &index->sort[part], SORT_KEY_MAX, edit, keys);
        }
    }
    edit->index_keys = keys;
}

void item_local_indexes(struct call *call, const struct table *table, struct edit *edit)
{
    size_t count = 0;
    while (count < table->index_count && table->indexes[count].is_local)
        count++;
    edit->local_index_count = count;
    if (count == 0)
        return;
    struct index_schema *schemas = ARENA_NEW_ARRAY(&call->arena, struct index_schema, count);
    for (size_t i = 0; i < count; i++)
        table_index_schema(table, &table->indexes[i], &schemas[i]);
    edit->local_indexes = schemas;
}

/* What a visit of a program's paths looks for. */
struct path_search {
    struct call *call;
    str attribute;
    const char *kind;                 /* "Key" or "IndexKey" */
    const struct edit_index_key *key; /* for refuse_mistyped */
};

static enum fault refuse_written(void *context, const struct expr_path *path)
{
    const struct path_search *search = context;
    if (!path->is_written || !str_equal(path->attribute, search->attribute))
        return FAULT_NONE;
    return fail(search->call, FAULT_VALIDATION, "One or more parameter values were invalid: Cannot update attribute %.*s. This attribute is part of the key",
        STR_ARG(search->attribute));
}

static enum fault refuse_nested(void *context, const struct expr_path *path)
{
    const struct path_search *search = context;
    if (!path->is_nested || !str_equal(path->attribute, search->attribute))
        return FAULT_NONE;
    return fail(search->call, FAULT_VALIDATION, "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: %s: %.*s", search->kind,
        STR_ARG(search->attribute));
}

static enum fault refuse_mistyped(void *context, const struct expr_path *path)
{
    const struct path_search *search = context;
    const struct edit_index_key *key = search->key;
    if (path->is_nested || path->written_type == 0 || path->written_type == key->type || !str_equal(path->attribute, key->attribute))
        return FAULT_NONE;
    uint8_t expected = (uint8_t)key->type;
    str expected_name = value_type_name(str_of(&expected, 1)), actual_name = value_type_name(str_of(&path->written_type, 1));
    return fail(search->call, FAULT_VALIDATION,
        "One or more parameter values were invalid: Type mismatch for Index Key %.*s Expected: %.*s Actual: %.*s IndexName: %.*s", STR_ARG(key->attribute),
        STR_ARG(expected_name), STR_ARG(actual_name), STR_ARG(key->index));
}

enum fault item_check_update_paths(struct call *call, const struct table *table, const struct edit *edit)
{
    if (edit->action.len == 0)
        return FAULT_NONE;
    struct path_search search = {.call = call, .attribute = table->keys.partition.name};
    TRY(expr_paths_each(edit->action, refuse_written, &search));
    if (table->keys.sort.name.len) {
        search.attribute = table->keys.sort.name;
        TRY(expr_paths_each(edit->action, refuse_written, &search));
    }
    for (size_t i = 0; i < edit->index_key_count; i++) {
        search.key = &edit->index_keys[i];
        TRY(expr_paths_each(edit->action, refuse_mistyped, &search));
    }
    return item_check_key_paths(call, table, edit->action);
}

static enum fault check_index_key_paths(struct path_search *search, const struct table_index *index, str program)
{
    for (size_t part = 0; part < index->partition_count; part++) {
        search->attribute = index->partition[part].name;
        TRY(expr_paths_each(program, refuse_nested, search));
    }
    for (size_t part = 0; part < index->sort_count; part++) {
        search->attribute = index->sort[part].name;
        TRY(expr_paths_each(program, refuse_nested, search));
    }
    return FAULT_NONE;
}

enum fault item_check_key_paths(struct call *call, const struct table *table, str program)
{
    if (program.len == 0)
        return FAULT_NONE;
    struct path_search search = {.call = call, .kind = "Key", .attribute = table->keys.partition.name};
    TRY(expr_paths_each(program, refuse_nested, &search));
    if (table->keys.sort.name.len) {
        search.attribute = table->keys.sort.name;
        TRY(expr_paths_each(program, refuse_nested, &search));
    }
    search.kind = "IndexKey";
    for (size_t i = 0; i < table->index_count; i++)
        TRY(check_index_key_paths(&search, &table->indexes[i], program));
    return FAULT_NONE;
}
