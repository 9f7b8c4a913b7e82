/* Schedules near another one, and mixtures of two.  One thread a graph. */
#include "generator/search/schedule_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/text/fragments.h"
#include "generator/kernel/kernel_text.h"
#include "generator/start/element_parts.h"
#include "generator/start/too_costly_tiles.h"
#include "generator/search/neighbours.h"
#include "generator/start/partition.h"
#include "generator/start/separate_rows.h"
#include "generator/row/row_range_sums.h"
#include "generator/start/tensor_start.h"
#include "generator/decisions/warpgroup_start.h"
#include "generator/element/window_text.h"

#define ATTEMPTS 40

/* Draws a launch with a chance that grows with the root of its time: the slowest comes most often, and every
 * launch comes sometimes. */
static uint32_t draw_launch(const rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream,
                            const rkb_schedule_t *schedule) {
   double weights[RKB_MAX_SCHEDULE_LAUNCHES], sum = 0;
   for (uint32_t l = 0; l < schedule->count; l++)
      sum += weights[l] = sqrt(rkb_launch_estimate(graph, target, &schedule->launches[l]));
   double draw = rkb_random_real(stream) * sum;
   for (uint32_t l = 0; l + 1 < schedule->count; l++)
      if ((draw -= weights[l]) < 0)
         return l;
   return schedule->count - 1;
}

double rkb_decision_weight(uint32_t decision, enum rkb_focus focus) {
   /* In the order of enum rkb_decision.  A decision with the weight 0 would never change. */
   static const double table[][RKB_DECISIONS] = {
      [RKB_FOCUS_NONE] = {2,   2, 2, 3, 2,   2, 2,   2,   2,   1,   2, 1, 0.2, 2,  2, 1,
                          2,   1, 1, 1, 0.5, 1, 1,   1,   1,   0.2, 2, 1, 1,   1,  1, 1,
                          0.5, 2, 1, 1, 1,   1, 0.5, 0.5, 0.5, 1,   2, 1, 1,   0.2},
      [RKB_FOCUS_MEMORY] = {1,   4, 1, 2, 3,   3, 1,   1,   1,   1,   3, 1, 0.2, 1,  1, 2,
                            3,   3, 1, 1, 0.5, 1, 1,   1,   1,   0.2, 2, 1, 1,   1,  1, 1,
                            0.5, 3, 1, 1, 1,   1, 0.5, 0.5, 0.5, 1,   1, 3, 0.5, 0.2},
      [RKB_FOCUS_SHARED] = {1,   2, 1, 1, 2,   2, 2,   5,   5,   1,   2, 1, 0.2, 4,   4, 2,
                            1,   1, 1, 1, 0.5, 1, 1,   1,   1,   0.2, 1, 1, 0.5, 0.5, 1, 1,
                            0.5, 1, 1, 1, 0.5, 1, 0.5, 0.5, 0.5, 1,   1, 1, 4,   0.2},
      [RKB_FOCUS_ISSUE] = {1,   4, 1, 1, 2, 2, 1,   4,   4,   1,   2, 1, 0.2, 4,   4, 3,
                           1,   1, 2, 1, 1, 1, 1,   1,   1,   0.2, 2, 2, 0.5, 0.5, 1, 2,
                           0.5, 1, 1, 1, 1, 2, 0.5, 0.5, 0.5, 1,   1, 1, 1,   0.2},
      [RKB_FOCUS_LATENCY] = {4, 1, 3, 5, 3,   3, 2, 1,   1,   2,   2, 2, 0.2, 2,  2, 2,
                             4, 1, 1, 2, 0.5, 1, 1, 1,   1,   0.2, 1, 1, 2,   2,  1, 1,
                             1, 3, 2, 2, 2,   1, 1, 0.5, 0.5, 1,   4, 3, 0.5, 0.2},
   };
   _Static_assert(RKB_PAD_ROWS + 1 == RKB_DECISIONS, "a new decision has weights of its own");
   return table[focus][decision];
}

