/* Convolutions over 1 to 3 dims and both gradients; each is a sum of products with its own index maps.  Pure functions.
 *
 *   forward  out[n, o, p]  = sum over c, k of x[n, c, p s + k d - pad] w[o, c, k]
 *   input    dx[n, c, i]   = sum over o, k of g[n, o, (i + pad - k d) / s] w[o, c, k], where the division is exact
 *   weight   dw[o, c, k]   = sum over n, p of x[n, c, p s + k d - pad] g[n, o, p]
 *
 * A node's integers: the number of spatial dims, groups, then stride, padding and dilation of each dim. */
#include "reference/operations/product.h"

#include <string.h>
#include "reference/operations/contraction.h"
#include "reference/operations/convolution_filter.h"
#include "reference/dtype.h"

#define HEAD 2

typedef struct geometry {
   rkb_window_t window;
   uint64_t batch, channels, outputs; /* N, C, O */
   int64_t in[RKB_MAX_SPATIAL], kernel[RKB_MAX_SPATIAL], out[RKB_MAX_SPATIAL];
   uint64_t in_size, kernel_size, out_size; /* their products */
   uint64_t group_channels, group_outputs;  /* C / groups, O / groups */
   bool beyond; /* a weight's gradient counts places beyond the output's edge, which hold exact zeros */
} geometry_t;

static rkb_window_t window_of(const rkb_program_node_t *node) {
   rkb_window_t window = {.spatial = (uint32_t)node->integers[0], .groups = node->integers[1]};
   for (uint32_t d = 0; d < window.spatial; d++) {
      window.stride[d] = node->integers[HEAD + 3 * d];
      window.padding[d] = node->integers[HEAD + 3 * d + 1];
      window.dilation[d] = node->integers[HEAD + 3 * d + 2];
   }
   return window;
}

/* The geometry from the shapes of x, weight and out.  The node's kind says which of its operands these are. */
static geometry_t geometry_of(const rkb_window_t *window, const rkb_shape_t *x, const rkb_shape_t *weight,
                              const rkb_shape_t *out) {
   geometry_t g = {.window = *window,
                   .batch = (uint64_t)x->size[0],
                   .channels = (uint64_t)x->size[1],
                   .outputs = (uint64_t)weight->size[0]};
   g.in_size = g.kernel_size = g.out_size = 1;
   for (uint32_t d = 0; d < window->spatial; d++) {
      g.in[d] = x->size[2 + d];
      g.kernel[d] = weight->size[2 + d];
      g.out[d] = out->size[2 + d];
      g.in_size *= (uint64_t)g.in[d];
      g.kernel_size *= (uint64_t)g.kernel[d];
      g.out_size *= (uint64_t)g.out[d];
   }
   g.group_channels = g.channels / (uint64_t)window->groups;
   g.group_outputs = g.outputs / (uint64_t)window->groups;
   return g;
}

static void place(uint64_t number, uint32_t spatial, const int64_t *sizes, int64_t *at) {
   for (uint32_t d = spatial; d-- > 0;) {
      at[d] = (int64_t)(number % (uint64_t)sizes[d]);
      number /= (uint64_t)sizes[d];
   }
}

/* Moves to the next place; true when that is the first one again. */
static bool turn(uint32_t spatial, const int64_t *sizes, int64_t *at) {
   for (uint32_t d = spatial; d-- > 0;) {
      if (++at[d] < sizes[d])
         return false;
      at[d] = 0;
   }
   return true;
}

/* Place in x that output place p sees through kernel place k; -1 in the padding. */
static int64_t seen(const geometry_t *g, const int64_t *p, const int64_t *k) {
   int64_t element = 0;
   for (uint32_t d = 0; d < g->window.spatial; d++) {
      int64_t i = p[d] * g->window.stride[d] + k[d] * g->window.dilation[d] - g->window.padding[d];
      if (i < 0 || i >= g->in[d])
         return -1;
      element = element * g->in[d] + i;
   }
   return element;
}

