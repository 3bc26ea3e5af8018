/* Tests of damaged logs: what a power cut tears off the end is given up, damage further up refuses to open and changes nothing. */
#include "store/store_fixture_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { GROUPS = 300, VALUE_BYTES = 400, LARGE_BYTES = 100000 };

struct place {
    struct world *world;
    char path[64];
    char problem[400];
    char log[160];    /* the log with most in it */
    off_t log_bytes;
};

static struct store *try_open(struct place *place)
{
    struct store_rocks_options options = {.path = place->path, .cache_bytes = 16 << 20};
    place->problem[0] = 0;
    return store_rocks_open(place->world, &options, place->problem, sizeof place->problem);
}

static void write_groups(struct store *store, unsigned from, unsigned to, size_t value_bytes)
{
    struct store_range *range;
    char *value = malloc(value_bytes), key[16];
    assert_int_equal(store_range_open(store, fixture_id(1), &range), STORE_OK);
    for (unsigned n = from; n < to; n++) {
        memset(value, 'a' + (int)(n % 26), value_bytes);
        snprintf(key, sizeof key, "k%05u", n);
        struct store_write write = {str_of_text(key), str_of(value, value_bytes)};
        struct store_group group = {.writes = &write, .write_count = 1};
        assert_int_equal(store_apply_wait(range, &group), STORE_OK);
    }
    store_range_close(range);
    free(value);
}

/* Groups that are acknowledged, and an end without a flush: a program of its own, because a fork of a process that had threads is no place for a store. */
static int live(char **arguments)
{
    struct place place = {.world = world_real_new()};
    snprintf(place.path, sizeof place.path, "%s", arguments[1]);
    struct store *store = try_open(&place);
    if (store == NULL)
        return 1;
    write_groups(store, (unsigned)atoi(arguments[2]), (unsigned)atoi(arguments[3]), (size_t)atoi(arguments[4]));
    _exit(0);
}

