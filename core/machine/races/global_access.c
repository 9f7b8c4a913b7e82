/* Checks one lane's access to global memory against everything that may not be ordered with it: copies in flight that read there, launches that
 * may still run, the read-only path, and other threads (races.c).  On the machine's thread. */
#include "machine/in_flight/copies.h"
#include "machine/in_flight/copy_sources.h"
#include "machine/in_flight/grid_dependency.h"
#include "machine/clocks/second_access.h"
#include "machine/races/races.h"

#include <stdio.h>

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

void machine_global_access(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, const void *value, bool store, bool atomic) {
   const uint32_t shift = warp->block->launch->global_shift;
   const enum machine_copy_access how = !store || (value && !atomic) ? BY_THREAD
                                        : atomic                     ? BY_REDUCTION
                                                                     : BY_COPY;
   if (!may_access(warp, lane, region, offset, bytes, store, how))
      return;
   for (uint64_t granule = offset >> shift;
        store && machine_was_read_only(warp, region) && granule <= (offset + bytes - 1) >> shift; granule++)
      machine_read_only_written(warp, lane, region, granule, offset, bytes);
   machine_global_record(warp, lane, region, offset, bytes, value, store, atomic);
}

/* A copy reads bytes that the launch wrote through the generic proxy, and the kernel has no fence for that at all; true after a finding.  Where the
 * kernel has one, nobody follows whether it lies between the two.  A region that copies write too is left out: its records do not tell who wrote
 * through which proxy. */
static bool reads_unfenced(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes) {
   const uint32_t shift = warp->block->launch->global_shift;
   if (warp->program->global_proxy_fence || region->copied_to || !region->written || !region->writers ||
       !bytes)
      return false;
   for (uint64_t granule = offset >> shift; granule <= (offset + bytes - 1) >> shift; granule++) {
      const uint64_t writer = region->writers[granule];
      if (machine_name_block(writer) <= warp->block->launch->first_serial)
         continue;
      rkb_machine_finding_t *finding = machine_find(
         warp, RKB_MACHINE_REJECT, "race.proxy", lane,
         "starts a copy that reads %u bytes at byte %llu of %s, of which this launch wrote some through the generic proxy: "
         "the kernel has no fence.proxy.async for global memory",
         bytes, (unsigned long long)offset, region->name);
      if (finding) {
         finding->offset = (int64_t)offset;
         finding->bytes = bytes;
         finding->buffer = region->buffer;
         snprintf(finding->symbol, sizeof finding->symbol, "%s", region->name);
         snprintf(finding->space, sizeof finding->space, "global");
         machine_second_access_find_global(
            warp, lane, finding, writer, true, region, granule << shift, 1u << shift,
            "the write came first, and no proxy fence orders it before the operation");
      }
      return true;
   }
   return false;
}

void machine_global_copied(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                           uint32_t bytes, bool followed) {
   if (!may_access(warp, lane, region, offset, bytes, false, BY_THREAD) ||
       reads_unfenced(warp, lane, region, offset, bytes))
      return;
   if (followed)
      machine_global_record_copied(warp, lane, region, offset, bytes);
   else
      machine_global_record(warp, lane, region, offset, bytes, NULL, false, false);
}
