/* Writes the launch that splits a convolution's weight.  One thread. */
#include "generator/convolution/split_weights.h"

#include <string.h>

#define THREADS 256

const char *rkb_split_weights_name(const rkb_writer_t *writer, uint32_t convolution) {
   return rkb_arena_format(writer->arena, "%s_split", writer->graph->nodes[convolution].name);
}

void rkb_split_weights_dims(rkb_writer_t *writer, const rkb_product_t *product, rkb_product_dims_t *plane) {
   const rkb_product_dims_t *depth = &product->depth;
   *plane = (rkb_product_dims_t){.count = depth->count + 1};
   for (uint32_t d = 0; d < plane->count;
        d++) { /* taps, a channel of the output, and the channel over which is summed */
      const bool tap = d + 1 < depth->count, last = d == depth->count;
      plane->extent[d] = tap ? depth->extent[d + 1] : last ? depth->extent[0] : product->column.extent[0];
      plane->name[d] = tap ? depth->name[d + 1] : last ? depth->name[0] : product->column.name[0];
   }
   plane->total = plane->extent[depth->count];
   for (uint32_t d = depth->count; d-- > 0;)
      plane->total = rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, plane->total, plane->extent[d]);
}

void rkb_write_split_weights_kernel(rkb_writer_t *writer, const rkb_launch_t *launch,
                                    rkb_kernel_shape_t *shape) {
   const uint32_t convolution = launch->anchors[0];
   const rkb_node_t *node = &writer->graph->nodes[convolution];
   const rkb_index_t *place[RKB_MAX_RANK], *depth[RKB_MAX_RANK], *at[RKB_MAX_RANK],
      *group[] = {rkb_index_constant(&writer->indices, 0)};
   rkb_product_t product;
   rkb_product_dims_t plane;
   rkb_product_of(writer, convolution, &product);
   rkb_split_weights_dims(writer, &product, &plane);
   const uint32_t taps = product.depth.count - 1;
   const char *total = rkb_writer_uniform(writer, plane.total),
              *split = rkb_writer_buffer(writer, rkb_split_weights_name(writer, convolution), RKB_F32, true);
   rkb_write(writer, "const index item = (index)blockIdx.x * %d + threadIdx.x;", THREADS);
   rkb_write_open(writer, true, "if (item < %s)", total);
   rkb_product_split(writer, &plane, rkb_writer_variable(writer, "item", plane.total), place);
   depth[0] = place[taps + 1];
   memcpy(depth + 1, place, taps * sizeof *depth);
   rkb_product_operand(writer, &product, 1, group, place + taps, depth, at);
   rkb_write(writer, "unsigned high = __float_as_uint(%s), low;",
             rkb_write_float(writer, node->inputs[1], at).text);
   rkb_write(writer, "split_tf32(high, low);");
   rkb_write(writer, "%s[item] = __uint_as_float(high);", split);
   rkb_write(writer, "%s[%s + item] = __uint_as_float(low);", split, total);
   rkb_write_close(writer);
   *shape = (rkb_kernel_shape_t){
      .threads = THREADS,
      .grid = rkb_ceildiv(writer, plane.total, THREADS),
      .owns = rkb_arena_format(
         writer->arena,
         "A thread makes two numbers of an element of the weight of %s: what tensor cores take of it, and the rest.",
         node->name)};
}
