/* What all kernels that compute tiles of a product share: the sides of the two factors, the block's place,
 * the order of blocks, the parts of a split sum, and what is done with the sums.  One thread.
 *
 * The tile's columns (n) run along the output's fastest dim.  For a convolution these are the reference's
 * rows, which are its pixels. */
#ifndef RKB_GENERATOR_PRODUCT_TILE_H
#define RKB_GENERATOR_PRODUCT_TILE_H

#include "generator/text/launch_text.h"
#include "generator/text/product_index.h"

/* One factor of the product, as a block copies it. */
typedef struct rkb_tile_side {
   uint32_t which; /* the factor: 0 left, 1 right */
   const rkb_product_dims_t *dims;
   bool channels_last; /* the first of the product's row dims is the last of dims */
   /* Names of the tile in shared memory, and of the variable in which a thread holds elements before it
    * stores them there. */
   const char *tile, *brought;
   const char *variable;       /* "m" or "n" */
   const rkb_index_t *total;
   const char *end; /* where the tile's rows end, if rows are listed; NULL: at total */
   int64_t extent;  /* of the tile */
   bool depth_fast; /* neighbours along depth lie side by side in memory */
   uint32_t width;  /* elements of one access */
   /* Of tensor tiles: */
   bool raw;         /* elements go to shared memory as memory has them, without arithmetic */
   bool async;       /* by cp.async */
   /* A thread holds its share in registers while the terms before are multiplied; else it stores each element
    * in shared memory at once. */
   bool held;
   /* The tile's rows in shared memory run along depth; else each row has one term of all the tile's rows. */
   bool rows_across;
} rkb_tile_side_t;

#define RKB_MOST_BESIDE 3u

/* Another node's element at the places of the results, which the text has loaded already. */
typedef struct rkb_beside {
   uint32_t node;
   const char *text;
} rkb_beside_t;

typedef struct rkb_product_tile {
   const rkb_launch_t *launch;
   rkb_product_t product;
   rkb_tile_side_t m, n;
   int64_t threads, depth;
   rkb_product_dims_t rows; /* the row dims of a weight's gradient whose channels are last in memory */
   /* For a convolution whose terms are numbered tap by tap: depth's dims, channels last; else none. */
   rkb_product_dims_t terms;
   bool listed; /* m counts places in a list of rows that each pick one matrix (rows_by_matrix.h) */
   bool lists_terms;          /* depth counts places in a list of terms that each pick one matrix */
   uint32_t factor[2];        /* the factors' nodes; where terms are listed, the left factor before zeros are put in */
   const rkb_index_t *leader; /* the first row of the current tile, whose matrix all its rows share */
   /* The number of the tile in the order of the whole grid; where a block has one tile, the block's
    * number. */
   const char *block;
   /* The product's number among several side by side; a constant where there is one. */
   const rkb_index_t *number;
   const rkb_index_t *group[RKB_MAX_RANK];
   const rkb_index_t *total_depth, *blocks_m, *blocks_n;
   /* Where the terms of a step belong to one tap: the taps' dims.  total_depth is then the number of
    * channels. */
   rkb_product_dims_t taps;
   const rkb_index_t *tap[RKB_PRODUCT_DIMS]; /* the tap to which the current terms belong */
   /* Of warpgroups: factors whose rows do not begin at multiples of 16 bytes are read from copies
    * (padded_rows.h). */
   bool pads;
   /* The variables channel, tap_right and tap_down tell of the current terms (pixel_map.h). */
   bool counts_taps;
   rkb_beside_t beside[RKB_MOST_BESIDE];
   uint32_t beside_count;
} rkb_product_tile_t;

/* Opens the product of the launch's first anchor and its sides, with accesses of single elements. */
void rkb_tile_open(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_product_tile_t *tile);
/* Numbers the terms of a convolution tap by tap, whatever the weight's order, so that the channels of one tap
 * follow each other. */
void rkb_tile_number_by_taps(rkb_writer_t *writer, rkb_product_tile_t *tile);
/* Writes the block's place: m_first, n_first, begin, end, and the part of a split sum.  rows: so many rows of
 * blocks follow each other column by column, so that blocks that run at the same time share both factors; 0: all
 * rows. */
void rkb_tile_place(rkb_writer_t *writer, rkb_product_tile_t *tile, int64_t rows);
/* Where steps belong to taps, counters replace divisions, which cost more.  Writes the counters and the
 * lambda `next_terms`, before the lambdas that copy terms. */
void rkb_tile_begin_terms(rkb_writer_t *writer, const rkb_product_tile_t *tile);
/* Writes the number of the current step's first term, `k_first`, and the tap of these terms. */
void rkb_tile_terms(rkb_writer_t *writer, const rkb_product_tile_t *tile);
/* Advances to the next terms, after everything that this step copies. */
void rkb_tile_next_terms(rkb_writer_t *writer, const rkb_product_tile_t *tile);
/* Finds out along which dim a side's neighbours lie in memory. */
void rkb_tile_look(rkb_writer_t *writer, rkb_product_tile_t *tile, rkb_tile_side_t *side);
/* Where rows are listed, the row at a place of m; where terms are listed, the row at a place of depth.  From here
 * on it is a variable of the innermost block.  Places after the end stand for the last row. */
const rkb_index_t *rkb_tile_listed_row(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_index_t *place);
/* The coordinates of a side's element in its factor, as rkb_product_operand gives them. */
const char *rkb_tile_operand(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                             const rkb_tile_side_t *side, const rkb_index_t *across, const rkb_index_t *depth,
                             const rkb_index_t **at);
/* Stores a sum, or a part of a sum, where m and n are inside the output.  The text has declared the variables m
 * and n.  sum: the text of the value; in it "lane" is the number in a vector of width elements along n.
 * write_roots false: the sum is a part. */
void rkb_tile_result(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_launch_t *launch,
                     uint32_t width, const char *sum);
/* How many tiles of `extent` elements cover `total` elements: a uniform expression. */
const rkb_index_t *rkb_tiles_along(rkb_writer_t *writer, const rkb_index_t *total, int64_t extent);
/* Finds out how many tiles lie along each side, for rkb_tile_count before a place is written. */
void rkb_tile_count_blocks(rkb_writer_t *writer, rkb_product_tile_t *tile);
/* How many tiles there are, each part of a split sum counted as a tile: a uniform expression. */
const rkb_index_t *rkb_tile_count(rkb_writer_t *writer, const rkb_product_tile_t *tile);
/* Sets the grid, and says what a block owns. */
void rkb_tile_shape(rkb_writer_t *writer, const rkb_product_tile_t *tile, const char *owns,
                    rkb_kernel_shape_t *shape);

#endif
