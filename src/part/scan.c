/* Scanning: a page of a range's rows in key order, each as part_get would give it. The store is visited without the range's lock, so what it gives may
   belong to groups that are not durable yet: behind the visit, under the lock, the pending rows of the window visited are merged into the page with their
   durable values. A row without pending changes had the value read when it was read, or got it by the time of the merge: it was durable during the call. */
#include "part/part_internal.h"

#include <assert.h>
#include <stdlib.h>

enum { VISIT_BYTES = 256 << 10 /* of keys and values that one visit to the store brings */ };

/* What a visit brought: rows in the scan's direction, and the window that they are all rows of. */
struct visit {
    struct store_row *rows;
    size_t count;
    bool has_more;
    str lower, upper;
};

/* The smallest key above this one: keys hold no byte 00. */
static str key_after(struct arena *arena, str key)
{
    char *after = arena_alloc_text(arena, key.len + 1);
    memcpy(after, key.data, key.len);
    after[key.len] = 1;
    return str_of(after, key.len + 1);
}

/* --- Visiting the store --- */

static enum store_result visit_once(struct part_range *range, const struct part_scan *scan, const struct visit *left, struct arena *arena, struct store_page *page)
{
    struct store_scan wanted = {
        .lower = left->lower,
        .upper = left->upper,
        .reverse = scan->reverse,
        .rows_max = scan->rows_max < STORE_PAGE_ROWS_MAX ? scan->rows_max : STORE_PAGE_ROWS_MAX,
        .bytes_max = VISIT_BYTES,
        .is_bulk = scan->is_bulk,
    };
    return store_scan(range->store, &wanted, arena, page);
}

/* Takes the rows of a page of ascending keys from its high end, as many as the scan and a visit's bytes allow. */
static bool take_last(const struct part_scan *scan, const struct store_page *page, size_t *bytes, struct arena *arena, struct visit *visit)
{
    for (size_t i = page->count; i > 0; i--) {
        const struct store_row *row = &page->rows[i - 1];
        if (visit->count == scan->rows_max || *bytes >= VISIT_BYTES)
            return false;
        visit->rows[visit->count++] = (struct store_row){arena_copy(arena, row->key), arena_copy(arena, row->value)};
        *bytes += row->key.len + row->value.len;
    }
    return true;
}

/* For an engine that only lists forward: walks the whole window and keeps its last two pages. All pages but the last are full, so two of them hold what
   a visit may bring. */
static enum store_result visit_backward(struct part_range *range, const struct part_scan *scan, struct arena *arena, struct visit *visit)
{
    PROBE("part: a backward scan of an engine that lists forward only");
    struct arena arenas[2];
    struct store_page pages[2] = {{0}};
    arena_open(&arenas[0], arena->budget);
    arena_open(&arenas[1], arena->budget);
    struct store_scan wanted = {
        .lower = visit->lower, .upper = visit->upper, .rows_max = STORE_PAGE_ROWS_MAX, .bytes_max = VISIT_BYTES, .is_bulk = scan->is_bulk};
    enum store_result result;
    unsigned newest = 0;
    bool is_cut = false;
    for (;;) {
        result = store_scan(range->store, &wanted, &arenas[newest], &pages[newest]);
        if (result != STORE_OK || !pages[newest].has_more)
            break;
        wanted.lower = key_after(&arenas[newest], pages[newest].rows[pages[newest].count - 1].key);
        newest = !newest;
        is_cut = is_cut || pages[newest].count > 0;
        arena_reset(&arenas[newest]);
        pages[newest] = (struct store_page){0};
    }
    if (result == STORE_OK) {
        size_t bytes = 0;
        visit->rows = arena_alloc(arena, (scan->rows_max < 2 * STORE_PAGE_ROWS_MAX ? scan->rows_max : 2 * STORE_PAGE_ROWS_MAX) * sizeof *visit->rows);
        visit->has_more = !take_last(scan, &pages[newest], &bytes, arena, visit) || !take_last(scan, &pages[!newest], &bytes, arena, visit) || is_cut;
    }
    arena_close(&arenas[0]);
    arena_close(&arenas[1]);
    return result;
}

static enum store_result visit_store(struct part_range *range, const struct part_scan *scan, struct arena *arena, struct visit *visit)
{
    enum store_result result;
    if (scan->reverse && !range->part->options.store->can_reverse) {
        result = visit_backward(range, scan, arena, visit);
    } else {
        struct store_page page;
        result = visit_once(range, scan, visit, arena, &page);
        if (result == STORE_OK)
            *visit = (struct visit){page.rows, page.count, page.has_more, visit->lower, visit->upper};
    }
    if (result != STORE_OK || !visit->has_more)
        return result;
    str last = visit->rows[visit->count - 1].key;
    if (scan->reverse)
        visit->lower = last;
    else
        visit->upper = key_after(arena, last);
    return STORE_OK;
}

/* --- Merging what is pending --- */

static int compare_pending(const void *a, const void *b)
{
    const struct pending *const *left = a, *const *right = b;
    return str_compare(str_of((*left)->key, (*left)->key_bytes), str_of((*right)->key, (*right)->key_bytes));
}

