/* Writes through the store and tells the shim's journal what was acknowledged; and checks, after a power cut, that the store
   holds all of it and nothing torn.

   powerloss_driver load DIR SEED LIFE GROUPS     LIFE: a number that is new each time
   powerloss_driver verify DIR SEED < NOTES       the notes of all lives, in order

   Group n of a range is a function of (seed, range, n), and carries n in the row "last", so whatever a cut leaves must equal the
   effect of groups 1 to n for the n that is found, and n must not be below what was acknowledged.
   Exit status: 0 well; 1 wrong; 2 usage; 4 the store said that it failed, and kept to it; 5 it did not open (its problem is on stdout). */
#include "store/store.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    RANGES = 4,
    ROWS = 150,
    WRITES_MAX = 5,
    VALUE_MAX = 6000,
    IN_FLIGHT = 8,      /* groups of each range */
    TEMP_FIRST = 1000,  /* ranges that are made, filled and dropped */
    TEMP_ROWS = 20,
    LIVES_MAX = 64,
    CACHE_BYTES = 8 << 20 /* the least: small write buffers, so that flushes and compactions come often */
};

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_STORE_FAILED = 4, EXIT_UNOPENED = 5 };

/* The shim's; without it notes go nowhere. */
__attribute__((weak)) void powerloss_note(const char *text, size_t bytes);

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    char text[80];
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (powerloss_note != NULL)
        powerloss_note(text, (size_t)bytes);
}

__attribute__((format(printf, 1, 2), noreturn)) static void wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    _exit(EXIT_WRONG);
}

/* --- what group n writes --- */

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct write_plan {
    unsigned row;
    size_t value_bytes; /* 0: delete */
    uint64_t filling;
};

static unsigned group_plan(uint64_t seed, unsigned range, uint64_t n, struct write_plan plans[WRITES_MAX])
{
    uint64_t random = mix(seed * 1000003 + range * 7919 + n * 104729 + 1);
    unsigned count = 1 + (unsigned)(random % WRITES_MAX);
    for (unsigned at = 0; at < count; at++) {
        random = mix(random + at + 1);
        plans[at].row = (unsigned)(random % ROWS);
        plans[at].value_bytes = (random >> 20) % 5 == 0 ? 0 : 1 + (random >> 24) % ((random >> 50) % 4 == 0 ? VALUE_MAX : 300);
        plans[at].filling = mix(random);
    }
    return count;
}

static void value_fill(char *value, const struct write_plan *plan)
{
    uint64_t random = plan->filling;
    for (size_t at = 0; at < plan->value_bytes; at++) {
        if (at % 8 == 0)
            random = mix(random + 1);
        value[at] = (char)(random >> at % 8 * 8);
    }
}

static struct uuid range_id(unsigned number)
{
    struct uuid id = {{0xab}};
    bytes_put_u32(id.bytes + 12, number);
    return id;
}

static struct store *driver_open(struct world *world, const char *path)
{
    char problem[400];
    struct store_rocks_options options = {.path = path, .cache_bytes = CACHE_BYTES};
    struct store *store = store_rocks_open(world, &options, problem, sizeof problem);
    if (store == NULL) {
        printf("%s\n", problem);
        fflush(stdout);
        _exit(EXIT_UNOPENED);
    }
    return store;
}

static struct store_range *driver_range(struct store *store, unsigned number)
{
    struct store_range *range;
    return store_range_open(store, range_id(number), &range) == STORE_OK ? range : NULL;
}

static uint64_t range_last(struct store_range *range)
{
    struct arena arena;
    str value = STR_NONE;
    arena_open(&arena, NULL);
    enum store_result result = store_get(range, STR("last"), &arena, &value);
    if (result == STORE_FAILED)
        wrong("reading failed");
    uint64_t last = result == STORE_OK ? strtoull(arena_copy_text(&arena, value), NULL, 10) : 0;
    arena_close(&arena);
    return last;
}

/* --- load --- */

struct load {
    struct world *world;
    uint64_t seed;
    struct store *store;
    struct store_range *ranges[RANGES];
    uint64_t next[RANGES], stop[RANGES];
    atomic_uint flying;
    atomic_bool has_failed;
};

