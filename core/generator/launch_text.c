/* What the kernels of all mappings share: lanes of vectors, roots, and the mapping of one element to one thread.  One thread. */
#include "generator/launch_text.h"

#include <math.h>
#include <string.h>
#include "generator/moments.h"
#include "generator/product.h"
#include "generator/starts.h"
#include "generator/stretches.h"

const char *rkb_ceildiv(rkb_writer_t *writer, const rkb_index_t *extent, int64_t by) {
   const char *text = rkb_index_manifest(&writer->indices, extent);
   return by == 1 ? text : rkb_arena_format(writer->arena, "ceildiv(%s, %lld)", text, (long long)by);
}

void rkb_check_share(rkb_writer_t *writer, const rkb_index_t *share, const rkb_index_t *whole) {
   if (share->kind == RKB_INDEX_CONSTANT && whole->kind != RKB_INDEX_CONSTANT)
      rkb_writer_fail(writer, "so many parts have the same share in every case that was drawn");
}

const char *rkb_parts_name(const rkb_writer_t *writer, uint32_t anchor) {
   return rkb_arena_format(writer->arena, "%s_parts", writer->graph->nodes[anchor].name);
}

const char *rkb_counts_name(const rkb_writer_t *writer, uint32_t anchor) {
   return rkb_arena_format(writer->arena, "%s_counts", writer->graph->nodes[anchor].name);
}

const rkb_index_t *rkb_open_lanes(rkb_writer_t *writer, uint32_t width) {
   writer->width = width;
   writer->lane = writer->indices.lane = NULL;
   if (width == 1)
      return rkb_index_constant(&writer->indices, 0);
   const char *name = rkb_writer_name(writer, "lane");
   rkb_write_open(writer, false, "for (int %s = 0; %s < %u; %s++)", name, name, width, name);
   writer->lane_depth = writer->depth;
   writer->lane = writer->indices.lane = rkb_writer_variable(writer, name, rkb_index_constant(&writer->indices, width));
   return writer->lane;
}

void rkb_close_lanes(rkb_writer_t *writer) {
   if (writer->lane)
      rkb_write_close(writer);
   writer->lane = writer->indices.lane = NULL;
   writer->width = 1;
}

