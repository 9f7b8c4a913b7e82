/* The bounds of a convolution that a kernel computes by minimal filtering, F(2, 3) along one dim or both (docs/numerics.md, "Transforms"). */
#ifndef RKB_REFERENCE_OPERATIONS_CONVOLUTION_FILTER_H
#define RKB_REFERENCE_OPERATIONS_CONVOLUTION_FILTER_H

#include "reference/operations/contraction.h"

/* Widens points that the convolution has computed already.  Each sum has windows of three elements along each of `spatial` dims (1 or 2) as its
 * terms, one window a channel.  index: the elements that the points are of; NULL: 0, 1, ... */
int rkb_filter_widen(rkb_reader_t *reader, const rkb_contraction_t *contraction, uint32_t spatial,
                     uint64_t count, const int64_t *index, rkb_block_t *points);

#endif
