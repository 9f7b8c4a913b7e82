/* Linear recurrences along one dim, as state-space models have them. */
#ifndef RKB_REFERENCE_OPERATIONS_RECURRENCE_H
#define RKB_REFERENCE_OPERATIONS_RECURRENCE_H

#include "reference/operation.h"

/* h[i] = factor[i] h[i - 1] + addend[i] along dim, from h[-1] = 0.  Both have one shape. */
uint32_t rkb_make_recurrence(rkb_program_t *program, uint32_t factor, uint32_t addend, uint32_t dim);

#endif
