/* What Query and Scan read: the table or an index, and what of the request does not go with it. */
#include "op/page_internal.h"

#include <stdlib.h>

enum fault page_refuse_index(struct call *call, str index_name)
{
    return fail(call, FAULT_VALIDATION, "The table does not have the specified index: %.*s", STR_ARG(index_name));
}

enum fault page_target_find(struct call *call, const struct page_request *request, const struct table *table, struct page_target *target)
{
    *target = (struct page_target){
        .table = table,
        .partition = &table->keys.partition,
        .partition_count = 1,
        .sort = &table->keys.sort,
        .sort_count = table->keys.sort.name.len > 0,
    };
    if (request->index_name.len == 0)
        return FAULT_NONE;
    const struct table_index *index = table_index_find(table, request->index_name);
    if (!index || index->status == TABLE_DELETING)
        return page_refuse_index(call, request->index_name);
    if (!index->is_local && request->is_strong)
        return fail(call, FAULT_VALIDATION, "Consistent reads are not supported on global secondary indexes");
    target->index = index;
    target->partition = index->partition;
    target->partition_count = index->partition_count;
    target->sort = index->sort;
    target->sort_count = index->sort_count;
    table_index_schema(table, index, &target->schema);
    return FAULT_NONE;
}

struct page_walk page_walk_of(const struct page_target *target)
{
    const struct table *table = target->table;
    const struct table_index *index = target->index;
    bool is_global = index && !index->is_local;
    return (struct page_walk){
        .ranges = is_global ? index->ranges : table->ranges,
        .range_count = is_global ? index->range_count : table->range_count,
        .space_bytes = index && index->is_local ? 2 : 1,
    };
}

static bool is_key(const struct page_target *target, str attribute)
{
    for (size_t i = 0; i < target->partition_count; i++) {
        if (str_equal(target->partition[i].name, attribute))
            return true;
    }
    for (size_t i = 0; i < target->sort_count; i++) {
        if (str_equal(target->sort[i].name, attribute))
            return true;
    }
    return false;
}

bool page_start_key_is_whole(const struct page_request *request, const struct page_target *target)
{
    const struct key_schema *keys = &target->table->keys;
    uint64_t count = target->partition_count + target->sort_count;
    count += !is_key(target, keys->partition.name);
    count += keys->sort.name.len > 0 && !is_key(target, keys->sort.name);
    struct value_walk walk;
    item_walk_open(&walk, request->start_key);
    return walk.left == count;
}

enum fault page_check_backfilling(struct call *call, const struct page_target *target)
{
    const struct table_index *index = target->index;
    if (!index || index->is_local || index->status != TABLE_CREATING)
        return FAULT_NONE;
    return fail(call, FAULT_VALIDATION, "Cannot read from backfilling global secondary index: %.*s", STR_ARG(index->name));
}

/* A key value in a start key: there, of its type, within its limits. */
static enum fault check_start_value(struct call *call, const struct page_request *request, const struct key_attribute *attribute, bool is_partition) MUST_USE;
static enum fault check_start_value(struct call *call, const struct page_request *request, const struct key_attribute *attribute, bool is_partition)
{
    str v = item_get(request->start_key, attribute->name);
    if (v.len == 0 || value_type(v) != attribute->type)
        return fail(call, FAULT_VALIDATION, "The provided starting key is invalid%s",
                    request->is_query || !request->is_current ? ": The provided key element does not match the schema" : "");
    if (key_check_value(call, attribute, v, is_partition) == FAULT_NONE)
        return FAULT_NONE;
    str inner = call->message;
    call_clear_fault(call);
    return fail(call, FAULT_VALIDATION, "The provided starting key is invalid: %.*s", STR_ARG(inner));
}

enum fault page_check_start_key(struct call *call, const struct page_request *request, const struct page_target *target)
{
    const struct key_schema *keys = &target->table->keys;
    TRY(check_start_value(call, request, &keys->partition, true));
    if (keys->sort.name.len > 0)
        TRY(check_start_value(call, request, &keys->sort, false));
    for (size_t i = 0; target->index && i < target->partition_count; i++)
        TRY(check_start_value(call, request, &target->partition[i], true));
    for (size_t i = 0; target->index && i < target->sort_count; i++)
        TRY(check_start_value(call, request, &target->sort[i], false));
    return FAULT_NONE;
}

/* --- Paths --- */

struct filter_visit {
    struct call *call;
    const struct page_request *request;
    const struct key_attribute *key;
};

static enum fault refuse_key(void *context, const struct expr_path *path)
{
    const struct filter_visit *visit = context;
    if (!str_equal(path->attribute, visit->key->name))
        return FAULT_NONE;
    return fail(visit->call, FAULT_VALIDATION, "%s can only contain non-primary key attributes: Primary key attribute: %.*s",
                visit->request->filter_is_legacy ? "QueryFilter" : "Filter Expression", STR_ARG(path->attribute));
}

