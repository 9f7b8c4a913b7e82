/* Finds by arithmetic the decisions that suit a product on tensor cores.  Pure functions. */
#include "generator/start/tensor_start.h"

#include <math.h>
#include "generator/graph/bench_sizes.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/text/fragments.h"
#include "generator/kernel/kernel_text.h"
#include "generator/kernel/second_tile.h"
#include "generator/text/product_index.h"
#include "generator/tile/tensor_tile.h"
#include "generator/decisions/warpgroup_start.h"

#define BYTES_A_NANOSECOND 3500.0
#define LAUNCH_NANOSECONDS 1500.0
/* Elements that a block computes of a factor, at ten instructions each. */
#define COMPUTED_A_NANOSECOND 20.0

double rkb_most_depth(const rkb_extents_t *extents) {
   double most = 0;
   for (uint32_t i = 0; i < extents->count; i++)
      most = fmax(most, extents->cases[i].depth);
   return most;
}

int64_t rkb_tensor_best(const rkb_graph_t *graph, const rkb_target_t *target, uint32_t product) {
   int64_t best = 0;
   for (int64_t path = 1; path < RKB_TENSOR_PATHS; path++)
      if (path != RKB_TENSOR_PATH_FP16X3 && /* search tries it: its speed depends on the numbers' range */
          target->tensor[path] > 0 && rkb_fragment_is_legal(graph, product, path) &&
          (!best || target->tensor[path] > target->tensor[best]))
         best = path;
   return best;
}

/* Tiles of blocks and warps that people use, with the share of mma.sync's rate that they tend to reach.
 * Larger warp tiles read shared memory less often, and two blocks on a multiprocessor wait in turn.  Of the
 * first three, the first was fastest on an H200 (docs/results/2026-11-23-tensor).  Convolutions, whose
 * threads compute a place for each row that they copy, were slower with it. */
static const struct {
   int64_t m, n, warp_m, warp_n;
   double share;
} tiles[] = {{128, 128, 64, 64, 0.82}, {128, 256, 64, 64, 0.80}, {256, 128, 64, 64, 0.80}, {128, 128, 64, 32, 0.72}, {128, 64, 32, 32, 0.60},
             {64, 128, 32, 32, 0.60},  {64, 64, 32, 32, 0.50},   {64, 64, 32, 16, 0.45},   {32, 128, 16, 32, 0.42}, {128, 32, 32, 16, 0.42},
             {32, 64, 16, 32, 0.38},   {64, 32, 32, 16, 0.38},   {32, 32, 16, 16, 0.28},   {16, 128, 16, 32, 0.34},
             {16, 64, 16, 16, 0.28},   {64, 16, 16, 16, 0.24},   {16, 32, 16, 16, 0.18},   {16, 16, 16, 16, 0.10}};

static double share_of(const int64_t *d) {
   const double warp = sqrt((double)(d[RKB_WARP_M] * d[RKB_WARP_N]));
   for (uint32_t t = 0; t < sizeof tiles / sizeof tiles[0]; t++)
      if (tiles[t].m == d[RKB_TILE_M] && tiles[t].n == d[RKB_TILE_N] && tiles[t].warp_m == d[RKB_WARP_M] &&
          tiles[t].warp_n == d[RKB_WARP_N])
         return tiles[t].share;
   return 0.8 * warp / 64;
}

bool rkb_tensor_has(const rkb_target_t *target, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   return target->tensor[d[RKB_TENSOR]] > 0 && (d[RKB_COPY] != RKB_COPY_TENSOR || target->warpgroup[d[RKB_TENSOR]] > 0);
}

static int64_t warps_of(const int64_t *d) {
   return d[RKB_TILE_M] / d[RKB_WARP_M] * (d[RKB_TILE_N] / d[RKB_WARP_N]);
}

/* Whether a block's sums leave no registers for a second block on the multiprocessor. */
static bool is_alone(const int64_t *d) {
   return 32 * warps_of(d) * (d[RKB_WARP_M] * d[RKB_WARP_N] / 32 + 64) > 65536 / 2;
}

/* The extents of products of single rows or columns side by side, taken as one product whose rows are listed; or of
 * products each of which has only the terms of its own list. */
static rkb_extent_t listed_of(const rkb_extent_t *e) {
   if (e->terms)
      return (rkb_extent_t){.m = e->m, .n = e->n, .depth = ceil(e->depth / e->matrices), .groups = e->groups};
   return (rkb_extent_t){.m = e->groups, .n = e->m * e->n, .depth = e->depth, .groups = 1, .matrices = e->matrices};
}

