/* DynamoDB's numbers: decimal, up to 38 digits, 1E-130 to 9.99...E+125, exact. Held as ordered bytes: equal numbers are
   equal bytes, and byte order is numeric order, so that items, sets and keys share one form. Reference numbers-and-keys.md section 1. */
#ifndef STATOR_MODEL_NUMBER_H
#define STATOR_MODEL_NUMBER_H

#include "base/str.h"

#include <stdint.h>

enum {
    NUMBER_BYTES_MAX = 22, /* of the ordered form */
    NUMBER_TEXT_MAX = 176, /* of the canonical text: minus, "0.", 129 zeros, 38 digits, and some room */
    NUMBER_DIGITS_MAX = 38
};

/* The ordered form. First byte: 0x80 + (E + 64) for a positive number, 0x7f - (E + 64) for a negative one, where the
   number is 0.d1 d2 ... times 100^E in digits of base 100 with d1 not 0; zero is the one byte 0x80. Then a byte for each
   digit: d + 1 when positive; 0xff - (d + 1) when negative, closed by 0xff, so that -1.5 comes before -1. */
struct number {
    uint8_t bytes[NUMBER_BYTES_MAX];
    uint8_t len;
};

enum number_status { NUMBER_OK, NUMBER_NOT_NUMERIC, NUMBER_OVERFLOW, NUMBER_UNDERFLOW, NUMBER_TOO_PRECISE };

static inline str number_str(const struct number *number)
{
    return str_of(number->bytes, number->len);
}

/* Optional sign, digits with an optional point, optional exponent; blanks refused. Status in DynamoDB's order of checks: an
   exponent that fits 64 bits is judged by magnitude, a longer one is not numeric. */
enum number_status number_parse(str text, struct number *out);

/* What DynamoDB's older checker (WORDING_CLASSIC) says where number_parse said `status`: it reads an exponent as 32 bits,
   so that a longer one is not numeric and 1e2147483647 wraps round to an underflow. */
enum number_status number_status_older(str text, enum number_status status);

/* Plain decimal text, never an exponent: 1000, -0.5, 0. Returns its length; not terminated. `ordered` must be a valid ordered form. */
size_t number_format(str ordered, char text[NUMBER_TEXT_MAX]);

/* Whether the bytes are a form that number_parse can produce. For stored and received bytes. */
bool number_is_valid(str ordered);

/* Exact sums; NUMBER_OVERFLOW or NUMBER_UNDERFLOW when the result cannot be held. A sum of more than 38 digits is
   NUMBER_OVERFLOW too, because DynamoDB words 1e50 + 1 so (reference numbers-and-keys.md section 1). */
enum number_status number_add(str a, str b, struct number *out);
enum number_status number_subtract(str a, str b, struct number *out);

/* DynamoDB's size of a number in bytes (reference capacity.md section 2). */
size_t number_size(str ordered);

/* From and to machine integers; number_to_i64 is false for a fraction or out of range. */
void number_from_i64(int64_t value, struct number *out);
bool number_to_i64(str ordered, int64_t *out);

/* The text of ValidationException for a status other than NUMBER_OK; `text` is what the client sent. Writes to `out`, returns its length. */
size_t number_fault_text(enum number_status status, str text, char *out, size_t out_bytes);

#endif
