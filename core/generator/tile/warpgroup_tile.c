/* Kernels that compute tiles of a product by warpgroups.  Shared memory has stages.  Each stage holds one
 * tile of both factors as tensor maps write them: rows of 128 bytes, whose pieces of 16 bytes are permuted
 * according to the row (swizzle).  wgmma reads the same layout.  One thread of the last warpgroup fills the
 * stages; the other warpgroups own rows of the block's tile and multiply.  One thread writes them. */
#include "generator/tile/warpgroup_tile.h"

#include <string.h>
#include "generator/tile/pixel_map.h"
#include "generator/tile/tile_map.h"
#include "generator/tile/stored_sums.h"

#define GROUP_THREADS 128
#define PATTERN_BYTES 1024 /* eight rows of the swizzle; tiles begin at multiples of this */
#define PRODUCER_REGISTERS 40
#define MOST_REGISTERS 240 /* most registers that a thread may ask for with setmaxnreg */
#define FILE_REGISTERS 65536

/* Registers of the last warpgroup's threads, where the multiplying warpgroups split rows of their own. */
#define SPLITTING_REGISTERS 88
/* An instruction needs so many registers in addition to those of its sums (64 rows of a tile's columns).  ptxas gives
 * it no more than a thread has when the kernel begins. */
#define OPERAND_REGISTERS 26
/* Steps whose fragments are in registers: one is multiplied while the next one is split. */
#define HELD_STEPS 2
#define ROW_FLOATS (RKB_MAP_ROW_BYTES / 4)

static bool splits(const int64_t *d) {
   return d[RKB_TENSOR] == RKB_TENSOR_PATH_TF32X3;
}

/* Whether warpgroups split their own rows in registers. */
static bool holds(const int64_t *d) {
   return splits(d) && d[RKB_HELD];
}

static int64_t side_bytes(const rkb_launch_t *launch, int64_t extent) {
   return extent * launch->decisions[RKB_TILE_K] * rkb_fragment_type(launch->decisions[RKB_TENSOR])->bytes;
}

/* Bytes of the factors' tiles as they are copied. */
static int64_t copied_bytes(const rkb_launch_t *launch) {
   return side_bytes(launch, launch->decisions[RKB_TILE_M] + launch->decisions[RKB_TILE_N]);
}

/* The distance from the high parts to the low parts of factors that are split in shared memory.  The high parts
 * replace the copied floats. */
static int64_t low_distance(const rkb_launch_t *launch) {
   return holds(launch->decisions) ? side_bytes(launch, launch->decisions[RKB_TILE_N]) : copied_bytes(launch);
}

static int64_t stage_bytes(const rkb_launch_t *launch) {
   return copied_bytes(launch) + (splits(launch->decisions) ? low_distance(launch) : 0);
}

static int64_t warps_of(const int64_t *d) {
   return d[RKB_GROUPS] * GROUP_THREADS / 32;
}

/* Bytes of the stages, and of the memory for each warp's sums while they are stored.  The barriers take the bytes of
 * one further pattern. */
static int64_t shared_of(const rkb_launch_t *launch) {
   return stage_bytes(launch) * launch->decisions[RKB_STAGES] + warps_of(launch->decisions) * RKB_ROOM_BYTES;
}

/* Registers of a thread where all threads have equally many; and registers of a multiplying thread after the other
 * threads gave some back. */
static int64_t equal_registers(const int64_t *d) {
   const int64_t threads = (d[RKB_GROUPS] + 1) * GROUP_THREADS, blocks = d[RKB_BLOCKS] > 1 ? d[RKB_BLOCKS] : 1;
   const int64_t registers = FILE_REGISTERS / (threads * blocks) / 8 * 8;
   return registers > 255 ? 255 : registers;
}

static int64_t producer_registers(const int64_t *d) {
   return splits(d) ? SPLITTING_REGISTERS : PRODUCER_REGISTERS;
}

static int64_t multiplying_registers(const int64_t *d) {
   const int64_t equal = equal_registers(d), all = (equal * (d[RKB_GROUPS] + 1) - producer_registers(d)) / d[RKB_GROUPS] / 8 * 8;
   /* Threads that split both factors need registers too. */
   if ((splits(d) && !holds(d)) || equal > MOST_REGISTERS)
      return equal;
   return all > MOST_REGISTERS ? MOST_REGISTERS : all;
}

