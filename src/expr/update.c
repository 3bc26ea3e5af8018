/* Updates, applied to item bytes: every value is worked out from the item before, then the item is written once, sorted. */
#include "expr/expr_internal.h"
#include "model/number.h"

#include <assert.h>

/* What can be wrong, the first to be told first (as DynamoDB Local orders them: what an item has of a wrong type before what it lacks). */
enum trouble { NO_TROUBLE, TROUBLE_PATH_TYPE, TROUBLE_TYPE, TROUBLE_LEGACY_TYPE, TROUBLE_PATH_MISSING, TROUBLE_MISSING, TROUBLE_NUMBER, TROUBLE_SIZE };

/* An expression of 4 KB can copy a large attribute hundreds of times. No item within DynamoDB's size has more bytes than this in
   our form, so an update that makes more is refused before it does. */
enum { MADE_BYTES_MAX = 16 * ITEM_BYTES_MAX };

struct action {
    str result;   /* the value that stands at the path afterwards; empty: nothing does */
    bool is_kept; /* the path stays as it is */
};

struct update {
    struct call *call;
    str item;
    struct action *actions;
    enum trouble trouble;
    enum number_status number_status;
    size_t made_bytes; /* of values so far */
};

static void note_trouble(struct update *update, enum trouble trouble)
{
    if (update->trouble == NO_TROUBLE || trouble < update->trouble)
        update->trouble = trouble;
}

/* Whether so many bytes more may be made. */
static bool may_make(struct update *update, size_t bytes)
{
    update->made_bytes += bytes;
    if (update->made_bytes <= MADE_BYTES_MAX)
        return true;
    note_trouble(update, TROUBLE_SIZE);
    return false;
}

static str write_number(struct update *update, const struct number *number)
{
    struct buf out;
    buf_open(&out, &update->call->arena, 2 + (size_t)number->len);
    value_write_scalar(&out, VALUE_N, number_str(number));
    return buf_str(&out);
}

static str sum_of(struct update *update, str a, str b, bool is_minus)
{
    struct number sum;
    enum number_status status = is_minus ? number_subtract(value_scalar(a), value_scalar(b), &sum) : number_add(value_scalar(a), value_scalar(b), &sum);
    if (status == NUMBER_OK)
        return write_number(update, &sum);
    if (update->trouble == NO_TROUBLE)
        update->number_status = status;
    note_trouble(update, TROUBLE_NUMBER);
    return STR_NONE;
}

static str append_lists(struct update *update, str a, str b)
{
    struct value_walk walks[2];
    if (!may_make(update, a.len + b.len) || !value_walk_open(&walks[0], a) || !value_walk_open(&walks[1], b))
        return STR_NONE;
    size_t count = 0;
    str *elements = arena_alloc(&update->call->arena, (size_t)(walks[0].left + walks[1].left) * sizeof elements[0]);
    for (size_t i = 0; i < 2; i++) {
        while (value_walk_value(&walks[i], &elements[count]))
            count++;
    }
    struct buf out;
    buf_open(&out, &update->call->arena, a.len + b.len + VARINT_BYTES_MAX);
    value_write_list(&out, elements, count);
    return buf_str(&out);
}

static str evaluate(struct update *update, str *rest);

static str evaluate_pair(struct update *update, str *rest, uint8_t opcode)
{
    str a = evaluate(update, rest);
    str b = evaluate(update, rest);
    enum value_type wanted = opcode == OP_LIST_APPEND ? VALUE_L : VALUE_N;
    if ((a.len > 0 && value_type(a) != wanted) || (b.len > 0 && value_type(b) != wanted)) {
        note_trouble(update, TROUBLE_TYPE);
        return STR_NONE;
    }
    if (a.len == 0 || b.len == 0)
        return STR_NONE;
    return opcode == OP_LIST_APPEND ? append_lists(update, a, b) : sum_of(update, a, b, opcode == OP_MINUS);
}

/* An operand's value; empty where there is none, which is then noted. */
static str evaluate(struct update *update, str *rest)
{
    str taken = STR_NONE;
    uint8_t opcode = (uint8_t)rest->data[0];
    if (opcode < OP_PATH) {
        bool found = value_take(rest, &taken);
        assert(found);
        return taken;
    }
    *rest = str_from(*rest, 1);
    if (opcode != OP_PATH && opcode != OP_IF_NOT_EXISTS)
        return evaluate_pair(update, rest, opcode);
    bool found = expr_take_path(rest, &taken);
    assert(found);
    str v = expr_path_resolve(taken, update->item);
    if (opcode == OP_IF_NOT_EXISTS) {
        /* What is not used may be missing or of any type, but has to be passed over. */
        enum trouble before = update->trouble;
        enum number_status status = update->number_status;
        str otherwise = evaluate(update, rest);
        if (v.len == 0)
            return otherwise;
        update->trouble = before;
        update->number_status = status;
        return v;
    }
    if (v.len == 0)
        note_trouble(update, TROUBLE_MISSING);
    return v;
}

