/* Divides a graph into launches.  Pure functions of the graph; one thread a graph. */
#include "generator/start/partition.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "generator/graph/bench_sizes.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/graph/needed_values.h"
#include "generator/start/fusion.h"
#include "generator/kernel/kernel_text.h"
#include "reference/dtype.h"

uint32_t rkb_schedule_launch_of(const rkb_schedule_t *schedule, uint32_t node) {
   for (uint32_t l = 0; l < schedule->count; l++) {
      const rkb_launch_t *launch = &schedule->launches[l];
      for (uint32_t i = 0; i < launch->root_count; i++)
         if (launch->roots[i] == node)
            return l;
      for (uint32_t i = 0; i < launch->anchor_count; i++)
         if (launch->anchors[i] == node)
            return l;
   }
   return RKB_NO_NODE;
}

/* Marks the nodes that some output needs. */
static void mark_needed(const rkb_graph_t *graph, bool *needed) {
   for (uint32_t o = 0; o < graph->output_count; o++)
      needed[graph->outputs[o].node] = true;
   for (uint32_t n = graph->node_count; n-- > 0;)
      for (uint32_t i = 0; needed[n] && i < graph->nodes[n].input_count; i++)
         needed[graph->nodes[n].inputs[i]] = true;
}

/* Whether looking at every pick for each place costs more than making links. */
static bool many_picks(const rkb_graph_t *graph, const rkb_node_t *scatter) {
   const rkb_size_t *dim = &graph->sizes.list[scatter->integers[0]];
   const uint32_t along = graph->nodes[scatter->inputs[1]].shape[dim->at[0]];
   return rkb_bench_size(graph, along) > 16;
}

/* How a heavy node is computed when nothing else is known: a sum of many elements by a block, anything else
 * by one thread for each element. */
static enum rkb_mapping mapping_of(const rkb_graph_t *graph, uint32_t number, bool plain) {
   const rkb_node_t *node = &graph->nodes[number];
   if (node->kind == RKB_NODE_CONVOLUTION_WEIGHT)
      return RKB_MAP_ROW;
   if (node->kind == RKB_NODE_SCAN && (strcmp(node->operation, "recurrence") == 0 || (node->input_count == 1 && !plain)))
      return RKB_MAP_SCAN;
   if (node->kind == RKB_NODE_LAYER)
      return RKB_MAP_STEPS;
   if (node->kind == RKB_NODE_RANK)
      return RKB_MAP_RANK;
   if (node->kind == RKB_NODE_SCATTER && !plain && many_picks(graph, node))
      return RKB_MAP_LINK;
   if (node->kind != RKB_NODE_REDUCE || strncmp(node->operation, "arg", 3) == 0)
      return RKB_MAP_ELEMENT;
   const rkb_node_t *from = &graph->nodes[node->inputs[0]];
   return node->mask >> (from->rank - 1) & 1 ? RKB_MAP_ROW : RKB_MAP_COLUMN;
}

static rkb_launch_t *add_launch(const rkb_graph_t *graph, rkb_schedule_t *schedule, uint32_t node, bool plain) {
   const bool heavy = !rkb_node_is_light(&graph->nodes[node]);
   rkb_launch_t *launch = rkb_schedule_add(schedule, heavy ? mapping_of(graph, node, plain) : RKB_MAP_ELEMENT);
   if (launch && heavy)
      launch->anchors[launch->anchor_count++] = node;
   return launch;
}

void rkb_partition_apart(rkb_graph_t *graph, rkb_schedule_t *schedule) {
   bool needed[RKB_MAX_GRAPH_NODES] = {0};
   mark_needed(graph, needed);
   *schedule = (rkb_schedule_t){0};
   for (uint32_t n = 0; n < graph->node_count; n++) {
      const rkb_node_t *node = &graph->nodes[n];
      const bool moved = rkb_node_is_view(node) || node->kind == RKB_NODE_FLIP ||
                         node->kind == RKB_NODE_ARANGE || node->kind == RKB_NODE_INPUT;
      if (!needed[n] || (moved && !rkb_node_is_output(graph, n)))
         continue;
      rkb_launch_t *launch = add_launch(graph, schedule, n, true);
      if (launch)
         launch->roots[launch->root_count++] = n;
   }
}

