/* Reads loops, and finds the variables that statements change. */
#include "lift/loops.h"

#include <string.h>

bool lift_loop_read(const lift_tree_t *tree, uint32_t node, lift_loop_t *loop) {
   if (!lift_is(tree, node, LIFT_FOR) || lift_children(tree, node) != 4)
      return false;
   const uint32_t start = lift_child(tree, node, 0), condition = lift_child(tree, node, 1), step = lift_child(tree, node, 2);
   *loop = (lift_loop_t){.node = node, .step = LIFT_NONE, .body = lift_child(tree, node, 3)};
   if (!lift_is(tree, start, LIFT_DECLARATIONS) || lift_children(tree, start) != 1 || !lift_is(tree, lift_child(tree, start, 0), LIFT_VARIABLE))
      return false;
   loop->variable = lift_child(tree, start, 0);
   loop->first = lift_initialiser(tree, loop->variable);
   if (loop->first == LIFT_NONE || !lift_is(tree, condition, LIFT_BINARY) || !lift_operator_is(tree, condition, "<") ||
       lift_base(tree, lift_child(tree, condition, 0)) != loop->variable)
      return false;
   loop->last = lift_child(tree, condition, 1);
   if (lift_is(tree, step, LIFT_COMPOUND_ASSIGNMENT) && lift_operator_is(tree, step, "+="))
      loop->step = lift_child(tree, step, 1);
   else if (!lift_is(tree, step, LIFT_UNARY) || !lift_operator_is(tree, step, "++"))
      return false;
   return lift_base(tree, lift_child(tree, step, 0)) == loop->variable && !lift_assigns(tree, loop->body, loop->variable) &&
          !lift_changes_names_of(tree, loop->body, loop->last) &&
          (loop->step == LIFT_NONE || !lift_changes_names_of(tree, loop->body, loop->step));
}

bool lift_assigns(const lift_tree_t *tree, uint32_t subtree, uint32_t declaration) {
   for (uint32_t i = subtree; i < tree->nodes[subtree].last; i++)
      if (lift_is_assignment(tree, i) && lift_base(tree, lift_assigned(tree, i)) == declaration)
         return true;
   return false;
}

bool lift_leaves(const lift_tree_t *tree, uint32_t loop) {
   for (uint32_t i = loop + 1; i < tree->nodes[loop].last; i++) {
      if (tree->nodes[i].kind == LIFT_RETURN)
         return true;
      if (tree->nodes[i].kind != LIFT_BREAK)
         continue;
      uint32_t up = tree->nodes[i].parent;
      while (up != loop && !lift_is(tree, up, LIFT_FOR) && !lift_is(tree, up, LIFT_WHILE) && !lift_is(tree, up, LIFT_DO) && !lift_is(tree, up, LIFT_SWITCH))
         up = tree->nodes[up].parent;
      if (up == loop)
         return true;
   }
   return false;
}

bool lift_changes_names_of(const lift_tree_t *tree, uint32_t subtree, uint32_t expression) {
   for (uint32_t i = expression; i < tree->nodes[expression].last; i++)
      if (tree->nodes[i].kind == LIFT_NAME && tree->nodes[i].declaration != LIFT_NONE && lift_assigns(tree, subtree, tree->nodes[i].declaration))
         return true;
   return false;
}

bool lift_is_barrier(const lift_tree_t *tree, uint32_t statement) {
   char callee[64];
   if (!lift_is(tree, statement, LIFT_CALL))
      return false;
   lift_callee(tree, statement, callee, sizeof callee);
   return strcmp(callee, "__syncthreads") == 0;
}

uint32_t lift_function_named(const lift_tree_t *tree, const char *name) {
   uint32_t found = LIFT_NONE;
   for (uint32_t i = 0; i < tree->count; i++) {
      if (tree->nodes[i].kind != LIFT_FUNCTION || !lift_named(tree, i, name) || lift_body(tree, i) == LIFT_NONE)
         continue;
      if (found != LIFT_NONE)
         return LIFT_NONE;
      found = i;
   }
   return found;
}

uint32_t lift_count_calls(const lift_tree_t *tree, const char *name) {
   char callee[128];
   uint32_t count = 0;
   for (uint32_t i = 0; i < tree->count; i++) {
      if (tree->nodes[i].kind != LIFT_CALL)
         continue;
      lift_callee(tree, i, callee, sizeof callee);
      count += strcmp(callee, name) == 0;
   }
   return count;
}

uint32_t lift_parameter(const lift_tree_t *tree, uint32_t function, uint32_t index) {
   for (uint32_t child = lift_child(tree, function, 0); child != LIFT_NONE; child = tree->nodes[child].next)
      if (tree->nodes[child].kind == LIFT_PARAMETER && index-- == 0)
         return child;
   return LIFT_NONE;
}

bool lift_is_changeable(const lift_tree_t *tree, uint32_t parameter) {
   const char *type = tree->nodes[parameter].type;
   return (strchr(type, '&') || strchr(type, '*') || strchr(type, '[')) && strncmp(type, "const ", 6) != 0;
}

