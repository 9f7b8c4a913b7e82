/* Checks one lane's access to global memory against everything that may not be ordered with it: copies in flight that read there, launches that
 * may still run, the read-only path, and other threads (races.c).  On the machine's thread. */
#include "machine/in_flight/copies.h"
#include "machine/in_flight/copy_sources.h"
#include "machine/in_flight/grid_dependency.h"
#include "machine/races/races.h"

/* Checks the access against everything but other threads of the launch; false after a finding. */
static bool may_access(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                       uint32_t bytes, bool store, enum machine_copy_access how) {
   return machine_global_records(warp->run, region) &&
          !(store && machine_copies_have_sources(warp->block) &&
            machine_copies_overwritten(warp, lane, region, offset, bytes)) &&
          !(machine_copy_sources_kept(warp->block) &&
            machine_copy_source_in_use(warp, lane, region, offset, bytes, store, how)) &&
          machine_launches_ordered(warp, lane, region, offset, bytes, store);
}

/* Nobody may write what others load through the read-only path. */
static void check_read_only(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                            uint32_t bytes) {
   const uint32_t shift = warp->block->launch->global_shift;
   if (machine_was_read_only(warp, region))
      for (uint64_t granule = offset >> shift; granule <= (offset + bytes - 1) >> shift; granule++)
         machine_read_only_written(warp, lane, region, granule, offset, bytes);
}

void machine_global_access(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, const void *value, bool store, bool atomic) {
   if (!may_access(warp, lane, region, offset, bytes, store, store && atomic ? BY_REDUCTION : BY_THREAD))
      return;
   if (store)
      check_read_only(warp, lane, region, offset, bytes);
   machine_global_record(warp, lane, region, offset, bytes, value, store, atomic);
}

void machine_global_stored(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, bool reduces) {
   if (!may_access(warp, lane, region, offset, bytes, true, reduces ? BY_REDUCTION : BY_COPY) ||
       machine_global_unfenced(warp, lane, region, offset, bytes, true))
      return;
   check_read_only(warp, lane, region, offset, bytes);
   machine_global_record_stored(warp, lane, region, offset, bytes, reduces);
}

void machine_global_copied(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, bool followed) {
   if (!may_access(warp, lane, region, offset, bytes, false, BY_THREAD) ||
       machine_global_unfenced(warp, lane, region, offset, bytes, false))
      return;
   if (followed)
      machine_global_record_copied(warp, lane, region, offset, bytes);
   else
      machine_global_record(warp, lane, region, offset, bytes, NULL, false, false);
}
