/* Kernels that compute the gradient of a convolution's weight by warpgroups.  A block owns some channels of
 * the image and of the given gradient, all taps of the window between them, and a range of rows of 32 pixels.
 * One thread of the last warpgroup copies a row of 32 pixels of the gradient and the part of the image under its
 * windows; three warps beside it split the row.  Each warp of the other warpgroups loads its channels of the
 * part, shifted by the tap, splits them in registers, and multiplies.  One thread writes the text. */
#include "generator/convolution/weight_gradient_tile.h"

#include "generator/convolution/convolution_image.h"
#include "generator/tile/product_tile.h"
#include "generator/tile/warpgroup_tile.h"

static void open_unrolled(rkb_writer_t *writer, const char *head) {
   rkb_write_open(writer, false, "#pragma unroll\n%*s%s", 3 * (int)(writer->depth + 1), "", head);
}

/* The number of rows of pixels in all images. */
static const rkb_index_t *rows_of(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   return rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT,
                         rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, tile->images, tile->blocks[2]),
                         tile->blocks[1]);
}

static void write_place(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const int64_t split = tile->d[RKB_SPLIT];
   const char *across = rkb_writer_uniform(writer, tile->blocks[0]),
              *channels = rkb_writer_uniform(writer, tile->blocks[3]),
              *rows = rkb_writer_uniform(writer, rows_of(writer, tile));
   rkb_write(
      writer,
      "const index m_first = (index)blockIdx.x %% %s * %lld, c_first = (index)blockIdx.x / %s %% %s * %d;",
      across, (long long)tile->d[RKB_TILE_M], across, channels, RKB_CONVOLUTION_GROUP_CHANNELS);
   if (split == 1) {
      rkb_write(writer, "const index begin = 0, end = %s;", rows);
      return;
   }
   const rkb_index_t *share = rkb_tiles_along(writer, rows_of(writer, tile), split);
   rkb_check_share(writer, share, rows_of(writer, tile));
   const char *each = rkb_writer_uniform(writer, share);
   rkb_write(writer, "const index part = (index)blockIdx.x / %s / %s;", across, channels);
   rkb_write(writer, "const index begin = part * %s, end = begin + %s < %s ? begin + %s : %s;", each, each,
             rows, each, rows);
}

static int64_t stage_bytes(const rkb_convolution_t *tile) {
   return rkb_convolution_part_bytes(&tile->extent) + 2 * rkb_convolution_plane_bytes(tile->d);
}

static void open_rows(rkb_writer_t *writer) {
   rkb_write_open(writer, false, "for (index row = begin; row < end; row++)");
}

static void write_next_stage(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   rkb_write(writer, "stage = stage == %lld ? 0 : stage + 1;", (long long)tile->d[RKB_STAGES] - 1);
   rkb_write(writer, "turn ^= stage == 0;");
   rkb_write_close(writer);
}

/* Writes the code of the three warps of the last warpgroup that split the copied gradient. */
static void write_splitting(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const long long plane = (long long)rkb_convolution_plane_bytes(tile->d);
   rkb_write_open(writer, false, "if (threadIdx.x %% %d < %d)", RKB_CONVOLUTION_GROUP_THREADS,
                  32 * RKB_SPLITTING_WARPS);
   open_rows(writer);
   rkb_write(writer,
             "unsigned *const high = (unsigned *)(tiles + stage * %lld + %lld), *const low = high + %lld;",
             (long long)stage_bytes(tile), (long long)rkb_convolution_part_bytes(&tile->extent), plane / 4);
   rkb_write(writer, "barrier_wait(&filled[stage], turn);");
   rkb_write_split_along(writer, 0, plane / 4);
   rkb_write(writer, "products_see();");
   rkb_write(writer, "__syncwarp();");
   rkb_write(writer, "if (threadIdx.x %% 32 == 0)");
   rkb_write(writer, "   barrier_arrive(&divided[stage]);");
   write_next_stage(writer, tile);
   rkb_write(writer, "return;");
   rkb_write_close(writer);
}

