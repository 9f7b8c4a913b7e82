/* Finds products with scores between them: softmax with both products around it, and its gradients.  One
 * thread a graph. */
#include "generator/start/fusion.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "generator/graph/bench_sizes.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/kernel/kernel_text.h"
#include "generator/online/online_nodes.h"
#include "reference/dtype.h"

/* The scores (products) and statistics from which a value is made, in the graph's order. */
typedef struct made {
   bool scores[RKB_MAX_GRAPH_NODES], reduces[RKB_MAX_GRAPH_NODES];
   uint32_t score_count, reduce_count;
   bool other; /* whether it needs a heavy node of another kind */
} made_t;

static void look_behind(const rkb_graph_t *graph, uint32_t number, bool *seen, made_t *made) {
   const rkb_node_t *node = &graph->nodes[number];
   if (seen[number])
      return;
   seen[number] = true;
   if (node->kind == RKB_NODE_MATMUL) {
      made->scores[number] = true;
      made->score_count++;
      return;
   }
   if (node->kind == RKB_NODE_REDUCE && strncmp(node->operation, "arg", 3) != 0) {
      made->reduces[number] = true;
      made->reduce_count++;
   } else if (!rkb_node_is_light(node)) {
      made->other = true;
      return;
   }
   for (uint32_t i = 0; i < node->input_count; i++)
      look_behind(graph, node->inputs[i], seen, made);
}

/* Whether a launch can be written when its inputs are in memory; every heavy node of another launch counts as
 * an input. */
static bool is_possible(rkb_graph_t *graph, const rkb_launch_t *launch, int64_t shared_bytes) {
   rkb_node_t *const nodes = graph->nodes;
   const uint32_t outputs = graph->output_count;
   rkb_node_t *given = rkb_allocate(graph->node_count, sizeof *given);
   rkb_schedule_t *schedule = rkb_allocate(1, sizeof *schedule);
   *schedule = (rkb_schedule_t){.launches = {*launch}, .count = 1};
   memcpy(given, nodes, graph->node_count * sizeof *given);
   for (uint32_t n = 0; n < graph->node_count; n++) {
      bool own = rkb_node_is_light(&nodes[n]);
      for (uint32_t a = 0; a < launch->anchor_count; a++)
         own |= launch->anchors[a] == n;
      if (!own) {
         given[n].kind = RKB_NODE_INPUT;
         given[n].tensor = nodes[n].name;
         given[n].input_count = 0;
      }
   }
   graph->nodes = given;
   graph->output_count = 0;
   const bool possible = rkb_schedule_is_legal(graph, schedule, shared_bytes);
   graph->nodes = nodes;
   graph->output_count = outputs;
   free(schedule);
   free(given);
   return possible;
}

/* Whether all rows that are brought have elements of two bytes. */
static bool narrow(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   bool all = true;
   for (uint32_t n = 0; n < graph->node_count; n++)
      all &= graph->nodes[n].kind != RKB_NODE_INPUT || rkb_dtype_bytes(graph->nodes[n].dtype) == 2 ||
             rkb_bench_elements(graph, n) < rkb_bench_elements(graph, launch->anchors[launch->anchor_count - 1]) / 4;
   return all;
}

/* Tiles that people use for kernels over scores, the largest first; the first possible tile is taken.  With few rows
 * a thread has one row.  If several products share the registers, a thread has fewer columns.  Then more warps fit, and
 * each works while others wait. */
static bool fit_tiles(rkb_graph_t *graph, rkb_launch_t *launch, int64_t shared_bytes) {
   static const int64_t tiles[][4] = {{8, 64, 1, 4},  {16, 64, 1, 4}, {128, 64, 8, 8}, {64, 64, 8, 8}, {64, 64, 8, 4},
                                      {64, 32, 8, 4}, {64, 32, 4, 4}, {32, 32, 4, 4},  {16, 32, 2, 4}};
   const double rows = rkb_online_rows(graph, launch);
   uint32_t products = 0;
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      products += graph->nodes[launch->anchors[a]].kind == RKB_NODE_MATMUL;
   for (uint32_t t = 0; t < sizeof tiles / sizeof tiles[0]; t++) {
      if ((t < 2 && rows > (double)tiles[t][0]) || (t >= 2 && t < 4 && products > 2))
         continue;
      launch->decisions[RKB_TILE_M] = tiles[t][0];
      launch->decisions[RKB_TILE_N] = tiles[t][1];
      launch->decisions[RKB_THREAD_M] = tiles[t][2];
      launch->decisions[RKB_THREAD_N] = tiles[t][3];
      launch->decisions[RKB_VECTOR] = narrow(graph, launch) ? 8 : 4;
      if (is_possible(graph, launch, shared_bytes))
         return true;
   }
   return false;
}

