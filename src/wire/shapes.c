/* From an operation's name to the shape of its input, and what single shapes allow. */
#include "wire/shape_internal.h"

static const struct {
    const char *operation;
    const struct wire_shape *input;
} inputs[] = {
    {"GetItem", &shape_get_item_input},
    {"PutItem", &shape_put_item_input},
    {"UpdateItem", &shape_update_item_input},
    {"DeleteItem", &shape_delete_item_input},
    {"BatchGetItem", &shape_batch_get_item_input},
    {"BatchWriteItem", &shape_batch_write_item_input},
    {"Query", &shape_query_input},
    {"Scan", &shape_scan_input},
    {"TransactGetItems", &shape_transact_get_items_input},
    {"TransactWriteItems", &shape_transact_write_items_input},
    {"ExecuteStatement", &shape_execute_statement_input},
    {"BatchExecuteStatement", &shape_batch_execute_statement_input},
    {"ExecuteTransaction", &shape_execute_transaction_input},
    {"CreateTable", &shape_create_table_input},
    {"UpdateTable", &shape_update_table_input},
    {"DescribeTable", &shape_table_name_input},
    {"DeleteTable", &shape_table_name_input},
    {"ListTables", &shape_list_tables_input},
    {"TagResource", &shape_tag_resource_input},
    {"UntagResource", &shape_untag_resource_input},
    {"ListTagsOfResource", &shape_list_tags_input},
    {"DescribeLimits", &shape_empty_input},
    {"DescribeEndpoints", &shape_empty_input},
    {"DescribeTimeToLive", &shape_table_name_input},
    {"UpdateTimeToLive", &shape_update_time_to_live_input},
    {"DescribeContinuousBackups", &shape_table_name_input},
};

const struct wire_shape *wire_input_shape(str operation)
{
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        if (str_equal(str_of_text(inputs[i].operation), operation))
            return inputs[i].input;
    return NULL;
}

const struct wire_member *shape_member(const struct wire_shape *shape, str name)
{
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct wire_member *member = &shape->members[i];
        if (member->name_length == name.len && memcmp(member->name, name.data, name.len) == 0)
            return member;
    }
    return NULL;
}

int64_t shape_text_length(str text)
{
    int64_t units = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = (uint8_t)text.data[i];
        if ((byte & 0xc0) != 0x80)
            units += byte >= 0xf0 ? 2 : 1;
    }
    return units;
}

bool shape_pattern_is_good(enum shape_pattern pattern, str text)
{
    if (pattern == PATTERN_NONE || (pattern == PATTERN_TABLE && str_begins(text, STR("arn:"))))
        return true;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool is_name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
        if (!is_name)
            return false;
    }
    return text.len > 0;
}

bool shape_set_has(const char *set, str text)
{
    for (const char *at = set; *at;) {
        size_t length = strcspn(at, ",");
        if (length == text.len && memcmp(at, text.data, length) == 0)
            return true;
        at += length;
        at += strspn(at, ", ");
    }
    return false;
}

bool shape_string_is_good(const struct wire_shape *shape, str text)
{
    if (shape->set && !shape_set_has(shape->set, text))
        return false;
    if (!shape_pattern_is_good(shape->pattern, text))
        return false;
    if (shape->most == 0)
        return true;
    int64_t most = shape->pattern == PATTERN_TABLE && str_begins(text, STR("arn:")) ? 1024 : shape->most;
    int64_t length = (int64_t)text.len;
    /* Characters are at most as many as bytes and at least a third: most texts need no counting. */
    if (length > most || length / 3 < shape->least)
        length = shape_text_length(text);
    return length >= shape->least && length <= most && !shape_name_is_short(shape, length);
}

bool shape_name_is_short(const struct wire_shape *shape, int64_t length)
{
    return shape->pattern == PATTERN_TABLE && shape->least < TABLE_NAME_LEAST && length < TABLE_NAME_LEAST;
}
