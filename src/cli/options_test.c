/* The options of `stator serve`: what wins over what, and what is said of a wrong one. */
#include "cli/cli_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define READ(...) read_options((const char *const[]){"serve", __VA_ARGS__, NULL})

static struct cli_serve_options options;
static char problem[CLI_PROBLEM_BYTES];

static int read_options(const char *const *words)
{
    int count = 0;
    while (words[count])
        count++;
    problem[0] = 0;
    cli_serve_options_close(&options);
    return cli_serve_options_read(count, (char **)(uintptr_t)words, &options, problem, sizeof problem);
}

static void write_file(char path[32], const char *text)
{
    strcpy(path, "/tmp/stator-conf-XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0 && write(descriptor, text, strlen(text)) == (ssize_t)strlen(text));
    close(descriptor);
}

static void defaults_are_as_documented(void **state)
{
    (void)state;
    const char *const none[] = {"serve", NULL};
    assert_int_equal(read_options(none), CLI_DONE);
    assert_int_equal(options.port, 8000);
    assert_string_equal(options.listen, "127.0.0.1");
    assert_string_equal(options.data, "./stator-data");
    assert_false(options.memory);
    assert_int_equal(options.auth, API_AUTH_ANY);
    assert_int_equal(options.wording, WORDING_CURRENT);
    assert_int_equal(options.capacity, CLI_CAPACITY_SHADOW);
    assert_int_equal(options.memory_limit_bytes, 512 << 20);
    assert_int_equal(options.cache_bytes, 256 << 20);
    assert_int_equal(options.item_cache_bytes, 128 << 20);
}

static void values_are_read(void **state)
{
    (void)state;
    assert_int_equal(READ("--port=0", "--memory", "--wording", "classic", "--memory-limit", "1G", "--cache=64MB", "--item-cache", "0", "--log", "json"), CLI_DONE);
    assert_true(options.port == 0 && options.memory && options.wording == WORDING_CLASSIC && options.log == LOG_JSON);
    assert_int_equal(options.memory_limit_bytes, 1 << 30);
    assert_int_equal(options.cache_bytes, 64 << 20);
    assert_int_equal(options.item_cache_bytes, 0);
    assert_int_equal(READ("--store", "memory"), CLI_DONE);
    assert_true(options.memory);
    assert_int_equal(READ("--memory=no"), CLI_DONE);
    assert_false(options.memory);
}

static void flags_win_over_environment_over_file(void **state)
{
    (void)state;
    char path[32];
    write_file(path, "# a comment\nport = 1\n  status-ms=30\r\n\nlisten = ::1  \nmemory = true\n");
    setenv("STATOR_PORT", "2", 1);
    setenv("STATOR_STATUS_MS", "20", 1);
    assert_int_equal(READ("--config", path, "--port", "3"), CLI_DONE);
    assert_int_equal(options.port, 3);
    assert_int_equal(options.status_ms, 20);
    assert_string_equal(options.listen, "::1");
    assert_true(options.memory);
    unsetenv("STATOR_STATUS_MS");
    setenv("STATOR_CONFIG", path, 1);
    const char *const none[] = {"serve", NULL};
    assert_int_equal(read_options(none), CLI_DONE);
    assert_int_equal(options.port, 2);
    assert_int_equal(options.status_ms, 30);
    unsetenv("STATOR_CONFIG");
    unsetenv("STATOR_PORT");
    unlink(path);
}

static void expect_problem(int status, const char *part)
{
    assert_int_equal(status, CLI_MISUSED);
    if (!strstr(problem, part))
        print_error("%s\n", problem);
    assert_non_null(strstr(problem, part));
}

static void wrong_options_say_what_to_do(void **state)
{
    (void)state;
    expect_problem(READ("port"), "port: no such option; `stator help serve`");
    expect_problem(READ("--prt", "1"), "--prt: no such option");
    expect_problem(READ("--port"), "--port: needs a value: --port NUMBER");
    expect_problem(READ("--port", "65536"), "--port: 65536 is out of range: 0 to 65535");
    expect_problem(READ("--port", "-1"), "'-1' is no whole number");
    expect_problem(READ("--port", "1x"), "'1x' is no whole number");
    expect_problem(READ("--memory-limit", "1T"), "'1T' is no size such as");
    expect_problem(READ("--memory-limit", "99999999999999999999"), "is no size");
    expect_problem(READ("--memory-limit", "1M"), "out of range");
    expect_problem(READ("--cache", "500M"), "at most three quarters of --memory-limit");
    expect_problem(READ("--item-cache", "500M"), "a part of --cache");
    expect_problem(READ("--auth", "some"), "'some' is none of: any, required");
    expect_problem(READ("--auth", "required"), "--auth required needs the access keys");
    expect_problem(READ("--keys", "k"), "only looked at with --auth required");
    expect_problem(READ("--tls-cert", "c"), "both a certificate and its key");
    expect_problem(READ("--capacity", "enforce"), "does not yet refuse");
    expect_problem(READ("--store", "rados"), "not built yet");
    expect_problem(READ("--memory=maybe"), "neither true nor false");
    expect_problem(READ("--listen", ""), "needs a value");
    setenv("STATOR_IDLE_SECONDS", "0", 1);
    expect_problem(READ("--memory"), "STATOR_IDLE_SECONDS: 0 is out of range");
    unsetenv("STATOR_IDLE_SECONDS");
}

static void wrong_files_say_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"\nprt = 1\n", "line 2: 'prt' is no option"},
        {"port = x\n", "line 1: 'x' is no whole number"},
        {"port = 1\n\nport = 2\n", "line 3: 'port' stands there twice"},
        {"config = x\n", "line 1: 'config' is no option"},
        {"listen\n", "line 1: needs a value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[32];
        write_file(path, cases[i].text);
        expect_problem(READ("--config", path), cases[i].part);
        unlink(path);
    }
    expect_problem(READ("--config", "/nowhere/stator.conf"), "/nowhere/stator.conf: cannot read this configuration file");
    cli_serve_options_close(&options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_as_documented),
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(flags_win_over_environment_over_file),
        cmocka_unit_test(wrong_options_say_what_to_do),
        cmocka_unit_test(wrong_files_say_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
