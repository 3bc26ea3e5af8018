/* Parts of CreateTable and UpdateTable requests: read, checked with DynamoDB's own errors, kept in a draft. Texts and their order:
   reference indexes-streams-ttl.md section 1, capacity.md sections 5 and 6. */
#ifndef STATOR_OP_TABLE_REQUEST_INTERNAL_H
#define STATOR_OP_TABLE_REQUEST_INTERNAL_H

#include "op/op_internal.h"

#define INVALID_PARAMETER "One or more parameter values were invalid: "

enum { NON_KEY_ATTRIBUTES_MAX = 100, DECREASES_FREE_A_DAY = 4, WARM_READ_DEFAULT = 12000, WARM_WRITE_DEFAULT = 4000 };

/* A request on its way into a draft. */
struct table_request {
    struct op_context *context;
    struct call *call;
    const struct json *json;
    struct table *draft;
    /* AttributeDefinitions of this very request: an index that it makes must find its keys there. */
    const struct key_attribute *definitions;
    size_t definition_count;
};

uint32_t request_member(const struct table_request *request, uint32_t object, const char *name);

/* The text in the draft's arena; empty when absent. */
str request_text(const struct table_request *request, uint32_t object, const char *name);

/* AttributeDefinitions into request->definitions; refuses a name that stands twice. */
enum fault request_definitions(struct table_request *request) MUST_USE;

/* The table's KeySchema into draft->keys. */
enum fault request_table_keys(struct table_request *request) MUST_USE;

/* An index from its object (an element of GlobalSecondaryIndexes, or an Update's Create). Its throughput is not looked at. */
enum fault request_index(struct table_request *request, uint32_t object, bool is_local, struct table_index *index) MUST_USE;

/* Refuses an index whose name is taken among the first `count`, with CreateTable's words. */
enum fault request_index_name_is_free(struct call *call, const struct table_index *indexes, size_t count, str name) MUST_USE;

/* Over all indexes: how many, and how many attributes they name in all. */
enum fault request_index_counts(struct call *call, const struct table_index *indexes, size_t count) MUST_USE;

/* ProvisionedThroughput (an object or JSON_ABSENT): its two numbers within bounds. */
enum fault request_units(struct table_request *request, uint32_t object, int64_t *read_units, int64_t *write_units) MUST_USE;

/* OnDemandThroughput and WarmThroughput of the table (index_name empty) or of an index. `is_update`: -1 takes a limit away, and a warm throughput
   may not fall. */
enum fault request_on_demand(struct table_request *request, uint32_t object, str index_name, bool is_update, struct table_throughput *throughput) MUST_USE;
enum fault request_warm(struct table_request *request, uint32_t object, str index_name, struct table_throughput *throughput) MUST_USE;

/* What the warm throughput is when nobody set it. */
int64_t warm_read_units(const struct table_throughput *throughput, enum table_billing billing);
int64_t warm_write_units(const struct table_throughput *throughput, enum table_billing billing);

/* StreamSpecification, SSESpecification, TableClass, DeletionProtectionEnabled: as far as they are there. */
enum fault request_stream(struct table_request *request, bool is_update) MUST_USE;
enum fault request_sse(struct table_request *request) MUST_USE;
void request_class(struct table_request *request, bool is_update);

/* Settings that no table of this server has yet. */
enum fault request_refuse_unsupported(struct table_request *request) MUST_USE;

/* Tags of a request added to `tags` (capacity TABLE_TAGS_MAX), by their rules. */
enum fault request_tags(struct call *call, const struct json *json, uint32_t list, struct arena *arena, struct table_tag *tags, size_t *count) MUST_USE;

/* "[a, b]" */
str names_text(struct call *call, const struct key_attribute *keys, size_t count);

/* --- Answers --- */

struct table_totals {
    uint64_t items, bytes;
    struct {
        uint64_t items, bytes;
    } indexes[TABLE_LOCAL_INDEXES_MAX + TABLE_GLOBAL_INDEXES_MAX]; /* by place among the table's indexes */
};

/* Items and bytes of all ranges of the table and of its global indexes. */
enum fault table_count(struct op_context *context, struct call *call, const struct table *table, struct table_totals *totals) MUST_USE;

/* A TableDescription. `shown`: the status to tell. `is_brief`: as DeleteTable answers, without schema and indexes. */
void table_describe(struct buf *out, struct call *call, const struct table *table, enum table_status shown, const struct table_totals *totals, bool is_brief);

/* Refuses a change of a table that is not ACTIVE. */
enum fault table_is_ready(struct call *call, const struct table *table) MUST_USE;

/* --- Tags --- */

/* The table that a ResourceArn means, as the tag operations find it. */
enum fault tagged_table_acquire(struct op_context *context, struct call *call, const struct json *request, const char *operation, const struct table **out) MUST_USE;

#endif
