/* Finds products whose rows or terms each pick a matrix, and writes the kernel that lists them by matrix.  One thread. */
#include "generator/tile/rows_by_matrix.h"

#include "generator/graph/picked_rows.h"

#define MOST_WARPS 32
#define MOST_COUNTS 8192 /* counts of rows in shared memory, one for each warp and matrix */

static bool is_one(const rkb_graph_t *graph, uint32_t size) {
   return graph->sizes.list[size].constant && graph->sizes.list[size].at[0] == 1;
}

static bool is_zero(const rkb_graph_t *graph, uint32_t size) {
   return graph->sizes.list[size].constant && graph->sizes.list[size].at[0] == 0;
}

/* If a product's factor is a gather of as many matrices as there are rows, returns the gather.  RKB_NO_NODE: it is
 * something else. */
static uint32_t gather_of(const rkb_graph_t *graph, uint32_t factor, uint32_t rows) {
   const rkb_node_t *node = &graph->nodes[factor];
   while (node->kind == RKB_NODE_RESHAPE && graph->nodes[node->inputs[0]].rank &&
          graph->nodes[node->inputs[0]].shape[0] == rows) {
      factor = node->inputs[0];
      node = &graph->nodes[factor];
   }
   if (node->kind != RKB_NODE_GATHER || node->shape[0] != rows || !is_zero(graph, node->integers[0]) ||
       rkb_picked_rows(graph, node->inputs[1], 0, rows) == RKB_NO_NODE)
      return RKB_NO_NODE;
   const rkb_size_t *matrices = &graph->sizes.list[graph->nodes[node->inputs[0]].shape[0]];
   return rkb_sizes_most(&graph->sizes, matrices->text) <= RKB_MOST_PICKED ? factor : RKB_NO_NODE;
}

uint32_t rkb_rows_by_matrix_pick(const rkb_graph_t *graph, uint32_t product, uint32_t *side) {
   const rkb_node_t *node = &graph->nodes[product];
   uint32_t found = RKB_NO_NODE;
   for (uint32_t s = 0; s < 2 && node->kind == RKB_NODE_MATMUL && node->rank == 3 && found == RKB_NO_NODE;
        s++) {
      const rkb_node_t *picked = &graph->nodes[node->inputs[s]], *other = &graph->nodes[node->inputs[!s]];
      if (!is_one(graph, node->shape[s ? 1 : 2]) || picked->rank != 3 || other->rank != 3 ||
          picked->shape[0] != node->shape[0] || other->shape[0] != node->shape[0])
         continue;
      found = gather_of(graph, node->inputs[s], node->shape[0]);
      *side = s;
   }
   return found;
}

uint32_t rkb_rows_by_matrix_put(const rkb_graph_t *graph, uint32_t product) {
   const rkb_node_t *node = &graph->nodes[product];
   if (node->kind != RKB_NODE_MATMUL || node->rank != 3 || is_zero(graph, node->integers[0]))
      return RKB_NO_NODE;
   const rkb_node_t *put = &graph->nodes[node->inputs[0]];
   const bool found = put->kind == RKB_NODE_PUT && !rkb_node_overwrites(put) && put->input_count == 2 &&
                      put->rank == 3 && put->shape[0] == node->shape[0] && is_zero(graph, put->integers[0]) &&
                      rkb_picked_rows(graph, put->inputs[1], 1, put->shape[1]) != RKB_NO_NODE &&
                      rkb_sizes_most(&graph->sizes, graph->sizes.list[put->shape[0]].text) <= RKB_MOST_PICKED;
   return found ? node->inputs[0] : RKB_NO_NODE;
}

bool rkb_rows_by_matrix_apply(const rkb_graph_t *graph, uint32_t product) {
   uint32_t side;
   return rkb_rows_by_matrix_put(graph, product) != RKB_NO_NODE ||
          rkb_rows_by_matrix_pick(graph, product, &side) != RKB_NO_NODE;
}

const char *rkb_rows_by_matrix_rows_name(const rkb_writer_t *writer, uint32_t product) {
   return rkb_arena_format(writer->arena, "%s_rows", writer->graph->nodes[product].name);
}

const char *rkb_rows_by_matrix_name(const rkb_writer_t *writer, uint32_t product) {
   return rkb_arena_format(writer->arena, "%s_lists", writer->graph->nodes[product].name);
}

/* What is listed: sizes, and the input that has a matrix's number for each row. */
typedef struct listed {
   uint32_t rows, matrices, numbers;
   bool terms; /* whether terms of a sum are listed, and not rows of a product */
} listed_t;

