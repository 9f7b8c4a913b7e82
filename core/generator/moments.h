/* A mean, and the sum of squares around it: two reductions of one row, of which the second needs the first.  Pure. */
#ifndef RKB_GENERATOR_MOMENTS_H
#define RKB_GENERATOR_MOMENTS_H

#include "generator/schedule.h"

/* The sum that the mean is made of, if a reduction sums the squares around the mean of what that sum adds; else RKB_NO_NODE. */
uint32_t rkb_moments_mean(const rkb_graph_t *graph, uint32_t reduce);
/* The first anchor of a launch that sums squares around the mean of another anchor; its number, or the count of anchors: none.
 * mean: the number of that other one. */
uint32_t rkb_launch_moments(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t *mean);

/* Whether a value needs a node through light ones, and whether a reduction does. */
bool rkb_value_needs(const rkb_graph_t *graph, uint32_t value, uint32_t node);
bool rkb_reduction_needs(const rkb_graph_t *graph, uint32_t reduction, uint32_t other);

#endif
