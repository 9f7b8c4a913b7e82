/* Which values are the same for all threads of a block.  Pure; any thread. */
#ifndef RKB_LIFT_UNIFORM_H
#define RKB_LIFT_UNIFORM_H

#include "lift/tree.h"

/* Whether the expression consists only of numbers, kernel parameters, values that are equal for a whole block, variables
 * initialised from such and never changed, and the given declarations.  Loads and calls (except min and max) do not count as equal. */
bool lift_is_uniform(const lift_tree_t *tree, uint32_t expression, const uint32_t *allowed, uint32_t allowed_count);
/* The same for the text of any function: its parameters count as equal where every call of it passes what is equal, and a loop's variable
 * where all threads count it alike.  So two threads that are at the same step have the same value. */
bool lift_is_uniform_at_calls(const lift_tree_t *tree, uint32_t expression);
/* Whether the expression is a whole number, or consists of template parameters, constants and numbers: its
 * value is known when the kernel is compiled. */
bool lift_is_constant(const lift_tree_t *tree, uint32_t expression);

#endif
