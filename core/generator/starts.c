/* Schedules to start from.  Pure functions; one thread a graph. */
#include "generator/starts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "generator/kernel_text.h"
#include "generator/launch_text.h"
#include "generator/online_start.h"
#include "generator/partition.h"
#include "generator/product.h"
#include "generator/recompute.h"
#include "generator/tensor_start.h"
#include "generator/window_text.h"

#define FUSED_A_NANOSECOND 218.0 /* multiply-adds of a multiprocessor: 128 lanes at 1.7 GHz */
#define BYTES_A_NANOSECOND 3500.0
#define LAUNCH_NANOSECONDS 1500.0
#define LONG_ROW 32768.0 /* elements that a block's registers do not hold */
#define STEP_NANOSECONDS 150.0
#define UNPACKED_A_NANOSECOND 2.0 /* elements of a multiprocessor: 1.4 and 2.6 of int4 weights, docs/results/2026-11-23-tensor */
#define STORED_BYTES 2.0 /* of a factor's element, at least */

const char *rkb_start_name(enum rkb_start start) {
   static const char *const names[] = {"suited", "fused", "together", "apart"};
   return names[start];
}

#define WINDOW_DEPTH 64.0 /* products of a result that one thread makes alone */
#define MEAN UINT32_MAX /* instead of a bench case's number */

static double size_in(const rkb_graph_t *graph, uint32_t size, uint32_t bench) {
   const rkb_size_t *s = &graph->sizes.list[size];
   return bench == MEAN || s->constant ? rkb_bench_size(graph, size) : rkb_sizes_bench_at(&graph->sizes, s->text, bench);
}

static double elements_in(const rkb_graph_t *graph, uint32_t node, uint32_t bench) {
   double elements = 1;
   for (uint32_t d = 0; d < graph->nodes[node].rank; d++)
      elements *= size_in(graph, graph->nodes[node].shape[d], bench);
   return elements;
}

static rkb_extent_t extent_in(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t bench) {
   const uint32_t number = launch->anchors[0];
   const rkb_node_t *node = &graph->nodes[number], *left = &graph->nodes[node->inputs[0]],
                    *right = &graph->nodes[node->inputs[1]];
   const uint32_t rank = node->rank;
   rkb_extent_t e = {1, 1, 1, 1};
   if (node->kind == RKB_NODE_MATMUL) {
      for (uint32_t d = 0; d + 2 < rank; d++)
         e.groups *= size_in(graph, node->shape[d], bench);
      e.m = size_in(graph, node->shape[rank - 2], bench);
      e.n = size_in(graph, node->shape[rank - 1], bench);
      e.depth = size_in(graph, left->shape[left->rank - (graph->sizes.list[node->integers[0]].at[0] ? 2 : 1)], bench);
      return e;
   }
   e.groups = size_in(graph, node->integers[1], bench);
   const bool of_weight = node->kind == RKB_NODE_CONVOLUTION_WEIGHT;
   const double all = elements_in(graph, number, bench);
   e.m = size_in(graph, node->shape[of_weight ? 0 : 1], bench) / e.groups;
   e.n = all / (e.m * e.groups);
   if (of_weight)
      e.depth = elements_in(graph, node->inputs[1], bench) / size_in(graph, right->shape[1], bench);
   else {
      e.depth = size_in(graph, right->shape[node->kind == RKB_NODE_CONVOLUTION ? 1 : 0], bench) /
                (node->kind == RKB_NODE_CONVOLUTION ? 1 : e.groups);
      for (uint32_t d = 2; d < right->rank; d++)
         e.depth *= size_in(graph, right->shape[d], bench);
   }
   if (launch->root_count && !rkb_product_is_turned(graph, number, launch->roots[0])) {
      const double channels = e.m;
      e.m = e.n;
      e.n = channels;
   }
   return e;
}

