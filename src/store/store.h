/* Storage: an ordered map of bytes per range, behind what the weakest engine can give (architecture section 4).
   It knows no items, no conditions and no indexes. Engines: mem, rocks; rados comes as a plug-in. */
#ifndef STATOR_STORE_STORE_H
#define STATOR_STORE_STORE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/log.h"
#include "base/metrics.h"
#include "world/world.h"

struct store;
struct store_range;

enum store_result {
    STORE_OK = 0,
    STORE_ABSENT,   /* get: no such key */
    STORE_REFUSED,  /* apply: a guard did not hold; nothing was written */
    STORE_UNKNOWN,  /* apply: the outcome is not known (a lost reply): it may be written, now or a moment later, or never. Groups behind it
                       fail and are not written, until the range is opened again; a guard is what fences the late write off */
    STORE_FAILED    /* input/output failed. A write: the range (rocks: the whole store) writes and reads nothing more until it is opened
                       again, and only then shows whether this group was written (I11). A read: this read only */
};

/* Limits that hold on every engine. Keys hold no byte 00 and are not empty; values hold at least one byte. */
enum {
    STORE_KEY_MAX = 32 << 10, /* an entry of a global index, each of its keys as long as may be, all escaped, has 30,749 */
    STORE_VALUE_MAX = 1 << 20,
    STORE_GROUP_BYTES_MAX = 32 << 20,
    STORE_PAGE_ROWS_MAX = 1024 /* the most rows that a scan is sure to return at once */
};

struct store_write {
    str key;
    str value; /* data NULL: delete the key; deleting a missing key is no error */
};

/* Holds when the stored value's bytes equal `value`; a missing key equals the empty value. */
struct store_guard {
    str key;
    str value;
};

/* Writes that become durable together or not at all. The memory, and all it points to, is the caller's and stays untouched
   until `done` is called. Writes to one key in one group: the last stands. */
struct store_group {
    const struct store_guard *guards;
    size_t guard_count;
    const struct store_write *writes;
    size_t write_count;
    /* Called exactly once, from any thread, perhaps before apply returns; for the groups of one range in the order of their apply calls.
       STORE_OK: durable. After STORE_FAILED or STORE_UNKNOWN all later groups of the range fail. It may call apply and read, but
       not range_close, range_drop or close. */
    void (*done)(struct store_group *group, enum store_result result);
    void *owner;              /* the caller's */
    struct store_range *range; /* set by apply */
    struct store_group *next;  /* the engine's while it has the group */
};

struct store_row {
    str key;
    str value;
};

struct store_scan {
    str lower;         /* first key wanted (inclusive), or empty: from the start */
    str upper;         /* first key no longer wanted (exclusive), or empty: to the end */
    bool reverse;      /* from the high end down; only when the engine can_reverse */
    size_t rows_max;   /* 1 or more */
    size_t bytes_max;  /* of keys and values; at least one row comes, however large */
    bool is_bulk;      /* one of many pages of a long pass: the engine's cache is left to others */
};

/* A page of rows, in the arena given to scan. Not a snapshot: later pages may see later writes. */
struct store_page {
    struct store_row *rows;
    size_t count;
    bool has_more; /* whether a row follows that the page left out; resume behind (reverse: below) the last key */
};

struct store_ops {
    /* Makes the range when it is new; idempotent. One handle for an id at a time. */
    enum store_result (*range_open)(struct store *, struct uuid id, struct store_range **out);
    /* No group of the range may be outstanding. */
    void (*range_close)(struct store_range *);
    /* STORE_OK with *value in the arena, STORE_ABSENT, or STORE_FAILED. Sees every group whose `done` was called with STORE_OK. */
    enum store_result (*get)(struct store_range *, str key, struct arena *, str *value);
    /* values[i].data is NULL for an absent key. */
    enum store_result (*multi_get)(struct store_range *, const str *keys, size_t count, struct arena *, str *values);
    enum store_result (*scan)(struct store_range *, const struct store_scan *, struct arena *, struct store_page *);
    /* Takes the group and returns at once. */
    void (*apply)(struct store_range *, struct store_group *);
    /* Removes all rows of a range that is not open. Idempotent; may be interrupted and called again. */
    enum store_result (*range_drop)(struct store *, struct uuid id);
    /* All ranges must be closed. */
    void (*close)(struct store *);
};

