/* Which of the measurements was asked for, and its options. */
#include "bench/bench_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

int bench_complain(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "stator bench: ");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    if (status == BENCH_MISUSED)
        fprintf(stderr, "Try: stator help bench\n");
    return status;
}

enum kind { TEXT, WHOLE, SECONDS, YES_NO, OPERATION, KIND };

struct option {
    const char *name;
    enum kind kind;
    void *field;
    uint64_t least, most;
};

static bool read_option(const struct option *option, const char *text)
{
    char *end;
    errno = 0;
    switch (option->kind) {
    case TEXT:
        *(const char **)option->field = text;
        return text[0] != 0;
    case WHOLE: {
        unsigned long long number = strtoull(text, &end, 10);
        if (text[0] < '0' || text[0] > '9' || *end || errno || number < option->least || number > option->most)
            return false;
        *(unsigned *)option->field = (unsigned)number;
        return true;
    }
    case SECONDS:
        *(double *)option->field = strtod(text, &end);
        return !*end && *(double *)option->field > 0 && *(double *)option->field <= 86400;
    case YES_NO:
        *(bool *)option->field = strcmp(text, "yes") == 0;
        return strcmp(text, "yes") == 0 || strcmp(text, "no") == 0;
    case OPERATION: {
        static const char *const names[] = {"get", "put", "update", "query", "scan"};
        for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strcmp(text, names[i]) == 0)
                return *(enum bench_op *)option->field = (enum bench_op)i, true;
        return false;
    }
    case KIND:
        *(bool *)option->field = strcmp(text, "raw") == 0;
        return strcmp(text, "raw") == 0 || strcmp(text, "mhd") == 0;
    }
    return false;
}

int bench_options_read(int argc, char **argv, struct bench_options *options)
{
    static const struct bench_options defaults = {.connections = 64, .seconds = 5, .item_bytes = 1024, .keys = 10000, .table = "bench", .access_key = "bench",
                                                  .secret = "bench", .region = "us-east-1", .sign = true, .fill = true, .outstanding = 64};
    *options = defaults;
    unsigned port = 0, requests = 0;
    const struct option table[] = {
        {"--url", TEXT, &options->url, 0, 0},
        {"--op", OPERATION, &options->op, 0, 0},
        {"--connections", WHOLE, &options->connections, 1, 10000},
        {"--seconds", SECONDS, &options->seconds, 0, 0},
        {"--requests", WHOLE, &requests, 1, 1000000000},
        {"--item-bytes", WHOLE, &options->item_bytes, 64, 400000},
        {"--keys", WHOLE, &options->keys, 1, 99999999},
        {"--table", TEXT, &options->table, 0, 0},
        {"--access-key", TEXT, &options->access_key, 0, 0},
        {"--secret", TEXT, &options->secret, 0, 0},
        {"--region", TEXT, &options->region, 0, 0},
        {"--sign", YES_NO, &options->sign, 0, 0},
        {"--fill", YES_NO, &options->fill, 0, 0},
        {"--json", YES_NO, &options->json, 0, 0},
        {"--port", WHOLE, &port, 0, 65535},
        {"--port-file", TEXT, &options->port_file, 0, 0},
        {"--kind", KIND, &options->raw, 0, 0},
        {"--threads", WHOLE, &options->threads, 0, 1024},
        {"--data", TEXT, &options->data, 0, 0},
        {"--outstanding", WHOLE, &options->outstanding, 1, 10000},
    };
    for (int i = 0; i < argc; i += 2) {
        const struct option *option = NULL;
        for (size_t at = 0; at < sizeof table / sizeof table[0]; at++)
            option = strcmp(table[at].name, argv[i]) == 0 ? &table[at] : option;
        if (!option)
            return bench_complain(BENCH_MISUSED, "%s: no such option", argv[i]);
        if (i + 1 == argc)
            return bench_complain(BENCH_MISUSED, "%s: needs a value", argv[i]);
        if (!read_option(option, argv[i + 1]))
            return bench_complain(BENCH_MISUSED, "%s: cannot be '%s'", argv[i], argv[i + 1]);
    }
    options->port = (uint16_t)port;
    options->requests = requests;
    return BENCH_DONE;
}

uint64_t bench_percentile(const struct bench_result *result, double part)
{
    uint64_t wanted = (uint64_t)((double)result->requests * part), seen = 0;
    for (uint64_t us = 0; us < BENCH_LATENCY_US_MAX; us++) {
        seen += result->latencies[us];
        if (seen > wanted)
            return us;
    }
    return BENCH_LATENCY_US_MAX;
}

int bench_main(int argc, char **argv)
{
    struct bench_options options;
    const char *word = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    int skipped = word ? 2 : 1;
    int status = bench_options_read(argc - skipped, argv + skipped, &options);
    if (status != BENCH_DONE)
        return status;
    if (!word)
        return options.url ? bench_load(&options) : bench_complain(BENCH_MISUSED, "which server? --url http://127.0.0.1:8000");
    if (strcmp(word, "floor") == 0)
        return bench_floor(&options);
    if (strcmp(word, "engine") == 0)
        return options.data ? bench_engine(&options) : bench_complain(BENCH_MISUSED, "engine: where may it write? --data DIRECTORY");
    return bench_complain(BENCH_MISUSED, "there is no measurement '%s'", word);
}
