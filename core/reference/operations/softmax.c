/* softmax and log_softmax along one dim.  Pure functions of what they read.
 *
 * The bounds allow these variants: with or without the largest element subtracted (where nothing overflows); exp as 2^(x log2 e);
 * exp(x - l) with l = m + log s, as backward passes compute it from what the forward pass kept;
 * online rescaling when a new largest element turns up (at most MOST_RESCALES times, since blocks see few new maxima); a division
 * or a product with an approximate reciprocal; log_softmax as (x - m) - log s or x - (m + log s). */
#include "reference/operations/reduce.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "reference/operations/widened_bounds.h"
#include "reference/operations/elementwise.h"
#include "reference/operations/layout.h"
#include "reference/operations/attention_gradient.h"

#define MOST_RESCALES 32
#define SAFE_EXPONENT 80 /* exp of a number up to this size neither overflows nor flushes in fp32 */
/* A logit that is uncertain by more than this may have any share; e to the power of minus this is no share in fp32. */
#define MOST_DOUBT 100

typedef struct row {
   uint64_t number;
   double largest, sum, log_sum;
   double surely; /* the largest element is no less, whatever the errors of the operands */
   double doubt;  /* error of an element that may be the largest, if that is more than MOST_DOUBT, else 0 */
   double carried, carried_variance;   /* relative error of the sum, from the operands: hard, variance */
   double arguments;                   /* mean size of the arguments of exp */
   double rounding, rounding_variance; /* relative error of the sum's own rounding */
   uint32_t flags;
   bool not_a_number; /* some element is NaN; then all elements of the row are NaN, as in PyTorch */
} row_t;

/* The size of the argument of exp, with or without the largest element subtracted. */
static double argument(double x, double largest) {
   double shifted = fabs(x - largest), plain = fabs(x);
   return plain < SAFE_EXPONENT && plain > shifted ? plain : shifted;
}

/* How often read_row reads each element: a short row is still in the block when it is read for its sum. */
static double reads_of_row(const rkb_rows_t *rows) {
   return rows->length > RKB_CHUNK ? 2 : 1;
}

static int find_largest(rkb_reader_t *reader, uint32_t x, const rkb_rows_t *rows, row_t *row,
                        rkb_block_t *block, int64_t *index) {
   row->largest = row->surely = -INFINITY;
   for (uint64_t first = 0; first < rows->length; first += RKB_CHUNK) {
      uint64_t count = rows->length - first < RKB_CHUNK ? rows->length - first : RKB_CHUNK;
      rkb_rows_index(rows, row->number, first, count, index);
      int status = rkb_read(reader, x, count, index, block);
      if (status != RKB_OK)
         return status;
      for (uint64_t i = 0; i < count; i++) {
         const double surely = block->value[i] - block->hard[i]; /* no NaN is larger */
         row->largest = block->value[i] > row->largest ? block->value[i] : row->largest;
         row->surely = surely > row->surely ? surely : row->surely;
         row->flags |= block->flags[i] & RKB_POINT_DONT_CARE;
         row->not_a_number |= isnan(block->value[i]);
      }
   }
   return RKB_OK;
}

