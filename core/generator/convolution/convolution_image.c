/* Describes the images of convolutions by warpgroups (convolution_image.h).  One thread. */
#include "generator/convolution/convolution_image.h"

#include "generator/tile/product_tile.h"
#include "generator/convolution/split_weights.h"
#include "generator/tile/staging.h"

/* Finds the tensor that a factor is, and whether it is stored as images of rows of pixels. */
static bool find_images(rkb_writer_t *writer, uint32_t factor, uint32_t *stored) {
   const rkb_node_t *image = &writer->graph->nodes[factor];
   const rkb_index_t *at[RKB_CONVOLUTION_RANK];
   static const char *const names[RKB_CONVOLUTION_RANK] = {"image", "channel", "down", "along"};
   for (uint32_t d = 0; d < RKB_CONVOLUTION_RANK; d++)
      at[d] =
         rkb_index_variable(&writer->indices, names[d], rkb_index_size(&writer->indices, image->shape[d]));
   const rkb_index_t *element = rkb_staging_element(writer, factor, at, false, stored);
   return element && element == rkb_index_join(&writer->indices, RKB_CONVOLUTION_RANK, image->shape, at) &&
          writer->storage[*stored].dtype == RKB_F32;
}

/* Whether the root's neighbours are neighbours along the product's last dim: pixels, or taps. */
static bool lies_as_product(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const uint32_t product = launch->anchors[0];
   return rkb_product_is_turned(graph, product, launch->roots[0]) &&
          rkb_product_fast_dim(graph, product, launch->roots[0]) == RKB_CONVOLUTION_RANK - 1;
}

bool rkb_convolution_open(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_convolution_t *tile) {
   rkb_indices_t *indices = &writer->indices;
   *tile = (rkb_convolution_t){.launch = launch,
                               .node = &writer->graph->nodes[launch->anchors[0]],
                               .d = launch->decisions,
                               .extent = rkb_convolution_extent(writer->graph, launch)};
   tile->backwards = tile->node->kind == RKB_NODE_CONVOLUTION_INPUT;
   rkb_product_of(writer, launch->anchors[0], &tile->product);
   const bool of_weight = tile->extent.of_weight, in_phases = tile->extent.in_phases;
   if (in_phases && !rkb_product_in_phases(writer, &tile->product))
      return false;
   const rkb_product_dims_t *pixels = of_weight ? &tile->product.depth : &tile->product.row;
   tile->channels = (of_weight ? &tile->product.row : &tile->product.depth)->extent[0];
   tile->images = pixels->extent[0];
   bool good = find_images(writer, tile->node->inputs[0], &tile->stored) &&
               lies_as_product(writer->graph, launch) &&
               (!of_weight || find_images(writer, tile->node->inputs[1], &tile->stored_right));
   for (uint32_t side = 0; side < RKB_CONVOLUTION_SIDES; side++) {
      const rkb_index_t *padding =
                           rkb_index_size(indices, tile->node->integers[RKB_CONVOLUTION_HEAD + 3 * side + 1]),
                        *reach = rkb_index_constant(indices, (tile->extent.window[side] - 1) *
                                                                tile->extent.dilation[side]);
      if (in_phases) { /* the taps of one phase; neighbouring taps are one stride apart */
         const rkb_index_t *stride = rkb_index_constant(indices, tile->extent.stride);
         const int64_t taps = (tile->extent.window[side] + tile->extent.stride - 1) / tile->extent.stride;
         tile->before[side] =
            rkb_index_make(indices, RKB_INDEX_DIFFERENCE, rkb_index_constant(indices, taps - 1),
                           rkb_index_make(indices, RKB_INDEX_QUOTIENT, padding, stride));
      } else
         tile->before[side] =
            tile->backwards ? rkb_index_make(indices, RKB_INDEX_DIFFERENCE, reach, padding) : padding;
      for (uint32_t s = 0; s < RKB_SAMPLES; s++)
         good =
            good && (tile->before[side]->at[s] >= 0 ||
                     (in_phases && side == RKB_CONVOLUTION_DOWN)); /* copies may begin behind the first row */
   }
   tile->blocks[0] = rkb_tiles_along(writer, tile->product.column.extent[0], tile->d[RKB_TILE_M]);
   tile->blocks[1] = rkb_tiles_along(writer, pixels->extent[2], tile->extent.row);
   tile->blocks[2] = rkb_tiles_along(writer, pixels->extent[1], tile->extent.rows);
   tile->blocks[3] = rkb_tiles_along(writer, tile->channels, tile->extent.channels);
   return good && !writer->failed;
}

