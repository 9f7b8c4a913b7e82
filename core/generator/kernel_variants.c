/* The variants of one launch: a kernel and its entries in the manifest for each.  One thread for each
 * graph. */
#include "generator/kernel_file.h"

#include <math.h>
#include <string.h>
#include "generator/channelwise.h"
#include "generator/convolution_image.h"
#include "generator/convolution_tile.h"
#include "generator/fragments.h"
#include "generator/launch_online.h"
#include "generator/online_nodes.h"
#include "generator/pixel_map.h"
#include "generator/split_weights.h"
#include "generator/tensor_tile.h"
#include "generator/warpgroup_tile.h"
#include "generator/weight_gradient_tile.h"

#define NARROW_VALUES 4u
#define MOST_UNROLLED 11         /* most places of a window's side that are unrolled */
#define MOST_BLOCKS 2147483647.0 /* most blocks of a launch: CUDA's limit of grid.x */
#define INT_MOST 2147000000.0 /* a little less than 2^31 - 1: the last block's threads count past the end */

const char *rkb_kernel_shape_text(rkb_kernel_file_t *file, const rkb_node_t *from) {
   const char *text = "1";
   for (uint32_t d = 0; d < from->rank; d++) {
      const rkb_size_t *size = &file->graph->sizes.list[from->shape[d]];
      if (size->constant && size->at[0] == 1)
         continue;
      const char *factor =
         strpbrk(size->text, "+-*/% ") ? rkb_arena_format(file->arena, "(%s)", size->text) : size->text;
      text = strcmp(text, "1") == 0 ? factor : rkb_arena_format(file->arena, "%s * %s", text, factor);
   }
   return text;
}

const char *rkb_kernel_elements_text(rkb_kernel_file_t *file, uint32_t node) {
   return rkb_kernel_shape_text(file, &file->graph->nodes[node]);
}

static const char *also_below(rkb_kernel_file_t *file, const char *fits, const char *elements) {
   const char *below = rkb_arena_format(file->arena, "%s < %.0f", elements, INT_MOST);
   if (fits && strstr(fits, below))
      return fits;
   return fits ? rkb_arena_format(file->arena, "%s and %s", fits, below) : below;
}

/* The condition that 32 bits hold all element numbers that a kernel computes, of its buffers and of reshaped
 * values: "B * T * D < ...".  Only where the domain lets them pass 32 bits. */
const char *rkb_kernel_fits(rkb_kernel_file_t *file, const rkb_writer_t *writer) {
   const char *fits = NULL;
   for (uint32_t p = 0; p < writer->parameter_count; p++) {
      const rkb_parameter_text_t *parameter = &writer->parameters[p];
      for (uint32_t n = 0; n < file->graph->node_count && parameter->type <= RKB_PARAMETER_OUTPUT; n++) {
         const bool parts = strcmp(parameter->name, rkb_parts_name(writer, n)) == 0;
         if (!parts && !(file->storage[n].name && strcmp(file->storage[n].name, parameter->name) == 0) &&
             !(file->targets[n].name && strcmp(file->targets[n].name, parameter->name) == 0))
            continue;
         const char *elements = rkb_kernel_elements_text(file, n);
         if (parts)
            elements = rkb_arena_format(file->arena, "%s * %lld", elements, (long long)file->parts);
         if (rkb_sizes_most(&file->graph->sizes, elements) < INT_MOST)
            continue;
         file->wide_bench |= rkb_sizes_bench(&file->graph->sizes, elements) > log(INT_MOST / 4);
         fits = also_below(file, fits, elements);
      }
   }
   for (uint32_t j = 0; j < writer->joined_count; j++) {
      /* Joined coordinates may be larger than any buffer. */
      const char *elements = rkb_index_manifest(&writer->indices, writer->joined[j]);
      if (rkb_sizes_most(&file->graph->sizes, elements) >= INT_MOST)
         fits = also_below(file, fits, elements);
   }
   return fits;
}

