/* Operands of bulk and tensor copies: more addresses than an instruction has places for, so each is two extras, a register and an offset. */
#ifndef RKB_MACHINE_LANES_BULK_OPERANDS_H
#define RKB_MACHINE_LANES_BULK_OPERANDS_H

#include "machine/lanes/values.h"

static inline uint64_t bulk_operand(const machine_warp_t *warp, const machine_slot_t *slot, uint32_t lane) {
   const uint8_t *at = warp->registers + slot->offset;
   return slot->bytes == 8 ? ((const uint64_t *)(const void *)at)[lane]
                           : ((const uint32_t *)(const void *)at)[lane];
}

/* shared: an address in the window of shared memory, whose high bits say so already where it is a generic one. */
static inline uint64_t bulk_address(const machine_warp_t *warp, const machine_slot_t *slots, uint32_t lane,
                                    bool shared) {
   const uint64_t sum = bulk_operand(warp, &slots[0], lane) + bulk_operand(warp, &slots[1], lane);
   return shared ? WINDOW_SHARED << WINDOW_SHIFT | (sum & 0xffffffffu) : sum;
}

/* Every operand of the lane has a value; a finding otherwise. */
static inline bool bulk_operands_defined(machine_warp_t *warp, const machine_instruction_t *i,
                                         uint32_t lane) {
   const machine_slot_t *slots = warp->program->extras + i->extra;
   for (uint32_t e = 0; e < i->extra_count; e++) {
      if (warp->taint)
         warp->run->report.address_taint |= warp->taint[slots[e].number];
      if (warp->defined[slots[e].number] >> lane & 1)
         continue;
      machine_undefined_address(warp, 1u << lane);
      return false;
   }
   return true;
}

#endif
