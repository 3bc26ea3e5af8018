/* Tests of local indexes: what a change of an item changes in them, that their rows are what the items say whatever happens meanwhile, that readers see no
   row that is not durable, and the sizes of item collections with their limit. In the simulated world. */
#include "part/fixture_internal.h"

enum { PARTITIONS = 2, SORTS = 4, KEYS = PARTITIONS * SORTS, INDEXES = 3, WRITERS = 4, WRITES = 60 };

static const struct key_schema table_keys = {{{"pk", 2}, VALUE_S}, {{"sk", 2}, VALUE_S}};
static const str included[] = {{"pad", 3}, {"extra", 5}};

/* Places with a gap between them: a place is a name, and no count. */
static const struct index_schema indexes[INDEXES] = {
    {.table = &table_keys, .is_local = true, .local_place = 0, .partition = {{{"pk", 2}, VALUE_S}}, .partition_count = 1, .sort = {{{"n", 1}, VALUE_N}}, .sort_count = 1},
    {.table = &table_keys, .is_local = true, .local_place = 1, .partition = {{{"pk", 2}, VALUE_S}}, .partition_count = 1, .sort = {{{"s", 1}, VALUE_S}}, .sort_count = 1,
     .projects_all = true},
    {.table = &table_keys, .is_local = true, .local_place = 3, .partition = {{{"pk", 2}, VALUE_S}}, .partition_count = 1, .sort = {{{"t", 1}, VALUE_S}}, .sort_count = 1,
     .non_key_attributes = included, .non_key_attribute_count = 2},
};

static str text_value(struct arena *arena, const char *text)
{
    struct buf out;
    buf_open(&out, arena, 0);
    value_write_scalar(&out, VALUE_S, str_of_text(text));
    return buf_str(&out);
}

static str number_value(struct arena *arena, int64_t value)
{
    struct number ordered;
    struct buf out;
    buf_open(&out, arena, 0);
    number_from_i64(value, &ordered);
    value_write_scalar(&out, VALUE_N, number_str(&ordered));
    return buf_str(&out);
}

/* What an item of the tests has; NULL and negative: no such attribute. */
struct looks {
    const char *pk, *sk;
    int64_t n;
    const char *s, *t, *pad, *note;
};

static str item_of(struct arena *arena, const struct looks *looks)
{
    struct attribute attributes[7];
    size_t count = 0;
    attributes[count++] = (struct attribute){STR("pk"), text_value(arena, looks->pk)};
    attributes[count++] = (struct attribute){STR("sk"), text_value(arena, looks->sk)};
    if (looks->n >= 0)
        attributes[count++] = (struct attribute){STR("n"), number_value(arena, looks->n)};
    if (looks->s)
        attributes[count++] = (struct attribute){STR("s"), text_value(arena, looks->s)};
    if (looks->t)
        attributes[count++] = (struct attribute){STR("t"), text_value(arena, looks->t)};
    if (looks->pad)
        attributes[count++] = (struct attribute){STR("pad"), text_value(arena, looks->pad)};
    if (looks->note)
        attributes[count++] = (struct attribute){STR("note"), text_value(arena, looks->note)};
    struct buf out;
    buf_open(&out, arena, 0);
    item_write(&out, attributes, count);
    return buf_str(&out);
}

static struct edit edit_of(struct call *call, enum edit_kind kind, const struct looks *looks)
{
    struct buf row_key, key_item;
    str item = item_of(&call->arena, looks);
    buf_open(&row_key, &call->arena, 0);
    buf_open(&key_item, &call->arena, 0);
    assert_int_equal(key_of_item(call, &table_keys, item, false, &row_key), FAULT_NONE);
    key_item_of(&table_keys, item, &key_item);
    return (struct edit){.kind = kind, .row_key = buf_str(&row_key), .key_item = buf_str(&key_item), .action = kind == EDIT_PUT ? item : STR_NONE,
                         .local_indexes = indexes, .local_index_count = INDEXES};
}

/* --- The pure function --- */