void rkb_kernel_parameters(rkb_kernel_file_t *file, const rkb_parameter_text_t *parameters, uint32_t parameter_count) {
   for (uint32_t type = 0, count = 0; type <= RKB_PARAMETER_INDEX; type++)
      for (uint32_t p = 0; p < parameter_count; p++) {
         const rkb_parameter_text_t *parameter = &parameters[p];
         if (parameter->type != type)
            continue;
         rkb_text_add(&file->code, count++ ? ", " : "");
         if (type == RKB_PARAMETER_INPUT)
            rkb_text_format(&file->code, "const %s *__restrict__ %s", rkb_storage_type(parameter->dtype),
                            parameter->name);
         else if (type == RKB_PARAMETER_OUTPUT)
            rkb_text_format(&file->code, "%s *%s", rkb_storage_type(parameter->dtype), parameter->name);
         else if (type == RKB_PARAMETER_MAP)
            rkb_text_format(&file->code, "const __grid_constant__ tensor_map %s", parameter->name);
         else
            rkb_text_format(&file->code, "%s %s", type == RKB_PARAMETER_REAL ? "float" : "index",
                            parameter->name);
      }
   rkb_text_add(&file->code, ") {\n");
}

void rkb_kernel_signature(rkb_kernel_file_t *file, const rkb_parameter_text_t *parameters, uint32_t count, const rkb_kernel_shape_t *shape,
                          const char *name) {
   rkb_text_format(
      &file->code, "/* %s */\ntemplate <typename index>\n__global__ void __launch_bounds__(%lld%s) %s(",
      shape->owns, (long long)shape->threads,
      shape->blocks ? rkb_arena_format(file->arena, ", %lld", (long long)shape->blocks) : "", name);
   rkb_kernel_parameters(file, parameters, count);
}

void rkb_kernel_scratch(rkb_kernel_file_t *file, const char *name, uint32_t dtype, const char *elements) {
   const char *bytes = rkb_arena_format(file->arena, "%u * (%s)", rkb_dtype_bytes(dtype), elements);
   file->scratch_bytes =
      file->scratch_bytes ? rkb_arena_format(file->arena, "%s + %s", file->scratch_bytes, bytes) : bytes;
   rkb_text_format(&file->scratch, "  %s: {dtype: %s, shape: \"%s\"}\n", name, rkb_dtype_name(dtype), elements);
}

/* The manifest's name of a tensor map.  Kernels that describe a buffer in the same way share one. */
static const char *map_name(rkb_kernel_file_t *file, const rkb_parameter_text_t *parameter) {
   const char *name = parameter->name;
   uint32_t same_name = 0;
   for (uint32_t m = 0; m < file->map_count; m++) {
      if (strcmp(file->map_list[m].argument, parameter->argument) == 0)
         return file->map_list[m].name;
      same_name += strncmp(file->map_list[m].name, name, strlen(name)) == 0;
   }
   if (file->map_count == RKB_MOST_MAPS) {
      snprintf(file->why, sizeof file->why, "more than %u tensor maps", RKB_MOST_MAPS);
      return name;
   }
   if (same_name)
      name = rkb_arena_format(file->arena, "%s_%u", name, same_name + 1);
   file->map_list[file->map_count++] = (rkb_parameter_text_t){.name = name, .argument = parameter->argument};
   rkb_text_format(&file->maps, "  %s: %s\n", name, parameter->argument);
   return name;
}

/* The manifest's argument for a parameter. */
static const char *argument_of(rkb_kernel_file_t *file, const rkb_parameter_text_t *parameter) {
   if (parameter->type == RKB_PARAMETER_MAP)
      return map_name(file, parameter);
   for (uint32_t n = 0; n < file->graph->node_count && parameter->type <= RKB_PARAMETER_OUTPUT; n++) {
      const rkb_storage_t *places[] = {&file->storage[n], &file->targets[n]};
      for (uint32_t i = 0; i < 2; i++)
         if (places[i]->name && places[i]->argument && strcmp(places[i]->name, parameter->name) == 0)
            return places[i]->argument;
   }
   return parameter->argument;
}

