/* Sums of products of a warp's share of wgmma.mma_async: 16 rows, 16 columns at a time (docs/decisions/tensor-arithmetic.md).  On numbers
 * alone: no descriptors, no checks.  Pure functions; any thread.  One copy an instruction set. */
#ifndef RKB_MACHINE_LANES_WARPGROUP_SUMS_H
#define RKB_MACHINE_LANES_WARPGROUP_SUMS_H

#include "machine/lanes/warpgroup_factors.h"

#define GROUP_REGISTERS 8u /* of float32 results: four a tile */

typedef struct machine_group_rule {
   uint32_t terms;                  /* 8, 16 or 32 */
   int32_t fraction, kept_fraction; /* of terms; of float32 results */
   bool adds;                       /* to what the registers hold; false: to zero */
   bool exact_factors;              /* the doubles of factors are their floats */
   uint16_t left_out; /* rows whose sums are not needed, a bit each; no bit is set where there are doubles */
} machine_group_rule_t;

/* float32 sums.  Registers are 32 lanes each; register 4 t + 2 h + c holds column 2 (lane % 4) + c of tile t in row 8 h + lane / 4.  wide: the
 * doubles of the same registers; NULL: there are none. */
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
