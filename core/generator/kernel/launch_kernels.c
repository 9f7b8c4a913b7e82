/* The kernels of one launch, or of launches that share a kernel: their scratch, their names, and the launches
 * before and after them.  One thread for each graph. */
#include "generator/decisions/launch_decisions.h"
#include "generator/kernel/kernel_file.h"

#include <string.h>
#include "generator/online/launch_online.h"
#include "generator/tile/rows_by_matrix.h"
#include "generator/kernel/longer_rows.h"
#include "generator/kernel/padded_variants.h"
#include "generator/row/moments.h"
#include "generator/kernel/second_tile.h"
#include "generator/kernel/small_case_conditions.h"
#include "generator/row/rows.h"
#include "generator/decisions/stored_type.h"
#include "generator/row/row_range_sums.h"
#include "generator/tile/tensor_tile.h"

#define MOST_BYTES 0x1p38 /* most bytes of a buffer: 256 GiB, more than any device has today */

/* Adds the buffer of a value that a launch stores for other launches. */
static void hand_on(rkb_kernel_file_t *file, const rkb_node_t *node, uint32_t dtype, const char *elements) {
   const double bytes = rkb_sizes_bench_most(&file->graph->sizes, elements) * (double)rkb_dtype_bytes(dtype);
   rkb_kernel_scratch(file, node->name, dtype, elements);
   if (bytes > MOST_BYTES)
      snprintf(file->why, sizeof file->why, "%s would take %.3g bytes of memory at a bench case", node->name,
               bytes);
}

void rkb_kernel_set_targets(rkb_kernel_file_t *file, const rkb_launch_t *launch,
                            const bool *through_scratch) {
   rkb_graph_t *graph = file->graph;
   for (uint32_t r = 0; r < launch->root_count; r++) {
      const uint32_t node = launch->roots[r];
      const rkb_output_t *output = NULL;
      for (uint32_t o = 0; o < graph->output_count; o++)
         if (graph->outputs[o].node == node && !through_scratch[o])
            output = &graph->outputs[o];
      const uint32_t dtype = rkb_stored_type(graph, file->schedule, node);
      file->targets[node] = output ? (rkb_storage_t){rkb_writer_beside(file->arena, output->tensor),
                                                     output->tensor, output->dtype}
                                   : (rkb_storage_t){graph->nodes[node].name, NULL, dtype};
      if (!output && !file->only_places)
         hand_on(file, &graph->nodes[node], dtype, rkb_kernel_elements_text(file, node));
   }
}

/* Adds the buffers of a scatter's links: one number for each place, and one for each element that goes to a
 * place. */
static void add_links(rkb_kernel_file_t *file, uint32_t scatter) {
   const rkb_node_t *node = &file->graph->nodes[scatter];
   for (uint32_t next = 0; next < 2; next++) {
      rkb_node_t like = next ? file->graph->nodes[node->inputs[1]] : *node;
      for (uint32_t d = 0; d < like.rank; d++)
         if (!rkb_scatter_varies(file->graph, scatter, d))
            like.shape[d] = rkb_sizes_constant(&file->graph->sizes, 1);
      rkb_text_format(&file->scratch, "  %s_%s: {dtype: int32, shape: \"%s\"%s}\n", node->name,
                      next ? "next" : "first", rkb_kernel_shape_text(file, &like),
                      next ? "" : ", init: zero");
   }
}

/* Adds the buffers of lists of rows (rows_by_matrix.h) and the launch that fills them. */
static bool write_lists(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *name) {
   const uint32_t product = launch->anchors[0];
   rkb_launch_t plain = *launch;
   rkb_writer_t writer;
   plain.decisions[RKB_VECTOR] = 1;
   const bool good = rkb_writer_open(&writer, file->graph, file->arena, file->storage, NULL, 0);
   if (good) {
      rkb_kernel_scratch(file, rkb_rows_by_matrix_rows_name(&writer, product), RKB_I32,
                         rkb_index_manifest(&writer.indices, rkb_rows_by_matrix_rows(&writer, product)));
      rkb_kernel_scratch(
         file, rkb_rows_by_matrix_name(&writer, product), RKB_I32,
         rkb_arena_format(
            file->arena, "2 * (%s)",
            rkb_index_manifest(&writer.indices,
                               rkb_rows_by_matrix_tiles(&writer, product, launch->decisions[RKB_TILE_M]))));
   } else
      snprintf(file->why, sizeof file->why, "%s: %s", name, writer.why);
   rkb_writer_close(&writer);
   return good && rkb_kernel_variants(file, &plain, rkb_write_rows_by_matrix_kernel,
                                      rkb_arena_format(file->arena, "%s_lists", name));
}

