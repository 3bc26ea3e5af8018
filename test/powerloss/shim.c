/* A preload that keeps a journal of everything a process does to the files of one folder, so that cut.py can say what a power
   cut at any moment would have left, and that makes chosen calls fail.

   POWERLOSS_ROOT     the folder that is watched (an absolute path; it need not exist yet)
   POWERLOSS_JOURNAL  the journal, appended to; other processes may append notes of their own (O_APPEND, one write a frame)
   POWERLOSS_IGNORE   syncs that are reported as done but do not count: "all", "log" (of *.log files), "dir" (of directories)
   POWERLOSS_FAIL     CLASS:N:ERROR, the N-th call (from 1) of a class fails. CLASS: write, sync, meta (what makes, renames or removes
                      names). ERROR: EIO fails that call only; EIO+ that and all later ones of the class; ENOSPC writes half of it,
                      and all later ones of write and meta fail, as on a disk that has filled up.

   A sync is recorded when it returns, with the number of the last operation before it began: later ones it does not cover. Nothing
   is really synced: whoever reads the journal decides what the disk holds. Calls that are not modelled (writing through
   mmap) stop the program. What the C library writes for itself (fopen: RocksDB's LOG) is never recorded, and so never survives. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* cut.py reads the same numbers. */
enum frame_kind {
    FRAME_CREATE = 1, /* folder, inode, name */
    FRAME_MKDIR,      /* folder (0: the root itself), inode, name */
    FRAME_WRITE,      /* inode, offset, bytes */
    FRAME_TRUNCATE,   /* inode, offset: the new size */
    FRAME_SYNC,       /* inode, offset: number of the last operation before it began */
    FRAME_SYNC_FAILED,
    FRAME_RENAME,     /* folder, inode: the new folder; old name, 00, new name */
    FRAME_UNLINK,     /* folder, name; also of a folder */
    FRAME_LINK,       /* folder, inode, name */
    FRAME_FOLDER_SYNC,
    FRAME_NOTE        /* text */
};

struct frame {
    uint32_t bytes; /* of the frame with what follows */
    uint32_t kind;
    uint64_t number;
    uint64_t inode;
    uint64_t folder;
    uint64_t offset;
};

enum fail_class { FAIL_WRITE, FAIL_SYNC, FAIL_META, FAIL_CLASSES };

enum { FILES_MAX = 65536 };

struct watched {
    uint64_t inode; /* 0: not watched */
    bool is_folder;
    bool is_log;
};

void powerloss_note(const char *text, size_t bytes);

/* A preload has no other place to keep its state. */
static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    char root[PATH_MAX];
    size_t root_bytes;
    int journal;
    uint64_t number;
    const char *ignore;
    enum fail_class fail_class;
    long fail_at; /* 0: nothing fails */
    int fail_error;
    bool fail_stays;
    long calls[FAIL_CLASSES];
    struct watched files[FILES_MAX];
} shim = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT, .journal = -1};

