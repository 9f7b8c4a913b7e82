/* Programs with given values.  Pure functions; one thread builds a program. */
#include "reference/given_values.h"

#include <string.h>

rkb_program_t *rkb_program_with_given(const rkb_program_t *program, rkb_arena_t *arena, const uint32_t *list,
                                      uint32_t count) {
   rkb_program_t *made = rkb_arena_alloc(arena, sizeof *made);
   *made = *program;
   made->arena = arena;
   made->values = rkb_arena_array(arena, program->value_count + 1, sizeof *made->values);
   memcpy(made->values, program->values, program->value_count * sizeof *made->values);
   made->value_room = program->value_count;
   for (uint32_t n = 0; n < count; n++) {
      made->values[list[n]].node = -1;
      made->values[list[n]].tensor = (int32_t)(program->tensor_count + n);
   }
   return made;
}

bool rkb_program_same_nodes(const rkb_program_t *program, const rkb_program_t *other) {
   bool same = program->node_count == other->node_count && program->value_count == other->value_count;
   for (uint32_t n = 0; same && n < program->node_count; n++) {
      const rkb_program_node_t *a = &program->nodes[n], *b = &other->nodes[n];
      same = a->operation == b->operation && a->output == b->output && a->input_count == b->input_count &&
             memcmp(a->inputs, b->inputs, a->input_count * sizeof *a->inputs) == 0;
   }
   return same;
}
