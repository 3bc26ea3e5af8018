/* What all engines share: waiting for a group, the contract's checks, and pages of rows. */
#include "store/store_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

void *store_alloc(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL) {
        fprintf(stderr, "stator: out of memory (%zu bytes wanted by the store)\n", bytes);
        abort();
    }
    return memory;
}

void *store_alloc_zeroed(size_t bytes)
{
    return memset(store_alloc(bytes), 0, bytes);
}

static void key_check(str key)
{
    assert(key.len > 0 && key.len <= STORE_KEY_MAX);
    assert(memchr(key.data, 0, key.len) == NULL);
}

void store_group_check(const struct store_group *group)
{
    size_t bytes = 0;
    for (size_t at = 0; at < group->guard_count; at++) {
        key_check(group->guards[at].key);
        assert(group->guards[at].value.len <= STORE_VALUE_MAX);
    }
    for (size_t at = 0; at < group->write_count; at++) {
        const struct store_write *write = &group->writes[at];
        key_check(write->key);
        assert(write->value.data == NULL || (write->value.len > 0 && write->value.len <= STORE_VALUE_MAX));
        bytes += write->key.len + write->value.len;
    }
    assert(bytes <= STORE_GROUP_BYTES_MAX);
}

void store_scan_check(const struct store *store, const struct store_scan *scan)
{
    assert(scan->rows_max > 0);
    assert(!scan->reverse || store->can_reverse);
    assert(scan->lower.len <= STORE_KEY_MAX && scan->upper.len <= STORE_KEY_MAX);
}

struct apply_wait {
    struct world *world;
    struct world_mutex lock;
    struct world_cond done;
    bool is_done;
    enum store_result result;
};

static void apply_wait_done(struct store_group *group, enum store_result result)
{
    struct apply_wait *wait = group->owner;
    world_lock(wait->world, &wait->lock);
    wait->is_done = true;
    wait->result = result;
    /* Inside the lock: the waiter's stack is gone once it sees is_done with the lock free. */
    world_wake_one(wait->world, &wait->done);
    world_unlock(wait->world, &wait->lock);
}

enum store_result store_apply_wait(struct store_range *range, struct store_group *group)
{
    struct world *world = range->store->world;
    struct apply_wait wait = {.world = world};
    world_mutex_open(world, &wait.lock);
    world_cond_open(world, &wait.done);
    group->done = apply_wait_done;
    group->owner = &wait;
    store_apply(range, group);
    world_lock(world, &wait.lock);
    while (!wait.is_done)
        world_wait(world, &wait.done, &wait.lock, -1);
    world_unlock(world, &wait.lock);
    world_cond_close(world, &wait.done);
    world_mutex_close(world, &wait.lock);
    return wait.result;
}

enum { PAGE_ROWS_FIRST = 32 };

void page_builder_open(struct page_builder *builder, const struct store_scan *scan, struct arena *arena, struct store_page *page)
{
    *page = (struct store_page){0};
    *builder = (struct page_builder){.scan = scan, .arena = arena, .page = page};
}

bool page_builder_add(struct page_builder *builder, str key, str value)
{
    struct store_page *page = builder->page;
    size_t bytes = key.len + value.len;
    bool fits = page->count < builder->scan->rows_max &&
                (page->count == 0 || (builder->bytes < builder->scan->bytes_max && bytes <= builder->scan->bytes_max - builder->bytes));
    if (!fits) {
        page->has_more = true;
        return false;
    }
    if (page->count == builder->capacity) {
        size_t capacity = builder->capacity ? builder->capacity * 4 : PAGE_ROWS_FIRST;
        if (capacity > builder->scan->rows_max)
            capacity = builder->scan->rows_max;
        struct store_row *rows = arena_alloc(builder->arena, capacity * sizeof *rows);
        if (page->count > 0)
            memcpy(rows, page->rows, page->count * sizeof *rows);
        page->rows = rows;
        builder->capacity = capacity;
    }
    char *copy = arena_alloc_text(builder->arena, bytes);
    memcpy(copy, key.data, key.len);
    memcpy(copy + key.len, value.data, value.len);
    page->rows[page->count++] = (struct store_row){str_of(copy, key.len), str_of(copy + key.len, value.len)};
    builder->bytes += bytes;
    return true;
}
