/* Finds the instruction by which the other thread of a race accessed the bytes (second_access.h).  On the machine's thread. */
#include "machine/clocks/second_access.h"
#include "machine/state/packed_records.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t block_number(const machine_block_t *block) {
   return block->serial - block->launch->first_serial;
}

/* What threads do ------------------------------------------------------------------------------------------------------------- */

static void note(const machine_warp_t *warp, uint32_t lane, uint64_t first, uint64_t bytes, bool store,
                 uint32_t pc) {
   const machine_block_t *block = warp->block;
   const machine_second_access_t *other = &warp->run->second_access;
   const uint32_t thread = warp->first_thread + lane;
   if (block->launch->number == other->launch && block_number(block) == other->block &&
       thread < other->threads && first < other->end && first + bytes > other->first)
      other->last[2 * thread + store] = pc + 1;
}

void machine_second_access_note(const machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                                bool store, uint32_t pc) {
   if (!warp->run->second_access.global)
      note(warp, lane, offset, bytes, store, pc);
}

void machine_second_access_note_global(const machine_warp_t *warp, uint32_t lane, uint64_t address,
                                       uint64_t bytes, bool store) {
   if (warp->run->second_access.global)
      note(warp, lane, address, bytes, store, warp->pc);
}

/* Findings -------------------------------------------------------------------------------------------------------------------- */

/* Adds the line to the finding if this run keeps lines.  Otherwise notes the bytes for the next run.  thread: a number in the block that `wanted` names. */
static void find(const machine_warp_t *warp, rkb_machine_finding_t *finding,
                 const machine_second_access_t *wanted, uint32_t thread, bool wrote) {
   const machine_block_t *block = warp->block;
   machine_second_access_t *other = &warp->run->second_access;
   if (!warp->run->keeps_lines && !other->wanted && finding->standing == RKB_MACHINE_REJECT)
      *other = *wanted;
   if (!warp->run->keeps_lines || other->launch != wanted->launch || other->block != wanted->block ||
       thread >= other->threads || !other->last[2 * thread + wrote])
      return;
   machine_find_other_at(finding, block, thread, other->last[2 * thread + wrote] - 1, finding->order);
   const size_t used = strlen(finding->message);
   snprintf(finding->message + used, sizeof finding->message - used, "; that thread did so in line %u",
            finding->other_line);
}

void machine_second_access_find(const machine_warp_t *warp, rkb_machine_finding_t *finding, uint32_t thread,
                                bool wrote, uint32_t offset, uint32_t bytes, const char *order) {
   const machine_block_t *block = warp->block;
   const uint32_t threads = block->warp_count * LANES;
   const machine_second_access_t wanted = {.wanted = true,
                                           .launch = block->launch->number,
                                           .block = block_number(block),
                                           .first = offset,
                                           .end = (uint64_t)offset + bytes,
                                           .threads = threads};
   if (!finding)
      return;
   finding->order = order;
   if (thread < threads)
      machine_find_other(finding, block, thread);
   find(warp, finding, &wanted, thread, wrote);
}

void machine_second_access_find_global(const machine_warp_t *warp, rkb_machine_finding_t *finding,
                                       uint64_t name, bool wrote, const machine_region_t *region,
                                       uint64_t offset, uint32_t bytes, const char *order) {
   const machine_launch_t *launch = warp->block->launch;
   const uint32_t thread = machine_name_thread(name);
   const uint64_t serial = machine_name_block(name) - 1;
   if (!finding)
      return;
   finding->order = order;
   if (machine_name_block(name) <= launch->first_serial || !thread || thread >= BLOCKS_COPIES)
      return;
   const machine_second_access_t wanted = {.wanted = true,
                                           .global = true,
                                           .launch = launch->number,
                                           .block = serial - launch->first_serial,
                                           .first = region->base + offset,
                                           .end = region->base + offset + bytes,
                                           .threads = warp->block->warp_count * LANES};
   machine_find_other(finding, warp->block, thread - 1);
   find(warp, finding, &wanted, thread - 1, wrote);
   machine_block_index(launch, serial, thread - 1, finding->other_block);
}

/* Runs ------------------------------------------------------------------------------------------------------------------------ */

void machine_second_access_begin(machine_run_t *run) {
   run->second_access.wanted = false;
}

void machine_second_access_free(machine_run_t *run) {
   free(run->second_access.last);
   run->second_access = (machine_second_access_t){0};
   run->keeps_lines = false;
}
