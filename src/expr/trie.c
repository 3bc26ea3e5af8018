/* Tries of paths: what a projection keeps of an item. */
#include "expr/expr_internal.h"

struct expr_trie_walk expr_trie_open(str trie)
{
    struct expr_trie_walk walk = {.rest = trie};
    if (!varint_take(&walk.rest, &walk.left))
        walk.left = 0;
    return walk;
}

bool expr_trie_next(struct expr_trie_walk *walk, struct expr_trie_entry *entry)
{
    uint64_t head;
    if (walk->left == 0 || !varint_take(&walk->rest, &head))
        return false;
    walk->left--;
    *entry = (struct expr_trie_entry){.has_children = head & 1};
    if (head & 2)
        entry->element.index = (uint32_t)(head >> 2);
    else if (!str_take(&walk->rest, (size_t)(head >> 2), &entry->element.name))
        return false;
    return entry->has_children ? str_take_counted(&walk->rest, &entry->children) : varint_take(&walk->rest, &entry->action);
}

static bool same_element(const struct expr_element *a, const struct expr_element *b)
{
    if (!a->name.data || !b->name.data)
        return !a->name.data && !b->name.data && a->index == b->index;
    return str_equal(a->name, b->name);
}

static void put_counted_before(struct buf *out, size_t start)
{
    size_t bytes = out->len - start;
    size_t head = varint_size(bytes);
    buf_reserve(out, head);
    memmove(out->data + start + head, out->data + start, bytes);
    varint_put((uint8_t *)out->data + start, bytes);
    out->len += head;
}

/* One level: `paths` share their first `depth` elements. Recursion is as deep as a path is long. */
static void write_level(struct buf *out, const struct expr_trie_path *paths, size_t count, uint32_t depth)
{
    uint64_t entries = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !same_element(&paths[i - 1].elements[depth], &paths[i].elements[depth]))
            entries++;
    }
    buf_add_varint(out, entries);
    for (size_t i = 0; i < count;) {
        const struct expr_element *element = &paths[i].elements[depth];
        size_t end = i + 1;
        while (end < count && same_element(element, &paths[end].elements[depth]))
            end++;
        bool has_children = paths[i].count > depth + 1;
        if (element->name.data) {
            buf_add_varint(out, element->name.len << 2 | has_children);
            buf_add_str(out, element->name);
        } else {
            buf_add_varint(out, (uint64_t)element->index << 2 | 2 | has_children);
        }
        if (has_children) {
            size_t start = out->len;
            write_level(out, paths + i, end - i, depth + 1);
            put_counted_before(out, start);
        } else {
            buf_add_varint(out, paths[i].number);
        }
        i = end;
    }
}

void expr_trie_write(struct buf *out, const struct expr_trie_path *paths, size_t count)
{
    write_level(out, paths, count, 0);
}

/* --- projecting --- */

/* Both are sorted, so one pass over each finds what they share. The level is walked twice, because a count stands before what it counts. */
struct level {
    struct expr_trie_walk trie;
    struct value_walk items; /* of a map or item */
    struct expr_trie_entry entry;
    str name;
    str found;
    uint64_t index; /* list: of `found` */
    bool is_list;
    bool has_entry;
    bool has_item;
};

static void level_open(struct level *level, str trie, const struct value_walk *items, bool is_list)
{
    *level = (struct level){.trie = expr_trie_open(trie), .items = *items, .is_list = is_list};
    level->has_entry = expr_trie_next(&level->trie, &level->entry);
    level->has_item = is_list ? value_walk_value(&level->items, &level->found) : value_walk_attribute(&level->items, &level->name, &level->found);
}

static void level_skip_item(struct level *level)
{
    level->index++;
    level->has_item =
        level->is_list ? value_walk_value(&level->items, &level->found) : value_walk_attribute(&level->items, &level->name, &level->found);
}

static void level_skip_entry(struct level *level)
{
    level->has_entry = expr_trie_next(&level->trie, &level->entry);
}

/* Moves to the next entry that the item has something for. */
static bool level_meet(struct level *level)
{
    while (level->has_entry && level->has_item) {
        int order;
        if (!level->entry.element.name.data)
            order = level->is_list ? (level->entry.element.index > level->index) - (level->entry.element.index < level->index) : 1;
        else
            order = level->is_list ? -1 : str_compare(level->entry.element.name, level->name);
        if (order == 0)
            return true;
        if (order < 0)
            level_skip_entry(level);
        else
            level_skip_item(level);
    }
    return false;
}

static bool project_value(const struct expr_trie_entry *entry, str found, struct buf *out);

static void level_take(struct level *level)
{
    level_skip_entry(level);
    level_skip_item(level);
}

/* How much of the level there is to keep. */
static uint64_t count_level(str trie, const struct value_walk *items, bool is_list)
{
    struct level level;
    uint64_t count = 0;
    for (level_open(&level, trie, items, is_list); level_meet(&level); level_take(&level))
        count += project_value(&level.entry, level.found, NULL);
    return count;
}

static void write_items(str trie, const struct value_walk *items, bool is_list, struct buf *out)
{
    struct level level;
    for (level_open(&level, trie, items, is_list); level_meet(&level); level_take(&level)) {
        if (!project_value(&level.entry, level.found, NULL))
            continue;
        if (!is_list)
            buf_add_counted(out, level.name);
        project_value(&level.entry, level.found, out);
    }
}

/* Writes what the entry keeps of the value, and says whether there is any; without `out` says only that. */
static bool project_value(const struct expr_trie_entry *entry, str found, struct buf *out)
{
    if (!entry->has_children) {
        if (out)
            buf_add_str(out, found);
        return true;
    }
    struct value_walk items;
    enum value_type type = value_type(found);
    bool is_list = type == VALUE_L;
    if ((!is_list && type != VALUE_M) || !value_walk_open(&items, found))
        return false;
    uint64_t count = count_level(entry->children, &items, is_list);
    if (count == 0 || !out)
        return count > 0;
    buf_add_byte(out, (uint8_t)type);
    size_t start = out->len;
    buf_add_varint(out, count);
    write_items(entry->children, &items, is_list, out);
    put_counted_before(out, start);
    return true;
}

void expr_trie_project(str trie, str item, struct buf *out)
{
    struct value_walk items;
    item_walk_open(&items, item);
    buf_add_varint(out, count_level(trie, &items, false));
    write_items(trie, &items, false, out);
}

void expr_project(str projection, str item, struct buf *out)
{
    if (projection.len == 0)
        buf_add_str(out, item);
    else
        expr_trie_project(expr_program_body(projection, EXPR_PROJECTION), item, out);
}

void expr_update_touched(str update, str item, struct buf *out)
{
    if (update.len == 0)
        buf_add_varint(out, 0);
    else
        expr_trie_project(expr_update_open(update).trie, item, out);
}
