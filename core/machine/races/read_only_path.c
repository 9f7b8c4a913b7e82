/* Loads through the read-only path (ld.global.nc, __ldg, const __restrict__).  They are valid for memory that
 * no thread writes while the kernel runs (CUDA C++ Programming Guide, 'Read-Only Data Cache Load Function';
 * PTX ISA 9.0, 9.7.9.9).  No barrier or fence refreshes the cache that they use.  So a write of the same launch to such memory, by any thread at
 * any time, is a race.  On the machine's thread. */
#include "machine/clocks/second_access.h"
#include "machine/races/races.h"
#include "machine/in_flight/grid_dependency.h"

#include <stdio.h>

bool machine_read_only_records(machine_run_t *run, machine_region_t *region) {
   if (!region->read_only_path)
      region->read_only_path = machine_records(
         run, region, ((region->bytes >> run->launch->global_shift) + 2) * sizeof *region->read_only_path);
   return region->read_only_path != NULL;
}

/* name: the other thread's name in records; 0 where it is not known. */
static void report(machine_warp_t *warp, uint32_t lane, const machine_region_t *region, uint64_t offset,
                   uint32_t bytes, bool store, uint64_t name) {
   rkb_machine_finding_t *finding = machine_find(
      warp, RKB_MACHINE_REJECT, "race.global", lane,
      "%s %u bytes at byte %llu of %s, which this launch %s; what the read-only path returns is then undefined",
      store ? "writes" : "reads through the read-only path (ld.global.nc)", bytes, (unsigned long long)offset,
      region->name, store ? "reads through the read-only path (ld.global.nc)" : "writes");
   if (!finding)
      return;
   finding->buffer = region->buffer;
   finding->offset = (int64_t)offset;
   finding->bytes = bytes;
   snprintf(finding->space, sizeof finding->space, "global");
   snprintf(finding->symbol, sizeof finding->symbol, "%s", region->name);
   machine_second_access_find_global(
      warp, lane, finding, name, !store, region, offset, bytes,
      "the other access came first; no barrier refreshes what the read-only path returns");
}

void machine_read_only_access(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                              uint32_t bytes) {
   const uint32_t shift = warp->block->launch->global_shift;
   if (!machine_global_records(warp->run, region) || !machine_read_only_records(warp->run, region) ||
       !machine_launches_ordered(warp, lane, region, offset, bytes, false))
      return;
   for (uint64_t granule = offset >> shift; granule <= (offset + bytes - 1) >> shift; granule++) {
      const uint64_t writer = region->writers[granule];
      if (machine_name_block(writer) > warp->block->launch->first_serial)
         report(warp, lane, region, offset, bytes, false, writer);
      region->read_only_path[granule] = machine_launch_name(warp);
   }
   region->read_only_launch = machine_launch_name(warp);
}

void machine_read_only_written(machine_warp_t *warp, uint32_t lane, const machine_region_t *region,
                               uint64_t granule, uint64_t offset, uint32_t bytes) {
   if (region->read_only_path && region->read_only_path[granule] == machine_launch_name(warp))
      report(warp, lane, region, offset, bytes, true, region->readers[granule]);
}
