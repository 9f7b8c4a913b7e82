/* Products that threads compute element by element, because their tiles would be nearly empty.  Pure functions; one thread a graph. */
#ifndef RKB_GENERATOR_ELEMENT_PARTS_H
#define RKB_GENERATOR_ELEMENT_PARTS_H

#include "generator/graph/schedule.h"
#include "generator/graph/target.h"
#include "generator/start/tensor_start.h"

/* Gives a launch of a product the mapping ELEMENT, with as many threads for the sum of an element as occupy the device. */
void rkb_launch_suit_parts(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch);
/* About how long elements take whose sums have so many parts, in nanoseconds: the geometric mean over the bench cases. */
double rkb_parts_estimate(const rkb_target_t *target, const rkb_extents_t *extents, int64_t parts);
/* schedule_parts.c: the same where an estimate says that it is faster than the launch's present decisions, and where the schedule stays legal. */
void rkb_schedule_suit_parts(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule,
                             uint32_t number);

#endif
