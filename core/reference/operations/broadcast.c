/* Reads the operands of elementwise operations, stretched to the output's shape where they are smaller, and runs the operation on
 * blocks of points.  Owns the operands while it runs; any thread. */
#include "reference/operations/elementwise.h"

#include <stdlib.h>
#include "base/memory.h"

/* Finds the operand elements of output elements from their coordinates.  A stretched dim has stride 0; along the last dim, neighbours
 * are one stride apart. */
static void map_operand(const rkb_shape_t *operand, const rkb_shape_t *out, uint64_t count,
                        const int64_t *index, int64_t *mapped) {
   int64_t strides[RKB_MAX_RANK] = {0}, at[RKB_MAX_RANK] = {0};
   const uint32_t last = out->rank ? out->rank - 1 : 0;
   const int64_t size = out->rank ? out->size[last] : 1;
   rkb_shape_broadcast_strides(operand, out, strides);
   for (uint64_t i = 0, run; i < count; i += run) {
      int64_t element = 0;
      rkb_shape_split(out, (uint64_t)index[i], at);
      for (uint32_t d = 0; d < out->rank; d++)
         element += at[d] * strides[d];
      uint64_t most = (uint64_t)(size - at[last]) < count - i ? (uint64_t)(size - at[last]) : count - i;
      for (run = 1; run < most && index[i + run] == index[i] + (int64_t)run;)
         run++;
      for (uint64_t j = 0; j < run; j++)
         mapped[i + j] = element + (int64_t)j * strides[last];
   }
}

/* Reads the elements at ascending[i].  A stretched element appears several times in a row and is read once. */
static int read_repeated(rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index,
                         rkb_block_t *out) {
   uint64_t kept = count > 0;
   for (uint64_t i = 1; i < count; i++)
      kept += index[i] != index[i - 1];
   if (2 * kept > count)
      return rkb_read(reader, value, count, index, out);
   int64_t *once = rkb_try_uncleared(kept + 1, sizeof *once, NULL);
   if (!once)
      return RKB_ERR_NOMEM;
   kept = 0;
   for (uint64_t i = 0; i < count; i++)
      if (i == 0 || index[i] != index[i - 1])
         once[kept++] = index[i];
   int status = rkb_read(reader, value, kept, once, out);
   free(once);
   for (uint64_t i = count; i-- > 0 && status == RKB_OK;) { /* spread in place, from the back */
      rkb_block_put(out, i, rkb_block_get(out, kept - 1));
      kept -= i > 0 && index[i] != index[i - 1];
   }
   return status;
}

int rkb_read_stretched(rkb_reader_t *reader, uint32_t value, const rkb_shape_t *shape, uint64_t count,
                       const int64_t *index, rkb_block_t *out) {
   const rkb_shape_t *own = rkb_program_shape(rkb_reader_program(reader), value);
   if (rkb_shape_equal(own, shape))
      return rkb_read(reader, value, count, index, out);
   int64_t *mapped = rkb_try_uncleared(count + 1, sizeof *mapped, NULL);
   if (!mapped)
      return RKB_ERR_NOMEM;
   map_operand(own, shape, count, index, mapped);
   int status = read_repeated(reader, value, count, mapped, out);
   free(mapped);
   return status;
}

int rkb_elementwise_compute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                            const int64_t *index, rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   const rkb_shape_t *shape = &program->values[node->output].shape;
   rkb_block_t own[RKB_ELEMENTWISE_OPERANDS] = {{0}}, operands[RKB_ELEMENTWISE_OPERANDS];
   int status = RKB_OK;
   for (uint32_t k = 0; status == RKB_OK && k < node->input_count; k++) {
      uint32_t value = node->inputs[k];
      if (rkb_shape_equal(&program->values[value].shape, shape) &&
          rkb_reader_view(reader, value, count, index, &operands[k]))
         continue;
      status = rkb_reader_block(reader, &own[k], count)
                  ? rkb_read_stretched(reader, value, shape, count, index, &own[k])
                  : RKB_ERR_NOMEM;
      operands[k] = own[k];
   }
   const rkb_precision_t *precision = rkb_reader_precision(reader);
   uint64_t pieces = (count + RKB_CHUNK - 1) / RKB_CHUNK;
#pragma omp parallel for schedule(static) if (status == RKB_OK && count >= RKB_SHARED_ELEMENTS)
   for (uint64_t piece = 0; piece < pieces; piece++) {
      if (status != RKB_OK)
         continue;
      uint64_t first = piece * RKB_CHUNK, left = count - first;
      rkb_block_t in[RKB_ELEMENTWISE_OPERANDS], part = rkb_block_from(out, first);
      for (uint32_t k = 0; k < RKB_ELEMENTWISE_OPERANDS; k++) /* a missing operand is never used */
         in[k] = rkb_block_from(&operands[k < node->input_count ? k : node->input_count - 1], first);
      node->operation->points(precision, node->reals, left < RKB_CHUNK ? left : RKB_CHUNK, in, &part);
   }
   for (uint32_t k = 0; k < RKB_ELEMENTWISE_OPERANDS; k++)
      rkb_reader_block_free(reader, &own[k]);
   return status;
}

double rkb_elementwise_work(const rkb_program_t *program, const rkb_program_node_t *node) {
   return (double)program->values[node->output].elements;
}
