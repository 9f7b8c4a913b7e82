/* Schedules as data: the names of decisions, their values, and which launches may have them.  Pure
 * functions. */
#include "generator/element/element_lines.h"
#include "generator/graph/bench_sizes.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/decisions/stored_type.h"

#include <stdlib.h>
#include <string.h>
#include "generator/element/channelwise.h"
#include "generator/graph/needed_values.h"
#include "generator/tile/convolution_extent.h"
#include "generator/text/fragments.h"
#include "generator/tile/rows_by_matrix.h"
#include "generator/row/moments.h"
#include "generator/online/online_nodes.h"
#include "generator/tile/pixel_map.h"
#include "generator/graph/pool_window.h"
#include "generator/text/product_index.h"
#include "generator/text/sum_parts.h"
#include "generator/row/ranks.h"
#include "generator/row/row_range_sums.h"
#include "generator/tile/tensor_tile.h"
#include "generator/tile/stored_sums.h"
#include "generator/element/window_text.h"

static const char *const mappings[] = {
   [RKB_MAP_ELEMENT] = "element", [RKB_MAP_ROW] = "row",
   [RKB_MAP_COLUMN] = "column",   [RKB_MAP_TILE] = "tile",
   [RKB_MAP_SCAN] = "scan",       [RKB_MAP_ONLINE] = "online",
   [RKB_MAP_RANK] = "rank",       [RKB_MAP_LINK] = "link",
   [RKB_MAP_TENSOR] = "tensor",   [RKB_MAP_ONLINE_TENSOR] = "online_tensor",
   [RKB_MAP_STEPS] = "steps"};
static const char *const copies[] = {[RKB_COPY_PLAIN] = "plain", [RKB_COPY_ASYNC] = "cp.async", [RKB_COPY_TENSOR] = "tensor"};

static const char *const layouts[] = {[RKB_LAYOUT_SWIZZLED] = "swizzled", [RKB_LAYOUT_PADDED] = "padded", [RKB_LAYOUT_PLAIN] = "plain"};

enum { TILES = 1u << RKB_MAP_TILE | 1u << RKB_MAP_TENSOR, ONLINE = 1u << RKB_MAP_ONLINE | 1u << RKB_MAP_ONLINE_TENSOR };

