/* Statistics of rows, which change while a block goes over the scores, and the values computed from the scores.  One thread. */
#include "generator/online/online.h"

#include <string.h>
#include "generator/graph/row_scaling.h"
#include "generator/graph/needed_values.h"

void rkb_online_open_own(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int i = 0; i < %lld; i++)",
                  3 * (int)(writer->depth + 1), "", (long long)o->rows);
   rkb_write(writer, "const index m = m_first + %s;", o->own_at);
   rkb_writer_known_variable(writer, o->own);
}

static void open_streamed(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int j = 0; j < %lld; j++)",
                  3 * (int)(writer->depth + 1), "", (long long)o->columns);
   rkb_write(writer, "const index n = n_first + %s;", o->streamed_at);
   rkb_writer_known_variable(writer, o->stream);
}

void rkb_online_open_guard(rkb_writer_t *writer, const char *number, const rkb_index_t *total) {
   rkb_write_open(writer, true, "if (%s < %s)", number, rkb_writer_uniform(writer, total));
}

/* Writes a row's new largest score, and rescales what was summed with the old one. */
static void write_largest(rkb_writer_t *writer, rkb_online_t *o, uint32_t r) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t number = o->nodes.reduces[r], from = graph->nodes[number].inputs[0];
   const char *name = o->reduce_names[r], *kept = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_row", graph->nodes[from].name));
   rkb_write(writer, "float %s[%lld], next = %s[i];", kept, (long long)o->columns, name);
   open_streamed(writer, o);
   if (!writer->shown)
      rkb_write(writer, "%s[j] = -INFINITY;", kept);
   if (!writer->shown)
      rkb_write_open(writer, true, "if (m < %s && n < %s)", rkb_writer_uniform(writer, o->own_total), rkb_writer_uniform(writer, o->stream_total));
   rkb_write(writer, "%s[j] = %s;", kept, rkb_write_float(writer, from, o->from[r]).text);
   if (!writer->shown)
      rkb_write_close(writer);
   rkb_write(writer, "next = larger(next, %s[j]);", kept);
   rkb_write_close(writer);
   rkb_write(writer, "for (int distance = 1; distance < %lld; distance *= 2)", (long long)o->across);
   rkb_write(writer, "   next = larger(next, __shfl_xor_sync(0xffffffffu, next, distance));");
   rkb_write(writer, "const float factor = next == %s[i] ? 1.0f : %s;", name,
             rkb_online_power_text(writer, o, rkb_arena_format(writer->arena, "%s[i] - next", name)));
   rkb_write(writer, "%s[i] = next;", name);
   rkb_write(writer, "const float peak = next == -INFINITY ? 0.0f : next; /* no score of the row was seen yet */");
   rkb_online_rescale(writer, o, number);
   rkb_writer_local(writer, number, "peak");
   if (rkb_node_is_light(&graph->nodes[from])) {
      struct rkb_local *local = rkb_writer_local(writer, from, rkb_arena_format(writer->arena, "%s[j]", kept));
      memcpy(local->at, o->from[r], sizeof local->at);
      local->placed = true;
   }
}

/* Whether another launch reads the statistics, and computes powers itself.  Both launches must compute the same exponents: otherwise the share
 * of a single large score is not 1. */
static bool stores_statistics(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   bool any = false;
   for (uint32_t r = 0; r < launch->root_count; r++)
      any |= graph->nodes[launch->roots[r]].kind == RKB_NODE_REDUCE;
   return any;
}

/* exp(x - largest) as a power of two.  In half precision one multiply-add makes the exponent: the error of largest * log2(e) is within the
 * softmax's own bound.  Two cases subtract first: floats, and scores of which another launch computes the same powers. */
static void write_powers(rkb_writer_t *writer, rkb_online_t *o, uint32_t r) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t number = o->nodes.reduces[r], from = graph->nodes[number].inputs[0];
   for (uint32_t n = number; n < graph->node_count; n++) {
      if (!rkb_is_power(graph, n, from, number))
         continue;
      const char *name = rkb_writer_name(writer, graph->nodes[n].name);
      const char *x = rkb_write_float(writer, from, o->from[r]).text;
      if (o->tensor->bytes == 2 && !stores_statistics(graph, o->launch))
         rkb_write(writer, "const float %s = power_of_two(fmaf(%s, %s, peak * -%s));", name, x,
                   rkb_online_exponent_text(o), rkb_online_exponent_text(o));
      else
         rkb_write(writer, "const float %s = %s;", name,
                   rkb_online_power_text(writer, o, rkb_arena_format(writer->arena, "%s - peak", x)));
      struct rkb_local *local = rkb_writer_local(writer, n, name);
      memcpy(local->at, o->from[r], sizeof local->at);
      local->placed = true;
   }
}

