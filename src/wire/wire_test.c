/* Tests of the request checks: every row of the table of type errors, and the constraint texts of both wordings. */
#include "wire/wire.h"

#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define WORLD_NONE NULL

static enum fault check(const char *operation, enum wording wording, const char *text, char *message, size_t message_bytes)
{
    struct call call;
    call_open(&call, WORLD_NONE, NULL);
    call.wording = wording;
    size_t length = strlen(text);
    char *exact = malloc(length ? length : 1);
    memcpy(exact, text, length);
    struct json json;
    assert_true(json_parse(&call.arena, str_of(exact, length), &json));
    const struct wire_shape *shape = wire_input_shape(str_of_text(operation));
    assert_non_null(shape);
    enum fault fault = wire_check(&call, shape, &json);
    assert_int_equal(fault, call.fault);
    snprintf(message, message_bytes, "%.*s", STR_ARG(call.message));
    free(exact);
    call_close(&call);
    return fault;
}

static void expect_in(const char *operation, enum wording wording, const char *text, enum fault fault, const char *message)
{
    char got[4096];
    enum fault result = check(operation, wording, text, got, sizeof got);
    if (result != fault || strcmp(got, message) != 0)
        print_error("%s %s\n got  %d %s\n want %d %s\n", operation, text, result, got, fault, message);
    assert_int_equal(result, fault);
    assert_string_equal(got, message);
}

static void expect_good(const char *operation, const char *text)
{
    expect_in(operation, WORDING_CURRENT, text, FAULT_NONE, "");
    expect_in(operation, WORDING_CLASSIC, text, FAULT_NONE, "");
}

static void expect_type_error(const char *operation, const char *text, const char *message)
{
    expect_in(operation, WORDING_CURRENT, text, FAULT_SERIALIZATION, message);
}

static void expect_classic(const char *operation, const char *text, const char *message)
{
    expect_in(operation, WORDING_CLASSIC, text, FAULT_VALIDATION, message);
}

static void expect_current(const char *operation, const char *text, const char *message)
{
    expect_in(operation, WORDING_CURRENT, text, FAULT_VALIDATION, message);
}

static void expect_both(const char *operation, const char *text, const char *message)
{
    expect_classic(operation, text, message);
    expect_current(operation, text, message);
}

