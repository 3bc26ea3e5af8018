/* `stator bench`: hands over to the measurements. */
#include "cli/cli_internal.h"

#include "bench/bench.h"

int cli_bench(int argc, char **argv)
{
    return bench_main(argc, argv);
}
