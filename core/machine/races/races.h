/* Who read and wrote what, and in which order (races.c, synchronisation.c).
 *
 * Shared memory, the usual case: one 32-bit record a granule, epoch << 22 | writer << 11 | reader, where writer and reader
 * are thread + 1, 0 for nobody and SEVERAL for more than one; the epoch counts barriers of the whole block, and records
 * are cleared when it wraps.  Kernels with bar.warp.sync, barriers of some of the threads or volatile shared memory use
 * clocks instead.
 *
 * Global memory: two 64-bit words a granule, for the last writer and the readers since: block + 1 << 32 | time << 12 |
 * atomic << 11 | thread + 1.  Blocks are numbered through a whole run, so nothing is cleared between launches: a block of
 * an earlier launch came before.  Time grows at the barriers and fences of a block. */
#ifndef RKB_MACHINE_RACES_RACES_H
#define RKB_MACHINE_RACES_RACES_H

#include "machine/execute/execution.h"

#define EPOCH_SHIFT 22
#define EPOCH_LIMIT 1024u
#define SEVERAL 0x7ffu
#define ATOMICS                                                                                              \
   0x7feu /* as a writer: atomic operations alone, by the thread or threads that the reader field names */
#define NOBODYS                                                                                              \
   0x7fdu /* as a writer: between two variables; every access is a conflict, so that the slow way looks at it */

/* As a thread in a global record of readers. */
#define MANY_THREADS 0x7ffull /* of one block */
#define MANY_BLOCKS 0x7feull  /* threads of several blocks, the newest of which is named */

/* Slow paths: one lane, bytes at offset.  value: what a store writes (bytes of it), for telling a same-value store; NULL
 * for loads.  atomic accesses do not race with each other. */
void machine_shared_access(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                           const void *value, bool store, bool atomic);
/* What a copy of the lane writes, where no other copy is on its way. */
void machine_shared_copied(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes);
/* The same against other threads alone. */
void machine_shared_record(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                           const void *value, bool store, bool atomic);
void machine_global_access(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, const void *value, bool store, bool atomic);
/* The same against other threads of the launch alone. */
void machine_global_record(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, const void *value, bool store, bool atomic);
/* With clocks: whether what threads did to a granule's bytes comes before what the lane does now, a write or a read; if not, whether it was
 * a write, and one of those threads (PTX_NONE: several).  Nothing is recorded. */
bool machine_shared_ordered(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes, bool store,
                            bool *wrote, uint32_t *other);
void machine_shared_forget(machine_block_t *block, uint32_t offset, uint32_t bytes);
uint32_t machine_lane_clock(const machine_warp_t *warp, uint32_t lane); /* its own */
uint32_t machine_warp_clock(const machine_warp_t *warp);

/* warp_rows.c: with clocks, what the lanes of a warp plainly read or write at once.  Whether the block's accesses may be recorded so. */
bool machine_shared_rows(const machine_block_t *block);
/* Each lane of mask reads or writes so many bytes; one: all of them the same ones.  False when the lane by lane way is to look. */
bool machine_shared_record_row(machine_warp_t *warp, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                               bool one, bool store);
/* Memory of machine_spread_t, of a block. */
size_t machine_spread_bytes(const machine_block_t *block);
void machine_spread_free(machine_block_t *block);
/* Forgets every record of shared memory: before the first block. */
void machine_shared_clear(machine_block_t *block);
/* After a barrier of the whole block, or before one begins: no access before races with one after. */
void machine_shared_new_epoch(machine_block_t *block);

/* read_only_path.c: a load through the read-only path, of bytes that no launch it belongs to writes; and whether bytes of the granule were
 * loaded so by this launch. */
void machine_read_only_access(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                              uint32_t bytes);
void machine_read_only_written(machine_warp_t *warp, uint32_t lane, const machine_region_t *region,
                               uint64_t granule, uint64_t offset, uint32_t bytes);
bool machine_read_only_records(machine_run_t *run, machine_region_t *region); /* allocates them */

/* A launch's name in records of the read-only path; launches of a run never share one. */
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

