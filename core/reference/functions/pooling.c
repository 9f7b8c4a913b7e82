/* Pooling.  Constant tables. */
#include "reference/functions/functions.h"

#include "reference/operations/layout.h"
#include "reference/operations/pool.h"

static bool per_dim(const rkb_call_t *call, const char *name, uint32_t spatial, const int64_t *fallback,
                    int64_t *out) {
   const rkb_attribute_value_t *given = rkb_call_attribute(call, name);
   if (!given->given || given->integer_count == 0) {
      for (uint32_t d = 0; d < spatial; d++)
         out[d] = fallback[d];
      return true;
   }
   if (given->integer_count != 1 && given->integer_count != spatial) {
      rkb_program_fail(call->program, "%s: %s is one number, or one for each of %u dims",
                       call->function->name, name, spatial);
      return false;
   }
   for (uint32_t d = 0; d < spatial; d++)
      out[d] = given->integers[given->integer_count == 1 ? 0 : d];
   return true;
}

static bool read_pool(const rkb_call_t *call, rkb_pool_t *pool, bool average) {
   static const int64_t zero[RKB_MAX_SPATIAL] = {0}, one[RKB_MAX_SPATIAL] = {1, 1, 1};
   uint32_t spatial = (uint32_t)(call->function->operation[0] - '0');
   *pool = (rkb_pool_t){.window = {.spatial = spatial, .groups = 1, .dilation = {1, 1, 1}}};
   pool->ceil_mode = rkb_call_true(call, "ceil_mode");
   pool->count_padding = average && rkb_call_true(call, "count_include_pad");
   return per_dim(call, "kernel_size", spatial, one, pool->kernel) &&
          per_dim(call, "stride", spatial, pool->kernel, pool->window.stride) &&
          per_dim(call, "padding", spatial, zero, pool->window.padding) &&
          (average || per_dim(call, "dilation", spatial, one, pool->window.dilation));
}

static void build_max(const rkb_call_t *call, uint32_t *outputs) {
   rkb_pool_t pool;
   if (read_pool(call, &pool, false))
      outputs[0] = rkb_make_max_pool(call->program, call->inputs[0], &pool);
}

static void build_average(const rkb_call_t *call, uint32_t *outputs) {
   rkb_pool_t pool;
   if (read_pool(call, &pool, true))
      outputs[0] = rkb_make_average_pool(call->program, call->inputs[0], &pool);
}

#define MOST_WINDOWS 64 /* limit per dim for windows of different sizes; each takes a few operations */

/* Pools one window of one dim as a pool that has only this window.  Gives its largest element (the first of
 * equals) or its mean. */
static uint32_t one_window(const rkb_call_t *call, uint32_t x, uint32_t dim, int64_t from, int64_t to,
                           bool largest) {
   uint32_t part = rkb_make_slice(call->program, x, dim, from, to - from, 1);
   rkb_pool_t pool = {.window = {.spatial = rkb_program_shape(call->program, x)->rank - 2, .groups = 1}};
   for (uint32_t d = 0; d < RKB_MAX_SPATIAL; d++) {
      pool.kernel[d] = d + 2 == dim ? to - from : 1;
      pool.window.stride[d] = pool.window.dilation[d] = 1;
   }
   return largest ? rkb_make_max_pool(call->program, part, &pool)
                  : rkb_make_average_pool(call->program, part, &pool);
}

/* Pools windows that differ in size: from floor(i in / out) to ceil((i + 1) in / out) along each dim.  Takes one dim after the
 * other; for means and for the first of the largest elements the result is the same as for all dims at once. */
