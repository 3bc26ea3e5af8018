/* The simulated world: real threads that pass a baton, one at a time, as a seed says.
 *
 * Only the thread that holds the baton runs, and only it touches the state below, so the state needs no lock; handing the
 * baton over (sem_post, sem_wait) orders memory between the two threads. Nothing that differs between two runs (addresses,
 * thread ids of the machine, its clocks) takes part in a choice. */
#include "world/world.h"

#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum thread_state { READY, AT_LOCK, AT_COND, ASLEEP, AT_JOIN, ENDED };

struct world_thread {
    sem_t baton;
    pthread_t thread;
    struct world_sim *sim;
    char name[16];
    void (*run)(void *);
    void *argument;
    enum thread_state state;
    const void *waits_for; /* the lock, the condition or the thread */
    int64_t until_us;      /* monotonic; INT64_MAX: for ever */
    bool timed_out;
    uint32_t number;       /* in order of starting */
};

enum { THREADS_MAX = 256 };

struct world_sim {
    struct world world;
    uint64_t choice_state;
    uint64_t random_state;
    uint64_t fingerprint;
    int64_t mono_us;
    int64_t wall_offset_us;      /* wall time is mono_us and this */
    uint32_t clock_step_percent;
    uint32_t stay_percent;       /* chance that a turn leaves the baton where it is: some seeds run in long stretches, some in short ones */
    struct world_thread *current;
    struct world_thread *threads[THREADS_MAX]; /* by number */
    uint32_t count;
    uint32_t started;
};

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint32_t choose_below(struct world_sim *sim, uint32_t bound)
{
    return (uint32_t)((draw(&sim->choice_state) >> 32) * bound >> 32);
}

static void note(struct world_sim *sim, uint64_t choice)
{
    uint64_t state = sim->fingerprint ^ choice;
    sim->fingerprint = draw(&state);
}

static struct world_sim *sim_of(struct world *world)
{
    struct world_sim *sim = (struct world_sim *)world;
    assert(pthread_equal(sim->current->thread, pthread_self()));
    return sim;
}

static void report_deadlock(const struct world_sim *sim)
{
    fprintf(stderr, "stator: every simulated thread waits for ever:\n");
    for (uint32_t i = 0; i < sim->count; i++) {
        static const char *const states[] = {"is ready", "waits for a lock", "waits for a condition", "sleeps", "joins", "has ended"};
        const struct world_thread *thread = sim->threads[i];
        const char *whose = "";
        if (thread->state == AT_LOCK)
            whose = ((const struct world_mutex *)thread->waits_for)->sim_owner->name;
        else if (thread->state == AT_JOIN)
            whose = ((const struct world_thread *)thread->waits_for)->name;
        fprintf(stderr, "  %u %s: %s%s%s\n", thread->number, thread->name, states[thread->state], whose[0] ? " of " : "", whose);
    }
    abort();
}

/* Threads whose time has come are ready; returns how many are ready in all. */
static uint32_t wake_due(struct world_sim *sim, int64_t *first_us)
{
    uint32_t ready = 0;
    *first_us = INT64_MAX;
    for (uint32_t i = 0; i < sim->count; i++) {
        struct world_thread *thread = sim->threads[i];
        if ((thread->state == AT_COND || thread->state == ASLEEP) && thread->until_us != INT64_MAX) {
            if (thread->until_us <= sim->mono_us) {
                thread->timed_out = true;
                thread->state = READY;
            } else if (thread->until_us < *first_us) {
                *first_us = thread->until_us;
            }
        }
        ready += thread->state == READY;
    }
    return ready;
}

static void jump(struct world_sim *sim, int64_t to_us)
{
    sim->mono_us = to_us;
    if (sim->clock_step_percent > 0 && choose_below(sim, 100) < sim->clock_step_percent)
        sim->wall_offset_us += (int64_t)choose_below(sim, 2000001) - 1000000;
}

static struct world_thread *choose(struct world_sim *sim)
{
    sim->mono_us += choose_below(sim, 3);
    int64_t first_us;
    uint32_t ready = wake_due(sim, &first_us);
    while (ready == 0) {
        if (first_us == INT64_MAX)
            report_deadlock(sim);
        jump(sim, first_us);
        ready = wake_due(sim, &first_us);
    }
    uint32_t skip = choose_below(sim, ready);
    for (uint32_t i = 0;; i++) {
        struct world_thread *thread = sim->threads[i];
        if (thread->state == READY && skip-- == 0) {
            note(sim, ((uint64_t)ready << 32) | thread->number);
            return thread;
        }
    }
}

