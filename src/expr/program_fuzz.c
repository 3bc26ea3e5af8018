/* Bytes taken for a program: refused, or run without harm. The first byte chooses the kind. */
#include "expr/expr_run_internal.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    enum expr_kind kind = (enum expr_kind)(data[0] % EXPR_KINDS);
    str program = run_copy(str_of(data + 1, size - 1));
    if (expr_program_is_valid(program, kind)) {
        struct call call;
        str items[RUN_ITEMS];
        call_open(&call, NULL, NULL);
        run_items(&call, items);
        run_program(&call, kind, program, items, RUN_ITEMS);
        run_items_free(items);
        call_close(&call);
    }
    free((void *)program.data);
    return 0;
}
