/* ld: from every space, of every width, one to eight elements (PTX ISA 9.0, 9.7.9.8). */
#include "handlers.h"
#include "word_access.h"

typedef uint32_t words_t __attribute__((vector_size(32), aligned(4), may_alias));

static inline bool any(words_t v) {
   typedef uint64_t halves_t __attribute__((vector_size(32)));
   halves_t h = (halves_t)v;
   return (h[0] | h[1] | h[2] | h[3]) != 0;
}

/* Marks 8 threads as readers of 8 consecutive words, or of one; true when one of them was written by another thread since
 * the last barrier (the records then stay as they are, and the slow path reports). */
static inline bool read_words(machine_block_t *block, uint32_t word, uint32_t thread) {
   words_t *records = (words_t *)(block->shared_races + word);
   const words_t step = {0, 1, 2, 3, 4, 5, 6, 7};
   words_t record = *records, me = step + (thread + 1);
   const uint32_t epoch = block->epoch << EPOCH_SHIFT;
   words_t fresh = (words_t)((record & ~(words_t){0x3fffff, 0x3fffff, 0x3fffff, 0x3fffff, 0x3fffff, 0x3fffff,
                                                  0x3fffff, 0x3fffff}) == epoch);
   record = (record & fresh) | (epoch & ~fresh);
   words_t writer = record >> 11 & SEVERAL, reader = record & SEVERAL;
   if (any((words_t)(writer != 0) & (words_t)(writer != me)))
      return true;
   words_t alone = (words_t)(reader == 0) | (words_t)(reader == me);
   *records = (record & ~(SEVERAL + (words_t){0})) | (alone & me) | (~alone & SEVERAL);
   return false;
}

static inline bool read_one_word(machine_block_t *block, uint32_t word) {
   uint32_t record = block->shared_races[word];
   const uint32_t epoch = block->epoch << EPOCH_SHIFT;
   if ((record & ~0x3fffffu) != epoch)
      record = epoch;
   if (record >> 11 & SEVERAL)
      return true;
   block->shared_races[word] = record | SEVERAL;
   return false;
}

/* 32 lanes load a word of shared memory each, in groups of 8 that are consecutive or all the same. */
static bool load_shared_words(machine_warp_t *warp, const machine_instruction_t *i) {
   machine_block_t *block = warp->block;
   const uint32_t *a = LANES_OF(uint32_t, i->a);
   const words_t step = {0, 4, 8, 12, 16, 20, 24, 28};
   uint32_t value[LANES], undefined = 0;
   uint32_t offsets[4];
   bool same[4];
   for (int part = 0; part < 4; part++) {
      words_t address = *(const words_t *)(a + 8 * part);
      words_t distance = address - address[0];
      same[part] = !any(distance);
      if (!same[part] && any(distance ^ step))
         return false;
      uint64_t offset = (uint64_t)address[0] + (uint64_t)i->immediate;
      if (offset & 3 || offset + (same[part] ? 4 : 32) > block->shared_bytes)
         return false;
      offsets[part] = (uint32_t)offset;
   }
   for (int part = 0; part < 4; part++) {
      const uint32_t offset = offsets[part];
      const words_t ones = {0x01010101, 0x01010101, 0x01010101, 0x01010101,
                            0x01010101, 0x01010101, 0x01010101, 0x01010101};
      words_t *out = (words_t *)(value + 8 * part);
      if (same[part]) {
         if (block->races == RACES_FAST && read_one_word(block, offset >> 2))
            return false;
         uint32_t word, defined;
         memcpy(&word, block->shared + offset, 4);
         memcpy(&defined, block->shared_defined + offset, 4);
         *out = word + (words_t){0};
         undefined |= defined != 0x01010101 ? 0xffu << 8 * part : 0;
      } else {
         if (block->races == RACES_FAST &&
             read_words(block, offset >> 2, warp->first_thread + 8 * (uint32_t)part))
            return false;
         *out = *(const words_t *)(block->shared + offset);
         words_t defined = *(const words_t *)(block->shared_defined + offset);
         if (any(defined ^ ones))
            for (int l = 0; l < 8; l++)
               undefined |= (uint32_t)(defined[l] != 0x01010101) << (8 * part + l);
      }
   }
   memcpy(LANES_OF(uint32_t, i->d), value, sizeof value);
   warp->defined[i->di] = ~undefined;
   if (warp->shadow) {
      double *d = SHADOW_OF(i->d);
      for (int part = 0; part < 4; part++)
         for (int l = 0; l < 8; l++)
            d[8 * part + l] = block->shared_shadow[(offsets[part] >> 2) + (same[part] ? 0u : (uint32_t)l)];
      for (int l = 0; l < LANES; l++)
         d[l] = machine_has_shadow(d[l]) ? d[l] : (double)bits_to_float(value[l]);
      warp->valid[i->di] = FULL_MASK;
   }
   return true;
}

