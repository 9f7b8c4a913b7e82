/* Largest and average of windows, and their gradients.  Pure functions.
 * A node's integers: the number of spatial dims, ceil mode, count padding, then kernel, stride, padding and dilation of each dim. */
#include "reference/operations/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define HEAD 3
#define MOST_WINDOW 65536

typedef struct geometry {
   rkb_pool_t pool;
   const rkb_shape_t *in, *out;
   uint64_t in_size, out_size, kernel_size;
} geometry_t;

static geometry_t geometry_of(const rkb_program_node_t *node, const rkb_shape_t *in, const rkb_shape_t *out) {
   geometry_t g = {.in = in, .out = out, .kernel_size = 1};
   rkb_window_t *window = &g.pool.window;
   window->spatial = (uint32_t)node->integers[0];
   g.pool.ceil_mode = node->integers[1] != 0;
   g.pool.count_padding = node->integers[2] != 0;
   for (uint32_t d = 0; d < window->spatial; d++) {
      const int64_t *of_dim = node->integers + HEAD + 4 * d;
      g.pool.kernel[d] = of_dim[0];
      window->stride[d] = of_dim[1];
      window->padding[d] = of_dim[2];
      window->dilation[d] = of_dim[3];
      g.kernel_size *= (uint64_t)of_dim[0];
   }
   g.in_size = rkb_shape_product(in, 2, in->rank);
   g.out_size = rkb_shape_product(out, 2, out->rank);
   return g;
}

/* Lists the elements of x in the window of an output element, in order, and returns their number.  padded counts the window's places
 * inside the padded input; an average may divide by it. */
static uint64_t window_of(const geometry_t *g, uint64_t element, int64_t *index, uint64_t *padded) {
   uint32_t spatial = g->pool.window.spatial;
   int64_t at[RKB_MAX_RANK], k[RKB_MAX_SPATIAL] = {0};
   uint64_t found = 0;
   rkb_shape_split(g->out, element, at);
   int64_t base = (int64_t)(element / g->out_size * g->in_size);
   *padded = 0;
   for (uint64_t step = 0; step < g->kernel_size; step++) {
      int64_t place = 0;
      bool inside = true, counted = true;
      for (uint32_t d = 0; d < spatial; d++) {
         int64_t padding = g->pool.window.padding[d], size = g->in->size[2 + d];
         int64_t i = at[2 + d] * g->pool.window.stride[d] + k[d] * g->pool.window.dilation[d] - padding;
         inside &= i >= 0 && i < size;
         counted &= i < size + padding;
         place = place * size + i;
      }
      *padded += counted;
      if (inside)
         index[found++] = base + place;
      for (uint32_t d = spatial; d-- > 0;) { /* the next place of the kernel */
         if (++k[d] < g->pool.kernel[d])
            break;
         k[d] = 0;
      }
   }
   return found;
}

/* Lists the output elements whose windows contain an element of x. */
static uint64_t windows_with(const geometry_t *g, uint64_t element, int64_t *index) {
   uint32_t spatial = g->pool.window.spatial;
   int64_t at[RKB_MAX_RANK], k[RKB_MAX_SPATIAL] = {0};
   uint64_t found = 0;
   rkb_shape_split(g->in, element, at);
   int64_t base = (int64_t)(element / g->in_size * g->out_size);
   for (uint64_t step = 0; step < g->kernel_size; step++) {
      int64_t place = 0;
      bool fits = true;
      for (uint32_t d = 0; d < spatial; d++) {
         int64_t p = at[2 + d] + g->pool.window.padding[d] - k[d] * g->pool.window.dilation[d];
         fits &=
            p >= 0 && p % g->pool.window.stride[d] == 0 && p / g->pool.window.stride[d] < g->out->size[2 + d];
         place = place * g->out->size[2 + d] + p / g->pool.window.stride[d];
      }
      if (fits)
         index[found++] = base + place;
      for (uint32_t d = spatial; d-- > 0;) {
         if (++k[d] < g->pool.kernel[d])
            break;
         k[d] = 0;
      }
   }
   return found;
}

typedef struct scratch {
   rkb_block_t block, grads;
   int64_t *index, *windows;
} scratch_t;

static void scratch_free(scratch_t *scratch) {
   rkb_block_free(&scratch->block);
   rkb_block_free(&scratch->grads);
   free(scratch->index);
   free(scratch->windows);
}

