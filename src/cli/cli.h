/* The commands of the one binary. */
#ifndef STATOR_CLI_CLI_H
#define STATOR_CLI_CLI_H

/* 0: done; 1: failed; 2: used wrongly. */
int cli_main(int argc, char **argv);

#endif
