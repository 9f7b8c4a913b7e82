/* Matrices to which the sums of warpgroups are added, or by which they are multiplied: matrices of the sums'
 * shape that memory has, such as a residual.  Their elements are loaded while the sums of earlier columns are
 * stored.  One thread writes the text. */
#ifndef RKB_GENERATOR_WARPGROUP_ADDENDS_H
#define RKB_GENERATOR_WARPGROUP_ADDENDS_H

#include "generator/tile/product_tile.h"

#define RKB_ADDEND_COLUMNS 32 /* columns of 16 rows that a warp handles at a time */

typedef struct rkb_addends {
   uint32_t node[RKB_MOST_BESIDE], count;
   /* Names of the arrays that hold them, each for two columns of a block. */
   const char *name[RKB_MOST_BESIDE];
} rkb_addends_t;

/* Finds the matrices of a tile for which registers have room. */
void rkb_addends_find(const rkb_writer_t *writer, const rkb_product_tile_t *tile, rkb_addends_t *addends);
/* Declares the arrays; width: elements of one access. */
void rkb_addends_declare(rkb_writer_t *writer, rkb_addends_t *addends, uint32_t width);
/* Loads 32 columns of each matrix.  place: where the warp's first row is in the tile.  first: the text before the
 * place of the first column.  slot: which of the two blocks of columns. */
void rkb_addends_load(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_addends_t *addends,
                      uint32_t width, const char *place, const char *first, const char *slot);
/* Tells the tile's results about the matrices. */
void rkb_addends_know(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_addends_t *addends);

#endif
