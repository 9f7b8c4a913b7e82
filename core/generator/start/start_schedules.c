/* Whole schedules to start from; suited_decisions.c has the decisions of one launch.  Pure functions; one thread a graph. */
#include "generator/element/element_lines.h"
#include "generator/start/start_schedules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "generator/graph/bench_sizes.h"
#include "generator/start/columns_start.h"
#include "generator/start/element_parts.h"
#include "generator/tile/convolution_extent.h"
#include "generator/start/convolution_start.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/kernel/kernel_text.h"
#include "generator/text/launch_text.h"
#include "generator/kernel/longer_rows.h"
#include "generator/start/online_start.h"
#include "generator/start/partition.h"
#include "generator/text/product_index.h"
#include "generator/start/recompute.h"
#include "generator/start/separate_rows.h"
#include "generator/start/tensor_start.h"
#include "generator/element/window_text.h"

#define BYTES_A_NANOSECOND 3500.0
#define LAUNCH_NANOSECONDS 1500.0
#define LONG_ROW 32768.0 /* a row of this many elements does not fit into a block's registers */
/* Elements for each multiprocessor: 1.4 and 2.6 were measured for int4 weights,
 * docs/results/2026-11-23-tensor. */
#define UNPACKED_A_NANOSECOND 2.0
#define STORED_BYTES 2.0 /* the least bytes of a factor's element */

const char *rkb_start_name(enum rkb_start start) {
   static const char *const names[] = {"suited", "fused", "together", "apart"};
   return names[start];
}

#define WINDOW_DEPTH 64.0 /* the most products of a result that one thread computes alone */

/* Whether a value is computed from places that numbers in memory name, as by a gather.  This value may be many times
 * as large as its source. */
static bool picks(const rkb_graph_t *graph, uint32_t node) {
   const rkb_node_t *from = &graph->nodes[node];
   if (from->kind == RKB_NODE_INPUT || from->kind == RKB_NODE_GATHER || from->kind == RKB_NODE_PUT)
      return from->kind != RKB_NODE_INPUT;
   for (uint32_t i = 0; i < from->input_count; i++)
      if (picks(graph, from->inputs[i]))
         return true;
   return false;
}

/* Whether a factor that is computed from inputs (unpacked weights) should be stored first.  Otherwise, in the bench
 * cases, each row of blocks computes the factor again instead of copying it. */
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

