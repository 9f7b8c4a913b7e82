/* Minimal filtering F(2, 3) computes two neighbouring results from a tile of four elements d and a window g:
 *
 *   m1 = (d0 - d2) g0   m2 = (d1 + d2) (g0 + g1 + g2)/2   m3 = (d2 - d1) (g0 - g1 + g2)/2   m4 = (d1 - d3) g2
 *   y0 = m1 + m2 + m3   y1 = m2 - m3 - m4
 *
 * A result reads the elements of its own window alone.  But it multiplies each of them by nearly every weight of the window, so rounding errors have
 * the size of products that the convolution does not have.  Where an image ends, all of the convolution's own products may be far smaller.
 *
 * Pure functions; any thread. */
#include "reference/operations/convolution_filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/operations/contraction_panel.h"

#define THREE 3u
#define MOST_WINDOW (THREE * THREE)
/* Roundings that a term passes through, besides those of the sum over channels: two of the transformed element, four of the transformed weight, one of the
 * product, four of the result and one of the addend, in two dims; the rest are spare as in every sum (operation.h). */
#define FILTER_ROUNDINGS 12
/* Of these in variance: one of the product, and for each dim one of the element, two of the weight and two of the result. */
#define PRODUCT_ROUNDINGS 1
#define ROUNDINGS_A_DIM 5
#define SPLIT_PRODUCT 12 /* 3xTF32 (contraction_panel.c) */
/* What flushed numbers add, in the least normal number: for each weight, each element, and each product and partial sum. */
#define FLUSHED_ELEMENTS 12
#define FLUSHED_WEIGHTS 72
#define FLUSHED_SUMS 18

/* A way along one dim: the rows of its matrices, which give the three products of a result.  The result is the sum of the products. */
typedef struct way {
   double elements[THREE][THREE], weights[THREE][THREE];
} way_t;

enum { PLAIN, FIRST_OF_TILE, SECOND_OF_TILE, WAYS };
static const way_t ways[WAYS] = {
   {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
   {{{1, 0, -1}, {0, 1, 1}, {0, -1, 1}}, {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}}},
   {{{1, 1, 0}, {1, -1, 0}, {-1, 0, 1}}, {{.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}}},
};

/* How often the size of element i times weight j occurs among the products of a result, in the worse place of its tile. */
static const double occurs[THREE][THREE] = {{1, 1, 2}, {1, 1, 1}, {2, 1, 1}};

/* out = down in across^T for a window in two dims, out = across in for one in one dim.  sizes: of absolute values throughout. */
static void apply(const double (*down)[THREE], const double (*across)[THREE], uint32_t spatial, bool sizes,
                  const double *in, double *out) {
   const uint32_t lines = spatial == 2 ? THREE : 1;
   double half[MOST_WINDOW];
   for (uint32_t i = 0; i < lines; i++)
      for (uint32_t t = 0; t < THREE; t++) {
         half[i * THREE + t] = 0;
         for (uint32_t j = 0; j < THREE; j++)
            half[i * THREE + t] +=
               sizes ? fabs(across[t][j]) * fabs(in[i * THREE + j]) : across[t][j] * in[i * THREE + j];
      }
   if (spatial == 1) {
      memcpy(out, half, THREE * sizeof *out);
      return;
   }
   for (uint32_t t = 0; t < THREE; t++)
      for (uint32_t j = 0; j < THREE; j++) {
         out[t * THREE + j] = 0;
         for (uint32_t i = 0; i < THREE; i++)
            out[t * THREE + j] += (sizes ? fabs(down[t][i]) : down[t][i]) * half[i * THREE + j];
      }
}

/* The operands of one result, the depth running over channels and the window's places. */
typedef struct terms {
   rkb_block_t elements, weights;
   uint64_t channels;
   uint32_t spatial, window; /* window: places */
} terms_t;

static double largest_square(double a, double b) {
   return fmax(a * a, b * b);
}

/* The squares of the partial sums of three numbers, in the worse order. */
static double partial_squares(double a, double b, double c) {
   const double sum = a + b + c;
   return fmax(largest_square(a + b, b + c), (a + c) * (a + c)) + sum * sum;
}

/* The same for the sums of a result: along the lines first, and then down. */
static double result_squares(const double sums[MOST_WINDOW], bool is_down, bool is_across) {
   double squares = 0, lines[THREE] = {0};
   for (uint32_t i = 0; i < THREE; i++) {
      const double *line = sums + i * THREE;
      lines[i] = line[0] + line[1] + line[2];
      squares += is_across ? partial_squares(line[0], line[1], line[2]) : 0;
   }
   return squares + (is_down ? partial_squares(lines[0], lines[1], lines[2]) : 0);
}

/* The variance of a result's rounding errors, if a kernel computes it in these two ways.  It computes a sum over the channels for each of the three or nine
 * products.  Along a dim without a transform the products belong to one sum. */