#define CANNOT_CAST                                                                                                  \
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class (sun." \
    "reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')"

static void test_scalar_types(void **state)
{
    (void)state;
    expect_type_error("DescribeTable", "{\"TableName\":23}", "NUMBER_VALUE cannot be converted to String");
    expect_type_error("DescribeTable", "{\"TableName\":-2147483648}", "NUMBER_VALUE cannot be converted to String");
    expect_type_error("DescribeTable", "{\"TableName\":34.56}", "DECIMAL_VALUE cannot be converted to String");
    expect_type_error("DescribeTable", "{\"TableName\":true}", "TRUE_VALUE cannot be converted to String");
    expect_type_error("DescribeTable", "{\"TableName\":false}", "FALSE_VALUE cannot be converted to String");
    expect_type_error("DescribeTable", "{\"TableName\":[]}", "Unrecognized collection type class java.lang.String");
    expect_type_error("DescribeTable", "{\"TableName\":{}}", "Start of structure or map found where not expected");
    expect_type_error("GetItem", "{\"ConsistentRead\":23}", "NUMBER_VALUE cannot be converted to Boolean");
    expect_type_error("GetItem", "{\"ConsistentRead\":2.5}", "DECIMAL_VALUE cannot be converted to Boolean");
    expect_type_error("GetItem", "{\"ConsistentRead\":\"23\"}", "Unexpected token received from parser");
    expect_type_error("GetItem", "{\"ConsistentRead\":[]}", "Unrecognized collection type class java.lang.Boolean");
    expect_type_error("GetItem", "{\"ConsistentRead\":{}}", "Start of structure or map found where not expected");
    expect_type_error("ListTables", "{\"Limit\":\"23\"}", "STRING_VALUE cannot be converted to Integer");
    expect_type_error("ListTables", "{\"Limit\":true}", "TRUE_VALUE cannot be converted to Integer");
    expect_type_error("ListTables", "{\"Limit\":[]}", "Unrecognized collection type class java.lang.Integer");
    expect_type_error("ListTables", "{\"Limit\":{}}", "Start of structure or map found where not expected");
    expect_type_error("CreateTable", "{\"ProvisionedThroughput\":{\"ReadCapacityUnits\":\"1\"}}", "STRING_VALUE cannot be converted to Long");
    expect_type_error("CreateTable", "{\"ProvisionedThroughput\":{\"WriteCapacityUnits\":false}}", "FALSE_VALUE cannot be converted to Long");
    expect_good("ListTables", "{\"Limit\":2.9}");
    expect_good("ListTables", "{\"Unknown\":[1],\"Limit\":null}");
    expect_type_error("ListTables", "[]", "");
    expect_type_error("ListTables", "7", "");
}

static void test_collection_types(void **state)
{
    (void)state;
    const char *scalars[] = {"\"23\"", "true", "23", "-2147483648", "34.56"};
    for (size_t i = 0; i < 5; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"KeySchema\":%s}", scalars[i]);
        expect_type_error("CreateTable", text, "Unexpected field type");
        snprintf(text, sizeof text, "{\"ProvisionedThroughput\":%s}", scalars[i]);
        expect_type_error("CreateTable", text, "Unexpected field type");
        snprintf(text, sizeof text, "{\"KeySchema\":[%s]}", scalars[i]);
        expect_type_error("CreateTable", text, "Unexpected value type in payload");
        snprintf(text, sizeof text, "{\"Item\":%s}", scalars[i]);
        expect_type_error("PutItem", text, "Unexpected field type");
        snprintf(text, sizeof text, "{\"Item\":{\"a\":%s}}", scalars[i]);
        expect_type_error("PutItem", text, "Unexpected value type in payload");
        snprintf(text, sizeof text, "{\"Item\":{\"a\":{\"L\":[%s]}}}", scalars[i]);
        expect_type_error("PutItem", text, "Unexpected value type in payload");
        snprintf(text, sizeof text, "{\"Expected\":{\"a\":{\"Value\":%s}}}", scalars[i]);
        expect_type_error("PutItem", text, "Unexpected field type");
        snprintf(text, sizeof text, "{\"RequestItems\":{\"a\":%s}}", scalars[i]);
        expect_type_error("BatchWriteItem", text, CANNOT_CAST);
        expect_type_error("BatchGetItem", text, "Unexpected value type in payload");
        snprintf(text, sizeof text, "{\"RequestItems\":{\"a\":{\"Keys\":[%s]}}}", scalars[i]);
        expect_type_error("BatchGetItem", text, CANNOT_CAST);
    }
    expect_type_error("CreateTable", "{\"KeySchema\":{}}", "Start of structure or map found where not expected");
    expect_type_error("BatchWriteItem", "{\"RequestItems\":{\"a\":{}}}", "Start of structure or map found where not expected");
    expect_type_error("CreateTable", "{\"KeySchema\":[[]]}", "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.KeySchemaElement");
    expect_type_error("CreateTable", "{\"ProvisionedThroughput\":[]}",
        "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.ProvisionedThroughput");
    expect_type_error("PutItem", "{\"Item\":[]}",
        "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>");
    expect_type_error("PutItem", "{\"Item\":{\"a\":[]}}", "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue");
    expect_type_error("PutItem", "{\"ExpressionAttributeNames\":[]}", "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>");
    expect_type_error("PutItem", "{\"Expected\":[]}",
        "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.ExpectedAttributeValue>");
    expect_type_error("BatchWriteItem", "{\"RequestItems\":[]}",
        "Unrecognized collection type java.util.Map<java.lang.String, java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>>");
    expect_type_error("BatchGetItem", "{\"RequestItems\":{\"a\":{\"Keys\":[[]]}}}",
        "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>");
}

