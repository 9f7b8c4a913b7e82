/* The sizes that must be multiples of a vector's width.  Pure functions. */
#include "generator/graph/bench_sizes.h"
#include "generator/text/launch_text.h"

#include <math.h>
#include <string.h>
#include "generator/text/product_index.h"
#include "generator/row/row_range_sums.h"

static void add_size(uint32_t *sizes, uint32_t *count, uint32_t size) {
   for (uint32_t i = 0; i < *count; i++)
      if (sizes[i] == size)
         return;
   if (*count < RKB_VECTOR_SIZES)
      sizes[(*count)++] = size;
}

/* Adds the sizes at which a joined or embedded part ends in the middle of a row.  If they are multiples of
 * the width, no vector has elements of two parts. */
static void add_parts(const rkb_graph_t *graph, uint32_t number, int64_t width, bool *seen, uint32_t *sizes,
                      uint32_t *count) {
   const rkb_node_t *node = &graph->nodes[number];
   const rkb_size_t *list = graph->sizes.list;
   if (seen[number] || !rkb_node_is_light(node))
      return;
   seen[number] = true;
   const bool parts = (node->kind == RKB_NODE_CAT || node->kind == RKB_NODE_EMBED) &&
                      list[node->integers[0]].at[0] == (int64_t)node->rank - 1;
   for (uint32_t i = 0; i < node->input_count; i++) {
      const rkb_node_t *input = &graph->nodes[node->inputs[i]];
      if (parts && (!list[input->shape[input->rank - 1]].constant ||
                    list[input->shape[input->rank - 1]].at[0] % width == 0))
         add_size(sizes, count, input->shape[input->rank - 1]);
      add_parts(graph, node->inputs[i], width, seen, sizes, count);
   }
}

/* The dim of a convolution's output along which the columns of a tile grow by one (product_tile.h).  RKB_MAX_RANK: the columns are channels of a
 * group, and the graph has no size for the number of these channels. */
static uint32_t column_dim(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]];
   const bool of_weight = node->kind == RKB_NODE_CONVOLUTION_WEIGHT;
   if (launch->root_count && !rkb_product_is_turned(graph, launch->anchors[0], launch->roots[0])) {
      const rkb_size_t *groups = &graph->sizes.list[node->integers[1]];
      return !groups->constant || groups->at[0] != 1 ? RKB_MAX_RANK : of_weight ? 0 : 1;
   }
   return of_weight && launch->root_count &&
                rkb_product_fast_dim(graph, launch->anchors[0], launch->roots[0]) == 1
             ? 1
             : node->rank - 1;
}

int64_t rkb_parts_of_row(const rkb_launch_t *launch) {
   return launch->mapping == RKB_MAP_ELEMENT && launch->decisions[RKB_PLACES] > 1
             ? launch->decisions[RKB_PLACES]
             : 1;
}

uint32_t rkb_vector_sizes(const rkb_graph_t *graph, const rkb_launch_t *launch,
                          uint32_t sizes[RKB_VECTOR_SIZES]) {
   const rkb_node_t *node =
      &graph->nodes[launch->mapping == RKB_MAP_ELEMENT ? launch->roots[0] : launch->anchors[0]];
   const int64_t width = launch->decisions[RKB_VECTOR];
   uint32_t count = 0;
   if (width <= 1 || !node->rank)
      return 0;
   if (launch->mapping == RKB_MAP_ROW) {
      if (node->kind != RKB_NODE_REDUCE || !(node->mask >> (node->rank - 1) & 1))
         return 0;
      node = &graph->nodes[node->inputs[0]];
   } else if (launch->mapping == RKB_MAP_COLUMN)
      return 0;
   else if (launch->mapping == RKB_MAP_RANK) {
      if (graph->sizes.list[node->integers[0]].at[0] != (int64_t)node->rank - 1)
         return 0;
      node = &graph->nodes[node->inputs[0]];
   } else if (launch->mapping == RKB_MAP_SCAN || launch->mapping == RKB_MAP_LINK) {
      const bool last = graph->sizes.list[node->integers[0]].at[0] == (int64_t)node->rank - 1;
      if (last != (launch->mapping == RKB_MAP_SCAN) ||
          (launch->mapping == RKB_MAP_LINK && rkb_scatter_varies(graph, launch->anchors[0], node->rank - 1)))
         return 0;
   }
   if (launch->mapping == RKB_MAP_ELEMENT &&
       launch->decisions[RKB_WINDOW]) { /* rows of values under the windows */
      const rkb_node_t *pool = &graph->nodes[launch->anchors[0]];
      node = strcmp(pool->operation, "max_pool") == 0 ? &graph->nodes[pool->inputs[0]] : pool;
   }
   sizes[count++] = node->shape[node->rank - 1];
   if (launch->mapping == RKB_MAP_TILE && node->kind != RKB_NODE_MATMUL) {
      const uint32_t dim = column_dim(graph, launch);
      if (dim == RKB_MAX_RANK)
         return 0;
      sizes[0] = node->shape[dim];
   } else if (launch->mapping == RKB_MAP_TILE) { /* rows, and the terms of a sum */
      const rkb_node_t *left = &graph->nodes[node->inputs[0]];
      const bool turned = graph->sizes.list[node->integers[0]].at[0] != 0;
      sizes[count++] = node->shape[node->rank - 2];
      sizes[count++] = left->shape[left->rank - (turned ? 2 : 1)];
   }
   for (uint32_t a = 1;
        a < launch->anchor_count && launch->mapping == RKB_MAP_ROW && launch->decisions[RKB_SEGMENTS]; a++)
      if (rkb_segment_adds(graph, launch, a)) { /* a vector has places of one piece */
         const rkb_node_t *term = &graph->nodes[graph->nodes[launch->anchors[a]].inputs[0]];
         add_size(sizes, &count, term->shape[term->rank - 1]);
      }
   for (uint32_t r = 0; r < launch->root_count && launch->mapping == RKB_MAP_ROW;
        r++) { /* one row of an image for a vector: it is of one channel */
      const rkb_node_t *root = &graph->nodes[launch->roots[r]];
      if (root->rank > 1 && fabs(rkb_bench_elements(graph, launch->roots[r]) /
                                    rkb_bench_elements(graph, graph->nodes[launch->anchors[0]].inputs[0]) -
                                 1) < 1e-6)
         add_size(sizes, &count, root->shape[root->rank - 1]);
   }
   bool seen[RKB_MAX_GRAPH_NODES] = {0};
   for (uint32_t r = 0; r < launch->root_count && launch->mapping == RKB_MAP_ELEMENT && !launch->anchor_count;
        r++)
      add_parts(graph, launch->roots[r], width, seen, sizes, &count);
   for (uint32_t i = 0; i < count; i++) {
      const rkb_size_t *size = &graph->sizes.list[sizes[i]];
      if (size->constant && size->at[0] % (width * (i == 0 ? rkb_parts_of_row(launch) : 1)) != 0)
         return 0;
   }
   return count;
}
