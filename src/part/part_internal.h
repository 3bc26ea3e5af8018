/* What the files of this folder share: a range's state, its groups and pending values, the cache, the meta rows. */
#ifndef STATOR_PART_PART_INTERNAL_H
#define STATOR_PART_PART_INTERNAL_H

#include "base/probe.h"
#include "part/part.h"

#include <stdatomic.h>

/* --- The item cache (cache.c): a range's rows by its number; an empty value says that there is no such row --- */

struct cache;

struct cache *cache_new(struct world *world, size_t bytes_max, struct metrics *metrics);
void cache_free(struct cache *cache);
bool cache_get(struct cache *cache, uint64_t range_number, str key, struct arena *arena, str *value);

/* Replaces what is there; a value that is too large only removes it. */
void cache_put(struct cache *cache, uint64_t range_number, str key, str value);
void cache_forget_range(struct cache *cache, uint64_t range_number);

/* --- Meta rows (meta.c) --- */

enum { META_VERSION = 1, EPOCH_BYTES = 25, CONSUMERS_MAX = 8, CONSUMER_NAME_MAX = 32 };

#define META_KEY_EPOCH STR("ae")
#define META_KEY_COUNTS STR("ac")
#define META_KEY_CONSUMERS STR("al")

/* Who may write: the only guard of every group. The row's bytes are these: version, counter, owner. */
struct epoch {
    uint64_t counter;
    struct uuid owner;
};

void epoch_write(const struct epoch *epoch, uint8_t bytes[EPOCH_BYTES]);
bool epoch_read(str bytes, struct epoch *out);

/* Written with every group. */
struct counts {
    uint64_t group_number;  /* of the newest group in it: tells whether a group whose reply was lost was written */
    struct part_range_counts visible;
};

void counts_write(const struct counts *counts, struct buf *out);
bool counts_read(str bytes, struct counts *out);

struct consumer {
    char name[CONSUMER_NAME_MAX];
    size_t name_bytes;
    unsigned images;
    uint64_t position;
};

struct consumers {
    struct consumer of[CONSUMERS_MAX];
    size_t count;
    uint64_t trimmed_to;   /* no log row at or below it is left */
};

void consumers_write(const struct consumers *consumers, struct buf *out);
bool consumers_read(str bytes, struct consumers *out);

/* The size of an item collection, in its row of ROW_COLLECTION; a collection without items has none. */
void collection_write(uint64_t bytes, struct buf *out);
bool collection_read(str bytes, uint64_t *out);

/* --- Local indexes (local_index.c) --- */

/* A row of a local index: what it is before and after a change of its item; an item without data: not there. */
struct local_change {
    str key;
    struct stored before, after;
};

struct local_changes {
    struct local_change rows[2 * LOCAL_INDEXES_MAX];
    size_t count;
    uint64_t bytes_before, bytes_after; /* of the item and its entries: DynamoDB sizes */
};

/* What the outcome, which is a change, changes in the edit's local indexes. In the arena, and views of the outcome's items: an entry that keeps all of
   an item is the item's own bytes. The stamp of what is there after is the outcome's, so not known before a sequencer gave it. */
void local_index_changes(struct arena *arena, const struct edit *edit, const struct edit_outcome *outcome, struct local_changes *out);

/* The row key of the size of the item's collection. The edit has local indexes. */
str local_collection_key(struct arena *arena, const struct edit *edit);

/* Of the encoding of an edit that has local indexes. */
void local_indexes_encode(const struct edit *edit, struct buf *out);
bool local_indexes_decode(struct arena *arena, str *rest, struct edit *out);

/* Whether local indexes that were decoded fit the edit, whose other parts are valid: its item has and keeps the table's key, which is its row's. */
bool local_indexes_fit(struct arena *arena, const struct edit *edit);

/* --- Groups and pending values (pending.c) --- */

struct part_group;

/* What a group makes of one row. */
struct version {
    struct version *next;       /* of the same group */
    struct version *newer;      /* of the same row, in a later group */
    struct pending *pending;
    struct part_group *group;
    str stored;                 /* in the group's arena; data NULL: deleted */
    size_t write;               /* its place in the group's writes */
};

/* A row with changes that are not durable yet. */
struct pending {
    struct pending *chain;
    uint64_t hash;
    struct version *oldest, *newest;
    str durable;                /* in the arena of the oldest version's group; data NULL: no such row */
    size_t key_bytes;
    char key[];
};

struct pending_map {
    struct pending **slots;
    size_t slot_count, count;
};

uint64_t pending_hash(str key);
struct pending *pending_find(const struct pending_map *map, uint64_t hash, str key);
struct pending *pending_add(struct pending_map *map, uint64_t hash, str key);
void pending_remove(struct pending_map *map, struct pending *pending);
void pending_clear(struct pending_map *map);
void pending_close(struct pending_map *map);

struct part_group {
    struct store_group store;
    struct part_range *range;
    struct part_group *next;        /* in the range's queue */
    struct arena arena;
    struct store_write *writes;
    size_t write_count, write_capacity;
    size_t write_bytes;             /* of keys and values; some values stand in several writes */
    struct version *versions;
    struct durable_wait **waits;
    size_t wait_count, wait_capacity;
    size_t record_count;            /* of the change log */
    struct counts counts;           /* after the group */
    struct store_guard guard;
    uint8_t epoch[EPOCH_BYTES];
    int64_t sent_us;
};

