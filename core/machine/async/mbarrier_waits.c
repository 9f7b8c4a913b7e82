/* Waiting at mbarriers: test_wait and try_wait (PTX ISA 9.0, 9.7.13.15.16), and what happens when no warp can
 * go on; mbarrier_stuck.c has the finding.  On the machine's thread. */
#include "machine/in_flight/cluster_barrier.h"
#include "machine/in_flight/mbarriers.h"
#include "machine/in_flight/operations.h"
#include "machine/access/memory_access.h"
#include "machine/clocks/vector_clocks.h"

#include <stdio.h>

/* Lanes of a warp that wait for the same phase at once.  They get the same answer, so that they do not diverge. */
typedef struct group {
   machine_mbarrier_t *mbarrier;
   uint32_t lanes;
   uint32_t awaited; /* how many phases must be complete */
   bool complete;
} group_t;

static bool waits_by_parity(const machine_instruction_t *i) {
   return i->operation == MBARRIER_TEST_PARITY || i->operation == MBARRIER_TRY_PARITY;
}

/* Finds what a lane waits for.  A wait by parity waits for the incomplete phase if that phase has this parity, otherwise for the phase before it. */
static bool awaited_by(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane, group_t *group) {
   const machine_mbarrier_t *mbarrier = group->mbarrier;
   if (waits_by_parity(i)) {
      const uint32_t parity = LANES_OF(uint32_t, i->b)[lane] & 1,
                     incomplete = (mbarrier->phase - mbarrier->first) & 1;
      group->awaited = mbarrier->phase + (parity == incomplete);
   } else {
      group->awaited = (uint32_t)(LANES_OF(uint64_t, i->b)[lane] >> 32) + 1;
      if (group->awaited > mbarrier->phase + 1 || group->awaited + 1 < mbarrier->phase + 1) {
         machine_mbarrier_name_completion(
            machine_find(
               warp, RKB_MACHINE_REJECT, "sync.phase", lane,
               "waits with the state of another phase than the one that is under way or the one before"),
            warp, mbarrier, mbarrier->phase);
         return false;
      }
   }
   group->complete = group->awaited <= mbarrier->phase;
   return true;
}

static bool make_group(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane, uint64_t address,
                       group_t *group) {
   machine_place_t place;
   if (!place_of(warp, lane, address, i->space, 8, false, &place))
      return false;
   if (place.window != WINDOW_SHARED) {
      machine_fault(warp, lane, address, PTX_SHARED, 8, false);
      return false;
   }
   const uint32_t offset = (uint32_t)place.offset;
   if (offset / warp->block->cluster.shared_span != warp->rank) {
      machine_find_alone(
         machine_find(
            warp, RKB_MACHINE_REJECT, "sync.cluster", lane,
            "waits at an mbarrier of block %u of the cluster: a thread may wait at those of its own block alone",
            offset / warp->block->cluster.shared_span),
         "the address alone is wrong");
      return false;
   }
   *group = (group_t){.mbarrier = machine_mbarrier_at(warp->block, offset), .lanes = 1u << lane};
   return machine_mbarrier_usable(warp, lane, group->mbarrier, offset, false, "waits") &&
          awaited_by(warp, i, lane, group);
}

bool machine_mbarrier_awaited(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane,
                              machine_mbarrier_t **mbarrier, uint32_t *awaited) {
   uint64_t address[LANES];
   group_t group;
   if (lane_addresses(warp, i, 1u << lane, address) != 1u << lane ||
       !make_group(warp, i, lane, address[lane], &group))
      return false;
   *mbarrier = group.mbarrier;
   *awaited = group.awaited;
   return true;
}

#define OWES_FAILURE UINT32_MAX /* in failed: the thread's next test fails if its phase is not complete */
#define MOST_FAILURES 8u        /* log2, in a shuffled order */

/* How often the lanes' tests fail while they cannot know that the phase is complete.  If the program sees this, other orders of its threads have other
 * numbers: none in descending order, and in a shuffled one a number that is small for most phases and large for some. */