/* The last of the heavy nodes that a value needs through light nodes; RKB_NO_NODE where there are none. */
static uint32_t last_heavy(const rkb_graph_t *graph, uint32_t node, bool *seen) {
   if (!rkb_node_is_light(&graph->nodes[node]))
      return node;
   if (seen[node])
      return RKB_NO_NODE;
   seen[node] = true;
   uint32_t last = RKB_NO_NODE;
   for (uint32_t i = 0; i < graph->nodes[node].input_count; i++) {
      const uint32_t heavy = last_heavy(graph, graph->nodes[node].inputs[i], seen);
      last = heavy != RKB_NO_NODE && (last == RKB_NO_NODE || heavy > last) ? heavy : last;
   }
   return last;
}

/* Whether a node converts a narrow float to a wider one: the same number, in more bytes. */
static bool widens(const rkb_graph_t *graph, uint32_t number) {
   const rkb_node_t *node = &graph->nodes[number];
   const uint32_t from = node->input_count ? graph->nodes[node->inputs[0]].dtype : node->dtype;
   return node->kind == RKB_NODE_MAP && strcmp(node->operation, "convert") == 0 &&
          (from == RKB_BF16 || from == RKB_F16) && rkb_dtype_is_float(node->dtype) &&
          rkb_dtype_holds(node->dtype, from);
}

/* The value to store for the readers of a node: the value behind views, and in its own narrow type. */
static uint32_t behind_views(const rkb_graph_t *graph, uint32_t node) {
   while (rkb_node_is_view(&graph->nodes[node]) || graph->nodes[node].kind == RKB_NODE_FLIP ||
          widens(graph, node))
      node = graph->nodes[node].inputs[0];
   return node;
}

typedef struct plan {
   rkb_graph_t *graph;
   rkb_schedule_t *schedule;
   int64_t shared_bytes;
   bool wanted[RKB_MAX_GRAPH_NODES]; /* values that some launch, or the task, reads from memory */
} plan_t;

/* Whether the last launch so far can be written.  Each one before it was the last when it was tried, so a plan takes a time that grows with the
 * number of its launches and not with its square.  Outputs that no launch writes yet do not count. */
static bool is_possible(plan_t *plan) {
   const uint32_t outputs = plan->graph->output_count;
   plan->graph->output_count = 0;
   const bool possible = rkb_schedule_launch_is_legal(plan->graph, plan->schedule, plan->schedule->count - 1,
                                                      plan->shared_bytes);
   plan->graph->output_count = outputs;
   return possible;
}

/* Whether all launches so far can be written, where several of them changed. */
static bool are_possible(plan_t *plan) {
   const uint32_t outputs = plan->graph->output_count;
   plan->graph->output_count = 0;
   const bool possible = rkb_schedule_is_legal(plan->graph, plan->schedule, plan->shared_bytes);
   plan->graph->output_count = outputs;
   return possible;
}

/* Whether the last launch can be written, and can also be written by tiles, which a product gets later. */
static bool is_possible_by_tiles(plan_t *plan) {
   const uint32_t outputs = plan->graph->output_count;
   if (!is_possible(plan))
      return false;
   plan->graph->output_count = 0;
   const bool possible =
      rkb_schedule_has_tiles(plan->graph, plan->schedule, plan->schedule->count - 1, plan->shared_bytes);
   plan->graph->output_count = outputs;
   return possible;
}

#define FEW_COPIES 4 /* a value that is joined from a few parts has some times their elements too, and no copies */

