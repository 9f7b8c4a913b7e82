/* Finds programs that may see in which order threads reach an mbarrier.  test_wait and try_wait answer whether a phase is complete, a named arrival
 * gives the mbarrier's state, and pending_count reads a count from it.  Where such an answer decides only whether a thread waits again, the thread
 * goes on in the same state in every order.  Everywhere else the program may do other things in another order.
 *
 * Answers are followed through the registers.  A branch on an answer is a mere wait under three conditions: its ways meet again; between the branch and
 * that place a thread only tests mbarriers and computes; and at most one way leads there without a test.  A register that is given a value on these
 * ways may count tests, so nothing but a trap may depend on it.  Programs are not followed further than the limits below; there they count as
 * programs that see the order.  On the thread that decodes. */
#include "machine/decode/branch_ways.h"
#include "machine/decode/operands.h"

#include <stdlib.h>
#include <string.h>

#define MOST_STEPS (UINT64_C(1) << 24) /* instructions and basic blocks that are looked at */

enum { ANSWER = 1, COUNT = 2, STATE = 4 }; /* what a register may hold, a bit each */

typedef struct arrivals {
   const machine_program_t *program;
   uint8_t *holds;   /* by register */
   uint8_t *writers; /* by register: how many instructions write it; 2: two or more */
   uint8_t *varies;  /* by register: among the ways of one branch, it may get another value each time */
   machine_way_search_t search;
   bool changed, seen;
} arrivals_t;

static bool is_move(const machine_program_t *program, const machine_instruction_t *i) {
   const char *opcode = machine_opcode_of(program, i);
   return strncmp(opcode, "mov.", 4) == 0 || strncmp(opcode, "selp.", 5) == 0;
}

/* Whether an instruction works on registers alone. */
static bool computes(const machine_instruction_t *i) {
   return i->kind == MACHINE_NOTHING || (i->kind <= MACHINE_CUSTOM && i->class <= RKB_CLASS_CONVERT);
}

/* Whether operands_of names all that the instruction writes; the condition code is no register. */
static bool is_followed(const machine_program_t *program, const machine_instruction_t *i) {
   return machine_operands_kind(program, i) != RECORD_OTHER && !strstr(machine_opcode_of(program, i), ".cc");
}

/* Extra operands of branches and calls are no registers. */
static machine_operands_t operands_of(const machine_program_t *program, const machine_instruction_t *i) {
   return i->kind <= MACHINE_CUSTOM || i->kind == MACHINE_WAIT
             ? machine_operands(program, i, machine_operands_kind(program, i))
             : (machine_operands_t){.source_count = 0};
}

static bool reads(const machine_program_t *program, const machine_instruction_t *i, uint32_t number) {
   const machine_operands_t list = operands_of(program, i);
   bool read = i->guard == number;
   for (uint32_t n = 0; n < list.source_count; n++)
      read |= list.sources[n] == number;
   return read || (i->kind == MACHINE_BRANCH_INDEX && i->ai == number);
}

/* Whether the instruction gives the register a value in each lane that executes it. */
static bool replaces(const machine_program_t *program, const machine_instruction_t *i, uint32_t number) {
   const machine_operands_t list = operands_of(program, i);
   bool written = false;
   for (uint32_t n = 0; n < list.destination_count; n++)
      written |= list.destinations[n] == number;
   return written && !i->guard;
}

/* Whether the value that a register has at the beginning of a block may be read. */
static bool is_needed(arrivals_t *a, uint32_t number, uint32_t block) {
   const machine_program_t *program = a->program;
   uint32_t height = 0;
   a->search.number++;
   a->search.stack[height++] = block;
   a->search.marked[block] = a->search.number;
   while (height) {
      const uint32_t at = a->search.stack[--height],
                     end = program->blocks[at].first + program->blocks[at].count;
      uint32_t n = program->blocks[at].first, next;
      for (; n < end && !replaces(program, &program->code[n], number); n++)
         if (reads(program, &program->code[n], number))
            return true;
      a->search.steps += n + 1 - program->blocks[at].first;
      for (uint32_t k = 0; n == end && (next = machine_way_next(program, at, k)) != PTX_NONE; k++)
         if (a->search.marked[next] != a->search.number) {
            a->search.marked[next] = a->search.number;
            a->search.stack[height++] = next;
         }
   }
   return false;
}

static void hold(arrivals_t *a, uint32_t number, uint8_t what) {
   if (number <= 1 || a->program->registers[number].constant || (a->holds[number] | what) == a->holds[number])
      return;
   a->holds[number] |= what;
   a->changed = true;
}