static void test_value_types(void **state)
{
    (void)state;
    static const struct {
        const char *value, *message;
    } cases[] = {
        {"{\"S\":1}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"N\":1.5}", "DECIMAL_VALUE cannot be converted to String"},
        {"{\"S\":{}}", "Start of structure or map found where not expected"},
        {"{\"B\":true}", "only base-64-encoded strings are convertible to bytes"},
        {"{\"B\":23}", "only base-64-encoded strings are convertible to bytes"},
        {"{\"B\":[]}", "Unrecognized collection type class java.nio.ByteBuffer"},
        {"{\"B\":{}}", "Start of structure or map found where not expected"},
        {"{\"B\":\"23456\"}", "Base64 encoded length is expected a multiple of 4 bytes but found: 5"},
        {"{\"B\":\"=+/=\"}", "Invalid last non-pad Base64 character dectected"},
        {"{\"B\":\"+/+=\"}", "Invalid last non-pad Base64 character dectected"},
        {"{\"B\":\"YWJj?!?!\"}", "Invalid last non-pad Base64 character dectected"},
        {"{\"B\":\"YR==\"}", "Invalid last non-pad Base64 character dectected"},
        {"{\"B\":\"====\"}", "Invalid last non-pad Base64 character dectected"},
        {"{\"BOOL\":\"maybe\"}", "Unexpected token received from parser"},
        {"{\"NULL\":0}", "NUMBER_VALUE cannot be converted to Boolean"},
        {"{\"SS\":\"a\"}", "Unexpected field type"},
        {"{\"SS\":[1]}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"NS\":[true]}", "TRUE_VALUE cannot be converted to String"},
        {"{\"BS\":[\"x\"]}", "Base64 encoded length is expected a multiple of 4 bytes but found: 1"},
        {"{\"L\":{}}", "Start of structure or map found where not expected"},
        {"{\"M\":[]}", "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>"},
        {"{\"M\":{\"x\":{\"L\":[{\"BS\":[2]}]}}}", "only base-64-encoded strings are convertible to bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"TableName\":\"abc\",\"Item\":{\"a\":%s}}", cases[i].value);
        expect_type_error("PutItem", text, cases[i].message);
    }
    expect_good("PutItem", "{\"TableName\":\"abc\",\"Item\":{\"a\":{\"B\":\"\"},\"b\":{\"B\":\"YQ==\"},\"c\":{\"B\":\"YWI=\"},\"d\":{\"BOOL\":\"yes\"},"
                           "\"e\":{\"SS\":[\"x\"]},\"f\":{\"X\":1},\"g\":{\"L\":[{\"NULL\":true}]},\"h\":null}}");
    expect_current("PutItem", "{\"TableName\":\"abc\",\"Item\":{\"a\":{\"SS\":[null]}}}",
        "One or more parameter values were invalid: An string set may not have a null string as a member");
}

#define RETURN_VALUES_CLASSIC "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
#define RETURN_VALUES_CURRENT "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
#define FAILED "failed to satisfy constraint: Member must "
#define BAD_SET(member, set) "Value 'INVALID' at '" member "' " FAILED "satisfy enum value set: " set

