/* Inside json: finding the bytes of a text that need a look. */
#ifndef STATOR_JSON_JSON_INTERNAL_H
#define STATOR_JSON_JSON_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The first byte that ends a plain run of a JSON string, or `end`: a quote, a backslash, a control character and, when
   `stop_at_high`, a byte of a UTF-8 sequence. For what is left when there are no 16 bytes to look at together. */
const char *text_skip_plain_tail(const char *at, const char *end, bool stop_at_high);

static inline const char *text_skip_plain(const char *at, const char *end, bool stop_at_high)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i stops = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash)),
                                     _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
        int mask = _mm_movemask_epi8(stop_at_high ? _mm_or_si128(stops, bytes) : stops);
        if (mask != 0)
            return at + __builtin_ctz((unsigned)mask);
    }
#endif
    return text_skip_plain_tail(at, end, stop_at_high);
}

/* Behind the UTF-8 sequence of two to four bytes that starts at `at`, or NULL when it is none: cut short, longer than needed,
   a surrogate, or over U+10FFFF. */
const char *utf8_skip(const char *at, const char *end);

/* The value of four hex digits, or -1. */
int hex4_value(const char *at);

#endif
