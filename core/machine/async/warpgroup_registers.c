/* setmaxnreg: how many registers the warps of a warpgroup ask for, and whether the block has so many.  On the machine's thread. */
#include "machine/async/warpgroup_members.h"
#include "machine/clocks/clocks.h"
#include "machine/clocks/vector_clocks.h"

#include <stdio.h>

#define LEAST_REGISTERS 24u
#define MOST_REGISTERS 256u
#define FILE_REGISTERS 65536u /* of a multiprocessor: no block has more */
#define MOST_THREADS                                                                                         \
   2048u /* of a multiprocessor: the assembler leaves bounds that ask for more out of account */

/* Notes when a warp asks for more registers, and which warps that did so a warp knows of when it gives some back: these have not waited for what it
 * gives.  before: what it had; 0: what it began with. */
static void note_order(machine_warp_t *warp, member_t *member, uint32_t before, bool more) {
   uint32_t known = 0;
   const machine_block_t *block = warp->block;
   const machine_warpgroups_t *groups = block->warpgroups;
   const uint32_t each = groups->warps / block->cluster.blocks, first = warp->number / each * each;
   if (!block->operations)
      return;
   if (more) {
      member->took_again = member->registers_clock != 0;
      member->registers_clock = machine_lane_clock(warp, 0);
      member->taken = member->registers;
      member->taken_pc = warp->pc;
   }
   for (uint32_t w = 0; !more && w < each && w < 32; w++) {
      const uint32_t clock = groups->members[first + w].registers_clock;
      if (clock && machine_knows(block->clocks->knowledge, warp->first_thread, (first + w) * LANES, clock))
         known |= 1u << w;
   }
   if (known && before && (!member->held_late || before < member->held_late))
      member->held_late = before;
   member->gave_after |= known;
   if (!more && member->registers_clock && !member->gave) {
      member->held_until = known;
      member->gave = true;
   }
}

/* With how many registers a lane of a block of so many warps begins: what .maxnreg says, or the most that a block of the launch bounds can have, as the
 * assembler takes it.  A kernel with neither gets the most that a block of its size can have. */
static uint32_t registers_at_start(const ptx_function_t *entry, uint32_t warps) {
   const uint64_t stated = (uint64_t)entry->max_threads * entry->least_blocks,
                  threads = stated && stated <= MOST_THREADS ? stated : (uint64_t)warps * LANES;
   const uint32_t most = (uint32_t)(FILE_REGISTERS / threads / 8 * 8);
   return entry->most_registers && entry->most_registers < most ? entry->most_registers : most;
}

/* A warp's first setmaxnreg: the kernel begins with what its launch bounds leave a lane, or with the most that it asks for if that is less (ptxas 13.0).
 * An H200 ends a launch that goes the other way. */
static void check_first(machine_warp_t *warp, uint32_t count, bool more) {
   const machine_program_t *program = warp->program;
   const ptx_function_t *entry = program->entry;
   if (!entry->max_threads || !entry->least_blocks || entry->most_registers)
      return;
   const uint32_t most = registers_at_start(entry, warp->block->cluster.warps),
                  least = program->most_asked < most ? program->most_asked : most;
   if (more ? count < least : count > most)
      machine_find_alone(
         machine_find(warp, RKB_MACHINE_REJECT, "sync.setmaxnreg", 0,
                      "setmaxnreg.%s to %u registers from the %u with which the launch bounds let "
                      "a warp begin: it may not go the other way",
                      more ? "inc" : "dec", count, more ? least : most),
         "the count alone is wrong");
}

void machine_warpgroup_registers(machine_warp_t *warp, uint32_t count, bool more) {
   member_t *member = member_of(warp);
   if (count % 8 || count < LEAST_REGISTERS || count > MOST_REGISTERS) {
      machine_find_alone(machine_find(warp, RKB_MACHINE_REJECT, "sync.setmaxnreg", 0,
                                      "%u registers: setmaxnreg takes multiples of 8 from 24 to 256", count),
                         "the count alone is wrong");
      return;
   }
   if (!member->registers)
      check_first(warp, count, more);
   else if (more ? count < member->registers : count > member->registers)
      machine_find_other_at(
         machine_find(warp, RKB_MACHINE_REJECT, "sync.setmaxnreg", 0,
                      "setmaxnreg.%s to %u registers from %u, which the same warp has since line %u: it "
                      "may not go the other way",
                      more ? "inc" : "dec", count, member->registers, line_at(warp, member->registers_pc)),
         warp->block, warp->first_thread, member->registers_pc, "the other came first, in the same warp");
   const uint32_t before = member->registers;
   member->registers = count;
   member->registers_pc = warp->pc;
   member->least = before && member->least < count ? member->least : count;
   note_order(warp, member, before, more);
}

/* How many registers a lane of a warp has, or had when the warp ended. */
static uint32_t registers_of(const member_t *member, uint32_t each) {
   return member->registers ? member->registers : each;
}

