/* Runs one warp: dispatches instructions for 32 lanes, and keeps diverged lanes apart as fragments.  The fragment of lowest rank runs first.  Runs until each
 * fragment waits at a barrier or is done, or until the warp has used its quantum.  Compiled for plain x86-64 and for x86-64-v3, as the handlers are: it counts
 * lanes and shifts for each instruction.  On the machine's thread. */
#include "machine/clocks/shared_signals.h"
#include "machine/async/warpgroups.h"
#include "machine/access/values.h"
#include "machine/execute/interruptions.h"
#include "machine/execute/named_lanes.h"
#include "machine/execute/register_operations.h"
#include "machine/state/decisions.h"
#include "machine/state/loop_turns.h"
#include "machine/state/recording.h"

#define QUANTUM 400000u /* instructions after which the other warps get a turn */
/* How many instructions one fragment may execute before another fragment that could run gets a turn; STRONG_PATIENCE: accesses of the kind that a
 * waiting lane makes.  The numbers are large, because lanes that run alone may miss each other at a shuffle. */
#define PATIENCE 4000000u

/* The loop ---------------------------------------------------------------------------------------------------- */

static void count_block(machine_warp_t *warp, machine_fragment_t *f, const machine_instruction_t *i) {
   machine_run_t *run = warp->run;
   const uint32_t mask = f->mask;
   const machine_block_info_t *info = &warp->program->blocks[i->block];
   if (run->decisions)
      machine_decisions_enter(warp, i->block, f->last);
   if (run->counts_loops)
      machine_loops_enter(warp, i->block, f->last);
   f->last = info->passing ? f->last : i->block;
   const uint32_t lanes = lane_count(mask);
   const uint64_t threads = (uint64_t)info->count * lanes;
   run->counts.block_warps[i->block]++;
   run->counts.block_threads[i->block] += lanes;
   run->work.executed += threads;
   /* An instruction of few lanes takes at least half as long as one of all lanes. */
   run->work.burden += (uint64_t)info->count * (LANES - lanes) / 2 + (uint64_t)info->burden * lanes;
   warp->spin += info->count;
   warp->loads_open &= info->goes_on;
}

/* Whether an instruction works on registers only, so that its guard decides the destination's value and
 * nothing else. */
static inline bool is_plain(const machine_instruction_t *i) {
   return i->kind <= MACHINE_CUSTOM &&
          (i->class <= RKB_CLASS_CONVERT || (i->class == RKB_CLASS_OTHER && i->space != PTX_CONST));
}

/* The lanes for which the guard holds.  Lanes whose guard is undefined are left out, after a finding where
 * the guard decides more than a destination's value. */
static uint32_t guarded(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   uint32_t value = *(const uint32_t *)(warp->registers + warp->program->registers[i->guard].offset);
   uint32_t undefined = mask & ~warp->defined[i->guard];
   const bool plain = is_plain(i);
   if (plain && undefined) {
      /* Whether the destination is written is unknown.  It becomes undefined, and an instruction that uses it
       * makes the finding. */
      warp->defined[i->di] &= ~undefined;
      mask &= ~undefined;
   } else if (undefined) {
      machine_undefined_control(warp, undefined,
                                i->kind == MACHINE_BRANCH ? "a branch" : "whether this instruction runs");
      mask &= ~undefined;
   }
   if (warp->taint && !plain)
      warp->run->report.control_taint |= warp->taint[i->guard];
   return mask & (i->guard_negated ? ~value : value);
}

/* A warp may compute a whole tile although few of its places exist.  At a corner of its domain a right kernel executed 4.9 million instructions,
 * 64 times what the case needs.  It found each element's place by divisions, 2.6 instructions for each multiply-add of its matrix instructions.
 * So INSTRUCTIONS_OF_PRODUCT are allowed for each multiply-add, up to MOST_FOR_PRODUCTS in all.  A warp that only waits makes no products. */
#define INSTRUCTIONS_OF_PRODUCT 4u
#define MOST_FOR_PRODUCTS UINT64_C(8000000)

static inline bool is_hung(const machine_warp_t *warp) {
   const machine_work_t *work = &warp->run->work;
   const uint64_t more = work->products * INSTRUCTIONS_OF_PRODUCT;
   return warp->spin > work->hang_limit &&
          warp->spin - work->hang_limit > (more < MOST_FOR_PRODUCTS ? more : MOST_FOR_PRODUCTS);
}

