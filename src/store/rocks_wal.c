/* Looks through RocksDB's write-ahead logs before it opens them. Recovery ends, without a word, at the first record that is
   not whole: right for what a power cut tore off the end, but a damaged byte further up would cost every acknowledged write behind it.
   The two can be told apart: each write is synced before the next begins, so behind a torn record no other one can have begun.

   A log is blocks of 32 KiB, a block a row of fragments: checksum (CRC-32C of what follows the length, masked), length (2 bytes),
   type (1 byte), bytes. A record is one FULL fragment, or FIRST, MIDDLE..., LAST; it begins with its first sequence number (8 bytes)
   and how many it takes (4 bytes). All numbers are little-endian. */
#include "store/rocks_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK_BYTES = 32 << 10, HEADER_BYTES = 7, BATCH_HEAD_BYTES = 12, CRC_TABLES = 8 };
enum fragment_type { FRAGMENT_FULL = 1, FRAGMENT_FIRST, FRAGMENT_MIDDLE, FRAGMENT_LAST };

#define CRC_MASK_DELTA 0xa282ead8u
#define CRC_POLYNOMIAL 0x82f63b78u

struct scan {
    uint32_t crc[CRC_TABLES][256];
    uint64_t next;    /* the sequence number that the next record begins with; 0: none was seen */
    uint64_t begun;   /* what `next` becomes with the LAST fragment of the record under way; 0: none is */
    bool is_broken;   /* a record was not whole, and nothing has joined on since */
    uint64_t beyond;  /* the highest sequence number of a record that begins behind a break; 0: none does */
};

static void crc_tables_fill(uint32_t crc[CRC_TABLES][256])
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t sum = byte;
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? CRC_POLYNOMIAL : 0);
        crc[0][byte] = sum;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (size_t table = 1; table < CRC_TABLES; table++)
            crc[table][byte] = crc[table - 1][byte] >> 8 ^ crc[0][crc[table - 1][byte] & 0xff];
}

/* Eight bytes at a time: a start after a kill has up to 128 MB to look at. */
static uint32_t crc_of(const struct scan *scan, const uint8_t *data, size_t bytes)
{
    const uint32_t (*crc)[256] = scan->crc;
    uint32_t sum = UINT32_MAX;
    for (; bytes >= 8; bytes -= 8, data += 8) {
        uint64_t word;
        memcpy(&word, data, 8);
        word ^= sum;
        sum = crc[7][word & 0xff] ^ crc[6][word >> 8 & 0xff] ^ crc[5][word >> 16 & 0xff] ^ crc[4][word >> 24 & 0xff] ^ crc[3][word >> 32 & 0xff] ^
              crc[2][word >> 40 & 0xff] ^ crc[1][word >> 48 & 0xff] ^ crc[0][word >> 56];
    }
    for (; bytes > 0; bytes--, data++)
        sum = sum >> 8 ^ crc[0][(sum ^ *data) & 0xff];
    return ~sum;
}

