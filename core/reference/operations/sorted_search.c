/* Finds the places of numbers in sorted rows, as sampling does with running sums of probabilities.  Pure
 * functions of the elements they read.  A node's integer: 1 when equal elements count as less.
 *
 * The bound of a place: the row's elements and the number lie within their bounds, so an element may be on
 * the other side.  The place lies between the first and the last element that may be.  The stat bound uses 8
 * standard deviations in the same way.  Errors within one row are correlated, because a partial sum is part
 * of all later ones; so the elements' variances are not added up.
 *
 * NaN is larger than every number of a row, as in PyTorch.  A row with NaN is not sorted, so nothing is said of it. */
#include "reference/operations/sorted_search.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"

/* A place that is known to within this share of its row is not ambiguous, because comparing it still proves
 * enough. */
#define CLOSE_SHARE (1.0 / 16)

typedef struct row {
   uint64_t number, length;
   rkb_block_t points;
   int64_t *index;
   uint32_t flags;
} row_t;

static void row_free(row_t *row) {
   rkb_block_free(&row->points);
   free(row->index);
}

static bool row_new(row_t *row, uint64_t length) {
   *row = (row_t){
      .number = UINT64_MAX, .length = length, .index = rkb_try_uncleared(length + 1, sizeof(int64_t), NULL)};
   if (row->index && rkb_block_new(&row->points, length))
      return true;
   row_free(row);
   return false;
}

static int row_read(rkb_reader_t *reader, uint32_t sorted, uint64_t number, row_t *row) {
   row->number = number;
   for (uint64_t i = 0; i < row->length; i++)
      row->index[i] = (int64_t)(number * row->length + i);
   int status = rkb_read(reader, sorted, row->length, row->index, &row->points);
   row->flags = 0;
   for (uint64_t i = 0; status == RKB_OK && i < row->length; i++)
      row->flags |= (row->points.flags[i] & RKB_POINT_DONT_CARE) |
                    (isnan(row->points.value[i]) ? RKB_POINT_DONT_CARE : 0);
   return status;
}

/* How far the place may lie from the exact one when each element may be off by its reach. */
typedef struct reach {
   double place, low, high;
} reach_t;

static void reach_extend(reach_t *reach, uint64_t i, double element, double away, double wanted, bool right) {
   const bool may_be_greater = right ? element + away > wanted : element + away >= wanted;
   const bool may_be_less = right ? element - away <= wanted : element - away < wanted;
   if (may_be_greater)
      reach->low = fmin(reach->low, (double)i);
   if (may_be_less)
      reach->high = fmax(reach->high, (double)(i + 1));
}

static rkb_point_t place_of(const row_t *row, rkb_point_t wanted, bool right) {
   if (rkb_point_is_nan(wanted))
      return (rkb_point_t){(double)row->length, 0, 0, row->flags};
   reach_t hard = {0, (double)row->length, 0}, stat = hard;
   double place = 0;
   for (uint64_t i = 0; i < row->length; i++) {
      const rkb_point_t element = rkb_block_get(&row->points, i);
      place += right ? element.value <= wanted.value : element.value < wanted.value;
      const double likely = 8 * (sqrt(element.variance) + sqrt(wanted.variance)), most = element.hard + wanted.hard;
      reach_extend(&hard, i, element.value, most, wanted.value, right);
      reach_extend(&stat, i, element.value, fmin(likely, most), wanted.value, right);
   }
   const double apart = fmax(fmax(hard.high - place, place - hard.low), 0);
   const double likely = fmax(fmax(stat.high - place, place - stat.low), 0) / 8;
   uint32_t flags = (row->flags | wanted.flags) & RKB_POINT_DONT_CARE;
   if (apart > CLOSE_SHARE * (double)row->length)
      flags |= RKB_POINT_AMBIGUOUS;
   return (rkb_point_t){place, apart, likely * likely, flags | (isnan(wanted.value) ? RKB_POINT_DONT_CARE : 0)};
}

static int compute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index,
                   rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   const rkb_shape_t *sorted = rkb_program_shape(program, node->inputs[0]),
                     *values = rkb_program_shape(program, node->inputs[1]);
   const uint64_t each = (uint64_t)values->size[values->rank - 1];
   row_t row;
   if (!row_new(&row, (uint64_t)sorted->size[sorted->rank - 1]))
      return RKB_ERR_NOMEM;
   int status = rkb_read(reader, node->inputs[1], count, index, out);
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      const uint64_t number = (uint64_t)index[i] / each;
      if (number != row.number)
         status = row_read(reader, node->inputs[0], number, &row);
      if (status == RKB_OK)
         rkb_block_put(out, i, place_of(&row, rkb_block_get(out, i), node->integers[0] != 0));
   }
   row_free(&row);
   return status;
}

/* A binary search.  It costs less than reading the row, and the operations before it count that. */
static double work(const rkb_program_t *program, const rkb_program_node_t *node) {
   const rkb_shape_t *sorted = rkb_program_shape(program, node->inputs[0]);
   return (double)program->values[node->output].elements * ceil(log2((double)sorted->size[sorted->rank - 1] + 1));
}

static uint32_t no_gradient(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which, uint32_t grad) {
   (void)program, (void)node, (void)which, (void)grad;
   return RKB_NO_VALUE;
}

static const rkb_operation_t search = {
   .name = "search_sorted", .costly = true, .compute = compute, .work = work, .gradient = no_gradient};

uint32_t rkb_make_search(rkb_program_t *program, uint32_t sorted, uint32_t values, bool right) {
   if (program->failed)
      return RKB_NO_VALUE;
   const rkb_shape_t *rows = rkb_program_shape(program, sorted), shape = *rkb_program_shape(program, values);
   bool fits = rows->rank == shape.rank && shape.rank > 0;
   for (uint32_t dim = 0; fits && dim + 1 < shape.rank; dim++)
      fits = rows->size[dim] == shape.size[dim];
   if (!fits)
      return rkb_program_fail(program, "searchsorted: the values' shape must be that of the sorted rows, except for the last dim");
   const int64_t equal = right;
   return rkb_program_add(program, &search, (uint32_t[]){sorted, values}, 2, &equal, 1, NULL, 0, RKB_I64, &shape);
}