static rkb_extents_t extents_of(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   rkb_extents_t e = {.mean = extent_in(graph, launch, MEAN)};
   while (e.count < RKB_MOST_EXTENTS && rkb_task_case(graph->sizes.task, RKB_CASE_BENCH, e.count)) {
      e.cases[e.count] = extent_in(graph, launch, e.count);
      e.count++;
   }
   if (!e.count)
      e.cases[e.count++] = e.mean;
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

static double tile_estimate_in(const rkb_target_t *target, const rkb_extent_t *e, double m, double n, double step, double share,
                               double split) {
   const double blocks = ceil(e->m / m) * ceil(e->n / n) * e->groups * split;
   const double waves = ceil(blocks / (double)target->multiprocessors);
   /* Few threads hide little of what each step waits for memory. */
   double time = LAUNCH_NANOSECONDS + waves * m * n * ceil(e->depth / split) / (FUSED_A_NANOSECOND * share) +
                 STEP_NANOSECONDS * ceil(e->depth / split / step);
   if (split > 1)
      time += LAUNCH_NANOSECONDS + split * e->m * e->n * e->groups * 8 / BYTES_A_NANOSECOND;
   return time;
}

/* The geometric mean over the bench cases. */
static double tile_estimate(const rkb_target_t *target, const rkb_extents_t *e, double m, double n, double step,
                            double share, double split) {
   double sum = 0;
   for (uint32_t i = 0; i < e->count; i++)
      sum += log(tile_estimate_in(target, &e->cases[i], m, n, step, share, split));
   return exp(sum / e->count);
}

/* Decisions of a tile of ordinary arithmetic.  Returns their estimate. */
static double suit_tile(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   const rkb_extents_t e = extents_of(graph, launch);
   double least = HUGE_VAL;
   int64_t *d = launch->decisions;
   launch->mapping = RKB_MAP_TILE;
   for (uint32_t t = 0; t < sizeof tiles / sizeof tiles[0]; t++)
      for (const int64_t *split = rkb_decision_values(RKB_SPLIT); *split > 0; split++) {
         const double time =
            tile_estimate(target, &e, (double)tiles[t].m, (double)tiles[t].n, (double)tiles[t].depth, tiles[t].share, (double)*split);
         if (time >= least * 0.97 || (*split > 1 && rkb_most_depth(&e) / (double)*split < 2 * (double)tiles[t].depth))
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
   return least;
}

void rkb_launch_suit_tile(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   suit_tile(graph, target, launch);
}

bool rkb_launch_suit_tensor(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   const rkb_extents_t e = extents_of(graph, launch);
   return rkb_tensor_suit(graph, target, &e, launch) < HUGE_VAL;
}

/* Multiply-adds below which a warp for each element is faster than tiles that leave most of the device idle: by the profiler's model it takes
 * about a nanosecond for each thousand. */
#define SMALL_PRODUCT 1024
/* The same where other bench cases have tiles: fewer, so that the cases which the checking machine executes whole have tiles too. */
#define SMALL_IN_SOME 256

static double work_of(const rkb_extent_t *e) {
   return e->groups * e->m * e->n * e->depth;
}

static void suit_small(const rkb_extents_t *e, rkb_launch_t *launch) {
   uint32_t few = 0;
   for (uint32_t i = 0; i < e->count; i++)
      few += work_of(&e->cases[i]) <= 1024.0 * SMALL_PRODUCT;
   if (few == e->count)
      *launch = rkb_small_launch(launch);
   else if (few)
      launch->decisions[RKB_SMALL] = SMALL_IN_SOME;
}

static void suit_product(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   const rkb_extents_t e = extents_of(graph, launch);
   const uint32_t kind = graph->nodes[launch->anchors[0]].kind;
   rkb_launch_t tensor = *launch;
   /* Channels that are convolved by themselves leave a tile nearly empty, and its place is found for each: a thread an element. */
   if ((kind == RKB_NODE_CONVOLUTION || kind == RKB_NODE_CONVOLUTION_INPUT) && e.mean.groups > 1 && fmin(e.mean.m, e.mean.n) < 4) {
      launch->mapping = RKB_MAP_ELEMENT;
      return;
   }
   if (rkb_tensor_suit(graph, target, &e, &tensor) < suit_tile(graph, target, launch))
      *launch = tensor;
   suit_small(&e, launch);
}

/* The bytes of the widest element that a value is read from, of large values alone: theirs are the bytes that take time. */
static uint32_t widest(const rkb_graph_t *graph, uint32_t number, double elements, bool *seen) {
   const rkb_node_t *node = &graph->nodes[number];
   uint32_t most = 0;
   if (seen[number])
      return 0;
   seen[number] = true;
   if (node->kind == RKB_NODE_INPUT || !rkb_node_is_light(node)) {
      const uint32_t bytes = node->kind == RKB_NODE_INPUT ? rkb_dtype_bytes(node->dtype) : 4;
      return rkb_bench_elements(graph, number) >= elements / 2 ? bytes : 0;
   }
   for (uint32_t i = 0; i < node->input_count; i++) {
      const uint32_t bytes = widest(graph, node->inputs[i], elements, seen);
      most = bytes > most ? bytes : most;
   }
   return most;
}

/* Gives a launch vectors of 16 bytes of the widest large tensor: wider ones would leave parts of a warp's sectors to later accesses. */
static void suit_width(const rkb_graph_t *graph, rkb_launch_t *launch) {
   bool seen[RKB_MAX_GRAPH_NODES] = {0};
   double elements = launch->anchor_count ? 0 : rkb_bench_elements(graph, launch->roots[0]);
   uint32_t most = 0, sizes[RKB_VECTOR_SIZES];
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      elements = fmax(elements, rkb_bench_elements(graph, graph->nodes[launch->anchors[a]].inputs[0]));
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      const uint32_t bytes = widest(graph, graph->nodes[launch->anchors[a]].inputs[0], elements, seen);
      most = bytes > most ? bytes : most;
   }
   for (uint32_t r = 0; r < launch->root_count; r++) {
      const rkb_node_t *root = &graph->nodes[launch->roots[r]];
      uint32_t bytes = 4;
      for (uint32_t o = 0; o < graph->output_count; o++)
         if (graph->outputs[o].node == launch->roots[r])
            bytes = rkb_dtype_bytes(graph->outputs[o].dtype);
      most = rkb_bench_elements(graph, launch->roots[r]) >= elements / 2 && bytes > most ? bytes : most;
      for (uint32_t i = 0; i < root->input_count; i++) {
         bytes = widest(graph, root->inputs[i], elements, seen);
         most = bytes > most ? bytes : most;
      }
   }
   int64_t *width = &launch->decisions[RKB_VECTOR];
   for (*width = most && most < 4 ? 8 : 4; *width > 1 && !rkb_vector_sizes(graph, launch, sizes);)
      *width /= 2;
}

static double bench_least(const rkb_graph_t *graph, const char *text) {
   double least = rkb_sizes_bench_at(&graph->sizes, text, 0);
   for (uint32_t i = 1; rkb_task_case(graph->sizes.task, RKB_CASE_BENCH, i); i++)
      least = fmin(least, rkb_sizes_bench_at(&graph->sizes, text, i));
   return least;
}

static void suit_reduction(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   const rkb_node_t *anchor = &graph->nodes[launch->anchors[0]];
   int64_t *d = launch->decisions;
   const double rows = rkb_bench_elements(graph, launch->anchors[0]),
                length = rkb_bench_elements(graph, anchor->inputs[0]) / rows;
   const double busy = 4 * (double)target->multiprocessors;
   suit_width(graph, launch);
   const double blocks = launch->mapping == RKB_MAP_COLUMN ? ceil(rows / 32) : rows;
   bool whole = false; /* rows that are written whole: the launch that adds parts has their statistics alone */
   for (uint32_t r = 0; r < launch->root_count; r++)
      whole |= rkb_bench_elements(graph, launch->roots[r]) > 1.5 * rows;
   if (rkb_decision_applies(graph, launch, RKB_SPLIT) && !whole)
      while (d[RKB_SPLIT] < 256 && blocks * (double)d[RKB_SPLIT] < busy &&
             length / (double)d[RKB_SPLIT] > 512)
         d[RKB_SPLIT] *= 2;
   if (launch->mapping == RKB_MAP_COLUMN || d[RKB_SPLIT] > 1)
      return;
   double longest = 1, shortest = 1;
   for (uint32_t dim = 0; dim < graph->nodes[anchor->inputs[0]].rank; dim++)
      if (anchor->mask >> dim & 1) {
         const rkb_size_t *size = &graph->sizes.list[graph->nodes[anchor->inputs[0]].shape[dim]];
         longest *= size->constant ? (double)size->at[0] : rkb_sizes_bench_most(&graph->sizes, size->text);
         shortest *= size->constant ? (double)size->at[0] : bench_least(graph, size->text);
      }
   const double packs = length / (double)d[RKB_VECTOR], most_packs = longest / (double)d[RKB_VECTOR];
   /* The lanes of a warp need no barrier for a short row, and one row leaves the device to its own block. */
   if (packs <= 256 && (rows >= busy || most_packs <= 64) && !d[RKB_STRETCHES] && !d[RKB_SEGMENTS])
      d[RKB_ROWS] = 8;
   else
      for (d[RKB_THREADS] = 64; d[RKB_THREADS] < 1024 && (rows < 8 ? most_packs > (double)d[RKB_THREADS] : packs > 2 * (double)d[RKB_THREADS]);)
         d[RKB_THREADS] *= 2;
   /* Registers for the longest row of the bench cases, where they suffice. */
   const double share = longest / (double)(d[RKB_VECTOR] * (d[RKB_ROWS] > 1 ? 32 : d[RKB_THREADS]));
   for (const int64_t *keep = rkb_decision_values(RKB_KEEP); d[RKB_VECTOR] >= 4 && !d[RKB_SEGMENTS] && *keep >= 0 && *keep * d[RKB_VECTOR] <= 32; keep++)
      if (*keep && !d[RKB_KEEP] && share <= (double)*keep)
         d[RKB_KEEP] = *keep;
   while (d[RKB_KEEP] && d[RKB_ROWS] == 1 && !d[RKB_STRETCHES] && d[RKB_THREADS] >= 128 * d[RKB_SHORTER] && d[RKB_SHORTER] < 16 &&
          2 * d[RKB_SHORTER] * (int64_t)shortest <= (int64_t)longest)
      d[RKB_SHORTER] *= 2;
   /* What is not kept is read again by each pass. */
   d[RKB_MOMENTS] = !d[RKB_KEEP] && rkb_decision_applies(graph, launch, RKB_MOMENTS);
}

static void suit_line(const rkb_graph_t *graph, rkb_launch_t *launch) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]];
   int64_t *d = launch->decisions;
   suit_width(graph, launch);
   const double packs = rkb_bench_size(graph, node->shape[node->rank - 1]) / (double)d[RKB_VECTOR];
   const bool along = launch->mapping == RKB_MAP_SCAN && graph->sizes.list[node->integers[0]].at[0] == (int64_t)node->rank - 1;
   if (!along)
      d[RKB_THREADS] = launch->mapping == RKB_MAP_SCAN ? 64 : 256;
   else
      for (d[RKB_THREADS] = 64; d[RKB_THREADS] < 512 && packs > (double)d[RKB_THREADS];)
         d[RKB_THREADS] *= 2;
}

