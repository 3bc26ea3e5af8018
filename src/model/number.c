/* Decimal numbers: text to ordered bytes and back, exact sums. */
#include "model/number.h"

#include <assert.h>
#include <stdio.h>

__extension__ typedef unsigned __int128 coefficient;

enum {
    PAIRS_MAX = 20,        /* 38 digits that start in the middle of a pair */
    MAGNITUDE_MAX = 125,   /* exponent of the first digit */
    MAGNITUDE_MIN = -130,
    ZERO_BYTE = 0x80,
    EXPONENT_BIAS = 64
};

/* Digits of base 10: 0.d1 d2 ... times 10^point, d1 and the last digit not 0. Zero has no digits. */
struct decimal {
    bool negative;
    int point;
    unsigned count;
    uint8_t digits[2 * PAIRS_MAX];
};

/* A whole number times 10^exponent, the coefficient without trailing zeros and below 10^38. */
struct scaled {
    bool negative;
    int exponent;
    coefficient coefficient;
};

static void encode(const struct decimal *decimal, struct number *out)
{
    if (decimal->count == 0) {
        out->bytes[0] = ZERO_BYTE;
        out->len = 1;
        return;
    }
    /* An odd point leaves the first digit alone in its pair: 1.5 is 0.01 50 times 100^1. */
    bool lone = (decimal->point & 1) != 0;
    int exponent = (decimal->point + (lone ? 1 : 0)) / 2 + EXPONENT_BIAS;
    uint8_t flip = decimal->negative ? 0xff : 0;
    uint8_t *at = out->bytes;
    *at++ = (uint8_t)(ZERO_BYTE + exponent) ^ flip;
    unsigned next = 0;
    if (lone)
        *at++ = (uint8_t)(decimal->digits[next++] + 1) ^ flip;
    for (; next + 1 < decimal->count; next += 2)
        *at++ = (uint8_t)(decimal->digits[next] * 10 + decimal->digits[next + 1] + 1) ^ flip;
    if (next < decimal->count)
        *at++ = (uint8_t)(decimal->digits[next] * 10 + 1) ^ flip;
    if (decimal->negative)
        *at++ = 0xff;
    out->len = (uint8_t)(at - out->bytes);
}

static void decode(str ordered, struct decimal *out)
{
    const uint8_t *bytes = (const uint8_t *)ordered.data;
    assert(ordered.len >= 1 && ordered.len <= NUMBER_BYTES_MAX);
    out->negative = bytes[0] < ZERO_BYTE;
    out->count = 0;
    out->point = 0;
    if (ordered.len == 1)
        return;
    uint8_t flip = out->negative ? 0xff : 0;
    size_t pairs = ordered.len - 1 - (out->negative ? 1 : 0);
    out->point = 2 * ((bytes[0] ^ flip) - ZERO_BYTE - EXPONENT_BIAS);
    for (size_t pair = 0; pair < pairs; pair++) {
        unsigned two = (unsigned)(bytes[1 + pair] ^ flip) - 1;
        if (pair == 0 && two < 10)
            out->point--;
        else
            out->digits[out->count++] = (uint8_t)(two / 10);
        out->digits[out->count++] = (uint8_t)(two % 10);
    }
    if (out->digits[out->count - 1] == 0)
        out->count--;
}

/* Reads what follows `e`. The exponent of a number that DynamoDB can convert fits 64 bits; it is clamped far beyond the range
   that matters, so that adding to it cannot overflow. */
