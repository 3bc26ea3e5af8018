/* The B+ tree behind the mem engine.
   Rows live in leaves, which are linked both ways. An inner node's row i (i above 0) is a copy of a key that is above all of
   child i-1 and not above any of child i; its row 0 is unused. Full nodes are split on the way down, so an insert never climbs;
   a delete merges a node that has become small with a neighbour under the same parent, so emptied ranges give memory back. */
#include "store/tree_internal.h"

#include "base/bytes.h"
#include "store/store_internal.h"

#include <assert.h>
#include <stdlib.h>

enum {
    FAN = 64,           /* rows of a leaf, children of an inner node */
    SMALL = FAN / 4,    /* at or below: look for a neighbour to merge with */
    MERGED_MAX = FAN * 3 / 4,
    DEPTH_MAX = 64
};

struct tree_entry {
    uint32_t key_bytes;
    uint32_t value_bytes;
    char bytes[]; /* key, then value */
};

/* The key's first 16 bytes as a number, filled up with 00: where heads differ, they order as the keys do. */
struct head {
    uint64_t high, low;
};

struct tree_node {
    uint16_t count;
    bool is_leaf;
    struct tree_node *previous, *next; /* leaves only */
    struct head heads[FAN];
    struct tree_entry *rows[FAN];
    struct tree_node *children[]; /* FAN of them in inner nodes */
};

static struct head head_of(str key)
{
    uint8_t first[16] = {0};
    memcpy(first, key.data, key.len < sizeof first ? key.len : sizeof first);
    return (struct head){bytes_get_u64(first), bytes_get_u64(first + 8)};
}

static str row_key(const struct tree_entry *row)
{
    return str_of(row->bytes, row->key_bytes);
}

static struct tree_entry *row_new(str key, str value)
{
    struct tree_entry *row = store_alloc(sizeof *row + key.len + value.len);
    row->key_bytes = (uint32_t)key.len;
    row->value_bytes = (uint32_t)value.len;
    memcpy(row->bytes, key.data, key.len);
    if (value.len > 0)
        memcpy(row->bytes + key.len, value.data, value.len);
    return row;
}

static struct tree_node *node_new(bool is_leaf)
{
    struct tree_node *node = store_alloc(sizeof *node + (is_leaf ? 0 : FAN * sizeof node->children[0]));
    node->count = 0;
    node->is_leaf = is_leaf;
    node->previous = node->next = NULL;
    return node;
}

