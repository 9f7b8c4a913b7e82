/* Asynchronous copies in flight (copies.h): a slot for each instruction of a warp that started copies, and for each word of shared memory the slot
 * and the lane to which it belongs.  On the machine's thread. */
#include "machine/in_flight/copy_slots.h"
#include "machine/state/packed_records.h"

#include <stdio.h>
#include <stdlib.h>

machine_copies_t *machine_copies_new(machine_run_t *run, uint32_t shared_bytes, uint32_t threads) {
   machine_copies_t *copies = machine_alloc(run, sizeof *copies);
   if (!copies)
      return NULL;
   copies->words = shared_bytes / 4 + 1;
   copies->threads = threads;
   copies->owner = machine_alloc(run, copies->words * sizeof *copies->owner);
   copies->committed = machine_alloc(run, threads * sizeof *copies->committed);
   if (!copies->owner || !copies->committed) {
      machine_copies_free(run, copies);
      return NULL;
   }
   return copies;
}

void machine_copies_free(machine_run_t *run, machine_copies_t *copies) {
   if (!copies)
      return;
   free(copies->slots);
   machine_release(run, copies->committed, copies->threads * sizeof *copies->committed);
   machine_release(run, copies->owner, copies->words * sizeof *copies->owner);
   machine_release(run, copies, sizeof *copies);
}

void machine_copies_begin(machine_block_t *block) {
   machine_copies_t *copies = block->copies;
   if (!copies)
      return;
   if (copies->live)
      memset(copies->owner, 0, copies->words * sizeof *copies->owner);
   copies->count = copies->first_free = copies->live = copies->sources = 0;
   memset(copies->committed, 0, copies->threads * sizeof *copies->committed);
}

bool machine_copies_have_sources(const machine_block_t *block) {
   return block->copies && block->copies->sources;
}

/* Records ---------------------------------------------------------------------------------------------------------- */

void machine_copies_mark(machine_block_t *block, uint32_t to, uint32_t bytes, uint32_t writer) {
   const uint32_t shift = block->shared_shift, record = block->epoch << EPOCH_SHIFT | writer << 11;
   for (uint32_t g = to >> shift; g <= (to + bytes - 1) >> shift; g++)
      block->shared_races[g] = record;
}

void machine_copies_new_epoch(machine_block_t *block) {
   const machine_copies_t *copies = block->copies;
   if (!copies || !copies->live || block->races != RACES_FAST)
      return;
   for (uint32_t n = 0; n < copies->count; n++)
      for (uint32_t lanes = copies->slots[n].lanes; lanes; lanes &= lanes - 1)
         machine_copies_mark(block, copies->slots[n].to[__builtin_ctz(lanes)], copies->slots[n].bytes,
                             COPIES);
}

static void report(machine_warp_t *warp, uint32_t lane, const copy_t *slot, uint32_t other_lane,
                   const char *symbol, uint64_t offset, uint32_t bytes, bool store, bool reads) {
   const bool own = slot->warp == warp->number && other_lane == lane;
   rkb_machine_finding_t *finding = machine_find(
      warp, RKB_MACHINE_REJECT, "race.async", lane,
      "%s %u bytes at byte %llu of %s that an asynchronous copy started by %s in line %u may still be %s: that thread "
      "has not waited for it",
      store ? "writes" : "reads", bytes, (unsigned long long)offset, symbol,
      own ? "the same thread" : "another thread", machine_source_line(warp->program, slot->pc),
      reads ? "reading" : "writing");
   if (!finding)
      return;
   finding->offset = (int64_t)offset;
   finding->bytes = bytes;
   snprintf(finding->symbol, sizeof finding->symbol, "%s", symbol);
   snprintf(finding->space, sizeof finding->space, "%s", reads ? "global" : "shared");
   machine_find_other_at(finding, warp->block, slot->warp * LANES + other_lane, slot->pc,
                         "the other's copy began first; its thread has not waited for the end");
}

bool machine_copies_touched(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                            bool store) {
   const machine_copies_t *copies = warp->block->copies;
   for (uint32_t word = offset / 4; copies->live && word <= (offset + bytes - 1) / 4; word++) {
      const uint32_t owner = copies->owner[word];
      if (!owner)
         continue;
      report(warp, lane, &copies->slots[(owner - 1) / LANES], (owner - 1) % LANES, "shared memory", offset,
             bytes, store, false);
      return true;
   }
   return false;
}

bool machine_copies_overwritten(machine_warp_t *warp, uint32_t lane, const machine_region_t *region,
                                uint64_t offset, uint32_t bytes) {
   const machine_copies_t *copies = warp->block->copies;
   for (uint32_t n = 0; n < copies->count; n++) {
      const copy_t *slot = &copies->slots[n];
      for (uint32_t lanes = slot->region == region ? slot->lanes : 0; lanes; lanes &= lanes - 1) {
         const uint32_t other = (uint32_t)__builtin_ctz(lanes);
         if (offset >= slot->from[other] + slot->from_bytes[other] || slot->from[other] >= offset + bytes)
            continue;
         report(warp, lane, slot, other, region->name, offset, bytes, true, true);
         return true;
      }
   }
   return false;
}
