/* The expression members of a request: which may stand together, parsed in DynamoDB's order, placeholders accounted for. */
#include "expr/expr_internal.h"

/* The order in which messages list the parameters: not the order of parsing. */
static const enum expr_kind listed[] = {EXPR_PROJECTION, EXPR_UPDATE, EXPR_CONDITION, EXPR_FILTER, EXPR_KEY_CONDITION};
enum { LISTED = sizeof listed / sizeof listed[0] };

static bool has_expression(const struct expr_request *request)
{
    for (size_t kind = 0; kind < EXPR_KINDS; kind++) {
        if (request->text[kind] != JSON_ABSENT)
            return true;
    }
    return false;
}

static enum fault refuse_mixture(struct call *call, const struct expr_request *request)
{
    struct buf legacy;
    struct buf expressions;
    buf_open(&legacy, &call->arena, 0);
    for (size_t i = 0; request->legacy[i]; i++)
        buf_printf(&legacy, "%s%s", i > 0 ? ", " : "", request->legacy[i]);
    buf_open(&expressions, &call->arena, 0);
    for (size_t i = 0; i < LISTED; i++) {
        if (request->text[listed[i]] != JSON_ABSENT)
            buf_printf(&expressions, "%s%s", expressions.len > 0 ? ", " : "", expr_kind_name(listed[i]));
    }
    return fail_reworded(call,
                         "Can not use both expression and non-expression parameters in the same request: "
                         "Non-expression parameters: {%.*s} Expression parameters: {%.*s}",
                         STR_ARG(buf_str(&legacy)), STR_ARG(buf_str(&expressions)));
}

/* Values without an expression that could use them. Only the older wording says which expressions those are. */
static enum fault refuse_lonely_values(struct call *call, const struct expr_request *request)
{
    static const char text[] = "ExpressionAttributeValues can only be specified when using expressions";
    if (call->wording != WORDING_CLASSIC)
        return fail_reworded(call, text);
    struct buf names;
    buf_open(&names, &call->arena, 0);
    size_t count = 0;
    for (size_t i = 0; i < LISTED; i++) {
        if (listed[i] != EXPR_PROJECTION && request->takes[listed[i]])
            buf_printf(&names, "%s%s", count++ > 0 ? " and " : "", expr_kind_name(listed[i]));
    }
    return fail(call, FAULT_VALIDATION, "%s: %.*s %s null", text, STR_ARG(buf_str(&names)), count > 1 ? "are" : "is");
}

enum fault expr_request_check(struct call *call, const struct expr_request *request)
{
    bool has_any = has_expression(request);
    if (has_any && request->legacy && request->legacy[0])
        return refuse_mixture(call, request);
    if (request->names != JSON_ABSENT && !has_any)
        return fail_reworded(call, "ExpressionAttributeNames can only be specified when using expressions");
    if (request->values == JSON_ABSENT)
        return FAULT_NONE;
    for (size_t kind = 0; kind < EXPR_KINDS; kind++) {
        if (kind != EXPR_PROJECTION && request->text[kind] != JSON_ABSENT)
            return FAULT_NONE;
    }
    return refuse_lonely_values(call, request);
}

static enum fault read_expression(struct expr_parse *parse, str *program) MUST_USE;
static enum fault read_expression(struct expr_parse *parse, str *program)
{
    TRY(expr_parse_text(parse));
    TRY(expr_check(parse));
    struct buf bytes;
    buf_open(&bytes, &parse->call->arena, parse->text.len + 16);
    expr_compile(parse, &bytes);
    *program = buf_str(&bytes);
    return FAULT_NONE;
}

enum fault expr_request_read(struct call *call, const struct expr_request *request, struct expr_programs *out)
{
    *out = (struct expr_programs){0};
    TRY(expr_request_check(call, request));
    struct expr_placeholders names;
    struct expr_placeholders values;
    TRY(expr_placeholders_read(call, request, &names, &values));
    for (size_t kind = 0; kind < EXPR_KINDS; kind++) {
        uint32_t text = request->text[kind];
        if (text == JSON_ABSENT)
            continue;
        if (json_type(request->json, text) != JSON_STRING)
            return fail(call, FAULT_SERIALIZATION, "Unexpected field type");
        struct expr_parse parse = {
            .call = call,
            .json = request->json,
            .kind = (enum expr_kind)kind,
            .text = json_string(request->json, text),
            .names = &names,
            .values = &values,
        };
        TRY(read_expression(&parse, &out->of[kind]));
    }
    TRY(expr_placeholders_check_used(call, "ExpressionAttributeNames", &names));
    return expr_placeholders_check_used(call, "ExpressionAttributeValues", &values);
}
