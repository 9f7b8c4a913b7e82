/* What arithmetic refuses of a launch, or of launches that share a kernel, before any text is written.  Pure functions. */
#include "generator/decisions/launch_decisions.h"

#include <string.h>
#include "generator/element/channelwise.h"
#include "generator/element/element_lines.h"
#include "generator/graph/pool_window.h"
#include "generator/graph/bench_sizes.h"
#include "generator/online/online_nodes.h"
#include "generator/row/ranks.h"
#include "generator/row/row_range_sums.h"
#include "generator/text/sum_parts.h"
#include "generator/tile/tensor_tile.h"

static const char *window_refused(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   const rkb_node_t *pool = &graph->nodes[launch->anchors[0]];
   const int64_t side = rkb_window_side(graph, pool, pool->rank - 3);
   if (d[RKB_VECTOR] > 1 && (d[RKB_VECTOR] % side != 0 || d[RKB_VECTOR] == side))
      return "a vector has several whole windows' places of a row";
   return d[RKB_CHANNELS] > 1 && launch->anchor_count < 2
             ? "channels share the pixels of a convolution under the windows"
             : NULL;
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
   if (anchor->kind != RKB_NODE_REDUCE || !rkb_decision_applies(graph, launch, RKB_SPLIT) ||
       launch->decisions[RKB_KEEP])
      return "rows that are split are reductions in one pass, and are not kept";
   for (uint32_t r = 0; r < launch->root_count; r++) {
      const rkb_node_t *root = &graph->nodes[launch->roots[r]], *first = &graph->nodes[launch->roots[0]];
      if (rkb_bench_elements(graph, launch->roots[r]) < 1.5 * rkb_bench_elements(graph, launch->anchors[0]) ||
          root->rank != first->rank ||
          memcmp(root->shape, first->shape, root->rank * sizeof *root->shape) != 0)
         return "longer rows are written by a launch of elements, each place of a row";
   }
   return NULL;
}

