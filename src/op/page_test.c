/* Query and Scan in process, on a table of several ranges, against a sorted list; and what a page costs in memory. */
#include "op/page_fixture_internal.h"

enum { PARTITIONS = 24, SORTS = 14, RANGES = 5, ROW_KEY_BYTES = 64 };

/* --- Rows --- */

struct row {
    char row_key[ROW_KEY_BYTES];
    size_t row_key_bytes;
    char partition[8];
    char sort[8];
    size_t sort_bytes;
};

static str row_key_of(const struct row *row)
{
    return str_of(row->row_key, row->row_key_bytes);
}

static int compare_rows(const void *a, const void *b)
{
    return str_compare(row_key_of(a), row_key_of(b));
}

static const struct key_schema schema = {{{"pk", 2}, VALUE_S}, {{"sk", 2}, VALUE_S}};

static str string_value(struct arena *arena, str text)
{
    struct buf out;
    buf_open(&out, arena, 0);
    value_write_scalar(&out, VALUE_S, text);
    return buf_str(&out);
}

/* Sort keys that are hard on encodings: bytes 00 and 01, the highest UTF-8 has, and such that begin others. */
static struct row *rows_new(void)
{
    static const struct {
        const char *text;
        size_t bytes;
    } sorts[SORTS] = {
        {"a", 1}, {"ab", 2}, {"a\0", 2}, {"a\0b", 3}, {"a\1", 2}, {"a\1\1", 3}, {"\0", 1}, {"\1", 1}, {"\1\1", 2}, {"b", 1}, {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf", 8}, {"a\xc3\xbf", 3}, {"~", 1},
    };
    struct row *rows = calloc(PARTITIONS * SORTS, sizeof *rows);
    assert_non_null(rows);
    struct arena arena;
    arena_open(&arena, NULL);
    for (size_t i = 0; i < PARTITIONS * SORTS; i++) {
        struct row *row = &rows[i];
        snprintf(row->partition, sizeof row->partition, "p%zu", i / SORTS);
        memcpy(row->sort, sorts[i % SORTS].text, sorts[i % SORTS].bytes);
        row->sort_bytes = sorts[i % SORTS].bytes;
        struct buf key;
        buf_open(&key, &arena, 0);
        key_encode(&schema, ROW_ITEM, string_value(&arena, str_of_text(row->partition)), string_value(&arena, str_of(row->sort, row->sort_bytes)), &key);
        assert_true(key.len <= ROW_KEY_BYTES);
        memcpy(row->row_key, key.data, key.len);
        row->row_key_bytes = key.len;
    }
    arena_close(&arena);
    qsort(rows, PARTITIONS * SORTS, sizeof *rows, compare_rows);
    return rows;
}

static void write_key(struct buf *out, const struct row *row)
{
    BUF_ADD_LITERAL(out, "\"pk\":{\"S\":");
    json_write_string(out, str_of_text(row->partition));
    BUF_ADD_LITERAL(out, "},\"sk\":{\"S\":");
    json_write_string(out, str_of(row->sort, row->sort_bytes));
    BUF_ADD_LITERAL(out, "}");
}

/* Cuts the table into ranges at hashes drawn from the world. */
static void cut_table(struct fixture *f)
{
    const struct table *table, *made;
    assert_int_equal(table_acquire(&f->call, f->service.catalog, STR("000000000000"), STR("us-east-1"), STR("rows"), &table), FAULT_NONE);
    struct table *draft = table_draft_new(table);
    draft->ranges = cut_ranges(f, &draft->arena, table->ranges[0].id, RANGES);
    draft->range_count = RANGES;
    assert_int_equal(table_replace(&f->call, f->service.catalog, draft, &made), FAULT_NONE);
    table_release(made);
    table_release(table);
}

static void put_rows(struct fixture *f, const struct row *rows, size_t count)
{
    run_text(f, "CreateTable",
        "{\"TableName\":\"rows\",\"BillingMode\":\"PAY_PER_REQUEST\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"sk\","
        "\"KeyType\":\"RANGE\"}],\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"},{\"AttributeName\":\"sk\",\"AttributeType\":\"S\"}]}");
    cut_table(f);
    for (size_t i = 0; i < count; i++) {
        struct buf request;
        buf_open(&request, NULL, 0);
        BUF_ADD_LITERAL(&request, "{\"TableName\":\"rows\",\"Item\":{");
        write_key(&request, &rows[i]);
        buf_printf(&request, ",\"n\":{\"N\":\"%zu\"}}}", i);
        run(f, "PutItem", buf_str(&request));
        buf_free(&request);
    }
}

/* --- Reading all pages of a request --- */

struct reading {
    size_t places[PARTITIONS * SORTS];
    size_t count;
};

/* Appends the places of the answer's items; false when there is no page behind it, else its start key is in *start. */
static bool take_page(struct fixture *f, struct reading *reading, size_t limit, struct buf *start)
{
    uint32_t items = json_member(&f->json, 0, STR("Items"));
    size_t count = 0;
    for (uint32_t i = json_first(&f->json, items); i < json_end(&f->json, items); i = json_next(&f->json, i), count++) {
        assert_true(reading->count < PARTITIONS * SORTS);
        str n = json_string(&f->json, json_member(&f->json, json_member(&f->json, i, STR("n")), STR("N")));
        reading->places[reading->count++] = strtoul(n.data, NULL, 10);
    }
    assert_int_equal(wire_whole(&f->json, json_member(&f->json, 0, STR("Count")), -1), count);
    assert_int_equal(wire_whole(&f->json, json_member(&f->json, 0, STR("ScannedCount")), -1), count);
    uint32_t last = json_member(&f->json, 0, STR("LastEvaluatedKey"));
    assert_true(count <= limit && (last == JSON_ABSENT || count == limit));
    start->len = 0;
    if (last != JSON_ABSENT)
        buf_add_str(start, json_raw(&f->json, last));
    return last != JSON_ABSENT;
}

/* `members` are the request's others, each with a comma behind it. */
static void read_all(struct fixture *f, const char *operation, str members, size_t limit, struct reading *reading)
{
    struct buf request, start;
    buf_open(&request, NULL, 0);
    buf_open(&start, NULL, 0);
    reading->count = 0;
    bool goes_on = true;
    while (goes_on) {
        request.len = 0;
        buf_printf(&request, "{%.*s", STR_ARG(members));
        if (start.len > 0)
            buf_printf(&request, "\"ExclusiveStartKey\":%.*s,", STR_ARG(buf_str(&start)));
        buf_printf(&request, "\"Limit\":%zu,\"TableName\":\"rows\"}", limit);
        run(f, operation, buf_str(&request));
        goes_on = take_page(f, reading, limit, &start);
    }
    buf_free(&request);
    buf_free(&start);
}

static void expect_places(const struct reading *reading, const size_t *places, size_t count)
{
    assert_int_equal(reading->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(reading->places[i], places[i]);
}

/* --- Scan --- */

static void check_segments(struct fixture *f, size_t count, size_t total)
{
    struct reading reading;
    size_t place = 0;
    for (size_t segment = 0; segment < total; segment++) {
        char members[96];
        snprintf(members, sizeof members, "\"Segment\":%zu,\"TotalSegments\":%zu,", segment, total);
        read_all(f, "Scan", str_of_text(members), 1 + world_random_below(f->world, 40), &reading);
        /* Segments are pieces of one order: what each brings follows what the one before it brought. */
        for (size_t i = 0; i < reading.count; i++)
            assert_int_equal(reading.places[i], place++);
    }
    assert_int_equal(place, count);
}

static void a_scan_walks_all_ranges_in_order_and_segments_share_it(void **state)
{
    (void)state;
    struct row *rows = rows_new();
    size_t count = PARTITIONS * SORTS;
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct fixture f;
        fixture_open(&f, seed, seed % 2 ? STORE_MANNERS_RADOS : STORE_MANNERS_PLAIN);
        fixture_start(&f);
        put_rows(&f, rows, count);
        static const size_t totals[] = {1, 2, 3, 7, 64};
        for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++)
            check_segments(&f, count, totals[i]);
        struct reading reading;
        read_all(&f, "Scan", STR(""), 1, &reading);
        assert_int_equal(reading.count, count);
        fixture_close(&f);
    }
    free(rows);
}

