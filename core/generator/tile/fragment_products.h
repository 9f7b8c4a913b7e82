/* The products of the tiles that a stage of shared memory holds: warps load fragments, split floats, and multiply.  One thread writes
 * them. */
#ifndef RKB_GENERATOR_FRAGMENT_PRODUCTS_H
#define RKB_GENERATOR_FRAGMENT_PRODUCTS_H

#include "generator/tile/product_tile.h"

/* NULL, or why a block of so many threads cannot multiply such fragments. */
const char *rkb_fragment_products_refused(const rkb_launch_t *launch, int64_t threads);
/* Multiplies the stage to which m_stage and n_stage point, and adds to the array `sums`. */
void rkb_write_stage_products(rkb_writer_t *writer, const rkb_product_tile_t *tile);

#endif