/* Whether a thread for each element of the value would compute a heavy node again for each of many copies. */
static bool repeats(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t node) {
   return launch->mapping == RKB_MAP_ELEMENT && launch->anchor_count &&
          rkb_bench_elements(graph, node) > FEW_COPIES * rkb_bench_elements(graph, launch->anchors[0]);
}

static bool try_root(plan_t *plan, rkb_launch_t *launch, uint32_t node) {
   if (launch->root_count == RKB_MAX_LAUNCH_NODES || repeats(plan->graph, launch, node))
      return false;
   launch->roots[launch->root_count++] = node;
   /* The launch must be possible with its present nodes; later launches are not checked. */
   const uint32_t count = plan->schedule->count;
   plan->schedule->count = (uint32_t)(launch - plan->schedule->launches) + 1;
   const bool possible = is_possible_by_tiles(plan);
   plan->schedule->count = count;
   launch->root_count -= !possible;
   return possible;
}

static bool has_root(const rkb_launch_t *launch, uint32_t node) {
   for (uint32_t r = 0; r < launch->root_count; r++)
      if (launch->roots[r] == node)
         return true;
   return false;
}

/* Stores a value that a launch reads, if it cannot be computed where it is read. */
static void want(plan_t *plan, uint32_t value) {
   rkb_graph_t *graph = plan->graph;
   const uint32_t node = behind_views(graph, value);
   bool seen[RKB_MAX_GRAPH_NODES] = {0};
   if (graph->nodes[node].kind == RKB_NODE_INPUT || plan->wanted[node])
      return;
   const uint32_t heavy = last_heavy(graph, node, seen);
   if (heavy == RKB_NO_NODE)
      return; /* the value needs inputs only: it is computed where it is read */
   const uint32_t launch = rkb_schedule_launch_of(plan->schedule, heavy);
   if (launch != RKB_NO_NODE && (has_root(&plan->schedule->launches[launch], node) ||
                                 try_root(plan, &plan->schedule->launches[launch], node))) {
      plan->wanted[node] = true;
      return;
   }
   /* The heavy node and the other nodes that it reads are stored. */
   if (node == heavy)
      return;
   for (uint32_t i = 0; i < graph->nodes[node].input_count; i++)
      want(plan, graph->nodes[node].inputs[i]);
}

/* Joins a rank to the launch that finds the largest elements, because their places are found with them. */
static bool join_rank(plan_t *plan, uint32_t rank) {
   for (uint32_t l = plan->schedule->count; l-- > 0;) {
      rkb_launch_t *launch = &plan->schedule->launches[l];
      const rkb_node_t *first = &plan->graph->nodes[launch->anchors[0]], *node = &plan->graph->nodes[rank];
      if (launch->mapping != RKB_MAP_RANK || first->inputs[0] != node->inputs[0] || first->integers[0] != node->integers[0] ||
          first->integers[1] != node->integers[1] || launch->anchor_count == RKB_MAX_LAUNCH_NODES)
         continue;
      launch->anchors[launch->anchor_count++] = rank;
      return true;
   }
   return false;
}

static bool try_join(plan_t *plan, uint32_t reduce) {
   const rkb_node_t *node = &plan->graph->nodes[reduce];
   bool seen[RKB_MAX_GRAPH_NODES] = {0};
   const uint32_t heavy = last_heavy(plan->graph, node->inputs[0], seen);
   for (uint32_t l = plan->schedule->count; l-- > 0;) {
      rkb_launch_t *launch = &plan->schedule->launches[l];
      const rkb_node_t *first = launch->anchor_count ? &plan->graph->nodes[launch->anchors[0]] : NULL;
      if (!first || first->kind != RKB_NODE_REDUCE ||
          (launch->mapping != RKB_MAP_ROW && launch->mapping != RKB_MAP_COLUMN) ||
          launch->anchor_count == RKB_MAX_LAUNCH_NODES || strncmp(node->operation, "arg", 3) == 0)
         continue;
      /* The values that the reduction needs must be in memory when the launch runs. */
      if (heavy != RKB_NO_NODE && rkb_schedule_launch_of(plan->schedule, heavy) > l)
         return false;
      launch->anchors[launch->anchor_count++] = reduce;
      const uint32_t roots = launch->root_count;
      launch->roots[launch->root_count++] = reduce; /* for the trial only: the result needs a place */
      const uint32_t count = plan->schedule->count;
      plan->schedule->count = l + 1;
      const bool possible = launch->root_count < RKB_MAX_LAUNCH_NODES && is_possible(plan);
      plan->schedule->count = count;
      launch->root_count = roots;
      if (possible)
         return true;
      launch->anchor_count--;
   }
   return false;
}

