/* Kernels that compute tiles of a product by tensor cores.  Tiles of both factors come to shared memory in stages; each warp loads
 * fragments of its own tile's rows and columns and multiplies them.  One thread writes them. */
#include "generator/tile/tensor_tile.h"

#include <math.h>
#include <string.h>
#include "generator/tile/convolution_extent.h"
#include "generator/tile/fragment_products.h"
#include "generator/tile/rows_by_matrix.h"
#include "generator/text/product_index.h"
#include "generator/tile/staging.h"
#include "generator/tile/stored_sums.h"
#include "generator/tile/warpgroup_tile.h"

/* Floats between rows, so that four rows of a fragment's pairs are in different banks. */
#define SUMS_PADDING 8
#define STORED_TOGETHER 4 /* elements of the output */

/* How many elements one side's tile has in a stage, at most: its rows may be the terms. */
static int64_t side_elements(const int64_t *d, int64_t extent) {
   const int64_t bytes = rkb_fragment_type(d[RKB_TENSOR])->bytes, rows = extent > d[RKB_TILE_K] ? extent : d[RKB_TILE_K];
   const int64_t words = d[RKB_SHARED_LAYOUT] != RKB_LAYOUT_PLAIN && bytes == 4 ? RKB_WORDS_PADDING * d[RKB_TILE_K] : 0,
                 padding = d[RKB_SHARED_LAYOUT] == RKB_LAYOUT_PADDED ? RKB_ROW_PADDING / bytes * rows : 0;
   return extent * d[RKB_TILE_K] + (words > padding ? words : padding);
}

static int64_t stage_bytes(const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   return (side_elements(d, d[RKB_TILE_M]) + side_elements(d, d[RKB_TILE_N])) * rkb_fragment_type(d[RKB_TENSOR])->bytes;
}

/* Bytes of shared memory: first the stages use it, and later the sums. */
static int64_t shared_of(const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions, stages = stage_bytes(launch) * d[RKB_STAGES],
                 sums = 4 * d[RKB_TILE_M] * (d[RKB_TILE_N] + SUMS_PADDING);
   return stages > sums ? stages : sums;
}

static int64_t threads_of(const int64_t *d) {
   return d[RKB_TILE_M] / d[RKB_WARP_M] * (d[RKB_TILE_N] / d[RKB_WARP_N]) * 32;
}

const char *rkb_tensor_refused(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t shared_bytes) {
   const int64_t *d = launch->decisions;
   if (!launch->anchor_count || !rkb_fragment_is_legal(graph, launch->anchors[0], d[RKB_TENSOR]))
      return "the tensor cores' type is not of the task's precision";
   const rkb_fragment_type_t *type = rkb_fragment_type(d[RKB_TENSOR]);
   if (d[RKB_LISTED] && (d[RKB_COPY] == RKB_COPY_TENSOR || d[RKB_SPLIT] > 1 || d[RKB_SMALL] ||
                         d[RKB_BESIDE] || !rkb_rows_by_matrix_apply(graph, launch->anchors[0])))
      return "rows are listed of products whose rows each pick a matrix, and of sums over such rows, without tensor maps, parts or launches beside them";
   if (d[RKB_TILE_M] % d[RKB_WARP_M] != 0 || d[RKB_TILE_N] % d[RKB_WARP_N] != 0)
      return "a warp's tile does not divide the block's";
   const int64_t threads = threads_of(d);
   if (threads > 1024)
      return "a block has at most 1024 threads";
   if (d[RKB_SHARED_LAYOUT] != RKB_LAYOUT_SWIZZLED &&
       (d[RKB_COPY] == RKB_COPY_TENSOR || d[RKB_TENSOR] == RKB_TENSOR_PATH_FP16X3))
      return "tensor maps and halves of floats need swizzled rows in shared memory";
   if (d[RKB_TILE_K] * type->bytes % RKB_FRAGMENT_BYTES != 0)
      return "the terms brought at a time are no whole fragments";
   if (rkb_fragment_products_refused(launch, threads))
      return rkb_fragment_products_refused(launch, threads);
   const int64_t sums = d[RKB_WARP_M] * d[RKB_WARP_N] / 32,
                 fragments = (d[RKB_WARP_M] + 2 * d[RKB_WARP_N]) / 8 *
                             (d[RKB_TENSOR] == RKB_TENSOR_PATH_TF32X3   ? 2
                              : d[RKB_TENSOR] == RKB_TENSOR_PATH_FP16X3 ? 3
                                                                        : 1);
   if (sums > 128 || (sums + fragments + 24) * threads > 65536)
      return "a warp's tile needs more registers than there are";
   if (d[RKB_COPY] == RKB_COPY_PLAIN && stage_bytes(launch) / threads > 256)
      return "the next terms need more registers than there are";
   if (shared_of(launch) > shared_bytes)
      return "the stages need more shared memory than a block has";
   const char *refused = rkb_convolution_is_tiled(graph, launch) ? rkb_convolution_refused(graph, launch, shared_bytes)
                         : d[RKB_COPY] == RKB_COPY_TENSOR       ? rkb_warpgroup_refused(launch, shared_bytes)
                                                                : NULL;
   if (refused)
      return refused;
   /* Sums in int32 hold this many products of bytes: 2^31 / 2^14. */
   if (d[RKB_TENSOR] == RKB_TENSOR_PATH_INT8) {
      const rkb_node_t *node = &graph->nodes[launch->anchors[0]], *left = &graph->nodes[node->inputs[0]];
      const uint32_t depth = left->shape[left->rank - (graph->sizes.list[node->integers[0]].at[0] ? 2 : 1)];
      if (node->kind != RKB_NODE_MATMUL || !(rkb_sizes_most(&graph->sizes, graph->sizes.list[depth].text) < 131072))
         return "a sum may pass the range of 32-bit integers";
   }
   return NULL;
}

