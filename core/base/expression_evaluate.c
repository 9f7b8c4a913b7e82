/* Evaluates expressions: walks the tree, stops at the first fault, and names the part of the text that failed.
 * Any number of threads at a time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/expression_arithmetic.h"

/* Results --------------------------------------------------------------------------------------------------------------- */

/* A result, or the fault in its place.  It is small enough for registers, because expressions are evaluated at very many shapes. */
typedef struct result {
   uint64_t bits; /* of an integer or a real number */
   uint64_t kind; /* WHOLE, REAL, or 1 + a fault */
} result_t;
enum { WHOLE, REAL };
_Static_assert(RKB_FAULT_NONE == 0, "a fault and one more is neither of these");

static inline result_t of_integer(int64_t integer) {
   return (result_t){(uint64_t)integer, WHOLE};
}

static inline result_t of_real(double real) {
   result_t result = {0, REAL};
   memcpy(&result.bits, &real, sizeof real);
   return result;
}

static inline result_t of_fault(enum rkb_fault fault) {
   return (result_t){0, (uint64_t)fault + 1};
}

static inline result_t of_value(const rkb_value_t *value) {
   return value->is_real ? of_real(value->real) : of_integer(value->integer);
}

static inline bool failed(result_t result) {
   return result.kind > REAL;
}

static inline rkb_value_t value_of(result_t result) {
   rkb_value_t value = {.is_real = result.kind == REAL};
   if (value.is_real)
      memcpy(&value.real, &result.bits, sizeof value.real);
   else
      value.integer = (int64_t)result.bits;
   return value;
}

static result_t evaluate(const evaluation_t *evaluation, const node_t *node);

static enum rkb_fault evaluate_truth(const evaluation_t *evaluation, const node_t *node, bool *truth) {
   const result_t result = evaluate(evaluation, node);
   if (failed(result))
      return (enum rkb_fault)(result.kind - 1);
   if (result.kind == REAL)
      return rkb_expression_fail(evaluation, RKB_FAULT_TYPE, node,
                                 "is a real number, neither true nor false; compare it with one");
   *truth = result.bits != 0;
   return RKB_FAULT_NONE;
}

/* Finds the outcome of an if(). */
static enum rkb_fault evaluate_choice(const evaluation_t *evaluation, const node_t *node, bool *truth) {
   const rkb_choices_t *from = evaluation->from;
   rkb_choices_t *to = evaluation->to;
   enum rkb_fault fault = RKB_FAULT_NONE;
   uint32_t known = 0;
   while (from && known < from->count && from->list[known].at != node->start)
      known++;
   if (from && known < from->count)
      *truth = from->list[known].outcome;
   else
      fault = evaluate_truth(evaluation, node->operands[0], truth);
   if (fault == RKB_FAULT_NONE && to && to->count < to->room)
      to->list[to->count++] = (rkb_choice_t){node->start, *truth};
   return fault;
}

static result_t evaluate_logic(const evaluation_t *evaluation, const node_t *node) {
   bool truth = false;
   enum rkb_fault fault = node->operation == OPERATION_IF
                             ? evaluate_choice(evaluation, node, &truth)
                             : evaluate_truth(evaluation, node->operands[0], &truth);
   if (fault == RKB_FAULT_NONE && node->operation == OPERATION_IF)
      return evaluate(evaluation, node->operands[truth ? 1 : 2]);
   if (node->operation == OPERATION_NOT)
      truth = !truth;
   else if (fault == RKB_FAULT_NONE && truth == (node->operation == OPERATION_AND))
      fault = evaluate_truth(evaluation, node->operands[1], &truth);
   return fault == RKB_FAULT_NONE ? of_integer(truth) : of_fault(fault);
}

/* Decisions ------------------------------------------------------------------------------------------------------------- */

static inline void tell(const evaluation_t *evaluation, const rkb_expression_decision_t *decision) {
   evaluation->decided(evaluation->decided_argument, evaluation->expression, decision);
}

static bool divides(operation_t operation) {
   return operation == OPERATION_DIVIDE || operation == OPERATION_REMAINDER || operation == OPERATION_CEILDIV;
}

