/* Decisions that suit a launch over scores on tensor cores.  One thread a graph. */
#include "generator/start/online_start.h"

#include <stdlib.h>
#include <string.h>
#include "generator/decisions/launch_decisions.h"
#include "generator/graph/bench_sizes.h"
#include "generator/graph/row_scaling.h"
#include "generator/kernel/kernel_text.h"
#include "generator/online/online_nodes.h"
#include "generator/start/start_schedules.h"
#include "generator/start/tensor_start.h"

/* The first legal entry is taken: those that were fastest over the bench cases on an H200 come first, then
 * smaller ones (docs/results/2026-11-23-tensor).  With two rows of fragments a warp loads half as much of the
 * streamed tiles; with few rows, warps share the columns. */
static const struct {
   int64_t path, copy, tile_m, tile_n, warp_m, warp_n, stages;
   double rows; /* rows of a group, at least */
} tiles[] = {
   {RKB_TENSOR_PATH_BF16, RKB_COPY_TENSOR, 128, 128, 32, 32, 2, 65},
   {RKB_TENSOR_PATH_BF16, RKB_COPY_TENSOR, 128, 64, 32, 32, 3, 65},
   {RKB_TENSOR_PATH_BF16, RKB_COPY_TENSOR, 128, 64, 32, 32, 2, 65},
   {RKB_TENSOR_PATH_BF16, RKB_COPY_ASYNC, 128, 32, 32, 32, 3, 65},
   {RKB_TENSOR_PATH_BF16, RKB_COPY_ASYNC, 64, 64, 16, 64, 2, 17},
   {RKB_TENSOR_PATH_BF16, RKB_COPY_ASYNC, 64, 32, 16, 32, 2, 17},
   {RKB_TENSOR_PATH_BF16, RKB_COPY_ASYNC, 16, 128, 16, 16, 2, 0},
   {RKB_TENSOR_PATH_TF32X3, RKB_COPY_TENSOR, 128, 64, 16, 32, 2, 65},
   {RKB_TENSOR_PATH_TF32X3, RKB_COPY_ASYNC, 64, 32, 16, 32, 2, 17},
   {RKB_TENSOR_PATH_TF32X3, RKB_COPY_ASYNC, 64, 16, 16, 16, 2, 17},
   {RKB_TENSOR_PATH_TF32X3, RKB_COPY_ASYNC, 16, 64, 16, 16, 2, 0},
};

/* With more numbers a lane, ptxas spills: kernels of two scores and one or two products spilled with 192 numbers, and do not with 160. */
#define MOST_NUMBERS 160

/* A lane's scores and sums of products, for the longest rows that are multiplied; values made of scores take the registers of the scores. */
static int64_t numbers_of(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   rkb_online_nodes_t nodes;
   uint32_t size;
   int64_t heads[RKB_ONLINE_HEADS], longest = 0;
   const uint32_t count = rkb_online_heads(graph, launch, &size, heads);
   for (uint32_t h = 0; h < count; h++)
      longest = heads[h] > longest ? heads[h] : longest;
   if (!rkb_online_nodes(graph, launch, &nodes))
      return 0;
   const int64_t scores = nodes.score_count > nodes.out_count ? nodes.score_count : nodes.out_count;
   return d[RKB_WARP_M] / 8 * (d[RKB_WARP_N] / 4 * scores + longest / 4 * nodes.out_count);
}

/* Whether warpgroups multiply own rows from their registers, if these hold them.  They do for several kinds of scores: otherwise products of
 * 64 columns would read as much of the own rows from shared memory as of the streamed rows, which takes all of its bandwidth. */
static bool keeps_rows(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   rkb_online_nodes_t nodes;
   return launch->decisions[RKB_COPY] == RKB_COPY_TENSOR && rkb_online_nodes(graph, launch, &nodes) &&
          nodes.score_count > 1;
}

/* Whether a tile suits warpgroups.  For several kinds of scores it has 64 columns, which leave registers for products that run ahead. */
static bool suits_warpgroups(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t tile_n) {
   rkb_online_nodes_t nodes;
   return rkb_online_nodes(graph, launch, &nodes) &&
          (tile_n == 64) == (nodes.score_count > 1 && nodes.out_count > 0);
}