static uint64_t take_u64(const uint8_t *at)
{
    uint64_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

static uint32_t take_u32(const uint8_t *at)
{
    uint32_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

/* The length of the fragment at `at` with its header, or 0 when it is none. */
static size_t fragment_bytes(const struct scan *scan, const uint8_t *at, size_t left)
{
    if (left < HEADER_BYTES)
        return 0;
    size_t length = (size_t)at[4] | (size_t)at[5] << 8;
    if (at[6] < FRAGMENT_FULL || at[6] > FRAGMENT_LAST || length > left - HEADER_BYTES)
        return 0;
    uint32_t sum = crc_of(scan, at + 6, 1 + length);
    return take_u32(at) == (sum >> 15 | sum << 17) + CRC_MASK_DELTA ? HEADER_BYTES + length : 0;
}

static void scan_break(struct scan *scan)
{
    scan->is_broken = true;
    scan->begun = 0;
}

/* A record begins. One that takes up where the last whole one ended joins on: RocksDB goes on with the next log in just that case, after a start
   that gave up a torn end. One from before is left from a log whose place on the disk this one took. */
static void scan_begin(struct scan *scan, const uint8_t *record)
{
    uint64_t sequence = take_u64(record);
    if (scan->begun != 0)
        scan_break(scan);
    if (scan->is_broken && sequence != scan->next) {
        if (sequence > scan->next && sequence > scan->beyond)
            scan->beyond = sequence;
        return;
    }
    scan->is_broken = false;
    scan->begun = sequence + take_u32(record + 8);
}

static void scan_fragment(struct scan *scan, const uint8_t *at, size_t bytes)
{
    enum fragment_type type = (enum fragment_type)at[6];
    bool begins = type == FRAGMENT_FULL || type == FRAGMENT_FIRST;
    if (begins && bytes >= HEADER_BYTES + BATCH_HEAD_BYTES)
        scan_begin(scan, at + HEADER_BYTES);
    else if (begins || scan->begun == 0)
        scan_break(scan);
    if ((type == FRAGMENT_FULL || type == FRAGMENT_LAST) && scan->begun != 0) {
        scan->next = scan->begun;
        scan->begun = 0;
    }
}

/* Whether a record that is missing some behind `lost` damaged bytes may begin here: asked at every byte, so before any sum is made. A write takes
   more than 16 bytes for each sequence number, so bytes of a torn record that only look like a record, or were made to, do not pass for one. */
static bool may_begin(const struct scan *scan, const uint8_t *at, size_t left, size_t lost)
{
    if (left < HEADER_BYTES + BATCH_HEAD_BYTES || (at[6] != FRAGMENT_FULL && at[6] != FRAGMENT_FIRST))
        return false;
    uint64_t sequence = take_u64(at + HEADER_BYTES);
    return sequence > scan->next && sequence - scan->next <= lost / 16 + 1;
}

static void scan_block(struct scan *scan, const uint8_t *block, size_t block_bytes)
{
    size_t lost = 0; /* bytes in a row of which no fragment was made */
    for (size_t at = 0; block_bytes - at >= HEADER_BYTES;) {
        const uint8_t *here = block + at;
        size_t left = block_bytes - at;
        size_t bytes = lost > 0 && !may_begin(scan, here, left, lost) ? 0 : fragment_bytes(scan, here, left);
        if (bytes > 0) {
            scan_fragment(scan, here, bytes);
            lost = 0;
            at += bytes;
            continue;
        }
        if (lost == 0)
            scan_break(scan);
        lost++;
        at++;
    }
}

static bool scan_file(struct scan *scan, int folder, const char *name)
{
    static const size_t blocks_at_once = 8;
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    uint8_t *blocks = store_alloc(blocks_at_once * BLOCK_BYTES);
    off_t at = 0;
    ssize_t got;
    while ((got = pread(file, blocks, blocks_at_once * BLOCK_BYTES, at)) > 0) {
        for (size_t done = 0; done < (size_t)got; done += BLOCK_BYTES)
            scan_block(scan, blocks + done, (size_t)got - done < BLOCK_BYTES ? (size_t)got - done : BLOCK_BYTES);
        at += got;
    }
    free(blocks);
    close(file);
    /* The record under way may go on in no other file. */
    if (scan->begun != 0)
        scan_break(scan);
    return got == 0;
}

/* The number of a log, "000012.log", or 0. */
static uint64_t log_number(const char *name)
{
    char *end;
    uint64_t number = name[0] >= '0' && name[0] <= '9' ? strtoull(name, &end, 10) : 0;
    return number > 0 && strcmp(end, ".log") == 0 ? number : 0;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The logs' numbers in order; the caller frees them. */
static uint64_t *log_numbers(DIR *entries, size_t *count)
{
    size_t capacity = 16;
    uint64_t *numbers = store_alloc(capacity * sizeof *numbers);
    struct dirent *entry;
    *count = 0;
    while ((entry = readdir(entries)) != NULL) {
        uint64_t number = log_number(entry->d_name);
        if (number == 0)
            continue;
        if (*count == capacity) {
            uint64_t *more = store_alloc(2 * capacity * sizeof *more);
            memcpy(more, numbers, capacity * sizeof *more);
            free(numbers);
            numbers = more;
            capacity *= 2;
        }
        numbers[(*count)++] = number;
    }
    qsort(numbers, *count, sizeof *numbers, compare_numbers);
    return numbers;
}

uint64_t rocks_wal_lost(int folder)
{
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again >= 0 ? fdopendir(again) : NULL;
    if (entries == NULL) {
        if (again >= 0)
            close(again);
        return 0; /* RocksDB will say why */
    }
    size_t count;
    uint64_t *numbers = log_numbers(entries, &count);
    struct scan *scan = store_alloc_zeroed(sizeof *scan);
    crc_tables_fill(scan->crc);
    bool is_read = true;
    for (size_t i = 0; i < count && is_read; i++) {
        char name[32];
        snprintf(name, sizeof name, "%06llu.log", (unsigned long long)numbers[i]);
        is_read = scan_file(scan, again, name);
    }
    uint64_t beyond = is_read ? scan->beyond : 0;
    free(scan);
    free(numbers);
    closedir(entries);
    return beyond;
}