const char *rkb_warpgroup_refused(const rkb_launch_t *launch, int64_t shared_bytes) {
   const int64_t *d = launch->decisions;
   const rkb_fragment_type_t *type = rkb_fragment_type(d[RKB_TENSOR]);
   if (!type->warpgroup)
      return "warpgroups do not multiply this type";
   if (d[RKB_TILE_M] % (RKB_GROUP_ROWS * d[RKB_GROUPS]) != 0 || d[RKB_TILE_N] < RKB_GROUP_ROWS)
      return "a warpgroup multiplies 64 rows by 64 columns or more";
   if (d[RKB_TILE_K] * type->bytes % RKB_MAP_ROW_BYTES != 0)
      return "the terms brought at a time are no whole rows of a tensor map";
   if (d[RKB_STAGES] < 2)
      return "one stage is filled while another is multiplied";
   if (d[RKB_TILE_N] / 2 + OPERAND_REGISTERS > equal_registers(d))
      return "the sums of one multiplication need more registers than a thread begins with";
   const int64_t held = holds(d) ? d[RKB_TILE_M] / d[RKB_GROUPS] / RKB_GROUP_ROWS * 8 * HELD_STEPS : 0;
   if (d[RKB_TILE_M] * d[RKB_TILE_N] / d[RKB_GROUPS] / GROUP_THREADS + held + 40 > multiplying_registers(d))
      return "a warpgroup's tile needs more registers than there are";
   return shared_of(launch) > shared_bytes - PATTERN_BYTES ? "the stages need more shared memory than a block has" : NULL;
}

/* The tensor map that describes a side in memory. */
typedef struct side_map {
   bool of_pixels;
   rkb_tile_map_t tile;
   rkb_pixel_map_t pixels;
} side_map_t;

/* Whether a side's terms come to shared memory as rows and are transposed where they are split: tensor cores
 * take floats only with neighbouring terms. */
static bool is_turned(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   const int64_t *d = tile->launch->decisions;
   return splits(d) && !side->depth_fast && !(holds(d) && side == &tile->m);
}

/* Finds how both sides lie in memory, and their maps. */
static bool look(rkb_writer_t *writer, rkb_product_tile_t *tile, side_map_t maps[2]) {
   const rkb_fragment_type_t *type = rkb_fragment_type(tile->launch->decisions[RKB_TENSOR]);
   for (uint32_t s = 0; s < 2; s++) {
      rkb_tile_side_t *side = s ? &tile->n : &tile->m;
      rkb_staging_look(writer, tile, side, 16 / type->bytes);
      maps[s].of_pixels = type->bytes == 2 && rkb_side_is_of_pixels(writer, tile, side);
      if (!(maps[s].of_pixels ? rkb_pixel_map_of(writer, tile, side, &maps[s].pixels) : rkb_tile_map_of(writer, tile, side, &maps[s].tile)) ||
          (type->bytes != 2 && !side->depth_fast && !splits(tile->launch->decisions)) ||
          (is_turned(tile, side) && tile->depth != ROW_FLOATS))
         return false;
   }
   return !writer->failed;
}

bool rkb_warpgroup_suits(rkb_graph_t *graph, rkb_arena_t *arena, const rkb_storage_t *storage,
                         const rkb_launch_t *launch, const rkb_condition_t *conditions,
                         uint32_t condition_count, bool pads) {
   rkb_launch_t own = *launch;
   rkb_writer_t writer;
   rkb_product_tile_t tile;
   side_map_t maps[2];
   bool suits = rkb_writer_open(&writer, graph, arena, storage, conditions, condition_count);
   own.decisions[RKB_TAPS] = 0;
   if (suits) {
      rkb_tile_open(&writer, &own, &tile);
      tile.pads = pads;
      rkb_tile_number_by_taps(&writer, &tile);
      tile.threads = (own.decisions[RKB_GROUPS] + 1) * GROUP_THREADS;
      rkb_tile_place(&writer, &tile, 0);
      suits = look(&writer, &tile, maps);
   }
   rkb_writer_close(&writer);
   return suits;
}

/* Opens the loop over a block's tiles: its only tile, or in turn each tile that no other block of the grid
 * takes. */