static void forget_powers(rkb_writer_t *writer, const rkb_online_t *o, uint32_t r) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t number = o->nodes.reduces[r];
   for (uint32_t n = number; o->tensor && n < graph->node_count; n++)
      if (rkb_is_power(graph, n, graph->nodes[number].inputs[0], number))
         rkb_writer_forget_local(writer, n);
}

/* Writes whether all scores of a warp exist and no mask hides one. */
static void write_whole(rkb_writer_t *writer, const rkb_online_t *o) {
   const char *own = rkb_writer_uniform(writer, o->own_total), *streamed = rkb_writer_uniform(writer, o->stream_total);
   rkb_write(writer, "const bool all_shown = m_first + warp_m + %lld <= %s && n_first + %lld <= %s%s%s;", (long long)o->warp_m, own,
             (long long)o->stream_tile, streamed,
             o->end ? rkb_arena_format(writer->arena, " && n_first + %lld <= seen + warp_m", (long long)(o->stream_tile + o->own_tile - 1)) : "",
             o->begin ? rkb_arena_format(writer->arena, " && n_first >= first_seen + warp_m + %lld", (long long)(o->warp_m - 1)) : "");
}

/* Whether a statistic is made after the share, when the other scores have come. */
static bool is_later(const rkb_graph_t *graph, const rkb_online_t *o, uint32_t reduce) {
   bool later = false;
   for (uint32_t s = 1; s < o->nodes.score_count && o->share != RKB_NO_NODE; s++)
      later |= rkb_value_needs(graph, graph->nodes[o->nodes.reduces[reduce]].inputs[0], o->nodes.scores[s]);
   return later;
}

/* Writes the terms of the sums, and of later products, from a thread's scores. */
static void write_terms(rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t largest = rkb_online_largest(writer, o), guards = writer->shown ? 0 : 2;
   const rkb_index_t *at[RKB_MAX_RANK];
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      rkb_writer_local(writer, o->nodes.reduces[r], "1.0f"); /* a division by a sum is left to the end */
   if (o->streams_first) {
      open_streamed(writer, o);
      if (guards)
         rkb_online_open_guard(writer, "n", o->stream_total);
      rkb_online_open_own(writer, o);
      if (guards)
         rkb_online_open_guard(writer, "m", o->own_total);
   } else {
      rkb_online_open_own(writer, o);
      if (largest < RKB_ONLINE_MANY)
         write_largest(writer, o, largest);
      if (guards)
         rkb_online_open_guard(writer, "m", o->own_total);
      open_streamed(writer, o);
      if (guards)
         rkb_online_open_guard(writer, "n", o->stream_total);
   }
   if (o->tensor && largest < RKB_ONLINE_MANY)
      write_powers(writer, o, largest);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      if (rkb_online_is_sum(writer, o->nodes.reduces[r]))
         rkb_write(writer, "%s[i] += %s;", o->reduce_names[r],
                   rkb_write_float(writer, graph->nodes[o->nodes.reduces[r]].inputs[0], o->from[r]).text);
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      const uint32_t side = o->nodes.made_side[i];
      rkb_product_operand(writer, &o->products[i], side, o->group, &o->own, &o->stream, at);
      rkb_write(writer, "%s[i][j] = %s;", o->made_names[i], rkb_write_float(writer, graph->nodes[o->nodes.outs[i]].inputs[side], at).text);
   }
   for (uint32_t b = 0; b < 2 + guards; b++)
      rkb_write_close(writer);
   if (largest < RKB_ONLINE_MANY) {
      rkb_writer_forget_local(writer, graph->nodes[o->nodes.reduces[largest]].inputs[0]);
      forget_powers(writer, o, largest);
   }
}

/* Writes a tile in shared memory for each later product. */
static void write_made_tiles(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write_open(writer, false, "   for (int j = 0; j < %lld; j++)", (long long)o->columns);
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      rkb_write(writer, "%s[(down + i * %lld) * %lld + across + j * %lld] = %s[i][j];", o->made_tiles[i], (long long)o->down,
                (long long)(o->stream_tile + RKB_ONLINE_PADDING), (long long)o->across, o->made_names[i]);
   rkb_write_close(writer);
   rkb_write(writer, "__syncwarp(); /* a warp reads its own rows alone */");
}

