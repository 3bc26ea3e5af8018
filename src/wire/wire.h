/* Request and response shapes: the API's model as data, and the checks that every request passes before its operation sees it.
   Order (reference wire.md section 2, rows 9 to 11): JSON types (SerializationException), then model constraints (ValidationException). */
#ifndef STATOR_WIRE_WIRE_H
#define STATOR_WIRE_WIRE_H

#include "admit/admit.h"
#include "base/call.h"
#include "base/bytes.h"
#include "json/json.h"

/* A structure, list, map or scalar of the API's model; the tables are in the shapes files of this folder. */
struct wire_shape;

/* One for each operation: the shape of its input. NULL: no such operation. `operation`: "PutItem". */
const struct wire_shape *wire_input_shape(str operation);

/* Checks the whole request against its shape: types first, then constraints, in the wording of call->wording
   (classic: all violations, "N validation errors detected: Value '...' at 'tableName' ..."; current: the first, worded anew). */
enum fault wire_check(struct call *call, const struct wire_shape *input, const struct json *request) MUST_USE;

/* Whether an item write's values are nested so deep (over 62 levels) that AWS reads the request in its older form: constraints, and what
   PutItem and DeleteItem say of ReturnValues, in classic words (public suite Parity, deepRequests). */
bool wire_is_read_as_older(const struct json *request);

/* Reading a checked request. A token of JSON_ABSENT gives the fallback. */
str wire_text(const struct json *request, uint32_t token);                          /* "" */
bool wire_flag(const struct json *request, uint32_t token, bool fallback);          /* also "true", "yes", "1" as AWS takes them */
int64_t wire_whole(const struct json *request, uint32_t token, int64_t fallback);   /* fractions are floored */

/* ReturnConsumedCapacity and what it shows. */
enum wire_capacity_detail { CAPACITY_NONE, CAPACITY_TOTAL, CAPACITY_INDEXES };
enum wire_capacity_detail wire_capacity_detail(const struct json *request, uint32_t token);

struct wire_index_units {
    str index;
    uint64_t half_units;
};

struct wire_consumed {
    str table;                                /* as the request named it */
    uint64_t table_half_units;                   /* the table's own arm */
    const struct wire_index_units *local;     /* arms that were charged */
    size_t local_count;
    const struct wire_index_units *global;
    size_t global_count;
};

/* A ConsumedCapacity object: {"TableName":...,"CapacityUnits":...}. Nothing for CAPACITY_NONE. */
void wire_write_consumed(struct buf *out, enum wire_capacity_detail detail, const struct wire_consumed *consumed);

/* An error's body: {"__type":"...","message":"..."} with what its kind adds (Item). */
void wire_write_fault(const struct call *call, struct buf *out);

/* Epoch seconds with milliseconds: 1363729002.358. */
void wire_write_time(struct buf *out, int64_t wall_us);

/* A UUID in quotes. */
void wire_write_uuid(struct buf *out, struct uuid id);

#endif
