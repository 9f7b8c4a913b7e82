/* Kernels that compute tiles of a product.  Tiles of both factors are loaded to shared memory, with the terms of depth in the outer loop.
 * A convolution is a product through its index maps.  One thread writes them. */
#include "generator/tile/product_tile.h"

/* Columns between rows of a tile in shared memory, so that rows begin in different banks; vectors stay aligned. */
#define PADDING 4

/* Brings a thread's share of a factor's tile from memory into registers. */
static void write_fetch(rkb_writer_t *writer, rkb_product_tile_t *tile, rkb_tile_side_t *side, const rkb_index_t *first) {
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
             rkb_writer_index(writer, in_across), depth_name, first->name ? first->name : "0", /* of one term */
             rkb_writer_index(writer, in_depth));
   const rkb_index_t *total = side->total;
   /* The fast coordinate is a multiple of the width, so that accesses are aligned. */
   const bool vector = side->width > 1;
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
   const rkb_index_t *at[RKB_MAX_RANK];
   const rkb_index_t *lane = rkb_open_lanes(writer, side->width);
   const rkb_index_t *whole_a = a, *whole_k = k;
   if (side->width > 1) {
      if (side->depth_fast)
         whole_k = rkb_index_make(indices, RKB_INDEX_SUM, k, lane);
      else
         whole_a = rkb_index_make(indices, RKB_INDEX_SUM, a, lane);
   }
   const char *guard = rkb_tile_operand(writer, tile, side, whole_a, whole_k, at);
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

static void write_put(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
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

/* The rows or columns of a thread: groups of up to four side by side, spread over the tile, so that a warp's
 * lanes read shared memory without conflicts. */
static const char *own(rkb_writer_t *writer, const char *thread, int64_t extent, int64_t mine,
                       const char *number) {
   const int64_t together = mine < 4 ? mine : 4;
   if (mine <= 4)
      return rkb_arena_format(writer->arena, "%s * %lld + %s", thread, (long long)together, number);
   return rkb_arena_format(writer->arena, "%s / %lld * %lld + %s * %lld + %s %% %lld", number,
                           (long long)together, (long long)(extent / mine * together), thread,
                           (long long)together, number, (long long)together);
}

/* Reads a thread's terms at one depth, by vectors where they are side by side. */
static void write_terms(rkb_writer_t *writer, const rkb_tile_side_t *side, const char *name, const char *thread,
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

static void write_multiply(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
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

/* Writes a thread's sums to the output, or to a part of it. */
static void write_sums(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions, together = d[RKB_THREAD_N] < 4 ? d[RKB_THREAD_N] : 4;
   const uint32_t width = d[RKB_VECTOR] > 1 && together >= d[RKB_VECTOR] ? (uint32_t)d[RKB_VECTOR] : 1;
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int i = 0; i < %lld; i++)", (long long)d[RKB_THREAD_M]);
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int j = 0; j < %lld; j += %u)", (long long)d[RKB_THREAD_N], width);
   rkb_write(writer, "const index m = m_first + %s;",
             own(writer, "thread_m", d[RKB_TILE_M], d[RKB_THREAD_M], "i"));
   rkb_write(writer, "const index n = n_first + %s;",
             own(writer, "thread_n", d[RKB_TILE_N], d[RKB_THREAD_N], "j"));
   rkb_tile_result(writer, tile, launch, width, width > 1 ? "sums[i][j + lane]" : "sums[i][j]");
   rkb_write_close(writer);
   rkb_write_close(writer);
}

static void write_sides(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_index_t *first, bool fetch) {
   for (uint32_t s = 0; s < 2; s++) {
      rkb_tile_side_t *side = s ? &tile->n : &tile->m;
      if (fetch)
         write_fetch(writer, tile, side, first);
      else
         write_put(writer, tile, side);
   }
}

void rkb_write_tile_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t *d = launch->decisions;
   rkb_product_tile_t tile;
   rkb_tile_open(writer, launch, &tile);
   /* Because guards differ between neighbours. */
   const bool convolution = writer->graph->nodes[launch->anchors[0]].kind != RKB_NODE_MATMUL;
   tile.threads = d[RKB_TILE_M] / d[RKB_THREAD_M] * (d[RKB_TILE_N] / d[RKB_THREAD_N]);
   rkb_tile_place(writer, &tile, 0);
   rkb_write(writer, "const int thread_m = threadIdx.x / %lld, thread_n = threadIdx.x %% %lld;",
             (long long)(d[RKB_TILE_N] / d[RKB_THREAD_N]), (long long)(d[RKB_TILE_N] / d[RKB_THREAD_N]));
   rkb_tile_look(writer, &tile, &tile.m);
   rkb_tile_look(writer, &tile, &tile.n);
   for (uint32_t s = 0; s < 2; s++) {
      rkb_tile_side_t *side = s ? &tile.n : &tile.m;
      side->width = convolution ? 1 : (uint32_t)d[RKB_VECTOR];
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
   rkb_tile_shape(writer, &tile,
                  rkb_arena_format(writer->arena, "thread %lld x %lld of them.", (long long)d[RKB_THREAD_M],
                                   (long long)d[RKB_THREAD_N]),
                  shape);
}
