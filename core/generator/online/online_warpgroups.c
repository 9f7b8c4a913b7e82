/* Launches over scores by warpgroups.  A warpgroup owns 64 rows: it multiplies them with the streamed rows where those lie in shared
 * memory (wgmma), keeps statistics of its scores, and multiplies the values computed from them from its registers.  One thread of the last
 * warpgroup copies tiles by tensor maps.  One thread writes them.
 *
 * The tensor cores compute the scores of a tile, and add the products of the previous tile to the output, while shares are computed.
 * Warpgroups take turns at the tensor cores: one multiplies while another computes statistics (Shah et al.: 'FlashAttention-3', 2024). */
#include "generator/online/online_warpgroups.h"

#include "generator/online/online_maps.h"
#include "generator/online/online_split.h"
#include "generator/tile/warpgroup_tile.h"

#define GROUP_THREADS 128
#define GROUP_ROWS 64 /* of one wgmma */
#define MOST_GROUPS 3
#define FRAGMENT_ROWS 16 /* terms of one wgmma, of two bytes */
#define ROW_BYTES 128    /* bytes of a tile's row: as wide as the widest swizzle */
#define PATTERN_BYTES 1024
#define PRODUCER_REGISTERS 24
#define SPLITTING_REGISTERS 88 /* registers of the copying warpgroup's threads where they split floats */
#define MOST_REGISTERS 240
#define FILE_REGISTERS 65536
#define STATISTICS_REGISTERS                                                                                 \
   16 /* further registers of a thread that makes statistics: with fewer, own rows of 128 elements spilled */
#define OTHER_REGISTERS 40 /* registers of a thread for everything but scores, values made of them, and sums */

static int64_t groups_of(const int64_t *d) {
   return d[RKB_TILE_M] / GROUP_ROWS;
}

static bool splits(const int64_t *d) {
   return d[RKB_TENSOR] == RKB_TENSOR_PATH_TF32X3;
}

static int64_t producer_registers(const int64_t *d) {
   return splits(d) ? SPLITTING_REGISTERS : PRODUCER_REGISTERS;
}

/* Registers of a thread when the kernel begins: so many blocks get equal parts of the register file. */
static int64_t equal_registers(const int64_t *d) {
   const int64_t blocks = d[RKB_BLOCKS] > 1 ? d[RKB_BLOCKS] : 1,
                 registers = FILE_REGISTERS / ((groups_of(d) + 1) * GROUP_THREADS * blocks) / 8 * 8;
   return registers > 255 ? 255 : registers;
}

/* Registers of a thread that multiplies, after the other threads gave some back. */
static int64_t multiplying_registers(const int64_t *d) {
   const int64_t groups = groups_of(d), equal = equal_registers(d), all = (equal * (groups + 1) - producer_registers(d)) / groups / 8 * 8;
   return equal > MOST_REGISTERS ? equal : all > MOST_REGISTERS ? MOST_REGISTERS : all;
}

static bool gives_registers(const int64_t *d) {
   return multiplying_registers(d) > equal_registers(d);
}

/* Registers for a thread's scores, for the values made of the previous tile's scores, and for its part of an out. */
static int64_t registers_of(const int64_t *d, int64_t stream_tile, int64_t head) {
   const int64_t made = splits(d) ? rkb_online_split_registers(stream_tile) : stream_tile / 4;
   return stream_tile / 2 + made + head / 2 + OTHER_REGISTERS;
}

/* The same for several kinds of scores.  made: the values made of scores are multiplied while new scores are computed; else they take the
 * registers of the scores. */
static int64_t registers_of_several(const rkb_online_nodes_t *nodes, int64_t stream_tile, int64_t head,
                                    bool made) {
   return stream_tile / 2 * nodes->score_count + (made ? stream_tile / 4 * nodes->out_count : 0) +
          head / 2 * nodes->out_count + OTHER_REGISTERS;
}