static bool exponent_parse(const char *at, const char *end, int64_t *exponent)
{
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return false;
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t sum = 0;
    for (; at < end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';
        if (digit > 9 || sum > (limit - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    int64_t clamped = sum > (uint64_t)1 << 40 ? (int64_t)1 << 40 : (int64_t)sum;
    *exponent = negative ? -clamped : clamped;
    return true;
}

/* What a text says, before it is judged. Digits count from the first that is not 0. */
struct scan {
    struct decimal decimal;
    int64_t point;          /* of 0.d1d2..., before the exponent */
    int64_t fraction;       /* digits behind the point */
    int64_t exponent;
    size_t significant;     /* up to the last digit that is not 0 */
};

static bool scan_text(str text, struct scan *scan)
{
    const char *at = text.data;
    const char *end = at + text.len;
    size_t seen = 0;
    scan->exponent = 0;
    scan->significant = 0;
    scan->decimal.negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    const char *start = at, *first = at, *point = NULL;
    for (; at < end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';
        if (digit <= 9) {
            if (digit == 0 && seen == 0)
                continue;
            if (seen++ == 0)
                first = at;
            if (seen <= NUMBER_DIGITS_MAX)
                scan->decimal.digits[seen - 1] = (uint8_t)digit;
            if (digit != 0)
                scan->significant = seen;
        } else if (*at == '.' && !point) {
            point = at;
        } else {
            break;
        }
    }
    if (at - start == (point ? 1 : 0))
        return false;
    const char *ones_end = point ? point : at;
    scan->fraction = point ? at - point - 1 : 0;
    scan->point = first < ones_end ? ones_end - first : ones_end - first + 1;
    if (at == end)
        return true;
    return (*at == 'e' || *at == 'E') && exponent_parse(at + 1, end, &scan->exponent);
}

/* The exponent of the first digit. Zero has none, but DynamoDB judges it by the one it is written with: 0e126 overflows, 0.0e126
   does not (public suites: Alternator's test_number.py, Parity's numberExponent). */
static int64_t scan_magnitude(const struct scan *scan)
{
    return scan->significant == 0 ? scan->exponent - scan->fraction : scan->point - 1 + scan->exponent;
}

enum number_status number_parse(str text, struct number *out)
{
    struct scan scan;
    if (!scan_text(text, &scan))
        return NUMBER_NOT_NUMERIC;
    int64_t magnitude = scan_magnitude(&scan);
    if (magnitude > MAGNITUDE_MAX)
        return NUMBER_OVERFLOW;
    if (magnitude < MAGNITUDE_MIN)
        return NUMBER_UNDERFLOW;
    if (scan.significant > NUMBER_DIGITS_MAX)
        return NUMBER_TOO_PRECISE;
    scan.decimal.point = (int)(magnitude + 1);
    scan.decimal.count = (unsigned)scan.significant;
    encode(&scan.decimal, out);
    return NUMBER_OK;
}

enum number_status number_status_older(str text, enum number_status status)
{
    struct scan scan;
    if ((status != NUMBER_OVERFLOW && status != NUMBER_UNDERFLOW) || !scan_text(text, &scan))
        return status;
    int64_t scale = scan.fraction - scan.exponent;
    if (scan.exponent > INT32_MAX || scan.exponent < -INT32_MAX || scale > INT32_MAX || scale < INT32_MIN)
        return NUMBER_NOT_NUMERIC;
    return scan_magnitude(&scan) + 1 > INT32_MAX ? NUMBER_UNDERFLOW : status;
}

size_t number_format(str ordered, char text[NUMBER_TEXT_MAX])
{
    struct decimal decimal;
    decode(ordered, &decimal);
    char *at = text;
    if (decimal.count == 0) {
        *at = '0';
        return 1;
    }
    int count = (int)decimal.count;
    if (decimal.negative)
        *at++ = '-';
    if (decimal.point <= 0) {
        *at++ = '0';
        *at++ = '.';
        for (int zero = decimal.point; zero < 0; zero++)
            *at++ = '0';
    }
    for (int digit = 0; digit < count; digit++) {
        if (digit == decimal.point && digit > 0)
            *at++ = '.';
        *at++ = (char)('0' + decimal.digits[digit]);
    }
    for (int zero = count; zero < decimal.point; zero++)
        *at++ = '0';
    return (size_t)(at - text);
}

bool number_is_valid(str ordered)
{
    const uint8_t *bytes = (const uint8_t *)ordered.data;
    if (ordered.len == 0 || ordered.len > NUMBER_BYTES_MAX)
        return false;
    if (ordered.len == 1)
        return bytes[0] == ZERO_BYTE;
    bool negative = bytes[0] < ZERO_BYTE;
    uint8_t flip = negative ? 0xff : 0;
    size_t pairs = ordered.len - 1;
    if (negative && bytes[pairs--] != 0xff)
        return false;
    if (pairs == 0 || pairs > PAIRS_MAX)
        return false;
    for (size_t pair = 1; pair <= pairs; pair++) {
        unsigned two = (unsigned)(bytes[pair] ^ flip) - 1;
        if (two > 99 || (two == 0 && (pair == 1 || pair == pairs)))
            return false;
    }
    unsigned first = (unsigned)(bytes[1] ^ flip) - 1;
    unsigned last = (unsigned)(bytes[pairs] ^ flip) - 1;
    return 2 * pairs - (first < 10) - (last % 10 == 0) <= NUMBER_DIGITS_MAX;
}

static struct scaled scaled_of(str ordered)
{
    struct decimal decimal;
    decode(ordered, &decimal);
    struct scaled out = {decimal.negative, decimal.point - (int)decimal.count, 0};
    for (unsigned digit = 0; digit < decimal.count; digit++)
        out.coefficient = out.coefficient * 10 + decimal.digits[digit];
    return out;
}

/* The number, if DynamoDB can hold it. The coefficient may have trailing zeros and up to 39 digits. */
static enum number_status encode_scaled(struct scaled scaled, struct number *out)
{
    uint8_t reversed[40];
    unsigned count = 0;
    struct decimal decimal = {.negative = scaled.negative};
    while (scaled.coefficient != 0) {
        uint8_t digit = (uint8_t)(scaled.coefficient % 10);
        scaled.coefficient /= 10;
        if (count == 0 && digit == 0)
            scaled.exponent++;
        else
            reversed[count++] = digit;
    }
    if (count > 0) {
        int magnitude = scaled.exponent + (int)count - 1;
        if (magnitude > MAGNITUDE_MAX || count > NUMBER_DIGITS_MAX)
            return NUMBER_OVERFLOW;
        if (magnitude < MAGNITUDE_MIN)
            return NUMBER_UNDERFLOW;
        decimal.point = magnitude + 1;
    }
    decimal.count = count;
    for (unsigned digit = 0; digit < count; digit++)
        decimal.digits[digit] = reversed[count - 1 - digit];
    encode(&decimal, out);
    return NUMBER_OK;
}

static enum number_status add(struct scaled a, struct scaled b, struct number *out)
{
    if (b.coefficient == 0)
        return encode_scaled(a, out);
    if (a.coefficient == 0)
        return encode_scaled(b, out);
    struct scaled high = a.exponent >= b.exponent ? a : b;
    struct scaled low = a.exponent >= b.exponent ? b : a;
    /* The sum ends in low's last digit, which is not 0: once high, brought to low's exponent, passes 128 bits
       (3.4 * 10^38), the sum has more than 38 digits whatever low is. */
    for (; high.exponent > low.exponent; high.exponent--) {
        if (high.coefficient > ~(coefficient)0 / 10)
            return NUMBER_OVERFLOW;
        high.coefficient *= 10;
    }
    struct scaled sum = {high.negative, low.exponent, 0};
    if (high.negative == low.negative) {
        if (high.coefficient > ~(coefficient)0 - low.coefficient)
            return NUMBER_OVERFLOW;
        sum.coefficient = high.coefficient + low.coefficient;
    } else if (high.coefficient >= low.coefficient) {
        sum.coefficient = high.coefficient - low.coefficient;
    } else {
        sum.coefficient = low.coefficient - high.coefficient;
        sum.negative = low.negative;
    }
    return encode_scaled(sum, out);
}

enum number_status number_add(str a, str b, struct number *out)
{
    return add(scaled_of(a), scaled_of(b), out);
}

enum number_status number_subtract(str a, str b, struct number *out)
{
    struct scaled minus_b = scaled_of(b);
    minus_b.negative = !minus_b.negative;
    return add(scaled_of(a), minus_b, out);
}

size_t number_size(str ordered)
{
    const uint8_t *bytes = (const uint8_t *)ordered.data;
    assert(ordered.len >= 1 && ordered.len <= NUMBER_BYTES_MAX);
    if (ordered.len == 1)
        return 1;
    bool negative = bytes[0] < ZERO_BYTE;
    uint8_t flip = negative ? 0xff : 0;
    int pairs = (int)ordered.len - 1 - negative;
    int lone = ((unsigned)(bytes[1] ^ flip) - 1) < 10;
    int digits = 2 * pairs - lone - (((unsigned)(bytes[pairs] ^ flip) - 1) % 10 == 0);
    int point = 2 * ((bytes[0] ^ flip) - ZERO_BYTE - EXPONENT_BIAS) - lone;
    int whole = point <= 0 ? 0 : point < digits ? point : digits;
    int fraction = digits - whole;
    return (size_t)(1 + (whole + 1) / 2 + (fraction + 1) / 2 + negative);
}

void number_from_i64(int64_t from, struct number *out)
{
    struct scaled scaled = {from < 0, 0, from < 0 ? (coefficient)0 - (coefficient)from : (coefficient)from};
    enum number_status status = encode_scaled(scaled, out);
    assert(status == NUMBER_OK);
}

bool number_to_i64(str ordered, int64_t *out)
{
    struct scaled scaled = scaled_of(ordered);
    if (scaled.coefficient != 0 && (scaled.exponent < 0 || scaled.exponent > 18))
        return false;
    coefficient limit = (coefficient)INT64_MAX + scaled.negative;
    for (; scaled.exponent > 0; scaled.exponent--) {
        if (scaled.coefficient > limit / 10)
            return false;
        scaled.coefficient *= 10;
    }
    if (scaled.coefficient > limit)
        return false;
    *out = scaled.negative ? (int64_t)(0 - (uint64_t)scaled.coefficient) : (int64_t)scaled.coefficient;
    return true;
}

size_t number_fault_text(enum number_status status, str text, char *out, size_t out_bytes)
{
    static const char not_numeric[] = "The parameter cannot be converted to a numeric value: ";
    const char *message = not_numeric;
    assert(status != NUMBER_OK && out_bytes > 0);
    if (status == NUMBER_OVERFLOW)
        message = "Number overflow. Attempting to store a number with magnitude larger than supported range";
    else if (status == NUMBER_UNDERFLOW)
        message = "Number underflow. Attempting to store a number with magnitude smaller than supported range";
    else if (status == NUMBER_TOO_PRECISE)
        message = "Attempting to store more than 38 significant digits in a Number";
    int length = snprintf(out, out_bytes, "%s%.*s", message, message == not_numeric ? (int)text.len : 0, text.data ? text.data : "");
    return (size_t)length < out_bytes ? (size_t)length : out_bytes - 1;
}
