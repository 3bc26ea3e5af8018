/* Tests of global indexes under crashes: clients write, indexes are made and deleted, and at random moments everything dies. In the end each index has
   exactly what the table says; and whatever an ACTIVE index showed at any moment was once in the table, and never went back. */
#include "chore/chore_internal.h"

#include "model/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#undef fail /* cmocka has one, too */

enum { KEYS = 10, INDEXES = 3, CLIENTS = 3, VERSIONS_MAX = 6000, SEEN_MAX = 60000, LIFE_US_MAX = 40000 };

/* What a client wrote, or tried to. */
struct version {
    int key;
    uint64_t stamp;
    bool has_item;
    str item; /* malloc'ed */
};

/* What an ACTIVE index showed. */
struct seen {
    int index, key;
    uint64_t stamp;
    str item; /* malloc'ed */
};

struct run {
    uint64_t chance;
    struct world *world;
    struct store *store;
    struct part *part;
    struct table_catalog *catalog;
    struct chore *chore;
    struct world_mutex lock; /* guards the arrays */
    struct version versions[VERSIONS_MAX];
    size_t version_count;
    struct seen seen[SEEN_MAX];
    size_t seen_count;
    uint64_t newest[INDEXES][KEYS]; /* the highest stamp that the index as it is now showed of a key */
    struct uuid newest_of[INDEXES];
    int64_t next_mark;
    bool is_ending;
};

static const char *const index_names[INDEXES] = {"all", "keys", "some"};

static uint32_t below(struct run *run, uint32_t bound)
{
    run->chance = run->chance * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((run->chance >> 33) % bound);
}

static str keep(str s)
{
    char *data = malloc(s.len + 1);
    assert_non_null(data);
    memcpy(data, s.data, s.len);
    return str_of(data, s.len);
}

/* --- Items and tables --- */

static struct attribute text(struct arena *arena, const char *name, str value)
{
    struct buf out;
    buf_open(&out, arena, 0);
    value_write_scalar(&out, VALUE_S, value);
    return (struct attribute){str_of_text(name), buf_str(&out)};
}

static struct attribute whole(struct arena *arena, const char *name, int64_t value)
{
    struct buf out;
    struct number number;
    buf_open(&out, arena, 0);
    number_from_i64(value, &number);
    value_write_scalar(&out, VALUE_N, number_str(&number));
    return (struct attribute){str_of_text(name), buf_str(&out)};
}

static str key_text(struct arena *arena, int key)
{
    return arena_printf(arena, "key %d", key);
}

/* g and h are index keys; each may be missing, and h of a type that no index takes. m is new in every item, o changes sometimes. */
static str make_item(struct run *run, struct arena *arena, int key, bool may_violate)
{
    struct attribute attributes[6];
    size_t count = 0;
    struct buf item;
    uint32_t g = below(run, 4), h = below(run, 5);
    if (g > 0)
        attributes[count++] = text(arena, "g", arena_printf(arena, "g%u", g));
    if (h == 1 && may_violate)
        attributes[count++] = text(arena, "h", STR("no number"));
    else if (h > 1)
        attributes[count++] = whole(arena, "h", h);
    world_lock(run->world, &run->lock);
    int64_t mark = run->next_mark++;
    world_unlock(run->world, &run->lock);
    attributes[count++] = whole(arena, "m", mark);
    attributes[count++] = whole(arena, "o", below(run, 2));
    attributes[count++] = text(arena, "pk", key_text(arena, key));
    buf_open(&item, arena, 0);
    item_write(&item, attributes, count);
    return buf_str(&item);
}

