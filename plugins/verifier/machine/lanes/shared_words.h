/* Loads and stores of 4-byte words of shared memory by the lanes of a warp, each lane one to eight consecutive ones: what most
 * instructions of a tiled kernel come to.  Addresses are told apart by shape (one for all, groups of eight that are equal or
 * consecutive, any), because the first two need no gathering.  What is not plain (a fault, a conflict, an undefined value, an
 * order that clocks keep) is left, untouched, to the lane by lane way, which reports it. */
#ifndef MACHINE_LANES_SHARED_WORDS_H
#define MACHINE_LANES_SHARED_WORDS_H

#include "memory_access.h"

#define GROUP 8
#define GROUPS (LANES / GROUP)
#define WORD_DEFINED 0x01010101u

typedef uint32_t group_t __attribute__((vector_size(4 * GROUP), aligned(4), may_alias));

enum shared_shape { SHARED_ONE, SHARED_GROUPED, SHARED_ANY };

typedef struct shared_words {
   uint32_t offset[LANES]; /* of lanes outside the mask: that of the first inside */
   enum shared_shape shape;
   bool equal[GROUPS]; /* SHARED_GROUPED: one word for the group; else consecutive ones */
} shared_words_t;

static inline bool any_bit(group_t v) {
#ifdef __AVX2__
   return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
   typedef uint64_t halves_t __attribute__((vector_size(4 * GROUP)));
   halves_t h = (halves_t)v;
   return (h[0] | h[1] | h[2] | h[3]) != 0;
#endif
}

static inline enum shared_shape shape_of(shared_words_t *to) {
   const group_t step = {0, 4, 8, 12, 16, 20, 24, 28};
   group_t apart = {0};
   for (int g = 0; g < GROUPS; g++)
      apart |= *(const group_t *)(to->offset + GROUP * g) ^ to->offset[0];
   if (!any_bit(apart))
      return SHARED_ONE;
   for (int g = 0; g < GROUPS; g++) {
      const group_t distance = *(const group_t *)(to->offset + GROUP * g) - to->offset[GROUP * g];
      to->equal[g] = !any_bit(distance);
      if (!to->equal[g] && any_bit(distance ^ step))
         return SHARED_ANY;
   }
   return SHARED_GROUPED;
}

/* Where the lanes of mask go; false when one of them goes where it may not. */
static inline bool find_shared_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                     shared_words_t *to) {
   const uint32_t add = (uint32_t)i->immediate, bytes = 4u * i->elements;
   if (warp->block->shared_bytes < bytes)
      return false;
   if (i->address_bytes == 8) {
      const uint64_t *a = LANES_OF(uint64_t, i->a);
      EACH_LANE to->offset[l] = (uint32_t)a[l] + add;
   } else {
      const uint32_t *a = LANES_OF(uint32_t, i->a);
      EACH_LANE to->offset[l] = a[l] + add;
   }
   if (mask != FULL_MASK) {
      const uint32_t first = to->offset[__builtin_ctz(mask)];
      EACH_LANE to->offset[l] = KEEP(to->offset[l], first);
   }
   const uint32_t last = warp->block->shared_bytes - bytes;
   group_t bad = {0};
   for (int g = 0; g < GROUPS; g++) {
      const group_t offset = *(const group_t *)(to->offset + GROUP * g);
      bad |= (group_t)(offset > last) | (offset & (bytes - 1));
   }
   if (any_bit(bad))
      return false;
   to->shape = shape_of(to);
   return true;
}

/* Who read and who wrote --------------------------------------------------------------------------------------- */

static inline group_t group_of(uint32_t value) {
   return value + (group_t){0};
}

/* Records of an earlier epoch are as good as none. */
static inline group_t fresh_group(const group_t *records, uint32_t epoch) {
   const group_t record = *records, fresh = (group_t)((record & ~group_of((1u << EPOCH_SHIFT) - 1)) == epoch);
   return (record & fresh) | (epoch & ~fresh);
}

static inline uint32_t fresh_record(uint32_t record, uint32_t epoch) {
   return (record & ~((1u << EPOCH_SHIFT) - 1)) == epoch ? record : epoch;
}

/* Several threads read one word: false when any thread wrote it since the last barrier. */
static inline bool read_by_several(uint32_t *record, uint32_t epoch) {
   if (*record == (epoch | SEVERAL)) /* as after every reading but the first */
      return true;
   const uint32_t before = fresh_record(*record, epoch);
   if (before >> 11 & SEVERAL)
      return false;
   *record = before | SEVERAL;
   return true;
}

