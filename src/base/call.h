/* One request's context: its memory, its time, its error, and what its answer still waits for. */
#ifndef STATOR_BASE_CALL_H
#define STATOR_BASE_CALL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/str.h"

#include <stdatomic.h>
#include <stdint.h>

struct world;

/* How validation errors are worded: AWS reworded them in mid-2026, and not for every operation. A call begins in its server's
   wording (CURRENT or CLASSIC: what wire_check renders constraints in); the operation then narrows it for its semantic checks. */
enum wording {
    WORDING_CURRENT,      /* PutItem, UpdateItem, DeleteItem: new texts, behind "1 validation error detected: " */
    WORDING_CLASSIC,      /* all of it before June 2026; also batch writes and transactions to this day */
    WORDING_CURRENT_BARE  /* GetItem, BatchGetItem, Query: new texts without the prefix */
};

/* Counts what must be durable before an answer may leave (architecture section 1, point 4). A call starts with one hold
   of its own, which whoever sends the answer releases once the answer is built. */
struct durable_wait {
    atomic_uint holds;
    atomic_int fault;                     /* the first enum fault that a release reported, or FAULT_NONE */
    void (*done)(struct durable_wait *);  /* called once, when the last hold is released, by the thread that releases it */
    void *owner;
};

struct call {
    struct arena arena;
    struct world *world;
    int64_t now_us;            /* wall time when the call began, microseconds since 1970 */
    enum wording wording;
    enum fault fault;          /* the first fault recorded, or FAULT_NONE */
    str message;               /* what the client reads; in the arena */
    str failed_item;           /* item bytes that a ConditionalCheckFailedException shows as Item; empty: none */
    struct durable_wait durable;
};

/* Places a call. `budget` may be NULL. now_us is read from the world when there is one. */
void call_open(struct call *call, struct world *world, struct memory_budget *budget);
void call_close(struct call *call);

/* Forgets the recorded fault, so that the call may go on: for a batch's members and for tests. */
void call_clear_fault(struct call *call);

/* Records the fault and its message, once: a later fault does not replace the first. Returns the fault. */
__attribute__((format(printf, 3, 4))) enum fault fail(struct call *call, enum fault fault, const char *format, ...);

/* A semantic validation error that current AWS prefixes with "1 validation error detected: " and classic AWS does not
   (reference expressions.md section 5, last row). */
__attribute__((format(printf, 2, 3))) enum fault fail_reworded(struct call *call, const char *format, ...);

void durable_wait_open(struct durable_wait *wait, void (*done)(struct durable_wait *), void *owner);
void durable_wait_hold(struct durable_wait *wait);

/* `fault` other than FAULT_NONE: what was waited for did not become durable. */
void durable_wait_release(struct durable_wait *wait, enum fault fault);

/* Whether anything but the caller's own hold is outstanding. */
bool durable_wait_is_pending(struct durable_wait *wait);

#endif
