/* Programs with given values.  Pure functions; one thread builds a program. */
#include "reference/rewrites/given_values.h"

#include <string.h>
#include "reference/operations/reduce.h"

static bool has_row_sums(const rkb_program_t *program, const rkb_program_node_t *softmax) {
   bool any = false;
   for (uint32_t n = 0; n < program->node_count; n++)
      any |= rkb_softmax_goes_by(softmax, &program->nodes[n]);
   return any;
}

rkb_program_t *rkb_program_with_row_sums(rkb_program_t *program, rkb_arena_t *arena) {
   rkb_program_t *made = rkb_arena_alloc(arena, sizeof *made);
   bool any = false;
   *made = *program;
   made->arena = arena;
   /* Lists that grow are copied, so that the original program keeps its own. */
   made->node_room = program->node_count;
   made->value_room = program->value_count;
   for (uint32_t n = 0; n < program->node_count; n++) {
      const rkb_program_node_t *node = &program->nodes[n];
      if (!rkb_is_softmax(node) || has_row_sums(made, node))
         continue;
      const uint32_t natural = rkb_make_log_sum_exp(made, node->inputs[0], (uint32_t)node->integers[0], true),
                     binary = rkb_make_log2_sum_exp2(made, node->inputs[0], (uint32_t)node->integers[0]);
      if (natural == RKB_NO_VALUE || binary == RKB_NO_VALUE)
         return program;
      /* Functions keep their inner steps in float32. */
      made->values[natural].dtype = made->values[binary].dtype = RKB_F32;
      any = true;
   }
   return any ? made : program;
}

/* Makes the softmaxes whose row sums node `sum` would compute read the given value instead. */
static void go_by(rkb_program_t *made, uint32_t value, uint32_t sum) {
   double *base = rkb_arena_array(made->arena, 1, sizeof *base);
   *base = rkb_row_sum_base(&made->nodes[sum]);
   for (uint32_t n = 0; n < made->node_count; n++)
      if (rkb_softmax_goes_by(&made->nodes[n], &made->nodes[sum])) {
         made->nodes[n].inputs[1] = value;
         made->nodes[n].input_count = 2;
         made->nodes[n].reals = base;
         made->nodes[n].real_count = 1;
      }
}

rkb_program_t *rkb_program_with_given(const rkb_program_t *program, rkb_arena_t *arena, const uint32_t *list,
                                      uint32_t count) {
   rkb_program_t *made = rkb_arena_alloc(arena, sizeof *made);
   *made = *program;
   made->arena = arena;
   made->values = rkb_arena_array(arena, program->value_count + 1, sizeof *made->values);
   memcpy(made->values, program->values, program->value_count * sizeof *made->values);
   made->value_room = program->value_count;
   made->nodes = rkb_arena_array(arena, program->node_count + 1, sizeof *made->nodes);
   memcpy(made->nodes, program->nodes, program->node_count * sizeof *made->nodes);
   made->node_room = program->node_count;
   for (uint32_t n = 0; n < count; n++) {
      if (program->values[list[n]].node >= 0)
         go_by(made, list[n], (uint32_t)program->values[list[n]].node);
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