static int read_row(rkb_reader_t *reader, uint32_t x, const rkb_rows_t *rows, row_t *row, rkb_block_t *block,
                    int64_t *index) {
   const rkb_precision_t *precision = rkb_reader_precision(reader);
   uint64_t number = row->number;
   *row = (row_t){.number = number};
   int status = find_largest(reader, x, rows, row, block, index);
   double squares = 0, terms = 0;
   for (uint64_t first = 0; status == RKB_OK && first < rows->length; first += RKB_CHUNK) {
      uint64_t count = rows->length - first < RKB_CHUNK ? rows->length - first : RKB_CHUNK;
      if (reads_of_row(rows) > 1) {
         rkb_rows_index(rows, number, first, count, index);
         status = rkb_read(reader, x, count, index, block);
      }
      for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
         double share = exp(block->value[i] - row->largest);
         if (block->hard[i] > MOST_DOUBT && block->value[i] + block->hard[i] > row->surely - MOST_DOUBT)
            row->doubt = fmax(row->doubt, block->hard[i]);
         if (!(share > 0))
            continue;
         row->sum += share;
         squares += share * share;
         terms++;
         row->carried += block->hard[i] > 0 ? share * expm1(fmin(block->hard[i], MOST_DOUBT)) : 0;
         row->carried_variance += share * share * block->variance[i];
         row->arguments += share * argument(block->value[i], row->largest);
      }
   }
   row->carried /= row->sum;
   row->carried_variance /= row->sum * row->sum;
   row->arguments /= row->sum;
   row->log_sum = log(row->sum);
   rkb_point_t rounding = {0};
   rkb_sum_rounding(precision, row->sum, row->sum, squares, terms, terms, &rounding);
   double u = precision->unit, own = u * precision->approximate * (8 + 3 * row->arguments);
   row->rounding =
      rounding.hard / row->sum + own + 8 * u * precision->approximate * fmin(terms, MOST_RESCALES);
   row->rounding_variance = rounding.variance / (row->sum * row->sum) + own * own / 3;
   if (!row->not_a_number && (!isfinite(row->sum) || isinf(row->largest)))
      row->flags |= RKB_POINT_DONT_CARE;
   return status;
}

/* The error of the argument x - l of exp(x - l), where l = m + log s, without the errors of the sum and of
 * exp itself.  l and x - l are rounded, and log has an error of its own; in base 2 both are multiplied first.
 * A kernel takes l = log s without m only while exp(x) cannot overflow. */
static double through_log_sum(const rkb_precision_t *precision, const row_t *row, double x) {
   const double normaliser = fabs(row->largest + row->log_sum), u = precision->unit;
   const double logarithm =
      normaliser < SAFE_EXPONENT ? fmax(fabs(row->log_sum), normaliser) : fabs(row->log_sum);
   return u * (fabs(x) + 2 * normaliser + fabs(x - row->largest - row->log_sum)) +
          10 * u * precision->approximate * logarithm;
}

/* The share of an element in a row whose largest element is in doubt.  It may be anything from 0 to the share
 * that results when the element is as large, and the others as small, as they may be.  own: the relative
 * error of a kernel that knows the row. */
static rkb_point_t share_in_doubt(const rkb_precision_t *precision, const row_t *row, rkb_point_t x, double y,
                                  double own) {
   const double most = exp(fmin(x.value + x.hard - row->surely, 0)) * (1 + own), hard = fmax(y, most - y);
   return rkb_point_rounded(precision, (rkb_point_t){y, hard, hard * hard / 3, row->flags | x.flags}, 0);
}

/* The error of the log of the sum that comes from the operands: it changes by no more than the element that changes most. */
static double carried_by_log(const row_t *row) {
   return row->doubt > 0 ? row->doubt : row->carried;
}

static rkb_point_t share_of(const rkb_precision_t *precision, const row_t *row, rkb_point_t x) {
   double y = exp(x.value - row->largest) / row->sum;
   if (row->not_a_number)
      return (rkb_point_t){NAN, 0, 0, row->flags};
   if (!(y > 0) && row->doubt == 0)
      return (rkb_point_t){0, precision->tiny, 0, row->flags | x.flags};
   double u = precision->unit,
          own = u * precision->approximate * (18 + 3 * argument(x.value, row->largest)) + u;
   const double quotient = 10 * u * precision->approximate;
   own = fmax(own, own - quotient + expm1(fmin(through_log_sum(precision, row, x.value), 100)));
   if (row->doubt > 0)
      return share_in_doubt(precision, row, x, y, own + row->rounding);
   double relative =
      (1 + expm1(fmin(x.hard, MOST_DOUBT))) * (1 + row->carried) * (1 + own + row->rounding) - 1;
   double variance =
      (1 - y) * (1 - y) * x.variance + row->carried_variance + own * own / 3 + row->rounding_variance;
   rkb_point_t point = {y, y * relative, y * y * variance, row->flags | x.flags};
   if (y + point.hard > 1)
      point.hard = fmax(1 - y, fmin(point.hard, 1)); /* the result is at most 1, whatever the error of x */
   point.hard = fmax(point.hard, y * (own + row->rounding));
   return rkb_point_rounded(precision, point, 0);
}

