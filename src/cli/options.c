/* The options of `stator serve`: one table that is read from flags, the environment and a file, and printed as help. */
#include "cli/cli_internal.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_TEXT, KIND_SWITCH, KIND_WHOLE, KIND_PORT, KIND_SIZE, KIND_CHOICE };

#define UNSET UINT64_MAX

enum { WORDS_MAX = 4, LINE_BYTES_MAX = 4096, NAME_BYTES_MAX = 64 };

/* An option. The environment's name is STATOR_ with capitals and underscores; the file's is the name itself. */
struct option {
    const char *name;
    enum kind kind;
    size_t offset;            /* in struct cli_serve_options */
    const char *argument;     /* as the help shows it; NULL: none */
    const char *fallback;     /* as the help shows it and as it is read; NULL: none */
    const char *help;
    uint64_t least, most;     /* whole numbers and sizes */
    const char *words[WORDS_MAX]; /* a choice's, in the order of its enum */
};

#define FIELD(name) offsetof(struct cli_serve_options, name)

static const struct option table[] = {
    {"port", KIND_PORT, FIELD(port), "NUMBER", "8000", "TCP port; 0 takes any free one and says which", 0, 65535, {0}},
    {"listen", KIND_TEXT, FIELD(listen), "ADDRESS", "127.0.0.1", "numeric address to listen on; 0.0.0.0 or :: for every network", 0, 0, {0}},
    {"port-file", KIND_TEXT, FIELD(port_file), "FILE", NULL, "write the chosen port there once requests are served", 0, 0, {0}},
    {"data", KIND_TEXT, FIELD(data), "DIRECTORY", "./stator-data", "where tables are kept; made when missing", 0, 0, {0}},
    {"memory", KIND_SWITCH, FIELD(memory), NULL, NULL, "keep tables in memory only; all is gone at the end", 0, 0, {0}},
    {"store", KIND_CHOICE, FIELD(store), "ENGINE", "rocks", "storage engine: rocks (one disk) or memory (as --memory)", 0, 0, {"rocks", "memory"}},
    {"auth", KIND_CHOICE, FIELD(auth), "HOW", "any",
     "any: every request is taken, signed or not, and its credential scope names the region (none: us-east-1); required: signatures are verified with --keys", 0, 0,
     {"any", "required"}},
    {"keys", KIND_TEXT, FIELD(keys), "FILE", NULL,
     "access keys for --auth required, as JSON: {\"keys\":[{\"accessKeyId\":\"...\",\"secretAccessKey\":\"...\",\"account\":\"000000000000\"}]}", 0, 0, {0}},
    {"wording", KIND_CHOICE, FIELD(wording), "ERA", "current", "texts of validation errors: current, or classic as before AWS reworded them in June 2026", 0, 0,
     {"current", "classic"}},
    {"capacity", KIND_CHOICE, FIELD(capacity), "HOW", "shadow",
     "shadow: consumed capacity is counted and shown, nothing is refused; off: the same for now; enforce: refusing as AWS does is not built yet", 0, 0,
     {"off", "shadow"}},
    {"config", KIND_TEXT, FIELD(config), "FILE", NULL, "file with lines `name = value`; names as here, # begins a comment", 0, 0, {0}},
    {"log", KIND_CHOICE, FIELD(log), "FORM", "text", "log lines on standard error: text or json", 0, 0, {"text", "json"}},
    {"log-level", KIND_CHOICE, FIELD(log_level), "LEVEL", "info", "least level to log: debug, info, warn or error", 0, 0, {"debug", "info", "warn", "error"}},
    {"tls-cert", KIND_TEXT, FIELD(tls_certificate), "FILE", NULL, "serve HTTPS with this certificate (PEM, chain included); needs --tls-key", 0, 0, {0}},
    {"tls-key", KIND_TEXT, FIELD(tls_key), "FILE", NULL, "the certificate's private key (PEM)", 0, 0, {0}},
    {"memory-limit", KIND_SIZE, FIELD(memory_limit_bytes), "SIZE", "512M", "memory for caches and for requests and answers in flight together; K, M and G are understood",
     64 << 20, UINT64_MAX / 2, {0}},
    {"cache", KIND_SIZE, FIELD(cache_bytes), "SIZE", NULL, "how much of it is for caches (default half)", 0, UINT64_MAX / 2, {0}},
    {"item-cache", KIND_SIZE, FIELD(item_cache_bytes), "SIZE", NULL, "how much of --cache is for items, the rest being for the engine's blocks (default half)", 0,
     UINT64_MAX / 2, {0}},
    {"threads", KIND_WHOLE, FIELD(threads), "NUMBER", "0", "threads that serve requests; 0 takes one a processor", 0, 1024, {0}},
    {"connections", KIND_WHOLE, FIELD(connections), "NUMBER", "4096", "most connections at a time; more wait to be accepted", 1, 1000000, {0}},
    {"idle-seconds", KIND_WHOLE, FIELD(idle_seconds), "NUMBER", "60", "a connection that moves no byte for so long is closed", 1, 86400, {0}},
    {"stop-seconds", KIND_WHOLE, FIELD(stop_seconds), "NUMBER", "10", "how long requests in flight may take to finish after SIGTERM", 0, 3600, {0}},
    {"status-ms", KIND_WHOLE, FIELD(status_ms), "NUMBER", "0", "how long a table is CREATING, UPDATING or DELETING; 0: over at once", 0, 3600000, {0}},
};