static void take_baton(struct world_thread *thread)
{
    while (sem_wait(&thread->baton) != 0)
        assert(errno == EINTR);
}

/* Gives the baton to whom the seed says, and returns when it is back. */
static void pass(struct world_sim *sim)
{
    struct world_thread *self = sim->current;
    struct world_thread *next = choose(sim);
    if (next == self)
        return;
    sim->current = next;
    sem_post(&next->baton);
    take_baton(self);
    assert(sim->current == self);
}

static void turn(struct world_sim *sim)
{
    if (sim->count > 1 && choose_below(sim, 100) >= sim->stay_percent)
        pass(sim);
}

static void block(struct world_sim *sim, enum thread_state state, const void *waits_for, int64_t until_us)
{
    struct world_thread *self = sim->current;
    self->state = state;
    self->waits_for = waits_for;
    self->until_us = until_us;
    self->timed_out = false;
    pass(sim);
    self->waits_for = NULL;
}

static void ready_all(struct world_sim *sim, enum thread_state state, const void *waits_for)
{
    for (uint32_t i = 0; i < sim->count; i++)
        if (sim->threads[i]->state == state && sim->threads[i]->waits_for == waits_for)
            sim->threads[i]->state = READY;
}

static int64_t deadline(const struct world_sim *sim, int64_t duration_us)
{
    return duration_us > INT64_MAX - 1 - sim->mono_us ? INT64_MAX - 1 : sim->mono_us + duration_us;
}

static int64_t sim_wall_us(struct world *world)
{
    struct world_sim *sim = sim_of(world);
    return sim->mono_us + sim->wall_offset_us;
}

static int64_t sim_mono_us(struct world *world)
{
    return sim_of(world)->mono_us;
}

static void sim_random(struct world *world, void *bytes, size_t count)
{
    struct world_sim *sim = sim_of(world);
    char *at = bytes;
    while (count > 0) {
        uint64_t drawn = draw(&sim->random_state);
        note(sim, drawn);
        size_t piece = count < sizeof drawn ? count : sizeof drawn;
        memcpy(at, &drawn, piece);
        at += piece;
        count -= piece;
    }
}

static void sim_sleep_us(struct world *world, int64_t duration_us)
{
    struct world_sim *sim = sim_of(world);
    block(sim, ASLEEP, NULL, deadline(sim, duration_us > 0 ? duration_us : 0));
}

static void thread_add(struct world_sim *sim, struct world_thread *thread)
{
    assert(sim->count < THREADS_MAX);
    thread->number = sim->started++;
    thread->state = READY;
    sim->threads[sim->count++] = thread;
}

static struct world_thread *thread_new(struct world_sim *sim, const char *name)
{
    struct world_thread *thread = calloc(1, sizeof *thread);
    assert(thread);
    thread->sim = sim;
    snprintf(thread->name, sizeof thread->name, "%s", name);
    int failed = sem_init(&thread->baton, 0, 0);
    assert(!failed);
    return thread;
}

static void thread_free(struct world_thread *thread)
{
    sem_destroy(&thread->baton);
    free(thread);
}

static void *thread_main(void *argument)
{
    struct world_thread *self = argument;
    struct world_sim *sim = self->sim;
    take_baton(self);
    self->run(self->argument);
    self->state = ENDED;
    ready_all(sim, AT_JOIN, self);
    struct world_thread *next = choose(sim);
    sim->current = next;
    sem_post(&next->baton);
    return NULL;
}

static struct world_thread *sim_thread_start(struct world *world, const char *name, void (*run)(void *), void *argument)
{
    struct world_sim *sim = sim_of(world);
    struct world_thread *thread = thread_new(sim, name);
    thread->run = run;
    thread->argument = argument;
    if (pthread_create(&thread->thread, NULL, thread_main, thread) != 0) {
        fprintf(stderr, "stator: the machine cannot start the thread \"%s\"\n", name);
        abort();
    }
    thread_add(sim, thread);
    turn(sim);
    return thread;
}

static void sim_thread_join(struct world *world, struct world_thread *thread)
{
    struct world_sim *sim = sim_of(world);
    if (thread->state != ENDED)
        block(sim, AT_JOIN, thread, INT64_MAX);
    assert(thread->state == ENDED);
    int failed = pthread_join(thread->thread, NULL);
    assert(!failed);
    uint32_t at = 0;
    while (sim->threads[at] != thread)
        at++;
    sim->count--;
    memmove(&sim->threads[at], &sim->threads[at + 1], (sim->count - at) * sizeof *sim->threads);
    thread_free(thread);
}

static void sim_mutex_open(struct world *world, struct world_mutex *mutex)
{
    (void)world;
    mutex->sim_owner = NULL;
}

