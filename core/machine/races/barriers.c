/* Barriers of a block (PTX ISA 9.0, 9.7.13.1).  A warp at a barrier waits as a fragment.  A barrier is
 * released when all its threads have come: one phase of the barrier is then complete and the next begins.  A
 * phase has exactly as many threads as the barrier's count, in whole warps, or all threads of the block that
 * have not exited.  If no barrier can be released and no warp can run, some threads of a barrier never reach
 * it.  docs/decisions/named-barriers.md says what a phase orders.  On the machine's thread. */
#include "machine/clocks/vector_clocks.h"
#include "machine/races/races.h"

#include <stdio.h>

#define BARRIERS_EACH 16u /* of a block */

/* The warps of the phase that is about to complete. */
struct phase {
   uint32_t here; /* the warps that wait: a bit for each, by place in the block */
   uint32_t any;  /* one of the warps that wait */
   uint32_t expected;
   bool counted, reduces, waits; /* some warp came with a count; by bar.red; by bar.sync */
   bool differs;                 /* warps came with different counts */
};

static uint32_t waiting_lanes(const machine_warp_t *warp, uint32_t barrier) {
   uint32_t lanes = 0;
   for (uint32_t n = 0; n < warp->fragment_count; n++)
      if (warp->fragments[n].waiting && warp->fragments[n].barrier == barrier)
         lanes |= warp->fragments[n].mask;
   return lanes;
}

static uint32_t all_threads(const machine_block_t *block) {
   return block->cluster.warps * LANES;
}

/* A barrier's number among the barriers of all blocks of the cluster, by which the clocks name it. */
static uint32_t among_all(uint32_t rank, uint32_t barrier) {
   return rank * BARRIERS_EACH + barrier;
}

/* Reports a warp that could have come before the barrier's last phase was complete, because nothing orders it after that phase.  In another order
 * of the warps it would belong to that phase. */
static void check_turn(machine_warp_t *warp, uint32_t barrier) {
   const machine_block_t *block = warp->block;
   const uint32_t early =
      block->clocks ? machine_clocks_missing(block, warp->number, among_all(warp->rank, barrier)) : PTX_NONE;
   if (early != PTX_NONE)
      machine_find(
         warp, RKB_MACHINE_REJECT, "sync.barrier", PTX_NONE,
         "warp %u comes to barrier %u in no order with warp %u, which was of the phase before: which warps meet there "
         "depends on which come first",
         warp->place, barrier, early - warp->number + warp->place);
}

void machine_barrier_arrived(machine_warp_t *warp, uint32_t number, uint32_t threads) {
   machine_block_t *block = warp->block;
   machine_barrier_t *barrier = &block->barriers[warp->rank][number];
   if (barrier->arrivals && barrier->expected != threads) {
      machine_find(warp, RKB_MACHINE_REJECT, "sync.barrier", PTX_NONE,
                   "a warp arrives at barrier %u for %u threads, another one for %u", number, threads,
                   barrier->expected);
      return;
   }
   check_turn(warp, number);
   barrier->expected = threads;
   barrier->warps |= 1u << warp->place;
   barrier->arrivals++;
   if (block->clocks)
      machine_clocks_arrive(block, warp->number, among_all(warp->rank, number));
   if (barrier->arrivals * LANES == threads) { /* arrivals alone complete the phase; no warp waits */
      *barrier = (machine_barrier_t){0};
      if (block->clocks)
         machine_clocks_complete(block, among_all(warp->rank, number));
   }
}

static bool is_parted(const machine_warp_t *warp, const machine_fragment_t *f) {
   return f->waiting && (warp->program->code[f->pc].flags & FLAG_ALIGNED) && f->mask != warp->alive;
}

/* Whether not all living lanes of the warp are in one place of an aligned barrier. */
static bool is_parted_at(const machine_warp_t *warp, uint32_t barrier) {
   bool parted = false;
   for (uint32_t n = 0; n < warp->fragment_count; n++)
      parted |= warp->fragments[n].barrier == barrier && is_parted(warp, &warp->fragments[n]);
   return parted;
}

static void report_parted(machine_warp_t *warp, uint32_t barrier) {
   for (uint32_t n = 0; n < warp->fragment_count; n++)
      if (warp->fragments[n].waiting && warp->fragments[n].barrier == barrier) {
         warp->pc = warp->fragments[n].pc;
         uint32_t absent = warp->alive & ~warp->fragments[n].mask;
         machine_find(warp, RKB_MACHINE_REJECT, "sync.barrier",
                      (uint32_t)__builtin_ctz(warp->fragments[n].mask),
                      "lane %d of this warp does not come to the barrier that these lanes wait at",
                      __builtin_ctz(absent ? absent : 1));
         return;
      }
}

/* Checks that the living lanes of each warp wait in one place.  The warps may wait in different places: a barrier is known by its number alone. */
static void check_places(machine_block_t *block, uint32_t rank, uint32_t barrier) {
   for (uint32_t w = 0; w < block->cluster.warps; w++) {
      machine_warp_t *warp = machine_warps_of(block, rank) + w;
      if (is_parted_at(warp, barrier))
         report_parted(warp, barrier);
   }
}

