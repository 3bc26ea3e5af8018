/* What the item operations share: reading their requests, running one change, charging for it, answering. */
#ifndef STATOR_OP_ITEM_INTERNAL_H
#define STATOR_OP_ITEM_INTERNAL_H

#include "op/op_internal.h"

enum {
    BATCH_GET_KEYS_MAX = 100,
    BATCH_GET_BYTES_MAX = 16 << 20, /* DynamoDB sizes of the items in one answer */
    BATCH_WRITE_REQUESTS_MAX = 25
};

/* --- Requests (item_request.c) --- */

/* AWS reworded the semantic errors of reads without their prefix, and those of batch writes not at all (see enum wording). Called first. */
void item_wording_of_reads(struct call *call);
void item_wording_of_batch_writes(struct call *call);

/* A map of attribute values as item bytes in the call's arena: what any of its values has wrong, and nesting beyond ITEM_DEPTH_MAX, is reported. */
enum fault item_read_values(struct call *call, const struct json *request, uint32_t map, str *item) MUST_USE;

/* The names among `all` (NULL-terminated) that are members of the object, NULL-terminated, in the arena. */
const char *const *item_present_members(struct call *call, const struct json *request, uint32_t object, const char *const *all);

/* No expression of any kind, but the placeholder maps. */
struct expr_request item_expression_members(const struct json *request, uint32_t object);

/* AttributesToGet: names of whole attributes, each once, as a projection. */
enum fault item_read_attributes_to_get(struct call *call, const struct json *request, uint32_t list, str *projection) MUST_USE;

/* ReturnValues of a request that passed wire_check. */
enum item_returns { RETURNS_NONE, RETURNS_ALL_OLD, RETURNS_UPDATED_OLD, RETURNS_ALL_NEW, RETURNS_UPDATED_NEW };

/* A single change as its request asks for it. */
struct item_write {
    struct edit edit;
    enum item_returns returns;
    enum wire_capacity_detail detail;
    bool wants_metrics;     /* ReturnItemCollectionMetrics SIZE */
    bool shows_failed_item; /* ReturnValuesOnConditionCheckFailure ALL_OLD */
    str table_name;         /* as the request has it */
    struct expr_request expressions;
};

/* Reads what says how to answer, and checks which parameters stand together: what comes before any value. The edit has its kind and
   nothing else yet. */
enum fault item_write_open(struct call *call, struct item_write *write, enum edit_kind kind, const struct json *request) MUST_USE;

/* PutItem and DeleteItem know no values behind the change. */
enum fault item_write_check_returns(struct call *call, const struct json *request, const struct item_write *write) MUST_USE;

/* The condition and, for EDIT_UPDATE, the update, of expressions or of the legacy parameters, into write->edit. */
enum fault item_write_read_expressions(struct call *call, const struct json *request, struct item_write *write) MUST_USE;

/* The legacy ones of them (item_legacy.c). */
enum fault item_write_read_legacy(struct call *call, const struct json *request, struct item_write *write) MUST_USE;

/* Which of a projection's parameters stand together: for GetItem, which checks that before its key's values. */
enum fault item_check_projection(struct call *call, const struct json *request, uint32_t object) MUST_USE;

/* ProjectionExpression or AttributesToGet of a request or of a batch's table; an empty str: the whole item. */
enum fault item_read_projection(struct call *call, const struct json *request, uint32_t object, str *projection) MUST_USE;

/* --- Keys and indexes (item_keys.c) --- */

/* The key attributes of the table's indexes, whose types and lengths the changed item must keep. Into the edit, in the call's arena. */
void item_index_keys(struct call *call, const struct table *table, struct edit *edit);

/* The table's local indexes, whose entries change with the item. Into the edit, in the call's arena; for every edit that goes to part_edit. */
void item_local_indexes(struct call *call, const struct table *table, struct edit *edit);

/* Refuses an update that writes a key attribute, brings another type than its index has to an index key, or leads into either. The edit
   has its index keys. */
enum fault item_check_update_paths(struct call *call, const struct table *table, const struct edit *edit) MUST_USE;

/* Refuses paths into a key attribute of the table or of an index. `program` is a projection or an update; it may be empty. */
enum fault item_check_key_paths(struct call *call, const struct table *table, str program) MUST_USE;

/* --- Charges (item_charge.c) --- */

/* What requests on one table have consumed so far. */
struct item_charge {
    const struct table *table;
    uint64_t table_half_units;
    uint64_t *index_half_units; /* for each of the table's indexes */
};

void item_charge_open(struct call *call, const struct table *table, struct item_charge *charge);

/* 0 bytes for a missing item. */
void item_charge_read(struct item_charge *charge, uint64_t size_bytes, enum read_consistency consistency);

/* A change that took place: the table's arm, and every index whose view of the item changed. */
void item_charge_write(struct call *call, struct item_charge *charge, const struct edit_outcome *outcome);

/* A ConsumedCapacity object. Not for CAPACITY_NONE. */
void item_charge_answer(struct call *call, const struct item_charge *charge, enum wire_capacity_detail detail, str table_name, struct buf *answer);

/* An ItemCollectionMetrics object for the collection of the item that has `key_item`: the whole gigabytes between which its size lies. */
void item_collection_answer(const struct table *table, str key_item, uint64_t collection_bytes, struct buf *answer);

/* Whether the table has item collections as AWS counts them: only with a local index. */
bool item_collections_exist(const struct table *table);

/* --- One change (item_write.c) --- */

/* Runs the edit, whose row key, key item and index keys are set, and answers as `write` says. */
enum fault item_write_run(struct op_context *context, struct call *call, const struct table *table, struct item_write *write, struct buf *answer) MUST_USE;

#endif
