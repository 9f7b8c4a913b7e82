/* Takes a launch of rows apart.  One thread. */
#ifndef RKB_GENERATOR_SEPARATE_ROWS_H
#define RKB_GENERATOR_SEPARATE_ROWS_H

#include "generator/graph/schedule.h"

/* Makes each reduction of the launch a launch of its own, which can be split, and adds launches after them that
 * write what the rows become.  False: it has fewer than two passes, or the schedule has no room. */
bool rkb_separate_rows(rkb_schedule_t *schedule, const rkb_graph_t *graph, uint32_t launch);

#endif
