/* The errors of Stator: one list, fault.def, with each one's name and status on the wire (invariant I9). */
#ifndef STATOR_BASE_FAULT_H
#define STATOR_BASE_FAULT_H

#include "base/str.h"

enum fault {
    FAULT_NONE = 0,
#define FAULT(id, name, namespace, status) FAULT_##id,
#include "base/fault.def"
#undef FAULT
    FAULT_COUNT
};

#define MUST_USE __attribute__((warn_unused_result))

/* Passes a fault up: the message was recorded where the fault is known. */
#define TRY(expression)                   \
    do {                                  \
        enum fault try_fault = (expression); \
        if (try_fault != FAULT_NONE)      \
            return try_fault;             \
    } while (0)

/* "ValidationException" */
str fault_name(enum fault fault);

/* "com.amazon.coral.validate#" */
str fault_namespace(enum fault fault);

/* 400, 413, 500 or 503 */
int fault_http_status(enum fault fault);

/* Whether clients find the text under "Message" instead of "message" (reference wire.md section 3). */
bool fault_message_is_capital(enum fault fault);

#endif
