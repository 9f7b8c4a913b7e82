/* Finds out from its lanes' addresses why a warp's request touches more sectors than its bytes would fill.
 * Pure functions. */
#include "machine/counts/access_shape.h"

#define LANES 32
#define SECTOR 32

/* Returns the distance that most neighbouring lanes have; lanes at the same address count once.  *pairs: how
 * many neighbours were compared; *agreeing: how many have that distance. */
static int64_t common_distance(const uint64_t *address, uint32_t mask, uint32_t *pairs, uint32_t *agreeing) {
   int64_t distances[LANES], common = 0;
   uint64_t before = 0;
   bool any = false;
   *pairs = *agreeing = 0;
   for (; mask; mask &= mask - 1) {
      const uint64_t here = address[__builtin_ctz(mask)];
      if (any && here != before)
         distances[(*pairs)++] = (int64_t)(here - before);
      before = here;
      any = true;
   }
   /* Takes the first distance that half of them have. */
   for (uint32_t n = 0; n < *pairs && *agreeing * 2 < *pairs; n++) {
      uint32_t count = 0;
      for (uint32_t k = 0; k < *pairs; k++)
         count += distances[k] == distances[n];
      if (count > *agreeing) {
         *agreeing = count;
         common = distances[n];
      }
   }
   return common;
}

rkb_line_access_t machine_access_shape(const uint64_t *address, uint32_t mask, uint32_t bytes) {
   uint32_t pairs, agreeing;
   const int64_t distance = common_distance(address, mask, &pairs, &agreeing);
   rkb_line_access_t access = {.shape = RKB_ACCESS_SCATTERED, .bytes = bytes};
   const bool unit = distance == (int64_t)bytes || distance == -(int64_t)bytes;
   if (pairs == 0)
      access.shape = RKB_ACCESS_ONE;
   else if (agreeing * 2 < pairs)
      access.shape = RKB_ACCESS_SCATTERED;
   else if (!unit)
      access = (rkb_line_access_t){RKB_ACCESS_STRIDED, bytes, distance};
   else if (agreeing < pairs)
      access.shape = RKB_ACCESS_ROWS;
   else
      access.shape = address[__builtin_ctz(mask)] % SECTOR ? RKB_ACCESS_UNALIGNED : RKB_ACCESS_SHORT;
   return access;
}

void machine_access_count(machine_access_causes_t *causes, const rkb_line_access_t *access, uint64_t wasted) {
   uint32_t least = 0;
   for (uint32_t n = 0; n < MACHINE_ACCESS_CAUSES; n++) {
      const rkb_line_access_t *known = &causes->access[n];
      if (!causes->wasted[n] || (known->shape == access->shape && known->bytes == access->bytes &&
                                 known->stride == access->stride)) {
         causes->access[n] = *access;
         causes->wasted[n] += wasted;
         return;
      }
      least = causes->wasted[n] < causes->wasted[least] ? n : least;
   }
   /* Works as the space-saving sketch, which never loses a frequent shape for long. */
   causes->access[least] = *access;
   causes->wasted[least] += wasted;
}

rkb_line_access_t machine_access_cause(const machine_access_causes_t *causes) {
   uint32_t most = 0;
   uint64_t sum = 0;
   for (uint32_t n = 0; n < MACHINE_ACCESS_CAUSES; n++) {
      sum += causes->wasted[n];
      most = causes->wasted[n] > causes->wasted[most] ? n : most;
   }
   if (sum == 0 || causes->wasted[most] * 2 < sum)
      return (rkb_line_access_t){.shape = RKB_ACCESS_MIXED};
   return causes->access[most];
}
