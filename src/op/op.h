/* The API's operations, one short file each: read the request, check, call a lower layer, write the answer. */
#ifndef STATOR_OP_OP_H
#define STATOR_OP_OP_H

#include "base/call.h"
#include "chore/chore.h"
#include "json/json.h"
#include "part/part.h"
#include "table/table.h"
#include "wire/wire.h"

/* What operations work on: one running service. */
struct op_service {
    struct world *world;
    struct table_catalog *catalog;
    struct part *part;
    struct chore *chore;
    struct log *log;
    struct metrics *metrics;
};

/* Who asks. */
struct op_context {
    struct op_service *service;
    str account;   /* 12 digits */
    str region;
    str host;      /* the Host header, for DescribeEndpoints */
};

/* Runs the operation on a request that passed wire_check; appends the answer's JSON to `answer`. */
typedef enum fault (*op_run)(struct op_context *context, struct call *call, const struct json *request, struct buf *answer);

struct op {
    const char *name;   /* "PutItem" */
    op_run run;
    bool answers_empty; /* TagResource, UntagResource: 200 with an empty body */
    bool is_long;       /* may take milliseconds, of the processor or waiting for the store: not on a thread that others wait for */
};

/* By what stands behind "DynamoDB_20120810."; NULL: no such operation. *index (may be NULL) is a small number for counters. */
const struct op *op_find(str name, size_t *index);

/* All operations, for metrics; the count is set. */
const struct op *op_all(size_t *count);

#endif
