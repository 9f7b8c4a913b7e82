/* Arithmetic of expressions on two values (expression_arithmetic.h).  Any number of threads at a time. */
#include "base/expression_arithmetic.h"

#include <math.h>
#include <stdio.h>

/* "<part of the text> <what>". */
__attribute__((cold)) enum rkb_fault rkb_expression_fail(const evaluation_t *evaluation, enum rkb_fault fault,
                                                         const node_t *node, const char *fmt, ...) {
   char what[256];
   uint32_t length = node->end - node->start;
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(what, sizeof what, fmt, ap);
   va_end(ap);
   snprintf(evaluation->message, evaluation->message_size, "%.*s%s %s",
            (int)(length < SHOWN ? length : SHOWN), evaluation->expression->text + node->start,
            length > SHOWN ? "..." : "", what);
   return fault;
}

static const char *symbol(operation_t operation) {
   switch (operation) {
   case OPERATION_ADD:
      return "+";
   case OPERATION_SUBTRACT:
      return "-";
   case OPERATION_MULTIPLY:
      return "*";
   default:
      return "/";
   }
}

enum rkb_fault rkb_expression_calculate_integer(const evaluation_t *evaluation, const node_t *node, int64_t a,
                                                int64_t b, int64_t *result) {
   bool divides = node->operation == OPERATION_DIVIDE || node->operation == OPERATION_REMAINDER ||
                  node->operation == OPERATION_CEILDIV;
   if (divides && b == 0)
      return rkb_expression_fail(evaluation, RKB_FAULT_DIVISION, node, "divides by zero");
   if (divides && a == INT64_MIN && b == -1)
      return rkb_expression_fail(evaluation, RKB_FAULT_OVERFLOW, node, "overflows 64 bits: %lld / -1",
                                 (long long)a);
   bool overflows = false;
   switch (node->operation) {
   case OPERATION_ADD:
      overflows = __builtin_add_overflow(a, b, result);
      break;
   case OPERATION_SUBTRACT:
      overflows = __builtin_sub_overflow(a, b, result);
      break;
   case OPERATION_MULTIPLY:
      overflows = __builtin_mul_overflow(a, b, result);
      break;
   case OPERATION_REMAINDER:
      *result = remainder_of(a, b);
      break;
   case OPERATION_CEILDIV:
      *result = quotient(a, b);
      *result += *result * b != a && (a < 0) == (b < 0);
      break;
   default:
      *result = quotient(a, b);
      break;
   }
   if (overflows)
      return rkb_expression_fail(evaluation, RKB_FAULT_OVERFLOW, node, "overflows 64 bits: %lld %s %lld",
                                 (long long)a, symbol(node->operation), (long long)b);
   return RKB_FAULT_NONE;
}

static enum rkb_fault calculate_real(const evaluation_t *evaluation, const node_t *node, double a, double b,
                                     double *result) {
   switch (node->operation) {
   case OPERATION_ADD:
      *result = a + b;
      break;
   case OPERATION_SUBTRACT:
      *result = a - b;
      break;
   case OPERATION_MULTIPLY:
      *result = a * b;
      break;
   case OPERATION_DIVIDE:
      if (b == 0)
         return rkb_expression_fail(evaluation, RKB_FAULT_DIVISION, node, "divides by zero");
      *result = a / b;
      break;
   default:
      return rkb_expression_fail(evaluation, RKB_FAULT_TYPE, node,
                                 "needs two integers, and one is a real number");
   }
   if (!isfinite(*result))
      return rkb_expression_fail(evaluation, RKB_FAULT_OVERFLOW, node, "is not a finite number: %g %s %g", a,
                                 symbol(node->operation), b);
   return RKB_FAULT_NONE;
}

enum rkb_fault rkb_expression_calculate(const evaluation_t *evaluation, const node_t *node,
                                        const rkb_value_t *a, const rkb_value_t *b, rkb_value_t *value) {
   value->is_real = a->is_real || b->is_real;
   if (value->is_real)
      return calculate_real(evaluation, node, as_real(a), as_real(b), &value->real);
   return rkb_expression_calculate_integer(evaluation, node, a->integer, b->integer, &value->integer);
}

int rkb_expression_compare(const rkb_value_t *a, const rkb_value_t *b) {
   if (!a->is_real && !b->is_real)
      return (a->integer > b->integer) - (a->integer < b->integer);
   double x = as_real(a), y = as_real(b);
   if (isnan(x) || isnan(y))
      return 2;
   return (x > y) - (x < y);
}

bool rkb_expression_holds(operation_t operation, int order) {
   switch (operation) {
   case OPERATION_LESS:
      return order == -1;
   case OPERATION_LESS_EQUAL:
      return order == -1 || order == 0;
   case OPERATION_GREATER:
      return order == 1;
   case OPERATION_GREATER_EQUAL:
      return order == 1 || order == 0;
   case OPERATION_EQUAL:
      return order == 0;
   default:
      return order != 0;
   }
}

enum rkb_fault rkb_expression_choose(const evaluation_t *evaluation, const node_t *node, const rkb_value_t *a,
                                     const rkb_value_t *b, rkb_value_t *value) {
   if (a->is_real != b->is_real)
      return rkb_expression_fail(evaluation, RKB_FAULT_TYPE, node, "mixes an integer and a real number");
   bool second = rkb_expression_compare(a, b) == (node->operation == OPERATION_MIN ? 1 : -1);
   *value = second ? *b : *a;
   return RKB_FAULT_NONE;
}
