/* Scanning, against a sorted list when nothing happens meanwhile, and against a history of durable values when much does. In both manners of the store. */
#include "part/fixture_internal.h"

enum { NAME_BYTES = 32 };

/* A key of the tests, in the order of rows. */
struct row_name {
    char name[NAME_BYTES];
    char key[64];
    size_t key_bytes;
};

static str row_key_of(const struct row_name *row)
{
    return str_of(row->key, row->key_bytes);
}

static int compare_rows(const void *a, const void *b)
{
    return str_compare(row_key_of(a), row_key_of(b));
}

/* `count` names with their row keys, sorted. */
static struct row_name *row_names(struct fixture *f, size_t count)
{
    struct row_name *rows = calloc(count, sizeof *rows);
    assert_non_null(rows);
    struct call call;
    call_open(&call, f->world, NULL);
    for (size_t i = 0; i < count; i++) {
        snprintf(rows[i].name, sizeof rows[i].name, "row%04zu", i);
        str key = fixture_edit(&call, EDIT_CHECK, rows[i].name, 0, 0).row_key;
        assert_true(key.len <= sizeof rows[i].key);
        memcpy(rows[i].key, key.data, key.len);
        rows[i].key_bytes = key.len;
    }
    call_close(&call);
    qsort(rows, count, sizeof *rows, compare_rows);
    return rows;
}

/* --- Nothing happens meanwhile --- */

enum { QUIET_ROWS = 2600 };

struct expectation {
    const struct row_name *rows;
    size_t count;      /* rows of the range, each with its place as its number */
    size_t first, end; /* the stretch wanted, as places */
};

static str bound_of(const struct expectation *expected, size_t place)
{
    return place < expected->count ? row_key_of(&expected->rows[place]) : STR("j");
}

/* Reads the stretch page by page; returns how many pages it took. */
static size_t read_stretch(struct fixture *f, const struct expectation *expected, struct part_scan scan)
{
    size_t wanted = expected->end - expected->first, seen = 0, pages = 0;
    struct call call;
    call_open(&call, f->world, NULL);
    scan.lower = bound_of(expected, expected->first);
    scan.upper = bound_of(expected, expected->end);
    struct part_page page = {.has_more = true};
    while (page.has_more) {
        assert_int_equal(part_scan(&call, f->range, &scan, &call.arena, &page), FAULT_NONE);
        assert_true(page.count <= scan.rows_max && (page.count > 0 || !page.has_more));
        uint64_t bytes = 0;
        for (size_t i = 0; i < page.count; i++, seen++) {
            assert_true(bytes < scan.bytes_max && seen < wanted);
            bytes += page.rows[i].stored.size;
            size_t place = scan.reverse ? expected->end - 1 - seen : expected->first + seen;
            assert_true(str_equal(page.rows[i].key, row_key_of(&expected->rows[place])));
            assert_int_equal(fixture_number(page.rows[i].stored.item), (int64_t)place);
        }
        if (page.has_more && scan.reverse)
            scan.upper = page.rows[page.count - 1].key;
        else if (page.has_more)
            scan.lower = arena_printf(&call.arena, "%.*s\x01", STR_ARG(page.rows[page.count - 1].key));
        pages++;
    }
    assert_int_equal(seen, wanted);
    call_close(&call);
    return pages;
}

static void check_quiet(enum store_manners manners)
{
    struct fixture f;
    fixture_open(&f, 1, manners);
    struct row_name *rows = row_names(&f, QUIET_ROWS);
    for (size_t i = 0; i < QUIET_ROWS; i++)
        assert_true(fixture_change(&f, EDIT_PUT, rows[i].name, (int64_t)i, i % 100 == 0 ? 9000 : i % 7) > 0);
    struct expectation all = {rows, QUIET_ROWS, 0, QUIET_ROWS};
    for (int reverse = 0; reverse < 2; reverse++) {
        struct part_scan scan = {.reverse = reverse, .rows_max = 5000, .bytes_max = UINT64_MAX};
        read_stretch(&f, &all, scan);
        scan.rows_max = 1200;
        assert_true(read_stretch(&f, &all, scan) >= 3);
        scan = (struct part_scan){.reverse = reverse, .rows_max = 5000, .bytes_max = 20000};
        assert_true(read_stretch(&f, &all, scan) >= 10);
        for (int round = 0; round < 60; round++) {
            struct expectation part = all;
            part.first = world_random_below(f.world, QUIET_ROWS + 1);
            part.end = part.first + world_random_below(f.world, (QUIET_ROWS + 1 - part.first) / 4 + 1);
            scan.rows_max = 1 + world_random_below(f.world, 100);
            scan.bytes_max = 1 + world_random_below(f.world, 12000);
            read_stretch(&f, &part, scan);
        }
    }
    free(rows);
    fixture_close(&f);
}

