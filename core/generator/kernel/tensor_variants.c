/* The variants of one launch by tensor cores (kernel_variants.c): wide accesses, tensor maps, narrower tiles,
 * and the kernels of a convolution's cases.  One thread for each graph. */
#include "generator/decisions/launch_decisions.h"
#include "generator/kernel/kernel_file.h"
#include "generator/kernel/padded_variants.h"

#include <string.h>
#include "generator/convolution/convolution_image.h"
#include "generator/convolution/convolution_tile.h"
#include "generator/text/fragments.h"
#include "generator/tile/rows_by_matrix.h"
#include "generator/tile/pixel_map.h"
#include "generator/convolution/split_weights.h"
#include "generator/tile/tensor_tile.h"
#include "generator/tile/warpgroup_tile.h"
#include "generator/convolution/weight_gradient_tile.h"

#define NARROW_VALUES 4u

/* A side of a product's output that takes only a few values, all less than half of its tile.  The launch then
 * has a kernel for each value, whose tile is no wider, with as many warps as before. */
typedef struct narrow {
   uint32_t tile, warp, other_warp; /* decisions of this side, and of the other side */
   uint32_t size;
   int64_t values[NARROW_VALUES];
   uint32_t count;
} narrow_t;

static narrow_t narrow_of(const rkb_graph_t *graph, const rkb_launch_t *launch, bool columns) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]];
   narrow_t narrow = {.tile = columns ? RKB_TILE_N : RKB_TILE_M,
                      .warp = columns ? RKB_WARP_N : RKB_WARP_M,
                      .other_warp = columns ? RKB_WARP_M : RKB_WARP_N,
                      .size = node->shape[node->rank - (columns ? 1 : 2)]};
   if (node->kind == RKB_NODE_MATMUL && launch->decisions[RKB_COPY] != RKB_COPY_TENSOR &&
       !launch->decisions[RKB_LISTED] && !graph->sizes.list[narrow.size].constant)
      narrow.count = rkb_size_values(&graph->sizes.list[narrow.size], NARROW_VALUES, narrow.values);
   return narrow;
}

/* Narrows a launch's tile to the value, and adds the condition to a variant.  False: the tile is not twice as
 * wide, or the launch is then not legal. */
static bool make_narrow(const rkb_kernel_file_t *file, const narrow_t *narrow, int64_t value,
                        rkb_launch_t *launch, rkb_variant_t *variant) {
   int64_t *d = launch->decisions, width = RKB_FRAGMENT_M;
   uint32_t c = 0;
   while (width < value)
      width *= 2;
   if (2 * width > d[narrow->tile])
      return false;
   for (; d[narrow->tile] > width; d[narrow->tile] /= 2)
      if (d[narrow->warp] == d[narrow->tile]) {
         d[narrow->warp] /= 2;
      } else if (d[narrow->other_warp] > RKB_FRAGMENT_M)
         d[narrow->other_warp] /= 2;
   while (c < variant->condition_count && variant->conditions[c].size != narrow->size)
      c++;
   if (c == RKB_TENSOR_CONDITIONS ||
       (c < variant->condition_count && value % variant->conditions[c].multiple != 0))
      return false;
   variant->conditions[c] = (rkb_condition_t){.size = narrow->size, .multiple = 1, .equal = value};
   variant->condition_count += c == variant->condition_count;
   variant->suffix = rkb_arena_format(file->arena, "%s_%lld", variant->suffix, (long long)value);
   return !rkb_launch_refused(file->graph, launch, file->shared_bytes) &&
          rkb_indices_possible(file->graph, variant->conditions, variant->condition_count);
}

/* Writes the kernels of narrower tiles beside a variant's own.  other: whether some kernel of the launch
 * comes before. */
static bool write_narrow(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_variant_t *variant,
                         const char *base, bool *other) {
   bool good = true;
   for (uint32_t side = 0; side < 2; side++) {
      const narrow_t narrow = narrow_of(file->graph, launch, side);
      for (uint32_t v = 0; good && v < narrow.count; v++) {
         rkb_launch_t own = *launch;
         rkb_variant_t tried = *variant;
         if (!make_narrow(file, &narrow, narrow.values[v], &own, &tried))
            continue;
         good = rkb_kernel_write_variant(file, &own, &tried, rkb_write_tensor_kernel, base, *other, false);
         *other = true;
      }
   }
   return good;
}

/* Writes the kernel of warpgroups for the cases of a convolution that tensor maps of pixels describe.
 * always: these are all cases. */
