/* Follows values through the calls of a text's functions to find those that are the same for a whole block. */
#include <string.h>
#include "lift/loops.h"
#include "lift/uniform.h"

enum { DEPTH = 12, MOST_PARAMETERS = 16 };

static bool is_equal(const lift_tree_t *tree, uint32_t expression, uint32_t except, int depth);

/* Whether every call of the parameter's function passes an equal value. */
static bool is_passed_equal(const lift_tree_t *tree, uint32_t parameter, int depth) {
   const uint32_t function = tree->nodes[parameter].parent;
   char name[128], callee[128];
   uint32_t index = 0, calls = 0;
   lift_name(tree, function, name, sizeof name);
   if (lift_function_named(tree, name) != function || lift_assigns(tree, function, parameter))
      return false;
   while (lift_parameter(tree, function, index) != parameter)
      index++;
   for (uint32_t i = 0; i < tree->count; i++) {
      if (!lift_is(tree, i, LIFT_CALL))
         continue;
      lift_callee(tree, i, callee, sizeof callee);
      if (strcmp(callee, name) != 0)
         continue;
      const uint32_t argument = lift_child(tree, i, index + 1);
      if (argument == LIFT_NONE || !is_equal(tree, argument, LIFT_NONE, depth))
         return false;
      calls++;
   }
   return calls > 0;
}

/* Whether all threads give the variable the same values: they share its initialiser and, if it is a loop's variable, the loop's condition and
 * step. */
static bool is_set_equal(const lift_tree_t *tree, uint32_t variable, int depth) {
   const uint32_t initialiser = lift_initialiser(tree, variable), function = lift_function_of(tree, variable);
   const uint32_t loop = tree->nodes[tree->nodes[variable].parent].parent;
   if (initialiser == LIFT_NONE || function == LIFT_NONE || !is_equal(tree, initialiser, LIFT_NONE, depth))
      return false;
   if (!lift_assigns(tree, function, variable))
      return true;
   if (!lift_is(tree, loop, LIFT_FOR) || lift_children(tree, loop) != 4 ||
       lift_assigns(tree, lift_child(tree, loop, 3), variable))
      return false;
   const uint32_t step = lift_child(tree, loop, 2);
   return lift_is_assignment(tree, step) && lift_base(tree, lift_assigned(tree, step)) == variable &&
          is_equal(tree, lift_child(tree, loop, 1), variable, depth) &&
          (lift_is(tree, step, LIFT_UNARY) || is_equal(tree, lift_child(tree, step, 1), LIFT_NONE, depth));
}

/* Whether a function of the text gives the same result to all threads that pass the same arguments. */
static bool gives_equal(const lift_tree_t *tree, const char *name) {
   const uint32_t function = lift_function_named(tree, name);
   uint32_t parameters[MOST_PARAMETERS], count = 0;
   if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
      return true;
   if (function == LIFT_NONE)
      return false;
   while (count < MOST_PARAMETERS && lift_parameter(tree, function, count) != LIFT_NONE) {
      parameters[count] = lift_parameter(tree, function, count);
      if (lift_is_changeable(tree, parameters[count]) || lift_assigns(tree, function, parameters[count]))
         return false;
      count++;
   }
   return lift_is_uniform(tree, lift_body(tree, function), parameters, count);
}

static bool is_equal(const lift_tree_t *tree, uint32_t expression, uint32_t except, int depth) {
   char callee[128];
   if (depth == 0)
      return false;
   for (uint32_t i = expression; i < tree->nodes[expression].last; i++) {
      const lift_node_t *n = &tree->nodes[i];
      if (n->kind == LIFT_CALL) {
         lift_callee(tree, i, callee, sizeof callee);
         if (!gives_equal(tree, callee))
            return false;
      }
      if (n->kind == LIFT_SUBSCRIPT || n->kind == LIFT_ASSEMBLY || n->kind == LIFT_LAMBDA ||
          lift_is_assignment(tree, i) || (n->kind == LIFT_UNARY && lift_operator_is(tree, i, "*")))
         return false;
      if (n->kind != LIFT_NAME || (except != LIFT_NONE && n->declaration == except))
         continue;
      if (n->declaration == LIFT_NONE) {
         if (lift_named(tree, i, "threadIdx"))
            return false;
         continue;
      }
      const bool function = lift_is(tree, n->declaration, LIFT_TEMPLATE_PARAMETER) ||
                            lift_is(tree, n->declaration, LIFT_FUNCTION);
      const bool passed = lift_is(tree, n->declaration, LIFT_PARAMETER) &&
                          (lift_is(tree, tree->nodes[n->declaration].parent, LIFT_KERNEL)
                              ? !lift_assigns(tree, tree->nodes[n->declaration].parent, n->declaration)
                              : lift_is(tree, tree->nodes[n->declaration].parent, LIFT_FUNCTION) &&
                                   is_passed_equal(tree, n->declaration, depth - 1));
      if (!function && !passed &&
          !(lift_is(tree, n->declaration, LIFT_VARIABLE) && is_set_equal(tree, n->declaration, depth - 1)))
         return false;
   }
   return true;
}

bool lift_is_uniform_at_calls(const lift_tree_t *tree, uint32_t expression) {
   return is_equal(tree, expression, LIFT_NONE, DEPTH);
}
