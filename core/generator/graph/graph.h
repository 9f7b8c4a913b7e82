/* A task's reference as a graph of named nodes with symbolic sizes, ready to be divided into launches.
 *
 * Composite operations (mean, variance, softmax, log of a sum of exponentials) are written as reductions and single-element
 * operations, so that a launch can share them.  A node makes one value; nodes come after the nodes they read.  Owned by an arena;
 * does not change after it was read. */
#ifndef RKB_GENERATOR_GRAPH_H
#define RKB_GENERATOR_GRAPH_H

#include "generator/graph/graph_sizes.h"

#define RKB_NO_NODE UINT32_MAX
#define RKB_MAX_GRAPH_NODES 4096u

enum rkb_node_kind {
   RKB_NODE_INPUT = 1,
   RKB_NODE_MAP,     /* one element of each operand, stretched to the node's shape */
   RKB_NODE_RESHAPE, /* the same elements in the same order, in another shape */
   RKB_NODE_EXPAND,
   RKB_NODE_PERMUTE,  /* integers: which dim of the operand is dim d */
   RKB_NODE_SLICE,    /* integers: dim, start, step */
   RKB_NODE_EMBED,    /* integers: dim, start, step; reals: the value of other elements */
   RKB_NODE_CAT,      /* integers: dim */
   RKB_NODE_FLIP,     /* mask: dims */
   RKB_NODE_TRIANGLE, /* integers: diagonal, upper; reals: the value of other elements */
   RKB_NODE_ARANGE,   /* reals: start, step */
   RKB_NODE_GATHER,   /* operands: x, index; integers: dim */
   RKB_NODE_PUT,      /* a scatter of one element along dim; operands and integers as for RKB_NODE_SCATTER */
   /* Heavy nodes, from here on: each element needs many elements of an operand. */
   RKB_NODE_REDUCE, /* mask: reduced dims, which stay as dims of size 1; operation: sum, largest, smallest, argmax, argmin */
   RKB_NODE_MATMUL,      /* integers: transpose of a, transpose of b */
   RKB_NODE_CONVOLUTION, /* x, weight; integers: spatial dims, groups, then stride, padding, dilation of each */
   RKB_NODE_CONVOLUTION_INPUT,  /* grad, weight */
   RKB_NODE_CONVOLUTION_WEIGHT, /* x, grad */
   RKB_NODE_POOL, /* operation: max_pool, average_pool, and ..._gradient; integers as core/reference/operations/pool.c */
   RKB_NODE_SCAN, /* operation: cumulative_sum, cumulative_product, cumulative_product_gradient, recurrence; integers: dim */
   RKB_NODE_RANK,   /* operation: ranked, ranked_places; integers: dim, whether the largest come first */
   RKB_NODE_SEARCH, /* sorted rows, wanted; integers: whether equal elements count as less */
   RKB_NODE_SCATTER, /* operation: scatter, overwrite; source, index and, where there is one, what lies below; integers: dim */
   RKB_NODE_RESAMPLE, /* operation: resample, resample_gradient; integers: dim, resampling */
   /* operation recurrent_layer; operands: what the inputs give the gates [T, B, gates H], states before the first step, the state's weights,
    * both biases or none.  operation recurrent_gradient; operands: the gradient and the value of the layer, then those of recurrent_layer,
    * where what the states before each step give the gates follows what the inputs give.  integers: enum rkb_graph_layer, whether there
    * are biases */
   RKB_NODE_LAYER,
};

enum rkb_graph_layer {
   RKB_GRAPH_RNN,
   RKB_GRAPH_GRU,
   RKB_GRAPH_LSTM
}; /* as the reference numbers them: enum rkb_layer_kind */

typedef struct rkb_node {
   enum rkb_node_kind kind;
   const char *operation; /* the reference's name of the operation, for kinds that have several operations */
   const char *name;      /* an identifier that no other node has */
   uint32_t dtype;        /* enum rkb_dtype, as the reference has it */
   uint32_t rank;
   uint32_t shape[RKB_MAX_RANK]; /* sizes */
   uint32_t inputs[RKB_MAX_OPERANDS], input_count;
   uint32_t integers[16], integer_count; /* sizes too */
   uint64_t mask;
   rkb_real_t reals[2];
   uint32_t real_count;
   uint32_t count_of,
      /* Of divide_by_count: the size, and the number to subtract from it; else RKB_NO_NODE. */
      correction;
   const char *tensor; /* of an input */
} rkb_node_t;

typedef struct rkb_output {
   const char *tensor;
   uint32_t node, dtype;
   bool in_place; /* the tensor is also an input */
} rkb_output_t;

typedef struct rkb_graph {
   rkb_arena_t *arena; /* owned */
   rkb_sizes_t sizes;
   const char *task, *direction, *precision;
   rkb_node_t *nodes;
   uint32_t node_count;
   rkb_output_t *outputs;
   uint32_t output_count;
} rkb_graph_t;

/* Reads the task's reference in the task's direction.  RKB_ERR_INVALID: it has something that this generator
 * cannot write yet; err names it. */
int rkb_graph_open(const rkb_task_t *task, rkb_graph_t **graph, rkb_error_t *err);
void rkb_graph_close(rkb_graph_t *graph);

static inline bool rkb_node_is_view(const rkb_node_t *node) {
   return node->kind >= RKB_NODE_RESHAPE && node->kind <= RKB_NODE_SLICE;
}
/* Whether each element is computed from few elements of the operands, so that it can be computed again
 * wherever it is used. */
static inline bool rkb_node_is_light(const rkb_node_t *node) {
   return node->kind < RKB_NODE_REDUCE;
}
/* Whether a scatter puts elements at places instead of adding them there.  Where several elements have one place, the last one stays.  The
 * reference allows any of them to be the last; a kernel that keeps the order gives the same bits in each run. */
bool rkb_node_overwrites(const rkb_node_t *node);
static inline bool rkb_node_is_output(const rkb_graph_t *graph, uint32_t node) {
   for (uint32_t o = 0; o < graph->output_count; o++)
      if (graph->outputs[o].node == node)
         return true;
   return false;
}
static inline bool rkb_node_is_product(const rkb_node_t *node) {
   return node->kind >= RKB_NODE_MATMUL && node->kind <= RKB_NODE_CONVOLUTION_WEIGHT;
}

#endif