/* How many elements 16 bytes hold. */
static uint32_t widest_of(const rkb_launch_t *launch) {
   return 16 / rkb_fragment_type(launch->decisions[RKB_TENSOR])->bytes;
}

uint32_t rkb_tensor_variants(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   return rkb_staging_layouts(graph, launch->anchors[0]);
}

bool rkb_tensor_add_condition(const rkb_graph_t *graph, rkb_condition_t *conditions, uint32_t *count,
                              rkb_condition_t wanted) {
   const rkb_size_t *size = &graph->sizes.list[wanted.size];
   if (size->constant)
      return size->at[0] % wanted.multiple == 0;
   for (uint32_t c = 0; c < *count; c++)
      if (conditions[c].size == wanted.size) {
         if (wanted.multiple > conditions[c].multiple)
            conditions[c].multiple = wanted.multiple;
         return true;
      }
   if (*count < RKB_TENSOR_CONDITIONS)
      conditions[(*count)++] = wanted;
   return true;
}

rkb_condition_t rkb_tensor_stored_together(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]];
   uint32_t picked = 1;
   if (launch->decisions[RKB_LISTED] &&
       rkb_rows_by_matrix_pick(graph, launch->anchors[0], &picked) == RKB_NO_NODE)
      picked = 1;
   const uint32_t dim = node->kind == RKB_NODE_MATMUL ? node->rank - (picked ? 1 : 2) : rkb_product_fast_dim(graph, launch->anchors[0], launch->roots[0]);
   return (rkb_condition_t){.size = node->shape[dim], .multiple = rkb_stored_together(graph, launch)};
}