/* Writes where the row's pixels begin. */
static void write_pixel(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const char *along = rkb_writer_uniform(writer, tile->blocks[1]),
              *down = rkb_writer_uniform(writer, tile->blocks[2]);
   rkb_write(
      writer,
      "const int q_first = (int)(row %% %s * %d), p_first = (int)(row / %s %% %s), image = (int)(row / %s / %s);",
      along, RKB_CONVOLUTION_TERMS, along, down, along, down);
}

static const char *less(rkb_writer_t *writer, const char *from, const rkb_index_t *what) {
   if (rkb_index_is(what, 0))
      return from;
   return rkb_arena_format(writer->arena, what->kind == RKB_INDEX_CONSTANT ? "%s - %s" : "%s - (int)%s", from,
                           rkb_writer_uniform(writer, what));
}

static void write_producer(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const int64_t *d = tile->d;
   const rkb_convolution_extent_t *e = &tile->extent;
   const long long part = (long long)rkb_convolution_part_bytes(e),
                   plane = (long long)rkb_convolution_plane_bytes(d);
   const char *images = rkb_convolution_image_map(writer, tile),
              *rows = rkb_convolution_row_map(writer, tile);
   rkb_write_open(writer, false, "if (warpgroup == %lld)", (long long)e->groups);
   if (rkb_convolution_registers(e, d) > rkb_convolution_equal_registers(e, d))
      rkb_write(writer, "fewer_registers<%lld>();", (long long)rkb_convolution_producer_registers(e));
   write_splitting(writer, tile);
   rkb_write(writer, "if (threadIdx.x != %lld)",
             (long long)e->groups * RKB_CONVOLUTION_GROUP_THREADS + 32 * RKB_SPLITTING_WARPS);
   rkb_write(writer, "   return;");
   open_rows(writer);
   write_pixel(writer, tile);
   rkb_write(writer, "barrier_wait(&freed[stage], turn ^ 1);");
   rkb_write(writer, "barrier_expect(&filled[stage], %lld);", part + plane);
   rkb_write(
      writer, "copy_part(tiles + stage * %lld, &%s, &filled[stage], %s, %s, (int)c_first, image);",
      (long long)stage_bytes(tile), images,
      less(writer, rkb_convolution_strided(writer, tile, "q_first"),
           rkb_convolution_copied_before(writer, tile)),
      less(writer, rkb_convolution_strided(writer, tile, "p_first"), tile->before[RKB_CONVOLUTION_DOWN]));
   rkb_write(
      writer,
      "copy_part(tiles + stage * %lld + %lld, &%s, &filled[stage], q_first, p_first, (int)m_first, image);",
      (long long)stage_bytes(tile), part, rows);
   write_next_stage(writer, tile);
   rkb_write(writer, "return;");
   rkb_write_close(writer);
}

