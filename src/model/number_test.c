/* Tests of numbers: text, order, sums, sizes, untrusted bytes. */
#include "model/number.h"
#include "model/number_vectors_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RANDOM_PAIRS = 20000 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static struct number parsed(const char *text)
{
    struct number number;
    assert_int_equal(number_parse(str_of_text(text), &number), NUMBER_OK);
    assert_true(number_is_valid(number_str(&number)));
    return number;
}

static void assert_text(str ordered, const char *expected)
{
    char text[NUMBER_TEXT_MAX];
    size_t length = number_format(ordered, text);
    assert_true(length <= sizeof text);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(text, expected, length);
}

static void assert_canonical(const char *text, const char *expected)
{
    struct number number = parsed(text);
    assert_text(number_str(&number), expected);
}

static void number_prints_canonically(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"007", "7"},      {"001.23", "1.23"},  {"00", "0"},       {"+0", "0"},       {"-0", "0"},         {"0.0", "0"},
        {"0e5", "0"},      {"+1.5", "1.5"},     {"1.10", "1.1"},   {"100.000", "100"}, {"1e3", "1000"},     {"1E+3", "1000"},
        {"1.23e4", "12300"}, {"1e-3", "0.001"}, {"123e-2", "1.23"}, {"1.0e3", "1000"}, {".5", "0.5"},       {"-.5", "-0.5"},
        {"5.", "5"},       {"0042.1200", "42.12"}, {"-17e5", "-1700000"}, {"1e+5", "100000"}, {"0e125", "0"}, {"0.0e126", "0"},
        {"0e-130", "0"},   {"-0e3", "0"},       {"0.1e126", "1" "00000000000000000000000000000000000000000000000000"
         "000000000000000000000000000000000000000000000000000000000000000000000000000"}, {"10", "10"}, {"99", "99"}, {"100", "100"},
        {"101", "101"},    {"0.01", "0.01"},    {"0.10", "0.1"},   {"-12.034", "-12.034"}, {"1e00000000000000000000000000005", "100000"},
    };
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++)
        assert_canonical(cases[at][0], cases[at][1]);
    for (size_t at = 0; at < sizeof canonical_vectors / sizeof *canonical_vectors; at++)
        assert_canonical(canonical_vectors[at].text, canonical_vectors[at].canonical);
}

static void number_takes_digits_without_end_when_they_are_zeros(void **state)
{
    (void)state;
    char text[1000];
    memset(text, '0', sizeof text);
    struct number number;
    text[499] = '7';
    assert_int_equal(number_parse(str_of(text, 500), &number), NUMBER_OK);
    assert_text(number_str(&number), "7");
    text[500] = '.';
    assert_int_equal(number_parse(str_of(text, 1000), &number), NUMBER_OK);
    assert_text(number_str(&number), "7");
    text[1] = '.';
    text[499] = text[500] = '0';
    text[129] = '3';
    assert_int_equal(number_parse(str_of(text, 1000), &number), NUMBER_OK);
    assert_int_equal(number_size(number_str(&number)), 2);
    text[129] = '0';
    text[400] = '3';
    assert_int_equal(number_parse(str_of(text, 1000), &number), NUMBER_UNDERFLOW);
    memset(text, '9', sizeof text);
    assert_int_equal(number_parse(str_of(text, 126), &number), NUMBER_TOO_PRECISE);
    assert_int_equal(number_parse(str_of(text, 127), &number), NUMBER_OVERFLOW);
}

