/* Products of warpgroups that are in flight (warpgroups.h): for each warp and register the group that owns it, and for each warpgroup the
 * instructions that only some of its warps have executed.  On the machine's thread. */
#include "machine/async/warpgroup_members.h"
#include "machine/in_flight/mbarriers.h"
#include "machine/in_flight/operations.h"

#include <stdlib.h>

#define MOST_AHEAD (1u << 20) /* most instructions that one warp may be ahead of another of its warpgroup */
#define KEPT_MATRICES 64u     /* of each factor, a power of two; a pipeline of four stages has 16 or 32 */
#define NEAR_MATRICES 4u      /* places that a matrix may be kept in */

/* As many as there is memory for ------------------------------------------------------------------------------------ */

machine_warpgroups_t *machine_warpgroups_new(machine_run_t *run, const machine_program_t *program,
                                             uint32_t warps) {
   const uint32_t count = (warps + WARPGROUP_WARPS - 1) / WARPGROUP_WARPS;
   const size_t owners = (size_t)warps * program->register_count * sizeof(owner_t),
                leading = run->block.cluster.blocks > 1 ? 2 * (size_t)program->count * sizeof(leading_t) : 0,
                bytes = sizeof(machine_warpgroups_t) + count * sizeof(group_t) + warps * sizeof(member_t) + owners +
                        leading;
   machine_warpgroups_t *groups = machine_alloc(run, bytes);
   if (!groups)
      return NULL;
   groups->bytes = bytes;
   groups->matrices = machine_alloc(run, 2 * KEPT_MATRICES * sizeof *groups->matrices);
   if (!groups->matrices) {
      machine_warpgroups_free(run, groups);
      return NULL;
   }
   groups->program = program;
   groups->warps = warps;
   groups->group_count = count;
   groups->groups = (group_t *)(void *)(groups + 1);
   groups->members = (member_t *)(void *)(groups->groups + count);
   groups->owners = (owner_t *)(void *)(groups->members + warps);
   groups->leading = leading ? (leading_t *)(void *)(groups->owners + (size_t)warps * program->register_count) : NULL;
   for (uint32_t w = 0; w < warps; w++)
      groups->members[w].owners = groups->owners + (size_t)w * program->register_count;
   return groups;
}

void machine_warpgroups_free(machine_run_t *run, machine_warpgroups_t *groups) {
   if (!groups)
      return;
   for (uint32_t n = 0; n < groups->group_count; n++)
      free(groups->groups[n].steps);
   machine_release(run, groups->matrices, 2 * KEPT_MATRICES * sizeof *groups->matrices);
   machine_release(run, groups, groups->bytes);
}

void machine_warpgroups_begin(machine_block_t *block) {
   machine_warpgroups_t *groups = block->warpgroups;
   if (!groups)
      return;
   for (uint32_t n = 0; n < groups->group_count; n++) {
      groups->groups[n].first = groups->groups[n].count = 0;
      groups->groups[n].actor = PTX_NONE;
      groups->groups[n].ahead = false;
   }
   /* a kernel has thousands of registers, and a few hundred of them are of products */
   const uint32_t first = groups->program->products_first, end = groups->program->products_end;
   for (uint32_t w = 0; w < groups->warps; w++)
      memset(groups->members[w].owners + first, 0, (end - first) * sizeof(owner_t));
   if (groups->leading)
      memset(groups->leading, 0, 2 * (size_t)groups->program->count * sizeof(leading_t));
   for (uint32_t w = 0; w < groups->warps; w++)
      groups->members[w] = (member_t){.owners = groups->members[w].owners};
}

static group_t *group_of(const machine_warp_t *warp) {
   return &warp->block->warpgroups->groups[warp->number / WARPGROUP_WARPS];
}

/* Descriptors -------------------------------------------------------------------------------------------------------- */

operand_pieces_t *machine_warpgroup_matrix(machine_block_t *block, bool of_b, uint64_t descriptor,
                                           bool across, uint32_t lines) {
   const uint64_t mixed =
      (descriptor ^ (uint64_t)across << 63 ^ (uint64_t)lines << 50) * 0x9e3779b97f4a7c15ull;
   operand_pieces_t *all = &block->warpgroups->matrices[of_b * KEPT_MATRICES];
   const uint32_t first = (uint32_t)(mixed >> 40);
   for (uint32_t n = 0; n < NEAR_MATRICES; n++) {
      operand_pieces_t *kept = &all[(first + n) & (KEPT_MATRICES - 1)];
      if (!kept->count || (kept->bits == descriptor && kept->across == across && kept->lines == lines))
         return kept;
   }
   return &all[(first + (uint32_t)(mixed >> 50) % NEAR_MATRICES) & (KEPT_MATRICES - 1)];
}