void rkb_kernel_launch(rkb_kernel_file_t *file, const rkb_parameter_text_t *parameters, uint32_t parameter_count,
                       const rkb_kernel_shape_t *shape, const char *name, const char *type, const char *when, bool other) {
   const char *own = when ? when : file->also;
   file->taken = file->taken && own ? rkb_arena_format(file->arena, "%s or %s", file->taken, own) : own;
   when = rkb_kernel_both(file, file->also, when);
   other |= file->goes_on;
   file->goes_on = false;
   if (rkb_sizes_pass(&file->graph->sizes, shape->grid, when, file->scratch_bytes, MOST_BLOCKS))
      snprintf(file->why, sizeof file->why,
               "%s: a corner of the domain has more blocks than a launch may have", name);
   rkb_text_format(&file->launches, other ? "  - else:\n    kernel: %s<%s>\n" : "  - kernel: %s<%s>\n", name,
                   type);
   if (when)
      rkb_text_format(&file->launches, "    when: \"%s\"\n", when);
   rkb_text_format(&file->launches, "    grid: \"%s\"\n    block: %lld\n", shape->grid,
                   (long long)shape->threads);
   if (shape->cluster > 1)
      rkb_text_format(&file->launches, "    cluster: %lld\n", (long long)shape->cluster);
   if (file->depends)
      rkb_text_add(&file->launches, "    dependent: true\n");
   if (shape->shared)
      rkb_text_format(&file->launches, "    shared: %lld\n", (long long)shape->shared);
   rkb_text_add(&file->launches, "    args: \"");
   for (uint32_t kind = 0, count = 0; kind <= RKB_PARAMETER_INDEX; kind++)
      for (uint32_t p = 0; p < parameter_count; p++)
         if (parameters[p].type == kind)
            rkb_text_format(&file->launches, "%s%s", count++ ? ", " : "", argument_of(file, &parameters[p]));
   rkb_text_add(&file->launches, "\"\n");
}

const char *rkb_kernel_both(rkb_kernel_file_t *file, const char *a, const char *b) {
   return a && b ? rkb_arena_format(file->arena, "%s and %s", a, b) : a ? a : b;
}

static const char *condition_text(rkb_kernel_file_t *file, const rkb_condition_t *condition) {
   const char *size = file->graph->sizes.list[condition->size].text;
   return condition->equal ? rkb_arena_format(file->arena, "(%s) == %lld", size, (long long)condition->equal)
                           : rkb_arena_format(file->arena, "(%s) %% %lld == 0", size, (long long)condition->multiple);
}

const char *rkb_kernel_body(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_variant_t *variant, rkb_write_kernel_t write,
                            const char *name, rkb_writer_t *writer, rkb_kernel_shape_t *shape) {
   rkb_launch_t own = *launch;
   const char *body = "";
   own.decisions[RKB_VECTOR] = variant->vector;
   own.decisions[RKB_KEEP] = variant->keep;
   const bool good = rkb_writer_open(writer, file->graph, file->arena, file->storage, variant->conditions, variant->condition_count);
   writer->targets = file->targets;
   writer->shared_bytes = file->shared_bytes;
   writer->stretches = file->stretches;
   if (good) {
      write(writer, &own, shape);
      body = rkb_writer_body(writer);
   }
   if (writer->failed)
      snprintf(file->why, sizeof file->why, "%s: %s", name, writer->why);
   return writer->failed ? NULL : body;
}

const char *rkb_kernel_when(rkb_kernel_file_t *file, const rkb_variant_t *variant, const rkb_kernel_shape_t *shape) {
   const char *when = NULL;
   for (uint32_t c = 0; c < variant->condition_count; c++)
      when = rkb_kernel_both(file, when, condition_text(file, &variant->conditions[c]));
   return rkb_kernel_both(file, when, shape->when);
}

