/* Opening the rocks engine: whose folder it is, which format it has, and how RocksDB is set.

   DIR/STATOR_FORMAT   "stator-format 1\n". Its lock (flock) is held while the data is open. Empty or cut short: the making of the
                       folder was interrupted before anything was acknowledged, and goes on.
   DIR/rocks/          RocksDB's files.

   A folder is refused before anything in it is touched when its format is newer, or when it holds files but no marker. */
#include "store/rocks_internal.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MARKER_NAME "STATOR_FORMAT"
#define MARKER_START "stator-format "
#define ROCKS_NAME "rocks"

enum {
    FORMAT = 1,
    MARKER_BYTES_MAX = 64,
    LOG_PLACE_BYTES = 32,
    FREE_BYTES_MIN = 8 << 20, /* RocksDB writes a log, a manifest and its options while opening */
    CACHE_BYTES_MIN = 8 << 20,
    WRITE_BUFFERS_MIN = 4 << 20,
    WRITE_BUFFERS_MAX = 128 << 20,
    OPEN_FILES_MIN = 64,
    OPEN_FILES_MAX = 4096
};

struct opening {
    const char *path;
    int folder;
    int marker;
    bool is_made;  /* the folder was not there */
    bool is_new;   /* the marker is not written yet: the database may be made */
    char *problem;
    size_t problem_bytes;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct opening *opening, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(opening->problem, opening->problem_bytes, format, arguments);
    va_end(arguments);
    /* What the operating system or RocksDB added may span lines. */
    for (char *at = opening->problem; *at != 0; at++) {
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    }
    return false;
}

/* Says what an errno means for the person who started the server. `what` is a verb: "make", "read". */
static bool refuse_errno(struct opening *opening, int error, const char *what, const char *name)
{
    const char *path = opening->path, *slash = *name ? "/" : "";
    switch (error) {
    case EACCES:
    case EPERM:
        return refuse(opening, "no permission to %s %s%s%s as user id %u: change its owner or mode, or run stator as its owner", what, path, slash, name,
                      (unsigned)geteuid());
    case ENOSPC:
    case EDQUOT:
        return refuse(opening, "the disk that holds %s is full: make room and start again; what is stored there is untouched", path);
    case EROFS:
        return refuse(opening, "%s is on a read-only file system: stator must be able to write there", path);
    case ENOTDIR:
        return refuse(opening, "%s%s%s is not a directory: give the path of a folder for the data", path, slash, name);
    case ENOENT:
        return refuse(opening, "cannot %s %s%s%s: the folder above it does not exist", what, path, slash, name);
    default:
        return refuse(opening, "cannot %s %s%s%s: %s", what, path, slash, name, strerror(error));
    }
}

/* Makes a new folder's entry last through a power cut: before anything is acknowledged, and not sooner, because a sync that follows others costs little. */
static bool parent_sync(struct opening *opening)
{
    char parent[PATH_MAX];
    size_t bytes = strlen(opening->path);
    while (bytes > 1 && opening->path[bytes - 1] == '/')
        bytes--;
    while (bytes > 0 && opening->path[bytes - 1] != '/')
        bytes--;
    if (bytes >= sizeof parent)
        return refuse_errno(opening, ENAMETOOLONG, "make", "");
    memcpy(parent, bytes ? opening->path : ".", bytes ? bytes : 1);
    parent[bytes ? bytes : 1] = 0;
    int folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Who made this folder for us may have kept the one above to himself. */
    if (folder < 0)
        return !opening->is_made || refuse_errno(opening, errno, "open the folder above", "");
    int result = fsync(folder), error = errno;
    close(folder);
    return result == 0 || refuse_errno(opening, error, "make", "");
}

