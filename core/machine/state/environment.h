/* The environment of a run: things that differ from device to device and from launch to launch, within the limits of the PTX manual.  It
 * gives the places of buffers and windows, the values of special registers, and the last bits of approximate functions.  A number
 * (options.environment) gives a machine its environment, so that a candidate can be executed in several.  Pure functions of that number, on
 * the machine's thread. */
#ifndef RKB_MACHINE_STATE_ENVIRONMENT_H
#define RKB_MACHINE_STATE_ENVIRONMENT_H

#include "machine/state/execution.h"

/* Taint bits beside those of the plan's buffers: values from registers that tell where or when a thread
 * runs. */
/* Each buffer has a bit; the last of these bits stands for all further buffers. */
#define TAINT_BUFFERS RKB_MACHINE_BUFFER_BITS
enum machine_taint_bit {
   TAINT_CLOCK = TAINT_BUFFERS,
   TAINT_SMID,
   TAINT_NSMID,
   TAINT_WARPID,
   TAINT_NWARPID,
   TAINT_GRIDID,
   TAINT_KEPT /* what an earlier run left in a variable of the module */
};
#define TAINT_ENVIRONMENT (~0ull << TAINT_BUFFERS)

static inline uint64_t machine_buffer_taint(uint32_t buffer) {
   return 1ull << (buffer < TAINT_BUFFERS - 1 ? buffer : TAINT_BUFFERS - 1);
}

/* Chooses where the windows and the regions of the run lie.  The run has all of its regions, with their bytes and alignments.  Number 0 chooses
 * the first places, in order.  In the plainest environment and in those with an even number no region is better aligned than was promised. */
void machine_environment_place(machine_run_t *run, uint64_t number);
/* Which lane of several elect.sync elects.  In the plainest environment it is the lowest. */
uint32_t machine_environment_elect(const machine_run_t *run, uint32_t lanes);
/* The value of a special register that depends on where the block or the warp runs.  The caller knows the
 * other registers. */
uint32_t machine_environment_special(const machine_block_t *block, uint32_t special, uint32_t warp);
/* The taint bit of such a register; 0 for registers whose value depends only on the program. */
uint64_t machine_environment_taint(uint32_t special);
/* Reports each such register whose value reached a result or the path of the run. */
void machine_environment_find(machine_run_t *run, uint64_t taint);

#endif
