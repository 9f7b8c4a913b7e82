/* Kernels that compute tiles of a product: both factors' tiles are brought to shared memory, terms of depth in the outer loop.  A
 * convolution is a product through its index maps.  One thread writes them.
 *
 * The tile's columns (n) run along the output's fastest dim: for a convolution these are the reference's rows, its pixels. */
#include <string.h>
#include "generator/launch_text.h"
#include "generator/product.h"

#define PADDING                                                                                              \
   4 /* columns added to a tile in shared memory, so that its rows begin in other banks; keeps vectors aligned */

typedef struct side {
   uint32_t which; /* the factor: 0 left, 1 right */
   const rkb_product_dims_t *dims;
   const char *tile, *brought; /* names */
   const char *variable;       /* "m" or "n" */
   int64_t extent;             /* of the tile */
   bool depth_fast;            /* neighbours along depth lie side by side in memory */
   uint32_t width;
} side_t;

typedef struct tile {
   const rkb_launch_t *launch;
   rkb_product_t product;
   side_t m, n;
   int64_t threads, depth;
   const rkb_index_t *group[RKB_MAX_RANK];
   const rkb_index_t *total_m, *total_n, *total_depth, *blocks_m, *blocks_n;
} tile_t;

/* Whether an element's number grows by one with the variable, in most samples, wherever the value's largest operand lies. */
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

static void look_at(rkb_writer_t *writer, tile_t *tile, side_t *side) {
   const rkb_index_t *across[RKB_MAX_RANK], *depth[RKB_MAX_RANK], *at[RKB_MAX_RANK];
   const rkb_index_t *a = rkb_index_variable(&writer->indices, "across", side->dims->total),
                     *k = rkb_index_variable(&writer->indices, "depth", tile->total_depth);
   rkb_product_split(writer, side->dims, a, across);
   rkb_product_split(writer, &tile->product.depth, k, depth);
   /* The guard's text is of no use here, and its parts cannot be written: the variables are no one's.  A copy of the writer takes them. */
   rkb_writer_t trial = *writer;
   trial.known = NULL;
   trial.known_count = trial.known_room = 0;
   for (uint32_t b = 0; b < RKB_MAX_BLOCKS; b++)
      rkb_text_init(&trial.blocks[b].text, RKB_KERNEL_BYTES);
   rkb_product_operand(&trial, &tile->product, side->which, tile->group, across, depth, at);
   memcpy(writer->indices.buckets, trial.indices.buckets, sizeof trial.indices.buckets);
   writer->indices.stream = trial.indices.stream;
   rkb_writer_close(&trial);
   side->depth_fast = is_fast(writer, writer->graph->nodes[tile->product.node].inputs[side->which], at, k);
}

