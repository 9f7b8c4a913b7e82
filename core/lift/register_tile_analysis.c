/* Decides whether register_tile applies to a kernel: finds its results' numbers and the variables that depend on them. */
#include "lift/register_tile.h"

#include <stdio.h>
#include <string.h>
#include "lift/launches.h"
#include "lift/loops.h"

/* Reads blockIdx.d * width + threadIdx.x. */
static bool read_number(const lift_tree_t *tree, uint32_t node, char *dimension, char *width, size_t size) {
   if (!lift_is(tree, node, LIFT_BINARY) || !lift_operator_is(tree, node, "+") ||
       !lift_text_is(tree, lift_plain(tree, lift_child(tree, node, 1)), "threadIdx.x"))
      return false;
   const uint32_t product = lift_plain(tree, lift_child(tree, node, 0));
   if (!lift_is(tree, product, LIFT_BINARY) || !lift_operator_is(tree, product, "*"))
      return false;
   const uint32_t block = lift_plain(tree, lift_child(tree, product, 0)),
                  factor = lift_child(tree, product, 1);
   if (!lift_text_is(tree, block, "blockIdx.x") && !lift_text_is(tree, block, "blockIdx.y"))
      return false;
   *dimension = tree->text[tree->nodes[block].end - 1];
   snprintf(width, size, "%.*s", (int)(tree->nodes[factor].end - tree->nodes[factor].start),
            tree->text + tree->nodes[factor].start);
   return lift_is(tree, factor, LIFT_NAME) || lift_text_is(tree, factor, "blockDim.x");
}

bool register_tile_find_numbers(register_tile_t *t) {
   const lift_tree_t *tree = t->tree;
   char dimension, width[64];
   for (uint32_t i = t->kernel; i < tree->nodes[t->kernel].last; i++) {
      if (!read_number(tree, i, &dimension, width, sizeof width))
         continue;
      if (t->number_count == 0) {
         t->dimension = dimension;
         snprintf(t->width_name, sizeof t->width_name, "%s", width);
         t->width = lift_child(tree, lift_plain(tree, lift_child(tree, i, 0)), 1);
      } else if (t->dimension != dimension || strcmp(t->width_name, width) != 0 ||
                 t->number_count == REGISTER_TILE_NUMBERS) {
         return lift_refuse(t->change, "line %u: numbers of two kinds", lift_line(tree, i));
      }
      t->numbers[t->number_count++] = i;
   }
   if (t->number_count == 0)
      return lift_refuse(t->change, "no result has the number blockIdx * width + threadIdx.x");
   for (uint32_t i = t->kernel; i < tree->nodes[t->kernel].last; i++) {
      bool inside = false;
      for (uint32_t n = 0; n < t->number_count; n++)
         inside = inside || lift_inside(tree, i, t->numbers[n]);
      if (!inside && lift_is(tree, i, LIFT_MEMBER) &&
          (lift_text_is(tree, i, t->dimension == 'x' ? "blockIdx.x" : "blockIdx.y") ||
           lift_text_is(tree, i, t->dimension == 'x' ? "gridDim.x" : "gridDim.y")))
         return lift_refuse(t->change, "line %u: the block's number is used outside of a result's number",
                            lift_line(tree, i));
      if (lift_is(tree, i, LIFT_RETURN)) {
         t->change->first = "uniform_exit";
         return lift_refuse(t->change, "line %u: threads may leave", lift_line(tree, i));
      }
   }
   return true;
}

bool register_tile_depends(const register_tile_t *t, uint32_t subtree) {
   const lift_tree_t *tree = t->tree;
   for (uint32_t i = subtree; i < tree->nodes[subtree].last; i++) {
      for (uint32_t n = 0; n < t->number_count; n++)
         if (t->numbers[n] == i)
            return true;
      if (tree->nodes[i].kind == LIFT_NAME)
         for (uint32_t v = 0; v < t->variable_count; v++)
            if (t->variables[v] == tree->nodes[i].declaration)
               return true;
   }
   return false;
}