/* The estimate for one case, at this rate. */
static double estimate_in(const rkb_target_t *target, const rkb_extents_t *extents, uint32_t number, const int64_t *d, double rate) {
   const rkb_extent_t own = d[RKB_LISTED] ? listed_of(&extents->cases[number]) : extents->cases[number], *e = &own;
   const double m = (double)d[RKB_TILE_M], n = (double)d[RKB_TILE_N], split = (double)d[RKB_SPLIT];
   /* On average the last tile of each matrix is half full. */
   const double half_full = d[RKB_LISTED] ? e->matrices / 2 : 0;
   const double blocks = (ceil(e->m / m) + half_full) * ceil(e->n / n) * e->groups * split;
   const double waves = ceil(blocks / (double)target->multiprocessors);
   const bool warpgroups = d[RKB_COPY] == RKB_COPY_TENSOR;
   /* A block waits for memory before its first step, and for its barriers at each step. */
   const double steps = ceil(e->depth / split / (double)d[RKB_TILE_K]);
   double time = LAUNCH_NANOSECONDS + waves * (m * n * ceil(e->depth / split) / rate + 20 * steps + (warpgroups && !d[RKB_PERSISTENT] ? 1600 : 800));
   time += waves * (extents->computed[0] * m + extents->computed[1] * n) * ceil(e->depth / split) / COMPUTED_A_NANOSECOND;
   /* While a block stores, it does not multiply, but a second block on the multiprocessor does. */
   if (!warpgroups)
      time += waves * 4 * m * n * (double)target->multiprocessors / BYTES_A_NANOSECOND * (is_alone(d) ? 1 : 0.5);
   if (split > 1)
      time += LAUNCH_NANOSECONDS + split * e->m * e->n * e->groups * 8 / BYTES_A_NANOSECOND;
   return time;
}

double rkb_tensor_estimate(const rkb_target_t *target, const rkb_extents_t *e, const int64_t *d) {
   const double rate = d[RKB_COPY] == RKB_COPY_TENSOR ? target->warpgroup[d[RKB_TENSOR]] * rkb_warpgroup_share(d) : target->tensor[d[RKB_TENSOR]] * share_of(d);
   double sum = 0;
   for (uint32_t i = 0; i < e->count && rate > 0; i++)
      sum += log(estimate_in(target, e, i, d, rate));
   return rate > 0 ? exp(sum / e->count) : HUGE_VAL;
}

/* Whether steps that each belong to one tap are nearly full of channels. */
static bool suits_taps(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]];
   if (!rkb_decision_applies(graph, launch, RKB_TAPS))
      return false;
   const double channels = rkb_bench_size(graph, graph->nodes[node->inputs[1]].shape[node->kind == RKB_NODE_CONVOLUTION ? 1 : 0]),
                step = (double)launch->decisions[RKB_TILE_K];
   return channels > 0.75 * step * ceil(channels / step);
}

/* Sets how much depth is copied at a time: 64 bytes, or 128 where the stages have room. */
static void suit_depth(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   int64_t *d = launch->decisions;
   const int64_t bytes = rkb_fragment_type(d[RKB_TENSOR])->bytes;
   d[RKB_TILE_K] = (d[RKB_TENSOR] == RKB_TENSOR_PATH_TF32X3 ? 128 : 64) / bytes;
   d[RKB_COPY] = RKB_COPY_ASYNC;
   d[RKB_TAPS] = suits_taps(graph, launch);
   /* Channels that are last in memory are copied in wide pieces.  Twice as many in a step need half as many
    * places and barriers. */
   const bool gathers = launch->root_count && rkb_product_is_turned(graph, launch->anchors[0], launch->roots[0]);
   if (d[RKB_TAPS] && !gathers && bytes == 2) {
      d[RKB_TILE_K] *= 2;
      if (!suits_taps(graph, launch))
         d[RKB_TILE_K] /= 2;
   }
   /* Two blocks of four warps on a multiprocessor are worth more than a fourth stage. */
   const int64_t bytes_a_block = warps_of(d) > 4 ? target->shared_bytes : target->shared_bytes / 2;
   for (d[RKB_STAGES] = 4; d[RKB_STAGES] > 2 && rkb_launch_refused(graph, launch, bytes_a_block);)
      d[RKB_STAGES]--;
   while (d[RKB_STAGES] > 1 && rkb_launch_refused(graph, launch, target->shared_bytes))
      d[RKB_STAGES]--;
}

/* Gives a launch of mapping TENSOR a tile of warpgroups and this many parts.  False: its sums are too short for so
 * many parts, or the target has no products of warpgroups. */
