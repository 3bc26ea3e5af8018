/* Inputs of the item operations: single items, batches, queries, transactions, PartiQL. Members stand in the order in which
   AWS lists their violations. Sources: reference api.md section 2; the orders are facts from dynalite and captures of 2026. */
#include "wire/shape_internal.h"

/* AWS's own slips are kept: the current sets name UPDATE_NEW, and ALL in place of AND. */
static const struct wire_shape return_values = {
    .kind = SHAPE_STRING,
    .set = "ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW",
    .set_current = "ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE",
};
static const struct wire_shape conditional_operator = {.kind = SHAPE_STRING, .set = "OR, AND", .set_current = "ALL, OR"};
static const ENUMERATION(return_on_failure, "ALL_OLD, NONE");
static const ENUMERATION(selection, "SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES");
static const ENUMERATION(comparison_operator,
    "IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS");
static const ENUMERATION(attribute_action, "ADD, PUT, DELETE");

static const struct wire_member expected_members[] = {
    OPTIONAL("AttributeValueList", shape_value_list),
    OPTIONAL("ComparisonOperator", comparison_operator),
    OPTIONAL("Exists", shape_boolean),
    OPTIONAL("Value", shape_value),
};
static const STRUCTURE(expected, "ExpectedAttributeValue", expected_members);
static const MAP_OF(expected_map, expected);

static const struct wire_member condition_members[] = {
    OPTIONAL("AttributeValueList", shape_value_list),
    REQUIRED("ComparisonOperator", comparison_operator),
};
static const STRUCTURE(condition, "Condition", condition_members);
static const MAP_OF(condition_map, condition);

static const struct wire_member value_update_members[] = {
    OPTIONAL("Value", shape_value),
    OPTIONAL("Action", attribute_action),
};
static const STRUCTURE(value_update, "AttributeValueUpdate", value_update_members);
static const MAP_OF(value_update_map, value_update);

static const struct wire_member get_item_members[] = {
    OPTIONAL("AttributesToGet", shape_attribute_names),
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
    REQUIRED("Key", shape_value_map),
    REQUIRED("TableName", shape_table_name),
    OPTIONAL("ConsistentRead", shape_boolean),
    OPTIONAL("ProjectionExpression", shape_string),
    OPTIONAL("ExpressionAttributeNames", shape_string_map),
};
const INPUT(shape_get_item_input, MANNER_READ, get_item_members);

static const struct wire_member put_item_members[] = {
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
    OPTIONAL("ReturnValues", return_values),
    REQUIRED("TableName", shape_table_name),
    REQUIRED("Item", shape_value_map),
    OPTIONAL("ReturnItemCollectionMetrics", shape_return_item_collection_metrics),
    OPTIONAL("ConditionalOperator", conditional_operator),
    OPTIONAL("Expected", expected_map),
    OPTIONAL("ReturnValuesOnConditionCheckFailure", return_on_failure),
    OPTIONAL("ConditionExpression", shape_string),
    OPTIONAL("ExpressionAttributeNames", shape_string_map),
    OPTIONAL("ExpressionAttributeValues", shape_value_map),
};
const INPUT(shape_put_item_input, MANNER_WRITE, put_item_members);

static const struct wire_member update_item_members[] = {
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
    REQUIRED("TableName", shape_table_name),
    OPTIONAL("ReturnItemCollectionMetrics", shape_return_item_collection_metrics),
    OPTIONAL("ReturnValues", return_values),
    OPTIONAL("ConditionalOperator", conditional_operator),
    REQUIRED("Key", shape_value_map),
    OPTIONAL("Expected", expected_map),
    OPTIONAL("AttributeUpdates", value_update_map),
    OPTIONAL("ReturnValuesOnConditionCheckFailure", return_on_failure),
    OPTIONAL("UpdateExpression", shape_string),
    OPTIONAL("ConditionExpression", shape_string),
    OPTIONAL("ExpressionAttributeNames", shape_string_map),
    OPTIONAL("ExpressionAttributeValues", shape_value_map),
};
const INPUT(shape_update_item_input, MANNER_UPDATE, update_item_members);

static const struct wire_member delete_item_members[] = {
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
    REQUIRED("TableName", shape_table_name),
    OPTIONAL("ReturnValues", return_values),
    OPTIONAL("ReturnItemCollectionMetrics", shape_return_item_collection_metrics),
    REQUIRED("Key", shape_value_map),
    OPTIONAL("ConditionalOperator", conditional_operator),
    OPTIONAL("Expected", expected_map),
    OPTIONAL("ReturnValuesOnConditionCheckFailure", return_on_failure),
    OPTIONAL("ConditionExpression", shape_string),
    OPTIONAL("ExpressionAttributeNames", shape_string_map),
    OPTIONAL("ExpressionAttributeValues", shape_value_map),
};
const INPUT(shape_delete_item_input, MANNER_WRITE, delete_item_members);

