/* Races: the slow paths, which look at one lane's access after the vector paths met a conflict; and all
 * accesses to global memory.  Stores of different values, and a read against a write, reject.  A store of the
 * value that is already there is suspect.  Lanes of a warp are not ordered by executing together, not even for volatile accesses: since Volta they
 * need not execute together (CUDA C++ Programming Guide, 'Independent Thread Scheduling').  On the machine's thread. */
#include "machine/races/races.h"
#include "machine/clocks/second_access.h"
#include "machine/clocks/shared_signals.h"
#include "machine/in_flight/copies.h"

#include <stdio.h>

void machine_shared_clear(machine_block_t *block) {
   /* Every record now has no thread, in the last epoch.  A record of another epoch than the current one counts as none. */
   for (uint32_t n = 0; n < (block->shared_bytes >> block->shared_shift) + 16; n++)
      block->shared_races[n] = (EPOCH_LIMIT - 1) << EPOCH_SHIFT;
}

/* Marks the bytes between two variables of shared memory, and those before the first one, which no access may touch. */
static void guard_gaps(machine_block_t *block) {
   const machine_program_t *program = block->launch->program;
   const uint32_t record = block->epoch << EPOCH_SHIFT | NOBODYS << 11, granule = 1u << block->shared_shift;
   const uint32_t before = program->shared_first <= block->shared_bytes ? program->shared_first : 0;
   for (uint32_t g = 0; g < before >> block->shared_shift; g++)
      block->shared_races[g] = record;
   for (uint32_t n = 0; n < program->shared_count; n++) {
      const machine_shared_variable_t *variable = &program->shared[n];
      const uint32_t first = (variable->offset + variable->bytes + granule - 1) >> block->shared_shift;
      const uint32_t end =
         variable->gap_end <= block->shared_bytes ? variable->gap_end >> block->shared_shift : 0;
      for (uint32_t g = first; g < end; g++)
         block->shared_races[g] = record;
   }
}

void machine_shared_new_epoch(machine_block_t *block) {
   if (!block->shared_races)
      return;
   if (++block->epoch == EPOCH_LIMIT) {
      block->epoch = 0;
      machine_shared_clear(block);
   }
   guard_gaps(block);
   machine_copies_new_epoch(block);
}

static bool same_value(const uint8_t *memory, const void *value, uint32_t bytes) {
   return value && memcmp(memory, value, bytes) == 0;
}

static const char NOTHING_ORDERS[] = "the other access came first; nothing orders the two";

/* others: "several threads"; NULL: one other thread. */
static rkb_machine_finding_t *report(machine_warp_t *warp, uint32_t lane, const char *reason,
                                     const char *symbol, uint64_t offset, uint32_t bytes, bool store,
                                     bool other_wrote, const char *others, bool same) {
   const bool several = others && strncmp(others, "several", 7) == 0;
   rkb_machine_finding_t *finding =
      machine_find(warp, same ? RKB_MACHINE_SUSPECT : RKB_MACHINE_REJECT, reason, lane,
                   "%s %u bytes at byte %llu of %s that %s %s, with no synchronisation between them%s",
                   store ? "writes" : "reads", bytes, (unsigned long long)offset, symbol,
                   others ? others : "another thread",
                   other_wrote ? (several ? "wrote" : "writes") : (several ? "read" : "reads"),
                   same ? " (both store the same value)" : "");
   if (!finding)
      return NULL;
   finding->offset = (int64_t)offset;
   finding->bytes = bytes;
   snprintf(finding->symbol, sizeof finding->symbol, "%s", symbol);
   return finding;
}

/* Shared memory ------------------------------------------------------------------------------------------------- */

static void shared_conflict(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                            const void *value, bool store, bool other_wrote, uint32_t other) {
   const bool same = store && other_wrote && same_value(warp->block->shared + offset, value, bytes);
   rkb_machine_finding_t *finding =
      report(warp, lane, "race.shared", "shared memory", machine_own_byte(warp->block, offset), bytes, store,
             other_wrote, other == PTX_NONE ? "several threads" : NULL, same);
   if (!finding)
      return;
   snprintf(finding->space, sizeof finding->space, "shared");
   machine_second_access_find(warp, finding, other, other_wrote, offset, bytes, NOTHING_ORDERS);
}

