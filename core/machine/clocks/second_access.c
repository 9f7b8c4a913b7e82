/* Finds the instruction by which the other thread of a race accessed the bytes (second_access.h).  On the machine's thread. */
#include "machine/clocks/second_access.h"
#include "machine/state/packed_records.h"

#include <stdio.h>
#include <stdlib.h>

#define ANY_BLOCK UINT64_MAX

static uint64_t block_number(const machine_block_t *block) {
   return block->serial - block->launch->first_serial;
}

/* What threads do ------------------------------------------------------------------------------------------------------------- */

static void note(const machine_warp_t *warp, uint32_t lane, uint64_t first, uint64_t bytes, bool store,
                 uint32_t pc) {
   const machine_block_t *block = warp->block;
   machine_second_access_t *other = &warp->run->second_access;
   const uint32_t thread = warp->first_thread + lane;
   if (block->launch->number != other->launch ||
       (other->block != ANY_BLOCK && block_number(block) != other->block) || thread >= other->threads ||
       first >= other->end || first + bytes <= other->first)
      return;
   struct machine_accessor *recent = other->recent[store];
   other->last[2 * thread + store] = pc + 1;
   if (recent[0].serial != block->serial || (other->block != ANY_BLOCK && recent[0].thread != thread + 1))
      recent[1] = recent[0];
   recent[0] = (struct machine_accessor){thread + 1, pc, block->serial};
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

/* Notes the bytes for the next run, unless this run keeps lines.  Returns whether it keeps those of the wanted bytes. */
static bool keeps(machine_run_t *run, const rkb_machine_finding_t *finding,
                  const machine_second_access_t *wanted) {
   machine_second_access_t *other = &run->second_access;
   if (!run->keeps_lines && !other->wanted && finding->standing == RKB_MACHINE_REJECT)
      *other = *wanted;
   return run->keeps_lines && other->launch == wanted->launch && other->block == wanted->block;
}

static void name_line(rkb_machine_finding_t *finding, const machine_program_t *program, uint32_t pc) {
   const size_t used = strlen(finding->message);
   machine_find_other_line(finding, program, pc);
   snprintf(finding->message + used, sizeof finding->message - used, "; that thread did so in line %u",
            finding->other_line);
}

/* The instruction by which the thread last accessed the bytes; PTX_NONE: by none. */
static uint32_t last_of(const machine_second_access_t *other, uint32_t thread, bool wrote) {
   return thread < other->threads ? other->last[2 * thread + wrote] - 1 : PTX_NONE;
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
   if (keeps(warp->run, finding, &wanted) && last_of(&warp->run->second_access, thread, wrote) != PTX_NONE)
      name_line(finding, block->launch->program, last_of(&warp->run->second_access, thread, wrote));
}

/* The launch of a block: the one that runs, or one before it.  Only what names threads and lines is filled in. */
static machine_launch_t launch_of(const machine_launch_t *launch, uint64_t serial) {
   machine_launch_t one = {.run = launch->run,
                           .program = launch->program,
                           .plan = launch->plan,
                           .number = launch->number,
                           .cluster = launch->cluster,
                           .first_serial = launch->first_serial};
   while (serial < one.first_serial && one.number) {
      one.number--;
      one.plan = &one.run->plan->launches[one.number];
      one.program = one.run->programs[one.number];
      one.cluster = machine_cluster_of(one.plan, one.program, 0);
      one.first_serial -= (uint64_t)one.plan->grid[0] * one.plan->grid[1] * one.plan->grid[2];
   }
   return one;
}

/* Who accessed the bytes last, where the records do not name a thread: any thread but this one, and one of another block where the records do not name the
 * block either, because threads of this block may be ordered before this one.  NULL: nobody did. */
static const struct machine_accessor *most_recent(const machine_warp_t *warp, uint32_t lane, bool wrote) {
   const machine_second_access_t *other = &warp->run->second_access;
   const struct machine_accessor *recent = other->recent[wrote];
   const bool own = recent->serial == warp->block->serial &&
                    (other->block == ANY_BLOCK || recent->thread == warp->first_thread + lane + 1);
   return recent[own].thread ? &recent[own] : NULL;
}

void machine_second_access_find_named(const machine_warp_t *warp, uint32_t lane,
                                      rkb_machine_finding_t *finding, uint64_t name, bool wrote,
                                      const machine_region_t *region, uint64_t offset, uint32_t bytes,
                                      const char *order) {
   machine_run_t *run = warp->run;
   const uint32_t number = machine_name_thread(name);
   const bool known = number && number < BLOCKS_COPIES;
   if (!finding)
      return;
   finding->order = order;
   if (!machine_name_block(name))
      return;
   const uint64_t serial = machine_name_block(name) - 1;
   const machine_launch_t launch = launch_of(warp->block->launch, serial);
   const machine_second_access_t wanted = {
      .wanted = true,
      .global = true,
      .launch = launch.number,
      .block = number == 0 || number == MANY_BLOCKS ? ANY_BLOCK : serial - launch.first_serial,
      .first = region->base + offset,
      .end = region->base + offset + bytes,
      .threads = launch.cluster.blocks * launch.cluster.warps * LANES};
   const bool kept = keeps(run, finding, &wanted);
   const struct machine_accessor *recent = kept && !known ? most_recent(warp, lane, wrote) : NULL;
   const uint32_t pc = kept && known ? last_of(&run->second_access, number - 1, wrote) : PTX_NONE;
   if (known)
      machine_find_other_of(finding, &launch, serial, number - 1);
   if (pc != PTX_NONE)
      name_line(finding, launch.program, pc);
   if (recent)
      machine_find_other_of(finding, &launch, recent->serial, recent->thread - 1);
   if (recent)
      name_line(finding, launch.program, recent->pc);
}

void machine_second_access_find_global(const machine_warp_t *warp, uint32_t lane,
                                       rkb_machine_finding_t *finding, uint64_t name, bool wrote,
                                       const machine_region_t *region, uint64_t offset, uint32_t bytes,
                                       const char *order) {
   if (!finding)
      return;
   finding->order = order;
   if (machine_name_block(name) > warp->block->launch->first_serial)
      machine_second_access_find_named(warp, lane, finding, name, wrote, region, offset, bytes, order);
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
