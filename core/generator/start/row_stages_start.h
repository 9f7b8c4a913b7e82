/* Decisions that suit a launch whose blocks own rows one after the other and copy the next rows to shared memory ahead of time.  Pure
 * functions; one thread a graph. */
#ifndef RKB_GENERATOR_ROW_STAGES_START_H
#define RKB_GENERATOR_ROW_STAGES_START_H

#include "generator/graph/schedule.h"
#include "generator/graph/target.h"

/* Gives a launch with stretches and vectors the threads, blocks and stages that suit its rows.  The elements of the longest and of the
 * shortest row of the bench cases are given.  False: two of the longest rows do not fit into a block's shared memory, and the launch is
 * unchanged. */
bool rkb_row_stages_suit(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch,
                         double longest, double shortest);

#endif
