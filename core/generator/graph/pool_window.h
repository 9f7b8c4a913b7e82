/* Windows of pools that lie side by side, so that each place is in one window at most.  Pure. */
#ifndef RKB_GENERATOR_POOL_WINDOW_H
#define RKB_GENERATOR_POOL_WINDOW_H

#include "generator/graph/graph.h"

/* Whether a pool's windows may share places, because strides differ from their sides, or because there is
 * padding or dilation. */
bool rkb_windows_meet(const rkb_graph_t *graph, const rkb_node_t *pool);
/* Returns a window's side along a spatial dim, where windows share no places. */
int64_t rkb_window_side(const rkb_graph_t *graph, const rkb_node_t *pool, uint32_t dim);
/* Whether the last windows may reach past the tensor. */
bool rkb_window_rounds_up(const rkb_graph_t *graph, const rkb_node_t *pool);

#endif
