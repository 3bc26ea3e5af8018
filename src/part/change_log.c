/* The change log: records in the range itself, in the group of the change they tell of, trimmed behind the slowest consumer.
 *
 *   key    ROW_LOG, the stamp as ten bytes of 7 bits (as a row key's hash), then 'a': the record; 'b', 'c': the images
 *          before and after, when the record would be too large with them in it
 *   value  version, flags, row key, key item, image before, image after (each with its length)
 */
#include "part/part_internal.h"

#include <assert.h>

enum { RECORD_VERSION = 1, STAMP_BYTES = 10, RECORD_KEY_BYTES = 1 + STAMP_BYTES + 1 };
enum { RECORD_HAD_ITEM = 1, RECORD_HAS_ITEM = 2, RECORD_BEFORE_APART = 4, RECORD_AFTER_APART = 8 };
enum { INLINE_BYTES_MAX = 256 << 10, TRIM_ROWS = 512, TRIM_PAGES_MAX = 8, PAGE_BYTES_MAX = 4 << 20, READ_BYTES_MAX = 1 << 20 };

/* The key of the record of `stamp`, or with 'c' + 1 the first key behind all of its rows. */
static void log_key(uint64_t stamp, char part, char key[RECORD_KEY_BYTES])
{
    key[0] = ROW_LOG;
    for (int i = STAMP_BYTES; i > 0; i--) {
        key[i] = (char)(0x80 | (stamp & 0x7f));
        stamp >>= 7;
    }
    key[RECORD_KEY_BYTES - 1] = part;
}

static uint64_t log_key_stamp(str key)
{
    uint64_t stamp = 0;
    for (int i = 1; i <= STAMP_BYTES; i++)
        stamp = stamp << 7 | ((uint64_t)(uint8_t)key.data[i] & 0x7f);
    return stamp;
}

static void add_row(struct part_group *group, uint64_t stamp, char part, str value)
{
    char *key = arena_alloc_text(&group->arena, RECORD_KEY_BYTES);
    log_key(stamp, part, key);
    group_add_write(group, str_of(key, RECORD_KEY_BYTES), value);
}

/* The image itself, or nothing when it stands in a row of its own. */
static str image_or_apart(struct part_group *group, uint64_t stamp, char part, str image, bool *is_apart)
{
    *is_apart = image.len > INLINE_BYTES_MAX;
    if (!*is_apart)
        return image;
    PROBE("part: an image is logged in a row of its own");
    add_row(group, stamp, part, arena_copy(&group->arena, image));
    return STR_NONE;
}

void log_add(struct part_range *range, struct part_group *group, const struct edit *edit, const struct edit_outcome *outcome)
{
    if (range->consumers.count == 0)
        return;
    unsigned images = 0;
    for (size_t i = 0; i < range->consumers.count; i++)
        images |= range->consumers.of[i].images;
    uint64_t stamp = outcome->after.stamp;
    str before = outcome->had_item && images & LOG_OLD_IMAGE ? outcome->before.item : STR_NONE;
    str after = outcome->has_item && images & LOG_NEW_IMAGE ? outcome->after.item : STR_NONE;
    bool before_is_apart, after_is_apart;
    before = image_or_apart(group, stamp, 'b', before, &before_is_apart);
    after = image_or_apart(group, stamp, 'c', after, &after_is_apart);
    struct buf value;
    buf_open(&value, &group->arena, 64 + edit->row_key.len + edit->key_item.len + before.len + after.len);
    buf_add_byte(&value, RECORD_VERSION);
    buf_add_byte(&value, (uint8_t)((outcome->had_item ? RECORD_HAD_ITEM : 0) | (outcome->has_item ? RECORD_HAS_ITEM : 0) |
                                   (before_is_apart ? RECORD_BEFORE_APART : 0) | (after_is_apart ? RECORD_AFTER_APART : 0)));
    buf_add_counted(&value, edit->row_key);
    buf_add_counted(&value, edit->key_item);
    buf_add_counted(&value, before);
    buf_add_counted(&value, after);
    add_row(group, stamp, 'a', buf_str(&value));
    group->record_count++;
}

static bool record_read(str key, str value, struct part_log_record *record, unsigned *flags)
{
    str head;
    if (key.len != RECORD_KEY_BYTES || !str_take(&value, 2, &head) || head.data[0] != RECORD_VERSION)
        return false;
    *flags = (uint8_t)head.data[1];
    *record = (struct part_log_record){.stamp = log_key_stamp(key), .had_item = *flags & RECORD_HAD_ITEM, .has_item = *flags & RECORD_HAS_ITEM};
    return str_take_counted(&value, &record->row_key) && str_take_counted(&value, &record->key_item) && str_take_counted(&value, &record->before) &&
           str_take_counted(&value, &record->after) && value.len == 0;
}