static bool folder_open(struct opening *opening)
{
    opening->is_made = mkdir(opening->path, 0700) == 0;
    if (!opening->is_made && errno != EEXIST)
        return refuse_errno(opening, errno, "make", "");
    opening->folder = open(opening->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return opening->folder >= 0 || refuse_errno(opening, errno, "open", "");
}

/* A folder without a marker is taken only when it is empty. */
static bool folder_is_free(struct opening *opening)
{
    int again = openat(opening->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again >= 0 ? fdopendir(again) : NULL;
    if (entries == NULL) {
        int error = errno;
        if (again >= 0)
            close(again);
        return refuse_errno(opening, error, "read", "");
    }
    bool is_free = true;
    struct dirent *entry;
    while (is_free && (entry = readdir(entries)) != NULL) {
        /* The root of a fresh ext4 has its lost+found. A marker: another process is quicker by a moment. */
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && strcmp(entry->d_name, "lost+found") != 0 &&
            strcmp(entry->d_name, MARKER_NAME) != 0)
            is_free = refuse(opening, "%s holds something else (\"%s\"), which stator will not touch: give an empty folder, or one that stator made",
                             opening->path, entry->d_name);
    }
    closedir(entries);
    return is_free;
}

static bool marker_open(struct opening *opening)
{
    opening->marker = openat(opening->folder, MARKER_NAME, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (opening->marker < 0 && errno == ENOENT) {
        if (!folder_is_free(opening))
            return false;
        opening->marker = openat(opening->folder, MARKER_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    if (opening->marker < 0)
        return refuse_errno(opening, errno, "open", MARKER_NAME);
    if (flock(opening->marker, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return refuse(opening, "%s is in use by another stator: stop that one first, or give this one another folder", opening->path);
        return refuse_errno(opening, errno, "lock", MARKER_NAME);
    }
    return true;
}

static void marker_text(char text[MARKER_BYTES_MAX])
{
    snprintf(text, MARKER_BYTES_MAX, MARKER_START "%d\n", FORMAT);
}

/* Whether the text is what an interrupted write of the marker leaves: a part of it, perhaps filled up with 00. */
static bool marker_is_unfinished(str text)
{
    char whole[MARKER_BYTES_MAX];
    marker_text(whole);
    size_t shared = 0;
    while (shared < text.len && shared < strlen(whole) && text.data[shared] == whole[shared])
        shared++;
    if (shared == strlen(whole))
        return false;
    while (shared < text.len && text.data[shared] == 0)
        shared++;
    return shared == text.len;
}

static bool marker_read(struct opening *opening)
{
    char text[MARKER_BYTES_MAX + 1];
    ssize_t bytes = pread(opening->marker, text, MARKER_BYTES_MAX, 0);
    if (bytes < 0)
        return refuse_errno(opening, errno, "read", MARKER_NAME);
    text[bytes] = 0;
    opening->is_new = marker_is_unfinished(str_of(text, (size_t)bytes));
    if (opening->is_new)
        return true;
    char *end = text;
    unsigned long format = 0;
    const char *number = text + sizeof MARKER_START - 1;
    if (strncmp(text, MARKER_START, sizeof MARKER_START - 1) == 0 && *number >= '1' && *number <= '9')
        format = strtoul(number, &end, 10);
    if (format == 0 || *end != '\n')
        return refuse(opening, "%s/" MARKER_NAME " is damaged (it should read \"" MARKER_START "%d\"): restore the folder from a backup", opening->path,
                      FORMAT);
    if (format > FORMAT)
        return refuse(opening, "%s was written by a newer stator (data format %lu; this one knows formats up to %d): use that version; nothing was changed",
                      opening->path, format, FORMAT);
    return true;
}

/* Once the database is made: from here on a folder without its data is a loss, not a beginning. So the names in the folder last
   before the text does. */
static bool marker_write(struct opening *opening)
{
    char text[MARKER_BYTES_MAX];
    marker_text(text);
    size_t bytes = strlen(text);
    if (fsync(opening->folder) != 0)
        return refuse_errno(opening, errno, "write in", "");
    if (!parent_sync(opening))
        return false;
    ssize_t written = pwrite(opening->marker, text, bytes, 0);
    if (written >= 0 && (size_t)written < bytes)
        return refuse_errno(opening, ENOSPC, "write", MARKER_NAME);
    if (written < 0 || ftruncate(opening->marker, (off_t)bytes) != 0 || fsync(opening->marker) != 0)
        return refuse_errno(opening, errno, "write", MARKER_NAME);
    return true;
}

static bool space_check(struct opening *opening)
{
    struct statvfs space;
    if (fstatvfs(opening->folder, &space) == 0 && (unsigned long long)space.f_bavail * space.f_frsize < FREE_BYTES_MIN)
        return refuse_errno(opening, ENOSPC, "write", "");
    return true;
}

/* A new folder gets its subfolder; in an old one RocksDB's first file must be there, or something was lost. */
static bool rocks_folder_check(struct opening *opening)
{
    if (!opening->is_new) {
        if (faccessat(opening->folder, ROCKS_NAME "/CURRENT", F_OK, AT_EACCESS) != 0 && errno == ENOENT)
            return refuse(opening, "the data that %s should hold is missing (no " ROCKS_NAME "/CURRENT): restore the folder from a backup, or give an empty one",
                          opening->path);
        return true;
    }
    return mkdirat(opening->folder, ROCKS_NAME, 0700) == 0 || errno == EEXIST || refuse_errno(opening, errno, "make", ROCKS_NAME);
}

static int open_files_max(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return OPEN_FILES_MIN;
    /* Half is for connections. */
    rlim_t half = limit.rlim_cur / 2;
    return half < OPEN_FILES_MIN ? OPEN_FILES_MIN : half > OPEN_FILES_MAX ? OPEN_FILES_MAX : (int)half;
}

/* 16 KiB blocks make range scans cheaper than 4 KiB ones and cost a cached get nothing; the hash index within a block pays for
   its size. Index and filter blocks live in the cache, so that memory has one bound however large the data grows.
   No prefix extractor: keys of one range share one prefix, so it would only tell a scan of an empty range so a little sooner. */
static void set_tables(struct rocks *rocks)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_size(table, 16 << 10);
    rocksdb_block_based_options_set_block_cache(table, rocks->cache);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(table, 1);
    rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1);
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_ribbon_hybrid(10, 2));
    rocksdb_block_based_options_set_whole_key_filtering(table, 1);
    rocksdb_block_based_options_set_data_block_index_type(table, rocksdb_block_based_table_data_block_index_type_binary_search_and_hash);
    rocksdb_block_based_options_set_data_block_hash_ratio(table, 0.75);
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_options_set_block_based_table_factory(rocks->options, table);
    rocksdb_block_based_options_destroy(table);
}

/* The upper levels, where data is young and soon merged again, stay plain; LZ4 below. */
static void set_levels(rocksdb_options_t *options)
{
    static const int compression[] = {rocksdb_no_compression,  rocksdb_no_compression,  rocksdb_lz4_compression, rocksdb_lz4_compression,
                                      rocksdb_lz4_compression, rocksdb_lz4_compression, rocksdb_lz4_compression};
    rocksdb_options_set_num_levels(options, 7);
    rocksdb_options_set_compression_per_level(options, compression, 7);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
    rocksdb_options_set_max_bytes_for_level_base(options, 256 << 20);
    /* Few, large files: each is opened at the start. */
    rocksdb_options_set_target_file_size_base(options, 64 << 20);
    rocksdb_options_set_target_file_size_multiplier(options, 2);
}

static void set_memory(struct rocks *rocks, size_t cache_bytes)
{
    rocksdb_options_t *options = rocks->options;
    if (cache_bytes < CACHE_BYTES_MIN)
        cache_bytes = CACHE_BYTES_MIN;
    size_t buffers = cache_bytes / 4;
    buffers = buffers < WRITE_BUFFERS_MIN ? WRITE_BUFFERS_MIN : buffers > WRITE_BUFFERS_MAX ? WRITE_BUFFERS_MAX : buffers;
    rocks->cache = rocksdb_cache_create_lru(cache_bytes - buffers);
    rocksdb_options_set_db_write_buffer_size(options, buffers);
    rocksdb_options_set_write_buffer_size(options, buffers / 2);
    rocksdb_options_set_max_write_buffer_number(options, 3);
    /* The log that a restart after a kill has to replay: 100 MB take about a second. */
    rocksdb_options_set_max_total_wal_size(options, buffers);
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(options, 0.02);
    rocksdb_options_set_memtable_whole_key_filtering(options, 1);
}

/* RocksDB's own LOG goes to a file in memory that has no name any more once it is open. Debian's library is built with its
   assertions, and one of them stops the program when a line of the LOG cannot be written: on a full disk that came before any
   answer. What goes wrong reaches us as the status of a call. Without /dev/shm the LOG is beside the data, as RocksDB likes it. */
static void log_place_make(rocksdb_options_t *options, char path[LOG_PLACE_BYTES])
{
    snprintf(path, LOG_PLACE_BYTES, "/dev/shm/stator-XXXXXX");
    if (mkdtemp(path) != NULL)
        rocksdb_options_set_db_log_dir(options, path);
    else
        path[0] = 0;
}

static void log_place_forget(const char path[LOG_PLACE_BYTES])
{
    DIR *entries = path[0] != 0 ? opendir(path) : NULL;
    struct dirent *entry;
    if (entries == NULL)
        return;
    while ((entry = readdir(entries)) != NULL)
        unlinkat(dirfd(entries), entry->d_name, 0);
    closedir(entries);
    rmdir(path);
}

static void set_options(struct rocks *rocks, size_t cache_bytes, bool is_new)
{
    rocksdb_options_t *options = rocks->options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options, is_new);
    set_memory(rocks, cache_bytes);
    set_tables(rocks);
    set_levels(options);
    rocksdb_options_set_max_background_jobs(options, 2);
    rocksdb_options_set_max_open_files(options, open_files_max());
    /* 16 would be started for the fewest files. */
    rocksdb_options_set_max_file_opening_threads(options, is_new ? 1 : 4);
    /* A manifest grows by a few bytes a time, and to give back what of 4 MB it did not need, ext4 may wait for its journal: twice in a start. */
    rocksdb_options_set_manifest_preallocation_size(options, 0);
    rocksdb_options_set_skip_stats_update_on_db_open(options, 1);
    rocksdb_options_set_bytes_per_sync(options, 1 << 20);
    rocksdb_options_compaction_readahead_size(options, 2 << 20);
    rocksdb_options_set_avoid_unnecessary_blocking_io(options, 1);
    /* One committer writes: what lets several threads write at once only costs it. */
    rocksdb_options_set_allow_concurrent_memtable_write(options, 0);
    rocksdb_options_set_enable_write_thread_adaptive_yield(options, 0);
    /* Every write is synced, so only what was never acknowledged can be torn: the log is good up to there. */
    rocksdb_options_set_wal_recovery_mode(options, rocksdb_point_in_time_recovery);
    rocksdb_options_set_info_log_level(options, 3); /* errors */
    rocksdb_options_set_keep_log_file_num(options, 3);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
    rocksdb_options_set_stats_persist_period_sec(options, 0);
}

/* RocksDB says what failed only as text, so the cause is found by trying: may every file be used, does the disk take a file? */
static bool refuse_unopened(struct opening *opening, const char *cause)
{
    int folder = openat(opening->folder, ROCKS_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return refuse_errno(opening, errno, "open", ROCKS_NAME);
    DIR *entries = fdopendir(folder);
    struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (faccessat(folder, entry->d_name, R_OK | W_OK, AT_EACCESS) != 0 && (errno == EACCES || errno == EROFS)) {
            char name[300];
            int error = errno;
            snprintf(name, sizeof name, ROCKS_NAME "/%s", entry->d_name);
            closedir(entries);
            return refuse_errno(opening, error, "use", name);
        }
    }
    if (entries != NULL)
        closedir(entries);
    static const char filling[4096];
    int probe = openat(opening->folder, "STATOR_PROBE", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = probe < 0 ? errno : 0;
    if (probe >= 0) {
        if (write(probe, filling, sizeof filling) != (ssize_t)sizeof filling || fsync(probe) != 0)
            error = errno;
        close(probe);
        unlinkat(opening->folder, "STATOR_PROBE", 0);
    }
    if (error != 0)
        return refuse_errno(opening, error, "write in", "");
    return refuse(opening, "the data in %s cannot be opened: %s. If files are damaged or missing, restore the folder from a backup", opening->path, cause);
}

/* Refuses logs that are damaged before their end: opening would lose what stands behind, and delete it (rocks_wal.c). What looks so may have reached
   its tables long ago, in a log that outlived its use; an opening for reading, which changes nothing, tells. */
static bool logs_check(struct rocks *rocks, struct opening *opening, const char *path)
{
    char *error = NULL;
    int folder = openat(opening->folder, ROCKS_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint64_t lost = folder >= 0 ? rocks_wal_lost(folder) : 0;
    if (folder >= 0)
        close(folder);
    if (lost == 0)
        return true;
    rocksdb_t *reader = rocksdb_open_for_read_only(rocks->options, path, 0, &error);
    bool is_reached = reader != NULL && rocksdb_get_latest_sequence_number(reader) >= lost;
    if (reader != NULL)
        rocksdb_close(reader);
    rocksdb_free(error);
    return is_reached || refuse(opening, "a log in %s/" ROCKS_NAME " is damaged in the middle, and writes that were acknowledged stand behind: nothing was "
                                         "changed; restore the folder from a backup", opening->path);
}

static bool database_open(struct rocks *rocks, struct opening *opening, size_t cache_bytes)
{
    char path[PATH_MAX], log_place[LOG_PLACE_BYTES], *error = NULL;
    int bytes = snprintf(path, sizeof path, "%s/" ROCKS_NAME, opening->path);
    if (bytes < 0 || (size_t)bytes >= sizeof path)
        return refuse_errno(opening, ENAMETOOLONG, "open", "");
    set_options(rocks, cache_bytes, opening->is_new);
    log_place_make(rocks->options, log_place);
    if (!opening->is_new && !logs_check(rocks, opening, path)) {
        log_place_forget(log_place);
        return false;
    }
    /* By its column families, because only so does the C API hand out the default one, which batched reads ask for. */
    const char *const names[] = {"default"};
    const rocksdb_options_t *const settings[] = {rocks->options};
    rocks->db = rocksdb_open_column_families(rocks->options, path, 1, names, settings, &rocks->family, &error);
    log_place_forget(log_place);
    if (error != NULL) {
        refuse_unopened(opening, error);
        rocksdb_free(error);
        rocks->db = NULL;
        rocks->family = NULL;
        return false;
    }
    rocks->read = rocksdb_readoptions_create();
    rocks->synced = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(rocks->synced, 1);
    return true;
}

void rocks_place_close(struct rocks *rocks)
{
    if (rocks->read != NULL)
        rocksdb_readoptions_destroy(rocks->read);
    if (rocks->synced != NULL)
        rocksdb_writeoptions_destroy(rocks->synced);
    if (rocks->family != NULL)
        rocksdb_column_family_handle_destroy(rocks->family);
    if (rocks->db != NULL)
        rocksdb_close(rocks->db);
    if (rocks->options != NULL)
        rocksdb_options_destroy(rocks->options);
    if (rocks->cache != NULL)
        rocksdb_cache_destroy(rocks->cache);
    if (rocks->marker >= 0)
        close(rocks->marker);
}

bool rocks_place_open(struct rocks *rocks, const struct store_rocks_options *options, char *problem, size_t problem_bytes)
{
    struct opening opening = {.path = options->path, .folder = -1, .marker = -1, .problem = problem, .problem_bytes = problem_bytes};
    assert(problem_bytes > 0);
    bool is_open = folder_open(&opening) && marker_open(&opening) && marker_read(&opening) && space_check(&opening) &&
                   rocks_folder_check(&opening) && database_open(rocks, &opening, options->cache_bytes) &&
                   (!opening.is_new || marker_write(&opening));
    if (opening.folder >= 0)
        close(opening.folder);
    rocks->marker = opening.marker;
    if (!is_open)
        rocks_place_close(rocks);
    return is_open;
}
