/* Sums, means, variances and extremes over some dims.  Pure functions of what they read.
 * A node's integers: the mask of reduced dims, 1 to keep them as size 1, and for a variance its correction. */
#include "reference/operations/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/name_table.h"
#include "base/memory.h"
#include "reference/operations/elementwise.h"
#include "reference/operations/layout.h"
#include "reference/operations/whole_numbers.h"

#define PIECE RKB_CHUNK
#define READ_PIECES 64u /* pieces read at once when points are computed, which several threads share */

/* What one pass over a row computes. */
typedef struct row_sums {
   double sum, absolute, squares, fourths, nonzero;
   double centred, centred_hard, centred_variance; /* relative to the mean, which an earlier pass found */
   double hard, variance, tiny;
   double largest, high, low, largest_variance; /* extremes, for amax */
   bool not_a_number;    /* some element was NaN; then the extreme is NaN, as in PyTorch */
   double doubt, apart;  /* for argmax: the bound of the largest; the distance of the farthest rival */
   uint64_t seen, place; /* for argmax: elements passed so far, and the first place of the largest */
   uint32_t flags;
} row_sums_t;

typedef void (*visit_t)(row_sums_t *sums, const rkb_block_t *block, uint64_t count, double about);

static uint64_t part_of(const rkb_reader_t *reader) {
   return rkb_reader_in_points(reader) ? READ_PIECES * PIECE : PIECE;
}

/* Reads one row in parts and passes it to visit in pieces.  Each piece is summed by itself first, which keeps long sums accurate. */
static int pass(rkb_reader_t *reader, uint32_t value, const rkb_rows_t *rows, uint64_t row, double about,
                visit_t visit, rkb_block_t *block, int64_t *index, row_sums_t *sums) {
   for (uint64_t first = 0, count; first < rows->length; first += count) {
      const uint64_t part =
         rkb_reader_holds(reader, value) ? PIECE : part_of(reader); /* small parts stay in the cache */
      count = rows->length - first < part ? rows->length - first : part;
      rkb_rows_index(rows, row, first, count, index);
      int status = rkb_read(reader, value, count, index, block);
      if (status != RKB_OK)
         return status;
      for (uint64_t done = 0; done < count; done += PIECE) {
         rkb_block_t piece = rkb_block_from(block, done);
         visit(sums, &piece, count - done < PIECE ? count - done : PIECE, about);
      }
   }
   return RKB_OK;
}

static void visit_sums(row_sums_t *sums, const rkb_block_t *block, uint64_t count, double about) {
   (void)about;
   row_sums_t piece = {0};
   for (uint64_t i = 0; i < count; i++) {
      double x = block->value[i], square = x * x;
      piece.sum += x;
      piece.absolute += fabs(x);
      piece.squares += square;
      piece.fourths += square * square;
      piece.nonzero += x != 0;
      piece.hard += block->hard[i];
      piece.variance += block->variance[i];
      sums->flags |= block->flags[i] & RKB_POINT_DONT_CARE;
   }
   sums->sum += piece.sum;
   sums->absolute += piece.absolute;
   sums->squares += piece.squares;
   sums->fourths += piece.fourths;
   sums->nonzero += piece.nonzero;
   sums->hard += piece.hard;
   sums->variance += piece.variance;
}

static void visit_centred(row_sums_t *sums, const rkb_block_t *block, uint64_t count, double about) {
   row_sums_t piece = {0};
   for (uint64_t i = 0; i < count; i++) {
      double away = block->value[i] - about, hard = block->hard[i];
      piece.centred += away * away;
      piece.centred_hard += (2 * fabs(away) + hard) * hard;
      piece.centred_variance += 4 * away * away * block->variance[i];
   }
   sums->centred += piece.centred;
   sums->centred_hard += piece.centred_hard;
   sums->centred_variance += piece.centred_variance;
}

static void visit_largest(row_sums_t *sums, const rkb_block_t *block, uint64_t count, double about) {
   (void)about;
   for (uint64_t i = 0; i < count; i++) {
      double x = block->value[i], hard = block->hard[i];
      sums->not_a_number |= isnan(x);
      sums->largest = fmax(sums->largest, x);
      sums->high = fmax(sums->high, x + hard);
      sums->low = fmax(sums->low, x - hard);
      sums->flags |= block->flags[i] & RKB_POINT_DONT_CARE;
   }
   for (uint64_t i = 0; i < count; i++)
      if (block->value[i] + block->hard[i] >= sums->low)
         sums->largest_variance = fmax(sums->largest_variance, block->variance[i]);
}

