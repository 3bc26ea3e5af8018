/* Query: the items of one partition, in the order of their sort keys. Reference expressions.md section 6 (key condition extras) and section 7. */
#include "op/page_internal.h"

/* A key condition's conditions, each with the key attribute that it is for. */
struct query {
    const struct page_request *request;
    const struct page_target *target;
    size_t condition_count;
    struct expr_key_condition partition[INDEX_KEY_PARTS_MAX];
    struct expr_key_condition sort[INDEX_KEY_PARTS_MAX]; /* the first sort_count */
    size_t sort_count;
};

static const struct key_attribute *part_at(const struct page_target *target, size_t part)
{
    return part < target->partition_count ? &target->partition[part] : &target->sort[part - target->partition_count];
}

static bool condition_on(const struct page_request *request, str attribute, struct expr_key_condition *found)
{
    struct expr_key_conditions walk = expr_key_conditions_open(request->key_condition);
    bool is_found = false;
    struct expr_key_condition one;
    while (expr_key_conditions_next(&walk, &one)) {
        if (str_equal(one.attribute, attribute)) {
            *found = one; /* KeyConditions may say an attribute twice: the last counts */
            is_found = true;
        }
    }
    return is_found;
}

static size_t count_conditions(const struct page_request *request)
{
    struct expr_key_conditions walk = expr_key_conditions_open(request->key_condition);
    struct expr_key_condition one;
    size_t count = 0;
    while (expr_key_conditions_next(&walk, &one))
        count++;
    return count;
}

/* More conditions than key attributes. The words for more than two are from before indexes had keys of several attributes. */
static enum fault check_count(struct call *call, const struct query *query) MUST_USE;
static enum fault check_count(struct call *call, const struct query *query)
{
    size_t parts = query->target->partition_count + query->target->sort_count;
    if (query->condition_count <= parts)
        return FAULT_NONE;
    if (query->request->is_current)
        return fail(call, FAULT_VALIDATION, "The number of query conditions (%zu) exceeds the number of key attributes defined in the schema (%zu)",
                    query->condition_count, parts);
    if (query->condition_count > 2)
        return fail(call, FAULT_VALIDATION, "Conditions can be of length 1 or 2 only");
    return fail(call, FAULT_VALIDATION, "Query key condition not supported");
}

static enum fault check_condition(struct call *call, const struct key_attribute *key, const struct expr_key_condition *condition, bool is_partition) MUST_USE;
static enum fault check_condition(struct call *call, const struct key_attribute *key, const struct expr_key_condition *condition, bool is_partition)
{
    if (condition->comparison == EXPR_KEY_OTHER)
        return fail(call, FAULT_VALIDATION, "Attempted conditional constraint is not an indexable operation");
    for (size_t i = 0; i < 2 && condition->values[i].len > 0; i++) {
        if (value_type(condition->values[i]) != key->type)
            return fail(call, FAULT_VALIDATION, "One or more parameter values were invalid: Condition parameter type does not match schema type");
    }
    if (is_partition && condition->comparison != EXPR_KEY_EQUAL)
        return fail(call, FAULT_VALIDATION, "Query key condition not supported");
    for (size_t i = 0; i < 2 && condition->values[i].len > 0; i++)
        TRY(key_check_value(call, key, condition->values[i], is_partition));
    return FAULT_NONE;
}

/* The start key has a value of the right type for this key attribute. */
static enum fault check_start_part(struct call *call, const struct query *query, const struct key_attribute *key) MUST_USE;
static enum fault check_start_part(struct call *call, const struct query *query, const struct key_attribute *key)
{
    if (!query->request->has_start_key)
        return FAULT_NONE;
    str v = item_get(query->request->start_key, key->name);
    if (v.len == 0)
        return fail(call, FAULT_VALIDATION, "The provided starting key is invalid");
    if (value_type(v) != key->type)
        return fail(call, FAULT_VALIDATION, "The provided key element does not match the schema");
    return FAULT_NONE;
}

