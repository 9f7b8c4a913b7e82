/* Evaluates an expression with many values of each name at once (expression_many.h).  Operands are evaluated at the places where rkb_expression_decide
 * would evaluate them, and no result depends on the other places.  Any number of threads at a time. */
#include "base/expression_many.h"

#include <math.h>
#include <string.h>

#include "base/expression_node.h"

#define BEYOND 0x1p51
#define ROUNDER 0x1.8p52 /* after adding this, a number below 2^51 has no digits behind the point */
#define EACH(n) for (uint32_t n = 0; n < RKB_MANY; n++)

typedef struct many {
   const rkb_expression_t *expression;
   rkb_many_lookup_t lookup;
   void *argument;
   rkb_many_decisions_t *decisions;
} many_t;

/* A truth for each place, 0 or 1. */
typedef struct truths {
   uint8_t at[RKB_MANY];
} truths_t;

static uint64_t bits_of(const truths_t *truths) {
   uint64_t bits = 0;
   for (uint32_t n = 0; n < RKB_MANY; n += 8) {
      uint64_t eight = 0;
      for (uint32_t k = 0; k < 8; k++)
         eight |= (uint64_t)truths->at[n + k] << 8 * k;
      bits |= (eight * UINT64_C(0x0102040810204080) >> 56) << n; /* gathers the lowest bit of each byte */
   }
   return bits;
}

static void set_truths(uint64_t bits, rkb_many_t *values) {
   EACH(n)
   values->at[n] = (double)(bits >> n & 1);
}

/* The places where a value is not 0. */
static uint64_t true_places(const rkb_many_t *values) {
   truths_t truths;
   EACH(n)
   truths.at[n] = values->at[n] != 0;
   return bits_of(&truths);
}

static bool are_exact(const rkb_many_t *values) {
   uint64_t beyond = 0;
   EACH(n)
   beyond |= !(fabs(values->at[n]) < BEYOND);
   return !beyond;
}

/* Returns the next decision; NULL: there is no room for it. */
static rkb_many_decision_t *next_decision(const many_t *many, const node_t *node, uint32_t kind,
                                          uint64_t places) {
   rkb_many_decisions_t *decisions = many->decisions;
   if (decisions->count == decisions->room)
      return NULL;
   rkb_many_decision_t *next = &decisions->list[decisions->count++];
   next->expression = many->expression;
   next->at = decision_place(node, kind);
   next->is_value = next->divides = false;
   next->places = places;
   return next;
}

/* Notes where the value of a product, min or max is 0. */
static bool note_value(const many_t *many, const node_t *node, uint64_t places, const rkb_many_t *values) {
   rkb_many_decision_t *decision = next_decision(many, node, OF_VALUE + node->operation, places);
   if (!decision)
      return false;
   decision->is_value = true;
   decision->outcomes = true_places(values) & places;
   EACH(n)
   decision->distances.at[n] = values->at[n] == 0;
   return true;
}

static bool note_quotient(const many_t *many, const node_t *node, uint64_t places, const rkb_many_t *a,
                          const rkb_many_t *b, const rkb_many_t *values) {
   rkb_many_decision_t *decision = next_decision(many, node, OF_VALUE + OPERATION_DIVIDE, places);
   if (!decision)
      return false;
   decision->is_value = true;
   decision->outcomes = true_places(values) & places;
   EACH(n)
   decision->distances.at[n] = values->at[n] == 0 ? b->at[n] - a->at[n] : 0;
   return true;
}

static bool divide(const many_t *many, const node_t *node, uint64_t places, const rkb_many_t *a,
                   const rkb_many_t *b, rkb_many_t *values) {
   rkb_many_t whole, rest;
   truths_t odd, left;
   EACH(n) {
      const bool divides = a->at[n] >= 0 && b->at[n] >= 1;
      const double quotient = divides ? a->at[n] / b->at[n] : 0, rounded = quotient + ROUNDER - ROUNDER;
      whole.at[n] = rounded > quotient ? rounded - 1 : rounded;
      rest.at[n] = divides ? a->at[n] - whole.at[n] * b->at[n] : 0;
      odd.at[n] = !divides;
      left.at[n] = rest.at[n] != 0;
   }
   if (bits_of(&odd) & places)
      return false;
   rkb_many_decision_t *decision = next_decision(many, node, node->operation, places);
   if (!decision)
      return false;
   decision->divides = true;
   decision->outcomes = bits_of(&left) & places;
   switch (node->operation) {
   case OPERATION_REMAINDER:
      *values = rest;
      return true;
   case OPERATION_CEILDIV:
      EACH(n)
      values->at[n] = whole.at[n] + left.at[n];
      return true;
   default:
      *values = whole;
      return note_quotient(many, node, places, a, b, values);
   }
}