static void set_index(struct run *run, struct table *draft, struct table_index *index, int which)
{
    static const str other[] = {{"o", 1}};
    *index = (struct table_index){.name = str_of_text(index_names[which]), .id = world_uuid(run->world), .partition_count = 1, .status = TABLE_CREATING,
                                  .stage = INDEX_PLANNED, .partition = {{{"g", 1}, VALUE_S}}};
    index->projection = which == 0 ? PROJECTION_ALL : which == 1 ? PROJECTION_KEYS_ONLY : PROJECTION_INCLUDE;
    if (which > 0) {
        index->sort_count = 1;
        index->sort[0] = (struct key_attribute){STR("h"), VALUE_N};
    }
    if (which == 2) {
        index->partition[0] = (struct key_attribute){STR("h"), VALUE_N};
        index->sort[0] = (struct key_attribute){STR("g"), VALUE_S};
        index->non_key_attributes = other;
        index->non_key_attribute_count = 1;
    }
    (void)draft;
}

static bool table_find(struct run *run, struct call *call, const struct table **table)
{
    bool found = table_acquire(call, run->catalog, STR("000000000000"), STR("us-east-1"), STR("tab"), table) == FAULT_NONE;
    call_clear_fault(call);
    return found;
}

static void make_table(struct run *run, uint32_t index_count)
{
    struct call call;
    const struct table *made, *again;
    struct table *draft = table_draft_new(NULL);
    struct table_index *indexes = ARENA_NEW_ARRAY(&draft->arena, struct table_index, INDEXES);
    call_open(&call, run->world, NULL);
    draft->account = STR("000000000000");
    draft->region = STR("us-east-1");
    draft->name = STR("tab");
    draft->keys.partition = (struct key_attribute){STR("pk"), VALUE_S};
    for (uint32_t i = 0; i < index_count; i++)
        set_index(run, draft, &indexes[i], (int)i);
    draft->indexes = indexes;
    draft->index_count = index_count;
    assert_int_equal(table_create(&call, run->catalog, draft, &made), FAULT_NONE);
    /* As after a split: two ranges. Before the log runs, so before any row. */
    draft = table_draft_new(made);
    struct table_range *ranges = ARENA_NEW_ARRAY(&draft->arena, struct table_range, 2);
    ranges[0] = made->ranges[0];
    ranges[1] = (struct table_range){world_uuid(run->world), UINT64_MAX / 2};
    draft->ranges = ranges;
    draft->range_count = 2;
    table_release(made);
    assert_int_equal(table_replace(&call, run->catalog, draft, &again), FAULT_NONE);
    table_release(again);
    call_close(&call);
}

/* As UpdateTable does it. */
static void change_index(struct run *run, int which)
{
    struct call call;
    const struct table *table, *made;
    call_open(&call, run->world, NULL);
    if (table_find(run, &call, &table)) {
        struct table *draft = table_draft_new(table);
        struct table_index *indexes = ARENA_NEW_ARRAY(&draft->arena, struct table_index, table->index_count + 1);
        const struct table_index *found = table_index_find(table, str_of_text(index_names[which]));
        for (size_t i = 0; i < table->index_count; i++)
            indexes[i] = draft->indexes[i];
        draft->indexes = indexes;
        draft->status = TABLE_UPDATING;
        if (found && found->status != TABLE_DELETING) {
            struct table_index *index = &indexes[found - table->indexes];
            index->status = TABLE_DELETING;
            index->stage = INDEX_KEPT;
            index->range_count = 0;
        } else if (!found) {
            struct table_index *index = &indexes[draft->index_count++];
            set_index(run, draft, index, which);
            index->is_backfilling = true;
            table_draft_add_index_range(run->world, draft, index);
            draft->logs_for_indexes = true;
        }
        table_release(table);
        if (table_replace(&call, run->catalog, draft, &made) == FAULT_NONE)
            table_release(made);
    }
    call_close(&call);
    chore_wake(run->chore);
}

/* --- Threads of a life --- */

/* Called behind the change: a crash may leave the memory of one that never became durable. */
struct limbo {
    struct limbo *next;
    struct call call;
};

static struct limbo *limbo; /* of the run under way */

