/* Copies of factors whose rows begin at multiples of 16 bytes (padded_rows.h).  One thread. */
#include "generator/tile/padded_rows.h"

#include "generator/tile/convolution_extent.h"
#include "generator/tile/padded_pitch.h"
#include "generator/tile/tile_map.h"
#include "generator/tile/warpgroup_tile.h"

#define THREADS 256

static int64_t whole_of(const rkb_launch_t *launch) {
   return 16 / rkb_fragment_type(launch->decisions[RKB_TENSOR])->bytes;
}

/* Looks at one factor, as a kernel does that is right for all cases. */
static bool look(rkb_writer_t *writer, rkb_product_tile_t *tile, rkb_tile_side_t *side,
                 rkb_padded_side_t *out) {
   rkb_tile_map_t map;
   rkb_staging_look(writer, tile, side, 1);
   if (!rkb_tile_map_of(writer, tile, side, &map))
      return false;
   if (!map.padded)
      return true;
   *out = (rkb_padded_side_t){
      .applies = true, .stored = map.stored, .name = rkb_padded_name(writer, map.stored, map.fast)};
   return rkb_staging_width(writer, tile, side, (uint32_t)whole_of(tile->launch), &out->whole) &&
          rkb_index_size(&writer->indices, out->whole.size) == map.fast;
}

bool rkb_padding_of(rkb_graph_t *graph, rkb_arena_t *arena, const rkb_storage_t *storage,
                    const rkb_launch_t *launch, const rkb_condition_t *order, uint32_t order_count,
                    rkb_padding_t *padding) {
   rkb_launch_t own = *launch;
   rkb_writer_t writer;
   rkb_product_tile_t tile;
   *padding = (rkb_padding_t){0};
   own.decisions[RKB_VECTOR] = 1;
   if (launch->mapping != RKB_MAP_TENSOR || launch->decisions[RKB_COPY] != RKB_COPY_TENSOR ||
       graph->nodes[launch->anchors[0]].kind != RKB_NODE_MATMUL || rkb_convolution_is_tiled(graph, launch))
      return false;
   if (!rkb_warpgroup_suits(graph, arena, storage, launch, order, order_count, true))
      return false;
   bool good = rkb_writer_open(&writer, graph, arena, storage, order, order_count);
   if (good) {
      rkb_tile_open(&writer, &own, &tile);
      tile.pads = true;
      tile.threads = THREADS;
      rkb_tile_place(&writer, &tile, 0);
      good = look(&writer, &tile, &tile.m, &padding->sides[0]) &&
             look(&writer, &tile, &tile.n, &padding->sides[1]) && !writer.failed;
   }
   rkb_writer_close(&writer);
   return good && (padding->sides[0].applies || padding->sides[1].applies);
}

static void write_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, uint32_t side,
                         rkb_kernel_shape_t *shape) {
   rkb_padding_t padding;
   if (!rkb_padding_of(writer->graph, writer->arena, writer->storage, launch, writer->indices.conditions,
                       writer->indices.condition_count, &padding)) {
      rkb_writer_fail(writer, "no rows are copied");
      return;
   }
   rkb_indices_t *indices = &writer->indices;
   const rkb_padded_side_t *own = &padding.sides[side];
   const rkb_storage_t *storage = &writer->storage[own->stored];
   const rkb_node_t *node = &writer->graph->nodes[own->stored];
   const long long whole = (long long)whole_of(launch);
   const rkb_index_t *row = rkb_index_size(indices, own->whole.size),
                     *elements = rkb_index_elements(indices, node->rank, node->shape),
                     *pieces =
                        rkb_index_make(indices, RKB_INDEX_QUOTIENT, rkb_padded_pitch(indices, row, whole),
                                       rkb_index_constant(indices, whole)),
                     *all =
                        rkb_index_make(indices, RKB_INDEX_PRODUCT,
                                       rkb_index_make(indices, RKB_INDEX_QUOTIENT, elements, row), pieces);
   const char *type = rkb_storage_type(storage->dtype), *in_row = rkb_writer_uniform(writer, pieces),
              *length = rkb_writer_uniform(writer, row),
              *from = rkb_writer_buffer(writer, storage->name, storage->dtype, false),
              *to = rkb_writer_buffer(writer, own->name, storage->dtype, true);
   rkb_write(writer, "const index piece = (index)blockIdx.x * %d + threadIdx.x;", THREADS);
   rkb_write_open(writer, true, "if (piece < %s)", rkb_writer_uniform(writer, all));
   rkb_write(writer, "const index line = piece / %s, first = piece %% %s * %lld;", in_row, in_row, whole);
   rkb_write(writer, "Pack<%lld, %s> part = {};", whole, type);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int lane = 0; lane < %lld; lane++)", whole);
   rkb_write(writer, "   if (first + lane < %s)", length);
   rkb_write(writer, "      part.at[lane] = %s[line * %s + first + lane];", from, length);
   rkb_write(writer, "((Pack<%lld, %s> *)%s)[piece] = part;", whole, type, to);
   rkb_write_close(writer);
   *shape = (rkb_kernel_shape_t){
      .threads = THREADS,
      .grid = rkb_ceildiv(writer, all, THREADS),
      .owns = rkb_arena_format(
         writer->arena,
         "A thread copies 16 bytes of a row of %s; rows of the copy begin at multiples of 16 bytes, as tensor maps need it.",
         storage->name)};
}

void rkb_write_padded_m_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   write_kernel(writer, launch, 0, shape);
}

void rkb_write_padded_n_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   write_kernel(writer, launch, 1, shape);
}
