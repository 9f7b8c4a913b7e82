/* Kernels of running sums and products along one dim, whose work grows with the number of elements and not
 * with its square.  A block owns a line of neighbours and goes through it in pieces.  Where the elements of a
 * line are not neighbours in memory, a thread owns a line, and neighbouring threads own neighbouring lines.  One
 * thread writes them. */
#include <string.h>
#include "generator/text/launch_text.h"

typedef struct line {
   const rkb_node_t *node;
   uint32_t number, dim;
   bool product, recurrence;
   const rkb_index_t *line, *count, *length;
} line_t;

static line_t line_of(rkb_writer_t *writer, const rkb_launch_t *launch) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_node_t *node = &writer->graph->nodes[launch->anchors[0]];
   line_t line = {.node = node, .number = launch->anchors[0], .dim = (uint32_t)writer->graph->sizes.list[node->integers[0]].at[0]};
   line.product = strcmp(node->operation, "cumulative_product") == 0;
   line.length = rkb_index_size(indices, node->shape[line.dim]);
   line.recurrence = strcmp(node->operation, "recurrence") == 0;
   line.count = rkb_line_count(writer, node, line.dim);
   return line;
}

const rkb_index_t *rkb_line_count(rkb_writer_t *writer, const rkb_node_t *node, uint32_t dim) {
   const rkb_index_t *count = rkb_index_constant(&writer->indices, 1);
   for (uint32_t d = 0; d < node->rank; d++)
      if (d != dim)
         count = rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, count, rkb_index_size(&writer->indices, node->shape[d]));
   return count;
}

void rkb_line_at(rkb_writer_t *writer, const rkb_node_t *node, uint32_t dim, const rkb_index_t *line, const rkb_index_t *place,
                 const rkb_index_t **at) {
   uint32_t shape[RKB_MAX_RANK] = {0}, dims[RKB_MAX_RANK], count = 0;
   const rkb_index_t *others[RKB_MAX_RANK];
   for (uint32_t d = 0; d < node->rank; d++)
      if (d != dim) {
         dims[count] = d;
         shape[count++] = node->shape[d];
      }
   if (dim + 1 == node->rank) /* joining the coordinates gives this expression */
      rkb_index_make(&writer->indices, RKB_INDEX_SUM,
                     rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, line, rkb_index_size(&writer->indices, node->shape[dim])), place);
   rkb_index_split(&writer->indices, count, shape, line, others);
   for (uint32_t i = 0; i < count; i++)
      at[dims[i]] = others[i];
   at[dim] = place;
}

/* Finds the coordinates of a place of the line. */
static void place_at(rkb_writer_t *writer, const line_t *line, const rkb_index_t *place, const rkb_index_t **at) {
   rkb_line_at(writer, line->node, line->dim, line->line, place, at);
}

static void write_across(rkb_writer_t *writer, const rkb_launch_t *launch, line_t *line, rkb_kernel_shape_t *shape) {
   const int64_t threads = launch->decisions[RKB_THREADS];
   const rkb_index_t *at[RKB_MAX_RANK];
   const char *name = rkb_writer_name(writer, line->node->name);
   /* The name is in use now. */
   rkb_writer_know(writer, line->number, (const rkb_index_t *const[RKB_MAX_RANK]){0}, name);
   rkb_write(writer, "const index line = (index)blockIdx.x * %lld + threadIdx.x;", (long long)threads);
   rkb_write(writer, "if (line >= %s)", rkb_writer_uniform(writer, line->count));
   rkb_write(writer, "   return;");
   line->line = rkb_writer_variable(writer, "line", line->count);
   rkb_write(writer, "float %s = %s;", name, line->product ? "1.0f" : "0.0f");
   rkb_write_unroll(writer, "#pragma unroll 4"); /* so many loads are in flight at once */
   rkb_write_open(writer, true, "for (index place = 0; place < %s; place++)", rkb_writer_uniform(writer, line->length));
   place_at(writer, line, rkb_writer_variable(writer, "place", line->length), at);
   if (line->recurrence) {
      const char *factor = rkb_write_float(writer, line->node->inputs[0], at).text;
      rkb_write(writer, "%s = %s * %s + %s;", name, factor, name, rkb_write_float(writer, line->node->inputs[1], at).text);
   } else
      rkb_write(writer, "%s %s= %s;", name, line->product ? "*" : "+", rkb_write_float(writer, line->node->inputs[0], at).text);
   rkb_writer_know(writer, line->number, at, name);
   rkb_write_roots(writer, launch, line->number, at);
   rkb_write_close(writer);
   *shape = (rkb_kernel_shape_t){.grid = rkb_ceildiv(writer, line->count, threads),
                                 .threads = threads,
                                 .owns = rkb_arena_format(writer->arena, "A thread owns a line of %s, its neighbours the lines beside it.",
                                                          line->node->name)};
}

