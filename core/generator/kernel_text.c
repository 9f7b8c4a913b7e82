/* Writes a schedule as a kernel file.  One thread for each graph. */
#include "generator/kernel_text.h"
#include "generator/moments.h"
#include "generator/other_tile.h"

#include <stdlib.h>
#include <string.h>
#include "generator/helper_text.h"
#include "generator/kernel_file.h"
#include "generator/launch_online.h"
#include "generator/lists.h"
#include "generator/longer_rows.h"
#include "generator/rows.h"
#include "generator/stored_type.h"
#include "generator/stretches.h"
#include "generator/tensor_tile.h"

#define MOST_BYTES 0x1p38 /* most bytes of a buffer: 256 GiB, more than any device has today */
#define MANY_LAUNCHES 20u /* a manifest has at most 64 entries, and a launch up to three of them */

/* Adds the buffer of a value that a launch hands on to other launches. */
static void hand_on(rkb_kernel_file_t *file, const rkb_node_t *node, uint32_t dtype, const char *elements) {
   const double bytes = rkb_sizes_bench_most(&file->graph->sizes, elements) * (double)rkb_dtype_bytes(dtype);
   rkb_kernel_scratch(file, node->name, dtype, elements);
   if (bytes > MOST_BYTES)
      snprintf(file->why, sizeof file->why, "%s would take %.3g bytes of memory at a bench case", node->name,
               bytes);
}

static void set_targets(rkb_kernel_file_t *file, const rkb_launch_t *launch, const bool *through_scratch) {
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
      if (!output)
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
      rkb_text_format(&file->scratch, "  %s_%s: {dtype: int32, shape: \"%s\"%s}\n", node->name, next ? "next" : "first",
                      rkb_kernel_shape_text(file, &like), next ? "" : ", init: zero");
   }
}

/* Adds the buffers of lists of rows (lists.h) and the launch that fills them. */
static bool write_lists(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *name) {
   const uint32_t product = launch->anchors[0];
   rkb_launch_t plain = *launch;
   rkb_writer_t writer;
   plain.decisions[RKB_VECTOR] = 1;
   const bool good = rkb_writer_open(&writer, file->graph, file->arena, file->storage, NULL, 0);
   if (good) {
      rkb_kernel_scratch(file, rkb_lists_rows_name(&writer, product), RKB_I32, file->graph->sizes.list[file->graph->nodes[product].shape[0]].text);
      rkb_kernel_scratch(file, rkb_lists_name(&writer, product), RKB_I32,
                  rkb_arena_format(file->arena, "2 * (%s)",
                                   rkb_index_manifest(&writer.indices, rkb_lists_tiles(&writer, product, launch->decisions[RKB_TILE_M]))));
   } else
      snprintf(file->why, sizeof file->why, "%s: %s", name, writer.why);
   rkb_writer_close(&writer);
   return good && rkb_kernel_variants(file, &plain, rkb_write_lists_kernel, rkb_arena_format(file->arena, "%s_lists", name));
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
      return rkb_arena_format(file->arena, "%lld * %s", (long long)file->parts, rkb_kernel_elements_text(file, anchor));
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
   static const rkb_write_kernel_t kernels[] = {[RKB_MAP_ELEMENT] = rkb_write_element_kernel,
                                            [RKB_MAP_ROW] = rkb_write_row_kernel,
                                            [RKB_MAP_COLUMN] = rkb_write_column_kernel,
                                            [RKB_MAP_TILE] = rkb_write_tile_kernel,
                                            [RKB_MAP_TENSOR] = rkb_write_tensor_kernel,
                                            [RKB_MAP_SCAN] = rkb_write_scan_kernel,
                                            [RKB_MAP_ONLINE] = rkb_write_online_kernel,
                                            [RKB_MAP_ONLINE_TENSOR] = rkb_write_online_kernel,
                                            [RKB_MAP_RANK] = rkb_write_rank_kernel,
                                            [RKB_MAP_LINK] = rkb_write_linked_kernel};
   return launch->mapping == RKB_MAP_ELEMENT && launch->decisions[RKB_WINDOW] ? rkb_write_window_kernel : kernels[launch->mapping];
}

/* Finds the parts of a launch with a second tile: as many as the tile that the case takes has.  False: not
 * legal. */
