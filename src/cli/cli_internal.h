/* What the files of this folder share: options of `stator serve` and the commands. */
#ifndef STATOR_CLI_CLI_INTERNAL_H
#define STATOR_CLI_CLI_INTERNAL_H

#include "api/api.h"
#include "base/call.h"
#include "base/log.h"
#include "cli/cli.h"

#include <stdint.h>
#include <stdio.h>

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_MISUSED = 2, CLI_PROBLEM_BYTES = 512 };

enum cli_store { CLI_STORE_ROCKS, CLI_STORE_MEMORY };
enum cli_capacity { CLI_CAPACITY_OFF, CLI_CAPACITY_SHADOW };

struct cli_serve_options {
    struct arena texts;       /* the values that the file gives */
    uint16_t port;
    const char *listen;
    const char *port_file;
    const char *data;
    bool memory;
    enum cli_store store;
    enum api_auth auth;
    const char *keys;
    enum wording wording;
    enum cli_capacity capacity;
    const char *config;
    enum log_form log;
    enum log_level log_level;
    const char *tls_certificate, *tls_key;
    unsigned threads;
    unsigned connections;
    unsigned idle_seconds;
    unsigned stop_seconds;
    unsigned status_ms;
    uint64_t memory_limit_bytes;
    uint64_t cache_bytes;
    uint64_t item_cache_bytes;
};

/* Reads flags, then the environment, then the file: what is named first counts. Texts point into argv, the environment or the options' own
   memory. CLI_DONE, or CLI_MISUSED with one clear line in `problem`; to be closed either way. */
int cli_serve_options_read(int argc, char **argv, struct cli_serve_options *options, char *problem, size_t problem_bytes);

void cli_serve_options_close(struct cli_serve_options *options);

/* The part of `stator help serve` that lists the options. */
void cli_serve_options_print(FILE *out);

/* The commands. argv[0] is the command's name. */
int cli_serve(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_torture(int argc, char **argv);
int cli_help(int argc, char **argv);
int cli_version(int argc, char **argv);

/* Says "stator: <problem>" on standard error, with a hint, and returns `status`. */
__attribute__((format(printf, 3, 4))) int cli_complain(int status, const char *command, const char *format, ...);

#endif