static inline bool read_consecutive(group_t *records, uint32_t epoch, uint32_t thread) {
   if (!any_bit(*records ^ (epoch | SEVERAL)))
      return true;
   const group_t me = (group_t){0, 1, 2, 3, 4, 5, 6, 7} + (thread + 1), record = fresh_group(records, epoch);
   const group_t writer = record >> 11 & SEVERAL, reader = record & SEVERAL;
   if (any_bit((group_t)(writer != 0) & (group_t)(writer != me)))
      return false;
   const group_t alone = (group_t)(reader == 0) | (group_t)(reader == me);
   *records = (record & ~group_of(SEVERAL)) | (alone & me) | (~alone & SEVERAL);
   return true;
}

static inline bool write_consecutive(group_t *records, uint32_t epoch, uint32_t thread) {
   const group_t me = (group_t){0, 1, 2, 3, 4, 5, 6, 7} + (thread + 1), record = fresh_group(records, epoch);
   const group_t writer = record >> 11 & SEVERAL, reader = record & SEVERAL;
   if (any_bit(((group_t)(writer != 0) & (group_t)(writer != me)) |
               ((group_t)(reader != 0) & (group_t)(reader != me))))
      return false;
   *records = epoch | me << 11 | reader;
   return true;
}

/* Any words, several lanes at one word among them: what every lane would write is computed from what was there before, and a
 * lane that then finds another's was not alone. */
static inline group_t lanes_of(uint32_t mask, int g) {
   const group_t step = {0, 1, 2, 3, 4, 5, 6, 7};
   return (group_t)((mask >> GROUP * g >> step & 1) != 0);
}

/* Writes the lanes' records; which lanes then find another lane's instead, because they are at the same word. */
static inline bool scatter_records(uint32_t *records, const uint32_t *offset, uint32_t mask,
                                   const uint32_t *after, uint32_t found[LANES]) {
   for (uint32_t l = 0; l < LANES; l++)
      if (mask >> l & 1)
         records[offset[l] >> 2] = after[l];
   for (uint32_t l = 0; l < LANES; l++)
      found[l] = records[offset[l] >> 2];
   group_t different = {0};
   for (int g = 0; g < GROUPS; g++)
      different |=
         (*(const group_t *)(found + GROUP * g) ^ *(const group_t *)(after + GROUP * g)) & lanes_of(mask, g);
   return any_bit(different);
}

static inline bool read_scattered(uint32_t *records, const uint32_t *offset, uint32_t mask, uint32_t epoch,
                                  uint32_t first_thread) {
   uint32_t old[LANES], after[LANES], found[LANES];
   group_t busy = {0}, changes = {0};
   for (int l = 0; l < LANES; l++)
      old[l] = records[offset[l] >> 2];
   for (int g = 0; g < GROUPS; g++) {
      const group_t me = (group_t){0, 1, 2, 3, 4, 5, 6, 7} + (first_thread + GROUP * (uint32_t)g + 1),
                    before = fresh_group((const group_t *)(old + GROUP * g), epoch),
                    writer = before >> 11 & SEVERAL, reader = before & SEVERAL, active = lanes_of(mask, g),
                    alone = (group_t)(reader == 0) | (group_t)(reader == me),
                    now = (before & ~group_of(SEVERAL)) | (alone & me) | (~alone & SEVERAL);
      busy |= active & (group_t)(writer != 0) & (group_t)(writer != me);
      changes |= active & (now ^ *(const group_t *)(old + GROUP * g));
      *(group_t *)(after + GROUP * g) = now;
   }
   if (any_bit(busy))
      return false;
   if (any_bit(changes) && scatter_records(records, offset, mask, after, found))
      for (uint32_t l = 0; l < LANES; l++)
         if ((mask >> l & 1) && found[l] != after[l])
            records[offset[l] >> 2] |= SEVERAL;
   return true;
}

