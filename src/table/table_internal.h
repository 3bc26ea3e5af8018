/* What the files of this folder share: snapshots' life, and a snapshot as the bytes of a record. */
#ifndef STATOR_TABLE_TABLE_INTERNAL_H
#define STATOR_TABLE_TABLE_INTERNAL_H

#include "table/table.h"

/* The version of a table's record. Adding an attribute that an older reader may overlook does not change it. */
enum { TABLE_RECORD_VERSION = 1 };

enum record_status { RECORD_GOOD, RECORD_NEWER, RECORD_BAD };

/* Version byte and a map (model/value.h). Appended to `out`. */
void record_write(struct arena *arena, const struct table *table, struct buf *out);

/* A new table in *out, with one reference; RECORD_NEWER: of a version this program does not know. */
enum record_status record_read(str bytes, struct table **out);

/* Ends what is over at now_us: CREATING and UPDATING become ACTIVE, an index that was to go goes. */
void draft_settle(struct table *draft, int64_t now_us);

/* When draft_settle would next change something; INT64_MAX: never. */
int64_t table_settles_at(const struct table *table);

/* Whether the table is being created and has a global index that is not kept yet. */
bool table_waits_for_index(const struct table *table);

/* Makes copies of the strings in the draft's own arena. */
void draft_set_identity(struct table *draft, str account, str region, str name);

#endif
