/* Asynchronous copies that are on their way (copies.h): a slot for each instruction of a warp that started some, and for each word of
 * shared memory the slot and lane that it belongs to. */
#include "machine/async/copies.h"
#include "machine/races/races.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_THREADS 1024u
#define MOST_SLOTS                                                                                           \
   (1u << 20) /* instructions whose copies are on their way; each started at least one of 4 bytes */

typedef struct copy {
   uint32_t pc, warp, bytes;
   uint32_t lanes; /* whose copies are on their way; 0: the slot is free */
   uint32_t group[LANES], to[LANES];
   machine_region_t *region; /* NULL: the source is only read */
   uint64_t from[LANES];
   uint32_t from_bytes[LANES];
} copy_t;

struct machine_copies {
   copy_t *slots;
   uint32_t count, room, first_free; /* slots below it are taken */
   uint32_t live, sources;           /* slots with copies on their way; of those, with a region */
   uint32_t words;
   uint32_t committed[MOST_THREADS]; /* groups of each thread so far */
   uint32_t *owner;                  /* by word of shared memory: slot * 32 + lane + 1, or 0 */
};

machine_copies_t *machine_copies_new(machine_run_t *run, uint32_t shared_bytes) {
   machine_copies_t *copies = machine_alloc(run, sizeof *copies);
   if (!copies)
      return NULL;
   copies->words = shared_bytes / 4 + 1;
   copies->owner = machine_alloc(run, copies->words * sizeof *copies->owner);
   if (!copies->owner) {
      machine_release(run, copies, sizeof *copies);
      return NULL;
   }
   return copies;
}

void machine_copies_free(machine_run_t *run, machine_copies_t *copies) {
   if (!copies)
      return;
   free(copies->slots);
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
   memset(copies->committed, 0, sizeof copies->committed);
}

bool machine_copies_have_sources(const machine_block_t *block) {
   return block->copies && block->copies->sources;
}

/* Records ---------------------------------------------------------------------------------------------------------- */

static void mark(machine_block_t *block, uint32_t to, uint32_t bytes, uint32_t writer) {
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
         mark(block, copies->slots[n].to[__builtin_ctz(lanes)], copies->slots[n].bytes, COPIES);
}

/* Nobody else touched the bytes since the last barrier. */
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
      machine_shared_access(warp, lane, to, bytes, NULL, true, false);
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
      mark(block, to, bytes, COPIES);
}

void machine_copies_commit(machine_warp_t *warp, uint32_t lanes) {
   for (; lanes; lanes &= lanes - 1)
      warp->block->copies->committed[warp->first_thread + (uint32_t)__builtin_ctz(lanes)]++;
}

/* From now on the bytes are the thread's own write, and what it copied its own reading. */
static void complete(machine_warp_t *warp, copy_t *slot, uint32_t lane) {
   machine_block_t *block = warp->block;
   const uint32_t to = slot->to[lane];
   for (uint32_t word = to / 4; word < (to + slot->bytes) / 4; word++)
      block->copies->owner[word] = 0;
   if (block->races == RACES_FAST)
      mark(block, to, slot->bytes, warp->first_thread + lane + 1);
   else
      machine_shared_access(warp, lane, to, slot->bytes, NULL, true, false);
   if (slot->from_bytes[lane])
      machine_global_access(warp, lane, slot->region, slot->from[lane], slot->from_bytes[lane], NULL, false,
                            false);
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
      if (slot->lanes)
         continue;
      copies->live--;
      copies->sources -= slot->region != NULL;
      copies->first_free = n < copies->first_free ? n : copies->first_free;
   }
}

/* Conflicts ------------------------------------------------------------------------------------------------------------ */

static uint32_t line_of(const machine_program_t *program, uint32_t pc) {
   const machine_instruction_t *i = &program->code[pc];
   const ptx_place_t *place = &program->module->functions[i->function].statements[i->statement].place;
   const bool outer = place->outer_line && place->outer_file != place->file;
   return outer ? place->outer_line : place->line ? place->line : place->ptx_line;
}

static void report(machine_warp_t *warp, uint32_t lane, const copy_t *slot, uint32_t other_lane,
                   const char *symbol, uint64_t offset, uint32_t bytes, bool store, bool reads) {
   const bool own = slot->warp == warp->number && other_lane == lane;
   rkb_machine_finding_t *finding = machine_find(
      warp, RKB_MACHINE_REJECT, "race.async", lane,
      "%s %u bytes at byte %llu of %s that an asynchronous copy started by %s in line %u may still be %s: that thread "
      "has not waited for it",
      store ? "writes" : "reads", bytes, (unsigned long long)offset, symbol,
      own ? "the same thread" : "another thread", line_of(warp->program, slot->pc),
      reads ? "reading" : "writing");
   if (!finding)
      return;
   finding->offset = (int64_t)offset;
   finding->bytes = bytes;
   finding->has_other = true;
   snprintf(finding->symbol, sizeof finding->symbol, "%s", symbol);
   snprintf(finding->space, sizeof finding->space, "%s", reads ? "global" : "shared");
   machine_thread_index(warp->block, slot->warp * LANES + other_lane, finding->other_thread);
   memcpy(finding->other_block, warp->block->index, sizeof finding->other_block);
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
