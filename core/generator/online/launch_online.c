/* Kernels that go over a matrix of scores without storing it.  One launch computes the products that make scores, functions of the scores
 * element by element, row statistics (largest, sums) as running numbers, and products of the results with other rows.  One thread writes
 * them.
 *
 * A block owns some rows (or columns: `own`) of the matrix and streams over the others.  When the running largest grows, the sums so far
 * are rescaled (Milakov and Gimelshein: 'Online normalizer calculation for softmax', 2018; Dao et al.: 'FlashAttention', 2022).  This is
 * right where terms are proportional to exp(-largest), and sums to its inverse; row_scaling.c finds out by the rules of products and
 * quotients.  If a value is not proportional, the launch is refused; its statistics must then be in memory before it runs.
 *
 * All tiles lie in shared memory as rows with 4 numbers of padding, so that both kinds of product read four neighbours at once. */
#include "generator/online/launch_online.h"

#include <string.h>
#include "generator/online/online.h"
#include "generator/online/online_score_kinds.h"
#include "generator/online/online_warpgroups.h"

/* Brings the rows of a tile from memory; rows that do not exist are zero. */
static void write_bring(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile) {
   rkb_indices_t *indices = &writer->indices;
   const int64_t width = o->launch->decisions[RKB_VECTOR] < 4 ? 4 : o->launch->decisions[RKB_VECTOR], packs = tile->width / width;
   const rkb_index_t *loaded[RKB_MAX_RANK], *total = tile->own ? o->own_total : o->stream_total;
   const rkb_node_t *node = &writer->graph->nodes[tile->node];
   const char *number = tile->own ? "m" : "n";
   rkb_write_open(writer, false, "for (int slot = threadIdx.x; slot < %lld; slot += %lld)", (long long)(tile->rows * packs),
                  (long long)o->threads);
   rkb_write(writer, "const int row = slot / %lld, u = slot %% %lld * %lld;", (long long)packs, (long long)packs, (long long)width);
   rkb_write(writer, "const index %s = %s_first + row;", number, number);
   rkb_write(writer, "Pack<4> brought[%lld] = {};", (long long)width / 4);
   const rkb_index_t *place = rkb_writer_variable(writer, number, total),
                     *inner = rkb_writer_known_variable(
                        writer, rkb_index_multiple(indices, "u", rkb_index_constant(indices, tile->width), width));
   rkb_write_open(writer, true, "if (%s < %s)", number, rkb_writer_uniform(writer, total));
   const rkb_index_t *lane = rkb_open_lanes(writer, (uint32_t)width);
   rkb_index_make(indices, RKB_INDEX_SUM, inner, lane);
   for (uint32_t d = 0; d < node->rank; d++) {
      loaded[d] = rkb_index_replace(indices, tile->at[d], tile->own ? o->own : o->stream, place);
      loaded[d] = rkb_index_replace(indices, loaded[d], tile->inner, rkb_index_make(indices, RKB_INDEX_SUM, inner, lane));
   }
   rkb_write(writer, "brought[%s / 4].at[%s %% 4] = %s;", lane->name, lane->name, rkb_write_float(writer, tile->node, loaded).text);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)width / 4);
   rkb_write(writer, "   *(Pack<4> *)(%s + row * %lld + u + 4 * i) = brought[i];", tile->name, (long long)(tile->width + RKB_ONLINE_PADDING));
   rkb_write_close(writer);
}

