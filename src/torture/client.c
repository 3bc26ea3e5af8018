/* A client of a torture run: random calls, each recorded as it was asked and answered, each decision checked against a model. */
#include "torture/torture_internal.h"

#include "base/probe.h"
#include "json/json.h"
#include "model/number.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NO_NUMBER = INT32_MIN, ERRORS_MAX = 4, LARGE_BYTES = 330000, STRANGERS = 24 };

enum { COLLECTIONS = 2 * RANGES_MAX }; /* keys share one when they are as many apart */

const struct key_schema torture_schema = {.partition = {{"pk", 2}, VALUE_S}, .sort = {{"sk", 2}, VALUE_S}};

uint64_t chance_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t chance_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((chance_next(state) >> 32) * bound >> 32);
}

static uint32_t below(struct client *client, uint32_t bound)
{
    return chance_below(&client->chance, bound);
}

/* --- Items --- */

static str number_value(struct arena *arena, int64_t number)
{
    struct number ordered;
    struct buf out;
    number_from_i64(number, &ordered);
    buf_open(&out, arena, 0);
    value_write_scalar(&out, VALUE_N, number_str(&ordered));
    return buf_str(&out);
}

static str string_value(struct arena *arena, str text)
{
    struct buf out;
    buf_open(&out, arena, text.len + 8);
    value_write_scalar(&out, VALUE_S, text);
    return buf_str(&out);
}

static str key_partition(struct arena *arena, uint32_t key)
{
    return string_value(arena, arena_printf(arena, "group-%u", key % COLLECTIONS));
}

static str key_sort(struct arena *arena, uint32_t key)
{
    return string_value(arena, arena_printf(arena, "key-%u", key));
}

static str make_item(struct arena *arena, uint32_t key, int64_t number, uint64_t mark, size_t pad_bytes)
{
    char *padding = arena_alloc_text(arena, pad_bytes);
    memset(padding, 'p', pad_bytes);
    struct attribute attributes[] = {
        {STR("n"), number_value(arena, number)},
        {STR("w"), number_value(arena, (int64_t)mark)},
        {STR("pk"), key_partition(arena, key)},
        {STR("sk"), key_sort(arena, key)},
        {STR("filler"), string_value(arena, str_of(padding, pad_bytes))},
    };
    struct buf item;
    buf_open(&item, arena, pad_bytes + 64);
    item_write(&item, attributes, pad_bytes > 0 ? 5 : 4);
    return buf_str(&item);
}

void torture_key(struct arena *arena, uint32_t key, struct edit *edit)
{
    struct attribute attributes[] = {{STR("pk"), key_partition(arena, key)}, {STR("sk"), key_sort(arena, key)}};
    struct buf item, row_key;
    buf_open(&item, arena, 0);
    buf_open(&row_key, arena, 0);
    item_write(&item, attributes, 2);
    key_encode(&torture_schema, ROW_ITEM, attributes[0].value, attributes[1].value, &row_key);
    edit->key_item = buf_str(&item);
    edit->row_key = buf_str(&row_key);
}

static int64_t number_of(str item, str name)
{
    int64_t number = NO_NUMBER;
    str found = item_get(item, name);
    return found.len > 0 && number_to_i64(value_scalar(found), &number) ? number : NO_NUMBER;
}

void state_of_item(bool has_item, const struct stored *stored, struct state *out)
{
    *out = (struct state){.has_item = has_item};
    if (!has_item)
        return;
    out->stamp = stored->stamp;
    out->number = number_of(stored->item, STR("n"));
    out->mark = (uint64_t)number_of(stored->item, STR("w"));
    out->size = stored->size;
}

/* --- What a client asks for, and what must come of it --- */

enum condition { CONDITION_NONE, CONDITION_EXISTS, CONDITION_MISSING, CONDITION_BELOW, CONDITION_KINDS };

struct wish {
    uint32_t key;
    struct edit edit;
    enum condition condition;
    int64_t bound;      /* CONDITION_BELOW */
    int64_t number;     /* put: the number; update: what is added */
    uint64_t mark;
    bool is_refused;    /* an update that no item allows */
};

