/* PROBE: marks a rare branch, so that a torture run can say which of them it never reached. */
#ifndef STATOR_BASE_PROBE_H
#define STATOR_BASE_PROBE_H

#include <stdatomic.h>

struct probe {
    const char *name;
    atomic_uint hits;
};

/* PROBE("group failed") counts that the branch was taken. Probes live in a linker section of their own; they are
   counters for test runs and decide nothing, so they are the one exception to invariant I8. */
#define PROBE(text)                                                                                             \
    do {                                                                                                        \
        static struct probe probe_here __attribute__((section("stator_probes"), used, aligned(16))) = {text, 0}; \
        atomic_fetch_add_explicit(&probe_here.hits, 1, memory_order_relaxed);                                   \
    } while (0)

/* Calls `visit` for every probe linked into the program. */
void probes_each(void (*visit)(const struct probe *probe, void *context), void *context);

#endif
