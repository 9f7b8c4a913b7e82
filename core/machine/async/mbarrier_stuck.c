/* The finding when no warp of a block can go on and some wait at mbarriers.  Several mbarriers may then be incomplete: the threads that would
 * arrive at one mbarrier wait at another.  This file looks for the mbarrier at which this chain ends, and says what that mbarrier lacks.  On the
 * machine's thread. */
#include "machine/in_flight/cluster_barrier.h"
#include "machine/in_flight/mbarriers.h"

#include <stdio.h>

#define MOST_WAITS 64u /* places in the program, with the mbarrier that lanes wait for there */

typedef struct await {
   machine_warp_t *warp;
   machine_mbarrier_t *mbarrier;
   uint32_t pc, lane;
   uint32_t awaited; /* how many phases must be complete */
} await_t;

/* How sure it is that the chain ends at an mbarrier; the first value means not at all. */
enum { WAITS_FOR_ANOTHER, NOBODY_CAME, SOME_ARE_MISSING, BYTES_ARE_MISSING };

/* Where a thread is that has not arrived.  pc: PTX_NONE if it has ended, or if no place is known. */
typedef struct whereabouts {
   uint32_t thread; /* PTX_NONE: there is no such thread */
   uint32_t pc;
   bool ended;
   const machine_mbarrier_t *waits_at; /* NULL: at none */
} whereabouts_t;

/* Gathers what stalled fragments wait for.  False after a finding, which says what is wrong with such a wait. */
static bool gather(machine_block_t *block, await_t waits[MOST_WAITS], uint32_t *count) {
   for (uint32_t w = 0; w < block->warp_count; w++)
      for (uint32_t n = 0; n < block->warps[w].fragment_count; n++) {
         machine_warp_t *warp = &block->warps[w];
         const machine_fragment_t *f = &warp->fragments[n];
         const machine_instruction_t *i = &warp->program->code[f->pc];
         if (!f->stalled || i->operation >= MBARRIER_CLUSTER_WAIT)
            continue;
         warp->pc = f->pc;
         for (uint32_t left = f->mask; left && *count < MOST_WAITS; left &= left - 1) {
            await_t one = {.warp = warp, .pc = f->pc, .lane = (uint32_t)__builtin_ctz(left)};
            if (!machine_mbarrier_awaited(warp, i, one.lane, &one.mbarrier, &one.awaited))
               return false;
            bool known = false;
            for (uint32_t k = 0; k < *count && !known; k++)
               known = waits[k].mbarrier == one.mbarrier && waits[k].pc == one.pc;
            if (!known)
               waits[(*count)++] = one;
         }
      }
   return true;
}

static whereabouts_t find_thread(machine_block_t *block, uint32_t thread) {
   machine_warp_t *warp = &block->warps[thread / LANES];
   const uint32_t lane = thread % LANES;
   whereabouts_t where = {.thread = thread, .pc = PTX_NONE, .ended = !(warp->alive >> lane & 1)};
   for (uint32_t n = 0; n < warp->fragment_count && !where.ended; n++) {
      const machine_fragment_t *f = &warp->fragments[n];
      const machine_instruction_t *i = &warp->program->code[f->pc];
      machine_mbarrier_t *mbarrier;
      uint32_t awaited;
      if (!(f->mask >> lane & 1))
         continue;
      where.pc = warp->pc = f->pc;
      if (f->stalled && i->operation < MBARRIER_CLUSTER_WAIT &&
          machine_mbarrier_awaited(warp, i, lane, &mbarrier, &awaited))
         where.waits_at = mbarrier;
   }
   return where;
}

/* Returns a thread that arrived in the phase before and has not arrived in this one.  It prefers a thread that waits elsewhere, because the chain
 * goes on there, and then a thread that has ended. */
static whereabouts_t find_absent(machine_block_t *block, const machine_mbarrier_t *mbarrier) {
   whereabouts_t found = {.thread = PTX_NONE, .pc = PTX_NONE};
   for (uint32_t t = 0; t < block->threads; t++) {
      if (!mbarrier->arrived_before[t] || mbarrier->arrived[t])
         continue;
      const whereabouts_t one = find_thread(block, t);
      if (one.waits_at && one.waits_at != mbarrier)
         return one;
      if (found.thread == PTX_NONE || (one.ended && !found.ended))
         found = one;
   }
   return found;
}

static uint32_t rank_of(const machine_mbarrier_t *mbarrier, const whereabouts_t *absent) {
   if (!mbarrier->pending)
      return BYTES_ARE_MISSING;
   if (absent->thread != PTX_NONE && !absent->ended && absent->pc != PTX_NONE && absent->waits_at != mbarrier)
      return WAITS_FOR_ANOTHER;
   return absent->thread != PTX_NONE || mbarrier->pending < mbarrier->expected ? SOME_ARE_MISSING
                                                                               : NOBODY_CAME;
}