static void client_change(struct run *run)
{
    struct limbo *change = calloc(1, sizeof *change);
    struct call *call = &change->call;
    const struct table *table;
    call_open(call, run->world, NULL);
    struct part_range *range;
    int key = (int)below(run, KEYS);
    bool deletes = below(run, 4) == 0;
    if (table_find(run, call, &table)) {
        str item = make_item(run, &call->arena, key, table->index_count == 0);
        struct buf row_key, key_item;
        buf_open(&row_key, &call->arena, 0);
        buf_open(&key_item, &call->arena, 0);
        assert_int_equal(key_of_item(call, &table->keys, item, false, &row_key), FAULT_NONE);
        key_item_of(&table->keys, item, &key_item);
        struct edit edit = {.kind = deletes ? EDIT_DELETE : EDIT_PUT, .row_key = buf_str(&row_key), .key_item = buf_str(&key_item)};
        if (!deletes)
            edit.action = item;
        struct edit_outcome outcome;
        if (part_range_acquire(call, run->part, table_range_of(table, edit.row_key), &range) == FAULT_NONE) {
            if (part_edit(call, range, &edit, &outcome) == FAULT_NONE && !deletes) {
                world_lock(run->world, &run->lock);
                assert_true(run->version_count < VERSIONS_MAX);
                run->versions[run->version_count++] = (struct version){key, outcome.after.stamp, true, keep(item)};
                world_unlock(run->world, &run->lock);
            }
            part_range_release(range);
        }
        table_release(table);
    }
    world_lock(run->world, &run->lock);
    change->next = limbo;
    limbo = change;
    world_unlock(run->world, &run->lock);
}

static void client_run(void *argument)
{
    struct run *run = argument;
    while (!run->is_ending) {
        for (uint32_t i = below(run, 4); i > 0 && !run->is_ending; i--)
            client_change(run);
        world_sleep_us(run->world, below(run, 700));
    }
}

static int key_of_entry(str item)
{
    str text_of_key = value_scalar(item_get(item, STR("pk")));
    return text_of_key.data[text_of_key.len - 1] - '0';
}

static void observe_index(struct run *run, struct call *call, const struct table_index *index, int which)
{
    struct part_range *range;
    struct part_page page;
    struct part_scan scan = {.lower = STR("i"), .upper = STR("j"), .rows_max = 1000, .bytes_max = 1 << 30};
    uint64_t newest[KEYS] = {0};
    if (part_range_acquire(call, run->part, index->ranges[0].id, &range) != FAULT_NONE)
        return;
    enum fault fault = part_scan(call, range, &scan, &call->arena, &page);
    part_range_release(range);
    if (fault != FAULT_NONE)
        return;
    world_lock(run->world, &run->lock);
    if (!uuid_equal(run->newest_of[which], index->id))
        memset(run->newest[which], 0, sizeof run->newest[which]);
    run->newest_of[which] = index->id;
    for (size_t i = 0; i < page.count; i++) {
        const struct stored *stored = &page.rows[i].stored;
        int key = key_of_entry(stored->item);
        newest[key] = stored->stamp > newest[key] ? stored->stamp : newest[key];
        if (run->seen_count < SEEN_MAX)
            run->seen[run->seen_count++] = (struct seen){which, key, stored->stamp, keep(stored->item)};
    }
    for (int key = 0; key < KEYS; key++) {
        if (newest[key] > 0 && newest[key] < run->newest[which][key])
            print_message("index %s went back: key %d from %llu to %llu\n", index_names[which], key, (unsigned long long)run->newest[which][key], (unsigned long long)newest[key]);
        assert_true(newest[key] == 0 || newest[key] >= run->newest[which][key]);
        run->newest[which][key] = newest[key] > 0 ? newest[key] : run->newest[which][key];
    }
    world_unlock(run->world, &run->lock);
}

static void observe(struct run *run)
{
    struct call call;
    const struct table *table;
    call_open(&call, run->world, NULL);
    if (table_find(run, &call, &table)) {
        for (int which = 0; which < INDEXES; which++) {
            const struct table_index *index = table_index_find(table, str_of_text(index_names[which]));
            if (index && index->status == TABLE_ACTIVE)
                observe_index(run, &call, index, which);
            call_clear_fault(&call);
        }
        table_release(table);
    }
    call_close(&call);
}

