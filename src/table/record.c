/* A table as a record of the catalog: a version byte, then a map in the item encoding (model/value.h). Readers take an attribute that is
   missing for zero or empty, so that a later program may add some; the golden record in test/golden keeps this promise. */
#include "table/table_internal.h"

#include "model/number.h"
#include "model/value.h"

#include <assert.h>

/* --- Writing --- */

enum { ATTRIBUTES_MAX = 40 };

struct writer {
    struct arena *arena;
    struct attribute attributes[ATTRIBUTES_MAX];
    size_t count;
};

static void put(struct writer *writer, const char *name, str value)
{
    assert(writer->count < ATTRIBUTES_MAX);
    writer->attributes[writer->count++] = (struct attribute){str_of_text(name), value};
}

static str scalar(struct arena *arena, enum value_type type, str payload)
{
    struct buf out;
    buf_open(&out, arena, payload.len + 8);
    value_write_scalar(&out, type, payload);
    return buf_str(&out);
}

static void put_text(struct writer *writer, const char *name, str text)
{
    if (text.len)
        put(writer, name, scalar(writer->arena, VALUE_S, text));
}

static void put_whole(struct writer *writer, const char *name, int64_t whole)
{
    if (whole == 0)
        return;
    struct number number;
    number_from_i64(whole, &number);
    put(writer, name, scalar(writer->arena, VALUE_N, number_str(&number)));
}

static void put_flag(struct writer *writer, const char *name, bool flag)
{
    if (!flag)
        return;
    struct buf out;
    buf_open(&out, writer->arena, 8);
    value_write_bare(&out, VALUE_TRUE);
    put(writer, name, buf_str(&out));
}

static void put_uuid(struct writer *writer, const char *name, struct uuid id)
{
    put(writer, name, scalar(writer->arena, VALUE_B, str_of(id.bytes, sizeof id.bytes)));
}

static str map_of(struct writer *writer)
{
    struct buf out;
    buf_open(&out, writer->arena, 256);
    value_write_map(&out, writer->attributes, writer->count);
    return buf_str(&out);
}

static void put_list(struct writer *writer, const char *name, const str *elements, size_t count)
{
    if (count == 0)
        return;
    struct buf out;
    buf_open(&out, writer->arena, 256);
    value_write_list(&out, elements, count);
    put(writer, name, buf_str(&out));
}

static void put_keys(struct writer *writer, const char *name, const struct key_attribute *keys, size_t count)
{
    str *elements = ARENA_NEW_ARRAY(writer->arena, str, count);
    for (size_t i = 0; i < count; i++) {
        struct writer key = {.arena = writer->arena};
        put_text(&key, "name", keys[i].name);
        put_whole(&key, "type", keys[i].type);
        elements[i] = map_of(&key);
    }
    put_list(writer, name, elements, count);
}

static void put_throughput(struct writer *writer, const struct table_throughput *throughput)
{
    struct writer inner = {.arena = writer->arena};
    put_whole(&inner, "read", throughput->read_units);
    put_whole(&inner, "write", throughput->write_units);
    put_whole(&inner, "maxRead", throughput->max_read_units);
    put_whole(&inner, "maxWrite", throughput->max_write_units);
    put_whole(&inner, "warmRead", throughput->warm_read_units);
    put_whole(&inner, "warmWrite", throughput->warm_write_units);
    put_whole(&inner, "decreases", throughput->decreases_today);
    put_whole(&inner, "decreaseDay", throughput->decrease_day);
    put_whole(&inner, "increasedAt", throughput->last_increase_us);
    put_whole(&inner, "decreasedAt", throughput->last_decrease_us);
    put_flag(&inner, "changing", throughput->is_changing);
    put_whole(&inner, "shownRead", throughput->shown_read_units);
    put_whole(&inner, "shownWrite", throughput->shown_write_units);
    put_whole(&inner, "shownDecreases", throughput->shown_decreases);
    put(writer, "throughput", map_of(&inner));
}

