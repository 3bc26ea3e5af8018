/* UUIDs as text. */
#include "base/bytes.h"

void uuid_format(struct uuid id, char text[UUID_TEXT_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    char *to = text;
    for (size_t at = 0; at < sizeof id.bytes; at++) {
        if (at == 4 || at == 6 || at == 8 || at == 10)
            *to++ = '-';
        *to++ = digits[id.bytes[at] >> 4];
        *to++ = digits[id.bytes[at] & 15];
    }
}
