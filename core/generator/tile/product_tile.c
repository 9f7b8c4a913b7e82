/* Writes the parts that tiles of products share: sides, places and results.  One thread. */
#include "generator/tile/product_tile.h"

#include <string.h>
#include "generator/tile/rows_by_matrix.h"

/* Whether, in most samples, the number of the element in memory of the value's largest operand grows by one
 * with the variable. */
static bool is_fast(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at,
                    const rkb_index_t *variable) {
   const rkb_graph_t *graph = writer->graph;
   rkb_indices_t *indices = &writer->indices;
   for (uint32_t steps = 0; steps < 64 && !writer->storage[node].name; steps++) {
      const rkb_node_t *from = &graph->nodes[node];
      if (!from->input_count || !rkb_node_is_light(from))
         return false;
      uint32_t most = 0;
      for (uint32_t i = 1; i < from->input_count; i++)
         if (graph->nodes[from->inputs[i]].rank > graph->nodes[from->inputs[most]].rank)
            most = i;
      const rkb_node_t *input = &graph->nodes[from->inputs[most]];
      const rkb_index_t **inner = rkb_arena_array(writer->arena, RKB_MAX_RANK, sizeof *inner);
      memcpy(inner, at, (from->rank < input->rank ? from->rank : input->rank) * sizeof *inner);
      if (from->kind == RKB_NODE_RESHAPE)
         rkb_index_split(indices, input->rank, input->shape,
                         rkb_index_join(indices, from->rank, from->shape, at), inner);
      else if (from->kind == RKB_NODE_PERMUTE)
         rkb_permuted_at(writer, from, at, inner);
      else if (input->rank <= from->rank)
         rkb_operand_at(writer, from, most, at, inner);
      node = from->inputs[most];
      at = inner;
   }
   const rkb_node_t *stored = &graph->nodes[node];
   const rkb_index_t *here = rkb_index_join(indices, stored->rank, stored->shape, at);
   const rkb_index_t *next =
      rkb_index_replace(indices, here, variable,
                        rkb_index_make(indices, RKB_INDEX_SUM, variable, rkb_index_constant(indices, 1)));
   uint32_t close = 0;
   for (uint32_t s = 0; s < RKB_SAMPLES; s++)
      close += next->at[s] - here->at[s] == 1;
   return close > RKB_SAMPLES / 2;
}

/* Divides a number among dims, where the product's first dim is the last one. */
static void split_turned(rkb_writer_t *writer, const rkb_product_dims_t *dims, const rkb_index_t *number, const rkb_index_t **at) {
   rkb_product_split(writer, dims, number, at);
   const rkb_index_t *last = at[dims->count - 1];
   memmove(at + 1, at, (dims->count - 1) * sizeof *at);
   at[0] = last;
}

/* The coordinates of a row or column of a side. */
static void split_side(rkb_writer_t *writer, const rkb_tile_side_t *side, const rkb_index_t *number, const rkb_index_t **at) {
   (side->channels_last ? split_turned : rkb_product_split)(writer, side->dims, number, at);
}

const rkb_index_t *rkb_tile_listed_row(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_index_t *place) {
   const char *here = rkb_writer_index(writer, place), *last = tile->lists_terms ? "end" : tile->m.end;
   return rkb_rows_by_matrix_row(
      writer, tile->product.node,
      rkb_arena_format(writer->arena, "%s < %s ? %s : %s - 1", here, last, here, last));
}

const char *rkb_tile_operand(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                             const rkb_tile_side_t *side, const rkb_index_t *across, const rkb_index_t *depth,
                             const rkb_index_t **at) {
   const rkb_index_t *across_at[RKB_MAX_RANK], *depth_at[RKB_MAX_RANK];
   const rkb_index_t *row[RKB_MAX_RANK] = {tile->leader};
   split_side(writer, side, across, across_at);
   if (tile->listed && side == &tile->m) {
      row[0] = rkb_tile_listed_row(writer, tile, across);
      across_at[0] = rkb_index_constant(&writer->indices, 0);
   }
   if (tile->taps.count) {
      depth_at[0] = depth;
      memcpy(depth_at + 1, tile->tap, tile->taps.count * sizeof *depth_at);
   } else if (tile->terms.count)
      split_turned(writer, &tile->terms, depth, depth_at);
   else
      rkb_product_split(writer, &tile->product.depth,
                        tile->lists_terms ? rkb_tile_listed_row(writer, tile, depth) : depth, depth_at);
   const char *guard = rkb_product_operand(writer, &tile->product, side->which,
                                           tile->listed ? row : tile->group, across_at, depth_at, at);
   if (tile->lists_terms && side->which == 0)
      at[0] = rkb_index_constant(&writer->indices, 0);
   return guard;
}