static void pages_are_the_rows_in_order(void **state)
{
    (void)state;
    check_quiet(STORE_MANNERS_PLAIN);
    check_quiet(STORE_MANNERS_RADOS);
}

static void a_scan_fills_no_cache_and_an_empty_stretch_has_no_rows(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, 1, STORE_MANNERS_RADOS);
    struct call call;
    call_open(&call, f.world, NULL);
    struct part_scan scan = {.lower = STR("i"), .upper = STR("j"), .rows_max = 10, .bytes_max = 1000};
    struct part_page page;
    assert_int_equal(part_scan(&call, f.range, &scan, &call.arena, &page), FAULT_NONE);
    assert_true(page.count == 0 && !page.has_more);
    assert_true(fixture_change(&f, EDIT_PUT, "a", 1, 0) > 0);
    cache_forget_range(f.part->cache, f.range->number);
    assert_int_equal(part_scan(&call, f.range, &scan, &call.arena, &page), FAULT_NONE);
    assert_true(page.count == 1 && !page.has_more);
    str value;
    assert_false(cache_get(f.part->cache, f.range->number, page.rows[0].key, &call.arena, &value));
    scan.upper = scan.lower;
    assert_int_equal(part_scan(&call, f.range, &scan, &call.arena, &page), FAULT_NONE);
    assert_true(page.count == 0 && !page.has_more);
    call_close(&call);
    fixture_close(&f);
}

/* --- Much happens meanwhile --- */

enum {
    BUSY_ROWS = 48,
    WRITERS = 4,
    CHANGES = 60, /* of each writer */
    SCANNERS = 3,
    VERSIONS_MAX = WRITERS * CHANGES / 2,
    PAGES_MAX = 20000,
    /* From a change's being visible to its writer's having noted it: other threads' turns. A slow group is pending for up to 50,000. */
    NOTE_US_MAX = 3000
};

static const int64_t absent = -1, never = INT64_MAX;

/* What a row was, from some moment on. */
struct row_version {
    int64_t number;     /* or absent */
    int64_t invoked_us; /* not durable before it */
    int64_t durable_us; /* and durable when that was noted */
};

struct row_history {
    struct row_version versions[VERSIONS_MAX];
    size_t count;
};

/* A page as it was read. */
struct seen_page {
    int64_t began_us, ended_us;
    bool reverse;
    size_t first, end; /* the window, as places */
    int64_t numbers[BUSY_ROWS];
};

struct busy {
    struct fixture f;
    struct row_name *rows;
    struct row_history history[BUSY_ROWS];
    struct seen_page *pages;
    size_t page_count;
    unsigned writing;
    int64_t numbers;
    struct world_mutex lock;
};

struct busy_thread {
    struct busy *busy;
    size_t place;
};

/* Puts, changes and deletes rows that nobody else writes; one row's changes are told in order. */
static void write_rows(void *argument)
{
    struct busy_thread *self = argument;
    struct busy *busy = self->busy;
    struct fixture *f = &busy->f;
    for (int i = 0; i < CHANGES; i++) {
        size_t place = world_random_below(f->world, BUSY_ROWS / WRITERS) * WRITERS + self->place;
        struct row_history *history = &busy->history[place];
        if (history->count == VERSIONS_MAX)
            continue;
        bool deletes = world_random_below(f->world, 3) == 0;
        world_lock(f->world, &busy->lock);
        int64_t number = ++busy->numbers;
        history->versions[history->count] = (struct row_version){deletes ? absent : number, world_mono_us(f->world), never};
        struct row_version *version = &history->versions[history->count++];
        world_unlock(f->world, &busy->lock);
        if (fixture_change(f, deletes ? EDIT_DELETE : EDIT_PUT, busy->rows[place].name, number, world_random_below(f->world, 200)) > 0 || deletes)
            version->durable_us = world_mono_us(f->world);
        if (world_random_below(f->world, 4) == 0)
            world_sleep_us(f->world, (int64_t)world_random_below(f->world, 5000));
    }
    world_lock(f->world, &busy->lock);
    busy->writing--;
    world_unlock(f->world, &busy->lock);
}

static size_t place_of(const struct busy *busy, str key)
{
    size_t place = 0;
    while (place < BUSY_ROWS && str_compare(row_key_of(&busy->rows[place]), key) < 0)
        place++;
    return place;
}

