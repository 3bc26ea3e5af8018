/* The rocks engine's own structures: shared by rocks_open.c (the folder, the settings, opening) and rocks.c (everything after). */
#ifndef STATOR_STORE_ROCKS_INTERNAL_H
#define STATOR_STORE_ROCKS_INTERNAL_H

#include "store/store_internal.h"

#include <rocksdb/c.h>
#include <stdatomic.h>

enum { ROCKS_PREFIX_BYTES = 16 }; /* a row's key in RocksDB: the range's id, then the key */

struct rocks {
    struct store base;
    struct log *log;
    int marker;                       /* the format file, whose lock keeps other processes out while it is open */
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_column_family_handle_t *family;
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *synced;
    atomic_bool has_failed;           /* a write failed: nothing more is written or read (I11) */

    struct world_mutex lock;          /* guards the queue */
    struct world_cond work;
    struct store_group *first, *last; /* groups that wait for the committer, of all ranges, the oldest first */
    bool is_closing;
    struct world_thread *committer;
    rocksdb_writebatch_t *batch;      /* the committer's */
    uint64_t batch_number;

    struct metric groups, refused, syncs, sync_us, failed;
};

/* One key of a range whose stored value is known: nearly always the fence that all its groups carry as their guard. The committer
   is the only one who writes, so it can keep it current, pending writes included. */
struct rocks_known {
    char *key;
    char *value;
    size_t key_bytes, value_bytes; /* value_bytes 0: the key is missing. key_bytes 0: nothing is known */
};

struct rocks_range {
    struct store_range base;
    /* the committer's */
    struct rocks_known known;
    uint64_t batch_number; /* the last batch that holds writes of this range */
};

/* Everything about the folder and RocksDB's settings. False, and the problem told, when it cannot be opened; *rocks is as before. */
bool rocks_place_open(struct rocks *rocks, const struct store_rocks_options *options, char *problem, size_t problem_bytes);
void rocks_place_close(struct rocks *rocks);

/* The highest sequence number of a write that stands in the logs of RocksDB's folder behind a damaged place, where recovery may not come to; 0: none. */
uint64_t rocks_wal_lost(int folder);

#endif
