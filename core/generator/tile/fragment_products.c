/* Writes the products of a stage's fragments (fragment_products.h).  One thread.
 *
 * fp16x3 takes the same floats from shared memory as tf32x3.  The threads of a block look at a stage's floats, and write two halves in place
 * of each.  A stage with a number that two halves do not hold stays as it is and is multiplied by tf32x3. */
#include "generator/tile/fragment_products.h"

#include "generator/text/fragments.h"
#include "generator/tile/staging.h"

#define MOST_SPLIT 64 /* floats of a stage that a thread holds in registers while the block votes */

static const char *fragments_text(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                                  const rkb_tile_side_t *side) {
   const rkb_fragment_type_t *type = rkb_fragment_type(tile->launch->decisions[RKB_TENSOR]);
   const bool left = side == &tile->m;
   const char *stage = left ? "m_stage" : "n_stage", *first = left ? "warp_m + i * 16" : "warp_n + j * 8",
              *across, *along;
   const int depth = RKB_FRAGMENT_BYTES / (int)type->bytes, chunk = 16 / (int)type->bytes;
   /* Squares of 8 rows by 16 bytes of depth: the left ones come one below the other first, the right ones
    * side by side. */
   if (side->rows_across) {
      across = rkb_arena_format(writer->arena, left ? "%s + lane %% 16" : "%s + lane %% 8 + lane / 16 * 8", first);
      along = rkb_arena_format(writer->arena, left ? "step * %d + lane / 16 * %d" : "step * %d + lane / 8 %% 2 * %d", depth, chunk);
      return rkb_arena_format(writer->arena, left ? "load_rows(left[i], %s + %s);" : "load_rows(right[j], %s + %s);", stage,
                              rkb_staging_place(writer, tile, side, across, along));
   }
   if (type->bytes == 2) {
      across = rkb_arena_format(writer->arena, left ? "%s + lane / 8 %% 2 * 8" : "%s + lane / 16 * 8", first);
      along = rkb_arena_format(writer->arena, left ? "step * %d + lane %% 8 + lane / 16 * 8" : "step * %d + lane %% 16", depth);
      return rkb_arena_format(writer->arena,
                              left ? "load_rows_turned(left[i], %s + %s);" : "load_rows_turned(right[j], %s + %s);", stage,
                              rkb_staging_place(writer, tile, side, along, across));
   }
   across = rkb_arena_format(writer->arena, left ? "%s + lane / 4 + r %% 2 * 8" : "%s + lane / 4", first);
   along = rkb_arena_format(writer->arena, left ? "step * %d + lane %% 4 + r / 2 * 4" : "step * %d + lane %% 4 + r * 4", depth);
   return rkb_arena_format(writer->arena, left ? "left[i][r] = __float_as_uint(%s[%s]);" : "right[j][r] = __float_as_uint(%s[%s]);",
                           stage, rkb_staging_place(writer, tile, side, along, across));
}

static void write_loads(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                        int64_t count) {
   const bool left = side == &tile->m,
              words =
                 !side->rows_across && rkb_fragment_type(tile->launch->decisions[RKB_TENSOR])->bytes == 4;
   const char *variable = left ? "i" : "j";
   const bool pairs = !left && !words; /* one load brings the fragments of 16 columns */
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int %s = 0; %s < %lld; %s%s)", variable, variable, (long long)count, variable,
             pairs ? " += 2" : "++");
   if (words) {
      rkb_write(writer, "   #pragma unroll");
      rkb_write(writer, "   for (int r = 0; r < %d; r++)", left ? 4 : 2);
   }
   rkb_write(writer, "%s   %s", words ? "   " : "", fragments_text(writer, tile, side));
}

static void write_products(rkb_writer_t *writer, const char *multiply, const char *left, const char *right,
                           int64_t m, int64_t n) {
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)m);
   rkb_write(writer, "   #pragma unroll");
   rkb_write(writer, "   for (int j = 0; j < %lld; j++)", (long long)n);
   rkb_write(writer, "      %s(sums[i][j], %s[i], %s[j]);", multiply, left, right);
}

static void write_split(rkb_writer_t *writer, const char *high, const char *low, int64_t count,
                        int registers) {
   rkb_write(writer, "unsigned %s[%lld][%d];", low, (long long)count, registers);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)count);
   rkb_write(writer, "   #pragma unroll");
   rkb_write(writer, "   for (int r = 0; r < %d; r++)", registers);
   rkb_write(writer, "      split_tf32(%s[i][r], %s[i][r]);", high, low);
}

