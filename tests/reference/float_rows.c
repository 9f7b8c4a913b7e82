/* Reductions, scans and softmax of rows, and matrix products, in the order of the mode. */
#include "float_run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reference/operations/reduce.h"

static float variance_of(const float_run_t *run, const float *x, uint64_t count, float divisor) {
   float mean = float_sum(run, 0, x, NULL, count) / (float)count;
   if (run->mode->one_pass) {
      float square = float_sum(run, 0, x, x, count) / (float)count;
      return (square - mean * mean) * ((float)count / divisor);
   }
   float *away = malloc((count + 1) * sizeof *away);
   assert(away);
   for (uint64_t i = 0; i < count; i++)
      away[i] = x[i] - mean;
   float sum = float_sum(run, 0, away, away, count);
   free(away);
   return sum / divisor;
}

void float_reduce_rows(float_run_t *run, const rkb_program_node_t *node, double *out) {
   rkb_rows_t rows =
      rkb_rows_of(rkb_program_shape(run->program, node->inputs[0]), (uint64_t)node->integers[0]);
   float *x = malloc((rows.length + 1) * sizeof *x);
   int64_t *index = malloc((rows.length + 1) * sizeof *index);
   assert(x && index);
   const char *name = node->operation->name;
   for (uint64_t row = 0; row < rows.count; row++) {
      rkb_rows_index(&rows, row, 0, rows.length, index);
      for (uint64_t i = 0; i < rows.length; i++)
         x[i] = (float)float_operand(run, node, 0)[index[i]];
      float y = x[0];
      if (IS("sum"))
         y = float_sum(run, 0, x, NULL, rows.length);
      else if (IS("mean"))
         y = run->mode->fma ? float_sum(run, 0, x, NULL, rows.length) * (1 / (float)rows.length)
                            : float_sum(run, 0, x, NULL, rows.length) / (float)rows.length;
      else if (IS("variance"))
         y = variance_of(run, x, rows.length, (float)rows.length - (float)node->integers[2]);
      else
         for (uint64_t i = 0; i < rows.length; i++)
            y = isnan(y) || isnan(x[i]) ? NAN : IS("amax") ? fmaxf(y, x[i]) : fminf(y, x[i]);
      out[row] = float_flushed(run, y);
   }
   free(x);
   free(index);
}

/* Running sums and products, and the gradient of the latter as kernels without zeros have it: reversed running sums
 * of g y, divided by x. */
void float_scan_rows(float_run_t *run, const rkb_program_node_t *node, double *out) {
   const char *name = node->operation->name;
   bool sum = IS("cumulative_sum"), gradient = IS("cumulative_product_gradient");
   rkb_rows_t rows =
      rkb_rows_of(rkb_program_shape(run->program, node->inputs[0]), UINT64_C(1) << node->integers[0]);
   int64_t *index = malloc((rows.length + 1) * sizeof *index);
   float *y = malloc((rows.length + 1) * sizeof *y);
   assert(index && y);
   for (uint64_t row = 0; row < rows.count; row++) {
      rkb_rows_index(&rows, row, 0, rows.length, index);
      const double *x = float_operand(run, node, gradient);
      float so_far = sum ? 0 : 1;
      for (uint64_t i = 0; i < rows.length; i++) {
         so_far = sum ? so_far + (float)x[index[i]] : so_far * (float)x[index[i]];
         y[i] = float_flushed(run, so_far);
         out[index[i]] = y[i];
      }
      so_far = 0;
      for (uint64_t i = rows.length; gradient && i-- > 0;) {
         so_far = float_add_product(run, so_far, (float)float_operand(run, node, 0)[index[i]], y[i]);
         float others = 1;
         if (x[index[i]] != 0) {
            out[index[i]] = float_rough(run, so_far / (float)x[index[i]]);
            continue;
         }
         float each = 0; /* a zero: the products without it */
         for (uint64_t j = 0; j < i; j++)
            others *= (float)x[index[j]];
         for (uint64_t j = i; j < rows.length; j++) {
            others *= j > i ? (float)x[index[j]] : 1;
            each = float_add_product(run, each, (float)float_operand(run, node, 0)[index[j]], others);
         }
         out[index[i]] = float_flushed(run, each);
      }
   }
   free(index);
   free(y);
}