static void write_scores(rkb_writer_t *writer, const rkb_online_t *o, uint32_t s) {
   const rkb_brought_t *own = &o->brought[o->factors[s].own], *streamed = &o->brought[o->factors[s].streamed];
   const char *name = o->score_names[s];
   rkb_write(writer, "float %s[%lld][%lld] = {};", name, (long long)o->rows, (long long)o->columns);
   rkb_write(writer, "#pragma unroll 4");
   rkb_write_open(writer, false, "for (int u = 0; u < %lld; u += 4)", (long long)own->width);
   rkb_write(writer, "Pack<4> left[%lld];", (long long)o->rows);
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "   left[i] = *(const Pack<4> *)(%s + (down + i * %lld) * %lld + u);", own->name, (long long)o->down,
             (long long)(own->width + RKB_ONLINE_PADDING));
   rkb_write_open(writer, false, "for (int j = 0; j < %lld; j++)", (long long)o->columns);
   rkb_write(writer, "const Pack<4> right = *(const Pack<4> *)(%s + (across + j * %lld) * %lld + u);", streamed->name,
             (long long)o->across, (long long)(streamed->width + RKB_ONLINE_PADDING));
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "   for (int e = 0; e < 4; e++)");
   rkb_write(writer, "      %s[i][j] += left[i].at[e] * right.at[e];", name);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

static void write_add(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out) {
   const rkb_brought_t *rows = &o->brought[o->out_brought[out]];
   rkb_write(writer, "#pragma unroll 2");
   rkb_write_open(writer, false, "for (int n = 0; n < %lld; n += 4)", (long long)o->stream_tile);
   rkb_write(writer, "Pack<4> left[%lld];", (long long)o->rows);
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "   left[i] = *(const Pack<4> *)(%s + (down + i * %lld) * %lld + n);", o->made_tiles[out], (long long)o->down,
             (long long)(o->stream_tile + RKB_ONLINE_PADDING));
   rkb_write_open(writer, false, "for (int e = 0; e < 4; e++)");
   rkb_write(writer, "Pack<4> right[%lld];", (long long)o->out_columns / 4);
   rkb_write(writer, "for (int j = 0; j < %lld; j++)", (long long)o->out_columns / 4);
   rkb_write(writer, "   right[j] = *(const Pack<4> *)(%s + (n + e) * %lld + across * 4 + j * %lld);", rows->name,
             (long long)(rows->width + RKB_ONLINE_PADDING), (long long)(4 * o->across));
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "   for (int j = 0; j < %lld; j++)", (long long)o->out_columns);
   rkb_write(writer, "      %s[i][j] += left[i].at[e] * right[j / 4].at[j %% 4];", o->out_names[out]);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

/* A thread has rows and columns of the scores, and all threads of a row's columns are neighbours. */
static void set_threads(rkb_writer_t *writer, rkb_online_t *o) {
   const int64_t *d = o->launch->decisions;
   o->rows = d[RKB_THREAD_M];
   o->out_columns = d[RKB_THREAD_N];
   o->across = o->head ? o->head / o->out_columns : o->stream_tile / o->out_columns;
   o->down = o->own_tile / o->rows;
   o->threads = o->across * o->down;
   o->columns = o->across ? o->stream_tile / o->across : 0;
   if (o->own_tile % o->rows || (o->head && (o->head % o->out_columns || o->out_columns % 4)) || o->across < 1 || o->across > 32 ||
       (o->across & (o->across - 1)) || o->stream_tile % o->across || o->threads < 32 || o->threads > 1024 || o->threads % 32 ||
       o->rows * (o->columns * o->nodes.score_count + o->out_columns * o->nodes.out_count) > 192)
      rkb_writer_fail(writer, "threads do not divide the tiles");
   o->own_at = rkb_arena_format(writer->arena, "down + i * %lld", (long long)o->down);
   o->streamed_at = rkb_arena_format(writer->arena, "across + j * %lld", (long long)o->across);
   o->first_lane = "across == 0";
}

