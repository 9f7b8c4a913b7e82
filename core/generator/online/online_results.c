/* The results that a launch over scores writes to memory: outputs of the block's rows, divided by sums, and statistics.  One thread. */
#include "generator/online/online.h"

#include "generator/graph/row_scaling.h"
#include "generator/online/online_warpgroups.h"

/* Returns a launch with the roots that are computed from a node's own elements. */
static rkb_launch_t roots_of(const rkb_writer_t *writer, const rkb_online_t *o, uint32_t anchor, bool *taken) {
   rkb_launch_t own = *o->launch;
   own.root_count = 0;
   for (uint32_t r = 0; r < o->launch->root_count; r++)
      if (!taken[r] && rkb_reads(writer->graph, o->launch->roots[r], anchor)) {
         taken[r] = true;
         own.roots[own.root_count++] = o->launch->roots[r];
      }
   return own;
}

static void write_out(rkb_writer_t *writer, rkb_online_t *o, uint32_t out, const rkb_launch_t *roots) {
   const uint32_t number = o->nodes.outs[out], side = o->nodes.made_side[out];
   const rkb_node_t *node = &writer->graph->nodes[number];
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *at[RKB_MAX_RANK];
   const char *name = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_here", node->name));
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int j = 0; j < %lld; j += 4)", (long long)o->out_columns);
   rkb_write(writer, "const int u = across * 4 + j * %lld;", (long long)o->across);
   const rkb_index_t *inner =
      rkb_writer_known_variable(writer, rkb_index_multiple(indices, "u", rkb_index_constant(indices, o->head), 4));
   const rkb_index_t *lane = rkb_open_lanes(writer, 4), *column = rkb_index_make(indices, RKB_INDEX_SUM, inner, lane);
   rkb_write(writer, "const float %s = %s[i][j + %s]%s;", name, o->out_names[out], lane->name,
             rkb_online_quotients(writer, o, node->inputs[side]));
   rkb_product_output(writer, &o->products[out], o->group, side == 0 ? &o->own : &column, side == 0 ? &column : &o->own, at);
   rkb_writer_know(writer, number, at, name);
   rkb_write_roots(writer, roots, number, at);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
}

/* Divides a row of an out by its sum, and multiplies it by the number that the values made of the scores lack. */
static void write_share(rkb_writer_t *writer, rkb_online_t *o, uint32_t out) {
   const char *divided = rkb_online_quotients(writer, o, writer->graph->nodes[o->nodes.outs[out]].inputs[o->nodes.made_side[out]]);
   const char *inverse = "1.0f";
   if (o->later[out] != RKB_NO_NODE)
      inverse = rkb_writer_real(writer, &writer->graph->nodes[o->later[out]].reals[0]);
   else if (!*divided)
      return;
   if (*divided) /* two outs may be divided by one sum */
      inverse = rkb_writer_once(writer, "inverse", writer->depth,
                                rkb_arena_format(writer->arena, "%s%s", inverse, divided))
                   .text;
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int j = 0; j < %lld; j++)", (long long)o->out_columns);
   rkb_write(writer, "   %s *= %s;", rkb_online_out(writer, o, out), inverse);
}

static void write_sums_tile(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out, const char *sums, const char *store) {
   const long long pitch = (long long)o->head + RKB_ONLINE_SUMS_PADDING;
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int j = 0; j < %lld; j += 2)", (long long)o->out_columns);
   rkb_write(writer, "float2 &pair = *(float2 *)(%s + (%s) * %lld + j * 4 + lane %% 4 * 2);", sums, o->own_at, pitch);
   rkb_write(writer, "pair.x %s %s[i / 2][j / 2][i %% 2 * 2];", store, o->out_names[out]);
   rkb_write(writer, "pair.y %s %s[i / 2][j / 2][i %% 2 * 2 + 1];", store, o->out_names[out]);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

