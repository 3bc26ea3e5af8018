/* What Query and Scan read: the table or an index, and what of the request does not go with it. */
#include "op/page_internal.h"

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
    if (!index)
        return fail(call, FAULT_VALIDATION, "The table does not have the specified index: %.*s", STR_ARG(request->index_name));
    if (!index->is_local && request->is_strong)
        return fail(call, FAULT_VALIDATION, "Consistent reads are not supported on global secondary indexes");
    target->index = index;
    target->partition = index->partition;
    target->partition_count = index->partition_count;
    target->sort = index->sort;
    target->sort_count = index->sort_count;
    return FAULT_NONE;
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

enum fault page_refuse_index(struct call *call, const struct table_index *index)
{
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
    return keys->sort.name.len > 0 ? check_start_value(call, request, &keys->sort, false) : FAULT_NONE;
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

enum fault page_check_paths(struct call *call, const struct page_request *request, const struct page_target *target)
{
    const struct table_index *index = target->index;
    TRY(item_check_key_paths(call, target->table, request->projection));
    if (request->is_query && request->filter.len > 0)
        TRY(check_filter_keys(call, request, target));
    if (index && !index->is_local && request->select == SELECT_ALL_ATTRIBUTES && index->projection != PROJECTION_ALL)
        return fail(call, FAULT_VALIDATION,
                    "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index %.*s because its "
                    "projection type is not ALL",
                    STR_ARG(index->name));
    return item_check_key_paths(call, target->table, request->filter);
}