enum { OPTION_COUNT = sizeof table / sizeof table[0] };

static void environment_name(const struct option *option, char name[NAME_BYTES_MAX])
{
    int at = snprintf(name, NAME_BYTES_MAX, "STATOR_%s", option->name);
    assert(at < NAME_BYTES_MAX);
    for (char *byte = name; *byte; byte++)
        *byte = *byte == '-' ? '_' : *byte >= 'a' && *byte <= 'z' ? (char)(*byte - 'a' + 'A') : *byte;
}

/* What is wrong with a value: "<where>: <what>". */
struct reader {
    struct cli_serve_options *options;
    const char *where;    /* "--port", "STATOR_PORT", "stator.conf line 3" */
    char *problem;
    size_t problem_bytes;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int at = snprintf(reader->problem, reader->problem_bytes, "%s: ", reader->where);
    if (at >= 0 && (size_t)at < reader->problem_bytes)
        vsnprintf(reader->problem + at, reader->problem_bytes - (size_t)at, format, arguments);
    va_end(arguments);
    return CLI_MISUSED;
}

static int read_whole(const struct reader *reader, const struct option *option, const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    bool sound = text[0] >= '0' && text[0] <= '9' && errno == 0;
    if (sound && option->kind == KIND_SIZE && *end) {
        const char *units = "KMG", *unit = strchr(units, *end & ~0x20);
        unsigned shift = unit && *unit ? 10 * (unsigned)(unit - units + 1) : 0;
        sound = shift > 0 && value <= UINT64_MAX >> shift;
        value <<= shift;
        end++;
        end += *end == 'B' || *end == 'b';
    }
    if (!sound || *end)
        return refuse(reader, "'%s' is no %s", text, option->kind == KIND_SIZE ? "size such as 268435456, 256M or 1G" : "whole number");
    if (value < option->least || value > option->most)
        return refuse(reader, "%s is out of range: %llu to %llu", text, (unsigned long long)option->least, (unsigned long long)option->most);
    *number = value;
    return CLI_DONE;
}

static int read_choice(const struct reader *reader, const struct option *option, const char *text, void *field)
{
    char words[128] = "";
    for (size_t i = 0; i < WORDS_MAX && option->words[i]; i++) {
        if (strcmp(option->words[i], text) == 0) {
            *(unsigned *)field = (unsigned)i;
            return CLI_DONE;
        }
        size_t at = strlen(words);
        snprintf(words + at, sizeof words - at, "%s%s", i ? ", " : "", option->words[i]);
    }
    if (strcmp(option->name, "capacity") == 0 && strcmp(text, "enforce") == 0)
        return refuse(reader, "this version counts capacity but does not yet refuse requests over it; use shadow");
    if (strcmp(option->name, "store") == 0 && strcmp(text, "rados") == 0)
        return refuse(reader, "the RADOS engine is not built yet; use rocks");
    return refuse(reader, "'%s' is none of: %s", text, words);
}