void rkb_tile_look(rkb_writer_t *writer, rkb_product_tile_t *tile, rkb_tile_side_t *side) {
   const rkb_index_t *at[RKB_MAX_RANK];
   const rkb_index_t *a = rkb_index_variable(&writer->indices, "across", side->total),
                     *k = rkb_index_variable(&writer->indices, "depth", tile->total_depth);
   rkb_writer_t trial;
   rkb_writer_try(writer, &trial);
   rkb_tile_operand(&trial, tile, side, a, k, at);
   rkb_writer_tried(writer, &trial);
   side->depth_fast = is_fast(writer, tile->factor[side->which], at, k);
}

static void put_channels_last(const rkb_product_dims_t *rows, rkb_product_dims_t *out) {
   *out = *rows;
   for (uint32_t d = 0; d < rows->count; d++) {
      out->extent[d] = rows->extent[(d + 1) % rows->count];
      out->name[d] = rows->name[(d + 1) % rows->count];
   }
}

void rkb_tile_number_by_taps(rkb_writer_t *writer, rkb_product_tile_t *tile) {
   if (rkb_product_has_taps(&writer->graph->nodes[tile->product.node]))
      put_channels_last(&tile->product.depth, &tile->terms);
}

void rkb_tile_open(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_product_tile_t *tile) {
   const int64_t *d = launch->decisions;
   const uint32_t anchor = launch->anchors[0];
   uint32_t picked = 0; /* the factor that listed rows pick from */
   const bool lists = launch->mapping == RKB_MAP_TENSOR && d[RKB_LISTED],
              listed = lists && rkb_rows_by_matrix_pick(writer->graph, anchor, &picked) != RKB_NO_NODE,
              /* The reference's rows are neighbours in memory. */
      turned = listed ? picked == 0 : rkb_product_is_turned(writer->graph, anchor, launch->roots[0]);
   *tile = (rkb_product_tile_t){.launch = launch, .depth = d[RKB_TILE_K], .block = "(index)blockIdx.x", .listed = listed};
   const uint32_t put = lists ? rkb_rows_by_matrix_put(writer->graph, anchor) : RKB_NO_NODE;
   tile->lists_terms = put != RKB_NO_NODE;
   tile->factor[0] =
      tile->lists_terms ? writer->graph->nodes[put].inputs[0] : writer->graph->nodes[anchor].inputs[0];
   tile->factor[1] = writer->graph->nodes[anchor].inputs[1];
   rkb_product_of(writer, anchor, &tile->product);
   if (launch->mapping == RKB_MAP_TENSOR && d[RKB_PHASES])
      rkb_product_in_phases(writer, &tile->product);
   if (listed) { /* products side by side become rows or columns of one product */
      *(turned ? &tile->product.column : &tile->product.row) = tile->product.group;
      tile->product.group = (rkb_product_dims_t){.total = rkb_index_constant(&writer->indices, 1)};
      tile->leader = rkb_index_variable(&writer->indices, "leader", (turned ? &tile->product.column : &tile->product.row)->total);
   }
   /* The rows of a weight's gradient are channels and taps.  If channels are last in memory, they are last in a tile
    * too. */
   const bool channels_last = turned && writer->graph->nodes[anchor].kind == RKB_NODE_CONVOLUTION_WEIGHT &&
                              rkb_product_fast_dim(writer->graph, anchor, launch->roots[0]) == 1;
   if (channels_last)
      put_channels_last(&tile->product.row, &tile->rows);
   tile->m = (rkb_tile_side_t){.which = turned,
                               .dims = turned ? &tile->product.column : &tile->product.row,
                               .tile = "m_tile",
                               .brought = "m_next",
                               .variable = "m",
                               .end = listed ? "m_end" : NULL,
                               .extent = d[RKB_TILE_M],
                               .width = 1};
   tile->n = (rkb_tile_side_t){.which = !turned,
                               .dims = channels_last ? &tile->rows : turned ? &tile->product.row : &tile->product.column,
                               .channels_last = channels_last,
                               .tile = "n_tile",
                               .brought = "n_next",
                               .variable = "n",
                               .extent = d[RKB_TILE_N],
                               .width = 1};
   tile->m.total = tile->m.dims->total;
   tile->n.total = tile->n.dims->total;
   tile->total_depth = tile->product.depth.total;
   const rkb_product_dims_t *depth = &tile->product.depth;
   if (launch->mapping != RKB_MAP_TENSOR || !d[RKB_TAPS] || d[RKB_VECTOR] == 1 ||
       !rkb_product_has_taps(&writer->graph->nodes[anchor]))
      return;
   tile->total_depth = depth->extent[0];
   tile->taps.total = rkb_index_constant(&writer->indices, 1);
   for (uint32_t t = 1; t < depth->count; t++) {
      tile->taps.name[t - 1] = depth->name[t];
      tile->taps.extent[t - 1] = depth->extent[t];
      tile->tap[t - 1] = rkb_index_variable(&writer->indices, rkb_writer_name(writer, depth->name[t]), depth->extent[t]);
      tile->taps.total = rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, tile->taps.total, depth->extent[t]);
   }
   tile->taps.count = depth->count - 1;
}