struct part_group *group_new(struct part_range *range);
void group_free(struct part_group *group);
size_t group_add_write(struct part_group *group, str key, str value);
void group_replace_write(struct part_group *group, size_t write, str value);
void group_add_wait(struct part_group *group, struct durable_wait *wait);

/* --- Ranges --- */

enum { ROW_CHANGE_SLOTS = 512 };

enum range_state {
    RANGE_OPENING,
    RANGE_OPEN,
    RANGE_STOPPED,   /* a write failed or another owner took over: nothing more is answered (I11) */
    RANGE_UNOPENED   /* opening failed */
};

struct part_range {
    /* Set when made. */
    struct part *part;
    struct world *world;
    struct uuid id;
    uint64_t number;                /* of this opening: its rows in the cache */
    /* Guarded by the part's lock. */
    struct part_range *chain;
    unsigned references;
    bool is_dropping;               /* no new references */
    /* Changes under the range's lock, or the part's while it opens; read anywhere. */
    atomic_int state;

    struct world_mutex lock;        /* guards all below */
    struct world_cond changed;      /* a group is done, readers have left, the resolver has work, ... */
    struct store_range *store;
    unsigned readers;               /* inside the store */
    bool is_reopening;              /* readers wait: the store's handle is being replaced */
    struct epoch epoch;
    uint32_t row_changes[ROW_CHANGE_SLOTS]; /* by the rows' hashes: tells a reader whether what it read may be old */
    unsigned working;               /* threads inside group_done */
    struct pending_map pending;
    struct part_group *in_flight;   /* with the store, or of unknown outcome */
    struct part_group *first, *last; /* waiting; the last one takes edits */
    struct part_group *spare;
    struct counts counts;           /* with all pending changes */
    struct counts durable;
    struct consumers consumers;     /* with pending changes */
    bool is_unresolved;             /* the outcome of in_flight is not known */
    bool is_closing;                /* the resolver ends */
    bool is_halted;                 /* nothing more goes to the store */
    struct world_thread *resolver;
};

struct part {
    struct part_options options;
    struct world *world;
    struct world_mutex lock;
    struct world_cond changed;      /* a range's state or references */
    struct part_range **slots;
    size_t slot_count, count;
    uint64_t ranges_opened;
    struct uuid *dropped;           /* a ring of the last ids that were dropped */
    size_t dropped_count;
    struct cache *cache;            /* NULL: none */
    struct metric edits, groups, group_time, stops;
    struct world_mutex listener_lock; /* guards the listener, and is held while it is called */
    part_logged listener;
    void *listener_owner;
};

/* Opening (range.c). Records nothing in a call; logs what is wrong. */
struct part_range *range_new(struct part *part, struct uuid id);
bool range_open(struct part_range *range);

/* Waits for its groups, ends its thread, closes it in the store. */
void range_close(struct part_range *range);
void range_free(struct part_range *range);

/* Makes this range the owner: no group of an earlier epoch is written after it. `is_ours`: it was the owner, and must still be. */
bool range_fence(struct part_range *range, bool is_ours);

/* Reads the counts, of a new range zeros. */
bool range_read_counts(struct part_range *range, struct counts *out);

/* Replaces the store's handle, as a lost reply demands; readers wait. */
bool range_reopen(struct part_range *range);

/* Under the lock: before and after a visit to the store without the lock. False, and no visit, when the range has stopped. */
bool range_read_begin(struct part_range *range) MUST_USE;
void range_read_end(struct part_range *range);

enum fault range_fail(struct call *call);

static inline bool range_is_open(const struct part_range *range)
{
    return atomic_load_explicit(&range->state, memory_order_acquire) == RANGE_OPEN;
}

static inline uint32_t *range_row_changes(struct part_range *range, uint64_t hash)
{
    return &range->row_changes[hash % ROW_CHANGE_SLOTS];
}

/* --- The sequencer (sequencer.c) --- */

/* Under the range's lock: the group that takes the next writes, and a stamp for one of them. */
struct part_group *sequencer_forming(struct part_range *range);
uint64_t sequencer_stamp(struct part_range *range);

/* The next group to hand to the store, or NULL: taken under the lock, sent without it. */
struct part_group *sequencer_next(struct part_range *range);
void sequencer_send(struct part_group *group);

/* Under the lock: makes a row's change pending, in the forming group. `row`, and `durable`, which is the row that the store has when nothing of it is
   pending, are in the group's arena; no data: no row. */
void sequencer_put(struct part_range *range, struct part_group *group, uint64_t hash, str key, struct pending *pending, str row, str durable);

/* Comes with the lock, which it gives up; returns when the forming group is durable. */
enum fault sequencer_finish(struct call *call, struct part_range *range) MUST_USE;

/* The group's outcome is known: STORE_OK or what else it was. Without the lock. */
void sequencer_resolve(struct part_group *group, enum store_result result);

/* After STORE_UNKNOWN, under the lock: a thread finds out (resolve.c). */
void resolver_wake(struct part_range *range);

/* --- The log (change_log.c) --- */

/* Under the range's lock: the change's record, when a consumer wants one. */
void log_add(struct part_range *range, struct part_group *group, const struct edit *edit, const struct edit_outcome *outcome);

#endif
