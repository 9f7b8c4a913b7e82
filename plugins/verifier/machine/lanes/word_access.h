/* Loads and stores of one to eight 4-byte words a lane, at any addresses of one space, in any lanes: what vectors and strides
 * come to when no order of other threads' accesses to global memory is asked for.  What is not plain (a fault, a conflict, a
 * part of a word) is left, untouched, to the lane by lane way, which reports it. */
#ifndef MACHINE_LANES_WORD_ACCESS_H
#define MACHINE_LANES_WORD_ACCESS_H

#include "memory_access.h"

typedef struct word_target {
   uint8_t *data, *defined; /* defined NULL: all are */
   double *shadow;
   uint64_t *taint;
   bool recorded; /* shared memory whose readers and writers are recorded */
   uint64_t offset[LANES];
} word_target_t;

/* Where the lanes of mask go; false when one of them needs the lane by lane way. */
static inline bool find_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                              const uint64_t *address, bool store, word_target_t *to) {
   machine_run_t *run = warp->run;
   machine_block_t *block = warp->block;
   const uint64_t bytes = (uint64_t)i->element_bytes * i->elements,
                  window = address[__builtin_ctz(mask)] >> WINDOW_SHIFT;
   uint64_t base, size, apart = 0;
   machine_region_t *meeting = NULL;
   to->recorded = false;
   if (window == 0) {
      machine_region_t *region = machine_region_at(run, address[__builtin_ctz(mask)]);
      if (!region || (region->read_only ? store : run->races))
         return false;
      meeting = region->met ? region : NULL;
      to->data = region->data;
      to->defined = region->defined;
      to->shadow = region->shadow;
      to->taint = &region->taint;
      base = region->base;
      size = region->bytes;
   } else if (window == WINDOW_SHARED && (i->space == PTX_SHARED || i->space == PTX_GENERIC)) {
      if (block->races == RACES_CLOCKS || (block->races == RACES_FAST && block->shared_shift != 2))
         return false;
      to->data = block->shared;
      to->defined = block->shared_defined;
      to->shadow = block->shared_shadow;
      to->taint = &block->shared_taint;
      to->recorded = block->races == RACES_FAST;
      base = WINDOW_SHARED << WINDOW_SHIFT;
      size = block->shared_bytes;
   } else if (window == WINDOW_LOCAL) {
      apart = warp->program->frame_bytes;
      if (apart & 3)
         return false;
      to->data = run->local;
      to->defined = run->local_defined;
      to->shadow = run->local_shadow;
      to->taint = &run->local_taint;
      base = WINDOW_LOCAL << WINDOW_SHIFT;
      size = apart;
   } else {
      return false;
   }
   if (size < bytes)
      return false;
   const uint64_t last = size - bytes;
   uint32_t bad[LANES];
   EACH_LANE {
      const uint64_t offset = address[l] - base;
      bad[l] = offset > last || (address[l] & (bytes - 1)) ? FULL_MASK : 0;
      to->offset[l] = offset + (warp->first_thread + (uint64_t)l) * apart;
   }
   if (mask_of(bad) & mask)
      return false;
   for (uint32_t l = 0; meeting && l < LANES; l++)
      if (mask >> l & 1)
         machine_meet(run, meeting, to->offset[l], bytes, store);
   return true;
}

/* Marks the lanes as readers or writers of their words; false at the first conflict. */
static inline bool record_words(machine_warp_t *warp, const word_target_t *to, uint32_t mask, uint32_t words,
                                bool store) {
   machine_block_t *block = warp->block;
   const uint32_t epoch = block->epoch << EPOCH_SHIFT;
   for (uint32_t l = 0; l < LANES; l++) {
      const uint32_t me = warp->first_thread + l + 1;
      uint32_t *records = block->shared_races + (to->offset[l] >> 2);
      for (uint32_t w = 0; w < words && (mask >> l & 1); w++) {
         const uint32_t record = records[w] >> EPOCH_SHIFT == block->epoch ? records[w] : epoch;
         const uint32_t writer = record >> 11 & SEVERAL, reader = record & SEVERAL;
         if ((writer && writer != me) || (store && reader && reader != me))
            return false;
         records[w] = store ? epoch | me << 11 | reader
                            : (record & ~SEVERAL) | (reader == 0 || reader == me ? me : SEVERAL);
      }
   }
   return true;
}

