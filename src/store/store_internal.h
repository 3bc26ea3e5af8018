/* What the engines share inside this folder. */
#ifndef STATOR_STORE_STORE_INTERNAL_H
#define STATOR_STORE_STORE_INTERNAL_H

#include "store/store.h"

/* Never NULL: a machine without memory ends the program with one line. */
void *store_alloc(size_t bytes);
void *store_alloc_zeroed(size_t bytes);

/* Asserts the contract of a group: no byte 00 in a key, no empty value, nothing over its limit. */
void store_group_check(const struct store_group *group);

/* Asserts that the bounds and limits of a scan are ones that every engine takes. */
void store_scan_check(const struct store *store, const struct store_scan *scan);

/* Collects a page's rows in an arena; the rows' array grows as rows come. */
struct page_builder {
    const struct store_scan *scan;
    struct arena *arena;
    struct store_page *page;
    size_t capacity;
    size_t bytes;
};

void page_builder_open(struct page_builder *builder, const struct store_scan *scan, struct arena *arena, struct store_page *page);

/* False when the page is full: then the row stays out and the page has_more. */
bool page_builder_add(struct page_builder *builder, str key, str value);

#endif
