/* Sizes and numbers of elements in the bench cases.  Schedules are chosen by them.  Pure functions. */
#ifndef RKB_GENERATOR_BENCH_SIZES_H
#define RKB_GENERATOR_BENCH_SIZES_H

#include "generator/graph/schedule.h"

/* The geometric mean of a size over the bench cases. */
double rkb_bench_size(const rkb_graph_t *graph, uint32_t size);
/* Elements of a node, in the bench cases. */
double rkb_bench_elements(const rkb_graph_t *graph, uint32_t node);
/* The longest row that a reduction of the launch has in the bench cases. */
double rkb_bench_row(const rkb_graph_t *graph, const rkb_launch_t *launch);

#endif