static void put_ranges(struct writer *writer, const struct table_range *ranges, size_t count)
{
    str *elements = ARENA_NEW_ARRAY(writer->arena, str, count);
    for (size_t i = 0; i < count; i++) {
        struct writer range = {.arena = writer->arena};
        uint8_t from[8];
        bytes_put_u64(from, ranges[i].hash_from);
        put_uuid(&range, "id", ranges[i].id);
        put(&range, "from", scalar(writer->arena, VALUE_B, str_of(from, sizeof from)));
        elements[i] = map_of(&range);
    }
    put_list(writer, "ranges", elements, count);
}

static str index_value(struct arena *arena, const struct table_index *index)
{
    struct writer writer = {.arena = arena};
    put_text(&writer, "name", index->name);
    put_uuid(&writer, "id", index->id);
    put_flag(&writer, "local", index->is_local);
    put_keys(&writer, "partition", index->partition, index->partition_count);
    put_keys(&writer, "sort", index->sort, index->sort_count);
    put_whole(&writer, "projection", index->projection);
    str *names = ARENA_NEW_ARRAY(arena, str, index->non_key_attribute_count);
    for (size_t i = 0; i < index->non_key_attribute_count; i++)
        names[i] = scalar(arena, VALUE_S, index->non_key_attributes[i]);
    put_list(&writer, "nonKeys", names, index->non_key_attribute_count);
    put_throughput(&writer, &index->throughput);
    put_whole(&writer, "status", index->status);
    put_flag(&writer, "backfilling", index->is_backfilling);
    put_whole(&writer, "stage", index->stage);
    put_ranges(&writer, index->ranges, index->range_count);
    return map_of(&writer);
}

static void put_indexes(struct writer *writer, const struct table *table)
{
    str *elements = ARENA_NEW_ARRAY(writer->arena, str, table->index_count);
    for (size_t i = 0; i < table->index_count; i++)
        elements[i] = index_value(writer->arena, &table->indexes[i]);
    put_list(writer, "indexes", elements, table->index_count);
}

static void put_tags_and_ranges(struct writer *writer, const struct table *table)
{
    str *elements = ARENA_NEW_ARRAY(writer->arena, str, table->tag_count);
    for (size_t i = 0; i < table->tag_count; i++) {
        struct writer tag = {.arena = writer->arena};
        put_text(&tag, "key", table->tags[i].key);
        put_text(&tag, "value", table->tags[i].value);
        elements[i] = map_of(&tag);
    }
    put_list(writer, "tags", elements, table->tag_count);
    put_ranges(writer, table->ranges, table->range_count);
}

void record_write(struct arena *arena, const struct table *table, struct buf *out)
{
    struct writer writer = {.arena = arena};
    put_uuid(&writer, "id", table->id);
    put_text(&writer, "account", table->account);
    put_text(&writer, "region", table->region);
    put_text(&writer, "name", table->name);
    put_keys(&writer, "partition", &table->keys.partition, 1);
    put_keys(&writer, "sort", &table->keys.sort, table->keys.sort.name.len ? 1 : 0);
    put_keys(&writer, "definitions", table->definitions, table->definition_count);
    put_indexes(&writer, table);
    put_whole(&writer, "billing", table->billing);
    put_whole(&writer, "onDemandAt", table->billing_on_demand_us);
    put_flag(&writer, "billingWasSet", table->billing_was_set);
    put_throughput(&writer, &table->throughput);
    put_whole(&writer, "streamView", table->stream_view);
    put_whole(&writer, "streamCreatedAt", table->stream_created_us);
    put_flag(&writer, "streamEnabled", table->stream_enabled);
    put_flag(&writer, "protected", table->deletion_protected);
    put_flag(&writer, "infrequentAccess", table->is_infrequent_access);
    put_flag(&writer, "classWasSet", table->class_was_set);
    put_whole(&writer, "classUpdatedAt", table->class_updated_us);
    put_flag(&writer, "sse", table->sse_enabled);
    put_text(&writer, "sseKey", table->sse_key_arn);
    put_text(&writer, "policy", table->resource_policy);
    put_tags_and_ranges(&writer, table);
    put_whole(&writer, "createdAt", table->created_us);
    put_whole(&writer, "status", table->status);
    put_whole(&writer, "statusUntil", table->status_until_us);
    put_whole(&writer, "statusSince", table->status_since_us);
    put_flag(&writer, "logsForIndexes", table->logs_for_indexes);
    put_whole(&writer, "change", (int64_t)table->change_number);
    buf_add_byte(out, TABLE_RECORD_VERSION);
    value_write_map(out, writer.attributes, writer.count);
}

