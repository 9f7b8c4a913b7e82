/* Reads panels and multiplies them with OpenBLAS.  Any thread. */
#include "reference/operations/contraction_panel.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "reference/dtype.h"
#include "reference/evaluation_threads.h"

void rkb_panel_free(rkb_panel_t *panel) {
   free(panel->derived);
   free(panel->line_flags);
   free(panel->index);
   rkb_block_free(&panel->block);
   *panel = (rkb_panel_t){0};
}

bool rkb_panel_new(rkb_panel_t *panel, uint64_t lines, uint64_t depth) {
   *panel = (rkb_panel_t){.room = lines * depth};
   panel->line_flags = rkb_try_uncleared(lines + 1, 1, NULL);
   panel->index = rkb_try_uncleared(panel->room + 1, sizeof *panel->index, NULL);
   if (!panel->line_flags || !panel->index || !rkb_block_new(&panel->block, panel->room)) {
      rkb_panel_free(panel);
      return false;
   }
   return true;
}

typedef struct line_facts {
   bool zeros, bounds, not_a_number;
   uint8_t flags;
} line_facts_t;

/* Where the precision class rounds products (TF32 and narrower), each operand gets that rounding as a bound. */
static line_facts_t look_at_line(rkb_block_t line, uint64_t depth, double product) {
   line_facts_t facts = {0};
   if (product > 0)
      for (uint64_t k = 0; k < depth; k++) {
         double x = line.value[k];
         line.hard[k] += product * fabs(x);
         line.variance[k] += product * product * x * x / 3;
      }
   for (uint64_t k = 0; k < depth; k++) {
      facts.zeros |= line.value[k] == 0;
      facts.bounds |= line.hard[k] != 0 || line.variance[k] != 0;
      facts.flags |= line.flags[k];
      facts.not_a_number |= rkb_point_is_nan(rkb_block_get(&line, k));
   }
   return facts;
}

int rkb_panel_read(rkb_reader_t *reader, rkb_panel_t *panel, uint32_t value, uint64_t lines, uint64_t depth) {
   const rkb_precision_t *precision = rkb_reader_precision(reader);
   /* an operand that is stored in such a narrow type is not rounded again */
   uint32_t dtype = rkb_program_kept_type(rkb_reader_program(reader), value);
   double product = rkb_dtype_narrow(dtype) ? 0 : precision->product;
   int status = rkb_read(reader, value, lines * depth, panel->index, &panel->block);
   if (status != RKB_OK)
      return status;
   bool zeros = false, bounds = false, not_a_number = false;
   panel->lines = lines;
   panel->depth = depth;
#pragma omp parallel for schedule(static)                                                                    \
   reduction(||                                                                                              \
             : zeros, bounds, not_a_number) if (lines > 1 && lines * depth > RKB_SHARED_ELEMENTS)
   for (uint64_t line = 0; line < lines; line++) {
      line_facts_t facts = look_at_line(rkb_block_from(&panel->block, line * depth), depth, product);
      zeros = zeros || facts.zeros;
      bounds = bounds || facts.bounds;
      not_a_number = not_a_number || facts.not_a_number;
      panel->line_flags[line] =
         (uint8_t)((facts.flags & RKB_POINT_DONT_CARE) | (facts.not_a_number ? RKB_LINE_NAN : 0));
   }
   panel->zeros = zeros;
   panel->exact = !bounds;
   panel->not_a_number = not_a_number;
   return RKB_OK;
}

bool rkb_panel_derive(rkb_panel_t *panel) {
   const rkb_block_t *block = &panel->block;
   uint64_t room = panel->room, count = panel->lines * panel->depth;
   if (!panel->derived)
      panel->derived = rkb_try_uncleared(5 * room + 1, sizeof *panel->derived, NULL);
   if (!panel->derived)
      return false;
   panel->size = panel->derived;
   panel->square = panel->derived + room;
   panel->nonzero = panel->derived + 2 * room;
   panel->hard_total = panel->exact ? panel->size : panel->derived + 3 * room;
   panel->variance_total = panel->exact ? panel->square : panel->derived + 4 * room;
#pragma omp parallel for schedule(static) if (count > RKB_SHARED_ELEMENTS)
   for (uint64_t i = 0; i < count; i++) {
      double x = block->value[i];
      panel->size[i] = fabs(x);
      panel->square[i] = x * x;
      panel->nonzero[i] = x != 0;
   }
   if (panel->exact)
      return true;
#pragma omp parallel for schedule(static) if (count > RKB_SHARED_ELEMENTS)
   for (uint64_t i = 0; i < count; i++) {
      panel->hard_total[i] = panel->size[i] + block->hard[i];
      panel->variance_total[i] = panel->square[i] + block->variance[i];
   }
   return true;
}