/* Opens the loop over a thread's lanes of this piece, in which the coordinates are known. */
static void open_piece(rkb_writer_t *writer, const line_t *line, const rkb_index_t *pack, uint32_t width, const char *packs,
                       const rkb_index_t **at) {
   rkb_indices_t *indices = &writer->indices;
   rkb_write_open(writer, true, "if (%s < %s)", pack->name, packs);
   const rkb_index_t *lane = rkb_open_lanes(writer, width);
   const rkb_index_t *place = rkb_index_make(indices, RKB_INDEX_SUM,
                                             rkb_index_make(indices, RKB_INDEX_PRODUCT, pack, rkb_index_constant(indices, width)), lane);
   place_at(writer, line, place, at);
}

static rkb_kernel_shape_t shape_of_line(rkb_writer_t *writer, const line_t *line, int64_t threads) {
   return (rkb_kernel_shape_t){
      .grid = rkb_index_manifest(&writer->indices, line->count),
      .threads = threads,
      .owns = rkb_arena_format(writer->arena, "A block owns a line of %s and carries what it has so far from piece to piece.",
                               line->node->name)};
}

/* Joins a thread's steps, then those of the threads: (a2, b2) after (a1, b1) is (a1 a2, a2 b1 + b2).  before:
 * the state before a thread's first step. */
static void write_carried(rkb_writer_t *writer, const char *results, int64_t width, int64_t threads) {
   rkb_write_open(writer, false, "for (int i = 1; i < %lld; i++)", (long long)width);
   rkb_write(writer, "%s[i] += factors[i] * %s[i - 1];", results, results);
   rkb_write(writer, "factors[i] *= factors[i - 1];");
   rkb_write_close(writer);
   rkb_write(writer, "float factor = factors[%lld], state = %s[%lld], whole_factor, whole_state;", (long long)width - 1, results,
             (long long)width - 1);
   rkb_write(writer, "steps_before<%lld>(factor, state, whole_factor, whole_state);", (long long)threads);
   rkb_write(writer, "const float before = factor * carried + state;");
   rkb_write(writer, "carried = whole_factor * carried + whole_state;");
}

