/* Statistics of rows that are kept while a block goes over the scores, and what becomes of the scores.  One thread. */
#include "generator/online.h"

#include <string.h>
#include "generator/degree.h"

void rkb_online_open_own(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "const index m = m_first + down + i * %lld;", (long long)o->down);
   rkb_writer_known_variable(writer, o->own);
}

static void open_streamed(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int j = 0; j < %lld; j++)", (long long)o->columns);
   rkb_write(writer, "const index n = n_first + across + j * %lld;", (long long)o->across);
   rkb_writer_known_variable(writer, o->stream);
}

void rkb_online_open_guard(rkb_writer_t *writer, const char *number, const rkb_index_t *total) {
   rkb_write_open(writer, true, "if (%s < %s)", number, rkb_writer_uniform(writer, total));
}

bool rkb_online_is_sum(const rkb_writer_t *writer, uint32_t reduce) {
   return strcmp(writer->graph->nodes[reduce].operation, "sum") == 0;
}

uint32_t rkb_online_largest(const rkb_writer_t *writer, const rkb_online_t *o) {
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      if (!rkb_online_is_sum(writer, o->nodes.reduces[r]))
         return r;
   return RKB_ONLINE_MANY;
}

/* A row's new largest score, and what was summed below the old one brought below the new. */
static void write_largest(rkb_writer_t *writer, rkb_online_t *o, uint32_t r) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t number = o->nodes.reduces[r], from = graph->nodes[number].inputs[0];
   const char *name = o->reduce_names[r], *kept = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_row", graph->nodes[from].name));
   rkb_write(writer, "float %s[%lld], next = %s[i];", kept, (long long)o->columns, name);
   open_streamed(writer, o);
   rkb_write(writer, "%s[j] = -INFINITY;", kept);
   rkb_write_open(writer, true, "if (m < %s && n < %s)", rkb_writer_uniform(writer, o->own_total), rkb_writer_uniform(writer, o->stream_total));
   rkb_write(writer, "%s[j] = %s;", kept, rkb_write_float(writer, from, o->from[r]).text);
   rkb_write_close(writer);
   rkb_write(writer, "next = larger(next, %s[j]);", kept);
   rkb_write_close(writer);
   rkb_write(writer, "for (int distance = 1; distance < %lld; distance *= 2)", (long long)o->across);
   rkb_write(writer, "   next = larger(next, __shfl_xor_sync(0xffffffffu, next, distance));");
   rkb_write(writer, "const float factor = next == %s[i] ? 1.0f : expf(%s[i] - next);", name, name);
   rkb_write(writer, "%s[i] = next;", name);
   rkb_write(writer, "const float peak = next == -INFINITY ? 0.0f : next; /* no score of the row was seen yet */");
   for (uint32_t s = 0; s < o->nodes.reduce_count; s++) {
      const int degree = s == r ? 0 : rkb_degree_of(graph, graph->nodes[o->nodes.reduces[s]].inputs[0], number);
      if (degree < 0 || degree > 1)
         rkb_writer_fail(writer, "%s cannot be rescaled", graph->nodes[o->nodes.reduces[s]].name);
      if (degree == 1)
         rkb_write(writer, "%s[i] *= factor;", o->reduce_names[s]);
   }
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      const int degree = rkb_degree_of(graph, graph->nodes[o->nodes.outs[i]].inputs[o->nodes.made_side[i]], number);
      if (degree < 0 || degree > 1)
         rkb_writer_fail(writer, "%s cannot be rescaled", graph->nodes[o->nodes.outs[i]].name);
      if (degree == 1) {
         rkb_write(writer, "for (int j = 0; j < %lld; j++)", (long long)o->out_columns);
         rkb_write(writer, "   %s[i][j] *= factor;", o->out_names[i]);
      }
   }
   rkb_writer_local(writer, number, "peak");
   if (rkb_node_is_light(&graph->nodes[from])) {
      struct rkb_local *local = rkb_writer_local(writer, from, rkb_arena_format(writer->arena, "%s[j]", kept));
      memcpy(local->at, o->from[r], sizeof local->at);
      local->placed = true;
   }
}

/* What becomes of the scores: terms of the sums, and a tile for each product that comes after. */
void rkb_online_write_made(rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t largest = rkb_online_largest(writer, o);
   const rkb_index_t *at[RKB_MAX_RANK];
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      rkb_writer_local(writer, o->nodes.scores[s], rkb_arena_format(writer->arena, "%s[i][j]", o->score_names[s]));
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      rkb_writer_local(writer, o->nodes.reduces[r], "1.0f"); /* what sums divide is divided in the end */
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      rkb_write(writer, "float %s[%lld][%lld] = {};", o->made_names[i], (long long)o->rows, (long long)o->columns);
   if (o->streams_first) {
      open_streamed(writer, o);
      rkb_online_open_guard(writer, "n", o->stream_total);
      rkb_online_open_own(writer, o);
      rkb_online_open_guard(writer, "m", o->own_total);
   } else {
      rkb_online_open_own(writer, o);
      if (largest < RKB_ONLINE_MANY)
         write_largest(writer, o, largest);
      rkb_online_open_guard(writer, "m", o->own_total);
      open_streamed(writer, o);
      rkb_online_open_guard(writer, "n", o->stream_total);
   }
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      if (rkb_online_is_sum(writer, o->nodes.reduces[r]))
         rkb_write(writer, "%s[i] += %s;", o->reduce_names[r],
                   rkb_write_float(writer, graph->nodes[o->nodes.reduces[r]].inputs[0], o->from[r]).text);
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      const uint32_t side = o->nodes.made_side[i];
      rkb_product_operand(writer, &o->products[i], side, o->group, &o->own, &o->stream, at);
      rkb_write(writer, "%s[i][j] = %s;", o->made_names[i], rkb_write_float(writer, graph->nodes[o->nodes.outs[i]].inputs[side], at).text);
   }
   for (uint32_t b = 0; b < 4; b++)
      rkb_write_close(writer);
   if (largest < RKB_ONLINE_MANY)
      rkb_writer_forget_local(writer, graph->nodes[o->nodes.reduces[largest]].inputs[0]);
   if (!o->nodes.out_count)
      return;
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write_open(writer, false, "   for (int j = 0; j < %lld; j++)", (long long)o->columns);
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      rkb_write(writer, "%s[(down + i * %lld) * %lld + across + j * %lld] = %s[i][j];", o->made_tiles[i], (long long)o->down,
                (long long)(o->stream_tile + RKB_ONLINE_PADDING), (long long)o->across, o->made_names[i]);
   rkb_write_close(writer);
   rkb_write(writer, "__syncwarp(); /* a warp reads its own rows alone */");
}

/* The rkb_online_quotients by sums that were left to the end: " / sum[i]", or "". */
const char *rkb_online_quotients(rkb_writer_t *writer, const rkb_online_t *o, uint32_t value) {
   const char *text = "";
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++) {
      const uint32_t number = o->nodes.reduces[r];
      if (!rkb_online_is_sum(writer, number))
         continue;
      const int degree = rkb_degree_of(writer->graph, value, number);
      if (degree < -2 || degree > 0)
         rkb_writer_fail(writer, "%s is no factor of what needs it", writer->graph->nodes[number].name);
      for (int d = degree; d < 0; d++)
         text = rkb_arena_format(writer->arena, "%s / %s[i]", text, o->reduce_names[r]);
   }
   return text;
}
