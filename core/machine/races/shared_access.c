/* An access to shared memory: against what is on its way asynchronously first, then against other threads'.  On the machine's thread. */
#include "machine/async/copies.h"
#include "machine/async/mbarriers.h"
#include "machine/async/operations.h"
#include "machine/races/races.h"

void machine_shared_access(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                           const void *value, bool store, bool atomic) {
   const machine_block_t *block = warp->block;
   if ((block->copies && machine_copies_touched(warp, lane, offset, bytes, store)) ||
       (block->mbarriers && machine_mbarriers_touched(warp, lane, offset, bytes, store)) ||
       (block->operations && machine_operations_touched(warp, lane, offset, bytes, store, atomic)))
      return;
   machine_shared_record(warp, lane, offset, bytes, value, store, atomic);
}
