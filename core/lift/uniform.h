/* Which values are the same for all threads of a block.  Pure; any thread. */
#ifndef RKB_LIFT_UNIFORM_H
#define RKB_LIFT_UNIFORM_H

#include "lift/tree.h"

/* Whether the expression has the same value for a whole block.  It may consist of numbers, kernel parameters, values that are equal for a whole
 * block, variables that are initialised from these and never changed, and the given declarations.  Loads and calls (except min and max) do
 * not count as equal. */
bool lift_is_uniform(const lift_tree_t *tree, uint32_t expression, const uint32_t *allowed, uint32_t allowed_count);
/* The same for the text of any function.  A parameter counts as equal if every call passes an equal value; a loop's variable counts as equal
 * if all threads give it the same start, condition and step.  So two threads that are at the same step have the same value. */
bool lift_is_uniform_at_calls(const lift_tree_t *tree, uint32_t expression);
/* Whether the expression is a whole number, or consists of template parameters, constants and numbers: its
 * value is known when the kernel is compiled. */
bool lift_is_constant(const lift_tree_t *tree, uint32_t expression);

#endif
