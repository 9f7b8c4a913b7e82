/* Code that kernels over rows and kernels over columns share (rows.h).  One thread writes them. */
#include <string.h>
#include "generator/text/product_index.h"
#include "generator/row/row_range_sums.h"
#include "generator/row/rows_in_turn.h"

const rkb_index_t *rkb_reduced_elements(rkb_writer_t *writer, const rkb_node_t *reduce, bool kept) {
   const rkb_node_t *from = &writer->graph->nodes[reduce->inputs[0]];
   const rkb_index_t *elements = rkb_index_constant(&writer->indices, 1);
   for (uint32_t d = 0; d < from->rank; d++)
      if ((reduce->mask >> d & 1) == !kept)
         elements = rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, elements,
                                   rkb_index_size(&writer->indices, from->shape[d]));
   return elements;
}

void rkb_row_at(rkb_writer_t *writer, const rkb_node_t *reduce, const rkb_index_t *row,
                const rkb_index_t *place, const rkb_index_t **at) {
   const rkb_node_t *from = &writer->graph->nodes[reduce->inputs[0]];
   uint32_t shape[RKB_MAX_RANK], dims[RKB_MAX_RANK], count = 0;
   const rkb_index_t *places[RKB_MAX_RANK];
   const rkb_index_t *length = rkb_reduced_elements(writer, reduce, false);
   if (reduce->mask >> (from->rank - 1) &
       1) /* if the row is in one piece, joining its coordinates gives this expression */
      rkb_index_make(&writer->indices, RKB_INDEX_SUM,
                     rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, row, length), place);
   rkb_index_split(&writer->indices, reduce->rank, reduce->shape, row, at);
   for (uint32_t d = 0; d < from->rank; d++)
      if (reduce->mask >> d & 1) {
         dims[count] = d;
         shape[count++] = from->shape[d];
      }
   rkb_index_split(&writer->indices, count, shape, place, places);
   for (uint32_t i = 0; i < count; i++)
      at[dims[i]] = places[i];
}

const char *rkb_row_term(rkb_writer_t *writer, uint32_t anchor, const rkb_index_t *row,
                         const rkb_index_t *place) {
   const rkb_node_t *node = &writer->graph->nodes[anchor];
   const rkb_index_t *at[RKB_MAX_RANK], *out[RKB_MAX_RANK];
   if (node->kind == RKB_NODE_REDUCE) {
      rkb_row_at(writer, node, row, place, at);
      return rkb_write_float(writer, node->inputs[0], at).text;
   }
   rkb_product_t product;
   const rkb_index_t *group[RKB_MAX_RANK], *across[RKB_MAX_RANK], *column[RKB_MAX_RANK], *depth[RKB_MAX_RANK];
   rkb_product_of(writer, anchor, &product);
   rkb_index_split(&writer->indices, node->rank, node->shape, row, out);
   rkb_product_place(writer, &product, out, group, across, column);
   rkb_product_split(writer, &product.depth, place, depth);
   const char *guard = rkb_product_operand(writer, &product, 0, group, across, depth, at);
   const char *name = rkb_writer_name(writer, "term");
   if (guard)
      rkb_write(writer, "float %s = 0.0f;", name);
   rkb_writer_know(writer, anchor, (const rkb_index_t *const[RKB_MAX_RANK]){0}, name);
   if (guard)
      rkb_write_open(writer, true, "if (%s)", guard);
   const char *left = rkb_write_float(writer, node->inputs[0], at).text;
   rkb_product_operand(writer, &product, 1, group, column, depth, at);
   rkb_write(writer, "%s%s = %s * %s;", guard ? "" : "const float ", name, left,
             rkb_write_float(writer, node->inputs[1], at).text);
   if (guard)
      rkb_write_close(writer);
   return name;
}

const char *rkb_reduction_start(const rkb_node_t *anchor) {
   return strcmp(anchor->operation, "amax") == 0   ? "-INFINITY"
          : strcmp(anchor->operation, "amin") == 0 ? "INFINITY"
                                                   : "0.0f";
}

const char *rkb_reduction_word(const rkb_node_t *anchor) {
   return strcmp(anchor->operation, "amax") == 0   ? "largest"
          : strcmp(anchor->operation, "amin") == 0 ? "smallest"
                                                   : "sum";
}

void rkb_reduction_add(rkb_writer_t *writer, const rkb_node_t *anchor, const char *name, const char *term) {
   const char *word = rkb_reduction_word(anchor);
   if (*word == 's' && word[1] == 'u')
      rkb_write(writer, "%s += %s;", name, term);
   else
      rkb_write(writer, "%s = %s(%s, %s);", name, *word == 'l' ? "larger" : "smaller", name, term);
}

