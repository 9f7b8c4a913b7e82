/* Kernels that find the largest (or smallest) elements of rows, in order: a block owns a row, and in each turn looks for the next one
 * after the one before.  Equal elements come in the order of their places.  One thread writes them. */
#include <string.h>
#include "generator/launch_text.h"

static bool gives_places(const rkb_node_t *node) {
   return strcmp(node->operation, "ranked_places") == 0;
}

void rkb_write_rank_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t threads = launch->decisions[RKB_THREADS];
   const rkb_graph_t *graph = writer->graph;
   rkb_indices_t *indices = &writer->indices;
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]], *from = &graph->nodes[node->inputs[0]];
   const uint32_t dim = (uint32_t)graph->sizes.list[node->integers[0]].at[0];
   const bool descending = graph->sizes.list[node->integers[1]].at[0] != 0;
   const rkb_index_t *length = rkb_index_size(indices, from->shape[dim]), *turns = rkb_index_size(indices, node->shape[dim]),
                     *at[RKB_MAX_RANK];
   for (uint32_t a = 1; a < launch->anchor_count; a++) {
      const rkb_node_t *other = &graph->nodes[launch->anchors[a]];
      if (other->kind != RKB_NODE_RANK || other->inputs[0] != node->inputs[0] || other->integers[0] != node->integers[0] ||
          other->integers[1] != node->integers[1] || other->shape[dim] != node->shape[dim])
         rkb_writer_fail(writer, "%s has other rows", other->name);
   }
   rkb_write(writer, "const index line = blockIdx.x;");
   const rkb_index_t *count = rkb_line_count(writer, from, dim), *line = rkb_writer_variable(writer, "line", count);
   rkb_write(writer, "float last = INFINITY;");
   rkb_write(writer, "index last_place = -1;");
   rkb_write_open(writer, false, "for (index turn = 0; turn < %s; turn++)", rkb_writer_uniform(writer, turns));
   const rkb_index_t *turn = rkb_writer_variable(writer, "turn", turns);
   rkb_write(writer, "float best = -INFINITY;");
   rkb_write(writer, "index best_place = %s;", rkb_writer_uniform(writer, length));
   rkb_write_open(writer, true, "for (index place = threadIdx.x; place < %s; place += %lld)", rkb_writer_uniform(writer, length),
                  (long long)threads);
   rkb_line_at(writer, from, dim, line, rkb_writer_variable(writer, "place", length), at);
   rkb_write(writer, "const float element = %s%s;", descending ? "" : "-", rkb_write_float(writer, node->inputs[0], at).text);
   rkb_write(writer, "const bool is_left = element < last || (element == last && place > last_place);");
   rkb_write(writer, "if (is_left && comes_before(element, place, best, best_place)) {");
   rkb_write(writer, "   best = element;");
   rkb_write(writer, "   best_place = place;");
   rkb_write(writer, "}");
   rkb_write_close(writer);
   rkb_write(writer, "first_of_block<%lld>(best, best_place);", (long long)threads);
   rkb_write(writer, "last = best;");
   rkb_write(writer, "last_place = best_place;");
   rkb_write_open(writer, true, "if (threadIdx.x == 0)");
   rkb_line_at(writer, node, dim, line, turn, at);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      rkb_writer_know(writer, launch->anchors[a], at,
                      gives_places(&graph->nodes[launch->anchors[a]]) ? "(long long)best_place"
                      : descending                                   ? "best"
                                                                     : "(-best)");
   rkb_write_roots(writer, launch, launch->anchors[0], at);
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
      "/* The order of a rank: larger elements first, of equal ones the first place. */\n"
      "template <typename index> __device__ __forceinline__ bool comes_before(float a, index a_place, float b, index b_place) {\n"
      "   return a > b || (a == b && a_place < b_place);\n"
      "}\n\n"
      "/* Every thread gets what comes first of what the threads of the block have. */\n"
      "template <int threads, typename index> __device__ void first_of_block(float &element, index &place) {\n"
      "   __shared__ float elements[threads / 32];\n"
      "   __shared__ index places[threads / 32];\n"
      "   for (int distance = 16; distance > 0; distance /= 2) {\n"
      "      const float other = __shfl_xor_sync(0xffffffffu, element, distance);\n"
      "      const index other_place = __shfl_xor_sync(0xffffffffu, place, distance);\n"
      "      if (comes_before(other, other_place, element, place)) {\n"
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
      "      if (comes_before(elements[warp], places[warp], element, place)) {\n"
      "         element = elements[warp];\n"
      "         place = places[warp];\n"
      "      }\n"
      "}\n\n");
}
