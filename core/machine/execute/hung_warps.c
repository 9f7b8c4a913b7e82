/* Ends a run of which a warp does not end: says whether the kernel hangs, or waits for what cannot happen in this run.  On the machine's thread. */
#include "machine/state/execution.h"

/* A warp that waits for another block through memory would go on if that block ran at the same time.  Here
 * blocks are executed one after the other, so the verdict is unknown, not a fault. */
void machine_stop_hang(machine_warp_t *warp) {
   const uint32_t *grid = warp->block->launch->plan->grid;
   if (!warp->run->side_by_side && warp->strong > STRONG_PATIENCE &&
       (uint64_t)grid[0] * grid[1] * grid[2] > 1) {
      machine_find(warp, RKB_MACHINE_UNKNOWN, "unsupported.grid_synchronisation", PTX_NONE,
                   "the block waits on memory, it may be for a block that runs beside it on a device");
      warp->run->stop = true;
      return;
   }
   machine_find(
      warp, RKB_MACHINE_REJECT, "sync.deadlock", PTX_NONE,
      "one warp has executed %llu instructions, far more than the whole case can need: the kernel does not end",
      (unsigned long long)warp->spin);
   warp->run->stop = true;
}