static rkb_point_t log_share_of(const rkb_precision_t *precision, const row_t *row, rkb_point_t x) {
   double y = x.value - row->largest - row->log_sum, share = exp(y), normaliser = row->largest + row->log_sum;
   if (row->not_a_number)
      return (rkb_point_t){NAN, 0, 0, row->flags};
   if (isinf(x.value))
      return (rkb_point_t){y, 0, 0, row->flags | x.flags};
   double u = precision->unit;
   double own = u * (fabs(x.value - row->largest) + fabs(normaliser)) +
                10 * u * precision->approximate * fmax(fabs(row->log_sum), fabs(normaliser));
   rkb_point_t point = {y, x.hard + carried_by_log(row) + row->rounding + own,
                        (1 - share) * (1 - share) * x.variance + row->carried_variance +
                           row->rounding_variance + own * own / 3,
                        row->flags | x.flags};
   return rkb_point_rounded(precision, point, 2);
}

/* log of the sum of a row's exps. */
static rkb_point_t log_sum_of(const rkb_precision_t *precision, const row_t *row) {
   double y = row->largest + row->log_sum;
   if (row->not_a_number)
      return (rkb_point_t){NAN, 0, 0, row->flags};
   double own = 10 * precision->unit * precision->approximate * fmax(fabs(row->log_sum), fabs(y));
   rkb_point_t point = {y, carried_by_log(row) + row->rounding + own,
                        row->carried_variance + row->rounding_variance + own * own / 3, row->flags};
   return rkb_point_rounded(precision, point, 1);
}

/* An output's element number is the number of its row. */
static int compute_log_sum(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                           const int64_t *index, rkb_block_t *out) {
   rkb_rows_t rows = rkb_rows_of(rkb_program_shape(rkb_reader_program(reader), node->inputs[0]),
                                 (uint64_t)node->integers[0]);
   rkb_block_t block = {0};
   int64_t *places = rkb_try_uncleared(RKB_CHUNK, sizeof *places, NULL);
   uint64_t prefetched = rkb_reader_in_points(reader) ? 0 : count;
   int status = places && rkb_block_new(&block, RKB_CHUNK) ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      row_t row = {.number = (uint64_t)index[i]};
      if (i >= prefetched)
         status =
            rkb_rows_prefetch(reader, node->inputs[0], &rows, count, (const uint64_t *)index, &prefetched);
      if (status == RKB_OK)
         status = read_row(reader, node->inputs[0], &rows, &row, &block, places);
      if (status == RKB_OK)
         rkb_block_put(out, i, log_sum_of(rkb_reader_precision(reader), &row));
   }
   rkb_block_free(&block);
   free(places);
   return status;
}

/* exp(x - l), or x - l itself, when the row's l = log of the sum of its exps is given
 * (reference/rewrites/given_values.h).  l is a number that a kernel stored, in base e or 2.  So only three steps have
 * errors: the change of x and l to the other base, the difference x - l, and exp. */
