/* Kernels that compute a convolution by warpgroups.  A block owns a rectangle of pixels of one image and some
 * channels of the output.  One thread of the last warpgroup copies two things: the part of the image under the
 * rectangle's windows, some channels at a time; and, for each tap of the window, the high and low parts of the
 * weight.  Each warp of the other warpgroups loads its pixels from that part, shifted by the tap, splits them
 * in registers, and multiplies.  One thread writes the text. */
#include "generator/convolution/convolution_tile.h"

#include "generator/convolution/convolution_image.h"

static int64_t warps_of(const int64_t *d) {
   return d[RKB_GROUPS] * RKB_CONVOLUTION_GROUP_THREADS / 32;
}

/* "p_first - 1" */
static const char *less(rkb_writer_t *writer, const char *from, const rkb_index_t *what) {
   return rkb_index_is(what, 0)
             ? from
             : rkb_arena_format(writer->arena, "%s - %s", from, rkb_writer_uniform(writer, what));
}

static void open_unrolled(rkb_writer_t *writer, const char *head) {
   rkb_write_open(writer, false, "#pragma unroll\n%*s%s", 3 * (int)(writer->depth + 1), "", head);
}

static const rkb_index_t *count_of(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const rkb_index_t *count = tile->blocks[0];
   for (uint32_t i = 1; i < 3; i++)
      count = rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, count, tile->blocks[i]);
   return rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, count, tile->images);
}

/* Opens the loop over a block's tiles: its only tile, or in turn each tile that no other block of the grid
 * takes. */
static void open_tiles(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const char *blocks[3];
   for (uint32_t i = 0; i < 3; i++)
      blocks[i] = rkb_writer_uniform(writer, tile->blocks[i]);
   if (tile->d[RKB_PERSISTENT])
      rkb_write_open(writer, false, "for (index block = blockIdx.x; block < %s; block += gridDim.x)",
                     rkb_writer_uniform(writer, count_of(writer, tile)));
   else
      rkb_write(writer, "const index block = blockIdx.x;");
   rkb_write(writer, "const index m_first = block %% %s * %lld, tile_number = block / %s;", blocks[0],
             (long long)tile->d[RKB_TILE_M], blocks[0]);
   rkb_write(
      writer,
      "const index q_first = tile_number %% %s * %lld, p_first = tile_number / %s %% %s * %lld, image = tile_number / %s / %s;",
      blocks[1], (long long)tile->extent.row, blocks[1], blocks[2], (long long)tile->extent.rows, blocks[1],
      blocks[2]);
}

static void close_tiles(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   if (tile->d[RKB_PERSISTENT])
      rkb_write_close(writer);
}

static void open_taps(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   if (tile->extent.in_phases) {
      rkb_write_open(writer, false, "for (int down = 0; down < taps_down; down++)");
      rkb_write_open(writer, false, "for (int along = 0; along < taps_along; along++)");
   } else if (tile->extent.taps > 1)
      rkb_write_open(writer, false, "for (int tap = 0; tap < %lld; tap++)", (long long)tile->extent.taps);
}

static void close_taps(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   if (tile->extent.taps > 1 || tile->extent.in_phases)
      rkb_write_close(writer);
   if (tile->extent.in_phases)
      rkb_write_close(writer);
}

/* Opens the loop over the phases of a tile.  The text says how many taps reach each phase, and which tap is
 * the first. */
static void open_phases(rkb_writer_t *writer, rkb_convolution_t *tile) {
   static const char *const words[] = {"down", "along"};
   const rkb_convolution_extent_t *e = &tile->extent;
   const long long stride = (long long)e->stride;
   tile->phase[0] = rkb_index_constant(&writer->indices, 0);
   if (!e->in_phases)
      return;
   rkb_write_open(writer, false, "for (int phase = 0; phase < %lld; phase++)", stride * stride);
   rkb_write(writer, "const int phase_down = phase / %lld, phase_along = phase %% %lld;", stride, stride);
   for (uint32_t side = 0; side < RKB_CONVOLUTION_SIDES; side++) {
      const char *name = side == RKB_CONVOLUTION_DOWN ? "phase_down" : "phase_along";
      tile->phase[1 + side] =
         rkb_writer_variable(writer, name, rkb_index_constant(&writer->indices, e->stride));
      rkb_write(writer, "const int first_%s = %s, taps_%s = (%lld - first_%s) / %lld;", words[side],
                rkb_writer_index(writer, rkb_product_first_tap(writer, &tile->product, tile->phase, side)),
                words[side], (long long)e->window[side] + stride - 1, words[side], stride);
   }
}