/* Brings a thread's share of a factor's tile from memory into registers. */
static void write_fetch(rkb_writer_t *writer, tile_t *tile, side_t *side, const rkb_index_t *first) {
   rkb_indices_t *indices = &writer->indices;
   const int64_t items = side->extent * tile->depth / (tile->threads * side->width);
   const rkb_index_t *slots = rkb_index_constant(indices, side->extent * tile->depth / side->width);
   const char *item = rkb_writer_name(writer, "item"), *slot = rkb_writer_name(writer, "slot");
   rkb_write_open(writer, false, "for (int %s = 0; %s < %lld; %s++)", item, item, (long long)items, item);
   rkb_write(writer, "const int %s = %s * %lld + threadIdx.x;", slot, item, (long long)tile->threads);
   const rkb_index_t *number = rkb_writer_variable(writer, slot, slots);
   const int64_t fast = (side->depth_fast ? tile->depth : side->extent) / side->width;
   const rkb_index_t *quotient =
      rkb_index_make(indices, RKB_INDEX_QUOTIENT, number, rkb_index_constant(indices, fast));
   const rkb_index_t *remainder =
      rkb_index_make(indices, RKB_INDEX_PRODUCT,
                     rkb_index_make(indices, RKB_INDEX_REMAINDER, number, rkb_index_constant(indices, fast)),
                     rkb_index_constant(indices, side->width));
   const rkb_index_t *in_depth = side->depth_fast ? remainder : quotient,
                     *in_across = side->depth_fast ? quotient : remainder;
   const char *origin = rkb_arena_format(writer->arena, "%s_first", side->variable);
   const char *across_name = rkb_writer_name(writer, side->variable),
              *depth_name = rkb_writer_name(writer, "k");
   rkb_write(writer, "const index %s = %s + %s, %s = %s + %s;", across_name, origin,
             rkb_writer_index(writer, in_across), depth_name, first->name,
             rkb_writer_index(writer, in_depth));
   const rkb_index_t *total = side == &tile->m ? tile->total_m : tile->total_n;
   const bool vector = side->width > 1; /* the fast one is a multiple of the width: an access is aligned */
   const rkb_index_t *a =
      vector && !side->depth_fast
         ? rkb_writer_known_variable(writer, rkb_index_multiple(indices, across_name, total, side->width))
         : rkb_writer_variable(writer, across_name, total);
   const rkb_index_t *k =
      vector && side->depth_fast
         ? rkb_writer_known_variable(writer,
                                     rkb_index_multiple(indices, depth_name, tile->total_depth, side->width))
         : rkb_writer_variable(writer, depth_name, tile->total_depth);
   rkb_write(writer, "for (int lane = 0; lane < %u; lane++)", side->width);
   rkb_write(writer, "   %s[%s * %u + lane] = 0.0f;", side->brought, item, side->width);
   rkb_write_open(writer, true, "if (%s < %s && %s < end)", across_name, rkb_writer_uniform(writer, total),
                  depth_name);
   const rkb_index_t *across[RKB_MAX_RANK], *depth[RKB_MAX_RANK], *at[RKB_MAX_RANK];
   const rkb_index_t *lane = rkb_open_lanes(writer, side->width);
   const rkb_index_t *whole_a = a, *whole_k = k;
   if (side->width > 1) {
      if (side->depth_fast)
         whole_k = rkb_index_make(indices, RKB_INDEX_SUM, k, lane);
      else
         whole_a = rkb_index_make(indices, RKB_INDEX_SUM, a, lane);
   }
   rkb_product_split(writer, side->dims, whole_a, across);
   rkb_product_split(writer, &tile->product.depth, whole_k, depth);
   const char *guard =
      rkb_product_operand(writer, &tile->product, side->which, tile->group, across, depth, at);
   if (guard)
      rkb_write_open(writer, true, "if (%s)", guard);
   const rkb_term_t term =
      rkb_write_float(writer, writer->graph->nodes[tile->product.node].inputs[side->which], at);
   rkb_write(writer, "%s[%s%s] = %s;", side->brought, item,
             side->width > 1 ? rkb_arena_format(writer->arena, " * %u + lane", side->width) : "", term.text);
   if (guard)
      rkb_write_close(writer);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

static void write_put(rkb_writer_t *writer, const tile_t *tile, const side_t *side) {
   const int64_t items = side->extent * tile->depth / (tile->threads * side->width),
                 fast = (side->depth_fast ? tile->depth : side->extent) / side->width;
   rkb_write_open(writer, false, "for (int item = 0; item < %lld; item++)", (long long)items);
   rkb_write(writer, "const int slot = item * %lld + threadIdx.x;", (long long)tile->threads);
   rkb_write(writer, "for (int lane = 0; lane < %u; lane++)", side->width);
   if (side->depth_fast)
      rkb_write(writer, "   %s[slot %% %lld * %u + lane][slot / %lld] = %s[item * %u + lane];", side->tile,
                (long long)fast, side->width, (long long)fast, side->brought, side->width);
   else
      rkb_write(writer, "   %s[slot / %lld][slot %% %lld * %u + lane] = %s[item * %u + lane];", side->tile,
                (long long)fast, (long long)fast, side->width, side->brought, side->width);
   rkb_write_close(writer);
}

/* A thread's own rows or columns: groups of up to four side by side, the groups spread over the tile, so that the lanes of a warp
 * read shared memory without conflicts. */
static const char *own(rkb_writer_t *writer, const char *thread, int64_t extent, int64_t mine,
                       const char *number) {
   const int64_t together = mine < 4 ? mine : 4;
   if (mine <= 4)
      return rkb_arena_format(writer->arena, "%s * %lld + %s", thread, (long long)together, number);
   return rkb_arena_format(writer->arena, "%s / %lld * %lld + %s * %lld + %s %% %lld", number,
                           (long long)together, (long long)(extent / mine * together), thread,
                           (long long)together, number, (long long)together);
}

/* Reads a thread's terms of one depth: vectors where they lie side by side. */
static void write_terms(rkb_writer_t *writer, const side_t *side, const char *name, const char *thread,
                        int64_t mine) {
   const int64_t together = mine < 4 ? mine : 4;
   if (together == 1) {
      rkb_write(writer, "const float %s_terms[1] = {%s[k][%s]};", name, side->tile, thread);
      return;
   }
   rkb_write(writer, "float %s_terms[%lld];", name, (long long)mine);
   rkb_write(writer, "for (int i = 0; i < %lld; i += %lld)", (long long)mine, (long long)together);
   rkb_write(writer, "   *(Pack<%lld> *)(%s_terms + i) = *(const Pack<%lld> *)&%s[k][%s];",
             (long long)together, name, (long long)together, side->tile,
             own(writer, thread, side->extent, mine, "i"));
}

static void write_multiply(rkb_writer_t *writer, const tile_t *tile) {
   const int64_t m = tile->launch->decisions[RKB_THREAD_M], n = tile->launch->decisions[RKB_THREAD_N];
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int k = 0; k < %lld; k++)", (long long)tile->depth);
   write_terms(writer, &tile->m, "m", "thread_m", m);
   write_terms(writer, &tile->n, "n", "thread_n", n);
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)m);
   rkb_write(writer, "   for (int j = 0; j < %lld; j++)", (long long)n);
   rkb_write(writer, "      sums[i][j] += m_terms[i] * n_terms[j];");
   rkb_write_close(writer);
}

