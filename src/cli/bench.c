/* `stator bench`: hands over to the load client and the floors. */
#include "cli/cli_internal.h"

int cli_bench(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return CLI_FAILED;
}
