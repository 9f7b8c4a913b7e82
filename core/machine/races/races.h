/* Records of which threads read and wrote which bytes, and the order of accesses (races.c, synchronisation.c; clocks/).
 *
 * Shared memory: one record for each granule (state/packed_records.h).
 *
 * Global memory: two 64-bit words for each granule, one for the last writer and one for the readers since
 * then; state/packed_records.h has what is in them.  Blocks are numbered through a whole run,
 * so nothing is cleared between launches: a block of an earlier launch came before.  The time grows at the
 * barriers and fences of a block. */
#ifndef RKB_MACHINE_RACES_RACES_H
#define RKB_MACHINE_RACES_RACES_H

#include "machine/clocks/clocks.h"
#include "machine/state/packed_records.h"

/* Slow paths: check and record an access of one lane to bytes at offset.  value: the bytes that a store writes, which show whether it stores the
 * value that is already there; NULL for loads.  Atomic accesses do not race with each other. */
void machine_shared_access(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                           const void *value, bool store, bool atomic);
/* Records what a copy of the lane writes, where no other copy is in flight. */
void machine_shared_copied(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes);
/* The same, only against other threads. */
void machine_shared_record(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                           const void *value, bool store, bool atomic);
void machine_global_access(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, const void *value, bool store, bool atomic);
/* A bulk or tensor copy, or a reduction, of the lane writes the bytes. */
void machine_global_stored(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, bool reduces);
/* unfenced_writes.c.  Whether such a copy, or one that reads the bytes, uses what this launch wrote there through the generic proxy, with no proxy fence
 * between the two; makes a finding. */
bool machine_global_unfenced(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                             uint32_t bytes, bool store);
/* The same, only against other threads of the launch. */
void machine_global_record(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, const void *value, bool store, bool atomic);

/* Records the read of a lane's bulk or tensor copy.  followed: machine_copy_sources_t keeps the read.  Then only threads that know of the copy's
 * end are ordered after the read; an order after the copy's start does not suffice. */
void machine_global_copied(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, bool followed);
void machine_global_record_copied(machine_warp_t *warp, uint32_t lane, machine_region_t *region,
                                  uint64_t offset, uint32_t bytes);
/* Records what machine_global_stored has checked. */
void machine_global_record_stored(machine_warp_t *warp, uint32_t lane, machine_region_t *region,
                                  uint64_t offset, uint32_t bytes, bool reduces);
/* copied_reads.c.  The lane releases.  If the lane does not know that a copy of its block has ended, the copy's record then says that it reads
 * or writes now, so that the release does not cover the copy. */
void machine_global_copies_go_on(machine_warp_t *warp, uint32_t lane);

/* warp_shared_records.c: with clocks, plain reads or writes of all lanes of a warp at once.  Whether accesses of the
 * block may be recorded a warp at a time. */
bool machine_shared_rows(const machine_block_t *block);
/* Each lane of mask reads or writes so many bytes; one: all lanes the same bytes.  False when the slow path has to look at each lane. */
bool machine_shared_record_row(machine_warp_t *warp, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                               bool one, bool store);
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
   return (warp->block->serial + 1) << NAME_BLOCK_SHIFT |
          (uint64_t)(warp->block->time & MOST_NAME_TIME) << NAME_TIME_SHIFT | (atomic ? NAME_ATOMIC : 0) |
          (warp->first_thread + lane + 1);
}

/* The name of a thread of a block at a time that has passed. */
static inline uint64_t machine_past_name(uint64_t serial, uint32_t thread, uint32_t time) {
   return (serial + 1) << NAME_BLOCK_SHIFT | (uint64_t)(time & MOST_NAME_TIME) << NAME_TIME_SHIFT |
          (thread + 1);
}

static inline uint64_t machine_copies_name(const machine_warp_t *warp) {
   return (machine_global_name(warp, 0, false) & ~MANY_THREADS) | BLOCKS_COPIES;
}

/* Whether what was done under `name`, in this launch or before, is ordered before what this lane does now. */
bool machine_global_ordered(const machine_warp_t *warp, uint32_t lane, uint64_t name);

/* synchronisation.c.  Between blocks: releases and acquisitions through a location in memory. */
void machine_sync_fence(machine_warp_t *warp, uint32_t lanes);
void machine_sync_barrier(machine_block_t *block);
void machine_sync_release(machine_warp_t *warp, uint32_t lane, uint64_t address, bool fenced);
void machine_sync_acquire(machine_warp_t *warp, uint32_t lane, uint64_t address);
/* Whether the access recorded under `name` is ordered before what this lane does now. */
bool machine_sync_ordered(const machine_warp_t *warp, uint32_t lane, uint64_t name);
/* The same, with a fence of the async proxy on the way. */
bool machine_sync_fenced(const machine_warp_t *warp, uint32_t lane, uint64_t name);
void machine_sync_free(machine_run_t *run);

#endif