static rkb_point_t share_given(const rkb_precision_t *precision, rkb_point_t l, rkb_point_t x,
                               bool logarithm) {
   const double u = precision->unit, difference = x.value - l.value,
                size = 2 * fabs(x.value) + 2 * fabs(l.value) + fabs(difference);
   const uint32_t flags = l.flags | x.flags;
   if (rkb_point_is_nan(l) || rkb_point_is_nan(x))
      return rkb_point_nan();
   if (logarithm)
      return isinf(x.value) ? (rkb_point_t){x.value, 0, 0, flags}
                            : rkb_point_rounded(precision,
                                                (rkb_point_t){difference, x.hard + l.hard + u * size,
                                                              x.variance + l.variance, flags},
                                                2);
   const double carried = x.hard + l.hard, most = difference + carried;
   if (carried > MOST_DOUBT) {
      const double hard = exp(fmin(most, SAFE_EXPONENT));
      return (rkb_point_t){exp(difference), hard, hard * hard / 3,
                           flags | (most > SAFE_EXPONENT ? RKB_POINT_DONT_CARE : 0)};
   }
   const double y = exp(difference),
                own = expm1(fmin(u * size, 100)) + u * precision->approximate * (8 + 3 * fabs(difference));
   if (!(y > 0))
      return (rkb_point_t){0, precision->tiny, 0, flags};
   const double relative = (1 + expm1(carried)) * (1 + own) - 1;
   return rkb_point_rounded(
      precision, (rkb_point_t){y, y * relative, y * y * (x.variance + l.variance + own * own / 3), flags}, 1);
}

static rkb_point_t in_base_e(rkb_point_t l, double natural) {
   return (rkb_point_t){natural * l.value, natural * l.hard, natural * natural * l.variance, l.flags};
}

static int compute_given(rkb_reader_t *reader, const rkb_program_node_t *node, bool logarithm, uint64_t count,
                         const int64_t *index, rkb_block_t *out) {
   const rkb_shape_t *shape = rkb_program_shape(rkb_reader_program(reader), node->inputs[0]);
   rkb_block_t sums = {0};
   int64_t *rows = rkb_try_uncleared(count + 1, sizeof *rows, NULL);
   int status = rows && rkb_block_new(&sums, count + 1) ? rkb_read(reader, node->inputs[0], count, index, out)
                                                        : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      uint64_t number, place;
      rkb_rows_split(shape, UINT64_C(1) << node->integers[0], (uint64_t)index[i], &number, &place);
      rows[i] = (int64_t)number;
   }
   if (status == RKB_OK)
      status = rkb_read(reader, node->inputs[1], count, rows, &sums);
   for (uint64_t i = 0; status == RKB_OK && i < count; i++)
      rkb_block_put(out, i,
                    share_given(rkb_reader_precision(reader),
                                in_base_e(rkb_block_get(&sums, i), node->reals[0]), rkb_block_get(out, i),
                                logarithm));
   rkb_block_free(&sums);
   free(rows);
   return status;
}

/* The same in base 2: a kernel adds the largest element and the log of the sum in base 2, or multiplies at the end. */
static int compute_log2_sum(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                            const int64_t *index, rkb_block_t *out) {
   const int status = compute_log_sum(reader, node, count, index, out);
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      const rkb_point_t l = rkb_block_get(out, i);
      rkb_block_put(out, i,
                    rkb_point_rounded(rkb_reader_precision(reader),
                                      (rkb_point_t){M_LOG2E * l.value, M_LOG2E * l.hard,
                                                    M_LOG2E * M_LOG2E * l.variance, l.flags},
                                      3));
   }
   return status;
}

_Static_assert(sizeof(row_t) <= RKB_ROW_BYTES, "a row's sums fit into the memory of rows");

/* Takes a row of an input from memory, if it was read before.  It counts as work as if it were read again: the work that a call may do decides how many
 * elements are judged. */
static bool recall_row(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_rows_t *rows,
                       uint64_t number, row_t *row, int *status) {
   if (!rkb_program_is_input(rkb_reader_program(reader), node->inputs[0]) ||
       !rkb_row_recall(reader, node, number, row, sizeof *row))
      return false;
   *status = rkb_reader_work(reader, reads_of_row(rows) * (double)rows->length);
   return true;
}