static void stop_budget(machine_warp_t *warp) {
   warp->run->cut = warp->run->options.block_work != 0;
   if (!warp->run->cut)
      machine_find(warp, RKB_MACHINE_UNKNOWN, "limit.budget", PTX_NONE,
                   "the budget of %llu thread-instructions, or work that costs as much, is used up",
                   (unsigned long long)warp->run->work.budget);
   warp->run->stop = true;
}

static inline __attribute__((always_inline)) void
execute(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask, bool taints, bool shadows) {
   const known_t known = known_of(warp);
   if (i->kind == MACHINE_VALUE)
      run_value(warp, &known, i, mask == warp->alive ? FULL_MASK : mask, taints, shadows);
   else
      i->run(warp, i, mask);
}

/* Whether each register that an operation on registers names is defined in these lanes. */
static bool all_defined(const machine_warp_t *warp, const machine_instruction_t *i, uint32_t lanes) {
   uint32_t defined =
      warp->defined[i->di] & warp->defined[i->ai] & warp->defined[i->bi] & warp->defined[i->ci];
   for (uint32_t e = 0; e < i->extra_count; e++)
      defined &= warp->defined[warp->program->extras[i->extra + e].number];
   return (lanes & ~defined) == 0;
}

/* Which of its extra registers an operation on registers writes: returns how many, from *first on. */
static uint32_t extra_destinations(const machine_instruction_t *i, uint32_t *first) {
   const bool moves_parts = i->kind == MACHINE_CUSTOM && i->class == RKB_CLASS_INTEGER;
   /* Unpacking writes the others; packing writes the first one. */
   *first = moves_parts && i->operation && i->extra_count ? 1 : 0;
   return i->flags & FLAG_SECOND || (moves_parts && !i->operation) ? i->extra_count != 0
          : i->kind == MACHINE_CUSTOM                              ? i->extra_count - *first
                                                                   : 0;
}

/* The destinations of a guarded instruction depend on the inputs that reach the guard, even when all lanes pass this time, or none. */
static void taint_guarded(machine_warp_t *warp, const machine_instruction_t *i, uint64_t taint) {
   uint32_t first, count = extra_destinations(i, &first);
   if (i->di) /* 0 stands for no register */
      warp->taint[i->di] |= taint;
   for (uint32_t e = first; e < first + count; e++)
      warp->taint[warp->program->extras[i->extra + e].number] |= taint;
   if (i->kind == MACHINE_CUSTOM) /* the operation may write the condition code */
      warp->carry_taint |= taint;
}

/* here: the lanes that come to the instruction; mask: the lanes among them that execute it. */
static __attribute__((noinline)) void execute_guarded(machine_warp_t *warp, const machine_instruction_t *i,
                                                      uint32_t here, uint32_t mask) {
   /* read first: the instruction may overwrite its own guard */
   const uint64_t taint = warp->taint && is_plain(i) ? warp->taint[i->guard] : 0;
   if (taint && !all_defined(warp, i, here)) /* other inputs would leave other registers defined */
      warp->run->report.control_taint |= taint;
   if (mask)
      execute(warp, i, mask, warp->taint, warp->shadow);
   if (taint)
      taint_guarded(warp, i, taint);
}

/* Whether the fragment has to wait for other lanes before this instruction.  resumed: the instruction at which its wait has ended. */
static inline bool waits_for_named(machine_warp_t *warp, machine_fragment_t *f,
                                   const machine_instruction_t *i, uint32_t resumed) {
   return i->kind == MACHINE_CUSTOM && f->mask != warp->alive && warp->pc != resumed &&
          machine_waits_for_named(warp, f, i);
}

/* Where the fragment waited for lanes that it names; PTX_NONE: nowhere. */
static inline uint32_t resume(machine_warp_t *warp, machine_fragment_t *f) {
   const uint32_t resumed = f->named ? f->pc : PTX_NONE;
   warp->lost = f->lost | (f->named & ~warp->alive);
   f->named = f->lost = 0;
   return resumed;
}

/* Executes a fragment's instructions up to the next basic block (false), or up to an instruction that
 * machine_transfer must execute in the lanes of *mask, or that waits for named lanes (true).  Nothing in here adds, ends or moves a
 * fragment.  touches: check registers of warpgroup products in flight.  notes: note decisions.  taints,
 * shadows: the run keeps them. */