void rkb_online_write_made(rkb_writer_t *writer, rkb_online_t *o) {
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      rkb_writer_local(writer, o->nodes.scores[s], rkb_online_score(writer, o, s));
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      rkb_write(writer, "float %s[%lld][%lld] = {};", o->made_names[i], (long long)o->rows, (long long)o->columns);
   if (!o->tensor) {
      write_terms(writer, o);
      if (o->nodes.out_count)
         write_made_tiles(writer, o);
      return;
   }
   write_whole(writer, o);
   for (uint32_t w = 0; w < 2; w++) {
      rkb_write_open(writer, false, w == 0 ? "if (all_shown)" : "if (!all_shown)");
      writer->shown = w == 0;
      write_terms(writer, o);
      writer->shown = false;
      rkb_write_close(writer);
   }
}

/* Writes the scores of a tile from which the largest is taken: scaled, unless the exponents are, and hidden
 * where a mask hides them or where there are none. */
static void write_hidden(rkb_writer_t *writer, rkb_online_t *o, uint32_t largest) {
   const uint32_t from = writer->graph->nodes[o->nodes.reduces[largest]].inputs[0];
   const char *score = rkb_online_score(writer, o, 0), *name = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_here", writer->graph->nodes[from].name));
   write_whole(writer, o);
   if (o->scaled != RKB_NO_NODE) {
      struct rkb_local *local = rkb_writer_local(writer, o->scaled, score);
      const struct rkb_local *unscaled = rkb_writer_find_local(writer, o->nodes.scores[0]);
      memcpy(local->at, unscaled->at, sizeof local->at);
      local->placed = true;
   }
   for (uint32_t w = o->scaled != RKB_NO_NODE; w < 2; w++) {
      writer->shown = w == 0;
      rkb_write_open(writer, false, w == 0 ? "if (all_shown)" : "if (!all_shown)");
      rkb_online_open_own(writer, o);
      open_streamed(writer, o);
      if (w == 1) {
         rkb_write(writer, "float %s = -INFINITY;", name);
         rkb_write_open(writer, true, "if (m < %s && n < %s)", rkb_writer_uniform(writer, o->own_total), rkb_writer_uniform(writer, o->stream_total));
      }
      rkb_write(writer, "%s = %s;", w == 0 ? score : name, rkb_write_float(writer, from, o->from[largest]).text);
      if (w == 1) {
         rkb_write_close(writer);
         rkb_write(writer, "%s = %s;", score, name);
      }
      for (uint32_t b = 0; b < 3; b++)
         rkb_write_close(writer);
   }
   writer->shown = false;
   if (o->scaled != RKB_NO_NODE)
      rkb_writer_forget_local(writer, o->scaled);
}

/* Writes the rows' largest scores so far, and the factor that rescales sums from the previous largest scores. */
static void write_next_largest(rkb_writer_t *writer, rkb_online_t *o, uint32_t largest) {
   const char *name = o->reduce_names[largest];
   rkb_write(writer, "float next = %s[i];", name);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int j = 0; j < %lld; j++)", (long long)o->columns);
   rkb_write(writer, "   next = larger(next, %s);", rkb_online_score(writer, o, 0));
   rkb_write(writer, "for (int distance = 1; distance < 4; distance *= 2)");
   rkb_write(writer, "   next = larger(next, __shfl_xor_sync(0xffffffffu, next, distance));");
   const bool kept =
      o->nodes.out_count > 0; /* rescales sums of products, once the products in flight have been added */
   rkb_write(writer, "%s = next == %s[i] ? 1.0f : power_of_two((%s[i] - next) * %s);",
             kept ? "factor[i]" : "const float factor", name, name, rkb_online_exponent_text(o));
   rkb_write(writer, "%s[i] = next;", name);
   rkb_write(writer, "const float peak = next == -INFINITY ? 0.0f : next; /* no score of the row was seen yet */");
   rkb_online_rescale_sums(writer, o, o->nodes.reduces[largest], kept ? "factor[i]" : "factor");
}

