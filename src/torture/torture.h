/* Fault-injection runs of the engine: `stator torture`. */
#ifndef STATOR_TORTURE_TORTURE_H
#define STATOR_TORTURE_TORTURE_H

/* argv[0] is the command's name. 0: no finding; 1: a finding; 2: used wrongly. */
int torture_main(int argc, char **argv);

#endif
