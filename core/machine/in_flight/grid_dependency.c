/* Dependent launches (grid_dependency.h).  On the machine's thread. */
#include "machine/in_flight/grid_dependency.h"
#include "machine/clocks/clocks.h"
#include "machine/clocks/second_access.h"
#include "machine/state/packed_records.h"

#include <stdio.h>

void machine_grid_dependency_begin(machine_launch_t *launch, uint32_t warps) {
   machine_run_t *run = launch->run;
   if (!launch->plan->dependent || !run->races) {
      run->overlap_first = launch->first_serial; /* a launch behind this one may run at the same time */
      return;
   }
   struct machine_grid_dependency *dependency = machine_alloc(run, sizeof *dependency);
   if (!dependency)
      return;
   launch->dependency = dependency;
   dependency->warps = warps;
   dependency->first = run->overlap_first;
   dependency->known = machine_alloc(run, warps * sizeof *dependency->known);
   dependency->list = machine_alloc(run, (size_t)warps * LANES * sizeof *dependency->list);
}

void machine_grid_dependency_end(machine_launch_t *launch, bool whole) {
   machine_run_t *run = launch->run;
   struct machine_grid_dependency *dependency = launch->dependency;
   if (!dependency)
      return;
   if (whole && !dependency->waited && !run->stop && !run->out_of_memory)
      machine_find_launch(
         run, RKB_MACHINE_REJECT, "sync.dependent",
         "launch %u of %s is dependent, and none of its threads executes griddepcontrol.wait: nothing says "
         "when the launch before it has ended, to those behind it neither",
         launch->number, launch->plan->entry);
   if (dependency->known)
      machine_release(run, dependency->known, dependency->warps * sizeof *dependency->known);
   if (dependency->list)
      machine_release(run, dependency->list, (size_t)dependency->warps * LANES * sizeof *dependency->list);
   machine_release(run, dependency, sizeof *dependency);
   launch->dependency = NULL;
}

void machine_grid_dependency_block(machine_block_t *block) {
   struct machine_grid_dependency *dependency = block->launch->dependency;
   if (!dependency)
      return;
   memset(dependency->known, 0, dependency->warps * sizeof *dependency->known);
   dependency->count = 0;
}

void machine_grid_wait(machine_warp_t *warp, uint32_t lanes) {
   struct machine_grid_dependency *dependency = warp->block->launch->dependency;
   const uint32_t fresh = dependency ? lanes & ~dependency->known[warp->number] : 0;
   if (!fresh)
      return;
   dependency->waited = true;
   dependency->known[warp->number] |= fresh;
   dependency->list[dependency->count++] = (grid_wait_t){warp->number, fresh, warp->block->time};
}

/* Whether the lane knows of a thread that has waited, by a barrier of the whole block or by other synchronisation. */
static bool was_told(const machine_warp_t *warp, uint32_t lane, const grid_wait_t *wait) {
   const uint32_t thread = wait->warp * LANES + (uint32_t)__builtin_ctz(wait->lanes);
   return wait->time < warp->block->barrier_time ||
          (warp->block->clocks && machine_clocks_ordered_time(warp, lane, thread, wait->time));
}

/* Whether the lane knows that the launches in front have ended. */
static bool is_known(machine_warp_t *warp, uint32_t lane) {
   struct machine_grid_dependency *dependency = warp->block->launch->dependency;
   if (!dependency || dependency->known[warp->number] >> lane & 1)
      return true;
   for (uint32_t n = 0; n < dependency->count; n++)
      if (was_told(warp, lane, &dependency->list[n])) {
         dependency->known[warp->number] |= 1u << lane;
         return true;
      }
   return false;
}

/* Whether the access recorded under a name (races.h) may be unordered with what the lane does now, because the launch of that access may still
 * run. */
static bool unordered(machine_warp_t *warp, uint32_t lane, uint64_t name) {
   const machine_launch_t *launch = warp->block->launch;
   const uint64_t block = machine_name_block(name);
   return launch->dependency && block > launch->dependency->first && block <= launch->first_serial &&
          !is_known(warp, lane);
}

/* Reports a conflict with a launch that may still run. */
static void overlap_conflict(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                             uint32_t bytes, bool store, bool other_wrote, uint64_t name) {
   rkb_machine_finding_t *finding = machine_find(
      warp, RKB_MACHINE_REJECT, "race.launch", lane,
      "%s %u bytes at byte %llu of %s, which a launch before this one %s and may still be running: no "
      "griddepcontrol.wait comes before it",
      store ? "writes" : "reads", bytes, (unsigned long long)offset, region->name,
      other_wrote ? "writes" : "reads");
   if (!finding)
      return;
   finding->offset = (int64_t)offset;
   finding->bytes = bytes;
   finding->buffer = region->buffer;
   snprintf(finding->symbol, sizeof finding->symbol, "%s", region->name);
   snprintf(finding->space, sizeof finding->space, "global");
   machine_second_access_find_named(warp, lane, finding, name, other_wrote, region, offset, bytes,
                                    "the other launch came first; nothing orders its end before this");
}

/* Checks a lane's access before it is made; false after a finding. */
static bool launches_ordered(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t granule,
                             uint64_t offset, uint32_t bytes, bool store) {
   const uint64_t by_path =
      region->read_only_path ? (uint64_t)region->read_only_path[granule] << NAME_BLOCK_SHIFT : 0;
   const bool wrote = unordered(warp, lane, region->writers[granule]),
              read = store && unordered(warp, lane, region->readers[granule]),
              read_by_path = store && unordered(warp, lane, by_path);
   if (wrote || read || read_by_path)
      overlap_conflict(warp, lane, region, offset, bytes, store, wrote,
                       wrote  ? region->writers[granule]
                       : read ? region->readers[granule]
                              : by_path);
   return !wrote && !read && !read_by_path;
}

bool machine_launches_ordered(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                              uint32_t bytes, bool store) {
   const uint32_t shift = warp->block->launch->global_shift;
   bool ordered = true;
   for (uint64_t granule = offset >> shift;
        warp->block->launch->dependency && ordered && granule <= (offset + bytes - 1) >> shift; granule++)
      ordered = launches_ordered(warp, lane, region, granule, offset, bytes, store);
   return ordered;
}

static uint32_t own_granule(const machine_run_t *run, uint32_t number) {
   const uint32_t bytes = run->programs[number]->global_granule;
   return bytes == 1 ? 0 : bytes == 2 ? 1 : 2;
}

uint32_t machine_grid_granule(const machine_run_t *run, uint32_t number) {
   uint32_t first = number, least = 2;
   while (first > 0 && run->plan->launches[first].dependent)
      first--;
   for (uint32_t n = first; n < run->plan->launch_count && (n <= number || run->plan->launches[n].dependent);
        n++)
      least = own_granule(run, n) < least ? own_granule(run, n) : least;
   return least;
}
