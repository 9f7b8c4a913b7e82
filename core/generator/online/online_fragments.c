/* Products of a launch over scores by tensor cores: scores of a warp's own and streamed rows, and outputs of the values computed from the
 * scores.  One thread.
 *
 * A thread has two of the 16 rows of each fragment, and two neighbouring columns of each eight.  So the values computed from the scores are
 * already in the registers of the next product's left fragments.  No score goes through shared memory. */
#include "generator/online/online.h"

static bool is_split(const rkb_online_t *o) {
   return o->tensor->bytes == 4;
}

/* How many elements of depth an instruction multiplies. */
static int depth_of(const rkb_online_t *o) {
   return RKB_FRAGMENT_BYTES / (int)o->tensor->bytes;
}

/* Where the lanes of a load point, at the first of its squares; chunk: how many elements 16 bytes have. */
enum lanes { OWN, STREAMED, TURNED };
static const struct {
   const char *name, *row, *chunk;
} lanes[] = {[OWN] = {"own_lane", "warp_m + lane % 16", "lane / 16"},
             [STREAMED] = {"streamed_lane", "warp_n + lane % 8 + lane / 16 * 8", "lane / 8 % 2"},
             [TURNED] = {"turned_lane", "warp_n + lane % 16", "lane / 16"}};

static const char *lane_column(rkb_writer_t *writer, const rkb_online_t *o, enum lanes way) {
   return rkb_arena_format(writer->arena, "%s * %d", lanes[way].chunk, 16 / (int)o->tensor->bytes);
}

static void write_lane(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile, enum lanes way, uint64_t *written) {
   const uint64_t bit = UINT64_C(1) << (way * 16 + (uint32_t)__builtin_ctzll((uint64_t)tile->width));
   if (*written & bit)
      return;
   *written |= bit;
   rkb_write(writer, "const int %s_%lld = %s;", lanes[way].name, (long long)tile->width,
             rkb_online_place(writer, o, tile, lanes[way].row, lane_column(writer, o, way)));
}

void rkb_online_write_lanes(rkb_writer_t *writer, const rkb_online_t *o) {
   uint64_t written = 0;
   if (is_split(o))
      return;
   for (uint32_t s = 0; s < o->nodes.score_count; s++) {
      write_lane(writer, o, &o->brought[o->factors[s].own], OWN, &written);
      write_lane(writer, o, &o->brought[o->factors[s].streamed], STREAMED, &written);
   }
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      write_lane(writer, o, &o->brought[o->out_brought[i]], TURNED, &written);
}

/* The place of a square so many rows and columns further on.  Where chunks trade places, a column that is a
 * multiple of two chunks has no bit in common with a lane's own, and all groups of eight rows trade in the same
 * way.  So the same exclusive or moves all lanes. */
static const char *place_text(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile, enum lanes way, const char *row,
                              const char *column) {
   if (is_split(o))
      return rkb_online_place(writer, o, tile, rkb_arena_format(writer->arena, "%s + %s", lanes[way].row, row),
                              rkb_arena_format(writer->arena, "%s + %s", column, lane_column(writer, o, way)));
   return rkb_arena_format(writer->arena, "(%s_%lld ^ %s) + %s * %lld", lanes[way].name, (long long)tile->width, column, row,
                           (long long)tile->width);
}

static void write_split(rkb_writer_t *writer, const char *high, const char *low, long long count, int registers) {
   rkb_write(writer, "unsigned %s[%lld][%d];", low, count, registers);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", count);
   rkb_write(writer, "   #pragma unroll");
   rkb_write(writer, "   for (int r = 0; r < %d; r++)", registers);
   rkb_write(writer, "      split_tf32(%s[i][r], %s[i][r]);", high, low);
}

/* Multiplies the left fragments by the two fragments of 16 columns from j on. */
static void write_products(rkb_writer_t *writer, const rkb_online_t *o, const char *sums) {
   const long long m = (long long)o->warp_m / 16;
   /* The small products come first. */
   static const char *const factors[][2] = {{"left_low", "right"}, {"left", "right_low"}, {"left", "right"}};
   if (is_split(o))
      write_split(writer, "right", "right_low", 2, 2);
   for (uint32_t f = is_split(o) ? 0 : 2; f < 3; f++) {
      rkb_write(writer, "#pragma unroll");
      rkb_write(writer, "for (int i = 0; i < %lld; i++)", m);
      rkb_write(writer, "   #pragma unroll");
      rkb_write(writer, "   for (int h = 0; h < 2; h++)");
      rkb_write(writer, "      %s(%s[i][j + h], %s[i], %s[h]);", o->tensor->multiply, sums, factors[f][0], factors[f][1]);
   }
}

static const char *kept_name(rkb_writer_t *writer, const rkb_brought_t *own) {
   return rkb_arena_format(writer->arena, "%s_kept", own->name);
}

