/* Divides a graph into launches.  Pure functions of the graph; one thread a graph. */
#ifndef RKB_GENERATOR_PARTITION_H
#define RKB_GENERATOR_PARTITION_H

#include "generator/graph/schedule.h"

/* Makes every node, except views, a launch of its own, without tiles, vectors or splits.  The results of search
 * are compared with this kernel. */
void rkb_partition_apart(rkb_graph_t *graph, rkb_schedule_t *schedule);

/* Decides which nodes share a launch: elementwise operations with the nodes that use or make their elements, and reductions of the
 * same rows with each other and with the nodes computed from those rows.  shared_bytes: as for rkb_kernel_write. */
void rkb_partition_together(rkb_graph_t *graph, int64_t shared_bytes, rkb_schedule_t *schedule);
/* The same, but scores need not be stored: several launches may each compute them again (gradients of
 * attention).  False: there are no such scores, and the schedule is that of rkb_partition_together. */
bool rkb_partition_again(rkb_graph_t *graph, int64_t shared_bytes, rkb_schedule_t *schedule);

/* Returns the launch that writes or computes a node; RKB_NO_NODE: there is none. */
uint32_t rkb_schedule_launch_of(const rkb_schedule_t *schedule, uint32_t node);

#endif