static const struct {
   const char *name;
   uint32_t mappings; /* bit m: launches of mapping m may have the decision */
   int64_t values[12];
} table[RKB_DECISIONS] = {
   [RKB_THREADS] = {"threads",
                    1u << RKB_MAP_ELEMENT | 1u << RKB_MAP_ROW | 1u << RKB_MAP_COLUMN | 1u << RKB_MAP_SCAN |
                       1u << RKB_MAP_RANK | 1u << RKB_MAP_LINK | 1u << RKB_MAP_STEPS,
                    {64, 128, 256, 512, 1024, -1}},
   [RKB_VECTOR] = {"vector",
                   1u << RKB_MAP_ELEMENT | 1u << RKB_MAP_ROW | 1u << RKB_MAP_TILE | 1u << RKB_MAP_SCAN |
                      1u << RKB_MAP_LINK | 1u << RKB_MAP_ONLINE | 1u << RKB_MAP_RANK,
                   {1, 2, 4, 8, -1}},
   [RKB_ROWS] = {"rows", 1u << RKB_MAP_ROW | 1u << RKB_MAP_RANK, {1, 2, 4, 8, -1}},
   [RKB_SPLIT] = {"split",
                  1u << RKB_MAP_ROW | 1u << RKB_MAP_COLUMN | TILES,
                  {1, 2, 4, 7, 8, 16, 32, 64, 128, 256, -1}},
   [RKB_TILE_M] = {"tile_m", TILES | ONLINE, {8, 16, 32, 64, 128, 256, -1}},
   [RKB_TILE_N] = {"tile_n", TILES | ONLINE, {8, 16, 32, 64, 128, 192, 256, -1}},
   [RKB_TILE_K] = {"tile_k", TILES, {4, 8, 16, 32, 64, 128, -1}},
   [RKB_THREAD_M] = {"thread_m", 1u << RKB_MAP_TILE | 1u << RKB_MAP_ONLINE, {1, 2, 4, 8, 16, -1}},
   [RKB_THREAD_N] = {"thread_n", 1u << RKB_MAP_TILE | 1u << RKB_MAP_ONLINE, {1, 2, 4, 8, 16, -1}},
   [RKB_PREFETCH] = {"prefetch", 1u << RKB_MAP_TILE | 1u << RKB_MAP_ROW, {0, 1, -1}},
   [RKB_KEEP] = {"keep",
                 1u << RKB_MAP_ROW | 1u << RKB_MAP_ONLINE_TENSOR | 1u << RKB_MAP_RANK,
                 {0, 1, 2, 4, 8, 16, 32, -1}},
   [RKB_BLOCKS] = {"blocks", TILES | ONLINE, {0, 1, 2, 3, 4, -1}},
   [RKB_TENSOR] = {"tensor", 1u << RKB_MAP_TENSOR | 1u << RKB_MAP_ONLINE_TENSOR, {1, 2, 3, 6, 4, 5, -1}},
   [RKB_WARP_M] = {"warp_m", 1u << RKB_MAP_TENSOR | 1u << RKB_MAP_ONLINE_TENSOR, {16, 32, 64, 128, -1}},
   [RKB_WARP_N] = {"warp_n", 1u << RKB_MAP_TENSOR | 1u << RKB_MAP_ONLINE_TENSOR, {16, 32, 64, 128, -1}},
   [RKB_COPY] = {"copy",
                 1u << RKB_MAP_TENSOR | 1u << RKB_MAP_ONLINE_TENSOR,
                 {RKB_COPY_PLAIN, RKB_COPY_ASYNC, RKB_COPY_TENSOR, -1}},
   [RKB_STAGES] = {"stages",
                   1u << RKB_MAP_ROW | 1u << RKB_MAP_TENSOR | 1u << RKB_MAP_ONLINE_TENSOR,
                   {1, 2, 3, 4, 5, 6, -1}},
   [RKB_ORDER] = {"order", 1u << RKB_MAP_TENSOR, {0, 1, 2, 4, 8, 16, -1}},
   [RKB_GROUPS] = {"groups", 1u << RKB_MAP_TENSOR, {1, 2, -1}},
   [RKB_PERSISTENT] = {"persistent", 1u << RKB_MAP_TENSOR, {0, 1, -1}},
   [RKB_TAPS] = {"taps", 1u << RKB_MAP_TENSOR, {0, 1, -1}},
   [RKB_PLACES] = {"places", 1u << RKB_MAP_ELEMENT, {1, 2, 3, 4, -1}},
   [RKB_WINDOW] = {"window", 1u << RKB_MAP_ELEMENT, {0, 1, -1}},
   [RKB_MOMENTS] = {"moments", 1u << RKB_MAP_ROW, {0, 1, -1}},
   [RKB_STRETCHES] = {"stretches", 1u << RKB_MAP_ROW, {0, 66, 132, 264, 396, 528, -1}},
   [RKB_SEGMENTS] = {"segments", 1u << RKB_MAP_ROW, {0, 1, -1}},
   [RKB_CHANNELS] = {"channels", 1u << RKB_MAP_ELEMENT, {1, 2, 4, 8, -1}},
   [RKB_SHORTER] = {"shorter", 1u << RKB_MAP_ROW, {1, 2, 4, 8, 16, -1}},
   [RKB_SMALL] = {"small", TILES, {0, 64, 256, -1}},
   [RKB_BESIDE] = {"beside",
                   1u << RKB_MAP_ELEMENT | 1u << RKB_MAP_ROW | 1u << RKB_MAP_COLUMN | TILES,
                   {0, 1, -1}},
   [RKB_STRIP] = {"strip", 1u << RKB_MAP_ELEMENT | 1u << RKB_MAP_TENSOR, {0, 4, 8, 16, -1}},
   [RKB_HELD] = {"held", 1u << RKB_MAP_TENSOR, {0, 1, -1}},
   [RKB_LISTED] = {"listed", 1u << RKB_MAP_TENSOR, {0, 1, -1}},
   [RKB_CLUSTER] = {"cluster", 1u << RKB_MAP_ROW, {1, 2, 4, 8, -1}},
   [RKB_DEPENDENT] = {"dependent", (1u << RKB_MAPPINGS) - 1, {0, 1, -1}},
   [RKB_WARPS] = {"warps", 1u << RKB_MAP_ROW, {0, 6, 7, -1}},
   [RKB_SHARE_LAST] = {"share_last", 1u << RKB_MAP_ONLINE_TENSOR, {0, 1, -1}},
   [RKB_NARROW] = {"narrow", 1u << RKB_MAP_TENSOR, {0, 1, -1}},
   [RKB_PARTS] = {"parts", 1u << RKB_MAP_ELEMENT, {1, 2, 4, 8, 16, -1}},
   [RKB_LINES] = {"lines", 1u << RKB_MAP_ELEMENT, {1, 2, 4, -1}},
   [RKB_SHARED_LAYOUT] = {"shared_layout",
                          1u << RKB_MAP_TENSOR,
                          {RKB_LAYOUT_SWIZZLED, RKB_LAYOUT_PADDED, RKB_LAYOUT_PLAIN, -1}},
   [RKB_PHASES] = {"phases", 1u << RKB_MAP_TENSOR, {0, 1, -1}},
   [RKB_OTHER_M] = {"other_m", 1u << RKB_MAP_TENSOR, {0, 64, 128, 256, -1}},
   [RKB_OTHER_N] = {"other_n", 1u << RKB_MAP_TENSOR, {0, 64, 128, 192, 256, -1}},
   [RKB_OTHER_SPLIT] = {"other_split", 1u << RKB_MAP_TENSOR, {1, 2, 4, 8, 16, 32, 44, 64, 128, 256, -1}},
};

