/* One page of a Query or Scan: rows of one range after another, filtered, projected and answered step by step. A step's rows are given back before the
   next one, so a request holds its answer and little more. */
#include "op/page_internal.h"

enum {
    STEP_ROWS = 256,
    FETCH_ROWS = 16 /* items read at once for entries of a local index: each may have ITEM_BYTES_MAX */
};

/* A page on its way. */
struct page {
    struct call *call;
    const struct page_request *request;
    const struct page_target *target;
    const struct page_walk *walk;
    struct arena step;      /* one step's memory */
    struct buf *answer;
    uint64_t scanned, matched;
    uint64_t row_bytes;     /* of the rows scanned */
    uint64_t page_bytes;    /* of the same, items that were fetched in place of their entries: what PAGE_BYTES_MAX bounds */
    uint64_t fetched_half_units;
    bool is_full;           /* the limit or PAGE_BYTES_MAX was reached: */
    str last;               /* the item that did */
};

str page_key_after(struct call *call, str row_key)
{
    char *after = arena_alloc_text(&call->arena, row_key.len + 1);
    memcpy(after, row_key.data, row_key.len);
    after[row_key.len] = 1; /* row keys hold no 00 */
    return str_of(after, row_key.len + 1);
}

static void answer_item(struct page *page, str item)
{
    struct buf projected;
    if (page->request->projection.len > 0) {
        buf_open(&projected, &page->step, item.len);
        expr_project(page->request->projection, item, &projected);
        item = buf_str(&projected);
    }
    json_write_comma(page->answer);
    item_write_json(page->answer, item);
}

/* The item's key attributes: those of what is read and of the table. */
static str start_key_of(struct call *call, const struct page_target *target, str item)
{
    const struct key_schema *keys = &target->table->keys;
    struct attribute attributes[2 * INDEX_KEY_PARTS_MAX + 2];
    size_t count = 0;
    for (size_t i = 0; i < target->partition_count; i++)
        attributes[count++].name = target->partition[i].name;
    for (size_t i = 0; i < target->sort_count; i++)
        attributes[count++].name = target->sort[i].name;
    attributes[count++].name = keys->partition.name;
    if (keys->sort.name.len > 0)
        attributes[count++].name = keys->sort.name;
    for (size_t i = 0; i < count; i++)
        attributes[i].value = item_get(item, attributes[i].name);
    struct buf key;
    buf_open(&key, &call->arena, 0);
    item_write(&key, attributes, count); /* a name that stands twice is written once */
    return buf_str(&key);
}

static enum read_consistency consistency_of(const struct page *page)
{
    return page->request->is_strong ? READ_STRONG : READ_EVENTUAL;
}

/* `stored` is the row, or the item that its entry stands for. */
static void take_row(struct page *page, const struct part_row *row, const struct stored *stored)
{
    const struct page_request *request = page->request;
    page->scanned++;
    page->row_bytes += row->stored.size;
    page->page_bytes += stored->size;
    if (expr_holds(request->filter, stored->item)) {
        page->matched++;
        if (request->select != SELECT_COUNT)
            answer_item(page, stored->item);
    }
    page->is_full = page->scanned >= request->limit || page->page_bytes >= PAGE_BYTES_MAX;
    if (page->is_full)
        page->last = start_key_of(page->call, page->target, row->stored.item);
}

/* --- What a local index does not project --- */

static str row_key_of_item(struct page *page, str entry)
{
    const struct key_schema *keys = &page->target->table->keys;
    struct buf key;
    buf_open(&key, &page->step, 0);
    key_encode(keys, ROW_ITEM, item_get(entry, keys->partition.name), item_get(entry, keys->sort.name), &key);
    return buf_str(&key);
}

/* Whether the item still has this entry. One that was changed or deleted since its entry was read has not: its row is passed over, as if it had gone
   before, or else an item would be answered that is not what the key condition asks for. */
static bool has_entry(struct page *page, const struct part_row *entry, str item)
{
    const struct index_schema *schema = &page->target->schema;
    struct buf key;
    buf_open(&key, &page->step, entry->key.len);
    if (!index_holds(schema, item))
        return false;
    index_row_key(schema, item, &key);
    return str_equal(buf_str(&key), entry->key);
}

/* Takes entries with the items that they stand for, which lie in the same range. Each item is read, and charged, for itself. */
static enum fault take_fetched(struct page *page, struct part_range *range, const struct part_row *rows, size_t count) MUST_USE;
static enum fault take_fetched(struct page *page, struct part_range *range, const struct part_row *rows, size_t count)
{
    str keys[FETCH_ROWS];
    bool found[FETCH_ROWS];
    struct stored items[FETCH_ROWS];
    for (size_t done = 0; done < count && !page->is_full; done += FETCH_ROWS) {
        size_t here = count - done < FETCH_ROWS ? count - done : FETCH_ROWS;
        for (size_t i = 0; i < here; i++)
            keys[i] = row_key_of_item(page, rows[done + i].stored.item);
        TRY(part_multi_get(page->call, range, keys, here, found, items));
        for (size_t i = 0; i < here && !page->is_full; i++) {
            if (!found[i] || !has_entry(page, &rows[done + i], items[i].item))
                continue;
            page->fetched_half_units += admit_read_units(items[i].size, consistency_of(page));
            take_row(page, &rows[done + i], &items[i]);
        }
    }
    return FAULT_NONE;
}

