/* Values in error texts, as AWS's Java prints them. Source: captures of BatchWriteItem and CreateTable errors, 2026. */
#include "wire/echo_internal.h"

void echo_member_name(struct buf *out, str name)
{
    char first = name.data[0];
    buf_add_byte(out, (uint8_t)(first >= 'A' && first <= 'Z' ? first + ('a' - 'A') : first));
    buf_add_str(out, str_from(name, 1));
}

static bool is_full(const struct buf *out)
{
    return out->len > ECHO_BYTES_MAX;
}

static uint32_t member_of(const struct json *json, uint32_t object, const char *name)
{
    return json_member(json, object, str_of_text(name));
}

static void echo_list(struct buf *out, const struct json *json, uint32_t token, const struct wire_shape *element)
{
    buf_add_byte(out, '[');
    uint32_t end = json_end(json, token);
    for (uint32_t i = json_first(json, token); i < end && !is_full(out); i = json_next(json, i)) {
        if (i != json_first(json, token))
            BUF_ADD_LITERAL(out, ", ");
        echo_java(out, json, i, element);
    }
    buf_add_byte(out, ']');
}

static void echo_map(struct buf *out, const struct json *json, uint32_t token, const struct wire_shape *element)
{
    buf_add_byte(out, '{');
    uint32_t end = json_end(json, token);
    for (uint32_t i = json_first(json, token); i < end && !is_full(out); i = json_next(json, i + 1)) {
        if (i != json_first(json, token))
            BUF_ADD_LITERAL(out, ", ");
        buf_add_str(out, json_string(json, i));
        buf_add_byte(out, '=');
        echo_java(out, json, i + 1, element);
    }
    buf_add_byte(out, '}');
}

/* AWS's class for a value has more members than the API shows. */
static void echo_value(struct buf *out, const struct json *json, uint32_t token)
{
    static const struct {
        const char *shown;
        const char *member; /* NULL: not of the API, always null */
    } members[] = {
        {"s", "S"}, {"n", "N"}, {"b", "B"}, {"iNT", NULL}, {"dECIMAL", NULL}, {"dOUBLE", NULL}, {"sS", "SS"}, {"nS", "NS"}, {"bS", "BS"},
        {"iNTSET", NULL}, {"dECIMALSET", NULL}, {"dOUBLESET", NULL}, {"m", "M"}, {"l", "L"}, {"nULL", "NULL"}, {"bOOL", "BOOL"},
    };
    BUF_ADD_LITERAL(out, "AttributeValue(");
    for (size_t i = 0; i < sizeof members / sizeof members[0] && !is_full(out); i++) {
        buf_printf(out, "%s%s=", i ? ", " : "", members[i].shown);
        uint32_t found = members[i].member ? member_of(json, token, members[i].member) : JSON_ABSENT;
        if (found == JSON_ABSENT)
            BUF_ADD_LITERAL(out, "null");
        else if (json_type(json, found) == JSON_OBJECT)
            echo_map(out, json, found, &shape_value);
        else if (json_type(json, found) == JSON_ARRAY)
            echo_list(out, json, found, members[i].member[0] == 'L' ? &shape_value : members[i].member[0] == 'B' ? &shape_blob : &shape_string);
        else
            echo_java(out, json, found, members[i].member[0] == 'B' && !members[i].member[1] ? &shape_blob : &shape_string);
    }
    buf_add_byte(out, ')');
}

static void echo_structure(struct buf *out, const struct json *json, uint32_t token, const struct wire_shape *shape)
{
    buf_printf(out, "%s(", shape->name);
    for (size_t i = 0; i < shape->member_count && !is_full(out); i++) {
        const struct wire_member *member = &shape->members[i];
        if (i)
            BUF_ADD_LITERAL(out, ", ");
        echo_member_name(out, str_of(member->name, member->name_length));
        buf_add_byte(out, '=');
        echo_java(out, json, member_of(json, token, member->name), member->shape);
    }
    if (shape->echo_tail)
        buf_add_str(out, str_of_text(shape->echo_tail));
    buf_add_byte(out, ')');
}

void echo_java(struct buf *out, const struct json *json, uint32_t token, const struct wire_shape *shape)
{
    if (token == JSON_ABSENT || json_type(json, token) == JSON_NULL) {
        BUF_ADD_LITERAL(out, "null");
        return;
    }
    switch (shape->kind) {
    case SHAPE_BLOB: {
        size_t bytes = json_string(json, token).len / 4 * 3;
        buf_printf(out, "java.nio.HeapByteBuffer[pos=0 lim=%zu cap=%zu]", bytes, bytes);
        break;
    }
    case SHAPE_LIST:
        echo_list(out, json, token, shape->element);
        break;
    case SHAPE_MAP:
        echo_map(out, json, token, shape->element);
        break;
    case SHAPE_STRUCT:
        echo_structure(out, json, token, shape);
        break;
    case SHAPE_VALUE:
        echo_value(out, json, token);
        break;
    default: {
        str text = json_type(json, token) == JSON_STRING ? json_string(json, token) : json_raw(json, token);
        buf_add_str(out, text);
    }
    }
}

void echo_json(struct buf *out, const struct json *json, uint32_t token)
{
    enum json_type type = json_type(json, token);
    if (type == JSON_STRING) {
        json_write_string(out, json_string(json, token));
    } else if (type == JSON_ARRAY || type == JSON_OBJECT) {
        bool is_object = type == JSON_OBJECT;
        buf_add_byte(out, is_object ? '{' : '[');
        uint32_t end = json_end(json, token);
        for (uint32_t i = json_first(json, token); i < end && !is_full(out); i = json_next(json, i)) {
            if (i != json_first(json, token))
                buf_add_byte(out, ',');
            echo_json(out, json, i);
            if (is_object) {
                buf_add_byte(out, ':');
                i++;
                echo_json(out, json, i);
            }
        }
        buf_add_byte(out, is_object ? '}' : ']');
    } else {
        buf_add_str(out, json_raw(json, token));
    }
}