static bool scratch_new(scratch_t *scratch, uint64_t count) {
   *scratch = (scratch_t){.index = rkb_try_uncleared(count, sizeof(int64_t), NULL),
                          .windows = rkb_try_uncleared(count, sizeof(int64_t), NULL)};
   if (scratch->index && scratch->windows && rkb_block_new(&scratch->block, count) &&
       rkb_block_new(&scratch->grads, count))
      return true;
   scratch_free(scratch);
   return false;
}

/* The largest element of a window, its first place, and the range in which it may lie. */
typedef struct largest {
   uint64_t which;
   double value, low, high;
} largest_t;

static largest_t largest_of(const rkb_block_t *block, uint64_t count) {
   largest_t largest = {0, -INFINITY, -INFINITY, -INFINITY};
   for (uint64_t i = 0; i < count; i++) {
      if (block->value[i] > largest.value) {
         largest.value = block->value[i];
         largest.which = i;
      }
      largest.low = fmax(largest.low, block->value[i] - block->hard[i]);
      largest.high = fmax(largest.high, block->value[i] + block->hard[i]);
   }
   return largest;
}

/* A NaN is the largest, as in PyTorch. */
static rkb_point_t max_point(const rkb_block_t *block, uint64_t count) {
   for (uint64_t i = 0; i < count; i++)
      if (isnan(block->value[i]))
         return (rkb_point_t){NAN, 0, 0, block->flags[i] & RKB_POINT_DONT_CARE};
   largest_t largest = largest_of(block, count);
   rkb_point_t point = {largest.value, fmax(largest.high - largest.value, largest.value - largest.low), 0, 0};
   for (uint64_t i = 0; i < count; i++)
      if (block->value[i] + block->hard[i] >= largest.low) {
         point.variance = fmax(point.variance, block->variance[i]);
         point.flags |= block->flags[i];
      }
   return point;
}

static int compute_max(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                       const int64_t *index, rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   geometry_t g = geometry_of(node, rkb_program_shape(program, node->inputs[0]),
                              rkb_program_shape(program, node->output));
   scratch_t scratch;
   if (!scratch_new(&scratch, g.kernel_size))
      return RKB_ERR_NOMEM;
   int status = RKB_OK;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      uint64_t padded, found = window_of(&g, (uint64_t)index[i], scratch.index, &padded);
      status = rkb_read(reader, node->inputs[0], found, scratch.index, &scratch.block);
      rkb_block_put(out, i, max_point(&scratch.block, found));
   }
   scratch_free(&scratch);
   return status;
}

static void give(rkb_point_t grad, rkb_point_t *sum) {
   sum->value += grad.value;
   sum->hard += grad.hard;
   sum->variance += grad.variance;
   sum->flags |= grad.flags;
}

/* A point that covers both cases: the element gets the gradient, or it does not. */
static void doubt_of(rkb_point_t grad, rkb_point_t *sum) {
   const double gap = fabs(grad.value) + grad.hard;
   sum->flags |= isnan(gap) ? RKB_POINT_DONT_CARE : RKB_POINT_AMBIGUOUS;
   if (isnan(gap))
      return;
   sum->hard += gap;
   sum->variance += gap * gap;
}

/* What a window with NaN gives to an element.  PyTorch gives the gradient to the last NaN.  If there are
 * several, any of them may get it here, because kernels may look at a window in any order.  Returns false for
 * a window without NaN. */
static bool hand_back_nan(const rkb_block_t *block, uint64_t count, const int64_t *places, int64_t element,
                          rkb_point_t grad, rkb_point_t *sum) {
   uint64_t found = 0, last = 0;
   bool own = false;
   for (uint64_t i = 0; i < count; i++) {
      if (!isnan(block->value[i]))
         continue;
      sum->flags |= block->flags[i] & RKB_POINT_DONT_CARE;
      own |= places[i] == element;
      last = i;
      found++;
   }
   if (own && places[last] == element)
      give(grad, sum);
   if (own && found > 1)
      doubt_of(grad, sum);
   return found > 0;
}

/* The gradient that one window gives to one of its elements: the window's gradient if the element is the largest (the first of
 * equals, as in PyTorch), otherwise nothing.  If the bounds leave this open, the point covers both.  A gradient that is NaN gives
 * 0 to the others in PyTorch, and NaN where a kernel multiplies with 0 instead of choosing. */
