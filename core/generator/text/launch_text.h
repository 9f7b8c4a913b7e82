/* Kernels of each mapping.  Each function writes the whole body of a kernel and says how it is launched.  One
 * thread. */
#ifndef RKB_GENERATOR_LAUNCH_TEXT_H
#define RKB_GENERATOR_LAUNCH_TEXT_H

#include "generator/graph/schedule.h"
#include "generator/text/writer.h"

typedef struct rkb_launch_text_parts {
   const char *grid; /* an expression of the manifest, in blocks */
   int64_t threads;  /* of a block */
   int64_t shared;   /* bytes of dynamic shared memory */
   int64_t cluster;  /* blocks of a cluster; 0 or 1: no clusters */
   int64_t blocks;   /* blocks wanted on a multiprocessor; 0: no wish */
   const char *when; /* further conditions, in addition to sizes that are multiples of numbers; NULL: none */
   const char *row, *rows; /* if rows are kept: the elements of a row, and how many rows there are; else NULL */
   int64_t most_row;       /* elements of the longest row that is kept */
   const char *owns; /* the comment: what a block or thread owns */
} rkb_kernel_shape_t;

/* part: the buffer for the parts of a split reduction; NULL: it is not split. */
void rkb_write_element_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
void rkb_write_row_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
/* ELEMENT with the decision `window`. */
void rkb_write_window_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
/* ELEMENT with the decision `strip`; the window has one size in the variant's cases. */
void rkb_write_strip_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
void rkb_write_column_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
void rkb_write_tile_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
/* The lines of a node along a dim: how many there are, and the coordinates of a place in one. */
const rkb_index_t *rkb_line_count(rkb_writer_t *writer, const rkb_node_t *node, uint32_t dim);
void rkb_line_at(rkb_writer_t *writer, const rkb_node_t *node, uint32_t dim, const rkb_index_t *line, const rkb_index_t *place,
                 const rkb_index_t **at);
void rkb_write_rank_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
/* RANK with the decision `keep`. */
void rkb_write_rank_kept_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
void rkb_recurrence_helpers(const char *code, rkb_text_t *out);
void rkb_rank_helpers(const char *code, rkb_text_t *out);
void rkb_rank_kept_helpers(const char *code, rkb_text_t *out);
/* A recurrent layer or its gradient. */
void rkb_write_layer_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
void rkb_write_scan_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
/* The two launches of a scattered sum: the first makes links, the second adds along them.  The links' buffers
 * are called NODE_first and NODE_next. */
void rkb_write_link_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
void rkb_write_linked_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
/* Whether a scatter's picks may differ along a dim. */
bool rkb_scatter_varies(const rkb_graph_t *graph, uint32_t scatter, uint32_t dim);
/* Returns the launch that computes a product of few multiply-adds with a warp for each element, in place of
 * one by tiles. */
rkb_launch_t rkb_small_launch(const rkb_launch_t *launch);
/* The second launch of a split reduction: adds the parts in order and writes the roots. */
void rkb_write_finish_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);
/* The second launch of sums over stretches of rows: adds the blocks' sums. */
void rkb_write_stretches_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);

/* The sizes that must be multiples of the vector's width; returns how many there are.  0: this launch has no
 * vectors. */
#define RKB_VECTOR_SIZES 8u
uint32_t rkb_vector_sizes(const rkb_graph_t *graph, const rkb_launch_t *launch,
                          uint32_t sizes[RKB_VECTOR_SIZES]);
/* Into how many equal parts the first of these sizes is divided, each a multiple of the width: 1, or the places that one thread owns in a
 * row. */
int64_t rkb_parts_of_row(const rkb_launch_t *launch);
/* The name of a split anchor's buffer of parts. */
const char *rkb_parts_name(const rkb_writer_t *writer, uint32_t anchor);
/* Whether a name is that of a split anchor's buffer of parts.  Makes no text, because it is called for each node of a graph and each
 * parameter of a kernel. */
bool rkb_is_parts_name(const rkb_writer_t *writer, uint32_t anchor, const char *name);
/* The name of the buffer that says how many elements each part of a split mean has. */
const char *rkb_counts_name(const rkb_writer_t *writer, uint32_t anchor);

/* Writes the roots of a launch at the coordinates of a node whose value is known, or of an element of the first root.  from: the node to
 * which the coordinates `at` belong. */
void rkb_write_roots(rkb_writer_t *writer, const rkb_launch_t *launch, uint32_t from,
                     const rkb_index_t *const *at);
/* Opens the loop over the lanes of a vector, with writer->lane as its variable; for a width of 1 there is no
 * loop. */
const rkb_index_t *rkb_open_lanes(rkb_writer_t *writer, uint32_t width);
void rkb_close_lanes(rkb_writer_t *writer);
/* Rows of a launch's reductions, or their elements, as uniform expressions of the shape and the mask. */
const rkb_index_t *rkb_reduced_elements(rkb_writer_t *writer, const rkb_node_t *reduce, bool kept);
/* Refuses a split where a part's share is the same number in all samples, although the length of the whole
 * differs between them: the samples may contain no whole that is long enough to change the share. */
void rkb_check_share(rkb_writer_t *writer, const rkb_index_t *share, const rkb_index_t *whole);
const char *rkb_ceildiv(rkb_writer_t *writer, const rkb_index_t *extent, int64_t by);

#endif
