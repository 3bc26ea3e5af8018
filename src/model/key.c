/* Primary keys as row keys and back, and their checks. */
#include "model/key.h"
#include "model/model_internal.h"
#include "model/number.h"

#include <assert.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define INVALID "One or more parameter values were invalid: "
#define KEY_MISMATCH "The provided key element does not match the schema"

/* 00 and 01 are written as 01 and one of these. */
enum { ESCAPE = 0x01, ESCAPED_END = 0x01, ESCAPED_00 = 0x02, ESCAPED_01 = 0x03 };

char key_type_letter(enum value_type type)
{
    assert(type >= VALUE_S && type <= VALUE_B);
    return type == VALUE_S ? 'S' : type == VALUE_N ? 'N' : 'B';
}

uint64_t key_hash(enum value_type type, str partition_key)
{
    char letter = key_type_letter(type);
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, &letter, 1);
    if (partition_key.len > 0)
        XXH64_update(&state, partition_key.data, partition_key.len);
    return XXH64_digest(&state);
}

void key_escape(struct buf *out, str bytes)
{
    char *start = buf_reserve(out, 2 * bytes.len);
    char *to = start;
    for (size_t at = 0; at < bytes.len; at++) {
        uint8_t byte = (uint8_t)bytes.data[at];
        if (byte <= ESCAPE) {
            *to++ = ESCAPE;
            byte = byte == 0 ? ESCAPED_00 : ESCAPED_01;
        }
        *to++ = (char)byte;
    }
    out->len += (size_t)(to - start);
}

void key_escape_closed(struct buf *out, str bytes)
{
    key_escape(out, bytes);
    buf_add_byte(out, ESCAPE);
    buf_add_byte(out, ESCAPED_END);
}

/* Takes escaped bytes up to the end mark, or up to the end of the row key when there is no mark to come. */
static bool unescape(str *rest, bool marked, struct arena *arena, str *bytes)
{
    char *start = arena_alloc_text(arena, rest->len);
    char *to = start;
    size_t at = 0;
    while (at < rest->len) {
        uint8_t byte = (uint8_t)rest->data[at++];
        if (byte == 0)
            return false;
        if (byte != ESCAPE) {
            *to++ = (char)byte;
            continue;
        }
        if (at == rest->len)
            return false;
        uint8_t escaped = (uint8_t)rest->data[at++];
        if (escaped == ESCAPED_END && marked) {
            marked = false;
            break;
        }
        if (escaped != ESCAPED_00 && escaped != ESCAPED_01)
            return false;
        *to++ = (char)(escaped - ESCAPED_00);
    }
    *bytes = str_of(start, (size_t)(to - start));
    *rest = str_from(*rest, at);
    return !marked;
}

void key_put_hash(struct buf *out, uint64_t hash)
{
    uint8_t *to = (uint8_t *)buf_reserve(out, KEY_HASH_BYTES);
    for (int at = KEY_HASH_BYTES - 1; at >= 0; at--, hash >>= 7)
        to[at] = (uint8_t)(0x80 | (hash & 0x7f));
    out->len += KEY_HASH_BYTES;
}

static bool take_hash(str *rest, uint64_t *hash)
{
    str taken;
    if (!str_take(rest, KEY_HASH_BYTES, &taken))
        return false;
    *hash = 0;
    for (size_t at = 0; at < KEY_HASH_BYTES; at++) {
        uint8_t byte = (uint8_t)taken.data[at];
        if (byte < 0x80 || (at == 0 && byte > 0x81))
            return false;
        *hash = *hash << 7 | (byte & 0x7f);
    }
    return true;
}

void key_encode_hash(enum row_space space, uint64_t hash, struct buf *out)
{
    buf_reserve(out, 1 + KEY_HASH_BYTES);
    buf_add_byte(out, (uint8_t)space);
    key_put_hash(out, hash);
}

void key_encode_partition(const struct key_schema *schema, enum row_space space, str partition, struct buf *out)
{
    assert(value_type(partition) == schema->partition.type);
    str bytes = value_scalar(partition);
    key_encode_hash(space, key_hash(schema->partition.type, bytes), out);
    key_escape_closed(out, bytes);
}

void key_encode_sort(str sort, struct buf *out)
{
    key_escape(out, value_scalar(sort));
}

void key_encode(const struct key_schema *schema, enum row_space space, str partition, str sort, struct buf *out)
{
    key_encode_partition(schema, space, partition, out);
    if (schema->sort.name.len > 0) {
        assert(value_type(sort) == schema->sort.type);
        key_encode_sort(sort, out);
    }
}