void rkb_online_write_elements(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out, const rkb_launch_t *roots, int64_t width,
                               const char *first) {
   const uint32_t number = o->nodes.outs[out], side = o->nodes.made_side[out];
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *at[RKB_MAX_RANK];
   const char *name = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_here", writer->graph->nodes[number].name));
   rkb_writer_known_variable(writer, o->own);
   const rkb_index_t *inner = rkb_writer_known_variable(writer, rkb_index_multiple(indices, "u", rkb_index_constant(indices, o->head), width));
   rkb_online_open_guard(writer, "m", o->own_total);
   const rkb_index_t *lane = rkb_open_lanes(writer, (uint32_t)width), *column = rkb_index_make(indices, RKB_INDEX_SUM, inner, lane);
   rkb_write(writer, "const float %s = %s + %s];", name, first, lane->name);
   rkb_product_output(writer, &o->products[out], o->group, side == 0 ? &o->own : &column, side == 0 ? &column : &o->own, at);
   const uint32_t stored = rkb_online_total_of(writer, o, out, at);
   rkb_writer_know(writer, stored, at, name);
   rkb_write_roots(writer, roots, stored, at);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
}

/* Fragments go through shared memory: a lane has two neighbours in each of eight rows, and memory needs longer
 * rows.  This way the text also has only one copy of the operations on an element. */
static void write_fragments_out(rkb_writer_t *writer, rkb_online_t *o, uint32_t out, const rkb_launch_t *roots) {
   const long long width = 16 / (long long)o->tensor->bytes, packs = (long long)o->head / width,
                   pitch = (long long)o->head + RKB_ONLINE_SUMS_PADDING;
   const char *sums = rkb_writer_name(writer, out ? rkb_arena_format(writer->arena, "sums_tile_%u", out + 1) : "sums_tile");
   rkb_write(writer, "__syncthreads(); /* what was there has been read */");
   rkb_write(writer, "float *const %s = (float *)stages;", sums);
   if (o->stream_tile == o->warp_n)
      write_sums_tile(writer, o, out, sums, "=");
   else { /* warp after warp adds the share of its columns */
      rkb_write_open(writer, false, "for (int part = 0; part < %lld; part += %lld)", (long long)o->stream_tile, (long long)o->warp_n);
      rkb_write_open(writer, false, "if (part == 0 && warp_n == 0)");
      write_sums_tile(writer, o, out, sums, "=");
      rkb_write_close(writer);
      rkb_write_open(writer, false, "if (part > 0 && warp_n == part)");
      write_sums_tile(writer, o, out, sums, "+=");
      rkb_write_close(writer);
      rkb_write(writer, "__syncthreads();");
      rkb_write_close(writer);
   }
   rkb_write(writer, "__syncthreads();");
   rkb_write_open(writer, false, "for (int slot = threadIdx.x; slot < %lld; slot += %lld)", (long long)o->own_tile * packs, (long long)o->threads);
   rkb_write(writer, "const int row = slot / %lld, u = slot %% %lld * %lld;", packs, packs, width);
   rkb_write(writer, "const index m = m_first + row;");
   rkb_online_write_elements(writer, o, out, roots, width, rkb_arena_format(writer->arena, "%s[row * %lld + u", sums, pitch));
   rkb_write_close(writer);
}

/* Adds what the lanes of each row have, so that sums are of whole rows. */
static void write_row_sums(rkb_writer_t *writer, const rkb_online_t *o) {
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++) {
      if (!rkb_online_is_sum(writer, o->nodes.reduces[r]))
         continue;
      rkb_write(writer, "for (int distance = 1; distance < %lld; distance *= 2)", (long long)o->across);
      rkb_write(writer, "   %s[i] += __shfl_xor_sync(0xffffffffu, %s[i], distance);", o->reduce_names[r], o->reduce_names[r]);
   }
}