static uint32_t draw_decision(const rkb_graph_t *graph, rkb_random_t *stream, const rkb_launch_t *launch,
                              enum rkb_focus focus) {
   double weights[RKB_DECISIONS], sum = 0;
   for (uint32_t d = 0; d < RKB_DECISIONS; d++)
      sum += weights[d] = rkb_decision_applies(graph, launch, d) ? rkb_decision_weight(d, focus) : 0;
   double draw = rkb_random_real(stream) * sum;
   for (uint32_t d = 0; d < RKB_DECISIONS; d++)
      if (weights[d] > 0 && (draw -= weights[d]) < 0)
         return d;
   return RKB_THREADS;
}

/* Draws the next value up or down, or any other value: a single step is as likely as all other values together. */
static int64_t draw_value(rkb_random_t *stream, uint32_t decision, int64_t now) {
   const int64_t *values = rkb_decision_values(decision);
   uint32_t count = 0, at = 0;
   for (; values[count] >= 0; count++)
      if (values[count] == now)
         at = count;
   if (rkb_random_below(stream, 2)) {
      const bool up = at == 0 || (at + 1 < count && rkb_random_below(stream, 2));
      return values[up ? (at + 1 < count ? at + 1 : at) : at - 1];
   }
   return values[rkb_random_below(stream, count)];
}

static void say(char *note, size_t size, const char *fmt, ...) RKB_PRINTF(3, 4);
static void say(char *note, size_t size, const char *fmt, ...) {
   const size_t used = strlen(note);
   va_list ap;
   va_start(ap, fmt);
   if (used + 2 < size)
      vsnprintf(note + used, size - used, fmt, ap);
   va_end(ap);
}

static const char *label(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   return graph->nodes[launch->anchor_count ? launch->anchors[0] : launch->roots[0]].name;
}

static void change_decision(const rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream, rkb_launch_t *launch,
                            enum rkb_focus focus, char *note, size_t size) {
   const uint32_t decision = draw_decision(graph, stream, launch, focus);
   const int64_t before = launch->decisions[decision];
   launch->decisions[decision] = draw_value(stream, decision, before);
   if (launch->mapping == RKB_MAP_ROW && decision == RKB_ROWS && launch->decisions[RKB_ROWS] > 1)
      launch->decisions[RKB_THREADS] = 32 * launch->decisions[RKB_ROWS];
   if (launch->mapping == RKB_MAP_ROW && decision == RKB_THREADS)
      launch->decisions[RKB_ROWS] = 1;
   if (launch->mapping == RKB_MAP_TENSOR && decision == RKB_COPY && launch->decisions[RKB_COPY] == RKB_COPY_TENSOR && before != RKB_COPY_TENSOR)
      rkb_tensor_settle(graph, target->shared_bytes, launch);
   if (decision == RKB_TENSOR)
      rkb_tensor_suit_halves(launch);
   say(note, size, "%s%s: %s %lld -> %lld", *note ? "; " : "", label(graph, launch),
       rkb_decision_name(decision), (long long)before, (long long)launch->decisions[decision]);
}