static void open_tiles(rkb_writer_t *writer, rkb_product_tile_t *tile, const char *count) {
   const int64_t *d = tile->launch->decisions;
   if (d[RKB_PERSISTENT])
      rkb_write_open(writer, false, "for (index block = blockIdx.x; block < %s; block += gridDim.x)", count);
   rkb_tile_place(writer, tile, d[RKB_ORDER]);
}

static void close_tiles(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   if (tile->launch->decisions[RKB_PERSISTENT])
      rkb_write_close(writer);
}

static void write_next_stage(rkb_writer_t *writer, const int64_t *d) {
   rkb_write(writer, "stage = stage == %lld ? 0 : stage + 1;", (long long)d[RKB_STAGES] - 1);
   rkb_write(writer, "turn ^= stage == 0;");
}

void rkb_write_split_along(rkb_writer_t *writer, int64_t first, int64_t floats) {
   rkb_write_split_by(writer, "split_tf32", first, floats);
}

void rkb_write_split_by(rkb_writer_t *writer, const char *function, int64_t first, int64_t floats) {
   rkb_write_open(writer, false, "#pragma unroll 4\n%*sfor (int i = %sthreadIdx.x %% %d * 4; i < %lld; i += %d)", 3 * (int)(writer->depth + 1), "",
                  first ? rkb_arena_format(writer->arena, "%lld + ", (long long)first) : "", GROUP_THREADS, (long long)(first + floats),
                  4 * 32 * RKB_SPLITTING_WARPS);
   rkb_write(writer, "Pack<4, unsigned> rounded = *(const Pack<4, unsigned> *)(high + i), rest;");
   rkb_write(writer, "for (int e = 0; e < 4; e++) {");
   rkb_write(writer, "   rest.at[e] = 0;");
   rkb_write(writer, "   %s(rounded.at[e], rest.at[e]);", function);
   rkb_write(writer, "}");
   rkb_write(writer, "*(Pack<4, unsigned> *)(high + i) = rounded;");
   rkb_write(writer, "*(Pack<4, unsigned> *)(low + i) = rest;");
   rkb_write_close(writer);
}

/* Splits floats whose rows are terms: squares of 32 by 32. */
static void write_split_turned(rkb_writer_t *writer, int64_t first, int64_t floats) {
   const int square = ROW_FLOATS * ROW_FLOATS;
   rkb_write(writer, "for (int i = %sthreadIdx.x %% %d / 32 * %d; i < %lld; i += %d)",
             first ? rkb_arena_format(writer->arena, "%lld + ", (long long)first) : "", GROUP_THREADS, square, (long long)(first + floats),
             square * RKB_SPLITTING_WARPS);
   rkb_write(writer, "   split_turned(high + i, low + i);");
}

/* Writes the code of the last warpgroup's warps that make two numbers of each copied float: in its place the
 * part that tensor cores take, and elsewhere the rest. */
static void write_splitting(rkb_writer_t *writer, rkb_product_tile_t *tile, side_map_t maps[2], const char *tiles) {
   const int64_t *d = tile->launch->decisions;
   const int64_t m_floats = side_bytes(tile->launch, d[RKB_TILE_M]) / 4, n_floats = side_bytes(tile->launch, d[RKB_TILE_N]) / 4;
   rkb_write_open(writer, false, "if (threadIdx.x %% %d < %d)", GROUP_THREADS, 32 * RKB_SPLITTING_WARPS);
   open_tiles(writer, tile, tiles);
   look(writer, tile, maps);
   rkb_write_open(writer, false, "for (index first = begin; first < end; first += %lld)", (long long)tile->depth);
   rkb_write(writer, "unsigned *const high = (unsigned *)(tiles + stage * %lld), *const low = high + %lld;",
             (long long)stage_bytes(tile->launch), (long long)low_distance(tile->launch) / 4);
   rkb_write(writer, "barrier_wait(&filled[stage], turn);");
   if (!holds(d) && !is_turned(tile, &tile->m) && !is_turned(tile, &tile->n))
      rkb_write_split_along(writer, 0, m_floats + n_floats);
   else {
      if (!holds(d))
         (is_turned(tile, &tile->m) ? write_split_turned : rkb_write_split_along)(writer, 0, m_floats);
      (is_turned(tile, &tile->n) ? write_split_turned : rkb_write_split_along)(writer, m_floats, n_floats);
   }
   rkb_write(writer, "products_see();");
   rkb_write(writer, "__syncwarp();");
   rkb_write(writer, "if (threadIdx.x %% 32 == 0)");
   rkb_write(writer, "   barrier_arrive(&divided[stage]);");
   write_next_stage(writer, d);
   rkb_write_close(writer);
   close_tiles(writer, tile);
   rkb_write(writer, "return;");
   rkb_write_close(writer);
}