static bool give_tile(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_extents_t *e,
                      const rkb_warpgroup_tile_t *tile, int64_t split, rkb_launch_t *launch) {
   int64_t *d = launch->decisions;
   const uint32_t kind = graph->nodes[launch->anchors[0]].kind;
   /* On an H200, seven parts of bf16_conv2d's weight gradient gain 8 % in one bench case and lose 2 % in another case.  The other case then
    * has 0.84 of PyTorch's speed. */
   if (kind == RKB_NODE_CONVOLUTION_WEIGHT && split == 7)
      return false;
   d[RKB_TILE_M] = tile->m;
   d[RKB_TILE_N] = tile->n;
   d[RKB_SPLIT] = split;
   d[RKB_PERSISTENT] = 1;
   rkb_tensor_settle(graph, target->shared_bytes, launch);
   d[RKB_GROUPS] = tile->groups;
   d[RKB_ORDER] = ceil(e->mean.m / (double)d[RKB_TILE_M]) <= 32 ? 0
                  : kind == RKB_NODE_CONVOLUTION_INPUT          ? 8
                                                                : 16;
   return (split == 1 || rkb_most_depth(e) / (double)split >= 4 * (double)d[RKB_TILE_K]) &&
          rkb_tensor_has(target, launch);
}

bool rkb_tensor_suit_warpgroups(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_extents_t *e,
                                rkb_launch_t *launch) {
   double least = rkb_tensor_estimate(target, e, launch->decisions);
   bool found = false;
   for (const rkb_warpgroup_tile_t *tile = rkb_warpgroup_tiles(); tile->m; tile++)
      for (const int64_t *split = rkb_decision_values(RKB_SPLIT); *split > 0; split++) {
         rkb_launch_t tried = *launch;
         const bool possible = give_tile(graph, target, e, tile, *split, &tried);
         const double time = rkb_tensor_estimate(target, e, tried.decisions);
         if (time >= least * 0.97 || !possible || rkb_launch_refused(graph, &tried, target->shared_bytes))
            continue;
         least = time;
         *launch = tried;
         found = true;
      }
   return found;
}

/* The number that the condition of second_tile.c compares in a case; the least length of parts is not checked. */
static double rounds_of(const rkb_target_t *target, const rkb_launch_t *launch, const rkb_extent_t *e) {
   const int64_t *d = launch->decisions;
   const double tiles = ceil(e->m / (double)d[RKB_TILE_M]) * ceil(e->n / (double)d[RKB_TILE_N]) * e->groups * (double)d[RKB_SPLIT];
   return ceil(tiles / (double)target->multiprocessors) * (double)rkb_tile_time(launch) *
          ceil(e->depth / (double)d[RKB_SPLIT]);
}

/* The estimate for one case, by warpgroups. */
static double estimate_of(const rkb_target_t *target, const rkb_extents_t *e, uint32_t number,
                          const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   return estimate_in(target, e, number, d, target->warpgroup[d[RKB_TENSOR]] * rkb_warpgroup_share(d));
}

/* Whether a case fills a whole tile.  With fewer rows or columns the product spends more time reading than multiplying, so a smaller tile gains
 * less than the estimate says: nothing in the gradients of attention with heads of 64 (docs/results/2026-11-26-table). */
static bool fills_tile(const rkb_launch_t *launch, const rkb_extent_t *e) {
   return e->m >= (double)launch->decisions[RKB_TILE_M] && e->n >= (double)launch->decisions[RKB_TILE_N];
}

/* The geometric mean of the estimate over the bench cases, each with the tile that it takes.  gain: for each case that fills the only tile of
 * `single`, its time divided by its time with that tile; the least of these quotients. */
static double estimate_with(const rkb_target_t *target, const rkb_extents_t *e, const rkb_launch_t *single,
                            const rkb_launch_t *launch, const rkb_launch_t *other, double *gain) {
   double sum = 0;
   *gain = 1;
   for (uint32_t i = 0; i < e->count; i++) {
      const bool second = rounds_of(target, other, &e->cases[i]) < rounds_of(target, launch, &e->cases[i]);
      const double time = estimate_of(target, e, i, second ? other : launch);
      if (fills_tile(single, &e->cases[i]))
         *gain = fmin(*gain, time / estimate_of(target, e, i, single));
      sum += log(time);
   }
   return exp(sum / e->count);
}

/* A second tile is another kernel to build.  So it must shorten the mean over all cases, or the time of one case, to this share.  The mean
 * shows little of one case's gain: the more cases take the first tile, the less. */
