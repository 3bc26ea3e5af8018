/* Query and Scan of local and global indexes in process, tables and indexes of several ranges, against a plain list of the items and the order of values. */
#include "op/page_fixture_internal.h"

enum { PARTITIONS = 5, SORTS = 40, ITEMS = PARTITIONS * SORTS, RANGES = 4, CHOICES = 7, INDEXES = 5, PARTS = 8, SECOND_US = 1000000 };

/* Attributes that indexes have in their keys, each with the values that items have: hard on encodings, or beginning one another. */
enum attribute_place { L, M, G, H, R1, R2, R3, R4, PK, SK, ATTRIBUTES };

static const struct {
    const char *name;
    enum value_type type;
    const char *choices[CHOICES];
} attributes[ATTRIBUTES] = {
    [L] = {"l", VALUE_N, {"-1.5", "0", "1", "10", "2", "-1E+100", "1E-20"}},
    [M] = {"m", VALUE_S, {"a", "a\\u0000", "a\\u0001", "\\u0001\\u0001", "ab", "b", "\\udbff\\udfff"}},
    [G] = {"g", VALUE_S, {"x", "y", "x\\u0001\\u0001y", "x", "y", "x", "x"}},
    [H] = {"h", VALUE_N, {"7", "7", "70", "7", "-7", "7", "7"}},
    [R1] = {"r1", VALUE_N, {"1", "1", "2", "1", "-2", "1", "12"}},
    [R2] = {"r2", VALUE_S, {"a", "a\\u0000", "b", "a", "ab", "a\\u0001", "a"}},
    [R3] = {"r3", VALUE_B, {"AA==", "AAE=", "AQ==", "AQE=", "/w==", "//8=", "AA=="}},
    [R4] = {"r4", VALUE_S, {"q", "qq", "r", "q\\u0001", "s", "t", "q\\u0000"}},
    [PK] = {"pk", VALUE_S, {0}},
    [SK] = {"sk", VALUE_S, {0}},
};

static const struct index_case {
    const char *name;
    bool is_local;
    enum table_projection projection;
    size_t partition_count, part_count;
    enum attribute_place parts[PARTS];
} indexes[INDEXES] = {
    {"local-keys", true, PROJECTION_KEYS_ONLY, 1, 2, {PK, L}},
    {"local-some", true, PROJECTION_INCLUDE, 1, 2, {PK, M}},
    {"global", false, PROJECTION_ALL, 1, 1, {G}},
    {"global-sort", false, PROJECTION_KEYS_ONLY, 1, 2, {R2, SK}},
    {"parts", false, PROJECTION_INCLUDE, 2, 6, {G, H, R1, R2, R3, R4}},
};

/* As the table should have them. */
struct item {
    bool exists;
    int choices[R4 + 1]; /* -1: the item has no such attribute */
    size_t version;
};

struct test {
    struct fixture f;
    struct item items[ITEMS];
    size_t versions;
    struct arena arena;
};

static size_t below(struct test *t, size_t bound)
{
    return (size_t)world_random_below(t->f.world, bound);
}

/* --- The table --- */

static void set_index(struct test *t, const struct index_case *from, struct table_index *index)
{
    static const str included[] = {{"version", 7}};
    *index = (struct table_index){.name = str_of_text(from->name), .id = world_uuid(t->f.world), .is_local = from->is_local, .projection = from->projection,
                                  .partition_count = from->partition_count, .sort_count = from->part_count - from->partition_count,
                                  .status = from->is_local ? TABLE_ACTIVE : TABLE_CREATING, .stage = from->is_local ? INDEX_KEPT : INDEX_PLANNED};
    for (size_t i = 0; i < from->part_count; i++) {
        struct key_attribute *key = i < from->partition_count ? &index->partition[i] : &index->sort[i - from->partition_count];
        *key = (struct key_attribute){str_of_text(attributes[from->parts[i]].name), attributes[from->parts[i]].type};
    }
    if (from->projection == PROJECTION_INCLUDE) {
        index->non_key_attributes = included;
        index->non_key_attribute_count = 1;
    }
}