static void hand_back(const rkb_block_t *block, uint64_t count, const int64_t *places, int64_t element,
                      rkb_point_t grad, rkb_point_t *sum) {
   if (!hand_back_nan(block, count, places, element, grad, sum)) {
      largest_t largest = largest_of(block, count);
      bool chosen = places[largest.which] == element, doubt = false;
      for (uint64_t i = 0; i < count; i++) {
         bool other = chosen ? i != largest.which
                             : places[i] == element; /* a rival of the largest, or the element itself */
         double bounds = block->hard[i] + block->hard[largest.which];
         doubt |= other && bounds > 0 && largest.value - block->value[i] <= bounds;
      }
      if (chosen)
         give(grad, sum);
      if (doubt)
         doubt_of(grad, sum);
   }
   if (isnan(grad.value) && !isnan(sum->value))
      sum->flags |= RKB_POINT_DONT_CARE;
}

static int max_gradient_point(rkb_reader_t *reader, const rkb_program_node_t *node, const geometry_t *g,
                              int64_t element, scratch_t *scratch, rkb_point_t *point) {
   uint64_t windows = windows_with(g, (uint64_t)element, scratch->windows), padded;
   double absolute = 0, squares = 0;
   *point = (rkb_point_t){0};
   int status = rkb_read(reader, node->inputs[0], windows, scratch->windows, &scratch->grads);
   for (uint64_t w = 0; status == RKB_OK && w < windows; w++) {
      uint64_t found = window_of(g, (uint64_t)scratch->windows[w], scratch->index, &padded);
      status = rkb_read(reader, node->inputs[1], found, scratch->index, &scratch->block);
      if (status != RKB_OK)
         return status;
      double before = point->value;
      hand_back(&scratch->block, found, scratch->index, element, rkb_block_get(&scratch->grads, w), point);
      absolute += fabs(point->value - before);
      squares += (point->value - before) * (point->value - before);
   }
   if (windows > 1) /* gradients of overlapping windows are added */
      rkb_sum_rounding(rkb_reader_precision(reader), point->value, absolute, squares, (double)windows,
                       (double)windows, point);
   if (rkb_point_is_nan(*point))
      *point = rkb_point_nan();
   return status;
}

static int compute_max_gradient(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                                const int64_t *index, rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   geometry_t g = geometry_of(node, rkb_program_shape(program, node->inputs[1]),
                              rkb_program_shape(program, node->inputs[0]));
   scratch_t scratch;
   if (!scratch_new(&scratch, g.kernel_size))
      return RKB_ERR_NOMEM;
   int status = RKB_OK;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      rkb_point_t point;
      status = max_gradient_point(reader, node, &g, index[i], &scratch, &point);
      rkb_block_put(out, i, point);
   }
   scratch_free(&scratch);
   return status;
}

/* Weighted sums with weight 1 / divisor of the window: over a window's elements, or over the windows that contain an element. */
static double weight_of(const geometry_t *g, uint64_t found, uint64_t padded) {
   return 1 / (double)(g->pool.count_padding ? padded : found);
}

static int compute_average(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                           const int64_t *index, rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   geometry_t g = geometry_of(node, rkb_program_shape(program, node->inputs[0]),
                              rkb_program_shape(program, node->output));
   scratch_t scratch;
   if (!scratch_new(&scratch, g.kernel_size))
      return RKB_ERR_NOMEM;
   double *weights = scratch.grads.value; /* reuses an array that this function does not need otherwise */
   int status = RKB_OK;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      uint64_t padded, found = window_of(&g, (uint64_t)index[i], scratch.index, &padded);
      status = rkb_read(reader, node->inputs[0], found, scratch.index, &scratch.block);
      for (uint64_t j = 0; j < found; j++)
         weights[j] = weight_of(&g, found, padded);
      rkb_block_put(out, i, rkb_weighted_sum(rkb_reader_precision(reader), &scratch.block, found, weights));
   }
   scratch_free(&scratch);
   return status;
}

static int compute_average_gradient(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                                    const int64_t *index, rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   geometry_t g = geometry_of(node, rkb_program_shape(program, node->output),
                              rkb_program_shape(program, node->inputs[0]));
   scratch_t scratch;
   if (!scratch_new(&scratch, g.kernel_size))
      return RKB_ERR_NOMEM;
   double *weights = scratch.grads.value;
   int status = RKB_OK;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      uint64_t padded, windows = windows_with(&g, (uint64_t)index[i], scratch.windows);
      for (uint64_t w = 0; w < windows; w++) {
         uint64_t found = window_of(&g, (uint64_t)scratch.windows[w], scratch.index, &padded);
         weights[w] = weight_of(&g, found, padded);
      }
      status = rkb_read(reader, node->inputs[0], windows, scratch.windows, &scratch.block);
      rkb_block_put(out, i, rkb_weighted_sum(rkb_reader_precision(reader), &scratch.block, windows, weights));
   }
   scratch_free(&scratch);
   return status;
}

