/* Tests of what opening a data folder refuses, in which words, and that it leaves alone what it refuses. */
#include "store/store_fixture_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

struct place {
    struct world *world;
    char base[64];
    char path[80]; /* base/data */
    char problem[400];
};

static int setup(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    place->world = world_real_new();
    snprintf(place->base, sizeof place->base, "%.40s/stator-rocks-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(place->base));
    snprintf(place->path, sizeof place->path, "%s/data", place->base);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    fixture_remove_folder(place->base);
    world_free(place->world);
    free(place);
    return 0;
}

static struct store *try_open(struct place *place, const char *path)
{
    struct store_rocks_options options = {.path = path, .cache_bytes = 16 << 20};
    memset(place->problem, '?', sizeof place->problem);
    place->problem[0] = 0;
    return store_rocks_open(place->world, &options, place->problem, sizeof place->problem);
}

static void assert_opens(struct place *place)
{
    struct store *store = try_open(place, place->path);
    if (store == NULL)
        fail_msg("%s", place->problem);
    store_close(store);
}

static void assert_refused(struct place *place, const char *path, const char *part)
{
    struct store *store = try_open(place, path);
    assert_null(store);
    if (strstr(place->problem, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, place->problem);
    assert_null(strchr(place->problem, '\n'));
    assert_non_null(strstr(place->problem, place->base));
}

static void write_file(const struct place *place, const char *name, str text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", place->path, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, text.data, text.len), (ssize_t)text.len);
    close(file);
}

/* A listing with times, sizes and sums of everything in the folder. */
static void picture(const struct place *place, char *out, size_t bytes)
{
    char command[300];
    snprintf(command, sizeof command, "cd %s && find . -printf '%%p %%s %%m %%T@\\n' | sort && find . -type f -exec cksum {} + | sort", place->path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t got = fread(out, 1, bytes - 1, pipe);
    assert_true(got > 0 && got < bytes - 1);
    out[got] = 0;
    assert_int_equal(pclose(pipe), 0);
}

static void test_made_and_opened_again(void **state)
{
    struct place *place = *state;
    char text[64] = "", marker[200];
    assert_opens(place);
    assert_opens(place);
    snprintf(marker, sizeof marker, "%s/STATOR_FORMAT", place->path);
    FILE *file = fopen(marker, "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "stator-format 1\n");
}

static void test_in_use(void **state)
{
    struct place *place = *state;
    struct store *first = try_open(place, place->path);
    assert_non_null(first);
    assert_refused(place, place->path, "is in use by another stator");
    store_close(first);
    assert_opens(place);
}

static void test_newer(void **state)
{
    struct place *place = *state;
    enum { BYTES = 1 << 16 };
    char *before = malloc(BYTES), *after = malloc(BYTES);
    assert_opens(place);
    write_file(place, "STATOR_FORMAT", STR("stator-format 2\nand what a newer version adds\n"));
    picture(place, before, BYTES);
    assert_refused(place, place->path, "was written by a newer stator (data format 2; this one knows formats up to 1)");
    picture(place, after, BYTES);
    assert_string_equal(before, after);
    write_file(place, "STATOR_FORMAT", STR("stator-format 1\n"));
    assert_opens(place);
    free(before);
    free(after);
}

static void test_damaged_marker(void **state)
{
    struct place *place = *state;
    static const char *const texts[] = {"stator-format 0\n", "stator-format\n", "stator-format 1 2\n", "hello", "stator-format -1\n", "1\n"};
    assert_opens(place);
    for (size_t at = 0; at < sizeof texts / sizeof texts[0]; at++) {
        write_file(place, "STATOR_FORMAT", str_of_text(texts[at]));
        assert_refused(place, place->path, "STATOR_FORMAT is damaged");
    }
}

/* The making of a folder that a crash cut short goes on. */
static void test_unfinished(void **state)
{
    struct place *place = *state;
    static const str texts[] = {{"", 0}, {"stator-fo", 9}, {"stator-format 1", 15}, {"stator-\0\0\0\0", 11}};
    char command[200];
    for (size_t at = 0; at < sizeof texts / sizeof texts[0]; at++) {
        for (int with_rocks = 0; with_rocks < 2; with_rocks++) {
            assert_int_equal(mkdir(place->path, 0700), 0);
            write_file(place, "STATOR_FORMAT", texts[at]);
            snprintf(command, sizeof command, "mkdir %s/rocks && touch %s/rocks/000001.dbtmp", place->path, place->path);
            if (with_rocks)
                assert_int_equal(system(command), 0);
            assert_opens(place);
            assert_opens(place);
            fixture_remove_folder(place->path);
        }
    }
}

static void test_something_else(void **state)
{
    struct place *place = *state;
    enum { BYTES = 1 << 16 };
    char *before = malloc(BYTES), *after = malloc(BYTES);
    assert_int_equal(mkdir(place->path, 0700), 0);
    write_file(place, "holiday.jpg", STR("picture"));
    picture(place, before, BYTES);
    assert_refused(place, place->path, "holds something else (\"holiday.jpg\")");
    picture(place, after, BYTES);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void test_empty_folders(void **state)
{
    struct place *place = *state;
    char inner[128];
    assert_int_equal(mkdir(place->path, 0700), 0);
    snprintf(inner, sizeof inner, "%s/lost+found", place->path);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_opens(place);
}

static void test_wrong_paths(void **state)
{
    struct place *place = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/file", place->base);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_refused(place, path, "is not a directory");
    snprintf(path, sizeof path, "%s/file/data", place->base);
    assert_refused(place, path, "is not a directory");
    snprintf(path, sizeof path, "%s/missing/data", place->base);
    assert_refused(place, path, "the folder above it does not exist");
}

static void test_damaged_data(void **state)
{
    struct place *place = *state;
    assert_opens(place);
    write_file(place, "rocks/CURRENT", STR("MANIFEST-999999\n"));
    assert_refused(place, place->path, "cannot be opened");
    write_file(place, "rocks/CURRENT", STR("garbage"));
    assert_refused(place, place->path, "cannot be opened");
}

static void test_missing_data(void **state)
{
    struct place *place = *state;
    char command[200];
    assert_opens(place);
    snprintf(command, sizeof command, "rm -rf %s/rocks", place->path);
    assert_int_equal(system(command), 0);
    assert_refused(place, place->path, "should hold is missing (no rocks/CURRENT)");
    snprintf(command, sizeof command, "test ! -e %s/rocks", place->path);
    assert_int_equal(system(command), 0); /* a lost folder is not silently begun anew */
}

/* Root may do everything, so as root the test becomes somebody else for a while. */
static void test_no_permission(void **state)
{
    struct place *place = *state;
    char rocks[128];
    assert_opens(place);
    snprintf(rocks, sizeof rocks, "%s/rocks/CURRENT", place->path);
    assert_int_equal(chmod(rocks, 0400), 0);
    bool is_root = geteuid() == 0;
    if (is_root) {
        char command[200];
        snprintf(command, sizeof command, "chown -R 65534 %s", place->base);
        assert_int_equal(system(command), 0);
        assert_int_equal(seteuid(65534), 0);
    }
    assert_int_equal(chmod(rocks, 0000), 0);
    assert_refused(place, place->path, "no permission");
    assert_int_equal(chmod(rocks, 0600), 0);
    assert_opens(place);
    assert_int_equal(chmod(place->path, 0500), 0);
    assert_int_equal(chmod(place->path, 0000), 0);
    assert_refused(place, place->path, "no permission");
    assert_int_equal(chmod(place->path, 0700), 0);
    assert_int_equal(chmod(place->base, 0500), 0);
    char other[128];
    snprintf(other, sizeof other, "%s/other", place->base);
    assert_refused(place, other, "no permission to make");
    assert_int_equal(chmod(place->base, 0700), 0);
    if (is_root)
        assert_int_equal(seteuid(0), 0);
}

/* What the problem holds is cut to fit. */
static void test_short_problem(void **state)
{
    struct place *place = *state;
    char problem[20];
    struct store_rocks_options options = {.path = "/dev/null", .cache_bytes = 0};
    memset(problem, '?', sizeof problem);
    assert_null(store_rocks_open(place->world, &options, problem, sizeof problem));
    assert_int_equal(strlen(problem), sizeof problem - 1);
}

#define ON(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(test_made_and_opened_again), ON(test_in_use),        ON(test_newer),        ON(test_damaged_marker), ON(test_unfinished),
        ON(test_something_else),        ON(test_empty_folders), ON(test_wrong_paths),  ON(test_damaged_data),   ON(test_missing_data),
        ON(test_no_permission),         ON(test_short_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
