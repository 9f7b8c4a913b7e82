/* Factors of products as tensor maps.  One thread. */
#include "generator/tile/tile_map.h"

#include "generator/tile/padded_pitch.h"

/* Returns the distance between neighbours along a variable, where all others are 0. */
static const rkb_index_t *distance_along(rkb_writer_t *writer, const rkb_index_t *element, const rkb_index_t *base,
                                         const rkb_index_t *const *variables, uint32_t which) {
   rkb_indices_t *indices = &writer->indices;
   for (uint32_t v = 0; v < 3; v++)
      if (variables[v])
         element = rkb_index_replace(indices, element, variables[v], rkb_index_constant(indices, v == which));
   return rkb_index_make(indices, RKB_INDEX_DIFFERENCE, element, base);
}

/* Describes the weight of a convolution's input gradient: rows of channels, one for each term of a tap. */
static bool describe_taps(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side, rkb_tile_map_t *map) {
   rkb_indices_t *indices = &writer->indices;
   const int64_t whole = 16 / rkb_fragment_type(tile->launch->decisions[RKB_TENSOR])->bytes;
   const rkb_index_t *channels = tile->terms.extent[tile->terms.count - 1],
                     *taps = rkb_index_make(indices, RKB_INDEX_QUOTIENT, tile->total_depth, channels),
                     *const v[3] = {rkb_index_variable(indices, "across", side->total), rkb_index_variable(indices, "term", channels),
                                    rkb_index_variable(indices, "tap", taps)};
   const rkb_index_t *k = rkb_index_make(indices, RKB_INDEX_SUM, rkb_index_make(indices, RKB_INDEX_PRODUCT, v[2], channels), v[1]);
   const rkb_index_t *element = rkb_staging_side_element(writer, tile, side, v[0], k, &map->stored), *again, *distances[3];
   if (!element || !rkb_index_divides(channels, tile->depth))
      return false;
   map->base = element;
   for (uint32_t i = 0; i < 3; i++)
      map->base = rkb_index_replace(indices, map->base, v[i], rkb_index_constant(indices, 0));
   again = map->base;
   for (uint32_t i = 0; i < 3; i++) {
      distances[i] = distance_along(writer, element, map->base, v, i);
      again = rkb_index_make(indices, RKB_INDEX_SUM, again, rkb_index_make(indices, RKB_INDEX_PRODUCT, v[i], distances[i]));
   }
   map->fast = side->total;
   map->slow = channels;
   map->row = distances[1];
   map->tap = distances[2];
   map->group = NULL;
   map->padded = false;
   return again == element && rkb_index_is(distances[0], 1) && rkb_index_is(map->base, 0) && map->row->uniform && map->tap->uniform &&
          rkb_index_divides(map->row, whole) && rkb_index_divides(map->tap, whole);
}

/* The same tile in the product that joins all phases; the weight of this product has all taps. */
static rkb_product_tile_t of_all_phases(rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   rkb_product_tile_t all = *tile;
   if (!tile->product.in_phases)
      return all;
   rkb_product_of(writer, tile->product.node, &all.product);
   rkb_tile_number_by_taps(writer, &all);
   all.total_depth = all.product.depth.total;
   all.number = all.group[0] = rkb_index_constant(&writer->indices, 0);
   return all;
}

/* Whether an offset and all distances are multiples. */
static bool is_whole(const rkb_tile_map_t *map, int64_t whole) {
   return rkb_index_divides(map->base, whole) && rkb_index_divides(map->row, whole) &&
          (!map->group || rkb_index_divides(map->group, whole));
}

/* Makes it the map of a copy with longer rows.  False: the buffer is no matrix of rows that are read from end to end. */
static bool pad_rows(rkb_writer_t *writer, int64_t whole, rkb_tile_map_t *map) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_node_t *node = &writer->graph->nodes[map->stored];
   const rkb_index_t *elements = rkb_index_elements(indices, node->rank, node->shape),
                     *pitch = rkb_padded_pitch(indices, map->fast, whole),
                     **distances[] = {&elements, &map->base, &map->row, &map->group};
   for (uint32_t i = 0; i < 4; i++) {
      if (!*distances[i])
         continue;
      const rkb_index_t *rows = rkb_index_make(indices, RKB_INDEX_QUOTIENT, *distances[i], map->fast);
      if (rkb_index_make(indices, RKB_INDEX_PRODUCT, rows, map->fast) != *distances[i])
         return false;
      *distances[i] = rkb_index_make(indices, RKB_INDEX_PRODUCT, rows, pitch);
   }
   map->padded = true;
   return true;
}

