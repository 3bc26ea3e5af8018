/* The keys file, read whole at the start and held as it is. */
#include "directory/directory.h"

#include "json/json.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

enum { FILE_BYTES_MAX = 16 << 20, KEYS_MAX = 100000, ACCOUNT_DIGITS = 12, ACCESS_KEY_BYTES_MAX = 128 };

#define DEFAULT_ACCOUNT "000000000000"

struct directory {
    struct arena arena;
    struct auth_key *keys;
    size_t key_count;
    uint32_t *slots;      /* index of a key plus one, by the hash of its access key; open addressing */
    size_t slot_mask;
};

/* Where the reader is, for what it says of faults. */
struct reader {
    struct directory *directory;
    const char *path;
    struct json json;
    char *problem;
    size_t problem_bytes;
};

static unsigned line_of(const struct reader *reader, uint32_t token)
{
    unsigned line = 1;
    for (uint32_t at = 0; at < reader->json.tokens[token].start; at++)
        line += reader->json.text.data[at] == '\n';
    return line;
}

__attribute__((format(printf, 3, 4))) static bool refuse(const struct reader *reader, uint32_t token, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int at = snprintf(reader->problem, reader->problem_bytes, "%s line %u: ", reader->path, line_of(reader, token));
    if (at >= 0 && (size_t)at < reader->problem_bytes)
        vsnprintf(reader->problem + at, reader->problem_bytes - (size_t)at, format, arguments);
    va_end(arguments);
    return false;
}

static bool read_file(const char *path, struct arena *arena, str *text, char *problem, size_t problem_bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        snprintf(problem, problem_bytes, "cannot read the keys file %s: %s", path, strerror(errno));
        return false;
    }
    struct buf out;
    buf_open(&out, arena, 4096);
    size_t bytes = 1;
    while (bytes > 0 && out.len <= FILE_BYTES_MAX) {
        char *to = buf_reserve(&out, 4096);
        bytes = fread(to, 1, 4096, file);
        out.len += bytes;
    }
    bool sound = !ferror(file) && out.len <= FILE_BYTES_MAX;
    if (!sound)
        snprintf(problem, problem_bytes, "cannot read the keys file %s: it is no file of at most 16 MB", path);
    fclose(file);
    *text = buf_str(&out);
    return sound;
}

/* A member that is a string; false when it is something else. An absent one is empty. */
static bool read_text(const struct reader *reader, uint32_t object, const char *name, str *text)
{
    uint32_t token = json_member(&reader->json, object, str_of_text(name));
    *text = STR_NONE;
    if (token == JSON_ABSENT)
        return true;
    if (json_type(&reader->json, token) != JSON_STRING)
        return refuse(reader, token, "%s is no string", name);
    *text = arena_copy(&reader->directory->arena, json_string(&reader->json, token));
    return true;
}

static bool take_digits(str *text, size_t count, int64_t *number)
{
    *number = 0;
    if (text->len < count)
        return false;
    for (size_t at = 0; at < count; at++) {
        if (text->data[at] < '0' || text->data[at] > '9')
            return false;
        *number = *number * 10 + (text->data[at] - '0');
    }
    *text = str_from(*text, count);
    return true;
}

static bool take_byte(str *text, char byte)
{
    if (text->len == 0 || text->data[0] != byte)
        return false;
    *text = str_from(*text, 1);
    return true;
}

/* "2026-12-01T00:00:00Z" */
static bool read_time(str text, int64_t *time_us)
{
    int64_t year, month, day, hour, minute, second;
    bool sound = take_digits(&text, 4, &year) && take_byte(&text, '-') && take_digits(&text, 2, &month) && take_byte(&text, '-') &&
                 take_digits(&text, 2, &day) && take_byte(&text, 'T') && take_digits(&text, 2, &hour) && take_byte(&text, ':') &&
                 take_digits(&text, 2, &minute) && take_byte(&text, ':') && take_digits(&text, 2, &second) && take_byte(&text, 'Z') && text.len == 0;
    if (!sound || year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60)
        return false;
    /* Years begin in March here, so that the leap day is the last. */
    int64_t shifted_year = year - (month <= 2), shifted_month = month > 2 ? month - 3 : month + 9;
    int64_t days = shifted_year * 365 + shifted_year / 4 - shifted_year / 100 + shifted_year / 400 + (153 * shifted_month + 2) / 5 + day - 1 - 719468;
    *time_us = (days * 86400 + hour * 3600 + minute * 60 + second) * 1000000;
    return true;
}

