/* A convolution whose results stay in the registers of the thread that owns the windows over them: pixels
 * that neighbouring results share are read once.  One thread writes the text. */
#include <string.h>
#include "generator/graph/pool_window.h"
#include "generator/element/window_text.h"

#define DIMS 2u
#define MOST_SIDE 7

/* Of a convolution: integers are spatial dims, groups, then stride, padding, dilation of each. */
enum { STRIDE, PADDING, DILATION };

static int64_t integer_of(const rkb_graph_t *graph, const rkb_node_t *node, uint32_t d, uint32_t which) {
   return graph->sizes.list[node->integers[2 + 3 * d + which]].at[0];
}

static int64_t side_of(const rkb_graph_t *graph, const rkb_node_t *node, uint32_t d) {
   return graph->sizes.list[graph->nodes[node->inputs[1]].shape[2 + d]].at[0];
}

bool rkb_window_convolves(const rkb_graph_t *graph, uint32_t number) {
   const rkb_node_t *node = &graph->nodes[number];
   const rkb_size_t *sizes = graph->sizes.list;
   if (node->kind != RKB_NODE_CONVOLUTION || node->rank != 2 + DIMS || !sizes[node->integers[1]].constant ||
       sizes[node->integers[1]].at[0] != 1)
      return false;
   for (uint32_t d = 0; d < DIMS; d++) {
      if (!sizes[graph->nodes[node->inputs[1]].shape[2 + d]].constant || side_of(graph, node, d) > MOST_SIDE)
         return false;
      for (uint32_t which = STRIDE; which <= DILATION; which++)
         if (!sizes[node->integers[2 + 3 * d + which]].constant)
            return false;
   }
   return true;
}

/* The pixels that a thread's results need. */
typedef struct pixels {
   const rkb_node_t *node, *x;
   int64_t results[DIMS], count[DIMS], stride[DIMS], dilation[DIMS], padding[DIMS], side[DIMS];
} pixels_t;

static const rkb_index_t *loop(rkb_writer_t *writer, const char *wanted, int64_t count) {
   if (count == 1)
      return rkb_index_constant(&writer->indices, 0);
   const char *name = rkb_writer_name(writer, wanted);
   rkb_write_unroll(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int %s = 0; %s < %lld; %s++)", name, name, (long long)count, name);
   return rkb_writer_variable(writer, name, rkb_index_constant(&writer->indices, count));
}

static void close(rkb_writer_t *writer, uint32_t depth) {
   while (writer->depth > depth)
      rkb_write_close(writer);
}

/* Writes the pixels of one channel to pixels[row][column], with zeros past the border. */
static void write_pixels(rkb_writer_t *writer, const rkb_windows_t *windows, const pixels_t *pixels,
                         const rkb_index_t *channel) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *at[RKB_MAX_RANK] = {windows->at[0], channel}, *place[DIMS];
   const uint32_t depth = writer->depth;
   const char *guard = NULL;
   rkb_write(writer, "float pixels[%lld][%lld];", (long long)pixels->count[0], (long long)pixels->count[1]);
   for (uint32_t d = 0; d < DIMS; d++) {
      place[d] = loop(writer, d ? "column" : "line", pixels->count[d]);
      const int64_t side = rkb_window_side(writer->graph, windows->pool, d);
      const rkb_index_t *first = rkb_index_make(indices, RKB_INDEX_PRODUCT, windows->at[2 + d],
                                                rkb_index_constant(indices, side * pixels->stride[d]));
      at[2 + d] = rkb_index_make(indices, RKB_INDEX_SUM, first, place[d]);
      if (pixels->padding[d])
         at[2 + d] = rkb_index_make(indices, RKB_INDEX_DIFFERENCE, at[2 + d],
                                    rkb_index_constant(indices, pixels->padding[d]));
      const char *text = rkb_writer_index(writer, at[2 + d]),
                 *size = rkb_writer_uniform(writer, rkb_index_size(indices, pixels->x->shape[2 + d]));
      /* The last windows may reach past the border, even without padding. */
      if (pixels->padding[d] || windows->gradient || rkb_window_rounds_up(writer->graph, windows->pool))
         guard = rkb_arena_format(writer->arena, "%s%s%s%s%s < %s", guard ? guard : "", guard ? " && " : "",
                                  pixels->padding[d] ? rkb_arena_format(writer->arena, "%s >= 0", text) : "",
                                  pixels->padding[d] ? " && " : "", text, size);
   }
   const char *here = rkb_arena_format(writer->arena, "pixels[%s][%s]", rkb_writer_index(writer, place[0]),
                                       rkb_writer_index(writer, place[1]));
   const char *inside = guard ? rkb_write_inside(writer, pixels->x, guard, at) : NULL;
   const char *pixel = rkb_write_float(writer, pixels->node->inputs[0], at).text;
   if (inside)
      rkb_write(writer, "%s = %s ? %s : 0.0f;", here, inside, pixel);
   else
      rkb_write(writer, "%s = %s;", here, pixel);
   close(writer, depth);
}

