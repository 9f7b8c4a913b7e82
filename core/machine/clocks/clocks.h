/* The order of the operations of a block's threads: clocks of warps and lanes (clocks.c), and the accesses to each granule of shared memory
 * with their clocks (granule_clocks.c).  Owned by the block; on the machine's thread. */
#ifndef RKB_MACHINE_CLOCKS_CLOCKS_H
#define RKB_MACHINE_CLOCKS_CLOCKS_H

#include "machine/state/execution.h"

/* Threads that did the same to a granule, with the newest of their clocks. */
typedef struct machine_lanes {
   uint32_t lanes; /* of warp */
   uint32_t clock;
   uint16_t warp;      /* warp + 1; 0: no warp */
   bool several_warps; /* several warps in no order; machine_spread_t has each of them */
} machine_lanes_t;

/* One of several warps that did the same to a granule. */
typedef struct machine_spread {
   uint32_t lanes, clock;
} machine_spread_t;

/* What each warp did to a granule: atomics or reads.  NULL without memory. */
machine_spread_t *machine_shared_spread(machine_block_t *block, uint32_t granule, bool atomics);

typedef struct machine_shared_record {
   uint32_t writer;       /* thread + 1 */
   uint32_t writer_clock; /* the clock of the writer's lane */
   machine_lanes_t readers, atomics; /* since the last plain write */
   uint32_t epoch;
} machine_shared_record_t;

typedef struct machine_clocks {
   uint32_t *own; /* each thread's own clock, in the block's time */
   /* [warp][warp]: up to which time of the block a warp knows what each other warp did. */
   uint32_t *warp;
   /* Each is [barriers][warp].  barrier: what the warps that arrived in this phase of a barrier know.  arrived: when each of them arrived, or 0.
    * before: the same as arrived for the phase before. */
   uint32_t *barrier, *arrived, *before;
   uint32_t warps, barriers; /* of all blocks of the cluster */
   size_t bytes;
   struct machine_knowledge *knowledge; /* what each thread knows of what the others did (vector_clocks.h) */
} machine_clocks_t;

/* cluster: of the blocks that are executed as one.  NULL when memory ran out. */
machine_clocks_t *machine_clocks_new(machine_run_t *run, const machine_cluster_t *cluster,
                                     const machine_program_t *program);
void machine_clocks_free(machine_run_t *run, machine_clocks_t *clocks);
void machine_clocks_reset(machine_clocks_t *clocks, uint32_t time);
void machine_clocks_warp_sync(machine_warp_t *warp, uint32_t lanes);
void machine_clocks_arrive(machine_block_t *block, uint32_t warp, uint32_t barrier);
/* The warps that waited go on: a bit for each, from warp `first` on. */
void machine_clocks_leave(machine_block_t *block, uint32_t first, uint32_t warps, uint32_t barrier);
/* The barrier's phase is complete; from now on warps arrive in the next phase. */
void machine_clocks_complete(machine_block_t *block, uint32_t barrier);
/* Returns a warp that arrived in the barrier's last phase although this warp cannot know of the arrival; PTX_NONE when there is none. */
uint32_t machine_clocks_missing(const machine_block_t *block, uint32_t warp, uint32_t barrier);
/* Whether the operations of a thread of the block (PTX_NONE: of each thread) at that time of the block are ordered before what the lane does now. */
bool machine_clocks_ordered_time(const machine_warp_t *warp, uint32_t lane, uint32_t thread, uint32_t time);
/* Advances the block's time and returns the new time.  Stops the run when times have run out. */
uint32_t machine_tick(machine_block_t *block);
/* Whether what the thread did up to its clock is ordered before what the lane does now. */
bool machine_clocks_ordered(const machine_warp_t *warp, uint32_t lane, uint32_t thread, uint32_t lane_clock);

/* The lane's own clock. */
static inline uint32_t machine_lane_clock(const machine_warp_t *warp, uint32_t lane) {
   return warp->block->clocks->own[warp->first_thread + lane];
}

/* granule_clocks.c -------------------------------------------------------------------------------------------------------- */

/* Whether all readers, or all atomic operations, of a granule are ordered before the lane.  If not, *other is a thread whose access is not
 * ordered, or PTX_NONE. */
bool machine_group_ordered(machine_warp_t *warp, uint32_t lane, uint32_t granule, bool atomics,
                           const machine_lanes_t *those, uint32_t *other);
/* Adds the lane to those that read, or changed atomically, a granule. */
void machine_join_lanes(machine_warp_t *warp, uint32_t lane, uint32_t granule, bool atomics,
                        machine_lanes_t *those);
/* Whether everything that threads did to the bytes comes before a write (store) or read that the
 * lane makes now.  If not, *wrote: whether it was a write; *other: the thread, or PTX_NONE for several.
 * Records nothing. */
bool machine_shared_ordered(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes, bool store,
                            bool *wrote, uint32_t *other);
void machine_shared_forget(machine_block_t *block, uint32_t offset, uint32_t bytes);
/* The memory of a block's machine_spread_t. */
size_t machine_spread_bytes(const machine_block_t *block);
void machine_spread_free(machine_block_t *block);

#endif