/* Whether the access is a volatile load, which may wait for what atomic operations write. */
static bool waits_for_atomics(const machine_warp_t *warp, bool store) {
   return !store && (warp->program->code[warp->pc].flags & FLAG_VOLATILE);
}

/* Whether the access reads a signal that the writer, thread + 1, stored volatile behind a fence; two such accesses are no race (PTX ISA 9.0, 8.6). */
static bool reads_signal(const machine_warp_t *warp, uint32_t offset, bool store, bool atomic,
                         uint32_t writer) {
   return atomic && !store && machine_signal_is_of(warp->block, offset, writer - 1);
}

/* Whether the access is a volatile store behind a fence: who reads the word atomically waits for it. */
static bool stores_signal(const machine_warp_t *warp, uint32_t lane, bool store) {
   const machine_instruction_t *i = &warp->program->code[warp->pc];
   return store && (i->flags & FLAG_VOLATILE) && !ptx_type_is_float(i->type) &&
          machine_signal_tells(warp, lane);
}

static void shared_packed(machine_warp_t *warp, uint32_t lane, uint32_t granule, uint32_t offset,
                          uint32_t bytes, const void *value, bool store) {
   machine_block_t *block = warp->block;
   uint32_t *record = &block->shared_races[granule], me = warp->first_thread + lane + 1;
   if (*record >> EPOCH_SHIFT != block->epoch)
      *record = block->epoch << EPOCH_SHIFT;
   uint32_t writer = *record >> 11 & SEVERAL, reader = *record & SEVERAL;
   if (writer == ATOMICS) { /* the reader field then names who made them */
      if (reader != me && !waits_for_atomics(warp, store))
         shared_conflict(warp, lane, offset, bytes, NULL, store, true,
                         reader == SEVERAL ? PTX_NONE : reader - 1);
      return;
   }
   if (writer && writer != me)
      shared_conflict(warp, lane, offset, bytes, value, store, true,
                      writer == SEVERAL ? PTX_NONE : writer - 1);
   else if (store && reader && reader != me)
      shared_conflict(warp, lane, offset, bytes, value, store, false,
                      reader == SEVERAL ? PTX_NONE : reader - 1);
   if (store)
      *record = block->epoch << EPOCH_SHIFT | (writer == 0 || writer == me ? me : SEVERAL) << 11 | reader;
   else
      *record = (*record & ~SEVERAL) | (reader == 0 || reader == me ? me : SEVERAL);
}

static void shared_clocked(machine_warp_t *warp, uint32_t lane, uint32_t granule, uint32_t offset,
                           uint32_t bytes, const void *value, bool store, bool atomic) {
   machine_block_t *block = warp->block;
   machine_shared_record_t *record = &block->shared_records[granule];
   const uint32_t me = warp->first_thread + lane + 1;
   if (record->epoch != block->shared_epoch)
      *record = (machine_shared_record_t){.epoch = block->shared_epoch};
   uint32_t other = PTX_NONE;
   if (record->writer && record->writer != me &&
       !machine_clocks_ordered(warp, lane, record->writer - 1, record->writer_clock) &&
       !reads_signal(warp, offset, store, atomic, record->writer))
      shared_conflict(warp, lane, offset, bytes, atomic ? NULL : value, store, true, record->writer - 1);
   else if (store && !machine_group_ordered(warp, lane, granule, false, &record->readers, &other))
      shared_conflict(warp, lane, offset, bytes, value, store, false, other);
   else if (!atomic && !machine_group_ordered(warp, lane, granule, true, &record->atomics, &other) &&
            !waits_for_atomics(warp, store) && !stores_signal(warp, lane, store))
      shared_conflict(warp, lane, offset, bytes, NULL, store, true, other);
   if (atomic) {
      machine_join_lanes(warp, lane, granule, true, &record->atomics);
   } else if (store) {
      *record = (machine_shared_record_t){
         .writer = me, .writer_clock = machine_lane_clock(warp, lane), .epoch = record->epoch};
   } else {
      machine_join_lanes(warp, lane, granule, false, &record->readers);
   }
}

/* Atomic operations do not race with each other, nor with the volatile loads that wait for them.  They race
 * with plain accesses. */
