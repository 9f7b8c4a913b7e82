/* Tiles that suit warpgroups, and the decisions that go with them (warpgroup_start.h). */
#include "generator/decisions/warpgroup_start.h"

#include <math.h>
#include "generator/decisions/launch_decisions.h"
#include "generator/graph/bench_sizes.h"
#include "generator/text/fragments.h"
#include "generator/tile/pixel_map.h"

/* Tiles for warpgroups, with the share of wgmma's rate that they tend to reach: in general; where floats are
 * split, where 128 x 256 leaves room for only two stages; and for elements of one byte. 128 x 256 was
 * measured against 128 x 128 and 256 x 128, on an H200 (docs/results/2026-11-23-tensor) and an H100
 * (docs/results/2026-11-26-table): w8a8_gemm took 190 and 67 us with 128 x 128, 157 and 57 with 128 x 256. */
static const rkb_warpgroup_tile_t tiles[] = {{128, 256, 2, 0.80, 0.47, 0.80}, {256, 128, 2, 0.77, 0.82, 0.77},
                                             {128, 192, 2, 0.77, 0.50, 0.77}, {128, 128, 2, 0.74, 0.66, 0.66},
                                             {64, 256, 1, 0.50, 0.36, 0.50},  {64, 192, 1, 0.47, 0.36, 0.47},
                                             {64, 128, 1, 0.42, 0.36, 0.42},  {256, 64, 2, 0.64, 0.36, 0.64},
                                             {128, 64, 2, 0.40, 0.36, 0.40},  {64, 64, 1, 0.28, 0.28, 0.28},
                                             {0}};

const rkb_warpgroup_tile_t *rkb_warpgroup_tiles(void) {
   return tiles;
}

double rkb_warpgroup_share(const int64_t *d) {
   const bool split = d[RKB_TENSOR] == RKB_TENSOR_PATH_TF32X3,
              bytes = rkb_fragment_type(d[RKB_TENSOR])->bytes == 1;
   for (const rkb_warpgroup_tile_t *tile = tiles; tile->m; tile++)
      if (tile->m == d[RKB_TILE_M] && tile->n == d[RKB_TILE_N] && tile->groups == d[RKB_GROUPS])
         return split ? tile->split_share : bytes ? tile->byte_share : tile->share;
   return split ? 0.4 : 0.5;
}

/* With fewer multiply-adds, copies of factors take longer than they save: by the model unet_linear takes 48 us instead of 41 with 129
 * terms and 129 columns, which are 2.7e8 multiply-adds. */
#define LEAST_PADDED 5e8

/* Whether a bench case may have rows that do not begin at multiples of 16 bytes: a dim of a factor or of the sums is no multiple.
 * Elsewhere the kernels for such rows cost more to judge than their cases are worth. */
static bool needs_padding(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const rkb_node_t *product = &graph->nodes[launch->anchors[0]], *left = &graph->nodes[product->inputs[0]];
   const rkb_node_t *nodes[] = {product, left};
   const int whole = 16 / (int)rkb_fragment_type(launch->decisions[RKB_TENSOR])->bytes;
   bool needed = false;
   if (product->kind != RKB_NODE_MATMUL)
      return false;
   /* The number of multiply-adds, from the elements of both factors and of the product. */
   const double work =
      sqrt(rkb_bench_elements(graph, launch->anchors[0]) * rkb_bench_elements(graph, product->inputs[0]) *
           rkb_bench_elements(graph, product->inputs[1]));
   if (work < LEAST_PADDED)
      return false;
   for (uint32_t i = 0; i < 2; i++)
      for (uint32_t d = nodes[i]->rank - 2; d < nodes[i]->rank; d++) {
         const rkb_sizes_t *sizes = &graph->sizes;
         const char *rest =
            rkb_arena_format(sizes->arena, "2 * ((%s) %% %d)", sizes->list[nodes[i]->shape[d]].text, whole);
         needed |= rkb_sizes_bench_most(sizes, rest) > 1;
      }
   return needed;
}

void rkb_tensor_settle(const rkb_graph_t *graph, int64_t shared_bytes, rkb_launch_t *launch) {
   int64_t *d = launch->decisions;
   d[RKB_COPY] = RKB_COPY_TENSOR;
   if (d[RKB_TENSOR] == RKB_TENSOR_PATH_FP16X3)
      d[RKB_TENSOR] = RKB_TENSOR_PATH_TF32X3;
   d[RKB_HELD] = d[RKB_TENSOR] == RKB_TENSOR_PATH_TF32X3;
   d[RKB_TAPS] = rkb_decision_applies(graph, launch, RKB_TAPS); /* the launches of other cases use it */
   d[RKB_SHARED_LAYOUT] = RKB_LAYOUT_SWIZZLED; /* as tensor maps write rows */
   d[RKB_PHASES] = rkb_launch_has_phases(graph, launch);
   d[RKB_PAD_ROWS] = needs_padding(graph, launch);
   d[RKB_NARROW] = rkb_decision_applies(graph, launch, RKB_NARROW);
   d[RKB_TILE_M] = d[RKB_TILE_M] < 64 ? 64 : d[RKB_TILE_M];
   d[RKB_TILE_N] = d[RKB_TILE_N] < 64 ? 64 : d[RKB_TILE_N];
   d[RKB_GROUPS] = d[RKB_TILE_M] > 64 ? 2 : 1;
   if (d[RKB_TILE_K] * rkb_fragment_type(d[RKB_TENSOR])->bytes % 128 != 0)
      d[RKB_TILE_K] = 128 / rkb_fragment_type(d[RKB_TENSOR])->bytes;
   d[RKB_WARP_M] = d[RKB_TILE_M] < 64 ? d[RKB_TILE_M] : 64; /* tiles of warps, for the launches of other strides */
   d[RKB_WARP_N] = d[RKB_TILE_M] * d[RKB_TILE_N] > 128 * 64 ? 64 : 32;
   const int64_t least = d[RKB_TAPS] ? 5 : 4; /* where a factor consists of pixels, the fifth stage gains up to 5 % on an H200 */
   for (d[RKB_STAGES] = d[RKB_STAGES] < least ? least : d[RKB_STAGES];
        d[RKB_STAGES] > 2 && rkb_launch_refused(graph, launch, shared_bytes);)
      d[RKB_STAGES]--;
}

void rkb_tensor_suit_halves(rkb_launch_t *launch) {
   int64_t *d = launch->decisions;
   if (launch->mapping == RKB_MAP_TENSOR && d[RKB_TENSOR] == RKB_TENSOR_PATH_FP16X3 &&
       d[RKB_COPY] == RKB_COPY_TENSOR)
      d[RKB_COPY] = RKB_COPY_ASYNC;
}
