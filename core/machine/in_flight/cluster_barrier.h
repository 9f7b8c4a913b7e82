/* The barrier of a cluster (barrier.cluster; PTX ISA 9.0, 9.7.13.3), in which arriving and waiting are two
 * instructions.  It waits for all threads of the cluster that have not exited.  In a launch without clusters
 * every block is a cluster.  Owned by the block; on the machine's thread. */
#ifndef RKB_MACHINE_IN_FLIGHT_CLUSTER_BARRIER_H
#define RKB_MACHINE_IN_FLIGHT_CLUSTER_BARRIER_H

#include "machine/state/execution.h"

#define CLUSTER_WAITED (1u << 31)

typedef struct machine_cluster_barrier {
   uint32_t phase;             /* how many phases are complete */
   uint32_t expected, pending; /* threads that are alive; threads that have not arrived in this phase */
   uint32_t threads, width;
   uint32_t *arriving, *completed; /* rows of knowledge, which change places after each phase */
   uint32_t
      /* By thread: 1 + the last phase in which it arrived; with CLUSTER_WAITED when it has waited for that
       * phase. */
      *arrived;
   uint32_t words[];
} machine_cluster_barrier_t;

machine_cluster_barrier_t *machine_cluster_barrier_new(machine_run_t *run, uint32_t threads, uint32_t width);
void machine_cluster_barrier_free(machine_run_t *run, machine_cluster_barrier_t *barrier);
void machine_cluster_barrier_begin(machine_block_t *block);
void machine_cluster_arrive(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask);
/* False: the fragment has to wait. */
bool machine_cluster_wait(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask);
/* The barrier no longer waits for these lanes. */
void machine_cluster_exit(machine_warp_t *warp, uint32_t mask);
/* Reports that the other threads never come. */
void machine_cluster_stuck(machine_warp_t *warp, uint32_t mask);

/* How often a thread has arrived at the barrier. */
static inline uint32_t machine_cluster_arrivals(const machine_block_t *block, uint32_t thread) {
   return block->cluster_barrier ? block->cluster_barrier->arrived[thread] & ~CLUSTER_WAITED : 0;
}

/* How many phases the lane has waited for.  After the first, all blocks have begun, even where the arrivals
 * ordered nothing. */
static inline uint32_t machine_cluster_waits(const machine_warp_t *warp, uint32_t lane) {
   const uint32_t arrived =
      warp->block->cluster_barrier ? warp->block->cluster_barrier->arrived[warp->first_thread + lane] : 0;
   return arrived & CLUSTER_WAITED ? arrived & ~CLUSTER_WAITED : arrived ? arrived - 1 : 0;
}

#endif
