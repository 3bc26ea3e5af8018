/* A borrowed run of bytes: not terminated, never owned, may hold any byte. */
#ifndef STATOR_BASE_STR_H
#define STATOR_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct str {
    const char *data; /* may be NULL only when len is 0 */
    size_t len;       /* bytes */
} str;

/* A str of a string literal. */
#define STR(literal) ((str){"" literal, sizeof(literal) - 1})
#define STR_NONE ((str){NULL, 0})

/* For printf: "%.*s", STR_ARG(s). Lengths above INT_MAX are cut. */
#define STR_ARG(s) ((int)((s).len > 0x7fffffff ? 0x7fffffff : (s).len)), ((s).data ? (s).data : "")

static inline str str_of(const void *data, size_t len)
{
    return (str){(const char *)data, len};
}

static inline str str_of_text(const char *text)
{
    return (str){text, text ? strlen(text) : 0};
}

static inline bool str_equal(str a, str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Order of unsigned bytes, a prefix before what it begins: below 0, 0 or above 0. */
static inline int str_compare(str a, str b)
{
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared ? memcmp(a.data, b.data, shared) : 0;
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static inline bool str_begins(str whole, str start)
{
    return whole.len >= start.len && (start.len == 0 || memcmp(whole.data, start.data, start.len) == 0);
}

/* Equal when ASCII letters are folded to one case: header names, keywords. */
bool str_equal_folded(str a, str b);

/* The text from `at` (clamped) on. */
static inline str str_from(str s, size_t at)
{
    return at < s.len ? (str){s.data + at, s.len - at} : (str){s.data ? s.data + s.len : NULL, 0};
}

/* Without blanks (space, tab, CR, LF) at both ends. */
str str_trim(str s);

/* The place of the first `byte`, or s.len when there is none. */
size_t str_find(str s, char byte);

/* Cuts *rest at the first `byte`: returns what is before it and moves *rest behind it. Without one, returns all and empties *rest. */
str str_cut(str *rest, char byte);

#endif