const char *rkb_decision_word(uint32_t decision, int64_t value) {
   return decision == RKB_TENSOR          ? rkb_fragment_type(value)->name
          : decision == RKB_COPY          ? copies[value]
          : decision == RKB_SHARED_LAYOUT ? layouts[value]
                                          : NULL;
}

const char *rkb_decision_name(uint32_t decision) {
   return table[decision].name;
}

const char *rkb_mapping_name(uint32_t mapping) {
   return mappings[mapping];
}

bool rkb_mapping_has(uint32_t mapping, uint32_t decision) {
   return table[decision].mappings >> mapping & 1;
}

/* Whether a value is joined from parts along its last dim, or is the gradient of such a part, through light
 * nodes. */
static bool joins(const rkb_graph_t *graph, uint32_t number, bool *seen) {
   const rkb_node_t *node = &graph->nodes[number];
   if (seen[number] || !rkb_node_is_light(node))
      return false;
   seen[number] = true;
   if ((node->kind == RKB_NODE_CAT || node->kind == RKB_NODE_EMBED) && graph->sizes.list[node->integers[0]].at[0] == (int64_t)node->rank - 1)
      return true;
   for (uint32_t i = 0; i < node->input_count; i++)
      if (joins(graph, node->inputs[i], seen))
         return true;
   return false;
}

bool rkb_launch_joins(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   bool seen[RKB_MAX_GRAPH_NODES] = {0};
   for (uint32_t r = 0; r < launch->root_count; r++)
      if (joins(graph, launch->roots[r], seen))
         return true;
   return false;
}

/* Whether a launch computes a max pool whose windows lie side by side, or the gradient of this pool, alone or with a
 * convolution under it. */
static bool has_windows(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const rkb_node_t *node = launch->anchor_count ? &graph->nodes[launch->anchors[0]] : NULL;
   int64_t places = 1;
   if (!node || node->kind != RKB_NODE_POOL || strncmp(node->operation, "max_pool", 8) != 0 || rkb_windows_meet(graph, node) ||
       launch->anchor_count > 2 || (launch->anchor_count == 2 && !rkb_window_convolves(graph, launch->anchors[1])))
      return false;
   for (uint32_t d = 0; d + 2 < node->rank; d++)
      places *= rkb_window_side(graph, node, d);
   return places <= 16;
}

