/* Releases and acquisitions of tensor maps in global memory (map_fences.h).  On the machine's thread. */
#include "machine/async/map_fences.h"
#include "machine/maps/map_images.h"
#include "machine/clocks/clocks.h"
#include "machine/clocks/second_access.h"
#include "machine/clocks/vector_clocks.h"
#include "machine/races/races.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_FENCES (1u << 16) /* most releases, and most acquisitions, of a launch */

typedef struct release {
   uint64_t serial; /* of the thread's block */
   uint32_t thread, time, pc;
   uint32_t barrier_time; /* all threads of the block knew then what any of them did before this time */
   uint32_t known[LANES]; /* what the thread knew then of the lanes of its warp */
   bool together; /* the whole warp released the same write */
   uint8_t scope; /* MAP_FENCE_* */
} release_t;

typedef struct acquire {
   uint64_t serial, address;
   uint32_t thread, time;
   uint8_t bytes[RKB_MAP_BYTES]; /* the map at this address at that time */
} acquire_t;

struct machine_map_fences {
   uint64_t launch; /* the serial number of the launch's first block, which names the launch */
   release_t *releases;
   acquire_t *acquires;
   uint32_t release_count, release_room, acquire_count, acquire_room;
};

static machine_map_fences_t *fences_of(machine_warp_t *warp) {
   machine_run_t *run = warp->run;
   const uint64_t launch = warp->block->launch->first_serial + 1;
   if (!run->map_fences)
      run->map_fences = calloc(1, sizeof *run->map_fences);
   if (!run->map_fences) {
      run->out_of_memory = true;
      return NULL;
   }
   if (run->map_fences->launch != launch) {
      run->map_fences->launch = launch;
      run->map_fences->release_count = run->map_fences->acquire_count = 0;
   }
   return run->map_fences;
}

void machine_map_fences_free(machine_run_t *run) {
   if (run->map_fences) {
      free(run->map_fences->releases);
      free(run->map_fences->acquires);
   }
   free(run->map_fences);
   run->map_fences = NULL;
}

/* Makes room for one more element; false when there is none. */
static bool grow(machine_warp_t *warp, void **list, uint32_t count, uint32_t *room, size_t size) {
   if (count < *room)
      return true;
   const uint32_t more = *room ? 2 * *room : 64;
   void *larger = more <= MOST_FENCES ? realloc(*list, more * size) : NULL;
   if (!larger) {
      warp->run->out_of_memory = true;
      return false;
   }
   *list = larger;
   *room = more;
   return true;
}

void machine_map_release(machine_warp_t *warp, uint32_t lanes, bool together, enum machine_map_scope scope) {
   machine_map_fences_t *fences = warp->run->races ? fences_of(warp) : NULL;
   const uint32_t then = fences ? warp->block->time : 0;
   for (uint32_t left = lanes; fences && left; left &= left - 1) {
      if (!grow(warp, (void **)&fences->releases, fences->release_count, &fences->release_room,
                sizeof *fences->releases))
         return;
      release_t *made = &fences->releases[fences->release_count++];
      *made = (release_t){.serial = warp->block->serial,
                          .thread = warp->first_thread + (uint32_t)__builtin_ctz(left),
                          .time = then,
                          .pc = warp->pc,
                          .barrier_time = warp->block->barrier_time,
                          .together = together,
                          .scope = (uint8_t)scope};
      if (warp->block->clocks)
         memcpy(made->known,
                machine_vector_clocks_row(warp->block->clocks->knowledge, made->thread) + warp->first_thread,
                sizeof made->known);
   }
   if (fences)
      machine_tick(warp->block);
}

static bool wrote_itself(const release_t *one, uint64_t name) {
   return one->serial + 1 == machine_name_block(name) && one->thread + 1 == machine_name_thread(name) &&
          one->time >= machine_name_time(name);
}

/* Whether a thread released the named write: its own, or one of its warp or block that is ordered before the release.  A fence may be anywhere between
 * a write and what sees it (PTX ISA 9.0, 'Causality order'). */
