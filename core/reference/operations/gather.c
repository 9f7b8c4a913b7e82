/* Gathers: picks elements by integers, and sums the gradients of picked elements.  An index outside its dim makes the element
 * don't-care; PyTorch raises an error there.  A node's integers: the dim and, for gradients, the size along it.  Pure
 * functions. */
#include "reference/operations/gather.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "reference/operations/layout.h"
#include "reference/operations/reduce.h"

static double work(const rkb_program_t *program, const rkb_program_node_t *node) {
   return (double)program->values[node->inputs[0]].elements;
}

static const rkb_point_t outside = {0, 0, 0, RKB_POINT_DONT_CARE};

static int compute_gather(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                          const int64_t *index, rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   const rkb_shape_t *shape = rkb_program_shape(program, node->output),
                     *from = rkb_program_shape(program, node->inputs[0]);
   int64_t dim = node->integers[0], *places = rkb_try_uncleared(count + 1, sizeof *places, NULL);
   int status = places ? rkb_read(reader, node->inputs[1], count, index, out) : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      int64_t at[RKB_MAX_RANK];
      rkb_shape_split(shape, (uint64_t)index[i], at);
      at[dim] = (int64_t)out->value[i];
      places[i] = at[dim] < 0 || at[dim] >= from->size[dim] ? -1 : (int64_t)rkb_shape_join(from, at);
   }
   if (status == RKB_OK)
      status = rkb_read(reader, node->inputs[0], count, places, out);
   for (uint64_t i = 0; status == RKB_OK && i < count; i++)
      if (places[i] < 0)
         rkb_block_put(out, i, outside);
   free(places);
   return status;
}

/* grad_x[.., c, ..] = sum over i with index[.., i, ..] = c of grad[.., i, ..]: operands grad, index. */
static int compute_scatter(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                           const int64_t *index, rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   const rkb_shape_t *shape = rkb_program_shape(program, node->output),
                     *from = rkb_program_shape(program, node->inputs[1]);
   uint64_t mask = UINT64_C(1) << node->integers[0];
   rkb_rows_t rows = rkb_rows_of(from, mask);
   rkb_block_t picks = {0}, grads = {0};
   int64_t *places = rkb_try_uncleared(rows.length + 1, sizeof *places, NULL);
   int status = places && rkb_block_new(&picks, rows.length) && rkb_block_new(&grads, rows.length)
                   ? RKB_OK
                   : RKB_ERR_NOMEM;
   uint64_t last = UINT64_MAX;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      uint64_t row, place;
      rkb_rows_split(shape, mask, (uint64_t)index[i], &row, &place);
      if (row != last) {
         rkb_rows_index(&rows, row, 0, rows.length, places);
         status = rkb_read(reader, node->inputs[1], rows.length, places, &picks);
         if (status == RKB_OK)
            status = rkb_read(reader, node->inputs[0], rows.length, places, &grads);
         last = row;
      }
      rkb_point_t point = {0};
      double absolute = 0, squares = 0, terms = 0;
      for (uint64_t j = 0; status == RKB_OK && j < rows.length; j++) {
         if (picks.value[j] != (double)place)
            continue;
         point.value += grads.value[j];
         point.hard += grads.hard[j];
         point.variance += grads.variance[j];
         point.flags |= grads.flags[j];
         absolute += fabs(grads.value[j]);
         squares += grads.value[j] * grads.value[j];
         terms++;
      }
      if (terms > 1)
         rkb_sum_rounding(rkb_reader_precision(reader), point.value, absolute, squares, terms, terms, &point);
      rkb_block_put(out, i, point);
   }
   free(places);
   rkb_block_free(&picks);
   rkb_block_free(&grads);
   return status;
}

static const rkb_operation_t scatter = {
   .name = "scatter", .costly = true, .compute = compute_scatter, .work = work};

static uint32_t gradient_gather(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                uint32_t grad) {
   if (which == 1)
      return RKB_NO_VALUE;
   rkb_shape_t shape = *rkb_program_shape(program, node->inputs[0]);
   return rkb_program_add(program, &scatter, (uint32_t[]){grad, node->inputs[1]}, 2, node->integers, 1, NULL,
                          0, rkb_program_dtype(program, node->inputs[0]), &shape);
}

static const rkb_operation_t gather = {
   .name = "gather", .moves = true, .compute = compute_gather, .work = work, .gradient = gradient_gather};

uint32_t rkb_make_gather(rkb_program_t *program, uint32_t x, uint32_t index, uint32_t dim) {
   const rkb_shape_t *from = rkb_program_shape(program, x), *picks = rkb_program_shape(program, index);
   if (program->failed)
      return RKB_NO_VALUE;
   bool fits = from->rank == picks->rank && dim < from->rank;
   for (uint32_t d = 0; fits && d < from->rank; d++)
      fits = d == dim || from->size[d] == picks->size[d];
   if (!fits)
      return rkb_program_fail(program, "gather: x and index differ in more than dim %u", dim);
   rkb_shape_t shape = *picks;
   int64_t along = dim;
   return rkb_program_add(program, &gather, (uint32_t[]){x, index}, 2, &along, 1, NULL, 0,
                          rkb_program_dtype(program, x), &shape);
}

uint32_t rkb_make_embedding(rkb_program_t *program, uint32_t table, uint32_t index) {
   const rkb_shape_t *rows = rkb_program_shape(program, table);
   rkb_shape_t picks = *rkb_program_shape(program, index), flat = {.rank = 2, .size = {1, 1}}, out = picks;
   if (program->failed)
      return RKB_NO_VALUE;
   if (rows->rank != 2 || picks.rank >= RKB_MAX_RANK)
      return rkb_program_fail(program, "embedding: the table is a matrix");
   flat.size[0] = (int64_t)rkb_shape_product(&picks, 0, picks.rank);
   rkb_shape_t wide = {.rank = 2, .size = {flat.size[0], rows->size[1]}};
   out.size[out.rank++] = rows->size[1];
   uint32_t stretched = rkb_make_expand(program, rkb_make_reshape(program, index, &flat), &wide);
   return rkb_make_reshape(program, rkb_make_gather(program, table, stretched, 0), &out);
}
