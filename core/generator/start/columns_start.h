/* How a start divides the work on long rows and their columns: a launch for each pass, and one for a column's sums and places.  One thread a
 * graph. */
#ifndef RKB_GENERATOR_COLUMNS_START_H
#define RKB_GENERATOR_COLUMNS_START_H

#include "generator/graph/schedule.h"
#include "generator/graph/target.h"

/* Whether each pass over a launch's rows should become a launch of its own, which splits the rows. */
bool rkb_rows_want_passes(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_launch_t *launch);
/* If the cache does not hold the values of the columns, lets the launch of columns also write what is computed
 * from these values.  The values are then read once, and the launch before it is removed.  False: nothing
 * changed. */
bool rkb_columns_suit(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule,
                      uint32_t number);

#endif
