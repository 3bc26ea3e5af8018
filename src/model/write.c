/* Writing values and items as bytes. */
#include "model/model_internal.h"
#include "model/number.h"
#include "model/value.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct counted_body counted_body_open(struct buf *out, size_t expected_bytes)
{
    struct counted_body body = {out->len, varint_size(expected_bytes)};
    buf_reserve(out, body.reserved + expected_bytes);
    out->len += body.reserved;
    return body;
}

void counted_body_close(struct buf *out, struct counted_body body)
{
    size_t bytes = out->len - body.start - body.reserved;
    size_t needed = varint_size(bytes);
    if (needed > body.reserved)
        buf_reserve(out, needed - body.reserved);
    char *at = out->data + body.start;
    if (needed != body.reserved)
        memmove(at + needed, at + body.reserved, bytes);
    varint_put((uint8_t *)at, bytes);
    out->len = body.start + needed + bytes;
}

void value_write_scalar(struct buf *out, enum value_type type, str payload)
{
    char *at = buf_reserve(out, 1 + VARINT_BYTES_MAX + payload.len);
    assert(type >= VALUE_S && type <= VALUE_B);
    *at = (char)type;
    /* A number's length byte is a varint too: it is below 128. */
    size_t head = 1 + varint_put((uint8_t *)at + 1, payload.len);
    if (payload.len > 0)
        memcpy(at + head, payload.data, payload.len);
    out->len += head + payload.len;
}

void value_write_bare(struct buf *out, enum value_type type)
{
    assert(type >= VALUE_TRUE && type <= VALUE_NULL);
    buf_add_byte(out, (uint8_t)type);
}

/* Sorts a copy of the elements; false when one stands twice. */
static bool sort_set(const str *elements, size_t count, struct sort_entry *entries)
{
    for (size_t at = 0; at < count; at++)
        entries[at] = (struct sort_entry){elements[at], at};
    sort_entries(entries, entries + count, count);
    for (size_t at = 1; at < count; at++)
        if (str_equal(entries[at - 1].key, entries[at].key))
            return false;
    return true;
}

bool value_write_set(struct buf *out, enum value_type type, str *elements, size_t count)
{
    enum { FEW = 16 };
    struct sort_entry few[2 * FEW];
    struct sort_entry *entries = count <= FEW ? few : malloc(2 * count * sizeof *entries);
    assert(type >= VALUE_SS && type <= VALUE_BS && count > 0);
    if (!entries) {
        fprintf(stderr, "stator: the machine has no memory to sort %zu elements\n", count);
        abort();
    }
    bool distinct = sort_set(elements, count, entries);
    if (distinct) {
        size_t bytes = varint_size(count);
        for (size_t at = 0; at < count; at++) {
            elements[at] = entries[at].key;
            bytes += varint_size(elements[at].len) + elements[at].len;
        }
        buf_reserve(out, 1 + VARINT_BYTES_MAX + bytes);
        buf_add_byte(out, (uint8_t)type);
        buf_add_varint(out, bytes);
        buf_add_varint(out, count);
        for (size_t at = 0; at < count; at++)
            buf_add_counted(out, elements[at]);
    }
    if (entries != few)
        free(entries);
    return distinct;
}

void value_write_list(struct buf *out, const str *elements, size_t count)
{
    size_t bytes = varint_size(count);
    for (size_t at = 0; at < count; at++)
        bytes += elements[at].len;
    buf_add_byte(out, VALUE_L);
    buf_add_varint(out, bytes);
    buf_add_varint(out, count);
    for (size_t at = 0; at < count; at++)
        buf_add_str(out, elements[at]);
}

/* Sorts, and drops those that a later one of the same name replaces. Returns how many are left. */
static size_t settle(struct attribute *attributes, size_t count)
{
    size_t kept = 0;
    sort_attributes(attributes, count);
    for (size_t at = 0; at < count; at++) {
        if (kept > 0 && str_equal(attributes[kept - 1].name, attributes[at].name))
            kept--;
        attributes[kept++] = attributes[at];
    }
    return kept;
}

static void write_attributes(struct buf *out, const struct attribute *attributes, size_t count)
{
    buf_add_varint(out, count);
    for (size_t at = 0; at < count; at++) {
        buf_add_counted(out, attributes[at].name);
        buf_add_str(out, attributes[at].value);
    }
}

static size_t attributes_bytes(const struct attribute *attributes, size_t count)
{
    size_t bytes = varint_size(count);
    for (size_t at = 0; at < count; at++)
        bytes += varint_size(attributes[at].name.len) + attributes[at].name.len + attributes[at].value.len;
    return bytes;
}

void item_write(struct buf *out, struct attribute *attributes, size_t count)
{
    count = settle(attributes, count);
    buf_reserve(out, attributes_bytes(attributes, count) + VARINT_BYTES_MAX);
    write_attributes(out, attributes, count);
}