static uint32_t failures_of(const machine_warp_t *warp, const group_t *group) {
   const machine_run_t *run = warp->run;
   if (run->order == RKB_MACHINE_ASCENDING || !warp->program->arrivals_seen)
      return 1;
   if (run->order == RKB_MACHINE_DESCENDING)
      return 0;
   const uint64_t number = warp->block->serial - warp->block->launch->first_serial,
                  drawn = machine_order_number(run, (uint64_t)group->mbarrier->offset << 32 | group->awaited,
                                                number << 16 | warp->number);
   return (uint32_t)(drawn >> 32) & ((1u << (drawn % (MOST_FAILURES + 1))) - 1);
}

/* Whether the lanes' test must fail once more, because they do not know that their phase is complete. */
static bool fails_again(const machine_warp_t *warp, const group_t *group) {
   bool fails = false;
   if (group->complete && !warp->block->operations) /* nobody follows what lanes know */
      return false;
   const uint32_t most = failures_of(warp, group);
   for (uint32_t left = group->lanes; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left), thread = warp->first_thread + lane,
                     before = group->mbarrier->failed[thread];
      const uint32_t failures = before == group->awaited ? group->mbarrier->failures[thread] : 0;
      fails |= (failures < most || before == OWES_FAILURE) &&
               (!group->complete || !machine_actor_known(warp, lane, group->mbarrier->actor, group->awaited));
   }
   for (uint32_t left = fails ? group->lanes : 0; left; left &= left - 1) {
      const uint32_t thread = warp->first_thread + (uint32_t)__builtin_ctz(left);
      const bool again = group->mbarrier->failed[thread] == group->awaited;
      group->mbarrier->failures[thread] = again ? group->mbarrier->failures[thread] + 1 : 1;
      group->mbarrier->failed[thread] = group->awaited;
   }
   return fails;
}

/* Whether a wait by parity can only be for the right phase.  If nothing told the thread that the phase before is complete, the wait could also
 * have passed two phases earlier, and there is a finding. */
static bool right_phase(machine_warp_t *warp, const machine_instruction_t *i, const group_t *group) {
   const machine_mbarrier_t *mbarrier = group->mbarrier;
   for (uint32_t left = waits_by_parity(i) && group->awaited > mbarrier->first + 1 ? group->lanes : 0; left;
        left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left);
      if (machine_actor_passed(warp, lane, mbarrier->actor, group->awaited - 1))
         continue;
      rkb_machine_finding_t *finding = machine_find(
         warp, RKB_MACHINE_REJECT, "sync.phase", lane,
         "waits with parity %u for phase %u of the mbarrier at byte %u of shared memory, but nothing tells this "
         "thread that phase %u is complete: in another order it passes before that",
         (group->awaited - mbarrier->first - 1) & 1, group->awaited - mbarrier->first - 1,
         machine_own_byte(warp->block, mbarrier->offset), group->awaited - mbarrier->first - 2);
      machine_mbarrier_name_completion(finding, warp, mbarrier, group->awaited - 1);
      return false;
   }
   return true;
}

static void pass(machine_warp_t *warp, const machine_instruction_t *i, const group_t *group) {
   machine_mbarrier_t *mbarrier = group->mbarrier;
   if (!warp->block->operations || !right_phase(warp, i, group) || group->awaited == mbarrier->first)
      return;
   if (i->flags & FLAG_RELAXED) {
      for (uint32_t left = group->lanes; left; left &= left - 1)
         mbarrier->relaxed[warp->first_thread + (uint32_t)__builtin_ctz(left)] = group->awaited;
      warp->block->mbarriers->relaxed = true;
      machine_actor_noticed(warp, group->lanes, mbarrier->actor, group->awaited);
      return;
   }
   machine_vector_clocks_acquire(warp, group->lanes, mbarrier->completed);
   machine_actor_observed(warp, group->lanes, mbarrier->actor, group->awaited);
}