static bool is_counted(const rkb_product_tile_t *tile, uint32_t dim) {
   return tile->tap[dim]->kind == RKB_INDEX_VARIABLE;
}

void rkb_tile_begin_terms(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   const long long depth = (long long)tile->depth;
   const bool split = tile->launch->decisions[RKB_SPLIT] > 1;
   const char *rest = rkb_arena_format(writer->arena, "begin / %lld", depth);
   if (!tile->taps.count)
      return;
   /* Taps of the same channels follow each other, because they read almost the same elements. */
   for (uint32_t t = tile->taps.count; t-- > 0;) {
      const char *name = tile->tap[t]->name, *extent = rkb_writer_uniform(writer, tile->taps.extent[t]);
      if (!is_counted(tile, t))
         continue;
      if (split)
         rkb_write(writer, "index next_%s = %s %% %s;", name, rest, extent);
      else
         rkb_write(writer, "index next_%s = 0;", name);
      rest = rkb_arena_format(writer->arena, "%s / %s", rest, extent);
   }
   if (split)
      rkb_write(writer, "index next_k = %s * %lld;", rest, depth);
   else
      rkb_write(writer, "index next_k = 0;");
   rkb_write_open(writer, false, "auto next_terms = [&]");
   for (uint32_t t = tile->taps.count; t-- > 0;) {
      if (!is_counted(tile, t))
         continue;
      rkb_write(writer, "if (++next_%s < %s)", tile->tap[t]->name, rkb_writer_uniform(writer, tile->taps.extent[t]));
      rkb_write(writer, "   return;");
      rkb_write(writer, "next_%s = 0;", tile->tap[t]->name);
   }
   rkb_write(writer, "next_k += %lld;", depth);
   rkb_write_close_with(writer, "};");
}

void rkb_tile_terms(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   if (!tile->taps.count) {
      rkb_write(writer, "const index k_first = first;");
      return;
   }
   rkb_write(writer, "const index k_first = next_k;");
   for (uint32_t t = 0; t < tile->taps.count; t++)
      if (is_counted(tile, t)) {
         rkb_write(writer, "const index %s = next_%s;", tile->tap[t]->name, tile->tap[t]->name);
         rkb_writer_known_variable(writer, tile->tap[t]);
      }
}

void rkb_tile_next_terms(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   if (tile->taps.count)
      rkb_write(writer, "next_terms();");
}

