/* The numbers at which the values of a launch over scores are needed, and the tiles of factors that it loads.  One thread. */
#include "generator/online/online.h"

#include <string.h>

/* Words between two rows of a tile of words, so that rows begin in different banks. */
#define WORDS_PADDING 4

/* Finds the coordinates at which the launch's values need each other, by writing it once on trial. */
void rkb_online_find_places(rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_online_nodes_t *nodes = &o->nodes;
   const rkb_graph_t *graph = writer->graph;
   rkb_writer_t trial;
   rkb_writer_try(writer, &trial);
   const rkb_index_t *numbers[] = {o->own, o->stream}, *at[RKB_MAX_RANK];
   for (uint32_t i = 0; i < 2; i++)
      rkb_writer_known_variable(&trial, numbers[i]);
   if (!rkb_index_is(o->group_total, 1)) {
      const rkb_index_t *group = rkb_writer_variable(&trial, "group_number", o->group_total);
      if (nodes->out_count)
         rkb_product_split(&trial, &o->products[0].group, group, o->group);
      else {
         const rkb_node_t *from = &graph->nodes[graph->nodes[nodes->reduces[0]].inputs[0]];
         rkb_index_split(&trial.indices, from->rank - 2, from->shape, group, o->group);
      }
      o->group_total = group; /* only the variable counts; the caller finds its extent again */
   } else
      for (uint32_t d = 0; d < RKB_MAX_RANK; d++)
         o->group[d] = rkb_index_constant(&trial.indices, 0);
   for (uint32_t s = 0; s < nodes->score_count; s++)
      rkb_writer_local(&trial, nodes->scores[s], "score");
   for (uint32_t r = 0; r < nodes->reduce_count; r++)
      rkb_writer_local(&trial, nodes->reduces[r], "row");
   for (uint32_t i = 0; i < nodes->out_count; i++) {
      const uint32_t side = nodes->made_side[i];
      rkb_product_operand(&trial, &o->products[i], side, o->group, &o->own, &o->stream, at);
      rkb_write_float(&trial, graph->nodes[nodes->outs[i]].inputs[side], at);
   }
   for (uint32_t r = nodes->reduce_count; r-- > 0 && !trial.failed;) {
      const rkb_node_t *reduce = &graph->nodes[nodes->reduces[r]];
      struct rkb_local *local = rkb_writer_find_local(&trial, nodes->reduces[r]);
      if (!local->placed) { /* nothing here needs it; it is written to memory */
         memcpy(local->at, o->group, (reduce->rank - 2) * sizeof *at);
         local->at[reduce->rank - 2] = o->own;
         local->at[reduce->rank - 1] = rkb_index_constant(&trial.indices, 0);
         local->placed = true;
      }
      memcpy(o->from[r], local->at, sizeof o->from[r]);
      o->from[r][reduce->rank - 1] = o->stream;
      rkb_write_float(&trial, reduce->inputs[0], o->from[r]);
   }
   if (trial.failed)
      rkb_writer_fail(writer, "%s", trial.why);
   memcpy(writer->locals, trial.locals, sizeof writer->locals);
   writer->local_count = trial.local_count;
   rkb_writer_tried(writer, &trial);
}

static uint32_t bring(rkb_writer_t *writer, rkb_online_t *o, uint32_t node, const rkb_index_t *const *at, const rkb_index_t *inner,
                      int64_t width, bool own) {
   const uint32_t rank = writer->graph->nodes[node].rank;
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (o->brought[b].node == node && o->brought[b].inner == inner && memcmp(o->brought[b].at, at, rank * sizeof *at) == 0)
         return b;
   if (o->brought_count == 2 * RKB_ONLINE_MANY) {
      rkb_writer_fail(writer, "a launch brings more than %u tiles", 2 * RKB_ONLINE_MANY);
      return 0;
   }
   rkb_brought_t *made = &o->brought[o->brought_count];
   *made = (rkb_brought_t){.node = node, .inner = inner, .width = width, .rows = own ? o->own_tile : o->stream_tile, .own = own};
   memcpy(made->at, at, rank * sizeof *at);
   made->name = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_tile", writer->graph->nodes[node].name));
   /* The name is in use now. */
   rkb_writer_know(writer, node, (const rkb_index_t *const[RKB_MAX_RANK]){0}, made->name);
   return o->brought_count++;
}