/* Writes an out to memory through a warp's own room in shared memory. */
static void write_rooms(rkb_writer_t *writer, rkb_online_t *o, uint32_t out, const rkb_launch_t *roots) {
   const long long width = 16 / (long long)o->tensor->bytes, pitch = RKB_ROOM_COLUMNS + RKB_ROOM_PADDING;
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int first = 0; first < %lld; first += %d)", 3 * (int)(writer->depth + 1), "",
                  (long long)o->head, RKB_ROOM_COLUMNS);
   rkb_write(writer, "__syncwarp(); /* what the room held has been read */");
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int pair = 0; pair < %d; pair++)", RKB_ROOM_COLUMNS / 4);
   rkb_write(writer, "   *(float2 *)(room + (lane / 4 + pair %% 2 * 8) * %lld + pair / 2 * 8 + lane %% 4 * 2) =", pitch);
   rkb_write(writer, "      make_float2(%s[first / 2 + pair * 2], %s[first / 2 + pair * 2 + 1]);", o->out_names[out], o->out_names[out]);
   rkb_write(writer, "__syncwarp();");
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int item = lane; item < %lld; item += 32)", 3 * (int)(writer->depth + 1), "",
                  16 * RKB_ROOM_COLUMNS / width);
   rkb_write(writer, "const int row = item / %lld, column = item %% %lld * %lld, u = first + column;", RKB_ROOM_COLUMNS / width,
             RKB_ROOM_COLUMNS / width, width);
   rkb_write(writer, "const index m = m_first + warp_m + row;");
   rkb_online_write_elements(writer, o, out, roots, width, rkb_arena_format(writer->arena, "room[row * %lld + column", pitch));
   rkb_write_close(writer);
   rkb_write_close(writer);
}

void rkb_online_write_results(rkb_writer_t *writer, rkb_online_t *o) {
   bool taken[RKB_MAX_LAUNCH_NODES] = {0};
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      rkb_writer_forget_local(writer, o->nodes.scores[s]);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      rkb_writer_local(writer, o->nodes.reduces[r], rkb_arena_format(writer->arena, "%s[i]", o->reduce_names[r]));
   const bool warps = o->tensor && o->stream_tile > o->warp_n;
   if (warps) {
      rkb_write(writer, "#pragma unroll");
      rkb_write_open(writer, false, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
      write_row_sums(writer, o);
      rkb_write_close(writer);
      rkb_online_join_warps(writer, o);
   }
   rkb_online_open_own(writer, o);
   if (!warps)
      write_row_sums(writer, o);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++) {
      const uint32_t number = o->nodes.reduces[r];
      if (!rkb_online_is_sum(writer, number))
         continue;
      const char *divided = rkb_online_quotients(writer, o, writer->graph->nodes[number].inputs[0]);
      if (*divided)
         rkb_write(writer, "%s[i] = %s[i]%s;", o->reduce_names[r], o->reduce_names[r], divided);
   }
   if (o->scaled != RKB_NO_NODE && rkb_online_is_several(&o->nodes) && !o->nodes.out_count)
      rkb_write(writer, "%s[i] *= %s;", o->reduce_names[rkb_online_largest(writer, o)],
                rkb_writer_real(writer, &writer->graph->nodes[o->scaled].reals[0]));
   rkb_online_open_guard(writer, "m", o->own_total);
   for (uint32_t i = 0; i < o->nodes.out_count && !o->tensor; i++) {
      const rkb_launch_t roots = roots_of(writer, o, o->nodes.outs[i], taken);
      if (roots.root_count)
         write_out(writer, o, i, &roots);
   }
   for (uint32_t r = o->nodes.reduce_count; r-- > 0;) {
      const rkb_launch_t roots = roots_of(writer, o, o->nodes.reduces[r], taken);
      if (!roots.root_count)
         continue;
      rkb_write_open(writer, true, "if (%s)", o->first_lane);
      rkb_write_roots(writer, &roots, o->nodes.reduces[r], rkb_writer_find_local(writer, o->nodes.reduces[r])->at);
      rkb_write_close(writer);
   }
   rkb_write_close(writer);
   if (o->tensor)
      for (uint32_t i = 0; i < o->nodes.out_count; i++)
         write_share(writer, o, i);
   rkb_write_close(writer);
   for (uint32_t i = 0; i < o->nodes.out_count && o->tensor; i++) {
      const rkb_launch_t roots = roots_of(writer, o, o->turns ? o->nodes.totals[i] : o->nodes.outs[i], taken);
      if (roots.root_count && o->groups)
         write_rooms(writer, o, i, &roots);
      else if (roots.root_count)
         write_fragments_out(writer, o, i, &roots);
   }
   for (uint32_t r = 0; r < o->launch->root_count; r++)
      if (!taken[r])
         rkb_writer_fail(writer, "%s is neither a statistic nor a product", writer->graph->nodes[o->launch->roots[r]].name);
}
