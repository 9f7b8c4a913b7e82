/* Global memory that bulk and tensor copies use (PTX ISA 9.0, 9.7.9.25): the sources of copies to shared memory, and the destinations of copies and
 * reductions from there.  A thread knows that a load has ended when it has waited at the copy's mbarrier, and that a store has ended when it has
 * waited for the copy's group without .read.  Between the start of a copy and its end no thread may write its source, and no thread may read or
 * write its destination, not even the thread that started it.  Copies from shared memory may write what other such copies write, if the values are
 * the same; and reductions may change what other reductions change.  Only memory that kernels may write is followed.
 *
 * Kept for one block (a cluster), in runs that look for races; owned by it; on the machine's thread. */
#ifndef RKB_MACHINE_IN_FLIGHT_COPY_SOURCES_H
#define RKB_MACHINE_IN_FLIGHT_COPY_SOURCES_H

#include "machine/maps/tensor_maps.h"

typedef struct machine_copy_sources machine_copy_sources_t;

machine_copy_sources_t *machine_copy_sources_new(machine_run_t *run); /* NULL when memory ran out */
void machine_copy_sources_free(machine_run_t *run, machine_copy_sources_t *sources);
/* Called when a block starts: no copies are in flight. */
void machine_copy_sources_begin(machine_block_t *block);
/* An operation (operations.h) that the lane started reads a row, or the rows of a tile. */
void machine_copy_source_row(machine_warp_t *warp, uint32_t operation, const machine_row_t *row);
void machine_copy_source_tile(machine_warp_t *warp, uint32_t operation, const machine_tile_t *tile);
/* The same of the tensor map of a copy, which lies in global memory.  group: the operation of the thread's bulk group, whose wait says, even with .read,
 * that maps have been read (PTX ISA 9.0, cp.async.bulk.wait_group); 0: the same as the first. */
void machine_copy_source_map(machine_warp_t *warp, uint32_t operation, uint32_t group,
                             const machine_row_t *row);
/* The same of the operation's destination. */
void machine_copy_destination_row(machine_warp_t *warp, uint32_t operation, const machine_row_t *row);
void machine_copy_destination_tile(machine_warp_t *warp, uint32_t operation, const machine_tile_t *tile);
/* Whether the first two functions keep what the operation reads of a region. */
bool machine_copy_source_followed(const machine_warp_t *warp, uint32_t operation,
                                  const machine_region_t *region);
/* Visits the rows of all copies whose end the lane does not know: with `read` those of sources, with `written` those of destinations. */
void machine_copy_sources_unknown(machine_warp_t *warp, uint32_t lane, machine_tile_visit_t *read,
                                  machine_tile_visit_t *written, void *argument);
/* A copy from shared memory is about to write a row, or a tile.  Whether another one that wrote other values there may still be writing, or a reduction may
 * still be changing the bytes; makes a finding. */
bool machine_copy_rewrites_row(machine_warp_t *warp, uint32_t lane, const machine_row_t *row);
bool machine_copy_rewrites_tile(machine_warp_t *warp, uint32_t lane, const machine_tile_t *tile);
/* How an access is made: by the thread itself, by a copy that it starts, or as a reduction or an atomic operation. */
enum machine_copy_access { BY_THREAD, BY_COPY, BY_REDUCTION };
/* Whether a copy may still read bytes that the lane writes (store), or still write bytes that the lane accesses; makes a finding. */
bool machine_copy_source_in_use(machine_warp_t *warp, uint32_t lane, const machine_region_t *region,
                                uint64_t offset, uint32_t bytes, bool store, enum machine_copy_access how);
/* Whether any are kept: then all stores are checked lane by lane, and with destinations all loads. */
bool machine_copy_sources_kept(const machine_block_t *block);
bool machine_copy_destinations_kept(const machine_block_t *block);

#endif
