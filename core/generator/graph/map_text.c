/* The C++ of single-element operations: constant tables.  The value that each must compute, and its precision, are in
 * core/reference/operations/elementwise.c and smooth_functions.c. */
#include "generator/graph/map_text.h"

#include <stddef.h>
#include <string.h>
#include <rkb/ext/task.h>

static const struct {
   const char *name, *text;
} maps[] = {
   {"copy", "$a"},
   {"add", "$a + $b"},
   {"sub", "$a - $b"},
   {"mul", "$a * $b"},
   {"div", "$a / $b"},
   {"divide_by_count", "$a / (float)($n)"},
   {"maximum", "larger($a, $b)"},
   {"minimum", "smaller($a, $b)"},
   {"share", "$a < $b ? 0.0f : $a == $b ? 0.5f : 1.0f"},
   {"greater", "$a > $b ? 1.0f : 0.0f"},
   {"greater_equal", "$a >= $b ? 1.0f : 0.0f"},
   {"less", "$a < $b ? 1.0f : 0.0f"},
   {"less_equal", "$a <= $b ? 1.0f : 0.0f"},
   {"equal", "$a == $b ? 1.0f : 0.0f"},
   {"greater_scalar", "$a > $0 ? 1.0f : 0.0f"},
   {"greater_equal_scalar", "$a >= $0 ? 1.0f : 0.0f"},
   {"less_scalar", "$a < $0 ? 1.0f : 0.0f"},
   {"less_equal_scalar", "$a <= $0 ? 1.0f : 0.0f"},
   {"equal_scalar", "$a == $0 ? 1.0f : 0.0f"},
   {"add_scalar", "$a + $0"},
   {"mul_scalar", "$a * $0"},
   {"div_scalar", "$a / $0"},
   {"reverse_sub", "$0 - $a"},
   {"reverse_div", "$0 / $a"},
   {"neg", "-$a"},
   {"relu", "larger($a, 0.0f)"},
   {"step", "$a <= 0.0f ? 0.0f : 1.0f"},
   {"abs", "fabsf($a)"},
   {"sign", "$a > 0.0f ? 1.0f : $a < 0.0f ? -1.0f : 0.0f"},
   {"leaky_relu", "$a > 0.0f ? $a : $a * $0"},
   {"clamp", "smaller(larger($a, $0), $1)"},
   {"inside", "$a >= $0 && $a <= $1 ? 1.0f : 0.0f"},
   {"bitwise_and", "$a & #0"},
   {"bitwise_right_shift", "$a >> #0"},
   {"where", "$a != 0.0f ? $b : $c"},
   {"exp", "expf($a)"},
   {"log", "logf($a)"},
   {"sqrt", "sqrtf($a)"},
   {"sqrt_slope", "0.5f / sqrtf($a)"},
   {"rsqrt", "rsqrtf($a)"},
   {"rsqrt_slope", "rsqrt_slope($a)"},
   {"reciprocal", "1.0f / $a"},
   {"reciprocal_slope", "-1.0f / ($a * $a)"},
   {"sin", "sinf($a)"},
   {"cos", "cosf($a)"},
   {"minus_sin", "-sinf($a)"},
   {"erf", "erff($a)"},
   {"erf_slope", "1.1283791671f * expf(-$a * $a)"},
   {"tanh", "tanhf($a)"},
   {"tanh_slope", "tanh_slope($a)"},
   {"sigmoid", "sigmoid($a)"},
   {"sigmoid_slope", "sigmoid_slope($a)"},
   {"silu", "$a * sigmoid($a)"},
   {"silu_slope", "silu_slope($a)"},
   {"gelu", "0.5f * $a * erfcf(-0.70710678118f * $a)"},
   {"gelu_slope", "gelu_slope($a)"},
   {"gelu_tanh", "gelu_tanh($a)"},
   {"gelu_tanh_slope", "gelu_tanh_slope($a)"},
   {"softplus", "fmaxf($a, 0.0f) + log1pf(expf(-fabsf($a)))"},
   {"elu", "$a > 0.0f ? $a : $0 * expm1f($a)"},
   {"elu_slope", "$a > 0.0f ? 1.0f : $0 * expf($a)"},
   {"pow", "powf($a, $0)"},
};

/* Cheaper texts for results that are rounded to 11 bits or fewer: after the rounding these results are as exact. */
static const struct {
   const char *name, *text;
} narrow_maps[] = {
   {"gelu", "fmaf(0.5f * $a, erff(0.70710678118f * $a), 0.5f * $a)"},
   {"exp", "power_of_two($a * 1.44269504f)"}, /* an error of 2^-16 at most, where the result is finite */
   {"sigmoid", "narrow_sigmoid($a)"},
   {"silu", "$a * narrow_sigmoid($a)"},
   {"silu_slope", "narrow_silu_slope($a)"},
};

