/* Fuzzes numbers. Input: two texts with a newline between. What is taken prints, parses to the same bytes and adds up. */
#include "model/number.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(str ordered)
{
    char text[NUMBER_TEXT_MAX];
    struct number again;
    assert(number_is_valid(ordered));
    size_t length = number_format(ordered, text);
    assert(length > 0 && length <= sizeof text);
    enum number_status status = number_parse(str_of(text, length), &again);
    assert(status == NUMBER_OK && str_equal(number_str(&again), ordered));
    assert(number_size(ordered) >= 1 && number_size(ordered) <= 22);
    int64_t whole;
    if (number_to_i64(ordered, &whole)) {
        number_from_i64(whole, &again);
        assert(str_equal(number_str(&again), ordered));
    }
}

static bool parse(str text, struct number *number)
{
    enum number_status status = number_parse(text, number);
    number_status_older(text, status);
    if (status == NUMBER_OK) {
        check(number_str(number));
        return true;
    }
    char message[64];
    assert(number_fault_text(status, text, message, sizeof message) < sizeof message);
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str rest = str_of(data, size);
    if (number_is_valid(rest))
        check(rest);
    str first = str_cut(&rest, '\n');
    struct number a, b, sum, back;
    if (!parse(first, &a) || !parse(rest, &b))
        return 0;
    if (number_add(number_str(&a), number_str(&b), &sum) == NUMBER_OK) {
        check(number_str(&sum));
        if (number_subtract(number_str(&sum), number_str(&b), &back) == NUMBER_OK)
            assert(str_equal(number_str(&back), number_str(&a)));
    }
    if (number_subtract(number_str(&a), number_str(&b), &sum) == NUMBER_OK) {
        check(number_str(&sum));
        int order = str_compare(number_str(&a), number_str(&b));
        assert((order < 0) == (sum.bytes[0] < 0x80));
        assert((order == 0) == (sum.len == 1));
    }
    return 0;
}