static enum fault take_rows(struct page *page, struct part_range *range, const struct part_page *rows) MUST_USE;
static enum fault take_rows(struct page *page, struct part_range *range, const struct part_page *rows)
{
    if (page->target->fetches)
        return take_fetched(page, range, rows->rows, rows->count);
    for (size_t i = 0; i < rows->count; i++)
        take_row(page, &rows->rows[i], &rows->rows[i].stored);
    return FAULT_NONE;
}

/* --- Walking --- */

/* Reads on inside one range, from *lower up to upper or from *upper down to lower. */
static enum fault read_stretch(struct page *page, struct part_range *range, str lower, str upper) MUST_USE;
static enum fault read_stretch(struct page *page, struct part_range *range, str lower, str upper)
{
    struct part_scan scan = {.lower = lower, .upper = upper, .reverse = page->walk->reverse, .is_bulk = page->walk->is_bulk};
    struct part_page rows = {.has_more = true};
    struct buf resume; /* where the next step begins: outlives a step's memory */
    buf_open(&resume, &page->call->arena, 0);
    while (rows.has_more && !page->is_full) {
        uint64_t left = page->request->limit - page->scanned;
        scan.rows_max = left < STEP_ROWS ? (size_t)left : STEP_ROWS;
        scan.bytes_max = PAGE_BYTES_MAX - page->page_bytes;
        arena_reset(&page->step);
        TRY(part_scan(page->call, range, &scan, &page->step, &rows));
        TRY(take_rows(page, range, &rows));
        if (!rows.has_more || page->is_full)
            continue;
        resume.len = 0;
        buf_add_str(&resume, rows.rows[rows.count - 1].key);
        if (!scan.reverse)
            buf_add_byte(&resume, 1); /* the smallest key above it: see page_key_after */
        *(scan.reverse ? &scan.upper : &scan.lower) = buf_str(&resume);
    }
    return FAULT_NONE;
}

/* The first row key that a range may hold, in the walk's space. */
static str range_bound(const struct page *page, size_t place)
{
    struct buf hash, bound;
    buf_open(&hash, &page->call->arena, 0);
    buf_open(&bound, &page->call->arena, 0);
    key_encode_hash(ROW_ITEM, page->walk->ranges[place].hash_from, &hash);
    buf_add(&bound, page->walk->lower.data, page->walk->space_bytes);
    buf_add_str(&bound, str_from(buf_str(&hash), 1));
    return buf_str(&bound);
}

/* The part of the walk that lies in one of the ranges. */
static enum fault read_range(struct op_context *context, struct page *page, size_t place) MUST_USE;
static enum fault read_range(struct op_context *context, struct page *page, size_t place)
{
    str lower = page->walk->lower, upper = page->walk->upper;
    if (place > 0) {
        str first = range_bound(page, place);
        lower = str_compare(lower, first) < 0 ? first : lower;
    }
    if (place + 1 < page->walk->range_count) {
        str next = range_bound(page, place + 1);
        upper = str_compare(upper, next) > 0 ? next : upper;
    }
    if (str_compare(lower, upper) >= 0)
        return FAULT_NONE;
    struct part_range *range;
    enum fault fault = part_range_acquire(page->call, context->service->part, page->walk->ranges[place].id, &range);
    if (fault == FAULT_RESOURCE_NOT_FOUND && page->target->index && !page->target->index->is_local) {
        call_clear_fault(page->call); /* deleted since it was found: the table may be there still */
        return page_refuse_index(page->call, page->target->index->name);
    }
    TRY(fault);
    fault = read_stretch(page, range, lower, upper);
    part_range_release(range);
    return fault;
}

static enum fault read_ranges(struct op_context *context, struct page *page) MUST_USE;
static enum fault read_ranges(struct op_context *context, struct page *page)
{
    size_t count = page->walk->range_count;
    for (size_t i = 0; i < count && !page->is_full; i++)
        TRY(read_range(context, page, page->walk->reverse ? count - 1 - i : i));
    return FAULT_NONE;
}

static void answer_capacity(struct page *page)
{
    const struct page_request *request = page->request;
    struct item_charge charge;
    item_charge_open(page->call, page->target->table, &charge);
    const struct page_target *target = page->target;
    if (target->index)
        charge.index_half_units[target->index - target->table->indexes] += admit_read_units(page->row_bytes, consistency_of(page));
    else
        item_charge_read(&charge, page->row_bytes, consistency_of(page));
    charge.table_half_units += page->fetched_half_units;
    json_write_name(page->answer, "ConsumedCapacity");
    item_charge_answer(page->call, &charge, request->detail, request->table_name, page->answer);
}

enum fault page_run(struct op_context *context, struct call *call, const struct page_request *request, const struct page_target *target, const struct page_walk *walk,
                    struct buf *answer)
{
    struct page page = {.call = call, .request = request, .target = target, .walk = walk, .answer = answer};
    arena_open(&page.step, call->arena.budget);
    BUF_ADD_LITERAL(answer, "{");
    if (request->select != SELECT_COUNT)
        BUF_ADD_LITERAL(answer, "\"Items\":[");
    enum fault fault = read_ranges(context, &page);
    arena_close(&page.step);
    TRY(fault);
    if (request->select != SELECT_COUNT)
        BUF_ADD_LITERAL(answer, "],");
    buf_printf(answer, "\"Count\":%llu,\"ScannedCount\":%llu", (unsigned long long)page.matched, (unsigned long long)page.scanned);
    if (page.is_full && !walk->is_one_row) {
        json_write_name(answer, "LastEvaluatedKey");
        item_write_json(answer, page.last);
    }
    if (request->detail != CAPACITY_NONE)
        answer_capacity(&page);
    buf_add_byte(answer, '}');
    return FAULT_NONE;
}
