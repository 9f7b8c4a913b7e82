/* Bulk copies: groups, and rows of bytes that move (bulk_copies.h).  On the machine's thread. */
#include "machine/async/bulk_copies.h"
#include "machine/in_flight/cluster_peers.h"
#include "machine/clocks/clocks.h"
#include "machine/clocks/vector_clocks.h"
#include "machine/in_flight/copy_sources.h"
#include "machine/in_flight/operations.h"
#include "machine/races/races.h"

#include <stdlib.h>

/* Groups --------------------------------------------------------------------------------------------------------------- */

struct machine_bulk_groups {
   uint32_t threads;
   struct {
      uint32_t actor;     /* + 1; 0: none yet: its groups have read their sources */
      uint32_t written;   /* the same: its groups have written their destinations */
      uint32_t committed; /* groups */
   } of[];
};

static size_t groups_bytes(uint32_t threads) {
   return sizeof(machine_bulk_groups_t) + threads * sizeof(((machine_bulk_groups_t *)0)->of[0]);
}

machine_bulk_groups_t *machine_bulk_groups_new(machine_run_t *run, uint32_t threads) {
   machine_bulk_groups_t *groups = machine_alloc(run, groups_bytes(threads));
   if (groups)
      groups->threads = threads;
   return groups;
}

void machine_bulk_groups_free(machine_run_t *run, machine_bulk_groups_t *groups) {
   if (groups)
      machine_release(run, groups, groups_bytes(groups->threads));
}

void machine_bulk_groups_begin(machine_block_t *block) {
   machine_bulk_groups_t *groups = block->bulk_groups;
   if (groups)
      memset(groups->of, 0, groups->threads * sizeof groups->of[0]);
}

uint32_t machine_bulk_group(machine_warp_t *warp, uint32_t lane, uint32_t *count) {
   machine_bulk_groups_t *groups = warp->block->bulk_groups;
   const uint32_t thread = warp->first_thread + lane;
   if (!groups->of[thread].actor)
      groups->of[thread].actor = machine_actor_new(warp->block) + 1; /* PTX_NONE + 1 is 0: not followed */
   *count = groups->of[thread].committed + 1;
   return groups->of[thread].actor - 1;
}

uint32_t machine_bulk_written_group(machine_warp_t *warp, uint32_t lane) {
   machine_bulk_groups_t *groups = warp->block->bulk_groups;
   uint32_t *written = &groups->of[warp->first_thread + lane].written;
   const machine_clocks_t *clocks = warp->block->clocks;
   if (!*written && clocks && clocks->knowledge->actors < MOST_ACTORS / 4)
      *written = machine_actor_new(warp->block) + 1;
   return *written - 1;
}

void machine_bulk_commit(machine_warp_t *warp, uint32_t lanes) {
   for (; lanes; lanes &= lanes - 1)
      warp->block->bulk_groups->of[warp->first_thread + (uint32_t)__builtin_ctz(lanes)].committed++;
}

void machine_bulk_wait(machine_warp_t *warp, uint32_t lanes, uint32_t pending, bool written) {
   const machine_bulk_groups_t *groups = warp->block->bulk_groups;
   for (; lanes; lanes &= lanes - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(lanes), thread = warp->first_thread + lane,
                     committed = groups->of[thread].committed;
      if (groups->of[thread].actor && committed > pending)
         machine_actor_observed(warp, 1u << lane, groups->of[thread].actor - 1, committed - pending);
      if (written && groups->of[thread].written && committed > pending)
         machine_actor_observed(warp, 1u << lane, groups->of[thread].written - 1, committed - pending);
   }
}

/* Places --------------------------------------------------------------------------------------------------------------- */

bool machine_bulk_shared(machine_warp_t *warp, uint32_t lane, uint64_t address, uint32_t bytes,
                         uint32_t alignment, uint32_t *offset) {
   const uint64_t window = address >> WINDOW_SHIFT, at = address & ((1ull << WINDOW_SHIFT) - 1);
   uint64_t place = at;
   uint32_t rank;
   if (window != WINDOW_SHARED || !machine_shared_place(warp, &place, bytes, &rank)) {
      machine_fault(warp, lane, window == WINDOW_SHARED ? address & ~15ull : address, PTX_SHARED,
                    bytes < 16 ? bytes : 16, true);
      if (!warp->run->stop)
         machine_find(
            warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", lane,
            "a bulk operation takes %u bytes from byte %llu of shared memory on, of which the block has %u",
            bytes, (unsigned long long)at, warp->block->cluster.shared_bytes);
      return false;
   }
   if (rank != warp->rank && !machine_peer_written(warp, lane, rank))
      return false;
   if (at & (alignment - 1)) {
      machine_find(warp, RKB_MACHINE_REJECT, "memory.misaligned", lane,
                   "byte %llu of shared memory is no multiple of %u, as this bulk operation needs",
                   (unsigned long long)at, alignment);
      return false;
   }
   *offset = (uint32_t)place;
   return true;
}

