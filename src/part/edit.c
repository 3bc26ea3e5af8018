/* Edits: their encoding, and the one pure function that says what an edit makes of an item. */
#include "part/part_internal.h"

#include <assert.h>

#define UPDATE_TOO_LARGE "Item size to update has exceeded the maximum allowed size"

enum { FLAG_MEASURES_STATEMENT = 1, FLAG_LOCAL_INDEXES = 2, FLAGS_MAX = 3 }; /* of the encoding */

void edit_encode(const struct edit *edit, struct buf *out)
{
    buf_add_byte(out, EDIT_VERSION);
    buf_add_byte(out, (uint8_t)edit->kind);
    buf_add_byte(out, (uint8_t)((edit->measures_statement ? FLAG_MEASURES_STATEMENT : 0) | (edit->local_index_count > 0 ? FLAG_LOCAL_INDEXES : 0)));
    buf_add_counted(out, edit->row_key);
    buf_add_counted(out, edit->key_item);
    buf_add_counted(out, edit->condition);
    buf_add_counted(out, edit->action);
    buf_add_varint(out, edit->index_key_count);
    for (size_t i = 0; i < edit->index_key_count; i++) {
        const struct edit_index_key *key = &edit->index_keys[i];
        buf_add_counted(out, key->attribute);
        buf_add_byte(out, (uint8_t)key->type);
        buf_add_counted(out, key->index);
        buf_add_varint(out, key->bytes_max);
    }
    if (edit->local_index_count > 0)
        local_indexes_encode(edit, out);
}

static bool take_byte(str *rest, uint8_t *byte)
{
    str taken;
    if (!str_take(rest, 1, &taken))
        return false;
    *byte = (uint8_t)taken.data[0];
    return true;
}

static bool take_index_keys(struct arena *arena, str *rest, struct edit *out)
{
    uint64_t count;
    if (!varint_take(rest, &count) || count > rest->len / 4)
        return false;
    struct edit_index_key *keys = ARENA_NEW_ARRAY(arena, struct edit_index_key, (size_t)count);
    for (size_t i = 0; i < count; i++) {
        uint8_t type;
        uint64_t bytes_max;
        if (!str_take_counted(rest, &keys[i].attribute) || !take_byte(rest, &type) || !str_take_counted(rest, &keys[i].index) ||
            !varint_take(rest, &bytes_max))
            return false;
        if (type < VALUE_S || type > VALUE_B || bytes_max > PARTITION_KEY_MAX)
            return false;
        keys[i].type = (enum value_type)type;
        keys[i].bytes_max = (size_t)bytes_max;
    }
    out->index_keys = keys;
    out->index_key_count = (size_t)count;
    return true;
}

static bool action_is_valid(enum edit_kind kind, str action)
{
    switch (kind) {
    case EDIT_PUT:
        return item_is_valid(action);
    case EDIT_UPDATE:
        return action.len == 0 || expr_program_is_valid(action, EXPR_UPDATE);
    case EDIT_DELETE:
    case EDIT_CHECK:
        return action.len == 0;
    }
    return false;
}

bool edit_decode(struct arena *arena, str bytes, struct edit *out)
{
    uint8_t version, kind, flags;
    *out = (struct edit){0};
    if (!take_byte(&bytes, &version) || version != EDIT_VERSION || !take_byte(&bytes, &kind) || kind < EDIT_PUT || kind > EDIT_CHECK)
        return false;
    if (!take_byte(&bytes, &flags) || flags > FLAGS_MAX)
        return false;
    out->kind = (enum edit_kind)kind;
    out->measures_statement = flags & FLAG_MEASURES_STATEMENT;
    if (!str_take_counted(&bytes, &out->row_key) || !str_take_counted(&bytes, &out->key_item) || !str_take_counted(&bytes, &out->condition) ||
        !str_take_counted(&bytes, &out->action) || !take_index_keys(arena, &bytes, out) ||
        (flags & FLAG_LOCAL_INDEXES && !local_indexes_decode(arena, &bytes, out)) || bytes.len > 0)
        return false;
    bool row_key_is_valid = out->row_key.len > 0 && out->row_key.len <= STORE_KEY_MAX && out->row_key.data[0] == ROW_ITEM &&
                            str_find(out->row_key, '\0') == out->row_key.len;
    return row_key_is_valid && item_is_valid(out->key_item) && action_is_valid(out->kind, out->action) &&
           (out->condition.len == 0 || expr_program_is_valid(out->condition, EXPR_CONDITION)) && local_indexes_fit(arena, out);
}

