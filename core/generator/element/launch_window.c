/* Largest pools whose windows lie side by side, and their gradients.  A thread owns windows, loads the values under them to registers or
 * computes them there, and reads them once.  One thread writes the text. */
#include <string.h>
#include "generator/graph/pool_window.h"
#include "generator/element/window_text.h"

static uint32_t side_of(const rkb_writer_t *writer, const rkb_windows_t *windows, uint32_t d) {
   return (uint32_t)rkb_window_side(writer->graph, windows->pool, d);
}

static const rkb_index_t *times(rkb_writer_t *writer, const rkb_index_t *index, int64_t by) {
   return rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, index,
                         rkb_index_constant(&writer->indices, by));
}

static const rkb_index_t *plus(rkb_writer_t *writer, const rkb_index_t *a, const rkb_index_t *b) {
   return rkb_index_make(&writer->indices, RKB_INDEX_SUM, a, b);
}

void rkb_window_place(rkb_writer_t *writer, const rkb_windows_t *windows, uint32_t outer,
                      const rkb_index_t *along, const rkb_index_t **at) {
   at[0] = windows->at[0];
   at[1] = windows->channel;
   for (uint32_t d = windows->dims - 1; d-- > 0;) {
      const uint32_t side = side_of(writer, windows, d);
      at[2 + d] = plus(writer, times(writer, windows->at[2 + d], side),
                       rkb_index_constant(&writer->indices, outer % side));
      outer /= side;
   }
   at[1 + windows->dims] = plus(writer, times(writer, windows->at[1 + windows->dims], windows->side), along);
}

/* Opens a block for places that exist.  A window's first place always exists; where no window is cut, all places
 * exist.  False: no block was needed. */
static bool open_inside(rkb_writer_t *writer, const rkb_windows_t *windows, uint32_t outer,
                        const rkb_index_t *const *at, bool last) {
   const rkb_node_t *under = &writer->graph->nodes[windows->under];
   const char *guard = NULL;
   for (uint32_t d = windows->dims; d-- > 0;) {
      const bool end = d + 1 == windows->dims;
      const uint32_t side = side_of(writer, windows, d), place = end ? last : outer % side;
      if (!end)
         outer /= side;
      if (place)
         guard = rkb_arena_format(
            writer->arena, "%s%s%s < %s", guard ? guard : "", guard ? " && " : "",
            rkb_writer_index(writer, at[2 + d]),
            rkb_writer_uniform(writer, rkb_index_size(&writer->indices, under->shape[2 + d])));
   }
   if (guard)
      rkb_write_open(writer, true, "if (%s)", guard);
   return guard != NULL;
}

/* Opens a loop over places side by side: lanes of a vector, or a variable. */
static const rkb_index_t *open_along(rkb_writer_t *writer, uint32_t count, bool vector) {
   if (vector)
      return rkb_open_lanes(writer, count);
   if (count == 1)
      return rkb_index_constant(&writer->indices, 0);
   const char *name = rkb_writer_name(writer, "along");
   rkb_write_unroll(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int %s = 0; %s < %u; %s++)", name, name, count, name);
   return rkb_writer_variable(writer, name, rkb_index_constant(&writer->indices, count));
}

static void close_along(rkb_writer_t *writer, uint32_t count, bool vector) {
   if (vector)
      rkb_close_lanes(writer);
   else if (count > 1)
      rkb_write_close(writer);
}

/* Notes the convolution's value at a place. */
static void know_sum(rkb_writer_t *writer, const rkb_windows_t *windows, uint32_t outer,
                     const rkb_index_t *along, const rkb_index_t *const *at) {
   if (windows->convolution != RKB_NO_NODE)
      rkb_writer_know(writer, windows->convolution, at,
                      rkb_arena_format(writer->arena, "sums[%s][%u][%s]", windows->own_channel, outer,
                                       rkb_writer_index(writer, along)));
}