/* One page from the window [first, end); returns the window that is left. */
static void read_page(struct busy *busy, struct seen_page *seen, struct part_scan *scan, bool *has_more)
{
    struct fixture *f = &busy->f;
    struct call call;
    struct part_page page;
    call_open(&call, f->world, NULL);
    struct expectation bounds = {busy->rows, BUSY_ROWS, 0, 0};
    scan->lower = seen->first == 0 ? STR("i") : bound_of(&bounds, seen->first);
    scan->upper = bound_of(&bounds, seen->end);
    seen->began_us = world_mono_us(f->world);
    assert_int_equal(part_scan(&call, f->range, scan, &call.arena, &page), FAULT_NONE);
    seen->ended_us = world_mono_us(f->world);
    for (size_t i = 0; i < BUSY_ROWS; i++)
        seen->numbers[i] = absent;
    for (size_t i = 0; i < page.count; i++) {
        size_t place = place_of(busy, page.rows[i].key);
        assert_true(place >= seen->first && place < seen->end && seen->numbers[place] == absent);
        int order = i == 0 ? 0 : str_compare(page.rows[i - 1].key, page.rows[i].key);
        assert_true(scan->reverse ? order >= 0 : order <= 0);
        seen->numbers[place] = fixture_number(page.rows[i].stored.item);
    }
    *has_more = page.has_more;
    if (page.has_more && scan->reverse)
        seen->first = place_of(busy, page.rows[page.count - 1].key);
    else if (page.has_more)
        seen->end = place_of(busy, page.rows[page.count - 1].key) + 1;
    call_close(&call);
}

/* Reads everything, again and again. */
static void scan_rows(void *argument)
{
    struct busy_thread *self = argument;
    struct busy *busy = self->busy;
    struct fixture *f = &busy->f;
    bool goes_on = true;
    while (goes_on) {
        struct part_scan scan = {.reverse = self->place % 2 == 1, .rows_max = 1 + world_random_below(f->world, 20), .bytes_max = 1 + world_random_below(f->world, 4000)};
        size_t first = 0, end = BUSY_ROWS;
        bool has_more = true;
        while (has_more) {
            struct seen_page seen = {.reverse = scan.reverse, .first = first, .end = end};
            read_page(busy, &seen, &scan, &has_more);
            if (scan.reverse)
                end = seen.first;
            else
                first = seen.end;
            world_lock(f->world, &busy->lock);
            if (busy->page_count < PAGES_MAX)
                busy->pages[busy->page_count++] = seen;
            goes_on = busy->writing > 0;
            world_unlock(f->world, &busy->lock);
            world_sleep_us(f->world, (int64_t)world_random_below(f->world, 1500));
        }
    }
}

/* Whether the row was durably so at some moment between the two. */
static bool was_durable(const struct row_history *history, int64_t number, int64_t from_us, int64_t to_us)
{
    int64_t first_us = history->count > 0 ? history->versions[0].durable_us : never;
    if (number == absent && first_us >= from_us)
        return true;
    for (size_t i = 0; i < history->count; i++) {
        const struct row_version *version = &history->versions[i];
        int64_t ended_us = i + 1 < history->count ? history->versions[i + 1].durable_us : never;
        if (version->number == number && version->invoked_us <= to_us && version->durable_us <= to_us + NOTE_US_MAX && ended_us >= from_us)
            return true;
    }
    return false;
}

static void check_pages(const struct busy *busy)
{
    assert_true(busy->page_count > 20 && busy->page_count < PAGES_MAX);
    for (size_t i = 0; i < busy->page_count; i++) {
        const struct seen_page *seen = &busy->pages[i];
        for (size_t place = seen->first; place < seen->end; place++)
            assert_true(was_durable(&busy->history[place], seen->numbers[place], seen->began_us, seen->ended_us));
    }
}

static void check_busy(uint64_t seed, enum store_manners manners)
{
    struct busy *busy = calloc(1, sizeof *busy);
    assert_non_null(busy);
    fixture_open(&busy->f, seed, manners);
    struct fixture *f = &busy->f;
    /* A plain store's slow group would keep its writer from noting the time: done is called inside apply. */
    bool is_rados = manners == STORE_MANNERS_RADOS;
    struct store_mem_faults faults = {.slow = is_rados ? 5000 : 0, .lost_reply = is_rados ? 200 : 0};
    store_mem_set_faults(f->store, &faults);
    busy->rows = row_names(f, BUSY_ROWS);
    busy->pages = calloc(PAGES_MAX, sizeof *busy->pages);
    busy->writing = WRITERS;
    world_mutex_open(f->world, &busy->lock);
    struct busy_thread all[WRITERS + SCANNERS];
    struct world_thread *threads[WRITERS + SCANNERS];
    for (size_t i = 0; i < WRITERS + SCANNERS; i++) {
        all[i] = (struct busy_thread){busy, i < WRITERS ? i : i - WRITERS};
        threads[i] = world_thread_start(f->world, "busy", i < WRITERS ? write_rows : scan_rows, &all[i]);
    }
    for (size_t i = 0; i < WRITERS + SCANNERS; i++)
        world_thread_join(f->world, threads[i]);
    check_pages(busy);
    world_mutex_close(f->world, &busy->lock);
    store_mem_set_faults(f->store, &(struct store_mem_faults){0});
    fixture_close(f);
    free(busy->pages);
    free(busy->rows);
    free(busy);
}

