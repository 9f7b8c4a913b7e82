/* Why a launch over scores cannot work on tensor cores.  Pure functions of a graph. */
#include "generator/online/online_nodes.h"

#include "generator/text/fragments.h"
#include "generator/online/online_warpgroups.h"

const char *rkb_online_refused(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   const uint32_t bytes = rkb_fragment_type(d[RKB_TENSOR])->bytes;
   if (d[RKB_TENSOR] == RKB_TENSOR_PATH_FP16X3)
      return "fp16x3 is for products whose factors are in memory";
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      if (graph->nodes[launch->anchors[a]].kind == RKB_NODE_MATMUL &&
          !rkb_fragment_is_legal(graph, launch->anchors[a], d[RKB_TENSOR]))
         return "the tensor cores' type is not of the task's precision";
   if (d[RKB_COPY] == RKB_COPY_TENSOR)
      return rkb_online_warpgroups_refused(graph, launch);
   rkb_online_nodes_t nodes;
   if (rkb_online_nodes(graph, launch, &nodes) && nodes.total_count)
      return "warpgroups alone add up matrices";
   if (d[RKB_TILE_M] % d[RKB_WARP_M] != 0 || d[RKB_TILE_N] % d[RKB_WARP_N] != 0)
      return "a warp's scores do not divide the block's";
   if (d[RKB_TILE_M] / d[RKB_WARP_M] * (d[RKB_TILE_N] / d[RKB_WARP_N]) > 32)
      return "a block has at most 1024 threads";
   if (bytes == 1)
      return "scores are no bytes";
   return NULL;
}
