/* Chooses the tile of a convolution by warpgroups.  Pure functions; one thread a graph. */
#include "generator/convolution_start.h"

#include <math.h>
#include "generator/convolution_extent.h"
#include "generator/tensor_start.h"

#define LAUNCH_NANOSECONDS 1500.0
#define TILE_NANOSECONDS 1500.0 /* until a tile's first product, and for its sums on their way out */
#define STEP_NANOSECONDS 20.0
#define STEP_CHANNELS 32.0

/* Where a tile's pixels are gathered one by one, it takes so many times as long as a product of that size (docs/results/2026-11-26-table:
 * 3,465 us for each convolution of resnet_block, of which the estimate for a product says 2,090). */
#define GATHERED 1.7

/* Tiles, with the share of wgmma's rate that they are taken to reach: a warp that owns more pixels and channels loads and splits less for each
 * product. */
static const struct {
   int64_t channels, pixels, groups;
   double share;
} tiles[] = {{128, 256, 2, 0.75}, {64, 256, 2, 0.65}, {128, 128, 2, 0.60},
             {64, 128, 2, 0.55},  {64, 128, 1, 0.45}, {64, 64, 1, 0.40}};

static double size_in(const rkb_graph_t *graph, uint32_t size, uint32_t bench) {
   const rkb_size_t *s = &graph->sizes.list[size];
   return s->constant ? (double)s->at[0] : rkb_sizes_bench_at(&graph->sizes, s->text, bench);
}

/* Whether the kernel runs in a bench case: strides of one, and rows and channels that tensor maps describe. */
static bool runs_in(const rkb_graph_t *graph, const rkb_node_t *node, uint32_t bench) {
   const rkb_node_t *image = &graph->nodes[node->inputs[0]];
   bool good = fmod(size_in(graph, image->shape[1], bench), 8) == 0 &&
               fmod(size_in(graph, image->shape[3], bench), 4) == 0;
   for (uint32_t side = 0; side < RKB_CONVOLUTION_SIDES; side++)
      good = good && size_in(graph, node->integers[RKB_CONVOLUTION_HEAD + 3 * side], bench) == 1;
   return good;
}

static double estimate_in(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_launch_t *launch,
                          double share, uint32_t bench) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]], *image = &graph->nodes[node->inputs[0]],
                    *weight = &graph->nodes[node->inputs[1]];
   const int64_t *d = launch->decisions;
   const double row = d[RKB_STRIP] ? (double)d[RKB_STRIP] : 32, channels = (double)d[RKB_TILE_M],
                pixels = (double)d[RKB_TILE_N],
                steps = ceil(size_in(graph, image->shape[1], bench) / STEP_CHANNELS) *
                        size_in(graph, weight->shape[2], bench) * size_in(graph, weight->shape[3], bench),
                tiles_of_case = size_in(graph, node->shape[0], bench) *
                                ceil(size_in(graph, node->shape[1], bench) / channels) *
                                ceil(size_in(graph, node->shape[2], bench) / (pixels / row)) *
                                ceil(size_in(graph, node->shape[3], bench) / row);
   const double rate = target->warpgroup[RKB_TENSOR_PATH_TF32X3] * share;
   return 2 * LAUNCH_NANOSECONDS +
          ceil(tiles_of_case / (double)target->multiprocessors) *
             (TILE_NANOSECONDS + steps * (STEP_NANOSECONDS + pixels * channels * STEP_CHANNELS / rate));
}

/* The geometric mean over the bench cases; HUGE_VAL: the kernel does not run in some of them. */
static double estimate(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_launch_t *launch,
                       double share) {
   double sum = 0;
   uint32_t count = 0;
   for (; rkb_task_case(graph->sizes.task, RKB_CASE_BENCH, count); count++) {
      if (!runs_in(graph, &graph->nodes[launch->anchors[0]], count))
         return HUGE_VAL;
      sum += log(estimate_in(graph, target, launch, share, count));
   }
   return count ? exp(sum / count) : HUGE_VAL;
}

bool rkb_convolution_suit(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   const rkb_extents_t extents = rkb_launch_extents(graph, launch);
   double least = GATHERED * rkb_tensor_estimate(target, &extents, launch->decisions);
   const rkb_launch_t before = *launch;
   bool found = false;
   for (uint32_t t = 0; t < 2 * sizeof tiles / sizeof tiles[0]; t++) {
      rkb_launch_t tried = before;
      int64_t *d = tried.decisions;
      d[RKB_TILE_M] = tiles[t / 2].channels;
      d[RKB_TILE_N] = tiles[t / 2].pixels;
      d[RKB_TILE_K] = (int64_t)STEP_CHANNELS;
      d[RKB_STRIP] = t % 2 ? 16 : 0;
      d[RKB_SPLIT] = 1;
      d[RKB_ORDER] = 0;
      d[RKB_PERSISTENT] = 1;
      rkb_tensor_settle(graph, target->shared_bytes, &tried);
      d[RKB_GROUPS] = tiles[t / 2].groups;
      d[RKB_WARP_N] = d[RKB_TILE_M] > 64 && d[RKB_TILE_N] > 128
                         ? 64
                         : 32; /* of the launches for other cases, whose pixels need registers too */
      if (!rkb_convolution_is_tiled(graph, &tried) || !rkb_tensor_has(target, &tried))
         return false;
      for (d[RKB_STAGES] = 4; d[RKB_STAGES] > 2 && rkb_launch_refused(graph, &tried, target->shared_bytes);)
         d[RKB_STAGES]--;
      const double time = estimate(graph, target, &tried, tiles[t / 2].share);
      if (time >= least * 0.97 || rkb_launch_refused(graph, &tried, target->shared_bytes))
         continue;
      least = time;
      *launch = tried;
      found = true;
   }
   return found;
}
