/* `stator bench`: a load client that signs, and the floors that a server is compared with. */
#ifndef STATOR_BENCH_BENCH_H
#define STATOR_BENCH_BENCH_H

/* argv[0] is the command's name. 0: done; 1: failed, or a request was; 2: used wrongly. */
int bench_main(int argc, char **argv);

#endif