/* Writes the values under the windows to values[outer][along]. */
static void write_values(rkb_writer_t *writer, const rkb_windows_t *windows, bool cut) {
   const uint32_t across = windows->each * windows->side;
   const bool vector = windows->each > 1 && windows->convolution == RKB_NO_NODE;
   const rkb_index_t *at[RKB_MAX_RANK];
   rkb_write(writer, "float values[%u][%u];", windows->outer, across);
   for (uint32_t outer = 0; outer < windows->outer && !writer->failed; outer++) {
      if (cut) {
         rkb_write(writer, "#pragma unroll");
         rkb_write(writer, "for (int along = 0; along < %u; along++)", across);
         rkb_write(writer, "   values[%u][along] = -INFINITY;", outer);
      }
      rkb_window_place(writer, windows, outer, rkb_index_constant(&writer->indices, 0), at);
      const bool guarded = cut && open_inside(writer, windows, outer, at, false);
      const rkb_index_t *along = open_along(writer, across, vector);
      rkb_window_place(writer, windows, outer, along, at);
      const bool last = cut && windows->each == 1 && open_inside(writer, windows, 0, at, true);
      know_sum(writer, windows, outer, along, at);
      rkb_write(writer, "values[%u][%s] = %s;", outer, rkb_writer_index(writer, along),
                rkb_write_float(writer, windows->under, at).text);
      if (last)
         rkb_write_close(writer);
      close_along(writer, across, vector);
      if (guarded)
         rkb_write_close(writer);
   }
}

static void write_largest(rkb_writer_t *writer, const rkb_launch_t *launch, const rkb_windows_t *windows) {
   const rkb_index_t *at[RKB_MAX_RANK];
   rkb_write(writer, "float largest[%u];", windows->each);
   rkb_write_unroll(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int own = 0; own < %u; own++)", windows->each);
   rkb_write(writer, "largest[own] = values[0][own * %u];", windows->side);
   for (uint32_t place = 1; place < windows->outer * windows->side; place++)
      rkb_write(writer, "largest[own] = larger(largest[own], values[%u][own * %u + %u]);",
                place / windows->side, windows->side, place % windows->side);
   rkb_write_close(writer);
   const rkb_index_t *along = open_along(writer, windows->each, windows->each > 1);
   memcpy(at, windows->at, windows->pool->rank * sizeof *at);
   at[1] = windows->channel;
   at[1 + windows->dims] = plus(writer, at[1 + windows->dims], along);
   rkb_writer_know(writer, windows->number, at,
                   rkb_arena_format(writer->arena, "largest[%s]", rkb_writer_index(writer, along)));
   rkb_write_roots(writer, launch, windows->number, at);
   if (windows->each == 1)
      close_along(writer, 1, false);
}

/* Writes the gradient of each window's output, zero where there is none.  It is loaded before the values
 * under the windows, so that all loads are in flight together. */
static void write_gradients(rkb_writer_t *writer, const rkb_windows_t *windows) {
   const char *guard = NULL;
   const rkb_index_t *at[RKB_MAX_RANK];
   for (uint32_t d = 0; d < windows->dims - (windows->each > 1); d++)
      guard = rkb_arena_format(
         writer->arena, "%s%s%s < %s", guard ? guard : "", guard ? " && " : "",
         rkb_writer_index(writer, windows->at[2 + d]),
         rkb_writer_uniform(writer, rkb_index_size(&writer->indices, windows->counted->shape[2 + d])));
   rkb_write(writer, "float gradient[%u] = {};", windows->each);
   if (guard)
      rkb_write_open(writer, true, "if (%s)", guard);
   const rkb_index_t *along = open_along(writer, windows->each, windows->each > 1);
   memcpy(at, windows->at, windows->pool->rank * sizeof *at);
   at[1] = windows->channel;
   at[1 + windows->dims] = plus(writer, at[1 + windows->dims], along);
   rkb_write(writer, "gradient[%s] = %s;", rkb_writer_index(writer, along),
             rkb_write_float(writer, windows->pool->inputs[0], at).text);
   close_along(writer, windows->each, windows->each > 1);
   if (guard)
      rkb_write_close(writer);
}