/* Made before any worker runs, so that table and indexes can be cut into ranges before the change log begins. */
static void make_table(struct test *t)
{
    struct fixture *f = &t->f;
    const struct table *made, *cut;
    struct table *draft = table_draft_new(NULL);
    struct table_index *drafted = ARENA_NEW_ARRAY(&draft->arena, struct table_index, INDEXES);
    draft->account = STR("000000000000");
    draft->region = STR("us-east-1");
    draft->name = STR("rows");
    draft->keys = (struct key_schema){{STR("pk"), VALUE_S}, {STR("sk"), VALUE_S}};
    draft->billing = BILLING_PAY_PER_REQUEST;
    for (size_t i = 0; i < INDEXES; i++)
        set_index(t, &indexes[i], &drafted[i]);
    draft->indexes = drafted;
    draft->index_count = INDEXES;
    assert_int_equal(table_create(&f->call, f->service.catalog, draft, &made), FAULT_NONE);
    draft = table_draft_new(made);
    draft->ranges = cut_ranges(f, &draft->arena, made->ranges[0].id, RANGES);
    draft->range_count = RANGES;
    drafted = ARENA_NEW_ARRAY(&draft->arena, struct table_index, INDEXES);
    for (size_t i = 0; i < INDEXES; i++) {
        drafted[i] = draft->indexes[i];
        if (drafted[i].is_local)
            continue;
        drafted[i].ranges = cut_ranges(f, &draft->arena, drafted[i].ranges[0].id, RANGES - 1);
        drafted[i].range_count = RANGES - 1;
    }
    draft->indexes = drafted;
    table_release(made);
    assert_int_equal(table_replace(&f->call, f->service.catalog, draft, &cut), FAULT_NONE);
    table_release(cut);
    fixture_start(f);
    world_sleep_us(f->world, SECOND_US);
}

static void test_open(struct test *t, uint64_t seed)
{
    *t = (struct test){0};
    arena_open(&t->arena, NULL);
    fixture_open(&t->f, seed, seed % 2 ? STORE_MANNERS_RADOS : STORE_MANNERS_PLAIN);
    make_table(t);
}

static void test_close(struct test *t)
{
    fixture_close(&t->f);
    arena_close(&t->arena);
}

/* --- Items --- */

static void write_value(struct buf *out, enum attribute_place place, const char *text)
{
    static const char types[] = {[VALUE_S] = 'S', [VALUE_N] = 'N', [VALUE_B] = 'B'};
    buf_printf(out, "{\"%c\":\"%s\"}", types[attributes[place].type], text);
}

static const char *text_of(struct test *t, size_t place, enum attribute_place attribute)
{
    if (attribute == PK)
        return arena_printf(&t->arena, "p%zu", place / SORTS).data;
    if (attribute == SK)
        return arena_printf(&t->arena, "s%02zu", place % SORTS).data;
    int choice = t->items[place].choices[attribute];
    return choice < 0 ? NULL : attributes[attribute].choices[choice];
}

static void put_item(struct test *t, size_t place)
{
    struct item *item = &t->items[place];
    struct buf request;
    buf_open(&request, NULL, 0);
    item->exists = true;
    item->version = ++t->versions;
    BUF_ADD_LITERAL(&request, "{\"TableName\":\"rows\",\"Item\":{");
    for (enum attribute_place i = L; i <= R4; i++)
        item->choices[i] = below(t, 8) == 0 ? -1 : (int)below(t, CHOICES);
    for (enum attribute_place i = L; i < ATTRIBUTES; i++) {
        const char *text = text_of(t, place, i);
        if (!text)
            continue;
        buf_printf(&request, "\"%s\":", attributes[i].name);
        write_value(&request, i, text);
        buf_add_byte(&request, ',');
    }
    buf_printf(&request, "\"version\":{\"N\":\"%zu\"},\"extra\":{\"S\":\"e%zu\"}}}", item->version, item->version);
    run(&t->f, "PutItem", buf_str(&request));
    buf_free(&request);
}

