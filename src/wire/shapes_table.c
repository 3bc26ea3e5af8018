/* Inputs of the table operations. Members stand in the order in which AWS lists their violations. Sources: reference api.md
   sections 2 to 5; the orders are facts from dynalite, and a capture of October 2026 for GSI before LSI. */
#include "wire/shape_internal.h"

static const ENUMERATION(attribute_type, "B, N, S");
static const ENUMERATION(key_type, "HASH, RANGE");
static const ENUMERATION(projection_type, "ALL, INCLUDE, KEYS_ONLY");
static const ENUMERATION(billing_mode, "PROVISIONED, PAY_PER_REQUEST");
static const ENUMERATION(table_class, "STANDARD, STANDARD_INFREQUENT_ACCESS");
static const ENUMERATION(stream_view_type, "NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY");
static const ENUMERATION(sse_type, "AES256, KMS");
static const ENUMERATION(replication_mode, "ENABLED, DISABLED, ENABLED_WITH_OVERRIDES");
static const ENUMERATION(multi_region_consistency, "EVENTUAL, STRONG");
static const ENUMERATION(distance_function, "COSINE, DOT_PRODUCT, EUCLIDEAN");
static const ENUMERATION(search_element_type, "HASH, INLINE_FILTER");
static const ENUMERATION(disassociation_mode, "WAIT_FOR_REPLICATION");

static const struct wire_member definition_members[] = {
    REQUIRED("AttributeName", shape_key_attribute_name),
    REQUIRED("AttributeType", attribute_type),
};
static const STRUCTURE(definition, "AttributeDefinition", definition_members);
static const LIST_OF(definitions, definition, 0, 0);

static const struct wire_member key_element_members[] = {
    REQUIRED("AttributeName", shape_key_attribute_name),
    REQUIRED("KeyType", key_type),
};
static const STRUCTURE(key_element, "KeySchemaElement", key_element_members);
static const LIST_OF(table_key_schema, key_element, 1, 2);
/* Four partition and four sort key attributes (November 2025): counted by the operation. */
static const LIST_OF(global_key_schema, key_element, 1, NO_LIMIT);

static const LIST_OF(non_key_attributes, shape_key_attribute_name, 1, 20);
static const struct wire_member projection_members[] = {
    OPTIONAL("ProjectionType", projection_type),
    OPTIONAL("NonKeyAttributes", non_key_attributes),
};
static const STRUCTURE(projection, "Projection", projection_members);

static const struct wire_member throughput_members[] = {
    REQUIRED("WriteCapacityUnits", shape_positive_long),
    REQUIRED("ReadCapacityUnits", shape_positive_long),
};
static const STRUCTURE(throughput, "ProvisionedThroughput", throughput_members);

static const struct wire_member on_demand_members[] = {
    OPTIONAL("MaxReadRequestUnits", shape_long),
    OPTIONAL("MaxWriteRequestUnits", shape_long),
};
static const STRUCTURE(on_demand, "OnDemandThroughput", on_demand_members);

static const struct wire_member warm_members[] = {
    OPTIONAL("ReadUnitsPerSecond", shape_long),
    OPTIONAL("WriteUnitsPerSecond", shape_long),
};
static const STRUCTURE(warm, "WarmThroughput", warm_members);

static const struct wire_member local_index_members[] = {
    REQUIRED("IndexName", shape_index_name),
    REQUIRED("KeySchema", table_key_schema),
    REQUIRED("Projection", projection),
};
static const STRUCTURE(local_index, "LocalSecondaryIndex", local_index_members);
static const LIST_OF(local_indexes, local_index, 0, 0);

static const struct wire_member global_index_members[] = {
    REQUIRED("IndexName", shape_index_name),
    REQUIRED("KeySchema", global_key_schema),
    REQUIRED("Projection", projection),
    OPTIONAL("ProvisionedThroughput", throughput),
    OPTIONAL("OnDemandThroughput", on_demand),
    OPTIONAL("WarmThroughput", warm),
};
static const STRUCTURE(global_index, "GlobalSecondaryIndex", global_index_members);
static const LIST_OF(global_indexes, global_index, 0, 0);

