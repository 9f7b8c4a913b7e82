/* Schedules to start from.  Pure functions; one thread a graph. */
#include "generator/starts.h"

#include <math.h>
#include <string.h>
#include "generator/launch_text.h"
#include "generator/partition.h"

#define FUSED_A_NANOSECOND 218.0 /* multiply-adds of a multiprocessor: 128 lanes at 1.7 GHz */
#define BYTES_A_NANOSECOND 3500.0
#define LAUNCH_NANOSECONDS 1500.0

const char *rkb_start_name(enum rkb_start start) {
   static const char *const names[] = {"suited", "together", "apart"};
   return names[start];
}

double rkb_bench_size(const rkb_graph_t *graph, uint32_t size) {
   return exp(graph->sizes.list[size].constant
                 ? log((double)graph->sizes.list[size].at[0])
                 : rkb_sizes_bench(&graph->sizes, graph->sizes.list[size].text));
}

double rkb_bench_elements(const rkb_graph_t *graph, uint32_t node) {
   double elements = 1;
   for (uint32_t d = 0; d < graph->nodes[node].rank; d++)
      elements *= rkb_bench_size(graph, graph->nodes[node].shape[d]);
   return elements;
}

/* Rows, columns, terms and groups of a product, as a tile launch sees them. */
typedef struct extents {
   double m, n, depth, groups;
} extents_t;

static extents_t extents_of(const rkb_graph_t *graph, uint32_t number) {
   const rkb_node_t *node = &graph->nodes[number], *left = &graph->nodes[node->inputs[0]],
                    *right = &graph->nodes[node->inputs[1]];
   const uint32_t rank = node->rank;
   extents_t e = {1, 1, 1, 1};
   if (node->kind == RKB_NODE_MATMUL) {
      for (uint32_t d = 0; d + 2 < rank; d++)
         e.groups *= rkb_bench_size(graph, node->shape[d]);
      e.m = rkb_bench_size(graph, node->shape[rank - 2]);
      e.n = rkb_bench_size(graph, node->shape[rank - 1]);
      e.depth = rkb_bench_size(
         graph, left->shape[left->rank - (graph->sizes.list[node->integers[0]].at[0] ? 2 : 1)]);
      return e;
   }
   e.groups = rkb_bench_size(graph, node->integers[1]);
   const bool of_weight = node->kind == RKB_NODE_CONVOLUTION_WEIGHT;
   const double all = rkb_bench_elements(graph, number);
   e.m = rkb_bench_size(graph, node->shape[of_weight ? 0 : 1]) / e.groups;
   e.n = all / (e.m * e.groups);
   if (of_weight)
      e.depth = rkb_bench_elements(graph, node->inputs[1]) / rkb_bench_size(graph, right->shape[1]);
   else {
      e.depth = rkb_bench_size(graph, right->shape[node->kind == RKB_NODE_CONVOLUTION ? 1 : 0]) /
                (node->kind == RKB_NODE_CONVOLUTION ? 1 : e.groups);
      for (uint32_t d = 2; d < right->rank; d++)
         e.depth *= rkb_bench_size(graph, right->shape[d]);
   }
   return e;
}

/* Tiles that people use, with the share of the arithmetic that they tend to reach. */
static const struct {
   int64_t m, n, depth, thread_m, thread_n;
   double share;
} tiles[] = {{128, 128, 8, 8, 8, 0.75}, {128, 64, 16, 8, 4, 0.62}, {64, 128, 16, 4, 8, 0.62},
             {64, 64, 16, 4, 4, 0.5},   {64, 32, 16, 4, 2, 0.36},  {32, 64, 16, 2, 4, 0.36},
             {32, 32, 32, 2, 2, 0.26},  {16, 64, 32, 1, 4, 0.24},  {64, 16, 32, 4, 1, 0.24},
             {16, 32, 32, 1, 2, 0.18},  {16, 16, 32, 1, 1, 0.12},  {8, 64, 32, 1, 2, 0.16},
             {8, 32, 32, 1, 1, 0.10}};

