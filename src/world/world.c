/* What both worlds share: numbers and UUIDs from their random bytes, and the start of a call. */
#include "world/world.h"

#include "base/call.h"

#include <assert.h>

uint64_t world_random_below(struct world *world, uint64_t bound)
{
    assert(bound > 0);
    /* Values under 2^64 mod bound are drawn again, so that every remainder is equally likely. */
    uint64_t least = -bound % bound;
    for (;;) {
        uint64_t drawn;
        world_random(world, &drawn, sizeof drawn);
        if (drawn >= least)
            return drawn % bound;
    }
}

struct uuid world_uuid(struct world *world)
{
    struct uuid id;
    world_random(world, id.bytes, sizeof id.bytes);
    id.bytes[6] = (uint8_t)((id.bytes[6] & 0x0f) | 0x40);
    id.bytes[8] = (uint8_t)((id.bytes[8] & 0x3f) | 0x80);
    return id;
}

/* Declared in base/call.h; here, because base is below world and a call's start needs the clock. */
void call_open(struct call *call, struct world *world, struct memory_budget *budget)
{
    *call = (struct call){.world = world, .now_us = world ? world_wall_us(world) : 0};
    arena_open(&call->arena, budget);
    durable_wait_open(&call->durable, NULL, NULL);
}
