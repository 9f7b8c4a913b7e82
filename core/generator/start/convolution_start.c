/* Chooses the tile of a convolution by warpgroups (convolution_tile.c, weight_gradient_tile.c): estimates the time of each tile in each bench case, and takes
 * the least.  Pure functions; one thread a graph. */
#include "generator/start/convolution_start.h"

#include <math.h>
#include "generator/tile/convolution_extent.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/start/tensor_start.h"
#include "generator/decisions/warpgroup_start.h"

#define LAUNCH_NANOSECONDS 1500.0 /* of starting a launch */
/* The time until a tile's first product, plus the time in which its sums go to memory. */
#define TILE_NANOSECONDS 1500.0
/* The time of a step beyond its products.  A step multiplies STEP_CHANNELS channels of one tap, or STEP_CHANNELS pixels of a weight's gradient. */
#define STEP_NANOSECONDS 20.0
#define STEP_CHANNELS 32.0
#define BYTES_A_NANOSECOND 3500.0
#define PART_BYTES 8.0    /* a float of a part is written once and read once */
#define WEIGHT_SHARE 0.65 /* the assumed share of wgmma's rate for the gradient of a weight */

/* The other kernel of a convolution (tensor_tile.h) loads a tile's pixels one by one.  It takes this many times as long as a product of the same size: 3,465 us
 * for each convolution of resnet_block (docs/results/2026-11-26-table), where the estimate for a product is 2,090 us. */
#define GATHERED 1.7

/* The tiles that are tried.  share: the assumed share of wgmma's full rate.  It is larger for larger tiles, because a warp that owns more pixels and channels
 * loads and splits less for each product. */
static const struct {
   int64_t channels, pixels, groups;
   double share;
} tiles[] = {{128, 256, 2, 0.75}, {64, 256, 2, 0.65}, {128, 128, 2, 0.60},
             {64, 128, 2, 0.55},  {64, 128, 1, 0.45}, {64, 64, 1, 0.40}};

static double size_in(const rkb_graph_t *graph, uint32_t size, uint32_t bench) {
   const rkb_size_t *s = &graph->sizes.list[size];
   return s->constant ? (double)s->at[0] : rkb_sizes_bench_at(&graph->sizes, s->text, bench);
}

/* Whether the kernel runs in a bench case: the case has the kernel's stride, and its rows and channels have lengths that tensor maps can describe. */
static bool runs_in(const rkb_graph_t *graph, const rkb_node_t *node, uint32_t bench) {
   const rkb_node_t *image = &graph->nodes[node->inputs[0]];
   const bool of_weight = node->kind == RKB_NODE_CONVOLUTION_WEIGHT;
   bool good = (of_weight ? fmod(size_in(graph, graph->nodes[node->inputs[1]].shape[3], bench), 4)
                          : fmod(size_in(graph, image->shape[1], bench), 8)) == 0 &&
               fmod(size_in(graph, image->shape[3], bench), 4) == 0;
   const int64_t stride = rkb_convolution_stride(graph, node);
   for (uint32_t side = 0; side < RKB_CONVOLUTION_SIDES; side++)
      good = good &&
             size_in(graph, node->integers[RKB_CONVOLUTION_HEAD + 3 * side], bench) == (double)stride &&
             (node->kind != RKB_NODE_CONVOLUTION_INPUT ||
              fmod(size_in(graph, node->shape[2 + side], bench), (double)stride) == 0);
   return good;
}

static double estimate_in(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_launch_t *launch,
                          double share, uint32_t bench) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]], *image = &graph->nodes[node->inputs[0]],
                    *weight = &graph->nodes[node->inputs[1]];
   const int64_t *d = launch->decisions;
   const double apart = node->kind == RKB_NODE_CONVOLUTION_INPUT ? (double)rkb_convolution_stride(graph, node)
                                                                 : 1; /* distance of a tile's neighbouring pixels */
   const double row = d[RKB_STRIP] ? (double)d[RKB_STRIP] : 32, channels = (double)d[RKB_TILE_M],
                pixels = (double)d[RKB_TILE_N],
                steps = ceil(size_in(graph, image->shape[1], bench) / STEP_CHANNELS) *
                        size_in(graph, weight->shape[2], bench) * size_in(graph, weight->shape[3], bench),
                tiles_of_case = size_in(graph, node->shape[0], bench) *
                                ceil(size_in(graph, node->shape[1], bench) / channels) *
                                ceil(size_in(graph, node->shape[2], bench) / apart / (pixels / row)) *
                                ceil(size_in(graph, node->shape[3], bench) / apart / row);
   const double rate = target->warpgroup[RKB_TENSOR_PATH_TF32X3] * share;
   return 2 * LAUNCH_NANOSECONDS + ceil(tiles_of_case / (double)target->multiprocessors) *
                                      (TILE_NANOSECONDS * apart * apart +
                                       steps * (STEP_NANOSECONDS + pixels * channels * STEP_CHANNELS / rate));
}

