/* Factors of a warp's share of wgmma.mma_async that are zeros (warpgroup_sums.h): rows and columns of a tile past the ends of a matrix are zeros,
 * and in small shapes most factors are.  Products with them need not be made.  Pure functions; any thread. */
#ifndef RKB_MACHINE_LANES_WARPGROUP_ZEROS_H
#define RKB_MACHINE_LANES_WARPGROUP_ZEROS_H

#include "machine/lanes/warpgroup_sums.h"

#include <math.h>
#include <string.h>

typedef int16_t shorts_t __attribute__((vector_size(32), aligned(2), may_alias));
typedef int16_t half_shorts_t __attribute__((vector_size(16), aligned(2), may_alias));
typedef double doubles_t __attribute__((vector_size(32), aligned(8), may_alias));

static inline __attribute__((always_inline)) bool row_is_zeros(uint32_t terms, const machine_row_factors_t *a,
                                                               uint32_t row) {
   half_shorts_t any = {0};
   for (uint32_t k = 0; k < terms; k += 8)
      any |= *(const half_shorts_t *)(a->exponent[row] + k) ^ (int16_t)TERM_ZERO;
   uint64_t bits[2];
   memcpy(bits, &any, sizeof bits);
   return !(bits[0] | bits[1]);
}

static inline __attribute__((always_inline)) bool columns_are_zeros(uint32_t terms,
                                                                    const machine_column_factors_t *b) {
   shorts_t any = {0};
   for (uint32_t k = 0; k < terms; k++)
      any |= *(const shorts_t *)b->exponent[k] ^ (int16_t)TERM_ZERO;
   uint64_t bits[4];
   memcpy(bits, &any, sizeof bits);
   return !(bits[0] | bits[1] | bits[2] | bits[3]);
}

/* For a row and the row eight below it, whose doubles may differ from their floats. */
static inline __attribute__((always_inline)) bool
rows_are_zeros(uint32_t terms, const machine_row_factors_t *a, uint32_t row) {
   double any = 0;
   for (uint32_t k = 0; k < terms; k++)
      any += fabs(a->wide[row][k]) + fabs(a->wide[row + 8][k]);
   return any == 0;
}

static inline __attribute__((always_inline)) bool wide_is_finite(uint32_t terms,
                                                                 const machine_column_factors_t *b) {
   doubles_t none = {0};
   for (uint32_t k = 0; k < terms; k++)
      for (uint32_t c = 0; c < GROUP_COLUMNS; c += 4)
         none += *(const doubles_t *)&b->wide[k][c] * 0;
   return none[0] + none[1] + none[2] + none[3] == 0;
}

static inline __attribute__((always_inline)) void add_nothing(bool adds, uint32_t row,
                                                              double *const wide[GROUP_REGISTERS]) {
   for (uint32_t n = 0; !adds && n < GROUP_REGISTERS; n++)
      *(doubles_t *)(wide[n] + 4 * row) = (doubles_t){0};
}

#endif
