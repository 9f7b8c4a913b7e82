/* Sorts rows: the values in order, and the places that they come from.  Pure functions of the elements they
 * read.  A node's integers: the dim, 1 for descending, 1 where equal elements keep their order (a stable sort).
 *
 * The bound of a value: if each element lies within its bounds, the k-th largest element lies between the
 * k-th largest of the lower ends and the k-th largest of the upper ends.  A place is in doubt when another
 * element may be the k-th, also when two are equal: but for a stable sort PyTorch promises no order of equal
 * elements.  The bound reaches to the farthest of them; the judge looks at each (task/judged_places.c).  A
 * place is ambiguous when rounding decides it.  Among exact operands rounding decides nothing, so a row of
 * equal numbers does not prevent a comparison.  NaN is larger than every number, as in PyTorch. */
#include "reference/operations/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/operations/gather.h"
#include "reference/operations/layout.h"
#include "reference/operations/ranked_row.h"
#include "reference/operations/reduce.h"

static rkb_row_order_t order_of(const rkb_program_node_t *node) {
   const bool descending = node->integers[1] != 0;
   return (rkb_row_order_t){
      .descending = descending, .nan_first = descending, .first_of_equals = node->integers[2] != 0};
}

static rkb_point_t ranked_value(const rkb_ranked_row_t *row, uint64_t turn) {
   const rkb_ranked_entry_t *entry = &row->entries[turn];
   if (entry->side)
      return (rkb_point_t){entry->value, 0, row->variance, row->flags};
   double hard = fmax(row->upper[turn] - entry->value, entry->value - row->lower[turn]);
   return (rkb_point_t){row->order.descending ? entry->value : -entry->value, hard, row->variance,
                        row->flags};
}

/* The entry at this turn, and how far the place of another one lies that may stand there. */
static rkb_point_t ranked_place(const rkb_ranked_row_t *row, uint64_t turn) {
   const rkb_ranked_entry_t *own = &row->entries[turn];
   double apart = 0;
   bool rounding = false;
   for (uint64_t i = 0; i < row->length; i++) {
      if (i == turn || !rkb_ranked_row_admits(row, i, turn))
         continue;
      apart = fmax(apart, fabs((double)row->entries[i].place - (double)own->place));
      rounding |= !rkb_ranked_entries_equal(own, &row->entries[i]);
   }
   return (rkb_point_t){(double)own->place, apart, apart * apart,
                        row->flags | (rounding ? RKB_POINT_AMBIGUOUS : 0)};
}

bool rkb_chooses_places(const rkb_program_node_t *node, rkb_row_order_t *order, uint64_t *mask) {
   const char *name = node->operation->name;
   const bool largest = strcmp(name, "argmax") == 0;
   if (strcmp(name, "ranked_places") == 0) {
      *mask = UINT64_C(1) << node->integers[0];
      *order = order_of(node);
      return true;
   }
   if (!largest && strcmp(name, "argmin") != 0)
      return false;
   *mask = (uint64_t)node->integers[0];
   *order = (rkb_row_order_t){.descending = largest, .nan_first = true, .first_of_equals = true};
   return true;
}

static int rank(rkb_reader_t *reader, const rkb_program_node_t *node, bool of_places, uint64_t count,
                const int64_t *index, rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   const rkb_shape_t *shape = rkb_program_shape(program, node->output);
   uint64_t mask = UINT64_C(1) << node->integers[0];
   rkb_rows_t rows = rkb_rows_of(rkb_program_shape(program, node->inputs[0]), mask);
   rkb_ranked_row_t row;
   int64_t *places = rkb_try_uncleared(rows.length + 1, sizeof *places, NULL);
   int status = rkb_ranked_row_new(&row, rows.length) && places ? RKB_OK : RKB_ERR_NOMEM;
   uint64_t sorted = UINT64_MAX; /* the row that was sorted last */
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      uint64_t number, turn;
      rkb_rows_split(shape, mask, (uint64_t)index[i], &number, &turn);
      if (number != sorted) {
         sorted = number;
         rkb_rows_index(&rows, number, 0, rows.length, places);
         status = rkb_read(reader, node->inputs[0], rows.length, places, &row.points);
         if (status != RKB_OK)
            break;
         rkb_ranked_row_sort(&row, order_of(node));
         if (of_places)
            rkb_ranked_row_count(&row);
      }
      rkb_block_put(out, i, of_places ? ranked_place(&row, turn) : ranked_value(&row, turn));
   }
   rkb_ranked_row_free(&row);
   free(places);
   return status;
}

static int compute_values(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                          const int64_t *index, rkb_block_t *out) {
   return rank(reader, node, false, count, index, out);
}

static int compute_places(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                          const int64_t *index, rkb_block_t *out) {
   return rank(reader, node, true, count, index, out);
}

/* One pass over the row for each doubling of the number of elements kept. */
static double work(const rkb_program_t *program, const rkb_program_node_t *node) {
   const rkb_shape_t *shape = rkb_program_shape(program, node->output);
   double kept = (double)shape->size[node->integers[0]];
   return (double)program->values[node->inputs[0]].elements * (1 + ceil(log2(kept)));
}

static uint32_t gradient_values(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                uint32_t grad) {
   (void)which;
   uint32_t dim = (uint32_t)node->integers[0];
   rkb_shape_t shape = *rkb_program_shape(program, node->inputs[0]);
   int64_t count = rkb_program_shape(program, node->output)->size[dim];
   uint32_t places = rkb_make_ranked_places(program, node->inputs[0], dim, count, node->integers[1] != 0,
                                            node->integers[2] != 0);
   uint32_t nothing = rkb_make_full(program, &shape, 0, rkb_program_dtype(program, grad));
   return rkb_make_scatter(program, nothing, places, grad, dim, true);
}

static uint32_t no_gradient(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                            uint32_t grad) {
   (void)program, (void)node, (void)which, (void)grad;
   return RKB_NO_VALUE;
}

static const rkb_operation_t ranked = {.name = "ranked",
                                       .costly = true,
                                       .exact = true,
                                       .compute = compute_values,
                                       .work = work,
                                       .gradient = gradient_values};
static const rkb_operation_t ranked_places = {
   .name = "ranked_places", .costly = true, .compute = compute_places, .work = work, .gradient = no_gradient};

static uint32_t make(rkb_program_t *program, const rkb_operation_t *operation, uint32_t x, uint32_t dim,
                     int64_t count, bool descending, bool stable, uint32_t dtype) {
   rkb_shape_t shape = *rkb_program_shape(program, x);
   if (program->failed)
      return RKB_NO_VALUE;
   if (dim >= shape.rank || count < 1 || count > shape.size[dim])
      return rkb_program_fail(program, "%lld elements are asked of a row that has %lld", (long long)count,
                              (long long)(dim < shape.rank ? shape.size[dim] : 0));
   shape.size[dim] = count;
   int64_t integers[] = {dim, descending, stable};
   return rkb_program_add(program, operation, &x, 1, integers, 3, NULL, 0, dtype, &shape);
}

uint32_t rkb_make_ranked(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t count, bool descending,
                         bool stable) {
   return make(program, &ranked, x, dim, count, descending, stable, rkb_program_dtype(program, x));
}

uint32_t rkb_make_ranked_places(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t count,
                                bool descending, bool stable) {
   return make(program, &ranked_places, x, dim, count, descending, stable, RKB_I64);
}