/* The real function behind a name. The cast through memcpy is how ISO C gets a function out of dlsym. */
#define REAL(result, name, ...)                                    \
    static result (*real)(__VA_ARGS__);                            \
    if (real == NULL) {                                            \
        void *found = dlsym(RTLD_NEXT, #name);                     \
        memcpy(&real, &found, sizeof found);                       \
    }                                                              \
    pthread_once(&shim.once, shim_open)

static void shim_stop(const char *why)
{
    dprintf(2, "powerloss shim: %s\n", why);
    _exit(99);
}

static void shim_read_fail(const char *text)
{
    static const char *const classes[] = {"write", "sync", "meta"};
    for (int class = 0; class < FAIL_CLASSES; class++) {
        size_t bytes = strlen(classes[class]);
        if (strncmp(text, classes[class], bytes) != 0 || text[bytes] != ':')
            continue;
        char *end;
        shim.fail_class = (enum fail_class)class;
        shim.fail_at = strtol(text + bytes + 1, &end, 10);
        shim.fail_stays = strcmp(end, ":EIO+") == 0;
        shim.fail_error = strcmp(end, ":ENOSPC") == 0 ? ENOSPC : EIO;
        if (shim.fail_at > 0 && (shim.fail_error == ENOSPC || shim.fail_stays || strcmp(end, ":EIO") == 0))
            return;
    }
    shim_stop("POWERLOSS_FAIL is CLASS:N:ERROR");
}

static void shim_open(void)
{
    const char *root = getenv("POWERLOSS_ROOT"), *journal = getenv("POWERLOSS_JOURNAL"), *fails = getenv("POWERLOSS_FAIL");
    if (root == NULL || journal == NULL)
        return;
    snprintf(shim.root, sizeof shim.root, "%s", root);
    shim.root_bytes = strlen(shim.root);
    shim.ignore = getenv("POWERLOSS_IGNORE");
    if (fails != NULL)
        shim_read_fail(fails);
    int (*open_real)(const char *, int, ...);
    void *found = dlsym(RTLD_NEXT, "open");
    memcpy(&open_real, &found, sizeof found);
    shim.journal = open_real(journal, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (shim.journal < 0)
        shim_stop("cannot open the journal");
}

/* Appends a frame; called with the lock. */
static void journal_add(enum frame_kind kind, uint64_t folder, uint64_t inode, uint64_t offset, const struct iovec *parts, int part_count)
{
    ssize_t (*writev_real)(int, const struct iovec *, int);
    void *found = dlsym(RTLD_NEXT, "writev");
    memcpy(&writev_real, &found, sizeof found);
    struct frame frame = {.kind = kind, .number = ++shim.number, .inode = inode, .folder = folder, .offset = offset};
    struct iovec all[8] = {{&frame, sizeof frame}};
    size_t bytes = sizeof frame;
    for (int at = 0; at < part_count; at++) {
        all[at + 1] = parts[at];
        bytes += parts[at].iov_len;
    }
    frame.bytes = (uint32_t)bytes;
    if (writev_real(shim.journal, all, part_count + 1) != (ssize_t)bytes)
        shim_stop("cannot write the journal");
}

static void journal_add_name(enum frame_kind kind, uint64_t folder, uint64_t inode, const char *name)
{
    struct iovec part = {(void *)(uintptr_t)name, strlen(name)};
    journal_add(kind, folder, inode, 0, &part, 1);
}

void powerloss_note(const char *text, size_t bytes)
{
    pthread_once(&shim.once, shim_open);
    if (shim.journal < 0)
        return;
    pthread_mutex_lock(&shim.lock);
    struct iovec part = {(void *)(uintptr_t)text, bytes};
    journal_add(FRAME_NOTE, 0, 0, 0, &part, 1);
    pthread_mutex_unlock(&shim.lock);
}

/* Counts a call; when it is to fail, its errno, else 0. *is_first (may be NULL): it is the first to fail. */
static int fail_next(enum fail_class class, bool *is_first)
{
    if (shim.fail_at == 0)
        return 0;
    pthread_mutex_lock(&shim.lock);
    long call = ++shim.calls[class];
    bool is_reached = shim.calls[shim.fail_class] >= shim.fail_at;
    pthread_mutex_unlock(&shim.lock);
    if (is_first != NULL)
        *is_first = class == shim.fail_class && call == shim.fail_at;
    if (shim.fail_error == ENOSPC)
        return is_reached && class != FAIL_SYNC && (class != shim.fail_class || call >= shim.fail_at) ? ENOSPC : 0;
    return class == shim.fail_class && (call == shim.fail_at || (shim.fail_stays && call > shim.fail_at)) ? EIO : 0;
}

/* --- paths --- */

struct place {
    uint64_t folder; /* inode; 0: the place is the root itself */
    char path[PATH_MAX];
    const char *name;
};

/* Whether the path leads into the watched folder; where to, if so. */
static bool place_of(int at, const char *path, struct place *place)
{
    if (shim.journal < 0)
        return false;
    if (path[0] == '/') {
        snprintf(place->path, sizeof place->path, "%s", path);
    } else {
        char folder[PATH_MAX], link[64];
        ssize_t bytes;
        snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        bytes = readlink(at == AT_FDCWD ? "/proc/self/cwd" : link, folder, sizeof folder - 1);
        if (bytes < 0)
            return false;
        folder[bytes] = 0;
        if ((size_t)snprintf(place->path, sizeof place->path, "%s/%s", folder, path) >= sizeof place->path)
            return false;
    }
    size_t bytes = strlen(place->path);
    while (bytes > 1 && place->path[bytes - 1] == '/')
        place->path[--bytes] = 0;
    if (strncmp(place->path, shim.root, shim.root_bytes) != 0)
        return false;
    char *slash = strrchr(place->path, '/');
    place->name = slash + 1;
    if (bytes == shim.root_bytes) {
        place->folder = 0;
        return true;
    }
    if (place->path[shim.root_bytes] != '/')
        return false;
    struct stat folder_stat;
    *slash = 0;
    int result = stat(place->path, &folder_stat);
    *slash = '/';
    if (result != 0)
        return false;
    place->folder = folder_stat.st_ino;
    return true;
}

/* --- opening and closing --- */

static int open_watched(int at, const char *path, int flags, mode_t mode, int (*real)(int, const char *, int, ...))
{
    struct place place;
    if (!place_of(at, path, &place))
        return real(at, path, flags, mode);
    struct stat before, after;
    bool was_there = fstatat(at, path, &before, 0) == 0;
    if ((flags & O_CREAT) && !was_there) {
        int error = fail_next(FAIL_META, NULL);
        if (error != 0) {
            errno = error;
            return -1;
        }
    }
    pthread_mutex_lock(&shim.lock);
    int file = real(at, path, flags, mode);
    if (file >= 0) {
        if (file >= FILES_MAX || fstat(file, &after) != 0)
            shim_stop("too many files");
        shim.files[file] = (struct watched){after.st_ino, S_ISDIR(after.st_mode), false};
        const char *dot = strrchr(place.name, '.');
        shim.files[file].is_log = dot != NULL && strcmp(dot, ".log") == 0;
        if (!was_there)
            journal_add_name(FRAME_CREATE, place.folder, after.st_ino, place.name);
        else if ((flags & O_TRUNC) && before.st_size > 0)
            journal_add(FRAME_TRUNCATE, 0, after.st_ino, 0, NULL, 0);
    }
    pthread_mutex_unlock(&shim.lock);
    return file;
}

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(arguments, unsigned) : 0;
}

#define OPEN_AT(name)                                                   \
    int name(int at, const char *path, int flags, ...);                 \
    int name(int at, const char *path, int flags, ...)                  \
    {                                                                   \
        REAL(int, openat, int, const char *, int, ...);                 \
        va_list arguments;                                              \
        va_start(arguments, flags);                                     \
        mode_t mode = mode_of(flags, arguments);                        \
        va_end(arguments);                                              \
        return open_watched(at, path, flags, mode, real);               \
    }

#define OPEN(name)                                                      \
    int name(const char *path, int flags, ...);                         \
    int name(const char *path, int flags, ...)                          \
    {                                                                   \
        REAL(int, openat, int, const char *, int, ...);                 \
        va_list arguments;                                              \
        va_start(arguments, flags);                                     \
        mode_t mode = mode_of(flags, arguments);                        \
        va_end(arguments);                                              \
        return open_watched(AT_FDCWD, path, flags, mode, real);         \
    }

#define CREAT(name)                                                                            \
    int name(const char *path, mode_t mode);                                                   \
    int name(const char *path, mode_t mode)                                                    \
    {                                                                                          \
        REAL(int, openat, int, const char *, int, ...);                                        \
        return open_watched(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode, real);         \
    }

OPEN_AT(openat)
OPEN_AT(openat64)
OPEN(open)
OPEN(open64)
CREAT(creat)
CREAT(creat64)

int close(int file)
{
    REAL(int, close, int);
    if (file >= 0 && file < FILES_MAX)
        shim.files[file].inode = 0;
    return real(file);
}

static struct watched watched_of(int file)
{
    return shim.journal >= 0 && file >= 0 && file < FILES_MAX ? shim.files[file] : (struct watched){0};
}

/* --- writing --- */

/* offset below 0: at the file's own position. */
static ssize_t write_watched(int file, const struct iovec *parts, int part_count, off_t offset)
{
    static ssize_t (*pwritev_real)(int, const struct iovec *, int, off_t);
    static ssize_t (*writev_real)(int, const struct iovec *, int);
    if (pwritev_real == NULL) {
        void *found = dlsym(RTLD_NEXT, "pwritev");
        memcpy(&pwritev_real, &found, sizeof found);
        found = dlsym(RTLD_NEXT, "writev");
        memcpy(&writev_real, &found, sizeof found);
    }
    struct watched watched = watched_of(file);
    if (watched.inode == 0)
        return offset < 0 ? writev_real(file, parts, part_count) : pwritev_real(file, parts, part_count, offset);
    struct iovec half = {parts[0].iov_base, parts[0].iov_len / 2};
    bool is_first = false;
    int error = fail_next(FAIL_WRITE, &is_first);
    if (error == ENOSPC && is_first && half.iov_len > 0) {
        parts = &half;
        part_count = 1;
    } else if (error != 0) {
        errno = error;
        return -1;
    }
    pthread_mutex_lock(&shim.lock);
    off_t place = offset;
    if (place < 0 && (fcntl(file, F_GETFL) & O_APPEND))
        place = lseek(file, 0, SEEK_END);
    else if (place < 0)
        place = lseek(file, 0, SEEK_CUR);
    ssize_t written = offset < 0 ? writev_real(file, parts, part_count) : pwritev_real(file, parts, part_count, offset);
    size_t left = written > 0 ? (size_t)written : 0;
    for (int at = 0; at < part_count && left > 0; at++) {
        struct iovec part = {parts[at].iov_base, parts[at].iov_len < left ? parts[at].iov_len : left};
        journal_add(FRAME_WRITE, 0, watched.inode, (uint64_t)place, &part, 1);
        place += (off_t)part.iov_len;
        left -= part.iov_len;
    }
    pthread_mutex_unlock(&shim.lock);
    return written;
}

ssize_t write(int file, const void *data, size_t bytes)
{
    REAL(ssize_t, write, int, const void *, size_t);
    struct iovec part = {(void *)(uintptr_t)data, bytes};
    return watched_of(file).inode == 0 ? real(file, data, bytes) : write_watched(file, &part, 1, -1);
}

ssize_t writev(int file, const struct iovec *parts, int part_count)
{
    pthread_once(&shim.once, shim_open);
    return write_watched(file, parts, part_count, -1);
}

#define PWRITE(name)                                                          \
    ssize_t name(int file, const void *data, size_t bytes, off_t offset);     \
    ssize_t name(int file, const void *data, size_t bytes, off_t offset)      \
    {                                                                         \
        struct iovec part = {(void *)(uintptr_t)data, bytes};                 \
        pthread_once(&shim.once, shim_open);                                  \
        return write_watched(file, &part, 1, offset);                         \
    }

PWRITE(pwrite)
PWRITE(pwrite64)

#define PWRITEV(name)                                                                       \
    ssize_t name(int file, const struct iovec *parts, int part_count, off_t offset);        \
    ssize_t name(int file, const struct iovec *parts, int part_count, off_t offset)         \
    {                                                                                       \
        pthread_once(&shim.once, shim_open);                                                \
        return write_watched(file, parts, part_count, offset);                              \
    }

PWRITEV(pwritev)
PWRITEV(pwritev64)

static void size_record(int file, const char *path, off_t size)
{
    struct stat now;
    if (path != NULL ? stat(path, &now) == 0 : fstat(file, &now) == 0)
        journal_add(FRAME_TRUNCATE, 0, now.st_ino, (uint64_t)size, NULL, 0);
}

#define FTRUNCATE(name)                                     \
    int name(int file, off_t size);                         \
    int name(int file, off_t size)                          \
    {                                                       \
        REAL(int, ftruncate, int, off_t);                   \
        if (watched_of(file).inode == 0)                    \
            return real(file, size);                        \
        pthread_mutex_lock(&shim.lock);                     \
        int result = real(file, size);                      \
        if (result == 0)                                    \
            size_record(file, NULL, size);                  \
        pthread_mutex_unlock(&shim.lock);                   \
        return result;                                      \
    }

FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

int truncate(const char *path, off_t size)
{
    REAL(int, truncate, const char *, off_t);
    struct place place;
    if (!place_of(AT_FDCWD, path, &place))
        return real(path, size);
    pthread_mutex_lock(&shim.lock);
    int result = real(path, size);
    if (result == 0)
        size_record(-1, path, size);
    pthread_mutex_unlock(&shim.lock);
    return result;
}

/* Space without size changes nothing that a power cut shows; a grown size is recorded. */
static void allocation_record(int file, int mode, off_t offset, off_t bytes)
{
    struct stat now;
    if (watched_of(file).inode == 0 || (mode & FALLOC_FL_KEEP_SIZE))
        return;
    pthread_mutex_lock(&shim.lock);
    if (fstat(file, &now) == 0 && now.st_size == offset + bytes)
        journal_add(FRAME_TRUNCATE, 0, now.st_ino, (uint64_t)now.st_size, NULL, 0);
    pthread_mutex_unlock(&shim.lock);
}

int fallocate(int file, int mode, off_t offset, off_t bytes)
{
    REAL(int, fallocate, int, int, off_t, off_t);
    int result = real(file, mode, offset, bytes);
    if (result == 0)
        allocation_record(file, mode, offset, bytes);
    return result;
}

int posix_fallocate(int file, off_t offset, off_t bytes)
{
    REAL(int, posix_fallocate, int, off_t, off_t);
    int result = real(file, offset, bytes);
    if (result == 0)
        allocation_record(file, 0, offset, bytes);
    return result;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    REAL(void *, mmap, void *, size_t, int, int, int, off_t);
    if ((flags & MAP_SHARED) && (protection & PROT_WRITE) && watched_of(file).inode != 0)
        shim_stop("writing through mmap is not modelled");
    return real(address, bytes, protection, flags, file, offset);
}

/* --- syncing --- */

static bool sync_is_ignored(struct watched watched)
{
    if (shim.ignore == NULL)
        return false;
    return strcmp(shim.ignore, "all") == 0 || (watched.is_folder && strcmp(shim.ignore, "dir") == 0) ||
           (watched.is_log && strcmp(shim.ignore, "log") == 0);
}

static int sync_watched(int file, int (*real)(int))
{
    struct watched watched = watched_of(file);
    if (watched.inode == 0)
        return real(file);
    pthread_mutex_lock(&shim.lock);
    uint64_t covered = shim.number;
    pthread_mutex_unlock(&shim.lock);
    int error = fail_next(FAIL_SYNC, NULL);
    if (error != 0 || !sync_is_ignored(watched)) {
        enum frame_kind kind = error != 0 ? FRAME_SYNC_FAILED : watched.is_folder ? FRAME_FOLDER_SYNC : FRAME_SYNC;
        pthread_mutex_lock(&shim.lock);
        journal_add(kind, 0, watched.inode, covered, NULL, 0);
        pthread_mutex_unlock(&shim.lock);
    }
    errno = error;
    return error != 0 ? -1 : 0;
}

int fsync(int file)
{
    REAL(int, fsync, int);
    return sync_watched(file, real);
}

int fdatasync(int file)
{
    REAL(int, fdatasync, int);
    return sync_watched(file, real);
}

/* Not a promise of anything: never recorded. */
int sync_file_range(int file, off64_t offset, off64_t bytes, unsigned flags)
{
    REAL(int, sync_file_range, int, off64_t, off64_t, unsigned);
    return watched_of(file).inode != 0 ? 0 : real(file, offset, bytes, flags);
}

/* --- names --- */

static bool meta_fails(void)
{
    int error = fail_next(FAIL_META, NULL);
    errno = error;
    return error != 0;
}

int mkdirat(int at, const char *path, mode_t mode)
{
    REAL(int, mkdirat, int, const char *, mode_t);
    struct place place;
    struct stat made;
    if (!place_of(at, path, &place))
        return real(at, path, mode);
    if (meta_fails())
        return -1;
    pthread_mutex_lock(&shim.lock);
    int result = real(at, path, mode);
    if (result == 0 && fstatat(at, path, &made, 0) == 0)
        journal_add_name(FRAME_MKDIR, place.folder, made.st_ino, place.name);
    pthread_mutex_unlock(&shim.lock);
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int renameat(int old_at, const char *old_path, int new_at, const char *new_path)
{
    REAL(int, renameat, int, const char *, int, const char *);
    struct place old_place, new_place;
    bool is_watched = place_of(old_at, old_path, &old_place);
    if (place_of(new_at, new_path, &new_place) != is_watched)
        shim_stop("a file is moved into or out of the watched folder");
    if (!is_watched)
        return real(old_at, old_path, new_at, new_path);
    if (meta_fails())
        return -1;
    pthread_mutex_lock(&shim.lock);
    int result = real(old_at, old_path, new_at, new_path);
    if (result == 0) {
        struct iovec parts[] = {{(void *)(uintptr_t)old_place.name, strlen(old_place.name) + 1}, {(void *)(uintptr_t)new_place.name, strlen(new_place.name)}};
        journal_add(FRAME_RENAME, old_place.folder, new_place.folder, 0, parts, 2);
    }
    pthread_mutex_unlock(&shim.lock);
    return result;
}

int rename(const char *old_path, const char *new_path)
{
    return renameat(AT_FDCWD, old_path, AT_FDCWD, new_path);
}

int linkat(int old_at, const char *old_path, int new_at, const char *new_path, int flags)
{
    REAL(int, linkat, int, const char *, int, const char *, int);
    struct place place;
    struct stat made;
    if (!place_of(new_at, new_path, &place))
        return real(old_at, old_path, new_at, new_path, flags);
    if (meta_fails())
        return -1;
    pthread_mutex_lock(&shim.lock);
    int result = real(old_at, old_path, new_at, new_path, flags);
    if (result == 0 && fstatat(new_at, new_path, &made, 0) == 0)
        journal_add_name(FRAME_LINK, place.folder, made.st_ino, place.name);
    pthread_mutex_unlock(&shim.lock);
    return result;
}

int link(const char *old_path, const char *new_path)
{
    return linkat(AT_FDCWD, old_path, AT_FDCWD, new_path, 0);
}

int unlinkat(int at, const char *path, int flags)
{
    REAL(int, unlinkat, int, const char *, int);
    struct place place;
    if (!place_of(at, path, &place))
        return real(at, path, flags);
    pthread_mutex_lock(&shim.lock);
    int result = real(at, path, flags);
    if (result == 0)
        journal_add_name(FRAME_UNLINK, place.folder, 0, place.name);
    pthread_mutex_unlock(&shim.lock);
    return result;
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}
