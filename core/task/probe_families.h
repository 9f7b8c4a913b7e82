/* Families that probe the factors of matrix products and convolutions (docs/numerics.md, 'Probes').  One thread, while the
 * case is bound. */
#ifndef RKB_TASK_PROBE_FAMILIES_H
#define RKB_TASK_PROBE_FAMILIES_H

#include "task/families.h"

/* Adds two probes for each factor of a matrix product or convolution: exact sums of integers, where the graph
 * keeps them exact, and full mantissas against a few powers of two. */
bool rkb_probe_families_add(rkb_bound_t *bound);
/* The task tensor that a value is, seen through operations that only move elements; UINT32_MAX when the value is
 * computed. */
uint32_t rkb_tensor_behind(const rkb_program_t *program, uint32_t value);
/* Whether roundings of a product's results are equal, so that a later sum adds them up instead of averaging them out, which the statistical
 * bound relies on.  A factor of ones only gives rows of equal values.  A gathered factor with more elements than the tensor that they come
 * from has some of its rows several times, such as keys and values in pages of a cache. */
bool rkb_product_roundings_agree(rkb_bound_t *bound);

#endif