struct flight {
    struct load *load;
    unsigned range;
    uint64_t n;
    struct store_group group;
    struct store_guard guard;
    struct store_write writes[WRITES_MAX + 1];
    char last[24], before[24], rows[WRITES_MAX][16];
    char values[WRITES_MAX][VALUE_MAX];
};

static void flight_done(struct store_group *group, enum store_result result);

static void flight_start(struct flight *flight)
{
    struct load *load = flight->load;
    struct write_plan plans[WRITES_MAX];
    flight->n = load->next[flight->range]++;
    unsigned count = group_plan(load->seed, flight->range, flight->n, plans);
    snprintf(flight->last, sizeof flight->last, "%llu", (unsigned long long)flight->n);
    snprintf(flight->before, sizeof flight->before, "%llu", (unsigned long long)flight->n - 1);
    flight->guard = (struct store_guard){STR("last"), flight->n > 1 ? str_of_text(flight->before) : STR_NONE};
    flight->writes[0] = (struct store_write){STR("last"), str_of_text(flight->last)};
    for (unsigned at = 0; at < count; at++) {
        snprintf(flight->rows[at], sizeof flight->rows[at], "row-%03u", plans[at].row);
        value_fill(flight->values[at], &plans[at]);
        flight->writes[at + 1] =
            (struct store_write){str_of_text(flight->rows[at]), plans[at].value_bytes ? str_of(flight->values[at], plans[at].value_bytes) : STR_NONE};
    }
    flight->group = (struct store_group){.guards = &flight->guard, .guard_count = 1, .writes = flight->writes, .write_count = count + 1,
                                         .done = flight_done, .owner = flight};
    store_apply(load->ranges[flight->range], &flight->group);
}

/* A range's groups are done in order, and one thread calls every `done`, so `next` needs no lock. */
static void flight_done(struct store_group *group, enum store_result result)
{
    struct flight *flight = group->owner;
    struct load *load = flight->load;
    if (result == STORE_OK) {
        if (atomic_load(&load->has_failed))
            wrong("a group was acknowledged after another had failed");
        note("ack %u %llu", flight->range, (unsigned long long)flight->n);
    } else if (result == STORE_FAILED) {
        atomic_store(&load->has_failed, true);
    } else {
        wrong("a guard did not hold: range %u, group %llu", flight->range, (unsigned long long)flight->n);
    }
    if (load->next[flight->range] < load->stop[flight->range] && !atomic_load(&load->has_failed)) {
        flight_start(flight);
        return;
    }
    atomic_fetch_sub(&load->flying, 1);
}

/* Whoever was told of a failure is told of it again until the store is opened anew. */
static int failed_check(struct load *load)
{
    struct store_range *other;
    struct arena arena;
    str value;
    struct store_write write = {STR("after"), STR("x")};
    struct store_group group = {.writes = &write, .write_count = 1};
    arena_open(&arena, NULL);
    if (load->ranges[0] != NULL &&
        (store_apply_wait(load->ranges[0], &group) != STORE_FAILED || store_get(load->ranges[0], STR("last"), &arena, &value) != STORE_FAILED))
        wrong("a call went through after a failed write");
    if (store_range_open(load->store, range_id(77), &other) != STORE_FAILED || store_range_drop(load->store, range_id(77)) != STORE_FAILED)
        wrong("a range opened after a failed write");
    for (unsigned at = 0; at < RANGES; at++) {
        if (load->ranges[at] != NULL)
            store_range_close(load->ranges[at]);
    }
    store_close(load->store);
    arena_close(&arena);
    printf("the store failed and said so\n");
    return EXIT_STORE_FAILED;
}

/* The first flights start where all others do, on the thread that calls `done`. */
static void first_done(struct store_group *group, enum store_result result)
{
    struct flight *flights = group->owner;
    struct load *load = flights->load;
    if (result != STORE_OK) {
        atomic_store(&load->has_failed, true);
        atomic_store(&load->flying, 0);
        return;
    }
    for (unsigned number = 0; number < IN_FLIGHT; number++) {
        for (unsigned at = 0; at < RANGES; at++)
            flight_start(&flights[at * IN_FLIGHT + number]);
    }
}