static void test_item_writes(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *operation = i ? "DeleteItem" : "PutItem", *member = i ? "Key" : "Item";
        char text[512];
        snprintf(text, sizeof text, "{\"%s\":{}}", member);
        expect_both(operation, text, "1 validation error detected: Value null at 'tableName' " FAILED "not be null");
        snprintf(text, sizeof text, "{\"TableName\":\"\",\"%s\":{}}", member);
        expect_classic(operation, text, "1 validation error detected: Value '' at 'tableName' " FAILED "have length greater than or equal to 1");
        expect_current(operation, text, "1 validation error detected: Value at 'TableName' " FAILED "have length greater than or equal to 1");
        snprintf(text, sizeof text, "{\"TableName\":\"bad table!@#\",\"%s\":{}}", member);
        expect_both(operation, text, "1 validation error detected: Value 'bad table!@#' at 'tableName' " FAILED "satisfy regular expression pattern: [a-zA-Z0-9_.-]+");
        snprintf(text, sizeof text, "{\"TableName\":\"abc\",\"%s\":{},\"ReturnConsumedCapacity\":\"INVALID\",\"ReturnValues\":\"INVALID\"}", member);
        expect_classic(operation, text, "2 validation errors detected: " BAD_SET("returnConsumedCapacity", "[INDEXES, TOTAL, NONE]") "; " BAD_SET("returnValues", RETURN_VALUES_CLASSIC));
        expect_current(operation, text,
            "2 validation errors detected: " BAD_SET("returnConsumedCapacity", "[INDEXES, TOTAL, NONE]") "; Failed to satisfy constraint: Member must satisfy enum value set: " RETURN_VALUES_CURRENT);
        snprintf(text, sizeof text, "{\"TableName\":\"arn:aws:dynamodb:us-east-1:000000000000:table/x\",\"%s\":{}}", member);
        expect_good(operation, text);
    }
    char long_name[600];
    snprintf(long_name, sizeof long_name, "{\"TableName\":\"%0256d\",\"Item\":{}}", 0);
    char wanted[600];
    snprintf(wanted, sizeof wanted, "1 validation error detected: Value '%0256d' at 'tableName' " FAILED "have length less than or equal to 255", 0);
    expect_both("PutItem", long_name, wanted);
    expect_classic("PutItem", "{\"TableName\":\"\",\"Item\":{},\"ReturnValues\":\"INVALID\"}",
        "2 validation errors detected: " BAD_SET("returnValues", RETURN_VALUES_CLASSIC) "; Value '' at 'tableName' " FAILED "have length greater than or equal to 1");
    expect_current("PutItem", "{\"TableName\":\"abc\",\"Item\":{},\"ReturnConsumedCapacity\":\"INVALID\",\"ReturnValues\":\"INVALID\",\"ReturnItemCollectionMetrics\":\"INVALID\"}",
        "3 validation errors detected: " BAD_SET("returnConsumedCapacity", "[INDEXES, TOTAL, NONE]") "; Failed to satisfy constraint: Member must satisfy enum value set: "
        RETURN_VALUES_CURRENT "; " BAD_SET("returnItemCollectionMetrics", "[SIZE, NONE]"));
    /* The first of two is bad, the last counts. */
    expect_good("PutItem", "{\"TableName\":\"!\",\"TableName\":\"abc\",\"Item\":{}}");
}