static struct local_changes changes_of(struct call *call, const struct looks *before, const struct looks *after)
{
    struct looks key = before ? *before : *after;
    struct edit edit = edit_of(call, after ? EDIT_PUT : EDIT_DELETE, after ? after : &key);
    struct stored stored = {0};
    struct edit_outcome outcome;
    struct local_changes changes;
    if (before) {
        stored = (struct stored){.stamp = 7, .item = item_of(&call->arena, before)};
        stored.size = (uint32_t)item_size(stored.item);
    }
    assert_int_equal(edit_apply(call, &edit, before != NULL, &stored, &outcome), FAULT_NONE);
    local_index_changes(&call->arena, &edit, &outcome, &changes);
    for (size_t i = 0; i < changes.count; i++) {
        assert_int_equal(changes.rows[i].key.data[0], ROW_LOCAL_INDEX);
        if (changes.rows[i].before.item.data)
            assert_int_equal(changes.rows[i].before.stamp, 7);
    }
    return changes;
}

static void a_change_changes_the_entries_that_differ(void **state)
{
    (void)state;
    struct call call;
    call_open(&call, NULL, NULL);
    struct looks none = {.pk = "p", .sk = "a", .n = -1}, all = {.pk = "p", .sk = "a", .n = 5, .s = "x", .t = "y", .pad = "pppp", .note = "n"};
    size_t item = 2 + 1 + 2 + 1 + 1 + 2 + 1 + 1 + 1 + 1 + 3 + 4 + 4 + 1; /* pk sk n s t pad note */
    size_t by_n = 2 + 1 + 2 + 1 + 1 + 2, by_t = 2 + 1 + 2 + 1 + 1 + 1 + 3 + 4;
    struct local_changes changes = changes_of(&call, NULL, &none);
    assert_int_equal(changes.count, 0);
    assert_int_equal(changes.bytes_before, 0);
    assert_int_equal(changes.bytes_after, 6);
    changes = changes_of(&call, &none, &all);
    assert_int_equal(changes.count, 3);
    assert_int_equal(changes.bytes_before, 6);
    assert_int_equal(changes.bytes_after, item + by_n + item + by_t);
    for (size_t i = 0; i < changes.count; i++) {
        assert_null(changes.rows[i].before.item.data);
        assert_true(item_is_valid(changes.rows[i].after.item));
        assert_int_equal(changes.rows[i].key.data[1], "ABD"[i]);
    }
    assert_int_equal(changes.rows[0].after.size, by_n);
    assert_int_equal(changes.rows[1].after.size, item);
    assert_int_equal(changes.rows[2].after.size, by_t);
    assert_int_equal(item_get(changes.rows[2].after.item, STR("note")).len, 0);
    assert_true(item_get(changes.rows[2].after.item, STR("pad")).len > 0);
    /* Only the index that keeps all sees the note. */
    struct looks other_note = all;
    other_note.note = "m";
    changes = changes_of(&call, &all, &other_note);
    assert_int_equal(changes.count, 1);
    assert_int_equal(changes.rows[0].key.data[1], 'B');
    assert_true(changes.rows[0].before.item.data && changes.rows[0].after.item.data);
    /* A key that moves is a row less and a row more. */
    struct looks moved = all;
    moved.t = "z";
    changes = changes_of(&call, &all, &moved);
    assert_int_equal(changes.count, 3); /* B changes, D is deleted and put */
    assert_true(changes.rows[1].before.item.data && !changes.rows[1].after.item.data);
    assert_true(!changes.rows[2].before.item.data && changes.rows[2].after.item.data);
    assert_false(str_equal(changes.rows[1].key, changes.rows[2].key));
    changes = changes_of(&call, &all, NULL);
    assert_int_equal(changes.count, 3);
    assert_int_equal(changes.bytes_after, 0);
    for (size_t i = 0; i < changes.count; i++)
        assert_null(changes.rows[i].after.item.data);
    call_close(&call);
}

