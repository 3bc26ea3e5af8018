/* Borrowed runs of bytes: searching, cutting, folding. */
#include "base/str.h"

static unsigned char fold(char byte)
{
    unsigned char c = (unsigned char)byte;
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + ('a' - 'A')) : c;
}

bool str_equal_folded(str a, str b)
{
    if (a.len != b.len)
        return false;
    for (size_t at = 0; at < a.len; at++)
        if (fold(a.data[at]) != fold(b.data[at]))
            return false;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

str str_trim(str s)
{
    while (s.len > 0 && is_blank(s.data[0]))
        s = str_from(s, 1);
    while (s.len > 0 && is_blank(s.data[s.len - 1]))
        s.len--;
    return s;
}

size_t str_find(str s, char byte)
{
    const char *found = s.len > 0 ? memchr(s.data, (unsigned char)byte, s.len) : NULL;
    return found ? (size_t)(found - s.data) : s.len;
}

str str_cut(str *rest, char byte)
{
    size_t at = str_find(*rest, byte);
    str before = str_of(rest->data, at);
    *rest = str_from(*rest, at < rest->len ? at + 1 : at);
    return before;
}
