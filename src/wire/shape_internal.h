/* How the API's model is written down as data. The tables are in shapes_*.c, in the order that AWS reports violations in
   (wording of the classic aggregate), which is not the order of its documentation. */
#ifndef STATOR_WIRE_SHAPE_INTERNAL_H
#define STATOR_WIRE_SHAPE_INTERNAL_H

#include "wire/wire.h"

enum shape_kind {
    SHAPE_STRING,
    SHAPE_BLOB,
    SHAPE_BOOLEAN,
    SHAPE_INTEGER,
    SHAPE_LONG,
    SHAPE_DOUBLE,
    SHAPE_TIMESTAMP,
    SHAPE_LIST,
    SHAPE_MAP,
    SHAPE_STRUCT,
    SHAPE_VALUE /* AttributeValue */
};

/* What a string's characters may be. PATTERN_TABLE is PATTERN_NAME, but a text that begins with "arn:" passes: it is looked at later. */
enum shape_pattern { PATTERN_NONE, PATTERN_NAME, PATTERN_TABLE };

/* Whose habits the wording of constraint errors follows. */
enum shape_manner {
    MANNER_CONTROL,     /* table operations: a missing or bad TableName is reported alone */
    MANNER_WRITE,       /* PutItem, DeleteItem */
    MANNER_UPDATE,      /* UpdateItem */
    MANNER_READ,        /* GetItem */
    MANNER_QUERY,
    MANNER_SCAN,
    MANNER_BATCH_GET,
    MANNER_BATCH_WRITE,
    MANNER_OLDER        /* transactions, PartiQL: the classic form to this day */
};

struct wire_member {
    const char *name;
    uint8_t name_length;
    bool is_required;
    const struct wire_shape *shape;
};

struct wire_shape {
    enum shape_kind kind;
    const char *name;                  /* structures: the API's name */
    const struct wire_member *members; /* structures */
    const struct wire_shape *element;  /* of a list; the value of a map */
    const char *set;                   /* enumerations: the values as AWS prints them, "A, B" */
    const char *set_current;           /* the same in the current wording where that differs, else NULL */
    const char *echo_tail;             /* members that AWS's own echo shows behind ours, or NULL */
    int64_t least, most;               /* of the length in UTF-16 units or elements, or of the number; most 0: no limits at all */
    enum shape_pattern pattern;
    enum shape_pattern key_pattern;    /* maps whose keys are table names: PATTERN_TABLE */
    enum shape_manner manner;          /* of an operation's input */
    uint8_t member_count;
    bool limits_are_of_values;         /* a list in a map, whose length AWS reports as "Map value must satisfy constraint" */
};

#define NO_LIMIT INT64_MAX
enum { TABLE_NAME_LEAST = 3 }; /* characters; what the service demands beyond the model's 1 */

#define OPTIONAL(text, what) {.name = (text), .name_length = sizeof(text) - 1, .is_required = false, .shape = &(what)}
#define REQUIRED(text, what) {.name = (text), .name_length = sizeof(text) - 1, .is_required = true, .shape = &(what)}
#define MEMBERS(array) .members = (array), .member_count = sizeof(array) / sizeof((array)[0])
#define STRUCTURE(shape, text, array) struct wire_shape shape = {.kind = SHAPE_STRUCT, .name = (text), MEMBERS(array)}
#define INPUT(shape, habit, array) \
    struct wire_shape shape = {.kind = SHAPE_STRUCT, .name = "input", .manner = (habit), MEMBERS(array)}
#define LIST_OF(shape, what, least_count, most_count) \
    struct wire_shape shape = {.kind = SHAPE_LIST, .element = &(what), .least = (least_count), .most = (most_count)}
#define MAP_OF(shape, what) struct wire_shape shape = {.kind = SHAPE_MAP, .element = &(what)}
#define ENUMERATION(shape, values) struct wire_shape shape = {.kind = SHAPE_STRING, .set = (values)}

/* Shapes that several operations share (shapes_common.c). */
extern const struct wire_shape shape_string, shape_blob, shape_boolean, shape_integer, shape_long, shape_double, shape_value;
extern const struct wire_shape shape_table_name, shape_new_table_name, shape_index_name, shape_key_attribute_name, shape_resource_arn;
extern const struct wire_shape shape_positive_integer, shape_positive_long, shape_client_token;
extern const struct wire_shape shape_return_consumed_capacity, shape_return_item_collection_metrics;
extern const struct wire_shape shape_string_map, shape_value_map, shape_value_list, shape_attribute_names;

/* The inputs, by operation. */
extern const struct wire_shape shape_get_item_input, shape_put_item_input, shape_update_item_input, shape_delete_item_input;
extern const struct wire_shape shape_batch_get_item_input, shape_batch_write_item_input, shape_query_input, shape_scan_input;
extern const struct wire_shape shape_transact_get_items_input, shape_transact_write_items_input;
extern const struct wire_shape shape_execute_statement_input, shape_batch_execute_statement_input, shape_execute_transaction_input;
extern const struct wire_shape shape_create_table_input, shape_update_table_input, shape_table_name_input, shape_list_tables_input;
extern const struct wire_shape shape_tag_resource_input, shape_untag_resource_input, shape_list_tags_input, shape_empty_input;
extern const struct wire_shape shape_update_time_to_live_input;

/* Renders the violations of a request that has some (violation.c). */
enum fault violation_report(struct call *call, const struct wire_shape *input, const struct json *request) MUST_USE;

/* Whether one string, number, list or map keeps its shape's limits; what is inside is not looked at. */
bool shape_string_is_good(const struct wire_shape *shape, str text);
/* A table name that the model allows and the service does not; `length` in UTF-16 units. */
bool shape_name_is_short(const struct wire_shape *shape, int64_t length);
bool shape_pattern_is_good(enum shape_pattern pattern, str text);
bool shape_set_has(const char *set, str text);

/* Length as Java counts it: UTF-16 units. */
int64_t shape_text_length(str text);

/* The member of that name, or NULL. */
const struct wire_member *shape_member(const struct wire_shape *shape, str name);

#endif
