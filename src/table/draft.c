/* Drafts: tables that are still written to, and copies of snapshots. */
#include "table/table_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static void *copy_array(struct arena *arena, const void *from, size_t count, size_t bytes_each)
{
    if (count == 0)
        return NULL;
    void *to = arena_alloc(arena, count * bytes_each);
    memcpy(to, from, count * bytes_each);
    return to;
}

static void copy_key(struct arena *arena, struct key_attribute *key)
{
    key->name = arena_copy(arena, key->name);
}

static const struct table_index *copy_indexes(struct arena *arena, const struct table *base)
{
    struct table_index *indexes = copy_array(arena, base->indexes, base->index_count, sizeof *indexes);
    for (size_t i = 0; i < base->index_count; i++) {
        struct table_index *index = &indexes[i];
        index->name = arena_copy(arena, index->name);
        for (size_t part = 0; part < index->partition_count; part++)
            copy_key(arena, &index->partition[part]);
        for (size_t part = 0; part < index->sort_count; part++)
            copy_key(arena, &index->sort[part]);
        str *names = copy_array(arena, index->non_key_attributes, index->non_key_attribute_count, sizeof *names);
        for (size_t at = 0; at < index->non_key_attribute_count; at++)
            names[at] = arena_copy(arena, names[at]);
        index->non_key_attributes = names;
        index->ranges = copy_array(arena, index->ranges, index->range_count, sizeof *index->ranges);
    }
    return indexes;
}

void draft_set_identity(struct table *draft, str account, str region, str name)
{
    draft->account = arena_copy(&draft->arena, account);
    draft->region = arena_copy(&draft->arena, region);
    draft->name = arena_copy(&draft->arena, name);
    draft->arn = arena_printf(&draft->arena, "arn:aws:dynamodb:%.*s:%.*s:table/%.*s", STR_ARG(region), STR_ARG(account), STR_ARG(name));
}

struct table *table_draft_new(const struct table *base_or_null)
{
    struct table *draft = malloc(sizeof *draft);
    if (!draft) {
        fprintf(stderr, "stator: out of memory\n");
        abort();
    }
    memset(draft, 0, sizeof *draft);
    /* All but the count of references, which others of the base's holders may be changing. */
    size_t counted = offsetof(struct table, change_number);
    if (base_or_null)
        memcpy((char *)draft + counted, (const char *)base_or_null + counted, sizeof *draft - counted);
    atomic_init(&draft->references, 1);
    arena_open(&draft->arena, NULL);
    if (!base_or_null)
        return draft;
    const struct table *base = base_or_null;
    struct arena *arena = &draft->arena;
    draft_set_identity(draft, base->account, base->region, base->name);
    copy_key(arena, &draft->keys.partition);
    copy_key(arena, &draft->keys.sort);
    struct key_attribute *definitions = copy_array(arena, base->definitions, base->definition_count, sizeof *definitions);
    for (size_t i = 0; i < base->definition_count; i++)
        copy_key(arena, &definitions[i]);
    draft->definitions = definitions;
    draft->indexes = copy_indexes(arena, base);
    draft->sse_key_arn = arena_copy(arena, base->sse_key_arn);
    draft->resource_policy = arena_copy(arena, base->resource_policy);
    struct table_tag *tags = copy_array(arena, base->tags, base->tag_count, sizeof *tags);
    for (size_t i = 0; i < base->tag_count; i++)
        tags[i] = (struct table_tag){arena_copy(arena, tags[i].key), arena_copy(arena, tags[i].value)};
    draft->tags = tags;
    draft->ranges = copy_array(arena, base->ranges, base->range_count, sizeof *base->ranges);
    return draft;
}

void table_draft_free(struct table *draft)
{
    if (!draft)
        return;
    arena_close(&draft->arena);
    free(draft);
}

void table_draft_add_index_range(struct world *world, struct table *draft, struct table_index *index)
{
    struct table_range *range = ARENA_NEW(&draft->arena, struct table_range);
    range->id = world_uuid(world);
    index->ranges = range;
    index->range_count = 1;
}

int64_t table_settles_at(const struct table *table)
{
    bool passes = (table->status == TABLE_CREATING || table->status == TABLE_UPDATING) && !table_waits_for_index(table);
    return passes ? table->status_until_us : INT64_MAX;
}

static void settle_throughput(struct table_throughput *throughput)
{
    throughput->is_changing = false;
    throughput->shown_read_units = throughput->shown_write_units = throughput->shown_decreases = 0;
}

bool table_has_key_attribute(const struct table *table, str attribute)
{
    if (str_equal(attribute, table->keys.partition.name) || str_equal(attribute, table->keys.sort.name))
        return true;
    for (size_t i = 0; i < table->index_count; i++) {
        const struct table_index *index = &table->indexes[i];
        for (size_t part = 0; part < index->partition_count; part++)
            if (str_equal(attribute, index->partition[part].name))
                return true;
        for (size_t part = 0; part < index->sort_count; part++)
            if (str_equal(attribute, index->sort[part].name))
                return true;
    }
    return false;
}

/* Definitions that are no key of anything leave with the last index that used them. */
static void prune_definitions(struct table *draft)
{
    struct key_attribute *definitions = copy_array(&draft->arena, draft->definitions, draft->definition_count, sizeof *definitions);
    size_t kept = 0;
    for (size_t i = 0; i < draft->definition_count; i++)
        if (table_has_key_attribute(draft, definitions[i].name))
            definitions[kept++] = definitions[i];
    draft->definitions = definitions;
    draft->definition_count = kept;
}

void draft_settle(struct table *draft, int64_t now_us)
{
    if (now_us < table_settles_at(draft))
        return;
    draft->status = TABLE_ACTIVE;
    settle_throughput(&draft->throughput);
    struct table_index *indexes = copy_array(&draft->arena, draft->indexes, draft->index_count, sizeof *indexes);
    size_t kept = 0;
    for (size_t i = 0; i < draft->index_count; i++) {
        if (indexes[i].status == TABLE_DELETING)
            continue;
        indexes[kept] = indexes[i];
        settle_throughput(&indexes[kept].throughput);
        if (indexes[kept].stage == INDEX_KEPT) {
            indexes[kept].status = TABLE_ACTIVE;
            indexes[kept].is_backfilling = false;
        }
        kept++;
    }
    bool index_left = kept < draft->index_count;
    draft->indexes = indexes;
    draft->index_count = kept;
    if (index_left)
        prune_definitions(draft);
}