static const rkb_helper_t helpers[] = {
   {"launches_ended", "/* Waits for the launches in front of this one, and sees what they wrote. */\n"
                      "__device__ __forceinline__ void launches_ended() {\n"
                      "   asm volatile(\"griddepcontrol.wait;\" : : : \"memory\");\n}\n"},
   {"next_launch_begins",
    "/* The launch behind this one may begin when all blocks are here; it waits for their end. */\n"
    "__device__ __forceinline__ void next_launch_begins() {\n"
    "   asm volatile(\"griddepcontrol.launch_dependents;\");\n}\n"},
   {"rsqrt_slope", "__device__ __forceinline__ float rsqrt_slope(float x) {\n"
                   "   const float root = rsqrtf(x);\n"
                   "   return -0.5f * root * root * root;\n}\n"},
   {"tanh_slope", "__device__ __forceinline__ float tanh_slope(float x) {\n"
                  "   const float y = tanhf(x);\n"
                  "   return 1.0f - y * y;\n}\n"},
   {"sigmoid", "__device__ __forceinline__ float sigmoid(float x) {\n"
               "   return 1.0f / (1.0f + expf(-x));\n}\n"},
   {"narrow_sigmoid", "__device__ __forceinline__ float narrow_sigmoid(float x) {\n"
                      "   return __fdividef(1.0f, 1.0f + __expf(-x));\n}\n"},
   {"sigmoid_slope", "__device__ __forceinline__ float sigmoid_slope(float x) {\n"
                     "   const float y = 1.0f / (1.0f + expf(-x));\n"
                     "   return y * (1.0f - y);\n}\n"},
   {"silu_slope", "__device__ __forceinline__ float silu_slope(float x) {\n"
                  "   const float y = 1.0f / (1.0f + expf(-x));\n"
                  "   return y * (1.0f + x * (1.0f - y));\n}\n"},
   {"narrow_silu_slope", "__device__ __forceinline__ float narrow_silu_slope(float x) {\n"
                         "   const float y = __fdividef(1.0f, 1.0f + __expf(-x));\n"
                         "   return y * (1.0f + x * (1.0f - y));\n}\n"},
   {"gelu_slope",
    "__device__ __forceinline__ float gelu_slope(float x) {\n"
    "   return 0.5f * erfcf(-0.70710678118f * x) + x * (0.39894228040f * expf(-0.5f * x * x));\n}\n"},
   {"gelu_tanh", "__device__ __forceinline__ float gelu_tanh(float x) {\n"
                 "   return 0.5f * x * (1.0f + tanhf(0.79788456080f * (x + 0.044715f * x * x * x)));\n}\n"},
   {"gelu_tanh_slope",
    "__device__ __forceinline__ float gelu_tanh_slope(float x) {\n"
    "   const float t = tanhf(0.79788456080f * (x + 0.044715f * x * x * x));\n"
    "   return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.79788456080f * (1.0f + 0.134145f * x * x);\n}\n"},
   /* CUDA's conversion by itself gives the largest number past the range; the reference's does not. */
   {"to_e4m3", "/* The nearest float of 8 bits; past their range NaN. */\n"
               "__device__ __forceinline__ __nv_fp8_e4m3 to_e4m3(float x) {\n"
               "   __nv_fp8_e4m3 nearest;\n"
               "   nearest.__x = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3);\n"
               "   return nearest;\n}\n"},
   {"to_e5m2", "/* The nearest float of 8 bits; past their range an infinity. */\n"
               "__device__ __forceinline__ __nv_fp8_e5m2 to_e5m2(float x) {\n"
               "   __nv_fp8_e5m2 nearest;\n"
               "   nearest.__x = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2);\n"
               "   return nearest;\n}\n"},
   {NULL, NULL},
};

const char *rkb_map_text(const char *operation, bool narrow) {
   for (size_t i = 0; narrow && i < sizeof narrow_maps / sizeof narrow_maps[0]; i++)
      if (strcmp(narrow_maps[i].name, operation) == 0)
         return narrow_maps[i].text;
   for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
      if (strcmp(maps[i].name, operation) == 0)
         return maps[i].text;
   return NULL;
}

const char *rkb_conversion_text(uint32_t dtype) {
   switch (dtype) {
   case RKB_F16:
      return "__half2float(__float2half($a))";
   case RKB_BF16:
      return "__bfloat162float(__float2bfloat16($a))";
   case RKB_F32:
   case RKB_I8:
   case RKB_U8:
   case RKB_I32:
   case RKB_I64:
      return "$a";
   case RKB_E4M3:
      return "(float) to_e4m3($a)";
   case RKB_E5M2:
      return "(float) to_e5m2($a)";
   default:
      return NULL;
   }
}

const rkb_helper_t *rkb_helper_at(uint32_t index) {
   return index < sizeof helpers / sizeof helpers[0] - 1 ? &helpers[index] : NULL;
}
