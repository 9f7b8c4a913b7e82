/* Reverse-mode differentiation of a program.  The backward pass is made of the same operations, so it gets bounds and points like
 * the forward pass.  One thread. */
#include "reference/rewrites/gradient.h"

#include <stdlib.h>
#include <string.h>
#include "base/name_table.h"
#include "base/memory.h"
#include "reference/dtype.h"
#include "reference/operations/elementwise.h"
#include "reference/operations/layout.h"

/* Marks the values that depend on one of the inputs: gradients flow only towards these. */
static void mark_reached(const rkb_program_t *program, const uint32_t *inputs, uint32_t input_count,
                         uint32_t node_count, bool *reached) {
   for (uint32_t i = 0; i < input_count; i++)
      reached[inputs[i]] = true;
   for (uint32_t i = 0; i < node_count; i++)
      for (uint32_t j = 0; j < program->nodes[i].input_count; j++)
         reached[program->nodes[i].output] |= reached[program->nodes[i].inputs[j]];
}

/* Rounds a gradient as PyTorch's autograd does: autograd stores the gradient of a value in the value's type,
 * so it may be rounded once.  The steps before it are in fp32. */
static void store_as(rkb_program_t *program, uint32_t first, uint32_t grad, uint32_t value) {
   if (grad >= first && rkb_dtype_narrow(rkb_program_dtype(program, value)))
      program->values[grad].dtype = rkb_program_dtype(program, value);
}

/* An operation that PyTorch runs by itself stores what it adds to a narrow value's gradient in the value's
 * type, before other contributions are added.  It also stores so what it sums over the dims along which the
 * value was repeated.  Steps inside one function store nothing.  A product whose result stays in float32
 * stores only such sums: PyTorch repeats a narrow factor before it multiplies. */
static void store_addend(rkb_program_t *program, const rkb_program_node_t *node, uint32_t first,
                         uint32_t before, uint32_t addend, uint32_t value) {
   const bool stores =
      node->operation->converts || rkb_dtype_narrow(rkb_program_dtype(program, node->output));
   if (node->operation->moves || !(stores || node->operation->depth))
      return;
   if (stores)
      store_as(program, first, addend, value);
   while (addend >= before && program->values[addend].node >= 0) {
      const rkb_program_node_t *from = &program->nodes[program->values[addend].node];
      const bool sums = rkb_same_name(from->operation->name, "sum");
      if (!sums && !rkb_same_name(from->operation->name, "reshape"))
         return;
      addend = from->inputs[0];
      if (sums)
         store_as(program, before, addend, value);
   }
}

void rkb_gradient_build(rkb_program_t *program, const uint32_t *values, const uint32_t *seeds, uint32_t count,
                        const uint32_t *inputs, uint32_t *gradients, uint32_t input_count) {
   uint32_t node_count = program->node_count, value_count = program->value_count;
   uint32_t *grads = rkb_allocate(value_count + 1, sizeof *grads);
   bool *reached = rkb_allocate(value_count + 1, sizeof *reached);
   for (uint32_t i = 0; i < value_count; i++)
      grads[i] = RKB_NO_VALUE;
   mark_reached(program, inputs, input_count, node_count, reached);
   for (uint32_t i = 0; i < count; i++)
      grads[values[i]] = grads[values[i]] == RKB_NO_VALUE
                            ? seeds[i]
                            : rkb_make_binary(program, "add", grads[values[i]], seeds[i]);
   for (uint32_t i = node_count; i-- > 0 && !program->failed;) {
      rkb_program_node_t node = program->nodes[i];
      if (grads[node.output] == RKB_NO_VALUE)
         continue;
      store_as(program, value_count, grads[node.output], node.output);
      for (uint32_t j = 0; j < node.input_count; j++) {
         uint32_t input = node.inputs[j];
         if (!reached[input])
            continue;
         if (!node.operation->gradient) {
            rkb_program_fail(program, "the gradient of %s is unsupported", node.operation->name);
            break;
         }
         uint32_t before = program->value_count,
                  grad = node.operation->gradient(program, &node, j, grads[node.output]);
         rkb_program_widen(program, before);
         if (grad == RKB_NO_VALUE)
            continue;
         store_addend(program, &node, value_count, before, grad, input);
         before = program->value_count;
         grads[input] =
            grads[input] == RKB_NO_VALUE ? grad : rkb_make_binary(program, "add", grads[input], grad);
         rkb_program_widen(program, before);
      }
   }
   for (uint32_t i = 0; i < input_count; i++) {
      if (grads[inputs[i]] != RKB_NO_VALUE)
         store_as(program, value_count, grads[inputs[i]], inputs[i]);
      rkb_shape_t shape = *rkb_program_shape(program, inputs[i]);
      gradients[i] = grads[inputs[i]] != RKB_NO_VALUE
                        ? grads[inputs[i]]
                        : rkb_make_full(program, &shape, 0, rkb_program_dtype(program, inputs[i]));
   }
   free(grads);
   free(reached);
}
