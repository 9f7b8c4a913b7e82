/* Normalisations, expanded into means, variances and reciprocal roots.  Constant tables. */
#include "reference/functions/functions.h"

#include <math.h>
#include "reference/dtype.h"
#include "reference/operations/widened_bounds.h"
#include "reference/operations/elementwise.h"
#include "reference/operations/layout.h"
#include "reference/operations/reduce.h"

/* (x - mean) / sqrt(variance + eps).  Kernels also compute x a + (bias - mean a) with a = weight / sqrt(variance + eps), which rounds
 * numbers of the size of mean a and of bias.  The bounds allow three roundings of the first size here, and two of the second in
 * affine(). */
static uint32_t normalised_by(rkb_program_t *program, uint32_t x, uint32_t mean, uint32_t inverse) {
   uint32_t y = rkb_make_binary(program, "mul", rkb_make_binary(program, "sub", x, mean), inverse);
   return rkb_make_widened_bound(program, y, mean, inverse, 3);
}

static uint32_t normalised(rkb_program_t *program, uint32_t x, uint32_t mean, uint32_t variance, double eps) {
   return normalised_by(
      program, x, mean,
      rkb_make_unary(program, "rsqrt", rkb_make_scalar(program, "add_scalar", variance, eps)));
}

static uint32_t normalised_over(rkb_program_t *program, uint32_t x, uint64_t mask, double eps) {
   uint32_t mean = rkb_make_reduce(program, "mean", x, mask, true);
   return normalised(program, x, mean, rkb_make_variance(program, x, mask, true, 0), eps);
}

/* y * weight + bias.  The call has weight and bias from input number first on; each is optional. */
static uint32_t affine(const rkb_call_t *call, uint32_t y, uint32_t first, const rkb_shape_t *shape) {
   rkb_program_t *program = call->program;
   uint32_t terms[2] = {RKB_NO_VALUE, RKB_NO_VALUE};
   for (uint32_t i = 0; i < 2 && first + i < call->input_count; i++)
      terms[i] = shape ? rkb_make_reshape(program, call->inputs[first + i], shape) : call->inputs[first + i];
   if (terms[0] != RKB_NO_VALUE)
      y = rkb_make_binary(program, "mul", y, terms[0]);
   if (terms[1] != RKB_NO_VALUE)
      y = rkb_make_widened_bound(program, rkb_make_binary(program, "add", y, terms[1]), terms[1],
                                 RKB_NO_VALUE, 2);
   return y;
}

/* PyTorch's group norm of a narrow tensor passes eps on in the tensor's type, and returns the means and reciprocal deviations in it,
 * where its gradient finds them.  A kernel may do so too. */
#define SLOPE_OF_RSQRT 3 /* a reciprocal deviation's slope is its cube */
static uint32_t normalised_through_storage(rkb_program_t *program, uint32_t x, uint64_t mask, double eps,
                                           uint32_t dtype) {
   uint32_t mean = rkb_make_stored(program, rkb_make_reduce(program, "mean", x, mask, true), dtype, 0);
   uint32_t variance = rkb_make_variance_about(program, x, mask, true, 0, mean);
   uint32_t shifted =
      rkb_make_scalar_within(program, "add_scalar", variance, eps, fabs(rkb_dtype_round(dtype, eps) - eps));
   uint32_t inverse =
      rkb_make_stored(program, rkb_make_unary(program, "rsqrt", shifted), dtype, SLOPE_OF_RSQRT);
   return normalised_by(program, x, mean, inverse);
}

/* The mask of the last dims, whose sizes must equal normalized_shape. */
static uint64_t last_dims(const rkb_call_t *call) {
   rkb_shape_t wanted = rkb_call_shape(call, "normalized_shape");
   const rkb_shape_t *shape = rkb_program_shape(call->program, call->inputs[0]);
   uint64_t mask = 0;
   bool fits = wanted.rank >= 1 && wanted.rank <= shape->rank;
   for (uint32_t d = 0; fits && d < wanted.rank; d++) {
      uint32_t dim = shape->rank - wanted.rank + d;
      fits = shape->size[dim] == wanted.size[d];
      mask |= UINT64_C(1) << dim;
   }
   if (!fits)
      rkb_program_fail(call->program, "%s: normalized_shape does not match the last dims of x",
                       call->function->name);
   return mask;
}

static void build_layer_norm(const rkb_call_t *call, uint32_t *outputs) {
   uint64_t mask = last_dims(call);
   outputs[0] = affine(
      call, normalised_over(call->program, call->inputs[0], mask, rkb_call_real(call, "eps")), 1, NULL);
}