static void every_row_of_a_page_was_durable_during_the_call(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++)
        check_busy(seed, seed % 3 ? STORE_MANNERS_RADOS : STORE_MANNERS_PLAIN);
}

/* --- In the real world --- */

enum { STABLE_ROWS = 40, PASSES = 60 };

struct rush {
    struct fixture f;
    struct row_name *rows;
    atomic_bool is_over;
};

struct rush_thread {
    struct rush *rush;
    size_t place;
};

/* Every eleventh row comes and goes; the others are stable. */
static size_t stable_place(size_t number)
{
    return number + number / 10;
}

static size_t passing_place(size_t number)
{
    return number * 11 + 10;
}

/* Changes rows that are never deleted, each to a higher number, and puts and deletes others between them. */
static void rush_write(void *argument)
{
    struct rush_thread *self = argument;
    struct fixture *f = &self->rush->f;
    for (int64_t number = 1; !atomic_load(&self->rush->is_over); number++) {
        size_t place = world_random_below(f->world, STABLE_ROWS / WRITERS) * WRITERS + self->place;
        fixture_change(f, EDIT_PUT, self->rush->rows[stable_place(place)].name, number, 10);
        fixture_change(f, number % 2 ? EDIT_PUT : EDIT_DELETE, self->rush->rows[passing_place(self->place)].name, number, 10);
    }
}

/* Every pass sees every stable row once, no older than the pass before saw it. */
static void rush_scan(void *argument)
{
    struct rush_thread *self = argument;
    struct rush *rush = self->rush;
    int64_t seen[STABLE_ROWS + WRITERS] = {0};
    for (int pass = 0; pass < PASSES; pass++) {
        struct part_scan scan = {.lower = STR("i"), .upper = STR("j"), .reverse = self->place % 2 == 1, .rows_max = 7, .bytes_max = 100000};
        struct part_page page = {.has_more = true};
        struct call call;
        size_t stable = 0;
        call_open(&call, rush->f.world, NULL);
        while (page.has_more) {
            assert_int_equal(part_scan(&call, rush->f.range, &scan, &call.arena, &page), FAULT_NONE);
            for (size_t i = 0; i < page.count; i++) {
                size_t place = 0;
                while (!str_equal(row_key_of(&rush->rows[place]), page.rows[i].key))
                    place++;
                int64_t number = fixture_number(page.rows[i].stored.item);
                assert_true(number >= seen[place]);
                seen[place] = number;
                stable += place % 11 != 10;
            }
            if (page.has_more && scan.reverse)
                scan.upper = page.rows[page.count - 1].key;
            else if (page.has_more)
                scan.lower = arena_printf(&call.arena, "%.*s\x01", STR_ARG(page.rows[page.count - 1].key));
        }
        assert_int_equal(stable, STABLE_ROWS);
        call_close(&call);
    }
}

static void check_rush(enum store_manners manners)
{
    struct rush rush = {0};
    rush.f = (struct fixture){.world = world_real_new(), .id = {{1, 2, 3}}};
    rush.f.store = store_mem_new(rush.f.world, &(struct store_mem_options){.manners = manners});
    fixture_part_open(&rush.f);
    rush.rows = row_names(&rush.f, STABLE_ROWS + WRITERS);
    for (size_t i = 0; i < STABLE_ROWS; i++)
        assert_true(fixture_change(&rush.f, EDIT_PUT, rush.rows[stable_place(i)].name, 0, 10) > 0);
    struct rush_thread all[WRITERS + 2];
    struct world_thread *threads[WRITERS + 2];
    for (size_t i = 0; i < WRITERS + 2; i++) {
        all[i] = (struct rush_thread){&rush, i < WRITERS ? i : i - WRITERS};
        threads[i] = world_thread_start(rush.f.world, "rush", i < WRITERS ? rush_write : rush_scan, &all[i]);
    }
    for (size_t i = WRITERS; i < WRITERS + 2; i++)
        world_thread_join(rush.f.world, threads[i]);
    atomic_store(&rush.is_over, true);
    for (size_t i = 0; i < WRITERS; i++)
        world_thread_join(rush.f.world, threads[i]);
    free(rush.rows);
    fixture_close(&rush.f);
}

static void scans_beside_writers_see_every_row_once_and_never_go_back(void **state)
{
    (void)state;
    check_rush(STORE_MANNERS_PLAIN);
    check_rush(STORE_MANNERS_RADOS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_the_rows_in_order),
        cmocka_unit_test(a_scan_fills_no_cache_and_an_empty_stretch_has_no_rows),
        cmocka_unit_test(every_row_of_a_page_was_durable_during_the_call),
        cmocka_unit_test(scans_beside_writers_see_every_row_once_and_never_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
