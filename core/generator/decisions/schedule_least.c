/* Least times of schedules.  Owns nothing. */
#include "generator/decisions/schedule_least.h"

#include <math.h>
#include <string.h>
#include "generator/decisions/stored_type.h"
#include "reference/dtype.h"

/* What one launch does in one bench case. */
typedef struct launch_work {
   const rkb_graph_t *graph;
   const rkb_schedule_t *schedule;
   uint32_t launch, bench;
   double cache_bytes; /* bytes that may stay in the second-level cache */
   double bytes;       /* bytes counted so far */
   /* Nodes that are read whole, and that were counted or looked through. */
   bool looked[RKB_MAX_GRAPH_NODES];
} launch_work_t;

static double size_of(const launch_work_t *work, uint32_t size) {
   const rkb_size_t *s = &work->graph->sizes.list[size];
   return s->constant ? (double)s->at[0] : rkb_sizes_bench_at(&work->graph->sizes, s->text, work->bench);
}

static double elements_of(const launch_work_t *work, uint32_t node) {
   double elements = 1;
   for (uint32_t d = 0; d < work->graph->nodes[node].rank; d++)
      elements *= size_of(work, work->graph->nodes[node].shape[d]);
   return elements;
}

static double bytes_of(const launch_work_t *work, uint32_t node) {
   const bool stored = work->graph->nodes[node].kind != RKB_NODE_INPUT;
   return elements_of(work, node) * rkb_dtype_bytes(stored
                                                       ? rkb_stored_type(work->graph, work->schedule, node)
                                                       : work->graph->nodes[node].dtype);
}

/* Whether another launch stores the node, so that this one reads it. */
static bool is_stored(const launch_work_t *work, uint32_t node) {
   for (uint32_t l = 0; l < work->schedule->count; l++)
      for (uint32_t r = 0; l != work->launch && r < work->schedule->launches[l].root_count; r++)
         if (work->schedule->launches[l].roots[r] == node)
            return true;
   return false;
}

/* Whether the whole node needs each element of its operand. */
static bool needs_all(const rkb_node_t *node) {
   switch (node->kind) {
   case RKB_NODE_MAP:
      return strcmp(node->operation, "where") != 0;
   case RKB_NODE_RESHAPE:
   case RKB_NODE_EXPAND:
   case RKB_NODE_PERMUTE:
   case RKB_NODE_CAT:
   case RKB_NODE_FLIP:
   case RKB_NODE_ARANGE:
   case RKB_NODE_REDUCE:
   case RKB_NODE_MATMUL:
      return true;
   default:
      return false;
   }
}

static void look_at_operands(launch_work_t *work, uint32_t number);

/* Counts a node of which the launch needs each element. */
static void look_at(launch_work_t *work, uint32_t number) {
   const bool input = work->graph->nodes[number].kind == RKB_NODE_INPUT;
   if (work->looked[number])
      return;
   work->looked[number] = true;
   if (!input && !is_stored(work, number))
      look_at_operands(work, number);
   else if (input || bytes_of(work, number) > work->cache_bytes)
      work->bytes += bytes_of(work, number);
}

static void look_at_operands(launch_work_t *work, uint32_t number) {
   const rkb_node_t *node = &work->graph->nodes[number];
   for (uint32_t i = 0; needs_all(node) && i < node->input_count; i++)
      look_at(work, node->inputs[i]);
}

/* Whether all products count: a mask or a slice may make some of them unnecessary. */
static bool all_products_count(const rkb_graph_t *graph) {
   for (uint32_t n = 0; n < graph->node_count; n++)
      if (graph->nodes[n].kind != RKB_NODE_INPUT && graph->nodes[n].kind != RKB_NODE_POOL && !needs_all(&graph->nodes[n]))
         return false;
   return true;
}

/* Multiply-adds of a launch's matrix products.  Convolutions do not count, because zeros at the border may be
 * skipped. */
static double products_of(const launch_work_t *work) {
   const rkb_launch_t *launch = &work->schedule->launches[work->launch];
   double products = 0;
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      const rkb_node_t *node = &work->graph->nodes[launch->anchors[a]];
      if (node->kind != RKB_NODE_MATMUL)
         continue;
      const rkb_node_t *left = &work->graph->nodes[node->inputs[0]];
      const bool transposed = work->graph->sizes.list[node->integers[0]].at[0] != 0;
      products += elements_of(work, launch->anchors[a]) * size_of(work, left->shape[left->rank - (transposed ? 2 : 1)]);
   }
   return products;
}

/* Multiply-adds a second that the launch's mapping can reach. */
static double rate_of(const rkb_target_t *target, const rkb_launch_t *launch) {
   switch (launch->mapping) {
   case RKB_MAP_ELEMENT:
   case RKB_MAP_ROW:
   case RKB_MAP_COLUMN:
   case RKB_MAP_TILE:
      return target->fused_a_second;
   default:
      return target->products_a_second;
   }
}

/* Adds a launch's bytes and seconds of products to those of its kernel. */
static void add_launch(launch_work_t *work, const rkb_target_t *target, bool products_count, double *bytes, double *products) {
   const rkb_launch_t *launch = &work->schedule->launches[work->launch];
   for (uint32_t r = 0; r < launch->root_count; r++) {
      work->bytes += bytes_of(work, launch->roots[r]);
      look_at_operands(work, launch->roots[r]);
   }
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      look_at_operands(work, launch->anchors[a]);
   const double rate = products_count ? rate_of(target, launch) : 0;
   *bytes += work->bytes;
   *products += rate > 0 ? products_of(work) / rate : 0;
}

/* The seconds of all launches that share the first one's kernel.  A tensor that several of them read counts once, because it may then be in
 * the cache.  bytes: what they move. */
static double kernel_seconds(const rkb_graph_t *graph, const rkb_target_t *target,
                             const rkb_schedule_t *schedule, uint32_t first, uint32_t bench,
                             bool products_count, double *bytes) {
   launch_work_t work = {.graph = graph, .schedule = schedule, .launch = first, .bench = bench, .cache_bytes = target->cache_bytes};
   double products = 0;
   *bytes = 0;
   do {
      work.bytes = 0;
      add_launch(&work, target, products_count, bytes, &products);
   } while (++work.launch < schedule->count && schedule->launches[work.launch].decisions[RKB_BESIDE]);
   return fmax(target->bytes_a_second > 0 ? *bytes / target->bytes_a_second : 0, products) +
          (first == 0 ? target->first_launch_s : target->next_launch_s);
}

double rkb_schedule_least(const rkb_graph_t *graph, const rkb_target_t *target,
                          const rkb_schedule_t *schedule, double *bytes) {
   const bool products_count = all_products_count(graph);
   double log_seconds = 0, log_bytes = 0;
   uint32_t bench = 0;
   for (; rkb_task_case(graph->sizes.task, RKB_CASE_BENCH, bench); bench++) {
      double seconds = 0, all = 1, own; /* one byte more, because a task may move none */
      for (uint32_t l = 0; l < schedule->count; l++)
         if (l == 0 || !schedule->launches[l].decisions[RKB_BESIDE]) {
            seconds += kernel_seconds(graph, target, schedule, l, bench, products_count, &own);
            all += own;
         }
      log_seconds += log(seconds);
      log_bytes += log(all);
   }
   if (bytes)
      *bytes = bench ? exp(log_bytes / bench) : 0;
   return bench ? exp(log_seconds / bench) : 0;
}
