/* Scores of floats by warpgroups.  Warps of the warpgroup that copies make two numbers of each float of a streamed tile, both rounded to 11
 * bits: the high ones where the floats were, the low ones behind the tile.  Own rows, and the values computed from scores, are split in
 * registers.  One thread writes them.
 *
 * Tensor cores take floats only if terms are neighbours.  The rows that are multiplied by values computed from scores are terms, so they
 * are transposed where they are split.  A lane has scores of neighbouring columns, and fragments need columns of distance four.  So each
 * eight terms are loaded in another order, even ones first. */
#include "generator/online/online_split.h"

#include "generator/online/online_warpgroups.h"
#include "generator/tile/warpgroup_tile.h"

#define GROUP_THREADS 128
#define HELD_STEPS 2 /* steps whose own rows are in registers: one is multiplied while the next is split */
#define FRAGMENT_TERMS 8 /* terms of one wgmma */
#define ROW_BYTES 128
#define ROW_FLOATS (ROW_BYTES / 4)
#define STEPS_A_ROW (ROW_FLOATS / FRAGMENT_TERMS)
#define SQUARE_FLOATS (RKB_ONLINE_SQUARE * RKB_ONLINE_SQUARE)

int64_t rkb_online_split_registers(int64_t stream_tile) {
   return stream_tile + 8 * HELD_STEPS;
}

static long long floats_of(const rkb_brought_t *tile) {
   return (long long)(tile->rows * tile->width);
}

static const char *low_name(rkb_writer_t *writer, const rkb_online_t *o) {
   return rkb_arena_format(writer->arena, "%s_low", o->made_names[0]);
}

static void open_unrolled(rkb_writer_t *writer, const char *variable, long long count) {
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int %s = 0; %s < %lld; %s++)",
                  3 * (int)(writer->depth + 1), "", variable, variable, count, variable);
}

void rkb_online_write_splitting(rkb_writer_t *writer, const rkb_online_t *o) {
   const rkb_brought_t *streamed[] = {rkb_online_scored_of(o), rkb_online_added_of(o)};
   rkb_write_open(writer, false, "if (threadIdx.x %% %d < %d)", GROUP_THREADS, 32 * RKB_SPLITTING_WARPS);
   for (uint32_t i = 0; i < 2; i++) {
      rkb_write_open(writer, false, "auto divide_%s = [](unsigned *high, unsigned *low)",
                     rkb_online_short_name(writer, streamed[i]));
      if (i == 0)
         rkb_write_split_by(writer, "split_float", 0, floats_of(streamed[i]));
      else {
         rkb_write(writer, "for (int i = threadIdx.x %% %d / 32 * %d; i < %lld; i += %d)", GROUP_THREADS,
                   SQUARE_FLOATS, floats_of(streamed[i]), SQUARE_FLOATS * RKB_SPLITTING_WARPS);
         rkb_write(writer, "   split_turned_apart(high + i, low + i);");
      }
      rkb_write_close_with(writer, "};");
   }
   rkb_write_open(writer, false, "for (index n_first = begin; n_first < end; n_first += %lld)",
                  (long long)o->stream_tile);
   for (uint32_t i = 0; i < 2; i++) {
      const char *name = rkb_online_short_name(writer, streamed[i]);
      const long long floats = floats_of(streamed[i]);
      rkb_write(writer, "barrier_wait(&%s_filled[stage], turn);", name);
      rkb_write(writer, "divide_%s((unsigned *)%s + stage * %lld, (unsigned *)%s + stage * %lld + %lld);",
                name, streamed[i]->name, 2 * floats, streamed[i]->name, 2 * floats, floats);
      rkb_write(writer, "products_see();");
      rkb_write(writer, "__syncwarp();");
      rkb_write(writer, "if (threadIdx.x %% 32 == 0)");
      rkb_write(writer, "   barrier_arrive(&%s_divided[stage]);", name);
   }
   rkb_online_write_next_stage(writer, o);
   rkb_write_close(writer);
   rkb_write(writer, "return;");
   rkb_write_close(writer);
}

void rkb_online_write_split_fragments(rkb_writer_t *writer, const rkb_online_t *o) {
   const long long steps = (long long)o->stream_tile / FRAGMENT_TERMS;
   rkb_write(writer, "unsigned %s[%lld][4], %s[%lld][4], highs[%d][4], lows[%d][4];", o->made_names[0], steps,
             low_name(writer, o), steps, HELD_STEPS, HELD_STEPS);
}

/* Writes the three products of a step, the small ones first.  left: the text of the left fragment, with %s
 * where its low part has "_low", or where "low" replaces "high"; at: the place of the right tile. */
