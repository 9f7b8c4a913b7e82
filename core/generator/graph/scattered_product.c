/* Reads scattered sums of products of a row and a column into a graph: the gradient of the matrices that rows pick.  One thread while the
 * graph is read.
 *
 * The sum over m with pick[m] = e of left[m, n] * right[m, k] is, for each e, a product of matrices whose terms are the rows.  Its left
 * factor is zero at the rows that pick another matrix.  To compute each product of a row and a column by itself would make as many matrices
 * as there are rows. */
#include "generator/graph/graph_reader.h"

#include "generator/graph/picked_rows.h"

/* Whether a value is products of one column and one row side by side: sums of one term. */
static bool is_outer(const rkb_graph_t *graph, const rkb_node_t *node) {
   if (node->kind != RKB_NODE_MATMUL || node->rank != 3)
      return false;
   for (uint32_t s = 0; s < 2; s++) {
      const rkb_node_t *factor = &graph->nodes[node->inputs[s]];
      const bool transposed = graph->sizes.list[node->integers[s]].at[0] != 0;
      if (factor->rank != 3 || factor->shape[0] != node->shape[0] ||
          !rkb_graph_is_one(graph, factor->shape[transposed == (s == 0) ? 1 : 2]))
         return false;
   }
   return true;
}

static uint32_t add_view(rkb_graph_reader_t *reader, enum rkb_node_kind kind, const char *name, uint32_t of,
                         uint32_t rank, const uint32_t *shape) {
   rkb_node_t node = {.kind = kind,
                      .operation = kind == RKB_NODE_EXPAND ? "expand" : "reshape",
                      .name = name,
                      .rank = rank,
                      .inputs = {of},
                      .input_count = 1,
                      .dtype = reader->graph->nodes[of].dtype,
                      .count_of = RKB_NO_NODE};
   for (uint32_t d = 0; d < rank; d++)
      node.shape[d] = shape[d];
   return rkb_graph_add(reader, &node);
}

uint32_t rkb_graph_scattered_product(rkb_graph_reader_t *reader, const rkb_node_t *scatter,
                                     const char *name) {
   rkb_graph_t *graph = reader->graph;
   const uint32_t rows = graph->nodes[scatter->inputs[0]].shape[0], matrices = scatter->shape[0],
                  pick = rkb_picked_rows(graph, scatter->inputs[1], 0, rows);
   uint32_t source = scatter->inputs[0];
   while (graph->nodes[source].kind == RKB_NODE_RESHAPE &&
          graph->nodes[graph->nodes[source].inputs[0]].rank &&
          graph->nodes[graph->nodes[source].inputs[0]].shape[0] == rows)
      source = graph->nodes[source].inputs[0];
   const rkb_node_t outer = graph->nodes[source];
   if (scatter->input_count != 2 || graph->sizes.list[scatter->integers[0]].at[0] != 0 ||
       pick == RKB_NO_NODE || !is_outer(graph, &outer) || outer.shape[0] != rows ||
       !(rkb_sizes_most(&graph->sizes, graph->sizes.list[matrices].text) <= RKB_MOST_PICKED))
      return RKB_NO_NODE;
   const uint32_t one = rkb_sizes_constant(&graph->sizes, 1), none = rkb_sizes_constant(&graph->sizes, 0);
   const uint32_t n = outer.shape[1], k = outer.shape[2];
   const uint32_t left = add_view(reader, RKB_NODE_RESHAPE, rkb_arena_format(graph->arena, "%s_left", name),
                                  outer.inputs[0], 3, (uint32_t[]){one, rows, n}),
                  right = add_view(reader, RKB_NODE_RESHAPE, rkb_arena_format(graph->arena, "%s_right", name),
                                   outer.inputs[1], 2, (uint32_t[]){rows, k}),
                  column = add_view(reader, RKB_NODE_RESHAPE, rkb_arena_format(graph->arena, "%s_pick", name),
                                    pick, 3, (uint32_t[]){one, rows, one}),
                  picks = add_view(reader, RKB_NODE_EXPAND, rkb_arena_format(graph->arena, "%s_picks", name),
                                   column, 3, (uint32_t[]){one, rows, n});
   const rkb_node_t put = {.kind = RKB_NODE_PUT,
                           .operation = scatter->operation,
                           .name = rkb_arena_format(graph->arena, "%s_own", name),
                           .rank = 3,
                           .shape = {matrices, rows, n},
                           .inputs = {left, picks},
                           .input_count = 2,
                           .integers = {none},
                           .integer_count = 1,
                           .dtype = graph->nodes[left].dtype,
                           .count_of = RKB_NO_NODE};
   const rkb_node_t product = {.kind = RKB_NODE_MATMUL,
                               .operation = "matmul",
                               .name = rkb_arena_format(graph->arena, "%s_sums", name),
                               .rank = 3,
                               .shape = {matrices, n, k},
                               .inputs = {rkb_graph_add(reader, &put), right},
                               .input_count = 2,
                               .integers = {one, none},
                               .integer_count = 2,
                               .dtype = scatter->dtype,
                               .count_of = RKB_NO_NODE};
   return rkb_graph_add(reader, &product);
}
