/* Finds the decisions that suit a launch in the bench cases, and estimates how long it takes.  Pure
 * functions; one thread for each graph. */
#include "generator/graph/bench_sizes.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/start/start_schedules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "generator/kernel/kernel_text.h"
#include "generator/text/launch_text.h"
#include "generator/kernel/longer_rows.h"
#include "generator/start/element_parts.h"
#include "generator/start/row_stages_start.h"
#include "generator/decisions/stored_type.h"
#include "generator/start/tensor_start.h"

#define FUSED_A_NANOSECOND 218.0 /* multiply-adds of a multiprocessor: 128 lanes at 1.7 GHz */
#define BYTES_A_NANOSECOND 3500.0
#define LAUNCH_NANOSECONDS 1500.0
#define STEP_NANOSECONDS 150.0

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
   /* Few threads hide little of each step's wait for memory. */
   double time = LAUNCH_NANOSECONDS + waves * m * n * ceil(e->depth / split) / (FUSED_A_NANOSECOND * share) +
                 STEP_NANOSECONDS * ceil(e->depth / split / step);
   if (split > 1)
      time += LAUNCH_NANOSECONDS + split * e->m * e->n * e->groups * 8 / BYTES_A_NANOSECOND;
   return time;
}

/* The geometric mean of the estimate over the bench cases. */
static double tile_estimate(const rkb_target_t *target, const rkb_extents_t *e, double m, double n, double step,
                            double share, double split) {
   double sum = 0;
   for (uint32_t i = 0; i < e->count; i++)
      sum += log(tile_estimate_in(target, &e->cases[i], m, n, step, share, split));
   return exp(sum / e->count);
}

/* Sets the decisions of a tile of ordinary arithmetic.  Returns their estimate. */
static double suit_tile(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   const rkb_extents_t e = rkb_launch_extents(graph, launch);
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
   const rkb_extents_t e = rkb_launch_extents(graph, launch);
   return rkb_tensor_suit(graph, target, &e, launch) < HUGE_VAL;
}

/* Below this many multiply-adds, a warp for each element is faster than tiles that leave most of the device idle.  By
 * the profiler's model a warp takes about a nanosecond for each thousand multiply-adds. */
#define SMALL_PRODUCT 1024
/* The same limit where other bench cases have tiles.  It is smaller, so that cases which the checking machine executes
 * whole have tiles too. */
#define SMALL_IN_SOME 256
/* If a warp computed a sum of so few terms, most of its lanes would have nothing to do.  So a thread computes an element. */
#define SHORT_SUM 8

static double work_of(const rkb_extent_t *e) {
   return e->groups * e->m * e->n * e->depth;
}

static void suit_small(const rkb_extents_t *e, bool is_matmul, rkb_launch_t *launch) {
   uint32_t few = 0;
   for (uint32_t i = 0; i < e->count; i++)
      few += work_of(&e->cases[i]) <= 1024.0 * SMALL_PRODUCT;
   if (few == e->count && is_matmul && rkb_most_depth(e) <= SHORT_SUM) {
      launch->mapping = RKB_MAP_ELEMENT;
      launch->decisions[RKB_VECTOR] = 1;
   } else if (few == e->count)
      *launch = rkb_small_launch(launch);
   else if (few)
      launch->decisions[RKB_SMALL] = SMALL_IN_SOME;
}

static void suit_product(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   const rkb_extents_t e = rkb_launch_extents(graph, launch);
   const uint32_t kind = graph->nodes[launch->anchors[0]].kind;
   rkb_launch_t tensor = *launch;
   /* Where channels are convolved by themselves, a tile would be nearly empty, and each channel needs its own place.  So
    * a thread computes one element. */
   if (kind != RKB_NODE_MATMUL && e.mean.groups > 1 && fmin(e.mean.m, e.mean.n) < 4) {
      if (kind == RKB_NODE_CONVOLUTION_WEIGHT) /* few elements, each a sum over all pixels */
         rkb_launch_suit_parts(graph, target, launch);
      else
         launch->mapping = RKB_MAP_ELEMENT;
      return;
   }
   if (rkb_tensor_suit(graph, target, &e, &tensor) < suit_tile(graph, target, launch))
      *launch = tensor;
   suit_small(&e, kind == RKB_NODE_MATMUL, launch);
}

/* The bytes of the widest element from which a value is read.  Only large values count, because their bytes
 * take the time. */
