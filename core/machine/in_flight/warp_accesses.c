/* Plain accesses of a warp to shared memory in programs with asynchronous operations (operations.h).  Most are far from any operation, as those of rooms
 * in which a warp exchanges its results are.  Then one look at each lane's units suffices.  On the machine's thread. */
#include "machine/in_flight/mbarriers.h"
#include "machine/in_flight/operation_units.h"
#include "machine/clocks/clocks.h"

static bool touches_mbarrier(const machine_mbarriers_t *mbarriers, uint32_t offset, uint32_t bytes) {
   bool touches = false;
   for (uint32_t n = offset / 8; n <= (offset + bytes - 1) / 8; n++)
      touches |= mbarriers->at[n] && mbarriers->all[mbarriers->at[n] - 1].live;
   return touches;
}

static inline bool is_known(const machine_warp_t *warp, uint32_t lane, uint32_t number) {
   return !number || machine_operation_known(warp, lane, &warp->block->operations->all[number]);
}

/* A unit's readers come one after the other from the first place on. */
static bool is_apart(const machine_warp_t *warp, uint32_t lane, const async_unit_t *unit, bool store) {
   bool apart = is_known(warp, lane, unit->writer);
   for (uint32_t n = 0; store && apart && n < MOST_READERS && unit->reader[n]; n++)
      apart = is_known(warp, lane, unit->reader[n]);
   return apart;
}

bool machine_warp_apart(const machine_warp_t *warp, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                        bool store) {
   const machine_block_t *block = warp->block;
   const machine_operations_t *operations = block->operations;
   for (uint32_t left = mask; left; left &= left - 1) {
      const uint32_t l = (uint32_t)__builtin_ctz(left), last = offset[l] + bytes - 1;
      if (block->mbarriers && block->mbarriers->count && touches_mbarrier(block->mbarriers, offset[l], bytes))
         return false;
      for (uint32_t n = offset[l] >> (operations ? operations->unit_shift : 0);
           operations && n <= last >> operations->unit_shift; n++)
         if (!is_apart(warp, l, &operations->units[n], store))
            return false;
   }
   return true;
}

void machine_warp_accessed(machine_warp_t *warp, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                           bool store) {
   machine_operations_t *operations = warp->block->operations;
   if (!operations)
      return;
   uint32_t first = operations->written_first, end = operations->written_end;
   for (uint32_t left = mask; left; left &= left - 1) {
      const uint32_t l = (uint32_t)__builtin_ctz(left), last = offset[l] + bytes - 1,
                     from = offset[l] >> operations->shift, to = (last >> operations->shift) + 1;
      for (uint32_t n = offset[l] >> operations->unit_shift; n <= last >> operations->unit_shift; n++)
         operations->units[n].generic = true;
      if (!store)
         continue;
      const generic_write_t write = {warp->first_thread + l + 1, machine_lane_clock(warp, l), warp->pc};
      for (uint32_t g = from; g < to; g++)
         operations->written[g] = write;
      first = from < first ? from : first;
      end = to > end ? to : end;
      operations_stamp(operations, offset[l], bytes);
   }
   operations->written_first = first;
   operations->written_end = end;
}
