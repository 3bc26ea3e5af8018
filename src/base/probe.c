/* Walks the linker section that PROBE fills. */
#include "base/probe.h"

#include <stddef.h>

/* Weak, because a program may be linked without any probe. */
extern struct probe __start_stator_probes[] __attribute__((weak));
extern struct probe __stop_stator_probes[] __attribute__((weak));

void probes_each(void (*visit)(const struct probe *probe, void *context), void *context)
{
    for (struct probe *probe = __start_stator_probes; probe && probe < __stop_stator_probes; probe++)
        visit(probe, context);
}
