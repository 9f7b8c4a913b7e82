/* What backward passes of attention take from the forward pass. */
#ifndef RKB_REFERENCE_OPERATIONS_ATTENTION_GRADIENT_H
#define RKB_REFERENCE_OPERATIONS_ATTENTION_GRADIENT_H

#include "reference/operation.h"

/* Where y is the softmax's output, o = y v, and grad = g v', sum(grad y) is sum(g o).  Backward passes take that, with o as they stored
 * it (Dao et al., FlashAttention, 2022).  Returns dot = sum(grad y), with bounds for the other way if o is stored in a narrow type. */
uint32_t rkb_sum_through_mix(rkb_program_t *program, const rkb_program_node_t *softmax, uint32_t grad,
                             uint32_t dot);

#endif
