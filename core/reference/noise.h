/* Bounds of deep graphs, from evaluations that add a random error to the result of each operation. */
#ifndef RKB_REFERENCE_NOISE_H
#define RKB_REFERENCE_NOISE_H

#include "reference/operation.h"

/* In pass 0 an operation's result is exact.  In a later pass each element gets a random error of its own
 * variance.  In both cases the operations that read the result take it as exact. */
void rkb_noise_apply(const rkb_program_node_t *node, uint32_t number, uint32_t pass, uint64_t elements, rkb_block_t *block);

/* Adds to squares[i] the squared distance of element i of a noisy pass from the exact one.  Flags elements
 * that are no numbers in the noisy pass. */
void rkb_noise_gather(const rkb_block_t *exact, const rkb_block_t *noisy, uint64_t elements, double *squares, uint8_t *flags);

/* Writes the bounds of an output after this many passes. */
void rkb_noise_conclude(uint64_t elements, uint32_t passes, const double *squares, const uint8_t *flags, rkb_block_t *exact);

#endif