bool rkb_online_has_registers(const rkb_online_t *o, bool made) {
   return registers_of_several(&o->nodes, o->stream_tile, o->head, made) <=
          multiplying_registers(o->launch->decisions);
}

void rkb_online_keep_rows(rkb_writer_t *writer, rkb_online_t *o) {
   const int64_t *d = o->launch->decisions;
   int64_t registers =
      registers_of_several(&o->nodes, o->stream_tile, o->head, rkb_online_has_registers(o, true)) +
      (o->nodes.out_count ? 0 : STATISTICS_REGISTERS);
   for (uint32_t b = 0; b < o->brought_count; b++)
      registers += o->brought[b].own ? o->brought[b].width / 4 : 0;
   o->keeps = d[RKB_KEEP] > 0 && registers <= multiplying_registers(d);
   for (uint32_t b = 0; b < o->brought_count && o->keeps; b++)
      if (o->brought[b].own) {
         o->brought[b].held = rkb_writer_name(
            writer, rkb_arena_format(writer->arena, "%s_own", rkb_online_short_name(writer, &o->brought[b])));
         rkb_writer_know(writer, 0, (const rkb_index_t *const[RKB_MAX_RANK]){0},
                         o->brought[b].held); /* the name is in use now */
      }
}

/* Fragments of an own tile have 16 elements of a row. */
static long long steps_of(const rkb_online_t *o, const rkb_brought_t *tile) {
   return (long long)(tile->width * o->tensor->bytes / RKB_FRAGMENT_BYTES);
}

void rkb_online_write_kept(rkb_writer_t *writer, const rkb_online_t *o) {
   for (uint32_t b = 0; b < o->brought_count && o->keeps; b++)
      if (o->brought[b].own)
         rkb_write(writer, "unsigned %s[%lld][4];", o->brought[b].held, steps_of(o, &o->brought[b]));
}

void rkb_online_load_kept(rkb_writer_t *writer, const rkb_online_t *o) {
   for (uint32_t b = 0; b < o->brought_count && o->keeps; b++)
      if (o->brought[b].own)
         rkb_write(writer, "hold_rows(%s, %s + warp_m * %d, %lld);", o->brought[b].held, o->brought[b].name,
                   ROW_BYTES, (long long)o->brought[b].rows * ROW_BYTES);
}

void rkb_online_write_fewer_registers(rkb_writer_t *writer, const rkb_online_t *o) {
   if (gives_registers(o->launch->decisions))
      rkb_write(writer, "fewer_registers<%lld>();", (long long)producer_registers(o->launch->decisions));
}

void rkb_online_write_more_registers(rkb_writer_t *writer, const rkb_online_t *o) {
   if (gives_registers(o->launch->decisions))
      rkb_write(writer, "more_registers<%lld>();", (long long)multiplying_registers(o->launch->decisions));
}

const char *rkb_online_warpgroups_refused(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions, groups = groups_of(d);
   rkb_online_nodes_t nodes;
   if (d[RKB_TENSOR] != RKB_TENSOR_PATH_BF16 && !splits(d))
      return "warpgroups make scores of bf16 and of split floats alone";
   if (!rkb_online_nodes(graph, launch, &nodes))
      return "these nodes are no scores with statistics or products";
   const bool several = rkb_online_is_several(&nodes);
   if (!several && nodes.total_count)
      return "matrices are added up where there are several kinds of scores";
   if (several &&
       (splits(d) || nodes.out_count > nodes.score_count || (nodes.out_count && nodes.reduce_count)))
      return "warpgroups make statistics of several kinds of scores, or products by statistics that memory has";
   if (d[RKB_TILE_M] % GROUP_ROWS != 0 || groups < 1 || groups > MOST_GROUPS || d[RKB_TILE_N] < (splits(d) ? RKB_ONLINE_SQUARE : GROUP_ROWS))
      return "a warpgroup has 64 own rows and streams over 64 or more, of floats 32";
   if (d[RKB_STAGES] < 2)
      return "one stage is filled while another is multiplied";
   return (several ? registers_of_several(&nodes, d[RKB_TILE_N], GROUP_ROWS, false)
                   : registers_of(d, d[RKB_TILE_N], GROUP_ROWS)) > multiplying_registers(d)
             ? "a warpgroup's scores need more registers than there are"
             : NULL;
}

