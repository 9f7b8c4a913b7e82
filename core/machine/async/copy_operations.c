/* The instructions that start, commit and await asynchronous copies (copies.h).  On the machine's thread. */
#include "machine/in_flight/copy_slots.h"
#include "machine/in_flight/operations.h"
#include "machine/clocks/second_access.h"
#include "machine/races/races.h"

#include <stdlib.h>

/* Whether no other thread accessed the bytes since the last barrier. */
static bool untouched(const machine_block_t *block, uint32_t to, uint32_t bytes, uint32_t me) {
   for (uint32_t g = to >> block->shared_shift; g <= (to + bytes - 1) >> block->shared_shift; g++) {
      const uint32_t record = block->shared_races[g], writer = record >> 11 & SEVERAL,
                     reader = record & SEVERAL;
      if (record >> EPOCH_SHIFT == block->epoch && ((writer && writer != me) || (reader && reader != me)))
         return false;
   }
   return true;
}

/* Start, commit, wait ------------------------------------------------------------------------------------------------ */

uint32_t machine_copies_open(machine_warp_t *warp) {
   machine_copies_t *copies = warp->block->copies;
   uint32_t n = copies->first_free;
   while (n < copies->count && copies->slots[n].lanes)
      n++;
   if (n == copies->room) {
      const uint32_t room = copies->room ? 2 * copies->room : 64;
      copy_t *larger = room <= MOST_SLOTS ? realloc(copies->slots, room * sizeof *larger) : NULL;
      if (!larger) {
         warp->run->out_of_memory = true;
         return UINT32_MAX;
      }
      copies->slots = larger;
      copies->room = room;
   }
   copies->count = n == copies->count ? n + 1 : copies->count;
   copies->first_free = n;
   copies->slots[n].pc = warp->pc;
   copies->slots[n].warp = warp->number;
   copies->slots[n].lanes = 0;
   copies->slots[n].region = NULL;
   return n;
}

void machine_copy_start(machine_warp_t *warp, uint32_t handle, uint32_t lane, uint32_t to, uint32_t bytes,
                        machine_region_t *region, uint64_t from, uint32_t from_bytes) {
   machine_block_t *block = warp->block;
   machine_copies_t *copies = block->copies;
   copy_t *slot = &copies->slots[handle];
   const uint32_t me = warp->first_thread + lane + 1;
   if (machine_copies_touched(warp, lane, to, bytes, true))
      return;
   if (block->races != RACES_FAST || !untouched(block, to, bytes, me))
      machine_shared_copied(warp, lane, to, bytes);
   machine_operations_copying(block, to, bytes);
   if (region)
      machine_global_access(warp, lane, region, from, from_bytes, NULL, false, false);
   copies->live += slot->lanes == 0;
   copies->sources += region && !slot->region;
   slot->region = region ? region : slot->region;
   slot->lanes |= 1u << lane;
   slot->bytes = bytes;
   slot->to[lane] = to;
   slot->from[lane] = from;
   slot->from_bytes[lane] = region ? from_bytes : 0;
   slot->group[lane] = copies->committed[warp->first_thread + lane];
   for (uint32_t word = to / 4; word < (to + bytes) / 4; word++)
      copies->owner[word] = handle * LANES + lane + 1;
   if (block->races == RACES_FAST)
      machine_copies_mark(block, to, bytes, COPIES);
}

void machine_copies_commit(machine_warp_t *warp, uint32_t lanes) {
   for (; lanes; lanes &= lanes - 1)
      warp->block->copies->committed[warp->first_thread + (uint32_t)__builtin_ctz(lanes)]++;
}

/* From now on the bytes count as written by the thread, and the source as read by it. */
static void complete(machine_warp_t *warp, copy_t *slot, uint32_t lane) {
   machine_block_t *block = warp->block;
   const uint32_t to = slot->to[lane];
   for (uint32_t word = to / 4; word < (to + slot->bytes) / 4; word++)
      block->copies->owner[word] = 0;
   if (block->races == RACES_FAST)
      machine_copies_mark(block, to, slot->bytes, warp->first_thread + lane + 1);
   else
      machine_shared_copied(warp, lane, to, slot->bytes);
   if (warp->run->keeps_lines) /* the line that started the copy says more than the line of the wait */
      machine_second_access_note(warp, lane, to, slot->bytes, true, slot->pc);
   if (slot->from_bytes[lane])
      machine_global_access(warp, lane, slot->region, slot->from[lane], slot->from_bytes[lane], NULL, false,
                            false);
}

static void release_slot(machine_copies_t *copies, uint32_t n) {
   copies->live--;
   copies->sources -= copies->slots[n].region != NULL;
   copies->first_free = n < copies->first_free ? n : copies->first_free;
}

void machine_copies_wait(machine_warp_t *warp, uint32_t lanes, uint32_t pending, bool all) {
   machine_copies_t *copies = warp->block->copies;
   for (uint32_t n = 0; n < copies->count && copies->live; n++) {
      copy_t *slot = &copies->slots[n];
      if (slot->warp != warp->number || !slot->lanes)
         continue;
      for (uint32_t left = slot->lanes & lanes; left; left &= left - 1) {
         const uint32_t lane = (uint32_t)__builtin_ctz(left),
                        committed = copies->committed[warp->first_thread + lane];
         if (!all && slot->group[lane] + pending >= committed)
            continue;
         complete(warp, slot, lane);
         slot->lanes &= ~(1u << lane);
      }
      if (!slot->lanes)
         release_slot(copies, n);
   }
}

void machine_copies_hand_over(machine_warp_t *warp, uint32_t lane, uint32_t actor, uint32_t count) {
   machine_copies_t *copies = warp->block->copies;
   const uint32_t pc = warp->pc;
   for (uint32_t n = 0; n < copies->count && copies->live; n++) {
      copy_t *slot = &copies->slots[n];
      if (slot->warp != warp->number || !(slot->lanes >> lane & 1))
         continue;
      warp->pc = slot->pc;
      const uint32_t operation = machine_operation_start(warp, lane, actor, count, "an asynchronous copy");
      complete(warp, slot, lane);
      machine_operation_owns(warp->block, operation, slot->to[lane], slot->bytes);
      slot->lanes &= ~(1u << lane);
      if (!slot->lanes)
         release_slot(copies, n);
   }
   warp->pc = pc;
}

/* Conflicts ------------------------------------------------------------------------------------------------------------ */
