/* Loads and stores of 4-byte words, and of narrower numbers, of shared memory by the lanes of a warp (words.h), with the packed records of who read and wrote
 * them.  Accesses that are not plain (a fault, a conflict, an undefined value, an order that clocks keep) are left, untouched, to the code
 * that handles lane by lane and reports them. */
#ifndef RKB_MACHINE_LANES_SHARED_WORDS_H
#define RKB_MACHINE_LANES_SHARED_WORDS_H

#include "machine/lanes/shared_records.h"
#include "machine/lanes/words.h"

static inline void use_shared(machine_warp_t *warp, words_t *to) {
   machine_block_t *block = warp->block;
   to->data = block->shared;
   to->defined = block->shared_defined;
   to->shadow = warp->shadow ? block->shared_shadow : NULL;
   to->taint = &block->shared_taint;
}

/* In a cluster an address names a block.  Changes the addresses to offsets in the lanes' own block; false when one of them names another block. */
static inline bool own_block_offsets(const machine_warp_t *warp, words_t *to) {
   const uint32_t own = (uint32_t)machine_rank_bits(warp->rank, warp->rank),
                  within = (1u << CLUSTER_SHIFT) - 1;
   group_t other = {0};
   for (int g = 0; g < GROUPS; g++) {
      group_t *offset = (group_t *)(to->offset + GROUP * g);
      const group_t block = *offset & ~group_of(within);
      other |= (group_t)(block != 0) & (group_t)(block != own);
      *offset &= within;
   }
   return !any_bit(other);
}

/* Finds the offsets that the lanes of mask access, so many bytes each; false when a lane may not access its bytes. */
static inline bool find_shared_offsets(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                       uint32_t bytes, words_t *to) {
   const uint32_t add = (uint32_t)i->immediate;
   const machine_cluster_t *cluster = &warp->block->cluster;
   if (cluster->shared_bytes < bytes)
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
   if (cluster->blocks > 1 && !own_block_offsets(warp, to))
      return false;
   const uint32_t last = cluster->shared_bytes - bytes, first_byte = warp->rank * cluster->shared_span;
   group_t bad = {0};
   for (int g = 0; g < GROUPS; g++) {
      group_t *offset = (group_t *)(to->offset + GROUP * g);
      bad |= (group_t)(*offset > last) | (*offset & (bytes - 1));
      *offset += first_byte;
   }
   if (any_bit(bad))
      return false;
   use_shared(warp, to);
   return true;
}

/* The same for all lanes, of a block that is in no cluster, in one pass. */
static inline bool find_shared_of_all(machine_warp_t *warp, const machine_instruction_t *i, uint32_t bytes,
                                      words_t *to) {
   const uint32_t add = (uint32_t)i->immediate, shared_bytes = warp->block->cluster.shared_bytes,
                  last = shared_bytes - bytes;
   const uint64_t *wide = LANES_OF(uint64_t, i->a);
   const uint32_t *narrow = LANES_OF(uint32_t, i->a);
   group_t bad = {0};
   if (shared_bytes < bytes)
      return false;
   for (int g = 0; g < GROUPS; g++) {
      const group_t offset = add + (i->address_bytes == 8 ? lower_halves(wide + GROUP * g)
                                                          : *(const group_t *)(narrow + GROUP * g));
      bad |= (group_t)(offset > last) | (offset & (bytes - 1));
      *(group_t *)(to->offset + GROUP * g) = offset;
   }
   if (any_bit(bad))
      return false;
   use_shared(warp, to);
   return true;
}

static inline bool find_shared_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                     words_t *to) {
   const uint32_t bytes = 4u * i->elements;
   if (mask == FULL_MASK && warp->block->cluster.blocks == 1 ? !find_shared_of_all(warp, i, bytes, to)
                                                             : !find_shared_offsets(warp, i, mask, bytes, to))
      return false;
   find_shape(to, bytes);
   return true;
}

/* Who read and who wrote --------------------------------------------------------------------------------------- */

/* For words in any places; several lanes may be at one word.  Each lane's new record is computed from the record that was there before.  A lane
 * that then finds another lane's record was not alone at its word. */
static inline group_t lanes_of(uint32_t mask, int g) {
   const group_t step = {0, 1, 2, 3, 4, 5, 6, 7};
   return (group_t)((mask >> GROUP * g >> step & 1) != 0);
}

