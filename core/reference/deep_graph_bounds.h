/* Bounds of deep graphs, from evaluations that add a random error to the result of each operation. */
#ifndef RKB_REFERENCE_DEEP_GRAPH_BOUNDS_H
#define RKB_REFERENCE_DEEP_GRAPH_BOUNDS_H

#include "reference/operation.h"

/* The root mean square of a value in pass 0, and the largest of the later passes. */
typedef struct rkb_deep_bounds_size {
   double exact, noisy;
} rkb_deep_bounds_size_t;

/* In pass 0 an operation's result is exact.  In a later pass each element gets a random error of its own
 * variance.  In both cases the operations that read the result take it as exact. */
void rkb_deep_bounds_apply(const rkb_program_node_t *node, uint32_t number, uint32_t pass, uint64_t elements,
                           rkb_block_t *block, rkb_deep_bounds_size_t *size);

/* Adds to squares[i] the squared distance of element i of a noisy pass from the exact one.  Flags elements
 * that are no numbers in the noisy pass. */
void rkb_deep_bounds_gather(const rkb_block_t *exact, const rkb_block_t *noisy, uint64_t elements,
                            double *squares, uint8_t *flags);

/* Sets beyond[value] where the passes say nothing of a value: it, or one that it is computed from, is far smaller in all of them than
 * it is exactly. */
void rkb_deep_bounds_beyond(const rkb_program_t *program, const rkb_deep_bounds_size_t *sizes, bool *beyond);

/* Writes the bounds of an output after this many passes.  Where beyond is set, no element is judged. */
void rkb_deep_bounds_conclude(uint64_t elements, uint32_t passes, const double *squares, const uint8_t *flags,
                              bool beyond, rkb_block_t *exact);

#endif
