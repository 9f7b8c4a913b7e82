/* A schedule as a kernel file.  One thread a graph. */
#include "generator/kernel_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "generator/fragments.h"
#include "generator/launch_online.h"
#include "generator/map_text.h"
#include "generator/tensor_tile.h"

#define MANY_LAUNCHES 20u     /* a manifest has 64 entries at most, and a launch up to three */
#define INT_MOST 2147000000.0 /* a little less than 2^31 - 1: the last block's threads count past the end */

typedef struct file {
   rkb_graph_t *graph;
   rkb_arena_t *arena;
   rkb_storage_t *storage, *targets;
   rkb_text_t code, launches, scratch;
   int64_t shared_bytes;
   bool
      one_width; /* so many launches that each has but one width of indices, the wider where the domain needs it */
   int64_t parts;   /* of a split reduction, of the launch at hand */
   bool wide_bench; /* a bench case may need the wider indices */
   char why[256];
} file_t;

typedef void (*write_kernel_t)(rkb_writer_t *, const rkb_launch_t *, rkb_kernel_shape_t *);

/* One way to run a launch: a kernel, and the condition under which it is right. */
typedef struct variant {
   int64_t vector, keep;
   rkb_condition_t conditions[RKB_TENSOR_CONDITIONS];
   uint32_t condition_count;
   const char *suffix;
} variant_t;