/* A warp has fragments of 16 rows by 8 columns; four lanes share a row. */
static void set_warps(rkb_writer_t *writer, rkb_online_t *o) {
   const int64_t *d = o->launch->decisions;
   o->tensor = rkb_fragment_type(d[RKB_TENSOR]);
   o->warp_m = d[RKB_WARP_M];
   o->warp_n = d[RKB_WARP_N];
   o->rows = o->warp_m / 8;
   o->columns = o->warp_n / 4;
   o->out_columns = o->head / 4;
   o->across = 4;
   o->threads = o->own_tile / o->warp_m * (o->stream_tile / o->warp_n) * 32;
   /* Values computed from scores take the registers of the scores. */
   const int64_t scores = o->nodes.score_count > o->nodes.out_count ? o->nodes.score_count : o->nodes.out_count,
                 numbers = o->rows * (o->columns * scores + o->out_columns * o->nodes.out_count);
   if (numbers > 200 || (numbers + 40) * o->threads > 65536)
      rkb_writer_fail(writer, "a warp's scores and products need more registers than there are");
   o->keeps = d[RKB_KEEP] > 0;
   o->own_at = "warp_m + lane / 4 + i * 8";
   o->streamed_at = "warp_n + lane % 4 * 2 + j / 2 * 8 + j % 2";
   o->first_lane = o->stream_tile == o->warp_n ? "lane % 4 == 0" : "lane % 4 == 0 && warp_n == 0";
}

static void set_shape(rkb_writer_t *writer, rkb_online_t *o) {
   const int64_t *d = o->launch->decisions;
   const rkb_graph_t *graph = writer->graph;
   rkb_indices_t *indices = &writer->indices;
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      rkb_product_of(writer, o->nodes.outs[i], &o->products[i]);
   if (o->nodes.out_count) {
      const rkb_product_t *product = &o->products[0];
      const bool left = o->nodes.made_side[0] == 0;
      o->own_total = left ? product->row.total : product->column.total;
      o->stream_total = product->depth.total;
      o->group_total = product->group.total;
      if (rkb_online_is_width(writer, left ? product->column.total : product->row.total))
         o->head = (left ? product->column.total : product->row.total)->constant;
   } else {
      const rkb_node_t *reduce = &graph->nodes[o->nodes.reduces[0]], *from = &graph->nodes[reduce->inputs[0]];
      if (from->rank < 2 || reduce->mask != UINT64_C(1) << (from->rank - 1)) {
         rkb_writer_fail(writer, "%s is no statistic of rows", reduce->name);
         return;
      }
      o->own_total = rkb_index_size(indices, from->shape[from->rank - 2]);
      o->stream_total = rkb_index_size(indices, from->shape[from->rank - 1]);
      o->group_total = rkb_index_elements(indices, from->rank - 2, from->shape);
   }
   rkb_online_set_totals(writer, o);
   o->own_tile = d[RKB_TILE_M];
   o->stream_tile = d[RKB_TILE_N];
   if (o->launch->mapping == RKB_MAP_ONLINE_TENSOR && d[RKB_COPY] == RKB_COPY_TENSOR)
      rkb_online_set_warpgroups(writer, o);
   else if (o->launch->mapping == RKB_MAP_ONLINE_TENSOR)
      set_warps(writer, o);
   else
      set_threads(writer, o);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++) {
      const rkb_node_t *reduce = &graph->nodes[o->nodes.reduces[r]], *from = &graph->nodes[reduce->inputs[0]];
      if (reduce->mask != UINT64_C(1) << (from->rank - 1) || (strcmp(reduce->operation, "sum") != 0 && strcmp(reduce->operation, "amax") != 0) ||
          rkb_index_size(indices, from->shape[from->rank - 1]) != o->stream_total)
         rkb_writer_fail(writer, "%s is no statistic of rows", reduce->name);
   }
   for (uint32_t i = 1; i < o->nodes.out_count; i++) {
      const rkb_product_t *product = &o->products[i];
      const bool left = o->nodes.made_side[i] == 0;
      if ((left ? product->row.total : product->column.total) != o->own_total || product->depth.total != o->stream_total ||
          product->group.total != o->group_total || !rkb_index_is(left ? product->column.total : product->row.total, o->head))
         rkb_writer_fail(writer, "products have other rows");
   }
}