/* Removes the launches without a root: they would write nothing. */
static void drop_rootless(plan_t *plan) {
   rkb_schedule_t *schedule = plan->schedule;
   uint32_t kept = 0;
   for (uint32_t l = 0; l < schedule->count; l++)
      if (schedule->launches[l].root_count)
         schedule->launches[kept++] = schedule->launches[l];
   schedule->count = kept;
}

/* Adds a launch that goes over scores.  The values that its products read must be in memory before it runs. */
static void add_fusion(plan_t *plan, const rkb_launch_t *fusion) {
   const rkb_graph_t *graph = plan->graph;
   for (uint32_t a = 0; a < fusion->anchor_count; a++)
      for (uint32_t i = 0; i < graph->nodes[fusion->anchors[a]].input_count; i++) {
         const uint32_t input = graph->nodes[fusion->anchors[a]].inputs[i];
         bool own = false, seen[RKB_MAX_GRAPH_NODES] = {0};
         const uint32_t heavy = last_heavy(graph, input, seen);
         for (uint32_t b = 0; b < fusion->anchor_count; b++)
            own |= fusion->anchors[b] == heavy;
         if (!own)
            want(plan, input);
      }
   const bool only_statistics = graph->nodes[fusion->anchors[fusion->anchor_count - 1]].kind == RKB_NODE_REDUCE;
   rkb_launch_t added = *fusion;
   added.anchor_count = 0;
   for (uint32_t a = 0; a < fusion->anchor_count; a++) {
      const uint32_t anchor = fusion->anchors[a];
      const bool statistic = only_statistics && graph->nodes[anchor].kind == RKB_NODE_REDUCE;
      /* If an earlier launch makes a statistic, that launch stores it and this launch reads it. */
      if (statistic)
         want(plan, anchor);
      if (!statistic || !plan->wanted[anchor])
         added.anchors[added.anchor_count++] = anchor;
   }
   rkb_launch_t *launch = rkb_schedule_add(plan->schedule, RKB_MAP_ONLINE);
   if (!launch)
      return;
   *launch = added;
   /* The launch writes products, and statistics that another launch needs. */
   for (uint32_t a = 0; a < added.anchor_count && only_statistics; a++)
      if (graph->nodes[added.anchors[a]].kind == RKB_NODE_REDUCE)
         launch->roots[launch->root_count++] = added.anchors[a];
}

/* A launch of rows that computes this value at each of its elements anyway, in order to write another value
 * of the same shape; RKB_NO_NODE if there is none. */
static uint32_t reader_of(const plan_t *plan, uint32_t node) {
   const rkb_node_t *mine = &plan->graph->nodes[node];
   for (uint32_t l = 0; l < plan->schedule->count; l++) {
      const rkb_launch_t *launch = &plan->schedule->launches[l];
      for (uint32_t r = 0; r < launch->root_count && launch->mapping == RKB_MAP_ROW; r++) {
         const rkb_node_t *root = &plan->graph->nodes[launch->roots[r]];
         if (root->rank == mine->rank && memcmp(root->shape, mine->shape, mine->rank * sizeof *mine->shape) == 0 &&
             rkb_value_needs(plan->graph, launch->roots[r], node))
            return l;
      }
   }
   return RKB_NO_NODE;
}