/* bar.red: reduces a predicate over the threads that take part, and gives each of them the result. */
static void reduce(machine_block_t *block, uint32_t rank, uint32_t barrier, uint32_t here) {
   uint32_t count = 0, threads = 0;
   uint64_t taint = 0;
   for (int pass = 0; pass < 2; pass++)
      for (uint32_t w = 0; w < block->cluster.warps; w++) {
         machine_warp_t *warp = machine_warps_of(block, rank) + w;
         for (uint32_t n = 0; n < warp->fragment_count; n++) {
            machine_fragment_t *f = &warp->fragments[n];
            const machine_instruction_t *i = &warp->program->code[f->pc];
            if (!(here >> w & 1) || !f->waiting || f->barrier != barrier || i->operation < BARRIER_COUNT)
               continue;
            if (pass == 0) {
               uint32_t p =
                  *(uint32_t *)(warp->registers + i->c) ^ (i->flags & FLAG_NEGATED_C ? FULL_MASK : 0);
               uint32_t undefined = f->mask & ~warp->defined[i->ci];
               if (undefined) {
                  warp->pc = f->pc;
                  machine_find(warp, RKB_MACHINE_REJECT, "memory.uninitialised",
                               (uint32_t)__builtin_ctz(undefined),
                               "a barrier reduces a predicate that was never given a value");
               }
               count += (uint32_t)__builtin_popcount(p & f->mask);
               threads += (uint32_t)__builtin_popcount(f->mask);
               taint |= warp->taint ? warp->taint[i->ci] : 0;
               continue;
            }
            if (i->operation == BARRIER_COUNT) {
               uint32_t *d = LANES_OF(uint32_t, i->d);
               for (int l = 0; l < LANES; l++)
                  d[l] = f->mask >> l & 1 ? count : d[l];
            } else {
               bool truth = i->operation == BARRIER_AND ? count == threads : count != 0;
               uint32_t *d = (uint32_t *)(warp->registers + i->d);
               *d = (*d & ~f->mask) | (truth ? f->mask : 0);
            }
            warp->defined[i->di] |= f->mask;
            if (warp->taint)
               warp->taint[i->di] |= taint;
            if (warp->valid)
               warp->valid[i->di] &= ~f->mask;
         }
      }
}

static void let_go(machine_warp_t *warp, uint32_t barrier) {
   for (uint32_t n = 0; n < warp->fragment_count; n++) {
      machine_fragment_t *f = &warp->fragments[n];
      if (f->waiting && f->barrier == barrier) {
         f->waiting = false;
         f->pc++;
         warp->parted &= f->mask != warp->alive;
         warp->state = WARP_READY;
      }
   }
}

/* Orders the threads of a phase: everything that they did before they arrived is ordered before everything that the waiting threads do from now
 * on. */
static void order(machine_block_t *block, uint32_t rank, uint32_t barrier, uint32_t here, bool whole_block) {
   const uint32_t number = among_all(rank, barrier), first = rank * block->cluster.warps;
   if (whole_block && block->cluster.blocks == 1) {
      machine_sync_barrier(block);
      block->barrier_time = machine_tick(block);
      block->shared_epoch++;
      machine_shared_new_epoch(block);
      if (block->clocks)
         machine_clocks_reset(block->clocks, block->time);
      if (block->clocks)
         machine_vector_clocks_barrier(block);
      return;
   }
   if (!block->clocks)
      return;
   for (uint32_t left = here; left; left &= left - 1)
      machine_clocks_arrive(block, first + (uint32_t)__builtin_ctz(left), number);
   machine_clocks_leave(block, first, here, number);
   machine_clocks_complete(block, number);
}

static void release(machine_block_t *block, uint32_t rank, uint32_t barrier, uint32_t here,
                    bool whole_block) {
   reduce(block, rank, barrier, here);
   order(block, rank, barrier, here, whole_block);
   for (uint32_t left = here; left; left &= left - 1)
      let_go(machine_warps_of(block, rank) + __builtin_ctz(left), barrier);
   block->barriers[rank][barrier] = (machine_barrier_t){0};
}

static void gather_warp(machine_warp_t *warp, uint32_t barrier, struct phase *phase) {
   for (uint32_t n = 0; n < warp->fragment_count; n++) {
      const machine_fragment_t *f = &warp->fragments[n];
      if (!f->waiting || f->barrier != barrier)
         continue;
      const uint32_t threads = f->barrier_threads ? f->barrier_threads : all_threads(warp->block);
      const bool reduces = warp->program->code[f->pc].operation >= BARRIER_COUNT;
      phase->differs |= phase->here && phase->expected != threads;
      phase->expected = threads;
      phase->counted |= f->barrier_threads != 0;
      phase->reduces |= reduces;
      phase->waits |= !reduces;
      phase->here |= 1u << warp->place;
      phase->any = warp->place;
      warp->pc = f->pc;
   }
}