static void write_side_copy(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side, const side_map_t *map,
                            const char *to) {
   if (map->of_pixels)
      rkb_pixel_map_copy(writer, tile, side, &map->pixels, to, "&filled[stage]");
   else
      rkb_tile_map_copy(writer, tile, side, &map->tile, to, "&filled[stage]");
}

/* Writes the code of the warpgroup that copies. */
static void write_producer(rkb_writer_t *writer, rkb_product_tile_t *tile, side_map_t maps[2], const char *tiles) {
   const int64_t *d = tile->launch->decisions;
   const long long bytes = (long long)stage_bytes(tile->launch), copied = (long long)copied_bytes(tile->launch);
   rkb_write_open(writer, false, "if (warpgroup == %lld)", (long long)d[RKB_GROUPS]);
   if (multiplying_registers(d) > equal_registers(d))
      rkb_write(writer, "fewer_registers<%lld>();", (long long)producer_registers(d));
   if (splits(d))
      write_splitting(writer, tile, maps, tiles);
   rkb_write(writer, "if (threadIdx.x != %lld)", (long long)d[RKB_GROUPS] * GROUP_THREADS + (splits(d) ? 32 * RKB_SPLITTING_WARPS : 0));
   rkb_write(writer, "   return;");
   open_tiles(writer, tile, tiles);
   look(writer, tile, maps);
   const rkb_pixel_map_t *pixels = NULL;
   for (uint32_t s = 0; s < 2; s++)
      if (maps[s].of_pixels) {
         const rkb_tile_side_t *side = s ? &tile->n : &tile->m;
         pixels = &maps[s].pixels;
         rkb_pixel_map_place(writer, side, pixels);
         rkb_pixel_map_begin_terms(writer, tile, side, pixels);
      }
   rkb_write_open(writer, false, "for (index first = begin; first < end; first += %lld)", (long long)tile->depth);
   rkb_write(writer, "barrier_wait(&freed[stage], turn ^ 1);");
   rkb_write(writer, "barrier_expect(&filled[stage], %lld);", copied);
   rkb_write(writer, "unsigned char *const m_tile = tiles + stage * %lld, *const n_tile = m_tile + %lld;", bytes,
             (long long)side_bytes(tile->launch, d[RKB_TILE_M]));
   write_side_copy(writer, tile, &tile->m, &maps[0], "m_tile");
   write_side_copy(writer, tile, &tile->n, &maps[1], "n_tile");
   if (pixels)
      rkb_pixel_map_next_terms(writer, tile, pixels);
   write_next_stage(writer, d);
   rkb_write_close(writer);
   close_tiles(writer, tile);
   rkb_write(writer, "return;");
   rkb_write_close(writer);
}

/* The descriptor of the part of a side that one wgmma reads: it begins at the row or column that the text gives, and
 * at the step's first term. */
static const char *matrix_text(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side, bool low) {
   const long long box = (long long)rkb_tile_map_box_bytes(tile, side);
   const long long steps_a_row = RKB_MAP_ROW_BYTES / RKB_FRAGMENT_BYTES,
                   steps = tile->depth * (long long)rkb_fragment_type(tile->launch->decisions[RKB_TENSOR])->bytes / RKB_FRAGMENT_BYTES;
   const char *stage = side == &tile->m ? "m_stage" : "n_stage";
   if (low)
      stage = rkb_arena_format(writer->arena, "%s + %lld", stage, (long long)low_distance(tile->launch));
   const char *row = side == &tile->n ? "" : tile->m.depth_fast ? " + i * 8192" : rkb_arena_format(writer->arena, " + i * %lld", box);
   if (!side->depth_fast) /* 16 terms take two patterns of eight rows */
      return rkb_arena_format(writer->arena, "matrix(%s%s + step * %d, %lld)", stage, row, 2 * PATTERN_BYTES, box);
   if (steps == steps_a_row)
      return rkb_arena_format(writer->arena, "matrix(%s%s + step * %d, 16)", stage, row, RKB_FRAGMENT_BYTES);
   return rkb_arena_format(writer->arena, "matrix(%s%s + step / %lld * %lld + step %% %lld * %d, 16)", stage, row, steps_a_row, box,
                           steps_a_row, RKB_FRAGMENT_BYTES);
}

