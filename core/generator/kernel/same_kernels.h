/* Kernels of a file that differ in names alone are written once.  One thread a graph. */
#ifndef RKB_GENERATOR_SAME_KERNELS_H
#define RKB_GENERATOR_SAME_KERNELS_H

#include "base/text.h"
#include "generator/graph/graph.h"

/* Compares kernels without regard to the names of parameters and of the graph's values.  If a kernel equals an earlier one, removes it from
 * the code, and lets the manifest's launches take the earlier one. */
void rkb_kernels_once(const rkb_graph_t *graph, rkb_text_t *code, rkb_text_t *launches);

#endif