/* The value of these key bytes; false when its type cannot hold them. */
static bool value_of_bytes(enum value_type type, str bytes, struct arena *arena, str *out)
{
    if ((type == VALUE_N && !number_is_valid(bytes)) || (type == VALUE_S && !utf8_is_valid(bytes)))
        return false;
    struct buf buf;
    buf_open(&buf, arena, 1 + VARINT_BYTES_MAX + bytes.len);
    value_write_scalar(&buf, type, bytes);
    *out = buf_str(&buf);
    return true;
}

bool key_decode(const struct key_schema *schema, str row_key, struct arena *arena, str *partition, str *sort)
{
    uint64_t hash;
    str rest = str_from(row_key, 1), bytes;
    *partition = *sort = STR_NONE;
    if (row_key.len == 0 || !take_hash(&rest, &hash) || !unescape(&rest, true, arena, &bytes))
        return false;
    if (hash != key_hash(schema->partition.type, bytes) || !value_of_bytes(schema->partition.type, bytes, arena, partition))
        return false;
    if (schema->sort.name.len == 0)
        return rest.len == 0;
    return unescape(&rest, false, arena, &bytes) && value_of_bytes(schema->sort.type, bytes, arena, sort);
}

enum fault key_check_value(struct call *call, const struct key_attribute *attribute, str v, bool is_partition)
{
    if (attribute->type == VALUE_N)
        return FAULT_NONE;
    size_t bytes = value_scalar(v).len;
    if (bytes == 0)
        return fail(call, FAULT_VALIDATION,
                    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %.*s",
                    attribute->type == VALUE_S ? "string" : "binary", STR_ARG(attribute->name));
    /* DynamoDB's own missing blank. */
    if (is_partition && bytes > PARTITION_KEY_MAX)
        return fail(call, FAULT_VALIDATION, INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes");
    if (!is_partition && bytes > SORT_KEY_MAX)
        return fail(call, FAULT_VALIDATION, INVALID "Aggregated size of all range keys has exceeded the size limit of 1024 bytes");
    return FAULT_NONE;
}

static enum fault check_of_item(struct call *call, const struct key_attribute *attribute, str v, bool is_partition, bool schema_mismatch) MUST_USE;
static enum fault check_of_item(struct call *call, const struct key_attribute *attribute, str v, bool is_partition, bool schema_mismatch)
{
    if (schema_mismatch && (v.len == 0 || value_type(v) != attribute->type))
        return fail(call, FAULT_VALIDATION, KEY_MISMATCH);
    if (v.len == 0)
        return fail(call, FAULT_VALIDATION, INVALID "Missing the key %.*s in the item", STR_ARG(attribute->name));
    if (value_type(v) != attribute->type)
        return fail(call, FAULT_VALIDATION, INVALID "Type mismatch for key %.*s expected: %c actual: %.*s", STR_ARG(attribute->name),
                    key_type_letter(attribute->type), STR_ARG(value_type_name(v)));
    return key_check_value(call, attribute, v, is_partition);
}

static enum fault take_key(struct call *call, const struct key_schema *schema, str item, bool schema_mismatch, struct buf *row_key) MUST_USE;
static enum fault take_key(struct call *call, const struct key_schema *schema, str item, bool schema_mismatch, struct buf *row_key)
{
    str partition = item_get(item, schema->partition.name), sort = STR_NONE;
    TRY(check_of_item(call, &schema->partition, partition, true, schema_mismatch));
    if (schema->sort.name.len > 0) {
        sort = item_get(item, schema->sort.name);
        TRY(check_of_item(call, &schema->sort, sort, false, schema_mismatch));
    }
    key_encode(schema, ROW_ITEM, partition, sort, row_key);
    return FAULT_NONE;
}

enum fault key_of_item(struct call *call, const struct key_schema *schema, str item, bool wrong_is_schema_mismatch, struct buf *row_key)
{
    return take_key(call, schema, item, wrong_is_schema_mismatch, row_key);
}

enum fault key_of_map(struct call *call, const struct key_schema *schema, str key_item, struct buf *row_key)
{
    struct value_walk walk;
    item_walk_open(&walk, key_item);
    if (walk.left != (schema->sort.name.len > 0 ? 2 : 1))
        return fail(call, FAULT_VALIDATION, KEY_MISMATCH);
    return take_key(call, schema, key_item, true, row_key);
}

void key_item_of(const struct key_schema *schema, str item, struct buf *out)
{
    struct attribute attributes[2];
    size_t count = 0;
    attributes[count++] = (struct attribute){schema->partition.name, item_get(item, schema->partition.name)};
    if (schema->sort.name.len > 0)
        attributes[count++] = (struct attribute){schema->sort.name, item_get(item, schema->sort.name)};
    for (size_t at = 0; at < count; at++)
        assert(attributes[at].value.len > 0);
    item_write(out, attributes, count);
}