/* Writes one variant of a kernel and its entries.  False: not legal. */
static bool write_variant(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_variant_t *variant,
                          rkb_write_kernel_t write, const char *base, bool other, bool last) {
   rkb_kernel_shape_t shape = {0};
   rkb_writer_t writer;
   if (!other && !file->goes_on)
      file->depends = launch->decisions[RKB_DEPENDENT] && file->launches.length > 0;
   const char *name = rkb_arena_format(file->arena, "%s%s", base, variant->suffix),
              *body = rkb_kernel_body(file, launch, variant, write, name, &writer, &shape);
   if (body) {
      const char *when = rkb_kernel_when(file, variant, &shape);
      file->wide_bench = false;
      const char *fits = rkb_kernel_fits(file, &writer);
      rkb_kernel_signature(file, writer.parameters, writer.parameter_count, &shape, name);
      if (file->depends)
         rkb_text_add(&file->code, "   launches_ended();\n");
      if (launch->decisions[RKB_DEPENDENT])
         rkb_text_add(&file->code, "   next_launch_begins();\n");
      rkb_text_add(&file->code, body);
      rkb_text_add(&file->code, "}\n\n");
      if (!fits || !file->one_width)
         rkb_kernel_launch(file, writer.parameters, writer.parameter_count, &shape, name, "int", rkb_kernel_both(file, when, fits), other);
      if (fits && (last || file->one_width || (file->wide_bench && launch->mapping == RKB_MAP_TENSOR)))
         rkb_kernel_launch(file, writer.parameters, writer.parameter_count, &shape, name, "long long", when, other || !file->one_width);
   }
   rkb_writer_close(&writer);
   return body != NULL;
}

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
   if (node->kind == RKB_NODE_MATMUL && launch->decisions[RKB_COPY] != RKB_COPY_TENSOR && !launch->decisions[RKB_LISTED] && !graph->sizes.list[narrow.size].constant)
      narrow.count = rkb_size_values(&graph->sizes.list[narrow.size], NARROW_VALUES, narrow.values);
   return narrow;
}

/* Narrows a launch's tile to the value, and adds the condition to a variant.  False: the tile is not twice as
 * wide, or the launch is then not legal. */
static bool make_narrow(const rkb_kernel_file_t *file, const narrow_t *narrow, int64_t value, rkb_launch_t *launch, rkb_variant_t *variant) {
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
   if (c == RKB_TENSOR_CONDITIONS || (c < variant->condition_count && value % variant->conditions[c].multiple != 0))
      return false;
   variant->conditions[c] = (rkb_condition_t){.size = narrow->size, .multiple = 1, .equal = value};
   variant->condition_count += c == variant->condition_count;
   variant->suffix = rkb_arena_format(file->arena, "%s_%lld", variant->suffix, (long long)value);
   return !rkb_launch_refused(file->graph, launch, file->shared_bytes) &&
          rkb_indices_possible(file->graph, variant->conditions, variant->condition_count);
}

/* Writes the kernels of narrower tiles beside a variant's own.  other: whether some kernel of the launch
 * comes before. */
static bool write_narrow(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_variant_t *variant, const char *base, bool *other) {
   bool good = true;
   for (uint32_t side = 0; side < 2; side++) {
      const narrow_t narrow = narrow_of(file->graph, launch, side);
      for (uint32_t v = 0; good && v < narrow.count; v++) {
         rkb_launch_t own = *launch;
         rkb_variant_t tried = *variant;
         if (!make_narrow(file, &narrow, narrow.values[v], &own, &tried))
            continue;
         good = write_variant(file, &own, &tried, rkb_write_tensor_kernel, base, *other, false);
         *other = true;
      }
   }
   return good;
}