static void build_rms_norm(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t x = call->inputs[0];
   uint64_t mask = last_dims(call);
   uint32_t mean = rkb_make_reduce(program, "mean", rkb_make_binary(program, "mul", x, x), mask, true);
   uint32_t inverse = rkb_make_unary(
      program, "rsqrt", rkb_make_scalar(program, "add_scalar", mean, rkb_call_real(call, "eps")));
   outputs[0] = affine(call, rkb_make_binary(program, "mul", x, inverse), 1, NULL);
}

/* [1, C, 1, ...] for a tensor [N, C, ...] */
static rkb_shape_t channel_shape(const rkb_shape_t *shape) {
   rkb_shape_t out = {.rank = shape->rank};
   for (uint32_t d = 0; d < shape->rank; d++)
      out.size[d] = d == 1 ? shape->size[1] : 1;
   return out;
}

static void build_group_norm(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   rkb_shape_t shape = *rkb_program_shape(program, call->inputs[0]);
   int64_t groups = rkb_call_int(call, "num_groups");
   if (shape.rank < 2 || groups < 1 || shape.size[1] % groups != 0) {
      rkb_program_fail(program, "group_norm needs [N, C, ...] with C a multiple of num_groups");
      return;
   }
   rkb_shape_t rows = {
      .rank = 3, .size = {shape.size[0], groups, (int64_t)rkb_shape_product(&shape, 1, shape.rank) / groups}};
   rkb_shape_t channels = channel_shape(&shape);
   const uint32_t x = rkb_make_reshape(program, call->inputs[0], &rows),
                  dtype = rkb_program_dtype(program, x);
   const double eps = rkb_call_real(call, "eps");
   uint32_t y = rkb_dtype_narrow(dtype) ? normalised_through_storage(program, x, 4, eps, dtype)
                                        : normalised_over(program, x, 4, eps);
   outputs[0] = affine(call, rkb_make_reshape(program, y, &shape), 1, &channels);
}

static void build_instance_norm(const rkb_call_t *call, uint32_t *outputs) {
   rkb_shape_t shape = *rkb_program_shape(call->program, call->inputs[0]);
   if (shape.rank < 3) {
      rkb_program_fail(call->program, "instance_norm needs [N, C, ...] with at least one more dim");
      return;
   }
   rkb_shape_t channels = channel_shape(&shape);
   uint64_t mask = ((UINT64_C(1) << shape.rank) - 1) & ~UINT64_C(3);
   outputs[0] = affine(
      call, normalised_over(call->program, call->inputs[0], mask, rkb_call_real(call, "eps")), 1, &channels);
}

/* Inference uses the running statistics (inputs 1 and 2).  Training uses the statistics of the batch; it neither takes nor updates
 * running statistics. */
static void build_batch_norm(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t x = call->inputs[0];
   rkb_shape_t shape = *rkb_program_shape(program, x);
   if (shape.rank < 2) {
      rkb_program_fail(program, "batch_norm needs [N, C, ...]");
      return;
   }
   rkb_shape_t channels = channel_shape(&shape);
   double eps = rkb_call_real(call, "eps");
   bool training = rkb_call_true(call, "training");
   if (training ? call->input_count > 3 : call->input_count < 3) {
      rkb_program_fail(
         program,
         "batch_norm takes (x, [weight], [bias]) in training, with running statistics after x in inference");
      return;
   }
   uint32_t y;
   if (training)
      y = normalised_over(program, x, ((UINT64_C(1) << shape.rank) - 1) & ~UINT64_C(2), eps);
   else
      y = normalised(program, x, rkb_make_reshape(program, call->inputs[1], &channels),
                     rkb_make_reshape(program, call->inputs[2], &channels), eps);
   outputs[0] = affine(call, y, training ? 1 : 3, &channels);
}

#define EPS                                                                                                  \
   { "eps", RKB_ATTRIBUTE_REAL, "0.00001", NULL }

const rkb_function_t rkb_functions_normalisation[] = {
   {"layer_norm",
    "x, [weight], [bias]",
    1,
    3,
    {{"normalized_shape", RKB_ATTRIBUTE_INTS, NULL, NULL}, EPS},
    build_layer_norm,
    NULL},
   {"rms_norm",
    "x, [weight]",
    1,
    2,
    {{"normalized_shape", RKB_ATTRIBUTE_INTS, NULL, NULL}, EPS},
    build_rms_norm,
    NULL},
   {"group_norm",
    "x, [weight], [bias]",
    1,
    3,
    {{"num_groups", RKB_ATTRIBUTE_INT, NULL, NULL}, EPS},
    build_group_norm,
    NULL},
   {"instance_norm", "x, [weight], [bias]", 1, 3, {EPS}, build_instance_norm, NULL},
   {"batch_norm",
    "x, (running_mean, running_var), [weight], [bias]",
    1,
    5,
    {{"training", RKB_ATTRIBUTE_BOOL, "false", NULL}, EPS},
    build_batch_norm,
    NULL},
   {0},
};
