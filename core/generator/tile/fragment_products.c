/* Writes the products of a stage's fragments (fragment_products.h).  One thread.
 *
 * fp16x3 takes the same floats from shared memory as tf32x3.  Its instruction has twice the depth, so a step has two fragments of floats.
 * The order of terms within an instruction is free as long as both factors have the same one; so no lane needs another lane's floats. */
#include "generator/tile/fragment_products.h"

#include "generator/text/fragments.h"
#include "generator/tile/staging.h"

static const char *fragments_text(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                                  const rkb_tile_side_t *side) {
   const rkb_fragment_type_t *type = rkb_fragment_type(tile->launch->decisions[RKB_TENSOR]);
   const bool left = side == &tile->m;
   const long long columns = (long long)rkb_staging_columns(tile, side);
   const char *stage = left ? "m_stage" : "n_stage", *first = left ? "warp_m + i * 16" : "warp_n + j * 8";
   const int depth = RKB_FRAGMENT_BYTES / (int)type->bytes, chunk = 16 / (int)type->bytes;
   /* Squares of 8 rows by 16 bytes of depth: the left ones come one below the other first, the right ones
    * side by side. */
   if (side->rows_across)
      return rkb_arena_format(
         writer->arena,
         left
            ? "load_rows(left[i], %s + swizzled<%lld, %u>(%s + lane %% 16, step * %d + lane / 16 * %d));"
            : "load_rows(right[j], %s + swizzled<%lld, %u>(%s + lane %% 8 + lane / 16 * 8, step * %d + lane / 8 %% 2 * %d));",
         stage, columns, type->bytes, first, depth, chunk);
   if (type->bytes == 2)
      return rkb_arena_format(
         writer->arena,
         left
            ? "load_rows_turned(left[i], %s + swizzled<%lld, %u>(step * %d + lane %% 8 + lane / 16 * 8, %s + lane / 8 %% 2 * 8));"
            : "load_rows_turned(right[j], %s + swizzled<%lld, %u>(step * %d + lane %% 16, %s + lane / 16 * 8));",
         stage, columns, type->bytes, depth, first);
   return rkb_arena_format(
      writer->arena,
      left
         ? "left[i][r] = __float_as_uint(%s[(step * %d + lane %% 4 + r / 2 * 4) * %lld + %s + lane / 4 + r %% 2 * 8]);"
         : "right[j][r] = __float_as_uint(%s[(step * %d + lane %% 4 + r * 4) * %lld + %s + lane / 4]);",
      stage, depth, columns + RKB_WORDS_PADDING, first);
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

/* Loads two fragments of floats of one side, and makes a fragment of halves and one of what the halves leave of them.  The first
 * fragment's floats become the first eight terms of an instruction, the second fragment's the last eight. */
static void write_halves(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                         int64_t count) {
   const bool left = side == &tile->m;
   const char *name = left ? "left" : "right";
   const int registers = left ? 4 : 2;
   rkb_write(writer, "unsigned %s_high[%lld][%d], %s_low[%lld][%d];", name, (long long)count, registers, name,
             (long long)count, registers);
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int two = 0; two < 2; two++)",
                  3 * (int)(writer->depth + 1), "");
   rkb_write(writer, "const int step = pair + two;");
   rkb_write(writer, "unsigned %s[%lld][%d];", name, (long long)count, registers);
   write_loads(writer, tile, side, count);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)count);
   if (left) {
      rkb_write(writer, "   #pragma unroll");
      rkb_write(writer, "   for (int r = 0; r < 2; r++)");
   }
   rkb_write(
      writer,
      left
         ? "      split_half(left_high[i][two * 2 + r], left_low[i][two * 2 + r], left[i][r], left[i][r + 2], least, most);"
         : "   split_half(right_high[i][two], right_low[i][two], right[i][0], right[i][1], least, most);");
   rkb_write_close(writer);
}

/* Multiplies floats as sums of two halves where both halves hold all that two numbers of 11 bits can, and as sums of two TF32
 * numbers elsewhere.  A warp decides for 16 terms of its own tile. */
static void write_half_products(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   const int64_t *d = tile->launch->decisions, m = d[RKB_WARP_M] / 16, n = d[RKB_WARP_N] / 8;
   const rkb_fragment_type_t *halves = rkb_fragment_type(RKB_TENSOR_PATH_FP16X3),
                             *floats = rkb_fragment_type(RKB_TENSOR_PATH_TF32X3);
   rkb_write(writer, "#pragma unroll 1");
   rkb_write_open(writer, false, "for (int pair = 0; pair < %lld; pair += 2)",
                  (long long)tile->depth * 4 / RKB_FRAGMENT_BYTES);
   rkb_write(writer, "unsigned least = 0xffffffffu;");
   rkb_write(writer, "float most = 0.0f;");
   write_halves(writer, tile, &tile->m, m);
   write_halves(writer, tile, &tile->n, n);
   rkb_write_open(writer, true, "if (!__any_sync(0xffffffffu, not_of_halves(least, most)))");
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int i = 0; i < %lld; i++)",
                  3 * (int)(writer->depth + 1), "", (long long)m);
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int j = 0; j < %lld; j++)",
                  3 * (int)(writer->depth + 1), "", (long long)n);
   rkb_write(writer, "float high[4] = {}, rest[4] = {};");
   rkb_write(writer, "%s(rest, left_low[i], right_high[j]);", halves->multiply);
   rkb_write(writer, "%s(rest, left_high[i], right_low[j]);", halves->multiply);
   rkb_write(writer, "%s(high, left_high[i], right_high[j]);", halves->multiply);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int v = 0; v < 4; v++)");
   rkb_write(writer, "   sums[i][j][v] = fmaf(fmaf(rest[v], 0x1p-11f, high[v]), 0x1p-16f, sums[i][j][v]);");
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_write(writer, "continue;");
   rkb_write_close(writer);
   rkb_write(writer, "#pragma unroll 1");
   rkb_write_open(writer, false, "for (int step = pair; step < pair + 2; step++)");
   write_step(writer, tile, floats, true);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

const char *rkb_fragment_products_refused(const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   if (d[RKB_TENSOR] != RKB_TENSOR_PATH_FP16X3)
      return NULL;
   if (d[RKB_COPY] == RKB_COPY_TENSOR)
      return "fp16x3 is for products by mma.sync";
   return d[RKB_TILE_K] % 16 != 0 ? "the terms brought at a time are no whole fragments of halves" : NULL;
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