static void test_update_item(void **state)
{
    (void)state;
    expect_current("UpdateItem", "{\"TableName\":\"\",\"Key\":{}}", "1 validation error detected: Value at 'TableName' " FAILED "have length greater than or equal to 1");
    expect_current("UpdateItem", "{\"TableName\":\"\"}",
        "2 validation errors detected: Value '' at 'tableName' " FAILED "have length greater than or equal to 1; Value null at 'key' " FAILED "not be null");
    const char *four = "{\"TableName\":\"\",\"ReturnConsumedCapacity\":\"INVALID\",\"ReturnValues\":\"INVALID\"}";
    expect_both("UpdateItem", four,
        "4 validation errors detected: " BAD_SET("returnConsumedCapacity", "[INDEXES, TOTAL, NONE]") "; Value '' at 'tableName' " FAILED
        "have length greater than or equal to 1; " BAD_SET("returnValues", RETURN_VALUES_CLASSIC) "; Value null at 'key' " FAILED "not be null");
    expect_current("UpdateItem", "{\"TableName\":\"abc\",\"ConditionalOperator\":\"INVALID\"}",
        "2 validation errors detected: " BAD_SET("conditionalOperator", "[OR, AND]") "; Value null at 'key' " FAILED "not be null");
    expect_current("UpdateItem", "{\"TableName\":\"abc\",\"Key\":{},\"ReturnConsumedCapacity\":\"INVALID\",\"ReturnValues\":\"INVALID\"}",
        "1 validation error detected: Failed to satisfy constraint: Member must satisfy enum value set: " RETURN_VALUES_CURRENT);
    expect_current("UpdateItem", "{\"TableName\":\"abc\",\"Key\":{},\"ReturnConsumedCapacity\":\"INVALID\"}",
        "1 validation error detected: " BAD_SET("returnConsumedCapacity", "[INDEXES, TOTAL, NONE]"));
    expect_both("UpdateItem", "{\"TableName\":\"abc\",\"Key\":{},\"AttributeUpdates\":{\"a\":{\"Action\":\"INVALID\"}}}",
        "1 validation error detected: " BAD_SET("attributeUpdates.a.member.action", "[ADD, PUT, DELETE]"));
    struct buf deep;
    struct arena arena;
    arena_open(&arena, NULL);
    for (int levels = 40; levels <= 63; levels += 23) {
        buf_open(&deep, &arena, 0);
        BUF_ADD_LITERAL(&deep, "{\"TableName\":\"abc\",\"ReturnValues\":\"INVALID\",\"Key\":{\"a\":");
        for (int i = 0; i < levels; i++)
            BUF_ADD_LITERAL(&deep, "{\"L\":[");
        for (int i = 0; i < levels; i++)
            BUF_ADD_LITERAL(&deep, "]}");
        BUF_ADD_LITERAL(&deep, "}}");
        buf_add_byte(&deep, 0);
        if (levels == 40)
            expect_current("UpdateItem", deep.data, "1 validation error detected: Failed to satisfy constraint: Member must satisfy enum value set: " RETURN_VALUES_CURRENT);
        else
            expect_current("UpdateItem", deep.data, "1 validation error detected: " BAD_SET("returnValues", RETURN_VALUES_CLASSIC));
    }
    arena_close(&arena);
}

static void test_reads(void **state)
{
    (void)state;
    expect_both("GetItem", "{\"TableName\":\"abc\",\"Key\":{},\"ReturnConsumedCapacity\":\"INVALID\"}",
        "1 validation error detected: " BAD_SET("returnConsumedCapacity", "[INDEXES, TOTAL, NONE]"));
    expect_both("GetItem", "{\"TableName\":\"abc\"}", "1 validation error detected: Value null at 'key' " FAILED "not be null");
    expect_both("GetItem", "{\"TableName\":\"abc\",\"Key\":{},\"AttributesToGet\":[]}",
        "1 validation error detected: Value '[]' at 'attributesToGet' " FAILED "have length greater than or equal to 1");
    expect_current("GetItem", "{\"TableName\":\"\",\"Key\":{}}", "1 validation error detected: Value at 'TableName' " FAILED "have length greater than or equal to 1");
    expect_both("Query", "{\"TableName\":\"abc\",\"Limit\":0}", "1 validation error detected: Value at 'Limit' " FAILED "have value greater than or equal to 1");
    expect_classic("Scan", "{\"TableName\":\"abc\",\"Limit\":0}", "1 validation error detected: Value '0' at 'limit' " FAILED "have value greater than or equal to 1");
    expect_current("Scan", "{\"TableName\":\"abc\",\"Limit\":0}", "1 validation error detected: Value at 'Limit' " FAILED "have value greater than or equal to 1");
    expect_classic("Scan", "{\"TableName\":\"abc\",\"Segment\":-1}", "1 validation error detected: Value '-1' at 'segment' " FAILED "have value greater than or equal to 0");
    expect_current("Scan", "{\"TableName\":\"abc\",\"Segment\":-1}", "1 validation error detected: Value at 'Segment' " FAILED "have value greater than or equal to 0");
    expect_current("Query", "{\"TableName\":\"abc\",\"ConditionalOperator\":\"XOR\",\"Select\":\"INVALID\"}",
        "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]");
    expect_both("Query", "{\"TableName\":\"abc\",\"QueryFilter\":{\"a\":{}}}",
        "1 validation error detected: Value null at 'queryFilter.a.member.comparisonOperator' " FAILED "not be null");
}

#define MAP_KEYS_TEXT                                                                                                                         \
    "failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length " \
    "greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"