void rkb_online_write_weigh(rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t largest = rkb_online_largest(writer, o), from = graph->nodes[o->nodes.reduces[largest]].inputs[0], side = o->nodes.made_side[0];
   const char *score = rkb_online_score(writer, o, 0);
   const rkb_index_t *at[RKB_MAX_RANK];
   rkb_write_open(writer, false, "auto weigh = [&](index n_first)");
   rkb_write(writer, "/* Makes statistics of the scores, and of each what is multiplied, in its place. */");
   rkb_writer_local(writer, o->nodes.scores[0], score);
   write_hidden(writer, o, largest);
   rkb_writer_forget_local(writer, o->nodes.scores[0]);
   rkb_online_open_own(writer, o);
   write_next_largest(writer, o, largest);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      /* A division by a sum is left to the end. */
      rkb_writer_local(writer, o->nodes.reduces[r], r == largest ? "peak" : "1.0f");
   struct rkb_local *local = rkb_writer_local(writer, from, score);
   memcpy(local->at, o->from[largest], sizeof local->at);
   local->placed = true;
   open_streamed(writer, o);
   write_powers(writer, o, largest);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      if (rkb_online_is_sum(writer, o->nodes.reduces[r]))
         rkb_write(writer, "%s[i] += %s;", o->reduce_names[r],
                   rkb_write_float(writer, graph->nodes[o->nodes.reduces[r]].inputs[0], o->from[r]).text);
   rkb_product_operand(writer, &o->products[0], side, o->group, &o->own, &o->stream, at);
   rkb_write(writer, "%s = %s;", score, rkb_write_float(writer, graph->nodes[o->nodes.outs[0]].inputs[side], at).text);
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_writer_forget_local(writer, from);
   forget_powers(writer, o, largest);
   rkb_write_close_with(writer, "};");
}

/* Opens the loops over a thread's own and streamed numbers. */
static void open_elements(rkb_writer_t *writer, const rkb_online_t *o, bool share) {
   for (uint32_t inner = 0; inner < 2; inner++) {
      const bool own = o->streams_first == (inner == 1);
      rkb_online_open_existing(writer, o, own);
      rkb_online_know_given(writer, o, own, share);
   }
}

