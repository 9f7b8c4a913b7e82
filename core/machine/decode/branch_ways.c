/* Follows the ways of a branch through the basic blocks of a program (branch_ways.h). */
#include "machine/decode/branch_ways.h"

/* A thread that traps fails the launch in every order. */
static bool only_traps(const machine_program_t *program, uint32_t block) {
   const machine_block_info_t *info = &program->blocks[block];
   for (uint32_t n = info->first; n < info->first + info->count; n++)
      if (program->code[n].kind == MACHINE_TRAP && !program->code[n].guard)
         return true;
   return false;
}

uint32_t machine_way_next(const machine_program_t *program, uint32_t block, uint32_t k) {
   uint32_t next;
   for (uint32_t n = 0; (next = machine_successor(program, block, n)) != PTX_NONE; n++)
      if (!only_traps(program, next) && k-- == 0)
         return next;
   return PTX_NONE;
}

/* Gathers the blocks to which the ways of a branch lead before they come to `meet`.  False where a way ends before, or where there are too many. */
static bool gather(machine_way_search_t *s, uint32_t branch, uint32_t meet, machine_ways_t *ways) {
   ways->count = 0;
   ways->branch = branch;
   ways->meet = meet;
   s->number++;
   uint32_t at = branch, next;
   for (uint32_t done = 0;; at = ways->blocks[done++]) {
      if (machine_way_next(s->program, at, 0) == PTX_NONE)
         return false;
      for (uint32_t k = 0; (next = machine_way_next(s->program, at, k)) != PTX_NONE; k++) {
         if (next == meet || s->marked[next] == s->number)
            continue;
         if (ways->count == MOST_WAYS)
            return false;
         s->marked[next] = s->number;
         ways->blocks[ways->count++] = next;
      }
      s->steps++;
      if (done == ways->count)
         return true;
   }
}

bool machine_ways_find(machine_way_search_t *s, uint32_t branch, machine_ways_t *best) {
   uint32_t near[MOST_WAYS], count = 0, next;
   bool found = false;
   uint32_t at = branch;
   for (uint32_t done = 0; count < MOST_WAYS; at = near[done++]) {
      for (uint32_t k = 0; count < MOST_WAYS && (next = machine_way_next(s->program, at, k)) != PTX_NONE; k++) {
         bool known = false;
         for (uint32_t n = 0; n < count; n++)
            known |= near[n] == next;
         if (!known)
            near[count++] = next;
      }
      if (done == count)
         break;
   }
   for (uint32_t n = 0; n < count; n++) {
      machine_ways_t ways;
      if (near[n] != branch && gather(s, branch, near[n], &ways) && (!found || ways.count < best->count)) {
         *best = ways;
         found = true;
      }
   }
   return found;
}

bool machine_is_between(const machine_ways_t *ways, uint32_t block) {
   for (uint32_t n = 0; n < ways->count; n++)
      if (ways->blocks[n] == block)
         return true;
   return false;
}

static bool has_test(const machine_program_t *program, uint32_t block) {
   for (uint32_t n = 0; n < program->blocks[block].count; n++)
      if (machine_is_test(&program->code[program->blocks[block].first + n]))
         return true;
   return false;
}

bool machine_way_avoids_tests(machine_way_search_t *s, const machine_ways_t *ways, uint32_t block) {
   uint32_t height = 0, next;
   if (block == ways->meet)
      return true;
   s->number++;
   s->stack[height++] = block;
   s->marked[block] = s->number;
   while (height) {
      const uint32_t at = s->stack[--height];
      s->steps++;
      for (uint32_t k = 0; !has_test(s->program, at) && (next = machine_way_next(s->program, at, k)) != PTX_NONE; k++) {
         if (next == ways->meet)
            return true;
         if (s->marked[next] != s->number) {
            s->marked[next] = s->number;
            s->stack[height++] = next;
         }
      }
   }
   return false;
}