bool machine_bulk_global(machine_warp_t *warp, uint32_t lane, uint64_t address, uint32_t bytes, bool store,
                         machine_row_t *row) {
   machine_region_t *region = machine_region_at(warp->run, address);
   const uint64_t offset = region ? address - region->base : 0;
   if (address & 15) {
      machine_find(warp, RKB_MACHINE_REJECT, "memory.misaligned", lane,
                   "the address of a bulk copy in global memory is no multiple of 16");
      return false;
   }
   if (!region || offset > region->bytes || region->bytes - offset < bytes || (store && region->read_only)) {
      /* the first sixteen bytes that do not lie in the region */
      const uint64_t inside = region && offset < region->bytes && !(store && region->read_only)
                                 ? (region->bytes - offset) & ~15ull
                                 : 0;
      machine_fault(warp, lane, address + inside, PTX_GLOBAL, 16, store);
      return false;
   }
   region->written |= store;
   if (region->met)
      machine_meet(warp->run, region, offset, bytes, store);
   *row = (machine_row_t){.region = region, .offset = offset, .bytes = bytes};
   return true;
}

/* Moving --------------------------------------------------------------------------------------------------------------- */

/* The work of moving a row and of its definedness and shadow: about a thread-instruction for each four bytes. */
static void count_row(machine_run_t *run, uint32_t bytes) {
   run->work.burden += 1 + bytes / 4;
}

void machine_bulk_count_granules(const machine_warp_t *warp, const machine_row_t *row) {
   if (warp->run->races && !row->region->read_only)
      warp->run->work.burden += 2 * ((uint64_t)row->bytes >> warp->block->launch->global_shift);
}

/* Which of the bytes hold a value, in memory that is elsewhere; returns whether some do not. */
static bool copy_definedness(uint8_t *restrict to, const uint8_t *restrict from, uint32_t bytes) {
   typedef uint8_t sixteen_t __attribute__((vector_size(16), aligned(1), may_alias));
   uint8_t different = 0;
   uint32_t n = 0;
   for (; n + sizeof(sixteen_t) <= bytes;
        n += (uint32_t)sizeof(sixteen_t)) { /* most rows are one piece of a swizzle */
      const sixteen_t known = (sixteen_t)(*(const sixteen_t *)(from + n) == 1);
      uint64_t halves[2];
      memcpy(halves, &known, sizeof halves);
      different |= (halves[0] & halves[1]) != UINT64_MAX;
      *(sixteen_t *)(to + n) =
         known + UNDEFINED_STORE; /* a byte that holds a value has all bits set in known: minus one */
   }
   for (; n < bytes; n++) {
      different |= from[n] ^ 1;
      to[n] = from[n] == 1 ? 1 : UNDEFINED_STORE;
   }
   return different != 0;
}
_Static_assert(UNDEFINED_STORE == 2, "one more than the byte of a value");

void machine_bulk_take(machine_warp_t *warp, const machine_row_t *row) {
   machine_block_t *block = warp->block;
   const machine_region_t *region = row->region;
   uint8_t *defined = block->shared_defined + row->shared;
   count_row(warp->run, row->bytes);
   if (machine_unasked(warp->run, region->taint))
      ; /* taint shows which values depend on the row */
   else if (row->bytes == 16 &&
            !region->places) /* most pieces of a tile: a swizzle does not split sixteen bytes */
      memcpy(block->shared + row->shared, region->data + row->offset, 16);
   else
      machine_read_bytes(region, row->offset, row->bytes, block->shared + row->shared);
   if (!region->defined && row->bytes == 16)
      memset(defined, 1, 16);
   else if (!region->defined)
      memset(defined, 1, row->bytes);
   warp->run->undefinings += region->defined != NULL;
   if (region->defined)
      copy_definedness(defined, region->defined + row->offset, row->bytes);
   for (uint32_t n = 0; block->shared_shadow && 4 * n + 4 <= row->bytes && !(row->shared & 3); n++)
      block->shared_shadow[row->shared / 4 + n] =
         region->shadow && !(row->offset & 3) ? region->shadow[row->offset / 4 + n] : machine_no_shadow();
   if (region->renewed) {
      const uint64_t kept = machine_kept_taint(warp->run, region, row->offset, row->bytes);
      warp->run->report.variables_unfinished |= region->unfinished;
      block->shared_taint |= warp->taint ? kept : 0;
   }
   if (warp->taint)
      block->shared_taint |= region->taint;
}