static void an_edit_travels_with_its_indexes(void **state)
{
    (void)state;
    struct call call;
    call_open(&call, NULL, NULL);
    struct looks looks = {.pk = "p", .sk = "a", .n = 5, .s = "x"};
    for (int kind = EDIT_PUT; kind <= EDIT_CHECK; kind++) {
        struct edit edit = edit_of(&call, (enum edit_kind)kind, &looks), back;
        if (kind == EDIT_UPDATE)
            edit.action = fixture_program(&call, EXPR_UPDATE, "SET n = :v", "{\":v\":{\"N\":\"7\"}}");
        struct buf bytes, again;
        buf_open(&bytes, &call.arena, 0);
        buf_open(&again, &call.arena, 0);
        edit_encode(&edit, &bytes);
        assert_true(edit_decode(&call.arena, buf_str(&bytes), &back));
        assert_int_equal(back.local_index_count, INDEXES);
        edit_encode(&back, &again);
        assert_true(str_equal(buf_str(&bytes), buf_str(&again)));
        for (size_t cut = 0; cut < bytes.len; cut++) {
            char *exact = malloc(cut + 1);
            memcpy(exact, bytes.data, cut);
            assert_false(edit_decode(&call.arena, str_of(exact, cut), &back));
            free(exact);
        }
    }
    call_close(&call);
}

/* They are part of the data format. */
static void the_encodings_have_their_bytes(void **state)
{
    (void)state;
    struct call call;
    struct buf out;
    call_open(&call, NULL, NULL);
    struct edit edit = edit_of(&call, EDIT_DELETE, &(struct looks){.pk = "p", .sk = "a", .n = -1});
    edit.local_indexes = &indexes[1];
    edit.local_index_count = 2;
    buf_open(&out, &call.arena, 0);
    edit_encode(&edit, &out);
    str encoded = buf_str(&out);
    static const char golden[] = "\0" /* no index keys */
                                 "\x02\x02pk\x01\x02sk\x01"
                                 "\x01\x01s\x01\x01\0"
                                 "\x03\x01t\x01\0\x02\x03pad\x05" "extra";
    assert_int_equal(encoded.data[2], 2);
    assert_true(encoded.len > sizeof golden);
    assert_memory_equal(encoded.data + encoded.len - (sizeof golden - 1), golden, sizeof golden - 1);
    str key = local_collection_key(&call.arena, &edit);
    struct buf expected;
    buf_open(&expected, &call.arena, 0);
    key_encode_partition(&table_keys, ROW_COLLECTION, text_value(&call.arena, "p"), &expected);
    assert_true(str_equal(key, buf_str(&expected)));
    assert_int_equal(key.data[0], 'c');
    buf_open(&out, &call.arena, 0);
    collection_write(300, &out);
    assert_true(str_equal(buf_str(&out), STR("\x01\xac\x02")));
    uint64_t bytes;
    for (size_t cut = 0; cut < out.len; cut++)
        assert_false(collection_read(str_of(out.data, cut), &bytes));
    out.data[0]++;
    assert_false(collection_read(buf_str(&out), &bytes));
    call_close(&call);
}

/* Each refused: what would make entries of another item, or none that can be made. */
static void indexes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct call call;
    call_open(&call, NULL, NULL);
    struct looks looks = {.pk = "p", .sk = "a", .n = 5}, other = {.pk = "p", .sk = "b", .n = 5};
    struct edit good = edit_of(&call, EDIT_PUT, &looks), back, bad[5];
    struct key_schema renamed = {{{"pk", 2}, VALUE_S}, {{"zk", 2}, VALUE_S}}, retyped = {{{"pk", 2}, VALUE_S}, {{"sk", 2}, VALUE_B}};
    struct index_schema turned[2] = {indexes[1], indexes[0]}, of_renamed = indexes[0], of_retyped = indexes[0];
    of_renamed.table = &renamed;
    of_retyped.table = &retyped;
    for (size_t i = 0; i < 5; i++)
        bad[i] = good;
    bad[0].action = item_of(&call.arena, &other);
    bad[1].row_key = edit_of(&call, EDIT_PUT, &other).row_key;
    bad[2].local_indexes = &of_renamed;
    bad[3].local_indexes = &of_retyped;
    bad[2].local_index_count = bad[3].local_index_count = 1;
    bad[4].local_indexes = turned;
    bad[4].local_index_count = 2;
    for (size_t i = 0; i < 7; i++) {
        struct buf bytes;
        buf_open(&bytes, &call.arena, 0);
        struct edit edit = i < 5 ? bad[i] : edit_of(&call, EDIT_UPDATE, &looks);
        if (i == 5)
            edit.action = fixture_program(&call, EXPR_UPDATE, "SET sk = :v", "{\":v\":{\"S\":\"b\"}}");
        if (i == 6)
            edit = good;
        edit_encode(&edit, &bytes);
        assert_int_equal(edit_decode(&call.arena, buf_str(&bytes), &back), i == 6);
    }
    call_close(&call);
}

