/* Statistics of rows that an earlier launch wrote to memory, and from which the shares are computed.  Those of the own rows stay in
 * registers.  A warp of the copying warpgroup loads those of the streamed rows to shared memory, so that each thread reads those of its
 * columns from there.  One thread writes the text.
 *
 * For a sum of powers memory has the logarithm, so a share is a power with one multiply-add in its exponent. */
#include "generator/online/online.h"

#include "generator/graph/needed_values.h"
#include "generator/online/online_warpgroups.h"

/* The coordinates at which a launch needs a value.  False: the launch does not need it, or it belongs neither to own rows alone nor to
 * streamed rows alone. */
static bool find_place(rkb_writer_t *writer, const rkb_online_t *o, struct rkb_given *given) {
   const rkb_graph_t *graph = writer->graph;
   const rkb_index_t *at[RKB_MAX_RANK], *const variables[] = {o->own, o->stream, o->group_total};
   bool needed = false, own = false, streamed = false;
   rkb_writer_t trial;
   rkb_writer_try(writer, &trial);
   for (uint32_t v = 0; v < sizeof variables / sizeof variables[0]; v++)
      if (variables[v]->kind == RKB_INDEX_VARIABLE)
         rkb_writer_known_variable(&trial, variables[v]);
   rkb_writer_local(&trial, given->node, "statistic");
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      const uint32_t side = o->nodes.made_side[i];
      rkb_product_operand(&trial, &o->products[i], side, o->group, &o->own, &o->stream, at);
      rkb_write_float(&trial, graph->nodes[o->nodes.outs[i]].inputs[side], at);
   }
   const struct rkb_local *local = rkb_writer_find_local(&trial, given->node);
   needed = local->placed && !trial.failed;
   for (uint32_t d = 0; needed && d < graph->nodes[given->node].rank; d++) {
      given->at[d] = local->at[d];
      own |= rkb_index_mentions(local->at[d], o->own);
      streamed |= rkb_index_mentions(local->at[d], o->stream);
   }
   rkb_writer_tried(writer, &trial);
   given->own = own;
   return needed && own != streamed;
}

void rkb_online_find_given(rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   bool kept = false; /* the largest scores, whose shares have their factor in the exponent */
   for (uint32_t n = 0; n < graph->node_count && o->given_count < RKB_ONLINE_MANY; n++) {
      struct rkb_given *given = &o->given[o->given_count];
      bool needed = false;
      for (uint32_t i = 0; i < o->nodes.out_count; i++)
         needed |= rkb_value_needs(graph, graph->nodes[o->nodes.outs[i]].inputs[o->nodes.made_side[i]], n);
      if (!needed || graph->nodes[n].kind != RKB_NODE_REDUCE || !writer->storage[n].name)
         continue;
      *given = (struct rkb_given){.node = n, .powers = rkb_is_sum_of_powers(graph, n)};
      if (!find_place(writer, o, given))
         continue;
      given->part = n == o->scaled_largest;
      given->name = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_%s%s", graph->nodes[n].name,
                                                             given->powers ? "log_"
                                                             : given->part ? "part_"
                                                                           : "",
                                                             given->own ? "own" : "rows"));
      rkb_writer_know(writer, 0, (const rkb_index_t *const[RKB_MAX_RANK]){0},
                      given->name); /* the name is in use now */
      o->given_count++;
      kept |= given->part;
   }
   if (!kept)
      o->scaled = o->scaled_largest = RKB_NO_NODE;
}

bool rkb_online_streams_given(const rkb_online_t *o) {
   bool any = false;
   for (uint32_t g = 0; g < o->given_count; g++)
      any |= !o->given[g].own;
   return any;
}

int64_t rkb_online_write_given_tiles(rkb_writer_t *writer, const rkb_online_t *o, int64_t first) {
   const int64_t bytes = o->stages * o->stream_tile * 4;
   int64_t all = 0;
   for (uint32_t g = 0; g < o->given_count; g++)
      if (!o->given[g].own) {
         rkb_write(writer, "float *const %s = (float *)(tiles + %lld); /* %lld stages */", o->given[g].name,
                   (long long)(first + all), (long long)o->stages);
         all += bytes;
      }
   return all;
}