static uint64_t compare(operation_t operation, const rkb_many_t *a, const rkb_many_t *b) {
   truths_t truths;
   switch (operation) {
   case OPERATION_LESS:
      EACH(n)
      truths.at[n] = a->at[n] < b->at[n];
      break;
   case OPERATION_LESS_EQUAL:
      EACH(n)
      truths.at[n] = a->at[n] <= b->at[n];
      break;
   case OPERATION_GREATER:
      EACH(n)
      truths.at[n] = a->at[n] > b->at[n];
      break;
   case OPERATION_GREATER_EQUAL:
      EACH(n)
      truths.at[n] = a->at[n] >= b->at[n];
      break;
   case OPERATION_EQUAL:
      EACH(n)
      truths.at[n] = a->at[n] == b->at[n];
      break;
   default:
      EACH(n)
      truths.at[n] = a->at[n] != b->at[n];
      break;
   }
   return bits_of(&truths);
}

/* Compares two operands, or takes the smaller or the larger one. */
static bool decide(const many_t *many, const node_t *node, uint64_t places, const rkb_many_t *a,
                   const rkb_many_t *b, rkb_many_t *values) {
   const operation_t operation = node->operation;
   const bool least = operation == OPERATION_MIN, most = operation == OPERATION_MAX;
   rkb_many_decision_t *decision = next_decision(many, node, operation, places);
   if (!decision)
      return false;
   const uint64_t holds = compare(least ? OPERATION_GREATER : most ? OPERATION_LESS : operation, a, b);
   decision->outcomes = holds & places;
   EACH(n)
   decision->distances.at[n] = a->at[n] - b->at[n];
   if (!least && !most) {
      set_truths(holds, values);
      return true;
   }
   EACH(n)
   values->at[n] = (a->at[n] > b->at[n]) == least ? b->at[n] : a->at[n];
   return note_value(many, node, places, values);
}

static bool evaluate(const many_t *many, const node_t *node, uint64_t places, rkb_many_t *values);

static bool evaluate_binary(const many_t *many, const node_t *node, uint64_t places, rkb_many_t *values) {
   rkb_many_t a, b;
   if (!evaluate(many, node->operands[0], places, &a) || !evaluate(many, node->operands[1], places, &b))
      return false;
   switch (node->operation) {
   case OPERATION_ADD:
      EACH(n)
      values->at[n] = a.at[n] + b.at[n];
      return are_exact(values);
   case OPERATION_SUBTRACT:
      EACH(n)
      values->at[n] = a.at[n] - b.at[n];
      return are_exact(values);
   case OPERATION_MULTIPLY:
      EACH(n)
      values->at[n] = a.at[n] * b.at[n];
      return are_exact(values) && note_value(many, node, places, values);
   case OPERATION_DIVIDE:
   case OPERATION_REMAINDER:
   case OPERATION_CEILDIV:
      return divide(many, node, places, &a, &b, values);
   default:
      return decide(many, node, places, &a, &b, values);
   }
}

static bool evaluate_if(const many_t *many, const node_t *node, uint64_t places, uint64_t truths,
                        rkb_many_t *values) {
   rkb_many_t other = {{0}};
   memset(values, 0, sizeof *values);
   if ((places & truths) && !evaluate(many, node->operands[1], places & truths, values))
      return false;
   if ((places & ~truths) && !evaluate(many, node->operands[2], places & ~truths, &other))
      return false;
   EACH(n)
   values->at[n] = truths >> n & 1 ? values->at[n] : other.at[n];
   return true;
}

/* The second operand of `and` and `or` is evaluated where the first one does not say the result. */
static bool evaluate_logic(const many_t *many, const node_t *node, uint64_t places, rkb_many_t *values) {
   if (!evaluate(many, node->operands[0], places, values))
      return false;
   uint64_t truths = true_places(values);
   if (node->operation == OPERATION_IF)
      return evaluate_if(many, node, places, truths, values);
   const bool both = node->operation == OPERATION_AND, either = node->operation == OPERATION_OR;
   const uint64_t open = both ? places & truths : either ? places & ~truths : 0;
   if (open && !evaluate(many, node->operands[1], open, values))
      return false;
   const uint64_t second = open ? true_places(values) & open : 0;
   truths = both ? second : either ? (truths & places) | second : ~truths;
   set_truths(truths, values);
   return true;
}

static bool evaluate(const many_t *many, const node_t *node, uint64_t places, rkb_many_t *values) {
   switch (node->operation) {
   case OPERATION_LITERAL:
      EACH(n)
      values->at[n] = (double)node->literal.integer;
      return !node->literal.is_real && are_exact(values);
   case OPERATION_NAME:
      return many->lookup(many->argument, node->name, places, values) && are_exact(values);
   case OPERATION_NEGATE:
      if (!evaluate(many, node->operands[0], places, values))
         return false;
      EACH(n)
      values->at[n] = 0 - values->at[n];
      return true;
   case OPERATION_NOT:
   case OPERATION_AND:
   case OPERATION_OR:
   case OPERATION_IF:
      return evaluate_logic(many, node, places, values);
   case OPERATION_SQRT: /* a real number */
      return false;
   default:
      return evaluate_binary(many, node, places, values);
   }
}

bool rkb_expression_many(const rkb_expression_t *expression, uint64_t places, rkb_many_lookup_t lookup,
                         void *argument, rkb_many_decisions_t *decisions, rkb_many_t *values) {
   const many_t many = {expression, lookup, argument, decisions};
   return evaluate(&many, expression->root, places, values);
}
