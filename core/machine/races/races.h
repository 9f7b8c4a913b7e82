/* Records of who read and wrote what, and the order of accesses (races.c, clocks.c, synchronisation.c).
 *
 * Shared memory, in the usual case: one 32-bit record for each granule, epoch << 22 | writer << 11 | reader.
 * writer and reader are thread + 1, 0 for nobody, or SEVERAL for more than one thread.  The epoch counts
 * barriers of the whole block; the records are cleared when it wraps.  Kernels with bar.warp.sync, barriers
 * of some of the threads, or volatile shared memory use clocks instead.
 *
 * Global memory: two 64-bit words for each granule, one for the last writer and one for the readers since
 * then: block + 1 << 32 | time << 12 | atomic << 11 | thread + 1.  Blocks are numbered through a whole run,
 * so nothing is cleared between launches: a block of an earlier launch came before.  The time grows at the
 * barriers and fences of a block. */
#ifndef RKB_MACHINE_RACES_RACES_H
#define RKB_MACHINE_RACES_RACES_H

#include "machine/execute/execution.h"

#define EPOCH_SHIFT 22
#define EPOCH_LIMIT 1024u
#define SEVERAL 0x7ffu
/* As a writer: only atomic operations wrote; the reader field names the thread or threads that made them. */
#define ATOMICS 0x7feu
/* As a writer: the granule lies between two variables.  Every access to it is a conflict, so that the slow
 * path reports it. */
#define NOBODYS 0x7fdu

/* As the thread in a global record of readers. */
#define MANY_THREADS 0x7ffull /* several threads of one block */
#define MANY_BLOCKS 0x7feull  /* threads of several blocks; the record names the newest block */

/* Slow paths: check and record an access of one lane to bytes at offset.  value: the bytes that a store
 * writes, by which a store of the same value is told; NULL for loads.  Atomic accesses do not race with each
 * other. */
void machine_shared_access(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                           const void *value, bool store, bool atomic);
/* Records what a copy of the lane writes, where no other copy is in flight. */
void machine_shared_copied(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes);
/* The same, only against other threads. */
void machine_shared_record(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                           const void *value, bool store, bool atomic);
void machine_global_access(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, const void *value, bool store, bool atomic);
/* The same, only against other threads of the launch. */
void machine_global_record(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, const void *value, bool store, bool atomic);
/* With clocks: whether everything that threads did to the bytes comes before a write (store) or read that the
 * lane makes now.  If not, *wrote: whether it was a write; *other: the thread, or PTX_NONE for several.
 * Records nothing. */
bool machine_shared_ordered(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes, bool store,
                            bool *wrote, uint32_t *other);
void machine_shared_forget(machine_block_t *block, uint32_t offset, uint32_t bytes);
uint32_t machine_lane_clock(const machine_warp_t *warp, uint32_t lane); /* the lane's own clock */
uint32_t machine_warp_clock(const machine_warp_t *warp);

/* warp_rows.c: with clocks, plain reads or writes of all lanes of a warp at once.  Whether accesses of the
 * block may be recorded so. */
bool machine_shared_rows(const machine_block_t *block);
/* Each lane of mask reads or writes so many bytes; one: all lanes the same bytes.  False when the slow path
 * has to look at lane by lane. */
bool machine_shared_record_row(machine_warp_t *warp, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                               bool one, bool store);
/* The memory of a block's machine_spread_t. */
size_t machine_spread_bytes(const machine_block_t *block);
void machine_spread_free(machine_block_t *block);
/* Before the first block: clears every record of shared memory. */
void machine_shared_clear(machine_block_t *block);
/* After a barrier of the whole block, or before a block begins: no earlier access races with a later one. */
void machine_shared_new_epoch(machine_block_t *block);

/* read_only_path.c: records and checks a load through the read-only path.  No thread of the launch may write
 * the bytes.  machine_read_only_written: checks whether this launch loaded bytes of the granule so. */
void machine_read_only_access(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                              uint32_t bytes);
void machine_read_only_written(machine_warp_t *warp, uint32_t lane, const machine_region_t *region,
                               uint64_t granule, uint64_t offset, uint32_t bytes);
bool machine_read_only_records(machine_run_t *run, machine_region_t *region); /* allocates the records */

/* A launch's name in records of the read-only path.  No two launches of a run share a name. */
static inline uint32_t machine_launch_name(const machine_warp_t *warp) {
   return (uint32_t)(warp->block->launch->first_serial + 1);
}

static inline bool machine_was_read_only(const machine_warp_t *warp, const machine_region_t *region) {
   return region->read_only_launch == machine_launch_name(warp);
}

