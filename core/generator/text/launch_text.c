/* Text that the kernels of all mappings share: lanes of vectors, roots, and the mapping of one element to one thread.  One thread. */
#include "generator/text/launch_text.h"
#include "generator/text/sum_parts.h"

#include <string.h>

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

bool rkb_is_parts_name(const rkb_writer_t *writer, uint32_t anchor, const char *name) {
   const char *own = writer->graph->nodes[anchor].name;
   const size_t length = strlen(own);
   return strncmp(name, own, length) == 0 && strcmp(name + length, "_parts") == 0;
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
                   rkb_stored_text(writer, target->dtype, term.text));
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

/* The coordinates of a thread's place in each of so many equal parts of the last dim.  number: the number of the
 * place, or of the vector, among those of all first parts. */
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
   for (uint32_t p = 0; p < places; p++) { /* dividing the element's number gives row and place again */
      const rkb_index_t *own = rkb_index_make(
         indices, RKB_INDEX_SUM, rkb_index_make(indices, RKB_INDEX_PRODUCT, rkb_index_constant(indices, p), part), place);
      rkb_index_split(indices, node->rank, node->shape,
                      rkb_index_make(indices, RKB_INDEX_SUM, rkb_index_make(indices, RKB_INDEX_PRODUCT, row, last), own), at[p]);
   }
}

/* The coordinates of a thread's vector in each of so many neighbouring rows.  number: the number of the vector among
 * those of the first of every so many rows. */
static void split_lines(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *number,
                        int64_t width, uint32_t lines, const rkb_index_t *(*at)[RKB_MAX_RANK]) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *last = rkb_index_size(indices, node->shape[node->rank - 1]),
                     *vector = rkb_index_constant(indices, width);
   const rkb_index_t *across = rkb_index_make(indices, RKB_INDEX_QUOTIENT, last, vector);
   const rkb_index_t *first =
      rkb_index_make(indices, RKB_INDEX_PRODUCT, rkb_index_make(indices, RKB_INDEX_QUOTIENT, number, across),
                     rkb_index_constant(indices, lines));
   const rkb_index_t *place = rkb_index_make(indices, RKB_INDEX_REMAINDER, number, across);
   if (width > 1)
      place = rkb_index_make(indices, RKB_INDEX_SUM,
                             rkb_index_make(indices, RKB_INDEX_PRODUCT, place, vector), writer->lane);
   for (uint32_t l = 0; l < lines; l++) { /* dividing the element's number gives row and place again */
      const rkb_index_t *row = rkb_index_make(indices, RKB_INDEX_SUM, first, rkb_index_constant(indices, l));
      rkb_index_split(
         indices, node->rank, node->shape,
         rkb_index_make(indices, RKB_INDEX_SUM, rkb_index_make(indices, RKB_INDEX_PRODUCT, row, last), place),
         at[l]);
   }
}

/* How many neighbouring rows a thread of this kernel owns: several where their number divides the number of rows. */
static uint32_t lines_of(rkb_writer_t *writer, const rkb_launch_t *launch, const rkb_node_t *node) {
   const int64_t lines = launch->decisions[RKB_LINES];
   return lines > 1 && rkb_index_divides(rkb_index_size(&writer->indices, node->shape[node->rank - 2]), lines)
             ? (uint32_t)lines
             : 1;
}

void rkb_write_element_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const rkb_node_t *node = &writer->graph->nodes[launch->roots[0]];
   rkb_indices_t *indices = &writer->indices;
   const int64_t threads = launch->decisions[RKB_THREADS], width = launch->decisions[RKB_VECTOR],
                 parts = launch->decisions[RKB_PARTS];
   const uint32_t places = (uint32_t)launch->decisions[RKB_PLACES], lines = lines_of(writer, launch, node);
   const rkb_index_t *elements = rkb_index_elements(indices, node->rank, node->shape), *at[MOST_PLACES][RKB_MAX_RANK];
   const rkb_index_t *packs = rkb_index_make(indices, RKB_INDEX_QUOTIENT, elements,
                                             rkb_index_constant(indices, width * places * lines));
   const char *name = width > 1 ? "pack" : "i";
   if (places > 1 && (node->rank == 0 || !rkb_index_divides(rkb_index_size(indices, node->shape[node->rank - 1]), places))) {
      rkb_writer_fail(writer, "the last dim of %s has no %u equal parts", node->name, places);
      return;
   }
   writer->heavy = launch->anchor_count ? launch->anchors[0] : RKB_NO_NODE;
   writer->placed = places > 1;
   const rkb_index_t *number;
   if (parts > 1)
      number = rkb_sum_parts_open(writer, packs, threads, parts);
   else {
      rkb_write(writer, "const index %s = (index)blockIdx.x * %lld + threadIdx.x;", name, (long long)threads);
      rkb_write(writer, "if (%s >= %s)", name, rkb_writer_uniform(writer, packs));
      rkb_write(writer, "   return;");
      number = rkb_writer_variable(writer, name, packs);
   }
   rkb_open_lanes(writer, (uint32_t)width);
   if (places == 1 && lines == 1 && width > 1) { /* dividing the element's number gives these again */
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
   else if (lines > 1)
      split_lines(writer, node, number, width, lines, at);
   else
      rkb_index_split(indices, node->rank, node->shape, number, at[0]);
   write_places(writer, launch, launch->roots[0], (const rkb_index_t *const(*)[RKB_MAX_RANK])at,
                places * lines);
   const char *owns = width > 1 ? rkb_arena_format(writer->arena, "%lld neighbouring elements", (long long)width) : "one element";
   *shape = (rkb_kernel_shape_t){
      .grid = rkb_ceildiv(writer, packs, threads / parts),
      .threads = threads,
      .owns = parts > 1 ? rkb_arena_format(writer->arena, "%lld threads share one element of %s.",
                                           (long long)parts, writer->targets[launch->roots[0]].name)
              : places > 1
                 ? rkb_arena_format(writer->arena, "A thread owns %s of each of the %u parts of a row of %s.",
                                    owns, places, writer->targets[launch->roots[0]].name)
              : lines > 1
                 ? rkb_arena_format(writer->arena, "A thread owns %s of each of %u neighbouring rows of %s.",
                                    owns, lines, writer->targets[launch->roots[0]].name)
                 : rkb_arena_format(writer->arena, "A thread owns %s of %s.", owns,
                                    writer->targets[launch->roots[0]].name)};
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
