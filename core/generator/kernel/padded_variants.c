/* Products whose factors have copies in longer rows (padded_variants.h).  One thread for each graph. */
#include "generator/kernel/padded_variants.h"

#include <string.h>
#include "generator/kernel/second_tile.h"
#include "generator/tile/staging.h"
#include "generator/tile/warpgroup_tile.h"

#define MAPS_OF_PRODUCT 2u /* its factors', in a tile; as many of copies, and of a second tile */
#define MAPS_OF_OTHERS 8u  /* at most */

static uint32_t maps_of(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   if ((launch->mapping != RKB_MAP_TENSOR && launch->mapping != RKB_MAP_ONLINE_TENSOR) ||
       launch->decisions[RKB_COPY] != RKB_COPY_TENSOR)
      return 0;
   return launch->mapping == RKB_MAP_TENSOR ? MAPS_OF_PRODUCT * (rkb_launch_has_second_tile(launch) ? 3 : 2) *
                                                 rkb_tensor_variants(graph, launch)
                                            : MAPS_OF_OTHERS;
}

/* Finds a launch's copies where the factors' dims have one order; variant gets the conditions of the order. */
static bool padding_of(const rkb_kernel_file_t *file, const rkb_launch_t *launch, uint32_t order,
                       rkb_variant_t *variant, rkb_padding_t *padding) {
   *variant = (rkb_variant_t){.vector = 1, .suffix = ""};
   variant->condition_count = rkb_staging_layout(file->graph, launch->anchors[0], order, variant->conditions);
   return rkb_padding_of(file->graph, file->arena, file->storage, launch, variant->conditions,
                         variant->condition_count, padding);
}

bool rkb_kernel_pads(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   rkb_padding_t padding;
   rkb_variant_t variant;
   uint32_t maps = 0, padded = 0;
   if (launch->mapping != RKB_MAP_TENSOR || launch->decisions[RKB_COPY] != RKB_COPY_TENSOR ||
       !launch->decisions[RKB_PAD_ROWS])
      return false;
   for (uint32_t l = 0; l < file->schedule->count; l++)
      maps += maps_of(file->graph, &file->schedule->launches[l]);
   const uint32_t orders = rkb_tensor_variants(file->graph, launch);
   while (maps <= RKB_MOST_MAPS && padded < orders && padding_of(file, launch, padded, &variant, &padding))
      padded++;
   return padded == orders;
}

/* The condition under which a factor needs its copy, in the manifest's language; NULL: in all cases. */
static const char *needs_copy(rkb_kernel_file_t *file, const rkb_padded_side_t *side) {
   const rkb_size_t *size = &file->graph->sizes.list[side->whole.size];
   return size->constant ? NULL
                         : rkb_arena_format(file->arena, "(%s) %% %lld != 0", size->text,
                                            (long long)side->whole.multiple);
}

/* Adds the buffer of a copy: one element where the factor needs none. */
static void add_buffer(rkb_kernel_file_t *file, const rkb_padded_side_t *side, const char *needed) {
   const char *row = file->graph->sizes.list[side->whole.size].text, *elements;
   elements = rkb_arena_format(file->arena, "(%s) / (%s) * (ceildiv(%s, %lld) * %lld)",
                               rkb_kernel_elements_text(file, side->stored), row, row,
                               (long long)side->whole.multiple, (long long)side->whole.multiple);
   if (needed)
      elements = rkb_arena_format(file->arena, "if(%s, %s, 1)", needed, elements);
   rkb_kernel_scratch(file, side->name, file->storage[side->stored].dtype, elements);
}

/* Appends one launch that copies a factor, unless there is one already. */
static bool pad_side(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_variant_t *variant,
                     const rkb_padded_side_t *side, rkb_write_kernel_t write, const char *many) {
   const rkb_kernel_shape_t none = {0};
   const char *needed = needs_copy(file, side),
              *when = rkb_kernel_both(file, many,
                                      rkb_kernel_both(file, rkb_kernel_when(file, variant, &none), needed));
   bool has_buffer = false;
   for (uint32_t p = 0; p < file->padded_count; p++) {
      const bool same = strcmp(file->padded[p].name, side->name) == 0;
      if (same && strcmp(file->padded[p].argument, when ? when : "") == 0)
         return true;
      has_buffer |= same;
   }
   if (!has_buffer)
      add_buffer(file, side, needed);
   if (file->padded_count < RKB_MOST_MAPS)
      file->padded[file->padded_count++] =
         (rkb_parameter_text_t){.name = side->name, .argument = when ? when : ""};
   file->also = rkb_kernel_both(file, many, needed);
   const bool good = rkb_kernel_write_variant(
      file, launch, variant, write, rkb_arena_format(file->arena, "%s_rows", side->name), false, true);
   file->also = NULL;
   return good;
}