/* The block's place: tiles along m follow each other, so that blocks that run together share the columns' factor. */
static void write_place(rkb_writer_t *writer, tile_t *tile) {
   rkb_indices_t *indices = &writer->indices;
   const int64_t *d = tile->launch->decisions;
   const rkb_index_t *m = rkb_index_constant(indices, d[RKB_TILE_M]),
                     *n = rkb_index_constant(indices, d[RKB_TILE_N]), *one = rkb_index_constant(indices, 1);
   const rkb_index_t *up_m = rkb_index_make(indices, RKB_INDEX_SUM, tile->total_m,
                                            rkb_index_make(indices, RKB_INDEX_DIFFERENCE, m, one));
   const rkb_index_t *up_n = rkb_index_make(indices, RKB_INDEX_SUM, tile->total_n,
                                            rkb_index_make(indices, RKB_INDEX_DIFFERENCE, n, one));
   tile->blocks_m = rkb_index_make(indices, RKB_INDEX_QUOTIENT, up_m, m);
   tile->blocks_n = rkb_index_make(indices, RKB_INDEX_QUOTIENT, up_n, n);
   const char *along_m = rkb_writer_uniform(writer, tile->blocks_m),
              *along_n = rkb_writer_uniform(writer, tile->blocks_n);
   rkb_write(
      writer,
      "const index m_first = (index)blockIdx.x %% %s * %lld, n_first = (index)blockIdx.x / %s %% %s * %lld;",
      along_m, (long long)d[RKB_TILE_M], along_m, along_n, (long long)d[RKB_TILE_N]);
   rkb_write(writer, "const int thread_m = threadIdx.x / %lld, thread_n = threadIdx.x %% %lld;",
             (long long)(d[RKB_TILE_N] / d[RKB_THREAD_N]), (long long)(d[RKB_TILE_N] / d[RKB_THREAD_N]));
   const bool grouped = !rkb_index_is(tile->product.group.total, 1), split = d[RKB_SPLIT] > 1;
   const rkb_index_t *number = rkb_index_constant(indices, 0);
   if (grouped || split)
      rkb_write(writer, "const index rest = (index)blockIdx.x / %s / %s;", along_m, along_n);
   if (split)
      rkb_write(writer, "const index part = rest %% %lld;", (long long)d[RKB_SPLIT]);
   if (grouped) {
      rkb_write(writer, "const index group_number = rest / %lld;", (long long)d[RKB_SPLIT]);
      number = rkb_writer_variable(writer, "group_number", tile->product.group.total);
   }
   rkb_product_split(writer, &tile->product.group, number, tile->group);
   const char *all = rkb_writer_uniform(writer, tile->total_depth);
   if (split) {
      const int64_t step = d[RKB_SPLIT] * d[RKB_TILE_K];
      const rkb_index_t *share =
         rkb_index_make(indices, RKB_INDEX_PRODUCT,
                        rkb_index_make(indices, RKB_INDEX_QUOTIENT,
                                       rkb_index_make(indices, RKB_INDEX_SUM, tile->total_depth,
                                                      rkb_index_constant(indices, step - 1)),
                                       rkb_index_constant(indices, step)),
                        rkb_index_constant(indices, d[RKB_TILE_K]));
      rkb_check_share(writer, share, tile->total_depth);
      const char *chunk = rkb_writer_uniform(writer, share);
      rkb_write(writer, "const index begin = part * %s, end = begin + %s < %s ? begin + %s : %s;", chunk,
                chunk, all, chunk, all);
   } else
      rkb_write(writer, "const index begin = 0, end = %s;", all);
}