uint32_t rkb_tensor_conditions(rkb_graph_t *graph, rkb_arena_t *arena, const rkb_storage_t *storage,
                               const rkb_launch_t *launch, uint32_t variant,
                               rkb_condition_t conditions[RKB_TENSOR_CONDITIONS], bool *possible) {
   uint32_t count = rkb_staging_layout(graph, launch->anchors[0], variant, conditions);
   const rkb_node_t *anchor = &graph->nodes[launch->anchors[0]];
   const uint32_t channels = anchor->shape[1];
   /* Channels come last, in rows of channels and taps; as many neighbours belong to one tap as there are channels. */
   if (anchor->kind == RKB_NODE_CONVOLUTION_WEIGHT && rkb_product_fast_dim(graph, launch->anchors[0], launch->roots[0]) == 1 &&
       rkb_product_is_turned(graph, launch->anchors[0], launch->roots[0]) && anchor->rank > 2 && !graph->sizes.list[channels].constant)
      conditions[count++] = (rkb_condition_t){.size = channels, .multiple = widest_of(launch)};
   rkb_writer_t writer;
   rkb_product_tile_t tile;
   rkb_launch_t wide = *launch;
   wide.decisions[RKB_VECTOR] = widest_of(launch);
   *possible = false;
   if (rkb_writer_open(&writer, graph, arena, storage, conditions, count)) {
      rkb_tile_open(&writer, &wide, &tile);
      tile.threads = threads_of(launch->decisions);
      rkb_tile_place(&writer, &tile, 0);
      const uint32_t widest = widest_of(launch);
      for (uint32_t s = 0; s < 2; s++) {
         rkb_tile_side_t *side = s ? &tile.n : &tile.m;
         rkb_condition_t wanted;
         rkb_staging_look(&writer, &tile, side, 1);
         const uint32_t width = side->raw ? widest : 4;
         if ((side->raw || rkb_fragment_type(launch->decisions[RKB_TENSOR])->bytes == 4) &&
             !(widest == 16 && !side->depth_fast) && rkb_staging_width(&writer, &tile, side, width, &wanted))
            *possible |= rkb_tensor_add_condition(graph, conditions, &count, wanted);
      }
      /* Channels must fill whole fragments.  With fewer channels, sums would be cut more often than docs/numerics.md
       * allows. */
      if (tile.taps.count)
         *possible =
            tile.total_depth->kind == RKB_INDEX_CONSTANT ? tile.total_depth->constant % 8 == 0
            : tile.total_depth->kind == RKB_INDEX_SIZE
               ? rkb_tensor_add_condition(graph, conditions, &count,
                                          (rkb_condition_t){.size = tile.total_depth->size, .multiple = 8})
               : false;
      if (!rkb_tensor_add_condition(graph, conditions, &count, rkb_tensor_stored_together(graph, launch)))
         *possible = *possible && !writer.failed;
   }
   rkb_writer_close(&writer);
   return count;
}

static void write_pointer(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                          const char *qualifier, const char *stage) {
   const rkb_fragment_type_t *type = rkb_fragment_type(tile->launch->decisions[RKB_TENSOR]);
   rkb_write(writer, "%s%s *const %s_stage = %s + %s * %lld;", qualifier, type->storage, side->variable, side->tile,
             stage, (long long)side_elements(tile->launch->decisions, side->extent));
}

/* Writes pointers to the places where the stage's factors are read. */
static void write_pointers(rkb_writer_t *writer, const rkb_product_tile_t *tile, const char *stage) {
   write_pointer(writer, tile, &tile->m, "const ", stage);
   write_pointer(writer, tile, &tile->n, "const ", stage);
}

/* Writes pointers to the places where factors are written: those that come through registers, or the others. */
static void write_targets(rkb_writer_t *writer, const rkb_product_tile_t *tile, bool held) {
   if (tile->m.held == held)
      write_pointer(writer, tile, &tile->m, "", "stage");
   if (tile->n.held == held)
      write_pointer(writer, tile, &tile->n, "", "stage");
}

/* How the two factors are loaded. */
typedef struct ways {
   bool async;  /* some copy goes on by itself and must be waited for */
   bool direct; /* some factor goes to shared memory and is not held in registers */
   bool held;
} ways_t;

/* Writes a lambda for each way of bringing factors: copies that go on by themselves, loads into registers,
 * and from there to a stage. */
static ways_t write_lambdas(rkb_writer_t *writer, rkb_product_tile_t *tile) {
   rkb_tile_begin_terms(writer, tile);
   const ways_t ways = {tile->m.async || tile->n.async, !tile->m.held || !tile->n.held, tile->m.held || tile->n.held};
   static const struct {
      const char *comment, *head;
      bool held;
   } lambdas[] = {{"/* Brings the terms from first on to a stage. */", "auto bring = [&](index first, int stage)", false},
                  {"/* Brings a thread's share of the terms from first on into registers. */", "auto fetch = [&](index first)",
                   true}};
   for (uint32_t l = 0; l < 2; l++) {
      if (!(lambdas[l].held ? ways.held : ways.direct))
         continue;
      rkb_write_open(writer, false, "%s", lambdas[l].head);
      rkb_write(writer, "%s", lambdas[l].comment);
      if (!lambdas[l].held)
         write_targets(writer, tile, false);
      rkb_tile_terms(writer, tile);
      for (uint32_t s = 0; s < 2; s++) {
         const rkb_tile_side_t *side = s ? &tile->n : &tile->m;
         if (side->held == lambdas[l].held)
            rkb_staging_fetch(writer, tile, side,
                              rkb_arena_format(writer->arena, "%s_stage", side->variable));
      }
      rkb_write_close_with(writer, "};");
   }
   if (ways.held) {
      rkb_write_open(writer, false, "auto put = [&](int stage)");
      write_targets(writer, tile, true);
      for (uint32_t s = 0; s < 2; s++) {
         const rkb_tile_side_t *side = s ? &tile->n : &tile->m;
         if (side->held)
            rkb_staging_put(writer, tile, side, rkb_arena_format(writer->arena, "%s_stage", side->variable));
      }
      rkb_write_close_with(writer, "};");
   }
   return ways;
}