bool lift_methods_are_pure(const lift_tree_t *tree, const char *name) {
   bool found = false;
   for (uint32_t m = 0; m < tree->count; m++) {
      if (tree->nodes[m].kind != LIFT_METHOD || !lift_named(tree, m, name))
         continue;
      found = true;
      for (uint32_t i = m; i < tree->nodes[m].last; i++) {
         const uint32_t base = lift_is_assignment(tree, i) ? lift_base(tree, lift_assigned(tree, i)) : LIFT_NONE;
         if ((lift_is_assignment(tree, i) && (base == LIFT_NONE || !lift_inside(tree, base, m) || !lift_is(tree, base, LIFT_VARIABLE))) ||
             lift_is(tree, i, LIFT_ASSEMBLY) || lift_is(tree, i, LIFT_CALL))
            return false;
      }
   }
   return found;
}

static bool is_known_pure(const char *name) {
   static const char *const names[] = {"min",
                                       "max",
                                       "fmaxf",
                                       "fminf",
                                       "fmaf",
                                       "expf",
                                       "logf",
                                       "sqrtf",
                                       "rsqrtf",
                                       "tanhf",
                                       "erff",
                                       "fabsf",
                                       "powf",
                                       "erfcf",
                                       "exp2f",
                                       "log2f",
                                       "log1pf",
                                       "expm1f",
                                       "sinf",
                                       "cosf",
                                       "floorf",
                                       "ceilf",
                                       "rintf",
                                       "roundf",
                                       "truncf",
                                       "copysignf",
                                       "__expf",
                                       "__logf",
                                       "__fdividef",
                                       "__ldg",
                                       "make_float2",
                                       "make_float4",
                                       "__syncthreads",
                                       "__syncwarp",
                                       "__bfloat162float",
                                       "__float2bfloat16",
                                       "__half2float",
                                       "__float2half",
                                       NULL};
   for (int i = 0; names[i]; i++)
      if (strcmp(names[i], name) == 0)
         return true;
   return strncmp(name, "__shfl", 6) == 0;
}

static bool add_effect(lift_effect_t *out, uint32_t most, uint32_t *count, lift_effect_t effect) {
   if (*count == most)
      return false;
   out[(*count)++] = effect;
   return true;
}

/* Lists the arguments through which a function of the text may change a variable. */
static bool call_effects(const lift_tree_t *tree, uint32_t statement, uint32_t call, lift_effect_t *out, uint32_t most, uint32_t *count,
                         lift_change_t *change) {
   char name[128];
   lift_callee(tree, call, name, sizeof name);
   const uint32_t line = lift_line(tree, call), callee = lift_child(tree, call, 0);
   if (callee != LIFT_NONE && lift_is(tree, callee, LIFT_MEMBER))
      return lift_methods_are_pure(tree, name) || lift_refuse(change, "line %u: the method %s may change something", line, name);
   const uint32_t function = lift_function_named(tree, name);
   if (function == LIFT_NONE)
      return is_known_pure(name) || lift_refuse(change, "line %u: what %s does is not known", line, name);
   for (uint32_t i = function; i < tree->nodes[function].last; i++)
      if (lift_is(tree, i, LIFT_ASSEMBLY))
         return lift_refuse(change, "line %u: %s has assembly", line, name);
   if (lift_calls(tree, function, "atomicAdd") || lift_calls(tree, function, "atomicMax"))
      return lift_refuse(change, "line %u: %s has atomics", line, name);
   for (uint32_t p = 0;; p++) {
      const uint32_t parameter = lift_parameter(tree, function, p), argument = lift_child(tree, call, p + 1);
      if (parameter == LIFT_NONE || argument == LIFT_NONE)
         return true;
      if (!lift_is_changeable(tree, parameter) || !lift_assigns(tree, function, parameter))
         continue;
      const uint32_t variable = lift_base(tree, argument);
      if (variable != LIFT_NONE && lift_inside(tree, variable, statement))
         continue;
      if (!add_effect(out, most, count, (lift_effect_t){argument, variable, false}))
         return lift_refuse(change, "line %u: the statement changes too much", line);
   }
}

uint32_t lift_effects(const lift_tree_t *tree, uint32_t statement, lift_effect_t *out, uint32_t most, lift_change_t *change) {
   uint32_t count = 0;
   for (uint32_t i = statement; i < tree->nodes[statement].last; i++) {
      if (lift_is(tree, i, LIFT_ASSEMBLY) || lift_is(tree, i, LIFT_LAMBDA)) {
         lift_refuse(change, "line %u: assembly or a lambda", lift_line(tree, i));
         return LIFT_NONE;
      }
      if (lift_is(tree, i, LIFT_CALL) && !lift_is_copy(tree, i) && !lift_is_assignment(tree, i) &&
          !call_effects(tree, statement, i, out, most, &count, change))
         return LIFT_NONE;
      if (!lift_is_assignment(tree, i))
         continue;
      const uint32_t variable = lift_base(tree, lift_assigned(tree, i));
      if (variable != LIFT_NONE && lift_inside(tree, variable, statement))
         continue;
      if (!add_effect(
             out, most, &count,
             (lift_effect_t){i, variable, !lift_is(tree, i, LIFT_CALL) && lift_operator_is(tree, i, "+=")})) {
         lift_refuse(change, "line %u: the statement changes too much", lift_line(tree, i));
         return LIFT_NONE;
      }
   }
   return count;
}