static rkb_launch_t empty_launch(void) {
   rkb_schedule_t *schedule = rkb_allocate(1, sizeof *schedule);
   rkb_launch_t launch = *rkb_schedule_add(schedule, RKB_MAP_ONLINE);
   free(schedule);
   return launch;
}

static bool add_anchor(rkb_launch_t *launch, uint32_t node) {
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      if (launch->anchors[a] == node)
         return true;
   if (launch->anchor_count == RKB_MAX_LAUNCH_NODES)
      return false;
   launch->anchors[launch->anchor_count++] = node;
   return true;
}

static bool add_marked(const rkb_graph_t *graph, rkb_launch_t *launch, const bool *marked) {
   bool fits = true;
   for (uint32_t n = 0; n < graph->node_count; n++)
      fits = fits && (!marked[n] || add_anchor(launch, n));
   return fits;
}

/* Keeps a launch if it can be written. */
static bool keep(rkb_graph_t *graph, rkb_launch_t *launch, int64_t shared_bytes, rkb_fusions_t *fusions) {
   if (fusions->count == RKB_MAX_FUSIONS || !fit_tiles(graph, launch, shared_bytes))
      return false;
   launch->root_count = 0;
   fusions->launches[fusions->count++] = *launch;
   return true;
}

static bool has(const rkb_launch_t *launch, uint32_t node) {
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      if (launch->anchors[a] == node)
         return true;
   return false;
}

/* Drops launches of statistics that the last launch also computes. */
static void drop_contained(const rkb_graph_t *graph, rkb_fusions_t *fusions) {
   const rkb_launch_t last = fusions->launches[fusions->count - 1];
   uint32_t kept = 0;
   for (uint32_t f = 0; f + 1 < fusions->count; f++) {
      const rkb_launch_t *launch = &fusions->launches[f];
      bool contained = true;
      for (uint32_t a = 0; a < launch->anchor_count; a++)
         contained &= has(&last, launch->anchors[a]);
      if (!contained || graph->nodes[launch->anchors[launch->anchor_count - 1]].kind != RKB_NODE_REDUCE)
         fusions->launches[kept++] = *launch;
   }
   fusions->launches[kept++] = last;
   fusions->count = kept;
}

/* Keeps a launch of the statistics alone, for launches that cannot compute the statistics themselves. */
static bool keep_statistics(rkb_graph_t *graph, const made_t *made, int64_t shared_bytes, rkb_fusions_t *fusions) {
   rkb_launch_t launch = empty_launch();
   made_t behind = {0};
   bool seen[RKB_MAX_GRAPH_NODES] = {0}, known = true;
   for (uint32_t n = 0; n < graph->node_count; n++)
      if (made->reduces[n]) {
         known &= rkb_fusions_have(fusions, n);
         look_behind(graph, n, seen, &behind);
      }
   if (known)
      return true;
   if (behind.other || !add_marked(graph, &launch, behind.scores) || !add_marked(graph, &launch, behind.reduces))
      return false;
   for (uint32_t n = 0; n < graph->node_count && launch.root_count < RKB_MAX_LAUNCH_NODES; n++)
      if (behind.reduces[n])
         launch.roots[launch.root_count++] = n;
   if (!keep(graph, &launch, shared_bytes, fusions))
      return false;
   drop_contained(graph, fusions);
   return true;
}