static void damaged_bytes_never_crash(void **state)
{
    (void)state;
    struct call call;
    call_open(&call, NULL, NULL);
    struct looks looks = {.pk = "p", .sk = "a", .n = 5, .s = "x", .t = "y"};
    struct edit edit = edit_of(&call, EDIT_PUT, &looks), back;
    struct buf bytes;
    buf_open(&bytes, &call.arena, 0);
    edit_encode(&edit, &bytes);
    for (size_t at = 0; at < bytes.len; at++) {
        for (int change = 1; change < 256; change += 5) {
            struct call inner;
            struct edit_outcome outcome;
            struct local_changes changes;
            call_open(&inner, NULL, NULL);
            char *exact = malloc(bytes.len);
            memcpy(exact, bytes.data, bytes.len);
            exact[at] = (char)(exact[at] ^ change);
            if (edit_decode(&inner.arena, str_of(exact, bytes.len), &back) && back.local_index_count > 0 &&
                edit_apply(&inner, &back, false, NULL, &outcome) == FAULT_NONE)
                local_index_changes(&inner.arena, &back, &outcome, &changes);
            free(exact);
            call_close(&inner);
        }
    }
    call_close(&call);
}

/* --- Rows --- */

static void scan_all(struct call *call, struct part_range *range, const char *lower, const char *upper, struct part_page *page)
{
    struct part_scan scan = {.lower = str_of_text(lower), .upper = str_of_text(upper), .rows_max = 1000, .bytes_max = UINT64_MAX};
    assert_int_equal(part_scan(call, range, &scan, &call->arena, page), FAULT_NONE);
    assert_false(page->has_more);
}

static int compare_rows(const void *a, const void *b)
{
    return str_compare(((const struct part_row *)a)->key, ((const struct part_row *)b)->key);
}

/* When nothing is pending: entries, counts and sizes of collections are what the items say. Entries are made here a second time, of model/index alone. */
static void check_rows(struct fixture *f)
{
    struct call call;
    call_open(&call, f->world, NULL);
    struct part_page items, entries;
    struct part_range_counts counts;
    scan_all(&call, f->range, "i", "j", &items);
    scan_all(&call, f->range, "k", "l", &entries);
    struct part_row *expected = ARENA_NEW_ARRAY(&call.arena, struct part_row, items.count * INDEXES);
    uint64_t sizes[PARTITIONS] = {0}, bytes = 0;
    size_t count = 0;
    for (size_t i = 0; i < items.count; i++) {
        const struct stored *stored = &items.rows[i].stored;
        uint64_t *size = &sizes[value_scalar(item_get(stored->item, STR("pk"))).data[1] - '0'];
        bytes += stored->size;
        *size += stored->size;
        for (size_t index = 0; index < INDEXES; index++) {
            struct buf key, kept;
            if (!index_holds(&indexes[index], stored->item))
                continue;
            buf_open(&key, &call.arena, 0);
            buf_open(&kept, &call.arena, 0);
            index_row_key(&indexes[index], stored->item, &key);
            index_project(&indexes[index], stored->item, &call.arena, &kept);
            expected[count] = (struct part_row){buf_str(&key), {stored->stamp, (uint32_t)item_size(buf_str(&kept)), buf_str(&kept)}};
            *size += expected[count++].stored.size;
        }
    }
    qsort(expected, count, sizeof *expected, compare_rows);
    assert_int_equal(entries.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct part_row *row = &entries.rows[i];
        assert_true(str_equal(row->key, expected[i].key) && str_equal(row->stored.item, expected[i].stored.item));
        assert_int_equal(row->stored.size, expected[i].stored.size);
        assert_true(row->stored.stamp > 0 && row->stored.stamp <= expected[i].stored.stamp);
        if (row->key.data[1] == 'B') /* keeps all: changes with every change */
            assert_true(row->stored.stamp == expected[i].stored.stamp);
    }
    part_range_count(f->range, &counts);
    assert_int_equal(counts.items, items.count);
    assert_int_equal(counts.bytes, bytes);
    for (int partition = 0; partition < PARTITIONS; partition++) {
        char name[] = {'p', (char)('0' + partition), 0};
        str row;
        uint64_t size = 0;
        struct edit edit = edit_of(&call, EDIT_CHECK, &(struct looks){.pk = name, .sk = "s", .n = -1});
        enum store_result result = store_get(f->range->store, local_collection_key(&call.arena, &edit), &call.arena, &row);
        assert_int_equal(result, sizes[partition] > 0 ? STORE_OK : STORE_ABSENT);
        assert_true(result == STORE_ABSENT || collection_read(row, &size));
        assert_int_equal(size, sizes[partition]);
    }
    call_close(&call);
}

