/* Control paths of the blocks of a sampled run: which basic blocks of the program their warps came to.  Blocks of one path took the same
 * branches, however often; selections and guarded instructions within a basic block do not show.  Written by the machine's thread; read after a run. */
#ifndef RKB_MACHINE_BLOCK_PATHS_H
#define RKB_MACHINE_BLOCK_PATHS_H

#include "machine/machine.h"

struct machine_run;

/* After a block: what passed has of each basic block is its count before, and becomes its count now. */
void machine_partial_path(struct machine_run *run, uint32_t basic_blocks, uint64_t *passed);

/* Of a run that fetched: the path of a block, equal for equal ones; place: its number in the sample of the launch.  0 where nothing is known. */
uint64_t rkb_machine_path(const rkb_machine_t *machine, uint32_t launch, uint32_t place);

#endif