/* Adds a condition.  False: the size is a constant that does not satisfy it, or there is no room for it. */
static bool add(const rkb_graph_t *graph, rkb_condition_t wanted,
                rkb_condition_t conditions[RKB_TENSOR_CONDITIONS], uint32_t *count) {
   const rkb_size_t *size = &graph->sizes.list[wanted.size];
   if (size->constant)
      return wanted.equal ? size->at[0] == wanted.equal : size->at[0] % wanted.multiple == 0;
   for (uint32_t c = 0; c < *count; c++)
      if (conditions[c].size == wanted.size && conditions[c].equal == wanted.equal) {
         if (wanted.multiple > conditions[c].multiple)
            conditions[c].multiple = wanted.multiple;
         return true;
      }
   if (*count == RKB_TENSOR_CONDITIONS)
      return false;
   conditions[(*count)++] = wanted;
   return true;
}

/* Whether a size has, in the cases that satisfy the conditions, all values that it has in any drawn case.  Then
 * expressions of the size that are equal in those cases are equal in all cases. */
static bool is_covered(rkb_writer_t *writer, uint32_t size) {
   const rkb_index_t *index = rkb_index_size(&writer->indices, size);
   for (uint32_t p = 0; p < RKB_PROBES; p++) {
      bool found = false;
      for (uint32_t s = 0; s < RKB_SAMPLES; s++)
         found |= index->at[s] == writer->graph->sizes.list[size].at[p];
      if (!found)
         return false;
   }
   return true;
}

/* A padding that the conditions tie to other sizes gets the value of the first bench case. */
static bool add_paddings(rkb_graph_t *graph, rkb_arena_t *arena, const rkb_storage_t *storage,
                         const rkb_node_t *node, rkb_condition_t conditions[RKB_TENSOR_CONDITIONS],
                         uint32_t *count) {
   rkb_writer_t writer;
   uint32_t tied[RKB_CONVOLUTION_SIDES], tied_count = 0;
   bool good = rkb_writer_open(&writer, graph, arena, storage, conditions, *count);
   for (uint32_t side = 0; good && side < RKB_CONVOLUTION_SIDES; side++) {
      const uint32_t padding = node->integers[RKB_CONVOLUTION_HEAD + 3 * side + 1];
      if (!graph->sizes.list[padding].constant && !is_covered(&writer, padding))
         tied[tied_count++] = padding;
   }
   rkb_writer_close(&writer);
   good = good && (!tied_count || rkb_task_case(graph->sizes.task, RKB_CASE_BENCH, 0));
   for (uint32_t i = 0; good && i < tied_count; i++) {
      const int64_t value = (int64_t)rkb_sizes_bench_at(&graph->sizes, graph->sizes.list[tied[i]].text, 0);
      good = value > 0 &&
             add(graph, (rkb_condition_t){.size = tied[i], .multiple = 1, .equal = value}, conditions, count);
   }
   return good && rkb_indices_possible(graph, conditions, *count);
}

bool rkb_convolution_conditions(rkb_graph_t *graph, rkb_arena_t *arena, const rkb_storage_t *storage,
                                const rkb_launch_t *launch, rkb_condition_t conditions[RKB_TENSOR_CONDITIONS],
                                uint32_t *count) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]], *image = &graph->nodes[node->inputs[0]];
   *count = 0;
   const int64_t stride = rkb_convolution_stride(graph, node);
   const bool of_weight = node->kind == RKB_NODE_CONVOLUTION_WEIGHT;
   /* Channels must fill whole fragments.  With fewer channels, sums would be cut more often than docs/numerics.md
    * allows. */
   bool good =
      of_weight
         ? add(graph,
               (rkb_condition_t){.size = graph->nodes[node->inputs[1]].shape[3],
                                 .multiple = RKB_CONVOLUTION_ALIGNED},
               conditions, count)
         : add(graph, (rkb_condition_t){.size = image->shape[1], .multiple = RKB_CONVOLUTION_STEP_TERMS},
               conditions, count);
   good = good && add(graph, (rkb_condition_t){.size = image->shape[3], .multiple = RKB_CONVOLUTION_ALIGNED},
                      conditions, count);
   for (uint32_t side = 0; side < RKB_CONVOLUTION_SIDES; side++)
      good = good &&
             add(graph,
                 (rkb_condition_t){
                    .size = node->integers[RKB_CONVOLUTION_HEAD + 3 * side], .multiple = 1, .equal = stride},
                 conditions, count) &&
             (stride == 1 || node->kind != RKB_NODE_CONVOLUTION_INPUT ||
              add(graph, (rkb_condition_t){.size = node->shape[2 + side], .multiple = stride}, conditions,
                  count));
   if (!good || !rkb_indices_possible(graph, conditions, *count) ||
       !add_paddings(graph, arena, storage, node, conditions, count))
      return false;
   rkb_writer_t writer;
   rkb_convolution_t tile;
   good = rkb_writer_open(&writer, graph, arena, storage, conditions, *count) &&
          rkb_convolution_open(&writer, launch, &tile);
   rkb_writer_close(&writer);
   return good;
}

