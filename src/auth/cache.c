/* Signing keys, derived once a day for each access key and region: kept as HMAC states that have their padded key behind them, so that a
   signature costs what its text costs. Every key is looked up in one small shard under that shard's lock. */
#include "auth/auth_internal.h"

#include "world/world.h"

#include <assert.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <xxhash.h>

enum { SHARDS = 16, SLOTS = 8, ID_BYTES_MAX = 224 };

struct slot {
    uint64_t hash;
    size_t id_bytes;         /* 0: empty */
    char id[ID_BYTES_MAX];   /* secret, date and region, each behind its length */
    struct hmac_sha256_ctx signing;
};

struct shard {
    struct world_mutex mutex;
    unsigned next; /* the slot to be given up next */
    struct slot slots[SLOTS];
};

struct auth_cache {
    struct world *world;
    struct shard shards[SHARDS];
};

struct auth_cache *auth_cache_new(struct world *world)
{
    struct auth_cache *cache = calloc(1, sizeof *cache);
    assert(cache);
    cache->world = world;
    for (size_t i = 0; i < SHARDS; i++)
        world_mutex_open(world, &cache->shards[i].mutex);
    return cache;
}

void auth_cache_free(struct auth_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < SHARDS; i++)
        world_mutex_close(cache->world, &cache->shards[i].mutex);
    free(cache);
}

static void hmac_step(uint8_t key[SHA256_DIGEST_SIZE], size_t key_bytes, const uint8_t *secret, str text)
{
    struct hmac_sha256_ctx context;
    hmac_sha256_set_key(&context, key_bytes, secret);
    hmac_sha256_update(&context, text.len, (const uint8_t *)(text.data ? text.data : ""));
    hmac_sha256_digest(&context, SHA256_DIGEST_SIZE, key);
}

/* HMAC of HMAC of ...: "AWS4" + secret, date, region, service, terminator. */
static void derive(str secret, str date, str region, struct hmac_sha256_ctx *signing)
{
    struct arena arena;
    arena_open(&arena, NULL);
    str start = arena_printf(&arena, "AWS4%.*s", STR_ARG(secret));
    uint8_t key[SHA256_DIGEST_SIZE];
    hmac_step(key, start.len, (const uint8_t *)start.data, date);
    hmac_step(key, sizeof key, key, region);
    hmac_step(key, sizeof key, key, STR("dynamodb"));
    hmac_step(key, sizeof key, key, STR("aws4_request"));
    hmac_sha256_set_key(signing, sizeof key, key);
    arena_close(&arena);
}

/* False when it is too long to be kept. */
static bool make_id(str secret, str date, str region, char id[ID_BYTES_MAX], size_t *bytes)
{
    const str texts[] = {secret, date, region};
    size_t at = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].len > UINT8_MAX || at + 1 + texts[i].len > ID_BYTES_MAX)
            return false;
        id[at++] = (char)texts[i].len;
        memcpy(id + at, texts[i].len ? texts[i].data : "", texts[i].len);
        at += texts[i].len;
    }
    *bytes = at;
    return true;
}

static void signing_key(struct auth_cache *cache, str secret, str date, str region, struct hmac_sha256_ctx *signing)
{
    char id[ID_BYTES_MAX];
    size_t bytes;
    if (!cache || !make_id(secret, date, region, id, &bytes)) {
        derive(secret, date, region, signing);
        return;
    }
    uint64_t hash = XXH3_64bits(id, bytes);
    struct shard *shard = &cache->shards[hash % SHARDS];
    bool found = false;
    world_lock(cache->world, &shard->mutex);
    for (size_t i = 0; i < SLOTS && !found; i++) {
        struct slot *slot = &shard->slots[i];
        found = slot->hash == hash && slot->id_bytes == bytes && memcmp(slot->id, id, bytes) == 0;
        if (found)
            *signing = slot->signing;
    }
    world_unlock(cache->world, &shard->mutex);
    if (found)
        return;
    derive(secret, date, region, signing);
    world_lock(cache->world, &shard->mutex);
    struct slot *slot = &shard->slots[shard->next++ % SLOTS];
    slot->hash = hash;
    slot->id_bytes = bytes;
    memcpy(slot->id, id, bytes);
    slot->signing = *signing;
    world_unlock(cache->world, &shard->mutex);
}

void auth_signature(struct auth_cache *cache, str secret, str date, str region, str text, char signature[AUTH_HASH_TEXT_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    struct hmac_sha256_ctx context;
    uint8_t code[SHA256_DIGEST_SIZE];
    signing_key(cache, secret, date, region, &context);
    hmac_sha256_update(&context, text.len, (const uint8_t *)text.data);
    hmac_sha256_digest(&context, sizeof code, code);
    for (size_t at = 0; at < sizeof code; at++) {
        signature[2 * at] = digits[code[at] >> 4];
        signature[2 * at + 1] = digits[code[at] & 15];
    }
}
