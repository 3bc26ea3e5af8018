/* Measures the store's engines beside RocksDB alone: same keys, same bytes, same durability, alternated in one run.
   store_bench DIR [ROUNDS]. Needs no cmocka; run it by hand on a quiet machine. */
#include "store/store.h"

#include <pthread.h>
#include <rocksdb/c.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_S 0.5

enum { OUTSTANDING = 64, ROUNDS_MAX = 15, ROWS = 100000, ROW_BYTES = 1000, READS = 100000, PAGE_ROWS = 100 };

static double now_s(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static double cpu_s(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void key_of(char key[24], uint64_t number)
{
    snprintf(key, 24, "i%016llx", (unsigned long long)(number * 0x9E3779B97F4A7C15u));
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* --- durable puts --- */

struct shape {
    unsigned keys;
    size_t value_bytes;
};

/* What a run came to. */
struct pace {
    double groups_s;
    double cpu_us; /* of the whole process, a group */
};

static rocksdb_t *raw_open(const char *path)
{
    char *error = NULL;
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_t *db = rocksdb_open(options, path, &error);
    if (error != NULL) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return db;
}

static struct pace raw_puts(rocksdb_t *db, const struct shape *shape, uint64_t *number)
{
    static char value[ROW_BYTES];
    rocksdb_writeoptions_t *synced = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(synced, 1);
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    unsigned groups = 0;
    double start = now_s(), cpu_start = cpu_s();
    for (; now_s() - start < RUN_S; groups += OUTSTANDING) {
        rocksdb_writebatch_clear(batch);
        for (unsigned at = 0; at < OUTSTANDING * shape->keys; at++) {
            char *error = NULL, key[16 + 24] = {0};
            key_of(key + 16, (*number)++);
            rocksdb_writebatch_put(batch, key, 33, value, shape->value_bytes);
            if (error != NULL)
                exit(1);
        }
        char *error = NULL;
        rocksdb_write(db, synced, batch, &error);
        if (error != NULL)
            exit(1);
    }
    struct pace pace = {groups / (now_s() - start), (cpu_s() - cpu_start) / groups * 1e6};
    rocksdb_writebatch_destroy(batch);
    rocksdb_writeoptions_destroy(synced);
    return pace;
}

struct bench {
    struct store_range *range;
    const struct shape *shape;
    uint64_t number;
    unsigned started;
    atomic_uint done;
    pthread_mutex_t lock;
    pthread_cond_t some;
    struct slot *idle;
};

struct slot {
    struct bench *bench;
    struct slot *next;
    struct store_group group;
    struct store_write writes[3];
    char keys[3][24];
};

static void slot_start(struct slot *slot)
{
    static char value[ROW_BYTES];
    struct bench *bench = slot->bench;
    bench->started++;
    for (unsigned at = 0; at < bench->shape->keys; at++) {
        key_of(slot->keys[at], bench->number++);
        slot->writes[at] = (struct store_write){str_of(slot->keys[at], 17), str_of(value, bench->shape->value_bytes)};
    }
    store_apply(bench->range, &slot->group);
}

static void slot_done(struct store_group *group, enum store_result result)
{
    struct slot *slot = group->owner;
    struct bench *bench = slot->bench;
    if (result != STORE_OK)
        abort();
    pthread_mutex_lock(&bench->lock);
    slot->next = bench->idle;
    bench->idle = slot;
    atomic_fetch_add(&bench->done, 1);
    pthread_cond_signal(&bench->some);
    pthread_mutex_unlock(&bench->lock);
}

/* A closed loop of OUTSTANDING groups by one client thread. */
static struct pace store_puts(struct store_range *range, const struct shape *shape, uint64_t *number, double seconds)
{
    struct bench bench = {.range = range, .shape = shape, .number = *number,
                          .lock = PTHREAD_MUTEX_INITIALIZER, .some = PTHREAD_COND_INITIALIZER};
    struct slot *slots = calloc(OUTSTANDING, sizeof *slots);
    double start = now_s(), cpu_start = cpu_s();
    for (unsigned at = 0; at < OUTSTANDING; at++) {
        slots[at].bench = &bench;
        slots[at].group = (struct store_group){.writes = slots[at].writes, .write_count = shape->keys, .done = slot_done, .owner = &slots[at]};
        slots[at].next = bench.idle;
        bench.idle = &slots[at];
    }
    bool is_over = false;
    pthread_mutex_lock(&bench.lock);
    while (!is_over || atomic_load(&bench.done) < bench.started) {
        while (bench.idle != NULL && !is_over) {
            struct slot *slot = bench.idle;
            bench.idle = slot->next;
            pthread_mutex_unlock(&bench.lock);
            slot_start(slot);
            pthread_mutex_lock(&bench.lock);
        }
        if (atomic_load(&bench.done) < bench.started)
            pthread_cond_wait(&bench.some, &bench.lock);
        is_over = now_s() - start >= seconds;
    }
    pthread_mutex_unlock(&bench.lock);
    struct pace pace = {bench.started / (now_s() - start), (cpu_s() - cpu_start) / bench.started * 1e6};
    *number = bench.number;
    free(slots);
    return pace;
}

static struct store *rocks_open(struct world *world, const char *path, struct metrics *metrics)
{
    char problem[400];
    struct store_rocks_options options = {.path = path, .cache_bytes = 512 << 20, .metrics = metrics};
    struct store *store = store_rocks_open(world, &options, problem, sizeof problem);
    if (store == NULL) {
        fprintf(stderr, "%s\n", problem);
        exit(1);
    }
    return store;
}

static struct store_range *range_open(struct store *store, unsigned number)
{
    struct store_range *range;
    struct uuid id = {{0}};
    id.bytes[15] = (uint8_t)number;
    if (store_range_open(store, id, &range) != STORE_OK)
        exit(1);
    return range;
}

static double metric_value(const struct metrics *metrics, const char *name)
{
    for (struct metric *metric = metrics->first; metric != NULL; metric = metric->next) {
        if (strcmp(metric->name, name) == 0)
            return (double)atomic_load(&metric->value);
    }
    return 0;
}

static void bench_puts(struct store_range *range, rocksdb_t *raw, int rounds, const struct metrics *metrics)
{
    static const struct shape shapes[] = {{1, 100}, {1, 1000}, {3, 300}};
    uint64_t raw_number = 1, store_number = 1;
    for (unsigned at = 0; at < sizeof shapes / sizeof shapes[0]; at++) {
        double alone[ROUNDS_MAX], client[ROUNDS_MAX], alone_cpu[ROUNDS_MAX], client_cpu[ROUNDS_MAX];
        double groups = metric_value(metrics, "stator_store_groups_total"), syncs = metric_value(metrics, "stator_store_syncs_total");
        for (int round = 0; round < rounds; round++) {
            struct pace pace = raw_puts(raw, &shapes[at], &raw_number);
            alone[round] = pace.groups_s;
            alone_cpu[round] = pace.cpu_us;
            pace = store_puts(range, &shapes[at], &store_number, RUN_S);
            client[round] = pace.groups_s;
            client_cpu[round] = pace.cpu_us;
        }
        groups = metric_value(metrics, "stator_store_groups_total") - groups;
        syncs = metric_value(metrics, "stator_store_syncs_total") - syncs;
        double raw_median = median(alone, rounds), client_median = median(client, rounds);
        printf("durable groups of %u x %4zu bytes, %d outstanding: store %7.0f/s (%.1f us of CPU each, %.0f a sync), RocksDB alone %7.0f/s (%.1f us), ratio %.2f\n",
               shapes[at].keys, shapes[at].value_bytes, OUTSTANDING, client_median, median(client_cpu, rounds), groups / syncs, raw_median,
               median(alone_cpu, rounds), client_median / raw_median);
    }
}

/* --- reading --- */

static void load_rows(struct store_range *range)
{
    static char value[ROW_BYTES];
    struct store_write writes[500];
    char keys[500][24];
    for (size_t at = 0; at < sizeof value; at++)
        value[at] = (char)('a' + at * at % 23);
    for (uint64_t row = 0; row < ROWS; row += 500) {
        for (unsigned at = 0; at < 500; at++) {
            key_of(keys[at], row + at);
            writes[at] = (struct store_write){str_of(keys[at], 17), str_of(value, ROW_BYTES)};
        }
        struct store_group group = {.writes = writes, .write_count = 500};
        if (store_apply_wait(range, &group) != STORE_OK)
            exit(1);
    }
}

static void bench_reads(const char *name, struct store_range *range)
{
    struct arena arena;
    uint64_t random = 88172645463325252u;
    char key[24];
    str value;
    arena_open(&arena, NULL);
    for (int pass = 0; pass < 2; pass++) {
        double start = cpu_s();
        for (unsigned at = 0; at < READS; at++) {
            key_of(key, random_next(&random) % ROWS);
            if (store_get(range, str_of(key, 17), &arena, &value) != STORE_OK)
                exit(1);
            arena_reset(&arena);
        }
        printf("%-6s get, %d rows of 1 KB, %s: %.2f us\n", name, ROWS, pass ? "warm " : "first", (cpu_s() - start) / READS * 1e6);
    }
    double start = cpu_s();
    for (unsigned at = 0; at < READS; at++) {
        key_of(key, ROWS + random_next(&random) % ROWS);
        if (store_get(range, str_of(key, 17), &arena, &value) != STORE_ABSENT)
            exit(1);
    }
    printf("%-6s get of an absent key: %.2f us\n", name, (cpu_s() - start) / READS * 1e6);
    start = cpu_s();
    for (unsigned at = 0; at < READS / PAGE_ROWS; at++) {
        struct store_page page;
        key_of(key, random_next(&random) % ROWS);
        struct store_scan scan = {.lower = str_of(key, 17), .rows_max = PAGE_ROWS, .bytes_max = 1 << 20};
        if (store_scan(range, &scan, &arena, &page) != STORE_OK)
            exit(1);
        arena_reset(&arena);
    }
    printf("%-6s scan, pages of %d rows of 1 KB: %.2f us a row\n", name, PAGE_ROWS, (cpu_s() - start) / READS * 1e6);
    start = cpu_s();
    for (unsigned at = 0; at < READS / 8; at++) {
        struct store_page page;
        key_of(key, random_next(&random) % ROWS);
        struct store_scan scan = {.lower = str_of(key, 17), .rows_max = 1, .bytes_max = 1 << 20};
        if (store_scan(range, &scan, &arena, &page) != STORE_OK)
            exit(1);
        arena_reset(&arena);
    }
    printf("%-6s scan, pages of one row: %.2f us\n", name, (cpu_s() - start) / (READS / 8.0) * 1e6);
    arena_close(&arena);
}

static void bench_mem_puts(struct store_range *range)
{
    static char value[ROW_BYTES];
    char key[24];
    double start = cpu_s();
    for (uint64_t at = 0; at < READS; at++) {
        key_of(key, ROWS * 2 + at);
        struct store_write write = {str_of(key, 17), str_of(value, 400)};
        struct store_group group = {.writes = &write, .write_count = 1};
        if (store_apply_wait(range, &group) != STORE_OK)
            exit(1);
    }
    printf("mem    put of a new row of 400 bytes, waiting for each: %.2f us\n", (cpu_s() - start) / READS * 1e6);
}

enum { WRITE_SECONDS = 3 };

/* What is killed is a process of its own: RocksDB's threads do not survive a fork. */
static int write_until_killed(const char *path)
{
    struct world *world = world_real_new();
    uint64_t number = 1u << 30;
    struct shape shape = {1, 1000};
    store_puts(range_open(rocks_open(world, path, NULL), 9), &shape, &number, WRITE_SECONDS);
    _exit(0);
}

static void bench_open(struct world *world, const char *path, char *self)
{
    double start = now_s();
    struct store *store = rocks_open(world, path, NULL);
    double clean = now_s() - start;
    store_close(store);
    char write_only[] = "--write-until-killed", *arguments[] = {self, write_only, (char *)(uintptr_t)path, NULL};
    pid_t child;
    int status;
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) != 0 || waitpid(child, &status, 0) != child || status != 0)
        exit(1);
    start = now_s();
    store = rocks_open(world, path, NULL);
    printf("open after a clean stop %.0f ms; after a kill behind %d s of writes %.0f ms\n", clean * 1e3, WRITE_SECONDS, (now_s() - start) * 1e3);
    store_close(store);
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: store_bench DIR [ROUNDS]    DIR: a folder for two databases, made anew\n");
        return 2;
    }
    if (count == 3 && strcmp(arguments[1], "--write-until-killed") == 0)
        return write_until_killed(arguments[2]);
    int rounds = count > 2 ? atoi(arguments[2]) : 5;
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    char path[4096], raw_path[4096];
    snprintf(path, sizeof path, "%s/store", arguments[1]);
    snprintf(raw_path, sizeof raw_path, "%s/raw", arguments[1]);
    struct world *world = world_real_new();
    struct metrics metrics;
    metrics_open(&metrics);
    struct store *store = rocks_open(world, path, &metrics), *mem = store_mem_new(world, &(struct store_mem_options){0});
    struct store_range *range = range_open(store, 1), *rows = range_open(store, 2), *mem_rows = range_open(mem, 1);
    rocksdb_t *raw = raw_open(raw_path);
    bench_puts(range, raw, rounds, &metrics);
    rocksdb_close(raw);
    load_rows(rows);
    bench_reads("rocks", rows);
    load_rows(mem_rows);
    bench_reads("mem", mem_rows);
    bench_mem_puts(mem_rows);
    store_range_close(range);
    store_range_close(rows);
    store_range_close(mem_rows);
    store_close(store);
    store_close(mem);
    bench_open(world, path, arguments[0]);
    world_free(world);
    return 0;
}
