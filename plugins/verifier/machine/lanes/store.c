/* st: to every space, of every width, one to eight elements (PTX ISA 9.0, 9.7.9.11). */
#include "handlers.h"
#include "shared_words.h"
#include "word_access.h"

/* A row of words of one buffer: consecutive and all defined. */
static bool store_region_row(machine_warp_t *warp, const machine_slot_t *part, const uint64_t *address) {
   machine_region_t *region = machine_region_at(warp->run, address[0]);
   if (!region || region->read_only || address[0] & 3)
      return false;
   uint64_t offset = address[0] - region->base;
   if (offset > region->bytes || region->bytes - offset < 4 * LANES)
      return false;
   uint64_t different = 0;
   for (int l = 0; l < LANES; l++)
      different |= address[l] - address[0] - 4 * (uint64_t)l;
   if (different || (warp->shadow && !region->shadow))
      return false;
   if (warp->run->races && !machine_global_write_row(warp, region, offset))
      return false;
   if (region->met)
      machine_meet(warp->run, region, offset, 4 * LANES, true);
   memcpy(region->data + offset, LANES_OF(uint32_t, part->offset), 4 * LANES);
   if (region->defined)
      memset(region->defined + offset, 1, 4 * LANES);
   if (warp->shadow) {
      machine_shadow_fill(warp, part->offset, part->number);
      memcpy(region->shadow + (offset >> 2), SHADOW_OF(part->offset), LANES * sizeof(double));
   }
   if (warp->taint)
      region->taint |= warp->taint[part->number];
   return true;
}

static void store_lanes(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                        const uint64_t *address) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   const uint32_t bytes = i->element_bytes, total = bytes * i->elements;
   for (uint32_t l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      machine_place_t place;
      if (!place_of(warp, l, address[l], i->space, total, true, &place))
         continue;
      uint8_t value[64];
      for (uint32_t e = 0; e < i->elements; e++) {
         const uint8_t *source = warp->registers + parts[e].offset + (parts[e].bytes == 8 ? 8 : 4) * l;
         memcpy(value + e * bytes, source, bytes);
      }
      const bool strong = i->flags & (FLAG_RELAXED | FLAG_RELEASE);
      if (warp->run->races && place.window == WINDOW_SHARED)
         machine_shared_access(warp, l, (uint32_t)place.offset, total, value, true, strong);
      else if (warp->run->races && place.region)
         machine_global_access(warp, l, place.region, place.offset, total, value, true,
                               strong || volatile_signal(i));
      if (warp->run->races && (i->flags & (FLAG_RELEASE | FLAG_RELAXED | FLAG_VOLATILE)))
         machine_sync_release(warp, l, address[l], i->flags & FLAG_RELEASE);
      memcpy(place.data, value, total);
      for (uint32_t e = 0; e < i->elements; e++) {
         bool known = warp->defined[parts[e].number] >> l & 1;
         if (place.defined)
            memset(place.defined + e * bytes, known ? 1 : UNDEFINED_STORE, bytes);
         if (!known && place.region)
            machine_undefined_store(warp, l, place.region, place.offset + e * bytes, bytes);
         if (place.shadow && bytes == 4)
            place.shadow[e] = warp->valid && (warp->valid[parts[e].number] >> l & 1) && parts[e].bytes == 4
                                 ? SHADOW_OF(parts[e].offset)[l]
                                 : machine_no_shadow();
         if (warp->taint)
            *taint_of_place(warp, &place) |= warp->taint[parts[e].number];
      }
      if (place.shadow && bytes != 4)
         for (uint32_t n = 0; n < (total + 3) / 4; n++)
            place.shadow[n] = machine_no_shadow();
   }
}

OP(store) {
   const machine_slot_t *part = warp->program->extras + i->extra;
   const bool shared = moves_shared_words(warp, i, mask);
   warp->run->changes++;
   if (shared && !warp->block->measured && store_shared_words(warp, i, mask))
      return;
   const bool row = i->space == PTX_GLOBAL && i->element_bytes == 4 && i->elements == 1 && part->bytes == 4 &&
                    mask == FULL_MASK && warp->defined[part->number] == FULL_MASK &&
                    !(i->flags & (FLAG_RELEASE | FLAG_RELAXED | FLAG_VOLATILE));
   uint64_t address[LANES];
   mask = lane_addresses(warp, i, mask, address);
   if (warp->block->measured)
      machine_count_request(warp, address, mask, (uint32_t)i->element_bytes * i->elements, true);
   if (row && mask == FULL_MASK && store_region_row(warp, part, address))
      return;
   if (shared && warp->block->measured && store_shared_words(warp, i, mask))
      return;
   if (mask && store_words(warp, i, mask, address))
      return;
   store_lanes(warp, i, mask, address);
}