/* Adds another product of the same scores to a launch that has one already. */
static bool join(rkb_graph_t *graph, const made_t *made, uint32_t out, int64_t shared_bytes, rkb_fusions_t *fusions) {
   for (uint32_t f = 0; f < fusions->count; f++) {
      rkb_launch_t launch = fusions->launches[f];
      const uint32_t last = launch.anchors[launch.anchor_count - 1];
      if (graph->nodes[last].kind != RKB_NODE_MATMUL || !add_marked(graph, &launch, made->scores))
         continue;
      /* Scores come before the nodes that are computed from them. */
      rkb_launch_t sorted = launch;
      sorted.anchor_count = 0;
      for (uint32_t n = 0; n < graph->node_count; n++)
         for (uint32_t a = 0; a < launch.anchor_count; a++)
            if (launch.anchors[a] == n)
               add_anchor(&sorted, n);
      add_anchor(&sorted, out);
      sorted.roots[0] = out;
      sorted.roots[1] = last;
      sorted.root_count = 2;
      if (fit_tiles(graph, &sorted, shared_bytes)) {
         sorted.root_count = 0;
         fusions->launches[f] = sorted;
         return true;
      }
   }
   return false;
}

static void look_at(rkb_graph_t *graph, uint32_t out, int64_t shared_bytes, rkb_fusions_t *fusions) {
   const rkb_node_t *node = &graph->nodes[out];
   for (uint32_t side = 0; side < 2; side++) {
      made_t *made = rkb_allocate(1, sizeof *made);
      bool seen[RKB_MAX_GRAPH_NODES] = {0}, done = false;
      *made = (made_t){0};
      look_behind(graph, node->inputs[side], seen, made);
      rkb_launch_t launch = empty_launch();
      if (made->score_count && made->reduce_count && !made->other && add_marked(graph, &launch, made->scores)) {
         rkb_launch_t alone = launch;
         launch.roots[launch.root_count++] = out;
         alone.roots[alone.root_count++] = out;
         done = add_marked(graph, &launch, made->reduces) && add_anchor(&launch, out) && keep(graph, &launch, shared_bytes, fusions);
         if (!done && add_anchor(&alone, out) && keep_statistics(graph, made, shared_bytes, fusions))
            done = join(graph, made, out, shared_bytes, fusions) || keep(graph, &alone, shared_bytes, fusions);
      }
      free(made);
      if (done)
         return;
   }
}

void rkb_fusions_find(rkb_graph_t *graph, const bool *needed, int64_t shared_bytes, rkb_fusions_t *fusions) {
   fusions->count = 0;
   for (uint32_t n = 0; n < graph->node_count; n++)
      if (needed[n] && graph->nodes[n].kind == RKB_NODE_MATMUL)
         look_at(graph, n, shared_bytes, fusions);
}

static uint32_t last_anchor(const rkb_launch_t *launch) {
   uint32_t last = 0;
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      last = launch->anchors[a] > last ? launch->anchors[a] : last;
   return last;
}

const rkb_launch_t *rkb_fusion_ends(const rkb_fusions_t *fusions, uint32_t node) {
   for (uint32_t f = 0; f < fusions->count; f++)
      if (last_anchor(&fusions->launches[f]) == node)
         return &fusions->launches[f];
   return NULL;
}

uint32_t rkb_fusion_end_of(const rkb_fusions_t *fusions, uint32_t node) {
   uint32_t first = RKB_NO_NODE;
   for (uint32_t f = 0; f < fusions->count; f++) {
      const uint32_t last = last_anchor(&fusions->launches[f]);
      if (has(&fusions->launches[f], node) && (first == RKB_NO_NODE || last < first))
         first = last;
   }
   return first;
}

bool rkb_fusions_have(const rkb_fusions_t *fusions, uint32_t node) {
   for (uint32_t f = 0; f < fusions->count; f++)
      if (has(&fusions->launches[f], node))
         return true;
   return false;
}

static bool shares(const rkb_fusions_t *fusions, uint32_t number) {
   for (uint32_t f = 0; f < fusions->count; f++)
      for (uint32_t a = 0; f != number && a < fusions->launches[f].anchor_count; a++)
         if (has(&fusions->launches[number], fusions->launches[f].anchors[a]))
            return true;
   return false;
}

bool rkb_fusions_recompute(const rkb_fusions_t *fusions) {
   for (uint32_t f = 0; f < fusions->count; f++)
      if (shares(fusions, f))
         return true;
   return false;
}

void rkb_fusions_once(rkb_fusions_t *fusions) {
   bool dropped[RKB_MAX_FUSIONS] = {0};
   uint32_t kept = 0;
   for (uint32_t f = 0; f < fusions->count; f++)
      dropped[f] = shares(fusions, f);
   for (uint32_t f = 0; f < fusions->count; f++)
      if (!dropped[f])
         fusions->launches[kept++] = fusions->launches[f];
   fusions->count = kept;
}