const char *rkb_launch_refused(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t shared_bytes) {
   const int64_t *d = launch->decisions;
   if (has_too_many_parts(graph, launch))
      return "the parts of its sums have more than 128 Mi elements in the bench cases";
   if (launch->mapping == RKB_MAP_ELEMENT && d[RKB_STRIP] &&
       (d[RKB_VECTOR] > 4 || !rkb_launch_is_channelwise(graph, launch)))
      return "a thread owns a strip of pixels of a convolution of channels by themselves, at most four channels";
   if (launch->mapping == RKB_MAP_ELEMENT && d[RKB_WINDOW] &&
       !rkb_decision_applies(graph, launch, RKB_WINDOW))
      return "a thread owns windows of a largest pool or of its gradient, where they lie side by side";
   if (launch->mapping == RKB_MAP_ELEMENT &&
       (d[RKB_WINDOW] ? window_refused(graph, launch) != NULL
                      : d[RKB_CHANNELS] > 1 || launch->anchor_count > 1))
      return d[RKB_WINDOW] ? window_refused(graph, launch)
                           : "a thread that owns one element has one heavy node";
   if (d[RKB_LINES] > 1 &&
       (!rkb_lines_apply(graph, launch) || d[RKB_PLACES] > 1 || d[RKB_VECTOR] == 1 || d[RKB_BESIDE]))
      return "a thread owns vectors of several rows where it computes no sum, has one place of each row, and has its kernel to itself";
   if (launch->mapping == RKB_MAP_ELEMENT && d[RKB_PARTS] > 1 &&
       (!rkb_decision_applies(graph, launch, RKB_PARTS) ||
        d[RKB_THREADS] / d[RKB_PARTS] < RKB_LEAST_PART_THREADS))
      return "threads that share the sum of a product have one element, and whole warps have a part";
   if (d[RKB_TILE_N] == 192 && rkb_mapping_has(launch->mapping, RKB_TILE_N) &&
       (launch->mapping != RKB_MAP_TENSOR || d[RKB_COPY] != RKB_COPY_TENSOR))
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
      if (d[RKB_TILE_M] % d[RKB_VECTOR] != 0 || d[RKB_TILE_N] % d[RKB_VECTOR] != 0 ||
          d[RKB_TILE_K] % d[RKB_VECTOR] != 0)
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
   if (launch->mapping == RKB_MAP_RANK &&
       (d[RKB_KEEP] ? d[RKB_KEEP] > RKB_MOST_RANKED : d[RKB_VECTOR] > 1 || d[RKB_ROWS] > 1))
      return d[RKB_KEEP] ? "so many elements in order need more registers than there are"
                         : "vectors, and a warp for a row, are for threads that keep elements";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_ROWS] > 1 && d[RKB_THREADS] != 32 * d[RKB_ROWS])
      return "rows of a warp each need 32 threads each";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_ROWS] == 1 && d[RKB_THREADS] > 256 &&
       (double)d[RKB_THREADS] > 16 * rkb_bench_row(graph, launch))
      return "a row is so short that most of its threads would have nothing";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_ROWS] == 1 && d[RKB_SPLIT] > 1 &&
       d[RKB_THREADS] * d[RKB_SPLIT] > LEAST_OF_PARTS &&
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
       (!d[RKB_KEEP] || d[RKB_ROWS] > 1 ||
        (d[RKB_CLUSTER] > 1 ? d[RKB_KEEP] : d[RKB_THREADS] / 32) < d[RKB_SHORTER]))
      return "fewer threads for shorter rows are those of a block that keeps its row, whole warps of them; threads of a cluster keep less";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_PREFETCH] && d[RKB_KEEP] && d[RKB_CLUSTER] > 1 &&
       (d[RKB_SPLIT] > 1 || d[RKB_KEEP] * d[RKB_VECTOR] <= RKB_MOST_KEPT))
      return "what a cluster copies before a row's passes is kept in shared memory";
   if (launch->mapping == RKB_MAP_ROW && (d[RKB_SEGMENTS] > 0) != rkb_launch_has_segment_sums(graph, launch))
      return "sums over pieces of rows need segments, and segments such sums";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_SEGMENTS] &&
       (d[RKB_ROWS] > 1 || d[RKB_SPLIT] > 1 || d[RKB_KEEP] || d[RKB_STRETCHES]))
      return "a block that adds pieces of a row goes over the whole row, from memory";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_CLUSTER] == 1 && d[RKB_KEEP] * d[RKB_VECTOR] > RKB_MOST_KEPT)
      return "the kept row needs more registers than there are";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_CLUSTER] > 1 &&
       (d[RKB_ROWS] > 1 || d[RKB_STRETCHES] || d[RKB_SEGMENTS] || d[RKB_BESIDE] ||
        d[RKB_CLUSTER] * d[RKB_THREADS] > RKB_MOST_CLUSTER_THREADS ||
        graph->nodes[launch->anchors[0]].kind != RKB_NODE_REDUCE))
      return "the blocks of a cluster share one whole row, with 1,024 threads in all";
   if (launch->mapping == RKB_MAP_ROW && d[RKB_WARPS] &&
       (d[RKB_CLUSTER] == 1 || !d[RKB_KEEP] || d[RKB_SPLIT] > 1 ||
        d[RKB_CLUSTER] * d[RKB_WARPS] > RKB_MOST_CLUSTER_WARPS || d[RKB_THREADS] >= 32 * d[RKB_WARPS]))
      return "more warps share the kept row of a cluster, up to 63 in all";
   return launch->mapping == RKB_MAP_ROW && d[RKB_CLUSTER] > 1 && d[RKB_SPLIT] > 1
             ? longer_refused(graph, launch)
             : NULL;
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
          (launches[l].mapping == RKB_MAP_TENSOR &&
           (launches[l].decisions[RKB_COPY] == RKB_COPY_TENSOR || launches[l].decisions[RKB_LISTED])))
         return "its kernel has its device to itself";
      bytes += rkb_launch_fixed_bytes(&launches[l]);
   }
   return bytes > 48 << 10 ? "launches beside each other need more shared memory than a block has" : NULL;
}