/* Whether the register's value at the beginning of a turn of a loop among the ways may come from the turn before. */
static bool goes_round(arrivals_t *a, const machine_ways_t *ways, uint32_t number) {
   uint32_t next;
   for (uint32_t n = 0; n < ways->count; n++)
      for (uint32_t k = 0; (next = machine_way_next(a->program, ways->blocks[n], k)) != PTX_NONE; k++)
         if (machine_is_between(ways, next) &&
             a->program->blocks[next].rank <= a->program->blocks[ways->blocks[n]].rank &&
             is_needed(a, number, next))
            return true;
   return false;
}

static uint32_t writers_among(arrivals_t *a, const machine_ways_t *ways, uint32_t number) {
   uint32_t count = 0;
   for (uint32_t n = 0; n < ways->count; n++) {
      const machine_block_info_t *info = &a->program->blocks[ways->blocks[n]];
      for (uint32_t at = info->first; at < info->first + info->count; at++) {
         const machine_operands_t list = operands_of(a->program, &a->program->code[at]);
         for (uint32_t k = 0; k < list.destination_count; k++)
            count += list.destinations[k] == number;
      }
      a->search.steps += info->count;
   }
   return count;
}

/* Whether each thread that comes to the branch comes from this block, or from its end, because a test ends a block. */
static bool is_before_branch(arrivals_t *a, uint32_t block, uint32_t branch) {
   uint32_t next, before = 0;
   for (uint32_t b = 0; b < a->program->block_count && block != branch; b++)
      for (uint32_t k = 0; (next = machine_way_next(a->program, b, k)) != PTX_NONE; k++)
         before += next == branch && (b != block || k > 0);
   a->search.steps += a->program->block_count;
   return block == branch || (before == 0 && machine_way_next(a->program, block, 0) == branch);
}

/* Whether an instruction gives its destinations the same value each time that a thread comes to it between the branch and the meeting place, and
 * the destinations have that value on every way.  Nothing else writes them; or nothing else among the ways does, each thread has come to the
 * instruction before the branch, and its sources stay as they are. */
static bool gives_the_same(arrivals_t *a, const machine_ways_t *ways, const machine_instruction_t *i,
                           const machine_operands_t *list) {
   bool same = computes(i) && !i->guard && is_followed(a->program, i), alone = true;
   for (uint32_t n = 0; n < list->source_count; n++)
      same &= !a->varies[list->sources[n]];
   for (uint32_t n = 0; n < list->destination_count; n++)
      alone &= a->writers[list->destinations[n]] == 1;
   if (!same || alone)
      return same;
   same = is_before_branch(a, i->block, ways->branch);
   for (uint32_t n = 0; n < list->source_count && same; n++)
      same = writers_among(a, ways, list->sources[n]) == 0;
   for (uint32_t n = 0; n < list->destination_count && same; n++)
      same = writers_among(a, ways, list->destinations[n]) == 1;
   return same;
}

/* Sets varies for the registers that instructions among the ways write.  True when one was not set before. */
static bool find_varying(arrivals_t *a, const machine_ways_t *ways) {
   const machine_program_t *program = a->program;
   bool found = false;
   for (uint32_t n = 0; n < ways->count; n++) {
      const machine_block_info_t *info = &program->blocks[ways->blocks[n]];
      for (uint32_t at = info->first; at < info->first + info->count; at++) {
         const machine_operands_t list = operands_of(program, &program->code[at]);
         const bool same = gives_the_same(a, ways, &program->code[at], &list);
         for (uint32_t k = 0; k < list.destination_count && !same; k++) {
            found |= list.destinations[k] > 1 && !a->varies[list.destinations[k]];
            a->varies[list.destinations[k]] = list.destinations[k] > 1;
         }
      }
      a->search.steps += info->count;
   }
   return found;
}

/* Notes registers that may tell afterwards which way a thread went, or how often it went round. */
static void note_counts(arrivals_t *a, const machine_ways_t *ways) {
   const machine_program_t *program = a->program;
   memset(a->varies, 0, program->register_count * sizeof *a->varies);
   a->search.steps += program->register_count / 64;
   while (find_varying(a, ways))
      ;
   for (uint32_t n = 0; n < ways->count; n++) {
      const machine_block_info_t *info = &program->blocks[ways->blocks[n]];
      for (uint32_t at = info->first; at < info->first + info->count; at++) {
         const machine_operands_t list = operands_of(program, &program->code[at]);
         for (uint32_t k = 0; k < list.destination_count; k++) {
            const uint32_t number = list.destinations[k];
            if (a->varies[number] && !(a->holds[number] & COUNT) &&
                (is_needed(a, number, ways->meet) || goes_round(a, ways, number)))
               hold(a, number, COUNT);
         }
      }
   }
}

/* Whether threads only wait between the branch and the meeting place. */
static bool only_waits(const arrivals_t *a, const machine_ways_t *ways) {
   const machine_program_t *program = a->program;
   for (uint32_t n = 0; n < ways->count; n++)
      for (uint32_t k = 0; k < program->blocks[ways->blocks[n]].count; k++) {
         const machine_instruction_t *i = &program->code[program->blocks[ways->blocks[n]].first + k];
         if (!computes(i) && !machine_is_test(i) && i->kind != MACHINE_BRANCH && i->kind != MACHINE_TRAP)
            return false;
      }
   return true;
}