/* Finds the warps that have arrived.  A warp has arrived once all its lanes that have not exited are at the
 * barrier. *missing: some living lane has not arrived. */
static struct phase gather(machine_block_t *block, uint32_t rank, uint32_t barrier, bool *missing) {
   struct phase phase = {0};
   *missing = false;
   for (uint32_t w = 0; w < block->cluster.warps; w++) {
      machine_warp_t *warp = machine_warps_of(block, rank) + w;
      if (!warp->alive)
         continue;
      if (waiting_lanes(warp, barrier) == warp->alive)
         gather_warp(warp, barrier, &phase);
      else
         *missing |= !(block->barriers[rank][barrier].warps >> w & 1);
   }
   return phase;
}

/* Reports a phase that means different things in different orders of the warps, or that the manual leaves
 * undefined. */
static void check_phase(machine_block_t *block, uint32_t rank, uint32_t barrier, const struct phase *phase,
                        uint32_t come) {
   const machine_barrier_t *arrived = &block->barriers[rank][barrier];
   machine_warp_t *warps = machine_warps_of(block, rank), *warp = &warps[phase->any];
   if (phase->differs || (arrived->arrivals && arrived->expected != phase->expected))
      machine_find(warp, RKB_MACHINE_REJECT, "sync.barrier", PTX_NONE,
                   "warps come to barrier %u with different counts of threads", barrier);
   else if (phase->reduces && (phase->waits || arrived->arrivals))
      machine_find(warp, RKB_MACHINE_REJECT, "sync.barrier", PTX_NONE,
                   "some warps reduce over barrier %u while others only wait or arrive there", barrier);
   else if (phase->counted && come > phase->expected)
      machine_find(
         warp, RKB_MACHINE_REJECT, "sync.barrier", PTX_NONE,
         "%u threads come to barrier %u, which is for %u: which of them meet there depends on which come first",
         come, barrier, phase->expected);
   for (uint32_t left = phase->here; left && !block->run->stop; left &= left - 1)
      check_turn(&warps[__builtin_ctz(left)], barrier);
}

/* Completes a phase whose threads have come; false when they have not, or after a finding. */
static bool complete(machine_block_t *block, uint32_t rank, uint32_t barrier) {
   bool missing;
   const struct phase phase = gather(block, rank, barrier, &missing);
   const uint32_t arrivals = block->barriers[rank][barrier].arrivals,
                  come = ((uint32_t)__builtin_popcount(phase.here) + arrivals) * LANES;
   if (!phase.here || (phase.counted ? come < phase.expected : missing))
      return false;
   check_places(block, rank, barrier);
   machine_barrier_bypassed(block, rank, barrier);
   if (!block->run->stop)
      check_phase(block, rank, barrier, &phase, come);
   if (block->run->stop)
      return false;
   release(block, rank, barrier, phase.here,
           !missing && !arrivals && (!phase.counted || phase.expected == all_threads(block)));
   return true;
}

bool machine_barriers_release(machine_block_t *block) {
   bool any = false;
   uint32_t waited[MOST_CLUSTER] = {0}; /* a bit for each barrier; most kernels use one barrier */
   for (uint32_t w = 0; w < block->warp_count; w++) {
      const machine_warp_t *warp = &block->warps[w];
      for (uint32_t n = 0; n < warp->fragment_count; n++)
         waited[warp->rank] |= warp->fragments[n].waiting ? 1u << warp->fragments[n].barrier : 0;
   }
   for (uint32_t rank = 0; rank < block->cluster.blocks; rank++)
      for (; waited[rank] && !block->run->stop; waited[rank] &= waited[rank] - 1)
         any |= complete(block, rank, (uint32_t)__builtin_ctz(waited[rank]));
   return any && !block->run->stop;
}

/* Reports lanes of a warp that are at different places.  This explains more than a finding about the warps that wait for these lanes. */
static bool report_any_parted(machine_block_t *block) {
   for (uint32_t w = 0; w < block->warp_count; w++)
      for (uint32_t n = 0; n < block->warps[w].fragment_count; n++)
         if (is_parted(&block->warps[w], &block->warps[w].fragments[n])) {
            report_parted(&block->warps[w], block->warps[w].fragments[n].barrier);
            return true;
         }
   return false;
}

void machine_barriers_stuck(machine_block_t *block) {
   block->run->stop |= report_any_parted(block);
   for (uint32_t w = 0; w < block->warp_count && !block->run->stop; w++) {
      machine_warp_t *warp = &block->warps[w];
      for (uint32_t n = 0; n < warp->fragment_count && !block->run->stop; n++) {
         machine_fragment_t *f = &warp->fragments[n];
         if (!f->waiting)
            continue;
         warp->pc = f->pc;
         machine_find_within_block(
            machine_find(warp, RKB_MACHINE_REJECT, "sync.deadlock", (uint32_t)__builtin_ctz(f->mask),
                         "warp %u waits at barrier %u for threads that never come", warp->place, f->barrier));
         block->run->stop = true;
      }
   }
}