/* Reference indexes-streams-ttl.md section 2 and numbers-and-keys.md section 3. */
static enum fault check_index_key(struct call *call, const struct edit *edit, const struct edit_index_key *key, str item)
{
    str found = item_get(item, key->attribute);
    if (found.len == 0)
        return FAULT_NONE;
    bool is_update = edit->kind == EDIT_UPDATE;
    if (value_type(found) != key->type) {
        if (is_update)
            return fail(call, FAULT_VALIDATION, "The update expression attempted to update the secondary index key to unsupported type");
        const char expected = (char)key->type;
        str expected_name = value_type_name(str_of(&expected, 1)), actual_name = value_type_name(found);
        return fail(call, FAULT_VALIDATION,
                    "One or more parameter values were invalid: Type mismatch for Index Key %.*s Expected: %.*s Actual: %.*s IndexName: %.*s",
                    STR_ARG(key->attribute), STR_ARG(expected_name), STR_ARG(actual_name), STR_ARG(key->index));
    }
    size_t bytes = value_scalar(found).len;
    if (key->type == VALUE_N || (bytes > 0 && bytes <= key->bytes_max))
        return FAULT_NONE;
    if (bytes > 0 && is_update)
        return fail(call, FAULT_VALIDATION, "The update expression attempted to update the secondary index key beyond allowed size limits");
    if (bytes > 0 && key->bytes_max == PARTITION_KEY_MAX)
        return fail(call, FAULT_VALIDATION, "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes");
    if (bytes > 0)
        return fail(call, FAULT_VALIDATION,
                    "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes");
    const char *kind = key->type == VALUE_S ? "string" : "binary";
    if (is_update)
        return fail(call, FAULT_VALIDATION,
                    "One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not "
                    "supported. The AttributeValue for a key attribute cannot contain an empty %s value.",
                    kind);
    return fail(call, FAULT_VALIDATION,
                "One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key "
                "attribute cannot contain an empty %s value. IndexName: %.*s, IndexKey: %.*s",
                kind, STR_ARG(key->index), STR_ARG(key->attribute));
}

static enum fault check_index_keys(struct call *call, const struct edit *edit, str item)
{
    for (size_t i = 0; i < edit->index_key_count; i++)
        TRY(check_index_key(call, edit, &edit->index_keys[i], item));
    return FAULT_NONE;
}

/* What DynamoDB refuses before it looks at the condition: what a put's own item has wrong, and an update whose statement alone is too large
   (public suite Parity, itemSizeBySurface, October 2026). */
static enum fault check_before_condition(struct call *call, const struct edit *edit, bool had_item, const struct stored *before)
{
    if (edit->kind == EDIT_PUT)
        return check_index_keys(call, edit, edit->action);
    if (edit->kind == EDIT_UPDATE && edit->measures_statement && edit->action.len > 0 && expr_update_charge(edit->action, had_item ? before->item : edit->key_item) > ITEM_BYTES_MAX)
        return fail(call, FAULT_VALIDATION, UPDATE_TOO_LARGE);
    return FAULT_NONE;
}

static enum fault apply_update(struct call *call, const struct edit *edit, struct edit_outcome *outcome)
{
    str item = outcome->had_item ? outcome->before.item : edit->key_item;
    if (edit->action.len == 0) {
        outcome->after.item = item;
    } else {
        if (!outcome->had_item && !expr_update_creates(edit->action))
            return FAULT_NONE;
        struct buf changed;
        buf_open(&changed, &call->arena, item.len + 64);
        TRY(expr_update_apply(call, edit->action, item, &changed));
        outcome->after.item = buf_str(&changed);
    }
    size_t size = item_size(outcome->after.item);
    if (size > ITEM_BYTES_MAX)
        return fail(call, FAULT_VALIDATION, UPDATE_TOO_LARGE);
    if (item_depth(outcome->after.item) > ITEM_DEPTH_MAX)
        return fail(call, FAULT_VALIDATION, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit");
    outcome->after.size = (uint32_t)size;
    outcome->has_item = true;
    return FAULT_NONE;
}

static enum fault apply_put(struct call *call, const struct edit *edit, struct edit_outcome *outcome)
{
    size_t size = item_size(edit->action);
    if (size > ITEM_BYTES_MAX)
        return fail(call, FAULT_VALIDATION, "Item size has exceeded the maximum allowed size");
    outcome->after.item = edit->action;
    outcome->after.size = (uint32_t)size;
    outcome->has_item = true;
    return FAULT_NONE;
}

enum fault edit_apply(struct call *call, const struct edit *edit, bool had_item, const struct stored *before, struct edit_outcome *outcome)
{
    *outcome = (struct edit_outcome){.had_item = had_item};
    if (had_item)
        outcome->before = *before;
    TRY(check_before_condition(call, edit, had_item, before));
    /* A missing item reads as one without attributes. */
    if (edit->condition.len > 0 && !expr_holds(edit->condition, had_item ? before->item : STR("\0")))
        return fail(call, FAULT_CONDITIONAL_CHECK_FAILED, "The conditional request failed");
    switch (edit->kind) {
    case EDIT_CHECK:
        outcome->has_item = had_item;
        outcome->after = outcome->before;
        return FAULT_NONE;
    case EDIT_DELETE:
        return FAULT_NONE;
    case EDIT_PUT:
        return apply_put(call, edit, outcome);
    case EDIT_UPDATE:
        TRY(apply_update(call, edit, outcome));
        return outcome->has_item ? check_index_keys(call, edit, outcome->after.item) : FAULT_NONE;
    }
    __builtin_unreachable();
}