static str program(struct client *client, struct call *call, enum expr_kind kind, const char *text, str values)
{
    str body = arena_printf(&call->arena, "{\"E\":\"%s\",\"V\":%.*s}", text, STR_ARG(values));
    struct json json;
    bool parsed = json_parse(&call->arena, body, &json);
    assert(parsed);
    struct expr_request request = {.json = &json, .names = JSON_ABSENT, .values = json_member(&json, 0, STR("V"))};
    for (int i = 0; i < EXPR_KINDS; i++)
        request.text[i] = JSON_ABSENT;
    request.text[kind] = json_member(&json, 0, STR("E"));
    request.takes[kind] = true;
    struct expr_programs programs;
    if (expr_request_read(call, &request, &programs) != FAULT_NONE)
        run_find(client->run, "the expression %s is refused: %.*s", text, STR_ARG(call->message));
    return programs.of[kind];
}

static void wish_condition(struct client *client, struct call *call, struct wish *wish)
{
    static const char *const texts[] = {NULL, "attribute_exists(pk)", "attribute_not_exists(pk)", "n < :v"};
    wish->condition = below(client, 2) ? CONDITION_NONE : (enum condition)below(client, CONDITION_KINDS);
    wish->bound = below(client, 60);
    if (wish->condition == CONDITION_NONE)
        return;
    str values = wish->condition == CONDITION_BELOW ? arena_printf(&call->arena, "{\":v\":{\"N\":\"%d\"}}", (int)wish->bound) : STR("null");
    wish->edit.condition = program(client, call, EXPR_CONDITION, texts[wish->condition], values);
}

static void wish_update(struct client *client, struct call *call, struct wish *wish)
{
    uint32_t way = below(client, 10);
    wish->edit.kind = EDIT_UPDATE;
    if (way == 0)
        return; /* no action: only makes a missing item */
    if (way == 1) {
        wish->is_refused = true;
        wish->edit.action = program(client, call, EXPR_UPDATE, "SET n = nowhere", STR("null"));
        return;
    }
    str values = arena_printf(&call->arena, "{\":w\":{\"N\":\"%" PRIu64 "\"},\":d\":{\"N\":\"%d\"}}", wish->mark, (int)wish->number);
    wish->edit.action = program(client, call, EXPR_UPDATE, "SET w = :w ADD n :d", values);
}

static void wish_make(struct client *client, struct call *call, uint32_t key, struct wish *wish)
{
    *wish = (struct wish){.key = key, .number = below(client, 20), .mark = ++client->run->marks};
    torture_key(&call->arena, key, &wish->edit);
    if (client->run->plan->has_indexes) {
        wish->edit.local_indexes = torture_indexes;
        wish->edit.local_index_count = TORTURE_INDEXES;
    }
    bool is_large = below(client, 100) < client->run->plan->large_percent;
    uint32_t kind = is_large ? 0 : below(client, 10);
    if (kind < 4) {
        wish->edit.kind = EDIT_PUT;
        wish->edit.action = make_item(&call->arena, key, wish->number, wish->mark, is_large ? LARGE_BYTES : below(client, 40));
    } else if (kind < 7) {
        wish_update(client, call, wish);
    } else {
        wish->edit.kind = kind < 9 ? EDIT_DELETE : EDIT_CHECK;
    }
    wish_condition(client, call, wish);
}

static enum fault expected_fault(const struct wish *wish, const struct state *before)
{
    bool holds = wish->condition == CONDITION_NONE || (wish->condition == CONDITION_EXISTS && before->has_item) ||
                 (wish->condition == CONDITION_MISSING && !before->has_item) ||
                 (wish->condition == CONDITION_BELOW && before->has_item && before->number != NO_NUMBER && before->number < wish->bound);
    if (!holds)
        return FAULT_CONDITIONAL_CHECK_FAILED;
    return wish->is_refused ? FAULT_VALIDATION : FAULT_NONE;
}

