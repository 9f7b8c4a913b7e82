/* Kernels that reduce rows, lanes along the reduced dims.  One thread writes them. */
#include <string.h>
#include "generator/graph/needed_values.h"
#include "generator/row/moments.h"
#include "generator/row/rows_ahead.h"
#include "generator/row/rows_in_turn.h"
#include "generator/row/softmax_rows.h"
#include "generator/row/row_range_sums.h"
#include "generator/row/sums_over_rows.h"

#define ROWS_IN_TURN                                                                                         \
   4 /* rows that a cluster owns one after the other; how many clusters run at once differs between devices, so there are more clusters than that */

/* Whether a value needs another that no memory holds, through light nodes. */
static bool needs(const rkb_writer_t *writer, uint32_t node, uint32_t other, bool *seen) {
   const rkb_node_t *from = &writer->graph->nodes[node];
   if (node == other)
      return true;
   if (node < other || seen[node] || writer->storage[node].name)
      return false;
   seen[node] = true;
   for (uint32_t i = 0; i < from->input_count; i++)
      if (needs(writer, from->inputs[i], other, seen))
         return true;
   return false;
}

/* How many passes must come before an anchor's own. */
static uint32_t level_of(const rkb_writer_t *writer, const rkb_launch_t *launch, uint32_t a,
                         const uint32_t *levels) {
   uint32_t level = 0;
   for (uint32_t b = 0; b < a; b++) {
      bool seen[RKB_MAX_GRAPH_NODES] = {0};
      bool needed = false;
      const rkb_node_t *node = &writer->graph->nodes[launch->anchors[a]];
      for (uint32_t i = 0; i < node->input_count; i++)
         needed |= needs(writer, node->inputs[i], launch->anchors[b], seen);
      if (needed && levels[b] + 1 > level)
         level = levels[b] + 1;
   }
   return level;
}

/* Whether an anchor is one of two that a cluster exchanges at once. */
static bool is_exchanged(const rkb_rows_t *rows, uint32_t anchor) {
   return rows->powers < rows->launch->anchor_count && (anchor == rows->powers || anchor == rows->largest);
}

static bool is_moment(const rkb_rows_t *rows, uint32_t anchor) {
   return rows->variance < rows->launch->anchor_count && (anchor == rows->variance || anchor == rows->mean);
}

/* A thread's part of a mean and of the squares around it. */
static void begin_moments(rkb_writer_t *writer, rkb_rows_t *rows) {
   static const char *const words[] = {"mean", "squares", "count"};
   const char *name = writer->graph->nodes[rows->launch->anchors[rows->mean]].name;
   for (uint32_t i = 0; i < 3; i++) {
      rows->moments[i] = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_%s", name, words[i]));
      rkb_write(writer, "float %s = 0.0f;", rows->moments[i]);
   }
   rows->terms = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_terms", name));
}

/* Joins both numbers over all threads of the row. */
static void end_moments(rkb_writer_t *writer, rkb_rows_t *rows, int64_t sharing, const char **names) {
   const char *const *have = rows->moments;
   rkb_write(writer, "row_moments<%lld>(%s, %s, %s);", (long long)sharing, have[0], have[1], have[2]);
   if (rows->launch->decisions[RKB_CLUSTER] > 1)
      rkb_write(writer, "cluster_moments<%lld>(%s, %s, %s);", (long long)rows->launch->decisions[RKB_CLUSTER], have[0], have[1], have[2]);
   names[rows->mean] = rkb_writer_name(writer, writer->graph->nodes[rows->launch->anchors[rows->mean]].name);
   rkb_write(writer, "const float %s = %s * %s;", names[rows->mean], have[0], have[2]);
   names[rows->variance] = have[1];
   rows->terms = NULL;
}

