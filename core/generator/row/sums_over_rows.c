/* The text of sums over rows: see sums_over_rows.h.  One thread writes it. */
#include "generator/row/row_range_sums.h"
#include "generator/row/sums_over_rows.h"

bool rkb_rows_is_segment(const rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t anchor) {
   return rows->launch->decisions[RKB_SEGMENTS] && rkb_segment_adds(writer->graph, rows->launch, anchor);
}

/* Places of a piece of the row, which adds to one element of a sum over rows. */
static const rkb_index_t *piece_of(rkb_writer_t *writer, uint32_t anchor) {
   const rkb_node_t *term = &writer->graph->nodes[writer->graph->nodes[anchor].inputs[0]];
   const uint32_t dim = rkb_segment_dim(writer->graph, anchor);
   return rkb_index_elements(&writer->indices, term->rank - dim - 1, term->shape + dim + 1);
}

void rkb_rows_open_segment(rkb_writer_t *writer, rkb_rows_t *rows, const uint32_t *levels, uint32_t level,
                           const char **names) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_launch_t *launch = rows->launch;
   const rkb_index_t *piece = NULL, *width = rkb_index_constant(indices, rows->width);
   for (uint32_t a = 1; a < launch->anchor_count; a++)
      if (levels[a] == level && rkb_rows_is_segment(writer, rows, a)) {
         const rkb_index_t *own = piece_of(writer, launch->anchors[a]);
         if (piece && own != piece)
            rkb_writer_fail(writer, "%s has pieces of another length",
                            writer->graph->nodes[launch->anchors[a]].name);
         piece = own;
      }
   const rkb_index_t *count = rkb_index_make(indices, RKB_INDEX_QUOTIENT, rows->length, piece);
   if (rkb_index_make(indices, RKB_INDEX_PRODUCT, count, piece) != rows->length ||
       !rkb_index_divides(piece, rows->width)) {
      rkb_writer_fail(writer, "a row has no whole number of pieces");
      return;
   }
   const char *packs = rkb_writer_uniform(writer, rkb_index_make(indices, RKB_INDEX_QUOTIENT, piece, width)),
              *segment = rkb_writer_name(writer, "segment");
   rkb_write_open(writer, false, "for (index %s = 0; %s < %s; %s++)", segment, segment,
                  rkb_writer_uniform(writer, count), segment);
   rkb_writer_variable(writer, segment, count);
   for (uint32_t a = 1; a < launch->anchor_count; a++)
      if (levels[a] == level && rkb_rows_is_segment(writer, rows, a)) {
         names[a] = rkb_writer_name(writer, writer->graph->nodes[launch->anchors[a]].name);
         rkb_write(writer, "float %s = 0.0f;", names[a]);
         rkb_writer_know(writer, launch->anchors[a], (const rkb_index_t *const[RKB_MAX_RANK]){0}, names[a]);
      }
   rows->segment =
      rkb_arena_format(writer->arena, "row * %s + %s", rkb_writer_uniform(writer, count), segment);
   rows->begin = rkb_arena_format(writer->arena, "%s * %s + %s", segment, packs, rows->begin);
   rows->end = rkb_arena_format(writer->arena, "(%s + 1) * %s", segment, packs);
}

const char *rkb_rows_segment_term(rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t anchor,
                                  const rkb_index_t *place) {
   const rkb_node_t *sum = &writer->graph->nodes[anchor], *term = &writer->graph->nodes[sum->inputs[0]];
   const rkb_index_t *at[RKB_MAX_RANK],
      *element =
         rkb_index_make(&writer->indices, RKB_INDEX_SUM,
                        rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, rows->row, rows->length), place);
   rkb_index_split(&writer->indices, term->rank, term->shape, element, at);
   return rkb_write_float(writer, sum->inputs[0], at).text;
}