static void observer_run(void *argument)
{
    struct run *run = argument;
    while (!run->is_ending) {
        observe(run);
        world_sleep_us(run->world, 500);
    }
}

static void admin_run(void *argument)
{
    struct run *run = argument;
    while (!run->is_ending) {
        change_index(run, (int)below(run, INDEXES));
        world_sleep_us(run->world, below(run, 15000));
    }
}

/* --- Lives --- */

/* With a table of so many indexes to begin with; below 0: it is there. */
static void life_open(struct run *run, int index_count)
{
    char problem[256] = "";
    struct part_options part = {.store = run->store, .world = run->world, .cache_bytes = below(run, 2) ? 1 << 16 : 0};
    struct table_catalog_options catalog = {.store = run->store, .world = run->world};
    run->part = part_open(&part);
    run->catalog = table_catalog_open(&catalog, problem, sizeof problem);
    assert_string_equal(problem, "");
    run->is_ending = false;
    if (index_count >= 0)
        make_table(run, (uint32_t)index_count);
    run->chore = chore_start(run->world, run->catalog, run->part, NULL);
    run->chore->copy_rows = 1 + below(run, 4);
    run->chore->step_records = 1 + below(run, 8);
}

static void free_limbo(void)
{
    while (limbo) {
        struct limbo *next = limbo->next;
        call_close(&limbo->call);
        free(limbo);
        limbo = next;
    }
}

static void life_close(struct run *run, bool crashes)
{
    if (!crashes) {
        chore_stop(run->chore);
        part_close(run->part);
        table_catalog_close(run->catalog);
    } else {
        chore_halt(run->chore);
        part_halt(run->part);
        table_catalog_close(run->catalog);
        store_mem_crash(run->store);
        part_abandon(run->part);
        chore_abandon(run->chore);
    }
    free_limbo();
}

static void live(struct run *run, bool has_admin)
{
    struct world_thread *threads[CLIENTS + 2] = {0};
    for (int i = 0; i < CLIENTS; i++)
        threads[i] = world_thread_start(run->world, "client", client_run, run);
    threads[CLIENTS] = world_thread_start(run->world, "observer", observer_run, run);
    if (has_admin)
        threads[CLIENTS + 1] = world_thread_start(run->world, "admin", admin_run, run);
    world_sleep_us(run->world, 1000 + below(run, LIFE_US_MAX));
    run->is_ending = true;
    for (int i = 0; i < CLIENTS + 2; i++)
        if (threads[i])
            world_thread_join(run->world, threads[i]);
}

/* Clients wait for nothing, so that crashes find changes under way; before a settlement they have to be durable. */
static void let_changes_end(struct run *run)
{
    world_sleep_us(run->world, 1000000);
}

/* --- The end --- */

struct expected {
    str row_key, item;
    uint64_t stamp_max;
};

static void expect_index(struct run *run, struct call *call, const struct table *table, const struct table_index *index)
{
    struct index_schema schema;
    struct expected expected[KEYS];
    size_t count = 0;
    uint64_t bytes = 0;
    table_index_schema(table, index, &schema);
    struct part_scan scan = {.lower = STR("i"), .upper = STR("j"), .rows_max = 1000, .bytes_max = 1 << 30};
    struct part_page page;
    struct part_range *range;
    for (size_t i = 0; i < table->range_count; i++) {
        assert_int_equal(part_range_acquire(call, run->part, table->ranges[i].id, &range), FAULT_NONE);
        assert_int_equal(part_scan(call, range, &scan, &call->arena, &page), FAULT_NONE);
        part_range_release(range);
        for (size_t row = 0; row < page.count; row++) {
            const struct stored *stored = &page.rows[row].stored;
            if (!index_holds(&schema, stored->item))
                continue;
            struct buf key, kept;
            buf_open(&key, &call->arena, 0);
            buf_open(&kept, &call->arena, 0);
            index_row_key(&schema, stored->item, &key);
            index_project(&schema, stored->item, &call->arena, &kept);
            expected[count++] = (struct expected){buf_str(&key), schema.projects_all ? stored->item : buf_str(&kept), stored->stamp};
            bytes += item_size(expected[count - 1].item);
        }
    }
    assert_int_equal(part_range_acquire(call, run->part, index->ranges[0].id, &range), FAULT_NONE);
    assert_int_equal(part_scan(call, range, &scan, &call->arena, &page), FAULT_NONE);
    struct part_range_counts counts;
    part_range_count(range, &counts);
    part_range_release(range);
    assert_int_equal(page.count, count);
    assert_int_equal(counts.items, count);
    assert_int_equal(counts.bytes, bytes);
    for (size_t row = 0; row < page.count; row++) {
        bool found = false;
        for (size_t i = 0; i < count; i++)
            found |= str_equal(page.rows[row].key, expected[i].row_key) && str_equal(page.rows[row].stored.item, expected[i].item) &&
                page.rows[row].stored.stamp <= expected[i].stamp_max;
        assert_true(found);
    }
}

