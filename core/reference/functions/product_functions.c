/* Matrix products and convolutions.  Constant tables. */
#include "reference/functions/functions.h"

#include <math.h>
#include <string.h>
#include "reference/dtype.h"
#include "reference/operations/widened_bounds.h"
#include "reference/operations/elementwise.h"
#include "reference/operations/layout.h"
#include "reference/operations/product.h"
#include "reference/operations/reduce.h"

/* Adds a bias along dim 1 of [N, O, ...], or along the last dim.  Some of PyTorch's narrow kernels store the product before they add the
 * bias, as two calls would. */
static uint32_t with_bias(rkb_program_t *program, uint32_t y, uint32_t bias, bool channels) {
   const rkb_shape_t *shape = rkb_program_shape(program, y);
   const rkb_shape_t *length = rkb_program_shape(program, bias);
   int64_t wanted = shape->rank > (channels ? 1u : 0u) ? shape->size[channels ? 1 : shape->rank - 1] : 0;
   if (program->failed)
      return RKB_NO_VALUE;
   if (length->rank != 1 || length->size[0] != wanted)
      return rkb_program_fail(program, "the bias has not the %lld elements of the output's channels",
                              (long long)wanted);
   rkb_shape_t wide = {.rank = channels ? shape->rank - 1 : 1};
   for (uint32_t d = 0; d < wide.rank; d++)
      wide.size[d] = d == 0 ? wanted : 1;
   const uint32_t addend = rkb_make_reshape(program, bias, &wide), dtype = rkb_program_dtype(program, y),
                  sum = rkb_make_binary(program, "add", y, addend);
   return rkb_dtype_narrow(dtype) ? rkb_make_stored_part(program, sum, addend, dtype) : sum;
}

static void build_linear(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   rkb_shape_t shape = *rkb_program_shape(program, call->inputs[0]);
   const rkb_shape_t *weight = rkb_program_shape(program, call->inputs[1]);
   if (shape.rank < 1 || weight->rank != 2) {
      rkb_program_fail(program, "linear takes x of rank 1 or more and a weight matrix");
      return;
   }
   rkb_shape_t rows = {
      .rank = 2, .size = {(int64_t)rkb_shape_product(&shape, 0, shape.rank - 1), shape.size[shape.rank - 1]}};
   uint32_t flat = rkb_make_reshape(program, call->inputs[0], &rows);
   uint32_t y = rkb_make_matmul(program, flat, false, call->inputs[1], true);
   if (program->failed)
      return;
   shape.size[shape.rank - 1] = weight->size[0];
   y = rkb_make_reshape(program, y, &shape);
   outputs[0] = call->input_count > 2 ? with_bias(program, y, call->inputs[2], false) : y;
}

/* Makes a vector on either side a matrix of one row or column, and removes that dim from the result. */
static void build_matmul(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   rkb_shape_t a = *rkb_program_shape(program, call->inputs[0]),
               b = *rkb_program_shape(program, call->inputs[1]);
   rkb_shape_t row = {.rank = 2, .size = {1, a.size[0]}}, column = {.rank = 2, .size = {b.size[0], 1}};
   uint32_t left = a.rank == 1 ? rkb_make_reshape(program, call->inputs[0], &row) : call->inputs[0];
   uint32_t right = b.rank == 1 ? rkb_make_reshape(program, call->inputs[1], &column) : call->inputs[1];
   uint32_t y = rkb_make_matmul(program, left, false, right, false);
   if (program->failed || (a.rank > 1 && b.rank > 1)) {
      outputs[0] = y;
      return;
   }
   rkb_shape_t shape = *rkb_program_shape(program, y), out = {0};
   for (uint32_t d = 0; d < shape.rank; d++)
      if (!(a.rank == 1 && d == shape.rank - 2) && !(b.rank == 1 && d == shape.rank - 1))
         out.size[out.rank++] = shape.size[d];
   outputs[0] = rkb_make_reshape(program, y, &out);
}

static void build_bmm(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   if (rkb_program_shape(program, call->inputs[0])->rank != 3 ||
       rkb_program_shape(program, call->inputs[1])->rank != 3)
      rkb_program_fail(program, "bmm takes two tensors of rank 3");
   outputs[0] = rkb_make_matmul(program, call->inputs[0], false, call->inputs[1], false);
}

/* Reads an attribute that is one number for all dims, or one number for each dim. */
static bool per_dim(const rkb_call_t *call, const char *name, uint32_t spatial, int64_t *out) {
   const rkb_attribute_value_t *given = rkb_call_attribute(call, name);
   if (given->integer_count != 1 && given->integer_count != spatial) {
      rkb_program_fail(call->program, "%s: %s is one number, or one for each of %u dims",
                       call->function->name, name, spatial);
      return false;
   }
   for (uint32_t d = 0; d < spatial; d++)
      out[d] = given->integers[given->integer_count == 1 ? 0 : d];
   return true;
}

