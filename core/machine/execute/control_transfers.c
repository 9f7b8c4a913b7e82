/* Executes the instructions that end a warp's straight run: branches, calls, returns, exits and barriers.
 * Splits lanes into fragments and joins fragments.  On the machine's thread. */
#include "machine/async/warpgroups.h"
#include "machine/in_flight/cluster_barrier.h"
#include "machine/in_flight/mbarriers.h"
#include "machine/state/execution.h"

/* Fragments ------------------------------------------------------------------------------------------------ */

static void remove_fragment(machine_warp_t *warp, uint32_t n) {
   warp->fragments[n] = warp->fragments[--warp->fragment_count];
}

static void add_fragment(machine_warp_t *warp, const machine_fragment_t *like, uint32_t pc, uint32_t mask) {
   /* there is room: masks are disjoint, so there is at most one fragment for each lane */
   machine_fragment_t *f = &warp->fragments[warp->fragment_count++];
   *f = *like;
   f->pc = pc;
   f->mask = mask;
}

/* Control flow ---------------------------------------------------------------------------------------------- */

static void copy_arguments(machine_warp_t *warp, uint32_t mask, uint32_t first, uint32_t count) {
   machine_run_t *run = warp->run;
   const uint32_t *triple = warp->program->call_arguments + 3 * first;
   for (; count; count--, triple += 3)
      for (uint32_t l = 0; l < LANES; l++) {
         if (!(mask >> l & 1))
            continue;
         uint64_t frame = (uint64_t)(warp->first_thread + l) * warp->program->frame_bytes;
         memmove(run->local + frame + triple[1], run->local + frame + triple[0], triple[2]);
         memmove(run->local_defined + frame + triple[1], run->local_defined + frame + triple[0], triple[2]);
         if (run->local_shadow)
            memmove(run->local_shadow + ((frame + triple[1]) >> 2),
                    run->local_shadow + ((frame + triple[0]) >> 2), ((triple[2] + 3) >> 2) * sizeof(double));
      }
}

static void exit_lanes(machine_warp_t *warp, uint32_t fragment, uint32_t mask) {
   warp->alive &= ~mask;
   machine_cluster_exit(warp, mask);
   for (uint32_t l = 0; l < LANES; l++)
      warp->left[l] = mask >> l & 1 ? warp->fragments[fragment].last : warp->left[l];
   warp->fragments[fragment].mask &= ~mask;
   warp->fragments[fragment].pc++;
   if (!warp->fragments[fragment].mask)
      remove_fragment(warp, fragment);
}

static void call_function(machine_warp_t *warp, machine_fragment_t *f, const machine_instruction_t *i,
                          uint32_t mask) {
   if (mask != f->mask) { /* a guarded call: the other lanes go on after it */
      add_fragment(warp, f, f->pc + 1, f->mask & ~mask);
      f->mask = mask;
   }
   bool recursive = false;
   for (uint32_t n = 0; n < f->depth; n++)
      recursive |= warp->program->code[f->returns[n] - 1].target == i->target;
   if (f->depth == sizeof f->returns / sizeof f->returns[0] || recursive) {
      machine_find(warp, RKB_MACHINE_UNKNOWN, recursive ? "unsupported.recursion" : "unsupported.call_depth",
                   PTX_NONE, "calls that recurse, or more than 8 deep, are not executed by the machine");
      warp->run->stop = true;
      return;
   }
   copy_arguments(warp, mask, i->extra, i->extra_count);
   f->returns[f->depth++] = f->pc + 1;
   f->pc = i->target;
}

static void return_from(machine_warp_t *warp, uint32_t fragment, uint32_t mask) {
   machine_fragment_t *f = &warp->fragments[fragment];
   if (f->depth == 0) {
      exit_lanes(warp, fragment, mask);
      return;
   }
   if (mask != f->mask) {
      add_fragment(warp, f, f->pc + 1, f->mask & ~mask);
      f->mask = mask;
   }
   f->pc = f->returns[--f->depth];
   const machine_instruction_t *call = &warp->program->code[f->pc - 1];
   f->last = call->block;
   copy_arguments(warp, mask, (uint32_t)call->immediate, call->elements);
}

static void branch_by_index(machine_warp_t *warp, uint32_t fragment, const machine_instruction_t *i,
                            uint32_t mask) {
   machine_fragment_t from = warp->fragments[fragment];
   const uint32_t *index = LANES_OF(uint32_t, i->a);
   if (machine_undefined_control(warp, mask & ~warp->defined[i->ai], "the index of a branch"))
      return;
   if (warp->taint)
      warp->run->report.control_taint |= warp->taint[i->ai];
   remove_fragment(warp, fragment);
   if (from.mask & ~mask)
      add_fragment(warp, &from, from.pc + 1, from.mask & ~mask);
   for (uint32_t l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      if (index[l] >= i->extra_count) {
         machine_find(warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", l,
                      "index %u is past the %u targets of a branch", index[l], i->extra_count);
         return;
      }
      uint32_t same = 0;
      for (uint32_t k = l; k < LANES; k++)
         same |= (uint32_t)(index[k] == index[l]) << k;
      same &= mask;
      add_fragment(warp, &from, warp->program->branch_targets[i->target + index[l]], same);
      mask &= ~same;
   }
}