/* --- Consumers --- */

static struct consumer *consumer_find(struct part_range *range, str name)
{
    for (size_t i = 0; i < range->consumers.count; i++) {
        struct consumer *consumer = &range->consumers.of[i];
        if (str_equal(str_of(consumer->name, consumer->name_bytes), name))
            return consumer;
    }
    return NULL;
}

static void consumers_changed(struct part_range *range)
{
    struct part_group *group = sequencer_forming(range);
    struct buf value;
    buf_open(&value, &group->arena, 256);
    consumers_write(&range->consumers, &value);
    group_add_write(group, META_KEY_CONSUMERS, buf_str(&value));
}

static enum fault unlock_and_fail(struct call *call, struct part_range *range)
{
    world_unlock(range->world, &range->lock);
    return range_fail(call);
}

enum fault part_log_start(struct call *call, struct part_range *range, str consumer, unsigned images)
{
    assert(consumer.len > 0 && consumer.len <= CONSUMER_NAME_MAX);
    world_lock(range->world, &range->lock);
    if (!range_is_open(range))
        return unlock_and_fail(call, range);
    struct consumer *found = consumer_find(range, consumer);
    if (!found) {
        if (range->consumers.count == CONSUMERS_MAX)
            return unlock_and_fail(call, range);
        found = &range->consumers.of[range->consumers.count++];
        *found = (struct consumer){.name_bytes = consumer.len, .position = range->counts.visible.last_stamp};
        memcpy(found->name, consumer.data, consumer.len);
    }
    found->images = images;
    consumers_changed(range);
    return sequencer_finish(call, range);
}

bool part_log_position(struct part_range *range, str consumer, uint64_t *position)
{
    world_lock(range->world, &range->lock);
    const struct consumer *found = consumer_find(range, consumer);
    if (found)
        *position = found->position;
    world_unlock(range->world, &range->lock);
    return found != NULL;
}

/* --- Trimming --- */

/* What no consumer needs; with none left, all that is durable. */
static uint64_t slowest_position(const struct part_range *range)
{
    uint64_t slowest = range->durable.visible.last_stamp;
    for (size_t i = 0; i < range->consumers.count; i++)
        if (range->consumers.of[i].position < slowest)
            slowest = range->consumers.of[i].position;
    return slowest;
}

static enum store_result scan_log(struct part_range *range, uint64_t above, uint64_t up_to, size_t rows_max, struct arena *arena, struct store_page *page)
{
    char lower[RECORD_KEY_BYTES], upper[RECORD_KEY_BYTES];
    log_key(above, 'c' + 1, lower);
    log_key(up_to, 'c' + 1, upper);
    struct store_scan scan = {.lower = str_of(lower, RECORD_KEY_BYTES), .upper = str_of(upper, RECORD_KEY_BYTES), .rows_max = rows_max,
                              .bytes_max = PAGE_BYTES_MAX};
    *page = (struct store_page){0};
    return store_scan(range->store, &scan, arena, page);
}

/* Comes and goes with the lock. Deletes a page of rows that nobody needs; *more when there may be another. False: the store failed. */
static bool trim_page(struct part_range *range, bool *more)
{
    uint64_t from = range->consumers.trimmed_to, to = slowest_position(range);
    *more = false;
    if (from >= to)
        return true;
    if (!range_read_begin(range))
        return false;
    world_unlock(range->world, &range->lock);
    struct arena arena;
    struct store_page page;
    arena_open(&arena, NULL);
    enum store_result result = scan_log(range, from, to, TRIM_ROWS, &arena, &page);
    world_lock(range->world, &range->lock);
    range_read_end(range);
    bool is_done = result == STORE_OK && range_is_open(range);
    if (is_done) {
        struct part_group *group = sequencer_forming(range);
        for (size_t i = 0; i < page.count; i++)
            group_add_write(group, arena_copy(&group->arena, page.rows[i].key), STR_NONE);
        /* The rows of the last stamp may go on behind the page. */
        uint64_t trimmed_to = page.has_more && page.count > 0 ? log_key_stamp(page.rows[page.count - 1].key) - 1 : to;
        if (trimmed_to > range->consumers.trimmed_to)
            range->consumers.trimmed_to = trimmed_to;
        *more = page.has_more;
        if (page.has_more)
            PROBE("part: the log is trimmed in several pages");
    }
    arena_close(&arena);
    return is_done;
}