/* A Query's filter knows no key of what is queried: those are for the key condition. */
static enum fault check_filter_keys(struct call *call, const struct page_request *request, const struct page_target *target) MUST_USE;
static enum fault check_filter_keys(struct call *call, const struct page_request *request, const struct page_target *target)
{
    struct filter_visit visit = {.call = call, .request = request};
    for (size_t i = 0; i < target->partition_count + target->sort_count; i++) {
        visit.key = i < target->partition_count ? &target->partition[i] : &target->sort[i - target->partition_count];
        TRY(expr_paths_each(request->filter, refuse_key, &visit));
    }
    return FAULT_NONE;
}

/* The attributes of a program that an index does not project, as they come: twice, when they are named twice. */
struct unprojected {
    const struct index_schema *schema;
    str *names; /* NULL: they are counted */
    size_t count;
};

static enum fault note_unprojected(void *context, const struct expr_path *path)
{
    struct unprojected *unprojected = context;
    if (index_projects(unprojected->schema, path->attribute))
        return FAULT_NONE;
    if (unprojected->names)
        unprojected->names[unprojected->count] = path->attribute;
    unprojected->count++;
    return FAULT_NONE;
}

static int compare_names(const void *a, const void *b)
{
    return str_compare(*(const str *)a, *(const str *)b);
}

/* Whether the index projects all that the program names; else *names has what it does not, as in "a, b". */
static enum fault find_unprojected(struct call *call, const struct page_target *target, str program, str *names) MUST_USE;
static enum fault find_unprojected(struct call *call, const struct page_target *target, str program, str *names)
{
    struct unprojected unprojected = {.schema = &target->schema};
    *names = STR_NONE;
    if (program.len == 0)
        return FAULT_NONE;
    TRY(expr_paths_each(program, note_unprojected, &unprojected));
    if (unprojected.count == 0)
        return FAULT_NONE;
    unprojected.names = ARENA_NEW_ARRAY(&call->arena, str, unprojected.count);
    unprojected.count = 0;
    TRY(expr_paths_each(program, note_unprojected, &unprojected));
    qsort(unprojected.names, unprojected.count, sizeof *unprojected.names, compare_names);
    struct buf list;
    buf_open(&list, &call->arena, 0);
    for (size_t i = 0; i < unprojected.count; i++) {
        if (i > 0 && str_equal(unprojected.names[i], unprojected.names[i - 1]))
            continue;
        if (i > 0)
            BUF_ADD_LITERAL(&list, ", ");
        buf_add_str(&list, unprojected.names[i]);
    }
    *names = buf_str(&list);
    return FAULT_NONE;
}

/* A Query's filter knows only what the index projects, also of a local one, which would otherwise have to read every item to find those that match. A
   Scan's takes the rest for missing (public captures of PartiQL's keyed and unkeyed reads, August 2026). */
static enum fault check_filter_projected(struct call *call, const struct page_request *request, const struct page_target *target) MUST_USE;
static enum fault check_filter_projected(struct call *call, const struct page_request *request, const struct page_target *target)
{
    str names;
    TRY(find_unprojected(call, target, request->filter, &names));
    if (names.len == 0)
        return FAULT_NONE;
    return fail(call, FAULT_VALIDATION, "One or more parameter values were invalid: Secondary index %.*s does not project one or more filter attributes: [%.*s]",
                STR_ARG(target->index->name), STR_ARG(names));
}

/* What is asked for lies in the index or, for a local one, in the items. */
static enum fault check_projected(struct call *call, const struct page_request *request, struct page_target *target) MUST_USE;
static enum fault check_projected(struct call *call, const struct page_request *request, struct page_target *target)
{
    const struct table_index *index = target->index;
    str names;
    if (index->projection == PROJECTION_ALL)
        return FAULT_NONE;
    bool wants_all = request->select == SELECT_ALL_ATTRIBUTES;
    TRY(find_unprojected(call, target, request->projection, &names));
    if (index->is_local) {
        target->fetches = wants_all || names.len > 0;
        return FAULT_NONE;
    }
    if (wants_all)
        return fail(call, FAULT_VALIDATION,
                    "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index %.*s because its "
                    "projection type is not ALL",
                    STR_ARG(index->name));
    if (names.len > 0)
        return fail(call, FAULT_VALIDATION, "One or more parameter values were invalid: Global secondary index %.*s does not project [%.*s]", STR_ARG(index->name),
                    STR_ARG(names));
    return FAULT_NONE;
}

enum fault page_check_paths(struct call *call, const struct page_request *request, struct page_target *target)
{
    TRY(item_check_key_paths(call, target->table, request->projection));
    if (request->is_query && request->filter.len > 0)
        TRY(check_filter_keys(call, request, target));
    if (request->is_query && target->index)
        TRY(check_filter_projected(call, request, target));
    if (target->index)
        TRY(check_projected(call, request, target));
    return item_check_key_paths(call, target->table, request->filter);
}