/* Floats are split in place, and longer rows take more memory and registers.  So they have fewer stages, and tiles of fewer rows. */
static void set_stages(const rkb_writer_t *writer, rkb_online_t *o) {
   const int64_t *d = o->launch->decisions, own = o->own_tile * o->head * 4, rooms = o->groups * GROUP_THREADS / 32 * RKB_ROOM_FLOATS * 4;
   o->stages = d[RKB_STAGES];
   while (splits(d) && (own + rooms + o->stages * 2 * 2 * o->stream_tile * o->head * 4 > writer->shared_bytes ||
                        registers_of(d, o->stream_tile, o->head) > multiplying_registers(d))) {
      if (o->stages > 2)
         o->stages--;
      else if (o->stream_tile > RKB_ONLINE_SQUARE)
         o->stream_tile /= 2;
      else
         return;
   }
}

void rkb_online_set_warpgroups(rkb_writer_t *writer, rkb_online_t *o) {
   const int64_t *d = o->launch->decisions;
   o->tensor = rkb_fragment_type(d[RKB_TENSOR]);
   o->groups = groups_of(d);
   set_stages(writer, o);
   o->warp_m = 16;
   o->warp_n = o->stream_tile;
   o->rows = 2;
   o->columns = o->stream_tile / 4;
   o->out_columns = o->head / 4;
   o->across = 4;
   o->threads = (o->groups + 1) * GROUP_THREADS;
   const bool enough = rkb_online_is_several(&o->nodes)
                          ? rkb_online_has_registers(o, false)
                          : registers_of(d, o->stream_tile, o->head) <= multiplying_registers(d);
   if (o->head % (ROW_BYTES / o->tensor->bytes) != 0 || !enough)
      rkb_writer_fail(writer, "a warpgroup's scores and products need more registers than there are");
   o->own_at = "warp_m + lane / 4 + i * 8";
   o->streamed_at = "lane % 4 * 2 + j / 2 * 8 + j % 2";
   o->first_lane = "lane % 4 == 0";
}

static int64_t bytes_of(const rkb_online_t *o, const rkb_brought_t *tile) {
   return tile->rows * tile->width * o->tensor->bytes;
}

/* Bytes of a streamed tile's stage: each float becomes two numbers. */
static int64_t stage_of(const rkb_online_t *o, const rkb_brought_t *tile) {
   return bytes_of(o, tile) * (splits(o->launch->decisions) ? 2 : 1);
}

/* The barriers that say what can be multiplied. */
static const char *ready(const rkb_online_t *o) {
   return splits(o->launch->decisions) ? "divided" : "filled";
}

int64_t rkb_online_close_barriers(rkb_writer_t *writer, rkb_online_t *o, int64_t first) {
   rkb_write_close(writer);
   rkb_write(writer, "barriers_started();");
   rkb_write_close(writer);
   rkb_write(writer, "__syncthreads();");
   o->rooms_at = first;
   return first + o->groups * GROUP_THREADS / 32 * RKB_ROOM_FLOATS * 4;
}

