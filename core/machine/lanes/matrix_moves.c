/* Moves of matrices of eight rows of eight halves: ldmatrix, stmatrix and movmatrix (PTX ISA 9.0, 9.7.15.5).  Memory is read and written with the checks of
 * ordinary loads and stores, by the lane that names the row. */
#include "machine/lanes/handlers.h"
#include "machine/lanes/moved_bytes.h"
#include "machine/lanes/transpose.h"
#include "machine/lanes/whole_warp.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Finds the bytes of one lane, checked for bounds and, in a run that looks for races, for races. */
static bool reach(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane, uint64_t address,
                  uint32_t bytes, const void *value, machine_place_t *place) {
   if (!place_of(warp, lane, address, i->space, bytes, value != NULL, place))
      return false;
   if (records(warp))
      record(warp, lane, place, bytes, value);
   return true;
}

#define ROW_BYTES 16u

/* Lane 8 m + r names row r of matrix m.  False when the lanes must not go on. */
static bool find_rows(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                      uint64_t address[LANES]) {
   const uint32_t lanes = FULL_MASK >> (LANES - 8 * i->elements);
   return whole_warp(warp, mask) && lane_addresses(warp, i, lanes, address) == lanes;
}

static void count_rows(machine_warp_t *warp, const machine_instruction_t *i, const uint64_t address[LANES],
                       bool store) {
   const uint32_t lanes = FULL_MASK >> (LANES - 8 * i->elements);
   if (warp->block->measured && !repeats(warp))
      machine_count_request(warp, address, lanes, ROW_BYTES, store);
}

/* Two halves side by side may be a float32, whose double is copied as well. */
static void take_doubles(machine_warp_t *warp, const machine_slot_t *part, double (*const doubles)[4]) {
   if (!warp->shadow)
      return;
   uint32_t valid = 0;
   uint64_t different = 0;
   for (uint32_t l = 0; doubles && l < LANES; l++) {
      uint64_t bits;
      memcpy(&bits, &doubles[l / 4][l % 4], sizeof bits);
      different |= bits ^ NO_SHADOW;
   }
   for (uint32_t l = 0; different && l < LANES; l++) {
      SHADOW_OF(part->offset)[l] = doubles[l / 4][l % 4];
      valid |= (uint32_t)machine_has_shadow(doubles[l / 4][l % 4]) << l;
   }
   warp->valid[part->number] = valid;
}

static void leave_doubles(machine_warp_t *warp, const machine_instruction_t *i, const machine_slot_t *part,
                          uint32_t row, double *out) {
   for (uint32_t n = 0; n < 4; n++) {
      const uint32_t lane = 4 * row + n;
      const bool has = warp->valid && !i->operation && (warp->valid[part->number] >> lane & 1);
      out[n] = has ? SHADOW_OF(part->offset)[lane] : machine_no_shadow();
   }
}

/* Returns a bit for each half of a row: whether it holds a value. */
static inline uint8_t known_halves(const uint8_t *defined) {
   uint64_t words[2];
   uint8_t known = 0;
   if (!defined)
      return UINT8_MAX;
   memcpy(words, defined, sizeof words);
   if (((words[0] ^ UINT64_C(0x0101010101010101)) | (words[1] ^ UINT64_C(0x0101010101010101))) == 0)
      return UINT8_MAX;
   for (uint32_t n = 0; n < 8; n++)
      known |= (uint8_t)(all_defined(defined + 2 * n, 2) << n);
   return known;
}

/* The same for eight rows of shared memory, a byte for each. */
static inline uint64_t known_rows(const uint8_t *defined, const uint32_t offset[8]) {
   uint64_t known = 0;
#ifdef __SSE2__
   const __m128i values = _mm_set1_epi16(0x0101);
   for (uint32_t r = 0; r < 8; r += 2) {
      const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)(defined + offset[r])),
                    second = _mm_loadu_si128((const __m128i *)(const void *)(defined + offset[r + 1]));
      const __m128i halves = _mm_packs_epi16(_mm_cmpeq_epi16(first, values), _mm_cmpeq_epi16(second, values));
      known |= (uint64_t)(uint32_t)_mm_movemask_epi8(halves) << 8 * r;
   }