/* Writes the share to the places of the first scores. */
static void write_share_in_place(rkb_writer_t *writer, const rkb_online_t *o) {
   open_elements(writer, o, true);
   const char *share =
      rkb_write_float(writer, o->share, rkb_writer_find_local(writer, o->nodes.scores[0])->at).text;
   rkb_write(writer, "%s = %s;", rkb_online_score(writer, o, 0), share);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

/* Makes a value known that is in the places of the first scores. */
static void know_share(rkb_writer_t *writer, const rkb_online_t *o) {
   if (o->share != RKB_NO_NODE)
      rkb_writer_know(writer, o->share, rkb_writer_find_local(writer, o->nodes.scores[0])->at,
                      rkb_online_score(writer, o, 0));
}

/* Writes the values made of a thread's scores over the scores: the terms of the first out to the places of the first scores, and so on. */
static void write_made_in_place(rkb_writer_t *writer, const rkb_online_t *o) {
   const rkb_index_t *at[RKB_MAX_RANK];
   const char *terms[RKB_ONLINE_MANY];
   open_elements(writer, o, false);
   know_share(writer, o);
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      const uint32_t side = o->nodes.made_side[i];
      rkb_product_operand(writer, &o->products[i], side, o->group, &o->own, &o->stream, at);
      terms[i] = rkb_write_float(writer, writer->graph->nodes[o->nodes.outs[i]].inputs[side], at).text;
   }
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      if (strcmp(rkb_online_score(writer, o, i), terms[i]) != 0)
         rkb_write(writer, "%s = %s;", rkb_online_score(writer, o, i), terms[i]);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

/* Writes zeros in the places of so many kinds of scores, where a mask hides them or they do not exist. */
static void write_zeros(rkb_writer_t *writer, const rkb_online_t *o, uint32_t count) {
   const char *kept =
      rkb_arena_format(writer->arena, "m < %s && n < %s", rkb_writer_uniform(writer, o->own_total),
                       rkb_writer_uniform(writer, o->stream_total));
   rkb_write_open(writer, false, "if (!all_shown)");
   rkb_online_open_own(writer, o);
   open_streamed(writer, o);
   for (uint32_t s = 0; s < writer->shown_count; s++) {
      const struct rkb_shown *shown = &writer->shown_places[s];
      kept = rkb_arena_format(writer->arena, "%s && %s - %s %s %s", kept,
                              rkb_writer_index(writer, shown->column), rkb_writer_index(writer, shown->row),
                              shown->upper ? ">=" : "<=", rkb_writer_uniform(writer, shown->diagonal));
   }
   rkb_write_open(writer, false, "if (!(%s))", kept);
   for (uint32_t i = 0; i < count; i++)
      rkb_write(writer, "%s = 0.0f;", rkb_online_score(writer, o, i));
   for (uint32_t b = 0; b < 4; b++)
      rkb_write_close(writer);
}

/* Writes the statistics that need the share and the other scores. */
static void write_later(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write_open(writer, false, "auto weigh = [&](index n_first)");
   rkb_write(writer, "/* Makes the other statistics; what does not exist has a share of 0. */");
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      rkb_writer_local(writer, o->nodes.scores[s], rkb_online_score(writer, o, s));
   rkb_online_open_existing(writer, o, true);
   rkb_online_open_existing(writer, o, false);
   know_share(writer, o);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      if (rkb_online_is_sum(writer, o->nodes.reduces[r]) && is_later(writer->graph, o, r))
         rkb_write(
            writer, "%s[i] += %s;", o->reduce_names[r],
            rkb_write_float(writer, writer->graph->nodes[o->nodes.reduces[r]].inputs[0], o->from[r]).text);
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_write_close_with(writer, "};");
}

/* Writes statistics of the first scores, and replaces these scores by shares below the largest so far.  One text serves tiles with hidden
 * places and tiles without.  Where products of other scores may be in flight, ptxas waits for each of them around the text's branch.  So
 * shares that are made last have two texts (rkb_online_write_made). */
static void write_first_statistics(rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t largest = rkb_online_largest(writer, o),
                  from = graph->nodes[o->nodes.reduces[largest]].inputs[0];
   const char *score = rkb_online_score(writer, o, 0);
   const rkb_index_t *at[RKB_MAX_RANK];
   rkb_writer_local(writer, o->nodes.scores[0], score);
   memcpy(at, rkb_writer_find_local(writer, o->nodes.scores[0])->at, sizeof at);
   write_hidden(writer, o, largest);
   rkb_online_open_own(writer, o);
   write_next_largest(writer, o, largest);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      /* A division by a sum is left to the end. */
      rkb_writer_local(writer, o->nodes.reduces[r], r == largest ? "peak" : "1.0f");
   struct rkb_local *local = rkb_writer_local(writer, from, score);
   memcpy(local->at, o->from[largest], sizeof local->at);
   local->placed = true;
   open_streamed(writer, o);
   write_powers(writer, o, largest);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      if (rkb_online_is_sum(writer, o->nodes.reduces[r]) && !is_later(graph, o, r))
         rkb_write(writer, "%s[i] += %s;", o->reduce_names[r],
                   rkb_write_float(writer, graph->nodes[o->nodes.reduces[r]].inputs[0], o->from[r]).text);
   rkb_write(writer, "%s = %s;", score, rkb_write_float(writer, o->share, at).text);
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_writer_forget_local(writer, from);
   forget_powers(writer, o, largest);
}

void rkb_online_write_weigh_several(rkb_writer_t *writer, rkb_online_t *o) {
   if (!o->nodes.out_count) {
      rkb_write_open(writer, false,
                     o->share == RKB_NO_NODE ? "auto weigh = [&](index n_first)"
                                             : "auto weigh_first = [&](index n_first)");
      rkb_write(
         writer,
         o->share == RKB_NO_NODE
            ? "/* Makes statistics of the scores. */"
            : "/* Makes statistics of the first scores, and replaces the scores by exponentials relative to the largest so far. */");
      (o->share == RKB_NO_NODE ? rkb_online_write_made : write_first_statistics)(writer, o);
      rkb_write_close_with(writer, "};");
      if (o->share != RKB_NO_NODE)
         write_later(writer, o);
      return;
   }
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      rkb_writer_local(writer, o->nodes.scores[s], rkb_online_score(writer, o, s));
   if (o->share != RKB_NO_NODE) {
      rkb_write_open(writer, false, "auto weigh_first = [&](index n_first)");
      rkb_write(writer, "/* Makes shares of the first scores, in their places. */");
      writer->shown = writer->shares_are_powers = true;
      write_share_in_place(writer, o);
      writer->shown = writer->shares_are_powers = false;
      rkb_write_close_with(writer, "};");
   }
   rkb_write_open(writer, false, "auto weigh = [&](index n_first)");
   rkb_write(writer, "/* Makes of the scores what is multiplied, in their places. */");
   write_whole(writer, o);
   writer->shown = writer->shares_are_powers = true;
   write_made_in_place(writer, o);
   writer->shown = writer->shares_are_powers = false;
   write_zeros(writer, o, o->nodes.out_count);
   rkb_write_close_with(writer, "};");
}
