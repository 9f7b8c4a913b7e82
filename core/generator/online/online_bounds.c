/* A block's place in a matrix of scores, and which numbers a mask leaves for it to go over.  One thread. */
#include "generator/online/online.h"

#include <string.h>
#include "generator/graph/row_scaling.h"

/* Whether a node is the constant that hides a score. */
static bool is_hiding(const rkb_node_t *node) {
   const bool constant = node->kind == RKB_NODE_ARANGE && (node->real_count == 1 || (node->reals[1].constant && node->reals[1].value == 0));
   return constant && node->reals[0].constant && node->reals[0].value < 0 && node->reals[0].value * 0 != 0;
}

/* Whether the value of a node's element is its place: 0, 1, 2, ... */
static bool is_count(const rkb_node_t *node) {
   return node->kind == RKB_NODE_ARANGE && node->real_count == 2 && node->reals[0].constant && node->reals[0].value == 0 && node->reals[1].constant &&
          node->reals[1].value == 1;
}

/* Finds a mask that hides places from a length on, where the length is the same for all rows of the block, and notes
 * the node whose value is the length. */
static void find_length(rkb_writer_t *writer, rkb_online_t *o, const rkb_node_t *mask) {
   const rkb_graph_t *graph = writer->graph;
   const rkb_index_t *hidden_at[RKB_MAX_RANK], *const *at = rkb_writer_find_local(writer, o->nodes.scores[0])->at;
   if (!rkb_is_operation(mask, "where") || !is_hiding(&graph->nodes[mask->inputs[1]]))
      return;
   const rkb_node_t *hidden = &graph->nodes[mask->inputs[0]];
   if (!rkb_is_operation(hidden, "greater_equal") || !is_count(&graph->nodes[hidden->inputs[0]]) || at[mask->rank - 1] != o->stream)
      return;
   const rkb_node_t *count = &graph->nodes[hidden->inputs[0]], *length = &graph->nodes[hidden->inputs[1]];
   if (count->rank != 1 || rkb_index_size(&writer->indices, count->shape[0]) != o->stream_total || !rkb_dtype_is_float(length->dtype))
      return;
   rkb_operand_at(writer, mask, 0, at, hidden_at);
   rkb_operand_at(writer, hidden, 1, hidden_at, o->length_at);
   for (uint32_t d = 0; d < length->rank; d++)
      if (rkb_index_mentions(o->length_at[d], o->own) || rkb_index_mentions(o->length_at[d], o->stream))
         return;
   o->length = hidden->inputs[1];
}

/* Notes which places a mask keeps inside its bound; a triangle of a gradient with the same diagonal keeps the same places. */
static void add_shown(rkb_writer_t *writer, const rkb_node_t *mask, const rkb_index_t *const *at) {
   if (writer->shown_count < sizeof writer->shown_places / sizeof writer->shown_places[0])
      writer->shown_places[writer->shown_count++] =
         (struct rkb_shown){.row = at[mask->rank - 2],
                            .column = at[mask->rank - 1],
                            .diagonal = rkb_index_size(&writer->indices, mask->integers[0])};
}

void rkb_online_find_bounds(rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   rkb_indices_t *indices = &writer->indices;
   bool seen[RKB_MAX_GRAPH_NODES] = {0}, turned = false, constant_end = false;
   uint32_t hidden = RKB_NO_NODE;
   for (uint32_t i = 0; i < o->nodes.out_count && hidden == RKB_NO_NODE; i++)
      hidden = rkb_masked_below(graph, graph->nodes[o->nodes.outs[i]].inputs[o->nodes.made_side[i]], seen);
   for (uint32_t r = 0; r < o->nodes.reduce_count && hidden == RKB_NO_NODE; r++)
      hidden = rkb_masked_below(graph, graph->nodes[o->nodes.reduces[r]].inputs[0], seen);
   if (hidden == RKB_NO_NODE)
      return;
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      if (!rkb_vanishes(graph, graph->nodes[o->nodes.outs[i]].inputs[o->nodes.made_side[i]], hidden))
         return;
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++) {
      const rkb_node_t *reduce = &graph->nodes[o->nodes.reduces[r]];
      if (reduce->operation[0] == 's' ? !rkb_vanishes(graph, reduce->inputs[0], hidden) : reduce->inputs[0] != hidden)
         return;
   }
   /* The row of the statistics decides whether the own or the streamed number is the mask's row: the place of the
    * last dim. */
   const struct rkb_local *score = rkb_writer_find_local(writer, o->nodes.scores[0]);
   const rkb_node_t *first = &graph->nodes[o->nodes.scores[0]], *mask = &graph->nodes[hidden];
   if (mask->rank != first->rank || memcmp(mask->shape, first->shape, mask->rank * sizeof *mask->shape) != 0)
      return;
   find_length(writer, o, mask);
   const bool own_rows = score->at[first->rank - 2] == o->own;
   const rkb_index_t *rows = rkb_index_size(indices, mask->shape[mask->rank - 2]),
                     *columns = rkb_index_size(indices, mask->shape[mask->rank - 1]);
   const rkb_index_t *first_own = rkb_index_variable(indices, "m_first", o->own_total),
                     *last = rkb_index_make(indices, RKB_INDEX_SUM, first_own, rkb_index_constant(indices, o->own_tile - 1));
   const rkb_index_t *at[RKB_MAX_RANK];
   memcpy(at, score->at, sizeof at);
   for (const rkb_node_t *node = mask; node->kind == RKB_NODE_TRIANGLE || node->kind == RKB_NODE_FLIP; node = &graph->nodes[node->inputs[0]]) {
      if (node->kind == RKB_NODE_FLIP) {
         if (node->mask != UINT64_C(3) << (node->rank - 2))
            return;
         for (uint32_t d = node->rank - 2; d < node->rank; d++)
            at[d] = rkb_flipped(writer, node, d, at[d]);
         turned = !turned;
         continue;
      }
      if (!node->reals[0].constant || !(node->reals[0].value < 0) || node->reals[0].value * 0 == 0)
         return;
      /* The mask keeps column - row <= diagonal (not upper); where flipped, row and column count from their ends. */
      if (!graph->sizes.list[node->integers[1]].constant || graph->sizes.list[node->integers[1]].at[0] != 0)
         continue;
      const rkb_index_t *diagonal = rkb_index_size(indices, node->integers[0]);
      if (turned) /* row - column <= diagonal + rows - columns */
         diagonal = rkb_index_make(indices, RKB_INDEX_SUM, diagonal, rkb_index_make(indices, RKB_INDEX_DIFFERENCE, rows, columns));
      if (own_rows != turned) { /* the streamed number is at most the own number + diagonal */
         if (!o->end) {
            add_shown(writer, node, at);
            constant_end = diagonal->kind == RKB_INDEX_CONSTANT;
            o->end = rkb_index_make(indices, RKB_INDEX_SUM, last, rkb_index_make(indices, RKB_INDEX_SUM, diagonal, rkb_index_constant(indices, 1)));
         }
      } else if (!o->begin) {
         add_shown(writer, node, at);
         o->shortens = diagonal->kind == RKB_INDEX_CONSTANT;
         o->begin = rkb_index_make(indices, RKB_INDEX_DIFFERENCE, first_own, diagonal);
      }
   }
   /* A bound at a distance that is the same for all cases is the nearer one. */
   o->shortens &= !o->end || !constant_end;
   o->hides = o->begin || o->end;
   if (o->hides)
      rkb_writer_known_variable(writer, first_own);
}