static void expected_after(const struct wish *wish, const struct state *before, struct state *after)
{
    *after = *before;
    if (wish->edit.kind == EDIT_DELETE) {
        *after = (struct state){0};
    } else if (wish->edit.kind == EDIT_PUT) {
        *after = (struct state){.has_item = true, .number = wish->number, .mark = wish->mark};
    } else if (wish->edit.kind == EDIT_UPDATE && wish->edit.action.len > 0) {
        after->has_item = true;
        after->number = (before->has_item && before->number != NO_NUMBER ? before->number : 0) + wish->number;
        after->mark = wish->mark;
    } else if (wish->edit.kind == EDIT_UPDATE && !before->has_item) {
        *after = (struct state){.has_item = true, .number = NO_NUMBER, .mark = (uint64_t)(int64_t)NO_NUMBER};
    }
}

/* --- Recording --- */

static void trace_event(const struct run *run, size_t index, const char *what)
{
    if (!run->trace)
        return;
    const struct event *event = &run->history.events[index];
    printf("%6" PRIu64 " life %u client %u key %u %-8s before %d/%" PRId64 " mark %" PRId64 " stamp %" PRIu64 " after %d/%" PRId64 " mark %" PRId64 " stamp %" PRIu64
           " invoked %" PRIu64 "\n",
        run->time, event->life, event->client, event->key, what, event->before.has_item, event->before.number, (int64_t)event->before.mark, event->before.stamp,
        event->after.has_item, event->after.number, (int64_t)event->after.mark, event->after.stamp, event->invoked);
}

static void note_result(struct run *run, uint64_t result)
{
    run->results ^= result;
    run->results = chance_next(&run->results);
}

/* Checks one decision against the model and records it as not answered yet. Returns the event's place. */
static size_t record_decision(struct client *client, const struct wish *wish, uint64_t invoked, enum fault fault, const struct edit_outcome *outcome)
{
    struct run *run = client->run;
    struct event event = {.life = run->life, .key = wish->key, .client = client->number, .invoked = invoked, .answered = NEVER_ANSWERED};
    struct state expected;
    state_of_item(outcome->had_item, &outcome->before, &event.before);
    if (fault != expected_fault(wish, &event.before))
        run_find(run, "key %u, life %u: an edit on mark %" PRIu64 " gave fault %d where %d was due", wish->key, run->life, event.before.mark, (int)fault,
            (int)expected_fault(wish, &event.before));
    if (fault == FAULT_NONE) {
        state_of_item(outcome->has_item, &outcome->after, &event.after);
        if (!outcome->has_item)
            event.after.stamp = outcome->after.stamp;
        expected_after(wish, &event.before, &expected);
        event.is_change = expected.has_item != event.before.has_item || (expected.has_item && wish->edit.kind == EDIT_PUT) ||
                          (wish->edit.kind == EDIT_UPDATE && wish->edit.action.len > 0);
        if (expected.has_item != event.after.has_item || expected.number != event.after.number || expected.mark != event.after.mark)
            run_find(run, "key %u, life %u: an edit made mark %" PRIu64 " where the model has %" PRIu64, wish->key, run->life, event.after.mark, expected.mark);
    }
    note_result(run, (uint64_t)fault << 32 ^ event.after.stamp);
    size_t index = history_add(&run->history, &event);
    trace_event(run, index, event.is_change ? "change" : "look");
    return index;
}

static void record_answer(struct run *run, size_t index, bool is_answered, uint64_t time)
{
    struct event *event = &run->history.events[index];
    if (is_answered)
        event->answered = time;
    else if (!event->is_change)
        event->is_void = true;
    trace_event(run, index, is_answered ? "answer" : "silence");
}

/* --- Calls --- */

static void call_is_durable(struct durable_wait *wait)
{
    struct torture_call *call = wait->owner;
    struct run *run = call->run;
    world_lock(run->world, &run->lock);
    call->is_durable = true;
    world_wake_all(run->world, &run->changed);
    world_unlock(run->world, &run->lock);
}

static struct torture_call *call_new(struct run *run)
{
    struct torture_call *call = calloc(1, sizeof *call);
    assert(call);
    call->run = run;
    call_open(&call->call, run->world, NULL);
    durable_wait_open(&call->call.durable, call_is_durable, call);
    run->calls++;
    return call;
}

