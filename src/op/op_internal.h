/* What the files of this folder share: every operation's entry, and how an operation finds its table. */
#ifndef STATOR_OP_OP_INTERNAL_H
#define STATOR_OP_OP_INTERNAL_H

#include "op/op.h"

/* One operation: see op_run in op.h. */
#define OP_DECLARE(function) \
    enum fault function(struct op_context *context, struct call *call, const struct json *request, struct buf *answer) MUST_USE

/* Tables. */
OP_DECLARE(op_create_table);
OP_DECLARE(op_describe_table);
OP_DECLARE(op_list_tables);
OP_DECLARE(op_update_table);
OP_DECLARE(op_delete_table);
OP_DECLARE(op_tag_resource);
OP_DECLARE(op_untag_resource);
OP_DECLARE(op_list_tags_of_resource);
OP_DECLARE(op_describe_limits);
OP_DECLARE(op_describe_endpoints);
OP_DECLARE(op_describe_time_to_live);
OP_DECLARE(op_describe_continuous_backups);

/* Items. */
OP_DECLARE(op_get_item);
OP_DECLARE(op_put_item);
OP_DECLARE(op_update_item);
OP_DECLARE(op_delete_item);
OP_DECLARE(op_query);
OP_DECLARE(op_scan);
OP_DECLARE(op_batch_get_item);
OP_DECLARE(op_batch_write_item);

#undef OP_DECLARE

/* The table that the request's TableName (a name or an ARN) means, held until table_release: as the data plane sees it. */
enum fault op_table_acquire(struct op_context *context, struct call *call, const struct json *request, const struct table **out) MUST_USE;

/* The same as the control plane sees it: in any status. */
enum fault op_table_acquire_any(struct op_context *context, struct call *call, const struct json *request, const struct table **out) MUST_USE;

#endif