/* Whether neighbours in a row may be of different parts of it: loads stay behind guards, so that a vector's would be single ones that
 * neighbouring threads do not make side by side. */
static bool chooses(const rkb_graph_t *graph, uint32_t number, bool *seen) {
   const rkb_node_t *node = &graph->nodes[number];
   const rkb_size_t *sizes = graph->sizes.list;
   if (seen[number] || !rkb_node_is_light(node))
      return false;
   seen[number] = true;
   const bool parts = (node->kind == RKB_NODE_CAT || node->kind == RKB_NODE_EMBED) && sizes[node->integers[0]].at[0] == (int64_t)node->rank - 1;
   for (uint32_t i = 0; i < node->input_count; i++) {
      const rkb_node_t *input = &graph->nodes[node->inputs[i]];
      const rkb_size_t *last = parts ? &sizes[input->shape[input->rank - 1]] : NULL;
      if ((last && last->constant && last->at[0] % 4 != 0) || chooses(graph, node->inputs[i], seen))
         return true;
   }
   return false;
}

void rkb_launch_suit(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   if (launch->mapping == RKB_MAP_ONLINE)
      return; /* has decisions that were tried */
   if (launch->anchor_count && rkb_node_is_product(&graph->nodes[launch->anchors[0]]))
      suit_product(graph, target, launch);
   else if (launch->mapping == RKB_MAP_SCAN || launch->mapping == RKB_MAP_LINK)
      suit_line(graph, launch);
   else if (launch->mapping == RKB_MAP_RANK) {
      const rkb_node_t *rank = &graph->nodes[launch->anchors[0]];
      const double length = rkb_bench_size(graph, graph->nodes[rank->inputs[0]].shape[graph->sizes.list[rank->integers[0]].at[0]]);
      launch->decisions[RKB_THREADS] = length > 4096 ? 1024 : 128;
   } else if (launch->mapping != RKB_MAP_ELEMENT)
      suit_reduction(graph, target, launch);
   else if (rkb_bench_elements(graph, launch->roots[0]) > 1024 * (double)target->multiprocessors &&
            !launch->anchor_count) {
      bool seen[RKB_MAX_GRAPH_NODES] = {0}, guarded = false;
      for (uint32_t r = 0; r < launch->root_count; r++)
         guarded |= chooses(graph, launch->roots[r], seen);
      if (guarded)
         launch->decisions[RKB_VECTOR] = 1;
      else
         suit_width(graph, launch);
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
      const rkb_extents_t e = extents_of(graph, launch);
      if (launch->mapping == RKB_MAP_TENSOR)
         return time + rkb_tensor_estimate(target, &e, launch->decisions);
      const double share =
         launch->mapping == RKB_MAP_TILE
            ? 0.1 * sqrt((double)(launch->decisions[RKB_THREAD_M] * launch->decisions[RKB_THREAD_N]))
            : 0.03;
      time += tile_estimate(target, &e, (double)launch->decisions[RKB_TILE_M],
                            (double)launch->decisions[RKB_TILE_N], (double)launch->decisions[RKB_TILE_K], share < 0.75 ? share : 0.75,
                            (double)launch->decisions[RKB_SPLIT]);
   }
   return time;
}

