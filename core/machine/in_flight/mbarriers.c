/* Mbarrier objects (mbarriers.h): where they are, their phases, who may use them.  On the machine's thread. */
#include "machine/in_flight/mbarriers.h"
#include "machine/in_flight/cluster_barrier.h"
#include "machine/in_flight/operations.h"
#include "machine/clocks/vector_clocks.h"
#include "machine/clocks/clocks.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_MBARRIERS 4096u

machine_mbarriers_t *machine_mbarriers_new(machine_run_t *run, uint32_t shared_bytes, uint32_t threads,
                                           uint32_t width) {
   machine_mbarriers_t *made = machine_alloc(run, sizeof *made);
   if (!made)
      return NULL;
   made->threads = threads;
   made->width = width;
   made->shared_bytes = shared_bytes;
   made->at = machine_alloc(run, (shared_bytes / 8 + 2) * sizeof *made->at);
   made->meetings = machine_alloc(run, threads * sizeof *made->meetings);
   if (made->at && made->meetings)
      return made;
   machine_mbarriers_free(run, made);
   return NULL;
}

static size_t rows_bytes(const machine_mbarriers_t *mbarriers) {
   return (2 * (size_t)mbarriers->width + 5 * (size_t)mbarriers->threads) * sizeof(uint32_t) +
          2 * (size_t)mbarriers->threads;
}

void machine_mbarriers_free(machine_run_t *run, machine_mbarriers_t *mbarriers) {
   if (!mbarriers)
      return;
   for (uint32_t n = 0; n < mbarriers->count; n++)
      machine_release(run, mbarriers->all[n].memory, rows_bytes(mbarriers));
   free(mbarriers->all);
   machine_release(run, mbarriers->meetings, mbarriers->threads * sizeof *mbarriers->meetings);
   machine_release(run, mbarriers->at, (mbarriers->shared_bytes / 8 + 2) * sizeof *mbarriers->at);
   machine_release(run, mbarriers, sizeof *mbarriers);
}

void machine_mbarriers_begin(machine_block_t *block) {
   machine_mbarriers_t *mbarriers = block->mbarriers;
   block->overtakes = false;
   if (!mbarriers)
      return;
   for (uint32_t n = 0; n < mbarriers->count; n++)
      machine_release(block->run, mbarriers->all[n].memory, rows_bytes(mbarriers));
   mbarriers->count = 0;
   mbarriers->patience = MBARRIER_PATIENCE;
   mbarriers->relaxed = false;
   memset(mbarriers->at, 0, (mbarriers->shared_bytes / 8 + 2) * sizeof *mbarriers->at);
   if (mbarriers->met)
      memset(mbarriers->meetings, 0, mbarriers->threads * sizeof *mbarriers->meetings);
   mbarriers->met = false;
}

machine_mbarrier_t *machine_mbarrier_at(const machine_block_t *block, uint32_t offset) {
   const uint32_t number = block->mbarriers->at[offset / 8];
   return number ? &block->mbarriers->all[number - 1] : NULL;
}

machine_mbarrier_t *machine_mbarrier_new(machine_block_t *block, uint32_t offset) {
   machine_mbarriers_t *mbarriers = block->mbarriers;
   if (mbarriers->count == mbarriers->room) {
      const uint32_t room = mbarriers->room ? 2 * mbarriers->room : 32;
      machine_mbarrier_t *larger =
         room <= MOST_MBARRIERS ? realloc(mbarriers->all, room * sizeof *larger) : NULL;
      if (!larger) {
         block->run->out_of_memory = true;
         return NULL;
      }
      mbarriers->all = larger;
      mbarriers->room = room;
   }
   uint32_t *rows = machine_alloc(block->run, rows_bytes(mbarriers));
   machine_count_bytes(block->run, rows_bytes(mbarriers));
   if (!rows)
      return NULL;
   machine_mbarrier_t *made = &mbarriers->all[mbarriers->count++];
   *made = (machine_mbarrier_t){
      .offset = offset, .actor = machine_actor_new(block), .memory = rows, .arriving = rows};
   made->completed = rows + mbarriers->width;
   made->users = made->completed + mbarriers->width;
   made->users_pc = made->users + mbarriers->threads;
   made->failed = made->users_pc + mbarriers->threads;
   made->relaxed = made->failed + mbarriers->threads;
   made->failures = made->relaxed + mbarriers->threads;
   made->arrived = (uint8_t *)(made->failures + mbarriers->threads);
   made->arrived_before = made->arrived + mbarriers->threads;
   mbarriers->at[offset / 8] = (uint16_t)mbarriers->count;
   return made;
}

void machine_mbarriers_acquire(machine_warp_t *warp, uint32_t lanes) {
   machine_mbarriers_t *mbarriers = warp->block->mbarriers;
   for (uint32_t n = 0; mbarriers && mbarriers->relaxed && n < mbarriers->count; n++)
      for (uint32_t left = lanes; left; left &= left - 1) {
         const uint32_t lane = (uint32_t)__builtin_ctz(left);
         uint32_t *phases = &mbarriers->all[n].relaxed[warp->first_thread + lane];
         if (*phases) {
            machine_vector_clocks_acquire(warp, 1u << lane, mbarriers->all[n].completed);
            machine_actor_observed(warp, 1u << lane, mbarriers->all[n].actor, *phases);
         }
         *phases = 0;
      }
}

