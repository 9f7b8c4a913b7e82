/* For loads whose lanes access words in no simple order, such as rows of a tile that are read four words at a time.  This file first looks at the
 * whole stretch of memory that contains all lanes' words, and only then at single lanes.  It fetches four words of each lane at once. */
#ifndef RKB_MACHINE_LANES_WORD_VECTORS_H
#define RKB_MACHINE_LANES_WORD_VECTORS_H

#include "machine/access/memory_access.h"

#define GROUP 8
#define GROUPS (LANES / GROUP)
#define VECTOR 4           /* words of a lane */
#define MOST_STRETCH 2048u /* bytes; in a longer stretch most words are not the lanes' own */

typedef uint32_t group_t __attribute__((vector_size(4 * GROUP), aligned(4), may_alias));
typedef uint32_t vector_t __attribute__((vector_size(16), aligned(4), may_alias));
typedef double doubles_t __attribute__((vector_size(32), aligned(8), may_alias));
typedef float floats_t __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t doubles_bits_t __attribute__((vector_size(32), aligned(8), may_alias));

static inline bool any_bit(group_t v) {
#ifdef __AVX2__
   return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
   typedef uint64_t halves_t __attribute__((vector_size(4 * GROUP)));
   halves_t h = (halves_t)v;
   return (h[0] | h[1] | h[2] | h[3]) != 0;
#endif
}

static inline group_t group_of(uint32_t value) {
   return value + (group_t){0};
}

/* The lower halves of eight numbers. */
static inline group_t lower_halves(const uint64_t *numbers) {
   const group_t first = *(const group_t *)numbers, second = *(const group_t *)(numbers + GROUP / 2);
   return __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14);
}

static inline group_t lower_of(group_t a, group_t b) {
#ifdef __AVX2__
   return (group_t)_mm256_min_epu32((__m256i)a, (__m256i)b);
#else
   const group_t less = (group_t)(a < b);
   return (a & less) | (b & ~less);
#endif
}

static inline group_t higher_of(group_t a, group_t b) {
#ifdef __AVX2__
   return (group_t)_mm256_max_epu32((__m256i)a, (__m256i)b);
#else
   const group_t more = (group_t)(a > b);
   return (a & more) | (b & ~more);
#endif
}

typedef struct stretch {
   uint32_t first, end; /* bytes; end 0: too long to look at */
} stretch_t;

/* From the lowest of the offsets to the end of what lies at the highest. */
static inline stretch_t stretch_of(const uint32_t offset[LANES], uint32_t bytes) {
   group_t low = *(const group_t *)offset, high = low;
   for (int g = 1; g < GROUPS; g++) {
      const group_t at = *(const group_t *)(offset + GROUP * g);
      low = lower_of(low, at);
      high = higher_of(high, at);
   }
   low = lower_of(low, __builtin_shufflevector(low, low, 4, 5, 6, 7, 0, 1, 2, 3));
   high = higher_of(high, __builtin_shufflevector(high, high, 4, 5, 6, 7, 0, 1, 2, 3));
   low = lower_of(low, __builtin_shufflevector(low, low, 2, 3, 0, 1, 6, 7, 4, 5));
   high = higher_of(high, __builtin_shufflevector(high, high, 2, 3, 0, 1, 6, 7, 4, 5));
   const uint32_t first = low[0] < low[1] ? low[0] : low[1], last = high[0] > high[1] ? high[0] : high[1];
   return (stretch_t){first, last - first <= MOST_STRETCH ? last + bytes : 0};
}

/* Whether every word of a stretch of words is this one; false where the stretch is too long. */
static inline bool all_words_are(const uint8_t *memory, stretch_t stretch, uint32_t word) {
   group_t different = {0};
   uint32_t at = stretch.first;
   if (!stretch.end)
      return false;
   for (; at + sizeof(group_t) <= stretch.end; at += sizeof(group_t))
      different |= *(const group_t *)(memory + at) ^ word;
   for (; at < stretch.end; at += 4) {
      uint32_t one;
      memcpy(&one, memory + at, 4);
      different[0] |= one ^ word;
   }
   return !any_bit(different);
}

/* Four words from each lane's place: out[e][l] is word e of lane l. */
static inline void gather_vectors(uint32_t *const out[VECTOR], const uint8_t *memory,
                                  const uint32_t offset[LANES]) {
   for (int l = 0; l < LANES; l += 4) {
      const vector_t a = *(const vector_t *)(memory + offset[l]),
                     b = *(const vector_t *)(memory + offset[l + 1]),
                     c = *(const vector_t *)(memory + offset[l + 2]),
                     d = *(const vector_t *)(memory + offset[l + 3]);
      const vector_t ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                     cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                     ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7),
                     cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      *(vector_t *)(out[0] + l) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
      *(vector_t *)(out[1] + l) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
      *(vector_t *)(out[2] + l) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
      *(vector_t *)(out[3] + l) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
   }
}

/* Doubles of four lanes, from what memory keeps of them: of a word without one its float's. */
static inline doubles_t doubles_of(doubles_t kept, const uint32_t *words) {
   const doubles_bits_t without = (doubles_bits_t)((doubles_bits_t)kept == NO_SHADOW);
   const doubles_t plain = __builtin_convertvector(*(const floats_t *)(const void *)words, doubles_t);
   return (doubles_t)(((doubles_bits_t)plain & without) | ((doubles_bits_t)kept & ~without));
}

/* Keeps the old doubles of lanes outside the mask, whose first lane of four is in bit 0. */
static inline doubles_t of_lanes(doubles_t now, doubles_t old, uint32_t mask) {
   const doubles_bits_t bits = {1, 2, 4, 8}, inside = (doubles_bits_t)((bits & mask) != 0);
   return (doubles_t)(((doubles_bits_t)now & inside) | ((doubles_bits_t)old & ~inside));
}

/* The same of doubles, of which there is one for each word. */
static inline void gather_double_vectors(double out[VECTOR][LANES], const double *memory,
                                         const uint32_t offset[LANES]) {
   for (int l = 0; l < LANES; l += 4) {
      const doubles_t a = *(const doubles_t *)(memory + (offset[l] >> 2)),
                      b = *(const doubles_t *)(memory + (offset[l + 1] >> 2)),
                      c = *(const doubles_t *)(memory + (offset[l + 2] >> 2)),
                      d = *(const doubles_t *)(memory + (offset[l + 3] >> 2));
      const doubles_t ab = __builtin_shufflevector(a, b, 0, 4, 2, 6),
                      cd = __builtin_shufflevector(c, d, 0, 4, 2, 6),
                      ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7),
                      cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
      *(doubles_t *)(out[0] + l) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
      *(doubles_t *)(out[1] + l) = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);
      *(doubles_t *)(out[2] + l) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
      *(doubles_t *)(out[3] + l) = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);
   }
}

#endif