static const char *window_refused(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   const rkb_node_t *pool = &graph->nodes[launch->anchors[0]];
   const int64_t side = rkb_window_side(graph, pool, pool->rank - 3);
   if (d[RKB_VECTOR] > 1 && (d[RKB_VECTOR] % side != 0 || d[RKB_VECTOR] == side))
      return "a vector has several whole windows' places of a row";
   return d[RKB_CHANNELS] > 1 && launch->anchor_count < 2 ? "channels share the pixels of a convolution under the windows" : NULL;
}

/* Whether threads may share the sum of an element: it is the sum of a product, and a thread owns nothing else. */
static bool may_have_parts(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   return launch->anchor_count == 1 && rkb_node_is_product(&graph->nodes[launch->anchors[0]]) &&
          d[RKB_VECTOR] == 1 && d[RKB_PLACES] == 1 && !d[RKB_WINDOW] && !d[RKB_STRIP];
}

bool rkb_decision_applies(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t decision) {
   if (decision >= RKB_DECISIONS || !(table[decision].mappings >> launch->mapping & 1))
      return false;
   if (decision == RKB_TAPS && (!launch->anchor_count || !rkb_product_has_taps(&graph->nodes[launch->anchors[0]])))
      return false;
   if (decision == RKB_LISTED &&
       (!launch->anchor_count || !rkb_rows_by_matrix_apply(graph, launch->anchors[0])))
      return false;
   if (decision == RKB_WINDOW && !has_windows(graph, launch))
      return false;
   if (decision == RKB_CHANNELS && (launch->anchor_count < 2 || !has_windows(graph, launch)))
      return false;
   if (decision == RKB_STRIP && !(launch->mapping == RKB_MAP_TENSOR ? rkb_convolution_is_tiled(graph, launch) : rkb_launch_is_channelwise(graph, launch)))
      return false;
   if (decision == RKB_PARTS && !may_have_parts(graph, launch))
      return false;
   if (decision == RKB_LINES && !rkb_lines_apply(graph, launch))
      return false;
   if (decision == RKB_PLACES && (launch->anchor_count || !rkb_launch_joins(graph, launch)))
      return false;
   const bool of_warpgroups = decision == RKB_GROUPS || decision == RKB_PERSISTENT,
              /* In launches of warpgroups, only the kernels for other strides have tiles of warps. */
      of_warps = decision == RKB_WARP_M || decision == RKB_WARP_N;
   if (launch->mapping == RKB_MAP_ONLINE_TENSOR && (of_warps || decision == RKB_KEEP) && launch->decisions[RKB_COPY] == RKB_COPY_TENSOR)
      return false;
   if (launch->mapping == RKB_MAP_TENSOR && (of_warpgroups || of_warps) &&
       of_warpgroups != (launch->decisions[RKB_COPY] == RKB_COPY_TENSOR))
      return false;
   if (decision == RKB_SHARED_LAYOUT && (launch->decisions[RKB_COPY] == RKB_COPY_TENSOR ||
                                         launch->decisions[RKB_TENSOR] == RKB_TENSOR_PATH_FP16X3))
      return false;
   if (decision == RKB_SHARE_LAST && !rkb_online_has_share(graph, launch))
      return false;
   if (decision == RKB_PHASES && (launch->decisions[RKB_COPY] != RKB_COPY_TENSOR || !rkb_launch_has_phases(graph, launch)))
      return false;
   if (decision == RKB_NARROW &&
       !(rkb_sums_stay(graph, launch) &&
         (graph->nodes[launch->roots[0]].dtype == RKB_BF16 || rkb_may_store_bf16(graph, launch->roots[0]))))
      return false;
   if (decision == RKB_OTHER_M && launch->decisions[RKB_COPY] != RKB_COPY_TENSOR)
      return false;
   if ((decision == RKB_OTHER_N || decision == RKB_OTHER_SPLIT) && !launch->decisions[RKB_OTHER_M])
      return false;
   if (decision == RKB_HELD && (launch->decisions[RKB_COPY] != RKB_COPY_TENSOR || launch->decisions[RKB_TENSOR] != RKB_TENSOR_PATH_TF32X3))
      return false;
   if (launch->mapping == RKB_MAP_ROW && decision == RKB_PREFETCH && !launch->decisions[RKB_KEEP])
      return false;
   if (launch->mapping == RKB_MAP_ROW && decision == RKB_STAGES &&
       !(launch->decisions[RKB_PREFETCH] && launch->decisions[RKB_KEEP] && launch->decisions[RKB_STRETCHES]))
      return false;
   if (decision == RKB_WARPS && (launch->decisions[RKB_CLUSTER] == 1 || !launch->decisions[RKB_KEEP] || launch->decisions[RKB_SPLIT] > 1))
      return false;
   if (decision == RKB_SHORTER && (graph->nodes[launch->anchors[0]].kind != RKB_NODE_REDUCE))
      return false;
   if (launch->mapping == RKB_MAP_RANK && (decision == RKB_VECTOR || decision == RKB_ROWS) && !launch->decisions[RKB_KEEP])
      return false;
   if (decision == RKB_SEGMENTS && !rkb_launch_has_segment_sums(graph, launch))
      return false;
   if (decision == RKB_CLUSTER && graph->nodes[launch->anchors[0]].kind != RKB_NODE_REDUCE)
      return false;
   if (launch->decisions[RKB_SEGMENTS] && launch->mapping == RKB_MAP_ROW &&
       (decision == RKB_SPLIT || decision == RKB_KEEP || decision == RKB_SHORTER || decision == RKB_ROWS))
      return false;
   if (decision == RKB_STRETCHES && !rkb_launch_has_stretch_sums(graph, launch))
      return false;
   uint32_t mean = 0;
   const uint32_t variance = launch->mapping == RKB_MAP_ROW ? rkb_launch_moments(graph, launch, &mean) : launch->anchor_count;
   if (decision == RKB_MOMENTS && variance == launch->anchor_count)
      return false;
   /* A launch of split rows stores parts for a second launch, and has no later passes. */
   for (uint32_t i = 1; i < launch->anchor_count && launch->mapping == RKB_MAP_ROW && decision == RKB_SPLIT; i++)
      for (uint32_t j = 0; j < i; j++)
         if (rkb_reduction_needs(graph, launch->anchors[i], launch->anchors[j]) && !(launch->decisions[RKB_MOMENTS] && i == variance && j == mean))
            return false;
   return true;
}

