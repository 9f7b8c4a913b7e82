/* Points, blocks of points, and the two rules from which every operation's bounds are made.  Pure functions, any thread. */
#include "reference/operation.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"

bool rkb_block_new(rkb_block_t *block, uint64_t count) {
   size_t room = (size_t)(count ? count : 1);
   double *memory = rkb_try_uncleared(room, 3 * sizeof(double) + 1, NULL);
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
   if (rkb_point_is_nan(point))
      return rkb_point_nan();
   rkb_sum_rounding(precision, point.value, absolute, squares, (double)count, (double)count, &point);
   return rkb_point_rounded(precision, point, 2);
}