static void close_phases(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   if (tile->extent.in_phases)
      rkb_write_close(writer);
}

/* Whether no tap reaches the places of some phases, because the window is smaller than the stride. */
static bool leaves_unseen(const rkb_convolution_extent_t *e) {
   return e->in_phases &&
          (e->window[RKB_CONVOLUTION_DOWN] < e->stride || e->window[RKB_CONVOLUTION_ALONG] < e->stride);
}

/* Opens the loop over parts of the channels that are summed. */
static void open_channels(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   rkb_write_open(writer, false, "for (index k_first = 0; k_first < %s%s; k_first += %d)",
                  rkb_writer_uniform(writer, tile->channels),
                  leaves_unseen(&tile->extent) ? " && taps_down * taps_along > 0" : "",
                  RKB_CONVOLUTION_TERMS);
}

static void write_next_stage(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   rkb_write(writer, "stage = stage == %lld ? 0 : stage + 1;", (long long)tile->d[RKB_STAGES] - 1);
   rkb_write(writer, "turn ^= stage == 0;");
}

static void write_next_part(rkb_writer_t *writer) {
   rkb_write(writer, "part_stage ^= 1;");
   rkb_write(writer, "part_turn ^= part_stage == 0;");
}

/* Writes the code of the thread that copies. */
static void write_producer(rkb_writer_t *writer, rkb_convolution_t *tile) {
   const int64_t *d = tile->d;
   const rkb_convolution_extent_t *e = &tile->extent;
   const char *images = rkb_convolution_image_map(writer, tile),
              *weights = rkb_convolution_weight_map(writer, tile),
              *tap = e->taps > 1 || e->in_phases ? "tap" : "0";
   rkb_write_open(writer, false, "if (warpgroup == %lld)", (long long)d[RKB_GROUPS]);
   if (rkb_convolution_registers(e, d) > rkb_convolution_equal_registers(e, d))
      rkb_write(writer, "fewer_registers<%lld>();", (long long)rkb_convolution_producer_registers(e));
   rkb_write(writer, "if (threadIdx.x != %lld)", (long long)d[RKB_GROUPS] * RKB_CONVOLUTION_GROUP_THREADS);
   rkb_write(writer, "   return;");
   open_tiles(writer, tile);
   open_phases(writer, tile);
   open_channels(writer, tile);
   rkb_write(writer, "barrier_wait(&part_freed[part_stage], part_turn ^ 1);");
   rkb_write(writer, "barrier_expect(&part_filled[part_stage], %lld);",
             (long long)rkb_convolution_part_bytes(e));
   rkb_write(
      writer,
      "copy_part(tiles + part_stage * %lld, &%s, &part_filled[part_stage], (int)(%s), (int)(%s), (int)k_first, (int)image);",
      (long long)rkb_convolution_part_bytes(e), images,
      less(writer, rkb_convolution_strided(writer, tile, "q_first"),
           rkb_convolution_copied_before(writer, tile)),
      less(writer, rkb_convolution_strided(writer, tile, "p_first"), tile->before[RKB_CONVOLUTION_DOWN]));
   write_next_part(writer);
   open_taps(writer, tile);
   if (e->in_phases)
      rkb_write(writer, "const int tap = (first_down + down * %lld) * %lld + first_along + along * %lld;",
                (long long)e->stride, (long long)e->window[RKB_CONVOLUTION_ALONG], (long long)e->stride);
   rkb_write(writer, "unsigned char *const high = weights + stage * %lld;",
             2 * (long long)rkb_convolution_plane_bytes(d));
   rkb_write(writer, "barrier_wait(&freed[stage], turn ^ 1);");
   rkb_write(writer, "barrier_expect(&filled[stage], %lld);", 2 * (long long)rkb_convolution_plane_bytes(d));
   rkb_write(writer, "copy_tile(high, &%s, &filled[stage], (int)k_first, (int)m_first, %s);", weights, tap);
   rkb_write(writer, "copy_tile(high + %lld, &%s, &filled[stage], (int)k_first, (int)m_first, %s);",
             (long long)rkb_convolution_plane_bytes(d), weights,
             e->taps > 1 ? rkb_arena_format(writer->arena, "%lld + tap", (long long)e->taps) : "1");
   write_next_stage(writer, tile);
   close_taps(writer, tile);
   rkb_write_close(writer);
   close_phases(writer, tile);
   close_tiles(writer, tile);
   rkb_write(writer, "return;");
   rkb_write_close(writer);
}

