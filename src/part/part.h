/* Ranges at work: every change of an item goes through part_edit (invariant I1). A range has one sequencer: it gives each change
   its stamp, decides it on the newest pending value, forms groups and hands them to the store; reads return the durable value.
   See README.md in this folder for the invariants and who may hold what. */
#ifndef STATOR_PART_PART_H
#define STATOR_PART_PART_H

#include "base/call.h"
#include "base/log.h"
#include "base/metrics.h"
#include "expr/expr.h"
#include "model/index.h"
#include "model/stored.h"
#include "store/store.h"

struct part;
struct part_range;

struct part_options {
    struct store *store;
    struct world *world;
    struct log *log;         /* may be NULL */
    struct metrics *metrics; /* may be NULL */
    size_t cache_bytes;      /* the item cache's most; 0: none */
    struct memory_budget *memory; /* told of what changes hold until they are durable; may be NULL */
    uint64_t collection_bytes_max; /* of an item collection in a table with local indexes; 0: DynamoDB's 10 GB */
};

struct part *part_open(const struct part_options *options);

/* Waits for outstanding groups and closes all ranges. No call may be under way. */
void part_close(struct part *part);

/* For torture runs, which crash the store below a part. part_halt comes before the crash: nothing more is handed to the store, and the part's
   threads end. part_abandon comes after it: frees everything and waits for nothing. Calls under way have ended or are never answered. */
void part_halt(struct part *part);
void part_abandon(struct part *part);

/* The open range, opened from the store when it is not yet; held until part_range_release. FAULT_INTERNAL when the store fails or the
   range has stopped (I11), FAULT_RESOURCE_NOT_FOUND when it is being dropped. */
enum fault part_range_acquire(struct call *call, struct part *part, struct uuid id, struct part_range **out) MUST_USE;
void part_range_release(struct part_range *range);

/* From now on `logged` is called with a range's id and a number of records whenever that many more records of its change log have become durable, before
   the answers to their changes leave. By any thread: it must be quick, and call nothing of this part. NULL: no more; none is under way when it returns. */
typedef void (*part_logged)(void *owner, struct uuid range, size_t count);
void part_listen(struct part *part, part_logged logged, void *owner);

/* Closes the range for ever and drops its rows from the store. New acquires are refused, calls under way may end first. Idempotent, by one thread at a time; false
   when the store failed (try again later). */
bool part_range_drop(struct part *part, struct uuid id);

/* --- Edits: changes as data --- */

enum { EDIT_VERSION = 1 };
enum edit_kind { EDIT_PUT = 1, EDIT_UPDATE, EDIT_DELETE, EDIT_CHECK };

/* A secondary index's key attribute, whose type the item must have when it has the attribute at all. */
struct edit_index_key {
    str attribute;
    enum value_type type;
    str index;
    size_t bytes_max; /* PARTITION_KEY_MAX or SORT_KEY_MAX */
};

struct edit {
    enum edit_kind kind;
    str row_key;
    str key_item;            /* the key's attributes as an item: what an update of a missing item starts from */
    str condition;   /* empty: none */
    str action;              /* EDIT_PUT: the item; EDIT_UPDATE: the update program, may be empty (creates the key-only item); else empty */
    const struct edit_index_key *index_keys;
    size_t index_key_count;
    const struct index_schema *local_indexes; /* all of the table's, in order; their entries change with the item */
    size_t local_index_count;
    bool measures_statement; /* EDIT_UPDATE: besides the item after it, expr_update_charge has to fit ITEM_BYTES_MAX: UpdateItem with an UpdateExpression */
};

/* The versioned encoding that travels: to another node, into a transaction record, into the simulator. */
void edit_encode(const struct edit *edit, struct buf *out);
/* Views into `bytes`; arrays in the arena. False for bytes that are no edit of a known version (full check: they may come from outside). */
bool edit_decode(struct arena *arena, str bytes, struct edit *out);

/* What an edit makes of an item. */
struct edit_outcome {
    bool had_item, has_item; /* before and after */
    struct stored before;    /* stamp, size, item; of no meaning unless had_item */
    struct stored after;     /* its stamp is 0 until a sequencer gives it one */
    uint64_t collection_bytes; /* from part_edit, with local indexes: DynamoDB sizes of all items and local index entries of the item's partition key */
};

/* The one pure function: (old item, edit) to (new item or fault). Faults: CONDITIONAL_CHECK_FAILED, and VALIDATION for what can only be
   known from the item (update paths and types, sizes, nesting, index key types: reference expressions.md sections 4 and 7, numbers-and-keys.md 3 and 4).
   outcome->before is set on a fault too. */
enum fault edit_apply(struct call *call, const struct edit *edit, bool had_item, const struct stored *before, struct edit_outcome *outcome) MUST_USE;

/* --- Changing and reading --- */

/* Decides the edit on the newest pending value and, when it changes something, puts it into the forming group. The answer must leave
   only once call->durable has no more holds: a hold is taken for every group that the outcome depends on, also for a failed condition.
   FAULT_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED when the item's collection would grow beyond its limit (reference indexes-streams-ttl.md section 2).
   All results are in the call's arena. outcome->after.stamp is the change's stamp. */