/* Whether the answer may leave. Afterwards the call is gone, or in limbo when a crash came first. */
static bool call_end(struct torture_call *call)
{
    struct run *run = call->run;
    durable_wait_release(&call->call.durable, FAULT_NONE);
    world_lock(run->world, &run->lock);
    while (!call->is_durable && !run->is_crashing)
        world_wait(run->world, &run->changed, &run->lock, -1);
    bool is_durable = call->is_durable;
    if (!is_durable) {
        PROBE("torture: a crash leaves a call without an answer");
        call->next = run->limbo;
        run->limbo = call;
    }
    world_unlock(run->world, &run->lock);
    if (!is_durable)
        return false;
    bool is_answered = atomic_load(&call->call.durable.fault) == FAULT_NONE;
    call_close(&call->call);
    free(call);
    return is_answered;
}

static bool acquire(struct client *client, struct call *call, uint32_t range, struct part_range **out)
{
    call_clear_fault(call);
    bool is_open = part_range_acquire(call, client->run->part, client->run->ids[range], out) == FAULT_NONE;
    client->errors = is_open ? client->errors : client->errors + 1;
    return is_open;
}

/* One to BATCH_MAX edits under one answer, as BatchWriteItem has them. */
static void edit_some(struct client *client, uint32_t count)
{
    struct run *run = client->run;
    struct torture_call *call = call_new(run);
    size_t places[BATCH_MAX];
    size_t recorded = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct wish wish;
        struct part_range *range;
        struct edit_outcome outcome;
        uint32_t key = below(client, run->plan->keys);
        wish_make(client, &call->call, key, &wish);
        if (!acquire(client, &call->call, range_of_key(&run->history, key), &range))
            continue;
        call_clear_fault(&call->call);
        uint64_t invoked = ++run->time;
        enum fault fault = part_edit(&call->call, range, &wish.edit, &outcome);
        part_range_release(range);
        if (fault != FAULT_INTERNAL)
            places[recorded++] = record_decision(client, &wish, invoked, fault, &outcome);
        client->errors = fault == FAULT_INTERNAL ? client->errors + 1 : 0;
    }
    bool is_answered = call_end(call);
    uint64_t time = ++run->time;
    for (size_t i = 0; i < recorded; i++)
        record_answer(run, places[i], is_answered, time);
    note_result(run, is_answered);
}

static void read_some(struct client *client, uint32_t count)
{
    struct run *run = client->run;
    struct torture_call *call = call_new(run);
    struct part_range *range;
    uint32_t range_number = below(client, run->plan->ranges), keys[BATCH_MAX];
    str row_keys[BATCH_MAX];
    bool found[BATCH_MAX];
    struct stored rows[BATCH_MAX];
    for (uint32_t i = 0; i < count; i++) {
        struct edit edit;
        uint32_t places = run->plan->keys / run->plan->ranges;
        keys[i] = below(client, places) * run->plan->ranges + range_number;
        torture_key(&call->call.arena, keys[i], &edit);
        row_keys[i] = edit.row_key;
    }
    if (acquire(client, &call->call, range_number, &range)) {
        uint64_t invoked = ++run->time;
        enum fault fault = count == 1 ? part_get(&call->call, range, row_keys[0], found, rows) : part_multi_get(&call->call, range, row_keys, count, found, rows);
        part_range_release(range);
        uint64_t answered = ++run->time;
        client->errors = fault == FAULT_NONE ? 0 : client->errors + 1;
        for (uint32_t i = 0; i < count && fault == FAULT_NONE; i++) {
            struct event event = {.life = run->life, .key = keys[i], .client = client->number, .invoked = invoked, .answered = answered};
            state_of_item(found[i], &rows[i], &event.before);
            trace_event(run, history_add(&run->history, &event), "read");
            note_result(run, event.before.stamp);
        }
    }
    (void)call_end(call);
}

/* What is scanned: items, or a local index. */
struct scanned {
    const struct index_schema *index; /* NULL: items */
    bool is_moving;                   /* an entry moves with its item: a scan may miss one, or see two */
};

