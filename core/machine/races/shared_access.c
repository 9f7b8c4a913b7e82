/* Checks an access to shared memory: first against asynchronous operations in flight, then against accesses
 * of other threads.  On the machine's thread. */
#include "machine/in_flight/copies.h"
#include "machine/in_flight/mbarriers.h"
#include "machine/in_flight/operations.h"
#include "machine/races/races.h"

static void beside_copies(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                          const void *value, bool store, bool atomic) {
   const machine_block_t *block = warp->block;
   if ((block->mbarriers && machine_mbarriers_touched(warp, lane, offset, bytes, store)) ||
       (block->operations && machine_operations_touched(warp, lane, offset, bytes, store, atomic)))
      return;
   machine_shared_record(warp, lane, offset, bytes, value, store, atomic);
}

void machine_shared_access(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                           const void *value, bool store, bool atomic) {
   const machine_block_t *block = warp->block;
   if (!block->copies || !machine_copies_touched(warp, lane, offset, bytes, store))
      beside_copies(warp, lane, offset, bytes, value, store, atomic);
}

void machine_shared_copied(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes) {
   beside_copies(warp, lane, offset, bytes, NULL, true, false);
}