/* One thread gives a stage back on behalf of so many threads: of a warpgroup, whose products have ended; or of a warp,
 * which has also read floats. */
static int freeing_threads(const int64_t *d) {
   return holds(d) ? 32 : GROUP_THREADS;
}

/* Gives back the stage before the current one. */
static void write_free(rkb_writer_t *writer, const int64_t *d, const char *condition) {
   const char *before = rkb_arena_format(writer->arena, "&freed[stage == 0 ? %lld : stage - 1]", (long long)d[RKB_STAGES] - 1);
   if (holds(d))
      rkb_write(writer, "__syncwarp();");
   rkb_write(writer, "if (%s && threadIdx.x %% %d == 0)", condition, freeing_threads(d));
   rkb_write(writer, "   barrier_arrive(%s);", before);
}

static void write_product(rkb_writer_t *writer, const rkb_product_tile_t *tile, bool m_low, bool n_low) {
   const int64_t *d = tile->launch->decisions;
   const rkb_fragment_type_t *type = rkb_fragment_type(d[RKB_TENSOR]);
   rkb_write(writer, "      %s_n%lld%s(sums[i], %s, %s);", type->multiply, (long long)d[RKB_TILE_N],
             type->bytes == 2 ? rkb_arena_format(writer->arena, "<%d, %d>", !tile->m.depth_fast, !tile->n.depth_fast) : "",
             matrix_text(writer, tile, &tile->m, m_low), matrix_text(writer, tile, &tile->n, n_low));
}

/* Writes the products of a stage, as one group. */
static void write_stage(rkb_writer_t *writer, const rkb_product_tile_t *tile, long long steps, long long squares) {
   const bool split = splits(tile->launch->decisions);
   rkb_write(writer, "products_begin();");
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int step = 0; step < %lld; step++)", steps);
   rkb_write(writer, "   #pragma unroll");
   rkb_write(writer, split ? "   for (int i = 0; i < %lld; i++) {" : "   for (int i = 0; i < %lld; i++)", squares);
   if (split) { /* the small terms first */
      write_product(writer, tile, true, false);
      write_product(writer, tile, false, true);
   }
   write_product(writer, tile, false, false);
   if (split)
      rkb_write(writer, "   }");
   rkb_write(writer, "products_sent();");
   rkb_write(writer, "hold(sums);");
   rkb_write(writer, "products_done<1>();");
}

/* Where a float of the warpgroup's own rows lies in its stage; row and term are variables. */
static const char *own_float(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   const long long box = (long long)rkb_tile_map_box_bytes(tile, &tile->m) / 4,
                   squares = RKB_GROUP_ROWS * ROW_FLOATS;
   if (tile->m.depth_fast)
      return rkb_arena_format(writer->arena, "own[i * %lld%s + row * %d + (term%s / 4 ^ row %% 8) * 4 + term %% 4]", squares,
                              tile->depth > ROW_FLOATS ? rkb_arena_format(writer->arena, " + term / %d * %lld", ROW_FLOATS, box) : "", ROW_FLOATS,
                              tile->depth > ROW_FLOATS ? rkb_arena_format(writer->arena, " %% %d", ROW_FLOATS) : "");
   return rkb_arena_format(
      writer->arena,
      "own[(i * %d + row / %d) * %lld + term * %d + (row %% %d / 4 ^ term %% 8) * 4 + row %% 4]",
      RKB_GROUP_ROWS / ROW_FLOATS, ROW_FLOATS, box, ROW_FLOATS, ROW_FLOATS);
}

/* The same with a group for each step: while one step is multiplied, the own rows of the next step are split
 * in registers. */
