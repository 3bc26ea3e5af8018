/* Fuzzes the catalog's records: any bytes are refused, or read into a table that writes back to the same meaning. */
#include "table/table_internal.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of exactly this size, so that sanitizers see a read behind it. */
    char *copy = malloc(size ? size : 1);
    assert(copy);
    if (size)
        memcpy(copy, data, size);
    struct table *table, *again;
    if (record_read(str_of(copy, size), &table) == RECORD_GOOD) {
        struct arena arena;
        struct buf first, second;
        arena_open(&arena, NULL);
        buf_open(&first, &arena, 0);
        buf_open(&second, &arena, 0);
        record_write(&arena, table, &first);
        enum record_status status = record_read(buf_str(&first), &again);
        assert(status == RECORD_GOOD);
        record_write(&arena, again, &second);
        assert(str_equal(buf_str(&first), buf_str(&second)));
        draft_settle(again, INT64_MAX);
        table_draft_free(again);
        table_draft_free(table);
        arena_close(&arena);
    }
    free(copy);
    return 0;
}
