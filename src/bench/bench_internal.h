/* What the files of this folder share: options, the load's messages, and its measurements. */
#ifndef STATOR_BENCH_BENCH_INTERNAL_H
#define STATOR_BENCH_BENCH_INTERNAL_H

#include "auth/auth.h"
#include "base/call.h"
#include "bench/bench.h"
#include "world/world.h"

#include <stdint.h>
#include <stdio.h>

enum { BENCH_DONE = 0, BENCH_FAILED = 1, BENCH_MISUSED = 2, BENCH_KEY_DIGITS = 8 };

enum bench_op { BENCH_GET, BENCH_PUT, BENCH_UPDATE, BENCH_QUERY, BENCH_SCAN };

struct bench_options {
    const char *url;
    enum bench_op op;
    unsigned connections;
    double seconds;
    uint64_t requests;       /* 0: as many as the seconds allow */
    unsigned item_bytes;
    unsigned keys;
    const char *table;
    const char *access_key, *secret, *region;
    bool sign;
    bool fill;               /* make the table and its items first */
    bool json;               /* print one JSON object */
    uint16_t port;           /* floor */
    const char *port_file;   /* floor */
    bool raw;                /* floor: the bare loop instead of the library */
    unsigned threads;        /* floor; 0: one a processor */
    const char *data;        /* engine */
    unsigned outstanding;    /* engine */
};

/* BENCH_DONE, or BENCH_MISUSED after saying why. */
int bench_options_read(int argc, char **argv, struct bench_options *options);

/* Says "stator bench: <problem>" on standard error and returns `status`. */
__attribute__((format(printf, 2, 3))) int bench_complain(int status, const char *format, ...);

int bench_load(const struct bench_options *options);
int bench_floor(const struct bench_options *options);
int bench_engine(const struct bench_options *options);

/* --- messages: whole HTTP requests --- */

struct bench_writer {
    const struct bench_options *options;
    const char *host;        /* "127.0.0.1:8000" */
    struct world *world;
    struct auth_cache *cache;
    struct call call;        /* its arena is reset for every message */
    char timestamp[17];
    int64_t timestamp_until_us;
    str filler;              /* what makes an item as large as it should be */
    uint64_t writes;         /* so far */
};

void bench_writer_open(struct bench_writer *writer, struct world *world, const struct bench_options *options, const char *host);
void bench_writer_close(struct bench_writer *writer);

/* A request of `target` ("GetItem") with the body, signed when the options say so; valid until the next. */
str bench_message(struct bench_writer *writer, const char *target, str body);

/* The request of an operation on the key of that number. */
str bench_operation(struct bench_writer *writer, enum bench_op op, uint64_t key);

str bench_create_table(struct bench_writer *writer);

/* The body of a GetItem answer that the floors send. */
str bench_answer_body(struct arena *arena, unsigned item_bytes);

/* --- measurements --- */

enum { BENCH_LATENCY_US_MAX = 1 << 20 };

struct bench_result {
    uint64_t requests, errors;
    double seconds;
    uint32_t *latencies;     /* requests by microseconds; the last counts all that took longer */
    char first_error[512];
};

/* The latency, in microseconds, that the share `part` (0 to 1) of requests does not exceed. */
uint64_t bench_percentile(const struct bench_result *result, double part);

#endif