/* Linear recurrences, step by step; where sums are taken in one pass, in pieces of four that are joined: the products of a piece's factors
 * multiply the state that came before it. */
void float_recurrence_rows(float_run_t *run, const rkb_program_node_t *node, double *out) {
   rkb_rows_t rows = rkb_rows_of(rkb_program_shape(run->program, node->output), UINT64_C(1) << node->integers[0]);
   const uint64_t piece = run->mode->one_pass ? 4 : 1;
   int64_t *index = malloc((rows.length + 1) * sizeof *index);
   assert(index);
   for (uint64_t row = 0; row < rows.count; row++) {
      float before = 0, own = 0, product = 1;
      rkb_rows_index(&rows, row, 0, rows.length, index);
      for (uint64_t i = 0; i < rows.length; i++) {
         const float a = (float)float_operand(run, node, 0)[index[i]], b = (float)float_operand(run, node, 1)[index[i]];
         own = i % piece == 0 ? b : float_add_product(run, b, a, own);
         product = float_flushed(run, i % piece == 0 ? a : a * product);
         const float state = float_flushed(run, i < piece ? own : float_add_product(run, own, product, before));
         out[index[i]] = state;
         before = i % piece == piece - 1 ? state : before;
      }
   }
   free(index);
}

/* The places of numbers in sorted rows: the first element that is greater; NaN is greater than all. */
void float_search_rows(float_run_t *run, const rkb_program_node_t *node, double *out) {
   const rkb_shape_t *sorted = rkb_program_shape(run->program, node->inputs[0]),
                     *values = rkb_program_shape(run->program, node->inputs[1]);
   const uint64_t length = (uint64_t)sorted->size[sorted->rank - 1], each = (uint64_t)values->size[values->rank - 1];
   for (uint64_t i = 0; i < run->program->values[node->output].elements; i++) {
      const double *row = float_operand(run, node, 0) + i / each * length, wanted = float_operand(run, node, 1)[i];
      uint64_t place = 0;
      while (place < length &&
             (isnan(wanted) || (node->integers[0] ? row[place] <= wanted : row[place] < wanted)))
         place++;
      out[i] = (double)place;
   }
}

void float_log_sum_rows(float_run_t *run, const rkb_program_node_t *node, double *out) {
   rkb_rows_t rows =
      rkb_rows_of(rkb_program_shape(run->program, node->inputs[0]), (uint64_t)node->integers[0]);
   float *e = malloc((rows.length + 1) * sizeof *e);
   int64_t *index = malloc((rows.length + 1) * sizeof *index);
   assert(e && index);
   for (uint64_t row = 0; row < rows.count; row++) {
      float largest = -INFINITY;
      rkb_rows_index(&rows, row, 0, rows.length, index);
      for (uint64_t i = 0; i < rows.length; i++)
         largest = fmaxf(largest, (float)float_operand(run, node, 0)[index[i]]);
      for (uint64_t i = 0; i < rows.length; i++)
         e[i] = float_rough(run, expf((float)float_operand(run, node, 0)[index[i]] - largest));
      out[row] =
         float_flushed(run, largest + float_rough(run, logf(float_sum(run, 0, e, NULL, rows.length))));
   }
   free(e);
   free(index);
}