static inline __attribute__((always_inline)) bool run_plain(machine_warp_t *warp, machine_fragment_t *f,
                                                            uint32_t *mask, bool touches, bool notes,
                                                            bool taints, bool shadows) {
   const machine_run_t *run = warp->run;
   const machine_instruction_t *code = warp->program->code;
   const known_t known = known_of(warp);
   const uint32_t here = f->mask, values = here == warp->alive ? FULL_MASK : here, resumed = resume(warp, f);
   uint32_t pc = f->pc;
   do {
      const machine_instruction_t *i = &code[pc];
      warp->pc = pc;
      if (!notes && values == FULL_MASK && i->plain) {
         run_plain_value(warp, &known, i, taints, shadows);
         continue;
      }
      uint32_t lanes = here;
      if (i->guard && !(lanes = guarded(warp, i, here)) && (i->kind > MACHINE_CUSTOM || !taints))
         continue;
      if (waits_for_named(warp, f, i, resumed)) {
         f->pc = pc;
         return true;
      }
      if (touches && (i->flags & FLAG_TOUCHES) && lanes)
         machine_warpgroup_touch(warp, i);
      if (i->kind <= MACHINE_CUSTOM) {
         if (i->guard)
            execute_guarded(warp, i, here, lanes);
         else if (i->kind == MACHINE_VALUE)
            run_value(warp, &known, i, values, taints, shadows);
         else
            i->run(warp, i, here);
         if (notes)
            machine_decisions_note(warp, pc, lanes);
      } else if (i->kind != MACHINE_NOTHING) {
         *mask = lanes;
         f->pc = pc;
         return true;
      }
   } while (!code[++pc].block_start && !run->stop);
   f->pc = pc;
   return false;
}

/* The loops of most runs: one for each combination of the data that they keep. */
static bool run_straight(machine_warp_t *warp, machine_fragment_t *f, uint32_t *mask) {
   return warp->shadow  ? warp->taint ? run_plain(warp, f, mask, false, false, true, true)
                                      : run_plain(warp, f, mask, false, false, false, true)
           : warp->taint ? run_plain(warp, f, mask, false, false, true, false)
                        : run_plain(warp, f, mask, false, false, false, false);
}

static bool run_touching(machine_warp_t *warp, machine_fragment_t *f, uint32_t *mask) {
   return warp->shadow  ? run_plain(warp, f, mask, true, false, warp->taint, true)
          : warp->taint ? run_plain(warp, f, mask, true, false, true, false)
                        : run_plain(warp, f, mask, true, false, false, false);
}

static bool run_noted(machine_warp_t *warp, machine_fragment_t *f, uint32_t *mask) {
   return run_plain(warp, f, mask, true, true, warp->taint, warp->shadow);
}

/* The same, but before each instruction it records what the instruction does to values that depend on
 * inputs. */
static bool run_recorded(machine_warp_t *warp, machine_fragment_t *f, uint32_t *mask) {
   const machine_run_t *run = warp->run;
   const uint8_t *kinds = run->record->kinds;
   machine_recorder_t *record = run->isa ? machine_record_v3 : machine_record_portable;
   const machine_instruction_t *code = warp->program->code;
   const uint32_t resumed = resume(warp, f);
   uint32_t pc = f->pc;
   do {
      const machine_instruction_t *i = &code[pc];
      const bool by_value = i->guard && i->kind <= MACHINE_CUSTOM && warp->taint[i->guard];
      warp->pc = pc;
      *mask = f->mask;
      if (waits_for_named(warp, f, i, resumed)) {
         f->pc = pc;
         return true;
      }
      if (by_value)
         record(warp, i, *mask, true);
      if (i->guard && !(*mask = guarded(warp, i, *mask)) && !by_value)
         continue;
      if ((i->flags & FLAG_TOUCHES) && *mask)
         machine_warpgroup_touch(warp, i);
      if (i->kind <= MACHINE_CUSTOM) {
         if (kinds[pc] == RECORD_VALUE && !by_value &&
             !(warp->taint[i->ai] | warp->taint[i->bi] | warp->taint[i->ci] |
               (*mask == warp->alive ? 0 : warp->taint[i->di])))
            warp->stale[i->di] = 1; /* the most frequent case */
         else if (!by_value)
            record(warp, i, *mask, false);
         if (i->guard)
            execute_guarded(warp, i, f->mask, *mask);
         else
            execute(warp, i, *mask, true, warp->shadow);
      } else if (i->kind != MACHINE_NOTHING) {
         f->pc = pc;
         return true;
      }
   } while (!code[++pc].block_start && !run->stop);
   f->pc = pc;
   return false;
}