/* --- Query --- */

static const char *const comparisons[] = {"=", "<", "<=", ">", ">=", "BETWEEN", "begins_with", ""};
enum { COMPARISONS = sizeof comparisons / sizeof comparisons[0] };

static str sort_of(const struct row *row)
{
    return str_of(row->sort, row->sort_bytes);
}

static bool row_matches(const struct row *row, size_t comparison, str low, str high)
{
    int order = str_compare(sort_of(row), low);
    switch (comparison) {
    case 0:
        return order == 0;
    case 1:
        return order < 0;
    case 2:
        return order <= 0;
    case 3:
        return order > 0;
    case 4:
        return order >= 0;
    case 5:
        return order >= 0 && str_compare(sort_of(row), high) <= 0;
    case 6:
        return str_begins(sort_of(row), low);
    default:
        return true;
    }
}

static void write_query(struct buf *members, const char *partition, size_t comparison, str low, str high, bool reverse)
{
    members->len = 0;
    BUF_ADD_LITERAL(members, "\"KeyConditionExpression\":\"pk = :p");
    const char *name = comparisons[comparison];
    if (comparison == 5)
        BUF_ADD_LITERAL(members, " AND sk BETWEEN :a AND :b");
    else if (comparison == 6)
        BUF_ADD_LITERAL(members, " AND begins_with(sk, :a)");
    else if (comparison < 5)
        buf_printf(members, " AND sk %s :a", name);
    buf_printf(members, "\",\"ScanIndexForward\":%s,\"ExpressionAttributeValues\":{\":p\":{\"S\":\"%s\"}", reverse ? "false" : "true", partition);
    if (comparison < 7) {
        BUF_ADD_LITERAL(members, ",\":a\":{\"S\":");
        json_write_string(members, low);
        buf_add_byte(members, '}');
    }
    if (comparison == 5) {
        BUF_ADD_LITERAL(members, ",\":b\":{\"S\":");
        json_write_string(members, high);
        buf_add_byte(members, '}');
    }
    BUF_ADD_LITERAL(members, "},");
}