static struct edit random_edit(struct call *call, struct world *world)
{
    static const char *const pks[] = {"p0", "p1"}, *const sks[] = {"s0", "s1", "s2", "s3"}, *const values[] = {NULL, "a", "b", "c"};
    struct looks looks = {
        .pk = pks[world_random_below(world, PARTITIONS)],
        .sk = sks[world_random_below(world, SORTS)],
        .n = (int64_t)world_random_below(world, 4) - 1,
        .s = values[world_random_below(world, 4)],
        .t = values[world_random_below(world, 4)],
        .pad = values[world_random_below(world, 4)],
        .note = values[world_random_below(world, 4)],
    };
    uint64_t kind = world_random_below(world, 10);
    struct edit edit = edit_of(call, kind < 5 ? EDIT_PUT : kind < 8 ? EDIT_UPDATE : EDIT_DELETE, &looks);
    static const char *const updates[] = {"SET note = :v", "SET s = :v", "REMOVE t", "SET t = :v, s = :v", "REMOVE s, t, n"};
    if (edit.kind == EDIT_UPDATE) {
        const char *update = updates[world_random_below(world, 5)];
        bool has_value = strchr(update, ':');
        edit.action = fixture_program(call, EXPR_UPDATE, update, !has_value ? NULL : world_random_below(world, 2) ? "{\":v\":{\"S\":\"d\"}}" : "{\":v\":{\"S\":\"e\"}}");
    }
    return edit;
}

static void one_at_a_time_the_rows_follow(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct fixture f;
        fixture_open(&f, seed, seed % 2 ? STORE_MANNERS_RADOS : STORE_MANNERS_PLAIN);
        for (int i = 0; i < 150; i++) {
            struct client client;
            struct edit_outcome outcome;
            client_open(&client, f.world);
            struct edit edit = random_edit(&client.call, f.world);
            assert_int_equal(fixture_run(&f, &edit, &client, &outcome), FAULT_NONE);
            client_close(&client);
            check_rows(&f);
        }
        fixture_close(&f);
    }
}

/* Many changes of few items are pending in several groups when the store crashes; what is there then is whole. */
static void after_a_crash_the_rows_are_what_the_items_say(void **state)
{
    (void)state;
    enum { CALLS = 40, LIVES = 3 };
    for (uint64_t seed = 0; seed < 120; seed++) {
        struct fixture f;
        struct client *clients = calloc(CALLS, sizeof *clients);
        fixture_open(&f, seed, seed % 2 ? STORE_MANNERS_RADOS : STORE_MANNERS_PLAIN);
        for (int life = 0; life < LIVES; life++) {
            size_t awaited = world_random_below(f.world, CALLS);
            store_mem_set_faults(f.store, &(struct store_mem_faults){.lost_reply = seed % 3 == 0 ? 500 : 0, .slow = 3000});
            for (size_t i = 0; i < CALLS; i++) {
                struct edit_outcome outcome;
                client_open(&clients[i], f.world);
                struct edit edit = random_edit(&clients[i].call, f.world);
                assert_int_equal(part_edit(&clients[i].call, f.range, &edit, &outcome), FAULT_NONE);
                if (i == awaited)
                    assert_int_equal(client_await(&clients[i]), FAULT_NONE);
            }
            part_range_release(f.range);
            part_halt(f.part);
            store_mem_crash(f.store);
            part_abandon(f.part);
            for (size_t i = 0; i < CALLS; i++)
                client_close(&clients[i]);
            fixture_part_open(&f);
            check_rows(&f);
        }
        fixture_close(&f);
        free(clients);
    }
}

