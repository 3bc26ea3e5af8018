/* Attribute values from a request's JSON, straight into item bytes. */
#include "model/model_internal.h"
#include "model/number.h"
#include "model/value.h"

#include <assert.h>
#include <stdio.h>

#define INVALID "One or more parameter values were invalid: "

struct reader {
    struct call *call;
    const struct json *json;
    struct buf *out;
    bool as_sent; /* attributes in the request's order, for its first fault; the bytes are then thrown away */
};

static enum fault read_value(const struct reader *reader, uint32_t token) MUST_USE;

/* `wire` refuses these before; here so that no request can get past both. */
static enum fault refuse_json_type(const struct reader *reader)
{
    return fail(reader->call, FAULT_SERIALIZATION, "Unexpected value type in payload");
}

static enum fault take_string(const struct reader *reader, uint32_t token, str *text) MUST_USE;
static enum fault take_string(const struct reader *reader, uint32_t token, str *text)
{
    if (json_type(reader->json, token) != JSON_STRING)
        return refuse_json_type(reader);
    *text = json_string(reader->json, token);
    return FAULT_NONE;
}

static enum fault refuse_number(const struct reader *reader, enum number_status status, str text)
{
    enum { MESSAGE_MAX = 128 };
    bool older = reader->call->wording == WORDING_CLASSIC;
    if (older)
        status = number_status_older(text, status);
    if (older && status == NUMBER_NOT_NUMERIC && text.len == 0)
        return fail_reworded(reader->call, "The parameter cannot be converted to a numeric value");
    size_t room = text.len + MESSAGE_MAX;
    char *message = arena_alloc_text(&reader->call->arena, room);
    size_t length = number_fault_text(status, text, message, room);
    return fail_reworded(reader->call, "%.*s", (int)length, message);
}

static enum fault take_number(const struct reader *reader, uint32_t token, struct number *number) MUST_USE;
static enum fault take_number(const struct reader *reader, uint32_t token, struct number *number)
{
    str text;
    TRY(take_string(reader, token, &text));
    enum number_status status = number_parse(text, number);
    return status == NUMBER_OK ? FAULT_NONE : refuse_number(reader, status, text);
}

static enum fault refuse_base64(const struct reader *reader, str text)
{
    if (text.len % 4 != 0)
        return fail(reader->call, FAULT_SERIALIZATION, "Base64 encoded length is expected a multiple of 4 bytes but found: %zu", text.len);
    return fail(reader->call, FAULT_SERIALIZATION, "Invalid last non-pad Base64 character dectected");
}

static enum fault read_binary(const struct reader *reader, uint32_t token) MUST_USE;
static enum fault read_binary(const struct reader *reader, uint32_t token)
{
    str text;
    TRY(take_string(reader, token, &text));
    size_t bytes = text.len / 4 * 3;
    for (size_t end = text.len; end > 0 && bytes > 0 && end + 2 > text.len && text.data[end - 1] == '='; end--)
        bytes--;
    buf_reserve(reader->out, 1 + VARINT_BYTES_MAX + text.len);
    buf_add_byte(reader->out, VALUE_B);
    buf_add_varint(reader->out, bytes);
    size_t before = reader->out->len;
    if (!base64_decode(text, reader->out))
        return refuse_base64(reader, text);
    assert(reader->out->len - before == bytes);
    return FAULT_NONE;
}

static bool is_one_of(str text, str a, str b, str c)
{
    return str_equal_folded(text, a) || str_equal_folded(text, b) || str_equal_folded(text, c);
}

/* JSON's booleans, and the strings that DynamoDB takes for them (reference wire.md section 4). */
static enum fault take_bool(const struct reader *reader, uint32_t token, bool *truth) MUST_USE;
static enum fault take_bool(const struct reader *reader, uint32_t token, bool *truth)
{
    enum json_type type = json_type(reader->json, token);
    *truth = type == JSON_TRUE;
    if (type == JSON_TRUE || type == JSON_FALSE)
        return FAULT_NONE;
    if (type != JSON_STRING)
        return refuse_json_type(reader);
    str text = json_string(reader->json, token);
    *truth = is_one_of(text, STR("true"), STR("yes"), STR("1"));
    if (*truth || is_one_of(text, STR("false"), STR("no"), STR("0")))
        return FAULT_NONE;
    return fail(reader->call, FAULT_SERIALIZATION, "Unexpected token received from parser");
}