/* Writes a loop with one stage, which is filled, multiplied, and only then filled again. */
static void write_single(rkb_writer_t *writer, const rkb_product_tile_t *tile, ways_t ways) {
   rkb_write_open(writer, false, "for (index first = begin; first < end; first += %lld)", (long long)tile->depth);
   if (ways.direct)
      rkb_write(writer, "bring(first, 0);");
   if (ways.held) {
      rkb_write(writer, "fetch(first);");
      rkb_write(writer, "put(0);");
   }
   rkb_tile_next_terms(writer, tile);
   if (ways.async) {
      rkb_write(writer, "copies_begun();");
      rkb_write(writer, "copies_done<0>();");
   }
   rkb_write(writer, "__syncthreads();");
   write_pointers(writer, tile, "0");
   rkb_write_stage_products(writer, tile);
   rkb_write(writer, "__syncthreads();");
   rkb_write_close(writer);
}

/* Writes a loop with several stages and one barrier for each step.  After the barrier the tiles of this step have
 * come, and all warps have multiplied the stage that is filled next. */
static void write_pipeline(rkb_writer_t *writer, const rkb_product_tile_t *tile, ways_t ways) {
   const long long stages = (long long)tile->launch->decisions[RKB_STAGES], depth = (long long)tile->depth;
   rkb_write(writer, "#pragma unroll 1");
   rkb_write_open(writer, false, "for (int ahead = 0; ahead < %lld; ahead++)", stages - 1);
   rkb_write_open(writer, false, "if (begin + ahead * %lld < end)", depth);
   if (ways.direct)
      rkb_write(writer, "bring(begin + ahead * %lld, ahead);", depth);
   if (ways.held) {
      rkb_write(writer, "fetch(begin + ahead * %lld);", depth);
      rkb_write(writer, "put(ahead);");
   }
   rkb_tile_next_terms(writer, tile);
   rkb_write_close(writer);
   if (ways.async)
      rkb_write(writer, "copies_begun();");
   rkb_write_close(writer);
   rkb_write(writer, "int stage = 0;");
   rkb_write_open(writer, false, "for (index first = begin; first < end; first += %lld)", depth);
   if (ways.async)
      rkb_write(writer, "copies_done<%lld>();", stages - 2);
   rkb_write(writer, "__syncthreads();");
   rkb_write(writer, "const int free_stage = stage == 0 ? %lld : stage - 1;", stages - 1);
   rkb_write(writer, "const bool more = first + %lld < end;", (stages - 1) * depth);
   if (ways.held) {
      rkb_write(writer, "if (more)");
      rkb_write(writer, "   fetch(first + %lld);", (stages - 1) * depth);
   }
   if (ways.direct) {
      rkb_write(writer, "if (more)");
      rkb_write(writer, "   bring(first + %lld, free_stage);", (stages - 1) * depth);
   }
   rkb_tile_next_terms(writer, tile);
   if (ways.async)
      rkb_write(writer, "copies_begun();");
   write_pointers(writer, tile, "stage");
   rkb_write_stage_products(writer, tile);
   if (ways.held) {
      rkb_write(writer, "if (more)");
      rkb_write(writer, "   put(free_stage);");
   }
   rkb_write(writer, "stage = stage == %lld ? 0 : stage + 1;", stages - 1);
   rkb_write_close(writer);
}

/* The sums go through shared memory: a lane has two neighbouring sums in each half of 8 rows of a fragment, and
 * memory needs longer rows.  This way the text also has only one copy of the operations on a sum, instead of one for
 * each sum of a thread. */