/* The distance of a tap's pixels from the pixels of the tap nearest to the part's first pixel: "tap / 3 * 40
 * + tap % 3". */
static const char *offset_of(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const rkb_convolution_extent_t *e = &tile->extent;
   const char *sum = "";
   for (uint32_t side = 0; side < RKB_CONVOLUTION_SIDES && e->in_phases; side++) {
      const bool down = side == RKB_CONVOLUTION_DOWN;
      const rkb_index_t *shift = rkb_product_phase_shift(writer, &tile->product, tile->phase, side),
                        *at = rkb_index_make(&writer->indices, RKB_INDEX_SUM, tile->before[side], shift);
      sum = rkb_arena_format(writer->arena, down ? "%s + (%s - %s) * %lld" : "%s + (%s - %s)", sum,
                             rkb_writer_index(writer, at), down ? "down" : "along", (long long)e->width);
   }
   if (e->in_phases)
      return sum;
   for (uint32_t side = 0; side < RKB_CONVOLUTION_SIDES; side++) {
      const long long window = (long long)e->window[RKB_CONVOLUTION_ALONG],
                      step = (long long)(e->dilation[side] * (side == RKB_CONVOLUTION_DOWN ? e->width : 1));
      const char *at =
         rkb_arena_format(writer->arena, "tap %s %lld", side == RKB_CONVOLUTION_DOWN ? "/" : "%", window);
      if (e->window[side] == 1)
         continue;
      if (tile->backwards)
         at = rkb_arena_format(writer->arena, "(%lld - %s)", (long long)e->window[side] - 1, at);
      sum = rkb_arena_format(writer->arena, step == 1 ? "%s + %s" : "%s + %s * %lld", sum, at, step);
   }
   return sum;
}

/* The distance from a warp's first 16 pixels to its i-th 16 pixels, if neighbouring pixels of a row are so far apart. */
static const char *square_of(rkb_writer_t *writer, const rkb_convolution_extent_t *e) {
   const long long beside = (long long)(e->row / RKB_CONVOLUTION_WARP_PIXELS),
                   apart = (long long)rkb_convolution_apart(e), width = (long long)e->width * apart,
                   square = RKB_CONVOLUTION_WARP_PIXELS * apart;
   if (e->squares == 1)
      return "";
   return beside == 1            ? rkb_arena_format(writer->arena, "i * %lld + ", width)
          : e->squares <= beside ? rkb_arena_format(writer->arena, "i * %lld + ", square)
                                 : rkb_arena_format(writer->arena, "i / %lld * %lld + i %% %lld * %lld + ",
                                                    beside, width, beside, square);
}

