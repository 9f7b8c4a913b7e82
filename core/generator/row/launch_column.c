/* Kernels that reduce columns: lanes run along the kept dims.  One thread writes them. */
#include <string.h>
#include "generator/graph/needed_values.h"
#include "generator/row/rows.h"

/* Divides the roots into two groups.  Some roots have an element at each place of the columns and need none of the
 * columns' sums: these are written while the columns are added up.  The others are written at the end. */
static void part_roots(const rkb_writer_t *writer, const rkb_launch_t *launch, rkb_launch_t *places, rkb_launch_t *columns) {
   const rkb_graph_t *graph = writer->graph;
   const rkb_node_t *term = &graph->nodes[graph->nodes[launch->anchors[0]].inputs[0]];
   *places = *columns = *launch;
   places->root_count = columns->root_count = 0;
   for (uint32_t r = 0; r < launch->root_count; r++) {
      const rkb_node_t *root = &graph->nodes[launch->roots[r]];
      bool is_place = root->rank == term->rank && memcmp(root->shape, term->shape, term->rank * sizeof *term->shape) == 0;
      for (uint32_t a = 0; a < launch->anchor_count; a++)
         is_place &= !rkb_value_needs(graph, launch->roots[r], launch->anchors[a]);
      rkb_launch_t *to = is_place ? places : columns;
      to->roots[to->root_count++] = launch->roots[r];
   }
}

void rkb_write_column_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t *d = launch->decisions, groups = d[RKB_THREADS] / 32;
   const bool split = d[RKB_SPLIT] > 1;
   const char *names[RKB_MAX_LAUNCH_NODES] = {0};
   const rkb_index_t *at[RKB_MAX_RANK];
   rkb_rows_t rows = {.launch = launch, .width = 1, .variance = launch->anchor_count};
   rkb_launch_t in_places, in_columns;
   part_roots(writer, launch, &in_places, &in_columns);
   rkb_rows_measure(writer, &rows);
   rkb_write(writer, "const int thread = threadIdx.x / 32;");
   rkb_write(
      writer,
      split
         ? "const index column = (index)blockIdx.x / %lld * 32 + threadIdx.x %% 32, part = (index)blockIdx.x %% %lld;"
         : "const index column = (index)blockIdx.x * 32 + threadIdx.x %% 32;",
      (long long)d[RKB_SPLIT], (long long)d[RKB_SPLIT]);
   rows.row = rkb_writer_variable(writer, "column", rows.count);
   rows.begin = "thread";
   rows.step = rkb_arena_format(writer->arena, "%lld", (long long)groups);
   rows.end = rkb_writer_uniform(writer, rows.length);
   if (split)
      rkb_rows_open_part(writer, &rows, rows.length, d[RKB_SPLIT]);
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      const rkb_node_t *anchor = &writer->graph->nodes[launch->anchors[a]];
      if (anchor->kind != RKB_NODE_REDUCE || rkb_reduced_elements(writer, anchor, false) != rows.length ||
          rkb_reduced_elements(writer, anchor, true) != rows.count)
         rkb_writer_fail(writer, "%s has other columns", anchor->name);
      names[a] = rkb_writer_name(writer, anchor->name);
      rkb_write(writer, "float %s = %s;", names[a], rkb_reduction_start(anchor));
      rkb_writer_know(writer, launch->anchors[a], (const rkb_index_t *const[RKB_MAX_RANK]){0}, names[a]);
   }
   const char *columns = rkb_writer_uniform(writer, rows.count);
   rkb_write_open(writer, true, "if (column < %s)", columns);
   const rkb_index_t *place = rkb_rows_open_places(writer, &rows);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      rkb_reduction_add(writer, &writer->graph->nodes[launch->anchors[a]], names[a],
                        rkb_row_term(writer, launch->anchors[a], rows.row, place));
   if (in_places.root_count) {
      rkb_row_at(writer, &writer->graph->nodes[launch->anchors[0]], rows.row, place, at);
      rkb_write_roots(writer, &in_places, writer->graph->nodes[launch->anchors[0]].inputs[0], at);
   }
   rkb_write_close(writer);
   rkb_write_close(writer);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      rkb_write(writer, "%s = column_%s<%lld>(%s);", names[a],
                rkb_reduction_word(&writer->graph->nodes[launch->anchors[a]]), (long long)groups, names[a]);
   rkb_write(writer, "if (thread > 0 || column >= %s)", columns);
   rkb_write(writer, "   return;");
   if (split)
      rkb_rows_write_parts(writer, &rows, "thread", names);
   else {
      for (uint32_t a = 0; a < launch->anchor_count; a++) {
         const rkb_node_t *anchor = &writer->graph->nodes[launch->anchors[a]];
         rkb_index_split(&writer->indices, anchor->rank, anchor->shape, rows.row, at);
         rkb_writer_know(writer, launch->anchors[a], at, names[a]);
      }
      const rkb_node_t *first = &writer->graph->nodes[launch->anchors[0]];
      rkb_index_split(&writer->indices, first->rank, first->shape, rows.row, at);
      rkb_write_roots(writer, &in_columns, launch->anchors[0], at);
   }
   *shape = (rkb_kernel_shape_t){
      .threads = d[RKB_THREADS],
      .grid = split ? rkb_arena_format(writer->arena, "%s * %lld", rkb_ceildiv(writer, rows.count, 32),
                                       (long long)d[RKB_SPLIT])
                    : rkb_ceildiv(writer, rows.count, 32),
      .owns =
         rkb_arena_format(writer->arena,
                          split ? "A block owns one part of 32 columns, and reduces each to a part of %s."
                                : "A block owns 32 columns, and reduces each to %s.",
                          rkb_reductions_text(writer, launch))};
}