#else
   for (uint32_t r = 0; r < 8; r++)
      known |= (uint64_t)known_halves(defined + offset[r]) << 8 * r;
#endif
   return known;
}

/* Turns a matrix of eight rows of eight bits, a byte a row. */
static uint64_t turned_bits(uint64_t rows) {
   uint64_t other = (rows ^ rows >> 7) & UINT64_C(0x00aa00aa00aa00aa);
   rows ^= other ^ other << 7;
   other = (rows ^ rows >> 14) & UINT64_C(0x0000cccc0000cccc);
   rows ^= other ^ other << 14;
   other = (rows ^ rows >> 28) & UINT64_C(0x00000000f0f0f0f0);
   return rows ^ other ^ other << 28;
}

/* The lanes whose two halves hold values.  The halves of lane l are bits 2 (l % 4) and the next of row l / 4. */
static uint32_t known_lanes(uint64_t rows) {
   uint64_t both = rows & rows >> 1 & UINT64_C(0x5555555555555555);
   both = (both | both >> 1) & UINT64_C(0x3333333333333333);
   both = (both | both >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
   both = (both | both >> 4) & UINT64_C(0x00ff00ff00ff00ff);
   both = (both | both >> 8) & UINT64_C(0x0000ffff0000ffff);
   return (uint32_t)(both | both >> 16);
}

/* Finds where the rows lie in the block's shared memory, and notes that they are read; false where each lane must be looked at by itself. */
static bool find_shared_rows(machine_warp_t *warp, const machine_instruction_t *i,
                             const uint64_t address[LANES], uint32_t offset[LANES]) {
   machine_block_t *block = warp->block;
   const uint32_t count = 8u * i->elements;
   const bool noted = records(warp);
   uint64_t other = 0;
   uint32_t least = UINT32_MAX, most = 0;
   for (uint32_t l = 0; l < count; l++) {
      other |=
         (address[l] >> 32 ^ (uint64_t)WINDOW_SHARED << (WINDOW_SHIFT - 32)) | (address[l] & (ROW_BYTES - 1));
      offset[l] = (uint32_t)address[l];
      least = offset[l] < least ? offset[l] : least;
      most = offset[l] > most ? offset[l] : most;
   }
   if (other || block->cluster.blocks > 1 || most > block->cluster.shared_bytes ||
       block->cluster.shared_bytes - most < ROW_BYTES || (noted && block->races != RACES_FAST) ||
       machine_touches_gap(warp->program, least, most + ROW_BYTES - least))
      return false;
   for (uint32_t l = 0; noted && l < count; l++)
      if (!note_reading(block, warp->first_thread + l, offset[l], ROW_BYTES))
         return false;
   return true;
}

/* The doubles of a row's words. */
static inline void take_row_doubles(const double *shadow, double doubles[4]) {
   for (uint32_t n = 0; n < 4; n++)
      doubles[n] = shadow ? shadow[n] : machine_no_shadow();
}

/* Rows of the block's shared memory, which of their halves hold values, and the doubles of their words (NULL: the run keeps none). */
static inline void take_shared_rows(const machine_warp_t *warp, uint32_t matrices, const uint32_t *offset,
                                    eight_t *rows, uint64_t *known, double (*doubles)[4]) {
   const machine_block_t *block = warp->block;
   for (uint32_t l = 0; l < 8 * matrices; l++)
      memcpy(&rows[l], block->shared + offset[l], ROW_BYTES);
   for (uint32_t m = 0; m < matrices; m++)
      known[m] = repeats(warp) ? UINT64_MAX : known_rows(block->shared_defined, &offset[8 * m]);
   for (uint32_t l = 0; doubles && l < 8 * matrices; l++)
      take_row_doubles(block->shared_shadow + (offset[l] >> 2), doubles[l]);
}

/* Lane l gets halves 2 (l % 4) and the next of row l / 4, or of column l / 4: registers are rows or columns one after the other. */
OP(matrix_load) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   const bool turned = i->operation != 0, doubled = warp->shadow && !turned;
   uint64_t address[LANES], taint = warp->taint ? warp->taint[i->ai] : 0, known[LANES / 8] = {0};
   eight_t rows[LANES];
   double doubles[LANES][4];
   uint32_t offset[LANES];
   if (!find_rows(warp, i, mask, address))
      return;
   count_rows(warp, i, address, false);
   const bool plain = find_shared_rows(warp, i, address, offset);
   if (plain) {
      take_shared_rows(warp, i->elements, offset, rows, known, doubled ? doubles : NULL);
      taint |= warp->taint ? warp->block->shared_taint : 0;
   }
   for (uint32_t l = 0; !plain && l < 8u * i->elements; l++) {
      machine_place_t place;
      if (!reach(warp, i, l, address[l], ROW_BYTES, NULL, &place))
         return;
      memcpy(&rows[l], place.data, ROW_BYTES);
      known[l / 8] |= (uint64_t)(repeats(warp) ? UINT8_MAX : known_halves(place.defined)) << 8 * (l % 8);
      if (doubled)
         take_row_doubles(place.shadow, doubles[l]);
      taint |= memory_taint(warp, &place);
   }
   for (uint32_t m = 0; m < i->elements; m++) {
      eight_t columns[8];
      if (turned)
         turn(&rows[8 * m], columns);
      memcpy(LANES_OF(uint32_t, parts[m].offset), turned ? columns : &rows[8 * m], sizeof columns);
      warp->defined[parts[m].number] =
         known[m] == UINT64_MAX ? FULL_MASK : known_lanes(turned ? turned_bits(known[m]) : known[m]);
      set_taint(warp, parts[m].number, taint, FULL_MASK);
      take_doubles(warp, &parts[m], turned ? NULL : &doubles[8 * m]);
   }
}

