/* Which command was asked for, and what each is for. */
#include "cli/cli_internal.h"

#include <stdarg.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *purpose;
    const char *usage;
    const char *details;
};

static const struct command commands[] = {
    {"serve", cli_serve, "serve DynamoDB's API", "stator serve [OPTION]...",
     "Any AWS SDK, the AWS CLI and what is built on them work with only the endpoint changed.\n"
     "SIGTERM or Ctrl-C ends it: requests in flight finish, nothing acknowledged is lost.\n\n"
     "Each option is also an environment variable (--memory-limit is STATOR_MEMORY_LIMIT) and a line\n"
     "of the --config file (memory-limit = 1G). Flags win over the environment, that over the file.\n"},
    {"bench", cli_bench, "measure a server, and the floors it is compared with",
     "stator bench --url URL --op get|put|update|query|scan [OPTION]...\n"
     "       stator bench floor [--port NUMBER] [--kind mhd|raw]\n"
     "       stator bench engine --data DIRECTORY [OPTION]...",
     "Without a word: a load client that signs its requests and prints requests a second and latencies.\n"
     "  --url URL            the server, http://127.0.0.1:8000\n"
     "  --op OPERATION       get, put, update, query (of one item) or scan (one page)\n"
     "  --connections N      keep-alive connections, one request outstanding on each (64)\n"
     "  --seconds N          how long (5)\n"
     "  --item-bytes N       size of the items (1024)\n"
     "  --keys N             how many different keys (10000)\n"
     "  --table NAME         table to use; made and filled when missing (bench)\n"
     "  --sign yes|no        sign each request (yes)\n"
     "  --access-key ID --secret KEY --region NAME   what to sign with\n"
     "floor: a server that answers a GetItem's bytes without work: by the HTTP library (mhd) or a bare epoll loop (raw).\n"
     "engine: the storage engine alone doing the writes of PutItem, with --groups N outstanding.\n"},
    {"torture", cli_torture, "fault-injection runs of the engine", "stator torture [OPTION]...", "`stator torture --help` lists its options.\n"},
    {"help", cli_help, "explain a command", "stator help [COMMAND]", ""},
    {"version", cli_version, "print the version", "stator version", ""},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

int cli_complain(int status, const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "stator%s%s: ", command ? " " : "", command ? command : "");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    if (status == CLI_MISUSED)
        fprintf(stderr, "Try: stator help%s%s\n", command ? " " : "", command ? command : "");
    return status;
}

static void print_overview(FILE *out)
{
    fprintf(out, "Stator: Amazon DynamoDB's API and behaviour as one program.\n\nUsage: stator COMMAND [OPTION]...\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].purpose);
    fprintf(out, "\nstator help COMMAND says more. The shortest way to a server: stator serve --memory\n");
}

static void print_command(FILE *out, const struct command *command)
{
    fprintf(out, "%s: %s\n\nUsage: %s\n\n%s", command->name, command->purpose, command->usage, command->details);
    if (command->run == cli_serve) {
        fprintf(out, "\n");
        cli_serve_options_print(out);
    }
}

int cli_help(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stdout);
        return CLI_DONE;
    }
    const struct command *command = find(argv[1]);
    if (!command || argc > 2)
        return cli_complain(CLI_MISUSED, NULL, "there is no command '%s'", argv[argc - 1]);
    print_command(stdout, command);
    return CLI_DONE;
}

int cli_version(int argc, char **argv)
{
    if (argc > 1)
        return cli_complain(CLI_MISUSED, argv[0], "takes no arguments");
    printf("stator %s\n", STATOR_VERSION);
    return CLI_DONE;
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int cli_main(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return CLI_MISUSED;
    }
    if (asks_for_help(argv[1]))
        return cli_help(1, argv);
    if (strcmp(argv[1], "--version") == 0)
        return cli_version(1, argv);
    const struct command *command = find(argv[1]);
    if (!command)
        return cli_complain(CLI_MISUSED, NULL, "there is no command '%s'", argv[1]);
    if (argc > 2 && asks_for_help(argv[2]) && command->run != cli_torture) {
        print_command(stdout, command);
        return CLI_DONE;
    }
    return command->run(argc - 1, argv + 1);
}