/* The elements of `a`, with or without those of `b`; both are sorted. */
static str merge_sets(struct update *update, str a, str b, bool is_union)
{
    struct value_walk left;
    struct value_walk right;
    if (!may_make(update, a.len + b.len) || !value_walk_open(&left, a) || !value_walk_open(&right, b))
        return STR_NONE;
    size_t count = 0;
    str *elements = arena_alloc(&update->call->arena, (size_t)(left.left + right.left) * sizeof elements[0]);
    str x;
    str y;
    bool has_x = value_walk_element(&left, &x);
    bool has_y = value_walk_element(&right, &y);
    while (has_x || (has_y && is_union)) {
        int order = !has_x ? 1 : !has_y ? -1 : str_compare(x, y);
        if (order < 0 || (order == 0 && is_union))
            elements[count++] = x;
        else if (order > 0 && is_union)
            elements[count++] = y;
        if (order <= 0)
            has_x = value_walk_element(&left, &x);
        if (order >= 0)
            has_y = value_walk_element(&right, &y);
    }
    struct buf out;
    buf_open(&out, &update->call->arena, a.len + b.len + VARINT_BYTES_MAX);
    if (count > 0) {
        bool unique = value_write_set(&out, value_type(a), elements, count);
        assert(unique);
    }
    return buf_str(&out);
}

static void add(struct update *update, struct action *action, str old, str v, bool is_legacy)
{
    if (old.len == 0)
        action->result = v;
    else if (value_type(old) != value_type(v))
        note_trouble(update, is_legacy ? TROUBLE_LEGACY_TYPE : TROUBLE_TYPE);
    else if (value_type(v) == VALUE_N)
        action->result = sum_of(update, old, v, false);
    else if (value_type(v) == VALUE_L)
        action->result = append_lists(update, old, v);
    else
        action->result = merge_sets(update, old, v, true);
}

static void subtract(struct update *update, struct action *action, str old, str v, bool is_legacy)
{
    if (old.len == 0)
        action->is_kept = true;
    else if (value_type(old) != value_type(v))
        note_trouble(update, is_legacy ? TROUBLE_LEGACY_TYPE : TROUBLE_TYPE);
    else
        action->result = merge_sets(update, old, v, false);
}

/* Whether there is something of the right type to write the path's last element into. */
static void check_parent(struct update *update, str path)
{
    struct expr_path_reader reader = expr_path_reader_open(path);
    struct expr_element element;
    if (reader.left < 2 || !expr_path_reader_next(&reader, &element))
        return;
    str parent = item_get(update->item, element.name);
    while (parent.len > 0 && expr_path_reader_next(&reader, &element)) {
        if (value_type(parent) != (element.name.data ? VALUE_M : VALUE_L)) {
            note_trouble(update, TROUBLE_PATH_TYPE);
            return;
        }
        if (reader.left == 0)
            return;
        parent = element.name.data ? map_get(parent, element.name) : list_get(parent, element.index);
    }
    if (parent.len == 0)
        note_trouble(update, TROUBLE_PATH_MISSING);
}

static void evaluate_action(struct update *update, str *rest, struct action *action)
{
    uint8_t opcode = (uint8_t)rest->data[0];
    *rest = str_from(*rest, 1);
    str path = STR_NONE;
    bool found = expr_take_path(rest, &path);
    assert(found);
    check_parent(update, path);
    if (opcode == OP_REMOVE)
        return;
    str v = evaluate(update, rest);
    if (opcode == OP_SET) {
        action->result = v;
        may_make(update, v.len);
        return;
    }
    str old = expr_path_resolve(path, update->item);
    bool is_legacy = opcode == OP_ADD_LEGACY || opcode == OP_DELETE_LEGACY;
    if (opcode == OP_ADD || opcode == OP_ADD_LEGACY)
        add(update, action, old, v, is_legacy);
    else
        subtract(update, action, old, v, is_legacy);
}

static enum fault report(const struct update *update) MUST_USE;
static enum fault report(const struct update *update)
{
    enum { TEXT_BYTES = 128 };
    struct call *call = update->call;
    switch (update->trouble) {
    case NO_TROUBLE:
        return FAULT_NONE;
    case TROUBLE_PATH_TYPE:
    case TROUBLE_PATH_MISSING:
        return fail(call, FAULT_VALIDATION, "The document path provided in the update expression is invalid for update");
    case TROUBLE_TYPE:
        return fail(call, FAULT_VALIDATION, "An operand in the update expression has an incorrect data type");
    case TROUBLE_LEGACY_TYPE:
        return fail(call, FAULT_VALIDATION, "Type mismatch for attribute to update");
    case TROUBLE_MISSING:
        return fail(call, FAULT_VALIDATION, "The provided expression refers to an attribute that does not exist in the item");
    case TROUBLE_SIZE:
        return fail(call, FAULT_VALIDATION, "Item size to update has exceeded the maximum allowed size");
    case TROUBLE_NUMBER:
        break;
    }
    char text[TEXT_BYTES];
    size_t length = number_fault_text(update->number_status, STR_NONE, text, sizeof text);
    return fail(call, FAULT_VALIDATION, "%.*s", (int)length, text);
}

