/* Runs one warp: dispatches instructions for 32 lanes, carries definedness, taint and shadows through operations that work
 * lane by lane, and keeps diverged lanes apart as fragments, the one of lowest rank first.  Runs until every fragment
 * waits at a barrier or is done, or the warp has used its quantum without anybody's progress. */
#include "record.h"

#include <stdio.h>

#define QUANTUM 400000u /* instructions before other warps get their turn */
/* What one fragment may execute before another that could run gets its turn: instructions of any kind, or accesses such as
 * a lane makes that waits for another.  Turns are rare because lanes that go on alone may miss each other at a shuffle. */
#define PATIENCE 100000u
#define STRONG_PATIENCE 64u

void machine_shadow_take(machine_warp_t *warp, uint32_t offset, uint32_t number) {
   const uint32_t missing = ~warp->valid[number];
   double *shadow = (double *)(void *)((uint8_t *)warp->shadow + 2 * (size_t)offset);
   const float *value = LANES_OF(float, offset);
   if (missing == FULL_MASK)
      for (int l = 0; l < LANES; l++)
         shadow[l] = value[l];
   else
      for (int l = 0; l < LANES; l++)
         shadow[l] = missing >> l & 1 ? (double)value[l] : shadow[l];
   warp->valid[number] = FULL_MASK;
}

static inline uint32_t defined_operands(const machine_warp_t *warp, const machine_instruction_t *i) {
   uint32_t defined = warp->defined[i->ai] & warp->defined[i->bi] & warp->defined[i->ci];
   if (i->extra_count && !(i->flags & FLAG_SECOND))
      defined &= warp->defined[warp->program->extras[i->extra].number];
   return defined;
}

static inline __attribute__((always_inline)) void run_value(machine_warp_t *warp,
                                                            const machine_instruction_t *i, uint32_t mask) {
   uint32_t defined = defined_operands(warp, i);
   uint64_t taint = 0;
   if (warp->taint) {
      taint = warp->taint[i->ai] | warp->taint[i->bi] | warp->taint[i->ci];
      if (i->extra_count && !(i->flags & FLAG_SECOND))
         taint |= warp->taint[warp->program->extras[i->extra].number];
   }
   if (warp->shadow && i->shadow) {
      machine_shadow_fill(warp, i->a, i->ai);
      if (i->bi)
         machine_shadow_fill(warp, i->b, i->bi);
      if (i->ci)
         machine_shadow_fill(warp, i->c, i->ci);
   }
   i->run(warp, i, mask);
   warp->defined[i->di] = (warp->defined[i->di] & ~mask) | (defined & mask);
   if (warp->taint)
      warp->taint[i->di] = taint | (mask == FULL_MASK ? 0 : warp->taint[i->di]);
   if (warp->shadow) {
      if (i->shadow) {
         i->shadow(warp, i, mask);
         warp->valid[i->di] |= mask;
      } else {
         warp->valid[i->di] &= ~mask;
      }
   }
}

/* Fragments ------------------------------------------------------------------------------------------------ */

static void remove_fragment(machine_warp_t *warp, uint32_t n) {
   warp->fragments[n] = warp->fragments[--warp->fragment_count];
}

static bool same_place(const machine_fragment_t *a, const machine_fragment_t *b) {
   return a->pc == b->pc && a->depth == b->depth && a->waiting == b->waiting &&
          memcmp(a->returns, b->returns, a->depth * sizeof a->returns[0]) == 0;
}

static uint32_t later_block(const machine_warp_t *warp, uint32_t a, uint32_t b) {
   return warp->program->blocks[a].rank > warp->program->blocks[b].rank ? a : b;
}

static void merge_fragments(machine_warp_t *warp) {
   for (uint32_t a = 0; a < warp->fragment_count; a++)
      for (uint32_t b = a + 1; b < warp->fragment_count;) {
         if (same_place(&warp->fragments[a], &warp->fragments[b])) {
            warp->fragments[a].mask |= warp->fragments[b].mask;
            warp->fragments[a].last = later_block(warp, warp->fragments[a].last, warp->fragments[b].last);
            remove_fragment(warp, b);
         } else {
            b++;
         }
      }
}

/* The next fragment to run: deepest call first, then lowest rank.  PTX_NONE when all wait. */
static uint32_t pick_fragment(const machine_warp_t *warp, uint32_t other_than) {
   uint32_t best = PTX_NONE;
   const machine_instruction_t *code = warp->program->code;
   for (uint32_t n = 0; n < warp->fragment_count; n++) {
      const machine_fragment_t *f = &warp->fragments[n], *b = &warp->fragments[best == PTX_NONE ? 0 : best];
      if (f->waiting || n == other_than)
         continue;
      if (best == PTX_NONE || f->depth > b->depth ||
          (f->depth == b->depth && code[f->pc].rank < code[b->pc].rank))
         best = n;
   }
   return best;
}