/* Stores a factor that is computed from inputs, by a launch before the product's; the number of the product's launch grows by one. */
static bool store_computed(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number, uint32_t side) {
   const rkb_launch_t product = schedule->launches[number];
   const rkb_node_t *node = product.anchor_count ? &graph->nodes[product.anchors[0]] : NULL;
   if (!node || node->kind != RKB_NODE_MATMUL || !rkb_tensor_best(graph, target, product.anchors[0]) || !rkb_factor_is_computed(graph, node->inputs[side]) || picks(graph, node->inputs[side]))
      return false;
   const rkb_extents_t e = rkb_launch_extents(graph, &product);
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

/* Gives a launch on tensor cores warpgroups and tensor maps, where these suit it and describe its factors. */
static void suit_warpgroups(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number) {
   rkb_launch_t *launch = &schedule->launches[number], before = *launch;
   if (launch->mapping != RKB_MAP_TENSOR)
      return;
   const rkb_extents_t e = rkb_launch_extents(graph, launch);
   const bool floats = launch->decisions[RKB_TENSOR] == RKB_TENSOR_PATH_TF32X3 && graph->nodes[launch->anchors[0]].kind != RKB_NODE_MATMUL,
              suits = floats ? rkb_convolution_suit(graph, target, launch) : rkb_tensor_suit_warpgroups(graph, target, &e, launch);
   if (!suits)
      return;
   if (!rkb_schedule_is_legal(graph, schedule, target->shared_bytes)) {
      *launch = before;
      return;
   }
   before = *launch;
   if (!floats && rkb_tensor_suit_other(graph, target, &e, launch) && !rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
      *launch = before;
}

/* Removes values that a launch stores and that no launch reads. */
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

/* Lets sums over pieces of rows, as of a group's channels, join the launch that goes over rows which no
 * registers hold. */
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

/* Lets sums over rows join the launch that goes along the rows, where there are many more rows than blocks.
 * The values that they add need not be stored then. */
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

/* Computes a convolution of few channels under the windows in registers, so that nothing of it is stored.
 * False: it is stored. */
static bool suit_window_convolution(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number, rkb_schedule_t *tried) {
   for (uint32_t l = 0; l < number; l++) {
      const rkb_launch_t *convolution = &schedule->launches[l];
      if (!convolution->anchor_count || !rkb_window_convolves(graph, convolution->anchors[0]) ||
          rkb_launch_extents(graph, convolution).mean.depth > WINDOW_DEPTH)
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

/* Gives a thread windows of a pool or its gradient, so that it looks at the places under them once. */
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

/* Gives each thread a strip of pixels, of as many channels as a vector has, where channels are convolved by
 * themselves. */
static void suit_strip(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number) {
   rkb_launch_t *launch = &schedule->launches[number], before = *launch;
   if (!rkb_decision_applies(graph, launch, RKB_STRIP))
      return;
   launch->decisions[RKB_STRIP] = 8;
   for (int64_t vector = 4; vector > 0; vector /= 2) {
      launch->decisions[RKB_VECTOR] = vector;
      if (!rkb_launch_refused(graph, launch, target->shared_bytes) && rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
         return;
   }
   *launch = before;
}

/* Where a row is joined from equal parts, gives a thread the same place in each part.  These places need no guards
 * then, and share loads. */
static void suit_places(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number) {
   rkb_launch_t *launch = &schedule->launches[number], before = *launch;
   for (int64_t places = 2; places <= 4 && rkb_decision_applies(graph, launch, RKB_PLACES); places++) {
      launch->decisions[RKB_PLACES] = places;
      rkb_launch_suit_width(graph, launch);
      if (rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
         return;
      *launch = before;
   }
}

/* Whether a launch needs another one, or one between the two, through any nodes. */
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

/* Gives launches that share a kernel blocks of the same size, where one of them may have any size. */
static void suit_threads(const rkb_graph_t *graph, rkb_launch_t *launch, rkb_launch_t *other) {
   rkb_launch_t *free_one = rkb_decision_applies(graph, launch, RKB_THREADS) ? launch : other;
   const int64_t threads = threads_of(free_one == launch ? other : launch);
   if (rkb_decision_applies(graph, free_one, RKB_THREADS) && threads >= 64 && !(free_one->mapping == RKB_MAP_ROW && free_one->decisions[RKB_ROWS] > 1))
      free_one->decisions[RKB_THREADS] = threads;
}

#define SHORT_NANOSECONDS 15000.0
#define MOST_TRIALS 24u

/* Lets short launches that do not need each other share a kernel, because each start costs as much as their
 * work. */
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

/* Gives each launch decisions that suit it.  careful: a launch that cannot be written with them keeps the
 * plainest ones. */
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

#define SHORT_ELEMENTS (1 << 23) /* elements of the largest tensor, in a task whose launches are short */

/* Lets launches that take microseconds begin before the launch in front has ended.  Then they wait only for the
 * end of that launch, and not also for their own start. */
static void suit_dependent(const rkb_graph_t *graph, rkb_schedule_t *schedule) {
   for (uint32_t n = 0; n < graph->node_count; n++)
      if (rkb_bench_elements(graph, n) > SHORT_ELEMENTS)
         return;
   uint32_t waiting = 0;
   for (uint32_t l = 0; l < schedule->count; l++) {
      rkb_launch_t *launch = &schedule->launches[l];
      const bool shares = launch->decisions[RKB_BESIDE] || (l + 1 < schedule->count && launch[1].decisions[RKB_BESIDE]),
                 several = launch->decisions[RKB_SPLIT] > 1 || rkb_convolution_is_tiled(graph, launch);
      launch->decisions[RKB_DEPENDENT] = !shares && !rkb_launch_has_longer(launch);
      waiting += launch->decisions[RKB_DEPENDENT] && (l > 0 || several);
   }
   if (!waiting)
      schedule->launches[0].decisions[RKB_DEPENDENT] = 0; /* no launch would begin early */
}

#define FEW_THREADS 64
#define MANY_ROWS 4096.0
#define MANY_IN_LINES 67108864.0 /* elements: a tensor with so many has many lines */

/* Where each block owns a line, or one of many rows of a product, gives it few threads.  Rows of small cases have few elements, so more threads
 * would have nothing to do; and the plainest kernel should get its verdict early. */
static void spare_threads(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule) {
   for (uint32_t l = 0; l < schedule->count; l++) {
      rkb_launch_t *launch = &schedule->launches[l];
      const rkb_launch_t before = *launch;
      const double elements = launch->anchor_count ? rkb_bench_elements(graph, launch->anchors[0]) : 0;
      if (launch->mapping == RKB_MAP_ROW
             ? !rkb_node_is_product(&graph->nodes[launch->anchors[0]]) || elements < MANY_ROWS
             : launch->mapping != RKB_MAP_SCAN || elements < MANY_IN_LINES)
         continue;
      launch->decisions[RKB_THREADS] = FEW_THREADS;
      if (rkb_launch_refused(graph, launch, target->shared_bytes))
         *launch = before;
   }
}

/* Makes the schedule that the start's name describes; it may be one that cannot be written. */
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
      if (rkb_rows_want_passes(graph, target, launch))
         rkb_separate_rows(schedule, graph, l);
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
      if (rkb_columns_suit(graph, target, schedule, l))
         drop_unread(graph, target, schedule, l - 1);
   for (uint32_t l = schedule->count; start != RKB_START_TOGETHER && l-- > 0;)
      if (l < schedule->count)
         suit_segments(graph, target, schedule, l);
   if (start != RKB_START_TOGETHER)
      suit_launches(graph, target, careful, schedule);
   for (uint32_t l = 0; start != RKB_START_TOGETHER && l < schedule->count; l++)
      suit_warpgroups(graph, target, schedule, l);
   for (uint32_t l = 0; start != RKB_START_TOGETHER && l < schedule->count; l++)
      rkb_online_join_totals(graph, target, schedule, l);
   for (uint32_t l = schedule->count; start != RKB_START_TOGETHER && l-- > 0;) {
      suit_places(graph, target, schedule, l);
      suit_window(graph, target, schedule, l);
      suit_strip(graph, target, schedule, l);
      rkb_launch_suit_lines(graph, &schedule->launches[l]);
      rkb_schedule_suit_parts(graph, target, schedule, l);
   }
   if (start != RKB_START_TOGETHER) {
      suit_beside(graph, target, schedule);
      suit_dependent(graph, schedule);
   } else
      spare_threads(graph, target, schedule);
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