bool rkb_kernel_pad_factors(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *many) {
   static const rkb_write_kernel_t kernels[] = {rkb_write_padded_m_kernel, rkb_write_padded_n_kernel};
   bool good = true;
   if (!rkb_kernel_pads(file, launch))
      return true;
   for (uint32_t order = 0; order < rkb_tensor_variants(file->graph, launch); order++) {
      rkb_padding_t padding;
      rkb_variant_t variant;
      padding_of(file, launch, order, &variant, &padding);
      for (uint32_t s = 0; s < 2 && good; s++)
         if (padding.sides[s].applies)
            good = pad_side(file, launch, &variant, &padding.sides[s], kernels[s], many);
   }
   file->depends = false;
   return good;
}

/* The sizes whose multiples make copies needless; returns how many there are. */
static uint32_t sizes_of(const rkb_kernel_file_t *file, const rkb_padding_t *padding,
                         rkb_condition_t rows[2]) {
   uint32_t count = 0;
   for (uint32_t s = 0; s < 2; s++) {
      const rkb_condition_t *whole = &padding->sides[s].whole;
      if (padding->sides[s].applies && !file->graph->sizes.list[whole->size].constant &&
          !(count == 1 && rows[0].size == whole->size))
         rows[count++] = *whole;
   }
   return count;
}

/* Writes the kernel for the cases that meet a variant's conditions.  all: also for those that need indices of 64 bits: no case may go on to
 * a kernel that reads copies which it does not have. */
static bool write_one(rkb_kernel_file_t *file, const rkb_launch_t *launch, rkb_variant_t *variant,
                      const char *suffix, bool all, const char *base, bool *other) {
   const bool one_width = file->one_width;
   if (!rkb_indices_possible(file->graph, variant->conditions, variant->condition_count))
      return true;
   variant->suffix = suffix;
   file->one_width |= all; /* few cases come so far */
   const bool good =
      rkb_kernel_write_variant(file, launch, variant, rkb_write_warpgroup_kernel, base, *other, all);
   file->one_width = one_width;
   *other = true;
   return good;
}

/* Adds the conditions of a set of rows to a variant's.  vector: the same variant where sums are stored as vectors.
 * Returns whether there are vectors, in cases that do not belong to a larger set. */
static bool conditions_of(const rkb_kernel_file_t *file, const rkb_launch_t *launch,
                          const rkb_condition_t rows[2], uint32_t count, uint32_t set, rkb_variant_t *single,
                          rkb_variant_t *vector) {
   const rkb_condition_t stored = rkb_tensor_stored_together(file->graph, launch);
   bool larger = false;
   for (uint32_t r = 0; r < count; r++)
      if (set >> r & 1)
         rkb_tensor_add_condition(file->graph, single->conditions, &single->condition_count, rows[r]);
      else
         larger |= stored.size == rows[r].size && stored.multiple % rows[r].multiple == 0;
   *vector = *single;
   return !larger &&
          rkb_tensor_add_condition(file->graph, vector->conditions, &vector->condition_count, stored);
}

bool rkb_kernel_whole_stores(const rkb_kernel_file_t *file, const rkb_launch_t *launch, uint32_t order) {
   rkb_padding_t padding;
   rkb_variant_t single, vector;
   rkb_condition_t rows[2];
   padding_of(file, launch, order, &single, &padding);
   const uint32_t count = sizes_of(file, &padding, rows);
   return conditions_of(file, launch, rows, count, (1u << count) - 1, &single, &vector) &&
          memcmp(&single, &vector, sizeof single) == 0;
}

/* Writes the kernels of one order.  Those that differ in their maps alone are one text (same_kernels.h). */
static bool write_order(rkb_kernel_file_t *file, const rkb_launch_t *launch, uint32_t order, bool whole,
                        const char *base, bool *other) {
   rkb_padding_t padding;
   rkb_variant_t ordered, single, vector;
   rkb_condition_t rows[2];
   bool good = padding_of(file, launch, order, &ordered, &padding);
   const uint32_t count = sizes_of(file, &padding, rows), every = (1u << count) - 1;
   for (uint32_t set = every + 1; set-- > 0 && good;) { /* a set bit: that size is a multiple */
      single = ordered;
      const bool has_vectors = conditions_of(file, launch, rows, count, set, &single, &vector),
                 same = has_vectors && memcmp(&single, &vector, sizeof single) == 0;
      const char *suffix = rkb_arena_format(file->arena, "%u_%u", order + 1, set);
      if (has_vectors && !(set == every && whole))
         good = write_one(file, launch, &vector, rkb_arena_format(file->arena, "_padded_%s", suffix), same,
                          base, other);
      if (good && !same)
         good = write_one(file, launch, &single, rkb_arena_format(file->arena, "_single_%s", suffix), true,
                          base, other);
   }
   return good;
}

bool rkb_kernel_padded_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, uint32_t whole,
                                const char *base, bool other) {
   bool good = true;
   for (uint32_t order = 0; order < rkb_tensor_variants(file->graph, launch) && good; order++)
      good = write_order(file, launch, order, whole >> order & 1, base, &other);
   return good;
}
