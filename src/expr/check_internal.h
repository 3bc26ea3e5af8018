/* Inside expr's checks: findings. A walk collects the first fault of each category; the category that DynamoDB looks at first is
   then the one that the client reads (reference expressions.md section 6, "Precedence of errors"). */
#ifndef STATOR_EXPR_CHECK_INTERNAL_H
#define STATOR_EXPR_CHECK_INTERNAL_H

#include "expr/expr_internal.h"

enum expr_category {
    CATEGORY_FUNCTION_NAME,
    CATEGORY_FUNCTION_PLACE,
    CATEGORY_RESERVED, /* and indexes that are too large */
    CATEGORY_OPERATORS,
    CATEGORY_SECTION,
    CATEGORY_NAME,
    CATEGORY_VALUE,
    CATEGORY_OPERAND_COUNT,
    CATEGORY_DISTINCT,
    CATEGORY_ACTION_TYPE,
    CATEGORY_TYPE,
    CATEGORIES
};

struct expr_findings {
    struct expr_parse *parse;
    struct {
        str message;
        uint32_t at;
        bool found;
    } first[CATEGORIES];
    bool found; /* of any category */
};

/* Keeps the message when no fault of its category stood before `at`. */
__attribute__((format(printf, 4, 5))) void expr_find(struct expr_findings *findings, enum expr_category category, uint32_t at, const char *format, ...);

/* Fails with the first of these categories that was found. */
enum fault expr_findings_report(const struct expr_findings *findings, const enum expr_category *order, size_t count) MUST_USE;

/* Names and uses of functions, reserved words, indexes, the number of operators: what a tree shows without the placeholder maps. */
void expr_find_in_tree(struct expr_findings *findings);

/* Looks up the placeholders of one path or value and marks them as used. */
void expr_find_undefined(struct expr_findings *findings, uint16_t node);

/* A call's operands: how many, which may not be the same, of which types. `at` is its place among the findings. */
void expr_find_in_call(struct expr_findings *findings, uint16_t node, enum expr_category count_category);

void expr_find_type(struct expr_findings *findings, uint16_t node, str name, str type);

/* The first operand may not be any of those that follow it. */
void expr_find_same(struct expr_findings *findings, uint16_t node, str name);

enum fault expr_check_update(struct expr_parse *parse) MUST_USE;
enum fault expr_check_key_condition(struct expr_parse *parse) MUST_USE;

#endif
