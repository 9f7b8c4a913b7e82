/* Sizes of the tiles of convolutions by warpgroups.  Pure functions. */
#include "generator/tile/convolution_extent.h"

#include "generator/text/fragments.h"
#include "generator/text/product_index.h"

#define MOST_WINDOW 7
#define MOST_MOVED (RKB_CONVOLUTION_ALIGNED - 1)
#define MOST_REGISTERS 240
#define FILE_REGISTERS 65536

static const rkb_size_t *number_of(const rkb_graph_t *graph, const rkb_node_t *node, uint32_t side,
                                   uint32_t which) {
   return &graph->sizes.list[node->integers[RKB_CONVOLUTION_HEAD + 3 * side + which]];
}

static const rkb_size_t *window_of(const rkb_graph_t *graph, const rkb_node_t *node, uint32_t side) {
   const rkb_node_t *weight =
      node->kind == RKB_NODE_CONVOLUTION_WEIGHT ? node : &graph->nodes[node->inputs[1]];
   return &graph->sizes.list[weight->shape[2 + side]];
}

int64_t rkb_convolution_stride(const rkb_graph_t *graph, const rkb_node_t *node) {
   double stride = 0;
   /* With a window of one place, products take less time than the copies of whole rows. */
   bool one = node->kind != RKB_NODE_CONVOLUTION || window_of(graph, node, RKB_CONVOLUTION_DOWN)->at[0] > 1 ||
              window_of(graph, node, RKB_CONVOLUTION_ALONG)->at[0] > 1;
   for (uint32_t side = 0; side < RKB_CONVOLUTION_SIDES; side++) {
      const rkb_size_t *size = number_of(graph, node, side, 0);
      for (uint32_t c = 0; one && rkb_task_case(graph->sizes.task, RKB_CASE_BENCH, c); c++) {
         const double own =
            size->constant ? (double)size->at[0] : rkb_sizes_bench_at(&graph->sizes, size->text, c);
         one = stride == 0 || own == stride;
         stride = own;
      }
   }
   return one && stride > 1 ? (int64_t)stride : 1;
}

bool rkb_convolution_is_tiled(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   if (launch->mapping != RKB_MAP_TENSOR || d[RKB_COPY] != RKB_COPY_TENSOR ||
       d[RKB_TENSOR] != RKB_TENSOR_PATH_TF32X3 || !launch->anchor_count)
      return false;
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]];
   if (node->kind == RKB_NODE_MATMUL || node->rank != RKB_CONVOLUTION_RANK)
      return false;
   const rkb_size_t *groups = &graph->sizes.list[node->integers[1]];
   bool good = groups->constant && groups->at[0] == 1;
   for (uint32_t side = 0; side < RKB_CONVOLUTION_SIDES; side++) {
      const rkb_size_t *window = window_of(graph, node, side);
      good = good && window->constant && window->at[0] <= MOST_WINDOW &&
             number_of(graph, node, side, 2)->constant;
   }
   return good;
}

/* Channels of a part are in different banks if the number of its pixels is an odd multiple of eight (for four
 * channels), or of four (for eight channels). */
static void fit_banks(rkb_convolution_extent_t *e, int64_t multiple) {
   const int64_t width = e->width, height = e->height;
   int64_t least = INT64_MAX;
   for (int64_t w = width; w <= width + 8; w += RKB_CONVOLUTION_ALIGNED)
      for (int64_t h = height; h <= height + 3; h++)
         if (w * h % (2 * multiple) == multiple && w * h < least) {
            least = w * h;
            e->width = w;
            e->height = h;
         }
}

/* How many neighbouring pixels along a side so many places of the tile see. */
static int64_t reach_of(const rkb_graph_t *graph, const rkb_node_t *node, const rkb_convolution_extent_t *e,
                        uint32_t side, int64_t places) {
   if (!e->in_phases)
      return (places - 1) * e->stride + 1 + (e->window[side] - 1) * e->dilation[side];
   const rkb_size_t *padding = number_of(graph, node, side, 1);
   /* Some phases begin one place later. */
   const bool later = !padding->constant || padding->at[0] % e->stride > 0;
   return places + (e->window[side] + e->stride - 1) / e->stride - 1 + later;
}