static void write_products(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const rkb_convolution_extent_t *e = &tile->extent;
   const long long columns = (long long)tile->d[RKB_TILE_M], pitch = (long long)(e->width * e->height),
                   squares = (long long)e->squares;
   open_unrolled(writer, rkb_arena_format(writer->arena, "for (int step = 0; step < %d; step++)",
                                          RKB_CONVOLUTION_TERMS / RKB_CONVOLUTION_STEP_TERMS));
   rkb_write(writer, "unsigned (&high)[%lld][4] = highs[step %% %d], (&low)[%lld][4] = lows[step %% %d];",
             squares, RKB_CONVOLUTION_HELD_STEPS, squares, RKB_CONVOLUTION_HELD_STEPS);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", squares);
   rkb_write(writer, "   #pragma unroll");
   rkb_write(writer, "   for (int r = 0; r < 4; r++) {");
   rkb_write(writer, "      high[i][r] = own[(step * %d + r / 2 * 4) * %lld + %sr %% 2 * %lld];",
             RKB_CONVOLUTION_STEP_TERMS, pitch, square_of(writer, e),
             8 * (long long)rkb_convolution_apart(e));
   rkb_write(writer, "      split_tf32(high[i][r], low[i][r]);");
   rkb_write(writer, "   }");
   rkb_write(writer, "hold(sums);");
   rkb_write(writer, "products_begin();");
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++) {", squares);
   for (int part = 0; part < 3; part++) /* the small terms first */
      rkb_write(writer, "   add_held_tf32x3_n%lld(sums[i], %s[i], matrix(%s + step * %d, 16));", columns,
                part == 0 ? "low" : "high",
                part == 1 ? rkb_arena_format(writer->arena, "taken + %lld",
                                             (long long)rkb_convolution_plane_bytes(tile->d))
                          : "taken",
                RKB_CONVOLUTION_STEP_TERMS * 4);
   rkb_write(writer, "}");
   rkb_write(writer, "products_sent();");
   rkb_write(writer, "hold(sums);");
   rkb_write(writer, "products_done<%d>();", RKB_CONVOLUTION_HELD_STEPS - 1);
   rkb_write_close(writer);
}

/* Writes the sums of a tile.  While warps wait for the next tap's weights, the products of the last tap's last
 * step are in flight. */
static void write_multiply(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const rkb_convolution_extent_t *e = &tile->extent;
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *moved =
      rkb_index_make(indices, RKB_INDEX_DIFFERENCE, rkb_convolution_copied_before(writer, tile),
                     tile->before[RKB_CONVOLUTION_ALONG]);
   const char *shift = rkb_index_is(moved, 0)
                          ? ""
                          : rkb_arena_format(writer->arena, " + %s", rkb_writer_uniform(writer, moved));
   open_channels(writer, tile);
   rkb_write(
      writer,
      "const unsigned *const part = (const unsigned *)(tiles + part_stage * %lld) + lane %% 4 * %lld + warp_down * %lld + %s%s;",
      (long long)rkb_convolution_part_bytes(e), (long long)(e->width * e->height),
      (long long)(e->width * rkb_convolution_apart(e)),
      rkb_convolution_apart(e) == 1 ? "warp_along + lane / 4"
                                    : rkb_convolution_strided(writer, tile, "(warp_along + lane / 4)"),
      shift);
   rkb_write(writer, "barrier_wait(&part_filled[part_stage], part_turn);");
   open_taps(writer, tile);
   rkb_write(writer, "const unsigned *const own = part%s;",
             e->taps > 1 || e->in_phases ? offset_of(writer, tile) : "");
   rkb_write(writer, "const unsigned char *const taken = weights + stage * %lld;",
             2 * (long long)rkb_convolution_plane_bytes(tile->d));
   rkb_write(writer, "barrier_wait(&filled[stage], turn);");
   write_products(writer, tile);
   rkb_convolution_write_free(writer, tile,
                              e->in_phases  ? "(k_first > 0 || down > 0 || along > 0) && "
                              : e->taps > 1 ? "(k_first > 0 || tap > 0) && "
                                            : "k_first > 0 && ");
   write_next_stage(writer, tile);
   close_taps(writer, tile);
   rkb_write(writer, "if (lane == 0) /* all lanes have loaded what they multiply */");
   rkb_write(writer, "   barrier_arrive(&part_freed[part_stage]);");
   write_next_part(writer);
   rkb_write_close(writer);
   rkb_write(writer, "products_done<0>();");
   rkb_write(writer, "hold(sums);");
   rkb_convolution_write_free(writer, tile, leaves_unseen(e) ? "taps_down * taps_along > 0 && " : "");
}

/* Stores the sums.  Of eight channels a lane has two neighbouring ones, and a warp stores eight neighbouring
 * pixels of each of four channels: whole sectors. */
