/* Document paths of a tree: their elements with placeholders resolved, as messages show them, in the order of a trie. */
#include "expr/expr_internal.h"
#include "expr/grammar.h"

#include <stdlib.h>

static uint32_t index_of(str digits)
{
    uint64_t index = 0;
    for (size_t i = 0; i < digits.len && index <= EXPR_INDEX_MAX; i++)
        index = index * 10 + (uint64_t)(digits.data[i] - '0');
    return index > EXPR_INDEX_MAX ? EXPR_INDEX_MAX : (uint32_t)index;
}

bool expr_path_walk_next(struct expr_path_walk *walk, struct expr_element *element)
{
    const struct expr_parse *parse = walk->parse;
    while (walk->token < walk->end) {
        uint16_t at = walk->token++;
        const struct expr_token *token = &parse->tokens[at];
        str text = expr_token_text(parse, at);
        switch (token->kind) {
        case TOKEN_NAME:
            *element = (struct expr_element){.name = text};
            return true;
        case TOKEN_NAME_PLACEHOLDER:
            *element = (struct expr_element){.name = token->entry == EXPR_NO_ENTRY ? text : parse->names->entries[token->entry].value};
            return true;
        case TOKEN_INDEX:
            *element = (struct expr_element){.index = index_of(text)};
            return true;
        default:
            break;
        }
    }
    return false;
}

static int compare_elements(const struct expr_element *a, const struct expr_element *b)
{
    bool a_is_index = !a->name.data;
    bool b_is_index = !b->name.data;
    if (a_is_index != b_is_index)
        return a_is_index ? 1 : -1;
    return a_is_index ? (a->index > b->index) - (a->index < b->index) : str_compare(a->name, b->name);
}

bool expr_path_equal(const struct expr_parse *parse, uint16_t a, uint16_t b)
{
    if (expr_node_at(parse, a)->count != expr_node_at(parse, b)->count)
        return false;
    struct expr_path_walk left = expr_path_walk_open(parse, a);
    struct expr_path_walk right = expr_path_walk_open(parse, b);
    struct expr_element x;
    struct expr_element y;
    while (expr_path_walk_next(&left, &x) && expr_path_walk_next(&right, &y)) {
        if (compare_elements(&x, &y) != 0)
            return false;
    }
    return true;
}

static void show_element(struct buf *out, const struct expr_element *element)
{
    if (element->name.data)
        buf_add_str(out, element->name);
    else
        buf_printf(out, "[%u]", element->index);
}

str expr_path_show(const struct expr_parse *parse, uint16_t path)
{
    struct buf shown;
    buf_open(&shown, &parse->call->arena, 0);
    struct expr_path_walk walk = expr_path_walk_open(parse, path);
    struct expr_element element;
    while (expr_path_walk_next(&walk, &element)) {
        buf_add_str(&shown, shown.len == 0 ? STR("[") : STR(", "));
        show_element(&shown, &element);
    }
    buf_add_byte(&shown, ']');
    return buf_str(&shown);
}

static str show_path(struct call *call, const struct expr_trie_path *path)
{
    struct buf shown;
    buf_open(&shown, &call->arena, 0);
    for (uint32_t i = 0; i < path->count; i++) {
        buf_add_str(&shown, i == 0 ? STR("[") : STR(", "));
        show_element(&shown, &path->elements[i]);
    }
    buf_add_byte(&shown, ']');
    return buf_str(&shown);
}

static int compare_paths(const void *left, const void *right)
{
    const struct expr_trie_path *a = left;
    const struct expr_trie_path *b = right;
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        int order = compare_elements(&a->elements[i], &b->elements[i]);
        if (order != 0)
            return order;
    }
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

void expr_trie_paths_sort(struct expr_trie_path *paths, size_t count)
{
    if (count > 1)
        qsort(paths, count, sizeof paths[0], compare_paths);
}

static uint16_t path_of(const struct expr_parse *parse, uint16_t node)
{
    return parse->kind == EXPR_UPDATE ? expr_node_at(parse, node)->first : node;
}

/* The elements of all paths, in the arena. */
static void collect(struct expr_parse *parse)
{
    size_t element_count = 0;
    for (uint16_t node = parse->root; node != 0; node = expr_node_at(parse, node)->next) {
        element_count += expr_node_at(parse, path_of(parse, node))->count;
        parse->path_count++;
    }
    struct arena *arena = &parse->call->arena;
    struct expr_element *elements = arena_alloc(arena, element_count * sizeof elements[0]);
    parse->paths = arena_alloc(arena, parse->path_count * sizeof parse->paths[0]);
    uint32_t number = 0;
    for (uint16_t node = parse->root; node != 0; node = expr_node_at(parse, node)->next) {
        struct expr_path_walk walk = expr_path_walk_open(parse, path_of(parse, node));
        struct expr_trie_path *path = &parse->paths[number];
        *path = (struct expr_trie_path){.elements = elements, .number = number};
        number++;
        while (expr_path_walk_next(&walk, elements)) {
            elements++;
            path->count++;
        }
    }
}

enum meeting { APART, OVERLAP, CONFLICT };

static enum meeting meeting_of(const struct expr_trie_path *a, const struct expr_trie_path *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        if (!a->elements[i].name.data != !b->elements[i].name.data)
            return CONFLICT;
        if (compare_elements(&a->elements[i], &b->elements[i]) != 0)
            return APART;
    }
    return OVERLAP;
}

/* In sorted order, whatever meets something meets a neighbour: what a path begins follows it at once, and where names and indexes
   stand under one parent, the last name is followed by the first index. So no pair is missed, and the work stays n log n. */
enum fault expr_paths_check(struct expr_parse *parse)
{
    collect(parse);
    expr_trie_paths_sort(parse->paths, parse->path_count);
    const struct expr_trie_path *found[2] = {NULL, NULL};
    enum meeting worst = APART;
    for (uint32_t i = 1; i < parse->path_count; i++) {
        const struct expr_trie_path *a = &parse->paths[i - 1];
        const struct expr_trie_path *b = &parse->paths[i];
        enum meeting meeting = meeting_of(a, b);
        const struct expr_trie_path *later = a->number > b->number ? a : b;
        bool is_first = worst == APART || (meeting == OVERLAP && worst == CONFLICT) || (meeting == worst && later->number < found[1]->number);
        if (meeting == APART || !is_first)
            continue;
        worst = meeting;
        found[0] = later == a ? b : a;
        found[1] = later;
    }
    if (worst == APART)
        return FAULT_NONE;
    return fail_reworded(parse->call,
                         "Invalid %s: Two document paths %s with each other; must remove or rewrite one of these paths; path one: %.*s, path two: %.*s",
                         expr_kind_name(parse->kind), worst == OVERLAP ? "overlap" : "conflict", STR_ARG(show_path(parse->call, found[0])),
                         STR_ARG(show_path(parse->call, found[1])));
}
