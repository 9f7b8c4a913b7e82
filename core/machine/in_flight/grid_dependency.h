/* Launches that may begin before the launch in front of them ends (griddepcontrol; PTX ISA 9.0, 9.7.13.13; CUDA programming guide,
 * 'Programmatic Dependent Launch').  Until a thread knows that some thread of its block has executed griddepcontrol.wait, its accesses are not
 * ordered with those of launches that may still run.  This holds whether the thread began early or late, so the machine need not try several
 * orders.  Launches are executed one after the other; the race records (races.h) of launches that may still run are kept.
 *
 * griddepcontrol.launch_dependents publishes nothing.  If no thread of a launch waits, later launches cannot know that the launch before it
 * has ended: sync.dependent.
 *
 * Owned by the launch; on the machine's thread. */
#ifndef RKB_MACHINE_IN_FLIGHT_GRID_DEPENDENCY_H
#define RKB_MACHINE_IN_FLIGHT_GRID_DEPENDENCY_H

#include "machine/state/execution.h"

/* One execution of griddepcontrol.wait: the lanes that waited for the first time, and the block's time. */
typedef struct grid_wait {
   uint32_t warp, lanes, time;
} grid_wait_t;

struct machine_grid_dependency {
   uint64_t
      /* Names of blocks above this, up to the launch's own, belong to launches that may still run. */
      first;
   bool waited;       /* whether some thread of the launch has waited */
   uint32_t *known;   /* by warp: lanes that know that the launches in front have ended */
   grid_wait_t *list; /* of the block that runs */
   uint32_t warps, count;
};

/* Called before a launch's first block, which has so many warps; does nothing for a launch that depends on
 * none.  Stops the run when memory runs out. */
void machine_grid_dependency_begin(machine_launch_t *launch, uint32_t warps);
/* Called after a launch's last block; whole: all of its blocks were executed. */
void machine_grid_dependency_end(machine_launch_t *launch, bool whole);
void machine_grid_dependency_block(machine_block_t *block);
/* griddepcontrol.wait */
void machine_grid_wait(machine_warp_t *warp, uint32_t lanes);
/* Whether the lane knows that the launches in front have ended. */
/* Whether the accesses of launches that may still run to these bytes are ordered before what the lane does now; otherwise makes a finding. */
bool machine_launches_ordered(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                              uint32_t bytes, bool store);
/* log2 of the granule of race records that this launch shares with those that may run at the same time. */
uint32_t machine_grid_granule(const machine_run_t *run, uint32_t number);

/* Whether all lanes of the mask know: then the path for many lanes at once may be taken. */
static inline bool machine_grid_all_known(const machine_warp_t *warp, uint32_t mask) {
   const struct machine_grid_dependency *dependency = warp->block->launch->dependency;
   return !dependency || (mask & ~dependency->known[warp->number]) == 0;
}

#endif
