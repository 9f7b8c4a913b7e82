/* The variants of one launch: a kernel and its entries in the manifest for each.  tensor_variants.c has those
 * of launches by tensor cores.  One thread for each graph. */
#include "generator/kernel/kernel_file.h"

#include <string.h>
#include "generator/element/channelwise.h"
#include "generator/text/fragments.h"
#include "generator/online/launch_online.h"
#include "generator/online/online_nodes.h"
#include "generator/kernel/small_case_conditions.h"
#include "generator/row/row_range_sums.h"
#include "generator/tile/tensor_tile.h"

#define MOST_UNROLLED 11 /* most places of a window's side that are unrolled */

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
   when = rkb_kernel_both(file, when, shape->when);
   return variant->keep ? rkb_kernel_both(file, when, rkb_reach_longer(file, variant, shape)) : when;
}

bool rkb_kernel_write_variant(rkb_kernel_file_t *file, const rkb_launch_t *launch,
                              const rkb_variant_t *variant, rkb_write_kernel_t write, const char *base,
                              bool other, bool last) {
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
         vector->conditions[vector->condition_count++] = (rkb_condition_t){
            .size = sizes[i], .multiple = vector->vector * (i == 0 ? rkb_parts_of_row(launch) : 1)};
   return count > 0 && rkb_indices_possible(file->graph, vector->conditions, vector->condition_count);
}

/* Writes a kernel with unrolled loops for each size of the window, for vectors or for single channels.
 * other: whether a kernel of the launch comes before. */
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
      if (!rkb_kernel_write_variant(file, launch, &variant, rkb_write_strip_kernel, base, *other, false))
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
   return (!wide || write_strips(file, launch, &vector, base, &other)) &&
          write_strips(file, launch, &plain, base, &other) &&
          rkb_kernel_write_variant(file, launch, &plain, write, base, other, true);
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

/* Writes the kernel whose threads own a vector of several neighbouring rows, where that many divide the rows.
 * *other: whether it was written. */
static bool write_lines(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_variant_t *vector,
                        rkb_write_kernel_t write, const char *base, bool *other) {
   const rkb_node_t *node = &file->graph->nodes[launch->roots[0]];
   rkb_variant_t variant = *vector;
   variant.suffix = "_lines";
   *other = false;
   if (variant.condition_count == RKB_TENSOR_CONDITIONS)
      return true;
   if (!file->graph->sizes.list[node->shape[node->rank - 2]].constant)
      variant.conditions[variant.condition_count++] =
         (rkb_condition_t){.size = node->shape[node->rank - 2], .multiple = launch->decisions[RKB_LINES]};
   *other = rkb_indices_possible(file->graph, variant.conditions, variant.condition_count);
   return !*other || rkb_kernel_write_variant(file, launch, &variant, write, base, false, false);
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
   rkb_launch_t own = of_warps(given);
   const rkb_launch_t *launch = &own;
   if (launch->mapping == RKB_MAP_ELEMENT && launch->decisions[RKB_STRIP])
      return write_channelwise(file, launch, write, base);
   rkb_variant_t vector;
   const bool count = vector_variant(file, launch, &vector);
   const int64_t keep = vector.keep;
   const bool always = count && vector.condition_count == 0;
   bool other = false;
   if (count && launch->decisions[RKB_LINES] > 1 && !write_lines(file, launch, &vector, write, base, &other))
      return false;
   own.decisions[RKB_LINES] = 1;
   if (count && keep / launch->decisions[RKB_SHORTER] > 1 && launch->decisions[RKB_CLUSTER] > 1 &&
       launch->decisions[RKB_PREFETCH]) {
      /* A cluster owns many short rows, one after the other; with more kept loads, most would be empty in each row. */
      rkb_variant_t least = vector;
      least.keep = 1;
      least.suffix = "_vector_kept_shortest";
      least.fewer = true;
      if (!rkb_kernel_write_variant(file, launch, &least, write, base, false, false))
         return false;
      file->goes_on = true;
   }
   if (count && keep && launch->decisions[RKB_SHORTER] > 1) {
      /* Rows that need fewer threads, or less of a cluster's memory. */
      rkb_launch_t shorter = *launch;
      rkb_variant_t fewer = vector;
      if (launch->decisions[RKB_CLUSTER] > 1)
         fewer.keep /= launch->decisions[RKB_SHORTER];
      else {
         /* Where rows lie in shared memory, first each thread keeps less, and only then are there fewer threads:
          * with more threads, more of the waiting for memory is hidden. */
         const int64_t less = !rkb_rows_are_staged(launch)            ? 1
                              : keep < launch->decisions[RKB_SHORTER] ? keep
                                                                      : launch->decisions[RKB_SHORTER];
         fewer.keep /= less;
         shorter.decisions[RKB_THREADS] /= launch->decisions[RKB_SHORTER] / less;
      }
      fewer.suffix = "_vector_kept_shorter";
      fewer.fewer = true;
      if (!rkb_kernel_write_variant(file, &shorter, &fewer, write, base, false, false))
         return false;
      file->goes_on = true;
   }
   if (count && !rkb_kernel_write_variant(file, launch, &vector, write, base, other, always && !keep))
      return false;
   if (count && keep) { /* rows that are too long to be kept */
      vector.keep = 0;
      vector.suffix = "_vector";
      if (!rkb_kernel_write_variant(file, launch, &vector, write, base, true, always))
         return false;
   }
   const rkb_variant_t kept = {.vector = 1, .keep = keep, .suffix = "_kept"}, plain = {.vector = 1, .suffix = ""};
   if (!count && keep && !rkb_kernel_write_variant(file, launch, &kept, write, base, false, false))
      return false;
   return always || rkb_kernel_write_variant(file, launch, &plain, write, base, count || keep, true);
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
      if (!rkb_kernel_write_variant(file, launch, &warps, rkb_write_rank_kept_kernel, base, false, false))
         return false;
      file->goes_on = true;
   }
   if (wide &&
       !rkb_kernel_write_variant(file, &blocks, &vector, rkb_write_rank_kept_kernel, base, false, always))
      return false;
   return always ||
          rkb_kernel_write_variant(file, &blocks, &plain, rkb_write_rank_kept_kernel, base, wide, true);
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
      if (!rkb_kernel_write_variant(file, launch, &variant, rkb_write_online_kernel, base, h > 0, true))
         return false;
   }
   return count > 0;
}
