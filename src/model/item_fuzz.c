/* Fuzzes items and keys. The first byte says what the rest is: a stored item, an item's JSON, or a row key. What is valid comes
   back unchanged through JSON and through rebuilding. */
#include "model/key.h"
#include "model/stored.h"
#include "model/value.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rebuilt(struct call *call, str item)
{
    size_t count;
    struct buf out;
    struct attribute *attributes = item_attributes(&call->arena, item, &count);
    for (size_t at = 0; at < count; at++) {
        assert(value_is_valid(attributes[at].value));
        assert(value_equal(item_get(item, attributes[at].name), attributes[at].value));
    }
    buf_open(&out, &call->arena, item.len);
    item_write(&out, attributes, count);
    assert(str_equal(buf_str(&out), item));
}

static void check_item(struct call *call, str item)
{
    struct buf text, back;
    struct json json;
    assert(item_is_valid(item));
    check_rebuilt(call, item);
    item_size(item);
    assert(item_depth(item) >= 1);
    buf_open(&text, &call->arena, 0);
    item_write_json(&text, item);
    bool parsed = json_parse(&call->arena, buf_str(&text), &json);
    assert(parsed);
    buf_open(&back, &call->arena, 0);
    enum fault fault = item_read(call, &json, 0, &back);
    assert(fault == FAULT_NONE);
    assert(str_equal(buf_str(&back), item));
}

static void check_json(struct call *call, str text)
{
    struct json json;
    struct buf item;
    if (!json_parse(&call->arena, text, &json))
        return;
    buf_open(&item, &call->arena, 0);
    enum fault fault = item_read(call, &json, 0, &item);
    assert(fault == call->fault);
    if (fault == FAULT_NONE)
        check_item(call, buf_str(&item));
    else
        assert(call->message.len > 0 && item.len == 0);
}

static void check_key(struct call *call, str bytes)
{
    static const enum value_type types[] = {VALUE_S, VALUE_N, VALUE_B};
    for (unsigned kind = 0; kind < 12; kind++) {
        struct key_schema schema = {{STR("p"), types[kind % 3]}, {kind < 9 ? STR("s") : STR_NONE, types[kind / 3 % 3]}};
        str partition, sort;
        struct buf out;
        if (!key_decode(&schema, bytes, &call->arena, &partition, &sort))
            continue;
        assert(value_is_valid(partition) && (kind >= 9 || value_is_valid(sort)));
        buf_open(&out, &call->arena, bytes.len);
        key_encode(&schema, (enum row_space)(uint8_t)bytes.data[0], partition, sort, &out);
        assert(str_equal(buf_str(&out), bytes));
    }
}

/* Any bytes as the values of a key: the row key has no NUL and gives them back. */
static void check_key_of_bytes(struct call *call, str bytes)
{
    static const struct key_schema schema = {{{"p", 1}, VALUE_B}, {{"s", 1}, VALUE_B}};
    struct buf partition, sort, out;
    str decoded_partition, decoded_sort;
    buf_open(&partition, &call->arena, 0);
    buf_open(&sort, &call->arena, 0);
    buf_open(&out, &call->arena, 0);
    value_write_scalar(&partition, VALUE_B, str_of(bytes.data, bytes.len / 2));
    value_write_scalar(&sort, VALUE_B, str_from(bytes, bytes.len / 2));
    key_encode(&schema, ROW_ITEM, buf_str(&partition), buf_str(&sort), &out);
    assert(!memchr(out.data, 0, out.len));
    assert(key_decode(&schema, buf_str(&out), &call->arena, &decoded_partition, &decoded_sort));
    assert(value_equal(decoded_partition, buf_str(&partition)) && value_equal(decoded_sort, buf_str(&sort)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct call call;
    struct stored stored;
    call_open(&call, NULL, NULL);
    /* A copy of exactly this size, so that sanitizers see a read behind it. */
    char *copy = malloc(size);
    assert(copy);
    memcpy(copy, data + 1, size - 1);
    str rest = str_of(copy, size - 1);
    call.wording = data[0] % 3;
    switch (data[0] / 3 % 3) {
    case 0:
        if (stored_read(rest, &stored) && item_is_valid(stored.item))
            check_item(&call, stored.item);
        break;
    case 1:
        check_json(&call, rest);
        break;
    default:
        check_key(&call, rest);
        check_key_of_bytes(&call, rest);
    }
    free(copy);
    call_close(&call);
    return 0;
}
