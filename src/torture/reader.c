/* The reader of the change log: follows every range across crashes, and keeps what it read for the oracles. */
#include "torture/torture_internal.h"

#include "base/probe.h"

enum { READ_MAX = 20 };

#define READER_NAME STR("reader")

static uint32_t key_of_record(struct run *run, struct call *call, const struct part_log_record *record)
{
    for (uint32_t key = 0; key < run->plan->keys; key++) {
        struct edit edit;
        torture_key(&call->arena, key, &edit);
        if (str_equal(edit.row_key, record->row_key) && str_equal(edit.key_item, record->key_item))
            return key;
    }
    run_find(run, "the log has a record of a key that nobody wrote");
    return 0;
}

static void image_state(str image, struct state *out)
{
    struct stored stored = {.item = image, .size = image.len > 0 ? (uint32_t)item_size(image) : 0};
    state_of_item(image.len > 0, &stored, out);
}

/* Reads a page behind the reader's position; false at the end of the log or when it cannot be read now. */
static bool read_page(struct run *run, uint32_t range_number)
{
    struct call call;
    struct part_range *range;
    struct part_log_record *records;
    size_t count = 0;
    call_open(&call, run->world, NULL);
    if (part_range_acquire(&call, run->part, run->ids[range_number], &range) == FAULT_NONE) {
        if (part_log_read(&call, range, run->log_position[range_number], READ_MAX, &records, &count) != FAULT_NONE)
            count = 0;
        for (size_t i = 0; i < count; i++) {
            struct log_entry entry = {.range = range_number, .stamp = records[i].stamp, .had_item = records[i].had_item, .has_item = records[i].has_item};
            entry.key = key_of_record(run, &call, &records[i]);
            image_state(records[i].before, &entry.before);
            image_state(records[i].after, &entry.after);
            if (entry.stamp <= run->log_position[range_number])
                run_find(run, "range %u: the log went back to stamp %llu", range_number, (unsigned long long)entry.stamp);
            run->log_position[range_number] = entry.stamp;
            history_add_log(&run->history, &entry);
        }
        /* Now and then what was read is given up. */
        if (count > 0 && records[0].stamp % 3 == 0 && part_log_advance(&call, range, READER_NAME, run->log_position[range_number]) != FAULT_NONE)
            PROBE("torture: the log cannot be trimmed now");
        part_range_release(range);
    }
    call_close(&call);
    return count > 0;
}

void reader_run(void *argument)
{
    struct run *run = argument;
    while (!run->is_ending) {
        for (uint32_t range = 0; range < run->plan->ranges; range++)
            (void)read_page(run, range);
        world_sleep_us(run->world, 300);
    }
}

void reader_drain(struct run *run)
{
    for (uint32_t range = 0; range < run->plan->ranges; range++)
        while (read_page(run, range))
            ;
}