/* Divides a turn of warps that polled for a whole turn while no block changed anything. */
#define IDLE_SHARE 8u

/* After this many accesses of the kind that a waiting lane makes, a warp lets other warps and blocks go on.  They are enough for a turn of each fragment. */
static uint64_t strong_turn(const machine_warp_t *warp) {
   return 2 * STRONG_PATIENCE * (warp->fragment_count + 1) / (warp->run->idle > 1 ? IDLE_SHARE : 1);
}

static bool gives_way(machine_warp_t *warp, uint32_t fragment) {
   const machine_program_t *program = warp->program;
   return program->blocks[program->code[warp->fragments[fragment].pc].block].interrupts &&
          machine_gives_way(warp->run);
}

void MACHINE_PASTE2(machine_warp_run, MACHINE_ISA)(machine_warp_t *warp) {
   machine_run_t *run = warp->run;
   const machine_instruction_t *code = warp->program->code;
   const uint64_t start = warp->spin, strong_start = warp->strong;
   const bool shares = run->side_by_side || run->left_locked || machine_signals_any(warp->block);
   machine_lanes_join(warp);
   machine_fragments_merge(warp);
   uint32_t current = machine_fragment_next(warp);
   uint64_t since = warp->spin, strong_since = warp->strong;
   uint32_t turns = 0;
   while (current != PTX_NONE && !run->stop) {
      machine_fragment_t *f = &warp->fragments[current];
      const machine_instruction_t *i = &code[f->pc];
      uint32_t mask = 0;
      if (i->block_start) {
         /* Where nothing is interrupted, blocks that are divided run as one.  But lanes that others need may be elsewhere. */
         const machine_block_info_t *info = &warp->program->blocks[i->block];
         const bool goes_on = info->goes_on && !run->interrupted && (warp->fragment_count == 1 || !info->together);
         if (warp->fragment_count > 1 && !goes_on) {
            machine_fragments_merge(warp);
            uint32_t other = machine_fragment_pick(warp, PTX_NONE);
            if (warp->spin - since > PATIENCE || warp->strong - strong_since > STRONG_PATIENCE)
               /* The fragment may spin on something that another lane has yet to do. */
               turns = warp->fragment_count;
            if (turns && warp->apart)
               machine_lanes_lose_patience(warp);
            if (turns) {
               uint32_t next = machine_fragment_pick(warp, other);
               other = next == PTX_NONE ? other : next;
               since = warp->spin;
               strong_since = warp->strong;
               turns--;
            }
            current = other;
            f = &warp->fragments[current];
            i = &code[f->pc];
         } else if (!goes_on) {
            /* No lane can wait for another lane of the warp, so the limits count from where lanes diverge. */
            since = warp->spin;
            strong_since = warp->strong;
         }
         if (run->interrupted) {
            current = machine_lanes_part(warp, current);
            if (current == PTX_NONE || (warp->spin > start && run->idle == 0 && gives_way(warp, current)))
               break;
            f = &warp->fragments[current];
            i = &code[f->pc];
         }
         if (!f->named) /* lanes that go on after a wait are counted */
            count_block(warp, f, i);
         if (run->work.executed + run->work.burden > run->work.budget) {
            stop_budget(warp);
            break;
         }
         if (machine_unasked(run, run->report.control_taint | run->report.address_taint)) {
            /* In a run with values the path may be another one; this path may have no end. */
            run->stop = true;
            break;
         }
         if (is_hung(warp)) {
            machine_stop_hang(warp);
            break;
         }
         if (warp->spin - start > QUANTUM || (shares && warp->strong - strong_start > strong_turn(warp)))
            break;
      }
      if (run->record                 ? run_recorded(warp, f, &mask)
          : run->decisions            ? run_noted(warp, f, &mask)
          : warp->program->warpgroups ? run_touching(warp, f, &mask)
                                      : run_straight(warp, f, &mask)) {
         if (f->named || machine_transfer(warp, current, &code[f->pc], mask)) {
            machine_fragments_merge(warp);
            current = machine_fragment_next(warp);
         }
      }
   }
   machine_fragments_merge(warp);
   warp->state = warp->fragment_count == 0                                           ? WARP_DONE
                 : !warp->apart && machine_fragment_pick(warp, PTX_NONE) == PTX_NONE ? WARP_WAITING
                                                                                     : WARP_READY;
}
