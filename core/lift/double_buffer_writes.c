/* Shows that a copy writes the same elements of a tile in every turn of a loop (double_buffer.h). */
#include <string.h>
#include "lift/double_buffer.h"

enum { MOST_TAINTED = 64, DEPTH = 4 };

/* Declarations whose values may differ from turn to turn. */
typedef struct tainted {
   uint32_t list[MOST_TAINTED], count;
   bool full;
} tainted_t;

static void taint(tainted_t *tainted, uint32_t declaration) {
   if (tainted->count == MOST_TAINTED)
      tainted->full = true;
   else
      tainted->list[tainted->count++] = declaration;
}

static bool is_tainted(const lift_tree_t *tree, const tainted_t *tainted, uint32_t expression) {
   for (uint32_t t = 0; t < tainted->count; t++)
      if (lift_uses(tree, expression, tainted->list[t]))
         return true;
   return tainted->full;
}

static bool is_step(const lift_tree_t *tree, uint32_t assignment) {
   const uint32_t loop = tree->nodes[assignment].parent;
   return lift_is(tree, loop, LIFT_FOR) && lift_children(tree, loop) == 4 &&
          lift_child(tree, loop, 2) == assignment;
}

/* Adds the variables of a statement that depend on the loop's variable, or are assigned to: those change for reasons that are not looked at. */
static void taint_variables(const lift_tree_t *tree, uint32_t statement, tainted_t *tainted) {
   for (uint32_t i = statement; i < tree->nodes[statement].last; i++) {
      if (lift_is(tree, i, LIFT_VARIABLE) && is_tainted(tree, tainted, i))
         taint(tainted, i);
      const uint32_t assigned = lift_is_assignment(tree, i) && !is_step(tree, i)
                                   ? lift_base(tree, lift_assigned(tree, i))
                                   : LIFT_NONE;
      if (lift_is(tree, assigned, LIFT_VARIABLE))
         taint(tainted, assigned);
   }
}

/* Whether nothing that decides about a statement, up to the subtree, differs from turn to turn. */
static bool is_steady(const lift_tree_t *tree, const tainted_t *tainted, uint32_t node, uint32_t subtree) {
   for (uint32_t child = node, up = tree->nodes[node].parent; child != subtree && up != LIFT_NONE;
        child = up, up = tree->nodes[up].parent) {
      char operator[4];
      switch (tree->nodes[up].kind) {
      case LIFT_WHILE:
      case LIFT_DO:
      case LIFT_SWITCH:
      case LIFT_LAMBDA:
      case LIFT_CONDITIONAL:
         return false;
      case LIFT_IF:
         if (is_tainted(tree, tainted, lift_child(tree, up, 0)))
            return false;
         break;
      case LIFT_BINARY:
         lift_operator(tree, up, operator);
         if (strcmp(operator, "&&") == 0 || strcmp(operator, "||") == 0)
            return false;
         break;
      case LIFT_FOR:
         if (lift_children(tree, up) != 4)
            return false;
         for (uint32_t c = 0; c < 3; c++)
            if (is_tainted(tree, tainted, lift_child(tree, up, c)))
               return false;
         break;
      default:
         break;
      }
   }
   return true;
}

/* Whether an index is the same in every turn: it names nothing that is not, or it is `c - k` with `c = k + same` and k the first of the tainted, the loop's variable. */
static bool is_steady_index(const lift_tree_t *tree, const tainted_t *tainted, uint32_t index) {
   const uint32_t plain = lift_plain(tree, index);
   if (!is_tainted(tree, tainted, index))
      return true;
   if (tainted->full || tainted->count == 0 || !lift_is(tree, plain, LIFT_BINARY) ||
       !lift_operator_is(tree, plain, "-"))
      return false;
   const uint32_t left = lift_plain(tree, lift_child(tree, plain, 0)),
                  right = lift_plain(tree, lift_child(tree, plain, 1)),
                  variable = lift_is(tree, left, LIFT_NAME) ? tree->nodes[left].declaration : LIFT_NONE;
   const uint32_t sum =
      lift_is(tree, variable, LIFT_VARIABLE) && lift_initialiser(tree, variable) != LIFT_NONE
         ? lift_plain(tree, lift_initialiser(tree, variable))
         : LIFT_NONE;
   if (!lift_is(tree, right, LIFT_NAME) || tree->nodes[right].declaration != tainted->list[0] ||
       !lift_is(tree, sum, LIFT_BINARY) || !lift_operator_is(tree, sum, "+") ||
       lift_assigns(tree, lift_function_of(tree, variable), variable))
      return false;
   const uint32_t start = lift_plain(tree, lift_child(tree, sum, 0));
   return lift_is(tree, start, LIFT_NAME) && tree->nodes[start].declaration == tainted->list[0] &&
          !is_tainted(tree, tainted, lift_child(tree, sum, 1));
}

static bool check(const lift_tree_t *tree, uint32_t statement, uint32_t tile, tainted_t *tainted, int depth);