/* Who may use one ------------------------------------------------------------------------------------------------------ */

static rkb_machine_finding_t *place(rkb_machine_finding_t *finding, uint32_t offset) {
   if (!finding)
      return NULL;
   finding->offset = offset;
   finding->bytes = 8;
   snprintf(finding->symbol, sizeof finding->symbol, "shared memory");
   snprintf(finding->space, sizeof finding->space, "shared");
   return finding;
}

bool machine_mbarrier_usable(machine_warp_t *warp, uint32_t lane, machine_mbarrier_t *mbarrier,
                             uint32_t offset, bool proxied, const char *what) {
   const machine_block_t *block = warp->block;
   if (!mbarrier || !mbarrier->live || mbarrier->offset != offset) {
      rkb_machine_finding_t *finding = place(
         machine_find(warp, RKB_MACHINE_REJECT, "sync.mbarrier", lane,
                      "%s at byte %u of shared memory, where no mbarrier %s", what,
                      machine_own_byte(block, offset),
                      mbarrier && !mbarrier->live ? "is any more: it was invalidated" : "was initialised"),
         offset);
      if (mbarrier && !mbarrier->live)
         machine_find_other_at(finding, block, mbarrier->inval_thread, mbarrier->inval_pc,
                               "the other invalidated it first");
      else
         machine_find_alone(finding, "nobody has initialised it so far");
      return false;
   }
   if (!block->operations)
      return true;
   const machine_vector_clocks_t *knowledge = block->clocks->knowledge;
   const uint32_t me = warp->first_thread + lane;
   /* the next arrival at the cluster's barrier, even a relaxed one, passes on what fence.mbarrier_init
    * released */
   const bool told = mbarrier->fenced && machine_cluster_waits(warp, lane) > mbarrier->fence_arrivals;
   const char *missing =
      !told && !machine_knows(knowledge, me, mbarrier->init_thread, mbarrier->init_clock)
         ? "nothing orders this after its initialisation"
      : proxied && !mbarrier->fenced &&
            !machine_knows_fenced(knowledge, me, mbarrier->init_thread, mbarrier->init_clock)
         ? "the async proxy has not been told of it: fence.mbarrier_init or fence.proxy.async must follow the "
           "initialisation"
         : NULL;
   if (missing) {
      rkb_machine_finding_t *finding = place(
         machine_find(
            warp, RKB_MACHINE_REJECT, "sync.mbarrier", lane,
            "%s on the mbarrier at byte %u of shared memory that was initialised in line %u, but %s", what,
            machine_own_byte(block, offset), machine_source_line(warp->program, mbarrier->init_pc), missing),
         offset);
      machine_find_other_at(
         finding, block, mbarrier->init_thread, mbarrier->init_pc,
         "the other initialised it first this time; that is not made known before this use");
      return false;
   }
   mbarrier->users[me] = machine_lane_clock(warp, lane);
   mbarrier->users_pc[me] = warp->pc;
   return true;
}

void machine_mbarrier_name_completion(rkb_machine_finding_t *finding, const machine_warp_t *warp,
                                      const machine_mbarrier_t *mbarrier, uint32_t count) {
   if (!finding || count <= mbarrier->first || count + 1 < mbarrier->phase)
      return;
   const size_t used = strlen(finding->message);
   snprintf(finding->message + used, sizeof finding->message - used, "; this time line %u completed it",
            machine_source_line(warp->program, mbarrier->done[count & 1].pc));
   machine_find_other_at(
      finding, warp->block, mbarrier->done[count & 1].thread, mbarrier->done[count & 1].pc,
      "the other completed the phase before first this time; no wait orders it before this");
}

bool machine_mbarrier_in_phase(machine_warp_t *warp, uint32_t lane, const machine_mbarrier_t *mbarrier,
                               const char *what) {
   if (machine_actor_passed(warp, lane, mbarrier->actor, mbarrier->phase))
      return true;
   rkb_machine_finding_t *finding = place(
      machine_find(
         warp, RKB_MACHINE_REJECT, "sync.phase", lane,
         "%s in phase %u of the mbarrier at byte %u of shared memory, but no wait tells this thread that "
         "phase %u is complete: in another order this belongs to the phase before",
         what, mbarrier->phase - mbarrier->first, machine_own_byte(warp->block, mbarrier->offset),
         mbarrier->phase - mbarrier->first - 1),
      mbarrier->offset);
   machine_mbarrier_name_completion(finding, warp, mbarrier, mbarrier->phase);
   return false;
}