static void tell_decision(const evaluation_t *evaluation, const node_t *node, const rkb_value_t *a,
                          const rkb_value_t *b) {
   const operation_t operation = node->operation;
   if (operation < OPERATION_DIVIDE) /* most operators are sums and products, which compare nothing and divide nothing */
      return;
   const bool compares = operation >= OPERATION_LESS && operation <= OPERATION_NOT_EQUAL;
   const bool chooses = operation == OPERATION_MIN || operation == OPERATION_MAX;
   const bool whole = !a->is_real && !b->is_real;
   if (compares || chooses) {
      const int order = rkb_expression_compare(a, b);
      tell(evaluation,
           &(rkb_expression_decision_t){.at = decision_place(node, operation),
                                        .outcome = compares ? rkb_expression_holds(operation, order)
                                                            : order == (operation == OPERATION_MIN ? 1 : -1),
                                        .left = whole ? a->integer : 0,
                                        .right = whole ? b->integer : 0,
                                        .distance = as_real(a) - as_real(b)});
   } else if (divides(operation) && whole && b->integer != 0 &&
              b->integer != -1) { /* a division by -1 leaves no remainder */
      const int64_t rest = remainder_of(a->integer, b->integer);
      tell(evaluation, &(rkb_expression_decision_t){.at = decision_place(node, operation),
                                                    .outcome = rest != 0,
                                                    .divides = true,
                                                    .left = a->integer,
                                                    .right = b->integer,
                                                    .distance = (double)rest});
   }
}

/* `if(a, 1, 0) * if(b, 1, 0)` and `(D / 300) * (T / 20)` decide without a comparison of their own. */
static void tell_value(const evaluation_t *evaluation, const node_t *node, const rkb_value_t *a,
                       const rkb_value_t *b, const rkb_value_t *value) {
   const operation_t operation = node->operation;
   if (operation != OPERATION_DIVIDE && operation != OPERATION_MULTIPLY && operation != OPERATION_MIN &&
       operation != OPERATION_MAX)
      return;
   const bool is_zero = value->is_real ? value->real == 0 : value->integer == 0;
   double distance = is_zero ? 1 : 0;
   if (operation == OPERATION_DIVIDE && is_zero)
      distance = fabs(as_real(b)) - fabs(as_real(a));
   tell(evaluation, &(rkb_expression_decision_t){.at = decision_place(node, OF_VALUE + operation),
                                                 .outcome = !is_zero,
                                                 .is_value = true,
                                                 .distance = distance});
}

/* Operators ------------------------------------------------------------------------------------------------------------- */

/* Divides two integers.  Whether there is a remainder is a decision, except in a division by -1. */
static result_t divide_integers(const evaluation_t *evaluation, const node_t *node, int64_t a, int64_t b) {
   const operation_t operation = node->operation;
   if (b == 0 || b == -1) {
      int64_t result;
      const enum rkb_fault fault = rkb_expression_calculate_integer(evaluation, node, a, b, &result);
      const rkb_value_t x = {.integer = a}, y = {.integer = b}, value = {.integer = result};
      if (fault != RKB_FAULT_NONE)
         return of_fault(fault);
      if (evaluation->decided)
         tell_value(evaluation, node, &x, &y, &value);
      return of_integer(result);
   }
   const int64_t whole = quotient(a, b), rest = a - whole * b;
   if (evaluation->decided)
      tell(evaluation, &(rkb_expression_decision_t){.at = decision_place(node, operation),
                                                    .outcome = rest != 0,
                                                    .divides = true,
                                                    .left = a,
                                                    .right = b,
                                                    .distance = (double)rest});
   if (operation == OPERATION_REMAINDER)
      return of_integer(rest);
   if (operation == OPERATION_CEILDIV)
      return of_integer(whole + (rest != 0 && (a < 0) == (b < 0)));
   if (evaluation->decided)
      tell(evaluation,
           &(rkb_expression_decision_t){.at = decision_place(node, OF_VALUE + operation),
                                        .outcome = whole != 0,
                                        .is_value = true,
                                        .distance = whole == 0 ? fabs((double)b) - fabs((double)a) : 0});
   return of_integer(whole);
}

