/* tensormap.replace, tensormap.cp_fenceproxy and the fences of tensor maps (PTX ISA 9.0, 9.7.9.26, 9.7.13.6). */
#include "machine/async/map_fences.h"
#include "machine/maps/map_images.h"
#include "machine/lanes/bulk_operands.h"
#include "machine/lanes/handlers.h"
#include "machine/lanes/whole_warp.h"

typedef struct place {
   uint8_t *bytes;
   machine_region_t *region; /* NULL: shared memory */
   uint64_t offset;
} place_t;

/* Finds the 128 bytes at an address of shared or global memory, and whether they are a map; false after a
 * finding. */
static bool find_map(machine_warp_t *warp, uint32_t lane, uint64_t address, bool store, place_t *out) {
   uint32_t shared;
   machine_row_t row;
   if (address >> WINDOW_SHIFT == WINDOW_SHARED) {
      if (!machine_bulk_shared(warp, lane, address, RKB_MAP_BYTES, RKB_MAP_ALIGNMENT, &shared))
         return false;
      *out = (place_t){.bytes = warp->block->shared + shared, .offset = shared};
   } else {
      if (!machine_bulk_global(warp, lane, address, RKB_MAP_BYTES, store, &row))
         return false;
      *out = (place_t){row.region->data + row.offset, row.region, row.offset};
   }
   if (machine_is_map_image(warp->run, out->bytes) && address % RKB_MAP_ALIGNMENT == 0)
      return true;
   machine_find(
      warp, RKB_MACHINE_REJECT, "plan.argument", lane,
      "the address that tensormap.replace or tensormap.cp_fenceproxy is given is not that of a tensor map");
   return false;
}

static void access(machine_warp_t *warp, uint32_t lane, const place_t *at, bool store) {
   if (!warp->run->races)
      return;
   if (at->region)
      machine_global_access(warp, lane, at->region, at->offset, RKB_MAP_BYTES, NULL, store, false);
   else
      machine_shared_access(warp, lane, (uint32_t)at->offset, RKB_MAP_BYTES, NULL, store, false);
}

/* extras: the address and its offset, which dimension, the value */
static void replace_lane(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane) {
   const machine_slot_t *slots = warp->program->extras + i->extra;
   machine_map_image_t image;
   place_t at;
   if (!bulk_operands_defined(warp, i, lane, 4) ||
       !find_map(warp, lane, bulk_address(warp, &slots[0], lane, i->space == PTX_SHARED), true, &at))
      return;
   access(warp, lane, &at, false);
   access(warp, lane, &at, true);
   memcpy(&image, at.bytes, sizeof image);
   const uint64_t order = bulk_operand(warp, &slots[2], lane), value = bulk_operand(warp, &slots[3], lane);
   if (!machine_map_replace(&image, (enum machine_map_field)i->immediate, order, value)) {
      machine_find(
         warp, RKB_MACHINE_REJECT, "plan.argument", lane,
         "tensormap.replace gives dimension %llu the value %llu, which no tensor map can have there",
         (unsigned long long)order, (unsigned long long)value);
      return;
   }
   memcpy(at.bytes, &image, sizeof image);
   if (at.region)
      at.region->written = true;
   warp->run->changes++;
}

OP(map_replace) {
   for (uint32_t l = 0; l < LANES && !warp->run->stop; l++)
      if (mask >> l & 1)
         replace_lane(warp, i, l);
}

/* extras: two addresses with their offsets.  The warp does it together. */
OP(map_copy) {
   const machine_slot_t *slots = warp->program->extras + i->extra;
   place_t from;
   machine_row_t to;
   if (!whole_warp(warp, mask) || !bulk_operands_defined(warp, i, 0, 4))
      return;
   const uint64_t target = bulk_address(warp, &slots[0], 0, false),
                  source = bulk_address(warp, &slots[2], 0, true);
   for (uint32_t l = 1; l < LANES; l++)
      if (bulk_address(warp, &slots[0], l, false) != target ||
          bulk_address(warp, &slots[2], l, true) != source) {
         machine_find(warp, RKB_MACHINE_REJECT, "sync.warp", l,
                      "the lanes of the warp give tensormap.cp_fenceproxy different addresses");
         return;
      }
   if ((target | source) % RKB_MAP_BYTES) {
      machine_find(warp, RKB_MACHINE_REJECT, "memory.misaligned", 0,
                   "tensormap.cp_fenceproxy takes addresses that are multiples of %u", RKB_MAP_BYTES);
      return;
   }
   if (!find_map(warp, 0, source, false, &from) ||
       !machine_bulk_global(warp, 0, target, RKB_MAP_BYTES, true, &to))
      return;
   for (uint32_t l = 0; l < LANES && !warp->run->stop; l++) /* any lane may read the map */
      access(warp, l, &from, false);
   to.shared = (uint32_t)from.offset;
   machine_bulk_store(warp, 0, &to);
   machine_map_release(warp, 1, true, (enum machine_map_scope)i->immediate);
}

OP(map_release) {
   machine_map_release(warp, mask, false, (enum machine_map_scope)i->immediate);
}

/* extras: the address and its offset */
OP(map_acquire) {
   const machine_slot_t *slots = warp->program->extras + i->extra;
   for (uint32_t l = 0; l < LANES && !warp->run->stop; l++)
      if (mask >> l & 1 && bulk_operands_defined(warp, i, l, 2))
         machine_map_acquire(warp, l, bulk_address(warp, &slots[0], l, false),
                             (enum machine_map_scope)i->immediate);
}