rkb_convolution_extent_t rkb_convolution_extent(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   const rkb_node_t *node = &graph->nodes[launch->anchors[0]];
   const bool of_weight = node->kind == RKB_NODE_CONVOLUTION_WEIGHT;
   rkb_convolution_extent_t e = {.of_weight = of_weight,
                                 .row = d[RKB_STRIP] ? d[RKB_STRIP] : 32,
                                 .channels = RKB_CONVOLUTION_TERMS,
                                 .taps = 1,
                                 .stride = rkb_convolution_stride(graph, node)};
   e.in_phases = node->kind == RKB_NODE_CONVOLUTION_INPUT && e.stride > 1;
   for (uint32_t side = 0; side < RKB_CONVOLUTION_SIDES; side++) {
      e.window[side] = window_of(graph, node, side)->at[0];
      e.dilation[side] = number_of(graph, node, side, 2)->at[0];
      e.taps *= e.window[side];
   }
   e.groups = of_weight ? e.window[RKB_CONVOLUTION_DOWN] : d[RKB_GROUPS];
   e.squares =
      of_weight ? e.window[RKB_CONVOLUTION_ALONG] : d[RKB_TILE_N] / RKB_CONVOLUTION_GROUP_PIXELS / e.groups;
   e.rows = of_weight ? 1 : d[RKB_TILE_N] / e.row;
   if (of_weight)
      e.channels = RKB_CONVOLUTION_GROUP_CHANNELS;
   e.width =
      (reach_of(graph, node, &e, RKB_CONVOLUTION_ALONG, e.row) + MOST_MOVED + RKB_CONVOLUTION_ALIGNED - 1) /
      RKB_CONVOLUTION_ALIGNED * RKB_CONVOLUTION_ALIGNED;
   e.height = reach_of(graph, node, &e, RKB_CONVOLUTION_DOWN, e.rows);
   fit_banks(&e, of_weight ? 4 : 8);
   return e;
}

int64_t rkb_convolution_apart(const rkb_convolution_extent_t *e) {
   return e->in_phases ? 1 : e->stride;
}

int64_t rkb_convolution_part_bytes(const rkb_convolution_extent_t *e) {
   return e->width * e->height * e->channels * 4;
}

int64_t rkb_convolution_plane_bytes(const int64_t *d) {
   return d[RKB_TILE_M] * RKB_CONVOLUTION_ROW_BYTES;
}

int64_t rkb_convolution_shared_bytes(const rkb_convolution_extent_t *e, const int64_t *d) {
   const int64_t parts = e->of_weight ? d[RKB_STAGES] : RKB_CONVOLUTION_IMAGES;
   return parts * rkb_convolution_part_bytes(e) + d[RKB_STAGES] * 2 * rkb_convolution_plane_bytes(d);
}

int64_t rkb_convolution_room_pitch(const rkb_convolution_extent_t *e) {
   /* So that four lanes' rows begin in different banks. */
   return RKB_CONVOLUTION_GROUP_CHANNELS * e->taps + 4;
}

int64_t rkb_convolution_equal_registers(const rkb_convolution_extent_t *e, const int64_t *d) {
   const int64_t blocks = d[RKB_BLOCKS] > 1 ? d[RKB_BLOCKS] : 1,
                 registers =
                    FILE_REGISTERS / ((e->groups + 1) * RKB_CONVOLUTION_GROUP_THREADS * blocks) / 8 * 8;
   return registers > 255 ? 255 : registers;
}

int64_t rkb_convolution_producer_registers(const rkb_convolution_extent_t *e) {
   return e->of_weight ? 64 : 40;
}

int64_t rkb_convolution_registers(const rkb_convolution_extent_t *e, const int64_t *d) {
   const int64_t equal = rkb_convolution_equal_registers(e, d),
                 all = (equal * (e->groups + 1) - rkb_convolution_producer_registers(e)) / e->groups / 8 * 8;
   return equal > MOST_REGISTERS ? equal : all > MOST_REGISTERS ? MOST_REGISTERS : all;
}

