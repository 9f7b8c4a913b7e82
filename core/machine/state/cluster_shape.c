/* The shape of a launch's clusters, which are single blocks where the launch asks for none.  Owns nothing; any thread. */
#include "machine/state/execution.h"

/* The warps of a block.  In clusters of programs with warpgroups, they are rounded up to whole warpgroups, so
 * that no warpgroup lies in two blocks. */
static uint32_t warps_of(const rkb_plan_launch_t *plan, const machine_program_t *program) {
   const uint32_t threads = plan->block[0] * plan->block[1] * plan->block[2],
                  warps = (threads + LANES - 1) / LANES,
                  blocks = plan->cluster[0] * plan->cluster[1] * plan->cluster[2];
   return blocks > 1 && program->warpgroups
             ? (warps + WARPGROUP_WARPS - 1) / WARPGROUP_WARPS * WARPGROUP_WARPS
             : warps;
}

#define CLUSTER_ALIGNMENT 1024u /* of a block's shared memory: swizzles repeat after so many bytes */

machine_cluster_t machine_cluster_of(const rkb_plan_launch_t *plan, const machine_program_t *program,
                                     uint32_t shared_bytes) {
   const uint32_t blocks = plan->cluster[0] * plan->cluster[1] * plan->cluster[2],
                  span = (shared_bytes + CLUSTER_ALIGNMENT) / CLUSTER_ALIGNMENT * CLUSTER_ALIGNMENT;
   return (machine_cluster_t){.dims = {plan->cluster[0], plan->cluster[1], plan->cluster[2]},
                              .blocks = blocks,
                              .warps = warps_of(plan, program),
                              .threads = plan->block[0] * plan->block[1] * plan->block[2],
                              .shared_bytes = shared_bytes,
                              .shared_span = blocks > 1     ? span
                                             : shared_bytes ? shared_bytes
                                                            : 1};
}
