/* The accesses to a granule of shared memory, with their clocks: which threads read it or changed it atomically since its last plain write,
 * and whether these accesses come before the present one of a lane (clocks.h).  On the machine's thread. */
#include "machine/clocks/clocks.h"

static bool spread_ordered(const machine_warp_t *warp, uint32_t lane, uint32_t of,
                           const machine_spread_t *those, uint32_t *other) {
   for (uint32_t left = those->lanes; left; left &= left - 1) {
      const uint32_t thread = of * LANES + (uint32_t)__builtin_ctz(left);
      if (thread != warp->first_thread + lane && !machine_clocks_ordered(warp, lane, thread, those->clock)) {
         *other = thread;
         return false;
      }
   }
   return true;
}

/* The memory is not cleared: megabytes of which few granules need a part, and a granule's part is cleared when several warps first read it or add to it. */
machine_spread_t *machine_shared_spread(machine_block_t *block, uint32_t granule, bool atomics) {
   if (!block->shared_spread)
      block->shared_spread = machine_alloc_uncleared(block->run, machine_spread_bytes(block));
   return block->shared_spread ? block->shared_spread + (2 * (size_t)granule + atomics) * block->warp_count
                               : NULL;
}

/* Whether the accesses of all those threads are ordered before this lane's access.  If not, *other is a thread whose access is not ordered, or
 * PTX_NONE. */
static bool lanes_ordered(const machine_warp_t *warp, uint32_t lane, const machine_lanes_t *those,
                          const machine_spread_t *spread, uint32_t *other) {
   *other = PTX_NONE;
   if (!those->several_warps)
      return spread_ordered(warp, lane, those->warp - 1u, &(machine_spread_t){those->lanes, those->clock},
                            other);
   for (uint32_t w = 0; spread && w < warp->block->warp_count; w++)
      if (spread[w].lanes && !spread_ordered(warp, lane, w, &spread[w], other))
         return false;
   return spread != NULL;
}

/* Adds a lane to the lanes of its warp.  If the accesses of all these lanes are ordered before the new one, the new lane replaces them. */
static machine_spread_t join_warp(const machine_warp_t *warp, uint32_t lane, machine_spread_t those) {
   uint32_t other;
   if (those.lanes && spread_ordered(warp, lane, warp->number, &those, &other))
      those = (machine_spread_t){0};
   const uint32_t clock = machine_lane_clock(warp, lane);
   return (machine_spread_t){.lanes = those.lanes | 1u << lane,
                             .clock = clock > those.clock ? clock : those.clock};
}

void machine_join_lanes(machine_warp_t *warp, uint32_t lane, uint32_t granule, bool atomics,
                        machine_lanes_t *those) {
   machine_block_t *block = warp->block;
   machine_spread_t *spread = those->several_warps ? machine_shared_spread(block, granule, atomics) : NULL,
                    own = {those->lanes, those->clock};
   uint32_t other;
   if (!those->several_warps && those->warp && those->warp != warp->number + 1) {
      if (!lanes_ordered(warp, lane, those, NULL, &other) &&
          (spread = machine_shared_spread(block, granule, atomics))) {
         memset(spread, 0, block->warp_count * sizeof *spread);
         spread[those->warp - 1] = own;
         those->several_warps = true;
      }
      own = (machine_spread_t){0};
   }
   own = join_warp(warp, lane, spread ? spread[warp->number] : own);
   if (spread)
      spread[warp->number] = own;
   else
      *those = (machine_lanes_t){own.lanes, own.clock, (uint16_t)(warp->number + 1), false};
}

size_t machine_spread_bytes(const machine_block_t *block) {
   return ((block->shared_bytes >> block->shared_shift) + 16) * 2 * (size_t)block->warp_count *
          sizeof(machine_spread_t);
}

void machine_spread_free(machine_block_t *block) {
   if (block->shared_spread)
      machine_release(block->run, block->shared_spread, machine_spread_bytes(block));
   block->shared_spread = NULL;
}

bool machine_group_ordered(machine_warp_t *warp, uint32_t lane, uint32_t granule, bool atomics,
                           const machine_lanes_t *those, uint32_t *other) {
   return !those->warp ||
          lanes_ordered(warp, lane, those,
                        those->several_warps ? machine_shared_spread(warp->block, granule, atomics) : NULL,
                        other);
}

static bool granule_ordered(machine_warp_t *warp, uint32_t lane, uint32_t granule, bool store, bool *wrote,
                            uint32_t *other) {
   const machine_shared_record_t *record = &warp->block->shared_records[granule];
   if (record->epoch != warp->block->shared_epoch)
      return true;
   *wrote = true;
   *other = record->writer - 1;
   if (record->writer && record->writer != warp->first_thread + lane + 1 &&
       !machine_clocks_ordered(warp, lane, record->writer - 1, record->writer_clock))
      return false;
   if (!machine_group_ordered(warp, lane, granule, true, &record->atomics, other))
      return false;
   *wrote = false;
   return !store || machine_group_ordered(warp, lane, granule, false, &record->readers, other);
}

bool machine_shared_ordered(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes, bool store,
                            bool *wrote, uint32_t *other) {
   const machine_block_t *block = warp->block;
   for (uint32_t g = offset >> block->shared_shift; g <= (offset + bytes - 1) >> block->shared_shift; g++)
      if (!granule_ordered(warp, lane, g, store, wrote, other))
         return false;
   return true;
}

void machine_shared_forget(machine_block_t *block, uint32_t offset, uint32_t bytes) {
   for (uint32_t g = offset >> block->shared_shift; g <= (offset + bytes - 1) >> block->shared_shift; g++)
      block->shared_records[g] = (machine_shared_record_t){.epoch = block->shared_epoch};
}
