/* Evaluates an expression with up to 64 values of each name at once, and notes what it decides with each of them.  A survey of many shapes asks this
 * of the same few expressions, and one walk through the tree then serves 64 shapes (core/kernel/survey_many.c).  Any number of threads at a time. */
#ifndef RKB_BASE_EXPRESSION_MANY_H
#define RKB_BASE_EXPRESSION_MANY_H

#include "base/expression.h"

#define RKB_MANY 64u

/* Integers below 2^51, so that sums and products of two are exact, and so is a quotient after rounding towards zero. */
typedef struct rkb_many {
   double at[RKB_MANY];
} rkb_many_t;

/* One decision of an expression (rkb_expression_decision_t): bit n of places and outcomes is that with the names' values number n. */
typedef struct rkb_many_decision {
   const rkb_expression_t *expression;
   uint32_t at;
   bool is_value, divides;
   uint64_t places;      /* where the decision was evaluated */
   uint64_t outcomes;    /* where it also had the outcome true */
   rkb_many_t distances; /* not set where divides, since nothing is looked for near a division */
} rkb_many_decision_t;

typedef struct rkb_many_decisions {
   rkb_many_decision_t *list; /* borrowed */
   uint32_t count, room;
} rkb_many_decisions_t;

/* Looks up the values of a name that is mentioned at these places; returns false when they cannot be told. */
typedef bool (*rkb_many_lookup_t)(void *argument, const char *name, uint64_t places, rkb_many_t *values);

/* Evaluates the expression at each of the places, and appends its decisions.  Values at other places are not set.  false: it has a fault somewhere, or
 * real numbers, negative dividends, divisors below 1 or values from 2^51 on take part, or there was no room for a decision.  The caller then evaluates
 * it once for each place, and drops the decisions that were appended. */
bool rkb_expression_many(const rkb_expression_t *expression, uint64_t places, rkb_many_lookup_t lookup,
                         void *argument, rkb_many_decisions_t *decisions, rkb_many_t *values);

#endif
