/* Joins a product with its addend: y = x w + b.  One thread, while the program is built. */
#ifndef RKB_REFERENCE_REWRITES_FUSED_ADDENDS_H
#define RKB_REFERENCE_REWRITES_FUSED_ADDENDS_H

#include "reference/graph_program.h"

/* Finds additions of which one operand is the result of a product (a matrix product or convolution), and
 * makes the other operand a term of that product, if nothing else reads the result.  Kernels start their
 * accumulators at a bias, so the bias passes through as many roundings as the products do.  Call it after the
 * gradients were built and before the program is pruned. */
void rkb_program_join_addends(rkb_program_t *program);

#endif