static inline bool write_scattered(uint32_t *records, const uint32_t *offset, uint32_t mask, uint32_t epoch,
                                   uint32_t first_thread) {
   uint32_t before[LANES], after[LANES], found[LANES];
   group_t busy = {0};
   for (int l = 0; l < LANES; l++)
      before[l] = records[offset[l] >> 2];
   for (int g = 0; g < GROUPS; g++) {
      const group_t me = (group_t){0, 1, 2, 3, 4, 5, 6, 7} + (first_thread + GROUP * (uint32_t)g + 1),
                    old = fresh_group((const group_t *)(before + GROUP * g), epoch),
                    writer = old >> 11 & SEVERAL, reader = old & SEVERAL;
      busy |= lanes_of(mask, g) & (((group_t)(writer != 0) & (group_t)(writer != me)) |
                                   ((group_t)(reader != 0) & (group_t)(reader != me)));
      *(group_t *)(after + GROUP * g) = epoch | me << 11 | reader;
   }
   if (any_bit(busy))
      return false;
   if (!scatter_records(records, offset, mask, after, found))
      return true;
   for (uint32_t l = 0; l < LANES; l++) /* two lanes at one word */
      if (mask >> l & 1)
         records[offset[l] >> 2] = before[l];
   return false;
}

/* Marks the lanes as readers of word e of theirs; false at a conflict. */
static inline bool record_shared_read(machine_warp_t *warp, const shared_words_t *to, uint32_t mask,
                                      uint32_t e) {
   uint32_t *records = warp->block->shared_races + e;
   const uint32_t epoch = warp->block->epoch << EPOCH_SHIFT;
   if (mask & (mask - 1)) {
      if (to->shape == SHARED_ONE)
         return read_by_several(&records[to->offset[0] >> 2], epoch);
      for (uint32_t g = 0; to->shape == SHARED_GROUPED && mask == FULL_MASK && g < GROUPS; g++) {
         uint32_t *at = &records[to->offset[GROUP * g] >> 2];
         if (to->equal[g] ? !read_by_several(at, epoch)
                          : !read_consecutive((group_t *)at, epoch, warp->first_thread + GROUP * g))
            return false;
         if (g == GROUPS - 1)
            return true;
      }
   }
   return read_scattered(records, to->offset, mask, epoch, warp->first_thread);
}

static inline bool record_shared_write(machine_warp_t *warp, const shared_words_t *to, uint32_t mask,
                                       uint32_t e) {
   uint32_t *records = warp->block->shared_races + e;
   const uint32_t epoch = warp->block->epoch << EPOCH_SHIFT;
   bool rows = to->shape == SHARED_GROUPED && mask == FULL_MASK;
   for (int g = 0; rows && g < GROUPS; g++)
      rows = !to->equal[g];
   if (!rows)
      return write_scattered(records, to->offset, mask, epoch, warp->first_thread);
   for (uint32_t g = 0; g < GROUPS; g++)
      if (!write_consecutive((group_t *)&records[to->offset[GROUP * g] >> 2], epoch,
                             warp->first_thread + GROUP * g))
         return false;
   return true;
}

/* Words ---------------------------------------------------------------------------------------------------------- */

