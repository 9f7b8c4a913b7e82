/* 4-byte words that the lanes of a warp load or store, each lane one to eight consecutive ones, in one place of memory.  Most accesses of a
 * kernel are of this kind.  The code distinguishes three shapes of addresses (one for all, groups of eight that are equal or consecutive, any),
 * because the first two need no gathering.  shared_words.h and global_words.h first check whether the lanes may access the words. */
#ifndef RKB_MACHINE_LANES_WORDS_H
#define RKB_MACHINE_LANES_WORDS_H

#include "machine/lanes/word_vectors.h"

#define WORD_DEFINED 0x01010101u
#define WORD_UNDEFINED (UNDEFINED_STORE * WORD_DEFINED)

enum words_shape { WORDS_ONE, WORDS_GROUPED, WORDS_ANY };

typedef struct words {
   uint8_t *data,
      *defined; /* defined NULL: all are; data NULL: the value that a store leaves is not needed */
   double *shadow;          /* by word; NULL: none is kept */
   uint64_t *taint;
   uint32_t offset[LANES]; /* lanes outside the mask have the offset of the first lane inside */
   enum words_shape shape;
   bool equal[GROUPS]; /* WORDS_GROUPED: one word for the group; else consecutive ones */
   stretch_t stretch;  /* WORDS_ANY: the stretch that contains all lanes' words */
} words_t;

static inline enum words_shape shape_of_offsets(words_t *to) {
   const group_t step = {0, 4, 8, 12, 16, 20, 24, 28};
   group_t apart = {0};
   for (int g = 0; g < GROUPS; g++)
      apart |= *(const group_t *)(to->offset + GROUP * g) ^ to->offset[0];
   if (!any_bit(apart))
      return WORDS_ONE;
   for (int g = 0; g < GROUPS; g++) {
      const group_t distance = *(const group_t *)(to->offset + GROUP * g) - to->offset[GROUP * g];
      to->equal[g] = !any_bit(distance);
      if (!to->equal[g] && any_bit(distance ^ step))
         return WORDS_ANY;
   }
   return WORDS_GROUPED;
}

/* Finds the shape of the offsets, each of so many bytes. */
static inline void find_shape(words_t *to, uint32_t bytes) {
   to->shape = shape_of_offsets(to);
   if (to->shape == WORDS_ANY)
      to->stretch = stretch_of(to->offset, bytes);
}

/* Whether all lanes take part, each group at consecutive words. */
static inline bool in_rows(const words_t *to, uint32_t mask) {
   bool rows = mask == FULL_MASK && to->shape == WORDS_GROUPED;
   for (int g = 0; rows && g < GROUPS; g++)
      rows = !to->equal[g];
   return rows;
}

/* Whether every part is a 32-bit register that takes or gives a whole word. */
static inline bool moves_words(const machine_warp_t *warp, const machine_instruction_t *i) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   bool words = i->element_bytes == 4;
   for (uint32_t e = 0; words && e < i->elements; e++)
      words = parts[e].bytes == 4;
   return words;
}

static inline void gather_words(uint32_t *out, const uint8_t *memory, const words_t *to, uint32_t e) {
   const uint8_t *at = memory + 4 * e;
   uint32_t word;
   if (to->shape == WORDS_ONE) {
      memcpy(&word, at + to->offset[0], 4);
      EACH_LANE out[l] = word;
   } else if (to->shape == WORDS_GROUPED) {
      for (int g = 0; g < GROUPS; g++) {
         memcpy(&word, at + to->offset[GROUP * g], 4);
         *(group_t *)(out + GROUP * g) =
            to->equal[g] ? group_of(word) : *(const group_t *)(at + to->offset[GROUP * g]);
      }
   } else {
      for (int l = 0; l < LANES; l++)
         memcpy(&out[l], at + to->offset[l], 4);
   }
}

