/* Primary keys: the schema's part that storage needs, and the bytes that rows are ordered by (invariant I13).
 *
 *   row key := row space byte, then hash (10 bytes), partition key, sort key
 *   hash          64 bits as ten bytes of 7 bits, high end first, each with its top bit set
 *   partition key its bytes (S: UTF-8, B: raw, N: ordered form) escaped, then 01 01
 *   sort key      its bytes escaped
 *   escaping      00 -> 01 02, 01 -> 01 03, all else as it is
 *
 * So no byte of a row key is 00 (Ceph's keys are C strings), escaped order is plain order, and what begins with another
 * key's bytes sorts behind it. The hash is XXH64 with seed 0 over the type letter and the key's bytes; it is part of the data
 * format and has golden vectors in key_test.c. */
#ifndef STATOR_MODEL_KEY_H
#define STATOR_MODEL_KEY_H

#include "base/call.h"
#include "model/value.h"

enum {
    KEY_HASH_BYTES = 10,
    PARTITION_KEY_MAX = 2048, /* bytes of the value */
    SORT_KEY_MAX = 1024,
    KEY_NAME_MAX = 255
};

/* Which rows of a range a key belongs to: its first byte. Meta rows come first. */
enum row_space { ROW_META = 'a', ROW_COLLECTION = 'c', ROW_ITEM = 'i', ROW_LOCAL_INDEX = 'k', ROW_LOG = 'l' };

/* One attribute of a key. */
struct key_attribute {
    str name;
    enum value_type type; /* VALUE_S, VALUE_N or VALUE_B */
};

struct key_schema {
    struct key_attribute partition;
    struct key_attribute sort; /* name.len 0: the table has no sort key */
};

uint64_t key_hash(enum value_type type, str partition_key);

/* Appends the row key; `sort` is ignored without a sort key in the schema. Both are values of the schema's types. */
void key_encode(const struct key_schema *schema, enum row_space space, str partition, str sort, struct buf *out);

/* Bounds of rows. All rows whose hash is at or above this one are at or above these bytes. */
void key_encode_hash(enum row_space space, uint64_t hash, struct buf *out);

/* What all row keys of a partition begin with, and no others: its rows are those from these bytes up to, not with, the same bytes with the last one
   raised by one. */
void key_encode_partition(const struct key_schema *schema, enum row_space space, str partition, struct buf *out);

/* Appends a sort key, or what one begins with, as it stands behind those bytes. */
void key_encode_sort(str sort, struct buf *out);

/* The row key's parts as values again, in the arena; *sort is empty without a sort key in the schema. False when the bytes are no such key. */
bool key_decode(const struct key_schema *schema, str row_key, struct arena *arena, str *partition, str *sort);

/* A key value's own limits: not empty, not too long. Its type is the attribute's. */
enum fault key_check_value(struct call *call, const struct key_attribute *attribute, str v, bool is_partition) MUST_USE;

/* Takes the key out of an item that is to be put, with PutItem's errors (missing, wrong type, empty, too long: reference
   expressions.md section 7). `wrong_is_schema_mismatch`: BatchWriteItem's wording for a key of a wrong type and, by the public
   suite Parity of October 2026, for one that is missing. Appends the row key, of space ROW_ITEM. */
enum fault key_of_item(struct call *call, const struct key_schema *schema, str item, bool wrong_is_schema_mismatch, struct buf *row_key) MUST_USE;

/* Takes the key of a request's Key map, which must hold the key's attributes and no others, with GetItem's errors. */
enum fault key_of_map(struct call *call, const struct key_schema *schema, str key_item, struct buf *row_key) MUST_USE;

/* The item that holds only the key's attributes of `item`. */
void key_item_of(const struct key_schema *schema, str item, struct buf *out);

#endif