static bool write_pixels_of(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_variant_t *variant,
                            int64_t stride, const char *base, bool *other, bool *mapped, bool *always) {
   rkb_variant_t own = *variant;
   own.suffix = rkb_arena_format(file->arena, stride > 1 ? "%s_pixels_%lld" : "%s_pixels", variant->suffix,
                                 (long long)stride);
   if (!rkb_pixel_map_conditions(file->graph, launch, stride, RKB_TENSOR_CONDITIONS, own.conditions,
                                 &own.condition_count) ||
       !rkb_indices_possible(file->graph, own.conditions, own.condition_count) ||
       !rkb_warpgroup_suits(file->graph, file->arena, file->storage, launch, own.conditions,
                            own.condition_count, false))
      return true;
   if (!rkb_kernel_write_variant(file, launch, &own, rkb_write_warpgroup_kernel, base, *other,
                                 own.condition_count == 0))
      return false;
   *other = *mapped = true;
   *always = own.condition_count == 0;
   return true;
}

/* Writes that kernel, and one for each stride whose phases are products of their own. */
static bool write_pixels(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_variant_t *variant,
                         const char *base, bool *other, bool *mapped, bool *always) {
   int64_t strides[RKB_MOST_STRIDES];
   const uint32_t count = launch->decisions[RKB_PHASES] && rkb_launch_has_phases(file->graph, launch)
                             ? rkb_launch_strides(file->graph, launch, strides)
                             : 0;
   bool good = write_pixels_of(file, launch, variant, 1, base, other, mapped, always);
   for (uint32_t i = 0; i < count && good && !*always; i++)
      good = write_pixels_of(file, launch, variant, strides[i], base, other, mapped, always);
   return good;
}

/* Writes the kernel of warpgroups for the cases of a convolution, or of one of its gradients, in which tensor
 * maps describe its images; and before it, where there is one, the launch that splits the weight. */
static bool write_convolution(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base,
                              bool *other, bool *mapped) {
   rkb_variant_t own = {.vector = 1, .suffix = "_images"}, weights;
   rkb_writer_t writer;
   rkb_product_t product;
   rkb_product_dims_t plane;
   if (!rkb_convolution_is_tiled(file->graph, launch) ||
       !rkb_convolution_conditions(file->graph, file->arena, file->storage, launch, own.conditions,
                                   &own.condition_count))
      return true;
   *other = *mapped = true;
   if (file->graph->nodes[launch->anchors[0]].kind == RKB_NODE_CONVOLUTION_WEIGHT)
      return rkb_kernel_write_variant(file, launch, &own, rkb_write_weight_gradient_kernel, base, false,
                                      false);
   weights = own;
   weights.suffix = "_weights";
   if (rkb_writer_open(&writer, file->graph, file->arena, file->storage, own.conditions,
                       own.condition_count)) {
      rkb_product_of(&writer, launch->anchors[0], &product);
      rkb_split_weights_dims(&writer, &product, &plane);
      rkb_kernel_scratch(
         file, rkb_split_weights_name(&writer, launch->anchors[0]), RKB_F32,
         rkb_arena_format(file->arena, "2 * %s", rkb_index_manifest(&writer.indices, plane.total)));
   }
   rkb_writer_close(&writer);
   return rkb_kernel_write_variant(file, launch, &weights, rkb_write_split_weights_kernel, base, false,
                                   true) &&
          rkb_kernel_write_variant(file, launch, &own, rkb_write_convolution_kernel, base, false, false);
}

/* Elements of a warp's tile in the variant that is right for all cases.  Each access there has a guard and numbers of 64 bits: with
 * larger tiles a thread has too few registers, so that the kernel spills and takes long to compile. */
#define MOST_GUARDED (32 * 32)

/* Returns the launch with a tile of this size for each warp, and as many warps.  A convolution keeps its tile, because a smaller tile takes
 * longer to compile. */
static rkb_launch_t guarded_launch(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   rkb_launch_t own = *launch;
   int64_t *d = own.decisions;
   uint32_t side;
   const bool lists_rows =
      d[RKB_LISTED] && rkb_rows_by_matrix_pick(graph, launch->anchors[0], &side) != RKB_NO_NODE;
   if (graph->nodes[launch->anchors[0]].kind != RKB_NODE_MATMUL || lists_rows || d[RKB_BESIDE])
      return own; /* launches of listed rows or beside others share the tile with other kernels */
   if (d[RKB_TILE_N] == 192)
      d[RKB_TILE_N] = 128; /* half of such a tile has rows in which chunks of 16 bytes can trade places */
   while (d[RKB_WARP_M] * d[RKB_WARP_N] > MOST_GUARDED) {
      const bool rows = d[RKB_WARP_M] >= d[RKB_WARP_N];
      const uint32_t tile = rows ? RKB_TILE_M : RKB_TILE_N, warp = rows ? RKB_WARP_M : RKB_WARP_N;
      d[tile] /= 2;
      d[warp] /= 2;
   }
   return own;
}