/* Finds the number of each window's first largest place, or of its last NaN, as in PyTorch. */
static void write_winners(rkb_writer_t *writer, const rkb_windows_t *windows) {
   rkb_write(writer, "int winner[%u];", windows->each);
   rkb_write_unroll(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int own = 0; own < %u; own++)", windows->each);
   rkb_write(writer, "winner[own] = -1;");
   rkb_write(writer, "float largest = -INFINITY;");
   for (uint32_t place = 0; place < windows->outer * windows->side; place++) {
      const char *value = rkb_arena_format(writer->arena, "values[%u][own * %u + %u]", place / windows->side,
                                           windows->side, place % windows->side);
      rkb_write_open(writer, true, "if (%s > largest || %s != %s)", value, value, value);
      rkb_write(writer, "largest = %s;", value);
      rkb_write(writer, "winner[own] = %u;", place);
      rkb_write_close(writer);
   }
   rkb_write_close(writer);
}

/* Gives every place its window's gradient, or zero. */
static void write_places(rkb_writer_t *writer, const rkb_launch_t *launch, const rkb_windows_t *windows) {
   const uint32_t across = windows->each * windows->side;
   const bool vector = windows->each > 1;
   const rkb_index_t *at[RKB_MAX_RANK];
   for (uint32_t outer = 0; outer < windows->outer && !writer->failed; outer++) {
      rkb_window_place(writer, windows, outer, rkb_index_constant(&writer->indices, 0), at);
      const bool guarded = open_inside(writer, windows, outer, at, false);
      const rkb_index_t *along = open_along(writer, across, vector);
      rkb_window_place(writer, windows, outer, along, at);
      const bool last = !vector && open_inside(writer, windows, 0, at, true);
      const char *name = rkb_writer_name(writer, windows->pool->name),
                 *place = rkb_writer_index(writer, along);
      rkb_write(writer, "const float %s = winner[%s / %u] == %u + %s %% %u ? gradient[%s / %u] : 0.0f;", name,
                place, windows->side, outer * windows->side, place, windows->side, place, windows->side);
      rkb_writer_know(writer, windows->number, at, name);
      know_sum(writer, windows, outer, along, at);
      rkb_write_roots(writer, launch, windows->number, at);
      if (last)
         rkb_write_close(writer);
      if (!vector)
         close_along(writer, across, false);
      if (guarded)
         rkb_write_close(writer);
   }
}

static void find_windows(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_windows_t *windows) {
   const rkb_graph_t *graph = writer->graph;
   *windows = (rkb_windows_t){.number = launch->anchors[0],
                              .pool = &graph->nodes[launch->anchors[0]],
                              .convolution = launch->anchor_count > 1 ? launch->anchors[1] : RKB_NO_NODE,
                              .outer = 1,
                              .channels = (uint32_t)launch->decisions[RKB_CHANNELS],
                              .own_channel = "0"};
   windows->gradient = strcmp(windows->pool->operation, "max_pool_gradient") == 0;
   windows->under = windows->pool->inputs[windows->gradient];
   windows->counted = windows->gradient ? &graph->nodes[windows->pool->inputs[0]] : windows->pool;
   windows->dims = windows->pool->rank - 2;
   for (uint32_t d = 0; d + 1 < windows->dims; d++)
      windows->outer *= side_of(writer, windows, d);
   windows->side = side_of(writer, windows, windows->dims - 1);
   windows->each =
      launch->decisions[RKB_VECTOR] > 1 ? (uint32_t)launch->decisions[RKB_VECTOR] / windows->side : 1;
}

/* Splits a thread's number into the coordinates of its windows; for gradients it counts windows that are cut
 * at the end.  Returns how many threads there are. */
