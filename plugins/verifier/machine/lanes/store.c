/* st: to every space, of every width, one to eight elements (PTX ISA 9.0, 9.7.9.11). */
#include "handlers.h"
#include "word_access.h"

typedef uint32_t words_t __attribute__((vector_size(32), aligned(4), may_alias));

static inline bool any(words_t v) {
   typedef uint64_t halves_t __attribute__((vector_size(32)));
   halves_t h = (halves_t)v;
   return (h[0] | h[1] | h[2] | h[3]) != 0;
}

/* Marks 8 threads as writers of 8 consecutive words; true when another thread touched one since the last barrier. */
static inline bool write_words(machine_block_t *block, uint32_t word, uint32_t thread) {
   words_t *records = (words_t *)(block->shared_races + word);
   const words_t step = {0, 1, 2, 3, 4, 5, 6, 7};
   words_t record = *records, me = step + (thread + 1);
   const uint32_t epoch = block->epoch << EPOCH_SHIFT;
   words_t fresh = (words_t)((record & ~(0x3fffff + (words_t){0})) == epoch);
   record = (record & fresh) | (epoch & ~fresh);
   words_t writer = record >> 11 & SEVERAL, reader = record & SEVERAL;
   words_t other =
      ((words_t)(writer != 0) & (words_t)(writer != me)) | ((words_t)(reader != 0) & (words_t)(reader != me));
   if (any(other))
      return true;
   *records = epoch | me << 11 | reader;
   return false;
}

static bool store_shared_words(machine_warp_t *warp, const machine_instruction_t *i,
                               const machine_slot_t *part) {
   machine_block_t *block = warp->block;
   const uint32_t *a = LANES_OF(uint32_t, i->a);
   const words_t step = {0, 4, 8, 12, 16, 20, 24, 28};
   uint32_t offsets[4];
   for (int n = 0; n < 4; n++) {
      words_t address = *(const words_t *)(a + 8 * n);
      if (any((address - address[0]) ^ step))
         return false;
      uint64_t offset = (uint64_t)address[0] + (uint64_t)i->immediate;
      if (offset & 3 || offset + 32 > block->shared_bytes)
         return false;
      offsets[n] = (uint32_t)offset;
   }
   const uint32_t *value = LANES_OF(uint32_t, part->offset);
   for (int n = 0; n < 4; n++) {
      if (block->races == RACES_FAST &&
          write_words(block, offsets[n] >> 2, warp->first_thread + 8 * (uint32_t)n))
         return false;
      memcpy(block->shared + offsets[n], value + 8 * n, 32);
      memset(block->shared_defined + offsets[n], 1, 32);
   }
   if (warp->shadow) {
      machine_shadow_fill(warp, part->offset, part->number);
      for (int n = 0; n < 4; n++)
         memcpy(block->shared_shadow + (offsets[n] >> 2), SHADOW_OF(part->offset) + 8 * n,
                8 * sizeof(double));
   }
   return true;
}

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
                               strong || (i->flags & FLAG_VOLATILE));
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
   const bool word = i->element_bytes == 4 && i->elements == 1 && part->bytes == 4 && mask == FULL_MASK &&
                     warp->defined[part->number] == FULL_MASK && warp->defined[i->ai] == FULL_MASK &&
                     !(i->flags & (FLAG_RELEASE | FLAG_RELAXED | FLAG_VOLATILE));
   if (word && i->space == PTX_SHARED && i->address_bytes == 4 && warp->block->races != RACES_CLOCKS &&
       warp->block->shared_shift == 2 && !warp->block->measured && store_shared_words(warp, i, part)) {
      if (warp->taint) {
         warp->block->shared_taint |= warp->taint[part->number];
         warp->run->report.address_taint |= warp->taint[i->ai];
      }
      return;
   }
   uint64_t address[LANES];
   mask = lane_addresses(warp, i, mask, address);
   if (warp->block->measured)
      machine_count_request(warp, address, mask, (uint32_t)i->element_bytes * i->elements, true);
   if (word && mask == FULL_MASK && i->space == PTX_GLOBAL && store_region_row(warp, part, address))
      return;
   if (mask && store_words(warp, i, mask, address))
      return;
   store_lanes(warp, i, mask, address);
}