/* Writes variants with wide accesses, one for each order of the factors' dims, and a variant that is right
 * for all cases. */
bool rkb_kernel_tensor_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base) {
   const uint32_t count = rkb_tensor_variants(file->graph, launch);
   const bool maps = launch->decisions[RKB_COPY] == RKB_COPY_TENSOR, pads = rkb_kernel_pads(file, launch);
   bool other = false, mapped = false;
   uint32_t whole = 0; /* bit i: warpgroups compute the cases of order i that need no copies */
   if (!write_convolution(file, launch, base, &other, &mapped))
      return false;
   for (uint32_t i = 0; i < count; i++) {
      rkb_variant_t variant = {.vector = 16,
                               .suffix = i ? rkb_arena_format(file->arena, "_vector_%u", i + 1) : "_vector"};
      bool possible;
      variant.condition_count = rkb_tensor_conditions(file->graph, file->arena, file->storage, launch, i,
                                                      variant.conditions, &possible);
      if (!possible || !rkb_indices_possible(file->graph, variant.conditions, variant.condition_count))
         continue;
      bool everywhere = false;
      if (maps && !write_pixels(file, launch, &variant, base, &other, &mapped, &everywhere))
         return false;
      if (everywhere)
         return true;
      const bool always = variant.condition_count == 0,
                 suits = maps && rkb_warpgroup_suits(file->graph, file->arena, file->storage, launch,
                                                     variant.conditions, variant.condition_count, false);
      mapped |= suits;
      if (!write_narrow(file, launch, &variant, base, &other))
         return false;
      if (!rkb_kernel_write_variant(file, launch, &variant,
                                    suits ? rkb_write_warpgroup_kernel : rkb_write_tensor_kernel, base, other,
                                    always || (pads && rkb_kernel_whole_stores(file, launch, i))))
         return false;
      if (always)
         return true;
      other = true;
      whole |= (uint32_t)suits << i;
   }
   if (pads)
      return rkb_kernel_padded_variants(file, launch, whole, base, other);
   if (maps && !mapped) {
      snprintf(file->why, sizeof file->why, "%s: no tensor maps describe both factors", base);
      return false;
   }
   /* The variant that is right everywhere.  If there are other variants, few cases take this one, and it needs only
    * one width of indices. */
   const rkb_variant_t plain = {.vector = 1, .suffix = ""};
   const bool one_width = file->one_width;
   file->one_width |= other;
   const rkb_launch_t guarded = other ? guarded_launch(file->graph, launch) : *launch;
   const bool good =
      rkb_kernel_write_variant(file, &guarded, &plain, rkb_write_tensor_kernel, base, other, true);
   file->one_width = one_width;
   return good;
}

const char *rkb_kernel_second_tile_variants(rkb_kernel_file_t *file, const rkb_launch_t *other,
                                            const char *base, const char *faster) {
   bool good = true, beside = false;
   file->also = faster;
   file->taken = NULL;
   for (uint32_t i = 0; i < rkb_tensor_variants(file->graph, other) && good; i++) {
      rkb_variant_t variant = {.vector = 16, .suffix = i ? rkb_arena_format(file->arena, "_%u", i + 1) : ""};
      bool possible, written = false, everywhere = false;
      variant.condition_count = rkb_tensor_conditions(file->graph, file->arena, file->storage, other, i,
                                                      variant.conditions, &possible);
      if (!possible || !rkb_indices_possible(file->graph, variant.conditions, variant.condition_count))
         continue;
      good = write_pixels(file, other, &variant, base, &beside, &written, &everywhere);
      if (good && !written &&
          rkb_warpgroup_suits(file->graph, file->arena, file->storage, other, variant.conditions,
                              variant.condition_count, false)) {
         good =
            rkb_kernel_write_variant(file, other, &variant, rkb_write_warpgroup_kernel, base, beside, false);
         written = true;
      }
      beside |= written;
   }
   file->also = NULL;
   if (good && !beside)
      snprintf(file->why, sizeof file->why, "%s: no tensor maps describe both factors", base);
   return good && beside ? rkb_arena_format(file->arena, "%s and (%s)", faster, file->taken) : NULL;
}