enum fault part_edit(struct call *call, struct part_range *range, const struct edit *edit, struct edit_outcome *outcome) MUST_USE;

/* The durable item; *found false when there is none. */
enum fault part_get(struct call *call, struct part_range *range, str row_key, bool *found, struct stored *out) MUST_USE;

/* Several at once; found[i] and out[i] for row_keys[i]. */
enum fault part_multi_get(struct call *call, struct part_range *range, const str *row_keys, size_t count, bool *found, struct stored *out) MUST_USE;

/* --- Scanning (reference numbers-and-keys.md section 2: key order is the order of rows) --- */

/* A stretch of a range's rows, all of one row space. */
struct part_scan {
    str lower;          /* the first row key wanted */
    str upper;          /* the first no longer wanted; the same as `lower` or below it: nothing is wanted */
    bool reverse;       /* from the high end down */
    size_t rows_max;    /* 1 or more */
    uint64_t bytes_max; /* of DynamoDB sizes: the row that reaches it is the page's last */
    bool is_bulk;       /* one page of a long pass: the engine's cache is left to others */
};

struct part_row {
    str key;
    struct stored stored;
};

struct part_page {
    struct part_row *rows; /* in the scan's direction */
    size_t count;
    bool has_more;         /* rows may follow: behind the last one, or reverse, below it. Never true of a page without rows */
};

/* Rows as part_get would give them, each as it was at some moment of the call; a row that is there throughout comes once. Leaves the item cache as it
   is. A page may be shorter than wanted and have more. All in `arena`, which grows by a bounded amount whatever the stretch holds; a backward scan of an
   engine that lists forward only reads the whole stretch, in bounded memory. FAULT_INTERNAL when the store fails or the range has stopped. */
enum fault part_scan(struct call *call, struct part_range *range, const struct part_scan *scan, struct arena *arena, struct part_page *page) MUST_USE;

struct part_range_counts {
    uint64_t items;
    uint64_t bytes;                /* DynamoDB sizes */
    uint64_t last_stamp;
    uint64_t highest_deleted_stamp;
};

/* Of the durable state. */
void part_range_count(struct part_range *range, struct part_range_counts *out);

/* --- The change log --- */

/* What a consumer wants to see of each change. */
enum part_log_images { LOG_KEYS = 0, LOG_OLD_IMAGE = 1, LOG_NEW_IMAGE = 2 };

struct part_log_record {
    uint64_t stamp;
    str row_key;
    bool had_item, has_item;
    str before, after; /* item bytes as far as a consumer wanted them, else empty; key_item always */
    str key_item;
};

/* From the answer's durability on, every change of the range is logged for the consumer (a short stable name) until it is removed. Starting again
   with the same name keeps its position and widens or narrows its images. Waits until durable. */
enum fault part_log_start(struct call *call, struct part_range *range, str consumer, unsigned images) MUST_USE;
enum fault part_log_stop(struct call *call, struct part_range *range, str consumer) MUST_USE;

/* Durable records with stamps above `after`, in order, at most count_max. Never passes a stamp that is not resolved (I3). A write that leaves the item
   equal is not logged. Fewer than count_max may come although more follow, when their images are large: the end is where none come. */
enum fault part_log_read(struct call *call, struct part_range *range, uint64_t after, size_t count_max, struct part_log_record **records, size_t *count) MUST_USE;

/* How far the consumer has come; false when there is none of the name. */
bool part_log_position(struct part_range *range, str consumer, uint64_t *position);

/* The consumer needs nothing at or below `position` any more; the log is trimmed behind the slowest: a bounded piece, so a long log takes several calls. */
enum fault part_log_advance(struct call *call, struct part_range *range, str consumer, uint64_t position) MUST_USE;

/* Whether nothing is left in the log that no consumer needs. */
bool part_log_is_trimmed(struct part_range *range);

/* --- Index ranges: rows that follow from the changes of other ranges (README.md, invariant 1) --- */

/* How far an index range has come with the changes of one source range: written in the group of the entries that it speaks of. */
struct part_index_mark {
    uint64_t position; /* changes up to this stamp are in; while copying: where the log is to be read from behind the copy */
    bool is_copying;
    str copied_to;     /* is_copying: rows of the source up to this key are in */
};

/* One entry to put or, without an item, to delete. */
struct part_index_entry {
    str row_key;          /* model/index.h */
    struct stored stored; /* the source change's stamp, and what the index keeps of the item */
    bool is_delete;
};

/* The newest mark, pending or not; *found false when the index range has nothing of the source yet. In the call's arena. */
enum fault part_index_mark_read(struct call *call, struct part_range *range, struct uuid source, bool *found, struct part_index_mark *mark) MUST_USE;

/* The entries, in order, and the mark in one group; nothing at all when the range is at the mark or behind it already. The counts of the range follow; no
   change record is written. Holds call->durable as part_edit does. At most one call at a time for a source and index range, and an entry's row belongs to
   one source: the one that has its item. */
enum fault part_index_apply(struct call *call, struct part_range *range, struct uuid source, const struct part_index_mark *mark,
                            const struct part_index_entry *entries, size_t count) MUST_USE;

#endif
