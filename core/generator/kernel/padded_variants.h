/* Launches of products by tensor maps for cases whose factors' rows do not begin at multiples of 16 bytes: the launches that copy these
 * factors (padded_rows.h), and the entries whose maps describe the copies.  One thread for each graph. */
#ifndef RKB_GENERATOR_PADDED_VARIANTS_H
#define RKB_GENERATOR_PADDED_VARIANTS_H

#include "generator/kernel/kernel_file.h"
#include "generator/tile/padded_rows.h"

/* Whether the launch has such cases, in each order of the factors' dims, and the file has room for their tensor maps. */
bool rkb_kernel_pads(rkb_kernel_file_t *file, const rkb_launch_t *launch);
/* Appends the buffers and the launches that copy a launch's factors, where it needs copies.  many: the condition
 * under which the launch runs at all, or NULL.  False: not legal. */
bool rkb_kernel_pad_factors(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *many);
/* Whether all cases of such a launch whose factors need no copies store vectors. */
bool rkb_kernel_whole_stores(const rkb_kernel_file_t *file, const rkb_launch_t *launch, uint32_t order);
/* Appends the kernels for all cases that do not take an earlier one.  whole: bit i: the kernel for cases of order i that need no copies, and
 * store vectors, is there already.  other: there is an earlier one. */
bool rkb_kernel_padded_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, uint32_t whole,
                                const char *base, bool other);

#endif