/* A thread's sums become the output, or a part of it. */
static void write_sums(rkb_writer_t *writer, tile_t *tile, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions, together = d[RKB_THREAD_N] < 4 ? d[RKB_THREAD_N] : 4;
   rkb_indices_t *indices = &writer->indices;
   const uint32_t width = d[RKB_VECTOR] > 1 && together >= d[RKB_VECTOR] ? (uint32_t)d[RKB_VECTOR] : 1;
   const rkb_index_t *at[RKB_MAX_RANK], *m_at[RKB_MAX_RANK], *n_at[RKB_MAX_RANK];
   const rkb_node_t *node = &writer->graph->nodes[tile->product.node];
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int i = 0; i < %lld; i++)", (long long)d[RKB_THREAD_M]);
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int j = 0; j < %lld; j += %u)", (long long)d[RKB_THREAD_N], width);
   rkb_write(writer, "const index m = m_first + %s;",
             own(writer, "thread_m", d[RKB_TILE_M], d[RKB_THREAD_M], "i"));
   rkb_write(writer, "const index n = n_first + %s;",
             own(writer, "thread_n", d[RKB_TILE_N], d[RKB_THREAD_N], "j"));
   const rkb_index_t *m = rkb_writer_variable(writer, "m", tile->total_m);
   const rkb_index_t *n =
      rkb_writer_known_variable(writer, width > 1 ? rkb_index_multiple(indices, "n", tile->total_n, width)
                                                  : rkb_index_variable(indices, "n", tile->total_n));
   rkb_write_open(writer, true, "if (m < %s && n < %s)", rkb_writer_uniform(writer, tile->total_m),
                  rkb_writer_uniform(writer, tile->total_n));
   const rkb_index_t *lane = rkb_open_lanes(writer, width);
   const char *sum = width > 1 ? "sums[i][j + lane]" : "sums[i][j]";
   rkb_product_split(writer, tile->m.dims, m, m_at);
   if (
      width >
      1) { /* the places of a vector's first lane are made before those of the others, which are found from them */
      rkb_product_split(writer, tile->n.dims, n, n_at);
      rkb_index_make(indices, RKB_INDEX_SUM, n_at[tile->n.dims->count - 1], lane);
   }
   rkb_product_split(writer, tile->n.dims, width > 1 ? rkb_index_make(indices, RKB_INDEX_SUM, n, lane) : n,
                     n_at);
   rkb_product_output(writer, &tile->product, tile->group, tile->m.which == 0 ? m_at : n_at,
                      tile->m.which == 0 ? n_at : m_at, at);
   rkb_writer_know(writer, tile->product.node, at, sum);
   if (d[RKB_SPLIT] > 1) {
      const char *buffer = rkb_parts_name(writer, tile->product.node);
      rkb_writer_buffer(writer, buffer, RKB_F32, true);
      rkb_write(writer, "%s[part * %s + %s] = %s;", buffer,
                rkb_writer_uniform(writer, rkb_index_elements(indices, node->rank, node->shape)),
                rkb_writer_index(writer, rkb_index_join(indices, node->rank, node->shape, at)), sum);
      rkb_close_lanes(writer);
   } else
      rkb_write_roots(writer, launch, tile->product.node, at);
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