static bool releases(const release_t *one, uint64_t name) {
   const uint32_t time = machine_name_time(name),
                  lane = machine_name_thread(name) - 1 - one->thread / LANES * LANES;
   return wrote_itself(one, name) ||
          (one->serial + 1 == machine_name_block(name) &&
           (time < one->barrier_time || (lane < LANES && time <= one->known[lane])));
}

/* Returns a release of the named write; NULL: there is none. */
static const release_t *release_of(const machine_map_fences_t *fences, uint64_t name) {
   for (uint32_t n = fences->release_count; n-- > 0;)
      if (releases(&fences->releases[n], name))
         return &fences->releases[n];
   return NULL;
}

/* Whether the lane's own warp released it as a whole. */
static bool is_of_own_warp(const machine_warp_t *warp, const release_t *release) {
   return release->together && release->serial == warp->block->serial &&
          release->thread / LANES == warp->number;
}

/* Checks a read of the map, unless the lane's own warp wrote it as a whole. */
static void read_map(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset) {
   const machine_map_fences_t *fences = warp->run->map_fences;
   const uint64_t name = region->writers ? region->writers[offset >> warp->block->launch->global_shift] : 0;
   for (uint32_t n = name ? fences->release_count : 0; n-- > 0;)
      if (is_of_own_warp(warp, &fences->releases[n]) && wrote_itself(&fences->releases[n], name))
         return;
   machine_global_access(warp, lane, region, offset, RKB_MAP_BYTES, NULL, false, false);
}

/* Whether a fence of that scope is for the lane and for a thread that released a map. */
static bool is_in_scope(const machine_warp_t *warp, uint32_t lane, const release_t *release, uint8_t scope) {
   const uint32_t each = warp->block->cluster.warps * LANES;
   const bool same_cluster = release->serial == warp->block->serial;
   return scope == MAP_FENCE_DEVICE ||
          (same_cluster &&
           (scope == MAP_FENCE_CLUSTER || release->thread / each == (warp->first_thread + lane) / each));
}

/* Whether the lane, which acquires a map, comes after a release of the write of that name, and both fences have a scope that has the other thread in
 * it. */
static bool comes_after_release(const machine_warp_t *warp, uint32_t lane, uint64_t name, uint8_t scope) {
   const machine_map_fences_t *fences = warp->run->map_fences;
   for (uint32_t n = fences->release_count; n-- > 0;) {
      const release_t *one = &fences->releases[n];
      if (releases(one, name) && is_in_scope(warp, lane, one, one->scope) &&
          is_in_scope(warp, lane, one, scope) &&
          (is_of_own_warp(warp, one) ||
           machine_global_ordered(warp, lane, machine_past_name(one->serial, one->thread, one->time))))
         return true;
   }
   return false;
}

/* The same of all that this launch wrote of the map. */
static bool is_released(const machine_warp_t *warp, uint32_t lane, const machine_region_t *region,
                        uint64_t offset, uint8_t scope) {
   const machine_launch_t *launch = warp->block->launch;
   const uint64_t last = (offset + RKB_MAP_BYTES - 1) >> launch->global_shift;
   for (uint64_t granule = offset >> launch->global_shift; region->writers && granule <= last; granule++) {
      const uint64_t name = region->writers[granule];
      if (machine_name_block(name) > launch->first_serial && !comes_after_release(warp, lane, name, scope))
         return false;
   }
   return true;
}

static machine_region_t *map_region(machine_warp_t *warp, uint32_t lane, uint64_t address, uint64_t *offset) {
   machine_region_t *region = address >> WINDOW_SHIFT ? NULL : machine_region_at(warp->run, address);
   *offset = region ? address - region->base : 0;
   if (region && !region->places && *offset <= region->bytes && region->bytes - *offset >= RKB_MAP_BYTES &&
       address % RKB_MAP_ALIGNMENT == 0 && machine_is_map_image(warp->run, region->data + *offset))
      return region;
   machine_find(warp, RKB_MACHINE_REJECT, "plan.argument", lane,
                "acquires a tensor map where none lies at a multiple of %u bytes of global memory",
                RKB_MAP_ALIGNMENT);
   return NULL;
}