/* With the lock: the pending rows inside the window, in ascending order. */
static const struct pending **pending_between(const struct pending_map *map, str lower, str upper, struct arena *arena, size_t *count)
{
    *count = 0;
    if (map->count == 0)
        return NULL;
    const struct pending **found = arena_alloc(arena, map->count * sizeof *found);
    for (size_t slot = 0; slot < map->slot_count; slot++) {
        for (const struct pending *pending = map->slots[slot]; pending; pending = pending->chain) {
            str key = str_of(pending->key, pending->key_bytes);
            if (str_compare(key, lower) >= 0 && str_compare(key, upper) < 0)
                found[(*count)++] = pending;
        }
    }
    qsort(found, *count, sizeof(struct pending *), compare_pending);
    return found;
}

/* A page that is being filled. */
struct fill {
    struct call *call;
    const struct part_scan *scan;
    struct arena *arena;
    struct part_page *page;
    size_t capacity;
    uint64_t bytes;
};

static bool fill_is_full(const struct fill *fill)
{
    return fill->page->count == fill->scan->rows_max || fill->bytes >= fill->scan->bytes_max;
}

static enum fault fill_add(struct fill *fill, str key, str value) MUST_USE;
static enum fault fill_add(struct fill *fill, str key, str value)
{
    struct part_page *page = fill->page;
    if (page->count == fill->capacity) {
        size_t capacity = fill->capacity ? fill->capacity * 2 : 64;
        struct part_row *rows = arena_alloc(fill->arena, capacity * sizeof *rows);
        if (page->count > 0)
            memcpy(rows, page->rows, page->count * sizeof *rows);
        page->rows = rows;
        fill->capacity = capacity;
    }
    struct part_row *row = &page->rows[page->count];
    row->key = key;
    if (!stored_read(value, &row->stored))
        return range_fail(fill->call);
    fill->bytes += row->stored.size;
    page->count++;
    return FAULT_NONE;
}

/* With the lock. `left` is what the scan has not seen yet, and shrinks to what is behind the rows that went into the page. */
static enum fault merge(struct part_range *range, struct fill *fill, const struct visit *visit) MUST_USE;
static enum fault merge(struct part_range *range, struct fill *fill, const struct visit *visit)
{
    bool reverse = fill->scan->reverse;
    size_t pending_count, at = 0, taken = 0;
    const struct pending **pendings = pending_between(&range->pending, visit->lower, visit->upper, fill->arena, &pending_count);
    while (at < visit->count || taken < pending_count) {
        if (fill_is_full(fill)) {
            fill->page->has_more = true;
            return FAULT_NONE;
        }
        const struct pending *pending = taken < pending_count ? pendings[reverse ? pending_count - 1 - taken : taken] : NULL;
        str pending_key = pending ? str_of(pending->key, pending->key_bytes) : STR_NONE;
        int order = !pending ? -1 : at == visit->count ? 1 : str_compare(visit->rows[at].key, pending_key);
        if (reverse && pending && at < visit->count)
            order = -order;
        if (order < 0) {
            TRY(fill_add(fill, visit->rows[at].key, visit->rows[at].value));
            at++;
            continue;
        }
        PROBE("part: a scan meets a row whose change is pending");
        if (pending->durable.data)
            TRY(fill_add(fill, arena_copy(fill->arena, pending_key), arena_copy(fill->arena, pending->durable)));
        at += order == 0;
        taken++;
    }
    return FAULT_NONE;
}

/* One visit and what it brings. *left shrinks by the window visited. */
static enum fault scan_step(struct call *call, struct part_range *range, struct fill *fill, struct visit *left) MUST_USE;
static enum fault scan_step(struct call *call, struct part_range *range, struct fill *fill, struct visit *left)
{
    struct world *world = range->world;
    struct visit visit = {.lower = left->lower, .upper = left->upper};
    world_lock(world, &range->lock);
    bool is_open = range_read_begin(range);
    world_unlock(world, &range->lock);
    if (!is_open)
        return range_fail(call);
    enum store_result result = visit_store(range, fill->scan, fill->arena, &visit);
    world_lock(world, &range->lock);
    range_read_end(range);
    enum fault fault = FAULT_NONE;
    if (result == STORE_OK && range_is_open(range))
        fault = merge(range, fill, &visit);
    is_open = range_is_open(range);
    world_unlock(world, &range->lock);
    if (!is_open || result != STORE_OK)
        return range_fail(call);
    left->has_more = visit.has_more;
    if (fill->scan->reverse)
        left->upper = visit.lower;
    else
        left->lower = visit.upper;
    return fault;
}

enum fault part_scan(struct call *call, struct part_range *range, const struct part_scan *scan, struct arena *arena, struct part_page *page)
{
    assert(scan->rows_max > 0 && scan->lower.len > 0 && scan->upper.len > 0);
    *page = (struct part_page){0};
    struct fill fill = {.call = call, .scan = scan, .arena = arena, .page = page};
    struct visit left = {.lower = scan->lower, .upper = scan->upper, .has_more = str_compare(scan->lower, scan->upper) < 0};
    /* A visit may bring only rows that are not durable yet. */
    while (page->count == 0 && left.has_more)
        TRY(scan_step(call, range, &fill, &left));
    page->has_more = page->has_more || left.has_more;
    return FAULT_NONE;
}
