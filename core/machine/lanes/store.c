/* st: to every space, of every width, one to eight elements (PTX ISA 9.0, 9.7.9.11). */
#include "machine/lanes/handlers.h"
#include "machine/clocks/shared_signals.h"
#include "machine/lanes/global_words.h"

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
         write_element(value + e * bytes, read_element(source, bytes), bytes);
      }
      const bool strong = i->flags & (FLAG_RELAXED | FLAG_RELEASE);
      if (warp->run->races && place.window == WINDOW_SHARED) {
         machine_shared_access(warp, l, (uint32_t)place.offset, total, value, true, strong);
         if (strong || volatile_signal(i))
            machine_signal_given(warp, l, (uint32_t)place.offset, i, false);
      } else if (warp->run->races && place.region)
         machine_global_access(warp, l, place.region, place.offset, total, value, true,
                               strong || volatile_signal(i));
      if (warp->run->races && !(i->flags & FLAG_BLOCK) &&
          (i->flags & (FLAG_RELEASE | FLAG_RELAXED | FLAG_VOLATILE)))
         machine_sync_release(warp, l, address[l], i->flags & FLAG_RELEASE);
      if (i->elements == 1)
         write_element(place.data, read_element(value, bytes), bytes);
      else
         memcpy(place.data, value, total);
      if (place.region && place.region->renewed)
         machine_kept_write(place.region, place.offset, total, true);
      for (uint32_t e = 0; e < i->elements; e++) {
         bool known = warp->defined[parts[e].number] >> l & 1;
         if (place.defined)
            write_element(place.defined + e * bytes, EACH_BYTE * (known ? 1 : UNDEFINED_STORE), bytes);
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

/* Not inlined, as in load.c. */
static __attribute__((noinline)) void store_others(machine_warp_t *warp, const machine_instruction_t *i,
                                                   uint32_t mask, bool shared) {
   uint64_t address[LANES];
   mask = lane_addresses(warp, i, mask, address);
   if (warp->block->measured)
      machine_count_request(warp, address, mask, (uint32_t)i->element_bytes * i->elements, true);
   if (shared && warp->block->measured && store_shared(warp, i, mask))
      return;
   if (mask & (mask - 1) && /* for a single lane the general way is as fast */
       (store_words(warp, i, mask, address) || store_narrow_parts(warp, i, mask, address)))
      return;
   store_lanes(warp, i, mask, address);
}

OP(store) {
   const bool shared = moves_shared(warp, i, mask);
   warp->run->changes++;
   if (!shared || warp->block->measured || !store_shared(warp, i, mask))
      store_others(warp, i, mask, shared);
}
