/* Numbers that a kernel's text contains, as elements of inputs: a kernel that is wrong only for a single value of an input mostly compares the input with this
 * value.  Owned by the inputs; read-only once they are shared. */
#ifndef RKB_TASK_PLANTED_NUMBERS_H
#define RKB_TASK_PLANTED_NUMBERS_H

#include "task/families.h"

typedef struct rkb_planted rkb_planted_t;

/* Sorts out, for each tensor that the family plants numbers in, which of these words of 32 bits are numbers of its type and of the
 * recipe's range.  NULL where there is none. */
rkb_planted_t *rkb_planted_new(const rkb_bound_t *bound, const rkb_family_entry_t *family,
                               const uint32_t *words, uint32_t count);
void rkb_planted_free(rkb_planted_t *planted);

/* Replaces half of the elements by the tensor's numbers or their neighbours, as the random bits of each element choose; draw: random bits of the
 * whole tensor.  planted may be NULL. */
void rkb_planted_put(const rkb_planted_t *planted, uint32_t tensor, uint64_t draw, uint64_t count,
                     const uint64_t *bits, double *numbers);

#endif
