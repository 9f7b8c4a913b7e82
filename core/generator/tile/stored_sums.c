/* Sums of warpgroups go to memory through shared memory, where each warp has an area of its own (its room): a lane has two neighbouring sums
 * in each of two rows, and stores need longer rows.  One thread writes the text. */
#include "generator/tile/stored_sums.h"

#include <string.h>
#include "generator/text/fragments.h"
#include "generator/tile/convolution_extent.h"
#include "generator/tile/warpgroup_addends.h"

#define ROOM_COLUMNS RKB_ADDEND_COLUMNS /* columns of sums, of 16 rows, that a warp stores at a time */
#define ROOM_PADDING 8                  /* floats of padding in a row: four rows of pairs are then in different banks */
#define STORED_TOGETHER 4               /* elements of the output that are stored together */
#define NARROW_TOGETHER 8               /* the same where sums are rounded before they go through the room */
#define NARROW_COLUMNS 64 /* columns of rounded sums, of 16 rows, that a warp stores at a time */
#define NARROW_PITCH 72   /* elements from one row of the room to the next: rows begin in different banks */

static void open_unrolled(rkb_writer_t *writer, const char *head) {
   rkb_write_open(writer, false, "#pragma unroll\n%*s%s", 3 * (int)(writer->depth + 1), "", head);
}

/* Stores the sums through a warp's own room in shared memory, 16 rows of 32 columns at a time.  A lane has
 * two neighbouring sums in each of two rows, and stores to memory need longer rows. */
static void write_sums(rkb_writer_t *writer, rkb_product_tile_t *tile, uint32_t width) {
   const int64_t *d = tile->launch->decisions;
   const long long rows = (long long)(d[RKB_TILE_M] / d[RKB_GROUPS]), pitch = ROOM_COLUMNS + ROOM_PADDING;
   const bool integers = strcmp(rkb_fragment_type(d[RKB_TENSOR])->sum, "int") == 0;
   open_unrolled(writer,
                 rkb_arena_format(writer->arena, "for (int i = 0; i < %lld; i++)", rows / RKB_GROUP_ROWS));
   rkb_addends_t addends = {0};
   if (width > 1 && d[RKB_TENSOR] != RKB_TENSOR_PATH_TF32X3)
      rkb_addends_find(writer, tile, &addends);
   const char *place =
      rkb_arena_format(writer->arena, "warpgroup * %lld + i * %d + warp * 16", rows, RKB_GROUP_ROWS);
   rkb_addends_declare(writer, &addends, width);
   rkb_addends_load(writer, tile, &addends, width, place, "", "0");
   open_unrolled(writer, rkb_arena_format(writer->arena, "for (int j = 0; j < %lld; j += %d)",
                                          (long long)d[RKB_TILE_N], ROOM_COLUMNS));
   if (addends.count) {
      rkb_write_open(writer, true, "if (j + %d < %lld)", ROOM_COLUMNS, (long long)d[RKB_TILE_N]);
      rkb_addends_load(writer, tile, &addends, width, place,
                       rkb_arena_format(writer->arena, "j + %d + ", ROOM_COLUMNS),
                       rkb_arena_format(writer->arena, "(j / %d + 1) %% 2", ROOM_COLUMNS));
      rkb_write_close(writer);
   }
   rkb_write(writer, "__syncwarp(); /* what the room held has been read */");
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int pair = 0; pair < %d; pair++)", ROOM_COLUMNS / 4);
   rkb_write(
      writer,
      "   *(float2 *)(room + (lane / 4 + pair %% 2 * 8) * %lld + pair / 2 * 8 + lane %% 4 * 2) =", pitch);
   rkb_write(writer,
             integers
                ? "      make_float2((float)sums[i][j / 2 + pair * 2], (float)sums[i][j / 2 + pair * 2 + 1]);"
                : "      make_float2(sums[i][j / 2 + pair * 2], sums[i][j / 2 + pair * 2 + 1]);");
   rkb_write(writer, "__syncwarp();");
   open_unrolled(writer, rkb_arena_format(writer->arena, "for (int item = lane; item < %u; item += 32)",
                                          16 * ROOM_COLUMNS / width));
   rkb_write(writer, "const int row = item / %u, column = item %% %u * %u;", ROOM_COLUMNS / width,
             ROOM_COLUMNS / width, width);
   rkb_write(
      writer,
      "const index m = m_first + warpgroup * %lld + i * %d + warp * 16 + row, n = n_first + j + column;",
      rows, RKB_GROUP_ROWS);
   rkb_addends_know(writer, tile, &addends);
   rkb_tile_result(
      writer, tile, tile->launch, width,
      rkb_arena_format(writer->arena,
                       width > 1 ? "room[row * %lld + column + lane]" : "room[row * %lld + column]", pitch));
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

