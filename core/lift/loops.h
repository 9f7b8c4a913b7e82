/* Loops, and the variables that statements change; several rewrites use these queries.  Pure; any thread. */
#ifndef RKB_LIFT_LOOPS_H
#define RKB_LIFT_LOOPS_H

#include "lift/text_change.h"

/* for (type variable = first; variable < last; variable += step), or variable++ when step is LIFT_NONE. */
typedef struct lift_loop {
   uint32_t node, variable, first, last, step, body;
} lift_loop_t;

/* False when the loop has another form, or when its body changes the variable. */
bool lift_loop_read(const lift_tree_t *tree, uint32_t node, lift_loop_t *loop);
/* Whether the subtree assigns to the declaration, to its elements or through it as a pointer. */
bool lift_assigns(const lift_tree_t *tree, uint32_t subtree, uint32_t declaration);
/* Whether the subtree leaves the loop before its end: return, break of this loop, goto. */
bool lift_leaves(const lift_tree_t *tree, uint32_t loop);
/* Whether the subtree assigns to a declaration that the expression names. */
bool lift_changes_names_of(const lift_tree_t *tree, uint32_t subtree, uint32_t expression);
/* Whether a statement is a call of __syncthreads. */
bool lift_is_barrier(const lift_tree_t *tree, uint32_t statement);
/* The function of this name with a body; LIFT_NONE when there is none, or more than one. */
uint32_t lift_function_named(const lift_tree_t *tree, const char *name);
/* How often the text calls the function. */
uint32_t lift_count_calls(const lift_tree_t *tree, const char *name);
/* Parameter number index of a function, or LIFT_NONE. */
uint32_t lift_parameter(const lift_tree_t *tree, uint32_t function, uint32_t index);
/* Whether a function can change its argument through the parameter. */
bool lift_is_changeable(const lift_tree_t *tree, uint32_t parameter);
/* Whether every method of this name changes only variables that it declares itself. */
bool lift_methods_are_pure(const lift_tree_t *tree, const char *name);

/* The places that a statement changes, other than variables declared in it; each place is listed once. */
typedef struct lift_effect {
   uint32_t node;     /* the assignment or the call's argument */
   uint32_t variable; /* LIFT_NONE: not known */
   bool sum;          /* the statement only adds to the variable, with += */
} lift_effect_t;
/* The number of effects.  LIFT_NONE, with the change's refusal, when a statement is not understood (assembly, atomics, a call of a
 * function that is not known to be pure). */
uint32_t lift_effects(const lift_tree_t *tree, uint32_t statement, lift_effect_t *out, uint32_t most, lift_change_t *change);

#endif