static void write_sums(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const rkb_convolution_extent_t *e = &tile->extent;
   const rkb_product_dims_t *rows = &tile->product.row;
   const rkb_index_t *at[RKB_MAX_RANK], *row[RKB_PRODUCT_DIMS], *column[1];
   const long long beside = (long long)(e->row / RKB_CONVOLUTION_WARP_PIXELS);
   const char *down = e->squares > beside || beside == 1
                         ? rkb_arena_format(writer->arena, beside == 1 ? " + i" : " + i / %lld", beside)
                         : "",
              *along = beside > 1 && e->squares > 1
                          ? rkb_arena_format(writer->arena,
                                             e->squares > beside ? " + i %% %lld * 16" : " + i * 16", beside)
                          : "";
   const char *p = rkb_writer_name(writer, rows->name[1]), *q = rkb_writer_name(writer, rows->name[2]);
   row[0] = rkb_writer_variable(writer, "image", rows->extent[0]);
   open_unrolled(writer, rkb_arena_format(writer->arena, "for (int j = 0; j < %lld; j += 8)",
                                          (long long)tile->d[RKB_TILE_M]));
   open_unrolled(writer, "for (int e = 0; e < 2; e++)");
   rkb_write(writer, "const index m = m_first + j + lane %% 4 * 2 + e;");
   column[0] = rkb_writer_variable(writer, "m", tile->product.column.extent[0]);
   rkb_write_open(writer, true, "if (m < %s)", rkb_writer_uniform(writer, tile->product.column.extent[0]));
   open_unrolled(writer,
                 rkb_arena_format(writer->arena, "for (int i = 0; i < %lld; i++)", (long long)e->squares));
   open_unrolled(writer, "for (int half = 0; half < 2; half++)");
   rkb_write(writer,
             "const index %s = p_first + warp_down%s, %s = q_first + warp_along%s + half * 8 + lane / 4;", p,
             down, q, along);
   /* Values that depend on the channel only are loaded before this block; inside it the pixel is known. */
   rkb_write_open(writer, false, "if (%s < %s && %s < %s)", p, rkb_writer_uniform(writer, rows->extent[1]), q,
                  rkb_writer_uniform(writer, rows->extent[2]));
   row[1] = rkb_writer_variable(writer, p, rows->extent[1]);
   row[2] = rkb_writer_variable(writer, q, rows->extent[2]);
   rkb_product_output(writer, &tile->product, tile->phase, row, column, at);
   rkb_writer_know(writer, tile->product.node, at, "sums[i][j / 2 + half * 2 + e]");
   rkb_write_roots(writer, tile->launch, tile->product.node, at);
   for (uint32_t i = 0; i < 6; i++)
      rkb_write_close(writer);
}

static void write_barriers(rkb_writer_t *writer, const int64_t *d) {
   const long long stages = (long long)d[RKB_STAGES], warps = (long long)warps_of(d);
   rkb_write(writer,
             "__shared__ unsigned long long filled[%lld], freed[%lld], part_filled[%d], part_freed[%d];",
             stages, stages, RKB_CONVOLUTION_IMAGES, RKB_CONVOLUTION_IMAGES);
   rkb_write_open(writer, false, "if (threadIdx.x == 0)");
   rkb_write_open(writer, false, "for (int stage = 0; stage < %lld; stage++)", stages);
   rkb_write(writer, "barrier_start(&filled[stage], 1);");
   rkb_write(writer, "barrier_start(&freed[stage], %lld);", warps);
   rkb_write_close(writer);
   rkb_write_open(writer, false, "for (int stage = 0; stage < %d; stage++)", RKB_CONVOLUTION_IMAGES);
   rkb_write(writer, "barrier_start(&part_filled[stage], 1);");
   rkb_write(writer, "barrier_start(&part_freed[stage], %lld);", warps);
   rkb_write_close(writer);
   rkb_write(writer, "barriers_started();");
   rkb_write_close(writer);
   rkb_write(writer, "__syncthreads();");
}

