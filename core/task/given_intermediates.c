/* Intermediates that were given to some inputs: how the reference reads one, and how they are freed.  Any
 * thread. */
#include "task/intermediates.h"

#include <stdlib.h>

void rkb_given_free(rkb_given_t *given) {
   if (!given)
      return;
   for (uint32_t n = 0; given->values && n < given->count; n++)
      free(given->values[n].pool);
   free(given->values);
   free(given->list);
   rkb_arena_free(given->arena);
   free(given);
}

void rkb_given_source(const rkb_given_t *given, uint32_t which, uint64_t count, const int64_t *index,
                      double *out) {
   const struct rkb_given_value *value = &given->values[which];
   for (uint64_t n = 0; n < count; n++)
      out[n] = index[n] < 0
                  ? 0
                  : value->pool[rkb_random_at(&value->stream, (uint64_t)index[n]) % value->pool_count];
}
