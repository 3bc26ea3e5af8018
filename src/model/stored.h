/* The stored form of an item: version, stamp, size, item. */
#ifndef STATOR_MODEL_STORED_H
#define STATOR_MODEL_STORED_H

#include "base/buf.h"
#include "base/str.h"

enum { STORED_VERSION = 1, STORED_HEADER_BYTES = 13 };

/* An item as a range keeps it: version byte, stamp (8 bytes, big-endian: the change that wrote it, invariant I3),
   DynamoDB size (4 bytes), item bytes. */
struct stored {
    uint64_t stamp;
    uint32_t size; /* DynamoDB bytes */
    str item;
};

void stored_write(struct buf *out, const struct stored *stored);

/* False for a version this program does not know, or bytes cut short. Does not look into the item. */
bool stored_read(str bytes, struct stored *out);

#endif
