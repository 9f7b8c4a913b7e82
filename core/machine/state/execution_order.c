/* The orders of blocks and warps: ascending, descending, or shuffled by a number.  A shuffled order of blocks
 * begins at a place that the number gives and goes on by a stride that has no common divisor with the total, so
 * that it needs no memory.  Warps have any order, and another one in each block.  On the machine's thread. */
#include "machine/state/execution.h"

static uint64_t common_divisor(uint64_t a, uint64_t b) {
   while (b) {
      const uint64_t rest = a % b;
      a = b;
      b = rest;
   }
   return a;
}

uint64_t machine_in_order(const machine_run_t *run, uint64_t n, uint64_t total) {
   if (run->order == RKB_MACHINE_ASCENDING || total < 2)
      return n;
   if (run->order == RKB_MACHINE_DESCENDING)
      return total - 1 - n;
   uint64_t stride = 1 + machine_mixed(run->order * 2) % (total - 1);
   while (common_divisor(stride, total) != 1)
      stride = stride % (total - 1) + 1;
   return (machine_mixed(run->order * 2 + 1) % total + n * stride) % total; /* total fits 31 bits */
}

void machine_order_warps(machine_block_t *block) {
   const machine_run_t *run = block->run;
   for (uint32_t w = 0; w < block->warp_count && run->order > RKB_MACHINE_DESCENDING; w++) {
      const uint64_t number = block->serial - block->launch->first_serial;
      const uint32_t other = (uint32_t)(machine_order_number(run, number, w) % (w + 1));
      block->warps[w].turn = block->warps[other].turn;
      block->warps[other].turn = w;
   }
}

uint32_t machine_lanes_turned(const machine_run_t *run) {
   return run->order == RKB_MACHINE_ASCENDING    ? 0
          : run->order == RKB_MACHINE_DESCENDING ? LANES - 1
                                                 : 1 + (uint32_t)(machine_mixed(run->order) % (LANES - 1));
}

uint32_t machine_lanes_active(machine_warp_t *warp, uint32_t lanes) {
   machine_run_t *run = warp->run;
   if (run->order == RKB_MACHINE_ASCENDING || !warp->parted)
      return lanes;
   const uint32_t some =
      lanes & (uint32_t)(machine_order_number(run, run->launch->number, ++run->interruptions) >> 8);
   return some ? some : lanes;
}

uint32_t machine_warp_in_order(const machine_block_t *block, uint32_t n) {
   const uint64_t order = block->run->order;
   return order == RKB_MACHINE_ASCENDING    ? n
          : order == RKB_MACHINE_DESCENDING ? block->warp_count - 1 - n
                                            : block->warps[n].turn;
}