/* Joins the values of all threads of the row. */
static void write_reduction(rkb_writer_t *writer, const rkb_rows_t *rows, const rkb_node_t *anchor, const char *name, int64_t sharing) {
   const char *word = rkb_reduction_word(anchor);
   rkb_write(writer, "%s = row_%s<%lld>(%s);", name, word, (long long)sharing, name);
   if (rows->launch->decisions[RKB_CLUSTER] > 1)
      rkb_write(writer, "%s = cluster_%s<%lld>(%s);", name, word, (long long)rows->launch->decisions[RKB_CLUSTER], name);
}

/* Whether an anchor is a sum of this pass that the threads of a block make by themselves. */
static bool is_sum(const rkb_writer_t *writer, const rkb_rows_t *rows, const uint32_t *levels, uint32_t level,
                   uint32_t a) {
   const rkb_launch_t *launch = rows->launch;
   return launch->decisions[RKB_CLUSTER] == 1 && levels[a] == level && !is_moment(rows, a) &&
          !rkb_rows_is_segment(writer, rows, a) &&
          strcmp(rkb_reduction_word(&writer->graph->nodes[launch->anchors[a]]), "sum") == 0;
}

/* Joins the values of all threads of the row, for all anchors of a pass; two sums at a time. */
static void write_reductions(rkb_writer_t *writer, const rkb_rows_t *rows, const uint32_t *levels,
                             uint32_t level, const char **names, int64_t sharing) {
   const rkb_launch_t *launch = rows->launch;
   uint32_t first = launch->anchor_count; /* a sum that waits for another one */
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      if (!is_sum(writer, rows, levels, level, a)) {
         if (levels[a] == level && !is_moment(rows, a) && !is_exchanged(rows, a) &&
             !rkb_rows_is_segment(writer, rows, a))
            write_reduction(writer, rows, &writer->graph->nodes[launch->anchors[a]], names[a], sharing);
      } else if (first == launch->anchor_count)
         first = a;
      else {
         rkb_write(writer, "row_sums<%lld>(%s, %s);", (long long)sharing, names[first], names[a]);
         first = launch->anchor_count;
      }
   }
   if (first < launch->anchor_count)
      write_reduction(writer, rows, &writer->graph->nodes[launch->anchors[first]], names[first], sharing);
}

/* Adds a term to an anchor; where pairs are loaded together, the larger element of each. */
static void add_term(rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t a, const char *name,
                     const char *pairs, const rkb_index_t *place) {
   const rkb_node_t *anchor = &writer->graph->nodes[rows->launch->anchors[a]];
   writer->vector_node = RKB_NO_NODE;
   const char *term = rkb_rows_is_segment(writer, rows, a)
                         ? rkb_rows_segment_term(writer, rows, rows->launch->anchors[a], place)
                         : rkb_row_term(writer, rows->launch->anchors[a], rows->row, place);
   if (!pairs || writer->vector_node != rkb_rows_of_pairs(writer, rows, a)) {
      rkb_reduction_add(writer, anchor, name, term);
      return;
   }
   rkb_write(writer, "if (%s %% 2 == 0)", writer->lane->name);
   rkb_write(writer, "   %s = larger_pair(%s, &%s.at[%s]);", pairs, pairs, writer->vector,
             writer->lane->name);
}