/* Writes the lanes' records; finds which lanes then read another lane's record, because both are at the same word. */
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
static inline bool record_shared_read(machine_warp_t *warp, const words_t *to, uint32_t mask, uint32_t e) {
   uint32_t *records = warp->block->shared_races + e;
   const uint32_t epoch = warp->block->epoch << EPOCH_SHIFT;
   if (mask & (mask - 1)) {
      if (to->shape == WORDS_ONE)
         return read_by_several(&records[to->offset[0] >> 2], epoch);
      for (uint32_t g = 0; to->shape == WORDS_GROUPED && mask == FULL_MASK && g < GROUPS; g++) {
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

static inline bool record_shared_write(machine_warp_t *warp, const words_t *to, uint32_t mask, uint32_t e) {
   uint32_t *records = warp->block->shared_races + e;
   const uint32_t epoch = warp->block->epoch << EPOCH_SHIFT;
   if (!in_rows(to, mask))
      return write_scattered(records, to->offset, mask, epoch, warp->first_thread);
   for (uint32_t g = 0; g < GROUPS; g++)
      if (!write_consecutive((group_t *)&records[to->offset[GROUP * g] >> 2], epoch,
                             warp->first_thread + GROUP * g))
         return false;
   return true;
}

/* Records that the lanes read or write their words; false at a conflict. */
static inline bool record_shared(machine_warp_t *warp, const machine_instruction_t *i, const words_t *to,
                                 uint32_t mask, bool store) {
   if (warp->block->races == RACES_CLOCKS)
      return machine_shared_record_row(warp, to->offset, mask, 4u * i->elements, to->shape == WORDS_ONE,
                                       store);
   if (warp->block->races == RACES_FAST && warp->block->shared_shift != 2)
      return record_granules(warp, to->offset, mask, 4u * i->elements, store);
   if (warp->block->races != RACES_FAST ||
       (!store && to->shape == WORDS_ANY && /* as after every reading but the first */
        all_words_are((const uint8_t *)warp->block->shared_races, to->stretch,
                      warp->block->epoch << EPOCH_SHIFT | SEVERAL)))
      return true;
   for (uint32_t e = 0; e < i->elements; e++)
      if (store ? !record_shared_write(warp, to, mask, e) : !record_shared_read(warp, to, mask, e))
         return false;
   return true;
}

/* Whether an instruction plainly moves something in shared memory whose order the packed records keep. */
static inline bool moves_shared(const machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   return i->space == PTX_SHARED && mask != 0 &&
          (warp->block->races != RACES_CLOCKS || machine_shared_rows(warp->block)) &&
          !(mask & ~warp->defined[i->ai]) &&
          !(i->flags & (FLAG_ACQUIRE | FLAG_RELEASE | FLAG_RELAXED | FLAG_VOLATILE));
}

static inline void note_address_taint(machine_warp_t *warp, const machine_instruction_t *i) {
   if (warp->taint)
      warp->run->report.address_taint |= warp->taint[i->ai];
}

/* Narrower than words ------------------------------------------------------------------------------------------- */

/* Whether every part has one or two bytes and no part's register has eight. */
static inline bool moves_narrow(const machine_warp_t *warp, const machine_instruction_t *i) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   bool narrow = i->element_bytes < 4;
   for (uint32_t e = 0; narrow && e < i->elements; e++)
      narrow = parts[e].bytes != 8;
   return narrow;
}

static inline bool find_narrow(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                               bool store, words_t *to) {
   const uint32_t bytes = (uint32_t)i->element_bytes * i->elements;
   if (!find_shared_offsets(warp, i, mask, bytes, to) ||
       (warp->block->races == RACES_FAST && !record_granules(warp, to->offset, mask, bytes, store)) ||
       (warp->block->races == RACES_CLOCKS &&
        !machine_shared_record_row(warp, to->offset, mask, bytes, false, store)))
      return false;
   note_address_taint(warp, i);
   return true;
}

/* Numbers of one or two bytes, of a group of lanes at places one after the other. */
static inline void put_narrow_group(const uint32_t value[GROUP], uint32_t bytes, uint32_t offset,
                                    const words_t *to) {
   uint8_t packed[2 * GROUP];
   for (uint32_t n = 0; n < GROUP; n++) {
      const uint16_t narrow = (uint16_t)value[n];
      if (bytes == 1)
         packed[n] = (uint8_t)value[n];
      else
         memcpy(packed + 2 * n, &narrow, sizeof narrow);
   }
   if (to->data)
      memcpy(to->data + offset, packed, bytes * GROUP);
   if (to->defined)
      memset(to->defined + offset, 1, bytes * GROUP);
   for (uint32_t word = offset >> 2; to->shadow && word <= (offset + bytes * GROUP - 1) >> 2; word++)
      to->shadow[word] = machine_no_shadow();
}

/* In the lane's order: of several at one place the last one's value stays. */
static inline void put_narrow_lanes(const uint32_t *value, uint32_t known, uint32_t lanes, uint32_t bytes,
                                    uint32_t at, const words_t *to) {
   for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t l = (uint32_t)__builtin_ctz(left), offset = to->offset[l] + at;
      if (to->data)
         write_element(to->data + offset, value[l], bytes);
      if (to->defined)
         write_element(to->defined + offset, known >> l & 1 ? WORD_DEFINED : WORD_UNDEFINED, bytes);
      if (to->shadow)
         to->shadow[offset >> 2] = machine_no_shadow();
   }
}

/* One part of each lane, at so many bytes from its first one; known: the lanes in which it is defined; all: the bytes of all parts of a lane. */
static inline __attribute__((always_inline)) void put_narrow_groups(const uint32_t *value, uint32_t known,
                                                                    uint32_t mask, uint32_t bytes,
                                                                    uint32_t all, uint32_t at,
                                                                    const words_t *to) {
   for (uint32_t g = 0; g < GROUPS; g++) {
      const uint32_t lanes = mask >> GROUP * g & GROUP_MASK, of_values = lanes & known >> GROUP * g;
      if (all == bytes && are_consecutive(to->offset + GROUP * g, of_values, bytes))
         put_narrow_group(value + GROUP * g, bytes, to->offset[GROUP * g], to);
      else if (!to->data && !to->shadow && !of_values && all == bytes && to->defined &&
               are_consecutive(to->offset + GROUP * g, lanes, bytes))
         memset(to->defined + to->offset[GROUP * g], UNDEFINED_STORE, bytes * GROUP);
      else
         put_narrow_lanes(value, known, lanes << GROUP * g, bytes, at, to);
   }
}

/* Notes that all parts of the lanes are stored, where their values are not needed.  known: 1, or UNDEFINED_STORE if none of them has a value. */
static inline void note_narrow(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask, int known,
                               const words_t *to) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   const uint32_t all = (uint32_t)i->element_bytes * i->elements;
   for (uint32_t left = to->defined ? mask : 0; left; left &= left - 1) {
      uint8_t *at = to->defined + to->offset[__builtin_ctz(left)];
      if (all == 8)
         memset(at, known, 8);
      else if (all == 4)
         memset(at, known, 4);
      else
         memset(at, known, all);
   }
   for (uint32_t e = 0; warp->taint && e < i->elements; e++)
      *to->taint |= warp->taint[parts[e].number];
}

