/* Tensors that have one number for each row. */
#ifndef RKB_GENERATOR_GRAPH_PICKED_ROWS_H
#define RKB_GENERATOR_GRAPH_PICKED_ROWS_H

#include "generator/graph/graph.h"

/* Numbers up to which the rows of each can be listed by one block. */
#define RKB_MOST_PICKED 1024

/* If a value depends on its coordinate in `dim` (of so many rows) alone: the input of rank 1 from which it comes.  RKB_NO_NODE: there is
 * none. */
uint32_t rkb_picked_rows(const rkb_graph_t *graph, uint32_t node, uint32_t dim, uint32_t rows);

#endif