static void write_products(rkb_writer_t *writer, const rkb_online_t *o, const char *sums, long long columns,
                           const char *high, const char *low, const char *at, long long low_bytes) {
   for (int part = 0; part < 3; part++)
      rkb_write(writer, "add_held_%s_n%lld(%s, %s, matrix(%s%s, 16));", o->tensor->name, columns, sums,
                part == 0 ? low : high, at,
                part == 1 ? rkb_arena_format(writer->arena, " + %lld", low_bytes) : "");
}

void rkb_online_write_split_multiply(rkb_writer_t *writer, const rkb_online_t *o) {
   const rkb_brought_t *own = rkb_online_own_of(o), *streamed = rkb_online_scored_of(o);
   const long long floats = floats_of(streamed);
   const char *sums = o->score_names[0];
   rkb_write_open(writer, false, "auto multiply = [&](int stage)");
   rkb_write(
      writer,
      "/* The scores of the stage: while the products of a step are on their way, the next step's own rows are split. */");
   rkb_write(writer, "const unsigned *const own_rows = (const unsigned *)%s;", own->name);
   rkb_write(writer, "const unsigned char *const rows = %s + stage * %lld;", streamed->name, 8 * floats);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int e = 0; e < %lld; e++)", (long long)o->stream_tile / 2);
   rkb_write(writer, "   %s[e] = 0.0f;", sums);
   open_unrolled(writer, "step", (long long)own->width / FRAGMENT_TERMS);
   rkb_write(writer, "unsigned (&high)[4] = highs[step %% %d], (&low)[4] = lows[step %% %d];", HELD_STEPS,
             HELD_STEPS);
   open_unrolled(writer, "r", 4);
   rkb_write(writer,
             "const int row = warp_m + lane / 4 + r %% 2 * 8, term = step * %d + lane %% 4 + r / 2 * 4;",
             FRAGMENT_TERMS);
   rkb_write(writer,
             "high[r] = own_rows[term / %d * %lld + row * %d + (term %% %d / 4 ^ row %% 8) * 4 + term %% 4];",
             ROW_FLOATS, (long long)own->rows * ROW_FLOATS, ROW_FLOATS, ROW_FLOATS);
   rkb_write(writer, "split_float(high[r], low[r]);");
   rkb_write_close(writer);
   rkb_write(writer, "hold_sums(%s);", sums);
   rkb_write(writer, "products_begin();");
   rkb_write(writer, "const unsigned char *const terms = rows + step / %d * %lld + step %% %d * %d;",
             STEPS_A_ROW, (long long)streamed->rows * ROW_BYTES, STEPS_A_ROW, RKB_FRAGMENT_BYTES);
   write_products(writer, o, sums, (long long)o->stream_tile, "high", "low", "terms", 4 * floats);
   rkb_write(writer, "products_sent();");
   rkb_write(writer, "hold_sums(%s);", sums);
   rkb_write(writer, "products_done<%d>();", HELD_STEPS - 1);
   rkb_write_close(writer);
   rkb_write_close_with(writer, "};");
}

void rkb_online_write_split_add(rkb_writer_t *writer, const rkb_online_t *o) {
   const rkb_brought_t *rows = rkb_online_added_of(o);
   const long long floats = floats_of(rows);
   rkb_write_open(writer, false, "auto add = [&](int stage)");
   rkb_write(writer, "/* Adds what became of the scores times the rows of their stage; on its way. */");
   rkb_write(writer, "const unsigned char *const rows = %s + stage * %lld;", rows->name, 8 * floats);
   rkb_write(writer, "hold_sums(%s);", o->out_names[0]);
   rkb_write(writer, "products_begin();");
   open_unrolled(writer, "step", (long long)o->stream_tile / FRAGMENT_TERMS);
   rkb_write(writer, "const unsigned char *const terms = rows + step / %d * %lld + step %% %d * %d;",
             STEPS_A_ROW, (long long)o->head * ROW_BYTES, STEPS_A_ROW, RKB_FRAGMENT_BYTES);
   write_products(writer, o, o->out_names[0], (long long)o->head,
                  rkb_arena_format(writer->arena, "%s[step]", o->made_names[0]),
                  rkb_arena_format(writer->arena, "%s[step]", low_name(writer, o)), "terms", 4 * floats);
   rkb_write_close(writer);
   rkb_write(writer, "products_sent();");
   rkb_write_close_with(writer, "};");
}

void rkb_online_write_split_pack(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write_open(writer, false, "auto pack = [&]()");
   open_unrolled(writer, "step", (long long)o->stream_tile / FRAGMENT_TERMS);
   open_unrolled(writer, "r", 4);
   rkb_write(writer, "%s[step][r] = __float_as_uint(%s[step * 4 + r %% 2 * 2 + r / 2]);", o->made_names[0],
             o->score_names[0]);
   rkb_write(writer, "split_float(%s[step][r], %s[step][r]);", o->made_names[0], low_name(writer, o));
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_write_close_with(writer, "};");
}
