/* The parts of a kernel file other than the kernels' bodies: heads with parameters, entries of the manifest, buffers of scratch, and
 * conditions.  One thread for each graph. */
#include "generator/kernel/kernel_file.h"

#include <math.h>
#include <string.h>
#include "generator/kernel/small_case_conditions.h"

#define MOST_BLOCKS 2147483647.0 /* most blocks of a launch: CUDA's limit of grid.x */

static const char *also_below(rkb_kernel_file_t *file, const char *fits, const char *elements) {
   const char *below = rkb_arena_format(file->arena, "%s < %.0f", elements, RKB_INT_MOST);
   if (fits && strstr(fits, below))
      return fits;
   below = rkb_kernel_both(file, below, rkb_reach_wide(file, elements));
   return fits ? rkb_arena_format(file->arena, "%s and %s", fits, below) : below;
}

/* The condition that 32 bits hold all element numbers that a kernel computes, of its buffers and of reshaped
 * values: "B * T * D < ...".  Has only numbers that pass 32 bits at some sizes of the domain. */
const char *rkb_kernel_fits(rkb_kernel_file_t *file, const rkb_writer_t *writer) {
   const char *fits = NULL;
   for (uint32_t p = 0; p < writer->parameter_count; p++) {
      const rkb_parameter_text_t *parameter = &writer->parameters[p];
      for (uint32_t n = 0; n < file->graph->node_count && parameter->type <= RKB_PARAMETER_OUTPUT; n++) {
         const bool parts = rkb_is_parts_name(writer, n, parameter->name);
         if (!parts && !(file->storage[n].name && strcmp(file->storage[n].name, parameter->name) == 0) &&
             !(file->targets[n].name && strcmp(file->targets[n].name, parameter->name) == 0))
            continue;
         const char *elements = rkb_kernel_elements_text(file, n);
         if (parts)
            elements = rkb_arena_format(file->arena, "%s * %lld", elements, (long long)file->parts);
         if (rkb_sizes_most(&file->graph->sizes, elements) < RKB_INT_MOST)
            continue;
         file->wide_bench |= rkb_sizes_bench(&file->graph->sizes, elements) > log(RKB_INT_MOST / 4);
         fits = also_below(file, fits, elements);
      }
   }
   for (uint32_t j = 0; j < writer->joined_count; j++) {
      /* Joined coordinates may be larger than any buffer. */
      const char *elements = rkb_index_manifest(&writer->indices, writer->joined[j]);
      if (rkb_sizes_most(&file->graph->sizes, elements) >= RKB_INT_MOST)
         fits = also_below(file, fits, elements);
   }
   return fits;
}

void rkb_kernel_parameters(rkb_kernel_file_t *file, const rkb_parameter_text_t *parameters,
                           uint32_t parameter_count) {
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

void rkb_kernel_signature(rkb_kernel_file_t *file, const rkb_parameter_text_t *parameters, uint32_t count,
                          const rkb_kernel_shape_t *shape, const char *name) {
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
   rkb_text_format(&file->scratch, "  %s: {dtype: %s, shape: \"%s\"}\n", name, rkb_dtype_name(dtype),
                   elements);
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

void rkb_kernel_launch(rkb_kernel_file_t *file, const rkb_parameter_text_t *parameters,
                       uint32_t parameter_count, const rkb_kernel_shape_t *shape, const char *name,
                       const char *type, const char *when, bool other) {
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
