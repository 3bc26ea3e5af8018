/* The real world: the machine's clocks, chance and threads. */
#include "world/world.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

struct world_thread {
    pthread_t thread;
    void (*run)(void *);
    void *argument;
};

static int64_t clock_us(clockid_t id)
{
    struct timespec now;
    int failed = clock_gettime(id, &now);
    assert(!failed);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t real_wall_us(struct world *world)
{
    (void)world;
    return clock_us(CLOCK_REALTIME);
}

static int64_t real_mono_us(struct world *world)
{
    (void)world;
    return clock_us(CLOCK_MONOTONIC);
}

static void real_random(struct world *world, void *bytes, size_t count)
{
    (void)world;
    char *at = bytes;
    while (count > 0) {
        ssize_t got = getrandom(at, count, 0);
        if (got < 0) {
            assert(errno == EINTR);
            continue;
        }
        at += got;
        count -= (size_t)got;
    }
}

static void real_sleep_us(struct world *world, int64_t duration_us)
{
    (void)world;
    if (duration_us <= 0)
        return;
    struct timespec left = {.tv_sec = duration_us / 1000000, .tv_nsec = duration_us % 1000000 * 1000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

static void *thread_main(void *argument)
{
    struct world_thread *thread = argument;
    thread->run(thread->argument);
    return NULL;
}

static struct world_thread *real_thread_start(struct world *world, const char *name, void (*run)(void *), void *argument)
{
    (void)world;
    struct world_thread *thread = malloc(sizeof *thread);
    if (thread) {
        *thread = (struct world_thread){.run = run, .argument = argument};
        /* Signals belong to the thread that started the program. */
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int failed = pthread_create(&thread->thread, NULL, thread_main, thread);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (!failed) {
            pthread_setname_np(thread->thread, name);
            return thread;
        }
    }
    fprintf(stderr, "stator: the machine cannot start the thread \"%s\"\n", name);
    abort();
}

static void real_thread_join(struct world *world, struct world_thread *thread)
{
    (void)world;
    int failed = pthread_join(thread->thread, NULL);
    assert(!failed);
    free(thread);
}

static void real_mutex_open(struct world *world, struct world_mutex *mutex)
{
    (void)world;
    int failed = pthread_mutex_init(&mutex->real, NULL);
    assert(!failed);
    mutex->sim_owner = NULL;
}

static void real_mutex_close(struct world *world, struct world_mutex *mutex)
{
    (void)world;
    int failed = pthread_mutex_destroy(&mutex->real);
    assert(!failed);
}

static void real_lock(struct world *world, struct world_mutex *mutex)
{
    (void)world;
    int failed = pthread_mutex_lock(&mutex->real);
    assert(!failed);
}

static void real_unlock(struct world *world, struct world_mutex *mutex)
{
    (void)world;
    int failed = pthread_mutex_unlock(&mutex->real);
    assert(!failed);
}

static void real_cond_open(struct world *world, struct world_cond *cond)
{
    (void)world;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    int failed = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) || pthread_cond_init(&cond->real, &attributes);
    assert(!failed);
    pthread_condattr_destroy(&attributes);
}

static void real_cond_close(struct world *world, struct world_cond *cond)
{
    (void)world;
    int failed = pthread_cond_destroy(&cond->real);
    assert(!failed);
}

static bool real_wait(struct world *world, struct world_cond *cond, struct world_mutex *mutex, int64_t timeout_us)
{
    (void)world;
    if (timeout_us < 0) {
        int failed = pthread_cond_wait(&cond->real, &mutex->real);
        assert(!failed);
        return true;
    }
    int64_t until_us = clock_us(CLOCK_MONOTONIC);
    until_us = timeout_us > INT64_MAX - until_us ? INT64_MAX : until_us + timeout_us;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    int failed = pthread_cond_timedwait(&cond->real, &mutex->real, &until);
    assert(!failed || failed == ETIMEDOUT);
    return !failed;
}

static void real_wake_one(struct world *world, struct world_cond *cond)
{
    (void)world;
    pthread_cond_signal(&cond->real);
}

static void real_wake_all(struct world *world, struct world_cond *cond)
{
    (void)world;
    pthread_cond_broadcast(&cond->real);
}

static void real_turn(struct world *world)
{
    (void)world;
}

static void real_close(struct world *world)
{
    free(world);
}

struct world *world_real_new(void)
{
    static const struct world_ops ops = {
        .wall_us = real_wall_us,
        .mono_us = real_mono_us,
        .random = real_random,
        .sleep_us = real_sleep_us,
        .thread_start = real_thread_start,
        .thread_join = real_thread_join,
        .mutex_open = real_mutex_open,
        .mutex_close = real_mutex_close,
        .lock = real_lock,
        .unlock = real_unlock,
        .cond_open = real_cond_open,
        .cond_close = real_cond_close,
        .wait = real_wait,
        .wake_one = real_wake_one,
        .wake_all = real_wake_all,
        .turn = real_turn,
        .close = real_close,
    };
    struct world *world = malloc(sizeof *world);
    assert(world);
    world->ops = &ops;
    return world;
}