static enum fault refuse_empty_set(const struct reader *reader, enum value_type type)
{
    if (type == VALUE_BS)
        return fail_reworded(reader->call, INVALID "Binary sets should not be empty");
    return fail_reworded(reader->call, INVALID "An %s set  may not be empty", type == VALUE_SS ? "string" : "number");
}

/* The index of the first element that stands before already. */
static size_t first_repeat(const str *elements, struct sort_entry *entries, size_t count)
{
    size_t first = count;
    for (size_t at = 0; at < count; at++)
        entries[at] = (struct sort_entry){elements[at], at};
    sort_entries(entries, entries + count, count);
    for (size_t at = 1; at < count; at++)
        if (entries[at].place < first && str_equal(entries[at - 1].key, entries[at].key))
            first = entries[at].place;
    return first;
}

/* Older checks list the elements as sent. Newer ones quote them, and list those before the first repeat in byte order (public
   suite Parity, valueLayers). */
static enum fault refuse_duplicates(const struct reader *reader, enum value_type type, uint32_t set_token, const str *elements, size_t count)
{
    bool older = reader->call->wording == WORDING_CLASSIC;
    struct arena *arena = &reader->call->arena;
    if (type == VALUE_NS) {
        if (older)
            return fail_reworded(reader->call, "Input collection contains duplicates");
        return fail_reworded(reader->call, INVALID "Input collection contains duplicates.");
    }
    uint32_t *tokens = ARENA_NEW_ARRAY(arena, uint32_t, count);
    size_t next = 0;
    for (uint32_t at = json_first(reader->json, set_token); next < count; at = json_next(reader->json, at))
        tokens[next++] = at;
    struct sort_entry *entries = ARENA_NEW_ARRAY(arena, struct sort_entry, 2 * count);
    size_t repeat = older ? 0 : first_repeat(elements, entries, count);
    for (size_t at = 0; at < repeat; at++)
        entries[at] = (struct sort_entry){elements[at], at};
    sort_entries(entries, entries + count, repeat);
    const char *between = older || type == VALUE_SS ? ", " : ",";
    const char *quote = older ? "" : "\"";
    struct buf list;
    buf_open(&list, arena, 0);
    for (size_t at = 0; at < count; at++) {
        str text = json_string(reader->json, tokens[at < repeat ? entries[at].place : at]);
        buf_printf(&list, "%s%s", at > 0 ? between : "", quote);
        buf_add_str(&list, text);
        buf_printf(&list, "%s", quote);
    }
    return fail_reworded(reader->call, INVALID "Input collection [%.*s]%s contains duplicates.", STR_ARG(buf_str(&list)),
                         type == VALUE_BS ? "of type BS" : "");
}

/* One element's bytes; numbers and binaries are put into memory that the caller prepared. */
static enum fault take_element(const struct reader *reader, enum value_type type, uint32_t token, struct number *number, struct buf *binary, str *element) MUST_USE;
static enum fault take_element(const struct reader *reader, enum value_type type, uint32_t token, struct number *number, struct buf *binary, str *element)
{
    if (type == VALUE_NS) {
        TRY(take_number(reader, token, number));
        *element = number_str(number);
        return FAULT_NONE;
    }
    TRY(take_string(reader, token, element));
    if (type == VALUE_SS)
        return FAULT_NONE;
    size_t before = binary->len;
    if (!base64_decode(*element, binary))
        return refuse_base64(reader, *element);
    *element = str_of(binary->data + before, binary->len - before);
    return FAULT_NONE;
}

/* Each element of a set or map takes a byte of its item at least. More are refused unread: a request's text holds millions, and reading takes some
   hundred bytes for each. */
static enum fault check_count(const struct reader *reader, size_t count) MUST_USE;
static enum fault check_count(const struct reader *reader, size_t count)
{
    return count <= ITEM_BYTES_MAX ? FAULT_NONE : fail(reader->call, FAULT_VALIDATION, "Item size has exceeded the maximum allowed size");
}

