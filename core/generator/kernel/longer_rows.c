/* Rows that are too long for the blocks of a cluster (longer_rows.h). */
#include "generator/kernel/longer_rows.h"

#include <string.h>
#include "generator/decisions/launch_decisions.h"
#include "generator/row/rows.h"

/* A row with more packs for each thread of a cluster is long.  With 32 rows of 128 packs, blocks of parts
 * took half as long on an H100; with 64 rows of 5 packs a quarter longer. */
#define LONG_PACKS 8

bool rkb_launch_has_longer(const rkb_launch_t *launch) {
   return launch->mapping == RKB_MAP_ROW && launch->decisions[RKB_CLUSTER] > 1 &&
          launch->decisions[RKB_SPLIT] > 1;
}

/* Returns from how many elements on a row is long. */
static int64_t bound_of(const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   return LONG_PACKS * d[RKB_VECTOR] * d[RKB_THREADS] * d[RKB_CLUSTER];
}

bool rkb_longer_suits(const rkb_graph_t *graph, const rkb_launch_t *launch, double longest,
                      int64_t shared_bytes) {
   rkb_launch_t tried = *launch;
   tried.decisions[RKB_SPLIT] = 2;
   return longest > (double)bound_of(launch) && !rkb_launch_refused(graph, &tried, shared_bytes);
}

rkb_launch_t rkb_longer_parts(const rkb_launch_t *launch) {
   rkb_launch_t parts = *launch;
   memcpy(parts.roots, launch->anchors, launch->anchor_count * sizeof *parts.roots);
   parts.root_count = launch->anchor_count;
   parts.decisions[RKB_CLUSTER] = 1;
   parts.decisions[RKB_THREADS] = 256;
   return parts;
}

rkb_launch_t rkb_longer_elements(const rkb_launch_t *launch) {
   rkb_schedule_t one = {0};
   rkb_launch_t *elements = rkb_schedule_add(&one, RKB_MAP_ELEMENT);
   memcpy(elements->roots, launch->roots, launch->root_count * sizeof *launch->roots);
   elements->root_count = launch->root_count;
   elements->decisions[RKB_VECTOR] = launch->decisions[RKB_VECTOR];
   return *elements;
}

rkb_launch_t rkb_longer_clusters(const rkb_launch_t *launch) {
   rkb_launch_t clusters = *launch;
   clusters.decisions[RKB_SPLIT] = 1;
   return clusters;
}

const char *rkb_longer_when(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   rkb_rows_t rows = {.launch = launch};
   rkb_writer_t writer;
   const char *when = NULL;
   if (rkb_writer_open(&writer, file->graph, file->arena, file->storage, NULL, 0)) {
      rkb_rows_measure(&writer, &rows);
      when = rkb_arena_format(file->arena, "%s > %lld", rkb_index_manifest(&writer.indices, rows.length),
                              (long long)bound_of(launch));
   }
   if (writer.failed)
      snprintf(file->why, sizeof file->why, "longer rows: %s", writer.why);
   const bool failed = writer.failed;
   rkb_writer_close(&writer);
   return failed ? NULL : when;
}