static void check_query(struct fixture *f, const struct row *rows, size_t count)
{
    const struct row *some = &rows[world_random_below(f->world, count)], *other = &rows[world_random_below(f->world, count)];
    size_t comparison = world_random_below(f->world, COMPARISONS), places[PARTITIONS * SORTS], matching = 0;
    bool reverse = world_random_below(f->world, 2);
    str low = sort_of(some), high = sort_of(other);
    if (str_compare(low, high) > 0) {
        low = sort_of(other);
        high = sort_of(some);
    }
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[reverse ? count - 1 - i : i];
        if (strcmp(row->partition, some->partition) == 0 && row_matches(row, comparison, low, high))
            places[matching++] = (size_t)(row - rows);
    }
    struct buf members;
    struct reading reading;
    buf_open(&members, NULL, 0);
    write_query(&members, some->partition, comparison, low, high, reverse);
    read_all(f, "Query", buf_str(&members), 1 + world_random_below(f->world, 20), &reading);
    expect_places(&reading, places, matching);
    buf_free(&members);
}

static void a_query_finds_what_its_condition_says_in_both_directions(void **state)
{
    (void)state;
    struct row *rows = rows_new();
    size_t count = PARTITIONS * SORTS;
    for (uint64_t seed = 0; seed < 2; seed++) {
        struct fixture f;
        fixture_open(&f, seed, seed % 2 ? STORE_MANNERS_RADOS : STORE_MANNERS_PLAIN);
        fixture_start(&f);
        put_rows(&f, rows, count);
        for (int round = 0; round < 400; round++)
            check_query(&f, rows, count);
        fixture_close(&f);
    }
    free(rows);
}

/* --- Memory --- */

/* Looks on while others run. */
struct sampler {
    struct fixture *f;
    size_t peak_bytes, samples;
    bool is_over;
};

