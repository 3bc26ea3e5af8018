/* Shapes that the inputs of several operations share. Source: reference api.md sections 3 to 5; the printed sets of
   enumerations: expressions.md section 5. */
#include "wire/shape_internal.h"

const struct wire_shape shape_string = {.kind = SHAPE_STRING};
const struct wire_shape shape_blob = {.kind = SHAPE_BLOB};
const struct wire_shape shape_boolean = {.kind = SHAPE_BOOLEAN};
const struct wire_shape shape_integer = {.kind = SHAPE_INTEGER};
const struct wire_shape shape_long = {.kind = SHAPE_LONG};
const struct wire_shape shape_double = {.kind = SHAPE_DOUBLE};
const struct wire_shape shape_value = {.kind = SHAPE_VALUE, .name = "AttributeValue"};

/* The model allows 1024 characters, for ARNs; the service says 255 of a name. */
const struct wire_shape shape_table_name = {.kind = SHAPE_STRING, .least = 1, .most = 255, .pattern = PATTERN_TABLE};
const struct wire_shape shape_new_table_name = {.kind = SHAPE_STRING, .least = 3, .most = 255, .pattern = PATTERN_TABLE};
const struct wire_shape shape_index_name = {.kind = SHAPE_STRING, .least = 3, .most = 255, .pattern = PATTERN_NAME};
const struct wire_shape shape_key_attribute_name = {.kind = SHAPE_STRING, .least = 1, .most = 255};
const struct wire_shape shape_resource_arn = {.kind = SHAPE_STRING, .least = 0, .most = 1283};
const struct wire_shape shape_positive_integer = {.kind = SHAPE_INTEGER, .least = 1, .most = NO_LIMIT};
const struct wire_shape shape_positive_long = {.kind = SHAPE_LONG, .least = 1, .most = NO_LIMIT};
const struct wire_shape shape_client_token = {.kind = SHAPE_STRING, .least = 1, .most = 36};

const ENUMERATION(shape_return_consumed_capacity, "INDEXES, TOTAL, NONE");
const ENUMERATION(shape_return_item_collection_metrics, "SIZE, NONE");

const MAP_OF(shape_string_map, shape_string);
const MAP_OF(shape_value_map, shape_value);
const LIST_OF(shape_value_list, shape_value, 0, 0);
const LIST_OF(shape_attribute_names, shape_string, 1, NO_LIMIT);