#define RANK_UNITS ((1u << CLUSTER_SHIFT) >> 4 >> 16) /* a rank in an address that was shifted by 4, in the leading offset, from bit 16 on */

bool machine_warpgroup_leading(machine_warp_t *warp, bool of_b, uint32_t bytes) {
   machine_warpgroups_t *groups = warp->block->warpgroups;
   leading_t *first = groups->leading ? &groups->leading[2 * (size_t)warp->pc + of_b] : NULL;
   const uint16_t units = (uint16_t)(bytes / 16);
   if (!first || !first->rank) {
      if (first)
         *first = (leading_t){.units = units, .rank = (uint16_t)(warp->rank + 1), .thread = warp->first_thread};
      return true;
   }
   const uint32_t other = first->rank - 1u, bits = warp->rank * RANK_UNITS, other_bits = other * RANK_UNITS;
   const bool joined = (units & bits) == bits && (first->units & other_bits) == other_bits &&
                       ((units ^ first->units) & ~(bits | other_bits)) == 0,
              added = units - bits == first->units - other_bits;
   if (units == first->units || (!joined && !added))
      return true;
   machine_find_other_at(
      machine_find(
         warp, RKB_MACHINE_REJECT, "memory.descriptor", 0,
         "the leading offset of %s is %u bytes in block %u of the cluster and %u bytes in block %u: it has the "
         "block's rank in it, which addresses of shared memory have from bit 24 on; a descriptor takes "
         "(address & 0x3ffff) >> 4",
         of_b ? "b" : "a", bytes, warp->rank, first->units * 16u, other),
      warp->block, first->thread, warp->pc, "the other came first, with a descriptor of its own block");
   return false;
}

/* Together ----------------------------------------------------------------------------------------------------------- */

static bool complete_warpgroup(machine_warp_t *warp) {
   const machine_block_t *block = warp->block;
   const uint32_t first = warp->place / WARPGROUP_WARPS * WARPGROUP_WARPS * LANES,
                  threads = block->cluster.threads;
   if (first + WARPGROUP_WARPS * LANES <= threads)
      return true;
   machine_find_alone(
      machine_find(
         warp, RKB_MACHINE_REJECT, "sync.warpgroup", 0,
         "the block ends within this warpgroup: it has %u of the 128 threads that must execute this together",
         threads - first),
      "the other warps do not exist");
   return false;
}

/* Drops instructions that all four warps have reached, once they are half of the list. */
static void forget(const machine_warp_t *warp, group_t *group) {
   const member_t *members = member_of(warp) - warp->number % WARPGROUP_WARPS;
   uint64_t least = UINT64_MAX;
   for (uint32_t w = 0; w < WARPGROUP_WARPS; w++)
      least = members[w].steps < least ? members[w].steps : least;
   const uint32_t done =
      least < group->first + group->count ? (uint32_t)(least - group->first) : group->count;
   if (done < group->count / 2)
      return;
   memmove(group->steps, group->steps + done, (group->count - done) * sizeof *group->steps);
   group->first += done;
   group->count -= done;
}

static bool append(machine_warp_t *warp, group_t *group, const step_t *step) {
   if (group->count == group->room && group->count)
      forget(warp, group);
   if (group->count == group->room) {
      const uint32_t room = group->room ? 2 * group->room : 256;
      step_t *larger = room <= MOST_AHEAD ? realloc(group->steps, room * sizeof *larger) : NULL;
      if (!larger) {
         warp->run->out_of_memory = true;
         return false;
      }
      group->steps = larger;
      group->room = room;
   }
   group->steps[group->count++] = *step;
   return true;
}