static int read_switch(const struct reader *reader, const char *text, bool *on)
{
    static const char *const yes[] = {"", "1", "true", "yes", "on"}, *const no[] = {"0", "false", "no", "off"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (strcmp(text, yes[i]) == 0)
            return *on = true, CLI_DONE;
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (strcmp(text, no[i]) == 0)
            return *on = false, CLI_DONE;
    return refuse(reader, "'%s' is neither true nor false", text);
}

static int read_value(const struct reader *reader, const struct option *option, const char *text)
{
    void *field = (char *)reader->options + option->offset;
    uint64_t number = 0;
    int status;
    switch (option->kind) {
    case KIND_TEXT:
        if (!text[0])
            return refuse(reader, "needs a value");
        *(const char **)field = text;
        return CLI_DONE;
    case KIND_SWITCH:
        return read_switch(reader, text, field);
    case KIND_CHOICE:
        return read_choice(reader, option, text, field);
    default:
        status = read_whole(reader, option, text, &number);
    }
    if (status != CLI_DONE)
        return status;
    if (option->kind == KIND_PORT)
        *(uint16_t *)field = (uint16_t)number;
    else if (option->kind == KIND_SIZE)
        *(uint64_t *)field = number;
    else
        *(unsigned *)field = (unsigned)number;
    return CLI_DONE;
}

static const struct option *find(const char *name, size_t length)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
            return &table[i];
    return NULL;
}

static int read_flags(struct reader *reader, int argc, char **argv, bool given[OPTION_COUNT])
{
    for (int i = 1; i < argc; i++) {
        const char *flag = argv[i];
        reader->where = flag;
        if (strncmp(flag, "--", 2) != 0 || !flag[2])
            return refuse(reader, "no such option; `stator help serve` lists them");
        const char *equal = strchr(flag, '=');
        size_t length = equal ? (size_t)(equal - flag) - 2 : strlen(flag) - 2;
        const struct option *option = find(flag + 2, length);
        if (!option)
            return refuse(reader, "no such option; `stator help serve` lists them");
        const char *value = equal ? equal + 1 : "";
        if (!equal && option->kind != KIND_SWITCH) {
            if (i + 1 == argc)
                return refuse(reader, "needs a value: --%s %s", option->name, option->argument);
            value = argv[++i];
        }
        int status = read_value(reader, option, value);
        if (status != CLI_DONE)
            return status;
        given[option - table] = true;
    }
    return CLI_DONE;
}

static int read_environment(struct reader *reader, bool given[OPTION_COUNT])
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        char name[NAME_BYTES_MAX];
        environment_name(&table[i], name);
        const char *value = getenv(name);
        if (!value || given[i])
            continue;
        reader->where = name;
        int status = read_value(reader, &table[i], value);
        if (status != CLI_DONE)
            return status;
        given[i] = true;
    }
    return CLI_DONE;
}

/* One line of the file, cut into name and value in place. */
static int read_line(struct reader *reader, char *line, bool given[OPTION_COUNT], const bool before[OPTION_COUNT])
{
    line[strcspn(line, "\r\n")] = 0;
    str text = str_trim(str_of_text(line));
    if (text.len == 0 || text.data[0] == '#')
        return CLI_DONE;
    str value = text;
    str name = str_trim(str_cut(&value, '='));
    value = str_trim(value);
    const struct option *option = find(name.data, name.len);
    if (!option || strcmp(option->name, "config") == 0)
        return refuse(reader, "'%.*s' is no option; `stator help serve` lists them", STR_ARG(name));
    size_t index = (size_t)(option - table);
    if (given[index] && !before[index])
        return refuse(reader, "'%s' stands there twice", option->name);
    if (before[index])
        return CLI_DONE;
    given[index] = true;
    return read_value(reader, option, arena_copy_text(&reader->options->texts, value));
}