/* The key of a row, which must be the one that its item has there; the number of keys when it is none. */
static uint32_t key_of_row(struct run *run, struct call *call, const struct scanned *scanned, const struct part_row *row, uint32_t range_number)
{
    struct buf row_key, entry_key;
    buf_open(&row_key, &call->arena, 0);
    key_encode(&torture_schema, ROW_ITEM, item_get(row->stored.item, STR("pk")), item_get(row->stored.item, STR("sk")), &row_key);
    if (scanned->index) {
        buf_open(&entry_key, &call->arena, 0);
        index_row_key(scanned->index, row->stored.item, &entry_key);
    }
    if (!str_equal(row->key, buf_str(scanned->index ? &entry_key : &row_key)))
        return run->plan->keys;
    uint32_t key = range_number;
    for (; key < run->plan->keys; key += run->plan->ranges) {
        struct edit edit = {0};
        torture_key(&call->arena, key, &edit);
        if (str_equal(edit.row_key, buf_str(&row_key)))
            break;
    }
    return key;
}

/* The keys of the range that a page shows, into `seen`. */
static void note_page(struct run *run, struct call *call, const struct scanned *scanned, const struct part_page *page, uint32_t range_number, struct state *seen)
{
    for (size_t row = 0; row < page->count; row++) {
        uint32_t key = key_of_row(run, call, scanned, &page->rows[row], range_number);
        if (key >= run->plan->keys || (seen[key].has_item && !scanned->is_moving))
            run_find(run, "a scan shows a row that nobody wrote, or one twice");
        else
            state_of_item(true, &page->rows[row].stored, &seen[key]);
    }
}

/* All pages of a range's items, or of a local index of it, in either direction: each key is seen, or seen to be missing, at some moment of the scan. */
static void scan_all(struct client *client)
{
    struct run *run = client->run;
    struct torture_call *call = call_new(run);
    struct part_range *range;
    struct state seen[KEYS_MAX] = {0};
    struct scanned scanned = {0};
    uint32_t range_number = below(client, run->plan->ranges);
    struct part_scan scan = {.lower = STR("i"), .upper = STR("j"), .reverse = below(client, 2), .rows_max = 1 + below(client, 4), .bytes_max = 1 + below(client, 200)};
    uint32_t index = run->plan->has_indexes ? below(client, 3) : 2;
    if (index < 2) {
        scanned = (struct scanned){&torture_indexes[index], index == 1};
        scan.lower = index == 0 ? STR("kA") : STR("kB");
        scan.upper = index == 0 ? STR("kB") : STR("kC");
    }
    if (acquire(client, &call->call, range_number, &range)) {
        struct part_page page = {.has_more = true};
        enum fault fault = FAULT_NONE;
        uint64_t invoked = ++run->time;
        while (page.has_more && fault == FAULT_NONE) {
            fault = part_scan(&call->call, range, &scan, &call->call.arena, &page);
            if (fault != FAULT_NONE || page.count == 0)
                break;
            note_page(run, &call->call, &scanned, &page, range_number, seen);
            str last = page.rows[page.count - 1].key;
            if (scan.reverse)
                scan.upper = last;
            else
                scan.lower = arena_printf(&call->call.arena, "%.*s\x01", STR_ARG(last));
        }
        part_range_release(range);
        uint64_t answered = ++run->time;
        client->errors = fault == FAULT_NONE ? 0 : client->errors + 1;
        for (uint32_t key = range_number; key < run->plan->keys && fault == FAULT_NONE; key += run->plan->ranges) {
            struct event event = {.life = run->life, .key = key, .client = client->number, .invoked = invoked, .answered = answered, .before = seen[key]};
            if (scanned.is_moving && !seen[key].has_item)
                continue;
            trace_event(run, history_add(&run->history, &event), scanned.index ? "index" : "scan");
            note_result(run, event.before.stamp);
        }
    }
    (void)call_end(call);
}

