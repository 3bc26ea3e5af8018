/* Expressions: from a request's texts to programs, and programs run on items. Pure: no clock, no store, no table.
   Grammar by lemon and re2c. Semantics, messages and their order: reference expressions.md sections 1 to 7. */
#ifndef STATOR_EXPR_EXPR_H
#define STATOR_EXPR_EXPR_H

#include "base/call.h"
#include "json/json.h"
#include "model/key.h"
#include "model/value.h"

/* A program is bytes with a version, self-contained (names and values are in it), so that it can travel in an edit to another
   node or into a transaction record. An empty str: there was no such expression. */

enum expr_kind { EXPR_UPDATE, EXPR_CONDITION, EXPR_KEY_CONDITION, EXPR_FILTER, EXPR_PROJECTION, EXPR_KINDS };

/* The expression members of a request. */
struct expr_request {
    const struct json *json;
    uint32_t names;                /* ExpressionAttributeNames, or JSON_ABSENT */
    uint32_t values;               /* ExpressionAttributeValues, or JSON_ABSENT; also JSON_ABSENT where the operation has none */
    uint32_t text[EXPR_KINDS];     /* UpdateExpression, ConditionExpression, ... or JSON_ABSENT */
    bool takes[EXPR_KINDS];        /* which of them the operation knows: for "UpdateExpression and ConditionExpression are null" */
    const char *const *legacy;     /* names of the non-expression parameters that are present, for "Can not use both ..."; NULL-terminated, may be NULL.
                                      Query leaves KeyConditions out unless there is a KeyConditionExpression too */
};

struct expr_programs {
    str of[EXPR_KINDS];   /* in the call's arena */
};

/* The part of expr_request_read that item operations check before any value: parameters that may not stand together, and placeholders
   without an expression. */
enum fault expr_request_check(struct call *call, const struct expr_request *request) MUST_USE;

/* Checks the members, then the placeholder maps, parses what is there in DynamoDB's order (update, condition, key condition, filter, projection), reports
   unused placeholders last. */
enum fault expr_request_read(struct call *call, const struct expr_request *request, struct expr_programs *out) MUST_USE;

/* Whether the condition holds for the item; `item` is an item without attributes when there is none. */
bool expr_holds(str condition, str item);

/* The item after the update, appended to `out`. `item` is the item before (for a missing item: its key attributes). All right-hand
   sides read the item before. Errors: what can only be known from the item (a missing attribute on the right, a path that leads nowhere, a wrong type, a number out of range). */
enum fault expr_update_apply(struct call *call, str update, str item, struct buf *out) MUST_USE;

/* The parts of `item` that the update's paths name, nested ones in their place, lists compacted: UPDATED_OLD (given the item before)
   and UPDATED_NEW (given the item after). Appended to `out` as an item. */
void expr_update_touched(str update, str item, struct buf *out);

/* Whether the update creates a missing item: false when it only has REMOVE (and DELETE) actions. Such an update of a missing item does
   nothing at all, whatever its paths: it must not reach expr_update_apply. An update without any action creates. */
bool expr_update_creates(str update);

/* What UpdateItem's own size gate measures besides the finished item, in bytes: all that the statement writes and what its clauses cost.
   UpdateItem takes max(size of the item after, this) <= ITEM_BYTES_MAX; transactions and AttributeUpdates measure the item after alone.
   `item` is the item before. (Public suite Parity, itemSizeBySurface, October 2026: newer than the reference's capacity.md section 2.) */
size_t expr_update_charge(str update, str item);

/* The parts of `item` that the projection names, appended to `out` as an item. */
void expr_project(str projection, str item, struct buf *out);

/* A projection of whole top-level attributes (AttributesToGet, index projections), appended to `out`. A name may stand twice. */
void expr_projection_of_names(const str *names, size_t count, struct buf *out);

/* Calls `visit` for each path of a program, in text order (a projection's in order of name, each attribute once): its first element's
   name, whether it has more elements, and whether the program writes it. Stops at the first fault, which it returns. For key checks. */
struct expr_path {
    str attribute;
    bool is_nested;
    bool is_written;
    uint8_t written_type; /* enum value_type of what SET, ADD or DELETE brings, where the program alone says it; else 0 */
};
enum fault expr_paths_each(str program, enum fault (*visit)(void *context, const struct expr_path *path), void *context) MUST_USE;

/* The conditions of a key condition's program, one by one: each compares one attribute with values. */
enum expr_key_comparison {
    EXPR_KEY_EQUAL,
    EXPR_KEY_LESS,
    EXPR_KEY_LESS_EQUAL,
    EXPR_KEY_GREATER,
    EXPR_KEY_GREATER_EQUAL,
    EXPR_KEY_BETWEEN, /* both values */
    EXPR_KEY_BEGINS_WITH,
    EXPR_KEY_OTHER /* only of KeyConditions: what keys cannot be asked */
};
struct expr_key_condition {
    str attribute;
    enum expr_key_comparison comparison; /* as if the attribute stood on the left */
    str values[2];
};
struct expr_key_conditions {
    str rest;
};
struct expr_key_conditions expr_key_conditions_open(str program);
bool expr_key_conditions_next(struct expr_key_conditions *walk, struct expr_key_condition *out);

/* The parameters from before expressions, as programs of the same form (reference section 9), with all errors that need no item. The
   tokens' JSON types and enums were checked before; each may be JSON_ABSENT. Of nothing, an empty str. */
enum fault expr_legacy_condition(struct call *call, const struct json *json, uint32_t expected, uint32_t conditional_operator, str *condition) MUST_USE;
enum fault expr_legacy_update(struct call *call, const struct json *json, uint32_t attribute_updates, str *update) MUST_USE;

/* QueryFilter or ScanFilter, as a program of kind EXPR_FILTER, and KeyConditions (not absent), as one of kind EXPR_KEY_CONDITION. */
enum fault expr_legacy_filter(struct call *call, const struct json *json, uint32_t filter, uint32_t conditional_operator, str *program) MUST_USE;
enum fault expr_legacy_key_conditions(struct call *call, const struct json *json, uint32_t conditions, str *program) MUST_USE;

/* Full check of a program that came from outside this process. */
bool expr_program_is_valid(str program, enum expr_kind kind);

/* Whether the name is one of DynamoDB's 573 reserved words, in any case. */
bool expr_word_is_reserved(str word);

#endif