int64_t rkb_online_open_warpgroups(rkb_writer_t *writer, rkb_online_t *o) {
   const long long stages = (long long)o->stages;
   const rkb_brought_t *own = rkb_online_own_of(o), *streamed[] = {rkb_online_scored_of(o), rkb_online_added_of(o)};
   int64_t first = bytes_of(o, own);
   if (streamed[0] == streamed[1] || o->brought_count != 3)
      rkb_writer_fail(writer, "warpgroups stream over two factors");
   rkb_write(writer, "extern __shared__ __align__(%d) unsigned char tiles[];", PATTERN_BYTES);
   rkb_write(writer, "unsigned char *const %s = tiles;", own->name);
   for (uint32_t i = 0; i < 2; i++) {
      rkb_write(writer, "unsigned char *const %s = tiles + %lld; /* %lld stages */", streamed[i]->name, (long long)first, stages);
      first += stages * stage_of(o, streamed[i]);
   }
   rkb_write(writer, "__shared__ unsigned long long %s_filled;", rkb_online_short_name(writer, own));
   for (uint32_t i = 0; i < 2; i++)
      rkb_write(writer, "__shared__ unsigned long long %s_filled[%lld], %s_freed[%lld]%s;", rkb_online_short_name(writer, streamed[i]), stages,
                rkb_online_short_name(writer, streamed[i]), stages,
                splits(o->launch->decisions) ? rkb_arena_format(writer->arena, ", %s_divided[%lld]", rkb_online_short_name(writer, streamed[i]), stages) : "");
   rkb_write_open(writer, false, "if (threadIdx.x == 0)");
   rkb_write(writer, "barrier_start(&%s_filled, 1);", rkb_online_short_name(writer, own));
   rkb_write_open(writer, false, "for (int stage = 0; stage < %lld; stage++)", stages);
   for (uint32_t i = 0; i < 2; i++) {
      rkb_write(writer, "barrier_start(&%s_filled[stage], 1);", rkb_online_short_name(writer, streamed[i]));
      rkb_write(writer, "barrier_start(&%s_freed[stage], %lld);", rkb_online_short_name(writer, streamed[i]), (long long)o->groups);
      if (splits(o->launch->decisions))
         rkb_write(writer, "barrier_start(&%s_divided[stage], %d);", rkb_online_short_name(writer, streamed[i]), RKB_SPLITTING_WARPS);
   }
   return rkb_online_close_barriers(writer, o, first);
}

/* The warpgroup that copies: the own rows once, then the streamed ones as their stages become free. */
static void write_producer(rkb_writer_t *writer, const rkb_online_t *o) {
   const rkb_brought_t *own = rkb_online_own_of(o), *streamed[] = {rkb_online_scored_of(o), rkb_online_added_of(o)};
   rkb_online_map_t map, maps[2];
   if (!rkb_online_map_of(writer, o, own, &map) || !rkb_online_map_of(writer, o, streamed[0], &maps[0]) ||
       !rkb_online_map_of(writer, o, streamed[1], &maps[1])) {
      rkb_writer_fail(writer, "no tensor maps describe all factors");
      return;
   }
   rkb_write_open(writer, false, "if (warpgroup == %lld)", (long long)o->groups);
   rkb_online_write_fewer_registers(writer, o);
   if (splits(o->launch->decisions))
      rkb_online_write_splitting(writer, o);
   rkb_write(writer, "if (threadIdx.x != %lld)",
             (long long)o->groups * GROUP_THREADS + (splits(o->launch->decisions) ? 32 * RKB_SPLITTING_WARPS : 0));
   rkb_write(writer, "   return;");
   rkb_write(writer, "barrier_expect(&%s_filled, %lld);", rkb_online_short_name(writer, own), (long long)bytes_of(o, own));
   rkb_online_map_copy(writer, o, own, &map, own->rows, own->name, rkb_arena_format(writer->arena, "&%s_filled", rkb_online_short_name(writer, own)));
   rkb_write_open(writer, false, "for (index n_first = begin; n_first < end; n_first += %lld)", (long long)o->stream_tile);
   for (uint32_t i = 0; i < 2; i++) {
      const char *name = rkb_online_short_name(writer, streamed[i]);
      const long long bytes = (long long)bytes_of(o, streamed[i]);
      rkb_write(writer, "barrier_wait(&%s_freed[stage], turn ^ 1);", name);
      rkb_write(writer, "barrier_expect(&%s_filled[stage], %lld);", name, bytes);
      rkb_online_map_copy(writer, o, streamed[i], &maps[i], i == 1 && splits(o->launch->decisions) ? RKB_ONLINE_SQUARE : streamed[i]->rows,
                          rkb_arena_format(writer->arena, "%s + stage * %lld", streamed[i]->name, (long long)stage_of(o, streamed[i])),
                          rkb_arena_format(writer->arena, "&%s_filled[stage]", name));
   }
   rkb_online_write_next_stage(writer, o);
   rkb_write_close(writer);
   rkb_write(writer, "return;");
   rkb_write_close(writer);
}