static bool prepare_other(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   const char *refused = rkb_other_refused(file->graph, launch, file->shared_bytes);
   if (refused) {
      snprintf(file->why, sizeof file->why, "%s: %s", file->graph->nodes[launch->anchors[0]].name, refused);
      return false;
   }
   const rkb_launch_t other = rkb_other_launch(file->graph, launch, file->shared_bytes);
   const int64_t first = launch->decisions[RKB_SPLIT], second = other.decisions[RKB_SPLIT];
   const char *faster = rkb_other_when(file, launch, &other), *name = file->graph->nodes[launch->anchors[0]].name;
   file->parts = first > second ? first : second;
   /* A case where no tensor maps describe the factors of the second tile takes the first tile. */
   if (faster && file->parts > 1)
      rkb_kernel_scratch(file, rkb_arena_format(file->arena, "%s_parts", name), RKB_F32,
                         first < second ? rkb_arena_format(file->arena, "if(%s, %lld, %lld) * %s", faster, (long long)second, (long long)first,
                                                    rkb_kernel_elements_text(file, launch->anchors[0]))
                                 : parts_text(file, launch, launch->anchors[0]));
   return faster != NULL;
}

/* How many stretches a case has.  Where fewer threads keep a row, there is room for as many times more
 * blocks. */
static const char *stretches_text(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   rkb_rows_t rows = {.launch = launch};
   rkb_writer_t writer;
   const char *text = NULL;
   const int64_t *d = launch->decisions, most = stretches_of(launch) * rkb_stretches_most(launch);
   if (rkb_writer_open(&writer, file->graph, file->arena, file->storage, NULL, 0)) {
      rkb_rows_measure(&writer, &rows);
      text = rkb_arena_format(file->arena, "if(%s <= %lld, %lld, %lld)",
                              rkb_index_manifest(&writer.indices, rows.length),
                              (long long)(d[RKB_KEEP] * d[RKB_THREADS] / d[RKB_SHORTER] * d[RKB_VECTOR]),
                              (long long)most, (long long)stretches_of(launch));
   }
   rkb_writer_close(&writer);
   return text;
}

/* Adds a launch's scratch and returns what its kernels' names begin with.  NULL: not legal. */
static const char *prepare(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   static const char *const words[] = {[RKB_MAP_ELEMENT] = "elements",
                                       [RKB_MAP_ROW] = "rows",
                                       [RKB_MAP_COLUMN] = "columns",
                                       [RKB_MAP_TILE] = "tiles",
                                       [RKB_MAP_TENSOR] = "fragments",
                                       [RKB_MAP_SCAN] = "lines",
                                       [RKB_MAP_ONLINE] = "online",
                                       [RKB_MAP_ONLINE_TENSOR] = "online",
                                       [RKB_MAP_RANK] = "ranks",
                                       [RKB_MAP_LINK] = "linked"};
   const char *refused = rkb_launch_refused(file->graph, launch, file->shared_bytes);
   const char *name =
      rkb_arena_format(file->arena, "%s_%s", file->targets[launch->roots[0]].name, words[launch->mapping]);
   file->parts = parts_of(launch);
   file->stretches = !refused && stretches_of(launch) && rkb_stretches_most(launch) > 1
                        ? stretches_text(file, launch)
                        : NULL;
   if (refused || (launch->mapping != RKB_MAP_ELEMENT && !launch->anchor_count)) {
      snprintf(file->why, sizeof file->why, "%s: %s", name, refused ? refused : "it computes nothing");
      return NULL;
   }
   if (rkb_launch_has_other(launch))
      return prepare_other(file, launch) ? name : NULL;
   const bool split = is_split(file, launch);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      if (split || (hands_on(launch) && rkb_row_hands_on(file->graph, launch, a)))
         rkb_kernel_scratch(file,
                     rkb_arena_format(file->arena, "%s_parts", file->graph->nodes[launch->anchors[a]].name),
                     RKB_F32, parts_text(file, launch, launch->anchors[a]));
   uint32_t mean = 0;
   if (split && launch->decisions[RKB_MOMENTS] && rkb_launch_moments(file->graph, launch, &mean) < launch->anchor_count)
      rkb_kernel_scratch(file, rkb_arena_format(file->arena, "%s_counts", file->graph->nodes[launch->anchors[mean]].name), RKB_F32,
                  rkb_arena_format(file->arena, "%lld * %s", (long long)launch->decisions[RKB_SPLIT],
                                   rkb_kernel_elements_text(file, launch->anchors[mean])));
   return name;
}

