/* Finds programs that may wait for another block, by the shape of their code: a loop with an atomic
 * operation, or with a volatile, relaxed or acquiring load.  A loop of that shape that does not wait costs
 * only turns (execute/resident_blocks.c). */
#include "machine/decode/decoded_program.h"

#include <stdlib.h>
#include <string.h>

/* shared: loads and operations of shared memory count too. */
static bool polls(const machine_program_t *program, const machine_block_info_t *block, bool shared) {
   for (uint32_t n = block->first; n < block->first + block->count; n++) {
      const machine_instruction_t *i = &program->code[n];
      if (i->kind != MACHINE_CUSTOM || !i->element_bytes || (i->space == PTX_SHARED && !shared) ||
          i->space == PTX_LOCAL ||
          ptx_type_is_float(i->type)) /* such a value is data and no signal */
         continue;
      const uint32_t result = i->extra_count ? program->extras[i->extra].number : 0;
      if ((i->class == (i->space == PTX_SHARED ? RKB_CLASS_SHARED : RKB_CLASS_GLOBAL) && (i->flags & (FLAG_VOLATILE | FLAG_RELAXED | FLAG_ACQUIRE))) ||
          (i->class == RKB_CLASS_ATOMIC && result > 1)) /* register 1 is written and never read */
         return true;
   }
   return false;
}

/* One search through all blocks by Tarjan ('Depth-first search and linear graph algorithms', SIAM J.  Comput.  1972): blocks that
 * reach each other are popped from the stack as a group. */
typedef struct search {
   const machine_program_t *program;
   uint32_t *number, *low; /* by block; number 0: it was not reached yet */
   uint32_t *stack, *path; /* blocks */
   uint32_t *next;         /* by block: the successor that is looked at next */
   uint8_t *stacked;
   bool shared;
   uint32_t met, height, depth;
} search_t;

static void enter(search_t *s, uint32_t block) {
   s->number[block] = s->low[block] = ++s->met;
   s->stack[s->height++] = s->path[s->depth++] = block;
   s->stacked[block] = 1;
}

/* Takes a group of blocks that reach each other from the stack; this block was reached first.  Returns
 * whether they are a loop and one of them polls. */
static bool take_off(search_t *s, uint32_t block) {
   bool polling = false, loop = s->stack[s->height - 1] != block;
   uint32_t taken;
   do {
      taken = s->stack[--s->height];
      s->stacked[taken] = 0;
      polling |= polls(s->program, &s->program->blocks[taken], s->shared);
      uint32_t next;
      for (uint32_t k = 0; !loop && (next = machine_successor(s->program, taken, k)) != PTX_NONE; k++)
         loop = next == taken;
   } while (taken != block);
   return polling && loop;
}

/* Whether a loop that polls can be reached from the block, among blocks that were not reached before. */
static bool search_from(search_t *s, uint32_t block) {
   bool found = false;
   enter(s, block);
   while (s->depth && !found) {
      const uint32_t at = s->path[s->depth - 1], next = machine_successor(s->program, at, s->next[at]++);
      if (next != PTX_NONE) {
         if (!s->number[next])
            enter(s, next);
         else if (s->stacked[next] && s->number[next] < s->low[at])
            s->low[at] = s->number[next];
         continue;
      }
      s->depth--;
      if (s->depth && s->low[at] < s->low[s->path[s->depth - 1]])
         s->low[s->path[s->depth - 1]] = s->low[at];
      if (s->low[at] == s->number[at])
         found = take_off(s, at);
   }
   return found;
}

bool machine_find_waits(machine_program_t *program) {
   const size_t count = program->block_count;
   uint32_t *lists = calloc(5 * count + 1, sizeof *lists);
   uint8_t *stacked = calloc(count + 1, 1);
   search_t s = {.program = program, .stacked = stacked};
   const bool made = lists && stacked;
   if (made) {
      s.number = lists;
      s.low = lists + count;
      s.stack = lists + 2 * count;
      s.path = lists + 3 * count;
      s.next = lists + 4 * count;
   }
   for (uint32_t b = 0; made && b < count && !program->waits; b++)
      if (!s.number[b])
         program->waits = search_from(&s, b);
   program->spins = program->waits;
   if (made && program->pieces && !program->spins) {
      memset(lists, 0, 5 * count * sizeof *lists);
      memset(stacked, 0, count);
      s.met = s.height = s.depth = 0;
      s.shared = true;
   }
   for (uint32_t b = 0; s.shared && b < count && !program->spins; b++)
      if (!s.number[b])
         program->spins = search_from(&s, b);
   free(lists);
   free(stacked);
   return made;
}