/* Multiplies the fragments of one step. */
static void write_step(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_fragment_type_t *type,
                       bool splits) {
   const int64_t *d = tile->launch->decisions, m = d[RKB_WARP_M] / 16, n = d[RKB_WARP_N] / 8;
   rkb_write(writer, "unsigned left[%lld][4], right[%lld][2];", (long long)m, (long long)n);
   write_loads(writer, tile, &tile->m, m);
   write_loads(writer, tile, &tile->n, n);
   if (splits) {
      write_split(writer, "left", "left_low", m, 4);
      write_split(writer, "right", "right_low", n, 2);
      write_products(writer, type->multiply, "left_low", "right", m, n); /* the small products come first */
      write_products(writer, type->multiply, "left", "right_low", m, n);
   }
   write_products(writer, type->multiply, "left", "right", m, n);
}

/* A side of a stage as halves: in place of a row of floats, a row of their high parts and then their low parts. */
static const char *halves_at(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                             const rkb_tile_side_t *side, const char *row, const char *column) {
   return rkb_arena_format(writer->arena, "(unsigned short *)%s_stage + swizzled<%lld, 2>(%s, %s)",
                           side->variable, 2 * (long long)rkb_staging_columns(tile, side), row, column);
}

/* Opens the loop over a thread's share of a side, four neighbouring floats at a time. */
static void open_share(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   const long long all = (long long)(side->extent * tile->depth / 4),
                   items = (all + (long long)tile->threads - 1) / (long long)tile->threads;
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int item = 0; item < %lld; item++)",
                  3 * (int)(writer->depth + 1), "", items);
   rkb_write(writer, "const int number = item * %lld + threadIdx.x;", (long long)tile->threads);
   if (all % (long long)tile->threads != 0) {
      rkb_write(writer, "if (number >= %lld)", all);
      rkb_write(writer, "   break;");
   }
}

static void write_look(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   const long long columns = (long long)rkb_staging_columns(tile, side);
   open_share(writer, tile, side);
   if (side->rows_across)
      rkb_write(
         writer,
         "%s_floats[item] = *(const float4 *)(%s_stage + swizzled<%lld, 4>(number / %lld, number %% %lld * 4));",
         side->variable, side->variable, columns, columns / 4, columns / 4);
   else
      rkb_write(writer,
                "%s_floats[item] = *(const float4 *)(%s_stage + number / %lld * %lld + number %% %lld * 4);",
                side->variable, side->variable, columns / 4, columns + RKB_WORDS_PADDING, columns / 4);
   rkb_write(writer, "look_at(%s_floats[item], least, most);", side->variable);
   rkb_write_close(writer);
}

static void write_split_share(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                              const rkb_tile_side_t *side) {
   const long long columns = (long long)rkb_staging_columns(tile, side);
   const char *row = rkb_arena_format(writer->arena, "number / %lld", columns / 4),
              *column = rkb_arena_format(writer->arena, "number %% %lld * 4", columns / 4);
   open_share(writer, tile, side);
   rkb_write(writer, "uint2 high, low;");
   rkb_write(writer, "split_half(high.x, low.x, %s_floats[item].x, %s_floats[item].y);", side->variable,
             side->variable);
   rkb_write(writer, "split_half(high.y, low.y, %s_floats[item].z, %s_floats[item].w);", side->variable,
             side->variable);
   rkb_write(writer, "*(uint2 *)(%s) = high;", halves_at(writer, tile, side, row, column));
   rkb_write(
      writer, "*(uint2 *)(%s) = low;",
      halves_at(writer, tile, side, row, rkb_arena_format(writer->arena, "%lld + %s", columns, column)));
   rkb_write_close(writer);
}

/* Loads the fragments of the high or the low parts. */
static void write_halves(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                         int64_t count, bool low) {
   const bool left = side == &tile->m;
   const char *base =
                 low ? rkb_arena_format(writer->arena, "%lld + ", (long long)rkb_staging_columns(tile, side))
                     : "",
              *first = left ? "warp_m + i * 16" : "warp_n + j * 8",
              *name = left  ? (low ? "left_low[i]" : "left[i]")
                      : low ? "right_low[j]"
                            : "right[j]";
   const char *row, *column;
   if (side->rows_across) {
      row =
         rkb_arena_format(writer->arena, left ? "%s + lane %% 16" : "%s + lane %% 8 + lane / 16 * 8", first);
      column = rkb_arena_format(
         writer->arena, left ? "%sstep * 16 + lane / 16 * 8" : "%sstep * 16 + lane / 8 %% 2 * 8", base);
   } else {
      row = left ? "step * 16 + lane % 8 + lane / 16 * 8" : "step * 16 + lane % 16";
      column = rkb_arena_format(writer->arena, left ? "%s%s + lane / 8 %% 2 * 8" : "%s%s + lane / 16 * 8",
                                base, first);
   }
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, left ? "for (int i = 0; i < %lld; i++)" : "for (int j = 0; j < %lld; j += 2)",
             (long long)count);
   rkb_write(writer, "   load_rows%s(%s, %s);", side->rows_across ? "" : "_turned", name,
             halves_at(writer, tile, side, row, column));
}

