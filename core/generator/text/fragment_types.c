/* The element types that tensor cores multiply: constant tables. */
#include "generator/text/fragments.h"

#include "reference/dtype.h"

static const rkb_fragment_type_t types[RKB_TENSOR_PATHS] = {
   [RKB_TENSOR_PATH_BF16] = {"bf16", "__nv_bfloat16", "float", "multiply_bf16", "__float2bfloat16_rn(%s)",
                             RKB_BF16, 2, ".f32.bf16.bf16"},
   [RKB_TENSOR_PATH_FP16] = {"fp16", "__half", "float", "multiply_fp16", "__float2half_rn(%s)", RKB_F16, 2,
                             ".f32.f16.f16"},
   [RKB_TENSOR_PATH_TF32X3] = {"tf32x3", "float", "float", "multiply_tf32", "%s", RKB_F32, 4,
                               ".f32.tf32.tf32"},
   [RKB_TENSOR_PATH_FP8] = {"fp8", "__nv_fp8_e4m3", "float", "multiply_fp8", NULL, RKB_E4M3, 1,
                            ".f32.e4m3.e4m3"},
   [RKB_TENSOR_PATH_INT8] = {"int8", "signed char", "int", "multiply_int8", NULL, RKB_I8, 1, ".s32.s8.s8"},
   [RKB_TENSOR_PATH_FP16X3] = {"fp16x3", "float", "float", "multiply_fp16", "%s", RKB_F32, 4, NULL},
};

const rkb_fragment_type_t *rkb_fragment_type(int64_t path) {
   return &types[path];
}
