/* Shared memory of the other blocks of a cluster (PTX ISA 9.0, 5.1.7 and 8.10).  That memory exists from the beginning of the other block
 * to its end.  A thread of another block learns of both only through synchronisation: barrier.cluster, or an mbarrier.  If synchronisation does
 * not order an access after the other block's beginning and before its end, the finding is sync.cluster.
 *
 * Owned by the block; on the machine's thread. */
#ifndef RKB_MACHINE_IN_FLIGHT_CLUSTER_PEERS_H
#define RKB_MACHINE_IN_FLIGHT_CLUSTER_PEERS_H

#include "machine/state/execution.h"

typedef struct machine_peers machine_peers_t;

/* For so many threads, in all blocks of a cluster.  NULL when memory ran out. */
machine_peers_t *machine_peers_new(machine_run_t *run, uint32_t threads, uint32_t blocks);
void machine_peers_free(machine_run_t *run, machine_peers_t *peers);
void machine_peers_begin(machine_block_t *block);
/* The lane is about to use shared memory of the block of that rank, which is not its own; false after a finding. */
bool machine_peer_touched(machine_warp_t *warp, uint32_t lane, uint32_t rank);
/* The same for an asynchronous operation that the lane starts: the other block must wait for its end
 * (operations.h). */
bool machine_peer_written(machine_warp_t *warp, uint32_t lane, uint32_t rank);
/* Called when all threads have ended: looks for a block that may have ended before another block used its memory. */
void machine_peers_end(machine_block_t *block);

#endif