/* Output place that sees x place i through kernel place k; -1 when none does. */
static int64_t seen_by(const geometry_t *g, const int64_t *i, const int64_t *k) {
   int64_t element = 0;
   for (uint32_t d = 0; d < g->window.spatial; d++) {
      int64_t p = i[d] + g->window.padding[d] - k[d] * g->window.dilation[d];
      if (p < 0 || p % g->window.stride[d] != 0 || p / g->window.stride[d] >= g->out[d])
         return -1;
      element = element * g->out[d] + p / g->window.stride[d];
   }
   return element;
}

/* forward: rows (n, p), columns o within its group, depth (c, k) */

static void forward_left(const void *geometry, uint64_t group, uint64_t row, uint64_t first, uint64_t count,
                         int64_t *index) {
   const geometry_t *g = geometry;
   uint64_t n = row / g->out_size;
   int64_t p[RKB_MAX_SPATIAL], k[RKB_MAX_SPATIAL];
   place(row % g->out_size, g->window.spatial, g->out, p);
   place(first % g->kernel_size, g->window.spatial, g->kernel, k);
   uint64_t c = first / g->kernel_size + group * g->group_channels;
   for (uint64_t j = 0; j < count; j++) {
      int64_t at = seen(g, p, k);
      index[j] = at < 0 ? -1 : (int64_t)((n * g->channels + c) * g->in_size) + at;
      c += turn(g->window.spatial, g->kernel, k);
   }
}

static void forward_right(const void *geometry, uint64_t group, uint64_t column, uint64_t first,
                          uint64_t count, int64_t *index) {
   const geometry_t *g = geometry;
   uint64_t base = (group * g->group_outputs + column) * g->group_channels * g->kernel_size;
   for (uint64_t j = 0; j < count; j++)
      index[j] = (int64_t)(base + first + j);
}

static uint64_t forward_element(const void *geometry, uint64_t group, uint64_t row, uint64_t column) {
   const geometry_t *g = geometry;
   return (row / g->out_size * g->outputs + group * g->group_outputs + column) * g->out_size +
          row % g->out_size;
}

static void forward_split(const void *geometry, uint64_t element, uint64_t *group, uint64_t *row,
                          uint64_t *column) {
   const geometry_t *g = geometry;
   uint64_t o = element / g->out_size % g->outputs;
   *group = o / g->group_outputs;
   *column = o % g->group_outputs;
   *row = element / g->out_size / g->outputs * g->out_size + element % g->out_size;
}

/* input: rows (n, i), columns c within its group, depth (o, k) */

static void input_left(const void *geometry, uint64_t group, uint64_t row, uint64_t first, uint64_t count,
                       int64_t *index) {
   const geometry_t *g = geometry;
   uint64_t n = row / g->in_size;
   int64_t i[RKB_MAX_SPATIAL], k[RKB_MAX_SPATIAL];
   place(row % g->in_size, g->window.spatial, g->in, i);
   place(first % g->kernel_size, g->window.spatial, g->kernel, k);
   uint64_t o = first / g->kernel_size + group * g->group_outputs;
   for (uint64_t j = 0; j < count; j++) {
      int64_t at = seen_by(g, i, k);
      index[j] = at < 0 ? -1 : (int64_t)((n * g->outputs + o) * g->out_size) + at;
      o += turn(g->window.spatial, g->kernel, k);
   }
}

static void input_right(const void *geometry, uint64_t group, uint64_t column, uint64_t first, uint64_t count,
                        int64_t *index) {
   const geometry_t *g = geometry;
   for (uint64_t j = 0; j < count; j++) {
      uint64_t o = (first + j) / g->kernel_size + group * g->group_outputs;
      index[j] = (int64_t)((o * g->group_channels + column) * g->kernel_size + (first + j) % g->kernel_size);
   }
}

static uint64_t input_element(const void *geometry, uint64_t group, uint64_t row, uint64_t column) {
   const geometry_t *g = geometry;
   return (row / g->in_size * g->channels + group * g->group_channels + column) * g->in_size +
          row % g->in_size;
}