/* --- Reading --- */

struct reader {
    struct arena *arena; /* the table's own */
    str map;
    bool is_bad;
};

static str take(struct reader *reader, const char *name, enum value_type type)
{
    str value = map_get(reader->map, str_of_text(name));
    if (value.len && value_type(value) != type) {
        reader->is_bad = true;
        return STR_NONE;
    }
    return value;
}

static str take_text(struct reader *reader, const char *name)
{
    str value = take(reader, name, VALUE_S);
    return value.len ? arena_copy(reader->arena, value_scalar(value)) : STR_NONE;
}

static int64_t take_whole(struct reader *reader, const char *name)
{
    str value = take(reader, name, VALUE_N);
    int64_t whole = 0;
    if (value.len && !number_to_i64(value_scalar(value), &whole))
        reader->is_bad = true;
    return whole;
}

/* A number that stands for one of an enumeration's values, 0 to `last`. */
static int take_choice(struct reader *reader, const char *name, int last)
{
    int64_t whole = take_whole(reader, name);
    if (whole < 0 || whole > last) {
        reader->is_bad = true;
        return 0;
    }
    return (int)whole;
}

static bool take_flag(struct reader *reader, const char *name)
{
    return take(reader, name, VALUE_TRUE).len > 0;
}

static void take_bytes(struct reader *reader, const char *name, void *bytes, size_t count)
{
    str value = take(reader, name, VALUE_B);
    if (value.len == 0 || value_scalar(value).len != count)
        reader->is_bad = true;
    else
        memcpy(bytes, value_scalar(value).data, count);
}

/* Opens a walk over a list and says how many elements it has. */
static size_t take_list(struct reader *reader, const char *name, size_t most, struct value_walk *walk)
{
    str value = take(reader, name, VALUE_L);
    if (value.len == 0 || !value_walk_open(walk, value))
        return 0;
    if (walk->left > most) {
        reader->is_bad = true;
        return 0;
    }
    return (size_t)walk->left;
}

static struct reader element_reader(struct reader *reader, struct value_walk *walk)
{
    struct reader inner = {.arena = reader->arena};
    if (!value_walk_value(walk, &inner.map) || value_type(inner.map) != VALUE_M) {
        reader->is_bad = true;
        inner.map = STR_NONE;
    }
    return inner;
}

static size_t take_keys(struct reader *reader, const char *name, struct key_attribute *keys, size_t most)
{
    struct value_walk walk;
    size_t count = take_list(reader, name, most, &walk);
    for (size_t i = 0; i < count; i++) {
        struct reader inner = element_reader(reader, &walk);
        keys[i].name = take_text(&inner, "name");
        int64_t type = take_whole(&inner, "type");
        if (keys[i].name.len == 0 || type < VALUE_S || type > VALUE_B)
            inner.is_bad = true;
        keys[i].type = (enum value_type)type;
        reader->is_bad |= inner.is_bad;
    }
    return count;
}

