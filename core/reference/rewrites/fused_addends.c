/* Joins products with their addends.  The addition's node becomes a reshape, and the product moves after the addend, which it reads
 * as its third operand.  One thread. */
#include "reference/rewrites/fused_addends.h"

#include <string.h>
#include "base/name_table.h"
#include "reference/dtype.h"
#include "reference/operations/layout.h"

#define MOST_MOVED 8u /* the product, and the reshapes between it and the addition */

static bool is_reshape(const rkb_program_node_t *node) {
   return rkb_same_name(node->operation->name, "reshape");
}

/* How many nodes and outputs read each value. */
static uint32_t *count_readers(const rkb_program_t *program) {
   uint32_t *readers = rkb_arena_array(program->arena, program->value_count + 1, sizeof *readers);
   for (uint32_t i = 0; i < program->node_count; i++)
      for (uint32_t j = 0; j < program->nodes[i].input_count; j++)
         readers[program->nodes[i].inputs[j]]++;
   for (uint32_t i = 0; i < program->tensor_count; i++)
      if (program->outputs[i] != RKB_NO_VALUE)
         readers[program->outputs[i]]++;
   for (uint32_t i = 0; i < program->guard_count; i++)
      if (program->guards[i] != RKB_NO_VALUE)
         readers[program->guards[i]]++;
   return readers;
}

/* Follows a value back to a product without an addend, through reshapes.  Lists the nodes from the value's
 * own back to the product's and returns their number.  Returns 0 when there is no such product, when
 * something else reads a value on the way, or when a value is stored narrower than the sum. */
static uint32_t product_behind(const rkb_program_t *program, const uint32_t *readers, uint32_t value,
                               uint32_t *nodes) {
   for (uint32_t count = 0; count < MOST_MOVED; count++) {
      const rkb_program_value_t *info = &program->values[value];
      if (info->node < 0 || readers[value] != 1 || rkb_dtype_narrow(info->dtype))
         return 0;
      const rkb_program_node_t *node = &program->nodes[info->node];
      nodes[count] = (uint32_t)info->node;
      if (node->operation->depth)
         return node->input_count == 2 ? count + 1 : 0;
      if (!is_reshape(node))
         return 0;
      value = node->inputs[0];
   }
   return 0;
}

/* Moves the listed nodes to just before the addition at place `to`.  The nodes between them move towards the
 * front. */
static void move_before(rkb_program_t *program, const uint32_t *nodes, uint32_t count, uint32_t to) {
   rkb_program_node_t moved[MOST_MOVED];
   for (uint32_t i = 0; i < count; i++)
      moved[i] = program->nodes[nodes[count - 1 - i]];
   uint32_t kept = nodes[count - 1], next = count - 1; /* the product is the earliest */
   for (uint32_t i = kept; i < to; i++)
      if (next < count && i == nodes[next])
         next--; /* wraps past the last one */
      else
         program->nodes[kept++] = program->nodes[i];
   for (uint32_t i = 0; i < count; i++)
      program->nodes[kept++] = moved[i];
   for (uint32_t i = nodes[count - 1]; i < to; i++)
      program->values[program->nodes[i].output].node = (int32_t)i;
}

/* Joins the addition at place `at` with the product behind operand `which`, if there is one. */
static bool join(rkb_program_t *program, const uint32_t *readers, uint32_t at, uint32_t which) {
   const rkb_program_node_t addition = program->nodes[at];
   const uint32_t sum = addition.inputs[which], addend = addition.inputs[1 - which];
   uint32_t nodes[MOST_MOVED];
   const uint32_t count = product_behind(program, readers, sum, nodes);
   if (count == 0 ||
       !rkb_shape_equal(rkb_program_shape(program, sum), rkb_program_shape(program, addition.output)))
      return false;
   move_before(program, nodes, count, at);
   rkb_program_node_t *product = &program->nodes[at - count], *rest = &program->nodes[at];
   product->inputs[product->input_count++] = addend;
   product->addend_frame = addition.output;
   rest->operation = rkb_reshape_operation();
   rest->inputs[0] = sum;
   rest->input_count = 1;
   return true;
}

void rkb_program_join_addends(rkb_program_t *program) {
   if (program->failed)
      return;
   const uint32_t *readers = count_readers(program);
   for (uint32_t at = 0; at < program->node_count; at++)
      if (rkb_same_name(program->nodes[at].operation->name, "add") && !join(program, readers, at, 0))
         join(program, readers, at, 1);
}