static bool same_shape(const rkb_node_t *a, const rkb_node_t *b) {
   return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

/* The coordinates of the root's element that belongs to an element of `from`, through single-element
 * operations, reshapes, permutations and flips. */
static bool forward(rkb_writer_t *writer, uint32_t from, const rkb_index_t *const *at, uint32_t root,
                    uint32_t steps, const rkb_index_t **out) {
   const rkb_graph_t *graph = writer->graph;
   const rkb_node_t *node = &graph->nodes[root];
   if (root == from) {
      memcpy(out, at, node->rank * sizeof *at);
      return true;
   }
   if (root < from || steps == 0 || node->kind == RKB_NODE_INPUT)
      return false;
   for (uint32_t i = 0; i < node->input_count; i++) {
      const rkb_node_t *input = &graph->nodes[node->inputs[i]];
      const rkb_index_t *inner[RKB_MAX_RANK];
      const bool plain =
         (node->kind == RKB_NODE_MAP || node->kind == RKB_NODE_TRIANGLE) && same_shape(node, input);
      if ((!plain && node->kind != RKB_NODE_RESHAPE && node->kind != RKB_NODE_PERMUTE &&
           node->kind != RKB_NODE_FLIP) ||
          !forward(writer, from, at, node->inputs[i], steps - 1, inner))
         continue;
      for (uint32_t d = 0; d < node->rank && node->kind == RKB_NODE_PERMUTE; d++) {
         const rkb_size_t *from_dim = &graph->sizes.list[node->integers[d]];
         if (!from_dim->constant)
            return false;
         out[d] = inner[from_dim->at[0]];
      }
      for (uint32_t d = 0; d < node->rank && node->kind == RKB_NODE_FLIP; d++)
         out[d] = node->mask >> d & 1 ? rkb_flipped(writer, node, d, inner[d]) : inner[d];
      if (node->kind == RKB_NODE_RESHAPE)
         rkb_writer_reshape(writer, input, inner, node, out);
      if (plain)
         memcpy(out, inner, node->rank * sizeof *inner);
      return true;
   }
   return false;
}

static bool place_root(rkb_writer_t *writer, uint32_t from, const rkb_index_t *const *at, uint32_t root,
                       const rkb_index_t **out) {
   const rkb_node_t *node = &writer->graph->nodes[root], *origin = &writer->graph->nodes[from];
   if (forward(writer, from, at, root, 12, out))
      return true;
   if (rkb_index_elements(&writer->indices, node->rank, node->shape) !=
       rkb_index_elements(&writer->indices, origin->rank, origin->shape)) {
      rkb_writer_fail(writer, "%s has other elements than %s", node->name, origin->name);
      return false;
   }
   rkb_writer_reshape(writer, origin, at, node, out);
   return true;
}

/* Writes a root's element.  A loop over lanes gathers the values; they are stored together after the loop. */
static void write_root(rkb_writer_t *writer, uint32_t root, const rkb_index_t *const *at, const char **pack,
                       const rkb_index_t **base) {
   const rkb_node_t *node = &writer->graph->nodes[root];
   const rkb_storage_t *target = &writer->targets[root];
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *element = rkb_index_join(indices, node->rank, node->shape, at);
   const rkb_term_t term =
      rkb_dtype_is_float(node->dtype) ? rkb_write_float(writer, root, at) : rkb_write_value(writer, root, at);
   *pack = NULL;
   if (writer->lane && rkb_index_mentions(element, writer->lane)) {
      *base = rkb_index_replace(indices, element, writer->lane, rkb_index_constant(indices, 0));
      if (rkb_index_make(indices, RKB_INDEX_SUM, *base, writer->lane) == element &&
          rkb_index_divides(*base, writer->width)) {
         const uint32_t inner = writer->depth;
         writer->depth = writer->lane_depth - 1;
         *pack = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_out", target->name));
         rkb_write(writer, "%s %s;", rkb_pack_type(writer, target->dtype), *pack);
         rkb_writer_know(writer, root, (const rkb_index_t *const[RKB_MAX_RANK]){0}, *pack);
         writer->depth = inner;
         rkb_write(writer, "%s.at[%s] = %s;", *pack, writer->lane->name,
                   rkb_stored_text(writer, target->name, target->dtype, term.text));
         return;
      }
   }
   rkb_write_store(writer, target->name, target->dtype, element, term.text);
}

#define MOST_PLACES 4u

/* Writes the roots at several places.  All values are computed before any vector is stored. */
static void write_places(rkb_writer_t *writer, const rkb_launch_t *launch, uint32_t from, const rkb_index_t *const (*at)[RKB_MAX_RANK],
                         uint32_t places) {
   const char *packs[RKB_MAX_LAUNCH_NODES * MOST_PLACES] = {0};
   const rkb_index_t *bases[RKB_MAX_LAUNCH_NODES * MOST_PLACES] = {0}, *out[RKB_MAX_RANK];
   const uint32_t width = writer->width, count = launch->root_count * places;
   const rkb_index_t *lane = writer->lane;
   for (uint32_t i = 0; i < count && !writer->failed; i++)
      if (place_root(writer, from, at[i / launch->root_count], launch->roots[i % launch->root_count], out))
         write_root(writer, launch->roots[i % launch->root_count], out, &packs[i], &bases[i]);
   if (!lane)
      return;
   rkb_close_lanes(writer);
   for (uint32_t i = 0; i < count && !writer->failed; i++)
      if (packs[i]) {
         const rkb_storage_t *target = &writer->targets[launch->roots[i % launch->root_count]];
         writer->width = width;
         rkb_writer_buffer(writer, target->name, target->dtype, true);
         rkb_write(writer, "*(%s *)(%s + %s) = %s;", rkb_pack_type(writer, target->dtype), target->name,
                   rkb_writer_index(writer, bases[i]), packs[i]);
         writer->width = 1;
      }
}

void rkb_write_roots(rkb_writer_t *writer, const rkb_launch_t *launch, uint32_t from,
                     const rkb_index_t *const *at) {
   const rkb_index_t *one[1][RKB_MAX_RANK];
   memcpy(one[0], at, writer->graph->nodes[from].rank * sizeof *at);
   write_places(writer, launch, from, (const rkb_index_t *const (*)[RKB_MAX_RANK])one, 1);
}

static void add_size(uint32_t *sizes, uint32_t *count, uint32_t size) {
   for (uint32_t i = 0; i < *count; i++)
      if (sizes[i] == size)
         return;
   if (*count < RKB_VECTOR_SIZES)
      sizes[(*count)++] = size;
}

/* Adds the sizes at which a joined or embedded part ends in the middle of a row.  If they are multiples of
 * the width, no vector has elements of two parts. */
static void add_parts(const rkb_graph_t *graph, uint32_t number, int64_t width, bool *seen, uint32_t *sizes, uint32_t *count) {
   const rkb_node_t *node = &graph->nodes[number];
   const rkb_size_t *list = graph->sizes.list;
   if (seen[number] || !rkb_node_is_light(node))
      return;
   seen[number] = true;
   const bool parts = (node->kind == RKB_NODE_CAT || node->kind == RKB_NODE_EMBED) && list[node->integers[0]].at[0] == (int64_t)node->rank - 1;
   for (uint32_t i = 0; i < node->input_count; i++) {
      const rkb_node_t *input = &graph->nodes[node->inputs[i]];
      if (parts && (!list[input->shape[input->rank - 1]].constant || list[input->shape[input->rank - 1]].at[0] % width == 0))
         add_size(sizes, count, input->shape[input->rank - 1]);
      add_parts(graph, node->inputs[i], width, seen, sizes, count);
   }
}

/* The dim of a convolution's output along which the columns of a tile grow by one (product_tile.h).  RKB_MAX_RANK: channels of a group, whose number
 * is no size of the graph. */
static uint32_t column_dim(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]];
   const bool of_weight = node->kind == RKB_NODE_CONVOLUTION_WEIGHT;
   if (launch->root_count && !rkb_product_is_turned(graph, launch->anchors[0], launch->roots[0])) {
      const rkb_size_t *groups = &graph->sizes.list[node->integers[1]];
      return !groups->constant || groups->at[0] != 1 ? RKB_MAX_RANK : of_weight ? 0 : 1;
   }
   return of_weight && launch->root_count && rkb_product_fast_dim(graph, launch->anchors[0], launch->roots[0]) == 1 ? 1 : node->rank - 1;
}

