/* Conditions under which small cases run the launches of large ones.
 *
 * The checking machine executes a launch whole only in small cases.  Some launches would run in bench cases alone, which are too large to
 * be executed whole.  If no cheap case has such a launch, a few of the smallest cases run it too.  The launch is right for any size, and the
 * smallest cases take next to no time.  Slightly larger cases run the kernel that suits them.  One thread a graph. */
#ifndef RKB_GENERATOR_SMALL_CASE_CONDITIONS_H
#define RKB_GENERATOR_SMALL_CASE_CONDITIONS_H

#include "generator/kernel/kernel_file.h"

#define RKB_INT_MOST                                                                                         \
   2147000000.0 /* elements: a little less than 2^31 - 1, because the last block's threads count past the end */

/* A further condition of a launch with indices of 32 bits, which also requires that it has few enough elements; NULL: none.  Where a bench
 * case needs indices of 64 bits, the smallest cases run the launch with 64 bits too. */
const char *rkb_reach_wide(rkb_kernel_file_t *file, const char *elements);
/* A further condition of a launch that keeps rows, which also requires that the rows are not too long; NULL: none.  Shorter rows run the
 * launch of longer rows where two things hold: a bench case has longer rows, and every case with a longer row is expensive.  It is expensive
 * if it has many rows (the scores of attention) or large products (the images of a batch norm). */
const char *rkb_reach_longer(rkb_kernel_file_t *file, const rkb_variant_t *variant,
                             const rkb_kernel_shape_t *shape);
/* The fewest multiply-adds for which a product takes its launch for few multiply-adds; 0: any number.  A product with still fewer takes the
 * launch for many, where a bench case needs indices of 64 bits for that launch. */
int64_t rkb_reach_many(rkb_kernel_file_t *file, const rkb_launch_t *launch);

#endif