static bool read_key(const struct reader *reader, uint32_t token, struct auth_key *key)
{
    str expires;
    if (json_type(&reader->json, token) != JSON_OBJECT)
        return refuse(reader, token, "a key is an object with accessKeyId and secretAccessKey");
    if (!read_text(reader, token, "accessKeyId", &key->access_key) || !read_text(reader, token, "secretAccessKey", &key->secret) ||
        !read_text(reader, token, "sessionToken", &key->session_token) || !read_text(reader, token, "account", &key->account) ||
        !read_text(reader, token, "expires", &expires))
        return false;
    if (key->access_key.len == 0 || key->secret.len == 0)
        return refuse(reader, token, "a key needs accessKeyId and secretAccessKey");
    if (key->access_key.len > ACCESS_KEY_BYTES_MAX || str_find(key->access_key, '/') < key->access_key.len)
        return refuse(reader, token, "accessKeyId has at most %d bytes and no slash", ACCESS_KEY_BYTES_MAX);
    if (expires.len > 0 && !read_time(expires, &key->expires_us))
        return refuse(reader, token, "expires is no time such as 2026-12-01T00:00:00Z");
    if (expires.len > 0 && key->session_token.len == 0)
        return refuse(reader, token, "only a key with a sessionToken expires");
    if (key->account.len == 0)
        key->account = STR(DEFAULT_ACCOUNT);
    int64_t number;
    str digits = key->account;
    if (!take_digits(&digits, ACCOUNT_DIGITS, &number) || digits.len > 0)
        return refuse(reader, token, "account has 12 digits");
    return true;
}

static uint32_t *find_slot(const struct directory *directory, str access_key)
{
    size_t at = XXH3_64bits(access_key.data ? access_key.data : "", access_key.len) & directory->slot_mask;
    while (directory->slots[at] && !str_equal(directory->keys[directory->slots[at] - 1].access_key, access_key))
        at = (at + 1) & directory->slot_mask;
    return &directory->slots[at];
}

static bool read_keys(const struct reader *reader, uint32_t list)
{
    struct directory *directory = reader->directory;
    size_t count = reader->json.tokens[list].count, slots = 16;
    if (count > KEYS_MAX)
        return refuse(reader, list, "at most %d keys", KEYS_MAX);
    while (slots < 2 * count)
        slots *= 2;
    directory->slot_mask = slots - 1;
    directory->slots = ARENA_NEW_ARRAY(&directory->arena, uint32_t, slots);
    directory->keys = ARENA_NEW_ARRAY(&directory->arena, struct auth_key, count);
    for (uint32_t token = json_first(&reader->json, list); token < json_end(&reader->json, list); token = json_next(&reader->json, token)) {
        struct auth_key *key = &directory->keys[directory->key_count];
        if (!read_key(reader, token, key))
            return false;
        uint32_t *slot = find_slot(directory, key->access_key);
        if (*slot)
            return refuse(reader, token, "accessKeyId %.*s stands there twice", STR_ARG(key->access_key));
        *slot = (uint32_t)++directory->key_count;
    }
    return true;
}

static bool read_all(struct reader *reader, str text)
{
    if (!json_parse(&reader->directory->arena, text, &reader->json)) {
        snprintf(reader->problem, reader->problem_bytes, "%s is no JSON; a keys file looks like {\"keys\":[{\"accessKeyId\":\"...\",\"secretAccessKey\":\"...\"}]}",
                 reader->path);
        return false;
    }
    uint32_t list = json_member(&reader->json, 0, STR("keys"));
    if (list == JSON_ABSENT || json_type(&reader->json, list) != JSON_ARRAY)
        return refuse(reader, 0, "there is no list \"keys\"");
    if (reader->json.tokens[list].count == 0)
        return refuse(reader, list, "the list \"keys\" is empty, so nobody could use the service");
    return read_keys(reader, list);
}

struct directory *directory_open_file(const char *path, char *problem, size_t problem_bytes)
{
    struct directory *directory = calloc(1, sizeof *directory);
    assert(directory);
    arena_open(&directory->arena, NULL);
    struct reader reader = {.directory = directory, .path = path, .problem = problem, .problem_bytes = problem_bytes};
    str text;
    if (read_file(path, &directory->arena, &text, problem, problem_bytes) && read_all(&reader, text))
        return directory;
    directory_close(directory);
    return NULL;
}

void directory_close(struct directory *directory)
{
    arena_close(&directory->arena);
    free(directory);
}

const struct auth_key *directory_find_key(void *context, str access_key)
{
    const struct directory *directory = context;
    uint32_t slot = *find_slot(directory, access_key);
    return slot ? &directory->keys[slot - 1] : NULL;
}
