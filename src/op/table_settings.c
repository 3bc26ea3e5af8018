/* A table's settings in CreateTable and UpdateTable requests: throughput, streams, encryption, class, tags. */
#include "op/table_request_internal.h"

#define UNITS_MAX 1000000000000

enum { KMS_KEY_ID_BYTES_MAX = 2048 };

static enum fault check_bound(struct call *call, const char *name, int64_t units)
{
    if (units <= UNITS_MAX)
        return FAULT_NONE;
    return fail(call, FAULT_VALIDATION, "Given value %lld for %s is out of bounds", (long long)units, name);
}

enum fault request_units(struct table_request *request, uint32_t object, int64_t *read_units, int64_t *write_units)
{
    *read_units = wire_whole(request->json, request_member(request, object, "ReadCapacityUnits"), 0);
    *write_units = wire_whole(request->json, request_member(request, object, "WriteCapacityUnits"), 0);
    TRY(check_bound(request->call, "ReadCapacityUnits", *read_units));
    return check_bound(request->call, "WriteCapacityUnits", *write_units);
}

/* "table" or "index I". */
static str subject(struct call *call, str index_name)
{
    return index_name.len ? arena_printf(&call->arena, "index %.*s", STR_ARG(index_name)) : STR("table");
}

static enum fault read_max(struct table_request *request, uint32_t object, const char *name, str index_name, bool is_update, int64_t *units)
{
    struct call *call = request->call;
    uint32_t member = request_member(request, object, name);
    if (member == JSON_ABSENT)
        return FAULT_NONE;
    int64_t wanted = wire_whole(request->json, member, 0);
    if (request->draft->billing == BILLING_PROVISIONED)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "%s for OnDemandThroughput cannot be specified when %stable BillingMode is PROVISIONED%s", name,
            is_update ? "the " : "", is_update ? "" : ".");
    if (wanted != -1 && (wanted < 1 || wanted > UNITS_MAX))
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Requested %s for OnDemandThroughput for %.*s is outside of valid range", name,
            STR_ARG(subject(call, index_name)));
    *units = wanted == -1 ? 0 : wanted;
    return FAULT_NONE;
}

enum fault request_on_demand(struct table_request *request, uint32_t object, str index_name, bool is_update, struct table_throughput *throughput)
{
    TRY(read_max(request, object, "MaxReadRequestUnits", index_name, is_update, &throughput->max_read_units));
    return read_max(request, object, "MaxWriteRequestUnits", index_name, is_update, &throughput->max_write_units);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t warm_read_units(const struct table_throughput *throughput, enum table_billing billing)
{
    return larger(throughput->warm_read_units, billing == BILLING_PAY_PER_REQUEST ? WARM_READ_DEFAULT : throughput->read_units);
}

int64_t warm_write_units(const struct table_throughput *throughput, enum table_billing billing)
{
    return larger(throughput->warm_write_units, billing == BILLING_PAY_PER_REQUEST ? WARM_WRITE_DEFAULT : throughput->write_units);
}

static enum fault read_warm(struct table_request *request, uint32_t object, const char *name, str index_name, int64_t present, int64_t *units)
{
    struct call *call = request->call;
    uint32_t member = request_member(request, object, name);
    if (member == JSON_ABSENT)
        return FAULT_NONE;
    int64_t wanted = wire_whole(request->json, member, 0);
    if (wanted < 1 || wanted > UNITS_MAX)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Requested %s for WarmThroughput for %.*s is outside of valid range", name,
            STR_ARG(subject(call, index_name)));
    if (wanted < present)
        return fail(call, FAULT_VALIDATION,
            INVALID_PARAMETER "Requested %s for WarmThroughput for %.*s is lower than current WarmThroughput, decreasing WarmThroughput is not supported", name,
            STR_ARG(subject(call, index_name)));
    *units = wanted;
    return FAULT_NONE;
}

enum fault request_warm(struct table_request *request, uint32_t object, str index_name, struct table_throughput *throughput)
{
    enum table_billing billing = request->draft->billing;
    TRY(read_warm(request, object, "ReadUnitsPerSecond", index_name, warm_read_units(throughput, billing), &throughput->warm_read_units));
    return read_warm(request, object, "WriteUnitsPerSecond", index_name, warm_write_units(throughput, billing), &throughput->warm_write_units);
}

static enum table_stream_view stream_view_of(str text)
{
    if (str_equal(text, STR("KEYS_ONLY")))
        return STREAM_VIEW_KEYS_ONLY;
    if (str_equal(text, STR("NEW_IMAGE")))
        return STREAM_VIEW_NEW_IMAGE;
    return str_equal(text, STR("OLD_IMAGE")) ? STREAM_VIEW_OLD_IMAGE : STREAM_VIEW_NEW_AND_OLD_IMAGES;
}

enum fault request_stream(struct table_request *request, bool is_update)
{
    struct call *call = request->call;
    struct table *draft = request->draft;
    uint32_t object = request_member(request, 0, "StreamSpecification");
    if (object == JSON_ABSENT)
        return FAULT_NONE;
    bool enabled = wire_flag(request->json, request_member(request, object, "StreamEnabled"), false);
    str view = wire_text(request->json, request_member(request, object, "StreamViewType"));
    if (!enabled && view.len)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Table is being %s with a stream disabled, UpdateViewType should not be specified",
            is_update ? "updated" : "created");
    if (enabled && view.len == 0)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Table is being %s with a stream enabled, UpdateViewType should be specified",
            is_update ? "updated" : "created");
    if (is_update && enabled && draft->stream_enabled)
        return fail(call, FAULT_VALIDATION, "Table already has an enabled stream: TableName: %.*s", STR_ARG(draft->name));
    if (is_update && !enabled && !draft->stream_enabled)
        return fail(call, FAULT_VALIDATION, "Table does not have an enabled stream to disable: TableName: %.*s", STR_ARG(draft->name));
    draft->stream_enabled = enabled;
    if (enabled) {
        draft->stream_view = stream_view_of(view);
        draft->stream_created_us = call->now_us;
    }
    return FAULT_NONE;
}