static listed_t listed_of(const rkb_graph_t *graph, uint32_t product) {
   uint32_t side = 0;
   const rkb_node_t *node = &graph->nodes[product];
   const uint32_t number = rkb_rows_by_matrix_put(graph, product);
   if (number == RKB_NO_NODE) {
      const rkb_node_t *pick = &graph->nodes[rkb_rows_by_matrix_pick(graph, product, &side)];
      return (listed_t){.rows = node->shape[0],
                        .matrices = graph->nodes[pick->inputs[0]].shape[0],
                        .numbers = rkb_picked_rows(graph, pick->inputs[1], 0, node->shape[0])};
   }
   const rkb_node_t *put = &graph->nodes[number];
   return (listed_t){.rows = put->shape[1],
                     .matrices = put->shape[0],
                     .numbers = rkb_picked_rows(graph, put->inputs[1], 1, put->shape[1]),
                     .terms = true};
}

const rkb_index_t *rkb_rows_by_matrix_rows(rkb_writer_t *writer, uint32_t product) {
   return rkb_index_size(&writer->indices, listed_of(writer->graph, product).rows);
}

/* The last tile of each matrix may be partly empty. */
const rkb_index_t *rkb_rows_by_matrix_tiles(rkb_writer_t *writer, uint32_t product, int64_t tile) {
   rkb_indices_t *indices = &writer->indices;
   const listed_t listed = listed_of(writer->graph, product);
   const rkb_index_t *matrices = rkb_index_size(indices, listed.matrices);
   if (listed.terms)
      return matrices;
   const rkb_index_t *rows = rkb_index_size(indices, listed.rows),
                     *rest = rkb_index_constant(indices, tile - 1),
                     *whole = rkb_index_make(indices, RKB_INDEX_QUOTIENT,
                                             rkb_index_make(indices, RKB_INDEX_SUM, rows, rest),
                                             rkb_index_constant(indices, tile));
   return rkb_index_make(indices, RKB_INDEX_SUM, whole, matrices);
}

const rkb_index_t *rkb_rows_by_matrix_row(rkb_writer_t *writer, uint32_t product, const char *place) {
   const char *rows =
      rkb_writer_buffer(writer, rkb_rows_by_matrix_rows_name(writer, product), RKB_I32, false);
   const rkb_term_t term = {rkb_arena_format(writer->arena, "%s[%s]", rows, place), writer->depth, 0};
   return rkb_writer_picked(writer, term, rkb_rows_by_matrix_rows(writer, product), "listed");
}

/* The launch that is written, and the names of its buffers and sizes. */
typedef struct list {
   listed_t listed;
   const rkb_index_t *rows;
   const char *row_count, *matrix_count, *rows_name;
   long long warps, tile;
} list_t;

/* Writes a loop over a warp's rows, 32 at a time: they are counted, or get their places. */
static void write_rows(rkb_writer_t *writer, const list_t *list, bool placed) {
   const char *row = rkb_writer_name(writer, "row");
   rkb_write_open(writer, false, "for (index base = begin; base < end; base += 32)");
   rkb_write(writer, "const index %s = base + lane;", row);
   rkb_write(writer, "int own = -1;");
   rkb_write_open(writer, true, "if (%s < end)", row);
   const rkb_index_t *at[RKB_MAX_RANK] = {rkb_writer_variable(writer, row, list->rows)};
   rkb_write(writer, "own = (int)%s;", rkb_write_value(writer, list->listed.numbers, at).text);
   rkb_write_close(writer);
   rkb_write(writer, "const unsigned same = __match_any_sync(0xffffffffu, own);");
   rkb_write(writer, "const unsigned before = same & ((1u << lane) - 1);");
   if (placed) {
      rkb_write(writer, "if (own >= 0)");
      rkb_write(writer, "   %s[counts[warp * %s + own] + __popc(before)] = (int)%s;", list->rows_name,
                list->matrix_count, row);
      rkb_write(writer, "__syncwarp(); /* all have read where theirs go on */");
   }
   rkb_write(writer, "if (own >= 0 && before == 0)");
   rkb_write(writer, "   counts[warp * %s + own] += __popc(same);", list->matrix_count);
   rkb_write(writer, "__syncwarp();");
   rkb_write_close(writer);
}