static double variance_of(const rkb_precision_t *precision, const terms_t *terms, int down, int across) {
   double value[MOST_WINDOW] = {0}, absolute[MOST_WINDOW] = {0}, squares[MOST_WINDOW] = {0}, sizes = 0;
   const double unit_square = precision->unit * precision->unit / 3;
   double count = (double)terms->channels;
   for (uint64_t c = 0; c < terms->channels; c++) {
      const double *x = terms->elements.value + c * terms->window,
                   *g = terms->weights.value + c * terms->window;
      double elements[MOST_WINDOW], weights[MOST_WINDOW], element_sizes[MOST_WINDOW],
         weight_sizes[MOST_WINDOW];
      apply(ways[down].elements, ways[across].elements, terms->spatial, false, x, elements);
      apply(ways[down].weights, ways[across].weights, terms->spatial, false, g, weights);
      apply(ways[down].elements, ways[across].elements, terms->spatial, true, x, element_sizes);
      apply(ways[down].weights, ways[across].weights, terms->spatial, true, g, weight_sizes);
      for (uint32_t t = 0; t < terms->window; t++) {
         const uint32_t sum = (down ? t / THREE * THREE : 0) + (across ? t % THREE : 0);
         const double product = elements[t] * weights[t], size = element_sizes[t] * weight_sizes[t];
         value[sum] += product;
         absolute[sum] += fabs(product);
         squares[sum] += product * product;
         sizes += size * size;
      }
   }
   count *= terms->spatial == 2 && !down ? THREE : 1;
   count *= !across ? THREE : 1;
   double variance =
      (PRODUCT_ROUNDINGS + ROUNDINGS_A_DIM * ((down != PLAIN) + (across != PLAIN))) * unit_square * sizes +
      2 * precision->product * precision->product / 3 * sizes +
      unit_square * result_squares(value, down != PLAIN, across != PLAIN);
   for (uint32_t t = 0; t < MOST_WINDOW; t++) {
      rkb_point_t point = {0};
      rkb_sum_rounding(precision, value[t], absolute[t], squares[t], squares[t] > 0 ? count : 0, count,
                       &point);
      variance += point.variance + SPLIT_PRODUCT * unit_square * squares[t];
   }
   return variance;
}

static double largest_variance(const rkb_precision_t *precision, const terms_t *terms) {
   double largest = 0;
   for (int down = PLAIN; down < (terms->spatial == 2 ? WAYS : 1); down++)
      for (int across = PLAIN; across < WAYS; across++)
         if (down != PLAIN || across != PLAIN)
            largest = fmax(largest, variance_of(precision, terms, down, across));
   return largest;
}

/* The size of all products of a result, and that of all operands. */
static double sizes_of(const terms_t *terms, double *elements, double *weights) {
   double products = 0;
   *elements = *weights = 0;
   for (uint64_t c = 0; c < terms->channels; c++) {
      double g[MOST_WINDOW], met[MOST_WINDOW];
      for (uint32_t j = 0; j < terms->window; j++) {
         g[j] =
            fabs(terms->weights.value[c * terms->window + j]) + terms->weights.hard[c * terms->window + j];
         *weights += g[j];
      }
      apply(occurs, occurs, terms->spatial, true, g, met);
      for (uint32_t i = 0; i < terms->window; i++) {
         const double x =
            fabs(terms->elements.value[c * terms->window + i]) + terms->elements.hard[c * terms->window + i];
         *elements += x;
         products += x * met[i];
      }
   }
   return products;
}

static rkb_point_t widened(const rkb_precision_t *precision, const terms_t *terms, rkb_point_t addend,
                           rkb_point_t point) {
   double elements, weights;
   if (isnan(point.value) || (point.flags & RKB_POINT_DONT_CARE) || isinf(addend.value))
      return point;
   const double start = fabs(addend.value) + addend.hard, products = sizes_of(terms, &elements, &weights),
                size = products + start, depth = (double)(terms->channels * terms->window),
                roundings = depth / THREE + FILTER_ROUNDINGS + RKB_SUM_SPARE;
   if (products == 0)
      return point;
   point.hard += (roundings * precision->unit + 2 * precision->product) * size;
   point.hard += precision->tiny *
                 (FLUSHED_ELEMENTS * weights + FLUSHED_WEIGHTS * elements + FLUSHED_SUMS * (depth + 1));
   point.variance += largest_variance(precision, terms) +
                     precision->unit * precision->unit / 3 * roundings * addend.value * addend.value;
   if (!(size + point.hard < precision->largest))
      point.flags |= RKB_POINT_DONT_CARE;
   return point;
}

int rkb_filter_widen(rkb_reader_t *reader, const rkb_contraction_t *c, uint32_t spatial, uint64_t count,
                     const int64_t *index, rkb_block_t *points) {
   const rkb_precision_t precision = rkb_contraction_precision(reader, c->left, c->right);
   const uint32_t window = spatial == 2 ? MOST_WINDOW : THREE;
   terms_t terms = {.channels = c->depth / window, .spatial = spatial, .window = window};
   int64_t *places = rkb_try_uncleared(2 * c->depth + 1, sizeof *places, NULL);
   rkb_block_t addend = {0};
   int status = RKB_ERR_NOMEM;
   if (!places || !rkb_block_new(&terms.elements, c->depth) || !rkb_block_new(&terms.weights, c->depth))
      goto out;
   status = rkb_reader_work(reader, (double)count * (double)c->depth * WAYS * spatial);
   for (uint64_t i = 0; i < count && status == RKB_OK; i++) {
      const int64_t element = index ? index[i] : (int64_t)i;
      uint64_t group, row, column;
      c->split(c->geometry, (uint64_t)element, &group, &row, &column);
      c->left_index(c->geometry, group, row, 0, c->depth, places);
      c->right_index(c->geometry, group, column, 0, c->depth, places + c->depth);
      status = rkb_read(reader, c->left, c->depth, places, &terms.elements);
      if (status == RKB_OK)
         status = rkb_read(reader, c->right, c->depth, places + c->depth, &terms.weights);
      if (status == RKB_OK)
         status = rkb_contraction_read_addend(reader, c, 1, &element, &addend);
      if (status == RKB_OK)
         rkb_block_put(points, i,
                       widened(&precision, &terms,
                               addend.value ? rkb_block_get(&addend, 0) : (rkb_point_t){0},
                               rkb_block_get(points, i)));
      rkb_block_free(&addend);
   }
out:
   rkb_block_free(&terms.weights);
   rkb_block_free(&terms.elements);
   free(places);
   return status;
}
