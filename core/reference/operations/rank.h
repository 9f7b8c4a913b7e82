/* Elements of a row in the order of their size. */
#ifndef RKB_REFERENCE_OPERATIONS_RANK_H
#define RKB_REFERENCE_OPERATIONS_RANK_H

#include "reference/operation.h"
#include "reference/operations/ranked_row.h"

/* The first `count` elements of each row along dim, the largest first (descending) or the smallest; and, as int64, their places.  The
 * gradient of the values goes to those places.  stable: equal elements keep their order. */
uint32_t rkb_make_ranked(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t count, bool descending,
                         bool stable);
uint32_t rkb_make_ranked_places(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t count,
                                bool descending, bool stable);

/* Whether the node gives places in rows of its operand (ranked_places, argmax, argmin): in which order a row stands, and the mask of the
 * dims that run inside a row. */
bool rkb_chooses_places(const rkb_program_node_t *node, rkb_row_order_t *order, uint64_t *mask);

#endif
