/* Which instruction the other side of a race executed (second_access.h).  On the machine's thread. */
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
   const machine_other_side_t *other = &warp->run->other_side;
   const uint32_t thread = warp->first_thread + lane;
   if (block->launch->number == other->launch && block_number(block) == other->block &&
       thread < other->threads && first < other->end && first + bytes > other->first)
      other->last[2 * thread + store] = pc + 1;
}

void machine_other_side_note(const machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                             bool store, uint32_t pc) {
   if (!warp->run->other_side.global)
      note(warp, lane, offset, bytes, store, pc);
}

void machine_other_side_note_global(const machine_warp_t *warp, uint32_t lane, uint64_t address,
                                    uint64_t bytes, bool store) {
   if (warp->run->other_side.global)
      note(warp, lane, address, bytes, store, warp->pc);
}

/* Findings -------------------------------------------------------------------------------------------------------------------- */

/* Names the line if this run keeps lines; otherwise notes what the next run may look for.  thread: of that block of the launch. */
static void find(const machine_warp_t *warp, rkb_machine_finding_t *finding,
                 const machine_other_side_t *wanted, uint32_t thread, bool wrote) {
   const machine_block_t *block = warp->block;
   machine_other_side_t *other = &warp->run->other_side;
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

void machine_other_side_find(const machine_warp_t *warp, rkb_machine_finding_t *finding, uint32_t thread,
                             bool wrote, uint32_t offset, uint32_t bytes, const char *order) {
   const machine_block_t *block = warp->block;
   const uint32_t threads = block->warp_count * LANES;
   const machine_other_side_t wanted = {.wanted = true,
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

void machine_other_side_find_global(const machine_warp_t *warp, rkb_machine_finding_t *finding, uint64_t name,
                                    bool wrote, const machine_region_t *region, uint64_t offset,
                                    uint32_t bytes, const char *order) {
   const machine_launch_t *launch = warp->block->launch;
   const uint32_t thread = machine_name_thread(name);
   const uint64_t serial = machine_name_block(name) - 1;
   if (!finding)
      return;
   finding->order = order;
   if (machine_name_block(name) <= launch->first_serial || !thread || thread >= BLOCKS_COPIES)
      return;
   const machine_other_side_t wanted = {.wanted = true,
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

void machine_other_side_begin(machine_run_t *run) {
   run->other_side.wanted = false;
}

void machine_other_side_free(machine_run_t *run) {
   free(run->other_side.last);
   run->other_side = (machine_other_side_t){0};
   run->keeps_lines = false;
}