static void sim_mutex_close(struct world *world, struct world_mutex *mutex)
{
    (void)world;
    assert(!mutex->sim_owner);
}

static void take_lock(struct world_sim *sim, struct world_mutex *mutex)
{
    assert(mutex->sim_owner != sim->current); /* not recursive */
    while (mutex->sim_owner)
        block(sim, AT_LOCK, mutex, INT64_MAX);
    mutex->sim_owner = sim->current;
}

static void give_lock(struct world_sim *sim, struct world_mutex *mutex)
{
    assert(mutex->sim_owner == sim->current);
    mutex->sim_owner = NULL;
    ready_all(sim, AT_LOCK, mutex);
}

static void sim_lock(struct world *world, struct world_mutex *mutex)
{
    struct world_sim *sim = sim_of(world);
    turn(sim);
    take_lock(sim, mutex);
}

static void sim_unlock(struct world *world, struct world_mutex *mutex)
{
    struct world_sim *sim = sim_of(world);
    give_lock(sim, mutex);
    turn(sim);
}

static void sim_cond_open(struct world *world, struct world_cond *cond)
{
    (void)world;
    (void)cond;
}

static void sim_cond_close(struct world *world, struct world_cond *cond)
{
    struct world_sim *sim = sim_of(world);
    for (uint32_t i = 0; i < sim->count; i++)
        assert(sim->threads[i]->state != AT_COND || sim->threads[i]->waits_for != cond);
}

static bool sim_wait(struct world *world, struct world_cond *cond, struct world_mutex *mutex, int64_t timeout_us)
{
    struct world_sim *sim = sim_of(world);
    give_lock(sim, mutex);
    bool woken = true;
    if (choose_below(sim, 64) == 0) { /* for nothing: callers must look again at what they wait for */
        pass(sim);
    } else {
        block(sim, AT_COND, cond, timeout_us < 0 ? INT64_MAX : deadline(sim, timeout_us));
        woken = !sim->current->timed_out;
    }
    take_lock(sim, mutex);
    return woken;
}

static void sim_wake_one(struct world *world, struct world_cond *cond)
{
    struct world_sim *sim = sim_of(world);
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < sim->count; i++)
        waiting += sim->threads[i]->state == AT_COND && sim->threads[i]->waits_for == cond;
    if (waiting == 0)
        return;
    uint32_t skip = choose_below(sim, waiting);
    for (uint32_t i = 0; i < sim->count; i++) {
        struct world_thread *thread = sim->threads[i];
        if (thread->state == AT_COND && thread->waits_for == cond && skip-- == 0) {
            thread->state = READY;
            return;
        }
    }
}

static void sim_wake_all(struct world *world, struct world_cond *cond)
{
    ready_all(sim_of(world), AT_COND, cond);
}

static void sim_turn(struct world *world)
{
    turn(sim_of(world));
}

static void sim_close(struct world *world)
{
    struct world_sim *sim = sim_of(world);
    assert(sim->count == 1);
    thread_free(sim->threads[0]);
    free(sim);
}

static const struct world_ops sim_ops = {
    .wall_us = sim_wall_us,
    .mono_us = sim_mono_us,
    .random = sim_random,
    .sleep_us = sim_sleep_us,
    .thread_start = sim_thread_start,
    .thread_join = sim_thread_join,
    .mutex_open = sim_mutex_open,
    .mutex_close = sim_mutex_close,
    .lock = sim_lock,
    .unlock = sim_unlock,
    .cond_open = sim_cond_open,
    .cond_close = sim_cond_close,
    .wait = sim_wait,
    .wake_one = sim_wake_one,
    .wake_all = sim_wake_all,
    .turn = sim_turn,
    .close = sim_close,
};

struct world *world_sim_new(const struct world_sim_options *options)
{
    static const uint32_t stays[] = {0, 50, 80, 95};
    struct world_sim *sim = calloc(1, sizeof *sim);
    assert(sim);
    sim->world.ops = &sim_ops;
    sim->choice_state = options->seed;
    sim->random_state = draw(&sim->choice_state);
    sim->mono_us = 1000000;
    sim->wall_offset_us = options->wall_start_us - sim->mono_us;
    sim->clock_step_percent = options->clock_step_percent;
    sim->stay_percent = stays[choose_below(sim, 4)];
    struct world_thread *first = thread_new(sim, "first");
    first->thread = pthread_self();
    thread_add(sim, first);
    sim->current = first;
    return &sim->world;
}

uint64_t world_sim_fingerprint(const struct world *world)
{
    return ((const struct world_sim *)world)->fingerprint;
}