struct writer {
    struct fixture *f;
    int faults;
    atomic_bool *is_over;
};

static void write_at_random(void *argument)
{
    struct writer *writer = argument;
    for (int i = 0; i < WRITES; i++) {
        struct client client;
        struct edit_outcome outcome;
        client_open(&client, writer->f->world);
        struct edit edit = random_edit(&client.call, writer->f->world);
        writer->faults += fixture_run(writer->f, &edit, &client, &outcome) != FAULT_NONE;
        client_close(&client);
    }
}

/* Without a cache every edit reads the store, while others write. */
static void reopen_without_cache(struct fixture *f)
{
    struct part_options options = {.store = f->store, .world = f->world};
    struct call call;
    fixture_part_close(f);
    f->part = part_open(&options);
    call_open(&call, f->world, NULL);
    assert_int_equal(part_range_acquire(&call, f->part, f->id, &f->range), FAULT_NONE);
    call_close(&call);
}

/* One item that never leaves the index goes from one index key to the next. */
static void move_on(void *argument)
{
    struct writer *writer = argument;
    for (int i = 0; i < WRITES; i++) {
        struct client client;
        struct edit_outcome outcome;
        client_open(&client, writer->f->world);
        struct edit edit = edit_of(&client.call, EDIT_PUT, &(struct looks){.pk = "p0", .sk = "mover", .n = -1, .s = (const char *[]){"a", "b", "c"}[i % 3], .t = "t"});
        writer->faults += fixture_run(writer->f, &edit, &client, &outcome) != FAULT_NONE;
        client_close(&client);
    }
}

/* Whatever is pending: a row seen is the entry of the item in it, and the item that never leaves is seen. */
static void scan_on(void *argument)
{
    struct writer *reader = argument;
    while (!atomic_load(reader->is_over)) {
        struct call call;
        struct part_page page;
        call_open(&call, reader->f->world, NULL);
        bool found = false;
        struct part_scan scan = {.lower = STR("k"), .upper = STR("l"), .rows_max = 1000, .bytes_max = UINT64_MAX, .reverse = world_random_below(reader->f->world, 2)};
        if (part_scan(&call, reader->f->range, &scan, &call.arena, &page) != FAULT_NONE) {
            reader->faults++;
            page.count = 0;
            found = true;
        }
        for (size_t i = 0; i < page.count; i++) {
            const struct part_row *row = &page.rows[i];
            struct buf key;
            buf_open(&key, &call.arena, 0);
            size_t place = (size_t)(row->key.data[1] - 'A');
            index_row_key(&indexes[place == 3 ? 2 : place], row->stored.item, &key);
            reader->faults += !str_equal(buf_str(&key), row->key) || row->stored.size != item_size(row->stored.item);
            found |= place == 1 && str_equal(value_scalar(item_get(row->stored.item, STR("sk"))), STR("mover"));
        }
        reader->faults += !found;
        call_close(&call);
        world_sleep_us(reader->f->world, 300);
    }
}

static void write_and_read_at_once(struct fixture *f)
{
    struct writer writers[WRITERS + 2];
    struct world_thread *threads[WRITERS + 2];
    atomic_bool is_over = false;
    struct client client;
    struct edit_outcome outcome;
    client_open(&client, f->world);
    struct edit edit = edit_of(&client.call, EDIT_PUT, &(struct looks){.pk = "p0", .sk = "mover", .n = -1, .s = "a"});
    assert_int_equal(fixture_run(f, &edit, &client, &outcome), FAULT_NONE);
    client_close(&client);
    for (int i = 0; i < WRITERS + 2; i++) {
        writers[i] = (struct writer){.f = f, .is_over = &is_over};
        threads[i] = world_thread_start(f->world, "local index", i < WRITERS ? write_at_random : i == WRITERS ? move_on : scan_on, &writers[i]);
    }
    for (int i = 0; i <= WRITERS; i++)
        world_thread_join(f->world, threads[i]);
    atomic_store(&is_over, true);
    world_thread_join(f->world, threads[WRITERS + 1]);
    for (int i = 0; i < WRITERS + 2; i++)
        assert_int_equal(writers[i].faults, 0);
    check_rows(f);
}

