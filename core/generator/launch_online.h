/* Launches that go over a matrix of scores without storing it; launch_online.c says how.  One thread. */
#ifndef RKB_GENERATOR_LAUNCH_ONLINE_H
#define RKB_GENERATOR_LAUNCH_ONLINE_H

#include "generator/launch_text.h"
#include "generator/product.h"

#define RKB_ONLINE_HEADS 4u

/* What the anchors of such a launch are to each other. */
typedef struct rkb_online_nodes {
   uint32_t scores[8], score_count;   /* products of rows with rows */
   uint32_t reduces[8], reduce_count; /* statistics of rows of what becomes of the scores; in the graph's order */
   uint32_t outs[8], out_count;       /* products of what becomes of the scores with other rows */
   uint32_t made_side[8];             /* which operand of an out is made of the scores */
} rkb_online_nodes_t;

/* False: the anchors are no such launch. */
bool rkb_online_nodes(const rkb_graph_t *graph, const rkb_launch_t *launch, rkb_online_nodes_t *nodes);
/* The lengths of rows that are multiplied, ascending, where one size has a few; each gets a kernel.  size: that size, UINT32_MAX where
 * all are constants (the answer is 1).  0: there are too many, or more than one such size. */
uint32_t rkb_online_heads(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t *size, int64_t heads[RKB_ONLINE_HEADS]);

void rkb_write_online_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);

#endif