static bool read_window(const rkb_call_t *call, rkb_window_t *window) {
   window->spatial = (uint32_t)(call->function->operation[0] - '0');
   window->groups = rkb_call_int(call, "groups");
   return per_dim(call, "stride", window->spatial, window->stride) &&
          per_dim(call, "padding", window->spatial, window->padding) &&
          per_dim(call, "dilation", window->spatial, window->dilation);
}

static void build_convolution(const rkb_call_t *call, uint32_t *outputs) {
   rkb_window_t window = {0};
   if (!read_window(call, &window))
      return;
   uint32_t y = rkb_make_convolution(call->program, call->inputs[0], call->inputs[1], &window);
   outputs[0] = call->input_count > 2 ? with_bias(call->program, y, call->inputs[2], true) : y;
}

/* A transposed convolution is the input gradient of a convolution.  PyTorch's weight [C, O / groups, k...] is the weight of that
 * convolution. */
static void build_transposed(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   rkb_window_t window = {0};
   int64_t extra[RKB_MAX_SPATIAL], sizes[RKB_MAX_SPATIAL];
   if (!read_window(call, &window) || !per_dim(call, "output_padding", window.spatial, extra))
      return;
   const rkb_shape_t *x = rkb_program_shape(program, call->inputs[0]),
                     *weight = rkb_program_shape(program, call->inputs[1]);
   if (x->rank != window.spatial + 2 || weight->rank != x->rank) {
      rkb_program_fail(program, "%s takes x and weight of rank %u", call->function->name, window.spatial + 2);
      return;
   }
   for (uint32_t d = 0; d < window.spatial; d++)
      sizes[d] = (x->size[2 + d] - 1) * window.stride[d] - 2 * window.padding[d] +
                 window.dilation[d] * (weight->size[2 + d] - 1) + 1 + extra[d];
   uint32_t y = rkb_make_convolution_input(program, call->inputs[0], call->inputs[1], &window, sizes);
   outputs[0] = call->input_count > 2 ? with_bias(program, y, call->inputs[2], true) : y;
}

/* softmax(scale q k' + mask) v */
static void build_attention(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   const rkb_shape_t *q = rkb_program_shape(program, call->inputs[0]);
   if (q->rank < 2) {
      rkb_program_fail(program, "attention takes tensors of rank 2 or more");
      return;
   }
   double scale = rkb_call_attribute(call, "scale")->given ? rkb_call_real(call, "scale")
                                                           : 1 / sqrt((double)q->size[q->rank - 1]);
   uint32_t scores = rkb_make_scalar(
      program, "mul_scalar", rkb_make_matmul(program, call->inputs[0], false, call->inputs[1], true), scale);
   if (rkb_call_true(call, "is_causal"))
      scores = rkb_make_triangle(program, scores, 0, false, -INFINITY);
   if (program->failed)
      return;
   uint32_t share =
      rkb_make_softmax(program, "softmax", scores, rkb_program_shape(program, scores)->rank - 1);
   outputs[0] = rkb_make_matmul(program, share, false, call->inputs[2], false);
}

#define WINDOW                                                                                               \
   {"stride", RKB_ATTRIBUTE_INTS, "1", NULL}, {"padding", RKB_ATTRIBUTE_INTS, "0", NULL},                    \
      {"dilation", RKB_ATTRIBUTE_INTS, "1", NULL}, {                                                         \
      "groups", RKB_ATTRIBUTE_INT, "1", NULL                                                                 \
   }
#define CONVOLUTION(label, spatial)                                                                          \
   { label, "x, weight, [bias]", 2, 3, {WINDOW}, build_convolution, spatial }
#define TRANSPOSED(label, spatial)                                                                           \
   {                                                                                                         \
      label, "x, weight, [bias]", 2, 3, {WINDOW, {"output_padding", RKB_ATTRIBUTE_INTS, "0", NULL}},         \
         build_transposed, spatial                                                                           \
   }

const rkb_function_t rkb_functions_product[] = {
   {"linear", "x, weight, [bias]", 2, 3, {{0}}, build_linear, NULL},
   {"matmul", "a, b", 2, 2, {{0}}, build_matmul, NULL},
   {"bmm", "a, b", 2, 2, {{0}}, build_bmm, NULL},
   CONVOLUTION("conv1d", "1"),
   CONVOLUTION("conv2d", "2"),
   CONVOLUTION("conv3d", "3"),
   TRANSPOSED("conv_transpose1d", "1"),
   TRANSPOSED("conv_transpose2d", "2"),
   TRANSPOSED("conv_transpose3d", "3"),
   {"scaled_dot_product_attention",
    "q, k, v",
    3,
    3,
    {{"is_causal", RKB_ATTRIBUTE_BOOL, "false", NULL}, {"scale", RKB_ATTRIBUTE_REAL, "", NULL}},
    build_attention,
    NULL},
   {0},
};