static void writers_and_readers_at_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        struct fixture f;
        fixture_open(&f, seed, seed % 2 ? STORE_MANNERS_RADOS : STORE_MANNERS_PLAIN);
        if (seed % 4 >= 2)
            reopen_without_cache(&f);
        store_mem_set_faults(f.store, &(struct store_mem_faults){.lost_reply = seed % 3 == 0 ? 300 : 0, .slow = 1000});
        write_and_read_at_once(&f);
        fixture_part_close(&f);
        fixture_part_open(&f);
        check_rows(&f);
        fixture_close(&f);
    }
}

/* For the thread sanitizer. */
static void writers_and_readers_at_once_in_the_real_world(void **state)
{
    (void)state;
    for (int manners = STORE_MANNERS_PLAIN; manners <= STORE_MANNERS_RADOS; manners++) {
        struct store_mem_options options = {.manners = (enum store_manners)manners};
        struct fixture f = {.world = world_real_new(), .id = {{1, 2, 3}}};
        f.store = store_mem_new(f.world, &options);
        fixture_part_open(&f);
        write_and_read_at_once(&f);
        fixture_close(&f);
    }
}

/* What readers see of an entry while its change is pending is what was there before. */
static void a_pending_entry_is_not_seen(void **state)
{
    (void)state;
    struct fixture f;
    struct client first, second;
    struct edit_outcome outcome;
    struct part_page page;
    struct call call;
    fixture_open(&f, 3, STORE_MANNERS_RADOS);
    client_open(&first, f.world);
    struct edit edit = edit_of(&first.call, EDIT_PUT, &(struct looks){.pk = "p0", .sk = "a", .n = 1, .s = "old", .t = "t"});
    assert_int_equal(fixture_run(&f, &edit, &first, &outcome), FAULT_NONE);
    store_mem_set_faults(f.store, &(struct store_mem_faults){.slow = 10000});
    client_open(&second, f.world);
    edit = edit_of(&second.call, EDIT_PUT, &(struct looks){.pk = "p0", .sk = "a", .n = 2, .s = "new", .t = "t", .note = "unseen by t"});
    assert_int_equal(part_edit(&second.call, f.range, &edit, &outcome), FAULT_NONE);
    call_open(&call, f.world, NULL);
    scan_all(&call, f.range, "k", "l", &page);
    assert_int_equal(page.count, 3);
    bool is_pending = durable_wait_is_pending(&second.call.durable);
    assert_true(is_pending);
    assert_true(str_equal(value_scalar(item_get(page.rows[1].stored.item, STR("s"))), STR("old")));
    assert_int_equal(client_await(&second), FAULT_NONE);
    scan_all(&call, f.range, "k", "l", &page);
    assert_int_equal(page.count, 3);
    assert_true(str_equal(value_scalar(item_get(page.rows[1].stored.item, STR("s"))), STR("new")));
    /* The index by t saw nothing of the second change: its row is the first one's. */
    assert_true(page.rows[2].stored.stamp < page.rows[1].stored.stamp);
    call_close(&call);
    client_close(&first);
    client_close(&second);
    fixture_close(&f);
}

/* --- Collections --- */

static enum fault put_sized(struct fixture *f, const char *pk, const char *sk, size_t pad_bytes, uint64_t *collection_bytes)
{
    struct client client;
    struct edit_outcome outcome;
    client_open(&client, f->world);
    char *pad = arena_alloc(&client.call.arena, pad_bytes + 1);
    memset(pad, 'p', pad_bytes);
    pad[pad_bytes] = 0;
    struct edit edit = edit_of(&client.call, EDIT_PUT, &(struct looks){.pk = pk, .sk = sk, .n = -1, .t = "t", .pad = pad});
    enum fault fault = fixture_run(f, &edit, &client, &outcome);
    if (fault == FAULT_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED)
        assert_true(str_equal(client.call.message, STR("Collection size exceeded.")));
    *collection_bytes = outcome.collection_bytes;
    client_close(&client);
    return fault;
}