static result_t multiply_integers(const evaluation_t *evaluation, const node_t *node, int64_t a, int64_t b) {
   int64_t product;
   if (__builtin_mul_overflow(a, b, &product))
      return of_fault(rkb_expression_calculate_integer(evaluation, node, a, b, &product));
   if (evaluation->decided)
      tell(evaluation, &(rkb_expression_decision_t){.at = decision_place(node, OF_VALUE + OPERATION_MULTIPLY),
                                                    .outcome = product != 0,
                                                    .is_value = true,
                                                    .distance = product == 0 ? 1 : 0});
   return of_integer(product);
}

/* Calculates with operands of any kind. */
static result_t join(const evaluation_t *evaluation, const node_t *node, result_t left, result_t right) {
   const rkb_value_t a = value_of(left), b = value_of(right);
   rkb_value_t value = {0};
   if (evaluation->decided)
      tell_decision(evaluation, node, &a, &b);
   if (node->operation >= OPERATION_LESS && node->operation <= OPERATION_NOT_EQUAL)
      return of_integer(rkb_expression_holds(node->operation, rkb_expression_compare(&a, &b)));
   const bool chooses = node->operation == OPERATION_MIN || node->operation == OPERATION_MAX;
   const enum rkb_fault fault =
      (chooses ? rkb_expression_choose : rkb_expression_calculate)(evaluation, node, &a, &b, &value);
   if (fault != RKB_FAULT_NONE)
      return of_fault(fault);
   if (evaluation->decided)
      tell_value(evaluation, node, &a, &b, &value);
   return of_value(&value);
}

/* Most nodes are sums, products and quotients of integers, so these come first. */
static result_t evaluate_binary(const evaluation_t *evaluation, const node_t *node) {
   const result_t a = evaluate(evaluation, node->operands[0]);
   if (failed(a))
      return a;
   const result_t b = evaluate(evaluation, node->operands[1]);
   if (failed(b))
      return b;
   const int64_t x = (int64_t)a.bits, y = (int64_t)b.bits;
   int64_t sum;
   if (a.kind | b.kind)
      return join(evaluation, node, a, b);
   switch (node->operation) {
   case OPERATION_ADD:
      return __builtin_add_overflow(x, y, &sum) ? join(evaluation, node, a, b) : of_integer(sum);
   case OPERATION_SUBTRACT:
      return __builtin_sub_overflow(x, y, &sum) ? join(evaluation, node, a, b) : of_integer(sum);
   case OPERATION_MULTIPLY:
      return multiply_integers(evaluation, node, x, y);
   case OPERATION_DIVIDE:
   case OPERATION_REMAINDER:
   case OPERATION_CEILDIV:
      return divide_integers(evaluation, node, x, y);
   default:
      return join(evaluation, node, a, b);
   }
}

static result_t evaluate_negation(const evaluation_t *evaluation, const node_t *node) {
   const result_t result = evaluate(evaluation, node->operands[0]);
   int64_t negated;
   if (failed(result))
      return result;
   if (result.kind == REAL)
      return of_real(-value_of(result).real);
   if (__builtin_sub_overflow(0, (int64_t)result.bits, &negated))
      return of_fault(rkb_expression_fail(evaluation, RKB_FAULT_OVERFLOW, node, "overflows 64 bits"));
   return of_integer(negated);
}

static result_t evaluate_root(const evaluation_t *evaluation, const node_t *node) {
   const result_t result = evaluate(evaluation, node->operands[0]);
   if (failed(result))
      return result;
   const rkb_value_t value = value_of(result);
   const double square = as_real(&value);
   if (!(square >= 0))
      return of_fault(rkb_expression_fail(evaluation, RKB_FAULT_TYPE, node, "is the root of %g", square));
   return of_real(sqrt(square));
}