/* The first place from `from` on whose key is not below `key`; *equal tells whether it is the key. */
static unsigned node_find(const struct tree_node *node, unsigned from, struct head head, str key, bool *equal)
{
    unsigned low = from, high = node->count;
    *equal = false;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        struct head there = node->heads[middle];
        int order;
        if (there.high != head.high)
            order = there.high < head.high ? -1 : 1;
        else if (there.low != head.low)
            order = there.low < head.low ? -1 : 1;
        else
            order = str_compare(row_key(node->rows[middle]), key);
        if (order == 0) {
            *equal = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static unsigned child_of(const struct tree_node *node, struct head head, str key)
{
    bool equal;
    unsigned at = node_find(node, 1, head, key, &equal);
    return equal ? at : at - 1;
}

/* Makes room at `at` in the arrays that leaves and inner nodes share. */
static void node_open_gap(struct tree_node *node, unsigned at)
{
    size_t behind = node->count - at;
    memmove(&node->heads[at + 1], &node->heads[at], behind * sizeof node->heads[0]);
    memmove(&node->rows[at + 1], &node->rows[at], behind * sizeof node->rows[0]);
    if (!node->is_leaf)
        memmove(&node->children[at + 1], &node->children[at], behind * sizeof node->children[0]);
    node->count++;
}

static void node_close_gap(struct tree_node *node, unsigned at)
{
    size_t behind = node->count - at - 1u;
    memmove(&node->heads[at], &node->heads[at + 1], behind * sizeof node->heads[0]);
    memmove(&node->rows[at], &node->rows[at + 1], behind * sizeof node->rows[0]);
    if (!node->is_leaf)
        memmove(&node->children[at], &node->children[at + 1], behind * sizeof node->children[0]);
    node->count--;
}

static void node_move_tail(struct tree_node *to, struct tree_node *from, unsigned cut)
{
    size_t count = from->count - cut;
    memcpy(&to->heads[to->count], &from->heads[cut], count * sizeof to->heads[0]);
    memcpy(&to->rows[to->count], &from->rows[cut], count * sizeof to->rows[0]);
    if (!to->is_leaf)
        memcpy(&to->children[to->count], &from->children[cut], count * sizeof to->children[0]);
    to->count = (uint16_t)(to->count + count);
    from->count = (uint16_t)cut;
}

/* Splits the full child `at` of a parent that has room. A key that will go to the child's end leaves the child full: rows that
   come in order then fill their leaves. */
static void node_split_child(struct tree_node *parent, unsigned at, struct head head, str key)
{
    struct tree_node *left = parent->children[at];
    bool equal;
    unsigned place = node_find(left, left->is_leaf ? 0 : 1, head, key, &equal);
    unsigned cut = place == left->count && !equal ? FAN - 1 : FAN / 2;
    struct tree_node *right = node_new(left->is_leaf);
    node_move_tail(right, left, cut);
    node_open_gap(parent, at + 1);
    parent->children[at + 1] = right;
    parent->heads[at + 1] = right->heads[0];
    if (left->is_leaf) {
        parent->rows[at + 1] = row_new(row_key(right->rows[0]), STR_NONE);
        right->previous = left;
        right->next = left->next;
        if (right->next != NULL)
            right->next->previous = right;
        left->next = right;
    } else {
        parent->rows[at + 1] = right->rows[0];
        right->rows[0] = NULL;
    }
}

void tree_open(struct tree *tree)
{
    *tree = (struct tree){0};
}

static void node_free(struct tree_node *node)
{
    for (unsigned at = node->is_leaf ? 0 : 1; at < node->count; at++)
        free(node->rows[at]);
    if (!node->is_leaf) {
        for (unsigned at = 0; at < node->count; at++)
            node_free(node->children[at]);
    }
    free(node);
}

void tree_close(struct tree *tree)
{
    if (tree->root != NULL)
        node_free(tree->root);
    tree_open(tree);
}

/* The leaf where `key` is or would be; NULL for an empty tree. */
static struct tree_node *leaf_of(const struct tree *tree, struct head head, str key)
{
    struct tree_node *node = tree->root;
    while (node != NULL && !node->is_leaf)
        node = node->children[child_of(node, head, key)];
    return node;
}

bool tree_get(const struct tree *tree, str key, str *value)
{
    struct head head = head_of(key);
    const struct tree_node *leaf = leaf_of(tree, head, key);
    bool equal;
    if (leaf == NULL)
        return false;
    unsigned at = node_find(leaf, 0, head, key, &equal);
    if (!equal)
        return false;
    *value = str_of(leaf->rows[at]->bytes + leaf->rows[at]->key_bytes, leaf->rows[at]->value_bytes);
    return true;
}

static void leaf_replace(struct tree *tree, struct tree_node *leaf, unsigned at, str key, str value)
{
    struct tree_entry *row = leaf->rows[at];
    tree->bytes = tree->bytes - row->value_bytes + value.len;
    if (row->value_bytes == value.len) {
        memcpy(row->bytes + row->key_bytes, value.data, value.len);
        return;
    }
    leaf->rows[at] = row_new(key, value);
    free(row);
}

void tree_put(struct tree *tree, str key, str value)
{
    struct head head = head_of(key);
    bool equal;
    if (tree->root == NULL)
        tree->root = node_new(true);
    if (tree->root->count == FAN) {
        struct tree_node *root = node_new(false);
        root->count = 1;
        root->rows[0] = NULL;
        root->heads[0] = (struct head){0, 0};
        root->children[0] = tree->root;
        tree->root = root;
        node_split_child(root, 0, head, key);
    }
    struct tree_node *node = tree->root;
    while (!node->is_leaf) {
        unsigned at = child_of(node, head, key);
        if (node->children[at]->count == FAN) {
            node_split_child(node, at, head, key);
            at = child_of(node, head, key);
        }
        node = node->children[at];
    }
    unsigned at = node_find(node, 0, head, key, &equal);
    if (equal) {
        leaf_replace(tree, node, at, key, value);
        return;
    }
    node_open_gap(node, at);
    node->heads[at] = head;
    node->rows[at] = row_new(key, value);
    tree->rows++;
    tree->bytes += key.len + value.len;
}

/* Moves all of child at+1 into child at. */
static void node_merge_children(struct tree_node *parent, unsigned at)
{
    struct tree_node *left = parent->children[at], *right = parent->children[at + 1];
    struct tree_entry *separator = parent->rows[at + 1];
    if (left->is_leaf) {
        free(separator);
        left->next = right->next;
        if (left->next != NULL)
            left->next->previous = left;
    } else {
        right->rows[0] = separator;
        right->heads[0] = parent->heads[at + 1];
    }
    node_move_tail(left, right, 0);
    free(right);
    node_close_gap(parent, at + 1);
}

static void node_remove_empty_child(struct tree_node *parent, unsigned at)
{
    struct tree_node *child = parent->children[at];
    assert(child->count == 0);
    if (child->is_leaf) {
        if (child->previous != NULL)
            child->previous->next = child->next;
        if (child->next != NULL)
            child->next->previous = child->previous;
    }
    free(child);
    if (at > 0)
        free(parent->rows[at]);
    node_close_gap(parent, at);
    if (at == 0 && parent->count > 0) {
        /* What was child 1 is now first: its lower bound is the parent's own. */
        free(parent->rows[0]);
        parent->rows[0] = NULL;
    }
}

static void node_settle_child(struct tree_node *parent, unsigned at)
{
    struct tree_node *child = parent->children[at];
    if (child->count == 0)
        node_remove_empty_child(parent, at);
    else if (child->count > SMALL)
        return;
    else if (at + 1 < parent->count && child->count + parent->children[at + 1]->count <= MERGED_MAX)
        node_merge_children(parent, at);
    else if (at > 0 && child->count + parent->children[at - 1]->count <= MERGED_MAX)
        node_merge_children(parent, at - 1);
}

bool tree_delete(struct tree *tree, str key)
{
    struct head head = head_of(key);
    struct tree_node *path[DEPTH_MAX];
    unsigned places[DEPTH_MAX];
    unsigned depth = 0;
    bool equal;
    struct tree_node *node = tree->root;
    if (node == NULL)
        return false;
    while (!node->is_leaf) {
        assert(depth < DEPTH_MAX);
        path[depth] = node;
        places[depth] = child_of(node, head, key);
        node = node->children[places[depth++]];
    }
    unsigned at = node_find(node, 0, head, key, &equal);
    if (!equal)
        return false;
    tree->rows--;
    tree->bytes -= key.len + node->rows[at]->value_bytes;
    free(node->rows[at]);
    node_close_gap(node, at);
    while (depth-- > 0)
        node_settle_child(path[depth], places[depth]);
    while (tree->root != NULL && !tree->root->is_leaf && tree->root->count == 1) {
        struct tree_node *child = tree->root->children[0];
        free(tree->root);
        tree->root = child;
    }
    if (tree->root->count == 0) {
        free(tree->root);
        tree->root = NULL;
    }
    return true;
}

struct tree_cursor tree_seek(const struct tree *tree, str key)
{
    struct tree_cursor cursor = {0};
    if (key.len == 0) {
        cursor.leaf = tree->root;
        while (cursor.leaf != NULL && !cursor.leaf->is_leaf)
            cursor.leaf = cursor.leaf->children[0];
        return cursor;
    }
    struct head head = head_of(key);
    bool equal;
    cursor.leaf = leaf_of(tree, head, key);
    if (cursor.leaf != NULL) {
        cursor.at = node_find(cursor.leaf, 0, head, key, &equal);
        if (cursor.at == cursor.leaf->count)
            cursor = (struct tree_cursor){cursor.leaf->next, 0};
    }
    return cursor;
}

struct tree_cursor tree_seek_below(const struct tree *tree, str key)
{
    struct tree_cursor cursor = {0};
    if (key.len == 0) {
        cursor.leaf = tree->root;
        while (cursor.leaf != NULL && !cursor.leaf->is_leaf)
            cursor.leaf = cursor.leaf->children[cursor.leaf->count - 1];
        if (cursor.leaf != NULL)
            cursor.at = cursor.leaf->count - 1u;
        return cursor;
    }
    struct head head = head_of(key);
    bool equal;
    cursor.leaf = leaf_of(tree, head, key);
    if (cursor.leaf != NULL) {
        cursor.at = node_find(cursor.leaf, 0, head, key, &equal);
        tree_previous(&cursor);
    }
    return cursor;
}

void tree_next(struct tree_cursor *cursor)
{
    if (++cursor->at >= cursor->leaf->count)
        *cursor = (struct tree_cursor){cursor->leaf->next, 0};
}

void tree_previous(struct tree_cursor *cursor)
{
    if (cursor->at > 0) {
        cursor->at--;
        return;
    }
    cursor->leaf = cursor->leaf->previous;
    cursor->at = cursor->leaf != NULL ? cursor->leaf->count - 1u : 0;
}

void tree_row(const struct tree_cursor *cursor, str *key, str *value)
{
    const struct tree_entry *row = cursor->leaf->rows[cursor->at];
    *key = row_key(row);
    *value = str_of(row->bytes + row->key_bytes, row->value_bytes);
}

/* What tree_check has seen so far, in order. */
struct check_state {
    const struct tree_node *last_leaf;
    size_t rows;
    size_t bytes;
};

static void node_check(const struct tree_node *node, str lower, str upper, unsigned depth, unsigned *leaf_depth, struct check_state *state)
{
    assert(node->count > 0 && node->count <= FAN);
    for (unsigned at = node->is_leaf ? 0 : 1; at < node->count; at++) {
        str key = row_key(node->rows[at]);
        struct head head = head_of(key);
        assert(head.high == node->heads[at].high && head.low == node->heads[at].low);
        assert(str_compare(lower, key) <= 0 && (upper.len == 0 || str_compare(key, upper) < 0));
        if (node->is_leaf) {
            assert(at == 0 || str_compare(row_key(node->rows[at - 1]), key) < 0);
            state->rows++;
            state->bytes += node->rows[at]->key_bytes + node->rows[at]->value_bytes;
        }
    }
    if (node->is_leaf) {
        assert(node->previous == state->last_leaf);
        assert(state->last_leaf == NULL || state->last_leaf->next == node);
        assert(*leaf_depth == 0 || *leaf_depth == depth);
        *leaf_depth = depth;
        state->last_leaf = node;
        return;
    }
    for (unsigned at = 0; at < node->count; at++) {
        str from = at > 0 ? row_key(node->rows[at]) : lower;
        str to = at + 1u < node->count ? row_key(node->rows[at + 1]) : upper;
        node_check(node->children[at], from, to, depth + 1, leaf_depth, state);
    }
}

size_t tree_check(const struct tree *tree)
{
    struct check_state state = {0};
    unsigned leaf_depth = 0;
    if (tree->root != NULL)
        node_check(tree->root, STR_NONE, STR_NONE, 1, &leaf_depth, &state);
    assert(state.last_leaf == NULL || state.last_leaf->next == NULL);
    assert(state.rows == tree->rows && state.bytes == tree->bytes);
    return state.rows;
}