static void life(struct place *place, unsigned from, unsigned to, size_t value_bytes)
{
    char first[16], end[16], bytes[24];
    snprintf(first, sizeof first, "%u", from);
    snprintf(end, sizeof end, "%u", to);
    snprintf(bytes, sizeof bytes, "%zu", value_bytes);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "rocks_wal_test", place->path, first, end, bytes, (char *)NULL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void find_log(struct place *place)
{
    char folder[100];
    snprintf(folder, sizeof folder, "%s/rocks", place->path);
    DIR *entries = opendir(folder);
    struct dirent *entry;
    place->log_bytes = 0;
    while ((entry = readdir(entries)) != NULL) {
        char path[160];
        struct stat found;
        size_t bytes = strlen(entry->d_name);
        snprintf(path, sizeof path, "%.90s/%.60s", folder, entry->d_name);
        if (bytes < 4 || strcmp(entry->d_name + bytes - 4, ".log") != 0 || stat(path, &found) != 0 || found.st_size <= place->log_bytes)
            continue;
        strcpy(place->log, path);
        place->log_bytes = found.st_size;
    }
    closedir(entries);
    assert_true(place->log_bytes > 0);
}

static void damage(struct place *place, off_t at, size_t bytes, bool flips)
{
    uint8_t block[40000] = {0};
    assert_true(bytes <= sizeof block);
    int file = open(place->log, O_RDWR);
    if (flips)
        assert_int_equal(pread(file, block, bytes, at), (ssize_t)bytes);
    for (size_t i = 0; flips && i < bytes; i++)
        block[i] ^= 1;
    assert_int_equal(pwrite(file, block, bytes, at), (ssize_t)bytes);
    close(file);
}

static unsigned count_rows(struct place *place)
{
    struct store *store = try_open(place);
    if (store == NULL)
        fail_msg("%s", place->problem);
    struct store_range *range;
    struct arena arena;
    struct store_page page;
    struct store_scan scan = {.rows_max = STORE_PAGE_ROWS_MAX, .bytes_max = 64 << 20};
    arena_open(&arena, NULL);
    assert_int_equal(store_range_open(store, fixture_id(1), &range), STORE_OK);
    assert_int_equal(store_scan(range, &scan, &arena, &page), STORE_OK);
    unsigned count = (unsigned)page.count;
    arena_close(&arena);
    store_range_close(range);
    store_close(store);
    return count;
}

static void assert_refused(struct place *place)
{
    assert_null(try_open(place));
    if (strstr(place->problem, "damaged in the middle") == NULL)
        fail_msg("\"%s\"", place->problem);
}

static int setup(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    place->world = world_real_new();
    snprintf(place->path, sizeof place->path, "%.40s/stator-wal-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(place->path));
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    fixture_remove_folder(place->path);
    world_free(place->world);
    free(place);
    return 0;
}

/* Anywhere but in the last record, a changed bit or a sector of zeros is refused; undone, all is there. */
static void test_damage_in_the_middle(void **state)
{
    struct place *place = *state;
    life(place, 0, GROUPS, VALUE_BYTES);
    find_log(place);
    off_t last_record = place->log_bytes - VALUE_BYTES - 100;
    for (off_t at = 0; at < last_record; at += 3701) {
        damage(place, at, 1, true);
        assert_refused(place);
        damage(place, at, 1, true);
    }
    /* The places of a record's header. */
    for (off_t at = 0; at < 8; at++) {
        damage(place, 32768 + at, 1, true);
        assert_refused(place);
        damage(place, 32768 + at, 1, true);
    }
    assert_int_equal(count_rows(place), GROUPS);
}

static void test_lost_block(void **state)
{
    struct place *place = *state;
    life(place, 0, GROUPS, VALUE_BYTES);
    find_log(place);
    damage(place, 32768, 32768, false);
    assert_refused(place);
}

/* A page of zeros within the last block, so that only what follows within it tells. */
static void test_lost_page_near_the_end(void **state)
{
    struct place *place = *state;
    life(place, 0, GROUPS + 30, VALUE_BYTES);
    find_log(place);
    off_t late = (place->log_bytes - 6000) & ~4095;
    assert_true(late / 32768 == place->log_bytes / 32768 && late + 4096 < place->log_bytes - VALUE_BYTES);
    damage(place, late, 4096, false);
    assert_refused(place);
}

/* A record of several blocks whose first fragment is lost, and another behind it. */
static void test_large_records(void **state)
{
    struct place *place = *state;
    life(place, 0, 3, LARGE_BYTES);
    find_log(place);
    for (off_t at = 200; at < place->log_bytes - LARGE_BYTES - 1000; at += 20011) {
        damage(place, at, 1, true);
        assert_refused(place);
        damage(place, at, 1, true);
    }
    /* In the last record: what a power cut may leave. */
    damage(place, place->log_bytes - LARGE_BYTES / 2, 1, true);
    assert_int_equal(count_rows(place), 2);
}

static void test_torn_ends(void **state)
{
    struct place *place = *state;
    life(place, 0, GROUPS, VALUE_BYTES);
    find_log(place);
    assert_int_equal(truncate(place->log, place->log_bytes - 1), 0);
    damage(place, place->log_bytes - 1, 20000, false);
    assert_int_equal(count_rows(place), GROUPS - 1);
}

/* A torn end, a start that gives it up, more writes, another kill: the second start finds no damage in what the first gave up. */
static void test_lives_behind_a_torn_end(void **state)
{
    struct place *place = *state;
    unsigned from = 0;
    for (unsigned round = 0; round < 4; round++) {
        life(place, from, from + 50, VALUE_BYTES);
        find_log(place);
        assert_int_equal(truncate(place->log, place->log_bytes - 7), 0);
        from += 50;
    }
    assert_int_equal(count_rows(place), 4 * 49);
}

int main(int argc, char **argv)
{
    if (argc == 5)
        return live(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_damage_in_the_middle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lost_block, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lost_page_near_the_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_records, setup, teardown),
        cmocka_unit_test_setup_teardown(test_torn_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lives_behind_a_torn_end, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
