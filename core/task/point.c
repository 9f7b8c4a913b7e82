/* Points, blocks of them, and the two rules every operation's bounds are made of.  Pure functions, any
 * thread. */
#include "task/operation.h"

#include <math.h>
#include <stdlib.h>

bool rkb_block_new(rkb_block_t *block, uint64_t count) {
   size_t room = (size_t)(count ? count : 1);
   double *memory = room < SIZE_MAX / 32 ? malloc(room * (3 * sizeof(double) + 1)) : NULL;
   if (!memory) {
      *block = (rkb_block_t){0};
      return false;
   }
   *block = (rkb_block_t){memory, memory + room, memory + 2 * room, (uint8_t *)(memory + 3 * room)};
   return true;
}

void rkb_block_free(rkb_block_t *block) {
   free(block->value);
   *block = (rkb_block_t){0};
}

rkb_block_t rkb_block_from(const rkb_block_t *block, uint64_t first) {
   return (rkb_block_t){block->value + first, block->hard + first, block->variance + first,
                        block->flags + first};
}

/* hard: a product and every addition that its partial sum goes through round once, whatever the order
 * (Higham, 'Accuracy and Stability of Numerical Algorithms', section 3.1), and SPARE roundings besides: a
 * scaling folded into a factor, sums in parts, and 3xTF32, whose three truncating accumulations of the first
 * 8 terms and dropped low product make 9.
 *
 * stat: each rounding is independent, of random sign, uniform over one unit (variance u^2/3 times the partial
 * sum squared); partial sums grow towards the sum s and wander with the squares q.  Truncating accumulators
 * of tensor cores lean one way: 3xTF32 truncates three times for every 8 places begun, by a unit of a typical
 * partial sum; where most terms are zero, once for each that is not. */
#define SPARE 10
#define TRUNCATIONS 3
#define TERMS_A_TRUNCATION 8

void rkb_sum_rounding(const rkb_precision_t *precision, double sum, double absolute, double squares,
                      double count, double places, rkb_point_t *point) {
   double u = precision->unit;
   point->hard += (count + SPARE) * u * (absolute + point->hard);
   double sigma = u * sqrt((count * (sum * sum / 3 + squares / 6) + squares) / 3);
   double truncation =
      TRUNCATIONS * u * (fmin(count, places / TERMS_A_TRUNCATION) + 1) * sqrt(sum * sum / 3 + squares / 2);
   double both = sigma + truncation / 8;
   point->variance += both * both;
}

rkb_point_t rkb_weighted_sum(const rkb_precision_t *precision, const rkb_block_t *block, uint64_t count,
                             const double *weights) {
   rkb_point_t point = {0};
   double absolute = 0, squares = 0;
   for (uint64_t i = 0; i < count; i++) {
      double term = block->value[i] * weights[i];
      point.value += term;
      point.hard += block->hard[i] * weights[i];
      point.variance += block->variance[i] * weights[i] * weights[i];
      point.flags |= block->flags[i] & RKB_POINT_DONT_CARE;
      absolute += fabs(term);
      squares += term * term;
   }
   rkb_sum_rounding(precision, point.value, absolute, squares, (double)count, (double)count, &point);
   return rkb_point_rounded(precision, point, 2);
}
