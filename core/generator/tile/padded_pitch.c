/* Rows of a factor's copy: how long they are, when none is needed, and what the copy is called (padded_pitch.h).  One thread. */
#include "generator/tile/padded_pitch.h"

const rkb_index_t *rkb_padded_pitch(rkb_indices_t *indices, const rkb_index_t *row, int64_t whole) {
   const rkb_index_t *by = rkb_index_constant(indices, whole),
                     *up =
                        rkb_index_make(indices, RKB_INDEX_SUM, row, rkb_index_constant(indices, whole - 1));
   return rkb_index_make(indices, RKB_INDEX_PRODUCT, rkb_index_make(indices, RKB_INDEX_QUOTIENT, up, by), by);
}

/* The first size that has an expression's values: the same one under all conditions. */
static uint32_t size_of(const rkb_writer_t *writer, const rkb_index_t *row) {
   const rkb_sizes_t *sizes = &writer->graph->sizes;
   for (uint32_t i = 0; i < sizes->count; i++) {
      uint32_t s = 0;
      while (s < RKB_SAMPLES && sizes->list[i].at[writer->indices.probe[s]] == row->at[s])
         s++;
      if (s == RKB_SAMPLES)
         return i;
   }
   return UINT32_MAX;
}

bool rkb_padded_is_whole(const rkb_writer_t *writer, const rkb_index_t *row, int64_t whole) {
   const uint32_t size = size_of(writer, row);
   return size != UINT32_MAX && rkb_indices_know(&writer->indices, size, whole);
}

const char *rkb_padded_name(rkb_writer_t *writer, uint32_t stored, const rkb_index_t *row) {
   const rkb_node_t *node = &writer->graph->nodes[stored];
   const uint32_t size = size_of(writer, row);
   const char *name = writer->storage[stored].name;
   return size == node->shape[node->rank - 1] ? rkb_arena_format(writer->arena, "%s_padded", name)
                                              : rkb_arena_format(writer->arena, "%s_padded_%u", name, size);
}
