/* Scan: all items of a table or an index, in the order of their partition keys' hashes, or one of many parts of them. A part is an equal piece of all hashes, so it
   stays what it is however the table's ranges are cut, and a start key alone says where to go on (invariant I13). */
#include "op/page_internal.h"

__extension__ typedef unsigned __int128 wide;

/* The first row key whose hash belongs to segment `segment` of `total`; for the one behind the last, what is above all rows. */
static str segment_bound(struct call *call, const struct page_target *target, size_t space_bytes, uint64_t segment, uint64_t total)
{
    wide hashes = (wide)1 << 64;
    uint64_t first = segment == total ? 0 : (uint64_t)(hashes * segment / total);
    struct buf bound;
    buf_open(&bound, &call->arena, 0);
    if (target->index)
        index_row_hash(&target->schema, first, &bound);
    else
        key_encode_hash(ROW_ITEM, first, &bound);
    if (segment == total) {
        bound.len = space_bytes;
        bound.data[space_bytes - 1]++; /* the next row space, or the next local index */
    }
    return buf_str(&bound);
}

/* A start key of an index has the index's own attributes, too; that they are there is told without saying which is not. */
static enum fault check_index_start_key(struct call *call, const struct page_request *request, const struct page_target *target) MUST_USE;
static enum fault check_index_start_key(struct call *call, const struct page_request *request, const struct page_target *target)
{
    for (size_t i = 0; i < target->partition_count + target->sort_count; i++) {
        const struct key_attribute *key = i < target->partition_count ? &target->partition[i] : &target->sort[i - target->partition_count];
        str v = item_get(request->start_key, key->name);
        if (v.len == 0)
            return fail(call, FAULT_VALIDATION, "The provided starting key is invalid");
        if (value_type(v) != key->type)
            return fail(call, FAULT_VALIDATION, "The provided key element does not match the schema");
    }
    return FAULT_NONE;
}

static enum fault check_start_key(struct call *call, const struct page_request *request, const struct page_target *target) MUST_USE;
static enum fault check_start_key(struct call *call, const struct page_request *request, const struct page_target *target)
{
    if (!page_start_key_is_whole(request, target))
        return fail(call, FAULT_VALIDATION, "The provided starting key is invalid%s",
                    target->index || request->is_current ? "" : ": The provided key element does not match the schema");
    if (target->index)
        TRY(check_index_start_key(call, request, target));
    return page_check_start_key(call, request, target);
}

static enum fault walk_open(struct call *call, const struct page_request *request, const struct page_target *target, struct page_walk *walk) MUST_USE;
static enum fault walk_open(struct call *call, const struct page_request *request, const struct page_target *target, struct page_walk *walk)
{
    const struct key_schema *keys = &target->table->keys;
    const struct json *json = request->json;
    uint64_t total = (uint64_t)wire_whole(json, json_member(json, 0, STR("TotalSegments")), 1);
    uint64_t segment = (uint64_t)wire_whole(json, json_member(json, 0, STR("Segment")), 0);
    *walk = page_walk_of(target);
    walk->lower = segment_bound(call, target, walk->space_bytes, segment, total);
    walk->upper = segment_bound(call, target, walk->space_bytes, segment + 1, total);
    walk->is_bulk = true;
    if (!request->has_start_key)
        return FAULT_NONE;
    struct buf start;
    buf_open(&start, &call->arena, 0);
    if (target->index)
        index_row_key(&target->schema, request->start_key, &start);
    else
        key_encode(keys, ROW_ITEM, item_get(request->start_key, keys->partition.name), item_get(request->start_key, keys->sort.name), &start);
    if (str_compare(buf_str(&start), walk->lower) < 0 || str_compare(buf_str(&start), walk->upper) >= 0)
        return fail(call, FAULT_VALIDATION,
                    "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: %llu "
                    "Segment: %llu",
                    (unsigned long long)total, (unsigned long long)segment);
    walk->lower = page_key_after(call, buf_str(&start));
    return FAULT_NONE;
}

static enum fault scan_table(struct op_context *context, struct call *call, const struct page_request *request, const struct table *table, struct buf *answer) MUST_USE;
static enum fault scan_table(struct op_context *context, struct call *call, const struct page_request *request, const struct table *table, struct buf *answer)
{
    struct page_target target;
    struct page_walk walk;
    TRY(page_target_find(call, request, table, &target));
    if (request->has_start_key)
        TRY(check_start_key(call, request, &target));
    TRY(walk_open(call, request, &target, &walk));
    TRY(page_check_paths(call, request, &target));
    TRY(page_check_backfilling(call, &target));
    return page_run(context, call, request, &target, &walk, answer);
}

enum fault op_scan(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    struct page_request page_request;
    TRY(page_request_read(call, request, false, &page_request));
    const struct table *table;
    TRY(op_table_acquire(context, call, request, &table));
    enum fault fault = scan_table(context, call, &page_request, table, answer);
    table_release(table);
    return fault;
}
