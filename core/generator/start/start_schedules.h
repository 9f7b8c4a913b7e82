/* Schedules to start from, and what a launch costs by arithmetic.  Pure functions of graph, task and target; one thread a graph. */
#ifndef RKB_GENERATOR_START_SCHEDULES_H
#define RKB_GENERATOR_START_SCHEDULES_H

#include "generator/graph/schedule.h"
#include "generator/graph/target.h"

enum rkb_start {
   RKB_START_SUITED,   /* what belongs together, each launch with decisions that suit the bench cases */
   RKB_START_FUSED,    /* the same, where scores that are not stored are computed again by several launches */
   RKB_START_TOGETHER, /* the same launches, with the plainest decisions */
   RKB_START_APART,    /* every node is its own launch: the default schedule, with which the results of search are compared */
   RKB_STARTS
};

/* False: the schedule is that of RKB_START_SUITED.  If a start cannot be written, a start that can be written replaces it.  First, launches
 * that cannot be written with the decisions that suit them get the plainest decisions.  If that does not help, all launches get the plainest
 * decisions.  If that does not help either, every node becomes a launch of its own. */
bool rkb_schedule_start(rkb_graph_t *graph, const rkb_target_t *target, enum rkb_start start,
                        rkb_schedule_t *schedule);
const char *rkb_start_name(enum rkb_start start);

/* Gives a launch of elements or rows the widest vectors that its nodes and the bench cases allow. */
void rkb_launch_suit_width(const rkb_graph_t *graph, rkb_launch_t *launch);
/* Gives a launch the decisions that suit the bench cases. */
void rkb_launch_suit(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch);
/* The same for a product, by ordinary arithmetic and by tensor cores; false: these may not multiply it. */
void rkb_launch_suit_tile(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch);
bool rkb_launch_suit_tensor(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch);
/* About how long a launch takes, in nanoseconds of the whole device; it may be wrong by a factor.  It is used
 * to choose which launch to change. */
double rkb_launch_estimate(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_launch_t *launch);

#endif