static void add_fragment(machine_warp_t *warp, const machine_fragment_t *like, uint32_t pc, uint32_t mask) {
   /* at most one a lane: masks are disjoint */
   machine_fragment_t *f = &warp->fragments[warp->fragment_count++];
   *f = *like;
   f->pc = pc;
   f->mask = mask;
}

/* Control flow ---------------------------------------------------------------------------------------------- */

static bool undefined_control(machine_warp_t *warp, uint32_t undefined, const char *what) {
   if (!undefined)
      return false;
   machine_find(warp, RKB_MACHINE_REJECT, "memory.uninitialised", (uint32_t)__builtin_ctz(undefined),
                "%s depends on a value that was never written", what);
   return true;
}

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
   for (uint32_t l = 0; l < LANES; l++)
      warp->left[l] = mask >> l & 1 ? warp->fragments[fragment].last : warp->left[l];
   warp->fragments[fragment].mask &= ~mask;
   warp->fragments[fragment].pc++;
   if (!warp->fragments[fragment].mask)
      remove_fragment(warp, fragment);
}

static void call_function(machine_warp_t *warp, machine_fragment_t *f, const machine_instruction_t *i,
                          uint32_t mask) {
   if (mask != f->mask) { /* a guarded call: the others go on after it */
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
   if (undefined_control(warp, mask & ~warp->defined[i->ai], "the index of a branch"))
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

/* Everything that is no plain operation.  True when the loop must choose a fragment anew. */
static bool control(machine_warp_t *warp, uint32_t fragment, const machine_instruction_t *i, uint32_t mask) {
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
   default:
      f->pc++;
      return false;
   }
}

/* Lanes at a barrier wait as a fragment of their own; bar.arrive goes on at once. */
static bool arrive_at_barrier(machine_warp_t *warp, machine_fragment_t *f, const machine_instruction_t *i,
                              uint32_t mask) {
   machine_block_t *block = warp->block;
   if (undefined_control(warp, mask & ~(warp->defined[i->ai] & warp->defined[i->bi]), "a barrier's number"))
      return true;
   if (warp->taint)
      warp->run->report.control_taint |= warp->taint[i->ai] | warp->taint[i->bi];
   uint32_t lane = (uint32_t)__builtin_ctz(mask);
   uint32_t number = LANES_OF(uint32_t, i->a)[lane], threads = i->bi ? LANES_OF(uint32_t, i->b)[lane] : 0;
   if (number >= 16 || threads % LANES || threads > block->warp_count * LANES) {
      machine_find(warp, RKB_MACHINE_REJECT, "sync.barrier", lane,
                   "barrier %u for %u threads: numbers go to 15, counts are multiples of 32 up to the block",
                   number, threads);
      return true;
   }
   warp->run->measured_barriers++;
   if (i->operation == BARRIER_ARRIVE) {
      machine_barrier_t *barrier = &block->barriers[number];
      if (mask != f->mask || mask != warp->alive)
         machine_find(warp, RKB_MACHINE_REJECT, "sync.barrier", lane,
                      "only part of a warp arrives at barrier %u", number);
      barrier->arrived += LANES;
      barrier->expected = threads;
      if (block->clocks)
         machine_barrier_arrived(warp, number);
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

/* The loop ---------------------------------------------------------------------------------------------------- */

static void count_block(machine_warp_t *warp, machine_fragment_t *f, const machine_instruction_t *i) {
   machine_run_t *run = warp->run;
   const uint32_t mask = f->mask;
   const machine_block_info_t *info = &warp->program->blocks[i->block];
   f->last = info->passing ? f->last : i->block;
   const uint32_t lanes = lane_count(mask);
   const uint64_t threads = (uint64_t)info->count * lanes;
   run->block_warps[i->block]++;
   run->block_threads[i->block] += lanes;
   run->executed += threads;
   warp->spin += info->count;
   warp->loads_open = false;
}

/* An operation on registers alone: a guard decides what is in its destination, and nothing else. */
static inline bool is_plain(const machine_instruction_t *i) {
   return i->kind <= MACHINE_CUSTOM &&
          (i->class <= RKB_CLASS_CONVERT || (i->class == RKB_CLASS_OTHER && i->space != PTX_CONST));
}

/* The share of a guard: which lanes execute.  0 when none, or when the guard is undefined where it matters. */
static uint32_t guarded(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   uint32_t value = *(const uint32_t *)(warp->registers + warp->program->registers[i->guard].offset);
   uint32_t undefined = mask & ~warp->defined[i->guard];
   const bool plain = is_plain(i);
   if (plain && undefined) {
      /* Whether the destination is written is unknown: it becomes undefined, and that is reported where it is used. */
      warp->defined[i->di] &= ~undefined;
      mask &= ~undefined;
   } else if (undefined) {
      undefined_control(warp, undefined,
                        i->kind == MACHINE_BRANCH ? "a branch" : "whether this instruction runs");
      mask &= ~undefined;
   }
   if (warp->taint && !plain)
      warp->run->report.control_taint |= warp->taint[i->guard];
   return mask & (i->guard_negated ? ~value : value);
}

/* A warp that waits for another block through memory would go on if that block ran beside it: blocks run one after the
 * other here, so that much is unknown and not a fault. */
void machine_stop_hang(machine_warp_t *warp) {
   const uint32_t *grid = warp->block->launch->plan->grid;
   if (!warp->run->side_by_side && warp->strong > STRONG_PATIENCE &&
       (uint64_t)grid[0] * grid[1] * grid[2] > 1) {
      machine_find(warp, RKB_MACHINE_UNKNOWN, "unsupported.grid_synchronisation", PTX_NONE,
                   "the block waits on memory, it may be for a block that runs beside it on a device");
      warp->run->stop = true;
      return;
   }
   machine_find(
      warp, RKB_MACHINE_REJECT, "sync.deadlock", PTX_NONE,
      "one warp has executed %llu instructions, far more than the whole case can need: the kernel does not end",
      (unsigned long long)warp->spin);
   warp->run->stop = true;
}

static void stop_budget(machine_warp_t *warp) {
   machine_find(warp, RKB_MACHINE_UNKNOWN, "limit.budget", PTX_NONE,
                "the budget of %llu thread-instructions is used up", (unsigned long long)warp->run->budget);
   warp->run->stop = true;
}

static inline __attribute__((always_inline)) void execute(machine_warp_t *warp,
                                                          const machine_instruction_t *i, uint32_t mask) {
   if (i->kind == MACHINE_VALUE)
      run_value(warp, i, mask == warp->alive ? FULL_MASK : mask);
   else
      i->run(warp, i, mask);
}

/* Every register that an operation on registers names is defined in these lanes, or a constant. */
static bool all_defined(const machine_warp_t *warp, const machine_instruction_t *i, uint32_t lanes) {
   uint32_t defined =
      warp->defined[i->di] & warp->defined[i->ai] & warp->defined[i->bi] & warp->defined[i->ci];
   for (uint32_t e = 0; e < i->extra_count; e++)
      defined &= warp->defined[warp->program->extras[i->extra + e].number];
   return (lanes & ~defined) == 0;
}

/* Which of its extra registers an operation on registers writes: so many from *first on. */
static uint32_t extra_destinations(const machine_instruction_t *i, uint32_t *first) {
   const bool moves_parts = i->kind == MACHINE_CUSTOM && i->class == RKB_CLASS_INTEGER;
   *first =
      moves_parts && i->operation && i->extra_count ? 1 : 0; /* unpacking; packing writes the first one */
   return i->flags & FLAG_SECOND || (moves_parts && !i->operation) ? i->extra_count != 0
          : i->kind == MACHINE_CUSTOM                              ? i->extra_count - *first
                                                                   : 0;
}

/* What a guard decides depends on what the guard depends on, also where it lets all lanes pass this time, or none. */
static void taint_guarded(machine_warp_t *warp, const machine_instruction_t *i, uint64_t taint) {
   uint32_t first, count = extra_destinations(i, &first);
   if (i->di) /* 0 has no register */
      warp->taint[i->di] |= taint;
   for (uint32_t e = first; e < first + count; e++)
      warp->taint[warp->program->extras[i->extra + e].number] |= taint;
   if (i->kind == MACHINE_CUSTOM) /* it may be an operation that writes the condition code */
      warp->carry_taint |= taint;
}

/* here: the lanes that come to the instruction; mask: those of them that execute it. */
static __attribute__((noinline)) void execute_guarded(machine_warp_t *warp, const machine_instruction_t *i,
                                                      uint32_t here, uint32_t mask) {
   /* before it is overwritten, it may be */
   const uint64_t taint = warp->taint && is_plain(i) ? warp->taint[i->guard] : 0;
   if (taint && !all_defined(warp, i, here)) /* with other inputs other registers would be defined */
      warp->run->report.control_taint |= taint;
   if (mask)
      execute(warp, i, mask);
   if (taint)
      taint_guarded(warp, i, taint);
}

/* Executes a fragment's instructions up to the next basic block, which gives false, or up to one that control() must execute
 * in the lanes of *mask.  Nothing in here adds, ends or moves a fragment. */
static bool run_straight(machine_warp_t *warp, machine_fragment_t *f, uint32_t *mask) {
   const machine_run_t *run = warp->run;
   const machine_instruction_t *code = warp->program->code;
   uint32_t pc = f->pc;
   do {
      const machine_instruction_t *i = &code[pc];
      warp->pc = pc;
      *mask = f->mask;
      if (i->guard && !(*mask = guarded(warp, i, *mask)) && (i->kind > MACHINE_CUSTOM || !warp->taint))
         continue;
      if (i->kind <= MACHINE_CUSTOM) {
         if (i->guard)
            execute_guarded(warp, i, f->mask, *mask);
         else
            execute(warp, i, *mask);
      } else if (i->kind != MACHINE_NOTHING) {
         f->pc = pc;
         return true;
      }
   } while (!code[++pc].block_start && !run->stop);
   f->pc = pc;
   return false;
}

/* The same, and what it does to values that inputs reach is written down first. */
static bool run_recorded(machine_warp_t *warp, machine_fragment_t *f, uint32_t *mask) {
   const machine_run_t *run = warp->run;
   const uint8_t *kinds = run->record->kinds;
   machine_recorder_t *record = run->isa ? machine_record_v3 : machine_record_portable;
   const machine_instruction_t *code = warp->program->code;
   uint32_t pc = f->pc;
   do {
      const machine_instruction_t *i = &code[pc];
      const bool by_value = i->guard && i->kind <= MACHINE_CUSTOM && warp->taint[i->guard];
      warp->pc = pc;
      *mask = f->mask;
      if (by_value)
         record(warp, i, *mask, true);
      if (i->guard && !(*mask = guarded(warp, i, *mask)) && !by_value)
         continue;
      if (i->kind <= MACHINE_CUSTOM) {
         if (kinds[pc] == RECORD_VALUE && !by_value &&
             !(warp->taint[i->ai] | warp->taint[i->bi] | warp->taint[i->ci] |
               (*mask == warp->alive ? 0 : warp->taint[i->di])))
            warp->stale[i->di] = 1; /* what most instructions come to */
         else if (!by_value)
            record(warp, i, *mask, false);
         if (i->guard)
            execute_guarded(warp, i, f->mask, *mask);
         else
            execute(warp, i, *mask);
      } else if (i->kind != MACHINE_NOTHING) {
         f->pc = pc;
         return true;
      }
   } while (!code[++pc].block_start && !run->stop);
   f->pc = pc;
   return false;
}

/* Accesses such as a lane makes that waits, after which a warp lets other blocks go on: enough for each fragment to have a turn. */
static uint64_t strong_turn(const machine_warp_t *warp) {
   return 2 * STRONG_PATIENCE * (warp->fragment_count + 1);
}

void machine_warp_run(machine_warp_t *warp) {
   machine_run_t *run = warp->run;
   const machine_instruction_t *code = warp->program->code;
   const uint64_t start = warp->spin, strong_start = warp->strong;
   merge_fragments(warp);
   uint32_t current = pick_fragment(warp, PTX_NONE);
   uint64_t since = warp->spin, strong_since = warp->strong;
   uint32_t turns = 0;
   while (current != PTX_NONE && !run->stop) {
      machine_fragment_t *f = &warp->fragments[current];
      const machine_instruction_t *i = &code[f->pc];
      uint32_t mask;
      if (i->block_start) {
         if (warp->fragment_count > 1) {
            merge_fragments(warp);
            uint32_t other = pick_fragment(warp, PTX_NONE);
            if (warp->spin - since > PATIENCE || warp->strong - strong_since > STRONG_PATIENCE)
               turns = warp->fragment_count; /* spins, it may be, on what another lane has yet to do */
            if (turns) {
               uint32_t next = pick_fragment(warp, other);
               other = next == PTX_NONE ? other : next;
               since = warp->spin;
               strong_since = warp->strong;
               turns--;
            }
            current = other;
            f = &warp->fragments[current];
            i = &code[f->pc];
         }
         count_block(warp, f, i);
         if (run->executed > run->budget) {
            stop_budget(warp);
            break;
         }
         if (warp->spin > run->hang_limit) {
            machine_stop_hang(warp);
            break;
         }
         if (warp->spin - start > QUANTUM ||
             (run->side_by_side && warp->strong - strong_start > strong_turn(warp)))
            break;
      }
      if (run->record ? run_recorded(warp, f, &mask) : run_straight(warp, f, &mask)) {
         if (control(warp, current, &code[f->pc], mask)) {
            merge_fragments(warp);
            current = pick_fragment(warp, PTX_NONE);
         }
      }
   }
   merge_fragments(warp);
   warp->state = warp->fragment_count == 0                   ? WARP_DONE
                 : pick_fragment(warp, PTX_NONE) == PTX_NONE ? WARP_WAITING
                                                             : WARP_READY;
}
