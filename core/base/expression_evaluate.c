/* Evaluates expressions: walks the tree, stops at the first fault, and names the part of the text that failed.
 * Any number of threads at a time. */
#include <math.h>
#include <stdio.h>

#include "base/expression_node.h"

#define SHOWN 80 /* bytes of the text that a message quotes */

typedef struct evaluation {
   const rkb_expression_t *expression;
   rkb_lookup_t lookup;
   void *argument;
   char *message;
   size_t message_size;
   const rkb_choices_t *from; /* or NULL */
   rkb_choices_t *to;         /* or NULL */
   rkb_decided_t decided;     /* or NULL */
   void *decided_argument;
} evaluation_t;

static enum rkb_fault evaluate(const evaluation_t *evaluation, const node_t *node, rkb_value_t *value);

/* "<part of the text> <what>". */
static RKB_PRINTF(4, 5) __attribute__((noinline, cold)) enum rkb_fault
   fail(const evaluation_t *evaluation, enum rkb_fault fault, const node_t *node, const char *fmt, ...) {
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

static double as_real(const rkb_value_t *value) {
   return value->is_real ? value->real : (double)value->integer;
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

/* Sizes mostly have 32 bits, of which a quotient takes half the time. */
static inline int64_t quotient(int64_t a, int64_t b) {
   return ((uint64_t)a | (uint64_t)b) >> 32 ? a / b : (int64_t)((uint32_t)a / (uint32_t)b);
}

static inline int64_t remainder_of(int64_t a, int64_t b) {
   return ((uint64_t)a | (uint64_t)b) >> 32 ? a % b : (int64_t)((uint32_t)a % (uint32_t)b);
}

static enum rkb_fault calculate_integer(const evaluation_t *evaluation, const node_t *node, int64_t a,
                                        int64_t b, int64_t *result) {
   bool divides = node->operation == OPERATION_DIVIDE || node->operation == OPERATION_REMAINDER ||
                  node->operation == OPERATION_CEILDIV;
   if (divides && b == 0)
      return fail(evaluation, RKB_FAULT_DIVISION, node, "divides by zero");
   if (divides && a == INT64_MIN && b == -1)
      return fail(evaluation, RKB_FAULT_OVERFLOW, node, "overflows 64 bits: %lld / -1", (long long)a);
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
      return fail(evaluation, RKB_FAULT_OVERFLOW, node, "overflows 64 bits: %lld %s %lld", (long long)a,
                  symbol(node->operation), (long long)b);
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
         return fail(evaluation, RKB_FAULT_DIVISION, node, "divides by zero");
      *result = a / b;
      break;
   default:
      return fail(evaluation, RKB_FAULT_TYPE, node, "needs two integers, and one is a real number");
   }
   if (!isfinite(*result))
      return fail(evaluation, RKB_FAULT_OVERFLOW, node, "is not a finite number: %g %s %g", a,
                  symbol(node->operation), b);
   return RKB_FAULT_NONE;
}

static enum rkb_fault calculate(const evaluation_t *evaluation, const node_t *node, const rkb_value_t *a,
                                const rkb_value_t *b, rkb_value_t *value) {
   value->is_real = a->is_real || b->is_real;
   if (value->is_real)
      return calculate_real(evaluation, node, as_real(a), as_real(b), &value->real);
   return calculate_integer(evaluation, node, a->integer, b->integer, &value->integer);
}

/* -1, 0 or 1; 2 when one of the two is NaN.  An integer beyond 2^53 may be rounded before it is compared with a real. */
static int compare(const rkb_value_t *a, const rkb_value_t *b) {
   if (!a->is_real && !b->is_real)
      return (a->integer > b->integer) - (a->integer < b->integer);
   double x = as_real(a), y = as_real(b);
   if (isnan(x) || isnan(y))
      return 2;
   return (x > y) - (x < y);
}

static bool holds(operation_t operation, int order) {
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

static enum rkb_fault choose_extreme(const evaluation_t *evaluation, const node_t *node, const rkb_value_t *a,
                                     const rkb_value_t *b, rkb_value_t *value) {
   if (a->is_real != b->is_real)
      return fail(evaluation, RKB_FAULT_TYPE, node, "mixes an integer and a real number");
   bool second = compare(a, b) == (node->operation == OPERATION_MIN ? 1 : -1);
   *value = second ? *b : *a;
   return RKB_FAULT_NONE;
}

static enum rkb_fault evaluate_truth(const evaluation_t *evaluation, const node_t *node, bool *truth) {
   rkb_value_t value;
   enum rkb_fault fault = evaluate(evaluation, node, &value);
   if (fault != RKB_FAULT_NONE)
      return fault;
   if (value.is_real)
      return fail(evaluation, RKB_FAULT_TYPE, node,
                  "is a real number, neither true nor false; compare it with one");
   *truth = value.integer != 0;
   return RKB_FAULT_NONE;
}

/* Which way an if() goes. */
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

static enum rkb_fault evaluate_logic(const evaluation_t *evaluation, const node_t *node, rkb_value_t *value) {
   bool truth = false;
   enum rkb_fault fault = node->operation == OPERATION_IF
                             ? evaluate_choice(evaluation, node, &truth)
                             : evaluate_truth(evaluation, node->operands[0], &truth);
   if (fault != RKB_FAULT_NONE)
      return fault;
   if (node->operation == OPERATION_IF)
      return evaluate(evaluation, node->operands[truth ? 1 : 2], value);
   if (node->operation == OPERATION_NOT)
      truth = !truth;
   else if (truth == (node->operation == OPERATION_AND))
      fault = evaluate_truth(evaluation, node->operands[1], &truth);
   *value = (rkb_value_t){.integer = truth};
   return fault;
}

#define OPERATIONS 64u /* more than twice as many as there are: each may tell two decisions */
#define OF_VALUE 32u   /* the second of them */

/* The operator with its kind: second operands of two operators never begin at one place. */
static inline uint32_t place_of(const node_t *node, uint32_t kind) {
   return node->operands[1]->start * OPERATIONS + kind;
}

static inline void tell(const evaluation_t *evaluation, const rkb_expression_decision_t *decision) {
   evaluation->decided(evaluation->decided_argument, evaluation->expression, decision);
}

static bool divides(operation_t operation) {
   return operation == OPERATION_DIVIDE || operation == OPERATION_REMAINDER || operation == OPERATION_CEILDIV;
}

static void tell_decision(const evaluation_t *evaluation, const node_t *node, const rkb_value_t *a,
                          const rkb_value_t *b) {
   const operation_t operation = node->operation;
   if (operation < OPERATION_DIVIDE) /* most: sums and products compare nothing and divide nothing */
      return;
   const bool compares = operation >= OPERATION_LESS && operation <= OPERATION_NOT_EQUAL;
   const bool chooses = operation == OPERATION_MIN || operation == OPERATION_MAX;
   const bool whole = !a->is_real && !b->is_real;
   if (compares || chooses) {
      const int order = compare(a, b);
      tell(evaluation,
           &(rkb_expression_decision_t){.at = place_of(node, operation),
                                        .outcome = compares ? holds(operation, order)
                                                            : order == (operation == OPERATION_MIN ? 1 : -1),
                                        .left = whole ? a->integer : 0,
                                        .right = whole ? b->integer : 0,
                                        .distance = as_real(a) - as_real(b)});
   } else if (divides(operation) && whole && b->integer != 0 &&
              b->integer != -1) { /* by -1 nothing is left */
      const int64_t rest = remainder_of(a->integer, b->integer);
      tell(evaluation, &(rkb_expression_decision_t){.at = place_of(node, operation),
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
   tell(evaluation, &(rkb_expression_decision_t){.at = place_of(node, OF_VALUE + operation),
                                                 .outcome = !is_zero,
                                                 .is_value = true,
                                                 .distance = distance});
}

/* An operand: of most, a number or a name. */
static inline enum rkb_fault evaluate_operand(const evaluation_t *evaluation, const node_t *node,
                                              rkb_value_t *value) {
   if (node->operation == OPERATION_LITERAL) {
      *value = node->literal;
      return RKB_FAULT_NONE;
   }
   *value = (rkb_value_t){0};
   if (node->operation == OPERATION_NAME && evaluation->lookup &&
       evaluation->lookup(evaluation->argument, node->name, value))
      return RKB_FAULT_NONE;
   return evaluate(evaluation, node, value);
}

static enum rkb_fault evaluate_binary(const evaluation_t *evaluation, const node_t *node,
                                      rkb_value_t *value) {
   rkb_value_t a, b;
   enum rkb_fault fault = evaluate_operand(evaluation, node->operands[0], &a);
   if (fault == RKB_FAULT_NONE)
      fault = evaluate_operand(evaluation, node->operands[1], &b);
   if (fault != RKB_FAULT_NONE)
      return fault;
   *value = (rkb_value_t){0};
   if (evaluation->decided)
      tell_decision(evaluation, node, &a, &b);
   if (node->operation >= OPERATION_LESS && node->operation <= OPERATION_NOT_EQUAL) {
      value->integer = holds(node->operation, compare(&a, &b));
      return RKB_FAULT_NONE;
   }
   const bool chooses = node->operation == OPERATION_MIN || node->operation == OPERATION_MAX;
   fault = (chooses ? choose_extreme : calculate)(evaluation, node, &a, &b, value);
   if (fault == RKB_FAULT_NONE && evaluation->decided)
      tell_value(evaluation, node, &a, &b, value);
   return fault;
}

static enum rkb_fault evaluate_negation(const evaluation_t *evaluation, const node_t *node,
                                        rkb_value_t *value) {
   enum rkb_fault fault = evaluate(evaluation, node->operands[0], value);
   if (fault != RKB_FAULT_NONE)
      return fault;
   if (value->is_real)
      value->real = -value->real;
   else if (__builtin_sub_overflow(0, value->integer, &value->integer))
      return fail(evaluation, RKB_FAULT_OVERFLOW, node, "overflows 64 bits");
   return RKB_FAULT_NONE;
}

static enum rkb_fault evaluate_root(const evaluation_t *evaluation, const node_t *node, rkb_value_t *value) {
   enum rkb_fault fault = evaluate(evaluation, node->operands[0], value);
   if (fault != RKB_FAULT_NONE)
      return fault;
   double square = as_real(value);
   if (!(square >= 0))
      return fail(evaluation, RKB_FAULT_TYPE, node, "is the root of %g", square);
   *value = (rkb_value_t){.is_real = true, .real = sqrt(square)};
   return RKB_FAULT_NONE;
}

static enum rkb_fault evaluate(const evaluation_t *evaluation, const node_t *node, rkb_value_t *value) {
   switch (node->operation) {
   case OPERATION_SQRT:
      return evaluate_root(evaluation, node, value);
   case OPERATION_LITERAL:
      *value = node->literal;
      return RKB_FAULT_NONE;
   case OPERATION_NAME:
      *value = (rkb_value_t){0};
      if (evaluation->lookup && evaluation->lookup(evaluation->argument, node->name, value))
         return RKB_FAULT_NONE;
      return fail(evaluation, RKB_FAULT_UNKNOWN_NAME, node, "is not a name known here");
   case OPERATION_NEGATE:
      return evaluate_negation(evaluation, node, value);
   case OPERATION_NOT:
   case OPERATION_AND:
   case OPERATION_OR:
   case OPERATION_IF:
      return evaluate_logic(evaluation, node, value);
   default:
      return evaluate_binary(evaluation, node, value);
   }
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
   return evaluate(&evaluation, expression->root, value);
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
   return evaluate(&evaluation, expression->root, value);
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
