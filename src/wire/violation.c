/* The texts of violated constraints. First all violations are listed in AWS's order; then the operation's manner and the call's wording
   say which of them are shown and how. AWS rewrote this for item writes and reads in mid-2026, unevenly: each odd rule here is a
   fact, from the public suites and their captures of October 2026. Source of the classic form: reference expressions.md section 5. */
#include "wire/echo_internal.h"

enum {
    SHOWN_MAX = 10,       /* AWS lists no more */
    CURRENT_DEPTH_MAX = 62 /* requests with deeper values are answered in the classic form */
};

enum violation_kind {
    VIOLATION_NULL,
    VIOLATION_SET,
    VIOLATION_PATTERN,
    VIOLATION_LEAST,      /* of a length */
    VIOLATION_SHORT_NAME, /* a table name of one or two characters: the model allows it, the service does not */
    VIOLATION_MOST,
    VIOLATION_VALUE_LEAST, /* of a number */
    VIOLATION_VALUE_MOST,
    VIOLATION_MAP_KEYS,
    VIOLATION_MAP_VALUES
};

struct violation {
    enum violation_kind kind;
    const struct wire_shape *shape;
    const char *top;   /* the input's member that it is in or at */
    bool is_top;       /* at that member itself */
    str path;          /* keySchema.1.member.keyType */
    str upper_path;    /* RequestItems.T.member.Keys */
    str value;         /* as shown; data NULL: null */
};

struct listing {
    struct call *call;
    const struct json *json;
    const struct wire_shape *input;
    const char *top;
    struct violation found[SHOWN_MAX];
    size_t count;
};

/* Where a value stands: both spellings of its path. */
struct place {
    str path, upper_path;
    bool is_top;
};

static void list_shape(struct listing *listing, const struct wire_shape *shape, uint32_t token, const struct place *place);

static struct place place_inside(struct listing *listing, const struct place *outer, str part, bool is_member_name)
{
    struct arena *arena = &listing->call->arena;
    struct buf lower, upper;
    buf_open(&lower, arena, outer->path.len + part.len + 2);
    buf_open(&upper, arena, outer->path.len + part.len + 2);
    if (outer->path.len) {
        buf_add_str(&lower, outer->path);
        buf_add_byte(&lower, '.');
        buf_add_str(&upper, outer->upper_path);
        buf_add_byte(&upper, '.');
    }
    if (is_member_name)
        echo_member_name(&lower, part);
    else
        buf_add_str(&lower, part);
    buf_add_str(&upper, part);
    return (struct place){.path = buf_str(&lower), .upper_path = buf_str(&upper)};
}

static void add(struct listing *listing, enum violation_kind kind, const struct wire_shape *shape, uint32_t token, const struct place *place)
{
    if (listing->count == SHOWN_MAX)
        return;
    struct buf value;
    buf_open(&value, &listing->call->arena, 64);
    bool is_null = token == JSON_ABSENT || json_type(listing->json, token) == JSON_NULL;
    if (!is_null && listing->input->manner == MANNER_BATCH_GET && kind == VIOLATION_MAP_KEYS)
        echo_json(&value, listing->json, token);
    else if (!is_null)
        echo_java(&value, listing->json, token, shape);
    listing->found[listing->count++] = (struct violation){
        .kind = kind,
        .shape = shape,
        .top = listing->top,
        .is_top = place->is_top,
        .path = place->path,
        .upper_path = place->upper_path,
        .value = is_null ? STR_NONE : str_of(value.data ? value.data : "", value.len),
    };
}

static void list_string(struct listing *listing, const struct wire_shape *shape, uint32_t token, const struct place *place)
{
    str text = json_string(listing->json, token);
    if (shape->set && !shape_set_has(shape->set, text))
        add(listing, VIOLATION_SET, shape, token, place);
    if (text.len && !shape_pattern_is_good(shape->pattern, text))
        add(listing, VIOLATION_PATTERN, shape, token, place);
    if (shape->most == 0)
        return;
    int64_t length = shape_text_length(text);
    int64_t most = shape->pattern == PATTERN_TABLE && str_begins(text, STR("arn:")) ? 1024 : shape->most;
    if (length < shape->least)
        add(listing, VIOLATION_LEAST, shape, token, place);
    else if (shape_name_is_short(shape, length) && shape_pattern_is_good(shape->pattern, text))
        add(listing, VIOLATION_SHORT_NAME, shape, token, place);
    if (length > most)
        add(listing, VIOLATION_MOST, shape, token, place);
}

