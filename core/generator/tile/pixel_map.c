/* Factors of convolutions as tensor maps of pixels.  One thread. */
#include "generator/tile/pixel_map.h"

#include "generator/tile/tile_map.h"

#define RANK 4 /* images, channels, two dims of pixels */
/* The index from which a convolution's integers belong to single dims: stride, padding and dilation of each. */
#define HEAD 2

static const rkb_node_t *node_of(const rkb_writer_t *writer, const rkb_product_tile_t *tile) {
   return &writer->graph->nodes[tile->product.node];
}

bool rkb_side_is_of_pixels(const rkb_writer_t *writer, const rkb_product_tile_t *tile,
                           const rkb_tile_side_t *side) {
   const rkb_node_t *node = node_of(writer, tile);
   return node->kind != RKB_NODE_MATMUL && node->rank == RANK && side->which == 0;
}

static int64_t row_elements(const rkb_product_tile_t *tile) {
   return RKB_MAP_ROW_BYTES / rkb_fragment_type(tile->launch->decisions[RKB_TENSOR])->bytes;
}

/* Adds a condition.  False: the size is a constant that does not satisfy it, or there is no room for it. */
static bool add(const rkb_graph_t *graph, uint32_t most, rkb_condition_t *conditions, uint32_t *count,
                rkb_condition_t wanted) {
   const rkb_size_t *size = &graph->sizes.list[wanted.size];
   uint32_t c = 0;
   if (size->constant)
      return wanted.equal ? size->at[0] == wanted.equal : size->at[0] % wanted.multiple == 0;
   while (c < *count && conditions[c].size != wanted.size)
      c++;
   if (c == most)
      return false;
   if (c == *count)
      conditions[(*count)++] = wanted;
   else if (wanted.equal || wanted.multiple > conditions[c].multiple)
      conditions[c] = wanted;
   return true;
}

static bool is_one(const rkb_graph_t *graph, uint32_t size) {
   return graph->sizes.list[size].constant && graph->sizes.list[size].at[0] == 1;
}

uint32_t rkb_launch_strides(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t strides[RKB_MOST_STRIDES]) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]];
   uint32_t count = 0;
   int64_t values[RKB_MOST_STRIDES];
   const rkb_size_t *stride = &graph->sizes.list[node->integers[HEAD]];
   const uint32_t found = stride->constant ? 1 : rkb_size_values(stride, RKB_MOST_STRIDES, values);
   if (stride->constant)
      values[0] = stride->at[0];
   for (uint32_t i = 0; i < found; i++)
      if (values[i] > 1)
         strides[count++] = values[i];
   return count;
}

bool rkb_launch_has_phases(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const rkb_node_t *node = launch->anchor_count ? &graph->nodes[launch->anchors[0]] : NULL;
   int64_t strides[RKB_MOST_STRIDES];
   return launch->mapping == RKB_MAP_TENSOR && node && node->kind == RKB_NODE_CONVOLUTION_INPUT && node->rank == RANK &&
          rkb_fragment_type(launch->decisions[RKB_TENSOR])->bytes == 2 && rkb_launch_strides(graph, launch, strides) > 0;
}

bool rkb_pixel_map_conditions(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t stride, uint32_t most,
                              rkb_condition_t *conditions, uint32_t *count) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]];
   if (node->kind == RKB_NODE_MATMUL || node->rank != RANK)
      return false;
   const int64_t *d = launch->decisions,
                 row = RKB_MAP_ROW_BYTES / (int64_t)rkb_fragment_type(d[RKB_TENSOR])->bytes;
   const rkb_size_t *groups = &graph->sizes.list[node->integers[1]];
   const bool of_weight = node->kind == RKB_NODE_CONVOLUTION_WEIGHT;
   const rkb_condition_t channels = {.size = graph->nodes[node->inputs[0]].shape[1],
                                     .multiple = of_weight ? row : d[RKB_TILE_K]};
   if (!groups->constant || groups->at[0] != 1 || !add(graph, most, conditions, count, channels))
      return false;
   for (uint32_t i = 0; i < RKB_PIXEL_DIMS && node->kind == RKB_NODE_CONVOLUTION_INPUT;
        i++) /* places between the pixels of a stride are no pixels */
      if (!add(graph, most, conditions, count,
               (rkb_condition_t){.size = node->integers[HEAD + 3 * i], .multiple = 1, .equal = stride}) ||
          (stride > 1 && (!is_one(graph, node->integers[HEAD + 3 * i + 2]) ||
                          !add(graph, most, conditions, count, (rkb_condition_t){.size = node->shape[2 + i], .multiple = stride}))))
         return false;
   return true;
}