bool rkb_sums_stay(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   if (launch->decisions[RKB_COPY] != RKB_COPY_TENSOR || launch->anchor_count != 1 ||
       launch->root_count != 1 || rkb_convolution_is_tiled(graph, launch))
      return false;
   uint32_t node = launch->roots[0];
   for (const rkb_node_t *at = &graph->nodes[node];
        node != launch->anchors[0] &&
        (rkb_node_is_view(at) || (at->kind == RKB_NODE_MAP && strcmp(at->operation, "convert") == 0));
        at = &graph->nodes[node])
      node = at->inputs[0];
   return node == launch->anchors[0];
}

uint32_t rkb_stored_together(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   return launch->decisions[RKB_NARROW] && rkb_sums_stay(graph, launch) ? NARROW_TOGETHER : STORED_TOGETHER;
}

/* Stores sums that are rounded before they go through the warp's room, 16 rows of 64 columns at a time. */
static void write_narrow_sums(rkb_writer_t *writer, rkb_product_tile_t *tile) {
   const int64_t *d = tile->launch->decisions;
   const long long rows = (long long)(d[RKB_TILE_M] / d[RKB_GROUPS]);
   open_unrolled(writer,
                 rkb_arena_format(writer->arena, "for (int i = 0; i < %lld; i++)", rows / RKB_GROUP_ROWS));
   open_unrolled(writer, rkb_arena_format(writer->arena, "for (int j = 0; j < %lld; j += %d)",
                                          (long long)d[RKB_TILE_N], NARROW_COLUMNS));
   rkb_write(writer, "__syncwarp(); /* what the room held has been read */");
   rkb_write(writer, "rounded_rows((unsigned char *)room, sums[i] + j / 2);");
   rkb_write(writer, "__syncwarp();");
   open_unrolled(writer, "for (int item = 0; item < 4; item++)");
   rkb_write(writer, "const int row = item * 4 + lane / 8, column = lane %% 8 * %d;", NARROW_TOGETHER);
   rkb_write(
      writer,
      "const index m = m_first + warpgroup * %lld + i * %d + warp * 16 + row, n = n_first + j + column;",
      rows, RKB_GROUP_ROWS);
   rkb_write(
      writer,
      "const Pack<%d, __nv_bfloat16> rounded = *(const Pack<%d, __nv_bfloat16> *)((const __nv_bfloat16 *)room + row * %d + column);",
      NARROW_TOGETHER, NARROW_TOGETHER, NARROW_PITCH);
   rkb_tile_result(writer, tile, tile->launch, NARROW_TOGETHER, "__bfloat162float(rounded.at[lane])");
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

void rkb_write_warpgroup_sums(rkb_writer_t *writer, rkb_product_tile_t *tile) {
   const int64_t *d = tile->launch->decisions;
   const rkb_fragment_type_t *type = rkb_fragment_type(d[RKB_TENSOR]);
   const rkb_node_t *node = &writer->graph->nodes[tile->product.node];
   const uint32_t fast = node->kind == RKB_NODE_MATMUL
                            ? node->rank - 1
                            : rkb_product_fast_dim(writer->graph, tile->product.node, tile->launch->roots[0]);
   const rkb_index_t *row_elements = rkb_index_size(&writer->indices, node->shape[fast]);
   /* A kernel for rows of any length may be written where few probes meet its conditions. */
   const bool vectors = !tile->pads || rkb_indices_know(&writer->indices, node->shape[fast], STORED_TOGETHER);
   if (rkb_stored_together(writer->graph, tile->launch) == NARROW_TOGETHER && d[RKB_SPLIT] == 1 && vectors &&
       strcmp(type->sum, "float") == 0 && writer->targets[tile->launch->roots[0]].dtype == RKB_BF16 &&
       rkb_index_divides(row_elements, NARROW_TOGETHER))
      write_narrow_sums(writer, tile);
   else
      write_sums(writer, tile,
                 vectors && rkb_index_divides(row_elements, STORED_TOGETHER) ? STORED_TOGETHER : 1);
}
