/* Operations on single elements, as a kernel writes them in single precision. */
#include "float_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reference/dtype.h"

static float sigmoid(float_run_t *run, float x) {
   return float_rough(run, 1 / (1 + float_rough(run, expf(-x))));
}

static float gelu_inner(float x) {
   return 0.7978845608f * (x + 0.044715f * x * x * x);
}

static float unary(float_run_t *run, const char *name, float x, const double *reals) {
   float r, s, t;
   if (IS("detach"))
      return x;
   if (IS("neg"))
      return -x;
   if (IS("relu"))
      return x <= 0 ? 0 : x;
   if (IS("step"))
      return !(x <= 0);
   if (IS("abs"))
      return fabsf(x);
   if (IS("sign"))
      return (float)((x > 0) - (x < 0));
   if (IS("leaky_relu"))
      return x > 0 ? x : x * (float)reals[0];
   if (IS("clamp"))
      return x < (float)reals[0] ? (float)reals[0] : x > (float)reals[1] ? (float)reals[1] : x;
   if (IS("inside"))
      return x >= (float)reals[0] && x <= (float)reals[1];
   if (IS("exp"))
      return float_rough(run, expf(x));
   if (IS("log"))
      return float_rough(run, logf(x));
   if (IS("sqrt"))
      return float_rough(run, sqrtf(x));
   if (IS("sqrt_slope"))
      return float_rough(run, 0.5f / sqrtf(x));
   if (IS("rsqrt"))
      return float_rough(run, 1 / sqrtf(x));
   if (IS("rsqrt_slope")) {
      r = float_rough(run, 1 / sqrtf(x));
      return -0.5f * r * r * r;
   }
   if (IS("reciprocal"))
      return float_rough(run, 1 / x);
   if (IS("reciprocal_slope")) {
      r = float_rough(run, 1 / x);
      return -r * r;
   }
   if (IS("sin"))
      return float_rough(run, sinf(x));
   if (IS("cos"))
      return float_rough(run, cosf(x));
   if (IS("minus_sin"))
      return -float_rough(run, sinf(x));
   if (IS("erf"))
      return float_rough(run, erff(x));
   if (IS("erf_slope"))
      return 1.1283791671f * float_rough(run, expf(-x * x));
   if (IS("tanh"))
      return float_rough(run, tanhf(x));
   if (IS("tanh_slope")) {
      t = float_rough(run, tanhf(x));
      return 1 - t * t;
   }
   if (IS("sigmoid"))
      return sigmoid(run, x);
   if (IS("sigmoid_slope")) {
      s = sigmoid(run, x);
      return s * (1 - s);
   }
   if (IS("silu"))
      return x * sigmoid(run, x);
   if (IS("silu_slope")) {
      s = sigmoid(run, x);
      return s * (1 + x * (1 - s));
   }
   if (IS("gelu"))
      return 0.5f * x * (1 + float_rough(run, erff(x * 0.7071067812f)));
   if (IS("gelu_slope"))
      return 0.5f * (1 + float_rough(run, erff(x * 0.7071067812f))) +
             x * 0.3989422804f * float_rough(run, expf(-0.5f * x * x));
   if (IS("gelu_tanh"))
      return 0.5f * x * (1 + float_rough(run, tanhf(gelu_inner(x))));
   if (IS("gelu_tanh_slope")) {
      t = float_rough(run, tanhf(gelu_inner(x)));
      return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * 0.7978845608f * (1 + 3 * 0.044715f * x * x);
   }
   if (IS("softplus"))
      return x > 20 ? x : float_rough(run, logf(1 + float_rough(run, expf(x))));
   if (IS("elu"))
      return x > 0 ? x : (float)reals[0] * (float_rough(run, expf(x)) - 1);
   if (IS("elu_slope"))
      return x > 0 ? 1 : (float)reals[0] * float_rough(run, expf(x));
   if (IS("pow"))
      return float_rough(run, powf(x, (float)reals[0]));
   if (IS("add_scalar"))
      return x + (float)reals[0];
   if (IS("mul_scalar"))
      return x * (float)reals[0];
   if (IS("div_scalar")) /* a reciprocal of 1 is exact */
      return reals[0] == 1 ? x : float_rough(run, x / (float)reals[0]);
   if (IS("reverse_sub"))
      return (float)reals[0] - x;
   if (IS("reverse_div"))
      return float_rough(run, (float)reals[0] / x);
   if (IS("greater_scalar"))
      return x > (float)reals[0];
   if (IS("greater_equal_scalar"))
      return x >= (float)reals[0];
   if (IS("less_scalar"))
      return x < (float)reals[0];
   if (IS("less_equal_scalar"))
      return x <= (float)reals[0];
   if (IS("equal_scalar"))
      return x == (float)reals[0];
   if (IS("convert")) /* reals[1]: every number of the one type is one of the other */
      return reals[1] != 0 ? x : (float)rkb_dtype_convert((uint32_t)reals[0], (double)x);
   if (IS("bitwise_and"))
      return (float)((int)x & (int)reals[0]);
   if (IS("bitwise_right_shift"))
      return (float)((int)x >> (int)reals[0]);
   fprintf(stderr, "float_program: no operation %s\n", name);
   abort();
}

static float binary(float_run_t *run, const char *name, float a, float b) {
   if (IS("add"))
      return a + b;
   if (IS("sub"))
      return a - b;
   if (IS("mul"))
      return a * b;
   if (IS("div"))
      return float_rough(run, a / b);
   if (IS("maximum"))
      return isnan(a) || isnan(b) ? NAN : fmaxf(a, b);
   if (IS("minimum"))
      return isnan(a) || isnan(b) ? NAN : fminf(a, b);
   if (IS("share"))
      return a < b ? 0 : a == b ? 0.5f : 1;
   if (IS("greater"))
      return a > b;
   if (IS("greater_equal"))
      return a >= b;
   if (IS("less"))
      return a < b;
   if (IS("less_equal"))
      return a <= b;
   if (IS("equal"))
      return a == b;
   fprintf(stderr, "float_program: no operation %s\n", name);
   abort();
}

void float_elementwise(float_run_t *run, const rkb_program_node_t *node, double *out) {
   const rkb_shape_t *shape = rkb_program_shape(run->program, node->output);
   int64_t strides[3][RKB_MAX_RANK], at[RKB_MAX_RANK];
   for (uint32_t k = 0; k < node->input_count; k++)
      rkb_shape_broadcast_strides(rkb_program_shape(run->program, node->inputs[k]), shape, strides[k]);
   for (uint64_t i = 0; i < run->program->values[node->output].elements; i++) {
      float in[3] = {0};
      rkb_shape_split(shape, i, at);
      for (uint32_t k = 0; k < node->input_count; k++) {
         int64_t from = 0;
         for (uint32_t d = 0; d < shape->rank; d++)
            from += at[d] * strides[k][d];
         in[k] = (float)float_operand(run, node, k)[from];
      }
      const char *name = node->operation->name;
      float y = IS("allowance")          ? in[0]
                : node->input_count == 1 ? unary(run, name, in[0], node->reals)
                : node->input_count == 2 ? binary(run, name, in[0], in[1])
                                         : (in[0] != 0 ? in[1] : in[2]);
      out[i] = float_flushed(run, y);
   }
}