static void input_split(const void *geometry, uint64_t element, uint64_t *group, uint64_t *row,
                        uint64_t *column) {
   const geometry_t *g = geometry;
   uint64_t c = element / g->in_size % g->channels;
   *group = c / g->group_channels;
   *column = c % g->group_channels;
   *row = element / g->in_size / g->channels * g->in_size + element % g->in_size;
}

/* weight: rows (c, k) within a group, columns o within it, depth (n, p); left is x, right the gradient.
 *
 * PyTorch's depthwise kernels for narrow images with channels last multiply every element of the image, even one that
 * no place of the output reaches through k.  Such a place would lie beyond the output's edge, where the gradient counts as
 * 0.  There NaN times that 0 gives NaN; everything else gives nothing, as in the padding.  So every element of the image is
 * one more term, with an exact zero. */

static void weight_left(const void *geometry, uint64_t group, uint64_t row, uint64_t first, uint64_t count,
                        int64_t *index) {
   const geometry_t *g = geometry;
   uint64_t c = row / g->kernel_size + group * g->group_channels;
   int64_t p[RKB_MAX_SPATIAL], k[RKB_MAX_SPATIAL];
   place(row % g->kernel_size, g->window.spatial, g->kernel, k);
   place(first % g->out_size, g->window.spatial, g->out, p);
   uint64_t n = first / g->out_size;
   for (uint64_t j = 0; j < count; j++) {
      if (n >= g->batch) {
         const uint64_t beyond = first + j - g->batch * g->out_size;
         index[j] = (int64_t)((beyond / g->in_size * g->channels + c) * g->in_size + beyond % g->in_size);
         continue;
      }
      int64_t at = seen(g, p, k);
      index[j] = at < 0 ? -1 : (int64_t)((n * g->channels + c) * g->in_size) + at;
      n += turn(g->window.spatial, g->out, p);
   }
}

static void weight_right(const void *geometry, uint64_t group, uint64_t column, uint64_t first,
                         uint64_t count, int64_t *index) {
   const geometry_t *g = geometry;
   uint64_t o = group * g->group_outputs + column;
   for (uint64_t j = 0; j < count; j++) {
      const uint64_t term = first + j, n = term / g->out_size;
      index[j] = n < g->batch ? (int64_t)((n * g->outputs + o) * g->out_size + term % g->out_size) : -1;
   }
}

static uint64_t weight_element(const void *geometry, uint64_t group, uint64_t row, uint64_t column) {
   const geometry_t *g = geometry;
   return (group * g->group_outputs + column) * g->group_channels * g->kernel_size + row;
}

static void weight_split(const void *geometry, uint64_t element, uint64_t *group, uint64_t *row,
                         uint64_t *column) {
   const geometry_t *g = geometry;
   uint64_t size = g->group_channels * g->kernel_size, o = element / size;
   *group = o / g->group_outputs;
   *column = o % g->group_outputs;
   *row = element % size;
}

/* Operations */

enum { FORWARD, INPUT, WEIGHT };

static geometry_t node_geometry(const rkb_program_t *program, const rkb_program_node_t *node, int kind) {
   const rkb_shape_t *first = rkb_program_shape(program, node->inputs[0]),
                     *second = rkb_program_shape(program, node->inputs[1]);
   const rkb_shape_t *out = rkb_program_shape(program, node->output);
   rkb_window_t window = window_of(node);
   switch (kind) {
   case FORWARD:
      return geometry_of(&window, first, second, out);
   case INPUT:
      return geometry_of(&window, out, second, first);
   default: { /* operands (x, grad) */
      geometry_t g = geometry_of(&window, first, out, second);
      g.beyond = g.group_channels == 1 && window.groups > 1 &&
                 rkb_dtype_narrow(rkb_program_kept_type(program, node->inputs[0])) != NULL;
      return g;
   }
   }
}

