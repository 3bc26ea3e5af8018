/* What requests cost, in halves of a unit. Reference capacity.md sections 1 and 3. */
#include "admit/admit.h"

enum { HALVES = 2 };

static uint64_t blocks(uint64_t bytes, uint64_t block_bytes)
{
    return (bytes + block_bytes - 1) / block_bytes;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t admit_read_units(uint64_t size_bytes, enum read_consistency consistency)
{
    uint64_t read_blocks = larger(1, blocks(size_bytes, READ_UNIT_BYTES));
    switch (consistency) {
    case READ_EVENTUAL:
        return read_blocks;
    case READ_STRONG:
        return HALVES * read_blocks;
    case READ_TRANSACTIONAL:
        return 2 * HALVES * read_blocks;
    }
    __builtin_unreachable();
}

uint64_t admit_write_units(uint64_t before_bytes, uint64_t after_bytes)
{
    return HALVES * larger(1, blocks(larger(before_bytes, after_bytes), WRITE_UNIT_BYTES));
}

uint64_t admit_index_write_units(uint64_t before_bytes, uint64_t after_bytes, bool views_equal, bool key_changed)
{
    if (views_equal)
        return 0;
    uint64_t before = blocks(before_bytes, WRITE_UNIT_BYTES), after = blocks(after_bytes, WRITE_UNIT_BYTES);
    /* An entry under another key is a delete and a put; under the same key it is one write of the larger view. One of the two is 0 when
       the item enters or leaves the index. */
    return HALVES * (key_changed ? before + after : larger(before, after));
}