bool rkb_tile_map_of(rkb_writer_t *writer, const rkb_product_tile_t *own, const rkb_tile_side_t *side, rkb_tile_map_t *map) {
   const rkb_product_tile_t all = of_all_phases(writer, own), *const tile = &all;
   rkb_indices_t *indices = &writer->indices;
   const int64_t whole = 16 / rkb_fragment_type(tile->launch->decisions[RKB_TENSOR])->bytes;
   const rkb_index_t *a = rkb_index_variable(indices, "across", side->total), *k = rkb_index_variable(indices, "depth", tile->total_depth);
   /* If there are several products, the third variable is the number of the product. */
   const rkb_index_t *const variables[3] = {a, k, tile->number && tile->number->kind == RKB_INDEX_VARIABLE ? tile->number : NULL};
   const rkb_index_t *distances[3] = {NULL, NULL, NULL};
   const rkb_index_t *element = side->raw && !tile->taps.count ? rkb_staging_side_element(writer, tile, side, a, k, &map->stored) : NULL;
   if (!element || a->kind != RKB_INDEX_VARIABLE || k->kind != RKB_INDEX_VARIABLE)
      return false;
   map->tap = NULL;
   map->padded = false;
   map->base = element;
   for (uint32_t v = 0; v < 3; v++)
      if (variables[v])
         map->base = rkb_index_replace(indices, map->base, variables[v], rkb_index_constant(indices, 0));
   const rkb_index_t *again = map->base;
   for (uint32_t v = 0; v < 3; v++)
      if (variables[v]) {
         distances[v] = distance_along(writer, element, map->base, variables, v);
         again = rkb_index_make(indices, RKB_INDEX_SUM, again, rkb_index_make(indices, RKB_INDEX_PRODUCT, variables[v], distances[v]));
      }
   map->fast = side->depth_fast ? tile->total_depth : side->total;
   map->slow = side->depth_fast ? side->total : tile->total_depth;
   map->row = distances[side->depth_fast ? 0 : 1];
   map->group = distances[2] && !rkb_index_is(distances[2], 0) ? distances[2] : NULL;
   if (again != element && tile->terms.count && !side->depth_fast)
      return describe_taps(writer, tile, side, map);
   return again == element && rkb_index_is(distances[side->depth_fast ? 1 : 0], 1) && map->base->uniform &&
          map->row->uniform && (!map->group || map->group->uniform) &&
          ((tile->pads && !rkb_padded_is_whole(writer, map->fast, whole) && pad_rows(writer, whole, map)) ||
           is_whole(map, whole));
}

/* Elements of a row of a box. */
static int64_t row_elements(const rkb_product_tile_t *tile) {
   return RKB_MAP_ROW_BYTES / rkb_fragment_type(tile->launch->decisions[RKB_TENSOR])->bytes;
}

static int64_t box_rows(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return side->depth_fast ? side->extent : tile->depth;
}

int64_t rkb_tile_map_box_bytes(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return box_rows(tile, side) * RKB_MAP_ROW_BYTES;
}

/* The name of the buffer that a map describes, in the kernel or in the manifest. */
static const char *buffer_of(rkb_writer_t *writer, const rkb_tile_map_t *map, bool argument) {
   const rkb_storage_t *storage = &writer->storage[map->stored];
   return map->padded                     ? rkb_padded_name(writer, map->stored, map->fast)
          : argument && storage->argument ? storage->argument
                                          : storage->name;
}

/* The manifest's entry. */
static const char *definition_of(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_map_t *map, int64_t rows) {
   const rkb_indices_t *indices = &writer->indices;
   const char *dims =
                 rkb_arena_format(writer->arena, "%s, %s", rkb_index_manifest(indices, map->fast), rkb_index_manifest(indices, map->slow)),
              *strides = rkb_index_manifest(indices, map->row), *offset = "";
   if (map->group) {
      dims = rkb_arena_format(writer->arena, "%s, %s", dims, rkb_index_manifest(indices, tile->product.group.total));
      strides = rkb_arena_format(writer->arena, "%s, %s", strides, rkb_index_manifest(indices, map->group));
   }
   if (map->tap) {
      const rkb_index_t *taps = rkb_index_make(&writer->indices, RKB_INDEX_QUOTIENT, tile->total_depth, map->slow);
      dims = rkb_arena_format(writer->arena, "%s, %s", dims, rkb_index_manifest(indices, taps));
      strides = rkb_arena_format(writer->arena, "%s, %s", strides, rkb_index_manifest(indices, map->tap));
   }
   if (!rkb_index_is(map->base, 0))
      offset = rkb_arena_format(writer->arena, "offset: \"%s\", ", rkb_index_manifest(indices, map->base));
   return rkb_arena_format(
      writer->arena, "{buffer: %s, %sdims: \"%s\", strides: \"%s\", box: \"%lld, %lld%s\", swizzle: %d}",
      buffer_of(writer, map, true), offset, dims, strides, (long long)row_elements(tile), (long long)rows,
      map->group || map->tap ? ", 1" : "", RKB_MAP_ROW_BYTES);
}

