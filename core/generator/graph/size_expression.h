/* Expressions of a manifest, and their values in a case.  Pure functions. */
#ifndef RKB_GENERATOR_SIZE_EXPRESSION_H
#define RKB_GENERATOR_SIZE_EXPRESSION_H

#include "base/arena.h"
#include "task/distinct_sizes.h"

/* Parses an expression, which lives in the arena; NULL: the text is no expression. */
rkb_expression_t *rkb_size_expression(rkb_arena_t *arena, const char *text);
/* Evaluates it in a case; false: it has no value there, as a division by zero. */
bool rkb_size_evaluate(rkb_bound_t *bound, const rkb_expression_t *expression, rkb_value_t *value);

#endif