static void write_held_stage(rkb_writer_t *writer, const rkb_product_tile_t *tile, long long steps, long long squares) {
   const rkb_fragment_type_t *type = rkb_fragment_type(tile->launch->decisions[RKB_TENSOR]);
   const long long columns = (long long)tile->launch->decisions[RKB_TILE_N];
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int step = 0; step < %lld; step++)", 3 * (int)(writer->depth + 1), "", steps);
   rkb_write(writer, "unsigned (&high)[%lld][4] = highs[step %% %d], (&low)[%lld][4] = lows[step %% %d];", squares, HELD_STEPS, squares, HELD_STEPS);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", squares);
   rkb_write(writer, "   #pragma unroll");
   rkb_write(writer, "   for (int r = 0; r < 4; r++) {");
   rkb_write(writer, "      const int row = warp * 16 + lane / 4 + r %% 2 * 8, term = step * 8 + lane %% 4 + r / 2 * 4;");
   rkb_write(writer, "      high[i][r] = %s;", own_float(writer, tile));
   rkb_write(writer, "      split_tf32(high[i][r], low[i][r]);");
   rkb_write(writer, "   }");
   rkb_write(writer, "hold(sums);");
   rkb_write(writer, "products_begin();");
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++) {", squares);
   for (int part = 0; part < 3; part++) /* the small terms first */
      rkb_write(writer, "   add_held_%s_n%lld(sums[i], %s[i], %s);", type->name, columns, part == 0 ? "low" : "high",
                matrix_text(writer, tile, &tile->n, part == 1));
   rkb_write(writer, "}");
   rkb_write(writer, "products_sent();");
   rkb_write(writer, "hold(sums);");
   rkb_write(writer, "products_done<%d>();", HELD_STEPS - 1);
   rkb_write_close(writer);
}

/* Multiplies the stages of one tile as they are filled.  While a warpgroup waits for the next stage, the products of
 * this stage are in flight; then it gives this stage back. */
static void write_multiply(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   const int64_t *d = tile->launch->decisions;
   const rkb_fragment_type_t *type = rkb_fragment_type(d[RKB_TENSOR]);
   const long long rows = (long long)(d[RKB_TILE_M] / d[RKB_GROUPS]), bytes = (long long)stage_bytes(tile->launch),
                   steps = (long long)(tile->depth * type->bytes / RKB_FRAGMENT_BYTES), n_at = (long long)side_bytes(tile->launch, d[RKB_TILE_M]);
   const long long own = tile->m.depth_fast ? rows * RKB_MAP_ROW_BYTES
                                            : rows * (long long)type->bytes / RKB_MAP_ROW_BYTES * (long long)rkb_tile_map_box_bytes(tile, &tile->m);
   rkb_write_open(writer, false, "for (index first = begin; first < end; first += %lld)", (long long)tile->depth);
   if (holds(d))
      rkb_write(writer, "barrier_wait(&filled[stage], turn);");
   rkb_write(writer, splits(d) ? "barrier_wait(&divided[stage], turn);" : "barrier_wait(&filled[stage], turn);");
   if (holds(d)) {
      rkb_write(writer, "const unsigned *const own = (const unsigned *)(tiles + stage * %lld + warpgroup * %lld);", bytes, own);
      rkb_write(writer, "const unsigned char *const n_stage = tiles + stage * %lld + %lld;", bytes, n_at);
      write_held_stage(writer, tile, steps, rows / RKB_GROUP_ROWS);
   } else {
      rkb_write(writer,
                "const unsigned char *const m_stage = tiles + stage * %lld + warpgroup * %lld, *const n_stage = tiles + stage * %lld + %lld;",
                bytes, own, bytes, n_at);
      rkb_write(writer, "hold(sums);");
      write_stage(writer, tile, steps, rows / RKB_GROUP_ROWS);
   }
   write_free(writer, d, "first > begin");
   write_next_stage(writer, d);
   rkb_write_close(writer);
   rkb_write(writer, "products_done<0>();");
   rkb_write(writer, "hold(sums);");
   write_free(writer, d, "begin < end");
}