static const struct wire_member stream_members[] = {
    REQUIRED("StreamEnabled", shape_boolean),
    OPTIONAL("StreamViewType", stream_view_type),
};
static const STRUCTURE(stream, "StreamSpecification", stream_members);

static const struct wire_member sse_members[] = {
    OPTIONAL("Enabled", shape_boolean),
    OPTIONAL("SSEType", sse_type),
    OPTIONAL("KMSMasterKeyId", shape_string),
};
static const STRUCTURE(sse, "SSESpecification", sse_members);

static const struct wire_shape tag_key = {.kind = SHAPE_STRING, .least = 1, .most = 128};
static const struct wire_shape tag_value = {.kind = SHAPE_STRING, .least = 0, .most = 256};
static const struct wire_member tag_members[] = {
    REQUIRED("Key", tag_key),
    REQUIRED("Value", tag_value),
};
static const STRUCTURE(tag, "Tag", tag_members);
static const LIST_OF(tags, tag, 0, 0);

static const struct wire_member vector_attribute_members[] = {REQUIRED("AttributeName", shape_key_attribute_name)};
static const STRUCTURE(vector_attribute, "VectorAttributeDefinition", vector_attribute_members);
static const struct wire_member search_element_members[] = {
    REQUIRED("AttributeName", shape_string),
    REQUIRED("SearchSchemaElementType", search_element_type),
};
static const STRUCTURE(search_element, "SearchSchemaElement", search_element_members);
static const LIST_OF(search_schema, search_element, 1, NO_LIMIT);
static const struct wire_member vector_index_members[] = {
    REQUIRED("IndexName", shape_index_name),
    REQUIRED("VectorAttribute", vector_attribute),
    OPTIONAL("SearchSchema", search_schema),
    REQUIRED("Projection", projection),
    REQUIRED("Dimensions", shape_positive_long),
    REQUIRED("DistanceFunction", distance_function),
};
static const STRUCTURE(vector_index, "VectorIndex", vector_index_members);
static const LIST_OF(vector_indexes, vector_index, 0, 0);

static const struct wire_shape table_arn = {.kind = SHAPE_STRING, .least = 1, .most = 1024};
static const struct wire_member create_table_members[] = {
    REQUIRED("TableName", shape_new_table_name),
    REQUIRED("AttributeDefinitions", definitions),
    OPTIONAL("BillingMode", billing_mode),
    OPTIONAL("ProvisionedThroughput", throughput),
    REQUIRED("KeySchema", table_key_schema),
    OPTIONAL("GlobalSecondaryIndexes", global_indexes),
    OPTIONAL("LocalSecondaryIndexes", local_indexes),
    OPTIONAL("StreamSpecification", stream),
    OPTIONAL("SSESpecification", sse),
    OPTIONAL("Tags", tags),
    OPTIONAL("TableClass", table_class),
    OPTIONAL("DeletionProtectionEnabled", shape_boolean),
    OPTIONAL("WarmThroughput", warm),
    OPTIONAL("ResourcePolicy", shape_string),
    OPTIONAL("OnDemandThroughput", on_demand),
    OPTIONAL("GlobalTableSourceArn", table_arn),
    OPTIONAL("GlobalTableSettingsReplicationMode", replication_mode),
    OPTIONAL("VectorIndexes", vector_indexes),
};
const INPUT(shape_create_table_input, MANNER_CONTROL, create_table_members);

