/* Linear recurrences along one dim: h[i] = a[i] h[i-1] + b[i].  Pure functions of what they read.  A node's integer: the dim.
 *
 * h[i] is a sum of terms b[s] a[s+1] .. a[i].  Kernels go step by step, or join pieces: (a2, b2) after (a1, b1) is
 * (a1 a2, a2 b1 + b2).  Either way a term passes, for each step that it is carried, through at most three roundings: one of the product
 * of factors, one of the product with it, one of the addition.  Where pieces are joined, a term of the last step also passes through
 * an addition for each level of the tree, for which RKB_SUM_SPARE roundings are allowed.
 *
 * hard: these roundings of the sum of |terms|, carried along with the factors, and the operands' own errors.
 *
 * stat: each rounding is independent and of the size of the state or, where terms cancel, of the root of their squares.  a[i] and b[i] may
 * carry the same error, so their standard deviations add up; errors of different steps are independent.
 *
 * A product of factors may be flushed to zero, or overflow, before it meets its term.
 *
 * NaN stays in the state.  What NaN times an exact zero gives is open: a kernel may begin with the first term, or multiply the state 0 by
 * the first factor. */
#include "reference/operations/recurrence.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "reference/operations/elementwise.h"
#include "reference/operations/layout.h"
#include "reference/operations/reduce.h"

#define STEP_ROUNDINGS 3

/* The state after a step. */
typedef struct state {
   rkb_point_t point;
   double absolute, squares;    /* of the terms: the sum of their sizes, and of their squares */
   double product, largest_term; /* the largest product of neighbouring factors that ends here, the largest |b| so far */
} state_t;

/* The state after a step with NaN among its operands: an addend that is NaN, or a factor, or the state before. */
static rkb_point_t spoilt(rkb_point_t a, rkb_point_t b, rkb_point_t before) {
   const rkb_point_t factors[] = {a, before};
   return rkb_point_is_nan(b) ? rkb_point_nan() : rkb_elementwise_find("mul")->point(NULL, NULL, factors);
}

static void step(const rkb_precision_t *precision, rkb_point_t a, rkb_point_t b, state_t *state) {
   const double u = precision->unit, size = fabs(a.value) + a.hard;
   const rkb_point_t before = state->point;
   if (rkb_point_is_nan(a) || rkb_point_is_nan(b) || rkb_point_is_nan(before)) {
      state->point = spoilt(a, b, before);
      return;
   }
   state->point.value = a.value * before.value + b.value;
   state->point.flags |= (a.flags | b.flags) & RKB_POINT_DONT_CARE;
   state->absolute = size * state->absolute + fabs(b.value) + b.hard;
   state->squares = a.value * a.value * state->squares + b.value * b.value;
   state->largest_term = fmax(state->largest_term, fabs(b.value) + b.hard);
   state->product = fmax(state->product, 1) * size;
   state->point.hard = fabs(a.value) * before.hard + a.hard * (fabs(before.value) + before.hard) + b.hard;
   if (state->absolute > 0)
      state->point.hard += STEP_ROUNDINGS * u * state->absolute + precision->tiny * (1 + state->largest_term);
   const double together = fabs(before.value) * sqrt(a.variance) + sqrt(b.variance);
   const double rounded = fmax(state->point.value * state->point.value, state->squares);
   state->point.variance =
      a.value * a.value * before.variance + together * together + u * u * STEP_ROUNDINGS / 3 * rounded;
}

/* The point of a state: its value and the bounds for a kernel's value. */
static rkb_point_t conclude(const rkb_precision_t *precision, const state_t *state) {
   rkb_point_t point = state->point;
   if (rkb_point_is_nan(point))
      return point;
   point.hard += RKB_SUM_SPARE * precision->unit * state->absolute;
   point.variance += RKB_SUM_SPARE * precision->unit * precision->unit / 3 * state->squares;
   if (!(fmax(state->absolute + point.hard, state->product) < precision->largest))
      point.flags |= RKB_POINT_DONT_CARE;
   return point;
}

typedef struct row {
   uint64_t number, length;
   rkb_block_t factors, addends, states;
   int64_t *index;
} row_t;

static void row_free(row_t *row) {
   rkb_block_free(&row->factors);
   rkb_block_free(&row->addends);
   rkb_block_free(&row->states);
   free(row->index);
}

static bool row_new(row_t *row, uint64_t length) {
   *row = (row_t){
      .number = UINT64_MAX, .length = length, .index = rkb_try_uncleared(length, sizeof(int64_t), NULL)};
   if (row->index && rkb_block_new(&row->factors, length) && rkb_block_new(&row->addends, length) &&
       rkb_block_new(&row->states, length))
      return true;
   row_free(row);
   return false;
}