static void test_batches(void **state)
{
    (void)state;
    expect_both("BatchGetItem", "{}", "1 validation error detected: Value null at 'requestItems' " FAILED "not be null");
    expect_classic("BatchGetItem", "{\"RequestItems\":{}}", "The requestItems parameter is required for BatchGetItem");
    expect_current("BatchGetItem", "{\"RequestItems\":{}}", "1 validation error detected: Value at 'RequestItems' " FAILED "have length greater than or equal to 1");
    expect_classic("BatchWriteItem", "{\"RequestItems\":{}}", "The requestItems parameter is required for BatchWriteItem");
    expect_current("BatchWriteItem", "{\"RequestItems\":{}}", "1 validation error detected: Value at 'RequestItems' " FAILED "have length greater than or equal to 1");
    expect_classic("BatchGetItem", "{\"RequestItems\":{\"abc\":{\"Keys\":[]}}}",
        "1 validation error detected: Value '[]' at 'requestItems.abc.member.keys' " FAILED "have length greater than or equal to 1");
    expect_current("BatchGetItem", "{\"RequestItems\":{\"abc\":{\"Keys\":[]}}}",
        "1 validation error detected: Value at 'RequestItems.abc.member.Keys' " FAILED "have length greater than or equal to 1");
    expect_current("BatchGetItem", "{\"RequestItems\": {\"bad!name\":{\"Keys\":[{\"pk\": {\"S\":\"a\"}}]}}, \"ReturnConsumedCapacity\":\"INVALID\"}",
        "2 validation errors detected: Value '{\"bad!name\":{\"Keys\":[{\"pk\":{\"S\":\"a\"}}]}}' at 'requestItems' " MAP_KEYS_TEXT "; "
        BAD_SET("returnConsumedCapacity", "[INDEXES, TOTAL, NONE]"));
    const char *bad_name = "{\"RequestItems\":{\"bad!name\":[{\"PutRequest\":{\"Item\":{\"pk\":{\"S\":\"x\"}}}}]}}";
    expect_both("BatchWriteItem", bad_name,
        "1 validation error detected: Value '{bad!name=[WriteRequest(putRequest=PutRequest(item={pk=AttributeValue(s=x, n=null, b=null, iNT=null, dECIMAL=null, "
        "dOUBLE=null, sS=null, nS=null, bS=null, iNTSET=null, dECIMALSET=null, dOUBLESET=null, m=null, l=null, nULL=null, bOOL=null)}, "
        "workloadProfileName=null), deleteRequest=null)]}' at 'requestItems' " MAP_KEYS_TEXT);
    expect_both("BatchWriteItem", "{\"RequestItems\":{\"bad!name\":[]},\"ReturnConsumedCapacity\":\"INVALID\"}",
        "1 validation error detected: " BAD_SET("returnConsumedCapacity", "[INDEXES, TOTAL, NONE]"));
    expect_both("BatchWriteItem", "{\"RequestItems\":{\"abc\":[]}}",
        "1 validation error detected: Value '{abc=[]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must have "
        "length less than or equal to 25, Member must have length greater than or equal to 1]");
    struct arena arena;
    arena_open(&arena, NULL);
    struct buf many;
    buf_open(&many, &arena, 0);
    BUF_ADD_LITERAL(&many, "{\"RequestItems\":{\"abc\":[");
    for (int i = 0; i < 26; i++)
        buf_printf(&many, "%s{\"DeleteRequest\":{\"Key\":{}}}", i ? "," : "");
    BUF_ADD_LITERAL(&many, "]}}");
    buf_add_byte(&many, 0);
    expect_current("BatchWriteItem", many.data, "1 validation error detected: Value at 'RequestItems.abc.member' " FAILED "have length less than or equal to 25");
    buf_open(&many, &arena, 0);
    BUF_ADD_LITERAL(&many, "{\"RequestItems\":{\"abc\":{\"Keys\":[");
    for (int i = 0; i < 101; i++)
        buf_printf(&many, "%s{}", i ? "," : "");
    BUF_ADD_LITERAL(&many, "]}}}");
    buf_add_byte(&many, 0);
    expect_both("BatchGetItem", many.data, "1 validation error detected: Value at 'RequestItems.abc.member.Keys' " FAILED "have length less than or equal to 100");
    arena_close(&arena);
}