static int64_t stretches_of(const rkb_launch_t *launch) {
   return launch->mapping == RKB_MAP_ROW ? launch->decisions[RKB_STRETCHES] : 0;
}

static bool hands_on(const rkb_launch_t *launch) {
   return stretches_of(launch) > 0 || (launch->mapping == RKB_MAP_ROW && launch->decisions[RKB_SEGMENTS]);
}

/* How many elements a buffer of partial sums has. */
static const char *parts_text(rkb_kernel_file_t *file, const rkb_launch_t *launch, uint32_t anchor) {
   if (launch->mapping != RKB_MAP_ROW || !launch->decisions[RKB_SEGMENTS])
      return rkb_arena_format(file->arena, "%lld * %s", (long long)file->parts,
                              rkb_kernel_elements_text(file, anchor));
   rkb_node_t pieces = file->graph->nodes[file->graph->nodes[anchor].inputs[0]];
   pieces.rank = rkb_segment_dim(file->graph, anchor) + 1;
   return rkb_kernel_shape_text(file, &pieces);
}

static int64_t parts_of(const rkb_launch_t *launch) {
   return stretches_of(launch) ? stretches_of(launch) * rkb_stretches_most(launch)
                               : launch->decisions[RKB_SPLIT];
}

static bool is_split(const rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   return rkb_decision_applies(file->graph, launch, RKB_SPLIT) && launch->decisions[RKB_SPLIT] > 1;
}

static rkb_write_kernel_t writer_of(const rkb_launch_t *launch) {
   static const rkb_write_kernel_t kernels[] = {
      [RKB_MAP_ELEMENT] = rkb_write_element_kernel, [RKB_MAP_ROW] = rkb_write_row_kernel,
      [RKB_MAP_COLUMN] = rkb_write_column_kernel,   [RKB_MAP_TILE] = rkb_write_tile_kernel,
      [RKB_MAP_TENSOR] = rkb_write_tensor_kernel,   [RKB_MAP_SCAN] = rkb_write_scan_kernel,
      [RKB_MAP_ONLINE] = rkb_write_online_kernel,   [RKB_MAP_ONLINE_TENSOR] = rkb_write_online_kernel,
      [RKB_MAP_RANK] = rkb_write_rank_kernel,       [RKB_MAP_LINK] = rkb_write_linked_kernel,
      [RKB_MAP_STEPS] = rkb_write_layer_kernel};
   return launch->mapping == RKB_MAP_ELEMENT && launch->decisions[RKB_WINDOW] ? rkb_write_window_kernel
                                                                              : kernels[launch->mapping];
}

/* Finds how many parts a launch with a second tile has in a case: those of the tile that the case takes.  False:
 * not legal. */
static bool prepare_other(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   const char *refused = rkb_second_tile_refused(file->graph, launch, file->shared_bytes);
   if (refused) {
      snprintf(file->why, sizeof file->why, "%s: %s", file->graph->nodes[launch->anchors[0]].name, refused);
      return false;
   }
   const rkb_launch_t other = rkb_second_tile_launch(file->graph, launch, file->shared_bytes);
   const int64_t first = launch->decisions[RKB_SPLIT], second = other.decisions[RKB_SPLIT];
   const char *faster = rkb_second_tile_when(file, launch, &other),
              *name = file->graph->nodes[launch->anchors[0]].name;
   file->parts = first > second ? first : second;
   /* A case where no tensor maps describe the factors of the second tile takes the first tile. */
   if (faster && file->parts > 1)
      rkb_kernel_scratch(file, rkb_arena_format(file->arena, "%s_parts", name), RKB_F32,
                         first < second ? rkb_arena_format(file->arena, "if(%s, %lld, %lld) * %s", faster,
                                                           (long long)second, (long long)first,
                                                           rkb_kernel_elements_text(file, launch->anchors[0]))
                                        : parts_text(file, launch, launch->anchors[0]));
   return faster != NULL;
}

/* How many stretches a case has.  Each stretch has at least one row; otherwise most parts of a case of few rows would be empty.  If a row is
 * kept by some factor fewer threads, there is room for as many times more blocks. */