static void follow_branch(arrivals_t *a, const machine_instruction_t *i) {
   machine_ways_t ways = {.count = 0};
   uint32_t without = 0, next;
   if (machine_way_next(a->program, i->block, 1) == PTX_NONE) /* the other way traps */
      return;
   if ((a->holds[i->guard] & (COUNT | STATE)) || !machine_ways_find(&a->search, i->block, &ways) ||
       !only_waits(a, &ways)) {
      a->seen = true;
      return;
   }
   for (uint32_t k = 0; (next = machine_way_next(a->program, i->block, k)) != PTX_NONE; k++)
      without += machine_way_avoids_tests(&a->search, &ways, next);
   a->seen |= without > 1;
   note_counts(a, &ways);
}

/* Follows what the instruction reads into what it writes. */
static void follow(arrivals_t *a, const machine_instruction_t *i) {
   const machine_operands_t list = operands_of(a->program, i);
   const bool arrives = i->kind == MACHINE_CUSTOM && i->class == RKB_CLASS_CONTROL && i->di > 1 &&
                        strncmp(machine_opcode_of(a->program, i), "mbarrier.arrive", 15) == 0;
   uint8_t read = a->holds[i->guard];
   for (uint32_t n = 0; n < list.source_count; n++)
      read |= a->holds[list.sources[n]];
   if (machine_is_test(i)) {
      /* The state of the phase that is waited for is where it belongs. */
      a->seen |= (a->holds[i->ai] | (a->holds[i->bi] & ~STATE)) != 0;
      hold(a, i->di, ANSWER);
   } else if (arrives) {
      a->seen |= read != 0;
      hold(a, i->di, STATE);
   } else if (i->kind == MACHINE_BRANCH) {
      if (a->holds[i->guard])
         follow_branch(a, i);
   } else if (computes(i)) {
      a->seen |= ((read & STATE) && !is_move(a->program, i)) || (read && !is_followed(a->program, i));
      for (uint32_t n = 0; read && n < list.destination_count; n++)
         hold(a, list.destinations[n], read);
   } else if (i->kind != MACHINE_TRAP) {
      a->seen |= (read | (i->kind == MACHINE_BRANCH_INDEX ? a->holds[i->ai] : 0)) != 0;
   }
}

static void count_writers(arrivals_t *a) {
   for (uint32_t n = 0; n < a->program->count; n++) {
      const machine_operands_t list = operands_of(a->program, &a->program->code[n]);
      for (uint32_t k = 0; k < list.destination_count; k++)
         a->writers[list.destinations[k]] += a->writers[list.destinations[k]] < 2;
   }
}

/* Whether the program has answers to follow; *counts: it reads counts too. */
static bool has_answers(const machine_program_t *program, bool *counts) {
   bool any = false;
   for (uint32_t n = 0; n < program->count; n++) {
      const machine_instruction_t *i = &program->code[n];
      any |= machine_is_test(i);
      *counts |= i->kind == MACHINE_CUSTOM && i->class == RKB_CLASS_CONTROL &&
                 strncmp(machine_opcode_of(program, i), "mbarrier.pending_count", 22) == 0;
      any |= i->kind == MACHINE_CUSTOM && i->class == RKB_CLASS_CONTROL && i->di > 1 &&
             strncmp(machine_opcode_of(program, i), "mbarrier.arrive", 15) == 0;
   }
   return any;
}

bool machine_find_seen_arrivals(machine_program_t *program) {
   arrivals_t a = {.program = program, .search = {.program = program}, .changed = true};
   if (!program->asynchronous || !has_answers(program, &a.seen) || a.seen) {
      program->arrivals_seen = a.seen;
      return true;
   }
   a.holds = calloc(3 * (size_t)program->register_count + 1, sizeof *a.holds);
   a.search.marked = calloc(program->block_count + 1, sizeof *a.search.marked);
   a.search.stack = calloc(program->block_count + 1, sizeof *a.search.stack);
   const bool made = a.holds && a.search.marked && a.search.stack;
   if (made) {
      a.writers = a.holds + program->register_count;
      a.varies = a.writers + program->register_count;
      count_writers(&a);
   }
   while (made && a.changed && !a.seen) {
      a.changed = false;
      for (uint32_t n = 0; n < program->count && !a.seen; n++)
         follow(&a, &program->code[n]);
      a.search.steps += program->count;
      a.seen |= a.search.steps > MOST_STEPS;
   }
   program->arrivals_seen = a.seen;
   free(a.holds);
   free(a.search.marked);
   free(a.search.stack);
   return made;
}