uint32_t rkb_vector_sizes(const rkb_graph_t *graph, const rkb_launch_t *launch,
                          uint32_t sizes[RKB_VECTOR_SIZES]) {
   const rkb_node_t *node =
      &graph->nodes[launch->mapping == RKB_MAP_ELEMENT ? launch->roots[0] : launch->anchors[0]];
   const int64_t width = launch->decisions[RKB_VECTOR];
   uint32_t count = 0;
   if (width <= 1 || !node->rank)
      return 0;
   if (launch->mapping == RKB_MAP_ROW) {
      if (node->kind != RKB_NODE_REDUCE || !(node->mask >> (node->rank - 1) & 1))
         return 0;
      node = &graph->nodes[node->inputs[0]];
   } else if (launch->mapping == RKB_MAP_COLUMN)
      return 0;
   else if (launch->mapping == RKB_MAP_RANK) {
      if (graph->sizes.list[node->integers[0]].at[0] != (int64_t)node->rank - 1)
         return 0;
      node = &graph->nodes[node->inputs[0]];
   }
   else if (launch->mapping == RKB_MAP_SCAN || launch->mapping == RKB_MAP_LINK) {
      const bool last = graph->sizes.list[node->integers[0]].at[0] == (int64_t)node->rank - 1;
      if (last != (launch->mapping == RKB_MAP_SCAN) ||
          (launch->mapping == RKB_MAP_LINK && rkb_scatter_varies(graph, launch->anchors[0], node->rank - 1)))
         return 0;
   }
   if (launch->mapping == RKB_MAP_ELEMENT && launch->decisions[RKB_WINDOW]) { /* rows of values under the windows */
      const rkb_node_t *pool = &graph->nodes[launch->anchors[0]];
      node = strcmp(pool->operation, "max_pool") == 0 ? &graph->nodes[pool->inputs[0]] : pool;
   }
   sizes[count++] = node->shape[node->rank - 1];
   if (launch->mapping == RKB_MAP_TILE && node->kind != RKB_NODE_MATMUL) {
      const uint32_t dim = column_dim(graph, launch);
      if (dim == RKB_MAX_RANK)
         return 0;
      sizes[0] = node->shape[dim];
   } else if (launch->mapping == RKB_MAP_TILE) { /* rows, and the terms of a sum */
      const rkb_node_t *left = &graph->nodes[node->inputs[0]];
      const bool turned = graph->sizes.list[node->integers[0]].at[0] != 0;
      sizes[count++] = node->shape[node->rank - 2];
      sizes[count++] = left->shape[left->rank - (turned ? 2 : 1)];
   }
   for (uint32_t a = 1; a < launch->anchor_count && launch->mapping == RKB_MAP_ROW && launch->decisions[RKB_SEGMENTS]; a++)
      if (rkb_segment_adds(graph, launch, a)) { /* a vector has places of one piece */
         const rkb_node_t *term = &graph->nodes[graph->nodes[launch->anchors[a]].inputs[0]];
         add_size(sizes, &count, term->shape[term->rank - 1]);
      }
   for (uint32_t r = 0; r < launch->root_count && launch->mapping == RKB_MAP_ROW; r++) { /* one row of an image for a vector: it is of one channel */
      const rkb_node_t *root = &graph->nodes[launch->roots[r]];
      if (root->rank > 1 && fabs(rkb_bench_elements(graph, launch->roots[r]) / rkb_bench_elements(graph, graph->nodes[launch->anchors[0]].inputs[0]) - 1) < 1e-6)
         add_size(sizes, &count, root->shape[root->rank - 1]);
   }
   bool seen[RKB_MAX_GRAPH_NODES] = {0};
   for (uint32_t r = 0; r < launch->root_count && launch->mapping == RKB_MAP_ELEMENT && !launch->anchor_count; r++)
      add_parts(graph, launch->roots[r], width, seen, sizes, &count);
   for (uint32_t i = 0; i < count; i++) {
      const rkb_size_t *size = &graph->sizes.list[sizes[i]];
      if (size->constant && size->at[0] % width != 0)
         return 0;
   }
   return count;
}