static bool arrive_at_barrier(machine_warp_t *warp, machine_fragment_t *f, const machine_instruction_t *i,
                              uint32_t mask);

/* Executes an instruction that waits; false: it stalls, and is executed again. */
static bool wait_passes(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   if (i->operation == MBARRIER_CLUSTER_WAIT)
      return (i->flags & FLAG_ALIGNED && machine_mbarriers_hold_up(warp, warp->alive & ~mask)) ||
             machine_cluster_wait(warp, i, mask);
   if (i->operation != WARPGROUP_WAIT)
      return machine_mbarrier_test(warp, i, mask);
   if (machine_warpgroup_is_ahead(warp, (uint32_t)i->immediate))
      return false;
   i->run(warp, i, mask);
   return true;
}

/* Executes an instruction that may move lanes to another place.  True when the loop must choose a fragment
 * anew. */
bool machine_transfer(machine_warp_t *warp, uint32_t fragment, const machine_instruction_t *i,
                      uint32_t mask) {
   machine_fragment_t *f = &warp->fragments[fragment];
   switch (i->kind) {
   case MACHINE_BRANCH:
      if (mask == f->mask) {
         f->pc = i->target;
         return warp->fragment_count > 1;
      }
      add_fragment(warp, f, i->target, mask);
      f->mask &= ~mask;
      f->pc++;
      return true;
   case MACHINE_BRANCH_INDEX:
      branch_by_index(warp, fragment, i, mask);
      return true;
   case MACHINE_CALL:
      call_function(warp, f, i, mask);
      return true;
   case MACHINE_RETURN:
      return_from(warp, fragment, mask);
      return true;
   case MACHINE_EXIT:
      exit_lanes(warp, fragment, mask);
      return true;
   case MACHINE_TRAP:
      machine_find(warp, RKB_MACHINE_REJECT, "plan.trap", (uint32_t)__builtin_ctz(mask),
                   "the kernel stops itself here (trap or a failed assertion), which fails the launch");
      warp->run->stop = true;
      return true;
   case MACHINE_BARRIER:
      return arrive_at_barrier(warp, f, i, mask);
   case MACHINE_WAIT:
      f->stalled = !wait_passes(warp, i, mask);
      f->pc += !f->stalled;
      return f->stalled;
   default:
      f->pc++;
      return false;
   }
}

static bool same_for_all(const machine_warp_t *warp, uint32_t at, uint32_t mask) {
   const uint32_t *word = LANES_OF(uint32_t, at), one = word[__builtin_ctz(mask)];
   uint32_t different = 0;
   for (uint32_t l = 0; l < LANES; l++)
      different |= mask >> l & 1 ? word[l] ^ one : 0;
   return different == 0;
}

/* Lanes that wait at a barrier become a fragment of their own; bar.arrive goes on at once. */
static bool arrive_at_barrier(machine_warp_t *warp, machine_fragment_t *f, const machine_instruction_t *i,
                              uint32_t mask) {
   machine_block_t *block = warp->block;
   if (machine_undefined_control(warp, mask & ~(warp->defined[i->ai] & warp->defined[i->bi]),
                                 "a barrier's number"))
      return true;
   if (warp->taint)
      warp->run->report.control_taint |= warp->taint[i->ai] | warp->taint[i->bi];
   uint32_t lane = (uint32_t)__builtin_ctz(mask);
   uint32_t number = LANES_OF(uint32_t, i->a)[lane], threads = i->bi ? LANES_OF(uint32_t, i->b)[lane] : 0;
   if (!same_for_all(warp, i->a, mask) || (i->bi && !same_for_all(warp, i->b, mask))) {
      machine_find(warp, RKB_MACHINE_REJECT, "sync.barrier", lane,
                   "lanes of this warp come to barriers of different numbers or counts at once");
      return true;
   }
   if (number >= 16 || threads % LANES || threads > block->warp_count * LANES ||
       (!threads && i->operation == BARRIER_ARRIVE)) {
      machine_find(warp, RKB_MACHINE_REJECT, "sync.barrier", lane,
                   "barrier %u for %u threads: numbers go to 15, counts are multiples of 32 up to the block",
                   number, threads);
      return true;
   }
   warp->run->counts.measured_barriers++;
   if (i->operation == BARRIER_ARRIVE) {
      if (mask != f->mask || mask != warp->alive)
         machine_find(warp, RKB_MACHINE_REJECT, "sync.barrier", lane,
                      "only part of a warp arrives at barrier %u", number);
      machine_barrier_arrived(warp, number, threads);
      f->pc++;
      return false;
   }
   if (mask != f->mask) {
      if (i->flags & FLAG_ALIGNED) {
         machine_find(
            warp, RKB_MACHINE_REJECT, "sync.barrier", lane,
            "lane %d of this warp does not take part in the barrier: the condition of an aligned barrier must be "
            "the same for the whole warp",
            __builtin_ctz(f->mask & ~mask));
         return true;
      }
      add_fragment(warp, f, f->pc + 1, f->mask & ~mask);
      f->mask = mask;
   }
   f->waiting = true;
   f->barrier = (uint8_t)number;
   f->barrier_threads = threads;
   return true;
}