bool machine_warpgroup_arrive(machine_warp_t *warp, uint64_t a, uint64_t b, bool adds) {
   group_t *group = group_of(warp);
   member_t *member = member_of(warp);
   const step_t step = {.a = a, .b = b, .pc = warp->pc, .thread = warp->first_thread, .adds = adds};
   if (member->steps == 0 && !complete_warpgroup(warp))
      return false;
   if (member->steps == group->first + group->count && !append(warp, group, &step))
      return false;
   const step_t *theirs = &group->steps[member->steps++ - group->first];
   if (theirs->pc != step.pc) {
      machine_find_other_at(
         machine_find(
            warp, RKB_MACHINE_REJECT, "sync.warpgroup", 0,
            "this warp comes to the instruction in line %u where another warp of its warpgroup came to the one in "
            "line %u: the four warps must execute the same ones in the same order",
            line_at(warp, step.pc), line_at(warp, theirs->pc)),
         warp->block, theirs->thread, theirs->pc,
         "the other came first this time; the four must come together");
      return false;
   }
   if (theirs->a == a && theirs->b == b && theirs->adds == adds)
      return true;
   machine_find_other_at(
      machine_find(warp, RKB_MACHINE_REJECT, "sync.warpgroup", 0,
                   "%s is not the same as in another warp of the warpgroup, which came first",
                   theirs->adds != adds ? "whether the product is added to the accumulator"
                   : theirs->b != b     ? "the descriptor of b"
                                        : "the descriptor of a"),
      warp->block, theirs->thread, theirs->pc, "the other came first this time; the four must come together");
   return false;
}

/* Registers ------------------------------------------------------------------------------------------------------------ */

static bool in_flight(const member_t *member, uint32_t number) {
   return member->owners[number].group > member->retired;
}

bool machine_warpgroup_start(machine_warp_t *warp, const machine_instruction_t *i) {
   member_t *member = member_of(warp);
   const machine_slot_t *registers = warp->program->extras + i->extra;
   if (member->fences == 0) {
      machine_find_alone(machine_find(warp, RKB_MACHINE_REJECT, "sync.wgmma_fence", 0,
                                      "no wgmma.fence comes before the first wgmma.mma_async of this warp"),
                         "the warp has executed no wgmma.fence so far");
      return false;
   }
   const bool any_written = member->newest_written == member->fences + 1;
   for (uint32_t n = 0; any_written && n < i->extra_count; n++) {
      const owner_t *owner = &member->owners[registers[n].number];
      if (owner->written != member->fences + 1)
         continue;
      machine_find_other_at(
         machine_find(
            warp, RKB_MACHINE_REJECT, "sync.wgmma_fence", 0,
            "register %s was written by the same warp in line %u, after its last wgmma.fence: wgmma.mma_async "
            "may still see the value before it",
            warp->program->registers[registers[n].number].name, line_at(warp, owner->written_pc)),
         warp->block, warp->first_thread, owner->written_pc,
         "the write came first, in the same warp; no wgmma.fence lies between");
      return false;
   }
   const machine_warpgroup_form_t *form = &warp->program->warpgroup_forms[i->immediate];
   const uint32_t group = member->committed + 1, pc = warp->pc, together = form->together ? form->results : 0;
   owner_t *owners = member->owners;
   for (uint32_t n = form->least; n < form->least + together; n++) {
      owners[n].group = group;
      owners[n].pc = pc;
   }
   for (uint32_t n = together; n < i->extra_count; n++) {
      owners[registers[n].number].group = group;
      owners[registers[n].number].pc = pc;
   }
   member->newest = group;
   member->newest_pc = warp->pc;
   return true;
}

void machine_warpgroup_fence(machine_warp_t *warp) {
   member_of(warp)->fences++;
}

void machine_warpgroup_commit(machine_warp_t *warp) {
   group_t *group = group_of(warp);
   member_of(warp)->committed++;
   if (group->ahead)
      machine_mbarriers_wake(warp->block);
   group->ahead = false;
}

bool machine_warpgroup_is_ahead(machine_warp_t *warp, uint32_t pending) {
   const machine_block_t *block = warp->block;
   const uint32_t first = warp->number / WARPGROUP_WARPS * WARPGROUP_WARPS,
                  committed = member_of(warp)->committed;
   bool ahead = false;
   for (uint32_t w = first; w < first + WARPGROUP_WARPS && w < block->warpgroups->warps; w++)
      ahead |= committed > pending && block->warpgroups->members[w].committed < committed - pending &&
               block->warps[w].alive;
   ahead &= block->mbarriers && block->mbarriers->patience == MBARRIER_PATIENCE;
   group_of(warp)->ahead |= ahead;
   return ahead;
}

void machine_warpgroup_wait(machine_warp_t *warp, uint32_t pending) {
   member_t *member = member_of(warp);
   if (member->committed > pending && member->committed - pending > member->retired)
      member->retired = member->committed - pending;
   machine_actor_observed(warp, warp->alive, group_of(warp)->actor, member->retired);
}

