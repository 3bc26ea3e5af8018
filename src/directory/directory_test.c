/* The keys file: what it gives, and what is said of one that is wrong. */
#include "directory/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct directory *open_text(const char *text, char problem[256])
{
    char path[] = "/tmp/stator-keys-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0 && write(descriptor, text, strlen(text)) == (ssize_t)strlen(text));
    close(descriptor);
    struct directory *directory = directory_open_file(path, problem, 256);
    unlink(path);
    return directory;
}

static void keys_are_found(void **state)
{
    (void)state;
    char problem[256];
    struct directory *directory = open_text("{\"keys\":[{\"accessKeyId\":\"A\",\"secretAccessKey\":\"s\\u00e9\"},\n"
                                            "{\"accessKeyId\":\"B\",\"secretAccessKey\":\"t\",\"sessionToken\":\"u\",\"expires\":\"2026-12-01T00:00:00Z\","
                                            "\"account\":\"123456789012\"}]}", problem);
    assert_non_null(directory);
    const struct auth_key *key = directory_find_key(directory, STR("A"));
    assert_true(key && str_equal(key->secret, STR("s\xc3\xa9")) && str_equal(key->account, STR("000000000000")) && key->expires_us == 0);
    key = directory_find_key(directory, STR("B"));
    assert_true(key && str_equal(key->session_token, STR("u")) && str_equal(key->account, STR("123456789012")));
    assert_int_equal(key->expires_us, 1796083200000000);
    assert_null(directory_find_key(directory, STR("C")));
    assert_null(directory_find_key(directory, STR_NONE));
    directory_close(directory);
}

static void many_keys_are_found(void **state)
{
    (void)state;
    char problem[256];
    struct buf text;
    buf_open(&text, NULL, 0);
    BUF_ADD_LITERAL(&text, "{\"keys\":[");
    for (int i = 0; i < 3000; i++)
        buf_printf(&text, "%s{\"accessKeyId\":\"k%d\",\"secretAccessKey\":\"s%d\"}", i ? "," : "", i, i);
    BUF_ADD_LITERAL(&text, "]}");
    buf_add_byte(&text, 0);
    struct directory *directory = open_text(text.data, problem);
    assert_non_null(directory);
    for (int i = 0; i < 3001; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", i);
        assert_int_equal(directory_find_key(directory, str_of_text(name)) != NULL, i < 3000);
    }
    directory_close(directory);
    buf_free(&text);
}

static void faults_say_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "is no JSON"},
        {"[]", "no list \"keys\""},
        {"{\"keys\":[]}", "is empty"},
        {"{\"keys\":[\n1]}", "line 2: a key is an object"},
        {"{\"keys\":[{\"accessKeyId\":\"A\"}]}", "needs accessKeyId and secretAccessKey"},
        {"{\"keys\":[{\"accessKeyId\":1,\"secretAccessKey\":\"s\"}]}", "accessKeyId is no string"},
        {"{\"keys\":[{\"accessKeyId\":\"a/b\",\"secretAccessKey\":\"s\"}]}", "no slash"},
        {"{\"keys\":[{\"accessKeyId\":\"A\",\"secretAccessKey\":\"s\",\"account\":\"12\"}]}", "12 digits"},
        {"{\"keys\":[{\"accessKeyId\":\"A\",\"secretAccessKey\":\"s\",\"sessionToken\":\"t\",\"expires\":\"tomorrow\"}]}", "expires is no time"},
        {"{\"keys\":[{\"accessKeyId\":\"A\",\"secretAccessKey\":\"s\",\"expires\":\"2026-12-01T00:00:00Z\"}]}", "only a key with a sessionToken"},
        {"{\"keys\":[{\"accessKeyId\":\"A\",\"secretAccessKey\":\"s\"},\n\n{\"accessKeyId\":\"A\",\"secretAccessKey\":\"s\"}]}", "line 3: accessKeyId A stands there twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char problem[256] = "";
        assert_null(open_text(cases[i].text, problem));
        if (!strstr(problem, cases[i].part))
            print_error("case %zu: %s\n", i, problem);
        assert_non_null(strstr(problem, cases[i].part));
    }
    char problem[256];
    assert_null(directory_open_file("/nowhere/keys.json", problem, sizeof problem));
    assert_non_null(strstr(problem, "/nowhere/keys.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_found),
        cmocka_unit_test(many_keys_are_found),
        cmocka_unit_test(faults_say_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