static int row_compute(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_rows_t *rows,
                       uint64_t number, row_t *row) {
   row->number = number;
   rkb_rows_index(rows, number, 0, rows->length, row->index);
   int status = rkb_read(reader, node->inputs[0], rows->length, row->index, &row->factors);
   if (status == RKB_OK)
      status = rkb_read(reader, node->inputs[1], rows->length, row->index, &row->addends);
   state_t state = {.point = {0}};
   for (uint64_t i = 0; status == RKB_OK && i < rows->length; i++) {
      const rkb_precision_t *precision = rkb_reader_precision(reader);
      const rkb_point_t own = rkb_block_get(&row->factors, i);
      const rkb_point_t factor = i > 0 || rkb_point_is_nan(own) ? own : (rkb_point_t){0};
      step(precision, factor, rkb_block_get(&row->addends, i), &state);
      rkb_block_put(&row->states, i, conclude(precision, &state));
   }
   return status;
}

static int compute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index,
                   rkb_block_t *out) {
   const rkb_shape_t *shape = rkb_program_shape(rkb_reader_program(reader), node->output);
   uint64_t mask = UINT64_C(1) << node->integers[0], number, place;
   rkb_rows_t rows = rkb_rows_of(shape, mask);
   row_t row;
   if (!row_new(&row, rows.length))
      return RKB_ERR_NOMEM;
   int status = RKB_OK;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      rkb_rows_split(shape, mask, (uint64_t)index[i], &number, &place);
      if (number != row.number)
         status = row_compute(reader, node, &rows, number, &row);
      if (status == RKB_OK)
         rkb_block_put(out, i, rkb_block_get(&row.states, place));
   }
   row_free(&row);
   return status;
}

static double work(const rkb_program_t *program, const rkb_program_node_t *node) {
   return 2 * (double)program->values[node->output].elements;
}

/* Element i of the result is element i - 1 of x; the first is 0. */
static uint32_t one_later(rkb_program_t *program, uint32_t x, uint32_t dim) {
   const int64_t size = rkb_program_shape(program, x)->size[dim];
   return rkb_make_embed(program, rkb_make_slice(program, x, dim, 0, size - 1, 1), dim, 1, size, 1, 0);
}

/* Addend i receives G[i] = g[i] + a[i+1] G[i+1], a recurrence from the other end.  Factor i receives G[i]
 * h[i-1]. */
static uint32_t gradient(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which, uint32_t grad) {
   const uint32_t dim = (uint32_t)node->integers[0];
   const uint64_t mask = UINT64_C(1) << dim;
   const uint32_t factor = node->inputs[0], states = node->output; /* the node may move while the program grows */
   if (rkb_program_shape(program, factor)->size[dim] == 1 && which == 1)
      return grad;
   if (rkb_program_shape(program, factor)->size[dim] ==
       1) { /* G times the state 0: 0, or open where NaN meets it */
      const rkb_shape_t shape = *rkb_program_shape(program, factor);
      return rkb_make_binary(program, "mul", grad,
                             rkb_make_full(program, &shape, 0, rkb_program_dtype(program, grad)));
   }
   const uint32_t turned = one_later(program, rkb_make_flip(program, factor, mask), dim);
   const uint32_t received =
      rkb_make_flip(program, rkb_make_recurrence(program, turned, rkb_make_flip(program, grad, mask), dim), mask);
   return which == 1 ? received : rkb_make_binary(program, "mul", received, one_later(program, states, dim));
}

static const rkb_operation_t recurrence = {
   .name = "recurrence", .costly = true, .compute = compute, .work = work, .gradient = gradient};

uint32_t rkb_make_recurrence(rkb_program_t *program, uint32_t factor, uint32_t addend, uint32_t dim) {
   if (program->failed)
      return RKB_NO_VALUE;
   rkb_shape_t shape = *rkb_program_shape(program, addend), other = *rkb_program_shape(program, factor);
   bool fits = shape.rank == other.rank && dim < shape.rank;
   for (uint32_t d = 0; fits && d < shape.rank; d++)
      fits = shape.size[d] == other.size[d];
   if (!fits)
      return rkb_program_fail(program, "linear_scan: factors and addends must have one shape");
   int64_t along = dim;
   return rkb_program_add(program, &recurrence, (uint32_t[]){factor, addend}, 2, &along, 1, NULL, 0,
                          rkb_program_dtype(program, addend), &shape);
}
