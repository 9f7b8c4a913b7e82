/* Factors of a warp's share of wgmma.mma_async: 16 rows, 16 columns at a time, as numbers and exponents.  Pure functions; any thread.  One copy an
 * instruction set. */
#ifndef RKB_MACHINE_LANES_WARPGROUP_FACTORS_H
#define RKB_MACHINE_LANES_WARPGROUP_FACTORS_H

#include "machine/lanes/tensor_arithmetic.h"

#define WARP_ROWS 16u
#define GROUP_COLUMNS 16u /* two tiles of 8 */
#define GROUP_TERMS 32u   /* at most */

/* Exponents are those of the operands' formats: significands are not normalised.  Zeros have TERM_ZERO. */
#define TERM_ZERO (-8192)

/* Factors as numbers, and as exponents.  A row or a group of columns is far where an exponent is so large or so small that float32
 * cannot hold the products, or where an infinity or a NaN is in it. */
typedef struct machine_row_factors {
   float value[WARP_ROWS][GROUP_TERMS] __attribute__((aligned(32)));
   int16_t exponent[WARP_ROWS][GROUP_TERMS] __attribute__((aligned(32)));
   double wide[WARP_ROWS][GROUP_TERMS] __attribute__((aligned(32)));
   bool far[WARP_ROWS];
} machine_row_factors_t;

/* Columns in the order of the lanes: 0 2 4 6 1 3 5 7 of each tile. */
typedef struct machine_column_factors {
   float value[GROUP_TERMS][GROUP_COLUMNS] __attribute__((aligned(32)));
   int16_t exponent[GROUP_TERMS][GROUP_COLUMNS] __attribute__((aligned(32)));
   double wide[GROUP_TERMS][GROUP_COLUMNS] __attribute__((aligned(32)));
   bool far;
} machine_column_factors_t;

static inline uint32_t group_column(uint32_t place) { /* the column of a place in that order */
   return (place & 8) | (place & 3) << 1 | (place >> 2 & 1);
}

/* count elements of a factor, in the low bits of a word each. */
typedef void machine_group_take_t(enum machine_tensor_type type, bool negated, const uint32_t *elements,
                                  uint32_t count, float *value, int16_t *exponent, bool *far);
machine_group_take_t machine_group_take_portable, machine_group_take_v3;
/* Lines of eight 16-bit elements, one after the other.  In value and exponent, each line begins `step` elements after the line before. */
typedef void machine_group_take_halves_t(bool bfloat, bool negated, const uint16_t *elements, uint32_t lines,
                                         uint32_t step, float *value, int16_t *exponent, bool *far);
machine_group_take_halves_t machine_group_take_halves_portable, machine_group_take_halves_v3;
/* Whole eights of e4m3 or e5m2. */
typedef void machine_group_take_bytes_t(bool e5m2, bool negated, const uint8_t *bytes, uint32_t eights,
                                        float *value, int16_t *exponent, bool *far);
machine_group_take_bytes_t machine_group_take_bytes_portable, machine_group_take_bytes_v3;

#endif