static inline uint32_t lanes_with(group_t truth, int g) {
   uint32_t lanes = 0;
   for (int l = 0; l < GROUP; l++)
      lanes |= (truth[l] & 1u) << (GROUP * g + l);
   return lanes;
}

/* The lanes whose word e is not defined whole. */
static inline uint32_t undefined_words(const words_t *to, uint32_t e) {
   const uint8_t *defined = to->defined + 4 * e;
   uint32_t words[LANES], undefined = 0;
   if (!to->defined)
      return 0;
   if (to->shape == WORDS_ONE) {
      memcpy(words, defined + to->offset[0], 4);
      return words[0] == WORD_DEFINED ? 0 : FULL_MASK;
   }
   for (int g = 0; g < GROUPS; g++) {
      const uint8_t *at = defined + to->offset[GROUP * g];
      if (to->shape == WORDS_GROUPED && to->equal[g]) {
         memcpy(words, at, 4);
         undefined |= words[0] == WORD_DEFINED ? 0 : 0xffu << GROUP * g;
         continue;
      }
      if (to->shape == WORDS_ANY)
         for (int l = GROUP * g; l < GROUP * (g + 1); l++)
            memcpy(&words[l], defined + to->offset[l], 4);
      const group_t different =
         (to->shape == WORDS_ANY ? *(const group_t *)(words + GROUP * g) : *(const group_t *)at) ^
         WORD_DEFINED;
      if (any_bit(different))
         undefined |= lanes_with((group_t)(different != 0), g);
   }
   return undefined;
}

static inline bool defined_throughout(const words_t *from) {
   return !from->defined ||
          (from->shape == WORDS_ANY && all_words_are(from->defined, from->stretch, WORD_DEFINED));
}

/* What memory keeps of the doubles of four lanes, from lane l on. */
static inline doubles_t kept_doubles(const words_t *from, const double *shadow, int l) {
   const uint32_t *offset = from->offset + l;
   const double *first = shadow + (from->offset[l - l % GROUP] >> 2);
   return from->shape == WORDS_GROUPED && !from->equal[l / GROUP]
             ? *(const doubles_t *)(first + l % GROUP)
             : (doubles_t){shadow[offset[0] >> 2], shadow[offset[1] >> 2], shadow[offset[2] >> 2],
                           shadow[offset[3] >> 2]};
}

/* Doubles of all lanes, groups of which load consecutive words or one word. */
static inline void load_grouped_shadows(const words_t *from, const double *shadow, const uint32_t *value,
                                        double *d) {
   for (int l = 0; l < LANES; l += GROUP) {
      const double *first = shadow + (from->offset[l] >> 2);
      if (from->equal[l / GROUP]) {
         const doubles_t one = {*first, *first, *first, *first};
         *(doubles_t *)(d + l) = *(doubles_t *)(d + l + 4) = doubles_of(one, value + l);
      } else {
         *(doubles_t *)(d + l) = doubles_of(*(const doubles_t *)first, value + l);
         *(doubles_t *)(d + l + 4) = doubles_of(*(const doubles_t *)(first + 4), value + l + 4);
      }
   }
}

/* Doubles of the words that were loaded into part: memory's doubles, or the float where memory has none. */
static inline void load_word_shadows(machine_warp_t *warp, const words_t *from, const machine_slot_t *part,
                                     uint32_t mask, uint32_t e) {
   const double *shadow = from->shadow ? from->shadow + e : NULL;
   const uint32_t *value = LANES_OF(uint32_t, part->offset);
   double *d = SHADOW_OF(part->offset);
   if (!from->shadow) {
      EACH_LANE d[l] = KEEP((double)bits_to_float(value[l]), d[l]);
   } else if (from->shape == WORDS_ONE) {
      const double one = shadow[from->offset[0] >> 2],
                   number = machine_has_shadow(one) ? one : (double)bits_to_float(value[__builtin_ctz(mask)]);
      EACH_LANE d[l] = KEEP(number, d[l]);
   } else if (mask == FULL_MASK && from->shape == WORDS_GROUPED) {
      load_grouped_shadows(from, shadow, value, d);
   } else if (mask == FULL_MASK) {
      for (int l = 0; l < LANES; l += 4)
         *(doubles_t *)(d + l) = doubles_of(kept_doubles(from, shadow, l), value + l);
   } else {
      for (int l = 0; l < LANES; l += 4)
         *(doubles_t *)(d + l) =
            of_lanes(doubles_of(kept_doubles(from, shadow, l), value + l), *(doubles_t *)(d + l), mask >> l);
   }
   warp->valid[part->number] |= mask;
}