/* Writes the products of a row: eight pixels at a time, for each tap. */
static void write_products(rkb_writer_t *writer, const rkb_convolution_t *tile, const char *columns) {
   const rkb_convolution_extent_t *e = &tile->extent;
   const long long taps = (long long)e->squares, pitch = (long long)(e->width * e->height),
                   dilation = (long long)e->dilation[RKB_CONVOLUTION_ALONG];
   const char *tap = taps == 1       ? ""
                     : dilation == 1 ? " + v"
                                     : rkb_arena_format(writer->arena, " + v * %lld", dilation);
   open_unrolled(writer, rkb_arena_format(writer->arena, "for (int step = 0; step < %d; step++)",
                                          RKB_CONVOLUTION_TERMS / RKB_CONVOLUTION_STEP_TERMS));
   open_unrolled(writer, rkb_arena_format(writer->arena, "for (int v = 0; v < %lld; v++)", taps));
   rkb_write(
      writer,
      "unsigned (&high)[4] = highs[(step * %lld + v) %% %d], (&low)[4] = lows[(step * %lld + v) %% %d];",
      taps, RKB_CONVOLUTION_HELD_STEPS, taps, RKB_CONVOLUTION_HELD_STEPS);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int r = 0; r < 4; r++) { /* pixels behind the row's last one have no gradient */");
   rkb_write(writer, "   const int pixel = step * %d + r / 2 * 4;", RKB_CONVOLUTION_STEP_TERMS);
   rkb_write(writer, "   high[r] = q_first + lane %% 4 + pixel < %s ? own[r %% 2 * %lld + %s%s] : 0;",
             columns, 8 * pitch, rkb_convolution_strided(writer, tile, "pixel"), tap);
   rkb_write(writer, "   split_tf32(high[r], low[r]);");
   rkb_write(writer, "}");
   rkb_write(writer, "hold(sums);");
   rkb_write(writer, "products_begin();");
   for (int part = 0; part < 3; part++) /* the small terms first */
      rkb_write(writer, "add_held_tf32x3_n%lld(sums[v], %s, matrix(taken + %sstep * %d, 16));",
                (long long)tile->d[RKB_TILE_M], part == 0 ? "low" : "high",
                part == 1 ? rkb_arena_format(writer->arena, "%lld + ",
                                             (long long)rkb_convolution_plane_bytes(tile->d))
                          : "",
                RKB_CONVOLUTION_STEP_TERMS * 4);
   rkb_write(writer, "products_sent();");
   rkb_write(writer, "hold(sums);");
   rkb_write(writer, "products_done<%d>();", RKB_CONVOLUTION_HELD_STEPS - 1);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

static void write_multiply(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const rkb_convolution_extent_t *e = &tile->extent;
   const rkb_index_t *moved =
      rkb_index_make(&writer->indices, RKB_INDEX_DIFFERENCE, rkb_convolution_copied_before(writer, tile),
                     tile->before[RKB_CONVOLUTION_ALONG]);
   const long long stage = (long long)stage_bytes(tile), pitch = (long long)(e->width * e->height),
                   down = (long long)(e->dilation[RKB_CONVOLUTION_DOWN] * e->width);
   open_rows(writer);
   rkb_write(writer, "const int q_first = (int)(row %% %s * %d);",
             rkb_writer_uniform(writer, tile->blocks[1]), RKB_CONVOLUTION_TERMS);
   rkb_write(
      writer,
      "const unsigned *const own = (const unsigned *)(tiles + stage * %lld) + (warp * 16 + lane / 4) * %lld%s + %s%s;",
      stage, pitch, e->groups > 1 ? rkb_arena_format(writer->arena, " + warpgroup * %lld", down) : "",
      rkb_convolution_strided(writer, tile, "lane % 4"),
      rkb_index_is(moved, 0) ? ""
                             : rkb_arena_format(writer->arena, " + %s", rkb_writer_uniform(writer, moved)));
   rkb_write(writer, "const unsigned char *const taken = tiles + stage * %lld + %lld;", stage,
             (long long)rkb_convolution_part_bytes(e));
   rkb_write(writer, "barrier_wait(&filled[stage], turn);");
   rkb_write(writer, "barrier_wait(&divided[stage], turn);");
   write_products(writer, tile, rkb_writer_uniform(writer, tile->product.depth.extent[2]));
   rkb_convolution_write_free(writer, tile, "row > begin && ");
   write_next_stage(writer, tile);
   rkb_write(writer, "products_done<0>();");
   rkb_write(writer, "hold(sums);");
}

/* Stores a sum, or a part of one. */
static void write_sum(rkb_writer_t *writer, const rkb_convolution_t *tile, const rkb_index_t *const *at,
                      const char *sum) {
   const uint32_t product = tile->product.node;
   rkb_writer_know(writer, product, at, sum);
   if (tile->d[RKB_SPLIT] == 1) {
      rkb_write_roots(writer, tile->launch, product, at);
      return;
   }
   const char *buffer = rkb_writer_buffer(writer, rkb_parts_name(writer, product), RKB_F32, true);
   rkb_write(
      writer, "%s[part * %s + %s] = %s;", buffer,
      rkb_writer_uniform(writer, rkb_index_elements(&writer->indices, tile->node->rank, tile->node->shape)),
      rkb_writer_index(writer, rkb_product_join(writer, product, tile->launch->roots[0], at)), sum);
}

/* Lets the warps that multiply wait for each other; the warps that copied have ended. */
static void write_meeting(rkb_writer_t *writer, const char *why) {
   rkb_write(writer, "__syncwarp(); /* %s */", why);
   rkb_write(writer, "if (lane == 0)");
   rkb_write(writer, "   barrier_arrive(&met);");
   rkb_write(writer, "barrier_wait(&met, meeting);");
   rkb_write(writer, "meeting ^= 1;");
}

/* Stores the sums through the stages in shared memory, the taps of some channels at a time.  The places of a
 * lane's own sums are a window apart in memory: stored directly, the sums would write each sector in nine pieces. */
static void write_sums(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const rkb_convolution_extent_t *e = &tile->extent;
   const rkb_product_dims_t *rows = &tile->product.row, *columns = &tile->product.column;
   const rkb_index_t *at[RKB_MAX_RANK], *row[RKB_PRODUCT_DIMS], *column[1],
      *group[] = {rkb_index_constant(&writer->indices, 0)};
   const long long taps = (long long)e->taps, along = (long long)e->squares,
                   length = RKB_CONVOLUTION_GROUP_CHANNELS * taps, pitch = rkb_convolution_room_pitch(e);
   const char *c = rkb_writer_name(writer, rows->name[0]);
   rkb_write(writer, "float *const room = (float *)tiles;");
   rkb_write(writer, "int meeting = 0;");
   open_unrolled(writer, rkb_arena_format(writer->arena, "for (int j = 0; j < %lld; j += %d)",
                                          (long long)tile->d[RKB_TILE_M], RKB_CONVOLUTION_ROOM_ROWS));
   write_meeting(writer, "what the stages held has been read");
   open_unrolled(
      writer, rkb_arena_format(writer->arena, "for (int i = 0; i < %d; i++)", RKB_CONVOLUTION_ROOM_ROWS / 2));
   rkb_write(
      writer,
      "const int row = i / 4 * 8 + lane %% 4 * 2 + i %% 2, channel = warp * 16 + i / 2 %% 2 * 8 + lane / 4;");
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int v = 0; v < %lld; v++)", along);
   rkb_write(writer, "   room[row * %lld + channel * %lld%s + v] = sums[v][j / 2 + i];", pitch, taps,
             e->groups > 1 ? rkb_arena_format(writer->arena, " + warpgroup * %lld", along) : "");
   rkb_write_close(writer);
   write_meeting(writer, "now others read it");
   rkb_write_open(writer, false, "for (int place = threadIdx.x; place < %lld; place += %lld)", length,
                  (long long)e->groups * RKB_CONVOLUTION_GROUP_THREADS);
   rkb_write(writer, "const index %s = c_first + place / %lld;", c, taps);
   row[0] = rkb_writer_variable(writer, c, rows->extent[0]);
   for (uint32_t side = 0; side < RKB_CONVOLUTION_SIDES; side++) {
      const bool last = side == RKB_CONVOLUTION_ALONG;
      const char *name = rkb_writer_name(writer, rows->name[1 + side]);
      row[1 + side] = rkb_index_constant(&writer->indices, 0);
      if (rkb_index_is(rows->extent[1 + side], 1))
         continue;
      rkb_write(writer, last ? "const index %s = place %% %lld;" : "const index %s = place %% %lld / %lld;",
                name, last ? along : taps, along);
      row[1 + side] = rkb_writer_variable(writer, name, rows->extent[1 + side]);
   }
   rkb_write_open(writer, true, "if (%s < %s)", c, rkb_writer_uniform(writer, rows->extent[0]));
   open_unrolled(writer,
                 rkb_arena_format(writer->arena, "for (int i = 0; i < %d; i++)", RKB_CONVOLUTION_ROOM_ROWS));
   rkb_write(writer, "const index m = m_first + j + i;");
   column[0] = rkb_writer_variable(writer, "m", columns->extent[0]);
   rkb_write_open(writer, true, "if (m < %s)", rkb_writer_uniform(writer, columns->extent[0]));
   rkb_product_output(writer, &tile->product, group, row, column, at);
   write_sum(writer, tile, at, rkb_arena_format(writer->arena, "room[i * %lld + place]", pitch));
   for (uint32_t i = 0; i < 5; i++)
      rkb_write_close(writer);
}