const int64_t *rkb_decision_values(uint32_t decision) {
   return table[decision].values;
}

rkb_launch_t *rkb_schedule_add(rkb_schedule_t *schedule, enum rkb_mapping mapping) {
   static const int64_t defaults[RKB_DECISIONS] = {
      [RKB_THREADS] = 256, [RKB_VECTOR] = 1,  [RKB_ROWS] = 1,     [RKB_SPLIT] = 1,       [RKB_TILE_M] = 16,
      [RKB_TILE_N] = 16,   [RKB_TILE_K] = 16, [RKB_THREAD_M] = 1, [RKB_THREAD_N] = 1,    [RKB_TENSOR] = 1,
      [RKB_WARP_M] = 16,   [RKB_WARP_N] = 16, [RKB_STAGES] = 1,   [RKB_GROUPS] = 1,      [RKB_PLACES] = 1,
      [RKB_CHANNELS] = 1,  [RKB_SHORTER] = 1, [RKB_CLUSTER] = 1,  [RKB_OTHER_SPLIT] = 1, [RKB_PARTS] = 1,
      [RKB_LINES] = 1};
   if (schedule->count == RKB_MAX_SCHEDULE_LAUNCHES)
      return NULL;
   rkb_launch_t *launch = &schedule->launches[schedule->count++];
   *launch = (rkb_launch_t){.mapping = mapping};
   memcpy(launch->decisions, defaults, sizeof defaults);
   return launch;
}

/* Most elements of all parts of a split sum.  More parts take longer than they save, and the checking machine
 * has 1 GiB for all buffers of a plan. */
#define MOST_PARTS (128 << 20)