/* Writes the result of a load of four words into all lanes: registers, definedness and shadows. */
static inline void take_vectors(machine_warp_t *warp, const machine_slot_t *parts, const words_t *from) {
   uint32_t *out[VECTOR];
   double known[VECTOR][LANES];
   for (int e = 0; e < VECTOR; e++)
      out[e] = LANES_OF(uint32_t, parts[e].offset);
   gather_vectors(out, from->data, from->offset);
   if (!warp->shadow)
      return;
   if (from->shadow)
      gather_double_vectors(known, from->shadow, from->offset);
   for (int e = 0; e < VECTOR; e++) {
      double *d = SHADOW_OF(parts[e].offset);
      const uint32_t *value = out[e];
      if (from->shadow)
         for (int l = 0; l < LANES; l += 4)
            *(doubles_t *)(d + l) = doubles_of(*(const doubles_t *)(known[e] + l), value + l);
      else
         EACH_LANE d[l] = (double)bits_to_float(value[l]);
      warp->valid[parts[e].number] = FULL_MASK;
   }
}

static inline void take_word(machine_warp_t *warp, const machine_slot_t *part, const words_t *from,
                             uint32_t mask, uint32_t e) {
   uint32_t *d = LANES_OF(uint32_t, part->offset);
   if (mask == FULL_MASK) {
      gather_words(d, from->data, from, e);
   } else {
      uint32_t value[LANES];
      gather_words(value, from->data, from, e);
      EACH_LANE d[l] = KEEP(value[l], d[l]);
   }
   if (warp->shadow)
      load_word_shadows(warp, from, part, mask, e);
}

/* Loads what may be loaded: sets what the registers hold. */
static inline void take_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                              const words_t *from) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   const uint64_t taint = warp->taint ? *from->taint | warp->taint[i->ai] : 0;
   const bool whole = defined_throughout(from),
              vectors = from->shape == WORDS_ANY && mask == FULL_MASK && i->elements == VECTOR;
   if (vectors)
      take_vectors(warp, parts, from);
   for (uint32_t e = 0; e < i->elements; e++) {
      if (!vectors)
         take_word(warp, &parts[e], from, mask, e);
      set_defined(warp, parts[e].number, whole ? FULL_MASK : ~undefined_words(from, e), mask);
      set_taint(warp, parts[e].number, taint, mask);
   }
}

/* Whether everything that would be stored has a value. */
static inline bool stores_values(const machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   uint32_t undefined = 0;
   for (uint32_t e = 0; e < i->elements; e++)
      undefined |= ~warp->defined[parts[e].number];
   return (mask & undefined) == 0;
}

/* Whether none of the values that the lanes store is defined. */
static inline bool stores_undefined(const machine_warp_t *warp, const machine_instruction_t *i,
                                    uint32_t mask) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   uint32_t defined = 0;
   for (uint32_t e = 0; e < i->elements; e++)
      defined |= warp->defined[parts[e].number];
   return (mask & defined) == 0;
}

/* Whether an undefined value may be stored like others: the run keeps no doubles, and it looks for no races, so it does not compare stored values. */
static inline bool leaves_undefined(const machine_warp_t *warp) {
   return !warp->shadow && !warp->run->races;
}