void rkb_online_write_place(rkb_writer_t *writer, rkb_online_t *o, const rkb_index_t *blocks) {
   /* There is one matrix in every drawn case. */
   const bool drawn = blocks->kind == RKB_INDEX_CONSTANT && o->own_total->kind != RKB_INDEX_CONSTANT;
   const char *along = drawn ? "blocks_m" : rkb_writer_uniform(writer, blocks), *all = rkb_writer_uniform(writer, o->stream_total);
   if (drawn)
      rkb_write(writer, "const index blocks_m = (%s + %lld) / %lld;", rkb_writer_uniform(writer, o->own_total), (long long)o->own_tile - 1,
                (long long)o->own_tile);
   const char *groups = o->group_extent ? rkb_writer_uniform(writer, o->group_extent) : NULL;
   /* The order holds for the blocks of all matrices: with one block a multiprocessor, a long block at the end would
    * leave the other multiprocessors idle. */
   const bool longest_first = o->groups && (o->end || o->shortens) && groups;
   if (longest_first && o->shortens)
      rkb_write(
         writer,
         "const index m_first = (index)blockIdx.x / %s * %lld; /* the blocks with the most work go first */",
         groups, (long long)o->own_tile);
   else if (longest_first)
      rkb_write(writer, "const index m_first = (%s - 1 - (index)blockIdx.x / %s) * %lld; /* the blocks with the most work go first */", along,
                groups, (long long)o->own_tile);
   else if (o->end && !o->begin) /* the blocks with the most work run first */
      rkb_write(writer, "const index m_first = (%s - 1 - (index)blockIdx.x %% %s) * %lld;", along, along, (long long)o->own_tile);
   else
      rkb_write(writer, "const index m_first = (index)blockIdx.x %% %s * %lld;", along, (long long)o->own_tile);
   const rkb_index_t *number = o->turns ? o->total : o->group_total;
   if (number->kind != RKB_INDEX_CONSTANT) {
      if (longest_first)
         rkb_write(writer, "const index %s = (index)blockIdx.x %% %s;", number->name, groups);
      else
         rkb_write(writer, "const index %s = (index)blockIdx.x / %s;", number->name, along);
      rkb_writer_known_variable(writer, number);
   }
   if (o->groups) {
      rkb_write(writer, "const int warpgroup = threadIdx.x / 128, lane = threadIdx.x %% 32, warp_m = threadIdx.x / 32 * 16;");
   } else if (o->tensor) {
      const long long across = (long long)(o->stream_tile / o->warp_n);
      rkb_write(writer, "const int lane = threadIdx.x %% 32;");
      rkb_write(writer, "const int warp_m = threadIdx.x / 32 / %lld * %lld, warp_n = threadIdx.x / 32 %% %lld * %lld;", across,
                (long long)o->warp_m, across, (long long)o->warp_n);
   } else
      rkb_write(writer, "const int across = threadIdx.x %% %lld, down = threadIdx.x / %lld;", (long long)o->across, (long long)o->across);
   if (o->begin) {
      rkb_write(writer, "const index first_seen = %s;", rkb_writer_index(writer, o->begin));
      rkb_write(writer, "const index begin = first_seen > 0 ? first_seen / %lld * %lld : 0;", (long long)o->stream_tile,
                (long long)o->stream_tile);
   } else
      rkb_write(writer, "const index begin = 0;");
   if (o->end) {
      rkb_write(writer, "const index seen = %s;", rkb_writer_index(writer, o->end));
      rkb_write(writer, "const index end = seen < %s ? seen : %s;", all, all);
   } else if (o->length != RKB_NO_NODE) {
      const char *length = rkb_write_float(writer, o->length, o->length_at).text;
      rkb_write(writer, "const index end = %s >= (float)%s ? %s : %s > 0.0f ? (index)ceilf(%s) : 0;", length, all, all, length, length);
   } else
      rkb_write(writer, "const index end = %s;", all);
}