static void negate(const rkb_block_t *block, uint64_t count) {
   for (uint64_t i = 0; i < count; i++)
      block->value[i] = -block->value[i];
}

static void visit_negated(row_sums_t *sums, const rkb_block_t *block, uint64_t count, double about) {
   negate(block, count);
   visit_largest(sums, block, count, about);
}

/* Finds the first place of the largest element, or of the first NaN, as in PyTorch.  The second pass finds the places of its rivals, any of which a kernel may
 * choose. */
static void visit_place(row_sums_t *sums, const rkb_block_t *block, uint64_t count, double about) {
   (void)about;
   for (uint64_t i = 0; i < count; i++, sums->seen++) {
      const bool nan = isnan(block->value[i]);
      if (!sums->not_a_number && (nan || block->value[i] > sums->largest)) {
         sums->not_a_number = nan;
         sums->largest = block->value[i];
         sums->place = sums->seen;
         sums->doubt = block->hard[i];
      }
      sums->flags |= block->flags[i] & RKB_POINT_DONT_CARE;
   }
}

static void visit_rivals(row_sums_t *sums, const rkb_block_t *block, uint64_t count, double about) {
   for (uint64_t i = 0; i < count; i++, sums->seen++) {
      double bounds = block->hard[i] + sums->doubt;
      if (sums->seen != sums->place && bounds > 0 && about - block->value[i] <= bounds)
         sums->apart = fmax(sums->apart, fabs((double)sums->seen - (double)sums->place));
   }
}

static void visit_negated_place(row_sums_t *sums, const rkb_block_t *block, uint64_t count, double about) {
   negate(block, count);
   visit_place(sums, block, count, about);
}

static void visit_negated_rivals(row_sums_t *sums, const rkb_block_t *block, uint64_t count, double about) {
   negate(block, count);
   visit_rivals(sums, block, count, about);
}

/* A sum that has NaN, or infinities of both signs, is NaN in every order. */
static bool is_nan(const row_sums_t *sums) {
   return isnan(sums->sum) && !(sums->flags & RKB_POINT_DONT_CARE);
}

static rkb_point_t conclude_sum(const rkb_precision_t *precision, const row_sums_t *sums) {
   if (is_nan(sums))
      return rkb_point_nan();
   rkb_point_t point = {sums->sum, sums->hard, sums->variance, sums->flags};
   rkb_sum_rounding(precision, sums->sum, sums->absolute, sums->squares, sums->nonzero, sums->nonzero,
                    &point);
   point.hard += sums->nonzero > 0 || point.hard > 0 ? precision->tiny : 0;
   if (!(sums->absolute + point.hard < precision->largest))
      point.flags |= RKB_POINT_DONT_CARE;
   return point;
}

/* The mean as sum / n, as sum * (1 / n) with a rounded 1 / n, or as a sum of products with 1 / n: two more roundings. */
static rkb_point_t conclude_mean(const rkb_precision_t *precision, const row_sums_t *sums, double length) {
   rkb_point_t point = conclude_sum(precision, sums);
   if (is_nan(sums))
      return point;
   point.value /= length;
   point.hard /= length;
   point.variance /= length * length;
   return rkb_point_rounded(precision, point, 2);
}

/* The bound is that of the one-pass formula E[x^2] - E[x]^2: the rounding of both sums and of their difference.  It exceeds the
 * bounds of two passes and of Welford's recurrence (Chan, Golub, LeVeque, 'Algorithms for computing the sample variance', 1983).
 * Errors of the mean cancel to first order.  So do the operands' errors about the mean, except for their distances from it. */
