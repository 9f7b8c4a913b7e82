/* Launches over several kinds of scores by warpgroups, as the gradients of attention have them.  A launch computes one of two things:
 * statistics of the scores, without outs; or outs of shares, which it computes from the scores and stored statistics.  One thread writes
 * these launches.
 *
 * As in online_warpgroups.c each warpgroup owns 64 rows, and one thread of the last one copies tiles.  A tile that is a factor of scores
 * and of an output is copied once.  The share is computed from the first scores while the tensor cores compute the others.  Where there are
 * enough registers, the shares of a tile are multiplied while those of the next tile are computed.  Otherwise the tensor cores compute
 * another warpgroup's products while this one computes its shares. */
#include "generator/online/online_score_kinds.h"

#include "generator/online/online_maps.h"
#include "generator/online/online_warpgroups.h"

#define GROUP_THREADS 128
#define FRAGMENT_ROWS 16
#define PATTERN_BYTES 1024

static long long bytes_of(const rkb_online_t *o, const rkb_brought_t *tile) {
   return (long long)(tile->rows * tile->width * o->tensor->bytes);
}

int64_t rkb_online_open_several(rkb_writer_t *writer, rkb_online_t *o) {
   const long long stages = (long long)o->stages;
   long long first = 0;
   rkb_write(writer, "extern __shared__ __align__(%d) unsigned char tiles[];", PATTERN_BYTES);
   for (uint32_t own = 2; own-- > 0;)
      for (uint32_t b = 0; b < o->brought_count; b++) {
         const rkb_brought_t *tile = &o->brought[b];
         if (tile->own != (own == 1))
            continue;
         if (tile->own)
            rkb_write(writer, "unsigned char *const %s = tiles + %lld;", tile->name, first);
         else
            rkb_write(writer, "unsigned char *const %s = tiles + %lld; /* %lld stages */", tile->name, first,
                      stages);
         first += (tile->own ? 1 : stages) * bytes_of(o, tile);
      }
   rkb_online_keep_rows(writer, o);
   rkb_online_find_scale(writer, o);
   if (o->nodes.out_count)
      rkb_online_find_given(writer, o);
   rkb_online_find_later(writer, o);
   if (!o->launch->decisions[RKB_SHARE_LAST] &&
       (o->nodes.out_count || rkb_online_largest(writer, o) < RKB_ONLINE_MANY))
      o->share = rkb_online_share(writer->graph, &o->nodes);
   first += rkb_online_write_given_tiles(writer, o, first);
   const bool given = rkb_online_streams_given(o);
   rkb_write(writer, "__shared__ unsigned long long own_filled;");
   if (given)
      rkb_write(writer, "__shared__ unsigned long long rows_filled[%lld], rows_freed[%lld];", stages, stages);
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (!o->brought[b].own)
         rkb_write(writer, "__shared__ unsigned long long %s_filled[%lld];",
                   rkb_online_short_name(writer, &o->brought[b]), stages);
   rkb_write(writer, "__shared__ unsigned long long freed[%lld];", stages);
   rkb_write_open(writer, false, "if (threadIdx.x == 0)");
   rkb_write(writer, "barrier_start(&own_filled, 1);");
   rkb_write_open(writer, false, "for (int stage = 0; stage < %lld; stage++)", stages);
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (!o->brought[b].own)
         rkb_write(writer, "barrier_start(&%s_filled[stage], 1);",
                   rkb_online_short_name(writer, &o->brought[b]));
   rkb_write(writer, "barrier_start(&freed[stage], %lld);", (long long)o->groups);
   if (given) {
      rkb_write(writer, "barrier_start(&rows_filled[stage], 1);");
      rkb_write(writer, "barrier_start(&rows_freed[stage], %lld);",
                (long long)o->groups * GROUP_THREADS / 32);
   }
   return rkb_online_close_barriers(writer, o, first);
}

/* The warpgroup that copies: the own rows once, then the streamed ones as their stages become free. */
static void write_producer(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_online_map_t maps[2 * RKB_ONLINE_MANY];
   long long own_bytes = 0;
   for (uint32_t b = 0; b < o->brought_count; b++) {
      if (!rkb_online_map_of(writer, o, &o->brought[b], &maps[b])) {
         rkb_writer_fail(writer, "no tensor maps describe all factors");
         return;
      }
      own_bytes += o->brought[b].own ? bytes_of(o, &o->brought[b]) : 0;
   }
   rkb_write_open(writer, false, "if (warpgroup == %lld)", (long long)o->groups);
   rkb_online_write_fewer_registers(writer, o);
   if (rkb_online_streams_given(o))
      rkb_online_bring_given(writer, o);
   rkb_write(writer, "if (threadIdx.x != %lld)", (long long)o->groups * GROUP_THREADS);
   rkb_write(writer, "   return;");
   rkb_write(writer, "barrier_expect(&own_filled, %lld);", own_bytes);
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (o->brought[b].own)
         rkb_online_map_copy(writer, o, &o->brought[b], &maps[b], o->brought[b].rows, o->brought[b].name,
                             "&own_filled");
   rkb_online_open_turns(writer, o);
   rkb_write_open(writer, false, "for (index n_first = begin; n_first < end; n_first += %lld)",
                  (long long)o->stream_tile);
   rkb_write(writer, "barrier_wait(&freed[stage], turn ^ 1);");
   for (uint32_t b = 0; b < o->brought_count; b++) {
      const rkb_brought_t *tile = &o->brought[b];
      const char *name = rkb_online_short_name(writer, tile);
      if (tile->own)
         continue;
      rkb_write(writer, "barrier_expect(&%s_filled[stage], %lld);", name, bytes_of(o, tile));
      rkb_online_map_copy(writer, o, tile, &maps[b], tile->rows,
                          rkb_arena_format(writer->arena, "%s + stage * %lld", tile->name, bytes_of(o, tile)),
                          rkb_arena_format(writer->arena, "&%s_filled[stage]", name));
   }
   rkb_online_write_next_stage(writer, o);
   rkb_write_close(writer);
   rkb_online_close_turns(writer, o);
   rkb_write(writer, "return;");
   rkb_write_close(writer);
}