/* Most threads of all parts of a row, for each element that the row has in the bench cases.  With more threads, most have nothing to add in
 * the bench cases, and nearly all have nothing in small shapes, where they would use up the checking machine's budget.  Up to this number,
 * threads are cheap in every shape. */
#define MOST_OF_PARTS 4
#define LEAST_OF_PARTS 4096

static bool has_too_many_parts(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   double elements = 0;
   if (!rkb_decision_applies(graph, launch, RKB_SPLIT) || launch->decisions[RKB_SPLIT] == 1)
      return false;
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      elements += rkb_bench_elements(graph, launch->anchors[a]);
   return (double)launch->decisions[RKB_SPLIT] * elements > MOST_PARTS;
}

/* Why a launch cannot give its shorter rows to clusters and its longer rows to other kernels
 * (longer_rows.h). */
static const char *longer_refused(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const rkb_node_t *anchor = &graph->nodes[launch->anchors[0]];
   if (anchor->kind != RKB_NODE_REDUCE || !rkb_decision_applies(graph, launch, RKB_SPLIT) || launch->decisions[RKB_KEEP])
      return "rows that are split are reductions in one pass, and are not kept";
   for (uint32_t r = 0; r < launch->root_count; r++) {
      const rkb_node_t *root = &graph->nodes[launch->roots[r]], *first = &graph->nodes[launch->roots[0]];
      if (rkb_bench_elements(graph, launch->roots[r]) < 1.5 * rkb_bench_elements(graph, launch->anchors[0]) || root->rank != first->rank ||
          memcmp(root->shape, first->shape, root->rank * sizeof *root->shape) != 0)
         return "longer rows are written by a launch of elements, each place of a row";
   }
   return NULL;
}