static void sample(void *argument)
{
    struct sampler *sampler = argument;
    while (!sampler->is_over) {
        size_t used = atomic_load(&sampler->f->budget.used_bytes);
        sampler->peak_bytes = used > sampler->peak_bytes ? used : sampler->peak_bytes;
        sampler->samples++;
        world_sleep_us(sampler->f->world, 1);
    }
}

/* Runs the request many times and returns the most memory that it was seen to hold. */
static size_t peak_of(struct fixture *f, const char *operation, const char *request)
{
    struct sampler sampler = {.f = f};
    struct world_thread *thread = world_thread_start(f->world, "sampler", sample, &sampler);
    for (int round = 0; round < 50; round++)
        run_text(f, operation, request);
    sampler.is_over = true;
    world_thread_join(f->world, thread);
    return sampler.peak_bytes;
}

/* All pages of a count of the whole table. */
static int64_t count_all(struct fixture *f)
{
    struct buf request;
    int64_t count = 0;
    str start = STR("null");
    buf_open(&request, NULL, 0);
    while (start.len > 0) {
        request.len = 0;
        buf_printf(&request, "{\"TableName\":\"rows\",\"Select\":\"COUNT\",\"ExclusiveStartKey\":%.*s}", STR_ARG(start));
        run(f, "Scan", buf_str(&request));
        count += wire_whole(&f->json, json_member(&f->json, 0, STR("Count")), -1);
        uint32_t last = json_member(&f->json, 0, STR("LastEvaluatedKey"));
        start = last == JSON_ABSENT ? STR_NONE : json_raw(&f->json, last);
    }
    buf_free(&request);
    return count;
}

static void a_page_of_a_megabyte_needs_little_memory_beside_its_answer(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, 1, STORE_MANNERS_RADOS);
    fixture_start(&f);
    put_rows(&f, NULL, 0);
    char pad[40001];
    memset(pad, 'x', sizeof pad - 1);
    pad[sizeof pad - 1] = 0;
    for (int i = 0; i < 60; i++) {
        struct buf request;
        buf_open(&request, NULL, 0);
        buf_printf(&request, "{\"TableName\":\"rows\",\"Item\":{\"pk\":{\"S\":\"p\"},\"sk\":{\"S\":\"%03d\"},\"filling\":{\"S\":\"%s\"}}}", i, pad);
        run(&f, "PutItem", buf_str(&request));
        buf_free(&request);
    }
    size_t peak = peak_of(&f, "Scan", "{\"TableName\":\"rows\",\"Select\":\"COUNT\",\"ReturnConsumedCapacity\":\"TOTAL\"}");
    /* 27 items of 40,015 bytes reach 1 MB. */
    assert_int_equal(wire_whole(&f.json, json_member(&f.json, 0, STR("Count")), -1), 27);
    uint32_t capacity = json_member(&f.json, 0, STR("ConsumedCapacity"));
    assert_true(str_equal(json_raw(&f.json, json_member(&f.json, capacity, STR("CapacityUnits"))), STR("132")));
    assert_true(peak > 200 << 10 && peak < 700 << 10 && f.call.arena.held_bytes < 64 << 10);
    peak = peak_of(&f, "Query",
        "{\"TableName\":\"rows\",\"KeyConditionExpression\":\"pk = :p\",\"FilterExpression\":\"filling = :x\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"p\"},"
        "\":x\":{\"S\":\"x\"}},\"ScanIndexForward\":false}");
    assert_int_equal(wire_whole(&f.json, json_member(&f.json, 0, STR("Count")), -1), 0);
    assert_int_equal(wire_whole(&f.json, json_member(&f.json, 0, STR("ScannedCount")), -1), 27);
    /* Steps inside a page neither leave out nor double what is between them. */
    assert_int_equal(count_all(&f), 60);
    /* An engine that lists forward only keeps two more pages. */
    assert_true(peak < 1200 << 10);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scan_walks_all_ranges_in_order_and_segments_share_it),
        cmocka_unit_test(a_query_finds_what_its_condition_says_in_both_directions),
        cmocka_unit_test(a_page_of_a_megabyte_needs_little_memory_beside_its_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