static const rkb_index_t *rounded_up(rkb_writer_t *writer, const rkb_index_t *total, int64_t by) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *whole = rkb_index_constant(indices, by), *one = rkb_index_constant(indices, 1);
   return rkb_index_make(indices, RKB_INDEX_QUOTIENT,
                         rkb_index_make(indices, RKB_INDEX_SUM, total,
                                        rkb_index_make(indices, RKB_INDEX_DIFFERENCE, whole, one)),
                         whole);
}

/* The number of tiles may be one constant in all samples and still differ in other cases. */
const rkb_index_t *rkb_tiles_along(rkb_writer_t *writer, const rkb_index_t *total, int64_t extent) {
   const rkb_index_t *tiles = rounded_up(writer, total, extent);
   if (tiles->kind == RKB_INDEX_CONSTANT && total->kind != RKB_INDEX_CONSTANT &&
       !(rkb_sizes_most(&writer->graph->sizes, rkb_index_manifest(&writer->indices, total)) <= (double)(tiles->constant * extent)))
      rkb_writer_fail(writer, "tiles of %lld are as many in every case that was drawn", (long long)extent);
   return tiles;
}

/* Writes the order of tiles: along m first, over all rows or over `rows` of them, so that blocks that run at the same
 * time share what they read. */
static void write_order(rkb_writer_t *writer, const rkb_product_tile_t *tile, int64_t rows) {
   const char *along_m = rkb_writer_uniform(writer, tile->blocks_m),
              *along_n = rkb_writer_uniform(writer, tile->blocks_n);
   const long long n = (long long)tile->n.extent;
   const char *m = tile->listed ? "list" : "m_first", *times = tile->listed ? "" : rkb_arena_format(writer->arena, " * %lld", (long long)tile->m.extent);
   if (rows == 0) {
      rkb_write(writer, "const index %s = %s %% %s%s, n_first = %s / %s %% %s * %lld;", m, tile->block, along_m, times, tile->block, along_m, along_n, n);
      return;
   }
   rkb_write(writer, "const index tile_number = %s %% (%s * %s), band = tile_number / (%lld * %s) * %lld;", tile->block, along_m,
             along_n, (long long)rows, along_n, (long long)rows);
   rkb_write(writer, "const index band_rows = %s - band < %lld ? %s - band : %lld, band_place = tile_number %% (%lld * %s);",
             along_m, (long long)rows, along_m, (long long)rows, (long long)rows, along_n);
   rkb_write(writer, tile->listed ? "const index %s = band + band_place %% band_rows%s, n_first = band_place / band_rows * %lld;"
                                  : "const index %s = (band + band_place %% band_rows)%s, n_first = band_place / band_rows * %lld;",
             m, times, n);
}

/* Writes the places of the tile's rows in the list.  A block whose tile has no rows has nothing to do. */
static void write_list(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   const char *lists =
      rkb_writer_buffer(writer, rkb_rows_by_matrix_name(writer, tile->product.node), RKB_I32, false);
   const char *rows =
      rkb_writer_buffer(writer, rkb_rows_by_matrix_rows_name(writer, tile->product.node), RKB_I32, false);
   rkb_write(writer, "const index m_first = %s[2 * list], m_end = %s[2 * list + 1];", lists, lists);
   rkb_write(writer, "if (m_first == m_end)");
   rkb_write(writer, "   return;");
   rkb_write(writer, "const index leader = %s[m_first];", rows);
   rkb_writer_known_variable(writer, tile->leader);
}

void rkb_tile_count_blocks(rkb_writer_t *writer, rkb_product_tile_t *tile) {
   tile->blocks_m = tile->listed ? rkb_rows_by_matrix_tiles(writer, tile->product.node, tile->m.extent)
                                 : rkb_tiles_along(writer, tile->m.total, tile->m.extent);
   tile->blocks_n = rkb_tiles_along(writer, tile->n.total, tile->n.extent);
}

/* The number of terms of the current phase, which are numbered tap by tap. */
static const char *phase_terms(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   const rkb_index_t *terms = tile->product.depth.extent[0];
   for (uint32_t d = 0; d + 1 < tile->product.depth.count; d++)
      terms = rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, terms, rkb_product_phase_taps(writer, &tile->product, tile->group, d));
   return rkb_writer_index(writer, terms);
}

