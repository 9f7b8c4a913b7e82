/* The barrier of a cluster (barrier.cluster; PTX ISA 9.0, 9.7.13.3), whose arrival and wait are two instructions.  The machine executes
 * clusters of one block, which is what a launch without clusters has: all threads of the block that have not exited.  Owned by the block;
 * on the machine's thread. */
#ifndef RKB_MACHINE_ASYNC_CLUSTER_BARRIER_H
#define RKB_MACHINE_ASYNC_CLUSTER_BARRIER_H

#include "machine/execute/execution.h"

typedef struct machine_cluster_barrier machine_cluster_barrier_t;

machine_cluster_barrier_t *machine_cluster_barrier_new(machine_run_t *run, uint32_t threads, uint32_t width);
void machine_cluster_barrier_free(machine_run_t *run, machine_cluster_barrier_t *barrier);
void machine_cluster_barrier_begin(machine_block_t *block);
void machine_cluster_arrive(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask);
/* False: the fragment stalls. */
bool machine_cluster_wait(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask);
void machine_cluster_exit(machine_warp_t *warp, uint32_t mask);  /* these lanes are not waited for any more */
void machine_cluster_stuck(machine_warp_t *warp, uint32_t mask); /* says that the others never come */

#endif