static void list_length(struct listing *listing, const struct wire_shape *shape, uint32_t token, const struct place *place)
{
    int64_t count = listing->json->tokens[token].count;
    if (shape->most == 0 || shape->limits_are_of_values)
        return;
    if (count < shape->least)
        add(listing, VIOLATION_LEAST, shape, token, place);
    if (count > shape->most)
        add(listing, VIOLATION_MOST, shape, token, place);
}

static void list_structure(struct listing *listing, const struct wire_shape *shape, uint32_t token, const struct place *place)
{
    bool is_input = shape == listing->input;
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct wire_member *member = &shape->members[i];
        str name = str_of(member->name, member->name_length);
        uint32_t found = json_member(listing->json, token, name);
        if (found == JSON_ABSENT && !member->is_required)
            continue;
        struct place inner = place_inside(listing, place, name, true);
        inner.is_top = is_input;
        if (is_input)
            listing->top = member->name;
        if (found == JSON_ABSENT)
            add(listing, VIOLATION_NULL, member->shape, JSON_ABSENT, &inner);
        else
            list_shape(listing, member->shape, found, &inner);
    }
}

static bool map_key_is_good(const struct wire_shape *shape, str key)
{
    if (shape->key_pattern == PATTERN_NONE || str_begins(key, STR("arn:")))
        return true;
    return key.len >= 3 && key.len <= 255 && shape_pattern_is_good(shape->key_pattern, key);
}

/* A map's violations are told once for all its keys, and once for all its values, and show the whole map. */
static void list_map(struct listing *listing, const struct wire_shape *shape, uint32_t token, const struct place *place)
{
    const struct json *json = listing->json;
    list_length(listing, shape, token, place);
    bool keys_are_good = true, values_are_good = true;
    uint32_t end = json_end(json, token);
    for (uint32_t i = json_first(json, token); i < end; i = json_next(json, i + 1)) {
        keys_are_good &= map_key_is_good(shape, json_string(json, i));
        if (shape->element->limits_are_of_values && json_type(json, i + 1) == JSON_ARRAY) {
            int64_t count = json->tokens[i + 1].count;
            values_are_good &= count >= shape->element->least && count <= shape->element->most;
        }
    }
    if (!keys_are_good)
        add(listing, VIOLATION_MAP_KEYS, shape, token, place);
    if (!values_are_good)
        add(listing, VIOLATION_MAP_VALUES, shape, token, place);
    for (uint32_t i = json_first(json, token); i < end && listing->count < SHOWN_MAX; i = json_next(json, i + 1)) {
        struct place key = place_inside(listing, place, json_string(json, i), false);
        struct place inner = place_inside(listing, &key, STR("member"), false);
        if (json_type(json, i + 1) == JSON_NULL && shape->element->kind != SHAPE_VALUE)
            add(listing, VIOLATION_NULL, shape->element, JSON_ABSENT, &inner);
        else
            list_shape(listing, shape->element, i + 1, &inner);
    }
}

static void list_elements(struct listing *listing, const struct wire_shape *shape, uint32_t token, const struct place *place)
{
    const struct json *json = listing->json;
    list_length(listing, shape, token, place);
    uint32_t end = json_end(json, token);
    size_t number = 0;
    for (uint32_t i = json_first(json, token); i < end && listing->count < SHOWN_MAX; i = json_next(json, i)) {
        str part = arena_printf(&listing->call->arena, "%zu.member", ++number);
        struct place inner = place_inside(listing, place, part, false);
        if (json_type(json, i) == JSON_NULL && shape->element->kind != SHAPE_VALUE)
            add(listing, VIOLATION_NULL, shape->element, JSON_ABSENT, &inner);
        else
            list_shape(listing, shape->element, i, &inner);
    }
}

