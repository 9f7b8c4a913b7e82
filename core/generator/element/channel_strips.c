/* Convolutions whose channels are convolved by themselves.  A thread owns a strip of neighbouring pixels of
 * one channel, or of a vector of channels.  So it can multiply each loaded element by all taps of a row.  One
 * thread writes the text. */
#include "generator/element/channelwise.h"
#include "generator/text/launch_text.h"
#include "generator/text/product_index.h"

#define RANK 4      /* images, channels, rows, columns */
/* The index from which a convolution's integers belong to single dims: stride, padding and dilation of each. */
#define HEAD 2
#define CHANNELS 64 /* channels of a block, whose taps it keeps in shared memory */

static bool is_number(const rkb_graph_t *graph, uint32_t size, int64_t number) {
   return graph->sizes.list[size].constant && graph->sizes.list[size].at[0] == number;
}

bool rkb_launch_is_channelwise(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const rkb_node_t *node =
      launch->anchor_count == 1 && launch->root_count ? &graph->nodes[launch->anchors[0]] : NULL;
   if (!node || (node->kind != RKB_NODE_CONVOLUTION && node->kind != RKB_NODE_CONVOLUTION_INPUT) ||
       node->rank != RANK)
      return false;
   const rkb_node_t *image = &graph->nodes[node->inputs[0]], *weight = &graph->nodes[node->inputs[1]];
   for (uint32_t d = 0; d < 2; d++)
      if (!is_number(graph, node->integers[HEAD + 3 * d], 1) ||
          !is_number(graph, node->integers[HEAD + 3 * d + 2], 1))
         return false;
   return is_number(graph, weight->shape[1], 1) && image->shape[1] == node->shape[1] &&
          node->integers[1] == node->shape[1] && weight->shape[2] == weight->shape[3] &&
          rkb_product_fast_dim(graph, launch->anchors[0], launch->roots[0]) == 1;
}

uint32_t rkb_channelwise_windows(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t *size,
                                 int64_t values[RKB_CHANNELWISE_WINDOWS]) {
   *size = graph->nodes[graph->nodes[launch->anchors[0]].inputs[1]].shape[2];
   return rkb_size_values(&graph->sizes.list[*size], RKB_CHANNELWISE_WINDOWS, values);
}

static const rkb_index_t *sum_of(rkb_writer_t *writer, const rkb_index_t *a, const rkb_index_t *b) {
   return rkb_index_make(&writer->indices, RKB_INDEX_SUM, a, b);
}

static const rkb_index_t *less(rkb_writer_t *writer, const rkb_index_t *a, const rkb_index_t *b) {
   return rkb_index_make(&writer->indices, RKB_INDEX_DIFFERENCE, a, b);
}

static const rkb_index_t *size_of(rkb_writer_t *writer, const rkb_node_t *node, uint32_t dim) {
   return rkb_index_size(&writer->indices, node->shape[dim]);
}

/* How many lanes of a block share a pixel; each has as many channels as a vector has elements. */
static int64_t across_of(const rkb_launch_t *launch) {
   return CHANNELS / launch->decisions[RKB_VECTOR];
}

/* How far the first place that a pixel sees lies before the pixel.  The gradient of an input is a convolution of the output's gradient by
 * the taps in reverse order. */
static const rkb_index_t *padding_of(rkb_writer_t *writer, const rkb_node_t *node, uint32_t side,
                                     int64_t window) {
   const rkb_index_t *padding = rkb_index_size(&writer->indices, node->integers[HEAD + 3 * side + 1]);
   return node->kind == RKB_NODE_CONVOLUTION
             ? padding
             : less(writer, rkb_index_constant(&writer->indices, window - 1), padding);
}

/* Writes the block's taps to shared memory, a row for each tap; every thread of a channel loads some. */
static void write_taps(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *channel,
                       int64_t window, int64_t threads) {
   const rkb_index_t *zero = rkb_index_constant(&writer->indices, 0);
   rkb_write(writer, "__shared__ __align__(16) float taps[%lld][%d];", (long long)(window * window),
             CHANNELS);
   rkb_write_open(writer, true, "if (c < %s)", rkb_writer_uniform(writer, size_of(writer, node, 1)));
   rkb_write_open(writer, false, "for (int tap = threadIdx.x / %d; tap < %lld; tap += %lld)", CHANNELS,
                  (long long)(window * window), (long long)threads / CHANNELS);
   const rkb_index_t *own = rkb_writer_variable(writer, "tap",
                                                rkb_index_constant(&writer->indices, window * window)),
                     *side = rkb_index_constant(&writer->indices, window);
   const rkb_index_t *tap = node->kind == RKB_NODE_CONVOLUTION
                               ? own
                               : less(writer, rkb_index_constant(&writer->indices, window * window - 1), own);
   const rkb_index_t *at[RANK] = {channel, zero,
                                  rkb_index_make(&writer->indices, RKB_INDEX_QUOTIENT, tap, side),
                                  rkb_index_make(&writer->indices, RKB_INDEX_REMAINDER, tap, side)};
   rkb_write(writer, "taps[tap][threadIdx.x %% %d] = %s;", CHANNELS,
             rkb_write_float(writer, node->inputs[1], at).text);
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_write(writer, "__syncthreads();");
}