static uint32_t widest(const rkb_graph_t *graph, uint32_t number, double elements, bool *seen) {
   const rkb_node_t *node = &graph->nodes[number];
   uint32_t most = 0;
   if (seen[number])
      return 0;
   seen[number] = true;
   if (node->kind == RKB_NODE_INPUT || !rkb_node_is_light(node)) {
      const uint32_t bytes =
         node->kind == RKB_NODE_INPUT || rkb_dtype_narrow(node->dtype) ? rkb_dtype_bytes(node->dtype) : 4;
      return rkb_bench_elements(graph, number) >= elements / 2 ? bytes : 0;
   }
   for (uint32_t i = 0; i < node->input_count; i++) {
      const uint32_t bytes = widest(graph, node->inputs[i], elements, seen);
      most = bytes > most ? bytes : most;
   }
   return most;
}

/* Gives a launch vectors of 16 bytes of the widest large tensor.  Wider vectors would leave parts of a warp's
 * sectors to later accesses. */
void rkb_launch_suit_width(const rkb_graph_t *graph, rkb_launch_t *launch) {
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
      const bool narrow = root->dtype == RKB_BF16 || root->dtype == RKB_F16 || rkb_may_store_bf16(graph, launch->roots[r]);
      uint32_t bytes = narrow ? 2 : 4;
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

/* Packs of 16 bytes that a thread of a cluster keeps: 64 KiB for a block of 128 threads, of which a
 * multiprocessor has room for three. */
#define MOST_CLUSTER_PACKS 32
/* Most packs of a row for each thread of a cluster; longer rows do not get a cluster.  The checking machine executes a
 * cluster's blocks together, and is slow with more packs. */
#define MOST_CLUSTER_SHARE 256

/* Lets the blocks of a cluster share a row that is too long for one block's registers, or rows that are too
 * few to occupy the device. */
static void suit_cluster(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch, double rows, double longest,
                         double shortest) {
   const rkb_node_t *anchor = &graph->nodes[launch->anchors[0]];
   int64_t *d = launch->decisions;
   bool written = false; /* whether the row is written */
   for (uint32_t r = 0; r < launch->root_count; r++)
      written |= rkb_bench_elements(graph, launch->roots[r]) > 1.5 * rows;
   const bool again = written || launch->anchor_count > 1; /* whether it is read more than once */
   const double a_pack = (double)d[RKB_VECTOR] * RKB_MOST_CLUSTER_THREADS, share = longest / a_pack;
   const bool few = rows < (double)target->multiprocessors;
   if (!(target->warpgroup[RKB_TENSOR_PATH_BF16] > 0) || anchor->kind != RKB_NODE_REDUCE || !again || rows < 8 || d[RKB_ROWS] > 1 ||
       d[RKB_STRETCHES] || d[RKB_SEGMENTS] || d[RKB_BESIDE] || d[RKB_VECTOR] < 4 || d[RKB_KEEP] || share < 1 ||
       share > (few ? MOST_CLUSTER_SHARE : MOST_CLUSTER_PACKS))
      return;
   d[RKB_CLUSTER] = 8;
   d[RKB_THREADS] = RKB_MOST_CLUSTER_THREADS / d[RKB_CLUSTER];
   for (const int64_t *keep = rkb_decision_values(RKB_KEEP); *keep >= 0 && *keep <= MOST_CLUSTER_PACKS; keep++)
      if (*keep && !d[RKB_KEEP] && share <= (double)*keep)
         d[RKB_KEEP] = *keep;
   while (d[RKB_SHORTER] < 4 && 2 * d[RKB_SHORTER] <= d[RKB_KEEP] && shortest / a_pack <= (double)(d[RKB_KEEP] / (2 * d[RKB_SHORTER])))
      d[RKB_SHORTER] *= 2;
   /* Three blocks that keep this much fill a multiprocessor.  With twelve warps in all, the multiprocessor would
    * wait for memory. */
   d[RKB_WARPS] = d[RKB_KEEP] == MOST_CLUSTER_PACKS ? 7 : 0;
   /* While a block stores a row it copies the next one, where there are rows for all clusters in turn. */
   d[RKB_PREFETCH] =
      written && d[RKB_KEEP] * d[RKB_VECTOR] > RKB_MOST_KEPT && rows >= 4 * (double)target->multiprocessors;
}

/* Most elements of a row that a thread keeps, if it also keeps as many that only later passes read. */
#define MOST_BESIDE 16

/* Marks what a value is read from: inputs, and values that launches store. */
static void mark_read(const rkb_graph_t *graph, uint32_t number, bool *seen, bool *read) {
   const rkb_node_t *node = &graph->nodes[number];
   if (seen[number])
      return;
   seen[number] = true;
   read[number] = node->kind == RKB_NODE_INPUT || !rkb_node_is_light(node);
   for (uint32_t i = 0; i < node->input_count && !read[number]; i++)
      mark_read(graph, node->inputs[i], seen, read);
}

/* Whether the results of rows need a tensor of at least so many elements that the rows' statistics do not need, such as a norm's weight. */
static bool reads_later(const rkb_graph_t *graph, const rkb_launch_t *launch, double length) {
   bool seen[RKB_MAX_GRAPH_NODES] = {0}, later_seen[RKB_MAX_GRAPH_NODES] = {0},
        first[RKB_MAX_GRAPH_NODES] = {0}, later[RKB_MAX_GRAPH_NODES] = {0};
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      mark_read(graph, graph->nodes[launch->anchors[a]].inputs[0], seen, first);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      first[launch->anchors[a]] = true;
   for (uint32_t r = 0; r < launch->root_count; r++)
      mark_read(graph, launch->roots[r], later_seen, later);
   for (uint32_t n = 0; n < graph->node_count; n++)
      if (later[n] && !first[n] && rkb_bench_elements(graph, n) >= length)
         return true;
   return false;
}

/* A row of at most so many packs is short: a block loads the next row during its passes. */
#define MOST_AHEAD 256

static void suit_reduction(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   const rkb_node_t *anchor = &graph->nodes[launch->anchors[0]];
   int64_t *d = launch->decisions;
   const double rows = rkb_bench_elements(graph, launch->anchors[0]),
                length = rkb_bench_elements(graph, anchor->inputs[0]) / rows;
   const double busy = 4 * (double)target->multiprocessors;
   rkb_launch_suit_width(graph, launch);
   const double blocks = launch->mapping == RKB_MAP_COLUMN ? ceil(rows / 32) : rows;
   bool whole = false; /* whether rows are written whole; if so, no split: the launch that adds parts has only their statistics */
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
   /* Keeps the longest row of the bench cases in registers, where they suffice. */
   const double share = longest / (double)(d[RKB_VECTOR] * (d[RKB_ROWS] > 1 ? 32 : d[RKB_THREADS]));
   for (const int64_t *keep = rkb_decision_values(RKB_KEEP); d[RKB_VECTOR] >= 4 && !d[RKB_SEGMENTS] && *keep >= 0 && *keep * d[RKB_VECTOR] <= RKB_MOST_KEPT; keep++)
      if (*keep && !d[RKB_KEEP] && share <= (double)*keep)
         d[RKB_KEEP] = *keep;
   /* A block that owns rows one after the other copies the next rows while it computes. */
   if (d[RKB_STRETCHES] && !d[RKB_SEGMENTS] && rkb_row_stages_suit(graph, target, launch, longest, shortest))
      return;
   /* A short row has few loads in flight.  So a thread issues the loads of the next row at the same time; twice as many threads have the
    * registers for both rows. */
   d[RKB_PREFETCH] = d[RKB_STRETCHES] && d[RKB_KEEP] && shortest <= MOST_AHEAD * (double)d[RKB_VECTOR];
   if (d[RKB_PREFETCH] && 2 * d[RKB_KEEP] * d[RKB_VECTOR] > RKB_MOST_KEPT && d[RKB_THREADS] <= 256) {
      d[RKB_THREADS] *= 2;
      d[RKB_KEEP] /= 2;
   }
   while (d[RKB_KEEP] && d[RKB_ROWS] == 1 && (!d[RKB_STRETCHES] || d[RKB_PREFETCH]) && d[RKB_THREADS] >= (d[RKB_STRETCHES] ? 256 : 128) * d[RKB_SHORTER] && d[RKB_SHORTER] < 16 &&
          2 * d[RKB_SHORTER] * (int64_t)shortest <= (int64_t)longest)
      d[RKB_SHORTER] *= 2;
   /* Two rows and the sums take 128 registers of a thread.  The launch has as many blocks as the multiprocessors then hold. */
   if (d[RKB_PREFETCH] && d[RKB_STRETCHES] && d[RKB_SHORTER] > 1)
      d[RKB_STRETCHES] = d[RKB_THREADS] < 512 ? 264 : 132;
   suit_cluster(graph, target, launch, rows, longest, shortest);
   /* Loads early the values that only later passes read; otherwise the block would wait for them after the row's sum.  They take as many
    * registers as the row itself.  Blocks of 1,024 threads have too few registers for this where two blocks share a multiprocessor. */
   d[RKB_PREFETCH] |= d[RKB_KEEP] && d[RKB_KEEP] * d[RKB_VECTOR] <= MOST_BESIDE && d[RKB_ROWS] == 1 &&
                      d[RKB_CLUSTER] == 1 && !d[RKB_STRETCHES] && d[RKB_THREADS] < 1024 &&
                      reads_later(graph, launch, length);
   /* Values that are not kept are read again in each pass. */
   d[RKB_MOMENTS] = !d[RKB_KEEP] && rkb_decision_applies(graph, launch, RKB_MOMENTS);
   /* Rows that are too long for a cluster are read twice in any case.  If there are few of them, each is read by more blocks than
    * a cluster has. */
   while (d[RKB_CLUSTER] > 1 && rkb_longer_suits(graph, launch, longest, target->shared_bytes) && rows * (double)d[RKB_SPLIT] < busy)
      d[RKB_SPLIT] *= 2;
   if (d[RKB_SPLIT] > 1)
      d[RKB_WARPS] = d[RKB_PREFETCH] = 0;
}

static void suit_line(const rkb_graph_t *graph, rkb_launch_t *launch) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]];
   int64_t *d = launch->decisions;
   rkb_launch_suit_width(graph, launch);
   const double packs = rkb_bench_size(graph, node->shape[node->rank - 1]) / (double)d[RKB_VECTOR];
   const bool along = launch->mapping == RKB_MAP_SCAN && graph->sizes.list[node->integers[0]].at[0] == (int64_t)node->rank - 1;
   if (!along)
      d[RKB_THREADS] = launch->mapping == RKB_MAP_SCAN ? 64 : 256;
   else
      for (d[RKB_THREADS] = 64; d[RKB_THREADS] < 512 && packs > (double)d[RKB_THREADS];)
         d[RKB_THREADS] *= 2;
}

