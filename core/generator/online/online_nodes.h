/* Which role each anchor of a launch over scores has.  Pure functions of a graph. */
#ifndef RKB_GENERATOR_ONLINE_NODES_H
#define RKB_GENERATOR_ONLINE_NODES_H

#include "generator/graph/schedule.h"

#define RKB_ONLINE_HEADS 4u
#define RKB_ONLINE_MANY 8u

typedef struct rkb_online_nodes {
   uint32_t scores[RKB_ONLINE_MANY], score_count;   /* products of rows with rows */
   /* Statistics of rows of scores, or of values computed from them, in the graph's order. */
   uint32_t reduces[RKB_ONLINE_MANY], reduce_count;
   uint32_t outs[RKB_ONLINE_MANY], out_count;       /* outs: products of values computed from the scores with other rows */
   uint32_t made_side[RKB_ONLINE_MANY];             /* which operand of an out is made of the scores */
   /* Sums of the outs over the matrices of their last leading dim: of each out, or of none. */
   uint32_t totals[RKB_ONLINE_MANY], total_count;
} rkb_online_nodes_t;

/* False: the anchors are not those of a launch over scores. */
bool rkb_online_nodes(const rkb_graph_t *graph, const rkb_launch_t *launch, rkb_online_nodes_t *nodes);
/* The lengths of rows that are multiplied, ascending, where one size has a few values; each length gets a
 * kernel.  *size: that size, UINT32_MAX where all are constants (the answer is 1 then, and heads[0] the largest).  0: there are too
 * many, or more than one such size. */
uint32_t rkb_online_heads(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t *size, int64_t heads[RKB_ONLINE_HEADS]);
/* How many rows of scores a launch owns in the bench cases. */
double rkb_online_rows(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* The share (a power divided by the sum of its row's powers) that needs only the first of several kinds of scores; RKB_NO_NODE: there is none. */
uint32_t rkb_online_share(const rkb_graph_t *graph, const rkb_online_nodes_t *nodes);
/* Whether a launch may choose between making its share early and making it last. */
bool rkb_online_has_share(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* online_refused.c: what arithmetic alone can tell about a launch on tensor cores: NULL, or why it cannot
 * work. */
const char *rkb_online_refused(const rkb_graph_t *graph, const rkb_launch_t *launch);

#endif
