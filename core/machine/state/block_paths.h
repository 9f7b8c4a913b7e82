/* Control paths of the blocks of a sampled run: which basic blocks of the program their warps reached.
 * Blocks with the same path took the same branches, any number of times; selections and guarded instructions
 * inside a basic block do not show.  Written by the machine's thread; read after a run. */
#ifndef RKB_MACHINE_STATE_BLOCK_PATHS_H
#define RKB_MACHINE_STATE_BLOCK_PATHS_H

#include "machine/machine.h"

struct machine_run;

/* Called after a block: `passed` has the count of each basic block from before this block, and receives the present counts. */
void machine_partial_path(struct machine_run *run, uint32_t basic_blocks, uint64_t *passed);

/* Called after a block too, with the thread-instructions that it took. */
void machine_partial_instructions(struct machine_run *run, uint64_t instructions);

/* For a run that fetched: how many thread-instructions a block took; 0 where it is not known. */
uint64_t rkb_machine_block_instructions(const rkb_machine_t *machine, uint32_t launch, uint32_t place);

/* For a run that fetched: a number for the path of a block, equal for equal paths; place: the block's number
 * in the launch's sample. 0 where the path is not known. */
uint64_t rkb_machine_path(const rkb_machine_t *machine, uint32_t launch, uint32_t place);

#endif
