/* Products by threads that each add some of an element's terms (element_parts.h).  Pure functions; one thread a graph. */
#include "generator/start/element_parts.h"

#include <math.h>

#define LAUNCH_NANOSECONDS 1500.0
/* Multiply-adds of a multiprocessor, whose factors come from its cache one by one: by the profiler's model 5 us for the 14 million of
 * mnist_conv_relu_pool's input gradient. */
#define TERMS_A_NANOSECOND 20.0
#define THREADS 256
#define MOST_PARTS 8        /* so that each part has a warp */
#define BUSY_THREADS 1024.0 /* threads of a multiprocessor that hide most of the time of loads */

/* The terms of the loop that is divided among the parts: a sum's terms, or the channels of a convolution's sum. */
static double channels_of(const rkb_graph_t *graph, const rkb_node_t *node, const rkb_extent_t *e) {
   const rkb_node_t *weight = &graph->nodes[node->inputs[1]];
   double taps = 1;
   for (uint32_t d = 2; node->kind != RKB_NODE_MATMUL && d < weight->rank; d++)
      taps *=
         graph->sizes.list[weight->shape[d]].constant ? (double)graph->sizes.list[weight->shape[d]].at[0] : 1;
   return e->depth / taps;
}

/* Threads for the sum of an element: as few as occupy the device. */
static int64_t parts_for(const rkb_target_t *target, const rkb_extent_t *e, double terms) {
   const double elements = e->groups * e->m * e->n;
   int64_t parts = 2;
   while (parts < MOST_PARTS && 2 * (double)parts <= terms &&
          elements * (double)parts < BUSY_THREADS * (double)target->multiprocessors)
      parts *= 2;
   return parts;
}

double rkb_parts_estimate(const rkb_target_t *target, const rkb_extents_t *e, int64_t parts) {
   const double busy = BUSY_THREADS * (double)target->multiprocessors,
                rate = TERMS_A_NANOSECOND * (double)target->multiprocessors;
   double sum = 0;
   for (uint32_t i = 0; i < e->count; i++) {
      const rkb_extent_t *extent = &e->cases[i];
      const double elements = extent->groups * extent->m * extent->n;
      sum += log(LAUNCH_NANOSECONDS +
                 elements * extent->depth / (rate * fmin(1, elements * (double)parts / busy)));
   }
   return exp(sum / e->count);
}

void rkb_launch_suit_parts(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch) {
   const rkb_extents_t e = rkb_launch_extents(graph, launch);
   int64_t *d = launch->decisions;
   launch->mapping = RKB_MAP_ELEMENT;
   d[RKB_VECTOR] = d[RKB_PLACES] = 1;
   d[RKB_WINDOW] = d[RKB_STRIP] = 0;
   d[RKB_THREADS] = THREADS;
   d[RKB_PARTS] = parts_for(target, &e.mean, channels_of(graph, &graph->nodes[launch->anchors[0]], &e.mean));
}
