/* Sums of products as tensor cores form them, bit for bit, on numbers alone: no registers, no lanes, no memory.  The rules and how they
 * were found are in docs/decisions/tensor-arithmetic.md; tests/machine/test_tensor_arithmetic.c compares this file with exact arithmetic,
 * tests/conformance with a device.  Pure functions; any thread.  One copy an instruction set. */
#ifndef RKB_MACHINE_LANES_TENSOR_ARITHMETIC_H
#define RKB_MACHINE_LANES_TENSOR_ARITHMETIC_H

#include "machine/decode/tensor_types.h"

#include <stdbool.h>

#define TENSOR_ROWS 16u
#define TENSOR_COLUMNS 8u /* of a tile of results: one vector */
#define TENSOR_TERMS 16u  /* most products in one sum */

/* Factors taken apart: significand * 2^(exponent - bits of the type's fraction).  A zero has the exponent TENSOR_ZERO, an infinity a
 * significand of 1 or -1 and TENSOR_INFINITE, a NaN a significand of 0 and TENSOR_INFINITE. */
#define TENSOR_ZERO (-(1 << 20))
#define TENSOR_INFINITE (1 << 20)
typedef struct machine_tensor_factors {
   int32_t significand[TENSOR_ROWS * TENSOR_TERMS] __attribute__((aligned(32)));
   int32_t exponent[TENSOR_ROWS * TENSOR_TERMS] __attribute__((aligned(32)));
   int32_t fraction;
   bool special; /* an infinity or a NaN is among them */
} machine_tensor_factors_t;

/* Takes count elements apart, which fill the low bits of a word each.  e4m3 and e5m2 are converted to halves first. */
typedef void machine_tensor_take_t(enum machine_tensor_type type, const uint32_t *elements, uint32_t count,
                                   machine_tensor_factors_t *out);
/* The factors as doubles; nothing is lost. */
typedef void machine_tensor_doubles_t(const machine_tensor_factors_t *factors, uint32_t count, double *out);
/* One sum for each row and column: sum[row * 8 + column] += a[row * terms + k] * b[k * 8 + column], over k.  sum holds bits of
 * float32, or of float16 where halves is true. */
typedef void machine_tensor_sum_t(const machine_tensor_rule_t *rule, uint32_t rows, uint32_t terms,
                                  const machine_tensor_factors_t *a, const machine_tensor_factors_t *b,
                                  bool halves, uint32_t *sum);
/* The same, element by element in 64-bit integers: what infinities and NaN need, and what the other way is tested against. */
machine_tensor_take_t machine_tensor_take_portable, machine_tensor_take_v3;
machine_tensor_doubles_t machine_tensor_doubles_portable, machine_tensor_doubles_v3;
machine_tensor_sum_t machine_tensor_sum_portable, machine_tensor_sum_v3, machine_tensor_sum_slowly_portable,
   machine_tensor_sum_slowly_v3;

#endif