bool rkb_online_suit(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number) {
   rkb_launch_t *launch = &schedule->launches[number];
   const rkb_launch_t before = *launch;
   const double rows = rkb_online_rows(graph, launch);
   int64_t *d = launch->decisions;
   launch->mapping = RKB_MAP_ONLINE_TENSOR;
   for (uint32_t t = 0; t < sizeof tiles / sizeof tiles[0]; t++) {
      d[RKB_TENSOR] = tiles[t].path;
      d[RKB_COPY] = tiles[t].copy;
      d[RKB_TILE_M] = tiles[t].tile_m;
      d[RKB_TILE_N] = tiles[t].tile_n;
      d[RKB_WARP_M] = tiles[t].warp_m;
      d[RKB_WARP_N] = tiles[t].warp_n;
      d[RKB_STAGES] = tiles[t].stages;
      d[RKB_KEEP] = keeps_rows(graph, launch);
      if (rows >= tiles[t].rows &&
          (tiles[t].copy != RKB_COPY_TENSOR
              ? numbers_of(graph, launch) <= MOST_NUMBERS
              : tiles[t].path != RKB_TENSOR_PATH_BF16 || suits_warpgroups(graph, launch, tiles[t].tile_n)) &&
          rkb_tensor_has(target, launch) && !rkb_launch_refused(graph, launch, target->shared_bytes) &&
          rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
         return true;
   }
   *launch = before;
   return false;
}

/* Moves the roots of one launch to another.  If only a launch of elements reads a sum, moves the root of that launch instead of the sum; that
 * launch then has nothing left to do. */
static bool take_roots(const rkb_graph_t *graph, rkb_schedule_t *schedule, const rkb_launch_t *sums, rkb_launch_t *launch) {
   for (uint32_t r = 0; r < sums->root_count; r++) {
      rkb_launch_t *reader = NULL;
      for (uint32_t l = 0; l < schedule->count && !rkb_node_is_output(graph, sums->roots[r]); l++)
         if (schedule->launches[l].mapping == RKB_MAP_ELEMENT && schedule->launches[l].root_count == 1 && !schedule->launches[l].anchor_count &&
             rkb_reads(graph, schedule->launches[l].roots[0], sums->roots[r]))
            reader = &schedule->launches[l];
      if (launch->root_count == RKB_MAX_LAUNCH_NODES)
         return false;
      launch->roots[launch->root_count++] = reader ? reader->roots[0] : sums->roots[r];
      if (reader)
         reader->root_count = 0;
   }
   return true;
}

static void remove_launch(rkb_schedule_t *schedule, uint32_t number) {
   memmove(&schedule->launches[number], &schedule->launches[number + 1], (--schedule->count - number) * sizeof *schedule->launches);
}

/* Whether blocks that own rows of the sums keep all multiprocessors busy: each block goes over as many matrices in turn as a sum has terms. */
static bool has_blocks(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_launch_t *launch) {
   rkb_online_nodes_t nodes;
   if (!rkb_online_nodes(graph, launch, &nodes) || !nodes.total_count)
      return false;
   const rkb_node_t *out = &graph->nodes[nodes.outs[0]];
   const double width = rkb_bench_size(graph, out->shape[out->rank - (nodes.made_side[0] == 0 ? 1 : 2)]),
                rows = rkb_bench_elements(graph, nodes.totals[0]) / width;
   return rows / (double)launch->decisions[RKB_TILE_M] >= 2 * (double)target->multiprocessors;
}

void rkb_online_join_totals(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number) {
   if (schedule->launches[number].mapping != RKB_MAP_ONLINE_TENSOR)
      return;
   rkb_schedule_t *tried = rkb_allocate(1, sizeof *tried);
   for (uint32_t l = number + 1; l < schedule->count; l++) {
      *tried = *schedule;
      rkb_launch_t *launch = &tried->launches[number];
      const rkb_launch_t *sums = &schedule->launches[l];
      if (sums->mapping != RKB_MAP_COLUMN || launch->anchor_count + sums->anchor_count > RKB_MAX_LAUNCH_NODES)
         continue;
      memcpy(launch->anchors + launch->anchor_count, sums->anchors, sums->anchor_count * sizeof *sums->anchors);
      launch->anchor_count += sums->anchor_count;
      launch->root_count = 0;
      if (!has_blocks(graph, target, launch) || !take_roots(graph, tried, sums, launch))
         continue;
      remove_launch(tried, l);
      for (uint32_t other = tried->count; other-- > 0;)
         if (!tried->launches[other].root_count)
            remove_launch(tried, other);
      if (rkb_launch_refused(graph, launch, target->shared_bytes) || !rkb_schedule_is_legal(graph, tried, target->shared_bytes))
         continue;
      *schedule = *tried;
      break;
   }
   free(tried);
}