void machine_bulk_load(machine_warp_t *warp, uint32_t lane, uint32_t operation, const machine_row_t *row) {
   machine_bulk_count_granules(warp, row);
   if (warp->run->races && !row->region->read_only)
      machine_global_copied(warp, lane, row->region, row->offset, row->bytes,
                            machine_copy_source_followed(warp, operation, row->region));
   machine_copy_source_row(warp, operation, row);
   machine_bulk_take(warp, row);
}

void machine_bulk_give(machine_warp_t *warp, uint32_t lane, const machine_row_t *row) {
   machine_block_t *block = warp->block;
   machine_region_t *region = row->region;
   const uint8_t *defined = block->shared_defined + row->shared;
   count_row(warp->run, row->bytes);
   memcpy(region->data + row->offset, block->shared + row->shared, row->bytes);
   if (region->defined && copy_definedness(region->defined + row->offset, defined, row->bytes))
      for (uint32_t n = 0; n < row->bytes; n++)
         if (defined[n] != 1)
            machine_undefined_store(warp, lane, region, row->offset + n, 1);
   for (uint32_t n = 0; region->shadow && 4 * n + 4 <= row->bytes && !(row->offset & 3); n++)
      region->shadow[row->offset / 4 + n] = block->shared_shadow && !(row->shared & 3)
                                               ? block->shared_shadow[row->shared / 4 + n]
                                               : machine_no_shadow();
   if (region->renewed)
      machine_kept_write(region, row->offset, row->bytes, true);
   if (warp->taint)
      region->taint |= block->shared_taint;
   warp->run->changes++;
}

void machine_bulk_store(machine_warp_t *warp, uint32_t lane, const machine_row_t *row) {
   machine_bulk_count_granules(warp, row);
   if (warp->run->races)
      machine_global_stored(warp, lane, row->region, row->offset, row->bytes, false);
   machine_bulk_give(warp, lane, row);
}

void machine_bulk_fill(machine_warp_t *warp, uint32_t shared, uint32_t bytes, uint32_t pattern) {
   machine_block_t *block = warp->block;
   warp->run->work.burden += 1 + bytes; /* byte by byte */
   uint8_t *const to = block->shared + shared;
   const uint32_t turned =
      pattern >> 8 * (shared & 3) | (shared & 3 ? pattern << (32 - 8 * (shared & 3)) : 0);
   if (!turned)
      memset(to, 0, bytes);
   for (uint32_t n = 0; turned && n + 4 <= bytes; n += 4)
      memcpy(to + n, &turned, 4);
   for (uint32_t n = bytes & ~3u; n < bytes; n++)
      to[n] = (uint8_t)(turned >> 8 * (n & 3));
   memset(block->shared_defined + shared, 1, bytes);
   for (uint32_t n = shared / 4; block->shared_shadow && 4 * n + 4 <= shared + bytes; n++)
      block->shared_shadow[n] = machine_no_shadow();
}

void machine_bulk_count(machine_warp_t *warp, const machine_row_t *row, bool store) {
   rkb_launch_counters_t *c = &warp->run->counts.measured;
   const uint64_t sectors = c->load_sectors;
   const uint32_t loads = warp->loads;
   const bool open = warp->loads_open;
   if (!warp->block->measured)
      return;
   for (uint32_t at = 0; at < row->bytes; at += 16 * LANES) {
      const uint64_t first = row->region->base + row->offset + at;
      const uint32_t left = row->bytes - at, bytes = left < 16 * LANES ? left : 16 * LANES;
      uint64_t address[LANES];
      uint32_t lanes = 0;
      if (((first | bytes) & 31) ==
          0) { /* a row of most tiles: each half of a sector counts as a lane of its own */
         machine_count_whole_sectors(warp, first, bytes / 32, store);
         continue;
      }
      for (uint32_t l = 0; l < LANES; l++) {
         address[l] = first + 16 * l;
         lanes |= (uint32_t)(at + 16 * l < row->bytes) << l;
      }
      machine_count_request(warp, address, lanes, 16, store);
   }
   c->bulk_sectors += c->load_sectors - sectors;
   warp->loads = loads; /* the warp does not wait for it as for a load */
   warp->loads_open = open;
}