static void test_tables(void **state)
{
    (void)state;
    expect_both("CreateTable", "{}", "The parameter 'TableName' is required but was not present in the request");
    expect_both("DescribeTable", "{\"TableName\":null}", "The parameter 'TableName' is required but was not present in the request");
    expect_both("CreateTable", "{\"TableName\":\"ab\",\"KeySchema\":[]}",
        "1 validation error detected: Value 'ab' at 'tableName' " FAILED "have length greater than or equal to 3");
    expect_both("CreateTable", "{\"TableName\":\"x!\"}",
        "2 validation errors detected: Value 'x!' at 'tableName' " FAILED "satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value 'x!' at 'tableName' " FAILED
        "have length greater than or equal to 3");
    expect_both("CreateTable", "{\"TableName\":\"abc\",\"AttributeDefinitions\":[],\"ProvisionedThroughput\":{}}",
        "3 validation errors detected: Value null at 'provisionedThroughput.writeCapacityUnits' " FAILED
        "not be null; Value null at 'provisionedThroughput.readCapacityUnits' " FAILED "not be null; Value null at 'keySchema' " FAILED "not be null");
    expect_both("CreateTable",
        "{\"TableName\":\"abc\",\"AttributeDefinitions\":[{\"AttributeName\":\"a\",\"AttributeType\":\"INVALID\"}],\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"INVALID\"}],"
        "\"BillingMode\":\"INVALID\"}",
        "3 validation errors detected: " BAD_SET("attributeDefinitions.1.member.attributeType", "[B, N, S]") "; "
        BAD_SET("billingMode", "[PROVISIONED, PAY_PER_REQUEST]") "; " BAD_SET("keySchema.1.member.keyType", "[HASH, RANGE]"));
    expect_both("CreateTable",
        "{\"TableName\":\"abc\",\"AttributeDefinitions\":[],\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"},"
        "{\"AttributeName\":\"extra\",\"KeyType\":\"RANGE\"}]}",
        "1 validation error detected: Value '[KeySchemaElement(attributeName=pk, keyType=HASH), KeySchemaElement(attributeName=sk, keyType=RANGE), "
        "KeySchemaElement(attributeName=extra, keyType=RANGE)]' at 'keySchema' " FAILED "have length less than or equal to 2");
    expect_both("CreateTable",
        "{\"TableName\":\"abc\",\"AttributeDefinitions\":[],\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],"
        "\"LocalSecondaryIndexes\":[{\"IndexName\":\"aa\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],\"Projection\":{}}],"
        "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"zz\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],\"Projection\":{}}]}",
        "2 validation errors detected: Value 'zz' at 'globalSecondaryIndexes.1.member.indexName' " FAILED
        "have length greater than or equal to 3; Value 'aa' at 'localSecondaryIndexes.1.member.indexName' " FAILED "have length greater than or equal to 3");
    expect_both("CreateTable", "{\"TableName\":\"abc\",\"AttributeDefinitions\":[],\"KeySchema\":[null]}",
        "1 validation error detected: Value null at 'keySchema.1.member' " FAILED "not be null");
    expect_both("ListTables", "{\"Limit\":0}", "1 validation error detected: Value '0' at 'limit' " FAILED "have value greater than or equal to 1");
    expect_both("ListTables", "{\"Limit\":101}", "1 validation error detected: Value '101' at 'limit' " FAILED "have value less than or equal to 100");
    /* Ten are listed, no more. */
    char got[8192];
    assert_int_equal(check("CreateTable", WORDING_CURRENT, "{\"TableName\":\"abc\",\"AttributeDefinitions\":[],\"KeySchema\":[],\"LocalSecondaryIndexes\":[{},{},{},{},{}]}", got,
                         sizeof got), FAULT_VALIDATION);
    assert_ptr_equal(strstr(got, "10 validation errors detected: "), got);
}

