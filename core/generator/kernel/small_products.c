/* Products of few multiply-adds, whose tiles would leave most of the device idle.  In cases with few multiply-adds a
 * warp computes each element.  One thread a graph. */
#include "generator/kernel/kernel_file.h"

#include "generator/text/product_index.h"

rkb_launch_t rkb_small_launch(const rkb_launch_t *launch) {
   rkb_launch_t small = *launch;
   int64_t *d = small.decisions;
   small.mapping = RKB_MAP_ROW;
   d[RKB_ROWS] = 8;
   d[RKB_THREADS] = 32 * d[RKB_ROWS];
   d[RKB_VECTOR] = d[RKB_SPLIT] = 1;
   d[RKB_KEEP] = d[RKB_MOMENTS] = d[RKB_STRETCHES] = 0;
   return small;
}

const char *rkb_kernel_work(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   rkb_writer_t writer;
   rkb_product_t product;
   const char *work = NULL;
   if (rkb_writer_open(&writer, file->graph, file->arena, file->storage, NULL, 0)) {
      rkb_product_of(&writer, launch->anchors[0], &product);
      const rkb_index_t *factors[] = {product.group.total, product.row.total, product.column.total,
                                      product.depth.total};
      for (uint32_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
         const char *factor = rkb_index_manifest(&writer.indices, factors[i]);
         work = work ? rkb_arena_format(file->arena, "%s * (%s)", work, factor)
                     : rkb_arena_format(file->arena, "(%s)", factor);
      }
   }
   rkb_writer_close(&writer);
   return work;
}

bool rkb_kernel_small(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base,
                      const char *when) {
   const rkb_variant_t plain = {.vector = 1, .suffix = ""};
   const rkb_launch_t small = rkb_small_launch(launch);
   const char *name = rkb_arena_format(file->arena, "%s_small", base);
   rkb_kernel_shape_t shape = {0};
   rkb_writer_t writer;
   const char *body = rkb_kernel_body(file, &small, &plain, rkb_write_row_kernel, name, &writer, &shape);
   if (body) {
      rkb_kernel_signature(file, writer.parameters, writer.parameter_count, &shape, name);
      rkb_text_format(&file->code, "%s}\n\n", body);
      /* The outputs of so few multiply-adds have element numbers of 32 bits. */
      rkb_kernel_launch(file, writer.parameters, writer.parameter_count, &shape, name, "int", when, false);
   }
   rkb_writer_close(&writer);
   return body != NULL;
}