static const char *stretches_text(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   rkb_rows_t rows = {.launch = launch};
   rkb_writer_t writer;
   const char *text = NULL;
   const int64_t *d = launch->decisions, most = stretches_of(launch) * rkb_stretches_most(launch);
   if (rkb_writer_open(&writer, file->graph, file->arena, file->storage, NULL, 0)) {
      rkb_rows_measure(&writer, &rows);
      text = rkb_arena_format(file->arena, "%lld", (long long)most);
      if (rkb_stretches_most(launch) > 1)
         text = rkb_arena_format(file->arena, "if(%s <= %lld, %lld, %lld)",
                                 rkb_index_manifest(&writer.indices, rows.length),
                                 (long long)(d[RKB_KEEP] * d[RKB_THREADS] / d[RKB_SHORTER] * d[RKB_VECTOR]),
                                 (long long)most, (long long)stretches_of(launch));
      text =
         rkb_arena_format(file->arena, "min(%s, %s)", text, rkb_index_manifest(&writer.indices, rows.count));
   }
   rkb_writer_close(&writer);
   return text;
}

/* Adds a launch's scratch and returns what its kernels' names begin with.  NULL: not legal. */
static const char *prepare(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   static const char *const words[] = {[RKB_MAP_ELEMENT] = "elements", [RKB_MAP_ROW] = "rows",
                                       [RKB_MAP_COLUMN] = "columns",   [RKB_MAP_TILE] = "tiles",
                                       [RKB_MAP_TENSOR] = "fragments", [RKB_MAP_SCAN] = "lines",
                                       [RKB_MAP_ONLINE] = "online",    [RKB_MAP_ONLINE_TENSOR] = "online",
                                       [RKB_MAP_RANK] = "ranks",       [RKB_MAP_LINK] = "linked",
                                       [RKB_MAP_STEPS] = "steps"};
   const char *refused = rkb_launch_refused(file->graph, launch, file->shared_bytes);
   const char *name =
      rkb_arena_format(file->arena, "%s_%s", file->targets[launch->roots[0]].name, words[launch->mapping]);
   file->parts = parts_of(launch);
   file->stretches = !refused && stretches_of(launch) ? stretches_text(file, launch) : NULL;
   if (refused || (launch->mapping != RKB_MAP_ELEMENT && !launch->anchor_count)) {
      snprintf(file->why, sizeof file->why, "%s: %s", name, refused ? refused : "it computes nothing");
      return NULL;
   }
   if (rkb_launch_has_second_tile(launch))
      return prepare_other(file, launch) ? name : NULL;
   const bool split = is_split(file, launch);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      if (split || (hands_on(launch) && rkb_row_hands_on(file->graph, launch, a)))
         rkb_kernel_scratch(
            file, rkb_arena_format(file->arena, "%s_parts", file->graph->nodes[launch->anchors[a]].name),
            RKB_F32, parts_text(file, launch, launch->anchors[a]));
   uint32_t mean = 0;
   if (split && launch->decisions[RKB_MOMENTS] &&
       rkb_launch_moments(file->graph, launch, &mean) < launch->anchor_count)
      rkb_kernel_scratch(
         file, rkb_arena_format(file->arena, "%s_counts", file->graph->nodes[launch->anchors[mean]].name),
         RKB_F32,
         rkb_arena_format(file->arena, "%lld * %s", (long long)launch->decisions[RKB_SPLIT],
                          rkb_kernel_elements_text(file, launch->anchors[mean])));
   return name;
}

/* Makes the launch that adds another launch's parts; it is written alone or shares a kernel with others.  plain:
 * receives the launch.  False: no such launch is needed. */
static bool finish_of(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *name,
                      rkb_launch_t *plain, rkb_kernel_part_t *part) {
   const bool stretches = hands_on(launch);
   *plain = *launch;
   plain->decisions[RKB_VECTOR] = 1;
   plain->decisions[RKB_KEEP] = stretches ? 0 : plain->decisions[RKB_KEEP];
   *part = (rkb_kernel_part_t){.launch = plain,
                               .write = stretches ? rkb_write_stretches_kernel : rkb_write_finish_kernel,
                               .name = rkb_arena_format(file->arena, "%s_finish", name),
                               .parts = parts_of(launch)};
   return stretches || is_split(file, launch);
}

#define SEVERAL_SMALL 4        /* products of a schedule that have a kernel for few multiply-adds */
#define LEAST_SMALL (64 << 10) /* multiply-adds: the least value of `small` */

/* Conditions on a case's number of multiply-adds; NULL: no product has a kernel of its own for few of
 * them. */
typedef struct small {
   const char *few, *many;
} small_t;