/* The coordinates of a thread's place in each of so many equal parts of the last dim.  number: of the place,
 * or of the vector, among all first parts. */
static void split_places(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *number, int64_t width, uint32_t places,
                         const rkb_index_t *(*at)[RKB_MAX_RANK]) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *last = rkb_index_size(indices, node->shape[node->rank - 1]), *vector = rkb_index_constant(indices, width);
   const rkb_index_t *part = rkb_index_make(indices, RKB_INDEX_QUOTIENT, last, rkb_index_constant(indices, places));
   const rkb_index_t *across = rkb_index_make(indices, RKB_INDEX_QUOTIENT, part, vector);
   const rkb_index_t *row = rkb_index_make(indices, RKB_INDEX_QUOTIENT, number, across);
   const rkb_index_t *place = rkb_index_make(indices, RKB_INDEX_REMAINDER, number, across);
   if (width > 1)
      place = rkb_index_make(indices, RKB_INDEX_SUM, rkb_index_make(indices, RKB_INDEX_PRODUCT, place, vector), writer->lane);
   for (uint32_t p = 0; p < places; p++) { /* dividing the element's number finds row and place again */
      const rkb_index_t *own = rkb_index_make(
         indices, RKB_INDEX_SUM, rkb_index_make(indices, RKB_INDEX_PRODUCT, rkb_index_constant(indices, p), part), place);
      rkb_index_split(indices, node->rank, node->shape,
                      rkb_index_make(indices, RKB_INDEX_SUM, rkb_index_make(indices, RKB_INDEX_PRODUCT, row, last), own), at[p]);
   }
}

