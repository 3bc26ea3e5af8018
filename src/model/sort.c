/* Sorting by bytes, stable: insertion for the few that items mostly have, merging for many. */
#include "model/model_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { INSERTION_MAX = 16 };

/* str_compare, but most names differ in their first byte. */
static inline int order(str a, str b)
{
    if (a.len > 0 && b.len > 0 && a.data[0] != b.data[0])
        return (unsigned char)a.data[0] < (unsigned char)b.data[0] ? -1 : 1;
    return str_compare(a, b);
}

static void insert_entries(struct sort_entry *entries, size_t count)
{
    for (size_t next = 1; next < count; next++) {
        struct sort_entry moving = entries[next];
        size_t at = next;
        for (; at > 0 && order(entries[at - 1].key, moving.key) > 0; at--)
            entries[at] = entries[at - 1];
        entries[at] = moving;
    }
}

static void merge_entries(const struct sort_entry *left, size_t left_count, const struct sort_entry *right, size_t right_count, struct sort_entry *to)
{
    while (left_count > 0 && right_count > 0) {
        if (order(left->key, right->key) <= 0) {
            *to++ = *left++;
            left_count--;
        } else {
            *to++ = *right++;
            right_count--;
        }
    }
    memcpy(to, left, left_count * sizeof *left);
    memcpy(to + left_count, right, right_count * sizeof *right);
}

void sort_entries(struct sort_entry *entries, struct sort_entry *scratch, size_t count)
{
    for (size_t start = 0; start < count; start += INSERTION_MAX)
        insert_entries(entries + start, count - start < INSERTION_MAX ? count - start : INSERTION_MAX);
    struct sort_entry *from = entries, *to = scratch;
    for (size_t run = INSERTION_MAX; run < count; run *= 2) {
        for (size_t start = 0; start < count; start += 2 * run) {
            size_t left = count - start < run ? count - start : run;
            size_t right = count - start - left < run ? count - start - left : run;
            merge_entries(from + start, left, from + start + left, right, to + start);
        }
        struct sort_entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != entries)
        memcpy(entries, from, count * sizeof *entries);
}

static void insert_attributes(struct attribute *attributes, size_t count)
{
    for (size_t next = 1; next < count; next++) {
        struct attribute moving = attributes[next];
        size_t at = next;
        for (; at > 0 && order(attributes[at - 1].name, moving.name) > 0; at--)
            attributes[at] = attributes[at - 1];
        attributes[at] = moving;
    }
}

static bool attributes_in_order(const struct attribute *attributes, size_t count)
{
    for (size_t next = 1; next < count; next++)
        if (order(attributes[next - 1].name, attributes[next].name) > 0)
            return false;
    return true;
}

void sort_attributes(struct attribute *attributes, size_t count)
{
    if (count <= INSERTION_MAX) {
        insert_attributes(attributes, count);
        return;
    }
    if (attributes_in_order(attributes, count))
        return;
    struct sort_entry *entries = malloc(2 * count * sizeof *entries);
    struct attribute *copy = malloc(count * sizeof *copy);
    if (!entries || !copy) {
        fprintf(stderr, "stator: the machine has no memory to sort %zu attributes\n", count);
        abort();
    }
    memcpy(copy, attributes, count * sizeof *copy);
    for (size_t at = 0; at < count; at++)
        entries[at] = (struct sort_entry){copy[at].name, at};
    sort_entries(entries, entries + count, count);
    for (size_t at = 0; at < count; at++)
        attributes[at] = copy[entries[at].place];
    free(entries);
    free(copy);
}