/* Each thread has some of the matrices: it writes where the rows of each begin, and the tiles of these rows.  Terms have no tiles. */
static void write_tiles(rkb_writer_t *writer, const list_t *list, const char *lists) {
   const char *matrices = list->matrix_count;
   const long long warps = list->warps, threads = 32 * warps, tile = list->tile;
   rkb_write_open(writer, false, "for (int matrix = threadIdx.x; matrix < %s; matrix += %lld)", matrices,
                  threads);
   rkb_write(writer, "int sum = 0;");
   rkb_write_open(writer, false, "for (int w = 0; w < %lld; w++)", warps);
   rkb_write(writer, "const int count = counts[w * %s + matrix];", matrices);
   rkb_write(writer, "counts[w * %s + matrix] = sum;", matrices);
   rkb_write(writer, "sum += count;");
   rkb_write_close(writer);
   rkb_write(writer, "totals[matrix] = sum;");
   rkb_write_close(writer);
   rkb_write(writer, "__syncthreads();");
   rkb_write_open(writer, false, "for (int matrix = threadIdx.x; matrix < %s; matrix += %lld)", matrices,
                  threads);
   rkb_write(writer, list->listed.terms ? "int place = 0;" : "int place = 0, tile = 0;");
   rkb_write_open(writer, false, "for (int other = 0; other < matrix; other++)");
   rkb_write(writer, "place += totals[other];");
   if (!list->listed.terms)
      rkb_write(writer, "tile += (totals[other] + %lld) / %lld;", tile - 1, tile);
   rkb_write_close(writer);
   rkb_write(writer, "for (int w = 0; w < %lld; w++)", warps);
   rkb_write(writer, "   counts[w * %s + matrix] += place;", matrices);
   if (list->listed.terms) {
      rkb_write(writer, "%s[2 * matrix] = place;", lists);
      rkb_write(writer, "%s[2 * matrix + 1] = place + totals[matrix];", lists);
      rkb_write_close(writer);
      rkb_write(writer, "__syncthreads();");
      return;
   }
   rkb_write(writer, "const int last = place + totals[matrix];");
   rkb_write_open(writer, false, "for (; place < last; place += %lld, tile++)", tile);
   rkb_write(writer, "%s[2 * tile] = place;", lists);
   rkb_write(writer, "%s[2 * tile + 1] = last - place < %lld ? last : place + %lld;", lists, tile, tile);
   rkb_write_close(writer);
   rkb_write(writer, "if (matrix == %s - 1)", matrices);
   rkb_write(writer, "   used = tile;");
   rkb_write_close(writer);
   rkb_write(writer, "__syncthreads();");
}

void rkb_write_rows_by_matrix_kernel(rkb_writer_t *writer, const rkb_launch_t *launch,
                                     rkb_kernel_shape_t *shape) {
   rkb_indices_t *indices = &writer->indices;
   const uint32_t product = launch->anchors[0];
   const listed_t listed = listed_of(writer->graph, product);
   const rkb_index_t *matrices = rkb_index_size(indices, listed.matrices),
                     *rows = rkb_index_size(indices, listed.rows);
   const long long most =
                      (long long)rkb_sizes_most(&writer->graph->sizes, rkb_index_manifest(indices, matrices)),
                   warps = most * MOST_WARPS <= MOST_COUNTS ? MOST_WARPS : MOST_COUNTS / most,
                   threads = 32 * warps;
   const char *lists = rkb_writer_buffer(writer, rkb_rows_by_matrix_name(writer, product), RKB_I32, true);
   const list_t list = {
      .listed = listed,
      .rows = rows,
      .row_count = rkb_writer_uniform(writer, rows),
      .matrix_count = rkb_writer_uniform(writer, matrices),
      .rows_name = rkb_writer_buffer(writer, rkb_rows_by_matrix_rows_name(writer, product), RKB_I32, true),
      .warps = warps,
      .tile = (long long)launch->decisions[RKB_TILE_M]};
   rkb_write(writer,
             listed.terms ? "__shared__ int counts[%lld], totals[%lld];"
                          : "__shared__ int counts[%lld], totals[%lld], used;",
             warps * most, most);
   rkb_write(writer, "const int warp = threadIdx.x / 32, lane = threadIdx.x %% 32;");
   rkb_write(writer, "const index share = (%s + %lld) / %lld * 32;", list.row_count, threads - 1, threads);
   rkb_write(writer, "const index begin = warp * share < %s ? warp * share : %s;", list.row_count,
             list.row_count);
   rkb_write(writer, "const index end = %s - begin < share ? %s : begin + share;", list.row_count,
             list.row_count);
   rkb_write(writer, "for (int i = threadIdx.x; i < %lld * %s; i += %lld)", warps, list.matrix_count,
             threads);
   rkb_write(writer, "   counts[i] = 0;");
   rkb_write(writer, "__syncthreads();");
   write_rows(writer, &list, false);
   rkb_write(writer, "__syncthreads();");
   write_tiles(writer, &list, lists);
   if (!listed.terms) {
      rkb_write(writer, "for (index empty = used + (int)threadIdx.x; empty < %s; empty += %lld)",
                rkb_writer_uniform(writer, rkb_rows_by_matrix_tiles(writer, product, list.tile)), threads);
      rkb_write(writer, "   %s[2 * empty] = %s[2 * empty + 1] = 0;", lists, lists);
   }
   write_rows(writer, &list, true);
   *shape = (rkb_kernel_shape_t){
      .grid = "1",
      .threads = threads,
      .owns = rkb_arena_format(
         writer->arena,
         "A block lists the %s of %s by the matrix that each picks: it counts them, then gives each its place.",
         listed.terms ? "terms" : "rows", writer->graph->nodes[product].name)};
}
