/* Numbers of a run, and its sums and products.  Aborts when memory is out. */
#include "float_run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reference/dtype.h"

double *float_numbers(uint64_t count) {
   double *made = malloc((count + 1) * sizeof *made);
   assert(made);
   return made;
}

const double *float_operand(const float_run_t *run, const rkb_program_node_t *node, uint32_t which) {
   return run->reader.stored[node->inputs[which]].value;
}

float float_flushed(const float_run_t *run, float x) {
   return run->mode->flush && fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* What an approximate function of a GPU may return. */
float float_rough(float_run_t *run, float x) {
   if (run->mode->approximate == 0)
      return x;
   double noise = (2 * rkb_random_real(&run->noise) - 1) * run->mode->approximate * 0x1p-24;
   return (float)(x * (1 + noise));
}

float float_add_product(const float_run_t *run, float sum, float a, float b) {
   return run->mode->fma ? fmaf(a, b, sum) : sum + a * b;
}

/* Sums */

static float pairwise(const float *terms, uint64_t count) {
   if (count <= 2)
      return count == 2 ? terms[0] + terms[1] : terms[0];
   return pairwise(terms, count / 2) + pairwise(terms + count / 2, count - count / 2);
}

float float_sum(const float_run_t *run, float start, const float *a, const float *b, uint64_t count) {
   float sum = start, parts[32] = {0};
   switch (run->mode->order) {
   case ORDER_SEQUENTIAL:
      for (uint64_t i = 0; i < count; i++)
         sum = b ? float_add_product(run, sum, a[i], b[i]) : sum + a[i];
      return sum;
   case ORDER_REVERSED:
      for (uint64_t i = count; i-- > 0;)
         sum = b ? float_add_product(run, sum, a[i], b[i]) : sum + a[i];
      return sum;
   case ORDER_STRIDED:
      for (uint64_t i = 0; i < count; i++)
         parts[i % 32] = b ? float_add_product(run, parts[i % 32], a[i], b[i]) : parts[i % 32] + a[i];
      return start == 0 ? pairwise(parts, 32) : pairwise(parts, 32) + start;
   default: {
      float *terms = malloc((count + 1) * sizeof *terms);
      assert(terms);
      for (uint64_t i = 0; i < count; i++)
         terms[i] = b ? a[i] * b[i] : a[i];
      sum = count ? pairwise(terms, count) : 0;
      free(terms);
      return start == 0 ? sum : sum + start;
   }
   }
}

/* To the nearest number of so many significant bits, ties to even: what is added and taken away again is as much
 * larger than x as the bits that go (Dekker's splitting), in double so that it cannot overflow. */
static float cut_to(float x, int bits) {
   double away = (double)x * (double)((INT64_C(1) << (53 - bits)) + 1);
   return isfinite(x) ? (float)(away - (away - (double)x)) : x;
}

static float truncated(double x) {
   float y = (float)x;
   if (!(fabs((double)y) > fabs(x)))
      return y;
   uint32_t bits;
   memcpy(&bits, &y, sizeof bits);
   bits--; /* the next number towards zero; an infinity becomes the largest number */
   memcpy(&y, &bits, sizeof y);
   return y;
}

float_factors_t float_factors_new(uint64_t count) {
   float *memory = malloc((2 * count + 1) * sizeof *memory);
   assert(memory);
   return (float_factors_t){memory, memory + count};
}

float_factors_t float_factors_from(const float_factors_t *factors, uint64_t first) {
   return (float_factors_t){factors->high + first, factors->low + first};
}

/* Three products of the high and low parts, eight terms at a time into a truncating accumulator, as tensor
 * cores have it. */
static float three_products(float start, float_factors_t a, float_factors_t b, uint64_t count) {
   float sum = start;
   for (uint64_t first = 0; first < count; first += 8) {
      uint64_t last = first + 8 < count ? first + 8 : count;
      double low_right = 0, low_left = 0, high = 0;
      for (uint64_t i = first; i < last; i++) {
         low_right += (double)a.high[i] * (double)b.low[i];
         low_left += (double)a.low[i] * (double)b.high[i];
         high += (double)a.high[i] * (double)b.high[i];
      }
      sum = truncated((double)sum + low_right);
      sum = truncated((double)sum + low_left);
      sum = truncated((double)sum + high);
   }
   return sum;
}

void float_set_factor(const float_run_t *run, float_factors_t *factors, uint64_t i, double x) {
   static const int bits[] = {0, 11, 8, 11, 0, 4}; /* 0: whole */
   float number = (float)x;
   switch (run->products) {
   case PRODUCTS_FULL:
   case PRODUCTS_NARROW_SUMS:
   case PRODUCTS_EIGHTH_SUMS:
      break;
   case PRODUCTS_HALF: /* which has a narrow range besides */
      number = (float)rkb_dtype_round(RKB_F16, x);
      break;
   case PRODUCTS_TF32_THREE:
      number = cut_to((float)x, 11);
      factors->low[i] = cut_to((float)x - number, 11);
      break;
   default:
      number = cut_to(number, bits[run->products]);
   }
   factors->high[i] = number;
}

/* In the type of the first factor, term by term. */
static float narrow_sum(const float_run_t *run, const float *a, const float *b, uint64_t count) {
   double sum = 0;
   for (uint64_t i = 0; i < count; i++)
      sum = rkb_dtype_round(run->narrow, sum + (double)a[i] * (double)b[i]);
   return (float)sum;
}

/* Thirty-two terms at a time: each term, and the sum so far, loses what lies 13 bits below the largest of them. */
static float eighth_sum(const float *a, const float *b, uint64_t count) {
   double sum = 0;
   for (uint64_t first = 0; first < count; first += 32) {
      uint64_t last = first + 32 < count ? first + 32 : count;
      double largest = fabs(sum), unit;
      for (uint64_t i = first; i < last; i++)
         largest = fmax(largest, fabs((double)a[i] * (double)b[i]));
      if (largest == 0)
         continue;
      unit = ldexp(1, ilogb(largest) - 13);
      sum = trunc(sum / unit) * unit;
      for (uint64_t i = first; i < last; i++)
         sum += trunc((double)a[i] * (double)b[i] / unit) * unit;
   }
   return (float)sum;
}

static float whole_sum(const float_run_t *run, float start, float_factors_t a, float_factors_t b,
                       uint64_t count) {
   switch (run->products) {
   case PRODUCTS_TF32_THREE:
      return three_products(start, a, b, count);
   case PRODUCTS_NARROW_SUMS:
      return start + narrow_sum(run, a.high, b.high, count);
   case PRODUCTS_EIGHTH_SUMS:
      return start + eighth_sum(a.high, b.high, count);
   default:
      return float_sum(run, start, a.high, b.high, count);
   }
}

float float_dot(const float_run_t *run, uint64_t output, float_factors_t a, float_factors_t b,
                uint64_t count) {
   const float addend = run->addend ? (float)run->addend[output] : 0,
               start = run->mode->addend_first ? addend : 0, sum = whole_sum(run, start, a, b, count);
   return run->mode->addend_first || addend == 0 ? sum : sum + addend;
}
