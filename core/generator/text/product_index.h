/* Matrix products and convolutions in one form: out[group, row, column] = sum over depth of left[group, row,
 * depth] * right[group, column, depth].  Each of the four consists of a few dims.  One thread. */
#ifndef RKB_GENERATOR_PRODUCT_INDEX_H
#define RKB_GENERATOR_PRODUCT_INDEX_H

#include "generator/text/writer.h"

#define RKB_PRODUCT_DIMS 6u

typedef struct rkb_product_dims {
   uint32_t count;
   const rkb_index_t *extent[RKB_PRODUCT_DIMS];
   const char *name[RKB_PRODUCT_DIMS];
   const rkb_index_t *total;
} rkb_product_dims_t;

typedef struct rkb_product {
   uint32_t node;
   rkb_product_dims_t group, row, column, depth;
   bool in_phases; /* a convolution's input gradient with a stride: see rkb_product_in_phases */
} rkb_product_t;

/* Returns the dim of a product's output along which neighbours are also neighbours in a root, even if the root
 * permutes the dims. */
uint32_t rkb_product_fast_dim(const rkb_graph_t *graph, uint32_t product, uint32_t root);
/* Whether the output's rows, and not its columns, are neighbours in memory.  In a convolution the neighbours are
 * pixels, unless channels come last. */
bool rkb_product_is_turned(const rkb_graph_t *graph, uint32_t product, uint32_t root);
/* The number of an output's element among the parts of a split sum, and its coordinates from this number; the
 * fast dim comes last. */
const rkb_index_t *rkb_product_join(rkb_writer_t *writer, uint32_t product, uint32_t root, const rkb_index_t *const *at);
void rkb_product_unjoin(rkb_writer_t *writer, uint32_t product, uint32_t root, const rkb_index_t *number, const rkb_index_t **at);
/* Whether the product's terms are channels of a window's taps: then the first of depth's dims are the
 * channels. */
bool rkb_product_has_taps(const rkb_node_t *node);
void rkb_product_of(rkb_writer_t *writer, uint32_t node, rkb_product_t *product);
/* In the input gradient of a convolution with a stride, only some taps see a place: those that fit its phase,
 * which is its remainder by the stride in each dim.  So the places of one phase can be a product of their own.
 * Its taps are a stride apart, and it has no terms that are zero for every place.  The phases become products
 * side by side.  False: the conditions do not say what the stride is, or not that it divides the sizes; nothing
 * changes. */
bool rkb_product_in_phases(rkb_writer_t *writer, rkb_product_t *product);
/* For a product in phases, along a dim: the first tap that sees a place of the present phase; and the distance
 * from the place's number in its phase to the pixel that sees the place through this tap. */
const rkb_index_t *rkb_product_first_tap(rkb_writer_t *writer, const rkb_product_t *product, const rkb_index_t *const *group, uint32_t dim);
const rkb_index_t *rkb_product_phase_shift(rkb_writer_t *writer, const rkb_product_t *product, const rkb_index_t *const *group, uint32_t dim);
/* How many taps of the window see the place: at most as many as the product's depth has. */
const rkb_index_t *rkb_product_phase_taps(rkb_writer_t *writer, const rkb_product_t *product, const rkb_index_t *const *group, uint32_t dim);
/* Divides a number among dims, the last the fastest. */
void rkb_product_split(rkb_writer_t *writer, const rkb_product_dims_t *dims, const rkb_index_t *number,
                       const rkb_index_t **at);
/* Where a factor (0: left, 1: right) is in memory.  across: coordinates of row for the left one, of column
 * for the right one.  Returns a condition under which the place exists, or NULL: it always does. */
const char *rkb_product_operand(rkb_writer_t *writer, const rkb_product_t *product, uint32_t side,
                                const rkb_index_t *const *group, const rkb_index_t *const *across,
                                const rkb_index_t *const *depth, const rkb_index_t **at);
/* The output's coordinates from its group, row and column; and these from the coordinates. */
void rkb_product_output(rkb_writer_t *writer, const rkb_product_t *product, const rkb_index_t *const *group,
                        const rkb_index_t *const *row, const rkb_index_t *const *column,
                        const rkb_index_t **at);
void rkb_product_place(rkb_writer_t *writer, const rkb_product_t *product, const rkb_index_t *const *at,
                       const rkb_index_t **group, const rkb_index_t **row, const rkb_index_t **column);

#endif