static rkb_contraction_t contraction_of(const rkb_program_node_t *node, const geometry_t *g, int kind) {
   rkb_contraction_t c = {.groups = (uint64_t)g->window.groups, .repeats = g->kernel_size, .geometry = g};
   rkb_contraction_operands(&c, node);
   switch (kind) {
   case FORWARD:
      c.rows = g->batch * g->out_size, c.columns = g->group_outputs,
      c.depth = g->group_channels * g->kernel_size;
      c.left_index = forward_left, c.right_index = forward_right, c.element = forward_element,
      c.split = forward_split;
      break;
   case INPUT:
      c.rows = g->batch * g->in_size, c.columns = g->group_channels,
      c.depth = g->group_outputs * g->kernel_size;
      c.left_index = input_left, c.right_index = input_right, c.element = input_element,
      c.split = input_split;
      break;
   default:
      c.rows = g->group_channels * g->kernel_size, c.columns = g->group_outputs,
      c.places = g->batch * g->out_size, c.depth = c.places + (g->beyond ? g->batch * g->in_size : 0);
      c.left_index = weight_left, c.right_index = weight_right, c.element = weight_element,
      c.split = weight_split;
   }
   return c;
}

/* Whether the points get the bounds of minimal filtering.  The bounds of a weight's gradient are widened where an output is judged. */
static bool is_widened(const rkb_reader_t *reader, const rkb_program_node_t *node) {
   return rkb_reader_precision(reader)->filtered &&
          rkb_filter_of_three(rkb_reader_program(reader), node) == RKB_FILTER_OF_ELEMENTS;
}

#define COLUMNS(name, kind)                                                                                  \
   static int compute_##name(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,           \
                             const int64_t *index, rkb_block_t *out) {                                       \
      geometry_t g = node_geometry(rkb_reader_program(reader), node, kind);                                  \
      rkb_contraction_t contraction = contraction_of(node, &g, kind);                                        \
      int status = rkb_contract_points(reader, &contraction, count, index, out);                             \
      if (status == RKB_OK && is_widened(reader, node))                                                      \
         status = rkb_filter_widen(reader, &contraction, g.window.spatial, count, index, out);               \
      return status;                                                                                         \
   }                                                                                                         \
   static int whole_##name(rkb_reader_t *reader, const rkb_program_node_t *node, rkb_block_t *out) {         \
      geometry_t g = node_geometry(rkb_reader_program(reader), node, kind);                                  \
      rkb_contraction_t contraction = contraction_of(node, &g, kind);                                        \
      int status = rkb_contract_whole(reader, &contraction, out);                                            \
      if (status == RKB_OK && is_widened(reader, node))                                                      \
         status = rkb_filter_widen(reader, &contraction, g.window.spatial,                                   \
                                   rkb_reader_program(reader)->values[node->output].elements, NULL, out);    \
      return status;                                                                                         \
   }                                                                                                         \
   static double cone_##name(const rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,   \
                             double outputs, uint64_t samples, const int64_t *output, int64_t *operand) {    \
      geometry_t g = node_geometry(program, node, kind);                                                     \
      rkb_contraction_t contraction = contraction_of(node, &g, kind);                                        \
      return rkb_contraction_cone(program, &contraction, which, outputs, samples, output, operand);          \
   }                                                                                                         \
   static uint64_t depth_##name(const rkb_program_t *program, const rkb_program_node_t *node) {              \
      geometry_t g = node_geometry(program, node, kind);                                                     \
      const rkb_contraction_t contraction = contraction_of(node, &g, kind);                                  \
      return rkb_contraction_places(&contraction);                                                           \
   }
COLUMNS(forward, FORWARD)
COLUMNS(input, INPUT)
COLUMNS(weight, WEIGHT)

/* All three cost what the forward convolution costs: two operations per multiplication. */
static double work_of(const rkb_program_t *program, const rkb_program_node_t *node, int kind) {
   geometry_t g = node_geometry(program, node, kind);
   return 2 * (double)g.batch * (double)g.out_size * (double)g.outputs * (double)g.group_channels *
             (double)g.kernel_size +
          rkb_contraction_addend_work(program, node);
}