static void delete_item(struct test *t, size_t place)
{
    struct buf request;
    buf_open(&request, NULL, 0);
    t->items[place].exists = false;
    buf_printf(&request, "{\"TableName\":\"rows\",\"Key\":{\"pk\":{\"S\":\"%s\"},\"sk\":{\"S\":\"%s\"}}}", text_of(t, place, PK), text_of(t, place, SK));
    run(&t->f, "DeleteItem", buf_str(&request));
    buf_free(&request);
}

static void change_items(struct test *t)
{
    for (size_t place = 0; place < ITEMS; place++)
        put_item(t, place);
    for (size_t change = 0; change < ITEMS; change++) {
        size_t place = below(t, ITEMS);
        if (below(t, 4) == 0)
            delete_item(t, place);
        else
            put_item(t, place);
    }
    world_sleep_us(t->f.world, SECOND_US); /* indexes follow a moment later */
}

/* --- What an index should have --- */

static bool index_has(struct test *t, const struct index_case *index, size_t place)
{
    bool has = t->items[place].exists;
    for (size_t i = 0; i < index->part_count && has; i++)
        has = text_of(t, place, index->parts[i]) != NULL;
    return has;
}

static str value_of(struct test *t, enum attribute_place attribute, const char *text)
{
    struct buf json, v;
    struct json tokens;
    buf_open(&json, &t->arena, 0);
    buf_open(&v, &t->arena, 0);
    write_value(&json, attribute, text);
    assert_true(json_parse(&t->arena, buf_str(&json), &tokens));
    assert_int_equal(value_read(&t->f.call, &tokens, 0, &v), FAULT_NONE);
    return buf_str(&v);
}

static int compare_texts(struct test *t, enum attribute_place attribute, const char *a, const char *b)
{
    return value_compare(value_of(t, attribute, a), value_of(t, attribute, b));
}

/* In the order of the index inside one partition of its: sort attributes, then the table's key. */
static int compare_places(struct test *t, const struct index_case *index, size_t a, size_t b)
{
    for (size_t i = index->partition_count; i < index->part_count; i++) {
        int order = compare_texts(t, index->parts[i], text_of(t, a, index->parts[i]), text_of(t, b, index->parts[i]));
        if (order != 0)
            return order;
    }
    return (a > b) - (a < b);
}

/* --- Reading --- */

struct reading {
    size_t places[ITEMS + 1];
    size_t count;
};

static size_t number_at(const struct json *json, uint32_t item, str name, const char *type)
{
    str text = json_string(json, json_member(json, json_member(json, item, name), str_of_text(type)));
    return strtoul(text.data + (*type == 'S'), NULL, 10); /* text ends at a quote */
}

/* The item is whole as far as the index, or the table behind it, is asked for it. */
static void check_item(struct test *t, const struct index_case *index, uint32_t item, bool fetches, size_t place)
{
    const struct json *json = &t->f.json;
    bool has_version = fetches || index->projection != PROJECTION_KEYS_ONLY, has_extra = fetches || index->projection == PROJECTION_ALL;
    assert_int_equal(json_member(json, item, STR("version")) != JSON_ABSENT, has_version);
    assert_int_equal(json_member(json, item, STR("extra")) != JSON_ABSENT, has_extra);
    if (has_version)
        assert_int_equal(number_at(json, item, STR("version"), "N"), t->items[place].version);
    for (size_t i = 0; i < index->part_count; i++)
        assert_true(json_member(json, item, str_of_text(attributes[index->parts[i]].name)) != JSON_ABSENT);
}

static bool take_page(struct test *t, const struct index_case *index, bool fetches, struct reading *reading, struct buf *start)
{
    const struct json *json = &t->f.json;
    uint32_t items = json_member(json, 0, STR("Items")), last = json_member(json, 0, STR("LastEvaluatedKey"));
    for (uint32_t i = json_first(json, items); i < json_end(json, items); i = json_next(json, i)) {
        size_t place = number_at(json, i, STR("pk"), "S") * SORTS + number_at(json, i, STR("sk"), "S");
        assert_true(reading->count < ITEMS);
        check_item(t, index, i, fetches, place);
        reading->places[reading->count++] = place;
    }
    start->len = 0;
    if (last != JSON_ABSENT)
        buf_add_str(start, json_raw(json, last));
    return last != JSON_ABSENT;
}

