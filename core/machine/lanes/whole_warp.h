/* Instructions that all lanes of a warp execute together (.sync.aligned; PTX ISA 9.0, 9.7.15: otherwise the behaviour is undefined). */
#ifndef RKB_MACHINE_LANES_WHOLE_WARP_H
#define RKB_MACHINE_LANES_WHOLE_WARP_H

#include "machine/access/values.h"
#include "machine/in_flight/mbarriers.h"

/* False after a finding: some lanes are elsewhere, have exited, or were never there. */
static inline bool whole_warp(machine_warp_t *warp, uint32_t mask) {
   if (mask == FULL_MASK)
      return true;
   if (machine_mbarriers_hold_up(warp, warp->alive & ~mask))
      return false;
   machine_find(warp, RKB_MACHINE_REJECT, "sync.warp", (uint32_t)__builtin_ctz(mask | 1u << 31),
                "%d of 32 lanes execute an instruction that all lanes of the warp must execute together",
                __builtin_popcount(mask));
   return false;
}

#endif
