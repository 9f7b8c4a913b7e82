/* What threads write to global memory through the generic proxy, and bulk or tensor copies of the same launch then read or overwrite.  Between the two there
 * must be a fence of the async proxy, anywhere on the way (PTX ISA 9.0, 8.8, 'proxy-preserved base causality order'): at the writer, at the thread that
 * starts the copy, or at a thread in the middle.  Within a block clocks follow this (vector_clocks.h), between blocks releases do (synchronisation.c).
 *
 * Owns nothing.  On the machine's thread. */
#include "machine/clocks/second_access.h"
#include "machine/clocks/vector_clocks.h"
#include "machine/races/races.h"

#include <stdio.h>

/* Whether an operation of the lane sees the write of that name, or writes after it.  A write that is in no order with the operation is a finding of races.c. */
static bool is_fenced(const machine_warp_t *warp, uint32_t lane, uint64_t name) {
   const machine_block_t *block = warp->block;
   const uint32_t thread = machine_name_thread(name) - 1, time = machine_name_time(name);
   if (!warp->program->global_proxy_fence)
      return false;
   if (machine_name_block(name) != block->serial + 1)
      return machine_sync_fenced(warp, lane, name) || !machine_sync_ordered(warp, lane, name);
   return machine_knows_fenced_global(block->clocks->knowledge, warp->first_thread + lane, thread, time) ||
          !machine_knows(block->clocks->knowledge, warp->first_thread + lane, thread, time);
}

static bool is_unfenced(const machine_warp_t *warp, uint32_t lane, uint64_t name) {
   return machine_name_block(name) > warp->block->launch->first_serial && !machine_name_proxied(name) &&
          machine_has_proxied_name(machine_name_thread(name) - 1) && !is_fenced(warp, lane, name);
}

static void report(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t granule,
                   uint64_t offset, uint32_t bytes, bool store) {
   const uint32_t shift = warp->block->launch->global_shift;
   rkb_machine_finding_t *finding = machine_find(
      warp, RKB_MACHINE_REJECT, "race.proxy", lane,
      "starts a copy that %s %u bytes at byte %llu of %s, of which this launch wrote some through the generic proxy: %s",
      store ? "writes" : "reads", bytes, (unsigned long long)offset, region->name,
      warp->program->global_proxy_fence ? "no fence.proxy.async lies between the two"
                                        : "the kernel has no fence.proxy.async for global memory");
   if (!finding)
      return;
   finding->offset = (int64_t)offset;
   finding->bytes = bytes;
   finding->buffer = region->buffer;
   snprintf(finding->symbol, sizeof finding->symbol, "%s", region->name);
   snprintf(finding->space, sizeof finding->space, "global");
   machine_second_access_find_global(
      warp, lane, finding, region->writers[granule], true, region, granule << shift, 1u << shift,
      "the write came first, and no proxy fence orders it before the operation");
}

bool machine_global_unfenced(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                             uint32_t bytes, bool store) {
   const uint32_t shift = warp->block->launch->global_shift;
   if (!region->written || !region->writers || !bytes || !warp->block->operations)
      return false;
   for (uint64_t granule = offset >> shift; granule <= (offset + bytes - 1) >> shift; granule++)
      if (is_unfenced(warp, lane, region->writers[granule])) {
         report(warp, lane, region, granule, offset, bytes, store);
         return true;
      }
   return false;
}
