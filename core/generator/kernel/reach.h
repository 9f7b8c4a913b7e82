/* Conditions by which small cases have the launches of large ones.
 *
 * A launch that only bench cases have is executed whole nowhere, since they are too large, and the checking machine knows little of it.  So
 * where no case that is cheap has one, a few of the smallest cases are given it: it is right for any size, and what it costs there is
 * nothing.  The kernel that suits them runs from a little larger sizes on.  One thread a graph. */
#ifndef RKB_GENERATOR_REACH_H
#define RKB_GENERATOR_REACH_H

#include "generator/kernel/kernel_file.h"

#define RKB_INT_MOST                                                                                         \
   2147000000.0 /* elements: a little less than 2^31 - 1, because the last block's threads count past the end */

/* The condition of a launch with indices of 32 bits, beside that it has few enough elements; NULL: none.  Smaller cases have those
 * of 64 bits, where a bench case needs them. */
const char *rkb_reach_wide(rkb_kernel_file_t *file, const char *elements);
/* The condition of a launch that keeps rows, beside that they are not too long; NULL: none.  Shorter rows have the launch of longer ones,
 * where a bench case has such rows, and every case with one has many (the scores of attention). */
const char *rkb_reach_longer(rkb_kernel_file_t *file, const rkb_variant_t *variant,
                             const rkb_kernel_shape_t *shape);
/* The fewest multiply-adds for which a product has a launch of its own for few; 0: any.  With still fewer it has the launch of many, where a
 * bench case needs indices of 64 bits for that. */
int64_t rkb_reach_many(rkb_kernel_file_t *file, const rkb_launch_t *launch);

#endif