/* The scores of a warpgroup's rows and a stage's. */
void rkb_online_write_multiply(rkb_writer_t *writer, const rkb_online_t *o, uint32_t score) {
   const rkb_brought_t *own = &o->brought[o->factors[score].own],
                       *streamed = &o->brought[o->factors[score].streamed];
   const int step_bytes = RKB_FRAGMENT_BYTES, steps_a_box = ROW_BYTES / RKB_FRAGMENT_BYTES;
   const long long steps = (long long)(own->width * o->tensor->bytes / step_bytes), own_box = (long long)own->rows * ROW_BYTES,
                   box = (long long)streamed->rows * ROW_BYTES, bytes = (long long)bytes_of(o, streamed);
   const char *sums = o->score_names[score];
   if (own->held)
      rkb_write(writer, "const unsigned char *const rows = %s + stage * %lld;", streamed->name, bytes);
   else
      rkb_write(writer,
                "const unsigned char *const own_rows = %s + warpgroup * %d, *const rows = %s + stage * %lld;",
                own->name, GROUP_ROWS * ROW_BYTES, streamed->name, bytes);
   rkb_write(writer, "hold_sums(%s);", sums);
   rkb_write(writer, "products_begin();");
   const char *at = steps > steps_a_box ? "%s + step / 4 * %lld + step %% 4 * 32" : "%s + step * 32",
              *rows = rkb_arena_format(writer->arena, at, "rows", box);
   if (own->held)
      rkb_write(writer, "begin_held_%s_n%lld<0>(%s, %s[0], matrix(rows, 16));", o->tensor->name,
                (long long)o->stream_tile, sums, own->held);
   else
      rkb_write(writer, "begin_%s_n%lld<0, 0>(%s, matrix(own_rows, 16), matrix(rows, 16));", o->tensor->name,
                (long long)o->stream_tile, sums);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int step = 1; step < %lld; step++)", steps);
   if (own->held)
      rkb_write(writer, "   add_held_%s_n%lld<0>(%s, %s[step], matrix(%s, 16));", o->tensor->name,
                (long long)o->stream_tile, sums, own->held, rows);
   else
      rkb_write(writer, "   %s_n%lld<0, 0>(%s, matrix(%s, 16), matrix(%s, 16));", o->tensor->multiply,
                (long long)o->stream_tile, sums, rkb_arena_format(writer->arena, at, "own_rows", own_box),
                rows);
}

static void write_multiply(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write_open(writer, false, "auto multiply = [&](int stage)");
   rkb_write(writer, "/* The scores of the stage, on their way. */");
   rkb_online_write_multiply(writer, o, 0);
   rkb_write(writer, "products_sent();");
   rkb_write_close_with(writer, "};");
}

void rkb_online_write_add(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out) {
   const rkb_brought_t *rows = &o->brought[o->out_brought[out]];
   rkb_write(writer, "const unsigned char *const rows = %s + stage * %lld;", rows->name, (long long)bytes_of(o, rows));
   rkb_write(writer, "hold_sums(%s);", o->out_names[out]);
   rkb_write(writer, "products_begin();");
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int step = 0; step < %lld; step++)", (long long)o->stream_tile / FRAGMENT_ROWS);
   rkb_write(writer, "   add_held_%s_n%lld<1>(%s, %s[step], matrix(rows + step * %d, %lld));",
             o->tensor->name, (long long)o->head, o->out_names[out], o->made_names[out],
             FRAGMENT_ROWS * ROW_BYTES, (long long)rows->rows * ROW_BYTES);
}

