/* Asynchronous copies in flight (cp.async; PTX ISA 9.0, 9.7.9.25).  Between the instruction that starts a copy and the wait of the same
 * thread, its bytes belong to the copy.  An access to them in that time races with the copy, in whatever order the machine executes the two: on a
 * device the copy may end as soon as it starts or as late as the wait.  After the wait the bytes count as written by the thread at the wait, so
 * that other threads need a barrier after it.
 *
 * Kept for one block, and only in runs that look for races; the machine moves the values when a copy starts, since nothing may read them before
 * the copy ends.  Owned by the block; on the machine's thread. */
#ifndef RKB_MACHINE_IN_FLIGHT_COPIES_H
#define RKB_MACHINE_IN_FLIGHT_COPIES_H

#include "machine/state/execution.h"

/* The writer in a packed record of shared memory (races.h) that stands for a copy, so that the slow path
 * looks at every access. */
#define COPIES 0x7fcu

typedef struct machine_copies machine_copies_t;

/* shared_bytes, threads: of all blocks of the cluster.  NULL when memory ran out. */
machine_copies_t *machine_copies_new(machine_run_t *run, uint32_t shared_bytes, uint32_t threads);
void machine_copies_free(machine_run_t *run, machine_copies_t *copies);
void machine_copies_begin(machine_block_t *block); /* called when a block starts: no copies are in flight */
/* Called after a barrier of the whole block, because packed records from before the barrier no longer count. */
void machine_copies_new_epoch(machine_block_t *block);

/* The instruction that the warp executes starts copies: a handle for machine_copy_start; UINT32_MAX when there is no room. */
uint32_t machine_copies_open(machine_warp_t *warp);
/* Starts a lane's copy: bytes to shared memory from from_bytes of a region that others may write; region
 * NULL: the source is only read. */
void machine_copy_start(machine_warp_t *warp, uint32_t handle, uint32_t lane, uint32_t to, uint32_t bytes,
                        machine_region_t *region, uint64_t from, uint32_t from_bytes);
/* cp.async.commit_group and cp.async.wait_group: all but the last pending groups of each lane are done; with
 * `all`, also the copies that are in no group. */
void machine_copies_commit(machine_warp_t *warp, uint32_t lanes);
void machine_copies_wait(machine_warp_t *warp, uint32_t lanes, uint32_t pending, bool all);

/* The lane's copies in flight are done when so many of an actor's phases are (cp.async.mbarrier.arrive). */
void machine_copies_hand_over(machine_warp_t *warp, uint32_t lane, uint32_t actor, uint32_t count);

/* Whether bytes of shared memory belong to a copy in flight; makes a finding. */
bool machine_copies_touched(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes, bool store);
/* The same for bytes of global memory that are written and that a copy may still read. */
bool machine_copies_overwritten(machine_warp_t *warp, uint32_t lane, const machine_region_t *region,
                                uint64_t offset, uint32_t bytes);
/* Whether copies are in flight from memory that may be written. */
bool machine_copies_have_sources(const machine_block_t *block);

#endif