static void number_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum number_status status;
        enum number_status older;
    } cases[] = {
        {"", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"dog", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"-dog", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"NaN", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"Infinity", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"-Infinity", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {" 1", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1 ", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1 2", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {".", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"-", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"-.", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"+-1", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1.2.3", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1e", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1e+", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"e5", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {".e5", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1e5.0", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1e5e5", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"0x10", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1_000", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1,5", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1f", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1e126", NUMBER_OVERFLOW, NUMBER_OVERFLOW},
        {"-1e126", NUMBER_OVERFLOW, NUMBER_OVERFLOW},
        {"11e125", NUMBER_OVERFLOW, NUMBER_OVERFLOW},
        {"1.0e100000000", NUMBER_OVERFLOW, NUMBER_OVERFLOW},
        {"1e2147483646", NUMBER_OVERFLOW, NUMBER_OVERFLOW},
        {"1e2147483647", NUMBER_OVERFLOW, NUMBER_UNDERFLOW},
        {"1e2147483648", NUMBER_OVERFLOW, NUMBER_NOT_NUMERIC},
        {"1e99999999999", NUMBER_OVERFLOW, NUMBER_NOT_NUMERIC},
        {"-1e99999999999", NUMBER_OVERFLOW, NUMBER_NOT_NUMERIC},
        {"1e9223372036854775807", NUMBER_OVERFLOW, NUMBER_NOT_NUMERIC},
        {"1e9223372036854775808", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1e-9223372036854775808", NUMBER_UNDERFLOW, NUMBER_NOT_NUMERIC},
        {"1e-9223372036854775809", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1e99999999999999999999999999", NUMBER_NOT_NUMERIC, NUMBER_NOT_NUMERIC},
        {"1e-131", NUMBER_UNDERFLOW, NUMBER_UNDERFLOW},
        {"0.9e-130", NUMBER_UNDERFLOW, NUMBER_UNDERFLOW},
        {"-9.99e-131", NUMBER_UNDERFLOW, NUMBER_UNDERFLOW},
        {"1e-2147483648", NUMBER_UNDERFLOW, NUMBER_NOT_NUMERIC},
        {"1e-99999999999", NUMBER_UNDERFLOW, NUMBER_NOT_NUMERIC},
        {"0e126", NUMBER_OVERFLOW, NUMBER_OVERFLOW},
        {"0e-131", NUMBER_UNDERFLOW, NUMBER_UNDERFLOW},
        {"0e99999999999", NUMBER_OVERFLOW, NUMBER_NOT_NUMERIC},
        {"3.14159265358979323846264338327950288419", NUMBER_TOO_PRECISE, NUMBER_TOO_PRECISE},
        {"314159265358979323846264338327950288419e30", NUMBER_TOO_PRECISE, NUMBER_TOO_PRECISE},
        {"123456789012345678901234567890123456789", NUMBER_TOO_PRECISE, NUMBER_TOO_PRECISE},
        /* The order of checks: magnitude before digits. */
        {"123456789012345678901234567890123456789e120", NUMBER_OVERFLOW, NUMBER_OVERFLOW},
        {"1.23456789012345678901234567890123456789e-140", NUMBER_UNDERFLOW, NUMBER_UNDERFLOW},
    };
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        /* Exactly as large as the text, so that sanitizers see a read behind it. */
        size_t length = strlen(cases[at].text);
        char *text = malloc(length > 0 ? length : 1);
        assert_non_null(text);
        memcpy(text, cases[at].text, length);
        struct number number;
        enum number_status status = number_parse(str_of(text, length), &number);
        if (status != cases[at].status)
            fail_msg("%s: status %d", cases[at].text, (int)status);
        enum number_status older = number_status_older(str_of(text, length), status);
        if (older != cases[at].older)
            fail_msg("%s: older status %d", cases[at].text, (int)older);
        free(text);
    }
}

static void number_keeps_the_ends_of_the_range(void **state)
{
    (void)state;
    static const char *const ends[] = {"1e-130", "-1e-130", "1.5e-130", "9.9999999999999999999999999999999999999E+125",
        "-9.9999999999999999999999999999999999999E+125", "3.1415926535897932384626433832795028841",
        "314159265358979323846.26433832795028841", "31415926535897932384626433832795028841e30", "1e125",
        "9.9999999999999999999999999999999999999e-130", "-1.2345678901234567890123456789012345678e-129"};
    for (size_t at = 0; at < sizeof ends / sizeof *ends; at++) {
        struct number number = parsed(ends[at]);
        char text[NUMBER_TEXT_MAX + 1];
        size_t length = number_format(number_str(&number), text);
        struct number again;
        assert_int_equal(number_parse(str_of(text, length), &again), NUMBER_OK);
        assert_true(str_equal(number_str(&number), number_str(&again)));
        assert_true(number.len <= NUMBER_BYTES_MAX);
    }
}

/* A number with an order that the ordered form has no part in: sign, exponent of the first digit, digits. */
struct drawn {
    int sign;
    int magnitude;
    char digits[NUMBER_DIGITS_MAX + 1];
    struct number number;
};

static void draw(uint64_t *seed, struct drawn *out)
{
    char text[80];
    int count = 1 + (int)(next_random(seed) % ((next_random(seed) & 1) ? 3 : NUMBER_DIGITS_MAX));
    out->sign = (next_random(seed) & 1) ? 1 : -1;
    out->magnitude = (next_random(seed) & 1) ? (int)(next_random(seed) % 4) - 2 : (int)(next_random(seed) % 256) - 130;
    memset(out->digits, '0', sizeof out->digits);
    for (int at = 0; at < count; at++)
        out->digits[at] = (char)('0' + ((next_random(seed) & 1) ? 0 : next_random(seed) % 10));
    if (out->digits[0] == '0')
        out->digits[0] = '1';
    out->digits[NUMBER_DIGITS_MAX] = '\0';
    snprintf(text, sizeof text, "%s%c.%.*se%d", out->sign < 0 ? "-" : "", out->digits[0], count > 1 ? count - 1 : 1,
             count > 1 ? out->digits + 1 : "0", out->magnitude);
    if (next_random(seed) % 50 == 0) {
        out->sign = 0;
        strcpy(text, "-0.00");
    }
    out->number = parsed(text);
}

static int drawn_compare(const struct drawn *a, const struct drawn *b)
{
    if (a->sign != b->sign)
        return a->sign < b->sign ? -1 : 1;
    if (a->sign == 0)
        return 0;
    int order = a->magnitude != b->magnitude ? (a->magnitude < b->magnitude ? -1 : 1) : strcmp(a->digits, b->digits);
    return a->sign * ((order > 0) - (order < 0));
}

static void byte_order_is_numeric_order(void **state)
{
    (void)state;
    uint64_t seed = 0x9e3779b97f4a7c15u;
    struct drawn a, b;
    for (int pair = 0; pair < RANDOM_PAIRS; pair++) {
        draw(&seed, &a);
        draw(&seed, &b);
        int order = str_compare(number_str(&a.number), number_str(&b.number));
        assert_int_equal((order > 0) - (order < 0), drawn_compare(&a, &b));
    }
    static const char *const rising[] = {"-9.9999999999999999999999999999999999999E125", "-1e125", "-100", "-99.5", "-99", "-11", "-10.1", "-10",
        "-9", "-1.55", "-1.5", "-1.45", "-1", "-0.5", "-0.01", "-0.001", "-1e-130", "0", "1e-130", "1.1e-130", "1e-129", "0.001", "0.01", "0.1",
        "0.5", "0.99", "1", "1.45", "1.5", "2", "9", "10", "10.1", "11", "99", "99.5", "100", "101", "1e125"};
    for (size_t at = 1; at < sizeof rising / sizeof *rising; at++) {
        struct number low = parsed(rising[at - 1]), high = parsed(rising[at]);
        if (str_compare(number_str(&low), number_str(&high)) >= 0)
            fail_msg("%s is not before %s", rising[at - 1], rising[at]);
    }
}

static void ordered_form_is_as_documented(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *bytes;
        size_t len;
    } cases[] = {
        {"0", "\x80", 1},
        {"1", "\xc1\x02", 2},
        {"-1", "\x3e\xfd\xff", 3},
        {"-1.5", "\x3e\xfd\xcc\xff", 4},
        {"1.5", "\xc1\x02\x33", 3},
        {"100", "\xc2\x02", 2},
        {"12", "\xc1\x0d", 2},
        {"1e-130", "\x80\x02", 2},
        {"-1e-130", "\x7f\xfd\xff", 3},
        {"1e125", "\xff\x0b", 2},
        {"-1e125", "\x00\xf4\xff", 3},
    };
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        struct number number = parsed(cases[at].text);
        assert_int_equal(number.len, cases[at].len);
        assert_memory_equal(number.bytes, cases[at].bytes, number.len);
    }
}

static void sums_are_exact(void **state)
{
    (void)state;
    for (size_t at = 0; at < sizeof sum_vectors / sizeof *sum_vectors; at++) {
        struct number a = parsed(sum_vectors[at].a), b = parsed(sum_vectors[at].b), out;
        enum number_status sum = number_add(number_str(&a), number_str(&b), &out);
        if (sum != sum_vectors[at].sum_status)
            fail_msg("%s + %s: status %d", sum_vectors[at].a, sum_vectors[at].b, (int)sum);
        if (sum == NUMBER_OK)
            assert_text(number_str(&out), sum_vectors[at].sum);
        enum number_status difference = number_subtract(number_str(&a), number_str(&b), &out);
        if (difference != sum_vectors[at].difference_status)
            fail_msg("%s - %s: status %d", sum_vectors[at].a, sum_vectors[at].b, (int)difference);
        if (difference == NUMBER_OK)
            assert_text(number_str(&out), sum_vectors[at].difference);
    }
}

static void sums_come_back(void **state)
{
    (void)state;
    uint64_t seed = 42;
    struct drawn a, b;
    unsigned held = 0;
    for (int pair = 0; pair < RANDOM_PAIRS; pair++) {
        struct number sum, swapped, back;
        draw(&seed, &a);
        draw(&seed, &b);
        enum number_status status = number_add(number_str(&a.number), number_str(&b.number), &sum);
        assert_int_equal(number_add(number_str(&b.number), number_str(&a.number), &swapped), status);
        if (status != NUMBER_OK)
            continue;
        held++;
        assert_true(number_is_valid(number_str(&sum)));
        assert_true(str_equal(number_str(&sum), number_str(&swapped)));
        if (number_subtract(number_str(&sum), number_str(&b.number), &back) == NUMBER_OK)
            assert_true(str_equal(number_str(&back), number_str(&a.number)));
    }
    assert_true(held > RANDOM_PAIRS / 4);
}

/* The figures captured from AWS by the public suite Parity (numberByteSize, August 2026), and some of our own by its rule. */
static void sizes_are_dynamodbs(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
    } cases[] = {
        {"0", 1}, {"1", 2}, {"12", 2}, {"123", 3}, {"1234", 3}, {"12345678901234567890123456789012345678", 20}, {"0042", 2}, {"100", 2},
        {"1010", 3}, {"0.0000001", 2}, {"1E125", 2}, {"1E-100", 2}, {"1.5", 3}, {"15", 2}, {"1.2", 3}, {"1.200", 3}, {"1.234", 4},
        {"3.14159", 5}, {"123456", 4}, {"100.5", 4}, {"0.15", 2}, {"-42", 3}, {"-0", 1},
        {"-1.5", 4}, {"12.5", 3}, {"12.34", 3}, {"0.05", 2}, {"0.105", 3}, {"1000.001", 5}, {"-1e-130", 3},
    };
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        struct number number = parsed(cases[at].text);
        if (number_size(number_str(&number)) != cases[at].bytes)
            fail_msg("%s: %zu bytes", cases[at].text, number_size(number_str(&number)));
    }
}