const char *rkb_launch_refused(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t shared_bytes) {
   const int64_t *d = launch->decisions;
   if (has_too_many_parts(graph, launch))
      return "the parts of its sums have more than 128 Mi elements in the bench cases";
   if (launch->mapping == RKB_MAP_ELEMENT && d[RKB_STRIP] && (d[RKB_VECTOR] > 4 || !rkb_launch_is_channelwise(graph, launch)))
      return "a thread owns a strip of pixels of a convolution of channels by themselves, at most four channels";
   if (launch->mapping == RKB_MAP_ELEMENT && d[RKB_WINDOW] && !has_windows(graph, launch))
      return "a thread owns windows of a largest pool or of its gradient, where they lie side by side";
   if (launch->mapping == RKB_MAP_ELEMENT && (d[RKB_WINDOW] ? window_refused(graph, launch) != NULL : d[RKB_CHANNELS] > 1 || launch->anchor_count > 1))
      return d[RKB_WINDOW] ? window_refused(graph, launch) : "a thread that owns one element has one heavy node";
   if (d[RKB_LINES] > 1 &&
       (!rkb_lines_apply(graph, launch) || d[RKB_PLACES] > 1 || d[RKB_VECTOR] == 1 || d[RKB_BESIDE]))
      return "a thread owns vectors of several rows where it computes no sum, has one place of each row, and has its kernel to itself";
   if (launch->mapping == RKB_MAP_ELEMENT && d[RKB_PARTS] > 1 &&
       (!may_have_parts(graph, launch) || d[RKB_THREADS] / d[RKB_PARTS] < RKB_LEAST_PART_THREADS))
      return "threads that share the sum of a product have one element, and whole warps have a part";
   if (d[RKB_TILE_N] == 192 && (TILES | ONLINE) >> launch->mapping & 1 && (launch->mapping != RKB_MAP_TENSOR || d[RKB_COPY] != RKB_COPY_TENSOR))
      return "tiles of 192 columns are for products of warpgroups";
   if (launch->mapping == RKB_MAP_TENSOR)
      return rkb_tensor_refused(graph, launch, shared_bytes);
   if (launch->mapping == RKB_MAP_ONLINE_TENSOR)
      return rkb_online_refused(graph, launch);
   if (launch->mapping == RKB_MAP_TILE) {
      const int64_t threads = d[RKB_TILE_M] / d[RKB_THREAD_M] * (d[RKB_TILE_N] / d[RKB_THREAD_N]);
      if (d[RKB_TILE_M] % d[RKB_THREAD_M] != 0 || d[RKB_TILE_N] % d[RKB_THREAD_N] != 0)
         return "a thread's tile does not divide the block's";
      if (threads < 32 || threads > 1024 || threads % 32 != 0)
         return "a block has between 32 and 1024 threads, in whole warps";
      if (d[RKB_TILE_M] * d[RKB_TILE_K] % (threads * d[RKB_VECTOR]) != 0 ||
          d[RKB_TILE_N] * d[RKB_TILE_K] % (threads * d[RKB_VECTOR]) != 0)
         return "the threads do not bring the factors' tiles in equal shares";
      if (d[RKB_TILE_M] % d[RKB_VECTOR] != 0 || d[RKB_TILE_N] % d[RKB_VECTOR] != 0 || d[RKB_TILE_K] % d[RKB_VECTOR] != 0)
         return "a vector is no part of a row of a factor's tile";
      if (d[RKB_THREAD_M] * d[RKB_THREAD_N] > 128)
         return "a thread's tile needs more registers than there are";
      if (d[RKB_PREFETCH] && (d[RKB_TILE_M] + d[RKB_TILE_N]) * d[RKB_TILE_K] / threads > 64)
         return "the next terms need more registers than there are";
      const int64_t bytes = 4 * d[RKB_TILE_K] * (d[RKB_TILE_M] + d[RKB_TILE_N] + 8);
      return bytes > (shared_bytes < 48 << 10 ? shared_bytes : 48 << 10)
                ? "the tiles need more shared memory than a block has"
                : NULL;
   }
   if (launch->mapping == RKB_MAP_RANK && (d[RKB_KEEP] ? d[RKB_KEEP] > RKB_MOST_RANKED : d[RKB_VECTOR] > 1 || d[RKB_ROWS] > 1))
      return d[RKB_KEEP] ? "so many elements in order need more registers than there are" : "vectors, and a warp for a row, are for threads that keep elements";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_ROWS] > 1 && d[RKB_THREADS] != 32 * d[RKB_ROWS])
      return "rows of a warp each need 32 threads each";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_ROWS] == 1 && d[RKB_THREADS] > 256 &&
       (double)d[RKB_THREADS] > 16 * rkb_bench_row(graph, launch))
      return "a row is so short that most of its threads would have nothing";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_ROWS] == 1 && d[RKB_SPLIT] > 1 && d[RKB_THREADS] * d[RKB_SPLIT] > LEAST_OF_PARTS &&
       (double)(d[RKB_THREADS] * d[RKB_SPLIT]) > MOST_OF_PARTS * rkb_bench_row(graph, launch))
      return "a row is so short that most threads of its parts would have nothing";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_ROWS] > 1 && d[RKB_SPLIT] > 1)
      return "a split row has a block for each part";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_MOMENTS] && !rkb_decision_applies(graph, launch, RKB_MOMENTS))
      return "no reduction sums the squares around the mean of another";
   if (launch->mapping == RKB_MAP_ROW && (d[RKB_STRETCHES] > 0) != rkb_launch_has_stretch_sums(graph, launch))
      return "sums over rows need stretches of rows, and stretches such sums";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_STRETCHES] && (d[RKB_ROWS] > 1 || d[RKB_SPLIT] > 1))
      return "a block owns a stretch of whole rows, one after the other";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_SHORTER] > 1 &&
       (!d[RKB_KEEP] || d[RKB_ROWS] > 1 || (d[RKB_CLUSTER] > 1 ? d[RKB_KEEP] : d[RKB_THREADS] / 32) < d[RKB_SHORTER]))
      return "fewer threads for shorter rows are those of a block that keeps its row, whole warps of them; threads of a cluster keep less";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_PREFETCH] && d[RKB_KEEP] && d[RKB_CLUSTER] > 1 &&
       (d[RKB_SPLIT] > 1 || d[RKB_KEEP] * d[RKB_VECTOR] <= RKB_MOST_KEPT))
      return "what a cluster copies before a row's passes is kept in shared memory";
   if (launch->mapping == RKB_MAP_ROW && (d[RKB_SEGMENTS] > 0) != rkb_launch_has_segment_sums(graph, launch))
      return "sums over pieces of rows need segments, and segments such sums";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_SEGMENTS] && (d[RKB_ROWS] > 1 || d[RKB_SPLIT] > 1 || d[RKB_KEEP] || d[RKB_STRETCHES]))
      return "a block that adds pieces of a row goes over the whole row, from memory";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_CLUSTER] == 1 && d[RKB_KEEP] * d[RKB_VECTOR] > RKB_MOST_KEPT)
      return "the kept row needs more registers than there are";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_CLUSTER] > 1 &&
       (d[RKB_ROWS] > 1 || d[RKB_STRETCHES] || d[RKB_SEGMENTS] || d[RKB_BESIDE] || d[RKB_CLUSTER] * d[RKB_THREADS] > RKB_MOST_CLUSTER_THREADS ||
        graph->nodes[launch->anchors[0]].kind != RKB_NODE_REDUCE))
      return "the blocks of a cluster share one whole row, with 1,024 threads in all";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_WARPS] &&
       (d[RKB_CLUSTER] == 1 || !d[RKB_KEEP] || d[RKB_SPLIT] > 1 || d[RKB_CLUSTER] * d[RKB_WARPS] > RKB_MOST_CLUSTER_WARPS || d[RKB_THREADS] >= 32 * d[RKB_WARPS]))
      return "more warps share the kept row of a cluster, up to 63 in all";
   return launch->mapping == RKB_MAP_ROW && d[RKB_CLUSTER] > 1 && d[RKB_SPLIT] > 1 ? longer_refused(graph, launch) : NULL;
}

