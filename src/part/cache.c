/* The item cache: durable rows of all ranges, in shards that each keep a second-chance list within their share of the bytes. */
#include "part/part_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <xxhash.h>

enum { SHARDS = 16, SLOTS_FIRST = 64, ENTRY_OVERHEAD_BYTES = 32 /* the allocator's and the slot's */ };

struct cache_entry {
    struct cache_entry *chain;           /* of its slot */
    struct cache_entry *newer, *older;   /* the list, in order of coming in */
    uint64_t hash;
    uint64_t range_number;
    uint32_t key_bytes, value_bytes;
    bool was_used;                       /* since it came in or was last spared */
    char bytes[];                        /* key, value */
};

struct cache_shard {
    struct world_mutex lock;
    struct cache_entry **slots;
    size_t slot_count;                   /* a power of two */
    struct cache_entry *newest, *oldest;
    size_t count, bytes;
} __attribute__((aligned(64)));

struct cache {
    struct world *world;
    size_t shard_bytes_max;
    struct metric hits, misses, held_bytes;
    struct cache_shard shards[SHARDS];
};

struct cache *cache_new(struct world *world, size_t bytes_max, struct metrics *metrics)
{
    struct cache *cache = aligned_alloc(64, sizeof *cache);
    assert(cache);
    memset(cache, 0, sizeof *cache);
    cache->world = world;
    cache->shard_bytes_max = bytes_max / SHARDS;
    for (size_t i = 0; i < SHARDS; i++) {
        struct cache_shard *shard = &cache->shards[i];
        world_mutex_open(world, &shard->lock);
        shard->slot_count = SLOTS_FIRST;
        shard->slots = calloc(SLOTS_FIRST, sizeof *shard->slots);
        assert(shard->slots);
    }
    if (metrics) {
        metrics_register(metrics, &cache->hits, METRIC_COUNTER, "stator_cache_hits_total", "Item reads that the cache answered.", "");
        metrics_register(metrics, &cache->misses, METRIC_COUNTER, "stator_cache_misses_total", "Item reads that went on to the store.", "");
        metrics_register(metrics, &cache->held_bytes, METRIC_GAUGE, "stator_cache_bytes", "Bytes that the item cache holds.", "");
    }
    return cache;
}

void cache_free(struct cache *cache)
{
    for (size_t i = 0; i < SHARDS; i++) {
        struct cache_shard *shard = &cache->shards[i];
        while (shard->newest) {
            struct cache_entry *entry = shard->newest;
            shard->newest = entry->older;
            free(entry);
        }
        free(shard->slots);
        world_mutex_close(cache->world, &shard->lock);
    }
    free(cache);
}

static size_t entry_bytes(const struct cache_entry *entry)
{
    return sizeof *entry + ENTRY_OVERHEAD_BYTES + entry->key_bytes + entry->value_bytes;
}

static struct cache_shard *shard_of(struct cache *cache, uint64_t hash)
{
    return &cache->shards[hash >> 60];
}

static struct cache_entry **slot_of(const struct cache_shard *shard, uint64_t hash)
{
    return &shard->slots[hash & (shard->slot_count - 1)];
}

static struct cache_entry **find(const struct cache_shard *shard, uint64_t hash, uint64_t range_number, str key)
{
    struct cache_entry **at = slot_of(shard, hash);
    while (*at && !((*at)->hash == hash && (*at)->range_number == range_number && str_equal(str_of((*at)->bytes, (*at)->key_bytes), key)))
        at = &(*at)->chain;
    return at;
}

static void list_remove(struct cache_shard *shard, struct cache_entry *entry)
{
    *(entry->newer ? &entry->newer->older : &shard->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &shard->oldest) = entry->newer;
}

static void list_add(struct cache_shard *shard, struct cache_entry *entry)
{
    entry->newer = NULL;
    entry->older = shard->newest;
    *(shard->newest ? &shard->newest->newer : &shard->oldest) = entry;
    shard->newest = entry;
}

static void remove_at(struct cache *cache, struct cache_shard *shard, struct cache_entry **at)
{
    struct cache_entry *entry = *at;
    *at = entry->chain;
    list_remove(shard, entry);
    shard->count--;
    shard->bytes -= entry_bytes(entry);
    metric_add(&cache->held_bytes, -(int64_t)entry_bytes(entry));
    free(entry);
}

