/* Local indexes in torture runs: three that differ in how entries move, and what is checked of them when nothing is pending: that entries and sizes of
   collections are what the items say. Entries are made here a second time, of model/index alone. */
#include "torture/torture_internal.h"

#include <assert.h>
#include <stdlib.h>

enum { ROWS_MAX = KEYS_MAX * TORTURE_INDEXES, TRIES_MAX = 200 };

#define LOCAL(place, attribute, attribute_type)                                                                                         \
    .table = &torture_schema, .is_local = true, .local_place = place, .partition = {{{"pk", 2}, VALUE_S}}, .partition_count = 1,         \
    .sort = {{{attribute, sizeof attribute - 1}, attribute_type}}, .sort_count = 1

const struct index_schema torture_indexes[TORTURE_INDEXES] = {
    {LOCAL(0, "sk", VALUE_S), .projects_all = true},
    {LOCAL(1, "n", VALUE_N), .projects_all = true},
    {LOCAL(2, "n", VALUE_N)},
};

/* Rows of one stretch, whatever faults there are. */
struct rows {
    struct part_row of[ROWS_MAX + 1];
    size_t count;
};

static void read_stretch(struct run *run, struct call *call, struct part_range *range, const char *lower, const char *upper, struct rows *rows)
{
    struct part_scan scan = {.lower = str_of_text(lower), .upper = str_of_text(upper), .rows_max = ROWS_MAX, .bytes_max = UINT64_MAX};
    struct part_page page = {.has_more = true};
    int tries = 0;
    rows->count = 0;
    while (page.has_more && rows->count <= ROWS_MAX) {
        call_clear_fault(call);
        if (part_scan(call, range, &scan, &call->arena, &page) != FAULT_NONE) {
            page.has_more = ++tries < TRIES_MAX;
            if (tries == TRIES_MAX)
                run_find(run, "rows cannot be read");
            continue;
        }
        for (size_t i = 0; i < page.count && rows->count <= ROWS_MAX; i++)
            rows->of[rows->count++] = page.rows[i];
        if (page.has_more)
            scan.lower = arena_printf(&call->arena, "%.*s\x01", STR_ARG(page.rows[page.count - 1].key));
    }
}

static int compare_rows(const void *a, const void *b)
{
    return str_compare(((const struct part_row *)a)->key, ((const struct part_row *)b)->key);
}

/* The entries that the items say, in the order of their row keys. */
static void expect_entries(struct arena *arena, const struct rows *items, struct rows *expected)
{
    expected->count = 0;
    for (size_t i = 0; i < items->count; i++) {
        const struct stored *stored = &items->of[i].stored;
        for (size_t index = 0; index < TORTURE_INDEXES && expected->count < ROWS_MAX; index++) {
            struct buf key, kept;
            if (!index_holds(&torture_indexes[index], stored->item))
                continue;
            buf_open(&key, arena, 0);
            buf_open(&kept, arena, 0);
            index_row_key(&torture_indexes[index], stored->item, &key);
            index_project(&torture_indexes[index], stored->item, arena, &kept);
            expected->of[expected->count++] = (struct part_row){buf_str(&key), {stored->stamp, (uint32_t)item_size(buf_str(&kept)), buf_str(&kept)}};
        }
    }
    qsort(expected->of, expected->count, sizeof expected->of[0], compare_rows);
}

static bool entry_is_right(const struct part_row *found, const struct part_row *expected)
{
    bool keeps_all = found->key.data[1] != 'C'; /* and so is written with every change */
    return str_equal(found->key, expected->key) && str_equal(found->stored.item, expected->stored.item) && found->stored.size == expected->stored.size &&
           (keeps_all ? found->stored.stamp == expected->stored.stamp : found->stored.stamp <= expected->stored.stamp);
}

/* The size that the range has for the key's collection, as an edit that changes nothing tells it. */
static uint64_t collection_bytes(struct run *run, struct call *call, struct part_range *range, uint32_t key)
{
    for (int try = 0; try < TRIES_MAX; try++) {
        struct edit edit = {.kind = EDIT_CHECK, .local_indexes = torture_indexes, .local_index_count = TORTURE_INDEXES};
        struct edit_outcome outcome;
        torture_key(&call->arena, key, &edit);
        call_clear_fault(call);
        if (part_edit(call, range, &edit, &outcome) == FAULT_NONE)
            return outcome.collection_bytes;
    }
    run_find(run, "the size of a collection cannot be read");
    return 0;
}

static uint64_t bytes_with_key(const struct rows *rows, str partition)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < rows->count; i++)
        bytes += value_equal(item_get(rows->of[i].stored.item, STR("pk")), partition) ? rows->of[i].stored.size : 0;
    return bytes;
}

void indexes_check(struct run *run, struct call *call, struct part_range *range, uint32_t range_number)
{
    struct rows *rows = ARENA_NEW_ARRAY(&call->arena, struct rows, 3), *items = &rows[0], *entries = &rows[1], *expected = &rows[2];
    read_stretch(run, call, range, "i", "j", items);
    read_stretch(run, call, range, "k", "l", entries);
    if (run->finding[0])
        return;
    expect_entries(&call->arena, items, expected);
    bool is_right = entries->count == expected->count;
    for (size_t i = 0; is_right && i < entries->count; i++)
        is_right = entry_is_right(&entries->of[i], &expected->of[i]);
    if (!is_right)
        run_find(run, "range %u, life %u: entries of local indexes are not what the items say", range_number, run->life);
    for (uint32_t key = range_number; key < run->plan->keys; key += run->plan->ranges) {
        struct edit edit = {0};
        torture_key(&call->arena, key, &edit);
        str partition = item_get(edit.key_item, STR("pk"));
        uint64_t found = collection_bytes(run, call, range, key), truth = bytes_with_key(items, partition) + bytes_with_key(expected, partition);
        if (found != truth)
            run_find(run, "range %u, life %u: the collection of key %u is said to have %llu bytes; in truth %llu", range_number, run->life, key,
                     (unsigned long long)found, (unsigned long long)truth);
    }
}
