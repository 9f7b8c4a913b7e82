/* Operations on mbarriers that do not wait: threads initialise and invalidate them, arrive, and announce bytes (PTX ISA 9.0, 9.7.13.15.9 to
 * .15). On the machine's thread. */
#include "machine/in_flight/copies.h"
#include "machine/in_flight/mbarriers.h"
#include "machine/in_flight/operations.h"
#include "machine/access/memory_access.h"
#include "machine/clocks/vector_clocks.h"

#include <stdio.h>

/* A check of this many threads one by one counts as one thread-instruction of work. */
#define THREADS_OF_WORK 4u

/* Returns a state: the phase, and the arrivals that were missing when it was taken. */
static uint64_t state_of(const machine_mbarrier_t *mbarrier) {
   return (uint64_t)mbarrier->phase << 32 | mbarrier->pending;
}

static machine_mbarrier_t *find(machine_warp_t *warp, uint32_t lane, uint32_t offset, const char *what) {
   machine_mbarrier_t *mbarrier = machine_mbarrier_at(warp->block, offset);
   return machine_mbarrier_usable(warp, lane, mbarrier, offset, false, what) ? mbarrier : NULL;
}

/* Reports that another thread may still use an object that the lane is about to end. */
static void report_user(machine_warp_t *warp, uint32_t lane, const machine_mbarrier_t *mbarrier,
                        uint32_t user, const char *what) {
   const machine_block_t *block = warp->block;
   uint32_t thread[3];
   machine_thread_index(block, user, thread);
   machine_find_other_at(
      machine_find(
         warp, RKB_MACHINE_REJECT, "sync.mbarrier", lane,
         "%s the mbarrier at byte %u of shared memory while thread (%u, %u, %u) may still use it: nothing "
         "orders its last operation there, in line %u, before this",
         what, machine_own_byte(block, mbarrier->offset), thread[0], thread[1], thread[2],
         machine_source_line(warp->program, mbarrier->users_pc[user])),
      block, user, mbarrier->users_pc[user],
      "the other used it first this time; nothing orders that before this");
}

/* Reports that copies may still reach the object. */
static void report_incomplete(machine_warp_t *warp, uint32_t lane, const machine_mbarrier_t *mbarrier,
                              const char *what) {
   const machine_block_t *block = warp->block;
   rkb_machine_finding_t *finding = machine_find(
      warp, RKB_MACHINE_REJECT, "sync.mbarrier", lane,
      "%s the mbarrier at byte %u of shared memory while its phase %u may not be complete: this thread "
      "has not waited for it",
      what, machine_own_byte(block, mbarrier->offset),
      (mbarrier->announced ? mbarrier->phase : mbarrier->copied - 1) - mbarrier->first);
   if (mbarrier->announced)
      machine_find_other_at(finding, block, mbarrier->expect_thread, mbarrier->expect_pc,
                            "the other announced bytes that are still to come");
   else if (mbarrier->copied <= mbarrier->phase)
      machine_mbarrier_name_completion(finding, warp, mbarrier, mbarrier->copied);
   else
      machine_find_alone(finding,
                         "copies complete bytes of the phase, and arrivals that it waits for are missing");
}

/* Whether the lane knows of a lane that met the thread at match.sync, where the thread had used the object. */
static bool met_before(const machine_warp_t *warp, uint32_t lane, uint32_t thread, uint32_t used) {
   const machine_meeting_t *meeting = &warp->block->mbarriers->meetings[thread];
   bool knows = false;
   for (uint32_t left = used < meeting->time ? meeting->lanes : 0; left && !knows; left &= left - 1)
      knows = machine_knows(warp->block->clocks->knowledge, warp->first_thread + lane,
                            thread / LANES * LANES + (uint32_t)__builtin_ctz(left), meeting->time);
   return knows;
}

/* Whether all earlier uses of the object are ordered before the lane, and no copy to it is in flight.  Nobody need have waited for a phase at which
 * threads alone arrived: the manual asks only that nobody uses an object that is no more. */
