/* Expressions of a manifest, and their values in a case.  Pure functions. */
#include "generator/graph/size_expression.h"

#include <string.h>

rkb_expression_t *rkb_size_expression(rkb_arena_t *arena, const char *text) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_expression_t *expression =
      rkb_expression_parse(arena, text, strlen(text), (rkb_place_t){0}, &problems);
   rkb_problems_free(&problems);
   return expression;
}

bool rkb_size_evaluate(rkb_bound_t *bound, const rkb_expression_t *expression, rkb_value_t *value) {
   char message[256];
   return rkb_expression_evaluate(expression, rkb_bound_lookup, bound, value, message, sizeof message) ==
          RKB_FAULT_NONE;
}
