/* Reading panels and multiplying them: OpenBLAS does the products.  Any thread. */
#include "task/contraction_panel.h"

#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_once_t blas_once = PTHREAD_ONCE_INIT;

/* The program's own threads are the parallelism; OpenBLAS must not add its own below them. */
static void use_one_blas_thread(void) {
   openblas_set_num_threads(1);
}

void rkb_panel_free(rkb_panel_t *panel) {
   free(panel->value);
   free(panel->line_flags);
   free(panel->index);
   rkb_block_free(&panel->block);
   *panel = (rkb_panel_t){0};
}

bool rkb_panel_new(rkb_panel_t *panel, uint64_t lines, uint64_t depth) {
   *panel = (rkb_panel_t){.room = lines * depth};
   panel->value = malloc((panel->room * 8 + 1) * sizeof *panel->value);
   panel->line_flags = malloc(lines + 1);
   panel->index = malloc((panel->room + 1) * sizeof *panel->index);
   if (!panel->value || !panel->line_flags || !panel->index || !rkb_block_new(&panel->block, panel->room)) {
      rkb_panel_free(panel);
      return false;
   }
   double **arrays[] = {&panel->size,     &panel->square,     &panel->nonzero,       &panel->hard,
                        &panel->variance, &panel->hard_total, &panel->variance_total};
   for (unsigned i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
      *arrays[i] = panel->value + (i + 1) * panel->room;
   return true;
}

/* Reads the panel whose indices are in place, and makes the arrays the sums need.  With rounded products
 * (TF32 and narrower classes) each operand carries that rounding, unless it is stored that narrow anyway. */
int rkb_panel_read(rkb_reader_t *reader, rkb_panel_t *panel, uint32_t value, uint64_t lines, uint64_t depth) {
   const rkb_precision_t *precision = rkb_reader_precision(reader);
   uint32_t dtype = rkb_program_dtype(rkb_reader_program(reader), value);
   double product = dtype == RKB_F16 || dtype == RKB_BF16 ? 0 : precision->product;
   uint64_t count = lines * depth;
   int status = rkb_read(reader, value, count, panel->index, &panel->block);
   if (status != RKB_OK)
      return status;
   panel->lines = lines;
   panel->depth = depth;
   panel->zeros = panel->dont_care = false;
   panel->exact = true;
   for (uint64_t i = 0; i < count; i++) {
      double x = panel->block.value[i], size = fabs(x);
      panel->value[i] = x;
      panel->size[i] = size;
      panel->square[i] = x * x;
      panel->nonzero[i] = x != 0;
      panel->zeros |= x == 0;
      double hard = panel->block.hard[i] + product * size;
      double variance = panel->block.variance[i] + product * product * x * x / 3;
      panel->hard[i] = hard;
      panel->variance[i] = variance;
      panel->hard_total[i] = size + hard;
      panel->variance_total[i] = x * x + variance;
      panel->exact &= hard == 0 && variance == 0;
   }
   for (uint64_t line = 0; line < lines; line++) {
      uint8_t flags = 0;
      for (uint64_t k = 0; k < depth; k++)
         flags |= panel->block.flags[line * depth + k];
      panel->line_flags[line] = flags & RKB_POINT_DONT_CARE;
   }
   return RKB_OK;
}

static void accumulate(rkb_panel_part_t left, const double *a, rkb_panel_part_t right, const double *b,
                       uint64_t stride, double *sum) {
   uint64_t depth = left.panel->depth;
   cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)left.lines, (int)right.lines, (int)depth, 1,
               a + left.first * depth, (int)depth, b + right.first * depth, (int)depth, 1, sum, (int)stride);
}

void rkb_panels_multiply(rkb_panel_part_t left, rkb_panel_part_t right, uint64_t stride,
                         double *const sums[SUMS]) {
   const rkb_panel_t *a = left.panel, *b = right.panel;
   pthread_once(&blas_once, use_one_blas_thread);
   accumulate(left, a->value, right, b->value, stride, sums[VALUE]);
   accumulate(left, a->size, right, b->size, stride, sums[ABSOLUTE]);
   accumulate(left, a->square, right, b->square, stride, sums[SQUARES]);
   if (a->zeros || b->zeros)
      accumulate(left, a->nonzero, right, b->nonzero, stride, sums[NONZERO]);
   else
      for (uint64_t i = 0; i < left.lines; i++)
         for (uint64_t j = 0; j < right.lines; j++)
            sums[NONZERO][i * stride + j] += (double)a->depth;
   if (!b->exact) {
      accumulate(left, a->size, right, b->hard, stride, sums[HARD]);
      accumulate(left, a->square, right, b->variance, stride, sums[VARIANCE]);
   }
   if (!a->exact) {
      accumulate(left, a->hard, right, b->hard_total, stride, sums[HARD]);
      accumulate(left, a->variance, right, b->variance_total, stride, sums[VARIANCE]);
   }
}

/* Non-zero terms that lie far apart meet a truncating accumulator one by one, and may lose twice a rounding
 * each: up to twice as many as they are count, and never more than the depth. */
rkb_point_t rkb_contraction_point(const rkb_precision_t *precision, const double sums[SUMS], uint64_t depth,
                                  uint32_t flags) {
   rkb_point_t point = {sums[VALUE], sums[HARD], sums[VARIANCE], flags};
   rkb_sum_rounding(precision, sums[VALUE], sums[ABSOLUTE], sums[SQUARES], sums[NONZERO], (double)depth,
                    &point);
   double apart = fmin(2 * sums[NONZERO], (double)depth) - sums[NONZERO];
   point.hard += apart * precision->unit * (sums[ABSOLUTE] + point.hard);
   if (sums[NONZERO] > 0 || point.hard > 0)
      point.hard +=
         precision->tiny * (sums[NONZERO] + 1); /* each product, and each partial sum, may be flushed */
   if (!(sums[ABSOLUTE] + point.hard < precision->largest))
      point.flags |= RKB_POINT_DONT_CARE;
   return point;
}
