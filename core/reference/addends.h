/* Joins a product with its addend: y = x w + b.  One thread, while the program is built. */
#ifndef RKB_REFERENCE_ADDENDS_H
#define RKB_REFERENCE_ADDENDS_H

#include "reference/graph_program.h"

/* Makes the other operand of an addition a term of the product (a matrix product or convolution) whose result is the one operand, if
 * nothing else reads that result.  Kernels start their accumulators at a bias, so the bias passes through as many roundings as
 * the products do.  Call it after the gradients were built and before the program is pruned. */
void rkb_program_join_addends(rkb_program_t *program);

#endif