uint32_t machine_warpgroup_operation(machine_warp_t *warp) {
   group_t *group = group_of(warp);
   if (group->actor == PTX_NONE)
      group->actor = machine_actor_new(warp->block);
   return machine_operation_start(warp, 0, group->actor, member_of(warp)->committed + 1, "a wgmma.mma_async");
}

static void find_touched(machine_warp_t *warp, const member_t *member, uint32_t number, bool writes) {
   const owner_t *owner = &member->owners[number];
   machine_find_other_at(
      machine_find(
         warp, RKB_MACHINE_REJECT, "race.register", 0,
         "%s register %s, which the wgmma.mma_async of the same warp in line %u may still be using: %s",
         writes ? "writes" : "reads", warp->program->registers[number].name, line_at(warp, owner->pc),
         owner->group > member->committed ? "no commit_group and no wait_group came since"
                                          : "no wait_group for its group came since"),
      warp->block, warp->first_thread, owner->pc,
      "the product began first, in the same warp; no wait_group orders its end before this");
}

void machine_warpgroup_touch(machine_warp_t *warp, const machine_instruction_t *i) {
   const machine_program_t *program = warp->program;
   const uint32_t at = (uint32_t)(i - program->code);
   member_t *member = member_of(warp);
   for (uint32_t n = program->touch_first[at]; n < program->touch_first[program->count + at]; n++) {
      const machine_touch_t *touch = &program->touches[n];
      owner_t *owner = &member->owners[touch->number];
      const bool copies = touch->how == TOUCH_COPIED;
      /* While a product makes a value, the value may be renamed to another register; no other value may be written to its register. */
      if (in_flight(member, touch->number) && !(copies && in_flight(member, touch->from))) {
         find_touched(warp, member, touch->number, touch->how != TOUCH_READ);
         return;
      }
      if (copies)
         *owner = member->owners[touch->from];
      else if (touch->how == TOUCH_WRITTEN) {
         owner->written = member->newest_written = member->fences + 1;
         owner->written_pc = at;
      }
   }
}

/* The end ------------------------------------------------------------------------------------------------------------- */

static void check_all_came(machine_block_t *block, uint32_t number) {
   const machine_warpgroups_t *groups = block->warpgroups;
   const group_t *group = &groups->groups[number];
   uint32_t ahead = number * WARPGROUP_WARPS, behind = ahead;
   for (uint32_t w = ahead; w < groups->warps && w < (number + 1) * WARPGROUP_WARPS; w++) {
      ahead = groups->members[w].steps > groups->members[ahead].steps ? w : ahead;
      behind = groups->members[w].steps < groups->members[behind].steps ? w : behind;
   }
   const uint64_t least = groups->members[behind].steps;
   if (least == groups->members[ahead].steps)
      return;
   machine_warp_t *warp = &block->warps[ahead];
   warp->pc = group->steps[least - group->first].pc;
   rkb_machine_finding_t *finding = machine_find(
      warp, RKB_MACHINE_REJECT, "sync.warpgroup", 0,
      "warp %u of the block never executes this, which warp %u of its warpgroup does: all four warps must",
      block->warps[behind].place, warp->place);
   machine_find_other_at(finding, block, behind * LANES, machine_end_of_thread(block, behind * LANES),
                         "the other has ended without it");
}

void machine_warpgroups_end(machine_block_t *block) {
   const machine_warpgroups_t *groups = block->warpgroups;
   if (!groups || block->run->stop)
      return;
   for (uint32_t n = 0; n < groups->group_count && !block->run->stop; n++)
      check_all_came(block, n);
   for (uint32_t w = 0; w < groups->warps && !block->run->stop; w++) {
      const member_t *member = &groups->members[w];
      if (member->newest <= member->retired)
         continue;
      block->warps[w].pc = member->newest_pc;
      machine_find_alone(machine_find(&block->warps[w], RKB_MACHINE_REJECT, "sync.wgmma_wait", 0,
                                      "the kernel ends while this wgmma.mma_async may be on its way: %s",
                                      member->newest > member->committed
                                         ? "it was never committed"
                                         : "no wait_group came after its commit_group"),
                         "the product began, then its warp ended: no wait_group lies between");
   }
   const uint32_t each = groups->warps / block->cluster.blocks; /* a block of a cluster has registers of its own */
   for (uint32_t b = 0; b < block->cluster.blocks && !block->run->stop; b++)
      machine_warpgroup_registers_end(block, b * each, each);
}
