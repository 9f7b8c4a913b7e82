/* Decisions of rows in shared memory: see row_stages_start.h.  Pure functions; one thread a graph. */
#include "generator/start/row_stages_start.h"

#include <math.h>
#include "generator/graph/bench_sizes.h"
#include "generator/row/rows_ahead.h"
#include "generator/row/row_range_sums.h"

#define MOST_STAGES 3          /* one stage is read while the copies to two are in flight */
#define PACKS 2                /* packs of each load that a thread keeps */
#define LEAST_THREADS 64       /* least threads of a block, also for shorter rows */
#define MOST_THREADS 512       /* more threads have too few registers for their sums */
#define BESIDE_BYTES (4 << 10) /* shared memory for the sums of a block's warps */
#define MULTIPROCESSORS 132    /* the values of the decision `stretches` are multiples of this number */
/* If a thread needs at most so many registers for what it keeps of a row and for its sums over rows, shared memory gains nothing:
 * llama_rmsnorm's gradient needs 24, and its time on an H100 is the same with and without shared memory. */
#define FEW_REGISTERS 32

/* Bytes for each place of the rows of all tensors from which a value is read; tensors without an element for each place do not count. */
static double bytes_of(const rkb_graph_t *graph, uint32_t number, double elements, bool *seen) {
   const rkb_node_t *node = &graph->nodes[number];
   double bytes = 0;
   if (seen[number])
      return 0;
   seen[number] = true;
   if (node->kind == RKB_NODE_INPUT || !rkb_node_is_light(node))
      return rkb_bench_elements(graph, number) < elements / 2                ? 0
             : node->kind == RKB_NODE_INPUT || rkb_dtype_narrow(node->dtype) ? rkb_dtype_bytes(node->dtype)
                                                                             : 4;
   for (uint32_t i = 0; i < node->input_count; i++)
      bytes += bytes_of(graph, node->inputs[i], elements, seen);
   return bytes;
}

static double launch_bytes(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const double elements = rkb_bench_elements(graph, graph->nodes[launch->anchors[0]].inputs[0]);
   bool seen[RKB_MAX_GRAPH_NODES] = {0};
   double bytes = 0;
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      seen[launch->anchors[a]] = true;
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      bytes += bytes_of(graph, graph->nodes[launch->anchors[a]].inputs[0], elements, seen);
   for (uint32_t r = 0; r < launch->root_count; r++)
      bytes += bytes_of(graph, launch->roots[r], elements, seen);
   return bytes;
}

bool rkb_row_stages_suit(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch,
                         double longest, double shortest) {
   const double packs = longest / (double)launch->decisions[RKB_VECTOR], bytes = launch_bytes(graph, launch);
   rkb_launch_t tried = *launch;
   int64_t *d = tried.decisions;
   if (d[RKB_VECTOR] < 4 || !(bytes > 0))
      return false;
   for (d[RKB_THREADS] = LEAST_THREADS;
        d[RKB_THREADS] < MOST_THREADS && (double)(PACKS * d[RKB_THREADS]) < packs;)
      d[RKB_THREADS] *= 2;
   for (d[RKB_KEEP] = 1; (double)(d[RKB_KEEP] * d[RKB_THREADS]) < packs;)
      d[RKB_KEEP] *= 2;
   const double stage = bytes * (double)(d[RKB_THREADS] * d[RKB_KEEP] * d[RKB_VECTOR]),
                room = (double)target->shared_bytes - BESIDE_BYTES;
   d[RKB_STAGES] = (int64_t)fmin(floor(room / stage), MOST_STAGES);
   uint32_t sums = 0;
   for (uint32_t a = 1; a < launch->anchor_count; a++)
      sums += rkb_stretch_adds(graph, launch, a);
   const double registers = (double)(d[RKB_KEEP] * d[RKB_VECTOR]) * (bytes / 4 + sums);
   if (d[RKB_STAGES] < 2 || d[RKB_KEEP] * d[RKB_VECTOR] > RKB_MOST_KEPT || registers <= FEW_REGISTERS)
      return false;
   d[RKB_PREFETCH] = 1;
   const int64_t blocks = rkb_rows_staged_blocks(d[RKB_THREADS], (int64_t)((double)d[RKB_STAGES] * stage));
   d[RKB_STRETCHES] = MULTIPROCESSORS * (blocks < 4 ? blocks : 4);
   for (d[RKB_SHORTER] = 1; d[RKB_SHORTER] < 16 && d[RKB_THREADS] >= 2 * LEAST_THREADS * d[RKB_SHORTER] &&
                            2.0 * (double)d[RKB_SHORTER] * shortest <= longest;)
      d[RKB_SHORTER] *= 2;
   *launch = tried;
   return true;
}
