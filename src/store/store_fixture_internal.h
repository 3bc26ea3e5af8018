/* What the store's tests share: an engine in a given manner, a range, and short forms of its calls. */
#ifndef STATOR_STORE_STORE_FIXTURE_INTERNAL_H
#define STATOR_STORE_STORE_FIXTURE_INTERNAL_H

#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum engine { ENGINE_MEM, ENGINE_MEM_RADOS, ENGINE_ROCKS };

struct fixture {
    enum engine engine;
    struct world *world;
    struct store *store;
    struct store_range *range; /* number 1 */
    struct arena arena;
    char path[64];             /* rocks: the directory */
};

static inline struct uuid fixture_id(unsigned number)
{
    struct uuid id = {{0}};
    bytes_put_u32(id.bytes + 12, number);
    return id;
}

static inline struct store_range *fixture_range(struct fixture *fixture, struct uuid id)
{
    struct store_range *range = NULL;
    assert_int_equal(store_range_open(fixture->store, id, &range), STORE_OK);
    return range;
}

static inline void fixture_open_store(struct fixture *fixture)
{
    if (fixture->engine == ENGINE_ROCKS) {
        char problem[256] = "";
        struct store_rocks_options options = {.path = fixture->path, .cache_bytes = 32 << 20};
        fixture->store = store_rocks_open(fixture->world, &options, problem, sizeof problem);
        if (fixture->store == NULL)
            fail_msg("%s", problem);
    } else {
        struct store_mem_options options = {.manners = fixture->engine == ENGINE_MEM_RADOS ? STORE_MANNERS_RADOS : STORE_MANNERS_PLAIN};
        fixture->store = store_mem_new(fixture->world, &options);
    }
    fixture->range = fixture_range(fixture, fixture_id(1));
}

static inline void fixture_open(struct fixture *fixture, enum engine engine)
{
    *fixture = (struct fixture){.engine = engine, .world = world_real_new()};
    arena_open(&fixture->arena, NULL);
    if (engine == ENGINE_ROCKS) {
        const char *folder = getenv("TMPDIR");
        snprintf(fixture->path, sizeof fixture->path, "%.40s/stator-store-XXXXXX", folder != NULL ? folder : "/tmp");
        assert_non_null(mkdtemp(fixture->path));
    }
    fixture_open_store(fixture);
}

/* As after a restart; mem keeps its rows and has only its ranges opened again. */
static inline void fixture_reopen(struct fixture *fixture)
{
    store_range_close(fixture->range);
    if (fixture->engine == ENGINE_ROCKS) {
        store_close(fixture->store);
        fixture_open_store(fixture);
    } else {
        fixture->range = fixture_range(fixture, fixture_id(1));
    }
}

static inline void fixture_remove_folder(const char *path)
{
    char command[512];
    snprintf(command, sizeof command, "chmod -R u+rwx '%s' && rm -rf '%s'", path, path);
    assert_int_equal(system(command), 0);
}

static inline void fixture_close(struct fixture *fixture)
{
    store_range_close(fixture->range);
    store_close(fixture->store);
    arena_close(&fixture->arena);
    world_free(fixture->world);
    if (fixture->engine == ENGINE_ROCKS)
        fixture_remove_folder(fixture->path);
}

static inline enum store_result write_group(struct store_range *range, const struct store_guard *guards, size_t guard_count,
                                            const struct store_write *writes, size_t write_count)
{
    struct store_group group = {.guards = guards, .guard_count = guard_count, .writes = writes, .write_count = write_count};
    return store_apply_wait(range, &group);
}

static inline void put(struct store_range *range, str key, str value)
{
    struct store_write write = {key, value};
    assert_int_equal(write_group(range, NULL, 0, &write, 1), STORE_OK);
}

static inline void put_text(struct store_range *range, const char *key, const char *value)
{
    put(range, str_of_text(key), str_of_text(value));
}

static inline void erase(struct store_range *range, const char *key)
{
    struct store_write write = {str_of_text(key), STR_NONE};
    assert_int_equal(write_group(range, NULL, 0, &write, 1), STORE_OK);
}

static inline void assert_value(struct fixture *fixture, struct store_range *range, str key, str value)
{
    str found = STR_NONE;
    enum store_result result = store_get(range, key, &fixture->arena, &found);
    assert_int_equal(result, value.data != NULL ? STORE_OK : STORE_ABSENT);
    if (value.data != NULL) {
        assert_int_equal(found.len, value.len);
        assert_memory_equal(found.data, value.data, value.len);
    }
}

static inline void assert_text(struct fixture *fixture, struct store_range *range, const char *key, const char *value)
{
    assert_value(fixture, range, str_of_text(key), str_of_text(value));
}

#endif