/* Whether the elements are stored as images of rows of pixels of channels. */
static bool channels_come_last(rkb_writer_t *writer, const rkb_product_tile_t *tile, rkb_pixel_map_t *map) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *at[RANK] = {rkb_index_variable(indices, "image", map->images),
                                  rkb_index_variable(indices, "channel", map->channels),
                                  rkb_index_variable(indices, "down", map->size[1]),
                                  rkb_index_variable(indices, "right", map->size[0])};
   const rkb_index_t *element = rkb_staging_element(writer, node_of(writer, tile)->inputs[0], at, false,
                                                    &map->stored),
                     *wanted = at[0];
   const rkb_index_t *const order[] = {at[2], map->size[1], at[3], map->size[0], at[1], map->channels};
   for (uint32_t i = 0; i < 6; i += 2)
      wanted = rkb_index_make(indices, RKB_INDEX_SUM,
                              rkb_index_make(indices, RKB_INDEX_PRODUCT, wanted, order[i + 1]), order[i]);
   return element == wanted;
}

/* Describes a dim of a product in phases: taps are a stride apart, and the places of a phase are neighbours. */
static void set_phases(rkb_writer_t *writer, const rkb_product_tile_t *tile, rkb_pixel_map_t *map, uint32_t dim, const rkb_index_t *padding) {
   rkb_indices_t *indices = &writer->indices;
   const uint32_t from = RKB_PIXEL_DIMS - 1 - dim; /* the product has its dims in the other order */
   const rkb_index_t *stride = map->step[dim], *one = rkb_index_constant(indices, 1);
   map->first_shift[dim] = rkb_index_make(indices, RKB_INDEX_QUOTIENT, padding, stride);
   map->window[dim] = tile->product.depth.extent[1 + from];
   map->positions[dim] = tile->product.row.extent[1 + from];
   map->step[dim] = one;
   map->before[dim] = rkb_index_make(indices, RKB_INDEX_DIFFERENCE, rkb_index_make(indices, RKB_INDEX_DIFFERENCE, map->window[dim], one),
                                     map->first_shift[dim]);
   map->behind[dim] = rkb_index_make(indices, RKB_INDEX_DIFFERENCE, rkb_index_make(indices, RKB_INDEX_SUM, map->before[dim], map->size[dim]),
                                     map->positions[dim]);
}

bool rkb_pixel_map_of(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                      rkb_pixel_map_t *map) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_node_t *node = node_of(writer, tile), *image = &writer->graph->nodes[node->inputs[0]],
                    *right = &writer->graph->nodes[node->inputs[1]];
   const bool of_weight = node->kind == RKB_NODE_CONVOLUTION_WEIGHT;
   *map = (rkb_pixel_map_t){.images = rkb_index_size(indices, image->shape[0]),
                            .channels = rkb_index_size(indices, image->shape[1]),
                            .backwards = node->kind == RKB_NODE_CONVOLUTION_INPUT};
   for (uint32_t i = 0; i < RKB_PIXEL_DIMS; i++) {
      const uint32_t dim = RANK - 1 - i, number = HEAD + 3 * (RKB_PIXEL_DIMS - 1 - i);
      const rkb_index_t *padding = rkb_index_size(indices, node->integers[number + 1]);
      map->size[i] = rkb_index_size(indices, image->shape[dim]);
      map->window[i] = rkb_index_size(indices, (of_weight ? node : right)->shape[dim]);
      map->positions[i] = rkb_index_size(indices, (of_weight ? right : node)->shape[dim]);
      map->step[i] = rkb_index_size(indices, node->integers[number]);
      map->dilation[i] = rkb_index_size(indices, node->integers[number + 2]);
      const rkb_index_t *reach = rkb_index_make(
         indices, RKB_INDEX_PRODUCT, map->dilation[i],
         rkb_index_make(indices, RKB_INDEX_DIFFERENCE, map->window[i], rkb_index_constant(indices, 1)));
      const rkb_index_t *rest = rkb_index_make(indices, RKB_INDEX_DIFFERENCE, reach, padding);
      map->before[i] = map->backwards ? rest : padding;
      map->behind[i] = map->backwards ? padding : rest;
      if (tile->product.in_phases)
         set_phases(writer, tile, map, i, padding);
      else if (map->backwards && !rkb_index_is(map->step[i], 1))
         return false;
   }
   /* A copy belongs to one tap: it brings a step's terms, or as many of the tile's columns as a row of shared
    * memory has. */
   const int64_t together = side->depth_fast ? tile->depth : row_elements(tile);
   return side->raw && side->depth_fast != of_weight && rkb_index_divides(map->channels, together) &&
          channels_come_last(writer, tile, map);
}