static uint32_t same_group(const machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                           const uint64_t address[LANES], uint32_t first) {
   const bool by_parity = waits_by_parity(i);
   const uint32_t *parity = LANES_OF(uint32_t, i->b);
   const uint64_t *state = LANES_OF(uint64_t, i->b);
   uint32_t lanes = 0;
   for (uint32_t l = first; by_parity && l < LANES; l++)
      lanes |= (uint32_t)((((parity[l] ^ parity[first]) & 1) | (address[l] ^ address[first])) == 0) << l;
   for (uint32_t l = first; !by_parity && l < LANES; l++)
      lanes |= (uint32_t)(((state[l] ^ state[first]) >> 32 | (address[l] ^ address[first])) == 0) << l;
   return lanes & mask;
}

bool machine_mbarrier_test(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   uint64_t address[LANES];
   group_t groups[LANES];
   uint32_t count = 0, passed = 0;
   bool stalls = false;
   if (lane_addresses(warp, i, mask, address) != mask ||
       machine_undefined_control(warp, mask & ~warp->defined[i->bi], "which phase is waited for"))
      return true;
   if (warp->taint)
      warp->run->report.control_taint |= warp->taint[i->bi];
   for (uint32_t left = mask; left;) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left);
      group_t *group = &groups[count++];
      if (!make_group(warp, i, lane, address[lane], group))
         return true;
      group->lanes = same_group(warp, i, left, address, lane);
      left &= ~group->lanes;
      /* The lanes differ in what they know alone. */
      for (uint32_t others = warp->block->operations ? group->lanes & (group->lanes - 1) : 0; others;
           others &= others - 1)
         if (!machine_mbarrier_usable(warp, (uint32_t)__builtin_ctz(others), group->mbarrier,
                                      group->mbarrier->offset, false, "waits"))
            return true;
      if (fails_again(warp, group))
         group->complete = false;
      else
         stalls |= !group->complete;
   }
   if (stalls)
      return false;
   for (uint32_t n = 0; n < count && !warp->run->stop; n++)
      if (groups[n].complete) {
         pass(warp, i, &groups[n]);
         passed |= groups[n].lanes;
      }
   set_predicate(warp, i->d, passed, mask);
   set_defined(warp, i->di, FULL_MASK, mask);
   set_taint(warp, i->di, 0, mask);
   return true;
}

/* When nobody can go on --------------------------------------------------------------------------------------------------- */

static bool any_stalled(const machine_block_t *block) {
   for (uint32_t w = 0; w < block->warp_count; w++)
      for (uint32_t n = 0; n < block->warps[w].fragment_count; n++)
         if (block->warps[w].fragments[n].stalled)
            return true;
   return false;
}

/* Lets lanes run that wait for a stalled fragment of their warp to reach them.  Returns whether any can run. */
static bool let_others_pass(machine_block_t *block) {
   bool any = false;
   block->overtakes = true;
   for (uint32_t w = 0; w < block->warp_count; w++)
      if (machine_fragment_pick(&block->warps[w], PTX_NONE) != PTX_NONE) {
         block->warps[w].state = WARP_READY;
         any = true;
      }
   return any;
}

/* A loop may test several mbarriers in turn, so every wait gets one more answer that its phase is not
 * complete. */
static void let_all_fail(machine_block_t *block) {
   machine_mbarriers_t *mbarriers = block->mbarriers;
   for (uint32_t n = 0; n < mbarriers->count; n++)
      memset(mbarriers->all[n].failed, 0xff, mbarriers->threads * sizeof *mbarriers->all[n].failed);
   for (uint32_t w = 0; w < block->warp_count; w++)
      for (uint32_t n = 0; n < block->warps[w].fragment_count; n++)
         if (block->warps[w].fragments[n].stalled) {
            block->warps[w].fragments[n].stalled = false;
            block->warps[w].state = WARP_READY;
         }
}

bool machine_mbarriers_unstick(machine_block_t *block) {
   machine_mbarriers_t *mbarriers = block->mbarriers;
   if (!mbarriers || !any_stalled(block))
      return false;
   if (!block->overtakes && let_others_pass(block))
      return true;
   if (!mbarriers->patience)
      return false;
   mbarriers->patience--;
   let_all_fail(block);
   return true;
}
