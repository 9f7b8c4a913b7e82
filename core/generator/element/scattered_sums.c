/* Kernels of scattered sums, and of scatters that overwrite, which keep the last element instead of a sum.
 * The indices alone say which elements go to a place.  So a first kernel links the elements of each place in
 * their order, and a second kernel adds them along the links.  Each sum has one owner and one order, so each run
 * gives the same bits.  No place looks at elements of other places.  One thread writes them.
 *
 * The links are two buffers.  `first` has for each place the number of its first element plus 1, or 0 for
 * none; `next` has for each element the element that follows it. */
#include <string.h>
#include "generator/text/launch_text.h"

typedef struct links {
   const rkb_node_t *node, *picks;
   uint32_t number, dim;
   bool varies[RKB_MAX_RANK];       /* whether the picks differ along a dim */
   /* Shapes: of places, of elements, and of the dims that belong to neither; 1 where nothing varies. */
   uint32_t first[RKB_MAX_RANK], next[RKB_MAX_RANK], others[RKB_MAX_RANK];
   const char *first_name, *next_name;
} links_t;

static links_t links_of(rkb_writer_t *writer, const rkb_launch_t *launch) {
   rkb_graph_t *graph = writer->graph;
   links_t links = {.number = launch->anchors[0], .node = &graph->nodes[launch->anchors[0]]};
   links.picks = &graph->nodes[links.node->inputs[1]];
   links.dim = (uint32_t)graph->sizes.list[links.node->integers[0]].at[0];
   const uint32_t one = rkb_sizes_constant(&graph->sizes, 1);
   for (uint32_t d = 0; d < links.node->rank; d++) {
      links.varies[d] = rkb_scatter_varies(graph, links.number, d);
      links.first[d] = links.varies[d] ? links.node->shape[d] : one;
      links.next[d] = links.varies[d] ? links.picks->shape[d] : one;
      links.others[d] = d == links.dim ? one : links.next[d];
   }
   links.first_name = rkb_arena_format(writer->arena, "%s_first", links.node->name);
   links.next_name = rkb_arena_format(writer->arena, "%s_next", links.node->name);
   return links;
}

static const rkb_index_t *product_of(rkb_writer_t *writer, const links_t *links, const uint32_t *shape) {
   return rkb_index_elements(&writer->indices, links->node->rank, shape);
}

/* The place of a pick in the linked buffers, with `along` as the coordinate of the linked dim. */
static const char *linked(rkb_writer_t *writer, const links_t *links, const char *buffer, const uint32_t *shape,
                          const rkb_index_t *const *at, const rkb_index_t *along) {
   const rkb_index_t *inner[RKB_MAX_RANK];
   for (uint32_t d = 0; d < links->node->rank; d++)
      inner[d] = d == links->dim     ? along
                 : links->varies[d] ? at[d]
                                    : rkb_index_constant(&writer->indices, 0);
   return rkb_arena_format(writer->arena, "%s[%s]", buffer,
                           rkb_writer_index(writer, rkb_index_join(&writer->indices, links->node->rank, shape, inner)));
}

/* Writes a warp's search among the elements before or after its own, 32 at a time. */
static void write_search(rkb_writer_t *writer, const links_t *links, const rkb_index_t *const *at, const char *pick, bool before) {
   const rkb_index_t *length = rkb_index_size(&writer->indices, links->picks->shape[links->dim]), *inner[RKB_MAX_RANK];
   const char *here = rkb_writer_index(writer, at[links->dim]), *end = before ? here : rkb_writer_uniform(writer, length);
   memcpy(inner, at, sizeof inner);
   rkb_write_open(writer, true, before ? "for (index base = 0; base < %s && begins; base += 32)" : "for (index base = %s + 1; base < %s && !next; base += 32)",
                  here, end);
   const char *other = rkb_writer_name(writer, "other");
   rkb_write(writer, "const index %s = base + thread;", other);
   inner[links->dim] = rkb_writer_variable(writer, other, length);
   rkb_write(writer, "bool same = false;");
   rkb_write_open(writer, true, "if (%s < %s)", other, end);
   rkb_write(writer, "same = %s == %s;", rkb_write_value(writer, links->node->inputs[1], inner).text, pick);
   rkb_write_close(writer);
   rkb_write(writer, "const unsigned found = __ballot_sync(0xffffffffu, same);");
   rkb_write(writer, "if (found)");
   if (before)
      rkb_write(writer, "   begins = false;");
   else
      rkb_write(writer, "   next = (int)base + __ffs(found);"); /* counts from 1, as the links do */
   rkb_write_close(writer);
}