static double work_forward(const rkb_program_t *program, const rkb_program_node_t *node) {
   return work_of(program, node, FORWARD);
}

static double work_input(const rkb_program_t *program, const rkb_program_node_t *node) {
   return work_of(program, node, INPUT);
}

static double work_weight(const rkb_program_t *program, const rkb_program_node_t *node) {
   return work_of(program, node, WEIGHT);
}

static uint32_t gradient_forward(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                 uint32_t grad) {
   rkb_window_t window = window_of(node);
   const rkb_shape_t *shape = rkb_program_shape(program, node->inputs[which]);
   if (which == 0)
      return rkb_make_convolution_input(program, grad, node->inputs[1], &window, shape->size + 2);
   return rkb_make_convolution_weight(program, grad, node->inputs[0], &window, shape->size + 2);
}

/* A transposed convolution: its input takes the place of the gradient. */
static uint32_t gradient_input(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                               uint32_t grad) {
   rkb_window_t window = window_of(node);
   if (which == 0)
      return rkb_make_convolution(program, grad, node->inputs[1], &window);
   return rkb_make_convolution_weight(program, node->inputs[0], grad, &window,
                                      rkb_program_shape(program, node->inputs[1])->size + 2);
}

static const rkb_operation_t forward = {.name = "convolution",
                                        .costly = true,
                                        .exact = true,
                                        .compute = compute_forward,
                                        .whole = whole_forward,
                                        .gradient = gradient_forward,
                                        .work = work_forward,
                                        .cone = cone_forward,
                                        .depth = depth_forward};
static const rkb_operation_t input = {.name = "convolution_input",
                                      .costly = true,
                                      .exact = true,
                                      .compute = compute_input,
                                      .whole = whole_input,
                                      .gradient = gradient_input,
                                      .work = work_input,
                                      .cone = cone_input,
                                      .depth = depth_input};
static const rkb_operation_t weight = {.name = "convolution_weight",
                                       .costly = true,
                                       .exact = true,
                                       .compute = compute_weight,
                                       .whole = whole_weight,
                                       .work = work_weight,
                                       .cone = cone_weight,
                                       .depth = depth_weight};

static uint32_t add(rkb_program_t *program, const rkb_operation_t *operation, uint32_t a, uint32_t b,
                    const rkb_window_t *window, const rkb_shape_t *shape) {
   int64_t integers[HEAD + 3 * RKB_MAX_SPATIAL] = {window->spatial, window->groups};
   for (uint32_t d = 0; d < window->spatial; d++) {
      integers[HEAD + 3 * d] = window->stride[d];
      integers[HEAD + 3 * d + 1] = window->padding[d];
      integers[HEAD + 3 * d + 2] = window->dilation[d];
   }
   return rkb_program_add(program, operation, (uint32_t[]){a, b}, 2, integers, HEAD + 3 * window->spatial,
                          NULL, 0, rkb_program_dtype(program, a), shape);
}

/* Size of the output along one dim; 0 when the kernel does not fit. */
static int64_t output_size(const rkb_window_t *window, uint32_t d, int64_t in, int64_t kernel) {
   int64_t room = in + 2 * window->padding[d] - window->dilation[d] * (kernel - 1) - 1;
   return room < 0 ? 0 : room / window->stride[d] + 1;
}

static bool window_is_good(rkb_program_t *program, const rkb_window_t *window) {
   bool good = window->spatial >= 1 && window->spatial <= RKB_MAX_SPATIAL && window->groups >= 1;
   for (uint32_t d = 0; good && d < window->spatial; d++)
      good = window->stride[d] >= 1 && window->dilation[d] >= 1 && window->padding[d] >= 0;
   if (!good)
      rkb_program_fail(
         program, "a convolution needs strides, dilations and groups of at least 1 and no negative padding");
   return good;
}