static void write_sides(rkb_writer_t *writer, tile_t *tile, const rkb_index_t *first, bool fetch) {
   for (uint32_t s = 0; s < 2; s++) {
      side_t *side = s ? &tile->n : &tile->m;
      if (fetch)
         write_fetch(writer, tile, side, first);
      else
         write_put(writer, tile, side);
   }
}

void rkb_write_tile_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t *d = launch->decisions;
   tile_t tile = {.launch = launch, .depth = d[RKB_TILE_K]};
   const uint32_t anchor = launch->anchors[0];
   const bool turned =
      writer->graph->nodes[anchor].kind != RKB_NODE_MATMUL; /* the reference's rows are the fast ones */
   rkb_product_of(writer, anchor, &tile.product);
   tile.threads = d[RKB_TILE_M] / d[RKB_THREAD_M] * (d[RKB_TILE_N] / d[RKB_THREAD_N]);
   tile.m = (side_t){.which = turned,
                     .dims = turned ? &tile.product.column : &tile.product.row,
                     .tile = "m_tile",
                     .brought = "m_next",
                     .variable = "m",
                     .extent = d[RKB_TILE_M],
                     .width = 1};
   tile.n = (side_t){.which = !turned,
                     .dims = turned ? &tile.product.row : &tile.product.column,
                     .tile = "n_tile",
                     .brought = "n_next",
                     .variable = "n",
                     .extent = d[RKB_TILE_N],
                     .width = 1};
   tile.total_m = tile.m.dims->total;
   tile.total_n = tile.n.dims->total;
   tile.total_depth = tile.product.depth.total;
   write_place(writer, &tile);
   look_at(writer, &tile, &tile.m);
   look_at(writer, &tile, &tile.n);
   for (uint32_t s = 0; s < 2; s++) {
      side_t *side = s ? &tile.n : &tile.m;
      side->width = turned ? 1 : (uint32_t)d[RKB_VECTOR];
      rkb_write(writer, "__shared__ alignas(16) float %s[%lld][%lld];", side->tile, (long long)tile.depth,
                (long long)(side->extent + PADDING));
      rkb_write(writer, "float %s[%lld];", side->brought,
                (long long)(side->extent * tile.depth / tile.threads));
   }
   rkb_write(writer, "float sums[%lld][%lld] = {};", (long long)d[RKB_THREAD_M], (long long)d[RKB_THREAD_N]);
   rkb_write(writer, "/* Brings a thread's share of the next terms of both factors into registers. */");
   rkb_write_open(writer, false, "auto fetch = [&](index first)");
   const rkb_index_t *first = rkb_writer_variable(writer, "first", tile.total_depth);
   write_sides(writer, &tile, first, true);
   rkb_write_close_with(writer, "};");
   if (d[RKB_PREFETCH])
      rkb_write(writer, "fetch(begin);");
   rkb_write_open(writer, false, "for (index first = begin; first < end; first += %lld)",
                  (long long)tile.depth);
   if (!d[RKB_PREFETCH])
      rkb_write(writer, "fetch(first);");
   write_sides(writer, &tile, first, false);
   rkb_write(writer, "__syncthreads();");
   if (d[RKB_PREFETCH]) {
      rkb_write(writer, "if (first + %lld < end)", (long long)tile.depth);
      rkb_write(writer, "   fetch(first + %lld);", (long long)tile.depth);
   }
   write_multiply(writer, &tile);
   rkb_write(writer, "__syncthreads();");
   rkb_write_close(writer);
   write_sums(writer, &tile, launch);
   const char *grid = rkb_index_manifest(
      &writer->indices, rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, tile.blocks_m, tile.blocks_n));
   *shape = (rkb_kernel_shape_t){
      .threads = tile.threads,
      .blocks = d[RKB_BLOCKS],
      .grid = rkb_arena_format(writer->arena, "%s * (%s) * %lld", grid,
                               rkb_index_manifest(&writer->indices, tile.product.group.total),
                               (long long)d[RKB_SPLIT]),
      .owns = rkb_arena_format(
         writer->arena, "A block owns a tile of %lld x %lld elements of %s; a thread %lld x %lld of them.",
         (long long)d[RKB_TILE_M], (long long)d[RKB_TILE_N], writer->graph->nodes[anchor].name,
         (long long)d[RKB_THREAD_M], (long long)d[RKB_THREAD_N])};
}