static const char *pixels_refused(const int64_t *d) {
   const int64_t row = d[RKB_STRIP] ? d[RKB_STRIP] : 32;
   if (!d[RKB_HELD] || !d[RKB_TAPS] || d[RKB_TILE_K] != RKB_CONVOLUTION_TERMS)
      return "pixels are split in registers, and the terms brought at a time are 32 channels of one tap";
   if (d[RKB_SPLIT] > 1 || d[RKB_SMALL] || d[RKB_BESIDE])
      return "a convolution of tensor maps has no parts, no smaller products and no launches beside it";
   if (row < RKB_CONVOLUTION_WARP_PIXELS ||
       d[RKB_TILE_N] % (RKB_CONVOLUTION_GROUP_PIXELS * d[RKB_GROUPS]) != 0 || d[RKB_TILE_N] % row != 0 ||
       d[RKB_TILE_M] < 64)
      return "a warpgroup multiplies 64 pixels, in rows of 16 or 32, by 64 channels or more";
   return NULL;
}

/* In the weight's gradient each row of the window has a warpgroup, with the sums of all its taps. */
static const char *channels_refused(const int64_t *d) {
   if (!d[RKB_HELD] || d[RKB_TILE_K] != RKB_CONVOLUTION_TERMS || d[RKB_STRIP])
      return "the image is split in registers, and the terms brought at a time are 32 pixels of a row";
   if (d[RKB_SMALL] || d[RKB_BESIDE])
      return "a convolution of tensor maps has no smaller products and no launches beside it";
   if (d[RKB_GROUPS] != 1 || d[RKB_PERSISTENT] || d[RKB_TILE_N] != RKB_CONVOLUTION_GROUP_CHANNELS ||
       d[RKB_TILE_M] < 64)
      return "a block has a part of the sums of 64 channels, and a warpgroup for each row of the window";
   return NULL;
}

const char *rkb_convolution_refused(const rkb_graph_t *graph, const rkb_launch_t *launch,
                                    int64_t shared_bytes) {
   const int64_t *d = launch->decisions;
   const bool of_weight = graph->nodes[launch->anchors[0]].kind == RKB_NODE_CONVOLUTION_WEIGHT;
   const char *refused = of_weight ? channels_refused(d) : pixels_refused(d);
   if (refused)
      return refused;
   const rkb_convolution_extent_t e = rkb_convolution_extent(graph, launch);
   if (e.width * e.height % (of_weight ? 8 : 16) != (of_weight ? 4 : 8) || e.width > 256 || e.height > 256)
      return "the part of an image that a tile sees is no box of a tensor map";
   if (e.in_phases && e.dilation[RKB_CONVOLUTION_DOWN] * e.dilation[RKB_CONVOLUTION_ALONG] > 1)
      return "places of a phase are seen through taps that lie side by side";
   const int64_t beside = e.row / RKB_CONVOLUTION_WARP_PIXELS;
   if (!of_weight && (e.squares < beside ? beside % e.squares : e.squares % beside) != 0)
      return "a warp has whole rows of the tile, or an equal share of one";
   if (d[RKB_STAGES] < 2)
      return "one stage is filled while another is multiplied";
   const int64_t held = (of_weight ? 1 : e.squares) * 8 * RKB_CONVOLUTION_HELD_STEPS;
   if (e.groups > 4 ||
       e.squares * d[RKB_TILE_M] / 2 + held + (of_weight ? 32 : 40) > rkb_convolution_registers(&e, d))
      return "a warpgroup's tile needs more registers than there are";
   if (of_weight &&
       RKB_CONVOLUTION_ROOM_ROWS * rkb_convolution_room_pitch(&e) * 4 > rkb_convolution_shared_bytes(&e, d))
      return "the sums on their way out need more shared memory than the stages have";
   return rkb_convolution_shared_bytes(&e, d) > shared_bytes - RKB_CONVOLUTION_PATTERN_BYTES
             ? "the stages need more shared memory than a block has"
             : NULL;
}