static inline void put_narrow(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                              const words_t *to) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   if (!to->data && !to->shadow && i->elements > 1) {
      const int known = stores_values(warp, i, mask)      ? 1
                        : stores_undefined(warp, i, mask) ? UNDEFINED_STORE
                                                          : 0;
      if (known) {
         note_narrow(warp, i, mask, known, to);
         return;
      }
   }
   for (uint32_t e = 0; e < i->elements; e++) {
      const uint32_t *value = LANES_OF(uint32_t, parts[e].offset), known = warp->defined[parts[e].number];
      if (i->element_bytes == 1)
         put_narrow_groups(value, known, mask, 1, i->elements, e, to);
      else
         put_narrow_groups(value, known, mask, 2, 2u * i->elements, 2 * e, to);
      if (warp->taint)
         *to->taint |= warp->taint[parts[e].number];
   }
}

/* Whether the lanes' values may be stored here: all are defined, or undefined values may be stored. */
static inline bool stores_shared(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   const bool values = stores_values(warp, i, mask);
   warp->run->undefinings += !values;
   return values || leaves_undefined(warp);
}

static inline bool store_narrow(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   words_t to;
   if (!stores_shared(warp, i, mask) || !find_narrow(warp, i, mask, true, &to))
      return false;
   to.shadow = warp->block->shared_shadow; /* as the code that handles each lane by itself does */
   put_narrow(warp, i, mask, &to);
   return true;
}