/* Keys that nobody writes: they fill the cache with rows that are not there. */
static void read_strangers(struct client *client)
{
    struct run *run = client->run;
    struct torture_call *call = call_new(run);
    struct part_range *range;
    str row_keys[STRANGERS];
    bool found[STRANGERS];
    struct stored rows[STRANGERS];
    for (uint32_t i = 0; i < STRANGERS; i++) {
        struct edit edit;
        torture_key(&call->call.arena, KEYS_MAX + below(client, 300), &edit);
        row_keys[i] = edit.row_key;
    }
    if (acquire(client, &call->call, below(client, run->plan->ranges), &range)) {
        bool is_read = part_multi_get(&call->call, range, row_keys, STRANGERS, found, rows) == FAULT_NONE;
        part_range_release(range);
        for (uint32_t i = 0; i < STRANGERS && is_read; i++)
            if (found[i])
                run_find(run, "an item is found that nobody wrote");
    }
    (void)call_end(call);
}

static void sample_counts(struct client *client)
{
    struct run *run = client->run;
    struct torture_call *call = call_new(run);
    struct part_range *range;
    struct count_sample sample = {.life = run->life, .range = below(client, run->plan->ranges)};
    if (acquire(client, &call->call, sample.range, &range)) {
        sample.invoked = ++run->time;
        part_range_count(range, &sample.counts);
        part_range_release(range);
        history_add_sample(&run->history, &sample);
    }
    (void)call_end(call);
}

/* A second consumer of the log comes, moves and goes. */
static void bother_log(struct client *client)
{
    struct run *run = client->run;
    struct torture_call *call = call_new(run);
    struct part_range *range;
    if (acquire(client, &call->call, below(client, run->plan->ranges), &range)) {
        struct part_range_counts counts;
        part_range_count(range, &counts);
        uint32_t way = below(client, 3);
        enum fault fault = way == 0   ? part_log_start(&call->call, range, STR("other"), below(client, 4))
                           : way == 1 ? part_log_advance(&call->call, range, STR("other"), counts.last_stamp)
                                      : part_log_stop(&call->call, range, STR("other"));
        note_result(run, (uint64_t)fault);
        part_range_release(range);
    }
    (void)call_end(call);
}

/* Works on the range that may be dropped at any moment. */
static void use_scratch(struct client *client)
{
    struct run *run = client->run;
    struct torture_call *call = call_new(run);
    struct part_range *range;
    bool was_dropping = run->is_scratch_dropping;
    enum fault fault = part_range_acquire(&call->call, run->part, run->scratch, &range);
    if (fault == FAULT_RESOURCE_NOT_FOUND && !run->is_scratch_dropping)
        run_find(run, "a range is not found although nobody drops it");
    if (fault == FAULT_NONE && !was_dropping && run->is_scratch_dropping)
        PROBE("torture: a range is used while its drop begins");
    if (fault == FAULT_NONE) {
        struct wish wish;
        struct edit_outcome outcome;
        wish_make(client, &call->call, 0, &wish);
        call_clear_fault(&call->call);
        note_result(run, (uint64_t)part_edit(&call->call, range, &wish.edit, &outcome));
        world_turn(run->world);
        part_range_release(range);
    }
    (void)call_end(call);
}

void client_run(void *argument)
{
    struct client *client = argument;
    struct run *run = client->run;
    for (uint32_t i = 0; i < run->plan->calls_a_life && !run->is_ending && client->errors < ERRORS_MAX; i++) {
        uint32_t way = below(client, 100);
        if (way < 45)
            edit_some(client, 1);
        else if (way < 55)
            edit_some(client, 1 + below(client, BATCH_MAX));
        else if (way < 78)
            read_some(client, 1);
        else if (way < 83)
            read_some(client, 2 + below(client, BATCH_MAX - 1));
        else if (way < 87)
            scan_all(client);
        else if (way < 91)
            sample_counts(client);
        else if (way < 93 && run->plan->has_log)
            bother_log(client);
        else if (way < 95)
            use_scratch(client);
        else if (way < 98)
            read_strangers(client);
        else
            world_sleep_us(run->world, below(client, 2000));
    }
}