/* Writes the kernel of warpgroups for the cases of a convolution that tensor maps of pixels describe.
 * always: these are all cases. */
static bool write_pixels_of(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_variant_t *variant, int64_t stride, const char *base,
                            bool *other, bool *mapped, bool *always) {
   rkb_variant_t own = *variant;
   own.suffix = rkb_arena_format(file->arena, stride > 1 ? "%s_pixels_%lld" : "%s_pixels", variant->suffix, (long long)stride);
   if (!rkb_pixel_map_conditions(file->graph, launch, stride, RKB_TENSOR_CONDITIONS, own.conditions, &own.condition_count) ||
       !rkb_indices_possible(file->graph, own.conditions, own.condition_count) ||
       !rkb_warpgroup_suits(file->graph, file->arena, file->storage, launch, own.conditions, own.condition_count))
      return true;
   if (!write_variant(file, launch, &own, rkb_write_warpgroup_kernel, base, *other, own.condition_count == 0))
      return false;
   *other = *mapped = true;
   *always = own.condition_count == 0;
   return true;
}

/* Writes that kernel, and one for each stride whose phases are products of their own. */
static bool write_pixels(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_variant_t *variant, const char *base, bool *other, bool *mapped,
                         bool *always) {
   int64_t strides[RKB_MOST_STRIDES];
   const uint32_t count = launch->decisions[RKB_PHASES] && rkb_launch_has_phases(file->graph, launch) ? rkb_launch_strides(file->graph, launch, strides) : 0;
   bool good = write_pixels_of(file, launch, variant, 1, base, other, mapped, always);
   for (uint32_t i = 0; i < count && good && !*always; i++)
      good = write_pixels_of(file, launch, variant, strides[i], base, other, mapped, always);
   return good;
}

/* Writes the kernel of warpgroups for the cases of a convolution, or of one of its gradients, in which tensor
 * maps describe its images; and before it, where there is one, the launch that splits the weight. */
static bool write_convolution(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base, bool *other, bool *mapped) {
   rkb_variant_t own = {.vector = 1, .suffix = "_images"}, weights;
   rkb_writer_t writer;
   rkb_product_t product;
   rkb_product_dims_t plane;
   if (!rkb_convolution_is_tiled(file->graph, launch) ||
       !rkb_convolution_conditions(file->graph, file->arena, file->storage, launch, own.conditions, &own.condition_count))
      return true;
   *other = *mapped = true;
   if (file->graph->nodes[launch->anchors[0]].kind == RKB_NODE_CONVOLUTION_WEIGHT)
      return write_variant(file, launch, &own, rkb_write_weight_gradient_kernel, base, false, false);
   weights = own;
   weights.suffix = "_weights";
   if (rkb_writer_open(&writer, file->graph, file->arena, file->storage, own.conditions, own.condition_count)) {
      rkb_product_of(&writer, launch->anchors[0], &product);
      rkb_split_weights_dims(&writer, &product, &plane);
      rkb_kernel_scratch(file, rkb_split_weights_name(&writer, launch->anchors[0]), RKB_F32,
                         rkb_arena_format(file->arena, "2 * %s", rkb_index_manifest(&writer.indices, plane.total)));
   }
   rkb_writer_close(&writer);
   return write_variant(file, launch, &weights, rkb_write_split_weights_kernel, base, false, true) &&
          write_variant(file, launch, &own, rkb_write_convolution_kernel, base, false, false);
}

/* Writes variants with wide accesses, one for each order of the factors' dims, and a variant that is right
 * for all cases. */