/* All pages of a request whose other members are given, each with a comma behind it. */
static void read_all(struct test *t, const char *operation, const struct index_case *index, str members, struct reading *reading)
{
    struct buf request, start;
    buf_open(&request, NULL, 0);
    buf_open(&start, NULL, 0);
    reading->count = 0;
    bool goes_on = true, fetches = index->is_local && below(t, 2) == 0;
    size_t limit = 1 + below(t, 30);
    while (goes_on) {
        request.len = 0;
        buf_printf(&request, "{%.*s", STR_ARG(members));
        if (start.len > 0)
            buf_printf(&request, "\"ExclusiveStartKey\":%.*s,", STR_ARG(buf_str(&start)));
        if (fetches)
            BUF_ADD_LITERAL(&request, "\"Select\":\"ALL_ATTRIBUTES\",");
        buf_printf(&request, "\"IndexName\":\"%s\",\"Limit\":%zu,\"TableName\":\"rows\"}", index->name, limit);
        run(&t->f, operation, buf_str(&request));
        goes_on = take_page(t, index, fetches, reading, &start);
    }
    buf_free(&request);
    buf_free(&start);
}

/* --- Scan --- */

static void check_scans(struct test *t, const struct index_case *index)
{
    struct reading whole, part;
    bool seen[ITEMS] = {0};
    size_t wanted = 0, place = 0, total = 1 + below(t, 9);
    read_all(t, "Scan", index, STR(""), &whole);
    for (size_t i = 0; i < whole.count; i++) {
        assert_true(index_has(t, index, whole.places[i]) && !seen[whole.places[i]]);
        seen[whole.places[i]] = true;
    }
    for (size_t i = 0; i < ITEMS; i++)
        wanted += index_has(t, index, i);
    assert_int_equal(whole.count, wanted);
    for (size_t segment = 0; segment < total; segment++) {
        char members[96];
        snprintf(members, sizeof members, "\"Segment\":%zu,\"TotalSegments\":%zu,", segment, total);
        read_all(t, "Scan", index, str_of_text(members), &part);
        for (size_t i = 0; i < part.count; i++)
            assert_int_equal(part.places[i], whole.places[place++]);
    }
    assert_int_equal(place, whole.count);
}

/* --- Query --- */

enum { EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, BETWEEN, BEGINS_WITH, COMPARISONS };

struct condition {
    enum attribute_place attribute;
    int comparison;
    const char *low, *high;
};

static bool condition_fits(struct test *t, const struct condition *condition, const char *text)
{
    int order = compare_texts(t, condition->attribute, text, condition->low);
    switch (condition->comparison) {
    case EQUAL:
        return order == 0;
    case LESS:
        return order < 0;
    case LESS_EQUAL:
        return order <= 0;
    case GREATER:
        return order > 0;
    case GREATER_EQUAL:
        return order >= 0;
    case BETWEEN:
        return order >= 0 && compare_texts(t, condition->attribute, text, condition->high) <= 0;
    default:
        return str_begins(value_scalar(value_of(t, condition->attribute, text)), value_scalar(value_of(t, condition->attribute, condition->low)));
    }
}

static void draw_range(struct test *t, struct condition *condition, size_t other)
{
    condition->comparison = (int)below(t, COMPARISONS);
    if (condition->comparison == BEGINS_WITH && attributes[condition->attribute].type == VALUE_N)
        condition->comparison = LESS_EQUAL;
    const char *text = text_of(t, other, condition->attribute);
    if (text && below(t, 2) == 0)
        condition->low = text;
    condition->high = text ? text : condition->low;
    if (compare_texts(t, condition->attribute, condition->low, condition->high) > 0) {
        const char *low = condition->high;
        condition->high = condition->low;
        condition->low = low;
    }
}