static void list_shape(struct listing *listing, const struct wire_shape *shape, uint32_t token, const struct place *place)
{
    switch (shape->kind) {
    case SHAPE_STRING:
        list_string(listing, shape, token, place);
        break;
    case SHAPE_INTEGER:
    case SHAPE_LONG:
        if (shape->most != 0 && wire_whole(listing->json, token, 0) < shape->least)
            add(listing, VIOLATION_VALUE_LEAST, shape, token, place);
        if (shape->most != 0 && wire_whole(listing->json, token, 0) > shape->most)
            add(listing, VIOLATION_VALUE_MOST, shape, token, place);
        break;
    case SHAPE_LIST:
        list_elements(listing, shape, token, place);
        break;
    case SHAPE_MAP:
        if (shape->element->kind != SHAPE_VALUE)
            list_map(listing, shape, token, place);
        break;
    case SHAPE_STRUCT:
        list_structure(listing, shape, token, place);
        break;
    default:
        break;
    }
}

/* --- Texts --- */

static void write_constraint(struct buf *out, const struct violation *violation)
{
    const struct wire_shape *shape = violation->shape;
    switch (violation->kind) {
    case VIOLATION_NULL:
        BUF_ADD_LITERAL(out, "Member must not be null");
        break;
    case VIOLATION_SET:
        buf_printf(out, "Member must satisfy enum value set: [%s]", shape->set);
        break;
    case VIOLATION_PATTERN:
        BUF_ADD_LITERAL(out, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+");
        break;
    case VIOLATION_LEAST:
        buf_printf(out, "Member must have length greater than or equal to %lld", (long long)shape->least);
        break;
    case VIOLATION_SHORT_NAME:
        buf_printf(out, "Member must have length greater than or equal to %d", TABLE_NAME_LEAST);
        break;
    case VIOLATION_MOST:
        buf_printf(out, "Member must have length less than or equal to %lld", (long long)shape->most);
        break;
    case VIOLATION_VALUE_LEAST:
        buf_printf(out, "Member must have value greater than or equal to %lld", (long long)shape->least);
        break;
    case VIOLATION_VALUE_MOST:
        buf_printf(out, "Member must have value less than or equal to %lld", (long long)shape->most);
        break;
    case VIOLATION_MAP_KEYS:
        BUF_ADD_LITERAL(out, "Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater "
                             "than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]");
        break;
    case VIOLATION_MAP_VALUES:
        buf_printf(out, "Map value must satisfy constraint: [Member must have length less than or equal to %lld, Member must have length greater "
                        "than or equal to %lld]",
            (long long)shape->element->most, (long long)shape->element->least);
        break;
    }
}

/* Value 'x' at 'tableName' failed to satisfy constraint: Member must ... */
static void write_classic(struct buf *out, const struct violation *violation)
{
    if (violation->value.data)
        buf_printf(out, "Value '%.*s' at '", STR_ARG(violation->value));
    else
        BUF_ADD_LITERAL(out, "Value null at '");
    buf_add_str(out, violation->path);
    BUF_ADD_LITERAL(out, "' failed to satisfy constraint: ");
    write_constraint(out, violation);
}

/* Value at 'TableName' failed to satisfy constraint: Member must ... */
static void write_current(struct buf *out, const struct violation *violation)
{
    if (violation->kind == VIOLATION_SET) {
        buf_printf(out, "Failed to satisfy constraint: Member must satisfy enum value set: [%s]", violation->shape->set_current);
        return;
    }
    buf_printf(out, "Value at '%.*s' failed to satisfy constraint: ", STR_ARG(violation->upper_path));
    write_constraint(out, violation);
}

static void write_prefix(struct buf *out, size_t count)
{
    buf_printf(out, "%zu validation error%s detected: ", count, count == 1 ? "" : "s");
}

static enum fault report_text(struct call *call, const struct buf *text)
{
    return fail(call, FAULT_VALIDATION, "%.*s", STR_ARG(buf_str(text)));
}

/* All of them, in the classic form or, where `is_current` says so, the current one. */
static enum fault report_all(struct listing *listing, bool (*is_current)(const struct violation *))
{
    struct buf text;
    buf_open(&text, &listing->call->arena, 256);
    write_prefix(&text, listing->count);
    for (size_t i = 0; i < listing->count; i++) {
        if (i)
            BUF_ADD_LITERAL(&text, "; ");
        if (is_current(&listing->found[i]))
            write_current(&text, &listing->found[i]);
        else
            write_classic(&text, &listing->found[i]);
    }
    return report_text(listing->call, &text);
}

static enum fault report_one(struct listing *listing, const struct violation *violation, bool is_current)
{
    struct buf text;
    buf_open(&text, &listing->call->arena, 256);
    write_prefix(&text, 1);
    if (is_current)
        write_current(&text, violation);
    else
        write_classic(&text, violation);
    return report_text(listing->call, &text);
}

static bool never(const struct violation *violation)
{
    (void)violation;
    return false;
}

static bool set_was_reworded(const struct violation *violation)
{
    return violation->kind == VIOLATION_SET && violation->is_top && violation->shape->set_current;
}

static bool is_at(const struct violation *violation, const char *member)
{
    return violation->is_top && strcmp(violation->top, member) == 0;
}

static const struct violation *find(const struct listing *listing, const char *member, enum violation_kind kind)
{
    for (size_t i = 0; i < listing->count; i++)
        if (is_at(&listing->found[i], member) && listing->found[i].kind == kind)
            return &listing->found[i];
    return NULL;
}

/* The deepest level of lists and maps in the request's values: each costs two levels of JSON. */
static unsigned json_depth(const struct json *json, uint32_t token)
{
    enum json_type type = json_type(json, token);
    if (type != JSON_ARRAY && type != JSON_OBJECT)
        return 0;
    unsigned deepest = 0;
    for (uint32_t i = json_first(json, token); i < json_end(json, token); i = json_next(json, i)) {
        unsigned depth = json_depth(json, i);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

bool wire_is_read_as_older(const struct json *request)
{
    return json_depth(request, 0) / 2 > CURRENT_DEPTH_MAX;
}

/* Item writes go back to the classic form for these. */
static bool falls_back(const struct listing *listing)
{
    for (size_t i = 0; i < listing->count; i++) {
        const struct violation *violation = &listing->found[i];
        if (violation->is_top && violation->kind == VIOLATION_NULL)
            return true;
        if (is_at(violation, "TableName") && violation->kind != VIOLATION_LEAST)
            return true;
    }
    return wire_is_read_as_older(listing->json);
}

static enum fault report_write(struct listing *listing)
{
    if (falls_back(listing))
        return report_all(listing, never);
    const struct violation *empty_name = find(listing, "TableName", VIOLATION_LEAST);
    if (empty_name)
        return report_one(listing, empty_name, true);
    /* UpdateItem stops at the first of the reworded sets. */
    for (size_t i = 0; listing->input->manner == MANNER_UPDATE && i < listing->count; i++)
        if (set_was_reworded(&listing->found[i]))
            return report_one(listing, &listing->found[i], true);
    return report_all(listing, set_was_reworded);
}

static bool is_query_limit(const struct violation *violation)
{
    return is_at(violation, "Limit") && violation->kind == VIOLATION_VALUE_LEAST;
}

static bool is_scan_number(const struct violation *violation)
{
    return is_query_limit(violation) || (is_at(violation, "Segment") && violation->kind == VIOLATION_VALUE_LEAST);
}

static enum fault report_read(struct listing *listing)
{
    bool is_current = listing->call->wording != WORDING_CLASSIC;
    enum shape_manner manner = listing->input->manner;
    const struct violation *empty_name = find(listing, "TableName", VIOLATION_LEAST);
    if (is_current && manner != MANNER_SCAN && empty_name && listing->count == 1)
        return report_one(listing, empty_name, true);
    const struct violation *operator_set = find(listing, "ConditionalOperator", VIOLATION_SET);
    if (is_current && manner == MANNER_QUERY && operator_set) {
        struct buf text;
        buf_open(&text, &listing->call->arena, 128);
        write_current(&text, operator_set);
        return report_text(listing->call, &text);
    }
    /* Query's Limit was reworded a month before the rest, so that classic servers have it too. */
    if (manner == MANNER_QUERY)
        return report_all(listing, is_query_limit);
    return report_all(listing, manner == MANNER_SCAN && is_current ? is_scan_number : never);
}

static bool is_keys_length(const struct violation *violation)
{
    size_t length = strlen(".member.Keys");
    str path = violation->upper_path;
    return (violation->kind == VIOLATION_LEAST || violation->kind == VIOLATION_MOST) && path.len > length &&
        str_equal(str_from(path, path.len - length), STR(".member.Keys"));
}

static bool is_keys_length_most(const struct violation *violation)
{
    return violation->kind == VIOLATION_MOST && is_keys_length(violation);
}

static enum fault report_batch(struct listing *listing)
{
    bool is_current = listing->call->wording != WORDING_CLASSIC;
    bool is_get = listing->input->manner == MANNER_BATCH_GET;
    const struct violation *empty = find(listing, "RequestItems", VIOLATION_LEAST);
    if (empty && !is_current)
        return fail(listing->call, FAULT_VALIDATION, "The requestItems parameter is required for %s", is_get ? "BatchGetItem" : "BatchWriteItem");
    if (empty && listing->count == 1)
        return report_one(listing, empty, true);
    if (is_get)
        return report_all(listing, is_current ? is_keys_length : is_keys_length_most);
    /* BatchWriteItem tells of its enumerations first, alone. */
    size_t sets = 0;
    for (size_t i = 0; i < listing->count; i++)
        if (listing->found[i].kind == VIOLATION_SET)
            listing->found[sets++] = listing->found[i];
    if (sets)
        listing->count = sets;
    return report_all(listing, never);
}

/* BatchWriteItem, current: a table's list over 25 is told in a short form. */
static enum fault report_long_list(struct listing *listing)
{
    const struct json *json = listing->json;
    uint32_t map = json_member(json, 0, STR("RequestItems"));
    for (uint32_t i = json_first(json, map); i < json_end(json, map); i = json_next(json, i + 1)) {
        if (json_type(json, i + 1) == JSON_ARRAY && json->tokens[i + 1].count > 25)
            return fail(listing->call, FAULT_VALIDATION,
                "1 validation error detected: Value at 'RequestItems.%.*s.member' failed to satisfy constraint: Member must have length less than or "
                "equal to 25",
                STR_ARG(json_string(json, i)));
    }
    return FAULT_NONE;
}

static enum fault report_control(struct listing *listing)
{
    if (find(listing, "TableName", VIOLATION_NULL))
        return fail(listing->call, FAULT_VALIDATION, "The parameter 'TableName' is required but was not present in the request");
    /* A bad table name is reported alone, but with all that is wrong with it. */
    size_t names = 0;
    for (size_t i = 0; i < listing->count; i++)
        if (is_at(&listing->found[i], "TableName"))
            listing->found[names++] = listing->found[i];
    if (names)
        listing->count = names;
    return report_all(listing, never);
}

enum fault violation_report(struct call *call, const struct wire_shape *input, const struct json *request)
{
    struct listing *listing = ARENA_NEW(&call->arena, struct listing);
    listing->call = call;
    listing->json = request;
    listing->input = input;
    struct place root = {.path = STR_NONE};
    list_shape(listing, input, 0, &root);
    /* A member that stands twice counts by its last value, which may be the good one. */
    if (listing->count == 0)
        return FAULT_NONE;
    switch (input->manner) {
    case MANNER_CONTROL:
        return report_control(listing);
    case MANNER_WRITE:
    case MANNER_UPDATE:
        return call->wording == WORDING_CLASSIC ? report_all(listing, never) : report_write(listing);
    case MANNER_READ:
    case MANNER_QUERY:
    case MANNER_SCAN:
        return report_read(listing);
    case MANNER_BATCH_WRITE:
        if (call->wording != WORDING_CLASSIC && listing->count == 1 && listing->found[0].kind == VIOLATION_MAP_VALUES)
            TRY(report_long_list(listing));
        return report_batch(listing);
    case MANNER_BATCH_GET:
        return report_batch(listing);
    case MANNER_OLDER:
        return report_all(listing, never);
    }
    return FAULT_NONE;
}