/* --- writing --- */

static void put_counted_before(struct buf *out, size_t start)
{
    size_t bytes = out->len - start;
    size_t head = varint_size(bytes);
    buf_reserve(out, head);
    memmove(out->data + start + head, out->data + start, bytes);
    varint_put((uint8_t *)out->data + start, bytes);
    out->len += head;
}

static void write_document(const struct update *update, str trie, str document, struct buf *out);

/* What stands at the entry afterwards: `found` is what stood there, or empty. Without `out`, only whether there is anything. */
static bool write_entry(const struct update *update, const struct expr_trie_entry *entry, str found, struct buf *out)
{
    if (entry->has_children) {
        if (out)
            write_document(update, entry->children, found, out);
        return found.len > 0;
    }
    const struct action *action = &update->actions[entry->action];
    str v = action->is_kept ? found : action->result;
    if (out)
        buf_add_str(out, v);
    return v.len > 0;
}

/* Merges the trie's names into a map's or item's; returns how many there are, and writes them when there is an `out`. */
static uint64_t merge_names(const struct update *update, str trie, const struct value_walk *before, struct buf *out)
{
    struct expr_trie_walk entries = expr_trie_open(trie);
    struct value_walk items = *before;
    struct expr_trie_entry entry;
    str name = STR_NONE;
    str found = STR_NONE;
    bool has_entry = expr_trie_next(&entries, &entry);
    bool has_item = value_walk_attribute(&items, &name, &found);
    uint64_t count = 0;
    while (has_entry || has_item) {
        int order = !has_entry ? -1 : !has_item ? 1 : str_compare(name, entry.element.name);
        if (order < 0) {
            count++;
            if (out) {
                buf_add_counted(out, name);
                buf_add_str(out, found);
            }
        } else if (write_entry(update, &entry, order == 0 ? found : STR_NONE, NULL)) {
            count++;
            if (out) {
                buf_add_counted(out, entry.element.name);
                write_entry(update, &entry, order == 0 ? found : STR_NONE, out);
            }
        }
        if (order <= 0)
            has_item = value_walk_attribute(&items, &name, &found);
        if (order >= 0)
            has_entry = expr_trie_next(&entries, &entry);
    }
    return count;
}

/* The same for a list: indexes are those of the list before; what stands behind its end comes last, in the order of indexes. */
static uint64_t merge_indexes(const struct update *update, str trie, const struct value_walk *before, struct buf *out)
{
    struct expr_trie_walk entries = expr_trie_open(trie);
    struct value_walk items = *before;
    struct expr_trie_entry entry;
    str found = STR_NONE;
    bool has_entry = expr_trie_next(&entries, &entry);
    uint64_t count = 0;
    for (uint64_t index = 0; value_walk_value(&items, &found); index++) {
        if (has_entry && entry.element.index == index) {
            count += write_entry(update, &entry, found, out);
            has_entry = expr_trie_next(&entries, &entry);
            continue;
        }
        count++;
        if (out)
            buf_add_str(out, found);
    }
    for (; has_entry; has_entry = expr_trie_next(&entries, &entry))
        count += write_entry(update, &entry, STR_NONE, out);
    return count;
}

static void write_document(const struct update *update, str trie, str document, struct buf *out)
{
    struct value_walk items;
    bool found = value_walk_open(&items, document);
    assert(found);
    enum value_type type = value_type(document);
    buf_add_byte(out, (uint8_t)type);
    size_t start = out->len;
    if (type == VALUE_L) {
        buf_add_varint(out, merge_indexes(update, trie, &items, NULL));
        merge_indexes(update, trie, &items, out);
    } else {
        buf_add_varint(out, merge_names(update, trie, &items, NULL));
        merge_names(update, trie, &items, out);
    }
    put_counted_before(out, start);
}

enum fault expr_update_apply(struct call *call, str program, str item, struct buf *out)
{
    if (program.len == 0) {
        buf_add_str(out, item);
        return FAULT_NONE;
    }
    struct expr_update_parts parts = expr_update_open(program);
    struct update update = {
        .call = call,
        .item = item,
        .actions = ARENA_NEW_ARRAY(&call->arena, struct action, (size_t)parts.action_count),
    };
    for (uint64_t i = 0; i < parts.action_count; i++)
        evaluate_action(&update, &parts.actions, &update.actions[i]);
    TRY(report(&update));
    struct value_walk items;
    item_walk_open(&items, item);
    buf_add_varint(out, merge_names(&update, parts.trie, &items, NULL));
    merge_names(&update, parts.trie, &items, out);
    return FAULT_NONE;
}