void value_write_map(struct buf *out, struct attribute *attributes, size_t count)
{
    count = settle(attributes, count);
    size_t bytes = attributes_bytes(attributes, count);
    buf_reserve(out, bytes + 1 + VARINT_BYTES_MAX);
    buf_add_byte(out, VALUE_M);
    buf_add_varint(out, bytes);
    write_attributes(out, attributes, count);
}

struct attribute *item_attributes(struct arena *arena, str item, size_t *count)
{
    struct value_walk walk;
    item_walk_open(&walk, item);
    /* Each attribute takes at least three bytes, so that a false count in bad bytes cannot ask for more. */
    size_t most = walk.left < item.len ? (size_t)walk.left : item.len;
    struct attribute *attributes = ARENA_NEW_ARRAY(arena, struct attribute, most);
    *count = 0;
    while (*count < most && value_walk_attribute(&walk, &attributes[*count].name, &attributes[*count].value))
        ++*count;
    return attributes;
}

static void write_number_json(struct buf *out, str ordered)
{
    char *to = buf_reserve(out, NUMBER_TEXT_MAX + 2);
    size_t length = number_format(ordered, to + 1);
    to[0] = '"';
    to[length + 1] = '"';
    out->len += length + 2;
}

static void write_element_json(struct buf *out, enum value_type type, str element)
{
    if (type == VALUE_N || type == VALUE_NS)
        write_number_json(out, element);
    else if (type == VALUE_B || type == VALUE_BS)
        json_write_base64(out, element);
    else
        json_write_string(out, element);
}

static void write_set_json(struct buf *out, str set)
{
    struct value_walk walk;
    str element;
    bool first = true;
    buf_add_byte(out, '[');
    if (value_walk_open(&walk, set))
        for (; value_walk_element(&walk, &element); first = false) {
            if (!first)
                buf_add_byte(out, ',');
            write_element_json(out, value_type(set), element);
        }
    buf_add_byte(out, ']');
}

static void write_list_json(struct buf *out, str list)
{
    struct value_walk walk;
    str element;
    bool first = true;
    buf_add_byte(out, '[');
    if (value_walk_open(&walk, list))
        for (; value_walk_value(&walk, &element); first = false) {
            if (!first)
                buf_add_byte(out, ',');
            value_write_json(out, element);
        }
    buf_add_byte(out, ']');
}

static void write_walk_json(struct buf *out, struct value_walk *walk)
{
    str name;
    str found;
    bool first = true;
    buf_add_byte(out, '{');
    for (; value_walk_attribute(walk, &name, &found); first = false) {
        if (!first)
            buf_add_byte(out, ',');
        json_write_string(out, name);
        buf_add_byte(out, ':');
        value_write_json(out, found);
    }
    buf_add_byte(out, '}');
}

void value_write_json(struct buf *out, str v)
{
    /* Padded, so that all are copied as eight bytes. */
    static const struct {
        char text[8];
        uint8_t len;
    } heads[] = {
        [VALUE_S] = {"{\"S\":", 5},       [VALUE_N] = {"{\"N\":", 5},       [VALUE_B] = {"{\"B\":", 5},      [VALUE_TRUE] = {"{\"BOOL\":", 8},
        [VALUE_FALSE] = {"{\"BOOL\":", 8}, [VALUE_NULL] = {"{\"NULL\":", 8}, [VALUE_SS] = {"{\"SS\":", 6},    [VALUE_NS] = {"{\"NS\":", 6},
        [VALUE_BS] = {"{\"BS\":", 6},     [VALUE_L] = {"{\"L\":", 5},       [VALUE_M] = {"{\"M\":", 5},
    };
    struct value_walk walk;
    enum value_type type = value_type(v);
    assert(type >= VALUE_S && type <= VALUE_M);
    memcpy(buf_reserve(out, sizeof heads->text), heads[type].text, sizeof heads->text);
    out->len += heads[type].len;
    switch (type) {
    case VALUE_S:
    case VALUE_N:
    case VALUE_B:
        write_element_json(out, type, value_scalar(v));
        break;
    case VALUE_TRUE:
    case VALUE_NULL:
        BUF_ADD_LITERAL(out, "true");
        break;
    case VALUE_FALSE:
        BUF_ADD_LITERAL(out, "false");
        break;
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        write_set_json(out, v);
        break;
    case VALUE_L:
        write_list_json(out, v);
        break;
    case VALUE_M:
        if (value_walk_open(&walk, v))
            write_walk_json(out, &walk);
        break;
    }
    buf_add_byte(out, '}');
}

void item_write_json(struct buf *out, str item)
{
    struct value_walk walk;
    item_walk_open(&walk, item);
    write_walk_json(out, &walk);
}