static inline void gather_words(uint32_t *out, const uint8_t *memory, const shared_words_t *to, uint32_t e) {
   const uint8_t *at = memory + 4 * e;
   uint32_t word;
   if (to->shape == SHARED_ONE) {
      memcpy(&word, at + to->offset[0], 4);
      EACH_LANE out[l] = word;
   } else if (to->shape == SHARED_GROUPED) {
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

static inline uint32_t undefined_shared(const machine_block_t *block, const shared_words_t *to, uint32_t e) {
   const uint8_t *defined = block->shared_defined + 4 * e;
   uint32_t words[LANES], undefined = 0;
   if (to->shape == SHARED_ONE) {
      memcpy(words, defined + to->offset[0], 4);
      return words[0] == WORD_DEFINED ? 0 : FULL_MASK;
   }
   for (int g = 0; g < GROUPS; g++) {
      const uint8_t *at = defined + to->offset[GROUP * g];
      if (to->shape == SHARED_GROUPED && to->equal[g]) {
         memcpy(words, at, 4);
         undefined |= words[0] == WORD_DEFINED ? 0 : 0xffu << GROUP * g;
         continue;
      }
      if (to->shape == SHARED_ANY)
         for (int l = GROUP * g; l < GROUP * (g + 1); l++)
            memcpy(&words[l], defined + to->offset[l], 4);
      const group_t different =
         (to->shape == SHARED_ANY ? *(const group_t *)(words + GROUP * g) : *(const group_t *)at) ^
         WORD_DEFINED;
      if (any_bit(different))
         undefined |= lanes_with((group_t)(different != 0), g);
   }
   return undefined;
}

static inline void load_shared_shadows(machine_warp_t *warp, const shared_words_t *to,
                                       const machine_slot_t *part, uint32_t mask, uint32_t e) {
   const double *from = warp->block->shared_shadow + e;
   const uint32_t *value = LANES_OF(uint32_t, part->offset);
   double *d = SHADOW_OF(part->offset), known[LANES];
   if (to->shape == SHARED_ONE) {
      const double one = from[to->offset[0] >> 2],
                   number = machine_has_shadow(one) ? one : (double)bits_to_float(value[__builtin_ctz(mask)]);
      EACH_LANE d[l] = KEEP(number, d[l]);
   } else {
      for (int g = 0; g < GROUPS; g++) {
         const double *at = from + (to->offset[GROUP * g] >> 2);
         if (to->shape == SHARED_GROUPED && !to->equal[g])
            memcpy(known + GROUP * g, at, GROUP * sizeof *known);
         else
            for (int l = GROUP * g; l < GROUP * (g + 1); l++)
               known[l] = from[to->offset[l] >> 2];
      }
      EACH_LANE {
         const double number = machine_has_shadow(known[l]) ? known[l] : (double)bits_to_float(value[l]);
         d[l] = KEEP(number, d[l]);
      }
   }
   warp->valid[part->number] |= mask;
}

/* Whether an instruction moves whole words of shared memory whose order the packed records keep. */
static inline bool moves_shared_words(const machine_warp_t *warp, const machine_instruction_t *i,
                                      uint32_t mask) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   bool words = i->space == PTX_SHARED && i->element_bytes == 4 && mask != 0 &&
                warp->block->races != RACES_CLOCKS && warp->block->shared_shift == 2 &&
                !(mask & ~warp->defined[i->ai]) &&
                !(i->flags & (FLAG_ACQUIRE | FLAG_RELEASE | FLAG_RELAXED | FLAG_VOLATILE));
   for (uint32_t e = 0; words && e < i->elements; e++)
      words = parts[e].bytes == 4;
   return words;
}

static inline bool load_shared_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   machine_block_t *block = warp->block;
   shared_words_t to;
   if (!find_shared_words(warp, i, mask, &to))
      return false;
   for (uint32_t e = 0; block->races == RACES_FAST && e < i->elements; e++)
      if (!record_shared_read(warp, &to, mask, e))
         return false;
   uint64_t taint = 0;
   if (warp->taint) {
      taint = block->shared_taint | warp->taint[i->ai];
      warp->run->report.address_taint |= warp->taint[i->ai];
   }
   for (uint32_t e = 0; e < i->elements; e++) {
      uint32_t *d = LANES_OF(uint32_t, parts[e].offset);
      if (mask == FULL_MASK) {
         gather_words(d, block->shared, &to, e);
      } else {
         uint32_t value[LANES];
         gather_words(value, block->shared, &to, e);
         EACH_LANE d[l] = KEEP(value[l], d[l]);
      }
      set_defined(warp, parts[e].number, ~undefined_shared(block, &to, e), mask);
      set_taint(warp, parts[e].number, taint, mask);
      if (warp->shadow)
         load_shared_shadows(warp, &to, &parts[e], mask, e);
   }
   return true;
}

static inline bool store_shared_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   machine_block_t *block = warp->block;
   shared_words_t to;
   for (uint32_t e = 0; e < i->elements; e++)
      if (mask & ~warp->defined[parts[e].number])
         return false;
   if (!find_shared_words(warp, i, mask, &to))
      return false;
   for (uint32_t e = 0; block->races == RACES_FAST && e < i->elements; e++)
      if (!record_shared_write(warp, &to, mask, e))
         return false;
   if (warp->taint)
      warp->run->report.address_taint |= warp->taint[i->ai];
   for (uint32_t e = 0; e < i->elements; e++) {
      const uint32_t *value = LANES_OF(uint32_t, parts[e].offset), defined = WORD_DEFINED;
      /* a lane after another: of several at one word the last one's value stays */
      for (uint32_t l = 0; l < LANES; l++)
         if (mask >> l & 1) {
            memcpy(block->shared + to.offset[l] + 4 * e, &value[l], 4);
            memcpy(block->shared_defined + to.offset[l] + 4 * e, &defined, 4);
         }
      if (warp->shadow) {
         machine_shadow_fill(warp, parts[e].offset, parts[e].number);
         const double *shadow = SHADOW_OF(parts[e].offset);
         for (uint32_t l = 0; l < LANES; l++)
            if (mask >> l & 1)
               block->shared_shadow[(to.offset[l] >> 2) + e] = shadow[l];
      }
      if (warp->taint)
         block->shared_taint |= warp->taint[parts[e].number];
   }
   return true;
}

#endif