static rkb_point_t conclude_variance(const rkb_precision_t *precision, const row_sums_t *sums, double length,
                                     double correction) {
   if (is_nan(sums))
      return rkb_point_nan();
   double u = precision->unit, mean = sums->sum / length, mean_square = sums->squares / length;
   rkb_point_t of_squares = {0}, of_sum = {0};
   rkb_sum_rounding(precision, sums->squares, sums->squares, sums->fourths, length, length, &of_squares);
   rkb_sum_rounding(precision, sums->sum, sums->absolute, sums->squares, sums->nonzero, sums->nonzero,
                    &of_sum);
   double difference = 3 * u * (mean_square + mean * mean);
   double scale = length / (length - correction);
   rkb_point_t point = {sums->centred / (length - correction), 0, 0, sums->flags};
   point.hard = scale * ((of_squares.hard + sums->centred_hard) / length +
                         2 * fabs(mean) * of_sum.hard / length + difference);
   point.variance = scale * scale *
                    ((of_squares.variance + sums->centred_variance) / (length * length) +
                     4 * mean * mean * of_sum.variance / (length * length) + difference * difference / 3);
   if (!(sums->squares < precision->largest))
      point.flags |= RKB_POINT_DONT_CARE;
   return rkb_point_rounded(precision, point, 3);
}

enum { SUM, MEAN, VARIANCE, LARGEST, SMALLEST, LARGEST_PLACE, SMALLEST_PLACE };

static int reduce_row(rkb_reader_t *reader, const rkb_program_node_t *node, int kind, const rkb_rows_t *rows,
                      uint64_t row, rkb_block_t *block, int64_t *index, rkb_point_t *point) {
   const rkb_precision_t *precision = rkb_reader_precision(reader);
   row_sums_t sums = {.largest = -INFINITY, .high = -INFINITY, .low = -INFINITY};
   uint32_t x = node->inputs[0];
   static const visit_t visits[] = {[SUM] = visit_sums,
                                    [MEAN] = visit_sums,
                                    [VARIANCE] = visit_sums,
                                    [LARGEST] = visit_largest,
                                    [SMALLEST] = visit_negated,
                                    [LARGEST_PLACE] = visit_place,
                                    [SMALLEST_PLACE] = visit_negated_place};
   visit_t visit = visits[kind];
   int status = pass(reader, x, rows, row, 0, visit, block, index, &sums);
   if (status != RKB_OK)
      return status;
   double length = (double)rows->length;
   switch (kind) {
   case SUM:
      *point = rkb_sums_exactly(sums.hard, sums.absolute) && rkb_is_whole(rkb_reader_program(reader), x)
                  ? (rkb_point_t){sums.sum, 0, 0, sums.flags}
                  : conclude_sum(precision, &sums);
      return RKB_OK;
   case MEAN:
      *point = conclude_mean(precision, &sums, length);
      return RKB_OK;
   case VARIANCE:
      status = pass(reader, x, rows, row, sums.sum / length, visit_centred, block, index, &sums);
      *point = conclude_variance(precision, &sums, length, (double)node->integers[2]);
      return status;
   case LARGEST_PLACE:
   case SMALLEST_PLACE:
      sums.seen = 0;
      status = pass(reader, x, rows, row, sums.largest,
                    kind == LARGEST_PLACE ? visit_rivals : visit_negated_rivals, block, index, &sums);
      *point = (rkb_point_t){(double)sums.place, sums.apart, sums.apart * sums.apart,
                             sums.flags | (sums.apart > 0 ? RKB_POINT_AMBIGUOUS : 0)};
      return status;
   default:
      if (sums.not_a_number) {
         *point = (rkb_point_t){NAN, 0, 0, sums.flags};
         return RKB_OK;
      }
      *point =
         (rkb_point_t){kind == SMALLEST ? -sums.largest : sums.largest,
                       isinf(sums.largest) ? 0 : fmax(sums.high - sums.largest, sums.largest - sums.low),
                       sums.largest_variance, sums.flags};
      return RKB_OK;
   }
}

static int reduce(rkb_reader_t *reader, const rkb_program_node_t *node, int kind, uint64_t count,
                  const int64_t *index, rkb_block_t *out) {
   rkb_rows_t rows = rkb_rows_of(rkb_program_shape(rkb_reader_program(reader), node->inputs[0]),
                                 (uint64_t)node->integers[0]);
   uint64_t part = part_of(reader), room = rows.length < part ? rows.length : part;
   uint64_t prefetched = rkb_reader_in_points(reader) ? 0 : count;
   rkb_block_t block = {0};
   int64_t *places = rkb_try_uncleared(room, sizeof *places, NULL);
   int status = places && rkb_reader_block(reader, &block, room) ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      rkb_point_t point;
      if (i >= prefetched) /* an output's element number is the number of its row */
         status =
            rkb_rows_prefetch(reader, node->inputs[0], &rows, count, (const uint64_t *)index, &prefetched);
      if (status == RKB_OK)
         status = reduce_row(reader, node, kind, &rows, (uint64_t)index[i], &block, places, &point);
      if (status == RKB_OK)
         rkb_block_put(out, i, point);
   }
   rkb_reader_block_free(reader, &block);
   free(places);
   return status;
}