const rkb_index_t *rkb_rows_open_places(rkb_writer_t *writer, const rkb_rows_t *rows) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *width = rkb_index_constant(indices, rows->width);
   const char *name = rkb_writer_name(writer, rows->width > 1 ? "pack" : "place");
   if (rows->keep) {
      writer->keep_item = rkb_writer_name(writer, "item");
      rkb_write_open(writer, false, "#pragma unroll%s\n%*sfor (int %s = 0; %s < %u; %s++)", writer->keep_threads ? " 8" : "",
                     3 * (int)(writer->depth + 1), "", writer->keep_item, writer->keep_item, rows->keep,
                     writer->keep_item);
      rkb_write(writer, "const index %s = %s * %s + %s;", name, writer->keep_item, rows->step, rows->begin);
      rkb_write_open(writer, true, "if (%s < %s)", name, rows->end);
      writer->keep_depth = writer->depth;
   } else
      rkb_write_open(writer, false, "for (index %s = %s; %s < %s; %s += %s)", name, rows->begin, name,
                     rows->end, name, rows->step);
   const rkb_index_t *number =
      rkb_writer_variable(writer, name, rkb_index_make(indices, RKB_INDEX_QUOTIENT, rows->length, width));
   writer->keep_variable = number;
   if (rows->in_turn && rows->last)
      rkb_rows_copy_next(writer, rows, number);
   if (rows->terms)
      rkb_write(writer, "float %s[%u];", rows->terms, rows->width);
   const rkb_index_t *lane = rkb_open_lanes(writer, rows->width);
   if (rows->width == 1)
      return number;
   const rkb_node_t *reduce = &writer->graph->nodes[rows->launch->anchors[0]];
   const rkb_node_t *from = &writer->graph->nodes[reduce->inputs[0]];
   const rkb_index_t *last = rkb_index_make(indices, RKB_INDEX_QUOTIENT,
                                            rkb_index_size(indices, from->shape[from->rank - 1]), width);
   rkb_index_make(indices, RKB_INDEX_QUOTIENT, number, last);
   rkb_index_make(indices, RKB_INDEX_SUM,
                  rkb_index_make(indices, RKB_INDEX_PRODUCT,
                                 rkb_index_make(indices, RKB_INDEX_REMAINDER, number, last), width),
                  lane);
   return rkb_index_make(indices, RKB_INDEX_SUM, rkb_index_make(indices, RKB_INDEX_PRODUCT, number, width),
                         lane);
}

void rkb_rows_close_places(rkb_writer_t *writer, const rkb_rows_t *rows) {
   rkb_close_lanes(writer);
   if (rows->terms)
      rkb_write(writer, "moments_add<%u>(%s, %s, %s, %s);", rows->width, rows->moments[0], rows->moments[1],
                rows->moments[2], rows->terms);
   rkb_write_close(writer);
   if (rows->keep)
      rkb_write_close(writer);
   writer->keep_variable = NULL;
}

void rkb_rows_measure(rkb_writer_t *writer, rkb_rows_t *rows) {
   const rkb_node_t *anchor = &writer->graph->nodes[rows->launch->anchors[0]];
   if (anchor->kind == RKB_NODE_REDUCE) {
      rows->length = rkb_reduced_elements(writer, anchor, false);
      rows->count = rkb_reduced_elements(writer, anchor, true);
      return;
   }
   rkb_product_t product;
   rkb_product_of(writer, rows->launch->anchors[0], &product);
   rows->length = product.depth.total;
   rows->count = rkb_index_elements(&writer->indices, anchor->rank, anchor->shape);
}

void rkb_rows_open_part(rkb_writer_t *writer, rkb_rows_t *rows, const rkb_index_t *packs, int64_t parts) {
   const rkb_index_t *chunk = rkb_index_make(
      &writer->indices, RKB_INDEX_QUOTIENT,
      rkb_index_make(&writer->indices, RKB_INDEX_SUM, packs, rkb_index_constant(&writer->indices, parts - 1)),
      rkb_index_constant(&writer->indices, parts));
   rkb_check_share(writer, chunk, packs);
   const char *share = rkb_writer_uniform(writer, chunk), *all = rkb_writer_uniform(writer, packs);
   rkb_write(writer, "const index end = (part + 1) * %s < %s ? (part + 1) * %s : %s;", share, all, share,
             all);
   rows->begin = rkb_arena_format(writer->arena, "part * %s + %s", share, rows->begin);
   rows->end = "end";
}

void rkb_rows_write_parts(rkb_writer_t *writer, const rkb_rows_t *rows, const char *thread,
                          const char *const *names) {
   rkb_write_open(writer, true, "if (%s == 0)", thread);
   const bool moments = rows->variance < rows->launch->anchor_count;
   for (uint32_t a = 0; a < rows->launch->anchor_count + moments; a++) {
      const bool count = a == rows->launch->anchor_count;
      const char *buffer = count ? rkb_counts_name(writer, rows->launch->anchors[rows->mean])
                                 : rkb_parts_name(writer, rows->launch->anchors[a]),
                 *value = count                        ? rows->moments[2]
                          : moments && a == rows->mean ? rows->moments[0]
                                                       : names[a];
      rkb_writer_buffer(writer, buffer, RKB_F32, true);
      rkb_write(writer, "%s[part * %s + %s] = %s;", buffer, rkb_writer_uniform(writer, rows->count),
                rkb_writer_index(writer, rows->row), value);
   }
   rkb_write_close(writer);
}

const char *rkb_reductions_text(rkb_writer_t *writer, const rkb_launch_t *launch) {
   enum { MOST = 3 };
   const char *text = "", *last = "";
   uint32_t count = 0;
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      if (rkb_stretch_adds(writer->graph, launch, a))
         continue; /* a sum over rows */
      if (count && count < MOST)
         text = count == 1 ? last : rkb_arena_format(writer->arena, "%s, %s", text, last);
      if (count < MOST)
         last = writer->graph->nodes[launch->anchors[a]].name;
      count++;
   }
   if (count > MOST)
      return rkb_arena_format(writer->arena, "%s, %s and %u more", text, last, count - MOST);
   return count > 1 ? rkb_arena_format(writer->arena, "%s and %s", text, last) : last;
}