int64_t rkb_launch_fixed_bytes(const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   switch (launch->mapping) {
   case RKB_MAP_TILE:
      return 4 * d[RKB_TILE_K] * (d[RKB_TILE_M] + d[RKB_TILE_N] + 8);
   case RKB_MAP_ELEMENT:
      return d[RKB_PARTS] > 1 ? 4 * d[RKB_THREADS] : 512 * (int64_t)launch->anchor_count;
   case RKB_MAP_COLUMN:
      return 4 * d[RKB_THREADS] * (int64_t)launch->anchor_count;
   default:
      return 512 * (int64_t)launch->anchor_count;
   }
}

const char *rkb_group_refused(const rkb_launch_t *launches, uint32_t count) {
   int64_t bytes = 0;
   if (launches[0].decisions[RKB_BESIDE])
      return "no launch comes before it, to be beside";
   for (uint32_t l = 0; l < count && count > 1; l++) {
      if (!(rkb_mapping_has(launches[l].mapping, RKB_BESIDE)) || launches[l].decisions[RKB_CLUSTER] > 1 ||
          (launches[l].mapping == RKB_MAP_TENSOR && (launches[l].decisions[RKB_COPY] == RKB_COPY_TENSOR || launches[l].decisions[RKB_LISTED])))
         return "its kernel has its device to itself";
      bytes += rkb_launch_fixed_bytes(&launches[l]);
   }
   return bytes > 48 << 10 ? "launches beside each other need more shared memory than a block has" : NULL;
}

bool rkb_schedule_put_beside(const rkb_graph_t *graph, rkb_schedule_t *schedule, uint32_t number, uint32_t into) {
   rkb_launch_t moved = schedule->launches[number];
   if (into >= number || !rkb_decision_applies(graph, &moved, RKB_BESIDE) || !rkb_decision_applies(graph, &schedule->launches[into], RKB_BESIDE))
      return false;
   /* The other launches that shared its kernel still share one without it. */
   if (number + 1 < schedule->count && !moved.decisions[RKB_BESIDE])
      schedule->launches[number + 1].decisions[RKB_BESIDE] = 0;
   memmove(&schedule->launches[into + 2], &schedule->launches[into + 1], (number - into - 1) * sizeof moved);
   moved.decisions[RKB_BESIDE] = 1;
   schedule->launches[into + 1] = moved;
   return true;
}