/* Makes the launch that adds another launch's parts, to be written beside others or alone.  plain: where it
 * is made.  False: no such launch is needed. */
static bool finish_of(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *name, rkb_launch_t *plain, rkb_kernel_part_t *part) {
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

/* Conditions on a case's number of multiply-adds; NULL: no product has a kernel of its own for few of
 * them. */
typedef struct small {
   const char *few, *many;
} small_t;

static bool is_small(const rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   return rkb_decision_applies(file->graph, launch, RKB_SMALL) && launch->decisions[RKB_SMALL] > 0;
}

static small_t small_of(rkb_kernel_file_t *file, const rkb_launch_t *launches, uint32_t count) {
   const char *work = NULL;
   int64_t most = INT64_MAX;
   for (uint32_t i = 0; i < count; i++) {
      if (!is_small(file, &launches[i]))
         continue;
      const char *own = rkb_kernel_work(file, &launches[i]);
      work = work ? rkb_arena_format(file->arena, "%s + %s", work, own) : own;
      most = launches[i].decisions[RKB_SMALL] << 10 < most ? launches[i].decisions[RKB_SMALL] << 10 : most;
   }
   return work ? (small_t){rkb_arena_format(file->arena, "%s <= %lld", work, (long long)most),
                           rkb_arena_format(file->arena, "%s > %lld", work, (long long)most)}
               : (small_t){NULL, NULL};
}

/* Writes the kernels of a launch's second tile.  Returns the condition under which a case takes one of them;
 * NULL: not legal. */
static const char *write_other(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *name, rkb_launch_t *other) {
   *other = rkb_other_launch(file->graph, launch, file->shared_bytes);
   const char *faster = rkb_other_when(file, launch, other), *taken = faster ? rkb_kernel_other_variants(file, other, name, faster) : NULL;
   file->goes_on = true;
   return taken;
}

/* Writes the kernels of a launch whose long rows are split: the parts of longer rows, the launch that adds
 * them, their elements, and the rows of clusters.  Each is for cases of its own. */
static bool write_longer(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
   const bool none[RKB_MAX_TENSORS] = {0};
   const rkb_launch_t parts = rkb_longer_parts(launch), elements = rkb_longer_elements(launch), clusters = rkb_longer_clusters(launch);
   const char *refused = rkb_launch_refused(file->graph, launch, file->shared_bytes);
   if (refused) {
      snprintf(file->why, sizeof file->why, "%s: %s", file->graph->nodes[launch->anchors[0]].name, refused);
      return false;
   }
   const char *when = rkb_longer_when(file, launch), *name = file->targets[launch->roots[0]].name;
   set_targets(file, &parts, none);
   const char *parts_name = when ? prepare(file, &parts) : NULL;
   rkb_launch_t plain;
   rkb_kernel_part_t finish;
   if (!parts_name)
      return false;
   file->also = when;
   bool good = rkb_kernel_variants(file, &parts, rkb_write_row_kernel, parts_name) && finish_of(file, &parts, parts_name, &plain, &finish) &&
               rkb_kernel_variants(file, &plain, finish.write, finish.name);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      file->storage[launch->anchors[a]] = file->targets[launch->anchors[a]];
   good = good && rkb_kernel_variants(file, &elements, rkb_write_element_kernel, rkb_arena_format(file->arena, "%s_elements", name));
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      file->storage[launch->anchors[a]] = (rkb_storage_t){0};
   file->also = rkb_arena_format(file->arena, "not (%s)", when);
   file->parts = 1;
   good = good && rkb_kernel_variants(file, &clusters, rkb_write_row_kernel, rkb_arena_format(file->arena, "%s_rows", name));
   file->also = NULL;
   return good;
}

static bool write_one(rkb_kernel_file_t *file, const rkb_launch_t *launch) {
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
   if (small.few && !rkb_kernel_small(file, launch, name, small.few))
      return false;
   file->goes_on = small.few != NULL;
   if (launch->mapping == RKB_MAP_TENSOR && launch->decisions[RKB_LISTED] && !write_lists(file, launch, name))
      return false;
   rkb_launch_t other = {0}, plain_other;
   const char *second = NULL, *other_name = rkb_arena_format(file->arena, "%s_other", name);
   if (rkb_launch_has_other(launch) && !(second = write_other(file, launch, other_name, &other)))
      return false;
   if (launch->mapping == RKB_MAP_LINK) {
      add_links(file, launch->anchors[0]);
      if (!rkb_kernel_variants(file, &plain, rkb_write_link_kernel, rkb_arena_format(file->arena, "%s_links", file->graph->nodes[launch->anchors[0]].name)))
         return false;
   }
   if (launch->mapping == RKB_MAP_ONLINE || launch->mapping == RKB_MAP_ONLINE_TENSOR ? !rkb_kernel_online_variants(file, launch, name)
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
   file->also = file->goes_on ? NULL : second ? rkb_arena_format(file->arena, "not (%s)", second) : small.many;
   const bool good = !finish_of(file, launch, name, &plain, &finish) || rkb_kernel_variants(file, &plain, finish.write, finish.name);
   file->goes_on = false;
   file->also = NULL;
   return good;
}

/* Writes launches that share a kernel, then the launches that add their parts. */
static bool write_group(rkb_kernel_file_t *file, const rkb_launch_t *launches, uint32_t count) {
   file->depends = false;
   rkb_kernel_part_t *parts = rkb_arena_array(file->arena, count, sizeof *parts), *finishes = rkb_arena_array(file->arena, count, sizeof *finishes);
   rkb_launch_t *plain = rkb_arena_array(file->arena, count, sizeof *plain);
   uint32_t finish_count = 0;
   for (uint32_t i = 0; i < count; i++) {
      const char *name = prepare(file, &launches[i]);
      if (!name)
         return false;
      parts[i] = (rkb_kernel_part_t){.launch = &launches[i], .write = writer_of(&launches[i]), .name = name, .parts = parts_of(&launches[i])};
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
         snprintf(file->why, sizeof file->why, "%s has parts that small products beside it do not have", parts[i].name);
         return false;
      }
   if (!rkb_kernel_beside(file, parts, count, small.few))
      return false;
   file->also = small.many;
   file->parts = finish_count ? finishes[0].parts : 0;
   const bool good = finish_count > 1 ? rkb_kernel_beside(file, finishes, finish_count, NULL)
                                      : !finish_count || rkb_kernel_variants(file, finishes[0].launch, finishes[0].write, finishes[0].name);
   file->also = NULL;
   return good;
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

/* Finds outputs that replace an input and must wait, because a later launch reads the input, or because their
 * own launch reads it at other places. */
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

/* Whether launches may run at the same time.  False: the file's why says why not. */
static bool are_apart(rkb_kernel_file_t *file, const rkb_launch_t *launches, uint32_t count) {
   const rkb_graph_t *graph = file->graph;
   for (uint32_t i = 0; i < count; i++)
      for (uint32_t j = 0; j < count; j++)
         for (uint32_t r = 0; i != j && r < launches[i].root_count; r++)
            for (uint32_t k = 0; k < launches[j].root_count; k++) {
               bool seen[RKB_MAX_GRAPH_NODES] = {0};
               if (!reads(graph, file->storage, launches[j].roots[k], launches[i].roots[r], seen))
                  continue;
               snprintf(file->why, sizeof file->why, "%s needs %s, which a launch beside it writes", graph->nodes[launches[j].roots[k]].name,
                        graph->nodes[launches[i].roots[r]].name);
               return false;
            }
   for (uint32_t o = 0; o < graph->output_count; o++)
      for (uint32_t i = 0; i < count; i++)
         for (uint32_t r = 0; r < launches[i].root_count; r++)
            if (graph->outputs[o].in_place && launches[i].roots[r] == graph->outputs[o].node) {
               snprintf(file->why, sizeof file->why, "%s replaces an input: no launch may be beside its own", graph->outputs[o].tensor);
               return false;
            }
   return true;
}

/* How many launches, from this one on, share a kernel. */
static uint32_t group_at(const rkb_schedule_t *schedule, uint32_t first) {
   uint32_t end = first + 1;
   while (end < schedule->count && schedule->launches[end].decisions[RKB_BESIDE])
      end++;
   return end - first;
}

/* Writes the last launches, which copy the outputs that waited to their places. */
static void write_waiting(rkb_kernel_file_t *file, const bool *through_scratch) {
   for (uint32_t o = 0; o < file->graph->output_count; o++) {
      const rkb_output_t *output = &file->graph->outputs[o];
      if (!through_scratch[o])
         continue;
      const char *elements = rkb_kernel_elements_text(file, output->node), *name = file->graph->nodes[output->node].name,
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

static char *assemble(rkb_kernel_file_t *file, const rkb_schedule_t *schedule) {
   rkb_graph_t *graph = file->graph;
   const char *code = rkb_text_get(&file->code);
   rkb_text_t out;
   rkb_text_init(&out, 256u << 10);
   rkb_text_format(&out, "/* rkb-kernel: 1\ntask: %s\ndirection: %s\n", graph->task, graph->direction);
   if (file->scratch.length)
      rkb_text_format(&out, "scratch:\n%s", rkb_text_get(&file->scratch));
   if (file->maps.length)
      rkb_text_format(&out, "maps:\n%s", rkb_text_get(&file->maps));
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
   rkb_helpers_add(code, &out);
   rkb_text_add(&out, code);
   if (out.cut)
      snprintf(file->why, sizeof file->why, "the text would be too long");
   return rkb_text_take(&out);
}

int rkb_kernel_write(rkb_graph_t *graph, const rkb_schedule_t *schedule, int64_t shared_bytes, char **text,
                     rkb_error_t *err) {
   rkb_kernel_file_t file = {
      .graph = graph, .schedule = schedule, .arena = rkb_arena_new(0), .shared_bytes = shared_bytes};
   bool through_scratch[RKB_MAX_TENSORS] = {0}, good = true;
   file.storage = rkb_arena_array(file.arena, graph->node_count + 1, sizeof *file.storage);
   file.targets = rkb_arena_array(file.arena, graph->node_count + 1, sizeof *file.targets);
   rkb_text_init(&file.code, 256u << 10);
   rkb_text_init(&file.launches, 64u << 10);
   rkb_text_init(&file.scratch, 64u << 10);
   rkb_text_init(&file.maps, 64u << 10);
   for (uint32_t n = 0; n < graph->node_count; n++)
      if (graph->nodes[n].kind == RKB_NODE_INPUT)
         file.storage[n] = (rkb_storage_t){rkb_writer_beside(file.arena, graph->nodes[n].tensor),
                                           graph->nodes[n].tensor, graph->nodes[n].dtype};
   find_waits(graph, schedule, through_scratch);
   file.one_width = schedule->count > MANY_LAUNCHES;
   for (uint32_t l = 0, count = 0; good && l < schedule->count; l += count) {
      const rkb_launch_t *launches = &schedule->launches[l];
      count = group_at(schedule, l);
      for (uint32_t i = 0; i < count; i++)
         set_targets(&file, &launches[i], through_scratch);
      const char *refused = rkb_group_refused(launches, count);
      if (refused)
         snprintf(file.why, sizeof file.why, "%s: %s", graph->nodes[launches[0].roots[0]].name, refused);
      good = !refused && (count == 1 ? write_one(&file, launches) : are_apart(&file, launches, count) && write_group(&file, launches, count));
      for (uint32_t i = 0; i < count; i++)
         for (uint32_t r = 0; r < launches[i].root_count; r++)
            file.storage[launches[i].roots[r]] = file.targets[launches[i].roots[r]];
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
   rkb_text_free(&file.maps);
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

bool rkb_schedule_has_tiles(rkb_graph_t *graph, rkb_schedule_t *schedule, uint32_t number,
                            int64_t shared_bytes) {
   rkb_launch_t *launch = &schedule->launches[number];
   const enum rkb_mapping mapping = launch->mapping;
   if ((mapping != RKB_MAP_ELEMENT && mapping != RKB_MAP_ROW) || !launch->anchor_count ||
       !rkb_node_is_product(&graph->nodes[launch->anchors[0]]))
      return true;
   launch->mapping = RKB_MAP_TILE;
   const bool legal = rkb_schedule_is_legal(graph, schedule, shared_bytes);
   launch->mapping = mapping;
   return legal;
}
