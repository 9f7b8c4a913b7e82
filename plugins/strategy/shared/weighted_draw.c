/* Draws an index by weight. */
#include "shared/weighted_draw.h"

uint32_t weighted_draw(const rkb_random_api_t *random, rkb_random_t *stream, const double *weights,
                       uint32_t count) {
   double total = 0;
   uint32_t last = 0;
   for (uint32_t i = 0; i < count; i++) {
      if (weights[i] > 0) {
         total += weights[i];
         last = i;
      }
   }
   if (total <= 0)
      return (uint32_t)random->below(stream, count);
   double at = random->real(stream) * total;
   for (uint32_t i = 0; i < last; i++) {
      if (weights[i] <= 0)
         continue;
      if (at < weights[i])
         return i;
      at -= weights[i];
   }
   return last;
}