static bool is_small(const rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   return rkb_decision_applies(file->graph, launch, RKB_SMALL) && launch->decisions[RKB_SMALL] > 0;
}

/* Up to how many multiply-adds a case takes the launch's kernel for few.  A schedule of many products uses the least bound for all: a shape
 * whose smallest product exceeds a larger bound has far more work in all, and is too costly to be executed whole. */
static int64_t most_small(const rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   uint32_t count = 0;
   for (uint32_t l = 0; l < file->schedule->count; l++)
      count += is_small(file, &file->schedule->launches[l]);
   const int64_t most = launch->decisions[RKB_SMALL] << 10;
   return count > SEVERAL_SMALL && most > LEAST_SMALL ? LEAST_SMALL : most;
}

static small_t small_of(rkb_kernel_file_t *file, const rkb_launch_t *launches, uint32_t count) {
   const char *work = NULL;
   int64_t most = INT64_MAX, least = 0;
   for (uint32_t i = 0; i < count; i++) {
      if (!is_small(file, &launches[i]))
         continue;
      const int64_t own_least = rkb_reach_many(file, &launches[i]);
      least = own_least > least ? own_least : least;
      const char *own = rkb_kernel_work(file, &launches[i]);
      work = work ? rkb_arena_format(file->arena, "%s + %s", work, own) : own;
      const int64_t own_most = most_small(file, &launches[i]);
      most = own_most < most ? own_most : most;
   }
   if (!work)
      return (small_t){NULL, NULL};
   const char *few = rkb_arena_format(file->arena, "%s <= %lld", work, (long long)most);
   return least ? (small_t){rkb_arena_format(file->arena, "%s and %s >= %lld", few, work, (long long)least),
                            rkb_arena_format(file->arena, "(%s > %lld or %s < %lld)", work, (long long)most,
                                             work, (long long)least)}
                : (small_t){few, rkb_arena_format(file->arena, "%s > %lld", work, (long long)most)};
}

/* Writes the kernels of a launch's second tile.  Returns the condition under which a case takes one of them;
 * NULL: not legal. */
static const char *write_other(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *name,
                               rkb_launch_t *other) {
   *other = rkb_second_tile_launch(file->graph, launch, file->shared_bytes);
   const char *faster = rkb_second_tile_when(file, launch, other),
              *taken = faster ? rkb_kernel_second_tile_variants(file, other, name, faster) : NULL;
   file->goes_on = true;
   return taken;
}

/* Writes the kernels of a launch whose long rows are split: the parts of longer rows, the launch that adds
 * them, their elements, and the rows of clusters.  Each is for cases of its own. */
static bool write_longer(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   const bool none[RKB_MAX_TENSORS] = {0};
   const rkb_launch_t parts = rkb_longer_parts(launch), elements = rkb_longer_elements(launch),
                      clusters = rkb_longer_clusters(launch);
   const char *refused = rkb_launch_refused(file->graph, launch, file->shared_bytes);
   if (refused) {
      snprintf(file->why, sizeof file->why, "%s: %s", file->graph->nodes[launch->anchors[0]].name, refused);
      return false;
   }
   const char *when = rkb_longer_when(file, launch), *name = file->targets[launch->roots[0]].name;
   rkb_kernel_set_targets(file, &parts, none);
   const char *parts_name = when ? prepare(file, &parts) : NULL;
   rkb_launch_t plain;
   rkb_kernel_part_t finish;
   if (!parts_name)
      return false;
   file->also = when;
   bool good = rkb_kernel_variants(file, &parts, rkb_write_row_kernel, parts_name) &&
               finish_of(file, &parts, parts_name, &plain, &finish) &&
               rkb_kernel_variants(file, &plain, finish.write, finish.name);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      file->storage[launch->anchors[a]] = file->targets[launch->anchors[a]];
   good = good && rkb_kernel_variants(file, &elements, rkb_write_element_kernel,
                                      rkb_arena_format(file->arena, "%s_elements", name));
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      file->storage[launch->anchors[a]] = (rkb_storage_t){0};
   file->also = rkb_arena_format(file->arena, "not (%s)", when);
   file->parts = 1;
   good = good && rkb_kernel_variants(file, &clusters, rkb_write_row_kernel,
                                      rkb_arena_format(file->arena, "%s_rows", name));
   file->also = NULL;
   return good;
}