static void write_conditions(struct buf *out, const struct condition *conditions, size_t count)
{
    static const char *const signs[] = {"=", "<", "<=", ">", ">="};
    BUF_ADD_LITERAL(out, "\"KeyConditionExpression\":\"");
    for (size_t i = 0; i < count; i++) {
        const char *name = attributes[conditions[i].attribute].name;
        if (i > 0)
            BUF_ADD_LITERAL(out, " AND ");
        if (conditions[i].comparison == BETWEEN)
            buf_printf(out, "%s BETWEEN :v%zu AND :high", name, i);
        else if (conditions[i].comparison == BEGINS_WITH)
            buf_printf(out, "begins_with(%s, :v%zu)", name, i);
        else
            buf_printf(out, "%s %s :v%zu", name, signs[conditions[i].comparison], i);
    }
    BUF_ADD_LITERAL(out, "\",\"ExpressionAttributeValues\":{");
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "%s\":v%zu\":", i > 0 ? "," : "", i);
        write_value(out, conditions[i].attribute, conditions[i].low);
    }
    if (conditions[count - 1].comparison == BETWEEN) {
        BUF_ADD_LITERAL(out, ",\":high\":");
        write_value(out, conditions[count - 1].attribute, conditions[count - 1].high);
    }
    BUF_ADD_LITERAL(out, "},");
}

/* Places of the index that fit, in its order. */
static size_t places_wanted(struct test *t, const struct index_case *index, const struct condition *conditions, size_t count, size_t *places)
{
    size_t found = 0;
    for (size_t place = 0; place < ITEMS; place++) {
        bool fits = index_has(t, index, place);
        for (size_t i = 0; i < count && fits; i++)
            fits = condition_fits(t, &conditions[i], text_of(t, place, conditions[i].attribute));
        if (!fits)
            continue;
        size_t at = found++;
        for (; at > 0 && compare_places(t, index, place, places[at - 1]) < 0; at--)
            places[at] = places[at - 1];
        places[at] = place;
    }
    return found;
}

static void check_query(struct test *t, const struct index_case *index)
{
    struct condition conditions[PARTS];
    size_t some = below(t, ITEMS), other = below(t, ITEMS), places[ITEMS];
    if (!index_has(t, index, some))
        return;
    size_t count = index->partition_count + below(t, index->part_count - index->partition_count + 1);
    for (size_t i = 0; i < count; i++)
        conditions[i] = (struct condition){.attribute = index->parts[i], .comparison = EQUAL, .low = text_of(t, some, index->parts[i])};
    if (count > index->partition_count)
        draw_range(t, &conditions[count - 1], other);
    size_t wanted = places_wanted(t, index, conditions, count, places);
    bool reverse = below(t, 2) == 0;
    struct buf members;
    struct reading reading;
    buf_open(&members, NULL, 0);
    write_conditions(&members, conditions, count);
    buf_printf(&members, "\"ScanIndexForward\":%s,", reverse ? "false" : "true");
    read_all(t, "Query", index, buf_str(&members), &reading);
    if (reading.count != wanted)
        print_error("%s: %.*s\n", index->name, STR_ARG(buf_str(&members)));
    assert_int_equal(reading.count, wanted);
    for (size_t i = 0; i < wanted; i++)
        assert_int_equal(reading.places[i], places[reverse ? wanted - 1 - i : i]);
    buf_free(&members);
    arena_reset(&t->arena);
}

static void indexes_answer_what_the_table_says(void **state)
{
    (void)state;
    struct test *t = malloc(sizeof *t);
    assert_non_null(t);
    for (uint64_t seed = 0; seed < 2; seed++) {
        test_open(t, seed);
        change_items(t);
        for (size_t i = 0; i < INDEXES; i++)
            check_scans(t, &indexes[i]);
        for (size_t round = 0; round < 600; round++)
            check_query(t, &indexes[round % INDEXES]);
        test_close(t);
    }
    free(t);
}

/* --- What a local index fetches --- */

static double units(const struct test *t, const char *arm)
{
    const struct json *json = &t->f.json;
    uint32_t consumed = json_member(json, json_member(json, 0, STR("ConsumedCapacity")), str_of_text(arm));
    if (consumed != JSON_ABSENT && json_member(json, consumed, STR("local-keys")) != JSON_ABSENT)
        consumed = json_member(json, consumed, STR("local-keys"));
    assert_true(consumed != JSON_ABSENT);
    return strtod(json_raw(json, json_member(json, consumed, STR("CapacityUnits"))).data, NULL);
}

