/* What moves of fragments and of rows share (fragment_moves.c, matrix_moves.c): they record for races what a lane reads or writes, as ordinary
 * loads and stores do.  While a record is repeated (state/recording.h), only values are moved and nothing is checked again. */
#ifndef MACHINE_LANES_MOVED_BYTES_H
#define MACHINE_LANES_MOVED_BYTES_H

#include "machine/lanes/handlers.h"
#include "machine/access/memory_access.h"
#include "machine/lanes/shared_records.h"

static inline bool repeats(const machine_warp_t *warp) {
   return warp->run->repeats;
}

/* Notes in packed records that a lane reads, if no thread wrote there since the last barrier.  False: the access must be checked by the slow path;
 * the records that were already changed stay so. */
static inline bool note_reading(const machine_block_t *block, uint32_t thread, uint32_t offset,
                                uint32_t bytes) {
   if (block->races != RACES_FAST)
      return false;
   return record_run(&block->shared_races[offset >> block->shared_shift],
                     ((bytes - 1) >> block->shared_shift) + 1, block->epoch << EPOCH_SHIFT, thread + 1,
                     false);
}

static inline void record_shared(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                                 const void *value) {
   if (value || !note_reading(warp->block, warp->first_thread + lane, offset, bytes))
      machine_shared_access(warp, lane, offset, bytes, value, value != NULL, false);
}

/* Records in a run that looks for races what one lane reads or writes, and looks for them. */
static inline void record(machine_warp_t *warp, uint32_t lane, const machine_place_t *place, uint32_t bytes,
                          const void *value) {
   const bool store = value != NULL;
   if (place->window == WINDOW_SHARED)
      record_shared(warp, lane, (uint32_t)place->offset, bytes, value);
   else if (place->region && (store || !place->region->read_only))
      machine_global_access(warp, lane, place->region, place->offset, bytes, value, store, false);
}

static inline bool records(const machine_warp_t *warp) {
   return warp->run->races && !repeats(warp);
}

static inline bool all_defined(const uint8_t *defined, uint32_t bytes) {
   for (uint32_t n = 0; defined && n < bytes; n++)
      if (defined[n] != 1)
         return false;
   return true;
}

static inline uint64_t memory_taint(machine_warp_t *warp, const machine_place_t *place) {
   return warp->taint ? *taint_of_place(warp, place) : 0;
}

#endif
