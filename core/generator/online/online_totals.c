/* Outs that are added up over matrices of scores; an example is the gradients of keys, which several query heads share.  A block owns rows of
 * the sum, and goes over the streamed rows of one matrix after the other; so no matrix's own outs are stored.  One thread writes the text. */
#include "generator/online/online.h"

void rkb_online_set_totals(rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   if (!o->nodes.total_count)
      return;
   const rkb_node_t *first = &graph->nodes[o->nodes.outs[0]];
   o->turns = rkb_index_size(&writer->indices, first->shape[first->rank - 3]);
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      const rkb_node_t *out = &graph->nodes[o->nodes.outs[i]];
      if (out->rank != first->rank || rkb_index_size(&writer->indices, out->shape[out->rank - 3]) != o->turns)
         rkb_writer_fail(writer, "%s has other matrices", out->name);
   }
   o->total_extent = rkb_index_elements(&writer->indices, first->rank - 3, first->shape);
   o->total = rkb_index_variable(&writer->indices, "total_number", o->total_extent);
   if (o->total->kind != RKB_INDEX_VARIABLE || o->group_total->kind == RKB_INDEX_CONSTANT)
      rkb_writer_fail(writer, "there is one sum of matrices");
}

/* The number of a sum's first matrix. */
static const rkb_index_t *first_of(rkb_writer_t *writer, const rkb_online_t *o) {
   return rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, o->total, o->turns);
}

void rkb_online_find_totals(rkb_writer_t *writer, rkb_online_t *o) {
   rkb_indices_t *indices = &writer->indices;
   if (!o->turns)
      return;
   const rkb_index_t *first = first_of(writer, o),
                     *any = rkb_index_make(indices, RKB_INDEX_SUM, first, rkb_index_variable(indices, "share", o->turns));
   for (uint32_t b = 0; b < o->brought_count; b++) {
      rkb_brought_t *tile = &o->brought[b];
      for (uint32_t d = 0; tile->own && d < writer->graph->nodes[tile->node].rank; d++) {
         const rkb_index_t *at = rkb_index_replace(indices, tile->at[d], o->group_total, first);
         if (rkb_index_replace(indices, tile->at[d], o->group_total, any) != at)
            rkb_writer_fail(writer, "the matrices that are added up have rows of their own");
         tile->at[d] = at;
      }
   }
}

void rkb_online_open_turns(rkb_writer_t *writer, const rkb_online_t *o) {
   if (!o->turns)
      return;
   const char *turns = rkb_writer_uniform(writer, o->turns);
   rkb_write_open(writer, false, "for (index group_number = total_number * %s; group_number < (total_number + 1) * %s; group_number++)", turns, turns);
   rkb_writer_known_variable(writer, o->group_total);
}

void rkb_online_close_turns(rkb_writer_t *writer, const rkb_online_t *o) {
   if (o->turns)
      rkb_write_close(writer);
}

uint32_t rkb_online_total_of(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out, const rkb_index_t **at) {
   if (!o->turns)
      return o->nodes.outs[out];
   const uint32_t rank = writer->graph->nodes[o->nodes.outs[out]].rank;
   for (uint32_t d = 0; d < rank; d++)
      at[d] = rkb_index_replace(&writer->indices, at[d], o->group_total, first_of(writer, o));
   at[rank - 3] = rkb_index_constant(&writer->indices, 0);
   return o->nodes.totals[out];
}