/* Moves a root to a launch that computes it anyway, unless a launch before that one must read it. */
static void move_root(plan_t *plan, uint32_t from, uint32_t root, uint32_t to) {
   rkb_schedule_t *schedule = plan->schedule, *before = rkb_allocate(1, sizeof *before);
   rkb_launch_t *launch = &schedule->launches[from], *into = &schedule->launches[to];
   *before = *schedule;
   if (into->root_count < RKB_MAX_LAUNCH_NODES) {
      into->roots[into->root_count++] = launch->roots[root];
      launch->roots[root] = launch->roots[--launch->root_count];
      if (!launch->root_count)
         memmove(launch, launch + 1, (--schedule->count - from) * sizeof *launch);
      if (!are_possible(plan))
         *schedule = *before;
   }
   free(before);
}

/* Moves outputs of launches without heavy nodes to launches that compute them anyway. */
static void join_readers(plan_t *plan) {
   for (uint32_t l = plan->schedule->count; l-- > 0;)
      for (uint32_t r = plan->schedule->launches[l].root_count; r-- > 0 && !plan->schedule->launches[l].anchor_count;) {
         const uint32_t count = plan->schedule->count, reader = reader_of(plan, plan->schedule->launches[l].roots[r]);
         if (reader != RKB_NO_NODE)
            move_root(plan, l, r, reader);
         if (plan->schedule->count < count)
            break;
      }
}

/* Stores what a value reads beside the product of matrices from which it is computed: another product's
 * results, to which this product's are added.  False: the value reads nothing but the product. */
static bool want_others(plan_t *plan, uint32_t value, uint32_t product) {
   const rkb_node_t *node = &plan->graph->nodes[value];
   bool others = false;
   for (uint32_t i = 0; i < node->input_count; i++) {
      bool seen[RKB_MAX_GRAPH_NODES] = {0};
      const uint32_t heavy = last_heavy(plan->graph, node->inputs[i], seen);
      if (heavy == RKB_NO_NODE || heavy == product)
         continue;
      want(plan, node->inputs[i]);
      others = true;
   }
   return others;
}

/* Finds each node's turn: its own place in the graph, or the place of the last node of a fused launch that
 * computes something it needs. */
static void find_turns(const rkb_graph_t *graph, const rkb_fusions_t *fusions, uint32_t *turns) {
   for (uint32_t n = 0; n < graph->node_count; n++) {
      const uint32_t end = rkb_fusion_end_of(fusions, n);
      turns[n] = end != RKB_NO_NODE ? end : n;
      for (uint32_t i = 0; i < graph->nodes[n].input_count && end == RKB_NO_NODE; i++)
         turns[n] = turns[graph->nodes[n].inputs[i]] > turns[n] ? turns[graph->nodes[n].inputs[i]] : turns[n];
   }
}

static void divide_node(plan_t *plan, uint32_t number) {
   const rkb_node_t *node = &plan->graph->nodes[number];
   if ((node->kind == RKB_NODE_REDUCE && try_join(plan, number)) || (node->kind == RKB_NODE_RANK && join_rank(plan, number)))
      return;
   for (uint32_t i = 0; i < node->input_count; i++)
      want(plan, node->inputs[i]);
   /* The node's operand may belong to a launch by now. */
   if (node->kind == RKB_NODE_REDUCE && try_join(plan, number))
      return;
   add_launch(plan->graph, plan->schedule, number, false);
}

