/* The storage engine alone: RocksDB doing PutItem's writes in groups as large as the requests outstanding, each group synced. */
#include "bench/bench_internal.h"

#include <rocksdb/c.h>
#include <stdlib.h>

enum { KEY_BYTES = 24, WRITE_BUFFER_BYTES = 64 << 20 };

struct engine {
    rocksdb_t *database;
    rocksdb_options_t *options;
    rocksdb_writeoptions_t *synced;
};

static bool engine_open(struct engine *engine, const char *path)
{
    char *error = NULL;
    engine->options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(engine->options, 1);
    rocksdb_options_set_write_buffer_size(engine->options, WRITE_BUFFER_BYTES);
    rocksdb_options_set_compression(engine->options, rocksdb_no_compression);
    engine->synced = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(engine->synced, 1);
    engine->database = rocksdb_open(engine->options, path, &error);
    if (!engine->database)
        bench_complain(BENCH_FAILED, "engine: %s", error);
    free(error);
    return engine->database != NULL;
}

static void engine_close(struct engine *engine)
{
    if (engine->database)
        rocksdb_close(engine->database);
    rocksdb_writeoptions_destroy(engine->synced);
    rocksdb_options_destroy(engine->options);
}

/* One group; the keys are drawn as the load client draws them. */
static bool write_group(struct engine *engine, rocksdb_writebatch_t *batch, const struct bench_options *options, const char *value, uint64_t *chance)
{
    rocksdb_writebatch_clear(batch);
    for (unsigned i = 0; i < options->outstanding; i++) {
        char key[KEY_BYTES + 16];
        *chance ^= *chance << 13;
        *chance ^= *chance >> 7;
        *chance ^= *chance << 17;
        uint64_t number = *chance % options->keys;
        /* A stored key begins with its hash. */
        snprintf(key, sizeof key, "%012llxkey-%08llu", (unsigned long long)(number * 0x9e3779b97f4a7c15U >> 16), (unsigned long long)number);
        rocksdb_writebatch_put(batch, key, KEY_BYTES, value, options->item_bytes);
    }
    char *error = NULL;
    rocksdb_write(engine->database, engine->synced, batch, &error);
    if (error)
        bench_complain(BENCH_FAILED, "engine: %s", error);
    bool written = !error;
    free(error);
    return written;
}

int bench_engine(const struct bench_options *options)
{
    struct engine engine;
    char *value = malloc(options->item_bytes);
    if (!value || !engine_open(&engine, options->data)) {
        free(value);
        return BENCH_FAILED;
    }
    for (unsigned at = 0; at < options->item_bytes; at++)
        value[at] = (char)('a' + at * 7 % 26);
    struct world *world = world_real_new();
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    int64_t start_us = world_mono_us(world), end_us = start_us + (int64_t)(options->seconds * 1e6);
    uint64_t writes = 0, groups = 0, chance = 0x9e3779b97f4a7c15U;
    bool written = true;
    while (written && world_mono_us(world) < end_us) {
        written = write_group(&engine, batch, options, value, &chance);
        writes += options->outstanding;
        groups++;
    }
    double seconds = (double)(world_mono_us(world) - start_us) / 1e6;
    if (options->json)
        printf("{\"writes\":%llu,\"groups\":%llu,\"seconds\":%.6f,\"per_second\":%.1f}\n", (unsigned long long)writes, (unsigned long long)groups, seconds,
               (double)writes / seconds);
    else
        printf("%llu writes in %llu synced groups, %.2f s: %.0f a second\n", (unsigned long long)writes, (unsigned long long)groups, seconds, (double)writes / seconds);
    rocksdb_writebatch_destroy(batch);
    engine_close(&engine);
    world_free(world);
    free(value);
    return written ? BENCH_DONE : BENCH_FAILED;
}
