/* Assigns islands to keys. */
#include "niches.h"
#include <math.h>
#include <string.h>
#include "shared/weighted_draw.h"

static double value_of(const rkb_told_t *told, const char *name) {
   for (uint32_t i = 0; i < told->measurement_count; i++)
      if (strcmp(told->measurement_names[i], name) == 0)
         return told->measurement_values[i];
   return NAN;
}

uint64_t niche_key(const char *const *names, const rkb_told_t *told) {
   uint64_t key = 0xcbf29ce484222325u; /* FNV-1a over the values' bits */
   for (uint32_t i = 0; names[i]; i++) {
      const double value = value_of(told, names[i]);
      uint64_t bits = UINT64_MAX;
      if (!isnan(value))
         memcpy(&bits, &value, sizeof bits);
      for (uint32_t byte = 0; byte < 8; byte++)
         key = (key ^ (bits >> (8 * byte) & 255)) * 0x100000001b3u;
   }
   return key;
}

/* Whether the best of one island ranks before the best of another; an empty island ranks last. */
static bool is_ahead(const island_t *one, const island_t *other) {
   if (one->count == 0 || other->count == 0)
      return one->count > 0;
   return individual_compare(&one->members[0].individual, &other->members[0].individual) < 0;
}

uint32_t niche_of(niches_t *niches, uint64_t key, island_t *islands, uint32_t limit,
                  const individual_t *individual) {
   uint32_t worst = 0;
   for (uint32_t i = 0; i < niches->count; i++) {
      if (niches->keys[i] == key)
         return i;
      if (is_ahead(&islands[worst], &islands[i]))
         worst = i;
   }
   if (niches->count < limit)
      worst = niches->count++;
   else if (islands[worst].count &&
            individual_compare(individual, &islands[worst].members[0].individual) >= 0)
      return NICHE_NONE;
   niches->keys[worst] = key;
   islands[worst].count = 0;
   islands[worst].guest_count = 0;
   return worst;
}

uint32_t niche_draw(const niches_t *niches, const island_t *islands, const rkb_random_api_t *random,
                    rkb_random_t *stream) {
   double weights[NICHES_MAX];
   bool any = false;
   for (uint32_t i = 0; i < niches->count; i++) {
      uint32_t rank = 0;
      for (uint32_t other = 0; other < niches->count; other++)
         rank += is_ahead(&islands[other], &islands[i]);
      weights[i] = islands[i].count ? 1 / (rank + 1.0) : 0;
      any = any || islands[i].count;
   }
   return any ? weighted_draw(random, stream, weights, niches->count) : NICHE_NONE;
}
