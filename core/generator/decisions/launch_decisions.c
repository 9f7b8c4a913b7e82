/* Schedules as data: the names of decisions, their values, and which launches may have them.  Pure
 * functions. */
#include "generator/element/element_lines.h"
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
#include "generator/row/row_range_sums.h"
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
   [RKB_PAD_ROWS] = {"pad_rows", 1u << RKB_MAP_TENSOR, {0, 1, -1}},
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
   if (decision == RKB_PAD_ROWS && (launch->decisions[RKB_COPY] != RKB_COPY_TENSOR ||
                                    graph->nodes[launch->anchors[0]].kind != RKB_NODE_MATMUL))
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
