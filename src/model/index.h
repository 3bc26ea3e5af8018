/* Secondary indexes as storage sees them: which items an index holds, what it keeps of them, and the row keys of its entries.
 *
 *   global entry := ROW_ITEM, hash of all partition key parts (10 bytes, as in key.h), each partition key part escaped and closed by 01 01,
 *                   each sort key part escaped and closed by 01 01, the table's partition key escaped and closed, the table's sort key escaped
 *   local entry  := ROW_LOCAL_INDEX, the index's place among the table's local indexes ('A' + place), hash of the partition key, partition key
 *                   escaped and closed, index sort key escaped and closed, table sort key escaped
 *
 * So entries of equal index keys differ by the table's key, order as the index orders, and a start key alone resumes. For one partition key part the
 * hash is key_hash; for several, XXH64 over each part's type letter, length (4 bytes, big-endian) and bytes. */
#ifndef STATOR_MODEL_INDEX_H
#define STATOR_MODEL_INDEX_H

#include "model/key.h"

enum { INDEX_PARTS_MAX = 4, LOCAL_INDEXES_MAX = 5 /* of a table */ };

struct index_schema {
    const struct key_schema *table;
    bool is_local;
    uint8_t local_place;                           /* is_local: 0.. among the table's local indexes */
    struct key_attribute partition[INDEX_PARTS_MAX];
    size_t partition_count;
    struct key_attribute sort[INDEX_PARTS_MAX];
    size_t sort_count;
    bool projects_all;
    const str *non_key_attributes;                 /* INCLUDE; none for KEYS_ONLY */
    size_t non_key_attribute_count;
};

/* Whether the index holds the item: it has every key attribute of the index, of the right type, not empty and not too long. (Writes with others are refused
   while the index exists; backfill meets them and passes over them.) */
bool index_holds(const struct index_schema *schema, str item);

/* What the index keeps of the item: its own keys, the table's keys, and what it projects. Appended to `out` as an item; when all is projected,
   use the item itself. The index must hold the item. */
void index_project(const struct index_schema *schema, str item, struct arena *scratch, struct buf *out);

/* Whether the index keeps this attribute of every item that it holds. */
bool index_projects(const struct index_schema *schema, str attribute);

/* The entry's row key; the index must hold the item. */
void index_row_key(const struct index_schema *schema, str item, struct buf *out);

/* The first `partition_count` parts and `sort_count` leading sort parts of a row key, for bounds: what all entries with these values begin with. */
void index_row_prefix(const struct index_schema *schema, const str *partition_values, const str *sort_values, size_t sort_count, struct buf *out);

/* Bounds of entries: all whose hash is at or above this one are at or above these bytes. */
void index_row_hash(const struct index_schema *schema, uint64_t hash, struct buf *out);

/* Whether an index key attribute has another value (both held by the index). */
bool index_key_differs(const struct index_schema *schema, str before, str after);

#endif