static void shared_atomic(machine_warp_t *warp, uint32_t lane, uint32_t granule, uint32_t offset,
                          uint32_t bytes) {
   machine_block_t *block = warp->block;
   uint32_t *record = &block->shared_races[granule], me = warp->first_thread + lane + 1;
   if (*record >> EPOCH_SHIFT != block->epoch)
      *record = block->epoch << EPOCH_SHIFT;
   uint32_t writer = *record >> 11 & SEVERAL, reader = *record & SEVERAL;
   if (writer == ATOMICS) {
      *record = (*record & ~SEVERAL) | (reader == me ? me : SEVERAL);
      return;
   }
   if (writer && writer != me)
      shared_conflict(warp, lane, offset, bytes, NULL, true, true, writer == SEVERAL ? PTX_NONE : writer - 1);
   else if (reader && reader != me)
      shared_conflict(warp, lane, offset, bytes, NULL, true, false,
                      reader == SEVERAL ? PTX_NONE : reader - 1);
   else if (writer == me)
      /* The record keeps the thread's own plain store, because other threads' operations race with it, even atomic ones. */
      return;
   *record = block->epoch << EPOCH_SHIFT | ATOMICS << 11 | me;
}

/* The cost of checking one lane's access, in thread-instructions.  The vector paths check all lanes at once
 * and cost a few. */
#define LANE_BURDEN 8u

void machine_shared_record(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                           const void *value, bool store, bool atomic) {
   machine_block_t *block = warp->block;
   warp->run->work.burden += LANE_BURDEN;
   if (warp->run->keeps_lines)
      machine_second_access_note(warp, lane, offset, bytes, store, warp->pc);
   for (uint32_t granule = offset >> block->shared_shift;
        granule <= (offset + bytes - 1) >> block->shared_shift; granule++) {
      if (block->races == RACES_FAST && atomic)
         shared_atomic(warp, lane, granule, offset, bytes);
      else if (block->races == RACES_FAST)
         shared_packed(warp, lane, granule, offset, bytes, value, store);
      else if (block->races == RACES_CLOCKS)
         shared_clocked(warp, lane, granule, offset, bytes, value, store, atomic);
      if (warp->run->stop)
         return;
   }
}

/* Global memory --------------------------------------------------------------------------------------------------- */

/* Whether barriers order an access of the same block before what the lane does now: barriers of the whole
 * block, or of warps of both threads. */
static bool ordered_in_block(const machine_warp_t *warp, uint32_t lane, uint64_t name) {
   const uint32_t thread = machine_name_thread(name);
   /* machine_copy_source_in_use finds accesses to bytes that a copy may still use. */
   return thread == BLOCKS_COPIES || thread == warp->first_thread + lane + 1 ||
          machine_name_time(name) < warp->block->barrier_time ||
          (warp->block->clocks &&
           machine_clocks_ordered_time(warp, lane, thread == MANY_THREADS ? PTX_NONE : thread - 1,
                                       machine_name_time(name)));
}

/* Whether an earlier access of this launch is ordered before what this lane does now. */
bool machine_global_ordered(const machine_warp_t *warp, uint32_t lane, uint64_t name) {
   const machine_block_t *block = warp->block;
   if (machine_name_block(name) <= warp->block->launch->first_serial)
      return true; /* an earlier launch */
   if (machine_name_block(name) == block->serial + 1 && ordered_in_block(warp, lane, name))
      return true;
   return machine_sync_ordered(warp, lane, name);
}

static void global_conflict(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                            uint32_t bytes, const void *value, bool store, bool other_wrote, uint64_t name) {
   const uint32_t other = machine_name_thread(name);
   const bool same = store && other_wrote && same_value(region->data + offset, value, bytes);
   rkb_machine_finding_t *finding =
      report(warp, lane, "race.global", region->name, offset, bytes, store, other_wrote,
             other == BLOCKS_COPIES  ? "a bulk copy"
             : other > BLOCKS_COPIES ? "several threads"
                                     : NULL,
             same);
   if (!finding)
      return;
   finding->buffer = region->buffer;
   snprintf(finding->space, sizeof finding->space, "global");
   machine_second_access_find_global(warp, lane, finding, name, other_wrote, region, offset, bytes,
                                     NOTHING_ORDERS);
}