/* Each thread keeps two elements.  In a long row few threads have more of the largest elements, and each kept
 * element costs one comparison for each element of the row. */
#define RANKED 2

static void suit_rank(const rkb_graph_t *graph, rkb_launch_t *launch) {
   const rkb_node_t *rank = &graph->nodes[launch->anchors[0]];
   const double length = rkb_bench_size(graph, graph->nodes[rank->inputs[0]].shape[graph->sizes.list[rank->integers[0]].at[0]]);
   int64_t *d = launch->decisions;
   d[RKB_THREADS] = length > 4096 ? 512 : 128; /* a turn costs time for each warp of a block */
   d[RKB_KEEP] = RANKED;
   d[RKB_ROWS] = 8;
   rkb_launch_suit_width(graph, launch);
}

/* As many warps as units; where each thread has a unit, as many threads. */
static void suit_steps(const rkb_graph_t *graph, rkb_launch_t *launch) {
   const rkb_node_t *layer = &graph->nodes[launch->anchors[0]];
   const bool backward = strcmp(layer->operation, "recurrent_gradient") == 0;
   const uint32_t first = layer->inputs[backward ? 4 : 1];
   const double threads = rkb_bench_size(graph, graph->nodes[first].shape[1]) * (backward ? 1 : 32);
   int64_t *d = launch->decisions;
   for (d[RKB_THREADS] = 64; d[RKB_THREADS] < 1024 && threads > (double)d[RKB_THREADS];)
      d[RKB_THREADS] *= 2;
}

