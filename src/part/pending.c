/* Rows with changes that are not durable yet, by key, and the groups that carry the changes. */
#include "part/part_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <xxhash.h>

enum { SLOTS_FIRST = 64, WRITES_FIRST = 16 };

static struct pending **slot_of(const struct pending_map *map, uint64_t hash)
{
    return &map->slots[hash & (map->slot_count - 1)];
}

uint64_t pending_hash(str key)
{
    return XXH3_64bits(key.data, key.len);
}

struct pending *pending_find(const struct pending_map *map, uint64_t hash, str key)
{
    if (map->count == 0)
        return NULL;
    struct pending *pending = *slot_of(map, hash);
    while (pending && !(pending->hash == hash && str_equal(str_of(pending->key, pending->key_bytes), key)))
        pending = pending->chain;
    return pending;
}

static void grow(struct pending_map *map)
{
    struct pending **old = map->slots;
    size_t old_count = map->slot_count;
    map->slot_count = old_count ? old_count * 2 : SLOTS_FIRST;
    map->slots = calloc(map->slot_count, sizeof *map->slots);
    assert(map->slots);
    for (size_t i = 0; i < old_count; i++) {
        while (old[i]) {
            struct pending *pending = old[i];
            old[i] = pending->chain;
            struct pending **slot = slot_of(map, pending->hash);
            pending->chain = *slot;
            *slot = pending;
        }
    }
    free(old);
}

struct pending *pending_add(struct pending_map *map, uint64_t hash, str key)
{
    if (map->count >= map->slot_count)
        grow(map);
    struct pending *pending = malloc(sizeof *pending + key.len);
    assert(pending);
    *pending = (struct pending){.hash = hash, .key_bytes = key.len};
    memcpy(pending->key, key.data, key.len);
    struct pending **slot = slot_of(map, pending->hash);
    pending->chain = *slot;
    *slot = pending;
    map->count++;
    return pending;
}

void pending_remove(struct pending_map *map, struct pending *pending)
{
    struct pending **at = slot_of(map, pending->hash);
    while (*at != pending)
        at = &(*at)->chain;
    *at = pending->chain;
    map->count--;
    free(pending);
}

void pending_clear(struct pending_map *map)
{
    for (size_t i = 0; i < map->slot_count; i++)
        while (map->slots[i])
            pending_remove(map, map->slots[i]);
}

void pending_close(struct pending_map *map)
{
    pending_clear(map);
    free(map->slots);
    *map = (struct pending_map){0};
}

struct part_group *group_new(struct part_range *range)
{
    struct part_group *group = range->spare;
    range->spare = NULL;
    struct arena arena;
    if (group) {
        arena = group->arena;
    } else {
        arena_open(&arena, range->part->options.memory);
        group = malloc(sizeof *group);
    }
    assert(group);
    *group = (struct part_group){.range = range, .arena = arena};
    arena_reset(&group->arena);
    return group;
}

void group_free(struct part_group *group)
{
    arena_close(&group->arena);
    free(group);
}

size_t group_add_write(struct part_group *group, str key, str value)
{
    if (group->write_count == group->write_capacity) {
        size_t capacity = group->write_capacity ? group->write_capacity * 2 : WRITES_FIRST;
        struct store_write *writes = arena_alloc(&group->arena, capacity * sizeof *writes);
        if (group->write_count > 0)
            memcpy(writes, group->writes, group->write_count * sizeof *writes);
        group->writes = writes;
        group->write_capacity = capacity;
    }
    group->writes[group->write_count] = (struct store_write){.key = key, .value = value};
    group->write_bytes += key.len + value.len;
    return group->write_count++;
}

void group_replace_write(struct part_group *group, size_t write, str value)
{
    group->write_bytes += value.len - group->writes[write].value.len;
    group->writes[write].value = value;
}

void group_add_wait(struct part_group *group, struct durable_wait *wait)
{
    if (group->wait_count == group->wait_capacity) {
        size_t capacity = group->wait_capacity ? group->wait_capacity * 2 : WRITES_FIRST;
        struct durable_wait **waits = arena_alloc(&group->arena, capacity * sizeof(struct durable_wait *));
        if (group->wait_count > 0)
            memcpy(waits, group->waits, group->wait_count * sizeof(struct durable_wait *));
        group->waits = waits;
        group->wait_capacity = capacity;
    }
    durable_wait_hold(wait);
    group->waits[group->wait_count++] = wait;
}