#define OTHER_GAIN 0.932
#define FIRST_GAIN 0.97 /* another first tile must be faster by this factor */

/* Gives a launch the second tile that suits it best, if the cases then take less than `least`, and updates `least`.
 * single: the launch with one tile.  False: no second tile makes them take less, and the launch is unchanged. */
static bool give_other(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_extents_t *e,
                       const rkb_launch_t *single, double *least, rkb_launch_t *launch) {
   const rkb_launch_t first = *launch;
   const double alone = rkb_tensor_estimate(target, e, single->decisions);
   bool found = false;
   for (const rkb_warpgroup_tile_t *tile = rkb_warpgroup_tiles(); tile->m; tile++)
      for (const int64_t *split = rkb_decision_values(RKB_OTHER_SPLIT); *split > 0; split++) {
         rkb_launch_t tried = first;
         tried.decisions[RKB_OTHER_M] = tile->m;
         tried.decisions[RKB_OTHER_N] = tile->n;
         tried.decisions[RKB_OTHER_SPLIT] = *split;
         if ((*split > 1 && rkb_most_depth(e) / (double)*split < 4 * (double)first.decisions[RKB_TILE_K]) ||
             rkb_second_tile_refused(graph, &tried, target->shared_bytes))
            continue;
         const rkb_launch_t other = rkb_second_tile_launch(graph, &tried, target->shared_bytes);
         double gain;
         const double time = estimate_with(target, e, single, &first, &other, &gain);
         if (time >= *least || (time >= OTHER_GAIN * alone && gain >= OTHER_GAIN))
            continue;
         *least = time;
         *launch = tried;
         found = true;
      }
   return found;
}

bool rkb_tensor_suit_other(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_extents_t *e,
                           rkb_launch_t *launch) {
   if (e->count < 2)
      return false;
   const rkb_launch_t single = *launch;
   const double alone = rkb_tensor_estimate(target, e, launch->decisions);
   double least = FIRST_GAIN * alone;
   bool found = give_other(graph, target, e, &single, &least, launch);
   /* The first tile suits all cases on average.  Once the cases that it suits least have another tile, a different
    * first tile may suit the other cases better. */
   for (const rkb_warpgroup_tile_t *tile = rkb_warpgroup_tiles(); tile->m; tile++)
      for (const int64_t *split = rkb_decision_values(RKB_SPLIT); *split > 0; split++) {
         rkb_launch_t tried = single;
         double time = FIRST_GAIN * (found ? least : alone);
         if (!give_tile(graph, target, e, tile, *split, &tried) ||
             rkb_launch_refused(graph, &tried, target->shared_bytes) ||
             !give_other(graph, target, e, &single, &time, &tried))
            continue;
         least = time;
         *launch = tried;
         found = true;
      }
   return found;
}

/* Whether a value needs inputs only, and no earlier launch. */
static bool needs_inputs_alone(const rkb_graph_t *graph, uint32_t node) {
   const rkb_node_t *from = &graph->nodes[node];
   if (from->kind == RKB_NODE_INPUT || !rkb_node_is_light(from))
      return from->kind == RKB_NODE_INPUT;
   for (uint32_t i = 0; i < from->input_count; i++)
      if (!needs_inputs_alone(graph, from->inputs[i]))
         return false;
   return true;
}

bool rkb_factor_is_computed(const rkb_graph_t *graph, uint32_t node) {
   uint32_t behind = node;
   for (const rkb_node_t *from = &graph->nodes[behind];
        rkb_node_is_view(from) || (from->kind == RKB_NODE_MAP && from->input_count == 1); from = &graph->nodes[behind])
      behind = from->inputs[0];
   return graph->nodes[behind].kind != RKB_NODE_INPUT && needs_inputs_alone(graph, node);
}