static double tile_estimate(const rkb_target_t *target, const extents_t *e, double m, double n, double share,
                            double split) {
   const double blocks = ceil(e->m / m) * ceil(e->n / n) * e->groups * split;
   const double waves = ceil(blocks / (double)target->multiprocessors);
   double time = waves * m * n * ceil(e->depth / split) / (FUSED_A_NANOSECOND * share);
   if (split > 1)
      time += LAUNCH_NANOSECONDS + split * e->m * e->n * e->groups * 8 / BYTES_A_NANOSECOND;
   return time;
}

static void suit_tile(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   const extents_t e = extents_of(graph, launch->anchors[0]);
   double least = HUGE_VAL;
   int64_t *d = launch->decisions;
   launch->mapping = RKB_MAP_TILE;
   for (uint32_t t = 0; t < sizeof tiles / sizeof tiles[0]; t++)
      for (const int64_t *split = rkb_decision_values(RKB_SPLIT); *split > 0; split++) {
         const double time =
            tile_estimate(target, &e, (double)tiles[t].m, (double)tiles[t].n, tiles[t].share, (double)*split);
         if (time >= least * 0.97 || (*split > 1 && e.depth / (double)*split < 2 * (double)tiles[t].depth))
            continue;
         least = time;
         d[RKB_TILE_M] = tiles[t].m;
         d[RKB_TILE_N] = tiles[t].n;
         d[RKB_TILE_K] = tiles[t].depth;
         d[RKB_THREAD_M] = tiles[t].thread_m;
         d[RKB_THREAD_N] = tiles[t].thread_n;
         d[RKB_SPLIT] = *split;
      }
   d[RKB_PREFETCH] = 1;
   for (d[RKB_VECTOR] = 4; d[RKB_VECTOR] > 1 && rkb_launch_refused(graph, launch, target->shared_bytes);)
      d[RKB_VECTOR] /= 2;
}

static void suit_reduction(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   const rkb_node_t *anchor = &graph->nodes[launch->anchors[0]];
   int64_t *d = launch->decisions;
   const double rows = rkb_bench_elements(graph, launch->anchors[0]),
                length = rkb_bench_elements(graph, anchor->inputs[0]) / rows;
   uint32_t sizes[RKB_VECTOR_SIZES];
   const double busy = 4 * (double)target->multiprocessors;
   d[RKB_VECTOR] = 4;
   if (!rkb_vector_sizes(graph, launch, sizes))
      d[RKB_VECTOR] = 1;
   const double blocks = launch->mapping == RKB_MAP_COLUMN ? ceil(rows / 32) : rows;
   if (rkb_decision_applies(graph, launch, RKB_SPLIT))
      while (d[RKB_SPLIT] < 256 && blocks * (double)d[RKB_SPLIT] < busy &&
             length / (double)d[RKB_SPLIT] > 512)
         d[RKB_SPLIT] *= 2;
   if (launch->mapping == RKB_MAP_COLUMN || d[RKB_SPLIT] > 1)
      return;
   const double packs = length / (double)d[RKB_VECTOR];
   if (packs <= 256 && rows >= busy)
      d[RKB_ROWS] = 8;
   else
      for (d[RKB_THREADS] = 64; d[RKB_THREADS] < 1024 && packs > 2 * (double)d[RKB_THREADS];)
         d[RKB_THREADS] *= 2;
   const double share = packs / (double)(d[RKB_ROWS] > 1 ? 32 : d[RKB_THREADS]);
   if (d[RKB_VECTOR] == 4 && share <= 4)
      d[RKB_KEEP] = share <= 1 ? 2 : share <= 2 ? 4 : 8;
}

/* Whether an element is computed behind guards that choose what it is: loads may not leave them, so a vector's are single ones that
 * neighbouring threads do not make side by side. */