/* Products of the shares and the rows of their stage. */
static void write_add(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write_open(writer, false, "auto add = [&](int stage)");
   rkb_write(writer, "/* Adds what became of the scores times the rows of their stage; on its way. */");
   rkb_online_write_add(writer, o, 0);
   rkb_write(writer, "products_sent();");
   rkb_write_close_with(writer, "};");
}

void rkb_online_write_pack(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out, const char *from) {
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int step = 0; step < %lld; step++)", (long long)o->stream_tile / FRAGMENT_ROWS);
   rkb_write(writer, "   #pragma unroll");
   rkb_write(writer, "   for (int r = 0; r < 4; r++)");
   rkb_write(writer, "      %s[step][r] = pack_%s(%s[step * 8 + r * 2], %s[step * 8 + r * 2 + 1]);",
             o->made_names[out], o->tensor->name, from, from);
}

/* Rounds the values made of scores in pairs: these are the left fragments of the next product. */
static void write_pack(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write_open(writer, false, "auto pack = [&]()");
   rkb_online_write_pack(writer, o, 0, o->score_names[0]);
   rkb_write_close_with(writer, "};");
}

static void write_free(rkb_writer_t *writer, const rkb_brought_t *tile, const char *stage) {
   rkb_write(writer, "if (threadIdx.x %% %d == 0)", GROUP_THREADS);
   rkb_write(writer, "   barrier_arrive(&%s_freed[%s]);", rkb_online_short_name(writer, tile), stage);
}

/* Whether warpgroups take turns at the tensor cores.  Warpgroups that split floats do not, because they are busy between their products: on an
 * H100 turns cost 7 to 16 %. */
static bool takes_turns(const rkb_online_t *o) {
   return o->groups > 1 && !splits(o->launch->decisions);
}

/* The next warpgroup's turn; the first one's comes again while there are tiles. */
static void write_pass_turn(rkb_writer_t *writer, const rkb_online_t *o, const char *next) {
   if (!takes_turns(o))
      return;
   rkb_write(writer, "if (warpgroup < %lld || %s + %lld < end)", (long long)o->groups - 1, next, (long long)o->stream_tile);
   rkb_write(writer, "   pass_turn(1 + (warpgroup + 1) %% %lld);", (long long)o->groups);
}

static void write_take_turn(rkb_writer_t *writer, const rkb_online_t *o) {
   if (takes_turns(o))
      rkb_write(writer, "take_turn(1 + warpgroup);");
}

static void write_first(rkb_writer_t *writer, const rkb_online_t *o) {
   const rkb_brought_t *scored = rkb_online_scored_of(o);
   rkb_write(writer, "barrier_wait(&%s_%s[0], 0);", rkb_online_short_name(writer, scored), ready(o));
   write_take_turn(writer, o);
   rkb_write(writer, "multiply(0);");
   write_pass_turn(writer, o, "begin");
   rkb_write(writer, "products_done<0>();");
   rkb_write(writer, "hold_sums(%s);", o->score_names[0]);
   write_free(writer, scored, "0");
   rkb_write(writer, "weigh(begin);");
   rkb_write(writer, "pack();");
}

