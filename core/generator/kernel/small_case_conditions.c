/* Conditions by which small cases have the launches of large ones (small_case_conditions.h). */
#include "generator/kernel/small_case_conditions.h"

#define LEAST_ELEMENTS                                                                                       \
   8192              /* more than the scores of any check case of attention; drawn cases have fewer or more */
#define LEAST_ROW 32 /* elements: a warp has one each */
#define MANY_ROWS 64.0
#define MANY_THREADS 8e6 /* of a launch: the machine takes seconds for them, even if they have nothing to do */
#define RARE_ROW                                                                                             \
   32768 /* elements: few drawn shapes have rows of this length and also meet several other conditions */
#define LEAST_WORK 32768 /* multiply-adds: half of the smallest limit below which a product takes its launch for few */

static bool is_wide(const rkb_kernel_file_t *file, const char *elements) {
   return rkb_sizes_bench_most(&file->graph->sizes, elements) >= RKB_INT_MOST;
}

const char *rkb_reach_wide(rkb_kernel_file_t *file, const char *elements) {
   return is_wide(file, elements) ? rkb_arena_format(file->arena, "%s >= %d", elements, LEAST_ELEMENTS)
                                  : NULL;
}

int64_t rkb_reach_many(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   const rkb_node_t *product = &file->graph->nodes[launch->anchors[0]];
   bool wide = is_wide(file, rkb_kernel_elements_text(file, launch->anchors[0]));
   for (uint32_t i = 0; i < product->input_count; i++)
      wide |= is_wide(file, rkb_kernel_elements_text(file, product->inputs[i]));
   return wide ? LEAST_WORK : 0;
}

/* Whether each case that meets the condition has at least MANY_THREADS threads of launches that add up columns in parts.  Few rows do not
 * mean few threads: a part without rows has a block too. */
static bool has_dear_columns(rkb_kernel_file_t *file, const char *condition) {
   double threads = 0;
   for (uint32_t l = 0; l < file->schedule->count; l++) {
      const rkb_launch_t *launch = &file->schedule->launches[l];
      if (launch->mapping == RKB_MAP_COLUMN && launch->anchor_count)
         threads += rkb_sizes_least(&file->graph->sizes, rkb_kernel_elements_text(file, launch->anchors[0]),
                                    condition) /
                    32 * (double)(launch->decisions[RKB_SPLIT] * launch->decisions[RKB_THREADS]);
   }
   return threads >= MANY_THREADS;
}

/* Whether each case that satisfies the condition is costly.  A case is costly if it has many rows, many blocks that add columns, or a product
 * of many elements (where rows are few, tiles of this product are nearly empty). */
static bool is_dear(rkb_kernel_file_t *file, const char *rows, const char *condition) {
   rkb_sizes_t *sizes = &file->graph->sizes;
   bool dear = rkb_sizes_least(sizes, rows, condition) > MANY_ROWS || has_dear_columns(file, condition);
   for (uint32_t n = 0; n < file->graph->node_count && !dear; n++)
      dear = rkb_node_is_product(&file->graph->nodes[n]) &&
             rkb_sizes_least(sizes, rkb_kernel_elements_text(file, n), condition) >= LEAST_ELEMENTS;
   return dear;
}

const char *rkb_reach_longer(rkb_kernel_file_t *file, const rkb_variant_t *variant,
                             const rkb_kernel_shape_t *shape) {
   rkb_sizes_t *sizes = &file->graph->sizes;
   /* Where there are three launches, the middle one needs rows of its own too. */
   const int least = variant->fewer ? 2 * LEAST_ROW : LEAST_ROW;
   if (!shape->row || shape->most_row < 2 * least ||
       rkb_sizes_bench_most(sizes, shape->row) <= (double)shape->most_row)
      return NULL;
   const char *longer = rkb_arena_format(file->arena, "%s > %lld", shape->row, (long long)shape->most_row);
   const bool rare = shape->most_row >= RARE_ROW && variant->condition_count > 1;
   return rare || is_dear(file, shape->rows, longer)
             ? rkb_arena_format(file->arena, "%s >= %d", shape->row, least)
             : NULL;
}
