/* Windows of pools that lie side by side, so that a place is in one at most.  Pure. */
#ifndef RKB_GENERATOR_POOL_WINDOW_H
#define RKB_GENERATOR_POOL_WINDOW_H

#include "generator/graph.h"

/* Whether a pool's windows may share places: strides are not their sides, or there is padding or dilation. */
bool rkb_windows_meet(const rkb_graph_t *graph, const rkb_node_t *pool);
/* The side of a window along a spatial dim, where windows do not meet. */
int64_t rkb_window_side(const rkb_graph_t *graph, const rkb_node_t *pool, uint32_t dim);
/* Whether the last windows may reach past the tensor. */
bool rkb_window_rounds_up(const rkb_graph_t *graph, const rkb_node_t *pool);

#endif