/* Returns "lower: ..." or "upper: ...": a corner of the box at this distance before the pixel. */
static const char *corner_of(rkb_writer_t *writer, const char *name,
                             const rkb_index_t *const distance[RKB_PIXEL_DIMS]) {
   const char *text[RKB_PIXEL_DIMS];
   for (uint32_t i = 0; i < RKB_PIXEL_DIMS; i++)
      text[i] =
         rkb_index_is(distance[i], 0)
            ? "0"
            : rkb_arena_format(writer->arena, "-(%s)", rkb_index_manifest(&writer->indices, distance[i]));
   return rkb_arena_format(writer->arena, "%s: \"%s, %s\"", name, text[0], text[1]);
}

static const char *definition_of(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                                 const rkb_tile_side_t *side, const rkb_pixel_map_t *map) {
   const rkb_indices_t *indices = &writer->indices;
   const rkb_storage_t *storage = &writer->storage[map->stored];
   const char *steps = "";
   if (!rkb_index_is(map->step[0], 1) || !rkb_index_is(map->step[1], 1))
      steps = rkb_arena_format(writer->arena, "steps: \"1, %s, %s, 1\", ",
                               rkb_index_manifest(indices, map->step[0]),
                               rkb_index_manifest(indices, map->step[1]));
   return rkb_arena_format(
      writer->arena,
      "{buffer: %s, dims: \"%s, %s, %s, %s\", %s, %s, %schannels: %lld, pixels: %lld, swizzle: %d}",
      storage->argument ? storage->argument : storage->name, rkb_index_manifest(indices, map->channels),
      rkb_index_manifest(indices, map->size[0]), rkb_index_manifest(indices, map->size[1]),
      rkb_index_manifest(indices, map->images), corner_of(writer, "lower", map->before),
      corner_of(writer, "upper", map->behind), steps, (long long)row_elements(tile),
      (long long)(rkb_tile_map_box_bytes(tile, side) / RKB_MAP_ROW_BYTES), RKB_MAP_ROW_BYTES);
}

/* Returns the coordinate of the window's place along one dim, from a quotient of the pixel's number. */
static const char *coordinate(rkb_writer_t *writer, const rkb_pixel_map_t *map, uint32_t dim,
                              const char *number) {
   const char *at =
      rkb_index_is(map->step[dim], 1)
         ? number
         : rkb_arena_format(writer->arena, "%s * %s", number, rkb_writer_uniform(writer, map->step[dim]));
   return rkb_index_is(map->before[dim], 0)
             ? at
             : rkb_arena_format(writer->arena, "%s - %s", at, rkb_writer_uniform(writer, map->before[dim]));
}

/* Writes the coordinates of the pixel with this number. */
static void write_place(rkb_writer_t *writer, const rkb_pixel_map_t *map, const char *variable,
                        const char *number) {
   const char *across = rkb_writer_uniform(writer, map->positions[0]),
              *down = rkb_writer_uniform(writer, map->positions[1]);
   rkb_write(
      writer, "const int %s_right = (int)(%s), %s_down = (int)(%s), %s_image = (int)(%s / %s / %s);",
      variable, coordinate(writer, map, 0, rkb_arena_format(writer->arena, "%s %% %s", number, across)),
      variable,
      coordinate(writer, map, 1, rkb_arena_format(writer->arena, "%s / %s %% %s", number, across, down)),
      variable, number, across, down);
}

void rkb_pixel_map_place(rkb_writer_t *writer, const rkb_tile_side_t *side, const rkb_pixel_map_t *map) {
   if (side->depth_fast)
      write_place(writer, map, side->variable, rkb_arena_format(writer->arena, "%s_first", side->variable));
}

/* How many taps follow each other before the next row of them. */
static const char *taps_across(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                               const rkb_pixel_map_t *map) {
   return map->first_shift[0]
             ? rkb_writer_index(writer, rkb_product_phase_taps(writer, &tile->product, tile->group, 1))
             : rkb_writer_uniform(writer, map->window[0]);
}

