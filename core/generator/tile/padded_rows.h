/* Factors of products whose rows do not begin at multiples of 16 bytes, which tensor maps need.  A launch before the product copies such a
 * factor: each row of the copy begins at such a multiple.  The kernel of the product is the same.  One thread. */
#ifndef RKB_GENERATOR_PADDED_ROWS_H
#define RKB_GENERATOR_PADDED_ROWS_H

#include "generator/text/launch_text.h"

/* One factor. */
typedef struct rkb_padded_side {
   bool applies;    /* cases may need the copy */
   uint32_t stored; /* the node whose buffer is copied */
   /* The condition under which no copy is needed: a row has a multiple of so many elements. */
   rkb_condition_t whole;
   const char *name; /* of the copy's buffer */
} rkb_padded_side_t;

typedef struct rkb_padding {
   rkb_padded_side_t sides[2]; /* m and n */
} rkb_padding_t;

/* Finds which factors of a launch by tensor maps are copied, where the factors' dims have one order (conditions of rkb_staging_layout).  False: none is,
 * or the launch has other factors than matrices of whole rows. */
bool rkb_padding_of(rkb_graph_t *graph, rkb_arena_t *arena, const rkb_storage_t *storage,
                    const rkb_launch_t *launch, const rkb_condition_t *order, uint32_t order_count,
                    rkb_padding_t *padding);
/* Write the launches that copy the rows of m's and n's factor. */
void rkb_write_padded_m_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
void rkb_write_padded_n_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);

#endif