static const rkb_index_t *place_windows(rkb_writer_t *writer, rkb_windows_t *windows, int64_t threads) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_node_t *all = windows->gradient ? windows->pool : windows->counted;
   const rkb_index_t *counts[RKB_MAX_RANK], *count = rkb_index_constant(indices, 1);
   for (uint32_t d = 0; d < all->rank; d++) {
      int64_t share = d < 2 ? 1 : windows->gradient ? side_of(writer, windows, d - 2) : 1;
      share *= d == 1 ? windows->channels : d + 1 == all->rank ? windows->each : 1;
      counts[d] = rkb_index_make(
         indices, RKB_INDEX_QUOTIENT,
         plus(writer, rkb_index_size(indices, all->shape[d]), rkb_index_constant(indices, share - 1)),
         rkb_index_constant(indices, share));
      count = rkb_index_make(indices, RKB_INDEX_PRODUCT, count, counts[d]);
   }
   rkb_write(writer, "const index i = (index)blockIdx.x * %lld + threadIdx.x;", (long long)threads);
   rkb_write(writer, "if (i >= %s)", rkb_writer_uniform(writer, count));
   rkb_write(writer, "   return;");
   const rkb_index_t *number = rkb_writer_variable(writer, "i", count);
   for (uint32_t d = all->rank; d-- > 0;) {
      const rkb_index_t *own = d ? rkb_index_make(indices, RKB_INDEX_REMAINDER, number, counts[d]) : number;
      windows->at[d] = d + 1 == all->rank ? times(writer, own, windows->each) : own;
      number = rkb_index_make(indices, RKB_INDEX_QUOTIENT, number, counts[d]);
   }
   windows->channel = windows->at[1];
   windows->at[1] = times(writer, windows->at[1], windows->channels);
   return count;
}

void rkb_write_window_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t threads = launch->decisions[RKB_THREADS];
   rkb_windows_t windows;
   find_windows(writer, launch, &windows);
   const rkb_index_t *count = place_windows(writer, &windows, threads);
   const bool several = windows.channels > 1;
   if (windows.convolution != RKB_NO_NODE)
      rkb_window_convolve(writer, &windows);
   if (several) {
      windows.own_channel = rkb_writer_name(writer, "own_channel");
      rkb_write_unroll(writer, "#pragma unroll");
      rkb_write_open(writer, false, "for (int %s = 0; %s < %u; %s++)", windows.own_channel,
                     windows.own_channel, windows.channels, windows.own_channel);
      windows.channel = plus(writer, windows.at[1],
                             rkb_writer_variable(writer, windows.own_channel,
                                                 rkb_index_constant(&writer->indices, windows.channels)));
      rkb_write_open(writer, true, "if (%s < %s)", rkb_writer_index(writer, windows.channel),
                     rkb_writer_uniform(writer, rkb_index_size(&writer->indices, windows.pool->shape[1])));
   }
   if (windows.gradient)
      write_gradients(writer, &windows);
   /* A window of a pool that does not round up is wholly inside the tensor. */
   write_values(writer, &windows, windows.gradient || rkb_window_rounds_up(writer->graph, windows.pool));
   if (windows.gradient) {
      write_winners(writer, &windows);
      write_places(writer, launch, &windows);
   } else
      write_largest(writer, launch, &windows);
   if (several) {
      rkb_write_close(writer);
      rkb_write_close(writer);
   }
   const char *what = windows.each > 1
                         ? rkb_arena_format(writer->arena, "%u neighbouring windows", windows.each)
                         : "one window";
   *shape = (rkb_kernel_shape_t){
      .grid = rkb_ceildiv(writer, count, threads),
      .threads = threads,
      .owns = several ? rkb_arena_format(writer->arena, "A thread owns %s of %u channels of %s.", what,
                                         windows.channels, writer->targets[launch->roots[0]].name)
                      : rkb_arena_format(writer->arena, "A thread owns %s of %s.", what,
                                         writer->targets[launch->roots[0]].name)};
}
