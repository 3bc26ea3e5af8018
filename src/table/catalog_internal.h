/* The catalog's insides, shared by its reading (catalog.c) and its changing (change.c). */
#ifndef STATOR_TABLE_CATALOG_INTERNAL_H
#define STATOR_TABLE_CATALOG_INTERNAL_H

#include "table/table_internal.h"

/* The catalog lives in one range of the store, whose name every version of this program knows.
 *
 *   'r'                                      revision: format version, number of changes, a random mark of the last change
 *   't' account '/' region '/' name          a table (record.c)
 *   'x' uuid                                 a condemned range: rows of a deleted table that are still to be dropped
 *
 * Every change is one group: the rows it changes and the next revision, guarded by the last one. So a reply that got lost can be
 * asked again: it is found applied, or it applies now, and never twice or late. Bytes 00 and 01 in names are escaped as in row keys. */
enum {
    CATALOG_FORMAT_VERSION = 1,
    REVISION_BYTES = 1 + 8 + 16,
    CATALOG_TABLES_MAX = 10000,  /* of one account and region: DynamoDB's highest quota */
    IDENTITY_PART_MAX = 128      /* bytes of an account or region */
};

struct catalog_entry {
    struct catalog_entry *next;
    uint64_t hash;
    const struct table *table; /* held */
};

struct table_catalog {
    struct store *store;
    struct world *world;
    struct log *log;
    int64_t status_us;
    struct store_range *range;
    struct world_mutex change_lock; /* one change at a time; held while it becomes durable. Taken before `lock` */
    struct world_mutex lock;        /* what is below; held for moments only */
    struct catalog_entry **buckets;
    size_t bucket_count;            /* a power of two */
    size_t entry_count;
    struct uuid *condemned;
    size_t condemned_count, condemned_capacity, condemned_next;
    /* Under change_lock. */
    uint8_t revision[REVISION_BYTES];
    size_t revision_bytes;          /* 0: nothing was ever written */
    bool has_failed;                /* a write failed: no more changes until the store is opened again (I11) */
};

uint64_t catalog_hash(str account, str region, str name);

/* The entry, or NULL. Under `lock`. */
struct catalog_entry *catalog_find(struct table_catalog *catalog, uint64_t hash, str account, str region, str name);

/* Puts the table (and its reference) in, in place of one of the same name. Under `lock`. */
void catalog_put(struct table_catalog *catalog, const struct table *table);

/* Under `lock`; the caller releases what it returns. */
const struct table *catalog_take_out(struct table_catalog *catalog, const struct table *table);

/* Whether a deleted table's DELETING is over, so that its name is free. */
bool table_is_gone(const struct table *table, int64_t now_us);

void catalog_condemn(struct table_catalog *catalog, struct uuid range);

void catalog_table_key(struct buf *out, str account, str region, str name);
void catalog_condemned_key(struct buf *out, struct uuid range);

#endif