/* All scores of a stage, as they come; one group of products. */
static void write_multiply(rkb_writer_t *writer, const rkb_online_t *o) {
   bool waited[2 * RKB_ONLINE_MANY] = {0};
   rkb_write_open(writer, false, "auto multiply = [&](int stage, int turn)");
   rkb_write(writer, "/* The scores of the stage, on their way. */");
   for (uint32_t s = 0; s < o->nodes.score_count; s++) {
      const uint32_t streamed = o->factors[s].streamed;
      rkb_write_open(writer, false, "/* %s */", o->score_names[s]);
      if (!waited[streamed])
         rkb_write(writer, "barrier_wait(&%s_filled[stage], turn);",
                   rkb_online_short_name(writer, &o->brought[streamed]));
      waited[streamed] = true;
      rkb_online_write_multiply(writer, o, s);
      if (s == 0 && o->share != RKB_NO_NODE)
         rkb_write(writer, "products_sent();");
      rkb_write_close(writer);
   }
   rkb_write(writer, "products_sent();");
   rkb_write_close_with(writer, "};");
}

/* Products of the shares and the rows of their stage; one group of products. */
static void write_add(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write_open(writer, false, "auto add = [&](int stage)");
   rkb_write(writer, "/* Adds what became of the scores times the rows of their stage; on its way. */");
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      rkb_write_open(writer, false, "/* %s */", o->out_names[i]);
      rkb_online_write_add(writer, o, i);
      rkb_write_close(writer);
   }
   rkb_write(writer, "products_sent();");
   rkb_write_close_with(writer, "};");
}

static void write_hold(rkb_writer_t *writer, const char *const *names, uint32_t count) {
   for (uint32_t i = 0; i < count; i++)
      rkb_write(writer, "hold_sums(%s);", names[i]);
}

static void write_free(rkb_writer_t *writer, const char *stage) {
   rkb_write(writer, "if (threadIdx.x %% %d == 0)", GROUP_THREADS);
   rkb_write(writer, "   barrier_arrive(&freed[%s]);", stage);
}

/* The scores of a tile have arrived: computes the shares from them. */
static void write_pack(rkb_writer_t *writer, const rkb_online_t *o) {
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      rkb_online_write_pack(writer, o, i, o->score_names[i]);
}

/* The next warpgroup's turn at the tensor cores; the first one's comes again while there are tiles after the one that begins at `first`. */
static void write_pass_turn(rkb_writer_t *writer, const rkb_online_t *o, const char *first) {
   if (o->groups == 1)
      return;
   const char *more = o->turns
                         ? rkb_arena_format(writer->arena, " || group_number + 1 < (total_number + 1) * %s",
                                            rkb_writer_uniform(writer, o->turns))
                         : "";
   rkb_write(writer, "if (warpgroup < %lld || %s + %lld < end%s)", (long long)o->groups - 1, first,
             (long long)o->stream_tile, more);
   rkb_write(writer, "   pass_turn(1 + (warpgroup + 1) %% %lld);", (long long)o->groups);
}

static void write_take_turn(rkb_writer_t *writer, const rkb_online_t *o) {
   if (o->groups > 1)
      rkb_write(writer, "take_turn(1 + warpgroup);");
}

/* Waits for a tile's scores and computes the shares from them; the statistics of their rows are at `stage`.  behind: groups of products
 * that follow those of the scores. */
