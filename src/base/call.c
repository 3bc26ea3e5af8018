/* A call's faults and what its answer waits for. call_open is in world/, which has the clock. */
#include "base/call.h"

#include <assert.h>

void call_close(struct call *call)
{
    arena_close(&call->arena);
}

void call_clear_fault(struct call *call)
{
    call->fault = FAULT_NONE;
    call->message = STR_NONE;
    call->failed_item = STR_NONE;
}

enum fault fail(struct call *call, enum fault fault, const char *format, ...)
{
    assert(fault != FAULT_NONE);
    if (call->fault == FAULT_NONE) {
        va_list arguments;
        va_start(arguments, format);
        call->message = arena_vprintf(&call->arena, format, arguments);
        va_end(arguments);
        call->fault = fault;
    }
    return fault;
}

enum fault fail_reworded(struct call *call, const char *format, ...)
{
    if (call->fault != FAULT_NONE)
        return FAULT_VALIDATION;
    va_list arguments;
    va_start(arguments, format);
    str text = arena_vprintf(&call->arena, format, arguments);
    va_end(arguments);
    return fail(call, FAULT_VALIDATION, "%s%.*s", call->wording == WORDING_CURRENT ? "1 validation error detected: " : "", STR_ARG(text));
}

void durable_wait_open(struct durable_wait *wait, void (*done)(struct durable_wait *), void *owner)
{
    atomic_init(&wait->holds, 1);
    atomic_init(&wait->fault, FAULT_NONE);
    wait->done = done;
    wait->owner = owner;
}

void durable_wait_hold(struct durable_wait *wait)
{
    unsigned before = atomic_fetch_add_explicit(&wait->holds, 1, memory_order_relaxed);
    assert(before > 0);
}

void durable_wait_release(struct durable_wait *wait, enum fault fault)
{
    int none = FAULT_NONE;
    if (fault != FAULT_NONE)
        atomic_compare_exchange_strong(&wait->fault, &none, (int)fault);
    /* Once the count has fallen the owner may free the wait, so what is called then is read before. */
    void (*done)(struct durable_wait *) = wait->done;
    unsigned before = atomic_fetch_sub_explicit(&wait->holds, 1, memory_order_acq_rel);
    assert(before > 0);
    if (before == 1 && done)
        done(wait);
}

bool durable_wait_is_pending(struct durable_wait *wait)
{
    return atomic_load_explicit(&wait->holds, memory_order_acquire) > 1;
}