static inline uint64_t widen(uint64_t value, uint32_t bytes, bool is_signed, uint32_t register_bytes) {
   if (is_signed && bytes < 8) {
      uint32_t shift = 64 - 8 * bytes;
      value = (uint64_t)((int64_t)(value << shift) >> shift);
   }
   return register_bytes < 8 ? value & ((1ull << 8 * register_bytes) - 1) : value;
}

/* Any lanes, any space, any width. */
static void load_lanes(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                       const uint64_t *address) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   const uint32_t bytes = i->element_bytes, total = bytes * i->elements;
   uint32_t defined[8] = {0};
   uint64_t taint = warp->taint ? warp->taint[i->ai] : 0;
   for (uint32_t l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      machine_place_t place;
      if (!place_of(warp, l, address[l], i->space, total, false, &place))
         continue;
      if (warp->run->races && place.window == WINDOW_SHARED)
         machine_shared_access(warp, l, (uint32_t)place.offset, total, NULL, false,
                               i->flags & (FLAG_RELAXED | FLAG_ACQUIRE));
      else if (warp->run->races && place.region && !place.region->read_only)
         machine_global_access(warp, l, place.region, place.offset, total, NULL, false,
                               i->flags & (FLAG_RELAXED | FLAG_ACQUIRE | FLAG_VOLATILE));
      if (warp->run->races && (i->flags & (FLAG_ACQUIRE | FLAG_RELAXED | FLAG_VOLATILE)))
         machine_sync_acquire(warp, l, address[l]);
      if (warp->taint)
         taint |= place.window == WINDOW_PARAM ? warp->block->launch->parameter_taint[place.offset]
                                               : *taint_of_place(warp, &place);
      for (uint32_t e = 0; e < i->elements; e++) {
         uint64_t value = 0;
         uint8_t known[8];
         memcpy(&value, place.data + e * bytes, bytes);
         memset(known, 1, sizeof known);
         if (place.defined)
            memcpy(known, place.defined + e * bytes, bytes);
         bool all = true;
         for (uint32_t n = 0; n < bytes; n++)
            all &= known[n] == 1;
         defined[e] |= (uint32_t)all << l;
         value = widen(value, bytes, ptx_type_is_signed(i->type), parts[e].bytes == 8 ? 8 : i->source_type);
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

static bool load_shared_row(machine_warp_t *warp, const machine_instruction_t *i) {
   if (!load_shared_words(warp, i))
      return false;
   if (warp->taint) {
      warp->taint[i->di] = warp->block->shared_taint | warp->taint[i->ai];
      warp->run->report.address_taint |= warp->taint[i->ai];
   }
   return true;
}

OP(load) {
   const bool row = i->space == PTX_SHARED && mask == FULL_MASK && i->element_bytes == 4 &&
                    i->elements == 1 && i->address_bytes == 4 && warp->block->races != RACES_CLOCKS &&
                    warp->block->shared_shift == 2 && warp->defined[i->ai] == FULL_MASK &&
                    !(i->flags & (FLAG_ACQUIRE | FLAG_RELAXED)) && warp->program->extras[i->extra].bytes == 4;
   if (row && !warp->block->measured && load_shared_row(warp, i))
      return;
   uint64_t address[LANES];
   uint32_t wanted = mask;
   warp->strong += (i->flags & (FLAG_ACQUIRE | FLAG_RELAXED | FLAG_VOLATILE)) != 0;
   mask = lane_addresses(warp, i, mask, address);
   if (warp->block->measured && i->space != PTX_PARAM)
      machine_count_request(warp, address, mask, (uint32_t)i->element_bytes * i->elements, false);
   if (row && warp->block->measured && load_shared_row(warp, i))
      return;
   for (uint32_t e = 0; mask != wanted && e < i->elements; e++)
      set_defined(warp, warp->program->extras[i->extra + e].number, 0, wanted & ~mask);
   if (!mask)
      return;
   if (load_words(warp, i, mask, address))
      return;
   load_lanes(warp, i, mask, address);
}

/* ld.param of a kernel's own parameter at a constant place: the same for every lane. */
OP(load_parameter) {
   const machine_launch_t *launch = warp->block->launch;
   const machine_slot_t *parts = warp->program->extras + i->extra;
   for (uint32_t e = 0; e < i->elements; e++) {
      uint64_t at = (uint64_t)i->immediate + e * i->element_bytes, value = 0, taint = 0;
      bool defined = true;
      memcpy(&value, launch->parameters + at, i->element_bytes);
      for (uint32_t n = 0; n < i->element_bytes; n++) {
         defined &= launch->parameter_defined[at + n] == 1;
         taint |= launch->parameter_taint[at + n];
      }
      value = widen(value, i->element_bytes, ptx_type_is_signed(i->type),
                    parts[e].bytes == 8 ? 8 : i->source_type);
      if (parts[e].bytes == 8) {
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
