/* Time, chance and threads: the only door to them for everything below http and cli (invariant I5).
   `world_real` uses the machine's; `world_sim` runs the same code under a scheduler drawn from a seed. */
#ifndef STATOR_WORLD_WORLD_H
#define STATOR_WORLD_WORLD_H

#include "base/bytes.h"
#include "base/str.h"

#include <pthread.h>
#include <stdint.h>

struct world;
struct world_thread;

/* A lock. Not recursive. */
struct world_mutex {
    pthread_mutex_t real;
    struct world_thread *sim_owner; /* simulated world only */
};

/* A condition to wait for, with the lock that guards it. */
struct world_cond {
    pthread_cond_t real;            /* its time-outs use the monotonic clock */
};

struct world_ops {
    /* Microseconds since 1970, may step. What is stored and shown. */
    int64_t (*wall_us)(struct world *);
    /* Microseconds that never fall. Leases, buckets, time-outs. */
    int64_t (*mono_us)(struct world *);
    /* Fills with unpredictable bytes (real: the kernel's), or with the seed's (sim). */
    void (*random)(struct world *, void *bytes, size_t count);
    void (*sleep_us)(struct world *, int64_t duration_us);
    /* Never NULL: a machine that cannot start a thread ends the program with one line. `name` at most 15 bytes. */
    struct world_thread *(*thread_start)(struct world *, const char *name, void (*run)(void *), void *argument);
    /* Waits for the thread's end and frees it. */
    void (*thread_join)(struct world *, struct world_thread *);
    void (*mutex_open)(struct world *, struct world_mutex *);
    void (*mutex_close)(struct world *, struct world_mutex *);
    void (*lock)(struct world *, struct world_mutex *);
    void (*unlock)(struct world *, struct world_mutex *);
    void (*cond_open)(struct world *, struct world_cond *);
    void (*cond_close)(struct world *, struct world_cond *);
    /* Waits with the lock given up; may wake for nothing. Returns false after timeout_us (below 0: for ever). */
    bool (*wait)(struct world *, struct world_cond *, struct world_mutex *, int64_t timeout_us);
    void (*wake_one)(struct world *, struct world_cond *);
    void (*wake_all)(struct world *, struct world_cond *);
    /* A point where the simulated scheduler may let another thread go on; nothing in the real world. */
    void (*turn)(struct world *);
    /* See world_free. */
    void (*close)(struct world *);
};

struct world {
    const struct world_ops *ops;
};

/* The machine's clocks, chance and threads. */
struct world *world_real_new(void);

struct world_sim_options {
    uint64_t seed;
    int64_t wall_start_us;      /* wall time at the start */
    uint32_t clock_step_percent; /* 0..100: chance, at each clock jump, that the wall clock steps back or forward by up to a second */
};

/* A simulated world: its threads are real ones that pass a baton, one at a time; every lock, wait, sleep, turn and
   thread start is a point where the seed picks who goes next; when all sleep the clocks jump to the first that wakes.
   The thread that makes the world is its first thread. When every thread waits for ever the program prints who waits
   and aborts: a deadlock is a finding. */
struct world *world_sim_new(const struct world_sim_options *options);

/* A hash of every choice made so far: equal for equal seeds and programs. */
uint64_t world_sim_fingerprint(const struct world *world);

/* All threads started in it must have been joined. */
static inline void world_free(struct world *w) { w->ops->close(w); }

static inline int64_t world_wall_us(struct world *w) { return w->ops->wall_us(w); }
static inline int64_t world_mono_us(struct world *w) { return w->ops->mono_us(w); }
static inline void world_random(struct world *w, void *bytes, size_t count) { w->ops->random(w, bytes, count); }
static inline void world_sleep_us(struct world *w, int64_t us) { w->ops->sleep_us(w, us); }
static inline struct world_thread *world_thread_start(struct world *w, const char *name, void (*run)(void *), void *argument)
{
    return w->ops->thread_start(w, name, run, argument);
}
static inline void world_thread_join(struct world *w, struct world_thread *t) { w->ops->thread_join(w, t); }
static inline void world_mutex_open(struct world *w, struct world_mutex *m) { w->ops->mutex_open(w, m); }
static inline void world_mutex_close(struct world *w, struct world_mutex *m) { w->ops->mutex_close(w, m); }
static inline void world_lock(struct world *w, struct world_mutex *m) { w->ops->lock(w, m); }
static inline void world_unlock(struct world *w, struct world_mutex *m) { w->ops->unlock(w, m); }
static inline void world_cond_open(struct world *w, struct world_cond *c) { w->ops->cond_open(w, c); }
static inline void world_cond_close(struct world *w, struct world_cond *c) { w->ops->cond_close(w, c); }
static inline bool world_wait(struct world *w, struct world_cond *c, struct world_mutex *m, int64_t timeout_us)
{
    return w->ops->wait(w, c, m, timeout_us);
}
static inline void world_wake_one(struct world *w, struct world_cond *c) { w->ops->wake_one(w, c); }
static inline void world_wake_all(struct world *w, struct world_cond *c) { w->ops->wake_all(w, c); }
static inline void world_turn(struct world *w) { w->ops->turn(w); }

/* A number in [0, bound); bound above 0. */
uint64_t world_random_below(struct world *world, uint64_t bound);

/* 122 random bits with version 4's marks. */
struct uuid world_uuid(struct world *world);

#endif
