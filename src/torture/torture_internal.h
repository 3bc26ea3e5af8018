/* What the files of this folder share: the plan of a run, its history and its oracles. */
#ifndef STATOR_TORTURE_TORTURE_INTERNAL_H
#define STATOR_TORTURE_TORTURE_INTERNAL_H

#include "part/part.h"

enum {
    KEYS_MAX = 8,
    RANGES_MAX = 2,
    CLIENTS_MAX = 6,
    LIVES_MAX = 5,
    BATCH_MAX = 6,
    TORTURE_INDEXES = 3
};

/* --- History (history.c): what clients saw, and whether one order of events explains it --- */

/* An item as the oracles see it. Each change writes a `mark` of its own. */
struct state {
    bool has_item;
    uint64_t stamp;
    int64_t number;
    uint64_t mark;
    uint32_t size;
};

#define NEVER_ANSWERED (UINT64_MAX >> 1) /* no enum: those are ints */

/* Something a client did to one key and was told, or was not. Times are positions in the order of all events of the run. */
struct event {
    uint32_t life, key, client;
    bool is_change;             /* else: an observation of `before`, by a read, a failed condition or an equal write */
    bool is_void;               /* an observation whose answer never came */
    uint64_t invoked, answered; /* answered NEVER_ANSWERED: a change of unknown outcome */
    struct state before, after;
};

/* The range's counters, read in the middle of things. */
struct count_sample {
    uint32_t life, range;
    uint64_t invoked;
    struct part_range_counts counts;
};

struct log_entry {
    uint32_t range, key;
    uint64_t stamp;
    struct state before, after; /* stamp 0: the image was not asked for or the item not there */
    bool had_item, has_item;
};

struct history {
    uint32_t key_count, range_count, life_count;
    struct event *events;
    size_t event_count, event_capacity;
    struct count_sample *samples;
    size_t sample_count, sample_capacity;
    struct log_entry *log;
    size_t log_count, log_capacity;
    unsigned images;                                     /* what the log's reader asked for */
    uint64_t log_start[RANGES_MAX];                      /* changes above it are logged */
    /* What the life began with; [life_count]: after the end. */
    struct state start[LIVES_MAX + 1][KEYS_MAX];
    uint64_t start_stamp[LIVES_MAX + 1][RANGES_MAX];     /* last durable stamp */
};

void history_open(struct history *history);
void history_close(struct history *history);
size_t history_add(struct history *history, const struct event *event);
void history_add_sample(struct history *history, const struct count_sample *sample);
void history_add_log(struct history *history, const struct log_entry *entry);

static inline uint32_t range_of_key(const struct history *history, uint32_t key)
{
    return key % history->range_count;
}

/* True when all is well; else what is wrong, in one line in the arena. */
bool history_check(const struct history *history, struct arena *arena, str *finding);

/* --- A run --- */

/* All that a seed decides before it begins. */
struct plan {
    uint64_t seed;
    enum store_manners manners;
    struct store_mem_faults faults;
    uint32_t clock_step_percent;
    uint32_t clients, keys, ranges, lives;
    uint32_t calls_a_life;      /* of each client */
    size_t cache_bytes;
    bool has_log;
    unsigned images;
    uint32_t large_percent;     /* of the items */
    uint32_t crash_percent;     /* of the lives */
    bool has_indexes;           /* local ones */
};

void plan_draw(struct plan *plan, uint64_t seed);

struct run_result {
    uint64_t fingerprint;
    uint64_t calls, changes, lives, crashes;
    bool is_clean;
    char finding[512];          /* terminated */
};

/* Runs the plan; `trace` prints every event. */
void run_plan(const struct plan *plan, bool trace, struct run_result *result);

/* --- The inside of a run (run.c, client.c, reader.c) --- */

/* A call that may outlive its client: a crash leaves it without an answer. */
struct torture_call {
    struct call call;
    struct run *run;
    bool is_durable;
    struct torture_call *next;
};

struct run {
    const struct plan *plan;
    bool trace;
    struct world *world;
    struct store *store;
    struct part *part;
    struct uuid ids[RANGES_MAX];
    struct uuid scratch;            /* a range that is dropped while it is in use; a new one in each life */
    struct history history;
    uint64_t time;                  /* of events */
    uint64_t marks;
    uint64_t results;               /* a hash of what clients were told */
    uint64_t calls;
    uint32_t life;
    bool is_ending, is_crashing;    /* the life: clients begin nothing more; answers come no more */
    bool is_scratch_dropping;
    struct world_mutex lock;
    struct world_cond changed;
    struct torture_call *limbo;
    uint64_t log_position[RANGES_MAX];
    char finding[512];
};

struct client {
    struct run *run;
    uint32_t number;
    uint64_t chance;                /* state of its own generator */
    uint32_t errors;                /* in a row */
};

/* splitmix64: what clients do depends on the seed alone, not on how their turns fall. */
uint64_t chance_next(uint64_t *state);
uint32_t chance_below(uint64_t *state, uint32_t bound);

/* Keeps the first finding. */
__attribute__((format(printf, 2, 3))) void run_find(struct run *run, const char *format, ...);

void state_of_item(bool has_item, const struct stored *stored, struct state *out);
extern const struct key_schema torture_schema;
void torture_key(struct arena *arena, uint32_t key, struct edit *edit);

/* Local indexes (indexes.c): the first has a fixed entry for each item and keeps all of it, so that a scan of it is one of the items; entries of the second
   move with the number and keep all, those of the third move with it and keep keys only. */
extern const struct index_schema torture_indexes[TORTURE_INDEXES];

/* While nothing is pending: entries and sizes of collections are what the items say. */
void indexes_check(struct run *run, struct call *call, struct part_range *range, uint32_t range_number);

void client_run(void *client);

/* Reads the log of all ranges until the life ends. */
void reader_run(void *run);

/* Reads what is left; for the end of a run, without faults. */
void reader_drain(struct run *run);

#endif