static double work(const rkb_program_t *program, const rkb_program_node_t *node) {
   geometry_t g = geometry_of(node, rkb_program_shape(program, node->inputs[0]),
                              rkb_program_shape(program, node->output));
   uint64_t smaller = program->values[node->output].elements,
            other = program->values[node->inputs[0]].elements;
   return (double)(smaller < other ? smaller : other) * (double)g.kernel_size;
}

static const rkb_operation_t max_gradient = {
   .name = "max_pool_gradient", .exact = true, .compute = compute_max_gradient, .work = work};
static const rkb_operation_t average_gradient = {
   .name = "average_pool_gradient", .compute = compute_average_gradient, .work = work};

static uint32_t gradient_max(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                             uint32_t grad) {
   (void)which;
   rkb_shape_t shape = *rkb_program_shape(program, node->inputs[0]);
   return rkb_program_add(program, &max_gradient, (uint32_t[]){grad, node->inputs[0]}, 2, node->integers,
                          node->integer_count, NULL, 0, rkb_program_dtype(program, node->inputs[0]), &shape);
}

static uint32_t gradient_average(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                 uint32_t grad) {
   (void)which;
   rkb_shape_t shape = *rkb_program_shape(program, node->inputs[0]);
   return rkb_program_add(program, &average_gradient, &grad, 1, node->integers, node->integer_count, NULL, 0,
                          rkb_program_dtype(program, node->inputs[0]), &shape);
}

static const rkb_operation_t max_pool = {
   .name = "max_pool", .exact = true, .compute = compute_max, .work = work, .gradient = gradient_max};
static const rkb_operation_t average_pool = {
   .name = "average_pool", .compute = compute_average, .work = work, .gradient = gradient_average};

static int64_t output_size(const rkb_pool_t *pool, uint32_t d, int64_t in) {
   int64_t stride = pool->window.stride[d], padding = pool->window.padding[d];
   int64_t room = in + 2 * padding - pool->window.dilation[d] * (pool->kernel[d] - 1) - 1;
   if (room < 0)
      return 0;
   int64_t size = (room + (pool->ceil_mode ? stride - 1 : 0)) / stride + 1;
   if (pool->ceil_mode && (size - 1) * stride >= in + padding) /* the last window must begin inside */
      size--;
   return size;
}

static uint32_t make(rkb_program_t *program, const rkb_operation_t *operation, uint32_t x,
                     const rkb_pool_t *pool) {
   const rkb_shape_t *in = rkb_program_shape(program, x);
   const rkb_window_t *window = &pool->window;
   uint64_t kernel = 1;
   if (program->failed)
      return RKB_NO_VALUE;
   if (in->rank != window->spatial + 2)
      return rkb_program_fail(program, "pooling over %u dims needs a tensor of rank %u, not %u",
                              window->spatial, window->spatial + 2, in->rank);
   rkb_shape_t shape = *in;
   int64_t integers[HEAD + 4 * RKB_MAX_SPATIAL] = {window->spatial, pool->ceil_mode, pool->count_padding};
   for (uint32_t d = 0; d < window->spatial; d++) {
      bool good = pool->kernel[d] >= 1 && window->stride[d] >= 1 && window->dilation[d] >= 1 &&
                  window->padding[d] >= 0 && 2 * window->padding[d] <= pool->kernel[d];
      if (!good)
         return rkb_program_fail(
            program,
            "pooling needs kernel, stride and dilation of at least 1 and padding of at most half the kernel");
      kernel *= (uint64_t)pool->kernel[d];
      shape.size[2 + d] = output_size(pool, d, in->size[2 + d]);
      if (shape.size[2 + d] < 1 || kernel > MOST_WINDOW)
         return rkb_program_fail(program, "pooling: the window does not fit, or holds over %d elements",
                                 MOST_WINDOW);
      int64_t *of_dim = integers + HEAD + 4 * d;
      of_dim[0] = pool->kernel[d], of_dim[1] = window->stride[d], of_dim[2] = window->padding[d],
      of_dim[3] = window->dilation[d];
   }
   return rkb_program_add(program, operation, &x, 1, integers, HEAD + 4 * window->spatial, NULL, 0,
                          rkb_program_dtype(program, x), &shape);
}

uint32_t rkb_make_max_pool(rkb_program_t *program, uint32_t x, const rkb_pool_t *pool) {
   return make(program, &max_pool, x, pool);
}

uint32_t rkb_make_average_pool(rkb_program_t *program, uint32_t x, const rkb_pool_t *pool) {
   return make(program, &average_pool, x, pool);
}