static enum fault read_set(const struct reader *reader, enum value_type type, uint32_t token) MUST_USE;
static enum fault read_set(const struct reader *reader, enum value_type type, uint32_t token)
{
    const struct json *json = reader->json;
    struct arena *arena = &reader->call->arena;
    if (json_type(json, token) != JSON_ARRAY)
        return refuse_json_type(reader);
    size_t count = json->tokens[token].count;
    if (count == 0)
        return refuse_empty_set(reader, type);
    TRY(check_count(reader, count));
    str *elements = arena_alloc(arena, count * sizeof *elements);
    struct number *numbers = type == VALUE_NS ? arena_alloc(arena, count * sizeof *numbers) : NULL;
    /* Room for all, so that the elements do not move while others follow. */
    struct buf binary;
    buf_open(&binary, arena, type == VALUE_BS ? json->tokens[token].length : 0);
    size_t next = 0;
    for (uint32_t at = json_first(json, token); at < json_end(json, token); at = json_next(json, at), next++)
        TRY(take_element(reader, type, at, numbers ? &numbers[next] : NULL, &binary, &elements[next]));
    if (!value_write_set(reader->out, type, elements, count))
        return refuse_duplicates(reader, type, token, elements, count);
    arena_give_back(arena, elements);
    if (numbers)
        arena_give_back(arena, numbers);
    return FAULT_NONE;
}

static enum fault read_list(const struct reader *reader, uint32_t token) MUST_USE;
static enum fault read_list(const struct reader *reader, uint32_t token)
{
    const struct json *json = reader->json;
    if (json_type(json, token) != JSON_ARRAY)
        return refuse_json_type(reader);
    buf_add_byte(reader->out, VALUE_L);
    struct counted_body body = counted_body_open(reader->out, json->tokens[token].length / 2);
    buf_add_varint(reader->out, json->tokens[token].count);
    for (uint32_t at = json_first(json, token); at < json_end(json, token); at = json_next(json, at))
        TRY(read_value(reader, at));
    counted_body_close(reader->out, body);
    return FAULT_NONE;
}

/* The names of a map with their values' tokens. */
static enum fault take_names(const struct reader *reader, uint32_t token, struct sort_entry *entries) MUST_USE;
static enum fault take_names(const struct reader *reader, uint32_t token, struct sort_entry *entries)
{
    const struct json *json = reader->json;
    for (uint32_t at = json_first(json, token); at < json_end(json, token); at = json_next(json, at + 1), entries++) {
        *entries = (struct sort_entry){json_string(json, at), at + 1};
        if (entries->key.len == 0)
            return fail_reworded(reader->call, "Empty attribute name");
        if (entries->key.len > ATTRIBUTE_NAME_MAX)
            return fail_reworded(reader->call, "Attribute name is too large, must be less than 65536 bytes");
    }
    return FAULT_NONE;
}

/* An item's bytes from a JSON object of attribute values. */
static enum fault read_attributes(const struct reader *reader, uint32_t token) MUST_USE;
static enum fault read_attributes(const struct reader *reader, uint32_t token)
{
    const struct json *json = reader->json;
    struct buf *out = reader->out;
    if (json_type(json, token) != JSON_OBJECT)
        return refuse_json_type(reader);
    size_t count = json->tokens[token].count, kept = 0;
    TRY(check_count(reader, count));
    struct sort_entry *entries = arena_alloc(&reader->call->arena, 2 * count * sizeof *entries);
    TRY(take_names(reader, token, entries));
    if (!reader->as_sent)
        sort_entries(entries, entries + count, count);
    for (size_t at = 0; at < count; at++) {
        /* Of members of one name the last counts, as it does in DynamoDB's own reader. */
        if (kept > 0 && str_equal(entries[kept - 1].key, entries[at].key))
            kept--;
        entries[kept++] = entries[at];
    }
    buf_add_varint(out, kept);
    for (size_t at = 0; at < kept; at++) {
        buf_add_counted(out, entries[at].key);
        TRY(read_value(reader, (uint32_t)entries[at].place));
    }
    arena_give_back(&reader->call->arena, entries);
    return FAULT_NONE;
}

static enum fault read_map(const struct reader *reader, uint32_t token) MUST_USE;
static enum fault read_map(const struct reader *reader, uint32_t token)
{
    buf_add_byte(reader->out, VALUE_M);
    struct counted_body body = counted_body_open(reader->out, reader->json->tokens[token].length / 2);
    TRY(read_attributes(reader, token));
    counted_body_close(reader->out, body);
    return FAULT_NONE;
}