static void write_barriers(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const long long stages = (long long)tile->d[RKB_STAGES];
   rkb_write(writer, "__shared__ unsigned long long filled[%lld], freed[%lld], divided[%lld], met;", stages,
             stages, stages);
   rkb_write_open(writer, false, "if (threadIdx.x == 0)");
   rkb_write_open(writer, false, "for (int stage = 0; stage < %lld; stage++)", stages);
   rkb_write(writer, "barrier_start(&filled[stage], 1);");
   rkb_write(writer, "barrier_start(&freed[stage], %lld);",
             (long long)tile->extent.groups * RKB_CONVOLUTION_GROUP_THREADS / 32);
   rkb_write(writer, "barrier_start(&divided[stage], %d);", RKB_SPLITTING_WARPS);
   rkb_write_close(writer);
   rkb_write(writer, "barrier_start(&met, %lld);",
             (long long)tile->extent.groups * RKB_CONVOLUTION_GROUP_THREADS / 32);
   rkb_write(writer, "barriers_started();");
   rkb_write_close(writer);
   rkb_write(writer, "__syncthreads();");
}

void rkb_write_weight_gradient_kernel(rkb_writer_t *writer, const rkb_launch_t *launch,
                                      rkb_kernel_shape_t *shape) {
   const int64_t *d = launch->decisions;
   rkb_convolution_t tile;
   if (!rkb_convolution_open(writer, launch, &tile)) {
      rkb_writer_fail(writer, "no tensor maps describe both factors of %s", tile.node->name);
      return;
   }
   const rkb_convolution_extent_t *e = &tile.extent;
   rkb_write(writer, "extern __shared__ __align__(%d) unsigned char tiles[];", RKB_CONVOLUTION_PATTERN_BYTES);
   write_place(writer, &tile);
   write_barriers(writer, &tile);
   rkb_write(writer, "const int warpgroup = threadIdx.x / %d;", RKB_CONVOLUTION_GROUP_THREADS);
   rkb_write(
      writer,
      "int stage = 0, turn = 0; /* the stage at hand, and whether all have been used an odd number of times */");
   write_producer(writer, &tile);
   if (rkb_convolution_registers(e, d) > rkb_convolution_equal_registers(e, d))
      rkb_write(writer, "more_registers<%lld>();", (long long)rkb_convolution_registers(e, d));
   rkb_write(writer, "const int warp = threadIdx.x / 32 %% 4, lane = threadIdx.x %% 32;");
   rkb_write(writer, "float sums[%lld][%lld] = {}; /* of each tap of the own row of the window */",
             (long long)e->squares, (long long)(d[RKB_TILE_M] / 2));
   rkb_write(
      writer,
      "unsigned highs[%d][4], lows[%d][4]; /* what the products of two taps read of the own channels */",
      RKB_CONVOLUTION_HELD_STEPS, RKB_CONVOLUTION_HELD_STEPS);
   /* Without this ptxas puts the zeros among the first products, and each product then waits for the one
    * before (its message C7515). */
   rkb_write(writer, "hold(sums); /* they are zero before the first product begins */");
   write_multiply(writer, &tile);
   write_sums(writer, &tile);
   const char *grid = rkb_index_manifest(
      &writer->indices, rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, tile.blocks[0], tile.blocks[3]));
   *shape = (rkb_kernel_shape_t){
      .threads = (e->groups + 1) * RKB_CONVOLUTION_GROUP_THREADS,
      .blocks = d[RKB_BLOCKS] > 1 ? d[RKB_BLOCKS] : 1, /* setmaxnreg needs a kernel with a bound */
      .shared = d[RKB_STAGES] * stage_bytes(&tile),
      .grid = rkb_arena_format(writer->arena, "%s * %lld", grid, (long long)d[RKB_SPLIT]),
      .owns = rkb_arena_format(
         writer->arena,
         "A block owns all taps of %lld x %d channels of %s, over a part of the pixels; a warpgroup multiplies for one row of the window, and the last "
         "one copies.",
         (long long)d[RKB_TILE_M], RKB_CONVOLUTION_GROUP_CHANNELS, tile.node->name)};
}
