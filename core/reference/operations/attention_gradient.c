/* The gradient of a softmax whose rows are mixed with values: attention.  One thread. */
#include "reference/operations/attention_gradient.h"

#include "reference/dtype.h"
#include "reference/operations/widened_bounds.h"
#include "reference/operations/elementwise.h"
#include "reference/operations/product.h"
#include "reference/operations/reduce.h"

/* The narrow type in which a value is stored, by itself or after moves; RKB_F32 if it is in none. */
static uint32_t stored_type(const rkb_program_t *program, uint32_t value) {
   uint32_t dtype = rkb_program_dtype(program, value);
   for (uint32_t i = 0; i < program->node_count && !rkb_dtype_narrow(dtype); i++)
      if (program->nodes[i].operation->moves && program->nodes[i].inputs[0] == value) {
         value = program->nodes[i].output;
         dtype = rkb_program_dtype(program, value);
      }
   return rkb_dtype_narrow(dtype) ? dtype : RKB_F32;
}

/* The product o = y v of a softmax's rows with values, if it is stored in a narrow type; else NULL. */
static const rkb_program_node_t *stored_mix(const rkb_program_t *program, const rkb_program_node_t *softmax) {
   const uint32_t y = softmax->output;
   const bool along_rows = (uint64_t)softmax->integers[0] + 1 == rkb_program_shape(program, y)->rank;
   for (uint32_t i = 0; along_rows && i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      if (rkb_is_matmul(node) && node->inputs[0] == y && node->integers[0] == 0 &&
          rkb_program_shape(program, node->output)->rank == softmax->integers[0] + 1 &&
          rkb_dtype_narrow(stored_type(program, node->output)))
         return node;
   }
   return NULL;
}

uint32_t rkb_sum_through_mix(rkb_program_t *program, const rkb_program_node_t *softmax, uint32_t grad,
                             uint32_t dot) {
   const rkb_program_node_t *mix = stored_mix(program, softmax),
                            *from = program->values[grad].node < 0
                                       ? NULL
                                       : &program->nodes[program->values[grad].node];
   if (!mix || !from || !rkb_is_matmul(from) || from->inputs[1] != mix->inputs[1] || from->integers[0] != 0 ||
       !rkb_shape_equal(rkb_program_shape(program, from->inputs[0]), rkb_program_shape(program, mix->output)))
      return dot;
   const uint32_t dtype = stored_type(program, mix->output), o = mix->output, g = from->inputs[0];
   const uint32_t kept =
      rkb_dtype_narrow(rkb_program_dtype(program, o)) ? o : rkb_make_stored(program, o, dtype, 0);
   return rkb_make_other_way(program, dot,
                             rkb_make_reduce(program, "sum", rkb_make_binary(program, "mul", g, kept),
                                             UINT64_C(1) << softmax->integers[0], true));
}