static bool nobody_uses(machine_warp_t *warp, uint32_t lane, const machine_mbarrier_t *mbarrier,
                        const char *what) {
   const machine_block_t *block = warp->block;
   uint32_t user = PTX_NONE;
   warp->run->work.burden += block->operations ? block->threads / THREADS_OF_WORK : 0;
   for (uint32_t t = 0; block->operations && t < block->threads && user == PTX_NONE; t++)
      if (mbarrier->users[t] &&
          !machine_knows(block->clocks->knowledge, warp->first_thread + lane, t, mbarrier->users[t]) &&
          !met_before(warp, lane, t, mbarrier->users[t]))
         user = t;
   if (user != PTX_NONE || mbarrier->announced ||
       !machine_actor_known(warp, lane, mbarrier->actor, mbarrier->copied)) {
      if (user != PTX_NONE)
         report_user(warp, lane, mbarrier, user, what);
      else
         report_incomplete(warp, lane, mbarrier, what);
      return false;
   }
   return true;
}

static void initialise(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t count) {
   machine_block_t *block = warp->block;
   machine_mbarrier_t *mbarrier = machine_mbarrier_at(block, offset);
   if (count == 0 || count > MBARRIER_MOST_PENDING) {
      machine_find_alone(machine_find(warp, RKB_MACHINE_REJECT, "sync.mbarrier", lane,
                                      "initialises an mbarrier for %u arrivals: counts go from 1 to %u",
                                      count, MBARRIER_MOST_PENDING),
                         "the count alone is wrong");
      return;
   }
   if (mbarrier && mbarrier->live) {
      machine_find_other_at(
         machine_find(
            warp, RKB_MACHINE_REJECT, "sync.mbarrier", lane,
            "initialises the mbarrier at byte %u of shared memory, which %s initialised in line %u, without "
            "mbarrier.inval between",
            machine_own_byte(block, offset),
            mbarrier->init_thread == warp->first_thread + lane ? "the same thread" : "another thread",
            machine_source_line(warp->program, mbarrier->init_pc)),
         block, mbarrier->init_thread, mbarrier->init_pc,
         "the other initialised it first, and nobody has invalidated it since");
      return;
   }
   if (mbarrier && !nobody_uses(warp, lane, mbarrier, "initialises"))
      return;
   mbarrier = mbarrier ? mbarrier : machine_mbarrier_new(block, offset);
   if (!mbarrier)
      return;
   mbarrier->live = true;
   mbarrier->fenced = false;
   mbarrier->first = mbarrier->phase;
   mbarrier->copied = 0;
   mbarrier->expected = mbarrier->pending = count;
   mbarrier->init_thread = warp->first_thread + lane;
   mbarrier->init_pc = warp->pc;
   machine_count_bytes(warp->run, 2 * block->mbarriers->threads);
   if (block->operations) {
      machine_count_bytes(warp->run,
                          (block->mbarriers->threads + 2 * block->mbarriers->width) * sizeof(uint32_t));
      memset(mbarrier->users, 0, block->mbarriers->threads * sizeof *mbarrier->users);
      memset(mbarrier->completed, 0, block->mbarriers->width * sizeof *mbarrier->completed);
      memset(mbarrier->arriving, 0, block->mbarriers->width * sizeof *mbarrier->arriving);
      mbarrier->init_clock = machine_lane_clock(warp, lane);
      machine_actor_observed(warp, 1u << lane, mbarrier->actor, mbarrier->phase);
   }
   memset(mbarrier->arrived, 0, block->mbarriers->threads);
   memset(mbarrier->arrived_before, 0, block->mbarriers->threads);
}

static void invalidate(machine_warp_t *warp, uint32_t lane, uint32_t offset) {
   machine_mbarrier_t *mbarrier = find(warp, lane, offset, "invalidates an mbarrier");
   if (!mbarrier || !nobody_uses(warp, lane, mbarrier, "invalidates"))
      return;
   mbarrier->live = false;
   mbarrier->inval_thread = warp->first_thread + lane;
   mbarrier->inval_pc = warp->pc;
}

