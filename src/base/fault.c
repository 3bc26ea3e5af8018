/* The wire side of each fault, from fault.def. */
#include "base/fault.h"

#include <assert.h>

struct fault_row {
    str name;
    str name_space;
    int status;
};

static const struct fault_row rows[FAULT_COUNT] = {
#define FAULT(id, name, namespace, status) [FAULT_##id] = {{"" name, sizeof(name) - 1}, {"" namespace, sizeof(namespace) - 1}, status},
#include "base/fault.def"
#undef FAULT
};

static const struct fault_row *row_of(enum fault fault)
{
    assert(fault > FAULT_NONE && fault < FAULT_COUNT);
    return &rows[fault];
}

str fault_name(enum fault fault)
{
    return row_of(fault)->name;
}

str fault_namespace(enum fault fault)
{
    return row_of(fault)->name_space;
}

int fault_http_status(enum fault fault)
{
    return row_of(fault)->status;
}

bool fault_message_is_capital(enum fault fault)
{
    return fault == FAULT_SERIALIZATION || fault == FAULT_ACCESS_DENIED;
}