static const struct wire_member index_update_members[] = {
    REQUIRED("IndexName", shape_index_name),
    OPTIONAL("ProvisionedThroughput", throughput),
    OPTIONAL("OnDemandThroughput", on_demand),
    OPTIONAL("WarmThroughput", warm),
};
static const STRUCTURE(index_update, "UpdateGlobalSecondaryIndexAction", index_update_members);
static const STRUCTURE(index_create, "CreateGlobalSecondaryIndexAction", global_index_members);
static const struct wire_member index_delete_members[] = {REQUIRED("IndexName", shape_index_name)};
static const STRUCTURE(index_delete, "DeleteGlobalSecondaryIndexAction", index_delete_members);
static const struct wire_member index_change_members[] = {
    OPTIONAL("Update", index_update),
    OPTIONAL("Create", index_create),
    OPTIONAL("Delete", index_delete),
};
static const STRUCTURE(index_change, "GlobalSecondaryIndexUpdate", index_change_members);
static const LIST_OF(index_changes, index_change, 0, 0);

static const STRUCTURE(vector_create, "CreateVectorIndexAction", vector_index_members);
static const STRUCTURE(vector_delete, "DeleteVectorIndexAction", index_delete_members);
static const struct wire_member vector_change_members[] = {
    OPTIONAL("Create", vector_create),
    OPTIONAL("Delete", vector_delete),
};
static const STRUCTURE(vector_change, "VectorIndexUpdate", vector_change_members);
static const LIST_OF(vector_changes, vector_change, 0, 0);

static const struct wire_member region_members[] = {REQUIRED("RegionName", shape_string)};
static const STRUCTURE(witness_create, "CreateGlobalTableWitnessGroupMemberAction", region_members);
static const STRUCTURE(witness_delete, "DeleteGlobalTableWitnessGroupMemberAction", region_members);
static const struct wire_member witness_change_members[] = {
    OPTIONAL("Create", witness_create),
    OPTIONAL("Delete", witness_delete),
};
static const STRUCTURE(witness_change, "GlobalTableWitnessGroupUpdate", witness_change_members);
static const LIST_OF(witness_changes, witness_change, 1, 1);

static const struct wire_member read_override_members[] = {OPTIONAL("ReadCapacityUnits", shape_positive_long)};
static const STRUCTURE(read_override, "ProvisionedThroughputOverride", read_override_members);
static const struct wire_member max_read_override_members[] = {OPTIONAL("MaxReadRequestUnits", shape_long)};
static const STRUCTURE(max_read_override, "OnDemandThroughputOverride", max_read_override_members);
static const struct wire_member replica_index_members[] = {
    REQUIRED("IndexName", shape_index_name),
    OPTIONAL("ProvisionedThroughputOverride", read_override),
    OPTIONAL("OnDemandThroughputOverride", max_read_override),
};
static const STRUCTURE(replica_index, "ReplicaGlobalSecondaryIndex", replica_index_members);
static const LIST_OF(replica_indexes, replica_index, 1, NO_LIMIT);
static const struct wire_member replica_members[] = {
    REQUIRED("RegionName", shape_string),
    OPTIONAL("KMSMasterKeyId", shape_string),
    OPTIONAL("ProvisionedThroughputOverride", read_override),
    OPTIONAL("OnDemandThroughputOverride", max_read_override),
    OPTIONAL("GlobalSecondaryIndexes", replica_indexes),
    OPTIONAL("TableClassOverride", table_class),
};
static const STRUCTURE(replica_create, "CreateReplicationGroupMemberAction", replica_members);
static const STRUCTURE(replica_update, "UpdateReplicationGroupMemberAction", replica_members);
static const STRUCTURE(replica_delete, "DeleteReplicationGroupMemberAction", region_members);
static const struct wire_member replica_disassociate_members[] = {
    REQUIRED("RegionName", shape_string),
    REQUIRED("DisassociationMode", disassociation_mode),
};
static const STRUCTURE(replica_disassociate, "DisassociateReplicationGroupMemberAction", replica_disassociate_members);
static const struct wire_member replica_change_members[] = {
    OPTIONAL("Create", replica_create),
    OPTIONAL("Update", replica_update),
    OPTIONAL("Delete", replica_delete),
    OPTIONAL("Disassociate", replica_disassociate),
};
static const STRUCTURE(replica_change, "ReplicationGroupUpdate", replica_change_members);
static const LIST_OF(replica_changes, replica_change, 1, NO_LIMIT);