static bool announce(machine_warp_t *warp, uint32_t lane, machine_mbarrier_t *mbarrier, uint32_t bytes) {
   mbarrier->announced += bytes;
   mbarrier->expect_bytes += bytes;
   mbarrier->expect_thread = warp->first_thread + lane;
   mbarrier->expect_pc = warp->pc;
   if (mbarrier->announced <= (int64_t)MBARRIER_MOST_PENDING)
      return true;
   machine_find_alone(
      machine_find(warp, RKB_MACHINE_REJECT, "sync.mbarrier", lane,
                   "announces so many bytes that %lld are on their way at once: an mbarrier counts up to %u",
                   (long long)mbarrier->announced, MBARRIER_MOST_PENDING),
      "the number of bytes alone is wrong");
   return false;
}

/* The lane that completes a phase knows that it is complete, unless another thread's arrival could have come later. */
static void note_own_completion(machine_warp_t *warp, uint32_t lane, const machine_mbarrier_t *mbarrier,
                                bool copied) {
   const machine_block_t *block = warp->block;
   if (!block->operations || copied)
      return;
   const machine_vector_clocks_t *knowledge = block->clocks->knowledge;
   warp->run->work.burden += knowledge->threads / THREADS_OF_WORK;
   for (uint32_t t = 0; t < knowledge->threads; t++)
      if (!machine_knows(knowledge, warp->first_thread + lane, t, mbarrier->completed[t]))
         return;
   machine_actor_observed(warp, 1u << lane, mbarrier->actor, mbarrier->phase);
}

typedef struct arrival {
   uint32_t count, bytes;
   bool expects, drops, relaxed, no_complete;
} arrival_t;

static void arrive(machine_warp_t *warp, uint32_t lane, uint32_t offset, const arrival_t *how,
                   uint64_t *state) {
   machine_block_t *block = warp->block;
   machine_mbarrier_t *mbarrier = find(warp, lane, offset, "arrives");
   if (!mbarrier || !machine_mbarrier_in_phase(warp, lane, mbarrier, "arrives"))
      return;
   *state = state_of(mbarrier);
   if (how->expects && !announce(warp, lane, mbarrier, how->bytes))
      return;
   if (how->count == 0 || how->count > mbarrier->pending) {
      machine_find_other_at(
         machine_find(
            warp, RKB_MACHINE_REJECT, "sync.mbarrier", lane,
            "%u arrivals at the mbarrier at byte %u of shared memory, which line %u initialised for %u and where %u "
            "are missing in this phase",
            how->count, machine_own_byte(block, offset),
            machine_source_line(warp->program, mbarrier->init_pc), mbarrier->expected, mbarrier->pending),
         block, mbarrier->init_thread, mbarrier->init_pc,
         "the other initialised it for fewer arrivals than come");
      return;
   }
   if (block->operations && how->relaxed)
      machine_vector_clocks_release_fenced(warp, 1u << lane, mbarrier->arriving);
   else if (block->operations)
      machine_vector_clocks_release(warp, 1u << lane, mbarrier->arriving);
   mbarrier->pending -= how->count;
   mbarrier->expected -= how->drops ? how->count : 0;
   uint8_t *arrived = &mbarrier->arrived[warp->first_thread + lane];
   *arrived = (uint8_t)(*arrived + (*arrived < UINT8_MAX));
   warp->run->changes++;
   const bool copied = mbarrier->copies != 0;
   if (how->no_complete && !mbarrier->pending && !mbarrier->announced)
      machine_find_other_at(machine_find(warp, RKB_MACHINE_REJECT, "sync.mbarrier", lane,
                                         "an arrival with .noComplete is the last one of its phase"),
                            block, mbarrier->init_thread, mbarrier->init_pc,
                            "the other initialised it for so many arrivals");
   else if (machine_mbarrier_advance(warp, lane, mbarrier))
      note_own_completion(warp, lane, mbarrier, copied);
}