static void write_sums(rkb_writer_t *writer, const rkb_product_tile_t *tile, uint32_t width) {
   const int64_t *d = tile->launch->decisions;
   const long long m = (long long)tile->m.extent, n = (long long)tile->n.extent, pitch = n + SUMS_PADDING;
   const bool integers = strcmp(rkb_fragment_type(d[RKB_TENSOR])->sum, "int") == 0;
   rkb_write(writer, "__syncthreads(); /* the last stage has been read */");
   rkb_write(writer, "float *const sums_tile = (float *)stages;");
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)(d[RKB_WARP_M] / 8));
   rkb_write(writer, "   #pragma unroll");
   rkb_write(writer, "   for (int j = 0; j < %lld; j++)", (long long)(d[RKB_WARP_N] / 8));
   rkb_write(writer,
             "      *(float2 *)(sums_tile + (warp_m + i * 8 + lane / 4) * %lld + warp_n + j * 8 + lane %% 4 * 2) =", pitch);
   rkb_write(writer, integers ? "         make_float2((float)sums[i / 2][j][i %% 2 * 2], (float)sums[i / 2][j][i %% 2 * 2 + 1]);"
                              : "         make_float2(sums[i / 2][j][i %% 2 * 2], sums[i / 2][j][i %% 2 * 2 + 1]);");
   rkb_write(writer, "__syncthreads();");
   rkb_write(writer, width > 1 ? "#pragma unroll 2" : "#pragma unroll 1");
   rkb_write_open(writer, false, "for (int item = threadIdx.x; item < %lld; item += %lld)", m * n / width,
                  (long long)tile->threads);
   rkb_write(writer, "const int row = item / %lld, column = item %% %lld * %u;", n / width, n / width, width);
   rkb_write(writer, "const index m = m_first + row, n = n_first + column;");
   rkb_tile_result(writer, tile, tile->launch, width,
                   rkb_arena_format(writer->arena, width > 1 ? "sums_tile[row * %lld + column + lane]"
                                                             : "sums_tile[row * %lld + column]", pitch));
   rkb_write_close(writer);
}

static bool has_vectors(rkb_writer_t *writer, const rkb_launch_t *launch) {
   return launch->decisions[RKB_VECTOR] > 1 &&
          rkb_index_divides(
             rkb_index_size(&writer->indices, rkb_tensor_stored_together(writer->graph, launch).size),
             STORED_TOGETHER);
}

void rkb_write_tensor_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t *d = launch->decisions;
   const rkb_fragment_type_t *type = rkb_fragment_type(d[RKB_TENSOR]);
   rkb_product_tile_t tile;
   rkb_tile_open(writer, launch, &tile);
   tile.threads = threads_of(d);
   rkb_tile_place(writer, &tile, d[RKB_ORDER]);
   rkb_staging_look(writer, &tile, &tile.m, d[RKB_VECTOR] > 1 ? widest_of(launch) : 1);
   rkb_staging_look(writer, &tile, &tile.n, d[RKB_VECTOR] > 1 ? widest_of(launch) : 1);
   const long long across = (long long)(d[RKB_TILE_N] / d[RKB_WARP_N]);
   rkb_write(writer, "const int warp_m = threadIdx.x / 32 / %lld * %lld, warp_n = threadIdx.x / 32 %% %lld * %lld;",
             across, (long long)d[RKB_WARP_M], across, (long long)d[RKB_WARP_N]);
   rkb_write(writer, "const int lane = threadIdx.x %% 32;");
   rkb_write(writer, "extern __shared__ __align__(128) unsigned char stages[];");
   rkb_write(writer, "%s *const m_tile = (%s *)stages, *const n_tile = m_tile + %lld;", type->storage,
             type->storage, (long long)(d[RKB_STAGES] * side_elements(d, d[RKB_TILE_M])));
   rkb_staging_declare(writer, &tile, &tile.m);
   rkb_staging_declare(writer, &tile, &tile.n);
   rkb_write(writer, "%s sums[%lld][%lld][4] = {};", type->sum, (long long)(d[RKB_WARP_M] / 16),
             (long long)(d[RKB_WARP_N] / 8));
   const ways_t ways = write_lambdas(writer, &tile);
   if (d[RKB_STAGES] == 1)
      write_single(writer, &tile, ways);
   else
      write_pipeline(writer, &tile, ways);
   write_sums(writer, &tile, has_vectors(writer, launch) ? STORED_TOGETHER : 1);
   rkb_tile_shape(writer, &tile,
                  rkb_arena_format(writer->arena, "warp %lld x %lld of them.", (long long)d[RKB_WARP_M],
                                   (long long)d[RKB_WARP_N]),
                  shape);
   shape->shared = shared_of(launch);
}
