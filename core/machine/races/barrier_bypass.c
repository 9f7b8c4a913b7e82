/* Barriers that some threads bypass.  An aligned barrier in conditional code requires the condition to be the
 * same for the whole block (PTX ISA 9.0, 9.7.13.1; CUDA C++ Programming Guide, 'Synchronization Functions').
 * But a barrier does not wait for threads that exit before it, so a bypassed barrier looks complete once they
 * have exited.  The place from which they exited tells an early return from a bypassed barrier
 * (docs/decisions/barriers-and-exited-threads.md).  Runs on the machine's thread, when all threads of a
 * barrier have arrived. */
#include "machine/state/execution.h"

#include <stdlib.h>

static const machine_fragment_t *waiting_fragment(const machine_warp_t *warp, uint32_t barrier) {
   for (uint32_t n = 0; n < warp->fragment_count; n++)
      if (warp->fragments[n].waiting && warp->fragments[n].barrier == barrier)
         return &warp->fragments[n];
   return NULL;
}

/* Whether control can get from one basic block to another of the same function.  A basic block reaches itself
 * only by a loop. */
static bool reaches(const machine_program_t *program, uint32_t from, uint32_t to, uint32_t *stack,
                    bool *seen) {
   uint32_t top = 0;
   memset(seen, 0, program->block_count);
   stack[top++] = from;
   while (top) {
      const uint32_t block = stack[--top];
      uint32_t next;
      for (uint32_t k = 0; (next = machine_successor(program, block, k)) != PTX_NONE; k++) {
         if (next == to)
            return true;
         if (!seen[next]) {
            seen[next] = true;
            stack[top++] = next;
         }
      }
   }
   return false;
}

/* Whether the threads that wait at the barrier reach this basic block after the barrier and never before
 * it. */
static bool only_after(const machine_program_t *program, uint32_t block, uint32_t barrier_block) {
   uint32_t *stack = malloc((size_t)(program->block_count + 1) * (sizeof *stack + sizeof(bool)));
   if (!stack)
      return false;
   bool *seen = (bool *)(stack + program->block_count + 1);
   const bool after = block != barrier_block && reaches(program, barrier_block, block, stack, seen) &&
                      !reaches(program, block, barrier_block, stack, seen);
   free(stack);
   return after;
}

static bool leads_to_exit(const machine_program_t *program, uint32_t block) {
   for (uint32_t steps = 0; block != PTX_NONE && steps < 4; steps++) {
      const machine_block_info_t *info = &program->blocks[block];
      if (!info->passing)
         return false;
      const uint32_t kind = program->code[info->first + info->count - 1].kind;
      if (kind == MACHINE_RETURN || kind == MACHINE_EXIT)
         return true;
      block = machine_successor(program, block, 0);
   }
   return false;
}

/* Whether the kernel's last statement is `if (condition) barrier;`: the condition guards the barrier and
 * nothing else. */
static bool guards_only(const machine_program_t *program, uint32_t block, uint32_t barrier_block) {
   const machine_block_info_t *info = &program->blocks[barrier_block];
   for (uint32_t n = info->first; n + 1 < info->first + info->count; n++)
      if (program->code[n].kind != MACHINE_NOTHING)
         return false;
   bool direct = false;
   uint32_t next;
   for (uint32_t k = 0; (next = machine_successor(program, block, k)) != PTX_NONE; k++)
      direct |= next == barrier_block;
   return direct && leads_to_exit(program, machine_successor(program, barrier_block, 0));
}

static bool went_round(machine_run_t *run, const machine_program_t *program, uint32_t left,
                       uint32_t barrier_block) {
   machine_bypass_t *known = &run->bypasses[(left * 31 + barrier_block) % MACHINE_BYPASSES];
   if (known->program != program || known->left != left || known->barrier_block != barrier_block)
      *known = (machine_bypass_t){program, left, barrier_block,
                                  only_after(program, left, barrier_block) ||
                                     guards_only(program, left, barrier_block)};
   return known->went_round;
}

static void report(machine_warp_t *waiting, const machine_fragment_t *f, const machine_warp_t *gone,
                   uint32_t lane) {
   const machine_program_t *program = waiting->program;
   const machine_instruction_t *from = &program->code[program->blocks[gone->left[lane]].first];
   const ptx_place_t *place = &program->module->functions[from->function].statements[from->statement].place;
   uint32_t thread[3];
   machine_thread_index(gone->block, gone->first_thread + lane, thread);
   waiting->pc = f->pc;
   rkb_machine_finding_t *finding = machine_find(
      waiting, RKB_MACHINE_REJECT, "sync.barrier", (uint32_t)__builtin_ctz(f->mask),
      "thread (%u, %u, %u) goes round this barrier and leaves the kernel from line %u; the condition of a barrier "
      "must be the same for the whole block",
      thread[0], thread[1], thread[2], place->line ? place->line : place->ptx_line);
   machine_find_other(finding, gone->block, gone->first_thread + lane);
}

/* Checks where the lanes of a warp exited against the place where threads of the block wait.  False after a
 * finding. */
static bool check_warp(machine_warp_t *waiting, const machine_fragment_t *f, const machine_warp_t *warp) {
   const machine_program_t *program = waiting->program;
   const uint32_t barrier_block = program->code[f->depth ? f->returns[0] - 1 : f->pc].block,
                  threads = warp->block->cluster.threads - warp->place * LANES;
   uint32_t exited = ~warp->alive & (threads >= LANES ? FULL_MASK : (1u << threads) - 1);
   for (; exited; exited &= exited - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(exited);
      if (went_round(warp->run, program, warp->left[lane], barrier_block)) {
         report(waiting, f, warp, lane);
         return false;
      }
   }
   return true;
}

void machine_barrier_bypassed(machine_block_t *block, uint32_t rank, uint32_t barrier) {
   machine_warp_t *waiting = NULL, *warps = machine_warps_of(block, rank);
   const machine_fragment_t *f = NULL;
   for (uint32_t w = 0; w < block->cluster.warps; w++) {
      machine_warp_t *warp = &warps[w];
      const machine_fragment_t *own = waiting_fragment(warp, barrier);
      if (own && !(warp->program->code[own->pc].flags & FLAG_ALIGNED))
         return;
      /* A barrier with a count is for the warps that come to it, from whatever place.  So only their own
       * lanes are checked. */
      if (own && own->barrier_threads && !check_warp(warp, own, warp))
         return;
      if (own && !own->barrier_threads) {
         waiting = warp;
         f = own;
      }
   }
   for (uint32_t w = 0; f && w < block->cluster.warps; w++)
      if (!check_warp(waiting, f, &warps[w]))
         return;
}