static void write_weigh(rkb_writer_t *writer, const rkb_online_t *o, const char *first, int behind) {
   const bool given = rkb_online_streams_given(o);
   if (o->share != RKB_NO_NODE) {
      rkb_write(writer, "products_done<%d>();", behind + 1);
      rkb_write(writer, "hold_sums(%s);", o->score_names[0]);
      if (given)
         rkb_write(writer, "barrier_wait(&rows_filled[stage], turn);");
      rkb_write(writer, "weigh_first(%s);", first);
   }
   rkb_write(writer, "products_done<%d>();", behind);
   write_hold(writer, o->score_names + (o->share != RKB_NO_NODE),
              o->nodes.score_count - (o->share != RKB_NO_NODE));
   if (!o->nodes.out_count)
      write_free(writer, "stage");
   if (given && o->share == RKB_NO_NODE)
      rkb_write(writer, "barrier_wait(&rows_filled[stage], turn);");
   rkb_write(writer, "weigh(%s);", first);
   if (given) {
      rkb_write(writer, "__syncwarp();");
      rkb_write(writer, "if (lane == 0)");
      rkb_write(writer, "   barrier_arrive(&rows_freed[stage]);");
   }
}

/* The loop over the streamed rows, one tile after the other. */
static void write_tiles(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_online_open_turns(writer, o);
   rkb_write_open(writer, false, "for (index n_first = begin; n_first < end; n_first += %lld)",
                  (long long)o->stream_tile);
   write_take_turn(writer, o);
   rkb_write(writer, "multiply(stage, turn);");
   write_pass_turn(writer, o, "n_first");
   write_weigh(writer, o, "n_first", 0);
   if (o->nodes.out_count) {
      write_pack(writer, o);
      rkb_write(writer, "add(stage);");
      rkb_write(writer, "products_done<0>();");
      write_hold(writer, o->out_names, o->nodes.out_count);
      write_free(writer, "stage");
   }
   rkb_online_write_next_stage(writer, o);
   rkb_write_close(writer);
   rkb_online_close_turns(writer, o);
}

/* The same where there are registers for the shares of the previous tile: these are multiplied while the next shares are computed. */
static void write_tiles_ahead(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_online_open_turns(writer, o);
   rkb_write_open(writer, false, "if (begin < end)");
   write_take_turn(writer, o);
   rkb_write(writer, "multiply(stage, turn);");
   write_pass_turn(writer, o, "begin");
   write_weigh(writer, o, "begin", 0);
   write_pack(writer, o);
   rkb_write_open(writer, false, "for (index n_first = begin + %lld; n_first < end; n_first += %lld)",
                  (long long)o->stream_tile, (long long)o->stream_tile);
   rkb_write(writer, "const int stage_before = stage;");
   rkb_online_write_next_stage(writer, o);
   write_take_turn(writer, o);
   rkb_write(writer, "multiply(stage, turn);");
   rkb_write(writer, "add(stage_before);");
   write_pass_turn(writer, o, "n_first");
   write_weigh(writer, o, "n_first", 1);
   rkb_write(writer, "products_done<0>();");
   write_hold(writer, o->out_names, o->nodes.out_count);
   write_free(writer, "stage_before");
   write_pack(writer, o);
   rkb_write_close(writer);
   rkb_write(writer, "add(stage);");
   rkb_write(writer, "products_done<0>();");
   write_hold(writer, o->out_names, o->nodes.out_count);
   if (o->turns) {
      write_free(writer, "stage");
      rkb_online_write_next_stage(writer, o);
   }
   rkb_write_close(writer);
   rkb_online_close_turns(writer, o);
}

void rkb_online_write_several(rkb_writer_t *writer, rkb_online_t *o) {
   const uint32_t largest = rkb_online_largest(writer, o);
   rkb_write(
      writer,
      "int stage = 0, turn = 0; /* the stage at hand, and whether all have been used an odd number of times */");
   write_producer(writer, o);
   if (writer->failed)
      return;
   rkb_online_write_more_registers(writer, o);
   if (o->nodes.out_count)
      rkb_write(writer, "float *const room = (float *)(tiles + %lld) + threadIdx.x / 32 * %d;",
                (long long)o->rooms_at, RKB_ROOM_FLOATS);
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      rkb_write(writer, "float %s[%lld];", o->score_names[s], (long long)o->stream_tile / 2);
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      rkb_write(writer, "float %s[%lld] = {};", o->out_names[i], (long long)o->head / 2);
      rkb_write(writer, "unsigned %s[%lld][4];", o->made_names[i], (long long)o->stream_tile / FRAGMENT_ROWS);
   }
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      rkb_write(writer, r == largest ? "float %s[2] = {-INFINITY, -INFINITY};" : "float %s[2] = {};",
                o->reduce_names[r]);
   rkb_online_write_kept(writer, o);
   rkb_online_keep_given(writer, o);
   rkb_online_write_scale(writer, o);
   write_multiply(writer, o);
   rkb_online_pass_scale(writer, o);
   rkb_online_write_weigh_several(writer, o);
   rkb_online_pass_none(writer);
   if (o->nodes.out_count)
      write_add(writer, o);
   if (o->groups > 1) {
      rkb_write(writer, "if (warpgroup == %lld)", (long long)o->groups - 1);
      rkb_write(writer, "   pass_turn(1);");
   }
   rkb_write(writer, "barrier_wait(&own_filled, 0);");
   rkb_online_load_kept(writer, o);
   (o->nodes.out_count && rkb_online_has_registers(o, true) ? write_tiles_ahead : write_tiles)(writer, o);
}