/* Whether memory names the places of what a value is computed from: stored, it may be many times as large as that. */
static bool picks(const rkb_graph_t *graph, uint32_t node) {
   const rkb_node_t *from = &graph->nodes[node];
   if (from->kind == RKB_NODE_INPUT || from->kind == RKB_NODE_GATHER)
      return from->kind == RKB_NODE_GATHER;
   for (uint32_t i = 0; i < from->input_count; i++)
      if (picks(graph, from->inputs[i]))
         return true;
   return false;
}

/* Whether a factor that is computed from inputs (weights that are unpacked) should be stored first: over the bench cases a block then copies
 * what each row of blocks would compute again. */
static bool pays_to_store(const rkb_target_t *target, const rkb_extents_t *e, uint32_t side) {
   double once = 0, again = 0;
   for (uint32_t i = 0; i < e->count; i++) {
      const rkb_extent_t *extent = &e->cases[i];
      const double elements = (side ? extent->n : extent->m) * extent->depth * extent->groups, tiles = ceil((side ? extent->m : extent->n) / 64);
      once += log(LAUNCH_NANOSECONDS + 2 * STORED_BYTES * elements / BYTES_A_NANOSECOND);
      again += log(elements * tiles / (UNPACKED_A_NANOSECOND * (double)target->multiprocessors));
   }
   return once < again;
}

