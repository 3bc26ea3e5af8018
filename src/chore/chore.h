/* Background work: drops what deleted tables leave behind. (Index mover, backfill, TTL and trimming join it later.) */
#ifndef STATOR_CHORE_CHORE_H
#define STATOR_CHORE_CHORE_H

#include "part/part.h"
#include "table/table.h"

struct chore;

/* Starts the worker; it begins with what a crash left to do. */
struct chore *chore_start(struct world *world, struct table_catalog *catalog, struct part *part, struct log *log);

/* Tells the worker that there may be something to do. */
void chore_wake(struct chore *chore);

/* Ends the worker after its present step. */
void chore_stop(struct chore *chore);

#endif
