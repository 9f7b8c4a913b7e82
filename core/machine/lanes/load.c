/* ld: from every space, of every width, one to eight elements (PTX ISA 9.0, 9.7.9.8). */
#include "machine/state/environment.h"
#include "machine/lanes/handlers.h"
#include "machine/clocks/shared_signals.h"
#include "machine/lanes/global_words.h"
#include "machine/maps/tensor_maps.h"

static inline uint64_t widen(uint64_t value, uint32_t bytes, bool is_signed, uint32_t register_bytes) {
   if (is_signed && bytes < 8) {
      uint32_t shift = 64 - 8 * bytes;
      value = (uint64_t)((int64_t)(value << shift) >> shift);
   }
   return register_bytes < 8 ? value & ((1ull << 8 * register_bytes) - 1) : value;
}

/* Loads for any lanes, from any space, of any width. */
static void load_lanes(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                       const uint64_t *address) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   const uint32_t bytes = i->element_bytes, total = bytes * i->elements;
   const bool is_signed = ptx_type_is_signed(i->type);
   uint32_t defined[8] = {0};
   uint64_t taint = warp->taint ? warp->taint[i->ai] : 0;
   for (uint32_t l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      machine_place_t place;
      if (!place_of(warp, l, address[l], i->space, total, false, &place))
         continue;
      if (warp->run->races && place.window == WINDOW_SHARED) {
         machine_shared_access(warp, l, (uint32_t)place.offset, total, NULL, false,
                               i->flags & (FLAG_RELAXED | FLAG_ACQUIRE));
         if (i->flags & (FLAG_RELAXED | FLAG_ACQUIRE))
            machine_signal_seen(warp, l, (uint32_t)place.offset, i->flags & FLAG_ACQUIRE);
      } else if (warp->run->races && place.region && !place.region->read_only) {
         if (i->flags & FLAG_READ_ONLY)
            machine_read_only_access(warp, l, place.region, place.offset, total);
         machine_global_access(warp, l, place.region, place.offset, total, NULL, false,
                               (i->flags & (FLAG_RELAXED | FLAG_ACQUIRE)) || volatile_signal(i));
      }
      if (warp->run->races && !(i->flags & FLAG_BLOCK) &&
          (i->flags & (FLAG_ACQUIRE | FLAG_RELAXED | FLAG_VOLATILE)))
         machine_sync_acquire(warp, l, address[l]);
      bool open = false; /* blocks that were not executed may have written it */
      if (place.region && place.region->renewed) {
         taint |= machine_kept_taint(warp->run, place.region, place.offset, total);
         open = machine_is_open(place.region, place.offset, total) ||
                (warp->run->moving && place.region->has_past);
      }
      if (warp->taint)
         taint |= place.window == WINDOW_PARAM ? warp->block->launch->parameter_taint[place.offset]
                                               : *taint_of_place(warp, &place);
      for (uint32_t e = 0; e < i->elements; e++) {
         const uint64_t value = widen(read_element(place.data + e * bytes, bytes), bytes, is_signed,
                                      parts[e].bytes == 8 ? 8 : i->source_type);
         const bool all = !place.defined ||
                          read_element(place.defined + e * bytes, bytes) == EACH_BYTE >> (64 - 8 * bytes) ||
                          (warp->run->unfinished && place.region && warp->run->tickets &&
                           machine_tickets_look(warp->run, place.region, place.offset + e * bytes, bytes));
         defined[e] |= (uint32_t)(all && !open) << l;
         if (parts[e].bytes == 8)
            LANES_OF(uint64_t, parts[e].offset)[l] = value;
         else
            LANES_OF(uint32_t, parts[e].offset)[l] = (uint32_t)value;
         if (warp->shadow && parts[e].bytes == 4) {
            double known_shadow = place.shadow && bytes == 4 ? place.shadow[e] : machine_no_shadow();
            bool has = machine_has_shadow(known_shadow);
            if (has)
               SHADOW_OF(parts[e].offset)[l] = known_shadow;
            warp->valid[parts[e].number] = (warp->valid[parts[e].number] & ~(1u << l)) | (uint32_t)has << l;
         }
      }
   }
   for (uint32_t e = 0; e < i->elements; e++) {
      set_defined(warp, parts[e].number, defined[e], mask);
      set_taint(warp, parts[e].number, taint, mask);
   }
}

/* In a run of which only some elements of inputs are asked for: leaves what the lanes load undefined where no element of its piece is asked for and
 * no block has read the piece before, because making a piece costs more than all else in a load.  Returns the other lanes.  An access that is a fault
 * is left to the general way. */
