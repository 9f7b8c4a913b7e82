/* Sums over rows in the same launch as sums along rows: a block owns a stretch of rows and adds, for each column, the terms of its
 * rows.  Pure. */
#ifndef RKB_GENERATOR_ROW_RANGE_SUMS_H
#define RKB_GENERATOR_ROW_RANGE_SUMS_H

#include "generator/graph/schedule.h"

/* Whether an anchor of a launch of rows is a sum over all rows, one for each place of a row.  This anchor reduces the dims that the first
 * anchor keeps, and the operands of both have the same shape. */
bool rkb_stretch_adds(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t anchor);
/* Whether the launch has an anchor that is a sum over all rows, one for each place of a row. */
bool rkb_launch_has_stretch_sums(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* Whether an anchor of a launch of rows is a sum over all rows, one for each piece of a row.  A row consists of equal pieces side by side,
 * such as the channels of a group. */
bool rkb_segment_adds(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t anchor);
bool rkb_launch_has_segment_sums(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* The one dim that a sum for each piece of a row keeps. */
uint32_t rkb_segment_dim(const rkb_graph_t *graph, uint32_t sum);
/* Whether an anchor is a sum of either kind.  A second launch adds its parts. */
bool rkb_row_hands_on(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t anchor);
/* Whether a root is computed from a sum of either kind.  If so, the launch that adds the stretches' parts writes the root. */
bool rkb_stretch_ends(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t root);
/* Whether the rows to come lie in shared memory. */
bool rkb_rows_are_staged(const rkb_launch_t *launch);
/* If fewer threads keep a row, a multiprocessor has room for more blocks: by which factor the launch has more of them. */
int64_t rkb_stretches_most(const rkb_launch_t *launch);

#endif