static bool add_variable(register_tile_t *t, uint32_t variable, bool *grew) {
   for (uint32_t v = 0; v < t->variable_count; v++)
      if (t->variables[v] == variable)
         return true;
   if (t->variable_count == REGISTER_TILE_VARIABLES)
      return lift_refuse(t->change, "too many variables");
   t->variables[t->variable_count++] = variable;
   *grew = true;
   return true;
}

/* Whether the node is under a condition, or in a loop's header, that depends on the number. */
static bool is_controlled(const register_tile_t *t, uint32_t node) {
   const lift_tree_t *tree = t->tree;
   for (uint32_t up = tree->nodes[node].parent, below = node; up != t->kernel && up != LIFT_NONE;
        below = up, up = tree->nodes[up].parent) {
      if (lift_is(tree, up, LIFT_IF) && below != lift_child(tree, up, 0) &&
          register_tile_depends(t, lift_child(tree, up, 0)))
         return true;
      if (lift_is(tree, up, LIFT_FOR) || lift_is(tree, up, LIFT_WHILE))
         for (uint32_t child = lift_child(tree, up, 0);
              child != LIFT_NONE && tree->nodes[child].next != LIFT_NONE; child = tree->nodes[child].next)
            if (register_tile_depends(t, child))
               return true;
   }
   return false;
}

bool register_tile_find_variables(register_tile_t *t) {
   const lift_tree_t *tree = t->tree;
   bool grew = true;
   while (grew) {
      grew = false;
      for (uint32_t i = t->kernel; i < tree->nodes[t->kernel].last; i++) {
         if (lift_is(tree, i, LIFT_VARIABLE) && lift_initialiser(tree, i) != LIFT_NONE &&
             register_tile_depends(t, lift_initialiser(tree, i)) && !add_variable(t, i, &grew))
            return false;
         if (!lift_is_assignment(tree, i))
            continue;
         const uint32_t target = lift_assigned(tree, i), variable = lift_base(tree, target);
         if (variable == LIFT_NONE)
            return lift_refuse(t->change, "line %u: it is not known what this changes", lift_line(tree, i));
         if (lift_is(tree, variable, LIFT_PARAMETER) || !(register_tile_depends(t, i) || is_controlled(t, i)))
            continue;
         if (lift_is(tree, variable, LIFT_SHARED))
            return lift_refuse(t->change, "line %u: shared memory depends on the result", lift_line(tree, i));
         if (lift_is(tree, variable, LIFT_VARIABLE) && !add_variable(t, variable, &grew))
            return false;
      }
   }
   return true;
}

bool register_tile_check_memory(const register_tile_t *t, const lift_launches_t *launches) {
   const lift_tree_t *tree = t->tree;
   if (!lift_no_alias(tree, launches, t->kernel))
      return lift_refuse(t->change, "two parameters of a launch are one buffer");
   for (uint32_t i = t->kernel; i < tree->nodes[t->kernel].last; i++) {
      const uint32_t variable =
         lift_is_assignment(tree, i) ? lift_base(tree, lift_assigned(tree, i)) : LIFT_NONE;
      if (variable == LIFT_NONE || !strchr(tree->nodes[variable].type, '*') ||
          lift_is(tree, lift_plain(tree, lift_assigned(tree, i)), LIFT_NAME))
         continue;
      if (!lift_is(tree, variable, LIFT_PARAMETER) || lift_operator_is(tree, i, "=") == false)
         return lift_refuse(t->change,
                            "line %u: a store through something else than a parameter, or one that reads",
                            lift_line(tree, i));
      for (uint32_t n = t->kernel; n < tree->nodes[t->kernel].last; n++)
         if (lift_is(tree, n, LIFT_NAME) && tree->nodes[n].declaration == variable) {
            uint32_t up = n;
            while (up != t->kernel && !lift_is_assignment(tree, up))
               up = tree->nodes[up].parent;
            if (up == t->kernel || !lift_inside(tree, n, lift_assigned(tree, up)))
               return lift_refuse(t->change, "line %u: what is stored to is read too", lift_line(tree, n));
         }
   }
   return true;
}
