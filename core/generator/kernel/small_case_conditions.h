/* Conditions under which small cases run the launches of large ones.
 *
 * The checking machine executes a launch whole only in small cases.  Some launches would run in bench cases alone, which are too large for
 * that.  If no cheap case has such a launch, a few of the smallest cases run it too: it is right for any size, and they take no time to speak
 * of.  Slightly larger cases run the kernel that suits them.  One thread a graph. */
#ifndef RKB_GENERATOR_SMALL_CASE_CONDITIONS_H
#define RKB_GENERATOR_SMALL_CASE_CONDITIONS_H

#include "generator/kernel/kernel_file.h"

#define RKB_INT_MOST                                                                                         \
   2147000000.0 /* elements: a little less than 2^31 - 1, because the last block's threads count past the end */

/* The condition of a launch with indices of 32 bits, beside that it has few enough elements; NULL: none.  Smaller cases have those
 * of 64 bits, where a bench case needs them. */
const char *rkb_reach_wide(rkb_kernel_file_t *file, const char *elements);
/* The condition of a launch that keeps rows, beside that they are not too long; NULL: none.  Shorter rows have the launch of longer ones,
 * where a bench case has such rows, and every case with one has many (the scores of attention) or large products (the images of a batch norm). */
const char *rkb_reach_longer(rkb_kernel_file_t *file, const rkb_variant_t *variant,
                             const rkb_kernel_shape_t *shape);
/* The fewest multiply-adds for which a product has a launch of its own for few; 0: any.  With still fewer it has the launch of many, where a
 * bench case needs indices of 64 bits for that. */
int64_t rkb_reach_many(rkb_kernel_file_t *file, const rkb_launch_t *launch);

#endif