bool rkb_kernel_write_one(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   file->depends = false;
   if (rkb_launch_has_longer(launch))
      return write_longer(file, launch);
   const char *name = prepare(file, launch);
   rkb_launch_t plain = *launch;
   rkb_kernel_part_t finish;
   if (!name)
      return false;
   plain.decisions[RKB_VECTOR] = 1;
   const small_t small = small_of(file, launch, 1);
   if (!rkb_kernel_pad_factors(file, launch, small.many))
      return false;
   if (small.few && !rkb_kernel_small(file, launch, name, small.few))
      return false;
   file->goes_on = small.few != NULL;
   if (launch->mapping == RKB_MAP_TENSOR && launch->decisions[RKB_LISTED] && !write_lists(file, launch, name))
      return false;
   rkb_launch_t other = {0}, plain_other;
   const char *second = NULL, *other_name = rkb_arena_format(file->arena, "%s_other", name);
   if (rkb_launch_has_second_tile(launch) && !(second = write_other(file, launch, other_name, &other)))
      return false;
   if (launch->mapping == RKB_MAP_LINK) {
      add_links(file, launch->anchors[0]);
      if (!rkb_kernel_variants(
             file, &plain, rkb_write_link_kernel,
             rkb_arena_format(file->arena, "%s_links", file->graph->nodes[launch->anchors[0]].name)))
         return false;
   }
   if (launch->mapping == RKB_MAP_ONLINE || launch->mapping == RKB_MAP_ONLINE_TENSOR
          ? !rkb_kernel_online_variants(file, launch, name)
       : launch->mapping == RKB_MAP_TENSOR ? !rkb_kernel_tensor_variants(file, launch, name)
       : launch->mapping == RKB_MAP_RANK && launch->decisions[RKB_KEEP]
          ? !rkb_kernel_rank_variants(file, launch, name)
          : !rkb_kernel_variants(file, launch, writer_of(launch), name))
      return false;
   if (second && finish_of(file, &other, other_name, &plain_other, &finish)) {
      file->also = second;
      if (!rkb_kernel_variants(file, &plain_other, finish.write, finish.name))
         return false;
      file->goes_on = true;
   }
   file->also = file->goes_on ? NULL
                : second      ? rkb_arena_format(file->arena, "not (%s)", second)
                              : small.many;
   const bool good = !finish_of(file, launch, name, &plain, &finish) ||
                     rkb_kernel_variants(file, &plain, finish.write, finish.name);
   file->goes_on = false;
   file->also = NULL;
   return good;
}

bool rkb_kernel_write_group(rkb_kernel_file_t *file, const rkb_launch_t *launches, uint32_t count) {
   file->depends = false;
   rkb_kernel_part_t *parts = rkb_arena_array(file->arena, count, sizeof *parts),
                     *finishes = rkb_arena_array(file->arena, count, sizeof *finishes);
   rkb_launch_t *plain = rkb_arena_array(file->arena, count, sizeof *plain);
   uint32_t finish_count = 0;
   for (uint32_t i = 0; i < count; i++) {
      const char *name = prepare(file, &launches[i]);
      if (!name)
         return false;
      parts[i] = (rkb_kernel_part_t){.launch = &launches[i],
                                     .write = writer_of(&launches[i]),
                                     .name = name,
                                     .parts = parts_of(&launches[i])};
      finish_count += finish_of(file, &launches[i], name, &plain[i], &finishes[finish_count]);
      if (file->stretches) {
         snprintf(file->why, sizeof file->why,
                  "%s has more blocks for shorter rows, and so a kernel of its own", name);
         return false;
      }
   }
   const small_t small = small_of(file, launches, count);
   for (uint32_t i = 0; i < count && small.few; i++)
      if (!is_small(file, &launches[i]) && (is_split(file, &launches[i]) || hands_on(&launches[i]))) {
         snprintf(file->why, sizeof file->why, "%s has parts that small products beside it do not have",
                  parts[i].name);
         return false;
      }
   const char *others_fit = NULL;
   if (!rkb_kernel_beside(file, parts, count, small.few, &others_fit))
      return false;
   /* Cases that do not take the kernel for few multiply-adds have parts of sums, which a launch adds. */
   file->also = small.few && others_fit ? rkb_arena_format(file->arena, "not (%s and %s)", small.few, others_fit) : small.many;
   file->parts = finish_count ? finishes[0].parts : 0;
   const bool good = finish_count > 1
                        ? rkb_kernel_beside(file, finishes, finish_count, NULL, NULL)
                        : !finish_count || rkb_kernel_variants(file, finishes[0].launch, finishes[0].write,
                                                               finishes[0].name);
   file->also = NULL;
   return good;
}