void float_softmax_rows(float_run_t *run, const rkb_program_node_t *node, double *out) {
   rkb_rows_t rows =
      rkb_rows_of(rkb_program_shape(run->program, node->inputs[0]), UINT64_C(1) << node->integers[0]);
   float *x = malloc((rows.length + 1) * sizeof *x), *e = malloc((rows.length + 1) * sizeof *e);
   int64_t *index = malloc((rows.length + 1) * sizeof *index);
   assert(x && e && index);
   for (uint64_t row = 0; row < rows.count; row++) {
      float largest = -INFINITY, size = 0;
      rkb_rows_index(&rows, row, 0, rows.length, index);
      for (uint64_t i = 0; i < rows.length; i++) {
         x[i] = (float)float_operand(run, node, 0)[index[i]];
         largest = fmaxf(largest, x[i]);
         size = fmaxf(size, isinf(x[i]) ? 0 : fabsf(x[i]));
      }
      if (run->mode->one_pass && size < 60)
         largest = 0;
      for (uint64_t i = 0; i < rows.length; i++)
         e[i] = run->mode->fma ? float_rough(run, exp2f((x[i] - largest) * 1.44269504f))
                               : float_rough(run, expf(x[i] - largest));
      float sum = float_sum(run, 0, e, NULL, rows.length), logarithm = float_rough(run, logf(sum)),
            inverse = 1 / sum;
      bool share = strcmp(node->operation->name, "softmax") == 0;
      const float log_sum = largest + logarithm;
      if (share && run->mode->through_log_sum)
         for (uint64_t i = 0; i < rows.length; i++)
            out[index[i]] = float_flushed(run, float_rough(run, expf(x[i] - log_sum)));
      else
         for (uint64_t i = 0; i < rows.length; i++)
            out[index[i]] = float_flushed(run, !share           ? x[i] - largest - logarithm
                                               : run->mode->fma ? e[i] * inverse
                                                                : e[i] / sum);
   }
   free(x);
   free(e);
   free(index);
}

void float_matrix_product(float_run_t *run, const rkb_program_node_t *node, double *out) {
   const rkb_shape_t *sa = rkb_program_shape(run->program, node->inputs[0]),
                     *sb = rkb_program_shape(run->program, node->inputs[1]);
   const rkb_shape_t *so = rkb_program_shape(run->program, node->output);
   bool ta = node->integers[0], tb = node->integers[1];
   int64_t m = so->size[so->rank - 2], n = so->size[so->rank - 1], k = sa->size[sa->rank - (ta ? 2 : 1)];
   rkb_shape_t ba = *sa, bb = *sb, bo = *so;
   ba.rank -= 2, bb.rank -= 2, bo.rank -= 2;
   int64_t stride_a[RKB_MAX_RANK], stride_b[RKB_MAX_RANK], at[RKB_MAX_RANK];
   rkb_shape_broadcast_strides(&ba, &bo, stride_a);
   rkb_shape_broadcast_strides(&bb, &bo, stride_b);
   float_factors_t a = float_factors_new((uint64_t)(m * k)), b = float_factors_new((uint64_t)(n * k));
   for (uint64_t g = 0; g < rkb_shape_product(&bo, 0, bo.rank); g++) {
      int64_t ga = 0, gb = 0;
      rkb_shape_split(&bo, g, at);
      for (uint32_t d = 0; d < bo.rank; d++)
         ga += at[d] * stride_a[d], gb += at[d] * stride_b[d];
      const double *pa = float_operand(run, node, 0) + ga * m * k,
                   *pb = float_operand(run, node, 1) + gb * n * k;
      for (int64_t i = 0; i < m; i++)
         for (int64_t l = 0; l < k; l++)
            float_set_factor(run, &a, (uint64_t)(i * k + l), pa[ta ? l * m + i : i * k + l]);
      for (int64_t j = 0; j < n; j++)
         for (int64_t l = 0; l < k; l++)
            float_set_factor(run, &b, (uint64_t)(j * k + l), pb[tb ? j * k + l : l * n + j]);
      for (int64_t i = 0; i < m; i++)
         for (int64_t j = 0; j < n; j++)
            out[((int64_t)g * m + i) * n + j] =
               float_flushed(run, float_dot(run, (uint64_t)(((int64_t)g * m + i) * n + j),
                                            float_factors_from(&a, (uint64_t)(i * k)),
                                            float_factors_from(&b, (uint64_t)(j * k)), (uint64_t)k));
   }
   free(a.high);
   free(b.high);
}