static void take_throughput(struct reader *reader, struct table_throughput *throughput)
{
    struct reader inner = {.arena = reader->arena, .map = take(reader, "throughput", VALUE_M)};
    throughput->read_units = take_whole(&inner, "read");
    throughput->write_units = take_whole(&inner, "write");
    throughput->max_read_units = take_whole(&inner, "maxRead");
    throughput->max_write_units = take_whole(&inner, "maxWrite");
    throughput->warm_read_units = take_whole(&inner, "warmRead");
    throughput->warm_write_units = take_whole(&inner, "warmWrite");
    throughput->decreases_today = take_whole(&inner, "decreases");
    throughput->decrease_day = take_whole(&inner, "decreaseDay");
    throughput->last_increase_us = take_whole(&inner, "increasedAt");
    throughput->last_decrease_us = take_whole(&inner, "decreasedAt");
    throughput->is_changing = take_flag(&inner, "changing");
    throughput->shown_read_units = take_whole(&inner, "shownRead");
    throughput->shown_write_units = take_whole(&inner, "shownWrite");
    throughput->shown_decreases = take_whole(&inner, "shownDecreases");
    reader->is_bad |= inner.is_bad;
}

static const struct table_range *take_ranges(struct reader *reader, size_t *range_count)
{
    struct value_walk walk;
    size_t count = take_list(reader, "ranges", UINT32_MAX, &walk);
    struct table_range *ranges = ARENA_NEW_ARRAY(reader->arena, struct table_range, count);
    for (size_t i = 0; i < count; i++) {
        struct reader inner = element_reader(reader, &walk);
        uint8_t from[8] = {0};
        take_bytes(&inner, "id", ranges[i].id.bytes, sizeof ranges[i].id.bytes);
        take_bytes(&inner, "from", from, sizeof from);
        ranges[i].hash_from = bytes_get_u64(from);
        bool in_order = i == 0 ? ranges[i].hash_from == 0 : ranges[i].hash_from > ranges[i - 1].hash_from;
        reader->is_bad |= inner.is_bad || !in_order;
    }
    *range_count = count;
    return ranges;
}

static void take_index(struct reader *reader, struct table_index *index)
{
    index->name = take_text(reader, "name");
    take_bytes(reader, "id", index->id.bytes, sizeof index->id.bytes);
    index->is_local = take_flag(reader, "local");
    index->partition_count = take_keys(reader, "partition", index->partition, INDEX_KEY_PARTS_MAX);
    index->sort_count = take_keys(reader, "sort", index->sort, INDEX_KEY_PARTS_MAX);
    index->projection = (enum table_projection)take_choice(reader, "projection", PROJECTION_INCLUDE);
    struct value_walk walk;
    size_t count = take_list(reader, "nonKeys", UINT16_MAX, &walk);
    str *names = ARENA_NEW_ARRAY(reader->arena, str, count);
    for (size_t i = 0; i < count; i++) {
        str value;
        if (value_walk_value(&walk, &value) && value_type(value) == VALUE_S)
            names[i] = arena_copy(reader->arena, value_scalar(value));
        else
            reader->is_bad = true;
    }
    index->non_key_attributes = names;
    index->non_key_attribute_count = count;
    take_throughput(reader, &index->throughput);
    index->status = (enum table_status)take_choice(reader, "status", TABLE_DELETING);
    index->is_backfilling = take_flag(reader, "backfilling");
    index->stage = (enum table_index_stage)take_choice(reader, "stage", INDEX_COPYING);
    index->ranges = take_ranges(reader, &index->range_count);
    reader->is_bad |= index->name.len == 0 || index->partition_count == 0;
}

static void take_indexes(struct reader *reader, struct table *table)
{
    struct value_walk walk;
    size_t count = take_list(reader, "indexes", 2 * (TABLE_LOCAL_INDEXES_MAX + TABLE_GLOBAL_INDEXES_MAX), &walk);
    struct table_index *indexes = ARENA_NEW_ARRAY(reader->arena, struct table_index, count);
    for (size_t i = 0; i < count; i++) {
        struct reader inner = element_reader(reader, &walk);
        take_index(&inner, &indexes[i]);
        reader->is_bad |= inner.is_bad;
    }
    table->indexes = indexes;
    table->index_count = count;
}