static void write_pass(rkb_writer_t *writer, rkb_rows_t *rows, const uint32_t *levels, uint32_t level,
                       const char **names) {
   const rkb_launch_t *launch = rows->launch;
   const rkb_index_t *at[RKB_MAX_RANK];
   const bool moments = rows->variance < launch->anchor_count && levels[rows->variance] == level;
   const bool exchange = rows->powers < launch->anchor_count && levels[rows->powers] == level;
   const rkb_rows_t whole = *rows;
   const char *pairs[RKB_MAX_LAUNCH_NODES] = {0};
   bool segments = false;
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      segments |= levels[a] == level && rkb_rows_is_segment(writer, rows, a);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      if (levels[a] == level && !is_moment(rows, a) && !rkb_rows_is_segment(writer, rows, a)) {
         const rkb_node_t *anchor = &writer->graph->nodes[launch->anchors[a]];
         names[a] = rkb_writer_name(writer, anchor->name);
         rkb_write(writer, "float %s = %s;", names[a], rkb_reduction_start(anchor));
         rkb_writer_know(writer, launch->anchors[a], (const rkb_index_t *const[RKB_MAX_RANK]){0}, names[a]);
         if (rkb_rows_of_pairs(writer, rows, a) == RKB_NO_NODE)
            continue;
         pairs[a] = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_pair", names[a]));
         rkb_write(writer, "unsigned %s = 0xff80ff80u; /* twice -infinity */", pairs[a]);
      }
   if (exchange)
      rkb_rows_begin_powers(writer, rows, names[rows->largest]);
   if (moments)
      begin_moments(writer, rows);
   if (segments)
      rkb_rows_open_segment(writer, rows, levels, level, names);
   const rkb_index_t *place = rkb_rows_open_places(writer, rows);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      if (levels[a] == level && !is_moment(rows, a))
         add_term(writer, rows, a, names[a], pairs[a], place);
   if (moments) {
      const char *term = rkb_row_term(writer, launch->anchors[rows->mean], rows->row, place);
      rkb_write(writer, rows->width > 1 ? "%s[lane] = %s;" : "%s[0] = %s;", rows->terms, term);
   }
   rkb_rows_close_places(writer, rows);
   if (segments) {
      rkb_rows_close_segment(writer, rows, levels, level, names);
      rows->begin = whole.begin;
      rows->end = whole.end;
   }
   const int64_t sharing = launch->decisions[RKB_ROWS] > 1 ? 32 : launch->decisions[RKB_THREADS];
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      if (pairs[a])
         rkb_write(writer, "%s = larger(%s, larger_of_pair(%s));", names[a], names[a], pairs[a]);
   if (moments)
      end_moments(writer, rows, sharing, names);
   if (exchange)
      rkb_rows_end_powers(writer, rows, names[rows->largest], names[rows->powers]);
   write_reductions(writer, rows, levels, level, names, sharing);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      if (is_exchanged(rows, a) ? exchange : levels[a] == level && !rkb_rows_is_segment(writer, rows, a)) {
         const rkb_node_t *anchor = &writer->graph->nodes[launch->anchors[a]];
         rkb_index_split(&writer->indices, anchor->rank, anchor->shape, rows->row, at);
         rkb_writer_know(writer, launch->anchors[a], at, names[a]);
      }
}

/* Roots with an element for each place of a row are written in a last pass, those with one for each row by one thread. */
static void write_row_roots(rkb_writer_t *writer, const rkb_rows_t *rows) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_launch_t *launch = rows->launch;
   const rkb_node_t *reduce = &writer->graph->nodes[launch->anchors[0]];
   const rkb_index_t *all = rkb_index_make(indices, RKB_INDEX_PRODUCT, rows->count, rows->length),
                     *at[RKB_MAX_RANK];
   rkb_launch_t whole = *launch, single = *launch;
   whole.root_count = single.root_count = 0;
   for (uint32_t r = 0; r < launch->root_count; r++) {
      const rkb_node_t *root = &writer->graph->nodes[launch->roots[r]];
      const rkb_index_t *elements = rkb_index_elements(indices, root->rank, root->shape);
      if ((launch->decisions[RKB_STRETCHES] || launch->decisions[RKB_SEGMENTS]) &&
          rkb_stretch_ends(writer->graph, launch, launch->roots[r]))
         continue;
      if (elements == all && reduce->kind == RKB_NODE_REDUCE)
         whole.roots[whole.root_count++] = launch->roots[r];
      else
         single.roots[single.root_count++] = launch->roots[r];
   }
   if (single.root_count) {
      rkb_write_open(writer, true, "if (%s == 0)", rows->thread);
      rkb_index_split(indices, reduce->rank, reduce->shape, rows->row, at);
      rkb_write_roots(writer, &single, launch->anchors[0], at);
      rkb_write_close(writer);
   }
   const uint32_t put = whole.root_count && launch->decisions[RKB_CLUSTER] > 1 && rows->keep
                           ? rkb_rows_put(writer, rows)
                           : RKB_NO_NODE;
   if (put != RKB_NO_NODE)
      rkb_rows_begin_put(writer, put);
   rkb_rows_t last = *rows;
   last.last = true;
   if (whole.root_count || launch->decisions[RKB_STRETCHES]) {
      const rkb_index_t *place = rkb_rows_open_places(writer, &last);
      rkb_row_at(writer, reduce, rows->row, place, at);
      if (launch->decisions[RKB_STRETCHES])
         rkb_rows_add_to_stretch(writer, rows, place, at);
      if (whole.root_count)
         rkb_write_roots(writer, &whole, reduce->inputs[0], at);
      rkb_rows_close_places(writer, rows);
   }
   if (put != RKB_NO_NODE)
      rkb_rows_end_put(writer, rows, put, &whole);
}