static inline uint64_t machine_global_name(const machine_warp_t *warp, uint32_t lane, bool atomic) {
   return (warp->block->serial + 1) << 32 | (uint64_t)(warp->block->time & 0xfffff) << 12 |
          (uint64_t)atomic << 11 | (warp->first_thread + lane + 1);
}

/* clocks.c */
/* Threads that did the same to a granule, with the newest of their clocks. */
typedef struct machine_lanes {
   uint32_t lanes; /* of warp */
   uint32_t clock, warp_clock;
   uint16_t warp;      /* warp + 1; 0: no warp */
   bool several_warps; /* several warps in no order; machine_spread_t has each of them */
} machine_lanes_t;

/* One of several warps that did the same to a granule. */
typedef struct machine_spread {
   uint32_t lanes, clock, warp_clock;
} machine_spread_t;

/* What each warp did to a granule: atomics or reads.  NULL without memory. */
machine_spread_t *machine_shared_spread(machine_block_t *block, uint32_t granule, bool atomics);

typedef struct machine_shared_record {
   uint32_t writer;       /* thread + 1 */
   uint32_t writer_clock; /* the clock of the writer's lane */
   uint32_t writer_warp_clock;
   machine_lanes_t readers, atomics; /* since the last plain write */
   uint32_t epoch;
} machine_shared_record_t;

typedef struct machine_clocks {
   /* [warp][lane][lane]: up to which time of the block a lane knows what each other lane of its warp did;
    * without knowledge. */
   uint32_t *lane;
   uint32_t *own; /* each thread's own clock, in the block's time; with knowledge */
   /* [warp][warp]: up to which time of the block a warp knows what each other warp did. */
   uint32_t *warp;
   /* Each [barriers][warp].  barrier: what the warps know that arrived in this phase of a barrier.  arrived:
    * when each of them arrived, or 0.  before: the same for the phase before. */
   uint32_t *barrier, *arrived, *before;
   uint32_t warps, barriers; /* of all blocks of the cluster */
   size_t bytes;
   /* Knowledge of each thread (knowledge.h), which alone decides where it exists.  NULL: whole warps meet at
    * barriers. */
   struct machine_knowledge *knowledge;
} machine_clocks_t;

/* each: also keep knowledge of each thread.  cluster: of the blocks that are executed as one.  asynchronous:
 * the program has operations of the async proxy. */
machine_clocks_t *machine_clocks_new(machine_run_t *run, const machine_cluster_t *cluster, bool each,
                                     bool asynchronous);
void machine_clocks_free(machine_run_t *run, machine_clocks_t *clocks);
void machine_clocks_reset(machine_clocks_t *clocks, uint32_t time);
void machine_clocks_warp_sync(machine_warp_t *warp, uint32_t lanes);
void machine_clocks_arrive(machine_block_t *block, uint32_t warp, uint32_t barrier);
/* The warps that waited go on: a bit for each, from warp `first` on. */
void machine_clocks_leave(machine_block_t *block, uint32_t first, uint32_t warps, uint32_t barrier);
/* The barrier's phase is complete; from now on warps arrive in the next phase. */
void machine_clocks_complete(machine_block_t *block, uint32_t barrier);
/* A warp of the barrier's last phase of whose arrival this warp cannot know; PTX_NONE when there is none. */
uint32_t machine_clocks_missing(const machine_block_t *block, uint32_t warp, uint32_t barrier);
/* Whether what a thread of the block (PTX_NONE: each thread) did at that time of the block is ordered before
 * what the lane does now. */
bool machine_clocks_ordered_time(const machine_warp_t *warp, uint32_t lane, uint32_t thread, uint32_t time);
/* Advances the block's time and returns the new time.  Stops the run when times have run out. */
uint32_t machine_tick(machine_block_t *block);
/* Whether what the thread did at those clocks is ordered before what the lane does now. */
bool machine_clocks_ordered(const machine_warp_t *warp, uint32_t lane, uint32_t thread, uint32_t lane_clock,
                            uint32_t warp_clock);

/* synchronisation.c.  Between blocks: releases and acquisitions through a location in memory. */
void machine_sync_fence(machine_warp_t *warp, uint32_t lanes);
void machine_sync_barrier(machine_block_t *block);
void machine_sync_release(machine_warp_t *warp, uint32_t lane, uint64_t address, bool fenced);
void machine_sync_acquire(machine_warp_t *warp, uint32_t lane, uint64_t address);
/* Whether the access recorded under name is ordered before what this lane does now. */
bool machine_sync_ordered(const machine_warp_t *warp, uint32_t lane, uint64_t name);
void machine_sync_free(machine_run_t *run);

#endif
