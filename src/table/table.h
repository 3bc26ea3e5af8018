/* The catalog: which tables there are, what each is like, and in which ranges its rows are. */
#ifndef STATOR_TABLE_TABLE_H
#define STATOR_TABLE_TABLE_H

#include "base/bytes.h"
#include "base/call.h"
#include "model/index.h"
#include "store/store.h"

#include <stdatomic.h>

enum table_status { TABLE_CREATING, TABLE_ACTIVE, TABLE_UPDATING, TABLE_DELETING };
enum table_billing { BILLING_PROVISIONED, BILLING_PAY_PER_REQUEST };
enum table_projection { PROJECTION_ALL, PROJECTION_KEYS_ONLY, PROJECTION_INCLUDE };
enum table_stream_view { STREAM_VIEW_NONE, STREAM_VIEW_KEYS_ONLY, STREAM_VIEW_NEW_IMAGE, STREAM_VIEW_OLD_IMAGE, STREAM_VIEW_NEW_AND_OLD_IMAGES };

enum {
    TABLE_LOCAL_INDEXES_MAX = 5,
    TABLE_GLOBAL_INDEXES_MAX = 20,
    INDEX_KEY_PARTS_MAX = 4,     /* attributes of a global index's partition key, and of its sort key */
    TABLE_TAGS_MAX = 50
};

struct table_throughput {
    int64_t read_units, write_units;            /* provisioned; 0 on demand */
    int64_t max_read_units, max_write_units;    /* OnDemandThroughput; 0: not set */
    int64_t warm_read_units, warm_write_units;  /* WarmThroughput; 0: the default */
    int64_t decreases_today, decrease_day;      /* NumberOfDecreasesToday, and the UTC day (days since 1970) it counts */
    int64_t last_increase_us, last_decrease_us; /* 0: never */
    /* While a change is under way DescribeTable still shows the units and the count from before it. */
    bool is_changing;
    int64_t shown_read_units, shown_write_units, shown_decreases;
};

/* A piece of a table's or a global index's rows that the store keeps in one (architecture section 1). */
struct table_range {
    struct uuid id;
    uint64_t hash_from;       /* rows whose key_hash is at or above this, up to the next range's */
};

/* How far a global index has come (docs/adr/0010). Only a kept one follows the table's status. */
enum table_index_stage {
    INDEX_KEPT,    /* holds what the log tells */
    INDEX_PLANNED, /* the change log does not run for it yet */
    INDEX_COPYING  /* rows from before it are being copied, and the log from before the copy is being read */
};

struct table_index {
    str name;
    struct uuid id;
    bool is_local;
    struct key_attribute partition[INDEX_KEY_PARTS_MAX];
    size_t partition_count;
    struct key_attribute sort[INDEX_KEY_PARTS_MAX];
    size_t sort_count;
    enum table_projection projection;
    const str *non_key_attributes;
    size_t non_key_attribute_count;
    struct table_throughput throughput;
    enum table_status status;
    bool is_backfilling;             /* made by UpdateTable and not ACTIVE yet: Backfilling is shown, true while copying */
    enum table_index_stage stage;
    const struct table_range *ranges; /* of a global index that is not DELETING: its own, by hash_from, the first from 0 */
    size_t range_count;
};

struct table_tag {
    str key, value;
};

/* A table as it was at one moment: never changed, counted. All memory belongs to it. */
struct table {
    atomic_uint references;
    uint64_t change_number;                  /* of the catalog's changes, the one that made this: for table_replace */
    struct uuid id;
    str account, region, name;
    str arn;
    struct key_schema keys;
    const struct key_attribute *definitions; /* AttributeDefinitions as given */
    size_t definition_count;
    const struct table_index *indexes;       /* local first, each kind in the order given */
    size_t index_count;
    enum table_billing billing;
    int64_t billing_on_demand_us;            /* LastUpdateToPayPerRequestDateTime; 0: never */
    bool billing_was_set;                    /* whether BillingModeSummary is shown */
    struct table_throughput throughput;
    enum table_stream_view stream_view;
    int64_t stream_created_us;               /* names the stream; 0: never had one */
    bool stream_enabled;
    bool deletion_protected;
    bool is_infrequent_access;               /* TableClass STANDARD_INFREQUENT_ACCESS */
    bool class_was_set;                      /* whether TableClassSummary is shown */
    int64_t class_updated_us;
    bool sse_enabled;                        /* SSEDescription is shown when true */
    str sse_key_arn;                         /* KMSMasterKeyArn */
    str resource_policy;                     /* kept as given; empty: none */
    const struct table_tag *tags;
    size_t tag_count;
    int64_t created_us;
    enum table_status status;                /* as of the snapshot: a passing one is over at status_until_us */
    int64_t status_until_us;                 /* when a passing status of the table and its indexes ends; whoever acquires the table later sees it ended */
    int64_t status_since_us;
    const struct table_range *ranges;        /* by hash_from, the first from 0 */
    size_t range_count;
    bool logs_for_indexes;                   /* the ranges' change logs have, or are about to have, global indexes as a consumer */
    struct arena arena;
};

