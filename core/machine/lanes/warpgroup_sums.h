/* Sums of products of a warp's share of wgmma.mma_async: 16 rows, 16 columns at a time (docs/decisions/tensor-arithmetic.md).  On numbers
 * alone: no descriptors, no checks.  Pure functions; any thread.  One copy an instruction set. */
#ifndef RKB_MACHINE_LANES_WARPGROUP_SUMS_H
#define RKB_MACHINE_LANES_WARPGROUP_SUMS_H

#include "machine/lanes/tensor_arithmetic.h"

#define WARP_ROWS 16u
#define GROUP_COLUMNS 16u  /* two tiles of 8 */
#define GROUP_TERMS 32u    /* at most */
#define GROUP_REGISTERS 8u /* of float32 results: four a tile */

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

typedef struct machine_group_rule {
   uint32_t terms;                  /* 8, 16 or 32 */
   int32_t fraction, kept_fraction; /* of terms; of float32 results */
   bool adds;                       /* to what the registers hold; false: to zero */
   bool exact_factors;              /* the doubles of factors are their floats */
   uint16_t left_out; /* rows whose sums nobody asks for, a bit each; none of them where there are doubles */
} machine_group_rule_t;

/* count elements of a factor, in the low bits of a word each. */
typedef void machine_group_take_t(enum machine_tensor_type type, bool negated, const uint32_t *elements,
                                  uint32_t count, float *value, int16_t *exponent, bool *far);
machine_group_take_t machine_group_take_portable, machine_group_take_v3;
/* Lines of eight 16-bit elements, one after the other; of value and exponent a line begins step elements after the one before. */
typedef void machine_group_take_halves_t(bool bfloat, bool negated, const uint16_t *elements, uint32_t lines,
                                         uint32_t step, float *value, int16_t *exponent, bool *far);
machine_group_take_halves_t machine_group_take_halves_portable, machine_group_take_halves_v3;
/* Whole eights of e4m3 or e5m2. */
typedef void machine_group_take_bytes_t(bool e5m2, bool negated, const uint8_t *bytes, uint32_t eights,
                                        float *value, int16_t *exponent, bool *far);
machine_group_take_bytes_t machine_group_take_bytes_portable, machine_group_take_bytes_v3;

/* float32 sums: registers are 32 lanes each, register 4 t + 2 h + c holds column 2 (lane % 4) + c of tile t in row 8 h + lane / 4.  wide NULL:
 * no doubles beside them; else the doubles of the same registers. */
typedef void machine_group_sum_t(const machine_group_rule_t *rule, const machine_row_factors_t *a,
                                 const machine_column_factors_t *b, float *const results[GROUP_REGISTERS],
                                 double *const wide[GROUP_REGISTERS]);
machine_group_sum_t machine_group_sum_portable, machine_group_sum_v3;
/* The fastest that does the same on this processor. */
machine_group_sum_t *machine_group_sum_chosen_portable(void), *machine_group_sum_chosen_v3(void);
/* One sum, of any numbers: addend and result are bits of float32 or float16.  column: a place. */
typedef uint32_t machine_group_sum_one_t(const machine_group_rule_t *rule, const machine_row_factors_t *a,
                                         uint32_t row, const machine_column_factors_t *b, uint32_t column,
                                         bool halves, uint32_t addend);
machine_group_sum_one_t machine_group_sum_one_portable, machine_group_sum_one_v3;

#endif