/* How many taps a row of the weight's window has. */
static uint32_t window_across(const rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   return writer->graph->nodes[writer->graph->nodes[tile->product.node].inputs[1]].shape[3];
}

/* Writes the number that a tap of the present phase has among all taps; terms: how many a tap has. */
static const char *write_tap(rkb_writer_t *writer, const rkb_product_tile_t *tile, const char *terms) {
   const rkb_product_dims_t *depth = &tile->product.depth;
   const char *across =
                 rkb_writer_uniform(writer, rkb_index_size(&writer->indices, window_across(writer, tile))),
              *down = "tap_down", *right = "tap_right";
   if (!tile->counts_taps) {
      const char *taps =
         rkb_writer_index(writer, rkb_product_phase_taps(writer, &tile->product, tile->group, 1));
      down = rkb_arena_format(writer->arena, "first / %s / %s", terms, taps);
      right = rkb_arena_format(writer->arena, "first / %s %% %s", terms, taps);
   }
   rkb_write(writer, "const index %s = %s * %s + %s, %s = %s * %s + %s;", depth->name[1], down,
             rkb_writer_uniform(writer, tile->product.group.extent[1]),
             rkb_writer_index(writer, rkb_product_first_tap(writer, &tile->product, tile->group, 0)),
             depth->name[2], right, rkb_writer_uniform(writer, tile->product.group.extent[2]),
             rkb_writer_index(writer, rkb_product_first_tap(writer, &tile->product, tile->group, 1)));
   return rkb_arena_format(writer->arena, ", (int)(%s * %s + %s)", depth->name[1], across, depth->name[2]);
}

void rkb_tile_map_copy(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side, const rkb_tile_map_t *map,
                       const char *to, const char *barrier) {
   const long long row = (long long)row_elements(tile), bytes = (long long)rkb_tile_map_box_bytes(tile, side),
                   boxes = (long long)(side->depth_fast ? tile->depth : side->extent) / row;
   const rkb_product_tile_t all = of_all_phases(writer, tile);
   const char *name = rkb_writer_map(
                 writer, rkb_arena_format(writer->arena, "%s_tiles", buffer_of(writer, map, false)),
                 definition_of(writer, &all, map, box_rows(tile, side))),
              *across = rkb_arena_format(writer->arena, "(int)%s_first", side->variable),
              *group = map->group ? rkb_arena_format(writer->arena, ", (int)%s", tile->number->name) : "",
              *fast = side->depth_fast ? "(int)first" : across,
              *slow = side->depth_fast ? across : "(int)first";
   if (map->tap) {
      const char *terms = rkb_writer_uniform(writer, map->slow);
      slow =
         tile->counts_taps ? "(int)channel" : rkb_arena_format(writer->arena, "(int)(first %% %s)", terms);
      if (tile->product.in_phases)
         group = write_tap(writer, tile, terms);
      else if (tile->counts_taps)
         group = rkb_arena_format(
            writer->arena, ", (int)(tap_down * %s + tap_right)",
            rkb_writer_uniform(writer, rkb_index_size(&writer->indices, window_across(writer, tile))));
      else
         group = rkb_arena_format(writer->arena, ", (int)(first / %s)", terms);
   }
   if (boxes == 1) {
      rkb_write(writer, "copy_tile(%s, &%s, %s, %s, %s%s);", to, name, barrier, fast, slow, group);
      return;
   }
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int box = 0; box < %lld; box++)", boxes);
   rkb_write(writer, "   copy_tile(%s + box * %lld, &%s, %s, %s + box * %lld, %s%s);", to, bytes, name, barrier, fast, row, slow, group);
}
