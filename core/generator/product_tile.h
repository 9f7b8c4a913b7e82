/* What all kernels that compute tiles of a product share: the two factors' sides, the block's place, the order of blocks, the parts of
 * a split sum, and what becomes of the sums.  One thread.
 *
 * The tile's columns (n) run along the output's fastest dim: for a convolution these are the reference's rows, its pixels. */
#ifndef RKB_GENERATOR_PRODUCT_TILE_H
#define RKB_GENERATOR_PRODUCT_TILE_H

#include "generator/launch_text.h"
#include "generator/product.h"

/* One factor of the product, as a block brings it. */
typedef struct rkb_tile_side {
   uint32_t which; /* the factor: 0 left, 1 right */
   const rkb_product_dims_t *dims;
   bool channels_last; /* the first of the product's row dims is the last of dims */
   const char *tile, *brought; /* names of the tile in shared memory, and of what a thread holds until it puts it there */
   const char *variable;       /* "m" or "n" */
   const rkb_index_t *total;
   const char *end; /* where the tile's rows end, of rows that are listed; NULL: at total */
   int64_t extent;  /* of the tile */
   bool depth_fast; /* neighbours along depth lie side by side in memory */
   uint32_t width;  /* elements of one access */
   /* Of tensor tiles: */
   bool raw;         /* elements go to shared memory as they are stored: no arithmetic */
   bool async;       /* by cp.async */
   bool held;        /* a thread holds its share in registers while the terms before are multiplied; else it puts each element at once */
   bool rows_across; /* the tile's rows in shared memory run along depth; else a row is one term of all */
} rkb_tile_side_t;

#define RKB_MOST_BESIDE 3u

/* An element of another node at the results' places, which the text has loaded. */
typedef struct rkb_beside {
   uint32_t node;
   const char *text;
} rkb_beside_t;

typedef struct rkb_product_tile {
   const rkb_launch_t *launch;
   rkb_product_t product;
   rkb_tile_side_t m, n;
   int64_t threads, depth;
   rkb_product_dims_t rows;  /* of a weight's gradient whose channels come last */
   rkb_product_dims_t terms; /* of a convolution whose terms are numbered tap by tap: depth's dims, channels last; else none */
   bool listed;               /* m are places in a list of rows that pick one matrix each (lists.h) */
   const rkb_index_t *leader; /* the first row of the tile at hand: all its rows have this one's matrix */
   const char *block; /* the number of the tile in the whole grid's order: the block's, where a block has one tile */
   const rkb_index_t *number; /* of the product, of several side by side; a constant: there is one */
   const rkb_index_t *group[RKB_MAX_RANK];
   const rkb_index_t *total_depth, *blocks_m, *blocks_n;
   /* Where the terms brought at a time are of one tap: the taps' dims.  total_depth is the channels' number then. */
   rkb_product_dims_t taps;
   const rkb_index_t *tap[RKB_PRODUCT_DIMS]; /* the tap that the terms at hand are of */
   rkb_beside_t beside[RKB_MOST_BESIDE];
   uint32_t beside_count;
} rkb_product_tile_t;

/* The product of the launch's first anchor and its sides, with accesses of single elements. */
void rkb_tile_open(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_product_tile_t *tile);
/* Numbers the terms of a convolution tap by tap, whatever the weight's order: the channels of one tap follow each other. */
void rkb_tile_number_by_taps(rkb_writer_t *writer, rkb_product_tile_t *tile);
/* Writes the block's place: m_first, n_first, begin, end, and part of a split sum.  rows: how many rows of blocks follow each other
 * column by column, so that blocks that run together share both factors; 0: all. */
void rkb_tile_place(rkb_writer_t *writer, rkb_product_tile_t *tile, int64_t rows);
/* Where terms are of taps, they are counted, which is cheaper than divisions: writes the counters and the lambda `next_terms`, before the lambdas
 * that bring terms. */
void rkb_tile_begin_terms(rkb_writer_t *writer, const rkb_product_tile_t *tile);
/* Writes from which number on the terms at hand come, `k_first`, and their tap. */
void rkb_tile_terms(rkb_writer_t *writer, const rkb_product_tile_t *tile);
/* Goes on to the next terms, after all that this step brings. */
void rkb_tile_next_terms(rkb_writer_t *writer, const rkb_product_tile_t *tile);
/* Finds out along which dim a side lies in memory. */
void rkb_tile_look(rkb_writer_t *writer, rkb_product_tile_t *tile, rkb_tile_side_t *side);
/* The row at a place of m, where rows are listed: a variable of the innermost block from here on.  Places past the tile's end are those of
 * the last row. */
const rkb_index_t *rkb_tile_listed_row(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_index_t *place);
/* Coordinates of a side's element in its factor; as rkb_product_operand. */
const char *rkb_tile_operand(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                             const rkb_tile_side_t *side, const rkb_index_t *across, const rkb_index_t *depth,
                             const rkb_index_t **at);
/* Brings a sum to memory, or a part of it, where m and n are inside: the variables m and n are declared.  sum has the value, in which
 * "lane" is the number in a vector of width elements along n.  write_roots false: the sum is a part. */
void rkb_tile_result(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_launch_t *launch,
                     uint32_t width, const char *sum);
/* How many tiles of so many elements lie along so many: a uniform expression. */
const rkb_index_t *rkb_tiles_along(rkb_writer_t *writer, const rkb_index_t *total, int64_t extent);
/* Finds out how many tiles lie along each side, for rkb_tile_count before a place is written. */
void rkb_tile_count_blocks(rkb_writer_t *writer, rkb_product_tile_t *tile);
/* How many tiles there are, parts of split sums counted apart: a uniform expression. */
const rkb_index_t *rkb_tile_count(rkb_writer_t *writer, const rkb_product_tile_t *tile);
/* The grid, and what a block owns. */
void rkb_tile_shape(rkb_writer_t *writer, const rkb_product_tile_t *tile, const char *owns,
                    rkb_kernel_shape_t *shape);

#endif