static const char *take(rkb_writer_t *writer, const char *name) {
   const char *taken = rkb_writer_name(writer, name);
   rkb_writer_know(writer, 0, (const rkb_index_t *const[RKB_MAX_RANK]){0}, taken);
   return taken;
}

/* The tiles side by side; returns their bytes. */
static int64_t write_tiles(rkb_writer_t *writer, rkb_online_t *o) {
   int64_t floats = 0;
   for (uint32_t b = 0; b < o->brought_count; b++)
      floats += o->brought[b].rows * (o->brought[b].width + RKB_ONLINE_PADDING);
   floats += o->nodes.out_count * o->own_tile * (o->stream_tile + RKB_ONLINE_PADDING);
   const bool extern_memory = 4 * floats > 48 << 10;
   rkb_write(writer, extern_memory ? "extern __shared__ __align__(16) float floats[];" : "__shared__ __align__(16) float floats[%lld];",
             (long long)floats);
   int64_t first = 0;
   for (uint32_t b = 0; b < o->brought_count; b++) {
      rkb_write(writer, "float *const %s = floats + %lld;", o->brought[b].name, (long long)first);
      first += o->brought[b].rows * (o->brought[b].width + RKB_ONLINE_PADDING);
   }
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      rkb_write(writer, "float *const %s = floats + %lld;", o->made_tiles[i], (long long)first);
      first += o->own_tile * (o->stream_tile + RKB_ONLINE_PADDING);
   }
   return extern_memory ? 4 * floats : 0;
}

/* The own rows, and empty sums. */
static void write_start(rkb_writer_t *writer, rkb_online_t *o) {
   const uint32_t largest = rkb_online_largest(writer, o);
   for (uint32_t b = 0; b < o->brought_count && !o->tensor; b++)
      if (o->brought[b].own)
         write_bring(writer, o, &o->brought[b]);
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      if (o->tensor)
         rkb_write(writer, "float %s[%lld][%lld][4] = {};", o->out_names[i], (long long)o->rows / 2, (long long)o->out_columns / 2);
      else
         rkb_write(writer, "float %s[%lld][%lld] = {};", o->out_names[i], (long long)o->rows, (long long)o->out_columns);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      rkb_write(writer, "float %s[%lld] = {};", o->reduce_names[r], (long long)o->rows);
   if (largest < RKB_ONLINE_MANY) {
      rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
      rkb_write(writer, "   %s[i] = -INFINITY;", o->reduce_names[largest]);
   }
}

static void write_stream(rkb_writer_t *writer, rkb_online_t *o) {
   rkb_write_open(writer, false, "for (index n_first = begin; n_first < end; n_first += %lld)", (long long)o->stream_tile);
   rkb_write(writer, "__syncthreads(); /* the tiles before are used up */");
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (!o->brought[b].own)
         write_bring(writer, o, &o->brought[b]);
   rkb_write(writer, "__syncthreads();");
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      write_scores(writer, o, s);
   rkb_online_write_made(writer, o);
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      write_add(writer, o, i);
   rkb_write_close(writer);
}

/* The same by tensor cores. */
static void write_fragments(rkb_writer_t *writer, rkb_online_t *o) {
   rkb_online_write_lanes(writer, o);
   rkb_online_bring_own(writer, o);
   rkb_online_open_stream(writer, o);
   rkb_online_write_fragments(writer, o);
   rkb_online_write_made(writer, o);
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      rkb_online_add_fragments(writer, o, i);
   rkb_online_close_stream(writer, o);
}

