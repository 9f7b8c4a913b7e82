/* The types of elements that tensor cores multiply and add, and how exactly a sum is formed.  Part of a program; immutable. */
#ifndef RKB_MACHINE_DECODE_TENSOR_TYPES_H
#define RKB_MACHINE_DECODE_TENSOR_TYPES_H

#include <stdint.h>

enum machine_tensor_type {
   TENSOR_F16,
   TENSOR_BF16,
   TENSOR_TF32, /* 32 bits, of which the low 13 are dropped */
   TENSOR_E4M3,
   TENSOR_E5M2,
   TENSOR_F32,
   TENSOR_F64,
   TENSOR_S8,
   TENSOR_U8,
   TENSOR_S4,
   TENSOR_U4,
   TENSOR_B1,
   TENSOR_S32
};

/* The exponent that counts as largest where every term's is lower, in float32 and in float16 sums. */
#define TENSOR_LEAST (-133)

/* Every term is cut off below so many bits under the largest exponent among the terms, which counts as least when it is lower. */
typedef struct machine_tensor_rule {
   int32_t fraction, least;
} machine_tensor_rule_t;

#endif
