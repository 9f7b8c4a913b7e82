/* Arithmetic of expressions on two values, with a message if there is no result (expression_arithmetic.c).  Only expression_evaluate.c uses it.  Any number
 * of threads at a time. */
#ifndef RKB_BASE_EXPRESSION_ARITHMETIC_H
#define RKB_BASE_EXPRESSION_ARITHMETIC_H

#include "base/expression_node.h"

#define SHOWN 80 /* bytes of the text that a message quotes */

/* One evaluation of an expression. */
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

static inline double as_real(const rkb_value_t *value) {
   return value->is_real ? value->real : (double)value->integer;
}

/* Sizes mostly fit into 32 bits, and a 32-bit division takes half the time. */
static inline int64_t quotient(int64_t a, int64_t b) {
   return ((uint64_t)a | (uint64_t)b) >> 32 ? a / b : (int64_t)((uint32_t)a / (uint32_t)b);
}

static inline int64_t remainder_of(int64_t a, int64_t b) {
   return ((uint64_t)a | (uint64_t)b) >> 32 ? a % b : (int64_t)((uint32_t)a % (uint32_t)b);
}

/* "<part of the text> <what>".  Returns fault. */
enum rkb_fault rkb_expression_fail(const evaluation_t *evaluation, enum rkb_fault fault, const node_t *node,
                                   const char *fmt, ...) RKB_PRINTF(4, 5);

/* A sum, a difference, a product, a quotient or a remainder. */
enum rkb_fault rkb_expression_calculate_integer(const evaluation_t *evaluation, const node_t *node, int64_t a,
                                                int64_t b, int64_t *result);
enum rkb_fault rkb_expression_calculate(const evaluation_t *evaluation, const node_t *node,
                                        const rkb_value_t *a, const rkb_value_t *b, rkb_value_t *value);
/* min or max: the smaller or the larger value. */
enum rkb_fault rkb_expression_choose(const evaluation_t *evaluation, const node_t *node, const rkb_value_t *a,
                                     const rkb_value_t *b, rkb_value_t *value);

/* -1, 0 or 1; 2 when one of the two is NaN.  An integer beyond 2^53 may be rounded before it is compared with a real. */
int rkb_expression_compare(const rkb_value_t *a, const rkb_value_t *b);
/* Whether a comparison holds between two values with this order (of rkb_expression_compare). */
bool rkb_expression_holds(operation_t operation, int order);

#endif