void machine_map_acquire(machine_warp_t *warp, uint32_t lane, uint64_t address,
                         enum machine_map_scope scope) {
   uint64_t offset;
   const bool parameter = address >> WINDOW_SHIFT == WINDOW_PARAM; /* parameters never change */
   machine_map_fences_t *fences = warp->run->races && !parameter ? fences_of(warp) : NULL;
   machine_region_t *region = fences ? map_region(warp, lane, address, &offset) : NULL;
   if (!region || !grow(warp, (void **)&fences->acquires, fences->acquire_count, &fences->acquire_room,
                        sizeof *fences->acquires))
      return;
   read_map(warp, lane, region, offset);
   if (!is_released(warp, lane, region, offset, (uint8_t)scope))
      return;
   acquire_t *made = &fences->acquires[fences->acquire_count++];
   *made = (acquire_t){warp->block->serial, address, warp->first_thread + lane, warp->block->time, {0}};
   memcpy(made->bytes, region->data + offset, RKB_MAP_BYTES);
}

static bool comes_before(const machine_warp_t *warp, uint32_t lane, const acquire_t *acquire) {
   return acquire->thread == warp->first_thread + lane || acquire->time < warp->block->barrier_time ||
          (warp->block->clocks && machine_clocks_ordered_time(warp, lane, acquire->thread, acquire->time));
}

static bool acquired(const machine_warp_t *warp, uint32_t lane, uint64_t address, const uint8_t *bytes) {
   const machine_map_fences_t *fences = warp->run->map_fences;
   const uint32_t each = warp->block->cluster.warps * LANES;
   for (uint32_t n = fences->acquire_count; n-- > 0;) {
      const acquire_t *one = &fences->acquires[n];
      if (one->serial == warp->block->serial && one->address == address &&
          one->thread / each == (warp->first_thread + lane) / each &&
          memcmp(one->bytes, bytes, RKB_MAP_BYTES) == 0 && comes_before(warp, lane, one))
         return true;
   }
   return false;
}

bool machine_map_seen(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset) {
   machine_map_fences_t *fences = warp->run->races ? fences_of(warp) : NULL;
   const uint32_t shift = warp->block->launch->global_shift;
   if (!fences)
      return true;
   read_map(warp, lane, region, offset);
   if (warp->run->stop)
      return false;
   for (uint64_t granule = offset >> shift;
        region->writers && granule <= (offset + RKB_MAP_BYTES - 1) >> shift; granule++) {
      const uint64_t name = region->writers[granule];
      if (machine_name_block(name) <= warp->block->launch->first_serial || release_of(fences, name))
         continue;
      machine_second_access_find_global(
         warp, lane,
         machine_find(
            warp, RKB_MACHINE_REJECT, "race.proxy", lane,
            "uses a tensor map at byte %llu of %s that this launch wrote: neither tensormap.cp_fenceproxy nor "
            "fence.proxy.tensormap::generic.release of the thread that wrote it, or of one that knew of this, came since",
            (unsigned long long)offset, region->name),
         name, true, region, offset, RKB_MAP_BYTES, "the other wrote it first, and has not released it");
      return false;
   }
   if (acquired(warp, lane, region->base + offset, region->data + offset))
      return true;
   const uint64_t name = region->writers ? region->writers[offset >> shift] : 0;
   rkb_machine_finding_t *finding = machine_find(
      warp, RKB_MACHINE_REJECT, "race.proxy", lane,
      "uses the tensor map at byte %llu of %s: no fence.proxy.tensormap::generic.acquire of its address by this thread, or "
      "by one of the block that it is ordered after, is ordered after its release, with scopes that have both threads in them",
      (unsigned long long)offset, region->name);
   const release_t *release = name ? release_of(fences, name) : NULL;
   machine_find_alone(finding, "the map was written before this launch; no acquire orders that before this");
   if (!finding || !release)
      return false;
   machine_find_other_at(finding, warp->block, release->thread, release->pc,
                         "the other released it first; no acquire orders that before this");
   machine_block_index(warp->block->launch, release->serial, release->thread, finding->other_block);
   return false;
}