/* False when the store failed. */
static bool load_groups(struct load *load, uint64_t groups)
{
    struct flight *flights = calloc(RANGES * IN_FLIGHT, sizeof *flights);
    struct store_group first = {.done = first_done, .owner = flights};
    for (unsigned at = 0; at < RANGES * IN_FLIGHT; at++)
        flights[at] = (struct flight){.load = load, .range = at / IN_FLIGHT};
    for (unsigned at = 0; at < RANGES; at++) {
        load->next[at] = range_last(load->ranges[at]) + 1;
        load->stop[at] = load->next[at] + groups;
    }
    atomic_store(&load->flying, RANGES * IN_FLIGHT);
    store_apply(load->ranges[0], &first);
    while (atomic_load(&load->flying) > 0)
        world_sleep_us(load->world, 500);
    free(flights);
    return !atomic_load(&load->has_failed);
}

/* False when the store failed. */
static bool temp_round(struct load *load, unsigned number)
{
    struct store_write writes[TEMP_ROWS];
    char keys[TEMP_ROWS][8];
    struct store_range *range = driver_range(load->store, TEMP_FIRST + number);
    if (range == NULL)
        return false;
    for (unsigned at = 0; at < TEMP_ROWS; at++) {
        snprintf(keys[at], sizeof keys[at], "t%02u", at);
        writes[at] = (struct store_write){str_of_text(keys[at]), STR("temporary")};
    }
    struct store_group group = {.writes = writes, .write_count = TEMP_ROWS};
    enum store_result result = store_apply_wait(range, &group);
    store_range_close(range);
    if (result == STORE_OK)
        note("temp %u", number);
    if (result != STORE_OK || number % 3 == 0)
        return result == STORE_OK;
    note("dropping %u", number);
    if (store_range_drop(load->store, range_id(TEMP_FIRST + number)) != STORE_OK)
        return false;
    note("dropped %u", number);
    return true;
}

/* Half of the groups, a clean restart, the other half. */
static int driver_load(const char *path, uint64_t seed, unsigned life, uint64_t groups)
{
    struct load load = {.world = world_real_new(), .seed = seed};
    for (unsigned half = 0; half < 2; half++) {
        load.store = driver_open(load.world, path);
        bool is_well = true;
        for (unsigned at = 0; at < RANGES; at++) {
            load.ranges[at] = driver_range(load.store, at);
            assert(load.ranges[at] != NULL);
        }
        is_well = temp_round(&load, life * 4 + half * 2) && load_groups(&load, groups / 2) && temp_round(&load, life * 4 + half * 2 + 1);
        if (!is_well)
            return failed_check(&load);
        for (unsigned at = 0; at < RANGES; at++)
            store_range_close(load.ranges[at]);
        store_close(load.store);
    }
    world_free(load.world);
    return 0;
}

/* --- verify --- */

struct noted {
    uint64_t acknowledged[RANGES];
    bool temp[LIVES_MAX * 4], dropping[LIVES_MAX * 4], dropped[LIVES_MAX * 4];
};

static void notes_read(struct noted *noted)
{
    char line[80];
    while (fgets(line, sizeof line, stdin) != NULL) {
        unsigned number;
        unsigned long long n;
        if (sscanf(line, "ack %u %llu", &number, &n) == 2 && number < RANGES)
            noted->acknowledged[number] = n;
        else if (sscanf(line, "temp %u", &number) == 1 && number < LIVES_MAX * 4)
            noted->temp[number] = true;
        else if (sscanf(line, "dropping %u", &number) == 1 && number < LIVES_MAX * 4)
            noted->dropping[number] = true;
        else if (sscanf(line, "dropped %u", &number) == 1 && number < LIVES_MAX * 4)
            noted->dropped[number] = true;
        else
            wrong("not a note: %s", line);
    }
}

