/* Windows of pools.  A node's integers are: spatial dims, ceil mode, count padding, then kernel, stride,
 * padding, dilation of each dim. */
#include "generator/graph/pool_window.h"

#define POOL_HEAD 3
enum { KERNEL, STRIDE, PADDING, DILATION };

bool rkb_windows_meet(const rkb_graph_t *graph, const rkb_node_t *pool) {
   for (uint32_t d = 0; d + 2 < pool->rank; d++) {
      const uint32_t *numbers = pool->integers + POOL_HEAD + 4 * d;
      const rkb_size_t *sizes = graph->sizes.list;
      if (!sizes[numbers[KERNEL]].constant || numbers[KERNEL] != numbers[STRIDE] ||
          !sizes[numbers[PADDING]].constant || sizes[numbers[PADDING]].at[0] != 0 ||
          !sizes[numbers[DILATION]].constant || sizes[numbers[DILATION]].at[0] != 1)
         return true;
   }
   return false;
}

int64_t rkb_window_side(const rkb_graph_t *graph, const rkb_node_t *pool, uint32_t dim) {
   return graph->sizes.list[pool->integers[POOL_HEAD + 4 * dim + KERNEL]].at[0];
}

bool rkb_window_rounds_up(const rkb_graph_t *graph, const rkb_node_t *pool) {
   return graph->sizes.list[pool->integers[1]].at[0] != 0;
}
