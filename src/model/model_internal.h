/* Inside model: sorting, lengths that are known only after what they count, and what all row keys are made of. */
#ifndef STATOR_MODEL_MODEL_INTERNAL_H
#define STATOR_MODEL_MODEL_INTERNAL_H

#include "base/buf.h"
#include "base/str.h"
#include "model/value.h"

#include <stdint.h>

/* How deep values may lie in each other: what JSON_DEPTH_MAX lets in, two levels of JSON for each. Bounds recursion. */
enum { VALUE_DEPTH_MAX = JSON_DEPTH_MAX / 2 };

/* A name (or an element) and what belongs to it. */
struct sort_entry {
    str key;
    size_t place; /* caller's */
};

/* By key; equal keys keep their order. `scratch` holds as many entries. */
void sort_entries(struct sort_entry *entries, struct sort_entry *scratch, size_t count);

/* The same for attributes; takes its own scratch memory when there are many. */
void sort_attributes(struct attribute *attributes, size_t count);

/* Opens a body whose length is written in front of it once it is known; `expected_bytes` may be wrong, but costs a move then. */
struct counted_body {
    size_t start;    /* where the length goes */
    size_t reserved; /* bytes kept free for it */
};

struct counted_body counted_body_open(struct buf *out, size_t expected_bytes);
void counted_body_close(struct buf *out, struct counted_body body);

/* Pieces of row keys (key.h): 'S', 'N' or 'B'; a hash as ten bytes; key bytes escaped, and with the end mark behind them. */
char key_type_letter(enum value_type type);
void key_put_hash(struct buf *out, uint64_t hash);
void key_escape(struct buf *out, str bytes);
void key_escape_closed(struct buf *out, str bytes);

/* Reads a varint that is not longer than needed; for bytes that are to be checked. */
bool varint_take_strict(str *rest, uint64_t *value);

#endif