bool rkb_kernel_tensor_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base) {
   const uint32_t count = rkb_tensor_variants(file->graph, launch);
   const bool maps = launch->decisions[RKB_COPY] == RKB_COPY_TENSOR;
   bool other = false, mapped = false;
   if (!write_convolution(file, launch, base, &other, &mapped))
      return false;
   for (uint32_t i = 0; i < count; i++) {
      rkb_variant_t variant = {.vector = 16, .suffix = i ? rkb_arena_format(file->arena, "_vector_%u", i + 1) : "_vector"};
      bool possible;
      variant.condition_count = rkb_tensor_conditions(file->graph, file->arena, file->storage, launch, i,
                                                      variant.conditions, &possible);
      if (!possible ||
          !rkb_indices_possible(file->graph, variant.conditions, variant.condition_count))
         continue;
      bool everywhere = false;
      if (maps && !write_pixels(file, launch, &variant, base, &other, &mapped, &everywhere))
         return false;
      if (everywhere)
         return true;
      const bool always = variant.condition_count == 0,
                 suits = maps && rkb_warpgroup_suits(file->graph, file->arena, file->storage, launch, variant.conditions,
                                                     variant.condition_count);
      mapped |= suits;
      if (!write_narrow(file, launch, &variant, base, &other))
         return false;
      if (!write_variant(file, launch, &variant, suits ? rkb_write_warpgroup_kernel : rkb_write_tensor_kernel, base, other, always))
         return false;
      if (always)
         return true;
      other = true;
   }
   if (maps && !mapped) {
      snprintf(file->why, sizeof file->why, "%s: no tensor maps describe both factors", base);
      return false;
   }
   /* The variant that is right everywhere.  Where there are others it is for few cases and needs only one
    * width of indices. */
   const rkb_variant_t plain = {.vector = 1, .suffix = ""};
   const bool one_width = file->one_width;
   file->one_width |= other;
   const bool good = write_variant(file, launch, &plain, rkb_write_tensor_kernel, base, other, true);
   file->one_width = one_width;
   return good;
}

const char *rkb_kernel_other_variants(rkb_kernel_file_t *file, const rkb_launch_t *other, const char *base, const char *faster) {
   bool good = true, beside = false;
   file->also = faster;
   file->taken = NULL;
   for (uint32_t i = 0; i < rkb_tensor_variants(file->graph, other) && good; i++) {
      rkb_variant_t variant = {.vector = 16, .suffix = i ? rkb_arena_format(file->arena, "_%u", i + 1) : ""};
      bool possible, written = false, everywhere = false;
      variant.condition_count = rkb_tensor_conditions(file->graph, file->arena, file->storage, other, i, variant.conditions, &possible);
      if (!possible || !rkb_indices_possible(file->graph, variant.conditions, variant.condition_count))
         continue;
      good = write_pixels(file, other, &variant, base, &beside, &written, &everywhere);
      if (good && !written && rkb_warpgroup_suits(file->graph, file->arena, file->storage, other, variant.conditions, variant.condition_count)) {
         good = write_variant(file, other, &variant, rkb_write_warpgroup_kernel, base, beside, false);
         written = true;
      }
      beside |= written;
   }
   file->also = NULL;
   if (good && !beside)
      snprintf(file->why, sizeof file->why, "%s: no tensor maps describe both factors", base);
   return good && beside ? rkb_arena_format(file->arena, "%s and (%s)", faster, file->taken) : NULL;
}

/* The variant with the most elements in an access.  False: the launch has no vectors. */
static bool vector_variant(const rkb_kernel_file_t *file, const rkb_launch_t *launch, rkb_variant_t *vector) {
   uint32_t sizes[RKB_VECTOR_SIZES];
   const uint32_t count = rkb_vector_sizes(file->graph, launch, sizes);
   const int64_t keep =
      launch->mapping == RKB_MAP_ROW && launch->decisions[RKB_SPLIT] == 1 ? launch->decisions[RKB_KEEP] : 0;
   *vector = (rkb_variant_t){
      .vector = launch->decisions[RKB_VECTOR], .keep = keep, .suffix = keep ? "_vector_kept" : "_vector"};
   for (uint32_t i = 0; i < count; i++)
      if (!file->graph->sizes.list[sizes[i]].constant)
         vector->conditions[vector->condition_count++] =
            (rkb_condition_t){.size = sizes[i], .multiple = vector->vector};
   return count > 0 && rkb_indices_possible(file->graph, vector->conditions, vector->condition_count);
}

