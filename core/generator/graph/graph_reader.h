/* What the files that read a graph share: the reader of the reference's programs, and the nodes that it adds.
 * graph.c reads operations, graph_reductions.c those that become several nodes, graph_nodes.c adds nodes,
 * scattered_product.c finds sums that are products of matrices.  One thread while the graph is read. */
#ifndef RKB_GENERATOR_GRAPH_READER_H
#define RKB_GENERATOR_GRAPH_READER_H

#include "generator/graph/graph.h"

typedef struct rkb_graph_reader {
   rkb_graph_t *graph;
   const rkb_program_t *programs[RKB_PROBES];
   uint32_t *made; /* by the program's value: its node in the graph */
   char why[400];  /* why reading failed; empty: it has not failed */
} rkb_graph_reader_t;

/* Says why reading failed; the first reason stays.  Returns 0. */
uint32_t rkb_graph_fail(rkb_graph_reader_t *reader, const char *fmt, ...) RKB_PRINTF(2, 3);
/* Adds a node under a name that no other node has, or finds the node that computes the same. */
uint32_t rkb_graph_add(rkb_graph_reader_t *reader, const rkb_node_t *node);
/* The size that has these values in the probes; fails where no expression gives them.  what, of: name it in the message. */
uint32_t rkb_graph_find_size(rkb_graph_reader_t *reader, const int64_t at[RKB_PROBES], const char *what,
                             const char *of);
/* The size of a program value's dim; and a number of a program's node. */
uint32_t rkb_graph_size(rkb_graph_reader_t *reader, uint32_t value, uint32_t dim);
uint32_t rkb_graph_integer(rkb_graph_reader_t *reader, uint32_t node, uint32_t which);
/* Gives a node the shape of another.  The node is a step inside one operation: only values that the task's graph
 * names have narrow types. */
void rkb_graph_take_shape(rkb_node_t *node, const rkb_node_t *like);
/* Adds a single-element operation on one operand (b is RKB_NO_NODE) or two. */
uint32_t rkb_graph_map(rkb_graph_reader_t *reader, const char *operation, const char *name, uint32_t a,
                       uint32_t b);
/* Adds a reshape of node `from` to the shape of a program's value, if the shapes differ. */
uint32_t rkb_graph_reshape(rkb_graph_reader_t *reader, const char *name, uint32_t from, uint32_t value);
bool rkb_graph_is_one(const rkb_graph_t *graph, uint32_t size);

/* graph_reductions.c.  Reads a reduction, which may become several nodes.  The result has the program's shape. */
bool rkb_graph_is_reduction(const char *operation);
uint32_t rkb_graph_read_reduction(rkb_graph_reader_t *reader, uint32_t number, const char *name);
/* scattered_product.c.  If a scatter adds products of a column and a row, it equals a product of matrices: adds this product.  RKB_NO_NODE:
 * the scatter adds something else. */
uint32_t rkb_graph_scattered_product(rkb_graph_reader_t *reader, const rkb_node_t *scatter, const char *name);
/* graph_layers.c.  Reads a recurrent layer, or its gradient. */
bool rkb_graph_is_layer(const char *operation);
uint32_t rkb_graph_read_layer(rkb_graph_reader_t *reader, uint32_t number, const char *name);
/* The dims of a mask.  A dim of size 1 may be in the mask or not; both mean the same. */
uint64_t rkb_graph_mask(rkb_graph_reader_t *reader, uint32_t number);

#endif
