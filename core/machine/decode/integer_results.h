/* What the operations of conditions compute of integers: one table, for steps as they stand (condition_steps.c) and for those in a form that is quickly computed
 * (fast_condition_steps.c).  Pure. */
#ifndef RKB_MACHINE_DECODE_INTEGER_RESULTS_H
#define RKB_MACHINE_DECODE_INTEGER_RESULTS_H

#include "machine/decode/conditions.h"

static inline bool machine_is_less(uint64_t a, uint64_t b, bool is_signed) {
   return is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static inline bool machine_is_so(enum comparison_order order, uint64_t a, uint64_t b, bool is_signed) {
   switch (order) {
   case EQUAL:
      return a == b;
   case DIFFERENT:
      return a != b;
   case LESS:
      return machine_is_less(a, b, is_signed);
   case LESS_OR_EQUAL:
      return !machine_is_less(b, a, is_signed);
   case GREATER:
      return machine_is_less(b, a, is_signed);
   default:
      return !machine_is_less(a, b, is_signed);
   }
}

/* Returns how far two numbers of a type are from the point at which their comparison changes.  unused: the bits that a 64-bit word has beyond the
 * type.  The comparison of unsigned numbers also changes at 0: a compiler writes 66 <= K < 500 as K - 66 < 434.  At K = 1 the left side then
 * counts as 65 below 0, and not as 4,294,966,797 above 434. */
static inline double machine_integer_distance(uint64_t a, uint64_t b, uint32_t unused, bool is_signed) {
   const int64_t left = (int64_t)(a << unused) >> unused, right = (int64_t)(b << unused) >> unused;
   if (!is_signed && (left < 0) != (right < 0))
      return left < 0 ? (double)left : -(double)right;
   return (double)left - (double)right;
}

/* The operands are cut to their type, with the sign extended.  bits: the width of the result, which is not cut yet.  For operations up to CHOOSE,
 * except those that condition_steps.c computes itself. */
static inline uint64_t machine_integer_result(enum operation operation, enum comparison_order order,
                                              bool is_signed, uint32_t bits, uint64_t a, uint64_t b,
                                              uint64_t c) {
   switch (operation) {
   case ADD:
      return a + b;
   case SUBTRACT:
      return a - b;
   case MULTIPLY:
      return a * b;
   case MULTIPLY_ADD:
      return a * b + c;
   case AND:
      return a & b;
   case OR:
      return a | b;
   case XOR:
      return a ^ b;
   case NOT:
      return ~a;
   case MINUS:
      return 0 - a;
   case LEFT:
      return b < bits ? a << b : 0;
   case RIGHT:
      return b < bits                      ? (is_signed ? (uint64_t)((int64_t)a >> b) : a >> b)
             : is_signed && (int64_t)a < 0 ? ~UINT64_C(0)
                                           : 0;
   case LEAST:
      return machine_is_less(a, b, is_signed) ? a : b;
   case MOST:
      return machine_is_less(a, b, is_signed) ? b : a;
   case CHOOSE:
      return c & 1 ? a : b;
   case COMPARE:
      return machine_is_so(order, a, b, is_signed);
   default:
      return a;
   }
}

#endif