static void take_tags_and_ranges(struct reader *reader, struct table *table)
{
    struct value_walk walk;
    size_t count = take_list(reader, "tags", UINT16_MAX, &walk);
    struct table_tag *tags = ARENA_NEW_ARRAY(reader->arena, struct table_tag, count);
    for (size_t i = 0; i < count; i++) {
        struct reader inner = element_reader(reader, &walk);
        tags[i] = (struct table_tag){take_text(&inner, "key"), take_text(&inner, "value")};
        reader->is_bad |= inner.is_bad || tags[i].key.len == 0;
    }
    table->tags = tags;
    table->tag_count = count;
    table->ranges = take_ranges(reader, &table->range_count);
}

static void take_definitions(struct reader *reader, struct table *table)
{
    struct value_walk walk;
    size_t count = take_list(reader, "definitions", UINT16_MAX, &walk);
    struct key_attribute *definitions = ARENA_NEW_ARRAY(reader->arena, struct key_attribute, count);
    take_keys(reader, "definitions", definitions, count);
    table->definitions = definitions;
    table->definition_count = count;
}

static void take_table(struct reader *reader, struct table *table)
{
    take_bytes(reader, "id", table->id.bytes, sizeof table->id.bytes);
    str account = take_text(reader, "account"), region = take_text(reader, "region"), name = take_text(reader, "name");
    draft_set_identity(table, account, region, name);
    reader->is_bad |= account.len == 0 || name.len == 0 || take_keys(reader, "partition", &table->keys.partition, 1) != 1;
    take_keys(reader, "sort", &table->keys.sort, 1);
    take_definitions(reader, table);
    take_indexes(reader, table);
    table->billing = (enum table_billing)take_choice(reader, "billing", BILLING_PAY_PER_REQUEST);
    table->billing_on_demand_us = take_whole(reader, "onDemandAt");
    table->billing_was_set = take_flag(reader, "billingWasSet");
    take_throughput(reader, &table->throughput);
    table->stream_view = (enum table_stream_view)take_choice(reader, "streamView", STREAM_VIEW_NEW_AND_OLD_IMAGES);
    table->stream_created_us = take_whole(reader, "streamCreatedAt");
    table->stream_enabled = take_flag(reader, "streamEnabled");
    table->deletion_protected = take_flag(reader, "protected");
    table->is_infrequent_access = take_flag(reader, "infrequentAccess");
    table->class_was_set = take_flag(reader, "classWasSet");
    table->class_updated_us = take_whole(reader, "classUpdatedAt");
    table->sse_enabled = take_flag(reader, "sse");
    table->sse_key_arn = take_text(reader, "sseKey");
    table->resource_policy = take_text(reader, "policy");
    take_tags_and_ranges(reader, table);
    table->created_us = take_whole(reader, "createdAt");
    table->status = (enum table_status)take_choice(reader, "status", TABLE_DELETING);
    table->status_until_us = take_whole(reader, "statusUntil");
    table->status_since_us = take_whole(reader, "statusSince");
    table->logs_for_indexes = take_flag(reader, "logsForIndexes");
    table->change_number = (uint64_t)take_whole(reader, "change");
    reader->is_bad |= table->range_count == 0 && table->status != TABLE_DELETING;
}

enum record_status record_read(str bytes, struct table **out)
{
    if (bytes.len < 2)
        return RECORD_BAD;
    if ((uint8_t)bytes.data[0] != TABLE_RECORD_VERSION)
        return (uint8_t)bytes.data[0] > TABLE_RECORD_VERSION ? RECORD_NEWER : RECORD_BAD;
    str map = str_from(bytes, 1);
    if (!value_is_valid(map) || value_type(map) != VALUE_M)
        return RECORD_BAD;
    struct table *table = table_draft_new(NULL);
    struct reader reader = {.arena = &table->arena, .map = map};
    take_table(&reader, table);
    if (reader.is_bad) {
        table_draft_free(table);
        return RECORD_BAD;
    }
    *out = table;
    return RECORD_GOOD;
}