/* Numbers of one or two bytes at places one after the other.  False: not all of their bytes are defined. */
static inline __attribute__((always_inline)) bool take_narrow_group(uint32_t value[GROUP], uint32_t bytes,
                                                                    bool is_signed, uint32_t offset,
                                                                    const words_t *from) {
   typedef uint8_t bytes_t __attribute__((vector_size(GROUP), aligned(1), may_alias));
   typedef uint16_t halves_t __attribute__((vector_size(2 * GROUP), aligned(1), may_alias));
   typedef int32_t numbers_t __attribute__((vector_size(4 * GROUP), aligned(4), may_alias));
   const uint32_t shift = 32 - 8 * bytes;
   const uint8_t *data = from->data + offset;
   uint64_t defined[2] = {EACH_BYTE, EACH_BYTE};
   if (from->defined)
      memcpy(defined, from->defined + offset, bytes * GROUP);
   if (defined[0] != EACH_BYTE || defined[1] != EACH_BYTE)
      return false;
   const numbers_t loaded = bytes == 1
                               ? __builtin_convertvector(*(const bytes_t *)data, numbers_t)
                               : __builtin_convertvector(*(const halves_t *)(const void *)data, numbers_t);
   *(numbers_t *)value = is_signed ? loaded << shift >> shift : loaded;
   return true;
}

/* Loads one part of each lane, `at` bytes from the lane's place; returns the lanes whose part is defined.  alone: the part is all that a lane
 * loads. */
static inline __attribute__((always_inline)) uint32_t take_narrow_part(uint32_t *value, uint32_t mask,
                                                                       uint32_t bytes, bool is_signed,
                                                                       bool alone, uint32_t at,
                                                                       const words_t *from) {
   const uint64_t all = WORD_DEFINED & ((1ull << 8 * bytes) - 1);
   const uint32_t shift = 32 - 8 * bytes;
   uint32_t defined = 0;
   for (uint32_t g = 0; g < GROUPS; g++) {
      const uint32_t lanes = mask >> GROUP * g & GROUP_MASK;
      if (alone && are_consecutive(from->offset + GROUP * g, lanes, bytes) &&
          take_narrow_group(value + GROUP * g, bytes, is_signed, from->offset[GROUP * g], from)) {
         defined |= GROUP_MASK << GROUP * g;
         continue;
      }
      for (uint32_t left = lanes; left; left &= left - 1) {
         const uint32_t l = GROUP * g + (uint32_t)__builtin_ctz(left), offset = from->offset[l] + at,
                        loaded = (uint32_t)read_element(from->data + offset, bytes);
         value[l] = is_signed ? (uint32_t)((int32_t)(loaded << shift) >> shift) : loaded;
         defined |= (uint32_t)(!from->defined || read_element(from->defined + offset, bytes) == all) << l;
      }
   }
   return defined;
}

/* Loads that may be made: what the registers then hold. */
static inline void take_narrow(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                               const words_t *from) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   const uint32_t bytes = i->element_bytes;
   const uint64_t taint = warp->taint ? *from->taint | warp->taint[i->ai] : 0;
   for (uint32_t e = 0; e < i->elements; e++) {
      uint32_t *value = LANES_OF(uint32_t, parts[e].offset);
      const bool is_signed = ptx_type_is_signed(i->type), alone = i->elements == 1;
      const uint32_t defined = bytes == 1
                                  ? (is_signed ? take_narrow_part(value, mask, 1, true, alone, e, from)
                                               : take_narrow_part(value, mask, 1, false, alone, e, from))
                                  : (is_signed ? take_narrow_part(value, mask, 2, true, alone, 2 * e, from)
                                               : take_narrow_part(value, mask, 2, false, alone, 2 * e, from));
      if (warp->shadow && parts[e].bytes == 4)
         warp->valid[parts[e].number] &= ~mask;
      set_defined(warp, parts[e].number, defined, mask);
      set_taint(warp, parts[e].number, taint, mask);
   }
}

static inline bool load_narrow(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   words_t from;
   if (!find_narrow(warp, i, mask, false, &from))
      return false;
   take_narrow(warp, i, mask, &from);
   return true;
}

/* Plain moves of a warp.  False when each lane must be looked at by itself; then nothing was moved. */
static inline bool load_shared(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   words_t from;
   if (!moves_words(warp, i))
      return moves_narrow(warp, i) && load_narrow(warp, i, mask);
   if (!find_shared_words(warp, i, mask, &from) || !record_shared(warp, i, &from, mask, false))
      return false;
   note_address_taint(warp, i);
   take_words(warp, i, mask, &from);
   return true;
}

static inline bool store_shared(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   words_t to;
   if (!moves_words(warp, i))
      return moves_narrow(warp, i) && store_narrow(warp, i, mask);
   if (!stores_shared(warp, i, mask) || !find_shared_words(warp, i, mask, &to) ||
       !record_shared(warp, i, &to, mask, true))
      return false;
   note_address_taint(warp, i);
   put_words(warp, i, mask, &to);
   return true;
}

#endif