static void a_collection_grows_up_to_its_limit(void **state)
{
    (void)state;
    enum { ITEM = 2 + 2 + 2 + 1 + 1 + 1 + 3 + 80, LIMIT = 6 * ITEM };
    struct fixture f;
    uint64_t bytes;
    fixture_open(&f, 1, STORE_MANNERS_RADOS);
    f.part->options.collection_bytes_max = LIMIT;
    /* An item and its entry in one index, which keeps all that it has: twice its size. */
    assert_int_equal(put_sized(&f, "p0", "a", 80, &bytes), FAULT_NONE);
    assert_int_equal(bytes, 2 * ITEM);
    assert_int_equal(put_sized(&f, "p0", "b", 80, &bytes), FAULT_NONE);
    assert_int_equal(put_sized(&f, "p0", "c", 80, &bytes), FAULT_NONE);
    assert_int_equal(bytes, LIMIT);
    assert_int_equal(put_sized(&f, "p0", "d", 1, &bytes), FAULT_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED);
    assert_int_equal(put_sized(&f, "p0", "a", 81, &bytes), FAULT_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED);
    assert_int_equal(put_sized(&f, "p1", "d", 80, &bytes), FAULT_NONE);
    assert_int_equal(bytes, 2 * ITEM);
    check_rows(&f);
    assert_int_equal(put_sized(&f, "p0", "a", 79, &bytes), FAULT_NONE);
    assert_int_equal(bytes, LIMIT - 2);
    assert_int_equal(put_sized(&f, "p0", "a", 79, &bytes), FAULT_NONE); /* changes nothing */
    assert_int_equal(bytes, LIMIT - 2);
    /* A limit that came down: what does not grow may be changed, and deleted. */
    f.part->options.collection_bytes_max = ITEM;
    assert_int_equal(put_sized(&f, "p0", "b", 10, &bytes), FAULT_NONE);
    assert_int_equal(put_sized(&f, "p0", "b", 11, &bytes), FAULT_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED);
    check_rows(&f);
    fixture_close(&f);
}

/* Changes of other items of the collection are counted while they are pending. */
static void the_limit_counts_what_is_pending(void **state)
{
    (void)state;
    enum { ITEM = 2 + 2 + 2 + 1 + 1 + 1 + 3 + 1, CALLS = 8 };
    struct fixture f;
    struct client clients[CALLS];
    fixture_open(&f, 1, STORE_MANNERS_RADOS);
    f.part->options.collection_bytes_max = 5 * 2 * ITEM;
    int refused = 0;
    for (int i = 0; i < CALLS; i++) {
        struct edit_outcome outcome;
        char sk[] = {(char)('a' + i), 0};
        client_open(&clients[i], f.world);
        struct edit edit = edit_of(&clients[i].call, EDIT_PUT, &(struct looks){.pk = "p0", .sk = sk, .n = -1, .t = "t", .pad = "p"});
        enum fault fault = part_edit(&clients[i].call, f.range, &edit, &outcome);
        refused += fault == FAULT_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED;
        assert_true(fault == FAULT_NONE || fault == FAULT_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED);
        /* Who is refused waits for what it was refused for. */
        assert_true(fault == FAULT_NONE || i > 5 || durable_wait_is_pending(&clients[i].call.durable));
    }
    assert_int_equal(refused, CALLS - 5);
    for (int i = 0; i < CALLS; i++) {
        assert_int_equal(client_await(&clients[i]), FAULT_NONE);
        client_close(&clients[i]);
    }
    check_rows(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_changes_the_entries_that_differ),
        cmocka_unit_test(an_edit_travels_with_its_indexes),
        cmocka_unit_test(the_encodings_have_their_bytes),
        cmocka_unit_test(indexes_that_do_not_fit_are_refused),
        cmocka_unit_test(damaged_bytes_never_crash),
        cmocka_unit_test(one_at_a_time_the_rows_follow),
        cmocka_unit_test(after_a_crash_the_rows_are_what_the_items_say),
        cmocka_unit_test(writers_and_readers_at_once),
        cmocka_unit_test(writers_and_readers_at_once_in_the_real_world),
        cmocka_unit_test(a_pending_entry_is_not_seen),
        cmocka_unit_test(a_collection_grows_up_to_its_limit),
        cmocka_unit_test(the_limit_counts_what_is_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