/* Sort conditions go from the left without a gap, and all but the last ask for equality. */
static enum fault check_sort_order(struct call *call, const struct query *query, size_t part) MUST_USE;
static enum fault check_sort_order(struct call *call, const struct query *query, size_t part)
{
    const struct key_attribute *sort = query->target->sort;
    bool has_gap = query->sort_count < part;
    if (!has_gap && (part == 0 || query->sort[part - 1].comparison == EXPR_KEY_EQUAL))
        return FAULT_NONE;
    size_t lacking = has_gap ? query->sort_count : part - 1;
    return fail(call, FAULT_VALIDATION,
                "RANGE key attributes %.*s must have equality conditions specified in the query because a condition is present on key attribute %.*s",
                STR_ARG(sort[lacking].name), STR_ARG(sort[part].name));
}

/* A partition key of several attributes has words of its own, for conditions that are missing and for such that are no equalities (seen on AWS; of their
   end only the sort key's counterpart is known). */
static enum fault refuse_lacking_partition(struct call *call, const struct query *query)
{
    const struct page_target *target = query->target;
    struct buf names;
    buf_open(&names, &call->arena, 0);
    for (size_t i = 0; i < target->partition_count; i++) {
        struct expr_key_condition condition;
        if (condition_on(query->request, target->partition[i].name, &condition) && condition.comparison == EXPR_KEY_EQUAL)
            continue;
        if (names.len > 0)
            BUF_ADD_LITERAL(&names, ", ");
        buf_add_str(&names, target->partition[i].name);
    }
    return fail(call, FAULT_VALIDATION, "HASH key attributes %.*s must have equality conditions specified in the query", STR_ARG(buf_str(&names)));
}

/* One attribute of the key: the start key's value, then the condition. */
static enum fault read_part(struct call *call, struct query *query, size_t part) MUST_USE;
static enum fault read_part(struct call *call, struct query *query, size_t part)
{
    const struct page_target *target = query->target;
    const struct key_attribute *key = part_at(target, part);
    bool is_partition = part < target->partition_count;
    struct expr_key_condition condition;
    TRY(check_start_part(call, query, key));
    bool found = condition_on(query->request, key->name, &condition);
    bool is_wanted = is_partition || (target->sort_count == 1 && query->condition_count > target->partition_count);
    if (is_partition && target->partition_count > 1 && (!found || condition.comparison != EXPR_KEY_EQUAL))
        return refuse_lacking_partition(call, query);
    if (!found && is_wanted)
        return fail(call, FAULT_VALIDATION, "Query condition missed key schema element: %.*s", STR_ARG(key->name));
    if (!found)
        return FAULT_NONE;
    TRY(check_condition(call, key, &condition, is_partition));
    if (is_partition) {
        query->partition[part] = condition;
        return FAULT_NONE;
    }
    size_t place = part - target->partition_count;
    TRY(check_sort_order(call, query, place));
    query->sort[query->sort_count++] = condition;
    return FAULT_NONE;
}

static enum fault read_conditions(struct call *call, struct query *query) MUST_USE;
static enum fault read_conditions(struct call *call, struct query *query)
{
    const struct page_target *target = query->target;
    query->condition_count = count_conditions(query->request);
    if (query->request->has_start_key && !page_start_key_is_whole(query->request, target))
        return fail(call, FAULT_VALIDATION, "The provided starting key is invalid");
    TRY(check_count(call, query));
    for (size_t part = 0; part < target->partition_count + target->sort_count; part++)
        TRY(read_part(call, query, part));
    /* With several sort attributes, a condition may still be on none of the key. */
    if (query->condition_count > target->partition_count + query->sort_count)
        return fail(call, FAULT_VALIDATION, "Query condition missed key schema element: %.*s", STR_ARG(target->sort[query->sort_count].name));
    return FAULT_NONE;
}

/* --- The start key --- */

static bool condition_holds(const struct expr_key_condition *condition, str v)
{
    int order = condition->comparison == EXPR_KEY_BEGINS_WITH ? 0 : value_compare(v, condition->values[0]);
    switch (condition->comparison) {
    case EXPR_KEY_EQUAL:
        return order == 0;
    case EXPR_KEY_LESS:
        return order < 0;
    case EXPR_KEY_LESS_EQUAL:
        return order <= 0;
    case EXPR_KEY_GREATER:
        return order > 0;
    case EXPR_KEY_GREATER_EQUAL:
        return order >= 0;
    case EXPR_KEY_BETWEEN:
        return order >= 0 && value_compare(v, condition->values[1]) <= 0;
    case EXPR_KEY_BEGINS_WITH:
        return str_begins(value_scalar(v), value_scalar(condition->values[0]));
    case EXPR_KEY_OTHER:
        break;
    }
    return false;
}