void rkb_write_element_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const rkb_node_t *node = &writer->graph->nodes[launch->roots[0]];
   rkb_indices_t *indices = &writer->indices;
   const int64_t threads = launch->decisions[RKB_THREADS], width = launch->decisions[RKB_VECTOR];
   const uint32_t places = (uint32_t)launch->decisions[RKB_PLACES];
   const rkb_index_t *elements = rkb_index_elements(indices, node->rank, node->shape), *at[MOST_PLACES][RKB_MAX_RANK];
   const rkb_index_t *packs =
      rkb_index_make(indices, RKB_INDEX_QUOTIENT, elements, rkb_index_constant(indices, width * places));
   const char *name = width > 1 ? "pack" : "i";
   if (places > 1 && (node->rank == 0 || !rkb_index_divides(rkb_index_size(indices, node->shape[node->rank - 1]), places))) {
      rkb_writer_fail(writer, "the last dim of %s has no %u equal parts", node->name, places);
      return;
   }
   writer->heavy = launch->anchor_count ? launch->anchors[0] : RKB_NO_NODE;
   writer->placed = places > 1;
   rkb_write(writer, "const index %s = (index)blockIdx.x * %lld + threadIdx.x;", name, (long long)threads);
   rkb_write(writer, "if (%s >= %s)", name, rkb_writer_uniform(writer, packs));
   rkb_write(writer, "   return;");
   const rkb_index_t *number = rkb_writer_variable(writer, name, packs);
   rkb_open_lanes(writer, (uint32_t)width);
   if (places == 1 && width > 1) { /* dividing the element's number finds these again */
      const rkb_index_t *last = rkb_index_size(indices, node->shape[node->rank - 1]),
                        *vector = rkb_index_constant(indices, width);
      const rkb_index_t *row = rkb_index_make(indices, RKB_INDEX_QUOTIENT, last, vector);
      rkb_index_make(indices, RKB_INDEX_QUOTIENT, number, row);
      rkb_index_make(indices, RKB_INDEX_SUM,
                     rkb_index_make(indices, RKB_INDEX_PRODUCT,
                                    rkb_index_make(indices, RKB_INDEX_REMAINDER, number, row), vector),
                     writer->lane);
      number = rkb_index_make(indices, RKB_INDEX_SUM,
                              rkb_index_make(indices, RKB_INDEX_PRODUCT, number, vector), writer->lane);
   }
   if (places > 1)
      split_places(writer, node, number, width, places, at);
   else
      rkb_index_split(indices, node->rank, node->shape, number, at[0]);
   write_places(writer, launch, launch->roots[0], (const rkb_index_t *const (*)[RKB_MAX_RANK])at, places);
   const char *owns = width > 1 ? rkb_arena_format(writer->arena, "%lld neighbouring elements", (long long)width) : "one element";
   *shape = (rkb_kernel_shape_t){
      .grid = rkb_ceildiv(writer, packs, threads),
      .threads = threads,
      .owns = places > 1 ? rkb_arena_format(writer->arena, "A thread owns %s of each of the %u parts of a row of %s.", owns, places,
                                            writer->targets[launch->roots[0]].name)
                         : rkb_arena_format(writer->arena, "A thread owns %s of %s.", owns, writer->targets[launch->roots[0]].name)};
}

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
   rkb_write(writer, "const index i = (index)blockIdx.x * 32 + threadIdx.x %% 32, own = i < %s ? i : %s - 1;", size, size);
   rkb_write(writer, "float %s = 0.0f;", name);
   rkb_write(writer, "#pragma unroll 16"); /* so many parts are in flight at once */
   rkb_write(writer, "for (int part = 0; part < %lld; part += %d)", (long long)launch->decisions[RKB_SPLIT], FINISHING_WARPS);
   rkb_write(writer, "   %s += %s[(part + (int)threadIdx.x / 32) * %s + own];", name, buffer, size);
   rkb_write(writer, "%s = column_sum<%d>(%s);", name, FINISHING_WARPS, name);
   rkb_write(writer, "if (threadIdx.x >= 32 || i >= %s)", size);
   rkb_write(writer, "   return;");
   rkb_product_unjoin(writer, product, launch->roots[0], rkb_writer_variable(writer, "i", elements), at);
   rkb_writer_know(writer, product, at, name);
   rkb_write_roots(writer, launch, product, at);
   *shape = (rkb_kernel_shape_t){
      .grid = rkb_ceildiv(writer, elements, 32),
      .threads = 32 * FINISHING_WARPS,
      .owns = rkb_arena_format(writer->arena, "A block adds the %lld parts of 32 elements, always in the same order: each warp has some parts.",
                               (long long)launch->decisions[RKB_SPLIT])};
}