void rkb_online_keep_own(rkb_writer_t *writer, const rkb_online_t *o) {
   const long long m = (long long)o->warp_m / 16;
   const int depth = depth_of(o);
   rkb_write(writer, "__syncthreads(); /* the own rows have come */");
   for (uint32_t b = 0; b < o->brought_count; b++) {
      const rkb_brought_t *own = &o->brought[b];
      const long long steps = (long long)own->width / depth;
      if (!own->own)
         continue;
      if (steps > 8 || is_split(o))
         rkb_writer_fail(writer, "the own rows' fragments need more registers than there are");
      rkb_write(writer, "unsigned %s[%lld][%lld][4];", kept_name(writer, own), steps, m);
      rkb_write(writer, "#pragma unroll");
      rkb_write(writer, "for (int step = 0; step < %lld; step++)", steps);
      rkb_write(writer, "   #pragma unroll");
      rkb_write(writer, "   for (int i = 0; i < %lld; i++)", m);
      rkb_write(writer, "      load_rows(%s[step][i], %s + %s);", kept_name(writer, own), own->name,
                place_text(writer, o, own, OWN, "i * 16", rkb_arena_format(writer->arena, "step * %d", depth)));
   }
}

/* Writes the fragments of the own rows for a step. */
static void write_own(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *own) {
   const long long m = (long long)o->warp_m / 16;
   const int depth = depth_of(o);
   if (o->keeps) {
      rkb_write(writer, "const unsigned (&left)[%lld][4] = %s[step];", m, kept_name(writer, own));
      return;
   }
   rkb_write(writer, "unsigned left[%lld][4];", m);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", m);
   rkb_write(writer, "   load_rows(left[i], %s + %s);", own->name,
             place_text(writer, o, own, OWN, "i * 16", rkb_arena_format(writer->arena, "step * %d", depth)));
   if (is_split(o))
      write_split(writer, "left", "left_low", m, 4);
}

static void write_score(rkb_writer_t *writer, const rkb_online_t *o, uint32_t s) {
   const rkb_brought_t *own = &o->brought[o->factors[s].own], *streamed = &o->brought[o->factors[s].streamed];
   const long long m = (long long)o->warp_m / 16, n = (long long)o->warp_n / 8;
   const int depth = depth_of(o);
   const long long steps = (long long)own->width / depth;
   rkb_write(writer, "float %s[%lld][%lld][4] = {};", o->score_names[s], m, n);
   rkb_write(writer, steps > 8 ? "#pragma unroll 4" : "#pragma unroll");
   rkb_write_open(writer, false, "for (int step = 0; step < %lld; step++)", steps);
   write_own(writer, o, own);
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int j = 0; j < %lld; j += 2)", n);
   rkb_write(writer, "unsigned right[2][2];");
   rkb_write(writer, "load_rows(right[0], %s + %s);", streamed->name,
             place_text(writer, o, streamed, STREAMED, "j * 8", rkb_arena_format(writer->arena, "step * %d", depth)));
   write_products(writer, o, o->score_names[s]);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

void rkb_online_write_fragments(rkb_writer_t *writer, const rkb_online_t *o) {
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      write_score(writer, o, s);
}

void rkb_online_add_fragments(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out) {
   const rkb_brought_t *rows = &o->brought[o->out_brought[out]];
   const long long m = (long long)o->warp_m / 16;
   const int depth = depth_of(o);
   const char *made = o->made_names[out];
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int step = 0; step < %lld; step++)", (long long)o->warp_n / depth);
   rkb_write(writer, "unsigned left[%lld][4];", m);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", m);
   rkb_write(writer, "   #pragma unroll");
   rkb_write(writer, "   for (int r = 0; r < 4; r++)");
   /* For both factors, a step's terms are the columns 0, 2, 4, 6 and then 1, 3, 5, 7 of eight. */
   if (is_split(o))
      rkb_write(writer, "      left[i][r] = __float_as_uint(%s[i * 2 + r %% 2][step * 2 + r / 2]);", made);
   else
      rkb_write(writer, "      left[i][r] = pack_%s(%s[i * 2 + r %% 2][step * 4 + r / 2 * 2], %s[i * 2 + r %% 2][step * 4 + r / 2 * 2 + 1]);",
                o->tensor->name, made, made);
   if (is_split(o))
      write_split(writer, "left", "left_low", m, 4);
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int j = 0; j < %lld; j += 2)", (long long)o->head / 8);
   rkb_write(writer, "unsigned right[2][2];");
   if (is_split(o)) {
      rkb_write(writer, "#pragma unroll");
      rkb_write(writer, "for (int r = 0; r < 4; r++)");
      rkb_write(writer, "   right[r / 2][r %% 2] = __float_as_uint(%s[%s]);", rows->name,
                rkb_online_place(writer, o, rows, rkb_arena_format(writer->arena, "warp_n + step * %d + lane %% 4 * 2 + r %% 2", depth),
                                 "(j + r / 2) * 8 + lane / 4"));
   } else
      rkb_write(writer, "load_rows_turned(right[0], %s + %s);", rows->name,
                place_text(writer, o, rows, TURNED, rkb_arena_format(writer->arena, "step * %d", depth), "j * 8"));
   write_products(writer, o, o->out_names[out]);
   rkb_write_close(writer);
   rkb_write_close(writer);
}