static size_t count_answered(const struct test *t)
{
    return (size_t)wire_whole(&t->f.json, json_member(&t->f.json, 0, STR("Count")), -1);
}

static void put_large(struct test *t, int sort, size_t bytes)
{
    struct buf request;
    buf_open(&request, NULL, 0);
    buf_printf(&request, "{\"TableName\":\"rows\",\"Item\":{\"pk\":{\"S\":\"large\"},\"sk\":{\"S\":\"%03d\"},\"l\":{\"N\":\"%d\"},\"fat\":{\"S\":\"%0*d\"}}}", sort, sort,
               (int)bytes, 0);
    run(&t->f, "PutItem", buf_str(&request));
    buf_free(&request);
}

#define QUERY_LARGE                                                                                                                                           \
    "{\"TableName\":\"rows\",\"IndexName\":\"local-keys\",\"KeyConditionExpression\":\"pk = :p\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"large\"}},"     \
    "\"ReturnConsumedCapacity\":\"INDEXES\","

static void fetched_items_count_for_page_and_charge(void **state)
{
    (void)state;
    struct test *t = malloc(sizeof *t);
    assert_non_null(t);
    test_open(t, 1);
    for (int i = 0; i < 40; i++)
        put_large(t, i, 40000);
    run_text(&t->f, "Query", QUERY_LARGE "\"ConsistentRead\":true}");
    assert_int_equal(count_answered(t), 40);
    assert_true(json_member(&t->f.json, 0, STR("LastEvaluatedKey")) == JSON_ABSENT);
    assert_true(units(t, "Table") == 0 && units(t, "LocalSecondaryIndexes") == 1);
    /* Entries are small, but 27 items of 40,018 bytes reach a page's megabyte; each costs 10 units of its own. */
    run_text(&t->f, "Query", QUERY_LARGE "\"ConsistentRead\":true,\"ProjectionExpression\":\"fat\"}");
    assert_int_equal(count_answered(t), 27);
    assert_true(json_member(&t->f.json, 0, STR("LastEvaluatedKey")) != JSON_ABSENT);
    assert_true(units(t, "Table") == 270 && units(t, "LocalSecondaryIndexes") == 1);
    run_text(&t->f, "Query", QUERY_LARGE "\"Select\":\"ALL_ATTRIBUTES\",\"Limit\":3}");
    assert_int_equal(count_answered(t), 3);
    assert_true(units(t, "Table") == 15 && units(t, "LocalSecondaryIndexes") == 0.5);
    /* What is counted or projected is not fetched. */
    run_text(&t->f, "Query", QUERY_LARGE "\"Select\":\"COUNT\"}");
    assert_true(count_answered(t) == 40 && units(t, "Table") == 0);
    run_text(&t->f, "Query", QUERY_LARGE "\"ProjectionExpression\":\"l, sk\"}");
    assert_true(count_answered(t) == 40 && units(t, "Table") == 0);
    test_close(t);
    free(t);
}

/* Changes the item alone and leaves its entries behind, as a reader meets them whose item changes between its two reads. */
static void change_item_alone(struct test *t, enum edit_kind kind, const char *item_json)
{
    struct call *call = &t->f.call;
    const struct table *table;
    struct part_range *range;
    struct edit_outcome outcome;
    struct json json;
    struct buf item, key, key_item;
    assert_int_equal(table_acquire(call, t->f.service.catalog, STR("000000000000"), STR("us-east-1"), STR("rows"), &table), FAULT_NONE);
    buf_open(&item, &call->arena, 0);
    buf_open(&key, &call->arena, 0);
    buf_open(&key_item, &call->arena, 0);
    assert_true(json_parse(&call->arena, str_of_text(item_json), &json));
    assert_int_equal(item_read(call, &json, 0, &item), FAULT_NONE);
    assert_int_equal(key_of_item(call, &table->keys, buf_str(&item), false, &key), FAULT_NONE);
    key_item_of(&table->keys, buf_str(&item), &key_item);
    struct edit edit = {.kind = kind, .row_key = buf_str(&key), .key_item = buf_str(&key_item), .action = kind == EDIT_PUT ? buf_str(&item) : STR_NONE};
    assert_int_equal(part_range_acquire(call, t->f.service.part, table_range_of(table, buf_str(&key)), &range), FAULT_NONE);
    durable_wait_open(&call->durable, NULL, NULL);
    assert_int_equal(part_edit(call, range, &edit, &outcome), FAULT_NONE);
    while (durable_wait_is_pending(&call->durable))
        world_sleep_us(t->f.world, 1000);
    part_range_release(range);
    table_release(table);
}

