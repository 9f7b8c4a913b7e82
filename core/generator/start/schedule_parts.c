/* Where a convolution starts with threads that share sums (element_parts.h).  Pure functions; one thread a graph. */
#include <math.h>
#include "generator/decisions/launch_decisions.h"
#include "generator/kernel/kernel_text.h"
#include "generator/start/element_parts.h"
#include "generator/start/start_schedules.h"

#define FEW_CHANNELS 8      /* with fewer, each tile is nearly empty */
#define CLEARLY 0.8         /* an estimate must be this much less than another estimate to count as less */

/* Whether the launch's product has a window, so that neighbouring elements share factors.  In a matrix product, elements would read each factor
 * again from the second-level cache: by the model mnist_linear takes 45 us instead of 9. */
static bool is_convolved(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const uint32_t kind = launch->anchor_count == 1 ? graph->nodes[launch->anchors[0]].kind : RKB_NODE_INPUT;
   return kind == RKB_NODE_CONVOLUTION || kind == RKB_NODE_CONVOLUTION_INPUT;
}

void rkb_schedule_suit_parts(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule,
                             uint32_t number) {
   rkb_launch_t *launch = &schedule->launches[number];
   const rkb_launch_t before = *launch;
   if (!is_convolved(graph, launch) || (launch->mapping != RKB_MAP_TILE && launch->mapping != RKB_MAP_TENSOR))
      return;
   const rkb_extents_t e = rkb_launch_extents(graph, launch);
   if (fmin(e.mean.m, e.mean.n) >= FEW_CHANNELS)
      return;
   rkb_launch_suit_parts(graph, target, launch);
   if (rkb_parts_estimate(target, &e, launch->decisions[RKB_PARTS]) >
          CLEARLY * rkb_launch_estimate(graph, target, &before) ||
       rkb_launch_refused(graph, launch, target->shared_bytes) ||
       !rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
      *launch = before;
}
