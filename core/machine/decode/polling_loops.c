/* Which programs may wait for another block, by the shape of their code: a loop with an atomic operation, or with a volatile,
 * relaxed or acquiring load.  A loop of that shape that does not wait costs nothing but turns (execute/resident_blocks.c). */
#include "machine/execute/execution.h"

#include <stdlib.h>
#include <string.h>

static bool polls(const machine_program_t *program, const machine_block_info_t *block) {
   for (uint32_t n = block->first; n < block->first + block->count; n++) {
      const machine_instruction_t *i = &program->code[n];
      if (i->kind != MACHINE_CUSTOM || !i->element_bytes || i->space == PTX_SHARED || i->space == PTX_LOCAL ||
          ptx_type_is_float(i->type)) /* data, and no signal */
         continue;
      const uint32_t result = i->extra_count ? program->extras[i->extra].number : 0;
      if ((i->class == RKB_CLASS_GLOBAL && (i->flags & (FLAG_VOLATILE | FLAG_RELAXED | FLAG_ACQUIRE))) ||
          (i->class == RKB_CLASS_ATOMIC && result > 1)) /* register 1 takes what nobody reads */
         return true;
   }
   return false;
}

/* Whether a block can be reached from itself. */
static bool repeats(const machine_program_t *program, uint32_t block, uint32_t *stack, uint8_t *met) {
   uint32_t depth = 0;
   memset(met, 0, program->block_count);
   stack[depth++] = block;
   while (depth) {
      const uint32_t at = stack[--depth];
      uint32_t next;
      for (uint32_t k = 0; (next = machine_successor(program, at, k)) != PTX_NONE; k++) {
         if (next == block)
            return true;
         if (!met[next]) {
            met[next] = 1;
            stack[depth++] = next;
         }
      }
   }
   return false;
}

bool machine_find_waits(machine_program_t *program) {
   uint32_t *stack = malloc((program->block_count + 1) * sizeof *stack);
   uint8_t *met = malloc(program->block_count + 1);
   for (uint32_t b = 0; stack && met && b < program->block_count && !program->waits; b++)
      program->waits = polls(program, &program->blocks[b]) && repeats(program, b, stack, met);
   const bool done = stack && met;
   free(stack);
   free(met);
   return done;
}
