/* What the speed model wants to know of memory requests: sectors of 32 bytes of global memory and wavefronts of shared
 * memory (bank conflicts: 32 banks of 4 bytes).  Counted in the blocks marked 'measured'; execute_plan.c scales. */
#include "execution.h"

#include "lanes/memory_access.h"

static uint32_t count_sectors(const uint64_t *address, uint32_t mask, uint32_t bytes) {
   uint64_t seen[LANES * 2];
   uint32_t count = 0;
   for (uint32_t l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      for (uint64_t sector = address[l] >> 5; sector <= (address[l] + bytes - 1) >> 5; sector++) {
         bool known = false;
         for (uint32_t n = count; n-- > 0 && !known;)
            known = seen[n] == sector;
         if (!known && count < LANES * 2)
            seen[count++] = sector;
      }
   }
   return count;
}

/* The most distinct words that fall into one bank. */
static uint32_t count_wavefronts(const uint64_t *address, uint32_t mask, uint32_t bytes) {
   uint32_t words = (bytes + 3) / 4, most = 0;
   uint64_t list[32][32];
   uint32_t used[32] = {0};
   /* Wide accesses go in halves or quarters of a warp: each part is a wavefront of its own. */
   for (uint32_t part = 0; part < words; part++) {
      uint32_t first = part * LANES / words, last = (part + 1) * LANES / words, worst = 0;
      for (uint32_t b = 0; b < 32; b++)
         used[b] = 0;
      for (uint32_t l = first; l < last; l++)
         for (uint32_t w = 0; w < words && (mask >> l & 1); w++) {
            uint64_t word = (address[l] >> 2) + w;
            uint32_t bank = (uint32_t)word & 31;
            bool known = false;
            for (uint32_t n = 0; n < used[bank]; n++)
               known |= list[bank][n] == word;
            if (!known && used[bank] < 32)
               list[bank][used[bank]++] = word;
            worst = used[bank] > worst ? used[bank] : worst;
         }
      most += worst;
   }
   return most ? most : 1;
}

void machine_count_request(machine_warp_t *warp, const uint64_t address[LANES], uint32_t mask, uint32_t bytes, bool store) {
   rkb_launch_counters_t *c = &warp->run->measured;
   if (!mask)
      return;
   const uint64_t window = address[__builtin_ctz(mask)] >> WINDOW_SHIFT;
   if (window == WINDOW_SHARED) {
      c->shared_requests++;
      c->shared_wavefronts += count_wavefronts(address, mask, bytes);
      return;
   }
   if (window != 0)
      return;
   const uint64_t sectors = count_sectors(address, mask, bytes);
   const uint64_t least = ((uint64_t)__builtin_popcount(mask) * bytes + 31) / 32;
   if (store) {
      c->store_requests++;
      c->store_sectors += sectors;
      c->store_least += least;
   } else {
      c->load_requests++;
      c->load_sectors += sectors;
      c->load_least += least;
   }
}