/* Draws another shape of the tile, with about as many threads a block. */
static void change_tile(const rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream, rkb_launch_t *launch,
                        char *note, size_t size) {
   const bool warps = launch->mapping == RKB_MAP_TENSOR || launch->mapping == RKB_MAP_ONLINE_TENSOR;
   const uint32_t own_m = warps ? RKB_WARP_M : RKB_THREAD_M, own_n = warps ? RKB_WARP_N : RKB_THREAD_N;
   const uint32_t tiles[] = {RKB_TILE_M, RKB_TILE_N, RKB_TILE_K, own_m, own_n};
   int64_t *d = launch->decisions;
   for (uint32_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
      if (rkb_random_below(stream, 3))
         d[tiles[i]] = draw_value(stream, tiles[i], d[tiles[i]]);
   if (launch->mapping == RKB_MAP_TENSOR && d[RKB_COPY] == RKB_COPY_TENSOR)
      rkb_tensor_settle(graph, target->shared_bytes, launch);
   say(note, size, "%s%s: tile %lld x %lld x %lld, of a %s %lld x %lld", *note ? "; " : "",
       label(graph, launch), (long long)d[RKB_TILE_M], (long long)d[RKB_TILE_N], (long long)d[RKB_TILE_K],
       warps ? "warp" : "thread", (long long)d[own_m], (long long)d[own_n]);
}

static bool is_online(const rkb_launch_t *launch) {
   return launch->mapping == RKB_MAP_ONLINE || launch->mapping == RKB_MAP_ONLINE_TENSOR;
}

/* Draws ordinary arithmetic or tensor cores of some type for scores. */
static void change_online(const rkb_target_t *target, rkb_random_t *stream, rkb_launch_t *launch) {
   static const int64_t paths[] = {RKB_TENSOR_PATH_BF16, RKB_TENSOR_PATH_TF32X3};
   const int64_t path = paths[rkb_random_below(stream, sizeof paths / sizeof paths[0])];
   int64_t *d = launch->decisions;
   if (launch->mapping == RKB_MAP_ONLINE && target->tensor[path] > 0) {
      launch->mapping = RKB_MAP_ONLINE_TENSOR;
      d[RKB_TENSOR] = path;
      d[RKB_WARP_M] = 16;
      d[RKB_WARP_N] = d[RKB_TILE_N];
   } else {
      launch->mapping = RKB_MAP_ONLINE;
      d[RKB_THREAD_M] = d[RKB_THREAD_N] = 4;
   }
}

static bool change_mapping(const rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream,
                           rkb_launch_t *launch, char *note, size_t size) {
   const rkb_node_t *anchor = launch->anchor_count ? &graph->nodes[launch->anchors[0]] : NULL;
   if (!anchor)
      return false;
   const enum rkb_mapping before = launch->mapping;
   if (is_online(launch))
      change_online(target, stream, launch);
   else if (rkb_node_is_product(anchor)) {
      static const enum rkb_mapping ways[] = {RKB_MAP_TILE, RKB_MAP_TENSOR, RKB_MAP_ROW, RKB_MAP_ELEMENT};
      launch->mapping = ways[rkb_random_below(stream, 4)];
      launch->decisions[RKB_VECTOR] = 1;
      launch->decisions[RKB_SPLIT] = 1;
      if (launch->mapping == RKB_MAP_TILE && before != RKB_MAP_TILE)
         rkb_launch_suit_tile(graph, target, launch);
      else if (launch->mapping == RKB_MAP_TENSOR && before != RKB_MAP_TENSOR && !rkb_launch_suit_tensor(graph, target, launch))
         return false;
      else if (launch->mapping == RKB_MAP_ELEMENT && before != RKB_MAP_ELEMENT)
         rkb_launch_suit_parts(graph, target, launch);
   } else if (anchor->kind == RKB_NODE_REDUCE && launch->mapping != RKB_MAP_ELEMENT)
      launch->mapping = launch->mapping == RKB_MAP_ROW ? RKB_MAP_COLUMN : RKB_MAP_ROW;
   if (launch->mapping == before)
      return false;
   say(note, size, "%s: %s -> %s", label(graph, launch), rkb_mapping_name(before),
       rkb_mapping_name(launch->mapping));
   return true;
}

/* Stores a value that was computed where it is read, or the other way round. */
static bool change_storage(const rkb_graph_t *graph, rkb_random_t *stream, rkb_schedule_t *schedule,
                           char *note, size_t size) {
   const uint32_t node = (uint32_t)rkb_random_below(stream, graph->node_count);
   const rkb_node_t *from = &graph->nodes[node];
   for (uint32_t o = 0; o < graph->output_count; o++)
      if (graph->outputs[o].node == node)
         return false;
   for (uint32_t l = 0; l < schedule->count; l++) {
      rkb_launch_t *launch = &schedule->launches[l];
      for (uint32_t r = 0; r < launch->root_count; r++)
         if (launch->roots[r] == node && launch->root_count > 1) {
            launch->roots[r] = launch->roots[--launch->root_count];
            say(note, size, "%s is computed where it is read", from->name);
            return true;
         }
   }
   if (from->kind == RKB_NODE_INPUT || rkb_node_is_view(from))
      return false;
   const uint32_t l = (uint32_t)rkb_random_below(stream, schedule->count);
   rkb_launch_t *launch = &schedule->launches[l];
   if (launch->root_count == RKB_MAX_LAUNCH_NODES || rkb_schedule_launch_of(schedule, node) != RKB_NO_NODE)
      return false;
   launch->roots[launch->root_count++] = node;
   say(note, size, "%s is stored by the launch of %s", from->name, label(graph, launch));
   return true;
}

static bool separate_launch(const rkb_graph_t *graph, rkb_schedule_t *schedule, uint32_t number, char *note,
                            size_t size) {
   say(note, size, "the passes of %s become launches", label(graph, &schedule->launches[number]));
   return rkb_separate_rows(schedule, graph, number);
}

/* Gives one launch the work of launch `from` as well. */
static bool take_over(rkb_schedule_t *schedule, uint32_t into, uint32_t from) {
   rkb_launch_t *to = &schedule->launches[into];
   const rkb_launch_t *of = &schedule->launches[from];
   if (to->anchor_count + of->anchor_count > RKB_MAX_LAUNCH_NODES || to->root_count + of->root_count > RKB_MAX_LAUNCH_NODES)
      return false;
   memcpy(to->anchors + to->anchor_count, of->anchors, of->anchor_count * sizeof *of->anchors);
   to->anchor_count += of->anchor_count;
   memcpy(to->roots + to->root_count, of->roots, of->root_count * sizeof *of->roots);
   to->root_count += of->root_count;
   memmove(&schedule->launches[from], &schedule->launches[from + 1], (schedule->count - from - 1) * sizeof *to);
   schedule->count--;
   return true;
}

/* Moves a convolution into the registers of the threads that own the windows over it. */
static bool join_windows(const rkb_graph_t *graph, rkb_schedule_t *schedule, uint32_t convolution, uint32_t pool) {
   const rkb_launch_t before = schedule->launches[pool];
   if (before.anchor_count != 1 || graph->nodes[before.anchors[0]].kind != RKB_NODE_POOL ||
       !rkb_window_convolves(graph, schedule->launches[convolution].anchors[0]))
      return false;
   rkb_launch_t *launch = &schedule->launches[pool];
   launch->anchors[launch->anchor_count++] = schedule->launches[convolution].anchors[0];
   launch->decisions[RKB_WINDOW] = launch->decisions[RKB_VECTOR] = 1;
   launch->decisions[RKB_CHANNELS] = 2;
   memmove(&schedule->launches[convolution], &schedule->launches[convolution + 1], (schedule->count - convolution - 1) * sizeof *launch);
   schedule->count--;
   return true;
}

/* If a launch of rows takes over sums over rows, of each place or of pieces, these sums need a second launch. */
static void settle_sums(const rkb_graph_t *graph, rkb_launch_t *launch) {
   int64_t *d = launch->decisions;
   const bool pieces = rkb_launch_has_segment_sums(graph, launch), places = rkb_launch_has_stretch_sums(graph, launch);
   if (launch->mapping != RKB_MAP_ROW || (!pieces && !places))
      return;
   d[RKB_SEGMENTS] = pieces;
   d[RKB_STRETCHES] = places ? 264 : 0;
   if (pieces)
      d[RKB_KEEP] = 0;
   if (d[RKB_ROWS] > 1)
      d[RKB_THREADS] = 256;
   d[RKB_ROWS] = d[RKB_SPLIT] = d[RKB_SHORTER] = d[RKB_CLUSTER] = 1;
   d[RKB_WARPS] = 0;
}

/* Joins two launches of single elements, or of rows; the later one's work goes to the earlier one. */
static bool join_launches(const rkb_graph_t *graph, rkb_random_t *stream, rkb_schedule_t *schedule,
                          char *note, size_t size) {
   if (schedule->count < 2)
      return false;
   const uint32_t a = (uint32_t)rkb_random_below(stream, schedule->count),
                  b = (uint32_t)rkb_random_below(stream, schedule->count);
   const uint32_t first = a < b ? a : b, second = a < b ? b : a;
   rkb_launch_t *into = &schedule->launches[first], *from = &schedule->launches[second];
   if (first == second || is_online(into))
      return false;
   say(note, size, "the launches of %s and %s become one", label(graph, into), label(graph, from));
   if (into->anchor_count == 1 && from->anchor_count == 1 && rkb_node_is_product(&graph->nodes[into->anchors[0]]))
      return join_windows(graph, schedule, first, second);
   const bool over_rows = into->mapping == RKB_MAP_ROW && from->mapping == RKB_MAP_COLUMN;
   if ((into->mapping != from->mapping && !over_rows) || into->mapping == RKB_MAP_TILE || into->mapping == RKB_MAP_TENSOR ||
       (into->mapping == RKB_MAP_ELEMENT && (into->anchor_count || from->anchor_count)) || !take_over(schedule, first, second))
      return false;
   settle_sums(graph, into);
   return true;
}

/* Gives a launch a range of blocks in the kernel of an earlier launch, or a kernel of its own again. */
static bool change_beside(const rkb_graph_t *graph, rkb_random_t *stream, rkb_schedule_t *schedule, char *note, size_t size) {
   if (schedule->count < 2)
      return false;
   const uint32_t number = 1 + (uint32_t)rkb_random_below(stream, schedule->count - 1), into = (uint32_t)rkb_random_below(stream, number);
   rkb_launch_t *launch = &schedule->launches[number];
   if (launch->decisions[RKB_BESIDE]) {
      launch->decisions[RKB_BESIDE] = 0;
      say(note, size, "%s has a kernel of its own", label(graph, launch));
      return true;
   }
   say(note, size, "%s shares the kernel of %s", label(graph, launch), label(graph, &schedule->launches[into]));
   return rkb_schedule_put_beside(graph, schedule, number, into);
}

bool rkb_launch_is_possible(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_launch_t *launch) {
   return !rkb_launch_refused(graph, launch, target->shared_bytes) &&
          !rkb_launch_has_too_costly_tile(graph, launch) &&
          (launch->decisions[RKB_CLUSTER] == 1 ||
           target->warpgroup[RKB_TENSOR_PATH_BF16] > 0) && /* the same generation of devices brought both */
          ((launch->mapping != RKB_MAP_TENSOR && launch->mapping != RKB_MAP_ONLINE_TENSOR) ||
           rkb_tensor_has(target, launch));
}

static bool is_legal(rkb_graph_t *graph, const rkb_target_t *target, const rkb_schedule_t *schedule) {
   for (uint32_t l = 0; l < schedule->count; l++)
      if (!rkb_launch_is_possible(graph, target, &schedule->launches[l]))
         return false;
   return rkb_schedule_is_legal(graph, schedule, target->shared_bytes);
}

static bool has_tile(const rkb_launch_t *launch) {
   return launch->mapping == RKB_MAP_TILE || launch->mapping == RKB_MAP_TENSOR || launch->mapping == RKB_MAP_ONLINE_TENSOR;
}

void rkb_launch_vary(const rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream, enum rkb_focus focus, rkb_launch_t *launch,
                     char *note, size_t note_size) {
   if (has_tile(launch) && rkb_random_below(stream, 4) == 0)
      change_tile(graph, target, stream, launch, note, note_size);
   else
      change_decision(graph, target, stream, launch, focus, note, note_size);
}

bool rkb_schedule_change(rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream,
                         enum rkb_focus focus, rkb_schedule_t *schedule, char *note, size_t note_size) {
   rkb_schedule_t *tried = rkb_allocate(1, sizeof *tried);
   bool found = false;
   for (uint32_t attempt = 0; attempt < ATTEMPTS && !found && schedule->count; attempt++) {
      *tried = *schedule;
      *note = '\0';
      const uint32_t number = draw_launch(graph, target, stream, tried);
      rkb_launch_t *launch = &tried->launches[number];
      const uint64_t draw = rkb_random_below(stream, 100);
      bool changed = true;
      if (draw < 5)
         changed = change_mapping(graph, target, stream, launch, note, note_size);
      else if (draw < 12)
         changed = change_storage(graph, stream, tried, note, note_size);
      else if (draw < 18)
         changed = join_launches(graph, stream, tried, note, note_size);
      else if (draw < 20)
         changed = separate_launch(graph, tried, number, note, note_size);
      else if (draw < 26 && schedule->count > 1)
         changed = change_beside(graph, stream, tried, note, note_size);
      else if (draw < 45 && has_tile(launch))
         change_tile(graph, target, stream, launch, note, note_size);
      else
         for (uint64_t more = 1 + rkb_random_below(stream, 3); more > 0; more--)
            change_decision(graph, target, stream, launch, focus, note, note_size);
      found = changed && memcmp(tried, schedule, sizeof *tried) != 0 && is_legal(graph, target, tried);
   }
   if (found)
      *schedule = *tried;
   free(tried);
   return found;
}

/* Lets some launches share kernels, where that is legal. */
static void draw_beside(rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream, rkb_schedule_t *schedule) {
   rkb_schedule_t *tried = rkb_allocate(1, sizeof *tried);
   for (uint64_t more = rkb_random_below(stream, 4); more > 0; more--) {
      char note[64] = "";
      *tried = *schedule;
      if (change_beside(graph, stream, tried, note, sizeof note) && is_legal(graph, target, tried))
         *schedule = *tried;
   }
   free(tried);
}

bool rkb_schedule_draw(rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream,
                       rkb_schedule_t *schedule) {
   rkb_schedule_start(graph, target, RKB_START_TOGETHER, schedule);
   for (uint32_t l = 0; l < schedule->count; l++) {
      rkb_launch_t *launch = &schedule->launches[l], before = *launch;
      for (uint32_t attempt = 0; attempt < ATTEMPTS; attempt++) {
         *launch = before;
         if (is_online(launch)) {
            if (rkb_random_below(stream, 3))
               change_online(target, stream, launch);
         } else if (launch->anchor_count && rkb_node_is_product(&graph->nodes[launch->anchors[0]]))
            launch->mapping = rkb_random_below(stream, 3) && rkb_tensor_best(graph, target, launch->anchors[0])
                                 ? RKB_MAP_TENSOR
                                 : RKB_MAP_TILE;
         for (uint32_t d = 0; d < RKB_DECISIONS; d++) {
            const int64_t *values = rkb_decision_values(d);
            uint32_t count = 0;
            while (values[count] >= 0)
               count++;
            if (d != RKB_BESIDE && rkb_decision_applies(graph, launch, d) && rkb_decision_weight(d, RKB_FOCUS_NONE) > 0)
               launch->decisions[d] = values[rkb_random_below(stream, count)];
         }
         if (launch->mapping == RKB_MAP_TENSOR)
            launch->decisions[RKB_TENSOR] = rkb_tensor_best(graph, target, launch->anchors[0]);
         if (launch->mapping == RKB_MAP_TENSOR && launch->decisions[RKB_COPY] == RKB_COPY_TENSOR)
            rkb_tensor_settle(graph, target->shared_bytes, launch);
         if (launch->mapping == RKB_MAP_ROW && launch->decisions[RKB_ROWS] > 1)
            launch->decisions[RKB_THREADS] = 32 * launch->decisions[RKB_ROWS];
         if (!rkb_launch_refused(graph, launch, target->shared_bytes) &&
             !rkb_launch_has_too_costly_tile(graph, launch))
            break;
         *launch = before;
      }
   }
   draw_beside(graph, target, stream, schedule);
   return is_legal(graph, target, schedule);
}

static bool same_work(const rkb_launch_t *a, const rkb_launch_t *b) {
   return a->anchor_count == b->anchor_count && a->root_count == b->root_count &&
          memcmp(a->anchors, b->anchors, a->anchor_count * sizeof *a->anchors) == 0 &&
          memcmp(a->roots, b->roots, a->root_count * sizeof *a->roots) == 0;
}

bool rkb_schedule_cross(rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream,
                        rkb_schedule_t *first, const rkb_schedule_t *second, char *note, size_t note_size) {
   uint32_t taken = 0;
   *note = '\0';
   for (uint32_t l = 0; l < first->count; l++)
      for (uint32_t o = 0; o < second->count; o++) {
         rkb_launch_t *mine = &first->launches[l];
         const rkb_launch_t *other = &second->launches[o];
         if (!same_work(mine, other) || memcmp(mine, other, sizeof *mine) == 0 || rkb_random_below(stream, 2))
            continue;
         *mine = *other;
         say(note, note_size, "%s%s", taken++ ? ", " : "launches of the second parent: ", label(graph, mine));
      }
   /* if all launches came from the second parent, the result would be the second parent again */
   return taken > 0 && memcmp(first, second, sizeof *first) != 0 && is_legal(graph, target, first);
}