void rkb_rows_close_segment(rkb_writer_t *writer, rkb_rows_t *rows, const uint32_t *levels, uint32_t level,
                            const char **names) {
   const rkb_launch_t *launch = rows->launch;
   for (uint32_t a = 1; a < launch->anchor_count; a++) {
      if (levels[a] != level || !rkb_rows_is_segment(writer, rows, a))
         continue;
      const char *parts =
         rkb_writer_buffer(writer, rkb_parts_name(writer, launch->anchors[a]), RKB_F32, true);
      rkb_write(writer, "%s = row_sum<%lld>(%s);", names[a], (long long)launch->decisions[RKB_THREADS],
                names[a]);
      rkb_write(writer, "if (%s == 0)", rows->thread);
      rkb_write(writer, "   %s[%s] = %s;", parts, rows->segment, names[a]);
   }
   rkb_write_close(writer);
}

/* A block's sum over its stretch of rows at the current place: the text of a register, or of its place in memory. */
static const char *stretch_sum(rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t anchor,
                               const rkb_index_t *place) {
   const char *parts = rkb_parts_name(writer, rows->launch->anchors[anchor]);
   if (rows->keep)
      return rkb_arena_format(writer->arena, "%s_sums[%s].at[%s]",
                              writer->graph->nodes[rows->launch->anchors[anchor]].name, writer->keep_item,
                              rows->width > 1 ? "lane" : "0");
   rkb_writer_buffer(writer, parts, RKB_F32, true);
   return rkb_arena_format(writer->arena, "%s[(index)blockIdx.x * %s + %s]", parts,
                           rkb_writer_uniform(writer, rows->length), rkb_writer_index(writer, place));
}

void rkb_rows_open_stretch(rkb_writer_t *writer, rkb_rows_t *rows) {
   const rkb_launch_t *launch = rows->launch;
   for (uint32_t a = 1; a < launch->anchor_count && rows->keep; a++)
      if (rkb_stretch_adds(writer->graph, launch, a))
         rkb_write(writer, "Pack<%u> %s_sums[%u] = {};", rows->width,
                   writer->graph->nodes[launch->anchors[a]].name, rows->keep);
   if (!rows->keep) {
      const rkb_index_t *place = rkb_rows_open_places(writer, rows);
      for (uint32_t a = 1; a < launch->anchor_count; a++)
         if (rkb_stretch_adds(writer->graph, launch, a))
            rkb_write(writer, "%s = 0.0f;", stretch_sum(writer, rows, a, place));
      rkb_rows_close_places(writer, rows);
   }
   rkb_write_open(writer, false, "for (index row = blockIdx.x; row < %s; row += (index)gridDim.x)",
                  rkb_writer_uniform(writer, rows->count));
}

void rkb_rows_close_stretch(rkb_writer_t *writer, rkb_rows_t *rows) {
   const rkb_launch_t *launch = rows->launch;
   rkb_write_close(writer);
   if (!rows->keep)
      return;
   const char *item = rkb_writer_name(writer, "item"), *pack = rkb_writer_name(writer, "pack");
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int %s = 0; %s < %u; %s++)",
                  3 * (int)(writer->depth + 1), "", item, item, rows->keep, item);
   rkb_write(writer, "const index %s = %s * %s + %s;", pack, item, rows->step, rows->begin);
   rkb_write_open(writer, true, "if (%s < %s)", pack, rows->end);
   for (uint32_t a = 1; a < launch->anchor_count; a++) {
      const char *parts = rkb_parts_name(writer, launch->anchors[a]);
      if (!rkb_stretch_adds(writer->graph, launch, a))
         continue;
      rkb_writer_buffer(writer, parts, RKB_F32, true);
      rkb_write(writer, "*(Pack<%u> *)(%s + (index)blockIdx.x * %s + %s * %u) = %s_sums[%s];", rows->width,
                parts, rkb_writer_uniform(writer, rows->length), pack, rows->width,
                writer->graph->nodes[launch->anchors[a]].name, item);
   }
   rkb_write_close(writer);
   rkb_write_close(writer);
}

void rkb_rows_add_to_stretch(rkb_writer_t *writer, const rkb_rows_t *rows, const rkb_index_t *place,
                             const rkb_index_t *const *at) {
   for (uint32_t a = 1; a < rows->launch->anchor_count; a++)
      if (rkb_stretch_adds(writer->graph, rows->launch, a)) {
         const rkb_term_t term =
            rkb_write_float(writer, writer->graph->nodes[rows->launch->anchors[a]].inputs[0], at);
         rkb_write(writer, "%s += %s;", stretch_sum(writer, rows, a, place), term.text);
      }
}