static void test_reading(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    struct json json;
    assert_true(json_parse(&arena, STR("{\"a\":\"text\",\"b\":\"YES\",\"c\":false,\"d\":-2.5,\"e\":99999999999999999999,\"f\":1e30,\"g\":\"0\",\"h\":12}"), &json));
    assert_true(str_equal(wire_text(&json, json_member(&json, 0, STR("a"))), STR("text")));
    assert_int_equal(wire_text(&json, JSON_ABSENT).len, 0);
    assert_true(wire_flag(&json, json_member(&json, 0, STR("b")), false));
    assert_false(wire_flag(&json, json_member(&json, 0, STR("c")), true));
    assert_false(wire_flag(&json, json_member(&json, 0, STR("g")), true));
    assert_true(wire_flag(&json, JSON_ABSENT, true));
    assert_int_equal(wire_whole(&json, json_member(&json, 0, STR("d")), 0), -3);
    assert_true(wire_whole(&json, json_member(&json, 0, STR("e")), 0) == INT64_MAX);
    assert_true(wire_whole(&json, json_member(&json, 0, STR("f")), 0) == INT64_MAX);
    assert_int_equal(wire_whole(&json, json_member(&json, 0, STR("h")), 0), 12);
    assert_int_equal(wire_whole(&json, JSON_ABSENT, 7), 7);
    arena_close(&arena);
}

static void test_writing(void **state)
{
    (void)state;
    struct call call;
    call_open(&call, WORLD_NONE, NULL);
    struct buf out;
    buf_open(&out, &call.arena, 0);
    struct wire_index_units local = {STR("li"), 2}, global[] = {{STR("g1"), 2}, {STR("g2"), 4}};
    struct wire_consumed consumed = {.table = STR("abc"), .table_half_units = 1, .local = &local, .local_count = 1, .global = global, .global_count = 2};
    wire_write_consumed(&out, CAPACITY_NONE, &consumed);
    assert_int_equal(out.len, 0);
    wire_write_consumed(&out, CAPACITY_INDEXES, &consumed);
    assert_true(str_equal(buf_str(&out), STR("{\"TableName\":\"abc\",\"CapacityUnits\":4.5,\"Table\":{\"CapacityUnits\":0.5},\"LocalSecondaryIndexes\":{\"li\":{\"CapacityUnits\":1}},"
                                             "\"GlobalSecondaryIndexes\":{\"g1\":{\"CapacityUnits\":1},\"g2\":{\"CapacityUnits\":2}}}")));
    buf_open(&out, &call.arena, 0);
    wire_write_consumed(&out, CAPACITY_TOTAL, &consumed);
    assert_true(str_equal(buf_str(&out), STR("{\"TableName\":\"abc\",\"CapacityUnits\":4.5}")));
    buf_open(&out, &call.arena, 0);
    wire_write_time(&out, 1363729002358999);
    assert_true(str_equal(buf_str(&out), STR("1363729002.358")));
    buf_open(&out, &call.arena, 0);
    assert_int_equal((fail)(&call, FAULT_SERIALIZATION, "a \"b\""), FAULT_SERIALIZATION);
    wire_write_fault(&call, &out);
    assert_true(str_equal(buf_str(&out), STR("{\"__type\":\"com.amazon.coral.service#SerializationException\",\"Message\":\"a \\\"b\\\"\"}")));
    call_clear_fault(&call);
    buf_open(&out, &call.arena, 0);
    assert_int_equal((fail)(&call, FAULT_SERIALIZATION, "%s", ""), FAULT_SERIALIZATION);
    wire_write_fault(&call, &out);
    assert_true(str_equal(buf_str(&out), STR("{\"__type\":\"com.amazon.coral.service#SerializationException\"}")));
    call_close(&call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar_types),
        cmocka_unit_test(test_collection_types),
        cmocka_unit_test(test_value_types),
        cmocka_unit_test(test_item_writes),
        cmocka_unit_test(test_update_item),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