/* Whether the launch writes elements for each place of its rows, in a last pass over them. */
static bool rows_are_written(rkb_writer_t *writer, const rkb_rows_t *rows) {
   const rkb_index_t *all = rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, rows->count, rows->length);
   for (uint32_t r = 0; r < rows->launch->root_count; r++) {
      const rkb_node_t *root = &writer->graph->nodes[rows->launch->roots[r]];
      if (rkb_index_elements(&writer->indices, root->rank, root->shape) == all)
         return true;
   }
   return false;
}

/* Loads, before the passes, what a row's results need from tensors with one element for each row: after the passes the blocks of a cluster
 * would wait for these loads. */
static void load_numbers(rkb_writer_t *writer, const rkb_rows_t *rows) {
   const rkb_graph_t *graph = writer->graph;
   const rkb_launch_t *launch = rows->launch;
   for (uint32_t n = 0; n < graph->node_count && !writer->failed; n++) {
      const rkb_node_t *node = &graph->nodes[n];
      const rkb_index_t *at[RKB_MAX_RANK];
      bool needed = false;
      for (uint32_t r = 0; r < launch->root_count; r++)
         needed |= rkb_value_needs(graph, launch->roots[r], n);
      if (!needed || !writer->storage[n].name || !node->rank ||
          rkb_index_elements(&writer->indices, node->rank, node->shape) != rows->count)
         continue;
      rkb_index_split(&writer->indices, node->rank, node->shape, rows->row, at);
      rkb_write_value(writer, n, at);
   }
   const uint32_t put = rkb_rows_put(writer, rows);
   if (put != RKB_NO_NODE)
      rkb_rows_load_put(writer, rows, put);
}

/* Writes all passes on trial, to see which loads of a row a thread keeps.  turns: it keeps them in shared memory, and rows follow each other. */
static void plan_ahead(rkb_writer_t *writer, rkb_rows_t *rows, const uint32_t *levels, uint32_t last,
                       bool turns) {
   const char *names[RKB_MAX_LAUNCH_NODES] = {0};
   rkb_rows_t tried = *rows;
   rkb_writer_t trial;
   rkb_writer_try(writer, &trial);
   rkb_writer_known_variable(&trial, rows->row);
   for (uint32_t level = 0; level <= last && !trial.failed; level++)
      write_pass(&trial, &tried, levels, level, names);
   write_row_roots(&trial, &tried);
   (turns ? rkb_rows_plan_turns : rkb_rows_plan_ahead)(rows, writer, &trial);
   rkb_writer_tried(writer, &trial);
}

