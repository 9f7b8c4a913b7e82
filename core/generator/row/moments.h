/* A mean, and the sum of squares around it: two reductions of one row, of which the second needs the first.  Pure. */
#ifndef RKB_GENERATOR_MOMENTS_H
#define RKB_GENERATOR_MOMENTS_H

#include "generator/graph/schedule.h"

/* If a reduction sums squares around a mean, and the mean is made from a sum of the same values: returns that
 * sum.  Else RKB_NO_NODE. */
uint32_t rkb_moments_mean(const rkb_graph_t *graph, uint32_t reduce);
/* Returns the number of a launch's first anchor that sums squares around the mean of another anchor, or the
 * count of anchors where none does.  *mean: the number of the other anchor. */
uint32_t rkb_launch_moments(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t *mean);

#endif