static void accumulate(rkb_panel_part_t left, const double *a, rkb_panel_part_t right, const double *b,
                       uint64_t stride, double *sum) {
   uint64_t depth = left.panel->depth;
   cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)left.lines, (int)right.lines, (int)depth, 1,
               a + left.first * depth, (int)depth, b + right.first * depth, (int)depth, 1, sum, (int)stride);
}

static bool is_surely_not_zero(rkb_point_t point) {
   return rkb_point_is_nan(point) || (!(point.flags & RKB_POINT_DONT_CARE) && fabs(point.value) > point.hard);
}

bool rkb_panel_lines_have_nan(const rkb_panel_t *left, uint64_t row, const rkb_panel_t *right,
                              uint64_t column) {
   if (!((left->line_flags[row] | right->line_flags[column]) & RKB_LINE_NAN))
      return false;
   for (uint64_t k = 0; k < left->depth; k++) {
      const rkb_point_t a = rkb_block_get(&left->block, row * left->depth + k),
                        b = rkb_block_get(&right->block, column * right->depth + k);
      if ((rkb_point_is_nan(a) && is_surely_not_zero(b)) || (rkb_point_is_nan(b) && is_surely_not_zero(a)))
         return true;
   }
   return false;
}

/* Marks the outputs of two parts that are NaN. */
static void mark_nan(rkb_panel_part_t left, rkb_panel_part_t right, uint64_t stride, double *nonzero) {
   for (uint64_t i = 0; i < left.lines; i++)
      for (uint64_t j = 0; j < right.lines; j++)
         if (rkb_panel_lines_have_nan(left.panel, left.first + i, right.panel, right.first + j))
            nonzero[i * stride + j] = NAN;
}

void rkb_panels_multiply(rkb_panel_part_t left, rkb_panel_part_t right, uint64_t stride,
                         double *const sums[SUMS]) {
   const rkb_panel_t *a = left.panel, *b = right.panel;
   rkb_evaluation_use_one_blas_thread();
   accumulate(left, a->block.value, right, b->block.value, stride, sums[VALUE]);
   accumulate(left, a->size, right, b->size, stride, sums[ABSOLUTE]);
   accumulate(left, a->square, right, b->square, stride, sums[SQUARES]);
   if (a->zeros || b->zeros)
      accumulate(left, a->nonzero, right, b->nonzero, stride, sums[NONZERO]);
   else
      for (uint64_t i = 0; i < left.lines; i++)
         for (uint64_t j = 0; j < right.lines; j++)
            sums[NONZERO][i * stride + j] += (double)a->depth;
   if (!b->exact) {
      accumulate(left, a->size, right, b->block.hard, stride, sums[HARD]);
      accumulate(left, a->square, right, b->block.variance, stride, sums[VARIANCE]);
   }
   if (!a->exact) {
      accumulate(left, a->block.hard, right, b->hard_total, stride, sums[HARD]);
      accumulate(left, a->block.variance, right, b->variance_total, stride, sums[VARIANCE]);
   }
   if (a->not_a_number || b->not_a_number)
      mark_nan(left, right, stride, sums[NONZERO]);
}

#define LANES 4u

void rkb_panel_lines_multiply(const rkb_panel_t *left, uint64_t row, const rkb_panel_t *right,
                              uint64_t column, double sums[SUMS]) {
   const rkb_block_t a = rkb_block_from(&left->block, row * left->depth);
   const rkb_block_t b = rkb_block_from(&right->block, column * right->depth);
   double lanes[SUMS][LANES] = {{0}};
   bool bounds = !left->exact || !right->exact;
   for (uint64_t first = 0; first < left->depth; first += LANES) {
      uint64_t most = left->depth - first < LANES ? left->depth - first : LANES;
      for (uint64_t lane = 0; lane < most; lane++) {
         double product = a.value[first + lane] * b.value[first + lane];
         lanes[VALUE][lane] += product;
         lanes[ABSOLUTE][lane] += fabs(product);
         lanes[SQUARES][lane] += product * product;
         lanes[NONZERO][lane] += product != 0;
      }
      for (uint64_t lane = 0; lane < most && bounds; lane++) {
         uint64_t k = first + lane;
         double x = fabs(a.value[k]), y = fabs(b.value[k]);
         lanes[HARD][lane] += x * b.hard[k] + a.hard[k] * (y + b.hard[k]);
         lanes[VARIANCE][lane] += x * x * b.variance[k] + a.variance[k] * (y * y + b.variance[k]);
      }
   }
   for (int s = 0; s < SUMS; s++)
      for (unsigned lane = 0; lane < LANES; lane++)
         sums[s] += lanes[s][lane];
   if (rkb_panel_lines_have_nan(left, row, right, column))
      sums[NONZERO] = NAN;
}