/* The log is trimmed when its time has come, and gone when no index needs it. */
static void expect_short_log(struct run *run, const struct table *table)
{
    for (size_t i = 0; i < table->range_count; i++) {
        struct store_range *range;
        struct arena arena;
        struct store_page page;
        struct store_scan scan = {.lower = STR("l"), .upper = STR("m"), .rows_max = 10, .bytes_max = 1 << 20};
        arena_open(&arena, NULL);
        assert_int_equal(store_range_open(run->store, table->ranges[i].id, &range), STORE_OK);
        assert_int_equal(store_scan(range, &scan, &arena, &page), STORE_OK);
        assert_int_equal(page.count, 0);
        store_range_close(range);
        arena_close(&arena);
    }
}

static void expect_convergence(struct run *run)
{
    struct call call;
    const struct table *table;
    chore_wake(run->chore);
    assert_true(chore_settle(run->chore, 60000000));
    observe(run);
    call_open(&call, run->world, NULL);
    /* A clock that steps back makes a passing status last. */
    while (!table_find(run, &call, &table)) {
        world_sleep_us(run->world, 100000);
        call.now_us = world_wall_us(run->world);
    }
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].status == TABLE_DELETING)
            continue;
        assert_int_equal(table->indexes[i].status, TABLE_ACTIVE);
        expect_index(run, &call, table, &table->indexes[i]);
    }
    world_sleep_us(run->world, 2 * TRIM_DELAY_US);
    assert_true(chore_settle(run->chore, 60000000));
    life_close(run, false);
    expect_short_log(run, table);
    table_release(table);
    call_close(&call);
}

/* Every entry seen is what the index keeps of some version of its item. */
static void expect_no_ghosts(struct run *run)
{
    struct arena arena;
    arena_open(&arena, NULL);
    struct key_schema keys = {.partition = {STR("pk"), VALUE_S}};
    for (size_t i = 0; i < run->seen_count; i++) {
        const struct seen *seen = &run->seen[i];
        struct table_index index;
        struct table table = {.keys = keys};
        struct index_schema schema;
        set_index(run, NULL, &index, seen->index);
        table_index_schema(&table, &index, &schema);
        bool found = false;
        for (size_t at = 0; at < run->version_count && !found; at++) {
            const struct version *version = &run->versions[at];
            if (version->key != seen->key || version->stamp != seen->stamp || !index_holds(&schema, version->item))
                continue;
            struct buf kept;
            buf_open(&kept, &arena, 0);
            index_project(&schema, version->item, &arena, &kept);
            found = str_equal(seen->item, schema.projects_all ? version->item : buf_str(&kept));
        }
        assert_true(found);
        arena_reset(&arena);
    }
    arena_close(&arena);
}

static void run_free(struct run *run)
{
    for (size_t i = 0; i < run->version_count; i++)
        free((void *)(uintptr_t)run->versions[i].item.data);
    for (size_t i = 0; i < run->seen_count; i++)
        free((void *)(uintptr_t)run->seen[i].item.data);
    world_mutex_close(run->world, &run->lock);
    store_close(run->store);
    world_free(run->world);
    free(run);
}

