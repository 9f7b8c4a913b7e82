/* mbarrier instructions, without their waits, and the fences of the async proxy; async/ does what they mean. */
#include "machine/lanes/handlers.h"
#include "machine/decode/operation_codes.h"
#include "machine/in_flight/mbarriers.h"
#include "machine/clocks/vector_clocks.h"
#include "machine/races/races.h"

OP(mbarrier) {
   machine_mbarrier_execute(warp, i, mask);
}

OP(proxy_fence) {
   if (warp->block->operations)
      machine_vector_clocks_fence(warp, mask, (uint32_t)i->immediate);
   if (i->immediate & FENCES_GLOBAL)
      warp->block->proxy_fenced = warp->block->time;
}

OP(mbarrier_fence) {
   (void)i;
   machine_mbarriers_fence(warp, mask);
}
