/* Backfill: what a table held before an index was made is copied into it, page by page, while writes go on. Behind the copy the log is read from where
   it stood before it, so whatever the copy saw too early or not at all comes right before the index is ACTIVE. */
#include "chore/chore_internal.h"

static str scan_from(const struct lane *lane, struct arena *arena)
{
    if (!lane->copied_to)
        return str_of("i", 1);
    /* The smallest key above: keys hold no byte 00. */
    char *from = arena_alloc_text(arena, lane->copied_to_bytes + 1);
    memcpy(from, lane->copied_to, lane->copied_to_bytes);
    from[lane->copied_to_bytes] = 1;
    return str_of(from, lane->copied_to_bytes + 1);
}

_Static_assert(ROW_ITEM == 'i', "a table's items are the rows between these two");

static enum fault copy_page(struct chore *chore, struct batch *batch, struct part_range *range, const struct source *source, const struct lane *lane,
                            struct part_page *page) MUST_USE;
static enum fault copy_page(struct chore *chore, struct batch *batch, struct part_range *range, const struct source *source, const struct lane *lane,
                            struct part_page *page)
{
    struct call *call = &batch->call;
    struct part_scan scan = {.lower = scan_from(lane, &call->arena), .upper = str_of("j", 1), .rows_max = chore->copy_rows, .bytes_max = COPY_BYTES, .is_bulk = true};
    TRY(part_scan(call, range, &scan, &call->arena, page));
    struct part_index_entry *entries;
    size_t count;
    lane_entries_of_rows(call, lane, page->rows, page->count, &entries, &count);
    struct part_index_mark mark = {.position = lane->cursor, .is_copying = page->has_more};
    if (page->has_more)
        mark.copied_to = page->rows[page->count - 1].key;
    return lane_apply(chore, batch, lane, source->id, &mark, entries, count);
}

/* The copy is whole: from now on a mover has the lane. */
static void copy_ends(struct chore *chore, struct part_range *range, struct source *source, struct lane *lane)
{
    struct part_range_counts counts;
    part_range_count(range, &counts);
    world_lock(chore->world, &chore->lock);
    if (source_hold(chore, source)) {
        lane->goal = counts.last_stamp;
        lane->is_copying = false;
        lane->is_due = lane->cursor >= lane->goal;
        source_release(chore, source, SOURCE_READY, 0);
    }
    world_unlock(chore->world, &chore->lock);
}

bool backfill_step(struct chore *chore, struct source *source, struct lane *lane)
{
    struct batch *batch = batch_new(chore);
    struct part_range *range;
    struct part_page page = {0};
    enum fault fault = part_range_acquire(&batch->call, chore->part, source->id, &range);
    bool is_acquired = fault == FAULT_NONE;
    if (is_acquired)
        fault = copy_page(chore, batch, range, source, lane, &page);
    enum fault durable = batch_wait(batch);
    if (durable != FAULT_UNAVAILABLE) {
        fault = fault != FAULT_NONE ? fault : durable;
        if (fault == FAULT_NONE && page.has_more)
            lane_set_copied(lane, page.rows[page.count - 1].key);
        else if (fault == FAULT_NONE)
            copy_ends(chore, range, source, lane);
        batch_free(batch);
    }
    if (is_acquired)
        part_range_release(range);
    /* Dropped: the catalog knows it by now. */
    return fault == FAULT_NONE || fault == FAULT_RESOURCE_NOT_FOUND;
}