struct store {
    const struct store_ops *ops;
    struct world *world;
    bool can_reverse;
};

/* What engines embed first. */
struct store_range {
    struct store *store;
    struct uuid id;
};

static inline enum store_result store_range_open(struct store *s, struct uuid id, struct store_range **out) { return s->ops->range_open(s, id, out); }
static inline void store_range_close(struct store_range *r) { r->store->ops->range_close(r); }
static inline enum store_result store_get(struct store_range *r, str key, struct arena *a, str *value) { return r->store->ops->get(r, key, a, value); }
static inline enum store_result store_multi_get(struct store_range *r, const str *keys, size_t count, struct arena *a, str *values)
{
    return r->store->ops->multi_get(r, keys, count, a, values);
}
static inline enum store_result store_scan(struct store_range *r, const struct store_scan *scan, struct arena *a, struct store_page *page)
{
    return r->store->ops->scan(r, scan, a, page);
}
static inline void store_apply(struct store_range *r, struct store_group *group)
{
    group->range = r;
    r->store->ops->apply(r, group);
}
static inline enum store_result store_range_drop(struct store *s, struct uuid id) { return s->ops->range_drop(s, id); }
static inline void store_close(struct store *s) { s->ops->close(s); }

/* Applies and waits until the group is done. For rare writes (the catalog), not for items. */
enum store_result store_apply_wait(struct store_range *range, struct store_group *group);

/* --- mem: for tests, torture runs and --memory --- */

enum store_manners {
    STORE_MANNERS_PLAIN,
    /* As Ceph RADOS behaves: pages of at most 1,024 rows, forward only, and no snapshot; one group of a range at a time,
       the rest queue; completion late and from another thread; keys with 00 and empty values refused by assert. */
    STORE_MANNERS_RADOS
};

/* Faults that torture runs ask for, each a chance in 10,000 a group or read, drawn from the world. */
struct store_mem_faults {
    uint32_t lost_reply;  /* rados manners: STORE_UNKNOWN; half of them were applied, some of those a moment later */
    uint32_t fail;        /* STORE_FAILED, and then for ever until the range is opened again; half of these groups show up then */
    uint32_t read_fail;   /* get, multi_get, scan: STORE_FAILED, once */
    uint32_t slow;        /* the group completes up to 50 ms later */
};

struct store_mem_options {
    enum store_manners manners;
    struct store_mem_faults faults;
};

/* The store runs no threads in plain manners; `done` is then called inside apply: of this group, or of the one that another thread
   or a `done` further up the stack is inside of. */
struct store *store_mem_new(struct world *world, const struct store_mem_options *options);

/* A crash: every group not yet done is dropped or applied whole (as chance has it, in order per range) without its `done` being
   called, all ranges are closed, faults end. The caller has stopped every thread that uses the store. */
void store_mem_crash(struct store *store);

/* New chances, at a moment when no thread uses the store: after a crash, say. */
void store_mem_set_faults(struct store *store, const struct store_mem_faults *faults);

/* --- rocks: RocksDB, one directory, the embedded default --- */

struct store_rocks_options {
    const char *path;          /* directory; made when missing */
    size_t cache_bytes;        /* block cache and write buffers together */
    struct log *log;
    struct metrics *metrics;   /* may be NULL */
};

/* Opens or makes a database. On failure NULL, and `problem` (terminated, cut to fit) is one clear line that says what is wrong and
   what to do: open elsewhere, of a newer format (never touched), unreadable, not a directory, disk full, no permission. */
struct store *store_rocks_open(struct world *world, const struct store_rocks_options *options, char *problem, size_t problem_bytes);

#endif