void rkb_write_online_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const rkb_graph_t *graph = writer->graph;
   rkb_indices_t *indices = &writer->indices;
   rkb_online_t *o = rkb_arena_array(writer->arena, 1, sizeof *o);
   *o = (rkb_online_t){.launch = launch, .length = RKB_NO_NODE, .scaled = RKB_NO_NODE, .share = RKB_NO_NODE};
   o->scaled_largest = RKB_NO_NODE;
   for (uint32_t i = 0; i < RKB_ONLINE_MANY; i++)
      o->later[i] = RKB_NO_NODE;
   if (!rkb_online_nodes(graph, launch, &o->nodes)) {
      rkb_writer_fail(writer, "these nodes are no scores with statistics or products");
      return;
   }
   set_shape(writer, o);
   if (writer->failed)
      return;
   const rkb_index_t *groups = o->turns ? o->total_extent : o->group_total;
   o->group_extent = groups->kind == RKB_INDEX_CONSTANT ? NULL : groups;
   o->own = rkb_index_variable(indices, "m", o->own_total);
   o->stream = rkb_index_variable(indices, "n", o->stream_total);
   rkb_online_find_places(writer, o);
   if (!writer->failed)
      rkb_online_find_factors(writer, o);
   if (!writer->failed)
      rkb_online_find_totals(writer, o);
   if (writer->failed)
      return;
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      o->score_names[s] = take(writer, graph->nodes[o->nodes.scores[s]].name);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      o->reduce_names[r] = take(writer, graph->nodes[o->nodes.reduces[r]].name);
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      const rkb_node_t *node = &graph->nodes[o->nodes.outs[i]], *made = &graph->nodes[node->inputs[o->nodes.made_side[i]]];
      o->out_names[i] = take(writer, node->name);
      o->made_names[i] = take(writer, rkb_arena_format(writer->arena, "%s_made", made->name));
      o->made_tiles[i] = take(writer, rkb_arena_format(writer->arena, "%s_tile", made->name));
   }
   const bool several = rkb_online_is_several(&o->nodes);
   const int64_t bytes = o->groups   ? (several ? rkb_online_open_several : rkb_online_open_warpgroups)(writer, o)
                         : o->tensor ? rkb_online_write_stages(writer, o)
                                     : write_tiles(writer, o);
   if (bytes > writer->shared_bytes)
      rkb_writer_fail(writer, "the tiles need more shared memory than a block has");
   const rkb_index_t *tile = rkb_index_constant(indices, o->own_tile);
   const rkb_index_t *blocks = rkb_index_make(
      indices, RKB_INDEX_QUOTIENT,
      rkb_index_make(indices, RKB_INDEX_SUM, o->own_total, rkb_index_constant(indices, o->own_tile - 1)), tile);
   rkb_online_find_bounds(writer, o);
   rkb_online_write_place(writer, o, blocks);
   if (o->groups)
      (several ? rkb_online_write_several : rkb_online_write_warpgroups)(writer, o);
   else
      write_start(writer, o);
   if (!o->groups && o->tensor)
      write_fragments(writer, o);
   else if (!o->groups)
      write_stream(writer, o);
   if (writer->failed)
      return;
   rkb_online_write_results(writer, o);
   const uint32_t first = o->nodes.out_count ? o->nodes.outs[0] : o->nodes.reduces[0];
   *shape = (rkb_kernel_shape_t){
      .threads = o->threads,
      .shared = bytes,
      .blocks = o->groups && !launch->decisions[RKB_BLOCKS] ? 1 : launch->decisions[RKB_BLOCKS], /* setmaxnreg needs a bound */
      .grid = rkb_arena_format(writer->arena, "(%s) * (%s)",
                               blocks->kind == RKB_INDEX_CONSTANT ? rkb_ceildiv(writer, o->own_total, o->own_tile)
                                                                  : rkb_index_manifest(indices, blocks),
                               rkb_index_manifest(indices, groups)),
      .owns = rkb_arena_format(writer->arena, "A block owns %lld rows of %s and goes over the scores %lld at a time; none of them is stored.",
                               (long long)o->own_tile, graph->nodes[first].name, (long long)o->stream_tile)};
}