static void range_verify(struct store_range *range, uint64_t seed, unsigned number, uint64_t acknowledged)
{
    uint64_t last = range_last(range);
    struct write_plan wanted[ROWS] = {0};
    size_t wanted_rows = 0, seen = 0;
    struct arena arena;
    struct store_page page;
    char value[VALUE_MAX], key[16];
    if (last < acknowledged)
        wrong("LOST: range %u has groups up to %llu; %llu was acknowledged", number, (unsigned long long)last, (unsigned long long)acknowledged);
    for (uint64_t n = 1; n <= last; n++) {
        struct write_plan plans[WRITES_MAX];
        unsigned count = group_plan(seed, number, n, plans);
        for (unsigned at = 0; at < count; at++)
            wanted[plans[at].row] = plans[at];
    }
    for (unsigned row = 0; row < ROWS; row++)
        wanted_rows += wanted[row].value_bytes > 0;
    arena_open(&arena, NULL);
    struct store_scan scan = {.lower = STR("row-"), .upper = STR("row."), .rows_max = STORE_PAGE_ROWS_MAX, .bytes_max = 16 << 20};
    if (store_scan(range, &scan, &arena, &page) != STORE_OK)
        wrong("reading failed");
    for (unsigned row = 0; row < ROWS && seen < page.count; row++) {
        if (wanted[row].value_bytes == 0)
            continue;
        snprintf(key, sizeof key, "row-%03u", row);
        value_fill(value, &wanted[row]);
        if (!str_equal(page.rows[seen].key, str_of_text(key)) || !str_equal(page.rows[seen].value, str_of(value, wanted[row].value_bytes)))
            wrong("TORN: range %u is not what groups 1 to %llu leave: row %u", number, (unsigned long long)last, row);
        seen++;
    }
    if (seen != wanted_rows || seen != page.count)
        wrong("TORN: range %u has %zu rows; groups 1 to %llu leave %zu", number, page.count, (unsigned long long)last, wanted_rows);
    arena_close(&arena);
}

static void temp_verify(struct store *store, unsigned number, const struct noted *noted)
{
    struct arena arena;
    struct store_page page;
    struct store_range *range = driver_range(store, TEMP_FIRST + number);
    struct store_scan scan = {.rows_max = STORE_PAGE_ROWS_MAX, .bytes_max = 1 << 20};
    arena_open(&arena, NULL);
    if (range == NULL || store_scan(range, &scan, &arena, &page) != STORE_OK)
        wrong("reading failed");
    if (page.count != 0 && page.count != TEMP_ROWS)
        wrong("TORN: temporary range %u has %zu rows", number, page.count);
    if (noted->dropped[number] && page.count != 0)
        wrong("BACK AGAIN: temporary range %u was dropped", number);
    if (noted->temp[number] && !noted->dropping[number] && page.count != TEMP_ROWS)
        wrong("LOST: temporary range %u", number);
    store_range_close(range);
    arena_close(&arena);
}

static int driver_verify(const char *path, uint64_t seed)
{
    struct noted noted = {0};
    struct world *world = world_real_new();
    notes_read(&noted);
    bool nothing_acknowledged = true;
    for (unsigned at = 0; at < RANGES; at++)
        nothing_acknowledged = nothing_acknowledged && noted.acknowledged[at] == 0;
    if (access(path, F_OK) != 0) {
        if (!nothing_acknowledged)
            wrong("LOST: the whole folder");
        return 0;
    }
    struct store *store = driver_open(world, path);
    for (unsigned at = 0; at < RANGES; at++) {
        struct store_range *range = driver_range(store, at);
        range_verify(range, seed, at, noted.acknowledged[at]);
        store_range_close(range);
    }
    for (unsigned number = 0; number < LIVES_MAX * 4; number++)
        temp_verify(store, number, &noted);
    store_close(store);
    world_free(world);
    return 0;
}

int main(int count, char **arguments)
{
    if (count == 6 && strcmp(arguments[1], "load") == 0)
        return driver_load(arguments[2], strtoull(arguments[3], NULL, 10), (unsigned)atoi(arguments[4]), strtoull(arguments[5], NULL, 10));
    if (count == 4 && strcmp(arguments[1], "verify") == 0)
        return driver_verify(arguments[2], strtoull(arguments[3], NULL, 10));
    fprintf(stderr, "usage: powerloss_driver load DIR SEED LIFE GROUPS | verify DIR SEED < NOTES\n");
    return EXIT_USAGE;
}