/* Multiplies floats as sums of two halves where both halves hold all that two numbers of 11 bits can, and as sums of two TF32
 * numbers elsewhere.  The block decides for a stage, and splits each float once. */
static void write_half_products(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   const int64_t *d = tile->launch->decisions, m = d[RKB_WARP_M] / 16, n = d[RKB_WARP_N] / 8;
   const rkb_fragment_type_t *halves = rkb_fragment_type(RKB_TENSOR_PATH_FP16X3),
                             *floats = rkb_fragment_type(RKB_TENSOR_PATH_TF32X3);
   const rkb_tile_side_t *sides[] = {&tile->m, &tile->n};
   for (uint32_t s = 0; s < 2; s++)
      rkb_write(writer, "float4 %s_floats[%lld];", sides[s]->variable,
                (long long)((sides[s]->extent * tile->depth / 4 + tile->threads - 1) / tile->threads));
   rkb_write(writer, "unsigned least = 0xffffffffu;");
   rkb_write(writer, "float most = 0.0f;");
   for (uint32_t s = 0; s < 2; s++)
      write_look(writer, tile, sides[s]);
   rkb_write_open(writer, true, "if (!__syncthreads_or(not_of_halves(least, most)))");
   for (uint32_t s = 0; s < 2; s++)
      write_split_share(writer, tile, sides[s]);
   rkb_write(writer, "__syncthreads();");
   rkb_write(writer, d[RKB_VECTOR] > 1 ? "#pragma unroll 2" : "#pragma unroll 1");
   rkb_write_open(writer, false, "for (int step = 0; step < %lld; step++)", (long long)tile->depth / 16);
   rkb_write(writer, "unsigned left[%lld][4], left_low[%lld][4], right[%lld][2], right_low[%lld][2];",
             (long long)m, (long long)m, (long long)n, (long long)n);
   for (uint32_t low = 0; low < 2; low++) {
      write_halves(writer, tile, &tile->m, m, low);
      write_halves(writer, tile, &tile->n, n, low);
   }
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int i = 0; i < %lld; i++)",
                  3 * (int)(writer->depth + 1), "", (long long)m);
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int j = 0; j < %lld; j++)",
                  3 * (int)(writer->depth + 1), "", (long long)n);
   rkb_write(writer, "float high[4] = {}, rest[4] = {};");
   rkb_write(writer, "%s(rest, left_low[i], right[j]);", halves->multiply);
   rkb_write(writer, "%s(rest, left[i], right_low[j]);", halves->multiply);
   rkb_write(writer, "%s(high, left[i], right[j]);", halves->multiply);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int v = 0; v < 4; v++)");
   rkb_write(writer, "   sums[i][j][v] = fmaf(fmaf(rest[v], 0x1p-11f, high[v]), 0x1p-16f, sums[i][j][v]);");
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_write_open(writer, true, "else");
   rkb_write(writer, "#pragma unroll 1");
   rkb_write_open(writer, false, "for (int step = 0; step < %lld; step++)", (long long)tile->depth / 8);
   write_step(writer, tile, floats, true);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

const char *rkb_fragment_products_refused(const rkb_launch_t *launch, int64_t threads) {
   const int64_t *d = launch->decisions;
   if (d[RKB_TENSOR] != RKB_TENSOR_PATH_FP16X3)
      return NULL;
   if (d[RKB_COPY] == RKB_COPY_TENSOR)
      return "fp16x3 is for products by mma.sync";
   if (d[RKB_TILE_K] % 16 != 0)
      return "the terms brought at a time are no whole fragments of halves";
   return (d[RKB_TILE_M] + d[RKB_TILE_N]) * d[RKB_TILE_K] / threads > MOST_SPLIT
             ? "the floats that a thread splits need more registers than there are"
             : NULL;
}

void rkb_write_stage_products(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   const rkb_fragment_type_t *type = rkb_fragment_type(tile->launch->decisions[RKB_TENSOR]);
   if (tile->launch->decisions[RKB_TENSOR] == RKB_TENSOR_PATH_FP16X3) {
      write_half_products(writer, tile);
      return;
   }
   rkb_write(writer, tile->launch->decisions[RKB_VECTOR] > 1 ? "#pragma unroll 2" : "#pragma unroll 1");
   rkb_write_open(writer, false, "for (int step = 0; step < %lld; step++)",
                  (long long)(tile->depth * type->bytes / RKB_FRAGMENT_BYTES));
   write_step(writer, tile, type, tile->launch->decisions[RKB_TENSOR] == RKB_TENSOR_PATH_TF32X3);
   rkb_write_close(writer);
}