/* Writes where a warp's pixels begin in the tile. */
static void write_warp(rkb_writer_t *writer, const rkb_convolution_extent_t *e) {
   const long long beside = (long long)(e->row / RKB_CONVOLUTION_WARP_PIXELS),
                   squares = (long long)e->squares;
   rkb_write(writer, "const int lane = threadIdx.x %% 32;");
   if (squares < beside)
      rkb_write(
         writer,
         "const int warp_down = threadIdx.x / 32 / %lld, warp_along = threadIdx.x / 32 %% %lld * %lld;",
         beside / squares, beside / squares, squares * RKB_CONVOLUTION_WARP_PIXELS);
   else
      rkb_write(writer,
                squares == beside ? "const int warp_down = threadIdx.x / 32, warp_along = 0;"
                                  : "const int warp_down = threadIdx.x / 32 * %lld, warp_along = 0;",
                squares / beside);
}

void rkb_write_convolution_kernel(rkb_writer_t *writer, const rkb_launch_t *launch,
                                  rkb_kernel_shape_t *shape) {
   const int64_t *d = launch->decisions;
   rkb_convolution_t tile;
   if (!rkb_convolution_open(writer, launch, &tile)) {
      rkb_writer_fail(writer, "no tensor map describes the images of %s", tile.node->name);
      return;
   }
   const rkb_convolution_extent_t *e = &tile.extent;
   const long long squares = (long long)e->squares;
   rkb_write(writer, "extern __shared__ __align__(%d) unsigned char tiles[];", RKB_CONVOLUTION_PATTERN_BYTES);
   rkb_write(writer, "unsigned char *const weights = tiles + %lld;",
             (long long)(RKB_CONVOLUTION_IMAGES * rkb_convolution_part_bytes(e)));
   write_barriers(writer, d);
   rkb_write(writer, "const int warpgroup = threadIdx.x / %d;", RKB_CONVOLUTION_GROUP_THREADS);
   rkb_write(
      writer,
      "int stage = 0, turn = 0; /* of the weights: the stage at hand, and whether all have been used an odd number of times */");
   rkb_write(writer, "int part_stage = 0, part_turn = 0; /* the same of parts of an image */");
   write_producer(writer, &tile);
   if (rkb_convolution_registers(e, d) > rkb_convolution_equal_registers(e, d))
      rkb_write(writer, "more_registers<%lld>();", (long long)rkb_convolution_registers(e, d));
   write_warp(writer, e);
   open_tiles(writer, &tile);
   open_phases(writer, &tile);
   rkb_write(writer, "float sums[%lld][%lld] = {};", squares, (long long)(d[RKB_TILE_M] / 2));
   rkb_write(
      writer,
      "unsigned highs[%d][%lld][4], lows[%d][%lld][4]; /* what the products of two steps read of the own pixels */",
      RKB_CONVOLUTION_HELD_STEPS, squares, RKB_CONVOLUTION_HELD_STEPS, squares);
   write_multiply(writer, &tile);
   write_sums(writer, &tile);
   close_phases(writer, &tile);
   close_tiles(writer, &tile);
   const char *grid = rkb_index_manifest(&writer->indices, count_of(writer, &tile));
   *shape = (rkb_kernel_shape_t){
      .threads = (d[RKB_GROUPS] + 1) * RKB_CONVOLUTION_GROUP_THREADS,
      .blocks = d[RKB_BLOCKS] > 1 ? d[RKB_BLOCKS] : 1, /* setmaxnreg needs a kernel with a bound */
      .shared = rkb_convolution_shared_bytes(e, d),
      .owns = rkb_arena_format(
         writer->arena,
         "A block owns %lld x %lld pixels of an image, and %lld channels of %s; a warpgroup multiplies %lld of the pixels, and the last one "
         "copies.",
         (long long)e->rows, (long long)e->row, (long long)d[RKB_TILE_M], tile.node->name,
         squares * RKB_CONVOLUTION_GROUP_PIXELS)};
   shape->grid = d[RKB_PERSISTENT] ? rkb_arena_format(writer->arena, "min(%s, multiprocessors * %lld)", grid,
                                                      (long long)shape->blocks)
                                   : grid;
}