/* The status as a client sees it at now_us: CREATING and UPDATING become ACTIVE by themselves when their time is over, CREATING also waits until all
   global indexes are kept. */
enum table_status table_status_at(const struct table *table, int64_t now_us);

/* The name in capitals, "ACTIVE". */
str table_status_name(enum table_status status);

/* The range whose rows include the row key: of an item, as key_encode makes it, or of a local index's entry, which is where its item is. */
struct uuid table_range_of(const struct table *table, str row_key);

/* Whether the attribute is part of the table's key or of an index's. */
bool table_has_key_attribute(const struct table *table, str attribute);

const struct table_index *table_index_find(const struct table *table, str index_name);

/* One of the table's indexes as storage sees it; views of the table. */
void table_index_schema(const struct table *table, const struct table_index *index, struct index_schema *out);

/* An ARN's parts, "arn:aws:dynamodb:us-east-1:000000000000:table/name" and what stands behind the name ("/index/i"), all views. */
struct table_arn {
    str region, account, name, rest;
};

/* False when the text is no ARN of a table or of something inside one. */
bool table_arn_read(str text, struct table_arn *out);

/* The catalog of one service: kept in a range of the store, held in memory. */
struct table_catalog;

struct table_catalog_options {
    struct store *store;
    struct world *world;
    struct log *log;
    int64_t status_us;   /* how long CREATING, UPDATING and DELETING last; 0: over with the answer */
};

/* Reads the catalog. On failure NULL and one clear line in `problem`. */
struct table_catalog *table_catalog_open(const struct table_catalog_options *options, char *problem, size_t problem_bytes);
void table_catalog_close(struct table_catalog *catalog);

/* The table, held until table_release; FAULT_RESOURCE_NOT_FOUND `Requested resource not found` when there is none or it is CREATING or
   DELETING (what the data plane sees). `name` is a table name or a table ARN; a bad ARN, or one of another account or region, has its own errors. */
enum fault table_acquire(struct call *call, struct table_catalog *catalog, str account, str region, str name, const struct table **out) MUST_USE;

/* As the control plane sees it: any status; `Requested resource not found: Table: X not found`. */
enum fault table_acquire_any(struct call *call, struct table_catalog *catalog, str account, str region, str name, const struct table **out) MUST_USE;
void table_hold(const struct table *table); /* once more, by who holds it */
void table_release(const struct table *table);

/* A table that is being put together or changed: a copy to write to. Strings and arrays that are put into it must be in draft->arena. */
struct table *table_draft_new(const struct table *base_or_null);
void table_draft_free(struct table *draft);

/* Makes the draft durable as a new table, CREATING for status_us, with fresh ids and one range. Takes the draft over, on a fault too.
   *made is the table as it was made, held until table_release. FAULT_RESOURCE_IN_USE `Table already exists: X`. */
enum fault table_create(struct call *call, struct table_catalog *catalog, struct table *draft, const struct table **made) MUST_USE;

/* Replaces the table that the draft was copied from; FAULT_RESOURCE_IN_USE when it has changed or gone since. Takes the draft over, on a fault too.
   A draft whose status is TABLE_UPDATING stays so for status_us. Index ranges that the draft has no more are condemned in the same step. */
enum fault table_replace(struct call *call, struct table_catalog *catalog, struct table *draft, const struct table **made) MUST_USE;

/* Gives an index of a draft a range of its own. */
void table_draft_add_index_range(struct world *world, struct table *draft, struct table_index *index);

/* Deletes the table: it is gone for the data plane at once, its ranges are condemned durably in the same step. FAULT_RESOURCE_IN_USE when it has
   changed since it was acquired. */
enum fault table_delete(struct call *call, struct table_catalog *catalog, const struct table *table) MUST_USE;

/* Names in byte order behind `after` (may be empty), at most `limit`; *has_more as DynamoDB's LastEvaluatedTableName needs it. In the call's arena. */
void table_list(struct call *call, struct table_catalog *catalog, str account, str region, str after, size_t limit, str **names, size_t *count, bool *has_more);

/* The tables that have a global index, or a change log running for one, but for deleted ones: each held until table_release. In the call's arena. */
void table_list_indexed(struct call *call, struct table_catalog *catalog, const struct table ***tables, size_t *count);

/* Ranges of deleted tables and indexes whose rows are still to be dropped: each call names another, in turn, or returns false when there is none.
   Survives restarts: call condemned_done once the range's rows are gone. */
bool table_condemned_next(struct table_catalog *catalog, struct uuid *range);
enum fault table_condemned_done(struct call *call, struct table_catalog *catalog, struct uuid range) MUST_USE;

#endif