/* Whether a function writes the same elements through its parameter in every turn. */
static bool check_call(const lift_tree_t *tree, uint32_t call, uint32_t argument, const tainted_t *tainted,
                       int depth) {
   char callee[128];
   tainted_t inside = {.count = 0};
   lift_callee(tree, call, callee, sizeof callee);
   const uint32_t function = lift_function_named(tree, callee);
   uint32_t parameter = LIFT_NONE;
   if (function == LIFT_NONE || depth == 0)
      return false;
   for (uint32_t p = 0; lift_parameter(tree, function, p) != LIFT_NONE; p++) {
      const uint32_t value = lift_child(tree, call, p + 1);
      if (value == argument)
         parameter = lift_parameter(tree, function, p);
      if (value == LIFT_NONE || is_tainted(tree, tainted, value))
         taint(&inside, lift_parameter(tree, function, p));
   }
   for (uint32_t i = function; i < tree->nodes[function].last; i++) {
      const uint32_t last = tree->nodes[i].last;
      if (lift_is(tree, i, LIFT_RETURN) ||
          (lift_is(tree, i, LIFT_CAST) &&
           memchr(tree->text + tree->nodes[i].start, '*', tree->nodes[i].end - tree->nodes[i].start) &&
           last > i))
         return false;
   }
   return parameter != LIFT_NONE && check(tree, lift_body(tree, function), parameter, &inside, depth - 1);
}

static bool check(const lift_tree_t *tree, uint32_t statement, uint32_t tile, tainted_t *tainted, int depth) {
   taint_variables(tree, statement, tainted);
   for (uint32_t i = statement; i < tree->nodes[statement].last; i++) {
      if (lift_is(tree, i, LIFT_BREAK) || lift_is(tree, i, LIFT_CONTINUE) || lift_is(tree, i, LIFT_RETURN))
         return false;
      if (!lift_is(tree, i, LIFT_NAME) || tree->nodes[i].declaration != tile)
         continue;
      uint32_t top = i, around = tree->nodes[i].parent;
      for (; lift_is(tree, around, LIFT_SUBSCRIPT) || lift_is(tree, around, LIFT_PARENTHESES);
           around = tree->nodes[around].parent) {
         if (lift_is(tree, around, LIFT_SUBSCRIPT) &&
             (lift_child(tree, around, 0) != top ||
              !is_steady_index(tree, tainted, lift_child(tree, around, 1))))
            return false;
         top = around;
      }
      const bool stored = lift_is_assignment(tree, around) && lift_operator_is(tree, around, "=") &&
                          lift_assigned(tree, around) == top;
      const bool passed = lift_is(tree, around, LIFT_CALL) && !lift_is_assignment(tree, around) &&
                          check_call(tree, around, top, tainted, depth);
      if ((!stored && !passed) || !is_steady(tree, tainted, around, statement))
         return false;
   }
   return true;
}

/* Whether a function of the text could keep or change what is passed to it.  Functions that are not of the text get values. */
static bool could_change(const lift_tree_t *tree, uint32_t call, uint32_t argument) {
   char callee[128];
   lift_callee(tree, call, callee, sizeof callee);
   const uint32_t function = lift_function_named(tree, callee);
   if (function == LIFT_NONE)
      return lift_is(tree, lift_child(tree, call, 0), LIFT_MEMBER);
   for (uint32_t p = 0; lift_parameter(tree, function, p) != LIFT_NONE; p++)
      if (lift_child(tree, call, p + 1) == argument)
         return lift_is_changeable(tree, lift_parameter(tree, function, p));
   return true;
}

bool double_buffer_has_no_views(const double_buffer_t *buffer) {
   const lift_tree_t *tree = buffer->tree;
   for (uint32_t i = buffer->loop.body; i < tree->nodes[buffer->loop.body].last; i++) {
      if (lift_is(tree, i, LIFT_VARIABLE) && strpbrk(tree->nodes[i].type, "*&") &&
          strncmp(tree->nodes[i].type, "const ", 6) != 0)
         return false;
      if (!lift_is(tree, i, LIFT_NAME) || !lift_is(tree, tree->nodes[i].declaration, LIFT_SHARED))
         continue;
      uint32_t top = i;
      while (lift_is(tree, tree->nodes[top].parent, LIFT_PARENTHESES) ||
             (lift_is(tree, tree->nodes[top].parent, LIFT_SUBSCRIPT) &&
              lift_child(tree, tree->nodes[top].parent, 0) == top))
         top = tree->nodes[top].parent;
      const uint32_t around = tree->nodes[top].parent;
      bool copied = false;
      for (uint32_t t = 0; t < buffer->tile_count; t++)
         copied = copied || (tree->nodes[i].declaration == buffer->tiles[t] && i >= buffer->copy &&
                             i < buffer->copy_end);
      if (lift_is(tree, around, LIFT_CAST) ||
          (lift_is(tree, around, LIFT_UNARY) && lift_operator_is(tree, around, "&")) ||
          (top == i && !lift_is(tree, around, LIFT_CALL)) || lift_is(tree, around, LIFT_BRACES) ||
          (lift_is(tree, around, LIFT_VARIABLE) && strpbrk(tree->nodes[around].type, "*&")) ||
          (!copied && lift_is(tree, around, LIFT_CALL) && !lift_is_assignment(tree, around) &&
           !lift_is_copy(tree, around) && could_change(tree, around, top)))
         return false;
   }
   return true;
}

bool double_buffer_writes(const double_buffer_t *buffer, uint32_t tile) {
   tainted_t tainted = {.count = 0};
   taint(&tainted, buffer->loop.variable);
   for (uint32_t s = buffer->copy; s != buffer->copy_end; s = buffer->tree->nodes[s].next)
      if (!check(buffer->tree, s, tile, &tainted, DEPTH))
         return false;
   return true;
}
