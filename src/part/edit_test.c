/* Tests of edits: their encoding, what they make of an item, and their faults. */
#include "part/fixture_internal.h"

static struct edit rich_edit(struct call *call)
{
    static const struct edit_index_key keys[] = {
        {{"n", 1}, VALUE_N, {"by-n", 4}, PARTITION_KEY_MAX},
        {{"s", 1}, VALUE_S, {"by-s", 4}, SORT_KEY_MAX},
    };
    struct edit edit = fixture_edit(call, EDIT_UPDATE, "a", 1, 0);
    edit.condition = fixture_program(call, EXPR_CONDITION, "attribute_exists(pk)", NULL);
    edit.action = fixture_program(call, EXPR_UPDATE, "SET n = :v", "{\":v\":{\"N\":\"7\"}}");
    edit.index_keys = keys;
    edit.index_key_count = 2;
    return edit;
}

static void an_edit_travels_as_bytes(void **state)
{
    (void)state;
    struct call call;
    call_open(&call, NULL, NULL);
    for (int kind = EDIT_PUT; kind <= EDIT_CHECK; kind++) {
        struct edit edit = fixture_edit(&call, (enum edit_kind)kind, "a", 1, 0), back;
        if (kind == EDIT_UPDATE)
            edit = rich_edit(&call);
        struct buf bytes, again;
        buf_open(&bytes, &call.arena, 0);
        buf_open(&again, &call.arena, 0);
        edit_encode(&edit, &bytes);
        assert_true(edit_decode(&call.arena, buf_str(&bytes), &back));
        assert_int_equal(back.kind, edit.kind);
        assert_int_equal(back.index_key_count, edit.index_key_count);
        edit_encode(&back, &again);
        assert_true(str_equal(buf_str(&bytes), buf_str(&again)));
        for (size_t cut = 0; cut < bytes.len; cut++) {
            char *exact = malloc(cut + 1);
            memcpy(exact, bytes.data, cut);
            assert_false(edit_decode(&call.arena, str_of(exact, cut), &back));
            free(exact);
        }
        buf_add_byte(&bytes, 0);
        assert_false(edit_decode(&call.arena, buf_str(&bytes), &back));
        bytes.data[0] = EDIT_VERSION + 1;
        assert_false(edit_decode(&call.arena, str_of(bytes.data, bytes.len - 1), &back));
    }
    call_close(&call);
}

static void damaged_edits_never_crash(void **state)
{
    (void)state;
    struct call call;
    call_open(&call, NULL, NULL);
    struct edit edit = rich_edit(&call), back;
    struct buf bytes;
    buf_open(&bytes, &call.arena, 0);
    edit_encode(&edit, &bytes);
    for (size_t at = 0; at < bytes.len; at++) {
        for (int change = 1; change < 256; change += 7) {
            char *exact = malloc(bytes.len);
            memcpy(exact, bytes.data, bytes.len);
            exact[at] = (char)(exact[at] ^ change);
            struct arena arena;
            arena_open(&arena, NULL);
            struct buf out;
            buf_open(&out, &arena, 0);
            if (edit_decode(&arena, str_of(exact, bytes.len), &back))
                edit_encode(&back, &out);
            arena_close(&arena);
            free(exact);
        }
    }
    call_close(&call);
}

/* Applies to an item of that number, or to none when it is below 0. */
static enum fault apply(struct call *call, const struct edit *edit, int64_t number, struct edit_outcome *outcome)
{
    call_clear_fault(call);
    struct stored before = {.stamp = 3, .item = fixture_item(&call->arena, "a", number, 0)};
    before.size = (uint32_t)item_size(before.item);
    return edit_apply(call, edit, number >= 0, &before, outcome);
}

static void kinds_do_what_they_say(void **state)
{
    (void)state;
    struct call call;
    struct edit_outcome outcome;
    call_open(&call, NULL, NULL);
    struct edit put = fixture_edit(&call, EDIT_PUT, "a", 9, 20), delete = fixture_edit(&call, EDIT_DELETE, "a", 0, 0);
    struct edit check = fixture_edit(&call, EDIT_CHECK, "a", 0, 0), update = fixture_edit(&call, EDIT_UPDATE, "a", 0, 0);
    assert_int_equal(apply(&call, &put, 1, &outcome), FAULT_NONE);
    assert_true(outcome.had_item && outcome.has_item && outcome.before.stamp == 3);
    assert_true(str_equal(outcome.after.item, put.action));
    assert_int_equal(outcome.after.size, 2 + 1 + 1 + 2 + 3 + 20);
    assert_int_equal(apply(&call, &put, -1, &outcome), FAULT_NONE);
    assert_true(!outcome.had_item && outcome.has_item);
    assert_int_equal(apply(&call, &delete, 1, &outcome), FAULT_NONE);
    assert_true(outcome.had_item && !outcome.has_item);
    assert_int_equal(apply(&call, &check, 1, &outcome), FAULT_NONE);
    assert_true(outcome.has_item && str_equal(outcome.before.item, outcome.after.item));
    assert_int_equal(apply(&call, &check, -1, &outcome), FAULT_NONE);
    assert_false(outcome.has_item);
    assert_int_equal(apply(&call, &update, -1, &outcome), FAULT_NONE);
    assert_true(outcome.has_item && str_equal(outcome.after.item, update.key_item));
    update.action = fixture_program(&call, EXPR_UPDATE, "SET n = n + :v", "{\":v\":{\"N\":\"7\"}}");
    assert_int_equal(apply(&call, &update, 5, &outcome), FAULT_NONE);
    assert_int_equal(fixture_number(outcome.after.item), 12);
    assert_int_equal(apply(&call, &update, -1, &outcome), FAULT_VALIDATION);
    update.action = fixture_program(&call, EXPR_UPDATE, "REMOVE x.y", NULL);
    assert_int_equal(apply(&call, &update, -1, &outcome), FAULT_NONE);
    assert_true(!outcome.had_item && !outcome.has_item);
    call_close(&call);
}