static const struct wire_shape keys = {.kind = SHAPE_LIST, .element = &shape_value_map, .least = 1, .most = 100};
static const struct wire_member keys_and_attributes_members[] = {
    REQUIRED("Keys", keys),
    OPTIONAL("AttributesToGet", shape_attribute_names),
    OPTIONAL("ConsistentRead", shape_boolean),
    OPTIONAL("ProjectionExpression", shape_string),
    OPTIONAL("ExpressionAttributeNames", shape_string_map),
};
static const STRUCTURE(keys_and_attributes, "KeysAndAttributes", keys_and_attributes_members);
static const struct wire_shape batch_get_map = {
    .kind = SHAPE_MAP, .element = &keys_and_attributes, .least = 1, .most = 100, .key_pattern = PATTERN_TABLE};
static const struct wire_member batch_get_item_members[] = {
    REQUIRED("RequestItems", batch_get_map),
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
};
const INPUT(shape_batch_get_item_input, MANNER_BATCH_GET, batch_get_item_members);

static const struct wire_member put_request_members[] = {REQUIRED("Item", shape_value_map)};
static const struct wire_shape put_request = {
    .kind = SHAPE_STRUCT, .name = "PutRequest", MEMBERS(put_request_members), .echo_tail = ", workloadProfileName=null"};
static const struct wire_member delete_request_members[] = {REQUIRED("Key", shape_value_map)};
static const struct wire_shape delete_request = {
    .kind = SHAPE_STRUCT, .name = "DeleteRequest", MEMBERS(delete_request_members), .echo_tail = ", workloadProfileName=null"};
static const struct wire_member write_request_members[] = {
    OPTIONAL("PutRequest", put_request),
    OPTIONAL("DeleteRequest", delete_request),
};
static const STRUCTURE(write_request, "WriteRequest", write_request_members);
static const struct wire_shape write_requests = {
    .kind = SHAPE_LIST, .element = &write_request, .least = 1, .most = 25, .limits_are_of_values = true};
static const struct wire_shape batch_write_map = {
    .kind = SHAPE_MAP, .element = &write_requests, .least = 1, .most = 25, .key_pattern = PATTERN_TABLE};
static const struct wire_member batch_write_item_members[] = {
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
    OPTIONAL("ReturnItemCollectionMetrics", shape_return_item_collection_metrics),
    REQUIRED("RequestItems", batch_write_map),
};
const INPUT(shape_batch_write_item_input, MANNER_BATCH_WRITE, batch_write_item_members);

static const struct wire_member query_members[] = {
    OPTIONAL("Select", selection),
    OPTIONAL("IndexName", shape_index_name),
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
    OPTIONAL("QueryFilter", condition_map),
    REQUIRED("TableName", shape_table_name),
    OPTIONAL("ConditionalOperator", conditional_operator),
    OPTIONAL("AttributesToGet", shape_attribute_names),
    OPTIONAL("Limit", shape_positive_integer),
    OPTIONAL("KeyConditions", condition_map),
    OPTIONAL("ExclusiveStartKey", shape_value_map),
    OPTIONAL("ConsistentRead", shape_boolean),
    OPTIONAL("ScanIndexForward", shape_boolean),
    OPTIONAL("KeyConditionExpression", shape_string),
    OPTIONAL("FilterExpression", shape_string),
    OPTIONAL("ProjectionExpression", shape_string),
    OPTIONAL("ExpressionAttributeNames", shape_string_map),
    OPTIONAL("ExpressionAttributeValues", shape_value_map),
};
const INPUT(shape_query_input, MANNER_QUERY, query_members);

static const struct wire_shape total_segments = {.kind = SHAPE_INTEGER, .least = 1, .most = 1000000};
static const struct wire_shape segment = {.kind = SHAPE_INTEGER, .least = 0, .most = 999999};
static const struct wire_member scan_members[] = {
    OPTIONAL("Select", selection),
    OPTIONAL("IndexName", shape_index_name),
    OPTIONAL("TotalSegments", total_segments),
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
    REQUIRED("TableName", shape_table_name),
    OPTIONAL("ConditionalOperator", conditional_operator),
    OPTIONAL("ScanFilter", condition_map),
    OPTIONAL("Segment", segment),
    OPTIONAL("Limit", shape_positive_integer),
    OPTIONAL("AttributesToGet", shape_attribute_names),
    OPTIONAL("ExclusiveStartKey", shape_value_map),
    OPTIONAL("ConsistentRead", shape_boolean),
    OPTIONAL("FilterExpression", shape_string),
    OPTIONAL("ProjectionExpression", shape_string),
    OPTIONAL("ExpressionAttributeNames", shape_string_map),
    OPTIONAL("ExpressionAttributeValues", shape_value_map),
};
const INPUT(shape_scan_input, MANNER_SCAN, scan_members);