static inline void put_rows(machine_warp_t *warp, const machine_slot_t *part, const words_t *to, uint32_t e) {
   const uint32_t *value = LANES_OF(uint32_t, part->offset), undefined = WORD_UNDEFINED,
                  unknown = ~warp->defined[part->number];
   for (int g = 0; g < GROUPS; g++) {
      const uint32_t offset = to->offset[GROUP * g] + 4 * e;
      if (to->data)
         memcpy(to->data + offset, value + GROUP * g, 4 * GROUP);
      if (to->defined)
         memset(to->defined + offset, 1, 4 * GROUP);
      for (uint32_t left = to->defined ? unknown >> GROUP * g & 0xff : 0; left; left &= left - 1)
         memcpy(to->defined + offset + 4 * (uint32_t)__builtin_ctz(left), &undefined, 4);
      if (to->shadow && warp->shadow)
         memcpy(to->shadow + (offset >> 2), SHADOW_OF(part->offset) + GROUP * g, GROUP * sizeof(double));
      for (int l = 0; to->shadow && !warp->shadow && l < GROUP; l++)
         to->shadow[(offset >> 2) + (uint32_t)l] = machine_no_shadow();
   }
}

/* Goes lane by lane: where several write one word, the last one's value stays. */
static inline void put_lanes(machine_warp_t *warp, const machine_slot_t *part, uint32_t mask,
                             const words_t *to, uint32_t e) {
   const uint32_t *value = LANES_OF(uint32_t, part->offset), known = warp->defined[part->number];
   for (uint32_t l = 0; l < LANES; l++)
      if (mask >> l & 1) {
         const uint32_t offset = to->offset[l] + 4 * e,
                        defined = known >> l & 1 ? WORD_DEFINED : WORD_UNDEFINED;
         if (to->data)
            memcpy(to->data + offset, &value[l], 4);
         if (to->defined)
            memcpy(to->defined + offset, &defined, 4);
      }
   for (uint32_t l = 0; to->shadow && l < LANES; l++)
      if (mask >> l & 1)
         to->shadow[(to->offset[l] >> 2) + e] =
            warp->shadow ? SHADOW_OF(part->offset)[l] : machine_no_shadow();
}

/* Stores four words of each lane at once, where all have values and the run keeps no doubles. */
static inline void put_vectors(machine_warp_t *warp, const machine_slot_t *parts, uint32_t mask,
                               const words_t *to) {
   const uint32_t *value[VECTOR];
   for (uint32_t e = 0; e < VECTOR; e++)
      value[e] = LANES_OF(uint32_t, parts[e].offset);
   for (uint32_t left = mask; left; left &= left - 1) {
      const uint32_t l = (uint32_t)__builtin_ctz(left);
      const vector_t words = {value[0][l], value[1][l], value[2][l], value[3][l]};
      if (to->data)
         *(vector_t *)(void *)(to->data + to->offset[l]) = words;
      if (to->defined)
         memset(to->defined + to->offset[l], 1, sizeof words);
   }
   for (uint32_t e = 0; warp->taint && e < VECTOR; e++)
      *to->taint |= warp->taint[parts[e].number];
}

/* Stores what the lanes hold, and marks which of it is undefined, where storing undefined values is allowed. */
static inline void put_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                             const words_t *to) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   const bool rows = in_rows(to, mask);
   if (i->elements == VECTOR && !to->shadow && stores_values(warp, i, mask)) {
      put_vectors(warp, parts, mask, to);
      return;
   }
   for (uint32_t e = 0; e < i->elements; e++) {
      if (to->shadow && warp->shadow)
         machine_shadow_fill(warp, parts[e].offset, parts[e].number);
      if (rows)
         put_rows(warp, &parts[e], to, e);
      else
         put_lanes(warp, &parts[e], mask, to, e);
      if (warp->taint)
         *to->taint |= warp->taint[parts[e].number];
   }
}

#endif
