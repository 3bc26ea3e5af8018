/* Attribute values and items as bytes: one form in memory, in edits and in storage. Read in place, written once.
 *
 *   item  := varint attribute count, then for each attribute, in order of name bytes and each name once:
 *            varint name length, name, value
 *   value := type byte, then
 *            S, B       varint length, bytes
 *            N          length byte, ordered form (number.h); the byte is a varint like the others
 *            TRUE FALSE NULL   nothing
 *            SS NS BS   varint body length; body: varint count, then the elements in byte order, each: varint length, bytes (N: ordered form)
 *            L          varint body length; body: varint count, then the values
 *            M          varint body length; body: an item
 *
 * Names and set elements are sorted, so equal values are equal bytes.
 * The form is part of the data format: changing it needs a new STORED_VERSION (stored.h). */
#ifndef STATOR_MODEL_VALUE_H
#define STATOR_MODEL_VALUE_H

#include "base/bytes.h"
#include "base/call.h"
#include "base/str.h"
#include "json/json.h"

enum value_type {
    VALUE_S = 1,
    VALUE_N,
    VALUE_B,
    VALUE_TRUE,
    VALUE_FALSE,
    VALUE_NULL,
    VALUE_SS,
    VALUE_NS,
    VALUE_BS,
    VALUE_L,
    VALUE_M
};

enum {
    ITEM_BYTES_MAX = 409600,     /* DynamoDB size */
    ITEM_DEPTH_MAX = 32,         /* levels, the item counted */
    ATTRIBUTE_NAME_MAX = 65535
};

/* A value is a str: type byte and payload, whole. Its `len` 0 means "no value". (No type of its own: it is handed around like any bytes.) */

static inline enum value_type value_type(str v)
{
    return (enum value_type)(uint8_t)v.data[0];
}

static inline bool value_is_set(str v)
{
    enum value_type type = value_type(v);
    return type >= VALUE_SS && type <= VALUE_BS;
}

/* "S", "N", "BOOL" (both), "NULL", ... */
str value_type_name(str v);

/* Payload of S, N (ordered form) or B. */
str value_scalar(str v);

/* Takes the value at the front of *rest, whole. False when the bytes are no value (only lengths are checked: see value_is_valid). */
bool value_take(str *rest, str *out);

/* Full check of untrusted bytes: types, lengths, order, UTF-8, numbers, names of 1 to ATTRIBUTE_NAME_MAX bytes, and no deeper than what
   JSON_DEPTH_MAX lets in. What passes is, byte for byte, what the writers below write. */
bool value_is_valid(str v);
bool item_is_valid(str item);

/* Equal type and value. Sets and maps without order, numbers by value: by the form, equal bytes. */
static inline bool value_equal(str a, str b)
{
    return str_equal(a, b);
}

/* Order of two S, two N or two B: below 0, 0, above 0. */
int value_compare(str a, str b);

/* Walks the elements of a set (payload str), of a list (values), or of an item or map. */
struct value_walk {
    str rest;
    uint64_t left; /* elements still to come */
};

bool value_walk_open(struct value_walk *walk, str set_list_or_map);
void item_walk_open(struct value_walk *walk, str item);
bool value_walk_element(struct value_walk *walk, str *element);              /* sets */
bool value_walk_value(struct value_walk *walk, str *element);              /* lists */
bool value_walk_attribute(struct value_walk *walk, str *name, str *found); /* items and maps */

/* Elements of a set, list or map. */
uint64_t value_count(str v);

/* The attribute's value, or an empty str. */
str item_get(str item, str name);
str map_get(str map, str name);
str list_get(str list, uint64_t index);
bool set_has(str set, str element);

/* DynamoDB's size in bytes: of a value, of an item (names and values). Reference capacity.md section 2. */
size_t value_size(str v);
size_t item_size(str item);

/* Levels of lists and maps: of an item, itself counted (ITEM_DEPTH_MAX allowed); of a value, itself counted when it is one
   (a value of ITEM_DEPTH_MAX - 1 is the deepest that an expression may carry; public suite Parity, nestingDepth). */
unsigned item_depth(str item);
unsigned value_depth(str v);

/* Writing. For an item whose names are not in order, see item_write. */
void value_write_scalar(struct buf *out, enum value_type type, str payload); /* S, B; N with the ordered form */
void value_write_bare(struct buf *out, enum value_type type);                /* TRUE, FALSE, NULL */

/* Sorts and writes. Elements of NS are ordered forms. False when an element stands twice (nothing written). */
bool value_write_set(struct buf *out, enum value_type type, str *elements, size_t count);
void value_write_list(struct buf *out, const str *elements, size_t count);

struct attribute {
    str name;
    str value;
};

/* Sorts the attributes in place by name and writes an item; a name that stands twice keeps the later one. */
void item_write(struct buf *out, struct attribute *attributes, size_t count);
void value_write_map(struct buf *out, struct attribute *attributes, size_t count);

/* Fills a new array in the arena with the item's attributes; *count is set. For rebuilding an item with item_write. */
struct attribute *item_attributes(struct arena *arena, str item, size_t *count);

/* From a request. The JSON types were checked before (wire): what is wrong here is a ValidationException with the texts and the order of
   reference expressions.md section 8, for the first attribute in the order of the request. `value_read` reads {"S": ...}, `item_read`
   a map of them. Depth is not limited here but by JSON_DEPTH_MAX; see item_depth. A member that is null is no member. */
enum fault value_read(struct call *call, const struct json *json, uint32_t token, struct buf *out) MUST_USE;
enum fault item_read(struct call *call, const struct json *json, uint32_t token, struct buf *out) MUST_USE;

/* To an answer: {"S":"..."}, and the map of them. */
void value_write_json(struct buf *out, str v);
void item_write_json(struct buf *out, str item);

#endif
