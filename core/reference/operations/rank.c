/* Sorts rows: the values in order, and the places that they come from.  Pure functions of the elements they
 * read.  A node's integers: the dim, 1 for descending.
 *
 * The bound of a value: if each element lies within its bounds, the k-th largest element lies between the
 * k-th largest of the lower ends and the k-th largest of the upper ends.  A place is in doubt when another
 * element may be the k-th, also when two are equal: PyTorch promises no order of equal elements, and the
 * bound reaches to the farthest of them.  A place is ambiguous when rounding decides it.  Among exact
 * operands rounding decides nothing, so a row of equal numbers does not prevent a comparison.  NaN is larger
 * than every number, as in PyTorch. */
#include "reference/operations/rank.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "reference/dtype.h"
#include "reference/operations/gather.h"
#include "reference/operations/layout.h"
#include "reference/operations/reduce.h"

typedef struct entry {
   double value, hard;
   uint64_t place;
   int side; /* of all numbers, where it is NaN: 1 before them, -1 behind them; 0: it is a number */
} entry_t;

/* One row: its elements as read, its elements in order, and the ends of their bounds in order. */
typedef struct row {
   uint64_t number, length;
   rkb_block_t points;
   entry_t *entries;
   double *upper, *lower, variance;
   uint32_t flags;
   int64_t *index;
} row_t;

static void row_free(row_t *row) {
   rkb_block_free(&row->points);
   free(row->entries);
   free(row->upper);
   free(row->lower);
   free(row->index);
}

static bool row_new(row_t *row, uint64_t length) {
   *row = (row_t){.number = UINT64_MAX, .length = length};
   row->entries = rkb_try_uncleared(length + 1, sizeof *row->entries, NULL);
   row->upper = rkb_try_uncleared(length + 1, sizeof *row->upper, NULL);
   row->lower = rkb_try_uncleared(length + 1, sizeof *row->lower, NULL);
   row->index = rkb_try_uncleared(length + 1, sizeof *row->index, NULL);
   if (row->entries && row->upper && row->lower && row->index && rkb_block_new(&row->points, length))
      return true;
   row_free(row);
   return false;
}

static int entry_order(const void *a, const void *b) {
   const entry_t *left = a, *right = b;
   if (left->side != right->side)
      return left->side < right->side ? 1 : -1;
   if (!left->side && left->value != right->value)
      return left->value < right->value ? 1 : -1;
   return (left->place > right->place) - (left->place < right->place);
}

static int descending_order(const void *a, const void *b) {
   double left = *(const double *)a, right = *(const double *)b;
   return (left < right) - (left > right);
}

/* Sorts the row.  For ascending order it changes all signs first, so that the other functions always work
 * from the largest down. */
static void row_sort(row_t *row, bool descending) {
   row->variance = 0;
   row->flags = 0;
   for (uint64_t i = 0; i < row->length; i++) {
      rkb_point_t point = rkb_block_get(&row->points, i);
      double value = descending ? point.value : -point.value;
      const int side = isnan(value) ? (descending ? 1 : -1) : 0;
      const double hard = side ? 0 : point.hard, at = side ? side * INFINITY : value;
      row->entries[i] = (entry_t){value, hard, i, side};
      row->upper[i] = at + hard;
      row->lower[i] = at - hard;
      row->variance = fmax(row->variance, point.variance);
      row->flags |= point.flags & RKB_POINT_DONT_CARE;
   }
   qsort(row->entries, row->length, sizeof *row->entries, entry_order);
   qsort(row->upper, row->length, sizeof *row->upper, descending_order);
   qsort(row->lower, row->length, sizeof *row->lower, descending_order);
}

static rkb_point_t ranked_value(const row_t *row, uint64_t turn, bool descending) {
   const entry_t *entry = &row->entries[turn];
   if (entry->side)
      return (rkb_point_t){entry->value, 0, row->variance, row->flags};
   double hard = fmax(row->upper[turn] - entry->value, entry->value - row->lower[turn]);
   return (rkb_point_t){descending ? entry->value : -entry->value, hard, row->variance, row->flags};
}

/* How far the place of another element lies, if that element may take this one's rank. */
static void compare_turns(const entry_t *own, const entry_t *other, double *apart, bool *rounding) {
   const double doubt = other->hard + own->hard;
   if (other->side != own->side || (!own->side && fabs(other->value - own->value) > doubt))
      return;
   *apart = fmax(*apart, fabs((double)other->place - (double)own->place));
   *rounding |= doubt > 0;
}

static rkb_point_t ranked_place(const row_t *row, uint64_t turn) {
   const entry_t *own = &row->entries[turn];
   double apart = 0;
   bool rounding = false;
   for (uint64_t i = 0; i < row->length; i++)
      if (i != turn)
         compare_turns(own, &row->entries[i], &apart, &rounding);
   return (rkb_point_t){(double)own->place, apart, apart * apart,
                        row->flags | (rounding ? RKB_POINT_AMBIGUOUS : 0)};
}

static int rank(rkb_reader_t *reader, const rkb_program_node_t *node, bool places, uint64_t count,
                const int64_t *index, rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   const rkb_shape_t *shape = rkb_program_shape(program, node->output);
   uint64_t mask = UINT64_C(1) << node->integers[0];
   rkb_rows_t rows = rkb_rows_of(rkb_program_shape(program, node->inputs[0]), mask);
   bool descending = node->integers[1] != 0;
   row_t row;
   if (!row_new(&row, rows.length))
      return RKB_ERR_NOMEM;
   int status = RKB_OK;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      uint64_t number, turn;
      rkb_rows_split(shape, mask, (uint64_t)index[i], &number, &turn);
      if (number != row.number) {
         row.number = number;
         rkb_rows_index(&rows, number, 0, rows.length, row.index);
         status = rkb_read(reader, node->inputs[0], rows.length, row.index, &row.points);
         if (status != RKB_OK)
            break;
         row_sort(&row, descending);
      }
      rkb_block_put(out, i, places ? ranked_place(&row, turn) : ranked_value(&row, turn, descending));
   }
   row_free(&row);
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
   uint32_t places = rkb_make_ranked_places(program, node->inputs[0], dim, count, node->integers[1] != 0);
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
                     int64_t count, bool descending, uint32_t dtype) {
   rkb_shape_t shape = *rkb_program_shape(program, x);
   if (program->failed)
      return RKB_NO_VALUE;
   if (dim >= shape.rank || count < 1 || count > shape.size[dim])
      return rkb_program_fail(program, "%lld elements are asked of a row that has %lld", (long long)count,
                              (long long)(dim < shape.rank ? shape.size[dim] : 0));
   shape.size[dim] = count;
   int64_t integers[] = {dim, descending};
   return rkb_program_add(program, operation, &x, 1, integers, 2, NULL, 0, dtype, &shape);
}

uint32_t rkb_make_ranked(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t count, bool descending) {
   return make(program, &ranked, x, dim, count, descending, rkb_program_dtype(program, x));
}

uint32_t rkb_make_ranked_places(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t count,
                                bool descending) {
   return make(program, &ranked_places, x, dim, count, descending, RKB_I64);
}
