/* Reads and updates the packed records of who read and wrote shared memory (state/packed_records.h).  It handles eight or four granules at a time
 * that lie one after the other: those of lanes at consecutive places, or of one lane that moves several granules.  Every function returns false at
 * a conflict; the code that handles each lane by itself then reports the conflict.  Accesses that were recorded before the conflict stay recorded,
 * because recording them again changes nothing.  On the machine's thread. */
#ifndef RKB_MACHINE_LANES_SHARED_RECORDS_H
#define RKB_MACHINE_LANES_SHARED_RECORDS_H

#include "machine/lanes/word_vectors.h"

#define GROUP_MASK ((1u << GROUP) - 1) /* all lanes of a group */

/* Replaces records of an earlier epoch, which no longer count, by empty ones. */
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

/* me: by record, the thread that reads it, plus one. */
static inline bool read_group(group_t *records, uint32_t epoch, group_t me) {
   if (!any_bit(*records ^ (epoch | SEVERAL)))
      return true;
   const group_t record = fresh_group(records, epoch), writer = record >> 11 & SEVERAL,
                 reader = record & SEVERAL;
   if (any_bit((group_t)(writer != 0) & (group_t)(writer != me)))
      return false;
   const group_t alone = (group_t)(reader == 0) | (group_t)(reader == me);
   *records = (record & ~group_of(SEVERAL)) | (alone & me) | (~alone & SEVERAL);
   return true;
}

static inline bool write_group(group_t *records, uint32_t epoch, group_t me) {
   const group_t record = fresh_group(records, epoch), writer = record >> 11 & SEVERAL,
                 reader = record & SEVERAL;
   if (any_bit(((group_t)(writer != 0) & (group_t)(writer != me)) |
               ((group_t)(reader != 0) & (group_t)(reader != me))))
      return false;
   *records = epoch | me << 11 | reader;
   return true;
}

static inline bool read_consecutive(group_t *records, uint32_t epoch, uint32_t thread) {
   return read_group(records, epoch, (group_t){0, 1, 2, 3, 4, 5, 6, 7} + (thread + 1));
}

static inline bool write_consecutive(group_t *records, uint32_t epoch, uint32_t thread) {
   return write_group(records, epoch, (group_t){0, 1, 2, 3, 4, 5, 6, 7} + (thread + 1));
}

static inline bool record_group(group_t *records, uint32_t epoch, group_t me, bool store) {
   return store ? write_group(records, epoch, me) : read_group(records, epoch, me);
}

/* Four records of a thread, and four others of the next one or of the same one. */
static inline bool record_fours(uint32_t *first, uint32_t *second, uint32_t epoch, uint32_t me, uint32_t next,
                                bool store) {
   const vector_t a = *(const vector_t *)(const void *)first, b = *(const vector_t *)(const void *)second;
   group_t records = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
   if (!record_group(&records, epoch, (group_t){me, me, me, me, next, next, next, next}, store))
      return false;
   *(vector_t *)(void *)first = __builtin_shufflevector(records, records, 0, 1, 2, 3);
   *(vector_t *)(void *)second = __builtin_shufflevector(records, records, 4, 5, 6, 7);
   return true;
}

/* What one thread reads or writes, so many granules one after the other; me: the thread, plus one. */
static inline bool record_run(uint32_t *records, uint32_t count, uint32_t epoch, uint32_t me, bool store) {
   for (; count >= GROUP; records += GROUP, count -= GROUP) {
      if (!record_group((group_t *)(void *)records, epoch, group_of(me), store))
         return false;
   }
   for (; count >= VECTOR; records += VECTOR, count -= VECTOR)
      if (!record_fours(records, records, epoch, me, me, store))
         return false;
   for (uint32_t n = 0; n < count; n++) {
      const uint32_t before = fresh_record(records[n], epoch), writer = before >> 11 & SEVERAL,
                     reader = before & SEVERAL;
      if ((writer && writer != me) || (store && reader && reader != me))
         return false;
      records[n] = store ? epoch | me << 11 | reader
                         : (before & ~SEVERAL) | (reader == 0 || reader == me ? me : SEVERAL);
   }
   return true;
}

