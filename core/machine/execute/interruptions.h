/* Interruptions of warps, blocks and lanes (interruptions.c).  On the machine's thread. */
#ifndef RKB_MACHINE_EXECUTE_INTERRUPTIONS_H
#define RKB_MACHINE_EXECUTE_INTERRUPTIONS_H

#include "machine/state/execution.h"

/* Whether the launch is interrupted in this run's order. */
bool machine_interrupts(const machine_launch_t *launch);
/* How many of the blocks of an interrupted launch run side by side, if they do not wait for each other. */
uint64_t machine_blocks_beside(machine_run_t *run, uint64_t total);
/* Whether a warp or block lets others run first now. */
bool machine_gives_way(machine_run_t *run);

/* At the beginning of a basic block: lets lanes part, and stops those that went on alone.  Returns the fragment that runs now; PTX_NONE: none can. */
uint32_t machine_lanes_part(machine_warp_t *warp, uint32_t current);
/* Lets all lanes go on if the launch is not interrupted now. */
void machine_lanes_join(machine_warp_t *warp);
/* The lanes that run have run for long, and may wait for others: lets those go on that were left behind, and in the end those that have stopped. */
void machine_lanes_lose_patience(machine_warp_t *warp);
/* The next fragment to run, after lanes that were left behind or have stopped may go on where no others can; PTX_NONE: all wait. */
uint32_t machine_fragment_next(machine_warp_t *warp);

#endif