void rkb_write_link_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t threads = 256;
   links_t links = links_of(writer, launch);
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *count = product_of(writer, &links, links.next), *at[RKB_MAX_RANK];
   rkb_write(writer, "const int thread = threadIdx.x %% 32;");
   rkb_write(writer, "const index item = (index)blockIdx.x * %lld + threadIdx.x / 32;", (long long)threads / 32);
   rkb_write(writer, "if (item >= %s)", rkb_writer_uniform(writer, count));
   rkb_write(writer, "   return;");
   rkb_index_split(indices, links.node->rank, links.next, rkb_writer_variable(writer, "item", count), at);
   const rkb_term_t pick = rkb_write_value(writer, links.node->inputs[1], at);
   rkb_write(writer, "bool begins = true;");
   rkb_write(writer, "int next = 0;");
   write_search(writer, &links, at, pick.text, true);
   write_search(writer, &links, at, pick.text, false);
   rkb_write_open(writer, true, "if (thread == 0)");
   rkb_writer_buffer(writer, links.next_name, RKB_I32, true);
   rkb_writer_buffer(writer, links.first_name, RKB_I32, true);
   rkb_write(writer, "%s = next;", linked(writer, &links, links.next_name, links.next, at, at[links.dim]));
   rkb_write_open(writer, true, "if (begins)");
   rkb_write(writer, "const index place = (index)%s;", pick.text);
   const rkb_index_t *place = rkb_writer_variable(writer, "place", rkb_index_size(indices, links.node->shape[links.dim]));
   rkb_write(writer, "%s = (int)%s + 1;", linked(writer, &links, links.first_name, links.first, at, place),
             rkb_writer_index(writer, at[links.dim]));
   rkb_write_close(writer);
   rkb_write_close(writer);
   *shape = (rkb_kernel_shape_t){
      .grid = rkb_ceildiv(writer, count, threads / 32),
      .threads = threads,
      .owns = rkb_arena_format(writer->arena, "A warp finds which element follows its own to the same place of %s, and whether one went before.",
                               links.node->name)};
}

void rkb_write_linked_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t threads = launch->decisions[RKB_THREADS], width = launch->decisions[RKB_VECTOR];
   links_t links = links_of(writer, launch);
   rkb_indices_t *indices = &writer->indices;
   const rkb_node_t *node = links.node;
   const rkb_index_t *vector = rkb_index_constant(indices, width), *elements = rkb_index_elements(indices, node->rank, node->shape);
   const rkb_index_t *packs = rkb_index_make(indices, RKB_INDEX_QUOTIENT, elements, vector), *at[RKB_MAX_RANK], *inner[RKB_MAX_RANK];
   const bool overwrites = rkb_node_overwrites(node);
   const char *sums = rkb_writer_name(
                 writer, rkb_arena_format(writer->arena, overwrites ? "%s_last" : "%s_sums", node->name)),
              *lane = width > 1 ? "lane" : "0";
   rkb_writer_know(writer, links.number, (const rkb_index_t *const[RKB_MAX_RANK]){0}, sums); /* the name is taken */
   rkb_write(writer, "const index pack = (index)blockIdx.x * %lld + threadIdx.x;", (long long)threads);
   rkb_write(writer, "if (pack >= %s)", rkb_writer_uniform(writer, packs));
   rkb_write(writer, "   return;");
   const rkb_index_t *pack = rkb_writer_variable(writer, "pack", packs);
   const rkb_index_t *row = rkb_index_make(indices, RKB_INDEX_QUOTIENT, rkb_index_size(indices, node->shape[node->rank - 1]), vector);
   rkb_index_split(indices, node->rank, node->shape, rkb_index_make(indices, RKB_INDEX_PRODUCT, pack, vector), at);
   rkb_index_make(indices, RKB_INDEX_QUOTIENT, pack, row);
   at[node->rank - 1] = width > 1 ? rkb_index_make(indices, RKB_INDEX_PRODUCT, rkb_index_make(indices, RKB_INDEX_REMAINDER, pack, row), vector)
                                  : at[node->rank - 1];
   const rkb_index_t *base = at[node->rank - 1];
   rkb_write(writer, "float %s[%lld] = {};", sums, (long long)width);
   if (node->input_count > 2) { /* what lies below */
      const rkb_index_t *first = rkb_open_lanes(writer, (uint32_t)width);
      at[node->rank - 1] = rkb_index_make(indices, RKB_INDEX_SUM, base, first);
      rkb_write(writer, "%s[%s] = %s;", sums, lane, rkb_write_float(writer, node->inputs[2], at).text);
      rkb_close_lanes(writer);
      at[node->rank - 1] = base;
   }
   const rkb_index_t *length = rkb_index_size(indices, links.picks->shape[links.dim]);
   rkb_writer_buffer(writer, links.first_name, RKB_I32, false);
   rkb_writer_buffer(writer, links.next_name, RKB_I32, false);
   rkb_write(writer, "int link = %s;", linked(writer, &links, links.first_name, links.first, at, at[links.dim]));
   rkb_write_open(writer, true, "while (link)");
   rkb_write(writer, "const index from = link - 1;");
   const rkb_index_t *from = rkb_writer_variable(writer, "from", length);
   rkb_write(writer, "link = %s;", linked(writer, &links, links.next_name, links.next, at, from));
   const rkb_index_t *first = rkb_open_lanes(writer, (uint32_t)width);
   memcpy(inner, at, sizeof inner);
   inner[node->rank - 1] = rkb_index_make(indices, RKB_INDEX_SUM, base, first);
   inner[links.dim] = from;
   rkb_write(writer, "%s[%s] %s %s;", sums, lane,
             overwrites ? "=" : "+=", rkb_write_float(writer, node->inputs[0], inner).text);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
   first = rkb_open_lanes(writer, (uint32_t)width);
   at[node->rank - 1] = rkb_index_make(indices, RKB_INDEX_SUM, base, first);
   rkb_writer_know(writer, links.number, at, rkb_arena_format(writer->arena, "%s[%s]", sums, lane));
   rkb_write_roots(writer, launch, links.number, at);
   rkb_close_lanes(writer);
   *shape = (rkb_kernel_shape_t){
      .grid = rkb_ceildiv(writer, packs, threads),
      .threads = threads,
      .owns = rkb_arena_format(
         writer->arena, "A thread %s what goes to %s of %s, in order.", overwrites ? "puts" : "adds",
         width > 1 ? rkb_arena_format(writer->arena, "%lld neighbouring elements", (long long)width)
                   : "one element",
         node->name)};
}
