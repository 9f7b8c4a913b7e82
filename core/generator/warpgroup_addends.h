/* What the sums of warpgroups are added to or multiplied by: matrices of their shape that memory has, as a residual.  Their elements are
 * loaded while the sums of the columns before are stored.  One thread writes them. */
#ifndef RKB_GENERATOR_WARPGROUP_ADDENDS_H
#define RKB_GENERATOR_WARPGROUP_ADDENDS_H

#include "generator/product_tile.h"

#define RKB_ADDEND_COLUMNS 32 /* a warp's at a time, of 16 rows */

typedef struct rkb_addends {
   uint32_t node[RKB_MOST_BESIDE], count;
   const char *name[RKB_MOST_BESIDE]; /* of the arrays that have them, two columns of a block each */
} rkb_addends_t;

/* Those of a tile that registers have room for. */
void rkb_addends_find(const rkb_writer_t *writer, const rkb_product_tile_t *tile, rkb_addends_t *addends);
/* Declares the arrays; width: elements of one access. */
void rkb_addends_declare(rkb_writer_t *writer, rkb_addends_t *addends, uint32_t width);
/* Loads 32 columns of each.  place: of the warp's first row in the tile; first: what stands before the place of the first column; slot: of the two. */
void rkb_addends_load(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_addends_t *addends,
                      uint32_t width, const char *place, const char *first, const char *slot);
/* Tells the tile's results of them. */
void rkb_addends_know(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_addends_t *addends);

#endif