void rkb_tile_place(rkb_writer_t *writer, rkb_product_tile_t *tile, int64_t rows) {
   rkb_indices_t *indices = &writer->indices;
   const int64_t *d = tile->launch->decisions;
   rkb_tile_count_blocks(writer, tile);
   write_order(writer, tile, rows);
   if (tile->listed)
      write_list(writer, tile);
   const bool grouped = !rkb_index_is(tile->product.group.total, 1), split = d[RKB_SPLIT] > 1;
   const rkb_index_t *number = rkb_index_constant(indices, 0);
   if (grouped || split)
      rkb_write(writer, "const index rest = %s / %s / %s;", tile->block, rkb_writer_uniform(writer, tile->blocks_m), rkb_writer_uniform(writer, tile->blocks_n));
   if (split)
      rkb_write(writer, "const index part = rest %% %lld;", (long long)d[RKB_SPLIT]);
   if (grouped) {
      rkb_write(writer, "const index group_number = rest / %lld;", (long long)d[RKB_SPLIT]);
      number = rkb_writer_variable(writer, "group_number", tile->product.group.total);
   }
   tile->number = number;
   rkb_product_split(writer, &tile->product.group, number, tile->group);
   /* Each tap has whole steps of its own. */
   const rkb_index_t *whole = tile->total_depth;
   if (tile->taps.count)
      whole = rkb_index_make(indices, RKB_INDEX_PRODUCT,
                             rkb_index_make(indices, RKB_INDEX_PRODUCT, rounded_up(writer, tile->total_depth, tile->depth),
                                            rkb_index_constant(indices, tile->depth)),
                             tile->taps.total);
   if (tile->lists_terms) {
      const char *lists = rkb_writer_buffer(writer, rkb_rows_by_matrix_name(writer, tile->product.node),
                                            RKB_I32, false),
                 *own = rkb_writer_index(writer, number);
      rkb_write(writer, "const index begin = %s[2 * %s], end = %s[2 * %s + 1];", lists, own, lists, own);
      return;
   }
   const char *all = tile->product.in_phases && tile->terms.count ? phase_terms(writer, tile) : rkb_writer_uniform(writer, whole);
   if (split) {
      const int64_t step = d[RKB_SPLIT] * tile->depth;
      const rkb_index_t *share = rkb_index_make(indices, RKB_INDEX_PRODUCT,
                                                rounded_up(writer, whole, step),
                                                rkb_index_constant(indices, tile->depth));
      rkb_check_share(writer, share, whole);
      const char *chunk = rkb_writer_uniform(writer, share);
      rkb_write(writer, "const index begin = part * %s, end = begin + %s < %s ? begin + %s : %s;", chunk,
                chunk, all, chunk, all);
   } else
      rkb_write(writer, "const index begin = 0, end = %s;", all);
}

/* Stores one part of a split sum.  For a vector, gathers the parts in the loop over lanes and stores them after it. */
static void write_part(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_launch_t *launch,
                       uint32_t width, const rkb_index_t *element, const char *sum) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_node_t *node = &writer->graph->nodes[tile->product.node];
   const rkb_index_t *elements = rkb_index_elements(indices, node->rank, node->shape), *lane = writer->lane,
                     *base = lane ? rkb_index_replace(indices, element, lane, rkb_index_constant(indices, 0))
                                  : element;
   const bool together = lane && launch->decisions[RKB_COPY] == RKB_COPY_TENSOR &&
                         rkb_index_make(indices, RKB_INDEX_SUM, base, lane) == element &&
                         rkb_index_divides(base, width) && rkb_index_divides(elements, width);
   const char *buffer = rkb_parts_name(writer, tile->product.node),
              *all = rkb_writer_uniform(writer, elements);
   rkb_writer_buffer(writer, buffer, RKB_F32, true);
   if (!together) {
      rkb_write(writer, "%s[part * %s + %s] = %s;", buffer, all, rkb_writer_index(writer, element), sum);
      rkb_close_lanes(writer);
      return;
   }
   rkb_writer_index(writer, base); /* the parts of the index are written now, before the loop */
   const uint32_t inner = writer->depth;
   writer->depth = writer->lane_depth - 1;
   const char *pack = rkb_writer_name(writer, "parts");
   rkb_write(writer, "Pack<%u> %s;", width, pack);
   writer->depth = inner;
   rkb_write(writer, "%s.at[%s] = %s;", pack, lane->name, sum);
   rkb_close_lanes(writer);
   rkb_write(writer, "*(Pack<%u> *)(%s + part * %s + %s) = %s;", width, buffer, all,
             rkb_writer_index(writer, base), pack);
}