static void divide(rkb_graph_t *graph, int64_t shared_bytes, const rkb_fusions_t *fusions, rkb_schedule_t *schedule) {
   bool needed[RKB_MAX_GRAPH_NODES] = {0};
   uint32_t turns[RKB_MAX_GRAPH_NODES];
   plan_t *plan = rkb_allocate(1, sizeof *plan);
   *plan = (plan_t){.graph = graph, .schedule = schedule, .shared_bytes = shared_bytes};
   mark_needed(graph, needed);
   find_turns(graph, fusions, turns);
   *schedule = (rkb_schedule_t){0};
   for (uint32_t turn = 0; turn < graph->node_count; turn++) {
      const rkb_launch_t *fusion = needed[turn] ? rkb_fusion_ends(fusions, turn) : NULL;
      if (fusion)
         add_fusion(plan, fusion);
      for (uint32_t n = 0; n <= turn; n++)
         if (turns[n] == turn && needed[n] && !rkb_node_is_light(&graph->nodes[n]) && !rkb_fusions_have(fusions, n))
            divide_node(plan, n);
   }
   for (uint32_t o = 0; o < graph->output_count; o++) {
      const uint32_t node = graph->outputs[o].node;
      bool seen[RKB_MAX_GRAPH_NODES] = {0};
      const uint32_t heavy = last_heavy(graph, node, seen),
                     launch = heavy == RKB_NO_NODE ? RKB_NO_NODE : rkb_schedule_launch_of(schedule, heavy);
      if (launch != RKB_NO_NODE &&
          (has_root(&schedule->launches[launch], node) || try_root(plan, &schedule->launches[launch], node)))
         continue;
      if (launch != RKB_NO_NODE && graph->nodes[heavy].kind == RKB_NODE_MATMUL &&
          want_others(plan, node, heavy) && try_root(plan, &schedule->launches[launch], node))
         continue;
      for (uint32_t i = 0; i < graph->nodes[node].input_count; i++)
         want(plan, graph->nodes[node].inputs[i]);
      /* Outputs of one shape that need no heavy node share a launch. */
      bool shared = false;
      for (uint32_t l = 0; l < schedule->count && !shared; l++) {
         rkb_launch_t *other = &schedule->launches[l];
         const rkb_node_t *root = &graph->nodes[other->roots[0]], *mine = &graph->nodes[node];
         shared = !other->anchor_count && root->rank == mine->rank &&
                  memcmp(root->shape, mine->shape, mine->rank * sizeof *mine->shape) == 0 &&
                  (heavy == RKB_NO_NODE || rkb_schedule_launch_of(schedule, heavy) < l) &&
                  try_root(plan, other, node);
      }
      rkb_launch_t *own = shared ? NULL : rkb_schedule_add(schedule, RKB_MAP_ELEMENT);
      if (own)
         own->roots[own->root_count++] = node;
   }
   drop_rootless(plan);
   join_readers(plan);
   free(plan);
}

static bool divide_with(rkb_graph_t *graph, int64_t shared_bytes, bool again, rkb_schedule_t *schedule) {
   bool needed[RKB_MAX_GRAPH_NODES] = {0};
   rkb_fusions_t *fusions = rkb_allocate(1, sizeof *fusions);
   mark_needed(graph, needed);
   rkb_fusions_find(graph, needed, shared_bytes, fusions);
   bool recomputes = rkb_fusions_recompute(fusions);
   if (recomputes && !again)
      rkb_fusions_once(fusions);
   divide(graph, shared_bytes, fusions, schedule);
   if (fusions->count && !rkb_schedule_is_legal(graph, schedule, shared_bytes)) {
      /* Some other node needs a value that is not stored. */
      recomputes = false;
      fusions->count = 0;
      divide(graph, shared_bytes, fusions, schedule);
   }
   free(fusions);
   return recomputes;
}

void rkb_partition_together(rkb_graph_t *graph, int64_t shared_bytes, rkb_schedule_t *schedule) {
   divide_with(graph, shared_bytes, false, schedule);
}

bool rkb_partition_again(rkb_graph_t *graph, int64_t shared_bytes, rkb_schedule_t *schedule) {
   return divide_with(graph, shared_bytes, true, schedule);
}