static const struct wire_member update_table_members[] = {
    REQUIRED("TableName", shape_table_name),
    OPTIONAL("AttributeDefinitions", definitions),
    OPTIONAL("BillingMode", billing_mode),
    OPTIONAL("ProvisionedThroughput", throughput),
    OPTIONAL("GlobalSecondaryIndexUpdates", index_changes),
    OPTIONAL("StreamSpecification", stream),
    OPTIONAL("SSESpecification", sse),
    OPTIONAL("ReplicaUpdates", replica_changes),
    OPTIONAL("TableClass", table_class),
    OPTIONAL("DeletionProtectionEnabled", shape_boolean),
    OPTIONAL("MultiRegionConsistency", multi_region_consistency),
    OPTIONAL("GlobalTableWitnessUpdates", witness_changes),
    OPTIONAL("OnDemandThroughput", on_demand),
    OPTIONAL("WarmThroughput", warm),
    OPTIONAL("GlobalTableSettingsReplicationMode", replication_mode),
    OPTIONAL("VectorIndexUpdates", vector_changes),
    OPTIONAL("DisassociationProtectionEnabled", shape_boolean),
};
const INPUT(shape_update_table_input, MANNER_CONTROL, update_table_members);

/* DescribeTable, DeleteTable, DescribeTimeToLive, DescribeContinuousBackups. */
static const struct wire_member table_name_members[] = {REQUIRED("TableName", shape_table_name)};
const INPUT(shape_table_name_input, MANNER_CONTROL, table_name_members);

static const struct wire_shape list_limit = {.kind = SHAPE_INTEGER, .least = 1, .most = 100};
static const struct wire_shape start_table_name = {.kind = SHAPE_STRING, .least = 3, .most = 255, .pattern = PATTERN_NAME};
static const struct wire_member list_tables_members[] = {
    OPTIONAL("Limit", list_limit),
    OPTIONAL("ExclusiveStartTableName", start_table_name),
};
const INPUT(shape_list_tables_input, MANNER_CONTROL, list_tables_members);

/* The ARN and the lists are optional here: the operations have texts of their own for what is missing. */
static const struct wire_member tag_resource_members[] = {
    OPTIONAL("ResourceArn", shape_resource_arn),
    OPTIONAL("Tags", tags),
};
const INPUT(shape_tag_resource_input, MANNER_CONTROL, tag_resource_members);
static const LIST_OF(tag_keys, tag_key, 0, 0);
static const struct wire_member untag_resource_members[] = {
    OPTIONAL("ResourceArn", shape_resource_arn),
    OPTIONAL("TagKeys", tag_keys),
};
const INPUT(shape_untag_resource_input, MANNER_CONTROL, untag_resource_members);
static const struct wire_member list_tags_members[] = {
    OPTIONAL("ResourceArn", shape_resource_arn),
    OPTIONAL("NextToken", shape_string),
};
const INPUT(shape_list_tags_input, MANNER_CONTROL, list_tags_members);

const struct wire_shape shape_empty_input = {.kind = SHAPE_STRUCT, .name = "input", .manner = MANNER_CONTROL};

static const struct wire_shape ttl_attribute_name = {.kind = SHAPE_STRING, .least = 1, .most = 255};
static const struct wire_member ttl_members[] = {
    REQUIRED("Enabled", shape_boolean),
    REQUIRED("AttributeName", ttl_attribute_name),
};
static const STRUCTURE(ttl, "TimeToLiveSpecification", ttl_members);
static const struct wire_member update_time_to_live_members[] = {
    REQUIRED("TableName", shape_table_name),
    REQUIRED("TimeToLiveSpecification", ttl),
};
const INPUT(shape_update_time_to_live_input, MANNER_CONTROL, update_time_to_live_members);