static void make_room(struct cache *cache, struct cache_shard *shard, size_t bytes)
{
    while (shard->oldest && shard->bytes + bytes > cache->shard_bytes_max) {
        struct cache_entry *entry = shard->oldest;
        if (entry->was_used) {
            PROBE("cache: an entry is spared");
            entry->was_used = false;
            list_remove(shard, entry);
            list_add(shard, entry);
            continue;
        }
        PROBE("cache: an entry gives way");
        struct cache_entry **at = slot_of(shard, entry->hash);
        while (*at != entry)
            at = &(*at)->chain;
        remove_at(cache, shard, at);
    }
}

static void grow(struct cache_shard *shard)
{
    size_t old_count = shard->slot_count;
    struct cache_entry **old = shard->slots;
    struct cache_entry **slots = calloc(old_count * 2, sizeof *slots);
    if (!slots)
        return; /* longer chains will do */
    shard->slots = slots;
    shard->slot_count = old_count * 2;
    for (size_t i = 0; i < old_count; i++) {
        while (old[i]) {
            struct cache_entry *entry = old[i];
            old[i] = entry->chain;
            struct cache_entry **at = slot_of(shard, entry->hash);
            entry->chain = *at;
            *at = entry;
        }
    }
    free(old);
}

bool cache_get(struct cache *cache, uint64_t range_number, str key, struct arena *arena, str *value)
{
    uint64_t hash = XXH3_64bits_withSeed(key.data, key.len, range_number);
    struct cache_shard *shard = shard_of(cache, hash);
    world_lock(cache->world, &shard->lock);
    struct cache_entry *entry = *find(shard, hash, range_number, key);
    if (entry) {
        entry->was_used = true;
        *value = entry->value_bytes > 0 ? arena_copy(arena, str_of(entry->bytes + entry->key_bytes, entry->value_bytes)) : STR_NONE;
    }
    world_unlock(cache->world, &shard->lock);
    metric_add(entry ? &cache->hits : &cache->misses, 1);
    return entry != NULL;
}

void cache_put(struct cache *cache, uint64_t range_number, str key, str value)
{
    uint64_t hash = XXH3_64bits_withSeed(key.data, key.len, range_number);
    struct cache_shard *shard = shard_of(cache, hash);
    size_t bytes = sizeof(struct cache_entry) + ENTRY_OVERHEAD_BYTES + key.len + value.len;
    /* One item must not empty a shard. */
    bool fits = bytes <= cache->shard_bytes_max / 4;
    struct cache_entry *entry = fits ? malloc(sizeof *entry + key.len + value.len) : NULL;
    if (entry) {
        *entry = (struct cache_entry){.hash = hash, .range_number = range_number, .key_bytes = (uint32_t)key.len, .value_bytes = (uint32_t)value.len};
        memcpy(entry->bytes, key.data, key.len);
        if (value.len > 0)
            memcpy(entry->bytes + key.len, value.data, value.len);
    }
    world_lock(cache->world, &shard->lock);
    struct cache_entry **at = find(shard, hash, range_number, key);
    if (*at)
        remove_at(cache, shard, at);
    if (entry) {
        make_room(cache, shard, bytes);
        if (shard->count >= shard->slot_count)
            grow(shard);
        at = slot_of(shard, hash);
        entry->chain = *at;
        *at = entry;
        list_add(shard, entry);
        shard->count++;
        shard->bytes += bytes;
        metric_add(&cache->held_bytes, (int64_t)bytes);
    }
    world_unlock(cache->world, &shard->lock);
}

void cache_forget_range(struct cache *cache, uint64_t range_number)
{
    for (size_t i = 0; i < SHARDS; i++) {
        struct cache_shard *shard = &cache->shards[i];
        world_lock(cache->world, &shard->lock);
        for (size_t slot = 0; slot < shard->slot_count; slot++) {
            struct cache_entry **at = &shard->slots[slot];
            while (*at) {
                if ((*at)->range_number == range_number)
                    remove_at(cache, shard, at);
                else
                    at = &(*at)->chain;
            }
        }
        world_unlock(cache->world, &shard->lock);
    }
}