void rkb_write_stretches_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t groups = 32;
   const bool segments = launch->decisions[RKB_SEGMENTS] > 0;
   rkb_launch_t ends = *launch;
   const rkb_index_t *at[RKB_MAX_RANK];
   const char *names[RKB_MAX_LAUNCH_NODES] = {0};
   uint32_t first = 0;
   rkb_rows_t rows = {.launch = launch};
   rkb_rows_measure(writer, &rows);
   const char *parts = segments ? NULL : rkb_writer_number(writer, "parts", writer->stretches);
   for (uint32_t a = 1; a < launch->anchor_count && segments; a++)
      if (rkb_rows_is_segment(writer, &rows, a)) {
         const rkb_node_t *term = &writer->graph->nodes[writer->graph->nodes[launch->anchors[a]].inputs[0]];
         const uint32_t dim = rkb_segment_dim(writer->graph, launch->anchors[a]);
         rows.length = rkb_index_size(&writer->indices, term->shape[dim]);
         parts = rkb_writer_uniform(writer, rkb_index_elements(&writer->indices, dim, term->shape));
      }
   const char *length = rkb_writer_uniform(writer, rows.length);
   rkb_write(writer, "const int group = threadIdx.x / 32;");
   rkb_write(writer, "const index column = (index)blockIdx.x * 32 + threadIdx.x %% 32;");
   const rkb_index_t *column = rkb_writer_variable(writer, "column", rows.length);
   for (uint32_t a = 1; a < launch->anchor_count; a++) {
      if (!rkb_row_hands_on(writer->graph, launch, a))
         continue;
      const rkb_node_t *anchor = &writer->graph->nodes[launch->anchors[a]];
      names[a] = rkb_writer_name(writer, anchor->name);
      first = first ? first : a;
      rkb_write(writer, "float %s = 0.0f;", names[a]);
   }
   rkb_write_unroll(writer, "#pragma unroll 4"); /* so many loads are on their way at once */
   rkb_write_open(writer, true, "for (index part = group; part < %s && column < %s; part += %lld)", parts,
                  length, (long long)groups);
   for (uint32_t a = 1; a < launch->anchor_count; a++)
      if (names[a])
         rkb_write(writer, "%s += %s[part * %s + column];", names[a],
                   rkb_writer_buffer(writer, rkb_parts_name(writer, launch->anchors[a]), RKB_F32, false),
                   length);
   rkb_write_close(writer);
   for (uint32_t a = 1; a < launch->anchor_count; a++) {
      const rkb_node_t *anchor = &writer->graph->nodes[launch->anchors[a]];
      if (!names[a])
         continue;
      rkb_write(writer, "%s = column_sum<%lld>(%s);", names[a], (long long)groups, names[a]);
      rkb_index_split(&writer->indices, anchor->rank, anchor->shape, column, at);
      rkb_writer_know(writer, launch->anchors[a], at, names[a]);
   }
   rkb_write(writer, "if (group > 0 || column >= %s)", length);
   rkb_write(writer, "   return;");
   ends.root_count = 0;
   for (uint32_t r = 0; r < launch->root_count; r++)
      if (rkb_stretch_ends(writer->graph, launch, launch->roots[r]))
         ends.roots[ends.root_count++] = launch->roots[r];
   rkb_index_split(&writer->indices, writer->graph->nodes[launch->anchors[first]].rank,
                   writer->graph->nodes[launch->anchors[first]].shape, column, at);
   rkb_write_roots(writer, &ends, launch->anchors[first], at);
   *shape = (rkb_kernel_shape_t){
      .threads = 32 * groups,
      .grid = rkb_ceildiv(writer, rows.length, 32),
      .owns =
         segments
            ? rkb_arena_format(writer->arena,
                               "A block adds the %s parts of 32 columns, always in the same order.", parts)
            : "A block adds what the blocks before it found for 32 columns, always in the same order."};
}