/* The key that a KMSMasterKeyId means, as an ARN; AWS's own key of the account when none is given. */
static str kms_key_arn(struct table_request *request, str id)
{
    struct op_context *context = request->context;
    struct arena *arena = &request->draft->arena;
    if (str_begins(id, STR("arn:")))
        return id;
    const char *kind = str_begins(id, STR("alias/")) ? "" : "key/";
    char text[UUID_TEXT_BYTES];
    if (id.len == 0) {
        uuid_format(world_uuid(request->call->world), text);
        id = str_of(text, sizeof text);
    }
    return arena_printf(arena, "arn:aws:kms:%.*s:%.*s:%s%.*s", STR_ARG(context->region), STR_ARG(context->account), kind, STR_ARG(id));
}

enum fault request_sse(struct table_request *request)
{
    struct call *call = request->call;
    struct table *draft = request->draft;
    uint32_t object = request_member(request, 0, "SSESpecification");
    if (object == JSON_ABSENT)
        return FAULT_NONE;
    bool enabled = wire_flag(request->json, request_member(request, object, "Enabled"), false);
    str type = wire_text(request->json, request_member(request, object, "SSEType"));
    str key = request_text(request, object, "KMSMasterKeyId");
    /* No key has so long an id; and all of a table's description has to fit one value of the store. */
    if (key.len > KMS_KEY_ID_BYTES_MAX)
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "KMSMasterKeyId is longer than the maximum of %d bytes", KMS_KEY_ID_BYTES_MAX);
    if (!enabled && (type.len || key.len))
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "SSEType and KMSMasterKeyId can only be specified when Enabled is true in SSESpecification");
    if (str_equal(type, STR("AES256")))
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "SSEType AES256 is not supported in SSESpecification, only KMS is");
    if (!enabled) {
        draft->sse_enabled = false;
        draft->sse_key_arn = STR_NONE;
    } else if (!draft->sse_enabled || key.len) {
        draft->sse_enabled = true;
        draft->sse_key_arn = kms_key_arn(request, key);
    }
    return FAULT_NONE;
}

void request_class(struct table_request *request, bool is_update)
{
    struct table *draft = request->draft;
    str class = wire_text(request->json, request_member(request, 0, "TableClass"));
    if (class.len) {
        bool infrequent = str_equal(class, STR("STANDARD_INFREQUENT_ACCESS"));
        if (is_update && infrequent != draft->is_infrequent_access)
            draft->class_updated_us = request->call->now_us;
        draft->is_infrequent_access = infrequent;
        draft->class_was_set = true;
    }
    draft->deletion_protected = wire_flag(request->json, request_member(request, 0, "DeletionProtectionEnabled"), draft->deletion_protected);
}

enum fault request_refuse_unsupported(struct table_request *request)
{
    static const char *const members[] = {"VectorIndexes", "VectorIndexUpdates", "GlobalTableSourceArn", "GlobalTableSettingsReplicationMode", "ReplicaUpdates",
        "MultiRegionConsistency", "GlobalTableWitnessUpdates"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (request_member(request, 0, members[i]) != JSON_ABSENT)
            return fail(request->call, FAULT_VALIDATION, INVALID_PARAMETER "%s is not supported by this server", members[i]);
    return FAULT_NONE;
}

/* Letters, digits and blanks of any script, and these. */
static bool tag_text_is_good(str text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = (uint8_t)text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80;
        if (!is_letter && (c == 0 || !strchr(" _.:/=+-@", c)))
            return false;
    }
    return true;
}

static enum fault check_tag(struct call *call, str key, str value)
{
    if (!tag_text_is_good(key))
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Tag key contains invalid characters: %.*s", STR_ARG(key));
    if (!tag_text_is_good(value))
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Tag value contains invalid characters: %.*s", STR_ARG(value));
    if (key.len >= 4 && str_equal_folded(str_of(key.data, 4), STR("aws:")))
        return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "aws: prefixed tag key names are not allowed for external use");
    return FAULT_NONE;
}

enum fault request_tags(struct call *call, const struct json *json, uint32_t list, struct arena *arena, struct table_tag *tags, size_t *count)
{
    size_t before = *count;
    for (uint32_t i = json_first(json, list); i < json_end(json, list); i = json_next(json, i)) {
        str key = wire_text(json, json_member(json, i, STR("Key"))), value = wire_text(json, json_member(json, i, STR("Value")));
        TRY(check_tag(call, key, value));
        size_t at = 0;
        while (at < *count && !str_equal(tags[at].key, key))
            at++;
        if (at >= before && at < *count)
            return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Duplicate tag key: %.*s", STR_ARG(key));
        if (at == TABLE_TAGS_MAX)
            return fail(call, FAULT_VALIDATION, INVALID_PARAMETER "Too many tags: tag limit is %d", TABLE_TAGS_MAX);
        if (at == *count)
            tags[(*count)++].key = arena_copy(arena, key);
        tags[at].value = arena_copy(arena, value);
    }
    return FAULT_NONE;
}