static const struct wire_member get_members[] = {
    REQUIRED("Key", shape_value_map),
    REQUIRED("TableName", shape_table_name),
    OPTIONAL("ProjectionExpression", shape_string),
    OPTIONAL("ExpressionAttributeNames", shape_string_map),
};
static const STRUCTURE(transact_get, "Get", get_members);
static const struct wire_member transact_get_item_members[] = {REQUIRED("Get", transact_get)};
static const STRUCTURE(transact_get_item, "TransactGetItem", transact_get_item_members);
static const LIST_OF(transact_get_list, transact_get_item, 1, 100);
static const struct wire_member transact_get_items_members[] = {
    REQUIRED("TransactItems", transact_get_list),
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
};
const INPUT(shape_transact_get_items_input, MANNER_OLDER, transact_get_items_members);

#define CONDITION_MEMBERS \
    OPTIONAL("ExpressionAttributeNames", shape_string_map), \
    OPTIONAL("ExpressionAttributeValues", shape_value_map), \
    OPTIONAL("ReturnValuesOnConditionCheckFailure", return_on_failure)

static const struct wire_member condition_check_members[] = {
    REQUIRED("Key", shape_value_map),
    REQUIRED("TableName", shape_table_name),
    REQUIRED("ConditionExpression", shape_string),
    CONDITION_MEMBERS,
};
static const STRUCTURE(transact_check, "ConditionCheck", condition_check_members);
static const struct wire_member put_members[] = {
    REQUIRED("Item", shape_value_map),
    REQUIRED("TableName", shape_table_name),
    OPTIONAL("ConditionExpression", shape_string),
    CONDITION_MEMBERS,
};
static const STRUCTURE(transact_put, "Put", put_members);
static const struct wire_member delete_members[] = {
    REQUIRED("Key", shape_value_map),
    REQUIRED("TableName", shape_table_name),
    OPTIONAL("ConditionExpression", shape_string),
    CONDITION_MEMBERS,
};
static const STRUCTURE(transact_delete, "Delete", delete_members);
static const struct wire_member update_members[] = {
    REQUIRED("Key", shape_value_map),
    REQUIRED("UpdateExpression", shape_string),
    REQUIRED("TableName", shape_table_name),
    OPTIONAL("ConditionExpression", shape_string),
    CONDITION_MEMBERS,
};
static const STRUCTURE(transact_update, "Update", update_members);
static const struct wire_member transact_write_item_members[] = {
    OPTIONAL("ConditionCheck", transact_check),
    OPTIONAL("Put", transact_put),
    OPTIONAL("Delete", transact_delete),
    OPTIONAL("Update", transact_update),
};
static const STRUCTURE(transact_write_item, "TransactWriteItem", transact_write_item_members);
static const LIST_OF(transact_write_list, transact_write_item, 1, 100);
static const struct wire_member transact_write_items_members[] = {
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
    OPTIONAL("ReturnItemCollectionMetrics", shape_return_item_collection_metrics),
    OPTIONAL("ClientRequestToken", shape_client_token),
    REQUIRED("TransactItems", transact_write_list),
};
const INPUT(shape_transact_write_items_input, MANNER_OLDER, transact_write_items_members);

static const struct wire_shape statement = {.kind = SHAPE_STRING, .least = 1, .most = 8192};
static const struct wire_shape next_token = {.kind = SHAPE_STRING, .least = 1, .most = 32768};
static const LIST_OF(parameters, shape_value, 1, NO_LIMIT);
static const struct wire_member execute_statement_members[] = {
    REQUIRED("Statement", statement),
    OPTIONAL("Parameters", parameters),
    OPTIONAL("ConsistentRead", shape_boolean),
    OPTIONAL("NextToken", next_token),
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
    OPTIONAL("Limit", shape_positive_integer),
    OPTIONAL("ReturnValuesOnConditionCheckFailure", return_on_failure),
};
const INPUT(shape_execute_statement_input, MANNER_OLDER, execute_statement_members);

static const struct wire_member batch_statement_members[] = {
    REQUIRED("Statement", statement),
    OPTIONAL("Parameters", parameters),
    OPTIONAL("ConsistentRead", shape_boolean),
    OPTIONAL("ReturnValuesOnConditionCheckFailure", return_on_failure),
};
static const STRUCTURE(batch_statement, "BatchStatementRequest", batch_statement_members);
static const LIST_OF(batch_statements, batch_statement, 1, 25);
static const struct wire_member batch_execute_statement_members[] = {
    REQUIRED("Statements", batch_statements),
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
};
const INPUT(shape_batch_execute_statement_input, MANNER_OLDER, batch_execute_statement_members);

static const struct wire_member parameterized_members[] = {
    REQUIRED("Statement", statement),
    OPTIONAL("Parameters", parameters),
    OPTIONAL("ReturnValuesOnConditionCheckFailure", return_on_failure),
};
static const STRUCTURE(parameterized, "ParameterizedStatement", parameterized_members);
static const LIST_OF(parameterized_list, parameterized, 1, 100);
static const struct wire_member execute_transaction_members[] = {
    REQUIRED("TransactStatements", parameterized_list),
    OPTIONAL("ClientRequestToken", shape_client_token),
    OPTIONAL("ReturnConsumedCapacity", shape_return_consumed_capacity),
};
const INPUT(shape_execute_transaction_input, MANNER_OLDER, execute_transaction_members);