static void describe_missing(const machine_block_t *block, const machine_mbarrier_t *mbarrier,
                             const whereabouts_t *absent, char *out, size_t size) {
   size_t length = 0;
   uint32_t thread[3];
   out[0] = '\0';
   if (mbarrier->pending) {
      length +=
         (size_t)snprintf(out, size, "%u of %u arrivals are missing", mbarrier->pending, mbarrier->expected);
      if (absent->thread != PTX_NONE && length < size) {
         machine_thread_index(block, absent->thread, thread);
         length +=
            (size_t)snprintf(out + length, size - length,
                             ", that of thread (%u, %u, %u), which came in the phase before%s, among them",
                             thread[0], thread[1], thread[2], absent->ended ? " and has ended" : "");
      }
   }
   if (mbarrier->announced > 0 && length < size)
      snprintf(
         out + length, size - length,
         "%s%lld of %llu bytes are missing that expect_tx announced, last in line %u: no copy brings them",
         length ? ", and " : "", (long long)mbarrier->announced, (unsigned long long)mbarrier->expect_bytes,
         machine_source_line(block->launch->program, mbarrier->expect_pc));
   else if (mbarrier->announced < 0 && length < size)
      snprintf(out + length, size - length, "%scopies brought %lld bytes more than expect_tx announced",
               length ? ", and " : "", -(long long)mbarrier->announced);
}

/* The lines in which other lanes wait at other mbarriers. */
static void describe_others(const await_t *waits, uint32_t count, const await_t *root, char *out,
                            size_t size) {
   size_t length = 0;
   uint32_t line = 0;
   out[0] = '\0';
   for (uint32_t n = 0; n < count && length < size; n++) {
      const uint32_t at = machine_source_line(waits[n].warp->program, waits[n].pc);
      if (waits[n].mbarrier == root->mbarrier || at == line)
         continue;
      line = at;
      length += (size_t)snprintf(out + length, size - length, "%s line %u at byte %u",
                                 length ? "," : "; others wait in", at,
                                 machine_own_byte(root->warp->block, waits[n].mbarrier->offset));
   }
}

/* Names the other side of such a wait: a thread that does not arrive, or the thread that announced the bytes, or the thread that initialised the
 * object with the number of arrivals. */
static void name_other(rkb_machine_finding_t *finding, const machine_block_t *block,
                       const machine_mbarrier_t *mbarrier, const whereabouts_t *absent) {
   if (absent->thread != PTX_NONE && absent->pc != PTX_NONE)
      machine_find_other_at(finding, block, absent->thread, absent->pc,
                            "the other came in the phase before, and now waits itself");
   else if (absent->thread != PTX_NONE)
      machine_find_other_at(finding, block, absent->thread, machine_end_of_thread(block, absent->thread),
                            "the other came in the phase before, and has ended since");
   else if (!mbarrier->pending && mbarrier->announced > 0)
      machine_find_other_at(finding, block, mbarrier->expect_thread, mbarrier->expect_pc,
                            "the other announced bytes, and no copy brings all of them");
   else
      machine_find_other_at(
         finding, block, mbarrier->init_thread, mbarrier->init_pc,
         mbarrier->pending < mbarrier->expected ? "the other initialised it for more arrivals than come"
         : mbarrier->pending                    ? "the other initialised it, and nobody arrives in this phase"
                             : "the other initialised it; more bytes come than are announced");
}

static void report_stuck(machine_block_t *block, const await_t *waits, uint32_t count) {
   const await_t *root = NULL;
   whereabouts_t absent = {.thread = PTX_NONE};
   uint32_t best = 0;
   char missing[240], others[100];
   for (uint32_t n = 0; n < count; n++) {
      const whereabouts_t one = find_absent(block, waits[n].mbarrier);
      const uint32_t rank = rank_of(waits[n].mbarrier, &one);
      if (root && rank <= best)
         continue;
      root = &waits[n];
      absent = one;
      best = rank;
   }
   if (!root)
      return;
   const machine_mbarrier_t *mbarrier = root->mbarrier;
   describe_missing(block, mbarrier, &absent, missing, sizeof missing);
   describe_others(waits, count, root, others, sizeof others);
   root->warp->pc = root->pc;
   rkb_machine_finding_t *finding =
      machine_find(root->warp, RKB_MACHINE_REJECT, "sync.deadlock", root->lane,
                   "waits for phase %u of the mbarrier at byte %u of shared memory, which line %u initialised and which never "
                   "completes: %s%s",
                   root->awaited - mbarrier->first - 1, machine_own_byte(block, mbarrier->offset),
                   machine_source_line(root->warp->program, mbarrier->init_pc), missing, others);
   machine_find_within_block(finding);
   name_other(finding, block, mbarrier, &absent);
}

/* Lanes that wait at the barrier of the cluster. */
static bool report_cluster(machine_block_t *block) {
   for (uint32_t w = 0; w < block->warp_count; w++)
      for (uint32_t n = 0; n < block->warps[w].fragment_count; n++)
         if (block->warps[w].fragments[n].stalled) {
            block->warps[w].pc = block->warps[w].fragments[n].pc;
            machine_cluster_stuck(&block->warps[w], block->warps[w].fragments[n].mask);
            return true;
         }
   return false;
}

bool machine_mbarriers_stuck(machine_block_t *block) {
   await_t waits[MOST_WAITS];
   uint32_t count = 0;
   if (!block->mbarriers)
      return false;
   if (gather(block, waits, &count) && !count)
      return report_cluster(block);
   report_stuck(block, waits, count);
   block->run->stop = true;
   return true;
}

bool machine_mbarriers_hold_up(machine_warp_t *warp, uint32_t absent) {
   bool held = false;
   for (uint32_t n = 0; n < warp->fragment_count && warp->block->overtakes; n++) {
      const machine_fragment_t *f = &warp->fragments[n];
      held |= f->stalled && f->mask & absent && warp->program->code[f->pc].operation < MBARRIER_CLUSTER_WAIT;
   }
   return held && machine_mbarriers_stuck(warp->block);
}
