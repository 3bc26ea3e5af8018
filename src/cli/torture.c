/* `stator torture`: hands over to the torture runs. */
#include "cli/cli_internal.h"

#include "torture/torture.h"

int cli_torture(int argc, char **argv)
{
    return torture_main(argc, argv);
}