static void write_others(rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_brought_t *scored = rkb_online_scored_of(o), *added = rkb_online_added_of(o);
   const char *out = o->out_names[0];
   rkb_write_open(writer, false, "for (index n_first = begin + %lld; n_first < end; n_first += %lld)", (long long)o->stream_tile,
                  (long long)o->stream_tile);
   rkb_write(writer, "const int stage_before = stage, turn_before = turn;");
   rkb_online_write_next_stage(writer, o);
   rkb_write(writer, "barrier_wait(&%s_%s[stage], turn);", rkb_online_short_name(writer, scored), ready(o));
   write_take_turn(writer, o);
   rkb_write(writer, "multiply(stage);");
   rkb_write(writer, "barrier_wait(&%s_%s[stage_before], turn_before);", rkb_online_short_name(writer, added), ready(o));
   rkb_write(writer, "add(stage_before);");
   write_pass_turn(writer, o, "n_first");
   rkb_write(writer, "products_done<1>();");
   rkb_write(writer, "hold_sums(%s);", o->score_names[0]);
   write_free(writer, scored, "stage");
   rkb_write(writer, "weigh(n_first);");
   rkb_write(writer, "products_done<0>();");
   rkb_write(writer, "hold_sums(%s);", out);
   write_free(writer, added, "stage_before");
   if (rkb_online_rescales(writer, o, 0)) {
      rkb_write(writer, "#pragma unroll");
      rkb_write(writer, "for (int e = 0; e < %lld; e++)", (long long)o->head / 2);
      rkb_write(writer, "   %s[e] *= factor[e / 2 %% 2];", out);
   }
   rkb_write(writer, "pack();");
   rkb_write_close(writer);
}

void rkb_online_write_warpgroups(rkb_writer_t *writer, rkb_online_t *o) {
   const uint32_t largest = rkb_online_largest(writer, o);
   if (largest == RKB_ONLINE_MANY) {
      rkb_writer_fail(writer, "warpgroups weigh scores by how far they lie below the largest");
      return;
   }
   rkb_write(writer, "int stage = 0, turn = 0; /* the stage at hand, and whether all have been used an odd number of times */");
   write_producer(writer, o);
   if (writer->failed)
      return;
   rkb_online_write_more_registers(writer, o);
   rkb_write(writer, "float *const room = (float *)(tiles + %lld) + threadIdx.x / 32 * %d;", (long long)o->rooms_at, RKB_ROOM_FLOATS);
   rkb_write(writer, "float %s[%lld] = {}, %s[%lld] = {};", o->score_names[0], (long long)o->stream_tile / 2, o->out_names[0],
             (long long)o->head / 2);
   if (splits(o->launch->decisions))
      rkb_online_write_split_fragments(writer, o);
   else
      rkb_write(writer, "unsigned %s[%lld][4];", o->made_names[0], (long long)o->stream_tile / FRAGMENT_ROWS);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      rkb_write(writer, r == largest ? "float %s[2] = {-INFINITY, -INFINITY};" : "float %s[2] = {};", o->reduce_names[r]);
   rkb_online_find_scale(writer, o);
   rkb_online_write_scale(writer, o);
   rkb_write(writer, "float factor[2]; /* brings what was summed below the largest before */");
   const bool split = splits(o->launch->decisions);
   (split ? rkb_online_write_split_multiply : write_multiply)(writer, o);
   (split ? rkb_online_write_split_add : write_add)(writer, o);
   rkb_online_write_weigh(writer, o);
   (split ? rkb_online_write_split_pack : write_pack)(writer, o);
   if (takes_turns(o)) {
      rkb_write(writer, "if (warpgroup == %lld)", (long long)o->groups - 1);
      rkb_write(writer, "   pass_turn(1);");
   }
   rkb_write(writer, "barrier_wait(&%s_filled, 0);", rkb_online_short_name(writer, rkb_online_own_of(o)));
   rkb_write_open(writer, false, "if (begin < end)");
   write_first(writer, o);
   write_others(writer, o);
   rkb_write(writer, "barrier_wait(&%s_%s[stage], turn);", rkb_online_short_name(writer, rkb_online_added_of(o)), ready(o));
   rkb_write(writer, "add(stage);");
   rkb_write(writer, "products_done<0>();");
   rkb_write(writer, "hold_sums(%s);", o->out_names[0]);
   rkb_write_close(writer);
}