/* Returns the number of an element in a row of this width: there is one variable for each width. */
static const rkb_index_t *inner_of(rkb_writer_t *writer, const rkb_online_t *o, int64_t width) {
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (o->brought[b].width == width)
         return o->brought[b].inner;
   return rkb_index_variable(&writer->indices, "u", rkb_index_constant(&writer->indices, width));
}

bool rkb_online_is_width(rkb_writer_t *writer, const rkb_index_t *width) {
   if (width->kind == RKB_INDEX_CONSTANT && width->constant % 8 == 0 && width->constant <= 256)
      return true;
   rkb_writer_fail(writer, "rows of products must be short, of one length that is a multiple of 8");
   return false;
}

void rkb_online_find_factors(rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   for (uint32_t s = 0; s < o->nodes.score_count && !writer->failed; s++) {
      rkb_product_t product;
      const uint32_t number = o->nodes.scores[s];
      const struct rkb_local *local = rkb_writer_find_local(writer, number);
      const rkb_index_t *group[RKB_MAX_RANK], *row[RKB_MAX_RANK], *column[RKB_MAX_RANK], *at[RKB_MAX_RANK];
      if (!local->placed) {
         rkb_writer_fail(writer, "%s is not needed", graph->nodes[number].name);
         return;
      }
      rkb_product_of(writer, number, &product);
      rkb_product_place(writer, &product, local->at, group, row, column);
      const uint32_t side = row[0] == o->own && column[0] == o->stream ? 0 : 1;
      if (side == 1 && (row[0] != o->stream || column[0] != o->own))
         rkb_writer_fail(writer, "%s is needed at other places", graph->nodes[number].name);
      if (writer->failed || !rkb_online_is_width(writer, product.depth.total))
         return;
      o->streams_first |= side == 1 && o->nodes.reduce_count == 0;
      const int64_t width = product.depth.total->constant;
      const rkb_index_t *inner = inner_of(writer, o, width);
      rkb_product_operand(writer, &product, side, group, &o->own, &inner, at);
      o->factors[s].own = bring(writer, o, graph->nodes[number].inputs[side], at, inner, width, true);
      rkb_product_operand(writer, &product, 1 - side, group, &o->stream, &inner, at);
      o->factors[s].streamed = bring(writer, o, graph->nodes[number].inputs[1 - side], at, inner, width, false);
   }
   for (uint32_t i = 0; i < o->nodes.out_count && !writer->failed; i++) {
      const uint32_t side = o->nodes.made_side[i];
      const rkb_product_dims_t *across = side == 0 ? &o->products[i].column : &o->products[i].row;
      const rkb_index_t *at[RKB_MAX_RANK];
      if (!rkb_online_is_width(writer, across->total))
         return;
      const rkb_index_t *inner = inner_of(writer, o, across->total->constant);
      rkb_product_operand(writer, &o->products[i], 1 - side, o->group, &inner, &o->stream, at);
      o->out_brought[i] = bring(writer, o, graph->nodes[o->nodes.outs[i]].inputs[1 - side], at, inner, across->total->constant, false);
   }
}

int64_t rkb_online_pitch(const rkb_online_t *o, const rkb_brought_t *tile) {
   return tile->width + (o->tensor->bytes == 4 ? WORDS_PADDING : 0);
}

const char *rkb_online_place(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile, const char *row, const char *column) {
   return o->tensor->bytes == 4
             ? rkb_arena_format(writer->arena, "(%s) * %lld + %s", row, (long long)rkb_online_pitch(o, tile), column)
             : rkb_arena_format(writer->arena, "swizzled<%lld, %u>(%s, %s)", (long long)tile->width, o->tensor->bytes, row, column);
}

void rkb_online_open_existing(rkb_writer_t *writer, const rkb_online_t *o, bool own) {
   const char *end = rkb_writer_uniform(writer, own ? o->own_total : o->stream_total),
              *number = own ? "m" : "n", *element = own ? "i" : "j";
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int %s = 0; %s < %lld; %s++)",
                  3 * (int)(writer->depth + 1), "", element, element, (long long)(own ? o->rows : o->columns),
                  element);
   rkb_write(writer, "const index %s_here = %s_first + %s, %s = %s_here < %s ? %s_here : %s - 1;", number,
             number, own ? o->own_at : o->streamed_at, number, number, end, number, end);
   rkb_writer_known_variable(writer, own ? o->own : o->stream);
}
