/* Which nodes of a graph can share a launch that goes over scores without storing them.  Pure functions; one thread a graph. */
#ifndef RKB_GENERATOR_FUSION_H
#define RKB_GENERATOR_FUSION_H

#include "generator/graph/schedule.h"

#define RKB_MAX_FUSIONS 16u

typedef struct rkb_fusions {
   rkb_launch_t launches[RKB_MAX_FUSIONS]; /* their roots are left to the partition */
   uint32_t count;
} rkb_fusions_t;

/* Finds launches over scores.  needed: nodes that some output needs.  Every launch found can be written when
 * its inputs are in memory. */
void rkb_fusions_find(rkb_graph_t *graph, const bool *needed, int64_t shared_bytes, rkb_fusions_t *fusions);
/* Whether two launches compute the same scores.  rkb_fusions_once removes launches that do. */
bool rkb_fusions_recompute(const rkb_fusions_t *fusions);
void rkb_fusions_once(rkb_fusions_t *fusions);
/* Returns the launch whose last anchor the node is; NULL: there is none. */
const rkb_launch_t *rkb_fusion_ends(const rkb_fusions_t *fusions, uint32_t node);
/* The last node of the first launch that computes the node; RKB_NO_NODE: none does. */
uint32_t rkb_fusion_end_of(const rkb_fusions_t *fusions, uint32_t node);
/* Whether a launch computes the node. */
bool rkb_fusions_have(const rkb_fusions_t *fusions, uint32_t node);

#endif