static void an_item_that_changed_behind_its_entry_is_passed_over(void **state)
{
    (void)state;
    struct test *t = malloc(sizeof *t);
    assert_non_null(t);
    test_open(t, 2);
    for (int i = 4; i < 8; i++)
        put_large(t, i, 10);
    change_item_alone(t, EDIT_PUT, "{\"pk\":{\"S\":\"large\"},\"sk\":{\"S\":\"005\"},\"l\":{\"N\":\"1\"}}");
    change_item_alone(t, EDIT_PUT, "{\"pk\":{\"S\":\"large\"},\"sk\":{\"S\":\"006\"}}");
    change_item_alone(t, EDIT_DELETE, "{\"pk\":{\"S\":\"large\"},\"sk\":{\"S\":\"007\"}}");
    run_text(&t->f, "Query", QUERY_LARGE "\"ConsistentRead\":true}");
    assert_int_equal(count_answered(t), 4);
    run_text(&t->f, "Query", QUERY_LARGE "\"Select\":\"ALL_ATTRIBUTES\"}");
    assert_int_equal(count_answered(t), 1);
    assert_true(units(t, "Table") == 0.5);
    test_close(t);
    free(t);
}

/* --- Indexes that cannot be read --- */

static void set_status(struct test *t, size_t place, enum table_status status)
{
    const struct table *table, *made;
    struct call *call = &t->f.call;
    assert_int_equal(table_acquire(call, t->f.service.catalog, STR("000000000000"), STR("us-east-1"), STR("rows"), &table), FAULT_NONE);
    struct table *draft = table_draft_new(table);
    struct table_index *drafted = ARENA_NEW_ARRAY(&draft->arena, struct table_index, INDEXES);
    memcpy(drafted, table->indexes, INDEXES * sizeof *drafted);
    drafted[place].status = status;
    drafted[place].stage = status == TABLE_CREATING ? INDEX_COPYING : INDEX_KEPT;
    draft->indexes = drafted;
    table_release(table);
    assert_int_equal(table_replace(call, t->f.service.catalog, draft, &made), FAULT_NONE);
    table_release(made);
}

static void expect_refused(struct test *t, const char *message)
{
    assert_int_equal(fixture_try(&t->f, "Scan", STR("{\"TableName\":\"rows\",\"IndexName\":\"global\"}")), FAULT_VALIDATION);
    assert_true(str_equal(t->f.call.message, str_of_text(message)));
    assert_int_equal(fixture_try(&t->f, "Query",
                                 STR("{\"TableName\":\"rows\",\"IndexName\":\"global\",\"KeyConditionExpression\":\"g = :g\",\"ExpressionAttributeValues\":{\":g\":"
                                     "{\"S\":\"x\"}}}")),
                     FAULT_VALIDATION);
    assert_true(str_equal(t->f.call.message, str_of_text(message)));
}

static void an_index_that_is_being_made_or_deleted_is_refused(void **state)
{
    (void)state;
    struct test *t = malloc(sizeof *t);
    assert_non_null(t);
    test_open(t, 3);
    run_text(&t->f, "Scan", "{\"TableName\":\"rows\",\"IndexName\":\"global\"}");
    set_status(t, 2, TABLE_CREATING);
    expect_refused(t, "Cannot read from backfilling global secondary index: global");
    set_status(t, 2, TABLE_DELETING);
    expect_refused(t, "The table does not have the specified index: global");
    test_close(t);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_answer_what_the_table_says),
        cmocka_unit_test(fetched_items_count_for_page_and_charge),
        cmocka_unit_test(an_item_that_changed_behind_its_entry_is_passed_over),
        cmocka_unit_test(an_index_that_is_being_made_or_deleted_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