static void integers_go_both_ways(void **state)
{
    (void)state;
    static const int64_t cases[] = {0, 1, -1, 9, 10, -10, 99, 100, 1000000, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1, 1000000000000000000};
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        struct number number;
        int64_t back;
        char text[32];
        number_from_i64(cases[at], &number);
        snprintf(text, sizeof text, "%lld", (long long)cases[at]);
        assert_text(number_str(&number), text);
        assert_true(number_to_i64(number_str(&number), &back));
        assert_true(back == cases[at]);
    }
    static const char *const not[] = {"0.5", "-1.5", "9223372036854775808", "-9223372036854775809", "1e19", "1e125", "1e-130", "10000000000000000000"};
    for (size_t at = 0; at < sizeof not / sizeof *not; at++) {
        struct number number = parsed(not[at]);
        int64_t out;
        assert_false(number_to_i64(number_str(&number), &out));
    }
}

/* Every string of up to three bytes, and random longer ones: what is valid prints and parses to the same bytes. */
static void valid_bytes_are_those_that_parse_writes(void **state)
{
    (void)state;
    uint64_t seed = 5;
    unsigned valid = 0;
    for (uint32_t trial = 0; trial < 0x1000000 / 16; trial++) {
        uint8_t bytes[NUMBER_BYTES_MAX + 1];
        uint64_t random = next_random(&seed);
        size_t length = trial < 0x10000 ? 1 + (trial & 1) : trial % 7 == 0 ? 1 + random % (NUMBER_BYTES_MAX + 1) : 3;
        for (size_t at = 0; at < length; at++)
            bytes[at] = (uint8_t)(next_random(&seed) >> 20);
        if (trial < 0x10000) {
            bytes[0] = (uint8_t)(trial >> 8);
            bytes[1] = (uint8_t)trial;
        } else if (bytes[0] < 0x80) {
            bytes[length - 1] = 0xff;
        }
        if (!number_is_valid(str_of(bytes, length)))
            continue;
        valid++;
        char text[NUMBER_TEXT_MAX];
        struct number again;
        size_t text_length = number_format(str_of(bytes, length), text);
        assert_int_equal(number_parse(str_of(text, text_length), &again), NUMBER_OK);
        assert_true(str_equal(number_str(&again), str_of(bytes, length)));
        assert_true(number_size(str_of(bytes, length)) <= 22);
    }
    assert_true(valid > 1000);
    assert_false(number_is_valid(STR_NONE));
    assert_false(number_is_valid(STR("\xc1\x02\x01")));
    assert_false(number_is_valid(STR("\xc1\x01\x02")));
    assert_false(number_is_valid(STR("\xc1\x66")));
    assert_false(number_is_valid(STR("\x3e\xfd")));
}