/* Writes a kernel with unrolled loops for each size of the window, for vectors or for single channels.
 * other: whether there is one. */
static bool write_strips(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_variant_t *vector, const char *base, bool *other) {
   uint32_t size;
   int64_t windows[RKB_CHANNELWISE_WINDOWS];
   const uint32_t count = rkb_channelwise_windows(file->graph, launch, &size, windows);
   for (uint32_t w = 0; w < count; w++) {
      rkb_variant_t variant = *vector;
      variant.suffix = rkb_arena_format(file->arena, "_%lld%s", (long long)windows[w], vector->suffix);
      if (!file->graph->sizes.list[size].constant)
         variant.conditions[variant.condition_count++] = (rkb_condition_t){.size = size, .multiple = 1, .equal = windows[w]};
      if (windows[w] > MOST_UNROLLED || !rkb_indices_possible(file->graph, variant.conditions, variant.condition_count))
         continue;
      if (!write_variant(file, launch, &variant, rkb_write_strip_kernel, base, *other, false))
         return false;
      *other = true;
   }
   return true;
}

/* Writes strips, and a kernel with a thread for each element where the window has none of the strips'
 * sizes. */
static bool write_channelwise(rkb_kernel_file_t *file, const rkb_launch_t *launch, rkb_write_kernel_t write, const char *base) {
   rkb_variant_t vector;
   const rkb_variant_t plain = {.vector = 1, .suffix = ""};
   const bool wide = vector_variant(file, launch, &vector);
   bool other = false;
   return (!wide || write_strips(file, launch, &vector, base, &other)) && write_strips(file, launch, &plain, base, &other) &&
          write_variant(file, launch, &plain, write, base, other, true);
}

bool rkb_kernel_widest(rkb_kernel_file_t *file, const rkb_launch_t *launch, rkb_variant_t *widest) {
   bool possible = false;
   if (launch->mapping != RKB_MAP_TENSOR) {
      possible = vector_variant(file, launch, widest);
      if (!possible)
         *widest = (rkb_variant_t){.vector = 1, .keep = widest->keep, .suffix = widest->keep ? "_kept" : ""};
      return possible || widest->keep;
   }
   const uint32_t count = rkb_tensor_variants(file->graph, launch);
   for (uint32_t i = 0; i < count && !possible; i++) {
      *widest = (rkb_variant_t){.vector = 16, .suffix = "_vector"};
      widest->condition_count = rkb_tensor_conditions(file->graph, file->arena, file->storage, launch, i, widest->conditions, &possible);
      possible = possible && rkb_indices_possible(file->graph, widest->conditions, widest->condition_count);
   }
   if (!possible)
      *widest = (rkb_variant_t){.vector = 1, .suffix = ""};
   return possible;
}

/* A copy of the launch whose blocks have RKB_WARPS warps instead of RKB_THREADS threads; each thread keeps a
 * different share of the row. */
static rkb_launch_t of_warps(const rkb_launch_t *launch) {
   rkb_launch_t own = *launch;
   int64_t *d = own.decisions;
   const int64_t threads = 32 * d[RKB_WARPS];
   if (launch->mapping != RKB_MAP_ROW || !threads)
      return own;
   d[RKB_KEEP] = (d[RKB_KEEP] * d[RKB_THREADS] + threads - 1) / threads;
   d[RKB_KEEP] += d[RKB_KEEP] % d[RKB_SHORTER] ? d[RKB_SHORTER] - d[RKB_KEEP] % d[RKB_SHORTER] : 0;
   d[RKB_THREADS] = threads;
   return own;
}

