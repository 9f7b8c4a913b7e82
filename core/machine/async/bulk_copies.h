/* Bulk copies between global and shared memory (PTX ISA 9.0, 9.7.9.25.4 and .5): keeps the copies in flight, in groups of the thread that started
 * them, and moves bytes with everything that is known about them.  Owned by the block; on the machine's thread. */
#ifndef RKB_MACHINE_ASYNC_BULK_COPIES_H
#define RKB_MACHINE_ASYNC_BULK_COPIES_H

#include "machine/maps/tensor_maps.h"

typedef struct machine_bulk_groups machine_bulk_groups_t;
machine_bulk_groups_t *machine_bulk_groups_new(machine_run_t *run, uint32_t threads);
void machine_bulk_groups_free(machine_run_t *run, machine_bulk_groups_t *groups);
void machine_bulk_groups_begin(machine_block_t *block);
/* Returns the actor of the lane's groups; *count is the count at which the open group is done. */
uint32_t machine_bulk_group(machine_warp_t *warp, uint32_t lane, uint32_t *count);
void machine_bulk_commit(machine_warp_t *warp, uint32_t lanes);
/* The actor of the same groups' writes.  PTX_NONE: not followed, if so many threads have groups that actors might run out. */
uint32_t machine_bulk_written_group(machine_warp_t *warp, uint32_t lane);
/* All but the last pending groups of each lane have read what they copy; written: and written it. */
void machine_bulk_wait(machine_warp_t *warp, uint32_t lanes, uint32_t pending, bool written);

/* Whether size bytes from an offset on are in shared memory, at a multiple of alignment; else makes a
 * finding. */
bool machine_bulk_shared(machine_warp_t *warp, uint32_t lane, uint64_t address, uint32_t bytes,
                         uint32_t alignment, uint32_t *offset);
/* The same for global memory, at a multiple of 16 bytes. */
bool machine_bulk_global(machine_warp_t *warp, uint32_t lane, uint64_t address, uint32_t bytes, bool store,
                         machine_row_t *row);
/* Counts the work of checking a row against what other threads did to each of its granules. */
void machine_bulk_count_granules(const machine_warp_t *warp, const machine_row_t *row);
/* Moves a row's bytes and makes no checks. */
void machine_bulk_take(machine_warp_t *warp, const machine_row_t *row);
void machine_bulk_give(machine_warp_t *warp, uint32_t lane, const machine_row_t *row);
/* Moves a row to shared memory, or from there; checks its accesses to global memory as accesses of the lane.
 * operation: of the load; 0: none is followed. */
void machine_bulk_load(machine_warp_t *warp, uint32_t lane, uint32_t operation, const machine_row_t *row);
void machine_bulk_store(machine_warp_t *warp, uint32_t lane, const machine_row_t *row);
/* Fills bytes where nothing is read: with zeros, or with a pattern of two or four bytes. */
void machine_bulk_fill(machine_warp_t *warp, uint32_t shared, uint32_t bytes, uint32_t pattern);
/* Adds a bulk operation to both memories' counters. */
void machine_bulk_count(machine_warp_t *warp, const machine_row_t *row, bool store);

#endif