/* Whether neighbours in a row may belong to different parts of it.  Loads then stay inside guards, so the load of a
 * vector would become single loads, and those of neighbouring threads would not be side by side in memory. */
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
      return; /* its decisions were tried already */
   if (launch->anchor_count && rkb_node_is_product(&graph->nodes[launch->anchors[0]]))
      suit_product(graph, target, launch);
   else if (launch->mapping == RKB_MAP_SCAN || launch->mapping == RKB_MAP_LINK)
      suit_line(graph, launch);
   else if (launch->mapping == RKB_MAP_RANK)
      suit_rank(graph, launch);
   else if (launch->mapping == RKB_MAP_STEPS)
      suit_steps(graph, launch);
   else if (launch->mapping != RKB_MAP_ELEMENT)
      suit_reduction(graph, target, launch);
   else if (rkb_bench_elements(graph, launch->roots[0]) > 1024 * (double)target->multiprocessors &&
            !launch->anchor_count) {
      bool seen[RKB_MAX_GRAPH_NODES] = {0}, guarded = false;
      for (uint32_t r = 0; r < launch->root_count; r++)
         guarded |= chooses(graph, launch->roots[r], seen);
      if (guarded)
         launch->decisions[RKB_VECTOR] = 1;
      else
         rkb_launch_suit_width(graph, launch);
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
      const rkb_extents_t e = rkb_launch_extents(graph, launch);
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