uint32_t rkb_make_convolution(rkb_program_t *program, uint32_t x, uint32_t w, const rkb_window_t *window) {
   const rkb_shape_t *in = rkb_program_shape(program, x), *kernel = rkb_program_shape(program, w);
   if (program->failed || !window_is_good(program, window) || !rkb_factors_are_floats(program, x, w))
      return RKB_NO_VALUE;
   uint32_t rank = window->spatial + 2;
   if (in->rank != rank || kernel->rank != rank || in->size[1] != kernel->size[1] * window->groups ||
       kernel->size[0] % window->groups != 0) {
      const rkb_shape_texts_t texts = rkb_shape_texts(in, kernel);
      return rkb_program_fail(program, "a convolution of %s with weights %s and %lld groups does not fit",
                              texts.left, texts.right, (long long)window->groups);
   }
   rkb_shape_t shape = {.rank = rank, .size = {in->size[0], kernel->size[0]}};
   for (uint32_t d = 0; d < window->spatial; d++) {
      shape.size[2 + d] = output_size(window, d, in->size[2 + d], kernel->size[2 + d]);
      if (shape.size[2 + d] < 1) {
         const rkb_shape_texts_t texts = rkb_shape_texts(in, kernel);
         return rkb_program_fail(
            program, "a convolution of %s with weights %s: the kernel is larger than the padded input",
            texts.left, texts.right);
      }
   }
   return add(program, &forward, x, w, window, &shape);
}

uint32_t rkb_make_convolution_input(rkb_program_t *program, uint32_t grad, uint32_t w,
                                    const rkb_window_t *window, const int64_t *sizes) {
   const rkb_shape_t *g = rkb_program_shape(program, grad), *kernel = rkb_program_shape(program, w);
   uint32_t rank = window->spatial + 2;
   if (program->failed || !window_is_good(program, window))
      return RKB_NO_VALUE;
   if (g->rank != rank || kernel->rank != rank || g->size[1] != kernel->size[0] ||
       kernel->size[0] % window->groups != 0)
      return rkb_program_fail(program, "a transposed convolution's input and weights do not fit");
   rkb_shape_t shape = {.rank = rank, .size = {g->size[0], kernel->size[1] * window->groups}};
   for (uint32_t d = 0; d < window->spatial; d++) {
      shape.size[2 + d] = sizes[d];
      if (output_size(window, d, sizes[d], kernel->size[2 + d]) != g->size[2 + d])
         return rkb_program_fail(program, "a transposed convolution cannot give size %lld from %lld",
                                 (long long)sizes[d], (long long)g->size[2 + d]);
   }
   return add(program, &input, grad, w, window, &shape);
}

uint32_t rkb_make_convolution_weight(rkb_program_t *program, uint32_t grad, uint32_t x,
                                     const rkb_window_t *window, const int64_t *kernel) {
   const rkb_shape_t *g = rkb_program_shape(program, grad), *in = rkb_program_shape(program, x);
   if (program->failed)
      return RKB_NO_VALUE;
   rkb_shape_t shape = {.rank = window->spatial + 2, .size = {g->size[1], in->size[1] / window->groups}};
   memcpy(shape.size + 2, kernel, window->spatial * sizeof *kernel);
   return add(program, &weight, x, grad, window, &shape);
}

enum rkb_filter rkb_filter_of_three(const rkb_program_t *program, const rkb_program_node_t *node) {
   const bool gradient = node->operation == &weight;
   if (node->operation != &forward && node->operation != &input && !gradient)
      return RKB_FILTER_NONE;
   const rkb_window_t window = window_of(node);
   const rkb_shape_t *kernel = rkb_program_shape(program, gradient ? node->output : node->inputs[1]);
   bool three = window.spatial <= 2;
   for (uint32_t d = 0; three && d < window.spatial; d++)
      three = window.stride[d] == 1 && window.dilation[d] == 1 && kernel->size[2 + d] == 3;
   return !three ? RKB_FILTER_NONE : gradient ? RKB_FILTER_OF_WEIGHT : RKB_FILTER_OF_ELEMENTS;
}
