/* Background work: drops what deleted tables and indexes leave behind, makes global indexes and keeps them from the change log. */
#ifndef STATOR_CHORE_CHORE_H
#define STATOR_CHORE_CHORE_H

#include "part/part.h"
#include "table/table.h"

struct chore;

/* Starts the workers; they begin with what a crash left to do. Before the part's first change: they listen to its logs. */
struct chore *chore_start(struct world *world, struct table_catalog *catalog, struct part *part, struct log *log);

/* The lag of global indexes and more. While starting. */
void chore_register_metrics(struct chore *chore, struct metrics *metrics);

/* Tells the workers that the catalog has changed. */
void chore_wake(struct chore *chore);

/* A table was made with global indexes: starts its change log, behind which it can become ACTIVE. On a fault the workers do it later. */
enum fault chore_prepare_indexes(struct call *call, struct chore *chore, const struct table *table) MUST_USE;

/* For tests: waits until every global index is whole and has what was durable before the call. False: not within the time. */
bool chore_settle(struct chore *chore, int64_t timeout_us);

/* Ends the workers after their present step. */
void chore_stop(struct chore *chore);

/* For torture runs: chore_halt, before part_halt, ends the workers in the middle of things; chore_abandon, after part_abandon, frees what is left. */
void chore_halt(struct chore *chore);
void chore_abandon(struct chore *chore);

#endif