/* Whether all granules of the lanes, up to four each, have been read by several threads since the last barrier and written by none: as after
 * every reading but the first ones. */
static inline bool were_all_read(const uint32_t *races, uint32_t shift, const uint32_t *offset, uint32_t mask,
                                 uint32_t count, uint32_t read) {
   const uint64_t both = (uint64_t)read << 32 | read;
   uint64_t different = 0;
   if (count == 4) {
      for (uint32_t left = mask; left; left &= left - 1) {
         const uint32_t *record = &races[offset[__builtin_ctz(left)] >> shift];
         uint64_t four[2];
         memcpy(four, record, sizeof four);
         different |= (four[0] ^ both) | (four[1] ^ both);
      }
      return different == 0;
   }
   for (uint32_t left = mask; left; left &= left - 1) {
      const uint32_t *record = &races[offset[__builtin_ctz(left)] >> shift];
      uint64_t two = both;
      memcpy(&two, record, count * sizeof *record);
      different |= two ^ both;
   }
   return different == 0;
}

/* Whether a group's lanes are all in the mask, at places one after the other of so many bytes. */
static inline bool are_consecutive(const uint32_t offset[GROUP], uint32_t lanes, uint32_t bytes) {
   const group_t step = {0, 1, 2, 3, 4, 5, 6, 7};
   return lanes == GROUP_MASK && !any_bit((*(const group_t *)offset - offset[0]) ^ (step * bytes));
}

static inline bool are_apart(uint32_t a, uint32_t b, uint32_t bytes) {
   return a > b ? a - b >= bytes : b - a >= bytes;
}

/* Lanes of a group, 1 << halvings granules each: at places one after the other, or a lane after another. */
static inline bool record_lanes(const machine_block_t *block, uint32_t first_thread,
                                const uint32_t offset[GROUP], uint32_t lanes, uint32_t bytes, uint32_t count,
                                bool store) {
   const uint32_t epoch = block->epoch << EPOCH_SHIFT, shift = block->shared_shift;
   if ((count & (count - 1)) == 0 && are_consecutive(offset, lanes, bytes)) {
      group_t *records = (group_t *)(void *)&block->shared_races[offset[0] >> shift];
      const uint32_t halvings = (uint32_t)__builtin_ctz(count);
      for (uint32_t n = 0; n < count; n++) {
         const group_t me =
            ((((group_t){0, 1, 2, 3, 4, 5, 6, 7} + GROUP * n) >> halvings) + first_thread) + 1;
         if (!record_group(records + n, epoch, me, store))
            return false;
      }
      return true;
   }
   for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t l = (uint32_t)__builtin_ctz(left);
      if (count == VECTOR && l + 1 < GROUP && (left >> l & 2) && are_apart(offset[l], offset[l + 1], bytes)) {
         if (!record_fours(&block->shared_races[offset[l] >> shift],
                           &block->shared_races[offset[l + 1] >> shift], epoch, first_thread + l + 1,
                           first_thread + l + 2, store))
            return false;
         left &= left - 1;
         continue;
      }
      if (!record_run(&block->shared_races[offset[l] >> shift], count, epoch, first_thread + l + 1, store))
         return false;
   }
   return true;
}

/* In granules of any size, which divide the bytes. */
static inline bool record_granules(machine_warp_t *warp, const uint32_t *offset, uint32_t mask,
                                   uint32_t bytes, bool store) {
   const machine_block_t *block = warp->block;
   const uint32_t count = ((bytes - 1) >> block->shared_shift) + 1,
                  read = block->epoch << EPOCH_SHIFT | SEVERAL;
   if (!store && (count <= 2 || count == 4) &&
       were_all_read(block->shared_races, block->shared_shift, offset, mask, count, read))
      return true;
   for (uint32_t g = 0; g < GROUPS; g++)
      if (!record_lanes(block, warp->first_thread + GROUP * g, offset + GROUP * g,
                        mask >> GROUP * g & GROUP_MASK, bytes, count, store))
         return false;
   return true;
}

#endif
