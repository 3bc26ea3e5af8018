/* What the files of this folder share: the worker that drops ranges, the movers that carry changes into global indexes, and the keeper that makes
   and ends indexes. docs/adr/0010-global-indexes.md says why it is so. */
#ifndef STATOR_CHORE_CHORE_INTERNAL_H
#define STATOR_CHORE_CHORE_INTERNAL_H

#include "base/probe.h"
#include "chore/chore.h"
#include "model/index.h"

#define LOG_CONSUMER STR("gsi")

enum {
    MOVERS = 4,                    /* threads; they mostly wait for groups to become durable */
    STEP_RECORDS = 512,            /* of the change log, that one step carries at most */
    COPY_ROWS = 256,               /* of a table, that one step of a backfill copies at most */
    COPY_BYTES = 1 << 20,
    TRIM_RECORDS = 1024,           /* so many moved: the log is trimmed */
    TRIM_DELAY_US = 500000,        /* or so long after one was */
    PAUSE_FIRST_US = 10000,        /* after a failure, doubled with each */
    PAUSE_LAST_US = 2000000,
    REST_US = 500000               /* of one index range that fails */
};

/* One range of a global index, as one range of its table feeds it. A copying lane belongs to the keeper, any other to whoever holds its source. */
struct lane {
    struct uuid range;              /* the index's */
    const struct table *table;      /* held */
    const struct table_index *index; /* of that table */
    struct index_schema schema;
    uint64_t hash_from, hash_to;    /* entries of other hashes belong to other ranges of the index; hash_to included */
    bool is_known;                  /* what follows has been read from the index range */
    bool is_gone;                   /* the index range is being dropped */
    bool is_copying;
    bool is_resting;                /* it failed, and is left alone until rest_until_us, so that the table's other indexes go on */
    int64_t rest_until_us;          /* monotonic */
    bool is_due;                    /* for the index to become ACTIVE: the cursor has come to the goal */
    uint64_t cursor;                /* changes up to this stamp are durable in the index range, but for those of no consequence */
    uint64_t goal;                  /* the log's end when the copy ended */
    char *copied_to;                /* malloc'ed; NULL: nothing yet */
    size_t copied_to_bytes;
};

enum source_state { SOURCE_IDLE, SOURCE_READY, SOURCE_DELAYED, SOURCE_HELD };

/* A range of a table that has global indexes. */
struct source {
    struct source *chain;           /* of the same hash */
    struct source *next, *previous; /* READY or DELAYED: of that list */
    struct uuid id, table;
    /* Under the lock. */
    enum source_state state;
    bool is_dirty;                  /* HELD: there is more to do than when it was taken. DELAYED: there is something to do */
    bool is_failing;                /* DELAYED because the last step failed */
    bool is_resting;                /* one of its lanes rests */
    bool is_listed;                 /* the keeper's: found in the catalog this time */
    int64_t due_us;                 /* DELAYED: monotonic */
    size_t waiting;                 /* records logged and not moved yet, as far as is known */
    /* The holder's. */
    struct lane *lanes;
    size_t lane_count;
    int64_t pause_us;               /* the next, after a failure */
    int64_t rested_us;              /* when the first resting lane goes on; 0: none rests */
    size_t untrimmed;               /* records moved since the log was trimmed */
    uint64_t trimmed_to;
    int64_t trim_due_us;            /* monotonic; 0: nothing to trim */
};

struct source_list {
    struct source *first, *last;
};

/* A step's call, and whether what it did is durable. On the heap, because a crash in a test leaves it with groups that never end. */
struct batch {
    struct call call;
    struct chore *chore;
    bool is_durable;                /* under the lock */
    struct batch *next;             /* in limbo */
};

struct chore {
    struct world *world;
    struct table_catalog *catalog;
    struct part *part;
    struct log *log;
    struct world_thread *dropper, *keeper, *movers[MOVERS];
    /* Guards all below, and what struct source says. Taken inside of the part's listener lock; nothing is called with it. */
    struct world_mutex lock;
    struct world_cond drop_wake, keeper_wake, mover_wake, changed;
    bool has_drops, has_tables;     /* something may be new to do for the dropper, for the keeper */
    bool keeper_is_idle;            /* it has done what there is, and waits */
    bool is_stopping;
    bool is_halting;                /* is_stopping, and what waits is left behind */
    size_t step_records, copy_rows; /* STEP_RECORDS and COPY_ROWS, but in tests */
    struct source **slots;
    size_t slot_count, source_count;
    struct source_list ready, delayed;
    struct batch *limbo;
    struct metric waiting, lag, moved, failures;
};

void *chore_allocate(size_t bytes);

/* --- Sources (source.c); all under the lock --- */

struct source *source_find(struct chore *chore, struct uuid id);
struct source *source_add(struct chore *chore, struct uuid id, struct uuid table);

/* Waits until nobody else holds the source, takes it out of its list, and holds it. False: the chore stops. */
bool source_hold(struct chore *chore, struct source *source);
void source_release(struct chore *chore, struct source *source, enum source_state next, int64_t due_us);
void source_queue(struct chore *chore, struct source *source);

/* The next to work on, held, or NULL and when to look again (monotonic; -1: when woken). */
struct source *source_take(struct chore *chore, int64_t *look_again_us);

/* Held, or the chore has ended. */
void source_remove(struct chore *chore, struct source *source);
void source_free_all(struct chore *chore);

/* --- Lanes (lane.c) --- */

void lane_open(struct lane *lane, const struct table *table, const struct table_index *index, size_t range);
void lane_close(struct lane *lane);
void lane_set_copied(struct lane *lane, str key);

/* What records make of the index, in the call's arena. */
void lane_entries_of_records(struct call *call, const struct lane *lane, const struct part_log_record *records, size_t count,
                             struct part_index_entry **entries, size_t *entry_count);

/* The entries of rows of the table. */
void lane_entries_of_rows(struct call *call, const struct lane *lane, const struct part_row *rows, size_t count, struct part_index_entry **entries,
                          size_t *entry_count);

/* --- Steps (mover.c) --- */

struct batch *batch_new(struct chore *chore);

/* Waits until all that the batch's call holds is durable. FAULT_UNAVAILABLE: the chore halts, and the batch is no longer the caller's. */
enum fault batch_wait(struct batch *batch) MUST_USE;
void batch_free(struct batch *batch);

/* Applies entries to the lane's index range in the batch's call. FAULT_RESOURCE_NOT_FOUND: it is being dropped. */
enum fault lane_apply(struct chore *chore, struct batch *batch, const struct lane *lane, struct uuid source, const struct part_index_mark *mark,
                      const struct part_index_entry *entries, size_t count) MUST_USE;

void mover_run(void *chore);
void mover_listen(void *chore, struct uuid range, size_t count);

/* --- The keeper (keeper.c, backfill.c) --- */

void keeper_run(void *chore);

/* Copies a page of the source into the lane, which is copying. False: try again later. */
bool backfill_step(struct chore *chore, struct source *source, struct lane *lane);

bool chore_is_stopping(struct chore *chore);

#endif