static uint32_t leave_unasked(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                              const uint64_t *address) {
   machine_run_t *run = warp->run;
   const machine_slot_t *parts = warp->program->extras + i->extra;
   const uint64_t one = address[__builtin_ctz(mask)], bytes = (uint64_t)i->element_bytes * i->elements;
   machine_region_t *region = one >> WINDOW_SHIFT == 0 ? machine_region_at(run, one) : NULL;
   uint64_t known = UINT64_MAX;
   uint32_t unasked = 0;
   bool needed = true;
   if (!region || !region->asked || !region->met || warp->shadow)
      return mask;
   for (uint32_t left = mask; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left);
      const uint64_t offset = address[lane] - region->base, piece = offset >> PIECE_SHIFT;
      if (offset >= region->bytes || region->bytes - offset < bytes || (address[lane] & (bytes - 1)))
         return mask;
      if (piece != known)
         needed = machine_is_met(region, piece) ||
                  machine_asks(region, piece << PIECE_SHIFT, UINT64_C(1) << PIECE_SHIFT);
      known = piece;
      unasked |= (uint32_t)!needed << lane;
   }
   for (uint32_t e = 0; unasked && e < i->elements; e++) {
      set_defined(warp, parts[e].number, 0, unasked);
      set_taint(warp, parts[e].number, region->taint | (warp->taint ? warp->taint[i->ai] : 0), unasked);
   }
   return mask & ~unasked;
}

/* Not inlined: it needs so much of the stack that what comes before it would take a quarter longer. */
static __attribute__((noinline)) void load_others(machine_warp_t *warp, const machine_instruction_t *i,
                                                  uint32_t mask, bool shared) {
   uint64_t address[LANES];
   uint32_t wanted = mask;
   warp->strong += (i->flags & (FLAG_ACQUIRE | FLAG_RELAXED | FLAG_VOLATILE)) != 0;
   mask = lane_addresses(warp, i, mask, address);
   if (warp->run->side_by_side && (i->flags & (FLAG_ACQUIRE | FLAG_RELAXED | FLAG_VOLATILE)))
      machine_note_polled(warp, address, mask, (uint32_t)i->element_bytes * i->elements);
   if (warp->block->measured && i->space != PTX_PARAM)
      machine_count_request(warp, address, mask, (uint32_t)i->element_bytes * i->elements, false);
   if (shared && warp->block->measured && load_shared(warp, i, mask))
      return;
   for (uint32_t e = 0; mask != wanted && e < i->elements; e++)
      set_defined(warp, warp->program->extras[i->extra + e].number, 0, wanted & ~mask);
   if (mask && warp->run->options.asked)
      mask = leave_unasked(warp, i, mask, address);
   if (!mask)
      return;
   if (mask & (mask - 1) && /* for a single lane the general way is as fast */
       (load_words(warp, i, mask, address) || load_narrow_global(warp, i, mask, address)))
      return;
   load_lanes(warp, i, mask, address);
}

OP(load) {
   const bool shared = moves_shared(warp, i, mask);
   if (!shared || warp->block->measured || !load_shared(warp, i, mask))
      load_others(warp, i, mask, shared);
}

/* ld.param of a kernel's own parameter at a constant place: the same for every lane. */
OP(load_parameter) {
   const machine_launch_t *launch = warp->block->launch;
   const machine_slot_t *parts = warp->program->extras + i->extra;
   const uint32_t bytes = i->element_bytes;
   for (uint32_t e = 0; e < i->elements; e++) {
      const uint64_t at = (uint64_t)i->immediate + e * bytes;
      const uint64_t known = read_element(launch->parameter_defined + at, bytes); /* a byte each, 1: it is */
      uint64_t value = read_element(launch->parameters + at, bytes), taint = 0;
      for (uint32_t n = 0; warp->taint && n < bytes; n++)
         taint |= launch->parameter_taint[at + n];
      const bool defined = known == UINT64_C(0x0101010101010101) >> (64 - 8 * bytes);
      value = widen(value, bytes, ptx_type_is_signed(i->type), parts[e].bytes == 8 ? 8 : i->source_type);
      if (parts[e].bytes == 8 && mask == FULL_MASK) {
         uint64_t *d = LANES_OF(uint64_t, parts[e].offset);
         EACH_LANE d[l] = value;
      } else if (parts[e].bytes == 8) {
         uint64_t *d = LANES_OF(uint64_t, parts[e].offset);
         EACH_LANE d[l] = KEEP(value, d[l]);
      } else {
         uint32_t *d = LANES_OF(uint32_t, parts[e].offset);
         EACH_LANE d[l] = KEEP((uint32_t)value, d[l]);
      }
      set_defined(warp, parts[e].number, defined ? FULL_MASK : 0, mask);
      set_taint(warp, parts[e].number, taint, mask);
      if (warp->shadow)
         warp->valid[parts[e].number] &= ~mask;
   }
}
