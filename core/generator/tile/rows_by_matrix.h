/* Rows that each pick a matrix: out[m, n] = sum over k of weight[pick[m], n, k] * x[m, k].  The rows are
 * listed by matrix, so that rows of one matrix share tiles of a product.
 *
 * Two buffers hold the lists, and are named after the product (NODE).  `NODE_rows` has the rows' numbers, matrix
 * after matrix, ascending within each.  `NODE_lists` says for each tile where it begins in `NODE_rows` and where
 * it ends.  Tiles that no matrix needs are empty.
 *
 * The matrices' gradient has sums over such rows: out[e, n, k] = sum over m with pick[m] = e of left[m, n] * right[m, k].  There the rows
 * are terms.  `NODE_lists` says for each e where its terms are, and a block goes over these terms alone.  One thread. */
#ifndef RKB_GENERATOR_ROWS_BY_MATRIX_H
#define RKB_GENERATOR_ROWS_BY_MATRIX_H

#include "generator/text/launch_text.h"

/* Looks at products of single rows or columns side by side, for which a tensor has one number each, and finds the
 * gather that picks their matrices.  *side: which factor the gather brings (0: left, 1: right).  RKB_NO_NODE: the
 * product has another form, or there may be more matrices than a block can count. */
uint32_t rkb_rows_by_matrix_pick(const rkb_graph_t *graph, uint32_t product, uint32_t *side);
/* If a product's left factor is zero at the terms that pick another matrix: finds this factor without its zeros.  RKB_NO_NODE: it is not, or
 * there may be more matrices than a block can count. */
uint32_t rkb_rows_by_matrix_put(const rkb_graph_t *graph, uint32_t product);
/* Whether a product has rows or terms that each pick a matrix. */
bool rkb_rows_by_matrix_apply(const rkb_graph_t *graph, uint32_t product);
const char *rkb_rows_by_matrix_rows_name(const rkb_writer_t *writer, uint32_t product);
const char *rkb_rows_by_matrix_name(const rkb_writer_t *writer, uint32_t product);
/* How many rows or terms are listed: a uniform expression. */
const rkb_index_t *rkb_rows_by_matrix_rows(rkb_writer_t *writer, uint32_t product);
/* Where rows are listed: the largest number of tiles of so many rows; where terms are: the number of matrices.  A uniform expression. */
const rkb_index_t *rkb_rows_by_matrix_tiles(rkb_writer_t *writer, uint32_t product, int64_t tile);
/* The row at a place of the list: a variable of the innermost block from here on.  place: the text of its number. */
const rkb_index_t *rkb_rows_by_matrix_row(rkb_writer_t *writer, uint32_t product, const char *place);
/* The launch that makes the lists, for tiles of decisions[RKB_TILE_M] rows. */
void rkb_write_rows_by_matrix_kernel(rkb_writer_t *writer, const rkb_launch_t *launch,
                                     rkb_kernel_shape_t *shape);

#endif