double rkb_tensor_suit(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_extents_t *extents,
                       rkb_launch_t *launch) {
   rkb_launch_t tried = *launch;
   double least = HUGE_VAL;
   const int64_t best = rkb_tensor_best(graph, target, launch->anchors[0]);
   /* A computed factor takes registers and waits for its own loads.  Small tiles leave room for many
    * warps. */
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]];
   int64_t *d = tried.decisions;
   tried.mapping = RKB_MAP_TENSOR;
   d[RKB_LISTED] = rkb_decision_applies(graph, &tried, RKB_LISTED);
   rkb_extents_t e = *extents;
   for (uint32_t i = 0; i < 2; i++)
      e.computed[i] = !d[RKB_LISTED] && rkb_factor_is_computed(graph, node->inputs[i]);
   const bool computed = e.computed[0] || e.computed[1];
   const bool gathers = node->kind != RKB_NODE_MATMUL && (!launch->root_count || rkb_product_is_turned(graph, launch->anchors[0], launch->roots[0]));
   d[RKB_TENSOR] = best;
   d[RKB_VECTOR] = 1;
   for (uint32_t t = 0; best && t < sizeof tiles / sizeof tiles[0]; t++)
      for (const int64_t *split = rkb_decision_values(RKB_SPLIT); *split > 0; split++) {
         d[RKB_TILE_M] = tiles[t].m;
         d[RKB_TILE_N] = tiles[t].n;
         d[RKB_WARP_M] = tiles[t].warp_m;
         d[RKB_WARP_N] = tiles[t].warp_n;
         d[RKB_SPLIT] = *split;
         suit_depth(graph, target, &tried);
         const double time = rkb_tensor_estimate(target, &e, d);
         if (time >= least * 0.97 || (!t && gathers) || (computed && tiles[t].warp_m * tiles[t].warp_n > 512) || (*split > 1 && rkb_most_depth(&e) / (double)*split < 2 * (double)d[RKB_TILE_K]) ||
             rkb_launch_refused(graph, &tried, target->shared_bytes))
            continue;
         least = time;
         d[RKB_ORDER] =
            ceil((d[RKB_LISTED] && !e.mean.terms ? e.mean.groups : e.mean.m) / (double)tiles[t].m) > 8 ? 8
                                                                                                       : 0;
         *launch = tried;
      }
   return least;
}

/* The first launch that writes this node; schedule->count if there is none. */
static uint32_t writer_of(const rkb_schedule_t *schedule, uint32_t node) {
   for (uint32_t l = 0; l < schedule->count; l++)
      for (uint32_t r = 0; r < schedule->launches[l].root_count; r++)
         if (schedule->launches[l].roots[r] == node)
            return l;
   return schedule->count;
}

/* The launches that write what a value is computed from, one bit each. */
static uint64_t writers_of(const rkb_graph_t *graph, const rkb_schedule_t *schedule, uint32_t node, bool *seen) {
   const uint32_t launch = writer_of(schedule, node);
   uint64_t launches = launch < schedule->count ? UINT64_C(1) << launch : 0;
   if (launches || seen[node])
      return launches;
   seen[node] = true;
   for (uint32_t i = 0; i < graph->nodes[node].input_count; i++)
      launches |= writers_of(graph, schedule, graph->nodes[node].inputs[i], seen);
   return launches;
}

/* Gives a launch another root and removes the roots that no launch needs any more.  False: it cannot write
 * the new root. */
static bool give_root(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number,
                      uint32_t node) {
   rkb_launch_t *launch = &schedule->launches[number], before = *launch;
   if (launch->root_count == RKB_MAX_LAUNCH_NODES)
      return false;
   launch->roots[launch->root_count++] = node;
   if (!rkb_schedule_is_legal(graph, schedule, target->shared_bytes) ||
       !rkb_schedule_has_tiles(graph, schedule, number, target->shared_bytes)) {
      *launch = before;
      return false;
   }
   for (uint32_t r = 0; r + 1 < launch->root_count;) {
      before = *launch;
      launch->roots[r] = launch->roots[--launch->root_count];
      if (rkb_node_is_output(graph, before.roots[r]) ||
          !rkb_schedule_is_legal(graph, schedule, target->shared_bytes)) {
         *launch = before;
         r++;
      }
   }
   return true;
}

void rkb_schedule_store_operands(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule) {
   for (uint32_t l = 0; l < schedule->count; l++)
      for (uint32_t i = 0; i < 2; i++) {
         const rkb_launch_t *launch = &schedule->launches[l];
         if (!launch->anchor_count || !rkb_node_is_product(&graph->nodes[launch->anchors[0]]) ||
             !rkb_tensor_best(graph, target, launch->anchors[0]))
            continue;
         uint32_t node = graph->nodes[launch->anchors[0]].inputs[i];
         while (rkb_node_is_view(&graph->nodes[node]))
            node = graph->nodes[node].inputs[0];
         bool seen[RKB_MAX_GRAPH_NODES] = {0};
         const uint64_t launches = writers_of(graph, schedule, node, seen);
         if (graph->nodes[node].kind == RKB_NODE_INPUT || writer_of(schedule, node) < schedule->count || !launches)
            continue;
         const uint32_t last = 63 - (uint32_t)__builtin_clzll(launches);
         if (last < l)
            give_root(graph, target, schedule, last, node);
      }
}
