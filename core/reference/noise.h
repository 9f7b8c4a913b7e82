/* Bounds of deep graphs, from evaluations whose operations are off by random errors. */
#ifndef RKB_REFERENCE_NOISE_H
#define RKB_REFERENCE_NOISE_H

#include "reference/operation.h"

/* In pass 0 an operation's result is exact; in a later one each element is off by a random error of its own variance.  Either way it is
 * then taken as exact by what reads it. */
void rkb_noise_apply(const rkb_program_node_t *node, uint32_t number, uint32_t pass, uint64_t elements, rkb_block_t *block);

/* Adds to squares[i] how far element i of a pass lies from the exact one, squared; flags elements that are no numbers there. */
void rkb_noise_gather(const rkb_block_t *exact, const rkb_block_t *noisy, uint64_t elements, double *squares, uint8_t *flags);

/* Writes the bounds of an output after so many passes. */
void rkb_noise_conclude(uint64_t elements, uint32_t passes, const double *squares, const uint8_t *flags, rkb_block_t *exact);

#endif