bool machine_mbarriers_touched(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                               bool store) {
   const machine_mbarriers_t *mbarriers = warp->block->mbarriers;
   for (uint32_t n = offset / 8; mbarriers->count && n <= (offset + bytes - 1) / 8; n++) {
      const uint32_t number = mbarriers->at[n];
      if (!number || !mbarriers->all[number - 1].live)
         continue;
      const machine_mbarrier_t *mbarrier = &mbarriers->all[number - 1];
      machine_find_other_at(
         place(machine_find(
                  warp, RKB_MACHINE_REJECT, "sync.mbarrier", lane,
                  "%s %u bytes at byte %u of shared memory, which hold an mbarrier that line %u initialised",
                  store ? "writes" : "reads", bytes, machine_own_byte(warp->block, offset),
                  machine_source_line(warp->program, mbarrier->init_pc)),
               offset),
         warp->block, mbarrier->init_thread, mbarrier->init_pc,
         "the other initialised it first, and nobody has invalidated it since");
      return true;
   }
   return false;
}

void machine_mbarriers_fence(machine_warp_t *warp, uint32_t lanes) {
   machine_mbarriers_t *mbarriers = warp->block->mbarriers;
   warp->run->work.burden += mbarriers ? mbarriers->count : 0;
   for (uint32_t n = 0; mbarriers && n < mbarriers->count; n++) {
      const uint32_t thread = mbarriers->all[n].init_thread;
      if (thread / LANES != warp->number || !(lanes >> thread % LANES & 1) || mbarriers->all[n].fenced)
         continue;
      mbarriers->all[n].fenced = true;
      mbarriers->all[n].fence_arrivals = machine_cluster_arrivals(warp->block, thread);
   }
}

void machine_mbarriers_meet(machine_warp_t *warp, uint32_t lanes) {
   machine_mbarriers_t *mbarriers = warp->block->mbarriers;
   if (!mbarriers || !mbarriers->count || !warp->block->operations)
      return;
   const uint32_t now = machine_tick(warp->block);
   for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t thread = warp->first_thread + (uint32_t)__builtin_ctz(left);
      warp->block->clocks->own[thread] = now;
      mbarriers->meetings[thread] = (machine_meeting_t){now, lanes};
   }
   mbarriers->met = true;
}

/* Phases --------------------------------------------------------------------------------------------------------------- */

void machine_mbarriers_wake(machine_block_t *block) {
   block->overtakes = false;
   block->mbarriers->patience = MBARRIER_PATIENCE;
   block->run->changes++;
   for (uint32_t w = 0; w < block->warp_count; w++) {
      machine_warp_t *warp = &block->warps[w];
      for (uint32_t n = 0; n < warp->fragment_count; n++)
         if (warp->fragments[n].stalled) {
            warp->fragments[n].stalled = false;
            warp->state = WARP_READY;
         }
   }
}

bool machine_mbarrier_advance(machine_warp_t *warp, uint32_t lane, machine_mbarrier_t *mbarrier) {
   machine_block_t *block = warp->block;
   if (mbarrier->pending || mbarrier->announced)
      return false;
   const machine_mbarriers_t *mbarriers = block->mbarriers;
   uint32_t *row = mbarrier->completed;
   uint8_t *arrived = mbarrier->arrived_before;
   mbarrier->phase++;
   mbarrier->done[mbarrier->phase & 1].thread = warp->first_thread + lane;
   mbarrier->done[mbarrier->phase & 1].pc = warp->pc;
   mbarrier->completed = mbarrier->arriving;
   mbarrier->arriving = row;
   if (block->clocks) {
      memset(row, 0, machine_vector_clocks_used(block->clocks->knowledge) * sizeof *row);
      machine_count_bytes(block->run, machine_vector_clocks_used(block->clocks->knowledge) * sizeof *row);
   }
   mbarrier->arrived_before = mbarrier->arrived;
   mbarrier->arrived = arrived;
   memset(arrived, 0, mbarriers->threads);
   mbarrier->pending = mbarrier->expected;
   if (mbarrier->copies && block->measured) {
      block->run->counts.measured.bulk_phases++;
      block->run->counts.measured.bulk_barriers += !mbarrier->counted;
      mbarrier->counted = true;
   }
   mbarrier->copies = 0;
   mbarrier->expect_bytes = 0;
   machine_mbarriers_wake(block);
   return true;
}

machine_mbarrier_t *machine_mbarrier_for_copy(machine_warp_t *warp, uint32_t lane, uint32_t offset,
                                              const char *what) {
   machine_mbarrier_t *mbarrier = machine_mbarrier_at(warp->block, offset);
   return machine_mbarrier_usable(warp, lane, mbarrier, offset, true, what) &&
                machine_mbarrier_in_phase(warp, lane, mbarrier, what)
             ? mbarrier
             : NULL;
}

void machine_mbarrier_copied(machine_warp_t *warp, uint32_t lane, machine_mbarrier_t *mbarrier,
                             uint32_t bytes) {
   machine_block_t *block = warp->block;
   if (block->operations)
      machine_vector_clocks_carry(warp, lane, mbarrier->arriving);
   mbarrier->announced -= bytes;
   mbarrier->copies++;
   mbarrier->copied = mbarrier->phase + 1;
   block->run->changes++;
   machine_mbarrier_advance(warp, lane, mbarrier);
}