/* Whether at most one row of the table can match. */
static bool is_one_row(const struct query *query)
{
    const struct page_target *target = query->target;
    return !target->index && (target->sort_count == 0 || (query->sort_count == 1 && query->sort[0].comparison == EXPR_KEY_EQUAL));
}

static enum fault refuse_start_of_one_row(struct call *call, const struct query *query)
{
    if (query->sort_count > 0)
        return fail(call, FAULT_VALIDATION, "The query can return at most one row and cannot be restarted");
    /* As Java shows an AttributeValue; a number as it was sent. */
    const struct json *json = query->request->json;
    const struct key_attribute *key = query->target->partition;
    str v = item_get(query->request->start_key, key->name), type = value_type_name(v), text = value_scalar(v);
    if (key->type == VALUE_N)
        text = wire_text(json, json_member(json, json_member(json, json_member(json, 0, STR("ExclusiveStartKey")), key->name), type));
    else if (key->type == VALUE_B)
        text = arena_printf(&call->arena, "java.nio.HeapByteBuffer[pos=0 lim=%zu cap=%zu]", text.len, text.len);
    return fail(call, FAULT_VALIDATION, "The provided exclusive start key is invalid: ExclusiveStartKey: {%.*s=AttributeValue: {%.*s:%.*s}}", STR_ARG(key->name),
                STR_ARG(type), STR_ARG(text));
}

/* The start key lies in what is asked for. */
static enum fault check_start_key(struct call *call, const struct query *query) MUST_USE;
static enum fault check_start_key(struct call *call, const struct query *query)
{
    const struct page_target *target = query->target;
    str start = query->request->start_key;
    if (!query->request->has_start_key)
        return FAULT_NONE;
    TRY(page_check_start_key(call, query->request, target));
    bool is_in_partition = true;
    for (size_t i = 0; i < target->partition_count; i++)
        is_in_partition &= value_equal(item_get(start, target->partition[i].name), query->partition[i].values[0]);
    if (query->sort_count == 0 && !is_in_partition)
        return fail(call, FAULT_VALIDATION, "The provided starting key is outside query boundaries based on provided conditions");
    for (size_t i = 0; i < query->sort_count; i++) {
        if (!condition_holds(&query->sort[i], item_get(start, target->sort[i].name)))
            return fail(call, FAULT_VALIDATION, "The provided starting key does not match the range key predicate");
    }
    /* DynamoDB's own words for another partition when there is a sort condition. */
    if (!is_in_partition)
        return fail(call, FAULT_VALIDATION, "The query can return at most one row and cannot be restarted");
    return is_one_row(query) ? refuse_start_of_one_row(call, query) : FAULT_NONE;
}

/* --- Rows --- */

/* Row keys of one partition, and of one value of every sort attribute before the last that is asked about. */
struct key_space {
    str prefix;
    bool is_closed; /* a sort value is followed by an end mark and more: index entries; else it ends the row key */
};

/* What row keys with this sort value begin with; `is_whole`: this value, not others that it begins. */
static str with_sort(struct call *call, const struct key_space *space, str sort, bool is_whole)
{
    static const char end_mark[] = {1, 1}; /* see model/key.h */
    struct buf key;
    buf_open(&key, &call->arena, space->prefix.len + 2 * sort.len + sizeof end_mark);
    buf_add_str(&key, space->prefix);
    key_encode_sort(sort, &key);
    if (is_whole && space->is_closed)
        buf_add(&key, end_mark, sizeof end_mark);
    return buf_str(&key);
}

/* The first row key behind all that begin with this. */
static str behind(struct call *call, str prefix)
{
    struct buf key;
    buf_open(&key, &call->arena, prefix.len);
    buf_add_str(&key, prefix);
    while ((uint8_t)key.data[key.len - 1] == 0xff)
        key.len--;
    key.data[key.len - 1]++;
    return buf_str(&key);
}

/* The first row key behind those with this sort value. */
static str behind_value(struct call *call, const struct key_space *space, str sort)
{
    str first = with_sort(call, space, sort, true);
    return space->is_closed ? behind(call, first) : page_key_after(call, first);
}