const rkb_index_t *rkb_convolution_copied_before(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *aligned = rkb_index_constant(indices, RKB_CONVOLUTION_ALIGNED);
   return rkb_index_make(
      indices, RKB_INDEX_PRODUCT,
      rkb_index_make(indices, RKB_INDEX_QUOTIENT,
                     rkb_index_make(indices, RKB_INDEX_SUM, tile->before[RKB_CONVOLUTION_ALONG],
                                    rkb_index_constant(indices, RKB_CONVOLUTION_ALIGNED - 1)),
                     aligned),
      aligned);
}

void rkb_convolution_write_free(rkb_writer_t *writer, const rkb_convolution_t *tile, const char *condition) {
   rkb_write(writer, "__syncwarp();");
   rkb_write(writer, "if (%slane == 0)", condition);
   rkb_write(writer, "   barrier_arrive(&freed[stage == 0 ? %lld : stage - 1]);",
             (long long)tile->d[RKB_STAGES] - 1);
}

const char *rkb_convolution_strided(rkb_writer_t *writer, const rkb_convolution_t *tile, const char *place) {
   const int64_t apart = rkb_convolution_apart(&tile->extent);
   return apart == 1 ? place : rkb_arena_format(writer->arena, "%s * %lld", place, (long long)apart);
}

/* Returns "{buffer: x, dims: ..., box: ...}" for a factor that consists of images. */
static const char *map_of(rkb_writer_t *writer, uint32_t factor, uint32_t stored, const char *name,
                          const char *box) {
   const rkb_storage_t *storage = &writer->storage[stored];
   const char *dims[RKB_CONVOLUTION_RANK];
   for (uint32_t d = 0; d < RKB_CONVOLUTION_RANK; d++)
      dims[d] = rkb_index_manifest(&writer->indices,
                                   rkb_index_size(&writer->indices, writer->graph->nodes[factor].shape[d]));
   return rkb_writer_map(writer, rkb_arena_format(writer->arena, "%s_%s", storage->name, name),
                         rkb_arena_format(writer->arena, "{buffer: %s, dims: \"%s, %s, %s, %s\", box: %s}",
                                          storage->argument ? storage->argument : storage->name, dims[3],
                                          dims[2], dims[1], dims[0], box));
}

const char *rkb_convolution_image_map(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const rkb_convolution_extent_t *e = &tile->extent;
   return map_of(writer, tile->node->inputs[0], tile->stored, "images",
                 rkb_arena_format(writer->arena, "\"%lld, %lld, %lld, 1\"", (long long)e->width,
                                  (long long)e->height, (long long)e->channels));
}

const char *rkb_convolution_row_map(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   return map_of(writer, tile->node->inputs[1], tile->stored_right, "rows",
                 rkb_arena_format(writer->arena, "\"%d, 1, %lld, 1\", swizzle: %d", RKB_CONVOLUTION_TERMS,
                                  (long long)tile->d[RKB_TILE_M], RKB_CONVOLUTION_ROW_BYTES));
}

const char *rkb_convolution_weight_map(rkb_writer_t *writer, const rkb_convolution_t *tile) {
   const char *name = rkb_split_weights_name(writer, tile->product.node);
   return rkb_writer_map(
      writer, rkb_arena_format(writer->arena, "%s_planes", name),
      rkb_arena_format(writer->arena,
                       "{buffer: %s, dims: \"%s, %s, %lld\", box: \"%d, %lld, 1\", swizzle: %d}", name,
                       rkb_index_manifest(&writer->indices, tile->channels),
                       rkb_index_manifest(&writer->indices, tile->product.column.extent[0]),
                       2 * (long long)tile->extent.taps, RKB_CONVOLUTION_TERMS,
                       (long long)tile->d[RKB_TILE_M], RKB_CONVOLUTION_ROW_BYTES));
}