static result_t evaluate_name(const evaluation_t *evaluation, const node_t *node) {
   rkb_value_t value = {0};
   if (evaluation->lookup && evaluation->lookup(evaluation->argument, node->name, &value))
      return of_value(&value);
   return of_fault(rkb_expression_fail(evaluation, RKB_FAULT_UNKNOWN_NAME, node, "is not a name known here"));
}

static result_t evaluate(const evaluation_t *evaluation, const node_t *node) {
   switch (node->operation) {
   case OPERATION_LITERAL:
      return of_value(&node->literal);
   case OPERATION_NAME:
      return evaluate_name(evaluation, node);
   case OPERATION_SQRT:
      return evaluate_root(evaluation, node);
   case OPERATION_NEGATE:
      return evaluate_negation(evaluation, node);
   case OPERATION_NOT:
   case OPERATION_AND:
   case OPERATION_OR:
   case OPERATION_IF:
      return evaluate_logic(evaluation, node);
   default:
      return evaluate_binary(evaluation, node);
   }
}

/* If there is no result, *value keeps its former value. */
static enum rkb_fault evaluate_whole(const evaluation_t *evaluation, rkb_value_t *value) {
   const result_t result = evaluate(evaluation, evaluation->expression->root);
   if (failed(result))
      return (enum rkb_fault)(result.kind - 1);
   *value = value_of(result);
   return RKB_FAULT_NONE;
}

enum rkb_fault rkb_expression_chosen(const rkb_expression_t *expression, rkb_lookup_t lookup, void *argument,
                                     const rkb_choices_t *from, rkb_choices_t *to, rkb_value_t *value,
                                     char *message, size_t message_size) {
   const evaluation_t evaluation = {.expression = expression,
                                    .lookup = lookup,
                                    .argument = argument,
                                    .message = message,
                                    .message_size = message_size,
                                    .from = from,
                                    .to = to};
   if (message_size)
      message[0] = '\0';
   return evaluate_whole(&evaluation, value);
}

enum rkb_fault rkb_expression_evaluate(const rkb_expression_t *expression, rkb_lookup_t lookup,
                                       void *argument, rkb_value_t *value, char *message,
                                       size_t message_size) {
   return rkb_expression_chosen(expression, lookup, argument, NULL, NULL, value, message, message_size);
}

enum rkb_fault rkb_expression_decide(const rkb_expression_t *expression, rkb_lookup_t lookup, void *argument,
                                     rkb_decided_t decided, void *decided_argument, rkb_value_t *value,
                                     char *message, size_t message_size) {
   const evaluation_t evaluation = {.expression = expression,
                                    .lookup = lookup,
                                    .argument = argument,
                                    .message = message,
                                    .message_size = message_size,
                                    .decided = decided,
                                    .decided_argument = decided_argument};
   if (message_size)
      message[0] = '\0';
   return evaluate_whole(&evaluation, value);
}

enum rkb_fault rkb_expression_integer(const rkb_expression_t *expression, rkb_lookup_t lookup, void *argument,
                                      int64_t *value, char *message, size_t message_size) {
   return rkb_expression_integer_chosen(expression, lookup, argument, NULL, NULL, value, message,
                                        message_size);
}

enum rkb_fault rkb_expression_integer_chosen(const rkb_expression_t *expression, rkb_lookup_t lookup,
                                             void *argument, const rkb_choices_t *from, rkb_choices_t *to,
                                             int64_t *value, char *message, size_t message_size) {
   rkb_value_t found;
   enum rkb_fault fault =
      rkb_expression_chosen(expression, lookup, argument, from, to, &found, message, message_size);
   if (fault != RKB_FAULT_NONE)
      return fault;
   if (found.is_real) {
      snprintf(message, message_size, "%.*s is a real number (%g) where an integer belongs", SHOWN,
               expression->text, found.real);
      return RKB_FAULT_TYPE;
   }
   *value = found.integer;
   return RKB_FAULT_NONE;
}

bool rkb_expression_can_decide(const rkb_expression_t *expression) {
   return expression->root->operation != OPERATION_LITERAL && expression->root->operation != OPERATION_NAME;
}
