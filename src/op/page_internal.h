/* What Query and Scan share: their requests, what they read, and how a page is read, filtered and answered.
   Reference: expressions.md sections 6, 7 and 9; capacity.md section 1; indexes-streams-ttl.md section 2. */
#ifndef STATOR_OP_PAGE_INTERNAL_H
#define STATOR_OP_PAGE_INTERNAL_H

#include "op/item_internal.h"

enum { PAGE_BYTES_MAX = 1 << 20 /* DynamoDB sizes, before the filter: the item that reaches it is the page's last */ };

enum page_select { SELECT_DEFAULT, SELECT_ALL_ATTRIBUTES, SELECT_ALL_PROJECTED, SELECT_SPECIFIC, SELECT_COUNT };

/* --- Requests (page_request.c) --- */

struct page_request {
    const struct json *json;
    bool is_query;
    bool is_current;        /* of AWS's newest wording, whatever call->wording has been narrowed to */
    str table_name;
    str index_name;         /* empty: the table itself */
    enum page_select select;
    bool is_strong;
    enum wire_capacity_detail detail;
    uint64_t limit;         /* items; UINT64_MAX: none */
    str key_condition;      /* programs; empty: none */
    str filter;
    str projection;
    bool filter_is_legacy;
    bool has_start_key;
    str start_key;          /* an item */
};

/* All that can be read and refused without knowing the table, in DynamoDB's order. */
enum fault page_request_read(struct call *call, const struct json *json, bool is_query, struct page_request *request) MUST_USE;

/* --- What is read (page_target.c) --- */

/* A table or one of its indexes. */
struct page_target {
    const struct table *table;
    const struct table_index *index; /* NULL: the table itself */
    const struct key_attribute *partition, *sort; /* of whichever it is */
    size_t partition_count, sort_count;
    struct index_schema schema;      /* of the index */
    bool fetches;                    /* a local index whose entries lack what is asked for: it is read from the items (page_check_paths) */
};

/* Finds the index and whether it can be read so. */
enum fault page_target_find(struct call *call, const struct page_request *request, const struct table *table, struct page_target *target) MUST_USE;

/* For an index that is not there, or is being deleted. */
enum fault page_refuse_index(struct call *call, str index_name) MUST_USE;

/* Whether the start key has as many attributes as the keys of target and table have together. */
bool page_start_key_is_whole(const struct page_request *request, const struct page_target *target);

/* The limits of the key values in a start key whose types are right: the table's own, then the index's. */
enum fault page_check_start_key(struct call *call, const struct page_request *request, const struct page_target *target) MUST_USE;

/* Paths into keys, filters on them, and what an index cannot give; target->fetches. */
enum fault page_check_paths(struct call *call, const struct page_request *request, struct page_target *target) MUST_USE;

/* A global index that is being made holds some of its items only. */
enum fault page_check_backfilling(struct call *call, const struct page_target *target) MUST_USE;

/* --- A page (page.c) --- */

/* The rows to read, over all ranges that hold some of them. */
struct page_walk {
    const struct table_range *ranges; /* of the table, or of a global index */
    size_t range_count;
    size_t space_bytes; /* of a row key, before its hash */
    str lower;          /* the first row key wanted */
    str upper;          /* the first no longer wanted */
    bool reverse;
    bool is_bulk;       /* see part_scan */
    bool is_one_row;    /* at most one row matches: there is nothing to go on with behind it */
};

/* The walk over all rows of the target, without its bounds. */
struct page_walk page_walk_of(const struct page_target *target);

/* The smallest row key above this one. */
str page_key_after(struct call *call, str row_key);

/* Reads rows up to a limit or the walk's end, and answers: memory beside the answer is bounded, whatever the rows. */
enum fault page_run(struct op_context *context, struct call *call, const struct page_request *request, const struct page_target *target, const struct page_walk *walk,
                    struct buf *answer) MUST_USE;

#endif