static void write_along(rkb_writer_t *writer, const rkb_launch_t *launch, line_t *line, rkb_kernel_shape_t *shape) {
   const int64_t threads = launch->decisions[RKB_THREADS], width = launch->decisions[RKB_VECTOR];
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *at[RKB_MAX_RANK];
   const rkb_index_t *packs = rkb_index_make(indices, RKB_INDEX_QUOTIENT, line->length, rkb_index_constant(indices, width));
   const char *all = rkb_writer_uniform(writer, packs), sign = line->product ? '*' : '+',
              *nothing = line->product ? "1.0f" : "0.0f", *word = line->product ? "product" : "sum";
   const char *results = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%ss", word));
   const char *lane = width > 1 ? "lane" : "0";
   /* The name is in use now. */
   rkb_writer_know(writer, line->number, (const rkb_index_t *const[RKB_MAX_RANK]){0}, results);
   rkb_write(writer, "const index line = blockIdx.x;");
   line->line = rkb_writer_variable(writer, "line", line->count);
   rkb_write(writer, "float carried = %s;", nothing);
   rkb_write_open(writer, false, "for (index first = 0; first < %s; first += %lld)", all, (long long)threads);
   rkb_write(writer, "const index pack = first + threadIdx.x;");
   rkb_write(writer, line->recurrence ? "float %s[%lld], factors[%lld];" : "float %s[%lld];", results, (long long)width, (long long)width);
   rkb_write_open(writer, false, "for (int i = 0; i < %lld; i++)", (long long)width);
   rkb_write(writer, "%s[i] = %s;", results, nothing);
   if (line->recurrence)
      rkb_write(writer, "factors[i] = 1.0f;");
   rkb_write_close(writer);
   const rkb_index_t *pack = rkb_writer_variable(writer, "pack", packs);
   open_piece(writer, line, pack, (uint32_t)width, all, at);
   if (line->recurrence)
      rkb_write(writer, "factors[%s] = %s;", lane, rkb_write_float(writer, line->node->inputs[0], at).text);
   rkb_write(writer, "%s[%s] = %s;", results, lane, rkb_write_float(writer, line->node->inputs[line->recurrence], at).text);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
   if (line->recurrence) {
      write_carried(writer, results, width, threads);
      open_piece(writer, line, pack, (uint32_t)width, all, at);
      rkb_writer_know(writer, line->number, at, rkb_arena_format(writer->arena, "(factors[%s] * before + %s[%s])", lane, results, lane));
      rkb_write_roots(writer, launch, line->number, at);
      rkb_close_lanes(writer);
      rkb_write_close(writer);
      rkb_write_close(writer);
      *shape = shape_of_line(writer, line, threads);
      return;
   }
   rkb_write(writer, "for (int i = 1; i < %lld; i++)", (long long)width);
   rkb_write(writer, "   %s[i] %c= %s[i - 1];", results, sign, results);
   rkb_write(writer, "float whole;");
   rkb_write(writer, "const float before = carried %c %s_before<%lld>(%s[%lld], whole);", sign, word, (long long)threads, results,
             (long long)width - 1);
   rkb_write(writer, "carried %c= whole;", sign);
   open_piece(writer, line, pack, (uint32_t)width, all, at);
   rkb_writer_know(writer, line->number, at, rkb_arena_format(writer->arena, "(before %c %s[%s])", sign, results, lane));
   rkb_write_roots(writer, launch, line->number, at);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
   rkb_write_close(writer);
   *shape = shape_of_line(writer, line, threads);
}

void rkb_write_scan_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   line_t line = line_of(writer, launch);
   if (line.dim + 1 == line.node->rank)
      write_along(writer, launch, &line, shape);
   else
      write_across(writer, launch, &line, shape);
}

void rkb_recurrence_helpers(const char *code, rkb_text_t *out) {
   if (strstr(code, " steps_before<"))
      rkb_text_add(out,
                   "/* Gives a thread the joined steps of the threads before it, in a fixed order; whole gets those of all. */\n"
                   "template <int threads> __device__ void steps_before(float &factor, float &state, float &whole_factor, float &whole_state) {\n"
                   "   __shared__ float factors[threads / 32], states[threads / 32];\n"
                   "   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n"
                   "   for (int distance = 1; distance < 32; distance *= 2) {\n"
                   "      const float other_factor = __shfl_up_sync(0xffffffffu, factor, distance);\n"
                   "      const float other_state = __shfl_up_sync(0xffffffffu, state, distance);\n"
                   "      if (lane >= distance) {\n"
                   "         state += factor * other_state;\n"
                   "         factor *= other_factor;\n"
                   "      }\n"
                   "   }\n"
                   "   __syncthreads(); /* what an earlier call left has been read */\n"
                   "   if (lane == 31) {\n"
                   "      factors[warp] = factor;\n"
                   "      states[warp] = state;\n"
                   "   }\n"
                   "   __syncthreads();\n"
                   "   float before_factor = 1.0f, before_state = 0.0f;\n"
                   "   whole_factor = 1.0f;\n"
                   "   whole_state = 0.0f;\n"
                   "   for (int i = 0; i < threads / 32; i++) {\n"
                   "      before_factor = i == warp ? whole_factor : before_factor;\n"
                   "      before_state = i == warp ? whole_state : before_state;\n"
                   "      whole_state = factors[i] * whole_state + states[i];\n"
                   "      whole_factor *= factors[i];\n"
                   "   }\n"
                   "   factor = __shfl_up_sync(0xffffffffu, factor, 1);\n"
                   "   state = __shfl_up_sync(0xffffffffu, state, 1);\n"
                   "   state = lane == 0 ? before_state : factor * before_state + state;\n"
                   "   factor = lane == 0 ? before_factor : before_factor * factor;\n"
                   "}\n\n");
}
