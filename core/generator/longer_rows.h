/* Rows that are too long for the blocks of a cluster: a launch of both, `cluster` and `split`, gives shorter rows to clusters.  The longer ones
 * are read by as many blocks as `split` says, parts are added, and a launch of elements writes what each place of a row gets.  Pure functions
 * but for the file; one thread a graph. */
#ifndef RKB_GENERATOR_LONGER_ROWS_H
#define RKB_GENERATOR_LONGER_ROWS_H

#include "generator/kernel_file.h"

bool rkb_launch_has_longer(const rkb_launch_t *launch);
/* Whether a launch of clusters, some of whose rows have so many elements, should have both. */
bool rkb_longer_suits(const rkb_graph_t *graph, const rkb_launch_t *launch, double longest,
                      int64_t shared_bytes);
/* What it consists of: parts of longer rows, whose reductions memory has then; their elements; and the rows of clusters. */
rkb_launch_t rkb_longer_parts(const rkb_launch_t *launch);
rkb_launch_t rkb_longer_elements(const rkb_launch_t *launch);
rkb_launch_t rkb_longer_clusters(const rkb_launch_t *launch);
/* The condition of longer rows, in the manifest's language.  NULL: the file's why says what is wrong. */
const char *rkb_longer_when(rkb_kernel_file_t *file, const rkb_launch_t *launch);

#endif