void rkb_pixel_map_begin_terms(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                               const rkb_pixel_map_t *map) {
   const bool split = tile->launch->decisions[RKB_SPLIT] > 1;
   tile->counts_taps =
      side->depth_fast && !(split && map->first_shift[0]); /* a phase may have no taps to divide by */
   if (!tile->counts_taps)
      return;
   if (!split) {
      rkb_write(writer, "index channel = 0, tap_right = 0, tap_down = 0;");
      return;
   }
   const char *channels = rkb_writer_uniform(writer, map->channels), *across = taps_across(writer, tile, map);
   rkb_write(writer, "index channel = begin %% %s, tap_right = begin / %s %% %s, tap_down = begin / %s / %s;",
             channels, channels, across, channels, across);
}

void rkb_pixel_map_next_terms(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                              const rkb_pixel_map_t *map) {
   if (!tile->counts_taps)
      return;
   rkb_write(writer, "channel += %lld;", (long long)tile->depth);
   rkb_write_open(writer, false, "if (channel == %s)", rkb_writer_uniform(writer, map->channels));
   rkb_write(writer, "channel = 0;");
   rkb_write_open(writer, false, "if (++tap_right == %s)", taps_across(writer, tile, map));
   rkb_write(writer, "tap_right = 0;");
   rkb_write(writer, "tap_down++;");
   rkb_write_close(writer);
   rkb_write_close(writer);
}

/* Returns how far a tap is from the window's place along one dim. */
static const char *offset_of(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_pixel_map_t *map, uint32_t dim) {
   const char *tap = tile->counts_taps ? (dim ? "tap_down" : "tap_right")
                                       : rkb_arena_format(writer->arena, "tap %s %s", dim ? "/" : "%",
                                                          taps_across(writer, tile, map));
   if (map->backwards)
      tap =
         rkb_arena_format(writer->arena, "(%s - 1 - %s)", rkb_writer_uniform(writer, map->window[dim]), tap);
   if (map->first_shift[dim]) {
      const uint32_t from = RKB_PIXEL_DIMS - 1 - dim;
      const rkb_index_t *shift = rkb_index_make(&writer->indices, RKB_INDEX_DIFFERENCE,
                                                rkb_product_phase_shift(writer, &tile->product, tile->group, from), map->first_shift[dim]);
      return rkb_arena_format(writer->arena, "%s + %s", tap, rkb_writer_index(writer, shift));
   }
   return rkb_index_is(map->dilation[dim], 1)
             ? tap
             : rkb_arena_format(writer->arena, "%s * %s", tap,
                                rkb_writer_uniform(writer, map->dilation[dim]));
}

void rkb_pixel_map_copy(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                        const rkb_pixel_map_t *map, const char *to, const char *barrier) {
   const long long row = (long long)row_elements(tile), bytes = (long long)rkb_tile_map_box_bytes(tile, side),
                   boxes = (long long)(side->depth_fast ? tile->depth : side->extent) / row;
   const char *name = rkb_writer_map(
                 writer, rkb_arena_format(writer->arena, "%s_pixels", writer->storage[map->stored].name),
                 definition_of(writer, tile, side, map)),
              *channels = rkb_writer_uniform(writer, map->channels),
              *variable = side->depth_fast ? side->variable : "k";
   if (!side->depth_fast)
      write_place(writer, map, variable, "first");
   if (!tile->counts_taps || boxes > 1)
      rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int box = 0; box < %lld; box++)",
                     3 * (int)(writer->depth + 1), "", boxes);
   const char *channel = rkb_arena_format(writer->arena, "(number %% %s)", channels);
   if (!tile->counts_taps)
      rkb_write(writer, "const index number = %s + box * %lld, tap = number / %s;",
                side->depth_fast ? "first" : rkb_arena_format(writer->arena, "%s_first", side->variable), row,
                channels);
   else if (boxes > 1)
      channel = rkb_arena_format(writer->arena, "(channel + box * %lld)", row);
   else
      channel = "channel";
   if (!tile->counts_taps || boxes > 1)
      to = rkb_arena_format(writer->arena, "%s + box * %lld", to, bytes);
   rkb_write(writer, "copy_pixels(%s, &%s, %s, (int)%s, %s_right, %s_down, %s_image, (int)(%s), (int)(%s));",
             to, name, barrier, channel, variable, variable, variable, offset_of(writer, tile, map, 0),
             offset_of(writer, tile, map, 1));
   if (!tile->counts_taps || boxes > 1)
      rkb_write_close(writer);
}
