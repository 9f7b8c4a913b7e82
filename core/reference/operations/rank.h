/* Elements of a row in the order of their size. */
#ifndef RKB_REFERENCE_OPERATIONS_RANK_H
#define RKB_REFERENCE_OPERATIONS_RANK_H

#include "reference/operation.h"

/* The first `count` elements of each row along dim, the largest first (descending) or the smallest; and, as int64, their places.  The
 * gradient of the values goes to those places. */
uint32_t rkb_make_ranked(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t count, bool descending);
uint32_t rkb_make_ranked_places(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t count,
                                bool descending);

#endif