/* Every part is a 32-bit register that takes or gives a whole word. */
static inline bool are_words(const machine_warp_t *warp, const machine_instruction_t *i,
                             uint32_t flags_of_order) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   bool words = i->element_bytes == 4 && !(warp->run->races && (i->flags & flags_of_order));
   for (uint32_t e = 0; e < i->elements; e++)
      words &= parts[e].bytes == 4;
   return words;
}

static inline uint32_t undefined_words(const word_target_t *to, uint32_t mask, uint32_t e) {
   uint32_t undefined = 0;
   for (uint32_t l = 0; to->defined && l < LANES; l++) {
      uint32_t defined = 0x01010101;
      if (mask >> l & 1)
         memcpy(&defined, to->defined + to->offset[l] + 4 * e, 4);
      undefined |= (uint32_t)(defined != 0x01010101) << l;
   }
   return undefined;
}

static inline void load_word_shadows(machine_warp_t *warp, const machine_slot_t *part,
                                     const word_target_t *to, uint32_t mask, uint32_t e) {
   double *shadow = SHADOW_OF(part->offset);
   const uint32_t *value = LANES_OF(uint32_t, part->offset);
   for (uint32_t l = 0; l < LANES; l++)
      if (mask >> l & 1) {
         const double known = to->shadow ? to->shadow[(to->offset[l] >> 2) + e] : machine_no_shadow();
         shadow[l] = machine_has_shadow(known) ? known : (double)bits_to_float(value[l]);
      }
   warp->valid[part->number] |= mask;
}

static inline bool load_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                              const uint64_t *address) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   word_target_t to;
   if (!are_words(warp, i, FLAG_ACQUIRE | FLAG_RELAXED | FLAG_VOLATILE) ||
       !find_words(warp, i, mask, address, false, &to) ||
       (to.recorded && !record_words(warp, &to, mask, i->elements, false)))
      return false;
   const uint64_t taint = warp->taint ? *to.taint | warp->taint[i->ai] : 0;
   for (uint32_t e = 0; e < i->elements; e++) {
      uint32_t *d = LANES_OF(uint32_t, parts[e].offset);
      if (mask == FULL_MASK)
         EACH_LANE memcpy(&d[l], to.data + to.offset[l] + 4 * e, 4);
      else
         for (uint32_t l = 0; l < LANES; l++)
            if (mask >> l & 1)
               memcpy(&d[l], to.data + to.offset[l] + 4 * e, 4);
      set_defined(warp, parts[e].number, ~undefined_words(&to, mask, e), mask);
      set_taint(warp, parts[e].number, taint, mask);
      if (warp->shadow)
         load_word_shadows(warp, &parts[e], &to, mask, e);
   }
   return true;
}

static inline bool store_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                               const uint64_t *address) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   word_target_t to;
   for (uint32_t e = 0; e < i->elements; e++)
      if (mask & ~warp->defined[parts[e].number])
         return false;
   if (!are_words(warp, i, FLAG_RELEASE | FLAG_RELAXED | FLAG_VOLATILE) ||
       !find_words(warp, i, mask, address, true, &to) ||
       (to.recorded && !record_words(warp, &to, mask, i->elements, true)))
      return false;
   for (uint32_t e = 0; e < i->elements; e++) {
      const uint32_t *value = LANES_OF(uint32_t, parts[e].offset);
      for (uint32_t l = 0; l < LANES; l++)
         if (mask >> l & 1) {
            memcpy(to.data + to.offset[l] + 4 * e, &value[l], 4);
            if (to.defined)
               memset(to.defined + to.offset[l] + 4 * e, 1, 4);
         }
      if (to.shadow && warp->shadow)
         machine_shadow_fill(warp, parts[e].offset, parts[e].number);
      for (uint32_t l = 0; to.shadow && l < LANES; l++)
         if (mask >> l & 1)
            to.shadow[(to.offset[l] >> 2) + e] =
               warp->shadow ? SHADOW_OF(parts[e].offset)[l] : machine_no_shadow();
      if (warp->taint)
         *to.taint |= warp->taint[parts[e].number];
   }
   return true;
}

#endif
