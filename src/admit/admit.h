/* Capacity: what a request costs, in DynamoDB's units. Pure. (Limits, buckets and throttling come on top of this.)
   Reference capacity.md sections 1 to 4. */
#ifndef STATOR_ADMIT_ADMIT_H
#define STATOR_ADMIT_ADMIT_H

#include "base/str.h"

#include <stdint.h>

/* Units are counted in halves (names end in _half_units), so that sums are exact: an eventually consistent read of up to 4 KB is 1. */

enum { READ_UNIT_BYTES = 4096, WRITE_UNIT_BYTES = 1024 };
enum read_consistency { READ_EVENTUAL, READ_STRONG, READ_TRANSACTIONAL };

/* A missing item is read as 0 bytes and costs one block. */
uint64_t admit_read_units(uint64_t size_bytes, enum read_consistency consistency);

/* Of the larger of an item's sizes before and after (0: not there); at least one unit. */
uint64_t admit_write_units(uint64_t before_bytes, uint64_t after_bytes);

/* What one index charges for a change, from its view of the item before and after (the entry's size in bytes; 0: not in the
   index) and whether the views are equal, and whether an index key attribute changed its value. */
uint64_t admit_index_write_units(uint64_t before_bytes, uint64_t after_bytes, bool views_equal, bool key_changed);

#endif
