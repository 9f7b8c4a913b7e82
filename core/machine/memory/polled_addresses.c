/* Which addresses a block polled in its turn (execute/resident_blocks.c).  On the machine's thread. */
#include "machine/state/execution.h"

void machine_note_polled(machine_warp_t *warp, const uint64_t address[LANES], uint32_t mask, uint32_t bytes) {
   machine_polled_t *polled = &warp->block->polled;
   polled->more |= bytes > sizeof polled->value[0];
   for (; mask && !polled->more; mask &= mask - 1) {
      const uint64_t at = address[__builtin_ctz(mask)] & ~7ull;
      uint32_t n = 0;
      while (n < polled->count && polled->address[n] != at)
         n++;
      if (n < polled->count || at >> WINDOW_SHIFT)
         continue; /* known already, or the block's own memory */
      if (n == MOST_POLLED)
         polled->more = true;
      else
         polled->address[polled->count++] = at;
   }
}
