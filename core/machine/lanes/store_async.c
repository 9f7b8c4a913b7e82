/* st.async and red.async (PTX ISA 9.0, 9.7.9.12 and 9.7.13.7): each lane stores a value, or reduces one, in a block of its cluster, whose
 * mbarrier counts the bytes.  They go through the generic proxy. */
#include "machine/in_flight/mbarriers.h"
#include "machine/in_flight/operations.h"
#include "machine/lanes/bulk_operands.h"
#include "machine/lanes/handlers.h"

/* Changes an address of shared memory to that of the lane's element e; false after a finding. */
static bool write_element(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane, uint32_t to,
                          const machine_slot_t *value) {
   machine_block_t *block = warp->block;
   const uint32_t bytes = i->element_bytes;
   const bool known = warp->defined[value->number] >> lane & 1;
   uint64_t result = bulk_operand(warp, value, lane);
   if (i->operation && !known) {
      machine_find(warp, RKB_MACHINE_REJECT, "memory.uninitialised", lane,
                   "an asynchronous reduction's operand was never given a value");
      return false;
   }
   if (i->operation) { /* reduces */
      machine_instruction_t how = *i;
      uint64_t old = 0;
      how.operation = i->rounding; /* where the decoder has put it */
      how.space = PTX_SHARED;
      memcpy(&old, block->shared + to, bytes);
      for (uint32_t n = 0; n < bytes; n++)
         if (block->shared_defined[to + n] != 1) {
            machine_find(warp, RKB_MACHINE_REJECT, "memory.uninitialised", lane,
                         "an asynchronous reduction of bytes of shared memory that were never written");
            return false;
         }
      result = apply(&how, old, result, 0);
   }
   memcpy(block->shared + to, &result, bytes);
   warp->run->undefinings += !known;
   memset(block->shared_defined + to, known ? 1 : UNDEFINED_STORE, bytes);
   for (uint32_t n = 0; block->shared_shadow && n < bytes; n += 4)
      block->shared_shadow[(to + n) / 4] = machine_no_shadow();
   if (warp->taint)
      block->shared_taint |= warp->taint[value->number];
   return true;
}

static void store_lane(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane) {
   const machine_slot_t *slots = warp->program->extras + i->extra;
   const uint32_t bytes = (uint32_t)i->element_bytes * i->elements;
   uint32_t to, at;
   if (!bulk_operands_defined(warp, i, lane, 4) ||
       !machine_bulk_shared(warp, lane, bulk_address(warp, &slots[0], lane, true), bytes, bytes, &to) ||
       !machine_bulk_shared(warp, lane, bulk_address(warp, &slots[2], lane, true), 8, 8, &at) ||
       !bulk_same_block(warp, lane, to, at))
      return;
   machine_mbarrier_t *mbarrier = machine_mbarrier_at(warp->block, at);
   if (!machine_mbarrier_usable(warp, lane, mbarrier, at, false, "completes an asynchronous store") ||
       !machine_mbarrier_in_phase(warp, lane, mbarrier, "completes an asynchronous store"))
      return;
   const uint32_t operation =
      machine_store_start(warp, lane, mbarrier->actor, mbarrier->phase + 1, i->operation != 0);
   if (!machine_operation_writes(warp, lane, operation, to, bytes))
      return;
   for (uint32_t e = 0; e < i->elements; e++)
      if (!write_element(warp, i, lane, to + e * i->element_bytes, &slots[4 + e]))
         return;
   machine_mbarrier_copied(warp, lane, mbarrier, bytes);
}

OP(store_async) {
   for (uint32_t l = 0; l < LANES && !warp->run->stop; l++)
      if (mask >> l & 1)
         store_lane(warp, i, l);
}
