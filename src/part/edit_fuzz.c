/* Bytes taken for an edit, as another node or a transaction record would bring them: refused, or encoded to the same edit again and
   applied without harm, local indexes included. */
#include "part/part_internal.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void change_local_indexes(struct call *call, const struct edit *edit, const struct edit_outcome *outcome)
{
    struct local_changes changes;
    local_index_changes(&call->arena, edit, outcome, &changes);
    assert(changes.count <= 2 * edit->local_index_count);
    for (size_t i = 0; i < changes.count; i++) {
        const struct local_change *change = &changes.rows[i];
        assert(change->key.len > 0 && change->key.len <= STORE_KEY_MAX && str_find(change->key, '\0') == change->key.len);
        assert(change->before.item.data || change->after.item.data);
        assert(!change->after.item.data || (item_is_valid(change->after.item) && change->after.size == item_size(change->after.item)));
    }
    str collection = local_collection_key(&call->arena, edit);
    assert(collection.len > 0 && collection.len <= STORE_KEY_MAX);
}

static void apply(struct call *call, const struct edit *edit, bool had_item, str item)
{
    struct stored before = {.stamp = 1, .size = (uint32_t)item_size(item), .item = item};
    struct edit_outcome outcome;
    call_clear_fault(call);
    if (edit_apply(call, edit, had_item, &before, &outcome) != FAULT_NONE) {
        assert(call->fault == FAULT_VALIDATION || call->fault == FAULT_CONDITIONAL_CHECK_FAILED);
        return;
    }
    assert(!outcome.has_item || item_is_valid(outcome.after.item));
    assert(!outcome.has_item || outcome.after.size == item_size(outcome.after.item));
    if (edit->local_index_count > 0)
        change_local_indexes(call, edit, &outcome);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct call call;
    struct edit edit, again;
    call_open(&call, NULL, NULL);
    char *exact = malloc(size + 1);
    assert(exact);
    if (size > 0)
        memcpy(exact, data, size);
    exact = realloc(exact, size ? size : 1); /* so that sanitizers see every read behind it */
    assert(exact);
    if (edit_decode(&call.arena, str_of(exact, size), &edit)) {
        struct buf first, second;
        buf_open(&first, &call.arena, size);
        buf_open(&second, &call.arena, size);
        edit_encode(&edit, &first);
        bool decoded = edit_decode(&call.arena, buf_str(&first), &again);
        assert(decoded);
        edit_encode(&again, &second);
        assert(str_equal(buf_str(&first), buf_str(&second)));
        apply(&call, &edit, false, STR("\0"));
        apply(&call, &edit, true, edit.key_item);
        if (edit.kind == EDIT_PUT)
            apply(&call, &edit, true, edit.action);
    }
    free(exact);
    call_close(&call);
    return 0;
}