#define COMPUTE(name, kind)                                                                                  \
   static int compute_##name(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,           \
                             const int64_t *index, rkb_block_t *out) {                                       \
      return reduce(reader, node, kind, count, index, out);                                                  \
   }
COMPUTE(sum, SUM)
COMPUTE(mean, MEAN)
COMPUTE(variance, VARIANCE)
COMPUTE(amax, LARGEST)
COMPUTE(amin, SMALLEST)
COMPUTE(argmax, LARGEST_PLACE)
COMPUTE(argmin, SMALLEST_PLACE)

static double work_once(const rkb_program_t *program, const rkb_program_node_t *node) {
   return (double)program->values[node->inputs[0]].elements;
}

static double work_thrice(const rkb_program_t *program, const rkb_program_node_t *node) {
   return 3 * work_once(program, node);
}

/* Each output reads only its own row. */
static double cone(const rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                   double outputs, uint64_t samples, const int64_t *output, int64_t *operand) {
   (void)which;
   rkb_rows_t rows = rkb_rows_of(rkb_program_shape(program, node->inputs[0]), (uint64_t)node->integers[0]);
   for (uint64_t i = 0; i < samples; i++)
      if (output[i] < 0)
         operand[i] = -1;
      else
         rkb_rows_index(&rows, (uint64_t)output[i], (i * UINT64_C(0x9E3779B97F4A7C15) >> 20) % rows.length, 1,
                        &operand[i]);
   return outputs * (double)rows.length;
}

/* Gradients */

/* Stretches a value of the reduced shape back over the operand. */
static uint32_t stretch(rkb_program_t *program, const rkb_program_node_t *node, uint32_t value) {
   const rkb_shape_t *shape = rkb_program_shape(program, node->inputs[0]);
   rkb_shape_t kept = *shape;
   for (uint32_t d = 0; d < shape->rank; d++)
      if (node->integers[0] >> d & 1)
         kept.size[d] = 1;
   return rkb_make_expand(program, rkb_make_reshape(program, value, &kept), shape);
}

static uint64_t row_length(const rkb_program_t *program, const rkb_program_node_t *node) {
   return rkb_rows_of(rkb_program_shape(program, node->inputs[0]), (uint64_t)node->integers[0]).length;
}

static uint32_t gradient_sum(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                             uint32_t grad) {
   (void)which;
   return stretch(program, node, grad);
}

static uint32_t gradient_mean(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                              uint32_t grad) {
   (void)which;
   uint32_t each = rkb_make_scalar(program, "div_scalar", grad, (double)row_length(program, node));
   return stretch(program, node, each);
}

/* 2 (x - mean) / (n - correction).  The dependence of the mean on x cancels. */
static uint32_t gradient_variance(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                  uint32_t grad) {
   if (which != 0)
      return RKB_NO_VALUE;
   uint32_t x = node->inputs[0];
   double length = (double)row_length(program, node) - (double)node->integers[2];
   uint32_t mean = node->input_count > 1
                      ? node->inputs[1]
                      : rkb_make_reduce(program, "mean", x, (uint64_t)node->integers[0], true);
   uint32_t each = rkb_make_scalar(program, "mul_scalar", grad, 2 / length);
   return rkb_make_binary(program, "mul", stretch(program, node, each),
                          rkb_make_binary(program, "sub", x, mean));
}

/* PyTorch divides the gradient of amax evenly among ties. */
static uint32_t gradient_extreme(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                 uint32_t grad) {
   (void)which;
   uint32_t x = node->inputs[0];
   uint32_t ties = rkb_make_binary(program, "equal", x, stretch(program, node, node->output));
   uint32_t number = rkb_make_reduce(program, "sum", ties, (uint64_t)node->integers[0], true);
   return rkb_make_binary(program, "div", rkb_make_binary(program, "mul", stretch(program, node, grad), ties),
                          number);
}

