/* The second launch of a split reduction or product: adds the parts in order and writes the roots.  One thread
 * writes it. */
#include "generator/text/launch_text.h"

#include <math.h>
#include <string.h>
#include "generator/row/moments.h"
#include "generator/text/product_index.h"

/* Whether elements have many parts, and the elements themselves are fewer than `few`. */
static bool few_have_many(const rkb_writer_t *writer, const rkb_node_t *node, int64_t parts, double few) {
   double logarithm = 0;
   for (uint32_t d = 0; d < node->rank; d++)
      logarithm += rkb_sizes_bench(&writer->graph->sizes, writer->graph->sizes.list[node->shape[d]].text);
   return parts >= 32 && logarithm < log(few);
}

/* Where few elements have many parts, the lanes of a warp share the parts of one element.  A single thread
 * would wait for each part in turn. */
static bool warps_finish(const rkb_writer_t *writer, const rkb_node_t *node, int64_t parts) {
   return few_have_many(writer, node, parts, 4096);
}

#define FINISHING_WARPS 8 /* warps of a block, which share the parts of 32 elements */
#define SHARED_ELEMENTS (1 << 17)

/* Writes the second launch of a split product that has few elements with many parts each.  With one thread
 * for each element, too few loads would be in flight. */
static void write_shared_finish(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const uint32_t product = launch->anchors[0];
   const rkb_node_t *node = &writer->graph->nodes[product];
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *elements = rkb_index_elements(indices, node->rank, node->shape), *at[RKB_MAX_RANK];
   const char *size = rkb_writer_uniform(writer, elements), *name = rkb_writer_name(writer, node->name),
              *buffer = rkb_writer_buffer(writer, rkb_parts_name(writer, product), RKB_F32, false);
   rkb_write(writer, "const index i = (index)blockIdx.x * 32 + threadIdx.x %% 32, own = i < %s ? i : %s - 1;",
             size, size);
   rkb_write(writer, "float %s = 0.0f;", name);
   rkb_write(writer, "#pragma unroll 16"); /* so many parts are in flight at once */
   const bool even = launch->decisions[RKB_SPLIT] % FINISHING_WARPS == 0; /* each warp has as many parts */
   rkb_write(writer, "for (int part = %s; part < %lld; part += %d)", even ? "0" : "(int)threadIdx.x / 32",
             (long long)launch->decisions[RKB_SPLIT], FINISHING_WARPS);
   rkb_write(writer,
             even ? "   %s += %s[(part + (int)threadIdx.x / 32) * %s + own];"
                  : "   %s += %s[part * %s + own];",
             name, buffer, size);
   rkb_write(writer, "%s = column_sum<%d>(%s);", name, FINISHING_WARPS, name);
   rkb_write(writer, "if (threadIdx.x >= 32 || i >= %s)", size);
   rkb_write(writer, "   return;");
   rkb_product_unjoin(writer, product, launch->roots[0], rkb_writer_variable(writer, "i", elements), at);
   rkb_writer_know(writer, product, at, name);
   rkb_write_roots(writer, launch, product, at);
   *shape = (rkb_kernel_shape_t){
      .grid = rkb_ceildiv(writer, elements, 32),
      .threads = 32 * FINISHING_WARPS,
      .owns = rkb_arena_format(
         writer->arena,
         "A block adds the %lld parts of 32 elements, always in the same order: each warp has some parts.",
         (long long)launch->decisions[RKB_SPLIT])};
}

/* Joins the parts of a mean and of the squares around it.  first, more: the texts of the element numbers of a
 * thread's first part, and of part `part`. */
static void finish_moments(rkb_writer_t *writer, const rkb_index_t *number, uint32_t sum, uint32_t squares,
                           const char *first, const char *more, const char *loop, bool warps) {
   const rkb_node_t *node = &writer->graph->nodes[sum];
   const rkb_index_t *at[RKB_MAX_RANK];
   const char *buffers[3] = {rkb_parts_name(writer, sum), rkb_parts_name(writer, squares),
                             rkb_counts_name(writer, sum)},
              *names[3];
   for (uint32_t i = 0; i < 3; i++) {
      static const char *const words[] = {"mean", "squares", "count"};
      /* The writer does not know these names, so another variable may get one of them: a node that is called mean may be stored here too. */
      names[i] = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_%s", node->name, words[i]));
      rkb_writer_buffer(writer, buffers[i], RKB_F32, false);
      rkb_write(writer, "float %s = %s[%s];", names[i], buffers[i], first);
   }
   rkb_write(writer, "%s", loop);
   rkb_write(writer, "   moments_join(%s, %s, %s, %s[%s], %s[%s], %s[%s]);", names[0], names[1], names[2],
             buffers[0], more, buffers[1], more, buffers[2], more);
   if (warps)
      rkb_write(writer, "row_moments<32>(%s, %s, %s);", names[0], names[1], names[2]);
   const char *name = rkb_writer_name(writer, writer->graph->nodes[sum].name);
   rkb_write(writer, "const float %s = %s * %s;", name, names[0], names[2]);
   rkb_index_split(&writer->indices, node->rank, node->shape, number, at);
   rkb_writer_know(writer, squares, at, names[1]);
   rkb_writer_know(writer, sum, at, name);
}