static void conditions_decide(void **state)
{
    (void)state;
    struct call call;
    struct edit_outcome outcome;
    call_open(&call, NULL, NULL);
    struct edit put = fixture_edit(&call, EDIT_PUT, "a", 9, 0);
    put.condition = fixture_program(&call, EXPR_CONDITION, "attribute_not_exists(pk) OR n < :v", "{\":v\":{\"N\":\"4\"}}");
    assert_int_equal(apply(&call, &put, -1, &outcome), FAULT_NONE);
    assert_int_equal(apply(&call, &put, 3, &outcome), FAULT_NONE);
    assert_int_equal(apply(&call, &put, 4, &outcome), FAULT_CONDITIONAL_CHECK_FAILED);
    assert_true(str_equal(call.message, STR("The conditional request failed")));
    assert_true(outcome.had_item && fixture_number(outcome.before.item) == 4);
    call_close(&call);
}

static void expect_fault(struct call *call, const struct edit *edit, int64_t number, const char *message)
{
    struct edit_outcome outcome;
    assert_int_equal(apply(call, edit, number, &outcome), FAULT_VALIDATION);
    if (!str_equal(call->message, str_of_text(message)))
        print_error("got: %.*s\n", STR_ARG(call->message));
    assert_true(str_equal(call->message, str_of_text(message)));
}

static void index_keys_keep_their_types(void **state)
{
    (void)state;
    struct call call;
    struct edit_outcome outcome;
    call_open(&call, NULL, NULL);
    struct edit_index_key n_is_string = {STR("n"), VALUE_S, STR("by-n"), PARTITION_KEY_MAX};
    struct edit_index_key pad_is_string = {STR("pad"), VALUE_S, STR("by-pad"), SORT_KEY_MAX};
    struct edit put = fixture_edit(&call, EDIT_PUT, "a", 9, 0);
    put.index_keys = &n_is_string;
    put.index_key_count = 1;
    expect_fault(&call, &put, -1,
        "One or more parameter values were invalid: Type mismatch for Index Key n Expected: S Actual: N IndexName: by-n");
    struct edit update = fixture_edit(&call, EDIT_UPDATE, "a", 0, 0);
    update.action = fixture_program(&call, EXPR_UPDATE, "SET n = :v", "{\":v\":{\"N\":\"7\"}}");
    update.index_keys = &n_is_string;
    update.index_key_count = 1;
    expect_fault(&call, &update, -1, "The update expression attempted to update the secondary index key to unsupported type");
    put = fixture_edit(&call, EDIT_PUT, "a", 9, SORT_KEY_MAX);
    put.index_keys = &pad_is_string;
    put.index_key_count = 1;
    assert_int_equal(apply(&call, &put, -1, &outcome), FAULT_NONE);
    put.action = fixture_item(&call.arena, "a", 9, SORT_KEY_MAX + 1);
    expect_fault(&call, &put, -1,
        "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes");
    pad_is_string.attribute = STR("padding"); /* PAD is a reserved word */
    update.action = fixture_program(&call, EXPR_UPDATE, "SET padding = :v", "{\":v\":{\"S\":\"\"}}");
    update.index_keys = &pad_is_string;
    expect_fault(&call, &update, -1,
        "One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. "
        "The AttributeValue for a key attribute cannot contain an empty string value.");
    call_close(&call);
}

static void sizes_are_bounded(void **state)
{
    (void)state;
    struct call call;
    struct edit_outcome outcome;
    call_open(&call, NULL, NULL);
    size_t rest = ITEM_BYTES_MAX - (2 + 1 + 1 + 2 + 3);
    struct edit put = fixture_edit(&call, EDIT_PUT, "a", 9, rest);
    assert_int_equal(apply(&call, &put, -1, &outcome), FAULT_NONE);
    assert_int_equal(outcome.after.size, ITEM_BYTES_MAX);
    put.action = fixture_item(&call.arena, "a", 9, rest + 1);
    expect_fault(&call, &put, -1, "Item size has exceeded the maximum allowed size");
    struct edit update = fixture_edit(&call, EDIT_UPDATE, "a", 0, 0);
    update.action = fixture_program(&call, EXPR_UPDATE, "SET big = :v", "{\":v\":{\"N\":\"7\"}}");
    struct stored large = {.item = fixture_item(&call.arena, "a", 9, rest - 2)};
    call_clear_fault(&call);
    assert_int_equal(edit_apply(&call, &update, true, &large, &outcome), FAULT_VALIDATION);
    assert_true(str_equal(call.message, STR("Item size to update has exceeded the maximum allowed size")));
    call_close(&call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edit_travels_as_bytes),
        cmocka_unit_test(damaged_edits_never_crash),
        cmocka_unit_test(kinds_do_what_they_say),
        cmocka_unit_test(conditions_decide),
        cmocka_unit_test(index_keys_keep_their_types),
        cmocka_unit_test(sizes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