static void write_barriers(rkb_writer_t *writer, const int64_t *d) {
   const long long stages = (long long)d[RKB_STAGES];
   rkb_write(writer, "__shared__ unsigned long long filled[%lld], freed[%lld]%s;", stages, stages,
             splits(d) ? rkb_arena_format(writer->arena, ", divided[%lld]", stages) : "");
   rkb_write_open(writer, false, "if (threadIdx.x == 0)");
   rkb_write_open(writer, false, "for (int stage = 0; stage < %lld; stage++)", stages);
   rkb_write(writer, "barrier_start(&filled[stage], 1);");
   rkb_write(writer, "barrier_start(&freed[stage], %lld);", (long long)d[RKB_GROUPS] * GROUP_THREADS / freeing_threads(d));
   if (splits(d))
      rkb_write(writer, "barrier_start(&divided[stage], %d);", RKB_SPLITTING_WARPS);
   rkb_write_close(writer);
   rkb_write(writer, "barriers_started();");
   rkb_write_close(writer);
   rkb_write(writer, "__syncthreads();");
}

void rkb_write_warpgroup_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   rkb_launch_t own = *launch;
   const int64_t *d = own.decisions;
   const rkb_fragment_type_t *type = rkb_fragment_type(d[RKB_TENSOR]);
   const long long rows = (long long)(d[RKB_TILE_M] / d[RKB_GROUPS]);
   rkb_product_tile_t tile;
   side_map_t maps[2];
   own.decisions[RKB_TAPS] = 0;
   rkb_tile_open(writer, &own, &tile);
   tile.pads = d[RKB_VECTOR] == 1;
   rkb_tile_number_by_taps(writer, &tile);
   tile.threads = (d[RKB_GROUPS] + 1) * GROUP_THREADS;
   if (d[RKB_PERSISTENT])
      tile.block = "block";
   rkb_tile_count_blocks(writer, &tile);
   const rkb_index_t *count = rkb_tile_count(writer, &tile);
   const char *tiles = d[RKB_PERSISTENT] ? rkb_writer_uniform(writer, count) : "";
   rkb_write(writer, "extern __shared__ __align__(%d) unsigned char tiles[];", PATTERN_BYTES);
   write_barriers(writer, d);
   rkb_write(writer, "const int warpgroup = threadIdx.x / %d;", GROUP_THREADS);
   rkb_write(writer, "int stage = 0, turn = 0; /* the stage at hand, and whether all have been used an odd number of times */");
   write_producer(writer, &tile, maps, tiles);
   for (uint32_t i = 0; i < 2; i++) { /* a transposed side has neighbours along the terms */
      rkb_tile_side_t *side = i ? &tile.n : &tile.m;
      side->depth_fast |= is_turned(&tile, side);
   }
   if (multiplying_registers(d) > equal_registers(d))
      rkb_write(writer, "more_registers<%lld>();", (long long)multiplying_registers(d));
   rkb_write(writer, "const int warp = threadIdx.x / 32 %% 4, lane = threadIdx.x %% 32;");
   rkb_write(writer, "float *const room = (float *)(tiles + %lld) + threadIdx.x / 32 * %d;",
             (long long)(stage_bytes(&own) * d[RKB_STAGES]), RKB_ROOM_BYTES / 4);
   open_tiles(writer, &tile, tiles);
   rkb_write(writer, "%s sums[%lld][%lld] = {};", type->sum, rows / RKB_GROUP_ROWS,
             (long long)(d[RKB_TILE_N] / 2));
   if (holds(d))
      rkb_write(
         writer,
         "unsigned highs[%d][%lld][4], lows[%d][%lld][4]; /* what the products of two steps read of the own rows */",
         HELD_STEPS, rows / RKB_GROUP_ROWS, HELD_STEPS, rows / RKB_GROUP_ROWS);
   write_multiply(writer, &tile);
   rkb_write_warpgroup_sums(writer, &tile);
   close_tiles(writer, &tile);
   rkb_tile_shape(writer, &tile,
                  rkb_arena_format(writer->arena, "%s%lld x %lld of them, and the last one copies tiles of the factors.",
                                   d[RKB_GROUPS] > 1 ? "warpgroup multiplies " : "warpgroup multiplies ", rows, (long long)d[RKB_TILE_N]),
                  shape);
   shape->shared = shared_of(&own);
   shape->blocks = d[RKB_BLOCKS] > 1 ? d[RKB_BLOCKS] : 1; /* setmaxnreg needs a kernel with a bound */
   if (d[RKB_PERSISTENT])
      shape->grid = rkb_arena_format(writer->arena, "min(%s, multiprocessors * %lld)", shape->grid, (long long)shape->blocks);
}