/* Joins the parts of a mean and of the squares around it.  first, more: the texts of the element numbers of a
 * thread's first part, and of part `part`. */
static void finish_moments(rkb_writer_t *writer, const rkb_index_t *number, uint32_t sum, uint32_t squares, const char *first, const char *more,
                           const char *loop, bool warps) {
   const rkb_node_t *node = &writer->graph->nodes[sum];
   const rkb_index_t *at[RKB_MAX_RANK];
   const char *buffers[3] = {rkb_parts_name(writer, sum), rkb_parts_name(writer, squares), rkb_counts_name(writer, sum)}, *names[3];
   for (uint32_t i = 0; i < 3; i++) {
      static const char *const words[] = {"mean", "squares", "count"};
      names[i] = rkb_writer_name(writer, words[i]);
      rkb_writer_buffer(writer, buffers[i], RKB_F32, false);
      rkb_write(writer, "float %s = %s[%s];", names[i], buffers[i], first);
   }
   rkb_write(writer, "%s", loop);
   rkb_write(writer, "   moments_join(%s, %s, %s, %s[%s], %s[%s], %s[%s]);", names[0], names[1], names[2], buffers[0], more, buffers[1], more,
             buffers[2], more);
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
   if (!warps && launch->anchor_count == 1 && rkb_node_is_product(node) && few_have_many(writer, node, parts, SHARED_ELEMENTS)) {
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
              *loop = rkb_arena_format(writer->arena,
                                       warps ? "for (int part = threadIdx.x %% 32 + 32; part < %lld; part += 32)"
                                             : "for (int part = 1; part < %lld; part++)",
                                       (long long)parts);
   uint32_t mean = 0;
   const uint32_t variance = launch->decisions[RKB_MOMENTS] ? rkb_launch_moments(writer->graph, launch, &mean) : launch->anchor_count;
   if (variance < launch->anchor_count)
      finish_moments(writer, number, launch->anchors[mean], launch->anchors[variance], first_part, more_parts, loop, warps);
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

bool rkb_scatter_varies(const rkb_graph_t *graph, uint32_t scatter, uint32_t dim) {
   const rkb_node_t *picks = &graph->nodes[graph->nodes[scatter].inputs[1]];
   if (picks->kind != RKB_NODE_EXPAND || dim == (uint32_t)graph->sizes.list[graph->nodes[scatter].integers[0]].at[0])
      return true;
   const rkb_node_t *from = &graph->nodes[picks->inputs[0]];
   const uint32_t ahead = picks->rank - from->rank;
   if (dim < ahead)
      return false;
   const rkb_size_t *size = &graph->sizes.list[from->shape[dim - ahead]];
   return !size->constant || size->at[0] != 1;
}