bool rkb_kernel_variants(rkb_kernel_file_t *file, const rkb_launch_t *given, rkb_write_kernel_t write, const char *base) {
   const rkb_launch_t own = of_warps(given), *launch = &own;
   if (launch->mapping == RKB_MAP_ELEMENT && launch->decisions[RKB_STRIP])
      return write_channelwise(file, launch, write, base);
   rkb_variant_t vector;
   const bool count = vector_variant(file, launch, &vector);
   const int64_t keep = vector.keep;
   const bool always = count && vector.condition_count == 0;
   if (count && keep && launch->decisions[RKB_SHORTER] > 1) {
      /* Rows that need fewer threads, or less of a cluster's memory. */
      rkb_launch_t shorter = *launch;
      rkb_variant_t fewer = vector;
      if (launch->decisions[RKB_CLUSTER] > 1)
         fewer.keep /= launch->decisions[RKB_SHORTER];
      else
         shorter.decisions[RKB_THREADS] /= launch->decisions[RKB_SHORTER];
      fewer.suffix = "_vector_kept_shorter";
      if (!write_variant(file, &shorter, &fewer, write, base, false, false))
         return false;
      file->goes_on = true;
   }
   if (count && !write_variant(file, launch, &vector, write, base, false, always && !keep))
      return false;
   if (count && keep) { /* rows that are too long to be kept */
      vector.keep = 0;
      vector.suffix = "_vector";
      if (!write_variant(file, launch, &vector, write, base, true, always))
         return false;
   }
   const rkb_variant_t kept = {.vector = 1, .keep = keep, .suffix = "_kept"}, plain = {.vector = 1, .suffix = ""};
   if (!count && keep && !write_variant(file, launch, &kept, write, base, false, false))
      return false;
   return always || write_variant(file, launch, &plain, write, base, count || keep, true);
}

/* Writes ranks where threads keep their first elements: short rows may have a warp each, long rows have a
 * block each. */
bool rkb_kernel_rank_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base) {
   rkb_launch_t blocks = *launch;
   rkb_variant_t vector;
   const bool wide = vector_variant(file, launch, &vector), always = wide && vector.condition_count == 0;
   blocks.decisions[RKB_ROWS] = 1;
   vector.keep = launch->decisions[RKB_KEEP];
   const rkb_variant_t plain = {.vector = 1, .keep = vector.keep, .suffix = ""};
   if (launch->decisions[RKB_ROWS] > 1) {
      rkb_variant_t warps = wide ? vector : plain;
      warps.suffix = wide ? "_warps_vector" : "_warps";
      if (!write_variant(file, launch, &warps, rkb_write_rank_kept_kernel, base, false, false))
         return false;
      file->goes_on = true;
   }
   if (wide && !write_variant(file, &blocks, &vector, rkb_write_rank_kept_kernel, base, false, always))
      return false;
   return always || write_variant(file, &blocks, &plain, rkb_write_rank_kept_kernel, base, wide, true);
}

/* Writes a kernel for each length of the rows that are multiplied. */
bool rkb_kernel_online_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base) {
   uint32_t size;
   int64_t heads[RKB_ONLINE_HEADS];
   const uint32_t count = rkb_online_heads(file->graph, launch, &size, heads);
   if (!count)
      snprintf(file->why, sizeof file->why, "%s: rows that are multiplied have many lengths", base);
   for (uint32_t h = 0; h < count; h++) {
      rkb_variant_t variant = {.vector = launch->decisions[RKB_VECTOR], .keep = launch->decisions[RKB_KEEP], .suffix = ""};
      if (size != UINT32_MAX) {
         variant.conditions[variant.condition_count++] = (rkb_condition_t){.size = size, .multiple = 1, .equal = heads[h]};
         variant.suffix = rkb_arena_format(file->arena, "_%lld", (long long)heads[h]);
      }
      if (!write_variant(file, launch, &variant, rkb_write_online_kernel, base, h > 0, true))
         return false;
   }
   return count > 0;
}