static int compute(rkb_reader_t *reader, const rkb_program_node_t *node, bool logarithm, uint64_t count,
                   const int64_t *index, rkb_block_t *out) {
   const rkb_precision_t *precision = rkb_reader_precision(reader);
   const rkb_shape_t *shape = rkb_program_shape(rkb_reader_program(reader), node->inputs[0]);
   uint64_t mask = UINT64_C(1) << node->integers[0];
   rkb_rows_t rows = rkb_rows_of(shape, mask);
   rkb_block_t block = {0};
   int64_t *places = rkb_try_uncleared(RKB_CHUNK, sizeof *places, NULL);
   row_t row = {.number = UINT64_MAX};
   uint64_t *numbers = rkb_try_uncleared(count + 1, sizeof *numbers, NULL), prefetched, number, place;
   int status = places && numbers && rkb_block_new(&block, RKB_CHUNK)
                   ? rkb_read(reader, node->inputs[0], count, index, out)
                   : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++)
      rkb_rows_split(shape, mask, (uint64_t)index[i], &numbers[i], &place);
   prefetched = rkb_reader_in_points(reader) ? 0 : count;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      number = numbers[i];
      if (number != row.number && !recall_row(reader, node, &rows, number, &row, &status)) {
         if (i >= prefetched) {
            prefetched = i;
            status = rkb_rows_prefetch(reader, node->inputs[0], &rows, count, numbers, &prefetched);
         }
         if (status != RKB_OK)
            break;
         row.number = number;
         status = read_row(reader, node->inputs[0], &rows, &row, &block, places);
         if (status == RKB_OK)
            rkb_row_keep(reader, node, number, &row, sizeof row);
      }
      if (status != RKB_OK)
         break;
      rkb_point_t x = rkb_block_get(out, i);
      rkb_block_put(out, i, logarithm ? log_share_of(precision, &row, x) : share_of(precision, &row, x));
   }
   rkb_block_free(&block);
   free(numbers);
   free(places);
   return status;
}

static int compute_softmax(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                           const int64_t *index, rkb_block_t *out) {
   return node->input_count > 1 ? compute_given(reader, node, false, count, index, out)
                                : compute(reader, node, false, count, index, out);
}

static int compute_log_softmax(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                               const int64_t *index, rkb_block_t *out) {
   return node->input_count > 1 ? compute_given(reader, node, true, count, index, out)
                                : compute(reader, node, true, count, index, out);
}

/* A row that lies in one piece is read once. */
static uint64_t shared(const rkb_program_t *program, const rkb_program_node_t *node) {
   const rkb_shape_t *shape = rkb_program_shape(program, node->inputs[0]);
   const uint32_t last = shape->rank - 1;
   return shape->rank && (node->input_count == 1) && (uint64_t)node->integers[0] == last
             ? (uint64_t)shape->size[last]
             : 0;
}

static double work(const rkb_program_t *program, const rkb_program_node_t *node) {
   return 4 * (double)program->values[node->output].elements; /* largest, difference and exp, sum, division */
}

/* y (grad - sum(grad y)) */
static uint32_t gradient_softmax(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                 uint32_t grad) {
   (void)which;
   uint32_t y = node->output;
   uint32_t dot = rkb_make_reduce(program, "sum", rkb_make_binary(program, "mul", grad, y),
                                  UINT64_C(1) << node->integers[0], true);
   dot = rkb_sum_through_mix(program, node, grad, dot);
   return rkb_make_binary(program, "mul", y, rkb_make_binary(program, "sub", grad, dot));
}

/* grad - softmax(x) sum(grad).  Behind a pick of one class, grad is zero except at that class, and kernels write (softmax(x) - [picked])
 * * grad.  That form rounds the difference and the product, each in proportion to the result; the form here rounds once. */