/* Comes with the lock, which it gives up. */
static enum fault trim(struct call *call, struct part_range *range, size_t pages_max)
{
    bool more = true;
    for (size_t pages = 0; more && pages < pages_max; pages++) {
        if (!trim_page(range, &more)) {
            /* What earlier pages formed must not lie there until somebody else's change sends it. */
            struct part_group *next = sequencer_next(range);
            world_unlock(range->world, &range->lock);
            sequencer_send(next);
            return range_fail(call);
        }
    }
    consumers_changed(range);
    return sequencer_finish(call, range);
}

enum fault part_log_advance(struct call *call, struct part_range *range, str consumer, uint64_t position)
{
    world_lock(range->world, &range->lock);
    struct consumer *found = consumer_find(range, consumer);
    if (!range_is_open(range) || !found)
        return unlock_and_fail(call, range);
    if (position > found->position)
        found->position = position < range->durable.visible.last_stamp ? position : range->durable.visible.last_stamp;
    return trim(call, range, TRIM_PAGES_MAX);
}

bool part_log_is_trimmed(struct part_range *range)
{
    world_lock(range->world, &range->lock);
    bool is_trimmed = range->consumers.trimmed_to >= slowest_position(range);
    world_unlock(range->world, &range->lock);
    return is_trimmed;
}

enum fault part_log_stop(struct call *call, struct part_range *range, str consumer)
{
    world_lock(range->world, &range->lock);
    if (!range_is_open(range))
        return unlock_and_fail(call, range);
    struct consumer *found = consumer_find(range, consumer);
    if (found) {
        struct consumer *last = &range->consumers.of[--range->consumers.count];
        *found = *last;
        consumers_changed(range);
    }
    TRY(sequencer_finish(call, range));
    /* Now that nothing of it is pending, so that with the last consumer the log goes whole. */
    world_lock(range->world, &range->lock);
    if (!range_is_open(range))
        return unlock_and_fail(call, range);
    return trim(call, range, SIZE_MAX);
}

/* --- Reading --- */

static enum fault read_apart(struct call *call, struct part_range *range, uint64_t stamp, char part, str *image)
{
    char key[RECORD_KEY_BYTES];
    log_key(stamp, part, key);
    return store_get(range->store, str_of(key, RECORD_KEY_BYTES), &call->arena, image) == STORE_OK ? FAULT_NONE : range_fail(call);
}

/* Without the lock, inside a visit to the store. */
static enum fault read_records(struct call *call, struct part_range *range, uint64_t after, uint64_t up_to, size_t count_max,
                               struct part_log_record *records, size_t *count)
{
    bool more = true;
    size_t bytes = 0;
    while (more && *count < count_max && bytes < READ_BYTES_MAX) {
        struct store_page page;
        size_t rows_max = count_max - *count;
        if (scan_log(range, after, up_to, rows_max < STORE_PAGE_ROWS_MAX ? rows_max : STORE_PAGE_ROWS_MAX, &call->arena, &page) != STORE_OK)
            return range_fail(call);
        for (size_t i = 0; i < page.count && bytes < READ_BYTES_MAX; i++) {
            str key = page.rows[i].key;
            if (key.data[key.len - 1] != 'a')
                continue;
            unsigned flags;
            struct part_log_record *record = &records[*count];
            if (!record_read(key, page.rows[i].value, record, &flags))
                return range_fail(call);
            if (flags & RECORD_BEFORE_APART)
                TRY(read_apart(call, range, record->stamp, 'b', &record->before));
            if (flags & RECORD_AFTER_APART)
                TRY(read_apart(call, range, record->stamp, 'c', &record->after));
            after = record->stamp;
            bytes += record->before.len + record->after.len;
            ++*count;
        }
        more = page.has_more && page.count > 0;
        if (more && *count < count_max)
            after = log_key_stamp(page.rows[page.count - 1].key);
    }
    return FAULT_NONE;
}

enum fault part_log_read(struct call *call, struct part_range *range, uint64_t after, size_t count_max, struct part_log_record **records, size_t *count)
{
    *count = 0;
    *records = ARENA_NEW_ARRAY(&call->arena, struct part_log_record, count_max);
    world_lock(range->world, &range->lock);
    /* Groups become durable in the order of their stamps, so all stamps up to this one are resolved. */
    uint64_t up_to = range->durable.visible.last_stamp;
    if (after >= up_to && range_is_open(range)) {
        world_unlock(range->world, &range->lock);
        return FAULT_NONE;
    }
    if (!range_read_begin(range))
        return unlock_and_fail(call, range);
    world_unlock(range->world, &range->lock);
    enum fault fault = read_records(call, range, after, up_to, count_max, *records, count);
    world_lock(range->world, &range->lock);
    range_read_end(range);
    bool is_open = range_is_open(range);
    world_unlock(range->world, &range->lock);
    if (fault == FAULT_NONE && !is_open)
        fault = range_fail(call);
    return fault;
}
