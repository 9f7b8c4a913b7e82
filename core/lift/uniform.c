/* Decides which values are the same for a whole block. */
#include "lift/uniform.h"

#include <string.h>
#include "lift/loops.h"

enum { DEPTH = 12 };

static bool is_uniform(const lift_tree_t *tree, uint32_t expression, const uint32_t *allowed, uint32_t count, int depth) {
   char callee[64];
   for (uint32_t i = expression; i < tree->nodes[expression].last; i++) {
      const lift_node_t *n = &tree->nodes[i];
      if (n->kind == LIFT_CALL) {
         lift_callee(tree, i, callee, sizeof callee);
         if (strcmp(callee, "min") != 0 && strcmp(callee, "max") != 0)
            return false;
      }
      if (n->kind == LIFT_SUBSCRIPT || n->kind == LIFT_ASSEMBLY || n->kind == LIFT_LAMBDA || lift_is_assignment(tree, i) ||
          (n->kind == LIFT_UNARY && lift_operator_is(tree, i, "*")))
         return false;
      if (n->kind != LIFT_NAME)
         continue;
      if (n->declaration == LIFT_NONE) {
         if (lift_named(tree, i, "threadIdx"))
            return false;
         continue;
      }
      bool given = lift_is(tree, n->declaration, LIFT_TEMPLATE_PARAMETER) || lift_is(tree, n->declaration, LIFT_FUNCTION);
      for (uint32_t a = 0; a < count; a++)
         given = given || allowed[a] == n->declaration;
      if (given)
         continue;
      const uint32_t function = lift_function_of(tree, n->declaration);
      if (function == LIFT_NONE || lift_assigns(tree, function, n->declaration))
         return false;
      if (lift_is(tree, n->declaration, LIFT_PARAMETER) && lift_is(tree, function, LIFT_KERNEL))
         continue;
      const uint32_t initialiser = lift_is(tree, n->declaration, LIFT_VARIABLE) ? lift_initialiser(tree, n->declaration) : LIFT_NONE;
      if (initialiser == LIFT_NONE || depth == 0 || !is_uniform(tree, initialiser, allowed, count, depth - 1))
         return false;
   }
   return true;
}

bool lift_is_uniform(const lift_tree_t *tree, uint32_t expression, const uint32_t *allowed, uint32_t allowed_count) {
   return is_uniform(tree, expression, allowed, allowed_count, DEPTH);
}

bool lift_is_constant(const lift_tree_t *tree, uint32_t expression) {
   for (uint32_t i = expression; i < tree->nodes[expression].last; i++) {
      const lift_node_t *n = &tree->nodes[i];
      const bool arithmetic = n->kind == LIFT_INTEGER || n->kind == LIFT_PARENTHESES || (n->kind == LIFT_BINARY && !lift_is_assignment(tree, i));
      const bool fixed = n->kind == LIFT_NAME && (n->declaration == LIFT_NONE ? !lift_named(tree, i, "threadIdx") && !lift_named(tree, i, "blockIdx")
                                                                              : lift_is(tree, n->declaration, LIFT_TEMPLATE_PARAMETER));
      if (!arithmetic && !fixed)
         return false;
   }
   return true;
}