static void run_seed(uint64_t seed, bool has_faults)
{
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    run->chance = seed * 2654435761u + 1;
    struct world_sim_options sim = {.seed = seed, .wall_start_us = 1700000000000000, .clock_step_percent = below(run, 2) ? 10 : 0};
    struct store_mem_options mem = {.manners = below(run, 2) ? STORE_MANNERS_RADOS : STORE_MANNERS_PLAIN};
    struct store_mem_faults faults = {.lost_reply = 200, .read_fail = 50, .slow = 300, .fail = below(run, 3) == 0 ? 10 : 0};
    run->world = world_sim_new(&sim);
    run->store = store_mem_new(run->world, &mem);
    world_mutex_open(run->world, &run->lock);
    bool has_admin = below(run, 4) > 0;
    uint32_t lives = 1 + below(run, 4);
    for (uint32_t life = 0; life < lives; life++) {
        life_open(run, life > 0 ? -1 : has_admin ? (int)below(run, INDEXES + 1) : INDEXES);
        if (has_faults)
            store_mem_set_faults(run->store, &faults);
        live(run, has_admin);
        life_close(run, below(run, 3) > 0);
        store_mem_set_faults(run->store, &(struct store_mem_faults){0});
    }
    /* In the last life nothing but the listener tells the movers of the changes. */
    life_open(run, -1);
    live(run, false);
    let_changes_end(run);
    expect_convergence(run);
    expect_no_ghosts(run);
    run_free(run);
}

static size_t rows_of(struct run *run, struct uuid id)
{
    struct store_range *range;
    struct arena arena;
    struct store_page page;
    struct store_scan scan = {.rows_max = 100, .bytes_max = 1 << 20};
    arena_open(&arena, NULL);
    assert_int_equal(store_range_open(run->store, id, &range), STORE_OK);
    assert_int_equal(store_scan(range, &scan, &arena, &page), STORE_OK);
    size_t count = page.count;
    store_range_close(range);
    arena_close(&arena);
    return count;
}

/* Deleted, an index leaves no rows, and with the last one the log stops; made anew under its name it is whole again. */
static void a_deleted_index_leaves_nothing(void **state)
{
    (void)state;
    struct run *run = calloc(1, sizeof *run);
    struct world_sim_options sim = {.seed = 5, .wall_start_us = 1700000000000000};
    struct store_mem_options mem = {.manners = STORE_MANNERS_RADOS};
    struct call call;
    const struct table *before, *after;
    struct uuid range;
    assert_non_null(run);
    run->world = world_sim_new(&sim);
    run->store = store_mem_new(run->world, &mem);
    world_mutex_open(run->world, &run->lock);
    life_open(run, 1);
    live(run, false);
    let_changes_end(run);
    assert_true(chore_settle(run->chore, 60000000));
    call_open(&call, run->world, NULL);
    assert_true(table_find(run, &call, &before));
    expect_index(run, &call, before, &before->indexes[0]);
    /* With nothing else to do the movers hear of changes at once. */
    let_changes_end(run);
    let_changes_end(run);
    for (int i = 0; i < 20; i++)
        client_change(run);
    world_sleep_us(run->world, 100000);
    expect_index(run, &call, before, &before->indexes[0]);
    change_index(run, 0);
    assert_true(chore_settle(run->chore, 60000000));
    for (int i = 0; i < 100 && table_condemned_next(run->catalog, &range); i++)
        world_sleep_us(run->world, 10000);
    assert_false(table_condemned_next(run->catalog, &range));
    call.now_us = world_wall_us(run->world);
    assert_true(table_find(run, &call, &after));
    assert_int_equal(after->index_count, 0);
    assert_false(after->logs_for_indexes);
    table_release(after);
    change_index(run, 0);
    assert_true(chore_settle(run->chore, 60000000));
    call.now_us = world_wall_us(run->world);
    assert_true(table_find(run, &call, &after));
    assert_int_equal(after->indexes[0].status, TABLE_ACTIVE);
    assert_false(uuid_equal(after->indexes[0].ranges[0].id, before->indexes[0].ranges[0].id));
    expect_index(run, &call, after, &after->indexes[0]);
    life_close(run, false);
    assert_int_equal(rows_of(run, before->indexes[0].ranges[0].id), 0);
    assert_true(rows_of(run, after->indexes[0].ranges[0].id) > 0);
    table_release(before);
    table_release(after);
    call_close(&call);
    run_free(run);
}

