/* How the work of a launch is shared among blocks that stay: a grid that the manifest bounds to the device ("min(tiles, multiprocessors)"), whose blocks
 * each take several tiles in turn.  Some take one more than others, and the launch lasts as long as those. */
#ifndef MODEL_BLOCK_TURNS_H
#define MODEL_BLOCK_TURNS_H

#include <rkb/ext/counters.h>
#include <rkb/ext/kernel.h>

/* Numbers of which the manifest takes the smaller, or compares the two. */
typedef struct bounded_grids {
   struct bounded_grid {
      int64_t blocks, pieces; /* the smaller number, and the larger one */
   } list[64];
   uint32_t count;
} bounded_grids_t;

/* The pieces of work of a launch; 0: they are its blocks, as far as is known.  The work of the mean block, and of a block that has most, as multiples of that of
 * a block that was counted. */
typedef struct block_turns {
   double pieces, mean, most;
} block_turns_t;

/* Notes one decision of the manifest: called for all decisions of a case (rkb_kernel_api_t.plan_decisions).  grids: bounded_grids_t. */
void block_turns_note(void *grids, const rkb_plan_decision_t *decision);

/* launch: of the plan; counters: of that launch. */
block_turns_t block_turns_of(const rkb_device_t *device, const rkb_plan_t *plan,
                             const rkb_plan_launch_t *launch, const rkb_launch_counters_t *counters,
                             const bounded_grids_t *grids);

#endif
