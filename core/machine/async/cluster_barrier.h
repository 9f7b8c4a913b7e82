/* The barrier of a cluster (barrier.cluster; PTX ISA 9.0, 9.7.13.3), whose arrival and wait are two instructions.  It waits for all threads
 * of the cluster that have not exited; a launch without clusters has clusters of one block.  Owned by the block;
 * on the machine's thread. */
#ifndef RKB_MACHINE_ASYNC_CLUSTER_BARRIER_H
#define RKB_MACHINE_ASYNC_CLUSTER_BARRIER_H

#include "machine/execute/execution.h"

#define CLUSTER_WAITED (1u << 31)

typedef struct machine_cluster_barrier {
   uint32_t phase;             /* complete ones */
   uint32_t expected, pending; /* threads: alive, and missing in this phase */
   uint32_t threads, width;
   uint32_t *arriving, *completed; /* rows of knowledge; swapped */
   uint32_t
      *arrived; /* by thread: 1 + the phase that it arrived in last; CLUSTER_WAITED: and has waited for */
   uint32_t words[];
} machine_cluster_barrier_t;

machine_cluster_barrier_t *machine_cluster_barrier_new(machine_run_t *run, uint32_t threads, uint32_t width);
void machine_cluster_barrier_free(machine_run_t *run, machine_cluster_barrier_t *barrier);
void machine_cluster_barrier_begin(machine_block_t *block);
void machine_cluster_arrive(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask);
/* False: the fragment stalls. */
bool machine_cluster_wait(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask);
void machine_cluster_exit(machine_warp_t *warp, uint32_t mask);  /* these lanes are not waited for any more */
void machine_cluster_stuck(machine_warp_t *warp, uint32_t mask); /* says that the others never come */

/* How often a thread has arrived there. */
static inline uint32_t machine_cluster_arrivals(const machine_block_t *block, uint32_t thread) {
   return block->cluster_barrier ? block->cluster_barrier->arrived[thread] & ~CLUSTER_WAITED : 0;
}

/* How many phases the lane has waited for.  After one, all blocks have begun, whatever the arrivals ordered. */
static inline uint32_t machine_cluster_waits(const machine_warp_t *warp, uint32_t lane) {
   const uint32_t arrived =
      warp->block->cluster_barrier ? warp->block->cluster_barrier->arrived[warp->first_thread + lane] : 0;
   return arrived & CLUSTER_WAITED ? arrived & ~CLUSTER_WAITED : arrived ? arrived - 1 : 0;
}

#endif