/* Returns the channel of the present lane of the thread's vector. */
static const rkb_index_t *channel_at(rkb_writer_t *writer, const rkb_index_t *own, int64_t width,
                                     const rkb_index_t *lane) {
   return width == 1 ? own
                     : sum_of(writer,
                              rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, own,
                                             rkb_index_constant(&writer->indices, width)),
                              lane);
}

/* Writes the thread's elements of one row of the image; places past the image's sides are 0. */
static void write_row(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t **from,
                      const rkb_index_t *first, const rkb_index_t *own, int64_t width, int64_t places,
                      int64_t window) {
   const rkb_node_t *image = &writer->graph->nodes[node->inputs[0]];
   const rkb_index_t *extent = rkb_index_constant(&writer->indices, places);
   rkb_write(writer, "float row[%lld][%lld] = {};", (long long)places, (long long)width);
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int place = 0; place < %lld; place++)",
                  3 * (int)(writer->depth + 1), "", (long long)places);
   from[3] = less(writer, sum_of(writer, first, rkb_writer_variable(writer, "place", extent)),
                  padding_of(writer, node, 1, window));
   const char *column = rkb_writer_index(writer, from[3]);
   rkb_write_open(writer, true, "if (%s >= 0 && %s < %s)", column, column,
                  rkb_writer_uniform(writer, size_of(writer, image, 3)));
   const rkb_index_t *lane = rkb_open_lanes(writer, (uint32_t)width);
   from[1] = channel_at(writer, own, width, lane);
   rkb_write(writer, "row[place][%s] = %s;", rkb_writer_index(writer, lane),
             rkb_write_float(writer, node->inputs[0], from).text);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

/* at: the strip's first pixel.  A row is loaded before any of it is multiplied, so that all its loads are in
 * flight at once. */
static void write_sums(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *const *at,
                       const rkb_index_t *own, const rkb_launch_t *launch, int64_t window) {
   const int64_t strip = launch->decisions[RKB_STRIP], width = launch->decisions[RKB_VECTOR];
   const rkb_node_t *image = &writer->graph->nodes[node->inputs[0]];
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *from[RANK] = {at[0]};
   rkb_write(writer, "float sums[%lld][%lld] = {};", (long long)strip, (long long)width);
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int u = 0; u < %lld; u++)",
                  3 * (int)(writer->depth + 1), "", (long long)window);
   from[2] = less(
      writer, sum_of(writer, at[2], rkb_writer_variable(writer, "u", rkb_index_constant(indices, window))),
      padding_of(writer, node, 0, window));
   const char *line = rkb_writer_index(writer, from[2]);
   rkb_write_open(writer, true, "if (%s >= 0 && %s < %s)", line, line,
                  rkb_writer_uniform(writer, size_of(writer, image, 2)));
   write_row(writer, node, from, at[3], own, width, strip + window - 1, window);
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int v = 0; v < %lld; v++)", (long long)window);
   rkb_write(writer, "   for (int side = 0; side < %lld; side++) {", (long long)width);
   rkb_write(writer, "      const float tap = taps[u * %lld + v][threadIdx.x %% %lld * %lld + side];",
             (long long)window, (long long)across_of(launch), (long long)width);
   rkb_write(writer, "      #pragma unroll");
   rkb_write(writer, "      for (int place = 0; place < %lld; place++)", (long long)strip);
   rkb_write(writer, "         sums[place][side] += row[place + v][side] * tap;");
   rkb_write(writer, "   }");
   rkb_write_close(writer);
   rkb_write_close(writer);
}