/* The same for a weight's gradient: each block goes over rows of pixels, and a second launch adds the blocks' parts. */
static double weight_estimate_in(const rkb_graph_t *graph, const rkb_target_t *target,
                                 const rkb_launch_t *launch, double share, uint32_t bench) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]], *grad = &graph->nodes[node->inputs[1]];
   const double tile = RKB_CONVOLUTION_GROUP_CHANNELS, split = (double)launch->decisions[RKB_SPLIT],
                m = size_in(graph, node->shape[0], bench), c = size_in(graph, node->shape[1], bench),
                taps = size_in(graph, node->shape[2], bench) * size_in(graph, node->shape[3], bench),
                rows = size_in(graph, grad->shape[0], bench) * size_in(graph, grad->shape[2], bench) *
                       ceil(size_in(graph, grad->shape[3], bench) / STEP_CHANNELS),
                rate = target->warpgroup[RKB_TENSOR_PATH_TF32X3] * share,
                waves = ceil(ceil(m / tile) * ceil(c / tile) * split / (double)target->multiprocessors);
   const double time =
      LAUNCH_NANOSECONDS +
      waves * (TILE_NANOSECONDS +
               ceil(rows / split) * (STEP_NANOSECONDS + tile * tile * taps * STEP_CHANNELS / rate));
   return split > 1 ? time + LAUNCH_NANOSECONDS + split * m * c * taps * PART_BYTES / BYTES_A_NANOSECOND
                    : time;
}

/* Returns the geometric mean over the bench cases; HUGE_VAL: the kernel does not run in some of them. */
static double estimate(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_launch_t *launch,
                       double share) {
   double sum = 0;
   uint32_t count = 0;
   for (; rkb_task_case(graph->sizes.task, RKB_CASE_BENCH, count); count++) {
      if (!runs_in(graph, &graph->nodes[launch->anchors[0]], count))
         return HUGE_VAL;
      sum += log((graph->nodes[launch->anchors[0]].kind == RKB_NODE_CONVOLUTION_WEIGHT
                     ? weight_estimate_in
                     : estimate_in)(graph, target, launch, share, count));
   }
   return count ? exp(sum / count) : HUGE_VAL;
}

/* Sets the decisions that every launch of warpgroups has, close to those that the launch had, and as many stages as shared memory has room for.  False: the
 * launch is refused. */
static bool settle(const rkb_graph_t *graph, const rkb_target_t *target, int64_t groups,
                   rkb_launch_t *launch) {
   int64_t *d = launch->decisions;
   d[RKB_TILE_K] = (int64_t)STEP_CHANNELS;
   d[RKB_ORDER] = 0;
   rkb_tensor_settle(graph, target->shared_bytes, launch);
   d[RKB_GROUPS] = groups;
   /* The launches for other strides and sizes have tiles of warps.  They load pixels into registers, so their warps have small tiles. */
   d[RKB_WARP_M] = d[RKB_TILE_N] > 64 ? 64 : 32;
   d[RKB_WARP_N] = d[RKB_TILE_M] > 64 && d[RKB_TILE_N] > 128 ? 64 : 32;
   for (d[RKB_STAGES] = 4; d[RKB_STAGES] > 2 && rkb_launch_refused(graph, launch, target->shared_bytes);)
      d[RKB_STAGES]--;
   return rkb_convolution_is_tiled(graph, launch) && rkb_tensor_has(target, launch) &&
          !rkb_launch_refused(graph, launch, target->shared_bytes);
}

/* Chooses the number of parts of a weight's gradient.  Few parts leave multiprocessors idle, and many parts take long to add.  least: the time of the other
 * kernel, which the best number must beat by 3 %. */
static bool suit_weight(const rkb_graph_t *graph, const rkb_target_t *target, double least,
                        rkb_launch_t *launch) {
   const rkb_launch_t before = *launch;
   bool found = false;
   for (const int64_t *split = rkb_decision_values(RKB_SPLIT); *split > 0; split++) {
      rkb_launch_t tried = before;
      int64_t *d = tried.decisions;
      d[RKB_TILE_M] = d[RKB_TILE_N] = RKB_CONVOLUTION_GROUP_CHANNELS;
      d[RKB_SPLIT] = *split;
      d[RKB_PERSISTENT] = 0;
      const double time =
         settle(graph, target, 1, &tried) ? estimate(graph, target, &tried, WEIGHT_SHARE) : HUGE_VAL;
      if (time >= least * 0.97)
         continue;
      least = time;
      *launch = tried;
      found = true;
   }
   return found;
}

bool rkb_convolution_suit(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   const rkb_extents_t extents = rkb_launch_extents(graph, launch);
   double least = GATHERED * rkb_tensor_estimate(target, &extents, launch->decisions);
   if (graph->nodes[launch->anchors[0]].kind == RKB_NODE_CONVOLUTION_WEIGHT)
      return suit_weight(graph, target, least, launch);
   const rkb_launch_t before = *launch;
   bool found = false;
   for (uint32_t t = 0; t < 2 * sizeof tiles / sizeof tiles[0]; t++) {
      rkb_launch_t tried = before;
      int64_t *d = tried.decisions;
      d[RKB_TILE_M] = tiles[t / 2].channels;
      d[RKB_TILE_N] = tiles[t / 2].pixels;
      d[RKB_STRIP] = t % 2 ? 16 : 0;
      d[RKB_SPLIT] = 1;
      d[RKB_PERSISTENT] = 1;
      const double time = settle(graph, target, tiles[t / 2].groups, &tried)
                             ? estimate(graph, target, &tried, tiles[t / 2].share)
                             : HUGE_VAL;
      if (time >= least * 0.97)
         continue;
      least = time;
      *launch = tried;
      found = true;
   }
   return found;
}