/* Whether a value needs a node other than through the value `known`. */
static bool needs_beside(const rkb_graph_t *graph, uint32_t value, uint32_t node, uint32_t known) {
   if (value == known || !rkb_value_needs(graph, value, node))
      return false;
   bool needs = value == node;
   for (uint32_t i = 0; i < graph->nodes[value].input_count && !needs; i++)
      needs = needs_beside(graph, graph->nodes[value].inputs[i], node, known);
   return needs;
}

/* The text of the part of a statistic that is kept. */
static const char *kept_text(rkb_writer_t *writer, const struct rkb_given *given) {
   const char *text = rkb_write_float(writer, given->node, given->at).text;
   return given->powers ? rkb_arena_format(writer->arena, "logarithm(%s)", text)
          : given->part ? rkb_arena_format(writer->arena, "largest_part(%s)", text)
                        : text;
}

void rkb_online_bring_given(rkb_writer_t *writer, const rkb_online_t *o) {
   const char *end = rkb_writer_uniform(writer, o->stream_total);
   rkb_write(writer, "/* The second warp brings the statistics of the streamed rows. */");
   rkb_online_open_turns(writer, o);
   rkb_write_open(writer, false,
                  "for (index n_first = begin; n_first < end && threadIdx.x / 32 %% 4 == 1; n_first += %lld)",
                  (long long)o->stream_tile);
   rkb_write(writer, "barrier_wait(&rows_freed[stage], turn ^ 1);");
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int row = lane; row < %lld; row += 32)",
                  3 * (int)(writer->depth + 1), "", (long long)o->stream_tile);
   rkb_write(writer, "const index n_here = n_first + row, n = n_here < %s ? n_here : %s - 1;", end, end);
   rkb_writer_known_variable(writer, o->stream);
   for (uint32_t g = 0; g < o->given_count; g++)
      if (!o->given[g].own)
         rkb_write(writer, "%s[stage * %lld + row] = %s;", o->given[g].name, (long long)o->stream_tile,
                   kept_text(writer, &o->given[g]));
   rkb_write_close(writer);
   rkb_write(writer, "__syncwarp();");
   rkb_write(writer, "if (lane == 0)");
   rkb_write(writer, "   barrier_arrive(&rows_filled[stage]);");
   rkb_online_write_next_stage(writer, o);
   rkb_write_close(writer);
   rkb_online_close_turns(writer, o);
}

void rkb_online_keep_given(rkb_writer_t *writer, const rkb_online_t *o) {
   bool any = false;
   for (uint32_t g = 0; g < o->given_count; g++)
      if (o->given[g].own) {
         rkb_write(writer, "float %s[%lld];", o->given[g].name, (long long)o->rows);
         any = true;
      }
   if (!any)
      return;
   rkb_online_open_existing(writer, o, true);
   for (uint32_t g = 0; g < o->given_count; g++)
      if (o->given[g].own)
         rkb_write(writer, "%s[i] = %s;", o->given[g].name, kept_text(writer, &o->given[g]));
   rkb_write_close(writer);
}

void rkb_online_know_given(rkb_writer_t *writer, const rkb_online_t *o, bool own, bool share) {
   for (uint32_t g = 0; g < o->given_count; g++) {
      const struct rkb_given *given = &o->given[g];
      bool needed = share && rkb_value_needs(writer->graph, o->share, given->node);
      for (uint32_t i = 0; i < o->nodes.out_count && !share; i++)
         needed |=
            needs_beside(writer->graph, writer->graph->nodes[o->nodes.outs[i]].inputs[o->nodes.made_side[i]],
                         given->node, o->share);
      if (given->own != own || !needed)
         continue;
      const char *text = rkb_arena_format(writer->arena, "%s[i]", given->name);
      if (!own) {
         text = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_here", given->name));
         rkb_write(writer, "const float %s = %s[stage * %lld + %s];", text, given->name,
                   (long long)o->stream_tile, o->streamed_at);
      }
      if (given->powers) {
         const char *power = rkb_arena_format(writer->arena, "power_of_two(%s)", text);
         rkb_writer_know_once(writer, rkb_arena_format(writer->arena, "logarithm(%s)", power), text);
         text = power;
      }
      rkb_writer_know(writer, given->node, given->at, text);
   }
}
