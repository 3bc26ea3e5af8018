/* The mem engine's own structures: shared by mem.c (rows and ranges) and mem_rados.c (queues, lateness, lost replies). */
#ifndef STATOR_STORE_MEM_INTERNAL_H
#define STATOR_STORE_MEM_INTERNAL_H

#include "store/store_internal.h"
#include "store/tree_internal.h"

enum { MEM_TABLE_FIRST = 64 };

/* What becomes of a group, drawn when its turn begins. */
enum mem_fate {
    MEM_FATE_EARLY,      /* written when its turn begins, reported at its end */
    MEM_FATE_LATE,       /* written and reported at its end */
    MEM_FATE_LOST,       /* outcome unknown: written before the report */
    MEM_FATE_LOST_LATER, /* outcome unknown: written a moment after the report */
    MEM_FATE_LOST_NEVER, /* outcome unknown: never written */
    MEM_FATE_FAIL        /* failed; may show up when the range is opened again */
};

struct mem_range {
    struct store_range base;
    struct mem_range *chain;       /* of the table of ranges */
    struct world_mutex lock;       /* guards the tree and, in plain manners, the queue */
    struct world_cond drained;
    struct tree tree;
    struct store_group *first, *last; /* waiting, the oldest first */
    bool is_open;
    bool is_draining;              /* plain: a thread is calling `done` */
    bool has_failed;               /* no writes and no reads until it is opened again */
    bool is_unsure;                /* after a lost reply: no writes until it is opened again */
    struct mem_late *surfacing;    /* a failed group that the next opening finds written */
    /* rados manners, guarded by the store's lock */
    struct mem_range *next_active;
    int64_t due_us;                /* monotonic: when the first group's turn ends */
    enum mem_fate fate;
    enum store_result early_result;
};

/* A copy of a group that outlives its `done`. */
struct mem_late {
    struct mem_late *next;
    struct mem_range *range;
    int64_t due_us;
    struct arena arena;
    struct store_group group;
};

struct mem_store {
    struct store base;
    struct store_mem_options options;
    struct world_mutex lock;       /* guards the table and all below */
    struct mem_range **table;
    size_t table_places, range_count;
    /* rados manners */
    struct world_thread *thread;
    struct world_cond work;        /* the thread waits for something to do */
    struct world_cond quiet;       /* crash and drop wait for a `done` to return */
    struct mem_range *active;      /* ranges with a group in its turn, the oldest first */
    struct mem_late *late;
    bool is_closing, is_crashing;
    struct mem_range *delivering;
};

bool mem_chance(struct mem_store *store, uint32_t in_10000);

/* Checks the guards and writes; takes the range's lock. */
enum store_result mem_group_write(struct mem_range *range, const struct store_group *group);

struct mem_late *mem_late_new(struct mem_range *range, const struct store_group *group, int64_t due_us);
void mem_late_free(struct mem_late *late);

void mem_rados_start(struct mem_store *store);
void mem_rados_stop(struct mem_store *store);
void mem_rados_apply(struct mem_range *range, struct store_group *group);

/* Under the store's lock: waits for the range's running `done`, and forgets what is still to come for the range. */
void mem_rados_forget(struct mem_store *store, struct mem_range *range);

/* Under the store's lock: all queues are cut where chance says. */
void mem_rados_crash(struct mem_store *store);

#endif