static int read_file(struct reader *reader, const char *path, bool given[OPTION_COUNT])
{
    FILE *file = fopen(path, "r");
    if (!file) {
        reader->where = path;
        return refuse(reader, "cannot read this configuration file: %s", strerror(errno));
    }
    bool before[OPTION_COUNT];
    memcpy(before, given, sizeof before);
    char line[LINE_BYTES_MAX], where[256];
    int status = CLI_DONE;
    for (unsigned number = 1; status == CLI_DONE && fgets(line, sizeof line, file); number++) {
        snprintf(where, sizeof where, "%s line %u", path, number);
        reader->where = where;
        status = read_line(reader, line, given, before);
    }
    fclose(file);
    return status;
}

/* What no single option can know. */
static int check_together(struct reader *reader)
{
    struct cli_serve_options *options = reader->options;
    options->memory = options->memory || options->store == CLI_STORE_MEMORY;
    if (options->cache_bytes == UNSET)
        options->cache_bytes = options->memory_limit_bytes / 2;
    if (options->item_cache_bytes == UNSET)
        options->item_cache_bytes = options->cache_bytes / 2;
    reader->where = "--keys";
    if (options->auth == API_AUTH_REQUIRED && !options->keys)
        return refuse(reader, "--auth required needs the access keys that may be used; `stator help serve` shows the file");
    if (options->auth == API_AUTH_ANY && options->keys)
        return refuse(reader, "access keys are only looked at with --auth required");
    reader->where = options->tls_key ? "--tls-cert" : "--tls-key";
    if (!options->tls_certificate != !options->tls_key)
        return refuse(reader, "HTTPS needs both a certificate and its key");
    reader->where = "--cache";
    if (options->cache_bytes > options->memory_limit_bytes - (options->memory_limit_bytes >> 2))
        return refuse(reader, "at most three quarters of --memory-limit (%llu bytes) may be for caches", (unsigned long long)options->memory_limit_bytes);
    reader->where = "--item-cache";
    if (options->item_cache_bytes > options->cache_bytes)
        return refuse(reader, "the cache of items is a part of --cache (%llu bytes)", (unsigned long long)options->cache_bytes);
    return CLI_DONE;
}

int cli_serve_options_read(int argc, char **argv, struct cli_serve_options *options, char *problem, size_t problem_bytes)
{
    *options = (struct cli_serve_options){.cache_bytes = UNSET, .item_cache_bytes = UNSET};
    arena_open(&options->texts, NULL);
    struct reader reader = {options, "", problem, problem_bytes};
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        int status = table[i].fallback ? read_value(&reader, &table[i], table[i].fallback) : CLI_DONE;
        assert(status == CLI_DONE);
    }
    bool given[OPTION_COUNT] = {false};
    int status = read_flags(&reader, argc, argv, given);
    if (status == CLI_DONE)
        status = read_environment(&reader, given);
    if (status == CLI_DONE && options->config)
        status = read_file(&reader, options->config, given);
    if (status == CLI_DONE)
        status = check_together(&reader);
    return status;
}

void cli_serve_options_close(struct cli_serve_options *options)
{
    arena_close(&options->texts);
}

/* Breaks a text at blanks into lines that fit beside the column of names. */
static void print_wrapped(FILE *out, const char *text, int indent, int width)
{
    int column = 0;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > 0 && column + 1 + length > width) {
            fprintf(out, "\n%*s", indent, "");
            column = 0;
        }
        column += fprintf(out, "%s%.*s", column > 0 ? " " : "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

void cli_serve_options_print(FILE *out)
{
    enum { INDENT = 28, WIDTH = 90 };
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &table[i];
        char left[64], help[512];
        snprintf(left, sizeof left, "--%s %s", option->name, option->argument ? option->argument : "");
        bool shows_fallback = option->fallback && strcmp(option->fallback, "0") != 0;
        snprintf(help, sizeof help, "%s%s%s%s", option->help, shows_fallback ? " (default " : "", shows_fallback ? option->fallback : "", shows_fallback ? ")" : "");
        fprintf(out, "  %-*s", INDENT - 2, left);
        print_wrapped(out, help, INDENT, WIDTH);
    }
}
