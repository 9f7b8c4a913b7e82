/* Pooling over 1 to 3 spatial dims of [N, C, i...]. */
#ifndef RKB_REFERENCE_OPERATIONS_POOL_H
#define RKB_REFERENCE_OPERATIONS_POOL_H

#include "reference/operations/product.h"

typedef struct rkb_pool {
   rkb_window_t window; /* groups 1 */
   int64_t kernel[RKB_MAX_SPATIAL];
   bool ceil_mode, count_padding; /* count_padding: padding counts in an average */
} rkb_pool_t;

uint32_t rkb_make_max_pool(rkb_program_t *program, uint32_t x, const rkb_pool_t *pool);
uint32_t rkb_make_average_pool(rkb_program_t *program, uint32_t x, const rkb_pool_t *pool);

#endif