static void number_faults_are_dynamodbs(void **state)
{
    (void)state;
    char text[200];
    size_t length = number_fault_text(NUMBER_NOT_NUMERIC, STR("dog"), text, sizeof text);
    assert_string_equal(text, "The parameter cannot be converted to a numeric value: dog");
    assert_int_equal(length, strlen(text));
    number_fault_text(NUMBER_NOT_NUMERIC, STR(""), text, sizeof text);
    assert_string_equal(text, "The parameter cannot be converted to a numeric value: ");
    number_fault_text(NUMBER_OVERFLOW, STR("1e126"), text, sizeof text);
    assert_string_equal(text, "Number overflow. Attempting to store a number with magnitude larger than supported range");
    number_fault_text(NUMBER_UNDERFLOW, STR("x"), text, sizeof text);
    assert_string_equal(text, "Number underflow. Attempting to store a number with magnitude smaller than supported range");
    number_fault_text(NUMBER_TOO_PRECISE, STR("x"), text, sizeof text);
    assert_string_equal(text, "Attempting to store more than 38 significant digits in a Number");
    assert_int_equal(number_fault_text(NUMBER_NOT_NUMERIC, STR("a very long text"), text, 10), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_prints_canonically),
        cmocka_unit_test(number_takes_digits_without_end_when_they_are_zeros),
        cmocka_unit_test(number_refuses),
        cmocka_unit_test(number_keeps_the_ends_of_the_range),
        cmocka_unit_test(byte_order_is_numeric_order),
        cmocka_unit_test(ordered_form_is_as_documented),
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(sums_come_back),
        cmocka_unit_test(sizes_are_dynamodbs),
        cmocka_unit_test(integers_go_both_ways),
        cmocka_unit_test(valid_bytes_are_those_that_parse_writes),
        cmocka_unit_test(number_faults_are_dynamodbs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
