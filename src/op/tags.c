/* TagResource, UntagResource and ListTagsOfResource. ARNs and their errors: reference indexes-streams-ttl.md section 12; of two wordings for a
   text that is no ARN the newer is here (public suite Alternator, test_tag). */
#include "op/table_request_internal.h"

enum { CHANGE_TRIES = 50 };

enum fault tagged_table_acquire(struct op_context *context, struct call *call, const struct json *request, const char *operation, const struct table **out)
{
    uint32_t member = json_member(request, 0, STR("ResourceArn"));
    str text = wire_text(request, member);
    struct table_arn arn;
    if (member == JSON_ABSENT)
        return fail(call, FAULT_VALIDATION, "Invalid TableArn");
    if (!str_begins(text, STR("arn:")))
        return fail(call, FAULT_VALIDATION, "ARNs must start with 'arn:': %.*s", STR_ARG(text));
    if (!table_arn_read(text, &arn) || arn.rest.len)
        return fail(call, FAULT_VALIDATION, "Invalid TableArn: Invalid ResourceArn provided as input %.*s", STR_ARG(text));
    bool is_list = strcmp(operation, "ListTagsOfResource") == 0;
    bool is_ours = str_equal(arn.account, context->account) && str_equal(arn.region, context->region);
    if (is_ours && table_acquire_any(call, context->service->catalog, arn.account, arn.region, arn.name, out) == FAULT_NONE)
        return FAULT_NONE;
    call_clear_fault(call);
    if (is_list || !str_equal(arn.account, context->account))
        return fail(call, FAULT_ACCESS_DENIED,
            "User: arn:aws:iam::%.*s:root is not authorized to perform: dynamodb:%s on resource: %.*s because no identity-based policy allows the dynamodb:%s action",
            STR_ARG(context->account), operation, STR_ARG(text), operation);
    return fail(call, FAULT_RESOURCE_NOT_FOUND, "Requested resource not found: ResourcArn: %.*s not found", STR_ARG(text));
}

/* Makes the change on the newest state of the table, again when another change came between: tags of two callers both survive. */
static enum fault change_tags(struct op_context *context, struct call *call, const struct json *request, const char *operation,
    enum fault (*change)(struct call *call, const struct json *request, struct table *draft))
{
    for (int try = 0;; try++) {
        const struct table *table, *made;
        TRY(tagged_table_acquire(context, call, request, operation, &table));
        struct table *draft = table_draft_new(table);
        table_release(table);
        enum fault fault = change(call, request, draft);
        if (fault != FAULT_NONE) {
            table_draft_free(draft);
            return fault;
        }
        fault = table_replace(call, context->service->catalog, draft, &made);
        if (fault == FAULT_NONE) {
            table_release(made);
            return FAULT_NONE;
        }
        if (fault != FAULT_RESOURCE_IN_USE || try == CHANGE_TRIES)
            return fault;
        call_clear_fault(call);
    }
}

static enum fault add_tags(struct call *call, const struct json *request, struct table *draft)
{
    struct table_tag *tags = ARENA_NEW_ARRAY(&draft->arena, struct table_tag, TABLE_TAGS_MAX);
    if (draft->tag_count)
        memcpy(tags, draft->tags, draft->tag_count * sizeof *tags);
    draft->tags = tags;
    return request_tags(call, request, json_member(request, 0, STR("Tags")), &draft->arena, tags, &draft->tag_count);
}

static enum fault remove_tags(struct call *call, const struct json *request, struct table *draft)
{
    (void)call;
    uint32_t list = json_member(request, 0, STR("TagKeys"));
    struct table_tag *tags = ARENA_NEW_ARRAY(&draft->arena, struct table_tag, TABLE_TAGS_MAX);
    size_t kept = 0;
    for (size_t i = 0; i < draft->tag_count; i++) {
        bool goes = false;
        for (uint32_t at = json_first(request, list); at < json_end(request, list); at = json_next(request, at))
            goes |= str_equal(json_string(request, at), draft->tags[i].key);
        if (!goes)
            tags[kept++] = draft->tags[i];
    }
    draft->tags = tags;
    draft->tag_count = kept;
    return FAULT_NONE;
}

/* The ARN is looked at before the list, the list before the table. */
static enum fault check_list(struct call *call, const struct json *request, const char *name, const char *path, const char *what)
{
    uint32_t list = json_member(request, 0, str_of_text(name));
    struct table_arn arn;
    str text = wire_text(request, json_member(request, 0, STR("ResourceArn")));
    if (json_member(request, 0, STR("ResourceArn")) == JSON_ABSENT || !str_begins(text, STR("arn:")))
        return FAULT_NONE;
    if (list == JSON_ABSENT)
        return fail(call, FAULT_VALIDATION, "1 validation error detected: Value null at '%s' failed to satisfy constraint: Member must not be null", path);
    if (table_arn_read(text, &arn) && arn.rest.len == 0 && request->tokens[list].count == 0)
        return fail(call, FAULT_VALIDATION, "Atleast one %s needs to be provided as Input.", what);
    return FAULT_NONE;
}

enum fault op_tag_resource(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    (void)answer;
    TRY(check_list(call, request, "Tags", "tags", "Tag"));
    return change_tags(context, call, request, "TagResource", add_tags);
}

enum fault op_untag_resource(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    (void)answer;
    TRY(check_list(call, request, "TagKeys", "tagKeys", "Tag Key"));
    return change_tags(context, call, request, "UntagResource", remove_tags);
}

/* All of them at once: fifty are few, and clients of AWS get forty in one answer (public suite Alternator, test_tag). */
enum fault op_list_tags_of_resource(struct op_context *context, struct call *call, const struct json *request, struct buf *answer)
{
    const struct table *table;
    TRY(tagged_table_acquire(context, call, request, "ListTagsOfResource", &table));
    BUF_ADD_LITERAL(answer, "{\"Tags\":[");
    for (size_t i = 0; i < table->tag_count; i++) {
        json_write_comma(answer);
        BUF_ADD_LITERAL(answer, "{\"Key\":");
        json_write_string(answer, table->tags[i].key);
        BUF_ADD_LITERAL(answer, ",\"Value\":");
        json_write_string(answer, table->tags[i].value);
        buf_add_byte(answer, '}');
    }
    BUF_ADD_LITERAL(answer, "]}");
    table_release(table);
    return FAULT_NONE;
}
