/* Rows that are too long for the blocks of a cluster.  A launch with both `cluster` and `split` gives shorter
 * rows to clusters.  Each longer row is read in parts by as many blocks as `split` says.  A further launch adds
 * the parts, and a launch of elements writes each place of a row.  Functions are pure except that they write
 * into the kernel file; one thread a graph. */
#ifndef RKB_GENERATOR_LONGER_ROWS_H
#define RKB_GENERATOR_LONGER_ROWS_H

#include "generator/kernel/kernel_file.h"

bool rkb_launch_has_longer(const rkb_launch_t *launch);
/* Whether a launch of clusters should have both decisions.  longest: elements of its longest rows. */
bool rkb_longer_suits(const rkb_graph_t *graph, const rkb_launch_t *launch, double longest,
                      int64_t shared_bytes);
/* The launches that it becomes: the first reduces parts of longer rows and stores the results; the second writes the elements of longer
 * rows; the third gives the other rows to clusters. */
rkb_launch_t rkb_longer_parts(const rkb_launch_t *launch);
rkb_launch_t rkb_longer_elements(const rkb_launch_t *launch);
rkb_launch_t rkb_longer_clusters(const rkb_launch_t *launch);
/* The condition under which rows are longer, in the manifest's language.  NULL: the file's why says what is
 * wrong. */
const char *rkb_longer_when(rkb_kernel_file_t *file, const rkb_launch_t *launch);

#endif
