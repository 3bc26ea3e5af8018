/* An ordered map of bytes in memory: a B+ tree whose nodes keep the first 16 bytes of each key beside the pointer to the row,
   so that a search touches rows only where keys agree that far. */
#ifndef STATOR_STORE_TREE_INTERNAL_H
#define STATOR_STORE_TREE_INTERNAL_H

#include "base/str.h"

#include <stdint.h>

struct tree_node;

struct tree {
    struct tree_node *root; /* NULL: no rows */
    size_t rows;
    size_t bytes;           /* of keys and values */
};

/* A place in the tree, good until the tree changes. leaf NULL: past either end. */
struct tree_cursor {
    struct tree_node *leaf;
    unsigned at;
};

void tree_open(struct tree *tree);
void tree_close(struct tree *tree);

/* *value is good until the tree changes. */
bool tree_get(const struct tree *tree, str key, str *value);
void tree_put(struct tree *tree, str key, str value);
bool tree_delete(struct tree *tree, str key);

/* The first row whose key is `key` or above; with an empty key the first row of all. */
struct tree_cursor tree_seek(const struct tree *tree, str key);

/* The last row whose key is below `key`; with an empty key the last row of all. */
struct tree_cursor tree_seek_below(const struct tree *tree, str key);

void tree_next(struct tree_cursor *cursor);
void tree_previous(struct tree_cursor *cursor);
void tree_row(const struct tree_cursor *cursor, str *key, str *value);

/* Asserts every invariant of the structure; for tests. Returns the number of rows. */
size_t tree_check(const struct tree *tree);

#endif