/* The store fails under one index range: the table and its other index go on, and the range catches up when it is opened again. */
static void one_stopped_index_does_not_hold_back_another(void **state)
{
    (void)state;
    struct run *run = calloc(1, sizeof *run);
    struct world_sim_options sim = {.seed = 7, .wall_start_us = 1700000000000000};
    struct store_mem_options mem = {.manners = STORE_MANNERS_RADOS};
    struct call call;
    const struct table *table;
    struct part_range *range;
    assert_non_null(run);
    run->world = world_sim_new(&sim);
    run->store = store_mem_new(run->world, &mem);
    world_mutex_open(run->world, &run->lock);
    life_open(run, 2);
    assert_true(chore_settle(run->chore, 60000000));
    let_changes_end(run);
    call_open(&call, run->world, NULL);
    assert_true(table_find(run, &call, &table));
    store_mem_set_faults(run->store, &(struct store_mem_faults){.fail = 10000});
    assert_int_equal(part_range_acquire(&call, run->part, table->indexes[0].ranges[0].id, &range), FAULT_NONE);
    assert_int_equal(part_index_apply(&call, range, (struct uuid){{9}}, &(struct part_index_mark){.position = 1}, NULL, 0), FAULT_NONE);
    while (durable_wait_is_pending(&call.durable))
        world_sleep_us(run->world, 100);
    part_range_release(range);
    store_mem_set_faults(run->store, &(struct store_mem_faults){0});
    for (int i = 0; i < 30; i++)
        client_change(run);
    world_sleep_us(run->world, 100000);
    expect_index(run, &call, table, &table->indexes[1]);
    assert_false(chore_settle(run->chore, 3000000));
    for (int i = 0; i < 30; i++)
        client_change(run);
    world_sleep_us(run->world, 100000);
    expect_index(run, &call, table, &table->indexes[1]);
    life_close(run, false);
    life_open(run, -1);
    assert_true(chore_settle(run->chore, 60000000));
    expect_index(run, &call, table, &table->indexes[0]);
    expect_index(run, &call, table, &table->indexes[1]);
    table_release(table);
    life_close(run, false);
    call_close(&call);
    run_free(run);
}

/* STATOR_INDEX_SEEDS=FIRST:COUNT for longer runs. */
static void seeds(uint64_t *first, uint64_t *count)
{
    const char *wanted = getenv("STATOR_INDEX_SEEDS");
    *first = 1;
    *count = 60;
    if (wanted) {
        char *rest;
        *first = strtoull(wanted, &rest, 10);
        *count = *rest == ':' ? strtoull(rest + 1, NULL, 10) : 1;
    }
}

static void indexes_converge_over_crashes(void **state)
{
    (void)state;
    uint64_t first, count;
    seeds(&first, &count);
    for (uint64_t seed = first; seed < first + count; seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        run_seed(seed, false);
    }
}

static void indexes_converge_over_faults(void **state)
{
    (void)state;
    uint64_t first, count;
    seeds(&first, &count);
    for (uint64_t seed = first; seed < first + count; seed++) {
        print_message("seed %llu with faults\n", (unsigned long long)seed);
        run_seed(seed, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deleted_index_leaves_nothing),
        cmocka_unit_test(one_stopped_index_does_not_hold_back_another),
        cmocka_unit_test(indexes_converge_over_crashes),
        cmocka_unit_test(indexes_converge_over_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
