/* Factors of a launch over scores as tensor maps: the unit that copies boxes loads their tiles.  One thread.
 *
 * A map has three dims: the elements of a row, the rows that are owned or streamed over, and the matrices beside each other, of which a
 * block takes one.  Rows past the end come as zeros, whatever memory has behind the last row. */
#include "generator/online/online_maps.h"

#include "generator/tile/staging.h"

#define ROW_BYTES 128 /* bytes of a box's row: as wide as the widest swizzle */

static int64_t box_elements(const rkb_online_t *o) {
   return ROW_BYTES / o->tensor->bytes;
}

/* Returns the element's number in its buffer, for any row and place in it. */
static const rkb_index_t *element_of(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile, const rkb_index_t *place,
                                     uint32_t *stored) {
   rkb_writer_t trial;
   const rkb_index_t *at[RKB_MAX_RANK], *element;
   rkb_writer_try(writer, &trial);
   for (uint32_t d = 0; d < writer->graph->nodes[tile->node].rank; d++)
      at[d] = rkb_index_replace(&trial.indices, tile->at[d], tile->own ? o->own : o->stream, place);
   element = rkb_staging_element(&trial, tile->node, at, false, stored);
   if (trial.failed)
      element = NULL;
   rkb_writer_tried(writer, &trial);
   return element;
}

/* Finds the uniform factors of a product: number * distance. */
static void take_apart(rkb_writer_t *writer, const rkb_index_t *product, const rkb_index_t **number, const rkb_index_t **distance) {
   *number = product;
   *distance = rkb_index_constant(&writer->indices, 1);
   while ((*number)->kind == RKB_INDEX_PRODUCT && ((*number)->left->uniform || (*number)->right->uniform)) {
      const bool left = (*number)->left->uniform;
      *distance = rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, left ? (*number)->left : (*number)->right, *distance);
      *number = left ? (*number)->right : (*number)->left;
   }
}

/* Returns how many matrices are beside each other: the product of leading dims of the buffer.  NULL: no dims
 * have that product. */
static const rkb_index_t *matrices_of(rkb_writer_t *writer, const rkb_node_t *stored, const rkb_index_t *distance) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *all = rkb_index_elements(indices, stored->rank, stored->shape);
   for (uint32_t d = 1; d < stored->rank; d++) {
      const rkb_index_t *leading = rkb_index_elements(indices, d, stored->shape);
      if (rkb_index_make(indices, RKB_INDEX_PRODUCT, leading, distance) == all)
         return leading;
   }
   return NULL;
}

bool rkb_online_map_of(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile, rkb_online_map_t *map) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *zero = rkb_index_constant(indices, 0), *one = rkb_index_constant(indices, 1),
                     *total = tile->own ? o->own_total : o->stream_total, *place = rkb_index_variable(indices, "place", total);
   const int64_t whole = 16 / o->tensor->bytes;
   *map = (rkb_online_map_t){.rows = total};
   const rkb_index_t *element = element_of(writer, o, tile, place, &map->stored);
   if (!element || place->kind != RKB_INDEX_VARIABLE || writer->storage[map->stored].dtype != o->tensor->dtype ||
       tile->width % box_elements(o) != 0)
      return false;
   const rkb_index_t *first_row = rkb_index_replace(indices, element, tile->inner, zero),
                     *begin = rkb_index_replace(indices, first_row, place, zero);
   map->row = rkb_index_make(indices, RKB_INDEX_DIFFERENCE, rkb_index_replace(indices, first_row, place, one), begin);
   const rkb_index_t *again = rkb_index_make(indices, RKB_INDEX_SUM, begin, rkb_index_make(indices, RKB_INDEX_PRODUCT, place, map->row));
   again = rkb_index_make(indices, RKB_INDEX_SUM, again, tile->inner);
   if (again != element || !map->row->uniform || !rkb_index_divides(map->row, whole))
      return false;
   if (rkb_index_is(begin, 0))
      return true;
   take_apart(writer, begin, &map->matrix, &map->distance);
   map->matrices = matrices_of(writer, &writer->graph->nodes[map->stored], map->distance);
   return map->matrices && rkb_index_divides(map->distance, whole);
}

void rkb_online_map_copy(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile, const rkb_online_map_t *map, int64_t rows,
                         const char *to, const char *barrier) {
   const rkb_indices_t *indices = &writer->indices;
   const rkb_storage_t *storage = &writer->storage[map->stored];
   const long long boxes = (long long)(tile->width / box_elements(o)), bytes = (long long)rows * ROW_BYTES;
   const char *first = tile->own ? "m_first" : "n_first", *dims = rkb_index_manifest(indices, map->rows),
              *strides = rkb_index_manifest(indices, map->row), *matrix = "";
   if (map->matrix) {
      dims = rkb_arena_format(writer->arena, "%s, %s", dims, rkb_index_manifest(indices, map->matrices));
      strides = rkb_arena_format(writer->arena, "%s, %s", strides, rkb_index_manifest(indices, map->distance));
      matrix = rkb_arena_format(writer->arena, ", (int)%s", rkb_writer_index(writer, map->matrix));
   }
   const char *definition = rkb_arena_format(writer->arena, "{buffer: %s, dims: \"%lld, %s\", strides: \"%s\", box: \"%lld, %lld%s\", swizzle: %d}",
                                             storage->argument ? storage->argument : storage->name, (long long)tile->width, dims, strides,
                                             (long long)box_elements(o), (long long)rows, map->matrix ? ", 1" : "", ROW_BYTES),
              *name = rkb_writer_map(writer, rkb_arena_format(writer->arena, "%s_tiles", storage->name), definition);
   if (boxes == 1) {
      rkb_write(writer, "copy_tile(%s, &%s, %s, 0, (int)%s%s);", to, name, barrier, first, matrix);
      return;
   }
   const char *at = "box", *row = "";
   if (rows < tile->rows) {
      at = rkb_arena_format(writer->arena, "box %% %lld", boxes);
      row = rkb_arena_format(writer->arena, " + box / %lld * %lld", boxes, (long long)rows);
   }
   rkb_write(writer, "for (int box = 0; box < %lld; box++)", boxes * (long long)(tile->rows / rows));
   rkb_write(writer, "   copy_tile(%s + box * %lld, &%s, %s, %s * %lld, (int)%s%s%s);", to, bytes, name, barrier, at, (long long)box_elements(o),
             first, row, matrix);
}