/* synchronisation.c */
/* Threads that did the same to a granule, with clocks that cover them all. */
typedef struct machine_lanes {
   uint32_t lanes; /* of warp */
   uint32_t clock, warp_clock;
   uint16_t warp;      /* + 1; 0: none */
   bool several_warps; /* of no order among them: machine_spread_t has each */
} machine_lanes_t;

/* Of one of several warps that did the same to a granule. */
typedef struct machine_spread {
   uint32_t lanes, clock, warp_clock;
} machine_spread_t;

/* Of a granule, what each warp did; atomics or readers.  NULL without memory. */
machine_spread_t *machine_shared_spread(machine_block_t *block, uint32_t granule, bool atomics);

typedef struct machine_shared_record {
   uint32_t writer;       /* thread + 1 */
   uint32_t writer_clock; /* of its lane */
   uint32_t writer_warp_clock;
   machine_lanes_t readers, atomics; /* since the last plain write */
   uint32_t epoch;
} machine_shared_record_t;

typedef struct machine_clocks {
   uint32_t
      *lane; /* [warp][lane][lane]: what a lane knows of the others, in the block's time; without knowledge */
   uint32_t *own;  /* of each thread, in the block's time; with knowledge */
   uint32_t *warp; /* [warp][warp], in the block's time */
   /* [barriers][warp] each, one after the other: what those know who arrived in this phase of a barrier; when each of them arrived, 0: not;
    * and when those of the phase before did */
   uint32_t *barrier, *arrived, *before;
   uint32_t warps, barriers; /* of all blocks of the cluster */
   size_t bytes;
   struct machine_knowledge
      *knowledge; /* of each thread (knowledge.h), and it alone decides; NULL: warps meet whole */
} machine_clocks_t;

/* each: of every thread too.  cluster: of the blocks that are executed as one.  asynchronous: there are operations of the async proxy. */
machine_clocks_t *machine_clocks_new(machine_run_t *run, const machine_cluster_t *cluster, bool each,
                                     bool asynchronous);
void machine_clocks_free(machine_run_t *run, machine_clocks_t *clocks);
void machine_clocks_reset(machine_clocks_t *clocks, uint32_t time);
void machine_clocks_warp_sync(machine_warp_t *warp, uint32_t lanes);
void machine_clocks_arrive(machine_block_t *block, uint32_t warp, uint32_t barrier);
/* Of warps from the first on, a bit each. */
void machine_clocks_leave(machine_block_t *block, uint32_t first, uint32_t warps, uint32_t barrier);
/* The barrier's phase is complete: from now on warps arrive in the next one. */
void machine_clocks_complete(machine_block_t *block, uint32_t barrier);
/* A warp of the barrier's last phase whose arrival this one cannot know of; PTX_NONE: there is none. */
uint32_t machine_clocks_missing(const machine_block_t *block, uint32_t warp, uint32_t barrier);
/* Whether what a thread of the block (PTX_NONE: any) did at that time of the block is ordered before what the lane does now. */
bool machine_clocks_ordered_time(const machine_warp_t *warp, uint32_t lane, uint32_t thread, uint32_t time);
/* The block's time goes on; the new one.  Stops the run when there is none left. */
uint32_t machine_tick(machine_block_t *block);
/* Whether what the thread did at those clocks is ordered before what lane of warp does now. */
bool machine_clocks_ordered(const machine_warp_t *warp, uint32_t lane, uint32_t thread, uint32_t lane_clock,
                            uint32_t warp_clock);

/* Between blocks: releases and acquisitions through a location. */
void machine_sync_fence(machine_warp_t *warp, uint32_t lanes);
void machine_sync_barrier(machine_block_t *block);
void machine_sync_release(machine_warp_t *warp, uint32_t lane, uint64_t address, bool fenced);
void machine_sync_acquire(machine_warp_t *warp, uint32_t lane, uint64_t address);
/* Whether the access recorded under name is ordered before what this lane does now. */
bool machine_sync_ordered(const machine_warp_t *warp, uint32_t lane, uint64_t name);
void machine_sync_free(machine_run_t *run);

#endif
