/* The checks of a whole request against its shape. One pass finds a wrong JSON type, which answers at once, and notes whether any
   constraint is violated; only then violation.c looks again and puts the texts together. So a good request costs one walk over
   its tokens. Texts of type errors: reference wire.md section 4. */
#include "wire/shape_internal.h"

#define PACKAGE "com.amazonaws.dynamodb.v20120810."
#define CAST_TEXT                                                                                                        \
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class "         \
    "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader " \
    "'bootstrap')"

struct checker {
    struct call *call;
    const struct json *json;
    bool is_violated;
};

static enum fault check_value(struct checker *checker, uint32_t token, bool is_element) MUST_USE;
static enum fault check_shape(struct checker *checker, uint32_t token, const struct wire_shape *shape, bool is_element) MUST_USE;

static enum fault bad_type(struct checker *checker, const char *text)
{
    return fail(checker->call, FAULT_SERIALIZATION, "%s", text);
}

/* The scalar that stands where another one is wanted, as AWS's parser names it. */
static const char *token_kind(const struct json_token *token)
{
    switch ((enum json_type)token->type) {
    case JSON_TRUE:
        return "TRUE_VALUE";
    case JSON_FALSE:
        return "FALSE_VALUE";
    case JSON_NUMBER:
        return token->has_fraction ? "DECIMAL_VALUE" : "NUMBER_VALUE";
    default:
        return "STRING_VALUE";
    }
}

/* A token that is no scalar, or one of another kind, where the Java class `wanted` is expected. */
static enum fault bad_scalar(struct checker *checker, uint32_t token, const char *wanted)
{
    const struct json_token *at = &checker->json->tokens[token];
    if (at->type == JSON_OBJECT)
        return bad_type(checker, "Start of structure or map found where not expected");
    if (at->type == JSON_ARRAY)
        return fail(checker->call, FAULT_SERIALIZATION, "Unrecognized collection type class java.lang.%s", wanted);
    return fail(checker->call, FAULT_SERIALIZATION, "%s cannot be converted to %s", token_kind(at), wanted);
}

static enum fault check_string(struct checker *checker, uint32_t token)
{
    return checker->json->tokens[token].type == JSON_STRING ? FAULT_NONE : bad_scalar(checker, token, "String");
}

/* Besides true and false, AWS takes these texts in any case. */
static bool text_is_boolean(str text)
{
    return str_equal_folded(text, STR("true")) || str_equal_folded(text, STR("false")) || str_equal_folded(text, STR("yes")) ||
        str_equal_folded(text, STR("no")) || str_equal(text, STR("1")) || str_equal(text, STR("0"));
}

static enum fault check_boolean(struct checker *checker, uint32_t token)
{
    enum json_type type = json_type(checker->json, token);
    if (type == JSON_TRUE || type == JSON_FALSE)
        return FAULT_NONE;
    if (type != JSON_STRING)
        return bad_scalar(checker, token, "Boolean");
    return text_is_boolean(json_string(checker->json, token)) ? FAULT_NONE : bad_type(checker, "Unexpected token received from parser");
}

