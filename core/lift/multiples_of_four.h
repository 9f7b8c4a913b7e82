/* Conditions under which a sum is a multiple of four, for accesses to four numbers at once (vector_copy).  Also says how an expression grows with a variable.
 * Pure; any thread. */
#ifndef RKB_LIFT_MULTIPLES_OF_FOUR_H
#define RKB_LIFT_MULTIPLES_OF_FOUR_H

#include "lift/text_change.h"

/* The amount by which an expression grows when the variable grows by one: 0, a number, or -1 for an expression. */
int64_t lift_coefficient(const lift_tree_t *tree, uint32_t expression, uint32_t variable);
/* 0, 0.f or 0.0f */
bool lift_is_zero(const lift_tree_t *tree, uint32_t expression);

/* Whether a sum is a multiple of four if two things hold: the variable is a multiple of four, and the conditions hold
 * that this function adds to out, joined by &&.  The conditions name only what is declared outside the place. */
bool lift_in_fours(rkb_text_t *out, const lift_tree_t *tree, uint32_t sum, uint32_t variable, uint32_t place);
/* Whether a condition has the same value for a multiple of four and the three numbers after it, if the conditions
 * hold that this function adds.  a < b has the same value for all four if a and b are multiples of four. */
bool lift_holds_in_fours(rkb_text_t *out, const lift_tree_t *tree, uint32_t condition, uint32_t variable,
                         uint32_t place);

#endif