static const char *shape_text(file_t *file, const rkb_node_t *from) {
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

static const char *elements_text(file_t *file, uint32_t node) {
   return shape_text(file, &file->graph->nodes[node]);
}

static const char *also_below(file_t *file, const char *fits, const char *elements) {
   const char *below = rkb_arena_format(file->arena, "%s < %.0f", elements, INT_MOST);
   if (fits && strstr(fits, below))
      return fits;
   return fits ? rkb_arena_format(file->arena, "%s and %s", fits, below) : below;
}

/* The largest element numbers that a kernel computes, of its buffers and of reshaped values, where the domain lets them pass 32 bits: "B * T * D < ...". */
static const char *fits_text(file_t *file, const rkb_writer_t *writer) {
   const char *fits = NULL;
   for (uint32_t p = 0; p < writer->parameter_count; p++) {
      const rkb_parameter_text_t *parameter = &writer->parameters[p];
      for (uint32_t n = 0; n < file->graph->node_count && parameter->type <= RKB_PARAMETER_OUTPUT; n++) {
         const bool parts = strcmp(parameter->name, rkb_parts_name(writer, n)) == 0;
         if (!parts && !(file->storage[n].name && strcmp(file->storage[n].name, parameter->name) == 0) &&
             !(file->targets[n].name && strcmp(file->targets[n].name, parameter->name) == 0))
            continue;
         const char *elements = elements_text(file, n);
         if (parts)
            elements = rkb_arena_format(file->arena, "%s * %lld", elements, (long long)file->parts);
         if (rkb_sizes_most(&file->graph->sizes, elements) < INT_MOST)
            continue;
         file->wide_bench |= rkb_sizes_bench(&file->graph->sizes, elements) > log(INT_MOST / 4);
         fits = also_below(file, fits, elements);
      }
   }
   for (uint32_t j = 0; j < writer->joined_count; j++) { /* coordinates that are joined may pass every buffer */
      const char *elements = rkb_index_manifest(&writer->indices, writer->joined[j]);
      if (rkb_sizes_most(&file->graph->sizes, elements) >= INT_MOST)
         fits = also_below(file, fits, elements);
   }
   return fits;
}

static void write_signature(file_t *file, const rkb_writer_t *writer, const rkb_kernel_shape_t *shape,
                            const char *name) {
   rkb_text_format(
      &file->code, "/* %s */\ntemplate <typename index>\n__global__ void __launch_bounds__(%lld%s) %s(",
      shape->owns, (long long)shape->threads,
      shape->blocks ? rkb_arena_format(file->arena, ", %lld", (long long)shape->blocks) : "", name);
   for (uint32_t type = 0, count = 0; type <= RKB_PARAMETER_INDEX; type++)
      for (uint32_t p = 0; p < writer->parameter_count; p++) {
         const rkb_parameter_text_t *parameter = &writer->parameters[p];
         if (parameter->type != type)
            continue;
         rkb_text_add(&file->code, count++ ? ", " : "");
         if (type == RKB_PARAMETER_INPUT)
            rkb_text_format(&file->code, "const %s *__restrict__ %s", rkb_storage_type(parameter->dtype),
                            parameter->name);
         else if (type == RKB_PARAMETER_OUTPUT)
            rkb_text_format(&file->code, "%s *%s", rkb_storage_type(parameter->dtype), parameter->name);
         else
            rkb_text_format(&file->code, "%s %s", type == RKB_PARAMETER_REAL ? "float" : "index",
                            parameter->name);
      }
   rkb_text_add(&file->code, ") {\n");
}

/* What the manifest calls a parameter. */
static const char *argument_of(const file_t *file, const rkb_parameter_text_t *parameter) {
   for (uint32_t n = 0; n < file->graph->node_count && parameter->type <= RKB_PARAMETER_OUTPUT; n++) {
      const rkb_storage_t *places[] = {&file->storage[n], &file->targets[n]};
      for (uint32_t i = 0; i < 2; i++)
         if (places[i]->name && places[i]->argument && strcmp(places[i]->name, parameter->name) == 0)
            return places[i]->argument;
   }
   return parameter->argument;
}

static void write_launch(file_t *file, const rkb_writer_t *writer, const rkb_kernel_shape_t *shape,
                         const char *name, const char *type, const char *when, bool other) {
   rkb_text_format(&file->launches, other ? "  - else:\n    kernel: %s<%s>\n" : "  - kernel: %s<%s>\n", name,
                   type);
   if (when)
      rkb_text_format(&file->launches, "    when: \"%s\"\n", when);
   rkb_text_format(&file->launches, "    grid: \"%s\"\n    block: %lld\n", shape->grid,
                   (long long)shape->threads);
   if (shape->shared)
      rkb_text_format(&file->launches, "    shared: %lld\n", (long long)shape->shared);
   rkb_text_add(&file->launches, "    args: \"");
   for (uint32_t kind = 0, count = 0; kind <= RKB_PARAMETER_INDEX; kind++)
      for (uint32_t p = 0; p < writer->parameter_count; p++)
         if (writer->parameters[p].type == kind)
            rkb_text_format(&file->launches, "%s%s", count++ ? ", " : "",
                            argument_of(file, &writer->parameters[p]));
   rkb_text_add(&file->launches, "\"\n");
}

static const char *join(file_t *file, const char *a, const char *b) {
   return a && b ? rkb_arena_format(file->arena, "%s and %s", a, b) : a ? a : b;
}

static const char *condition_text(file_t *file, const rkb_condition_t *condition) {
   const char *size = file->graph->sizes.list[condition->size].text;
   return condition->equal ? rkb_arena_format(file->arena, "(%s) == %lld", size, (long long)condition->equal)
                           : rkb_arena_format(file->arena, "(%s) %% %lld == 0", size, (long long)condition->multiple);
}

/* Writes one variant of a kernel and its launches.  False: not legal. */
static bool write_variant(file_t *file, const rkb_launch_t *launch, const variant_t *variant,
                          write_kernel_t write, const char *base, bool other, bool last) {
   rkb_launch_t own = *launch;
   rkb_kernel_shape_t shape = {0};
   rkb_writer_t writer;
   own.decisions[RKB_VECTOR] = variant->vector;
   own.decisions[RKB_KEEP] = variant->keep;
   bool good = rkb_writer_open(&writer, file->graph, file->arena, file->storage, variant->conditions,
                               variant->condition_count);
   writer.targets = file->targets;
   writer.shared_bytes = file->shared_bytes;
   const char *body = "", *when = NULL, *name = rkb_arena_format(file->arena, "%s%s", base, variant->suffix);
   if (good) {
      write(&writer, &own, &shape);
      body = rkb_writer_body(&writer);
   }
   good = !writer.failed;
   if (!good) {
      snprintf(file->why, sizeof file->why, "%s: %s", name, writer.why);
   } else {
      for (uint32_t c = 0; c < variant->condition_count; c++)
         when = join(file, when, condition_text(file, &variant->conditions[c]));
      when = join(file, when, shape.when);
      file->wide_bench = false;
      const char *fits = fits_text(file, &writer);
      write_signature(file, &writer, &shape, name);
      rkb_text_add(&file->code, body);
      rkb_text_add(&file->code, "}\n\n");
      if (!fits || !file->one_width)
         write_launch(file, &writer, &shape, name, "int", join(file, when, fits), other);
      if (fits && (last || file->one_width || (file->wide_bench && launch->mapping == RKB_MAP_TENSOR)))
         write_launch(file, &writer, &shape, name, "long long", when, other || !file->one_width);
   }
   rkb_writer_close(&writer);
   return good;
}

/* Variants with wide accesses, one for each order of the factors' dims, and one that is right for all cases. */
static bool write_tensor_variants(file_t *file, const rkb_launch_t *launch, const char *base) {
   const uint32_t count = rkb_tensor_variants(file->graph, launch);
   bool other = false;
   for (uint32_t i = 0; i < count; i++) {
      variant_t variant = {.vector = 16, .suffix = i ? rkb_arena_format(file->arena, "_vector_%u", i + 1) : "_vector"};
      bool possible;
      variant.condition_count = rkb_tensor_conditions(file->graph, file->arena, file->storage, launch, i,
                                                      variant.conditions, &possible);
      if (!possible ||
          !rkb_indices_possible(file->graph, variant.conditions, variant.condition_count))
         continue;
      const bool always = variant.condition_count == 0;
      if (!write_variant(file, launch, &variant, rkb_write_tensor_kernel, base, other, always))
         return false;
      if (always)
         return true;
      other = true;
   }
   /* One that is right everywhere.  Beside others it is for few cases, and need not be there for both widths of indices. */
   const variant_t plain = {.vector = 1, .suffix = ""};
   const bool one_width = file->one_width;
   file->one_width |= other;
   const bool good = write_variant(file, launch, &plain, rkb_write_tensor_kernel, base, other, true);
   file->one_width = one_width;
   return good;
}

static bool write_variants(file_t *file, const rkb_launch_t *launch, write_kernel_t write, const char *base) {
   uint32_t sizes[RKB_VECTOR_SIZES];
   uint32_t count = rkb_vector_sizes(file->graph, launch, sizes);
   const int64_t keep =
      launch->mapping == RKB_MAP_ROW && launch->decisions[RKB_SPLIT] == 1 ? launch->decisions[RKB_KEEP] : 0;
   variant_t vector = {
      .vector = launch->decisions[RKB_VECTOR], .keep = keep, .suffix = keep ? "_vector_kept" : "_vector"};
   for (uint32_t i = 0; i < count; i++)
      if (!file->graph->sizes.list[sizes[i]].constant)
         vector.conditions[vector.condition_count++] =
            (rkb_condition_t){.size = sizes[i], .multiple = vector.vector};
   if (!rkb_indices_possible(file->graph, vector.conditions, vector.condition_count))
      count = 0;
   const bool always = count > 0 && vector.condition_count == 0;
   if (count > 0 && !write_variant(file, launch, &vector, write, base, false, always && !keep))
      return false;
   if (count > 0 && keep) { /* rows that are too long to be kept */
      vector.keep = 0;
      vector.suffix = "_vector";
      if (!write_variant(file, launch, &vector, write, base, true, always))
         return false;
   }
   const variant_t kept = {.vector = 1, .keep = keep, .suffix = "_kept"}, plain = {.vector = 1, .suffix = ""};
   if (count == 0 && keep && !write_variant(file, launch, &kept, write, base, false, false))
      return false;
   return always || write_variant(file, launch, &plain, write, base, count > 0 || keep, true);
}

/* A kernel for each length of the rows that are multiplied. */
static bool write_online_variants(file_t *file, const rkb_launch_t *launch, const char *base) {
   uint32_t size;
   int64_t heads[RKB_ONLINE_HEADS];
   const uint32_t count = rkb_online_heads(file->graph, launch, &size, heads);
   if (!count)
      snprintf(file->why, sizeof file->why, "%s: rows that are multiplied have many lengths", base);
   for (uint32_t h = 0; h < count; h++) {
      variant_t variant = {.vector = launch->decisions[RKB_VECTOR], .suffix = ""};
      if (size != UINT32_MAX) {
         variant.conditions[variant.condition_count++] = (rkb_condition_t){.size = size, .multiple = 1, .equal = heads[h]};
         variant.suffix = rkb_arena_format(file->arena, "_%lld", (long long)heads[h]);
      }
      if (!write_variant(file, launch, &variant, rkb_write_online_kernel, base, h > 0, true))
         return false;
   }
   return count > 0;
}

static void add_scratch(file_t *file, const char *name, uint32_t dtype, const char *elements) {
   rkb_text_format(&file->scratch, "  %s: {dtype: %s, shape: \"%s\"}\n", name, rkb_dtype_name(dtype), elements);
}

static void set_targets(file_t *file, const rkb_launch_t *launch, const bool *through_scratch) {
   rkb_graph_t *graph = file->graph;
   for (uint32_t r = 0; r < launch->root_count; r++) {
      const uint32_t node = launch->roots[r];
      const rkb_output_t *output = NULL;
      for (uint32_t o = 0; o < graph->output_count; o++)
         if (graph->outputs[o].node == node && !through_scratch[o])
            output = &graph->outputs[o];
      /* docs/numerics.md: what the task's graph names may be rounded where it is stored. */
      const uint32_t own = graph->nodes[node].dtype,
                     dtype = rkb_dtype_is_float(own) && own != RKB_BF16 && own != RKB_F16 ? RKB_F32 : own;
      file->targets[node] = output ? (rkb_storage_t){rkb_writer_beside(file->arena, output->tensor),
                                                     output->tensor, output->dtype}
                                   : (rkb_storage_t){graph->nodes[node].name, NULL, dtype};
      if (!output)
         add_scratch(file, graph->nodes[node].name, dtype, elements_text(file, node));
   }
}

/* The buffers of a scatter's links: for each place, and for each element that goes somewhere. */
static void add_links(file_t *file, uint32_t scatter) {
   const rkb_node_t *node = &file->graph->nodes[scatter];
   for (uint32_t next = 0; next < 2; next++) {
      rkb_node_t like = next ? file->graph->nodes[node->inputs[1]] : *node;
      for (uint32_t d = 0; d < like.rank; d++)
         if (!rkb_scatter_varies(file->graph, scatter, d))
            like.shape[d] = rkb_sizes_constant(&file->graph->sizes, 1);
      rkb_text_format(&file->scratch, "  %s_%s: {dtype: int32, shape: \"%s\"%s}\n", node->name, next ? "next" : "first",
                      shape_text(file, &like), next ? "" : ", init: zero");
   }
}

static bool write_one(file_t *file, const rkb_launch_t *launch) {
   static const write_kernel_t kernels[] = {[RKB_MAP_ELEMENT] = rkb_write_element_kernel,
                                            [RKB_MAP_ROW] = rkb_write_row_kernel,
                                            [RKB_MAP_COLUMN] = rkb_write_column_kernel,
                                            [RKB_MAP_TILE] = rkb_write_tile_kernel,
                                            [RKB_MAP_TENSOR] = rkb_write_tensor_kernel,
                                            [RKB_MAP_SCAN] = rkb_write_scan_kernel,
                                            [RKB_MAP_ONLINE] = rkb_write_online_kernel,
                                            [RKB_MAP_RANK] = rkb_write_rank_kernel,
                                            [RKB_MAP_LINK] = rkb_write_linked_kernel};
   static const char *const words[] = {[RKB_MAP_ELEMENT] = "elements",
                                       [RKB_MAP_ROW] = "rows",
                                       [RKB_MAP_COLUMN] = "columns",
                                       [RKB_MAP_TILE] = "tiles",
                                       [RKB_MAP_TENSOR] = "fragments",
                                       [RKB_MAP_SCAN] = "lines",
                                       [RKB_MAP_ONLINE] = "online",
                                       [RKB_MAP_RANK] = "ranks",
                                       [RKB_MAP_LINK] = "linked"};
   const char *refused = rkb_launch_refused(file->graph, launch, file->shared_bytes);
   const char *name =
      rkb_arena_format(file->arena, "%s_%s", file->targets[launch->roots[0]].name, words[launch->mapping]);
   const bool split = rkb_decision_applies(file->graph, launch, RKB_SPLIT) && launch->decisions[RKB_SPLIT] > 1;
   file->parts = launch->decisions[RKB_SPLIT];
   if (refused || (launch->mapping != RKB_MAP_ELEMENT && !launch->anchor_count)) {
      snprintf(file->why, sizeof file->why, "%s: %s", name, refused ? refused : "it computes nothing");
      return false;
   }
   for (uint32_t a = 0; a < launch->anchor_count && split; a++)
      add_scratch(file,
                  rkb_arena_format(file->arena, "%s_parts", file->graph->nodes[launch->anchors[a]].name),
                  RKB_F32,
                  rkb_arena_format(file->arena, "%lld * %s", (long long)launch->decisions[RKB_SPLIT],
                                   elements_text(file, launch->anchors[a])));
   rkb_launch_t plain = *launch;
   plain.decisions[RKB_VECTOR] = 1;
   if (launch->mapping == RKB_MAP_LINK) {
      add_links(file, launch->anchors[0]);
      if (!write_variants(file, &plain, rkb_write_link_kernel, rkb_arena_format(file->arena, "%s_links", file->graph->nodes[launch->anchors[0]].name)))
         return false;
   }
   if (launch->mapping == RKB_MAP_ONLINE   ? !write_online_variants(file, launch, name)
       : launch->mapping == RKB_MAP_TENSOR ? !write_tensor_variants(file, launch, name)
                                           : !write_variants(file, launch, kernels[launch->mapping], name))
      return false;
   return !split || write_variants(file, &plain, rkb_write_finish_kernel,
                                   rkb_arena_format(file->arena, "%s_finish", name));
}

static bool reads(const rkb_graph_t *graph, const rkb_storage_t *storage, uint32_t node, uint32_t input,
                  bool *seen) {
   if (node == input)
      return true;
   if (seen[node] || storage[node].name)
      return false;
   seen[node] = true;
   for (uint32_t i = 0; i < graph->nodes[node].input_count; i++)
      if (reads(graph, storage, graph->nodes[node].inputs[i], input, seen))
         return true;
   return false;
}

/* Whether an output that replaces an input must wait: something later reads the input, or its own launch reads it elsewhere. */
static void find_waits(const rkb_graph_t *graph, const rkb_schedule_t *schedule, bool *through_scratch) {
   for (uint32_t o = 0; o < graph->output_count; o++) {
      uint32_t input = RKB_NO_NODE;
      bool written = false;
      rkb_storage_t *storage = rkb_allocate(graph->node_count + 1, sizeof *storage);
      for (uint32_t n = 0; n < graph->node_count; n++)
         if (graph->nodes[n].kind == RKB_NODE_INPUT &&
             strcmp(graph->nodes[n].tensor, graph->outputs[o].tensor) == 0)
            input = n;
      for (uint32_t l = 0; graph->outputs[o].in_place && input != RKB_NO_NODE && l < schedule->count; l++) {
         const rkb_launch_t *launch = &schedule->launches[l];
         bool seen[RKB_MAX_GRAPH_NODES] = {0};
         for (uint32_t r = 0; r < launch->root_count; r++) {
            through_scratch[o] |= written && reads(graph, storage, launch->roots[r], input, seen);
            if (launch->roots[r] == graph->outputs[o].node)
               through_scratch[o] |= launch->mapping != RKB_MAP_ELEMENT || launch->anchor_count > 0;
         }
         for (uint32_t r = 0; r < launch->root_count; r++) {
            written |= launch->roots[r] == graph->outputs[o].node;
            storage[launch->roots[r]].name = "stored";
         }
      }
      free(storage);
   }
}

/* The last launches bring what waited to its place. */
static void write_waiting(file_t *file, const bool *through_scratch) {
   for (uint32_t o = 0; o < file->graph->output_count; o++) {
      const rkb_output_t *output = &file->graph->outputs[o];
      if (!through_scratch[o])
         continue;
      const char *elements = elements_text(file, output->node), *name = file->graph->nodes[output->node].name,
                 *type = rkb_storage_type(output->dtype);
      rkb_text_format(
         &file->code,
         "/* %s was still read: only now it takes its new values. */\n"
         "__global__ void __launch_bounds__(256) %s_after(const %s *__restrict__ from, %s *to, long long elements) {\n"
         "   const long long i = (long long)blockIdx.x * 256 + threadIdx.x;\n   if (i < elements)\n      to[i] = from[i];\n}\n\n",
         output->tensor, output->tensor, type, type);
      rkb_text_format(
         &file->launches,
         "  - kernel: %s_after\n    grid: \"ceildiv(%s, 256)\"\n    block: 256\n    args: \"%s, %s, %s\"\n",
         output->tensor, elements, name, output->tensor, elements);
   }
}

static const char row_helpers[] =
   "/* Adds what the threads of a row have, in a fixed order; every thread gets the result. */\n"
   "template <int threads> __device__ float row_sum(float part) {\n"
   "   for (int distance = 16; distance > 0; distance /= 2)\n"
   "      part += __shfl_xor_sync(0xffffffffu, part, distance);\n"
   "   if constexpr (threads > 32) {\n"
   "      __shared__ float parts[threads / 32];\n"
   "      __syncthreads(); /* what an earlier call left has been read */\n"
   "      if (threadIdx.x % 32 == 0)\n"
   "         parts[threadIdx.x / 32] = part;\n"
   "      __syncthreads();\n"
   "      part = parts[0];\n"
   "      for (int warp = 1; warp < threads / 32; warp++)\n"
   "         part += parts[warp];\n"
   "   }\n"
   "   return part;\n"
   "}\n\n";
static const char column_helpers[] =
   "/* Adds what the groups of 32 threads have for each column; the first group gets the result. */\n"
   "template <int groups> __device__ float column_sum(float part) {\n"
   "   __shared__ float parts[groups][32];\n"
   "   __syncthreads(); /* what an earlier call left has been read */\n"
   "   parts[threadIdx.x / 32][threadIdx.x % 32] = part;\n"
   "   __syncthreads();\n"
   "   part = parts[0][threadIdx.x % 32];\n"
   "   for (int group = 1; group < groups; group++)\n"
   "      part += parts[group][threadIdx.x % 32];\n"
   "   return part;\n"
   "}\n\n";

static const char before_helper[] =
   "/* The %s of what the threads before have, in a fixed order; whole gets that of all. */\n"
   "template <int threads> __device__ float %s_before(float part, float &whole) {\n"
   "   __shared__ float ends[threads / 32];\n"
   "   const int lane = threadIdx.x %% 32, warp = threadIdx.x / 32;\n"
   "   for (int distance = 1; distance < 32; distance *= 2) {\n"
   "      const float other = __shfl_up_sync(0xffffffffu, part, distance);\n"
   "      part = lane >= distance ? other %c part : part;\n"
   "   }\n"
   "   __syncthreads(); /* what an earlier call left has been read */\n"
   "   if (lane == 31)\n"
   "      ends[warp] = part;\n"
   "   __syncthreads();\n"
   "   float before = %s;\n"
   "   whole = %s;\n"
   "   for (int i = 0; i < threads / 32; i++) {\n"
   "      before = i == warp ? whole : before;\n"
   "      whole %c= ends[i];\n"
   "   }\n"
   "   const float left = __shfl_up_sync(0xffffffffu, part, 1);\n"
   "   return lane == 0 ? before : before %c left;\n"
   "}\n\n";

static void add_before(const char *code, const char *word, char sign, const char *nothing, rkb_text_t *out) {
   char name[24];
   snprintf(name, sizeof name, " %s_before<", word);
   if (strstr(code, name))
      rkb_text_format(out, before_helper, word, word, sign, nothing, nothing, sign, sign);
}

/* The helper for sums, or the same for the largest or smallest. */
static void add_reduction(rkb_text_t *out, const char *helper, const char *word, const char *function) {
   for (const char *c = helper; *c;) {
      if (function && strncmp(c, "_sum(", 5) == 0) {
         rkb_text_format(out, "_%s(", word);
         c += 5;
      } else if (function && strncmp(c, "Adds what", 9) == 0) {
         rkb_text_format(out, "Finds the %s of what", word);
         c += 9;
      } else if (function && strncmp(c, "part += ", 8) == 0) {
         const char *end = strchr(c, ';');
         rkb_text_format(out, "part = %s(part, %.*s)", function, (int)(end - c - 8), c + 8);
         c = end;
      } else
         rkb_text_append(out, c++, 1);
   }
}

/* PyTorch's maximum of NaN and anything is NaN, and fmaxf's is the other number. */
static void add_extremum(const char *code, const char *name, const char *word, const char *opcode, rkb_text_t *out) {
   char call[24], reduction[24];
   snprintf(call, sizeof call, " %s(", name);
   snprintf(reduction, sizeof reduction, "_%s<", word);
   if (strstr(code, call) || strstr(code, reduction))
      rkb_text_format(out,
                      "/* NaN where either is. */\n__device__ __forceinline__ float %s(float a, float b) {\n   float c;\n"
                      "   asm(\"%s.NaN.f32 %%0, %%1, %%2;\" : \"=f\"(c) : \"f\"(a), \"f\"(b));\n   return c;\n}\n\n",
                      name, opcode);
}

static void add_helpers(const char *code, rkb_text_t *out) {
   static const char *const words[] = {"sum", "largest", "smallest"}, *const functions[] = {NULL, "larger",
                                                                                            "smaller"};
   add_extremum(code, "larger", "largest", "max", out);
   add_extremum(code, "smaller", "smallest", "min", out);
   if (strstr(code, "Pack<"))
      rkb_text_add(
         out,
         "/* Neighbouring elements, moved by one access. */\ntemplate <int count, typename type = float> struct alignas(sizeof(type) * count) Pack {\n   type at[count];\n};\n\n");
   for (uint32_t w = 0; w < 3; w++) {
      char name[32];
      snprintf(name, sizeof name, "row_%s<", words[w]);
      if (strstr(code, name))
         add_reduction(out, row_helpers, words[w], functions[w]);
      snprintf(name, sizeof name, "column_%s<", words[w]);
      if (strstr(code, name))
         add_reduction(out, column_helpers, words[w], functions[w]);
   }
   rkb_rank_helpers(code, out);
   rkb_recurrence_helpers(code, out);
   add_before(code, "sum", '+', "0.0f", out);
   add_before(code, "product", '*', "1.0f", out);
   rkb_fragment_helpers(code, out);
   for (uint32_t h = 0; rkb_helper_at(h); h++) {
      char name[32];
      snprintf(name, sizeof name, " %s(", rkb_helper_at(h)->name);
      if (strstr(code, name))
         rkb_text_format(out, "%s\n", rkb_helper_at(h)->text);
   }
}

static char *assemble(file_t *file, const rkb_schedule_t *schedule) {
   rkb_graph_t *graph = file->graph;
   const char *code = rkb_text_get(&file->code);
   rkb_text_t out;
   rkb_text_init(&out, 256u << 10);
   rkb_text_format(&out, "/* rkb-kernel: 1\ntask: %s\ndirection: %s\n", graph->task, graph->direction);
   if (file->scratch.length)
      rkb_text_format(&out, "scratch:\n%s", rkb_text_get(&file->scratch));
   rkb_text_format(&out, "launches:\n%s", rkb_text_get(&file->launches));
   rkb_schedule_print(graph, schedule, &out);
   rkb_text_add(&out, "*/\n");
   if (strstr(code, "INFINITY"))
      rkb_text_add(&out, "#include <math.h>\n");
   if (strstr(code, "__half"))
      rkb_text_add(&out, "#include <cuda_fp16.h>\n");
   if (strstr(code, "__nv_bfloat16"))
      rkb_text_add(&out, "#include <cuda_bf16.h>\n");
   if (strstr(code, "__nv_fp8"))
      rkb_text_add(&out, "#include <cuda_fp8.h>\n");
   rkb_text_add(&out, "\n");
   add_helpers(code, &out);
   rkb_text_add(&out, code);
   if (out.cut)
      snprintf(file->why, sizeof file->why, "the text would be too long");
   return rkb_text_take(&out);
}

int rkb_kernel_write(rkb_graph_t *graph, const rkb_schedule_t *schedule, int64_t shared_bytes, char **text,
                     rkb_error_t *err) {
   file_t file = {.graph = graph, .arena = rkb_arena_new(0), .shared_bytes = shared_bytes};
   bool through_scratch[RKB_MAX_TENSORS] = {0}, good = true;
   file.storage = rkb_arena_array(file.arena, graph->node_count + 1, sizeof *file.storage);
   file.targets = rkb_arena_array(file.arena, graph->node_count + 1, sizeof *file.targets);
   rkb_text_init(&file.code, 256u << 10);
   rkb_text_init(&file.launches, 64u << 10);
   rkb_text_init(&file.scratch, 64u << 10);
   for (uint32_t n = 0; n < graph->node_count; n++)
      if (graph->nodes[n].kind == RKB_NODE_INPUT)
         file.storage[n] = (rkb_storage_t){rkb_writer_beside(file.arena, graph->nodes[n].tensor),
                                           graph->nodes[n].tensor, graph->nodes[n].dtype};
   find_waits(graph, schedule, through_scratch);
   file.one_width = schedule->count > MANY_LAUNCHES;
   for (uint32_t l = 0; good && l < schedule->count; l++) {
      const rkb_launch_t *launch = &schedule->launches[l];
      set_targets(&file, launch, through_scratch);
      good = write_one(&file, launch);
      for (uint32_t r = 0; r < launch->root_count; r++)
         file.storage[launch->roots[r]] = file.targets[launch->roots[r]];
   }
   for (uint32_t o = 0; good && o < graph->output_count; o++)
      if (!file.targets[graph->outputs[o].node].name) {
         good = false;
         snprintf(file.why, sizeof file.why, "no launch writes %s", graph->outputs[o].tensor);
      }
   write_waiting(&file, through_scratch);
   *text = good ? assemble(&file, schedule) : NULL;
   if (*text && file.why[0]) {
      free(*text);
      *text = NULL;
   }
   rkb_text_free(&file.code);
   rkb_text_free(&file.launches);
   rkb_text_free(&file.scratch);
   const int status = *text ? RKB_OK : rkb_fail(err, RKB_ERR_INVALID, "%s", file.why);
   rkb_arena_free(file.arena);
   return status;
}

bool rkb_schedule_is_legal(rkb_graph_t *graph, const rkb_schedule_t *schedule, int64_t shared_bytes) {
   char *text = NULL;
   rkb_error_t ignored;
   const bool legal = rkb_kernel_write(graph, schedule, shared_bytes, &text, &ignored) == RKB_OK;
   free(text);
   return legal;
}
