/* GlobalSecondaryIndexUpdates of UpdateTable. */
#ifndef STATOR_OP_INDEX_UPDATE_INTERNAL_H
#define STATOR_OP_INDEX_UPDATE_INTERNAL_H

#include "op/table_request_internal.h"

/* What can be refused without knowing the table. `list` may be JSON_ABSENT. */
enum fault index_updates_check(struct table_request *request, uint32_t list) MUST_USE;

/* A table that leaves on-demand mode needs units for every global index: refuses when the request lacks some. */
enum fault index_updates_give_units(struct table_request *request, const struct table_index *indexes) MUST_USE;

/* Carries them out in the draft: `indexes` are its indexes, with room for one more. Also merges the definitions that a new index needs. */
enum fault index_updates_apply(struct table_request *request, struct table_index *indexes) MUST_USE;

/* New provisioned units, with the day's count of decreases (update_table.c). */
enum fault throughput_change(struct call *call, struct table_throughput *throughput, int64_t read_units, int64_t write_units) MUST_USE;

/* The fault of a change to the same units. */
enum fault throughput_is_same(struct call *call, const struct table_throughput *throughput, int64_t read_units, int64_t write_units) MUST_USE;

#endif