static bool chooses(const rkb_graph_t *graph, uint32_t number, bool *seen) {
   const rkb_node_t *node = &graph->nodes[number];
   if (node->kind == RKB_NODE_CAT || node->kind == RKB_NODE_EMBED)
      return true;
   if (seen[number] || !rkb_node_is_light(node))
      return false;
   seen[number] = true;
   for (uint32_t i = 0; i < node->input_count; i++)
      if (chooses(graph, node->inputs[i], seen))
         return true;
   return false;
}

void rkb_launch_suit(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   uint32_t sizes[RKB_VECTOR_SIZES];
   if (launch->anchor_count && rkb_node_is_product(&graph->nodes[launch->anchors[0]]))
      suit_tile(graph, target, launch);
   else if (launch->mapping != RKB_MAP_ELEMENT)
      suit_reduction(graph, target, launch);
   else if (rkb_bench_elements(graph, launch->roots[0]) > 1024 * (double)target->multiprocessors &&
            !launch->anchor_count) {
      bool seen[RKB_MAX_GRAPH_NODES] = {0}, guarded = false;
      for (uint32_t r = 0; r < launch->root_count; r++)
         guarded |= chooses(graph, launch->roots[r], seen);
      launch->decisions[RKB_VECTOR] = 4;
      if (guarded || !rkb_vector_sizes(graph, launch, sizes))
         launch->decisions[RKB_VECTOR] = 1;
   }
}

double rkb_launch_estimate(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_launch_t *launch) {
   double bytes = 0;
   for (uint32_t r = 0; r < launch->root_count; r++)
      bytes += 4 * rkb_bench_elements(graph, launch->roots[r]);
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      const rkb_node_t *anchor = &graph->nodes[launch->anchors[a]];
      for (uint32_t i = 0; i < anchor->input_count; i++)
         bytes += 4 * rkb_bench_elements(graph, anchor->inputs[i]);
   }
   double time = LAUNCH_NANOSECONDS + bytes / BYTES_A_NANOSECOND;
   if (launch->anchor_count && rkb_node_is_product(&graph->nodes[launch->anchors[0]])) {
      const extents_t e = extents_of(graph, launch->anchors[0]);
      const double share =
         launch->mapping == RKB_MAP_TILE
            ? 0.1 * sqrt((double)(launch->decisions[RKB_THREAD_M] * launch->decisions[RKB_THREAD_N]))
            : 0.03;
      time += tile_estimate(target, &e, (double)launch->decisions[RKB_TILE_M],
                            (double)launch->decisions[RKB_TILE_N], share < 0.75 ? share : 0.75,
                            (double)launch->decisions[RKB_SPLIT]);
   }
   return time;
}

void rkb_schedule_start(rkb_graph_t *graph, const rkb_target_t *target, enum rkb_start start,
                        rkb_schedule_t *schedule) {
   if (start == RKB_START_APART) {
      rkb_partition_apart(graph, schedule);
      return;
   }
   rkb_partition_together(graph, target->shared_bytes, schedule);
   for (uint32_t l = schedule->count; start == RKB_START_SUITED && l-- > 0;) {
      const rkb_launch_t *launch = &schedule->launches[l];
      if (launch->mapping != RKB_MAP_ROW || rkb_node_is_product(&graph->nodes[launch->anchors[0]]))
         continue;
      /* A few rows that are long leave most of the device idle, unless each pass is split.  But a pass of its own reads its rows from
       * memory again: past an eighth of the multiprocessors the profiler's model finds one launch faster. */
      const double rows = rkb_bench_elements(graph, launch->anchors[0]),
                   length = rkb_bench_elements(graph, graph->nodes[launch->anchors[0]].inputs[0]) / rows;
      if (8 * rows < (double)target->multiprocessors && length > 65536)
         rkb_partition_separate(schedule, graph, l);
   }
   for (uint32_t l = 0; start == RKB_START_SUITED && l < schedule->count; l++)
      rkb_launch_suit(graph, target, &schedule->launches[l]);
}
