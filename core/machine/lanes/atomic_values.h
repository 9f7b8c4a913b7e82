/* Results of atomic and reducing operations on two values of one lane, by operation and type (PTX ISA 9.0, 9.7.13.5). */
#ifndef RKB_MACHINE_LANES_ATOMIC_VALUES_H
#define RKB_MACHINE_LANES_ATOMIC_VALUES_H

#include "machine/lanes/half.h"
#include "machine/access/values.h"

static inline uint64_t apply_integer(uint32_t operation, uint32_t type, uint64_t old, uint64_t value,
                                     uint64_t swap) {
   const bool is_signed = ptx_type_is_signed(type), wide = ptx_type_bytes(type) == 8;
   const uint64_t ones = wide ? ~0ull : FULL_MASK;
   const int64_t a = wide ? (int64_t)old : (int32_t)old, b = wide ? (int64_t)value : (int32_t)value;
   switch (operation) {
   case ATOMIC_ADD:
      return (old + value) & ones;
   case ATOMIC_MIN:
      return is_signed ? (a < b ? old : value) : old < value ? old : value;
   case ATOMIC_MAX:
      return is_signed ? (a > b ? old : value) : old > value ? old : value;
   case ATOMIC_INC:
      return old >= value ? 0 : old + 1;
   case ATOMIC_DEC:
      return old == 0 || old > value ? value : old - 1;
   case ATOMIC_AND:
      return old & value;
   case ATOMIC_OR:
      return old | value;
   case ATOMIC_XOR:
      return old ^ value;
   case ATOMIC_CAS:
      return old == value ? swap : old;
   default:
      return value;
   }
}

static inline uint16_t apply_half(uint16_t old, uint16_t value, bool bfloat, uint32_t operation) {
   double x = bfloat ? bits_to_float((uint32_t)old << 16) : half_to_float(old);
   double y = bfloat ? bits_to_float((uint32_t)value << 16) : half_to_float(value);
   double r = operation == ATOMIC_MIN ? fmin(x, y) : operation == ATOMIC_MAX ? fmax(x, y) : x + y;
   return bfloat ? double_to_bfloat(r, ROUND_NEAREST) : double_to_half(r, ROUND_NEAREST);
}

static inline float flush(float x, bool flushes) {
   return flushes && fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

/* Returns what an atomic or a reducing operation leaves, from the old and the new value. */
static inline uint64_t apply(const machine_instruction_t *i, uint64_t old, uint64_t value, uint64_t swap) {
   switch (i->type) {
   case PTX_F32: {
      if (i->operation != ATOMIC_ADD)
         return apply_integer(i->operation, PTX_B32, old, value, swap);
      /* On global memory subnormal operands and results are flushed (PTX ISA 9.0, 9.7.14.5); on shared memory they are not. */
      const bool flushes = i->space != PTX_SHARED;
      float r = flush(bits_to_float((uint32_t)old), flushes) + flush(bits_to_float((uint32_t)value), flushes);
      return float_to_bits(r != r ? bits_to_float(0x7fffffff) : flush(r, flushes));
   }
   case PTX_F64: {
      double x, y;
      memcpy(&x, &old, sizeof x);
      memcpy(&y, &value, sizeof y);
      if (y != y) /* a NaN comes out as it came in, the operand's first (seen on an H200) */
         return value;
      if (x != x)
         return old;
      x += y;
      if (x != x) /* infinities of both signs */
         return 0xfff8000000000000;
      memcpy(&old, &x, sizeof x);
      return old;
   }
   case PTX_F16:
   case PTX_BF16:
      return apply_half((uint16_t)old, (uint16_t)value, i->type == PTX_BF16, i->operation);
   case PTX_F16X2:
   case PTX_BF16X2: {
      bool bfloat = i->type == PTX_BF16X2;
      return apply_half((uint16_t)old, (uint16_t)value, bfloat, i->operation) |
             (uint32_t)apply_half((uint16_t)(old >> 16), (uint16_t)(value >> 16), bfloat, i->operation) << 16;
   }
   default:
      return apply_integer(i->operation, i->type, old, value, swap);
   }
}

#endif
