/* Reading members of a request that wire_check has passed. */
#include "wire/wire.h"

#include <stdlib.h>

str wire_text(const struct json *request, uint32_t token)
{
    if (token == JSON_ABSENT || json_type(request, token) != JSON_STRING)
        return STR("");
    return json_string(request, token);
}

bool wire_flag(const struct json *request, uint32_t token, bool fallback)
{
    if (token == JSON_ABSENT)
        return fallback;
    switch (json_type(request, token)) {
    case JSON_TRUE:
        return true;
    case JSON_FALSE:
        return false;
    case JSON_STRING: {
        str text = json_string(request, token);
        return str_equal_folded(text, STR("true")) || str_equal_folded(text, STR("yes")) || str_equal(text, STR("1"));
    }
    default:
        return fallback;
    }
}

int64_t wire_whole(const struct json *request, uint32_t token, int64_t fallback)
{
    if (token == JSON_ABSENT || json_type(request, token) != JSON_NUMBER)
        return fallback;
    str raw = json_raw(request, token);
    char text[400];
    size_t length = raw.len < sizeof text - 1 ? raw.len : sizeof text - 1;
    memcpy(text, raw.data, length);
    text[length] = 0;
    if (!request->tokens[token].has_fraction) {
        /* strtoll stops at the ends of the range, which is what a bound wants to see. */
        return strtoll(text, NULL, 10);
    }
    double number = strtod(text, NULL);
    if (number >= 9223372036854775807.0)
        return INT64_MAX;
    if (number <= -9223372036854775808.0)
        return INT64_MIN;
    int64_t whole = (int64_t)number;
    return number < (double)whole ? whole - 1 : whole;
}

enum wire_capacity_detail wire_capacity_detail(const struct json *request, uint32_t token)
{
    str text = wire_text(request, token);
    if (str_equal(text, STR("INDEXES")))
        return CAPACITY_INDEXES;
    return str_equal(text, STR("TOTAL")) ? CAPACITY_TOTAL : CAPACITY_NONE;
}