/* The six bits of a base64 character, or 64. */
static unsigned base64_bits(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (unsigned)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (unsigned)(c - 'a') + 26;
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0') + 52;
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

static enum fault check_blob(struct checker *checker, uint32_t token)
{
    const struct json_token *at = &checker->json->tokens[token];
    if (at->type == JSON_ARRAY)
        return bad_type(checker, "Unrecognized collection type class java.nio.ByteBuffer");
    if (at->type == JSON_OBJECT)
        return bad_type(checker, "Start of structure or map found where not expected");
    if (at->type != JSON_STRING)
        return bad_type(checker, "only base-64-encoded strings are convertible to bytes");
    str text = json_string(checker->json, token);
    int64_t length = text.len % 4 == 0 ? (int64_t)text.len : shape_text_length(text);
    if (length % 4 != 0)
        return fail(checker->call, FAULT_SERIALIZATION, "Base64 encoded length is expected a multiple of 4 bytes but found: %lld", (long long)length);
    size_t digits = text.len;
    while (digits > 0 && text.len - digits < 2 && text.data[digits - 1] == '=')
        digits--;
    unsigned wrong = 0, last = 0;
    for (size_t i = 0; i < digits; i++) {
        last = base64_bits(text.data[i]);
        wrong |= last;
    }
    size_t padding = text.len - digits;
    unsigned unused_bits = padding == 1 ? 3 : padding == 2 ? 15 : 0;
    if ((wrong & 64) || (last & unused_bits) || (padding > 0 && digits == 0))
        return bad_type(checker, "Invalid last non-pad Base64 character dectected");
    return FAULT_NONE;
}

static enum fault check_number(struct checker *checker, uint32_t token, const struct wire_shape *shape)
{
    static const char *const classes[] = {[SHAPE_INTEGER] = "Integer", [SHAPE_LONG] = "Long", [SHAPE_DOUBLE] = "Double", [SHAPE_TIMESTAMP] = "Double"};
    if (json_type(checker->json, token) != JSON_NUMBER)
        return bad_scalar(checker, token, classes[shape->kind]);
    if (shape->most != 0) {
        int64_t number = wire_whole(checker->json, token, 0);
        checker->is_violated |= number < shape->least || number > shape->most;
    }
    return FAULT_NONE;
}

/* Whether the token is an array, as a list wants it; says what is wrong otherwise. */
static enum fault check_array(struct checker *checker, uint32_t token, bool is_element)
{
    enum json_type type = json_type(checker->json, token);
    if (type == JSON_ARRAY)
        return FAULT_NONE;
    if (type == JSON_OBJECT)
        return bad_type(checker, "Start of structure or map found where not expected");
    return bad_type(checker, is_element ? CAST_TEXT : "Unexpected field type");
}

/* Whether the token is an object, as a structure or map wants it. `array_class`: what an array is told. */
static enum fault check_object(struct checker *checker, uint32_t token, const char *scalar_text, const char *array_prefix, const char *array_class)
{
    enum json_type type = json_type(checker->json, token);
    if (type == JSON_OBJECT)
        return FAULT_NONE;
    if (type == JSON_ARRAY)
        return fail(checker->call, FAULT_SERIALIZATION, "Unrecognized collection type %s%s%s", array_prefix, array_class,
            array_prefix[0] == 'j' ? ">" : "");
    return bad_type(checker, scalar_text);
}

static enum fault check_value_map(struct checker *checker, uint32_t token, bool is_element)
{
    const struct json *json = checker->json;
    TRY(check_object(checker, token, is_element ? CAST_TEXT : "Unexpected field type", "java.util.Map<java.lang.String, " PACKAGE, "AttributeValue"));
    uint32_t end = json_end(json, token);
    for (uint32_t i = json_first(json, token); i < end; i = json_next(json, i + 1))
        TRY(check_value(checker, i + 1, true));
    return FAULT_NONE;
}

static enum fault check_set(struct checker *checker, uint32_t token, char letter)
{
    const struct json *json = checker->json;
    TRY(check_array(checker, token, false));
    uint32_t end = json_end(json, token);
    for (uint32_t i = json_first(json, token); i < end; i = json_next(json, i)) {
        if (json->tokens[i].type == JSON_NULL)
            return fail(checker->call, FAULT_VALIDATION, "One or more parameter values were invalid: An %s set may not have a null %s as a member",
                letter == 'S' ? "string" : letter == 'N' ? "number" : "binary", letter == 'S' ? "string" : letter == 'N' ? "number" : "binary");
        TRY(letter == 'B' ? check_blob(checker, i) : check_string(checker, i));
    }
    return FAULT_NONE;
}

static enum fault check_value_member(struct checker *checker, str type, uint32_t token)
{
    const struct json *json = checker->json;
    if (json->tokens[token].type == JSON_NULL)
        return FAULT_NONE;
    if (type.len == 1) {
        switch (type.data[0]) {
        case 'S':
        case 'N':
            return check_string(checker, token);
        case 'B':
            return check_blob(checker, token);
        case 'M':
            return check_value_map(checker, token, false);
        case 'L': {
            TRY(check_array(checker, token, false));
            uint32_t end = json_end(json, token);
            for (uint32_t i = json_first(json, token); i < end; i = json_next(json, i))
                TRY(check_value(checker, i, true));
            return FAULT_NONE;
        }
        default:
            return FAULT_NONE;
        }
    }
    if (type.len == 2 && type.data[1] == 'S' && (type.data[0] == 'S' || type.data[0] == 'N' || type.data[0] == 'B'))
        return check_set(checker, token, type.data[0]);
    if (str_equal(type, STR("BOOL")) || str_equal(type, STR("NULL")))
        return check_boolean(checker, token);
    return FAULT_NONE;
}

/* {"S": "..."}. null passes: for the model it is a value without a type. */
static enum fault check_value(struct checker *checker, uint32_t token, bool is_element)
{
    const struct json *json = checker->json;
    if (json->tokens[token].type == JSON_NULL)
        return FAULT_NONE;
    TRY(check_object(checker, token, is_element ? "Unexpected value type in payload" : "Unexpected field type", "class " PACKAGE, "AttributeValue"));
    uint32_t end = json_end(json, token);
    for (uint32_t i = json_first(json, token); i < end; i = json_next(json, i + 1))
        TRY(check_value_member(checker, json_string(json, i), i + 1));
    return FAULT_NONE;
}

static enum fault check_structure(struct checker *checker, uint32_t token, const struct wire_shape *shape, bool is_element)
{
    const struct json *json = checker->json;
    TRY(check_object(checker, token, is_element ? "Unexpected value type in payload" : "Unexpected field type", "class " PACKAGE, shape->name));
    uint32_t end = json_end(json, token);
    uint64_t found = 0;
    for (uint32_t i = json_first(json, token); i < end; i = json_next(json, i + 1)) {
        const struct wire_member *member = shape_member(shape, json_string(json, i));
        if (!member)
            continue;
        uint64_t bit = 1ull << (member - shape->members);
        if (json->tokens[i + 1].type == JSON_NULL) {
            found &= ~bit;
            continue;
        }
        found |= bit;
        TRY(check_shape(checker, i + 1, member->shape, false));
    }
    for (size_t i = 0; i < shape->member_count; i++)
        if (shape->members[i].is_required && !(found & 1ull << i))
            checker->is_violated = true;
    return FAULT_NONE;
}

static enum fault check_map(struct checker *checker, uint32_t token, const struct wire_shape *shape, bool is_element)
{
    const struct json *json = checker->json;
    const struct wire_shape *element = shape->element;
    if (element->kind == SHAPE_VALUE)
        return check_value_map(checker, token, is_element);
    const char *prefix = "java.util.Map<java.lang.String, " PACKAGE;
    const char *class = element->name;
    if (element->kind == SHAPE_STRING) {
        prefix = "java.util.Map<java.lang.String, ";
        class = "java.lang.String";
    } else if (element->kind == SHAPE_LIST) {
        prefix = "java.util.Map<java.lang.String, ";
        class = "java.util.List<" PACKAGE "WriteRequest>";
    }
    TRY(check_object(checker, token, is_element ? CAST_TEXT : "Unexpected field type", prefix, class));
    uint32_t end = json_end(json, token);
    int64_t count = json->tokens[token].count;
    if (shape->most != 0)
        checker->is_violated |= count < shape->least || count > shape->most;
    for (uint32_t i = json_first(json, token); i < end; i = json_next(json, i + 1)) {
        if (shape->key_pattern != PATTERN_NONE) {
            str key = json_string(json, i);
            checker->is_violated |= !shape_pattern_is_good(shape->key_pattern, key) || key.len < 3 || (key.len > 255 && !str_begins(key, STR("arn:")));
        }
        if (json->tokens[i + 1].type == JSON_NULL)
            checker->is_violated = true;
        else
            TRY(check_shape(checker, i + 1, element, true));
    }
    return FAULT_NONE;
}

static enum fault check_list(struct checker *checker, uint32_t token, const struct wire_shape *shape, bool is_element)
{
    const struct json *json = checker->json;
    TRY(check_array(checker, token, is_element));
    int64_t count = json->tokens[token].count;
    if (shape->most != 0)
        checker->is_violated |= count < shape->least || count > shape->most;
    uint32_t end = json_end(json, token);
    for (uint32_t i = json_first(json, token); i < end; i = json_next(json, i)) {
        if (json->tokens[i].type == JSON_NULL && shape->element->kind != SHAPE_VALUE)
            checker->is_violated = true;
        else
            TRY(check_shape(checker, i, shape->element, true));
    }
    return FAULT_NONE;
}

static enum fault check_shape(struct checker *checker, uint32_t token, const struct wire_shape *shape, bool is_element)
{
    switch (shape->kind) {
    case SHAPE_STRING:
        TRY(check_string(checker, token));
        if (shape->most != 0 || shape->set)
            checker->is_violated |= !shape_string_is_good(shape, json_string(checker->json, token));
        return FAULT_NONE;
    case SHAPE_BLOB:
        return check_blob(checker, token);
    case SHAPE_BOOLEAN:
        return check_boolean(checker, token);
    case SHAPE_INTEGER:
    case SHAPE_LONG:
    case SHAPE_DOUBLE:
    case SHAPE_TIMESTAMP:
        return check_number(checker, token, shape);
    case SHAPE_LIST:
        return check_list(checker, token, shape, is_element);
    case SHAPE_MAP:
        return check_map(checker, token, shape, is_element);
    case SHAPE_STRUCT:
        return check_structure(checker, token, shape, is_element);
    case SHAPE_VALUE:
        return check_value(checker, token, is_element);
    }
    return FAULT_NONE;
}

enum fault wire_check(struct call *call, const struct wire_shape *input, const struct json *request)
{
    struct checker checker = {.call = call, .json = request};
    if (request->token_count == 0 || json_type(request, 0) != JSON_OBJECT)
        return fail(call, FAULT_SERIALIZATION, "%s", "");
    TRY(check_structure(&checker, 0, input, false));
    return checker.is_violated ? violation_report(call, input, request) : FAULT_NONE;
}