static uint32_t unequal_windows(const rkb_call_t *call, uint32_t x, uint32_t dim, int64_t size,
                                bool largest) {
   int64_t in = rkb_program_shape(call->program, x)->size[dim];
   uint32_t joined = RKB_NO_VALUE;
   if (size > MOST_WINDOWS)
      return rkb_program_fail(call->program,
                              "%s to over %d windows of unequal size along a dim is unsupported",
                              call->function->name, MOST_WINDOWS);
   for (int64_t i = 0; i < size; i++) {
      uint32_t one = one_window(call, x, dim, i * in / size, ((i + 1) * in + size - 1) / size, largest);
      joined = i == 0 ? one : rkb_make_cat(call->program, (uint32_t[]){joined, one}, 2, dim);
   }
   return joined;
}

static void build_adaptive(const rkb_call_t *call, uint32_t *outputs) {
   uint32_t spatial = (uint32_t)(call->function->operation[0] - '0'), x = call->inputs[0];
   bool largest = call->function->operation[1] == 'm', equal = true;
   rkb_pool_t pool = {.window = {.spatial = spatial, .groups = 1, .dilation = {1, 1, 1}}};
   static const int64_t one[RKB_MAX_SPATIAL] = {1, 1, 1};
   int64_t sizes[RKB_MAX_SPATIAL];
   const rkb_shape_t *shape = rkb_program_shape(call->program, x);
   if (!per_dim(call, "output_size", spatial, one, sizes))
      return;
   for (uint32_t d = 0; d < spatial; d++) {
      if (shape->rank != spatial + 2 || sizes[d] < 1) {
         rkb_program_fail(call->program, "%s needs a tensor of rank %u and output sizes of at least 1",
                          call->function->name, spatial + 2);
         return;
      }
      equal &= shape->size[2 + d] % sizes[d] == 0;
      pool.kernel[d] = pool.window.stride[d] = shape->size[2 + d] / sizes[d];
   }
   if (equal) {
      outputs[0] = largest ? rkb_make_max_pool(call->program, x, &pool)
                           : rkb_make_average_pool(call->program, x, &pool);
      return;
   }
   for (uint32_t d = spatial;
        d-- > 0;) /* pools the last dim first, so that the first of equals is the first in memory order */
      x = unequal_windows(call, x, 2 + d, sizes[d], largest);
   outputs[0] = x;
}

#define COMMON                                                                                               \
   {"kernel_size", RKB_ATTRIBUTE_INTS, NULL, NULL}, {"stride", RKB_ATTRIBUTE_INTS, "", NULL},                \
      {"padding", RKB_ATTRIBUTE_INTS, "0", NULL}, {                                                          \
      "ceil_mode", RKB_ATTRIBUTE_BOOL, "false", NULL                                                         \
   }
#define MAX(label, spatial)                                                                                  \
   { label, "x", 1, 1, {COMMON, {"dilation", RKB_ATTRIBUTE_INTS, "1", NULL}}, build_max, spatial }
#define AVERAGE(label, spatial)                                                                              \
   {                                                                                                         \
      label, "x", 1, 1, {COMMON, {"count_include_pad", RKB_ATTRIBUTE_BOOL, "true", NULL}}, build_average,    \
         spatial                                                                                             \
   }
#define ADAPTIVE(label, spatial)                                                                             \
   { label, "x", 1, 1, {{"output_size", RKB_ATTRIBUTE_INTS, NULL, NULL}}, build_adaptive, spatial }

const rkb_function_t rkb_functions_pooling[] = {
   MAX("max_pool1d", "1"),
   MAX("max_pool2d", "2"),
   MAX("max_pool3d", "3"),
   AVERAGE("avg_pool1d", "1"),
   AVERAGE("avg_pool2d", "2"),
   AVERAGE("avg_pool3d", "3"),
   ADAPTIVE("adaptive_avg_pool1d", "1"),
   ADAPTIVE("adaptive_avg_pool2d", "2"),
   ADAPTIVE("adaptive_avg_pool3d", "3"),
   ADAPTIVE("adaptive_max_pool1d", "1m"),
   ADAPTIVE("adaptive_max_pool2d", "2m"),
   ADAPTIVE("adaptive_max_pool3d", "3m"),
   {0},
};