/* Names the warp that has most of the registers, of those outside the warpgroup that asks for more. */
static void name_holder(machine_block_t *block, rkb_machine_finding_t *finding, const member_t *asked,
                        uint32_t first, uint32_t warps, uint32_t each) {
   const machine_warpgroups_t *groups = block->warpgroups;
   const member_t *most = NULL;
   for (uint32_t w = first; w < first + warps; w++) {
      const member_t *member = &groups->members[w];
      const bool same = w / WARPGROUP_WARPS == (uint32_t)(asked - groups->members) / WARPGROUP_WARPS;
      if (!same && (!most || registers_of(member, each) > registers_of(most, each)))
         most = member;
   }
   if (!finding || !most)
      return;
   const machine_warp_t *warp = &block->warps[most - groups->members];
   char *end = finding->message + strlen(finding->message);
   const size_t room = sizeof finding->message - (size_t)(end - finding->message);
   machine_find_other(finding, block, warp->first_thread);
   machine_find_alone(finding, "the two hold their registers at one time, in whatever order they ask");
   if (most->registers) {
      machine_find_other_at(finding, block, warp->first_thread, most->registers_pc, finding->order);
      snprintf(end, room, "; warp %u has %u since line %u", warp->place, most->registers,
               line_at(warp, most->registers_pc));
   } else {
      snprintf(end, room, "; warp %u has the %u with which it began", warp->place, each);
   }
}

/* Whether each of two warps gave back what it had taken only after it knew that the other had taken some: then both have theirs at one time.  Of warps that
 * took several times it is not known which time this was. */
static bool hold_together(const member_t *members, uint32_t x, uint32_t w) {
   const member_t *one = &members[x], *other = &members[w];
   return !one->took_again && !other->took_again && one->held_until >> w & 1 && other->held_until >> x & 1;
}

/* The least that warp w can have when warp x of the block has got more, in whatever order they run.  *late: whether w waited for x before it gave
 * something back. */
static uint32_t least_beside(const member_t *members, uint32_t x, uint32_t w, uint32_t each, bool *late) {
   const member_t *asked = &members[x], *member = &members[w];
   const bool same = w / WARPGROUP_WARPS == x / WARPGROUP_WARPS;
   *late = false;
   if (w == x)
      return asked->taken;
   if (hold_together(members, x, w)) {
      *late = !same;
      return member->taken;
   }
   if (same)
      return registers_of(member, each);
   *late = member->gave_after >> x & 1;
   if (member->registers_clock) /* it may have given some back first, and taken some since */
      return member->least < each ? member->least : each;
   if (*late)
      return member->held_late && member->held_late < each ? member->held_late : each;
   return registers_of(member, each);
}

/* Looks for a warp that asked for more registers than the others can have left it, in whatever order the warps run: those that give some back
 * only after they know that it has its own still have theirs. */
static void find_given_late(machine_block_t *block, uint32_t first, uint32_t warps, uint32_t each) {
   const member_t *members = block->warpgroups->members + first;
   for (uint32_t x = 0; x < warps && x < 32; x++) {
      const member_t *asked = &members[x], *late = NULL;
      uint32_t total = 0;
      for (uint32_t w = 0; w < warps; w++) {
         bool gave_late;
         total += least_beside(members, x, w, each, &gave_late);
         late = gave_late ? &members[w] : late;
      }
      if (!asked->registers_clock || asked->took_again || !late || total <= each * warps)
         continue;
      machine_warp_t *warp = &block->warps[first + x];
      warp->pc = asked->taken_pc;
      machine_find_other_at(
         machine_find(
            warp, RKB_MACHINE_REJECT, "sync.setmaxnreg", 0,
            "asks for %u registers before others have given theirs back, of which the block has %u a lane for "
            "all warps: setmaxnreg.inc never ends",
            asked->taken, each * warps),
         block, block->warps[late - block->warpgroups->members].first_thread, late->registers_pc,
         "the other gives registers back only after it knows that this is done");
      return;
   }
}

/* Adds up the registers of a block's warps, from the first one on.  A warpgroup may take what another gives back. */
void machine_warpgroup_registers_end(machine_block_t *block, uint32_t first, uint32_t warps) {
   const machine_warpgroups_t *groups = block->warpgroups;
   const uint32_t each = registers_at_start(groups->program->entry, warps);
   uint32_t total = 0, most = 0;
   const member_t *asked = NULL;
   for (uint32_t w = first; w < first + warps; w++) {
      const member_t *member = &groups->members[w];
      total += registers_of(member, each);
      if (member->registers > most) {
         most = member->registers;
         asked = member;
      }
   }
   if (!asked || total <= each * warps) {
      find_given_late(block, first, warps, each);
      return;
   }
   machine_warp_t *warp = &block->warps[asked - groups->members];
   warp->pc = asked->registers_pc;
   rkb_machine_finding_t *finding = machine_find(
      warp, RKB_MACHINE_REJECT, "sync.setmaxnreg", 0,
      "the warps ask for %u registers a lane together, the block has %u: setmaxnreg.inc never ends", total,
      each * warps);
   machine_find_alone(finding, "no other warpgroup holds registers");
   name_holder(block, finding, asked, first, warps, each);
}
