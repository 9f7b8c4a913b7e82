/* Sums that no order of additions rounds: of truth values, counts and other whole numbers that the graph itself makes.  Pure functions of a program. */
#ifndef RKB_REFERENCE_OPERATIONS_WHOLE_NUMBERS_H
#define RKB_REFERENCE_OPERATIONS_WHOLE_NUMBERS_H

#include "reference/operation.h"

/* Whether the elements of a value are whole numbers whatever the inputs are: integers, results of comparisons, and what moves, multiplies or adds
 * such numbers. */
bool rkb_is_whole(const rkb_program_t *program, uint32_t value);

/* Whether partial sums of whole numbers with this sum of absolute values are exact in float32, in any order. */
static inline bool rkb_sums_exactly(double hard, double absolute) {
   return hard == 0 && absolute <= 0x1p24;
}

#endif
