/* Reverse-mode differentiation of a program.  One thread. */
#ifndef RKB_REFERENCE_REWRITES_GRADIENT_H
#define RKB_REFERENCE_REWRITES_GRADIENT_H

#include "reference/graph_program.h"

/* Appends the backward pass to the program.  seeds[i] is the gradient of values[i], for count values.  For each of the input_count
 * inputs, gradients receives the value that holds its gradient; it is a zero where no gradient flows. */
void rkb_gradient_build(rkb_program_t *program, const uint32_t *values, const uint32_t *seeds, uint32_t count,
                        const uint32_t *inputs, uint32_t *gradients, uint32_t input_count);

#endif
