/* Barriers of a block (PTX ISA 9.0, 9.7.13.1).  A warp at a barrier waits as a fragment; when no warp can go on, the barriers
 * whose threads have all come are released.  What remains then is a barrier that not all threads reach. */
#include "machine/races/races.h"

#include <stdio.h>

static uint32_t waiting_lanes(const machine_warp_t *warp, uint32_t barrier) {
   uint32_t lanes = 0;
   for (uint32_t n = 0; n < warp->fragment_count; n++)
      if (warp->fragments[n].waiting && warp->fragments[n].barrier == barrier)
         lanes |= warp->fragments[n].mask;
   return lanes;
}

void machine_barrier_arrived(machine_warp_t *warp, uint32_t barrier) {
   machine_clocks_arrive(warp->block, warp->number, barrier);
}

/* The fragment of a warp at a barrier; NULL when it is not there.  An aligned barrier wants all lanes that are still
 * alive, in one place. */
static machine_fragment_t *whole_warp_at(machine_warp_t *warp, uint32_t barrier, bool *parted) {
   machine_fragment_t *found = NULL;
   for (uint32_t n = 0; n < warp->fragment_count; n++) {
      machine_fragment_t *f = &warp->fragments[n];
      if (!f->waiting || f->barrier != barrier)
         continue;
      const machine_instruction_t *i = &warp->program->code[f->pc];
      if ((i->flags & FLAG_ALIGNED) && f->mask != warp->alive)
         *parted = true;
      found = f;
   }
   return found;
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

/* All threads: each warp in one place, and all warps at the same instruction, as __syncthreads() demands.  Barriers written
 * in inline assembly may stand in different places for different warps. */
static void check_places(machine_block_t *block, uint32_t barrier) {
   uint32_t first = PTX_NONE;
   for (uint32_t w = 0; w < block->warp_count; w++) {
      machine_warp_t *warp = &block->warps[w];
      bool parted = false;
      machine_fragment_t *f = whole_warp_at(warp, barrier, &parted);
      if (!f)
         continue;
      if (parted)
         report_parted(warp, barrier);
      const machine_instruction_t *i = &warp->program->code[f->pc];
      if (first == PTX_NONE) {
         first = f->pc;
      } else if (first != f->pc && !(i->flags & FLAG_INLINE) && (i->flags & FLAG_ALIGNED) &&
                 !f->barrier_threads) {
         warp->pc = f->pc;
         machine_find(
            warp, RKB_MACHINE_REJECT, "sync.barrier", (uint32_t)__builtin_ctz(f->mask),
            "warp %u waits at this barrier while another warp of the block waits at a different one (PTX line %u)",
            w,
            warp->program->module->functions[warp->program->code[first].function]
               .statements[warp->program->code[first].statement]
               .place.ptx_line);
      }
   }
}

/* bar.red: over the threads that take part. */
static void reduce(machine_block_t *block, uint32_t barrier) {
   uint32_t count = 0, threads = 0;
   uint64_t taint = 0;
   for (int pass = 0; pass < 2; pass++)
      for (uint32_t w = 0; w < block->warp_count; w++) {
         machine_warp_t *warp = &block->warps[w];
         for (uint32_t n = 0; n < warp->fragment_count; n++) {
            machine_fragment_t *f = &warp->fragments[n];
            const machine_instruction_t *i = &warp->program->code[f->pc];
            if (!f->waiting || f->barrier != barrier || i->operation < BARRIER_COUNT)
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

static void release(machine_block_t *block, uint32_t barrier, bool whole_block) {
   reduce(block, barrier);
   if (whole_block) {
      machine_sync_barrier(block);
      block->barrier_time = ++block->time;
      machine_shared_new_epoch(block);
      if (block->clocks)
         machine_clocks_reset(block->clocks);
   } else if (block->clocks) {
      for (uint32_t w = 0; w < block->warp_count; w++)
         if (waiting_lanes(&block->warps[w], barrier))
            machine_clocks_arrive(block, w, barrier);
      for (uint32_t w = 0; w < block->warp_count; w++)
         if (waiting_lanes(&block->warps[w], barrier))
            machine_clocks_leave(block, w, barrier);
   }
   for (uint32_t w = 0; w < block->warp_count; w++) {
      machine_warp_t *warp = &block->warps[w];
      for (uint32_t n = 0; n < warp->fragment_count; n++) {
         machine_fragment_t *f = &warp->fragments[n];
         if (f->waiting && f->barrier == barrier) {
            f->waiting = false;
            f->pc++;
            warp->state = WARP_READY;
         }
      }
   }
   block->barriers[barrier] = (machine_barrier_t){0};
}

bool machine_barriers_release(machine_block_t *block) {
   bool any = false;
   uint32_t waited = 0; /* a bit a barrier: most kernels use one */
   for (uint32_t w = 0; w < block->warp_count; w++)
      for (uint32_t n = 0; n < block->warps[w].fragment_count; n++)
         waited |= block->warps[w].fragments[n].waiting ? 1u << block->warps[w].fragments[n].barrier : 0;
   for (; waited; waited &= waited - 1) {
      const uint32_t barrier = (uint32_t)__builtin_ctz(waited);
      uint32_t here = 0, alive = 0, expected = 0, warps = 0;
      bool counted = false;
      for (uint32_t w = 0; w < block->warp_count; w++) {
         machine_warp_t *warp = &block->warps[w];
         uint32_t lanes = waiting_lanes(warp, barrier);
         alive += lane_count(warp->alive);
         here += lane_count(lanes);
         warps += lanes != 0;
         for (uint32_t n = 0; n < warp->fragment_count; n++)
            if (warp->fragments[n].waiting && warp->fragments[n].barrier == barrier &&
                warp->fragments[n].barrier_threads) {
               expected = warp->fragments[n].barrier_threads;
               counted = true;
            }
      }
      if (!warps)
         continue;
      /* A warp counts whole: the barrier's count is in multiples of 32, and exited lanes are not waited for. */
      bool complete = counted ? warps * LANES + block->barriers[barrier].arrived >= expected : here == alive;
      bool whole_block = here == alive && !block->barriers[barrier].arrived;
      if (!complete)
         continue;
      check_places(block, barrier);
      machine_barrier_bypassed(block, barrier);
      if (block->run->stop)
         return false;
      release(block, barrier, whole_block);
      any = true;
   }
   return any;
}

void machine_barriers_stuck(machine_block_t *block) {
   for (uint32_t w = 0; w < block->warp_count; w++) {
      machine_warp_t *warp = &block->warps[w];
      for (uint32_t n = 0; n < warp->fragment_count; n++) {
         machine_fragment_t *f = &warp->fragments[n];
         if (!f->waiting)
            continue;
         warp->pc = f->pc;
         const machine_instruction_t *i = &warp->program->code[f->pc];
         if ((i->flags & FLAG_ALIGNED) && f->mask != warp->alive)
            report_parted(warp, f->barrier);
         else
            machine_find(warp, RKB_MACHINE_REJECT, "sync.deadlock", (uint32_t)__builtin_ctz(f->mask),
                         "warp %u waits at barrier %u for threads that never come", w, f->barrier);
         block->run->stop = true;
         return;
      }
   }
}
