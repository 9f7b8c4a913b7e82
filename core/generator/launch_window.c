/* Gradients of the largest of windows that lie side by side: a thread owns a window, finds its largest once and writes all its places.
 * One thread writes the text. */
#include <string.h>
#include "generator/launch_text.h"
#include "generator/pool_window.h"

/* What is known of the windows. */
typedef struct windows {
   const rkb_node_t *node, *grad;
   uint32_t number;     /* of the node */
   uint32_t dims, taps; /* spatial dims, and places of a window */
   const rkb_index_t *pixel[RKB_MAX_RANK]; /* the window's coordinates */
   const rkb_index_t *count;
} windows_t;

static int64_t side_of(const rkb_writer_t *writer, const windows_t *windows, uint32_t d) {
   return rkb_window_side(writer->graph, windows->node, d);
}

/* The coordinates of a tap, and whether it lies in the tensor; NULL: the window's first always does. */
static const char *tap_at(rkb_writer_t *writer, const windows_t *windows, uint32_t tap, const rkb_index_t **at) {
   rkb_indices_t *indices = &writer->indices;
   const char *guard = NULL;
   memcpy(at, windows->pixel, 2 * sizeof *at);
   for (uint32_t d = windows->dims; d-- > 0;) {
      const int64_t side = side_of(writer, windows, d), place = tap % side;
      tap /= (uint32_t)side;
      at[2 + d] = rkb_index_make(indices, RKB_INDEX_SUM,
                                 rkb_index_make(indices, RKB_INDEX_PRODUCT, windows->pixel[2 + d], rkb_index_constant(indices, side)),
                                 rkb_index_constant(indices, place));
      if (place)
         guard = rkb_arena_format(writer->arena, "%s%s%s < %s", guard ? guard : "", guard ? " && " : "", rkb_writer_index(writer, at[2 + d]),
                                  rkb_writer_uniform(writer, rkb_index_size(indices, windows->node->shape[2 + d])));
   }
   return guard;
}

/* Splits a thread's number into the coordinates of its window, cut ones at the end included. */
static void find_window(rkb_writer_t *writer, windows_t *windows, const rkb_index_t **counts, const rkb_index_t *number) {
   for (uint32_t d = windows->node->rank; d-- > 0;) {
      windows->pixel[d] = d ? rkb_index_make(&writer->indices, RKB_INDEX_REMAINDER, number, counts[d]) : number;
      number = rkb_index_make(&writer->indices, RKB_INDEX_QUOTIENT, number, counts[d]);
   }
}

/* The number of the window's first largest place, -1 where it has no output, and the gradient of the output. */
static void write_search(rkb_writer_t *writer, const windows_t *windows, const char *winner, const char *gradient) {
   const char *guard = NULL, *best = rkb_writer_name(writer, "largest");
   const rkb_index_t *at[RKB_MAX_RANK];
   for (uint32_t d = 0; d < windows->dims; d++)
      guard = rkb_arena_format(writer->arena, "%s%s%s < %s", guard ? guard : "", guard ? " && " : "",
                               rkb_writer_index(writer, windows->pixel[2 + d]),
                               rkb_writer_uniform(writer, rkb_index_size(&writer->indices, windows->grad->shape[2 + d])));
   rkb_write(writer, "int %s = -1;", winner);
   rkb_write(writer, "float %s = 0.0f;", gradient);
   rkb_write_open(writer, true, "if (%s)", guard);
   rkb_write(writer, "float %s = -INFINITY;", best);
   for (uint32_t tap = 0; tap < windows->taps; tap++) {
      const char *inside = tap_at(writer, windows, tap, at);
      if (inside)
         rkb_write_open(writer, true, "if (%s)", inside);
      const char *value = rkb_write_float(writer, windows->node->inputs[1], at).text;
      rkb_write_open(writer, true, "if (%s > %s)", value, best);
      rkb_write(writer, "%s = %s;", best, value);
      rkb_write(writer, "%s = %u;", winner, tap);
      rkb_write_close(writer);
      if (inside)
         rkb_write_close(writer);
   }
   rkb_write(writer, "%s = %s;", gradient, rkb_write_float(writer, windows->node->inputs[0], windows->pixel).text);
   rkb_write_close(writer);
}

void rkb_write_window_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   rkb_indices_t *indices = &writer->indices;
   const int64_t threads = launch->decisions[RKB_THREADS];
   windows_t windows = {.number = launch->anchors[0], .node = &writer->graph->nodes[launch->anchors[0]], .taps = 1};
   const rkb_index_t *counts[RKB_MAX_RANK], *count = rkb_index_constant(indices, 1), *at[RKB_MAX_RANK];
   windows.grad = &writer->graph->nodes[windows.node->inputs[0]];
   windows.dims = windows.node->rank - 2;
   for (uint32_t d = 0; d < windows.node->rank; d++) {
      const int64_t side = d < 2 ? 1 : side_of(writer, &windows, d - 2);
      windows.taps *= (uint32_t)side;
      counts[d] = rkb_index_make(indices, RKB_INDEX_QUOTIENT,
                                 rkb_index_make(indices, RKB_INDEX_SUM, rkb_index_size(indices, windows.node->shape[d]),
                                                rkb_index_constant(indices, side - 1)),
                                 rkb_index_constant(indices, side));
      count = rkb_index_make(indices, RKB_INDEX_PRODUCT, count, counts[d]);
   }
   rkb_write(writer, "const index i = (index)blockIdx.x * %lld + threadIdx.x;", (long long)threads);
   rkb_write(writer, "if (i >= %s)", rkb_writer_uniform(writer, count));
   rkb_write(writer, "   return;");
   find_window(writer, &windows, counts, rkb_writer_variable(writer, "i", count));
   const char *winner = rkb_writer_name(writer, "winner"), *gradient = rkb_writer_name(writer, "gradient");
   write_search(writer, &windows, winner, gradient);
   for (uint32_t tap = 0; tap < windows.taps && !writer->failed; tap++) {
      const char *inside = tap_at(writer, &windows, tap, at);
      if (inside)
         rkb_write_open(writer, true, "if (%s)", inside);
      const char *name = rkb_writer_name(writer, windows.node->name);
      rkb_write(writer, "const float %s = %s == %u ? %s : 0.0f;", name, winner, tap, gradient);
      rkb_writer_know(writer, windows.number, at, name);
      rkb_write_roots(writer, launch, windows.number, at);
      if (inside)
         rkb_write_close(writer);
   }
   *shape = (rkb_kernel_shape_t){.grid = rkb_ceildiv(writer, count, threads),
                                 .threads = threads,
                                 .owns = rkb_arena_format(writer->arena, "A thread owns one window of %s.", writer->targets[launch->roots[0]].name)};
}