/* Narrows the walk, which has the whole space, to what the condition asks for. */
static void narrow(struct call *call, const struct expr_key_condition *condition, const struct key_space *space, struct page_walk *walk)
{
    str low = condition->values[0], high = condition->comparison == EXPR_KEY_BETWEEN ? condition->values[1] : low;
    switch (condition->comparison) {
    case EXPR_KEY_EQUAL:
    case EXPR_KEY_BETWEEN:
        walk->lower = with_sort(call, space, low, true);
        walk->upper = behind_value(call, space, high);
        break;
    case EXPR_KEY_LESS:
        walk->upper = with_sort(call, space, low, true);
        break;
    case EXPR_KEY_LESS_EQUAL:
        walk->upper = behind_value(call, space, low);
        break;
    case EXPR_KEY_GREATER:
        walk->lower = behind_value(call, space, low);
        break;
    case EXPR_KEY_GREATER_EQUAL:
        walk->lower = with_sort(call, space, low, true);
        break;
    case EXPR_KEY_BEGINS_WITH:
        walk->lower = with_sort(call, space, low, false);
        walk->upper = behind(call, walk->lower);
        break;
    case EXPR_KEY_OTHER:
        break;
    }
}

static struct key_space key_space_of(struct call *call, const struct query *query)
{
    const struct page_target *target = query->target;
    struct buf prefix;
    buf_open(&prefix, &call->arena, 0);
    if (!target->index) {
        key_encode_partition(&target->table->keys, ROW_ITEM, query->partition[0].values[0], &prefix);
        return (struct key_space){.prefix = buf_str(&prefix)};
    }
    str partition[INDEX_KEY_PARTS_MAX], sort[INDEX_KEY_PARTS_MAX];
    for (size_t i = 0; i < target->partition_count; i++)
        partition[i] = query->partition[i].values[0];
    size_t leading = query->sort_count > 0 ? query->sort_count - 1 : 0; /* all of them equalities: see check_sort_order */
    for (size_t i = 0; i < leading; i++)
        sort[i] = query->sort[i].values[0];
    index_row_prefix(&target->schema, partition, sort, leading, &prefix);
    return (struct key_space){.prefix = buf_str(&prefix), .is_closed = true};
}

static str start_row_key(struct call *call, const struct query *query)
{
    const struct page_target *target = query->target;
    const struct key_schema *keys = &target->table->keys;
    str start_key = query->request->start_key;
    struct buf start;
    buf_open(&start, &call->arena, 0);
    if (target->index)
        index_row_key(&target->schema, start_key, &start);
    else
        key_encode(keys, ROW_ITEM, item_get(start_key, keys->partition.name), item_get(start_key, keys->sort.name), &start);
    return buf_str(&start);
}

static void walk_open(struct call *call, const struct query *query, struct page_walk *walk)
{
    const struct page_request *request = query->request;
    struct key_space space = key_space_of(call, query);
    *walk = page_walk_of(query->target);
    walk->lower = space.prefix;
    walk->upper = behind(call, space.prefix);
    walk->reverse = !wire_flag(request->json, json_member(request->json, 0, STR("ScanIndexForward")), true);
    walk->is_one_row = is_one_row(query);
    if (query->sort_count > 0)
        narrow(call, &query->sort[query->sort_count - 1], &space, walk);
    if (!request->has_start_key)
        return;
    str start = start_row_key(call, query);
    if (walk->reverse)
        walk->upper = start;
    else
        walk->lower = page_key_after(call, start);
}

static enum fault query_table(struct op_context *context, struct call *call, const struct page_request *request, const struct table *table, struct buf *answer) MUST_USE;
static enum fault query_table(struct op_context *context, struct call *call, const struct page_request *request, const struct table *table, struct buf *answer)
{
    struct page_target target;
    struct page_walk walk;
    TRY(page_target_find(call, request, table, &target));
    struct query query = {.request = request, .target = &target};
    TRY(read_conditions(call, &query));
    TRY(check_start_key(call, &query));
    TRY(page_check_paths(call, request, &target));
    TRY(page_check_backfilling(call, &target));
    walk_open(call, &query, &walk);
    return page_run(context, call, request, &target, &walk, answer);
}

enum fault op_query(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    struct page_request page_request;
    TRY(page_request_read(call, request, true, &page_request));
    const struct table *table;
    TRY(op_table_acquire(context, call, request, &table));
    enum fault fault = query_table(context, call, &page_request, table, answer);
    table_release(table);
    return fault;
}