void rkb_tile_result(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_launch_t *launch,
                     uint32_t width, const char *sum) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *at[RKB_MAX_RANK], *m_at[RKB_MAX_RANK], *n_at[RKB_MAX_RANK];
   const rkb_index_t *m = rkb_writer_variable(writer, "m", tile->m.total);
   const rkb_index_t *n =
      rkb_writer_known_variable(writer, width > 1 ? rkb_index_multiple(indices, "n", tile->n.total, width)
                                                  : rkb_index_variable(indices, "n", tile->n.total));
   rkb_write_open(writer, true, "if (m < %s && n < %s)", tile->m.end ? tile->m.end : rkb_writer_uniform(writer, tile->m.total),
                  rkb_writer_uniform(writer, tile->n.total));
   const rkb_index_t *row[RKB_MAX_RANK] = {
      tile->listed ? rkb_rows_by_matrix_row(writer, tile->product.node, "m") : NULL};
   const rkb_index_t *lane = rkb_open_lanes(writer, width);
   split_side(writer, &tile->m, m, m_at);
   if (width > 1) {
      /* The places of a vector's first lane come first, because those of the other lanes follow from them. */
      split_side(writer, &tile->n, n, n_at);
      rkb_index_make(indices, RKB_INDEX_SUM, n_at[tile->n.channels_last ? 0 : tile->n.dims->count - 1], lane);
   }
   split_side(writer, &tile->n, width > 1 ? rkb_index_make(indices, RKB_INDEX_SUM, n, lane) : n, n_at);
   if (tile->listed)
      m_at[0] = rkb_index_constant(indices, 0);
   rkb_product_output(writer, &tile->product, tile->listed ? row : tile->group, tile->m.which == 0 ? m_at : n_at,
                      tile->m.which == 0 ? n_at : m_at, at);
   rkb_writer_know(writer, tile->product.node, at, sum);
   for (uint32_t b = 0; b < tile->beside_count; b++)
      rkb_writer_know(writer, tile->beside[b].node, at, tile->beside[b].text);
   if (launch->decisions[RKB_SPLIT] > 1) {
      write_part(writer, tile, launch, width,
                 rkb_product_join(writer, tile->product.node, launch->roots[0], at), sum);
   } else
      rkb_write_roots(writer, launch, tile->product.node, at);
   rkb_write_close(writer);
}

const rkb_index_t *rkb_tile_count(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *tiles = rkb_index_make(indices, RKB_INDEX_PRODUCT, tile->blocks_m, tile->blocks_n),
                     *parts = rkb_index_constant(indices, tile->launch->decisions[RKB_SPLIT]);
   tiles = rkb_index_make(indices, RKB_INDEX_PRODUCT, tiles, tile->product.group.total);
   return rkb_index_make(indices, RKB_INDEX_PRODUCT, tiles, parts);
}

void rkb_tile_shape(rkb_writer_t *writer, const rkb_product_tile_t *tile, const char *owns,
                    rkb_kernel_shape_t *shape) {
   const int64_t *d = tile->launch->decisions;
   const char *grid = rkb_index_manifest(
      &writer->indices, rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, tile->blocks_m, tile->blocks_n));
   *shape = (rkb_kernel_shape_t){
      .threads = tile->threads,
      .blocks = d[RKB_BLOCKS],
      .grid = rkb_arena_format(writer->arena, tile->listed ? "(%s) * (%s) * %lld" : "%s * (%s) * %lld", grid,
                               rkb_index_manifest(&writer->indices, tile->product.group.total),
                               (long long)d[RKB_SPLIT]),
      .owns = rkb_arena_format(
         writer->arena, "A block owns a tile of %lld x %lld elements of %s; a %s", (long long)tile->m.extent,
         (long long)tile->n.extent, writer->graph->nodes[tile->product.node].name, owns)};
}