/* VALUE_TRUE stands for BOOL; 0 for a name that is no type. */
static unsigned type_of_name(str name)
{
    static const char set_letters[] = "SNB";
    const char *letter;
    switch (name.len) {
    case 1:
        switch (name.data[0]) {
        case 'S':
            return VALUE_S;
        case 'N':
            return VALUE_N;
        case 'B':
            return VALUE_B;
        case 'L':
            return VALUE_L;
        case 'M':
            return VALUE_M;
        default:
            return 0;
        }
    case 2:
        letter = name.data[0] != '\0' && name.data[1] == 'S' ? strchr(set_letters, name.data[0]) : NULL;
        return letter ? VALUE_SS + (unsigned)(letter - set_letters) : 0;
    case 4:
        return memcmp(name.data, "BOOL", 4) == 0 ? VALUE_TRUE : memcmp(name.data, "NULL", 4) == 0 ? VALUE_NULL : 0;
    default:
        return 0;
    }
}

static enum fault read_typed(const struct reader *reader, unsigned type, uint32_t token) MUST_USE;
static enum fault read_typed(const struct reader *reader, unsigned type, uint32_t token)
{
    struct number number;
    bool truth;
    str text;
    switch ((enum value_type)type) {
    case VALUE_S:
        TRY(take_string(reader, token, &text));
        value_write_scalar(reader->out, VALUE_S, text);
        return FAULT_NONE;
    case VALUE_N:
        TRY(take_number(reader, token, &number));
        value_write_scalar(reader->out, VALUE_N, number_str(&number));
        return FAULT_NONE;
    case VALUE_B:
        return read_binary(reader, token);
    case VALUE_TRUE:
    case VALUE_FALSE:
        TRY(take_bool(reader, token, &truth));
        value_write_bare(reader->out, truth ? VALUE_TRUE : VALUE_FALSE);
        return FAULT_NONE;
    case VALUE_NULL:
        TRY(take_bool(reader, token, &truth));
        if (!truth)
            return fail_reworded(reader->call, INVALID "Null attribute value types must have the value of true");
        value_write_bare(reader->out, VALUE_NULL);
        return FAULT_NONE;
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return read_set(reader, (enum value_type)type, token);
    case VALUE_L:
        return read_list(reader, token);
    case VALUE_M:
        return read_map(reader, token);
    }
    return refuse_json_type(reader);
}

static enum fault read_value(const struct reader *reader, uint32_t token)
{
    const struct json *json = reader->json;
    uint32_t found = JSON_ABSENT;
    unsigned type = 0;
    if (json_type(json, token) == JSON_OBJECT) {
        for (uint32_t at = json_first(json, token); at < json_end(json, token); at = json_next(json, at + 1)) {
            unsigned member_type = type_of_name(json_string(json, at));
            if (member_type == 0 || json_type(json, at + 1) == JSON_NULL)
                continue;
            if (type != 0 && type != member_type)
                return fail_reworded(reader->call,
                                     "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes");
            type = member_type;
            found = at + 1;
        }
    } else if (json_type(json, token) != JSON_NULL) {
        return refuse_json_type(reader);
    }
    if (found == JSON_ABSENT)
        return fail_reworded(reader->call, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
    return read_typed(reader, type, found);
}

/* Reads in order of names, which is the bytes' order; what fails is read again in the request's order, to say its first fault. */
static enum fault read_twice(struct reader *reader, uint32_t token, enum fault (*read)(const struct reader *, uint32_t))
{
    size_t start = reader->out->len;
    bool clean = reader->call->fault == FAULT_NONE;
    /* The bytes are fewer than the JSON's; reserved at once, since what grows between other pieces of an arena is copied. */
    buf_reserve(reader->out, reader->json->tokens[token].length);
    enum fault fault = read(reader, token);
    if (fault == FAULT_NONE)
        return FAULT_NONE;
    if (clean) {
        call_clear_fault(reader->call);
        reader->out->len = start;
        reader->as_sent = true;
        fault = read(reader, token);
        assert(fault != FAULT_NONE);
    }
    reader->out->len = start;
    return fault;
}

enum fault value_read(struct call *call, const struct json *json, uint32_t token, struct buf *out)
{
    struct reader reader = {.call = call, .json = json, .out = out};
    return read_twice(&reader, token, read_value);
}

enum fault item_read(struct call *call, const struct json *json, uint32_t token, struct buf *out)
{
    struct reader reader = {.call = call, .json = json, .out = out};
    return read_twice(&reader, token, read_attributes);
}