static const rkb_operation_t operations[] = {
   {.name = "sum",
    .costly = true,
    .cone = cone,
    .exact = true,
    .compute = compute_sum,
    .work = work_once,
    .gradient = gradient_sum},
   {.name = "mean",
    .costly = true,
    .cone = cone,
    .compute = compute_mean,
    .work = work_once,
    .gradient = gradient_mean},
   {.name = "amax",
    .costly = true,
    .cone = cone,
    .exact = true,
    .compute = compute_amax,
    .work = work_once,
    .gradient = gradient_extreme},
   {.name = "amin",
    .costly = true,
    .cone = cone,
    .exact = true,
    .compute = compute_amin,
    .work = work_once,
    .gradient = gradient_extreme},
   {.name = "argmax",
    .costly = true,
    .cone = cone,
    .exact = true,
    .compute = compute_argmax,
    .work = work_once},
   {.name = "argmin",
    .costly = true,
    .cone = cone,
    .exact = true,
    .compute = compute_argmin,
    .work = work_once},
   {.name = "variance",
    .costly = true,
    .divides = true,
    .cone = cone,
    .compute = compute_variance,
    .work = work_thrice,
    .gradient = gradient_variance},
};

static rkb_shape_t reduced_shape(const rkb_shape_t *shape, uint64_t mask, bool keep) {
   rkb_shape_t out = {0};
   for (uint32_t d = 0; d < shape->rank; d++) {
      if (!(mask >> d & 1))
         out.size[out.rank++] = shape->size[d];
      else if (keep)
         out.size[out.rank++] = 1;
   }
   return out;
}

static uint32_t make(rkb_program_t *program, const char *name, uint32_t x, uint32_t mean,
                     const int64_t integers[3]) {
   const rkb_operation_t *operation = NULL;
   for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
      if (rkb_same_name(operations[i].name, name))
         operation = &operations[i];
   if (!operation)
      return rkb_program_fail(program, "there is no reduction %s", name);
   rkb_shape_t shape = reduced_shape(rkb_program_shape(program, x), (uint64_t)integers[0], integers[1] != 0);
   uint32_t dtype = strncmp(name, "arg", 3) == 0 ? RKB_I64 : rkb_program_dtype(program, x);
   return rkb_program_add(program, operation, (uint32_t[]){x, mean}, mean == RKB_NO_VALUE ? 1 : 2, integers,
                          3, NULL, 0, dtype, &shape);
}

uint32_t rkb_make_reduce(rkb_program_t *program, const char *name, uint32_t x, uint64_t mask, bool keep) {
   return make(program, name, x, RKB_NO_VALUE, (int64_t[]){(int64_t)mask, keep, 0});
}

uint32_t rkb_make_variance(rkb_program_t *program, uint32_t x, uint64_t mask, bool keep, int64_t correction) {
   return rkb_make_variance_about(program, x, mask, keep, correction, RKB_NO_VALUE);
}

uint32_t rkb_make_variance_about(rkb_program_t *program, uint32_t x, uint64_t mask, bool keep,
                                 int64_t correction, uint32_t mean) {
   rkb_rows_t rows = rkb_rows_of(rkb_program_shape(program, x), mask);
   if ((int64_t)rows.length <= correction)
      return rkb_program_fail(program, "a variance over %llu elements with correction %lld is not defined",
                              (unsigned long long)rows.length, (long long)correction);
   return make(program, "variance", x, mean, (int64_t[]){(int64_t)mask, keep, correction});
}

uint32_t rkb_make_sum_to(rkb_program_t *program, uint32_t x, const rkb_shape_t *like) {
   rkb_shape_t shape = *rkb_program_shape(program, x), wanted = *like;
   if (rkb_shape_equal(&shape, &wanted))
      return x;
   uint64_t mask = 0;
   uint32_t extra = shape.rank - wanted.rank;
   for (uint32_t d = 0; d < shape.rank; d++)
      if (d < extra || (wanted.size[d - extra] == 1 && shape.size[d] != 1))
         mask |= UINT64_C(1) << d;
   return rkb_make_reshape(program, rkb_make_reduce(program, "sum", x, mask, true), &wanted);
}