OP(matrix_store) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   uint64_t address[LANES];
   if (!find_rows(warp, i, mask, address))
      return;
   warp->run->changes++;
   count_rows(warp, i, address, true);
   for (uint32_t l = 0; l < 8u * i->elements; l++) {
      const machine_slot_t *part = &parts[l / 8];
      const uint16_t *value = (const uint16_t *)(const void *)LANES_OF(uint32_t, part->offset);
      uint16_t row[8];
      uint32_t known = 0;
      for (uint32_t n = 0; n < 8; n++) {
         const uint32_t from = i->operation ? 4 * n + l % 8 / 2 : 4 * (l % 8) + n / 2,
                        half = i->operation ? l % 2 : n % 2;
         row[n] = value[2 * from + half];
         known |= (warp->defined[part->number] >> from & 1) << n;
      }
      machine_place_t place;
      if (!reach(warp, i, l, address[l], ROW_BYTES, row, &place))
         return;
      memcpy(place.data, row, ROW_BYTES);
      for (uint32_t n = 0; n < 8 && !repeats(warp); n++)
         if (place.defined)
            memset(place.defined + 2 * n, known >> n & 1 ? 1 : UNDEFINED_STORE, 2);
      if (place.shadow)
         leave_doubles(warp, i, part, l % 8, place.shadow);
      if (warp->taint)
         *taint_of_place(warp, &place) |= warp->taint[part->number];
   }
}

OP(matrix_move) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   uint16_t value[2 * LANES];
   if (!whole_warp(warp, mask))
      return;
   memcpy(value, LANES_OF(uint32_t, parts[1].offset), sizeof value);
   const uint32_t known = warp->defined[parts[1].number];
   uint16_t *d = (uint16_t *)(void *)LANES_OF(uint32_t, parts[0].offset);
   uint32_t defined = 0;
   for (uint32_t l = 0; l < LANES; l++) {
      const uint32_t row = 2 * (l % 4), column = l / 4;
      for (uint32_t h = 0; h < 2; h++)
         d[2 * l + h] = value[8 * (row + h) + column];
      defined |= (known >> (4 * row + column / 2) & known >> (4 * (row + 1) + column / 2) & 1) << l;
   }
   warp->defined[parts[0].number] = defined;
   set_taint(warp, parts[0].number, warp->taint ? warp->taint[parts[1].number] : 0, FULL_MASK);
   if (warp->valid)
      warp->valid[parts[0].number] = 0;
}