/* What 3xTF32 loses of each product, in u^2/3 of its square: of two low parts that are rounded to 11 bits a quarter is off by 2 u each, and
 * the product of the low parts, up to 4 u, is left out (docs/decisions/bounds.md). */
#define SPLIT_PRODUCT 12

/* What truncating accumulators took from computed factors is alike in all of them: each is too small by about the same share of itself.  Where the
 * products have one sign, these losses add up, and so does what the accumulators take from this sum.  The root of variance / squares is a
 * factor's typical deviation, as a share; of eight deviations, the loss is at most five (docs/decisions/bounds.md). */
#define ALIKE (5.0 / 8)

static inline double loss_of_factors(const rkb_precision_t *precision, double value, double squares,
                                     double variance) {
   return precision->product == 0 && variance > 0 && squares > 0
             ? ALIKE * fabs(value) * sqrt(variance / squares)
             : 0;
}

/* Computes the hard bound and the variance of one output from the sums over its terms.
 *
 * A truncating accumulator adds non-zero terms that lie far apart one by one, and may lose two roundings at each.  The bound
 * therefore counts twice the number of non-zero terms, but at most the depth. */
static inline void conclude(const rkb_precision_t *precision, double value, double absolute, double squares,
                            double nonzero, double depth, double *hard, double *variance) {
   rkb_point_t point = {.hard = *hard};
   rkb_sum_rounding(precision, value, absolute, squares, nonzero, depth, &point);
   const double one_way = loss_of_factors(precision, value, squares, *variance) + sqrt(point.variance);
   point.variance =
      *variance + one_way * one_way + SPLIT_PRODUCT * precision->unit * precision->unit / 3 * squares;
   const double apart = (2 * nonzero < depth ? 2 * nonzero : depth) - nonzero;
   point.hard += apart * precision->unit * (absolute + point.hard);
   /* each product, and each partial sum, may be flushed */
   point.hard += nonzero > 0 || point.hard > 0 ? precision->tiny * (nonzero + 1) : 0;
   *hard = point.hard;
   *variance = point.variance;
}

/* Counts the addend as one more term.  Its size counts as the size of all partial sums that begin with the
 * addend. */
static void conclude_addend(const rkb_precision_t *precision, uint64_t count, double depth,
                            const rkb_block_t *addend, double *const sums[SUMS]) {
   for (uint64_t i = 0; i < count; i++) {
      rkb_point_t sum = {sums[VALUE][i], sums[HARD][i], sums[VARIANCE][i], 0};
      const double nonzero = sums[NONZERO][i], apart = 2 * nonzero < depth ? nonzero : depth - nonzero;
      rkb_addend_rounding(precision, rkb_block_get(addend, i), nonzero, apart, depth, sums[ABSOLUTE][i],
                          &sum);
      sums[VALUE][i] = sum.value;
      sums[ABSOLUTE][i] = isinf(addend->value[i]) ? 0 : sums[ABSOLUTE][i] + fabs(addend->value[i]);
      sums[HARD][i] = sum.hard;
      sums[VARIANCE][i] = sum.variance;
   }
}

static bool is_eighth(const rkb_program_t *program, uint32_t value) {
   uint32_t dtype = rkb_program_kept_type(program, value);
   return dtype == RKB_E4M3 || dtype == RKB_E5M2;
}

rkb_precision_t rkb_contraction_precision(const rkb_reader_t *reader, uint32_t left, uint32_t right) {
   const rkb_program_t *program = rkb_reader_program(reader);
   rkb_precision_t precision = *rkb_reader_precision(reader);
   if (is_eighth(program, left) && is_eighth(program, right))
      precision.unit = precision.eighth;
   return precision;
}

void rkb_contraction_conclude(const rkb_precision_t *precision, uint64_t count, uint64_t depth,
                              const rkb_block_t *addend, double *const sums[SUMS]) {
   double *hard = sums[HARD], *variance = sums[VARIANCE];
   const double *value = sums[VALUE], *absolute = sums[ABSOLUTE], *squares = sums[SQUARES],
                *nonzero = sums[NONZERO];
#pragma GCC ivdep
   for (uint64_t i = 0; i < count; i++)
      conclude(precision, value[i], absolute[i], squares[i], nonzero[i], (double)depth, &hard[i],
               &variance[i]);
   if (addend)
      conclude_addend(precision, count, (double)depth, addend, sums);
}