void rkb_write_strip_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const rkb_node_t *node = &writer->graph->nodes[launch->anchors[0]];
   rkb_indices_t *indices = &writer->indices;
   const int64_t threads = launch->decisions[RKB_THREADS], strip = launch->decisions[RKB_STRIP],
                 width = launch->decisions[RKB_VECTOR], across = across_of(launch), lines = threads / across;
   const rkb_index_t *side = size_of(writer, &writer->graph->nodes[node->inputs[1]], 2),
                     *columns = size_of(writer, node, 3);
   const int64_t window = side->at[0];
   if (!rkb_index_is(side, window)) {
      rkb_writer_fail(writer, "the window has no one size");
      return;
   }
   const rkb_index_t *strips = rkb_index_make(indices, RKB_INDEX_QUOTIENT,
                                              sum_of(writer, columns, rkb_index_constant(indices, strip - 1)),
                                              rkb_index_constant(indices, strip)),
                     *rows =
                        rkb_index_make(indices, RKB_INDEX_PRODUCT, strips,
                                       rkb_index_make(indices, RKB_INDEX_PRODUCT, size_of(writer, node, 2),
                                                      size_of(writer, node, 0))),
                     *chunks = rkb_index_make(
                        indices, RKB_INDEX_QUOTIENT,
                        sum_of(writer, size_of(writer, node, 1), rkb_index_constant(indices, CHANNELS - 1)),
                        rkb_index_constant(indices, CHANNELS));
   const char *chunk = rkb_writer_uniform(writer, chunks);
   rkb_write(writer, "const index chunk = (index)blockIdx.x %% %s, c = chunk * %d + threadIdx.x %% %d;",
             chunk, CHANNELS, CHANNELS);
   rkb_write(writer, "const index strip = (index)blockIdx.x / %s * %lld + threadIdx.x / %lld;", chunk,
             (long long)lines, (long long)across);
   const rkb_index_t *all = size_of(writer, node, 1), *channel = rkb_writer_variable(writer, "c", all),
                     *own = channel;
   const char *last = "c";
   write_taps(writer, node, channel, window, threads);
   if (width > 1) {
      all = rkb_index_make(indices, RKB_INDEX_QUOTIENT, all, rkb_index_constant(indices, width));
      rkb_write(writer, "const index pack = chunk * %lld + threadIdx.x %% %lld;", (long long)across,
                (long long)across);
      own = rkb_writer_variable(writer, "pack", all);
      last = "pack";
   }
   rkb_write(writer, "if (%s >= %s || strip >= %s)", last, rkb_writer_uniform(writer, all),
             rkb_writer_uniform(writer, rows));
   rkb_write(writer, "   return;");
   const rkb_index_t *number = rkb_writer_variable(writer, "strip", rows),
                     *line = rkb_index_make(indices, RKB_INDEX_QUOTIENT, number, strips);
   const rkb_index_t *at[RANK] = {
      rkb_index_make(indices, RKB_INDEX_QUOTIENT, line, size_of(writer, node, 2)), NULL,
      rkb_index_make(indices, RKB_INDEX_REMAINDER, line, size_of(writer, node, 2)),
      rkb_index_make(indices, RKB_INDEX_PRODUCT, rkb_index_make(indices, RKB_INDEX_REMAINDER, number, strips),
                     rkb_index_constant(indices, strip))};
   write_sums(writer, node, at, own, launch, window);
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int place = 0; place < %lld; place++)",
                  3 * (int)(writer->depth + 1), "", (long long)strip);
   at[3] = sum_of(writer, at[3], rkb_writer_variable(writer, "place", rkb_index_constant(indices, strip)));
   rkb_write_open(writer, true, "if (%s < %s)", rkb_writer_index(writer, at[3]),
                  rkb_writer_uniform(writer, columns));
   const rkb_index_t *lane = rkb_open_lanes(writer, (uint32_t)width);
   at[1] = channel_at(writer, own, width, lane);
   rkb_writer_know(writer, launch->anchors[0], at,
                   rkb_arena_format(writer->arena, "sums[place][%s]", rkb_writer_index(writer, lane)));
   rkb_write_roots(writer, launch, launch->anchors[0], at);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
   rkb_write_close(writer);
   *shape = (rkb_kernel_shape_t){
      .grid = rkb_arena_format(writer->arena, "ceildiv(%s, %lld) * (%s)", rkb_index_manifest(indices, rows),
                               (long long)lines, rkb_index_manifest(indices, chunks)),
      .threads = threads,
      .owns = rkb_arena_format(writer->arena, "A thread owns %lld neighbouring pixels of %s of %s.",
                               (long long)strip,
                               width == 1   ? "one channel"
                               : width == 2 ? "two channels"
                                            : "four channels",
                               writer->targets[launch->roots[0]].name)};
}