void rkb_write_row_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t *d = launch->decisions;
   rkb_indices_t *indices = &writer->indices;
   uint32_t levels[RKB_MAX_LAUNCH_NODES] = {0}, last = 0;
   const char *names[RKB_MAX_LAUNCH_NODES] = {0};
   const bool warps = d[RKB_ROWS] > 1, split = d[RKB_SPLIT] > 1, stretches = d[RKB_STRETCHES] > 0, cluster = d[RKB_CLUSTER] > 1;
   const bool product = rkb_node_is_product(&writer->graph->nodes[launch->anchors[0]]);
   const int64_t sharing = warps ? 32 : d[RKB_THREADS] * d[RKB_CLUSTER]; /* threads that have one row */
   rkb_rows_t rows = {
      .launch = launch, .width = (uint32_t)d[RKB_VECTOR], .keep = split ? 0 : (uint32_t)d[RKB_KEEP]};
   rows.variance =
      d[RKB_MOMENTS] ? rkb_launch_moments(writer->graph, launch, &rows.mean) : launch->anchor_count;
   writer->keep = rows.keep;
   writer->keep_threads = cluster && rows.keep * rows.width > RKB_MOST_KEPT ? d[RKB_THREADS] : 0;
   rkb_rows_measure(writer, &rows);
   const rkb_index_t *packs =
      rkb_index_make(indices, RKB_INDEX_QUOTIENT, rows.length, rkb_index_constant(indices, rows.width));
   if (warps) {
      rkb_write(writer, "const int thread = threadIdx.x %% 32;");
      rkb_write(writer, "const index row = (index)blockIdx.x * %lld + threadIdx.x / 32;",
                (long long)d[RKB_ROWS]);
      rkb_write(writer, "if (row >= %s)", rkb_writer_uniform(writer, rows.count));
      rkb_write(writer, "   return;");
   } else if (cluster) {
      rkb_write(writer, "const int thread = blockIdx.x %% %lld * %lld + threadIdx.x;",
                (long long)d[RKB_CLUSTER], (long long)d[RKB_THREADS]);
   } else {
      rkb_write(writer, "const int thread = threadIdx.x;");
      if (split)
         rkb_write(writer, "const index row = (index)blockIdx.x / %lld, part = (index)blockIdx.x %% %lld;",
                   (long long)d[RKB_SPLIT], (long long)d[RKB_SPLIT]);
      else if (!stretches)
         rkb_write(writer, "const index row = blockIdx.x;");
   }
   rows.thread = rows.begin = "thread";
   rows.step = rkb_arena_format(writer->arena, "%lld", (long long)sharing);
   rows.end = rkb_writer_uniform(writer, packs);
   rows.row = rkb_index_variable(indices, "row", rows.count);
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      if (rkb_stretch_adds(writer->graph, launch, a)) {
         levels[a] = UINT32_MAX; /* in the last pass */
         continue;
      }
      levels[a] = a == rows.variance ? levels[rows.mean] : level_of(writer, launch, a, levels);
      last = levels[a] > last ? levels[a] : last;
      const rkb_node_t *node = &writer->graph->nodes[launch->anchors[a]];
      if (rkb_rows_is_segment(writer, &rows, a)) {
         const rkb_node_t *term = &writer->graph->nodes[node->inputs[0]];
         if (rkb_index_elements(indices, term->rank, term->shape) !=
             rkb_index_make(indices, RKB_INDEX_PRODUCT, rows.count, rows.length))
            rkb_writer_fail(writer, "%s has other elements", node->name);
      } else if (node->kind == RKB_NODE_REDUCE && (rkb_reduced_elements(writer, node, false) != rows.length ||
                                                   rkb_reduced_elements(writer, node, true) != rows.count))
         rkb_writer_fail(writer, "%s has other rows", node->name);
   }
   for (uint32_t a = 0; a < launch->anchor_count; a++) /* pieces are added in the last pass */
      if (rkb_rows_is_segment(writer, &rows, a))
         levels[a] = last;
   rkb_rows_find_powers(writer, &rows, levels);
   if (rows.powers < launch->anchor_count)
      rkb_write(writer, "cluster_begins();");
   const bool ahead = d[RKB_PREFETCH] && rows.keep && !cluster;
   const bool turns =
      d[RKB_PREFETCH] && rows.keep && cluster && writer->keep_threads && rows_are_written(writer, &rows);
   if (ahead || turns)
      plan_ahead(writer, &rows, levels, last, turns);
   if (cluster && !rows.in_turn)
      rkb_write(writer, "const index row = blockIdx.x / %lld;", (long long)d[RKB_CLUSTER]);
   if (rows.in_turn)
      rkb_rows_open_turns(writer, &rows);
   if (ahead && stretches)
      rkb_rows_load_first(writer, &rows);
   if (stretches)
      rkb_rows_open_stretch(writer, &rows);
   rkb_writer_known_variable(writer, rows.row);
   if (ahead)
      rkb_rows_load_ahead(writer, &rows);
   if (cluster && rows.keep)
      load_numbers(writer, &rows);
   if (rows.in_turn)
      rkb_write(writer, "copies_done<0>();");
   if (split)
      rkb_rows_open_part(writer, &rows, packs, d[RKB_SPLIT]);
   if (split && last > 0)
      rkb_writer_fail(writer, "a split row has one pass");
   for (uint32_t level = 0; level <= last && !writer->failed; level++)
      write_pass(writer, &rows, levels, level, names);
   if (split)
      rkb_rows_write_parts(writer, &rows, "thread", names);
   else
      write_row_roots(writer, &rows);
   if (ahead && stretches)
      rkb_rows_end_ahead(writer, &rows);
   if (stretches)
      rkb_rows_close_stretch(writer, &rows);
   if (rows.in_turn)
      rkb_rows_close_turns(writer);
   if (writer->keep_bytes > writer->shared_bytes)
      rkb_writer_fail(writer, "a block's part of the kept rows needs more shared memory than there is");
   *shape = (rkb_kernel_shape_t){
      .threads = d[RKB_THREADS],
      .cluster = d[RKB_CLUSTER],
      .shared = writer->keep_bytes,
      .blocks = rows.stages || rows.in_turn ? rkb_rows_staged_blocks(d[RKB_THREADS], writer->keep_bytes)
                : stretches && ahead
                   ? (d[RKB_THREADS] < 512
                         ? 512 / d[RKB_THREADS]
                         : 1) /* leaves each thread 128 registers: for two rows, and for the sums */
                : stretches && rows.keep && 2 * d[RKB_THREADS] <= 1024
                   ? 2                     /* one block loads while the other adds */
                : cluster && rows.keep ? 3 /* one block loads, one computes, one stores */
                                       : 0,
      .when = rows.keep
                 ? rkb_arena_format(writer->arena, "%s <= %lld", rkb_index_manifest(indices, rows.length),
                                    (long long)(rows.keep * sharing * rows.width))
                 : NULL,
      .row = rows.keep ? rkb_index_manifest(indices, rows.length) : NULL,
      .rows = rows.keep ? rkb_index_manifest(indices, rows.count) : NULL,
      .most_row = rows.keep * sharing * rows.width,
      .grid = rows.in_turn
                 ? rkb_arena_format(writer->arena, "%s * %lld", rkb_ceildiv(writer, rows.count, ROWS_IN_TURN),
                                    (long long)d[RKB_CLUSTER])
              : warps ? rkb_ceildiv(writer, rows.count, d[RKB_ROWS])
              : stretches
                 ? writer->stretches
                 : rkb_index_manifest(
                      indices, rkb_index_make(indices, RKB_INDEX_PRODUCT, rows.count,
                                              rkb_index_constant(indices, d[RKB_SPLIT] * d[RKB_CLUSTER]))),
      .owns = rkb_arena_format(
         writer->arena,
         product   ? (warps   ? "A warp adds the terms of one element of %s."
                      : split ? "A block adds a part of the terms of one element of %s."
                              : "A block adds the terms of one element of %s.")
         : warps   ? "A warp owns one row, and reduces it to %s."
         : split   ? "A block owns one part of a row, and reduces it to a part of %s."
         : cluster ? "The blocks of a cluster own one row, and reduce it to %s."
         : stretches
            ? "A block owns rows, one after the other, reduces each to %s, and sums each place over the rows."
            : "A block owns one row, and reduces it to %s.",
         rkb_reductions_text(writer, launch))};
}