/* Stores such a factor by a launch before the product's, which comes one later then. */
static bool store_computed(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number, uint32_t side) {
   const rkb_launch_t product = schedule->launches[number];
   const rkb_node_t *node = product.anchor_count ? &graph->nodes[product.anchors[0]] : NULL;
   if (!node || node->kind != RKB_NODE_MATMUL || !rkb_tensor_best(graph, target, product.anchors[0]) || !rkb_factor_is_computed(graph, node->inputs[side]) || picks(graph, node->inputs[side]))
      return false;
   const rkb_extents_t e = extents_of(graph, &product);
   uint32_t factor = node->inputs[side];
   while (rkb_node_is_view(&graph->nodes[factor]))
      factor = graph->nodes[factor].inputs[0];
   rkb_schedule_t *before = pays_to_store(target, &e, side) ? rkb_allocate(1, sizeof *before) : NULL;
   if (!before)
      return false;
   *before = *schedule;
   rkb_launch_t *store = rkb_schedule_add(schedule, RKB_MAP_ELEMENT);
   bool stored = false;
   if (store) {
      store->roots[store->root_count++] = factor;
      const rkb_launch_t added = *store;
      memmove(&schedule->launches[number + 1], &schedule->launches[number], (schedule->count - 1 - number) * sizeof added);
      schedule->launches[number] = added;
      stored = rkb_schedule_is_legal(graph, schedule, target->shared_bytes);
      if (!stored)
         *schedule = *before;
   }
   free(before);
   return stored;
}