void rkb_write_finish_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t threads = 128, parts = launch->decisions[RKB_SPLIT];
   const uint32_t first = launch->anchors[0];
   const rkb_node_t *node = &writer->graph->nodes[first];
   rkb_indices_t *indices = &writer->indices;
   const bool warps = warps_finish(writer, node, parts);
   if (!warps && launch->anchor_count == 1 && rkb_node_is_product(node) &&
       few_have_many(writer, node, parts, SHARED_ELEMENTS)) {
      write_shared_finish(writer, launch, shape);
      return;
   }
   const rkb_index_t *elements = rkb_index_elements(indices, node->rank, node->shape), *at[RKB_MAX_RANK];
   rkb_write(writer,
             warps ? "const index i = ((index)blockIdx.x * %lld + threadIdx.x) / 32;"
                   : "const index i = (index)blockIdx.x * %lld + threadIdx.x;",
             (long long)threads);
   rkb_write(writer, "if (i >= %s)", rkb_writer_uniform(writer, elements));
   rkb_write(writer, "   return;");
   const rkb_index_t *number = rkb_writer_variable(writer, "i", elements);
   const char *size = rkb_writer_uniform(writer, elements),
              *first_part = warps ? rkb_arena_format(writer->arena, "threadIdx.x %% 32 * %s + i", size) : "i",
              *more_parts = rkb_arena_format(writer->arena, "part * %s + i", size),
              *loop =
                 rkb_arena_format(writer->arena,
                                  warps ? "for (int part = threadIdx.x %% 32 + 32; part < %lld; part += 32)"
                                        : "for (int part = 1; part < %lld; part++)",
                                  (long long)parts);
   uint32_t mean = 0;
   const uint32_t variance = launch->decisions[RKB_MOMENTS] ? rkb_launch_moments(writer->graph, launch, &mean)
                                                            : launch->anchor_count;
   if (variance < launch->anchor_count)
      finish_moments(writer, number, launch->anchors[mean], launch->anchors[variance], first_part, more_parts,
                     loop, warps);
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      if (variance < launch->anchor_count && (a == mean || a == variance))
         continue;
      const rkb_node_t *anchor = &writer->graph->nodes[launch->anchors[a]];
      const char *name = rkb_writer_name(writer, anchor->name),
                 *buffer = rkb_parts_name(writer, launch->anchors[a]);
      const bool sum = rkb_node_is_product(anchor) || strcmp(anchor->operation, "sum") == 0,
                 largest = strcmp(anchor->operation, "amax") == 0;
      const char *next = rkb_arena_format(writer->arena, "%s[%s]", buffer, more_parts);
      rkb_writer_buffer(writer, buffer, RKB_F32, false);
      rkb_write(writer, "float %s = %s[%s];", name, buffer, first_part);
      if (rkb_node_is_product(anchor))
         rkb_product_unjoin(writer, first, launch->roots[0], number, at);
      else
         rkb_index_split(indices, anchor->rank, anchor->shape, number, at);
      rkb_writer_know(writer, launch->anchors[a], at, name);
      if (!warps)
         rkb_write(writer, "#pragma unroll 8"); /* so many parts are in flight at once */
      rkb_write(writer, "%s", loop);
      if (sum)
         rkb_write(writer, "   %s += %s;", name, next);
      else
         rkb_write(writer, "   %s = %s(%s, %s);", name, largest ? "larger" : "smaller", name, next);
      if (warps)
         rkb_write(writer, "%s = row_%s<32>(%s);", name,
                   sum       ? "sum"
                   : largest ? "largest"
                             : "smallest",
                   name);
   }
   if (warps) {
      rkb_write(writer, "if (threadIdx.x %% 32 != 0)");
      rkb_write(writer, "   return;");
   }
   if (rkb_node_is_product(node))
      rkb_product_unjoin(writer, first, launch->roots[0], number, at);
   else
      rkb_index_split(indices, node->rank, node->shape, number, at);
   rkb_write_roots(writer, launch, first, at);
   *shape = (rkb_kernel_shape_t){
      .grid = rkb_ceildiv(writer, elements, warps ? threads / 32 : threads),
      .threads = threads,
      .owns =
         rkb_arena_format(writer->arena, "A %s adds the %lld parts of one element, always in the same order.",
                          warps ? "warp" : "thread", (long long)parts)};
}