#define FORMS_APART 2 /* roundings */
static uint32_t gradient_log_softmax(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                     uint32_t grad) {
   (void)which;
   uint32_t dim = (uint32_t)node->integers[0];
   uint32_t share = rkb_make_softmax(program, "softmax", node->inputs[0], dim);
   uint32_t sum = rkb_make_reduce(program, "sum", grad, UINT64_C(1) << dim, true);
   uint32_t difference = rkb_make_binary(program, "sub", grad, rkb_make_binary(program, "mul", share, sum));
   return rkb_make_widened_bound(program, difference, difference, RKB_NO_VALUE, FORMS_APART);
}

static double work_of_sum(const rkb_program_t *program, const rkb_program_node_t *node) {
   return 3 * (double)program->values[node->inputs[0]].elements; /* largest, difference and exp, sum */
}

/* softmax(x) grad */
static uint32_t gradient_log_sum(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                 uint32_t grad) {
   (void)which;
   uint32_t dim = (uint32_t)__builtin_ctzll((unsigned long long)node->integers[0]);
   rkb_shape_t kept = *rkb_program_shape(program, node->inputs[0]);
   kept.size[dim] = 1;
   return rkb_make_binary(program, "mul", rkb_make_softmax(program, "softmax", node->inputs[0], dim),
                          rkb_make_reshape(program, grad, &kept));
}

static const rkb_operation_t log_sum = {.name = "log_sum_exp",
                                        .costly = true,
                                        .compute = compute_log_sum,
                                        .work = work_of_sum,
                                        .gradient = gradient_log_sum};

static const rkb_operation_t log2_sum = {
   .name = "log2_sum_exp2", .costly = true, .compute = compute_log2_sum, .work = work_of_sum};

static const rkb_operation_t softmax = {.name = "softmax",
                                        .costly = true,
                                        .compute = compute_softmax,
                                        .shared = shared,
                                        .work = work,
                                        .gradient = gradient_softmax};
static const rkb_operation_t log_softmax = {.name = "log_softmax",
                                            .costly = true,
                                            .compute = compute_log_softmax,
                                            .shared = shared,
                                            .work = work,
                                            .gradient = gradient_log_softmax};

uint32_t rkb_make_softmax(rkb_program_t *program, const char *name, uint32_t x, uint32_t dim) {
   rkb_shape_t shape = *rkb_program_shape(program, x);
   int64_t along = dim;
   return rkb_program_add(program, name[0] == 'l' ? &log_softmax : &softmax, &x, 1, &along, 1, NULL, 0,
                          rkb_program_dtype(program, x), &shape);
}

static uint32_t make_sum(rkb_program_t *program, const rkb_operation_t *operation, uint32_t x, uint32_t dim,
                         bool keep) {
   rkb_shape_t shape = *rkb_program_shape(program, x), out = {0};
   int64_t mask = INT64_C(1) << dim;
   for (uint32_t d = 0; d < shape.rank; d++)
      if (d != dim || keep)
         out.size[out.rank++] = d == dim ? 1 : shape.size[d];
   return rkb_program_add(program, operation, &x, 1, &mask, 1, NULL, 0, rkb_program_dtype(program, x), &out);
}

uint32_t rkb_make_log_sum_exp(rkb_program_t *program, uint32_t x, uint32_t dim, bool keep) {
   return make_sum(program, &log_sum, x, dim, keep);
}

uint32_t rkb_make_log2_sum_exp2(rkb_program_t *program, uint32_t x, uint32_t dim) {
   return make_sum(program, &log2_sum, x, dim, true);
}

bool rkb_is_softmax(const rkb_program_node_t *node) {
   return node->operation == &softmax || node->operation == &log_softmax;
}

bool rkb_softmax_goes_by(const rkb_program_node_t *node, const rkb_program_node_t *sum) {
   return rkb_is_softmax(node) && (sum->operation == &log_sum || sum->operation == &log2_sum) &&
          node->inputs[0] == sum->inputs[0] && INT64_C(1) << node->integers[0] == sum->integers[0];
}

double rkb_row_sum_base(const rkb_program_node_t *sum) {
   return sum->operation == &log2_sum ? M_LN2 : 1;
}