/* Gives a launch on tensor cores warpgroups and tensor maps where these suit it, and describe its factors. */
static void suit_warpgroups(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number) {
   rkb_launch_t *launch = &schedule->launches[number], before = *launch;
   if (launch->mapping != RKB_MAP_TENSOR)
      return;
   const rkb_extents_t e = extents_of(graph, launch);
   if (rkb_tensor_suit_warpgroups(graph, target, &e, launch) && !rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
      *launch = before;
}

/* Takes away what a launch stores and nobody reads. */
static void drop_unread(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number) {
   rkb_launch_t *launch = &schedule->launches[number];
   for (uint32_t r = 0; launch->root_count > 1 && r < launch->root_count;) {
      const rkb_launch_t before = *launch;
      memmove(&launch->roots[r], &launch->roots[r + 1], (--launch->root_count - r) * sizeof *launch->roots);
      if (!rkb_schedule_is_legal(graph, schedule, target->shared_bytes)) {
         *launch = before;
         r++;
      }
   }
}

/* Sums over pieces of rows, as of a group's channels, join the launch that goes over rows which no registers hold. */
static void suit_segments(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number) {
   rkb_schedule_t *tried = rkb_allocate(1, sizeof *tried);
   const rkb_launch_t *sums = &schedule->launches[number];
   for (uint32_t l = 0; l < number && sums->mapping == RKB_MAP_ROW; l++) {
      rkb_launch_t *launch = &tried->launches[l];
      *tried = *schedule;
      if (launch->mapping != RKB_MAP_ROW || graph->nodes[launch->anchors[0]].kind != RKB_NODE_REDUCE || launch->decisions[RKB_STRETCHES] ||
          launch->anchor_count + sums->anchor_count > RKB_MAX_LAUNCH_NODES || launch->root_count + sums->root_count > RKB_MAX_LAUNCH_NODES ||
          rkb_bench_elements(graph, graph->nodes[launch->anchors[0]].inputs[0]) < LONG_ROW * rkb_bench_elements(graph, launch->anchors[0]))
         continue;
      memcpy(launch->anchors + launch->anchor_count, sums->anchors, sums->anchor_count * sizeof *sums->anchors);
      launch->anchor_count += sums->anchor_count;
      memcpy(launch->roots + launch->root_count, sums->roots, sums->root_count * sizeof *sums->roots);
      launch->root_count += sums->root_count;
      memmove(&tried->launches[number], &tried->launches[number + 1], (--tried->count - number) * sizeof *launch);
      launch->decisions[RKB_SEGMENTS] = 1;
      if (rkb_launch_refused(graph, launch, target->shared_bytes) || !rkb_schedule_is_legal(graph, tried, target->shared_bytes))
         continue;
      drop_unread(graph, target, tried, l);
      *schedule = *tried;
      break;
   }
   free(tried);
}

/* Sums over rows join the launch that goes along the rows, where there are many more rows than blocks: what they add need not be stored then. */
static void suit_stretches(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number) {
   rkb_schedule_t *tried = rkb_allocate(1, sizeof *tried);
   const rkb_launch_t *columns = &schedule->launches[number];
   const int64_t stretches = 264;
   for (uint32_t l = 0; l < number && columns->mapping == RKB_MAP_COLUMN; l++) {
      rkb_launch_t *launch = &tried->launches[l];
      *tried = *schedule;
      if (launch->mapping != RKB_MAP_ROW || graph->nodes[launch->anchors[0]].kind != RKB_NODE_REDUCE ||
          launch->anchor_count + columns->anchor_count > RKB_MAX_LAUNCH_NODES || launch->root_count + columns->root_count > RKB_MAX_LAUNCH_NODES ||
          rkb_bench_elements(graph, launch->anchors[0]) < 4 * (double)stretches)
         continue;
      memcpy(launch->anchors + launch->anchor_count, columns->anchors, columns->anchor_count * sizeof *columns->anchors);
      launch->anchor_count += columns->anchor_count;
      memcpy(launch->roots + launch->root_count, columns->roots, columns->root_count * sizeof *columns->roots);
      launch->root_count += columns->root_count;
      memmove(&tried->launches[number], &tried->launches[number + 1], (--tried->count - number) * sizeof *launch);
      launch->decisions[RKB_STRETCHES] = stretches;
      launch->decisions[RKB_ROWS] = 1;
      if (rkb_launch_refused(graph, launch, target->shared_bytes) || !rkb_schedule_is_legal(graph, tried, target->shared_bytes))
         continue;
      drop_unread(graph, target, tried, l);
      *schedule = *tried;
      break;
   }
   free(tried);
}

static bool try_schedule(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, const rkb_schedule_t *tried) {
   for (uint32_t l = 0; l < tried->count; l++)
      if (rkb_launch_refused(graph, &tried->launches[l], target->shared_bytes))
         return false;
   if (!rkb_schedule_is_legal(graph, tried, target->shared_bytes))
      return false;
   *schedule = *tried;
   return true;
}

/* A convolution of few channels under the windows is computed in registers, so that nothing of it is stored.  False: it is not. */
static bool suit_window_convolution(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number, rkb_schedule_t *tried) {
   for (uint32_t l = 0; l < number; l++) {
      const rkb_launch_t *convolution = &schedule->launches[l];
      if (!convolution->anchor_count || !rkb_window_convolves(graph, convolution->anchors[0]) ||
          extents_of(graph, convolution).mean.depth > WINDOW_DEPTH)
         continue;
      *tried = *schedule;
      rkb_launch_t *launch = &tried->launches[number];
      launch->anchors[launch->anchor_count++] = convolution->anchors[0];
      launch->decisions[RKB_WINDOW] = launch->decisions[RKB_VECTOR] = 1;
      launch->decisions[RKB_CHANNELS] = 4;
      launch->decisions[RKB_THREADS] = 128;
      memmove(&tried->launches[l], &tried->launches[l + 1], (--tried->count - l) * sizeof *launch);
      if (try_schedule(graph, target, schedule, tried)) {
         drop_unread(graph, target, schedule, number - 1);
         return true;
      }
   }
   return false;
}

/* A thread for windows of a pool or its gradient looks at the places under them once. */
static void suit_window(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number) {
   rkb_schedule_t *tried = rkb_allocate(1, sizeof *tried);
   if (rkb_decision_applies(graph, &schedule->launches[number], RKB_WINDOW) && !schedule->launches[number].decisions[RKB_WINDOW] &&
       !suit_window_convolution(graph, target, schedule, number, tried)) {
      bool found = false;
      for (int64_t vector = 4; vector > 0 && !found; vector /= 2) {
         *tried = *schedule;
         tried->launches[number].decisions[RKB_WINDOW] = 1;
         tried->launches[number].decisions[RKB_VECTOR] = vector;
         found = try_schedule(graph, target, schedule, tried);
      }
   }
   free(tried);
}

/* A strip of pixels for each thread where channels are convolved by themselves. */
static void suit_strip(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number) {
   rkb_launch_t *launch = &schedule->launches[number], before = *launch;
   if (!rkb_decision_applies(graph, launch, RKB_STRIP))
      return;
   launch->decisions[RKB_STRIP] = 8;
   launch->decisions[RKB_VECTOR] = 1;
   if (rkb_launch_refused(graph, launch, target->shared_bytes) || !rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
      *launch = before;
}

/* The same place of each part that a row is joined of, where there are equal parts: they need no guards then, and share what they load. */
static void suit_places(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number) {
   rkb_launch_t *launch = &schedule->launches[number], before = *launch;
   for (int64_t places = 2; places <= 4 && rkb_decision_applies(graph, launch, RKB_PLACES); places++) {
      launch->decisions[RKB_PLACES] = places;
      suit_width(graph, launch);
      if (rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
         return;
      *launch = before;
   }
}

/* Whether a launch needs another, or one between them, through any nodes. */
static bool follows(const rkb_graph_t *graph, const rkb_schedule_t *schedule, uint32_t number, uint32_t from) {
   bool needed[RKB_MAX_GRAPH_NODES] = {0};
   const rkb_launch_t *launch = &schedule->launches[number];
   for (uint32_t r = 0; r < launch->root_count; r++)
      needed[launch->roots[r]] = true;
   for (uint32_t n = graph->node_count; n-- > 0;)
      for (uint32_t i = 0; needed[n] && i < graph->nodes[n].input_count; i++)
         needed[graph->nodes[n].inputs[i]] = true;
   for (uint32_t l = from; l < number; l++)
      for (uint32_t r = 0; r < schedule->launches[l].root_count; r++)
         if (needed[schedule->launches[l].roots[r]])
            return true;
   return false;
}

static int64_t threads_of(const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   return launch->mapping == RKB_MAP_TILE     ? d[RKB_TILE_M] / d[RKB_THREAD_M] * (d[RKB_TILE_N] / d[RKB_THREAD_N])
          : launch->mapping == RKB_MAP_TENSOR ? d[RKB_TILE_M] / d[RKB_WARP_M] * (d[RKB_TILE_N] / d[RKB_WARP_N]) * 32
                                              : d[RKB_THREADS];
}

/* Gives launches that share a kernel blocks of one size, where one of them may have any. */
static void suit_threads(const rkb_graph_t *graph, rkb_launch_t *launch, rkb_launch_t *other) {
   rkb_launch_t *free_one = rkb_decision_applies(graph, launch, RKB_THREADS) ? launch : other;
   const int64_t threads = threads_of(free_one == launch ? other : launch);
   if (rkb_decision_applies(graph, free_one, RKB_THREADS) && threads >= 64 && !(free_one->mapping == RKB_MAP_ROW && free_one->decisions[RKB_ROWS] > 1))
      free_one->decisions[RKB_THREADS] = threads;
}

#define SHORT_NANOSECONDS 15000.0
#define MOST_TRIALS 24u

/* Short launches that need nothing of each other share a kernel: each start costs as much as their work. */
static void suit_beside(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule) {
   rkb_schedule_t *tried = rkb_allocate(1, sizeof *tried);
   uint32_t trials = 0;
   for (uint32_t l = 1; l < schedule->count; l++)
      for (uint32_t into = 0; into < l && trials < MOST_TRIALS && !schedule->launches[l].decisions[RKB_BESIDE]; into++) {
         if (schedule->launches[into].decisions[RKB_BESIDE] || rkb_launch_estimate(graph, target, &schedule->launches[l]) > SHORT_NANOSECONDS ||
             rkb_launch_estimate(graph, target, &schedule->launches[into]) > SHORT_NANOSECONDS || follows(graph, schedule, l, into))
            continue;
         *tried = *schedule;
         if (!rkb_schedule_put_beside(graph, tried, l, into))
            continue;
         suit_threads(graph, &tried->launches[into + 1], &tried->launches[into]);
         trials++;
         if (rkb_schedule_is_legal(graph, tried, target->shared_bytes))
            *schedule = *tried;
      }
   free(tried);
}

static void suit_launch(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule,
                        uint32_t number) {
   if (schedule->launches[number].mapping != RKB_MAP_ONLINE ||
       !rkb_online_suit(graph, target, schedule, number))
      rkb_launch_suit(graph, target, &schedule->launches[number]);
}

/* Decisions that suit each launch.  careful: a launch that cannot be written with them keeps the plainest ones. */
static void suit_launches(rkb_graph_t *graph, const rkb_target_t *target, bool careful,
                          rkb_schedule_t *schedule) {
   rkb_schedule_t *plain = rkb_allocate(1, sizeof *plain);
   for (uint32_t l = 0; l < schedule->count; l++) {
      *plain = *schedule;
      suit_launch(graph, target, schedule, l);
      if (careful && !rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
         *schedule = *plain;
   }
   free(plain);
}

/* As the start's name says; it may be one that cannot be written. */
static bool make_start(rkb_graph_t *graph, const rkb_target_t *target, enum rkb_start start, bool careful,
                       rkb_schedule_t *schedule) {
   bool own = true;
   if (start == RKB_START_FUSED)
      own = rkb_partition_again(graph, target->shared_bytes, schedule);
   else
      rkb_partition_together(graph, target->shared_bytes, schedule);
   for (uint32_t l = schedule->count; start != RKB_START_TOGETHER && l-- > 0;) {
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
   if (start != RKB_START_TOGETHER) {
      rkb_schedule_store_operands(graph, target, schedule);
      rkb_schedule_recompute(graph, target, schedule);
      for (uint32_t l = schedule->count; l-- > 0;)
         for (uint32_t side = 0, product = l; side < 2; side++)
            product += store_computed(graph, target, schedule, product, side);
   }
   for (uint32_t l = schedule->count; start != RKB_START_TOGETHER && l-- > 0;)
      suit_stretches(graph, target, schedule, l);
   for (uint32_t l = schedule->count; start != RKB_START_TOGETHER && l-- > 0;)
      if (l < schedule->count)
         suit_segments(graph, target, schedule, l);
   if (start != RKB_START_TOGETHER)
      suit_launches(graph, target, careful, schedule);
   for (uint32_t l = 0; start != RKB_START_TOGETHER && l < schedule->count; l++)
      suit_warpgroups(graph, target, schedule, l);
   for (uint32_t l = schedule->count; start != RKB_START_TOGETHER && l-- > 0;) {
      suit_places(graph, target, schedule, l);
      suit_window(graph, target, schedule, l);
      suit_strip(graph, target, schedule, l);
   }
   if (start != RKB_START_TOGETHER)
      suit_beside(graph, target, schedule);
   return own;
}

bool rkb_schedule_start(rkb_graph_t *graph, const rkb_target_t *target, enum rkb_start start,
                        rkb_schedule_t *schedule) {
   if (start == RKB_START_APART) {
      rkb_partition_apart(graph, schedule);
      return true;
   }
   const bool own = make_start(graph, target, start, false, schedule);
   if (!own || rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
      return own;
   make_start(graph, target, start, true, schedule);
   if (rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
      return true;
   rkb_partition_together(graph, target->shared_bytes, schedule);
   if (!rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
      rkb_partition_apart(graph, schedule);
   if (start != RKB_START_TOGETHER)
      suit_launches(graph, target, true, schedule);
   return true;
}