/* Joins a reader to the readers of a record.  Several readers are kept as "several of one block" or "of
 * several blocks".  A new reader that is ordered after all old ones replaces them. */
static uint64_t join_readers(const machine_warp_t *warp, uint32_t lane, uint64_t old, uint64_t me) {
   const bool copied = (old & MANY_THREADS) == BLOCKS_COPIES, copies = (me & MANY_THREADS) == BLOCKS_COPIES;
   if (old == 0 || machine_name_block(old) <= warp->block->launch->first_serial)
      return me;
   const uint64_t many_blocks = (me & ~MANY_THREADS) | MANY_BLOCKS;
   if ((old & MANY_THREADS) == MANY_BLOCKS)
      return many_blocks;
   if (machine_name_block(old) != machine_name_block(me))
      return machine_sync_ordered(warp, lane, old) ? me : many_blocks;
   if (copied)
      return copies ? me : me | MANY_THREADS;
   /* A thread that knows of a copy's end need not know of the accesses before the copy's start. */
   if (copies && machine_name_time(old) >= warp->block->barrier_time)
      return me | MANY_THREADS;
   if (ordered_in_block(warp, lane, old))
      return me;
   return me | MANY_THREADS;
}

/* Whether the lane's operation has the scope of its block, and another block made the access.  The two are then not atomic with each other (PTX ISA 9.0,
 * 8.7, 'morally strong'). */
static bool beyond_its_scope(const machine_warp_t *warp, uint64_t name) {
   return (warp->program->code[warp->pc].flags & FLAG_BLOCK) && name &&
          machine_name_block(name) != warp->block->serial + 1;
}

/* me: the lane's name, or that of its block's copies. */
static void global_granule(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t granule,
                           uint64_t offset, uint32_t bytes, const void *value, bool store, uint64_t me) {
   uint64_t writer = region->writers[granule], reader = region->readers[granule];
   const bool atomic = (me & NAME_ATOMIC) && !beyond_its_scope(warp, writer),
              both_atomic = atomic && (writer & NAME_ATOMIC);
   if (writer && !both_atomic && !machine_global_ordered(warp, lane, writer))
      global_conflict(warp, lane, region, offset, bytes, value, store, true, writer);
   else if (store && reader && !(atomic && (reader & NAME_ATOMIC))) {
      if ((reader & MANY_THREADS) == MANY_BLOCKS &&
          machine_name_block(reader) > warp->block->launch->first_serial) {
         if (warp->block->acquired_count)
            warp->run->report.order_unknown = true;
         else
            global_conflict(warp, lane, region, offset, bytes, value, store, false, reader);
      } else if (!machine_global_ordered(warp, lane, reader)) {
         global_conflict(warp, lane, region, offset, bytes, value, store, false, reader);
      }
   }
   if (store) {
      region->writers[granule] = me;
      region->readers[granule] = atomic ? reader : 0;
   } else {
      region->readers[granule] = join_readers(warp, lane, reader, me);
   }
}

static void record_global(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                          uint32_t bytes, const void *value, bool store, uint64_t me) {
   const uint32_t shift = warp->block->launch->global_shift;
   warp->run->work.burden += LANE_BURDEN;
   if (warp->run->keeps_lines)
      machine_second_access_note_global(warp, lane, region->base + offset, bytes, store);
   for (uint64_t granule = offset >> shift; granule <= (offset + bytes - 1) >> shift; granule++)
      global_granule(warp, lane, region, granule, offset, bytes, value, store, me);
}

void machine_global_record(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, const void *value, bool store, bool atomic) {
   record_global(warp, lane, region, offset, bytes, value, store, machine_global_name(warp, lane, atomic));
}

void machine_global_record_stored(machine_warp_t *warp, uint32_t lane, machine_region_t *region,
                                  uint64_t offset, uint32_t bytes, bool reduces) {
   const bool proxied = machine_has_proxied_name(warp->first_thread + lane);
   record_global(warp, lane, region, offset, bytes, NULL, true,
                 machine_global_name(warp, lane, reduces) + (proxied ? BY_PROXY : 0));
}

void machine_global_record_copied(machine_warp_t *warp, uint32_t lane, machine_region_t *region,
                                  uint64_t offset, uint32_t bytes) {
   record_global(warp, lane, region, offset, bytes, NULL, false, machine_copies_name(warp));
}
