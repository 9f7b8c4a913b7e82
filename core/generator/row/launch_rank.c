/* Kernels that find the largest (or smallest) elements of rows, in order.  A block owns a row, and in each
 * turn looks for the element that follows the last one.  Equal elements come in the order of their places.
 * One thread writes them. */
#include "generator/row/ranks.h"

#include <string.h>

#define NO_NUMBER "__int_as_float(0x7fffffff)"

static bool gives_places(const rkb_node_t *node) {
   return strcmp(node->operation, "ranked_places") == 0;
}

rkb_ranks_t rkb_ranks_of(rkb_writer_t *writer, const rkb_launch_t *launch) {
   const rkb_graph_t *graph = writer->graph;
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]], *from = &graph->nodes[node->inputs[0]];
   const uint32_t dim = (uint32_t)graph->sizes.list[node->integers[0]].at[0];
   for (uint32_t a = 1; a < launch->anchor_count; a++) {
      const rkb_node_t *other = &graph->nodes[launch->anchors[a]];
      if (other->kind != RKB_NODE_RANK || other->inputs[0] != node->inputs[0] || other->integers[0] != node->integers[0] ||
          other->integers[1] != node->integers[1] || other->shape[dim] != node->shape[dim])
         rkb_writer_fail(writer, "%s has other rows", other->name);
   }
   return (rkb_ranks_t){.launch = launch,
                        .node = node,
                        .from = from,
                        .dim = dim,
                        .descending = graph->sizes.list[node->integers[1]].at[0] != 0,
                        .length = rkb_index_size(&writer->indices, from->shape[dim]),
                        .turns = rkb_index_size(&writer->indices, node->shape[dim]),
                        .count = rkb_line_count(writer, from, dim)};
}

void rkb_ranks_write_found(rkb_writer_t *writer, const rkb_ranks_t *ranks, const rkb_index_t *turn, const char *element, const char *place) {
   const rkb_index_t *at[RKB_MAX_RANK];
   rkb_line_at(writer, ranks->node, ranks->dim, ranks->line, turn, at);
   for (uint32_t a = 0; a < ranks->launch->anchor_count; a++)
      rkb_writer_know(writer, ranks->launch->anchors[a], at, gives_places(&writer->graph->nodes[ranks->launch->anchors[a]]) ? place : element);
   rkb_write_roots(writer, ranks->launch, ranks->launch->anchors[0], at);
}

void rkb_write_rank_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t threads = launch->decisions[RKB_THREADS];
   rkb_indices_t *indices = &writer->indices;
   rkb_ranks_t ranks = rkb_ranks_of(writer, launch);
   const rkb_node_t *node = ranks.node;
   const rkb_index_t *length = ranks.length, *turns = ranks.turns, *count = ranks.count, *at[RKB_MAX_RANK];
   const bool descending = ranks.descending;
   const char *const nan_first = descending ? "true" : "false";
   rkb_write(writer, "const index line = blockIdx.x;");
   ranks.line = rkb_writer_variable(writer, "line", count);
   /* NaN is larger than every number (torch.sort).  With its sign changed it is still a NaN. */
   rkb_write(writer, "float last = %s;", descending ? NO_NUMBER : "INFINITY");
   rkb_write(writer, "index last_place = -1;");
   rkb_write_open(writer, false, "for (index turn = 0; turn < %s; turn++)", rkb_writer_uniform(writer, turns));
   const rkb_index_t *turn = rkb_writer_variable(writer, "turn", turns);
   rkb_write(writer, "float best = %s;", descending ? "-INFINITY" : NO_NUMBER);
   rkb_write(writer, "index best_place = %s;", rkb_writer_uniform(writer, length));
   rkb_write_open(writer, true, "for (index place = threadIdx.x; place < %s; place += %lld)", rkb_writer_uniform(writer, length),
                  (long long)threads);
   rkb_line_at(writer, ranks.from, ranks.dim, ranks.line, rkb_writer_variable(writer, "place", length), at);
   rkb_write(writer, "const float element = %s%s;", descending ? "" : "-", rkb_write_float(writer, node->inputs[0], at).text);
   rkb_write(writer, "if (comes_before<%s>(last, last_place, element, place) && comes_before<%s>(element, place, best, best_place)) {", nan_first,
             nan_first);
   rkb_write(writer, "   best = element;");
   rkb_write(writer, "   best_place = place;");
   rkb_write(writer, "}");
   rkb_write_close(writer);
   rkb_write(writer, "first_of_block<%lld, %s>(best, best_place);", (long long)threads, nan_first);
   rkb_write(writer, "last = best;");
   rkb_write(writer, "last_place = best_place;");
   rkb_write_open(writer, true, "if (threadIdx.x == 0)");
   rkb_ranks_write_found(writer, &ranks, turn, descending ? "best" : "(-best)", "(long long)best_place");
   rkb_write_close(writer);
   rkb_write_close(writer);
   *shape = (rkb_kernel_shape_t){
      .grid = rkb_index_manifest(indices, count),
      .threads = threads,
      .owns = rkb_arena_format(writer->arena, "A block owns a row of %s and finds one element in each turn.", node->name)};
}

void rkb_rank_helpers(const char *code, rkb_text_t *out) {
   if (!strstr(code, "first_of_block<"))
      return;
   rkb_text_add(
      out,
      "/* The order of a rank: larger elements first, of equal ones the first place, and NaN before or behind all numbers. */\n"
      "template <bool nan_first, typename index> __device__ __forceinline__ bool comes_before(float a, index a_place, float b, index b_place) {\n"
      "   const bool a_is = a != a, b_is = b != b;\n"
      "   if (a_is != b_is)\n"
      "      return nan_first == a_is;\n"
      "   return a > b || ((a == b || a_is) && a_place < b_place);\n"
      "}\n\n"
      "/* Every thread gets what comes first of what the threads of the block have. */\n"
      "template <int threads, bool nan_first, typename index> __device__ void first_of_block(float &element, index &place) {\n"
      "   __shared__ float elements[threads / 32];\n"
      "   __shared__ index places[threads / 32];\n"
      "   for (int distance = 16; distance > 0; distance /= 2) {\n"
      "      const float other = __shfl_xor_sync(0xffffffffu, element, distance);\n"
      "      const index other_place = __shfl_xor_sync(0xffffffffu, place, distance);\n"
      "      if (comes_before<nan_first>(other, other_place, element, place)) {\n"
      "         element = other;\n"
      "         place = other_place;\n"
      "      }\n"
      "   }\n"
      "   __syncthreads(); /* what an earlier call left has been read */\n"
      "   if (threadIdx.x % 32 == 0) {\n"
      "      elements[threadIdx.x / 32] = element;\n"
      "      places[threadIdx.x / 32] = place;\n"
      "   }\n"
      "   __syncthreads();\n"
      "   for (int warp = 0; warp < threads / 32; warp++)\n"
      "      if (comes_before<nan_first>(elements[warp], places[warp], element, place)) {\n"
      "         element = elements[warp];\n"
      "         place = places[warp];\n"
      "      }\n"
      "}\n\n");
}