/* Returns the pixel that a result multiplies by a place of the weight. */
static const char *pixel_text(rkb_writer_t *writer, const pixels_t *pixels, uint32_t d,
                              const rkb_index_t *result, const rkb_index_t *place) {
   rkb_indices_t *indices = &writer->indices;
   return rkb_writer_index(writer,
                           rkb_index_make(indices, RKB_INDEX_SUM,
                                          rkb_index_make(indices, RKB_INDEX_PRODUCT, result,
                                                         rkb_index_constant(indices, pixels->stride[d])),
                                          rkb_index_make(indices, RKB_INDEX_PRODUCT, place,
                                                         rkb_index_constant(indices, pixels->dilation[d]))));
}

/* Adds the products of one channel to all results of the thread. */
static void write_sums(rkb_writer_t *writer, const rkb_windows_t *windows, const pixels_t *pixels,
                       const rkb_index_t *channel) {
   const uint32_t depth = writer->depth;
   const rkb_index_t *own = loop(writer, "own", windows->channels);
   const rkb_index_t *row = windows->channels > 1
                               ? rkb_index_make(&writer->indices, RKB_INDEX_SUM, windows->at[1], own)
                               : windows->at[1];
   if (
      windows->channels >
      1) { /* sums of channels past the last one are computed and not used, so that no load waits behind a branch */
      const rkb_index_t *channels = rkb_index_size(&writer->indices, windows->pool->shape[1]);
      const char *name = rkb_writer_name(writer, "channel"), *here = rkb_writer_index(writer, row),
                 *end = rkb_writer_uniform(writer, channels);
      rkb_write(writer, "const index %s = %s < %s ? %s : %s - 1;", name, here, end, here, end);
      row = rkb_writer_variable(writer, name, channels);
   }
   const rkb_index_t *at[RKB_MAX_RANK] = {row, channel};
   at[2] = loop(writer, "u", pixels->side[0]);
   at[3] = loop(writer, "v", pixels->side[1]);
   const char *weight = rkb_write_float(writer, pixels->node->inputs[1], at).text;
   const rkb_index_t *p = loop(writer, "p", pixels->results[0]), *q = loop(writer, "q", pixels->results[1]);
   rkb_write(writer, "sums[%s][%s][%s] += %s * pixels[%s][%s];", rkb_writer_index(writer, own),
             rkb_writer_index(writer, p), rkb_writer_index(writer, q), weight,
             pixel_text(writer, pixels, 0, p, at[2]), pixel_text(writer, pixels, 1, q, at[3]));
   close(writer, depth);
}

void rkb_window_convolve(rkb_writer_t *writer, const rkb_windows_t *windows) {
   const rkb_graph_t *graph = writer->graph;
   pixels_t pixels = {.node = &graph->nodes[windows->convolution]};
   pixels.x = &graph->nodes[pixels.node->inputs[0]];
   for (uint32_t d = 0; d < DIMS; d++) {
      pixels.results[d] = d ? windows->each * windows->side : windows->outer;
      pixels.stride[d] = integer_of(graph, pixels.node, d, STRIDE);
      pixels.padding[d] = integer_of(graph, pixels.node, d, PADDING);
      pixels.dilation[d] = integer_of(graph, pixels.node, d, DILATION);
      pixels.side[d] = side_of(graph, pixels.node, d);
      pixels.count[d] =
         (pixels.results[d] - 1) * pixels.stride[d] + (pixels.side[d] - 1) * pixels.dilation[d] + 1;
   }
   if (pixels.count[0] * pixels.count[1] > 64 ||
       windows->channels * pixels.results[0] * pixels.results[1] > 64) {
      rkb_writer_fail(writer, "the pixels and results of a thread need more registers than there are");
      return;
   }
   rkb_write(writer, "float sums[%u][%lld][%lld] = {};", windows->channels, (long long)pixels.results[0],
             (long long)pixels.results[1]);
   const rkb_index_t *extent = rkb_index_size(&writer->indices, pixels.x->shape[1]);
   const char *name = rkb_writer_name(writer, "c");
   rkb_write_open(writer, false, "for (index %s = 0; %s < %s; %s++)", name, name,
                  rkb_writer_uniform(writer, extent), name);
   const rkb_index_t *channel = rkb_writer_variable(writer, name, extent);
   write_pixels(writer, windows, &pixels, channel);
   write_sums(writer, windows, &pixels, channel);
   rkb_write_close(writer);
}
