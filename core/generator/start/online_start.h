/* Decisions that suit a launch over scores on tensor cores.  One thread a graph. */
#ifndef RKB_GENERATOR_ONLINE_START_H
#define RKB_GENERATOR_ONLINE_START_H

#include "generator/graph/schedule.h"
#include "generator/graph/target.h"

/* Gives a launch of mapping ONLINE the mapping ONLINE_TENSOR and suitable decisions, if the target's tensor
 * cores may multiply all its products.  False: they may not, and the launch is unchanged. */
bool rkb_online_suit(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t launch);
/* Lets blocks of such a launch add up the outs of several matrices, where now another launch adds them.  Does so only if enough blocks
 * remain. */
void rkb_online_join_totals(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t launch);

#endif