/* For others, all copies of the lane in flight end with the phase. */
static void arrive_after_copies(machine_warp_t *warp, uint32_t lane, uint32_t offset, bool counts) {
   machine_mbarrier_t *mbarrier = find(warp, lane, offset, "arrives");
   if (!mbarrier || !machine_mbarrier_in_phase(warp, lane, mbarrier, "arrives"))
      return;
   mbarrier->copied = mbarrier->phase + 1;
   if (warp->block->copies)
      machine_copies_hand_over(warp, lane, mbarrier->actor, mbarrier->phase + 1);
   uint64_t state;
   if (counts)
      arrive(warp, lane, offset, &(arrival_t){.count = 1}, &state);
   else if (warp->block->operations) /* one more arrival is pending until then, so the count does not change */
      machine_vector_clocks_release(warp, 1u << lane, mbarrier->arriving);
}

static void expect(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes, bool completes) {
   machine_mbarrier_t *mbarrier = find(warp, lane, offset, completes ? "completes bytes" : "announces bytes");
   if (!mbarrier ||
       !machine_mbarrier_in_phase(warp, lane, mbarrier, completes ? "completes bytes" : "announces bytes"))
      return;
   if (completes)
      machine_mbarrier_copied(warp, lane, mbarrier, bytes);
   else
      announce(warp, lane, mbarrier, bytes);
}

static uint32_t operand(const machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane) {
   return LANES_OF(uint32_t, i->b)[lane];
}

static void execute_lane(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane, uint32_t offset,
                         uint64_t *state) {
   const bool relaxed = i->flags & FLAG_RELAXED, drops = i->flags & FLAG_SECOND;
   const uint32_t given = i->bi ? operand(warp, i, lane) : 1;
   switch (i->operation) {
   case MBARRIER_INIT:
      initialise(warp, lane, offset, given);
      break;
   case MBARRIER_INVAL:
      invalidate(warp, lane, offset);
      break;
   case MBARRIER_ARRIVE_EXPECT:
      arrive(warp, lane, offset,
             &(arrival_t){.count = 1, .bytes = given, .expects = true, .drops = drops, .relaxed = relaxed},
             state);
      break;
   case MBARRIER_ARRIVE_COPIES:
      arrive_after_copies(warp, lane, offset, i->flags & FLAG_SAT);
      break;
   case MBARRIER_EXPECT:
   case MBARRIER_COMPLETE:
      expect(warp, lane, offset, given, i->operation == MBARRIER_COMPLETE);
      break;
   default:
      arrive(warp, lane, offset,
             &(arrival_t){.count = given,
                          .drops = drops,
                          .relaxed = relaxed,
                          .no_complete = i->operation == MBARRIER_ARRIVE_NO_COMPLETE},
             state);
   }
}

static void count_pending(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   const uint64_t *state = LANES_OF(uint64_t, i->a);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   for (uint32_t l = 0; l < LANES; l++)
      d[l] = mask >> l & 1 ? (uint32_t)state[l] : d[l];
   set_defined(warp, i->di, warp->defined[i->ai], mask);
}

void machine_mbarrier_execute(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   if (i->operation == MBARRIER_PENDING_COUNT) {
      count_pending(warp, i, mask);
      return;
   }
   uint64_t address[LANES];
   if (lane_addresses(warp, i, mask, address) != mask ||
       machine_undefined_control(warp, i->bi ? mask & ~warp->defined[i->bi] : 0, "an mbarrier's count"))
      return;
   if (warp->taint && i->bi)
      warp->run->report.control_taint |= warp->taint[i->bi];
   uint64_t *states = LANES_OF(uint64_t, i->d);
   const uint64_t undefinings = warp->run->undefinings;
   for (uint32_t l = 0; l < LANES && !warp->run->stop; l++) {
      machine_place_t place;
      uint64_t state = 0;
      if (!(mask >> l & 1) || !place_of(warp, l, address[l], i->space, 8, true, &place))
         continue;
      if (place.window != WINDOW_SHARED) {
         machine_fault(warp, l, address[l], PTX_SHARED, 8, true);
         continue;
      }
      execute_lane(warp, i, l, (uint32_t)place.offset, &state);
      if (i->di > 1)
         states[l] = state;
   }
   /* Their bytes hold what they held, because an mbarrier's state is kept apart. */
   warp->run->undefinings = undefinings;
   if (i->di > 1) {
      set_defined(warp, i->di, FULL_MASK, mask);
      set_taint(warp, i->di, 0, mask);
   }
}
